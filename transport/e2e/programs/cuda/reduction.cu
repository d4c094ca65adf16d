// Sums in shared memory of fixed and of dynamic size, and by shuffles.
#include <vector>

#include "common.h"

template <int threads>
__global__ void fixed(const int *in, int count, unsigned long long *sum) {
    __shared__ unsigned long long part[threads];
    unsigned long long own = 0;
    for (int at = blockIdx.x * threads + threadIdx.x; at < count; at += gridDim.x * threads) own += in[at];
    part[threadIdx.x] = own;
    __syncthreads();
    for (int half = threads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(sum, part[0]);
}

__global__ void dynamic(const int *in, int count, unsigned long long *sum) {
    extern __shared__ unsigned long long room[];
    unsigned long long own = 0;
    for (int at = threadIdx.x; at < count; at += blockDim.x) own += in[at];
    // The last of a large room, so that all of it has to be there.
    unsigned size;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(size));
    unsigned long long *part = room + size / sizeof *room - blockDim.x;
    part[threadIdx.x] = own;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int at = 1; at < blockDim.x; at++) own += part[at];
        *sum = own;
    }
}

__global__ void shuffled(const int *in, int count, unsigned long long *sum) {
    unsigned long long own = 0;
    for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += gridDim.x * blockDim.x) own += in[at];
    for (int offset = 16; offset > 0; offset /= 2) own += __shfl_down_sync(0xffffffff, own, offset);
    unsigned lanes = __ballot_sync(0xffffffff, threadIdx.x % 3 == 0);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, own + (__popc(lanes) < 10));
}

int main() {
    const int count = 123457;
    std::vector<int> numbers(count);
    unsigned long long expected = 0, sum;
    for (int at = 0; at < count; at++) expected += numbers[at] = at * 7919 % 1000;
    int *in;
    unsigned long long *out;
    OK(cudaMalloc(&in, count * sizeof(int)));
    OK(cudaMalloc(&out, sizeof *out));
    OK(cudaMemcpy(in, numbers.data(), count * sizeof(int), cudaMemcpyHostToDevice));
    auto result = [&](const char *how) {
        OK(cudaGetLastError());
        OK(cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost));
        EXPECT(sum == expected);
        printf("%s: %llu\n", how, sum);
        OK(cudaMemset(out, 0, sizeof *out));
    };
    OK(cudaMemset(out, 0, sizeof *out));
    fixed<64><<<8, 64>>>(in, count, out);
    result("64 threads");
    fixed<256><<<8, 256>>>(in, count, out);
    result("256 threads");
    shuffled<<<4, 128>>>(in, count, out);
    result("shuffled");
    dynamic<<<1, 128, 48 << 10>>>(in, count, out);
    result("48 KiB");
    dynamic<<<1, 128, 64 << 10>>>(in, count, out);
    printf("64 KiB: %s\n", cudaGetErrorName(cudaGetLastError()));
    OK(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
    dynamic<<<1, 128, 64 << 10>>>(in, count, out);
    result("64 KiB, allowed");

    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, fixed<256>));
    printf("static shared memory %zu, threads %d, PTX %d\n", attributes.sharedSizeBytes, attributes.maxThreadsPerBlock, attributes.ptxVersion);
    OK(cudaFuncGetAttributes(&attributes, dynamic));
    printf("dynamic shared memory %d\n", attributes.maxDynamicSharedSizeBytes);
    return 0;
}
