// Asks the CUDA driver three times for a table that it has, and once for one that it has not.
#include <dlfcn.h>
#include <string.h>

int main(void) {
    static const unsigned char runtime[16] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                              0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};
    unsigned char unknown[16];
    const void *table = 0;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver)
        return 1;
    int (*init)(unsigned) = (int (*)(unsigned))dlsym(driver, "cuInit");
    int (*get)(const void **, const void *) =
        (int (*)(const void **, const void *))dlsym(driver, "cuGetExportTable");
    if (!init || !get || init(0))
        return 2;
    for (int n = 0; n < 3; n++)
        if (get(&table, runtime) || !table)
            return 3;
    memset(unknown, 0xab, sizeof unknown);
    return get(&table, unknown) ? 0 : 4;
}
