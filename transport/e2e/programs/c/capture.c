// Stream capture: what is captured is not done, and is done at each launch; forks and joins; copies of host memory,
// which are made with what is there at each launch; what a capture refuses.
#include "common.h"
#define FLOATS 1000
#include "floats.h"

static CUstream other;
static CUfunction add;
static CUdeviceptr a, b, c, d;
static float *pinned, host[COUNT], result[COUNT];

// The streams wait for nothing in the default stream, and a copy of so little pageable memory may still be under way
// when it has returned.
static void upload_to(CUdeviceptr to) {
    CHECK(cuMemcpyHtoD(to, host, BYTES));
    CHECK(cuCtxSynchronize());
}

static void launch_add(CUdeviceptr x, CUdeviceptr y, CUdeviceptr z, CUstream in) {
    unsigned n = COUNT;
    CHECK(LAUNCH(add, 4, 256, in, &x, &y, &z, &n));
}

static int status_of(CUstream of) {
    int status = -1;
    CHECK(cuStreamIsCapturing(of, &status));
    return status;
}

// As PyTorch captures: kernels and fills of one stream.
static void plain(void) {
    CUgraph graph, told = NULL;
    uint64_t id = 0;
    int status = -1;
    const CUgraphNode *nodes = NULL;
    size_t count = 9;
    fill(host, 1);
    upload_to(a);
    upload_to(b);
    CHECK(cuMemsetD8Async(c, 0xee, BYTES, stream));
    CHECK(cuStreamSynchronize(stream));
    printf("capturing before: %d\n", status_of(stream));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    printf("capturing: %d, another stream: %d\n", status_of(stream), status_of(other));
    CHECK(cuStreamGetCaptureInfo(stream, &status, &id, &told, &nodes, &count));
    REQUIRE(status == 1 && id != 0 && told && count == 0, "status %d, %zu nodes", status, count);
    CHECK(cuMemsetD8Async(c, 0, BYTES, stream));
    launch_add(a, b, c, stream);
    launch_add(c, b, c, stream);
    CHECK(cuStreamGetCaptureInfo(stream, &status, &id, &told, &nodes, &count));
    REQUIRE(count == 1 && nodes[0], "%zu nodes", count);
    int kind = -1;
    CHECK(cuGraphNodeGetType(nodes[0], &kind));
    printf("the last node is of kind %d\n", kind);
    CHECK(cuStreamEndCapture(stream, &graph));
    REQUIRE(graph == told, "the graph is another than was told");
    printf("capturing after: %d\n", status_of(stream));
    unsigned char byte = 0;
    CHECK(cuMemcpyDtoH(&byte, c, 1));
    printf("nothing was done: %02x\n", byte);
    count = 0;
    CHECK(cuGraphGetNodes(graph, NULL, &count));
    printf("nodes: %zu\n", count);
    CUgraphExec exec = instantiated(graph);
    CHECK(cuGraphDestroy(graph));
    for (int i = 0; i < 20; i++)
        CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoH(result, c, BYTES));
    require(result, 3, "launched");
    fill(host, 10);
    upload_to(a);
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuMemcpyDtoHAsync(result, c, BYTES, stream));
    CHECK(cuStreamSynchronize(stream));
    require(result, 12, "launched again with other numbers");
    CHECK(cuGraphExecDestroy(exec));
}

// Copies of pageable and of page-locked memory, to and fro, of several dimensions.
static void copies(void) {
    CUgraph graph;
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(cuMemcpyHtoDAsync(a, host, BYTES, stream));
    CHECK(cuMemcpyHtoDAsync(b, pinned, BYTES, stream));
    launch_add(a, b, c, stream);
    CHECK(cuMemcpyDtoHAsync(pinned + COUNT, c, BYTES, stream));
    CHECK(cuMemcpyDtoHAsync(result, c, BYTES, stream));
    CUDA_MEMCPY2D flat = {.source_kind = 1, .source_host = host, .source_pitch = 40, .target_kind = 2,
                          .target_device = d, .target_pitch = 64, .width = 16, .height = 5};
    CHECK(cuMemcpy2DAsync(&flat, stream));
    CHECK(cuStreamEndCapture(stream, &graph));
    CUgraphExec exec = instantiated(graph);
    for (int round = 1; round <= 3; round++) {
        fill(host, (float)round);
        fill(pinned, 100);
        memset(result, 0, sizeof result);
        memset(pinned + COUNT, 0, BYTES);
        launch(exec);
        require(result, 100 + (float)round, "pageable memory at each launch");
        require(pinned + COUNT, 100 + (float)round, "page-locked memory at each launch");
        float rows[5 * 16];
        CHECK(cuMemcpyDtoH(rows, d, sizeof rows));
        for (int row = 0; row < 5; row++)
            REQUIRE(memcmp(rows + row * 16, host + row * 10, 16) == 0, "row %d", row);
    }
    size_t count = 16;
    CUgraphNode nodes[16];
    CHECK(cuGraphGetNodes(graph, nodes, &count));
    for (size_t i = 0; i < count; i++) {
        int kind;
        CHECK(cuGraphNodeGetType(nodes[i], &kind));
        printf("node %zu is of kind %d", i, kind);
        if (kind == 1) {
            CUDA_MEMCPY3D copy;
            CHECK(cuGraphMemcpyNodeGetParams(nodes[i], &copy));
            printf(": %zu x %zu, from kind %u, to kind %u, host memory as given: %d", copy.width, copy.height,
                   copy.source_kind, copy.target_kind,
                   copy.source_host == host || copy.source_host == pinned || copy.target_host == result ||
                       copy.target_host == pinned + COUNT);
        }
        if (kind == 0) {
            CUDA_KERNEL_NODE_PARAMS launch;
            CHECK(cuGraphKernelNodeGetParams(nodes[i], &launch));
            printf(": %u x %u, n is %u, c is what it was: %d", launch.grid_x, launch.block_x,
                   *(unsigned *)launch.parameters[3], *(CUdeviceptr *)launch.parameters[2] == c);
        }
        printf("\n");
    }
    destroy_both(exec, graph);
}

