// One thread copies to the device and idles; its connection breaks. Another one reads what was copied: it must get an
// error, not what was there before.
#include "common.h"

static CUcontext context;
static CUdeviceptr memory;
static pthread_barrier_t copied;

static void word(const char *what) {
    printf("%s\n", what);
    fflush(stdout);
    char line[16];
    REQUIRE(fgets(line, sizeof line, stdin), "no word to go on");
}

static void *work(void *argument) {
    (void)argument;
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuCtxSynchronize());
    word("lane");
    int value = 2;
    CHECK(cuMemcpyHtoD(memory, &value, sizeof value));
    pthread_barrier_wait(&copied);
    // Lives on, and never calls again.
    pthread_barrier_wait(&copied);
    return NULL;
}

int main(void) {
    context = begin();
    memory = allocate(4096);
    CHECK(cuMemsetD8(memory, 0, 4096));
    CHECK(cuCtxSynchronize());
    pthread_barrier_init(&copied, NULL, 2);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, work, NULL) == 0, "no thread");
    pthread_barrier_wait(&copied);
    word("copied");
    int value = 0;
    CUresult result = cuMemcpyDtoH(&value, memory, sizeof value);
    REQUIRE(result != CUDA_SUCCESS || value == 2, "%d was read, and no error", value);
    printf("result %d\n", (int)result);
    pthread_barrier_wait(&copied);
    pthread_join(thread, NULL);
    return 0;
}
