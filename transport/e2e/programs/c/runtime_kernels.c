// Kernels and symbols through NVIDIA's runtime, whose library is given, as code of its compiler registers them: with
// the fat binary made by hand, so that no compiler is needed. Types and constants are those of the CUDA Runtime
// API's reference; the functions that register are those which nvcc's output calls.
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

enum { TO_DEVICE = 1, TO_HOST = 2, N = 1000 };
typedef struct { unsigned x, y, z; } dim3;

#define FUNCTIONS                                                                                                      \
    F(int, cudaRuntimeGetVersion, int *)                                                                               \
    F(int, cudaMalloc, void **, size_t)                                                                                \
    F(int, cudaFree, void *)                                                                                           \
    F(int, cudaMemcpy, void *, const void *, size_t, int)                                                              \
    F(int, cudaMemcpyToSymbol, const void *, const void *, size_t, size_t, int)                                        \
    F(int, cudaMemcpyFromSymbol, void *, const void *, size_t, size_t, int)                                            \
    F(int, cudaGetSymbolAddress, void **, const void *)                                                                \
    F(int, cudaGetSymbolSize, size_t *, const void *)                                                                  \
    F(int, cudaLaunchKernel, const void *, dim3, dim3, void **, size_t, void *)                                        \
    F(int, cudaFuncSetAttribute, const void *, int, int)                                                               \
    F(int, cudaOccupancyMaxActiveBlocksPerMultiprocessor, int *, const void *, int, size_t)                            \
    F(int, cudaStreamCreate, void **)                                                                                  \
    F(int, cudaStreamSynchronize, void *)                                                                              \
    F(int, cudaStreamDestroy, void *)                                                                                  \
    F(int, cudaGetLastError, void)                                                                                     \
    F(int, cudaDeviceSynchronize, void)                                                                                \
    F(int, cudaDeviceReset, void)                                                                                      \
    F(const char *, cudaGetErrorName, int)                                                                             \
    F(void **, __cudaRegisterFatBinary, void *)                                                                        \
    F(void, __cudaRegisterFatBinaryEnd, void **)                                                                       \
    F(void, __cudaUnregisterFatBinary, void **)                                                                        \
    F(void, __cudaRegisterFunction, void **, const char *, char *, const char *, int, void *, void *, void *, void *,  \
      int *)                                                                                                           \
    F(void, __cudaRegisterVar, void **, char *, char *, const char *, int, size_t, int, int)

#define F(type, name, ...) static type (*name)(__VA_ARGS__);
FUNCTIONS
#undef F

static const char text[] =
    ".version 6.3\n.target sm_70\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter = 5;\n"
    ".visible .const .align 4 .b8 factors[16];\n"
    ".visible .entry scale(.param .u64 numbers, .param .u32 count, .param .u8 which)\n"
    "{\n"
    "    .reg .pred %p; .reg .b16 %h; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %rd<8>;\n"
    "    ld.param.u64 %rd1, [numbers];\n    ld.param.u32 %r1, [count];\n    ld.param.u8 %h, [which];\n"
    "    mov.u32 %r2, %ctaid.x;\n    mov.u32 %r3, %ntid.x;\n    mov.u32 %r4, %tid.x;\n"
    "    mad.lo.u32 %r5, %r2, %r3, %r4;\n    setp.ge.u32 %p, %r5, %r1;\n    @%p bra out;\n"
    "    mul.wide.u16 %r6, %h, 4;\n    cvt.u64.u32 %rd2, %r6;\n"
    "    mov.u64 %rd3, factors;\n    add.s64 %rd4, %rd3, %rd2;\n    ld.const.f32 %f1, [%rd4];\n"
    "    mul.wide.u32 %rd5, %r5, 4;\n    add.s64 %rd6, %rd1, %rd5;\n"
    "    ld.global.f32 %f2, [%rd6];\n    mul.f32 %f3, %f1, %f2;\n    st.global.f32 [%rd6], %f3;\n"
    "    atom.global.add.u32 %r7, [counter], 1;\n"
    "out:\n    ret;\n"
    "}\n"
    ".extern .shared .align 4 .b8 room[];\n"
    ".visible .entry last(.param .u64 out, .param .u32 at)\n"
    "{\n"
    "    .reg .b32 %r<4>; .reg .b64 %rd<2>;\n"
    "    ld.param.u64 %rd1, [out];\n    ld.param.u32 %r1, [at];\n    mov.u32 %r2, room;\n"
    "    add.u32 %r2, %r2, %r1;\n    st.shared.u32 [%r2], 42;\n    ld.shared.u32 %r3, [%r2];\n"
    "    st.global.u32 [%rd1], %r3;\n    ret;\n"
    "}\n";

// What the addresses of stand for kernels and variables, as nvcc's output has functions and variables for it.
static char scale, last;
static uint32_t counter;
static float factors[4];

