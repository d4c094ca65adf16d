// A graph of a captured stream, launched as often as the first argument says: launches that are not awaited. With a
// second argument the graph copies memory of the program, to the device and back.
#include "common.h"

enum { COUNT = 4096, BYTES = COUNT * sizeof(float) };

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 10, copies = argc > 2;
    float *host = calloc(COUNT, sizeof *host), *result = calloc(COUNT, sizeof *result);
    unsigned n = COUNT;
    begin();
    CUfunction add = function_of(module_of("vector_add"), "vector_add");
    CUgraph graph;
    int status;
    CUstream stream = new_stream();
    CUdeviceptr a = allocate(BYTES), b = allocate(BYTES);
    CHECK(cuMemsetD32Async(a, 0x3f800000, COUNT, stream));
    CHECK(cuMemsetD32Async(b, 0, COUNT, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    if (copies)
        CHECK(cuMemcpyHtoDAsync(a, host, BYTES, stream));
    for (int i = 0; i < 10; i++) {
        CHECK(LAUNCH(add, 16, 256, stream, &a, &b, &b, &n));
        CHECK(cuStreamIsCapturing(stream, &status));
    }
    if (copies)
        CHECK(cuMemcpyDtoHAsync(result, b, BYTES, stream));
    CHECK(cuStreamEndCapture(stream, &graph));
    CUgraphExec exec = instantiated(graph);
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < COUNT; i++)
            host[i] = 1;
        // As PyTorch asks beside each replay.
        CHECK(cuStreamIsCapturing(stream, &status));
        CHECK(cuGraphLaunch(exec, stream));
        if (!copies)
            continue;
        CHECK(cuStreamSynchronize(stream));
        REQUIRE(result[7] == 10.0f * (float)(round + 1), "round %d: %g", round, result[7]);
        memset(host, 0xff, BYTES);
    }
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoH(result, b, BYTES));
    for (int i = 0; i < COUNT; i++)
        REQUIRE(result[i] == 10.0f * (float)rounds, "%d is %g", i, result[i]);
    printf("%d launches of ten kernels\n", rounds);
    destroy_both(exec, graph);
    return 0;
}
