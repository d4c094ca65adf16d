// A program that closes all its descriptors, those of the driver's library among them, as one does that becomes a daemon. With
// the argument `reopened` it has other files by their numbers then.
#include <fcntl.h>
#include <unistd.h>

#include "common.h"

int main(int argc, char **argv) {
    begin();
    CUdeviceptr memory = allocate(4096);
    CHECK(cuCtxSynchronize());
    closefrom(3);
    for (int i = 0; argc > 1 && strcmp(argv[1], "reopened") == 0 && i < 64; i++)
        REQUIRE(open("/dev/null", O_RDWR) >= 0, "no file");
    int value = 5, back = 0;
    CUresult sent = cuMemcpyHtoD(memory, &value, sizeof value);
    CUresult got = cuMemcpyDtoH(&back, memory, sizeof back);
    if (sent == CUDA_SUCCESS && got == CUDA_SUCCESS)
        printf("goes on: %d\n", back);
    else
        printf("fails: %d\n", got);
    return 0;
}
