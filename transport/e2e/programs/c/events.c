// Events that are asked about again and again: known answers have to be right ones.
#include "common.h"

enum { EVENTS = 100, ROUNDS = 10 };

static CUcontext context;
static CUevent events[EVENTS], others[EVENTS];

static void all_complete(const char *when, CUevent *of) {
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < EVENTS; i++)
            EXPECT(CUDA_SUCCESS, cuEventQuery(of[i]));
    printf("%s: %d events are complete\n", when, EVENTS);
}

static void record_all(CUevent *all, CUstream stream, CUdeviceptr memory) {
    for (int i = 0; i < EVENTS; i++) {
        CHECK(cuMemsetD32Async(memory, (unsigned)i, 1, stream));
        CHECK(cuEventRecord(all[i], stream));
    }
}

// An event that was complete is not any more once it is recorded again.
static void recorded_again(CUstream stream) {
    Hold busy = hold(stream);
    CHECK(cuEventRecord(events[0], stream));
    for (int poll = 0; poll < EVENTS; poll++)
        EXPECT(CUDA_ERROR_NOT_READY, cuEventQuery(events[0]));
    EXPECT(CUDA_SUCCESS, cuEventQuery(events[1]));
    let_go(busy);
    CUresult code;
    while ((code = cuEventQuery(events[0])) == CUDA_ERROR_NOT_READY)
        ;
    REQUIRE(code == CUDA_SUCCESS, "code %d", code);
    CHECK(cuStreamQuery(stream));
    printf("an event that was recorded again was awaited by polling\n");
}

// What is behind long work in one stream says nothing of another stream.
static void one_stream_is_late(CUstream late, CUstream early, CUdeviceptr memory) {
    CUevent behind = new_event(CU_EVENT_DISABLE_TIMING);
    Hold busy = hold(late);
    CHECK(cuEventRecord(behind, late));
    record_all(events, early, memory);
    CHECK(cuStreamSynchronize(early));
    EXPECT(CUDA_ERROR_NOT_READY, cuEventQuery(behind));
    all_complete("beside a stream that is late", events);
    let_go(busy);
    CHECK(cuEventSynchronize(behind));
    CHECK(cuEventQuery(behind));
    CHECK(cuEventDestroy(behind));
}

static void *in_a_thread(void *unused) {
    (void)unused;
    CHECK(cuCtxSetCurrent(context));
    all_complete("in another thread", events);
    for (int i = 0; i < EVENTS; i++)
        CHECK(cuEventDestroy(events[i]));
    return NULL;
}

// After how many rounds of questions the answer is known: for counting what they cost.
static void questions(CUstream stream, CUdeviceptr memory, int rounds) {
    record_all(events, stream, memory);
    CHECK(cuStreamSynchronize(stream));
    for (int round = 0; round < rounds; round++)
        for (int i = EVENTS; i-- > 0;)
            CHECK(cuEventQuery(events[i]));
}

int main(int argc, char **argv) {
    context = begin();
    CUdeviceptr memory = allocate(4);
    CUstream streams[2];
    for (int i = 0; i < 2; i++)
        CHECK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < EVENTS; i++) {
        CHECK(cuEventCreate(&events[i], 0));
        CHECK(cuEventCreate(&others[i], 0));
    }
    if (argc > 1) {
        questions(streams[0], memory, atoi(argv[1]));
        return 0;
    }
    all_complete("before the first record", events);
    record_all(events, streams[0], memory);
    CHECK(cuStreamSynchronize(streams[0]));
    all_complete("after a wait for their stream", events);
    recorded_again(streams[0]);
    one_stream_is_late(streams[0], streams[1], memory);
    record_all(events, streams[0], memory);
    CHECK(cuCtxSynchronize());
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, in_a_thread, NULL) == 0, "no thread");
    // While the other thread asks and destroys.
    for (int round = 0; round < ROUNDS; round++) {
        record_all(others, streams[1], memory);
        CHECK(cuEventSynchronize(others[EVENTS - 1]));
        for (int i = 0; i < EVENTS; i++)
            EXPECT(CUDA_SUCCESS, cuEventQuery(others[i]));
    }
    REQUIRE(pthread_join(thread, NULL) == 0, "no end of the thread");
    all_complete("at the end", others);
    return 0;
}
