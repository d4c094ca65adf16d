// Graphs that are launched in vain, call functions in a row, are instantiated twice, changed where they were instantiated or
// within a node, or destroyed while they run, with memory and functions of the host.
#include <unistd.h>

#include "common.h"
#include "floats.h"

static CUdeviceptr a, c;
static float result[COUNT], elsewhere[COUNT];

static void upload_to(CUdeviceptr to, float by) {
    static float values[COUNT];
    fill(values, by);
    CHECK(cuMemcpyHtoD(to, values, BYTES));
    CHECK(cuCtxSynchronize());
}

static void multiply(void *by) {
    for (int i = 0; i < COUNT; i++)
        result[i] *= *(float *)by;
}

// A function of a launch that fails is waited for by nobody: copies of page-locked memory go on at once.
static void failed_launches(void) {
    float two = 2, *locked;
    CUgraphNode node;
    CUDA_HOST_NODE_PARAMS function = {multiply, &two};
    CHECK(cuMemAllocHost((void **)&locked, BYTES));
    CUgraph graph = new_graph();
    CHECK(cuGraphAddHostNode(&node, graph, NULL, 0, &function));
    CUgraphExec exec = instantiated(graph);
    CUstream gone = new_stream();
    CHECK(cuStreamDestroy(gone));
    SHOW_STALE_SOON(cuGraphLaunch(exec, gone));
    fill(result, 1);
    launch(exec);
    require(result, 2, "a function of the launch behind one that failed");
    fill(locked, 3);
    Hold held = hold(stream);
    CHECK(cuMemcpyHtoDAsync(a, locked, BYTES, stream));
    let_go(held);
    CHECK(cuMemcpyDtoHAsync(result, a, BYTES, stream));
    CHECK(cuStreamSynchronize(stream));
    require(result, 3, "a copy behind a launch that failed");
    destroy_both(exec, graph);
    CHECK(cuMemFreeHost(locked));
}

// A launch into a capture fails at once, as nothing of it can be captured.
static void failed_in_a_capture(void) {
    if (is_real())
        return;
    float two = 2;
    CUgraph captured;
    CUgraphNode nodes[3];
    CUDA_MEM_ALLOC_NODE_PARAMS memory = {.pool = {.kind = 1, .location = {1, 0}}, .bytes = BYTES};
    CUDA_HOST_NODE_PARAMS function = {multiply, &two};
    CUgraph graph = new_graph();
    CHECK(cuGraphAddMemAllocNode(&nodes[0], graph, NULL, 0, &memory));
    CHECK(cuGraphAddHostNode(&nodes[1], graph, &nodes[0], 1, &function));
    CHECK(cuGraphAddMemFreeNode(&nodes[2], graph, &nodes[1], 1, memory.address));
    CUgraphExec exec = instantiated(graph);
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    SHOW(cuGraphLaunch(exec, stream));
    CHECK(cuStreamEndCapture(stream, &captured));
    CHECK(cuGraphDestroy(captured));
    destroy_both(exec, graph);
}

// A copy to the host, and a function behind it.
static CUgraph copied_and_multiplied(CUgraphNode nodes[2], float *to, float *by) {
    CUDA_MEMCPY3D out = to_host(to, c);
    CUDA_HOST_NODE_PARAMS function = {multiply, by};
    CUgraph graph = new_graph();
    CHECK(cuGraphAddMemcpyNode(&nodes[0], graph, NULL, 0, &out, context));
    CHECK(cuGraphAddHostNode(&nodes[1], graph, &nodes[0], 1, &function));
    return graph;
}

// A function finds what the one before it has made of a copy, also where the two, and perhaps the copy, are within a node.
static void functions_in_a_row(int copied_within) {
    float two = 2, three = 3;
    CUgraphNode copy, nodes[2], child, behind;
    CUDA_MEMCPY3D out = to_host(result, c);
    CUDA_HOST_NODE_PARAMS first = {multiply, &two}, second = {multiply, &three};
    CUgraph graph = new_graph(), inside = new_graph();
    CHECK(cuGraphAddMemcpyNode(&copy, copied_within ? inside : graph, NULL, 0, &out, context));
    CHECK(cuGraphAddHostNode(&nodes[0], inside, &copy, copied_within ? 1 : 0, &first));
    CHECK(cuGraphAddHostNode(&nodes[1], inside, &nodes[0], 1, &second));
    CHECK(cuGraphAddChildGraphNode(&child, graph, &copy, copied_within ? 0 : 1, inside));
    CHECK(cuGraphAddHostNode(&behind, graph, &child, 1, &first));
    CUgraphExec exec = instantiated(graph);
    upload_to(c, 3);
    launch(exec);
    require(result, 36, "functions in a row behind a copy");
    destroy_both(exec, graph);
    CHECK(cuGraphDestroy(inside));
}

