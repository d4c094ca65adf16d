// Graphs that are built by hand: nodes of all kinds, edges, clones, child graphs, updates, conditional nodes, objects.
#include <unistd.h>

#include "common.h"
#include "floats.h"

static CUfunction add;
static CUdeviceptr a, b, c;
static float host[COUNT], result[COUNT];
static unsigned n = COUNT;

static CUDA_KERNEL_NODE_PARAMS add_of(void **parameters) {
    return kernel_node(add, 4, 128, parameters);
}

static int called;
static void *expected;

static void call(void *data) {
    called++;
    if (data != expected)
        called = -1000;
    // What the copy before this brought, and what the one behind it takes.
    for (int i = 0; i < COUNT; i++)
        host[i] = result[i] * 2;
}

// Copy in, launch, copy out, function, copy in again: each behind the one before.
static CUgraph chain(CUgraphNode nodes[6], void **parameters) {
    CUgraph graph = new_graph();
    CUDA_MEMCPY3D in = to_device(a, host), out = to_host(result, c), again = to_device(b, host);
    CUDA_MEMSET_NODE_PARAMS zero = {.target = b, .value = 0, .element_size = 4, .width = COUNT, .height = 1};
    CUDA_KERNEL_NODE_PARAMS sum = add_of(parameters);
    CUDA_HOST_NODE_PARAMS function = {call, expected};
    CHECK(cuGraphAddMemcpyNode(&nodes[0], graph, NULL, 0, &in, context));
    CHECK(cuGraphAddMemsetNode(&nodes[1], graph, NULL, 0, &zero, context));
    CHECK(cuGraphAddKernelNode(&nodes[2], graph, nodes, 2, &sum));
    CHECK(cuGraphAddMemcpyNode(&nodes[3], graph, &nodes[2], 1, &out, context));
    CHECK(cuGraphAddHostNode(&nodes[4], graph, &nodes[3], 1, &function));
    CHECK(cuGraphAddMemcpyNode(&nodes[5], graph, &nodes[4], 1, &again, context));
    return graph;
}

static int times(const char *text, const char *part) {
    int found = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        found++;
    return found;
}

/// What the driver and others draw differs but in what is asked for here.
static void drawing(CUgraph graph) {
    enum { KERNEL_PARAMETERS = 4 };
    char path[] = "/tmp/graph-XXXXXX", text[4096];
    int file = mkstemp(path);
    REQUIRE(file >= 0, "no file");
    CHECK(cuGraphDebugDotPrint(graph, path, KERNEL_PARAMETERS));
    ssize_t length = pread(file, text, sizeof text - 1, 0);
    REQUIRE(length > 0, "nothing is drawn");
    text[length] = 0;
    unlink(path);
    close(file);
    printf("drawn: %d arrows, the kernel by name and size: %d\n", times(text, "->"),
           times(text, "vector_add") == 1 && times(text, "(4,1,1),(128,1,1)") == 1);
}

