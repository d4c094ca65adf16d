// Page-locked memory that several threads use at the same moment, or that the program uses in ways that are easily got wrong:
// the argument says which. Each part ends by itself, or a hang is the end of the program after a while.
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"
#include "graphs.h"
#include "managed.h"

enum { WORDS = 1000, PAGE = 4096, PATIENCE = 100 };

static CUcontext context;
static CUfunction add_each;
static pthread_barrier_t barrier;
static atomic_int done;

static void add(CUstream stream, const void *words, unsigned count, unsigned value) {
    CUdeviceptr address = address_of(words);
    CHECK(LAUNCH(add_each, (count + 63) / 64, 64, stream, &address, &count, &value));
}

static CUstream stream_of(unsigned flags) {
    CUstream stream;
    CHECK(cuStreamCreate(&stream, flags));
    return stream;
}

// A launch has memory mapped while another thread copies from it and to it.
enum { COPY_ROUNDS = 48, LARGE = 1 << 18 };
static unsigned *memory;

static void *map_it(void *unused) {
    CHECK(cuCtxSetCurrent(context));
    CUstream stream = stream_of(CU_STREAM_NON_BLOCKING);
    for (int i = 0; i < COPY_ROUNDS; i++) {
        pthread_barrier_wait(&barrier);
        add(stream, memory, WORDS, 1);
        CHECK(cuStreamSynchronize(stream));
        for (unsigned at = 0; at < WORDS; at++)
            REQUIRE(memory[at] == at + 1, "word %u beside copies is %u", at, memory[at]);
        pthread_barrier_wait(&barrier);
    }
    CHECK(cuStreamDestroy(stream));
    return unused;
}

static void copy(int how, CUdeviceptr device, unsigned *words, CUstream stream) {
    size_t bytes = sizeof *words * LARGE;
    CUDA_MEMCPY2D rows = {.width = bytes / 64, .height = 64, .source_pitch = bytes / 64, .target_pitch = bytes / 64};
    rows.source_kind = how % 2 ? 2 : 1;
    rows.target_kind = how % 2 ? 1 : 2;
    rows.source_host = rows.target_host = words;
    rows.source_device = rows.target_device = device;
    switch (how) {
    case 0:
        CHECK(cuMemcpyHtoDAsync(device, words, bytes, stream));
        break;
    case 1:
        CHECK(cuMemcpyDtoHAsync(words, device, bytes, stream));
        break;
    case 2:
        CHECK(cuMemcpyHtoD(device, words, bytes));
        break;
    case 3:
        CHECK(cuMemcpyDtoH(words, device, bytes));
        break;
    case 4:
    case 5:
        CHECK(cuMemcpy2DAsync(&rows, stream));
        break;
    case 6:
        CHECK(cuMemcpy(device, address_of(words), bytes));
        break;
    default:
        CHECK(cuMemcpy(address_of(words), device, bytes));
    }
}

static void copies(void) {
    pthread_t other;
    static unsigned own[LARGE];
    CUdeviceptr device = allocate(sizeof own);
    CUstream stream = stream_of(CU_STREAM_NON_BLOCKING);
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&other, NULL, map_it, NULL);
    for (int i = 0; i < COPY_ROUNDS; i++) {
        int to_host = i % 2;
        CHECK(cuMemHostAlloc((void **)&memory, sizeof *memory * 2 * LARGE, 0));
        for (unsigned at = 0; at < 2 * LARGE; at++)
            memory[at] = at;
        for (unsigned at = 0; at < LARGE; at++)
            own[at] = to_host ? at + (unsigned)i : 7;
        CHECK(cuMemcpyHtoD(device, own, sizeof own));
        pthread_barrier_wait(&barrier);
        copy(i % 8, device, memory + LARGE, stream);
        CHECK(cuStreamSynchronize(stream));
        for (unsigned at = 0; to_host && at < LARGE; at++)
            REQUIRE(memory[LARGE + at] == at + (unsigned)i, "copy %d brought %u to %u", i % 8, memory[LARGE + at], at);
        CHECK(cuMemcpyDtoH(own, device, sizeof own));
        for (unsigned at = 0; !to_host && at < LARGE; at++)
            REQUIRE(own[at] == LARGE + at, "copy %d took %u from %u", i % 8, own[at], at);
        pthread_barrier_wait(&barrier);
        CHECK(cuMemFreeHost(memory));
    }
    pthread_join(other, NULL);
    CHECK(cuMemFree(device));
    CHECK(cuStreamDestroy(stream));
    printf("%d copies\n", COPY_ROUNDS);
}

