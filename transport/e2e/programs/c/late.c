// Copies to page-locked memory that is not awaited: their bytes are there after whatever CUDA says comes after them,
// in whichever thread, and nothing comes later.
#include <stdatomic.h>
#include <unistd.h>

#include "common.h"

enum { SIZE = 200000, MANY = 600, SMALL = 64 << 10, ROUNDS = 120, WAITERS = 3 };

static CUcontext context;
static CUfunction delay;
static CUdeviceptr device;
static unsigned char *pinned, *other;

static void wait_in_stream(CUstream stream, uint64_t microseconds) {
    uint64_t nanoseconds = microseconds * 1000;
    CHECK(LAUNCH(delay, 1, 1, stream, &nanoseconds));
}

static void all_are(const unsigned char *bytes, size_t size, unsigned char wanted, const char *what) {
    for (size_t i = 0; i < size; i++)
        REQUIRE(bytes[i] == wanted, "%s: byte %zu is %02x, not %02x", what, i, bytes[i], wanted);
}

static atomic_int reached, seen_right;

static void host(void *data) {
    seen_right = pinned[SIZE - 1] == (unsigned char)(intptr_t)data;
    reached = 1;
}

// Each way to wait, behind a kernel that takes its time.
static void ways(CUstream stream, int is_default) {
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING), early = new_event(CU_EVENT_DISABLE_TIMING);
    static unsigned char pageable[64];
    for (int way = 0; way < 11; way++) {
        unsigned char value = (unsigned char)(17 * way + 3 + is_default);
        memset(pinned, 0xaa, SIZE);
        CHECK(cuEventRecord(early, stream));
        wait_in_stream(stream, 2000);
        CHECK(cuMemsetD8Async(device, value, SIZE, stream));
        CHECK(cuMemcpyDtoHAsync(pinned, device, SIZE, stream));
        CHECK(cuEventRecord(event, stream));
        switch (way) {
        case 0:
            CHECK(cuStreamSynchronize(stream));
            break;
        case 1:
            CHECK(cuEventSynchronize(event));
            break;
        case 2:
            while (cuEventQuery(event) != CUDA_SUCCESS)
                ;
            break;
        case 3:
            while (cuStreamQuery(stream) != CUDA_SUCCESS)
                ;
            break;
        case 4:
            CHECK(cuCtxSynchronize());
            break;
        case 5:
            // An event before it says nothing of it; one behind it does, also where nobody has to be asked.
            CHECK(cuEventSynchronize(early));
            usleep(5000);
            CHECK(cuEventQuery(early));
            CHECK(cuEventSynchronize(event));
            break;
        case 6:
            CHECK(cuMemcpyDtoHAsync(pageable, device, sizeof pageable, stream));
            break;
        case 7:
            reached = seen_right = 0;
            CHECK(cuLaunchHostFunc(stream, host, (void *)(intptr_t)value));
            while (!reached)
                ;
            REQUIRE(seen_right, "the host function did not see what was copied before it");
            break;
        case 8:
            // Read again in the order of the stream, and fetched from there.
            CHECK(cuMemcpyHtoDAsync(device + SIZE, pinned, SIZE, stream));
            CHECK(cuMemcpyDtoHAsync(other, device + SIZE, SIZE, stream));
            CHECK(cuStreamSynchronize(stream));
            all_are(other, SIZE, value, "what was read again");
            break;
        case 9:
            // Written twice: the later one stays.
            CHECK(cuMemsetD8Async(device, value ^ 0xff, SIZE, stream));
            CHECK(cuMemcpyDtoHAsync(pinned + 1000, device, 500, stream));
            CHECK(cuStreamSynchronize(stream));
            all_are(pinned + 1000, 500, value ^ 0xff, "what was written later");
            memset(pinned + 1000, value, 500);
            break;
        default:
            // Calls that wait for the default stream.
            if (!is_default)
                CHECK(cuStreamSynchronize(stream));
            else
                CHECK(cuMemcpyHtoD(device + SIZE, pageable, sizeof pageable));
        }
        all_are(pinned, SIZE, value, "after a wait");
        // Nothing comes any more.
        memset(pinned, 0xcc, SIZE);
        usleep(way % 3 * 4000);
        all_are(pinned, SIZE, 0xcc, "later");
    }
    CHECK(cuEventDestroy(event));
    CHECK(cuEventDestroy(early));
    printf("each way to wait: %s\n", is_default ? "default stream" : "stream");
}

