// Host functions in streams: they run in order, after what is before them and before what is behind them.
#include <stdatomic.h>

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

int main(void) {
    begin();
    CUstream stream;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
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
