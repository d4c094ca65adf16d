// Floating-point functions that PTX has instructions for, f32 and f64.
#include "common.h"

// 12 results a thread, result k at output[k * n + i].
KERNEL void math_f32(const float *input, float *output, u32 n) {
    u32 i = INDEX;
    if (i >= n)
        return;
    float x = input[i];
    output[0 * n + i] = __nvvm_sqrt_rn_f(x);
    output[1 * n + i] = __nvvm_rsqrt_approx_f(x);
    output[2 * n + i] = __nvvm_sin_approx_f(x);
    output[3 * n + i] = __nvvm_cos_approx_f(x);
    output[4 * n + i] = __nvvm_ex2_approx_f(x);
    output[5 * n + i] = __nvvm_lg2_approx_f(x);
    output[6 * n + i] = 1.0f / x;
    output[7 * n + i] = __builtin_floorf(x);
    output[8 * n + i] = __builtin_ceilf(x);
    output[9 * n + i] = __builtin_truncf(x);
    output[10 * n + i] = __builtin_fabsf(x) + __builtin_fmaf(x, x, -1.0f);
    output[11 * n + i] = (float)(int)(x * 100.0f) + (float)(unsigned char)(int)x;
}

// 8 results a thread, result k at output[k * n + i].
KERNEL void math_f64(const double *input, double *output, u32 n) {
    u32 i = INDEX;
    if (i >= n)
        return;
    double x = input[i];
    output[0 * n + i] = __nvvm_sqrt_rn_d(x);
    output[1 * n + i] = 1.0 / x;
    output[2 * n + i] = __builtin_fma(x, x, -1.0);
    output[3 * n + i] = __builtin_floor(x) - __builtin_ceil(x);
    output[4 * n + i] = (double)(long long)(x * 1e6);
    output[5 * n + i] = (double)(float)x;
    output[6 * n + i] = __builtin_fmin(x, 3.0) + __builtin_fmax(x, 5.0);
    output[7 * n + i] = x > 2.0 ? x - 7.0 : -x;
}
