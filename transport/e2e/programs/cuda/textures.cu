// Texture and surface objects on arrays, mipmapped arrays and plain memory.
#include <vector>

#include "common.h"

__global__ void line(cudaTextureObject_t texture, float *out, float from, float step, int count) {
    int at = threadIdx.x;
    if (at < count) out[at] = tex1D<float>(texture, from + at * step);
}

__global__ void plain(cudaTextureObject_t texture, float4 *out) { out[threadIdx.x] = tex1Dfetch<float4>(texture, threadIdx.x); }

__global__ void plane(cudaTextureObject_t texture, float *out, int width, int height, float scale, float shift) {
    int x = threadIdx.x, y = threadIdx.y;
    if (x < width && y < height) out[y * width + x] = tex2D<float>(texture, x * scale + shift, y * scale + shift);
}

__global__ void whole(cudaTextureObject_t texture, uchar4 *out, int width) {
    out[threadIdx.y * width + threadIdx.x] = tex2D<uchar4>(texture, threadIdx.x + 0.5f, threadIdx.y + 0.5f);
}

__global__ void box(cudaTextureObject_t texture, short2 *out, int width, int height) {
    int at = (threadIdx.z * height + threadIdx.y) * width + threadIdx.x;
    out[at] = tex3D<short2>(texture, threadIdx.x + 0.5f, threadIdx.y + 0.5f, threadIdx.z + 0.5f);
}

__global__ void layer(cudaTextureObject_t texture, float *out, int width) {
    out[threadIdx.y * width + threadIdx.x] = tex2DLayered<float>(texture, threadIdx.x + 0.5f, 0.5f, threadIdx.y);
}

__global__ void gather(cudaTextureObject_t texture, float4 *out) { *out = tex2Dgather<float4>(texture, 2.0f, 2.0f, 0); }

__global__ void level(cudaTextureObject_t texture, float *out) { out[threadIdx.x] = tex2DLod<float>(texture, 0.3f, 0.3f, threadIdx.x * 0.5f); }

__global__ void draw(cudaSurfaceObject_t surface, int width, int height) {
    int x = threadIdx.x, y = threadIdx.y;
    if (x >= width || y >= height) return;
    int was;
    surf2Dread(&was, surface, x * sizeof(int), y);
    surf2Dwrite(was + 1000 * y + x, surface, x * sizeof(int), y);
    // Outside: nothing is written, and zero is read.
    surf2Dwrite(77, surface, (x + width) * sizeof(int), y, cudaBoundaryModeZero);
    int outside = 5;
    surf2Dread(&outside, surface, (x + width) * sizeof(int), y, cudaBoundaryModeZero);
    int clamped = 5;
    surf2Dread(&clamped, surface, -4, y, cudaBoundaryModeClamp);
    if (outside != 0) surf2Dwrite(-1, surface, x * sizeof(int), y);
}

__global__ void deep(cudaSurfaceObject_t surface) {
    float2 value = make_float2(threadIdx.x, threadIdx.y * 10 + threadIdx.z);
    surf3Dwrite(value, surface, threadIdx.x * sizeof(float2), threadIdx.y, threadIdx.z);
}

template <typename T> struct Buffer {
    T *device;
    std::vector<T> host;
    explicit Buffer(size_t count) : host(count) { OK(cudaMalloc(&device, count * sizeof(T))); }
    void show(const char *name) {
        OK(cudaGetLastError());
        OK(cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
        printf("%s: %016llx\n", name, digest(host.data(), host.size() * sizeof(T)));
    }
    ~Buffer() { cudaFree(device); }
};

static cudaTextureObject_t texture_of(cudaArray_t array, cudaTextureAddressMode mode, cudaTextureFilterMode filter, cudaTextureReadMode read, bool normalised) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description = {};
    for (auto &each : description.addressMode) each = mode;
    description.filterMode = filter;
    description.readMode = read;
    description.normalizedCoords = normalised;
    description.borderColor[0] = 0.25f;
    cudaTextureObject_t texture;
    OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    return texture;
}

