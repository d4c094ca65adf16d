// NVIDIA's runtime, whose library is given: its own start, memory, copies, streams, events and graphs. There are no
// headers of it here, so its functions are found by name; their types are those of the CUDA Runtime API's
// reference.
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

enum { N = 3 << 20, TO_DEVICE = 1, TO_HOST = 2, ON_DEVICE = 3, ATTRIBUTE_MULTIPROCESSORS = 16 };

#define FUNCTIONS                                                                                                      \
    F(cudaRuntimeGetVersion, int *)                                                                                    \
    F(cudaDriverGetVersion, int *)                                                                                     \
    F(cudaGetDeviceCount, int *)                                                                                       \
    F(cudaSetDevice, int)                                                                                              \
    F(cudaDeviceGetAttribute, int *, int, int)                                                                         \
    F(cudaMemGetInfo, size_t *, size_t *)                                                                              \
    F(cudaMalloc, void **, size_t)                                                                                     \
    F(cudaFree, void *)                                                                                                \
    F(cudaMallocHost, void **, size_t)                                                                                 \
    F(cudaFreeHost, void *)                                                                                            \
    F(cudaMallocAsync, void **, size_t, void *)                                                                        \
    F(cudaFreeAsync, void *, void *)                                                                                   \
    F(cudaMemset, void *, int, size_t)                                                                                 \
    F(cudaMemcpy, void *, const void *, size_t, int)                                                                   \
    F(cudaMemcpyAsync, void *, const void *, size_t, int, void *)                                                      \
    F(cudaPointerGetAttributes, void *, const void *)                                                                  \
    F(cudaStreamCreate, void **)                                                                                       \
    F(cudaStreamWaitEvent, void *, void *, unsigned)                                                                   \
    F(cudaStreamSynchronize, void *)                                                                                   \
    F(cudaStreamDestroy, void *)                                                                                       \
    F(cudaEventCreate, void **)                                                                                        \
    F(cudaEventRecord, void *, void *)                                                                                 \
    F(cudaEventQuery, void *)                                                                                          \
    F(cudaEventSynchronize, void *)                                                                                    \
    F(cudaEventElapsedTime, float *, void *, void *)                                                                   \
    F(cudaEventDestroy, void *)                                                                                        \
    F(cudaMemsetAsync, void *, int, size_t, void *)                                                                    \
    F(cudaLaunchHostFunc, void *, void (*)(void *), void *)                                                            \
    F(cudaStreamBeginCapture, void *, int)                                                                             \
    F(cudaStreamEndCapture, void *, void **)                                                                           \
    F(cudaStreamIsCapturing, void *, int *)                                                                            \
    F(cudaGraphCreate, void **, unsigned)                                                                              \
    F(cudaGraphClone, void **, void *)                                                                                 \
    F(cudaGraphGetNodes, void *, void **, size_t *)                                                                    \
    F(cudaGraphNodeGetType, void *, int *)                                                                             \
    F(cudaGraphAddMemcpyNode1D, void **, void *, void **, size_t, void *, const void *, size_t, int)                   \
    F(cudaGraphAddHostNode, void **, void *, void **, size_t, const void *)                                            \
    F(cudaGraphExecMemcpyNodeSetParams1D, void *, void *, void *, const void *, size_t, int)                           \
    F(cudaGraphInstantiateWithFlags, void **, void *, unsigned long long)                                              \
    F(cudaGraphLaunch, void *, void *)                                                                                 \
    F(cudaGraphExecDestroy, void *)                                                                                    \
    F(cudaGraphDestroy, void *)                                                                                        \
    F(cudaGetLastError, void)                                                                                          \
    F(cudaDeviceSynchronize, void)                                                                                     \
    F(cudaDeviceReset, void)

#define F(name, ...) static int (*name)(__VA_ARGS__);
FUNCTIONS
#undef F
static const char *(*cudaGetErrorName)(int);

static char *from, *back;

static void fill(void) {
    uint32_t state = 1;
    for (int i = 0; i < N; i++) {
        state = state * 1664525 + 1013904223;
        from[i] = (char)(state >> 24);
    }
}

