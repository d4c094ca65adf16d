// Sums: shuffles within a warp, shared memory within a block, an atomic between blocks.
#include "common.h"

static SHARED float partial[32];

KERNEL void reduce_sum(const float *input, float *output, u32 n) {
    float sum = 0.0f;
    for (u32 i = INDEX; i < n; i += NTID * NCTAID)
        sum += input[i];
    for (int step = 16; step > 0; step >>= 1)
        sum += __nvvm_shfl_sync_down_f32(0xffffffff, sum, step, 31);
    if ((TID & 31) == 0)
        partial[TID >> 5] = sum;
    BARRIER();
    if (TID < 32) {
        sum = TID < (NTID + 31) / 32 ? partial[TID] : 0.0f;
        for (int step = 16; step > 0; step >>= 1)
            sum += __nvvm_shfl_sync_down_f32(0xffffffff, sum, step, 31);
        if (TID == 0)
            output[CTAID] = sum;
    }
}

extern SHARED u32 tree[];

// The tree in shared memory whose size the launch gives: NTID words.
KERNEL void reduce_max(const u32 *input, u32 *output, u32 n) {
    u32 largest = 0;
    for (u32 i = INDEX; i < n; i += NTID * NCTAID)
        largest = input[i] > largest ? input[i] : largest;
    tree[TID] = largest;
    BARRIER();
    for (u32 step = NTID / 2; step > 0; step /= 2) {
        if (TID < step && tree[TID + step] > tree[TID])
            tree[TID] = tree[TID + step];
        BARRIER();
    }
    if (TID == 0)
        __nvvm_atom_max_gen_ui(output, tree[0]);
}
