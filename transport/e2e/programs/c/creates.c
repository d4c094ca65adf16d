// A call that creates or begins something and succeeds says so, whatever an earlier call did: else nobody would ever
// end it. The earlier error comes with another call. A call that ends something ends it, and returns the earlier error:
// else nobody would end it any more.
#include "common.h"

enum { ROUNDS = 20, SIZE = 1 << 20 };

// A copy to where nothing is. Directly it fails at once, remotely a later call reports it.
static CUresult fail(void) {
    static char bytes[16];
    return cuMemcpyHtoD((CUdeviceptr)0x10, bytes, sizeof bytes);
}

static void told(CUresult seen, CUresult later, const char *after) {
    if (later == CUDA_SUCCESS)
        later = cuCtxSynchronize();
    REQUIRE(seen != CUDA_SUCCESS || later != CUDA_SUCCESS, "the error of the copy is lost after %s", after);
}

static void ended(CUresult seen, const char *after) {
    told(seen, CUDA_SUCCESS, after);
}

// A copy to where nothing is, whose error the client has got by a call that does not return it.
static CUresult fail_before(void) {
    CUresult seen = fail();
    int mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CHECK(cuThreadExchangeStreamCaptureMode(&mode));
    CHECK(cuThreadExchangeStreamCaptureMode(&mode));
    return seen;
}

// `end` ends what `ask` asks for, returns the earlier error, and returns it once.
#define ENDS(end, ask)                                                                                                 \
    do {                                                                                                               \
        CUresult seen_ = fail_before();                                                                                \
        told(seen_, end, #end);                                                                                        \
        CHECK(cuCtxSynchronize());                                                                                     \
        if (!is_real())                                                                                                \
            REQUIRE((ask) != CUDA_SUCCESS, "%s has not ended it", #end);                                               \
    } while (0)

// What ends something.
static void ends(CUstream stream) {
    enum { POOL_USED = 7, RESERVED = 2 << 20 };
    CUstream other = new_stream();
    ENDS(cuStreamDestroy(other), cuStreamQuery(other));
    CUevent event = new_event(0);
    CHECK(cuEventRecord(event, stream));
    ENDS(cuEventDestroy(event), cuEventQuery(event));

    CUgraphNode first, second;
    CUgraphExecUpdateResultInfo info;
    int kind;
    size_t count;
    CUgraph graph = new_graph();
    CHECK(cuGraphAddEmptyNode(&first, graph, NULL, 0));
    CHECK(cuGraphAddEmptyNode(&second, graph, NULL, 0));
    ENDS(cuGraphDestroyNode(second), cuGraphNodeGetType(second, &kind));
    CUgraphExec exec = instantiated(graph);
    ENDS(cuGraphExecDestroy(exec), cuGraphExecUpdate(exec, graph, &info));
    ENDS(cuGraphDestroy(graph), cuGraphGetNodes(graph, NULL, &count));

    uint64_t used;
    CUdeviceptr memory = allocate(SIZE);
    ENDS(cuMemFree(memory), cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
    CHECK(cuMemAllocAsync(&memory, SIZE, stream));
    ENDS(cuMemFreeAsync(memory, stream), cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
    CUmemoryPool pool;
    CUmemPoolProps props = {.kind = 1, .location = {1, 0}};
    CHECK(cuMemPoolCreate(&pool, &props));
    ENDS(cuMemPoolDestroy(pool), cuMemPoolGetAttribute(pool, POOL_USED, &used));
    CHECK(cuMemAddressReserve(&memory, RESERVED, 0, 0, 0));
    ENDS(cuMemAddressFree(memory, RESERVED), cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));

    // Nor does an idle device keep memory: then the free is not awaited.
    if (!is_real()) {
        CHECK(cuMemAlloc(&memory, SIZE));
        CHECK(cuCtxSynchronize());
        CUresult seen = cuEventDestroy(event);
        int mode = CU_STREAM_CAPTURE_MODE_RELAXED;
        CHECK(cuThreadExchangeStreamCaptureMode(&mode));
        CHECK(cuThreadExchangeStreamCaptureMode(&mode));
        told(seen, cuMemFree(memory), "cuMemFree of an idle device");
    }
}

// The state of a primary context is that after its reset.
static void resets(CUcontext context) {
    CUcontext primary;
    unsigned flags;
    int active;
    CHECK(cuDevicePrimaryCtxRetain(&primary, 0));
    CHECK(cuCtxSetCurrent(primary));
    CUresult seen = fail_before();
    told(seen, cuDevicePrimaryCtxReset(0), "cuDevicePrimaryCtxReset");
    CHECK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    REQUIRE(!active, "the primary context has not ended");
    CHECK(cuCtxSetCurrent(context));
}

static void nothing(void *data) {
    (void)data;
}

// A graph that copies memory of the host and calls a function: the client asks about it when it is instantiated.
static CUgraph of_copy_and_function(CUcontext context, CUdeviceptr place) {
    static char host[16];
    CUgraphNode copy, function;
    CUDA_MEMCPY3D to_place = {.source_kind = 1, .source_host = host, .target_kind = 2, .target_device = place,
                              .width = sizeof host, .height = 1, .depth = 1};
    CUDA_HOST_NODE_PARAMS call = {.function = nothing};
    CUgraph graph = new_graph();
    CHECK(cuGraphAddMemcpyNode(&copy, graph, NULL, 0, &to_place, context));
    CHECK(cuGraphAddHostNode(&function, graph, &copy, 1, &call));
    return graph;
}

// A graph of a fill and a copy to the host that were captured: the client asks what they are when they are changed.
static CUgraph of_captured(CUstream stream, CUdeviceptr place, CUgraphNode *fill) {
    static char host[16];
    CUgraph graph;
    size_t count = 1;
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuMemsetD8Async(place, 1, sizeof host, stream));
    CHECK(cuMemcpyDtoHAsync(host, place, sizeof host, stream));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphGetRootNodes(graph, fill, &count));
    REQUIRE(count == 1, "the graph begins with %zu nodes", count);
    return graph;
}

// An earlier error is not lost to what the client asks for a call.
static void asked(CUstream stream, CUdeviceptr place) {
    CUgraphNode fill;
    CUgraph graph = of_captured(stream, place, &fill);
    CUgraphExec exec = instantiated(graph);
    CUresult seen = fail();
    told(seen, cuGraphNodeSetEnabled(exec, fill, 0), "cuGraphNodeSetEnabled");
    seen = fail();
    told(seen, cuGraphDestroyNode(fill), "cuGraphDestroyNode");
    destroy_both(exec, graph);
    CUdeviceptr device;
    char *own = malloc(SIZE);
    memset(own, 7, SIZE);
    CHECK(cuMemHostRegister(own, SIZE, CU_MEMHOSTREGISTER_DEVICEMAP));
    CHECK(cuMemHostGetDevicePointer(&device, own, 0));
    seen = fail();
    told(seen, cuMemHostUnregister(own), "cuMemHostUnregister");
    REQUIRE(own[0] == 7 && own[SIZE - 1] == 7, "memory has %d and %d after cuMemHostUnregister", own[0], own[SIZE - 1]);
    free(own);
}

// Free memory, once the client has given back what it keeps of graphs until somebody wants memory.
static size_t free_memory(void) {
    CUdeviceptr too_much;
    size_t bytes, total;
    CHECK(cuCtxSynchronize());
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&too_much, (size_t)1 << 50));
    CHECK(cuMemGetInfo(&bytes, &total));
    return bytes;
}