// A captured node copies something else.
static void changed(void) {
    static float elsewhere[COUNT];
    CUgraph graph;
    CUgraphNode node;
    CUDA_MEMCPY3D copy;
    size_t count = 1;
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemcpyHtoDAsync(a, host, BYTES, stream));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphGetNodes(graph, &node, &count));
    CHECK(cuGraphMemcpyNodeGetParams(node, &copy));
    copy.source_host = pinned;
    CHECK(cuGraphMemcpyNodeSetParams(node, &copy));
    CUgraphExec exec = instantiated(graph);
    fill(host, 1);
    fill(pinned, 2);
    launch(exec);
    CHECK(cuMemcpyDtoH(result, a, BYTES));
    require(result, 2, "a captured copy that was changed");
    destroy_both(exec, graph);

    // In the graph, and then in what was instantiated before.
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemcpyDtoHAsync(result, a, BYTES, stream));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphGetNodes(graph, &node, &count));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuGraphMemcpyNodeGetParams(node, &copy));
    copy.target_host = elsewhere;
    CHECK(cuGraphMemcpyNodeSetParams(node, &copy));
    CHECK(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, context));
    fill(result, 3);
    launch(exec);
    require(elsewhere, 2, "a copy that was changed in both");
    require(result, 3, "where it copied before");
    destroy_both(exec, graph);
}

// One of two nodes that copy the same is made to copy, twice, to memory that the device has by its address: the other
// does what it did.
static void changed_twice(void) {
    CUgraph graph;
    CUgraphNode both[2];
    CUDA_MEMCPY3D copy;
    CUdeviceptr mapped;
    size_t count = 2;
    fill(host, 2);
    upload_to(a);
    memset(result, 0, sizeof result);
    float *shared = host_memory(BYTES, CU_MEMHOSTALLOC_DEVICEMAP);
    CHECK(cuMemHostGetDevicePointer(&mapped, shared, 0));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemcpyDtoHAsync(result, a, BYTES, stream));
    CHECK(cuMemcpyDtoHAsync(result, a, BYTES, stream));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphGetNodes(graph, both, &count));
    CUgraphExec exec = instantiated(graph);
    CHECK(cuGraphMemcpyNodeGetParams(both[0], &copy));
    copy.target_host = shared;
    for (int round = 0; round < 2; round++)
        CHECK(cuGraphExecMemcpyNodeSetParams(exec, both[0], &copy, context));
    launch(exec);
    require(shared, 2, "one of two copies that was changed twice");
    require(result, 2, "the other");
    destroy_both(exec, graph);
    CHECK(cuMemFreeHost(shared));
}

static void fork_and_join(void) {
    CUgraph graph;
    CUevent forked = new_event(CU_EVENT_DISABLE_TIMING), joined = new_event(CU_EVENT_DISABLE_TIMING);
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemsetD8Async(c, 0, BYTES, stream));
    CHECK(cuEventRecord(forked, stream));
    CHECK(cuStreamWaitEvent(other, forked, 0));
    printf("the other stream takes part: %d\n", status_of(other));
    launch_add(a, b, c, stream);
    launch_add(a, a, d, other);
    CHECK(cuEventRecord(joined, other));
    CHECK(cuStreamWaitEvent(stream, joined, 0));
    launch_add(c, d, c, stream);
    CHECK(cuStreamEndCapture(stream, &graph));
    printf("the other stream takes part no more: %d\n", status_of(other));
    CUgraphNode from[16], to[16], nodes[16];
    size_t edges = 16, count = 16;
    CHECK(cuGraphGetEdges(graph, from, to, &edges));
    CHECK(cuGraphGetNodes(graph, nodes, &count));
    printf("%zu nodes, %zu edges\n", count, edges);
    CUgraphExec exec = instantiated(graph);
    fill(host, 1);
    upload_to(a);
    upload_to(b);
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuMemcpyDtoHAsync(result, c, BYTES, stream));
    CHECK(cuStreamSynchronize(stream));
    require(result, 4, "two branches");
    SHOW(cuEventQuery(forked));
    CHECK(cuEventRecord(forked, stream));
    CHECK(cuEventSynchronize(forked));
    destroy_both(exec, graph);
    CHECK(cuEventDestroy(forked));
    CHECK(cuEventDestroy(joined));
}

