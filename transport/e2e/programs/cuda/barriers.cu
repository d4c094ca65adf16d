// Barriers on which threads arrive and wait apart (cuda::barrier), between producers and consumers in a block.
#include <cuda/barrier>

#include "common.h"

using barrier = cuda::barrier<cuda::thread_scope_block>;

const int THREADS = 128, ROUNDS = 20;

// Half of the threads write a buffer, and the other half add it up, in turns.
__global__ void turns(const int *in, long long *out) {
    __shared__ int buffer[2][THREADS / 2];
    __shared__ barrier filled[2], empty[2];
    if (threadIdx.x < 2) {
        init(&filled[threadIdx.x], THREADS);
        init(&empty[threadIdx.x], THREADS);
    }
    __syncthreads();
    int own = threadIdx.x % (THREADS / 2);
    if (threadIdx.x < THREADS / 2) {
        for (int round = 0; round < ROUNDS; round++) {
            empty[round % 2].arrive_and_wait();
            buffer[round % 2][own] = in[round * THREADS / 2 + own];
            barrier::arrival_token token = filled[round % 2].arrive();
            (void)token;
        }
    } else {
        long long sum = 0;
        for (int at = 0; at < 2; at++) (void)empty[at].arrive();
        for (int round = 0; round < ROUNDS; round++) {
            filled[round % 2].arrive_and_wait();
            sum += buffer[round % 2][(own + round) % (THREADS / 2)];
            if (round + 2 < ROUNDS) (void)empty[round % 2].arrive();
        }
        out[own] = sum;
    }
}

int main() {
    const int count = ROUNDS * THREADS / 2;
    int host[count], *in;
    long long sums[THREADS / 2], *out, total = 0, expected = 0;
    for (int at = 0; at < count; at++) host[at] = at * 13 % 101, expected += host[at];
    OK(cudaMalloc(&in, sizeof host));
    OK(cudaMalloc(&out, sizeof sums));
    OK(cudaMemcpy(in, host, sizeof host, cudaMemcpyDefault));
    turns<<<1, THREADS>>>(in, out);
    done();
    OK(cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDefault));
    for (long long sum : sums) total += sum;
    printf("%lld, %016llx\n", total, digest(sums, sizeof sums));
    EXPECT(total == expected);
    return 0;
}