static int type_of(const void *address) {
    // cudaPointerAttributes begins with its type and has some 32 bytes.
    int attributes[64] = {0};
    CHECK(cudaPointerGetAttributes(attributes, address));
    return attributes[0];
}

static void memory(void) {
    void *a, *b;
    CHECK(cudaMalloc(&a, N));
    CHECK(cudaMalloc(&b, N));
    CHECK(cudaMemcpy(a, from, N, TO_DEVICE));
    CHECK(cudaMemcpy(b, a, N, ON_DEVICE));
    CHECK(cudaMemset(a, 7, N));
    CHECK(cudaMemcpy(back, b, N, TO_HOST));
    REQUIRE(memcmp(from, back, N) == 0, "bytes came back changed");
    CHECK(cudaMemcpy(back, a, N, TO_HOST));
    for (int i = 0; i < N; i++)
        REQUIRE(back[i] == 7, "byte %d is %d", i, back[i]);
    printf("memory of type %d: copies are right\n", type_of(a));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    printf("a wrong free: %s\n", cudaGetErrorName(cudaFree((char *)from + 1)));
    printf("left behind: %s\n", cudaGetErrorName(cudaGetLastError()));
}

static void streams(void) {
    void *memory, *locked, *streams[2], *began, *ended;
    float milliseconds = -1;
    CHECK(cudaMallocHost(&locked, N));
    memcpy(locked, from, N);
    for (int i = 0; i < 2; i++)
        CHECK(cudaStreamCreate(&streams[i]));
    CHECK(cudaEventCreate(&began));
    CHECK(cudaEventCreate(&ended));
    CHECK(cudaMallocAsync(&memory, N, streams[0]));
    CHECK(cudaEventRecord(began, streams[0]));
    CHECK(cudaMemcpyAsync(memory, locked, N, TO_DEVICE, streams[0]));
    CHECK(cudaEventRecord(ended, streams[0]));
    CHECK(cudaStreamWaitEvent(streams[1], ended, 0));
    memset(back, 0, N);
    CHECK(cudaMemcpyAsync(back, memory, N, TO_HOST, streams[1]));
    CHECK(cudaStreamSynchronize(streams[1]));
    REQUIRE(memcmp(from, back, N) == 0, "bytes came back changed");
    CHECK(cudaEventSynchronize(ended));
    CHECK(cudaEventQuery(ended));
    CHECK(cudaEventElapsedTime(&milliseconds, began, ended));
    REQUIRE(milliseconds >= 0, "a copy took %g ms", milliseconds);
    CHECK(cudaFreeAsync(memory, streams[1]));
    CHECK(cudaDeviceSynchronize());
    printf("locked memory of type %d: copies in streams are right\n", type_of(locked));
    CHECK(cudaFreeHost(locked));
    for (int i = 0; i < 2; i++)
        CHECK(cudaStreamDestroy(streams[i]));
    CHECK(cudaEventDestroy(began));
    CHECK(cudaEventDestroy(ended));
}

static int called;

static void call(void *data) {
    called += *(int *)data;
    // What the copy before it brought, for the one behind it.
    memset(back, back[0] + 1, N);
}

