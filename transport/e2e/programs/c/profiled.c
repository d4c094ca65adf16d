// What a profiler asks of CUPTI: records of kernels, copies, fills and calls, with their times, sizes and correlations.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"
#include "cupti.h"

enum { N = 512, MOST = 1 << 17, ROUNDS = 27, LAUNCHES = 2500 };
// The server's clock is known to half of a round trip.
static const uint64_t CLOCK_OFF = 1000000000;

typedef struct {
    uint32_t kind, correlation, stream;
    uint64_t start, end, bytes, id;
    const char *name;
    int32_t grid, block;
    uint8_t copy;
} Seen;

static Seen seen[MOST];
static size_t count, size = 1 << 16, most;
static int given, taken;

static void request(uint8_t **buffer, size_t *length, size_t *records) {
    given++;
    *buffer = malloc(size);
    *length = size;
    *records = most;
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t length, size_t valid) {
    (void)context, (void)stream;
    taken++;
    REQUIRE(length == size && valid <= size, "%zu of %zu bytes", valid, length);
    uint8_t *record = NULL;
    int result;
    size_t here = 0;
    while ((result = cuptiActivityGetNextRecord(buffer, valid, &record)) == SUCCESS) {
        REQUIRE(count < MOST, "too many records");
        Seen *one = &seen[count++];
        memset(one, 0, sizeof *one);
        memcpy(&one->kind, record, sizeof one->kind);
        here++;
        if (one->kind == KERNEL) {
            const Kernel *it = (const Kernel *)record;
            *one = (Seen){KERNEL, it->correlation, it->stream, it->start, it->end, 0, 0, it->name, it->grid[0], it->block[0], 0};
        } else if (one->kind == MEMCPY) {
            const Copy *it = (const Copy *)record;
            *one = (Seen){MEMCPY, it->correlation, it->stream, it->start, it->end, it->bytes, 0, NULL, 0, 0, it->copy};
        } else if (one->kind == MEMSET) {
            const Set *it = (const Set *)record;
            *one = (Seen){MEMSET, it->correlation, it->stream, it->start, it->end, it->bytes, 0, NULL, 0, 0, 0};
        } else if (one->kind == DRIVER) {
            const Call *it = (const Call *)record;
            *one = (Seen){DRIVER, it->correlation, 0, it->start, it->end, it->function, 0, NULL, 0, 0, 0};
            REQUIRE(it->process == (uint32_t)getpid(), "process %u", it->process);
        } else if (one->kind == SYNCHRONIZATION) {
            const Wait *it = (const Wait *)record;
            *one = (Seen){SYNCHRONIZATION, it->correlation, it->stream, it->start, it->end, it->what, 0, NULL, 0, 0, 0};
        } else if (one->kind == GRAPH) {
            const Launched *it = (const Launched *)record;
            *one = (Seen){GRAPH, it->correlation, it->stream, it->start, it->end, 0, it->graph, NULL, 0, 0, 0};
        } else {
            REQUIRE(one->kind == EXTERNAL, "kind %u", one->kind);
            const External *it = (const External *)record;
            *one = (Seen){EXTERNAL, it->correlation, 0, 0, 0, 0, it->id, NULL, 0, 0, 0};
        }
    }
    REQUIRE(result == END, "result %d", result);
    REQUIRE(most == 0 || here <= most, "%zu records", here);
    free(buffer);
}

#define DO(call)                                                                                                       \
    do {                                                                                                               \
        int result_ = (call);                                                                                          \
        REQUIRE(result_ == SUCCESS, "result %d", result_);                                                             \
    } while (0)

static size_t of_kind(uint32_t kind) {
    size_t found = 0;
    for (size_t at = 0; at < count; at++)
        found += seen[at].kind == kind;
    return found;
}

static const Seen *nth(uint32_t kind, size_t wanted) {
    for (size_t at = 0; at < count; at++)
        if (seen[at].kind == kind && wanted-- == 0)
            return &seen[at];
    REQUIRE(0, "no record of kind %u", kind);
    return NULL;
}

