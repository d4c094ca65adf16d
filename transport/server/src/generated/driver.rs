//! The server's side of the CUDA driver API.
//!
//! Written by `cargo xtask codegen`; changes by hand are lost.
//!
//! Uses of the crate:
//! * `crate::exec::{Exec, Bad, Code}`: `Code` is i32; `Bad` is made from a `DecodeError` and closes
//!   the lane.
//! * `exec.driver: Driver`, `exec.nvml: Nvml` of these files.
//! * `exec.handles.real(Kind, u64) -> Result<*mut c_void, Code>`, `check_minted(Kind, u64) ->
//!   Result<(), Code>`, `insert(Kind, u64, *mut c_void)`, `known(Kind, *mut c_void) -> u64`,
//!   `insert_child` and `known_child` for what ends with a parent,
//!   `remove(Kind, u64)`. For NVML the code of a wrong handle is replaced by INVALID_ARGUMENT.
//! * `crate::special::NAME(exec, r, w) -> Result<Code, Bad>` for what is written by hand.

// The symbols' names, and calls of the driver: pointers are to values and arrays of the sizes
// that the driver is told, and that is the SAFETY of every block here.
#![allow(
    clippy::collapsible_if,
    clippy::match_single_binding,
    clippy::too_many_arguments,
    clippy::type_complexity,
    clippy::undocumented_unsafe_blocks,
    dead_code,
    non_snake_case,
    non_upper_case_globals,
    unreachable_pub,
    unsafe_code,
    unused_imports,
    unused_mut,
    unused_variables
)]

use core::ffi::*;
use std::path::Path;

use gtrace_cuda::types::driver::*;
use gtrace_cuda::wire::{self, Scalar, Versioned};
use gtrace_cuda::{Kind, wire::mismatch};
use gtrace_protocol::{Reader, Writer, op_id};

use crate::exec::{Bad, Code, Exec};
use crate::special;

/// The library's functions; those that it does not have are absent.
#[derive(Debug)]
pub struct Driver {
    _library: libloading::Library,
    /// `cuInit`
    pub cuInit: Option<unsafe extern "C" fn(c_uint) -> CUresult>,
    /// `cuDriverGetVersion`
    pub cuDriverGetVersion: Option<unsafe extern "C" fn(*mut c_int) -> CUresult>,
    /// `cuGetErrorName`
    pub cuGetErrorName: Option<unsafe extern "C" fn(CUresult, *mut *const c_char) -> CUresult>,
    /// `cuGetErrorString`
    pub cuGetErrorString: Option<unsafe extern "C" fn(CUresult, *mut *const c_char) -> CUresult>,
    /// `cuGetProcAddress`
    pub cuGetProcAddress: Option<
        unsafe extern "C" fn(*const c_char, *mut *mut c_void, c_int, cuuint64_t) -> CUresult,
    >,
    /// `cuGetProcAddress_v2`
    pub cuGetProcAddress_v2: Option<
        unsafe extern "C" fn(
            *const c_char,
            *mut *mut c_void,
            c_int,
            cuuint64_t,
            *mut CUdriverProcAddressQueryResult,
        ) -> CUresult,
    >,
    /// `cuGetExportTable`
    pub cuGetExportTable:
        Option<unsafe extern "C" fn(*mut *const c_void, *const CUuuid) -> CUresult>,
    /// `cuDeviceGet`
    pub cuDeviceGet: Option<unsafe extern "C" fn(*mut CUdevice, c_int) -> CUresult>,
    /// `cuDeviceGetCount`
    pub cuDeviceGetCount: Option<unsafe extern "C" fn(*mut c_int) -> CUresult>,
    /// `cuDeviceGetName`
    pub cuDeviceGetName: Option<unsafe extern "C" fn(*mut c_char, c_int, CUdevice) -> CUresult>,
    /// `cuDeviceGetUuid`
    pub cuDeviceGetUuid: Option<unsafe extern "C" fn(*mut CUuuid, CUdevice) -> CUresult>,
    /// `cuDeviceGetUuid_v2`
    pub cuDeviceGetUuid_v2: Option<unsafe extern "C" fn(*mut CUuuid, CUdevice) -> CUresult>,
    /// `cuDeviceTotalMem_v2`
    pub cuDeviceTotalMem_v2: Option<unsafe extern "C" fn(*mut usize, CUdevice) -> CUresult>,
    /// `cuDeviceGetAttribute`
    pub cuDeviceGetAttribute:
        Option<unsafe extern "C" fn(*mut c_int, CUdevice_attribute, CUdevice) -> CUresult>,
    /// `cuDeviceGetPCIBusId`
    pub cuDeviceGetPCIBusId: Option<unsafe extern "C" fn(*mut c_char, c_int, CUdevice) -> CUresult>,
    /// `cuDeviceGetByPCIBusId`
    pub cuDeviceGetByPCIBusId:
        Option<unsafe extern "C" fn(*mut CUdevice, *const c_char) -> CUresult>,
    /// `cuDeviceComputeCapability`
    pub cuDeviceComputeCapability:
        Option<unsafe extern "C" fn(*mut c_int, *mut c_int, CUdevice) -> CUresult>,
    /// `cuDeviceGetProperties`
    pub cuDeviceGetProperties: Option<unsafe extern "C" fn(*mut CUdevprop, CUdevice) -> CUresult>,
    /// `cuDeviceCanAccessPeer`
    pub cuDeviceCanAccessPeer:
        Option<unsafe extern "C" fn(*mut c_int, CUdevice, CUdevice) -> CUresult>,
    /// `cuDeviceGetP2PAttribute`
    pub cuDeviceGetP2PAttribute: Option<
        unsafe extern "C" fn(*mut c_int, CUdevice_P2PAttribute, CUdevice, CUdevice) -> CUresult,
    >,
    /// `cuDeviceGetTexture1DLinearMaxWidth`
    pub cuDeviceGetTexture1DLinearMaxWidth:
        Option<unsafe extern "C" fn(*mut usize, CUarray_format, c_uint, CUdevice) -> CUresult>,
    /// `cuDeviceGetExecAffinitySupport`
    pub cuDeviceGetExecAffinitySupport:
        Option<unsafe extern "C" fn(*mut c_int, CUexecAffinityType, CUdevice) -> CUresult>,
    /// `cuDeviceGetHostAtomicCapabilities`
    pub cuDeviceGetHostAtomicCapabilities: Option<
        unsafe extern "C" fn(*mut c_uint, *const CUatomicOperation, c_uint, CUdevice) -> CUresult,
    >,
    /// `cuDeviceGetP2PAtomicCapabilities`
    pub cuDeviceGetP2PAtomicCapabilities: Option<
        unsafe extern "C" fn(
            *mut c_uint,
            *const CUatomicOperation,
            c_uint,
            CUdevice,
            CUdevice,
        ) -> CUresult,
    >,
    /// `cuDeviceGetGraphMemAttribute`
    pub cuDeviceGetGraphMemAttribute:
        Option<unsafe extern "C" fn(CUdevice, CUgraphMem_attribute, *mut c_void) -> CUresult>,
    /// `cuDeviceSetGraphMemAttribute`
    pub cuDeviceSetGraphMemAttribute:
        Option<unsafe extern "C" fn(CUdevice, CUgraphMem_attribute, *mut c_void) -> CUresult>,
    /// `cuDeviceGraphMemTrim`
    pub cuDeviceGraphMemTrim: Option<unsafe extern "C" fn(CUdevice) -> CUresult>,
    /// `cuProfilerStart`
    pub cuProfilerStart: Option<unsafe extern "C" fn() -> CUresult>,
    /// `cuProfilerStop`
    pub cuProfilerStop: Option<unsafe extern "C" fn() -> CUresult>,
    /// `cuFlushGPUDirectRDMAWrites`
    pub cuFlushGPUDirectRDMAWrites: Option<
        unsafe extern "C" fn(
            CUflushGPUDirectRDMAWritesTarget,
            CUflushGPUDirectRDMAWritesScope,
        ) -> CUresult,
    >,
    /// `cuLogsRegisterCallback`
    pub cuLogsRegisterCallback: Option<
        unsafe extern "C" fn(CUlogsCallback, *mut c_void, *mut CUlogsCallbackHandle) -> CUresult,
    >,
    /// `cuLogsUnregisterCallback`
    pub cuLogsUnregisterCallback: Option<unsafe extern "C" fn(CUlogsCallbackHandle) -> CUresult>,
    /// `cuDevicePrimaryCtxRetain`
    pub cuDevicePrimaryCtxRetain:
        Option<unsafe extern "C" fn(*mut CUcontext, CUdevice) -> CUresult>,
    /// `cuDevicePrimaryCtxRelease_v2`
    pub cuDevicePrimaryCtxRelease_v2: Option<unsafe extern "C" fn(CUdevice) -> CUresult>,
    /// `cuDevicePrimaryCtxReset_v2`
    pub cuDevicePrimaryCtxReset_v2: Option<unsafe extern "C" fn(CUdevice) -> CUresult>,
    /// `cuDevicePrimaryCtxGetState`
    pub cuDevicePrimaryCtxGetState:
        Option<unsafe extern "C" fn(CUdevice, *mut c_uint, *mut c_int) -> CUresult>,
    /// `cuDevicePrimaryCtxSetFlags_v2`
    pub cuDevicePrimaryCtxSetFlags_v2: Option<unsafe extern "C" fn(CUdevice, c_uint) -> CUresult>,
    /// `cuCtxCreate_v2`
    pub cuCtxCreate_v2: Option<unsafe extern "C" fn(*mut CUcontext, c_uint, CUdevice) -> CUresult>,
    /// `cuCtxCreate_v3`
    pub cuCtxCreate_v3: Option<
        unsafe extern "C" fn(
            *mut CUcontext,
            *mut CUexecAffinityParam,
            c_int,
            c_uint,
            CUdevice,
        ) -> CUresult,
    >,
    /// `cuCtxCreate_v4`
    pub cuCtxCreate_v4: Option<
        unsafe extern "C" fn(*mut CUcontext, *mut CUctxCreateParams, c_uint, CUdevice) -> CUresult,
    >,
    /// `cuCtxDestroy_v2`
    pub cuCtxDestroy_v2: Option<unsafe extern "C" fn(CUcontext) -> CUresult>,
    /// `cuCtxAttach`
    pub cuCtxAttach: Option<unsafe extern "C" fn(*mut CUcontext, c_uint) -> CUresult>,
    /// `cuCtxDetach`
    pub cuCtxDetach: Option<unsafe extern "C" fn(CUcontext) -> CUresult>,
    /// `cuCtxGetCurrent`
    pub cuCtxGetCurrent: Option<unsafe extern "C" fn(*mut CUcontext) -> CUresult>,
    /// `cuCtxSetCurrent`
    pub cuCtxSetCurrent: Option<unsafe extern "C" fn(CUcontext) -> CUresult>,
    /// `cuCtxPushCurrent_v2`
    pub cuCtxPushCurrent_v2: Option<unsafe extern "C" fn(CUcontext) -> CUresult>,
    /// `cuCtxPopCurrent_v2`
    pub cuCtxPopCurrent_v2: Option<unsafe extern "C" fn(*mut CUcontext) -> CUresult>,
    /// `cuCtxGetDevice`
    pub cuCtxGetDevice: Option<unsafe extern "C" fn(*mut CUdevice) -> CUresult>,
    /// `cuCtxGetDevice_v2`
    pub cuCtxGetDevice_v2: Option<unsafe extern "C" fn(*mut CUdevice, CUcontext) -> CUresult>,
    /// `cuCtxGetApiVersion`
    pub cuCtxGetApiVersion: Option<unsafe extern "C" fn(CUcontext, *mut c_uint) -> CUresult>,
    /// `cuCtxGetFlags`
    pub cuCtxGetFlags: Option<unsafe extern "C" fn(*mut c_uint) -> CUresult>,
    /// `cuCtxSetFlags`
    pub cuCtxSetFlags: Option<unsafe extern "C" fn(c_uint) -> CUresult>,
    /// `cuCtxGetId`
    pub cuCtxGetId: Option<unsafe extern "C" fn(CUcontext, *mut c_ulonglong) -> CUresult>,
    /// `cuCtxGetStreamPriorityRange`
    pub cuCtxGetStreamPriorityRange:
        Option<unsafe extern "C" fn(*mut c_int, *mut c_int) -> CUresult>,
    /// `cuCtxSynchronize`
    pub cuCtxSynchronize: Option<unsafe extern "C" fn() -> CUresult>,
    /// `cuCtxSynchronize_v2`
    pub cuCtxSynchronize_v2: Option<unsafe extern "C" fn(CUcontext) -> CUresult>,
    /// `cuCtxGetLimit`
    pub cuCtxGetLimit: Option<unsafe extern "C" fn(*mut usize, CUlimit) -> CUresult>,
    /// `cuCtxSetLimit`
    pub cuCtxSetLimit: Option<unsafe extern "C" fn(CUlimit, usize) -> CUresult>,
    /// `cuCtxGetCacheConfig`
    pub cuCtxGetCacheConfig: Option<unsafe extern "C" fn(*mut CUfunc_cache) -> CUresult>,
    /// `cuCtxSetCacheConfig`
    pub cuCtxSetCacheConfig: Option<unsafe extern "C" fn(CUfunc_cache) -> CUresult>,
    /// `cuCtxGetSharedMemConfig`
    pub cuCtxGetSharedMemConfig: Option<unsafe extern "C" fn(*mut CUsharedconfig) -> CUresult>,
    /// `cuCtxSetSharedMemConfig`
    pub cuCtxSetSharedMemConfig: Option<unsafe extern "C" fn(CUsharedconfig) -> CUresult>,
    /// `cuCtxGetExecAffinity`
    pub cuCtxGetExecAffinity:
        Option<unsafe extern "C" fn(*mut CUexecAffinityParam, CUexecAffinityType) -> CUresult>,
    /// `cuCtxResetPersistingL2Cache`
    pub cuCtxResetPersistingL2Cache: Option<unsafe extern "C" fn() -> CUresult>,
    /// `cuCtxEnablePeerAccess`
    pub cuCtxEnablePeerAccess: Option<unsafe extern "C" fn(CUcontext, c_uint) -> CUresult>,
    /// `cuCtxDisablePeerAccess`
    pub cuCtxDisablePeerAccess: Option<unsafe extern "C" fn(CUcontext) -> CUresult>,
    /// `cuCtxRecordEvent`
    pub cuCtxRecordEvent: Option<unsafe extern "C" fn(CUcontext, CUevent) -> CUresult>,
    /// `cuCtxWaitEvent`
    pub cuCtxWaitEvent: Option<unsafe extern "C" fn(CUcontext, CUevent) -> CUresult>,
    /// `cuMemAlloc_v2`
    pub cuMemAlloc_v2: Option<unsafe extern "C" fn(*mut CUdeviceptr, usize) -> CUresult>,
    /// `cuMemAllocPitch_v2`
    pub cuMemAllocPitch_v2: Option<
        unsafe extern "C" fn(*mut CUdeviceptr, *mut usize, usize, usize, c_uint) -> CUresult,
    >,
    /// `cuMemAllocManaged`
    pub cuMemAllocManaged:
        Option<unsafe extern "C" fn(*mut CUdeviceptr, usize, c_uint) -> CUresult>,
    /// `cuMemFree_v2`
    pub cuMemFree_v2: Option<unsafe extern "C" fn(CUdeviceptr) -> CUresult>,
    /// `cuMemGetInfo_v2`
    pub cuMemGetInfo_v2: Option<unsafe extern "C" fn(*mut usize, *mut usize) -> CUresult>,
    /// `cuMemGetAddressRange_v2`
    pub cuMemGetAddressRange_v2:
        Option<unsafe extern "C" fn(*mut CUdeviceptr, *mut usize, CUdeviceptr) -> CUresult>,
    /// `cuMemAllocAsync`
    pub cuMemAllocAsync:
        Option<unsafe extern "C" fn(*mut CUdeviceptr, usize, CUstream) -> CUresult>,
    /// `cuMemAllocFromPoolAsync`
    pub cuMemAllocFromPoolAsync:
        Option<unsafe extern "C" fn(*mut CUdeviceptr, usize, CUmemoryPool, CUstream) -> CUresult>,
    /// `cuMemFreeAsync`
    pub cuMemFreeAsync: Option<unsafe extern "C" fn(CUdeviceptr, CUstream) -> CUresult>,
    /// `cuMemAllocHost_v2`
    pub cuMemAllocHost_v2: Option<unsafe extern "C" fn(*mut *mut c_void, usize) -> CUresult>,
    /// `cuMemHostAlloc`
    pub cuMemHostAlloc: Option<unsafe extern "C" fn(*mut *mut c_void, usize, c_uint) -> CUresult>,
    /// `cuMemFreeHost`
    pub cuMemFreeHost: Option<unsafe extern "C" fn(*mut c_void) -> CUresult>,
    /// `cuMemHostRegister_v2`
    pub cuMemHostRegister_v2: Option<unsafe extern "C" fn(*mut c_void, usize, c_uint) -> CUresult>,
    /// `cuMemHostUnregister`
    pub cuMemHostUnregister: Option<unsafe extern "C" fn(*mut c_void) -> CUresult>,
    /// `cuMemHostGetDevicePointer_v2`
    pub cuMemHostGetDevicePointer_v2:
        Option<unsafe extern "C" fn(*mut CUdeviceptr, *mut c_void, c_uint) -> CUresult>,
    /// `cuMemHostGetFlags`
    pub cuMemHostGetFlags: Option<unsafe extern "C" fn(*mut c_uint, *mut c_void) -> CUresult>,
    /// `cuPointerGetAttribute`
    pub cuPointerGetAttribute:
        Option<unsafe extern "C" fn(*mut c_void, CUpointer_attribute, CUdeviceptr) -> CUresult>,
    /// `cuPointerGetAttributes`
    pub cuPointerGetAttributes: Option<
        unsafe extern "C" fn(
            c_uint,
            *mut CUpointer_attribute,
            *mut *mut c_void,
            CUdeviceptr,
        ) -> CUresult,
    >,
    /// `cuPointerSetAttribute`
    pub cuPointerSetAttribute:
        Option<unsafe extern "C" fn(*const c_void, CUpointer_attribute, CUdeviceptr) -> CUresult>,
    /// `cuMemcpy`
    pub cuMemcpy: Option<unsafe extern "C" fn(CUdeviceptr, CUdeviceptr, usize) -> CUresult>,
    /// `cuMemcpyAsync`
    pub cuMemcpyAsync:
        Option<unsafe extern "C" fn(CUdeviceptr, CUdeviceptr, usize, CUstream) -> CUresult>,
    /// `cuMemcpyHtoD_v2`
    pub cuMemcpyHtoD_v2:
        Option<unsafe extern "C" fn(CUdeviceptr, *const c_void, usize) -> CUresult>,
    /// `cuMemcpyHtoDAsync_v2`
    pub cuMemcpyHtoDAsync_v2:
        Option<unsafe extern "C" fn(CUdeviceptr, *const c_void, usize, CUstream) -> CUresult>,
    /// `cuMemcpyDtoH_v2`
    pub cuMemcpyDtoH_v2: Option<unsafe extern "C" fn(*mut c_void, CUdeviceptr, usize) -> CUresult>,
    /// `cuMemcpyDtoHAsync_v2`
    pub cuMemcpyDtoHAsync_v2:
        Option<unsafe extern "C" fn(*mut c_void, CUdeviceptr, usize, CUstream) -> CUresult>,
    /// `cuMemcpyDtoD_v2`
    pub cuMemcpyDtoD_v2: Option<unsafe extern "C" fn(CUdeviceptr, CUdeviceptr, usize) -> CUresult>,
    /// `cuMemcpyDtoDAsync_v2`
    pub cuMemcpyDtoDAsync_v2:
        Option<unsafe extern "C" fn(CUdeviceptr, CUdeviceptr, usize, CUstream) -> CUresult>,
    /// `cuMemcpyPeer`
    pub cuMemcpyPeer: Option<
        unsafe extern "C" fn(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, usize) -> CUresult,
    >,
    /// `cuMemcpyPeerAsync`
    pub cuMemcpyPeerAsync: Option<
        unsafe extern "C" fn(
            CUdeviceptr,
            CUcontext,
            CUdeviceptr,
            CUcontext,
            usize,
            CUstream,
        ) -> CUresult,
    >,
    /// `cuMemcpyBatchAsync`
    pub cuMemcpyBatchAsync: Option<
        unsafe extern "C" fn(
            *mut CUdeviceptr,
            *mut CUdeviceptr,
            *mut usize,
            usize,
            *mut CUmemcpyAttributes,
            *mut usize,
            usize,
            *mut usize,
            CUstream,
        ) -> CUresult,
    >,
    /// `cuMemcpyBatchAsync_v2`
    pub cuMemcpyBatchAsync_v2: Option<
        unsafe extern "C" fn(
            *mut CUdeviceptr,
            *mut CUdeviceptr,
            *mut usize,
            usize,
            *mut CUmemcpyAttributes,
            *mut usize,
            usize,
            CUstream,
        ) -> CUresult,
    >,
    /// `cuMemcpyWithAttributesAsync`
    pub cuMemcpyWithAttributesAsync: Option<
        unsafe extern "C" fn(
            CUdeviceptr,
            CUdeviceptr,
            usize,
            *mut CUmemcpyAttributes,
            CUstream,
        ) -> CUresult,
    >,
    /// `cuMemcpy2D_v2`
    pub cuMemcpy2D_v2: Option<unsafe extern "C" fn(*const CUDA_MEMCPY2D) -> CUresult>,
    /// `cuMemcpy2DUnaligned_v2`
    pub cuMemcpy2DUnaligned_v2: Option<unsafe extern "C" fn(*const CUDA_MEMCPY2D) -> CUresult>,
    /// `cuMemcpy2DAsync_v2`
    pub cuMemcpy2DAsync_v2:
        Option<unsafe extern "C" fn(*const CUDA_MEMCPY2D, CUstream) -> CUresult>,
    /// `cuMemcpy3D_v2`
    pub cuMemcpy3D_v2: Option<unsafe extern "C" fn(*const CUDA_MEMCPY3D) -> CUresult>,
    /// `cuMemcpy3DAsync_v2`
    pub cuMemcpy3DAsync_v2:
        Option<unsafe extern "C" fn(*const CUDA_MEMCPY3D, CUstream) -> CUresult>,
    /// `cuMemcpy3DPeer`
    pub cuMemcpy3DPeer: Option<unsafe extern "C" fn(*const CUDA_MEMCPY3D_PEER) -> CUresult>,
    /// `cuMemcpy3DPeerAsync`
    pub cuMemcpy3DPeerAsync:
        Option<unsafe extern "C" fn(*const CUDA_MEMCPY3D_PEER, CUstream) -> CUresult>,
    /// `cuMemsetD8_v2`
    pub cuMemsetD8_v2: Option<unsafe extern "C" fn(CUdeviceptr, c_uchar, usize) -> CUresult>,
    /// `cuMemsetD16_v2`
    pub cuMemsetD16_v2: Option<unsafe extern "C" fn(CUdeviceptr, c_ushort, usize) -> CUresult>,
    /// `cuMemsetD32_v2`
    pub cuMemsetD32_v2: Option<unsafe extern "C" fn(CUdeviceptr, c_uint, usize) -> CUresult>,
    /// `cuMemsetD8Async`
    pub cuMemsetD8Async:
        Option<unsafe extern "C" fn(CUdeviceptr, c_uchar, usize, CUstream) -> CUresult>,
    /// `cuMemsetD16Async`
    pub cuMemsetD16Async:
        Option<unsafe extern "C" fn(CUdeviceptr, c_ushort, usize, CUstream) -> CUresult>,
    /// `cuMemsetD32Async`
    pub cuMemsetD32Async:
        Option<unsafe extern "C" fn(CUdeviceptr, c_uint, usize, CUstream) -> CUresult>,
    /// `cuMemsetD2D8_v2`
    pub cuMemsetD2D8_v2:
        Option<unsafe extern "C" fn(CUdeviceptr, usize, c_uchar, usize, usize) -> CUresult>,
    /// `cuMemsetD2D16_v2`
    pub cuMemsetD2D16_v2:
        Option<unsafe extern "C" fn(CUdeviceptr, usize, c_ushort, usize, usize) -> CUresult>,
    /// `cuMemsetD2D32_v2`
    pub cuMemsetD2D32_v2:
        Option<unsafe extern "C" fn(CUdeviceptr, usize, c_uint, usize, usize) -> CUresult>,
    /// `cuMemsetD2D8Async`
    pub cuMemsetD2D8Async: Option<
        unsafe extern "C" fn(CUdeviceptr, usize, c_uchar, usize, usize, CUstream) -> CUresult,
    >,
    /// `cuMemsetD2D16Async`
    pub cuMemsetD2D16Async: Option<
        unsafe extern "C" fn(CUdeviceptr, usize, c_ushort, usize, usize, CUstream) -> CUresult,
    >,
    /// `cuMemsetD2D32Async`
    pub cuMemsetD2D32Async: Option<
        unsafe extern "C" fn(CUdeviceptr, usize, c_uint, usize, usize, CUstream) -> CUresult,
    >,
    /// `cuDeviceGetDefaultMemPool`
    pub cuDeviceGetDefaultMemPool:
        Option<unsafe extern "C" fn(*mut CUmemoryPool, CUdevice) -> CUresult>,
    /// `cuDeviceGetMemPool`
    pub cuDeviceGetMemPool: Option<unsafe extern "C" fn(*mut CUmemoryPool, CUdevice) -> CUresult>,
    /// `cuDeviceSetMemPool`
    pub cuDeviceSetMemPool: Option<unsafe extern "C" fn(CUdevice, CUmemoryPool) -> CUresult>,
    /// `cuMemGetDefaultMemPool`
    pub cuMemGetDefaultMemPool: Option<
        unsafe extern "C" fn(
            *mut CUmemoryPool,
            *mut CUmemLocation,
            CUmemAllocationType,
        ) -> CUresult,
    >,
    /// `cuMemGetMemPool`
    pub cuMemGetMemPool: Option<
        unsafe extern "C" fn(
            *mut CUmemoryPool,
            *mut CUmemLocation,
            CUmemAllocationType,
        ) -> CUresult,
    >,
    /// `cuMemSetMemPool`
    pub cuMemSetMemPool: Option<
        unsafe extern "C" fn(*mut CUmemLocation, CUmemAllocationType, CUmemoryPool) -> CUresult,
    >,
    /// `cuMemPoolCreate`
    pub cuMemPoolCreate:
        Option<unsafe extern "C" fn(*mut CUmemoryPool, *const CUmemPoolProps) -> CUresult>,
    /// `cuMemPoolDestroy`
    pub cuMemPoolDestroy: Option<unsafe extern "C" fn(CUmemoryPool) -> CUresult>,
    /// `cuMemPoolGetAttribute`
    pub cuMemPoolGetAttribute:
        Option<unsafe extern "C" fn(CUmemoryPool, CUmemPool_attribute, *mut c_void) -> CUresult>,
    /// `cuMemPoolSetAttribute`
    pub cuMemPoolSetAttribute:
        Option<unsafe extern "C" fn(CUmemoryPool, CUmemPool_attribute, *mut c_void) -> CUresult>,
    /// `cuMemPoolGetAccess`
    pub cuMemPoolGetAccess: Option<
        unsafe extern "C" fn(*mut CUmemAccess_flags, CUmemoryPool, *mut CUmemLocation) -> CUresult,
    >,
    /// `cuMemPoolSetAccess`
    pub cuMemPoolSetAccess:
        Option<unsafe extern "C" fn(CUmemoryPool, *const CUmemAccessDesc, usize) -> CUresult>,
    /// `cuMemPoolTrimTo`
    pub cuMemPoolTrimTo: Option<unsafe extern "C" fn(CUmemoryPool, usize) -> CUresult>,
    /// `cuIpcGetMemHandle`
    pub cuIpcGetMemHandle:
        Option<unsafe extern "C" fn(*mut CUipcMemHandle, CUdeviceptr) -> CUresult>,
    /// `cuIpcOpenMemHandle_v2`
    pub cuIpcOpenMemHandle_v2:
        Option<unsafe extern "C" fn(*mut CUdeviceptr, CUipcMemHandle, c_uint) -> CUresult>,
    /// `cuIpcCloseMemHandle`
    pub cuIpcCloseMemHandle: Option<unsafe extern "C" fn(CUdeviceptr) -> CUresult>,
    /// `cuIpcGetEventHandle`
    pub cuIpcGetEventHandle:
        Option<unsafe extern "C" fn(*mut CUipcEventHandle, CUevent) -> CUresult>,
    /// `cuIpcOpenEventHandle`
    pub cuIpcOpenEventHandle:
        Option<unsafe extern "C" fn(*mut CUevent, CUipcEventHandle) -> CUresult>,
    /// `cuMemAddressReserve`
    pub cuMemAddressReserve: Option<
        unsafe extern "C" fn(*mut CUdeviceptr, usize, usize, CUdeviceptr, c_ulonglong) -> CUresult,
    >,
    /// `cuMemAddressFree`
    pub cuMemAddressFree: Option<unsafe extern "C" fn(CUdeviceptr, usize) -> CUresult>,
    /// `cuMemCreate`
    pub cuMemCreate: Option<
        unsafe extern "C" fn(
            *mut CUmemGenericAllocationHandle,
            usize,
            *const CUmemAllocationProp,
            c_ulonglong,
        ) -> CUresult,
    >,
    /// `cuMemRelease`
    pub cuMemRelease: Option<unsafe extern "C" fn(CUmemGenericAllocationHandle) -> CUresult>,
    /// `cuMemMap`
    pub cuMemMap: Option<
        unsafe extern "C" fn(
            CUdeviceptr,
            usize,
            usize,
            CUmemGenericAllocationHandle,
            c_ulonglong,
        ) -> CUresult,
    >,
    /// `cuMemUnmap`
    pub cuMemUnmap: Option<unsafe extern "C" fn(CUdeviceptr, usize) -> CUresult>,
    /// `cuMemSetAccess`
    pub cuMemSetAccess:
        Option<unsafe extern "C" fn(CUdeviceptr, usize, *const CUmemAccessDesc, usize) -> CUresult>,
    /// `cuMemGetAccess`
    pub cuMemGetAccess: Option<
        unsafe extern "C" fn(*mut c_ulonglong, *const CUmemLocation, CUdeviceptr) -> CUresult,
    >,
    /// `cuMemGetAllocationGranularity`
    pub cuMemGetAllocationGranularity: Option<
        unsafe extern "C" fn(
            *mut usize,
            *const CUmemAllocationProp,
            CUmemAllocationGranularity_flags,
        ) -> CUresult,
    >,
    /// `cuMemGetAllocationPropertiesFromHandle`
    pub cuMemGetAllocationPropertiesFromHandle: Option<
        unsafe extern "C" fn(*mut CUmemAllocationProp, CUmemGenericAllocationHandle) -> CUresult,
    >,
    /// `cuMemRetainAllocationHandle`
    pub cuMemRetainAllocationHandle:
        Option<unsafe extern "C" fn(*mut CUmemGenericAllocationHandle, *mut c_void) -> CUresult>,
    /// `cuMemAdvise`
    pub cuMemAdvise:
        Option<unsafe extern "C" fn(CUdeviceptr, usize, CUmem_advise, CUdevice) -> CUresult>,
    /// `cuMemAdvise_v2`
    pub cuMemAdvise_v2:
        Option<unsafe extern "C" fn(CUdeviceptr, usize, CUmem_advise, CUmemLocation) -> CUresult>,
    /// `cuMemPrefetchAsync`
    pub cuMemPrefetchAsync:
        Option<unsafe extern "C" fn(CUdeviceptr, usize, CUdevice, CUstream) -> CUresult>,
    /// `cuMemPrefetchAsync_v2`
    pub cuMemPrefetchAsync_v2: Option<
        unsafe extern "C" fn(CUdeviceptr, usize, CUmemLocation, c_uint, CUstream) -> CUresult,
    >,
    /// `cuMemPrefetchBatchAsync`
    pub cuMemPrefetchBatchAsync: Option<
        unsafe extern "C" fn(
            *mut CUdeviceptr,
            *mut usize,
            usize,
            *mut CUmemLocation,
            *mut usize,
            usize,
            c_ulonglong,
            CUstream,
        ) -> CUresult,
    >,
    /// `cuMemDiscardBatchAsync`
    pub cuMemDiscardBatchAsync: Option<
        unsafe extern "C" fn(
            *mut CUdeviceptr,
            *mut usize,
            usize,
            c_ulonglong,
            CUstream,
        ) -> CUresult,
    >,
    /// `cuMemDiscardAndPrefetchBatchAsync`
    pub cuMemDiscardAndPrefetchBatchAsync: Option<
        unsafe extern "C" fn(
            *mut CUdeviceptr,
            *mut usize,
            usize,
            *mut CUmemLocation,
            *mut usize,
            usize,
            c_ulonglong,
            CUstream,
        ) -> CUresult,
    >,
    /// `cuMemRangeGetAttribute`
    pub cuMemRangeGetAttribute: Option<
        unsafe extern "C" fn(
            *mut c_void,
            usize,
            CUmem_range_attribute,
            CUdeviceptr,
            usize,
        ) -> CUresult,
    >,
    /// `cuMemExportToShareableHandle`
    pub cuMemExportToShareableHandle: Option<
        unsafe extern "C" fn(
            *mut c_void,
            CUmemGenericAllocationHandle,
            CUmemAllocationHandleType,
            c_ulonglong,
        ) -> CUresult,
    >,
    /// `cuMemImportFromShareableHandle`
    pub cuMemImportFromShareableHandle: Option<
        unsafe extern "C" fn(
            *mut CUmemGenericAllocationHandle,
            *mut c_void,
            CUmemAllocationHandleType,
        ) -> CUresult,
    >,
    /// `cuMemRangeGetAttributes`
    pub cuMemRangeGetAttributes: Option<
        unsafe extern "C" fn(
            *mut *mut c_void,
            *mut usize,
            *mut CUmem_range_attribute,
            usize,
            CUdeviceptr,
            usize,
        ) -> CUresult,
    >,
    /// `cuStreamCreate`
    pub cuStreamCreate: Option<unsafe extern "C" fn(*mut CUstream, c_uint) -> CUresult>,
    /// `cuStreamCreateWithPriority`
    pub cuStreamCreateWithPriority:
        Option<unsafe extern "C" fn(*mut CUstream, c_uint, c_int) -> CUresult>,
    /// `cuStreamDestroy_v2`
    pub cuStreamDestroy_v2: Option<unsafe extern "C" fn(CUstream) -> CUresult>,
    /// `cuStreamSynchronize`
    pub cuStreamSynchronize: Option<unsafe extern "C" fn(CUstream) -> CUresult>,
    /// `cuStreamQuery`
    pub cuStreamQuery: Option<unsafe extern "C" fn(CUstream) -> CUresult>,
    /// `cuStreamWaitEvent`
    pub cuStreamWaitEvent: Option<unsafe extern "C" fn(CUstream, CUevent, c_uint) -> CUresult>,
    /// `cuStreamGetFlags`
    pub cuStreamGetFlags: Option<unsafe extern "C" fn(CUstream, *mut c_uint) -> CUresult>,
    /// `cuStreamGetPriority`
    pub cuStreamGetPriority: Option<unsafe extern "C" fn(CUstream, *mut c_int) -> CUresult>,
    /// `cuStreamGetId`
    pub cuStreamGetId: Option<unsafe extern "C" fn(CUstream, *mut c_ulonglong) -> CUresult>,
    /// `cuStreamGetDevice`
    pub cuStreamGetDevice: Option<unsafe extern "C" fn(CUstream, *mut CUdevice) -> CUresult>,
    /// `cuStreamGetCtx`
    pub cuStreamGetCtx: Option<unsafe extern "C" fn(CUstream, *mut CUcontext) -> CUresult>,
    /// `cuStreamGetCtx_v2`
    pub cuStreamGetCtx_v2:
        Option<unsafe extern "C" fn(CUstream, *mut CUcontext, *mut CUgreenCtx) -> CUresult>,
    /// `cuStreamGetGreenCtx`
    pub cuStreamGetGreenCtx: Option<unsafe extern "C" fn(CUstream, *mut CUgreenCtx) -> CUresult>,
    /// `cuStreamAttachMemAsync`
    pub cuStreamAttachMemAsync:
        Option<unsafe extern "C" fn(CUstream, CUdeviceptr, usize, c_uint) -> CUresult>,
    /// `cuStreamCopyAttributes`
    pub cuStreamCopyAttributes: Option<unsafe extern "C" fn(CUstream, CUstream) -> CUresult>,
    /// `cuStreamGetAttribute`
    pub cuStreamGetAttribute:
        Option<unsafe extern "C" fn(CUstream, CUstreamAttrID, *mut CUstreamAttrValue) -> CUresult>,
    /// `cuStreamSetAttribute`
    pub cuStreamSetAttribute: Option<
        unsafe extern "C" fn(CUstream, CUstreamAttrID, *const CUstreamAttrValue) -> CUresult,
    >,
    /// `cuStreamWaitValue32`
    pub cuStreamWaitValue32:
        Option<unsafe extern "C" fn(CUstream, CUdeviceptr, cuuint32_t, c_uint) -> CUresult>,
    /// `cuStreamWaitValue32_v2`
    pub cuStreamWaitValue32_v2:
        Option<unsafe extern "C" fn(CUstream, CUdeviceptr, cuuint32_t, c_uint) -> CUresult>,
    /// `cuStreamWaitValue64`
    pub cuStreamWaitValue64:
        Option<unsafe extern "C" fn(CUstream, CUdeviceptr, cuuint64_t, c_uint) -> CUresult>,
    /// `cuStreamWaitValue64_v2`
    pub cuStreamWaitValue64_v2:
        Option<unsafe extern "C" fn(CUstream, CUdeviceptr, cuuint64_t, c_uint) -> CUresult>,
    /// `cuStreamWriteValue32`
    pub cuStreamWriteValue32:
        Option<unsafe extern "C" fn(CUstream, CUdeviceptr, cuuint32_t, c_uint) -> CUresult>,
    /// `cuStreamWriteValue32_v2`
    pub cuStreamWriteValue32_v2:
        Option<unsafe extern "C" fn(CUstream, CUdeviceptr, cuuint32_t, c_uint) -> CUresult>,
    /// `cuStreamWriteValue64`
    pub cuStreamWriteValue64:
        Option<unsafe extern "C" fn(CUstream, CUdeviceptr, cuuint64_t, c_uint) -> CUresult>,
    /// `cuStreamWriteValue64_v2`
    pub cuStreamWriteValue64_v2:
        Option<unsafe extern "C" fn(CUstream, CUdeviceptr, cuuint64_t, c_uint) -> CUresult>,
    /// `cuStreamBatchMemOp`
    pub cuStreamBatchMemOp: Option<
        unsafe extern "C" fn(CUstream, c_uint, *mut CUstreamBatchMemOpParams, c_uint) -> CUresult,
    >,
    /// `cuStreamBatchMemOp_v2`
    pub cuStreamBatchMemOp_v2: Option<
        unsafe extern "C" fn(CUstream, c_uint, *mut CUstreamBatchMemOpParams, c_uint) -> CUresult,
    >,
    /// `cuStreamAddCallback`
    pub cuStreamAddCallback:
        Option<unsafe extern "C" fn(CUstream, CUstreamCallback, *mut c_void, c_uint) -> CUresult>,
    /// `cuLaunchHostFunc`
    pub cuLaunchHostFunc: Option<unsafe extern "C" fn(CUstream, CUhostFn, *mut c_void) -> CUresult>,
    /// `cuLaunchHostFunc_v2`
    pub cuLaunchHostFunc_v2:
        Option<unsafe extern "C" fn(CUstream, CUhostFn, *mut c_void, c_uint) -> CUresult>,
    /// `cuStreamIsCapturing`
    pub cuStreamIsCapturing:
        Option<unsafe extern "C" fn(CUstream, *mut CUstreamCaptureStatus) -> CUresult>,
    /// `cuStreamGetCaptureInfo`
    pub cuStreamGetCaptureInfo: Option<
        unsafe extern "C" fn(CUstream, *mut CUstreamCaptureStatus, *mut cuuint64_t) -> CUresult,
    >,
    /// `cuStreamGetCaptureInfo_v2`
    pub cuStreamGetCaptureInfo_v2: Option<
        unsafe extern "C" fn(
            CUstream,
            *mut CUstreamCaptureStatus,
            *mut cuuint64_t,
            *mut CUgraph,
            *mut *const CUgraphNode,
            *mut usize,
        ) -> CUresult,
    >,
    /// `cuStreamGetCaptureInfo_v3`
    pub cuStreamGetCaptureInfo_v3: Option<
        unsafe extern "C" fn(
            CUstream,
            *mut CUstreamCaptureStatus,
            *mut cuuint64_t,
            *mut CUgraph,
            *mut *const CUgraphNode,
            *mut *const CUgraphEdgeData,
            *mut usize,
        ) -> CUresult,
    >,
    /// `cuStreamBeginCapture_v2`
    pub cuStreamBeginCapture_v2:
        Option<unsafe extern "C" fn(CUstream, CUstreamCaptureMode) -> CUresult>,
    /// `cuStreamBeginCaptureToGraph`
    pub cuStreamBeginCaptureToGraph: Option<
        unsafe extern "C" fn(
            CUstream,
            CUgraph,
            *const CUgraphNode,
            *const CUgraphEdgeData,
            usize,
            CUstreamCaptureMode,
        ) -> CUresult,
    >,
    /// `cuStreamEndCapture`
    pub cuStreamEndCapture: Option<unsafe extern "C" fn(CUstream, *mut CUgraph) -> CUresult>,
    /// `cuStreamUpdateCaptureDependencies`
    pub cuStreamUpdateCaptureDependencies:
        Option<unsafe extern "C" fn(CUstream, *mut CUgraphNode, usize, c_uint) -> CUresult>,
    /// `cuStreamUpdateCaptureDependencies_v2`
    pub cuStreamUpdateCaptureDependencies_v2: Option<
        unsafe extern "C" fn(
            CUstream,
            *mut CUgraphNode,
            *const CUgraphEdgeData,
            usize,
            c_uint,
        ) -> CUresult,
    >,
    /// `cuThreadExchangeStreamCaptureMode`
    pub cuThreadExchangeStreamCaptureMode:
        Option<unsafe extern "C" fn(*mut CUstreamCaptureMode) -> CUresult>,
    /// `cuEventCreate`
    pub cuEventCreate: Option<unsafe extern "C" fn(*mut CUevent, c_uint) -> CUresult>,
    /// `cuEventDestroy_v2`
    pub cuEventDestroy_v2: Option<unsafe extern "C" fn(CUevent) -> CUresult>,
    /// `cuEventRecord`
    pub cuEventRecord: Option<unsafe extern "C" fn(CUevent, CUstream) -> CUresult>,
    /// `cuEventRecordWithFlags`
    pub cuEventRecordWithFlags: Option<unsafe extern "C" fn(CUevent, CUstream, c_uint) -> CUresult>,
    /// `cuEventQuery`
    pub cuEventQuery: Option<unsafe extern "C" fn(CUevent) -> CUresult>,
    /// `cuEventSynchronize`
    pub cuEventSynchronize: Option<unsafe extern "C" fn(CUevent) -> CUresult>,
    /// `cuEventElapsedTime`
    pub cuEventElapsedTime: Option<unsafe extern "C" fn(*mut f32, CUevent, CUevent) -> CUresult>,
    /// `cuEventElapsedTime_v2`
    pub cuEventElapsedTime_v2: Option<unsafe extern "C" fn(*mut f32, CUevent, CUevent) -> CUresult>,
    /// `cuModuleLoad`
    pub cuModuleLoad: Option<unsafe extern "C" fn(*mut CUmodule, *const c_char) -> CUresult>,
    /// `cuModuleLoadData`
    pub cuModuleLoadData: Option<unsafe extern "C" fn(*mut CUmodule, *const c_void) -> CUresult>,
    /// `cuModuleLoadDataEx`
    pub cuModuleLoadDataEx: Option<
        unsafe extern "C" fn(
            *mut CUmodule,
            *const c_void,
            c_uint,
            *mut CUjit_option,
            *mut *mut c_void,
        ) -> CUresult,
    >,
    /// `cuModuleLoadFatBinary`
    pub cuModuleLoadFatBinary:
        Option<unsafe extern "C" fn(*mut CUmodule, *const c_void) -> CUresult>,
    /// `cuModuleUnload`
    pub cuModuleUnload: Option<unsafe extern "C" fn(CUmodule) -> CUresult>,
    /// `cuModuleGetLoadingMode`
    pub cuModuleGetLoadingMode: Option<unsafe extern "C" fn(*mut CUmoduleLoadingMode) -> CUresult>,
    /// `cuModuleGetFunction`
    pub cuModuleGetFunction:
        Option<unsafe extern "C" fn(*mut CUfunction, CUmodule, *const c_char) -> CUresult>,
    /// `cuModuleGetFunctionCount`
    pub cuModuleGetFunctionCount: Option<unsafe extern "C" fn(*mut c_uint, CUmodule) -> CUresult>,
    /// `cuModuleEnumerateFunctions`
    pub cuModuleEnumerateFunctions:
        Option<unsafe extern "C" fn(*mut CUfunction, c_uint, CUmodule) -> CUresult>,
    /// `cuModuleGetGlobal_v2`
    pub cuModuleGetGlobal_v2: Option<
        unsafe extern "C" fn(*mut CUdeviceptr, *mut usize, CUmodule, *const c_char) -> CUresult,
    >,
    /// `cuFuncGetAttribute`
    pub cuFuncGetAttribute:
        Option<unsafe extern "C" fn(*mut c_int, CUfunction_attribute, CUfunction) -> CUresult>,
    /// `cuFuncSetAttribute`
    pub cuFuncSetAttribute:
        Option<unsafe extern "C" fn(CUfunction, CUfunction_attribute, c_int) -> CUresult>,
    /// `cuFuncSetCacheConfig`
    pub cuFuncSetCacheConfig: Option<unsafe extern "C" fn(CUfunction, CUfunc_cache) -> CUresult>,
    /// `cuFuncSetSharedMemConfig`
    pub cuFuncSetSharedMemConfig:
        Option<unsafe extern "C" fn(CUfunction, CUsharedconfig) -> CUresult>,
    /// `cuFuncGetModule`
    pub cuFuncGetModule: Option<unsafe extern "C" fn(*mut CUmodule, CUfunction) -> CUresult>,
    /// `cuFuncGetName`
    pub cuFuncGetName: Option<unsafe extern "C" fn(*mut *const c_char, CUfunction) -> CUresult>,
    /// `cuFuncGetParamCount`
    pub cuFuncGetParamCount: Option<unsafe extern "C" fn(CUfunction, *mut usize) -> CUresult>,
    /// `cuFuncGetParamInfo`
    pub cuFuncGetParamInfo:
        Option<unsafe extern "C" fn(CUfunction, usize, *mut usize, *mut usize) -> CUresult>,
    /// `cuFuncIsLoaded`
    pub cuFuncIsLoaded:
        Option<unsafe extern "C" fn(*mut CUfunctionLoadingState, CUfunction) -> CUresult>,
    /// `cuFuncLoad`
    pub cuFuncLoad: Option<unsafe extern "C" fn(CUfunction) -> CUresult>,
    /// `cuLibraryLoadData`
    pub cuLibraryLoadData: Option<
        unsafe extern "C" fn(
            *mut CUlibrary,
            *const c_void,
            *mut CUjit_option,
            *mut *mut c_void,
            c_uint,
            *mut CUlibraryOption,
            *mut *mut c_void,
            c_uint,
        ) -> CUresult,
    >,
    /// `cuLibraryLoadFromFile`
    pub cuLibraryLoadFromFile: Option<
        unsafe extern "C" fn(
            *mut CUlibrary,
            *const c_char,
            *mut CUjit_option,
            *mut *mut c_void,
            c_uint,
            *mut CUlibraryOption,
            *mut *mut c_void,
            c_uint,
        ) -> CUresult,
    >,
    /// `cuLibraryUnload`
    pub cuLibraryUnload: Option<unsafe extern "C" fn(CUlibrary) -> CUresult>,
    /// `cuLibraryGetKernel`
    pub cuLibraryGetKernel:
        Option<unsafe extern "C" fn(*mut CUkernel, CUlibrary, *const c_char) -> CUresult>,
    /// `cuLibraryGetModule`
    pub cuLibraryGetModule: Option<unsafe extern "C" fn(*mut CUmodule, CUlibrary) -> CUresult>,
    /// `cuLibraryGetGlobal`
    pub cuLibraryGetGlobal: Option<
        unsafe extern "C" fn(*mut CUdeviceptr, *mut usize, CUlibrary, *const c_char) -> CUresult,
    >,
    /// `cuLibraryGetManaged`
    pub cuLibraryGetManaged: Option<
        unsafe extern "C" fn(*mut CUdeviceptr, *mut usize, CUlibrary, *const c_char) -> CUresult,
    >,
    /// `cuLibraryGetUnifiedFunction`
    pub cuLibraryGetUnifiedFunction:
        Option<unsafe extern "C" fn(*mut *mut c_void, CUlibrary, *const c_char) -> CUresult>,
    /// `cuLibraryGetKernelCount`
    pub cuLibraryGetKernelCount: Option<unsafe extern "C" fn(*mut c_uint, CUlibrary) -> CUresult>,
    /// `cuLibraryEnumerateKernels`
    pub cuLibraryEnumerateKernels:
        Option<unsafe extern "C" fn(*mut CUkernel, c_uint, CUlibrary) -> CUresult>,
    /// `cuKernelGetFunction`
    pub cuKernelGetFunction: Option<unsafe extern "C" fn(*mut CUfunction, CUkernel) -> CUresult>,
    /// `cuKernelGetLibrary`
    pub cuKernelGetLibrary: Option<unsafe extern "C" fn(*mut CUlibrary, CUkernel) -> CUresult>,
    /// `cuKernelGetAttribute`
    pub cuKernelGetAttribute: Option<
        unsafe extern "C" fn(*mut c_int, CUfunction_attribute, CUkernel, CUdevice) -> CUresult,
    >,
    /// `cuKernelSetAttribute`
    pub cuKernelSetAttribute:
        Option<unsafe extern "C" fn(CUfunction_attribute, c_int, CUkernel, CUdevice) -> CUresult>,
    /// `cuKernelSetCacheConfig`
    pub cuKernelSetCacheConfig:
        Option<unsafe extern "C" fn(CUkernel, CUfunc_cache, CUdevice) -> CUresult>,
    /// `cuKernelGetName`
    pub cuKernelGetName: Option<unsafe extern "C" fn(*mut *const c_char, CUkernel) -> CUresult>,
    /// `cuKernelGetParamCount`
    pub cuKernelGetParamCount: Option<unsafe extern "C" fn(CUkernel, *mut usize) -> CUresult>,
    /// `cuKernelGetParamInfo`
    pub cuKernelGetParamInfo:
        Option<unsafe extern "C" fn(CUkernel, usize, *mut usize, *mut usize) -> CUresult>,
    /// `cuLinkCreate_v2`
    pub cuLinkCreate_v2: Option<
        unsafe extern "C" fn(
            c_uint,
            *mut CUjit_option,
            *mut *mut c_void,
            *mut CUlinkState,
        ) -> CUresult,
    >,
    /// `cuLinkAddData_v2`
    pub cuLinkAddData_v2: Option<
        unsafe extern "C" fn(
            CUlinkState,
            CUjitInputType,
            *mut c_void,
            usize,
            *const c_char,
            c_uint,
            *mut CUjit_option,
            *mut *mut c_void,
        ) -> CUresult,
    >,
    /// `cuLinkAddFile_v2`
    pub cuLinkAddFile_v2: Option<
        unsafe extern "C" fn(
            CUlinkState,
            CUjitInputType,
            *const c_char,
            c_uint,
            *mut CUjit_option,
            *mut *mut c_void,
        ) -> CUresult,
    >,
    /// `cuLinkComplete`
    pub cuLinkComplete:
        Option<unsafe extern "C" fn(CUlinkState, *mut *mut c_void, *mut usize) -> CUresult>,
    /// `cuLinkDestroy`
    pub cuLinkDestroy: Option<unsafe extern "C" fn(CUlinkState) -> CUresult>,
    /// `cuLaunchKernel`
    pub cuLaunchKernel: Option<
        unsafe extern "C" fn(
            CUfunction,
            c_uint,
            c_uint,
            c_uint,
            c_uint,
            c_uint,
            c_uint,
            c_uint,
            CUstream,
            *mut *mut c_void,
            *mut *mut c_void,
        ) -> CUresult,
    >,
    /// `cuLaunchKernelEx`
    pub cuLaunchKernelEx: Option<
        unsafe extern "C" fn(
            *const CUlaunchConfig,
            CUfunction,
            *mut *mut c_void,
            *mut *mut c_void,
        ) -> CUresult,
    >,
    /// `cuLaunchCooperativeKernel`
    pub cuLaunchCooperativeKernel: Option<
        unsafe extern "C" fn(
            CUfunction,
            c_uint,
            c_uint,
            c_uint,
            c_uint,
            c_uint,
            c_uint,
            c_uint,
            CUstream,
            *mut *mut c_void,
        ) -> CUresult,
    >,
    /// `cuOccupancyMaxActiveBlocksPerMultiprocessor`
    pub cuOccupancyMaxActiveBlocksPerMultiprocessor:
        Option<unsafe extern "C" fn(*mut c_int, CUfunction, c_int, usize) -> CUresult>,
    /// `cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags`
    pub cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags:
        Option<unsafe extern "C" fn(*mut c_int, CUfunction, c_int, usize, c_uint) -> CUresult>,
    /// `cuOccupancyAvailableDynamicSMemPerBlock`
    pub cuOccupancyAvailableDynamicSMemPerBlock:
        Option<unsafe extern "C" fn(*mut usize, CUfunction, c_int, c_int) -> CUresult>,
    /// `cuOccupancyMaxPotentialBlockSize`
    pub cuOccupancyMaxPotentialBlockSize: Option<
        unsafe extern "C" fn(
            *mut c_int,
            *mut c_int,
            CUfunction,
            CUoccupancyB2DSize,
            usize,
            c_int,
        ) -> CUresult,
    >,
    /// `cuOccupancyMaxPotentialBlockSizeWithFlags`
    pub cuOccupancyMaxPotentialBlockSizeWithFlags: Option<
        unsafe extern "C" fn(
            *mut c_int,
            *mut c_int,
            CUfunction,
            CUoccupancyB2DSize,
            usize,
            c_int,
            c_uint,
        ) -> CUresult,
    >,
    /// `cuOccupancyMaxActiveClusters`
    pub cuOccupancyMaxActiveClusters:
        Option<unsafe extern "C" fn(*mut c_int, CUfunction, *const CUlaunchConfig) -> CUresult>,
    /// `cuOccupancyMaxPotentialClusterSize`
    pub cuOccupancyMaxPotentialClusterSize:
        Option<unsafe extern "C" fn(*mut c_int, CUfunction, *const CUlaunchConfig) -> CUresult>,
    /// `cuGraphCreate`
    pub cuGraphCreate: Option<unsafe extern "C" fn(*mut CUgraph, c_uint) -> CUresult>,
    /// `cuGraphClone`
    pub cuGraphClone: Option<unsafe extern "C" fn(*mut CUgraph, CUgraph) -> CUresult>,
    /// `cuGraphDestroy`
    pub cuGraphDestroy: Option<unsafe extern "C" fn(CUgraph) -> CUresult>,
    /// `cuGraphGetId`
    pub cuGraphGetId: Option<unsafe extern "C" fn(CUgraph, *mut c_uint) -> CUresult>,
    /// `cuGraphExecGetId`
    pub cuGraphExecGetId: Option<unsafe extern "C" fn(CUgraphExec, *mut c_uint) -> CUresult>,
    /// `cuGraphAddEmptyNode`
    pub cuGraphAddEmptyNode: Option<
        unsafe extern "C" fn(*mut CUgraphNode, CUgraph, *const CUgraphNode, usize) -> CUresult,
    >,
    /// `cuGraphGetNodes`
    pub cuGraphGetNodes:
        Option<unsafe extern "C" fn(CUgraph, *mut CUgraphNode, *mut usize) -> CUresult>,
    /// `cuGraphGetRootNodes`
    pub cuGraphGetRootNodes:
        Option<unsafe extern "C" fn(CUgraph, *mut CUgraphNode, *mut usize) -> CUresult>,
    /// `cuGraphGetEdges`
    pub cuGraphGetEdges: Option<
        unsafe extern "C" fn(CUgraph, *mut CUgraphNode, *mut CUgraphNode, *mut usize) -> CUresult,
    >,
    /// `cuGraphGetEdges_v2`
    pub cuGraphGetEdges_v2: Option<
        unsafe extern "C" fn(
            CUgraph,
            *mut CUgraphNode,
            *mut CUgraphNode,
            *mut CUgraphEdgeData,
            *mut usize,
        ) -> CUresult,
    >,
    /// `cuGraphAddDependencies`
    pub cuGraphAddDependencies: Option<
        unsafe extern "C" fn(CUgraph, *const CUgraphNode, *const CUgraphNode, usize) -> CUresult,
    >,
    /// `cuGraphAddDependencies_v2`
    pub cuGraphAddDependencies_v2: Option<
        unsafe extern "C" fn(
            CUgraph,
            *const CUgraphNode,
            *const CUgraphNode,
            *const CUgraphEdgeData,
            usize,
        ) -> CUresult,
    >,
    /// `cuGraphRemoveDependencies`
    pub cuGraphRemoveDependencies: Option<
        unsafe extern "C" fn(CUgraph, *const CUgraphNode, *const CUgraphNode, usize) -> CUresult,
    >,
    /// `cuGraphRemoveDependencies_v2`
    pub cuGraphRemoveDependencies_v2: Option<
        unsafe extern "C" fn(
            CUgraph,
            *const CUgraphNode,
            *const CUgraphNode,
            *const CUgraphEdgeData,
            usize,
        ) -> CUresult,
    >,
    /// `cuGraphNodeGetDependencies`
    pub cuGraphNodeGetDependencies:
        Option<unsafe extern "C" fn(CUgraphNode, *mut CUgraphNode, *mut usize) -> CUresult>,
    /// `cuGraphNodeGetDependencies_v2`
    pub cuGraphNodeGetDependencies_v2: Option<
        unsafe extern "C" fn(
            CUgraphNode,
            *mut CUgraphNode,
            *mut CUgraphEdgeData,
            *mut usize,
        ) -> CUresult,
    >,
    /// `cuGraphNodeGetDependentNodes`
    pub cuGraphNodeGetDependentNodes:
        Option<unsafe extern "C" fn(CUgraphNode, *mut CUgraphNode, *mut usize) -> CUresult>,
    /// `cuGraphNodeGetDependentNodes_v2`
    pub cuGraphNodeGetDependentNodes_v2: Option<
        unsafe extern "C" fn(
            CUgraphNode,
            *mut CUgraphNode,
            *mut CUgraphEdgeData,
            *mut usize,
        ) -> CUresult,
    >,
    /// `cuGraphNodeFindInClone`
    pub cuGraphNodeFindInClone:
        Option<unsafe extern "C" fn(*mut CUgraphNode, CUgraphNode, CUgraph) -> CUresult>,
    /// `cuGraphNodeGetContainingGraph`
    pub cuGraphNodeGetContainingGraph:
        Option<unsafe extern "C" fn(CUgraphNode, *mut CUgraph) -> CUresult>,
    /// `cuGraphNodeGetLocalId`
    pub cuGraphNodeGetLocalId: Option<unsafe extern "C" fn(CUgraphNode, *mut c_uint) -> CUresult>,
    /// `cuGraphNodeGetToolsId`
    pub cuGraphNodeGetToolsId:
        Option<unsafe extern "C" fn(CUgraphNode, *mut c_ulonglong) -> CUresult>,
    /// `cuGraphNodeGetType`
    pub cuGraphNodeGetType:
        Option<unsafe extern "C" fn(CUgraphNode, *mut CUgraphNodeType) -> CUresult>,
    /// `cuGraphDestroyNode`
    pub cuGraphDestroyNode: Option<unsafe extern "C" fn(CUgraphNode) -> CUresult>,
    /// `cuGraphChildGraphNodeGetGraph`
    pub cuGraphChildGraphNodeGetGraph:
        Option<unsafe extern "C" fn(CUgraphNode, *mut CUgraph) -> CUresult>,
    /// `cuGraphEventRecordNodeGetEvent`
    pub cuGraphEventRecordNodeGetEvent:
        Option<unsafe extern "C" fn(CUgraphNode, *mut CUevent) -> CUresult>,
    /// `cuGraphEventWaitNodeGetEvent`
    pub cuGraphEventWaitNodeGetEvent:
        Option<unsafe extern "C" fn(CUgraphNode, *mut CUevent) -> CUresult>,
    /// `cuGraphMemFreeNodeGetParams`
    pub cuGraphMemFreeNodeGetParams:
        Option<unsafe extern "C" fn(CUgraphNode, *mut CUdeviceptr) -> CUresult>,
    /// `cuGraphMemsetNodeGetParams`
    pub cuGraphMemsetNodeGetParams:
        Option<unsafe extern "C" fn(CUgraphNode, *mut CUDA_MEMSET_NODE_PARAMS) -> CUresult>,
    /// `cuGraphConditionalHandleCreate`
    pub cuGraphConditionalHandleCreate: Option<
        unsafe extern "C" fn(
            *mut CUgraphConditionalHandle,
            CUgraph,
            CUcontext,
            c_uint,
            c_uint,
        ) -> CUresult,
    >,
    /// `cuGraphKernelNodeGetAttribute`
    pub cuGraphKernelNodeGetAttribute: Option<
        unsafe extern "C" fn(
            CUgraphNode,
            CUkernelNodeAttrID,
            *mut CUkernelNodeAttrValue,
        ) -> CUresult,
    >,
    /// `cuGraphKernelNodeSetAttribute`
    pub cuGraphKernelNodeSetAttribute: Option<
        unsafe extern "C" fn(
            CUgraphNode,
            CUkernelNodeAttrID,
            *const CUkernelNodeAttrValue,
        ) -> CUresult,
    >,
    /// `cuGraphKernelNodeCopyAttributes`
    pub cuGraphKernelNodeCopyAttributes:
        Option<unsafe extern "C" fn(CUgraphNode, CUgraphNode) -> CUresult>,
    /// `cuGraphAddKernelNode`
    pub cuGraphAddKernelNode: Option<
        unsafe extern "C" fn(
            *mut CUgraphNode,
            CUgraph,
            *const CUgraphNode,
            usize,
            *const CUDA_KERNEL_NODE_PARAMS,
        ) -> CUresult,
    >,
    /// `cuGraphAddKernelNode_v2`
    pub cuGraphAddKernelNode_v2: Option<
        unsafe extern "C" fn(
            *mut CUgraphNode,
            CUgraph,
            *const CUgraphNode,
            usize,
            *const CUDA_KERNEL_NODE_PARAMS,
        ) -> CUresult,
    >,
    /// `cuGraphAddMemcpyNode`
    pub cuGraphAddMemcpyNode: Option<
        unsafe extern "C" fn(
            *mut CUgraphNode,
            CUgraph,
            *const CUgraphNode,
            usize,
            *const CUDA_MEMCPY3D,
            CUcontext,
        ) -> CUresult,
    >,
    /// `cuGraphAddMemsetNode`
    pub cuGraphAddMemsetNode: Option<
        unsafe extern "C" fn(
            *mut CUgraphNode,
            CUgraph,
            *const CUgraphNode,
            usize,
            *const CUDA_MEMSET_NODE_PARAMS,
            CUcontext,
        ) -> CUresult,
    >,
    /// `cuGraphAddHostNode`
    pub cuGraphAddHostNode: Option<
        unsafe extern "C" fn(
            *mut CUgraphNode,
            CUgraph,
            *const CUgraphNode,
            usize,
            *const CUDA_HOST_NODE_PARAMS,
        ) -> CUresult,
    >,
    /// `cuGraphAddChildGraphNode`
    pub cuGraphAddChildGraphNode: Option<
        unsafe extern "C" fn(
            *mut CUgraphNode,
            CUgraph,
            *const CUgraphNode,
            usize,
            CUgraph,
        ) -> CUresult,
    >,
    /// `cuGraphAddEventRecordNode`
    pub cuGraphAddEventRecordNode: Option<
        unsafe extern "C" fn(
            *mut CUgraphNode,
            CUgraph,
            *const CUgraphNode,
            usize,
            CUevent,
        ) -> CUresult,
    >,
    /// `cuGraphAddEventWaitNode`
    pub cuGraphAddEventWaitNode: Option<
        unsafe extern "C" fn(
            *mut CUgraphNode,
            CUgraph,
            *const CUgraphNode,
            usize,
            CUevent,
        ) -> CUresult,
    >,
    /// `cuGraphAddMemAllocNode`
    pub cuGraphAddMemAllocNode: Option<
        unsafe extern "C" fn(
            *mut CUgraphNode,
            CUgraph,
            *const CUgraphNode,
            usize,
            *mut CUDA_MEM_ALLOC_NODE_PARAMS,
        ) -> CUresult,
    >,
    /// `cuGraphAddMemFreeNode`
    pub cuGraphAddMemFreeNode: Option<
        unsafe extern "C" fn(
            *mut CUgraphNode,
            CUgraph,
            *const CUgraphNode,
            usize,
            CUdeviceptr,
        ) -> CUresult,
    >,
    /// `cuGraphAddNode`
    pub cuGraphAddNode: Option<
        unsafe extern "C" fn(
            *mut CUgraphNode,
            CUgraph,
            *const CUgraphNode,
            usize,
            *mut CUgraphNodeParams,
        ) -> CUresult,
    >,
    /// `cuGraphAddNode_v2`
    pub cuGraphAddNode_v2: Option<
        unsafe extern "C" fn(
            *mut CUgraphNode,
            CUgraph,
            *const CUgraphNode,
            *const CUgraphEdgeData,
            usize,
            *mut CUgraphNodeParams,
        ) -> CUresult,
    >,
    /// `cuGraphNodeSetParams`
    pub cuGraphNodeSetParams:
        Option<unsafe extern "C" fn(CUgraphNode, *mut CUgraphNodeParams) -> CUresult>,
    /// `cuGraphExecNodeSetParams`
    pub cuGraphExecNodeSetParams:
        Option<unsafe extern "C" fn(CUgraphExec, CUgraphNode, *mut CUgraphNodeParams) -> CUresult>,
    /// `cuGraphKernelNodeSetParams`
    pub cuGraphKernelNodeSetParams:
        Option<unsafe extern "C" fn(CUgraphNode, *const CUDA_KERNEL_NODE_PARAMS) -> CUresult>,
    /// `cuGraphKernelNodeSetParams_v2`
    pub cuGraphKernelNodeSetParams_v2:
        Option<unsafe extern "C" fn(CUgraphNode, *const CUDA_KERNEL_NODE_PARAMS) -> CUresult>,
    /// `cuGraphMemcpyNodeSetParams`
    pub cuGraphMemcpyNodeSetParams:
        Option<unsafe extern "C" fn(CUgraphNode, *const CUDA_MEMCPY3D) -> CUresult>,
    /// `cuGraphMemsetNodeSetParams`
    pub cuGraphMemsetNodeSetParams:
        Option<unsafe extern "C" fn(CUgraphNode, *const CUDA_MEMSET_NODE_PARAMS) -> CUresult>,
    /// `cuGraphHostNodeSetParams`
    pub cuGraphHostNodeSetParams:
        Option<unsafe extern "C" fn(CUgraphNode, *const CUDA_HOST_NODE_PARAMS) -> CUresult>,
    /// `cuGraphEventRecordNodeSetEvent`
    pub cuGraphEventRecordNodeSetEvent:
        Option<unsafe extern "C" fn(CUgraphNode, CUevent) -> CUresult>,
    /// `cuGraphEventWaitNodeSetEvent`
    pub cuGraphEventWaitNodeSetEvent:
        Option<unsafe extern "C" fn(CUgraphNode, CUevent) -> CUresult>,
    /// `cuGraphExecKernelNodeSetParams`
    pub cuGraphExecKernelNodeSetParams: Option<
        unsafe extern "C" fn(CUgraphExec, CUgraphNode, *const CUDA_KERNEL_NODE_PARAMS) -> CUresult,
    >,
    /// `cuGraphExecKernelNodeSetParams_v2`
    pub cuGraphExecKernelNodeSetParams_v2: Option<
        unsafe extern "C" fn(CUgraphExec, CUgraphNode, *const CUDA_KERNEL_NODE_PARAMS) -> CUresult,
    >,
    /// `cuGraphExecMemcpyNodeSetParams`
    pub cuGraphExecMemcpyNodeSetParams: Option<
        unsafe extern "C" fn(CUgraphExec, CUgraphNode, *const CUDA_MEMCPY3D, CUcontext) -> CUresult,
    >,
    /// `cuGraphExecMemsetNodeSetParams`
    pub cuGraphExecMemsetNodeSetParams: Option<
        unsafe extern "C" fn(
            CUgraphExec,
            CUgraphNode,
            *const CUDA_MEMSET_NODE_PARAMS,
            CUcontext,
        ) -> CUresult,
    >,
    /// `cuGraphExecHostNodeSetParams`
    pub cuGraphExecHostNodeSetParams: Option<
        unsafe extern "C" fn(CUgraphExec, CUgraphNode, *const CUDA_HOST_NODE_PARAMS) -> CUresult,
    >,
    /// `cuGraphExecChildGraphNodeSetParams`
    pub cuGraphExecChildGraphNodeSetParams:
        Option<unsafe extern "C" fn(CUgraphExec, CUgraphNode, CUgraph) -> CUresult>,
    /// `cuGraphExecEventRecordNodeSetEvent`
    pub cuGraphExecEventRecordNodeSetEvent:
        Option<unsafe extern "C" fn(CUgraphExec, CUgraphNode, CUevent) -> CUresult>,
    /// `cuGraphExecEventWaitNodeSetEvent`
    pub cuGraphExecEventWaitNodeSetEvent:
        Option<unsafe extern "C" fn(CUgraphExec, CUgraphNode, CUevent) -> CUresult>,
    /// `cuGraphNodeGetParams`
    pub cuGraphNodeGetParams:
        Option<unsafe extern "C" fn(CUgraphNode, *mut CUgraphNodeParams) -> CUresult>,
    /// `cuGraphKernelNodeGetParams`
    pub cuGraphKernelNodeGetParams:
        Option<unsafe extern "C" fn(CUgraphNode, *mut CUDA_KERNEL_NODE_PARAMS) -> CUresult>,
    /// `cuGraphKernelNodeGetParams_v2`
    pub cuGraphKernelNodeGetParams_v2:
        Option<unsafe extern "C" fn(CUgraphNode, *mut CUDA_KERNEL_NODE_PARAMS) -> CUresult>,
    /// `cuGraphMemcpyNodeGetParams`
    pub cuGraphMemcpyNodeGetParams:
        Option<unsafe extern "C" fn(CUgraphNode, *mut CUDA_MEMCPY3D) -> CUresult>,
    /// `cuGraphHostNodeGetParams`
    pub cuGraphHostNodeGetParams:
        Option<unsafe extern "C" fn(CUgraphNode, *mut CUDA_HOST_NODE_PARAMS) -> CUresult>,
    /// `cuGraphMemAllocNodeGetParams`
    pub cuGraphMemAllocNodeGetParams:
        Option<unsafe extern "C" fn(CUgraphNode, *mut CUDA_MEM_ALLOC_NODE_PARAMS) -> CUresult>,
    /// `cuGraphInstantiate_v2`
    pub cuGraphInstantiate_v2: Option<
        unsafe extern "C" fn(
            *mut CUgraphExec,
            CUgraph,
            *mut CUgraphNode,
            *mut c_char,
            usize,
        ) -> CUresult,
    >,
    /// `cuGraphInstantiateWithFlags`
    pub cuGraphInstantiateWithFlags:
        Option<unsafe extern "C" fn(*mut CUgraphExec, CUgraph, c_ulonglong) -> CUresult>,
    /// `cuGraphInstantiateWithParams`
    pub cuGraphInstantiateWithParams: Option<
        unsafe extern "C" fn(
            *mut CUgraphExec,
            CUgraph,
            *mut CUDA_GRAPH_INSTANTIATE_PARAMS,
        ) -> CUresult,
    >,
    /// `cuGraphExecUpdate`
    pub cuGraphExecUpdate: Option<
        unsafe extern "C" fn(
            CUgraphExec,
            CUgraph,
            *mut CUgraphNode,
            *mut CUgraphExecUpdateResult,
        ) -> CUresult,
    >,
    /// `cuGraphExecUpdate_v2`
    pub cuGraphExecUpdate_v2: Option<
        unsafe extern "C" fn(CUgraphExec, CUgraph, *mut CUgraphExecUpdateResultInfo) -> CUresult,
    >,
    /// `cuGraphDebugDotPrint`
    pub cuGraphDebugDotPrint:
        Option<unsafe extern "C" fn(CUgraph, *const c_char, c_uint) -> CUresult>,
    /// `cuGraphExecGetFlags`
    pub cuGraphExecGetFlags: Option<unsafe extern "C" fn(CUgraphExec, *mut cuuint64_t) -> CUresult>,
    /// `cuGraphNodeGetEnabled`
    pub cuGraphNodeGetEnabled:
        Option<unsafe extern "C" fn(CUgraphExec, CUgraphNode, *mut c_uint) -> CUresult>,
    /// `cuGraphNodeSetEnabled`
    pub cuGraphNodeSetEnabled:
        Option<unsafe extern "C" fn(CUgraphExec, CUgraphNode, c_uint) -> CUresult>,
    /// `cuGraphUpload`
    pub cuGraphUpload: Option<unsafe extern "C" fn(CUgraphExec, CUstream) -> CUresult>,
    /// `cuGraphLaunch`
    pub cuGraphLaunch: Option<unsafe extern "C" fn(CUgraphExec, CUstream) -> CUresult>,
    /// `cuGraphExecDestroy`
    pub cuGraphExecDestroy: Option<unsafe extern "C" fn(CUgraphExec) -> CUresult>,
    /// `cuUserObjectCreate`
    pub cuUserObjectCreate: Option<
        unsafe extern "C" fn(*mut CUuserObject, *mut c_void, CUhostFn, c_uint, c_uint) -> CUresult,
    >,
    /// `cuUserObjectRetain`
    pub cuUserObjectRetain: Option<unsafe extern "C" fn(CUuserObject, c_uint) -> CUresult>,
    /// `cuUserObjectRelease`
    pub cuUserObjectRelease: Option<unsafe extern "C" fn(CUuserObject, c_uint) -> CUresult>,
    /// `cuGraphRetainUserObject`
    pub cuGraphRetainUserObject:
        Option<unsafe extern "C" fn(CUgraph, CUuserObject, c_uint, c_uint) -> CUresult>,
    /// `cuGraphReleaseUserObject`
    pub cuGraphReleaseUserObject:
        Option<unsafe extern "C" fn(CUgraph, CUuserObject, c_uint) -> CUresult>,
    /// `cuTensorMapEncodeTiled`
    pub cuTensorMapEncodeTiled: Option<
        unsafe extern "C" fn(
            *mut CUtensorMap,
            CUtensorMapDataType,
            cuuint32_t,
            *mut c_void,
            *const cuuint64_t,
            *const cuuint64_t,
            *const cuuint32_t,
            *const cuuint32_t,
            CUtensorMapInterleave,
            CUtensorMapSwizzle,
            CUtensorMapL2promotion,
            CUtensorMapFloatOOBfill,
        ) -> CUresult,
    >,
    /// `cuTensorMapEncodeIm2col`
    pub cuTensorMapEncodeIm2col: Option<
        unsafe extern "C" fn(
            *mut CUtensorMap,
            CUtensorMapDataType,
            cuuint32_t,
            *mut c_void,
            *const cuuint64_t,
            *const cuuint64_t,
            *const c_int,
            *const c_int,
            cuuint32_t,
            cuuint32_t,
            *const cuuint32_t,
            CUtensorMapInterleave,
            CUtensorMapSwizzle,
            CUtensorMapL2promotion,
            CUtensorMapFloatOOBfill,
        ) -> CUresult,
    >,
    /// `cuTensorMapReplaceAddress`
    pub cuTensorMapReplaceAddress:
        Option<unsafe extern "C" fn(*mut CUtensorMap, *mut c_void) -> CUresult>,
    /// `cuArrayCreate_v2`
    pub cuArrayCreate_v2:
        Option<unsafe extern "C" fn(*mut CUarray, *const CUDA_ARRAY_DESCRIPTOR) -> CUresult>,
    /// `cuArrayGetDescriptor_v2`
    pub cuArrayGetDescriptor_v2:
        Option<unsafe extern "C" fn(*mut CUDA_ARRAY_DESCRIPTOR, CUarray) -> CUresult>,
    /// `cuArray3DCreate_v2`
    pub cuArray3DCreate_v2:
        Option<unsafe extern "C" fn(*mut CUarray, *const CUDA_ARRAY3D_DESCRIPTOR) -> CUresult>,
    /// `cuArray3DGetDescriptor_v2`
    pub cuArray3DGetDescriptor_v2:
        Option<unsafe extern "C" fn(*mut CUDA_ARRAY3D_DESCRIPTOR, CUarray) -> CUresult>,
    /// `cuArrayDestroy`
    pub cuArrayDestroy: Option<unsafe extern "C" fn(CUarray) -> CUresult>,
    /// `cuArrayGetMemoryRequirements`
    pub cuArrayGetMemoryRequirements: Option<
        unsafe extern "C" fn(*mut CUDA_ARRAY_MEMORY_REQUIREMENTS, CUarray, CUdevice) -> CUresult,
    >,
    /// `cuArrayGetPlane`
    pub cuArrayGetPlane: Option<unsafe extern "C" fn(*mut CUarray, CUarray, c_uint) -> CUresult>,
    /// `cuMipmappedArrayCreate`
    pub cuMipmappedArrayCreate: Option<
        unsafe extern "C" fn(
            *mut CUmipmappedArray,
            *const CUDA_ARRAY3D_DESCRIPTOR,
            c_uint,
        ) -> CUresult,
    >,
    /// `cuMipmappedArrayGetLevel`
    pub cuMipmappedArrayGetLevel:
        Option<unsafe extern "C" fn(*mut CUarray, CUmipmappedArray, c_uint) -> CUresult>,
    /// `cuArrayGetSparseProperties`
    pub cuArrayGetSparseProperties:
        Option<unsafe extern "C" fn(*mut CUDA_ARRAY_SPARSE_PROPERTIES, CUarray) -> CUresult>,
    /// `cuMipmappedArrayGetSparseProperties`
    pub cuMipmappedArrayGetSparseProperties: Option<
        unsafe extern "C" fn(*mut CUDA_ARRAY_SPARSE_PROPERTIES, CUmipmappedArray) -> CUresult,
    >,
    /// `cuMipmappedArrayGetMemoryRequirements`
    pub cuMipmappedArrayGetMemoryRequirements: Option<
        unsafe extern "C" fn(
            *mut CUDA_ARRAY_MEMORY_REQUIREMENTS,
            CUmipmappedArray,
            CUdevice,
        ) -> CUresult,
    >,
    /// `cuMipmappedArrayDestroy`
    pub cuMipmappedArrayDestroy: Option<unsafe extern "C" fn(CUmipmappedArray) -> CUresult>,
    /// `cuMemcpyHtoA_v2`
    pub cuMemcpyHtoA_v2:
        Option<unsafe extern "C" fn(CUarray, usize, *const c_void, usize) -> CUresult>,
    /// `cuMemcpyHtoAAsync_v2`
    pub cuMemcpyHtoAAsync_v2:
        Option<unsafe extern "C" fn(CUarray, usize, *const c_void, usize, CUstream) -> CUresult>,
    /// `cuMemcpyAtoH_v2`
    pub cuMemcpyAtoH_v2:
        Option<unsafe extern "C" fn(*mut c_void, CUarray, usize, usize) -> CUresult>,
    /// `cuMemcpyAtoHAsync_v2`
    pub cuMemcpyAtoHAsync_v2:
        Option<unsafe extern "C" fn(*mut c_void, CUarray, usize, usize, CUstream) -> CUresult>,
    /// `cuMemcpyDtoA_v2`
    pub cuMemcpyDtoA_v2:
        Option<unsafe extern "C" fn(CUarray, usize, CUdeviceptr, usize) -> CUresult>,
    /// `cuMemcpyAtoD_v2`
    pub cuMemcpyAtoD_v2:
        Option<unsafe extern "C" fn(CUdeviceptr, CUarray, usize, usize) -> CUresult>,
    /// `cuMemcpyAtoA_v2`
    pub cuMemcpyAtoA_v2:
        Option<unsafe extern "C" fn(CUarray, usize, CUarray, usize, usize) -> CUresult>,
    /// `cuTexObjectCreate`
    pub cuTexObjectCreate: Option<
        unsafe extern "C" fn(
            *mut CUtexObject,
            *const CUDA_RESOURCE_DESC,
            *const CUDA_TEXTURE_DESC,
            *const CUDA_RESOURCE_VIEW_DESC,
        ) -> CUresult,
    >,
    /// `cuTexObjectDestroy`
    pub cuTexObjectDestroy: Option<unsafe extern "C" fn(CUtexObject) -> CUresult>,
    /// `cuTexObjectGetResourceDesc`
    pub cuTexObjectGetResourceDesc:
        Option<unsafe extern "C" fn(*mut CUDA_RESOURCE_DESC, CUtexObject) -> CUresult>,
    /// `cuTexObjectGetTextureDesc`
    pub cuTexObjectGetTextureDesc:
        Option<unsafe extern "C" fn(*mut CUDA_TEXTURE_DESC, CUtexObject) -> CUresult>,
    /// `cuTexObjectGetResourceViewDesc`
    pub cuTexObjectGetResourceViewDesc:
        Option<unsafe extern "C" fn(*mut CUDA_RESOURCE_VIEW_DESC, CUtexObject) -> CUresult>,
    /// `cuSurfObjectCreate`
    pub cuSurfObjectCreate:
        Option<unsafe extern "C" fn(*mut CUsurfObject, *const CUDA_RESOURCE_DESC) -> CUresult>,
    /// `cuSurfObjectDestroy`
    pub cuSurfObjectDestroy: Option<unsafe extern "C" fn(CUsurfObject) -> CUresult>,
    /// `cuSurfObjectGetResourceDesc`
    pub cuSurfObjectGetResourceDesc:
        Option<unsafe extern "C" fn(*mut CUDA_RESOURCE_DESC, CUsurfObject) -> CUresult>,
    /// `cuModuleGetTexRef`
    pub cuModuleGetTexRef:
        Option<unsafe extern "C" fn(*mut CUtexref, CUmodule, *const c_char) -> CUresult>,
    /// `cuModuleGetSurfRef`
    pub cuModuleGetSurfRef:
        Option<unsafe extern "C" fn(*mut CUsurfref, CUmodule, *const c_char) -> CUresult>,
    /// `cuTexRefCreate`
    pub cuTexRefCreate: Option<unsafe extern "C" fn(*mut CUtexref) -> CUresult>,
    /// `cuTexRefDestroy`
    pub cuTexRefDestroy: Option<unsafe extern "C" fn(CUtexref) -> CUresult>,
    /// `cuTexRefSetArray`
    pub cuTexRefSetArray: Option<unsafe extern "C" fn(CUtexref, CUarray, c_uint) -> CUresult>,
    /// `cuTexRefSetMipmappedArray`
    pub cuTexRefSetMipmappedArray:
        Option<unsafe extern "C" fn(CUtexref, CUmipmappedArray, c_uint) -> CUresult>,
    /// `cuTexRefSetAddress_v2`
    pub cuTexRefSetAddress_v2:
        Option<unsafe extern "C" fn(*mut usize, CUtexref, CUdeviceptr, usize) -> CUresult>,
    /// `cuTexRefSetAddress2D_v3`
    pub cuTexRefSetAddress2D_v3: Option<
        unsafe extern "C" fn(
            CUtexref,
            *const CUDA_ARRAY_DESCRIPTOR,
            CUdeviceptr,
            usize,
        ) -> CUresult,
    >,
    /// `cuTexRefSetFormat`
    pub cuTexRefSetFormat:
        Option<unsafe extern "C" fn(CUtexref, CUarray_format, c_int) -> CUresult>,
    /// `cuTexRefSetAddressMode`
    pub cuTexRefSetAddressMode:
        Option<unsafe extern "C" fn(CUtexref, c_int, CUaddress_mode) -> CUresult>,
    /// `cuTexRefSetFilterMode`
    pub cuTexRefSetFilterMode: Option<unsafe extern "C" fn(CUtexref, CUfilter_mode) -> CUresult>,
    /// `cuTexRefSetMipmapFilterMode`
    pub cuTexRefSetMipmapFilterMode:
        Option<unsafe extern "C" fn(CUtexref, CUfilter_mode) -> CUresult>,
    /// `cuTexRefSetMipmapLevelBias`
    pub cuTexRefSetMipmapLevelBias: Option<unsafe extern "C" fn(CUtexref, f32) -> CUresult>,
    /// `cuTexRefSetMipmapLevelClamp`
    pub cuTexRefSetMipmapLevelClamp: Option<unsafe extern "C" fn(CUtexref, f32, f32) -> CUresult>,
    /// `cuTexRefSetMaxAnisotropy`
    pub cuTexRefSetMaxAnisotropy: Option<unsafe extern "C" fn(CUtexref, c_uint) -> CUresult>,
    /// `cuTexRefSetBorderColor`
    pub cuTexRefSetBorderColor: Option<unsafe extern "C" fn(CUtexref, *mut f32) -> CUresult>,
    /// `cuTexRefSetFlags`
    pub cuTexRefSetFlags: Option<unsafe extern "C" fn(CUtexref, c_uint) -> CUresult>,
    /// `cuTexRefGetAddress_v2`
    pub cuTexRefGetAddress_v2: Option<unsafe extern "C" fn(*mut CUdeviceptr, CUtexref) -> CUresult>,
    /// `cuTexRefGetArray`
    pub cuTexRefGetArray: Option<unsafe extern "C" fn(*mut CUarray, CUtexref) -> CUresult>,
    /// `cuTexRefGetMipmappedArray`
    pub cuTexRefGetMipmappedArray:
        Option<unsafe extern "C" fn(*mut CUmipmappedArray, CUtexref) -> CUresult>,
    /// `cuTexRefGetAddressMode`
    pub cuTexRefGetAddressMode:
        Option<unsafe extern "C" fn(*mut CUaddress_mode, CUtexref, c_int) -> CUresult>,
    /// `cuTexRefGetFilterMode`
    pub cuTexRefGetFilterMode:
        Option<unsafe extern "C" fn(*mut CUfilter_mode, CUtexref) -> CUresult>,
    /// `cuTexRefGetFormat`
    pub cuTexRefGetFormat:
        Option<unsafe extern "C" fn(*mut CUarray_format, *mut c_int, CUtexref) -> CUresult>,
    /// `cuTexRefGetMipmapFilterMode`
    pub cuTexRefGetMipmapFilterMode:
        Option<unsafe extern "C" fn(*mut CUfilter_mode, CUtexref) -> CUresult>,
    /// `cuTexRefGetMipmapLevelBias`
    pub cuTexRefGetMipmapLevelBias: Option<unsafe extern "C" fn(*mut f32, CUtexref) -> CUresult>,
    /// `cuTexRefGetMipmapLevelClamp`
    pub cuTexRefGetMipmapLevelClamp:
        Option<unsafe extern "C" fn(*mut f32, *mut f32, CUtexref) -> CUresult>,
    /// `cuTexRefGetMaxAnisotropy`
    pub cuTexRefGetMaxAnisotropy: Option<unsafe extern "C" fn(*mut c_int, CUtexref) -> CUresult>,
    /// `cuTexRefGetBorderColor`
    pub cuTexRefGetBorderColor: Option<unsafe extern "C" fn(*mut f32, CUtexref) -> CUresult>,
    /// `cuTexRefGetFlags`
    pub cuTexRefGetFlags: Option<unsafe extern "C" fn(*mut c_uint, CUtexref) -> CUresult>,
    /// `cuSurfRefSetArray`
    pub cuSurfRefSetArray: Option<unsafe extern "C" fn(CUsurfref, CUarray, c_uint) -> CUresult>,
    /// `cuSurfRefGetArray`
    pub cuSurfRefGetArray: Option<unsafe extern "C" fn(*mut CUarray, CUsurfref) -> CUresult>,
}

impl Driver {
    /// Loads the library at `path`, and finds its functions.
    ///
    /// # Errors
    ///
    /// What the dynamic linker says.
    pub fn load(path: &Path) -> Result<Self, libloading::Error> {
        let library = unsafe { libloading::Library::new(path) }?;
        Ok(Self {
            cuInit: unsafe { library.get(c"cuInit".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuDriverGetVersion: unsafe { library.get(c"cuDriverGetVersion".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuGetErrorName: unsafe { library.get(c"cuGetErrorName".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuGetErrorString: unsafe { library.get(c"cuGetErrorString".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuGetProcAddress: unsafe { library.get(c"cuGetProcAddress".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuGetProcAddress_v2: unsafe { library.get(c"cuGetProcAddress_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuGetExportTable: unsafe { library.get(c"cuGetExportTable".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuDeviceGet: unsafe { library.get(c"cuDeviceGet".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuDeviceGetCount: unsafe { library.get(c"cuDeviceGetCount".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuDeviceGetName: unsafe { library.get(c"cuDeviceGetName".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuDeviceGetUuid: unsafe { library.get(c"cuDeviceGetUuid".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuDeviceGetUuid_v2: unsafe { library.get(c"cuDeviceGetUuid_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuDeviceTotalMem_v2: unsafe { library.get(c"cuDeviceTotalMem_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuDeviceGetAttribute: unsafe {
                library.get(c"cuDeviceGetAttribute".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuDeviceGetPCIBusId: unsafe { library.get(c"cuDeviceGetPCIBusId".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuDeviceGetByPCIBusId: unsafe {
                library.get(c"cuDeviceGetByPCIBusId".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuDeviceComputeCapability: unsafe {
                library.get(c"cuDeviceComputeCapability".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuDeviceGetProperties: unsafe {
                library.get(c"cuDeviceGetProperties".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuDeviceCanAccessPeer: unsafe {
                library.get(c"cuDeviceCanAccessPeer".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuDeviceGetP2PAttribute: unsafe {
                library.get(c"cuDeviceGetP2PAttribute".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuDeviceGetTexture1DLinearMaxWidth: unsafe {
                library.get(c"cuDeviceGetTexture1DLinearMaxWidth".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuDeviceGetExecAffinitySupport: unsafe {
                library.get(c"cuDeviceGetExecAffinitySupport".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuDeviceGetHostAtomicCapabilities: unsafe {
                library.get(c"cuDeviceGetHostAtomicCapabilities".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuDeviceGetP2PAtomicCapabilities: unsafe {
                library.get(c"cuDeviceGetP2PAtomicCapabilities".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuDeviceGetGraphMemAttribute: unsafe {
                library.get(c"cuDeviceGetGraphMemAttribute".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuDeviceSetGraphMemAttribute: unsafe {
                library.get(c"cuDeviceSetGraphMemAttribute".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuDeviceGraphMemTrim: unsafe {
                library.get(c"cuDeviceGraphMemTrim".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuProfilerStart: unsafe { library.get(c"cuProfilerStart".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuProfilerStop: unsafe { library.get(c"cuProfilerStop".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuFlushGPUDirectRDMAWrites: unsafe {
                library.get(c"cuFlushGPUDirectRDMAWrites".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuLogsRegisterCallback: unsafe {
                library.get(c"cuLogsRegisterCallback".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuLogsUnregisterCallback: unsafe {
                library.get(c"cuLogsUnregisterCallback".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuDevicePrimaryCtxRetain: unsafe {
                library.get(c"cuDevicePrimaryCtxRetain".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuDevicePrimaryCtxRelease_v2: unsafe {
                library.get(c"cuDevicePrimaryCtxRelease_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuDevicePrimaryCtxReset_v2: unsafe {
                library.get(c"cuDevicePrimaryCtxReset_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuDevicePrimaryCtxGetState: unsafe {
                library.get(c"cuDevicePrimaryCtxGetState".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuDevicePrimaryCtxSetFlags_v2: unsafe {
                library.get(c"cuDevicePrimaryCtxSetFlags_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuCtxCreate_v2: unsafe { library.get(c"cuCtxCreate_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuCtxCreate_v3: unsafe { library.get(c"cuCtxCreate_v3".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuCtxCreate_v4: unsafe { library.get(c"cuCtxCreate_v4".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuCtxDestroy_v2: unsafe { library.get(c"cuCtxDestroy_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuCtxAttach: unsafe { library.get(c"cuCtxAttach".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuCtxDetach: unsafe { library.get(c"cuCtxDetach".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuCtxGetCurrent: unsafe { library.get(c"cuCtxGetCurrent".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuCtxSetCurrent: unsafe { library.get(c"cuCtxSetCurrent".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuCtxPushCurrent_v2: unsafe { library.get(c"cuCtxPushCurrent_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuCtxPopCurrent_v2: unsafe { library.get(c"cuCtxPopCurrent_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuCtxGetDevice: unsafe { library.get(c"cuCtxGetDevice".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuCtxGetDevice_v2: unsafe { library.get(c"cuCtxGetDevice_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuCtxGetApiVersion: unsafe { library.get(c"cuCtxGetApiVersion".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuCtxGetFlags: unsafe { library.get(c"cuCtxGetFlags".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuCtxSetFlags: unsafe { library.get(c"cuCtxSetFlags".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuCtxGetId: unsafe { library.get(c"cuCtxGetId".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuCtxGetStreamPriorityRange: unsafe {
                library.get(c"cuCtxGetStreamPriorityRange".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuCtxSynchronize: unsafe { library.get(c"cuCtxSynchronize".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuCtxSynchronize_v2: unsafe { library.get(c"cuCtxSynchronize_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuCtxGetLimit: unsafe { library.get(c"cuCtxGetLimit".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuCtxSetLimit: unsafe { library.get(c"cuCtxSetLimit".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuCtxGetCacheConfig: unsafe { library.get(c"cuCtxGetCacheConfig".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuCtxSetCacheConfig: unsafe { library.get(c"cuCtxSetCacheConfig".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuCtxGetSharedMemConfig: unsafe {
                library.get(c"cuCtxGetSharedMemConfig".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuCtxSetSharedMemConfig: unsafe {
                library.get(c"cuCtxSetSharedMemConfig".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuCtxGetExecAffinity: unsafe {
                library.get(c"cuCtxGetExecAffinity".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuCtxResetPersistingL2Cache: unsafe {
                library.get(c"cuCtxResetPersistingL2Cache".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuCtxEnablePeerAccess: unsafe {
                library.get(c"cuCtxEnablePeerAccess".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuCtxDisablePeerAccess: unsafe {
                library.get(c"cuCtxDisablePeerAccess".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuCtxRecordEvent: unsafe { library.get(c"cuCtxRecordEvent".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuCtxWaitEvent: unsafe { library.get(c"cuCtxWaitEvent".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemAlloc_v2: unsafe { library.get(c"cuMemAlloc_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemAllocPitch_v2: unsafe { library.get(c"cuMemAllocPitch_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemAllocManaged: unsafe { library.get(c"cuMemAllocManaged".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemFree_v2: unsafe { library.get(c"cuMemFree_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemGetInfo_v2: unsafe { library.get(c"cuMemGetInfo_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemGetAddressRange_v2: unsafe {
                library.get(c"cuMemGetAddressRange_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemAllocAsync: unsafe { library.get(c"cuMemAllocAsync".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemAllocFromPoolAsync: unsafe {
                library.get(c"cuMemAllocFromPoolAsync".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemFreeAsync: unsafe { library.get(c"cuMemFreeAsync".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemAllocHost_v2: unsafe { library.get(c"cuMemAllocHost_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemHostAlloc: unsafe { library.get(c"cuMemHostAlloc".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemFreeHost: unsafe { library.get(c"cuMemFreeHost".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemHostRegister_v2: unsafe {
                library.get(c"cuMemHostRegister_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemHostUnregister: unsafe { library.get(c"cuMemHostUnregister".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemHostGetDevicePointer_v2: unsafe {
                library.get(c"cuMemHostGetDevicePointer_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemHostGetFlags: unsafe { library.get(c"cuMemHostGetFlags".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuPointerGetAttribute: unsafe {
                library.get(c"cuPointerGetAttribute".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuPointerGetAttributes: unsafe {
                library.get(c"cuPointerGetAttributes".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuPointerSetAttribute: unsafe {
                library.get(c"cuPointerSetAttribute".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemcpy: unsafe { library.get(c"cuMemcpy".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemcpyAsync: unsafe { library.get(c"cuMemcpyAsync".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemcpyHtoD_v2: unsafe { library.get(c"cuMemcpyHtoD_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemcpyHtoDAsync_v2: unsafe {
                library.get(c"cuMemcpyHtoDAsync_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemcpyDtoH_v2: unsafe { library.get(c"cuMemcpyDtoH_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemcpyDtoHAsync_v2: unsafe {
                library.get(c"cuMemcpyDtoHAsync_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemcpyDtoD_v2: unsafe { library.get(c"cuMemcpyDtoD_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemcpyDtoDAsync_v2: unsafe {
                library.get(c"cuMemcpyDtoDAsync_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemcpyPeer: unsafe { library.get(c"cuMemcpyPeer".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemcpyPeerAsync: unsafe { library.get(c"cuMemcpyPeerAsync".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemcpyBatchAsync: unsafe { library.get(c"cuMemcpyBatchAsync".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemcpyBatchAsync_v2: unsafe {
                library.get(c"cuMemcpyBatchAsync_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemcpyWithAttributesAsync: unsafe {
                library.get(c"cuMemcpyWithAttributesAsync".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemcpy2D_v2: unsafe { library.get(c"cuMemcpy2D_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemcpy2DUnaligned_v2: unsafe {
                library.get(c"cuMemcpy2DUnaligned_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemcpy2DAsync_v2: unsafe { library.get(c"cuMemcpy2DAsync_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemcpy3D_v2: unsafe { library.get(c"cuMemcpy3D_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemcpy3DAsync_v2: unsafe { library.get(c"cuMemcpy3DAsync_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemcpy3DPeer: unsafe { library.get(c"cuMemcpy3DPeer".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemcpy3DPeerAsync: unsafe { library.get(c"cuMemcpy3DPeerAsync".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemsetD8_v2: unsafe { library.get(c"cuMemsetD8_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemsetD16_v2: unsafe { library.get(c"cuMemsetD16_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemsetD32_v2: unsafe { library.get(c"cuMemsetD32_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemsetD8Async: unsafe { library.get(c"cuMemsetD8Async".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemsetD16Async: unsafe { library.get(c"cuMemsetD16Async".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemsetD32Async: unsafe { library.get(c"cuMemsetD32Async".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemsetD2D8_v2: unsafe { library.get(c"cuMemsetD2D8_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemsetD2D16_v2: unsafe { library.get(c"cuMemsetD2D16_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemsetD2D32_v2: unsafe { library.get(c"cuMemsetD2D32_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemsetD2D8Async: unsafe { library.get(c"cuMemsetD2D8Async".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemsetD2D16Async: unsafe { library.get(c"cuMemsetD2D16Async".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemsetD2D32Async: unsafe { library.get(c"cuMemsetD2D32Async".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuDeviceGetDefaultMemPool: unsafe {
                library.get(c"cuDeviceGetDefaultMemPool".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuDeviceGetMemPool: unsafe { library.get(c"cuDeviceGetMemPool".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuDeviceSetMemPool: unsafe { library.get(c"cuDeviceSetMemPool".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemGetDefaultMemPool: unsafe {
                library.get(c"cuMemGetDefaultMemPool".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemGetMemPool: unsafe { library.get(c"cuMemGetMemPool".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemSetMemPool: unsafe { library.get(c"cuMemSetMemPool".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemPoolCreate: unsafe { library.get(c"cuMemPoolCreate".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemPoolDestroy: unsafe { library.get(c"cuMemPoolDestroy".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemPoolGetAttribute: unsafe {
                library.get(c"cuMemPoolGetAttribute".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemPoolSetAttribute: unsafe {
                library.get(c"cuMemPoolSetAttribute".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemPoolGetAccess: unsafe { library.get(c"cuMemPoolGetAccess".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemPoolSetAccess: unsafe { library.get(c"cuMemPoolSetAccess".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemPoolTrimTo: unsafe { library.get(c"cuMemPoolTrimTo".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuIpcGetMemHandle: unsafe { library.get(c"cuIpcGetMemHandle".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuIpcOpenMemHandle_v2: unsafe {
                library.get(c"cuIpcOpenMemHandle_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuIpcCloseMemHandle: unsafe { library.get(c"cuIpcCloseMemHandle".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuIpcGetEventHandle: unsafe { library.get(c"cuIpcGetEventHandle".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuIpcOpenEventHandle: unsafe {
                library.get(c"cuIpcOpenEventHandle".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemAddressReserve: unsafe { library.get(c"cuMemAddressReserve".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemAddressFree: unsafe { library.get(c"cuMemAddressFree".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemCreate: unsafe { library.get(c"cuMemCreate".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemRelease: unsafe { library.get(c"cuMemRelease".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemMap: unsafe { library.get(c"cuMemMap".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemUnmap: unsafe { library.get(c"cuMemUnmap".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemSetAccess: unsafe { library.get(c"cuMemSetAccess".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemGetAccess: unsafe { library.get(c"cuMemGetAccess".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemGetAllocationGranularity: unsafe {
                library.get(c"cuMemGetAllocationGranularity".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemGetAllocationPropertiesFromHandle: unsafe {
                library.get(c"cuMemGetAllocationPropertiesFromHandle".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemRetainAllocationHandle: unsafe {
                library.get(c"cuMemRetainAllocationHandle".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemAdvise: unsafe { library.get(c"cuMemAdvise".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemAdvise_v2: unsafe { library.get(c"cuMemAdvise_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemPrefetchAsync: unsafe { library.get(c"cuMemPrefetchAsync".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemPrefetchAsync_v2: unsafe {
                library.get(c"cuMemPrefetchAsync_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemPrefetchBatchAsync: unsafe {
                library.get(c"cuMemPrefetchBatchAsync".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemDiscardBatchAsync: unsafe {
                library.get(c"cuMemDiscardBatchAsync".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemDiscardAndPrefetchBatchAsync: unsafe {
                library.get(c"cuMemDiscardAndPrefetchBatchAsync".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemRangeGetAttribute: unsafe {
                library.get(c"cuMemRangeGetAttribute".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemExportToShareableHandle: unsafe {
                library.get(c"cuMemExportToShareableHandle".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemImportFromShareableHandle: unsafe {
                library.get(c"cuMemImportFromShareableHandle".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemRangeGetAttributes: unsafe {
                library.get(c"cuMemRangeGetAttributes".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuStreamCreate: unsafe { library.get(c"cuStreamCreate".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuStreamCreateWithPriority: unsafe {
                library.get(c"cuStreamCreateWithPriority".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuStreamDestroy_v2: unsafe { library.get(c"cuStreamDestroy_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuStreamSynchronize: unsafe { library.get(c"cuStreamSynchronize".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuStreamQuery: unsafe { library.get(c"cuStreamQuery".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuStreamWaitEvent: unsafe { library.get(c"cuStreamWaitEvent".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuStreamGetFlags: unsafe { library.get(c"cuStreamGetFlags".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuStreamGetPriority: unsafe { library.get(c"cuStreamGetPriority".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuStreamGetId: unsafe { library.get(c"cuStreamGetId".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuStreamGetDevice: unsafe { library.get(c"cuStreamGetDevice".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuStreamGetCtx: unsafe { library.get(c"cuStreamGetCtx".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuStreamGetCtx_v2: unsafe { library.get(c"cuStreamGetCtx_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuStreamGetGreenCtx: unsafe { library.get(c"cuStreamGetGreenCtx".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuStreamAttachMemAsync: unsafe {
                library.get(c"cuStreamAttachMemAsync".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuStreamCopyAttributes: unsafe {
                library.get(c"cuStreamCopyAttributes".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuStreamGetAttribute: unsafe {
                library.get(c"cuStreamGetAttribute".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuStreamSetAttribute: unsafe {
                library.get(c"cuStreamSetAttribute".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuStreamWaitValue32: unsafe { library.get(c"cuStreamWaitValue32".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuStreamWaitValue32_v2: unsafe {
                library.get(c"cuStreamWaitValue32_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuStreamWaitValue64: unsafe { library.get(c"cuStreamWaitValue64".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuStreamWaitValue64_v2: unsafe {
                library.get(c"cuStreamWaitValue64_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuStreamWriteValue32: unsafe {
                library.get(c"cuStreamWriteValue32".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuStreamWriteValue32_v2: unsafe {
                library.get(c"cuStreamWriteValue32_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuStreamWriteValue64: unsafe {
                library.get(c"cuStreamWriteValue64".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuStreamWriteValue64_v2: unsafe {
                library.get(c"cuStreamWriteValue64_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuStreamBatchMemOp: unsafe { library.get(c"cuStreamBatchMemOp".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuStreamBatchMemOp_v2: unsafe {
                library.get(c"cuStreamBatchMemOp_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuStreamAddCallback: unsafe { library.get(c"cuStreamAddCallback".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuLaunchHostFunc: unsafe { library.get(c"cuLaunchHostFunc".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuLaunchHostFunc_v2: unsafe { library.get(c"cuLaunchHostFunc_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuStreamIsCapturing: unsafe { library.get(c"cuStreamIsCapturing".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuStreamGetCaptureInfo: unsafe {
                library.get(c"cuStreamGetCaptureInfo".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuStreamGetCaptureInfo_v2: unsafe {
                library.get(c"cuStreamGetCaptureInfo_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuStreamGetCaptureInfo_v3: unsafe {
                library.get(c"cuStreamGetCaptureInfo_v3".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuStreamBeginCapture_v2: unsafe {
                library.get(c"cuStreamBeginCapture_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuStreamBeginCaptureToGraph: unsafe {
                library.get(c"cuStreamBeginCaptureToGraph".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuStreamEndCapture: unsafe { library.get(c"cuStreamEndCapture".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuStreamUpdateCaptureDependencies: unsafe {
                library.get(c"cuStreamUpdateCaptureDependencies".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuStreamUpdateCaptureDependencies_v2: unsafe {
                library.get(c"cuStreamUpdateCaptureDependencies_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuThreadExchangeStreamCaptureMode: unsafe {
                library.get(c"cuThreadExchangeStreamCaptureMode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuEventCreate: unsafe { library.get(c"cuEventCreate".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuEventDestroy_v2: unsafe { library.get(c"cuEventDestroy_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuEventRecord: unsafe { library.get(c"cuEventRecord".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuEventRecordWithFlags: unsafe {
                library.get(c"cuEventRecordWithFlags".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuEventQuery: unsafe { library.get(c"cuEventQuery".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuEventSynchronize: unsafe { library.get(c"cuEventSynchronize".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuEventElapsedTime: unsafe { library.get(c"cuEventElapsedTime".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuEventElapsedTime_v2: unsafe {
                library.get(c"cuEventElapsedTime_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuModuleLoad: unsafe { library.get(c"cuModuleLoad".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuModuleLoadData: unsafe { library.get(c"cuModuleLoadData".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuModuleLoadDataEx: unsafe { library.get(c"cuModuleLoadDataEx".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuModuleLoadFatBinary: unsafe {
                library.get(c"cuModuleLoadFatBinary".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuModuleUnload: unsafe { library.get(c"cuModuleUnload".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuModuleGetLoadingMode: unsafe {
                library.get(c"cuModuleGetLoadingMode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuModuleGetFunction: unsafe { library.get(c"cuModuleGetFunction".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuModuleGetFunctionCount: unsafe {
                library.get(c"cuModuleGetFunctionCount".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuModuleEnumerateFunctions: unsafe {
                library.get(c"cuModuleEnumerateFunctions".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuModuleGetGlobal_v2: unsafe {
                library.get(c"cuModuleGetGlobal_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuFuncGetAttribute: unsafe { library.get(c"cuFuncGetAttribute".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuFuncSetAttribute: unsafe { library.get(c"cuFuncSetAttribute".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuFuncSetCacheConfig: unsafe {
                library.get(c"cuFuncSetCacheConfig".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuFuncSetSharedMemConfig: unsafe {
                library.get(c"cuFuncSetSharedMemConfig".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuFuncGetModule: unsafe { library.get(c"cuFuncGetModule".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuFuncGetName: unsafe { library.get(c"cuFuncGetName".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuFuncGetParamCount: unsafe { library.get(c"cuFuncGetParamCount".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuFuncGetParamInfo: unsafe { library.get(c"cuFuncGetParamInfo".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuFuncIsLoaded: unsafe { library.get(c"cuFuncIsLoaded".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuFuncLoad: unsafe { library.get(c"cuFuncLoad".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuLibraryLoadData: unsafe { library.get(c"cuLibraryLoadData".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuLibraryLoadFromFile: unsafe {
                library.get(c"cuLibraryLoadFromFile".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuLibraryUnload: unsafe { library.get(c"cuLibraryUnload".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuLibraryGetKernel: unsafe { library.get(c"cuLibraryGetKernel".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuLibraryGetModule: unsafe { library.get(c"cuLibraryGetModule".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuLibraryGetGlobal: unsafe { library.get(c"cuLibraryGetGlobal".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuLibraryGetManaged: unsafe { library.get(c"cuLibraryGetManaged".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuLibraryGetUnifiedFunction: unsafe {
                library.get(c"cuLibraryGetUnifiedFunction".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuLibraryGetKernelCount: unsafe {
                library.get(c"cuLibraryGetKernelCount".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuLibraryEnumerateKernels: unsafe {
                library.get(c"cuLibraryEnumerateKernels".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuKernelGetFunction: unsafe { library.get(c"cuKernelGetFunction".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuKernelGetLibrary: unsafe { library.get(c"cuKernelGetLibrary".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuKernelGetAttribute: unsafe {
                library.get(c"cuKernelGetAttribute".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuKernelSetAttribute: unsafe {
                library.get(c"cuKernelSetAttribute".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuKernelSetCacheConfig: unsafe {
                library.get(c"cuKernelSetCacheConfig".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuKernelGetName: unsafe { library.get(c"cuKernelGetName".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuKernelGetParamCount: unsafe {
                library.get(c"cuKernelGetParamCount".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuKernelGetParamInfo: unsafe {
                library.get(c"cuKernelGetParamInfo".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuLinkCreate_v2: unsafe { library.get(c"cuLinkCreate_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuLinkAddData_v2: unsafe { library.get(c"cuLinkAddData_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuLinkAddFile_v2: unsafe { library.get(c"cuLinkAddFile_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuLinkComplete: unsafe { library.get(c"cuLinkComplete".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuLinkDestroy: unsafe { library.get(c"cuLinkDestroy".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuLaunchKernel: unsafe { library.get(c"cuLaunchKernel".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuLaunchKernelEx: unsafe { library.get(c"cuLaunchKernelEx".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuLaunchCooperativeKernel: unsafe {
                library.get(c"cuLaunchCooperativeKernel".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuOccupancyMaxActiveBlocksPerMultiprocessor: unsafe {
                library.get(c"cuOccupancyMaxActiveBlocksPerMultiprocessor".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags: unsafe {
                library.get(
                    c"cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags".to_bytes_with_nul(),
                )
            }
            .ok()
            .map(|symbol| *symbol),
            cuOccupancyAvailableDynamicSMemPerBlock: unsafe {
                library.get(c"cuOccupancyAvailableDynamicSMemPerBlock".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuOccupancyMaxPotentialBlockSize: unsafe {
                library.get(c"cuOccupancyMaxPotentialBlockSize".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuOccupancyMaxPotentialBlockSizeWithFlags: unsafe {
                library.get(c"cuOccupancyMaxPotentialBlockSizeWithFlags".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuOccupancyMaxActiveClusters: unsafe {
                library.get(c"cuOccupancyMaxActiveClusters".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuOccupancyMaxPotentialClusterSize: unsafe {
                library.get(c"cuOccupancyMaxPotentialClusterSize".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphCreate: unsafe { library.get(c"cuGraphCreate".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuGraphClone: unsafe { library.get(c"cuGraphClone".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuGraphDestroy: unsafe { library.get(c"cuGraphDestroy".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuGraphGetId: unsafe { library.get(c"cuGraphGetId".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuGraphExecGetId: unsafe { library.get(c"cuGraphExecGetId".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuGraphAddEmptyNode: unsafe { library.get(c"cuGraphAddEmptyNode".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuGraphGetNodes: unsafe { library.get(c"cuGraphGetNodes".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuGraphGetRootNodes: unsafe { library.get(c"cuGraphGetRootNodes".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuGraphGetEdges: unsafe { library.get(c"cuGraphGetEdges".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuGraphGetEdges_v2: unsafe { library.get(c"cuGraphGetEdges_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuGraphAddDependencies: unsafe {
                library.get(c"cuGraphAddDependencies".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphAddDependencies_v2: unsafe {
                library.get(c"cuGraphAddDependencies_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphRemoveDependencies: unsafe {
                library.get(c"cuGraphRemoveDependencies".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphRemoveDependencies_v2: unsafe {
                library.get(c"cuGraphRemoveDependencies_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphNodeGetDependencies: unsafe {
                library.get(c"cuGraphNodeGetDependencies".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphNodeGetDependencies_v2: unsafe {
                library.get(c"cuGraphNodeGetDependencies_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphNodeGetDependentNodes: unsafe {
                library.get(c"cuGraphNodeGetDependentNodes".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphNodeGetDependentNodes_v2: unsafe {
                library.get(c"cuGraphNodeGetDependentNodes_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphNodeFindInClone: unsafe {
                library.get(c"cuGraphNodeFindInClone".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphNodeGetContainingGraph: unsafe {
                library.get(c"cuGraphNodeGetContainingGraph".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphNodeGetLocalId: unsafe {
                library.get(c"cuGraphNodeGetLocalId".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphNodeGetToolsId: unsafe {
                library.get(c"cuGraphNodeGetToolsId".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphNodeGetType: unsafe { library.get(c"cuGraphNodeGetType".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuGraphDestroyNode: unsafe { library.get(c"cuGraphDestroyNode".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuGraphChildGraphNodeGetGraph: unsafe {
                library.get(c"cuGraphChildGraphNodeGetGraph".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphEventRecordNodeGetEvent: unsafe {
                library.get(c"cuGraphEventRecordNodeGetEvent".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphEventWaitNodeGetEvent: unsafe {
                library.get(c"cuGraphEventWaitNodeGetEvent".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphMemFreeNodeGetParams: unsafe {
                library.get(c"cuGraphMemFreeNodeGetParams".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphMemsetNodeGetParams: unsafe {
                library.get(c"cuGraphMemsetNodeGetParams".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphConditionalHandleCreate: unsafe {
                library.get(c"cuGraphConditionalHandleCreate".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphKernelNodeGetAttribute: unsafe {
                library.get(c"cuGraphKernelNodeGetAttribute".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphKernelNodeSetAttribute: unsafe {
                library.get(c"cuGraphKernelNodeSetAttribute".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphKernelNodeCopyAttributes: unsafe {
                library.get(c"cuGraphKernelNodeCopyAttributes".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphAddKernelNode: unsafe {
                library.get(c"cuGraphAddKernelNode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphAddKernelNode_v2: unsafe {
                library.get(c"cuGraphAddKernelNode_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphAddMemcpyNode: unsafe {
                library.get(c"cuGraphAddMemcpyNode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphAddMemsetNode: unsafe {
                library.get(c"cuGraphAddMemsetNode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphAddHostNode: unsafe { library.get(c"cuGraphAddHostNode".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuGraphAddChildGraphNode: unsafe {
                library.get(c"cuGraphAddChildGraphNode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphAddEventRecordNode: unsafe {
                library.get(c"cuGraphAddEventRecordNode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphAddEventWaitNode: unsafe {
                library.get(c"cuGraphAddEventWaitNode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphAddMemAllocNode: unsafe {
                library.get(c"cuGraphAddMemAllocNode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphAddMemFreeNode: unsafe {
                library.get(c"cuGraphAddMemFreeNode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphAddNode: unsafe { library.get(c"cuGraphAddNode".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuGraphAddNode_v2: unsafe { library.get(c"cuGraphAddNode_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuGraphNodeSetParams: unsafe {
                library.get(c"cuGraphNodeSetParams".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphExecNodeSetParams: unsafe {
                library.get(c"cuGraphExecNodeSetParams".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphKernelNodeSetParams: unsafe {
                library.get(c"cuGraphKernelNodeSetParams".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphKernelNodeSetParams_v2: unsafe {
                library.get(c"cuGraphKernelNodeSetParams_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphMemcpyNodeSetParams: unsafe {
                library.get(c"cuGraphMemcpyNodeSetParams".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphMemsetNodeSetParams: unsafe {
                library.get(c"cuGraphMemsetNodeSetParams".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphHostNodeSetParams: unsafe {
                library.get(c"cuGraphHostNodeSetParams".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphEventRecordNodeSetEvent: unsafe {
                library.get(c"cuGraphEventRecordNodeSetEvent".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphEventWaitNodeSetEvent: unsafe {
                library.get(c"cuGraphEventWaitNodeSetEvent".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphExecKernelNodeSetParams: unsafe {
                library.get(c"cuGraphExecKernelNodeSetParams".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphExecKernelNodeSetParams_v2: unsafe {
                library.get(c"cuGraphExecKernelNodeSetParams_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphExecMemcpyNodeSetParams: unsafe {
                library.get(c"cuGraphExecMemcpyNodeSetParams".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphExecMemsetNodeSetParams: unsafe {
                library.get(c"cuGraphExecMemsetNodeSetParams".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphExecHostNodeSetParams: unsafe {
                library.get(c"cuGraphExecHostNodeSetParams".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphExecChildGraphNodeSetParams: unsafe {
                library.get(c"cuGraphExecChildGraphNodeSetParams".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphExecEventRecordNodeSetEvent: unsafe {
                library.get(c"cuGraphExecEventRecordNodeSetEvent".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphExecEventWaitNodeSetEvent: unsafe {
                library.get(c"cuGraphExecEventWaitNodeSetEvent".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphNodeGetParams: unsafe {
                library.get(c"cuGraphNodeGetParams".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphKernelNodeGetParams: unsafe {
                library.get(c"cuGraphKernelNodeGetParams".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphKernelNodeGetParams_v2: unsafe {
                library.get(c"cuGraphKernelNodeGetParams_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphMemcpyNodeGetParams: unsafe {
                library.get(c"cuGraphMemcpyNodeGetParams".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphHostNodeGetParams: unsafe {
                library.get(c"cuGraphHostNodeGetParams".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphMemAllocNodeGetParams: unsafe {
                library.get(c"cuGraphMemAllocNodeGetParams".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphInstantiate_v2: unsafe {
                library.get(c"cuGraphInstantiate_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphInstantiateWithFlags: unsafe {
                library.get(c"cuGraphInstantiateWithFlags".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphInstantiateWithParams: unsafe {
                library.get(c"cuGraphInstantiateWithParams".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphExecUpdate: unsafe { library.get(c"cuGraphExecUpdate".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuGraphExecUpdate_v2: unsafe {
                library.get(c"cuGraphExecUpdate_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphDebugDotPrint: unsafe {
                library.get(c"cuGraphDebugDotPrint".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphExecGetFlags: unsafe { library.get(c"cuGraphExecGetFlags".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuGraphNodeGetEnabled: unsafe {
                library.get(c"cuGraphNodeGetEnabled".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphNodeSetEnabled: unsafe {
                library.get(c"cuGraphNodeSetEnabled".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphUpload: unsafe { library.get(c"cuGraphUpload".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuGraphLaunch: unsafe { library.get(c"cuGraphLaunch".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuGraphExecDestroy: unsafe { library.get(c"cuGraphExecDestroy".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuUserObjectCreate: unsafe { library.get(c"cuUserObjectCreate".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuUserObjectRetain: unsafe { library.get(c"cuUserObjectRetain".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuUserObjectRelease: unsafe { library.get(c"cuUserObjectRelease".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuGraphRetainUserObject: unsafe {
                library.get(c"cuGraphRetainUserObject".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuGraphReleaseUserObject: unsafe {
                library.get(c"cuGraphReleaseUserObject".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuTensorMapEncodeTiled: unsafe {
                library.get(c"cuTensorMapEncodeTiled".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuTensorMapEncodeIm2col: unsafe {
                library.get(c"cuTensorMapEncodeIm2col".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuTensorMapReplaceAddress: unsafe {
                library.get(c"cuTensorMapReplaceAddress".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuArrayCreate_v2: unsafe { library.get(c"cuArrayCreate_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuArrayGetDescriptor_v2: unsafe {
                library.get(c"cuArrayGetDescriptor_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuArray3DCreate_v2: unsafe { library.get(c"cuArray3DCreate_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuArray3DGetDescriptor_v2: unsafe {
                library.get(c"cuArray3DGetDescriptor_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuArrayDestroy: unsafe { library.get(c"cuArrayDestroy".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuArrayGetMemoryRequirements: unsafe {
                library.get(c"cuArrayGetMemoryRequirements".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuArrayGetPlane: unsafe { library.get(c"cuArrayGetPlane".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMipmappedArrayCreate: unsafe {
                library.get(c"cuMipmappedArrayCreate".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMipmappedArrayGetLevel: unsafe {
                library.get(c"cuMipmappedArrayGetLevel".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuArrayGetSparseProperties: unsafe {
                library.get(c"cuArrayGetSparseProperties".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMipmappedArrayGetSparseProperties: unsafe {
                library.get(c"cuMipmappedArrayGetSparseProperties".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMipmappedArrayGetMemoryRequirements: unsafe {
                library.get(c"cuMipmappedArrayGetMemoryRequirements".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMipmappedArrayDestroy: unsafe {
                library.get(c"cuMipmappedArrayDestroy".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemcpyHtoA_v2: unsafe { library.get(c"cuMemcpyHtoA_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemcpyHtoAAsync_v2: unsafe {
                library.get(c"cuMemcpyHtoAAsync_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemcpyAtoH_v2: unsafe { library.get(c"cuMemcpyAtoH_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemcpyAtoHAsync_v2: unsafe {
                library.get(c"cuMemcpyAtoHAsync_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuMemcpyDtoA_v2: unsafe { library.get(c"cuMemcpyDtoA_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemcpyAtoD_v2: unsafe { library.get(c"cuMemcpyAtoD_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuMemcpyAtoA_v2: unsafe { library.get(c"cuMemcpyAtoA_v2".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuTexObjectCreate: unsafe { library.get(c"cuTexObjectCreate".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuTexObjectDestroy: unsafe { library.get(c"cuTexObjectDestroy".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuTexObjectGetResourceDesc: unsafe {
                library.get(c"cuTexObjectGetResourceDesc".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuTexObjectGetTextureDesc: unsafe {
                library.get(c"cuTexObjectGetTextureDesc".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuTexObjectGetResourceViewDesc: unsafe {
                library.get(c"cuTexObjectGetResourceViewDesc".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuSurfObjectCreate: unsafe { library.get(c"cuSurfObjectCreate".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuSurfObjectDestroy: unsafe { library.get(c"cuSurfObjectDestroy".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuSurfObjectGetResourceDesc: unsafe {
                library.get(c"cuSurfObjectGetResourceDesc".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuModuleGetTexRef: unsafe { library.get(c"cuModuleGetTexRef".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuModuleGetSurfRef: unsafe { library.get(c"cuModuleGetSurfRef".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuTexRefCreate: unsafe { library.get(c"cuTexRefCreate".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuTexRefDestroy: unsafe { library.get(c"cuTexRefDestroy".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuTexRefSetArray: unsafe { library.get(c"cuTexRefSetArray".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuTexRefSetMipmappedArray: unsafe {
                library.get(c"cuTexRefSetMipmappedArray".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuTexRefSetAddress_v2: unsafe {
                library.get(c"cuTexRefSetAddress_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuTexRefSetAddress2D_v3: unsafe {
                library.get(c"cuTexRefSetAddress2D_v3".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuTexRefSetFormat: unsafe { library.get(c"cuTexRefSetFormat".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuTexRefSetAddressMode: unsafe {
                library.get(c"cuTexRefSetAddressMode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuTexRefSetFilterMode: unsafe {
                library.get(c"cuTexRefSetFilterMode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuTexRefSetMipmapFilterMode: unsafe {
                library.get(c"cuTexRefSetMipmapFilterMode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuTexRefSetMipmapLevelBias: unsafe {
                library.get(c"cuTexRefSetMipmapLevelBias".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuTexRefSetMipmapLevelClamp: unsafe {
                library.get(c"cuTexRefSetMipmapLevelClamp".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuTexRefSetMaxAnisotropy: unsafe {
                library.get(c"cuTexRefSetMaxAnisotropy".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuTexRefSetBorderColor: unsafe {
                library.get(c"cuTexRefSetBorderColor".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuTexRefSetFlags: unsafe { library.get(c"cuTexRefSetFlags".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuTexRefGetAddress_v2: unsafe {
                library.get(c"cuTexRefGetAddress_v2".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuTexRefGetArray: unsafe { library.get(c"cuTexRefGetArray".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuTexRefGetMipmappedArray: unsafe {
                library.get(c"cuTexRefGetMipmappedArray".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuTexRefGetAddressMode: unsafe {
                library.get(c"cuTexRefGetAddressMode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuTexRefGetFilterMode: unsafe {
                library.get(c"cuTexRefGetFilterMode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuTexRefGetFormat: unsafe { library.get(c"cuTexRefGetFormat".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuTexRefGetMipmapFilterMode: unsafe {
                library.get(c"cuTexRefGetMipmapFilterMode".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuTexRefGetMipmapLevelBias: unsafe {
                library.get(c"cuTexRefGetMipmapLevelBias".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuTexRefGetMipmapLevelClamp: unsafe {
                library.get(c"cuTexRefGetMipmapLevelClamp".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuTexRefGetMaxAnisotropy: unsafe {
                library.get(c"cuTexRefGetMaxAnisotropy".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuTexRefGetBorderColor: unsafe {
                library.get(c"cuTexRefGetBorderColor".to_bytes_with_nul())
            }
            .ok()
            .map(|symbol| *symbol),
            cuTexRefGetFlags: unsafe { library.get(c"cuTexRefGetFlags".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuSurfRefSetArray: unsafe { library.get(c"cuSurfRefSetArray".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            cuSurfRefGetArray: unsafe { library.get(c"cuSurfRefGetArray".to_bytes_with_nul()) }
                .ok()
                .map(|symbol| *symbol),
            _library: library,
        })
    }
}

const OP_cuDeviceGetName: u32 = op_id("cuDeviceGetName");
const OP_cuDeviceGetUuid: u32 = op_id("cuDeviceGetUuid");
const OP_cuDeviceGetUuid_v2: u32 = op_id("cuDeviceGetUuid_v2");
const OP_cuDeviceTotalMem_v2: u32 = op_id("cuDeviceTotalMem_v2");
const OP_cuDeviceGetAttribute: u32 = op_id("cuDeviceGetAttribute");
const OP_cuDeviceGetPCIBusId: u32 = op_id("cuDeviceGetPCIBusId");
const OP_cuDeviceGetByPCIBusId: u32 = op_id("cuDeviceGetByPCIBusId");
const OP_cuDeviceComputeCapability: u32 = op_id("cuDeviceComputeCapability");
const OP_cuDeviceGetProperties: u32 = op_id("cuDeviceGetProperties");
const OP_cuDeviceCanAccessPeer: u32 = op_id("cuDeviceCanAccessPeer");
const OP_cuDeviceGetP2PAttribute: u32 = op_id("cuDeviceGetP2PAttribute");
const OP_cuDeviceGetTexture1DLinearMaxWidth: u32 = op_id("cuDeviceGetTexture1DLinearMaxWidth");
const OP_cuDeviceGetExecAffinitySupport: u32 = op_id("cuDeviceGetExecAffinitySupport");
const OP_cuDeviceGetHostAtomicCapabilities: u32 = op_id("cuDeviceGetHostAtomicCapabilities");
const OP_cuDeviceGetP2PAtomicCapabilities: u32 = op_id("cuDeviceGetP2PAtomicCapabilities");
const OP_cuDeviceGetGraphMemAttribute: u32 = op_id("cuDeviceGetGraphMemAttribute");
const OP_cuDeviceSetGraphMemAttribute: u32 = op_id("cuDeviceSetGraphMemAttribute");
const OP_cuDeviceGraphMemTrim: u32 = op_id("cuDeviceGraphMemTrim");
const OP_cuProfilerStart: u32 = op_id("cuProfilerStart");
const OP_cuProfilerStop: u32 = op_id("cuProfilerStop");
const OP_cuFlushGPUDirectRDMAWrites: u32 = op_id("cuFlushGPUDirectRDMAWrites");
const OP_cuDevicePrimaryCtxRetain: u32 = op_id("cuDevicePrimaryCtxRetain");
const OP_cuDevicePrimaryCtxRelease_v2: u32 = op_id("cuDevicePrimaryCtxRelease_v2");
const OP_cuDevicePrimaryCtxReset_v2: u32 = op_id("cuDevicePrimaryCtxReset_v2");
const OP_cuDevicePrimaryCtxGetState: u32 = op_id("cuDevicePrimaryCtxGetState");
const OP_cuDevicePrimaryCtxSetFlags_v2: u32 = op_id("cuDevicePrimaryCtxSetFlags_v2");
const OP_cuCtxCreate_v2: u32 = op_id("cuCtxCreate_v2");
const OP_cuCtxDestroy_v2: u32 = op_id("cuCtxDestroy_v2");
const OP_cuCtxGetApiVersion: u32 = op_id("cuCtxGetApiVersion");
const OP_cuCtxGetFlags: u32 = op_id("cuCtxGetFlags");
const OP_cuCtxSetFlags: u32 = op_id("cuCtxSetFlags");
const OP_cuCtxGetId: u32 = op_id("cuCtxGetId");
const OP_cuCtxGetStreamPriorityRange: u32 = op_id("cuCtxGetStreamPriorityRange");
const OP_cuCtxSynchronize: u32 = op_id("cuCtxSynchronize");
const OP_cuCtxSynchronize_v2: u32 = op_id("cuCtxSynchronize_v2");
const OP_cuCtxGetLimit: u32 = op_id("cuCtxGetLimit");
const OP_cuCtxSetLimit: u32 = op_id("cuCtxSetLimit");
const OP_cuCtxGetCacheConfig: u32 = op_id("cuCtxGetCacheConfig");
const OP_cuCtxSetCacheConfig: u32 = op_id("cuCtxSetCacheConfig");
const OP_cuCtxGetSharedMemConfig: u32 = op_id("cuCtxGetSharedMemConfig");
const OP_cuCtxSetSharedMemConfig: u32 = op_id("cuCtxSetSharedMemConfig");
const OP_cuCtxGetExecAffinity: u32 = op_id("cuCtxGetExecAffinity");
const OP_cuCtxResetPersistingL2Cache: u32 = op_id("cuCtxResetPersistingL2Cache");
const OP_cuCtxEnablePeerAccess: u32 = op_id("cuCtxEnablePeerAccess");
const OP_cuCtxDisablePeerAccess: u32 = op_id("cuCtxDisablePeerAccess");
const OP_cuCtxRecordEvent: u32 = op_id("cuCtxRecordEvent");
const OP_cuCtxWaitEvent: u32 = op_id("cuCtxWaitEvent");
const OP_cuMemAlloc_v2: u32 = op_id("cuMemAlloc_v2");
const OP_cuMemAllocPitch_v2: u32 = op_id("cuMemAllocPitch_v2");
const OP_cuMemAllocManaged: u32 = op_id("cuMemAllocManaged");
const OP_cuMemFree_v2: u32 = op_id("cuMemFree_v2");
const OP_cuMemGetInfo_v2: u32 = op_id("cuMemGetInfo_v2");
const OP_cuMemGetAddressRange_v2: u32 = op_id("cuMemGetAddressRange_v2");
const OP_cuMemAllocAsync: u32 = op_id("cuMemAllocAsync");
const OP_cuMemAllocFromPoolAsync: u32 = op_id("cuMemAllocFromPoolAsync");
const OP_cuMemFreeAsync: u32 = op_id("cuMemFreeAsync");
const OP_cuMemcpy: u32 = op_id("cuMemcpy");
const OP_cuMemcpyAsync: u32 = op_id("cuMemcpyAsync");
const OP_cuMemcpyHtoD_v2: u32 = op_id("cuMemcpyHtoD_v2");
const OP_cuMemcpyHtoDAsync_v2: u32 = op_id("cuMemcpyHtoDAsync_v2");
const OP_cuMemcpyDtoH_v2: u32 = op_id("cuMemcpyDtoH_v2");
const OP_cuMemcpyDtoHAsync_v2: u32 = op_id("cuMemcpyDtoHAsync_v2");
const OP_cuMemcpyDtoD_v2: u32 = op_id("cuMemcpyDtoD_v2");
const OP_cuMemcpyDtoDAsync_v2: u32 = op_id("cuMemcpyDtoDAsync_v2");
const OP_cuMemcpyPeer: u32 = op_id("cuMemcpyPeer");
const OP_cuMemcpyPeerAsync: u32 = op_id("cuMemcpyPeerAsync");
const OP_cuMemcpy2D_v2: u32 = op_id("cuMemcpy2D_v2");
const OP_cuMemcpy2DUnaligned_v2: u32 = op_id("cuMemcpy2DUnaligned_v2");
const OP_cuMemcpy2DAsync_v2: u32 = op_id("cuMemcpy2DAsync_v2");
const OP_cuMemcpy3D_v2: u32 = op_id("cuMemcpy3D_v2");
const OP_cuMemcpy3DAsync_v2: u32 = op_id("cuMemcpy3DAsync_v2");
const OP_cuMemsetD8_v2: u32 = op_id("cuMemsetD8_v2");
const OP_cuMemsetD16_v2: u32 = op_id("cuMemsetD16_v2");
const OP_cuMemsetD32_v2: u32 = op_id("cuMemsetD32_v2");
const OP_cuMemsetD8Async: u32 = op_id("cuMemsetD8Async");
const OP_cuMemsetD16Async: u32 = op_id("cuMemsetD16Async");
const OP_cuMemsetD32Async: u32 = op_id("cuMemsetD32Async");
const OP_cuMemsetD2D8_v2: u32 = op_id("cuMemsetD2D8_v2");
const OP_cuMemsetD2D16_v2: u32 = op_id("cuMemsetD2D16_v2");
const OP_cuMemsetD2D32_v2: u32 = op_id("cuMemsetD2D32_v2");
const OP_cuMemsetD2D8Async: u32 = op_id("cuMemsetD2D8Async");
const OP_cuMemsetD2D16Async: u32 = op_id("cuMemsetD2D16Async");
const OP_cuMemsetD2D32Async: u32 = op_id("cuMemsetD2D32Async");
const OP_cuDeviceGetDefaultMemPool: u32 = op_id("cuDeviceGetDefaultMemPool");
const OP_cuDeviceGetMemPool: u32 = op_id("cuDeviceGetMemPool");
const OP_cuDeviceSetMemPool: u32 = op_id("cuDeviceSetMemPool");
const OP_cuMemGetDefaultMemPool: u32 = op_id("cuMemGetDefaultMemPool");
const OP_cuMemGetMemPool: u32 = op_id("cuMemGetMemPool");
const OP_cuMemSetMemPool: u32 = op_id("cuMemSetMemPool");
const OP_cuMemPoolCreate: u32 = op_id("cuMemPoolCreate");
const OP_cuMemPoolDestroy: u32 = op_id("cuMemPoolDestroy");
const OP_cuMemPoolGetAttribute: u32 = op_id("cuMemPoolGetAttribute");
const OP_cuMemPoolSetAttribute: u32 = op_id("cuMemPoolSetAttribute");
const OP_cuMemPoolGetAccess: u32 = op_id("cuMemPoolGetAccess");
const OP_cuMemPoolSetAccess: u32 = op_id("cuMemPoolSetAccess");
const OP_cuMemPoolTrimTo: u32 = op_id("cuMemPoolTrimTo");
const OP_cuIpcGetMemHandle: u32 = op_id("cuIpcGetMemHandle");
const OP_cuIpcOpenMemHandle_v2: u32 = op_id("cuIpcOpenMemHandle_v2");
const OP_cuIpcCloseMemHandle: u32 = op_id("cuIpcCloseMemHandle");
const OP_cuIpcGetEventHandle: u32 = op_id("cuIpcGetEventHandle");
const OP_cuIpcOpenEventHandle: u32 = op_id("cuIpcOpenEventHandle");
const OP_cuMemAddressReserve: u32 = op_id("cuMemAddressReserve");
const OP_cuMemAddressFree: u32 = op_id("cuMemAddressFree");
const OP_cuMemCreate: u32 = op_id("cuMemCreate");
const OP_cuMemRelease: u32 = op_id("cuMemRelease");
const OP_cuMemMap: u32 = op_id("cuMemMap");
const OP_cuMemUnmap: u32 = op_id("cuMemUnmap");
const OP_cuMemSetAccess: u32 = op_id("cuMemSetAccess");
const OP_cuMemGetAccess: u32 = op_id("cuMemGetAccess");
const OP_cuMemGetAllocationGranularity: u32 = op_id("cuMemGetAllocationGranularity");
const OP_cuMemGetAllocationPropertiesFromHandle: u32 =
    op_id("cuMemGetAllocationPropertiesFromHandle");
const OP_cuMemRetainAllocationHandle: u32 = op_id("cuMemRetainAllocationHandle");
const OP_cuMemAdvise: u32 = op_id("cuMemAdvise");
const OP_cuMemAdvise_v2: u32 = op_id("cuMemAdvise_v2");
const OP_cuMemPrefetchAsync: u32 = op_id("cuMemPrefetchAsync");
const OP_cuMemPrefetchAsync_v2: u32 = op_id("cuMemPrefetchAsync_v2");
const OP_cuMemPrefetchBatchAsync: u32 = op_id("cuMemPrefetchBatchAsync");
const OP_cuMemDiscardBatchAsync: u32 = op_id("cuMemDiscardBatchAsync");
const OP_cuMemDiscardAndPrefetchBatchAsync: u32 = op_id("cuMemDiscardAndPrefetchBatchAsync");
const OP_cuMemRangeGetAttribute: u32 = op_id("cuMemRangeGetAttribute");
const OP_cuStreamCreate: u32 = op_id("cuStreamCreate");
const OP_cuStreamCreateWithPriority: u32 = op_id("cuStreamCreateWithPriority");
const OP_cuStreamDestroy_v2: u32 = op_id("cuStreamDestroy_v2");
const OP_cuStreamSynchronize: u32 = op_id("cuStreamSynchronize");
const OP_cuStreamQuery: u32 = op_id("cuStreamQuery");
const OP_cuStreamWaitEvent: u32 = op_id("cuStreamWaitEvent");
const OP_cuStreamGetFlags: u32 = op_id("cuStreamGetFlags");
const OP_cuStreamGetPriority: u32 = op_id("cuStreamGetPriority");
const OP_cuStreamGetId: u32 = op_id("cuStreamGetId");
const OP_cuStreamGetDevice: u32 = op_id("cuStreamGetDevice");
const OP_cuStreamGetCtx: u32 = op_id("cuStreamGetCtx");
const OP_cuStreamAttachMemAsync: u32 = op_id("cuStreamAttachMemAsync");
const OP_cuStreamCopyAttributes: u32 = op_id("cuStreamCopyAttributes");
const OP_cuStreamGetAttribute: u32 = op_id("cuStreamGetAttribute");
const OP_cuStreamSetAttribute: u32 = op_id("cuStreamSetAttribute");
const OP_cuStreamWaitValue32: u32 = op_id("cuStreamWaitValue32");
const OP_cuStreamWaitValue32_v2: u32 = op_id("cuStreamWaitValue32_v2");
const OP_cuStreamWaitValue64: u32 = op_id("cuStreamWaitValue64");
const OP_cuStreamWaitValue64_v2: u32 = op_id("cuStreamWaitValue64_v2");
const OP_cuStreamWriteValue32: u32 = op_id("cuStreamWriteValue32");
const OP_cuStreamWriteValue32_v2: u32 = op_id("cuStreamWriteValue32_v2");
const OP_cuStreamWriteValue64: u32 = op_id("cuStreamWriteValue64");
const OP_cuStreamWriteValue64_v2: u32 = op_id("cuStreamWriteValue64_v2");
const OP_cuStreamBatchMemOp: u32 = op_id("cuStreamBatchMemOp");
const OP_cuStreamBatchMemOp_v2: u32 = op_id("cuStreamBatchMemOp_v2");
const OP_cuStreamAddCallback: u32 = op_id("cuStreamAddCallback");
const OP_cuLaunchHostFunc: u32 = op_id("cuLaunchHostFunc");
const OP_cuStreamBeginCapture_v2: u32 = op_id("cuStreamBeginCapture_v2");
const OP_cuStreamBeginCaptureToGraph: u32 = op_id("cuStreamBeginCaptureToGraph");
const OP_cuStreamEndCapture: u32 = op_id("cuStreamEndCapture");
const OP_cuStreamUpdateCaptureDependencies: u32 = op_id("cuStreamUpdateCaptureDependencies");
const OP_cuStreamUpdateCaptureDependencies_v2: u32 = op_id("cuStreamUpdateCaptureDependencies_v2");
const OP_cuThreadExchangeStreamCaptureMode: u32 = op_id("cuThreadExchangeStreamCaptureMode");
const OP_cuEventCreate: u32 = op_id("cuEventCreate");
const OP_cuEventDestroy_v2: u32 = op_id("cuEventDestroy_v2");
const OP_cuEventRecord: u32 = op_id("cuEventRecord");
const OP_cuEventRecordWithFlags: u32 = op_id("cuEventRecordWithFlags");
const OP_cuEventQuery: u32 = op_id("cuEventQuery");
const OP_cuEventSynchronize: u32 = op_id("cuEventSynchronize");
const OP_cuEventElapsedTime: u32 = op_id("cuEventElapsedTime");
const OP_cuEventElapsedTime_v2: u32 = op_id("cuEventElapsedTime_v2");
const OP_cuModuleLoadData: u32 = op_id("cuModuleLoadData");
const OP_cuModuleUnload: u32 = op_id("cuModuleUnload");
const OP_cuModuleGetLoadingMode: u32 = op_id("cuModuleGetLoadingMode");
const OP_cuModuleGetFunction: u32 = op_id("cuModuleGetFunction");
const OP_cuModuleGetFunctionCount: u32 = op_id("cuModuleGetFunctionCount");
const OP_cuModuleEnumerateFunctions: u32 = op_id("cuModuleEnumerateFunctions");
const OP_cuModuleGetGlobal_v2: u32 = op_id("cuModuleGetGlobal_v2");
const OP_cuFuncGetAttribute: u32 = op_id("cuFuncGetAttribute");
const OP_cuFuncSetAttribute: u32 = op_id("cuFuncSetAttribute");
const OP_cuFuncSetCacheConfig: u32 = op_id("cuFuncSetCacheConfig");
const OP_cuFuncSetSharedMemConfig: u32 = op_id("cuFuncSetSharedMemConfig");
const OP_cuFuncGetModule: u32 = op_id("cuFuncGetModule");
const OP_cuFuncGetParamCount: u32 = op_id("cuFuncGetParamCount");
const OP_cuFuncGetParamInfo: u32 = op_id("cuFuncGetParamInfo");
const OP_cuFuncIsLoaded: u32 = op_id("cuFuncIsLoaded");
const OP_cuFuncLoad: u32 = op_id("cuFuncLoad");
const OP_cuLibraryLoadData: u32 = op_id("cuLibraryLoadData");
const OP_cuLibraryUnload: u32 = op_id("cuLibraryUnload");
const OP_cuLibraryGetKernel: u32 = op_id("cuLibraryGetKernel");
const OP_cuLibraryGetModule: u32 = op_id("cuLibraryGetModule");
const OP_cuLibraryGetGlobal: u32 = op_id("cuLibraryGetGlobal");
const OP_cuLibraryGetManaged: u32 = op_id("cuLibraryGetManaged");
const OP_cuLibraryGetKernelCount: u32 = op_id("cuLibraryGetKernelCount");
const OP_cuLibraryEnumerateKernels: u32 = op_id("cuLibraryEnumerateKernels");
const OP_cuKernelGetFunction: u32 = op_id("cuKernelGetFunction");
const OP_cuKernelGetLibrary: u32 = op_id("cuKernelGetLibrary");
const OP_cuKernelGetAttribute: u32 = op_id("cuKernelGetAttribute");
const OP_cuKernelSetAttribute: u32 = op_id("cuKernelSetAttribute");
const OP_cuKernelSetCacheConfig: u32 = op_id("cuKernelSetCacheConfig");
const OP_cuKernelGetParamCount: u32 = op_id("cuKernelGetParamCount");
const OP_cuKernelGetParamInfo: u32 = op_id("cuKernelGetParamInfo");
const OP_cuLinkCreate_v2: u32 = op_id("cuLinkCreate_v2");
const OP_cuLinkAddData_v2: u32 = op_id("cuLinkAddData_v2");
const OP_cuLinkComplete: u32 = op_id("cuLinkComplete");
const OP_cuLinkDestroy: u32 = op_id("cuLinkDestroy");
const OP_cuLaunchKernel: u32 = op_id("cuLaunchKernel");
const OP_cuLaunchKernelEx: u32 = op_id("cuLaunchKernelEx");
const OP_cuLaunchCooperativeKernel: u32 = op_id("cuLaunchCooperativeKernel");
const OP_cuOccupancyMaxActiveBlocksPerMultiprocessor: u32 =
    op_id("cuOccupancyMaxActiveBlocksPerMultiprocessor");
const OP_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags: u32 =
    op_id("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags");
const OP_cuOccupancyAvailableDynamicSMemPerBlock: u32 =
    op_id("cuOccupancyAvailableDynamicSMemPerBlock");
const OP_cuOccupancyMaxActiveClusters: u32 = op_id("cuOccupancyMaxActiveClusters");
const OP_cuOccupancyMaxPotentialClusterSize: u32 = op_id("cuOccupancyMaxPotentialClusterSize");
const OP_cuGraphCreate: u32 = op_id("cuGraphCreate");
const OP_cuGraphClone: u32 = op_id("cuGraphClone");
const OP_cuGraphDestroy: u32 = op_id("cuGraphDestroy");
const OP_cuGraphGetId: u32 = op_id("cuGraphGetId");
const OP_cuGraphExecGetId: u32 = op_id("cuGraphExecGetId");
const OP_cuGraphAddEmptyNode: u32 = op_id("cuGraphAddEmptyNode");
const OP_cuGraphGetNodes: u32 = op_id("cuGraphGetNodes");
const OP_cuGraphGetRootNodes: u32 = op_id("cuGraphGetRootNodes");
const OP_cuGraphGetEdges: u32 = op_id("cuGraphGetEdges");
const OP_cuGraphGetEdges_v2: u32 = op_id("cuGraphGetEdges_v2");
const OP_cuGraphAddDependencies: u32 = op_id("cuGraphAddDependencies");
const OP_cuGraphAddDependencies_v2: u32 = op_id("cuGraphAddDependencies_v2");
const OP_cuGraphRemoveDependencies: u32 = op_id("cuGraphRemoveDependencies");
const OP_cuGraphRemoveDependencies_v2: u32 = op_id("cuGraphRemoveDependencies_v2");
const OP_cuGraphNodeGetDependencies: u32 = op_id("cuGraphNodeGetDependencies");
const OP_cuGraphNodeGetDependencies_v2: u32 = op_id("cuGraphNodeGetDependencies_v2");
const OP_cuGraphNodeGetDependentNodes: u32 = op_id("cuGraphNodeGetDependentNodes");
const OP_cuGraphNodeGetDependentNodes_v2: u32 = op_id("cuGraphNodeGetDependentNodes_v2");
const OP_cuGraphNodeFindInClone: u32 = op_id("cuGraphNodeFindInClone");
const OP_cuGraphNodeGetContainingGraph: u32 = op_id("cuGraphNodeGetContainingGraph");
const OP_cuGraphNodeGetLocalId: u32 = op_id("cuGraphNodeGetLocalId");
const OP_cuGraphNodeGetToolsId: u32 = op_id("cuGraphNodeGetToolsId");
const OP_cuGraphNodeGetType: u32 = op_id("cuGraphNodeGetType");
const OP_cuGraphDestroyNode: u32 = op_id("cuGraphDestroyNode");
const OP_cuGraphChildGraphNodeGetGraph: u32 = op_id("cuGraphChildGraphNodeGetGraph");
const OP_cuGraphEventRecordNodeGetEvent: u32 = op_id("cuGraphEventRecordNodeGetEvent");
const OP_cuGraphEventWaitNodeGetEvent: u32 = op_id("cuGraphEventWaitNodeGetEvent");
const OP_cuGraphMemFreeNodeGetParams: u32 = op_id("cuGraphMemFreeNodeGetParams");
const OP_cuGraphMemsetNodeGetParams: u32 = op_id("cuGraphMemsetNodeGetParams");
const OP_cuGraphConditionalHandleCreate: u32 = op_id("cuGraphConditionalHandleCreate");
const OP_cuGraphKernelNodeGetAttribute: u32 = op_id("cuGraphKernelNodeGetAttribute");
const OP_cuGraphKernelNodeSetAttribute: u32 = op_id("cuGraphKernelNodeSetAttribute");
const OP_cuGraphKernelNodeCopyAttributes: u32 = op_id("cuGraphKernelNodeCopyAttributes");
const OP_cuGraphExecGetFlags: u32 = op_id("cuGraphExecGetFlags");
const OP_cuGraphNodeGetEnabled: u32 = op_id("cuGraphNodeGetEnabled");
const OP_cuGraphNodeSetEnabled: u32 = op_id("cuGraphNodeSetEnabled");
const OP_cuGraphUpload: u32 = op_id("cuGraphUpload");
const OP_cuGraphLaunch: u32 = op_id("cuGraphLaunch");
const OP_cuGraphExecDestroy: u32 = op_id("cuGraphExecDestroy");
const OP_cuTensorMapEncodeTiled: u32 = op_id("cuTensorMapEncodeTiled");
const OP_cuTensorMapEncodeIm2col: u32 = op_id("cuTensorMapEncodeIm2col");
const OP_cuTensorMapReplaceAddress: u32 = op_id("cuTensorMapReplaceAddress");
const OP_cuArrayCreate_v2: u32 = op_id("cuArrayCreate_v2");
const OP_cuArrayGetDescriptor_v2: u32 = op_id("cuArrayGetDescriptor_v2");
const OP_cuArray3DCreate_v2: u32 = op_id("cuArray3DCreate_v2");
const OP_cuArray3DGetDescriptor_v2: u32 = op_id("cuArray3DGetDescriptor_v2");
const OP_cuArrayDestroy: u32 = op_id("cuArrayDestroy");
const OP_cuArrayGetMemoryRequirements: u32 = op_id("cuArrayGetMemoryRequirements");
const OP_cuArrayGetPlane: u32 = op_id("cuArrayGetPlane");
const OP_cuMipmappedArrayCreate: u32 = op_id("cuMipmappedArrayCreate");
const OP_cuMipmappedArrayGetLevel: u32 = op_id("cuMipmappedArrayGetLevel");
const OP_cuArrayGetSparseProperties: u32 = op_id("cuArrayGetSparseProperties");
const OP_cuMipmappedArrayGetSparseProperties: u32 = op_id("cuMipmappedArrayGetSparseProperties");
const OP_cuMipmappedArrayGetMemoryRequirements: u32 =
    op_id("cuMipmappedArrayGetMemoryRequirements");
const OP_cuMipmappedArrayDestroy: u32 = op_id("cuMipmappedArrayDestroy");
const OP_cuTexObjectCreate: u32 = op_id("cuTexObjectCreate");
const OP_cuTexObjectDestroy: u32 = op_id("cuTexObjectDestroy");
const OP_cuSurfObjectCreate: u32 = op_id("cuSurfObjectCreate");
const OP_cuSurfObjectDestroy: u32 = op_id("cuSurfObjectDestroy");
const OP_cuModuleGetTexRef: u32 = op_id("cuModuleGetTexRef");
const OP_cuModuleGetSurfRef: u32 = op_id("cuModuleGetSurfRef");
const OP_cuTexRefCreate: u32 = op_id("cuTexRefCreate");
const OP_cuTexRefDestroy: u32 = op_id("cuTexRefDestroy");
const OP_cuTexRefSetArray: u32 = op_id("cuTexRefSetArray");
const OP_cuTexRefSetMipmappedArray: u32 = op_id("cuTexRefSetMipmappedArray");
const OP_cuTexRefSetAddress_v2: u32 = op_id("cuTexRefSetAddress_v2");
const OP_cuTexRefSetAddress2D_v3: u32 = op_id("cuTexRefSetAddress2D_v3");
const OP_cuTexRefSetFormat: u32 = op_id("cuTexRefSetFormat");
const OP_cuTexRefSetAddressMode: u32 = op_id("cuTexRefSetAddressMode");
const OP_cuTexRefSetFilterMode: u32 = op_id("cuTexRefSetFilterMode");
const OP_cuTexRefSetMipmapFilterMode: u32 = op_id("cuTexRefSetMipmapFilterMode");
const OP_cuTexRefSetMipmapLevelBias: u32 = op_id("cuTexRefSetMipmapLevelBias");
const OP_cuTexRefSetMipmapLevelClamp: u32 = op_id("cuTexRefSetMipmapLevelClamp");
const OP_cuTexRefSetMaxAnisotropy: u32 = op_id("cuTexRefSetMaxAnisotropy");
const OP_cuTexRefSetBorderColor: u32 = op_id("cuTexRefSetBorderColor");
const OP_cuTexRefSetFlags: u32 = op_id("cuTexRefSetFlags");
const OP_cuTexRefGetAddress_v2: u32 = op_id("cuTexRefGetAddress_v2");
const OP_cuTexRefGetArray: u32 = op_id("cuTexRefGetArray");
const OP_cuTexRefGetMipmappedArray: u32 = op_id("cuTexRefGetMipmappedArray");
const OP_cuTexRefGetAddressMode: u32 = op_id("cuTexRefGetAddressMode");
const OP_cuTexRefGetFilterMode: u32 = op_id("cuTexRefGetFilterMode");
const OP_cuTexRefGetFormat: u32 = op_id("cuTexRefGetFormat");
const OP_cuTexRefGetMipmapFilterMode: u32 = op_id("cuTexRefGetMipmapFilterMode");
const OP_cuTexRefGetMipmapLevelBias: u32 = op_id("cuTexRefGetMipmapLevelBias");
const OP_cuTexRefGetMipmapLevelClamp: u32 = op_id("cuTexRefGetMipmapLevelClamp");
const OP_cuTexRefGetMaxAnisotropy: u32 = op_id("cuTexRefGetMaxAnisotropy");
const OP_cuTexRefGetBorderColor: u32 = op_id("cuTexRefGetBorderColor");
const OP_cuTexRefGetFlags: u32 = op_id("cuTexRefGetFlags");
const OP_cuSurfRefSetArray: u32 = op_id("cuSurfRefSetArray");
const OP_cuSurfRefGetArray: u32 = op_id("cuSurfRefGetArray");

/// Executes the operation `op`: its arguments are read from `r`, its results written to `w`.
/// An operation that is not known is answered with NOT_SUPPORTED.
///
/// # Errors
///
/// [`Bad`] if the arguments are no such operation's.
pub fn dispatch(op: u32, exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    match op {
        OP_cuDeviceGetName => cuDeviceGetName(exec, r, w),
        OP_cuDeviceGetUuid => cuDeviceGetUuid(exec, r, w),
        OP_cuDeviceGetUuid_v2 => cuDeviceGetUuid_v2(exec, r, w),
        OP_cuDeviceTotalMem_v2 => cuDeviceTotalMem_v2(exec, r, w),
        OP_cuDeviceGetAttribute => cuDeviceGetAttribute(exec, r, w),
        OP_cuDeviceGetPCIBusId => cuDeviceGetPCIBusId(exec, r, w),
        OP_cuDeviceGetByPCIBusId => cuDeviceGetByPCIBusId(exec, r, w),
        OP_cuDeviceComputeCapability => cuDeviceComputeCapability(exec, r, w),
        OP_cuDeviceGetProperties => cuDeviceGetProperties(exec, r, w),
        OP_cuDeviceCanAccessPeer => cuDeviceCanAccessPeer(exec, r, w),
        OP_cuDeviceGetP2PAttribute => cuDeviceGetP2PAttribute(exec, r, w),
        OP_cuDeviceGetTexture1DLinearMaxWidth => cuDeviceGetTexture1DLinearMaxWidth(exec, r, w),
        OP_cuDeviceGetExecAffinitySupport => cuDeviceGetExecAffinitySupport(exec, r, w),
        OP_cuDeviceGetHostAtomicCapabilities => cuDeviceGetHostAtomicCapabilities(exec, r, w),
        OP_cuDeviceGetP2PAtomicCapabilities => cuDeviceGetP2PAtomicCapabilities(exec, r, w),
        OP_cuDeviceGetGraphMemAttribute => cuDeviceGetGraphMemAttribute(exec, r, w),
        OP_cuDeviceSetGraphMemAttribute => cuDeviceSetGraphMemAttribute(exec, r, w),
        OP_cuDeviceGraphMemTrim => cuDeviceGraphMemTrim(exec, r, w),
        OP_cuProfilerStart => cuProfilerStart(exec, r, w),
        OP_cuProfilerStop => cuProfilerStop(exec, r, w),
        OP_cuFlushGPUDirectRDMAWrites => cuFlushGPUDirectRDMAWrites(exec, r, w),
        OP_cuDevicePrimaryCtxRetain => cuDevicePrimaryCtxRetain(exec, r, w),
        OP_cuDevicePrimaryCtxRelease_v2 => cuDevicePrimaryCtxRelease_v2(exec, r, w),
        OP_cuDevicePrimaryCtxReset_v2 => cuDevicePrimaryCtxReset_v2(exec, r, w),
        OP_cuDevicePrimaryCtxGetState => cuDevicePrimaryCtxGetState(exec, r, w),
        OP_cuDevicePrimaryCtxSetFlags_v2 => cuDevicePrimaryCtxSetFlags_v2(exec, r, w),
        OP_cuCtxCreate_v2 => cuCtxCreate_v2(exec, r, w),
        OP_cuCtxDestroy_v2 => cuCtxDestroy_v2(exec, r, w),
        OP_cuCtxGetApiVersion => cuCtxGetApiVersion(exec, r, w),
        OP_cuCtxGetFlags => cuCtxGetFlags(exec, r, w),
        OP_cuCtxSetFlags => cuCtxSetFlags(exec, r, w),
        OP_cuCtxGetId => cuCtxGetId(exec, r, w),
        OP_cuCtxGetStreamPriorityRange => cuCtxGetStreamPriorityRange(exec, r, w),
        OP_cuCtxSynchronize => cuCtxSynchronize(exec, r, w),
        OP_cuCtxSynchronize_v2 => cuCtxSynchronize_v2(exec, r, w),
        OP_cuCtxGetLimit => cuCtxGetLimit(exec, r, w),
        OP_cuCtxSetLimit => cuCtxSetLimit(exec, r, w),
        OP_cuCtxGetCacheConfig => cuCtxGetCacheConfig(exec, r, w),
        OP_cuCtxSetCacheConfig => cuCtxSetCacheConfig(exec, r, w),
        OP_cuCtxGetSharedMemConfig => cuCtxGetSharedMemConfig(exec, r, w),
        OP_cuCtxSetSharedMemConfig => cuCtxSetSharedMemConfig(exec, r, w),
        OP_cuCtxGetExecAffinity => cuCtxGetExecAffinity(exec, r, w),
        OP_cuCtxResetPersistingL2Cache => cuCtxResetPersistingL2Cache(exec, r, w),
        OP_cuCtxEnablePeerAccess => cuCtxEnablePeerAccess(exec, r, w),
        OP_cuCtxDisablePeerAccess => cuCtxDisablePeerAccess(exec, r, w),
        OP_cuCtxRecordEvent => cuCtxRecordEvent(exec, r, w),
        OP_cuCtxWaitEvent => cuCtxWaitEvent(exec, r, w),
        OP_cuMemAlloc_v2 => cuMemAlloc_v2(exec, r, w),
        OP_cuMemAllocPitch_v2 => cuMemAllocPitch_v2(exec, r, w),
        OP_cuMemAllocManaged => cuMemAllocManaged(exec, r, w),
        OP_cuMemFree_v2 => cuMemFree_v2(exec, r, w),
        OP_cuMemGetInfo_v2 => cuMemGetInfo_v2(exec, r, w),
        OP_cuMemGetAddressRange_v2 => cuMemGetAddressRange_v2(exec, r, w),
        OP_cuMemAllocAsync => cuMemAllocAsync(exec, r, w),
        OP_cuMemAllocFromPoolAsync => cuMemAllocFromPoolAsync(exec, r, w),
        OP_cuMemFreeAsync => cuMemFreeAsync(exec, r, w),
        OP_cuMemcpy => cuMemcpy(exec, r, w),
        OP_cuMemcpyAsync => cuMemcpyAsync(exec, r, w),
        OP_cuMemcpyHtoD_v2 => special::cuMemcpyHtoD_v2(exec, r, w),
        OP_cuMemcpyHtoDAsync_v2 => special::cuMemcpyHtoDAsync_v2(exec, r, w),
        OP_cuMemcpyDtoH_v2 => special::cuMemcpyDtoH_v2(exec, r, w),
        OP_cuMemcpyDtoHAsync_v2 => special::cuMemcpyDtoHAsync_v2(exec, r, w),
        OP_cuMemcpyDtoD_v2 => cuMemcpyDtoD_v2(exec, r, w),
        OP_cuMemcpyDtoDAsync_v2 => cuMemcpyDtoDAsync_v2(exec, r, w),
        OP_cuMemcpyPeer => cuMemcpyPeer(exec, r, w),
        OP_cuMemcpyPeerAsync => cuMemcpyPeerAsync(exec, r, w),
        OP_cuMemcpy2D_v2 => special::cuMemcpy2D_v2(exec, r, w),
        OP_cuMemcpy2DUnaligned_v2 => special::cuMemcpy2DUnaligned_v2(exec, r, w),
        OP_cuMemcpy2DAsync_v2 => special::cuMemcpy2DAsync_v2(exec, r, w),
        OP_cuMemcpy3D_v2 => special::cuMemcpy3D_v2(exec, r, w),
        OP_cuMemcpy3DAsync_v2 => special::cuMemcpy3DAsync_v2(exec, r, w),
        OP_cuMemsetD8_v2 => cuMemsetD8_v2(exec, r, w),
        OP_cuMemsetD16_v2 => cuMemsetD16_v2(exec, r, w),
        OP_cuMemsetD32_v2 => cuMemsetD32_v2(exec, r, w),
        OP_cuMemsetD8Async => cuMemsetD8Async(exec, r, w),
        OP_cuMemsetD16Async => cuMemsetD16Async(exec, r, w),
        OP_cuMemsetD32Async => cuMemsetD32Async(exec, r, w),
        OP_cuMemsetD2D8_v2 => cuMemsetD2D8_v2(exec, r, w),
        OP_cuMemsetD2D16_v2 => cuMemsetD2D16_v2(exec, r, w),
        OP_cuMemsetD2D32_v2 => cuMemsetD2D32_v2(exec, r, w),
        OP_cuMemsetD2D8Async => cuMemsetD2D8Async(exec, r, w),
        OP_cuMemsetD2D16Async => cuMemsetD2D16Async(exec, r, w),
        OP_cuMemsetD2D32Async => cuMemsetD2D32Async(exec, r, w),
        OP_cuDeviceGetDefaultMemPool => cuDeviceGetDefaultMemPool(exec, r, w),
        OP_cuDeviceGetMemPool => cuDeviceGetMemPool(exec, r, w),
        OP_cuDeviceSetMemPool => cuDeviceSetMemPool(exec, r, w),
        OP_cuMemGetDefaultMemPool => cuMemGetDefaultMemPool(exec, r, w),
        OP_cuMemGetMemPool => cuMemGetMemPool(exec, r, w),
        OP_cuMemSetMemPool => cuMemSetMemPool(exec, r, w),
        OP_cuMemPoolCreate => cuMemPoolCreate(exec, r, w),
        OP_cuMemPoolDestroy => cuMemPoolDestroy(exec, r, w),
        OP_cuMemPoolGetAttribute => cuMemPoolGetAttribute(exec, r, w),
        OP_cuMemPoolSetAttribute => cuMemPoolSetAttribute(exec, r, w),
        OP_cuMemPoolGetAccess => cuMemPoolGetAccess(exec, r, w),
        OP_cuMemPoolSetAccess => cuMemPoolSetAccess(exec, r, w),
        OP_cuMemPoolTrimTo => cuMemPoolTrimTo(exec, r, w),
        OP_cuIpcGetMemHandle => cuIpcGetMemHandle(exec, r, w),
        OP_cuIpcOpenMemHandle_v2 => cuIpcOpenMemHandle_v2(exec, r, w),
        OP_cuIpcCloseMemHandle => cuIpcCloseMemHandle(exec, r, w),
        OP_cuIpcGetEventHandle => cuIpcGetEventHandle(exec, r, w),
        OP_cuIpcOpenEventHandle => cuIpcOpenEventHandle(exec, r, w),
        OP_cuMemAddressReserve => cuMemAddressReserve(exec, r, w),
        OP_cuMemAddressFree => cuMemAddressFree(exec, r, w),
        OP_cuMemCreate => cuMemCreate(exec, r, w),
        OP_cuMemRelease => cuMemRelease(exec, r, w),
        OP_cuMemMap => cuMemMap(exec, r, w),
        OP_cuMemUnmap => cuMemUnmap(exec, r, w),
        OP_cuMemSetAccess => cuMemSetAccess(exec, r, w),
        OP_cuMemGetAccess => cuMemGetAccess(exec, r, w),
        OP_cuMemGetAllocationGranularity => cuMemGetAllocationGranularity(exec, r, w),
        OP_cuMemGetAllocationPropertiesFromHandle => {
            cuMemGetAllocationPropertiesFromHandle(exec, r, w)
        }
        OP_cuMemRetainAllocationHandle => cuMemRetainAllocationHandle(exec, r, w),
        OP_cuMemAdvise => cuMemAdvise(exec, r, w),
        OP_cuMemAdvise_v2 => cuMemAdvise_v2(exec, r, w),
        OP_cuMemPrefetchAsync => cuMemPrefetchAsync(exec, r, w),
        OP_cuMemPrefetchAsync_v2 => cuMemPrefetchAsync_v2(exec, r, w),
        OP_cuMemPrefetchBatchAsync => cuMemPrefetchBatchAsync(exec, r, w),
        OP_cuMemDiscardBatchAsync => cuMemDiscardBatchAsync(exec, r, w),
        OP_cuMemDiscardAndPrefetchBatchAsync => cuMemDiscardAndPrefetchBatchAsync(exec, r, w),
        OP_cuMemRangeGetAttribute => cuMemRangeGetAttribute(exec, r, w),
        OP_cuStreamCreate => cuStreamCreate(exec, r, w),
        OP_cuStreamCreateWithPriority => cuStreamCreateWithPriority(exec, r, w),
        OP_cuStreamDestroy_v2 => cuStreamDestroy_v2(exec, r, w),
        OP_cuStreamSynchronize => cuStreamSynchronize(exec, r, w),
        OP_cuStreamQuery => cuStreamQuery(exec, r, w),
        OP_cuStreamWaitEvent => cuStreamWaitEvent(exec, r, w),
        OP_cuStreamGetFlags => cuStreamGetFlags(exec, r, w),
        OP_cuStreamGetPriority => cuStreamGetPriority(exec, r, w),
        OP_cuStreamGetId => cuStreamGetId(exec, r, w),
        OP_cuStreamGetDevice => cuStreamGetDevice(exec, r, w),
        OP_cuStreamGetCtx => cuStreamGetCtx(exec, r, w),
        OP_cuStreamAttachMemAsync => cuStreamAttachMemAsync(exec, r, w),
        OP_cuStreamCopyAttributes => cuStreamCopyAttributes(exec, r, w),
        OP_cuStreamGetAttribute => cuStreamGetAttribute(exec, r, w),
        OP_cuStreamSetAttribute => cuStreamSetAttribute(exec, r, w),
        OP_cuStreamWaitValue32 => cuStreamWaitValue32(exec, r, w),
        OP_cuStreamWaitValue32_v2 => cuStreamWaitValue32_v2(exec, r, w),
        OP_cuStreamWaitValue64 => cuStreamWaitValue64(exec, r, w),
        OP_cuStreamWaitValue64_v2 => cuStreamWaitValue64_v2(exec, r, w),
        OP_cuStreamWriteValue32 => cuStreamWriteValue32(exec, r, w),
        OP_cuStreamWriteValue32_v2 => cuStreamWriteValue32_v2(exec, r, w),
        OP_cuStreamWriteValue64 => cuStreamWriteValue64(exec, r, w),
        OP_cuStreamWriteValue64_v2 => cuStreamWriteValue64_v2(exec, r, w),
        OP_cuStreamBatchMemOp => cuStreamBatchMemOp(exec, r, w),
        OP_cuStreamBatchMemOp_v2 => cuStreamBatchMemOp_v2(exec, r, w),
        OP_cuStreamAddCallback => special::cuStreamAddCallback(exec, r, w),
        OP_cuLaunchHostFunc => special::cuLaunchHostFunc(exec, r, w),
        OP_cuStreamBeginCapture_v2 => cuStreamBeginCapture_v2(exec, r, w),
        OP_cuStreamBeginCaptureToGraph => cuStreamBeginCaptureToGraph(exec, r, w),
        OP_cuStreamEndCapture => cuStreamEndCapture(exec, r, w),
        OP_cuStreamUpdateCaptureDependencies => cuStreamUpdateCaptureDependencies(exec, r, w),
        OP_cuStreamUpdateCaptureDependencies_v2 => cuStreamUpdateCaptureDependencies_v2(exec, r, w),
        OP_cuThreadExchangeStreamCaptureMode => cuThreadExchangeStreamCaptureMode(exec, r, w),
        OP_cuEventCreate => cuEventCreate(exec, r, w),
        OP_cuEventDestroy_v2 => cuEventDestroy_v2(exec, r, w),
        OP_cuEventRecord => cuEventRecord(exec, r, w),
        OP_cuEventRecordWithFlags => cuEventRecordWithFlags(exec, r, w),
        OP_cuEventQuery => cuEventQuery(exec, r, w),
        OP_cuEventSynchronize => cuEventSynchronize(exec, r, w),
        OP_cuEventElapsedTime => cuEventElapsedTime(exec, r, w),
        OP_cuEventElapsedTime_v2 => cuEventElapsedTime_v2(exec, r, w),
        OP_cuModuleLoadData => special::cuModuleLoadData(exec, r, w),
        OP_cuModuleUnload => cuModuleUnload(exec, r, w),
        OP_cuModuleGetLoadingMode => cuModuleGetLoadingMode(exec, r, w),
        OP_cuModuleGetFunction => special::cuModuleGetFunction(exec, r, w),
        OP_cuModuleGetFunctionCount => cuModuleGetFunctionCount(exec, r, w),
        OP_cuModuleEnumerateFunctions => cuModuleEnumerateFunctions(exec, r, w),
        OP_cuModuleGetGlobal_v2 => cuModuleGetGlobal_v2(exec, r, w),
        OP_cuFuncGetAttribute => cuFuncGetAttribute(exec, r, w),
        OP_cuFuncSetAttribute => cuFuncSetAttribute(exec, r, w),
        OP_cuFuncSetCacheConfig => cuFuncSetCacheConfig(exec, r, w),
        OP_cuFuncSetSharedMemConfig => cuFuncSetSharedMemConfig(exec, r, w),
        OP_cuFuncGetModule => cuFuncGetModule(exec, r, w),
        OP_cuFuncGetParamCount => cuFuncGetParamCount(exec, r, w),
        OP_cuFuncGetParamInfo => cuFuncGetParamInfo(exec, r, w),
        OP_cuFuncIsLoaded => cuFuncIsLoaded(exec, r, w),
        OP_cuFuncLoad => cuFuncLoad(exec, r, w),
        OP_cuLibraryLoadData => special::cuLibraryLoadData(exec, r, w),
        OP_cuLibraryUnload => cuLibraryUnload(exec, r, w),
        OP_cuLibraryGetKernel => special::cuLibraryGetKernel(exec, r, w),
        OP_cuLibraryGetModule => cuLibraryGetModule(exec, r, w),
        OP_cuLibraryGetGlobal => cuLibraryGetGlobal(exec, r, w),
        OP_cuLibraryGetManaged => cuLibraryGetManaged(exec, r, w),
        OP_cuLibraryGetKernelCount => cuLibraryGetKernelCount(exec, r, w),
        OP_cuLibraryEnumerateKernels => cuLibraryEnumerateKernels(exec, r, w),
        OP_cuKernelGetFunction => cuKernelGetFunction(exec, r, w),
        OP_cuKernelGetLibrary => cuKernelGetLibrary(exec, r, w),
        OP_cuKernelGetAttribute => cuKernelGetAttribute(exec, r, w),
        OP_cuKernelSetAttribute => cuKernelSetAttribute(exec, r, w),
        OP_cuKernelSetCacheConfig => cuKernelSetCacheConfig(exec, r, w),
        OP_cuKernelGetParamCount => cuKernelGetParamCount(exec, r, w),
        OP_cuKernelGetParamInfo => cuKernelGetParamInfo(exec, r, w),
        OP_cuLinkCreate_v2 => special::cuLinkCreate_v2(exec, r, w),
        OP_cuLinkAddData_v2 => special::cuLinkAddData_v2(exec, r, w),
        OP_cuLinkComplete => special::cuLinkComplete(exec, r, w),
        OP_cuLinkDestroy => special::cuLinkDestroy(exec, r, w),
        OP_cuLaunchKernel => special::cuLaunchKernel(exec, r, w),
        OP_cuLaunchKernelEx => special::cuLaunchKernelEx(exec, r, w),
        OP_cuLaunchCooperativeKernel => special::cuLaunchCooperativeKernel(exec, r, w),
        OP_cuOccupancyMaxActiveBlocksPerMultiprocessor => {
            cuOccupancyMaxActiveBlocksPerMultiprocessor(exec, r, w)
        }
        OP_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags => {
            cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(exec, r, w)
        }
        OP_cuOccupancyAvailableDynamicSMemPerBlock => {
            cuOccupancyAvailableDynamicSMemPerBlock(exec, r, w)
        }
        OP_cuOccupancyMaxActiveClusters => special::cuOccupancyMaxActiveClusters(exec, r, w),
        OP_cuOccupancyMaxPotentialClusterSize => {
            special::cuOccupancyMaxPotentialClusterSize(exec, r, w)
        }
        OP_cuGraphCreate => cuGraphCreate(exec, r, w),
        OP_cuGraphClone => cuGraphClone(exec, r, w),
        OP_cuGraphDestroy => cuGraphDestroy(exec, r, w),
        OP_cuGraphGetId => cuGraphGetId(exec, r, w),
        OP_cuGraphExecGetId => cuGraphExecGetId(exec, r, w),
        OP_cuGraphAddEmptyNode => cuGraphAddEmptyNode(exec, r, w),
        OP_cuGraphGetNodes => cuGraphGetNodes(exec, r, w),
        OP_cuGraphGetRootNodes => cuGraphGetRootNodes(exec, r, w),
        OP_cuGraphGetEdges => cuGraphGetEdges(exec, r, w),
        OP_cuGraphGetEdges_v2 => cuGraphGetEdges_v2(exec, r, w),
        OP_cuGraphAddDependencies => cuGraphAddDependencies(exec, r, w),
        OP_cuGraphAddDependencies_v2 => cuGraphAddDependencies_v2(exec, r, w),
        OP_cuGraphRemoveDependencies => cuGraphRemoveDependencies(exec, r, w),
        OP_cuGraphRemoveDependencies_v2 => cuGraphRemoveDependencies_v2(exec, r, w),
        OP_cuGraphNodeGetDependencies => cuGraphNodeGetDependencies(exec, r, w),
        OP_cuGraphNodeGetDependencies_v2 => cuGraphNodeGetDependencies_v2(exec, r, w),
        OP_cuGraphNodeGetDependentNodes => cuGraphNodeGetDependentNodes(exec, r, w),
        OP_cuGraphNodeGetDependentNodes_v2 => cuGraphNodeGetDependentNodes_v2(exec, r, w),
        OP_cuGraphNodeFindInClone => cuGraphNodeFindInClone(exec, r, w),
        OP_cuGraphNodeGetContainingGraph => cuGraphNodeGetContainingGraph(exec, r, w),
        OP_cuGraphNodeGetLocalId => cuGraphNodeGetLocalId(exec, r, w),
        OP_cuGraphNodeGetToolsId => cuGraphNodeGetToolsId(exec, r, w),
        OP_cuGraphNodeGetType => cuGraphNodeGetType(exec, r, w),
        OP_cuGraphDestroyNode => cuGraphDestroyNode(exec, r, w),
        OP_cuGraphChildGraphNodeGetGraph => cuGraphChildGraphNodeGetGraph(exec, r, w),
        OP_cuGraphEventRecordNodeGetEvent => cuGraphEventRecordNodeGetEvent(exec, r, w),
        OP_cuGraphEventWaitNodeGetEvent => cuGraphEventWaitNodeGetEvent(exec, r, w),
        OP_cuGraphMemFreeNodeGetParams => cuGraphMemFreeNodeGetParams(exec, r, w),
        OP_cuGraphMemsetNodeGetParams => cuGraphMemsetNodeGetParams(exec, r, w),
        OP_cuGraphConditionalHandleCreate => cuGraphConditionalHandleCreate(exec, r, w),
        OP_cuGraphKernelNodeGetAttribute => cuGraphKernelNodeGetAttribute(exec, r, w),
        OP_cuGraphKernelNodeSetAttribute => cuGraphKernelNodeSetAttribute(exec, r, w),
        OP_cuGraphKernelNodeCopyAttributes => cuGraphKernelNodeCopyAttributes(exec, r, w),
        OP_cuGraphExecGetFlags => cuGraphExecGetFlags(exec, r, w),
        OP_cuGraphNodeGetEnabled => cuGraphNodeGetEnabled(exec, r, w),
        OP_cuGraphNodeSetEnabled => cuGraphNodeSetEnabled(exec, r, w),
        OP_cuGraphUpload => cuGraphUpload(exec, r, w),
        OP_cuGraphLaunch => cuGraphLaunch(exec, r, w),
        OP_cuGraphExecDestroy => cuGraphExecDestroy(exec, r, w),
        OP_cuTensorMapEncodeTiled => cuTensorMapEncodeTiled(exec, r, w),
        OP_cuTensorMapEncodeIm2col => cuTensorMapEncodeIm2col(exec, r, w),
        OP_cuTensorMapReplaceAddress => cuTensorMapReplaceAddress(exec, r, w),
        OP_cuArrayCreate_v2 => cuArrayCreate_v2(exec, r, w),
        OP_cuArrayGetDescriptor_v2 => cuArrayGetDescriptor_v2(exec, r, w),
        OP_cuArray3DCreate_v2 => cuArray3DCreate_v2(exec, r, w),
        OP_cuArray3DGetDescriptor_v2 => cuArray3DGetDescriptor_v2(exec, r, w),
        OP_cuArrayDestroy => cuArrayDestroy(exec, r, w),
        OP_cuArrayGetMemoryRequirements => cuArrayGetMemoryRequirements(exec, r, w),
        OP_cuArrayGetPlane => cuArrayGetPlane(exec, r, w),
        OP_cuMipmappedArrayCreate => cuMipmappedArrayCreate(exec, r, w),
        OP_cuMipmappedArrayGetLevel => cuMipmappedArrayGetLevel(exec, r, w),
        OP_cuArrayGetSparseProperties => cuArrayGetSparseProperties(exec, r, w),
        OP_cuMipmappedArrayGetSparseProperties => cuMipmappedArrayGetSparseProperties(exec, r, w),
        OP_cuMipmappedArrayGetMemoryRequirements => {
            cuMipmappedArrayGetMemoryRequirements(exec, r, w)
        }
        OP_cuMipmappedArrayDestroy => cuMipmappedArrayDestroy(exec, r, w),
        OP_cuTexObjectCreate => special::cuTexObjectCreate(exec, r, w),
        OP_cuTexObjectDestroy => special::cuTexObjectDestroy(exec, r, w),
        OP_cuSurfObjectCreate => special::cuSurfObjectCreate(exec, r, w),
        OP_cuSurfObjectDestroy => special::cuSurfObjectDestroy(exec, r, w),
        OP_cuModuleGetTexRef => cuModuleGetTexRef(exec, r, w),
        OP_cuModuleGetSurfRef => cuModuleGetSurfRef(exec, r, w),
        OP_cuTexRefCreate => cuTexRefCreate(exec, r, w),
        OP_cuTexRefDestroy => cuTexRefDestroy(exec, r, w),
        OP_cuTexRefSetArray => cuTexRefSetArray(exec, r, w),
        OP_cuTexRefSetMipmappedArray => cuTexRefSetMipmappedArray(exec, r, w),
        OP_cuTexRefSetAddress_v2 => cuTexRefSetAddress_v2(exec, r, w),
        OP_cuTexRefSetAddress2D_v3 => cuTexRefSetAddress2D_v3(exec, r, w),
        OP_cuTexRefSetFormat => cuTexRefSetFormat(exec, r, w),
        OP_cuTexRefSetAddressMode => cuTexRefSetAddressMode(exec, r, w),
        OP_cuTexRefSetFilterMode => cuTexRefSetFilterMode(exec, r, w),
        OP_cuTexRefSetMipmapFilterMode => cuTexRefSetMipmapFilterMode(exec, r, w),
        OP_cuTexRefSetMipmapLevelBias => cuTexRefSetMipmapLevelBias(exec, r, w),
        OP_cuTexRefSetMipmapLevelClamp => cuTexRefSetMipmapLevelClamp(exec, r, w),
        OP_cuTexRefSetMaxAnisotropy => cuTexRefSetMaxAnisotropy(exec, r, w),
        OP_cuTexRefSetBorderColor => cuTexRefSetBorderColor(exec, r, w),
        OP_cuTexRefSetFlags => cuTexRefSetFlags(exec, r, w),
        OP_cuTexRefGetAddress_v2 => cuTexRefGetAddress_v2(exec, r, w),
        OP_cuTexRefGetArray => cuTexRefGetArray(exec, r, w),
        OP_cuTexRefGetMipmappedArray => cuTexRefGetMipmappedArray(exec, r, w),
        OP_cuTexRefGetAddressMode => cuTexRefGetAddressMode(exec, r, w),
        OP_cuTexRefGetFilterMode => cuTexRefGetFilterMode(exec, r, w),
        OP_cuTexRefGetFormat => cuTexRefGetFormat(exec, r, w),
        OP_cuTexRefGetMipmapFilterMode => cuTexRefGetMipmapFilterMode(exec, r, w),
        OP_cuTexRefGetMipmapLevelBias => cuTexRefGetMipmapLevelBias(exec, r, w),
        OP_cuTexRefGetMipmapLevelClamp => cuTexRefGetMipmapLevelClamp(exec, r, w),
        OP_cuTexRefGetMaxAnisotropy => cuTexRefGetMaxAnisotropy(exec, r, w),
        OP_cuTexRefGetBorderColor => cuTexRefGetBorderColor(exec, r, w),
        OP_cuTexRefGetFlags => cuTexRefGetFlags(exec, r, w),
        OP_cuSurfRefSetArray => cuSurfRefSetArray(exec, r, w),
        OP_cuSurfRefGetArray => cuSurfRefGetArray(exec, r, w),
        _ => Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed()),
    }
}

fn cuDeviceGetName(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let len: c_int = Scalar::take(r)?;
    let dev: CUdevice = Scalar::take(r)?;
    r.end()?;
    let mut name = unsafe { wire::room::<c_char>(Scalar::as_len(len)) }?;

    let Some(call) = exec.driver.cuDeviceGetName else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(name.as_mut_ptr(), len, dev) };
    if status == CUDA_SUCCESS {
        wire::put_room(w, &name);
    }
    Ok(status.cast_signed())
}

fn cuDeviceGetUuid(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dev: CUdevice = Scalar::take(r)?;
    r.end()?;
    let mut uuid: CUuuid = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuDeviceGetUuid else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut uuid, dev) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const uuid, 1) };
    }
    Ok(status.cast_signed())
}

fn cuDeviceGetUuid_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dev: CUdevice = Scalar::take(r)?;
    r.end()?;
    let mut uuid: CUuuid = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuDeviceGetUuid_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut uuid, dev) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const uuid, 1) };
    }
    Ok(status.cast_signed())
}

fn cuDeviceTotalMem_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dev: CUdevice = Scalar::take(r)?;
    r.end()?;
    let mut bytes: usize = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuDeviceTotalMem_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut bytes, dev) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const bytes, 1) };
    }
    Ok(status.cast_signed())
}

fn cuDeviceGetAttribute(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let attrib: CUdevice_attribute = Scalar::take(r)?;
    let dev: CUdevice = Scalar::take(r)?;
    r.end()?;
    let mut pi: c_int = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuDeviceGetAttribute else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pi, attrib, dev) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const pi, 1) };
    }
    Ok(status.cast_signed())
}

fn cuDeviceGetPCIBusId(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let len: c_int = Scalar::take(r)?;
    let dev: CUdevice = Scalar::take(r)?;
    r.end()?;
    let mut pciBusId = unsafe { wire::room::<c_char>(Scalar::as_len(len)) }?;

    let Some(call) = exec.driver.cuDeviceGetPCIBusId else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(pciBusId.as_mut_ptr(), len, dev) };
    if status == CUDA_SUCCESS {
        wire::put_room(w, &pciBusId);
    }
    Ok(status.cast_signed())
}

fn cuDeviceGetByPCIBusId(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let pciBusId = wire::take_string(r)?;
    r.end()?;
    let mut dev: CUdevice = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuDeviceGetByPCIBusId else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut dev, pciBusId.as_ptr()) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const dev, 1) };
    }
    Ok(status.cast_signed())
}

fn cuDeviceComputeCapability(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let dev: CUdevice = Scalar::take(r)?;
    r.end()?;
    let mut major: c_int = unsafe { wire::zeroed() };
    let mut minor: c_int = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuDeviceComputeCapability else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut major, &raw mut minor, dev) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const major, 1) };
        unsafe { wire::put(w, &raw const minor, 1) };
    }
    Ok(status.cast_signed())
}

fn cuDeviceGetProperties(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dev: CUdevice = Scalar::take(r)?;
    r.end()?;
    let mut prop: CUdevprop = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuDeviceGetProperties else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut prop, dev) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const prop, 1) };
    }
    Ok(status.cast_signed())
}

fn cuDeviceCanAccessPeer(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dev: CUdevice = Scalar::take(r)?;
    let peerDev: CUdevice = Scalar::take(r)?;
    r.end()?;
    let mut canAccessPeer: c_int = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuDeviceCanAccessPeer else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut canAccessPeer, dev, peerDev) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const canAccessPeer, 1) };
    }
    Ok(status.cast_signed())
}

fn cuDeviceGetP2PAttribute(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let attrib: CUdevice_P2PAttribute = Scalar::take(r)?;
    let srcDevice: CUdevice = Scalar::take(r)?;
    let dstDevice: CUdevice = Scalar::take(r)?;
    r.end()?;
    let mut value: c_int = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuDeviceGetP2PAttribute else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut value, attrib, srcDevice, dstDevice) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const value, 1) };
    }
    Ok(status.cast_signed())
}

fn cuDeviceGetTexture1DLinearMaxWidth(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let format: CUarray_format = Scalar::take(r)?;
    let numChannels: c_uint = Scalar::take(r)?;
    let dev: CUdevice = Scalar::take(r)?;
    r.end()?;
    let mut maxWidthInElements: usize = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuDeviceGetTexture1DLinearMaxWidth else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut maxWidthInElements, format, numChannels, dev) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const maxWidthInElements, 1) };
    }
    Ok(status.cast_signed())
}

fn cuDeviceGetExecAffinitySupport(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let type_: CUexecAffinityType = Scalar::take(r)?;
    let dev: CUdevice = Scalar::take(r)?;
    r.end()?;
    let mut pi: c_int = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuDeviceGetExecAffinitySupport else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pi, type_, dev) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const pi, 1) };
    }
    Ok(status.cast_signed())
}

fn cuDeviceGetHostAtomicCapabilities(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let mut operations = unsafe { wire::take_vec::<CUatomicOperation>(r) }?;
    let count: c_uint = Scalar::take(r)?;
    let dev: CUdevice = Scalar::take(r)?;
    r.end()?;
    if operations.len() != Scalar::as_len(count) {
        return Err(mismatch("operations", operations.len()).into());
    }
    let mut capabilities = unsafe { wire::room::<c_uint>(Scalar::as_len(count)) }?;

    let Some(call) = exec.driver.cuDeviceGetHostAtomicCapabilities else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            capabilities.as_mut_ptr(),
            operations.as_ptr().cast_mut(),
            count,
            dev,
        )
    };
    if status == CUDA_SUCCESS {
        {
            let count = Scalar::as_len(count);
            w.u64(count as u64);
            unsafe { wire::put(w, capabilities.as_ptr().cast::<c_uint>(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn cuDeviceGetP2PAtomicCapabilities(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let mut operations = unsafe { wire::take_vec::<CUatomicOperation>(r) }?;
    let count: c_uint = Scalar::take(r)?;
    let srcDevice: CUdevice = Scalar::take(r)?;
    let dstDevice: CUdevice = Scalar::take(r)?;
    r.end()?;
    if operations.len() != Scalar::as_len(count) {
        return Err(mismatch("operations", operations.len()).into());
    }
    let mut capabilities = unsafe { wire::room::<c_uint>(Scalar::as_len(count)) }?;

    let Some(call) = exec.driver.cuDeviceGetP2PAtomicCapabilities else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            capabilities.as_mut_ptr(),
            operations.as_ptr().cast_mut(),
            count,
            srcDevice,
            dstDevice,
        )
    };
    if status == CUDA_SUCCESS {
        {
            let count = Scalar::as_len(count);
            w.u64(count as u64);
            unsafe { wire::put(w, capabilities.as_ptr().cast::<c_uint>(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn cuDeviceGetGraphMemAttribute(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device: CUdevice = Scalar::take(r)?;
    let attr: CUgraphMem_attribute = Scalar::take(r)?;
    r.end()?;
    let mut value = unsafe { wire::room::<u64>((8usize).div_ceil(8)) }?;

    let Some(call) = exec.driver.cuDeviceGetGraphMemAttribute else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(device, attr, value.as_mut_ptr().cast()) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, value.as_ptr().cast::<u8>(), 8) };
    }
    Ok(status.cast_signed())
}

fn cuDeviceSetGraphMemAttribute(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let device: CUdevice = Scalar::take(r)?;
    let attr: CUgraphMem_attribute = Scalar::take(r)?;
    let mut value = {
        let mut words = [0u64; (8usize).div_ceil(8)];
        unsafe { wire::take(r, words.as_mut_ptr().cast::<u8>(), 8usize) }?;
        words.to_vec()
    };
    r.end()?;
    let Some(call) = exec.driver.cuDeviceSetGraphMemAttribute else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(device, attr, value.as_ptr().cast_mut().cast()) };
    Ok(status.cast_signed())
}

fn cuDeviceGraphMemTrim(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let device: CUdevice = Scalar::take(r)?;
    r.end()?;
    let Some(call) = exec.driver.cuDeviceGraphMemTrim else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(device) };
    Ok(status.cast_signed())
}

fn cuProfilerStart(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    r.end()?;
    let Some(call) = exec.driver.cuProfilerStart else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call() };
    Ok(status.cast_signed())
}

fn cuProfilerStop(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    r.end()?;
    let Some(call) = exec.driver.cuProfilerStop else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call() };
    Ok(status.cast_signed())
}

fn cuFlushGPUDirectRDMAWrites(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let target: CUflushGPUDirectRDMAWritesTarget = Scalar::take(r)?;
    let scope: CUflushGPUDirectRDMAWritesScope = Scalar::take(r)?;
    r.end()?;
    let Some(call) = exec.driver.cuFlushGPUDirectRDMAWrites else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(target, scope) };
    Ok(status.cast_signed())
}

fn cuDevicePrimaryCtxRetain(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let pctx = r.u64()?;
    let dev: CUdevice = Scalar::take(r)?;
    r.end()?;
    match exec.handles.check_minted(Kind::Context, pctx) {
        Ok(()) => {}
        Err(code) => return Ok(code),
    }
    let mut made_pctx: CUcontext = core::ptr::null_mut();

    let Some(call) = exec.driver.cuDevicePrimaryCtxRetain else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut made_pctx, dev) };
    if status == 0 {
        exec.handles.insert(Kind::Context, pctx, made_pctx.cast());
    }
    Ok(status.cast_signed())
}

fn cuDevicePrimaryCtxRelease_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let dev: CUdevice = Scalar::take(r)?;
    r.end()?;
    let Some(call) = exec.driver.cuDevicePrimaryCtxRelease_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(dev) };
    Ok(status.cast_signed())
}

fn cuDevicePrimaryCtxReset_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let dev: CUdevice = Scalar::take(r)?;
    r.end()?;
    let Some(call) = exec.driver.cuDevicePrimaryCtxReset_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(dev) };
    Ok(status.cast_signed())
}

fn cuDevicePrimaryCtxGetState(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let dev: CUdevice = Scalar::take(r)?;
    r.end()?;
    let mut flags: c_uint = unsafe { wire::zeroed() };
    let mut active: c_int = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuDevicePrimaryCtxGetState else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(dev, &raw mut flags, &raw mut active) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const flags, 1) };
        unsafe { wire::put(w, &raw const active, 1) };
    }
    Ok(status.cast_signed())
}

fn cuDevicePrimaryCtxSetFlags_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let dev: CUdevice = Scalar::take(r)?;
    let flags: c_uint = Scalar::take(r)?;
    r.end()?;
    let Some(call) = exec.driver.cuDevicePrimaryCtxSetFlags_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(dev, flags) };
    Ok(status.cast_signed())
}

fn cuCtxCreate_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let pctx = r.u64()?;
    let flags: c_uint = Scalar::take(r)?;
    let dev: CUdevice = Scalar::take(r)?;
    r.end()?;
    match exec.handles.check_minted(Kind::Context, pctx) {
        Ok(()) => {}
        Err(code) => return Ok(code),
    }
    let mut made_pctx: CUcontext = core::ptr::null_mut();

    let Some(call) = exec.driver.cuCtxCreate_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut made_pctx, flags, dev) };
    if status == 0 {
        exec.handles.insert(Kind::Context, pctx, made_pctx.cast());
    }
    Ok(status.cast_signed())
}

fn cuCtxDestroy_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let ctx = r.u64()?;
    r.end()?;
    let real_ctx = match exec.handles.real(Kind::Context, ctx) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuCtxDestroy_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_ctx) };
    if status == 0 {
        exec.handles.remove(Kind::Context, ctx);
    }
    Ok(status.cast_signed())
}

fn cuCtxGetApiVersion(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let ctx = r.u64()?;
    r.end()?;
    let real_ctx = if ctx == 0 {
        core::ptr::null_mut()
    } else {
        match exec.handles.real(Kind::Context, ctx) {
            Ok(real) => real.cast(),
            Err(code) => return Ok(code),
        }
    };
    let mut version: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuCtxGetApiVersion else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_ctx, &raw mut version) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const version, 1) };
    }
    Ok(status.cast_signed())
}

fn cuCtxGetFlags(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    r.end()?;
    let mut flags: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuCtxGetFlags else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut flags) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const flags, 1) };
    }
    Ok(status.cast_signed())
}

fn cuCtxSetFlags(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let flags: c_uint = Scalar::take(r)?;
    r.end()?;
    let Some(call) = exec.driver.cuCtxSetFlags else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(flags) };
    Ok(status.cast_signed())
}

fn cuCtxGetId(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let ctx = r.u64()?;
    r.end()?;
    let real_ctx = if ctx == 0 {
        core::ptr::null_mut()
    } else {
        match exec.handles.real(Kind::Context, ctx) {
            Ok(real) => real.cast(),
            Err(code) => return Ok(code),
        }
    };
    let mut ctxId: c_ulonglong = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuCtxGetId else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_ctx, &raw mut ctxId) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const ctxId, 1) };
    }
    Ok(status.cast_signed())
}

fn cuCtxGetStreamPriorityRange(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let there_leastPriority = wire::take_flag(r)?;
    let there_greatestPriority = wire::take_flag(r)?;
    r.end()?;
    let mut leastPriority: c_int = unsafe { wire::zeroed() };
    let mut greatestPriority: c_int = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuCtxGetStreamPriorityRange else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            if there_leastPriority {
                &raw mut leastPriority
            } else {
                core::ptr::null_mut()
            },
            if there_greatestPriority {
                &raw mut greatestPriority
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == CUDA_SUCCESS {
        if there_leastPriority {
            unsafe { wire::put(w, &raw const leastPriority, 1) };
        }
        if there_greatestPriority {
            unsafe { wire::put(w, &raw const greatestPriority, 1) };
        }
    }
    Ok(status.cast_signed())
}

fn cuCtxSynchronize(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    r.end()?;
    let Some(call) = exec.driver.cuCtxSynchronize else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call() };
    Ok(status.cast_signed())
}

fn cuCtxSynchronize_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let ctx = r.u64()?;
    r.end()?;
    let real_ctx = if ctx == 0 {
        core::ptr::null_mut()
    } else {
        match exec.handles.real(Kind::Context, ctx) {
            Ok(real) => real.cast(),
            Err(code) => return Ok(code),
        }
    };

    let Some(call) = exec.driver.cuCtxSynchronize_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_ctx) };
    Ok(status.cast_signed())
}

fn cuCtxGetLimit(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let limit: CUlimit = Scalar::take(r)?;
    r.end()?;
    let mut pvalue: usize = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuCtxGetLimit else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pvalue, limit) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const pvalue, 1) };
    }
    Ok(status.cast_signed())
}

fn cuCtxSetLimit(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let limit: CUlimit = Scalar::take(r)?;
    let value: usize = Scalar::take(r)?;
    r.end()?;
    let Some(call) = exec.driver.cuCtxSetLimit else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(limit, value) };
    Ok(status.cast_signed())
}

fn cuCtxGetCacheConfig(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    r.end()?;
    let mut pconfig: CUfunc_cache = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuCtxGetCacheConfig else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pconfig) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const pconfig, 1) };
    }
    Ok(status.cast_signed())
}

fn cuCtxSetCacheConfig(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let config: CUfunc_cache = Scalar::take(r)?;
    r.end()?;
    let Some(call) = exec.driver.cuCtxSetCacheConfig else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(config) };
    Ok(status.cast_signed())
}

fn cuCtxGetSharedMemConfig(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    r.end()?;
    let mut pConfig: CUsharedconfig = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuCtxGetSharedMemConfig else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pConfig) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const pConfig, 1) };
    }
    Ok(status.cast_signed())
}

fn cuCtxSetSharedMemConfig(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let config: CUsharedconfig = Scalar::take(r)?;
    r.end()?;
    let Some(call) = exec.driver.cuCtxSetSharedMemConfig else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(config) };
    Ok(status.cast_signed())
}

fn cuCtxGetExecAffinity(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let type_: CUexecAffinityType = Scalar::take(r)?;
    r.end()?;
    let mut pExecAffinity: CUexecAffinityParam = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuCtxGetExecAffinity else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pExecAffinity, type_) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const pExecAffinity, 1) };
    }
    Ok(status.cast_signed())
}

fn cuCtxResetPersistingL2Cache(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    r.end()?;
    let Some(call) = exec.driver.cuCtxResetPersistingL2Cache else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call() };
    Ok(status.cast_signed())
}

fn cuCtxEnablePeerAccess(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let peerContext = r.u64()?;
    let Flags: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_peerContext = match exec.handles.real(Kind::Context, peerContext) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuCtxEnablePeerAccess else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_peerContext, Flags) };
    Ok(status.cast_signed())
}

fn cuCtxDisablePeerAccess(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let peerContext = r.u64()?;
    r.end()?;
    let real_peerContext = match exec.handles.real(Kind::Context, peerContext) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuCtxDisablePeerAccess else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_peerContext) };
    Ok(status.cast_signed())
}

fn cuCtxRecordEvent(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hCtx = r.u64()?;
    let hEvent = r.u64()?;
    r.end()?;
    let real_hCtx = match exec.handles.real(Kind::Context, hCtx) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let real_hEvent = match exec.handles.real(Kind::Event, hEvent) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuCtxRecordEvent else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hCtx, real_hEvent) };
    Ok(status.cast_signed())
}

fn cuCtxWaitEvent(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hCtx = r.u64()?;
    let hEvent = r.u64()?;
    r.end()?;
    let real_hCtx = match exec.handles.real(Kind::Context, hCtx) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let real_hEvent = match exec.handles.real(Kind::Event, hEvent) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuCtxWaitEvent else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hCtx, real_hEvent) };
    Ok(status.cast_signed())
}

fn cuMemAlloc_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let bytesize: usize = Scalar::take(r)?;
    r.end()?;
    let mut dptr: CUdeviceptr = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuMemAlloc_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut dptr, bytesize) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const dptr, 1) };
    }
    Ok(status.cast_signed())
}

fn cuMemAllocPitch_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let WidthInBytes: usize = Scalar::take(r)?;
    let Height: usize = Scalar::take(r)?;
    let ElementSizeBytes: c_uint = Scalar::take(r)?;
    r.end()?;
    let mut dptr: CUdeviceptr = unsafe { wire::zeroed() };
    let mut pPitch: usize = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuMemAllocPitch_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            &raw mut dptr,
            &raw mut pPitch,
            WidthInBytes,
            Height,
            ElementSizeBytes,
        )
    };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const dptr, 1) };
        unsafe { wire::put(w, &raw const pPitch, 1) };
    }
    Ok(status.cast_signed())
}

fn cuMemAllocManaged(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let bytesize: usize = Scalar::take(r)?;
    let flags: c_uint = Scalar::take(r)?;
    r.end()?;
    let mut dptr: CUdeviceptr = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuMemAllocManaged else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut dptr, bytesize, flags) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const dptr, 1) };
    }
    Ok(status.cast_signed())
}

fn cuMemFree_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dptr = r.u64()?;
    r.end()?;
    let Some(call) = exec.driver.cuMemFree_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(dptr) };
    Ok(status.cast_signed())
}

fn cuMemGetInfo_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    r.end()?;
    let mut free: usize = unsafe { wire::zeroed() };
    let mut total: usize = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuMemGetInfo_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut free, &raw mut total) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const free, 1) };
        unsafe { wire::put(w, &raw const total, 1) };
    }
    Ok(status.cast_signed())
}

fn cuMemGetAddressRange_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let there_pbase = wire::take_flag(r)?;
    let there_psize = wire::take_flag(r)?;
    let dptr = r.u64()?;
    r.end()?;
    let mut pbase: CUdeviceptr = unsafe { wire::zeroed() };
    let mut psize: usize = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuMemGetAddressRange_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            if there_pbase {
                &raw mut pbase
            } else {
                core::ptr::null_mut()
            },
            if there_psize {
                &raw mut psize
            } else {
                core::ptr::null_mut()
            },
            dptr,
        )
    };
    if status == CUDA_SUCCESS {
        if there_pbase {
            unsafe { wire::put(w, &raw const pbase, 1) };
        }
        if there_psize {
            unsafe { wire::put(w, &raw const psize, 1) };
        }
    }
    Ok(status.cast_signed())
}

fn cuMemAllocAsync(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let bytesize: usize = Scalar::take(r)?;
    let hStream = r.u64()?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut dptr: CUdeviceptr = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuMemAllocAsync else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut dptr, bytesize, real_hStream) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const dptr, 1) };
    }
    Ok(status.cast_signed())
}

fn cuMemAllocFromPoolAsync(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let bytesize: usize = Scalar::take(r)?;
    let pool = r.u64()?;
    let hStream = r.u64()?;
    r.end()?;
    let real_pool = match exec.handles.real(Kind::MemPool, pool) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut dptr: CUdeviceptr = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuMemAllocFromPoolAsync else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut dptr, bytesize, real_pool, real_hStream) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const dptr, 1) };
    }
    Ok(status.cast_signed())
}

fn cuMemFreeAsync(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dptr = r.u64()?;
    let hStream = r.u64()?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuMemFreeAsync else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(dptr, real_hStream) };
    Ok(status.cast_signed())
}

fn cuMemcpy(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dst = r.u64()?;
    let src = r.u64()?;
    let ByteCount: usize = Scalar::take(r)?;
    r.end()?;
    let Some(call) = exec.driver.cuMemcpy else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(dst, src, ByteCount) };
    Ok(status.cast_signed())
}

fn cuMemcpyAsync(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dst = r.u64()?;
    let src = r.u64()?;
    let ByteCount: usize = Scalar::take(r)?;
    let hStream = r.u64()?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuMemcpyAsync else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(dst, src, ByteCount, real_hStream) };
    Ok(status.cast_signed())
}

fn cuMemcpyDtoD_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dstDevice = r.u64()?;
    let srcDevice = r.u64()?;
    let ByteCount: usize = Scalar::take(r)?;
    r.end()?;
    let Some(call) = exec.driver.cuMemcpyDtoD_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(dstDevice, srcDevice, ByteCount) };
    Ok(status.cast_signed())
}

fn cuMemcpyDtoDAsync_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dstDevice = r.u64()?;
    let srcDevice = r.u64()?;
    let ByteCount: usize = Scalar::take(r)?;
    let hStream = r.u64()?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuMemcpyDtoDAsync_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(dstDevice, srcDevice, ByteCount, real_hStream) };
    Ok(status.cast_signed())
}

fn cuMemcpyPeer(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dstDevice = r.u64()?;
    let dstContext = r.u64()?;
    let srcDevice = r.u64()?;
    let srcContext = r.u64()?;
    let ByteCount: usize = Scalar::take(r)?;
    r.end()?;
    let real_dstContext = match exec.handles.real(Kind::Context, dstContext) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let real_srcContext = match exec.handles.real(Kind::Context, srcContext) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuMemcpyPeer else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            dstDevice,
            real_dstContext,
            srcDevice,
            real_srcContext,
            ByteCount,
        )
    };
    Ok(status.cast_signed())
}

fn cuMemcpyPeerAsync(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dstDevice = r.u64()?;
    let dstContext = r.u64()?;
    let srcDevice = r.u64()?;
    let srcContext = r.u64()?;
    let ByteCount: usize = Scalar::take(r)?;
    let hStream = r.u64()?;
    r.end()?;
    let real_dstContext = match exec.handles.real(Kind::Context, dstContext) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let real_srcContext = match exec.handles.real(Kind::Context, srcContext) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuMemcpyPeerAsync else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            dstDevice,
            real_dstContext,
            srcDevice,
            real_srcContext,
            ByteCount,
            real_hStream,
        )
    };
    Ok(status.cast_signed())
}

fn cuMemsetD8_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dstDevice = r.u64()?;
    let uc: c_uchar = Scalar::take(r)?;
    let N: usize = Scalar::take(r)?;
    r.end()?;
    let Some(call) = exec.driver.cuMemsetD8_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(dstDevice, uc, N) };
    Ok(status.cast_signed())
}

fn cuMemsetD16_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dstDevice = r.u64()?;
    let us: c_ushort = Scalar::take(r)?;
    let N: usize = Scalar::take(r)?;
    r.end()?;
    let Some(call) = exec.driver.cuMemsetD16_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(dstDevice, us, N) };
    Ok(status.cast_signed())
}

fn cuMemsetD32_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dstDevice = r.u64()?;
    let ui: c_uint = Scalar::take(r)?;
    let N: usize = Scalar::take(r)?;
    r.end()?;
    let Some(call) = exec.driver.cuMemsetD32_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(dstDevice, ui, N) };
    Ok(status.cast_signed())
}

fn cuMemsetD8Async(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dstDevice = r.u64()?;
    let uc: c_uchar = Scalar::take(r)?;
    let N: usize = Scalar::take(r)?;
    let hStream = r.u64()?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuMemsetD8Async else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(dstDevice, uc, N, real_hStream) };
    Ok(status.cast_signed())
}

fn cuMemsetD16Async(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dstDevice = r.u64()?;
    let us: c_ushort = Scalar::take(r)?;
    let N: usize = Scalar::take(r)?;
    let hStream = r.u64()?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuMemsetD16Async else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(dstDevice, us, N, real_hStream) };
    Ok(status.cast_signed())
}

fn cuMemsetD32Async(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dstDevice = r.u64()?;
    let ui: c_uint = Scalar::take(r)?;
    let N: usize = Scalar::take(r)?;
    let hStream = r.u64()?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuMemsetD32Async else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(dstDevice, ui, N, real_hStream) };
    Ok(status.cast_signed())
}

fn cuMemsetD2D8_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dstDevice = r.u64()?;
    let dstPitch: usize = Scalar::take(r)?;
    let uc: c_uchar = Scalar::take(r)?;
    let Width: usize = Scalar::take(r)?;
    let Height: usize = Scalar::take(r)?;
    r.end()?;
    let Some(call) = exec.driver.cuMemsetD2D8_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(dstDevice, dstPitch, uc, Width, Height) };
    Ok(status.cast_signed())
}

fn cuMemsetD2D16_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dstDevice = r.u64()?;
    let dstPitch: usize = Scalar::take(r)?;
    let us: c_ushort = Scalar::take(r)?;
    let Width: usize = Scalar::take(r)?;
    let Height: usize = Scalar::take(r)?;
    r.end()?;
    let Some(call) = exec.driver.cuMemsetD2D16_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(dstDevice, dstPitch, us, Width, Height) };
    Ok(status.cast_signed())
}

fn cuMemsetD2D32_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dstDevice = r.u64()?;
    let dstPitch: usize = Scalar::take(r)?;
    let ui: c_uint = Scalar::take(r)?;
    let Width: usize = Scalar::take(r)?;
    let Height: usize = Scalar::take(r)?;
    r.end()?;
    let Some(call) = exec.driver.cuMemsetD2D32_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(dstDevice, dstPitch, ui, Width, Height) };
    Ok(status.cast_signed())
}

fn cuMemsetD2D8Async(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dstDevice = r.u64()?;
    let dstPitch: usize = Scalar::take(r)?;
    let uc: c_uchar = Scalar::take(r)?;
    let Width: usize = Scalar::take(r)?;
    let Height: usize = Scalar::take(r)?;
    let hStream = r.u64()?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuMemsetD2D8Async else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(dstDevice, dstPitch, uc, Width, Height, real_hStream) };
    Ok(status.cast_signed())
}

fn cuMemsetD2D16Async(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dstDevice = r.u64()?;
    let dstPitch: usize = Scalar::take(r)?;
    let us: c_ushort = Scalar::take(r)?;
    let Width: usize = Scalar::take(r)?;
    let Height: usize = Scalar::take(r)?;
    let hStream = r.u64()?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuMemsetD2D16Async else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(dstDevice, dstPitch, us, Width, Height, real_hStream) };
    Ok(status.cast_signed())
}

fn cuMemsetD2D32Async(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dstDevice = r.u64()?;
    let dstPitch: usize = Scalar::take(r)?;
    let ui: c_uint = Scalar::take(r)?;
    let Width: usize = Scalar::take(r)?;
    let Height: usize = Scalar::take(r)?;
    let hStream = r.u64()?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuMemsetD2D32Async else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(dstDevice, dstPitch, ui, Width, Height, real_hStream) };
    Ok(status.cast_signed())
}

fn cuDeviceGetDefaultMemPool(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let dev: CUdevice = Scalar::take(r)?;
    r.end()?;
    let mut pool_out: CUmemoryPool = core::ptr::null_mut();

    let Some(call) = exec.driver.cuDeviceGetDefaultMemPool else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pool_out, dev) };
    if status == CUDA_SUCCESS {
        w.u64(exec.handles.known(Kind::MemPool, pool_out.cast()));
    }
    Ok(status.cast_signed())
}

fn cuDeviceGetMemPool(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dev: CUdevice = Scalar::take(r)?;
    r.end()?;
    let mut pool: CUmemoryPool = core::ptr::null_mut();

    let Some(call) = exec.driver.cuDeviceGetMemPool else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pool, dev) };
    if status == CUDA_SUCCESS {
        w.u64(exec.handles.known(Kind::MemPool, pool.cast()));
    }
    Ok(status.cast_signed())
}

fn cuDeviceSetMemPool(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dev: CUdevice = Scalar::take(r)?;
    let pool = r.u64()?;
    r.end()?;
    let real_pool = match exec.handles.real(Kind::MemPool, pool) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuDeviceSetMemPool else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(dev, real_pool) };
    Ok(status.cast_signed())
}

fn cuMemGetDefaultMemPool(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let mut location: CUmemLocation = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut location, 1) }?;
    let type_: CUmemAllocationType = Scalar::take(r)?;
    r.end()?;
    let mut pool_out: CUmemoryPool = core::ptr::null_mut();

    let Some(call) = exec.driver.cuMemGetDefaultMemPool else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pool_out, &raw mut location, type_) };
    if status == CUDA_SUCCESS {
        w.u64(exec.handles.known(Kind::MemPool, pool_out.cast()));
    }
    Ok(status.cast_signed())
}

fn cuMemGetMemPool(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let mut location: CUmemLocation = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut location, 1) }?;
    let type_: CUmemAllocationType = Scalar::take(r)?;
    r.end()?;
    let mut pool: CUmemoryPool = core::ptr::null_mut();

    let Some(call) = exec.driver.cuMemGetMemPool else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pool, &raw mut location, type_) };
    if status == CUDA_SUCCESS {
        w.u64(exec.handles.known(Kind::MemPool, pool.cast()));
    }
    Ok(status.cast_signed())
}

fn cuMemSetMemPool(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let mut location: CUmemLocation = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut location, 1) }?;
    let type_: CUmemAllocationType = Scalar::take(r)?;
    let pool = r.u64()?;
    r.end()?;
    let real_pool = match exec.handles.real(Kind::MemPool, pool) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuMemSetMemPool else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut location, type_, real_pool) };
    Ok(status.cast_signed())
}

fn cuMemPoolCreate(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let pool = r.u64()?;
    let mut poolProps: CUmemPoolProps = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut poolProps, 1) }?;
    r.end()?;
    match exec.handles.check_minted(Kind::MemPool, pool) {
        Ok(()) => {}
        Err(code) => return Ok(code),
    }
    let mut made_pool: CUmemoryPool = core::ptr::null_mut();

    let Some(call) = exec.driver.cuMemPoolCreate else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut made_pool, &raw mut poolProps) };
    if status == 0 {
        exec.handles.insert(Kind::MemPool, pool, made_pool.cast());
    }
    Ok(status.cast_signed())
}

fn cuMemPoolDestroy(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let pool = r.u64()?;
    r.end()?;
    let real_pool = match exec.handles.real(Kind::MemPool, pool) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuMemPoolDestroy else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_pool) };
    if status == 0 {
        exec.handles.remove(Kind::MemPool, pool);
    }
    Ok(status.cast_signed())
}

fn cuMemPoolGetAttribute(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let pool = r.u64()?;
    let attr: CUmemPool_attribute = Scalar::take(r)?;
    r.end()?;
    let real_pool = match exec.handles.real(Kind::MemPool, pool) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut value = unsafe { wire::room::<u64>((8usize).div_ceil(8)) }?;

    let Some(call) = exec.driver.cuMemPoolGetAttribute else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_pool, attr, value.as_mut_ptr().cast()) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, value.as_ptr().cast::<u8>(), 8) };
    }
    Ok(status.cast_signed())
}

fn cuMemPoolSetAttribute(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let pool = r.u64()?;
    let attr: CUmemPool_attribute = Scalar::take(r)?;
    let mut value = {
        let mut words = [0u64; (8usize).div_ceil(8)];
        unsafe { wire::take(r, words.as_mut_ptr().cast::<u8>(), 8usize) }?;
        words.to_vec()
    };
    r.end()?;
    let real_pool = match exec.handles.real(Kind::MemPool, pool) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuMemPoolSetAttribute else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_pool, attr, value.as_ptr().cast_mut().cast()) };
    Ok(status.cast_signed())
}

fn cuMemPoolGetAccess(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let memPool = r.u64()?;
    let mut location: CUmemLocation = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut location, 1) }?;
    r.end()?;
    let real_memPool = match exec.handles.real(Kind::MemPool, memPool) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut flags: CUmemAccess_flags = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuMemPoolGetAccess else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut flags, real_memPool, &raw mut location) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const flags, 1) };
    }
    Ok(status.cast_signed())
}

fn cuMemPoolSetAccess(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let pool = r.u64()?;
    let mut map = unsafe { wire::take_vec::<CUmemAccessDesc>(r) }?;
    let count: usize = Scalar::take(r)?;
    r.end()?;
    let real_pool = match exec.handles.real(Kind::MemPool, pool) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    if map.len() != Scalar::as_len(count) {
        return Err(mismatch("map", map.len()).into());
    }

    let Some(call) = exec.driver.cuMemPoolSetAccess else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_pool, map.as_ptr().cast_mut(), count) };
    Ok(status.cast_signed())
}

fn cuMemPoolTrimTo(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let pool = r.u64()?;
    let minBytesToKeep: usize = Scalar::take(r)?;
    r.end()?;
    let real_pool = match exec.handles.real(Kind::MemPool, pool) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuMemPoolTrimTo else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_pool, minBytesToKeep) };
    Ok(status.cast_signed())
}

fn cuIpcGetMemHandle(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dptr = r.u64()?;
    r.end()?;
    let mut pHandle: CUipcMemHandle = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuIpcGetMemHandle else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pHandle, dptr) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const pHandle, 1) };
    }
    Ok(status.cast_signed())
}

fn cuIpcOpenMemHandle_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let mut handle: CUipcMemHandle = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut handle, 1) }?;
    let Flags: c_uint = Scalar::take(r)?;
    r.end()?;
    let mut pdptr: CUdeviceptr = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuIpcOpenMemHandle_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pdptr, handle, Flags) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const pdptr, 1) };
    }
    Ok(status.cast_signed())
}

fn cuIpcCloseMemHandle(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let dptr = r.u64()?;
    r.end()?;
    let Some(call) = exec.driver.cuIpcCloseMemHandle else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(dptr) };
    Ok(status.cast_signed())
}

fn cuIpcGetEventHandle(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let event = r.u64()?;
    r.end()?;
    let real_event = match exec.handles.real(Kind::Event, event) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut pHandle: CUipcEventHandle = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuIpcGetEventHandle else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pHandle, real_event) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const pHandle, 1) };
    }
    Ok(status.cast_signed())
}

fn cuIpcOpenEventHandle(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let phEvent = r.u64()?;
    let mut handle: CUipcEventHandle = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut handle, 1) }?;
    r.end()?;
    match exec.handles.check_minted(Kind::Event, phEvent) {
        Ok(()) => {}
        Err(code) => return Ok(code),
    }
    let mut made_phEvent: CUevent = core::ptr::null_mut();

    let Some(call) = exec.driver.cuIpcOpenEventHandle else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut made_phEvent, handle) };
    if status == 0 {
        exec.handles
            .insert(Kind::Event, phEvent, made_phEvent.cast());
    }
    Ok(status.cast_signed())
}

fn cuMemAddressReserve(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let size: usize = Scalar::take(r)?;
    let alignment: usize = Scalar::take(r)?;
    let addr = r.u64()?;
    let flags: c_ulonglong = Scalar::take(r)?;
    r.end()?;
    let mut ptr: CUdeviceptr = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuMemAddressReserve else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut ptr, size, alignment, addr, flags) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const ptr, 1) };
    }
    Ok(status.cast_signed())
}

fn cuMemAddressFree(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let ptr = r.u64()?;
    let size: usize = Scalar::take(r)?;
    r.end()?;
    let Some(call) = exec.driver.cuMemAddressFree else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(ptr, size) };
    Ok(status.cast_signed())
}

fn cuMemCreate(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let size: usize = Scalar::take(r)?;
    let mut prop: CUmemAllocationProp = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut prop, 1) }?;
    let flags: c_ulonglong = Scalar::take(r)?;
    r.end()?;
    let mut handle: CUmemGenericAllocationHandle = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuMemCreate else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut handle, size, &raw mut prop, flags) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const handle, 1) };
    }
    Ok(status.cast_signed())
}

fn cuMemRelease(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let handle: CUmemGenericAllocationHandle = Scalar::take(r)?;
    r.end()?;
    let Some(call) = exec.driver.cuMemRelease else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(handle) };
    Ok(status.cast_signed())
}

fn cuMemMap(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let ptr = r.u64()?;
    let size: usize = Scalar::take(r)?;
    let offset: usize = Scalar::take(r)?;
    let handle: CUmemGenericAllocationHandle = Scalar::take(r)?;
    let flags: c_ulonglong = Scalar::take(r)?;
    r.end()?;
    let Some(call) = exec.driver.cuMemMap else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(ptr, size, offset, handle, flags) };
    Ok(status.cast_signed())
}

fn cuMemUnmap(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let ptr = r.u64()?;
    let size: usize = Scalar::take(r)?;
    r.end()?;
    let Some(call) = exec.driver.cuMemUnmap else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(ptr, size) };
    Ok(status.cast_signed())
}

fn cuMemSetAccess(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let ptr = r.u64()?;
    let size: usize = Scalar::take(r)?;
    let mut desc = unsafe { wire::take_vec::<CUmemAccessDesc>(r) }?;
    let count: usize = Scalar::take(r)?;
    r.end()?;
    if desc.len() != Scalar::as_len(count) {
        return Err(mismatch("desc", desc.len()).into());
    }

    let Some(call) = exec.driver.cuMemSetAccess else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(ptr, size, desc.as_ptr().cast_mut(), count) };
    Ok(status.cast_signed())
}

fn cuMemGetAccess(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let mut location: CUmemLocation = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut location, 1) }?;
    let ptr = r.u64()?;
    r.end()?;
    let mut flags: c_ulonglong = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuMemGetAccess else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut flags, &raw mut location, ptr) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const flags, 1) };
    }
    Ok(status.cast_signed())
}

fn cuMemGetAllocationGranularity(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let mut prop: CUmemAllocationProp = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut prop, 1) }?;
    let option: CUmemAllocationGranularity_flags = Scalar::take(r)?;
    r.end()?;
    let mut granularity: usize = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuMemGetAllocationGranularity else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut granularity, &raw mut prop, option) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const granularity, 1) };
    }
    Ok(status.cast_signed())
}

fn cuMemGetAllocationPropertiesFromHandle(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let handle: CUmemGenericAllocationHandle = Scalar::take(r)?;
    r.end()?;
    let mut prop: CUmemAllocationProp = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuMemGetAllocationPropertiesFromHandle else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut prop, handle) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const prop, 1) };
    }
    Ok(status.cast_signed())
}

fn cuMemRetainAllocationHandle(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let addr = r.u64()?;
    r.end()?;
    let mut handle: CUmemGenericAllocationHandle = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuMemRetainAllocationHandle else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            &raw mut handle,
            core::ptr::with_exposed_provenance_mut(addr as usize),
        )
    };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const handle, 1) };
    }
    Ok(status.cast_signed())
}

fn cuMemAdvise(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let devPtr = r.u64()?;
    let count: usize = Scalar::take(r)?;
    let advice: CUmem_advise = Scalar::take(r)?;
    let device: CUdevice = Scalar::take(r)?;
    r.end()?;
    let Some(call) = exec.driver.cuMemAdvise else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(devPtr, count, advice, device) };
    Ok(status.cast_signed())
}

fn cuMemAdvise_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let devPtr = r.u64()?;
    let count: usize = Scalar::take(r)?;
    let advice: CUmem_advise = Scalar::take(r)?;
    let mut location: CUmemLocation = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut location, 1) }?;
    r.end()?;
    let Some(call) = exec.driver.cuMemAdvise_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(devPtr, count, advice, location) };
    Ok(status.cast_signed())
}

fn cuMemPrefetchAsync(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let devPtr = r.u64()?;
    let count: usize = Scalar::take(r)?;
    let dstDevice: CUdevice = Scalar::take(r)?;
    let hStream = r.u64()?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuMemPrefetchAsync else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(devPtr, count, dstDevice, real_hStream) };
    Ok(status.cast_signed())
}

fn cuMemPrefetchAsync_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let devPtr = r.u64()?;
    let count: usize = Scalar::take(r)?;
    let mut location: CUmemLocation = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut location, 1) }?;
    let flags: c_uint = Scalar::take(r)?;
    let hStream = r.u64()?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuMemPrefetchAsync_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(devPtr, count, location, flags, real_hStream) };
    Ok(status.cast_signed())
}

fn cuMemPrefetchBatchAsync(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let mut dptrs = unsafe { wire::take_vec::<CUdeviceptr>(r) }?;
    let mut sizes = unsafe { wire::take_vec::<usize>(r) }?;
    let count: usize = Scalar::take(r)?;
    let mut prefetchLocs = unsafe { wire::take_vec::<CUmemLocation>(r) }?;
    let mut prefetchLocIdxs = unsafe { wire::take_vec::<usize>(r) }?;
    let numPrefetchLocs: usize = Scalar::take(r)?;
    let flags: c_ulonglong = Scalar::take(r)?;
    let hStream = r.u64()?;
    r.end()?;
    if dptrs.len() != Scalar::as_len(count) {
        return Err(mismatch("dptrs", dptrs.len()).into());
    }
    if sizes.len() != Scalar::as_len(count) {
        return Err(mismatch("sizes", sizes.len()).into());
    }
    if prefetchLocs.len() != Scalar::as_len(numPrefetchLocs) {
        return Err(mismatch("prefetchLocs", prefetchLocs.len()).into());
    }
    if prefetchLocIdxs.len() != Scalar::as_len(numPrefetchLocs) {
        return Err(mismatch("prefetchLocIdxs", prefetchLocIdxs.len()).into());
    }
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuMemPrefetchBatchAsync else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            dptrs.as_ptr().cast_mut(),
            sizes.as_ptr().cast_mut(),
            count,
            prefetchLocs.as_ptr().cast_mut(),
            prefetchLocIdxs.as_ptr().cast_mut(),
            numPrefetchLocs,
            flags,
            real_hStream,
        )
    };
    Ok(status.cast_signed())
}

fn cuMemDiscardBatchAsync(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let mut dptrs = unsafe { wire::take_vec::<CUdeviceptr>(r) }?;
    let mut sizes = unsafe { wire::take_vec::<usize>(r) }?;
    let count: usize = Scalar::take(r)?;
    let flags: c_ulonglong = Scalar::take(r)?;
    let hStream = r.u64()?;
    r.end()?;
    if dptrs.len() != Scalar::as_len(count) {
        return Err(mismatch("dptrs", dptrs.len()).into());
    }
    if sizes.len() != Scalar::as_len(count) {
        return Err(mismatch("sizes", sizes.len()).into());
    }
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuMemDiscardBatchAsync else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            dptrs.as_ptr().cast_mut(),
            sizes.as_ptr().cast_mut(),
            count,
            flags,
            real_hStream,
        )
    };
    Ok(status.cast_signed())
}

fn cuMemDiscardAndPrefetchBatchAsync(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let mut dptrs = unsafe { wire::take_vec::<CUdeviceptr>(r) }?;
    let mut sizes = unsafe { wire::take_vec::<usize>(r) }?;
    let count: usize = Scalar::take(r)?;
    let mut prefetchLocs = unsafe { wire::take_vec::<CUmemLocation>(r) }?;
    let mut prefetchLocIdxs = unsafe { wire::take_vec::<usize>(r) }?;
    let numPrefetchLocs: usize = Scalar::take(r)?;
    let flags: c_ulonglong = Scalar::take(r)?;
    let hStream = r.u64()?;
    r.end()?;
    if dptrs.len() != Scalar::as_len(count) {
        return Err(mismatch("dptrs", dptrs.len()).into());
    }
    if sizes.len() != Scalar::as_len(count) {
        return Err(mismatch("sizes", sizes.len()).into());
    }
    if prefetchLocs.len() != Scalar::as_len(numPrefetchLocs) {
        return Err(mismatch("prefetchLocs", prefetchLocs.len()).into());
    }
    if prefetchLocIdxs.len() != Scalar::as_len(numPrefetchLocs) {
        return Err(mismatch("prefetchLocIdxs", prefetchLocIdxs.len()).into());
    }
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuMemDiscardAndPrefetchBatchAsync else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            dptrs.as_ptr().cast_mut(),
            sizes.as_ptr().cast_mut(),
            count,
            prefetchLocs.as_ptr().cast_mut(),
            prefetchLocIdxs.as_ptr().cast_mut(),
            numPrefetchLocs,
            flags,
            real_hStream,
        )
    };
    Ok(status.cast_signed())
}

fn cuMemRangeGetAttribute(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let dataSize: usize = Scalar::take(r)?;
    let attribute: CUmem_range_attribute = Scalar::take(r)?;
    let devPtr = r.u64()?;
    let count: usize = Scalar::take(r)?;
    r.end()?;
    let mut data = unsafe { wire::room::<u64>((Scalar::as_len(dataSize)).div_ceil(8)) }?;

    let Some(call) = exec.driver.cuMemRangeGetAttribute else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(data.as_mut_ptr().cast(), dataSize, attribute, devPtr, count) };
    if status == CUDA_SUCCESS {
        {
            let count = Scalar::as_len(dataSize);
            w.u64(count as u64);
            unsafe { wire::put(w, data.as_ptr().cast::<u8>(), count) };
        }
    }
    Ok(status.cast_signed())
}

fn cuStreamCreate(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let phStream = r.u64()?;
    let Flags: c_uint = Scalar::take(r)?;
    r.end()?;
    match exec.handles.check_minted(Kind::Stream, phStream) {
        Ok(()) => {}
        Err(code) => return Ok(code),
    }
    let mut made_phStream: CUstream = core::ptr::null_mut();

    let Some(call) = exec.driver.cuStreamCreate else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut made_phStream, Flags) };
    if status == 0 {
        exec.handles
            .insert(Kind::Stream, phStream, made_phStream.cast());
    }
    Ok(status.cast_signed())
}

fn cuStreamCreateWithPriority(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let phStream = r.u64()?;
    let flags: c_uint = Scalar::take(r)?;
    let priority: c_int = Scalar::take(r)?;
    r.end()?;
    match exec.handles.check_minted(Kind::Stream, phStream) {
        Ok(()) => {}
        Err(code) => return Ok(code),
    }
    let mut made_phStream: CUstream = core::ptr::null_mut();

    let Some(call) = exec.driver.cuStreamCreateWithPriority else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut made_phStream, flags, priority) };
    if status == 0 {
        exec.handles
            .insert(Kind::Stream, phStream, made_phStream.cast());
    }
    Ok(status.cast_signed())
}

fn cuStreamDestroy_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hStream = r.u64()?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuStreamDestroy_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hStream) };
    if status == 0 {
        exec.handles.remove(Kind::Stream, hStream);
    }
    Ok(status.cast_signed())
}

fn cuStreamSynchronize(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hStream = r.u64()?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuStreamSynchronize else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hStream) };
    Ok(status.cast_signed())
}

fn cuStreamQuery(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hStream = r.u64()?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuStreamQuery else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hStream) };
    Ok(status.cast_signed())
}

fn cuStreamWaitEvent(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hStream = r.u64()?;
    let hEvent = r.u64()?;
    let Flags: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let real_hEvent = match exec.handles.real(Kind::Event, hEvent) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuStreamWaitEvent else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hStream, real_hEvent, Flags) };
    Ok(status.cast_signed())
}

fn cuStreamGetFlags(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hStream = r.u64()?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut flags: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuStreamGetFlags else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hStream, &raw mut flags) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const flags, 1) };
    }
    Ok(status.cast_signed())
}

fn cuStreamGetPriority(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hStream = r.u64()?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut priority: c_int = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuStreamGetPriority else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hStream, &raw mut priority) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const priority, 1) };
    }
    Ok(status.cast_signed())
}

fn cuStreamGetId(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hStream = r.u64()?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut streamId: c_ulonglong = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuStreamGetId else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hStream, &raw mut streamId) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const streamId, 1) };
    }
    Ok(status.cast_signed())
}

fn cuStreamGetDevice(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hStream = r.u64()?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut device: CUdevice = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuStreamGetDevice else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hStream, &raw mut device) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const device, 1) };
    }
    Ok(status.cast_signed())
}

fn cuStreamGetCtx(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hStream = r.u64()?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut pctx: CUcontext = core::ptr::null_mut();

    let Some(call) = exec.driver.cuStreamGetCtx else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hStream, &raw mut pctx) };
    if status == CUDA_SUCCESS {
        w.u64(exec.handles.known(Kind::Context, pctx.cast()));
    }
    Ok(status.cast_signed())
}

fn cuStreamAttachMemAsync(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hStream = r.u64()?;
    let dptr = r.u64()?;
    let length: usize = Scalar::take(r)?;
    let flags: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuStreamAttachMemAsync else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hStream, dptr, length, flags) };
    Ok(status.cast_signed())
}

fn cuStreamCopyAttributes(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let dst = r.u64()?;
    let src = r.u64()?;
    r.end()?;
    let real_dst = match exec.handles.real(Kind::Stream, dst) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let real_src = match exec.handles.real(Kind::Stream, src) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuStreamCopyAttributes else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_dst, real_src) };
    Ok(status.cast_signed())
}

fn cuStreamGetAttribute(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hStream = r.u64()?;
    let attr: CUstreamAttrID = Scalar::take(r)?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut value_out: CUstreamAttrValue = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuStreamGetAttribute else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hStream, attr, &raw mut value_out) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const value_out, 1) };
    }
    Ok(status.cast_signed())
}

fn cuStreamSetAttribute(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hStream = r.u64()?;
    let attr: CUstreamAttrID = Scalar::take(r)?;
    let mut value: CUstreamAttrValue = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut value, 1) }?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuStreamSetAttribute else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hStream, attr, &raw mut value) };
    Ok(status.cast_signed())
}

fn cuStreamWaitValue32(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let stream = r.u64()?;
    let addr = r.u64()?;
    let value: cuuint32_t = Scalar::take(r)?;
    let flags: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_stream = match exec.handles.real(Kind::Stream, stream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuStreamWaitValue32 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_stream, addr, value, flags) };
    Ok(status.cast_signed())
}

fn cuStreamWaitValue32_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let stream = r.u64()?;
    let addr = r.u64()?;
    let value: cuuint32_t = Scalar::take(r)?;
    let flags: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_stream = match exec.handles.real(Kind::Stream, stream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuStreamWaitValue32_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_stream, addr, value, flags) };
    Ok(status.cast_signed())
}

fn cuStreamWaitValue64(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let stream = r.u64()?;
    let addr = r.u64()?;
    let value: cuuint64_t = Scalar::take(r)?;
    let flags: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_stream = match exec.handles.real(Kind::Stream, stream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuStreamWaitValue64 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_stream, addr, value, flags) };
    Ok(status.cast_signed())
}

fn cuStreamWaitValue64_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let stream = r.u64()?;
    let addr = r.u64()?;
    let value: cuuint64_t = Scalar::take(r)?;
    let flags: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_stream = match exec.handles.real(Kind::Stream, stream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuStreamWaitValue64_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_stream, addr, value, flags) };
    Ok(status.cast_signed())
}

fn cuStreamWriteValue32(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let stream = r.u64()?;
    let addr = r.u64()?;
    let value: cuuint32_t = Scalar::take(r)?;
    let flags: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_stream = match exec.handles.real(Kind::Stream, stream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuStreamWriteValue32 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_stream, addr, value, flags) };
    Ok(status.cast_signed())
}

fn cuStreamWriteValue32_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let stream = r.u64()?;
    let addr = r.u64()?;
    let value: cuuint32_t = Scalar::take(r)?;
    let flags: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_stream = match exec.handles.real(Kind::Stream, stream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuStreamWriteValue32_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_stream, addr, value, flags) };
    Ok(status.cast_signed())
}

fn cuStreamWriteValue64(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let stream = r.u64()?;
    let addr = r.u64()?;
    let value: cuuint64_t = Scalar::take(r)?;
    let flags: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_stream = match exec.handles.real(Kind::Stream, stream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuStreamWriteValue64 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_stream, addr, value, flags) };
    Ok(status.cast_signed())
}

fn cuStreamWriteValue64_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let stream = r.u64()?;
    let addr = r.u64()?;
    let value: cuuint64_t = Scalar::take(r)?;
    let flags: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_stream = match exec.handles.real(Kind::Stream, stream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuStreamWriteValue64_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_stream, addr, value, flags) };
    Ok(status.cast_signed())
}

fn cuStreamBatchMemOp(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let stream = r.u64()?;
    let count: c_uint = Scalar::take(r)?;
    let mut paramArray = unsafe { wire::take_vec::<CUstreamBatchMemOpParams>(r) }?;
    let flags: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_stream = match exec.handles.real(Kind::Stream, stream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    if paramArray.len() != Scalar::as_len(count) {
        return Err(mismatch("paramArray", paramArray.len()).into());
    }

    let Some(call) = exec.driver.cuStreamBatchMemOp else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_stream, count, paramArray.as_ptr().cast_mut(), flags) };
    Ok(status.cast_signed())
}

fn cuStreamBatchMemOp_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let stream = r.u64()?;
    let count: c_uint = Scalar::take(r)?;
    let mut paramArray = unsafe { wire::take_vec::<CUstreamBatchMemOpParams>(r) }?;
    let flags: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_stream = match exec.handles.real(Kind::Stream, stream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    if paramArray.len() != Scalar::as_len(count) {
        return Err(mismatch("paramArray", paramArray.len()).into());
    }

    let Some(call) = exec.driver.cuStreamBatchMemOp_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_stream, count, paramArray.as_ptr().cast_mut(), flags) };
    Ok(status.cast_signed())
}

fn cuStreamBeginCapture_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hStream = r.u64()?;
    let mode: CUstreamCaptureMode = Scalar::take(r)?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuStreamBeginCapture_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hStream, mode) };
    Ok(status.cast_signed())
}

fn cuStreamBeginCaptureToGraph(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hStream = r.u64()?;
    let hGraph = r.u64()?;
    let dependencies: Vec<u64> = unsafe { wire::take_vec(r) }?;
    let there_dependencyData = wire::take_flag(r)?;
    let mut dependencyData = match there_dependencyData {
        true => unsafe { wire::take_vec::<CUgraphEdgeData>(r) }?,
        false => Vec::new(),
    };
    let numDependencies: usize = Scalar::take(r)?;
    let mode: CUstreamCaptureMode = Scalar::take(r)?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let real_hGraph = match exec.handles.real(Kind::Graph, hGraph) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    if dependencies.len() != Scalar::as_len(numDependencies) {
        return Err(mismatch("dependencies", dependencies.len()).into());
    }
    let mut real_dependencies = Vec::with_capacity(dependencies.len());
    for handle in dependencies {
        match exec.handles.real(Kind::GraphNode, handle) {
            Ok(real) => real_dependencies.push(real.cast()),
            Err(code) => return Ok(code),
        }
    }
    if there_dependencyData && dependencyData.len() != Scalar::as_len(numDependencies) {
        return Err(mismatch("dependencyData", dependencyData.len()).into());
    }

    let Some(call) = exec.driver.cuStreamBeginCaptureToGraph else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_hStream,
            real_hGraph,
            real_dependencies.as_mut_ptr(),
            if there_dependencyData {
                dependencyData.as_ptr().cast_mut()
            } else {
                core::ptr::null_mut()
            },
            numDependencies,
            mode,
        )
    };
    Ok(status.cast_signed())
}

fn cuStreamEndCapture(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hStream = r.u64()?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut phGraph: CUgraph = core::ptr::null_mut();

    let Some(call) = exec.driver.cuStreamEndCapture else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hStream, &raw mut phGraph) };
    if status == CUDA_SUCCESS {
        w.u64(exec.handles.known(Kind::Graph, phGraph.cast()));
    }
    Ok(status.cast_signed())
}

fn cuStreamUpdateCaptureDependencies(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hStream = r.u64()?;
    let dependencies: Vec<u64> = unsafe { wire::take_vec(r) }?;
    let numDependencies: usize = Scalar::take(r)?;
    let flags: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    if dependencies.len() != Scalar::as_len(numDependencies) {
        return Err(mismatch("dependencies", dependencies.len()).into());
    }
    let mut real_dependencies = Vec::with_capacity(dependencies.len());
    for handle in dependencies {
        match exec.handles.real(Kind::GraphNode, handle) {
            Ok(real) => real_dependencies.push(real.cast()),
            Err(code) => return Ok(code),
        }
    }

    let Some(call) = exec.driver.cuStreamUpdateCaptureDependencies else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_hStream,
            real_dependencies.as_mut_ptr(),
            numDependencies,
            flags,
        )
    };
    Ok(status.cast_signed())
}

fn cuStreamUpdateCaptureDependencies_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hStream = r.u64()?;
    let dependencies: Vec<u64> = unsafe { wire::take_vec(r) }?;
    let there_dependencyData = wire::take_flag(r)?;
    let mut dependencyData = match there_dependencyData {
        true => unsafe { wire::take_vec::<CUgraphEdgeData>(r) }?,
        false => Vec::new(),
    };
    let numDependencies: usize = Scalar::take(r)?;
    let flags: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    if dependencies.len() != Scalar::as_len(numDependencies) {
        return Err(mismatch("dependencies", dependencies.len()).into());
    }
    let mut real_dependencies = Vec::with_capacity(dependencies.len());
    for handle in dependencies {
        match exec.handles.real(Kind::GraphNode, handle) {
            Ok(real) => real_dependencies.push(real.cast()),
            Err(code) => return Ok(code),
        }
    }
    if there_dependencyData && dependencyData.len() != Scalar::as_len(numDependencies) {
        return Err(mismatch("dependencyData", dependencyData.len()).into());
    }

    let Some(call) = exec.driver.cuStreamUpdateCaptureDependencies_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_hStream,
            real_dependencies.as_mut_ptr(),
            if there_dependencyData {
                dependencyData.as_ptr().cast_mut()
            } else {
                core::ptr::null_mut()
            },
            numDependencies,
            flags,
        )
    };
    Ok(status.cast_signed())
}

fn cuThreadExchangeStreamCaptureMode(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let mut mode: CUstreamCaptureMode = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut mode, 1) }?;
    r.end()?;
    let Some(call) = exec.driver.cuThreadExchangeStreamCaptureMode else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut mode) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const mode, 1) };
    }
    Ok(status.cast_signed())
}

fn cuEventCreate(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let phEvent = r.u64()?;
    let Flags: c_uint = Scalar::take(r)?;
    r.end()?;
    match exec.handles.check_minted(Kind::Event, phEvent) {
        Ok(()) => {}
        Err(code) => return Ok(code),
    }
    let mut made_phEvent: CUevent = core::ptr::null_mut();

    let Some(call) = exec.driver.cuEventCreate else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut made_phEvent, Flags) };
    if status == 0 {
        exec.handles
            .insert(Kind::Event, phEvent, made_phEvent.cast());
    }
    Ok(status.cast_signed())
}

fn cuEventDestroy_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hEvent = r.u64()?;
    r.end()?;
    let real_hEvent = match exec.handles.real(Kind::Event, hEvent) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuEventDestroy_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hEvent) };
    if status == 0 {
        exec.handles.remove(Kind::Event, hEvent);
    }
    Ok(status.cast_signed())
}

fn cuEventRecord(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hEvent = r.u64()?;
    let hStream = r.u64()?;
    r.end()?;
    let real_hEvent = match exec.handles.real(Kind::Event, hEvent) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuEventRecord else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hEvent, real_hStream) };
    Ok(status.cast_signed())
}

fn cuEventRecordWithFlags(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hEvent = r.u64()?;
    let hStream = r.u64()?;
    let flags: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_hEvent = match exec.handles.real(Kind::Event, hEvent) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuEventRecordWithFlags else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hEvent, real_hStream, flags) };
    Ok(status.cast_signed())
}

fn cuEventQuery(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hEvent = r.u64()?;
    r.end()?;
    let real_hEvent = match exec.handles.real(Kind::Event, hEvent) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuEventQuery else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hEvent) };
    Ok(status.cast_signed())
}

fn cuEventSynchronize(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hEvent = r.u64()?;
    r.end()?;
    let real_hEvent = match exec.handles.real(Kind::Event, hEvent) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuEventSynchronize else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hEvent) };
    Ok(status.cast_signed())
}

fn cuEventElapsedTime(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hStart = r.u64()?;
    let hEnd = r.u64()?;
    r.end()?;
    let real_hStart = match exec.handles.real(Kind::Event, hStart) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let real_hEnd = match exec.handles.real(Kind::Event, hEnd) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut pMilliseconds: f32 = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuEventElapsedTime else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pMilliseconds, real_hStart, real_hEnd) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const pMilliseconds, 1) };
    }
    Ok(status.cast_signed())
}

fn cuEventElapsedTime_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hStart = r.u64()?;
    let hEnd = r.u64()?;
    r.end()?;
    let real_hStart = match exec.handles.real(Kind::Event, hStart) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let real_hEnd = match exec.handles.real(Kind::Event, hEnd) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut pMilliseconds: f32 = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuEventElapsedTime_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pMilliseconds, real_hStart, real_hEnd) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const pMilliseconds, 1) };
    }
    Ok(status.cast_signed())
}

fn cuModuleUnload(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hmod = r.u64()?;
    r.end()?;
    let real_hmod = match exec.handles.real(Kind::Module, hmod) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuModuleUnload else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hmod) };
    if status == 0 {
        exec.handles.remove(Kind::Module, hmod);
    }
    Ok(status.cast_signed())
}

fn cuModuleGetLoadingMode(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    r.end()?;
    let mut mode: CUmoduleLoadingMode = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuModuleGetLoadingMode else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut mode) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const mode, 1) };
    }
    Ok(status.cast_signed())
}

fn cuModuleGetFunctionCount(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let mod_ = r.u64()?;
    r.end()?;
    let real_mod_ = match exec.handles.real(Kind::Module, mod_) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut count: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuModuleGetFunctionCount else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut count, real_mod_) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const count, 1) };
    }
    Ok(status.cast_signed())
}

fn cuModuleEnumerateFunctions(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let numFunctions: c_uint = Scalar::take(r)?;
    let mod_ = r.u64()?;
    r.end()?;
    let real_mod_ = match exec.handles.real(Kind::Module, mod_) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut functions: Vec<CUfunction> = wire::room_for_handles(Scalar::as_len(numFunctions))?;

    let Some(call) = exec.driver.cuModuleEnumerateFunctions else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(functions.as_mut_ptr(), numFunctions, real_mod_) };
    if status == CUDA_SUCCESS {
        {
            let count = functions.len();
            w.u64(count as u64);
            for real in functions.iter().take(count) {
                w.u64(exec.handles.known_child(Kind::Function, real.cast(), mod_));
            }
        }
    }
    Ok(status.cast_signed())
}

fn cuModuleGetGlobal_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let there_dptr = wire::take_flag(r)?;
    let there_bytes = wire::take_flag(r)?;
    let hmod = r.u64()?;
    let name = wire::take_string(r)?;
    r.end()?;
    let real_hmod = match exec.handles.real(Kind::Module, hmod) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut dptr: CUdeviceptr = unsafe { wire::zeroed() };
    let mut bytes: usize = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuModuleGetGlobal_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            if there_dptr {
                &raw mut dptr
            } else {
                core::ptr::null_mut()
            },
            if there_bytes {
                &raw mut bytes
            } else {
                core::ptr::null_mut()
            },
            real_hmod,
            name.as_ptr(),
        )
    };
    if status == CUDA_SUCCESS {
        if there_dptr {
            unsafe { wire::put(w, &raw const dptr, 1) };
        }
        if there_bytes {
            unsafe { wire::put(w, &raw const bytes, 1) };
        }
    }
    Ok(status.cast_signed())
}

fn cuFuncGetAttribute(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let attrib: CUfunction_attribute = Scalar::take(r)?;
    let hfunc = r.u64()?;
    r.end()?;
    let real_hfunc = match exec.handles.real(Kind::Function, hfunc) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut pi: c_int = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuFuncGetAttribute else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pi, attrib, real_hfunc) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const pi, 1) };
    }
    Ok(status.cast_signed())
}

fn cuFuncSetAttribute(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hfunc = r.u64()?;
    let attrib: CUfunction_attribute = Scalar::take(r)?;
    let value: c_int = Scalar::take(r)?;
    r.end()?;
    let real_hfunc = match exec.handles.real(Kind::Function, hfunc) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuFuncSetAttribute else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hfunc, attrib, value) };
    Ok(status.cast_signed())
}

fn cuFuncSetCacheConfig(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hfunc = r.u64()?;
    let config: CUfunc_cache = Scalar::take(r)?;
    r.end()?;
    let real_hfunc = match exec.handles.real(Kind::Function, hfunc) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuFuncSetCacheConfig else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hfunc, config) };
    Ok(status.cast_signed())
}

fn cuFuncSetSharedMemConfig(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hfunc = r.u64()?;
    let config: CUsharedconfig = Scalar::take(r)?;
    r.end()?;
    let real_hfunc = match exec.handles.real(Kind::Function, hfunc) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuFuncSetSharedMemConfig else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hfunc, config) };
    Ok(status.cast_signed())
}

fn cuFuncGetModule(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hfunc = r.u64()?;
    r.end()?;
    let real_hfunc = match exec.handles.real(Kind::Function, hfunc) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut hmod: CUmodule = core::ptr::null_mut();

    let Some(call) = exec.driver.cuFuncGetModule else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut hmod, real_hfunc) };
    if status == CUDA_SUCCESS {
        w.u64(exec.handles.known_child(Kind::Module, hmod.cast(), hfunc));
    }
    Ok(status.cast_signed())
}

fn cuFuncGetParamCount(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let func = r.u64()?;
    r.end()?;
    let real_func = match exec.handles.real(Kind::Function, func) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut paramCount: usize = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuFuncGetParamCount else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_func, &raw mut paramCount) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const paramCount, 1) };
    }
    Ok(status.cast_signed())
}

fn cuFuncGetParamInfo(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let func = r.u64()?;
    let paramIndex: usize = Scalar::take(r)?;
    let there_paramSize = wire::take_flag(r)?;
    r.end()?;
    let real_func = match exec.handles.real(Kind::Function, func) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut paramOffset: usize = unsafe { wire::zeroed() };
    let mut paramSize: usize = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuFuncGetParamInfo else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_func,
            paramIndex,
            &raw mut paramOffset,
            if there_paramSize {
                &raw mut paramSize
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const paramOffset, 1) };
        if there_paramSize {
            unsafe { wire::put(w, &raw const paramSize, 1) };
        }
    }
    Ok(status.cast_signed())
}

fn cuFuncIsLoaded(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let function = r.u64()?;
    r.end()?;
    let real_function = match exec.handles.real(Kind::Function, function) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut state: CUfunctionLoadingState = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuFuncIsLoaded else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut state, real_function) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const state, 1) };
    }
    Ok(status.cast_signed())
}

fn cuFuncLoad(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let function = r.u64()?;
    r.end()?;
    let real_function = match exec.handles.real(Kind::Function, function) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuFuncLoad else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_function) };
    Ok(status.cast_signed())
}

fn cuLibraryUnload(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let library = r.u64()?;
    r.end()?;
    let real_library = match exec.handles.real(Kind::Library, library) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuLibraryUnload else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_library) };
    if status == 0 {
        exec.handles.remove(Kind::Library, library);
    }
    Ok(status.cast_signed())
}

fn cuLibraryGetModule(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let library = r.u64()?;
    r.end()?;
    let real_library = match exec.handles.real(Kind::Library, library) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut pMod: CUmodule = core::ptr::null_mut();

    let Some(call) = exec.driver.cuLibraryGetModule else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pMod, real_library) };
    if status == CUDA_SUCCESS {
        w.u64(exec.handles.known_child(Kind::Module, pMod.cast(), library));
    }
    Ok(status.cast_signed())
}

fn cuLibraryGetGlobal(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let there_dptr = wire::take_flag(r)?;
    let there_bytes = wire::take_flag(r)?;
    let library = r.u64()?;
    let name = wire::take_string(r)?;
    r.end()?;
    let real_library = match exec.handles.real(Kind::Library, library) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut dptr: CUdeviceptr = unsafe { wire::zeroed() };
    let mut bytes: usize = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuLibraryGetGlobal else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            if there_dptr {
                &raw mut dptr
            } else {
                core::ptr::null_mut()
            },
            if there_bytes {
                &raw mut bytes
            } else {
                core::ptr::null_mut()
            },
            real_library,
            name.as_ptr(),
        )
    };
    if status == CUDA_SUCCESS {
        if there_dptr {
            unsafe { wire::put(w, &raw const dptr, 1) };
        }
        if there_bytes {
            unsafe { wire::put(w, &raw const bytes, 1) };
        }
    }
    Ok(status.cast_signed())
}

fn cuLibraryGetManaged(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let there_dptr = wire::take_flag(r)?;
    let there_bytes = wire::take_flag(r)?;
    let library = r.u64()?;
    let name = wire::take_string(r)?;
    r.end()?;
    let real_library = match exec.handles.real(Kind::Library, library) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut dptr: CUdeviceptr = unsafe { wire::zeroed() };
    let mut bytes: usize = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuLibraryGetManaged else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            if there_dptr {
                &raw mut dptr
            } else {
                core::ptr::null_mut()
            },
            if there_bytes {
                &raw mut bytes
            } else {
                core::ptr::null_mut()
            },
            real_library,
            name.as_ptr(),
        )
    };
    if status == CUDA_SUCCESS {
        if there_dptr {
            unsafe { wire::put(w, &raw const dptr, 1) };
        }
        if there_bytes {
            unsafe { wire::put(w, &raw const bytes, 1) };
        }
    }
    Ok(status.cast_signed())
}

fn cuLibraryGetKernelCount(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let lib = r.u64()?;
    r.end()?;
    let real_lib = match exec.handles.real(Kind::Library, lib) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut count: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuLibraryGetKernelCount else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut count, real_lib) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const count, 1) };
    }
    Ok(status.cast_signed())
}

fn cuLibraryEnumerateKernels(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let numKernels: c_uint = Scalar::take(r)?;
    let lib = r.u64()?;
    r.end()?;
    let real_lib = match exec.handles.real(Kind::Library, lib) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut kernels: Vec<CUkernel> = wire::room_for_handles(Scalar::as_len(numKernels))?;

    let Some(call) = exec.driver.cuLibraryEnumerateKernels else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(kernels.as_mut_ptr(), numKernels, real_lib) };
    if status == CUDA_SUCCESS {
        {
            let count = kernels.len();
            w.u64(count as u64);
            for real in kernels.iter().take(count) {
                w.u64(exec.handles.known_child(Kind::Kernel, real.cast(), lib));
            }
        }
    }
    Ok(status.cast_signed())
}

fn cuKernelGetFunction(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let pFunc = r.u64()?;
    let kernel = r.u64()?;
    r.end()?;
    match exec.handles.check_minted(Kind::Function, pFunc) {
        Ok(()) => {}
        Err(code) => return Ok(code),
    }
    let real_kernel = match exec.handles.real(Kind::Kernel, kernel) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut made_pFunc: CUfunction = core::ptr::null_mut();

    let Some(call) = exec.driver.cuKernelGetFunction else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut made_pFunc, real_kernel) };
    if status == 0 {
        exec.handles
            .insert_child(Kind::Function, pFunc, made_pFunc.cast(), kernel);
    }
    Ok(status.cast_signed())
}

fn cuKernelGetLibrary(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let kernel = r.u64()?;
    r.end()?;
    let real_kernel = match exec.handles.real(Kind::Kernel, kernel) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut pLib: CUlibrary = core::ptr::null_mut();

    let Some(call) = exec.driver.cuKernelGetLibrary else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pLib, real_kernel) };
    if status == CUDA_SUCCESS {
        w.u64(exec.handles.known(Kind::Library, pLib.cast()));
    }
    Ok(status.cast_signed())
}

fn cuKernelGetAttribute(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let attrib: CUfunction_attribute = Scalar::take(r)?;
    let kernel = r.u64()?;
    let dev: CUdevice = Scalar::take(r)?;
    r.end()?;
    let real_kernel = match exec.handles.real(Kind::Kernel, kernel) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut pi: c_int = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuKernelGetAttribute else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pi, attrib, real_kernel, dev) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const pi, 1) };
    }
    Ok(status.cast_signed())
}

fn cuKernelSetAttribute(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let attrib: CUfunction_attribute = Scalar::take(r)?;
    let val: c_int = Scalar::take(r)?;
    let kernel = r.u64()?;
    let dev: CUdevice = Scalar::take(r)?;
    r.end()?;
    let real_kernel = match exec.handles.real(Kind::Kernel, kernel) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuKernelSetAttribute else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(attrib, val, real_kernel, dev) };
    Ok(status.cast_signed())
}

fn cuKernelSetCacheConfig(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let kernel = r.u64()?;
    let config: CUfunc_cache = Scalar::take(r)?;
    let dev: CUdevice = Scalar::take(r)?;
    r.end()?;
    let real_kernel = match exec.handles.real(Kind::Kernel, kernel) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuKernelSetCacheConfig else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_kernel, config, dev) };
    Ok(status.cast_signed())
}

fn cuKernelGetParamCount(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let kernel = r.u64()?;
    r.end()?;
    let real_kernel = match exec.handles.real(Kind::Kernel, kernel) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut paramCount: usize = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuKernelGetParamCount else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_kernel, &raw mut paramCount) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const paramCount, 1) };
    }
    Ok(status.cast_signed())
}

fn cuKernelGetParamInfo(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let kernel = r.u64()?;
    let paramIndex: usize = Scalar::take(r)?;
    let there_paramSize = wire::take_flag(r)?;
    r.end()?;
    let real_kernel = match exec.handles.real(Kind::Kernel, kernel) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut paramOffset: usize = unsafe { wire::zeroed() };
    let mut paramSize: usize = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuKernelGetParamInfo else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_kernel,
            paramIndex,
            &raw mut paramOffset,
            if there_paramSize {
                &raw mut paramSize
            } else {
                core::ptr::null_mut()
            },
        )
    };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const paramOffset, 1) };
        if there_paramSize {
            unsafe { wire::put(w, &raw const paramSize, 1) };
        }
    }
    Ok(status.cast_signed())
}

fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let func = r.u64()?;
    let blockSize: c_int = Scalar::take(r)?;
    let dynamicSMemSize: usize = Scalar::take(r)?;
    r.end()?;
    let real_func = match exec.handles.real(Kind::Function, func) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut numBlocks: c_int = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuOccupancyMaxActiveBlocksPerMultiprocessor else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut numBlocks, real_func, blockSize, dynamicSMemSize) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const numBlocks, 1) };
    }
    Ok(status.cast_signed())
}

fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let func = r.u64()?;
    let blockSize: c_int = Scalar::take(r)?;
    let dynamicSMemSize: usize = Scalar::take(r)?;
    let flags: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_func = match exec.handles.real(Kind::Function, func) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut numBlocks: c_int = unsafe { wire::zeroed() };

    let Some(call) = exec
        .driver
        .cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
    else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            &raw mut numBlocks,
            real_func,
            blockSize,
            dynamicSMemSize,
            flags,
        )
    };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const numBlocks, 1) };
    }
    Ok(status.cast_signed())
}

fn cuOccupancyAvailableDynamicSMemPerBlock(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let func = r.u64()?;
    let numBlocks: c_int = Scalar::take(r)?;
    let blockSize: c_int = Scalar::take(r)?;
    r.end()?;
    let real_func = match exec.handles.real(Kind::Function, func) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut dynamicSmemSize: usize = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuOccupancyAvailableDynamicSMemPerBlock else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut dynamicSmemSize, real_func, numBlocks, blockSize) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const dynamicSmemSize, 1) };
    }
    Ok(status.cast_signed())
}

fn cuGraphCreate(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let phGraph = r.u64()?;
    let flags: c_uint = Scalar::take(r)?;
    r.end()?;
    match exec.handles.check_minted(Kind::Graph, phGraph) {
        Ok(()) => {}
        Err(code) => return Ok(code),
    }
    let mut made_phGraph: CUgraph = core::ptr::null_mut();

    let Some(call) = exec.driver.cuGraphCreate else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut made_phGraph, flags) };
    if status == 0 {
        exec.handles
            .insert(Kind::Graph, phGraph, made_phGraph.cast());
    }
    Ok(status.cast_signed())
}

fn cuGraphClone(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let phGraphClone = r.u64()?;
    let originalGraph = r.u64()?;
    r.end()?;
    match exec.handles.check_minted(Kind::Graph, phGraphClone) {
        Ok(()) => {}
        Err(code) => return Ok(code),
    }
    let real_originalGraph = match exec.handles.real(Kind::Graph, originalGraph) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut made_phGraphClone: CUgraph = core::ptr::null_mut();

    let Some(call) = exec.driver.cuGraphClone else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut made_phGraphClone, real_originalGraph) };
    if status == 0 {
        exec.handles
            .insert(Kind::Graph, phGraphClone, made_phGraphClone.cast());
    }
    Ok(status.cast_signed())
}

fn cuGraphDestroy(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hGraph = r.u64()?;
    r.end()?;
    let real_hGraph = match exec.handles.real(Kind::Graph, hGraph) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuGraphDestroy else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hGraph) };
    if status == 0 {
        exec.handles.remove(Kind::Graph, hGraph);
    }
    Ok(status.cast_signed())
}

fn cuGraphGetId(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hGraph = r.u64()?;
    r.end()?;
    let real_hGraph = match exec.handles.real(Kind::Graph, hGraph) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut graphId: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuGraphGetId else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hGraph, &raw mut graphId) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const graphId, 1) };
    }
    Ok(status.cast_signed())
}

fn cuGraphExecGetId(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hGraphExec = r.u64()?;
    r.end()?;
    let real_hGraphExec = match exec.handles.real(Kind::GraphExec, hGraphExec) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut graphId: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuGraphExecGetId else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hGraphExec, &raw mut graphId) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const graphId, 1) };
    }
    Ok(status.cast_signed())
}

fn cuGraphAddEmptyNode(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let phGraphNode = r.u64()?;
    let hGraph = r.u64()?;
    let dependencies: Vec<u64> = unsafe { wire::take_vec(r) }?;
    let numDependencies: usize = Scalar::take(r)?;
    r.end()?;
    match exec.handles.check_minted(Kind::GraphNode, phGraphNode) {
        Ok(()) => {}
        Err(code) => return Ok(code),
    }
    let real_hGraph = match exec.handles.real(Kind::Graph, hGraph) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    if dependencies.len() != Scalar::as_len(numDependencies) {
        return Err(mismatch("dependencies", dependencies.len()).into());
    }
    let mut real_dependencies = Vec::with_capacity(dependencies.len());
    for handle in dependencies {
        match exec.handles.real(Kind::GraphNode, handle) {
            Ok(real) => real_dependencies.push(real.cast()),
            Err(code) => return Ok(code),
        }
    }
    let mut made_phGraphNode: CUgraphNode = core::ptr::null_mut();

    let Some(call) = exec.driver.cuGraphAddEmptyNode else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            &raw mut made_phGraphNode,
            real_hGraph,
            real_dependencies.as_mut_ptr(),
            numDependencies,
        )
    };
    if status == 0 {
        exec.handles.insert_child(
            Kind::GraphNode,
            phGraphNode,
            made_phGraphNode.cast(),
            hGraph,
        );
    }
    Ok(status.cast_signed())
}

fn cuGraphGetNodes(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hGraph = r.u64()?;
    let there_nodes = wire::take_flag(r)?;
    let mut numNodes: usize = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut numNodes, 1) }?;
    r.end()?;
    let real_hGraph = match exec.handles.real(Kind::Graph, hGraph) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut nodes: Vec<CUgraphNode> = wire::room_for_handles(if there_nodes {
        Scalar::as_len(numNodes)
    } else {
        0
    })?;

    let Some(call) = exec.driver.cuGraphGetNodes else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_hGraph,
            if there_nodes {
                nodes.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
            &raw mut numNodes,
        )
    };
    if status == CUDA_SUCCESS {
        if there_nodes {
            let count = if status == 0 {
                Scalar::as_len(numNodes).min(nodes.len())
            } else {
                0
            };
            w.u64(count as u64);
            for real in nodes.iter().take(count) {
                w.u64(
                    exec.handles
                        .known_child(Kind::GraphNode, real.cast(), hGraph),
                );
            }
        }
        unsafe { wire::put(w, &raw const numNodes, 1) };
    }
    Ok(status.cast_signed())
}

fn cuGraphGetRootNodes(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hGraph = r.u64()?;
    let there_rootNodes = wire::take_flag(r)?;
    let mut numRootNodes: usize = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut numRootNodes, 1) }?;
    r.end()?;
    let real_hGraph = match exec.handles.real(Kind::Graph, hGraph) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut rootNodes: Vec<CUgraphNode> = wire::room_for_handles(if there_rootNodes {
        Scalar::as_len(numRootNodes)
    } else {
        0
    })?;

    let Some(call) = exec.driver.cuGraphGetRootNodes else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_hGraph,
            if there_rootNodes {
                rootNodes.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
            &raw mut numRootNodes,
        )
    };
    if status == CUDA_SUCCESS {
        if there_rootNodes {
            let count = if status == 0 {
                Scalar::as_len(numRootNodes).min(rootNodes.len())
            } else {
                0
            };
            w.u64(count as u64);
            for real in rootNodes.iter().take(count) {
                w.u64(
                    exec.handles
                        .known_child(Kind::GraphNode, real.cast(), hGraph),
                );
            }
        }
        unsafe { wire::put(w, &raw const numRootNodes, 1) };
    }
    Ok(status.cast_signed())
}

fn cuGraphGetEdges(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hGraph = r.u64()?;
    let there_from = wire::take_flag(r)?;
    let there_to = wire::take_flag(r)?;
    let mut numEdges: usize = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut numEdges, 1) }?;
    r.end()?;
    let real_hGraph = match exec.handles.real(Kind::Graph, hGraph) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut from: Vec<CUgraphNode> = wire::room_for_handles(if there_from {
        Scalar::as_len(numEdges)
    } else {
        0
    })?;
    let mut to: Vec<CUgraphNode> = wire::room_for_handles(if there_to {
        Scalar::as_len(numEdges)
    } else {
        0
    })?;

    let Some(call) = exec.driver.cuGraphGetEdges else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_hGraph,
            if there_from {
                from.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
            if there_to {
                to.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
            &raw mut numEdges,
        )
    };
    if status == CUDA_SUCCESS {
        if there_from {
            let count = if status == 0 {
                Scalar::as_len(numEdges).min(from.len())
            } else {
                0
            };
            w.u64(count as u64);
            for real in from.iter().take(count) {
                w.u64(
                    exec.handles
                        .known_child(Kind::GraphNode, real.cast(), hGraph),
                );
            }
        }
        if there_to {
            let count = if status == 0 {
                Scalar::as_len(numEdges).min(to.len())
            } else {
                0
            };
            w.u64(count as u64);
            for real in to.iter().take(count) {
                w.u64(
                    exec.handles
                        .known_child(Kind::GraphNode, real.cast(), hGraph),
                );
            }
        }
        unsafe { wire::put(w, &raw const numEdges, 1) };
    }
    Ok(status.cast_signed())
}

fn cuGraphGetEdges_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hGraph = r.u64()?;
    let there_from = wire::take_flag(r)?;
    let there_to = wire::take_flag(r)?;
    let there_edgeData = wire::take_flag(r)?;
    let mut numEdges: usize = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut numEdges, 1) }?;
    r.end()?;
    let real_hGraph = match exec.handles.real(Kind::Graph, hGraph) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut from: Vec<CUgraphNode> = wire::room_for_handles(if there_from {
        Scalar::as_len(numEdges)
    } else {
        0
    })?;
    let mut to: Vec<CUgraphNode> = wire::room_for_handles(if there_to {
        Scalar::as_len(numEdges)
    } else {
        0
    })?;
    let mut edgeData = unsafe {
        wire::room::<CUgraphEdgeData>(if there_edgeData {
            Scalar::as_len(numEdges)
        } else {
            0
        })
    }?;
    let room_edgeData = edgeData.len();

    let Some(call) = exec.driver.cuGraphGetEdges_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_hGraph,
            if there_from {
                from.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
            if there_to {
                to.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
            if there_edgeData {
                edgeData.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
            &raw mut numEdges,
        )
    };
    if status == CUDA_SUCCESS {
        if there_from {
            let count = if status == 0 {
                Scalar::as_len(numEdges).min(from.len())
            } else {
                0
            };
            w.u64(count as u64);
            for real in from.iter().take(count) {
                w.u64(
                    exec.handles
                        .known_child(Kind::GraphNode, real.cast(), hGraph),
                );
            }
        }
        if there_to {
            let count = if status == 0 {
                Scalar::as_len(numEdges).min(to.len())
            } else {
                0
            };
            w.u64(count as u64);
            for real in to.iter().take(count) {
                w.u64(
                    exec.handles
                        .known_child(Kind::GraphNode, real.cast(), hGraph),
                );
            }
        }
        if there_edgeData {
            let count = if status == 0 {
                Scalar::as_len(numEdges).min(room_edgeData)
            } else {
                0
            };
            w.u64(count as u64);
            unsafe { wire::put(w, edgeData.as_ptr(), count) };
        }
        unsafe { wire::put(w, &raw const numEdges, 1) };
    }
    Ok(status.cast_signed())
}

fn cuGraphAddDependencies(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hGraph = r.u64()?;
    let from: Vec<u64> = unsafe { wire::take_vec(r) }?;
    let to: Vec<u64> = unsafe { wire::take_vec(r) }?;
    let numDependencies: usize = Scalar::take(r)?;
    r.end()?;
    let real_hGraph = match exec.handles.real(Kind::Graph, hGraph) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    if from.len() != Scalar::as_len(numDependencies) {
        return Err(mismatch("from", from.len()).into());
    }
    let mut real_from = Vec::with_capacity(from.len());
    for handle in from {
        match exec.handles.real(Kind::GraphNode, handle) {
            Ok(real) => real_from.push(real.cast()),
            Err(code) => return Ok(code),
        }
    }
    if to.len() != Scalar::as_len(numDependencies) {
        return Err(mismatch("to", to.len()).into());
    }
    let mut real_to = Vec::with_capacity(to.len());
    for handle in to {
        match exec.handles.real(Kind::GraphNode, handle) {
            Ok(real) => real_to.push(real.cast()),
            Err(code) => return Ok(code),
        }
    }

    let Some(call) = exec.driver.cuGraphAddDependencies else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_hGraph,
            real_from.as_mut_ptr(),
            real_to.as_mut_ptr(),
            numDependencies,
        )
    };
    Ok(status.cast_signed())
}

fn cuGraphAddDependencies_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hGraph = r.u64()?;
    let from: Vec<u64> = unsafe { wire::take_vec(r) }?;
    let to: Vec<u64> = unsafe { wire::take_vec(r) }?;
    let there_edgeData = wire::take_flag(r)?;
    let mut edgeData = match there_edgeData {
        true => unsafe { wire::take_vec::<CUgraphEdgeData>(r) }?,
        false => Vec::new(),
    };
    let numDependencies: usize = Scalar::take(r)?;
    r.end()?;
    let real_hGraph = match exec.handles.real(Kind::Graph, hGraph) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    if from.len() != Scalar::as_len(numDependencies) {
        return Err(mismatch("from", from.len()).into());
    }
    let mut real_from = Vec::with_capacity(from.len());
    for handle in from {
        match exec.handles.real(Kind::GraphNode, handle) {
            Ok(real) => real_from.push(real.cast()),
            Err(code) => return Ok(code),
        }
    }
    if to.len() != Scalar::as_len(numDependencies) {
        return Err(mismatch("to", to.len()).into());
    }
    let mut real_to = Vec::with_capacity(to.len());
    for handle in to {
        match exec.handles.real(Kind::GraphNode, handle) {
            Ok(real) => real_to.push(real.cast()),
            Err(code) => return Ok(code),
        }
    }
    if there_edgeData && edgeData.len() != Scalar::as_len(numDependencies) {
        return Err(mismatch("edgeData", edgeData.len()).into());
    }

    let Some(call) = exec.driver.cuGraphAddDependencies_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_hGraph,
            real_from.as_mut_ptr(),
            real_to.as_mut_ptr(),
            if there_edgeData {
                edgeData.as_ptr().cast_mut()
            } else {
                core::ptr::null_mut()
            },
            numDependencies,
        )
    };
    Ok(status.cast_signed())
}

fn cuGraphRemoveDependencies(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hGraph = r.u64()?;
    let from: Vec<u64> = unsafe { wire::take_vec(r) }?;
    let to: Vec<u64> = unsafe { wire::take_vec(r) }?;
    let numDependencies: usize = Scalar::take(r)?;
    r.end()?;
    let real_hGraph = match exec.handles.real(Kind::Graph, hGraph) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    if from.len() != Scalar::as_len(numDependencies) {
        return Err(mismatch("from", from.len()).into());
    }
    let mut real_from = Vec::with_capacity(from.len());
    for handle in from {
        match exec.handles.real(Kind::GraphNode, handle) {
            Ok(real) => real_from.push(real.cast()),
            Err(code) => return Ok(code),
        }
    }
    if to.len() != Scalar::as_len(numDependencies) {
        return Err(mismatch("to", to.len()).into());
    }
    let mut real_to = Vec::with_capacity(to.len());
    for handle in to {
        match exec.handles.real(Kind::GraphNode, handle) {
            Ok(real) => real_to.push(real.cast()),
            Err(code) => return Ok(code),
        }
    }

    let Some(call) = exec.driver.cuGraphRemoveDependencies else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_hGraph,
            real_from.as_mut_ptr(),
            real_to.as_mut_ptr(),
            numDependencies,
        )
    };
    Ok(status.cast_signed())
}

fn cuGraphRemoveDependencies_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hGraph = r.u64()?;
    let from: Vec<u64> = unsafe { wire::take_vec(r) }?;
    let to: Vec<u64> = unsafe { wire::take_vec(r) }?;
    let there_edgeData = wire::take_flag(r)?;
    let mut edgeData = match there_edgeData {
        true => unsafe { wire::take_vec::<CUgraphEdgeData>(r) }?,
        false => Vec::new(),
    };
    let numDependencies: usize = Scalar::take(r)?;
    r.end()?;
    let real_hGraph = match exec.handles.real(Kind::Graph, hGraph) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    if from.len() != Scalar::as_len(numDependencies) {
        return Err(mismatch("from", from.len()).into());
    }
    let mut real_from = Vec::with_capacity(from.len());
    for handle in from {
        match exec.handles.real(Kind::GraphNode, handle) {
            Ok(real) => real_from.push(real.cast()),
            Err(code) => return Ok(code),
        }
    }
    if to.len() != Scalar::as_len(numDependencies) {
        return Err(mismatch("to", to.len()).into());
    }
    let mut real_to = Vec::with_capacity(to.len());
    for handle in to {
        match exec.handles.real(Kind::GraphNode, handle) {
            Ok(real) => real_to.push(real.cast()),
            Err(code) => return Ok(code),
        }
    }
    if there_edgeData && edgeData.len() != Scalar::as_len(numDependencies) {
        return Err(mismatch("edgeData", edgeData.len()).into());
    }

    let Some(call) = exec.driver.cuGraphRemoveDependencies_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_hGraph,
            real_from.as_mut_ptr(),
            real_to.as_mut_ptr(),
            if there_edgeData {
                edgeData.as_ptr().cast_mut()
            } else {
                core::ptr::null_mut()
            },
            numDependencies,
        )
    };
    Ok(status.cast_signed())
}

fn cuGraphNodeGetDependencies(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hNode = r.u64()?;
    let there_dependencies = wire::take_flag(r)?;
    let mut numDependencies: usize = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut numDependencies, 1) }?;
    r.end()?;
    let real_hNode = match exec.handles.real(Kind::GraphNode, hNode) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut dependencies: Vec<CUgraphNode> = wire::room_for_handles(if there_dependencies {
        Scalar::as_len(numDependencies)
    } else {
        0
    })?;

    let Some(call) = exec.driver.cuGraphNodeGetDependencies else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_hNode,
            if there_dependencies {
                dependencies.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
            &raw mut numDependencies,
        )
    };
    if status == CUDA_SUCCESS {
        if there_dependencies {
            let count = if status == 0 {
                Scalar::as_len(numDependencies).min(dependencies.len())
            } else {
                0
            };
            w.u64(count as u64);
            for real in dependencies.iter().take(count) {
                w.u64(
                    exec.handles
                        .known_child(Kind::GraphNode, real.cast(), hNode),
                );
            }
        }
        unsafe { wire::put(w, &raw const numDependencies, 1) };
    }
    Ok(status.cast_signed())
}

fn cuGraphNodeGetDependencies_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hNode = r.u64()?;
    let there_dependencies = wire::take_flag(r)?;
    let there_edgeData = wire::take_flag(r)?;
    let mut numDependencies: usize = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut numDependencies, 1) }?;
    r.end()?;
    let real_hNode = match exec.handles.real(Kind::GraphNode, hNode) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut dependencies: Vec<CUgraphNode> = wire::room_for_handles(if there_dependencies {
        Scalar::as_len(numDependencies)
    } else {
        0
    })?;
    let mut edgeData = unsafe {
        wire::room::<CUgraphEdgeData>(if there_edgeData {
            Scalar::as_len(numDependencies)
        } else {
            0
        })
    }?;
    let room_edgeData = edgeData.len();

    let Some(call) = exec.driver.cuGraphNodeGetDependencies_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_hNode,
            if there_dependencies {
                dependencies.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
            if there_edgeData {
                edgeData.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
            &raw mut numDependencies,
        )
    };
    if status == CUDA_SUCCESS {
        if there_dependencies {
            let count = if status == 0 {
                Scalar::as_len(numDependencies).min(dependencies.len())
            } else {
                0
            };
            w.u64(count as u64);
            for real in dependencies.iter().take(count) {
                w.u64(
                    exec.handles
                        .known_child(Kind::GraphNode, real.cast(), hNode),
                );
            }
        }
        if there_edgeData {
            let count = if status == 0 {
                Scalar::as_len(numDependencies).min(room_edgeData)
            } else {
                0
            };
            w.u64(count as u64);
            unsafe { wire::put(w, edgeData.as_ptr(), count) };
        }
        unsafe { wire::put(w, &raw const numDependencies, 1) };
    }
    Ok(status.cast_signed())
}

fn cuGraphNodeGetDependentNodes(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hNode = r.u64()?;
    let there_dependentNodes = wire::take_flag(r)?;
    let mut numDependentNodes: usize = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut numDependentNodes, 1) }?;
    r.end()?;
    let real_hNode = match exec.handles.real(Kind::GraphNode, hNode) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut dependentNodes: Vec<CUgraphNode> = wire::room_for_handles(if there_dependentNodes {
        Scalar::as_len(numDependentNodes)
    } else {
        0
    })?;

    let Some(call) = exec.driver.cuGraphNodeGetDependentNodes else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_hNode,
            if there_dependentNodes {
                dependentNodes.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
            &raw mut numDependentNodes,
        )
    };
    if status == CUDA_SUCCESS {
        if there_dependentNodes {
            let count = if status == 0 {
                Scalar::as_len(numDependentNodes).min(dependentNodes.len())
            } else {
                0
            };
            w.u64(count as u64);
            for real in dependentNodes.iter().take(count) {
                w.u64(
                    exec.handles
                        .known_child(Kind::GraphNode, real.cast(), hNode),
                );
            }
        }
        unsafe { wire::put(w, &raw const numDependentNodes, 1) };
    }
    Ok(status.cast_signed())
}

fn cuGraphNodeGetDependentNodes_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hNode = r.u64()?;
    let there_dependentNodes = wire::take_flag(r)?;
    let there_edgeData = wire::take_flag(r)?;
    let mut numDependentNodes: usize = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut numDependentNodes, 1) }?;
    r.end()?;
    let real_hNode = match exec.handles.real(Kind::GraphNode, hNode) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut dependentNodes: Vec<CUgraphNode> = wire::room_for_handles(if there_dependentNodes {
        Scalar::as_len(numDependentNodes)
    } else {
        0
    })?;
    let mut edgeData = unsafe {
        wire::room::<CUgraphEdgeData>(if there_edgeData {
            Scalar::as_len(numDependentNodes)
        } else {
            0
        })
    }?;
    let room_edgeData = edgeData.len();

    let Some(call) = exec.driver.cuGraphNodeGetDependentNodes_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            real_hNode,
            if there_dependentNodes {
                dependentNodes.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
            if there_edgeData {
                edgeData.as_mut_ptr()
            } else {
                core::ptr::null_mut()
            },
            &raw mut numDependentNodes,
        )
    };
    if status == CUDA_SUCCESS {
        if there_dependentNodes {
            let count = if status == 0 {
                Scalar::as_len(numDependentNodes).min(dependentNodes.len())
            } else {
                0
            };
            w.u64(count as u64);
            for real in dependentNodes.iter().take(count) {
                w.u64(
                    exec.handles
                        .known_child(Kind::GraphNode, real.cast(), hNode),
                );
            }
        }
        if there_edgeData {
            let count = if status == 0 {
                Scalar::as_len(numDependentNodes).min(room_edgeData)
            } else {
                0
            };
            w.u64(count as u64);
            unsafe { wire::put(w, edgeData.as_ptr(), count) };
        }
        unsafe { wire::put(w, &raw const numDependentNodes, 1) };
    }
    Ok(status.cast_signed())
}

fn cuGraphNodeFindInClone(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hOriginalNode = r.u64()?;
    let hClonedGraph = r.u64()?;
    r.end()?;
    let real_hOriginalNode = match exec.handles.real(Kind::GraphNode, hOriginalNode) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let real_hClonedGraph = match exec.handles.real(Kind::Graph, hClonedGraph) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut phNode: CUgraphNode = core::ptr::null_mut();

    let Some(call) = exec.driver.cuGraphNodeFindInClone else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut phNode, real_hOriginalNode, real_hClonedGraph) };
    if status == CUDA_SUCCESS {
        w.u64(
            exec.handles
                .known_child(Kind::GraphNode, phNode.cast(), hClonedGraph),
        );
    }
    Ok(status.cast_signed())
}

fn cuGraphNodeGetContainingGraph(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hNode = r.u64()?;
    r.end()?;
    let real_hNode = match exec.handles.real(Kind::GraphNode, hNode) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut phGraph: CUgraph = core::ptr::null_mut();

    let Some(call) = exec.driver.cuGraphNodeGetContainingGraph else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hNode, &raw mut phGraph) };
    if status == CUDA_SUCCESS {
        w.u64(exec.handles.known(Kind::Graph, phGraph.cast()));
    }
    Ok(status.cast_signed())
}

fn cuGraphNodeGetLocalId(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hNode = r.u64()?;
    r.end()?;
    let real_hNode = match exec.handles.real(Kind::GraphNode, hNode) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut nodeId: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuGraphNodeGetLocalId else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hNode, &raw mut nodeId) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const nodeId, 1) };
    }
    Ok(status.cast_signed())
}

fn cuGraphNodeGetToolsId(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hNode = r.u64()?;
    r.end()?;
    let real_hNode = match exec.handles.real(Kind::GraphNode, hNode) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut toolsNodeId: c_ulonglong = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuGraphNodeGetToolsId else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hNode, &raw mut toolsNodeId) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const toolsNodeId, 1) };
    }
    Ok(status.cast_signed())
}

fn cuGraphNodeGetType(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hNode = r.u64()?;
    r.end()?;
    let real_hNode = match exec.handles.real(Kind::GraphNode, hNode) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut type_: CUgraphNodeType = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuGraphNodeGetType else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hNode, &raw mut type_) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const type_, 1) };
    }
    Ok(status.cast_signed())
}

fn cuGraphDestroyNode(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hNode = r.u64()?;
    r.end()?;
    let real_hNode = match exec.handles.real(Kind::GraphNode, hNode) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuGraphDestroyNode else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hNode) };
    if status == 0 {
        exec.handles.remove(Kind::GraphNode, hNode);
    }
    Ok(status.cast_signed())
}

fn cuGraphChildGraphNodeGetGraph(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hNode = r.u64()?;
    r.end()?;
    let real_hNode = match exec.handles.real(Kind::GraphNode, hNode) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut phGraph: CUgraph = core::ptr::null_mut();

    let Some(call) = exec.driver.cuGraphChildGraphNodeGetGraph else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hNode, &raw mut phGraph) };
    if status == CUDA_SUCCESS {
        w.u64(exec.handles.known(Kind::Graph, phGraph.cast()));
    }
    Ok(status.cast_signed())
}

fn cuGraphEventRecordNodeGetEvent(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hNode = r.u64()?;
    r.end()?;
    let real_hNode = match exec.handles.real(Kind::GraphNode, hNode) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut event_out: CUevent = core::ptr::null_mut();

    let Some(call) = exec.driver.cuGraphEventRecordNodeGetEvent else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hNode, &raw mut event_out) };
    if status == CUDA_SUCCESS {
        w.u64(exec.handles.known(Kind::Event, event_out.cast()));
    }
    Ok(status.cast_signed())
}

fn cuGraphEventWaitNodeGetEvent(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hNode = r.u64()?;
    r.end()?;
    let real_hNode = match exec.handles.real(Kind::GraphNode, hNode) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut event_out: CUevent = core::ptr::null_mut();

    let Some(call) = exec.driver.cuGraphEventWaitNodeGetEvent else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hNode, &raw mut event_out) };
    if status == CUDA_SUCCESS {
        w.u64(exec.handles.known(Kind::Event, event_out.cast()));
    }
    Ok(status.cast_signed())
}

fn cuGraphMemFreeNodeGetParams(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hNode = r.u64()?;
    r.end()?;
    let real_hNode = match exec.handles.real(Kind::GraphNode, hNode) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut dptr_out: CUdeviceptr = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuGraphMemFreeNodeGetParams else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hNode, &raw mut dptr_out) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const dptr_out, 1) };
    }
    Ok(status.cast_signed())
}

fn cuGraphMemsetNodeGetParams(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hNode = r.u64()?;
    r.end()?;
    let real_hNode = match exec.handles.real(Kind::GraphNode, hNode) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut nodeParams: CUDA_MEMSET_NODE_PARAMS = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuGraphMemsetNodeGetParams else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hNode, &raw mut nodeParams) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const nodeParams, 1) };
    }
    Ok(status.cast_signed())
}

fn cuGraphConditionalHandleCreate(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hGraph = r.u64()?;
    let ctx = r.u64()?;
    let defaultLaunchValue: c_uint = Scalar::take(r)?;
    let flags: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_hGraph = match exec.handles.real(Kind::Graph, hGraph) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let real_ctx = if ctx == 0 {
        core::ptr::null_mut()
    } else {
        match exec.handles.real(Kind::Context, ctx) {
            Ok(real) => real.cast(),
            Err(code) => return Ok(code),
        }
    };
    let mut pHandle_out: CUgraphConditionalHandle = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuGraphConditionalHandleCreate else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            &raw mut pHandle_out,
            real_hGraph,
            real_ctx,
            defaultLaunchValue,
            flags,
        )
    };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const pHandle_out, 1) };
    }
    Ok(status.cast_signed())
}

fn cuGraphKernelNodeGetAttribute(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hNode = r.u64()?;
    let attr: CUkernelNodeAttrID = Scalar::take(r)?;
    r.end()?;
    let real_hNode = match exec.handles.real(Kind::GraphNode, hNode) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut value_out: CUkernelNodeAttrValue = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuGraphKernelNodeGetAttribute else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hNode, attr, &raw mut value_out) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const value_out, 1) };
    }
    Ok(status.cast_signed())
}

fn cuGraphKernelNodeSetAttribute(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hNode = r.u64()?;
    let attr: CUkernelNodeAttrID = Scalar::take(r)?;
    let mut value: CUkernelNodeAttrValue = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut value, 1) }?;
    r.end()?;
    let real_hNode = match exec.handles.real(Kind::GraphNode, hNode) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuGraphKernelNodeSetAttribute else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hNode, attr, &raw mut value) };
    Ok(status.cast_signed())
}

fn cuGraphKernelNodeCopyAttributes(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let dst = r.u64()?;
    let src = r.u64()?;
    r.end()?;
    let real_dst = match exec.handles.real(Kind::GraphNode, dst) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let real_src = match exec.handles.real(Kind::GraphNode, src) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuGraphKernelNodeCopyAttributes else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_dst, real_src) };
    Ok(status.cast_signed())
}

fn cuGraphExecGetFlags(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hGraphExec = r.u64()?;
    r.end()?;
    let real_hGraphExec = match exec.handles.real(Kind::GraphExec, hGraphExec) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut flags: cuuint64_t = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuGraphExecGetFlags else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hGraphExec, &raw mut flags) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const flags, 1) };
    }
    Ok(status.cast_signed())
}

fn cuGraphNodeGetEnabled(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hGraphExec = r.u64()?;
    let hNode = r.u64()?;
    r.end()?;
    let real_hGraphExec = match exec.handles.real(Kind::GraphExec, hGraphExec) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let real_hNode = match exec.handles.real(Kind::GraphNode, hNode) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut isEnabled: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuGraphNodeGetEnabled else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hGraphExec, real_hNode, &raw mut isEnabled) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const isEnabled, 1) };
    }
    Ok(status.cast_signed())
}

fn cuGraphNodeSetEnabled(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hGraphExec = r.u64()?;
    let hNode = r.u64()?;
    let isEnabled: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_hGraphExec = match exec.handles.real(Kind::GraphExec, hGraphExec) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let real_hNode = match exec.handles.real(Kind::GraphNode, hNode) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuGraphNodeSetEnabled else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hGraphExec, real_hNode, isEnabled) };
    Ok(status.cast_signed())
}

fn cuGraphUpload(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hGraphExec = r.u64()?;
    let hStream = r.u64()?;
    r.end()?;
    let real_hGraphExec = match exec.handles.real(Kind::GraphExec, hGraphExec) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuGraphUpload else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hGraphExec, real_hStream) };
    Ok(status.cast_signed())
}

fn cuGraphLaunch(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hGraphExec = r.u64()?;
    let hStream = r.u64()?;
    r.end()?;
    let real_hGraphExec = match exec.handles.real(Kind::GraphExec, hGraphExec) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let real_hStream = match exec.handles.real(Kind::Stream, hStream) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuGraphLaunch else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hGraphExec, real_hStream) };
    Ok(status.cast_signed())
}

fn cuGraphExecDestroy(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hGraphExec = r.u64()?;
    r.end()?;
    let real_hGraphExec = match exec.handles.real(Kind::GraphExec, hGraphExec) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuGraphExecDestroy else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hGraphExec) };
    if status == 0 {
        exec.handles.remove(Kind::GraphExec, hGraphExec);
    }
    Ok(status.cast_signed())
}

fn cuTensorMapEncodeTiled(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let tensorDataType: CUtensorMapDataType = Scalar::take(r)?;
    let tensorRank: cuuint32_t = Scalar::take(r)?;
    let globalAddress = r.u64()?;
    let mut globalDim = unsafe { wire::take_vec::<cuuint64_t>(r) }?;
    let mut globalStrides = unsafe { wire::take_vec::<cuuint64_t>(r) }?;
    let mut boxDim = unsafe { wire::take_vec::<cuuint32_t>(r) }?;
    let mut elementStrides = unsafe { wire::take_vec::<cuuint32_t>(r) }?;
    let interleave: CUtensorMapInterleave = Scalar::take(r)?;
    let swizzle: CUtensorMapSwizzle = Scalar::take(r)?;
    let l2Promotion: CUtensorMapL2promotion = Scalar::take(r)?;
    let oobFill: CUtensorMapFloatOOBfill = Scalar::take(r)?;
    r.end()?;
    if globalDim.len() != Scalar::as_len(tensorRank) {
        return Err(mismatch("globalDim", globalDim.len()).into());
    }
    if globalStrides.len() != Scalar::as_len(tensorRank).saturating_sub(1) {
        return Err(mismatch("globalStrides", globalStrides.len()).into());
    }
    if boxDim.len() != Scalar::as_len(tensorRank) {
        return Err(mismatch("boxDim", boxDim.len()).into());
    }
    if elementStrides.len() != Scalar::as_len(tensorRank) {
        return Err(mismatch("elementStrides", elementStrides.len()).into());
    }
    let mut tensorMap: CUtensorMap = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuTensorMapEncodeTiled else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            &raw mut tensorMap,
            tensorDataType,
            tensorRank,
            core::ptr::with_exposed_provenance_mut(globalAddress as usize),
            globalDim.as_ptr().cast_mut(),
            globalStrides.as_ptr().cast_mut(),
            boxDim.as_ptr().cast_mut(),
            elementStrides.as_ptr().cast_mut(),
            interleave,
            swizzle,
            l2Promotion,
            oobFill,
        )
    };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const tensorMap, 1) };
    }
    Ok(status.cast_signed())
}

fn cuTensorMapEncodeIm2col(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let tensorDataType: CUtensorMapDataType = Scalar::take(r)?;
    let tensorRank: cuuint32_t = Scalar::take(r)?;
    let globalAddress = r.u64()?;
    let mut globalDim = unsafe { wire::take_vec::<cuuint64_t>(r) }?;
    let mut globalStrides = unsafe { wire::take_vec::<cuuint64_t>(r) }?;
    let mut pixelBoxLowerCorner = unsafe { wire::take_vec::<c_int>(r) }?;
    let mut pixelBoxUpperCorner = unsafe { wire::take_vec::<c_int>(r) }?;
    let channelsPerPixel: cuuint32_t = Scalar::take(r)?;
    let pixelsPerColumn: cuuint32_t = Scalar::take(r)?;
    let mut elementStrides = unsafe { wire::take_vec::<cuuint32_t>(r) }?;
    let interleave: CUtensorMapInterleave = Scalar::take(r)?;
    let swizzle: CUtensorMapSwizzle = Scalar::take(r)?;
    let l2Promotion: CUtensorMapL2promotion = Scalar::take(r)?;
    let oobFill: CUtensorMapFloatOOBfill = Scalar::take(r)?;
    r.end()?;
    if globalDim.len() != Scalar::as_len(tensorRank) {
        return Err(mismatch("globalDim", globalDim.len()).into());
    }
    if globalStrides.len() != Scalar::as_len(tensorRank).saturating_sub(1) {
        return Err(mismatch("globalStrides", globalStrides.len()).into());
    }
    if pixelBoxLowerCorner.len() != Scalar::as_len(tensorRank).saturating_sub(2) {
        return Err(mismatch("pixelBoxLowerCorner", pixelBoxLowerCorner.len()).into());
    }
    if pixelBoxUpperCorner.len() != Scalar::as_len(tensorRank).saturating_sub(2) {
        return Err(mismatch("pixelBoxUpperCorner", pixelBoxUpperCorner.len()).into());
    }
    if elementStrides.len() != Scalar::as_len(tensorRank) {
        return Err(mismatch("elementStrides", elementStrides.len()).into());
    }
    let mut tensorMap: CUtensorMap = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuTensorMapEncodeIm2col else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            &raw mut tensorMap,
            tensorDataType,
            tensorRank,
            core::ptr::with_exposed_provenance_mut(globalAddress as usize),
            globalDim.as_ptr().cast_mut(),
            globalStrides.as_ptr().cast_mut(),
            pixelBoxLowerCorner.as_ptr().cast_mut(),
            pixelBoxUpperCorner.as_ptr().cast_mut(),
            channelsPerPixel,
            pixelsPerColumn,
            elementStrides.as_ptr().cast_mut(),
            interleave,
            swizzle,
            l2Promotion,
            oobFill,
        )
    };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const tensorMap, 1) };
    }
    Ok(status.cast_signed())
}

fn cuTensorMapReplaceAddress(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let mut tensorMap: CUtensorMap = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut tensorMap, 1) }?;
    let globalAddress = r.u64()?;
    r.end()?;
    let Some(call) = exec.driver.cuTensorMapReplaceAddress else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            &raw mut tensorMap,
            core::ptr::with_exposed_provenance_mut(globalAddress as usize),
        )
    };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const tensorMap, 1) };
    }
    Ok(status.cast_signed())
}

fn cuArrayCreate_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let pHandle = r.u64()?;
    let mut pAllocateArray: CUDA_ARRAY_DESCRIPTOR = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut pAllocateArray, 1) }?;
    r.end()?;
    match exec.handles.check_minted(Kind::Array, pHandle) {
        Ok(()) => {}
        Err(code) => return Ok(code),
    }
    let mut made_pHandle: CUarray = core::ptr::null_mut();

    let Some(call) = exec.driver.cuArrayCreate_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut made_pHandle, &raw mut pAllocateArray) };
    if status == 0 {
        exec.handles
            .insert(Kind::Array, pHandle, made_pHandle.cast());
    }
    Ok(status.cast_signed())
}

fn cuArrayGetDescriptor_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hArray = r.u64()?;
    r.end()?;
    let real_hArray = match exec.handles.real(Kind::Array, hArray) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut pArrayDescriptor: CUDA_ARRAY_DESCRIPTOR = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuArrayGetDescriptor_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pArrayDescriptor, real_hArray) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const pArrayDescriptor, 1) };
    }
    Ok(status.cast_signed())
}

fn cuArray3DCreate_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let pHandle = r.u64()?;
    let mut pAllocateArray: CUDA_ARRAY3D_DESCRIPTOR = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut pAllocateArray, 1) }?;
    r.end()?;
    match exec.handles.check_minted(Kind::Array, pHandle) {
        Ok(()) => {}
        Err(code) => return Ok(code),
    }
    let mut made_pHandle: CUarray = core::ptr::null_mut();

    let Some(call) = exec.driver.cuArray3DCreate_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut made_pHandle, &raw mut pAllocateArray) };
    if status == 0 {
        exec.handles
            .insert(Kind::Array, pHandle, made_pHandle.cast());
    }
    Ok(status.cast_signed())
}

fn cuArray3DGetDescriptor_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hArray = r.u64()?;
    r.end()?;
    let real_hArray = match exec.handles.real(Kind::Array, hArray) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut pArrayDescriptor: CUDA_ARRAY3D_DESCRIPTOR = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuArray3DGetDescriptor_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pArrayDescriptor, real_hArray) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const pArrayDescriptor, 1) };
    }
    Ok(status.cast_signed())
}

fn cuArrayDestroy(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hArray = r.u64()?;
    r.end()?;
    let real_hArray = match exec.handles.real(Kind::Array, hArray) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuArrayDestroy else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hArray) };
    if status == 0 {
        exec.handles.remove(Kind::Array, hArray);
    }
    Ok(status.cast_signed())
}

fn cuArrayGetMemoryRequirements(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let array = r.u64()?;
    let device: CUdevice = Scalar::take(r)?;
    r.end()?;
    let real_array = match exec.handles.real(Kind::Array, array) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut memoryRequirements: CUDA_ARRAY_MEMORY_REQUIREMENTS = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuArrayGetMemoryRequirements else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut memoryRequirements, real_array, device) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const memoryRequirements, 1) };
    }
    Ok(status.cast_signed())
}

fn cuArrayGetPlane(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hArray = r.u64()?;
    let planeIdx: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_hArray = match exec.handles.real(Kind::Array, hArray) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut pPlaneArray: CUarray = core::ptr::null_mut();

    let Some(call) = exec.driver.cuArrayGetPlane else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pPlaneArray, real_hArray, planeIdx) };
    if status == CUDA_SUCCESS {
        w.u64(
            exec.handles
                .known_child(Kind::Array, pPlaneArray.cast(), hArray),
        );
    }
    Ok(status.cast_signed())
}

fn cuMipmappedArrayCreate(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let pHandle = r.u64()?;
    let mut pMipmappedArrayDesc: CUDA_ARRAY3D_DESCRIPTOR = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut pMipmappedArrayDesc, 1) }?;
    let numMipmapLevels: c_uint = Scalar::take(r)?;
    r.end()?;
    match exec.handles.check_minted(Kind::MipmappedArray, pHandle) {
        Ok(()) => {}
        Err(code) => return Ok(code),
    }
    let mut made_pHandle: CUmipmappedArray = core::ptr::null_mut();

    let Some(call) = exec.driver.cuMipmappedArrayCreate else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            &raw mut made_pHandle,
            &raw mut pMipmappedArrayDesc,
            numMipmapLevels,
        )
    };
    if status == 0 {
        exec.handles
            .insert(Kind::MipmappedArray, pHandle, made_pHandle.cast());
    }
    Ok(status.cast_signed())
}

fn cuMipmappedArrayGetLevel(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hMipmappedArray = r.u64()?;
    let level: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_hMipmappedArray = match exec.handles.real(Kind::MipmappedArray, hMipmappedArray) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut pLevelArray: CUarray = core::ptr::null_mut();

    let Some(call) = exec.driver.cuMipmappedArrayGetLevel else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pLevelArray, real_hMipmappedArray, level) };
    if status == CUDA_SUCCESS {
        w.u64(
            exec.handles
                .known_child(Kind::Array, pLevelArray.cast(), hMipmappedArray),
        );
    }
    Ok(status.cast_signed())
}

fn cuArrayGetSparseProperties(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let array = r.u64()?;
    r.end()?;
    let real_array = match exec.handles.real(Kind::Array, array) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut sparseProperties: CUDA_ARRAY_SPARSE_PROPERTIES = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuArrayGetSparseProperties else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut sparseProperties, real_array) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const sparseProperties, 1) };
    }
    Ok(status.cast_signed())
}

fn cuMipmappedArrayGetSparseProperties(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let mipmap = r.u64()?;
    r.end()?;
    let real_mipmap = match exec.handles.real(Kind::MipmappedArray, mipmap) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut sparseProperties: CUDA_ARRAY_SPARSE_PROPERTIES = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuMipmappedArrayGetSparseProperties else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut sparseProperties, real_mipmap) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const sparseProperties, 1) };
    }
    Ok(status.cast_signed())
}

fn cuMipmappedArrayGetMemoryRequirements(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let mipmap = r.u64()?;
    let device: CUdevice = Scalar::take(r)?;
    r.end()?;
    let real_mipmap = match exec.handles.real(Kind::MipmappedArray, mipmap) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut memoryRequirements: CUDA_ARRAY_MEMORY_REQUIREMENTS = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuMipmappedArrayGetMemoryRequirements else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut memoryRequirements, real_mipmap, device) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const memoryRequirements, 1) };
    }
    Ok(status.cast_signed())
}

fn cuMipmappedArrayDestroy(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hMipmappedArray = r.u64()?;
    r.end()?;
    let real_hMipmappedArray = match exec.handles.real(Kind::MipmappedArray, hMipmappedArray) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuMipmappedArrayDestroy else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hMipmappedArray) };
    if status == 0 {
        exec.handles.remove(Kind::MipmappedArray, hMipmappedArray);
    }
    Ok(status.cast_signed())
}

fn cuModuleGetTexRef(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hmod = r.u64()?;
    let name = wire::take_string(r)?;
    r.end()?;
    let real_hmod = match exec.handles.real(Kind::Module, hmod) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut pTexRef: CUtexref = core::ptr::null_mut();

    let Some(call) = exec.driver.cuModuleGetTexRef else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pTexRef, real_hmod, name.as_ptr()) };
    if status == CUDA_SUCCESS {
        w.u64(exec.handles.known_child(Kind::TexRef, pTexRef.cast(), hmod));
    }
    Ok(status.cast_signed())
}

fn cuModuleGetSurfRef(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hmod = r.u64()?;
    let name = wire::take_string(r)?;
    r.end()?;
    let real_hmod = match exec.handles.real(Kind::Module, hmod) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut pSurfRef: CUsurfref = core::ptr::null_mut();

    let Some(call) = exec.driver.cuModuleGetSurfRef else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pSurfRef, real_hmod, name.as_ptr()) };
    if status == CUDA_SUCCESS {
        w.u64(
            exec.handles
                .known_child(Kind::SurfRef, pSurfRef.cast(), hmod),
        );
    }
    Ok(status.cast_signed())
}

fn cuTexRefCreate(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let pTexRef = r.u64()?;
    r.end()?;
    match exec.handles.check_minted(Kind::TexRef, pTexRef) {
        Ok(()) => {}
        Err(code) => return Ok(code),
    }
    let mut made_pTexRef: CUtexref = core::ptr::null_mut();

    let Some(call) = exec.driver.cuTexRefCreate else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut made_pTexRef) };
    if status == 0 {
        exec.handles
            .insert(Kind::TexRef, pTexRef, made_pTexRef.cast());
    }
    Ok(status.cast_signed())
}

fn cuTexRefDestroy(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hTexRef = r.u64()?;
    r.end()?;
    let real_hTexRef = match exec.handles.real(Kind::TexRef, hTexRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuTexRefDestroy else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hTexRef) };
    if status == 0 {
        exec.handles.remove(Kind::TexRef, hTexRef);
    }
    Ok(status.cast_signed())
}

fn cuTexRefSetArray(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hTexRef = r.u64()?;
    let hArray = r.u64()?;
    let Flags: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_hTexRef = match exec.handles.real(Kind::TexRef, hTexRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let real_hArray = match exec.handles.real(Kind::Array, hArray) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuTexRefSetArray else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hTexRef, real_hArray, Flags) };
    Ok(status.cast_signed())
}

fn cuTexRefSetMipmappedArray(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hTexRef = r.u64()?;
    let hMipmappedArray = r.u64()?;
    let Flags: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_hTexRef = match exec.handles.real(Kind::TexRef, hTexRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let real_hMipmappedArray = match exec.handles.real(Kind::MipmappedArray, hMipmappedArray) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuTexRefSetMipmappedArray else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hTexRef, real_hMipmappedArray, Flags) };
    Ok(status.cast_signed())
}

fn cuTexRefSetAddress_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let there_ByteOffset = wire::take_flag(r)?;
    let hTexRef = r.u64()?;
    let dptr = r.u64()?;
    let bytes: usize = Scalar::take(r)?;
    r.end()?;
    let real_hTexRef = match exec.handles.real(Kind::TexRef, hTexRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut ByteOffset: usize = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuTexRefSetAddress_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            if there_ByteOffset {
                &raw mut ByteOffset
            } else {
                core::ptr::null_mut()
            },
            real_hTexRef,
            dptr,
            bytes,
        )
    };
    if status == CUDA_SUCCESS {
        if there_ByteOffset {
            unsafe { wire::put(w, &raw const ByteOffset, 1) };
        }
    }
    Ok(status.cast_signed())
}

fn cuTexRefSetAddress2D_v3(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hTexRef = r.u64()?;
    let mut desc: CUDA_ARRAY_DESCRIPTOR = unsafe { wire::zeroed() };
    unsafe { wire::take(r, &raw mut desc, 1) }?;
    let dptr = r.u64()?;
    let Pitch: usize = Scalar::take(r)?;
    r.end()?;
    let real_hTexRef = match exec.handles.real(Kind::TexRef, hTexRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuTexRefSetAddress2D_v3 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hTexRef, &raw mut desc, dptr, Pitch) };
    Ok(status.cast_signed())
}

fn cuTexRefSetFormat(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hTexRef = r.u64()?;
    let fmt: CUarray_format = Scalar::take(r)?;
    let NumPackedComponents: c_int = Scalar::take(r)?;
    r.end()?;
    let real_hTexRef = match exec.handles.real(Kind::TexRef, hTexRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuTexRefSetFormat else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hTexRef, fmt, NumPackedComponents) };
    Ok(status.cast_signed())
}

fn cuTexRefSetAddressMode(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hTexRef = r.u64()?;
    let dim: c_int = Scalar::take(r)?;
    let am: CUaddress_mode = Scalar::take(r)?;
    r.end()?;
    let real_hTexRef = match exec.handles.real(Kind::TexRef, hTexRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuTexRefSetAddressMode else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hTexRef, dim, am) };
    Ok(status.cast_signed())
}

fn cuTexRefSetFilterMode(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hTexRef = r.u64()?;
    let fm: CUfilter_mode = Scalar::take(r)?;
    r.end()?;
    let real_hTexRef = match exec.handles.real(Kind::TexRef, hTexRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuTexRefSetFilterMode else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hTexRef, fm) };
    Ok(status.cast_signed())
}

fn cuTexRefSetMipmapFilterMode(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hTexRef = r.u64()?;
    let fm: CUfilter_mode = Scalar::take(r)?;
    r.end()?;
    let real_hTexRef = match exec.handles.real(Kind::TexRef, hTexRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuTexRefSetMipmapFilterMode else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hTexRef, fm) };
    Ok(status.cast_signed())
}

fn cuTexRefSetMipmapLevelBias(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hTexRef = r.u64()?;
    let bias: f32 = Scalar::take(r)?;
    r.end()?;
    let real_hTexRef = match exec.handles.real(Kind::TexRef, hTexRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuTexRefSetMipmapLevelBias else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hTexRef, bias) };
    Ok(status.cast_signed())
}

fn cuTexRefSetMipmapLevelClamp(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hTexRef = r.u64()?;
    let minMipmapLevelClamp: f32 = Scalar::take(r)?;
    let maxMipmapLevelClamp: f32 = Scalar::take(r)?;
    r.end()?;
    let real_hTexRef = match exec.handles.real(Kind::TexRef, hTexRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuTexRefSetMipmapLevelClamp else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hTexRef, minMipmapLevelClamp, maxMipmapLevelClamp) };
    Ok(status.cast_signed())
}

fn cuTexRefSetMaxAnisotropy(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hTexRef = r.u64()?;
    let maxAniso: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_hTexRef = match exec.handles.real(Kind::TexRef, hTexRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuTexRefSetMaxAnisotropy else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hTexRef, maxAniso) };
    Ok(status.cast_signed())
}

fn cuTexRefSetBorderColor(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hTexRef = r.u64()?;
    let mut pBorderColor = {
        let mut all = unsafe { wire::room::<f32>(4usize) }?;
        unsafe { wire::take(r, all.as_mut_ptr(), 4usize) }?;
        all
    };
    r.end()?;
    let real_hTexRef = match exec.handles.real(Kind::TexRef, hTexRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuTexRefSetBorderColor else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hTexRef, pBorderColor.as_ptr().cast_mut()) };
    Ok(status.cast_signed())
}

fn cuTexRefSetFlags(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hTexRef = r.u64()?;
    let Flags: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_hTexRef = match exec.handles.real(Kind::TexRef, hTexRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuTexRefSetFlags else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hTexRef, Flags) };
    Ok(status.cast_signed())
}

fn cuTexRefGetAddress_v2(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hTexRef = r.u64()?;
    r.end()?;
    let real_hTexRef = match exec.handles.real(Kind::TexRef, hTexRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut pdptr: CUdeviceptr = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuTexRefGetAddress_v2 else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pdptr, real_hTexRef) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const pdptr, 1) };
    }
    Ok(status.cast_signed())
}

fn cuTexRefGetArray(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hTexRef = r.u64()?;
    r.end()?;
    let real_hTexRef = match exec.handles.real(Kind::TexRef, hTexRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut phArray: CUarray = core::ptr::null_mut();

    let Some(call) = exec.driver.cuTexRefGetArray else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut phArray, real_hTexRef) };
    if status == CUDA_SUCCESS {
        w.u64(exec.handles.known(Kind::Array, phArray.cast()));
    }
    Ok(status.cast_signed())
}

fn cuTexRefGetMipmappedArray(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hTexRef = r.u64()?;
    r.end()?;
    let real_hTexRef = match exec.handles.real(Kind::TexRef, hTexRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut phMipmappedArray: CUmipmappedArray = core::ptr::null_mut();

    let Some(call) = exec.driver.cuTexRefGetMipmappedArray else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut phMipmappedArray, real_hTexRef) };
    if status == CUDA_SUCCESS {
        w.u64(
            exec.handles
                .known(Kind::MipmappedArray, phMipmappedArray.cast()),
        );
    }
    Ok(status.cast_signed())
}

fn cuTexRefGetAddressMode(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hTexRef = r.u64()?;
    let dim: c_int = Scalar::take(r)?;
    r.end()?;
    let real_hTexRef = match exec.handles.real(Kind::TexRef, hTexRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut pam: CUaddress_mode = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuTexRefGetAddressMode else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pam, real_hTexRef, dim) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const pam, 1) };
    }
    Ok(status.cast_signed())
}

fn cuTexRefGetFilterMode(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hTexRef = r.u64()?;
    r.end()?;
    let real_hTexRef = match exec.handles.real(Kind::TexRef, hTexRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut pfm: CUfilter_mode = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuTexRefGetFilterMode else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pfm, real_hTexRef) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const pfm, 1) };
    }
    Ok(status.cast_signed())
}

fn cuTexRefGetFormat(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hTexRef = r.u64()?;
    r.end()?;
    let real_hTexRef = match exec.handles.real(Kind::TexRef, hTexRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut pFormat: CUarray_format = unsafe { wire::zeroed() };
    let mut pNumChannels: c_int = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuTexRefGetFormat else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pFormat, &raw mut pNumChannels, real_hTexRef) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const pFormat, 1) };
        unsafe { wire::put(w, &raw const pNumChannels, 1) };
    }
    Ok(status.cast_signed())
}

fn cuTexRefGetMipmapFilterMode(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hTexRef = r.u64()?;
    r.end()?;
    let real_hTexRef = match exec.handles.real(Kind::TexRef, hTexRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut pfm: CUfilter_mode = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuTexRefGetMipmapFilterMode else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pfm, real_hTexRef) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const pfm, 1) };
    }
    Ok(status.cast_signed())
}

fn cuTexRefGetMipmapLevelBias(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hTexRef = r.u64()?;
    r.end()?;
    let real_hTexRef = match exec.handles.real(Kind::TexRef, hTexRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut pbias: f32 = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuTexRefGetMipmapLevelBias else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pbias, real_hTexRef) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const pbias, 1) };
    }
    Ok(status.cast_signed())
}

fn cuTexRefGetMipmapLevelClamp(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hTexRef = r.u64()?;
    r.end()?;
    let real_hTexRef = match exec.handles.real(Kind::TexRef, hTexRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut pminMipmapLevelClamp: f32 = unsafe { wire::zeroed() };
    let mut pmaxMipmapLevelClamp: f32 = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuTexRefGetMipmapLevelClamp else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe {
        call(
            &raw mut pminMipmapLevelClamp,
            &raw mut pmaxMipmapLevelClamp,
            real_hTexRef,
        )
    };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const pminMipmapLevelClamp, 1) };
        unsafe { wire::put(w, &raw const pmaxMipmapLevelClamp, 1) };
    }
    Ok(status.cast_signed())
}

fn cuTexRefGetMaxAnisotropy(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hTexRef = r.u64()?;
    r.end()?;
    let real_hTexRef = match exec.handles.real(Kind::TexRef, hTexRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut pmaxAniso: c_int = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuTexRefGetMaxAnisotropy else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pmaxAniso, real_hTexRef) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const pmaxAniso, 1) };
    }
    Ok(status.cast_signed())
}

fn cuTexRefGetBorderColor(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let hTexRef = r.u64()?;
    r.end()?;
    let real_hTexRef = match exec.handles.real(Kind::TexRef, hTexRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut pBorderColor = unsafe { wire::room::<f32>(4usize) }?;

    let Some(call) = exec.driver.cuTexRefGetBorderColor else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(pBorderColor.as_mut_ptr(), real_hTexRef) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, pBorderColor.as_ptr().cast::<f32>(), 4) };
    }
    Ok(status.cast_signed())
}

fn cuTexRefGetFlags(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hTexRef = r.u64()?;
    r.end()?;
    let real_hTexRef = match exec.handles.real(Kind::TexRef, hTexRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut pFlags: c_uint = unsafe { wire::zeroed() };

    let Some(call) = exec.driver.cuTexRefGetFlags else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut pFlags, real_hTexRef) };
    if status == CUDA_SUCCESS {
        unsafe { wire::put(w, &raw const pFlags, 1) };
    }
    Ok(status.cast_signed())
}

fn cuSurfRefSetArray(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hSurfRef = r.u64()?;
    let hArray = r.u64()?;
    let Flags: c_uint = Scalar::take(r)?;
    r.end()?;
    let real_hSurfRef = match exec.handles.real(Kind::SurfRef, hSurfRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let real_hArray = match exec.handles.real(Kind::Array, hArray) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };

    let Some(call) = exec.driver.cuSurfRefSetArray else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(real_hSurfRef, real_hArray, Flags) };
    Ok(status.cast_signed())
}

fn cuSurfRefGetArray(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let hSurfRef = r.u64()?;
    r.end()?;
    let real_hSurfRef = match exec.handles.real(Kind::SurfRef, hSurfRef) {
        Ok(real) => real.cast(),
        Err(code) => return Ok(code),
    };
    let mut phArray: CUarray = core::ptr::null_mut();

    let Some(call) = exec.driver.cuSurfRefGetArray else {
        return Ok(CUDA_ERROR_NOT_SUPPORTED.cast_signed());
    };
    let status = unsafe { call(&raw mut phArray, real_hSurfRef) };
    if status == CUDA_SUCCESS {
        w.u64(exec.handles.known(Kind::Array, phArray.cast()));
    }
    Ok(status.cast_signed())
}
