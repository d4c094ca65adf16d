//! Memory. The client keeps a map of allocations, from which it answers what a pointer is, and
//! page-locked memory is the client's own.

use crate::signatures::DRIVER as SIGNATURES;

crate::describe! {
    /// Allocations and what is asked about them.
    pub const MEMORY: SIGNATURES;
    waiting(client, allocates) cuMemAlloc_v2(dptr: out, bytesize: value);
    waiting(client, allocates_pitched) cuMemAllocPitch_v2(
        dptr: out, pPitch: out, WidthInBytes: value, Height: value, ElementSizeBytes: value,
    );
    waiting(client, allocates) cuMemAllocManaged(dptr: out, bytesize: value, flags: value);
    waiting(sync, client, frees) cuMemFree_v2(dptr: address);
    waiting cuMemGetInfo_v2(free: out, total: out);
    local cuMemGetAddressRange_v2(pbase: out?, psize: out?, dptr: address);
    waiting(client, allocates) cuMemAllocAsync(dptr: out, bytesize: value, hStream: handle(Stream));
    waiting(client, allocates) cuMemAllocFromPoolAsync(
        dptr: out, bytesize: value, pool: handle(MemPool), hStream: handle(Stream),
    );
    one_way(client, frees) cuMemFreeAsync(dptr: address, hStream: handle(Stream));

    local cuMemAllocHost_v2;
    local cuMemHostAlloc;
    local cuMemFreeHost;
    local cuMemHostRegister_v2;
    local cuMemHostUnregister;
    local cuMemHostGetDevicePointer_v2;
    local cuMemHostGetFlags;

    local cuPointerGetAttribute;
    local cuPointerGetAttributes;
    local cuPointerSetAttribute;
}

crate::describe! {
    /// Copies and memsets.
    pub const COPY: SIGNATURES;
    // Either address may be the client's.
    one_way(client) cuMemcpy(dst: address, src: address, ByteCount: value);
    one_way(client) cuMemcpyAsync(
        dst: address, src: address, ByteCount: value, hStream: handle(Stream),
    );
    one_way(by_hand) cuMemcpyHtoD_v2(
        dstDevice: address, srcHost: host_in[ByteCount], ByteCount: value,
    );
    one_way(by_hand) cuMemcpyHtoDAsync_v2(
        dstDevice: address, srcHost: host_in[ByteCount], ByteCount: value,
        hStream: handle(Stream),
    );
    waiting(sync, by_hand) cuMemcpyDtoH_v2(
        dstHost: host_out[ByteCount], srcDevice: address, ByteCount: value,
    );
    waiting(sync, by_hand) cuMemcpyDtoHAsync_v2(
        dstHost: host_out[ByteCount], srcDevice: address, ByteCount: value,
        hStream: handle(Stream),
    );
    one_way(uses_memory) cuMemcpyDtoD_v2(dstDevice: address, srcDevice: address, ByteCount: value);
    one_way(uses_memory) cuMemcpyDtoDAsync_v2(
        dstDevice: address, srcDevice: address, ByteCount: value, hStream: handle(Stream),
    );
    one_way(uses_memory) cuMemcpyPeer(
        dstDevice: address, dstContext: handle(Context), srcDevice: address,
        srcContext: handle(Context), ByteCount: value,
    );
    one_way(uses_memory) cuMemcpyPeerAsync(
        dstDevice: address, dstContext: handle(Context), srcDevice: address,
        srcContext: handle(Context), ByteCount: value, hStream: handle(Stream),
    );
    // They travel as the copies that they are of.
    local cuMemcpyBatchAsync;
    local cuMemcpyBatchAsync_v2;
    local cuMemcpyWithAttributesAsync;
    waiting(sync, by_hand) cuMemcpy2D_v2;
    waiting(sync, by_hand) cuMemcpy2DUnaligned_v2;
    waiting(by_hand) cuMemcpy2DAsync_v2(pCopy: special, hStream: handle(Stream));
    waiting(sync, by_hand) cuMemcpy3D_v2;
    waiting(by_hand) cuMemcpy3DAsync_v2(pCopy: special, hStream: handle(Stream));
    // They travel as copies within a context.
    local cuMemcpy3DPeer;
    local cuMemcpy3DPeerAsync;

    one_way(uses_memory) cuMemsetD8_v2(dstDevice: address, uc: value, N: value);
    one_way(uses_memory) cuMemsetD16_v2(dstDevice: address, us: value, N: value);
    one_way(uses_memory) cuMemsetD32_v2(dstDevice: address, ui: value, N: value);
    one_way(uses_memory) cuMemsetD8Async(
        dstDevice: address, uc: value, N: value, hStream: handle(Stream),
    );
    one_way(uses_memory) cuMemsetD16Async(
        dstDevice: address, us: value, N: value, hStream: handle(Stream),
    );
    one_way(uses_memory) cuMemsetD32Async(
        dstDevice: address, ui: value, N: value, hStream: handle(Stream),
    );
    one_way(uses_memory) cuMemsetD2D8_v2(
        dstDevice: address, dstPitch: value, uc: value, Width: value, Height: value,
    );
    one_way(uses_memory) cuMemsetD2D16_v2(
        dstDevice: address, dstPitch: value, us: value, Width: value, Height: value,
    );
    one_way(uses_memory) cuMemsetD2D32_v2(
        dstDevice: address, dstPitch: value, ui: value, Width: value, Height: value,
    );
    one_way(uses_memory) cuMemsetD2D8Async(
        dstDevice: address, dstPitch: value, uc: value, Width: value, Height: value,
        hStream: handle(Stream),
    );
    one_way(uses_memory) cuMemsetD2D16Async(
        dstDevice: address, dstPitch: value, us: value, Width: value, Height: value,
        hStream: handle(Stream),
    );
    one_way(uses_memory) cuMemsetD2D32Async(
        dstDevice: address, dstPitch: value, ui: value, Width: value, Height: value,
        hStream: handle(Stream),
    );
}