int main() {
    // One dimension, each address mode.
    cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    OK(cudaMallocArray(&array, &floats, 8));
    float eight[8] = {0, 10, 20, 30, 40, 50, 60, 70};
    OK(cudaMemcpyToArray(array, 0, 0, eight, sizeof eight, cudaMemcpyHostToDevice));
    Buffer<float> out(256);
    const cudaTextureAddressMode modes[] = {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder};
    for (auto mode : modes) {
        for (auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
            bool normalised = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;
            cudaTextureObject_t texture = texture_of(array, mode, filter, cudaReadModeElementType, normalised);
            OK(cudaMemset(out.device, 0, 256 * sizeof(float)));
            if (normalised) line<<<1, 64>>>(texture, out.device, -1.0f, 0.0625f, 48);
            else line<<<1, 64>>>(texture, out.device, -4.0f, 0.5f, 48);
            out.show("line");
            for (int at = 0; at < 48; at++) printf("%g ", out.host[at]);
            printf("\n");
            OK(cudaDestroyTextureObject(texture));
        }
    }
    OK(cudaFreeArray(array));

    // Two dimensions of bytes: as they are, and as fractions.
    cudaChannelFormatDesc bytes = cudaCreateChannelDesc<uchar4>();
    OK(cudaMallocArray(&array, &bytes, 16, 8));
    std::vector<uchar4> picture(16 * 8);
    for (int at = 0; at < 128; at++) picture[at] = make_uchar4(at, 255 - at, at * 3, 7);
    OK(cudaMemcpy2DToArray(array, 0, 0, picture.data(), 16 * sizeof(uchar4), 16 * sizeof(uchar4), 8, cudaMemcpyHostToDevice));
    Buffer<uchar4> colours(128);
    cudaTextureObject_t texture = texture_of(array, cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeElementType, false);
    whole<<<1, dim3(16, 8)>>>(texture, colours.device, 16);
    colours.show("bytes");
    for (int at = 0; at < 128; at++) EXPECT(colours.host[at].x == picture[at].x && colours.host[at].z == picture[at].z);
    OK(cudaDestroyTextureObject(texture));
    texture = texture_of(array, cudaAddressModeClamp, cudaFilterModeLinear, cudaReadModeNormalizedFloat, true);
    plane<<<1, dim3(16, 8)>>>(texture, out.device, 16, 8, 0.0625f, 0.03125f);
    out.show("fractions");
    printf("%g %g %g\n", out.host[0], out.host[1], out.host[127]);
    OK(cudaDestroyTextureObject(texture));
    std::vector<uchar4> back(128);
    OK(cudaMemcpy2DFromArray(back.data(), 16 * sizeof(uchar4), array, 0, 0, 16 * sizeof(uchar4), 8, cudaMemcpyDeviceToHost));
    for (int at = 0; at < 128; at++) EXPECT(back[at].y == picture[at].y);
    cudaChannelFormatDesc found;
    cudaExtent extent;
    unsigned flags;
    OK(cudaArrayGetInfo(&found, &extent, &flags, array));
    printf("array of %zu x %zu x %zu, %d %d %d %d bits, kind %d, flags %u\n", extent.width, extent.height, extent.depth, found.x, found.y, found.z, found.w, found.f, flags);
    OK(cudaFreeArray(array));

    // Linear filtering in two dimensions, and the four that it takes.
    OK(cudaMallocArray(&array, &floats, 8, 8, cudaArrayTextureGather));
    std::vector<float> grid(64);
    for (int at = 0; at < 64; at++) grid[at] = at * at % 37;
    OK(cudaMemcpy2DToArray(array, 0, 0, grid.data(), 32, 32, 8, cudaMemcpyHostToDevice));
    texture = texture_of(array, cudaAddressModeClamp, cudaFilterModeLinear, cudaReadModeElementType, false);
    plane<<<1, dim3(16, 8)>>>(texture, out.device, 16, 8, 0.75f, -0.25f);
    out.show("plane");
    Buffer<float4> four(32);
    gather<<<1, 1>>>(texture, four.device);
    OK(cudaMemcpy(four.host.data(), four.device, sizeof(float4), cudaMemcpyDeviceToHost));
    printf("gathered %g %g %g %g\n", four.host[0].x, four.host[0].y, four.host[0].z, four.host[0].w);
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFreeArray(array));

    // Three dimensions.
    cudaChannelFormatDesc shorts = cudaCreateChannelDesc<short2>();
    extent = make_cudaExtent(6, 5, 4);
    OK(cudaMalloc3DArray(&array, &shorts, extent));
    std::vector<short2> cube(120);
    for (int at = 0; at < 120; at++) cube[at] = make_short2(at, -at * 7);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(cube.data(), 6 * sizeof(short2), 6, 5);
    copy.dstArray = array;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&copy));
    texture = texture_of(array, cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeElementType, false);
    Buffer<short2> shortened(120);
    box<<<1, dim3(6, 5, 4)>>>(texture, shortened.device, 6, 5);
    shortened.show("box");
    for (int at = 0; at < 120; at++) EXPECT(shortened.host[at].x == cube[at].x && shortened.host[at].y == cube[at].y);
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFreeArray(array));

    // Layers.
    OK(cudaMalloc3DArray(&array, &floats, make_cudaExtent(8, 1, 4), cudaArrayLayered));
    copy = {};
    copy.srcPtr = make_cudaPitchedPtr(grid.data(), 32, 8, 1);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(8, 1, 4);
    copy.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&copy));
    texture = texture_of(array, cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeElementType, false);
    layer<<<1, dim3(8, 4)>>>(texture, out.device, 8);
    out.show("layers");
    for (int at = 0; at < 32; at++) EXPECT(out.host[at] == grid[at]);
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFreeArray(array));

    // Plain memory.
    std::vector<float4> points(32);
    for (int at = 0; at < 32; at++) points[at] = make_float4(at, at + 0.5f, -at, 1);
    OK(cudaMemcpy(four.device, points.data(), 32 * sizeof(float4), cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = four.device;
    resource.res.linear.desc = cudaCreateChannelDesc<float4>();
    resource.res.linear.sizeInBytes = 20 * sizeof(float4);
    cudaTextureDesc description = {};
    OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    Buffer<float4> fetched(32);
    plain<<<1, 32>>>(texture, fetched.device);
    fetched.show("plain memory");
    EXPECT(fetched.host[19].y == 19.5f && fetched.host[20].y == 0);
    OK(cudaDestroyTextureObject(texture));
    float *pitched;
    size_t pitch;
    OK(cudaMallocPitch(&pitched, &pitch, 8 * sizeof(float), 8));
    OK(cudaMemcpy2D(pitched, pitch, grid.data(), 32, 32, 8, cudaMemcpyHostToDevice));
    resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = pitched;
    resource.res.pitch2D.desc = floats;
    resource.res.pitch2D.width = 8;
    resource.res.pitch2D.height = 8;
    resource.res.pitch2D.pitchInBytes = pitch;
    description.addressMode[0] = description.addressMode[1] = cudaAddressModeBorder;
    OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    plane<<<1, dim3(16, 8)>>>(texture, out.device, 16, 8, 1.0f, 0.5f);
    out.show("pitched memory");
    OK(cudaDestroyTextureObject(texture));

    // Surfaces.
    cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>();
    OK(cudaMallocArray(&array, &ints, 16, 8, cudaArraySurfaceLoadStore));
    std::vector<int> numbers(128, 5);
    OK(cudaMemcpy2DToArray(array, 0, 0, numbers.data(), 64, 64, 8, cudaMemcpyHostToDevice));
    resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface;
    OK(cudaCreateSurfaceObject(&surface, &resource));
    draw<<<1, dim3(16, 8)>>>(surface, 16, 8);
    done();
    OK(cudaMemcpy2DFromArray(numbers.data(), 64, array, 0, 0, 64, 8, cudaMemcpyDeviceToHost));
    for (int at = 0; at < 128; at++) EXPECT(numbers[at] == 5 + at / 16 * 1000 + at % 16);
    printf("surface: %016llx\n", digest(numbers.data(), 512));
    OK(cudaDestroySurfaceObject(surface));
    OK(cudaFreeArray(array));
    cudaChannelFormatDesc twos = cudaCreateChannelDesc<float2>();
    extent = make_cudaExtent(4, 3, 2);
    OK(cudaMalloc3DArray(&array, &twos, extent, cudaArraySurfaceLoadStore));
    resource.res.array.array = array;
    OK(cudaCreateSurfaceObject(&surface, &resource));
    deep<<<1, dim3(4, 3, 2)>>>(surface);
    done();
    std::vector<float2> written(24);
    copy = {};
    copy.srcArray = array;
    copy.dstPtr = make_cudaPitchedPtr(written.data(), 4 * sizeof(float2), 4, 3);
    copy.extent = extent;
    copy.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&copy));
    for (int at = 0; at < 24; at++) EXPECT(written[at].x == at % 4 && written[at].y == at / 4 % 3 * 10 + at / 12);
    printf("deep: %016llx\n", digest(written.data(), 24 * sizeof(float2)));
    OK(cudaDestroySurfaceObject(surface));
    OK(cudaFreeArray(array));

    // Levels.
    cudaMipmappedArray_t levels;
    OK(cudaMallocMipmappedArray(&levels, &floats, make_cudaExtent(8, 8, 0), 3));
    for (unsigned at = 0; at < 3; at++) {
        cudaArray_t one;
        OK(cudaGetMipmappedArrayLevel(&one, levels, at));
        OK(cudaArrayGetInfo(&found, &extent, &flags, one));
        std::vector<float> same(64, 100.0f * (at + 1));
        printf("level %u: %zu x %zu\n", at, extent.width, extent.height);
        OK(cudaMemcpy2DToArray(one, 0, 0, same.data(), extent.width * 4, extent.width * 4, extent.height, cudaMemcpyHostToDevice));
    }
    resource = {};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = levels;
    description = {};
    description.normalizedCoords = 1;
    description.filterMode = cudaFilterModePoint;
    description.mipmapFilterMode = cudaFilterModeLinear;
    description.maxMipmapLevelClamp = 2;
    for (auto &each : description.addressMode) each = cudaAddressModeClamp;
    OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    level<<<1, 8>>>(texture, out.device);
    out.show("levels");
    for (int at = 0; at < 8; at++) printf("%g ", out.host[at]);
    printf("\n");
    cudaResourceDesc told;
    OK(cudaGetTextureObjectResourceDesc(&told, texture));
    EXPECT(told.resType == cudaResourceTypeMipmappedArray && told.res.mipmap.mipmap == levels);
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFreeMipmappedArray(levels));
    return 0;
}
