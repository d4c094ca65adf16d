// Streams and events: order within a stream, waits between streams, times, queries.
#include "common.h"

enum { N = 1 << 14, STEPS = 20 };

static float x[N], y[N];

static void order_between_streams(CUfunction saxpy) {
    CUstream streams[3];
    CUevent events[3];
    for (int i = 0; i < 3; i++) {
        CHECK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
        CHECK(cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING));
    }
    for (int i = 0; i < N; i++)
        x[i] = 1;
    CUdeviceptr device_x = upload(x, sizeof x), device_y = allocate(sizeof y);
    CHECK(cuMemsetD32Async(device_y, 0, N, streams[0]));
    CHECK(cuEventRecord(events[0], streams[0]));
    unsigned n = N;
    // Each step doubles what the step before left and adds one, in the next stream.
    for (int step = 0; step < STEPS; step++) {
        int here = step % 3, next = (step + 1) % 3;
        float alpha = (float)(1 << (step % 4));
        CHECK(cuStreamWaitEvent(streams[next], events[here], 0));
        CHECK(LAUNCH(saxpy, 8, 128, streams[next], &alpha, &device_x, &device_y, &n));
        CHECK(cuEventRecord(events[next], streams[next]));
    }
    CHECK(cuEventSynchronize(events[STEPS % 3]));
    CHECK(cuMemcpyDtoH(y, device_y, sizeof y));
    float want = 0;
    for (int step = 0; step < STEPS; step++)
        want += (float)(1 << (step % 4));
    for (int i = 0; i < N; i++)
        REQUIRE(y[i] == want, "element %d is %g, not %g", i, y[i], want);
    printf("%d steps over 3 streams: %g\n", STEPS, want);
    for (int i = 0; i < 3; i++) {
        CHECK(cuStreamDestroy(streams[i]));
        CHECK(cuEventDestroy(events[i]));
    }
}

static void times_and_queries(CUfunction delay) {
    CUstream stream = new_stream();
    CUevent start = new_event(0), end = new_event(0), never = new_event(0), other = new_event(CU_EVENT_DISABLE_TIMING);
    uint64_t nanoseconds = 200 * 1000 * 1000;
    float milliseconds = 0;
    SHOW(cuEventQuery(never));
    SHOW(cuEventSynchronize(never));
    SHOW(cuEventElapsedTime(&milliseconds, never, never));
    CHECK(cuStreamSynchronize(stream));
    SHOW(cuStreamQuery(stream));
    CHECK(cuEventRecord(start, stream));
    CHECK(LAUNCH(delay, 1, 1, stream, &nanoseconds));
    Hold busy = hold(stream);
    CHECK(cuEventRecord(end, stream));
    EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    EXPECT(CUDA_ERROR_NOT_READY, cuEventQuery(end));
    EXPECT(CUDA_ERROR_NOT_READY, cuEventElapsedTime(&milliseconds, start, end));
    let_go(busy);
    CHECK(cuEventSynchronize(end));
    CHECK(cuEventQuery(start));
    CHECK(cuEventQuery(end));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuStreamQuery(stream));
    CHECK(cuEventElapsedTime(&milliseconds, start, end));
    REQUIRE(milliseconds >= 199.0f && milliseconds < 60000.0f, "200 ms took %g ms", milliseconds);
    CHECK(cuEventRecord(other, stream));
    CHECK(cuEventSynchronize(other));
    SHOW(cuEventElapsedTime(&milliseconds, start, other));
    printf("a delay of 200 ms was seen to be under way, and then to be over\n");
    CHECK(cuEventDestroy(start));
    SHOW_STALE(cuEventQuery(start));
    CHECK(cuStreamDestroy(stream));
}

static void attributes_of_streams(CUcontext context) {
    int least, greatest, priority, capturing;
    unsigned flags;
    CHECK(cuCtxGetStreamPriorityRange(&least, &greatest));
    REQUIRE(greatest <= least, "priorities %d to %d", greatest, least);
    CUstream stream;
    CHECK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, greatest));
    CHECK(cuStreamGetPriority(stream, &priority));
    CHECK(cuStreamGetFlags(stream, &flags));
    CUcontext owner;
    CHECK(cuStreamGetCtx(stream, &owner));
    REQUIRE(owner == context, "the stream is another context's");
    CHECK(cuStreamIsCapturing(stream, &capturing));
    printf("priorities %d to %d, given %d, flags %u, capturing %d\n", least, greatest, priority, flags, capturing);
    CHECK(cuStreamDestroy(stream));
    SHOW_SOON(cuStreamCreate(&stream, 0x40));
}

// The legacy default stream waits for blocking streams and they for it.
static void default_stream(CUfunction delay) {
    CUstream blocking;
    CHECK(cuStreamCreate(&blocking, 0));
    CUdeviceptr flag = allocate(4);
    uint64_t nanoseconds = 50 * 1000 * 1000;
    unsigned back = 0;
    CHECK(cuMemsetD32(flag, 1, 1));
    CHECK(LAUNCH(delay, 1, 1, blocking, &nanoseconds));
    CHECK(cuMemsetD32Async(flag, 2, 1, blocking));
    CHECK(cuMemcpyDtoH(&back, flag, 4));
    REQUIRE(back == 2, "the default stream did not wait: %u", back);
    CHECK(LAUNCH(delay, 1, 1, NULL, &nanoseconds));
    CHECK(cuMemsetD32Async(flag, 3, 1, NULL));
    CHECK(cuMemcpyDtoHAsync(&back, flag, 4, blocking));
    CHECK(cuStreamSynchronize(blocking));
    REQUIRE(back == 3, "the blocking stream did not wait: %u", back);
    printf("the default stream and blocking streams wait for each other\n");
}

int main(void) {
    CUcontext context = begin();
    CUmodule adding = module_of("vector_add"), delaying = module_of("delay");
    order_between_streams(function_of(adding, "saxpy"));
    times_and_queries(function_of(delaying, "delay"));
    attributes_of_streams(context);
    default_stream(function_of(delaying, "delay"));
    CHECK(cuCtxSynchronize());
    return 0;
}
