// A client that wants more than its worker may have of the server's host: `limits memory MIB` of device memory, which is
// the worker's own with the CPU emulator, or `limits threads COUNT`, each with a lane. Begins when it gets a line.
#include <stdatomic.h>

#include "common.h"

enum { PIECE = 8 << 20 };

static CUcontext context;
static atomic_int failed;
static pthread_barrier_t barrier;

static void *work(void *argument) {
    (void)argument;
    CUdeviceptr memory = 0;
    if (cuCtxSetCurrent(context) != CUDA_SUCCESS || cuMemAlloc(&memory, 256) != CUDA_SUCCESS ||
        cuMemFree(memory) != CUDA_SUCCESS)
        failed++;
    // All live at the same time.
    pthread_barrier_wait(&barrier);
    return NULL;
}

static int threads(unsigned count) {
    pthread_t *all = calloc(count, sizeof *all);
    pthread_barrier_init(&barrier, NULL, count);
    for (unsigned i = 0; i < count; i++)
        REQUIRE(pthread_create(&all[i], NULL, work, NULL) == 0, "no thread %u", i);
    for (unsigned i = 0; i < count; i++)
        pthread_join(all[i], NULL);
    printf("%d of %u threads failed\n", failed, count);
    return 0;
}

static int memory(unsigned mib) {
    for (unsigned got = 0; got < mib; got += PIECE >> 20) {
        CUdeviceptr piece;
        CUresult result = cuMemAlloc(&piece, PIECE);
        if (result == CUDA_SUCCESS)
            result = cuMemsetD8(piece, 7, PIECE);
        if (result == CUDA_SUCCESS)
            result = cuCtxSynchronize();
        if (result != CUDA_SUCCESS) {
            printf("at %u MiB: %s\n", got, name_of(result));
            return 0;
        }
    }
    printf("got all\n");
    return 0;
}

int main(int argc, char **argv) {
    REQUIRE(argc == 3, "limits memory MIB | limits threads COUNT");
    context = begin();
    int value = 5, back = 0;
    CUdeviceptr own = allocate(4096);
    CHECK(cuMemcpyHtoD(own, &value, sizeof value));
    CHECK(cuCtxSynchronize());
    printf("ready\n");
    fflush(stdout);
    char line[16];
    REQUIRE(fgets(line, sizeof line, stdin), "no word to go on");
    unsigned count = (unsigned)atoi(argv[2]);
    if (strcmp(argv[1], "memory") == 0)
        return memory(count);
    if (count > 0)
        threads(count);
    // Whatever became of the others, this thread has a lane.
    CHECK(cuMemcpyDtoH(&back, own, sizeof back));
    printf("main thread: %d\n", back);
    return 0;
}
