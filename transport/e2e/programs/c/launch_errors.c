// Launches that CUDA refuses at the call itself, after which the context still works.
#include "common.h"

// A kernel with bounds of its own, in a module with more functions than a server loads before it is asked for them.
static const char many[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                           ".visible .entry bounded() .maxntid 64, 1, 1 { ret; }\n"
                           ".visible .entry a() { ret; }\n.visible .entry b() { ret; }\n.visible .entry c() { ret; }\n"
                           ".visible .entry d() { ret; }\n.visible .entry e() { ret; }\n";
static const char one[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry bounded() .maxntid 64, 1, 1 { ret; }\n";

enum { MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 };

static void bounds(void) {
    CUmodule module;
    CHECK(cuModuleLoadData(&module, one));
    CUfunction bounded = function_of(module, "bounded");
    SHOW(cuLaunchKernel(bounded, 1, 1, 1, 65, 1, 1, 0, NULL, NULL, NULL));
    CHECK(cuLaunchKernel(bounded, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
    CHECK(cuModuleUnload(module));
    CHECK(cuModuleLoadData(&module, many));
    bounded = function_of(module, "bounded");
    SHOW(cuLaunchKernel(bounded, 1, 1, 1, 32, 1, 1, (48 << 10) + 1, NULL, NULL, NULL));
    CHECK(cuLaunchKernel(bounded, 1, 1, 1, 32, 1, 1, 48 << 10, NULL, NULL, NULL));
    CHECK(cuFuncSetAttribute(bounded, MAX_DYNAMIC_SHARED_SIZE_BYTES, 64 << 10));
    CHECK(cuLaunchKernel(bounded, 1, 1, 1, 32, 1, 1, 64 << 10, NULL, NULL, NULL));
    CHECK(cuCtxSynchronize());
    CHECK(cuModuleUnload(module));
}

int main(void) {
    begin();
    CUmodule module = module_of("vector_add");
    CUfunction saxpy = function_of(module, "saxpy"), missing = NULL;
    float alpha = 2, x[4] = {1, 2, 3, 4}, y[4] = {0};
    unsigned n = 4;
    CUdeviceptr device_x = upload(x, sizeof x), device_y = upload(y, sizeof y);
    void *parameters[] = {&alpha, &device_x, &device_y, &n};
    SHOW(cuLaunchKernel(saxpy, 1, 1, 1, 1025, 1, 1, 0, NULL, parameters, NULL));
    SHOW(cuLaunchKernel(saxpy, 1, 1, 1, 64, 64, 1, 0, NULL, parameters, NULL));
    SHOW(cuLaunchKernel(saxpy, 0, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL));
    SHOW(cuLaunchKernel(saxpy, 1, 1, 1, 0, 1, 1, 0, NULL, parameters, NULL));
    SHOW(cuLaunchKernel(saxpy, 1, 70000, 1, 32, 1, 1, 0, NULL, parameters, NULL));
    SHOW(cuLaunchKernel(saxpy, 1, 1, 1, 32, 1, 1, 10 << 20, NULL, parameters, NULL));
    char buffer[24] = {0};
    size_t bytes = sizeof buffer;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    SHOW(cuLaunchKernel(saxpy, 1, 1, 1, 4, 1, 1, 0, NULL, parameters, extra));
    SHOW(cuModuleGetFunction(&missing, module, "no_such_kernel"));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(saxpy, 1, 1, 1, 1025, 1, 1, 0, NULL, parameters, NULL));
    EXPECT(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&missing, module, "no_such_kernel"));
    CHECK(cuCtxSynchronize());
    CHECK(cuLaunchKernel(saxpy, 1, 1, 1, 4, 1, 1, 0, NULL, parameters, NULL));
    CHECK(cuMemcpyDtoH(y, device_y, sizeof y));
    for (int i = 0; i < 4; i++)
        REQUIRE(y[i] == 2 * x[i], "element %d is %g", i, y[i]);
    printf("still works: %g %g %g %g\n", y[0], y[1], y[2], y[3]);

    int threads, blocks;
    CHECK(cuFuncGetAttribute(&threads, 0, saxpy));
    REQUIRE(threads >= 32 && threads <= 1024, "a block may have %d threads", threads);
    CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, saxpy, 128, 0));
    REQUIRE(blocks > 0, "no block fits");
    printf("threads per block %d, blocks of 128 threads %d\n", threads, blocks);
    size_t offset, size;
    int version;
    CHECK(cuDriverGetVersion(&version));
    for (size_t i = 0; version >= 12040 && cuFuncGetParamInfo(saxpy, i, &offset, &size) == CUDA_SUCCESS; i++)
        printf("parameter %zu at %zu, %zu bytes\n", i, offset, size);
    SHOW(cuModuleLoadData(&module, "this is no image"));
    SHOW(cuModuleLoadData(&module, ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry f() { frob.u32 %r1; }"));
    bounds();
    return 0;
}