// A function of the program writes memory that what follows it in its stream reads, while other threads launch and copy.
enum { FUNCTION_ROUNDS = 150, PAGES = 64, OTHERS = 2 };
static unsigned *shared_words;

static void write_pages(void *value) {
    for (unsigned page = 0; page < PAGES; page++) {
        unsigned *word = shared_words + page * (PAGE / sizeof *word);
        *word += (unsigned)(uintptr_t)value;
    }
}

// Takes what others have changed with each launch, behind large copies.
static void *launch_others(void *data) {
    CHECK(cuCtxSetCurrent(context));
    int synchronous = data != NULL;
    CUstream stream = stream_of(CU_STREAM_NON_BLOCKING);
    size_t bytes = 4 << 20;
    char *own = calloc(1, bytes);
    CUdeviceptr device = allocate(bytes);
    while (!done) {
        CUdeviceptr address = device;
        unsigned count = 1, value = 1;
        if (synchronous)
            CHECK(cuMemcpyHtoD(device, own, bytes));
        else
            CHECK(cuMemcpyHtoDAsync(device, own, bytes, stream));
        CHECK(LAUNCH(add_each, 1, 64, stream, &address, &count, &value));
        CHECK(cuStreamSynchronize(stream));
    }
    CHECK(cuMemFree(device));
    CHECK(cuStreamDestroy(stream));
    free(own);
    return NULL;
}

static void functions(void) {
    pthread_t others[OTHERS];
    size_t bytes = PAGES * PAGE, step = PAGE / sizeof *shared_words;
    CUstream stream = stream_of(0);
    unsigned *seen = malloc(bytes), sum = 0;
    CHECK(cuMemHostAlloc((void **)&shared_words, bytes, 0));
    memset(shared_words, 0, bytes);
    add(stream, shared_words, 1, 0);
    CHECK(cuStreamSynchronize(stream));
    CUdeviceptr copied = allocate(bytes);
    done = 0;
    for (intptr_t i = 0; i < OTHERS; i++)
        pthread_create(&others[i], NULL, launch_others, i ? &done : NULL);
    for (unsigned i = 1; i <= FUNCTION_ROUNDS; i++) {
        CHECK(cuLaunchHostFunc(stream, write_pages, (void *)(uintptr_t)i));
        CHECK(cuMemcpyDtoDAsync(copied, address_of(shared_words), bytes, stream));
        add(stream, shared_words, PAGES * (unsigned)step, 1);
        CHECK(cuMemcpyDtoHAsync(seen, copied, bytes, stream));
        CHECK(cuStreamSynchronize(stream));
        sum += i;
        for (unsigned at = 0; at < PAGES * step; at++) {
            unsigned wanted = i - 1 + (at % step ? 0 : sum);
            REQUIRE(seen[at] == wanted, "word %u behind function %u is %u, not %u", at, i, seen[at], wanted);
        }
    }
    done = 1;
    for (int i = 0; i < OTHERS; i++)
        pthread_join(others[i], NULL);
    CHECK(cuMemFree(copied));
    CHECK(cuMemFreeHost(shared_words));
    CHECK(cuStreamDestroy(stream));
    free(seen);
    printf("%d functions\n", FUNCTION_ROUNDS);
}

