// Per-thread default streams, as programs have them that are compiled for them: the functions with the suffixes
// _ptsz and _ptds. A function of the host that waits keeps a stream busy for as long as is wanted.
#include <dlfcn.h>
#include <semaphore.h>
#include <unistd.h>

#include "common.h"

#define LEGACY ((CUstream)1)
#define PER_THREAD ((CUstream)2)

static CUresult (*host_function)(CUstream, CUhostFn, void *);
static CUresult (*memset_in_stream)(CUdeviceptr, unsigned, size_t, CUstream);
static CUresult (*synchronize)(CUstream);
static CUresult (*query)(CUstream);
static CUresult (*to_device)(CUdeviceptr, const void *, size_t);
static CUresult (*to_host)(void *, CUdeviceptr, size_t);
static CUresult (*on_device)(CUdeviceptr, CUdeviceptr, size_t);
static CUresult (*to_peer)(const CUDA_MEMCPY3D_PEER *);
static CUresult (*fill)(CUdeviceptr, unsigned char, size_t);

static CUcontext context;
static CUdeviceptr memory;
static sem_t may_end, is_busy, may_look;

static void *find(const char *symbol) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *function = library ? dlsym(library, symbol) : NULL;
    REQUIRE(function, "no %s", symbol);
    return function;
}

static void wait_in_stream(void *ended) {
    sem_wait(&may_end);
    *(int *)ended = 1;
}

// Keeps its own stream busy until it may end.
static void *busy(void *ended) {
    CHECK(cuCtxSetCurrent(context));
    CHECK(host_function(NULL, wait_in_stream, ended));
    EXPECT(CUDA_ERROR_NOT_READY, query(NULL));
    EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(PER_THREAD));
    sem_post(&is_busy);
    sem_wait(&may_look);
    CHECK(synchronize(NULL));
    REQUIRE(*(int *)ended, "the stream was synchronised and its function had not ended");
    CHECK(query(NULL));
    return NULL;
}

// Copies in its own stream, while another thread's is captured.
static void *beside_capture(void *value) {
    unsigned there = 44;
    CHECK(cuCtxSetCurrent(context));
    CHECK(to_device(memory, &there, sizeof there));
    CHECK(to_host(value, memory, sizeof there));
    return NULL;
}

static void slow(void *data) {
    (void)data;
    usleep(30000);
}

// Copies without Async have copied when they return, from and to page-locked memory too.
static void page_locked(void) {
    enum { SIZE = 200 * 1024 };
    static unsigned char back[SIZE];
    CUdeviceptr all = allocate(SIZE);
    unsigned char *pinned = locked_memory(SIZE);
    memset(pinned, 1, SIZE);
    CHECK(host_function(NULL, slow, NULL));
    CHECK(memset_in_stream(all, 0x02020202, SIZE / 4, NULL));
    CHECK(to_host(pinned, all, SIZE));
    for (int i = 0; i < SIZE; i++)
        REQUIRE(pinned[i] == 2, "byte %d is %d when the copy has returned", i, pinned[i]);
    CHECK(host_function(NULL, slow, NULL));
    CHECK(to_device(all, pinned, SIZE));
    memset(pinned, 3, SIZE);
    CHECK(to_host(back, all, SIZE));
    for (int i = 0; i < SIZE; i++)
        REQUIRE(back[i] == 2, "byte %d is %d and was changed after the copy", i, back[i]);
    // The same by the device's address.
    CUdeviceptr there = (CUdeviceptr)(uintptr_t)pinned, other = allocate(4);
    CHECK(memset_in_stream(there, 0x03030303, SIZE / 4, NULL));
    CHECK(synchronize(NULL));
    CHECK(host_function(NULL, slow, NULL));
    CHECK(on_device(there, all, SIZE));
    for (int i = 0; i < SIZE; i++)
        REQUIRE(pinned[i] == 2, "byte %d is %d when the copy on the device has returned", i, pinned[i]);
    memset(pinned, 4, SIZE);
    CHECK(host_function(NULL, slow, NULL));
    CHECK(on_device(all, there, SIZE));
    memset(pinned, 5, SIZE);
    CHECK(memset_in_stream(other, 0, 1, NULL));
    CHECK(to_host(back, all, SIZE));
    for (int i = 0; i < SIZE; i++)
        REQUIRE(back[i] == 4, "byte %d is %d and was changed after the copy on the device", i, back[i]);
    CUDA_MEMCPY3D_PEER peer = {.source_kind = 2, .source_device = all, .source_context = context, .source_pitch = SIZE,
                               .target_kind = 1, .target_host = pinned, .target_context = context, .target_pitch = SIZE};
    peer.width = SIZE;
    peer.height = peer.depth = peer.source_height = peer.target_height = 1;
    CHECK(host_function(NULL, slow, NULL));
    CHECK(memset_in_stream(all, 0x06060606, SIZE / 4, NULL));
    CHECK(to_peer(&peer));
    for (int i = 0; i < SIZE; i++)
        REQUIRE(pinned[i] == 6, "byte %d is %d when the copy between contexts has returned", i, pinned[i]);
    // And fills, of managed memory too.
    CUdeviceptr managed;
    CHECK(cuMemAllocManaged(&managed, SIZE, 1));
    const unsigned char *filled[] = {pinned, (const unsigned char *)(uintptr_t)managed};
    for (int kind = 0; kind < 2; kind++) {
        CHECK(host_function(NULL, slow, NULL));
        CHECK(fill(kind ? managed : there, 7, SIZE));
        for (int i = 0; i < SIZE; i++)
            REQUIRE(filled[kind][i] == 7, "byte %d of memory %d is %d when the fill has returned", i, kind, filled[kind][i]);
    }
    CHECK(cuMemFree(managed));
    CHECK(cuMemFree(other));
    CHECK(cuMemFreeHost(pinned));
    CHECK(cuMemFree(all));
    printf("page-locked memory: %d\n", back[SIZE - 1]);
}

