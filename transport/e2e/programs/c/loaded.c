// Finds the driver as NVIDIA's runtime does: opened at run time, its functions asked for by name and version.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

typedef CUresult (*Find)(const char *, void **, int, uint64_t, int *);

int main(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    Find find = (Find)dlsym(library, "cuGetProcAddress_v2");
    if (!find)
        return 2;
    const struct { const char *name; int version; uint64_t flags; const char *symbol; } asked[] = {
        {"cuInit", 2000, 0, "cuInit"},
        {"cuMemAlloc", 3020, 0, "cuMemAlloc_v2"},
        {"cuMemcpyHtoD", 7000, 2, "cuMemcpyHtoD_v2_ptds"},
        {"cuMemcpyHtoD", 7000, 0, "cuMemcpyHtoD_v2"},
        {"cuLaunchKernel", 7000, 2, "cuLaunchKernel_ptsz"},
        {"cuLaunchKernel", 7000, 0, "cuLaunchKernel"},
        {"cuStreamSynchronize", 7000, 2, "cuStreamSynchronize_ptsz"},
        {"cuCtxDestroy", 4000, 0, "cuCtxDestroy_v2"},
        {"cuDevicePrimaryCtxRelease", 11000, 0, "cuDevicePrimaryCtxRelease_v2"},
        {"cuGetProcAddress", 12000, 0, "cuGetProcAddress_v2"},
        {"cuNoSuchFunction", 12000, 0, NULL},
    };
    for (unsigned i = 0; i < sizeof asked / sizeof *asked; i++) {
        void *function = (void *)-1;
        int status = -1;
        CUresult result = find(asked[i].name, &function, asked[i].version, asked[i].flags, &status);
        // That the symbol and the pointer are one is documented nowhere.
        int comparable = !getenv("GTRACE_REAL_GPU");
        void *symbol = asked[i].symbol ? dlsym(library, asked[i].symbol) : NULL;
        // For a name that is unknown drivers differ in the result, not in the rest.
        printf("%s at %d, flags %llu: result %d, status %d, %s\n", asked[i].name, asked[i].version,
               (unsigned long long)asked[i].flags, asked[i].symbol ? result : -1, status,
               !function || function == (void *)-1 ? "none"
               : !comparable                       ? "a function"
               : function == symbol                ? asked[i].symbol
                                                   : "another function");
        if (asked[i].symbol && (result != CUDA_SUCCESS || !function || (comparable && function != symbol)))
            return 3;
    }
    CUresult (*init)(unsigned), (*count)(int *);
    int devices = 0, status;
    find("cuInit", (void **)&init, 12000, 0, &status);
    find("cuDeviceGetCount", (void **)&count, 12000, 0, &status);
    if (init(0) != CUDA_SUCCESS || count(&devices) != CUDA_SUCCESS)
        return 4;
    printf("devices %d\n", devices);
    return 0;
}
