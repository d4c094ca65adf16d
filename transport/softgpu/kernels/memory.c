// Constant memory, initialised global variables, arrays in local memory, vectors.
#include "common.h"

CONSTANT const float coefficients[4] = {1.0f, -0.5f, 0.25f, 3.0f};
GLOBAL u32 counter = 7;
GLOBAL u32 table[4] = {2, 3, 5, 7};
u32 GLOBAL *GLOBAL second = &table[1];

KERNEL void polynomial(const float *input, float *output, u32 n) {
    u32 i = INDEX;
    if (i >= n)
        return;
    float x = input[i];
    output[i] = ((coefficients[3] * x + coefficients[2]) * x + coefficients[1]) * x + coefficients[0];
}

KERNEL void globals(u32 *output) {
    output[INDEX] = table[INDEX & 3] + *second;
    __nvvm_atom_add_gen_i((int *)&counter, 1);
}

// Sorts 16 numbers a thread in an array of its own.
KERNEL void local_sort(u32 *data) {
    u32 own[16];
    for (u32 k = 0; k < 16; k++)
        own[k] = data[INDEX * 16 + k];
    for (u32 k = 1; k < 16; k++) {
        u32 value = own[k], at = k;
        while (at > 0 && own[at - 1] > value) {
            own[at] = own[at - 1];
            at--;
        }
        own[at] = value;
    }
    for (u32 k = 0; k < 16; k++)
        data[INDEX * 16 + k] = own[k];
}

typedef float float4 __attribute__((ext_vector_type(4)));

KERNEL void scale4(float4 *data, float by) {
    data[INDEX] = data[INDEX] * by;
}
