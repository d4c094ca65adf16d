// Contexts: the stack of each thread, several contexts, the primary context and its count.
#include "common.h"

static CUcontext shared_context;
static CUdeviceptr shared_memory;

static void *thread(void *argument) {
    CUcontext current = (CUcontext)argument;
    CHECK(cuCtxGetCurrent(&current));
    REQUIRE(current == NULL, "a new thread has a context");
    CUdeviceptr memory;
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&memory, 16));
    CHECK(cuCtxSetCurrent(shared_context));
    unsigned value;
    CHECK(cuMemcpyDtoH(&value, shared_memory, sizeof value));
    CHECK(cuMemsetD32(shared_memory, value + 1, 1));
    CHECK(cuCtxSynchronize());
    return (void *)(uintptr_t)value;
}

// A context that is destroyed stays current where it is not popped. What needs one fails, and nothing else.
static void below_destroyed(CUdevice device, CUcontext other) {
    CUcontext gone, current;
    CUdeviceptr memory;
    int number = -1;
    CHECK(cuCtxCreate(&gone, 0, device));
    CHECK(cuCtxPushCurrent(gone));
    CHECK(cuCtxDestroy(gone));
    CHECK(cuCtxGetCurrent(&current));
    REQUIRE(current == gone, "another is current");
    SHOW(cuMemAlloc(&memory, 16));
    SHOW(cuCtxSynchronize());
    SHOW(cuCtxGetDevice(&number));
    SHOW(cuCtxSetCurrent(gone));
    SHOW(cuDevicePrimaryCtxSetFlags(device, 1u << 10));
    CHECK(cuDevicePrimaryCtxSetFlags(device, 0));
    CHECK(cuDevicePrimaryCtxReset(device));
    CHECK(cuCtxDestroy(other));
    CHECK(cuCtxPopCurrent(&current));
    REQUIRE(current == gone, "another was current");
    CHECK(cuCtxSynchronize());
}

int main(void) {
    CUcontext a, b, current, primary, again;
    CUdevice device;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    SHOW(cuCtxGetDevice(&device));
    SHOW(cuCtxSynchronize());
    CHECK(cuCtxGetCurrent(&current));
    REQUIRE(current == NULL, "a context before any was made");
    CHECK(cuCtxCreate(&a, 0, device));
    CHECK(cuCtxCreate(&b, 0, device));
    REQUIRE(a != b, "two contexts are one");
    CHECK(cuCtxGetCurrent(&current));
    REQUIRE(current == b, "the newest is not current");
    CHECK(cuCtxPopCurrent(&current));
    REQUIRE(current == b, "another was popped");
    CHECK(cuCtxGetCurrent(&current));
    REQUIRE(current == a, "what was below is not current");
    CHECK(cuCtxPushCurrent(b));
    CHECK(cuCtxPopCurrent(NULL));
    CHECK(cuCtxPopCurrent(&current));
    SHOW(cuCtxPopCurrent(&current));
    unsigned version = 0;
    CHECK(cuCtxGetApiVersion(a, &version));
    printf("version of the interface %u\n", version);

    // Streams and functions belong to a context.
    CHECK(cuCtxSetCurrent(a));
    CUmodule module = module_of("memory");
    CUfunction globals = function_of(module, "globals");
    CUdeviceptr output = allocate(64);
    CHECK(cuCtxSetCurrent(b));
    SHOW_SOON(LAUNCH(globals, 1, 4, NULL, &output));
    CHECK(cuCtxSetCurrent(a));
    CHECK(LAUNCH(globals, 1, 4, NULL, &output));
    CHECK(cuCtxSynchronize());

    shared_context = a;
    shared_memory = output;
    CHECK(cuMemsetD32(output, 10, 1));
    for (unsigned i = 0; i < 3; i++) {
        pthread_t id;
        void *result;
        REQUIRE(pthread_create(&id, NULL, thread, NULL) == 0, "no thread");
        pthread_join(id, &result);
        REQUIRE((uintptr_t)result == 10 + i, "thread %u saw %d", i, (int)(uintptr_t)result);
    }
    printf("3 threads took turns\n");

    unsigned flags;
    int active;
    CHECK(cuDevicePrimaryCtxGetState(device, &flags, &active));
    printf("primary context: flags %u, active %d\n", flags, active);
    CHECK(cuDevicePrimaryCtxRetain(&primary, device));
    CHECK(cuDevicePrimaryCtxRetain(&again, device));
    REQUIRE(primary == again && primary != a, "the primary context is not one");
    CHECK(cuDevicePrimaryCtxGetState(device, &flags, &active));
    printf("after retain: active %d\n", active);
    CHECK(cuDevicePrimaryCtxRelease(device));
    CHECK(cuDevicePrimaryCtxGetState(device, &flags, &active));
    printf("after one release: active %d\n", active);
    CHECK(cuDevicePrimaryCtxRelease(device));
    CHECK(cuDevicePrimaryCtxGetState(device, &flags, &active));
    printf("after two: active %d\n", active);
    SHOW(cuDevicePrimaryCtxRelease(device));

    // As CUDA 13's header has cuCtxCreate.
    int driver;
    CHECK(cuDriverGetVersion(&driver));
    if (driver >= 12050) {
        CUcontext with_params;
        CUctxCreateParams none = {0};
        CHECK(cuCtxCreate_v4(&with_params, &none, 0, device));
        CHECK(cuCtxDestroy(with_params));
        CHECK(cuCtxCreate_v4(&with_params, NULL, 0, device));
        CHECK(cuCtxDestroy(with_params));
        CHECK(cuCtxSetCurrent(a));
    }

    if (!is_real())
        below_destroyed(device, b);
    else
        CHECK(cuCtxDestroy(b));
    SHOW_STALE(cuCtxSetCurrent(b));
    CHECK(cuCtxDestroy(a));
    SHOW(cuCtxSynchronize());
    return 0;
}
