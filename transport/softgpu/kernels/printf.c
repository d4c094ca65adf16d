// Printing from the device.
#include "common.h"

int vprintf(const char *format, __builtin_va_list arguments);

KERNEL void greet(int number, double fraction) {
    struct { u32 thread; int number; double fraction; const char *word; } arguments = {INDEX, number, fraction, "word"};
    vprintf("thread %u: %d %5.2f %s%%\n", (__builtin_va_list)&arguments);
}