static void nodes_and_edges(void) {
    void *parameters[] = {&a, &b, &c, &n};
    expected = &called;
    CUgraphNode nodes[6];
    CUgraph graph = chain(nodes, parameters);
    size_t count = 0, edges = 0, roots = 9;
    CUgraphNode from[9], to[9], listed[9];
    CHECK(cuGraphGetNodes(graph, NULL, &count));
    CHECK(cuGraphGetEdges(graph, NULL, NULL, &edges));
    CHECK(cuGraphGetRootNodes(graph, listed, &roots));
    printf("%zu nodes, %zu edges, %zu roots\n", count, edges, roots);
    // In any order.
    for (int i = 0; i < 2; i++)
        REQUIRE(listed[i] == nodes[0] || listed[i] == nodes[1], "other roots");
    REQUIRE(listed[0] != listed[1], "one root twice");
    CHECK(cuGraphGetEdges(graph, from, to, &edges));
    for (size_t i = 0; i < edges; i++)
        for (int f = 0; f < 6; f++)
            for (int t = 0; t < 6; t++)
                if (from[i] == nodes[f] && to[i] == nodes[t])
                    printf("edge from %d to %d\n", f, t);
    count = 9;
    listed[8] = nodes[0];
    CHECK(cuGraphNodeGetDependencies(nodes[2], listed, &count));
    printf("node 2 waits for %zu, null behind them: %d\n", count, listed[8] == NULL);
    count = 9;
    CHECK(cuGraphNodeGetDependentNodes(nodes[2], listed, &count));
    printf("for node 2 wait %zu, the first is node 3: %d\n", count, listed[0] == nodes[3]);

    drawing(graph);
    CUDA_KERNEL_NODE_PARAMS kernel;
    CHECK(cuGraphKernelNodeGetParams(nodes[2], &kernel));
    printf("kernel: %u x %u, function as given: %d, n %u, c %d\n", kernel.grid_x, kernel.block_x,
           kernel.function == add, *(unsigned *)kernel.parameters[3], *(CUdeviceptr *)kernel.parameters[2] == c);
    CUDA_MEMCPY3D copy;
    CHECK(cuGraphMemcpyNodeGetParams(nodes[0], &copy));
    printf("copy: %zu bytes from the program's memory: %d\n", copy.width, copy.source_host == host);
    CUDA_MEMSET_NODE_PARAMS zero;
    CHECK(cuGraphMemsetNodeGetParams(nodes[1], &zero));
    printf("fill: %zu times %u\n", zero.width, zero.value);
    CUDA_HOST_NODE_PARAMS function;
    CHECK(cuGraphHostNodeGetParams(nodes[4], &function));
    printf("function as given: %d %d\n", function.function == call, function.data == expected);

    CUgraphExec exec;
    CUDA_GRAPH_INSTANTIATE_PARAMS how = {0};
    CHECK(cuGraphInstantiateWithParams(&exec, graph, &how));
    printf("instantiated: %u\n", how.result);
    CHECK(cuGraphUpload(exec, stream));
    for (int round = 1; round <= 3; round++) {
        fill(host, (float)round);
        launch(exec);
        require(result, (float)round, "copied in, added, copied out");
        float back[COUNT];
        CHECK(cuMemcpyDtoH(back, b, BYTES));
        // A driver may take pageable memory when the graph is launched.
        if (!is_real())
            require(back, 2 * (float)round, "what the function wrote was copied in");
    }
    printf("the function was called %d times\n", called);

    // Changes of what was instantiated.
    float other[COUNT], elsewhere[COUNT];
    fill(other, 30);
    CUDA_MEMCPY3D in = to_device(a, other), out = to_host(elsewhere, c);
    CHECK(cuGraphExecMemcpyNodeSetParams(exec, nodes[0], &in, context));
    CHECK(cuGraphExecMemcpyNodeSetParams(exec, nodes[3], &out, context));
    unsigned few = 10;
    void *fewer[] = {&a, &b, &c, &few};
    CUDA_KERNEL_NODE_PARAMS sum = add_of(fewer);
    CHECK(cuMemsetD8Async(c, 0, BYTES, stream));
    CHECK(cuGraphExecKernelNodeSetParams(exec, nodes[2], &sum));
    memset(result, 0, BYTES);
    launch(exec);
    printf("other memory: %g %g %g, the old one: %g\n", elsewhere[1], elsewhere[9], elsewhere[10], result[1]);
    unsigned enabled = 9;
    CHECK(cuGraphNodeSetEnabled(exec, nodes[2], 0));
    CHECK(cuGraphNodeGetEnabled(exec, nodes[2], &enabled));
    CHECK(cuMemsetD8Async(c, 0, BYTES, stream));
    launch(exec);
    printf("enabled: %u, and so nothing: %g\n", enabled, elsewhere[1]);

    CHECK(cuGraphNodeSetEnabled(exec, nodes[2], 1));

    // By a graph of the same structure, and of another.
    CUgraphNode again[6];
    CUgraph same = chain(again, parameters);
    CUgraphExecUpdateResultInfo info;
    CHECK(cuGraphExecUpdate(exec, same, &info));
    printf("updated: %u\n", info.result);
    fill(host, 7);
    launch(exec);
    require(result, 7, "as before");
    CUgraphNode more;
    CHECK(cuGraphAddEmptyNode(&more, same, &again[5], 1));
    SHOW(cuGraphExecUpdate(exec, same, &info));
    printf("not updated: %u\n", info.result);
    fill(host, 8);
    launch(exec);
    require(result, 8, "as before");

    // A cycle.
    CHECK(cuGraphAddDependencies(same, &more, &again[0], 1));
    CUgraphExec none;
    SHOW(cuGraphInstantiate(&none, same, 0));
    CHECK(cuGraphRemoveDependencies(same, &more, &again[0], 1));
    CHECK(cuGraphDestroyNode(more));
    CHECK(cuGraphInstantiate(&none, same, 0));
    CHECK(cuGraphExecDestroy(none));

    // A clone.
    CUgraph clone;
    CUgraphNode found;
    CHECK(cuGraphClone(&clone, graph));
    CHECK(cuGraphNodeFindInClone(&found, nodes[2], clone));
    int kind;
    CHECK(cuGraphNodeGetType(found, &kind));
    printf("found in the clone: %d, another node: %d\n", kind, found != nodes[2]);
    CHECK(cuGraphDestroy(graph));
    CUgraphExec of_clone = instantiated(clone);
    CHECK(cuGraphDestroy(clone));
    fill(host, 9);
    launch(of_clone);
    require(result, 9, "a clone");
    CHECK(cuGraphExecDestroy(of_clone));
    destroy_both(exec, same);
}