// A graph copies memory that gets to its kernels only after the copy was captured, or added.
static void launch_and_check(CUgraphExec exec, CUstream stream, CUdeviceptr device, const unsigned *words, const char *how) {
    static unsigned own[WORDS];
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < WORDS; i++)
            own[i] = i + round;
        CHECK(cuMemcpyHtoD(device, own, sizeof own));
        CHECK(cuGraphLaunch(exec, stream));
        CHECK(cuStreamSynchronize(stream));
        for (unsigned i = 0; i < WORDS; i++)
            REQUIRE(words[i] == i + round + 3, "%s: word %u is %u in round %u", how, i, words[i], round);
        CHECK(cuMemcpyDtoH(own, device, sizeof own));
        for (unsigned i = 0; i < WORDS; i++)
            REQUIRE(own[i] == i + round + 3, "%s: word %u came back as %u in round %u", how, i, own[i], round);
    }
}

static void graphs_of(size_t bytes, const char *how) {
    CUstream stream = stream_of(0);
    CUdeviceptr device = allocate(4 * WORDS);
    for (int by_hand = 0; by_hand < 3; by_hand++) {
        unsigned *words, count = WORDS, value = 3;
        CHECK(cuMemHostAlloc((void **)&words, bytes, 0));
        memset(words, 0, bytes);
        CUdeviceptr address = address_of(words);
        void *arguments[] = {&address, &count, &value};
        CUgraph graph;
        if (by_hand == 0) {
            CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
            CHECK(cuMemcpyDtoHAsync(words, device, 4 * WORDS, stream));
            CHECK(LAUNCH(add_each, 16, 64, stream, &address, &count, &value));
            CHECK(cuMemcpyHtoDAsync(device, words, 4 * WORDS, stream));
            CHECK(cuStreamEndCapture(stream, &graph));
        } else {
            CUgraphNode out, kernel, back, child;
            CUDA_MEMCPY3D to = {.source_kind = 2, .source_device = device, .target_kind = 1, .target_host = words};
            to.width = 4 * WORDS;
            to.height = to.depth = 1;
            CUDA_MEMCPY3D from = {.source_kind = 1, .source_host = words, .target_kind = 2, .target_device = device};
            from.width = 4 * WORDS;
            from.height = from.depth = 1;
            CUgraph inner = new_graph();
            CHECK(cuGraphAddMemcpyNode(&out, inner, NULL, 0, &to, context));
            CHECK(cuGraphAddMemcpyNode(&back, inner, NULL, 0, &from, context));
            CUDA_KERNEL_NODE_PARAMS params = kernel_node(add_each, 16, 64, arguments);
            CHECK(cuGraphAddKernelNode(&kernel, inner, &out, 1, &params));
            CHECK(cuGraphAddDependencies(inner, &kernel, &back, 1));
            graph = inner;
            if (by_hand == 2) {
                CHECK(cuGraphCreate(&graph, 0));
                CHECK(cuGraphAddChildGraphNode(&child, graph, NULL, 0, inner));
                CHECK(cuGraphDestroy(inner));
            }
        }
        CUgraphExec exec = instantiated(graph);
        CHECK(cuGraphDestroy(graph));
        launch_and_check(exec, stream, device, words, how);
        CHECK(cuGraphExecDestroy(exec));
        CHECK(cuMemFreeHost(words));
    }
    CHECK(cuMemFree(device));
    CHECK(cuStreamDestroy(stream));
}

static void graphs(void) {
    graphs_of(4 * WORDS, "small");
    graphs_of(1 << 20, "large");
    printf("graphs\n");
}

// Pages from which malloc has other memory too.
enum { CHUNK = 200, CHUNKS = 4000, HEAP_ROUNDS = 30 };

