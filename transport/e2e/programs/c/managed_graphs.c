// Managed memory in captured streams and in graphs: what the host writes before a launch is there for the graph, and
// what the graph writes is there for the host when it has waited.
#include "common.h"
#include "managed.h"

enum { COUNT = 70000, BYTES = COUNT * sizeof(unsigned), ROUNDS = 4 };

static CUfunction add_each;

static void add(unsigned *words, unsigned value, CUstream stream) {
    CUdeviceptr address = address_of(words);
    unsigned count = COUNT;
    CHECK(LAUNCH(add_each, (COUNT + 255) / 256, 256, stream, &address, &count, &value));
}

static void are(const unsigned *words, unsigned first, unsigned step, const char *what) {
    for (unsigned i = 0; i < COUNT; i++)
        REQUIRE(words[i] == first + step * i, "%s: word %u is %u, not %u", what, i, words[i], first + step * i);
}

// Kernels and copies of all directions, captured; the host changes and looks between launches. Only a relaxed capture would
// outlive that anything is sent meanwhile.
static void captured(int mode) {
    unsigned *one = managed(BYTES, CU_MEM_ATTACH_GLOBAL), *two = managed(BYTES, CU_MEM_ATTACH_GLOBAL);
    unsigned *plain = malloc(BYTES), *pinned;
    CHECK(cuMemAllocHost((void **)&pinned, BYTES));
    CUdeviceptr device = allocate(BYTES), aside = allocate(BYTES);
    CUcontext context;
    CUgraph graph;
    CUgraphNode fill;
    unsigned count = COUNT, four = 4, last;
    CUstream stream = new_stream(), other = new_stream();
    CUevent forked = new_event(0), joined = new_event(0);
    CUDA_MEMSET_NODE_PARAMS six = {.target = aside, .value = 6, .element_size = 4, .width = COUNT, .height = 1};
    CHECK(cuCtxGetCurrent(&context));
    CUgraph part = new_graph();
    CHECK(cuGraphAddMemsetNode(&fill, part, NULL, 0, &six, context));
    CUgraphExec part_exec = instantiated(part);
    // Touched while it is captured: nothing of it is sent or dropped at the wrong time.
    for (unsigned i = 0; i < COUNT; i++)
        one[i] = 7;
    CHECK(cuStreamBeginCapture(stream, mode));
    add(one, 5, stream);
    REQUIRE(one[3] == 7, "a captured kernel has run: %u", one[3]);
    CHECK(cuMemcpyDtoDAsync(device, address_of(one), BYTES, stream));
    CHECK(cuMemcpyDtoHAsync(two, device, BYTES, stream));
    add(two, 1000, stream);
    CHECK(cuMemcpyAsync(address_of(pinned), address_of(two), BYTES, stream));
    CHECK(cuMemcpyHtoDAsync(device, plain, BYTES, stream));
    CHECK(cuMemsetD32Async(address_of(one), 9, COUNT / 2, stream));
    CHECK(cuMemcpyDtoDAsync(address_of(one + COUNT / 2), device, BYTES / 2, stream));
    CHECK(cuMemcpyDtoHAsync(pinned, address_of(two), BYTES, stream));
    // Another stream joins by an event, and a graph is launched into it.
    CHECK(cuEventRecord(forked, stream));
    CHECK(cuStreamWaitEvent(other, forked, 0));
    CHECK(cuMemsetD32Async(aside, 5, COUNT, other));
    CHECK(cuGraphLaunch(part_exec, other));
    CHECK(LAUNCH(add_each, (COUNT + 255) / 256, 256, other, &aside, &count, &four));
    CHECK(cuEventRecord(joined, other));
    CHECK(cuStreamWaitEvent(stream, joined, 0));
    CHECK(cuStreamEndCapture(stream, &graph));
    CUgraphExec exec = instantiated(graph);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < COUNT; i++) {
            one[i] = 3 * i + round;
            two[i] = 0xdead;
            plain[i] = 11 * i + round;
        }
        CHECK(cuGraphLaunch(exec, stream));
        CHECK(cuStreamSynchronize(stream));
        are(two, round + 1005, 3, "two");
        are(pinned, round + 1005, 3, "pinned");
        for (unsigned i = 0; i < COUNT / 2; i++)
            REQUIRE(one[i] == 9 && one[COUNT / 2 + i] == 11 * i + round, "one: word %u is %u, and %u", i, one[i],
                    one[COUNT / 2 + i]);
    }
    CHECK(cuMemcpyDtoH(&last, aside + BYTES - sizeof last, sizeof last));
    REQUIRE(last == 10, "the other stream's part: %u", last);
    print_digest("captured", two, BYTES);
    destroy_both(exec, graph);
    destroy_both(part_exec, part);
    CHECK(cuMemFree(address_of(one)));
    CHECK(cuMemFree(address_of(two)));
    CHECK(cuMemFree(device));
    CHECK(cuMemFree(aside));
    CHECK(cuMemFreeHost(pinned));
    free(plain);
    CHECK(cuEventDestroy(forked));
    CHECK(cuEventDestroy(joined));
    CHECK(cuStreamDestroy(other));
    CHECK(cuStreamDestroy(stream));
}