// The same nodes, of a graph that the program did not build.
static void nodes_of(CUgraph graph, CUgraphNode nodes[2]) {
    size_t count = 2;
    int kind;
    CHECK(cuGraphGetNodes(graph, nodes, &count));
    CHECK(cuGraphNodeGetType(nodes[0], &kind));
    if (kind != 1) {
        CUgraphNode function = nodes[0];
        nodes[0] = nodes[1];
        nodes[1] = function;
    }
}

// Two instances of one graph run at the same time: each reads what the host has there when it runs.
static void two_instances(void) {
    unsigned n = COUNT;
    CUfunction add = function_of(module_of("vector_add"), "vector_add");
    CUgraphNode nodes[3];
    void *parameters[] = {&c, &a, &c, &n};
    CUDA_KERNEL_NODE_PARAMS sum = kernel_node(add, 4, 128, parameters);
    CUstream other = new_stream(), third = new_stream();
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING);
    float *locked = locked_memory(BYTES);
    CUDA_MEMCPY3D in = to_device(a, locked);
    CUgraph graph = new_graph();
    CHECK(cuGraphAddEventWaitNode(&nodes[0], graph, NULL, 0, event));
    CHECK(cuGraphAddMemcpyNode(&nodes[1], graph, &nodes[0], 1, &in, context));
    CHECK(cuGraphAddKernelNode(&nodes[2], graph, &nodes[1], 1, &sum));
    CUgraphExec one = instantiated(graph), two = instantiated(graph);
    upload_to(c, 0);
    Hold held = hold(third);
    CHECK(cuEventRecord(event, third));
    fill(locked, 1);
    CHECK(cuGraphLaunch(one, stream));
    // For the second launch there is nothing to wait for.
    CHECK(cuEventRecord(event, other));
    fill(locked, 10);
    CHECK(cuGraphLaunch(two, other));
    CHECK(cuStreamSynchronize(other));
    fill(locked, 1);
    let_go(held);
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoH(result, c, BYTES));
    require(result, 11, "two instances at the same time");
    CHECK(cuGraphExecDestroy(one));
    destroy_both(two, graph);
    CHECK(cuMemFreeHost(locked));
    CHECK(cuEventDestroy(event));
    CHECK(cuStreamDestroy(other));
    CHECK(cuStreamDestroy(third));
}

// What is changed in one of two instances does not matter to the function of the other, which takes what was copied.
static void one_of_two_instances(int captured) {
    float two = 2;
    CUgraph graph;
    CUgraphNode nodes[2];
    CUDA_MEMCPY3D out = to_host(elsewhere, c);
    if (captured) {
        CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        CHECK(cuMemcpyDtoHAsync(result, c, BYTES, stream));
        CHECK(cuLaunchHostFunc(stream, multiply, &two));
        CHECK(cuStreamEndCapture(stream, &graph));
        nodes_of(graph, nodes);
    } else {
        graph = copied_and_multiplied(nodes, result, &two);
    }
    CUgraphExec one = instantiated(graph), other = instantiated(graph);
    CHECK(cuGraphExecMemcpyNodeSetParams(one, nodes[0], &out, context));
    upload_to(c, 3);
    fill(result, 1);
    launch(other);
    require(result, 6, "an instance beside one that was changed");
    upload_to(c, 4);
    launch(one);
    require(result, 12, "where an instance that was changed copied before");
    require(elsewhere, 4, "where it copies now");
    CHECK(cuGraphExecDestroy(one));
    destroy_both(other, graph);
}

// The function of an instance without a copy is not called behind what another one copies.
static void one_instance_without_the_copy(void) {
    float two = 2;
    CUgraphNode nodes[2];
    CUgraph graph = copied_and_multiplied(nodes, result, &two);
    CUDA_MEMCPY3D on_device = {.source_kind = 2, .source_device = c, .target_kind = 2, .target_device = a,
                               .width = BYTES, .height = 1, .depth = 1};
    CUgraphExec one = instantiated(graph);
    CHECK(cuGraphMemcpyNodeSetParams(nodes[0], &on_device));
    CUgraphExec other = instantiated(graph);
    upload_to(c, 3);
    launch(one);
    require(result, 6, "an instance with a copy to the host");
    fill(result, 5);
    launch(other);
    require(result, 10, "an instance of the same graph without it");
    CHECK(cuGraphExecDestroy(one));
    destroy_both(other, graph);
}