static void *use_heap(void *how) {
    CHECK(cuCtxSetCurrent(context));
    CUstream stream = stream_of(CU_STREAM_NON_BLOCKING);
    static char *all[2][CHUNKS];
    char **chunks = all[how != NULL];
    for (int i = 0; i < CHUNKS; i++)
        memset(chunks[i] = malloc(CHUNK), 7, CHUNK);
    // Where several of them lie, and not what is left beside other memory.
    uintptr_t first = 0;
    for (int i = 10; i + 60 < CHUNKS && !first; i++)
        if ((uintptr_t)chunks[i + 60] - (uintptr_t)chunks[i] < (uintptr_t)60 * 2 * CHUNK)
            first = (uintptr_t)chunks[i] & ~(uintptr_t)(PAGE - 1);
    REQUIRE(first, "malloc gives no memory in a row");
    uintptr_t end = first + (64 << 10);
    // Every second one is given back, so that others take its place.
    for (int i = 0; i < CHUNKS; i += 2) {
        free(chunks[i]);
        chunks[i] = NULL;
    }
    unsigned *words = NULL;
    for (int i = 11; i < CHUNKS && !words; i += 2)
        if ((uintptr_t)chunks[i] > first + PAGE && (uintptr_t)chunks[i] + CHUNK < end)
            words = (unsigned *)(void *)chunks[i];
    REQUIRE(words, "no memory of the heap where it is looked for");
    CHECK(cuMemHostRegister((void *)first, end - first, 0));
    for (unsigned round = 1; round <= HEAP_ROUNDS; round++) {
        add(stream, words, CHUNK / 4, 1);
        for (int i = 0; i < CHUNKS; i += 2)
            chunks[i] = realloc(chunks[i], 1 + ((size_t)i + round) % CHUNK);
        CHECK(cuStreamSynchronize(stream));
        for (unsigned i = 0; i < CHUNK / 4; i++)
            REQUIRE(words[i] == 0x07070707 + round, "word %u of the heap is %x in round %u", i, words[i], round);
    }
    CHECK(cuMemHostUnregister((void *)first));
    for (int i = 0; i < CHUNKS; i++)
        free(chunks[i]);
    CHECK(cuStreamDestroy(stream));
    return NULL;
}

static void heap(void) {
    use_heap(NULL);
    by_a_thread(use_heap, &done);
    printf("%d rounds on the heap\n", HEAP_ROUNDS);
}

// fork while kernels are launched, while a function of the program runs, and while a stream is captured.
enum { FORKS = 20, FORK_WORDS = 20000 };
static atomic_int launched;

static void *launch_on(void *data) {
    unsigned *words = data;
    CHECK(cuCtxSetCurrent(context));
    CUstream stream = stream_of(CU_STREAM_NON_BLOCKING);
    while (!done) {
        add(stream, words, FORK_WORDS, 1);
        launched++;
        if (launched % 4 == 0) {
            CHECK(cuStreamSynchronize(stream));
            unsigned now = (unsigned)launched;
            REQUIRE(words[0] == now && words[FORK_WORDS - 1] == now, "%u launches wrote %u and %u", now, words[0],
                    words[FORK_WORDS - 1]);
        }
    }
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuStreamDestroy(stream));
    return NULL;
}

static void wait_for_end(void *unused) {
    (void)unused;
    while (!done)
        usleep(1000);
    *shared_words += 1;
}

static void fork_once(const unsigned *words, unsigned wanted) {
    pid_t child = fork();
    if (child == 0)
        _exit(words && (words[0] != wanted || words[FORK_WORDS - 1] != wanted));
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child && status == 0, "a child ended with %d", status);
}

static unsigned *registered(void) {
    size_t bytes = sizeof(unsigned) * FORK_WORDS;
    unsigned *words = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(cuMemHostRegister(words, bytes, 0));
    return words;
}

static void unregister(unsigned *words) {
    CHECK(cuMemHostUnregister(words));
    munmap(words, sizeof(unsigned) * FORK_WORDS);
}

