// Page-locked memory under unified addressing: all of it is the device's too, by the host's address, whatever it was made
// by and with. Kernels, fills, copies and graphs use it; the host sees what they did when it has waited, and keeps what
// lies beside.
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"
#include "graphs.h"
#include "managed.h"

static CUfunction add_each, walk;
static CUstream stream;

typedef struct node {
    struct node *next;
    uint64_t value;
} node;

// A kernel adds 5 to each of `n` words, which are what they were before.
static void add_five(unsigned *words, unsigned n, const char *what) {
    CUdeviceptr address = address_of(words);
    unsigned value = 5;
    for (unsigned i = 0; i < n; i++)
        words[i] = 3 * i;
    CHECK(LAUNCH(add_each, (n + 127) / 128, 128, stream, &address, &n, &value));
    CHECK(cuStreamSynchronize(stream));
    for (unsigned i = 0; i < n; i++)
        REQUIRE(words[i] == 3 * i + 5, "%s: word %u is %u", what, i, words[i]);
    printf("%s: %u words\n", what, n);
}

static void flags(void) {
    static const struct { unsigned flags; const char *name; } all[] = {
        {0, "no flags"},
        {CU_MEMHOSTALLOC_PORTABLE, "portable"},
        {CU_MEMHOSTALLOC_DEVICEMAP, "mapped"},
        {CU_MEMHOSTALLOC_WRITECOMBINED, "write combined"},
        {7, "all flags"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (unsigned n = 10; n <= 100000; n *= 100) {
            void *memory;
            CHECK(cuMemHostAlloc(&memory, n * sizeof(unsigned), all[i].flags));
            add_five(memory, n, all[i].name);
            if (all[i].flags & CU_MEMHOSTALLOC_DEVICEMAP) {
                CUdeviceptr base = 0;
                size_t size = 0;
                CHECK(cuMemGetAddressRange(&base, &size, address_of((unsigned *)memory + 5)));
                REQUIRE(base == address_of(memory) && size == n * sizeof(unsigned), "its range has %zu bytes", size);
            }
            CHECK(cuMemFreeHost(memory));
        }
    void *memory;
    CHECK(cuMemAllocHost(&memory, 4000));
    add_five(memory, 1000, "cuMemAllocHost");
    CHECK(cuMemFreeHost(memory));
}

static void registered(void) {
    enum { N = 50000 };
    unsigned *own = malloc((N + 200) * sizeof *own);
    for (unsigned i = 0; i < N + 200; i++)
        own[i] = i;
    unsigned *words = own + 100;
    CHECK(cuMemHostRegister(words, N * sizeof *words, 0));
    CUdeviceptr device = 0;
    CHECK(cuMemHostGetDevicePointer(&device, words + 7, 0));
    REQUIRE(device == address_of(words + 7), "the device's pointer is another");
    add_five(words, N, "registered");
    // A child has what the program has, wherever it was.
    CUdeviceptr address = address_of(words);
    unsigned n = N, value = 1;
    CHECK(LAUNCH(add_each, (n + 127) / 128, 128, stream, &address, &n, &value));
    CHECK(cuStreamSynchronize(stream));
    pid_t child = fork();
    if (child == 0) {
        for (unsigned i = 0; i < N; i++)
            if (words[i] != 3 * i + 6)
                _exit(1);
        _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child && status == 0, "the child ended with %d", status);
    CHECK(LAUNCH(add_each, (n + 127) / 128, 128, stream, &address, &n, &value));
    CHECK(cuMemHostUnregister(words));
    for (unsigned i = 0; i < N; i++)
        REQUIRE(words[i] == 3 * i + 7, "word %u after cuMemHostUnregister is %u", i, words[i]);
    for (unsigned i = 0; i < 100; i++)
        REQUIRE(own[i] == i && own[N + 100 + i] == N + 100 + i, "what lies beside has changed");
    free(own);
    // Two registrations in one page, and what is between them.
    static unsigned page[1024];
    CHECK(cuMemHostRegister(page + 8, 40, CU_MEMHOSTREGISTER_PORTABLE));
    CHECK(cuMemHostRegister(page + 30, 40, CU_MEMHOSTREGISTER_DEVICEMAP));
    page[20] = 99;
    add_five(page + 8, 10, "first of a page");
    add_five(page + 30, 10, "second of a page");
    CHECK(cuMemHostUnregister(page + 8));
    add_five(page + 30, 10, "second of a page alone");
    CHECK(cuMemHostUnregister(page + 30));
    REQUIRE(page[20] == 99 && page[8] == 5 && page[39] == 32, "the page has changed");
}

// Two arrays that share a page, as malloc gives them: fills and copies have each as a whole, whichever the device had first.
static void neighbours(void) {
    enum { N = 30000, BYTES = 4 * N };
    static unsigned both[2 * N];
    unsigned *first = both, *second = both + N;
    CHECK(cuMemHostRegister(first, BYTES, 0));
    CHECK(cuMemHostRegister(second, BYTES, 0));
    add_five(first, N, "first array");
    add_five(second, N, "second array");
    CHECK(cuMemsetD32(address_of(second), 9, N));
    CHECK(cuCtxSynchronize());
    REQUIRE(second[0] == 9 && second[N - 1] == 9 && first[N - 1] == 3 * N + 2, "the fill is not there");
    CHECK(cuMemcpyDtoD(address_of(second), address_of(first), BYTES));
    CHECK(cuCtxSynchronize());
    REQUIRE(memcmp(first, second, BYTES) == 0, "the copy is not there");
    CUdeviceptr plain = allocate(BYTES);
    CHECK(cuMemcpyHtoD(plain, second, BYTES));
    CHECK(cuMemsetD32(address_of(second), 9, N));
    CHECK(cuMemHostUnregister(first));
    CHECK(cuMemcpyDtoH(second, plain, BYTES));
    REQUIRE(memcmp(first, second, BYTES) == 0, "what was copied there and back is something else");
    CHECK(cuMemHostUnregister(second));
    CHECK(cuMemFree(plain));
}

// Pointers that no parameter shows: in a structure on the device, and in other page-locked memory.
static void hidden(void) {
    node *first, *second, *third;
    CHECK(cuMemHostAlloc((void **)&first, sizeof *first, 0));
    CHECK(cuMemHostAlloc((void **)&second, sizeof *second, CU_MEMHOSTALLOC_PORTABLE));
    CHECK(cuMemHostAlloc((void **)&third, sizeof *third, 0));
    uint64_t *sum = host_memory(sizeof *sum, 0);
    *third = (node){NULL, 300};
    *second = (node){third, 200};
    *first = (node){second, 100};
    node head = {first, 1};
    CUdeviceptr on_device = upload(&head, sizeof head), to = address_of(sum);
    CHECK(LAUNCH(walk, 1, 1, stream, &on_device, &to));
    CHECK(cuStreamSynchronize(stream));
    printf("sum %d, values %d %d %d\n", (int)*sum, (int)first->value, (int)second->value, (int)third->value);
    CHECK(cuMemFreeHost(first));
    CHECK(cuMemFreeHost(second));
    CHECK(cuMemFreeHost(third));
    CHECK(cuMemFreeHost(sum));
    CHECK(cuMemFree(on_device));
}

// While a kernel has some words of a page the host uses others.
static void beside(void) {
    enum { N = 20000, HALF = N / 2, TIMES = 20 };
    unsigned *words, n = HALF, value = 1;
    CHECK(cuMemHostAlloc((void **)&words, N * sizeof *words, 0));
    memset(words, 0, N * sizeof *words);
    CUdeviceptr address = address_of(words);
    for (unsigned round = 1; round <= TIMES; round++) {
        // In every second round the kernel comes after what the host does.
        Hold it;
        if (round % 2)
            it = hold(stream);
        CHECK(LAUNCH(add_each, (n + 127) / 128, 128, stream, &address, &n, &value));
        for (unsigned i = HALF; i < N; i += 3) {
            REQUIRE(words[i] == round - 1, "word %u in round %u is %u", i, round, words[i]);
            words[i] = round;
        }
        if (round % 2)
            let_go(it);
        CHECK(cuStreamSynchronize(stream));
        for (unsigned i = 0; i < HALF; i++)
            REQUIRE(words[i] == round, "word %u of the kernel in round %u is %u", i, round, words[i]);
    }
    print_digest("beside", words, N * sizeof *words);
    CHECK(cuMemFreeHost(words));
}

static void fills_and_copies(void) {
    enum { N = 30000 };
    unsigned *a = host_memory(N * sizeof *a, 0), *b = host_memory(N * sizeof *b, 0);
    unsigned *c = host_memory(100 * sizeof *c, 0);
    CHECK(cuMemsetD32(address_of(a), 9, N));
    REQUIRE(a[0] == 9 && a[N - 1] == 9, "the fill is not there");
    CHECK(cuMemsetD32Async(address_of(c), 4, 100, stream));
    CHECK(cuMemcpyDtoDAsync(address_of(b), address_of(a), N * sizeof *a, stream));
    CHECK(cuMemcpyAsync(address_of(b), address_of(c), 400, stream));
    CHECK(cuStreamSynchronize(stream));
    print_digest("filled and copied", b, N * sizeof *b);
    CUdeviceptr plain = allocate(N * sizeof *a);
    b[5] = 55;
    CHECK(cuMemcpyHtoD(plain, b, N * sizeof *b));
    b[5] = 66;
    CHECK(cuMemcpyDtoH(a, plain, N * sizeof *a));
    REQUIRE(a[5] == 55 && b[5] == 66, "%u %u", a[5], b[5]);
    CHECK(cuMemcpy(address_of(c), address_of(a), 400));
    REQUIRE(c[5] == 55, "%u", c[5]);
    CUDA_MEMCPY2D rows = {
        .source_kind = 2, .source_device = plain, .source_pitch = 400,
        .target_kind = 1, .target_host = b, .target_pitch = 800,
        .width = 40, .height = 50,
    };
    CHECK(cuMemcpy2D(&rows));
    print_digest("rows", b, N * sizeof *b);
    CHECK(cuMemFreeHost(a));
    CHECK(cuMemFreeHost(b));
    CHECK(cuMemFreeHost(c));
    CHECK(cuMemFree(plain));
}

static void are_all(const unsigned *words, unsigned n, unsigned value, const char *what) {
    for (unsigned i = 0; i < n; i++)
        REQUIRE(words[i] == value, "%s: word %u of %u is %u", what, i, n, words[i]);
}

// Fills and copies without Async to page-locked memory have ended when they return: nothing else waits for them.
static void ended(unsigned *words, unsigned n, unsigned *pageable) {
    size_t bytes = n * sizeof *words;
    CUdeviceptr there = address_of(words), plain = allocate(bytes);
    CUDA_MEMCPY2D rows = {
        .source_kind = 2, .source_device = plain, .source_pitch = bytes / 10,
        .target_kind = 2, .target_device = there, .target_pitch = bytes / 10,
        .width = bytes / 10, .height = 10,
    };
    CHECK(cuMemsetD32(there, 1, n));
    are_all(words, n, 1, "filled");
    CHECK(cuMemsetD2D32(there, bytes / 10, 2, n / 10, 10));
    are_all(words, n, 2, "filled by rows");
    CHECK(cuMemsetD32(plain, 3, n));
    CHECK(cuMemcpyDtoD(there, plain, bytes));
    are_all(words, n, 3, "copied on the device");
    CHECK(cuMemsetD32(plain, 4, n));
    CHECK(cuMemcpy(there, plain, bytes));
    are_all(words, n, 4, "copied by unified addresses");
    CHECK(cuMemsetD32(plain, 5, n));
    CHECK(cuMemcpy2D(&rows));
    are_all(words, n, 5, "rows on the device");
    CHECK(cuMemsetD32(plain, 6, n));
    rows.target_kind = 1;
    rows.target_host = words;
    CHECK(cuMemcpy2D(&rows));
    are_all(words, n, 6, "rows to the host");
    for (unsigned i = 0; i < n; i++)
        pageable[i] = 7;
    rows.source_kind = 1;
    rows.source_host = pageable;
    CHECK(cuMemcpy2D(&rows));
    are_all(words, n, 7, "rows within the host");
    unsigned *shared = managed(bytes, CU_MEM_ATTACH_GLOBAL);
    for (unsigned i = 0; i < n; i++)
        shared[i] = 8;
    CHECK(cuMemcpyHtoD(there, shared, bytes));
    are_all(words, n, 8, "from managed memory");
    CHECK(cuMemFree(address_of(shared)));
    CHECK(cuMemFree(plain));
}

static void all_have_ended(void) {
    static const unsigned sizes[] = {100, 30000};
    static unsigned own[30100], pageable[30000];
    for (int i = 0; i < 2; i++) {
        unsigned *words = host_memory(sizes[i] * sizeof *words, 0);
        ended(words, sizes[i], pageable);
        CHECK(cuMemFreeHost(words));
        // Its ends are in pages with other memory of the program.
        CHECK(cuMemHostRegister(own + 50, sizes[i] * sizeof *own, 0));
        ended(own + 50, sizes[i], pageable);
        CHECK(cuMemHostUnregister(own + 50));
    }
}

// A graph with a fill, a kernel and a copy on page-locked memory, made by a capture and by hand.
static void graphs(void) {
    enum { N = 6000 };
    unsigned *words, *small, n = N, ten = 10, value = 5;
    CHECK(cuMemHostAlloc((void **)&words, N * sizeof *words, 0));
    CHECK(cuMemHostAlloc((void **)&small, 40, 0));
    CUdeviceptr address = address_of(words), little = address_of(small);
    CUgraph graph;
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(LAUNCH(add_each, (n + 127) / 128, 128, stream, &address, &n, &value));
    CHECK(LAUNCH(add_each, 1, 128, stream, &little, &ten, &value));
    CHECK(cuMemcpyDtoDAsync(address, little, 40, stream));
    CHECK(cuStreamEndCapture(stream, &graph));
    CUgraphExec exec = instantiated(graph);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < N; i++)
            words[i] = i + round;
        for (unsigned i = 0; i < 10; i++)
            small[i] = i * 100 + round;
        CHECK(cuGraphLaunch(exec, stream));
        CHECK(cuStreamSynchronize(stream));
        for (unsigned i = 0; i < N; i++)
            REQUIRE(words[i] == (i < 10 ? i * 100 + round + 5 : i + round + 5), "round %u: word %u is %u", round, i, words[i]);
    }
    destroy_both(exec, graph);
    unsigned *third = host_memory(N * sizeof *words, 0);
    CHECK(cuGraphCreate(&graph, 0));
    CUDA_MEMSET_NODE_PARAMS fill = {address_of(third), 0, 7, 4, N, 1};
    CUgraphNode filled, added;
    CUcontext context;
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuGraphAddMemsetNode(&filled, graph, NULL, 0, &fill, context));
    address = address_of(third);
    void *arguments[] = {&address, &n, &value};
    CUDA_KERNEL_NODE_PARAMS kernel = kernel_node(add_each, (n + 127) / 128, 128, arguments);
    CHECK(cuGraphAddKernelNode(&added, graph, &filled, 1, &kernel));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
    print_digest("by a graph", third, N * sizeof *third);
    destroy_both(exec, graph);
    CHECK(cuMemFreeHost(words));
    CHECK(cuMemFreeHost(small));
    CHECK(cuMemFreeHost(third));
}

