// Page-locked memory with a device pointer: kernels read and write the host's memory, which sees it when it has
// waited for them.
#include "common.h"
#include "managed.h"

int main(void) {
    enum { N = 10000 };
    CUcontext context = begin();
    CUmodule module = managed_module();
    CUfunction add_each = function_of(module, "add_each");
    int can = 0;
    CHECK(cuDeviceGetAttribute(&can, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 0));
    void *memory;
    CUdeviceptr device;
    CHECK(cuMemHostAlloc(&memory, N * sizeof(unsigned), CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
    CHECK(cuMemHostGetDevicePointer(&device, memory, 0));
    unsigned *words = memory, flags = 0, kind = 0, count = N, value = 5;
    for (unsigned i = 0; i < N; i++)
        words[i] = i;
    CHECK(LAUNCH(add_each, (N + 127) / 128, 128, NULL, &device, &count, &value));
    CHECK(cuCtxSynchronize());
    print_digest("written by a kernel", words, N * sizeof *words);
    CUdeviceptr plain = allocate(N * sizeof *words);
    CHECK(cuMemsetD32(plain, 9, N));
    words[0] = 1;
    CHECK(cuMemcpyHtoD(plain, words, 400));
    CHECK(cuMemcpyDtoH(words + 50, plain, 4000));
    print_digest("copied to and fro", words, N * sizeof *words);
    CUstream stream;
    CHECK(cuStreamCreate(&stream, 0));
    CHECK(LAUNCH(add_each, (N + 127) / 128, 128, stream, &plain, &count, &value));
    CHECK(cuMemcpyDtoHAsync(words, plain, N * sizeof *words, stream));
    CHECK(cuStreamSynchronize(stream));
    print_digest("copied in a stream", words, N * sizeof *words);
    // A fill has other work in front of it, and is over when the call returns: the host has the memory too.
    unsigned missed[2] = {0, 0};
    for (int two = 0; two < 2; two++) {
        for (int i = 0; i < 20; i++)
            CHECK(LAUNCH(add_each, (N + 127) / 128, 128, NULL, &plain, &count, &value));
        CHECK(two ? cuMemsetD2D32(device, N / 2 * sizeof *words, 8, N / 2, 2) : cuMemsetD32(device, 7, N));
        for (unsigned i = 0; i < N; i++)
            missed[two] += words[i] != 7u + two;
    }
    printf("not filled: %u, %u\n", missed[0], missed[1]);
    CUdeviceptr pointer = 0;
    CHECK(cuMemHostGetFlags(&flags, words + 7));
    CHECK(cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)(words + 7)));
    CHECK(cuPointerGetAttribute(&pointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, (CUdeviceptr)(uintptr_t)(words + 7)));
    printf("can %d, flags %u, kind %u, pointer %d\n", can, flags & 3, kind, (int)(pointer - device));
    CHECK(cuMemFreeHost(words));
    SHOW(cuMemHostGetDevicePointer(&device, words, 0));
    CHECK(cuMemFree(plain));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuModuleUnload(module));
    CHECK(cuCtxDestroy(context));
    return 0;
}
