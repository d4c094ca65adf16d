// Threads of OpenMP, each with a stream and a part of the data.
#include <omp.h>

#include "common.h"

__global__ void add(int *values, int count, int what) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) values[at] += what;
}

int main() {
    const int threads = 6, part = 5000;
    static int values[threads * part];
    for (int at = 0; at < threads * part; at++) values[at] = at;
    omp_set_num_threads(threads);
    int devices;
    OK(cudaGetDeviceCount(&devices));
#pragma omp parallel
    {
        int own = omp_get_thread_num();
        OK(cudaSetDevice(own % devices));
        cudaStream_t stream;
        OK(cudaStreamCreate(&stream));
        int *device;
        OK(cudaMalloc(&device, part * sizeof(int)));
        for (int round = 0; round < 5; round++) {
            OK(cudaMemcpyAsync(device, values + own * part, part * sizeof(int), cudaMemcpyHostToDevice, stream));
            add<<<(part + 127) / 128, 128, 0, stream>>>(device, part, own + 1);
            OK(cudaGetLastError());
            OK(cudaMemcpyAsync(values + own * part, device, part * sizeof(int), cudaMemcpyDeviceToHost, stream));
            OK(cudaStreamSynchronize(stream));
        }
        OK(cudaFree(device));
        OK(cudaStreamDestroy(stream));
    }
    for (int at = 0; at < threads * part; at++) EXPECT(values[at] == at + 5 * (at / part + 1));
    printf("%016llx\n", digest(values, sizeof values));
    return 0;
}
