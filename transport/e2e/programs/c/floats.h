// What programs have in common whose graphs copy floats, each of which is its place times a factor.
#ifndef FLOATS_H
#define FLOATS_H

#ifndef FLOATS
#define FLOATS 500
#endif
enum { COUNT = FLOATS, BYTES = COUNT * sizeof(float) };

static CUstream stream;
static CUcontext context;

static void fill(float *values, float by) {
    for (int i = 0; i < COUNT; i++)
        values[i] = (float)i * by;
}

static void require(const float *values, float by, const char *what) {
    for (int i = 0; i < COUNT; i++)
        REQUIRE(values[i] == (float)i * by, "%s: %d is %g, not %g", what, i, values[i], (float)i * by);
    printf("%s\n", what);
}

static inline CUDA_MEMCPY3D to_device(CUdeviceptr target, const void *source) {
    return (CUDA_MEMCPY3D){.source_kind = 1, .source_host = source, .target_kind = 2, .target_device = target,
                           .width = BYTES, .height = 1, .depth = 1};
}

static inline CUDA_MEMCPY3D to_host(void *target, CUdeviceptr source) {
    return (CUDA_MEMCPY3D){.source_kind = 2, .source_device = source, .target_kind = 1, .target_host = target,
                           .width = BYTES, .height = 1, .depth = 1};
}

static void launch(CUgraphExec exec) {
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
}

#endif
