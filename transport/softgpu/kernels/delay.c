// Keeps the device busy: every thread spins for `nanoseconds` of %globaltimer.
#include "common.h"

static inline u64 now(void) {
    u64 value;
    __asm__ volatile("mov.u64 %0, %%globaltimer;" : "=l"(value));
    return value;
}

KERNEL void delay(u64 nanoseconds) {
    u64 start = now();
    while (now() - start < nanoseconds)
        ;
}

// As many rounds of arithmetic as asked for, for measuring: multiply, add, xor, shift.
KERNEL void work(u32 *output, u32 rounds) {
    u32 x = INDEX;
    for (u32 i = 0; i < rounds; i++) {
        x = x * 1664525u + 1013904223u;
        x ^= x >> 13;
    }
    output[INDEX] = x;
}