static void forks(void) {
    pthread_t other;
    unsigned *words = registered();
    done = launched = 0;
    pthread_create(&other, NULL, launch_on, words);
    for (int i = 0; i < FORKS; i++) {
        int before = launched;
        while (launched < before + 3)
            usleep(100);
        fork_once(NULL, 0);
    }
    done = 1;
    pthread_join(other, NULL);
    for (unsigned i = 0; i < FORK_WORDS; i++)
        REQUIRE(words[i] == (unsigned)launched, "word %u is %u after %d launches", i, words[i], launched);
    unregister(words);

    // What the program has waited for is there for a child, whatever else is under way.
    CUstream stream = stream_of(CU_STREAM_NON_BLOCKING), busy = stream_of(CU_STREAM_NON_BLOCKING);
    words = registered();
    shared_words = registered();
    add(stream, words, FORK_WORDS, 5);
    add(stream, shared_words, FORK_WORDS, 5);
    CHECK(cuStreamSynchronize(stream));
    done = 0;
    CHECK(cuLaunchHostFunc(busy, wait_for_end, NULL));
    fork_once(words, 5);
    done = 1;
    CHECK(cuStreamSynchronize(busy));
    REQUIRE(*shared_words == 6, "the function wrote %u", *shared_words);

    CUgraph graph;
    add(stream, words, FORK_WORDS, 1);
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    add(stream, words, FORK_WORDS, 4);
    fork_once(words, 6);
    CHECK(cuStreamEndCapture(stream, &graph));
    CUgraphExec exec = instantiated(graph);
    CHECK(cuGraphLaunch(exec, stream));
    fork_once(NULL, 0);
    CHECK(cuStreamSynchronize(stream));
    fork_once(words, 10);
    destroy_both(exec, graph);
    unregister(words);
    unregister(shared_words);
    CHECK(cuStreamDestroy(stream));
    CHECK(cuStreamDestroy(busy));
    printf("%d forks beside launches\n", FORKS);
}

// Registered memory that nobody has touched before the device uses it.
static void untouched(void) {
    for (int i = 0; i < 4; i++) {
        unsigned *words = registered();
        add(0, words, FORK_WORDS, 1);
        CHECK(cuCtxSynchronize());
        for (unsigned at = 0; at < FORK_WORDS; at++)
            REQUIRE(words[at] == 1, "word %u is %u", at, words[at]);
        unregister(words);
    }
    printf("untouched\n");
}

// Registered memory that is unmapped, or whose pages are given back, without cuMemHostUnregister.
static void unmapped(void) {
    size_t bytes = sizeof(unsigned) * FORK_WORDS;
    for (int again = 0; again < 2; again++) {
        unsigned *words = registered();
        add(0, words, FORK_WORDS, 1);
        CHECK(cuCtxSynchronize());
        REQUIRE(words[5] == 1, "word 5 is %u", words[5]);
        words[7] = 8;
        munmap(words, bytes);
        unsigned *other = words;
        if (again) {
            other = mmap(words, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
            REQUIRE(other == words, "the place is taken");
            for (unsigned i = 0; i < FORK_WORDS; i++)
                other[i] = i;
        }
        CUdeviceptr device = allocate(4 * WORDS);
        unsigned count = WORDS, value = 1;
        CHECK(LAUNCH(add_each, 16, 64, NULL, &device, &count, &value));
        CHECK(cuCtxSynchronize());
        for (unsigned i = 0; again && i < FORK_WORDS; i++)
            REQUIRE(other[i] == i, "word %u of what is mapped there now is %u", i, other[i]);
        CHECK(cuMemFree(device));
        CHECK(cuMemHostUnregister(words));
        for (unsigned i = 0; again && i < FORK_WORDS; i++)
            REQUIRE(other[i] == i, "word %u of it is %u afterwards", i, other[i]);
        if (again)
            munmap(other, bytes);
    }
    unsigned *words = registered();
    add(0, words, FORK_WORDS, 1);
    CHECK(cuCtxSynchronize());
    REQUIRE(words[5] == 1, "word 5 is %u", words[5]);
    words[5] = 9;
    madvise(words, bytes, MADV_DONTNEED);
    unsigned read = words[5];
    words[6] = 2;
    CHECK(cuCtxSynchronize());
    add(0, words, FORK_WORDS, 1);
    CHECK(cuCtxSynchronize());
    REQUIRE(read <= 9 && words[6] == 3, "after its pages were given back: %u, %u", read, words[6]);
    unregister(words);
    printf("unmapped\n");
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"copies", copies}, {"functions", functions}, {"graphs", graphs},
                 {"heap", heap},     {"forks", forks},         {"unmapped", unmapped},
                 {"untouched", untouched}};
    alarm(PATIENCE);
    context = begin();
    CUmodule module = managed_module();
    add_each = function_of(module, "add_each");
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        if (count > 1 && strcmp(arguments[1], parts[i].name) == 0)
            parts[i].run();
    CHECK(cuCtxDestroy(context));
    return 0;
}