static const Seen *correlated(uint32_t kind, uint32_t correlation) {
    for (size_t at = 0; at < count; at++)
        if (seen[at].kind == kind && seen[at].correlation == correlation)
            return &seen[at];
    return NULL;
}

static void kinds(int (*change)(uint32_t)) {
    const uint32_t all[] = {MEMCPY, MEMSET, KERNEL, DRIVER, EXTERNAL};
    for (size_t at = 0; at < sizeof all / sizeof *all; at++)
        DO(change(all[at]));
}

static CUcontext context;
static CUfunction saxpy;
static CUdeviceptr from, to;

static void work(CUstream stream, float *host) {
    float alpha = 2;
    unsigned n = N;
    CHECK(cuMemsetD32Async(to, 0, N, stream));
    CHECK(LAUNCH(saxpy, 2, 256, stream, &alpha, &from, &to, &n));
    CHECK(cuMemcpyDtoHAsync(host, to, N * sizeof *host, stream));
}

// Callbacks around launches: what they are given is the call's own.
static struct {
    int began, ended;
    uint32_t correlation;
} calling;

static void called(void *user, uint32_t domain, uint32_t function, const Calling *call) {
    const struct {
        CUfunction kernel;
        unsigned grid[3], block[3], shared;
        CUstream stream;
    } *arguments = call->arguments;
    REQUIRE(user == &calling && domain == DRIVER_CALLS && function == LAUNCH_KERNEL, "callback %u of %u", function, domain);
    REQUIRE(strcmp(call->function, "cuLaunchKernel") == 0 && call->context == context, "%s", call->function);
    REQUIRE(arguments->kernel == saxpy && arguments->grid[0] == 2 && arguments->block[0] == 256, "%u", arguments->grid[0]);
    if (call->site == EXIT) {
        REQUIRE(call->symbol && strcmp(call->symbol, "saxpy") == 0, "%s", call->symbol ? call->symbol : "no kernel");
        REQUIRE(*call->data == 99 && *call->result == 0 && call->correlation == calling.correlation, "%lu", *call->data);
        calling.ended++;
    } else {
        *call->data = 99;
        calling.correlation = call->correlation;
        calling.began++;
    }
}

static void *of_its_own(void *unused) {
    (void)unused;
    float host[N];
    CHECK(cuCtxSetCurrent(context));
    CUstream stream = new_stream();
    work(stream, host);
    CHECK(cuStreamSynchronize(stream));
    float alpha = 1;
    unsigned n = N;
    // Nobody in this thread waits for it.
    CHECK(LAUNCH(saxpy, 1, 32, stream, &alpha, &from, &to, &n));
    return NULL;
}

static void *wait_for(void *stream) {
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamSynchronize(stream));
    return NULL;
}

static void *flush(void *unused) {
    (void)unused;
    DO(cuptiActivityFlushAll(0));
    return NULL;
}

