// What is reported about an address.
#include "common.h"

static void describe(const char *what, CUdeviceptr address, CUcontext context, CUdeviceptr base, size_t bytes) {
    unsigned kind = 0, managed = 77;
    int ordinal = -1;
    CUcontext owner = NULL;
    CUdeviceptr device = 0, start = 0;
    size_t size = 0;
    CUresult results[] = {
        cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, address),
        cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address),
        cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address),
        cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address),
        cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address),
        cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address),
        cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address),
    };
    printf("%s: results", what);
    for (unsigned i = 0; i < sizeof results / sizeof *results; i++)
        printf(" %d", results[i]);
    printf(", kind %u, device pointer %s, context %s, ordinal %d, start %s, size %s\n", kind,
           device == address ? "the same" : device ? "another" : "none", owner == context ? "this" : "none", ordinal,
           start == base ? "right" : "none", size == bytes ? "right" : "none");
}

int main(void) {
    CUcontext context = begin();
    size_t bytes = 10000;
    CUdeviceptr memory = allocate(bytes);
    describe("device memory", memory, context, memory, bytes);
    describe("within device memory", memory + 5000, context, memory, bytes);
    static int ordinary;
    describe("ordinary memory", (CUdeviceptr)(uintptr_t)&ordinary, context, 1, 0);
    CHECK(cuMemFree(memory));
    describe("freed memory", memory, context, 1, 0);

    void *pinned;
    unsigned kind = 0, flags = 77;
    CHECK(cuMemHostAlloc(&pinned, bytes, 1));
    CHECK(cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)pinned));
    CHECK(cuMemHostGetFlags(&flags, pinned));
    printf("pinned memory: kind %u, portable %u\n", kind, flags & 1);
    SHOW(cuMemHostUnregister(pinned));
    SHOW(cuMemHostUnregister((char *)pinned + 64));
    CHECK(cuMemFreeHost(pinned));
    CHECK(cuMemHostAlloc(&pinned, bytes, 0));
    CHECK(cuMemHostGetFlags(&flags, pinned));
    printf("allocated without flags: %u\n", flags);
    CHECK(cuMemFreeHost(pinned));
    SHOW(cuMemHostAlloc(&pinned, 0, 0));
    printf("no bytes are %s\n", pinned ? "somewhere" : "nowhere");
    SHOW(cuMemFreeHost(pinned));
    SHOW(cuMemHostUnregister(pinned));

    memory = allocate(bytes);
    int ordinal = -1, attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *values[] = {&kind, &ordinal};
    CHECK(cuPointerGetAttributes(2, attributes, values, memory));
    printf("several at once: kind %u, ordinal %d\n", kind, ordinal);
    CHECK(cuPointerGetAttributes(2, attributes, values, (CUdeviceptr)(uintptr_t)&ordinary));
    printf("several of ordinary memory: kind %u, ordinal %d\n", kind, ordinal);
    attributes[1] = 9999;
    SHOW(cuPointerGetAttributes(2, attributes, values, memory));
    // The value is an int; what lies behind it is the program's.
    for (int known = 0; known < 2; known++) {
        unsigned handles[] = {9, 9};
        attributes[0] = CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES;
        values[0] = handles;
        CHECK(cuPointerGetAttributes(1, attributes, values, known ? memory : (CUdeviceptr)(uintptr_t)&ordinary));
        printf("behind the kinds of handles: %u\n", handles[1]);
    }
    // What was set is what is read, and of the size of an int.
    for (unsigned wanted = 0; wanted < 3; wanted++) {
        unsigned set = wanted % 2;
        int synchronous = -1;
        CHECK(cuPointerSetAttribute(&set, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
        CHECK(cuPointerGetAttribute(&synchronous, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
        printf("synchronous: %u was set, %d is read\n", set, synchronous);
    }
    return 0;
}
