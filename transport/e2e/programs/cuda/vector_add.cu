// A vector addition, as every introduction has it.
#include <vector>

#include "common.h"

__global__ void add(const float *a, const float *b, float *sum, int count) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) sum[at] = a[at] + b[at];
}

int main() {
    int version, driver;
    OK(cudaRuntimeGetVersion(&version));
    OK(cudaDriverGetVersion(&driver));
    cudaDeviceProp properties;
    OK(cudaGetDeviceProperties(&properties, 0));
    printf("runtime %d, driver %d, device %d.%d\n", version, driver, properties.major, properties.minor);

    for (int count : {1, 1000, 100000}) {
        std::vector<float> a(count), b(count), sum(count);
        for (int at = 0; at < count; at++) {
            a[at] = at * 0.5f;
            b[at] = count - at;
        }
        float *da, *db, *dsum;
        size_t bytes = count * sizeof(float);
        OK(cudaMalloc(&da, bytes));
        OK(cudaMalloc(&db, bytes));
        OK(cudaMalloc(&dsum, bytes));
        OK(cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice));
        OK(cudaMemcpy(db, b.data(), bytes, cudaMemcpyDefault));
        add<<<(count + 255) / 256, 256>>>(da, db, dsum, count);
        OK(cudaGetLastError());
        OK(cudaMemcpy(sum.data(), dsum, bytes, cudaMemcpyDeviceToHost));
        for (int at = 0; at < count; at++) EXPECT(sum[at] == a[at] + b[at]);
        printf("%d: %016llx\n", count, digest(sum.data(), bytes));
        OK(cudaFree(da));
        OK(cudaFree(db));
        OK(cudaFree(dsum));
    }

    // What no device takes is refused at the launch, and forgotten once it was asked for.
    add<<<1, 2048>>>(nullptr, nullptr, nullptr, 0);
    printf("2048 threads: %s\n", cudaGetErrorName(cudaGetLastError()));
    printf("then: %s\n", cudaGetErrorName(cudaGetLastError()));
    add<<<0, 1>>>(nullptr, nullptr, nullptr, 0);
    printf("no block: %s\n", cudaGetErrorName(cudaGetLastError()));
    return 0;
}
