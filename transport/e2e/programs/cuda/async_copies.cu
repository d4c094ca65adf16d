// Copies into shared memory that go on beside the threads (cp.async), in stages.
#include <cuda_pipeline.h>

#include "common.h"

const int TILE = 16, STAGES = 3;

__global__ void multiply(const float *a, const float *b, float *c, int size) {
    __shared__ alignas(16) float of_a[STAGES][TILE][TILE], of_b[STAGES][TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    int tiles = size / TILE;
    auto fetch = [&](int tile) {
        if (tile < tiles) {
            // A thread in four copies 16 bytes.
            if (x % 4 == 0) {
                __pipeline_memcpy_async(&of_a[tile % STAGES][y][x], &a[row * size + tile * TILE + x], 16);
                __pipeline_memcpy_async(&of_b[tile % STAGES][y][x], &b[(tile * TILE + y) * size + column], 16);
            }
        }
        __pipeline_commit();
    };
    for (int tile = 0; tile < STAGES - 1; tile++) fetch(tile);
    float sum = 0;
    for (int tile = 0; tile < tiles; tile++) {
        fetch(tile + STAGES - 1);
        __pipeline_wait_prior(STAGES - 1);
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += of_a[tile % STAGES][y][k] * of_b[tile % STAGES][k][x];
        __syncthreads();
    }
    c[row * size + column] = sum;
}

int main() {
    const int size = 64;
    static float a[size * size], b[size * size], c[size * size];
    for (int at = 0; at < size * size; at++) a[at] = at % 7, b[at] = at % 5;
    float *device[3];
    for (float *&each : device) OK(cudaMalloc(&each, sizeof a));
    OK(cudaMemcpy(device[0], a, sizeof a, cudaMemcpyDefault));
    OK(cudaMemcpy(device[1], b, sizeof b, cudaMemcpyDefault));
    multiply<<<dim3(size / TILE, size / TILE), dim3(TILE, TILE)>>>(device[0], device[1], device[2], size);
    done();
    OK(cudaMemcpy(c, device[2], sizeof c, cudaMemcpyDefault));
    for (int row = 0; row < size; row++)
        for (int column = 0; column < size; column++) {
            float sum = 0;
            for (int k = 0; k < size; k++) sum += a[row * size + k] * b[k * size + column];
            EXPECT(c[row * size + column] == sum);
        }
    printf("%016llx\n", digest(c, sizeof c));
    return 0;
}