// Memory that is looked at and nothing else: the bytes come all the same.
static void looked_at(CUstream stream) {
    volatile unsigned char *last = pinned + SIZE - 1;
    *last = 0;
    CHECK(cuMemsetD8Async(device, 0x5a, SIZE, stream));
    CHECK(cuMemcpyDtoHAsync(pinned, device, SIZE, stream));
    for (int i = 0; i < 20000 && *last != 0x5a; i++)
        usleep(1000);
    REQUIRE(*last == 0x5a, "nothing came to memory that is only looked at");
    CHECK(cuStreamSynchronize(stream));
    all_are(pinned, SIZE, 0x5a, "looked at");
    printf("looked at\n");
}

// More than anybody keeps for the program, in pieces and at once.
static void many(CUstream stream) {
    unsigned char *area = host_memory((size_t)MANY * SMALL, 0);
    for (int i = 0; i < MANY; i++) {
        size_t size = i % 3 ? SMALL : 8;
        CHECK(cuMemsetD8Async(device, (unsigned char)i, size, stream));
        CHECK(cuMemcpyDtoHAsync(area + (size_t)i * SMALL, device, size, stream));
    }
    CHECK(cuStreamSynchronize(stream));
    for (int i = 0; i < MANY; i++)
        all_are(area + (size_t)i * SMALL, i % 3 ? SMALL : 8, (unsigned char)i, "many");
    size_t large = 20 << 20;
    CUdeviceptr source = allocate(large);
    for (size_t size = large; size > 1000; size /= 3) {
        CHECK(cuMemsetD8Async(source, (unsigned char)(size / 1000), size, stream));
        CHECK(cuMemcpyDtoHAsync(area, source, size, stream));
        CHECK(cuStreamSynchronize(stream));
        all_are(area, size, (unsigned char)(size / 1000), "large");
    }
    // Freed while a copy to it is under way: it is waited for.
    wait_in_stream(stream, 3000);
    CHECK(cuMemcpyDtoHAsync(area, source, large, stream));
    CHECK(cuMemcpyDtoHAsync(area, source, 100, stream));
    CHECK(cuMemFreeHost(area));
    // Memory of the program, page-locked for a while.
    unsigned char *own = malloc(SIZE);
    CHECK(cuMemHostRegister(own, SIZE, 0));
    CHECK(cuMemsetD8Async(source, 0x77, SIZE, stream));
    CHECK(cuMemcpyDtoHAsync(own, source, SIZE, stream));
    CHECK(cuMemHostUnregister(own));
    CHECK(cuStreamSynchronize(stream));
    all_are(own, SIZE, 0x77, "registered");
    free(own);
    CHECK(cuMemFree(source));
    printf("%d copies, and large ones\n", MANY);
}

// Copies that one thread asks for and others wait for.
static struct job {
    CUevent event;
    CUstream stream;
    unsigned char value;
    size_t size;
    unsigned char *to;
    atomic_int issued, checked;
} jobs[ROUNDS];

static void *waiter(void *data) {
    int own = (int)(intptr_t)data;
    CHECK(cuCtxSetCurrent(context));
    for (int i = 0; i < ROUNDS; i++) {
        struct job *job = &jobs[i];
        while (!job->issued)
            ;
        // All wait for the same copy, each in its way.
        switch ((own + i) % 4) {
        case 0:
            CHECK(cuEventSynchronize(job->event));
            break;
        case 1:
            CHECK(cuStreamSynchronize(job->stream));
            break;
        case 2:
            while (cuEventQuery(job->event) != CUDA_SUCCESS)
                ;
            break;
        default:
            CHECK(cuCtxSynchronize());
        }
        all_are(job->to, job->size, job->value, "in another thread");
        job->checked++;
    }
    return NULL;
}