// A program points one entry of the arrays that it was given elsewhere and sets them again for each launch, as llama.cpp does
// for each token. CUDA promises the arrays until the node is changed; through the network they stay.
static void arrays_of_a_node(void) {
    void *parameters[] = {&a, &b, &c, &n};
    CUgraphNode node;
    CUDA_KERNEL_NODE_PARAMS sum = add_of(parameters), kept;
    CUgraph graph = new_graph();
    CHECK(cuGraphAddKernelNode(&node, graph, NULL, 0, &sum));
    CUgraphExec exec = instantiated(graph);
    CHECK(cuGraphKernelNodeGetParams(node, &kept));
    fill(host, 1);
    CHECK(cuMemcpyHtoD(a, host, BYTES));
    CHECK(cuMemcpyHtoD(b, host, BYTES));
    for (unsigned round = 1; round <= 3; round++) {
        unsigned few = 100 * round;
        if (!getenv("GTRACE_REMOTE"))
            CHECK(cuGraphKernelNodeGetParams(node, &kept));
        kept.parameters[3] = &few;
        CHECK(cuGraphKernelNodeSetParams(node, &kept));
        CHECK(cuGraphExecKernelNodeSetParams(exec, node, &kept));
        CHECK(cuMemsetD8Async(c, 0, BYTES, stream));
        launch(exec);
        CHECK(cuMemcpyDtoH(result, c, BYTES));
        printf("%u of a node: %g, then %g\n", few, result[few - 1], result[few]);
    }
    destroy_both(exec, graph);
}

// A capture into a graph of the program gives no other one, so that nobody need take it.
static void captured_into(void) {
    int version;
    CHECK(cuDriverGetVersion(&version));
    if (version < 12030)
        return;
    CUgraph graph, other;
    CUgraphNode node;
    CUgraphExec exec;
    void *parameters[] = {&a, &a, &c, &n};
    for (int taken = 0; taken < 2; taken++) {
        fill(host, 6 + (float)taken);
        CHECK(cuMemcpyHtoD(a, host, BYTES));
        CHECK(cuGraphCreate(&graph, 0));
        CHECK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
        CHECK(cuStreamBeginCaptureToGraph(stream, graph, &node, NULL, 1, CU_STREAM_CAPTURE_MODE_RELAXED));
        CHECK(cuLaunchKernel(add, 4, 1, 1, 128, 1, 1, 0, stream, parameters, NULL));
        CHECK(cuStreamEndCapture(stream, taken ? &other : NULL));
        REQUIRE(!taken || other == graph, "another graph");
        CHECK(cuGraphInstantiate(&exec, graph, 0));
        launch(exec);
        CHECK(cuMemcpyDtoH(result, c, BYTES));
        require(result, 12 + 2 * (float)taken, "captured into a graph");
        destroy_both(exec, graph);
    }
    // Any other has to be taken.
    if (is_real())
        return;
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    SHOW(cuStreamEndCapture(stream, NULL));
    CHECK(cuStreamEndCapture(stream, &other));
    CHECK(cuGraphDestroy(other));
}

