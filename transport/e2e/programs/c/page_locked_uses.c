// Page-locked memory in uses that are easily got wrong: what a kernel wrote is there after each call that waits for it, whatever
// else that call does; two threads are the first to use it at the same time; and other memory comes and goes meanwhile.
#include "common.h"
#include "managed.h"

enum { WORDS = 1000, SLOW = 1 << 18, FIRST_USES = 20, LAUNCHES = 300 };

static CUcontext context;
static CUfunction add_each;
static pthread_barrier_t barrier;
static unsigned *words;
static int done;

static void add(CUstream stream, CUdeviceptr address, unsigned count, unsigned value) {
    CHECK(LAUNCH(add_each, (count + 63) / 64, 64, stream, &address, &count, &value));
}

typedef enum {
    TO_DEVICE,
    TO_DEVICE_UNIFIED,
    TO_DEVICE_PITCHED,
    TO_HOST,
    TO_HOST_ASYNC,
    TO_HOST_UNIFIED,
    TO_HOST_PITCHED,
    ELAPSED,
    EVENT_QUERY,
    STREAM_QUERY,
    USES,
} Use;

static void wait_by(Use use, CUdeviceptr device, CUdeviceptr locked, CUevent before) {
    static unsigned own[WORDS];
    CUDA_MEMCPY2D rows = {.width = 100, .height = 4, .source_pitch = 100, .target_pitch = 100};
    CUevent after;
    float time;
    switch (use) {
    case TO_DEVICE:
        CHECK(cuMemcpyHtoD(device, own, sizeof own));
        break;
    case TO_DEVICE_UNIFIED:
        CHECK(cuMemcpy(device, address_of(own), sizeof own));
        break;
    case TO_DEVICE_PITCHED:
        rows.source_kind = 1;
        rows.source_host = own;
        rows.target_kind = 2;
        rows.target_device = device;
        CHECK(cuMemcpy2D(&rows));
        break;
    case TO_HOST:
        CHECK(cuMemcpyDtoH(own, device, sizeof own));
        break;
    case TO_HOST_ASYNC: // which waits, as memory of the program is not page-locked
        CHECK(cuMemcpyDtoHAsync(own, device, sizeof own, 0));
        CHECK(cuStreamSynchronize(0));
        break;
    case TO_HOST_UNIFIED:
        CHECK(cuMemcpy(address_of(own), locked, sizeof own));
        break;
    case TO_HOST_PITCHED:
        rows.source_kind = 2;
        rows.source_device = device;
        rows.target_kind = 1;
        rows.target_host = own;
        CHECK(cuMemcpy2D(&rows));
        break;
    case ELAPSED:
    case EVENT_QUERY:
        CHECK(cuEventCreate(&after, 0));
        CHECK(cuEventRecord(after, 0));
        while ((use == ELAPSED ? cuEventElapsedTime(&time, before, after) : cuEventQuery(after)) == CUDA_ERROR_NOT_READY)
            continue;
        CHECK(cuEventDestroy(after));
        break;
    case STREAM_QUERY:
        while (cuStreamQuery(0) == CUDA_ERROR_NOT_READY)
            continue;
        break;
    case USES:
        break;
    }
}

static void all_that_waits(size_t bytes) {
    unsigned *locked = host_memory(bytes, 0);
    memset(locked, 0, bytes);
    CUdeviceptr slow = allocate(4 * SLOW), device = allocate(4 * WORDS);
    CUevent before = new_event(0);
    CHECK(cuEventRecord(before, 0));
    for (unsigned use = 0; use < USES; use++) {
        add(0, slow, SLOW, 1);
        add(0, address_of(locked), WORDS, 1);
        wait_by((Use)use, device, address_of(locked), before);
        REQUIRE(locked[5] == use + 1, "of %zu bytes after use %u: %u", bytes, use, locked[5]);
        CHECK(cuCtxSynchronize());
    }
    CHECK(cuEventDestroy(before));
    CHECK(cuMemFree(slow));
    CHECK(cuMemFree(device));
    CHECK(cuMemFreeHost(locked));
}

static void use_first(int number, CUstream stream) {
    pthread_barrier_wait(&barrier);
    unsigned *own = words + number * WORDS;
    add(stream, address_of(own), WORDS, 1);
    CHECK(cuStreamSynchronize(stream));
    for (unsigned i = 0; i < WORDS; i++)
        REQUIRE(own[i] == 8, "thread %d word %u is %u", number, i, own[i]);
    pthread_barrier_wait(&barrier);
}

static void *second(void *unused) {
    CHECK(cuCtxSetCurrent(context));
    CUstream stream = new_stream();
    for (int i = 0; i < FIRST_USES; i++)
        use_first(1, stream);
    CHECK(cuStreamDestroy(stream));
    return unused;
}

static void first_use_by_two(void) {
    pthread_t other;
    CUstream stream = new_stream();
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&other, NULL, second, NULL);
    for (int i = 0; i < FIRST_USES; i++) {
        CHECK(cuMemHostAlloc((void **)&words, 1 << 20, 0));
        for (unsigned at = 0; at < 2 * WORDS; at++)
            words[at] = 7;
        use_first(0, stream);
        CHECK(cuMemFreeHost(words));
    }
    pthread_join(other, NULL);
    CHECK(cuStreamDestroy(stream));
}

static void *come_and_go(void *unused) {
    static char own[8192];
    CHECK(cuCtxSetCurrent(context));
    while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
        CHECK(cuMemHostRegister(own, 4096, 0));
        CHECK(cuMemHostUnregister(own));
    }
    return unused;
}

static void beside_others(void) {
    pthread_t other;
    pthread_create(&other, NULL, come_and_go, NULL);
    for (unsigned i = 0; i < LAUNCHES; i++) {
        unsigned *word = host_memory(4096, 0);
        *word = i;
        add(0, address_of(word), 1, 1);
        CHECK(cuCtxSynchronize());
        REQUIRE(*word == i + 1, "launch %u: %u", i, *word);
        CHECK(cuMemFreeHost(word));
    }
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    pthread_join(other, NULL);
}

int main(void) {
    context = begin();
    CUmodule module = managed_module();
    add_each = function_of(module, "add_each");
    all_that_waits(4 * WORDS);
    all_that_waits(1 << 20);
    first_use_by_two();
    beside_others();
    printf("%d uses, %d first uses, %d launches\n", USES, FIRST_USES, LAUNCHES);
    CHECK(cuCtxDestroy(context));
    return 0;
}
