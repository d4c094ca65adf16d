// Compiled with a default stream for each thread.
#include <thread>
#include <vector>

#include "common.h"

__global__ void sum(int *to, int from) {
    for (int at = 0; at < 1000; at++) *to += from;
}

int main() {
    const int threads = 6;
    int *device, host[threads];
    OK(cudaMalloc(&device, sizeof host));
    OK(cudaMemset(device, 0, sizeof host));
    OK(cudaDeviceSynchronize());
    std::vector<std::thread> running;
    for (int number = 0; number < threads; number++) {
        running.emplace_back([=, &host] {
            for (int round = 0; round < 10; round++) sum<<<1, 1>>>(device + number, number);
            OK(cudaMemcpyAsync(&host[number], device + number, sizeof(int), cudaMemcpyDeviceToHost));
            OK(cudaStreamSynchronize(cudaStreamPerThread));
        });
    }
    for (auto &each : running) each.join();
    for (int number = 0; number < threads; number++) {
        EXPECT(host[number] == number * 10000);
        printf("%d ", host[number]);
    }
    // The default stream of this thread, by its name and without one.
    sum<<<1, 1>>>(device, 3);
    sum<<<1, 1, 0, cudaStreamPerThread>>>(device, 4);
    OK(cudaMemcpyAsync(host, device, sizeof(int), cudaMemcpyDeviceToHost, 0));
    OK(cudaStreamSynchronize(0));
    printf("%d\n", host[0]);
    EXPECT(host[0] == 7000);
    sum<<<1, 1, 0, cudaStreamLegacy>>>(device, 1);
    OK(cudaMemcpy(host, device, sizeof(int), cudaMemcpyDeviceToHost));
    OK(cudaStreamSynchronize(cudaStreamLegacy));
    OK(cudaMemcpy(host, device, sizeof(int), cudaMemcpyDeviceToHost));
    printf("%d\n", host[0]);
    return 0;
}
