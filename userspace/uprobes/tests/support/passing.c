// A library that passes its calls on to another, as one that is put before the driver's does; without INNER, that other.
#include <dlfcn.h>
#include <stdint.h>

#ifdef INNER
static void *inner(const char *name) {
    static void *library;
    if (!library)
        library = dlopen(INNER, RTLD_NOW | RTLD_LOCAL);
    return dlsym(library, name);
}

int cuMemAlloc_v2(uint64_t *place, uint64_t size) {
    volatile int result = ((int (*)(uint64_t *, uint64_t))inner("cuMemAlloc_v2"))(place, size);
    return result;
}

int cuMemFree_v2(uint64_t address) {
    volatile int result = ((int (*)(uint64_t))inner("cuMemFree_v2"))(address);
    return result;
}
#else
int cuMemAlloc_v2(uint64_t *place, uint64_t size) {
    *place = 0x1000;
    return size == 0;
}

int cuMemFree_v2(uint64_t address) { return address == 0; }
#endif
