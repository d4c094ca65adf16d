// A program whose server dies while it idles, and which then makes one small copy that it does not wait for. With the
// argument `destroy` it ends its context, which waits.
#include "common.h"

int main(int argc, char **argv) {
    CUcontext context = begin();
    CUdeviceptr memory = allocate(4096);
    CHECK(cuCtxSynchronize());
    printf("ready\n");
    fflush(stdout);
    char line[16];
    REQUIRE(fgets(line, sizeof line, stdin), "no word to go on");
    int value = 7;
    printf("copy %d\n", (int)cuMemcpyHtoD(memory, &value, sizeof value));
    if (argc > 1 && strcmp(argv[1], "destroy") == 0)
        printf("destroy %d\n", (int)cuCtxDestroy(context));
    return 0;
}