int main(void) {
    CUcontext context = begin();
    CUdeviceptr place = allocate(16);
    CUgraph kept = of_copy_and_function(context, place);
    CUstream stream = new_stream();
    CUgraphExec exec = instantiated(kept);
    CHECK(cuGraphExecDestroy(exec));
    // What the driver keeps of its own it has then.
    ends(stream);
    size_t before = free_memory();
    for (int round = 0; round < ROUNDS; round++) {
        CUdeviceptr memory = 0;
        CUresult seen = fail();
        CHECK(cuMemAlloc(&memory, SIZE));
        ended(seen, "cuMemAlloc");
        CHECK(cuMemFree(memory));
        CUmodule module = NULL;
        seen = fail();
        module = module_of("vector_add");
        ended(seen, "cuModuleLoad");
        CHECK(cuModuleUnload(module));
        seen = fail();
        // Its answer brings the error.
        module = module_of("vector_add");
        told(seen, cuModuleUnload(module), "cuModuleUnload");
        CUfunction function;
        if (!is_real())
            EXPECT(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&function, module, "vector_add"));
        seen = fail();
        CHECK(cuGraphInstantiate(&exec, kept, 0));
        ended(seen, "cuGraphInstantiate");
        CUgraphExecUpdateResultInfo info;
        seen = fail();
        CHECK(cuGraphExecUpdate(exec, kept, &info));
        ended(seen, "cuGraphExecUpdate");
        // The client keeps which pool it is.
        CUmemoryPool pool;
        CHECK(cuDeviceGetMemPool(&pool, 0));
        seen = fail();
        CHECK(cuDeviceSetMemPool(0, pool));
        ended(seen, "cuDeviceSetMemPool");
        CHECK(cuGraphExecDestroy(exec));
        CUgraph graph = NULL;
        seen = fail();
        CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
        CHECK(cuStreamEndCapture(stream, &graph));
        ended(seen, "a capture");
        CHECK(cuGraphDestroy(graph));
        asked(stream, place);
        ends(stream);
    }
    size_t after = free_memory();
    REQUIRE(before == after, "%zu bytes leak", before - after);
    resets(context);
    printf("nothing leaks\n");
    return 0;
}
