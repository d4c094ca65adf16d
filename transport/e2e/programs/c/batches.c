// Batches: copies of all kinds at once, managed memory that is moved or discarded, and words that streams wait for.
#include "common.h"

enum { N = 5000 };

static void are(const unsigned char *bytes, unsigned char value, const char *what) {
    for (int i = 0; i < N; i++)
        REQUIRE(bytes[i] == value, "%s: byte %d is %02x, not %02x", what, i, bytes[i], value);
}

static CUdeviceptr at(const void *pointer) {
    return (CUdeviceptr)(uintptr_t)pointer;
}

static void copies(CUstream stream) {
    static unsigned char plain[N], there[N], back[N];
    unsigned char *pinned = locked_memory(N), *late = locked_memory(N);
    CUdeviceptr a = allocate(N), b = allocate(N), c = allocate(N), d = allocate(N);
    CHECK(cuMemsetD8Async(c, 3, N, stream));
    CHECK(cuMemsetD8Async(d, 4, N, stream));
    memset(plain, 1, N);
    memset(pinned, 2, N);
    CUdeviceptr targets[] = {a, b, d, at(late), at(back)}, sources[] = {at(plain), at(pinned), c, c, at(plain)};
    size_t sizes[] = {N, N, N / 2, N, N}, firsts[] = {0, 2}, failed = 77;
    CUmemcpyAttributes attributes[] = {{.source_order = 2}, {.source_order = 1, .flags = 1}};
    CHECK(cuMemcpyBatchAsync(targets, sources, sizes, 5, attributes, firsts, 2, &failed, stream));
    // The source of the first was read during the call.
    memset(plain, 0xee, N);
    CHECK(cuStreamSynchronize(stream));
    are(late, 3, "to page-locked memory");
    are(back, 1, "from host to host");
    CHECK(cuMemcpyDtoH(there, a, N));
    are(there, 1, "from the host");
    CHECK(cuMemcpyDtoH(there, b, N));
    are(there, 2, "from page-locked memory");
    CHECK(cuMemcpyDtoH(there, d, N));
    REQUIRE(there[N / 2 - 1] == 3 && there[N / 2] == 4, "between: %d and %d", there[N / 2 - 1], there[N / 2]);
    CHECK(cuMemcpyBatchAsync_v2(targets + 3, sources, sizes, 1, attributes, firsts, 1, stream));
    CHECK(cuStreamSynchronize(stream));
    are(late, 0xee, "the second form");
    // What is wrong with the arrays is reported at once.
    SHOW(cuMemcpyBatchAsync(targets, sources, sizes, 5, attributes, firsts, 2, &failed, NULL));
    SHOW(cuMemcpyBatchAsync(targets, sources, sizes, 0, attributes, firsts, 2, &failed, stream));
    SHOW(cuMemcpyBatchAsync(targets, sources, sizes, 5, NULL, NULL, 0, &failed, stream));
    size_t odd[] = {0, 0}, late_first[] = {1, 2}, beyond[] = {0, 5};
    SHOW(cuMemcpyBatchAsync(targets, sources, sizes, 5, attributes, odd, 2, &failed, stream));
    SHOW(cuMemcpyBatchAsync(targets, sources, sizes, 5, attributes, late_first, 2, &failed, stream));
    SHOW(cuMemcpyBatchAsync(targets, sources, sizes, 5, attributes, beyond, 2, &failed, stream));
    printf("none of the copies: %d\n", failed == SIZE_MAX);
    attributes[1].source_order = 0;
    SHOW(cuMemcpyBatchAsync(targets, sources, sizes, 5, attributes, firsts, 2, &failed, stream));
    printf("failed %zu\n", failed);
    SHOW(cuMemcpyBatchAsync_v2(targets, sources, sizes, 5, attributes, firsts, 2, stream));
    // A capture takes no batches.
    attributes[0] = attributes[1] = (CUmemcpyAttributes){.source_order = 1};
    CUgraph graph;
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    SHOW(cuMemcpyBatchAsync_v2(targets, sources, sizes, 4, attributes, firsts, 2, stream));
    SHOW(cuStreamEndCapture(stream, &graph));
    CHECK(cuMemFreeHost(pinned));
    CHECK(cuMemFreeHost(late));
    printf("copies\n");
}

