// Asynchronous copies from and to pinned and pageable memory, rectangles, copies whose kind is found by address.
#include "common.h"

enum { SIZE = 3 * 1024 * 1024 + 17, SMALL = 5000 };

static void large(void) {
    CUstream stream = new_stream();
    unsigned char *source = locked_memory(SIZE), *target = host_memory(SIZE, 0);
    uint64_t state = 9;
    for (int i = 0; i < SIZE; i++)
        source[i] = (unsigned char)random_u64(&state);
    CUdeviceptr a = allocate(SIZE), b = allocate(SIZE);
    CHECK(cuMemcpyHtoDAsync(a, source, SIZE, stream));
    CHECK(cuMemcpyDtoDAsync(b, a, SIZE, stream));
    CHECK(cuMemcpyDtoHAsync(target, b, SIZE, stream));
    CHECK(cuStreamSynchronize(stream));
    REQUIRE(memcmp(source, target, SIZE) == 0, "pinned memory differs");
    print_digest("pinned", target, SIZE);

    // From pageable memory the source may be changed as soon as the call is back.
    unsigned char *pageable = malloc(SIZE), *back = malloc(SIZE);
    memcpy(pageable, source, SIZE);
    CHECK(cuMemcpyHtoDAsync(a, pageable, SIZE, stream));
    memset(pageable, 0, SIZE);
    CHECK(cuMemsetD8Async(b, 0, SIZE, stream));
    CHECK(cuMemcpyAsync(b, a, SIZE, stream));
    CHECK(cuMemcpyDtoHAsync(back, b, SIZE, stream));
    CHECK(cuStreamSynchronize(stream));
    REQUIRE(memcmp(source, back, SIZE) == 0, "pageable memory differs");
    print_digest("pageable", back, SIZE);
    CHECK(cuMemFreeHost(source));
    CHECK(cuMemFreeHost(target));
    SHOW(cuMemFreeHost(target));
    CHECK(cuMemFree(a));
    CHECK(cuMemFree(b));
    free(pageable);
    free(back);
}

// Page-locked memory that was never written to, then is, and is given back before anybody waits.
static void given_back(void) {
    unsigned char *source, *back = malloc(SIZE), *wanted = calloc(1, SIZE);
    CUstream stream = new_stream();
    CHECK(cuMemAllocHost((void **)&source, SIZE));
    CUdeviceptr a = allocate(SIZE);
    CHECK(cuMemsetD8Async(a, 1, SIZE, stream));
    CHECK(cuMemcpyHtoDAsync(a, source, SIZE, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoH(back, a, SIZE));
    REQUIRE(memcmp(wanted, back, SIZE) == 0, "untouched memory differs");
    uint64_t state = 11;
    for (int i = 0; i < SIZE; i++)
        wanted[i] = source[i] = (unsigned char)random_u64(&state);
    CHECK(cuMemcpyHtoDAsync(a, source, SIZE, stream));
    CHECK(cuMemFreeHost(source));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoH(back, a, SIZE));
    REQUIRE(memcmp(wanted, back, SIZE) == 0, "memory that was given back differs");
    print_digest("given back", back, SIZE);
    CHECK(cuMemFree(a));
    CHECK(cuStreamDestroy(stream));
    free(back);
    free(wanted);
}

// The source of a copy is overwritten in the order of its stream, by a copy that the host's processor makes.
static void overwritten_in_order(void) {
    enum { WIDTH = 4096, HEIGHT = SIZE / WIDTH, ALL = WIDTH * HEIGHT };
    unsigned char *source, *other, *back = malloc(ALL), *wanted = malloc(ALL);
    CUstream stream = new_stream();
    CHECK(cuMemAllocHost((void **)&source, ALL));
    CHECK(cuMemAllocHost((void **)&other, ALL));
    uint64_t state = 12;
    for (int i = 0; i < ALL; i++) {
        wanted[i] = source[i] = (unsigned char)random_u64(&state);
        other[i] = (unsigned char)~source[i];
    }
    CUdeviceptr a = allocate(ALL);
    CUDA_MEMCPY2D over = {.source_kind = 1, .source_host = other, .source_pitch = WIDTH, .target_kind = 1,
                          .target_host = source, .target_pitch = WIDTH, .width = WIDTH, .height = HEIGHT};
    CHECK(cuMemcpyHtoDAsync(a, source, ALL, stream));
    CHECK(cuMemcpy2DAsync(&over, stream));
    CHECK(cuStreamSynchronize(stream));
    REQUIRE(memcmp(source, other, ALL) == 0, "a copy within the host's memory differs");
    CHECK(cuMemcpyDtoH(back, a, ALL));
    REQUIRE(memcmp(wanted, back, ALL) == 0, "memory that was overwritten in order differs");
    print_digest("overwritten in order", back, ALL);
    CHECK(cuMemFreeHost(source));
    CHECK(cuMemFreeHost(other));
    CHECK(cuMemFree(a));
    CHECK(cuStreamDestroy(stream));
    free(back);
    free(wanted);
}

