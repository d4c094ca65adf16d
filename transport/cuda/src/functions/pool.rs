//! Memory pools, and memory whose addresses and pages are managed apart.
//!
//! A `CUmemGenericAllocationHandle` is a number of the driver's. The server keeps which a client has, and passes no
//! other on: the driver may take any number for an address. The pointers in
//! `CUmemAllocationProp` and `CUmemPoolProps` are for Windows, and the driver ignores them here.

use crate::signatures::DRIVER as SIGNATURES;

crate::describe! {
    /// Memory pools.
    pub const POOL: SIGNATURES;
    // The client keeps account of whose pools are whose.
    waiting(client) cuDeviceGetDefaultMemPool(pool_out: known(MemPool), dev: value);
    waiting(client) cuDeviceGetMemPool(pool: known(MemPool), dev: value);
    waiting(client, creates) cuDeviceSetMemPool(dev: value, pool: handle(MemPool));
    waiting(client) cuMemGetDefaultMemPool(pool_out: known(MemPool), location: in, type_: value);
    waiting(client) cuMemGetMemPool(pool: known(MemPool), location: in, type_: value);
    waiting(client, creates) cuMemSetMemPool(location: in, type_: value, pool: handle(MemPool));
    waiting(client) cuMemPoolCreate(pool: mint(MemPool), poolProps: in);
    one_way(client) cuMemPoolDestroy(pool: destroy(MemPool));
    // An attribute is an int or a cuuint64_t; the client copies as many bytes as it has.
    waiting(client) cuMemPoolGetAttribute(pool: handle(MemPool), attr: value, value: out[8]);
    waiting(client) cuMemPoolSetAttribute(pool: handle(MemPool), attr: value, value: in[8]);
    waiting cuMemPoolGetAccess(flags: out, memPool: handle(MemPool), location: in);
    waiting cuMemPoolSetAccess(pool: handle(MemPool), map: in[count], count: value);
    waiting cuMemPoolTrimTo(pool: handle(MemPool), minBytesToKeep: value);
}

crate::describe! {
    /// Memory and events of other processes. A handle is 64 bytes of the driver's: each client has a
    /// process of its own on the server, so what the driver makes for one is good for the others there.
    pub const IPC: SIGNATURES;
    // The client notes that memory is shared.
    waiting(client) cuIpcGetMemHandle(pHandle: out, dptr: address);
    waiting(client, creates) cuIpcOpenMemHandle_v2(pdptr: out, handle: value, Flags: value);
    waiting(sync, client) cuIpcCloseMemHandle(dptr: address);
    waiting cuIpcGetEventHandle(pHandle: out, event: handle(Event));
    waiting(client) cuIpcOpenEventHandle(phEvent: mint(Event), handle: value);
}

crate::describe! {
    /// Memory whose addresses and pages are managed apart.
    pub const VIRTUAL: SIGNATURES;
    // The client reserves the same range, so that no memory of its own gets there.
    waiting(client, creates) cuMemAddressReserve(
        ptr: out, size: value, alignment: value, addr: address, flags: value,
    );
    waiting(client) cuMemAddressFree(ptr: address, size: value);
    waiting(creates) cuMemCreate(handle: out, size: value, prop: in, flags: value);
    waiting cuMemRelease(handle: value);
    // The client keeps account of what is mapped, and of which device that is.
    waiting(client, creates) cuMemMap(
        ptr: address, size: value, offset: value, handle: value, flags: value,
    );
    waiting(client) cuMemUnmap(ptr: address, size: value);
    waiting cuMemSetAccess(ptr: address, size: value, desc: in[count], count: value);
    waiting cuMemGetAccess(flags: out, location: in, ptr: address);
    waiting cuMemGetAllocationGranularity(granularity: out, prop: in, option: value);
    waiting cuMemGetAllocationPropertiesFromHandle(prop: out, handle: value);
    waiting(creates) cuMemRetainAllocationHandle(handle: out, addr: address);
    // The client refuses what no driver takes, as a one-way call reports it late.
    one_way(client) cuMemAdvise(devPtr: address, count: value, advice: value, device: value);
    one_way(client) cuMemAdvise_v2(
        devPtr: address, count: value, advice: value, location: value,
    );
    // The client moves pages of managed memory too.
    one_way(client) cuMemPrefetchAsync(
        devPtr: address, count: value, dstDevice: value, hStream: handle(Stream),
    );
    one_way(client) cuMemPrefetchAsync_v2(
        devPtr: address, count: value, location: value, flags: value, hStream: handle(Stream),
    );
    one_way(client) cuMemPrefetchBatchAsync(
        dptrs: in[count], sizes: in[count], count: value, prefetchLocs: in[numPrefetchLocs],
        prefetchLocIdxs: in[numPrefetchLocs], numPrefetchLocs: value, flags: value,
        hStream: handle(Stream),
    );
    one_way(client) cuMemDiscardBatchAsync(
        dptrs: in[count], sizes: in[count], count: value, flags: value, hStream: handle(Stream),
    );
    one_way(client) cuMemDiscardAndPrefetchBatchAsync(
        dptrs: in[count], sizes: in[count], count: value, prefetchLocs: in[numPrefetchLocs],
        prefetchLocIdxs: in[numPrefetchLocs], numPrefetchLocs: value, flags: value,
        hStream: handle(Stream),
    );
    waiting cuMemRangeGetAttribute(
        data: out[dataSize], dataSize: value, attribute: value, devPtr: address, count: value,
    );
    // The descriptor is one of the client, with a ticket in it.
    local cuMemExportToShareableHandle;
    local cuMemImportFromShareableHandle;
    // One question for each.
    local cuMemRangeGetAttributes;
}
