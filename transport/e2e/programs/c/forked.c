// fork: a child may use CUDA if its parent had not begun to; else it gets an error, and the parent goes on.
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

static int add_in_this_process(int value) {
    begin();
    CUdeviceptr memory = allocate(4);
    CHECK(cuMemsetD32(memory, (unsigned)value, 1));
    unsigned back;
    CHECK(cuMemcpyDtoH(&back, memory, 4));
    return (int)back;
}

static int status_of(pid_t child) {
    int status;
    REQUIRE(waitpid(child, &status, 0) == child && WIFEXITED(status), "the child did not end by itself");
    return WEXITSTATUS(status);
}

int main(void) {
    pid_t child = fork();
    if (child == 0)
        _exit(add_in_this_process(41));
    REQUIRE(status_of(child) == 41, "a child before cuInit could not use CUDA");
    printf("a child before cuInit worked\n");
    fflush(stdout);

    REQUIRE(add_in_this_process(7) == 7, "the parent's memory is wrong");
    CUdeviceptr memory = allocate(4), other;
    CHECK(cuMemsetD32(memory, 99, 1));
    child = fork();
    if (child == 0) {
        unsigned back;
        CUresult results[] = {cuMemAlloc(&other, 16), cuMemcpyDtoH(&back, memory, 4), cuCtxSynchronize()};
        for (int i = 0; i < 3; i++)
            if (results[i] == CUDA_SUCCESS)
                _exit(1);
        // exit and not _exit: what runs at the end of a program must not disturb the parent either.
        exit(results[0]);
    }
    int status = status_of(child);
    REQUIRE(status == CUDA_ERROR_NOT_INITIALIZED, "a child after cuInit was told %d", status);
    printf("a child after cuInit was told %s\n", name_of(status));
    unsigned back;
    CHECK(cuMemcpyDtoH(&back, memory, 4));
    REQUIRE(back == 99, "the parent's memory has changed: %u", back);
    printf("the parent goes on: %u\n", back);
    return 0;
}
