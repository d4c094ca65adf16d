// Calls: a function that is not inlined, recursion, a table of functions, a structure by value.
#include "common.h"

typedef struct {
    int scale, offset;
    long long limit;
} Line;

NOINLINE int apply(Line line, int x) {
    long long y = (long long)line.scale * x + line.offset;
    return y > line.limit ? (int)line.limit : (int)y;
}

KERNEL void call_line(Line line, const int *input, int *output, u32 n) {
    u32 i = INDEX;
    if (i < n)
        output[i] = apply(line, input[i]);
}

// Depth differs between the lanes of a warp.
NOINLINE u32 ackermann(u32 m, u32 n) {
    if (m == 0)
        return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

KERNEL void call_recursive(u32 *output, u32 n) {
    u32 i = INDEX;
    if (i < n)
        output[i] = ackermann(i % 3, i % 5);
}

NOINLINE static int twice(int x) { return 2 * x; }
NOINLINE static int square(int x) { return x * x; }
NOINLINE static int negate(int x) { return -x; }

typedef int (*Step)(int);
static Step const steps[3] = {twice, square, negate};

KERNEL void call_indirect(const int *input, int *output, u32 n) {
    u32 i = INDEX;
    if (i < n)
        output[i] = steps[i % 3](input[i]);
}
