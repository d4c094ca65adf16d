// Host functions in streams: they run in order, after what is before them and before what is behind them.
#include <stdatomic.h>
#include <unistd.h>

#include "common.h"

enum { ROUNDS = 10 };

static atomic_int calls, order_ok = 1;
static unsigned char *pinned;

static void host(void *data) {
    int expected = (int)(intptr_t)data;
    if (atomic_fetch_add(&calls, 1) != expected)
        order_ok = 0;
    // What the copy before this brought.
    if (pinned[0] != (unsigned char)(expected + 1))
        order_ok = 0;
    pinned[0] = 0xee;
}

static CUstream told_stream;
static CUresult told_result = -1;
static void *told_data;

static void callback(CUstream stream, CUresult result, void *data) {
    told_stream = stream;
    told_result = result;
    told_data = data;
    atomic_fetch_add(&calls, 1);
}

enum { LARGE = 200 * 1024, WIDTH = 1024, MANY = 3000 };

// Ends well after the calls behind it were made.
static void slow(void *fill) {
    usleep(30000);
    memset(pinned, (int)(intptr_t)fill, LARGE);
}

// Copies behind a function that runs: the driver is to wait for it, and it has to come to its end all the same.
static void behind(void) {
    static unsigned char pageable[LARGE], back[LARGE];
    CUstream stream = new_stream();
    CHECK(cuMemAllocHost((void **)&pinned, LARGE));
    CUdeviceptr memory = allocate(LARGE);
    memset(pageable, 0x11, LARGE);

    CHECK(cuLaunchHostFunc(NULL, slow, (void *)0x21));
    CHECK(cuMemcpyHtoD(memory, pageable, LARGE));
    REQUIRE(pinned[0] == 0x21, "a copy in the default stream came before the function");
    CHECK(cuLaunchHostFunc(NULL, slow, (void *)0x22));
    CHECK(cuMemcpyHtoD(memory, pinned, LARGE));
    CHECK(cuMemcpyDtoH(back, memory, LARGE));
    REQUIRE(back[0] == 0x22 && back[LARGE - 1] == 0x22, "the copy took %02x", back[0]);

    CHECK(cuLaunchHostFunc(stream, slow, (void *)0x23));
    CHECK(cuMemcpyHtoDAsync(memory, pageable, LARGE, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoH(back, memory, LARGE));
    REQUIRE(pinned[0] == 0x23 && back[LARGE - 1] == 0x11, "%02x, %02x", pinned[0], back[LARGE - 1]);

    CUDA_MEMCPY2D in = {.source_kind = 1, .source_host = pinned, .source_pitch = WIDTH, .target_kind = 2,
                        .target_device = memory, .target_pitch = WIDTH, .width = WIDTH, .height = LARGE / WIDTH};
    CHECK(cuLaunchHostFunc(stream, slow, (void *)0x24));
    CHECK(cuMemcpy2DAsync(&in, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoH(back, memory, LARGE));
    REQUIRE(back[0] == 0x24 && back[LARGE - 1] == 0x24, "the rectangle took %02x", back[0]);

    CHECK(cuLaunchHostFunc(stream, slow, (void *)0x25));
    for (int i = 0; i < MANY; i++)
        CHECK(cuMemsetD8Async(memory, (unsigned char)i, 64, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoH(back, memory, 1));
    REQUIRE(pinned[0] == 0x25 && back[0] == (unsigned char)(MANY - 1), "%02x, %02x", pinned[0], back[0]);

    CHECK(cuLaunchHostFunc(stream, slow, (void *)0x26));
    CHECK(cuMemcpyDtoHAsync(pinned, memory, 1, stream));
    CHECK(cuStreamSynchronize(stream));
    REQUIRE(pinned[0] == (unsigned char)(MANY - 1) && pinned[1] == 0x26, "%02x, %02x", pinned[0], pinned[1]);
    CHECK(cuMemFreeHost(pinned));
    CHECK(cuMemFree(memory));
    CHECK(cuStreamDestroy(stream));
    printf("copies behind functions took what these left\n");
}

// The end of a context waits for a copy that is behind a function.
static void context_ends(void) {
    CUcontext context;
    CUdevice device;
    CHECK(cuMemHostAlloc((void **)&pinned, LARGE, CU_MEMHOSTALLOC_PORTABLE));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate(&context, 0, device));
    CUstream stream = new_stream();
    CUdeviceptr memory = allocate(64);
    CHECK(cuMemsetD8(memory, 0x31, 64));
    CHECK(cuCtxSynchronize());
    CHECK(cuLaunchHostFunc(stream, slow, (void *)0x32));
    CHECK(cuMemcpyDtoHAsync(pinned, memory, 1, stream));
    CHECK(cuCtxDestroy(context));
    REQUIRE(pinned[1] == 0x32, "the context ended before its function: %02x", pinned[1]);
    CHECK(cuMemFreeHost(pinned));
    printf("the context's end waited\n");
}

int main(void) {
    begin();
    behind();
    context_ends();
    CUstream stream = new_stream();
    CHECK(cuMemAllocHost((void **)&pinned, 4096));
    CUdeviceptr memory = allocate(4096);
    for (intptr_t i = 0; i < ROUNDS; i++) {
        CHECK(cuMemsetD8Async(memory, (unsigned char)(i + 1), 4096, stream));
        CHECK(cuMemcpyDtoHAsync(pinned, memory, 4096, stream));
        CHECK(cuLaunchHostFunc(stream, host, (void *)i));
        CHECK(cuMemcpyHtoDAsync(memory, pinned, 1, stream));
        // The host function has changed the byte before the copy back takes it.
        CHECK(cuMemcpyDtoHAsync(pinned + 100, memory, 1, stream));
        CHECK(cuStreamSynchronize(stream));
        REQUIRE(pinned[100] == 0xee, "round %d: the copy behind the host function took %02x", (int)i, pinned[100]);
    }
    REQUIRE(calls == ROUNDS && order_ok, "%d host functions ran, in order: %d", calls, order_ok);
    printf("%d host functions ran in order\n", calls);
    CHECK(cuStreamAddCallback(stream, callback, &calls, 0));
    CHECK(cuStreamSynchronize(stream));
    REQUIRE(calls == ROUNDS + 1 && told_stream == stream && told_data == &calls, "the callback was told otherwise");
    printf("callback told %d\n", told_result);
    SHOW(cuLaunchHostFunc(stream, NULL, NULL));
    CHECK(cuStreamDestroy(stream));
    return 0;
}
