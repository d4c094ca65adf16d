// Conditional nodes of graphs: kernels that say whether they go on. The function is one of NVIDIA's device runtime,
// which programs link in and the CPU emulator has.
#include "common.h"

void cudaGraphSetConditional(u64 handle, u32 value);

// Adds 1 to the counter, and goes on until it is `limit`.
KERNEL void count_to(u64 handle, u32 *counter, u32 limit) {
    u32 value = *counter + 1;
    *counter = value;
    cudaGraphSetConditional(handle, value < limit);
}

KERNEL void choose(u64 handle, const u32 *value) {
    cudaGraphSetConditional(handle, *value);
}