// Nodes whose copies call managed memory host memory, device memory, or neither.
// A copy in a graph reads what a node before it wrote, also where the program calls the memory the host's.
static void node_after_node(void) {
    enum { HOST = 1, DEVICE = 2 };
    unsigned *words = managed(BYTES, CU_MEM_ATTACH_GLOBAL), back[2];
    CUdeviceptr device = allocate(BYTES);
    CUcontext context;
    CUgraphNode fill, out;
    CHECK(cuCtxGetCurrent(&context));
    CUstream stream = new_stream();
    CUgraph graph = new_graph();
    CUDA_MEMSET_NODE_PARAMS set = {.target = address_of(words), .value = 78, .element_size = 4, .width = COUNT,
                                   .height = 1};
    CUDA_MEMCPY3D copy = {.source_kind = HOST, .source_host = words, .target_kind = DEVICE, .target_device = device,
                          .width = BYTES, .height = 1, .depth = 1};
    CHECK(cuGraphAddMemsetNode(&fill, graph, NULL, 0, &set, context));
    CHECK(cuGraphAddMemcpyNode(&out, graph, &fill, 1, &copy, context));
    CUgraphExec exec = instantiated(graph);
    for (int round = 0; round < 2; round++) {
        for (unsigned i = 0; i < COUNT; i++)
            words[i] = 3;
        CHECK(cuGraphLaunch(exec, stream));
        CHECK(cuStreamSynchronize(stream));
        CHECK(cuMemcpyDtoH(back, device, sizeof back));
        REQUIRE(back[0] == 78 && words[1] == 78, "round %d: %u, %u", round, back[0], words[1]);
    }
    destroy_both(exec, graph);

    // The same of copies that are captured.
    CUDA_MEMCPY2D flat = {.source_kind = HOST, .source_host = words, .source_pitch = 64, .target_kind = DEVICE,
                          .target_device = device, .target_pitch = 64, .width = 64, .height = 2};
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemsetD32Async(address_of(words), 79, COUNT, stream));
    CHECK(cuMemcpy2DAsync(&flat, stream));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoH(back, device, sizeof back));
    REQUIRE(back[1] == 79, "captured: %u", back[1]);
    destroy_both(exec, graph);
    CHECK(cuStreamDestroy(stream));
    CHECK(cuMemFree(device));
    printf("a node after a node: %u\n", back[1]);
}