// Events and queries say that the host may look, as do waits.
static void waits(void) {
    unsigned *word, n = 1, value = 1;
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING);
    CHECK(cuMemHostAlloc((void **)&word, sizeof *word, 0));
    *word = 0;
    CUdeviceptr address = address_of(word);
    for (unsigned round = 1; round <= 60; round++) {
        CHECK(LAUNCH(add_each, 1, 32, stream, &address, &n, &value));
        CHECK(cuEventRecord(event, stream));
        if (round % 3 == 0)
            CHECK(cuEventSynchronize(event));
        if (round % 3 == 1)
            while (cuEventQuery(event) == CUDA_ERROR_NOT_READY)
                ;
        if (round % 3 == 2)
            while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
                ;
        REQUIRE(*word == round, "%u in round %u", *word, round);
    }
    printf("waits: %u\n", *word);
    CHECK(cuMemFreeHost(word));
    CHECK(cuEventDestroy(event));
}

static void attributes(void) {
    void *memory;
    static char own[64];
    int can[4];
    CHECK(cuDeviceGetAttribute(&can[0], CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 0));
    CHECK(cuDeviceGetAttribute(&can[1], CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 0));
    CHECK(cuDeviceGetAttribute(&can[2], CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 0));
    CHECK(cuDeviceGetAttribute(&can[3], CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 0));
    printf("can map %d, register %d, by its pointer %d, unified %d\n", can[0], can[1], can[2], can[3]);
    CHECK(cuMemHostAlloc(&memory, 100, 0));
    CHECK(cuMemHostRegister(own, sizeof own, 0));
    const void *all[] = {memory, (char *)memory + 99, own + 1};
    for (int i = 0; i < 3; i++) {
        unsigned kind = 0, managed = 9;
        CUdeviceptr device = 0;
        void *host = NULL;
        CHECK(cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address_of(all[i])));
        CHECK(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address_of(all[i])));
        CHECK(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, address_of(all[i])));
        CHECK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address_of(all[i])));
        printf("kind %u, managed %u, same %d %d\n", kind, managed, device == address_of(all[i]), host == all[i]);
    }
    CHECK(cuMemHostUnregister(own));
    CUdeviceptr device;
    SHOW(cuMemHostGetDevicePointer(&device, own, 0));
    SHOW(cuMemHostGetDevicePointer(&device, memory, 1));
    CHECK(cuMemFreeHost(memory));
    SHOW(cuMemHostGetDevicePointer(&device, memory, 0));
}

int main(void) {
    CUcontext context = begin();
    CUmodule module = managed_module();
    add_each = function_of(module, "add_each");
    walk = function_of(module, "walk");
    CHECK(cuStreamCreate(&stream, 0));
    flags();
    registered();
    neighbours();
    hidden();
    beside();
    fills_and_copies();
    all_have_ended();
    graphs();
    waits();
    attributes();
    // It is the program's when the context is gone.
    unsigned *words, n = 10000, value = 2;
    CHECK(cuMemHostAlloc((void **)&words, n * sizeof *words, CU_MEMHOSTALLOC_PORTABLE));
    memset(words, 0, n * sizeof *words);
    CUdeviceptr address = address_of(words);
    CHECK(LAUNCH(add_each, (n + 127) / 128, 128, stream, &address, &n, &value));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuStreamDestroy(stream));
    if (getenv("GTRACE_REMOTE")) {
        CHECK(cuCtxDestroy(context));
        for (unsigned i = 0; i < n; i++)
            REQUIRE(words[i] == 2, "word %u without a context is %u", i, words[i]);
        words[0] = 1;
        return 0;
    }
    CHECK(cuCtxDestroy(context));
    return 0;
}