static void children(void) {
    void *parameters[] = {&a, &b, &c, &n}, *further[] = {&c, &c, &c, &n};
    CUgraphNode nodes[6], child, last, inner[9];
    CUgraph inside = chain(nodes, parameters), graph, own;
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddChildGraphNode(&child, graph, NULL, 0, inside));
    CUDA_KERNEL_NODE_PARAMS sum = add_of(further);
    CHECK(cuGraphAddKernelNode(&last, graph, &child, 1, &sum));
    CHECK(cuGraphDestroy(inside));
    CHECK(cuGraphChildGraphNodeGetGraph(child, &own));
    size_t count = 9;
    CHECK(cuGraphGetNodes(own, inner, &count));
    printf("%zu nodes within\n", count);
    CUgraphExec exec = instantiated(graph);
    fill(host, 3);
    launch(exec);
    require(result, 3, "within a child");
    CHECK(cuMemcpyDtoH(host, c, BYTES));
    require(host, 6, "behind a child");
    destroy_both(exec, graph);
}

// One row of many.
static void row_of_a_matrix(void) {
    enum { ROW = 20 * sizeof(float) };
    CUgraphNode nodes[2];
    CUDA_MEMCPY3D in = to_device(a, host), out = to_host(result, a);
    in.source_y = 3, in.source_pitch = ROW, in.width = ROW;
    out.target_y = 5, out.target_pitch = ROW, out.width = ROW;
    CUgraph graph = new_graph();
    CHECK(cuGraphAddMemcpyNode(&nodes[0], graph, NULL, 0, &in, context));
    CHECK(cuGraphAddMemcpyNode(&nodes[1], graph, &nodes[0], 1, &out, context));
    CUgraphExec exec = instantiated(graph);
    fill(host, 1);
    memset(result, 0, BYTES);
    launch(exec);
    printf("a row: %g to %g, before it %g, behind it %g\n", result[100], result[119], result[99], result[120]);
    destroy_both(exec, graph);
}

static void upload_sums(float by) {
    fill(host, by);
    CHECK(cuMemcpyHtoD(c, host, BYTES));
    CHECK(cuCtxSynchronize());
}

static CUgraph copy_out(float *to) {
    CUgraphNode node;
    CUDA_MEMCPY3D out = to_host(to, c);
    CUgraph graph = new_graph();
    CHECK(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &out, context));
    return graph;
}

// What a child that was replaced or taken out copied is left alone.
static void replaced_children(void) {
    static float elsewhere[COUNT];
    CUgraph graph, one = copy_out(result), other = copy_out(elsewhere);
    CUgraphNode child, second;
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddChildGraphNode(&child, graph, NULL, 0, one));
    CUgraphExec exec = instantiated(graph);
    upload_sums(3);
    launch(exec);
    require(result, 3, "a child");
    CHECK(cuGraphExecChildGraphNodeSetParams(exec, child, other));
    upload_sums(5);
    fill(result, 1);
    launch(exec);
    require(elsewhere, 5, "another child");
    require(result, 1, "the child before it does nothing");
    CHECK(cuGraphExecChildGraphNodeSetParams(exec, child, one));
    fill(elsewhere, 1);
    launch(exec);
    require(result, 5, "the first child again");
    require(elsewhere, 1, "the second child does nothing");
    CHECK(cuGraphExecDestroy(exec));

    CHECK(cuGraphAddChildGraphNode(&second, graph, NULL, 0, other));
    CHECK(cuGraphDestroyNode(child));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    fill(result, 1);
    launch(exec);
    require(elsewhere, 5, "a child that is left");
    require(result, 1, "a child that was taken out does nothing");
    destroy_both(exec, graph);
    CHECK(cuGraphDestroy(one));
    CHECK(cuGraphDestroy(other));
}

static void multiply(void *by) {
    for (int i = 0; i < COUNT; i++)
        result[i] *= *(float *)by;
}

