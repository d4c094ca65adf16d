// y = alpha x + y, with parameters given in each way that a launch knows, over grids of several sizes.
#include "common.h"

enum { N = 5000 };

static float x[N], y[N], result[N];

static void fill(void) {
    uint64_t state = 2;
    for (int i = 0; i < N; i++) {
        x[i] = random_float(&state);
        y[i] = random_float(&state);
    }
}

static void check(float alpha, const char *how) {
    for (int i = 0; i < N; i++) {
        // clang contracts the expression in the kernel to one fused operation.
        float fused = __builtin_fmaf(alpha, x[i], y[i]), twice = alpha * x[i] + y[i];
        REQUIRE(result[i] == fused || result[i] == twice, "%s: element %d is %g, not %g", how, i, result[i], fused);
    }
    print_digest(how, result, sizeof result);
}

int main(void) {
    begin();
    CUmodule module = module_of("vector_add");
    CUfunction saxpy = function_of(module, "saxpy");
    fill();
    CUdeviceptr device_x = upload(x, sizeof x), device_y = allocate(sizeof y);
    unsigned n = N;
    const unsigned grids[][2] = {{1, 32}, {1, 1024}, {7, 64}, {20, 256}};
    for (int i = 0; i < 4; i++) {
        float alpha = 0.5f + (float)i;
        CHECK(cuMemcpyHtoD(device_y, y, sizeof y));
        CHECK(LAUNCH(saxpy, grids[i][0], grids[i][1], NULL, &alpha, &device_x, &device_y, &n));
        CHECK(cuMemcpyDtoH(result, device_y, sizeof y));
        check(alpha, "parameters by address");
    }

    struct { float alpha; CUdeviceptr x, y; unsigned n; } packed = {-3.0f, device_x, device_y, n};
    size_t size = offsetof(__typeof__(packed), n) + sizeof n;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    CHECK(cuMemcpyHtoD(device_y, y, sizeof y));
    CHECK(cuLaunchKernel(saxpy, 4, 1, 1, 128, 1, 1, 0, NULL, NULL, extra));
    CHECK(cuMemcpyDtoH(result, device_y, sizeof y));
    check(-3.0f, "parameters in a buffer");

    // As before CUDA 4.0, and as pycuda does: set for the function, one by one.
    CHECK(cuMemcpyHtoD(device_y, y, sizeof y));
    CHECK(cuFuncSetBlockShape(saxpy, 128, 1, 1));
    CHECK(cuFuncSetSharedSize(saxpy, 0));
    CHECK(cuParamSetf(saxpy, offsetof(__typeof__(packed), alpha), 7.0f));
    CHECK(cuParamSetv(saxpy, offsetof(__typeof__(packed), x), &packed.x, 2 * sizeof packed.x));
    CHECK(cuParamSeti(saxpy, offsetof(__typeof__(packed), n), n));
    CHECK(cuParamSetSize(saxpy, (unsigned)size));
    CHECK(cuLaunchGridAsync(saxpy, 4, 1, NULL));
    CHECK(cuMemcpyDtoH(result, device_y, sizeof y));
    check(7.0f, "parameters set before");
    return 0;
}
