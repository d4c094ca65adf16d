// What the programs share: checks that end the program, a context, kernels from files, numbers.
#ifndef COMMON_H
#define COMMON_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

static inline const char *name_of(CUresult result) {
    const char *name = NULL;
    return cuGetErrorName(result, &name) == CUDA_SUCCESS && name ? name : "an error without a name";
}

// Ends the program with 1 unless `call` gives `wanted`.
#define EXPECT(wanted, call)                                                                                           \
    do {                                                                                                               \
        CUresult result_ = (call);                                                                                     \
        if (result_ != (wanted)) {                                                                                     \
            fprintf(stderr, "%s:%d: %s gave %d (%s), not %d (%s)\n", __FILE__, __LINE__, #call, result_,               \
                    name_of(result_), (int)(wanted), name_of(wanted));                                                 \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)
#define CHECK(call) EXPECT(CUDA_SUCCESS, call)

// Ends the program with 1 unless `condition` holds.
#define REQUIRE(condition, ...)                                                                                        \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s: ", __FILE__, __LINE__, #condition);                                    \
            fprintf(stderr, __VA_ARGS__);                                                                              \
            fputc('\n', stderr);                                                                                       \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

// Prints what a call gives, by its text in the program, as part of the output that is compared.
#define SHOW(call)                                                                                                     \
    do {                                                                                                               \
        CUresult shown_ = (call);                                                                                      \
        printf("%s: %d %s\n", #call, shown_, name_of(shown_));                                                         \
    } while (0)

// As SHOW, of a call whose error may be reported by the next call that waits: through the network such calls are
// not answered one by one, unless that is asked for. The reported error is the same.
#define SHOW_SOON(call)                                                                                                \
    do {                                                                                                               \
        CUresult shown_ = (call);                                                                                      \
        if (shown_ == CUDA_SUCCESS && getenv("GTRACE_REMOTE") && !getenv("GTRACE_STRICT"))                             \
            shown_ = cuCtxSynchronize();                                                                               \
        printf("%s: %d %s\n", #call, shown_, name_of(shown_));                                                         \
    } while (0)

// Whether the device is a real one, as GTRACE_REAL_GPU says. A driver may read what a
// handle points to, so there a handle that is none is no error to be returned but the end of the program; and where a
// GPU reaches the whole memory of a process, any address may be good.
static inline int is_real(void) {
    return getenv("GTRACE_REAL_GPU") != NULL;
}

// SHOW and SHOW_SOON of a call with a handle or an address that never was one, or is one no more.
#define SHOW_STALE(call)                                                                                               \
    do {                                                                                                               \
        if (!is_real())                                                                                                \
            SHOW(call);                                                                                                \
    } while (0)
#define SHOW_STALE_SOON(call)                                                                                          \
    do {                                                                                                               \
        if (!is_real())                                                                                                \
            SHOW_SOON(call);                                                                                           \
    } while (0)

// Has another thread work, and waits for its end.
static inline void by_a_thread(void *(*work)(void *), void *data) {
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, work, data) == 0, "no thread");
    REQUIRE(pthread_join(thread, NULL) == 0, "no end of a thread");
}

// Starts CUDA and makes a context on device 0 current.
static inline CUcontext begin(void) {
    CUdevice device;
    CUcontext context;
    // A program that dies has then shown how far it came.
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate(&context, 0, device));
    return context;
}

static inline char *path_of(const char *kernel) {
    static char path[4096];
    const char *folder = getenv("GTRACE_KERNELS");
    REQUIRE(folder, "GTRACE_KERNELS must name the folder of the kernels' PTX");
    snprintf(path, sizeof path, "%s/%s.ptx", folder, kernel);
    return path;
}

// The text of a kernel file, ended by 0.
static inline char *text_of(const char *kernel) {
    FILE *file = fopen(path_of(kernel), "rb");
    REQUIRE(file, "cannot open %s", path_of(kernel));
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = calloc(1, (size_t)size + 1);
    REQUIRE(fread(text, 1, (size_t)size, file) == (size_t)size, "cannot read %s", path_of(kernel));
    fclose(file);
    return text;
}

