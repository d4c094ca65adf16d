// Many threads that make their first call at the same time: burst THREADS.
#include <stdatomic.h>

#include "common.h"

static CUcontext context;
static pthread_barrier_t barrier;
static atomic_int failed;

static void *work(void *argument) {
    (void)argument;
    pthread_barrier_wait(&barrier);
    CUdeviceptr memory = 0;
    if (cuCtxSetCurrent(context) != CUDA_SUCCESS || cuMemAlloc(&memory, 256) != CUDA_SUCCESS ||
        cuMemFree(memory) != CUDA_SUCCESS)
        failed++;
    // All threads live at the same time.
    pthread_barrier_wait(&barrier);
    return NULL;
}

int main(int argc, char **argv) {
    REQUIRE(argc > 1, "burst THREADS");
    int count = atoi(argv[1]);
    context = begin();
    CUdeviceptr memory = allocate(4096);
    CHECK(cuCtxSynchronize());
    pthread_barrier_init(&barrier, NULL, (unsigned)count);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    for (int i = 0; i < count; i++)
        REQUIRE(pthread_create(&threads[i], &attributes, work, NULL) == 0, "no thread %d", i);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    // Whatever became of the others, this thread has a lane.
    int value = 5, back = 0;
    CHECK(cuMemcpyHtoD(memory, &value, sizeof value));
    CHECK(cuMemcpyDtoH(&back, memory, sizeof back));
    printf("%s failed, main thread: %d\n", failed ? "some" : "none", back);
    return 0;
}
