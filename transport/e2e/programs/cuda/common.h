// What the programs in CUDA C++ share.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

// A call that has to succeed.
#define OK(call) ok(#call, __FILE__, __LINE__, call)

inline void ok(const char *call, const char *file, int line, cudaError_t error) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s:%d: %s gave %d, %s\n", file, line, call, (int)error, cudaGetErrorString(error));
    exit(1);
}

// What has to be true.
#define EXPECT(condition)                                                        \
    do {                                                                         \
        if (!(condition)) {                                                      \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                             \
        }                                                                        \
    } while (0)

// A number of what `bytes` holds (FNV-1a), so that outputs stay short.
inline unsigned long long digest(const void *data, size_t bytes) {
    unsigned long long hash = 1469598103934665603ull;
    for (size_t at = 0; at < bytes; at++) {
        hash = (hash ^ ((const unsigned char *)data)[at]) * 1099511628211ull;
    }
    return hash;
}

// The launch before was taken, and whatever runs has ended well.
inline void done() {
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
}
