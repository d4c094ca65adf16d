// C = A * B by tiles of 16 x 16 in shared memory; row-major, n a multiple of 16.
#include "common.h"

#define TILE 16

static SHARED float left[TILE][TILE];
static SHARED float right[TILE][TILE + 1];

KERNEL void matmul(const float *a, const float *b, float *c, u32 n) {
    u32 row = CTAID_Y * TILE + TID_Y, column = CTAID * TILE + TID;
    float sum = 0.0f;
    for (u32 tile = 0; tile < n; tile += TILE) {
        left[TID_Y][TID] = a[row * n + tile + TID];
        right[TID_Y][TID] = b[(tile + TID_Y) * n + column];
        BARRIER();
        for (u32 k = 0; k < TILE; k++)
            sum = __builtin_fmaf(left[TID_Y][k], right[k][TID], sum);
        BARRIER();
    }
    c[row * n + column] = sum;
}
