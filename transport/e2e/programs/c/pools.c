// Memory in the order of a stream: from the device's pool and from others, with their attributes, limits and accesses.
#include "common.h"
#include "managed.h"

enum { RELEASE_THRESHOLD = 4, RESERVED = 5, USED = 7, USED_HIGH = 8 };

static unsigned long long attribute(CUmemoryPool pool, int which) {
    uint64_t value = 0;
    CHECK(cuMemPoolGetAttribute(pool, which, &value));
    return (unsigned long long)value;
}

static const char *pool_of(CUdeviceptr address, CUmemoryPool first, CUmemoryPool second) {
    CUmemoryPool found = NULL;
    CHECK(cuPointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address));
    return found == first ? "the first" : found == second ? "the second" : found ? "another" : "none";
}

int main(void) {
    enum { N = 100000 };
    CUcontext context = begin();
    CUmodule module = managed_module();
    CUfunction add_each = function_of(module, "add_each");
    CUstream stream = new_stream();
    CUmemoryPool standard, now, own;
    CHECK(cuDeviceGetDefaultMemPool(&standard, 0));
    CHECK(cuDeviceGetMemPool(&now, 0));
    printf("the device's pool is the default: %d\n", now == standard);
    CUmemPoolProps props = {.kind = 1, .location = {1, 0}, .most = 64u << 20};
    CHECK(cuMemPoolCreate(&own, &props));

    // Allocated, used and freed in one go.
    CUdeviceptr one, two;
    unsigned count = N, value = 4, *words = calloc(N, sizeof *words);
    CHECK(cuMemAllocAsync(&one, N * sizeof *words, stream));
    CHECK(cuMemAllocFromPoolAsync(&two, N * sizeof *words, own, stream));
    CHECK(cuMemsetD32Async(one, 30, N, stream));
    CHECK(LAUNCH(add_each, (N + 255) / 256, 256, stream, &one, &count, &value));
    CHECK(cuMemcpyDtoDAsync(two, one, N * sizeof *words, stream));
    CHECK(cuMemcpyDtoHAsync(words, two, N * sizeof *words, stream));
    CHECK(cuStreamSynchronize(stream));
    print_digest("in order", words, N * sizeof *words);
    printf("of %s, of %s\n", pool_of(one, standard, own), pool_of(two, standard, own));
    printf("used %llu, at most %llu\n", attribute(own, USED), attribute(own, USED_HIGH));
    CHECK(cuMemFreeAsync(one, stream));
    CHECK(cuMemFreeAsync(two, stream));
    CHECK(cuStreamSynchronize(stream));
    printf("used %llu, at most %llu\n", attribute(own, USED), attribute(own, USED_HIGH));
    uint64_t long_value = 0;
    CHECK(cuMemPoolSetAttribute(own, USED_HIGH, &long_value));
    long_value = 1u << 20;
    CHECK(cuMemPoolSetAttribute(own, RELEASE_THRESHOLD, &long_value));
    printf("at most %llu, kept %llu\n", attribute(own, USED_HIGH), attribute(own, RELEASE_THRESHOLD));
    SHOW(cuMemPoolSetAttribute(own, USED, &long_value));
    SHOW(cuMemPoolSetAttribute(own, USED_HIGH, &long_value));
    SHOW(cuMemPoolGetAttribute(own, 99, &long_value));
    int reuse = 0;
    for (int which = 1; which <= 3; which++) {
        CHECK(cuMemPoolSetAttribute(own, which, &reuse));
        reuse = 7;
        CHECK(cuMemPoolGetAttribute(own, which, &reuse));
        printf("reuse %d: %d\n", which, reuse);
        reuse = 0;
    }
    SHOW(cuMemPoolTrimTo(own, 0));
    SHOW_STALE(cuMemPoolTrimTo(NULL, 0));
    printf("reserved after that: %llu\n", attribute(own, RESERVED));

    // Beyond what the pool may have.
    SHOW(cuMemAllocFromPoolAsync(&one, 65u << 20, own, stream));
    CHECK(cuMemAllocFromPoolAsync(&one, 40u << 20, own, stream));
    SHOW(cuMemAllocFromPoolAsync(&two, 40u << 20, own, stream));
    // Freed as memory of any kind.
    CHECK(cuMemFree(one));
    CHECK(cuMemAllocFromPoolAsync(&two, 40u << 20, own, stream));
    CHECK(cuMemFreeAsync(two, stream));
    SHOW(cuMemAllocAsync(&one, 0, stream));
    CHECK(cuMemAlloc(&one, 1000));
    CHECK(cuMemFreeAsync(one, stream));
    SHOW_STALE_SOON(cuMemFreeAsync(0, stream));

    CUmemLocation here = {1, 0};
    CUmemAccessDesc access = {{1, 0}, 3};
    int flags = -1;
    CHECK(cuMemPoolGetAccess(&flags, own, &here));
    printf("access of its device: %d\n", flags);
    SHOW(cuMemPoolSetAccess(own, &access, 1));
    access.flags = 0;
    SHOW(cuMemPoolSetAccess(own, &access, 1));

    // Another pool for the device.
    CHECK(cuDeviceSetMemPool(0, own));
    CHECK(cuDeviceGetMemPool(&now, 0));
    CHECK(cuMemAllocAsync(&one, 1000, stream));
    printf("set: %d, memory of %s\n", now == own, pool_of(one, standard, own));
    if (cuMemGetDefaultMemPool) {
        CUmemoryPool other;
        CHECK(cuMemGetDefaultMemPool(&other, &here, 1));
        CHECK(cuMemGetMemPool(&now, &here, 1));
        printf("by place: %d %d\n", other == standard, now == own);
        CHECK(cuMemSetMemPool(&here, 1, standard));
        CHECK(cuDeviceGetMemPool(&now, 0));
        printf("set by place: %d\n", now == standard);
        CHECK(cuDeviceSetMemPool(0, own));
    }
    CHECK(cuMemFreeAsync(one, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemPoolDestroy(own));
    CHECK(cuDeviceGetMemPool(&now, 0));
    printf("destroyed: %d\n", now == standard);
    SHOW_STALE_SOON(cuMemPoolDestroy(standard));
    props.kind = 9;
    SHOW(cuMemPoolCreate(&own, &props));
    free(words);
    CHECK(cuStreamDestroy(stream));
    CHECK(cuModuleUnload(module));
    CHECK(cuCtxDestroy(context));
    return 0;
}
