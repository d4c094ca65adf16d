// Control flow that differs between the lanes of a warp.
#include "common.h"

// Steps of the Collatz sequence from i + 1 to 1.
KERNEL void collatz(u32 *output, u32 n) {
    u32 i = INDEX;
    if (i >= n)
        return;
    u64 x = i + 1;
    u32 steps = 0;
    while (x != 1) {
        x = x & 1 ? 3 * x + 1 : x / 2;
        steps++;
    }
    output[i] = steps;
}

// A jump table, loops within loops, early exits.
KERNEL void switches(const u32 *input, u32 *output, u32 n) {
    u32 i = INDEX;
    if (i >= n)
        return;
    u32 x = input[i], result = 1;
    for (u32 round = 0; round < (x & 7); round++) {
        switch ((x >> round) & 7) {
        case 0: result += 3; break;
        case 1: result *= 5; break;
        case 2: result ^= x; break;
        case 3: result = result << 3 | result >> 29; break;
        case 4: result -= round; break;
        case 5: if (result & 1) goto out; result |= 64; break;
        case 6: for (u32 k = 0; k < (x & 15); k++) result += k * result; break;
        default: result = ~result; break;
        }
    }
out:
    output[i] = result;
}