// What was instantiated does what another graph does, and is changed by the nodes of its own one then.
static void updated_and_changed(void) {
    float two = 2, three = 3, four = 4;
    CUgraphNode nodes[2], others[2];
    CUgraph graph = copied_and_multiplied(nodes, elsewhere, &two);
    CUgraph another = copied_and_multiplied(others, result, &three);
    CUgraphExecUpdateResultInfo info;
    CUDA_MEMCPY3D out = to_host(elsewhere, c);
    CUDA_HOST_NODE_PARAMS function = {multiply, &four};
    CUgraphExec exec = instantiated(graph);
    CHECK(cuGraphExecUpdate(exec, another, &info));
    CHECK(cuGraphDestroy(another));
    upload_to(c, 1);
    fill(elsewhere, 7);
    launch(exec);
    require(result, 3, "what another graph does");
    require(elsewhere, 7, "where the first graph copies");
    CHECK(cuGraphExecHostNodeSetParams(exec, nodes[1], &function));
    launch(exec);
    require(result, 4, "another function");
    CHECK(cuGraphExecMemcpyNodeSetParams(exec, nodes[0], &out, context));
    upload_to(c, 5);
    fill(result, 1);
    launch(exec);
    require(elsewhere, 5, "another copy");
    require(result, 4, "where the other graph copied");
    destroy_both(exec, graph);
}

// What is updated while it runs copies where it did until it has run.
static void updated_while_it_runs(void) {
    float two = 2;
    CUgraphNode nodes[2];
    CUgraph graph = copied_and_multiplied(nodes, result, &two);
    CUgraphExecUpdateResultInfo info;
    CUDA_MEMCPY3D out = to_host(elsewhere, c);
    CUgraphExec exec = instantiated(graph);
    upload_to(c, 3);
    fill(result, 1);
    fill(elsewhere, 7);
    CHECK(cuGraphMemcpyNodeSetParams(nodes[0], &out));
    Hold held = hold(stream);
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuGraphExecUpdate(exec, graph, &info));
    let_go(held);
    CHECK(cuStreamSynchronize(stream));
    require(result, 6, "a launch of what was updated meanwhile");
    require(elsewhere, 7, "where the next launch copies");
    launch(exec);
    require(elsewhere, 3, "the launch behind it");
    require(result, 12, "its function");
    destroy_both(exec, graph);
}

static void nothing(void *data) {
    (void)data;
}

// Two copies exchange what they write while they run: each function has what was copied before it when it was launched.
static void exchanged_while_it_runs(void) {
    float two = 2;
    CUgraphNode nodes[2], beside[2];
    CUgraph graph = copied_and_multiplied(nodes, result, &two);
    CUgraphExecUpdateResultInfo info;
    CUDA_MEMCPY3D out = to_host(result, c), other_out = to_host(elsewhere, c);
    CUDA_HOST_NODE_PARAMS function = {.function = nothing};
    CHECK(cuGraphAddMemcpyNode(&beside[0], graph, NULL, 0, &other_out, context));
    CHECK(cuGraphAddHostNode(&beside[1], graph, &beside[0], 1, &function));
    CUgraphExec exec = instantiated(graph);
    upload_to(c, 3);
    fill(result, 1);
    fill(elsewhere, 7);
    CHECK(cuGraphMemcpyNodeSetParams(beside[0], &out));
    CHECK(cuGraphMemcpyNodeSetParams(nodes[0], &other_out));
    Hold held = hold(stream);
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuGraphExecUpdate(exec, graph, &info));
    let_go(held);
    CHECK(cuStreamSynchronize(stream));
    require(result, 6, "a launch whose copies were exchanged meanwhile");
    require(elsewhere, 3, "its other copy");
    fill(elsewhere, 7);
    launch(exec);
    require(elsewhere, 3, "the launch behind the exchange");
    destroy_both(exec, graph);
}

