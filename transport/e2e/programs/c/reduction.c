// Sums by shuffles and shared memory; maximum in shared memory whose size the launch gives.
#include "common.h"

enum { N = 20000, BLOCKS = 8, THREADS = 256 };

static float values[N];
static unsigned words[N];

int main(void) {
    begin();
    CUmodule module = module_of("reduction");
    uint64_t state = 3;
    double sum = 0;
    unsigned largest = 0, n = N;
    for (int i = 0; i < N; i++) {
        values[i] = random_float(&state);
        sum += values[i];
        words[i] = (unsigned)random_u64(&state);
        largest = words[i] > largest ? words[i] : largest;
    }

    CUdeviceptr input = upload(values, sizeof values), output = allocate(BLOCKS * sizeof(float));
    CHECK(LAUNCH(function_of(module, "reduce_sum"), BLOCKS, THREADS, NULL, &input, &output, &n));
    float partial[BLOCKS];
    CHECK(cuMemcpyDtoH(partial, output, sizeof partial));
    double total = 0;
    for (int i = 0; i < BLOCKS; i++)
        total += partial[i];
    REQUIRE(total == sum, "the sum is %.9g, not %.9g", total, sum);
    printf("sum of %d: %.6f\n", N, total);

    CUdeviceptr numbers = upload(words, sizeof words), maximum = allocate(sizeof largest);
    CHECK(cuMemsetD32(maximum, 0, 1));
    CHECK(cuLaunchKernel(function_of(module, "reduce_max"), BLOCKS, 1, 1, THREADS, 1, 1, THREADS * sizeof(unsigned),
                         NULL, (void *[]){&numbers, &maximum, &n}, NULL));
    unsigned found;
    CHECK(cuMemcpyDtoH(&found, maximum, sizeof found));
    REQUIRE(found == largest, "the maximum is %u, not %u", found, largest);
    printf("maximum of %d: %u\n", N, found);
    return 0;
}