// A node calls another function, whose results stay as those of the first would.
static void replaced_functions(void) {
    float two = 2, three = 3, four = 4, five = 5;
    CUgraphNode nodes[2];
    CUDA_MEMCPY3D out = to_host(result, c);
    CUDA_HOST_NODE_PARAMS function = {multiply, &two};
    CUgraph graph = new_graph();
    CHECK(cuGraphAddMemcpyNode(&nodes[0], graph, NULL, 0, &out, context));
    CHECK(cuGraphAddHostNode(&nodes[1], graph, &nodes[0], 1, &function));
    function.data = &three;
    CHECK(cuGraphHostNodeSetParams(nodes[1], &function));
    CUgraphExec exec = instantiated(graph);
    upload_sums(1);
    launch(exec);
    require(result, 3, "a function that was changed in its graph");
    for (int round = 0; round < 2; round++) {
        // What is changed in the graph does not matter to what was instantiated before.
        function.data = &five;
        CHECK(cuGraphHostNodeSetParams(nodes[1], &function));
        function.data = round ? &four : &two;
        CHECK(cuGraphExecHostNodeSetParams(exec, nodes[1], &function));
        launch(exec);
        require(result, round ? 4 : 2, "a function that was changed in what can be launched");
    }
    CHECK(cuGraphDestroy(graph));
    launch(exec);
    require(result, 4, "a function whose graph is gone");
    CHECK(cuGraphExecDestroy(exec));
}

// A graph with memory of its own, which can be moved into another, and not copied.
static void moved(void) {
    int version;
    CHECK(cuDriverGetVersion(&version));
    if (version < 12090)
        return;
    CUgraph own;
    CUgraphNode nodes[6], child, last;
    CUgraphExec exec;
    CUgraph inside = new_graph();
    CUDA_MEM_ALLOC_NODE_PARAMS memory = {.pool = {.kind = 1, .location = {1, 0}}, .bytes = BYTES};
    CHECK(cuGraphAddMemAllocNode(&nodes[0], inside, NULL, 0, &memory));
    CUDA_MEMCPY3D in = to_device(memory.address, host), out = to_host(result, c);
    void *parameters[] = {&memory.address, &memory.address, &c, &n};
    CUDA_KERNEL_NODE_PARAMS sum = add_of(parameters);
    CHECK(cuGraphAddMemcpyNode(&nodes[1], inside, &nodes[0], 1, &in, context));
    CHECK(cuGraphAddKernelNode(&nodes[2], inside, &nodes[1], 1, &sum));
    CHECK(cuGraphAddMemFreeNode(&nodes[3], inside, &nodes[2], 1, memory.address));
    CUgraph graph = new_graph();
    CUgraphNodeParams params = {.kind = 4, .reserved = {0, 1}, .body.child = {inside, 1}};
    SHOW(cuGraphAddNode(&child, graph, NULL, NULL, 0, &params));
    params.reserved[1] = 0;
    CHECK(cuGraphAddNode(&child, graph, NULL, NULL, 0, &params));
    CHECK(cuGraphAddMemcpyNode(&last, graph, &child, 1, &out, context));
    size_t count = 0;
    CHECK(cuGraphGetNodes(inside, NULL, &count));
    CHECK(cuGraphChildGraphNodeGetGraph(child, &own));
    printf("%zu nodes in a graph that was moved\n", count);
    REQUIRE(cuGraphInstantiate(&exec, inside, 0) != CUDA_SUCCESS, "a moved graph was instantiated");
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    fill(host, 4);
    launch(exec);
    require(result, 8, "within a graph that was moved");
    destroy_both(exec, graph);
}

