// Counts its launches on the device and checks the count, with copies between, from two threads: a launch that is lost
// or executed twice, and a byte that is wrong, show at once. The first thread copies from page-locked memory, a new one
// for each copy, which it gives back while the copy is under way or later. Goes on until the file exists that GTRACE_TEST_UNTIL
// names, or for 20 rounds, and says in the file of GTRACE_TEST_PROGRESS how many rounds both have done.
#include <fcntl.h>
#include <unistd.h>

#include "common.h"

enum { THREADS = 2, ROUNDS = 20, N = 512, BLOCK = 200000 };

static CUcontext context;
static CUfunction saxpy;
static CUdeviceptr ones;

static pthread_mutex_t progress = PTHREAD_MUTEX_INITIALIZER;
static int rounds[THREADS];

static void say(int round) {
    const char *path = getenv("GTRACE_TEST_PROGRESS");
    int file = path ? open(path, O_WRONLY | O_CREAT, 0666) : -1;
    if (file < 0)
        return;
    char text[16];
    int len = snprintf(text, sizeof text, "%9d\n", round);
    REQUIRE(pwrite(file, text, len, 0) == len, "the progress cannot be written");
    close(file);
}

// A thread has done so many.
static void has_done(size_t me, int round) {
    pthread_mutex_lock(&progress);
    rounds[me] = round;
    int both = rounds[0];
    for (size_t i = 1; i < THREADS; i++)
        both = rounds[i] < both ? rounds[i] : both;
    say(both);
    pthread_mutex_unlock(&progress);
}

static int goes_on(int round) {
    const char *path = getenv("GTRACE_TEST_UNTIL");
    return path ? access(path, F_OK) != 0 : round < ROUNDS;
}

static void *work(void *argument) {
    size_t me = (size_t)argument;
    CHECK(cuCtxSetCurrent(context));
    CUstream stream = new_stream();
    CUdeviceptr count = allocate(N * sizeof(float)), block = allocate(BLOCK);
    CHECK(cuMemsetD32Async(count, 0, N, stream));
    unsigned char *sent = malloc(BLOCK), *got = malloc(BLOCK);
    REQUIRE(sent && got, "no memory");
    int locked = me == 0;
    uint64_t state = me + 1;
    unsigned n = N;
    float one = 1, launches = 0;
    for (int round = 0; goes_on(round); round++) {
        for (int i = 0; i < BLOCK; i += 8) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            memcpy(sent + i, &state, 8);
        }
        for (int i = 0; i < 1 + round % 7; i++, launches++)
            CHECK(LAUNCH(saxpy, 2, 64, stream, &one, &ones, &count, &n));
        void *from = sent;
        if (locked) {
            CHECK(cuMemAllocHost(&from, BLOCK));
            memcpy(from, sent, BLOCK);
        }
        CHECK(cuMemcpyHtoDAsync(block, from, BLOCK, stream));
        if (locked && round % 2)
            CHECK(cuMemFreeHost(from));
        CHECK(LAUNCH(saxpy, 2, 64, stream, &one, &ones, &count, &n));
        launches++;
        float seen[N];
        CHECK(cuMemcpyDtoHAsync(seen, count, sizeof seen, stream));
        CHECK(cuStreamSynchronize(stream));
        if (locked && round % 2 == 0)
            CHECK(cuMemFreeHost(from));
        for (int i = 0; i < N; i++)
            REQUIRE(seen[i] == launches, "thread %zu, round %d: %g launches, not %g", me, round, seen[i], launches);
        memset(got, 0, BLOCK);
        CHECK(cuMemcpyDtoHAsync(got, block, BLOCK, stream));
        CHECK(cuStreamSynchronize(stream));
        REQUIRE(memcmp(sent, got, BLOCK) == 0, "thread %zu, round %d: other bytes came back", me, round);
        has_done(me, round + 1);
    }
    CHECK(cuMemFree(count));
    CHECK(cuMemFree(block));
    CHECK(cuStreamDestroy(stream));
    free(sent);
    free(got);
    return NULL;
}

int main(void) {
    context = begin();
    CUmodule module = module_of("vector_add");
    saxpy = function_of(module, "saxpy");
    ones = upload_ones(N);
    CHECK(cuCtxSynchronize());
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, work, (void *)i) == 0, "no thread");
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(cuMemFree(ones));
    CHECK(cuModuleUnload(module));
    CHECK(cuCtxDestroy(context));
    printf("every launch was executed once\n");
    return 0;
}
