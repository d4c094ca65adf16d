// Threads that work in one context, each in a stream of its own, and hand results to each other by events.
#include "common.h"

enum { THREADS = 6, ROUNDS = 40, N = 512 };

static CUcontext context;
static CUfunction saxpy;
static CUdeviceptr buffers[THREADS], ones;
static CUevent done[THREADS];
static pthread_barrier_t barrier;

static void *work(void *argument) {
    size_t me = (size_t)argument, next = (me + 1) % THREADS;
    CHECK(cuCtxSetCurrent(context));
    CUstream stream = new_stream();
    unsigned n = N;
    for (int round = 0; round < ROUNDS; round++) {
        float alpha = (float)(me + 1);
        CHECK(LAUNCH(saxpy, 2, 64, stream, &alpha, &ones, &buffers[me], &n));
        CHECK(cuEventRecord(done[me], stream));
        pthread_barrier_wait(&barrier);
        // Reads the neighbour's buffer after its launch of this round, by the device's order alone.
        float seen[N];
        CHECK(cuStreamWaitEvent(stream, done[next], 0));
        CHECK(cuMemcpyDtoHAsync(seen, buffers[next], sizeof seen, stream));
        CHECK(cuStreamSynchronize(stream));
        float want = (float)(next + 1) * (float)(round + 1);
        for (int i = 0; i < N; i++)
            REQUIRE(seen[i] == want, "thread %zu, round %d: %g, not %g", me, round, seen[i], want);
        pthread_barrier_wait(&barrier);
    }
    CHECK(cuStreamDestroy(stream));
    return NULL;
}

int main(void) {
    context = begin();
    CUmodule module = module_of("vector_add");
    saxpy = function_of(module, "saxpy");
    ones = upload_ones(N);
    pthread_barrier_init(&barrier, NULL, THREADS);
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        buffers[i] = allocate(N * sizeof(float));
        CHECK(cuMemsetD32(buffers[i], 0, N));
        CHECK(cuEventCreate(&done[i], CU_EVENT_DISABLE_TIMING));
    }
    // The memsets are in the default stream, which the threads' streams do not wait for.
    CHECK(cuCtxSynchronize());
    for (size_t i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, work, (void *)i) == 0, "no thread");
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(cuCtxSynchronize());
    printf("%d threads, %d rounds\n", THREADS, ROUNDS);
    return 0;
}
