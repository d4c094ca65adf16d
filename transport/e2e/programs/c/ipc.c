// Two processes with one piece of device memory: one makes it, the other opens it by its handle; an event of the
// one tells the other when it may go on.
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"
#include "managed.h"

enum { N = 100000, OFFSET = 300 };
// Words that take a while on their way to the server, and how often they are copied.
enum { LARGE = 2 << 20, COPIES = 6 };

typedef struct {
    CUipcMemHandle memory, large;
    CUipcEventHandle event;
} Handles;

static void give(int to, const void *data, size_t size) {
    REQUIRE(write(to, data, size) == (ssize_t)size, "the other process is gone");
}

static void take(int from, void *data, size_t size) {
    REQUIRE(read(from, data, size) == (ssize_t)size, "the other process is gone");
}

// Copies to memory that the other process has, which looks at the last word as soon as this one says that it is there: every
// second time behind an event.
static void copy_for_other(int to, int from, CUdeviceptr large, CUevent event) {
    unsigned seen;
    unsigned *words = locked_memory(LARGE * sizeof *words);
    for (int copy = 0; copy < COPIES; copy++) {
        int behind = copy % 2;
        for (int i = 0; i < LARGE; i++)
            words[i] = (unsigned)copy + 1;
        if (behind) {
            CHECK(cuMemcpyHtoDAsync(large, words, LARGE * sizeof *words, NULL));
            CHECK(cuEventRecord(event, NULL));
        } else {
            CHECK(cuMemcpyHtoD(large, words, LARGE * sizeof *words));
        }
        give(to, &behind, sizeof behind);
        take(from, &seen, sizeof seen);
        printf("copied %s: %u\n", behind ? "before an event" : "at once", seen);
    }
    CHECK(cuMemFreeHost(words));
}

static void look_at_copies(int to, int from, CUdeviceptr large, CUevent event) {
    for (int copy = 0; copy < COPIES; copy++) {
        int behind;
        unsigned seen;
        take(from, &behind, sizeof behind);
        if (behind)
            CHECK(cuStreamWaitEvent(NULL, event, 0));
        CHECK(cuMemcpyDtoH(&seen, large + (LARGE - 1) * sizeof seen, sizeof seen));
        give(to, &seen, sizeof seen);
    }
}

// Opens the memory, waits for the event, adds 5 to each word, and says so.
static int other(int from, int to) {
    Handles handles;
    take(from, &handles, sizeof handles);
    CUcontext context = begin();
    CUmodule module = managed_module();
    CUfunction add_each = function_of(module, "add_each");
    CUdeviceptr memory, large, again;
    CUevent event;
    CHECK(cuIpcOpenMemHandle(&memory, handles.memory, 1));
    CHECK(cuIpcOpenMemHandle(&again, handles.memory, 1));
    REQUIRE(memory == again, "opened twice, it lies in two places");
    CHECK(cuIpcCloseMemHandle(again));
    CHECK(cuIpcOpenMemHandle(&large, handles.large, 1));
    CHECK(cuIpcOpenEventHandle(&event, handles.event));
    CHECK(cuStreamWaitEvent(NULL, event, 0));
    unsigned count = N, value = 5, first;
    CHECK(LAUNCH(add_each, (N + 255) / 256, 256, NULL, &memory, &count, &value));
    CHECK(cuEventRecord(event, NULL));
    // Told after the record, so that the first process waits for it.
    CHECK(cuMemcpyDtoH(&first, memory, sizeof first));
    give(to, &first, sizeof first);
    take(from, &count, sizeof count);
    CHECK(cuMemcpyDtoH(&first, memory, sizeof first));
    CHECK(cuIpcCloseMemHandle(memory));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuIpcCloseMemHandle(memory));
    give(to, &first, sizeof first);
    look_at_copies(to, from, large, event);
    CHECK(cuIpcCloseMemHandle(large));
    CHECK(cuEventDestroy(event));
    CHECK(cuModuleUnload(module));
    CHECK(cuCtxDestroy(context));
    return 0;
}

int main(void) {
    int there[2], back[2];
    REQUIRE(pipe(there) == 0 && pipe(back) == 0, "no pipe");
    // Before CUDA is started: a process that was forked after that has none.
    pid_t child = fork();
    if (child == 0) {
        close(there[1]);
        close(back[0]);
        return other(there[0], back[1]);
    }
    close(there[0]);
    close(back[1]);
    CUcontext context = begin();
    // A neighbour on either side, which nobody shares.
    CUdeviceptr before = allocate(1000), memory = allocate(N * sizeof(unsigned)), behind = allocate(1000);
    CUdeviceptr large = allocate(LARGE * sizeof(unsigned));
    CHECK(cuMemsetD8(before, 1, 1000));
    CHECK(cuMemsetD8(behind, 2, 1000));
    CHECK(cuMemsetD32(memory, 100, N));
    Handles handles;
    int capable = -1;
    CHECK(cuPointerGetAttribute(&capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, memory));
    printf("memory can be opened elsewhere: %d\n", capable & 1);
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS);
    CHECK(cuIpcGetMemHandle(&handles.memory, memory));
    CHECK(cuIpcGetMemHandle(&handles.large, large));
    CHECK(cuIpcGetEventHandle(&handles.event, event));
    CHECK(cuMemsetD32Async(memory, 101, N, NULL));
    CHECK(cuEventRecord(event, NULL));
    CHECK(cuEventSynchronize(event));
    give(there[1], &handles, sizeof handles);
    unsigned first = 0, *words = malloc(N * sizeof *words);
    take(back[0], &first, sizeof first);
    printf("the other process saw and added: %u\n", first);
    CHECK(cuEventSynchronize(event));
    CHECK(cuMemcpyDtoH(words, memory, N * sizeof *words));
    print_digest("what is there", words, N * sizeof *words);
    CHECK(cuMemsetD32(memory, 7, 1));
    CHECK(cuCtxSynchronize());
    give(there[1], &first, sizeof first);
    take(back[0], &first, sizeof first);
    printf("the other process sees: %u\n", first);
    copy_for_other(there[1], back[0], large, event);
    int status = -1;
    waitpid(child, &status, 0);
    printf("it ended with %d\n", status);

    unsigned char bytes[1000];
    CHECK(cuMemcpyDtoH(bytes, before, 1000));
    print_digest("before it", bytes, 1000);
    CHECK(cuMemFree(large));
    CHECK(cuMemFree(memory));
    CHECK(cuMemcpyDtoH(bytes, behind, 1000));
    print_digest("behind it", bytes, 1000);
    CUdeviceptr opened;
    SHOW_STALE(cuIpcOpenMemHandle(&opened, handles.memory, 1));
    SHOW_STALE(cuIpcOpenMemHandle(&opened, handles.memory, 0));
    memset(&handles, 0, sizeof handles);
    SHOW_STALE(cuIpcOpenMemHandle(&opened, handles.memory, 1));
    SHOW_STALE(cuIpcGetMemHandle(&handles.memory, before + OFFSET));
    CUevent plain = new_event(CU_EVENT_DISABLE_TIMING);
    SHOW(cuIpcGetEventHandle(&handles.event, plain));
    SHOW_SOON(cuEventCreate(&plain, CU_EVENT_INTERPROCESS));
    free(words);
    CHECK(cuCtxDestroy(context));
    return 0;
}
