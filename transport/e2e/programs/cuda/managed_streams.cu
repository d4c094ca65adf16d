// Managed memory that belongs to streams: tasks of different sizes, some done by the host, some by the device, at the same time.
#include <thread>
#include <vector>

#include "common.h"

__global__ void multiply(const double *matrix, const double *vector, double *out, int size) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= size) return;
    double sum = 0;
    for (int at = 0; at < size; at++) sum += matrix[row * size + at] * vector[at];
    out[row] = sum;
}

static void on_host(const double *matrix, const double *vector, double *out, int size) {
    for (int row = 0; row < size; row++) {
        double sum = 0;
        for (int at = 0; at < size; at++) sum += matrix[row * size + at] * vector[at];
        out[row] = sum;
    }
}

int main() {
    const int tasks = 12, threads = 3;
    std::vector<double> sums(tasks);
    auto work = [&](int thread) {
        cudaStream_t stream;
        OK(cudaStreamCreate(&stream));
        for (int task = thread; task < tasks; task += threads) {
            int size = 20 + 17 * task;
            double *matrix, *vector, *out;
            OK(cudaMallocManaged(&matrix, size * size * sizeof(double), cudaMemAttachHost));
            OK(cudaMallocManaged(&vector, size * sizeof(double), cudaMemAttachHost));
            OK(cudaMallocManaged(&out, size * sizeof(double), cudaMemAttachHost));
            for (int at = 0; at < size * size; at++) matrix[at] = (at * 7 + task) % 23;
            for (int at = 0; at < size; at++) vector[at] = at % 5;
            bool host = task % 3 == 0;
            unsigned flag = host ? cudaMemAttachHost : cudaMemAttachSingle;
            for (double *each : {matrix, vector, out}) OK(cudaStreamAttachMemAsync(stream, each, 0, flag));
            OK(cudaStreamSynchronize(stream));
            if (host) on_host(matrix, vector, out, size);
            else multiply<<<(size + 63) / 64, 64, 0, stream>>>(matrix, vector, out, size);
            OK(cudaGetLastError());
            OK(cudaStreamSynchronize(stream));
            double sum = 0;
            for (int at = 0; at < size; at++) sum += out[at];
            sums[task] = sum;
            for (double *each : {matrix, vector, out}) OK(cudaFree(each));
        }
        OK(cudaStreamDestroy(stream));
    };
    std::vector<std::thread> all;
    for (int thread = 0; thread < threads; thread++) all.emplace_back(work, thread);
    for (auto &thread : all) thread.join();
    for (int task = 0; task < tasks; task++) printf("%d: %.0f\n", task, sums[task]);
    return 0;
}