static void threads(void) {
    CUstream streams[3];
    pthread_t ids[WAITERS];
    uint64_t random = 5;
    unsigned char *area = host_memory(4 * SIZE, CU_MEMHOSTALLOC_PORTABLE);
    for (int i = 0; i < 3; i++)
        CHECK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < ROUNDS; i++)
        CHECK(cuEventCreate(&jobs[i].event, CU_EVENT_DISABLE_TIMING));
    for (intptr_t i = 0; i < WAITERS; i++)
        REQUIRE(pthread_create(&ids[i], NULL, waiter, (void *)i) == 0, "no thread");
    CUdeviceptr sources = allocate(4 * SIZE);
    for (int i = 0; i < ROUNDS; i++) {
        struct job *job = &jobs[i];
        // The place was another's four rounds ago.
        if (i >= 4) {
            struct job *before = &jobs[i - 4];
            while (before->checked != WAITERS)
                ;
            all_are(before->to, before->size, before->value, "after all waited");
            memset(before->to, 0x33, SIZE);
        }
        job->stream = streams[i % 3];
        job->value = (unsigned char)(i + 1);
        job->size = 1 + random_u64(&random) % SIZE;
        job->to = area + (size_t)(i % 4) * SIZE;
        CUdeviceptr source = sources + (CUdeviceptr)(i % 4) * SIZE;
        if (i % 5 == 0)
            wait_in_stream(job->stream, 1000);
        CHECK(cuMemsetD8Async(source, job->value, job->size, job->stream));
        CHECK(cuMemcpyDtoHAsync(job->to, source, job->size, job->stream));
        CHECK(cuEventRecord(job->event, job->stream));
        if (i % 7 == 0)
            CHECK(cuStreamSynchronize(job->stream));
        job->issued = 1;
    }
    for (int i = 0; i < WAITERS; i++)
        REQUIRE(pthread_join(ids[i], NULL) == 0, "no end of a thread");
    CHECK(cuMemFreeHost(area));
    CHECK(cuMemFree(sources));
    printf("%d copies that %d threads waited for\n", ROUNDS, WAITERS);
}

int main(void) {
    context = begin();
    CUstream stream = new_stream();
    delay = function_of(module_of("delay"), "delay");
    CHECK(cuMemHostAlloc((void **)&pinned, SIZE, CU_MEMHOSTALLOC_PORTABLE));
    CHECK(cuMemHostAlloc((void **)&other, SIZE, CU_MEMHOSTALLOC_PORTABLE));
    device = allocate(2 * SIZE);
    ways(stream, 0);
    ways(NULL, 1);
    looked_at(stream);
    many(stream);
    threads();
    // One that fails takes nothing with it.
    memset(pinned, 0x11, SIZE);
    SHOW_STALE_SOON(cuMemcpyDtoHAsync(pinned, 64, 100, stream));
    CHECK(cuMemsetD8Async(device, 0x22, SIZE, stream));
    CHECK(cuMemcpyDtoHAsync(pinned + 1000, device, 100, stream));
    CHECK(cuStreamSynchronize(stream));
    all_are(pinned, 1000, 0x11, "beside a copy that failed");
    all_are(pinned + 1000, 100, 0x22, "after a copy that failed");
    // A context that ends with copies under way, and one after it.
    wait_in_stream(stream, 3000);
    CHECK(cuMemcpyDtoHAsync(pinned, device, SIZE, stream));
    CHECK(cuCtxDestroy(context));
    context = begin();
    CHECK(cuStreamCreate(&stream, 0));
    CHECK(cuMemHostAlloc((void **)&other, SIZE, 0));
    device = allocate(SIZE);
    CHECK(cuMemsetD8Async(device, 0x44, SIZE, stream));
    CHECK(cuMemcpyDtoHAsync(other, device, SIZE, stream));
    CHECK(cuStreamSynchronize(stream));
    all_are(other, SIZE, 0x44, "in another context");
    printf("another context\n");
    return 0;
}