static inline CUmodule module_of(const char *kernel) {
    CUmodule module;
    char *text = text_of(kernel);
    CHECK(cuModuleLoadData(&module, text));
    free(text);
    return module;
}

static inline CUfunction function_of(CUmodule module, const char *name) {
    CUfunction function;
    CHECK(cuModuleGetFunction(&function, module, name));
    return function;
}

// Launches in one dimension; the arguments are addresses of the kernel's parameters.
#define LAUNCH(function, blocks, threads, stream, ...)                                                                 \
    cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, (void *[]){__VA_ARGS__}, NULL)

static inline CUdeviceptr allocate(size_t bytes) {
    CUdeviceptr address;
    CHECK(cuMemAlloc(&address, bytes));
    return address;
}

static inline CUdeviceptr upload(const void *data, size_t bytes) {
    CUdeviceptr address = allocate(bytes);
    CHECK(cuMemcpyHtoD(address, data, bytes));
    return address;
}

static inline CUdeviceptr upload_ones(size_t count) {
    float *ones = malloc(count * sizeof *ones);
    REQUIRE(ones != NULL, "no memory");
    for (size_t i = 0; i < count; i++)
        ones[i] = 1;
    CUdeviceptr device = upload(ones, count * sizeof *ones);
    free(ones);
    return device;
}

static inline CUstream new_stream(void) {
    CUstream stream;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

static inline CUevent new_event(unsigned flags) {
    CUevent event;
    CHECK(cuEventCreate(&event, flags));
    return event;
}

// Page-locked memory, by each of the two functions that give it.
static inline void *host_memory(size_t bytes, unsigned flags) {
    void *memory;
    CHECK(cuMemHostAlloc(&memory, bytes, flags));
    return memory;
}

static inline void *locked_memory(size_t bytes) {
    void *memory;
    CHECK(cuMemAllocHost(&memory, bytes));
    return memory;
}

static inline CUgraph new_graph(void) {
    CUgraph graph;
    CHECK(cuGraphCreate(&graph, 0));
    return graph;
}

// A node of a kernel in one dimension; the arguments are addresses of its parameters.
static inline CUDA_KERNEL_NODE_PARAMS kernel_node(CUfunction function, unsigned blocks, unsigned threads,
                                                  void **arguments) {
    return (CUDA_KERNEL_NODE_PARAMS){.function = function, .grid_x = blocks, .grid_y = 1, .grid_z = 1,
                                     .block_x = threads, .block_y = 1, .block_z = 1, .parameters = arguments};
}

static inline CUgraphExec instantiated(CUgraph graph) {
    CUgraphExec exec;
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

static inline void destroy_both(CUgraphExec exec, CUgraph graph) {
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
}

// Work in a stream that does not end before it is let go, however slow the machine is.
typedef struct {
    CUdeviceptr word;
    CUstream other;
} Hold;

static inline Hold hold(CUstream stream) {
    Hold it = {.word = allocate(4)};
    CHECK(cuStreamCreate(&it.other, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemsetD32Async(it.word, 0, 1, it.other));
    CHECK(cuStreamSynchronize(it.other));
    CHECK(cuStreamWaitValue32(stream, it.word, 1, 1)); // until it is equal
    return it;
}

// The word is not freed: that would wait for the device.
static inline void let_go(Hold it) {
    CHECK(cuMemsetD32Async(it.word, 1, 1, it.other));
    CHECK(cuStreamSynchronize(it.other));
    CHECK(cuStreamDestroy(it.other));
}

// splitmix64: the same numbers in every run.
static inline uint64_t random_u64(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// From 0 to 1, with a few bits only, so that sums of many are exact.
static inline float random_float(uint64_t *state) {
    return (float)(random_u64(state) >> 52) / 4096.0f;
}

// FNV-1a of bytes: what the programs print of long results.
static inline uint64_t digest(const void *data, size_t bytes) {
    const unsigned char *at = data;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash;
}

static inline void print_digest(const char *what, const void *data, size_t bytes) {
    printf("%s: %zu bytes, digest %016llx\n", what, bytes, (unsigned long long)digest(data, bytes));
}

#endif
