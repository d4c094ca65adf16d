// printf of kernels keeps its place among what the host prints, at each call that waits.
#include "common.h"

__global__ void hello(int number) { printf("kernel %d, thread %d: %s %.3f %5u|%-4d|%c%%\n", number, threadIdx.x, "text", number / 3.0, 7u, -2, 'x'); }
__global__ void quiet(int *to) { *to = 1; }
__global__ void lines(int count) {
    for (int at = 0; at < count; at++) printf("line %d of a kernel that says much\n", at);
}

int main() {
    size_t room;
    OK(cudaDeviceGetLimit(&room, cudaLimitPrintfFifoSize));
    EXPECT(room >= 1 << 20);
    printf("before\n");
    fflush(stdout);
    hello<<<1, 2>>>(1);
    OK(cudaDeviceSynchronize());
    printf("between\n");
    fflush(stdout);

    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    hello<<<1, 1, 0, stream>>>(2);
    OK(cudaStreamSynchronize(stream));
    printf("after a stream\n");
    fflush(stdout);

    cudaEvent_t event;
    OK(cudaEventCreate(&event));
    hello<<<1, 1, 0, stream>>>(3);
    OK(cudaEventRecord(event, stream));
    OK(cudaEventSynchronize(event));
    printf("after an event\n");
    fflush(stdout);

    int *device, value = 0;
    OK(cudaMalloc(&device, sizeof value));
    hello<<<1, 1>>>(4);
    quiet<<<1, 1>>>(device);
    OK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
    printf("after a copy: %d\n", value);
    fflush(stdout);

    lines<<<1, 1>>>(300);
    OK(cudaDeviceSynchronize());
    printf("after lines\n");
    fflush(stdout);

    // What nobody waits for is there at the end, when the context is.
    hello<<<1, 1>>>(5);
    OK(cudaDeviceReset());
    printf("after the end of the context\n");
    return 0;
}