static int calls;

static void count_call(void *data) {
    calls += *(int *)data;
    for (int i = 0; i < COUNT; i++)
        pinned[i] += 1;
}

// A function between a copy that it reads and one that reads what it wrote.
static void functions(void) {
    CUgraph graph;
    int by = 7;
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemcpyDtoHAsync(pinned, a, BYTES, stream));
    CHECK(cuLaunchHostFunc(stream, count_call, &by));
    CHECK(cuMemcpyHtoDAsync(c, pinned, BYTES, stream));
    CHECK(cuStreamEndCapture(stream, &graph));
    CUgraphExec exec = instantiated(graph);
    for (int round = 1; round <= 3; round++) {
        fill(host, (float)round);
        upload_to(a);
        launch(exec);
        CHECK(cuMemcpyDtoH(result, c, BYTES));
        for (int i = 0; i < COUNT; i++)
            REQUIRE(result[i] == (float)(i * round + 1), "round %d: %d is %g", round, i, result[i]);
    }
    printf("functions of the program: %d\n", calls);
    destroy_both(exec, graph);
}

static void *end_elsewhere(void *unused) {
    (void)unused;
    CUgraph graph;
    CHECK(cuCtxSetCurrent(context));
    SHOW(cuStreamEndCapture(stream, &graph));
    return NULL;
}

static void refused(void) {
    CUgraph graph;
    CUdeviceptr memory;
    int status;
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING);
    SHOW(cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SHOW(cuStreamBeginCapture(stream, 7));
    SHOW(cuStreamEndCapture(stream, &graph));

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SHOW(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    by_a_thread(end_elsewhere, NULL);
    SHOW(cuStreamSynchronize(stream));
    CHECK(cuStreamIsCapturing(stream, &status));
    printf("capturing: %d\n", status);
    SHOW(cuStreamSynchronize(stream));
    SHOW(cuStreamEndCapture(stream, &graph));
    REQUIRE(graph == NULL, "a graph came of it");

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SHOW(cuMemAlloc(&memory, 64));
    SHOW(cuStreamEndCapture(stream, &graph));

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    SHOW(cuMemAlloc(&memory, 64));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuMemFree(memory));
    CHECK(cuGraphDestroy(graph));

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    int mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CHECK(cuThreadExchangeStreamCaptureMode(&mode));
    SHOW(cuMemAlloc(&memory, 64));
    CHECK(cuThreadExchangeStreamCaptureMode(&mode));
    printf("the mode was %d\n", mode);
    SHOW(cuCtxSynchronize());
    SHOW(cuStreamEndCapture(stream, &graph));
    CHECK(cuMemFree(memory));

    // The end of what has not begun ends no other capture, of which nobody may look at an event then.
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    SHOW(cuStreamEndCapture(other, &graph));
    CHECK(cuEventRecord(event, stream));
    CHECK(cuMemAlloc(&memory, 64));
    CHECK(cuMemsetD8Async(c, 0, 16, stream));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuMemFree(memory));
    CHECK(cuGraphDestroy(graph));

    // Work of another stream that is not joined.
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuEventRecord(event, stream));
    CHECK(cuStreamWaitEvent(other, event, 0));
    CHECK(cuMemsetD8Async(c, 0, 16, other));
    SHOW(cuEventQuery(event));
    SHOW(cuStreamEndCapture(stream, &graph));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuEventRecord(event, stream));
    CHECK(cuStreamWaitEvent(other, event, 0));
    CHECK(cuMemsetD8Async(c, 0, 16, other));
    SHOW(cuStreamEndCapture(stream, &graph));
    printf("after all: %d %d\n", status_of(stream), status_of(other));
    CHECK(cuMemsetD8Async(c, 0, 16, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuEventDestroy(event));
}

static void *mode_of_thread(void *mode) {
    CHECK(cuThreadExchangeStreamCaptureMode(mode));
    return NULL;
}

// The mode is a thread's own, and ends with it.
static void modes_of_threads(void) {
    for (int round = 0; round < 3; round++) {
        int mode = CU_STREAM_CAPTURE_MODE_RELAXED;
        by_a_thread(mode_of_thread, &mode);
        REQUIRE(mode == CU_STREAM_CAPTURE_MODE_GLOBAL, "thread %d began with mode %d", round, mode);
    }
}

int main(void) {
    context = begin();
    modes_of_threads();
    add = function_of(module_of("vector_add"), "vector_add");
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAllocHost((void **)&pinned, 2 * BYTES));
    a = allocate(BYTES), b = allocate(BYTES), c = allocate(BYTES), d = allocate(BYTES);
    plain();
    copies();
    changed();
    // A driver may distinguish such memory from other memory of the host.
    if (!is_real())
        changed_twice();
    fork_and_join();
    functions();
    refused();
    return 0;
}