int main(void) {
    host_function = find("cuLaunchHostFunc_ptsz");
    memset_in_stream = find("cuMemsetD32Async_ptsz");
    synchronize = find("cuStreamSynchronize_ptsz");
    query = find("cuStreamQuery_ptsz");
    to_device = find("cuMemcpyHtoD_v2_ptds");
    to_host = find("cuMemcpyDtoH_v2_ptds");
    on_device = find("cuMemcpyDtoD_v2_ptds");
    to_peer = find("cuMemcpy3DPeer_ptds");
    fill = find("cuMemsetD8_v2_ptds");
    context = begin();
    page_locked();
    memory = allocate(64);
    sem_init(&may_end, 0, 0);
    sem_init(&is_busy, 0, 0);
    sem_init(&may_look, 0, 0);

    int ended = 0;
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, busy, &ended) == 0, "no thread");
    sem_wait(&is_busy);
    // This thread's stream is another one, so nothing of this waits.
    unsigned value = 0, there = 7;
    CHECK(query(NULL));
    CHECK(memset_in_stream(memory, 42, 1, NULL));
    CHECK(synchronize(NULL));
    CHECK(to_host(&value, memory, sizeof value));
    CHECK(to_device(memory + 4, &there, sizeof there));
    CHECK(to_host(&there, memory, sizeof there));
    REQUIRE(!ended, "the other thread's stream was waited for");
    printf("beside a busy stream: %u, %u\n", value, there);

    // What goes through the legacy default stream waits for all of them.
    CHECK(memset_in_stream(memory, 43, 1, LEGACY));
    SHOW(cuStreamQuery(LEGACY));
    SHOW(cuStreamQuery(NULL));
    sem_post(&may_end);
    sem_post(&may_look);
    CHECK(cuStreamSynchronize(NULL));
    REQUIRE(ended, "the legacy stream did not wait for the thread's");
    CHECK(cuMemcpyDtoH(&value, memory, sizeof value));
    pthread_join(thread, NULL);
    printf("in the legacy stream: %u\n", value);
    SHOW(cuStreamQuery(NULL));

    CUgraph graph;
    CHECK(cuStreamBeginCapture(PER_THREAD, CU_STREAM_CAPTURE_MODE_RELAXED));
    by_a_thread(beside_capture, &value);
    CHECK(cuStreamEndCapture(PER_THREAD, &graph));
    CHECK(cuGraphDestroy(graph));
    printf("beside a capture: %u\n", value);
    return 0;
}