static void managed(CUstream stream) {
    CUdeviceptr words[2];
    for (int i = 0; i < 2; i++) {
        CHECK(cuMemAllocManaged(&words[i], 100000, CU_MEM_ATTACH_GLOBAL));
        memset((void *)(uintptr_t)words[i], 5 + i, 100000);
    }
    size_t sizes[] = {100000, 4096}, firsts[] = {0, 1};
    CUmemLocation places[] = {{1, 0}, {2, 0}};
    CHECK(cuMemPrefetchBatchAsync(words, sizes, 2, places, firsts, 2, 0, stream));
    CHECK(cuMemsetD8Async(words[0], 7, 50000, stream));
    CHECK(cuStreamSynchronize(stream));
    unsigned char *first = (unsigned char *)(uintptr_t)words[0], *second = (unsigned char *)(uintptr_t)words[1];
    printf("moved: %d %d %d\n", first[0], first[99999], second[4095]);
    CHECK(cuMemDiscardBatchAsync(words, sizes, 2, 0, stream));
    CHECK(cuMemsetD8Async(words[0], 8, 100000, stream));
    CHECK(cuStreamSynchronize(stream));
    // What was not discarded is there.
    printf("discarded and written: %d; kept: %d\n", first[77777], second[4096]);
    CHECK(cuMemDiscardAndPrefetchBatchAsync(words, sizes, 1, places, firsts, 1, 0, stream));
    CHECK(cuStreamSynchronize(stream));
    SHOW_SOON(cuMemPrefetchBatchAsync(words, sizes, 2, places, firsts, 2, 1, stream));
    SHOW_SOON(cuMemDiscardBatchAsync(words, sizes, 2, 1, stream));
    CHECK(cuMemFree(words[0]));
    CHECK(cuMemFree(words[1]));
}

static void words(CUstream stream) {
    CUstream other = new_stream();
    CUdeviceptr flags = allocate(64), memory = allocate(N);
    unsigned char there[N];
    CHECK(cuMemsetD8(flags, 0, 64));
    CHECK(cuMemsetD8(memory, 0, N));
    CHECK(cuCtxSynchronize());
    // `stream` waits for two words that `other` writes when it has filled the memory.
    CUstreamBatchMemOpParams waits[] = {{.operation = 1, .address = flags, .value = 3},
                                        {.operation = 4, .address = flags + 8, .value = 1ull << 40, .flags = 1},
                                        {.operation = 6}};
    CHECK(cuStreamBatchMemOp(stream, 3, waits, 0));
    CHECK(cuMemcpyDtoDAsync(memory, memory + N / 2, N / 2, stream));
    CHECK(cuMemsetD8Async(memory + N / 2, 6, N / 2, other));
    CUstreamBatchMemOpParams writes[] = {{.operation = 2, .address = flags, .value = 4},
                                         {.operation = 5, .address = flags + 8, .value = 1ull << 40}};
    CHECK(cuStreamBatchMemOp(other, 2, writes, 0));
    CHECK(cuStreamWaitValue32(other, flags + 16, 9, 1));
    CHECK(cuStreamWriteValue64(stream, flags + 24, 1, 0));
    CHECK(cuStreamWriteValue32(stream, flags + 16, 9, 0));
    CHECK(cuStreamWaitValue64(other, flags + 24, 1, 0));
    CHECK(cuStreamSynchronize(other));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoH(there, memory, N));
    are(there, 6, "behind words");
    // Words of page-locked memory, which nothing has used before.
    uint64_t *locked = host_memory(2 * sizeof *locked, 0);
    locked[0] = locked[1] = 0;
    CUdeviceptr of_host = (CUdeviceptr)(uintptr_t)locked;
    CUstreamBatchMemOpParams both[] = {{.operation = 2, .address = of_host, .value = 7},
                                       {.operation = 5, .address = of_host + 8, .value = 1ull << 50}};
    CHECK(cuStreamBatchMemOp(stream, 2, both, 0));
    CHECK(cuStreamSynchronize(stream));
    REQUIRE(locked[0] == 7 && locked[1] == 1ull << 50, "%llu, %llu", (unsigned long long)locked[0],
            (unsigned long long)locked[1]);
    CHECK(cuMemFreeHost(locked));
    SHOW_SOON(cuStreamBatchMemOp(stream, 0, waits, 0));
    SHOW_SOON(cuStreamBatchMemOp(stream, 1, waits, 5));
    waits[0].address += 2;
    SHOW_SOON(cuStreamBatchMemOp(stream, 1, waits, 0));
    CHECK(cuStreamDestroy(other));
    CHECK(cuMemFree(flags));
    CHECK(cuMemFree(memory));
    printf("words\n");
}

int main(void) {
    begin();
    CUstream stream = new_stream();
    if (cuMemcpyBatchAsync && cuMemcpyBatchAsync_v2)
        copies(stream);
    if (cuMemPrefetchBatchAsync && cuMemDiscardBatchAsync && cuMemDiscardAndPrefetchBatchAsync)
        managed(stream);
    words(stream);
    return 0;
}