static struct {
    uint32_t magic;
    uint16_t version, header;
    uint64_t bytes;
    struct {
        uint16_t kind, version;
        uint32_t header;
        uint64_t bytes;
        uint32_t packed, unused0, minor, architecture;
        uint64_t unused1, flags, unused2, unpacked;
    } entry;
    char text[(sizeof text + 7) / 8 * 8];
} fat = {.magic = 0xba55ed50, .version = 1, .header = 16, .bytes = sizeof fat - 16,
         .entry = {.kind = 1, .version = 0x101, .header = 64, .bytes = sizeof fat.text, .architecture = 70, .flags = 0x11}};
static struct {
    uint32_t magic, version;
    const void *fat;
    void *unused;
} wrapper = {0x466243b1, 1, &fat, NULL};

static void launches(float *device, float *host) {
    int count = N;
    unsigned char which = 2;
    void *arguments[] = {&device, &count, &which};
    float values[4] = {1, 2, 3, 4};
    CHECK(cudaMemcpyToSymbol(factors, values, sizeof values, 0, TO_DEVICE));
    CHECK(cudaMemcpy(device, host, N * sizeof *host, TO_DEVICE));
    CHECK(cudaLaunchKernel(&scale, (dim3){8, 1, 1}, (dim3){128, 1, 1}, arguments, 0, NULL));
    float changed = -0.5f;
    void *stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpyToSymbol(factors, &changed, sizeof changed, 2 * sizeof changed, TO_DEVICE));
    CHECK(cudaLaunchKernel(&scale, (dim3){8, 1, 1}, (dim3){128, 1, 1}, arguments, 0, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
    float back[N];
    CHECK(cudaMemcpy(back, device, sizeof back, TO_HOST));
    for (int i = 0; i < N; i++)
        REQUIRE(back[i] == host[i] * -1.5f, "number %d is %g", i, (double)back[i]);
    uint32_t counted;
    CHECK(cudaMemcpyFromSymbol(&counted, &counter, sizeof counted, 0, TO_HOST));
    printf("launched, counter %u\n", counted);
    REQUIRE(counted == 5 + 2 * N, "the counter is another");
}

int main(int argc, char **argv) {
    REQUIRE(argc > 1, "usage: %s LIBCUDART", argv[0]);
    void *library = dlopen(argv[1], RTLD_NOW);
    REQUIRE(library, "%s", dlerror());
#define F(type, name, ...)                                                                                             \
    *(void **)&name = dlsym(library, #name);                                                                           \
    REQUIRE(name, "no " #name);
    FUNCTIONS
#undef F
    memcpy(fat.text, text, sizeof text);
    void **registered = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(registered, &scale, "scale", "scale", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(registered, &last, "last", "last", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterVar(registered, (char *)&counter, "counter", "counter", 0, sizeof counter, 0, 0);
    __cudaRegisterVar(registered, (char *)factors, "factors", "factors", 0, sizeof factors, 1, 0);
    __cudaRegisterFatBinaryEnd(registered);

    int version, blocks;
    CHECK(cudaRuntimeGetVersion(&version));
    printf("runtime %d\n", version);
    float host[N], *device;
    for (int i = 0; i < N; i++)
        host[i] = (float)i - 7;
    CHECK(cudaMalloc((void **)&device, sizeof host));
    launches(device, host);

    void *address;
    size_t size;
    CHECK(cudaGetSymbolAddress(&address, &counter));
    CHECK(cudaGetSymbolSize(&size, factors));
    uint32_t counted;
    CHECK(cudaMemcpy(&counted, address, sizeof counted, TO_HOST));
    printf("by its address %u, factors of %zu bytes\n", counted, size);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &scale, 256, 0));
    printf("blocks of 256: %d\n", blocks);

    uint32_t at = 60000;
    void *arguments[] = {&device, &at};
    printf("shared memory: %s, ", cudaGetErrorName(cudaLaunchKernel(&last, (dim3){1, 1, 1}, (dim3){1, 1, 1}, arguments, 61440, NULL)));
    (void)cudaGetLastError();
    // cudaFuncAttributeMaxDynamicSharedMemorySize
    CHECK(cudaFuncSetAttribute(&last, 8, 61440));
    CHECK(cudaLaunchKernel(&last, (dim3){1, 1, 1}, (dim3){1, 1, 1}, arguments, 61440, NULL));
    CHECK(cudaMemcpy(&counted, device, sizeof counted, TO_HOST));
    printf("with leave for it %u\n", counted);
    printf("not registered: %s\n", cudaGetErrorName(cudaLaunchKernel(&version, (dim3){1, 1, 1}, (dim3){1, 1, 1}, arguments, 0, NULL)));
    (void)cudaGetLastError();
    printf("too many threads: %s\n",
           cudaGetErrorName(cudaLaunchKernel(&scale, (dim3){1, 1, 1}, (dim3){2048, 1, 1}, arguments, 0, NULL)));
    (void)cudaGetLastError();

    // After a reset the module is loaded anew, with its variables as they were.
    CHECK(cudaDeviceReset());
    CHECK(cudaMalloc((void **)&device, sizeof host));
    launches(device, host);
    CHECK(cudaFree(device));
    __cudaUnregisterFatBinary(registered);
    printf("done\n");
    return 0;
}
