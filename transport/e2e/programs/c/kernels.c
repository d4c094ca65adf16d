// Structures by value, recursion, tables of functions, divergence, constants, globals, local arrays, floating point.
#include <math.h>

#include "common.h"

enum { N = 300 };

static unsigned words[N], found[N * 16];
static int integers[N], results[N];
static float floats[N], float_results[12 * N];
static double doubles[N], double_results[8 * N];

static unsigned ackermann(unsigned m, unsigned n) {
    if (m == 0)
        return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static void calls(void) {
    CUmodule module = module_of("calls");
    struct { int scale, offset; long long limit; } line = {7, -3, 1500};
    unsigned n = N;
    for (int i = 0; i < N; i++)
        integers[i] = i * 5 - 200;
    CUdeviceptr input = upload(integers, sizeof integers), output = allocate(sizeof results);
    CHECK(LAUNCH(function_of(module, "call_line"), 3, 128, NULL, &line, &input, &output, &n));
    CHECK(cuMemcpyDtoH(results, output, sizeof results));
    for (int i = 0; i < N; i++) {
        long long y = (long long)line.scale * integers[i] + line.offset;
        REQUIRE(results[i] == (y > line.limit ? line.limit : y), "call_line: element %d is %d", i, results[i]);
    }
    print_digest("structure by value", results, sizeof results);
    CHECK(LAUNCH(function_of(module, "call_recursive"), 3, 128, NULL, &output, &n));
    CHECK(cuMemcpyDtoH(results, output, sizeof results));
    for (int i = 0; i < N; i++)
        REQUIRE((unsigned)results[i] == ackermann((unsigned)i % 3, (unsigned)i % 5), "recursion: element %d is %d", i,
                results[i]);
    print_digest("recursion", results, sizeof results);
    CHECK(LAUNCH(function_of(module, "call_indirect"), 3, 128, NULL, &input, &output, &n));
    CHECK(cuMemcpyDtoH(results, output, sizeof results));
    for (int i = 0; i < N; i++) {
        int x = integers[i], want = i % 3 == 0 ? 2 * x : i % 3 == 1 ? x * x : -x;
        REQUIRE(results[i] == want, "call_indirect: element %d is %d, not %d", i, results[i], want);
    }
    print_digest("table of functions", results, sizeof results);
}

static void divergence(void) {
    CUmodule module = module_of("divergence");
    unsigned n = N;
    CUdeviceptr output = allocate(sizeof words);
    CHECK(LAUNCH(function_of(module, "collatz"), 3, 128, NULL, &output, &n));
    CHECK(cuMemcpyDtoH(words, output, sizeof words));
    for (unsigned i = 0; i < N; i++) {
        uint64_t x = i + 1;
        unsigned steps = 0;
        for (; x != 1; steps++)
            x = x & 1 ? 3 * x + 1 : x / 2;
        REQUIRE(words[i] == steps, "collatz of %u is %u, not %u", i + 1, words[i], steps);
    }
    print_digest("collatz", words, sizeof words);
}

static int by_size(const void *a, const void *b) {
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return (x > y) - (x < y);
}

static void memory(void) {
    CUmodule module = module_of("memory");
    uint64_t state = 6;
    unsigned n = N;
    for (int i = 0; i < N; i++)
        floats[i] = random_float(&state);
    CUdeviceptr input = upload(floats, sizeof floats), output = allocate(sizeof floats);
    CHECK(LAUNCH(function_of(module, "polynomial"), 3, 128, NULL, &input, &output, &n));
    CHECK(cuMemcpyDtoH(float_results, output, sizeof floats));
    for (int i = 0; i < N; i++) {
        double x = floats[i], want = ((3.0 * x + 0.25) * x - 0.5) * x + 1.0;
        REQUIRE(fabs(float_results[i] - want) < 1e-5, "polynomial of %g is %g, not %g", x, float_results[i], want);
    }
    print_digest("constant memory", float_results, sizeof floats);

    const unsigned table[4] = {2, 3, 5, 7};
    CUdeviceptr words_at = allocate(sizeof words);
    CHECK(LAUNCH(function_of(module, "globals"), 2, 128, NULL, &words_at));
    CHECK(cuMemcpyDtoH(words, words_at, 256 * sizeof *words));
    for (int i = 0; i < 256; i++)
        REQUIRE(words[i] == table[i & 3] + table[1], "globals: element %d is %u", i, words[i]);
    CUdeviceptr counter;
    size_t size;
    unsigned counted;
    CHECK(cuModuleGetGlobal(&counter, &size, module, "counter"));
    REQUIRE(size == sizeof counted, "the counter has %zu bytes", size);
    CHECK(cuMemcpyDtoH(&counted, counter, size));
    REQUIRE(counted == 7 + 256, "the counter is %u", counted);
    printf("global variable after 256 threads: %u\n", counted);

    enum { SORTED = 64 };
    for (int i = 0; i < SORTED * 16; i++)
        found[i] = (unsigned)random_u64(&state);
    CUdeviceptr rows = upload(found, SORTED * 16 * sizeof *found);
    CHECK(LAUNCH(function_of(module, "local_sort"), 2, 32, NULL, &rows));
    static unsigned sorted[SORTED * 16];
    CHECK(cuMemcpyDtoH(sorted, rows, sizeof sorted));
    for (int i = 0; i < SORTED; i++)
        qsort(found + 16 * i, 16, sizeof *found, by_size);
    REQUIRE(memcmp(sorted, found, sizeof sorted) == 0, "rows are not sorted");
    print_digest("local arrays", sorted, sizeof sorted);
}

static void close_to(const char *what, double got, double want, double tolerance) {
    REQUIRE(fabs(got - want) <= tolerance * fmax(1.0, fabs(want)), "%s is %.9g, not %.9g", what, got, want);
}

static void floating_point(void) {
    CUmodule module = module_of("math");
    uint64_t state = 7;
    unsigned n = N;
    for (int i = 0; i < N; i++) {
        floats[i] = 0.01f + 3.0f * random_float(&state);
        doubles[i] = floats[i] * 1.7;
    }
    CUdeviceptr input = upload(floats, sizeof floats), output = allocate(sizeof float_results);
    CHECK(LAUNCH(function_of(module, "math_f32"), 3, 128, NULL, &input, &output, &n));
    CHECK(cuMemcpyDtoH(float_results, output, sizeof float_results));
    for (int i = 0; i < N; i++) {
        float x = floats[i], *r = float_results + i;
        REQUIRE(r[0] == sqrtf(x), "sqrt(%g) is %.9g", x, r[0]);
        close_to("rsqrt", r[1 * N], 1 / sqrt(x), 1e-5);
        close_to("sin", r[2 * N], sin(x), 1e-5);
        close_to("cos", r[3 * N], cos(x), 1e-5);
        close_to("ex2", r[4 * N], exp2(x), 1e-5);
        close_to("lg2", r[5 * N], log2(x), 1e-5);
        REQUIRE(r[6 * N] == 1.0f / x, "1/%g is %.9g", x, r[6 * N]);
        REQUIRE(r[7 * N] == floorf(x) && r[8 * N] == ceilf(x) && r[9 * N] == truncf(x), "rounding of %g", x);
        REQUIRE(r[10 * N] == fabsf(x) + fmaf(x, x, -1.0f), "fma of %g", x);
    }
    // Approximate functions may differ between processors, not between two runs on one.
    print_digest("f32 functions", float_results, sizeof float_results);
    CUdeviceptr wide = upload(doubles, sizeof doubles), wide_output = allocate(sizeof double_results);
    CHECK(LAUNCH(function_of(module, "math_f64"), 3, 128, NULL, &wide, &wide_output, &n));
    CHECK(cuMemcpyDtoH(double_results, wide_output, sizeof double_results));
    for (int i = 0; i < N; i++) {
        double x = doubles[i], *r = double_results + i;
        REQUIRE(r[0] == sqrt(x) && r[1 * N] == 1.0 / x && r[2 * N] == fma(x, x, -1.0), "f64 functions of %g", x);
        REQUIRE(r[3 * N] == floor(x) - ceil(x) && r[4 * N] == (double)(long long)(x * 1e6), "f64 rounding of %g", x);
        REQUIRE(r[5 * N] == (double)(float)x && r[6 * N] == fmin(x, 3.0) + fmax(x, 5.0), "f64 conversion of %g", x);
        REQUIRE(r[7 * N] == (x > 2.0 ? x - 7.0 : -x), "f64 choice of %g", x);
    }
    print_digest("f64 functions", double_results, sizeof double_results);
}

int main(void) {
    begin();
    calls();
    divergence();
    memory();
    floating_point();
    return 0;
}
