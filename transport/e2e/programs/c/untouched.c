// Calls functions of the driver that have no public signature, by libcuda.so.1 as it is found.
#include <dlfcn.h>
#include <stdio.h>

typedef int (*Many)(int, long, double, float, void *, int, int, int, long, double, int);
typedef int (*None)(void);

int main(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    Many many = (Many)dlsym(library, "cuVDPAUCtxCreate");
    None init = (None)dlsym(library, "cuGLInit");
    // The driver does not have it.
    None absent = (None)dlsym(library, "cuVDPAUGetDevice");
    if (!many || !init || !absent)
        return 2;
    for (int i = 0; i < 2; i++)
        printf("%d %d %d\n", many(i, -2, 3.5, 4.25f, "five", 6, 7, 8, 9000000000, 10.5, 11), init(), absent());
    fflush(stdout);
    return dlclose(library);
}
