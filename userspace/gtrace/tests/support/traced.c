// Calls a CUDA driver library that it opens by path, and a device, in a way that a trace can be compared with. Waits for
// a line on standard input before each step.
//
//   traced LIBRARY DEVICE
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

static void *library;
static void *context;
static uint64_t memory;
static int (*set_current)(void *);
static int (*from_device)(void *, uint64_t, size_t);
static int pipe_ends[2];

static const char ptx[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
                          ".visible .entry axpy(.param .u64 p)\n{\n\tret;\n}\n";

static void check(int result, const char *what) {
    if (result) {
        fprintf(stderr, "%s: %d\n", what, result);
        exit(1);
    }
}

static void *function(const char *name) {
    void *found = dlsym(library, name);
    check(!found, name);
    return found;
}

static void wait_for_line(const char *ready) {
    char line[64];
    printf("%s\n", ready);
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin))
        exit(0);
}

static void *second(void *unused) {
    char bytes[256];
    (void)unused;
    prctl(PR_SET_NAME, "second");
    check(set_current(context), "cuCtxSetCurrent");
    for (int i = 0; i < 3; i++)
        check(from_device(bytes, memory, sizeof bytes), "cuMemcpyDtoH");
    return NULL;
}

// Holds its stream until somebody writes.
static void hold(void *unused) {
    char byte;
    (void)unused;
    if (read(pipe_ends[0], &byte, 1) != 1)
        exit(1);
}

int main(int count, char **arguments) {
    if (count < 3)
        return 2;
    check(pipe(pipe_ends), "pipe");
    library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    check(!library, "dlopen");
    int device = open(arguments[2], O_RDONLY);
    check(device < 0, "device");
    set_current = (int (*)(void *))function("cuCtxSetCurrent");
    from_device = (int (*)(void *, uint64_t, size_t))function("cuMemcpyDtoH_v2");
    int (*sync_stream)(void *) = (int (*)(void *))function("cuStreamSynchronize");
    int (*make_stream)(void **, unsigned) = (int (*)(void **, unsigned))function("cuStreamCreate");
    int (*to_device)(uint64_t, const void *, size_t, void *) =
        (int (*)(uint64_t, const void *, size_t, void *))function("cuMemcpyHtoDAsync_v2");
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                  void **) = (int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                      void *, void **, void **))function("cuLaunchKernel");
    check(((int (*)(unsigned))function("cuInit"))(0), "cuInit");
    check(((int (*)(void **, int))function("cuDevicePrimaryCtxRetain"))(&context, 0), "context");
    check(set_current(context), "cuCtxSetCurrent");
    wait_for_line("open");

    void *module, *kernel, *streams[2], *parameters[1] = {&memory};
    char bytes[64] = {0}, request[32] = {0};
    check(((int (*)(void **, const void *))function("cuModuleLoadData"))(&module, ptx), "module");
    check(((int (*)(void **, void *, const char *))function("cuModuleGetFunction"))(&kernel, module, "axpy"), "axpy");
    check(((int (*)(uint64_t *, size_t))function("cuMemAlloc_v2"))(&memory, 4096), "memory");
    for (int i = 0; i < 2; i++)
        check(make_stream(&streams[i], 1), "cuStreamCreate");
    for (int i = 0; i < 10; i++) {
        void *stream = streams[i % 2];
        check(to_device(memory, bytes, sizeof bytes, stream), "copy");
        check(launch(kernel, 3, 2, 1, 4, 1, 1, 128, stream, parameters, NULL), "launch");
        check(sync_stream(stream), "cuStreamSynchronize");
    }
    check(!sync_stream((void *)0x1234), "a stream that is none");
    // RM_CONTROL by its number; the device knows none.
    for (int i = 0; i < 5; i++)
        ioctl(device, 0xc020462a, request);
    pthread_t thread;
    check(pthread_create(&thread, NULL, second, NULL), "thread");
    pthread_join(thread, NULL);
    wait_for_line("called");

    int (*run)(void *, void (*)(void *), void *) =
        (int (*)(void *, void (*)(void *), void *))function("cuLaunchHostFunc");
    check(run(streams[0], hold, NULL), "cuLaunchHostFunc");
    printf("held\n");
    fflush(stdout);
    check(sync_stream(streams[0]), "cuStreamSynchronize");
    return 0;
}
