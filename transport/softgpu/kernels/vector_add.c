// c[i] = a[i] + b[i]
#include "common.h"

KERNEL void vector_add(const float *a, const float *b, float *c, u32 n) {
    u32 i = INDEX;
    if (i < n)
        c[i] = a[i] + b[i];
}

// y[i] = alpha * x[i] + y[i], a thread strides over the array.
KERNEL void saxpy(float alpha, const float *x, float *y, u32 n) {
    for (u32 i = INDEX; i < n; i += NTID * NCTAID)
        y[i] = alpha * x[i] + y[i];
}
