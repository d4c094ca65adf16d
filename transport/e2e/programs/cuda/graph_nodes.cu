// Graphs with memory of their own, with loops and branches that the device decides, and captured from several streams.
#include "common.h"

__global__ void add(int *values, int count, int what) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) values[at] += what;
}

__global__ void count_down(int *left, cudaGraphConditionalHandle handle) {
    *left -= 1;
    cudaGraphSetConditional(handle, *left > 0);
}

__global__ void choose(const int *left, cudaGraphConditionalHandle handle, int which) {
    cudaGraphSetConditional(handle, *left == which);
}

const int COUNT = 1000;

// Memory that is taken and freed within a graph.
static void memory(cudaStream_t stream) {
    int *out, *within;
    OK(cudaMalloc(&out, COUNT * sizeof(int)));
    cudaGraph_t graph;
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaMallocAsync(&within, COUNT * sizeof(int), stream));
    OK(cudaMemsetAsync(within, 0, COUNT * sizeof(int), stream));
    add<<<8, 128, 0, stream>>>(within, COUNT, 41);
    add<<<8, 128, 0, stream>>>(within, COUNT, 1);
    OK(cudaMemcpyAsync(out, within, COUNT * sizeof(int), cudaMemcpyDeviceToDevice, stream));
    OK(cudaFreeAsync(within, stream));
    OK(cudaStreamEndCapture(stream, &graph));
    size_t nodes;
    OK(cudaGraphGetNodes(graph, nullptr, &nodes));
    cudaGraphExec_t instance;
    OK(cudaGraphInstantiate(&instance, graph, 0));
    for (int round = 0; round < 3; round++) OK(cudaGraphLaunch(instance, stream));
    int host[COUNT];
    OK(cudaMemcpyAsync(host, out, sizeof host, cudaMemcpyDefault, stream));
    OK(cudaStreamSynchronize(stream));
    for (int value : host) EXPECT(value == 42);
    printf("memory: %zu nodes\n", nodes);
    OK(cudaGraphExecDestroy(instance));
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(out));
}

// While the device says so, and if it says so.
static void conditions(cudaStream_t stream) {
    int *values, *left, start = 7, host[COUNT];
    OK(cudaMalloc(&values, sizeof host));
    OK(cudaMalloc(&left, sizeof *left));
    cudaGraph_t graph, body;
    OK(cudaGraphCreate(&graph, 0));
    cudaGraphConditionalHandle loop, branch;
    OK(cudaGraphConditionalHandleCreate(&loop, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = loop;
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 1;
    cudaGraphNode_t node, set, next;
#if CUDART_VERSION >= 13000
    OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
#else
    OK(cudaGraphAddNode(&node, graph, nullptr, 0, &params));
#endif
    body = params.conditional.phGraph_out[0];
    OK(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
    add<<<8, 128, 0, stream>>>(values, COUNT, 5);
    count_down<<<1, 1, 0, stream>>>(left, loop);
    OK(cudaStreamEndCapture(stream, nullptr));

    OK(cudaGraphConditionalHandleCreate(&branch, graph, 0, cudaGraphCondAssignDefault));
    int which = 0;
    void *arguments[] = {&left, &branch, &which};
    cudaKernelNodeParams kernel = {};
    kernel.func = (void *)choose;
    kernel.gridDim = kernel.blockDim = dim3(1);
    kernel.kernelParams = arguments;
    OK(cudaGraphAddKernelNode(&set, graph, &node, 1, &kernel));
    params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = branch;
    params.conditional.type = cudaGraphCondTypeIf;
    params.conditional.size = 1;
#if CUDART_VERSION >= 13000
    OK(cudaGraphAddNode(&next, graph, &set, nullptr, 1, &params));
#else
    OK(cudaGraphAddNode(&next, graph, &set, 1, &params));
#endif
    OK(cudaStreamBeginCaptureToGraph(stream, params.conditional.phGraph_out[0], nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
    add<<<8, 128, 0, stream>>>(values, COUNT, 1000);
    OK(cudaStreamEndCapture(stream, nullptr));

    cudaGraphExec_t instance;
    OK(cudaGraphInstantiate(&instance, graph, 0));
    for (int round = 1; round <= 2; round++) {
        OK(cudaMemsetAsync(values, 0, sizeof host, stream));
        OK(cudaMemcpyAsync(left, &start, sizeof start, cudaMemcpyDefault, stream));
        OK(cudaGraphLaunch(instance, stream));
        OK(cudaMemcpyAsync(host, values, sizeof host, cudaMemcpyDefault, stream));
        OK(cudaStreamSynchronize(stream));
        for (int value : host) EXPECT(value == start * 5 + 1000);
        printf("conditions: %d times\n", start);
        start += 2;
    }
    OK(cudaGraphExecDestroy(instance));
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(values));
    OK(cudaFree(left));
}

// Two streams fork and join; the graph is updated in place by another one of the same form.
static void forked(cudaStream_t stream) {
    cudaStream_t other;
    cudaEvent_t fork, join;
    OK(cudaStreamCreate(&other));
    OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    int *values, host[COUNT];
    OK(cudaMalloc(&values, sizeof host));
    auto captured = [&](int what) {
        cudaGraph_t graph;
        OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        OK(cudaMemsetAsync(values, 0, sizeof host, stream));
        OK(cudaEventRecord(fork, stream));
        OK(cudaStreamWaitEvent(other, fork, 0));
        add<<<4, 128, 0, stream>>>(values, COUNT / 2, what);
        add<<<4, 128, 0, other>>>(values + COUNT / 2, COUNT / 2, 2 * what);
        OK(cudaEventRecord(join, other));
        OK(cudaStreamWaitEvent(stream, join, 0));
        OK(cudaStreamEndCapture(stream, &graph));
        return graph;
    };
    cudaGraph_t first = captured(3), second = captured(10);
    cudaGraphExec_t instance;
    OK(cudaGraphInstantiate(&instance, first, 0));
    OK(cudaGraphLaunch(instance, stream));
    cudaGraphExecUpdateResultInfo info;
    OK(cudaGraphExecUpdate(instance, second, &info));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpy(host, values, sizeof host, cudaMemcpyDefault));
    EXPECT(host[0] == 3 && host[COUNT - 1] == 6);
    OK(cudaGraphLaunch(instance, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpy(host, values, sizeof host, cudaMemcpyDefault));
    EXPECT(host[0] == 10 && host[COUNT - 1] == 20);
    printf("forked: updated %d, %016llx\n", info.result, digest(host, sizeof host));
    OK(cudaGraphExecDestroy(instance));
    for (cudaGraph_t graph : {first, second}) OK(cudaGraphDestroy(graph));
    for (cudaEvent_t event : {fork, join}) OK(cudaEventDestroy(event));
    OK(cudaStreamDestroy(other));
    OK(cudaFree(values));
}

int main() {
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    memory(stream);
    conditions(stream);
    forked(stream);
    OK(cudaStreamDestroy(stream));
    return 0;
}
