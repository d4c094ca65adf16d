// What a program in a container does with the GPUs that it was given: finds the driver by its name, and prints each device's
// UUID and whether a copy there and back gives the same bytes.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;

static void check(int result, const char *what) {
    if (result) {
        fprintf(stderr, "%s: %d\n", what, result);
        exit(1);
    }
}

static void *function(const char *name) {
    void *found = dlsym(library, name);
    check(!found, name);
    return found;
}

int main(void) {
    library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    int (*init)(unsigned) = function("cuInit");
    int (*count)(int *) = function("cuDeviceGetCount");
    int (*get)(int *, int) = function("cuDeviceGet");
    int (*uuid_of)(unsigned char *, int) = function("cuDeviceGetUuid");
    int (*create)(void **, unsigned, int) = function("cuCtxCreate_v2");
    int (*allocate)(uint64_t *, size_t) = function("cuMemAlloc_v2");
    int (*to_device)(uint64_t, const void *, size_t) = function("cuMemcpyHtoD_v2");
    int (*from_device)(void *, uint64_t, size_t) = function("cuMemcpyDtoH_v2");
    int devices = 0;
    check(init(0), "cuInit");
    check(count(&devices), "cuDeviceGetCount");
    for (int i = 0; i < devices; i++) {
        int device;
        unsigned char uuid[16];
        void *context;
        uint64_t memory;
        char out[4096], back[4096];
        memset(out, i + 1, sizeof out);
        check(get(&device, i), "cuDeviceGet");
        check(uuid_of(uuid, device), "cuDeviceGetUuid");
        check(create(&context, 0, device), "cuCtxCreate");
        check(allocate(&memory, sizeof out), "cuMemAlloc");
        check(to_device(memory, out, sizeof out), "cuMemcpyHtoD");
        check(from_device(back, memory, sizeof back), "cuMemcpyDtoH");
        printf("GPU-");
        for (int byte = 0; byte < 16; byte++)
            printf("%s%02x", byte == 4 || byte == 6 || byte == 8 || byte == 10 ? "-" : "", uuid[byte]);
        printf(" %s\n", memcmp(out, back, sizeof out) ? "differs" : "same");
    }
    return 0;
}
