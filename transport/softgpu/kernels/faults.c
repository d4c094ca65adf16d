// Kernels that go wrong, for what the driver must report.
#include "common.h"

// Writes where it is asked to: a null or foreign pointer faults.
KERNEL void write_at(u32 *address, u32 value) {
    if (INDEX == 0)
        *(volatile u32 *)address = value;
}

// Writes past the end of an array of `n`: thread n of the grid faults if the array is not larger.
KERNEL void write_past(u32 *array, u32 n) {
    if (INDEX <= n)
        array[INDEX] = INDEX;
}

KERNEL void trap(void) {
    __builtin_trap();
}

// Never ends: for cancelling.
KERNEL void spin_for_ever(volatile u32 *flag) {
    while (*flag == 0)
        ;
}
