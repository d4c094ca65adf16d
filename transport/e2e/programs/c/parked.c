// A thread that launches, waits for nothing, and is still there when the program ends.
#include <unistd.h>

#include "common.h"

enum { ROUNDS = 40, N = 512 };

static CUcontext context;
static CUfunction saxpy;
static CUdeviceptr values, ones;
static pthread_barrier_t launched;

static void *work(void *argument) {
    (void)argument;
    CHECK(cuCtxSetCurrent(context));
    CUstream stream = new_stream();
    unsigned n = N;
    float alpha = 1;
    for (int round = 0; round < ROUNDS; round++)
        CHECK(LAUNCH(saxpy, 2, 64, stream, &alpha, &ones, &values, &n));
    pthread_barrier_wait(&launched);
    for (;;)
        pause();
    return NULL;
}

int main(void) {
    context = begin();
    CUmodule module = module_of("vector_add");
    saxpy = function_of(module, "saxpy");
    ones = upload_ones(N);
    values = upload_ones(N);
    pthread_barrier_init(&launched, NULL, 2);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, work, NULL) == 0, "no thread");
    pthread_barrier_wait(&launched);
    CHECK(cuCtxSynchronize());
    printf("%d launches\n", ROUNDS);
    return 0;
}
