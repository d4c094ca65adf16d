// Atomics in shared and in global memory, of 32 and 64 bits.
#include "common.h"

enum { N = 30000, M = 3000 };

static unsigned char bytes[N];
static uint64_t words[M];

int main(void) {
    begin();
    CUmodule module = module_of("histogram");
    uint64_t state = 5;
    unsigned want[256] = {0}, bins[256], n = N;
    for (int i = 0; i < N; i++) {
        bytes[i] = (unsigned char)(random_u64(&state) % 200);
        want[bytes[i]]++;
    }
    CUdeviceptr input = upload(bytes, sizeof bytes), output = allocate(sizeof bins);
    CHECK(cuMemsetD8(output, 0, sizeof bins));
    CHECK(LAUNCH(function_of(module, "histogram"), 6, 256, NULL, &input, &output, &n));
    CHECK(cuMemcpyDtoH(bins, output, sizeof bins));
    REQUIRE(memcmp(bins, want, sizeof bins) == 0, "the histogram differs");
    print_digest("histogram", bins, sizeof bins);

    // Sum, maximum, minimum, xor, or, largest square, count as float.
    uint64_t expected[7] = {0, 0, ~0ull, 0, 0, 0, 0}, results[7] = {0, 0, ~0ull, 0, 0, 0, 0};
    for (int i = 0; i < M; i++) {
        uint64_t value = words[i] = random_u64(&state) >> 33;
        expected[0] += value;
        expected[1] = value > expected[1] ? value : expected[1];
        expected[2] = value < expected[2] ? value : expected[2];
        expected[3] ^= value;
        expected[4] |= value;
        expected[5] = value * value > expected[5] ? value * value : expected[5];
    }
    float counted = M;
    memcpy(&expected[6], &counted, sizeof counted);
    unsigned m = M;
    CUdeviceptr numbers = upload(words, sizeof words), found = upload(results, sizeof results);
    CHECK(LAUNCH(function_of(module, "atomics64"), (M + 127) / 128, 128, NULL, &numbers, &found, &m));
    CHECK(cuMemcpyDtoH(results, found, sizeof results));
    for (int i = 0; i < 7; i++) {
        REQUIRE(results[i] == expected[i], "result %d is %llx, not %llx", i, (unsigned long long)results[i],
                (unsigned long long)expected[i]);
        printf("atomics %d: %016llx\n", i, (unsigned long long)results[i]);
    }
    return 0;
}