static void events_and_memory(void) {
    CUgraphNode nodes[6];
    CUevent event = new_event(0);
    CUgraph graph = new_graph();
    CUDA_MEM_ALLOC_NODE_PARAMS memory = {.pool = {.kind = 1, .location = {1, 0}}, .bytes = BYTES};
    CHECK(cuGraphAddMemAllocNode(&nodes[0], graph, NULL, 0, &memory));
    REQUIRE(memory.address, "no address");
    CUDA_MEMSET_NODE_PARAMS zero = {.target = memory.address, .value = 0, .element_size = 4, .width = COUNT,
                                    .height = 1};
    CHECK(cuGraphAddMemsetNode(&nodes[1], graph, &nodes[0], 1, &zero, context));
    void *parameters[] = {&a, &memory.address, &c, &n};
    CUDA_KERNEL_NODE_PARAMS sum = add_of(parameters);
    CHECK(cuGraphAddKernelNode(&nodes[2], graph, &nodes[1], 1, &sum));
    CHECK(cuGraphAddEventRecordNode(&nodes[3], graph, &nodes[2], 1, event));
    CHECK(cuGraphAddMemFreeNode(&nodes[4], graph, &nodes[2], 1, memory.address));
    uint64_t priority[8] = {0};
    SHOW(cuGraphKernelNodeGetAttribute(nodes[2], CU_LAUNCH_ATTRIBUTE_COOPERATIVE, priority));
    CUgraphExec exec = instantiated(graph);
    fill(host, 5);
    CHECK(cuMemcpyHtoD(a, host, BYTES));
    for (int round = 0; round < 2; round++) {
        CHECK(cuGraphLaunch(exec, stream));
        CHECK(cuEventSynchronize(event));
        CHECK(cuMemcpyDtoH(result, c, BYTES));
        require(result, 5, "memory of a graph");
    }
    CUgraph clone;
    SHOW(cuGraphClone(&clone, graph));
    CHECK(cuStreamSynchronize(stream));
    destroy_both(exec, graph);
    CHECK(cuEventDestroy(event));
}

static void conditional(void) {
    // A real driver's modules do not have the function of the device's runtime.
    if (is_real())
        return;
    CUmodule module = module_of("conditional");
    CUfunction count_to = function_of(module, "count_to");
    CUgraphNode loop, body;
    uint64_t handle;
    CUgraph graph = new_graph();
    CHECK(cuGraphConditionalHandleCreate(&handle, graph, context, 1, 1));
    CUgraphNodeParams params = {.kind = 13, .body.conditional = {.handle = handle, .kind = 1, .count = 1,
                                                                 .context = context}};
    CHECK(cuGraphAddNode(&loop, graph, NULL, NULL, 0, &params));
    unsigned limit = 17, counter = 0;
    void *parameters[] = {&handle, &c, &limit};
    CUDA_KERNEL_NODE_PARAMS once = kernel_node(count_to, 1, 1, parameters);
    CHECK(cuGraphAddKernelNode(&body, params.body.conditional.bodies[0], NULL, 0, &once));
    CUgraphExec exec = instantiated(graph);
    for (int round = 0; round < 2; round++) {
        CHECK(cuMemsetD8Async(c, 0, 4, stream));
        launch(exec);
        CHECK(cuMemcpyDtoH(&counter, c, 4));
        printf("while: %u rounds\n", counter);
    }
    destroy_both(exec, graph);

    CUfunction choose = function_of(module, "choose");
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphConditionalHandleCreate(&handle, graph, context, 0, 0));
    CUgraphNode chooser;
    void *chosen[] = {&handle, &a};
    CUDA_KERNEL_NODE_PARAMS first = kernel_node(choose, 1, 1, chosen);
    CHECK(cuGraphAddKernelNode(&chooser, graph, NULL, 0, &first));
    CUgraphNodeParams cases = {.kind = 13, .body.conditional = {.handle = handle, .kind = 2, .count = 3,
                                                                .context = context}};
    CHECK(cuGraphAddNode(&loop, graph, &chooser, NULL, 1, &cases));
    for (unsigned i = 0; i < 3; i++) {
        CUDA_MEMSET_NODE_PARAMS mark = {.target = c, .value = 100 + i, .element_size = 4, .width = 1, .height = 1};
        CHECK(cuGraphAddMemsetNode(&body, cases.body.conditional.bodies[i], NULL, 0, &mark, context));
    }
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    for (unsigned i = 0; i < 4; i++) {
        CHECK(cuMemcpyHtoD(a, &i, 4));
        CHECK(cuMemsetD8Async(c, 0, 4, stream));
        launch(exec);
        CHECK(cuMemcpyDtoH(&counter, c, 4));
        printf("switch %u: %u\n", i, counter);
    }
    SHOW(cuGraphConditionalHandleCreate(&handle, graph, context, 0, 8));
    destroy_both(exec, graph);
    CHECK(cuModuleUnload(module));

    // A copy in a body takes what the host has in page-locked memory at the launch.
    unsigned *word = locked_memory(4);
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphConditionalHandleCreate(&handle, graph, context, 1, 1));
    CUgraphNodeParams branch = {.kind = 13, .body.conditional = {.handle = handle, .kind = 0, .count = 1,
                                                                 .context = context}};
    CHECK(cuGraphAddNode(&loop, graph, NULL, NULL, 0, &branch));
    CUDA_MEMCPY3D copy = to_device(c, word);
    copy.width = 4;
    CHECK(cuGraphAddMemcpyNode(&body, branch.body.conditional.bodies[0], NULL, 0, &copy, context));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    for (unsigned i = 70; i < 72; i++) {
        *word = i;
        launch(exec);
        CHECK(cuMemcpyDtoH(&counter, c, 4));
        REQUIRE(counter == i, "a copy in a body brings %u, not %u", counter, i);
    }
    printf("a copy in a body: %u\n", counter);
    destroy_both(exec, graph);
    CHECK(cuMemFreeHost(word));
}