static void registered(void) {
    size_t size = 1 << 20;
    unsigned char *memory = aligned_alloc(4096, size), *back = malloc(size);
    memset(memory, 0x5a, size);
    CHECK(cuMemHostRegister(memory, size, 0));
    SHOW(cuMemHostRegister(memory, size, 0));
    CUdeviceptr a = allocate(size);
    CHECK(cuMemcpyHtoDAsync(a, memory, size, NULL));
    CHECK(cuMemcpyDtoH(back, a, size));
    REQUIRE(memcmp(memory, back, size) == 0, "registered memory differs");
    CHECK(cuMemHostUnregister(memory));
    SHOW(cuMemHostUnregister(memory));
    CHECK(cuMemFree(a));
    free(memory);
    free(back);
}

static void rectangles(void) {
    enum { WIDTH = 100, HEIGHT = 37 };
    unsigned char source[HEIGHT][WIDTH], target[HEIGHT][WIDTH], want[HEIGHT][WIDTH];
    uint64_t state = 10;
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        source[i / WIDTH][i % WIDTH] = (unsigned char)random_u64(&state);
    CUdeviceptr image;
    size_t pitch;
    CHECK(cuMemAllocPitch(&image, &pitch, WIDTH, HEIGHT, 4));
    REQUIRE(pitch >= WIDTH && pitch % 4 == 0, "the pitch is %zu", pitch);
    CUDA_MEMCPY2D in = {.source_kind = 1, .source_host = source, .source_pitch = WIDTH, .target_kind = 2,
                        .target_device = image, .target_pitch = pitch, .width = WIDTH, .height = HEIGHT};
    CHECK(cuMemcpy2D(&in));
    CUDA_MEMCPY2D shift = {.source_kind = 2, .source_device = image, .source_pitch = pitch, .source_x = 10, .source_y = 5,
                           .target_kind = 2, .target_device = image, .target_pitch = pitch, .target_x = 60,
                           .target_y = 20, .width = 40, .height = 15};
    CHECK(cuMemcpy2D(&shift));
    memset(target, 0, sizeof target);
    CUDA_MEMCPY2D out = {.source_kind = 2, .source_device = image, .source_pitch = pitch, .target_kind = 1,
                         .target_host = target, .target_pitch = WIDTH, .width = WIDTH, .height = HEIGHT};
    CHECK(cuMemcpy2DAsync(&out, NULL));
    CHECK(cuCtxSynchronize());
    memcpy(want, source, sizeof want);
    for (int row = 0; row < 15; row++)
        memcpy(&want[20 + row][60], &source[5 + row][10], 40);
    REQUIRE(memcmp(want, target, sizeof want) == 0, "rectangles differ");
    print_digest("rectangles", target, sizeof target);
    in.width = WIDTH + 1;
    SHOW_SOON(cuMemcpy2D(&in));
    CHECK(cuMemFree(image));
}

static void kinds_by_address(void) {
    unsigned char source[SMALL], target[SMALL];
    memset(source, 0x33, SMALL);
    memset(target, 0, SMALL);
    CUdeviceptr a = allocate(SMALL), b = allocate(SMALL);
    CHECK(cuMemcpy(a, (CUdeviceptr)(uintptr_t)source, SMALL));
    CHECK(cuMemcpy(b, a, SMALL));
    CHECK(cuMemcpy((CUdeviceptr)(uintptr_t)target, b, SMALL));
    REQUIRE(memcmp(source, target, SMALL) == 0, "unified copies differ");
    print_digest("kinds by address", target, SMALL);
    CHECK(cuMemcpyHtoD(a, source, 0));
    CHECK(cuMemFree(a));
    CHECK(cuMemFree(b));
}

static void ordered_allocations(void) {
    CUstream stream = new_stream();
    unsigned back[1000];
    for (int round = 0; round < 5; round++) {
        CUdeviceptr memory;
        CHECK(cuMemAllocAsync(&memory, sizeof back, stream));
        CHECK(cuMemsetD32Async(memory, (unsigned)round + 100, 1000, stream));
        CHECK(cuMemcpyDtoHAsync(back, memory, sizeof back, stream));
        CHECK(cuMemFreeAsync(memory, stream));
        CHECK(cuStreamSynchronize(stream));
        for (int i = 0; i < 1000; i++)
            REQUIRE(back[i] == (unsigned)round + 100, "round %d: element %d is %u", round, i, back[i]);
    }
    printf("stream-ordered allocations: last %u\n", back[999]);
}

int main(void) {
    begin();
    large();
    given_back();
    overwritten_in_order();
    registered();
    rectangles();
    kinds_by_address();
    ordered_allocations();
    CHECK(cuCtxSynchronize());
    return 0;
}
