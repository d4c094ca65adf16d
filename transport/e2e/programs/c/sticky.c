// A kernel that writes out of bounds: its context is lost, and every later call says so, until the process ends.
#include "common.h"

int main(void) {
    begin();
    CUmodule module = module_of("faults");
    CUfunction write_at = function_of(module, "write_at");
    CUdeviceptr good = allocate(64), nowhere = 16;
    CUstream stream = new_stream();
    unsigned value = 42, back = 0;
    CHECK(LAUNCH(write_at, 1, 1, NULL, &good, &value));
    CHECK(cuMemcpyDtoH(&back, good, sizeof back));
    REQUIRE(back == 42, "the good write gave %u", back);

    // The launch itself is accepted, or already says if it was waited for (CUDA_LAUNCH_BLOCKING).
    CUresult launched = LAUNCH(write_at, 1, 1, NULL, &nowhere, &value);
    REQUIRE(launched == CUDA_SUCCESS || launched == CUDA_ERROR_ILLEGAL_ADDRESS, "the launch gave %d", launched);
    SHOW(cuCtxSynchronize());
    SHOW(cuCtxSynchronize());
    SHOW(cuMemcpyDtoH(&back, good, sizeof back));
    SHOW(cuStreamSynchronize(stream));
    SHOW(cuStreamQuery(stream));
    SHOW(cuMemFree(good));
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    // What needs no device still answers.
    int count;
    SHOW(cuDeviceGetCount(&count));
    return 0;
}
