// What a program has said of SIGSEGV before it uses managed memory still holds for faults of its own, and for signals that
// somebody sends: a handler for one time, ignored, the default. Each in a process of its own, as most of them end by it.
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"
#include "managed.h"

enum { PAGE = 4096 };

static char *page;
static volatile int caught_so_far;

static void caught(int number) {
    caught_so_far += number == SIGSEGV;
    // The access is made again when this returns.
    mprotect(page, PAGE, PROT_READ | PROT_WRITE);
}

static CUdeviceptr address;
static CUfunction add_each;
static unsigned count = 5000;

// The device adds 1 to each word, and the host too.
static void use_managed(const char *when) {
    volatile unsigned *words = (unsigned *)(uintptr_t)address;
    unsigned one = 1, right = 1, first = words[0];
    for (unsigned i = 0; i < count; i++)
        words[i] = first + 1;
    CHECK(LAUNCH(add_each, (count + 255) / 256, 256, NULL, &address, &count, &one));
    CHECK(cuCtxSynchronize());
    for (unsigned i = 0; i < count; i++)
        right &= words[i] == first + 2;
    printf("%s: managed memory is %s\n", when, right ? "right" : "wrong");
    fflush(stdout);
}

static void start(void (*handler)(int), int flags) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    REQUIRE(sigaction(SIGSEGV, &action, NULL) == 0, "no disposition");
    begin();
    CUmodule module = managed_module();
    add_each = function_of(module, "add_each");
    CHECK(cuMemAllocManaged(&address, 4 * count, CU_MEM_ATTACH_GLOBAL));
    volatile unsigned *words = (unsigned *)(uintptr_t)address;
    words[0] = 0;
    use_managed("before");
}

static void fault(void) {
    mprotect(page, PAGE, PROT_NONE);
    *(volatile char *)page = 1;
}

static void once(void) {
    start(caught, SA_RESETHAND);
    fault();
    printf("caught %d\n", caught_so_far);
    use_managed("after");
    fault();
}

static void ignored(void) {
    start(SIG_IGN, 0);
    raise(SIGSEGV);
    kill(getpid(), SIGSEGV);
    use_managed("after two that were sent");
    fault();
}

static void standard(void) {
    start(SIG_DFL, 0);
    raise(SIGSEGV);
}

int main(void) {
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {{"once", once}, {"ignored", ignored}, {"standard", standard}};
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(page != MAP_FAILED, "no page");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        fflush(stdout);
        pid_t child = fork();
        REQUIRE(child >= 0, "no child");
        if (child == 0) {
            ways[i].run();
            printf("went on\n");
            fflush(stdout);
            _exit(0);
        }
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child, "no end");
        printf("%s: ended by signal %d\n", ways[i].name, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    }
    return 0;
}
