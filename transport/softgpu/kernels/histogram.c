// Counts bytes: atomics in shared memory, then one atomic a bin in global memory.
#include "common.h"

static SHARED u32 bins[256];

KERNEL void histogram(const u8 *input, u32 *output, u32 n) {
    for (u32 i = TID; i < 256; i += NTID)
        bins[i] = 0;
    BARRIER();
    for (u32 i = INDEX; i < n; i += NTID * NCTAID)
        __atomic_fetch_add((SHARED u32 *)&bins[input[i]], 1, __ATOMIC_RELAXED);
    BARRIER();
    for (u32 i = TID; i < 256; i += NTID)
        __nvvm_atom_add_gen_i((int *)&output[i], (int)bins[i]);
}

// 64-bit atomics: sum, maximum, minimum, exchange, compare and swap as a lock-free maximum of squares.
KERNEL void atomics64(const u64 *input, u64 *output, u32 n) {
    u32 i = INDEX;
    if (i >= n)
        return;
    u64 value = input[i];
    __nvvm_atom_add_gen_ll((long long *)&output[0], (long long)value);
    __nvvm_atom_max_gen_ull(&output[1], value);
    __nvvm_atom_min_gen_ull(&output[2], value);
    __nvvm_atom_xor_gen_ll((long long *)&output[3], (long long)value);
    __nvvm_atom_or_gen_ll((long long *)&output[4], (long long)value);
    u64 square = value * value, seen = output[5];
    while (seen < square) {
        u64 before = (u64)__nvvm_atom_cas_gen_ll((long long *)&output[5], (long long)seen, (long long)square);
        if (before == seen)
            break;
        seen = before;
    }
    __nvvm_atom_add_gen_f((float *)&output[6], 1.0f);
}
