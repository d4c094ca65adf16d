// A grid whose blocks wait for each other, and groups of threads.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "common.h"

namespace cg = cooperative_groups;

__global__ void steps(int *values, int count, int rounds, int *total) {
    cg::grid_group grid = cg::this_grid();
    for (int round = 0; round < rounds; round++) {
        // Each number becomes the sum of itself and its neighbour of the round before.
        int own = 0;
        unsigned long long at = grid.thread_rank();
        if (at < count) own = values[at] + values[(at + 1) % count];
        grid.sync();
        if (at < count) values[at] = own;
        grid.sync();
    }
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    int own = grid.thread_rank() < count ? values[grid.thread_rank()] : 0;
    int sum = cg::reduce(warp, own, cg::plus<int>());
    if (warp.thread_rank() == 0) atomicAdd(total, sum);
}

__global__ void tiles(int *out) {
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int value = tile.thread_rank() * 10 + tile.meta_group_rank();
    value = tile.shfl(value, 3) + tile.any(threadIdx.x == 17) * 1000;
    if (threadIdx.x % 4 == 1) {
        cg::coalesced_group some = cg::coalesced_threads();
        value += some.size() * 100000 + some.thread_rank() * 10000000;
    }
    out[threadIdx.x] = value;
}

int main() {
    int can;
    OK(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0));
    EXPECT(can == 1);
    int count = 250, rounds = 5, host[256], *values, *total, sum;
    for (int at = 0; at < count; at++) host[at] = at % 11;
    OK(cudaMalloc(&values, sizeof host));
    OK(cudaMalloc(&total, sizeof sum));
    OK(cudaMemset(total, 0, sizeof sum));
    OK(cudaMemcpy(values, host, count * sizeof(int), cudaMemcpyDefault));
    void *arguments[] = {&values, &count, &rounds, &total};
    OK(cudaLaunchCooperativeKernel(steps, 4, 64, arguments, 0, nullptr));
    done();
    OK(cudaMemcpy(&sum, total, sizeof sum, cudaMemcpyDefault));
    int expected = 0;
    for (int at = 0; at < count; at++) expected += host[at] << rounds;
    printf("sum %d, expected %d\n", sum, expected);
    EXPECT(sum == expected);

    // More blocks than the device has at a time.
    cudaError_t error = cudaLaunchCooperativeKernel(steps, 1 << 20, 64, arguments, 0, nullptr);
    printf("too many: %s\n", cudaGetErrorName(error));
    (void)cudaGetLastError();

    tiles<<<1, 32>>>(values);
    done();
    OK(cudaMemcpy(host, values, 32 * sizeof(int), cudaMemcpyDefault));
    for (int at = 0; at < 32; at++) printf("%d ", host[at]);
    printf("\n");
    return 0;
}
