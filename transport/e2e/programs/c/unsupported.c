// Functions that gtrace does not offer: each answers so, and the program goes on. By itself the driver has them.
#include <dlfcn.h>

#include "common.h"

int main(void) {
    begin();
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library, "%s", dlerror());
    const char *names[] = {"cuImportExternalMemory", "cuGreenCtxCreate", "cuCheckpointProcessLock", "cuImportExternalMemory",
                           "cuSignalExternalSemaphoresAsync_ptsz"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        CUresult (*function)(void *, void *, void *, unsigned) = dlsym(library, names[i]);
        REQUIRE(function, "no %s", names[i]);
        CUresult result = function(NULL, NULL, NULL, 0);
        printf("%s: %d %s\n", names[i], result, name_of(result));
        void *found = (void *)1;
        int status = -1;
        CUresult (*find)(const char *, void **, int, uint64_t, int *) = dlsym(library, "cuGetProcAddress_v2");
        find(names[i], &found, 13000, 0, &status);
        printf("cuGetProcAddress: %s, status %d\n", found ? "found" : "not found", status);
    }
    unsigned value = 0;
    CUdeviceptr memory = allocate(sizeof value);
    CHECK(cuMemsetD32(memory, 5, 1));
    CHECK(cuMemcpyDtoH(&value, memory, sizeof value));
    printf("still works: %u\n", value);
    return 0;
}
