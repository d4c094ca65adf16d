// Calls a CUDA driver library that it opens by path, waits for a line on standard input before each
// step, and says what it did: "NAME calls errors bytes" of each function, as it counted itself.
//
//   caller LIBRARY MODE [NUMBER]
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef uint64_t address;
enum { ALLOC, FREE, COPY, SET, SYNC, PITCH, WAIT, INFO, CREATE, RELEASE, FUNCTIONS };
static const char *const names[FUNCTIONS] = {
    "cuMemAlloc_v2", "cuMemFree_v2",        "cuMemcpyHtoD_v2", "cuMemsetD32_v2", "cuCtxSynchronize",
    "cuMemAllocPitch_v2", "cuStreamSynchronize", "cuMemGetInfo_v2", "cuMemCreate", "cuMemRelease",
};
static int (*functions[FUNCTIONS])();
static void *context;
static int (*set_current)(void *);
static int (*library_init)(unsigned);
static int threads = 4;

// What one thread did, and then all of them.
struct deeds {
    uint64_t calls[FUNCTIONS], errors[FUNCTIONS], bytes[FUNCTIONS];
    uint64_t allocated, freed, allocations, frees, failed_allocations, failed_frees, unknown;
};

#define CALL(deeds, function, size, ...) \
    ({ \
        int result_ = functions[function](__VA_ARGS__); \
        (deeds)->calls[function]++; \
        if (result_) \
            (deeds)->errors[function]++; \
        else \
            (deeds)->bytes[function] += (size); \
        result_; \
    })

static void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void *open_library(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail(dlerror());
    for (int i = 0; i < FUNCTIONS; i++)
        if (!(functions[i] = (int (*)())dlsym(library, names[i])))
            fail(names[i]);
    return library;
}

static void begin(void *library) {
    library_init = (int (*)(unsigned))dlsym(library, "cuInit");
    int (*retain)(void **, int) = (int (*)(void **, int))dlsym(library, "cuDevicePrimaryCtxRetain");
    set_current = (int (*)(void *))dlsym(library, "cuCtxSetCurrent");
    if (!library_init || !retain || !set_current || library_init(0) || retain(&context, 0) || set_current(context))
        fail("the library does not work");
}

static void wait_for_line(const char *ready) {
    char line[64];
    printf("%s\n", ready);
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin))
        exit(0);
}

// Memory that was allocated before the tracer came.
static address early[8];
static uint64_t rounds;

static void *work(void *argument) {
    struct deeds *deeds = argument;
    uint32_t words[4] = {1, 2, 3, 4};
    if (set_current(context))
        fail("no context");
    for (uint64_t round = 0; round < rounds; round++) {
        address memory = 0, wide = 0;
        size_t pitch = 0, size = 256 + 16 * (round % 64);
        if (!CALL(deeds, ALLOC, size, &memory, size)) {
            deeds->allocated += size;
            deeds->allocations++;
        }
        CALL(deeds, COPY, sizeof words, memory, words, sizeof words);
        CALL(deeds, SET, 4 * 8, memory, 7u, (size_t)8);
        CALL(deeds, SYNC, 0);
        // A stream that is none.
        if (round % 16 == 0)
            CALL(deeds, WAIT, 0, (void *)0x1234);
        if (round % 32 == 0 && !CALL(deeds, PITCH, 0, &wide, &pitch, (size_t)100, (size_t)3, 4u)) {
            deeds->allocated += 3 * pitch;
            deeds->bytes[PITCH] += 3 * pitch;
            deeds->allocations++;
            if (!CALL(deeds, FREE, 3 * pitch, wide)) {
                deeds->freed += 3 * pitch;
                deeds->frees++;
            }
        }
        // More than there is.
        if (round % 64 == 0 && CALL(deeds, ALLOC, 0, &wide, (size_t)1 << 60))
            deeds->failed_allocations++;
        // Not what was allocated.
        if (round % 64 == 1 && CALL(deeds, FREE, 0, memory + 1))
            deeds->failed_frees++;
        // Some of it stays.
        if (round % 1024 != 5 && !CALL(deeds, FREE, size, memory)) {
            deeds->freed += size;
            deeds->frees++;
        }
    }
    return NULL;
}

static void say(struct deeds *all) {
    for (int i = 0; i < FUNCTIONS; i++)
        if (all->calls[i])
            printf("%s %lu %lu %lu\n", names[i], all->calls[i], all->errors[i], all->bytes[i]);
    printf("ledger %lu %lu %lu %lu %lu %lu %lu\n", all->allocated, all->freed, all->allocations,
           all->frees, all->failed_allocations, all->failed_frees, all->unknown);
    printf("end\n");
    fflush(stdout);
}

static pthread_t workers[64];
static struct deeds of_worker[64];

static void start(void *(*job)(void *)) {
    for (int i = 0; i < threads; i++)
        if (pthread_create(&workers[i], NULL, job, &of_worker[i]))
            fail("no thread");
}

// Adds up what all have done once they have ended.
static void join(struct deeds *all) {
    for (int i = 0; i < threads; i++)
        pthread_join(workers[i], NULL);
    for (int i = 0; i < threads; i++)
        for (size_t word = 0; word < sizeof *all / 8; word++)
            ((uint64_t *)all)[word] += ((uint64_t *)&of_worker[i])[word];
}

static void many(void) {
    static struct deeds all;
    start(work);
    join(&all);
    for (int i = 0; i < 8; i++)
        if (!CALL(&all, FREE, 0, early[i]))
            all.unknown++;
    // Freed before: it fails.
    if (CALL(&all, FREE, 0, early[0]))
        all.failed_frees++;
    say(&all);
}