// The graph within a node is another one while it runs.
static void exchanged_within_a_node(void) {
    float two = 2, three = 3;
    CUgraphNode nodes[2], child;
    CUgraph graph, inside = copied_and_multiplied(nodes, result, &two);
    CUgraph another = copied_and_multiplied(nodes, elsewhere, &three);
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddChildGraphNode(&child, graph, NULL, 0, inside));
    CUgraphExec exec = instantiated(graph);
    upload_to(c, 3);
    fill(result, 1);
    fill(elsewhere, 7);
    Hold held = hold(stream);
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuGraphExecChildGraphNodeSetParams(exec, child, another));
    let_go(held);
    CHECK(cuStreamSynchronize(stream));
    require(result, 6, "a launch whose graph within a node was exchanged");
    require(elsewhere, 7, "where the other graph copies");
    launch(exec);
    require(elsewhere, 3, "the other graph within the node");
    require(result, 18, "its function");
    destroy_both(exec, graph);
    CHECK(cuGraphDestroy(inside));
    CHECK(cuGraphDestroy(another));
}

// Nodes of the copy that a node has of a graph do something else, and there is one more.
static void changed_within_a_node(void) {
    static float further[COUNT];
    float two = 2, three = 3;
    CUgraph own;
    CUgraphNode nodes[2], child, other, more, empty;
    CUgraph inside = copied_and_multiplied(nodes, result, &two);
    CUgraphExec exec;
    CUDA_MEMCPY3D out = to_host(elsewhere, c), out_too = to_host(further, a);
    CUDA_HOST_NODE_PARAMS function = {multiply, &three};
    CUgraph graph = new_graph();
    CHECK(cuGraphAddEmptyNode(&empty, graph, NULL, 0));
    CHECK(cuGraphAddChildGraphNode(&child, graph, NULL, 0, inside));
    CHECK(cuGraphDestroy(inside));
    CHECK(cuGraphChildGraphNodeGetGraph(child, &own));
    nodes_of(own, nodes);
    CHECK(cuGraphMemcpyNodeSetParams(nodes[0], &out));
    CHECK(cuGraphHostNodeSetParams(nodes[1], &function));
    CHECK(cuGraphAddMemcpyNode(&more, own, NULL, 0, &out_too, context));
    CUgraph another = new_graph();
    CHECK(cuGraphAddChildGraphNode(&other, another, NULL, 0, own));
    for (int copied = 0; copied < 2; copied++) {
        CHECK(cuGraphInstantiate(&exec, copied ? another : graph, 0));
        upload_to(a, 8 + (float)copied);
        upload_to(c, 4 + (float)copied);
        fill(result, 1);
        launch(exec);
        require(elsewhere, 4 + (float)copied, "a copy that was changed within a node");
        require(result, 3, "a function that was changed within a node");
        require(further, 8 + (float)copied, "a copy that was added within a node");
        CHECK(cuGraphExecDestroy(exec));
    }
    CHECK(cuGraphDestroyNode(child));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    fill(elsewhere, 1);
    fill(further, 2);
    launch(exec);
    require(elsewhere, 1, "a changed copy whose node is gone");
    require(further, 2, "an added copy whose node is gone");
    destroy_both(exec, graph);
    CHECK(cuGraphDestroy(another));
}

static _Atomic int may_go, gone;

static void go(void *values) {
    while (!may_go)
        usleep(1000);
    fill(values, 7);
}

static void has_gone(void *data) {
    (void)data;
    gone = 1;
}

// What a launch takes behind a function of the host does no harm to a capture that has begun meanwhile.
static void launched_beside_a_capture(void) {
    CUgraph captured;
    CUgraphNode nodes[3];
    CUstream other = new_stream();
    float *locked = locked_memory(BYTES);
    CUDA_MEMCPY3D in = to_device(a, locked);
    CUDA_HOST_NODE_PARAMS first = {go, locked}, last = {.function = has_gone};
    CUgraph graph = new_graph();
    CHECK(cuGraphAddHostNode(&nodes[0], graph, NULL, 0, &first));
    CHECK(cuGraphAddMemcpyNode(&nodes[1], graph, &nodes[0], 1, &in, context));
    CHECK(cuGraphAddHostNode(&nodes[2], graph, &nodes[1], 1, &last));
    CUgraphExec exec = instantiated(graph);
    upload_to(c, 0);
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamBeginCapture(other, CU_STREAM_CAPTURE_MODE_GLOBAL));
    may_go = 1;
    while (!gone)
        usleep(1000);
    CHECK(cuMemsetD8Async(c, 1, BYTES, other));
    CHECK(cuStreamEndCapture(other, &captured));
    CHECK(cuMemcpyDtoHAsync(result, a, BYTES, stream));
    CHECK(cuStreamSynchronize(stream));
    require(result, 7, "a launch beside a capture");
    destroy_both(exec, graph);
    CHECK(cuGraphDestroy(captured));
    CHECK(cuMemFreeHost(locked));
    CHECK(cuStreamDestroy(other));
}

