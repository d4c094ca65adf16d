// A program that handles faults of its own: managed memory does not take them from it.
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include "common.h"
#include "managed.h"

static sigjmp_buf back;
static int held_back;

static void caught(int number, siginfo_t *info, void *context) {
    (void)context;
    // What the handler wants held back is, and so is its own signal.
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    held_back = sigismember(&now, SIGUSR1) && sigismember(&now, SIGSEGV) && !sigismember(&now, SIGUSR2);
    siglongjmp(back, number == SIGSEGV && info->si_addr == (void *)(uintptr_t)64 ? 1 : 2);
}

int main(void) {
    struct sigaction action = {.sa_sigaction = caught, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGUSR1);
    REQUIRE(sigaction(SIGSEGV, &action, NULL) == 0, "no handler");
    CUcontext context = begin();
    CUmodule module = managed_module();
    CUfunction add_each = function_of(module, "add_each");
    CUdeviceptr address;
    unsigned count = 5000, value = 3;
    CHECK(cuMemAllocManaged(&address, 4 * count, CU_MEM_ATTACH_GLOBAL));
    volatile unsigned *words = (unsigned *)(uintptr_t)address;
    for (int round = 0; round < 3; round++) {
        int how = sigsetjmp(back, 1);
        if (how == 0)
            *(volatile int *)(uintptr_t)64 = 1;
        for (unsigned i = 0; i < count; i++)
            words[i] += i;
        CHECK(LAUNCH(add_each, (count + 255) / 256, 256, NULL, &address, &count, &value));
        CHECK(cuCtxSynchronize());
        printf("round %d: its own fault %d, others held back %d, the last word %u\n", round, how, held_back, words[count - 1]);
    }
    CHECK(cuMemFree(address));
    CHECK(cuModuleUnload(module));
    CHECK(cuCtxDestroy(context));
    return 0;
}
