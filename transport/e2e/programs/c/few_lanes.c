// A host function in a program that has as many threads at the GPU as its server allows: the thread that would run it gets no
// connection, so the call is refused, and no stream waits for it. Where one of the threads ends there is room.
#include <stdatomic.h>

#include "common.h"

static CUcontext context;
static pthread_barrier_t barrier;
static atomic_int sum;

static void *work(void *argument) {
    (void)argument;
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemFree(allocate(256)));
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void host(void *data) {
    atomic_fetch_add(&sum, (int)(intptr_t)data);
}

int main(void) {
    context = begin();
    CHECK(cuMemFree(allocate(256)));
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, work, NULL) == 0, "no thread");
    pthread_barrier_wait(&barrier);
    SHOW(cuLaunchHostFunc(NULL, host, (void *)1));
    SHOW(cuCtxSynchronize());
    pthread_barrier_wait(&barrier);
    REQUIRE(pthread_join(thread, NULL) == 0, "no end of the thread");
    SHOW(cuLaunchHostFunc(NULL, host, (void *)2));
    SHOW(cuCtxSynchronize());
    printf("sum %d\n", sum);
    return 0;
}
