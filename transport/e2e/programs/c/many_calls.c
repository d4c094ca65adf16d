// Threads that call the driver as often as their argument says, by symbols that the program is linked with and by
// addresses that it asks for.
#include <signal.h>
#include <unistd.h>

#include "common.h"

static CUcontext context;
static long calls;

static void *work(void *argument) {
    (void)argument;
    CHECK(cuCtxSetCurrent(context));
    int version, value;
    CUresult (*get)(int *, int, CUdevice) = NULL;
    int status;
    CHECK(cuGetProcAddress("cuDeviceGetAttribute", (void **)&get, 12000, 0, &status));
    REQUIRE(get, "no cuDeviceGetAttribute");
    for (long i = 0; i < calls; i++) {
        switch (i & 3) {
        case 0:
            CHECK(get(&value, 1, 0));
            break;
        case 1:
            // An error each time: there is no such attribute.
            EXPECT(CUDA_ERROR_INVALID_VALUE, get(&value, 100000, 0));
            break;
        default:
            CHECK(cuDriverGetVersion(&version));
        }
    }
    return NULL;
}

// Arguments: threads, calls of each, and what to do then: end, abort, hang.
int main(int count, char **arguments) {
    int threads = count > 1 ? atoi(arguments[1]) : 4;
    calls = count > 2 ? atol(arguments[2]) : 250000;
    context = begin();
    pthread_t all[64];
    REQUIRE(threads > 0 && threads <= 64, "1 to 64 threads");
    for (int i = 0; i < threads; i++)
        REQUIRE(pthread_create(&all[i], NULL, work, NULL) == 0, "no thread");
    for (int i = 0; i < threads; i++)
        pthread_join(all[i], NULL);
    CUdeviceptr memory = allocate(4096);
    CHECK(cuMemsetD32(memory, 7, 1024));
    unsigned words[1024];
    CHECK(cuMemcpyDtoH(words, memory, sizeof words));
    REQUIRE(words[1023] == 7, "%u", words[1023]);
    puts("called");
    fflush(stdout);
    if (count > 3 && !strcmp(arguments[3], "abort"))
        raise(SIGKILL);
    return count > 3 ? atoi(arguments[3]) : 0;
}