static float *locked;

static void write_late(void *data) {
    (void)data;
    usleep(30000);
    fill(locked, 10);
}

// Launches of one instance run one after another in whatever streams, and so does what each reads of the host's memory.
static void two_streams(void) {
    int remote = getenv("GTRACE_REMOTE") != NULL;
    CUgraphNode nodes[3];
    void *parameters[] = {&c, &a, &c, &n};
    CUDA_MEMCPY3D in = to_device(a, host);
    CUDA_KERNEL_NODE_PARAMS sum = add_of(parameters);
    CUstream other = new_stream();
    CUgraph graph = new_graph();
    CHECK(cuGraphAddMemcpyNode(&nodes[0], graph, NULL, 0, &in, context));
    CHECK(cuGraphAddKernelNode(&nodes[1], graph, &nodes[0], 1, &sum));
    CUgraphExec exec = instantiated(graph);
    CHECK(cuMemsetD8Async(c, 0, BYTES, stream));
    Hold held = hold(stream);
    fill(host, 1);
    CHECK(cuGraphLaunch(exec, stream));
    // A driver may read the memory when the graph runs; through the network it is read by the launch.
    if (!remote) {
        let_go(held);
        CHECK(cuStreamSynchronize(stream));
    }
    fill(host, 10);
    CHECK(cuGraphLaunch(exec, other));
    if (remote)
        let_go(held);
    CHECK(cuStreamSynchronize(other));
    CHECK(cuMemcpyDtoH(result, c, BYTES));
    require(result, 11, "launches in two streams");
    destroy_both(exec, graph);

    // A function of the first launch writes what the second reads.
    CHECK(cuMemAllocHost((void **)&locked, BYTES));
    in = to_device(a, locked);
    CUDA_HOST_NODE_PARAMS late = {.function = write_late};
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddMemcpyNode(&nodes[0], graph, NULL, 0, &in, context));
    CHECK(cuGraphAddKernelNode(&nodes[1], graph, &nodes[0], 1, &sum));
    CHECK(cuGraphAddHostNode(&nodes[2], graph, &nodes[1], 1, &late));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuMemsetD8Async(c, 0, BYTES, stream));
    fill(locked, 1);
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuGraphLaunch(exec, other));
    CHECK(cuStreamSynchronize(other));
    CHECK(cuMemcpyDtoH(result, c, BYTES));
    require(result, 11, "a function between launches in two streams");
    destroy_both(exec, graph);
    CHECK(cuMemFreeHost(locked));
    CHECK(cuStreamDestroy(other));
}

static void five_times(void *data) {
    (void)data;
    for (int i = 0; i < COUNT; i++)
        locked[i] = result[i] * 5;
}

