// assert of a kernel: the message on standard error, an error that stays, and a device that is good again
// after it was reset.
#include <cassert>

#include "common.h"

__global__ void check(int *to, int limit) {
    assert((int)threadIdx.x < limit);
    *to = limit;
}

int main() {
    int *device, value = 0;
    OK(cudaMalloc(&device, sizeof value));
    check<<<1, 32>>>(device, 32);
    OK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDefault));
    printf("held: %d\n", value);
    check<<<2, 32>>>(device, 31);
    printf("failed: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("stays: %s\n", cudaGetErrorName(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDefault)));
    printf("last: %s\n", cudaGetErrorName(cudaGetLastError()));
    return 0;
}
