// Several devices: who may reach whom, and copies between them, straight and by box.
#include "common.h"

int main(void) {
    enum { N = 64 * 32 * 4 };
    CUcontext contexts[2];
    CUdeviceptr memory[2];
    unsigned char bytes[N];
    int count, can;
    CHECK(cuInit(0));
    CHECK(cuDeviceGetCount(&count));
    REQUIRE(count >= 2, "%d devices", count);
    for (int i = 0; i < 2; i++) {
        CHECK(cuCtxCreate(&contexts[i], 0, i));
        memory[i] = allocate(N);
    }
    CHECK(cuDeviceCanAccessPeer(&can, 0, 1));
    printf("device 0 reaches device 1: %d\n", can);
    CHECK(cuDeviceCanAccessPeer(&can, 1, 1));
    printf("device 1 reaches itself: %d\n", can);
    SHOW(cuDeviceCanAccessPeer(&can, 0, 77));
    CHECK(cuDeviceGetP2PAttribute(&can, 2, 0, 1));
    printf("access supported: %d\n", can);
    SHOW(cuCtxEnablePeerAccess(contexts[0], 0));
    SHOW(cuCtxEnablePeerAccess(contexts[0], 0));
    SHOW(cuCtxEnablePeerAccess(contexts[0], 1));
    SHOW(cuCtxEnablePeerAccess(contexts[1], 0));

    for (int i = 0; i < N; i++)
        bytes[i] = (unsigned char)(i * 13);
    CHECK(cuMemcpyHtoD(memory[1], bytes, N));
    CHECK(cuMemsetD8(memory[0], 0, N));
    CHECK(cuMemcpyPeer(memory[0], contexts[0], memory[1], contexts[1], N / 2));
    CUstream stream;
    CHECK(cuStreamCreate(&stream, 0));
    CHECK(cuMemcpyPeerAsync(memory[0] + N / 2, contexts[0], memory[1], contexts[1], N / 4, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoH(bytes, memory[0], N));
    print_digest("straight", bytes, N);
    CUDA_MEMCPY3D_PEER box = {.source_kind = 2, .source_device = memory[1], .source_context = contexts[1],
                              .source_x = 5, .source_y = 2, .source_z = 1, .source_pitch = 64, .source_height = 32,
                              .target_kind = 2, .target_device = memory[0], .target_context = contexts[0],
                              .target_pitch = 64, .target_height = 32, .width = 50, .height = 20, .depth = 3};
    CHECK(cuMemcpy3DPeer(&box));
    box.target_z = 3;
    box.depth = 1;
    CHECK(cuMemcpy3DPeerAsync(&box, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoH(bytes, memory[0], N));
    print_digest("by box", bytes, N);
    // Memory of a pool is of the pool's device, whichever is current.
    CHECK(cuCtxSetCurrent(contexts[0]));
    CUmemPoolProps props = {.kind = 1, .location = {1, 1}};
    CUmemoryPool pools[2];
    CHECK(cuMemPoolCreate(&pools[0], &props));
    CHECK(cuDeviceGetDefaultMemPool(&pools[1], 1));
    for (int i = 0; i < 2; i++) {
        CUdeviceptr pooled;
        int ordinal = -1;
        CHECK(cuMemAllocFromPoolAsync(&pooled, N, pools[i], NULL));
        CHECK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, pooled));
        printf("memory of pool %d is of device %d\n", i, ordinal);
        CHECK(cuMemFreeAsync(pooled, NULL));
    }
    CHECK(cuStreamSynchronize(NULL));
    CHECK(cuMemPoolDestroy(pools[0]));
    // So is memory that is mapped.
    CUmemAllocationProp physical = {.kind = 1, .location = {1, 1}};
    CUmemAccessDesc access = {{1, 1}, 3};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr mapped;
    size_t unit;
    int ordinal = -1;
    CHECK(cuMemGetAllocationGranularity(&unit, &physical, 0));
    CHECK(cuMemCreate(&handle, unit, &physical, 0));
    CHECK(cuMemAddressReserve(&mapped, unit, 0, 0, 0));
    CHECK(cuMemMap(mapped, unit, 0, handle, 0));
    CHECK(cuMemSetAccess(mapped, unit, &access, 1));
    CHECK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, mapped));
    printf("mapped memory is of device %d\n", ordinal);
    CHECK(cuMemUnmap(mapped, unit));
    CHECK(cuMemAddressFree(mapped, unit));
    CHECK(cuMemRelease(handle));
    CHECK(cuCtxSetCurrent(contexts[1]));
    box.target_kind = 1;
    box.target_host = bytes;
    box.target_context = NULL;
    box.target_z = 0;
    memset(bytes, 1, N);
    CHECK(cuMemcpy3DPeer(&box));
    print_digest("to the host", bytes, N);
    // Slices may not run into each other on either side.
    box.depth = 3;
    box.target_height = 10;
    SHOW(cuMemcpy3DPeer(&box));
    box.target_height = 32;
    box.source_height = 10;
    SHOW(cuMemcpy3DPeer(&box));
    box.source_context = NULL;
    SHOW(cuMemcpy3DPeer(&box));
    SHOW(cuMemcpy3DPeer(NULL));
    SHOW(cuCtxDisablePeerAccess(contexts[0]));
    SHOW(cuCtxDisablePeerAccess(contexts[0]));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuCtxDestroy(contexts[1]));
    CHECK(cuCtxDestroy(contexts[0]));
    return 0;
}