static void graphs(void) {
    void *stream, *memory, *other, *graph, *exec, *clone, *nodes[8];
    int capturing = -1, by = 3, kind;
    size_t count = 8;
    char *answer = malloc(N);
    REQUIRE(answer, "no memory");
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&memory, N));
    CHECK(cudaMalloc(&other, N));
    CHECK(cudaStreamBeginCapture(stream, 1));
    CHECK(cudaStreamIsCapturing(stream, &capturing));
    CHECK(cudaMemcpyAsync(memory, from, N, TO_DEVICE, stream));
    CHECK(cudaMemcpyAsync(other, memory, N, ON_DEVICE, stream));
    CHECK(cudaMemsetAsync(memory, 5, N, stream));
    CHECK(cudaMemcpyAsync(back, memory, N, TO_HOST, stream));
    CHECK(cudaLaunchHostFunc(stream, call, &by));
    CHECK(cudaMemcpyAsync(memory, back, N, TO_DEVICE, stream));
    CHECK(cudaMemcpyAsync(answer, other, N, TO_HOST, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphGetNodes(graph, nodes, &count));
    printf("capturing %d, %zu nodes of kinds", capturing, count);
    for (size_t i = 0; i < count; i++) {
        CHECK(cudaGraphNodeGetType(nodes[i], &kind));
        printf(" %d", kind);
    }
    printf("\n");
    CHECK(cudaGraphClone(&clone, graph));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphInstantiateWithFlags(&exec, clone, 0));
    for (int round = 0; round < 3; round++) {
        from[round] ^= 0x55;
        memset(answer, 0, N);
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
        REQUIRE(memcmp(from, answer, N) == 0, "round %d: bytes came back changed", round);
        CHECK(cudaMemcpy(answer, memory, N, TO_HOST));
        REQUIRE(answer[0] == 6 && answer[N - 1] == 6, "round %d: %d behind the function", round, answer[0]);
    }
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(clone));

    struct { void (*function)(void *); void *data; } host = {call, &by};
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemcpyNode1D(&nodes[0], graph, NULL, 0, memory, from, N, TO_DEVICE));
    CHECK(cudaGraphAddMemcpyNode1D(&nodes[1], graph, nodes, 1, back, memory, N, TO_HOST));
    CHECK(cudaGraphAddHostNode(&nodes[2], graph, &nodes[1], 1, &host));
    CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(back[5] == (char)(from[0] + 1), "%d behind the function", back[5]);
    CHECK(cudaGraphExecMemcpyNodeSetParams1D(exec, nodes[0], memory, from + 1, N - 1, TO_DEVICE));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(back[5] == (char)(from[1] + 1), "%d after a change", back[5]);
    printf("graphs: %d\n", called);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFree(memory));
    CHECK(cudaFree(other));
    CHECK(cudaStreamDestroy(stream));
    free(answer);
}

static void *in_a_thread(void *address) {
    char first = 0;
    CHECK(cudaMemcpy(&first, address, 1, TO_HOST));
    REQUIRE(first == from[0], "another thread sees %d", first);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        printf("usage: %s LIBCUDART\n", argv[0]);
        return 2;
    }
    void *library = dlopen(argv[1], RTLD_NOW);
    REQUIRE(library, "%s", dlerror());
#define F(name, ...)                                                                                                   \
    *(void **)&name = dlsym(library, #name);                                                                           \
    REQUIRE(name, "%s has no %s", argv[1], #name);
    FUNCTIONS
#undef F
    *(void **)&cudaGetErrorName = dlsym(library, "cudaGetErrorName");
    from = malloc(N);
    back = malloc(N);
    REQUIRE(from && back, "no memory");
    fill();
    int runtime, driver, devices, multiprocessors;
    size_t available, all;
    CHECK(cudaRuntimeGetVersion(&runtime));
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaGetDeviceCount(&devices));
    CHECK(cudaSetDevice(devices - 1));
    CHECK(cudaDeviceGetAttribute(&multiprocessors, ATTRIBUTE_MULTIPROCESSORS, devices - 1));
    CHECK(cudaMemGetInfo(&available, &all));
    printf("runtime %d on driver %d, %d devices, %d multiprocessors, %zu MiB\n", runtime, driver, devices,
           multiprocessors, all >> 20);
    memory();
    streams();
    graphs();
    void *shared;
    pthread_t thread;
    CHECK(cudaMalloc(&shared, N));
    CHECK(cudaMemcpy(shared, from, N, TO_DEVICE));
    REQUIRE(pthread_create(&thread, NULL, in_a_thread, shared) == 0, "no thread");
    pthread_join(thread, NULL);
    CHECK(cudaDeviceReset());
    CHECK(cudaMalloc(&shared, N));
    CHECK(cudaMemcpy(shared, from, N, TO_DEVICE));
    CHECK(cudaMemcpy(back, shared, N, TO_HOST));
    REQUIRE(memcmp(from, back, N) == 0, "bytes came back changed after a reset");
    printf("after a reset the device can be used again\n");
    return 0;
}