static void nodes(void) {
    enum { HOST = 1, DEVICE = 2, UNIFIED = 4 };
    unsigned *words = managed(BYTES, CU_MEM_ATTACH_GLOBAL), *other = managed(BYTES, CU_MEM_ATTACH_GLOBAL);
    unsigned *attached = managed(BYTES, CU_MEM_ATTACH_HOST);
    CUdeviceptr device = allocate(BYTES);
    CUcontext context;
    CHECK(cuCtxGetCurrent(&context));
    CUstream stream = new_stream();
    const unsigned kinds[] = {HOST, DEVICE, UNIFIED};
    for (unsigned from = 0; from < 3; from++)
        for (unsigned to = 0; to < 3; to++) {
            CUgraphNode in, add, fill, out;
            CUgraph graph = new_graph();
            CUDA_MEMCPY3D copy = {.source_kind = kinds[from], .source_host = words, .source_device = address_of(words),
                                  .target_kind = DEVICE, .target_device = device,
                                  .width = BYTES, .height = 1, .depth = 1};
            CHECK(cuGraphAddMemcpyNode(&in, graph, NULL, 0, &copy, context));
            CUdeviceptr address = device;
            unsigned count = COUNT, value = 10 * from + to;
            void *arguments[] = {&address, &count, &value};
            CUDA_KERNEL_NODE_PARAMS kernel = kernel_node(add_each, (COUNT + 255) / 256, 256, arguments);
            CHECK(cuGraphAddKernelNode(&add, graph, &in, 1, &kernel));
            CUDA_MEMSET_NODE_PARAMS set = {.target = address_of(words), .value = 77, .element_size = 4,
                                           .width = COUNT, .height = 1};
            CHECK(cuGraphAddMemsetNode(&fill, graph, &add, 1, &set, context));
            CUDA_MEMCPY3D back = {.source_kind = DEVICE, .source_device = device, .target_kind = kinds[to],
                                  .target_host = other, .target_device = address_of(other),
                                  .width = BYTES, .height = 1, .depth = 1};
            CHECK(cuGraphAddMemcpyNode(&out, graph, &fill, 1, &back, context));
            CUgraphExec exec = instantiated(graph);
            for (unsigned round = 0; round < 2; round++) {
                for (unsigned i = 0; i < COUNT; i++) {
                    words[i] = i + round;
                    other[i] = 1;
                    attached[i] = i ^ round;
                }
                CHECK(cuGraphLaunch(exec, stream));
                CHECK(cuStreamSynchronize(stream));
                are(other, value + round, 1, "other");
                are(words, 77, 0, "words");
                for (unsigned i = 0; i < COUNT; i += 911)
                    REQUIRE(attached[i] == (i ^ round), "memory that is the host's: word %u is %u", i, attached[i]);
            }
            destroy_both(exec, graph);
        }
    print_digest("nodes", other, BYTES);
    CHECK(cuMemFree(address_of(words)));
    CHECK(cuMemFree(address_of(other)));
    CHECK(cuMemFree(address_of(attached)));
    CHECK(cuMemFree(device));
    CHECK(cuStreamDestroy(stream));
}

static unsigned *seen;
static int seen_right;

static void host(void *data) {
    seen_right = seen[COUNT - 1] == (unsigned)(uintptr_t)data;
    seen[COUNT - 1] += 1;
}

// A function of the program between two kernels of a graph sees what the first has left, and the second what it has.
static void functions(void) {
    seen = managed(BYTES, CU_MEM_ATTACH_GLOBAL);
    CUgraph graph;
    CUstream stream = new_stream();
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    add(seen, 2, stream);
    CHECK(cuLaunchHostFunc(stream, host, (void *)(uintptr_t)42));
    add(seen, 5, stream);
    CHECK(cuStreamEndCapture(stream, &graph));
    CUgraphExec exec = instantiated(graph);
    for (int round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < COUNT; i++)
            seen[i] = 40;
        seen_right = 0;
        CHECK(cuGraphLaunch(exec, stream));
        CHECK(cuStreamSynchronize(stream));
        REQUIRE(seen_right, "round %d: the function saw something else", round);
        REQUIRE(seen[COUNT - 1] == 48 && seen[0] == 47, "round %d: %u and %u", round, seen[COUNT - 1], seen[0]);
    }
    printf("a function between kernels saw %d\n", 42);
    destroy_both(exec, graph);
    // Neither can be captured: the capture is no more.
    for (int attach = 0; attach < 2; attach++) {
        CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
        add(seen, 1, stream);
        CUresult result = attach ? cuStreamAttachMemAsync(stream, address_of(seen), 0, CU_MEM_ATTACH_GLOBAL)
                                 : cuMemPrefetchAsync(address_of(seen), BYTES, 0, stream);
        REQUIRE(result == 900 || (result == 0 && getenv("GTRACE_REMOTE")), "it gave %d", result);
        CUgraph none = (CUgraph)1;
        result = cuStreamEndCapture(stream, &none);
        // The first error of the capture, or that it has failed.
        REQUIRE(result == 900 || result == 901, "the end gave %d", result);
        CHECK(cuStreamSynchronize(stream));
    }
    // Nor can it be freed meanwhile: it stays what it was.
    CUgraph refused;
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SHOW(cuMemFree(address_of(seen)));
    SHOW(cuStreamEndCapture(stream, &refused));
    seen[5] = 3;
    add(seen, 1, stream);
    CHECK(cuStreamSynchronize(stream));
    printf("after captures that failed: %u\n", seen[5]);
    CHECK(cuMemFree(address_of(seen)));
    CHECK(cuStreamDestroy(stream));
}

int main(void) {
    begin();
    CUmodule module = managed_module();
    add_each = function_of(module, "add_each");
    captured(CU_STREAM_CAPTURE_MODE_RELAXED);
    captured(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    captured(CU_STREAM_CAPTURE_MODE_GLOBAL);
    nodes();
    node_after_node();
    functions();
    return 0;
}
