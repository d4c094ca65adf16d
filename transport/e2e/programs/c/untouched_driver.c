// A driver that has only functions without a public signature, which say what arguments they were given. Stands in for
// the driver where a tracer passes calls on without a look.
#include <stdio.h>

#define PUBLIC __attribute__((visibility("default")))

PUBLIC int cuVDPAUCtxCreate(int a, long b, double c, float d, void *e, int f, int g, int h, long i, double j, int k) {
    printf("%d %ld %g %g %s %d %d %d %ld %g %d\n", a, b, c, (double)d, (const char *)e, f, g, h, i, j, k);
    return 42;
}

PUBLIC int cuGLInit(void) {
    return 43;
}