int main(void) {
    void *library = dlopen("libcupti.so.13", RTLD_NOW);
    REQUIRE(library, "%s", dlerror());
#define FIND(name, arguments) REQUIRE((name = dlsym(library, #name)), "no " #name);
    CUPTI(FIND)
    REQUIRE(dlopen("libcupti.so.12", RTLD_NOW) == library, "another library");
    uint32_t version = 0;
    DO(cuptiGetVersion(&version));
    REQUIRE(version >= 130000, "version %u", version);
    const char *text;
    DO(cuptiGetResultString(NOT_SUPPORTED, &text));
    printf("%s\n", text);
    REQUIRE(cuptiProfilerInitialize(NULL) == NOT_SUPPORTED, "counters");
    REQUIRE(cuptiActivityEnable(999) == INVALID_KIND, "a kind that is none");
    REQUIRE(cuptiActivityFlushAll(0) == INVALID_OPERATION, "no buffers");
    REQUIRE(cuptiActivityRegisterCallbacks(NULL, complete) == INVALID_PARAMETER, "no function");
    DO(cuptiActivityRegisterCallbacks(request, complete));

    context = begin();
    saxpy = function_of(module_of("vector_add"), "saxpy");
    float host[N] = {0};
    from = upload(host, sizeof host);
    to = allocate(sizeof host);
    CUstream stream = new_stream();
    DO(cuptiActivityFlushAll(0));
    REQUIRE(given == 0, "a buffer for nothing");

    uint64_t before, after, id = 0;
    kinds(cuptiActivityEnable);
    DO(cuptiGetTimestamp(&before));
    DO(cuptiActivityPushExternalCorrelationId(3, 77));
    work(stream, host);
    CHECK(cuStreamSynchronize(stream));
    DO(cuptiActivityPopExternalCorrelationId(3, &id));
    REQUIRE(id == 77 && cuptiActivityPopExternalCorrelationId(3, &id) == EMPTY, "id %lu", id);
    DO(cuptiActivityFlushAll(0));
    DO(cuptiGetTimestamp(&after));
    printf("kernels %zu, copies %zu, fills %zu, calls %zu\n", of_kind(KERNEL), of_kind(MEMCPY), of_kind(MEMSET), of_kind(DRIVER));
    const Seen *kernel = nth(KERNEL, 0), *copy = nth(MEMCPY, 0), *fill = nth(MEMSET, 0);
    printf("%s, %d x %d; %lu bytes copied, kind %d; %lu set\n", kernel->name, kernel->grid, kernel->block, copy->bytes, copy->copy, fill->bytes);
    REQUIRE(kernel->stream == copy->stream && copy->stream == fill->stream, "streams");
    REQUIRE(fill->end <= kernel->start && kernel->end <= copy->start, "the order of a stream");
    for (size_t at = 0; at < count; at++) {
        const Seen *one = &seen[at];
        if (one->kind == EXTERNAL) {
            REQUIRE(one->id == 77 && correlated(DRIVER, one->correlation), "id %lu", one->id);
            continue;
        }
        REQUIRE(before <= one->start && one->start <= one->end && one->end <= after + CLOCK_OFF, "kind %u: %lu to %lu, not within %lu and %lu",
                one->kind, one->start, one->end, before, after);
        const Seen *call = correlated(DRIVER, one->correlation);
        REQUIRE(call && call->start <= one->start, "kind %u begins before its call", one->kind);
        REQUIRE(correlated(EXTERNAL, one->correlation), "kind %u belongs to nothing", one->kind);
    }

    // Another thread, which has ended and did not wait.
    count = 0;
    by_a_thread(of_its_own, NULL);
    CHECK(cuCtxSynchronize());
    DO(cuptiActivityFlushAll(0));
    printf("of a thread: kernels %zu, copies %zu, fills %zu\n", of_kind(KERNEL), of_kind(MEMCPY), of_kind(MEMSET));

    // Buffers for one record, and for none.
    size_t dropped = 1;
    count = 0, most = 1, given = taken = 0;
    work(stream, host);
    CHECK(cuStreamSynchronize(stream));
    DO(cuptiActivityFlushAll(0));
    REQUIRE(given == taken && (size_t)given == count, "%d given, %d taken, %zu records", given, taken, count);
    DO(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
    printf("one in each buffer: %zu of %d, dropped %zu\n", count, given, dropped);
    count = 0, most = 0, size = 16;
    work(stream, host);
    CHECK(cuStreamSynchronize(stream));
    DO(cuptiActivityFlushAll(0));
    DO(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
    printf("no room: %zu, dropped %zu\n", count, dropped);
    size = 1 << 16;

    // Disabled in the middle: what was given the GPU before is still reported, also to a thread that does nothing else.
    count = 0;
    work(stream, host);
    kinds(cuptiActivityDisable);
    work(stream, host);
    CHECK(cuStreamSynchronize(stream));
    by_a_thread(flush, NULL);
    printf("disabled in the middle: kernels %zu, copies %zu, fills %zu\n", of_kind(KERNEL), of_kind(MEMCPY), of_kind(MEMSET));

    // Launches by a thread none of whose calls is answered, as another one waits for them: more than anybody remembers at once.
    float alpha = 2;
    unsigned n = N;
    count = 0;
    DO(cuptiActivityEnable(KERNEL));
    for (int round = 0; round < ROUNDS; round++) {
        for (int launch = 0; launch < LAUNCHES; launch++)
            CHECK(LAUNCH(saxpy, 1, 32, stream, &alpha, &from, &to, &n));
        by_a_thread(wait_for, stream);
    }
    DO(cuptiActivityFlushAll(0));
    DO(cuptiActivityDisable(KERNEL));
    printf("many launches: kernels %zu of %d\n", of_kind(KERNEL), ROUNDS * LAUNCHES);

    // What is captured is no work; the launch of its graph is.
    CUgraph graph;
    count = 0;
    kinds(cuptiActivityEnable);
    DO(cuptiActivityEnable(GRAPH));
    DO(cuptiActivityEnable(SYNCHRONIZATION));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    work(stream, host);
    DO(cuptiActivityFlushAll(0));
    CHECK(cuStreamEndCapture(stream, &graph));
    CUgraphExec exec = instantiated(graph);
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
    DO(cuptiActivityFlushAll(0));
    printf("captured: kernels %zu, copies %zu, fills %zu, graphs %zu, waits %zu\n", of_kind(KERNEL), of_kind(MEMCPY), of_kind(MEMSET),
           of_kind(GRAPH), of_kind(SYNCHRONIZATION));
    const Seen *launched = nth(GRAPH, 0), *wait = nth(SYNCHRONIZATION, 0);
    REQUIRE(launched->stream == wait->stream && launched->start < launched->end, "stream %u", launched->stream);
    REQUIRE(wait->bytes == 3, "a wait of kind %lu", wait->bytes);
    // Profilers give up altogether if one of these fails.
    CUgraphNode nodes[3];
    size_t found = 3;
    uint32_t of_graph = 0, of_instance = 0;
    uint64_t of_nodes[2] = {0};
    CHECK(cuGraphGetNodes(graph, nodes, &found));
    DO(cuptiGetGraphNodeId(nodes[0], &of_nodes[0]));
    DO(cuptiGetGraphNodeId(nodes[1], &of_nodes[1]));
    DO(cuptiGetGraphId(graph, &of_graph));
    DO(cuptiGetGraphExecId(exec, &of_instance));
    REQUIRE(of_graph != of_instance && of_nodes[0] != of_nodes[1], "graph %u, instance %u", of_graph, of_instance);
    REQUIRE(launched->id == of_instance, "instance %u, and %lu in the record", of_instance, launched->id);
    DO(cuptiActivityFlushPeriod(100));
    DO(cuptiActivityEnable(MARKER));
    DO(cuptiActivityDisable(MARKER));
    DO(cuptiActivityDisable(GRAPH));
    DO(cuptiActivityDisable(SYNCHRONIZATION));
    kinds(cuptiActivityDisable);
    destroy_both(exec, graph);

    void *subscriber, *second;
    DO(cuptiSubscribe(&subscriber, called, &calling));
    REQUIRE(cuptiSubscribe(&second, called, NULL) != SUCCESS, "two subscribers");
    DO(cuptiEnableCallback(1, subscriber, DRIVER_CALLS, LAUNCH_KERNEL));
    DO(cuptiGetCallbackName(DRIVER_CALLS, LAUNCH_KERNEL, &text));
    work(stream, host);
    DO(cuptiUnsubscribe(subscriber));
    work(stream, host);
    CHECK(cuStreamSynchronize(stream));
    printf("%s: %d began, %d ended\n", text, calling.began, calling.ended);

    fflush(stdout);
    count = 0;
    kinds(cuptiActivityEnable);
    pid_t child = fork();
    if (child == 0) {
        count = 0;
        _exit(cuptiActivityFlushAll(0) == INVALID_OPERATION && count == 0 ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    printf("the child: %d\n", status);
    work(stream, host);
    DO(cuptiFinalize());
    CHECK(cuCtxSynchronize());
    return 0;
}
