// Results that end where a page begins which nobody may touch, or begin where one ends: who writes more than a call
// has asked for ends the program by a signal, and so does a byte that was changed on the other side of the result.
#define _DEFAULT_SOURCE
#include <sys/mman.h>

#include "common.h"

enum { PAGE = 4096, ROOM = 64 * PAGE, MARK = 0xa5, LARGE = 40 * PAGE + 13, PITCH = 512 };

// Memory between two guards, with a result of `size` bytes at its end or at its beginning.
typedef struct {
    unsigned char *room, *at;
    size_t size;
} result_t;

static result_t result(size_t size, int at_end) {
    unsigned char *all = mmap(NULL, ROOM + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(all != MAP_FAILED, "no memory");
    result_t made = {.room = all + PAGE, .size = size};
    REQUIRE(mprotect(made.room, ROOM, PROT_READ | PROT_WRITE) == 0, "no memory");
    memset(made.room, MARK, ROOM);
    made.at = at_end ? made.room + ROOM - size : made.room;
    return made;
}

// Nothing but the result was written.
static void done(result_t *made) {
    for (unsigned char *at = made->room; at < made->room + ROOM; at++)
        if ((at < made->at || at >= made->at + made->size) && *at != MARK) {
            fprintf(stderr, "a byte %td from a result of %zu was written\n", at - made->at, made->size);
            abort();
        }
    munmap(made->room - PAGE, ROOM + 2 * PAGE);
}

static void questions(int at_end) {
    result_t name = result(64, at_end), uuid = result(sizeof(CUuuid), at_end), bus = result(16, at_end);
    SHOW(cuDeviceGetName((char *)name.at, 64, 0));
    SHOW(cuDeviceGetUuid((CUuuid *)uuid.at, 0));
    SHOW(cuDeviceGetPCIBusId((char *)bus.at, 16, 0));
    result_t free_bytes = result(sizeof(size_t), at_end), all_bytes = result(sizeof(size_t), at_end);
    SHOW(cuMemGetInfo((size_t *)free_bytes.at, (size_t *)all_bytes.at));
    result_t address = result(sizeof(CUdeviceptr), at_end);
    SHOW(cuMemAlloc((CUdeviceptr *)address.at, 1000));
    CUdeviceptr memory = *(CUdeviceptr *)address.at;
    SHOW(cuMemFree(memory));
    result_t *all[] = {&name, &uuid, &bus, &free_bytes, &all_bytes, &address};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        done(all[i]);
}

static void copies(int at_end) {
    static const size_t sizes[] = {1, 4, 100, PAGE, LARGE};
    static unsigned char bytes[LARGE];
    uint64_t state = 3;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)random_u64(&state);
    CUdeviceptr memory = 0;
    SHOW(cuMemAlloc(&memory, sizeof bytes));
    SHOW(cuMemcpyHtoD(memory, bytes, sizeof bytes));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        result_t back = result(sizes[i], at_end), later = result(sizes[i], at_end);
        SHOW(cuMemcpyDtoH(back.at, memory, sizes[i]));
        SHOW(cuMemcpyDtoHAsync(later.at, memory, sizes[i], NULL));
        SHOW(cuStreamSynchronize(NULL));
        printf("%zu bytes are %s and %s\n", sizes[i], memcmp(back.at, bytes, sizes[i]) ? "others" : "right",
               memcmp(later.at, bytes, sizes[i]) ? "others" : "right");
        done(&back);
        done(&later);
    }
    // Rows that end before their pitch: what lies between them is not the copy's.
    result_t rows = result(7 * PITCH + 100, at_end);
    CUDA_MEMCPY2D copy = {
        .source_kind = 2, .source_device = memory, .source_pitch = PITCH,
        .target_kind = 1, .target_host = rows.at, .target_pitch = PITCH, .width = 100, .height = 8,
    };
    SHOW(cuMemcpy2D(&copy));
    int right = 1, between = 1;
    for (int row = 0; row < 8; row++) {
        right &= memcmp(rows.at + row * PITCH, bytes + row * PITCH, 100) == 0;
        for (int at = 100; row < 7 && at < PITCH; at++)
            between &= rows.at[row * PITCH + at] == MARK;
    }
    printf("rows are %s\n", right ? "right" : "others");
    if (!between) {
        fprintf(stderr, "a byte between rows was written\n");
        abort();
    }
    done(&rows);
    SHOW(cuMemFree(memory));
}

int main(void) {
    CUcontext context;
    SHOW(cuInit(0));
    SHOW(cuCtxCreate(&context, 0, 0));
    for (int at_end = 0; at_end < 2; at_end++) {
        questions(at_end);
        copies(at_end);
    }
    SHOW(cuCtxDestroy(context));
    return 0;
}