// Calls a function that fails at once, as fast as it goes.
static void *spin(void *argument) {
    struct deeds *deeds = argument;
    for (uint64_t i = 0; i < rounds; i++)
        CALL(deeds, WAIT, 0, (void *)0x1234);
    return NULL;
}

static void spinning(void) {
    static struct deeds all;
    start(spin);
    join(&all);
    say(&all);
}

static volatile int signalled;

static void *spin_on(void *argument) {
    struct deeds *deeds = argument;
    while (!signalled)
        CALL(deeds, WAIT, 0, (void *)0x1234);
    return NULL;
}

// The same until a line orders it to end.
static void spinning_until_told(void) {
    static struct deeds all;
    start(spin_on);
    wait_for_line("spinning");
    signalled = 1;
    join(&all);
    say(&all);
}

// Calls without end until a line orders it to end, then none, then a hundred, and so on.
static void turns(void) {
    static struct deeds all;
    for (;;) {
        pthread_t worker;
        signalled = 0;
        if (pthread_create(&worker, NULL, spin_on, &all))
            fail("no thread");
        wait_for_line("spinning");
        signalled = 1;
        pthread_join(worker, NULL);
        wait_for_line("waiting");
        for (int i = 0; i < 100; i++)
            CALL(&all, WAIT, 0, (void *)0x1234);
        wait_for_line("some");
    }
}

// Children that make four calls each and end, so many a second.
static void paced(uint64_t number, uint64_t rate) {
    static struct deeds all;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (uint64_t i = 0; i < number; i++) {
        pid_t child = fork();
        if (child == 0) {
            size_t free_bytes, total;
            library_init(0);
            functions[INFO](&free_bytes, &total);
            functions[SYNC]();
            functions[WAIT]((void *)0x1234);
            _exit(0);
        }
        if (child < 0)
            fail("no child");
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        next.tv_nsec += 1000000000 / rate;
        if (next.tv_nsec >= 1000000000)
            next.tv_nsec -= 1000000000, next.tv_sec++;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
    while (waitpid(-1, NULL, 0) > 0)
        ;
    all.calls[INFO] = all.calls[SYNC] = all.calls[WAIT] = number;
    printf("cuInit %lu 0 0\n", number);
    say(&all);
}

// Children that make one call each and end.
static void forks(uint64_t number) {
    static struct deeds all;
    for (uint64_t i = 0; i < number; i++) {
        pid_t child = fork();
        if (child == 0) {
            CALL(&all, WAIT, 0, (void *)0x1234);
            _exit(0);
        }
        if (child < 0)
            fail("no child");
        waitpid(child, NULL, 0);
    }
    all.calls[WAIT] = all.errors[WAIT] = number;
    say(&all);
}

static void time_calls(uint64_t number) {
    struct timespec from, to;
    double best = 1e18;
    for (int part = 0; part < 5; part++) {
        clock_gettime(CLOCK_MONOTONIC, &from);
        for (uint64_t i = 0; i < number; i++)
            functions[WAIT]((void *)0x1234);
        clock_gettime(CLOCK_MONOTONIC, &to);
        double ns = (to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec);
        if (ns / number < best)
            best = ns / number;
    }
    printf("ns %f\n", best);
    fflush(stdout);
}

int main(int count, char **arguments) {
    if (count < 3)
        fail("caller LIBRARY MODE [NUMBER]");
    const char *path = arguments[1], *mode = arguments[2];
    uint64_t number = count > 3 ? strtoull(arguments[3], NULL, 10) : 1000;
    if (count > 4)
        threads = atoi(arguments[4]);
    rounds = number;
    if (!strcmp(mode, "late"))
        wait_for_line("ready");
    void *library = open_library(path);
    if (!strcmp(mode, "again")) {
        // Closed, and another one is opened: as the first argument after the number demands.
        wait_for_line("ready");
        dlclose(library);
        wait_for_line("closed");
        library = open_library(arguments[4]);
        threads = 1;
    }
    begin(library);
    for (int i = 0; i < 8; i++)
        if (functions[ALLOC](&early[i], (size_t)512))
            fail("no memory");
    wait_for_line("open");
    if (!strcmp(mode, "many") || !strcmp(mode, "late") || !strcmp(mode, "again"))
        many();
    else if (!strcmp(mode, "spin"))
        spinning();
    else if (!strcmp(mode, "until-signalled"))
        spinning_until_told();
    else if (!strcmp(mode, "turns"))
        turns();
    else if (!strcmp(mode, "paced"))
        paced(number, strtoull(arguments[4], NULL, 10));
    else if (!strcmp(mode, "forks"))
        forks(number);
    else if (!strcmp(mode, "exec")) {
        char *again[] = {arguments[0], arguments[1], "many", arguments[3], "1", NULL};
        execv("/proc/self/exe", again);
        fail("no exec");
    } else if (!strcmp(mode, "time"))
        for (;;) {
            time_calls(number);
            wait_for_line("timed");
        }
    else if (!strcmp(mode, "virtual")) {
        static struct deeds all;
        struct { int kind, handles, place, device; void *windows; char more[16]; } what = {1, 0, 1, 0, NULL, ""};
        uint64_t handle, size = 2 << 20;
        for (uint64_t i = 0; i < number; i++) {
            if (CALL(&all, CREATE, size, &handle, size, &what, 0ull))
                fail("no physical memory");
            all.allocated += size, all.allocations++;
            if (i % 2 && !CALL(&all, RELEASE, 0, handle))
                all.freed += size, all.frees++;
        }
        say(&all);
    } else
        fail("no such mode");
    wait_for_line("done");
    return 0;
}
