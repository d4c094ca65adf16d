// Thousands of small launches, each of which leaves its mark: none is lost, none doubled, all in order.
#include "common.h"

enum { ROUNDS = 4000, THREADS = 4 };

int main(void) {
    begin();
    CUmodule module = module_of("memory"), adding = module_of("vector_add");
    CUfunction globals = function_of(module, "globals"), saxpy = function_of(adding, "saxpy");
    CUdeviceptr output = allocate(THREADS * sizeof(unsigned)), counter;
    size_t size;
    for (int i = 0; i < ROUNDS; i++)
        CHECK(LAUNCH(globals, 1, THREADS, NULL, &output));
    unsigned counted;
    CHECK(cuModuleGetGlobal(&counter, &size, module, "counter"));
    CHECK(cuMemcpyDtoH(&counted, counter, sizeof counted));
    REQUIRE(counted == 7 + ROUNDS * THREADS, "the counter is %u", counted);
    printf("%d launches counted %u\n", ROUNDS, counted);

    // Multiplies y by 1 + alpha, then adds beta: any other order, and any launch lost, gives another number.
    float value = 1;
    CUdeviceptr y = upload(&value, sizeof value), one = upload(&value, sizeof value);
    unsigned n = 1;
    uint64_t state = 11;
    for (int i = 0; i < ROUNDS; i++) {
        float alpha = random_u64(&state) % 2 ? 0.25f : -0.5f, beta = random_float(&state);
        CHECK(LAUNCH(saxpy, 1, 1, NULL, &alpha, &y, &y, &n));
        CHECK(LAUNCH(saxpy, 1, 1, NULL, &beta, &one, &y, &n));
        value = __builtin_fmaf(alpha, value, value);
        value = __builtin_fmaf(beta, 1.0f, value);
    }
    float found;
    CHECK(cuMemcpyDtoH(&found, y, sizeof found));
    REQUIRE(memcmp(&found, &value, sizeof value) == 0, "the chain gives %g, not %g", found, value);
    printf("chain of %d: %a\n", 2 * ROUNDS, found);
    return 0;
}
