// A kernel that launches another (dynamic parallelism): what links it is the device runtime.
#include "common.h"

__global__ void child(int *out, int depth) { out[depth * 32 + threadIdx.x] = depth * 100 + threadIdx.x; }

__global__ void parent(int *out, int depth) {
    if (threadIdx.x == 0) {
        child<<<1, 32>>>(out, depth);
        if (depth > 0) parent<<<1, 32>>>(out, depth - 1);
    }
}

int main() {
    const int depth = 3;
    int *out, host[(depth + 1) * 32];
    OK(cudaMalloc(&out, sizeof host));
    parent<<<1, 32>>>(out, depth);
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    printf("launched: %s\n", cudaGetErrorName(error));
    if (error != cudaSuccess) return 0;
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDefault));
    for (int at = 0; at < (depth + 1) * 32; at++) EXPECT(host[at] == at / 32 * 100 + at % 32);
    printf("%016llx\n", digest(host, sizeof host));
    return 0;
}
