// With CUDA_LAUNCH_BLOCKING=1 a launch comes back when the kernel has ended; without, before.
#include <time.h>

#include "common.h"

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(void) {
    const char *setting = getenv("CUDA_LAUNCH_BLOCKING");
    int blocking = setting && strcmp(setting, "1") == 0;
    begin();
    CUmodule module = module_of("delay");
    CUfunction delay = function_of(module, "delay");
    CUstream stream = new_stream();
    uint64_t nanoseconds = 300 * 1000 * 1000;
    Hold busy = {0};
    if (!blocking)
        busy = hold(stream);
    double start = now();
    CHECK(LAUNCH(delay, 1, 1, stream, &nanoseconds));
    double took = now() - start;
    CUresult state = cuStreamQuery(stream);
    if (!blocking)
        let_go(busy);
    CHECK(cuStreamSynchronize(stream));
    if (blocking)
        REQUIRE(state == CUDA_SUCCESS && took >= 0.299, "the launch took %g s and left %d", took, state);
    else
        REQUIRE(state == CUDA_ERROR_NOT_READY, "the launch waited for its kernel");
    printf("blocking %d: after the launch the stream says %s\n", blocking, name_of(state));
    return 0;
}
