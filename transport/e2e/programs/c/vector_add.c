// Adds two vectors, as often as the first argument says (1): the steady loop is copy in, launch, copy out.
#include "common.h"

enum { N = 1000 };

int main(int count, char **arguments) {
    int rounds = count > 1 ? atoi(arguments[1]) : 1;
    CUcontext context = begin();
    CUmodule module = module_of("vector_add");
    CUfunction add = function_of(module, "vector_add");
    float a[N], b[N], c[N];
    uint64_t state = 1;
    CUdeviceptr device_a = allocate(sizeof a), device_b = allocate(sizeof b), device_c = allocate(sizeof c);
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < N; i++) {
            a[i] = random_float(&state);
            b[i] = random_float(&state);
        }
        memset(c, 0, sizeof c);
        unsigned n = N;
        CHECK(cuMemcpyHtoD(device_a, a, sizeof a));
        CHECK(cuMemcpyHtoD(device_b, b, sizeof b));
        CHECK(LAUNCH(add, (N + 255) / 256, 256, NULL, &device_a, &device_b, &device_c, &n));
        CHECK(cuMemcpyDtoH(c, device_c, sizeof c));
        for (int i = 0; i < N; i++)
            REQUIRE(c[i] == a[i] + b[i], "element %d of round %d is %g, not %g", i, round, c[i], a[i] + b[i]);
    }
    print_digest("sum", c, sizeof c);
    CHECK(cuMemFree(device_a));
    CHECK(cuMemFree(device_b));
    CHECK(cuMemFree(device_c));
    CHECK(cuModuleUnload(module));
    CHECK(cuCtxDestroy(context));
    return 0;
}
