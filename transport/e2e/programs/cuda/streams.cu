// Streams, events, and functions of the host that a stream calls.
#include <vector>

#include "common.h"

__global__ void fill(int *to, int count, int value) {
    for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += gridDim.x * blockDim.x) to[at] = value;
}

__global__ void increase(int *to, int count) {
    for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += gridDim.x * blockDim.x) to[at] += at;
}

static void called(void *data) { *(int *)data += 1; }

int main() {
    const int streams = 4, count = 10000;
    int least, greatest;
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    std::vector<cudaStream_t> stream(streams);
    for (int at = 0; at < streams; at++) {
        if (at % 2) OK(cudaStreamCreateWithFlags(&stream[at], cudaStreamNonBlocking));
        else OK(cudaStreamCreateWithPriority(&stream[at], cudaStreamDefault, greatest));
    }
    cudaEvent_t begin, end, filled;
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreate(&end));
    OK(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming));
    int *device, *host, calls = 0;
    OK(cudaMalloc(&device, streams * count * sizeof(int)));
    OK(cudaMallocHost(&host, streams * count * sizeof(int)));

    OK(cudaEventRecord(begin, stream[0]));
    for (int at = 0; at < streams; at++) {
        fill<<<4, 128, 0, stream[at]>>>(device + at * count, count, at * 1000);
        increase<<<4, 128, 0, stream[at]>>>(device + at * count, count);
        OK(cudaMemcpyAsync(host + at * count, device + at * count, count * sizeof(int), cudaMemcpyDeviceToHost, stream[at]));
        OK(cudaLaunchHostFunc(stream[0], called, &calls));
    }
    OK(cudaEventRecord(end, stream[0]));
    OK(cudaEventSynchronize(end));
    float milliseconds = -1;
    OK(cudaEventElapsedTime(&milliseconds, begin, end));
    EXPECT(milliseconds >= 0);
    OK(cudaDeviceSynchronize());
    printf("%d calls, %016llx\n", calls, digest(host, streams * count * sizeof(int)));
    for (int at = 0; at < streams * count; at++) EXPECT(host[at] == at / count * 1000 + at % count);

    // One stream waits for another.
    fill<<<4, 128, 0, stream[1]>>>(device, count, 5);
    OK(cudaEventRecord(filled, stream[1]));
    OK(cudaStreamWaitEvent(stream[3], filled, 0));
    increase<<<4, 128, 0, stream[3]>>>(device, count);
    OK(cudaMemcpyAsync(host, device, count * sizeof(int), cudaMemcpyDeviceToHost, stream[3]));
    OK(cudaStreamSynchronize(stream[3]));
    printf("filled %s, %016llx\n", cudaGetErrorName(cudaEventQuery(filled)), digest(host, count * sizeof(int)));
    printf("query %s\n", cudaGetErrorName(cudaStreamQuery(stream[3])));

    // Memory that belongs to a stream.
    int *pooled;
    OK(cudaMallocAsync(&pooled, count * sizeof(int), stream[1]));
    fill<<<4, 128, 0, stream[1]>>>(pooled, count, -3);
    OK(cudaMemcpyAsync(host, pooled, count * sizeof(int), cudaMemcpyDeviceToHost, stream[1]));
    OK(cudaFreeAsync(pooled, stream[1]));
    OK(cudaStreamSynchronize(stream[1]));
    EXPECT(host[0] == -3 && host[count - 1] == -3);

    for (cudaStream_t each : stream) OK(cudaStreamDestroy(each));
    for (cudaEvent_t each : {begin, end, filled}) OK(cudaEventDestroy(each));
    OK(cudaFreeHost(host));
    OK(cudaFree(device));
    printf("done\n");
    return 0;
}
