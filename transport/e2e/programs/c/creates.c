// A call that creates something and succeeds says so, whatever an earlier call did: else nobody would ever end what it
// has created. The earlier error comes with a call that creates nothing.
#include "common.h"

enum { ROUNDS = 20, SIZE = 1 << 20 };

// A copy to where nothing is. Directly it fails at once, remotely a later call reports it.
static CUresult fail(void) {
    static char bytes[16];
    return cuMemcpyHtoD((CUdeviceptr)0x10, bytes, sizeof bytes);
}

static void ended(CUresult seen, const char *after) {
    CUresult later = cuCtxSynchronize();
    REQUIRE(seen != CUDA_SUCCESS || later != CUDA_SUCCESS, "the error of the copy is lost after %s", after);
}

int main(void) {
    begin();
    size_t before, after, total;
    CHECK(cuMemGetInfo(&before, &total));
    for (int round = 0; round < ROUNDS; round++) {
        CUdeviceptr memory = 0;
        CUresult seen = fail();
        CHECK(cuMemAlloc(&memory, SIZE));
        ended(seen, "cuMemAlloc");
        CHECK(cuMemFree(memory));
        CUmodule module = NULL;
        seen = fail();
        module = module_of("vector_add");
        ended(seen, "cuModuleLoad");
        CHECK(cuModuleUnload(module));
    }
    CHECK(cuCtxSynchronize());
    CHECK(cuMemGetInfo(&after, &total));
    REQUIRE(before == after, "%zu bytes leak", before - after);
    printf("nothing leaks\n");
    return 0;
}