// The same copies before and behind a function.
static void copied_twice(void) {
    CUgraphNode nodes[7];
    void *doubled[] = {&a, &a, &b, &n}, *added[] = {&a, &b, &b, &n};
    CHECK(cuMemAllocHost((void **)&locked, BYTES));
    CUDA_MEMCPY3D in = to_device(a, locked), out = to_host(result, b);
    CUDA_KERNEL_NODE_PARAMS first = add_of(doubled), second = add_of(added);
    CUDA_HOST_NODE_PARAMS function = {.function = five_times};
    CUgraph graph = new_graph();
    CHECK(cuGraphAddMemcpyNode(&nodes[0], graph, NULL, 0, &in, context));
    CHECK(cuGraphAddKernelNode(&nodes[1], graph, &nodes[0], 1, &first));
    CHECK(cuGraphAddMemcpyNode(&nodes[2], graph, &nodes[1], 1, &out, context));
    CHECK(cuGraphAddHostNode(&nodes[3], graph, &nodes[2], 1, &function));
    CHECK(cuGraphAddMemcpyNode(&nodes[4], graph, &nodes[3], 1, &in, context));
    CHECK(cuGraphAddKernelNode(&nodes[5], graph, &nodes[4], 1, &second));
    CHECK(cuGraphAddMemcpyNode(&nodes[6], graph, &nodes[5], 1, &out, context));
    CUgraphExec exec = instantiated(graph);
    for (int round = 0; round < 2; round++) {
        fill(locked, 1);
        launch(exec);
        require(result, 12, "copied before and behind a function");
    }
    destroy_both(exec, graph);
    CHECK(cuMemFreeHost(locked));
}

static int destroyed;

static void destroy(void *data) {
    destroyed += *(int *)data;
}

static void objects(void) {
    int by = 1;
    CUuserObject object;
    CUgraphNode node;
    CHECK(cuUserObjectCreate(&object, &by, destroy, 1, 1));
    CUgraph graph = new_graph();
    CHECK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    CHECK(cuGraphRetainUserObject(graph, object, 1, 1));
    CUgraphExec exec = instantiated(graph);
    CHECK(cuGraphDestroy(graph));
    CHECK(cuCtxSynchronize());
    printf("destroyed: %d\n", destroyed);
    launch(exec);
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuCtxSynchronize());
    // CUDA may call it later.
    if (!is_real())
        printf("destroyed: %d\n", destroyed);
}

static int freed, was_freed;

static void set_freed(void *data) {
    (void)data;
    freed = 1;
}

static void look_late(void *data) {
    (void)data;
    usleep(30000);
    was_freed = freed;
}

// What a graph that runs retains is not destroyed before it has run.
static void objects_of_a_launch(void) {
    CUuserObject object;
    CUgraphNode node;
    CUDA_HOST_NODE_PARAMS late = {.function = look_late};
    CHECK(cuUserObjectCreate(&object, &freed, set_freed, 1, 1));
    CUgraph graph = new_graph();
    CHECK(cuGraphAddHostNode(&node, graph, NULL, 0, &late));
    CHECK(cuGraphRetainUserObject(graph, object, 1, 1));
    CUgraphExec exec = instantiated(graph);
    CHECK(cuGraphDestroy(graph));
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuStreamSynchronize(stream));
    REQUIRE(!was_freed, "the object was destroyed under the graph");
}

static void attributes(void) {
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING);
    CUlaunchAttribute list[] = {{.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value = {1}},
                                {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value = {0}},
                                {.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, .value = {(uint64_t)event}}};
    CUlaunchConfig config = {.grid_x = 4, .grid_y = 1, .grid_z = 1, .block_x = 128, .block_y = 1, .block_z = 1,
                             .stream = stream, .attributes = list, .count = 3};
    void *parameters[] = {&a, &a, &c, &n};
    fill(host, 2);
    CHECK(cuMemcpyHtoD(a, host, BYTES));
    CHECK(cuLaunchKernelEx(&config, add, parameters, NULL));
    CHECK(cuEventSynchronize(event));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoH(result, c, BYTES));
    require(result, 4, "a launch with attributes");
    CHECK(cuEventDestroy(event));
}

int main(void) {
    context = begin();
    add = function_of(module_of("vector_add"), "vector_add");
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    a = allocate(BYTES), b = allocate(BYTES), c = allocate(BYTES);
    nodes_and_edges();
    arrays_of_a_node();
    captured_into();
    row_of_a_matrix();
    children();
    replaced_children();
    replaced_functions();
    moved();
    events_and_memory();
    conditional();
    two_streams();
    copied_twice();
    objects();
    objects_of_a_launch();
    attributes();
    return 0;
}