static void end(void *ended) {
    *(_Atomic int *)ended = 1;
}

// What copies `from` and holds an object, and its graph.
static CUgraphExec holding(CUgraph *graph, const float *from, _Atomic int *ended) {
    CUuserObject object;
    CUgraphNode node;
    CUDA_MEMCPY3D in = to_device(a, from);
    CHECK(cuUserObjectCreate(&object, ended, end, 1, 1));
    CHECK(cuGraphCreate(graph, 0));
    CHECK(cuGraphAddMemcpyNode(&node, *graph, NULL, 0, &in, context));
    CHECK(cuGraphRetainUserObject(*graph, object, 1, 1));
    CUgraphExec exec = instantiated(*graph);
    return exec;
}

// Nobody who destroys what runs waits for it, and what it holds ends behind it, and behind no other launch.
static void destroyed_while_it_runs(void) {
    static _Atomic int ended, other_ended;
    CUgraph graph, other_graph;
    float *locked = locked_memory(BYTES);
    CUgraphExec exec = holding(&graph, locked, &ended), other = holding(&other_graph, locked, &other_ended);
    fill(locked, 6);
    launch(other);
    Hold held = hold(stream);
    CHECK(cuGraphLaunch(exec, stream));
    destroy_both(exec, graph);
    destroy_both(other, other_graph);
    while (!other_ended)
        usleep(1000);
    printf("what another one held has ended\n");
    REQUIRE(!ended, "the object ended before the launch");
    let_go(held);
    CHECK(cuMemcpyDtoHAsync(result, a, BYTES, stream));
    CHECK(cuStreamSynchronize(stream));
    require(result, 6, "a launch of what was destroyed");
    while (!ended)
        usleep(1000);
    printf("what it held has ended\n");
    CHECK(cuMemFreeHost(locked));
}

// An edge to a kernel that may start before the one ahead of it has ended says more than which nodes it joins.
static void early_start(void) {
    if (is_real()) // A device before compute capability 9.0 has no such edges.
        return;
    // CUgraphEdgeData: from port 1 of the kernel ahead, programmatic.
    static const unsigned char early[8] = {1, 0, 1};
    float two = 2;
    unsigned n = COUNT;
    CUgraphNode kernels[2], copied, called, from[4], to[4];
    void *first[] = {&a, &a, &c, &n}, *second[] = {&a, &c, &c, &n};
    CUDA_KERNEL_NODE_PARAMS sum = kernel_node(function_of(module_of("vector_add"), "vector_add"), 4, 128, first);
    CUDA_MEMCPY3D out = to_host(result, c);
    CUDA_HOST_NODE_PARAMS function = {multiply, &two};
    size_t count = 0;
    CUgraph graph = new_graph();
    CHECK(cuGraphAddKernelNode(&kernels[0], graph, NULL, 0, &sum));
    sum.parameters = second;
    CHECK(cuGraphAddKernelNode(&kernels[1], graph, NULL, 0, &sum));
    CHECK(cuGraphAddDependencies_v2(graph, &kernels[0], &kernels[1], early, 1));
    CHECK(cuGraphAddMemcpyNode(&copied, graph, &kernels[1], 1, &out, context));
    CHECK(cuGraphAddHostNode(&called, graph, &copied, 1, &function));
    CHECK(cuGraphGetEdges(graph, NULL, NULL, &count));
    printf("%zu edges\n", count);
    SHOW(cuGraphGetEdges(graph, from, to, &count));
    CUgraphExec exec = instantiated(graph);
    upload_to(a, 1);
    launch(exec);
    require(result, 6, "a copy and a function behind a kernel that starts early");
    destroy_both(exec, graph);
}

int main(void) {
    context = begin();
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    a = allocate(BYTES), c = allocate(BYTES);
    failed_launches();
    failed_in_a_capture();
    functions_in_a_row(0);
    functions_in_a_row(1);
    early_start();
    two_instances();
    one_of_two_instances(0);
    one_of_two_instances(1);
    one_instance_without_the_copy();
    updated_and_changed();
    updated_while_it_runs();
    exchanged_while_it_runs();
    exchanged_within_a_node();
    changed_within_a_node();
    launched_beside_a_capture();
    destroyed_while_it_runs();
    return 0;
}
