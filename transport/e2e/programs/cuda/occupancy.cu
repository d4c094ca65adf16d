// How many blocks fit.
#include "common.h"

__global__ void small(float *to) { to[threadIdx.x] = threadIdx.x; }
__global__ void __launch_bounds__(256) bounded(float *to) {
    __shared__ float room[4096];
    room[threadIdx.x] = to[threadIdx.x];
    __syncthreads();
    to[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}

static size_t per_block(int threads) { return threads * 64; }

int main() {
    for (int threads : {32, 128, 256, 512, 1024, 2048}) {
        int blocks = -1, limited = -1;
        cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, threads, 0);
        cudaError_t other = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&limited, bounded, threads, 8192);
        printf("%d threads: %d (%s), %d (%s)\n", threads, blocks, cudaGetErrorName(error), limited, cudaGetErrorName(other));
        (void)cudaGetLastError();
    }
    int blocks, grid, block;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, small, 256, 1024, cudaOccupancyDisableCachingOverride));
    printf("with flags: %d\n", blocks);
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, bounded, 0, 0));
    printf("potential: %d blocks of %d\n", grid, block);
    OK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, small, per_block, 512));
    printf("potential with shared memory: %d blocks of %d\n", grid, block);
    size_t bytes;
    OK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, small, 4, 128));
    printf("available: %zu\n", bytes);
    bounded<<<1, 512>>>(nullptr);
    printf("beyond the bounds: %s\n", cudaGetErrorName(cudaGetLastError()));
    return 0;
}
