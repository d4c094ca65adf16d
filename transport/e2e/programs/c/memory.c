// Memory that runs out, frees that are wrong, handles that are none: the codes that CUDA documents.
#include "common.h"

enum { SIZE = 100000, CHUNK = 64 << 20, MANY = 16384 };

static unsigned char before[SIZE], after[SIZE];

static void errors_of_memory(void) {
    CUdeviceptr address = 0;
    SHOW(cuMemAlloc(&address, 0));
    SHOW(cuMemAlloc(&address, (size_t)1 << 50));
    SHOW(cuMemFree(0));
    SHOW(cuMemFree(0x1234));
    CHECK(cuMemAlloc(&address, 4096));
    SHOW(cuMemFree(address + 256));
    SHOW(cuMemFree(address));
    SHOW(cuMemFree(address));
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&address, (size_t)1 << 50));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemFree(0x1234));
    CUdeviceptr base;
    size_t size;
    SHOW(cuMemGetAddressRange(&base, &size, 0x1234));
    SHOW_STALE(cuMemcpyDtoH(after, 0x1234, 16));
    SHOW_STALE_SOON(cuMemcpyHtoD(0x1234, before, 16));
    CHECK(cuCtxSynchronize());
}

static void until_full(void) {
    static CUdeviceptr held[MANY];
    size_t available, total, now;
    CHECK(cuMemGetInfo(&available, &total));
    int count = 0;
    CUresult result = CUDA_SUCCESS;
    while (count < MANY && (result = cuMemAlloc(&held[count], CHUNK)) == CUDA_SUCCESS)
        count++;
    REQUIRE(result == CUDA_ERROR_OUT_OF_MEMORY, "memory ran out with %d", result);
    REQUIRE((size_t)count <= available / CHUNK, "%d pieces do not fit into %zu bytes", count, available);
    // A part may be the driver's own.
    REQUIRE((size_t)count + 8 >= available / CHUNK, "only %d pieces of %zu bytes", count, available);
    for (int i = 0; i < count; i++)
        CHECK(cuMemFree(held[i]));
    CHECK(cuMemGetInfo(&now, &total));
    // A driver may keep some of what it took for its tables, and others may use the device.
    size_t kept = available > now ? available - now : now - available;
    REQUIRE(kept <= (is_real() ? (size_t)4 * CHUNK : 0), "%zu bytes are free, not %zu", now, available);
    printf("memory ran out and came back\n");
}

static void contents(void) {
    uint64_t state = 8;
    for (int i = 0; i < SIZE; i++)
        before[i] = (unsigned char)random_u64(&state);
    CUdeviceptr a = upload(before, SIZE), b = allocate(SIZE);
    CHECK(cuMemcpyDtoD(b, a, SIZE));
    CHECK(cuMemcpyDtoH(after, b, SIZE));
    REQUIRE(memcmp(before, after, SIZE) == 0, "a copy differs");
    CHECK(cuMemsetD8(b + 3, 0xab, 1001));
    CHECK(cuMemsetD16(b + 2000, 0x1234, 501));
    CHECK(cuMemsetD32(b + 4000, 0xdeadbeef, 77));
    CHECK(cuMemcpyDtoD(b + 50000, a + 1, 4099));
    CHECK(cuMemcpyDtoH(after, b, SIZE));
    memset(before + 3, 0xab, 1001);
    unsigned char *copy = malloc(4099);
    // `a` has the bytes from before the memsets of `before`.
    CHECK(cuMemcpyDtoH(copy, a + 1, 4099));
    for (int i = 0; i < 501; i++)
        memcpy(before + 2000 + 2 * i, (unsigned short[]){0x1234}, 2);
    for (int i = 0; i < 77; i++)
        memcpy(before + 4000 + 4 * i, (unsigned[]){0xdeadbeef}, 4);
    memcpy(before + 50000, copy, 4099);
    REQUIRE(memcmp(before, after, SIZE) == 0, "memsets and copies at offsets differ");
    print_digest("contents", after, SIZE);
    CUdeviceptr base;
    size_t size;
    CHECK(cuMemGetAddressRange(&base, &size, b + 777));
    REQUIRE(base == b && size == SIZE, "the range is wrong: %zu bytes", size);
    // Nothing is written to `after`, which is smaller, unless the end of the allocation is overlooked.
    SHOW_STALE(cuMemcpyDtoH(after, b + SIZE - 8, 4096 << 10));
    SHOW_STALE_SOON(cuMemsetD8(b, 0, 1ull << 40));
    SHOW_SOON(cuMemsetD16(b + 1, 0, 2));
    CHECK(cuMemFree(a));
    CHECK(cuMemFree(b));
}

static void errors_of_handles(CUcontext context) {
    CUfunction function;
    CUdeviceptr address;
    size_t size;
    CUevent none = (CUevent)(uintptr_t)0x123450, event;
    CUstream stream;
    CHECK(cuStreamCreate(&stream, 0));
    CHECK(cuStreamDestroy(stream));
    SHOW_STALE(cuStreamSynchronize(stream));
    SHOW_STALE(cuStreamQuery((CUstream)(uintptr_t)0x5550));
    SHOW_STALE_SOON(cuStreamDestroy(NULL));
    SHOW_STALE(cuEventQuery(none));
    SHOW_STALE(cuEventSynchronize(NULL));
    SHOW_STALE(cuModuleGetFunction(&function, (CUmodule)(uintptr_t)0x770, "f"));
    SHOW_STALE(cuModuleGetGlobal(&address, &size, NULL, "g"));
    SHOW_STALE_SOON(cuModuleUnload((CUmodule)(uintptr_t)0x770));
    SHOW_STALE(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    SHOW_STALE(cuCtxSetCurrent((CUcontext)(uintptr_t)0x990));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuEventCreate(&event, 0));
    CHECK(cuEventDestroy(event));
    SHOW_STALE(cuEventQuery(event));
    CUdevice device;
    int value;
    SHOW(cuDeviceGet(&device, 99));
    SHOW(cuDeviceGet(&device, -1));
    SHOW(cuDeviceGetAttribute(&value, 100000, 0));
    SHOW_STALE(cuMemAlloc(NULL, 16));
    CHECK(cuCtxSynchronize());
}

int main(void) {
    CUdeviceptr address;
    SHOW(cuMemAlloc(&address, 16));
    EXPECT(CUDA_ERROR_NOT_INITIALIZED, cuMemAlloc(&address, 16));
    SHOW(cuInit(7));
    CHECK(cuInit(0));
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&address, 16));
    CUcontext context = begin();
    errors_of_memory();
    until_full();
    contents();
    errors_of_handles(context);
    CHECK(cuCtxDestroy(context));
    SHOW(cuMemAlloc(&address, 16));
    SHOW_STALE(cuCtxDestroy(context));
    return 0;
}
