//! The symbols of the CUDA driver API.
//!
//! Written by `cargo xtask codegen`; changes by hand are lost.
//!
//! Uses of the crate:
//! * `crate::entry::guard(|| ..) -> u32`, `guard_nvml(|| ..) -> u32`, `guard_text(|| ..) -> *const
//!   c_char`: no panic leaves them.
//! * `crate::managed::filled(CUdeviceptr, CUstream, CUresult) -> CUresult`: what a fill that is not asynchronous answers,
//!   sent in this stream with this result.
//! * `crate::entry::per_thread(CUstream) -> CUstream`: the thread's default stream for null.
//! * `crate::local::NAME`, `crate::special::NAME` for what is written by hand, the latter for what
//!   travels; they may use `remote::NAME`.

// The symbols' names, and pointers of C programs: each function trusts those that the API's
// documentation lets it trust, and that is the SAFETY of every block here.
#![allow(
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    clippy::undocumented_unsafe_blocks,
    dead_code,
    missing_docs,
    non_snake_case,
    unsafe_code,
    unused_imports,
    unused_variables
)]

use core::ffi::*;

use gtrace_cuda::types::driver::*;

use crate::{entry, local, special};

pub(crate) mod remote;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuInit(Flags: c_uint) -> CUresult {
    entry::guard(|| unsafe { local::cuInit(Flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDriverGetVersion(driverVersion: *mut c_int) -> CUresult {
    entry::guard(|| unsafe { local::cuDriverGetVersion(driverVersion) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(error: CUresult, pStr: *mut *const c_char) -> CUresult {
    entry::guard(|| unsafe { local::cuGetErrorName(error, pStr) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorString(error: CUresult, pStr: *mut *const c_char) -> CUresult {
    entry::guard(|| unsafe { local::cuGetErrorString(error, pStr) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetProcAddress(
    symbol: *const c_char,
    pfn: *mut *mut c_void,
    cudaVersion: c_int,
    flags: cuuint64_t,
) -> CUresult {
    entry::guard(|| unsafe { local::cuGetProcAddress(symbol, pfn, cudaVersion, flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetProcAddress_v2(
    symbol: *const c_char,
    pfn: *mut *mut c_void,
    cudaVersion: c_int,
    flags: cuuint64_t,
    symbolStatus: *mut CUdriverProcAddressQueryResult,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, symbolStatus)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetExportTable(
    ppExportTable: *mut *const c_void,
    pExportTableId: *const CUuuid,
) -> CUresult {
    entry::guard(|| unsafe { local::cuGetExportTable(ppExportTable, pExportTableId) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGet(device: *mut CUdevice, ordinal: c_int) -> CUresult {
    entry::guard(|| unsafe { local::cuDeviceGet(device, ordinal) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> CUresult {
    entry::guard(|| unsafe { local::cuDeviceGetCount(count) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, len: c_int, dev: CUdevice) -> CUresult {
    entry::guard(|| unsafe { local::cuDeviceGetName(name, len, dev) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetUuid(uuid: *mut CUuuid, dev: CUdevice) -> CUresult {
    entry::guard(|| unsafe { local::cuDeviceGetUuid(uuid, dev) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetUuid_v2(uuid: *mut CUuuid, dev: CUdevice) -> CUresult {
    entry::guard(|| unsafe { local::cuDeviceGetUuid_v2(uuid, dev) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceTotalMem_v2(bytes: *mut usize, dev: CUdevice) -> CUresult {
    entry::guard(|| unsafe { local::cuDeviceTotalMem_v2(bytes, dev) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetAttribute(
    pi: *mut c_int,
    attrib: CUdevice_attribute,
    dev: CUdevice,
) -> CUresult {
    entry::guard(|| unsafe { local::cuDeviceGetAttribute(pi, attrib, dev) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetPCIBusId(
    pciBusId: *mut c_char,
    len: c_int,
    dev: CUdevice,
) -> CUresult {
    entry::guard(|| unsafe { local::cuDeviceGetPCIBusId(pciBusId, len, dev) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetByPCIBusId(
    dev: *mut CUdevice,
    pciBusId: *const c_char,
) -> CUresult {
    entry::guard(|| unsafe { local::cuDeviceGetByPCIBusId(dev, pciBusId) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceComputeCapability(
    major: *mut c_int,
    minor: *mut c_int,
    dev: CUdevice,
) -> CUresult {
    entry::guard(|| unsafe { local::cuDeviceComputeCapability(major, minor, dev) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetProperties(prop: *mut CUdevprop, dev: CUdevice) -> CUresult {
    entry::guard(|| unsafe { local::cuDeviceGetProperties(prop, dev) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceCanAccessPeer(
    canAccessPeer: *mut c_int,
    dev: CUdevice,
    peerDev: CUdevice,
) -> CUresult {
    entry::guard(|| unsafe { local::cuDeviceCanAccessPeer(canAccessPeer, dev, peerDev) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetP2PAttribute(
    value: *mut c_int,
    attrib: CUdevice_P2PAttribute,
    srcDevice: CUdevice,
    dstDevice: CUdevice,
) -> CUresult {
    entry::guard(|| unsafe { local::cuDeviceGetP2PAttribute(value, attrib, srcDevice, dstDevice) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetTexture1DLinearMaxWidth(
    maxWidthInElements: *mut usize,
    format: CUarray_format,
    numChannels: c_uint,
    dev: CUdevice,
) -> CUresult {
    unsafe {
        remote::cuDeviceGetTexture1DLinearMaxWidth(maxWidthInElements, format, numChannels, dev)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetExecAffinitySupport(
    pi: *mut c_int,
    type_: CUexecAffinityType,
    dev: CUdevice,
) -> CUresult {
    unsafe { remote::cuDeviceGetExecAffinitySupport(pi, type_, dev) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetHostAtomicCapabilities(
    capabilities: *mut c_uint,
    operations: *const CUatomicOperation,
    count: c_uint,
    dev: CUdevice,
) -> CUresult {
    unsafe { remote::cuDeviceGetHostAtomicCapabilities(capabilities, operations, count, dev) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetP2PAtomicCapabilities(
    capabilities: *mut c_uint,
    operations: *const CUatomicOperation,
    count: c_uint,
    srcDevice: CUdevice,
    dstDevice: CUdevice,
) -> CUresult {
    unsafe {
        remote::cuDeviceGetP2PAtomicCapabilities(
            capabilities,
            operations,
            count,
            srcDevice,
            dstDevice,
        )
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetGraphMemAttribute(
    device: CUdevice,
    attr: CUgraphMem_attribute,
    value: *mut c_void,
) -> CUresult {
    unsafe { remote::cuDeviceGetGraphMemAttribute(device, attr, value) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceSetGraphMemAttribute(
    device: CUdevice,
    attr: CUgraphMem_attribute,
    value: *mut c_void,
) -> CUresult {
    unsafe { remote::cuDeviceSetGraphMemAttribute(device, attr, value) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGraphMemTrim(device: CUdevice) -> CUresult {
    unsafe { remote::cuDeviceGraphMemTrim(device) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuProfilerStart() -> CUresult {
    unsafe { remote::cuProfilerStart() }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuProfilerStop() -> CUresult {
    unsafe { remote::cuProfilerStop() }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFlushGPUDirectRDMAWrites(
    target: CUflushGPUDirectRDMAWritesTarget,
    scope: CUflushGPUDirectRDMAWritesScope,
) -> CUresult {
    unsafe { remote::cuFlushGPUDirectRDMAWrites(target, scope) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogsRegisterCallback(
    callbackFunc: CUlogsCallback,
    userData: *mut c_void,
    callback_out: *mut CUlogsCallbackHandle,
) -> CUresult {
    entry::guard(|| unsafe { local::cuLogsRegisterCallback(callbackFunc, userData, callback_out) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogsUnregisterCallback(callback: CUlogsCallbackHandle) -> CUresult {
    entry::guard(|| unsafe { local::cuLogsUnregisterCallback(callback) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRetain(pctx: *mut CUcontext, dev: CUdevice) -> CUresult {
    entry::guard(|| unsafe { special::cuDevicePrimaryCtxRetain(pctx, dev) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRelease_v2(dev: CUdevice) -> CUresult {
    entry::guard(|| unsafe { special::cuDevicePrimaryCtxRelease_v2(dev) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRelease(dev: CUdevice) -> CUresult {
    entry::guard(|| unsafe { special::cuDevicePrimaryCtxRelease_v2(dev) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxReset_v2(dev: CUdevice) -> CUresult {
    entry::guard(|| unsafe { special::cuDevicePrimaryCtxReset_v2(dev) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxReset(dev: CUdevice) -> CUresult {
    entry::guard(|| unsafe { special::cuDevicePrimaryCtxReset_v2(dev) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxGetState(
    dev: CUdevice,
    flags: *mut c_uint,
    active: *mut c_int,
) -> CUresult {
    entry::guard(|| unsafe { local::cuDevicePrimaryCtxGetState(dev, flags, active) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxSetFlags_v2(dev: CUdevice, flags: c_uint) -> CUresult {
    entry::guard(|| unsafe { special::cuDevicePrimaryCtxSetFlags_v2(dev, flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxSetFlags(dev: CUdevice, flags: c_uint) -> CUresult {
    entry::guard(|| unsafe { special::cuDevicePrimaryCtxSetFlags_v2(dev, flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxCreate_v2(
    pctx: *mut CUcontext,
    flags: c_uint,
    dev: CUdevice,
) -> CUresult {
    entry::guard(|| unsafe { special::cuCtxCreate_v2(pctx, flags, dev) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxCreate(
    pctx: *mut CUcontext,
    flags: c_uint,
    dev: CUdevice,
) -> CUresult {
    entry::guard(|| unsafe { special::cuCtxCreate_v2(pctx, flags, dev) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxCreate_v3(
    pctx: *mut CUcontext,
    paramsArray: *mut CUexecAffinityParam,
    numParams: c_int,
    flags: c_uint,
    dev: CUdevice,
) -> CUresult {
    entry::guard(|| unsafe { local::cuCtxCreate_v3(pctx, paramsArray, numParams, flags, dev) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxCreate_v4(
    pctx: *mut CUcontext,
    ctxCreateParams: *mut CUctxCreateParams,
    flags: c_uint,
    dev: CUdevice,
) -> CUresult {
    entry::guard(|| unsafe { local::cuCtxCreate_v4(pctx, ctxCreateParams, flags, dev) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxDestroy_v2(ctx: CUcontext) -> CUresult {
    entry::guard(|| unsafe { special::cuCtxDestroy_v2(ctx) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxDestroy(ctx: CUcontext) -> CUresult {
    entry::guard(|| unsafe { special::cuCtxDestroy_v2(ctx) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxAttach(pctx: *mut CUcontext, flags: c_uint) -> CUresult {
    entry::guard(|| unsafe { local::cuCtxAttach(pctx, flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxDetach(ctx: CUcontext) -> CUresult {
    entry::guard(|| unsafe { local::cuCtxDetach(ctx) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetCurrent(pctx: *mut CUcontext) -> CUresult {
    entry::guard(|| unsafe { local::cuCtxGetCurrent(pctx) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxSetCurrent(ctx: CUcontext) -> CUresult {
    entry::guard(|| unsafe { local::cuCtxSetCurrent(ctx) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxPushCurrent_v2(ctx: CUcontext) -> CUresult {
    entry::guard(|| unsafe { local::cuCtxPushCurrent_v2(ctx) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxPushCurrent(ctx: CUcontext) -> CUresult {
    entry::guard(|| unsafe { local::cuCtxPushCurrent_v2(ctx) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxPopCurrent_v2(pctx: *mut CUcontext) -> CUresult {
    entry::guard(|| unsafe { local::cuCtxPopCurrent_v2(pctx) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxPopCurrent(pctx: *mut CUcontext) -> CUresult {
    entry::guard(|| unsafe { local::cuCtxPopCurrent_v2(pctx) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetDevice(device: *mut CUdevice) -> CUresult {
    entry::guard(|| unsafe { local::cuCtxGetDevice(device) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetDevice_v2(device: *mut CUdevice, ctx: CUcontext) -> CUresult {
    entry::guard(|| unsafe { local::cuCtxGetDevice_v2(device, ctx) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetApiVersion(ctx: CUcontext, version: *mut c_uint) -> CUresult {
    entry::guard(|| unsafe { local::cuCtxGetApiVersion(ctx, version) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetFlags(flags: *mut c_uint) -> CUresult {
    entry::guard(|| unsafe { local::cuCtxGetFlags(flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxSetFlags(flags: c_uint) -> CUresult {
    entry::guard(|| unsafe { special::cuCtxSetFlags(flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetId(ctx: CUcontext, ctxId: *mut c_ulonglong) -> CUresult {
    entry::guard(|| unsafe { local::cuCtxGetId(ctx, ctxId) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetStreamPriorityRange(
    leastPriority: *mut c_int,
    greatestPriority: *mut c_int,
) -> CUresult {
    entry::guard(|| unsafe { local::cuCtxGetStreamPriorityRange(leastPriority, greatestPriority) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxSynchronize() -> CUresult {
    unsafe { remote::cuCtxSynchronize() }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxSynchronize_v2(ctx: CUcontext) -> CUresult {
    unsafe { remote::cuCtxSynchronize_v2(ctx) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetLimit(pvalue: *mut usize, limit: CUlimit) -> CUresult {
    unsafe { remote::cuCtxGetLimit(pvalue, limit) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxSetLimit(limit: CUlimit, value: usize) -> CUresult {
    unsafe { remote::cuCtxSetLimit(limit, value) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetCacheConfig(pconfig: *mut CUfunc_cache) -> CUresult {
    unsafe { remote::cuCtxGetCacheConfig(pconfig) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxSetCacheConfig(config: CUfunc_cache) -> CUresult {
    unsafe { remote::cuCtxSetCacheConfig(config) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetSharedMemConfig(pConfig: *mut CUsharedconfig) -> CUresult {
    unsafe { remote::cuCtxGetSharedMemConfig(pConfig) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxSetSharedMemConfig(config: CUsharedconfig) -> CUresult {
    unsafe { remote::cuCtxSetSharedMemConfig(config) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetExecAffinity(
    pExecAffinity: *mut CUexecAffinityParam,
    type_: CUexecAffinityType,
) -> CUresult {
    unsafe { remote::cuCtxGetExecAffinity(pExecAffinity, type_) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxResetPersistingL2Cache() -> CUresult {
    unsafe { remote::cuCtxResetPersistingL2Cache() }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxEnablePeerAccess(peerContext: CUcontext, Flags: c_uint) -> CUresult {
    unsafe { remote::cuCtxEnablePeerAccess(peerContext, Flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxDisablePeerAccess(peerContext: CUcontext) -> CUresult {
    unsafe { remote::cuCtxDisablePeerAccess(peerContext) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxRecordEvent(hCtx: CUcontext, hEvent: CUevent) -> CUresult {
    entry::guard(|| unsafe { special::cuCtxRecordEvent(hCtx, hEvent) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxWaitEvent(hCtx: CUcontext, hEvent: CUevent) -> CUresult {
    unsafe { remote::cuCtxWaitEvent(hCtx, hEvent) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAlloc_v2(dptr: *mut CUdeviceptr, bytesize: usize) -> CUresult {
    entry::guard(|| unsafe { special::cuMemAlloc_v2(dptr, bytesize) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocPitch_v2(
    dptr: *mut CUdeviceptr,
    pPitch: *mut usize,
    WidthInBytes: usize,
    Height: usize,
    ElementSizeBytes: c_uint,
) -> CUresult {
    entry::guard(|| unsafe {
        special::cuMemAllocPitch_v2(dptr, pPitch, WidthInBytes, Height, ElementSizeBytes)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocManaged(
    dptr: *mut CUdeviceptr,
    bytesize: usize,
    flags: c_uint,
) -> CUresult {
    entry::guard(|| unsafe { special::cuMemAllocManaged(dptr, bytesize, flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemFree_v2(dptr: CUdeviceptr) -> CUresult {
    entry::guard(|| unsafe { special::cuMemFree_v2(dptr) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> CUresult {
    unsafe { remote::cuMemGetInfo_v2(free, total) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetAddressRange_v2(
    pbase: *mut CUdeviceptr,
    psize: *mut usize,
    dptr: CUdeviceptr,
) -> CUresult {
    entry::guard(|| unsafe { local::cuMemGetAddressRange_v2(pbase, psize, dptr) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocAsync(
    dptr: *mut CUdeviceptr,
    bytesize: usize,
    hStream: CUstream,
) -> CUresult {
    entry::guard(|| unsafe { special::cuMemAllocAsync(dptr, bytesize, hStream) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocAsync_ptsz(
    dptr: *mut CUdeviceptr,
    bytesize: usize,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe { special::cuMemAllocAsync(dptr, bytesize, hStream) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocFromPoolAsync(
    dptr: *mut CUdeviceptr,
    bytesize: usize,
    pool: CUmemoryPool,
    hStream: CUstream,
) -> CUresult {
    entry::guard(|| unsafe { special::cuMemAllocFromPoolAsync(dptr, bytesize, pool, hStream) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocFromPoolAsync_ptsz(
    dptr: *mut CUdeviceptr,
    bytesize: usize,
    pool: CUmemoryPool,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe { special::cuMemAllocFromPoolAsync(dptr, bytesize, pool, hStream) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemFreeAsync(dptr: CUdeviceptr, hStream: CUstream) -> CUresult {
    entry::guard(|| unsafe { special::cuMemFreeAsync(dptr, hStream) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemFreeAsync_ptsz(dptr: CUdeviceptr, hStream: CUstream) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe { special::cuMemFreeAsync(dptr, hStream) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocHost_v2(pp: *mut *mut c_void, bytesize: usize) -> CUresult {
    entry::guard(|| unsafe { local::cuMemAllocHost_v2(pp, bytesize) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostAlloc(
    pp: *mut *mut c_void,
    bytesize: usize,
    Flags: c_uint,
) -> CUresult {
    entry::guard(|| unsafe { local::cuMemHostAlloc(pp, bytesize, Flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemFreeHost(p: *mut c_void) -> CUresult {
    entry::guard(|| unsafe { local::cuMemFreeHost(p) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostRegister_v2(
    p: *mut c_void,
    bytesize: usize,
    Flags: c_uint,
) -> CUresult {
    entry::guard(|| unsafe { local::cuMemHostRegister_v2(p, bytesize, Flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostRegister(
    p: *mut c_void,
    bytesize: usize,
    Flags: c_uint,
) -> CUresult {
    entry::guard(|| unsafe { local::cuMemHostRegister_v2(p, bytesize, Flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostUnregister(p: *mut c_void) -> CUresult {
    entry::guard(|| unsafe { local::cuMemHostUnregister(p) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostGetDevicePointer_v2(
    pdptr: *mut CUdeviceptr,
    p: *mut c_void,
    Flags: c_uint,
) -> CUresult {
    entry::guard(|| unsafe { local::cuMemHostGetDevicePointer_v2(pdptr, p, Flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostGetFlags(pFlags: *mut c_uint, p: *mut c_void) -> CUresult {
    entry::guard(|| unsafe { local::cuMemHostGetFlags(pFlags, p) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuPointerGetAttribute(
    data: *mut c_void,
    attribute: CUpointer_attribute,
    ptr: CUdeviceptr,
) -> CUresult {
    entry::guard(|| unsafe { local::cuPointerGetAttribute(data, attribute, ptr) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuPointerGetAttributes(
    numAttributes: c_uint,
    attributes: *mut CUpointer_attribute,
    data: *mut *mut c_void,
    ptr: CUdeviceptr,
) -> CUresult {
    entry::guard(|| unsafe { local::cuPointerGetAttributes(numAttributes, attributes, data, ptr) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuPointerSetAttribute(
    value: *const c_void,
    attribute: CUpointer_attribute,
    ptr: CUdeviceptr,
) -> CUresult {
    entry::guard(|| unsafe { local::cuPointerSetAttribute(value, attribute, ptr) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy(
    dst: CUdeviceptr,
    src: CUdeviceptr,
    ByteCount: usize,
) -> CUresult {
    entry::guard(|| unsafe { special::cuMemcpy(dst, src, ByteCount) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy_ptds(
    dst: CUdeviceptr,
    src: CUdeviceptr,
    ByteCount: usize,
) -> CUresult {
    entry::guard(|| {
        crate::copy::synchronous(entry::per_thread(core::ptr::null_mut()), || unsafe {
            special::cuMemcpyAsync(
                dst,
                src,
                ByteCount,
                entry::per_thread(core::ptr::null_mut()),
            )
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyAsync(
    dst: CUdeviceptr,
    src: CUdeviceptr,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    entry::guard(|| unsafe { special::cuMemcpyAsync(dst, src, ByteCount, hStream) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyAsync_ptsz(
    dst: CUdeviceptr,
    src: CUdeviceptr,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe { special::cuMemcpyAsync(dst, src, ByteCount, hStream) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoD_v2(
    dstDevice: CUdeviceptr,
    srcHost: *const c_void,
    ByteCount: usize,
) -> CUresult {
    entry::guard(|| unsafe { special::cuMemcpyHtoD_v2(dstDevice, srcHost, ByteCount) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoD_v2_ptds(
    dstDevice: CUdeviceptr,
    srcHost: *const c_void,
    ByteCount: usize,
) -> CUresult {
    entry::guard(|| {
        crate::copy::synchronous(entry::per_thread(core::ptr::null_mut()), || unsafe {
            special::cuMemcpyHtoDAsync_v2(
                dstDevice,
                srcHost,
                ByteCount,
                entry::per_thread(core::ptr::null_mut()),
            )
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoDAsync_v2(
    dstDevice: CUdeviceptr,
    srcHost: *const c_void,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    entry::guard(|| unsafe {
        special::cuMemcpyHtoDAsync_v2(dstDevice, srcHost, ByteCount, hStream)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoDAsync_v2_ptsz(
    dstDevice: CUdeviceptr,
    srcHost: *const c_void,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe {
        special::cuMemcpyHtoDAsync_v2(dstDevice, srcHost, ByteCount, hStream)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoH_v2(
    dstHost: *mut c_void,
    srcDevice: CUdeviceptr,
    ByteCount: usize,
) -> CUresult {
    entry::guard(|| unsafe { special::cuMemcpyDtoH_v2(dstHost, srcDevice, ByteCount) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoH_v2_ptds(
    dstHost: *mut c_void,
    srcDevice: CUdeviceptr,
    ByteCount: usize,
) -> CUresult {
    entry::guard(|| {
        crate::copy::synchronous(entry::per_thread(core::ptr::null_mut()), || unsafe {
            special::cuMemcpyDtoHAsync_v2(
                dstHost,
                srcDevice,
                ByteCount,
                entry::per_thread(core::ptr::null_mut()),
            )
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoHAsync_v2(
    dstHost: *mut c_void,
    srcDevice: CUdeviceptr,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    entry::guard(|| unsafe {
        special::cuMemcpyDtoHAsync_v2(dstHost, srcDevice, ByteCount, hStream)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoHAsync_v2_ptsz(
    dstHost: *mut c_void,
    srcDevice: CUdeviceptr,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe {
        special::cuMemcpyDtoHAsync_v2(dstHost, srcDevice, ByteCount, hStream)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoD_v2(
    dstDevice: CUdeviceptr,
    srcDevice: CUdeviceptr,
    ByteCount: usize,
) -> CUresult {
    unsafe { remote::cuMemcpyDtoD_v2(dstDevice, srcDevice, ByteCount) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoD_v2_ptds(
    dstDevice: CUdeviceptr,
    srcDevice: CUdeviceptr,
    ByteCount: usize,
) -> CUresult {
    unsafe {
        remote::cuMemcpyDtoDAsync_v2(
            dstDevice,
            srcDevice,
            ByteCount,
            entry::per_thread(core::ptr::null_mut()),
        )
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoDAsync_v2(
    dstDevice: CUdeviceptr,
    srcDevice: CUdeviceptr,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    unsafe { remote::cuMemcpyDtoDAsync_v2(dstDevice, srcDevice, ByteCount, hStream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoDAsync_v2_ptsz(
    dstDevice: CUdeviceptr,
    srcDevice: CUdeviceptr,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    unsafe { remote::cuMemcpyDtoDAsync_v2(dstDevice, srcDevice, ByteCount, hStream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyPeer(
    dstDevice: CUdeviceptr,
    dstContext: CUcontext,
    srcDevice: CUdeviceptr,
    srcContext: CUcontext,
    ByteCount: usize,
) -> CUresult {
    unsafe { remote::cuMemcpyPeer(dstDevice, dstContext, srcDevice, srcContext, ByteCount) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyPeer_ptds(
    dstDevice: CUdeviceptr,
    dstContext: CUcontext,
    srcDevice: CUdeviceptr,
    srcContext: CUcontext,
    ByteCount: usize,
) -> CUresult {
    unsafe {
        remote::cuMemcpyPeerAsync(
            dstDevice,
            dstContext,
            srcDevice,
            srcContext,
            ByteCount,
            entry::per_thread(core::ptr::null_mut()),
        )
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyPeerAsync(
    dstDevice: CUdeviceptr,
    dstContext: CUcontext,
    srcDevice: CUdeviceptr,
    srcContext: CUcontext,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    unsafe {
        remote::cuMemcpyPeerAsync(
            dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream,
        )
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyPeerAsync_ptsz(
    dstDevice: CUdeviceptr,
    dstContext: CUcontext,
    srcDevice: CUdeviceptr,
    srcContext: CUcontext,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    unsafe {
        remote::cuMemcpyPeerAsync(
            dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream,
        )
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyBatchAsync(
    dsts: *mut CUdeviceptr,
    srcs: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    attrs: *mut CUmemcpyAttributes,
    attrsIdxs: *mut usize,
    numAttrs: usize,
    failIdx: *mut usize,
    hStream: CUstream,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuMemcpyBatchAsync(
            dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, failIdx, hStream,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyBatchAsync_ptsz(
    dsts: *mut CUdeviceptr,
    srcs: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    attrs: *mut CUmemcpyAttributes,
    attrsIdxs: *mut usize,
    numAttrs: usize,
    failIdx: *mut usize,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe {
        local::cuMemcpyBatchAsync(
            dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, failIdx, hStream,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyBatchAsync_v2(
    dsts: *mut CUdeviceptr,
    srcs: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    attrs: *mut CUmemcpyAttributes,
    attrsIdxs: *mut usize,
    numAttrs: usize,
    hStream: CUstream,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuMemcpyBatchAsync_v2(
            dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, hStream,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyBatchAsync_v2_ptsz(
    dsts: *mut CUdeviceptr,
    srcs: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    attrs: *mut CUmemcpyAttributes,
    attrsIdxs: *mut usize,
    numAttrs: usize,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe {
        local::cuMemcpyBatchAsync_v2(
            dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, hStream,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyWithAttributesAsync(
    dst: CUdeviceptr,
    src: CUdeviceptr,
    size: usize,
    attr: *mut CUmemcpyAttributes,
    hStream: CUstream,
) -> CUresult {
    entry::guard(|| unsafe { local::cuMemcpyWithAttributesAsync(dst, src, size, attr, hStream) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyWithAttributesAsync_ptsz(
    dst: CUdeviceptr,
    src: CUdeviceptr,
    size: usize,
    attr: *mut CUmemcpyAttributes,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe { local::cuMemcpyWithAttributesAsync(dst, src, size, attr, hStream) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy2D_v2(pCopy: *const CUDA_MEMCPY2D) -> CUresult {
    entry::guard(|| unsafe { special::cuMemcpy2D_v2(pCopy) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy2D_v2_ptds(pCopy: *const CUDA_MEMCPY2D) -> CUresult {
    entry::guard(|| {
        crate::copy::synchronous(entry::per_thread(core::ptr::null_mut()), || unsafe {
            special::cuMemcpy2DAsync_v2(pCopy, entry::per_thread(core::ptr::null_mut()))
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy2DUnaligned_v2(pCopy: *const CUDA_MEMCPY2D) -> CUresult {
    entry::guard(|| unsafe { special::cuMemcpy2DUnaligned_v2(pCopy) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy2DUnaligned_v2_ptds(pCopy: *const CUDA_MEMCPY2D) -> CUresult {
    entry::guard(|| {
        crate::copy::synchronous(entry::per_thread(core::ptr::null_mut()), || unsafe {
            special::cuMemcpy2DAsync_v2(pCopy, entry::per_thread(core::ptr::null_mut()))
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy2DAsync_v2(
    pCopy: *const CUDA_MEMCPY2D,
    hStream: CUstream,
) -> CUresult {
    entry::guard(|| unsafe { special::cuMemcpy2DAsync_v2(pCopy, hStream) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy2DAsync_v2_ptsz(
    pCopy: *const CUDA_MEMCPY2D,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe { special::cuMemcpy2DAsync_v2(pCopy, hStream) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3D_v2(pCopy: *const CUDA_MEMCPY3D) -> CUresult {
    entry::guard(|| unsafe { special::cuMemcpy3D_v2(pCopy) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3D_v2_ptds(pCopy: *const CUDA_MEMCPY3D) -> CUresult {
    entry::guard(|| {
        crate::copy::synchronous(entry::per_thread(core::ptr::null_mut()), || unsafe {
            special::cuMemcpy3DAsync_v2(pCopy, entry::per_thread(core::ptr::null_mut()))
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3DAsync_v2(
    pCopy: *const CUDA_MEMCPY3D,
    hStream: CUstream,
) -> CUresult {
    entry::guard(|| unsafe { special::cuMemcpy3DAsync_v2(pCopy, hStream) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3DAsync_v2_ptsz(
    pCopy: *const CUDA_MEMCPY3D,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe { special::cuMemcpy3DAsync_v2(pCopy, hStream) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3DPeer(pCopy: *const CUDA_MEMCPY3D_PEER) -> CUresult {
    entry::guard(|| unsafe { local::cuMemcpy3DPeer(pCopy) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3DPeer_ptds(pCopy: *const CUDA_MEMCPY3D_PEER) -> CUresult {
    entry::guard(|| unsafe {
        local::cuMemcpy3DPeerAsync(pCopy, entry::per_thread(core::ptr::null_mut()))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3DPeerAsync(
    pCopy: *const CUDA_MEMCPY3D_PEER,
    hStream: CUstream,
) -> CUresult {
    entry::guard(|| unsafe { local::cuMemcpy3DPeerAsync(pCopy, hStream) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3DPeerAsync_ptsz(
    pCopy: *const CUDA_MEMCPY3D_PEER,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe { local::cuMemcpy3DPeerAsync(pCopy, hStream) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD8_v2(dstDevice: CUdeviceptr, uc: c_uchar, N: usize) -> CUresult {
    let code = unsafe { remote::cuMemsetD8_v2(dstDevice, uc, N) };
    crate::managed::filled(dstDevice, core::ptr::null_mut(), code)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD8_v2_ptds(
    dstDevice: CUdeviceptr,
    uc: c_uchar,
    N: usize,
) -> CUresult {
    let code = unsafe {
        remote::cuMemsetD8Async(dstDevice, uc, N, entry::per_thread(core::ptr::null_mut()))
    };
    crate::managed::filled(dstDevice, entry::per_thread(core::ptr::null_mut()), code)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD16_v2(
    dstDevice: CUdeviceptr,
    us: c_ushort,
    N: usize,
) -> CUresult {
    let code = unsafe { remote::cuMemsetD16_v2(dstDevice, us, N) };
    crate::managed::filled(dstDevice, core::ptr::null_mut(), code)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD16_v2_ptds(
    dstDevice: CUdeviceptr,
    us: c_ushort,
    N: usize,
) -> CUresult {
    let code = unsafe {
        remote::cuMemsetD16Async(dstDevice, us, N, entry::per_thread(core::ptr::null_mut()))
    };
    crate::managed::filled(dstDevice, entry::per_thread(core::ptr::null_mut()), code)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD32_v2(dstDevice: CUdeviceptr, ui: c_uint, N: usize) -> CUresult {
    let code = unsafe { remote::cuMemsetD32_v2(dstDevice, ui, N) };
    crate::managed::filled(dstDevice, core::ptr::null_mut(), code)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD32_v2_ptds(
    dstDevice: CUdeviceptr,
    ui: c_uint,
    N: usize,
) -> CUresult {
    let code = unsafe {
        remote::cuMemsetD32Async(dstDevice, ui, N, entry::per_thread(core::ptr::null_mut()))
    };
    crate::managed::filled(dstDevice, entry::per_thread(core::ptr::null_mut()), code)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD8Async(
    dstDevice: CUdeviceptr,
    uc: c_uchar,
    N: usize,
    hStream: CUstream,
) -> CUresult {
    unsafe { remote::cuMemsetD8Async(dstDevice, uc, N, hStream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD8Async_ptsz(
    dstDevice: CUdeviceptr,
    uc: c_uchar,
    N: usize,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    unsafe { remote::cuMemsetD8Async(dstDevice, uc, N, hStream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD16Async(
    dstDevice: CUdeviceptr,
    us: c_ushort,
    N: usize,
    hStream: CUstream,
) -> CUresult {
    unsafe { remote::cuMemsetD16Async(dstDevice, us, N, hStream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD16Async_ptsz(
    dstDevice: CUdeviceptr,
    us: c_ushort,
    N: usize,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    unsafe { remote::cuMemsetD16Async(dstDevice, us, N, hStream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD32Async(
    dstDevice: CUdeviceptr,
    ui: c_uint,
    N: usize,
    hStream: CUstream,
) -> CUresult {
    unsafe { remote::cuMemsetD32Async(dstDevice, ui, N, hStream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD32Async_ptsz(
    dstDevice: CUdeviceptr,
    ui: c_uint,
    N: usize,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    unsafe { remote::cuMemsetD32Async(dstDevice, ui, N, hStream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD2D8_v2(
    dstDevice: CUdeviceptr,
    dstPitch: usize,
    uc: c_uchar,
    Width: usize,
    Height: usize,
) -> CUresult {
    let code = unsafe { remote::cuMemsetD2D8_v2(dstDevice, dstPitch, uc, Width, Height) };
    crate::managed::filled(dstDevice, core::ptr::null_mut(), code)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD2D8_v2_ptds(
    dstDevice: CUdeviceptr,
    dstPitch: usize,
    uc: c_uchar,
    Width: usize,
    Height: usize,
) -> CUresult {
    let code = unsafe {
        remote::cuMemsetD2D8Async(
            dstDevice,
            dstPitch,
            uc,
            Width,
            Height,
            entry::per_thread(core::ptr::null_mut()),
        )
    };
    crate::managed::filled(dstDevice, entry::per_thread(core::ptr::null_mut()), code)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD2D16_v2(
    dstDevice: CUdeviceptr,
    dstPitch: usize,
    us: c_ushort,
    Width: usize,
    Height: usize,
) -> CUresult {
    let code = unsafe { remote::cuMemsetD2D16_v2(dstDevice, dstPitch, us, Width, Height) };
    crate::managed::filled(dstDevice, core::ptr::null_mut(), code)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD2D16_v2_ptds(
    dstDevice: CUdeviceptr,
    dstPitch: usize,
    us: c_ushort,
    Width: usize,
    Height: usize,
) -> CUresult {
    let code = unsafe {
        remote::cuMemsetD2D16Async(
            dstDevice,
            dstPitch,
            us,
            Width,
            Height,
            entry::per_thread(core::ptr::null_mut()),
        )
    };
    crate::managed::filled(dstDevice, entry::per_thread(core::ptr::null_mut()), code)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD2D32_v2(
    dstDevice: CUdeviceptr,
    dstPitch: usize,
    ui: c_uint,
    Width: usize,
    Height: usize,
) -> CUresult {
    let code = unsafe { remote::cuMemsetD2D32_v2(dstDevice, dstPitch, ui, Width, Height) };
    crate::managed::filled(dstDevice, core::ptr::null_mut(), code)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD2D32_v2_ptds(
    dstDevice: CUdeviceptr,
    dstPitch: usize,
    ui: c_uint,
    Width: usize,
    Height: usize,
) -> CUresult {
    let code = unsafe {
        remote::cuMemsetD2D32Async(
            dstDevice,
            dstPitch,
            ui,
            Width,
            Height,
            entry::per_thread(core::ptr::null_mut()),
        )
    };
    crate::managed::filled(dstDevice, entry::per_thread(core::ptr::null_mut()), code)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD2D8Async(
    dstDevice: CUdeviceptr,
    dstPitch: usize,
    uc: c_uchar,
    Width: usize,
    Height: usize,
    hStream: CUstream,
) -> CUresult {
    unsafe { remote::cuMemsetD2D8Async(dstDevice, dstPitch, uc, Width, Height, hStream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD2D8Async_ptsz(
    dstDevice: CUdeviceptr,
    dstPitch: usize,
    uc: c_uchar,
    Width: usize,
    Height: usize,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    unsafe { remote::cuMemsetD2D8Async(dstDevice, dstPitch, uc, Width, Height, hStream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD2D16Async(
    dstDevice: CUdeviceptr,
    dstPitch: usize,
    us: c_ushort,
    Width: usize,
    Height: usize,
    hStream: CUstream,
) -> CUresult {
    unsafe { remote::cuMemsetD2D16Async(dstDevice, dstPitch, us, Width, Height, hStream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD2D16Async_ptsz(
    dstDevice: CUdeviceptr,
    dstPitch: usize,
    us: c_ushort,
    Width: usize,
    Height: usize,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    unsafe { remote::cuMemsetD2D16Async(dstDevice, dstPitch, us, Width, Height, hStream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD2D32Async(
    dstDevice: CUdeviceptr,
    dstPitch: usize,
    ui: c_uint,
    Width: usize,
    Height: usize,
    hStream: CUstream,
) -> CUresult {
    unsafe { remote::cuMemsetD2D32Async(dstDevice, dstPitch, ui, Width, Height, hStream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD2D32Async_ptsz(
    dstDevice: CUdeviceptr,
    dstPitch: usize,
    ui: c_uint,
    Width: usize,
    Height: usize,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    unsafe { remote::cuMemsetD2D32Async(dstDevice, dstPitch, ui, Width, Height, hStream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetDefaultMemPool(
    pool_out: *mut CUmemoryPool,
    dev: CUdevice,
) -> CUresult {
    unsafe { remote::cuDeviceGetDefaultMemPool(pool_out, dev) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetMemPool(pool: *mut CUmemoryPool, dev: CUdevice) -> CUresult {
    unsafe { remote::cuDeviceGetMemPool(pool, dev) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceSetMemPool(dev: CUdevice, pool: CUmemoryPool) -> CUresult {
    entry::guard(|| unsafe { special::cuDeviceSetMemPool(dev, pool) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetDefaultMemPool(
    pool_out: *mut CUmemoryPool,
    location: *mut CUmemLocation,
    type_: CUmemAllocationType,
) -> CUresult {
    unsafe { remote::cuMemGetDefaultMemPool(pool_out, location, type_) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetMemPool(
    pool: *mut CUmemoryPool,
    location: *mut CUmemLocation,
    type_: CUmemAllocationType,
) -> CUresult {
    unsafe { remote::cuMemGetMemPool(pool, location, type_) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemSetMemPool(
    location: *mut CUmemLocation,
    type_: CUmemAllocationType,
    pool: CUmemoryPool,
) -> CUresult {
    entry::guard(|| unsafe { special::cuMemSetMemPool(location, type_, pool) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolCreate(
    pool: *mut CUmemoryPool,
    poolProps: *const CUmemPoolProps,
) -> CUresult {
    unsafe { remote::cuMemPoolCreate(pool, poolProps) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolDestroy(pool: CUmemoryPool) -> CUresult {
    entry::guard(|| unsafe { special::cuMemPoolDestroy(pool) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolGetAttribute(
    pool: CUmemoryPool,
    attr: CUmemPool_attribute,
    value: *mut c_void,
) -> CUresult {
    entry::guard(|| unsafe { special::cuMemPoolGetAttribute(pool, attr, value) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolSetAttribute(
    pool: CUmemoryPool,
    attr: CUmemPool_attribute,
    value: *mut c_void,
) -> CUresult {
    entry::guard(|| unsafe { special::cuMemPoolSetAttribute(pool, attr, value) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolGetAccess(
    flags: *mut CUmemAccess_flags,
    memPool: CUmemoryPool,
    location: *mut CUmemLocation,
) -> CUresult {
    unsafe { remote::cuMemPoolGetAccess(flags, memPool, location) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolSetAccess(
    pool: CUmemoryPool,
    map: *const CUmemAccessDesc,
    count: usize,
) -> CUresult {
    unsafe { remote::cuMemPoolSetAccess(pool, map, count) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolTrimTo(pool: CUmemoryPool, minBytesToKeep: usize) -> CUresult {
    unsafe { remote::cuMemPoolTrimTo(pool, minBytesToKeep) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuIpcGetMemHandle(
    pHandle: *mut CUipcMemHandle,
    dptr: CUdeviceptr,
) -> CUresult {
    unsafe { remote::cuIpcGetMemHandle(pHandle, dptr) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuIpcOpenMemHandle_v2(
    pdptr: *mut CUdeviceptr,
    handle: CUipcMemHandle,
    Flags: c_uint,
) -> CUresult {
    entry::guard(|| unsafe { special::cuIpcOpenMemHandle_v2(pdptr, handle, Flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuIpcCloseMemHandle(dptr: CUdeviceptr) -> CUresult {
    entry::guard(|| unsafe { special::cuIpcCloseMemHandle(dptr) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuIpcGetEventHandle(
    pHandle: *mut CUipcEventHandle,
    event: CUevent,
) -> CUresult {
    unsafe { remote::cuIpcGetEventHandle(pHandle, event) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuIpcOpenEventHandle(
    phEvent: *mut CUevent,
    handle: CUipcEventHandle,
) -> CUresult {
    entry::guard(|| unsafe { special::cuIpcOpenEventHandle(phEvent, handle) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAddressReserve(
    ptr: *mut CUdeviceptr,
    size: usize,
    alignment: usize,
    addr: CUdeviceptr,
    flags: c_ulonglong,
) -> CUresult {
    entry::guard(|| unsafe { special::cuMemAddressReserve(ptr, size, alignment, addr, flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAddressFree(ptr: CUdeviceptr, size: usize) -> CUresult {
    entry::guard(|| unsafe { special::cuMemAddressFree(ptr, size) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemCreate(
    handle: *mut CUmemGenericAllocationHandle,
    size: usize,
    prop: *const CUmemAllocationProp,
    flags: c_ulonglong,
) -> CUresult {
    unsafe { remote::cuMemCreate(handle, size, prop, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemRelease(handle: CUmemGenericAllocationHandle) -> CUresult {
    unsafe { remote::cuMemRelease(handle) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemMap(
    ptr: CUdeviceptr,
    size: usize,
    offset: usize,
    handle: CUmemGenericAllocationHandle,
    flags: c_ulonglong,
) -> CUresult {
    unsafe { remote::cuMemMap(ptr, size, offset, handle, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemUnmap(ptr: CUdeviceptr, size: usize) -> CUresult {
    unsafe { remote::cuMemUnmap(ptr, size) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemSetAccess(
    ptr: CUdeviceptr,
    size: usize,
    desc: *const CUmemAccessDesc,
    count: usize,
) -> CUresult {
    unsafe { remote::cuMemSetAccess(ptr, size, desc, count) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetAccess(
    flags: *mut c_ulonglong,
    location: *const CUmemLocation,
    ptr: CUdeviceptr,
) -> CUresult {
    unsafe { remote::cuMemGetAccess(flags, location, ptr) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetAllocationGranularity(
    granularity: *mut usize,
    prop: *const CUmemAllocationProp,
    option: CUmemAllocationGranularity_flags,
) -> CUresult {
    unsafe { remote::cuMemGetAllocationGranularity(granularity, prop, option) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetAllocationPropertiesFromHandle(
    prop: *mut CUmemAllocationProp,
    handle: CUmemGenericAllocationHandle,
) -> CUresult {
    unsafe { remote::cuMemGetAllocationPropertiesFromHandle(prop, handle) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemRetainAllocationHandle(
    handle: *mut CUmemGenericAllocationHandle,
    addr: *mut c_void,
) -> CUresult {
    unsafe { remote::cuMemRetainAllocationHandle(handle, addr) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAdvise(
    devPtr: CUdeviceptr,
    count: usize,
    advice: CUmem_advise,
    device: CUdevice,
) -> CUresult {
    entry::guard(|| unsafe { special::cuMemAdvise(devPtr, count, advice, device) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAdvise_v2(
    devPtr: CUdeviceptr,
    count: usize,
    advice: CUmem_advise,
    location: CUmemLocation,
) -> CUresult {
    entry::guard(|| unsafe { special::cuMemAdvise_v2(devPtr, count, advice, location) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPrefetchAsync(
    devPtr: CUdeviceptr,
    count: usize,
    dstDevice: CUdevice,
    hStream: CUstream,
) -> CUresult {
    entry::guard(|| unsafe { special::cuMemPrefetchAsync(devPtr, count, dstDevice, hStream) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPrefetchAsync_ptsz(
    devPtr: CUdeviceptr,
    count: usize,
    dstDevice: CUdevice,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe { special::cuMemPrefetchAsync(devPtr, count, dstDevice, hStream) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPrefetchAsync_v2(
    devPtr: CUdeviceptr,
    count: usize,
    location: CUmemLocation,
    flags: c_uint,
    hStream: CUstream,
) -> CUresult {
    entry::guard(|| unsafe {
        special::cuMemPrefetchAsync_v2(devPtr, count, location, flags, hStream)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPrefetchAsync_v2_ptsz(
    devPtr: CUdeviceptr,
    count: usize,
    location: CUmemLocation,
    flags: c_uint,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe {
        special::cuMemPrefetchAsync_v2(devPtr, count, location, flags, hStream)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPrefetchBatchAsync(
    dptrs: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    prefetchLocs: *mut CUmemLocation,
    prefetchLocIdxs: *mut usize,
    numPrefetchLocs: usize,
    flags: c_ulonglong,
    hStream: CUstream,
) -> CUresult {
    entry::guard(|| unsafe {
        special::cuMemPrefetchBatchAsync(
            dptrs,
            sizes,
            count,
            prefetchLocs,
            prefetchLocIdxs,
            numPrefetchLocs,
            flags,
            hStream,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPrefetchBatchAsync_ptsz(
    dptrs: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    prefetchLocs: *mut CUmemLocation,
    prefetchLocIdxs: *mut usize,
    numPrefetchLocs: usize,
    flags: c_ulonglong,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe {
        special::cuMemPrefetchBatchAsync(
            dptrs,
            sizes,
            count,
            prefetchLocs,
            prefetchLocIdxs,
            numPrefetchLocs,
            flags,
            hStream,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemDiscardBatchAsync(
    dptrs: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    flags: c_ulonglong,
    hStream: CUstream,
) -> CUresult {
    entry::guard(|| unsafe { special::cuMemDiscardBatchAsync(dptrs, sizes, count, flags, hStream) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemDiscardBatchAsync_ptsz(
    dptrs: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    flags: c_ulonglong,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe { special::cuMemDiscardBatchAsync(dptrs, sizes, count, flags, hStream) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemDiscardAndPrefetchBatchAsync(
    dptrs: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    prefetchLocs: *mut CUmemLocation,
    prefetchLocIdxs: *mut usize,
    numPrefetchLocs: usize,
    flags: c_ulonglong,
    hStream: CUstream,
) -> CUresult {
    entry::guard(|| unsafe {
        special::cuMemDiscardAndPrefetchBatchAsync(
            dptrs,
            sizes,
            count,
            prefetchLocs,
            prefetchLocIdxs,
            numPrefetchLocs,
            flags,
            hStream,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemDiscardAndPrefetchBatchAsync_ptsz(
    dptrs: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    prefetchLocs: *mut CUmemLocation,
    prefetchLocIdxs: *mut usize,
    numPrefetchLocs: usize,
    flags: c_ulonglong,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe {
        special::cuMemDiscardAndPrefetchBatchAsync(
            dptrs,
            sizes,
            count,
            prefetchLocs,
            prefetchLocIdxs,
            numPrefetchLocs,
            flags,
            hStream,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemRangeGetAttribute(
    data: *mut c_void,
    dataSize: usize,
    attribute: CUmem_range_attribute,
    devPtr: CUdeviceptr,
    count: usize,
) -> CUresult {
    unsafe { remote::cuMemRangeGetAttribute(data, dataSize, attribute, devPtr, count) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemExportToShareableHandle(
    shareableHandle: *mut c_void,
    handle: CUmemGenericAllocationHandle,
    handleType: CUmemAllocationHandleType,
    flags: c_ulonglong,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuMemExportToShareableHandle(shareableHandle, handle, handleType, flags)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemImportFromShareableHandle(
    handle: *mut CUmemGenericAllocationHandle,
    osHandle: *mut c_void,
    shHandleType: CUmemAllocationHandleType,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuMemImportFromShareableHandle(handle, osHandle, shHandleType)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemRangeGetAttributes(
    data: *mut *mut c_void,
    dataSizes: *mut usize,
    attributes: *mut CUmem_range_attribute,
    numAttributes: usize,
    devPtr: CUdeviceptr,
    count: usize,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuMemRangeGetAttributes(data, dataSizes, attributes, numAttributes, devPtr, count)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreate(phStream: *mut CUstream, Flags: c_uint) -> CUresult {
    unsafe { remote::cuStreamCreate(phStream, Flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreateWithPriority(
    phStream: *mut CUstream,
    flags: c_uint,
    priority: c_int,
) -> CUresult {
    unsafe { remote::cuStreamCreateWithPriority(phStream, flags, priority) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamDestroy_v2(hStream: CUstream) -> CUresult {
    entry::guard(|| unsafe { special::cuStreamDestroy_v2(hStream) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamDestroy(hStream: CUstream) -> CUresult {
    entry::guard(|| unsafe { special::cuStreamDestroy_v2(hStream) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamSynchronize(hStream: CUstream) -> CUresult {
    unsafe { remote::cuStreamSynchronize(hStream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamSynchronize_ptsz(hStream: CUstream) -> CUresult {
    let hStream = entry::per_thread(hStream);
    unsafe { remote::cuStreamSynchronize(hStream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamQuery(hStream: CUstream) -> CUresult {
    unsafe { remote::cuStreamQuery(hStream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamQuery_ptsz(hStream: CUstream) -> CUresult {
    let hStream = entry::per_thread(hStream);
    unsafe { remote::cuStreamQuery(hStream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWaitEvent(
    hStream: CUstream,
    hEvent: CUevent,
    Flags: c_uint,
) -> CUresult {
    entry::guard(|| unsafe { special::cuStreamWaitEvent(hStream, hEvent, Flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWaitEvent_ptsz(
    hStream: CUstream,
    hEvent: CUevent,
    Flags: c_uint,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe { special::cuStreamWaitEvent(hStream, hEvent, Flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetFlags(hStream: CUstream, flags: *mut c_uint) -> CUresult {
    unsafe { remote::cuStreamGetFlags(hStream, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetFlags_ptsz(hStream: CUstream, flags: *mut c_uint) -> CUresult {
    let hStream = entry::per_thread(hStream);
    unsafe { remote::cuStreamGetFlags(hStream, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetPriority(hStream: CUstream, priority: *mut c_int) -> CUresult {
    unsafe { remote::cuStreamGetPriority(hStream, priority) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetPriority_ptsz(
    hStream: CUstream,
    priority: *mut c_int,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    unsafe { remote::cuStreamGetPriority(hStream, priority) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetId(hStream: CUstream, streamId: *mut c_ulonglong) -> CUresult {
    unsafe { remote::cuStreamGetId(hStream, streamId) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetId_ptsz(
    hStream: CUstream,
    streamId: *mut c_ulonglong,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    unsafe { remote::cuStreamGetId(hStream, streamId) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetDevice(hStream: CUstream, device: *mut CUdevice) -> CUresult {
    unsafe { remote::cuStreamGetDevice(hStream, device) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetDevice_ptsz(
    hStream: CUstream,
    device: *mut CUdevice,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    unsafe { remote::cuStreamGetDevice(hStream, device) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetCtx(hStream: CUstream, pctx: *mut CUcontext) -> CUresult {
    unsafe { remote::cuStreamGetCtx(hStream, pctx) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetCtx_ptsz(hStream: CUstream, pctx: *mut CUcontext) -> CUresult {
    let hStream = entry::per_thread(hStream);
    unsafe { remote::cuStreamGetCtx(hStream, pctx) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetCtx_v2(
    hStream: CUstream,
    pCtx: *mut CUcontext,
    pGreenCtx: *mut CUgreenCtx,
) -> CUresult {
    entry::guard(|| unsafe { local::cuStreamGetCtx_v2(hStream, pCtx, pGreenCtx) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetCtx_v2_ptsz(
    hStream: CUstream,
    pCtx: *mut CUcontext,
    pGreenCtx: *mut CUgreenCtx,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe { local::cuStreamGetCtx_v2(hStream, pCtx, pGreenCtx) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetGreenCtx(
    hStream: CUstream,
    phCtx: *mut CUgreenCtx,
) -> CUresult {
    entry::guard(|| unsafe { local::cuStreamGetGreenCtx(hStream, phCtx) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamAttachMemAsync(
    hStream: CUstream,
    dptr: CUdeviceptr,
    length: usize,
    flags: c_uint,
) -> CUresult {
    entry::guard(|| unsafe { special::cuStreamAttachMemAsync(hStream, dptr, length, flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamAttachMemAsync_ptsz(
    hStream: CUstream,
    dptr: CUdeviceptr,
    length: usize,
    flags: c_uint,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe { special::cuStreamAttachMemAsync(hStream, dptr, length, flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCopyAttributes(dst: CUstream, src: CUstream) -> CUresult {
    unsafe { remote::cuStreamCopyAttributes(dst, src) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCopyAttributes_ptsz(dst: CUstream, src: CUstream) -> CUresult {
    let dst = entry::per_thread(dst);
    let src = entry::per_thread(src);
    unsafe { remote::cuStreamCopyAttributes(dst, src) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetAttribute(
    hStream: CUstream,
    attr: CUstreamAttrID,
    value_out: *mut CUstreamAttrValue,
) -> CUresult {
    unsafe { remote::cuStreamGetAttribute(hStream, attr, value_out) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetAttribute_ptsz(
    hStream: CUstream,
    attr: CUstreamAttrID,
    value_out: *mut CUstreamAttrValue,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    unsafe { remote::cuStreamGetAttribute(hStream, attr, value_out) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamSetAttribute(
    hStream: CUstream,
    attr: CUstreamAttrID,
    value: *const CUstreamAttrValue,
) -> CUresult {
    unsafe { remote::cuStreamSetAttribute(hStream, attr, value) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamSetAttribute_ptsz(
    hStream: CUstream,
    attr: CUstreamAttrID,
    value: *const CUstreamAttrValue,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    unsafe { remote::cuStreamSetAttribute(hStream, attr, value) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWaitValue32(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint32_t,
    flags: c_uint,
) -> CUresult {
    unsafe { remote::cuStreamWaitValue32(stream, addr, value, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWaitValue32_ptsz(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint32_t,
    flags: c_uint,
) -> CUresult {
    let stream = entry::per_thread(stream);
    unsafe { remote::cuStreamWaitValue32(stream, addr, value, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWaitValue32_v2(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint32_t,
    flags: c_uint,
) -> CUresult {
    unsafe { remote::cuStreamWaitValue32_v2(stream, addr, value, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWaitValue32_v2_ptsz(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint32_t,
    flags: c_uint,
) -> CUresult {
    let stream = entry::per_thread(stream);
    unsafe { remote::cuStreamWaitValue32_v2(stream, addr, value, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWaitValue64(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint64_t,
    flags: c_uint,
) -> CUresult {
    unsafe { remote::cuStreamWaitValue64(stream, addr, value, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWaitValue64_ptsz(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint64_t,
    flags: c_uint,
) -> CUresult {
    let stream = entry::per_thread(stream);
    unsafe { remote::cuStreamWaitValue64(stream, addr, value, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWaitValue64_v2(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint64_t,
    flags: c_uint,
) -> CUresult {
    unsafe { remote::cuStreamWaitValue64_v2(stream, addr, value, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWaitValue64_v2_ptsz(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint64_t,
    flags: c_uint,
) -> CUresult {
    let stream = entry::per_thread(stream);
    unsafe { remote::cuStreamWaitValue64_v2(stream, addr, value, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWriteValue32(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint32_t,
    flags: c_uint,
) -> CUresult {
    unsafe { remote::cuStreamWriteValue32(stream, addr, value, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWriteValue32_ptsz(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint32_t,
    flags: c_uint,
) -> CUresult {
    let stream = entry::per_thread(stream);
    unsafe { remote::cuStreamWriteValue32(stream, addr, value, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWriteValue32_v2(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint32_t,
    flags: c_uint,
) -> CUresult {
    unsafe { remote::cuStreamWriteValue32_v2(stream, addr, value, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWriteValue32_v2_ptsz(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint32_t,
    flags: c_uint,
) -> CUresult {
    let stream = entry::per_thread(stream);
    unsafe { remote::cuStreamWriteValue32_v2(stream, addr, value, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWriteValue64(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint64_t,
    flags: c_uint,
) -> CUresult {
    unsafe { remote::cuStreamWriteValue64(stream, addr, value, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWriteValue64_ptsz(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint64_t,
    flags: c_uint,
) -> CUresult {
    let stream = entry::per_thread(stream);
    unsafe { remote::cuStreamWriteValue64(stream, addr, value, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWriteValue64_v2(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint64_t,
    flags: c_uint,
) -> CUresult {
    unsafe { remote::cuStreamWriteValue64_v2(stream, addr, value, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWriteValue64_v2_ptsz(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint64_t,
    flags: c_uint,
) -> CUresult {
    let stream = entry::per_thread(stream);
    unsafe { remote::cuStreamWriteValue64_v2(stream, addr, value, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamBatchMemOp(
    stream: CUstream,
    count: c_uint,
    paramArray: *mut CUstreamBatchMemOpParams,
    flags: c_uint,
) -> CUresult {
    unsafe { remote::cuStreamBatchMemOp(stream, count, paramArray, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamBatchMemOp_ptsz(
    stream: CUstream,
    count: c_uint,
    paramArray: *mut CUstreamBatchMemOpParams,
    flags: c_uint,
) -> CUresult {
    let stream = entry::per_thread(stream);
    unsafe { remote::cuStreamBatchMemOp(stream, count, paramArray, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamBatchMemOp_v2(
    stream: CUstream,
    count: c_uint,
    paramArray: *mut CUstreamBatchMemOpParams,
    flags: c_uint,
) -> CUresult {
    unsafe { remote::cuStreamBatchMemOp_v2(stream, count, paramArray, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamBatchMemOp_v2_ptsz(
    stream: CUstream,
    count: c_uint,
    paramArray: *mut CUstreamBatchMemOpParams,
    flags: c_uint,
) -> CUresult {
    let stream = entry::per_thread(stream);
    unsafe { remote::cuStreamBatchMemOp_v2(stream, count, paramArray, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamAddCallback(
    hStream: CUstream,
    callback: CUstreamCallback,
    userData: *mut c_void,
    flags: c_uint,
) -> CUresult {
    entry::guard(|| unsafe { special::cuStreamAddCallback(hStream, callback, userData, flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamAddCallback_ptsz(
    hStream: CUstream,
    callback: CUstreamCallback,
    userData: *mut c_void,
    flags: c_uint,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe { special::cuStreamAddCallback(hStream, callback, userData, flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchHostFunc(
    hStream: CUstream,
    fn_: CUhostFn,
    userData: *mut c_void,
) -> CUresult {
    entry::guard(|| unsafe { special::cuLaunchHostFunc(hStream, fn_, userData) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchHostFunc_ptsz(
    hStream: CUstream,
    fn_: CUhostFn,
    userData: *mut c_void,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe { special::cuLaunchHostFunc(hStream, fn_, userData) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchHostFunc_v2(
    hStream: CUstream,
    fn_: CUhostFn,
    userData: *mut c_void,
    syncMode: c_uint,
) -> CUresult {
    entry::guard(|| unsafe { local::cuLaunchHostFunc_v2(hStream, fn_, userData, syncMode) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchHostFunc_v2_ptsz(
    hStream: CUstream,
    fn_: CUhostFn,
    userData: *mut c_void,
    syncMode: c_uint,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe { local::cuLaunchHostFunc_v2(hStream, fn_, userData, syncMode) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamIsCapturing(
    hStream: CUstream,
    captureStatus: *mut CUstreamCaptureStatus,
) -> CUresult {
    entry::guard(|| unsafe { local::cuStreamIsCapturing(hStream, captureStatus) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamIsCapturing_ptsz(
    hStream: CUstream,
    captureStatus: *mut CUstreamCaptureStatus,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe { local::cuStreamIsCapturing(hStream, captureStatus) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetCaptureInfo(
    hStream: CUstream,
    captureStatus_out: *mut CUstreamCaptureStatus,
    id_out: *mut cuuint64_t,
) -> CUresult {
    entry::guard(|| unsafe { local::cuStreamGetCaptureInfo(hStream, captureStatus_out, id_out) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetCaptureInfo_ptsz(
    hStream: CUstream,
    captureStatus_out: *mut CUstreamCaptureStatus,
    id_out: *mut cuuint64_t,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe { local::cuStreamGetCaptureInfo(hStream, captureStatus_out, id_out) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetCaptureInfo_v2(
    hStream: CUstream,
    captureStatus_out: *mut CUstreamCaptureStatus,
    id_out: *mut cuuint64_t,
    graph_out: *mut CUgraph,
    dependencies_out: *mut *const CUgraphNode,
    numDependencies_out: *mut usize,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuStreamGetCaptureInfo_v2(
            hStream,
            captureStatus_out,
            id_out,
            graph_out,
            dependencies_out,
            numDependencies_out,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetCaptureInfo_v2_ptsz(
    hStream: CUstream,
    captureStatus_out: *mut CUstreamCaptureStatus,
    id_out: *mut cuuint64_t,
    graph_out: *mut CUgraph,
    dependencies_out: *mut *const CUgraphNode,
    numDependencies_out: *mut usize,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe {
        local::cuStreamGetCaptureInfo_v2(
            hStream,
            captureStatus_out,
            id_out,
            graph_out,
            dependencies_out,
            numDependencies_out,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetCaptureInfo_v3(
    hStream: CUstream,
    captureStatus_out: *mut CUstreamCaptureStatus,
    id_out: *mut cuuint64_t,
    graph_out: *mut CUgraph,
    dependencies_out: *mut *const CUgraphNode,
    edgeData_out: *mut *const CUgraphEdgeData,
    numDependencies_out: *mut usize,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuStreamGetCaptureInfo_v3(
            hStream,
            captureStatus_out,
            id_out,
            graph_out,
            dependencies_out,
            edgeData_out,
            numDependencies_out,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetCaptureInfo_v3_ptsz(
    hStream: CUstream,
    captureStatus_out: *mut CUstreamCaptureStatus,
    id_out: *mut cuuint64_t,
    graph_out: *mut CUgraph,
    dependencies_out: *mut *const CUgraphNode,
    edgeData_out: *mut *const CUgraphEdgeData,
    numDependencies_out: *mut usize,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe {
        local::cuStreamGetCaptureInfo_v3(
            hStream,
            captureStatus_out,
            id_out,
            graph_out,
            dependencies_out,
            edgeData_out,
            numDependencies_out,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamBeginCapture_v2(
    hStream: CUstream,
    mode: CUstreamCaptureMode,
) -> CUresult {
    entry::guard(|| unsafe { special::cuStreamBeginCapture_v2(hStream, mode) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamBeginCapture_v2_ptsz(
    hStream: CUstream,
    mode: CUstreamCaptureMode,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe { special::cuStreamBeginCapture_v2(hStream, mode) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamBeginCaptureToGraph(
    hStream: CUstream,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    dependencyData: *const CUgraphEdgeData,
    numDependencies: usize,
    mode: CUstreamCaptureMode,
) -> CUresult {
    entry::guard(|| unsafe {
        special::cuStreamBeginCaptureToGraph(
            hStream,
            hGraph,
            dependencies,
            dependencyData,
            numDependencies,
            mode,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamBeginCaptureToGraph_ptsz(
    hStream: CUstream,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    dependencyData: *const CUgraphEdgeData,
    numDependencies: usize,
    mode: CUstreamCaptureMode,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe {
        special::cuStreamBeginCaptureToGraph(
            hStream,
            hGraph,
            dependencies,
            dependencyData,
            numDependencies,
            mode,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamEndCapture(hStream: CUstream, phGraph: *mut CUgraph) -> CUresult {
    entry::guard(|| unsafe { special::cuStreamEndCapture(hStream, phGraph) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamEndCapture_ptsz(
    hStream: CUstream,
    phGraph: *mut CUgraph,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe { special::cuStreamEndCapture(hStream, phGraph) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamUpdateCaptureDependencies(
    hStream: CUstream,
    dependencies: *mut CUgraphNode,
    numDependencies: usize,
    flags: c_uint,
) -> CUresult {
    entry::guard(|| unsafe {
        special::cuStreamUpdateCaptureDependencies(hStream, dependencies, numDependencies, flags)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamUpdateCaptureDependencies_ptsz(
    hStream: CUstream,
    dependencies: *mut CUgraphNode,
    numDependencies: usize,
    flags: c_uint,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe {
        special::cuStreamUpdateCaptureDependencies(hStream, dependencies, numDependencies, flags)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamUpdateCaptureDependencies_v2(
    hStream: CUstream,
    dependencies: *mut CUgraphNode,
    dependencyData: *const CUgraphEdgeData,
    numDependencies: usize,
    flags: c_uint,
) -> CUresult {
    entry::guard(|| unsafe {
        special::cuStreamUpdateCaptureDependencies_v2(
            hStream,
            dependencies,
            dependencyData,
            numDependencies,
            flags,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamUpdateCaptureDependencies_v2_ptsz(
    hStream: CUstream,
    dependencies: *mut CUgraphNode,
    dependencyData: *const CUgraphEdgeData,
    numDependencies: usize,
    flags: c_uint,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe {
        special::cuStreamUpdateCaptureDependencies_v2(
            hStream,
            dependencies,
            dependencyData,
            numDependencies,
            flags,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuThreadExchangeStreamCaptureMode(
    mode: *mut CUstreamCaptureMode,
) -> CUresult {
    entry::guard(|| unsafe { special::cuThreadExchangeStreamCaptureMode(mode) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventCreate(phEvent: *mut CUevent, Flags: c_uint) -> CUresult {
    entry::guard(|| unsafe { special::cuEventCreate(phEvent, Flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventDestroy_v2(hEvent: CUevent) -> CUresult {
    entry::guard(|| unsafe { special::cuEventDestroy_v2(hEvent) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventDestroy(hEvent: CUevent) -> CUresult {
    entry::guard(|| unsafe { special::cuEventDestroy_v2(hEvent) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventRecord(hEvent: CUevent, hStream: CUstream) -> CUresult {
    entry::guard(|| unsafe { special::cuEventRecord(hEvent, hStream) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventRecord_ptsz(hEvent: CUevent, hStream: CUstream) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe { special::cuEventRecord(hEvent, hStream) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventRecordWithFlags(
    hEvent: CUevent,
    hStream: CUstream,
    flags: c_uint,
) -> CUresult {
    entry::guard(|| unsafe { special::cuEventRecordWithFlags(hEvent, hStream, flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventRecordWithFlags_ptsz(
    hEvent: CUevent,
    hStream: CUstream,
    flags: c_uint,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe { special::cuEventRecordWithFlags(hEvent, hStream, flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventQuery(hEvent: CUevent) -> CUresult {
    entry::guard(|| unsafe { special::cuEventQuery(hEvent) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventSynchronize(hEvent: CUevent) -> CUresult {
    entry::guard(|| unsafe { special::cuEventSynchronize(hEvent) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventElapsedTime(
    pMilliseconds: *mut f32,
    hStart: CUevent,
    hEnd: CUevent,
) -> CUresult {
    unsafe { remote::cuEventElapsedTime(pMilliseconds, hStart, hEnd) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventElapsedTime_v2(
    pMilliseconds: *mut f32,
    hStart: CUevent,
    hEnd: CUevent,
) -> CUresult {
    unsafe { remote::cuEventElapsedTime_v2(pMilliseconds, hStart, hEnd) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoad(module: *mut CUmodule, fname: *const c_char) -> CUresult {
    entry::guard(|| unsafe { local::cuModuleLoad(module, fname) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadData(module: *mut CUmodule, image: *const c_void) -> CUresult {
    entry::guard(|| unsafe { special::cuModuleLoadData(module, image) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadDataEx(
    module: *mut CUmodule,
    image: *const c_void,
    numOptions: c_uint,
    options: *mut CUjit_option,
    optionValues: *mut *mut c_void,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuModuleLoadDataEx(module, image, numOptions, options, optionValues)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadFatBinary(
    module: *mut CUmodule,
    fatCubin: *const c_void,
) -> CUresult {
    entry::guard(|| unsafe { local::cuModuleLoadFatBinary(module, fatCubin) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleUnload(hmod: CUmodule) -> CUresult {
    entry::guard(|| unsafe { special::cuModuleUnload(hmod) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetLoadingMode(mode: *mut CUmoduleLoadingMode) -> CUresult {
    entry::guard(|| unsafe { local::cuModuleGetLoadingMode(mode) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetFunction(
    hfunc: *mut CUfunction,
    hmod: CUmodule,
    name: *const c_char,
) -> CUresult {
    entry::guard(|| unsafe { special::cuModuleGetFunction(hfunc, hmod, name) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetFunctionCount(count: *mut c_uint, mod_: CUmodule) -> CUresult {
    unsafe { remote::cuModuleGetFunctionCount(count, mod_) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleEnumerateFunctions(
    functions: *mut CUfunction,
    numFunctions: c_uint,
    mod_: CUmodule,
) -> CUresult {
    unsafe { remote::cuModuleEnumerateFunctions(functions, numFunctions, mod_) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetGlobal_v2(
    dptr: *mut CUdeviceptr,
    bytes: *mut usize,
    hmod: CUmodule,
    name: *const c_char,
) -> CUresult {
    entry::guard(|| unsafe { special::cuModuleGetGlobal_v2(dptr, bytes, hmod, name) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetAttribute(
    pi: *mut c_int,
    attrib: CUfunction_attribute,
    hfunc: CUfunction,
) -> CUresult {
    entry::guard(|| unsafe { local::cuFuncGetAttribute(pi, attrib, hfunc) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncSetAttribute(
    hfunc: CUfunction,
    attrib: CUfunction_attribute,
    value: c_int,
) -> CUresult {
    entry::guard(|| unsafe { special::cuFuncSetAttribute(hfunc, attrib, value) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncSetCacheConfig(hfunc: CUfunction, config: CUfunc_cache) -> CUresult {
    unsafe { remote::cuFuncSetCacheConfig(hfunc, config) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncSetSharedMemConfig(
    hfunc: CUfunction,
    config: CUsharedconfig,
) -> CUresult {
    unsafe { remote::cuFuncSetSharedMemConfig(hfunc, config) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetModule(hmod: *mut CUmodule, hfunc: CUfunction) -> CUresult {
    unsafe { remote::cuFuncGetModule(hmod, hfunc) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetName(name: *mut *const c_char, hfunc: CUfunction) -> CUresult {
    entry::guard(|| unsafe { local::cuFuncGetName(name, hfunc) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetParamCount(func: CUfunction, paramCount: *mut usize) -> CUresult {
    entry::guard(|| unsafe { local::cuFuncGetParamCount(func, paramCount) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetParamInfo(
    func: CUfunction,
    paramIndex: usize,
    paramOffset: *mut usize,
    paramSize: *mut usize,
) -> CUresult {
    entry::guard(|| unsafe { local::cuFuncGetParamInfo(func, paramIndex, paramOffset, paramSize) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncIsLoaded(
    state: *mut CUfunctionLoadingState,
    function: CUfunction,
) -> CUresult {
    unsafe { remote::cuFuncIsLoaded(state, function) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncLoad(function: CUfunction) -> CUresult {
    unsafe { remote::cuFuncLoad(function) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryLoadData(
    library: *mut CUlibrary,
    code: *const c_void,
    jitOptions: *mut CUjit_option,
    jitOptionsValues: *mut *mut c_void,
    numJitOptions: c_uint,
    libraryOptions: *mut CUlibraryOption,
    libraryOptionValues: *mut *mut c_void,
    numLibraryOptions: c_uint,
) -> CUresult {
    entry::guard(|| unsafe {
        special::cuLibraryLoadData(
            library,
            code,
            jitOptions,
            jitOptionsValues,
            numJitOptions,
            libraryOptions,
            libraryOptionValues,
            numLibraryOptions,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryLoadFromFile(
    library: *mut CUlibrary,
    fileName: *const c_char,
    jitOptions: *mut CUjit_option,
    jitOptionsValues: *mut *mut c_void,
    numJitOptions: c_uint,
    libraryOptions: *mut CUlibraryOption,
    libraryOptionValues: *mut *mut c_void,
    numLibraryOptions: c_uint,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuLibraryLoadFromFile(
            library,
            fileName,
            jitOptions,
            jitOptionsValues,
            numJitOptions,
            libraryOptions,
            libraryOptionValues,
            numLibraryOptions,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryUnload(library: CUlibrary) -> CUresult {
    entry::guard(|| unsafe { special::cuLibraryUnload(library) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryGetKernel(
    pKernel: *mut CUkernel,
    library: CUlibrary,
    name: *const c_char,
) -> CUresult {
    entry::guard(|| unsafe { special::cuLibraryGetKernel(pKernel, library, name) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryGetModule(pMod: *mut CUmodule, library: CUlibrary) -> CUresult {
    unsafe { remote::cuLibraryGetModule(pMod, library) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryGetGlobal(
    dptr: *mut CUdeviceptr,
    bytes: *mut usize,
    library: CUlibrary,
    name: *const c_char,
) -> CUresult {
    entry::guard(|| unsafe { special::cuLibraryGetGlobal(dptr, bytes, library, name) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryGetManaged(
    dptr: *mut CUdeviceptr,
    bytes: *mut usize,
    library: CUlibrary,
    name: *const c_char,
) -> CUresult {
    entry::guard(|| unsafe { special::cuLibraryGetManaged(dptr, bytes, library, name) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryGetUnifiedFunction(
    fptr: *mut *mut c_void,
    library: CUlibrary,
    symbol: *const c_char,
) -> CUresult {
    entry::guard(|| unsafe { local::cuLibraryGetUnifiedFunction(fptr, library, symbol) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryGetKernelCount(count: *mut c_uint, lib: CUlibrary) -> CUresult {
    unsafe { remote::cuLibraryGetKernelCount(count, lib) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryEnumerateKernels(
    kernels: *mut CUkernel,
    numKernels: c_uint,
    lib: CUlibrary,
) -> CUresult {
    unsafe { remote::cuLibraryEnumerateKernels(kernels, numKernels, lib) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuKernelGetFunction(pFunc: *mut CUfunction, kernel: CUkernel) -> CUresult {
    entry::guard(|| unsafe { special::cuKernelGetFunction(pFunc, kernel) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuKernelGetLibrary(pLib: *mut CUlibrary, kernel: CUkernel) -> CUresult {
    unsafe { remote::cuKernelGetLibrary(pLib, kernel) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuKernelGetAttribute(
    pi: *mut c_int,
    attrib: CUfunction_attribute,
    kernel: CUkernel,
    dev: CUdevice,
) -> CUresult {
    entry::guard(|| unsafe { local::cuKernelGetAttribute(pi, attrib, kernel, dev) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuKernelSetAttribute(
    attrib: CUfunction_attribute,
    val: c_int,
    kernel: CUkernel,
    dev: CUdevice,
) -> CUresult {
    entry::guard(|| unsafe { special::cuKernelSetAttribute(attrib, val, kernel, dev) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuKernelSetCacheConfig(
    kernel: CUkernel,
    config: CUfunc_cache,
    dev: CUdevice,
) -> CUresult {
    unsafe { remote::cuKernelSetCacheConfig(kernel, config, dev) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuKernelGetName(name: *mut *const c_char, hfunc: CUkernel) -> CUresult {
    entry::guard(|| unsafe { local::cuKernelGetName(name, hfunc) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuKernelGetParamCount(
    kernel: CUkernel,
    paramCount: *mut usize,
) -> CUresult {
    entry::guard(|| unsafe { local::cuKernelGetParamCount(kernel, paramCount) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuKernelGetParamInfo(
    kernel: CUkernel,
    paramIndex: usize,
    paramOffset: *mut usize,
    paramSize: *mut usize,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuKernelGetParamInfo(kernel, paramIndex, paramOffset, paramSize)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkCreate_v2(
    numOptions: c_uint,
    options: *mut CUjit_option,
    optionValues: *mut *mut c_void,
    stateOut: *mut CUlinkState,
) -> CUresult {
    entry::guard(|| unsafe {
        special::cuLinkCreate_v2(numOptions, options, optionValues, stateOut)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkCreate(
    numOptions: c_uint,
    options: *mut CUjit_option,
    optionValues: *mut *mut c_void,
    stateOut: *mut CUlinkState,
) -> CUresult {
    entry::guard(|| unsafe {
        special::cuLinkCreate_v2(numOptions, options, optionValues, stateOut)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkAddData_v2(
    state: CUlinkState,
    type_: CUjitInputType,
    data: *mut c_void,
    size: usize,
    name: *const c_char,
    numOptions: c_uint,
    options: *mut CUjit_option,
    optionValues: *mut *mut c_void,
) -> CUresult {
    entry::guard(|| unsafe {
        special::cuLinkAddData_v2(
            state,
            type_,
            data,
            size,
            name,
            numOptions,
            options,
            optionValues,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkAddData(
    state: CUlinkState,
    type_: CUjitInputType,
    data: *mut c_void,
    size: usize,
    name: *const c_char,
    numOptions: c_uint,
    options: *mut CUjit_option,
    optionValues: *mut *mut c_void,
) -> CUresult {
    entry::guard(|| unsafe {
        special::cuLinkAddData_v2(
            state,
            type_,
            data,
            size,
            name,
            numOptions,
            options,
            optionValues,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkAddFile_v2(
    state: CUlinkState,
    type_: CUjitInputType,
    path: *const c_char,
    numOptions: c_uint,
    options: *mut CUjit_option,
    optionValues: *mut *mut c_void,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuLinkAddFile_v2(state, type_, path, numOptions, options, optionValues)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkAddFile(
    state: CUlinkState,
    type_: CUjitInputType,
    path: *const c_char,
    numOptions: c_uint,
    options: *mut CUjit_option,
    optionValues: *mut *mut c_void,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuLinkAddFile_v2(state, type_, path, numOptions, options, optionValues)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkComplete(
    state: CUlinkState,
    cubinOut: *mut *mut c_void,
    sizeOut: *mut usize,
) -> CUresult {
    entry::guard(|| unsafe { special::cuLinkComplete(state, cubinOut, sizeOut) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkDestroy(state: CUlinkState) -> CUresult {
    entry::guard(|| unsafe { special::cuLinkDestroy(state) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernel(
    f: CUfunction,
    gridDimX: c_uint,
    gridDimY: c_uint,
    gridDimZ: c_uint,
    blockDimX: c_uint,
    blockDimY: c_uint,
    blockDimZ: c_uint,
    sharedMemBytes: c_uint,
    hStream: CUstream,
    kernelParams: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> CUresult {
    entry::guard(|| unsafe {
        special::cuLaunchKernel(
            f,
            gridDimX,
            gridDimY,
            gridDimZ,
            blockDimX,
            blockDimY,
            blockDimZ,
            sharedMemBytes,
            hStream,
            kernelParams,
            extra,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernel_ptsz(
    f: CUfunction,
    gridDimX: c_uint,
    gridDimY: c_uint,
    gridDimZ: c_uint,
    blockDimX: c_uint,
    blockDimY: c_uint,
    blockDimZ: c_uint,
    sharedMemBytes: c_uint,
    hStream: CUstream,
    kernelParams: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe {
        special::cuLaunchKernel(
            f,
            gridDimX,
            gridDimY,
            gridDimZ,
            blockDimX,
            blockDimY,
            blockDimZ,
            sharedMemBytes,
            hStream,
            kernelParams,
            extra,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernelEx(
    config: *const CUlaunchConfig,
    f: CUfunction,
    kernelParams: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> CUresult {
    entry::guard(|| unsafe { special::cuLaunchKernelEx(config, f, kernelParams, extra) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernelEx_ptsz(
    config: *const CUlaunchConfig,
    f: CUfunction,
    kernelParams: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> CUresult {
    let mut copy = match unsafe { config.as_ref() } {
        Some(config) => *config,
        None => return CUDA_ERROR_INVALID_VALUE,
    };
    copy.hStream = entry::per_thread(copy.hStream);
    let config = &raw const copy;
    entry::guard(|| unsafe { special::cuLaunchKernelEx(config, f, kernelParams, extra) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchCooperativeKernel(
    f: CUfunction,
    gridDimX: c_uint,
    gridDimY: c_uint,
    gridDimZ: c_uint,
    blockDimX: c_uint,
    blockDimY: c_uint,
    blockDimZ: c_uint,
    sharedMemBytes: c_uint,
    hStream: CUstream,
    kernelParams: *mut *mut c_void,
) -> CUresult {
    entry::guard(|| unsafe {
        special::cuLaunchCooperativeKernel(
            f,
            gridDimX,
            gridDimY,
            gridDimZ,
            blockDimX,
            blockDimY,
            blockDimZ,
            sharedMemBytes,
            hStream,
            kernelParams,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchCooperativeKernel_ptsz(
    f: CUfunction,
    gridDimX: c_uint,
    gridDimY: c_uint,
    gridDimZ: c_uint,
    blockDimX: c_uint,
    blockDimY: c_uint,
    blockDimZ: c_uint,
    sharedMemBytes: c_uint,
    hStream: CUstream,
    kernelParams: *mut *mut c_void,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe {
        special::cuLaunchCooperativeKernel(
            f,
            gridDimX,
            gridDimY,
            gridDimZ,
            blockDimX,
            blockDimY,
            blockDimZ,
            sharedMemBytes,
            hStream,
            kernelParams,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
    numBlocks: *mut c_int,
    func: CUfunction,
    blockSize: c_int,
    dynamicSMemSize: usize,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuOccupancyMaxActiveBlocksPerMultiprocessor(
            numBlocks,
            func,
            blockSize,
            dynamicSMemSize,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    numBlocks: *mut c_int,
    func: CUfunction,
    blockSize: c_int,
    dynamicSMemSize: usize,
    flags: c_uint,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            numBlocks,
            func,
            blockSize,
            dynamicSMemSize,
            flags,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuOccupancyAvailableDynamicSMemPerBlock(
    dynamicSmemSize: *mut usize,
    func: CUfunction,
    numBlocks: c_int,
    blockSize: c_int,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize, func, numBlocks, blockSize)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuOccupancyMaxPotentialBlockSize(
    minGridSize: *mut c_int,
    blockSize: *mut c_int,
    func: CUfunction,
    blockSizeToDynamicSMemSize: CUoccupancyB2DSize,
    dynamicSMemSize: usize,
    blockSizeLimit: c_int,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuOccupancyMaxPotentialBlockSize(
            minGridSize,
            blockSize,
            func,
            blockSizeToDynamicSMemSize,
            dynamicSMemSize,
            blockSizeLimit,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuOccupancyMaxPotentialBlockSizeWithFlags(
    minGridSize: *mut c_int,
    blockSize: *mut c_int,
    func: CUfunction,
    blockSizeToDynamicSMemSize: CUoccupancyB2DSize,
    dynamicSMemSize: usize,
    blockSizeLimit: c_int,
    flags: c_uint,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuOccupancyMaxPotentialBlockSizeWithFlags(
            minGridSize,
            blockSize,
            func,
            blockSizeToDynamicSMemSize,
            dynamicSMemSize,
            blockSizeLimit,
            flags,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuOccupancyMaxActiveClusters(
    numClusters: *mut c_int,
    func: CUfunction,
    config: *const CUlaunchConfig,
) -> CUresult {
    entry::guard(|| unsafe { special::cuOccupancyMaxActiveClusters(numClusters, func, config) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuOccupancyMaxPotentialClusterSize(
    clusterSize: *mut c_int,
    func: CUfunction,
    config: *const CUlaunchConfig,
) -> CUresult {
    entry::guard(|| unsafe {
        special::cuOccupancyMaxPotentialClusterSize(clusterSize, func, config)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphCreate(phGraph: *mut CUgraph, flags: c_uint) -> CUresult {
    unsafe { remote::cuGraphCreate(phGraph, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphClone(
    phGraphClone: *mut CUgraph,
    originalGraph: CUgraph,
) -> CUresult {
    entry::guard(|| unsafe { special::cuGraphClone(phGraphClone, originalGraph) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphDestroy(hGraph: CUgraph) -> CUresult {
    entry::guard(|| unsafe { special::cuGraphDestroy(hGraph) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphGetId(hGraph: CUgraph, graphId: *mut c_uint) -> CUresult {
    unsafe { remote::cuGraphGetId(hGraph, graphId) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecGetId(
    hGraphExec: CUgraphExec,
    graphId: *mut c_uint,
) -> CUresult {
    unsafe { remote::cuGraphExecGetId(hGraphExec, graphId) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddEmptyNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
) -> CUresult {
    unsafe { remote::cuGraphAddEmptyNode(phGraphNode, hGraph, dependencies, numDependencies) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphGetNodes(
    hGraph: CUgraph,
    nodes: *mut CUgraphNode,
    numNodes: *mut usize,
) -> CUresult {
    unsafe { remote::cuGraphGetNodes(hGraph, nodes, numNodes) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphGetRootNodes(
    hGraph: CUgraph,
    rootNodes: *mut CUgraphNode,
    numRootNodes: *mut usize,
) -> CUresult {
    unsafe { remote::cuGraphGetRootNodes(hGraph, rootNodes, numRootNodes) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphGetEdges(
    hGraph: CUgraph,
    from: *mut CUgraphNode,
    to: *mut CUgraphNode,
    numEdges: *mut usize,
) -> CUresult {
    unsafe { remote::cuGraphGetEdges(hGraph, from, to, numEdges) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphGetEdges_v2(
    hGraph: CUgraph,
    from: *mut CUgraphNode,
    to: *mut CUgraphNode,
    edgeData: *mut CUgraphEdgeData,
    numEdges: *mut usize,
) -> CUresult {
    unsafe { remote::cuGraphGetEdges_v2(hGraph, from, to, edgeData, numEdges) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddDependencies(
    hGraph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    numDependencies: usize,
) -> CUresult {
    unsafe { remote::cuGraphAddDependencies(hGraph, from, to, numDependencies) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddDependencies_v2(
    hGraph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    edgeData: *const CUgraphEdgeData,
    numDependencies: usize,
) -> CUresult {
    unsafe { remote::cuGraphAddDependencies_v2(hGraph, from, to, edgeData, numDependencies) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphRemoveDependencies(
    hGraph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    numDependencies: usize,
) -> CUresult {
    unsafe { remote::cuGraphRemoveDependencies(hGraph, from, to, numDependencies) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphRemoveDependencies_v2(
    hGraph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    edgeData: *const CUgraphEdgeData,
    numDependencies: usize,
) -> CUresult {
    unsafe { remote::cuGraphRemoveDependencies_v2(hGraph, from, to, edgeData, numDependencies) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeGetDependencies(
    hNode: CUgraphNode,
    dependencies: *mut CUgraphNode,
    numDependencies: *mut usize,
) -> CUresult {
    unsafe { remote::cuGraphNodeGetDependencies(hNode, dependencies, numDependencies) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeGetDependencies_v2(
    hNode: CUgraphNode,
    dependencies: *mut CUgraphNode,
    edgeData: *mut CUgraphEdgeData,
    numDependencies: *mut usize,
) -> CUresult {
    unsafe { remote::cuGraphNodeGetDependencies_v2(hNode, dependencies, edgeData, numDependencies) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeGetDependentNodes(
    hNode: CUgraphNode,
    dependentNodes: *mut CUgraphNode,
    numDependentNodes: *mut usize,
) -> CUresult {
    unsafe { remote::cuGraphNodeGetDependentNodes(hNode, dependentNodes, numDependentNodes) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeGetDependentNodes_v2(
    hNode: CUgraphNode,
    dependentNodes: *mut CUgraphNode,
    edgeData: *mut CUgraphEdgeData,
    numDependentNodes: *mut usize,
) -> CUresult {
    unsafe {
        remote::cuGraphNodeGetDependentNodes_v2(hNode, dependentNodes, edgeData, numDependentNodes)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeFindInClone(
    phNode: *mut CUgraphNode,
    hOriginalNode: CUgraphNode,
    hClonedGraph: CUgraph,
) -> CUresult {
    unsafe { remote::cuGraphNodeFindInClone(phNode, hOriginalNode, hClonedGraph) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeGetContainingGraph(
    hNode: CUgraphNode,
    phGraph: *mut CUgraph,
) -> CUresult {
    unsafe { remote::cuGraphNodeGetContainingGraph(hNode, phGraph) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeGetLocalId(
    hNode: CUgraphNode,
    nodeId: *mut c_uint,
) -> CUresult {
    unsafe { remote::cuGraphNodeGetLocalId(hNode, nodeId) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeGetToolsId(
    hNode: CUgraphNode,
    toolsNodeId: *mut c_ulonglong,
) -> CUresult {
    unsafe { remote::cuGraphNodeGetToolsId(hNode, toolsNodeId) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeGetType(
    hNode: CUgraphNode,
    type_: *mut CUgraphNodeType,
) -> CUresult {
    unsafe { remote::cuGraphNodeGetType(hNode, type_) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphDestroyNode(hNode: CUgraphNode) -> CUresult {
    entry::guard(|| unsafe { special::cuGraphDestroyNode(hNode) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphChildGraphNodeGetGraph(
    hNode: CUgraphNode,
    phGraph: *mut CUgraph,
) -> CUresult {
    unsafe { remote::cuGraphChildGraphNodeGetGraph(hNode, phGraph) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphEventRecordNodeGetEvent(
    hNode: CUgraphNode,
    event_out: *mut CUevent,
) -> CUresult {
    unsafe { remote::cuGraphEventRecordNodeGetEvent(hNode, event_out) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphEventWaitNodeGetEvent(
    hNode: CUgraphNode,
    event_out: *mut CUevent,
) -> CUresult {
    unsafe { remote::cuGraphEventWaitNodeGetEvent(hNode, event_out) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphMemFreeNodeGetParams(
    hNode: CUgraphNode,
    dptr_out: *mut CUdeviceptr,
) -> CUresult {
    unsafe { remote::cuGraphMemFreeNodeGetParams(hNode, dptr_out) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphMemsetNodeGetParams(
    hNode: CUgraphNode,
    nodeParams: *mut CUDA_MEMSET_NODE_PARAMS,
) -> CUresult {
    unsafe { remote::cuGraphMemsetNodeGetParams(hNode, nodeParams) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphConditionalHandleCreate(
    pHandle_out: *mut CUgraphConditionalHandle,
    hGraph: CUgraph,
    ctx: CUcontext,
    defaultLaunchValue: c_uint,
    flags: c_uint,
) -> CUresult {
    unsafe {
        remote::cuGraphConditionalHandleCreate(pHandle_out, hGraph, ctx, defaultLaunchValue, flags)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphKernelNodeGetAttribute(
    hNode: CUgraphNode,
    attr: CUkernelNodeAttrID,
    value_out: *mut CUkernelNodeAttrValue,
) -> CUresult {
    unsafe { remote::cuGraphKernelNodeGetAttribute(hNode, attr, value_out) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphKernelNodeSetAttribute(
    hNode: CUgraphNode,
    attr: CUkernelNodeAttrID,
    value: *const CUkernelNodeAttrValue,
) -> CUresult {
    unsafe { remote::cuGraphKernelNodeSetAttribute(hNode, attr, value) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphKernelNodeCopyAttributes(
    dst: CUgraphNode,
    src: CUgraphNode,
) -> CUresult {
    unsafe { remote::cuGraphKernelNodeCopyAttributes(dst, src) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddKernelNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
    nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuGraphAddKernelNode(
            phGraphNode,
            hGraph,
            dependencies,
            numDependencies,
            nodeParams,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddKernelNode_v2(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
    nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuGraphAddKernelNode_v2(
            phGraphNode,
            hGraph,
            dependencies,
            numDependencies,
            nodeParams,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddMemcpyNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
    copyParams: *const CUDA_MEMCPY3D,
    ctx: CUcontext,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuGraphAddMemcpyNode(
            phGraphNode,
            hGraph,
            dependencies,
            numDependencies,
            copyParams,
            ctx,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddMemsetNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
    memsetParams: *const CUDA_MEMSET_NODE_PARAMS,
    ctx: CUcontext,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuGraphAddMemsetNode(
            phGraphNode,
            hGraph,
            dependencies,
            numDependencies,
            memsetParams,
            ctx,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddHostNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
    nodeParams: *const CUDA_HOST_NODE_PARAMS,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuGraphAddHostNode(
            phGraphNode,
            hGraph,
            dependencies,
            numDependencies,
            nodeParams,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddChildGraphNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
    childGraph: CUgraph,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuGraphAddChildGraphNode(
            phGraphNode,
            hGraph,
            dependencies,
            numDependencies,
            childGraph,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddEventRecordNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
    event: CUevent,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuGraphAddEventRecordNode(phGraphNode, hGraph, dependencies, numDependencies, event)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddEventWaitNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
    event: CUevent,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuGraphAddEventWaitNode(phGraphNode, hGraph, dependencies, numDependencies, event)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddMemAllocNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
    nodeParams: *mut CUDA_MEM_ALLOC_NODE_PARAMS,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuGraphAddMemAllocNode(
            phGraphNode,
            hGraph,
            dependencies,
            numDependencies,
            nodeParams,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddMemFreeNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
    dptr: CUdeviceptr,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuGraphAddMemFreeNode(phGraphNode, hGraph, dependencies, numDependencies, dptr)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
    nodeParams: *mut CUgraphNodeParams,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuGraphAddNode(
            phGraphNode,
            hGraph,
            dependencies,
            numDependencies,
            nodeParams,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddNode_v2(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    dependencyData: *const CUgraphEdgeData,
    numDependencies: usize,
    nodeParams: *mut CUgraphNodeParams,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuGraphAddNode_v2(
            phGraphNode,
            hGraph,
            dependencies,
            dependencyData,
            numDependencies,
            nodeParams,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeSetParams(
    hNode: CUgraphNode,
    nodeParams: *mut CUgraphNodeParams,
) -> CUresult {
    entry::guard(|| unsafe { local::cuGraphNodeSetParams(hNode, nodeParams) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecNodeSetParams(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    nodeParams: *mut CUgraphNodeParams,
) -> CUresult {
    entry::guard(|| unsafe { local::cuGraphExecNodeSetParams(hGraphExec, hNode, nodeParams) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphKernelNodeSetParams(
    hNode: CUgraphNode,
    nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
) -> CUresult {
    entry::guard(|| unsafe { local::cuGraphKernelNodeSetParams(hNode, nodeParams) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphKernelNodeSetParams_v2(
    hNode: CUgraphNode,
    nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
) -> CUresult {
    entry::guard(|| unsafe { local::cuGraphKernelNodeSetParams_v2(hNode, nodeParams) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphMemcpyNodeSetParams(
    hNode: CUgraphNode,
    nodeParams: *const CUDA_MEMCPY3D,
) -> CUresult {
    entry::guard(|| unsafe { local::cuGraphMemcpyNodeSetParams(hNode, nodeParams) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphMemsetNodeSetParams(
    hNode: CUgraphNode,
    nodeParams: *const CUDA_MEMSET_NODE_PARAMS,
) -> CUresult {
    entry::guard(|| unsafe { local::cuGraphMemsetNodeSetParams(hNode, nodeParams) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphHostNodeSetParams(
    hNode: CUgraphNode,
    nodeParams: *const CUDA_HOST_NODE_PARAMS,
) -> CUresult {
    entry::guard(|| unsafe { local::cuGraphHostNodeSetParams(hNode, nodeParams) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphEventRecordNodeSetEvent(
    hNode: CUgraphNode,
    event: CUevent,
) -> CUresult {
    entry::guard(|| unsafe { local::cuGraphEventRecordNodeSetEvent(hNode, event) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphEventWaitNodeSetEvent(
    hNode: CUgraphNode,
    event: CUevent,
) -> CUresult {
    entry::guard(|| unsafe { local::cuGraphEventWaitNodeSetEvent(hNode, event) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecKernelNodeSetParams(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
) -> CUresult {
    entry::guard(|| unsafe { local::cuGraphExecKernelNodeSetParams(hGraphExec, hNode, nodeParams) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecKernelNodeSetParams_v2(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuGraphExecKernelNodeSetParams_v2(hGraphExec, hNode, nodeParams)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecMemcpyNodeSetParams(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    copyParams: *const CUDA_MEMCPY3D,
    ctx: CUcontext,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuGraphExecMemcpyNodeSetParams(hGraphExec, hNode, copyParams, ctx)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecMemsetNodeSetParams(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    memsetParams: *const CUDA_MEMSET_NODE_PARAMS,
    ctx: CUcontext,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuGraphExecMemsetNodeSetParams(hGraphExec, hNode, memsetParams, ctx)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecHostNodeSetParams(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    nodeParams: *const CUDA_HOST_NODE_PARAMS,
) -> CUresult {
    entry::guard(|| unsafe { local::cuGraphExecHostNodeSetParams(hGraphExec, hNode, nodeParams) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecChildGraphNodeSetParams(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    childGraph: CUgraph,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuGraphExecChildGraphNodeSetParams(hGraphExec, hNode, childGraph)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecEventRecordNodeSetEvent(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    event: CUevent,
) -> CUresult {
    entry::guard(|| unsafe { local::cuGraphExecEventRecordNodeSetEvent(hGraphExec, hNode, event) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecEventWaitNodeSetEvent(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    event: CUevent,
) -> CUresult {
    entry::guard(|| unsafe { local::cuGraphExecEventWaitNodeSetEvent(hGraphExec, hNode, event) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeGetParams(
    hNode: CUgraphNode,
    nodeParams: *mut CUgraphNodeParams,
) -> CUresult {
    entry::guard(|| unsafe { local::cuGraphNodeGetParams(hNode, nodeParams) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphKernelNodeGetParams(
    hNode: CUgraphNode,
    nodeParams: *mut CUDA_KERNEL_NODE_PARAMS,
) -> CUresult {
    entry::guard(|| unsafe { local::cuGraphKernelNodeGetParams(hNode, nodeParams) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphKernelNodeGetParams_v2(
    hNode: CUgraphNode,
    nodeParams: *mut CUDA_KERNEL_NODE_PARAMS,
) -> CUresult {
    entry::guard(|| unsafe { local::cuGraphKernelNodeGetParams_v2(hNode, nodeParams) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphMemcpyNodeGetParams(
    hNode: CUgraphNode,
    nodeParams: *mut CUDA_MEMCPY3D,
) -> CUresult {
    entry::guard(|| unsafe { local::cuGraphMemcpyNodeGetParams(hNode, nodeParams) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphHostNodeGetParams(
    hNode: CUgraphNode,
    nodeParams: *mut CUDA_HOST_NODE_PARAMS,
) -> CUresult {
    entry::guard(|| unsafe { local::cuGraphHostNodeGetParams(hNode, nodeParams) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphMemAllocNodeGetParams(
    hNode: CUgraphNode,
    params_out: *mut CUDA_MEM_ALLOC_NODE_PARAMS,
) -> CUresult {
    entry::guard(|| unsafe { local::cuGraphMemAllocNodeGetParams(hNode, params_out) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphInstantiate_v2(
    phGraphExec: *mut CUgraphExec,
    hGraph: CUgraph,
    phErrorNode: *mut CUgraphNode,
    logBuffer: *mut c_char,
    bufferSize: usize,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuGraphInstantiate_v2(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphInstantiateWithFlags(
    phGraphExec: *mut CUgraphExec,
    hGraph: CUgraph,
    flags: c_ulonglong,
) -> CUresult {
    entry::guard(|| unsafe { local::cuGraphInstantiateWithFlags(phGraphExec, hGraph, flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphInstantiateWithParams(
    phGraphExec: *mut CUgraphExec,
    hGraph: CUgraph,
    instantiateParams: *mut CUDA_GRAPH_INSTANTIATE_PARAMS,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuGraphInstantiateWithParams(phGraphExec, hGraph, instantiateParams)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecUpdate(
    hGraphExec: CUgraphExec,
    hGraph: CUgraph,
    hErrorNode_out: *mut CUgraphNode,
    updateResult_out: *mut CUgraphExecUpdateResult,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuGraphExecUpdate(hGraphExec, hGraph, hErrorNode_out, updateResult_out)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecUpdate_v2(
    hGraphExec: CUgraphExec,
    hGraph: CUgraph,
    resultInfo: *mut CUgraphExecUpdateResultInfo,
) -> CUresult {
    entry::guard(|| unsafe { local::cuGraphExecUpdate_v2(hGraphExec, hGraph, resultInfo) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphDebugDotPrint(
    hGraph: CUgraph,
    path: *const c_char,
    flags: c_uint,
) -> CUresult {
    entry::guard(|| unsafe { local::cuGraphDebugDotPrint(hGraph, path, flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecGetFlags(
    hGraphExec: CUgraphExec,
    flags: *mut cuuint64_t,
) -> CUresult {
    unsafe { remote::cuGraphExecGetFlags(hGraphExec, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeGetEnabled(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    isEnabled: *mut c_uint,
) -> CUresult {
    unsafe { remote::cuGraphNodeGetEnabled(hGraphExec, hNode, isEnabled) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeSetEnabled(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    isEnabled: c_uint,
) -> CUresult {
    unsafe { remote::cuGraphNodeSetEnabled(hGraphExec, hNode, isEnabled) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphUpload(hGraphExec: CUgraphExec, hStream: CUstream) -> CUresult {
    unsafe { remote::cuGraphUpload(hGraphExec, hStream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphUpload_ptsz(
    hGraphExec: CUgraphExec,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    unsafe { remote::cuGraphUpload(hGraphExec, hStream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphLaunch(hGraphExec: CUgraphExec, hStream: CUstream) -> CUresult {
    entry::guard(|| unsafe { special::cuGraphLaunch(hGraphExec, hStream) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphLaunch_ptsz(
    hGraphExec: CUgraphExec,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe { special::cuGraphLaunch(hGraphExec, hStream) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecDestroy(hGraphExec: CUgraphExec) -> CUresult {
    entry::guard(|| unsafe { special::cuGraphExecDestroy(hGraphExec) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuUserObjectCreate(
    object_out: *mut CUuserObject,
    ptr: *mut c_void,
    destroy: CUhostFn,
    initialRefcount: c_uint,
    flags: c_uint,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuUserObjectCreate(object_out, ptr, destroy, initialRefcount, flags)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuUserObjectRetain(object: CUuserObject, count: c_uint) -> CUresult {
    entry::guard(|| unsafe { local::cuUserObjectRetain(object, count) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuUserObjectRelease(object: CUuserObject, count: c_uint) -> CUresult {
    entry::guard(|| unsafe { local::cuUserObjectRelease(object, count) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphRetainUserObject(
    graph: CUgraph,
    object: CUuserObject,
    count: c_uint,
    flags: c_uint,
) -> CUresult {
    entry::guard(|| unsafe { local::cuGraphRetainUserObject(graph, object, count, flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphReleaseUserObject(
    graph: CUgraph,
    object: CUuserObject,
    count: c_uint,
) -> CUresult {
    entry::guard(|| unsafe { local::cuGraphReleaseUserObject(graph, object, count) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTensorMapEncodeTiled(
    tensorMap: *mut CUtensorMap,
    tensorDataType: CUtensorMapDataType,
    tensorRank: cuuint32_t,
    globalAddress: *mut c_void,
    globalDim: *const cuuint64_t,
    globalStrides: *const cuuint64_t,
    boxDim: *const cuuint32_t,
    elementStrides: *const cuuint32_t,
    interleave: CUtensorMapInterleave,
    swizzle: CUtensorMapSwizzle,
    l2Promotion: CUtensorMapL2promotion,
    oobFill: CUtensorMapFloatOOBfill,
) -> CUresult {
    unsafe {
        remote::cuTensorMapEncodeTiled(
            tensorMap,
            tensorDataType,
            tensorRank,
            globalAddress,
            globalDim,
            globalStrides,
            boxDim,
            elementStrides,
            interleave,
            swizzle,
            l2Promotion,
            oobFill,
        )
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTensorMapEncodeIm2col(
    tensorMap: *mut CUtensorMap,
    tensorDataType: CUtensorMapDataType,
    tensorRank: cuuint32_t,
    globalAddress: *mut c_void,
    globalDim: *const cuuint64_t,
    globalStrides: *const cuuint64_t,
    pixelBoxLowerCorner: *const c_int,
    pixelBoxUpperCorner: *const c_int,
    channelsPerPixel: cuuint32_t,
    pixelsPerColumn: cuuint32_t,
    elementStrides: *const cuuint32_t,
    interleave: CUtensorMapInterleave,
    swizzle: CUtensorMapSwizzle,
    l2Promotion: CUtensorMapL2promotion,
    oobFill: CUtensorMapFloatOOBfill,
) -> CUresult {
    unsafe {
        remote::cuTensorMapEncodeIm2col(
            tensorMap,
            tensorDataType,
            tensorRank,
            globalAddress,
            globalDim,
            globalStrides,
            pixelBoxLowerCorner,
            pixelBoxUpperCorner,
            channelsPerPixel,
            pixelsPerColumn,
            elementStrides,
            interleave,
            swizzle,
            l2Promotion,
            oobFill,
        )
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTensorMapReplaceAddress(
    tensorMap: *mut CUtensorMap,
    globalAddress: *mut c_void,
) -> CUresult {
    unsafe { remote::cuTensorMapReplaceAddress(tensorMap, globalAddress) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuArrayCreate_v2(
    pHandle: *mut CUarray,
    pAllocateArray: *const CUDA_ARRAY_DESCRIPTOR,
) -> CUresult {
    unsafe { remote::cuArrayCreate_v2(pHandle, pAllocateArray) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuArrayGetDescriptor_v2(
    pArrayDescriptor: *mut CUDA_ARRAY_DESCRIPTOR,
    hArray: CUarray,
) -> CUresult {
    unsafe { remote::cuArrayGetDescriptor_v2(pArrayDescriptor, hArray) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuArray3DCreate_v2(
    pHandle: *mut CUarray,
    pAllocateArray: *const CUDA_ARRAY3D_DESCRIPTOR,
) -> CUresult {
    unsafe { remote::cuArray3DCreate_v2(pHandle, pAllocateArray) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuArray3DGetDescriptor_v2(
    pArrayDescriptor: *mut CUDA_ARRAY3D_DESCRIPTOR,
    hArray: CUarray,
) -> CUresult {
    unsafe { remote::cuArray3DGetDescriptor_v2(pArrayDescriptor, hArray) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuArrayDestroy(hArray: CUarray) -> CUresult {
    unsafe { remote::cuArrayDestroy(hArray) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuArrayGetMemoryRequirements(
    memoryRequirements: *mut CUDA_ARRAY_MEMORY_REQUIREMENTS,
    array: CUarray,
    device: CUdevice,
) -> CUresult {
    unsafe { remote::cuArrayGetMemoryRequirements(memoryRequirements, array, device) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuArrayGetPlane(
    pPlaneArray: *mut CUarray,
    hArray: CUarray,
    planeIdx: c_uint,
) -> CUresult {
    unsafe { remote::cuArrayGetPlane(pPlaneArray, hArray, planeIdx) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMipmappedArrayCreate(
    pHandle: *mut CUmipmappedArray,
    pMipmappedArrayDesc: *const CUDA_ARRAY3D_DESCRIPTOR,
    numMipmapLevels: c_uint,
) -> CUresult {
    unsafe { remote::cuMipmappedArrayCreate(pHandle, pMipmappedArrayDesc, numMipmapLevels) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMipmappedArrayGetLevel(
    pLevelArray: *mut CUarray,
    hMipmappedArray: CUmipmappedArray,
    level: c_uint,
) -> CUresult {
    unsafe { remote::cuMipmappedArrayGetLevel(pLevelArray, hMipmappedArray, level) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuArrayGetSparseProperties(
    sparseProperties: *mut CUDA_ARRAY_SPARSE_PROPERTIES,
    array: CUarray,
) -> CUresult {
    unsafe { remote::cuArrayGetSparseProperties(sparseProperties, array) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMipmappedArrayGetSparseProperties(
    sparseProperties: *mut CUDA_ARRAY_SPARSE_PROPERTIES,
    mipmap: CUmipmappedArray,
) -> CUresult {
    unsafe { remote::cuMipmappedArrayGetSparseProperties(sparseProperties, mipmap) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMipmappedArrayGetMemoryRequirements(
    memoryRequirements: *mut CUDA_ARRAY_MEMORY_REQUIREMENTS,
    mipmap: CUmipmappedArray,
    device: CUdevice,
) -> CUresult {
    unsafe { remote::cuMipmappedArrayGetMemoryRequirements(memoryRequirements, mipmap, device) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMipmappedArrayDestroy(hMipmappedArray: CUmipmappedArray) -> CUresult {
    unsafe { remote::cuMipmappedArrayDestroy(hMipmappedArray) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoA_v2(
    dstArray: CUarray,
    dstOffset: usize,
    srcHost: *const c_void,
    ByteCount: usize,
) -> CUresult {
    entry::guard(|| unsafe { local::cuMemcpyHtoA_v2(dstArray, dstOffset, srcHost, ByteCount) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoA_v2_ptds(
    dstArray: CUarray,
    dstOffset: usize,
    srcHost: *const c_void,
    ByteCount: usize,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuMemcpyHtoAAsync_v2(
            dstArray,
            dstOffset,
            srcHost,
            ByteCount,
            entry::per_thread(core::ptr::null_mut()),
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoAAsync_v2(
    dstArray: CUarray,
    dstOffset: usize,
    srcHost: *const c_void,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuMemcpyHtoAAsync_v2(dstArray, dstOffset, srcHost, ByteCount, hStream)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoAAsync_v2_ptsz(
    dstArray: CUarray,
    dstOffset: usize,
    srcHost: *const c_void,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe {
        local::cuMemcpyHtoAAsync_v2(dstArray, dstOffset, srcHost, ByteCount, hStream)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyAtoH_v2(
    dstHost: *mut c_void,
    srcArray: CUarray,
    srcOffset: usize,
    ByteCount: usize,
) -> CUresult {
    entry::guard(|| unsafe { local::cuMemcpyAtoH_v2(dstHost, srcArray, srcOffset, ByteCount) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyAtoH_v2_ptds(
    dstHost: *mut c_void,
    srcArray: CUarray,
    srcOffset: usize,
    ByteCount: usize,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuMemcpyAtoHAsync_v2(
            dstHost,
            srcArray,
            srcOffset,
            ByteCount,
            entry::per_thread(core::ptr::null_mut()),
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyAtoHAsync_v2(
    dstHost: *mut c_void,
    srcArray: CUarray,
    srcOffset: usize,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuMemcpyAtoHAsync_v2(dstHost, srcArray, srcOffset, ByteCount, hStream)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyAtoHAsync_v2_ptsz(
    dstHost: *mut c_void,
    srcArray: CUarray,
    srcOffset: usize,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    let hStream = entry::per_thread(hStream);
    entry::guard(|| unsafe {
        local::cuMemcpyAtoHAsync_v2(dstHost, srcArray, srcOffset, ByteCount, hStream)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoA_v2(
    dstArray: CUarray,
    dstOffset: usize,
    srcDevice: CUdeviceptr,
    ByteCount: usize,
) -> CUresult {
    entry::guard(|| unsafe { local::cuMemcpyDtoA_v2(dstArray, dstOffset, srcDevice, ByteCount) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoA_v2_ptds(
    dstArray: CUarray,
    dstOffset: usize,
    srcDevice: CUdeviceptr,
    ByteCount: usize,
) -> CUresult {
    entry::guard(|| unsafe { local::cuMemcpyDtoA_v2(dstArray, dstOffset, srcDevice, ByteCount) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyAtoD_v2(
    dstDevice: CUdeviceptr,
    srcArray: CUarray,
    srcOffset: usize,
    ByteCount: usize,
) -> CUresult {
    entry::guard(|| unsafe { local::cuMemcpyAtoD_v2(dstDevice, srcArray, srcOffset, ByteCount) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyAtoD_v2_ptds(
    dstDevice: CUdeviceptr,
    srcArray: CUarray,
    srcOffset: usize,
    ByteCount: usize,
) -> CUresult {
    entry::guard(|| unsafe { local::cuMemcpyAtoD_v2(dstDevice, srcArray, srcOffset, ByteCount) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyAtoA_v2(
    dstArray: CUarray,
    dstOffset: usize,
    srcArray: CUarray,
    srcOffset: usize,
    ByteCount: usize,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuMemcpyAtoA_v2(dstArray, dstOffset, srcArray, srcOffset, ByteCount)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyAtoA_v2_ptds(
    dstArray: CUarray,
    dstOffset: usize,
    srcArray: CUarray,
    srcOffset: usize,
    ByteCount: usize,
) -> CUresult {
    entry::guard(|| unsafe {
        local::cuMemcpyAtoA_v2(dstArray, dstOffset, srcArray, srcOffset, ByteCount)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexObjectCreate(
    pTexObject: *mut CUtexObject,
    pResDesc: *const CUDA_RESOURCE_DESC,
    pTexDesc: *const CUDA_TEXTURE_DESC,
    pResViewDesc: *const CUDA_RESOURCE_VIEW_DESC,
) -> CUresult {
    entry::guard(|| unsafe {
        special::cuTexObjectCreate(pTexObject, pResDesc, pTexDesc, pResViewDesc)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexObjectDestroy(texObject: CUtexObject) -> CUresult {
    entry::guard(|| unsafe { special::cuTexObjectDestroy(texObject) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexObjectGetResourceDesc(
    pResDesc: *mut CUDA_RESOURCE_DESC,
    texObject: CUtexObject,
) -> CUresult {
    entry::guard(|| unsafe { local::cuTexObjectGetResourceDesc(pResDesc, texObject) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexObjectGetTextureDesc(
    pTexDesc: *mut CUDA_TEXTURE_DESC,
    texObject: CUtexObject,
) -> CUresult {
    entry::guard(|| unsafe { local::cuTexObjectGetTextureDesc(pTexDesc, texObject) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexObjectGetResourceViewDesc(
    pResViewDesc: *mut CUDA_RESOURCE_VIEW_DESC,
    texObject: CUtexObject,
) -> CUresult {
    entry::guard(|| unsafe { local::cuTexObjectGetResourceViewDesc(pResViewDesc, texObject) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuSurfObjectCreate(
    pSurfObject: *mut CUsurfObject,
    pResDesc: *const CUDA_RESOURCE_DESC,
) -> CUresult {
    entry::guard(|| unsafe { special::cuSurfObjectCreate(pSurfObject, pResDesc) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuSurfObjectDestroy(surfObject: CUsurfObject) -> CUresult {
    entry::guard(|| unsafe { special::cuSurfObjectDestroy(surfObject) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuSurfObjectGetResourceDesc(
    pResDesc: *mut CUDA_RESOURCE_DESC,
    surfObject: CUsurfObject,
) -> CUresult {
    entry::guard(|| unsafe { local::cuSurfObjectGetResourceDesc(pResDesc, surfObject) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetTexRef(
    pTexRef: *mut CUtexref,
    hmod: CUmodule,
    name: *const c_char,
) -> CUresult {
    unsafe { remote::cuModuleGetTexRef(pTexRef, hmod, name) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetSurfRef(
    pSurfRef: *mut CUsurfref,
    hmod: CUmodule,
    name: *const c_char,
) -> CUresult {
    unsafe { remote::cuModuleGetSurfRef(pSurfRef, hmod, name) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefCreate(pTexRef: *mut CUtexref) -> CUresult {
    unsafe { remote::cuTexRefCreate(pTexRef) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefDestroy(hTexRef: CUtexref) -> CUresult {
    unsafe { remote::cuTexRefDestroy(hTexRef) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefSetArray(
    hTexRef: CUtexref,
    hArray: CUarray,
    Flags: c_uint,
) -> CUresult {
    unsafe { remote::cuTexRefSetArray(hTexRef, hArray, Flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefSetMipmappedArray(
    hTexRef: CUtexref,
    hMipmappedArray: CUmipmappedArray,
    Flags: c_uint,
) -> CUresult {
    unsafe { remote::cuTexRefSetMipmappedArray(hTexRef, hMipmappedArray, Flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefSetAddress_v2(
    ByteOffset: *mut usize,
    hTexRef: CUtexref,
    dptr: CUdeviceptr,
    bytes: usize,
) -> CUresult {
    unsafe { remote::cuTexRefSetAddress_v2(ByteOffset, hTexRef, dptr, bytes) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefSetAddress2D_v3(
    hTexRef: CUtexref,
    desc: *const CUDA_ARRAY_DESCRIPTOR,
    dptr: CUdeviceptr,
    Pitch: usize,
) -> CUresult {
    unsafe { remote::cuTexRefSetAddress2D_v3(hTexRef, desc, dptr, Pitch) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefSetFormat(
    hTexRef: CUtexref,
    fmt: CUarray_format,
    NumPackedComponents: c_int,
) -> CUresult {
    unsafe { remote::cuTexRefSetFormat(hTexRef, fmt, NumPackedComponents) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefSetAddressMode(
    hTexRef: CUtexref,
    dim: c_int,
    am: CUaddress_mode,
) -> CUresult {
    unsafe { remote::cuTexRefSetAddressMode(hTexRef, dim, am) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefSetFilterMode(hTexRef: CUtexref, fm: CUfilter_mode) -> CUresult {
    unsafe { remote::cuTexRefSetFilterMode(hTexRef, fm) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefSetMipmapFilterMode(
    hTexRef: CUtexref,
    fm: CUfilter_mode,
) -> CUresult {
    unsafe { remote::cuTexRefSetMipmapFilterMode(hTexRef, fm) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefSetMipmapLevelBias(hTexRef: CUtexref, bias: f32) -> CUresult {
    unsafe { remote::cuTexRefSetMipmapLevelBias(hTexRef, bias) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefSetMipmapLevelClamp(
    hTexRef: CUtexref,
    minMipmapLevelClamp: f32,
    maxMipmapLevelClamp: f32,
) -> CUresult {
    unsafe {
        remote::cuTexRefSetMipmapLevelClamp(hTexRef, minMipmapLevelClamp, maxMipmapLevelClamp)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefSetMaxAnisotropy(hTexRef: CUtexref, maxAniso: c_uint) -> CUresult {
    unsafe { remote::cuTexRefSetMaxAnisotropy(hTexRef, maxAniso) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefSetBorderColor(
    hTexRef: CUtexref,
    pBorderColor: *mut f32,
) -> CUresult {
    unsafe { remote::cuTexRefSetBorderColor(hTexRef, pBorderColor) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefSetFlags(hTexRef: CUtexref, Flags: c_uint) -> CUresult {
    unsafe { remote::cuTexRefSetFlags(hTexRef, Flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefGetAddress_v2(
    pdptr: *mut CUdeviceptr,
    hTexRef: CUtexref,
) -> CUresult {
    unsafe { remote::cuTexRefGetAddress_v2(pdptr, hTexRef) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefGetArray(phArray: *mut CUarray, hTexRef: CUtexref) -> CUresult {
    unsafe { remote::cuTexRefGetArray(phArray, hTexRef) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefGetMipmappedArray(
    phMipmappedArray: *mut CUmipmappedArray,
    hTexRef: CUtexref,
) -> CUresult {
    unsafe { remote::cuTexRefGetMipmappedArray(phMipmappedArray, hTexRef) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefGetAddressMode(
    pam: *mut CUaddress_mode,
    hTexRef: CUtexref,
    dim: c_int,
) -> CUresult {
    unsafe { remote::cuTexRefGetAddressMode(pam, hTexRef, dim) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefGetFilterMode(
    pfm: *mut CUfilter_mode,
    hTexRef: CUtexref,
) -> CUresult {
    unsafe { remote::cuTexRefGetFilterMode(pfm, hTexRef) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefGetFormat(
    pFormat: *mut CUarray_format,
    pNumChannels: *mut c_int,
    hTexRef: CUtexref,
) -> CUresult {
    unsafe { remote::cuTexRefGetFormat(pFormat, pNumChannels, hTexRef) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefGetMipmapFilterMode(
    pfm: *mut CUfilter_mode,
    hTexRef: CUtexref,
) -> CUresult {
    unsafe { remote::cuTexRefGetMipmapFilterMode(pfm, hTexRef) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefGetMipmapLevelBias(
    pbias: *mut f32,
    hTexRef: CUtexref,
) -> CUresult {
    unsafe { remote::cuTexRefGetMipmapLevelBias(pbias, hTexRef) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefGetMipmapLevelClamp(
    pminMipmapLevelClamp: *mut f32,
    pmaxMipmapLevelClamp: *mut f32,
    hTexRef: CUtexref,
) -> CUresult {
    unsafe {
        remote::cuTexRefGetMipmapLevelClamp(pminMipmapLevelClamp, pmaxMipmapLevelClamp, hTexRef)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefGetMaxAnisotropy(
    pmaxAniso: *mut c_int,
    hTexRef: CUtexref,
) -> CUresult {
    unsafe { remote::cuTexRefGetMaxAnisotropy(pmaxAniso, hTexRef) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefGetBorderColor(
    pBorderColor: *mut f32,
    hTexRef: CUtexref,
) -> CUresult {
    unsafe { remote::cuTexRefGetBorderColor(pBorderColor, hTexRef) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefGetFlags(pFlags: *mut c_uint, hTexRef: CUtexref) -> CUresult {
    unsafe { remote::cuTexRefGetFlags(pFlags, hTexRef) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuSurfRefSetArray(
    hSurfRef: CUsurfref,
    hArray: CUarray,
    Flags: c_uint,
) -> CUresult {
    unsafe { remote::cuSurfRefSetArray(hSurfRef, hArray, Flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuSurfRefGetArray(phArray: *mut CUarray, hSurfRef: CUsurfref) -> CUresult {
    unsafe { remote::cuSurfRefGetArray(phArray, hSurfRef) }
}

/// A symbol and its address.
pub(crate) struct Symbol(pub(crate) &'static str, pub(crate) *const c_void);

// SAFETY: the addresses of functions.
unsafe impl Sync for Symbol {}

/// All symbols, sorted by name.
pub(crate) static SYMBOLS: &[Symbol] = &[
    Symbol("cuArray3DCreate_v2", cuArray3DCreate_v2 as *const c_void),
    Symbol(
        "cuArray3DGetDescriptor_v2",
        cuArray3DGetDescriptor_v2 as *const c_void,
    ),
    Symbol("cuArrayCreate_v2", cuArrayCreate_v2 as *const c_void),
    Symbol("cuArrayDestroy", cuArrayDestroy as *const c_void),
    Symbol(
        "cuArrayGetDescriptor_v2",
        cuArrayGetDescriptor_v2 as *const c_void,
    ),
    Symbol(
        "cuArrayGetMemoryRequirements",
        cuArrayGetMemoryRequirements as *const c_void,
    ),
    Symbol("cuArrayGetPlane", cuArrayGetPlane as *const c_void),
    Symbol(
        "cuArrayGetSparseProperties",
        cuArrayGetSparseProperties as *const c_void,
    ),
    Symbol("cuCtxAttach", cuCtxAttach as *const c_void),
    Symbol("cuCtxCreate", cuCtxCreate as *const c_void),
    Symbol("cuCtxCreate_v2", cuCtxCreate_v2 as *const c_void),
    Symbol("cuCtxCreate_v3", cuCtxCreate_v3 as *const c_void),
    Symbol("cuCtxCreate_v4", cuCtxCreate_v4 as *const c_void),
    Symbol("cuCtxDestroy", cuCtxDestroy as *const c_void),
    Symbol("cuCtxDestroy_v2", cuCtxDestroy_v2 as *const c_void),
    Symbol("cuCtxDetach", cuCtxDetach as *const c_void),
    Symbol(
        "cuCtxDisablePeerAccess",
        cuCtxDisablePeerAccess as *const c_void,
    ),
    Symbol(
        "cuCtxEnablePeerAccess",
        cuCtxEnablePeerAccess as *const c_void,
    ),
    Symbol("cuCtxGetApiVersion", cuCtxGetApiVersion as *const c_void),
    Symbol("cuCtxGetCacheConfig", cuCtxGetCacheConfig as *const c_void),
    Symbol("cuCtxGetCurrent", cuCtxGetCurrent as *const c_void),
    Symbol("cuCtxGetDevice", cuCtxGetDevice as *const c_void),
    Symbol("cuCtxGetDevice_v2", cuCtxGetDevice_v2 as *const c_void),
    Symbol(
        "cuCtxGetExecAffinity",
        cuCtxGetExecAffinity as *const c_void,
    ),
    Symbol("cuCtxGetFlags", cuCtxGetFlags as *const c_void),
    Symbol("cuCtxGetId", cuCtxGetId as *const c_void),
    Symbol("cuCtxGetLimit", cuCtxGetLimit as *const c_void),
    Symbol(
        "cuCtxGetSharedMemConfig",
        cuCtxGetSharedMemConfig as *const c_void,
    ),
    Symbol(
        "cuCtxGetStreamPriorityRange",
        cuCtxGetStreamPriorityRange as *const c_void,
    ),
    Symbol("cuCtxPopCurrent", cuCtxPopCurrent as *const c_void),
    Symbol("cuCtxPopCurrent_v2", cuCtxPopCurrent_v2 as *const c_void),
    Symbol("cuCtxPushCurrent", cuCtxPushCurrent as *const c_void),
    Symbol("cuCtxPushCurrent_v2", cuCtxPushCurrent_v2 as *const c_void),
    Symbol("cuCtxRecordEvent", cuCtxRecordEvent as *const c_void),
    Symbol(
        "cuCtxResetPersistingL2Cache",
        cuCtxResetPersistingL2Cache as *const c_void,
    ),
    Symbol("cuCtxSetCacheConfig", cuCtxSetCacheConfig as *const c_void),
    Symbol("cuCtxSetCurrent", cuCtxSetCurrent as *const c_void),
    Symbol("cuCtxSetFlags", cuCtxSetFlags as *const c_void),
    Symbol("cuCtxSetLimit", cuCtxSetLimit as *const c_void),
    Symbol(
        "cuCtxSetSharedMemConfig",
        cuCtxSetSharedMemConfig as *const c_void,
    ),
    Symbol("cuCtxSynchronize", cuCtxSynchronize as *const c_void),
    Symbol("cuCtxSynchronize_v2", cuCtxSynchronize_v2 as *const c_void),
    Symbol("cuCtxWaitEvent", cuCtxWaitEvent as *const c_void),
    Symbol(
        "cuDeviceCanAccessPeer",
        cuDeviceCanAccessPeer as *const c_void,
    ),
    Symbol(
        "cuDeviceComputeCapability",
        cuDeviceComputeCapability as *const c_void,
    ),
    Symbol("cuDeviceGet", cuDeviceGet as *const c_void),
    Symbol(
        "cuDeviceGetAttribute",
        cuDeviceGetAttribute as *const c_void,
    ),
    Symbol(
        "cuDeviceGetByPCIBusId",
        cuDeviceGetByPCIBusId as *const c_void,
    ),
    Symbol("cuDeviceGetCount", cuDeviceGetCount as *const c_void),
    Symbol(
        "cuDeviceGetDefaultMemPool",
        cuDeviceGetDefaultMemPool as *const c_void,
    ),
    Symbol(
        "cuDeviceGetExecAffinitySupport",
        cuDeviceGetExecAffinitySupport as *const c_void,
    ),
    Symbol(
        "cuDeviceGetGraphMemAttribute",
        cuDeviceGetGraphMemAttribute as *const c_void,
    ),
    Symbol(
        "cuDeviceGetHostAtomicCapabilities",
        cuDeviceGetHostAtomicCapabilities as *const c_void,
    ),
    Symbol("cuDeviceGetMemPool", cuDeviceGetMemPool as *const c_void),
    Symbol("cuDeviceGetName", cuDeviceGetName as *const c_void),
    Symbol(
        "cuDeviceGetP2PAtomicCapabilities",
        cuDeviceGetP2PAtomicCapabilities as *const c_void,
    ),
    Symbol(
        "cuDeviceGetP2PAttribute",
        cuDeviceGetP2PAttribute as *const c_void,
    ),
    Symbol("cuDeviceGetPCIBusId", cuDeviceGetPCIBusId as *const c_void),
    Symbol(
        "cuDeviceGetProperties",
        cuDeviceGetProperties as *const c_void,
    ),
    Symbol(
        "cuDeviceGetTexture1DLinearMaxWidth",
        cuDeviceGetTexture1DLinearMaxWidth as *const c_void,
    ),
    Symbol("cuDeviceGetUuid", cuDeviceGetUuid as *const c_void),
    Symbol("cuDeviceGetUuid_v2", cuDeviceGetUuid_v2 as *const c_void),
    Symbol(
        "cuDeviceGraphMemTrim",
        cuDeviceGraphMemTrim as *const c_void,
    ),
    Symbol(
        "cuDevicePrimaryCtxGetState",
        cuDevicePrimaryCtxGetState as *const c_void,
    ),
    Symbol(
        "cuDevicePrimaryCtxRelease",
        cuDevicePrimaryCtxRelease as *const c_void,
    ),
    Symbol(
        "cuDevicePrimaryCtxRelease_v2",
        cuDevicePrimaryCtxRelease_v2 as *const c_void,
    ),
    Symbol(
        "cuDevicePrimaryCtxReset",
        cuDevicePrimaryCtxReset as *const c_void,
    ),
    Symbol(
        "cuDevicePrimaryCtxReset_v2",
        cuDevicePrimaryCtxReset_v2 as *const c_void,
    ),
    Symbol(
        "cuDevicePrimaryCtxRetain",
        cuDevicePrimaryCtxRetain as *const c_void,
    ),
    Symbol(
        "cuDevicePrimaryCtxSetFlags",
        cuDevicePrimaryCtxSetFlags as *const c_void,
    ),
    Symbol(
        "cuDevicePrimaryCtxSetFlags_v2",
        cuDevicePrimaryCtxSetFlags_v2 as *const c_void,
    ),
    Symbol(
        "cuDeviceSetGraphMemAttribute",
        cuDeviceSetGraphMemAttribute as *const c_void,
    ),
    Symbol("cuDeviceSetMemPool", cuDeviceSetMemPool as *const c_void),
    Symbol("cuDeviceTotalMem_v2", cuDeviceTotalMem_v2 as *const c_void),
    Symbol("cuDriverGetVersion", cuDriverGetVersion as *const c_void),
    Symbol("cuEventCreate", cuEventCreate as *const c_void),
    Symbol("cuEventDestroy", cuEventDestroy as *const c_void),
    Symbol("cuEventDestroy_v2", cuEventDestroy_v2 as *const c_void),
    Symbol("cuEventElapsedTime", cuEventElapsedTime as *const c_void),
    Symbol(
        "cuEventElapsedTime_v2",
        cuEventElapsedTime_v2 as *const c_void,
    ),
    Symbol("cuEventQuery", cuEventQuery as *const c_void),
    Symbol("cuEventRecord", cuEventRecord as *const c_void),
    Symbol(
        "cuEventRecordWithFlags",
        cuEventRecordWithFlags as *const c_void,
    ),
    Symbol(
        "cuEventRecordWithFlags_ptsz",
        cuEventRecordWithFlags_ptsz as *const c_void,
    ),
    Symbol("cuEventRecord_ptsz", cuEventRecord_ptsz as *const c_void),
    Symbol("cuEventSynchronize", cuEventSynchronize as *const c_void),
    Symbol(
        "cuFlushGPUDirectRDMAWrites",
        cuFlushGPUDirectRDMAWrites as *const c_void,
    ),
    Symbol("cuFuncGetAttribute", cuFuncGetAttribute as *const c_void),
    Symbol("cuFuncGetModule", cuFuncGetModule as *const c_void),
    Symbol("cuFuncGetName", cuFuncGetName as *const c_void),
    Symbol("cuFuncGetParamCount", cuFuncGetParamCount as *const c_void),
    Symbol("cuFuncGetParamInfo", cuFuncGetParamInfo as *const c_void),
    Symbol("cuFuncIsLoaded", cuFuncIsLoaded as *const c_void),
    Symbol("cuFuncLoad", cuFuncLoad as *const c_void),
    Symbol("cuFuncSetAttribute", cuFuncSetAttribute as *const c_void),
    Symbol(
        "cuFuncSetCacheConfig",
        cuFuncSetCacheConfig as *const c_void,
    ),
    Symbol(
        "cuFuncSetSharedMemConfig",
        cuFuncSetSharedMemConfig as *const c_void,
    ),
    Symbol("cuGetErrorName", cuGetErrorName as *const c_void),
    Symbol("cuGetErrorString", cuGetErrorString as *const c_void),
    Symbol("cuGetExportTable", cuGetExportTable as *const c_void),
    Symbol("cuGetProcAddress", cuGetProcAddress as *const c_void),
    Symbol("cuGetProcAddress_v2", cuGetProcAddress_v2 as *const c_void),
    Symbol(
        "cuGraphAddChildGraphNode",
        cuGraphAddChildGraphNode as *const c_void,
    ),
    Symbol(
        "cuGraphAddDependencies",
        cuGraphAddDependencies as *const c_void,
    ),
    Symbol(
        "cuGraphAddDependencies_v2",
        cuGraphAddDependencies_v2 as *const c_void,
    ),
    Symbol("cuGraphAddEmptyNode", cuGraphAddEmptyNode as *const c_void),
    Symbol(
        "cuGraphAddEventRecordNode",
        cuGraphAddEventRecordNode as *const c_void,
    ),
    Symbol(
        "cuGraphAddEventWaitNode",
        cuGraphAddEventWaitNode as *const c_void,
    ),
    Symbol("cuGraphAddHostNode", cuGraphAddHostNode as *const c_void),
    Symbol(
        "cuGraphAddKernelNode",
        cuGraphAddKernelNode as *const c_void,
    ),
    Symbol(
        "cuGraphAddKernelNode_v2",
        cuGraphAddKernelNode_v2 as *const c_void,
    ),
    Symbol(
        "cuGraphAddMemAllocNode",
        cuGraphAddMemAllocNode as *const c_void,
    ),
    Symbol(
        "cuGraphAddMemFreeNode",
        cuGraphAddMemFreeNode as *const c_void,
    ),
    Symbol(
        "cuGraphAddMemcpyNode",
        cuGraphAddMemcpyNode as *const c_void,
    ),
    Symbol(
        "cuGraphAddMemsetNode",
        cuGraphAddMemsetNode as *const c_void,
    ),
    Symbol("cuGraphAddNode", cuGraphAddNode as *const c_void),
    Symbol("cuGraphAddNode_v2", cuGraphAddNode_v2 as *const c_void),
    Symbol(
        "cuGraphChildGraphNodeGetGraph",
        cuGraphChildGraphNodeGetGraph as *const c_void,
    ),
    Symbol("cuGraphClone", cuGraphClone as *const c_void),
    Symbol(
        "cuGraphConditionalHandleCreate",
        cuGraphConditionalHandleCreate as *const c_void,
    ),
    Symbol("cuGraphCreate", cuGraphCreate as *const c_void),
    Symbol(
        "cuGraphDebugDotPrint",
        cuGraphDebugDotPrint as *const c_void,
    ),
    Symbol("cuGraphDestroy", cuGraphDestroy as *const c_void),
    Symbol("cuGraphDestroyNode", cuGraphDestroyNode as *const c_void),
    Symbol(
        "cuGraphEventRecordNodeGetEvent",
        cuGraphEventRecordNodeGetEvent as *const c_void,
    ),
    Symbol(
        "cuGraphEventRecordNodeSetEvent",
        cuGraphEventRecordNodeSetEvent as *const c_void,
    ),
    Symbol(
        "cuGraphEventWaitNodeGetEvent",
        cuGraphEventWaitNodeGetEvent as *const c_void,
    ),
    Symbol(
        "cuGraphEventWaitNodeSetEvent",
        cuGraphEventWaitNodeSetEvent as *const c_void,
    ),
    Symbol(
        "cuGraphExecChildGraphNodeSetParams",
        cuGraphExecChildGraphNodeSetParams as *const c_void,
    ),
    Symbol("cuGraphExecDestroy", cuGraphExecDestroy as *const c_void),
    Symbol(
        "cuGraphExecEventRecordNodeSetEvent",
        cuGraphExecEventRecordNodeSetEvent as *const c_void,
    ),
    Symbol(
        "cuGraphExecEventWaitNodeSetEvent",
        cuGraphExecEventWaitNodeSetEvent as *const c_void,
    ),
    Symbol("cuGraphExecGetFlags", cuGraphExecGetFlags as *const c_void),
    Symbol("cuGraphExecGetId", cuGraphExecGetId as *const c_void),
    Symbol(
        "cuGraphExecHostNodeSetParams",
        cuGraphExecHostNodeSetParams as *const c_void,
    ),
    Symbol(
        "cuGraphExecKernelNodeSetParams",
        cuGraphExecKernelNodeSetParams as *const c_void,
    ),
    Symbol(
        "cuGraphExecKernelNodeSetParams_v2",
        cuGraphExecKernelNodeSetParams_v2 as *const c_void,
    ),
    Symbol(
        "cuGraphExecMemcpyNodeSetParams",
        cuGraphExecMemcpyNodeSetParams as *const c_void,
    ),
    Symbol(
        "cuGraphExecMemsetNodeSetParams",
        cuGraphExecMemsetNodeSetParams as *const c_void,
    ),
    Symbol(
        "cuGraphExecNodeSetParams",
        cuGraphExecNodeSetParams as *const c_void,
    ),
    Symbol("cuGraphExecUpdate", cuGraphExecUpdate as *const c_void),
    Symbol(
        "cuGraphExecUpdate_v2",
        cuGraphExecUpdate_v2 as *const c_void,
    ),
    Symbol("cuGraphGetEdges", cuGraphGetEdges as *const c_void),
    Symbol("cuGraphGetEdges_v2", cuGraphGetEdges_v2 as *const c_void),
    Symbol("cuGraphGetId", cuGraphGetId as *const c_void),
    Symbol("cuGraphGetNodes", cuGraphGetNodes as *const c_void),
    Symbol("cuGraphGetRootNodes", cuGraphGetRootNodes as *const c_void),
    Symbol(
        "cuGraphHostNodeGetParams",
        cuGraphHostNodeGetParams as *const c_void,
    ),
    Symbol(
        "cuGraphHostNodeSetParams",
        cuGraphHostNodeSetParams as *const c_void,
    ),
    Symbol(
        "cuGraphInstantiateWithFlags",
        cuGraphInstantiateWithFlags as *const c_void,
    ),
    Symbol(
        "cuGraphInstantiateWithParams",
        cuGraphInstantiateWithParams as *const c_void,
    ),
    Symbol(
        "cuGraphInstantiate_v2",
        cuGraphInstantiate_v2 as *const c_void,
    ),
    Symbol(
        "cuGraphKernelNodeCopyAttributes",
        cuGraphKernelNodeCopyAttributes as *const c_void,
    ),
    Symbol(
        "cuGraphKernelNodeGetAttribute",
        cuGraphKernelNodeGetAttribute as *const c_void,
    ),
    Symbol(
        "cuGraphKernelNodeGetParams",
        cuGraphKernelNodeGetParams as *const c_void,
    ),
    Symbol(
        "cuGraphKernelNodeGetParams_v2",
        cuGraphKernelNodeGetParams_v2 as *const c_void,
    ),
    Symbol(
        "cuGraphKernelNodeSetAttribute",
        cuGraphKernelNodeSetAttribute as *const c_void,
    ),
    Symbol(
        "cuGraphKernelNodeSetParams",
        cuGraphKernelNodeSetParams as *const c_void,
    ),
    Symbol(
        "cuGraphKernelNodeSetParams_v2",
        cuGraphKernelNodeSetParams_v2 as *const c_void,
    ),
    Symbol("cuGraphLaunch", cuGraphLaunch as *const c_void),
    Symbol("cuGraphLaunch_ptsz", cuGraphLaunch_ptsz as *const c_void),
    Symbol(
        "cuGraphMemAllocNodeGetParams",
        cuGraphMemAllocNodeGetParams as *const c_void,
    ),
    Symbol(
        "cuGraphMemFreeNodeGetParams",
        cuGraphMemFreeNodeGetParams as *const c_void,
    ),
    Symbol(
        "cuGraphMemcpyNodeGetParams",
        cuGraphMemcpyNodeGetParams as *const c_void,
    ),
    Symbol(
        "cuGraphMemcpyNodeSetParams",
        cuGraphMemcpyNodeSetParams as *const c_void,
    ),
    Symbol(
        "cuGraphMemsetNodeGetParams",
        cuGraphMemsetNodeGetParams as *const c_void,
    ),
    Symbol(
        "cuGraphMemsetNodeSetParams",
        cuGraphMemsetNodeSetParams as *const c_void,
    ),
    Symbol(
        "cuGraphNodeFindInClone",
        cuGraphNodeFindInClone as *const c_void,
    ),
    Symbol(
        "cuGraphNodeGetContainingGraph",
        cuGraphNodeGetContainingGraph as *const c_void,
    ),
    Symbol(
        "cuGraphNodeGetDependencies",
        cuGraphNodeGetDependencies as *const c_void,
    ),
    Symbol(
        "cuGraphNodeGetDependencies_v2",
        cuGraphNodeGetDependencies_v2 as *const c_void,
    ),
    Symbol(
        "cuGraphNodeGetDependentNodes",
        cuGraphNodeGetDependentNodes as *const c_void,
    ),
    Symbol(
        "cuGraphNodeGetDependentNodes_v2",
        cuGraphNodeGetDependentNodes_v2 as *const c_void,
    ),
    Symbol(
        "cuGraphNodeGetEnabled",
        cuGraphNodeGetEnabled as *const c_void,
    ),
    Symbol(
        "cuGraphNodeGetLocalId",
        cuGraphNodeGetLocalId as *const c_void,
    ),
    Symbol(
        "cuGraphNodeGetParams",
        cuGraphNodeGetParams as *const c_void,
    ),
    Symbol(
        "cuGraphNodeGetToolsId",
        cuGraphNodeGetToolsId as *const c_void,
    ),
    Symbol("cuGraphNodeGetType", cuGraphNodeGetType as *const c_void),
    Symbol(
        "cuGraphNodeSetEnabled",
        cuGraphNodeSetEnabled as *const c_void,
    ),
    Symbol(
        "cuGraphNodeSetParams",
        cuGraphNodeSetParams as *const c_void,
    ),
    Symbol(
        "cuGraphReleaseUserObject",
        cuGraphReleaseUserObject as *const c_void,
    ),
    Symbol(
        "cuGraphRemoveDependencies",
        cuGraphRemoveDependencies as *const c_void,
    ),
    Symbol(
        "cuGraphRemoveDependencies_v2",
        cuGraphRemoveDependencies_v2 as *const c_void,
    ),
    Symbol(
        "cuGraphRetainUserObject",
        cuGraphRetainUserObject as *const c_void,
    ),
    Symbol("cuGraphUpload", cuGraphUpload as *const c_void),
    Symbol("cuGraphUpload_ptsz", cuGraphUpload_ptsz as *const c_void),
    Symbol("cuInit", cuInit as *const c_void),
    Symbol("cuIpcCloseMemHandle", cuIpcCloseMemHandle as *const c_void),
    Symbol("cuIpcGetEventHandle", cuIpcGetEventHandle as *const c_void),
    Symbol("cuIpcGetMemHandle", cuIpcGetMemHandle as *const c_void),
    Symbol(
        "cuIpcOpenEventHandle",
        cuIpcOpenEventHandle as *const c_void,
    ),
    Symbol(
        "cuIpcOpenMemHandle_v2",
        cuIpcOpenMemHandle_v2 as *const c_void,
    ),
    Symbol(
        "cuKernelGetAttribute",
        cuKernelGetAttribute as *const c_void,
    ),
    Symbol("cuKernelGetFunction", cuKernelGetFunction as *const c_void),
    Symbol("cuKernelGetLibrary", cuKernelGetLibrary as *const c_void),
    Symbol("cuKernelGetName", cuKernelGetName as *const c_void),
    Symbol(
        "cuKernelGetParamCount",
        cuKernelGetParamCount as *const c_void,
    ),
    Symbol(
        "cuKernelGetParamInfo",
        cuKernelGetParamInfo as *const c_void,
    ),
    Symbol(
        "cuKernelSetAttribute",
        cuKernelSetAttribute as *const c_void,
    ),
    Symbol(
        "cuKernelSetCacheConfig",
        cuKernelSetCacheConfig as *const c_void,
    ),
    Symbol(
        "cuLaunchCooperativeKernel",
        cuLaunchCooperativeKernel as *const c_void,
    ),
    Symbol(
        "cuLaunchCooperativeKernel_ptsz",
        cuLaunchCooperativeKernel_ptsz as *const c_void,
    ),
    Symbol("cuLaunchHostFunc", cuLaunchHostFunc as *const c_void),
    Symbol(
        "cuLaunchHostFunc_ptsz",
        cuLaunchHostFunc_ptsz as *const c_void,
    ),
    Symbol("cuLaunchHostFunc_v2", cuLaunchHostFunc_v2 as *const c_void),
    Symbol(
        "cuLaunchHostFunc_v2_ptsz",
        cuLaunchHostFunc_v2_ptsz as *const c_void,
    ),
    Symbol("cuLaunchKernel", cuLaunchKernel as *const c_void),
    Symbol("cuLaunchKernelEx", cuLaunchKernelEx as *const c_void),
    Symbol(
        "cuLaunchKernelEx_ptsz",
        cuLaunchKernelEx_ptsz as *const c_void,
    ),
    Symbol("cuLaunchKernel_ptsz", cuLaunchKernel_ptsz as *const c_void),
    Symbol(
        "cuLibraryEnumerateKernels",
        cuLibraryEnumerateKernels as *const c_void,
    ),
    Symbol("cuLibraryGetGlobal", cuLibraryGetGlobal as *const c_void),
    Symbol("cuLibraryGetKernel", cuLibraryGetKernel as *const c_void),
    Symbol(
        "cuLibraryGetKernelCount",
        cuLibraryGetKernelCount as *const c_void,
    ),
    Symbol("cuLibraryGetManaged", cuLibraryGetManaged as *const c_void),
    Symbol("cuLibraryGetModule", cuLibraryGetModule as *const c_void),
    Symbol(
        "cuLibraryGetUnifiedFunction",
        cuLibraryGetUnifiedFunction as *const c_void,
    ),
    Symbol("cuLibraryLoadData", cuLibraryLoadData as *const c_void),
    Symbol(
        "cuLibraryLoadFromFile",
        cuLibraryLoadFromFile as *const c_void,
    ),
    Symbol("cuLibraryUnload", cuLibraryUnload as *const c_void),
    Symbol("cuLinkAddData", cuLinkAddData as *const c_void),
    Symbol("cuLinkAddData_v2", cuLinkAddData_v2 as *const c_void),
    Symbol("cuLinkAddFile", cuLinkAddFile as *const c_void),
    Symbol("cuLinkAddFile_v2", cuLinkAddFile_v2 as *const c_void),
    Symbol("cuLinkComplete", cuLinkComplete as *const c_void),
    Symbol("cuLinkCreate", cuLinkCreate as *const c_void),
    Symbol("cuLinkCreate_v2", cuLinkCreate_v2 as *const c_void),
    Symbol("cuLinkDestroy", cuLinkDestroy as *const c_void),
    Symbol(
        "cuLogsRegisterCallback",
        cuLogsRegisterCallback as *const c_void,
    ),
    Symbol(
        "cuLogsUnregisterCallback",
        cuLogsUnregisterCallback as *const c_void,
    ),
    Symbol("cuMemAddressFree", cuMemAddressFree as *const c_void),
    Symbol("cuMemAddressReserve", cuMemAddressReserve as *const c_void),
    Symbol("cuMemAdvise", cuMemAdvise as *const c_void),
    Symbol("cuMemAdvise_v2", cuMemAdvise_v2 as *const c_void),
    Symbol("cuMemAllocAsync", cuMemAllocAsync as *const c_void),
    Symbol(
        "cuMemAllocAsync_ptsz",
        cuMemAllocAsync_ptsz as *const c_void,
    ),
    Symbol(
        "cuMemAllocFromPoolAsync",
        cuMemAllocFromPoolAsync as *const c_void,
    ),
    Symbol(
        "cuMemAllocFromPoolAsync_ptsz",
        cuMemAllocFromPoolAsync_ptsz as *const c_void,
    ),
    Symbol("cuMemAllocHost_v2", cuMemAllocHost_v2 as *const c_void),
    Symbol("cuMemAllocManaged", cuMemAllocManaged as *const c_void),
    Symbol("cuMemAllocPitch_v2", cuMemAllocPitch_v2 as *const c_void),
    Symbol("cuMemAlloc_v2", cuMemAlloc_v2 as *const c_void),
    Symbol("cuMemCreate", cuMemCreate as *const c_void),
    Symbol(
        "cuMemDiscardAndPrefetchBatchAsync",
        cuMemDiscardAndPrefetchBatchAsync as *const c_void,
    ),
    Symbol(
        "cuMemDiscardAndPrefetchBatchAsync_ptsz",
        cuMemDiscardAndPrefetchBatchAsync_ptsz as *const c_void,
    ),
    Symbol(
        "cuMemDiscardBatchAsync",
        cuMemDiscardBatchAsync as *const c_void,
    ),
    Symbol(
        "cuMemDiscardBatchAsync_ptsz",
        cuMemDiscardBatchAsync_ptsz as *const c_void,
    ),
    Symbol(
        "cuMemExportToShareableHandle",
        cuMemExportToShareableHandle as *const c_void,
    ),
    Symbol("cuMemFreeAsync", cuMemFreeAsync as *const c_void),
    Symbol("cuMemFreeAsync_ptsz", cuMemFreeAsync_ptsz as *const c_void),
    Symbol("cuMemFreeHost", cuMemFreeHost as *const c_void),
    Symbol("cuMemFree_v2", cuMemFree_v2 as *const c_void),
    Symbol("cuMemGetAccess", cuMemGetAccess as *const c_void),
    Symbol(
        "cuMemGetAddressRange_v2",
        cuMemGetAddressRange_v2 as *const c_void,
    ),
    Symbol(
        "cuMemGetAllocationGranularity",
        cuMemGetAllocationGranularity as *const c_void,
    ),
    Symbol(
        "cuMemGetAllocationPropertiesFromHandle",
        cuMemGetAllocationPropertiesFromHandle as *const c_void,
    ),
    Symbol(
        "cuMemGetDefaultMemPool",
        cuMemGetDefaultMemPool as *const c_void,
    ),
    Symbol("cuMemGetInfo_v2", cuMemGetInfo_v2 as *const c_void),
    Symbol("cuMemGetMemPool", cuMemGetMemPool as *const c_void),
    Symbol("cuMemHostAlloc", cuMemHostAlloc as *const c_void),
    Symbol(
        "cuMemHostGetDevicePointer_v2",
        cuMemHostGetDevicePointer_v2 as *const c_void,
    ),
    Symbol("cuMemHostGetFlags", cuMemHostGetFlags as *const c_void),
    Symbol("cuMemHostRegister", cuMemHostRegister as *const c_void),
    Symbol(
        "cuMemHostRegister_v2",
        cuMemHostRegister_v2 as *const c_void,
    ),
    Symbol("cuMemHostUnregister", cuMemHostUnregister as *const c_void),
    Symbol(
        "cuMemImportFromShareableHandle",
        cuMemImportFromShareableHandle as *const c_void,
    ),
    Symbol("cuMemMap", cuMemMap as *const c_void),
    Symbol("cuMemPoolCreate", cuMemPoolCreate as *const c_void),
    Symbol("cuMemPoolDestroy", cuMemPoolDestroy as *const c_void),
    Symbol("cuMemPoolGetAccess", cuMemPoolGetAccess as *const c_void),
    Symbol(
        "cuMemPoolGetAttribute",
        cuMemPoolGetAttribute as *const c_void,
    ),
    Symbol("cuMemPoolSetAccess", cuMemPoolSetAccess as *const c_void),
    Symbol(
        "cuMemPoolSetAttribute",
        cuMemPoolSetAttribute as *const c_void,
    ),
    Symbol("cuMemPoolTrimTo", cuMemPoolTrimTo as *const c_void),
    Symbol("cuMemPrefetchAsync", cuMemPrefetchAsync as *const c_void),
    Symbol(
        "cuMemPrefetchAsync_ptsz",
        cuMemPrefetchAsync_ptsz as *const c_void,
    ),
    Symbol(
        "cuMemPrefetchAsync_v2",
        cuMemPrefetchAsync_v2 as *const c_void,
    ),
    Symbol(
        "cuMemPrefetchAsync_v2_ptsz",
        cuMemPrefetchAsync_v2_ptsz as *const c_void,
    ),
    Symbol(
        "cuMemPrefetchBatchAsync",
        cuMemPrefetchBatchAsync as *const c_void,
    ),
    Symbol(
        "cuMemPrefetchBatchAsync_ptsz",
        cuMemPrefetchBatchAsync_ptsz as *const c_void,
    ),
    Symbol(
        "cuMemRangeGetAttribute",
        cuMemRangeGetAttribute as *const c_void,
    ),
    Symbol(
        "cuMemRangeGetAttributes",
        cuMemRangeGetAttributes as *const c_void,
    ),
    Symbol("cuMemRelease", cuMemRelease as *const c_void),
    Symbol(
        "cuMemRetainAllocationHandle",
        cuMemRetainAllocationHandle as *const c_void,
    ),
    Symbol("cuMemSetAccess", cuMemSetAccess as *const c_void),
    Symbol("cuMemSetMemPool", cuMemSetMemPool as *const c_void),
    Symbol("cuMemUnmap", cuMemUnmap as *const c_void),
    Symbol("cuMemcpy", cuMemcpy as *const c_void),
    Symbol("cuMemcpy2DAsync_v2", cuMemcpy2DAsync_v2 as *const c_void),
    Symbol(
        "cuMemcpy2DAsync_v2_ptsz",
        cuMemcpy2DAsync_v2_ptsz as *const c_void,
    ),
    Symbol(
        "cuMemcpy2DUnaligned_v2",
        cuMemcpy2DUnaligned_v2 as *const c_void,
    ),
    Symbol(
        "cuMemcpy2DUnaligned_v2_ptds",
        cuMemcpy2DUnaligned_v2_ptds as *const c_void,
    ),
    Symbol("cuMemcpy2D_v2", cuMemcpy2D_v2 as *const c_void),
    Symbol("cuMemcpy2D_v2_ptds", cuMemcpy2D_v2_ptds as *const c_void),
    Symbol("cuMemcpy3DAsync_v2", cuMemcpy3DAsync_v2 as *const c_void),
    Symbol(
        "cuMemcpy3DAsync_v2_ptsz",
        cuMemcpy3DAsync_v2_ptsz as *const c_void,
    ),
    Symbol("cuMemcpy3DPeer", cuMemcpy3DPeer as *const c_void),
    Symbol("cuMemcpy3DPeerAsync", cuMemcpy3DPeerAsync as *const c_void),
    Symbol(
        "cuMemcpy3DPeerAsync_ptsz",
        cuMemcpy3DPeerAsync_ptsz as *const c_void,
    ),
    Symbol("cuMemcpy3DPeer_ptds", cuMemcpy3DPeer_ptds as *const c_void),
    Symbol("cuMemcpy3D_v2", cuMemcpy3D_v2 as *const c_void),
    Symbol("cuMemcpy3D_v2_ptds", cuMemcpy3D_v2_ptds as *const c_void),
    Symbol("cuMemcpyAsync", cuMemcpyAsync as *const c_void),
    Symbol("cuMemcpyAsync_ptsz", cuMemcpyAsync_ptsz as *const c_void),
    Symbol("cuMemcpyAtoA_v2", cuMemcpyAtoA_v2 as *const c_void),
    Symbol(
        "cuMemcpyAtoA_v2_ptds",
        cuMemcpyAtoA_v2_ptds as *const c_void,
    ),
    Symbol("cuMemcpyAtoD_v2", cuMemcpyAtoD_v2 as *const c_void),
    Symbol(
        "cuMemcpyAtoD_v2_ptds",
        cuMemcpyAtoD_v2_ptds as *const c_void,
    ),
    Symbol(
        "cuMemcpyAtoHAsync_v2",
        cuMemcpyAtoHAsync_v2 as *const c_void,
    ),
    Symbol(
        "cuMemcpyAtoHAsync_v2_ptsz",
        cuMemcpyAtoHAsync_v2_ptsz as *const c_void,
    ),
    Symbol("cuMemcpyAtoH_v2", cuMemcpyAtoH_v2 as *const c_void),
    Symbol(
        "cuMemcpyAtoH_v2_ptds",
        cuMemcpyAtoH_v2_ptds as *const c_void,
    ),
    Symbol("cuMemcpyBatchAsync", cuMemcpyBatchAsync as *const c_void),
    Symbol(
        "cuMemcpyBatchAsync_ptsz",
        cuMemcpyBatchAsync_ptsz as *const c_void,
    ),
    Symbol(
        "cuMemcpyBatchAsync_v2",
        cuMemcpyBatchAsync_v2 as *const c_void,
    ),
    Symbol(
        "cuMemcpyBatchAsync_v2_ptsz",
        cuMemcpyBatchAsync_v2_ptsz as *const c_void,
    ),
    Symbol("cuMemcpyDtoA_v2", cuMemcpyDtoA_v2 as *const c_void),
    Symbol(
        "cuMemcpyDtoA_v2_ptds",
        cuMemcpyDtoA_v2_ptds as *const c_void,
    ),
    Symbol(
        "cuMemcpyDtoDAsync_v2",
        cuMemcpyDtoDAsync_v2 as *const c_void,
    ),
    Symbol(
        "cuMemcpyDtoDAsync_v2_ptsz",
        cuMemcpyDtoDAsync_v2_ptsz as *const c_void,
    ),
    Symbol("cuMemcpyDtoD_v2", cuMemcpyDtoD_v2 as *const c_void),
    Symbol(
        "cuMemcpyDtoD_v2_ptds",
        cuMemcpyDtoD_v2_ptds as *const c_void,
    ),
    Symbol(
        "cuMemcpyDtoHAsync_v2",
        cuMemcpyDtoHAsync_v2 as *const c_void,
    ),
    Symbol(
        "cuMemcpyDtoHAsync_v2_ptsz",
        cuMemcpyDtoHAsync_v2_ptsz as *const c_void,
    ),
    Symbol("cuMemcpyDtoH_v2", cuMemcpyDtoH_v2 as *const c_void),
    Symbol(
        "cuMemcpyDtoH_v2_ptds",
        cuMemcpyDtoH_v2_ptds as *const c_void,
    ),
    Symbol(
        "cuMemcpyHtoAAsync_v2",
        cuMemcpyHtoAAsync_v2 as *const c_void,
    ),
    Symbol(
        "cuMemcpyHtoAAsync_v2_ptsz",
        cuMemcpyHtoAAsync_v2_ptsz as *const c_void,
    ),
    Symbol("cuMemcpyHtoA_v2", cuMemcpyHtoA_v2 as *const c_void),
    Symbol(
        "cuMemcpyHtoA_v2_ptds",
        cuMemcpyHtoA_v2_ptds as *const c_void,
    ),
    Symbol(
        "cuMemcpyHtoDAsync_v2",
        cuMemcpyHtoDAsync_v2 as *const c_void,
    ),
    Symbol(
        "cuMemcpyHtoDAsync_v2_ptsz",
        cuMemcpyHtoDAsync_v2_ptsz as *const c_void,
    ),
    Symbol("cuMemcpyHtoD_v2", cuMemcpyHtoD_v2 as *const c_void),
    Symbol(
        "cuMemcpyHtoD_v2_ptds",
        cuMemcpyHtoD_v2_ptds as *const c_void,
    ),
    Symbol("cuMemcpyPeer", cuMemcpyPeer as *const c_void),
    Symbol("cuMemcpyPeerAsync", cuMemcpyPeerAsync as *const c_void),
    Symbol(
        "cuMemcpyPeerAsync_ptsz",
        cuMemcpyPeerAsync_ptsz as *const c_void,
    ),
    Symbol("cuMemcpyPeer_ptds", cuMemcpyPeer_ptds as *const c_void),
    Symbol(
        "cuMemcpyWithAttributesAsync",
        cuMemcpyWithAttributesAsync as *const c_void,
    ),
    Symbol(
        "cuMemcpyWithAttributesAsync_ptsz",
        cuMemcpyWithAttributesAsync_ptsz as *const c_void,
    ),
    Symbol("cuMemcpy_ptds", cuMemcpy_ptds as *const c_void),
    Symbol("cuMemsetD16Async", cuMemsetD16Async as *const c_void),
    Symbol(
        "cuMemsetD16Async_ptsz",
        cuMemsetD16Async_ptsz as *const c_void,
    ),
    Symbol("cuMemsetD16_v2", cuMemsetD16_v2 as *const c_void),
    Symbol("cuMemsetD16_v2_ptds", cuMemsetD16_v2_ptds as *const c_void),
    Symbol("cuMemsetD2D16Async", cuMemsetD2D16Async as *const c_void),
    Symbol(
        "cuMemsetD2D16Async_ptsz",
        cuMemsetD2D16Async_ptsz as *const c_void,
    ),
    Symbol("cuMemsetD2D16_v2", cuMemsetD2D16_v2 as *const c_void),
    Symbol(
        "cuMemsetD2D16_v2_ptds",
        cuMemsetD2D16_v2_ptds as *const c_void,
    ),
    Symbol("cuMemsetD2D32Async", cuMemsetD2D32Async as *const c_void),
    Symbol(
        "cuMemsetD2D32Async_ptsz",
        cuMemsetD2D32Async_ptsz as *const c_void,
    ),
    Symbol("cuMemsetD2D32_v2", cuMemsetD2D32_v2 as *const c_void),
    Symbol(
        "cuMemsetD2D32_v2_ptds",
        cuMemsetD2D32_v2_ptds as *const c_void,
    ),
    Symbol("cuMemsetD2D8Async", cuMemsetD2D8Async as *const c_void),
    Symbol(
        "cuMemsetD2D8Async_ptsz",
        cuMemsetD2D8Async_ptsz as *const c_void,
    ),
    Symbol("cuMemsetD2D8_v2", cuMemsetD2D8_v2 as *const c_void),
    Symbol(
        "cuMemsetD2D8_v2_ptds",
        cuMemsetD2D8_v2_ptds as *const c_void,
    ),
    Symbol("cuMemsetD32Async", cuMemsetD32Async as *const c_void),
    Symbol(
        "cuMemsetD32Async_ptsz",
        cuMemsetD32Async_ptsz as *const c_void,
    ),
    Symbol("cuMemsetD32_v2", cuMemsetD32_v2 as *const c_void),
    Symbol("cuMemsetD32_v2_ptds", cuMemsetD32_v2_ptds as *const c_void),
    Symbol("cuMemsetD8Async", cuMemsetD8Async as *const c_void),
    Symbol(
        "cuMemsetD8Async_ptsz",
        cuMemsetD8Async_ptsz as *const c_void,
    ),
    Symbol("cuMemsetD8_v2", cuMemsetD8_v2 as *const c_void),
    Symbol("cuMemsetD8_v2_ptds", cuMemsetD8_v2_ptds as *const c_void),
    Symbol(
        "cuMipmappedArrayCreate",
        cuMipmappedArrayCreate as *const c_void,
    ),
    Symbol(
        "cuMipmappedArrayDestroy",
        cuMipmappedArrayDestroy as *const c_void,
    ),
    Symbol(
        "cuMipmappedArrayGetLevel",
        cuMipmappedArrayGetLevel as *const c_void,
    ),
    Symbol(
        "cuMipmappedArrayGetMemoryRequirements",
        cuMipmappedArrayGetMemoryRequirements as *const c_void,
    ),
    Symbol(
        "cuMipmappedArrayGetSparseProperties",
        cuMipmappedArrayGetSparseProperties as *const c_void,
    ),
    Symbol(
        "cuModuleEnumerateFunctions",
        cuModuleEnumerateFunctions as *const c_void,
    ),
    Symbol("cuModuleGetFunction", cuModuleGetFunction as *const c_void),
    Symbol(
        "cuModuleGetFunctionCount",
        cuModuleGetFunctionCount as *const c_void,
    ),
    Symbol(
        "cuModuleGetGlobal_v2",
        cuModuleGetGlobal_v2 as *const c_void,
    ),
    Symbol(
        "cuModuleGetLoadingMode",
        cuModuleGetLoadingMode as *const c_void,
    ),
    Symbol("cuModuleGetSurfRef", cuModuleGetSurfRef as *const c_void),
    Symbol("cuModuleGetTexRef", cuModuleGetTexRef as *const c_void),
    Symbol("cuModuleLoad", cuModuleLoad as *const c_void),
    Symbol("cuModuleLoadData", cuModuleLoadData as *const c_void),
    Symbol("cuModuleLoadDataEx", cuModuleLoadDataEx as *const c_void),
    Symbol(
        "cuModuleLoadFatBinary",
        cuModuleLoadFatBinary as *const c_void,
    ),
    Symbol("cuModuleUnload", cuModuleUnload as *const c_void),
    Symbol(
        "cuOccupancyAvailableDynamicSMemPerBlock",
        cuOccupancyAvailableDynamicSMemPerBlock as *const c_void,
    ),
    Symbol(
        "cuOccupancyMaxActiveBlocksPerMultiprocessor",
        cuOccupancyMaxActiveBlocksPerMultiprocessor as *const c_void,
    ),
    Symbol(
        "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
        cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags as *const c_void,
    ),
    Symbol(
        "cuOccupancyMaxActiveClusters",
        cuOccupancyMaxActiveClusters as *const c_void,
    ),
    Symbol(
        "cuOccupancyMaxPotentialBlockSize",
        cuOccupancyMaxPotentialBlockSize as *const c_void,
    ),
    Symbol(
        "cuOccupancyMaxPotentialBlockSizeWithFlags",
        cuOccupancyMaxPotentialBlockSizeWithFlags as *const c_void,
    ),
    Symbol(
        "cuOccupancyMaxPotentialClusterSize",
        cuOccupancyMaxPotentialClusterSize as *const c_void,
    ),
    Symbol(
        "cuPointerGetAttribute",
        cuPointerGetAttribute as *const c_void,
    ),
    Symbol(
        "cuPointerGetAttributes",
        cuPointerGetAttributes as *const c_void,
    ),
    Symbol(
        "cuPointerSetAttribute",
        cuPointerSetAttribute as *const c_void,
    ),
    Symbol("cuProfilerStart", cuProfilerStart as *const c_void),
    Symbol("cuProfilerStop", cuProfilerStop as *const c_void),
    Symbol("cuStreamAddCallback", cuStreamAddCallback as *const c_void),
    Symbol(
        "cuStreamAddCallback_ptsz",
        cuStreamAddCallback_ptsz as *const c_void,
    ),
    Symbol(
        "cuStreamAttachMemAsync",
        cuStreamAttachMemAsync as *const c_void,
    ),
    Symbol(
        "cuStreamAttachMemAsync_ptsz",
        cuStreamAttachMemAsync_ptsz as *const c_void,
    ),
    Symbol("cuStreamBatchMemOp", cuStreamBatchMemOp as *const c_void),
    Symbol(
        "cuStreamBatchMemOp_ptsz",
        cuStreamBatchMemOp_ptsz as *const c_void,
    ),
    Symbol(
        "cuStreamBatchMemOp_v2",
        cuStreamBatchMemOp_v2 as *const c_void,
    ),
    Symbol(
        "cuStreamBatchMemOp_v2_ptsz",
        cuStreamBatchMemOp_v2_ptsz as *const c_void,
    ),
    Symbol(
        "cuStreamBeginCaptureToGraph",
        cuStreamBeginCaptureToGraph as *const c_void,
    ),
    Symbol(
        "cuStreamBeginCaptureToGraph_ptsz",
        cuStreamBeginCaptureToGraph_ptsz as *const c_void,
    ),
    Symbol(
        "cuStreamBeginCapture_v2",
        cuStreamBeginCapture_v2 as *const c_void,
    ),
    Symbol(
        "cuStreamBeginCapture_v2_ptsz",
        cuStreamBeginCapture_v2_ptsz as *const c_void,
    ),
    Symbol(
        "cuStreamCopyAttributes",
        cuStreamCopyAttributes as *const c_void,
    ),
    Symbol(
        "cuStreamCopyAttributes_ptsz",
        cuStreamCopyAttributes_ptsz as *const c_void,
    ),
    Symbol("cuStreamCreate", cuStreamCreate as *const c_void),
    Symbol(
        "cuStreamCreateWithPriority",
        cuStreamCreateWithPriority as *const c_void,
    ),
    Symbol("cuStreamDestroy", cuStreamDestroy as *const c_void),
    Symbol("cuStreamDestroy_v2", cuStreamDestroy_v2 as *const c_void),
    Symbol("cuStreamEndCapture", cuStreamEndCapture as *const c_void),
    Symbol(
        "cuStreamEndCapture_ptsz",
        cuStreamEndCapture_ptsz as *const c_void,
    ),
    Symbol(
        "cuStreamGetAttribute",
        cuStreamGetAttribute as *const c_void,
    ),
    Symbol(
        "cuStreamGetAttribute_ptsz",
        cuStreamGetAttribute_ptsz as *const c_void,
    ),
    Symbol(
        "cuStreamGetCaptureInfo",
        cuStreamGetCaptureInfo as *const c_void,
    ),
    Symbol(
        "cuStreamGetCaptureInfo_ptsz",
        cuStreamGetCaptureInfo_ptsz as *const c_void,
    ),
    Symbol(
        "cuStreamGetCaptureInfo_v2",
        cuStreamGetCaptureInfo_v2 as *const c_void,
    ),
    Symbol(
        "cuStreamGetCaptureInfo_v2_ptsz",
        cuStreamGetCaptureInfo_v2_ptsz as *const c_void,
    ),
    Symbol(
        "cuStreamGetCaptureInfo_v3",
        cuStreamGetCaptureInfo_v3 as *const c_void,
    ),
    Symbol(
        "cuStreamGetCaptureInfo_v3_ptsz",
        cuStreamGetCaptureInfo_v3_ptsz as *const c_void,
    ),
    Symbol("cuStreamGetCtx", cuStreamGetCtx as *const c_void),
    Symbol("cuStreamGetCtx_ptsz", cuStreamGetCtx_ptsz as *const c_void),
    Symbol("cuStreamGetCtx_v2", cuStreamGetCtx_v2 as *const c_void),
    Symbol(
        "cuStreamGetCtx_v2_ptsz",
        cuStreamGetCtx_v2_ptsz as *const c_void,
    ),
    Symbol("cuStreamGetDevice", cuStreamGetDevice as *const c_void),
    Symbol(
        "cuStreamGetDevice_ptsz",
        cuStreamGetDevice_ptsz as *const c_void,
    ),
    Symbol("cuStreamGetFlags", cuStreamGetFlags as *const c_void),
    Symbol(
        "cuStreamGetFlags_ptsz",
        cuStreamGetFlags_ptsz as *const c_void,
    ),
    Symbol("cuStreamGetGreenCtx", cuStreamGetGreenCtx as *const c_void),
    Symbol("cuStreamGetId", cuStreamGetId as *const c_void),
    Symbol("cuStreamGetId_ptsz", cuStreamGetId_ptsz as *const c_void),
    Symbol("cuStreamGetPriority", cuStreamGetPriority as *const c_void),
    Symbol(
        "cuStreamGetPriority_ptsz",
        cuStreamGetPriority_ptsz as *const c_void,
    ),
    Symbol("cuStreamIsCapturing", cuStreamIsCapturing as *const c_void),
    Symbol(
        "cuStreamIsCapturing_ptsz",
        cuStreamIsCapturing_ptsz as *const c_void,
    ),
    Symbol("cuStreamQuery", cuStreamQuery as *const c_void),
    Symbol("cuStreamQuery_ptsz", cuStreamQuery_ptsz as *const c_void),
    Symbol(
        "cuStreamSetAttribute",
        cuStreamSetAttribute as *const c_void,
    ),
    Symbol(
        "cuStreamSetAttribute_ptsz",
        cuStreamSetAttribute_ptsz as *const c_void,
    ),
    Symbol("cuStreamSynchronize", cuStreamSynchronize as *const c_void),
    Symbol(
        "cuStreamSynchronize_ptsz",
        cuStreamSynchronize_ptsz as *const c_void,
    ),
    Symbol(
        "cuStreamUpdateCaptureDependencies",
        cuStreamUpdateCaptureDependencies as *const c_void,
    ),
    Symbol(
        "cuStreamUpdateCaptureDependencies_ptsz",
        cuStreamUpdateCaptureDependencies_ptsz as *const c_void,
    ),
    Symbol(
        "cuStreamUpdateCaptureDependencies_v2",
        cuStreamUpdateCaptureDependencies_v2 as *const c_void,
    ),
    Symbol(
        "cuStreamUpdateCaptureDependencies_v2_ptsz",
        cuStreamUpdateCaptureDependencies_v2_ptsz as *const c_void,
    ),
    Symbol("cuStreamWaitEvent", cuStreamWaitEvent as *const c_void),
    Symbol(
        "cuStreamWaitEvent_ptsz",
        cuStreamWaitEvent_ptsz as *const c_void,
    ),
    Symbol("cuStreamWaitValue32", cuStreamWaitValue32 as *const c_void),
    Symbol(
        "cuStreamWaitValue32_ptsz",
        cuStreamWaitValue32_ptsz as *const c_void,
    ),
    Symbol(
        "cuStreamWaitValue32_v2",
        cuStreamWaitValue32_v2 as *const c_void,
    ),
    Symbol(
        "cuStreamWaitValue32_v2_ptsz",
        cuStreamWaitValue32_v2_ptsz as *const c_void,
    ),
    Symbol("cuStreamWaitValue64", cuStreamWaitValue64 as *const c_void),
    Symbol(
        "cuStreamWaitValue64_ptsz",
        cuStreamWaitValue64_ptsz as *const c_void,
    ),
    Symbol(
        "cuStreamWaitValue64_v2",
        cuStreamWaitValue64_v2 as *const c_void,
    ),
    Symbol(
        "cuStreamWaitValue64_v2_ptsz",
        cuStreamWaitValue64_v2_ptsz as *const c_void,
    ),
    Symbol(
        "cuStreamWriteValue32",
        cuStreamWriteValue32 as *const c_void,
    ),
    Symbol(
        "cuStreamWriteValue32_ptsz",
        cuStreamWriteValue32_ptsz as *const c_void,
    ),
    Symbol(
        "cuStreamWriteValue32_v2",
        cuStreamWriteValue32_v2 as *const c_void,
    ),
    Symbol(
        "cuStreamWriteValue32_v2_ptsz",
        cuStreamWriteValue32_v2_ptsz as *const c_void,
    ),
    Symbol(
        "cuStreamWriteValue64",
        cuStreamWriteValue64 as *const c_void,
    ),
    Symbol(
        "cuStreamWriteValue64_ptsz",
        cuStreamWriteValue64_ptsz as *const c_void,
    ),
    Symbol(
        "cuStreamWriteValue64_v2",
        cuStreamWriteValue64_v2 as *const c_void,
    ),
    Symbol(
        "cuStreamWriteValue64_v2_ptsz",
        cuStreamWriteValue64_v2_ptsz as *const c_void,
    ),
    Symbol("cuSurfObjectCreate", cuSurfObjectCreate as *const c_void),
    Symbol("cuSurfObjectDestroy", cuSurfObjectDestroy as *const c_void),
    Symbol(
        "cuSurfObjectGetResourceDesc",
        cuSurfObjectGetResourceDesc as *const c_void,
    ),
    Symbol("cuSurfRefGetArray", cuSurfRefGetArray as *const c_void),
    Symbol("cuSurfRefSetArray", cuSurfRefSetArray as *const c_void),
    Symbol(
        "cuTensorMapEncodeIm2col",
        cuTensorMapEncodeIm2col as *const c_void,
    ),
    Symbol(
        "cuTensorMapEncodeTiled",
        cuTensorMapEncodeTiled as *const c_void,
    ),
    Symbol(
        "cuTensorMapReplaceAddress",
        cuTensorMapReplaceAddress as *const c_void,
    ),
    Symbol("cuTexObjectCreate", cuTexObjectCreate as *const c_void),
    Symbol("cuTexObjectDestroy", cuTexObjectDestroy as *const c_void),
    Symbol(
        "cuTexObjectGetResourceDesc",
        cuTexObjectGetResourceDesc as *const c_void,
    ),
    Symbol(
        "cuTexObjectGetResourceViewDesc",
        cuTexObjectGetResourceViewDesc as *const c_void,
    ),
    Symbol(
        "cuTexObjectGetTextureDesc",
        cuTexObjectGetTextureDesc as *const c_void,
    ),
    Symbol("cuTexRefCreate", cuTexRefCreate as *const c_void),
    Symbol("cuTexRefDestroy", cuTexRefDestroy as *const c_void),
    Symbol(
        "cuTexRefGetAddressMode",
        cuTexRefGetAddressMode as *const c_void,
    ),
    Symbol(
        "cuTexRefGetAddress_v2",
        cuTexRefGetAddress_v2 as *const c_void,
    ),
    Symbol("cuTexRefGetArray", cuTexRefGetArray as *const c_void),
    Symbol(
        "cuTexRefGetBorderColor",
        cuTexRefGetBorderColor as *const c_void,
    ),
    Symbol(
        "cuTexRefGetFilterMode",
        cuTexRefGetFilterMode as *const c_void,
    ),
    Symbol("cuTexRefGetFlags", cuTexRefGetFlags as *const c_void),
    Symbol("cuTexRefGetFormat", cuTexRefGetFormat as *const c_void),
    Symbol(
        "cuTexRefGetMaxAnisotropy",
        cuTexRefGetMaxAnisotropy as *const c_void,
    ),
    Symbol(
        "cuTexRefGetMipmapFilterMode",
        cuTexRefGetMipmapFilterMode as *const c_void,
    ),
    Symbol(
        "cuTexRefGetMipmapLevelBias",
        cuTexRefGetMipmapLevelBias as *const c_void,
    ),
    Symbol(
        "cuTexRefGetMipmapLevelClamp",
        cuTexRefGetMipmapLevelClamp as *const c_void,
    ),
    Symbol(
        "cuTexRefGetMipmappedArray",
        cuTexRefGetMipmappedArray as *const c_void,
    ),
    Symbol(
        "cuTexRefSetAddress2D_v3",
        cuTexRefSetAddress2D_v3 as *const c_void,
    ),
    Symbol(
        "cuTexRefSetAddressMode",
        cuTexRefSetAddressMode as *const c_void,
    ),
    Symbol(
        "cuTexRefSetAddress_v2",
        cuTexRefSetAddress_v2 as *const c_void,
    ),
    Symbol("cuTexRefSetArray", cuTexRefSetArray as *const c_void),
    Symbol(
        "cuTexRefSetBorderColor",
        cuTexRefSetBorderColor as *const c_void,
    ),
    Symbol(
        "cuTexRefSetFilterMode",
        cuTexRefSetFilterMode as *const c_void,
    ),
    Symbol("cuTexRefSetFlags", cuTexRefSetFlags as *const c_void),
    Symbol("cuTexRefSetFormat", cuTexRefSetFormat as *const c_void),
    Symbol(
        "cuTexRefSetMaxAnisotropy",
        cuTexRefSetMaxAnisotropy as *const c_void,
    ),
    Symbol(
        "cuTexRefSetMipmapFilterMode",
        cuTexRefSetMipmapFilterMode as *const c_void,
    ),
    Symbol(
        "cuTexRefSetMipmapLevelBias",
        cuTexRefSetMipmapLevelBias as *const c_void,
    ),
    Symbol(
        "cuTexRefSetMipmapLevelClamp",
        cuTexRefSetMipmapLevelClamp as *const c_void,
    ),
    Symbol(
        "cuTexRefSetMipmappedArray",
        cuTexRefSetMipmappedArray as *const c_void,
    ),
    Symbol(
        "cuThreadExchangeStreamCaptureMode",
        cuThreadExchangeStreamCaptureMode as *const c_void,
    ),
    Symbol("cuUserObjectCreate", cuUserObjectCreate as *const c_void),
    Symbol("cuUserObjectRelease", cuUserObjectRelease as *const c_void),
    Symbol("cuUserObjectRetain", cuUserObjectRetain as *const c_void),
];
