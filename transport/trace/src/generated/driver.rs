//! The symbols of the CUDA driver API whose calls are recorded.
//!
//! Written by `cargo xtask codegen`; changes by hand are lost.
//!
//! Each calls the driver's own function with what it was given. Uses of the crate:
//! * `target::target(number)`: the driver's function; one that answers NOT_SUPPORTED where it has none.
//! * `begin(number)`, `end(call, number, code, details)`: record.
//! * `gpu::begin(stream)`, `end_work(work, call, number, code, details)`: the same where the GPU is given work.
//! * `gpu::waited()`, `gpu::leave(context, device)`: work has ended, a context will.
//! * `details::NAME(..)`, `hooks::NAME(.., code)`: what is told of a call, what is done after it.

// The symbols' names, and pointers of C programs, which are passed on.
#![allow(
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    clippy::undocumented_unsafe_blocks,
    clippy::unnecessary_cast,
    missing_docs,
    non_snake_case,
    unreachable_pub,
    unsafe_code
)]

use core::ffi::*;
use core::mem::transmute;

use gtrace_cuda::types::driver::*;

use crate::call::{begin, end, end_work};
use crate::{details, gpu, hooks, target};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuArray3DCreate_v2(
    pHandle: *mut CUarray,
    pAllocateArray: *const CUDA_ARRAY3D_DESCRIPTOR,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUarray, *const CUDA_ARRAY3D_DESCRIPTOR) -> CUresult =
        unsafe { transmute(target::target(0)) };

    let call_ = begin(0);
    let code_ = unsafe { target_(pHandle, pAllocateArray) };
    end(call_, 0, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuArray3DGetDescriptor_v2(
    pArrayDescriptor: *mut CUDA_ARRAY3D_DESCRIPTOR,
    hArray: CUarray,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUDA_ARRAY3D_DESCRIPTOR, CUarray) -> CUresult =
        unsafe { transmute(target::target(1)) };

    let call_ = begin(1);
    let code_ = unsafe { target_(pArrayDescriptor, hArray) };
    end(call_, 1, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuArrayCreate_v2(
    pHandle: *mut CUarray,
    pAllocateArray: *const CUDA_ARRAY_DESCRIPTOR,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUarray, *const CUDA_ARRAY_DESCRIPTOR) -> CUresult =
        unsafe { transmute(target::target(2)) };

    let call_ = begin(2);
    let code_ = unsafe { target_(pHandle, pAllocateArray) };
    end(call_, 2, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuArrayDestroy(hArray: CUarray) -> CUresult {
    let target_: unsafe extern "C" fn(CUarray) -> CUresult =
        unsafe { transmute(target::target(3)) };

    let call_ = begin(3);
    let code_ = unsafe { target_(hArray) };
    end(call_, 3, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuArrayGetDescriptor_v2(
    pArrayDescriptor: *mut CUDA_ARRAY_DESCRIPTOR,
    hArray: CUarray,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUDA_ARRAY_DESCRIPTOR, CUarray) -> CUresult =
        unsafe { transmute(target::target(4)) };

    let call_ = begin(4);
    let code_ = unsafe { target_(pArrayDescriptor, hArray) };
    end(call_, 4, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuArrayGetMemoryRequirements(
    memoryRequirements: *mut CUDA_ARRAY_MEMORY_REQUIREMENTS,
    array: CUarray,
    device: CUdevice,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUDA_ARRAY_MEMORY_REQUIREMENTS,
        CUarray,
        CUdevice,
    ) -> CUresult = unsafe { transmute(target::target(5)) };

    let call_ = begin(5);
    let code_ = unsafe { target_(memoryRequirements, array, device) };
    end(call_, 5, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuArrayGetPlane(
    pPlaneArray: *mut CUarray,
    hArray: CUarray,
    planeIdx: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUarray, CUarray, c_uint) -> CUresult =
        unsafe { transmute(target::target(6)) };

    let call_ = begin(6);
    let code_ = unsafe { target_(pPlaneArray, hArray, planeIdx) };
    end(call_, 6, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuArrayGetSparseProperties(
    sparseProperties: *mut CUDA_ARRAY_SPARSE_PROPERTIES,
    array: CUarray,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUDA_ARRAY_SPARSE_PROPERTIES, CUarray) -> CUresult =
        unsafe { transmute(target::target(7)) };

    let call_ = begin(7);
    let code_ = unsafe { target_(sparseProperties, array) };
    end(call_, 7, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCoredumpDeregisterCompleteCallback(
    callback: CUcoredumpCallbackHandle,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUcoredumpCallbackHandle) -> CUresult =
        unsafe { transmute(target::target(8)) };

    let call_ = begin(8);
    let code_ = unsafe { target_(callback) };
    end(call_, 8, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCoredumpDeregisterStartCallback(
    callback: CUcoredumpCallbackHandle,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUcoredumpCallbackHandle) -> CUresult =
        unsafe { transmute(target::target(9)) };

    let call_ = begin(9);
    let code_ = unsafe { target_(callback) };
    end(call_, 9, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCoredumpGetAttribute(
    attrib: CUcoredumpSettings,
    value: *mut c_void,
    size: *mut usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUcoredumpSettings, *mut c_void, *mut usize) -> CUresult =
        unsafe { transmute(target::target(10)) };

    let call_ = begin(10);
    let code_ = unsafe { target_(attrib, value, size) };
    end(call_, 10, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCoredumpGetAttributeGlobal(
    attrib: CUcoredumpSettings,
    value: *mut c_void,
    size: *mut usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUcoredumpSettings, *mut c_void, *mut usize) -> CUresult =
        unsafe { transmute(target::target(11)) };

    let call_ = begin(11);
    let code_ = unsafe { target_(attrib, value, size) };
    end(call_, 11, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCoredumpRegisterCompleteCallback(
    callback: CUcoredumpStatusCallback,
    userData: *mut c_void,
    callbackOut: *mut CUcoredumpCallbackHandle,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUcoredumpStatusCallback,
        *mut c_void,
        *mut CUcoredumpCallbackHandle,
    ) -> CUresult = unsafe { transmute(target::target(12)) };

    let call_ = begin(12);
    let code_ = unsafe { target_(callback, userData, callbackOut) };
    end(call_, 12, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCoredumpRegisterStartCallback(
    callback: CUcoredumpStatusCallback,
    userData: *mut c_void,
    callbackOut: *mut CUcoredumpCallbackHandle,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUcoredumpStatusCallback,
        *mut c_void,
        *mut CUcoredumpCallbackHandle,
    ) -> CUresult = unsafe { transmute(target::target(13)) };

    let call_ = begin(13);
    let code_ = unsafe { target_(callback, userData, callbackOut) };
    end(call_, 13, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCoredumpSetAttribute(
    attrib: CUcoredumpSettings,
    value: *mut c_void,
    size: *mut usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUcoredumpSettings, *mut c_void, *mut usize) -> CUresult =
        unsafe { transmute(target::target(14)) };

    let call_ = begin(14);
    let code_ = unsafe { target_(attrib, value, size) };
    end(call_, 14, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCoredumpSetAttributeGlobal(
    attrib: CUcoredumpSettings,
    value: *mut c_void,
    size: *mut usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUcoredumpSettings, *mut c_void, *mut usize) -> CUresult =
        unsafe { transmute(target::target(15)) };

    let call_ = begin(15);
    let code_ = unsafe { target_(attrib, value, size) };
    end(call_, 15, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxAttach(pctx: *mut CUcontext, flags: c_uint) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUcontext, c_uint) -> CUresult =
        unsafe { transmute(target::target(16)) };

    let call_ = begin(16);
    let code_ = unsafe { target_(pctx, flags) };
    end(call_, 16, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxCreate(
    pctx: *mut CUcontext,
    flags: c_uint,
    dev: CUdevice,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUcontext, c_uint, CUdevice) -> CUresult =
        unsafe { transmute(target::target(17)) };

    let call_ = begin(17);
    let code_ = unsafe { target_(pctx, flags, dev) };
    end(call_, 17, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxCreate_v2(
    pctx: *mut CUcontext,
    flags: c_uint,
    dev: CUdevice,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUcontext, c_uint, CUdevice) -> CUresult =
        unsafe { transmute(target::target(18)) };

    let call_ = begin(18);
    let code_ = unsafe { target_(pctx, flags, dev) };
    end(call_, 18, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxCreate_v3(
    pctx: *mut CUcontext,
    paramsArray: *mut CUexecAffinityParam,
    numParams: c_int,
    flags: c_uint,
    dev: CUdevice,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUcontext,
        *mut CUexecAffinityParam,
        c_int,
        c_uint,
        CUdevice,
    ) -> CUresult = unsafe { transmute(target::target(19)) };

    let call_ = begin(19);
    let code_ = unsafe { target_(pctx, paramsArray, numParams, flags, dev) };
    end(call_, 19, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxCreate_v4(
    pctx: *mut CUcontext,
    ctxCreateParams: *mut CUctxCreateParams,
    flags: c_uint,
    dev: CUdevice,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUcontext,
        *mut CUctxCreateParams,
        c_uint,
        CUdevice,
    ) -> CUresult = unsafe { transmute(target::target(20)) };

    let call_ = begin(20);
    let code_ = unsafe { target_(pctx, ctxCreateParams, flags, dev) };
    end(call_, 20, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxDestroy(ctx: CUcontext) -> CUresult {
    let target_: unsafe extern "C" fn(CUcontext) -> CUresult =
        unsafe { transmute(target::target(21)) };
    gpu::leave(Some(ctx as u64), None);
    let call_ = begin(21);
    let code_ = unsafe { target_(ctx) };
    end(call_, 21, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxDestroy_v2(ctx: CUcontext) -> CUresult {
    let target_: unsafe extern "C" fn(CUcontext) -> CUresult =
        unsafe { transmute(target::target(22)) };
    gpu::leave(Some(ctx as u64), None);
    let call_ = begin(22);
    let code_ = unsafe { target_(ctx) };
    end(call_, 22, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxDetach(ctx: CUcontext) -> CUresult {
    let target_: unsafe extern "C" fn(CUcontext) -> CUresult =
        unsafe { transmute(target::target(23)) };

    let call_ = begin(23);
    let code_ = unsafe { target_(ctx) };
    end(call_, 23, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxDisablePeerAccess(peerContext: CUcontext) -> CUresult {
    let target_: unsafe extern "C" fn(CUcontext) -> CUresult =
        unsafe { transmute(target::target(24)) };

    let call_ = begin(24);
    let code_ = unsafe { target_(peerContext) };
    end(call_, 24, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxEnablePeerAccess(peerContext: CUcontext, Flags: c_uint) -> CUresult {
    let target_: unsafe extern "C" fn(CUcontext, c_uint) -> CUresult =
        unsafe { transmute(target::target(25)) };

    let call_ = begin(25);
    let code_ = unsafe { target_(peerContext, Flags) };
    end(call_, 25, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxFromGreenCtx(pContext: *mut CUcontext, hCtx: CUgreenCtx) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUcontext, CUgreenCtx) -> CUresult =
        unsafe { transmute(target::target(26)) };

    let call_ = begin(26);
    let code_ = unsafe { target_(pContext, hCtx) };
    end(call_, 26, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetApiVersion(ctx: CUcontext, version: *mut c_uint) -> CUresult {
    let target_: unsafe extern "C" fn(CUcontext, *mut c_uint) -> CUresult =
        unsafe { transmute(target::target(27)) };

    let call_ = begin(27);
    let code_ = unsafe { target_(ctx, version) };
    end(call_, 27, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetCacheConfig(pconfig: *mut CUfunc_cache) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUfunc_cache) -> CUresult =
        unsafe { transmute(target::target(28)) };

    let call_ = begin(28);
    let code_ = unsafe { target_(pconfig) };
    end(call_, 28, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetCurrent(pctx: *mut CUcontext) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUcontext) -> CUresult =
        unsafe { transmute(target::target(29)) };

    let call_ = begin(29);
    let code_ = unsafe { target_(pctx) };
    end(call_, 29, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetDevResource(
    hCtx: CUcontext,
    resource: *mut CUdevResource,
    type_: CUdevResourceType,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUcontext,
        *mut CUdevResource,
        CUdevResourceType,
    ) -> CUresult = unsafe { transmute(target::target(30)) };

    let call_ = begin(30);
    let code_ = unsafe { target_(hCtx, resource, type_) };
    end(call_, 30, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetDevice(device: *mut CUdevice) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUdevice) -> CUresult =
        unsafe { transmute(target::target(31)) };

    let call_ = begin(31);
    let code_ = unsafe { target_(device) };
    end(call_, 31, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetDevice_v2(device: *mut CUdevice, ctx: CUcontext) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUdevice, CUcontext) -> CUresult =
        unsafe { transmute(target::target(32)) };

    let call_ = begin(32);
    let code_ = unsafe { target_(device, ctx) };
    end(call_, 32, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetExecAffinity(
    pExecAffinity: *mut CUexecAffinityParam,
    type_: CUexecAffinityType,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUexecAffinityParam, CUexecAffinityType) -> CUresult =
        unsafe { transmute(target::target(33)) };

    let call_ = begin(33);
    let code_ = unsafe { target_(pExecAffinity, type_) };
    end(call_, 33, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetFlags(flags: *mut c_uint) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_uint) -> CUresult =
        unsafe { transmute(target::target(34)) };

    let call_ = begin(34);
    let code_ = unsafe { target_(flags) };
    end(call_, 34, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetId(ctx: CUcontext, ctxId: *mut c_ulonglong) -> CUresult {
    let target_: unsafe extern "C" fn(CUcontext, *mut c_ulonglong) -> CUresult =
        unsafe { transmute(target::target(35)) };

    let call_ = begin(35);
    let code_ = unsafe { target_(ctx, ctxId) };
    end(call_, 35, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetLimit(pvalue: *mut usize, limit: CUlimit) -> CUresult {
    let target_: unsafe extern "C" fn(*mut usize, CUlimit) -> CUresult =
        unsafe { transmute(target::target(36)) };

    let call_ = begin(36);
    let code_ = unsafe { target_(pvalue, limit) };
    end(call_, 36, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetSharedMemConfig(pConfig: *mut CUsharedconfig) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUsharedconfig) -> CUresult =
        unsafe { transmute(target::target(37)) };

    let call_ = begin(37);
    let code_ = unsafe { target_(pConfig) };
    end(call_, 37, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetStreamPriorityRange(
    leastPriority: *mut c_int,
    greatestPriority: *mut c_int,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_int, *mut c_int) -> CUresult =
        unsafe { transmute(target::target(38)) };

    let call_ = begin(38);
    let code_ = unsafe { target_(leastPriority, greatestPriority) };
    end(call_, 38, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxPopCurrent(pctx: *mut CUcontext) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUcontext) -> CUresult =
        unsafe { transmute(target::target(39)) };

    let call_ = begin(39);
    let code_ = unsafe { target_(pctx) };
    end(call_, 39, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxPopCurrent_v2(pctx: *mut CUcontext) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUcontext) -> CUresult =
        unsafe { transmute(target::target(40)) };

    let call_ = begin(40);
    let code_ = unsafe { target_(pctx) };
    end(call_, 40, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxPushCurrent(ctx: CUcontext) -> CUresult {
    let target_: unsafe extern "C" fn(CUcontext) -> CUresult =
        unsafe { transmute(target::target(41)) };

    let call_ = begin(41);
    let code_ = unsafe { target_(ctx) };
    end(call_, 41, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxPushCurrent_v2(ctx: CUcontext) -> CUresult {
    let target_: unsafe extern "C" fn(CUcontext) -> CUresult =
        unsafe { transmute(target::target(42)) };

    let call_ = begin(42);
    let code_ = unsafe { target_(ctx) };
    end(call_, 42, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxRecordEvent(hCtx: CUcontext, hEvent: CUevent) -> CUresult {
    let target_: unsafe extern "C" fn(CUcontext, CUevent) -> CUresult =
        unsafe { transmute(target::target(43)) };

    let call_ = begin(43);
    let code_ = unsafe { target_(hCtx, hEvent) };
    end(call_, 43, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxResetPersistingL2Cache() -> CUresult {
    let target_: unsafe extern "C" fn() -> CUresult = unsafe { transmute(target::target(44)) };

    let call_ = begin(44);
    let code_ = unsafe { target_() };
    end(call_, 44, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxSetCacheConfig(config: CUfunc_cache) -> CUresult {
    let target_: unsafe extern "C" fn(CUfunc_cache) -> CUresult =
        unsafe { transmute(target::target(45)) };

    let call_ = begin(45);
    let code_ = unsafe { target_(config) };
    end(call_, 45, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxSetCurrent(ctx: CUcontext) -> CUresult {
    let target_: unsafe extern "C" fn(CUcontext) -> CUresult =
        unsafe { transmute(target::target(46)) };

    let call_ = begin(46);
    let code_ = unsafe { target_(ctx) };
    end(call_, 46, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxSetFlags(flags: c_uint) -> CUresult {
    let target_: unsafe extern "C" fn(c_uint) -> CUresult =
        unsafe { transmute(target::target(47)) };

    let call_ = begin(47);
    let code_ = unsafe { target_(flags) };
    end(call_, 47, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxSetLimit(limit: CUlimit, value: usize) -> CUresult {
    let target_: unsafe extern "C" fn(CUlimit, usize) -> CUresult =
        unsafe { transmute(target::target(48)) };

    let call_ = begin(48);
    let code_ = unsafe { target_(limit, value) };
    end(call_, 48, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxSetSharedMemConfig(config: CUsharedconfig) -> CUresult {
    let target_: unsafe extern "C" fn(CUsharedconfig) -> CUresult =
        unsafe { transmute(target::target(49)) };

    let call_ = begin(49);
    let code_ = unsafe { target_(config) };
    end(call_, 49, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxSynchronize() -> CUresult {
    let target_: unsafe extern "C" fn() -> CUresult = unsafe { transmute(target::target(50)) };

    let call_ = begin(50);
    let code_ = unsafe { target_() };
    end(call_, 50, code_, details::plain);
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxSynchronize_v2(ctx: CUcontext) -> CUresult {
    let target_: unsafe extern "C" fn(CUcontext) -> CUresult =
        unsafe { transmute(target::target(51)) };

    let call_ = begin(51);
    let code_ = unsafe { target_(ctx) };
    end(call_, 51, code_, details::plain);
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxWaitEvent(hCtx: CUcontext, hEvent: CUevent) -> CUresult {
    let target_: unsafe extern "C" fn(CUcontext, CUevent) -> CUresult =
        unsafe { transmute(target::target(52)) };

    let call_ = begin(52);
    let code_ = unsafe { target_(hCtx, hEvent) };
    end(call_, 52, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDestroyExternalMemory(extMem: CUexternalMemory) -> CUresult {
    let target_: unsafe extern "C" fn(CUexternalMemory) -> CUresult =
        unsafe { transmute(target::target(53)) };

    let call_ = begin(53);
    let code_ = unsafe { target_(extMem) };
    end(call_, 53, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDestroyExternalSemaphore(extSem: CUexternalSemaphore) -> CUresult {
    let target_: unsafe extern "C" fn(CUexternalSemaphore) -> CUresult =
        unsafe { transmute(target::target(54)) };

    let call_ = begin(54);
    let code_ = unsafe { target_(extSem) };
    end(call_, 54, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevResourceGenerateDesc(
    phDesc: *mut CUdevResourceDesc,
    resources: *mut CUdevResource,
    nbResources: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUdevResourceDesc,
        *mut CUdevResource,
        c_uint,
    ) -> CUresult = unsafe { transmute(target::target(55)) };

    let call_ = begin(55);
    let code_ = unsafe { target_(phDesc, resources, nbResources) };
    end(call_, 55, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevSmResourceSplit(
    result: *mut CUdevResource,
    nbGroups: c_uint,
    input: *const CUdevResource,
    remainder: *mut CUdevResource,
    flags: c_uint,
    groupParams: *mut CU_DEV_SM_RESOURCE_GROUP_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUdevResource,
        c_uint,
        *const CUdevResource,
        *mut CUdevResource,
        c_uint,
        *mut CU_DEV_SM_RESOURCE_GROUP_PARAMS,
    ) -> CUresult = unsafe { transmute(target::target(56)) };

    let call_ = begin(56);
    let code_ = unsafe { target_(result, nbGroups, input, remainder, flags, groupParams) };
    end(call_, 56, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevSmResourceSplitByCount(
    result: *mut CUdevResource,
    nbGroups: *mut c_uint,
    input: *const CUdevResource,
    remainder: *mut CUdevResource,
    flags: c_uint,
    minCount: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUdevResource,
        *mut c_uint,
        *const CUdevResource,
        *mut CUdevResource,
        c_uint,
        c_uint,
    ) -> CUresult = unsafe { transmute(target::target(57)) };

    let call_ = begin(57);
    let code_ = unsafe { target_(result, nbGroups, input, remainder, flags, minCount) };
    end(call_, 57, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceCanAccessPeer(
    canAccessPeer: *mut c_int,
    dev: CUdevice,
    peerDev: CUdevice,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_int, CUdevice, CUdevice) -> CUresult =
        unsafe { transmute(target::target(58)) };

    let call_ = begin(58);
    let code_ = unsafe { target_(canAccessPeer, dev, peerDev) };
    end(call_, 58, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceComputeCapability(
    major: *mut c_int,
    minor: *mut c_int,
    dev: CUdevice,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_int, *mut c_int, CUdevice) -> CUresult =
        unsafe { transmute(target::target(59)) };

    let call_ = begin(59);
    let code_ = unsafe { target_(major, minor, dev) };
    end(call_, 59, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGet(device: *mut CUdevice, ordinal: c_int) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUdevice, c_int) -> CUresult =
        unsafe { transmute(target::target(60)) };

    let call_ = begin(60);
    let code_ = unsafe { target_(device, ordinal) };
    end(call_, 60, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetAttribute(
    pi: *mut c_int,
    attrib: CUdevice_attribute,
    dev: CUdevice,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_int, CUdevice_attribute, CUdevice) -> CUresult =
        unsafe { transmute(target::target(61)) };

    let call_ = begin(61);
    let code_ = unsafe { target_(pi, attrib, dev) };
    end(call_, 61, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetByPCIBusId(
    dev: *mut CUdevice,
    pciBusId: *const c_char,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUdevice, *const c_char) -> CUresult =
        unsafe { transmute(target::target(62)) };

    let call_ = begin(62);
    let code_ = unsafe { target_(dev, pciBusId) };
    end(call_, 62, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCliqueCount(count: *mut usize, dev: CUdevice) -> CUresult {
    let target_: unsafe extern "C" fn(*mut usize, CUdevice) -> CUresult =
        unsafe { transmute(target::target(63)) };

    let call_ = begin(63);
    let code_ = unsafe { target_(count, dev) };
    end(call_, 63, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCliqueInfo(
    cliqueInfo: *mut CUcliqueInfo,
    count: *mut usize,
    dev: CUdevice,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUcliqueInfo, *mut usize, CUdevice) -> CUresult =
        unsafe { transmute(target::target(64)) };

    let call_ = begin(64);
    let code_ = unsafe { target_(cliqueInfo, count, dev) };
    end(call_, 64, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_int) -> CUresult =
        unsafe { transmute(target::target(65)) };

    let call_ = begin(65);
    let code_ = unsafe { target_(count) };
    end(call_, 65, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetDefaultMemPool(
    pool_out: *mut CUmemoryPool,
    dev: CUdevice,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUmemoryPool, CUdevice) -> CUresult =
        unsafe { transmute(target::target(66)) };

    let call_ = begin(66);
    let code_ = unsafe { target_(pool_out, dev) };
    end(call_, 66, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetDevResource(
    device: CUdevice,
    resource: *mut CUdevResource,
    type_: CUdevResourceType,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdevice, *mut CUdevResource, CUdevResourceType) -> CUresult =
        unsafe { transmute(target::target(67)) };

    let call_ = begin(67);
    let code_ = unsafe { target_(device, resource, type_) };
    end(call_, 67, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetExecAffinitySupport(
    pi: *mut c_int,
    type_: CUexecAffinityType,
    dev: CUdevice,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_int, CUexecAffinityType, CUdevice) -> CUresult =
        unsafe { transmute(target::target(68)) };

    let call_ = begin(68);
    let code_ = unsafe { target_(pi, type_, dev) };
    end(call_, 68, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetFabricClusterUuid(
    uuid: *mut CUuuid,
    dev: CUdevice,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUuuid, CUdevice) -> CUresult =
        unsafe { transmute(target::target(69)) };

    let call_ = begin(69);
    let code_ = unsafe { target_(uuid, dev) };
    end(call_, 69, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetGraphMemAttribute(
    device: CUdevice,
    attr: CUgraphMem_attribute,
    value: *mut c_void,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdevice, CUgraphMem_attribute, *mut c_void) -> CUresult =
        unsafe { transmute(target::target(70)) };

    let call_ = begin(70);
    let code_ = unsafe { target_(device, attr, value) };
    end(call_, 70, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetHostAtomicCapabilities(
    capabilities: *mut c_uint,
    operations: *const CUatomicOperation,
    count: c_uint,
    dev: CUdevice,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut c_uint,
        *const CUatomicOperation,
        c_uint,
        CUdevice,
    ) -> CUresult = unsafe { transmute(target::target(71)) };

    let call_ = begin(71);
    let code_ = unsafe { target_(capabilities, operations, count, dev) };
    end(call_, 71, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetLuid(
    luid: *mut c_char,
    deviceNodeMask: *mut c_uint,
    dev: CUdevice,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_char, *mut c_uint, CUdevice) -> CUresult =
        unsafe { transmute(target::target(72)) };

    let call_ = begin(72);
    let code_ = unsafe { target_(luid, deviceNodeMask, dev) };
    end(call_, 72, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetMemPool(pool: *mut CUmemoryPool, dev: CUdevice) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUmemoryPool, CUdevice) -> CUresult =
        unsafe { transmute(target::target(73)) };

    let call_ = begin(73);
    let code_ = unsafe { target_(pool, dev) };
    end(call_, 73, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, len: c_int, dev: CUdevice) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_char, c_int, CUdevice) -> CUresult =
        unsafe { transmute(target::target(74)) };

    let call_ = begin(74);
    let code_ = unsafe { target_(name, len, dev) };
    end(call_, 74, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetP2PAtomicCapabilities(
    capabilities: *mut c_uint,
    operations: *const CUatomicOperation,
    count: c_uint,
    srcDevice: CUdevice,
    dstDevice: CUdevice,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut c_uint,
        *const CUatomicOperation,
        c_uint,
        CUdevice,
        CUdevice,
    ) -> CUresult = unsafe { transmute(target::target(75)) };

    let call_ = begin(75);
    let code_ = unsafe { target_(capabilities, operations, count, srcDevice, dstDevice) };
    end(call_, 75, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetP2PAttribute(
    value: *mut c_int,
    attrib: CUdevice_P2PAttribute,
    srcDevice: CUdevice,
    dstDevice: CUdevice,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut c_int,
        CUdevice_P2PAttribute,
        CUdevice,
        CUdevice,
    ) -> CUresult = unsafe { transmute(target::target(76)) };

    let call_ = begin(76);
    let code_ = unsafe { target_(value, attrib, srcDevice, dstDevice) };
    end(call_, 76, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetPCIBusId(
    pciBusId: *mut c_char,
    len: c_int,
    dev: CUdevice,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_char, c_int, CUdevice) -> CUresult =
        unsafe { transmute(target::target(77)) };

    let call_ = begin(77);
    let code_ = unsafe { target_(pciBusId, len, dev) };
    end(call_, 77, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetProperties(prop: *mut CUdevprop, dev: CUdevice) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUdevprop, CUdevice) -> CUresult =
        unsafe { transmute(target::target(78)) };

    let call_ = begin(78);
    let code_ = unsafe { target_(prop, dev) };
    end(call_, 78, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetTexture1DLinearMaxWidth(
    maxWidthInElements: *mut usize,
    format: CUarray_format,
    numChannels: c_uint,
    dev: CUdevice,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut usize, CUarray_format, c_uint, CUdevice) -> CUresult =
        unsafe { transmute(target::target(79)) };

    let call_ = begin(79);
    let code_ = unsafe { target_(maxWidthInElements, format, numChannels, dev) };
    end(call_, 79, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetUuid(uuid: *mut CUuuid, dev: CUdevice) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUuuid, CUdevice) -> CUresult =
        unsafe { transmute(target::target(80)) };

    let call_ = begin(80);
    let code_ = unsafe { target_(uuid, dev) };
    end(call_, 80, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetUuid_v2(uuid: *mut CUuuid, dev: CUdevice) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUuuid, CUdevice) -> CUresult =
        unsafe { transmute(target::target(81)) };

    let call_ = begin(81);
    let code_ = unsafe { target_(uuid, dev) };
    end(call_, 81, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGraphMemTrim(device: CUdevice) -> CUresult {
    let target_: unsafe extern "C" fn(CUdevice) -> CUresult =
        unsafe { transmute(target::target(82)) };

    let call_ = begin(82);
    let code_ = unsafe { target_(device) };
    end(call_, 82, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxGetState(
    dev: CUdevice,
    flags: *mut c_uint,
    active: *mut c_int,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdevice, *mut c_uint, *mut c_int) -> CUresult =
        unsafe { transmute(target::target(83)) };

    let call_ = begin(83);
    let code_ = unsafe { target_(dev, flags, active) };
    end(call_, 83, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRelease(dev: CUdevice) -> CUresult {
    let target_: unsafe extern "C" fn(CUdevice) -> CUresult =
        unsafe { transmute(target::target(84)) };
    gpu::leave(None, Some(dev));
    let call_ = begin(84);
    let code_ = unsafe { target_(dev) };
    end(call_, 84, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRelease_v2(dev: CUdevice) -> CUresult {
    let target_: unsafe extern "C" fn(CUdevice) -> CUresult =
        unsafe { transmute(target::target(85)) };
    gpu::leave(None, Some(dev));
    let call_ = begin(85);
    let code_ = unsafe { target_(dev) };
    end(call_, 85, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxReset(dev: CUdevice) -> CUresult {
    let target_: unsafe extern "C" fn(CUdevice) -> CUresult =
        unsafe { transmute(target::target(86)) };
    gpu::leave(None, Some(dev));
    let call_ = begin(86);
    let code_ = unsafe { target_(dev) };
    end(call_, 86, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxReset_v2(dev: CUdevice) -> CUresult {
    let target_: unsafe extern "C" fn(CUdevice) -> CUresult =
        unsafe { transmute(target::target(87)) };
    gpu::leave(None, Some(dev));
    let call_ = begin(87);
    let code_ = unsafe { target_(dev) };
    end(call_, 87, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRetain(pctx: *mut CUcontext, dev: CUdevice) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUcontext, CUdevice) -> CUresult =
        unsafe { transmute(target::target(88)) };

    let call_ = begin(88);
    let code_ = unsafe { target_(pctx, dev) };
    end(call_, 88, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxSetFlags(dev: CUdevice, flags: c_uint) -> CUresult {
    let target_: unsafe extern "C" fn(CUdevice, c_uint) -> CUresult =
        unsafe { transmute(target::target(89)) };

    let call_ = begin(89);
    let code_ = unsafe { target_(dev, flags) };
    end(call_, 89, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxSetFlags_v2(dev: CUdevice, flags: c_uint) -> CUresult {
    let target_: unsafe extern "C" fn(CUdevice, c_uint) -> CUresult =
        unsafe { transmute(target::target(90)) };

    let call_ = begin(90);
    let code_ = unsafe { target_(dev, flags) };
    end(call_, 90, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceRegisterAsyncNotification(
    device: CUdevice,
    callbackFunc: CUasyncCallback,
    userData: *mut c_void,
    callback: *mut CUasyncCallbackHandle,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUdevice,
        CUasyncCallback,
        *mut c_void,
        *mut CUasyncCallbackHandle,
    ) -> CUresult = unsafe { transmute(target::target(91)) };

    let call_ = begin(91);
    let code_ = unsafe { target_(device, callbackFunc, userData, callback) };
    end(call_, 91, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceSetGraphMemAttribute(
    device: CUdevice,
    attr: CUgraphMem_attribute,
    value: *mut c_void,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdevice, CUgraphMem_attribute, *mut c_void) -> CUresult =
        unsafe { transmute(target::target(92)) };

    let call_ = begin(92);
    let code_ = unsafe { target_(device, attr, value) };
    end(call_, 92, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceSetMemPool(dev: CUdevice, pool: CUmemoryPool) -> CUresult {
    let target_: unsafe extern "C" fn(CUdevice, CUmemoryPool) -> CUresult =
        unsafe { transmute(target::target(93)) };

    let call_ = begin(93);
    let code_ = unsafe { target_(dev, pool) };
    end(call_, 93, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceTotalMem_v2(bytes: *mut usize, dev: CUdevice) -> CUresult {
    let target_: unsafe extern "C" fn(*mut usize, CUdevice) -> CUresult =
        unsafe { transmute(target::target(94)) };

    let call_ = begin(94);
    let code_ = unsafe { target_(bytes, dev) };
    end(call_, 94, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceUnregisterAsyncNotification(
    device: CUdevice,
    callback: CUasyncCallbackHandle,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdevice, CUasyncCallbackHandle) -> CUresult =
        unsafe { transmute(target::target(95)) };

    let call_ = begin(95);
    let code_ = unsafe { target_(device, callback) };
    end(call_, 95, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDriverGetVersion(driverVersion: *mut c_int) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_int) -> CUresult =
        unsafe { transmute(target::target(96)) };

    let call_ = begin(96);
    let code_ = unsafe { target_(driverVersion) };
    end(call_, 96, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventCreate(phEvent: *mut CUevent, Flags: c_uint) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUevent, c_uint) -> CUresult =
        unsafe { transmute(target::target(97)) };

    let call_ = begin(97);
    let code_ = unsafe { target_(phEvent, Flags) };
    end(call_, 97, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventDestroy(hEvent: CUevent) -> CUresult {
    let target_: unsafe extern "C" fn(CUevent) -> CUresult =
        unsafe { transmute(target::target(98)) };

    let call_ = begin(98);
    let code_ = unsafe { target_(hEvent) };
    end(call_, 98, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventDestroy_v2(hEvent: CUevent) -> CUresult {
    let target_: unsafe extern "C" fn(CUevent) -> CUresult =
        unsafe { transmute(target::target(99)) };

    let call_ = begin(99);
    let code_ = unsafe { target_(hEvent) };
    end(call_, 99, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventElapsedTime(
    pMilliseconds: *mut f32,
    hStart: CUevent,
    hEnd: CUevent,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut f32, CUevent, CUevent) -> CUresult =
        unsafe { transmute(target::target(100)) };

    let call_ = begin(100);
    let code_ = unsafe { target_(pMilliseconds, hStart, hEnd) };
    end(call_, 100, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventElapsedTime_v2(
    pMilliseconds: *mut f32,
    hStart: CUevent,
    hEnd: CUevent,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut f32, CUevent, CUevent) -> CUresult =
        unsafe { transmute(target::target(101)) };

    let call_ = begin(101);
    let code_ = unsafe { target_(pMilliseconds, hStart, hEnd) };
    end(call_, 101, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventQuery(hEvent: CUevent) -> CUresult {
    let target_: unsafe extern "C" fn(CUevent) -> CUresult =
        unsafe { transmute(target::target(102)) };

    let call_ = begin(102);
    let code_ = unsafe { target_(hEvent) };
    end(call_, 102, code_, details::plain);
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventRecord(hEvent: CUevent, hStream: CUstream) -> CUresult {
    let target_: unsafe extern "C" fn(CUevent, CUstream) -> CUresult =
        unsafe { transmute(target::target(103)) };

    let call_ = begin(103);
    let code_ = unsafe { target_(hEvent, hStream) };
    end(call_, 103, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventRecordWithFlags(
    hEvent: CUevent,
    hStream: CUstream,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUevent, CUstream, c_uint) -> CUresult =
        unsafe { transmute(target::target(104)) };

    let call_ = begin(104);
    let code_ = unsafe { target_(hEvent, hStream, flags) };
    end(call_, 104, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventRecordWithFlags_ptsz(
    hEvent: CUevent,
    hStream: CUstream,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUevent, CUstream, c_uint) -> CUresult =
        unsafe { transmute(target::target(105)) };

    let call_ = begin(105);
    let code_ = unsafe { target_(hEvent, hStream, flags) };
    end(call_, 105, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventRecord_ptsz(hEvent: CUevent, hStream: CUstream) -> CUresult {
    let target_: unsafe extern "C" fn(CUevent, CUstream) -> CUresult =
        unsafe { transmute(target::target(106)) };

    let call_ = begin(106);
    let code_ = unsafe { target_(hEvent, hStream) };
    end(call_, 106, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventSynchronize(hEvent: CUevent) -> CUresult {
    let target_: unsafe extern "C" fn(CUevent) -> CUresult =
        unsafe { transmute(target::target(107)) };

    let call_ = begin(107);
    let code_ = unsafe { target_(hEvent) };
    end(call_, 107, code_, details::plain);
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuExternalMemoryGetMappedBuffer(
    devPtr: *mut CUdeviceptr,
    extMem: CUexternalMemory,
    bufferDesc: *const CUDA_EXTERNAL_MEMORY_BUFFER_DESC,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUdeviceptr,
        CUexternalMemory,
        *const CUDA_EXTERNAL_MEMORY_BUFFER_DESC,
    ) -> CUresult = unsafe { transmute(target::target(108)) };

    let call_ = begin(108);
    let code_ = unsafe { target_(devPtr, extMem, bufferDesc) };
    end(call_, 108, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuExternalMemoryGetMappedMipmappedArray(
    mipmap: *mut CUmipmappedArray,
    extMem: CUexternalMemory,
    mipmapDesc: *const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUmipmappedArray,
        CUexternalMemory,
        *const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC,
    ) -> CUresult = unsafe { transmute(target::target(109)) };

    let call_ = begin(109);
    let code_ = unsafe { target_(mipmap, extMem, mipmapDesc) };
    end(call_, 109, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFlushGPUDirectRDMAWrites(
    target: CUflushGPUDirectRDMAWritesTarget,
    scope: CUflushGPUDirectRDMAWritesScope,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUflushGPUDirectRDMAWritesTarget,
        CUflushGPUDirectRDMAWritesScope,
    ) -> CUresult = unsafe { transmute(target::target(110)) };

    let call_ = begin(110);
    let code_ = unsafe { target_(target, scope) };
    end(call_, 110, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetAttribute(
    pi: *mut c_int,
    attrib: CUfunction_attribute,
    hfunc: CUfunction,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_int, CUfunction_attribute, CUfunction) -> CUresult =
        unsafe { transmute(target::target(111)) };

    let call_ = begin(111);
    let code_ = unsafe { target_(pi, attrib, hfunc) };
    end(call_, 111, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetModule(hmod: *mut CUmodule, hfunc: CUfunction) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUmodule, CUfunction) -> CUresult =
        unsafe { transmute(target::target(112)) };

    let call_ = begin(112);
    let code_ = unsafe { target_(hmod, hfunc) };
    end(call_, 112, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetName(name: *mut *const c_char, hfunc: CUfunction) -> CUresult {
    let target_: unsafe extern "C" fn(*mut *const c_char, CUfunction) -> CUresult =
        unsafe { transmute(target::target(113)) };

    let call_ = begin(113);
    let code_ = unsafe { target_(name, hfunc) };
    end(call_, 113, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetParamCount(func: CUfunction, paramCount: *mut usize) -> CUresult {
    let target_: unsafe extern "C" fn(CUfunction, *mut usize) -> CUresult =
        unsafe { transmute(target::target(114)) };

    let call_ = begin(114);
    let code_ = unsafe { target_(func, paramCount) };
    end(call_, 114, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetParamInfo(
    func: CUfunction,
    paramIndex: usize,
    paramOffset: *mut usize,
    paramSize: *mut usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUfunction, usize, *mut usize, *mut usize) -> CUresult =
        unsafe { transmute(target::target(115)) };

    let call_ = begin(115);
    let code_ = unsafe { target_(func, paramIndex, paramOffset, paramSize) };
    end(call_, 115, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncIsLoaded(
    state: *mut CUfunctionLoadingState,
    function: CUfunction,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUfunctionLoadingState, CUfunction) -> CUresult =
        unsafe { transmute(target::target(116)) };

    let call_ = begin(116);
    let code_ = unsafe { target_(state, function) };
    end(call_, 116, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncLoad(function: CUfunction) -> CUresult {
    let target_: unsafe extern "C" fn(CUfunction) -> CUresult =
        unsafe { transmute(target::target(117)) };

    let call_ = begin(117);
    let code_ = unsafe { target_(function) };
    end(call_, 117, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncSetAttribute(
    hfunc: CUfunction,
    attrib: CUfunction_attribute,
    value: c_int,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUfunction, CUfunction_attribute, c_int) -> CUresult =
        unsafe { transmute(target::target(118)) };

    let call_ = begin(118);
    let code_ = unsafe { target_(hfunc, attrib, value) };
    end(call_, 118, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncSetBlockShape(
    hfunc: CUfunction,
    x: c_int,
    y: c_int,
    z: c_int,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUfunction, c_int, c_int, c_int) -> CUresult =
        unsafe { transmute(target::target(119)) };

    let call_ = begin(119);
    let code_ = unsafe { target_(hfunc, x, y, z) };
    end(call_, 119, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncSetCacheConfig(hfunc: CUfunction, config: CUfunc_cache) -> CUresult {
    let target_: unsafe extern "C" fn(CUfunction, CUfunc_cache) -> CUresult =
        unsafe { transmute(target::target(120)) };

    let call_ = begin(120);
    let code_ = unsafe { target_(hfunc, config) };
    end(call_, 120, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncSetSharedMemConfig(
    hfunc: CUfunction,
    config: CUsharedconfig,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUfunction, CUsharedconfig) -> CUresult =
        unsafe { transmute(target::target(121)) };

    let call_ = begin(121);
    let code_ = unsafe { target_(hfunc, config) };
    end(call_, 121, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncSetSharedSize(hfunc: CUfunction, bytes: c_uint) -> CUresult {
    let target_: unsafe extern "C" fn(CUfunction, c_uint) -> CUresult =
        unsafe { transmute(target::target(122)) };

    let call_ = begin(122);
    let code_ = unsafe { target_(hfunc, bytes) };
    end(call_, 122, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(error: CUresult, pStr: *mut *const c_char) -> CUresult {
    let target_: unsafe extern "C" fn(CUresult, *mut *const c_char) -> CUresult =
        unsafe { transmute(target::target(123)) };

    let call_ = begin(123);
    let code_ = unsafe { target_(error, pStr) };
    end(call_, 123, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorString(error: CUresult, pStr: *mut *const c_char) -> CUresult {
    let target_: unsafe extern "C" fn(CUresult, *mut *const c_char) -> CUresult =
        unsafe { transmute(target::target(124)) };

    let call_ = begin(124);
    let code_ = unsafe { target_(error, pStr) };
    end(call_, 124, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetExportTable(
    ppExportTable: *mut *const c_void,
    pExportTableId: *const CUuuid,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut *const c_void, *const CUuuid) -> CUresult =
        unsafe { transmute(target::target(125)) };

    let call_ = begin(125);
    let code_ = unsafe { target_(ppExportTable, pExportTableId) };
    end(call_, 125, code_, details::plain);
    unsafe { hooks::cuGetExportTable(ppExportTable, pExportTableId, code_) };
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetProcAddress(
    symbol: *const c_char,
    pfn: *mut *mut c_void,
    cudaVersion: c_int,
    flags: cuuint64_t,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *const c_char,
        *mut *mut c_void,
        c_int,
        cuuint64_t,
    ) -> CUresult = unsafe { transmute(target::target(126)) };

    let call_ = begin(126);
    let code_ = unsafe { target_(symbol, pfn, cudaVersion, flags) };
    end(call_, 126, code_, details::plain);
    unsafe { hooks::cuGetProcAddress(symbol, pfn, cudaVersion, flags, code_) };
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetProcAddress_v2(
    symbol: *const c_char,
    pfn: *mut *mut c_void,
    cudaVersion: c_int,
    flags: cuuint64_t,
    symbolStatus: *mut CUdriverProcAddressQueryResult,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *const c_char,
        *mut *mut c_void,
        c_int,
        cuuint64_t,
        *mut CUdriverProcAddressQueryResult,
    ) -> CUresult = unsafe { transmute(target::target(127)) };

    let call_ = begin(127);
    let code_ = unsafe { target_(symbol, pfn, cudaVersion, flags, symbolStatus) };
    end(call_, 127, code_, details::plain);
    unsafe { hooks::cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, symbolStatus, code_) };
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddBatchMemOpNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
    nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUgraphNode,
        CUgraph,
        *const CUgraphNode,
        usize,
        *const CUDA_BATCH_MEM_OP_NODE_PARAMS,
    ) -> CUresult = unsafe { transmute(target::target(128)) };

    let call_ = begin(128);
    let code_ = unsafe {
        target_(
            phGraphNode,
            hGraph,
            dependencies,
            numDependencies,
            nodeParams,
        )
    };
    end(call_, 128, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddChildGraphNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
    childGraph: CUgraph,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUgraphNode,
        CUgraph,
        *const CUgraphNode,
        usize,
        CUgraph,
    ) -> CUresult = unsafe { transmute(target::target(129)) };

    let call_ = begin(129);
    let code_ = unsafe {
        target_(
            phGraphNode,
            hGraph,
            dependencies,
            numDependencies,
            childGraph,
        )
    };
    end(call_, 129, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddDependencies(
    hGraph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    numDependencies: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUgraph,
        *const CUgraphNode,
        *const CUgraphNode,
        usize,
    ) -> CUresult = unsafe { transmute(target::target(130)) };

    let call_ = begin(130);
    let code_ = unsafe { target_(hGraph, from, to, numDependencies) };
    end(call_, 130, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddDependencies_v2(
    hGraph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    edgeData: *const CUgraphEdgeData,
    numDependencies: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUgraph,
        *const CUgraphNode,
        *const CUgraphNode,
        *const CUgraphEdgeData,
        usize,
    ) -> CUresult = unsafe { transmute(target::target(131)) };

    let call_ = begin(131);
    let code_ = unsafe { target_(hGraph, from, to, edgeData, numDependencies) };
    end(call_, 131, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddEmptyNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUgraphNode,
        CUgraph,
        *const CUgraphNode,
        usize,
    ) -> CUresult = unsafe { transmute(target::target(132)) };

    let call_ = begin(132);
    let code_ = unsafe { target_(phGraphNode, hGraph, dependencies, numDependencies) };
    end(call_, 132, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddEventRecordNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
    event: CUevent,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUgraphNode,
        CUgraph,
        *const CUgraphNode,
        usize,
        CUevent,
    ) -> CUresult = unsafe { transmute(target::target(133)) };

    let call_ = begin(133);
    let code_ = unsafe { target_(phGraphNode, hGraph, dependencies, numDependencies, event) };
    end(call_, 133, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddEventWaitNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
    event: CUevent,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUgraphNode,
        CUgraph,
        *const CUgraphNode,
        usize,
        CUevent,
    ) -> CUresult = unsafe { transmute(target::target(134)) };

    let call_ = begin(134);
    let code_ = unsafe { target_(phGraphNode, hGraph, dependencies, numDependencies, event) };
    end(call_, 134, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddExternalSemaphoresSignalNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
    nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUgraphNode,
        CUgraph,
        *const CUgraphNode,
        usize,
        *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
    ) -> CUresult = unsafe { transmute(target::target(135)) };

    let call_ = begin(135);
    let code_ = unsafe {
        target_(
            phGraphNode,
            hGraph,
            dependencies,
            numDependencies,
            nodeParams,
        )
    };
    end(call_, 135, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddExternalSemaphoresWaitNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
    nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUgraphNode,
        CUgraph,
        *const CUgraphNode,
        usize,
        *const CUDA_EXT_SEM_WAIT_NODE_PARAMS,
    ) -> CUresult = unsafe { transmute(target::target(136)) };

    let call_ = begin(136);
    let code_ = unsafe {
        target_(
            phGraphNode,
            hGraph,
            dependencies,
            numDependencies,
            nodeParams,
        )
    };
    end(call_, 136, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddHostNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
    nodeParams: *const CUDA_HOST_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUgraphNode,
        CUgraph,
        *const CUgraphNode,
        usize,
        *const CUDA_HOST_NODE_PARAMS,
    ) -> CUresult = unsafe { transmute(target::target(137)) };

    let call_ = begin(137);
    let code_ = unsafe {
        target_(
            phGraphNode,
            hGraph,
            dependencies,
            numDependencies,
            nodeParams,
        )
    };
    end(call_, 137, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddKernelNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
    nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUgraphNode,
        CUgraph,
        *const CUgraphNode,
        usize,
        *const CUDA_KERNEL_NODE_PARAMS,
    ) -> CUresult = unsafe { transmute(target::target(138)) };

    let call_ = begin(138);
    let code_ = unsafe {
        target_(
            phGraphNode,
            hGraph,
            dependencies,
            numDependencies,
            nodeParams,
        )
    };
    end(call_, 138, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddKernelNode_v2(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
    nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUgraphNode,
        CUgraph,
        *const CUgraphNode,
        usize,
        *const CUDA_KERNEL_NODE_PARAMS,
    ) -> CUresult = unsafe { transmute(target::target(139)) };

    let call_ = begin(139);
    let code_ = unsafe {
        target_(
            phGraphNode,
            hGraph,
            dependencies,
            numDependencies,
            nodeParams,
        )
    };
    end(call_, 139, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddMemAllocNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
    nodeParams: *mut CUDA_MEM_ALLOC_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUgraphNode,
        CUgraph,
        *const CUgraphNode,
        usize,
        *mut CUDA_MEM_ALLOC_NODE_PARAMS,
    ) -> CUresult = unsafe { transmute(target::target(140)) };

    let call_ = begin(140);
    let code_ = unsafe {
        target_(
            phGraphNode,
            hGraph,
            dependencies,
            numDependencies,
            nodeParams,
        )
    };
    end(call_, 140, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddMemFreeNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
    dptr: CUdeviceptr,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUgraphNode,
        CUgraph,
        *const CUgraphNode,
        usize,
        CUdeviceptr,
    ) -> CUresult = unsafe { transmute(target::target(141)) };

    let call_ = begin(141);
    let code_ = unsafe { target_(phGraphNode, hGraph, dependencies, numDependencies, dptr) };
    end(call_, 141, code_, details::plain);
    code_
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
    let target_: unsafe extern "C" fn(
        *mut CUgraphNode,
        CUgraph,
        *const CUgraphNode,
        usize,
        *const CUDA_MEMCPY3D,
        CUcontext,
    ) -> CUresult = unsafe { transmute(target::target(142)) };

    let call_ = begin(142);
    let code_ = unsafe {
        target_(
            phGraphNode,
            hGraph,
            dependencies,
            numDependencies,
            copyParams,
            ctx,
        )
    };
    end(call_, 142, code_, details::plain);
    code_
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
    let target_: unsafe extern "C" fn(
        *mut CUgraphNode,
        CUgraph,
        *const CUgraphNode,
        usize,
        *const CUDA_MEMSET_NODE_PARAMS,
        CUcontext,
    ) -> CUresult = unsafe { transmute(target::target(143)) };

    let call_ = begin(143);
    let code_ = unsafe {
        target_(
            phGraphNode,
            hGraph,
            dependencies,
            numDependencies,
            memsetParams,
            ctx,
        )
    };
    end(call_, 143, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
    nodeParams: *mut CUgraphNodeParams,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUgraphNode,
        CUgraph,
        *const CUgraphNode,
        usize,
        *mut CUgraphNodeParams,
    ) -> CUresult = unsafe { transmute(target::target(144)) };

    let call_ = begin(144);
    let code_ = unsafe {
        target_(
            phGraphNode,
            hGraph,
            dependencies,
            numDependencies,
            nodeParams,
        )
    };
    end(call_, 144, code_, details::plain);
    code_
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
    let target_: unsafe extern "C" fn(
        *mut CUgraphNode,
        CUgraph,
        *const CUgraphNode,
        *const CUgraphEdgeData,
        usize,
        *mut CUgraphNodeParams,
    ) -> CUresult = unsafe { transmute(target::target(145)) };

    let call_ = begin(145);
    let code_ = unsafe {
        target_(
            phGraphNode,
            hGraph,
            dependencies,
            dependencyData,
            numDependencies,
            nodeParams,
        )
    };
    end(call_, 145, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddNode_v3(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    dependencyData: *const CUgraphEdgeData,
    numDependencies: usize,
    nodeParams: *mut CUgraphNodeParams,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUgraphNode,
        CUgraph,
        *const CUgraphNode,
        *const CUgraphEdgeData,
        usize,
        *mut CUgraphNodeParams,
    ) -> CUresult = unsafe { transmute(target::target(146)) };

    let call_ = begin(146);
    let code_ = unsafe {
        target_(
            phGraphNode,
            hGraph,
            dependencies,
            dependencyData,
            numDependencies,
            nodeParams,
        )
    };
    end(call_, 146, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphBatchMemOpNodeGetParams(
    hNode: CUgraphNode,
    nodeParams_out: *mut CUDA_BATCH_MEM_OP_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, *mut CUDA_BATCH_MEM_OP_NODE_PARAMS) -> CUresult =
        unsafe { transmute(target::target(147)) };

    let call_ = begin(147);
    let code_ = unsafe { target_(hNode, nodeParams_out) };
    end(call_, 147, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphBatchMemOpNodeSetParams(
    hNode: CUgraphNode,
    nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUgraphNode,
        *const CUDA_BATCH_MEM_OP_NODE_PARAMS,
    ) -> CUresult = unsafe { transmute(target::target(148)) };

    let call_ = begin(148);
    let code_ = unsafe { target_(hNode, nodeParams) };
    end(call_, 148, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphChildGraphNodeGetGraph(
    hNode: CUgraphNode,
    phGraph: *mut CUgraph,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, *mut CUgraph) -> CUresult =
        unsafe { transmute(target::target(149)) };

    let call_ = begin(149);
    let code_ = unsafe { target_(hNode, phGraph) };
    end(call_, 149, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphClone(
    phGraphClone: *mut CUgraph,
    originalGraph: CUgraph,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUgraph, CUgraph) -> CUresult =
        unsafe { transmute(target::target(150)) };

    let call_ = begin(150);
    let code_ = unsafe { target_(phGraphClone, originalGraph) };
    end(call_, 150, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphConditionalHandleCreate(
    pHandle_out: *mut CUgraphConditionalHandle,
    hGraph: CUgraph,
    ctx: CUcontext,
    defaultLaunchValue: c_uint,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUgraphConditionalHandle,
        CUgraph,
        CUcontext,
        c_uint,
        c_uint,
    ) -> CUresult = unsafe { transmute(target::target(151)) };

    let call_ = begin(151);
    let code_ = unsafe { target_(pHandle_out, hGraph, ctx, defaultLaunchValue, flags) };
    end(call_, 151, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphCreate(phGraph: *mut CUgraph, flags: c_uint) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUgraph, c_uint) -> CUresult =
        unsafe { transmute(target::target(152)) };

    let call_ = begin(152);
    let code_ = unsafe { target_(phGraph, flags) };
    end(call_, 152, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphDebugDotPrint(
    hGraph: CUgraph,
    path: *const c_char,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraph, *const c_char, c_uint) -> CUresult =
        unsafe { transmute(target::target(153)) };

    let call_ = begin(153);
    let code_ = unsafe { target_(hGraph, path, flags) };
    end(call_, 153, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphDestroy(hGraph: CUgraph) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraph) -> CUresult =
        unsafe { transmute(target::target(154)) };

    let call_ = begin(154);
    let code_ = unsafe { target_(hGraph) };
    end(call_, 154, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphDestroyNode(hNode: CUgraphNode) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode) -> CUresult =
        unsafe { transmute(target::target(155)) };

    let call_ = begin(155);
    let code_ = unsafe { target_(hNode) };
    end(call_, 155, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphEventRecordNodeGetEvent(
    hNode: CUgraphNode,
    event_out: *mut CUevent,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, *mut CUevent) -> CUresult =
        unsafe { transmute(target::target(156)) };

    let call_ = begin(156);
    let code_ = unsafe { target_(hNode, event_out) };
    end(call_, 156, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphEventRecordNodeSetEvent(
    hNode: CUgraphNode,
    event: CUevent,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, CUevent) -> CUresult =
        unsafe { transmute(target::target(157)) };

    let call_ = begin(157);
    let code_ = unsafe { target_(hNode, event) };
    end(call_, 157, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphEventWaitNodeGetEvent(
    hNode: CUgraphNode,
    event_out: *mut CUevent,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, *mut CUevent) -> CUresult =
        unsafe { transmute(target::target(158)) };

    let call_ = begin(158);
    let code_ = unsafe { target_(hNode, event_out) };
    end(call_, 158, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphEventWaitNodeSetEvent(
    hNode: CUgraphNode,
    event: CUevent,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, CUevent) -> CUresult =
        unsafe { transmute(target::target(159)) };

    let call_ = begin(159);
    let code_ = unsafe { target_(hNode, event) };
    end(call_, 159, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecBatchMemOpNodeSetParams(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUgraphExec,
        CUgraphNode,
        *const CUDA_BATCH_MEM_OP_NODE_PARAMS,
    ) -> CUresult = unsafe { transmute(target::target(160)) };

    let call_ = begin(160);
    let code_ = unsafe { target_(hGraphExec, hNode, nodeParams) };
    end(call_, 160, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecChildGraphNodeSetParams(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    childGraph: CUgraph,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphExec, CUgraphNode, CUgraph) -> CUresult =
        unsafe { transmute(target::target(161)) };

    let call_ = begin(161);
    let code_ = unsafe { target_(hGraphExec, hNode, childGraph) };
    end(call_, 161, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecDestroy(hGraphExec: CUgraphExec) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphExec) -> CUresult =
        unsafe { transmute(target::target(162)) };

    let call_ = begin(162);
    let code_ = unsafe { target_(hGraphExec) };
    end(call_, 162, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecEventRecordNodeSetEvent(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    event: CUevent,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphExec, CUgraphNode, CUevent) -> CUresult =
        unsafe { transmute(target::target(163)) };

    let call_ = begin(163);
    let code_ = unsafe { target_(hGraphExec, hNode, event) };
    end(call_, 163, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecEventWaitNodeSetEvent(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    event: CUevent,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphExec, CUgraphNode, CUevent) -> CUresult =
        unsafe { transmute(target::target(164)) };

    let call_ = begin(164);
    let code_ = unsafe { target_(hGraphExec, hNode, event) };
    end(call_, 164, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecExternalSemaphoresSignalNodeSetParams(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUgraphExec,
        CUgraphNode,
        *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
    ) -> CUresult = unsafe { transmute(target::target(165)) };

    let call_ = begin(165);
    let code_ = unsafe { target_(hGraphExec, hNode, nodeParams) };
    end(call_, 165, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecExternalSemaphoresWaitNodeSetParams(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUgraphExec,
        CUgraphNode,
        *const CUDA_EXT_SEM_WAIT_NODE_PARAMS,
    ) -> CUresult = unsafe { transmute(target::target(166)) };

    let call_ = begin(166);
    let code_ = unsafe { target_(hGraphExec, hNode, nodeParams) };
    end(call_, 166, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecGetFlags(
    hGraphExec: CUgraphExec,
    flags: *mut cuuint64_t,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphExec, *mut cuuint64_t) -> CUresult =
        unsafe { transmute(target::target(167)) };

    let call_ = begin(167);
    let code_ = unsafe { target_(hGraphExec, flags) };
    end(call_, 167, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecGetId(
    hGraphExec: CUgraphExec,
    graphId: *mut c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphExec, *mut c_uint) -> CUresult =
        unsafe { transmute(target::target(168)) };

    let call_ = begin(168);
    let code_ = unsafe { target_(hGraphExec, graphId) };
    end(call_, 168, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecHostNodeSetParams(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    nodeParams: *const CUDA_HOST_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUgraphExec,
        CUgraphNode,
        *const CUDA_HOST_NODE_PARAMS,
    ) -> CUresult = unsafe { transmute(target::target(169)) };

    let call_ = begin(169);
    let code_ = unsafe { target_(hGraphExec, hNode, nodeParams) };
    end(call_, 169, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecKernelNodeSetParams(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUgraphExec,
        CUgraphNode,
        *const CUDA_KERNEL_NODE_PARAMS,
    ) -> CUresult = unsafe { transmute(target::target(170)) };

    let call_ = begin(170);
    let code_ = unsafe { target_(hGraphExec, hNode, nodeParams) };
    end(call_, 170, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecKernelNodeSetParams_v2(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUgraphExec,
        CUgraphNode,
        *const CUDA_KERNEL_NODE_PARAMS,
    ) -> CUresult = unsafe { transmute(target::target(171)) };

    let call_ = begin(171);
    let code_ = unsafe { target_(hGraphExec, hNode, nodeParams) };
    end(call_, 171, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecMemcpyNodeSetParams(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    copyParams: *const CUDA_MEMCPY3D,
    ctx: CUcontext,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUgraphExec,
        CUgraphNode,
        *const CUDA_MEMCPY3D,
        CUcontext,
    ) -> CUresult = unsafe { transmute(target::target(172)) };

    let call_ = begin(172);
    let code_ = unsafe { target_(hGraphExec, hNode, copyParams, ctx) };
    end(call_, 172, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecMemsetNodeSetParams(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    memsetParams: *const CUDA_MEMSET_NODE_PARAMS,
    ctx: CUcontext,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUgraphExec,
        CUgraphNode,
        *const CUDA_MEMSET_NODE_PARAMS,
        CUcontext,
    ) -> CUresult = unsafe { transmute(target::target(173)) };

    let call_ = begin(173);
    let code_ = unsafe { target_(hGraphExec, hNode, memsetParams, ctx) };
    end(call_, 173, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecNodeSetParams(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    nodeParams: *mut CUgraphNodeParams,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUgraphExec,
        CUgraphNode,
        *mut CUgraphNodeParams,
    ) -> CUresult = unsafe { transmute(target::target(174)) };

    let call_ = begin(174);
    let code_ = unsafe { target_(hGraphExec, hNode, nodeParams) };
    end(call_, 174, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecUpdate(
    hGraphExec: CUgraphExec,
    hGraph: CUgraph,
    hErrorNode_out: *mut CUgraphNode,
    updateResult_out: *mut CUgraphExecUpdateResult,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUgraphExec,
        CUgraph,
        *mut CUgraphNode,
        *mut CUgraphExecUpdateResult,
    ) -> CUresult = unsafe { transmute(target::target(175)) };

    let call_ = begin(175);
    let code_ = unsafe { target_(hGraphExec, hGraph, hErrorNode_out, updateResult_out) };
    end(call_, 175, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecUpdate_v2(
    hGraphExec: CUgraphExec,
    hGraph: CUgraph,
    resultInfo: *mut CUgraphExecUpdateResultInfo,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUgraphExec,
        CUgraph,
        *mut CUgraphExecUpdateResultInfo,
    ) -> CUresult = unsafe { transmute(target::target(176)) };

    let call_ = begin(176);
    let code_ = unsafe { target_(hGraphExec, hGraph, resultInfo) };
    end(call_, 176, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExternalSemaphoresSignalNodeGetParams(
    hNode: CUgraphNode,
    params_out: *mut CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUgraphNode,
        *mut CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
    ) -> CUresult = unsafe { transmute(target::target(177)) };

    let call_ = begin(177);
    let code_ = unsafe { target_(hNode, params_out) };
    end(call_, 177, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExternalSemaphoresSignalNodeSetParams(
    hNode: CUgraphNode,
    nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUgraphNode,
        *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
    ) -> CUresult = unsafe { transmute(target::target(178)) };

    let call_ = begin(178);
    let code_ = unsafe { target_(hNode, nodeParams) };
    end(call_, 178, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExternalSemaphoresWaitNodeGetParams(
    hNode: CUgraphNode,
    params_out: *mut CUDA_EXT_SEM_WAIT_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, *mut CUDA_EXT_SEM_WAIT_NODE_PARAMS) -> CUresult =
        unsafe { transmute(target::target(179)) };

    let call_ = begin(179);
    let code_ = unsafe { target_(hNode, params_out) };
    end(call_, 179, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExternalSemaphoresWaitNodeSetParams(
    hNode: CUgraphNode,
    nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUgraphNode,
        *const CUDA_EXT_SEM_WAIT_NODE_PARAMS,
    ) -> CUresult = unsafe { transmute(target::target(180)) };

    let call_ = begin(180);
    let code_ = unsafe { target_(hNode, nodeParams) };
    end(call_, 180, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphGetEdges(
    hGraph: CUgraph,
    from: *mut CUgraphNode,
    to: *mut CUgraphNode,
    numEdges: *mut usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUgraph,
        *mut CUgraphNode,
        *mut CUgraphNode,
        *mut usize,
    ) -> CUresult = unsafe { transmute(target::target(181)) };

    let call_ = begin(181);
    let code_ = unsafe { target_(hGraph, from, to, numEdges) };
    end(call_, 181, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphGetEdges_v2(
    hGraph: CUgraph,
    from: *mut CUgraphNode,
    to: *mut CUgraphNode,
    edgeData: *mut CUgraphEdgeData,
    numEdges: *mut usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUgraph,
        *mut CUgraphNode,
        *mut CUgraphNode,
        *mut CUgraphEdgeData,
        *mut usize,
    ) -> CUresult = unsafe { transmute(target::target(182)) };

    let call_ = begin(182);
    let code_ = unsafe { target_(hGraph, from, to, edgeData, numEdges) };
    end(call_, 182, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphGetId(hGraph: CUgraph, graphId: *mut c_uint) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraph, *mut c_uint) -> CUresult =
        unsafe { transmute(target::target(183)) };

    let call_ = begin(183);
    let code_ = unsafe { target_(hGraph, graphId) };
    end(call_, 183, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphGetNodes(
    hGraph: CUgraph,
    nodes: *mut CUgraphNode,
    numNodes: *mut usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraph, *mut CUgraphNode, *mut usize) -> CUresult =
        unsafe { transmute(target::target(184)) };

    let call_ = begin(184);
    let code_ = unsafe { target_(hGraph, nodes, numNodes) };
    end(call_, 184, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphGetRootNodes(
    hGraph: CUgraph,
    rootNodes: *mut CUgraphNode,
    numRootNodes: *mut usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraph, *mut CUgraphNode, *mut usize) -> CUresult =
        unsafe { transmute(target::target(185)) };

    let call_ = begin(185);
    let code_ = unsafe { target_(hGraph, rootNodes, numRootNodes) };
    end(call_, 185, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphHostNodeGetParams(
    hNode: CUgraphNode,
    nodeParams: *mut CUDA_HOST_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, *mut CUDA_HOST_NODE_PARAMS) -> CUresult =
        unsafe { transmute(target::target(186)) };

    let call_ = begin(186);
    let code_ = unsafe { target_(hNode, nodeParams) };
    end(call_, 186, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphHostNodeSetParams(
    hNode: CUgraphNode,
    nodeParams: *const CUDA_HOST_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, *const CUDA_HOST_NODE_PARAMS) -> CUresult =
        unsafe { transmute(target::target(187)) };

    let call_ = begin(187);
    let code_ = unsafe { target_(hNode, nodeParams) };
    end(call_, 187, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphInstantiateWithFlags(
    phGraphExec: *mut CUgraphExec,
    hGraph: CUgraph,
    flags: c_ulonglong,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUgraphExec, CUgraph, c_ulonglong) -> CUresult =
        unsafe { transmute(target::target(188)) };

    let call_ = begin(188);
    let code_ = unsafe { target_(phGraphExec, hGraph, flags) };
    end(call_, 188, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphInstantiateWithParams(
    phGraphExec: *mut CUgraphExec,
    hGraph: CUgraph,
    instantiateParams: *mut CUDA_GRAPH_INSTANTIATE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUgraphExec,
        CUgraph,
        *mut CUDA_GRAPH_INSTANTIATE_PARAMS,
    ) -> CUresult = unsafe { transmute(target::target(189)) };

    let call_ = begin(189);
    let code_ = unsafe { target_(phGraphExec, hGraph, instantiateParams) };
    end(call_, 189, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphInstantiate_v2(
    phGraphExec: *mut CUgraphExec,
    hGraph: CUgraph,
    phErrorNode: *mut CUgraphNode,
    logBuffer: *mut c_char,
    bufferSize: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUgraphExec,
        CUgraph,
        *mut CUgraphNode,
        *mut c_char,
        usize,
    ) -> CUresult = unsafe { transmute(target::target(190)) };

    let call_ = begin(190);
    let code_ = unsafe { target_(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize) };
    end(call_, 190, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphKernelNodeCopyAttributes(
    dst: CUgraphNode,
    src: CUgraphNode,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, CUgraphNode) -> CUresult =
        unsafe { transmute(target::target(191)) };

    let call_ = begin(191);
    let code_ = unsafe { target_(dst, src) };
    end(call_, 191, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphKernelNodeGetAttribute(
    hNode: CUgraphNode,
    attr: CUkernelNodeAttrID,
    value_out: *mut CUkernelNodeAttrValue,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUgraphNode,
        CUkernelNodeAttrID,
        *mut CUkernelNodeAttrValue,
    ) -> CUresult = unsafe { transmute(target::target(192)) };

    let call_ = begin(192);
    let code_ = unsafe { target_(hNode, attr, value_out) };
    end(call_, 192, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphKernelNodeGetParams(
    hNode: CUgraphNode,
    nodeParams: *mut CUDA_KERNEL_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, *mut CUDA_KERNEL_NODE_PARAMS) -> CUresult =
        unsafe { transmute(target::target(193)) };

    let call_ = begin(193);
    let code_ = unsafe { target_(hNode, nodeParams) };
    end(call_, 193, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphKernelNodeGetParams_v2(
    hNode: CUgraphNode,
    nodeParams: *mut CUDA_KERNEL_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, *mut CUDA_KERNEL_NODE_PARAMS) -> CUresult =
        unsafe { transmute(target::target(194)) };

    let call_ = begin(194);
    let code_ = unsafe { target_(hNode, nodeParams) };
    end(call_, 194, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphKernelNodeSetAttribute(
    hNode: CUgraphNode,
    attr: CUkernelNodeAttrID,
    value: *const CUkernelNodeAttrValue,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUgraphNode,
        CUkernelNodeAttrID,
        *const CUkernelNodeAttrValue,
    ) -> CUresult = unsafe { transmute(target::target(195)) };

    let call_ = begin(195);
    let code_ = unsafe { target_(hNode, attr, value) };
    end(call_, 195, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphKernelNodeSetParams(
    hNode: CUgraphNode,
    nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, *const CUDA_KERNEL_NODE_PARAMS) -> CUresult =
        unsafe { transmute(target::target(196)) };

    let call_ = begin(196);
    let code_ = unsafe { target_(hNode, nodeParams) };
    end(call_, 196, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphKernelNodeSetParams_v2(
    hNode: CUgraphNode,
    nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, *const CUDA_KERNEL_NODE_PARAMS) -> CUresult =
        unsafe { transmute(target::target(197)) };

    let call_ = begin(197);
    let code_ = unsafe { target_(hNode, nodeParams) };
    end(call_, 197, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphLaunch(hGraphExec: CUgraphExec, hStream: CUstream) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphExec, CUstream) -> CUresult =
        unsafe { transmute(target::target(198)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 1));
    let call_ = begin(198);
    let code_ = unsafe { target_(hGraphExec, hStream) };
    end_work(work_, call_, 198, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphLaunch_ptsz(
    hGraphExec: CUgraphExec,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphExec, CUstream) -> CUresult =
        unsafe { transmute(target::target(199)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 2));
    let call_ = begin(199);
    let code_ = unsafe { target_(hGraphExec, hStream) };
    end_work(work_, call_, 199, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphMemAllocNodeGetParams(
    hNode: CUgraphNode,
    params_out: *mut CUDA_MEM_ALLOC_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, *mut CUDA_MEM_ALLOC_NODE_PARAMS) -> CUresult =
        unsafe { transmute(target::target(200)) };

    let call_ = begin(200);
    let code_ = unsafe { target_(hNode, params_out) };
    end(call_, 200, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphMemFreeNodeGetParams(
    hNode: CUgraphNode,
    dptr_out: *mut CUdeviceptr,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, *mut CUdeviceptr) -> CUresult =
        unsafe { transmute(target::target(201)) };

    let call_ = begin(201);
    let code_ = unsafe { target_(hNode, dptr_out) };
    end(call_, 201, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphMemcpyNodeGetParams(
    hNode: CUgraphNode,
    nodeParams: *mut CUDA_MEMCPY3D,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, *mut CUDA_MEMCPY3D) -> CUresult =
        unsafe { transmute(target::target(202)) };

    let call_ = begin(202);
    let code_ = unsafe { target_(hNode, nodeParams) };
    end(call_, 202, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphMemcpyNodeSetParams(
    hNode: CUgraphNode,
    nodeParams: *const CUDA_MEMCPY3D,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, *const CUDA_MEMCPY3D) -> CUresult =
        unsafe { transmute(target::target(203)) };

    let call_ = begin(203);
    let code_ = unsafe { target_(hNode, nodeParams) };
    end(call_, 203, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphMemsetNodeGetParams(
    hNode: CUgraphNode,
    nodeParams: *mut CUDA_MEMSET_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, *mut CUDA_MEMSET_NODE_PARAMS) -> CUresult =
        unsafe { transmute(target::target(204)) };

    let call_ = begin(204);
    let code_ = unsafe { target_(hNode, nodeParams) };
    end(call_, 204, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphMemsetNodeSetParams(
    hNode: CUgraphNode,
    nodeParams: *const CUDA_MEMSET_NODE_PARAMS,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, *const CUDA_MEMSET_NODE_PARAMS) -> CUresult =
        unsafe { transmute(target::target(205)) };

    let call_ = begin(205);
    let code_ = unsafe { target_(hNode, nodeParams) };
    end(call_, 205, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeFindInClone(
    phNode: *mut CUgraphNode,
    hOriginalNode: CUgraphNode,
    hClonedGraph: CUgraph,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUgraphNode, CUgraphNode, CUgraph) -> CUresult =
        unsafe { transmute(target::target(206)) };

    let call_ = begin(206);
    let code_ = unsafe { target_(phNode, hOriginalNode, hClonedGraph) };
    end(call_, 206, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeGetContainingGraph(
    hNode: CUgraphNode,
    phGraph: *mut CUgraph,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, *mut CUgraph) -> CUresult =
        unsafe { transmute(target::target(207)) };

    let call_ = begin(207);
    let code_ = unsafe { target_(hNode, phGraph) };
    end(call_, 207, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeGetDependencies(
    hNode: CUgraphNode,
    dependencies: *mut CUgraphNode,
    numDependencies: *mut usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, *mut CUgraphNode, *mut usize) -> CUresult =
        unsafe { transmute(target::target(208)) };

    let call_ = begin(208);
    let code_ = unsafe { target_(hNode, dependencies, numDependencies) };
    end(call_, 208, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeGetDependencies_v2(
    hNode: CUgraphNode,
    dependencies: *mut CUgraphNode,
    edgeData: *mut CUgraphEdgeData,
    numDependencies: *mut usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUgraphNode,
        *mut CUgraphNode,
        *mut CUgraphEdgeData,
        *mut usize,
    ) -> CUresult = unsafe { transmute(target::target(209)) };

    let call_ = begin(209);
    let code_ = unsafe { target_(hNode, dependencies, edgeData, numDependencies) };
    end(call_, 209, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeGetDependentNodes(
    hNode: CUgraphNode,
    dependentNodes: *mut CUgraphNode,
    numDependentNodes: *mut usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, *mut CUgraphNode, *mut usize) -> CUresult =
        unsafe { transmute(target::target(210)) };

    let call_ = begin(210);
    let code_ = unsafe { target_(hNode, dependentNodes, numDependentNodes) };
    end(call_, 210, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeGetDependentNodes_v2(
    hNode: CUgraphNode,
    dependentNodes: *mut CUgraphNode,
    edgeData: *mut CUgraphEdgeData,
    numDependentNodes: *mut usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUgraphNode,
        *mut CUgraphNode,
        *mut CUgraphEdgeData,
        *mut usize,
    ) -> CUresult = unsafe { transmute(target::target(211)) };

    let call_ = begin(211);
    let code_ = unsafe { target_(hNode, dependentNodes, edgeData, numDependentNodes) };
    end(call_, 211, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeGetEnabled(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    isEnabled: *mut c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphExec, CUgraphNode, *mut c_uint) -> CUresult =
        unsafe { transmute(target::target(212)) };

    let call_ = begin(212);
    let code_ = unsafe { target_(hGraphExec, hNode, isEnabled) };
    end(call_, 212, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeGetLocalId(
    hNode: CUgraphNode,
    nodeId: *mut c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, *mut c_uint) -> CUresult =
        unsafe { transmute(target::target(213)) };

    let call_ = begin(213);
    let code_ = unsafe { target_(hNode, nodeId) };
    end(call_, 213, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeGetParams(
    hNode: CUgraphNode,
    nodeParams: *mut CUgraphNodeParams,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, *mut CUgraphNodeParams) -> CUresult =
        unsafe { transmute(target::target(214)) };

    let call_ = begin(214);
    let code_ = unsafe { target_(hNode, nodeParams) };
    end(call_, 214, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeGetToolsId(
    hNode: CUgraphNode,
    toolsNodeId: *mut c_ulonglong,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, *mut c_ulonglong) -> CUresult =
        unsafe { transmute(target::target(215)) };

    let call_ = begin(215);
    let code_ = unsafe { target_(hNode, toolsNodeId) };
    end(call_, 215, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeGetType(
    hNode: CUgraphNode,
    type_: *mut CUgraphNodeType,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, *mut CUgraphNodeType) -> CUresult =
        unsafe { transmute(target::target(216)) };

    let call_ = begin(216);
    let code_ = unsafe { target_(hNode, type_) };
    end(call_, 216, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeSetEnabled(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    isEnabled: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphExec, CUgraphNode, c_uint) -> CUresult =
        unsafe { transmute(target::target(217)) };

    let call_ = begin(217);
    let code_ = unsafe { target_(hGraphExec, hNode, isEnabled) };
    end(call_, 217, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeSetParams(
    hNode: CUgraphNode,
    nodeParams: *mut CUgraphNodeParams,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, *mut CUgraphNodeParams) -> CUresult =
        unsafe { transmute(target::target(218)) };

    let call_ = begin(218);
    let code_ = unsafe { target_(hNode, nodeParams) };
    end(call_, 218, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeSetParams_v2(
    hNode: CUgraphNode,
    nodeParams: *mut CUgraphNodeParams,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphNode, *mut CUgraphNodeParams) -> CUresult =
        unsafe { transmute(target::target(219)) };

    let call_ = begin(219);
    let code_ = unsafe { target_(hNode, nodeParams) };
    end(call_, 219, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphReleaseUserObject(
    graph: CUgraph,
    object: CUuserObject,
    count: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraph, CUuserObject, c_uint) -> CUresult =
        unsafe { transmute(target::target(220)) };

    let call_ = begin(220);
    let code_ = unsafe { target_(graph, object, count) };
    end(call_, 220, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphRemoveDependencies(
    hGraph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    numDependencies: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUgraph,
        *const CUgraphNode,
        *const CUgraphNode,
        usize,
    ) -> CUresult = unsafe { transmute(target::target(221)) };

    let call_ = begin(221);
    let code_ = unsafe { target_(hGraph, from, to, numDependencies) };
    end(call_, 221, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphRemoveDependencies_v2(
    hGraph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    edgeData: *const CUgraphEdgeData,
    numDependencies: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUgraph,
        *const CUgraphNode,
        *const CUgraphNode,
        *const CUgraphEdgeData,
        usize,
    ) -> CUresult = unsafe { transmute(target::target(222)) };

    let call_ = begin(222);
    let code_ = unsafe { target_(hGraph, from, to, edgeData, numDependencies) };
    end(call_, 222, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphRetainUserObject(
    graph: CUgraph,
    object: CUuserObject,
    count: c_uint,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraph, CUuserObject, c_uint, c_uint) -> CUresult =
        unsafe { transmute(target::target(223)) };

    let call_ = begin(223);
    let code_ = unsafe { target_(graph, object, count, flags) };
    end(call_, 223, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphUpload(hGraphExec: CUgraphExec, hStream: CUstream) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphExec, CUstream) -> CUresult =
        unsafe { transmute(target::target(224)) };

    let call_ = begin(224);
    let code_ = unsafe { target_(hGraphExec, hStream) };
    end(call_, 224, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphUpload_ptsz(
    hGraphExec: CUgraphExec,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphExec, CUstream) -> CUresult =
        unsafe { transmute(target::target(225)) };

    let call_ = begin(225);
    let code_ = unsafe { target_(hGraphExec, hStream) };
    end(call_, 225, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphicsMapResources(
    count: c_uint,
    resources: *mut CUgraphicsResource,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(c_uint, *mut CUgraphicsResource, CUstream) -> CUresult =
        unsafe { transmute(target::target(226)) };

    let call_ = begin(226);
    let code_ = unsafe { target_(count, resources, hStream) };
    end(call_, 226, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphicsMapResources_ptsz(
    count: c_uint,
    resources: *mut CUgraphicsResource,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(c_uint, *mut CUgraphicsResource, CUstream) -> CUresult =
        unsafe { transmute(target::target(227)) };

    let call_ = begin(227);
    let code_ = unsafe { target_(count, resources, hStream) };
    end(call_, 227, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphicsResourceGetMappedMipmappedArray(
    pMipmappedArray: *mut CUmipmappedArray,
    resource: CUgraphicsResource,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUmipmappedArray, CUgraphicsResource) -> CUresult =
        unsafe { transmute(target::target(228)) };

    let call_ = begin(228);
    let code_ = unsafe { target_(pMipmappedArray, resource) };
    end(call_, 228, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphicsResourceGetMappedPointer_v2(
    pDevPtr: *mut CUdeviceptr,
    pSize: *mut usize,
    resource: CUgraphicsResource,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUdeviceptr,
        *mut usize,
        CUgraphicsResource,
    ) -> CUresult = unsafe { transmute(target::target(229)) };

    let call_ = begin(229);
    let code_ = unsafe { target_(pDevPtr, pSize, resource) };
    end(call_, 229, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphicsResourceSetMapFlags_v2(
    resource: CUgraphicsResource,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphicsResource, c_uint) -> CUresult =
        unsafe { transmute(target::target(230)) };

    let call_ = begin(230);
    let code_ = unsafe { target_(resource, flags) };
    end(call_, 230, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphicsSubResourceGetMappedArray(
    pArray: *mut CUarray,
    resource: CUgraphicsResource,
    arrayIndex: c_uint,
    mipLevel: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUarray,
        CUgraphicsResource,
        c_uint,
        c_uint,
    ) -> CUresult = unsafe { transmute(target::target(231)) };

    let call_ = begin(231);
    let code_ = unsafe { target_(pArray, resource, arrayIndex, mipLevel) };
    end(call_, 231, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphicsUnmapResources(
    count: c_uint,
    resources: *mut CUgraphicsResource,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(c_uint, *mut CUgraphicsResource, CUstream) -> CUresult =
        unsafe { transmute(target::target(232)) };

    let call_ = begin(232);
    let code_ = unsafe { target_(count, resources, hStream) };
    end(call_, 232, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphicsUnmapResources_ptsz(
    count: c_uint,
    resources: *mut CUgraphicsResource,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(c_uint, *mut CUgraphicsResource, CUstream) -> CUresult =
        unsafe { transmute(target::target(233)) };

    let call_ = begin(233);
    let code_ = unsafe { target_(count, resources, hStream) };
    end(call_, 233, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphicsUnregisterResource(resource: CUgraphicsResource) -> CUresult {
    let target_: unsafe extern "C" fn(CUgraphicsResource) -> CUresult =
        unsafe { transmute(target::target(234)) };

    let call_ = begin(234);
    let code_ = unsafe { target_(resource) };
    end(call_, 234, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGreenCtxCreate(
    phCtx: *mut CUgreenCtx,
    desc: CUdevResourceDesc,
    dev: CUdevice,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUgreenCtx,
        CUdevResourceDesc,
        CUdevice,
        c_uint,
    ) -> CUresult = unsafe { transmute(target::target(235)) };

    let call_ = begin(235);
    let code_ = unsafe { target_(phCtx, desc, dev, flags) };
    end(call_, 235, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGreenCtxDestroy(hCtx: CUgreenCtx) -> CUresult {
    let target_: unsafe extern "C" fn(CUgreenCtx) -> CUresult =
        unsafe { transmute(target::target(236)) };

    let call_ = begin(236);
    let code_ = unsafe { target_(hCtx) };
    end(call_, 236, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGreenCtxGetDevResource(
    hCtx: CUgreenCtx,
    resource: *mut CUdevResource,
    type_: CUdevResourceType,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUgreenCtx,
        *mut CUdevResource,
        CUdevResourceType,
    ) -> CUresult = unsafe { transmute(target::target(237)) };

    let call_ = begin(237);
    let code_ = unsafe { target_(hCtx, resource, type_) };
    end(call_, 237, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGreenCtxGetId(
    greenCtx: CUgreenCtx,
    greenCtxId: *mut c_ulonglong,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUgreenCtx, *mut c_ulonglong) -> CUresult =
        unsafe { transmute(target::target(238)) };

    let call_ = begin(238);
    let code_ = unsafe { target_(greenCtx, greenCtxId) };
    end(call_, 238, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGreenCtxRecordEvent(hCtx: CUgreenCtx, hEvent: CUevent) -> CUresult {
    let target_: unsafe extern "C" fn(CUgreenCtx, CUevent) -> CUresult =
        unsafe { transmute(target::target(239)) };

    let call_ = begin(239);
    let code_ = unsafe { target_(hCtx, hEvent) };
    end(call_, 239, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGreenCtxStreamCreate(
    phStream: *mut CUstream,
    greenCtx: CUgreenCtx,
    flags: c_uint,
    priority: c_int,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUstream, CUgreenCtx, c_uint, c_int) -> CUresult =
        unsafe { transmute(target::target(240)) };

    let call_ = begin(240);
    let code_ = unsafe { target_(phStream, greenCtx, flags, priority) };
    end(call_, 240, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGreenCtxWaitEvent(hCtx: CUgreenCtx, hEvent: CUevent) -> CUresult {
    let target_: unsafe extern "C" fn(CUgreenCtx, CUevent) -> CUresult =
        unsafe { transmute(target::target(241)) };

    let call_ = begin(241);
    let code_ = unsafe { target_(hCtx, hEvent) };
    end(call_, 241, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuImportExternalMemory(
    extMem_out: *mut CUexternalMemory,
    memHandleDesc: *const CUDA_EXTERNAL_MEMORY_HANDLE_DESC,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUexternalMemory,
        *const CUDA_EXTERNAL_MEMORY_HANDLE_DESC,
    ) -> CUresult = unsafe { transmute(target::target(242)) };

    let call_ = begin(242);
    let code_ = unsafe { target_(extMem_out, memHandleDesc) };
    end(call_, 242, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuImportExternalSemaphore(
    extSem_out: *mut CUexternalSemaphore,
    semHandleDesc: *const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUexternalSemaphore,
        *const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC,
    ) -> CUresult = unsafe { transmute(target::target(243)) };

    let call_ = begin(243);
    let code_ = unsafe { target_(extSem_out, semHandleDesc) };
    end(call_, 243, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuInit(Flags: c_uint) -> CUresult {
    let target_: unsafe extern "C" fn(c_uint) -> CUresult =
        unsafe { transmute(target::target(244)) };

    let call_ = begin(244);
    let code_ = unsafe { target_(Flags) };
    end(call_, 244, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuIpcCloseMemHandle(dptr: CUdeviceptr) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr) -> CUresult =
        unsafe { transmute(target::target(245)) };

    let call_ = begin(245);
    let code_ = unsafe { target_(dptr) };
    end(call_, 245, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuIpcGetEventHandle(
    pHandle: *mut CUipcEventHandle,
    event: CUevent,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUipcEventHandle, CUevent) -> CUresult =
        unsafe { transmute(target::target(246)) };

    let call_ = begin(246);
    let code_ = unsafe { target_(pHandle, event) };
    end(call_, 246, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuIpcGetMemHandle(
    pHandle: *mut CUipcMemHandle,
    dptr: CUdeviceptr,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUipcMemHandle, CUdeviceptr) -> CUresult =
        unsafe { transmute(target::target(247)) };

    let call_ = begin(247);
    let code_ = unsafe { target_(pHandle, dptr) };
    end(call_, 247, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuIpcOpenEventHandle(
    phEvent: *mut CUevent,
    handle: CUipcEventHandle,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUevent, CUipcEventHandle) -> CUresult =
        unsafe { transmute(target::target(248)) };

    let call_ = begin(248);
    let code_ = unsafe { target_(phEvent, handle) };
    end(call_, 248, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuIpcOpenMemHandle_v2(
    pdptr: *mut CUdeviceptr,
    handle: CUipcMemHandle,
    Flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUdeviceptr, CUipcMemHandle, c_uint) -> CUresult =
        unsafe { transmute(target::target(249)) };

    let call_ = begin(249);
    let code_ = unsafe { target_(pdptr, handle, Flags) };
    end(call_, 249, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuKernelGetAttribute(
    pi: *mut c_int,
    attrib: CUfunction_attribute,
    kernel: CUkernel,
    dev: CUdevice,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut c_int,
        CUfunction_attribute,
        CUkernel,
        CUdevice,
    ) -> CUresult = unsafe { transmute(target::target(250)) };

    let call_ = begin(250);
    let code_ = unsafe { target_(pi, attrib, kernel, dev) };
    end(call_, 250, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuKernelGetFunction(pFunc: *mut CUfunction, kernel: CUkernel) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUfunction, CUkernel) -> CUresult =
        unsafe { transmute(target::target(251)) };

    let call_ = begin(251);
    let code_ = unsafe { target_(pFunc, kernel) };
    end(call_, 251, code_, details::plain);
    unsafe { hooks::cuKernelGetFunction(pFunc, kernel, code_) };
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuKernelGetLibrary(pLib: *mut CUlibrary, kernel: CUkernel) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUlibrary, CUkernel) -> CUresult =
        unsafe { transmute(target::target(252)) };

    let call_ = begin(252);
    let code_ = unsafe { target_(pLib, kernel) };
    end(call_, 252, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuKernelGetName(name: *mut *const c_char, hfunc: CUkernel) -> CUresult {
    let target_: unsafe extern "C" fn(*mut *const c_char, CUkernel) -> CUresult =
        unsafe { transmute(target::target(253)) };

    let call_ = begin(253);
    let code_ = unsafe { target_(name, hfunc) };
    end(call_, 253, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuKernelGetParamCount(
    kernel: CUkernel,
    paramCount: *mut usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUkernel, *mut usize) -> CUresult =
        unsafe { transmute(target::target(254)) };

    let call_ = begin(254);
    let code_ = unsafe { target_(kernel, paramCount) };
    end(call_, 254, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuKernelGetParamInfo(
    kernel: CUkernel,
    paramIndex: usize,
    paramOffset: *mut usize,
    paramSize: *mut usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUkernel, usize, *mut usize, *mut usize) -> CUresult =
        unsafe { transmute(target::target(255)) };

    let call_ = begin(255);
    let code_ = unsafe { target_(kernel, paramIndex, paramOffset, paramSize) };
    end(call_, 255, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuKernelSetAttribute(
    attrib: CUfunction_attribute,
    val: c_int,
    kernel: CUkernel,
    dev: CUdevice,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUfunction_attribute, c_int, CUkernel, CUdevice) -> CUresult =
        unsafe { transmute(target::target(256)) };

    let call_ = begin(256);
    let code_ = unsafe { target_(attrib, val, kernel, dev) };
    end(call_, 256, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuKernelSetCacheConfig(
    kernel: CUkernel,
    config: CUfunc_cache,
    dev: CUdevice,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUkernel, CUfunc_cache, CUdevice) -> CUresult =
        unsafe { transmute(target::target(257)) };

    let call_ = begin(257);
    let code_ = unsafe { target_(kernel, config, dev) };
    end(call_, 257, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunch(f: CUfunction) -> CUresult {
    let target_: unsafe extern "C" fn(CUfunction) -> CUresult =
        unsafe { transmute(target::target(258)) };

    let call_ = begin(258);
    let code_ = unsafe { target_(f) };
    end(call_, 258, code_, details::plain);
    code_
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
    let target_: unsafe extern "C" fn(
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
    ) -> CUresult = unsafe { transmute(target::target(259)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 1));
    let call_ = begin(259);
    let code_ = unsafe {
        target_(
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
    };
    end_work(work_, call_, 259, code_, || {
        details::launch(
            f as u64,
            hStream as u64,
            [gridDimX, gridDimY, gridDimZ],
            [blockDimX, blockDimY, blockDimZ],
            sharedMemBytes,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchCooperativeKernelMultiDevice(
    launchParamsList: *mut CUDA_LAUNCH_PARAMS,
    numDevices: c_uint,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUDA_LAUNCH_PARAMS, c_uint, c_uint) -> CUresult =
        unsafe { transmute(target::target(260)) };

    let call_ = begin(260);
    let code_ = unsafe { target_(launchParamsList, numDevices, flags) };
    end(call_, 260, code_, details::plain);
    code_
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
    let target_: unsafe extern "C" fn(
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
    ) -> CUresult = unsafe { transmute(target::target(261)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 2));
    let call_ = begin(261);
    let code_ = unsafe {
        target_(
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
    };
    end_work(work_, call_, 261, code_, || {
        details::launch(
            f as u64,
            hStream as u64,
            [gridDimX, gridDimY, gridDimZ],
            [blockDimX, blockDimY, blockDimZ],
            sharedMemBytes,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchGrid(
    f: CUfunction,
    grid_width: c_int,
    grid_height: c_int,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUfunction, c_int, c_int) -> CUresult =
        unsafe { transmute(target::target(262)) };

    let call_ = begin(262);
    let code_ = unsafe { target_(f, grid_width, grid_height) };
    end(call_, 262, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchGridAsync(
    f: CUfunction,
    grid_width: c_int,
    grid_height: c_int,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUfunction, c_int, c_int, CUstream) -> CUresult =
        unsafe { transmute(target::target(263)) };

    let call_ = begin(263);
    let code_ = unsafe { target_(f, grid_width, grid_height, hStream) };
    end(call_, 263, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchGridAsync_ptsz(
    f: CUfunction,
    grid_width: c_int,
    grid_height: c_int,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUfunction, c_int, c_int, CUstream) -> CUresult =
        unsafe { transmute(target::target(264)) };

    let call_ = begin(264);
    let code_ = unsafe { target_(f, grid_width, grid_height, hStream) };
    end(call_, 264, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchHostFunc(
    hStream: CUstream,
    fn_: CUhostFn,
    userData: *mut c_void,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUhostFn, *mut c_void) -> CUresult =
        unsafe { transmute(target::target(265)) };

    let call_ = begin(265);
    let code_ = unsafe { target_(hStream, fn_, userData) };
    end(call_, 265, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchHostFunc_ptsz(
    hStream: CUstream,
    fn_: CUhostFn,
    userData: *mut c_void,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUhostFn, *mut c_void) -> CUresult =
        unsafe { transmute(target::target(266)) };

    let call_ = begin(266);
    let code_ = unsafe { target_(hStream, fn_, userData) };
    end(call_, 266, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchHostFunc_v2(
    hStream: CUstream,
    fn_: CUhostFn,
    userData: *mut c_void,
    syncMode: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUhostFn, *mut c_void, c_uint) -> CUresult =
        unsafe { transmute(target::target(267)) };

    let call_ = begin(267);
    let code_ = unsafe { target_(hStream, fn_, userData, syncMode) };
    end(call_, 267, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchHostFunc_v2_ptsz(
    hStream: CUstream,
    fn_: CUhostFn,
    userData: *mut c_void,
    syncMode: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUhostFn, *mut c_void, c_uint) -> CUresult =
        unsafe { transmute(target::target(268)) };

    let call_ = begin(268);
    let code_ = unsafe { target_(hStream, fn_, userData, syncMode) };
    end(call_, 268, code_, || details::stream(hStream as u64));
    code_
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
    let target_: unsafe extern "C" fn(
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
    ) -> CUresult = unsafe { transmute(target::target(269)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 1));
    let call_ = begin(269);
    let code_ = unsafe {
        target_(
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
    };
    end_work(work_, call_, 269, code_, || {
        details::launch(
            f as u64,
            hStream as u64,
            [gridDimX, gridDimY, gridDimZ],
            [blockDimX, blockDimY, blockDimZ],
            sharedMemBytes,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernelEx(
    config: *const CUlaunchConfig,
    f: CUfunction,
    kernelParams: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *const CUlaunchConfig,
        CUfunction,
        *mut *mut c_void,
        *mut *mut c_void,
    ) -> CUresult = unsafe { transmute(target::target(270)) };
    let work_ = gpu::begin(details::in_stream(
        unsafe { details::launch_stream(config) },
        1,
    ));
    let call_ = begin(270);
    let code_ = unsafe { target_(config, f, kernelParams, extra) };
    end_work(work_, call_, 270, code_, || unsafe {
        details::launch_ex(config, f as u64)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernelEx_ptsz(
    config: *const CUlaunchConfig,
    f: CUfunction,
    kernelParams: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *const CUlaunchConfig,
        CUfunction,
        *mut *mut c_void,
        *mut *mut c_void,
    ) -> CUresult = unsafe { transmute(target::target(271)) };
    let work_ = gpu::begin(details::in_stream(
        unsafe { details::launch_stream(config) },
        2,
    ));
    let call_ = begin(271);
    let code_ = unsafe { target_(config, f, kernelParams, extra) };
    end_work(work_, call_, 271, code_, || unsafe {
        details::launch_ex(config, f as u64)
    });
    code_
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
    let target_: unsafe extern "C" fn(
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
    ) -> CUresult = unsafe { transmute(target::target(272)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 2));
    let call_ = begin(272);
    let code_ = unsafe {
        target_(
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
    };
    end_work(work_, call_, 272, code_, || {
        details::launch(
            f as u64,
            hStream as u64,
            [gridDimX, gridDimY, gridDimZ],
            [blockDimX, blockDimY, blockDimZ],
            sharedMemBytes,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryEnumerateKernels(
    kernels: *mut CUkernel,
    numKernels: c_uint,
    lib: CUlibrary,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUkernel, c_uint, CUlibrary) -> CUresult =
        unsafe { transmute(target::target(273)) };

    let call_ = begin(273);
    let code_ = unsafe { target_(kernels, numKernels, lib) };
    end(call_, 273, code_, details::plain);
    unsafe { hooks::cuLibraryEnumerateKernels(kernels, numKernels, lib, code_) };
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryGetGlobal(
    dptr: *mut CUdeviceptr,
    bytes: *mut usize,
    library: CUlibrary,
    name: *const c_char,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUdeviceptr,
        *mut usize,
        CUlibrary,
        *const c_char,
    ) -> CUresult = unsafe { transmute(target::target(274)) };

    let call_ = begin(274);
    let code_ = unsafe { target_(dptr, bytes, library, name) };
    end(call_, 274, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryGetKernel(
    pKernel: *mut CUkernel,
    library: CUlibrary,
    name: *const c_char,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUkernel, CUlibrary, *const c_char) -> CUresult =
        unsafe { transmute(target::target(275)) };

    let call_ = begin(275);
    let code_ = unsafe { target_(pKernel, library, name) };
    end(call_, 275, code_, details::plain);
    unsafe { hooks::cuLibraryGetKernel(pKernel, library, name, code_) };
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryGetKernelCount(count: *mut c_uint, lib: CUlibrary) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_uint, CUlibrary) -> CUresult =
        unsafe { transmute(target::target(276)) };

    let call_ = begin(276);
    let code_ = unsafe { target_(count, lib) };
    end(call_, 276, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryGetManaged(
    dptr: *mut CUdeviceptr,
    bytes: *mut usize,
    library: CUlibrary,
    name: *const c_char,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUdeviceptr,
        *mut usize,
        CUlibrary,
        *const c_char,
    ) -> CUresult = unsafe { transmute(target::target(277)) };

    let call_ = begin(277);
    let code_ = unsafe { target_(dptr, bytes, library, name) };
    end(call_, 277, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryGetModule(pMod: *mut CUmodule, library: CUlibrary) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUmodule, CUlibrary) -> CUresult =
        unsafe { transmute(target::target(278)) };

    let call_ = begin(278);
    let code_ = unsafe { target_(pMod, library) };
    end(call_, 278, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryGetUnifiedFunction(
    fptr: *mut *mut c_void,
    library: CUlibrary,
    symbol: *const c_char,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut *mut c_void, CUlibrary, *const c_char) -> CUresult =
        unsafe { transmute(target::target(279)) };

    let call_ = begin(279);
    let code_ = unsafe { target_(fptr, library, symbol) };
    end(call_, 279, code_, details::plain);
    code_
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
    let target_: unsafe extern "C" fn(
        *mut CUlibrary,
        *const c_void,
        *mut CUjit_option,
        *mut *mut c_void,
        c_uint,
        *mut CUlibraryOption,
        *mut *mut c_void,
        c_uint,
    ) -> CUresult = unsafe { transmute(target::target(280)) };

    let call_ = begin(280);
    let code_ = unsafe {
        target_(
            library,
            code,
            jitOptions,
            jitOptionsValues,
            numJitOptions,
            libraryOptions,
            libraryOptionValues,
            numLibraryOptions,
        )
    };
    end(call_, 280, code_, details::plain);
    code_
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
    let target_: unsafe extern "C" fn(
        *mut CUlibrary,
        *const c_char,
        *mut CUjit_option,
        *mut *mut c_void,
        c_uint,
        *mut CUlibraryOption,
        *mut *mut c_void,
        c_uint,
    ) -> CUresult = unsafe { transmute(target::target(281)) };

    let call_ = begin(281);
    let code_ = unsafe {
        target_(
            library,
            fileName,
            jitOptions,
            jitOptionsValues,
            numJitOptions,
            libraryOptions,
            libraryOptionValues,
            numLibraryOptions,
        )
    };
    end(call_, 281, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryUnload(library: CUlibrary) -> CUresult {
    let target_: unsafe extern "C" fn(CUlibrary) -> CUresult =
        unsafe { transmute(target::target(282)) };

    let call_ = begin(282);
    let code_ = unsafe { target_(library) };
    end(call_, 282, code_, details::plain);
    code_
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
    let target_: unsafe extern "C" fn(
        CUlinkState,
        CUjitInputType,
        *mut c_void,
        usize,
        *const c_char,
        c_uint,
        *mut CUjit_option,
        *mut *mut c_void,
    ) -> CUresult = unsafe { transmute(target::target(283)) };

    let call_ = begin(283);
    let code_ = unsafe {
        target_(
            state,
            type_,
            data,
            size,
            name,
            numOptions,
            options,
            optionValues,
        )
    };
    end(call_, 283, code_, details::plain);
    code_
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
    let target_: unsafe extern "C" fn(
        CUlinkState,
        CUjitInputType,
        *mut c_void,
        usize,
        *const c_char,
        c_uint,
        *mut CUjit_option,
        *mut *mut c_void,
    ) -> CUresult = unsafe { transmute(target::target(284)) };

    let call_ = begin(284);
    let code_ = unsafe {
        target_(
            state,
            type_,
            data,
            size,
            name,
            numOptions,
            options,
            optionValues,
        )
    };
    end(call_, 284, code_, details::plain);
    code_
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
    let target_: unsafe extern "C" fn(
        CUlinkState,
        CUjitInputType,
        *const c_char,
        c_uint,
        *mut CUjit_option,
        *mut *mut c_void,
    ) -> CUresult = unsafe { transmute(target::target(285)) };

    let call_ = begin(285);
    let code_ = unsafe { target_(state, type_, path, numOptions, options, optionValues) };
    end(call_, 285, code_, details::plain);
    code_
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
    let target_: unsafe extern "C" fn(
        CUlinkState,
        CUjitInputType,
        *const c_char,
        c_uint,
        *mut CUjit_option,
        *mut *mut c_void,
    ) -> CUresult = unsafe { transmute(target::target(286)) };

    let call_ = begin(286);
    let code_ = unsafe { target_(state, type_, path, numOptions, options, optionValues) };
    end(call_, 286, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkComplete(
    state: CUlinkState,
    cubinOut: *mut *mut c_void,
    sizeOut: *mut usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUlinkState, *mut *mut c_void, *mut usize) -> CUresult =
        unsafe { transmute(target::target(287)) };

    let call_ = begin(287);
    let code_ = unsafe { target_(state, cubinOut, sizeOut) };
    end(call_, 287, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkCreate(
    numOptions: c_uint,
    options: *mut CUjit_option,
    optionValues: *mut *mut c_void,
    stateOut: *mut CUlinkState,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        c_uint,
        *mut CUjit_option,
        *mut *mut c_void,
        *mut CUlinkState,
    ) -> CUresult = unsafe { transmute(target::target(288)) };

    let call_ = begin(288);
    let code_ = unsafe { target_(numOptions, options, optionValues, stateOut) };
    end(call_, 288, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkCreate_v2(
    numOptions: c_uint,
    options: *mut CUjit_option,
    optionValues: *mut *mut c_void,
    stateOut: *mut CUlinkState,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        c_uint,
        *mut CUjit_option,
        *mut *mut c_void,
        *mut CUlinkState,
    ) -> CUresult = unsafe { transmute(target::target(289)) };

    let call_ = begin(289);
    let code_ = unsafe { target_(numOptions, options, optionValues, stateOut) };
    end(call_, 289, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkDestroy(state: CUlinkState) -> CUresult {
    let target_: unsafe extern "C" fn(CUlinkState) -> CUresult =
        unsafe { transmute(target::target(290)) };

    let call_ = begin(290);
    let code_ = unsafe { target_(state) };
    end(call_, 290, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogicalEndpointAddDevice(
    leId: CUlogicalEndpointId,
    dev: CUdevice,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUlogicalEndpointId, CUdevice) -> CUresult =
        unsafe { transmute(target::target(291)) };

    let call_ = begin(291);
    let code_ = unsafe { target_(leId, dev) };
    end(call_, 291, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogicalEndpointBindAddr(
    leId: CUlogicalEndpointId,
    dev: CUdevice,
    offset: cuuint64_t,
    ptr: *mut c_void,
    size: cuuint64_t,
    flags: c_ulonglong,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUlogicalEndpointId,
        CUdevice,
        cuuint64_t,
        *mut c_void,
        cuuint64_t,
        c_ulonglong,
    ) -> CUresult = unsafe { transmute(target::target(292)) };

    let call_ = begin(292);
    let code_ = unsafe { target_(leId, dev, offset, ptr, size, flags) };
    end(call_, 292, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogicalEndpointBindMem(
    leId: CUlogicalEndpointId,
    dev: CUdevice,
    offset: cuuint64_t,
    memHandle: CUmemGenericAllocationHandle,
    memOffset: cuuint64_t,
    size: cuuint64_t,
    flags: c_ulonglong,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUlogicalEndpointId,
        CUdevice,
        cuuint64_t,
        CUmemGenericAllocationHandle,
        cuuint64_t,
        cuuint64_t,
        c_ulonglong,
    ) -> CUresult = unsafe { transmute(target::target(293)) };

    let call_ = begin(293);
    let code_ = unsafe { target_(leId, dev, offset, memHandle, memOffset, size, flags) };
    end(call_, 293, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogicalEndpointCreate(
    leId: CUlogicalEndpointId,
    prop: *const CUlogicalEndpointProp,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUlogicalEndpointId,
        *const CUlogicalEndpointProp,
    ) -> CUresult = unsafe { transmute(target::target(294)) };

    let call_ = begin(294);
    let code_ = unsafe { target_(leId, prop) };
    end(call_, 294, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogicalEndpointDestroy(leId: CUlogicalEndpointId) -> CUresult {
    let target_: unsafe extern "C" fn(CUlogicalEndpointId) -> CUresult =
        unsafe { transmute(target::target(295)) };

    let call_ = begin(295);
    let code_ = unsafe { target_(leId) };
    end(call_, 295, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogicalEndpointExport(
    handle: *mut c_void,
    leId: CUlogicalEndpointId,
    handleType: CUlogicalEndpointIpcHandleType,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut c_void,
        CUlogicalEndpointId,
        CUlogicalEndpointIpcHandleType,
    ) -> CUresult = unsafe { transmute(target::target(296)) };

    let call_ = begin(296);
    let code_ = unsafe { target_(handle, leId, handleType) };
    end(call_, 296, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogicalEndpointGetLimits(
    bindAlignment: *mut cuuint64_t,
    maxSize: *mut cuuint64_t,
    prop: *const CUlogicalEndpointProp,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut cuuint64_t,
        *mut cuuint64_t,
        *const CUlogicalEndpointProp,
    ) -> CUresult = unsafe { transmute(target::target(297)) };

    let call_ = begin(297);
    let code_ = unsafe { target_(bindAlignment, maxSize, prop) };
    end(call_, 297, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogicalEndpointIdRelease(
    baseLeId: CUlogicalEndpointId,
    count: cuuint32_t,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUlogicalEndpointId, cuuint32_t) -> CUresult =
        unsafe { transmute(target::target(298)) };

    let call_ = begin(298);
    let code_ = unsafe { target_(baseLeId, count) };
    end(call_, 298, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogicalEndpointIdReserve(
    baseLeId: *mut CUlogicalEndpointId,
    count: cuuint32_t,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUlogicalEndpointId, cuuint32_t) -> CUresult =
        unsafe { transmute(target::target(299)) };

    let call_ = begin(299);
    let code_ = unsafe { target_(baseLeId, count) };
    end(call_, 299, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogicalEndpointImport(
    leId: CUlogicalEndpointId,
    handle: *const c_void,
    handleType: CUlogicalEndpointIpcHandleType,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUlogicalEndpointId,
        *const c_void,
        CUlogicalEndpointIpcHandleType,
    ) -> CUresult = unsafe { transmute(target::target(300)) };

    let call_ = begin(300);
    let code_ = unsafe { target_(leId, handle, handleType) };
    end(call_, 300, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogicalEndpointQuery(
    leId: CUlogicalEndpointId,
    count: cuuint32_t,
    queryStatus: *mut c_int,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUlogicalEndpointId, cuuint32_t, *mut c_int) -> CUresult =
        unsafe { transmute(target::target(301)) };

    let call_ = begin(301);
    let code_ = unsafe { target_(leId, count, queryStatus) };
    end(call_, 301, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogicalEndpointUnbind(
    leId: CUlogicalEndpointId,
    dev: CUdevice,
    offset: cuuint64_t,
    size: cuuint64_t,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUlogicalEndpointId,
        CUdevice,
        cuuint64_t,
        cuuint64_t,
    ) -> CUresult = unsafe { transmute(target::target(302)) };

    let call_ = begin(302);
    let code_ = unsafe { target_(leId, dev, offset, size) };
    end(call_, 302, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogsCurrent(
    iterator_out: *mut CUlogIterator,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUlogIterator, c_uint) -> CUresult =
        unsafe { transmute(target::target(303)) };

    let call_ = begin(303);
    let code_ = unsafe { target_(iterator_out, flags) };
    end(call_, 303, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogsDumpToFile(
    iterator: *mut CUlogIterator,
    pathToFile: *const c_char,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUlogIterator, *const c_char, c_uint) -> CUresult =
        unsafe { transmute(target::target(304)) };

    let call_ = begin(304);
    let code_ = unsafe { target_(iterator, pathToFile, flags) };
    end(call_, 304, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogsDumpToMemory(
    iterator: *mut CUlogIterator,
    buffer: *mut c_char,
    size: *mut usize,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUlogIterator,
        *mut c_char,
        *mut usize,
        c_uint,
    ) -> CUresult = unsafe { transmute(target::target(305)) };

    let call_ = begin(305);
    let code_ = unsafe { target_(iterator, buffer, size, flags) };
    end(call_, 305, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogsRegisterCallback(
    callbackFunc: CUlogsCallback,
    userData: *mut c_void,
    callback_out: *mut CUlogsCallbackHandle,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUlogsCallback,
        *mut c_void,
        *mut CUlogsCallbackHandle,
    ) -> CUresult = unsafe { transmute(target::target(306)) };

    let call_ = begin(306);
    let code_ = unsafe { target_(callbackFunc, userData, callback_out) };
    end(call_, 306, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLogsUnregisterCallback(callback: CUlogsCallbackHandle) -> CUresult {
    let target_: unsafe extern "C" fn(CUlogsCallbackHandle) -> CUresult =
        unsafe { transmute(target::target(307)) };

    let call_ = begin(307);
    let code_ = unsafe { target_(callback) };
    end(call_, 307, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAddressFree(ptr: CUdeviceptr, size: usize) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, usize) -> CUresult =
        unsafe { transmute(target::target(308)) };

    let call_ = begin(308);
    let code_ = unsafe { target_(ptr, size) };
    end(call_, 308, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAddressReserve(
    ptr: *mut CUdeviceptr,
    size: usize,
    alignment: usize,
    addr: CUdeviceptr,
    flags: c_ulonglong,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUdeviceptr,
        usize,
        usize,
        CUdeviceptr,
        c_ulonglong,
    ) -> CUresult = unsafe { transmute(target::target(309)) };

    let call_ = begin(309);
    let code_ = unsafe { target_(ptr, size, alignment, addr, flags) };
    end(call_, 309, code_, || {
        details::allocation(size as u64, details::none(), unsafe {
            details::given(ptr.cast(), code_)
        })
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAdvise(
    devPtr: CUdeviceptr,
    count: usize,
    advice: CUmem_advise,
    device: CUdevice,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, usize, CUmem_advise, CUdevice) -> CUresult =
        unsafe { transmute(target::target(310)) };

    let call_ = begin(310);
    let code_ = unsafe { target_(devPtr, count, advice, device) };
    end(call_, 310, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAdvise_v2(
    devPtr: CUdeviceptr,
    count: usize,
    advice: CUmem_advise,
    location: CUmemLocation,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, usize, CUmem_advise, CUmemLocation) -> CUresult =
        unsafe { transmute(target::target(311)) };

    let call_ = begin(311);
    let code_ = unsafe { target_(devPtr, count, advice, location) };
    end(call_, 311, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocAsync(
    dptr: *mut CUdeviceptr,
    bytesize: usize,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUdeviceptr, usize, CUstream) -> CUresult =
        unsafe { transmute(target::target(312)) };

    let call_ = begin(312);
    let code_ = unsafe { target_(dptr, bytesize, hStream) };
    end(call_, 312, code_, || {
        details::allocation(bytesize as u64, hStream as u64, unsafe {
            details::given(dptr.cast(), code_)
        })
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocAsync_ptsz(
    dptr: *mut CUdeviceptr,
    bytesize: usize,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUdeviceptr, usize, CUstream) -> CUresult =
        unsafe { transmute(target::target(313)) };

    let call_ = begin(313);
    let code_ = unsafe { target_(dptr, bytesize, hStream) };
    end(call_, 313, code_, || {
        details::allocation(bytesize as u64, hStream as u64, unsafe {
            details::given(dptr.cast(), code_)
        })
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocFromPoolAsync(
    dptr: *mut CUdeviceptr,
    bytesize: usize,
    pool: CUmemoryPool,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUdeviceptr, usize, CUmemoryPool, CUstream) -> CUresult =
        unsafe { transmute(target::target(314)) };

    let call_ = begin(314);
    let code_ = unsafe { target_(dptr, bytesize, pool, hStream) };
    end(call_, 314, code_, || {
        details::allocation(bytesize as u64, hStream as u64, unsafe {
            details::given(dptr.cast(), code_)
        })
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocFromPoolAsync_ptsz(
    dptr: *mut CUdeviceptr,
    bytesize: usize,
    pool: CUmemoryPool,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUdeviceptr, usize, CUmemoryPool, CUstream) -> CUresult =
        unsafe { transmute(target::target(315)) };

    let call_ = begin(315);
    let code_ = unsafe { target_(dptr, bytesize, pool, hStream) };
    end(call_, 315, code_, || {
        details::allocation(bytesize as u64, hStream as u64, unsafe {
            details::given(dptr.cast(), code_)
        })
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocHost_v2(pp: *mut *mut c_void, bytesize: usize) -> CUresult {
    let target_: unsafe extern "C" fn(*mut *mut c_void, usize) -> CUresult =
        unsafe { transmute(target::target(316)) };

    let call_ = begin(316);
    let code_ = unsafe { target_(pp, bytesize) };
    end(call_, 316, code_, || {
        details::allocation(bytesize as u64, details::none(), unsafe {
            details::given(pp.cast(), code_)
        })
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocManaged(
    dptr: *mut CUdeviceptr,
    bytesize: usize,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUdeviceptr, usize, c_uint) -> CUresult =
        unsafe { transmute(target::target(317)) };

    let call_ = begin(317);
    let code_ = unsafe { target_(dptr, bytesize, flags) };
    end(call_, 317, code_, || {
        details::allocation(bytesize as u64, details::none(), unsafe {
            details::given(dptr.cast(), code_)
        })
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocPitch_v2(
    dptr: *mut CUdeviceptr,
    pPitch: *mut usize,
    WidthInBytes: usize,
    Height: usize,
    ElementSizeBytes: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUdeviceptr,
        *mut usize,
        usize,
        usize,
        c_uint,
    ) -> CUresult = unsafe { transmute(target::target(318)) };

    let call_ = begin(318);
    let code_ = unsafe { target_(dptr, pPitch, WidthInBytes, Height, ElementSizeBytes) };
    end(call_, 318, code_, || {
        details::allocation(
            (WidthInBytes as u64).wrapping_mul(Height as u64),
            details::none(),
            unsafe { details::given(dptr.cast(), code_) },
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAlloc_v2(dptr: *mut CUdeviceptr, bytesize: usize) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUdeviceptr, usize) -> CUresult =
        unsafe { transmute(target::target(319)) };

    let call_ = begin(319);
    let code_ = unsafe { target_(dptr, bytesize) };
    end(call_, 319, code_, || {
        details::allocation(bytesize as u64, details::none(), unsafe {
            details::given(dptr.cast(), code_)
        })
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemBatchDecompressAsync(
    paramsArray: *mut CUmemDecompressParams,
    count: usize,
    flags: c_uint,
    errorIndex: *mut usize,
    stream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUmemDecompressParams,
        usize,
        c_uint,
        *mut usize,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(320)) };

    let call_ = begin(320);
    let code_ = unsafe { target_(paramsArray, count, flags, errorIndex, stream) };
    end(call_, 320, code_, || details::stream(stream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemBatchDecompressAsync_ptsz(
    paramsArray: *mut CUmemDecompressParams,
    count: usize,
    flags: c_uint,
    errorIndex: *mut usize,
    stream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUmemDecompressParams,
        usize,
        c_uint,
        *mut usize,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(321)) };

    let call_ = begin(321);
    let code_ = unsafe { target_(paramsArray, count, flags, errorIndex, stream) };
    end(call_, 321, code_, || details::stream(stream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemCreate(
    handle: *mut CUmemGenericAllocationHandle,
    size: usize,
    prop: *const CUmemAllocationProp,
    flags: c_ulonglong,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUmemGenericAllocationHandle,
        usize,
        *const CUmemAllocationProp,
        c_ulonglong,
    ) -> CUresult = unsafe { transmute(target::target(322)) };

    let call_ = begin(322);
    let code_ = unsafe { target_(handle, size, prop, flags) };
    end(call_, 322, code_, || {
        details::allocation(size as u64, details::none(), unsafe {
            details::given(handle.cast(), code_)
        })
    });
    code_
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
    let target_: unsafe extern "C" fn(
        *mut CUdeviceptr,
        *mut usize,
        usize,
        *mut CUmemLocation,
        *mut usize,
        usize,
        c_ulonglong,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(323)) };

    let call_ = begin(323);
    let code_ = unsafe {
        target_(
            dptrs,
            sizes,
            count,
            prefetchLocs,
            prefetchLocIdxs,
            numPrefetchLocs,
            flags,
            hStream,
        )
    };
    end(call_, 323, code_, || details::stream(hStream as u64));
    code_
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
    let target_: unsafe extern "C" fn(
        *mut CUdeviceptr,
        *mut usize,
        usize,
        *mut CUmemLocation,
        *mut usize,
        usize,
        c_ulonglong,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(324)) };

    let call_ = begin(324);
    let code_ = unsafe {
        target_(
            dptrs,
            sizes,
            count,
            prefetchLocs,
            prefetchLocIdxs,
            numPrefetchLocs,
            flags,
            hStream,
        )
    };
    end(call_, 324, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemDiscardBatchAsync(
    dptrs: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    flags: c_ulonglong,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUdeviceptr,
        *mut usize,
        usize,
        c_ulonglong,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(325)) };

    let call_ = begin(325);
    let code_ = unsafe { target_(dptrs, sizes, count, flags, hStream) };
    end(call_, 325, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemDiscardBatchAsync_ptsz(
    dptrs: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    flags: c_ulonglong,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUdeviceptr,
        *mut usize,
        usize,
        c_ulonglong,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(326)) };

    let call_ = begin(326);
    let code_ = unsafe { target_(dptrs, sizes, count, flags, hStream) };
    end(call_, 326, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemExportToShareableHandle(
    shareableHandle: *mut c_void,
    handle: CUmemGenericAllocationHandle,
    handleType: CUmemAllocationHandleType,
    flags: c_ulonglong,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut c_void,
        CUmemGenericAllocationHandle,
        CUmemAllocationHandleType,
        c_ulonglong,
    ) -> CUresult = unsafe { transmute(target::target(327)) };

    let call_ = begin(327);
    let code_ = unsafe { target_(shareableHandle, handle, handleType, flags) };
    end(call_, 327, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemFreeAsync(dptr: CUdeviceptr, hStream: CUstream) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, CUstream) -> CUresult =
        unsafe { transmute(target::target(328)) };

    let call_ = begin(328);
    let code_ = unsafe { target_(dptr, hStream) };
    end(call_, 328, code_, || {
        details::free(hStream as u64, dptr as u64)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemFreeAsync_ptsz(dptr: CUdeviceptr, hStream: CUstream) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, CUstream) -> CUresult =
        unsafe { transmute(target::target(329)) };

    let call_ = begin(329);
    let code_ = unsafe { target_(dptr, hStream) };
    end(call_, 329, code_, || {
        details::free(hStream as u64, dptr as u64)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemFreeHost(p: *mut c_void) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_void) -> CUresult =
        unsafe { transmute(target::target(330)) };

    let call_ = begin(330);
    let code_ = unsafe { target_(p) };
    end(call_, 330, code_, || {
        details::free(details::none(), p as u64)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemFree_v2(dptr: CUdeviceptr) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr) -> CUresult =
        unsafe { transmute(target::target(331)) };

    let call_ = begin(331);
    let code_ = unsafe { target_(dptr) };
    end(call_, 331, code_, || {
        details::free(details::none(), dptr as u64)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetAccess(
    flags: *mut c_ulonglong,
    location: *const CUmemLocation,
    ptr: CUdeviceptr,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut c_ulonglong,
        *const CUmemLocation,
        CUdeviceptr,
    ) -> CUresult = unsafe { transmute(target::target(332)) };

    let call_ = begin(332);
    let code_ = unsafe { target_(flags, location, ptr) };
    end(call_, 332, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetAddressRange_v2(
    pbase: *mut CUdeviceptr,
    psize: *mut usize,
    dptr: CUdeviceptr,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUdeviceptr, *mut usize, CUdeviceptr) -> CUresult =
        unsafe { transmute(target::target(333)) };

    let call_ = begin(333);
    let code_ = unsafe { target_(pbase, psize, dptr) };
    end(call_, 333, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetAllocationGranularity(
    granularity: *mut usize,
    prop: *const CUmemAllocationProp,
    option: CUmemAllocationGranularity_flags,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut usize,
        *const CUmemAllocationProp,
        CUmemAllocationGranularity_flags,
    ) -> CUresult = unsafe { transmute(target::target(334)) };

    let call_ = begin(334);
    let code_ = unsafe { target_(granularity, prop, option) };
    end(call_, 334, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetAllocationPropertiesFromHandle(
    prop: *mut CUmemAllocationProp,
    handle: CUmemGenericAllocationHandle,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUmemAllocationProp,
        CUmemGenericAllocationHandle,
    ) -> CUresult = unsafe { transmute(target::target(335)) };

    let call_ = begin(335);
    let code_ = unsafe { target_(prop, handle) };
    end(call_, 335, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetDefaultMemPool(
    pool_out: *mut CUmemoryPool,
    location: *mut CUmemLocation,
    type_: CUmemAllocationType,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUmemoryPool,
        *mut CUmemLocation,
        CUmemAllocationType,
    ) -> CUresult = unsafe { transmute(target::target(336)) };

    let call_ = begin(336);
    let code_ = unsafe { target_(pool_out, location, type_) };
    end(call_, 336, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetHandleForAddressRange(
    handle: *mut c_void,
    dptr: CUdeviceptr,
    size: usize,
    handleType: CUmemRangeHandleType,
    flags: c_ulonglong,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut c_void,
        CUdeviceptr,
        usize,
        CUmemRangeHandleType,
        c_ulonglong,
    ) -> CUresult = unsafe { transmute(target::target(337)) };

    let call_ = begin(337);
    let code_ = unsafe { target_(handle, dptr, size, handleType, flags) };
    end(call_, 337, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> CUresult {
    let target_: unsafe extern "C" fn(*mut usize, *mut usize) -> CUresult =
        unsafe { transmute(target::target(338)) };

    let call_ = begin(338);
    let code_ = unsafe { target_(free, total) };
    end(call_, 338, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetLocationInfo(
    ptr: CUdeviceptr,
    size: usize,
    summaryGranularity: usize,
    samplingGranularity: usize,
    location_out: *mut CUmemLocation,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUdeviceptr,
        usize,
        usize,
        usize,
        *mut CUmemLocation,
    ) -> CUresult = unsafe { transmute(target::target(339)) };

    let call_ = begin(339);
    let code_ = unsafe {
        target_(
            ptr,
            size,
            summaryGranularity,
            samplingGranularity,
            location_out,
        )
    };
    end(call_, 339, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetMemPool(
    pool: *mut CUmemoryPool,
    location: *mut CUmemLocation,
    type_: CUmemAllocationType,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUmemoryPool,
        *mut CUmemLocation,
        CUmemAllocationType,
    ) -> CUresult = unsafe { transmute(target::target(340)) };

    let call_ = begin(340);
    let code_ = unsafe { target_(pool, location, type_) };
    end(call_, 340, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostAlloc(
    pp: *mut *mut c_void,
    bytesize: usize,
    Flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut *mut c_void, usize, c_uint) -> CUresult =
        unsafe { transmute(target::target(341)) };

    let call_ = begin(341);
    let code_ = unsafe { target_(pp, bytesize, Flags) };
    end(call_, 341, code_, || {
        details::allocation(bytesize as u64, details::none(), unsafe {
            details::given(pp.cast(), code_)
        })
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostGetDevicePointer_v2(
    pdptr: *mut CUdeviceptr,
    p: *mut c_void,
    Flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUdeviceptr, *mut c_void, c_uint) -> CUresult =
        unsafe { transmute(target::target(342)) };

    let call_ = begin(342);
    let code_ = unsafe { target_(pdptr, p, Flags) };
    end(call_, 342, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostGetFlags(pFlags: *mut c_uint, p: *mut c_void) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_uint, *mut c_void) -> CUresult =
        unsafe { transmute(target::target(343)) };

    let call_ = begin(343);
    let code_ = unsafe { target_(pFlags, p) };
    end(call_, 343, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostRegister(
    p: *mut c_void,
    bytesize: usize,
    Flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_void, usize, c_uint) -> CUresult =
        unsafe { transmute(target::target(344)) };

    let call_ = begin(344);
    let code_ = unsafe { target_(p, bytesize, Flags) };
    end(call_, 344, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostRegister_v2(
    p: *mut c_void,
    bytesize: usize,
    Flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_void, usize, c_uint) -> CUresult =
        unsafe { transmute(target::target(345)) };

    let call_ = begin(345);
    let code_ = unsafe { target_(p, bytesize, Flags) };
    end(call_, 345, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostUnregister(p: *mut c_void) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_void) -> CUresult =
        unsafe { transmute(target::target(346)) };

    let call_ = begin(346);
    let code_ = unsafe { target_(p) };
    end(call_, 346, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemImportFromShareableHandle(
    handle: *mut CUmemGenericAllocationHandle,
    osHandle: *mut c_void,
    shHandleType: CUmemAllocationHandleType,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUmemGenericAllocationHandle,
        *mut c_void,
        CUmemAllocationHandleType,
    ) -> CUresult = unsafe { transmute(target::target(347)) };

    let call_ = begin(347);
    let code_ = unsafe { target_(handle, osHandle, shHandleType) };
    end(call_, 347, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemMap(
    ptr: CUdeviceptr,
    size: usize,
    offset: usize,
    handle: CUmemGenericAllocationHandle,
    flags: c_ulonglong,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUdeviceptr,
        usize,
        usize,
        CUmemGenericAllocationHandle,
        c_ulonglong,
    ) -> CUresult = unsafe { transmute(target::target(348)) };

    let call_ = begin(348);
    let code_ = unsafe { target_(ptr, size, offset, handle, flags) };
    end(call_, 348, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemMapArrayAsync(
    mapInfoList: *mut CUarrayMapInfo,
    count: c_uint,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUarrayMapInfo, c_uint, CUstream) -> CUresult =
        unsafe { transmute(target::target(349)) };

    let call_ = begin(349);
    let code_ = unsafe { target_(mapInfoList, count, hStream) };
    end(call_, 349, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemMapArrayAsync_ptsz(
    mapInfoList: *mut CUarrayMapInfo,
    count: c_uint,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUarrayMapInfo, c_uint, CUstream) -> CUresult =
        unsafe { transmute(target::target(350)) };

    let call_ = begin(350);
    let code_ = unsafe { target_(mapInfoList, count, hStream) };
    end(call_, 350, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolCreate(
    pool: *mut CUmemoryPool,
    poolProps: *const CUmemPoolProps,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUmemoryPool, *const CUmemPoolProps) -> CUresult =
        unsafe { transmute(target::target(351)) };

    let call_ = begin(351);
    let code_ = unsafe { target_(pool, poolProps) };
    end(call_, 351, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolDestroy(pool: CUmemoryPool) -> CUresult {
    let target_: unsafe extern "C" fn(CUmemoryPool) -> CUresult =
        unsafe { transmute(target::target(352)) };

    let call_ = begin(352);
    let code_ = unsafe { target_(pool) };
    end(call_, 352, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolExportPointer(
    shareData_out: *mut CUmemPoolPtrExportData,
    ptr: CUdeviceptr,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUmemPoolPtrExportData, CUdeviceptr) -> CUresult =
        unsafe { transmute(target::target(353)) };

    let call_ = begin(353);
    let code_ = unsafe { target_(shareData_out, ptr) };
    end(call_, 353, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolExportToShareableHandle(
    handle_out: *mut c_void,
    pool: CUmemoryPool,
    handleType: CUmemAllocationHandleType,
    flags: c_ulonglong,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut c_void,
        CUmemoryPool,
        CUmemAllocationHandleType,
        c_ulonglong,
    ) -> CUresult = unsafe { transmute(target::target(354)) };

    let call_ = begin(354);
    let code_ = unsafe { target_(handle_out, pool, handleType, flags) };
    end(call_, 354, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolGetAccess(
    flags: *mut CUmemAccess_flags,
    memPool: CUmemoryPool,
    location: *mut CUmemLocation,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUmemAccess_flags,
        CUmemoryPool,
        *mut CUmemLocation,
    ) -> CUresult = unsafe { transmute(target::target(355)) };

    let call_ = begin(355);
    let code_ = unsafe { target_(flags, memPool, location) };
    end(call_, 355, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolGetAttribute(
    pool: CUmemoryPool,
    attr: CUmemPool_attribute,
    value: *mut c_void,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUmemoryPool, CUmemPool_attribute, *mut c_void) -> CUresult =
        unsafe { transmute(target::target(356)) };

    let call_ = begin(356);
    let code_ = unsafe { target_(pool, attr, value) };
    end(call_, 356, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolImportFromShareableHandle(
    pool_out: *mut CUmemoryPool,
    handle: *mut c_void,
    handleType: CUmemAllocationHandleType,
    flags: c_ulonglong,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUmemoryPool,
        *mut c_void,
        CUmemAllocationHandleType,
        c_ulonglong,
    ) -> CUresult = unsafe { transmute(target::target(357)) };

    let call_ = begin(357);
    let code_ = unsafe { target_(pool_out, handle, handleType, flags) };
    end(call_, 357, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolImportPointer(
    ptr_out: *mut CUdeviceptr,
    pool: CUmemoryPool,
    shareData: *mut CUmemPoolPtrExportData,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUdeviceptr,
        CUmemoryPool,
        *mut CUmemPoolPtrExportData,
    ) -> CUresult = unsafe { transmute(target::target(358)) };

    let call_ = begin(358);
    let code_ = unsafe { target_(ptr_out, pool, shareData) };
    end(call_, 358, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolSetAccess(
    pool: CUmemoryPool,
    map: *const CUmemAccessDesc,
    count: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUmemoryPool, *const CUmemAccessDesc, usize) -> CUresult =
        unsafe { transmute(target::target(359)) };

    let call_ = begin(359);
    let code_ = unsafe { target_(pool, map, count) };
    end(call_, 359, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolSetAttribute(
    pool: CUmemoryPool,
    attr: CUmemPool_attribute,
    value: *mut c_void,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUmemoryPool, CUmemPool_attribute, *mut c_void) -> CUresult =
        unsafe { transmute(target::target(360)) };

    let call_ = begin(360);
    let code_ = unsafe { target_(pool, attr, value) };
    end(call_, 360, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolTrimTo(pool: CUmemoryPool, minBytesToKeep: usize) -> CUresult {
    let target_: unsafe extern "C" fn(CUmemoryPool, usize) -> CUresult =
        unsafe { transmute(target::target(361)) };

    let call_ = begin(361);
    let code_ = unsafe { target_(pool, minBytesToKeep) };
    end(call_, 361, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPrefetchAsync(
    devPtr: CUdeviceptr,
    count: usize,
    dstDevice: CUdevice,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, usize, CUdevice, CUstream) -> CUresult =
        unsafe { transmute(target::target(362)) };

    let call_ = begin(362);
    let code_ = unsafe { target_(devPtr, count, dstDevice, hStream) };
    end(call_, 362, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPrefetchAsync_ptsz(
    devPtr: CUdeviceptr,
    count: usize,
    dstDevice: CUdevice,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, usize, CUdevice, CUstream) -> CUresult =
        unsafe { transmute(target::target(363)) };

    let call_ = begin(363);
    let code_ = unsafe { target_(devPtr, count, dstDevice, hStream) };
    end(call_, 363, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPrefetchAsync_v2(
    devPtr: CUdeviceptr,
    count: usize,
    location: CUmemLocation,
    flags: c_uint,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUdeviceptr,
        usize,
        CUmemLocation,
        c_uint,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(364)) };

    let call_ = begin(364);
    let code_ = unsafe { target_(devPtr, count, location, flags, hStream) };
    end(call_, 364, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPrefetchAsync_v2_ptsz(
    devPtr: CUdeviceptr,
    count: usize,
    location: CUmemLocation,
    flags: c_uint,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUdeviceptr,
        usize,
        CUmemLocation,
        c_uint,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(365)) };

    let call_ = begin(365);
    let code_ = unsafe { target_(devPtr, count, location, flags, hStream) };
    end(call_, 365, code_, || details::stream(hStream as u64));
    code_
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
    let target_: unsafe extern "C" fn(
        *mut CUdeviceptr,
        *mut usize,
        usize,
        *mut CUmemLocation,
        *mut usize,
        usize,
        c_ulonglong,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(366)) };

    let call_ = begin(366);
    let code_ = unsafe {
        target_(
            dptrs,
            sizes,
            count,
            prefetchLocs,
            prefetchLocIdxs,
            numPrefetchLocs,
            flags,
            hStream,
        )
    };
    end(call_, 366, code_, || details::stream(hStream as u64));
    code_
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
    let target_: unsafe extern "C" fn(
        *mut CUdeviceptr,
        *mut usize,
        usize,
        *mut CUmemLocation,
        *mut usize,
        usize,
        c_ulonglong,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(367)) };

    let call_ = begin(367);
    let code_ = unsafe {
        target_(
            dptrs,
            sizes,
            count,
            prefetchLocs,
            prefetchLocIdxs,
            numPrefetchLocs,
            flags,
            hStream,
        )
    };
    end(call_, 367, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemRangeGetAttribute(
    data: *mut c_void,
    dataSize: usize,
    attribute: CUmem_range_attribute,
    devPtr: CUdeviceptr,
    count: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut c_void,
        usize,
        CUmem_range_attribute,
        CUdeviceptr,
        usize,
    ) -> CUresult = unsafe { transmute(target::target(368)) };

    let call_ = begin(368);
    let code_ = unsafe { target_(data, dataSize, attribute, devPtr, count) };
    end(call_, 368, code_, details::plain);
    code_
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
    let target_: unsafe extern "C" fn(
        *mut *mut c_void,
        *mut usize,
        *mut CUmem_range_attribute,
        usize,
        CUdeviceptr,
        usize,
    ) -> CUresult = unsafe { transmute(target::target(369)) };

    let call_ = begin(369);
    let code_ = unsafe { target_(data, dataSizes, attributes, numAttributes, devPtr, count) };
    end(call_, 369, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemRelease(handle: CUmemGenericAllocationHandle) -> CUresult {
    let target_: unsafe extern "C" fn(CUmemGenericAllocationHandle) -> CUresult =
        unsafe { transmute(target::target(370)) };

    let call_ = begin(370);
    let code_ = unsafe { target_(handle) };
    end(call_, 370, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemRetainAllocationHandle(
    handle: *mut CUmemGenericAllocationHandle,
    addr: *mut c_void,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUmemGenericAllocationHandle, *mut c_void) -> CUresult =
        unsafe { transmute(target::target(371)) };

    let call_ = begin(371);
    let code_ = unsafe { target_(handle, addr) };
    end(call_, 371, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemSetAccess(
    ptr: CUdeviceptr,
    size: usize,
    desc: *const CUmemAccessDesc,
    count: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUdeviceptr,
        usize,
        *const CUmemAccessDesc,
        usize,
    ) -> CUresult = unsafe { transmute(target::target(372)) };

    let call_ = begin(372);
    let code_ = unsafe { target_(ptr, size, desc, count) };
    end(call_, 372, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemSetMemPool(
    location: *mut CUmemLocation,
    type_: CUmemAllocationType,
    pool: CUmemoryPool,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUmemLocation,
        CUmemAllocationType,
        CUmemoryPool,
    ) -> CUresult = unsafe { transmute(target::target(373)) };

    let call_ = begin(373);
    let code_ = unsafe { target_(location, type_, pool) };
    end(call_, 373, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemUnmap(ptr: CUdeviceptr, size: usize) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, usize) -> CUresult =
        unsafe { transmute(target::target(374)) };

    let call_ = begin(374);
    let code_ = unsafe { target_(ptr, size) };
    end(call_, 374, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy(
    dst: CUdeviceptr,
    src: CUdeviceptr,
    ByteCount: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, CUdeviceptr, usize) -> CUresult =
        unsafe { transmute(target::target(375)) };

    let call_ = begin(375);
    let code_ = unsafe { target_(dst, src, ByteCount) };
    end(call_, 375, code_, || {
        details::copy(ByteCount as u64, details::none(), dst as u64, src as u64)
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy2DAsync_v2(
    pCopy: *const CUDA_MEMCPY2D,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(*const CUDA_MEMCPY2D, CUstream) -> CUresult =
        unsafe { transmute(target::target(376)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 1));
    let call_ = begin(376);
    let code_ = unsafe { target_(pCopy, hStream) };
    end_work(work_, call_, 376, code_, || {
        details::copy(unsafe { details::area(pCopy) }, hStream as u64, 0, 0)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy2DAsync_v2_ptsz(
    pCopy: *const CUDA_MEMCPY2D,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(*const CUDA_MEMCPY2D, CUstream) -> CUresult =
        unsafe { transmute(target::target(377)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 2));
    let call_ = begin(377);
    let code_ = unsafe { target_(pCopy, hStream) };
    end_work(work_, call_, 377, code_, || {
        details::copy(unsafe { details::area(pCopy) }, hStream as u64, 0, 0)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy2DUnaligned_v2(pCopy: *const CUDA_MEMCPY2D) -> CUresult {
    let target_: unsafe extern "C" fn(*const CUDA_MEMCPY2D) -> CUresult =
        unsafe { transmute(target::target(378)) };

    let call_ = begin(378);
    let code_ = unsafe { target_(pCopy) };
    end(call_, 378, code_, || {
        details::copy(unsafe { details::area(pCopy) }, details::none(), 0, 0)
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy2DUnaligned_v2_ptds(pCopy: *const CUDA_MEMCPY2D) -> CUresult {
    let target_: unsafe extern "C" fn(*const CUDA_MEMCPY2D) -> CUresult =
        unsafe { transmute(target::target(379)) };

    let call_ = begin(379);
    let code_ = unsafe { target_(pCopy) };
    end(call_, 379, code_, || {
        details::copy(unsafe { details::area(pCopy) }, details::none(), 0, 0)
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy2D_v2(pCopy: *const CUDA_MEMCPY2D) -> CUresult {
    let target_: unsafe extern "C" fn(*const CUDA_MEMCPY2D) -> CUresult =
        unsafe { transmute(target::target(380)) };

    let call_ = begin(380);
    let code_ = unsafe { target_(pCopy) };
    end(call_, 380, code_, || {
        details::copy(unsafe { details::area(pCopy) }, details::none(), 0, 0)
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy2D_v2_ptds(pCopy: *const CUDA_MEMCPY2D) -> CUresult {
    let target_: unsafe extern "C" fn(*const CUDA_MEMCPY2D) -> CUresult =
        unsafe { transmute(target::target(381)) };

    let call_ = begin(381);
    let code_ = unsafe { target_(pCopy) };
    end(call_, 381, code_, || {
        details::copy(unsafe { details::area(pCopy) }, details::none(), 0, 0)
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3DAsync_v2(
    pCopy: *const CUDA_MEMCPY3D,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(*const CUDA_MEMCPY3D, CUstream) -> CUresult =
        unsafe { transmute(target::target(382)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 1));
    let call_ = begin(382);
    let code_ = unsafe { target_(pCopy, hStream) };
    end_work(work_, call_, 382, code_, || {
        details::copy(unsafe { details::volume(pCopy) }, hStream as u64, 0, 0)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3DAsync_v2_ptsz(
    pCopy: *const CUDA_MEMCPY3D,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(*const CUDA_MEMCPY3D, CUstream) -> CUresult =
        unsafe { transmute(target::target(383)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 2));
    let call_ = begin(383);
    let code_ = unsafe { target_(pCopy, hStream) };
    end_work(work_, call_, 383, code_, || {
        details::copy(unsafe { details::volume(pCopy) }, hStream as u64, 0, 0)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3DBatchAsync(
    numOps: usize,
    opList: *mut CUDA_MEMCPY3D_BATCH_OP,
    failIdx: *mut usize,
    flags: c_ulonglong,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        usize,
        *mut CUDA_MEMCPY3D_BATCH_OP,
        *mut usize,
        c_ulonglong,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(384)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 1));
    let call_ = begin(384);
    let code_ = unsafe { target_(numOps, opList, failIdx, flags, hStream) };
    end_work(work_, call_, 384, code_, || {
        details::copy(0, hStream as u64, 0, 0)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3DBatchAsync_ptsz(
    numOps: usize,
    opList: *mut CUDA_MEMCPY3D_BATCH_OP,
    failIdx: *mut usize,
    flags: c_ulonglong,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        usize,
        *mut CUDA_MEMCPY3D_BATCH_OP,
        *mut usize,
        c_ulonglong,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(385)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 2));
    let call_ = begin(385);
    let code_ = unsafe { target_(numOps, opList, failIdx, flags, hStream) };
    end_work(work_, call_, 385, code_, || {
        details::copy(0, hStream as u64, 0, 0)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3DBatchAsync_v2(
    numOps: usize,
    opList: *mut CUDA_MEMCPY3D_BATCH_OP,
    flags: c_ulonglong,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        usize,
        *mut CUDA_MEMCPY3D_BATCH_OP,
        c_ulonglong,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(386)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 1));
    let call_ = begin(386);
    let code_ = unsafe { target_(numOps, opList, flags, hStream) };
    end_work(work_, call_, 386, code_, || {
        details::copy(0, hStream as u64, 0, 0)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3DBatchAsync_v2_ptsz(
    numOps: usize,
    opList: *mut CUDA_MEMCPY3D_BATCH_OP,
    flags: c_ulonglong,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        usize,
        *mut CUDA_MEMCPY3D_BATCH_OP,
        c_ulonglong,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(387)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 2));
    let call_ = begin(387);
    let code_ = unsafe { target_(numOps, opList, flags, hStream) };
    end_work(work_, call_, 387, code_, || {
        details::copy(0, hStream as u64, 0, 0)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3DPeer(pCopy: *const CUDA_MEMCPY3D_PEER) -> CUresult {
    let target_: unsafe extern "C" fn(*const CUDA_MEMCPY3D_PEER) -> CUresult =
        unsafe { transmute(target::target(388)) };

    let call_ = begin(388);
    let code_ = unsafe { target_(pCopy) };
    end(call_, 388, code_, || {
        details::copy(
            unsafe { details::volume_peer(pCopy) },
            details::none(),
            0,
            0,
        )
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3DPeerAsync(
    pCopy: *const CUDA_MEMCPY3D_PEER,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(*const CUDA_MEMCPY3D_PEER, CUstream) -> CUresult =
        unsafe { transmute(target::target(389)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 1));
    let call_ = begin(389);
    let code_ = unsafe { target_(pCopy, hStream) };
    end_work(work_, call_, 389, code_, || {
        details::copy(unsafe { details::volume_peer(pCopy) }, hStream as u64, 0, 0)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3DPeerAsync_ptsz(
    pCopy: *const CUDA_MEMCPY3D_PEER,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(*const CUDA_MEMCPY3D_PEER, CUstream) -> CUresult =
        unsafe { transmute(target::target(390)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 2));
    let call_ = begin(390);
    let code_ = unsafe { target_(pCopy, hStream) };
    end_work(work_, call_, 390, code_, || {
        details::copy(unsafe { details::volume_peer(pCopy) }, hStream as u64, 0, 0)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3DPeer_ptds(pCopy: *const CUDA_MEMCPY3D_PEER) -> CUresult {
    let target_: unsafe extern "C" fn(*const CUDA_MEMCPY3D_PEER) -> CUresult =
        unsafe { transmute(target::target(391)) };

    let call_ = begin(391);
    let code_ = unsafe { target_(pCopy) };
    end(call_, 391, code_, || {
        details::copy(
            unsafe { details::volume_peer(pCopy) },
            details::none(),
            0,
            0,
        )
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3DWithAttributesAsync(
    op: *mut CUDA_MEMCPY3D_BATCH_OP,
    flags: c_ulonglong,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUDA_MEMCPY3D_BATCH_OP,
        c_ulonglong,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(392)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 1));
    let call_ = begin(392);
    let code_ = unsafe { target_(op, flags, hStream) };
    end_work(work_, call_, 392, code_, || {
        details::copy(0, hStream as u64, 0, 0)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3DWithAttributesAsync_ptsz(
    op: *mut CUDA_MEMCPY3D_BATCH_OP,
    flags: c_ulonglong,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUDA_MEMCPY3D_BATCH_OP,
        c_ulonglong,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(393)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 2));
    let call_ = begin(393);
    let code_ = unsafe { target_(op, flags, hStream) };
    end_work(work_, call_, 393, code_, || {
        details::copy(0, hStream as u64, 0, 0)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3D_v2(pCopy: *const CUDA_MEMCPY3D) -> CUresult {
    let target_: unsafe extern "C" fn(*const CUDA_MEMCPY3D) -> CUresult =
        unsafe { transmute(target::target(394)) };

    let call_ = begin(394);
    let code_ = unsafe { target_(pCopy) };
    end(call_, 394, code_, || {
        details::copy(unsafe { details::volume(pCopy) }, details::none(), 0, 0)
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy3D_v2_ptds(pCopy: *const CUDA_MEMCPY3D) -> CUresult {
    let target_: unsafe extern "C" fn(*const CUDA_MEMCPY3D) -> CUresult =
        unsafe { transmute(target::target(395)) };

    let call_ = begin(395);
    let code_ = unsafe { target_(pCopy) };
    end(call_, 395, code_, || {
        details::copy(unsafe { details::volume(pCopy) }, details::none(), 0, 0)
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyAsync(
    dst: CUdeviceptr,
    src: CUdeviceptr,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, CUdeviceptr, usize, CUstream) -> CUresult =
        unsafe { transmute(target::target(396)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 1));
    let call_ = begin(396);
    let code_ = unsafe { target_(dst, src, ByteCount, hStream) };
    end_work(work_, call_, 396, code_, || {
        details::copy(ByteCount as u64, hStream as u64, dst as u64, src as u64)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyAsync_ptsz(
    dst: CUdeviceptr,
    src: CUdeviceptr,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, CUdeviceptr, usize, CUstream) -> CUresult =
        unsafe { transmute(target::target(397)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 2));
    let call_ = begin(397);
    let code_ = unsafe { target_(dst, src, ByteCount, hStream) };
    end_work(work_, call_, 397, code_, || {
        details::copy(ByteCount as u64, hStream as u64, dst as u64, src as u64)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyAtoA_v2(
    dstArray: CUarray,
    dstOffset: usize,
    srcArray: CUarray,
    srcOffset: usize,
    ByteCount: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUarray, usize, CUarray, usize, usize) -> CUresult =
        unsafe { transmute(target::target(398)) };

    let call_ = begin(398);
    let code_ = unsafe { target_(dstArray, dstOffset, srcArray, srcOffset, ByteCount) };
    end(call_, 398, code_, || {
        details::copy(
            ByteCount as u64,
            details::none(),
            dstArray as u64,
            srcArray as u64,
        )
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyAtoA_v2_ptds(
    dstArray: CUarray,
    dstOffset: usize,
    srcArray: CUarray,
    srcOffset: usize,
    ByteCount: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUarray, usize, CUarray, usize, usize) -> CUresult =
        unsafe { transmute(target::target(399)) };

    let call_ = begin(399);
    let code_ = unsafe { target_(dstArray, dstOffset, srcArray, srcOffset, ByteCount) };
    end(call_, 399, code_, || {
        details::copy(
            ByteCount as u64,
            details::none(),
            dstArray as u64,
            srcArray as u64,
        )
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyAtoD_v2(
    dstDevice: CUdeviceptr,
    srcArray: CUarray,
    srcOffset: usize,
    ByteCount: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, CUarray, usize, usize) -> CUresult =
        unsafe { transmute(target::target(400)) };

    let call_ = begin(400);
    let code_ = unsafe { target_(dstDevice, srcArray, srcOffset, ByteCount) };
    end(call_, 400, code_, || {
        details::copy(
            ByteCount as u64,
            details::none(),
            dstDevice as u64,
            srcArray as u64,
        )
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyAtoD_v2_ptds(
    dstDevice: CUdeviceptr,
    srcArray: CUarray,
    srcOffset: usize,
    ByteCount: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, CUarray, usize, usize) -> CUresult =
        unsafe { transmute(target::target(401)) };

    let call_ = begin(401);
    let code_ = unsafe { target_(dstDevice, srcArray, srcOffset, ByteCount) };
    end(call_, 401, code_, || {
        details::copy(
            ByteCount as u64,
            details::none(),
            dstDevice as u64,
            srcArray as u64,
        )
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyAtoHAsync_v2(
    dstHost: *mut c_void,
    srcArray: CUarray,
    srcOffset: usize,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_void, CUarray, usize, usize, CUstream) -> CUresult =
        unsafe { transmute(target::target(402)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 1));
    let call_ = begin(402);
    let code_ = unsafe { target_(dstHost, srcArray, srcOffset, ByteCount, hStream) };
    end_work(work_, call_, 402, code_, || {
        details::copy(
            ByteCount as u64,
            hStream as u64,
            dstHost as u64,
            srcArray as u64,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyAtoHAsync_v2_ptsz(
    dstHost: *mut c_void,
    srcArray: CUarray,
    srcOffset: usize,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_void, CUarray, usize, usize, CUstream) -> CUresult =
        unsafe { transmute(target::target(403)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 2));
    let call_ = begin(403);
    let code_ = unsafe { target_(dstHost, srcArray, srcOffset, ByteCount, hStream) };
    end_work(work_, call_, 403, code_, || {
        details::copy(
            ByteCount as u64,
            hStream as u64,
            dstHost as u64,
            srcArray as u64,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyAtoH_v2(
    dstHost: *mut c_void,
    srcArray: CUarray,
    srcOffset: usize,
    ByteCount: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_void, CUarray, usize, usize) -> CUresult =
        unsafe { transmute(target::target(404)) };

    let call_ = begin(404);
    let code_ = unsafe { target_(dstHost, srcArray, srcOffset, ByteCount) };
    end(call_, 404, code_, || {
        details::copy(
            ByteCount as u64,
            details::none(),
            dstHost as u64,
            srcArray as u64,
        )
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyAtoH_v2_ptds(
    dstHost: *mut c_void,
    srcArray: CUarray,
    srcOffset: usize,
    ByteCount: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_void, CUarray, usize, usize) -> CUresult =
        unsafe { transmute(target::target(405)) };

    let call_ = begin(405);
    let code_ = unsafe { target_(dstHost, srcArray, srcOffset, ByteCount) };
    end(call_, 405, code_, || {
        details::copy(
            ByteCount as u64,
            details::none(),
            dstHost as u64,
            srcArray as u64,
        )
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
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
    let target_: unsafe extern "C" fn(
        *mut CUdeviceptr,
        *mut CUdeviceptr,
        *mut usize,
        usize,
        *mut CUmemcpyAttributes,
        *mut usize,
        usize,
        *mut usize,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(406)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 1));
    let call_ = begin(406);
    let code_ = unsafe {
        target_(
            dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, failIdx, hStream,
        )
    };
    end_work(work_, call_, 406, code_, || {
        details::copy(0, hStream as u64, 0, 0)
    });
    code_
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
    let target_: unsafe extern "C" fn(
        *mut CUdeviceptr,
        *mut CUdeviceptr,
        *mut usize,
        usize,
        *mut CUmemcpyAttributes,
        *mut usize,
        usize,
        *mut usize,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(407)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 2));
    let call_ = begin(407);
    let code_ = unsafe {
        target_(
            dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, failIdx, hStream,
        )
    };
    end_work(work_, call_, 407, code_, || {
        details::copy(0, hStream as u64, 0, 0)
    });
    code_
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
    let target_: unsafe extern "C" fn(
        *mut CUdeviceptr,
        *mut CUdeviceptr,
        *mut usize,
        usize,
        *mut CUmemcpyAttributes,
        *mut usize,
        usize,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(408)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 1));
    let call_ = begin(408);
    let code_ = unsafe {
        target_(
            dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, hStream,
        )
    };
    end_work(work_, call_, 408, code_, || {
        details::copy(0, hStream as u64, 0, 0)
    });
    code_
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
    let target_: unsafe extern "C" fn(
        *mut CUdeviceptr,
        *mut CUdeviceptr,
        *mut usize,
        usize,
        *mut CUmemcpyAttributes,
        *mut usize,
        usize,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(409)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 2));
    let call_ = begin(409);
    let code_ = unsafe {
        target_(
            dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, hStream,
        )
    };
    end_work(work_, call_, 409, code_, || {
        details::copy(0, hStream as u64, 0, 0)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoA_v2(
    dstArray: CUarray,
    dstOffset: usize,
    srcDevice: CUdeviceptr,
    ByteCount: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUarray, usize, CUdeviceptr, usize) -> CUresult =
        unsafe { transmute(target::target(410)) };

    let call_ = begin(410);
    let code_ = unsafe { target_(dstArray, dstOffset, srcDevice, ByteCount) };
    end(call_, 410, code_, || {
        details::copy(
            ByteCount as u64,
            details::none(),
            dstArray as u64,
            srcDevice as u64,
        )
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoA_v2_ptds(
    dstArray: CUarray,
    dstOffset: usize,
    srcDevice: CUdeviceptr,
    ByteCount: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUarray, usize, CUdeviceptr, usize) -> CUresult =
        unsafe { transmute(target::target(411)) };

    let call_ = begin(411);
    let code_ = unsafe { target_(dstArray, dstOffset, srcDevice, ByteCount) };
    end(call_, 411, code_, || {
        details::copy(
            ByteCount as u64,
            details::none(),
            dstArray as u64,
            srcDevice as u64,
        )
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoDAsync_v2(
    dstDevice: CUdeviceptr,
    srcDevice: CUdeviceptr,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, CUdeviceptr, usize, CUstream) -> CUresult =
        unsafe { transmute(target::target(412)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 1));
    let call_ = begin(412);
    let code_ = unsafe { target_(dstDevice, srcDevice, ByteCount, hStream) };
    end_work(work_, call_, 412, code_, || {
        details::copy(
            ByteCount as u64,
            hStream as u64,
            dstDevice as u64,
            srcDevice as u64,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoDAsync_v2_ptsz(
    dstDevice: CUdeviceptr,
    srcDevice: CUdeviceptr,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, CUdeviceptr, usize, CUstream) -> CUresult =
        unsafe { transmute(target::target(413)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 2));
    let call_ = begin(413);
    let code_ = unsafe { target_(dstDevice, srcDevice, ByteCount, hStream) };
    end_work(work_, call_, 413, code_, || {
        details::copy(
            ByteCount as u64,
            hStream as u64,
            dstDevice as u64,
            srcDevice as u64,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoD_v2(
    dstDevice: CUdeviceptr,
    srcDevice: CUdeviceptr,
    ByteCount: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, CUdeviceptr, usize) -> CUresult =
        unsafe { transmute(target::target(414)) };

    let call_ = begin(414);
    let code_ = unsafe { target_(dstDevice, srcDevice, ByteCount) };
    end(call_, 414, code_, || {
        details::copy(
            ByteCount as u64,
            details::none(),
            dstDevice as u64,
            srcDevice as u64,
        )
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoD_v2_ptds(
    dstDevice: CUdeviceptr,
    srcDevice: CUdeviceptr,
    ByteCount: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, CUdeviceptr, usize) -> CUresult =
        unsafe { transmute(target::target(415)) };

    let call_ = begin(415);
    let code_ = unsafe { target_(dstDevice, srcDevice, ByteCount) };
    end(call_, 415, code_, || {
        details::copy(
            ByteCount as u64,
            details::none(),
            dstDevice as u64,
            srcDevice as u64,
        )
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoHAsync_v2(
    dstHost: *mut c_void,
    srcDevice: CUdeviceptr,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_void, CUdeviceptr, usize, CUstream) -> CUresult =
        unsafe { transmute(target::target(416)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 1));
    let call_ = begin(416);
    let code_ = unsafe { target_(dstHost, srcDevice, ByteCount, hStream) };
    end_work(work_, call_, 416, code_, || {
        details::copy(
            ByteCount as u64,
            hStream as u64,
            dstHost as u64,
            srcDevice as u64,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoHAsync_v2_ptsz(
    dstHost: *mut c_void,
    srcDevice: CUdeviceptr,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_void, CUdeviceptr, usize, CUstream) -> CUresult =
        unsafe { transmute(target::target(417)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 2));
    let call_ = begin(417);
    let code_ = unsafe { target_(dstHost, srcDevice, ByteCount, hStream) };
    end_work(work_, call_, 417, code_, || {
        details::copy(
            ByteCount as u64,
            hStream as u64,
            dstHost as u64,
            srcDevice as u64,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoH_v2(
    dstHost: *mut c_void,
    srcDevice: CUdeviceptr,
    ByteCount: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_void, CUdeviceptr, usize) -> CUresult =
        unsafe { transmute(target::target(418)) };

    let call_ = begin(418);
    let code_ = unsafe { target_(dstHost, srcDevice, ByteCount) };
    end(call_, 418, code_, || {
        details::copy(
            ByteCount as u64,
            details::none(),
            dstHost as u64,
            srcDevice as u64,
        )
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoH_v2_ptds(
    dstHost: *mut c_void,
    srcDevice: CUdeviceptr,
    ByteCount: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_void, CUdeviceptr, usize) -> CUresult =
        unsafe { transmute(target::target(419)) };

    let call_ = begin(419);
    let code_ = unsafe { target_(dstHost, srcDevice, ByteCount) };
    end(call_, 419, code_, || {
        details::copy(
            ByteCount as u64,
            details::none(),
            dstHost as u64,
            srcDevice as u64,
        )
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoAAsync_v2(
    dstArray: CUarray,
    dstOffset: usize,
    srcHost: *const c_void,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUarray, usize, *const c_void, usize, CUstream) -> CUresult =
        unsafe { transmute(target::target(420)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 1));
    let call_ = begin(420);
    let code_ = unsafe { target_(dstArray, dstOffset, srcHost, ByteCount, hStream) };
    end_work(work_, call_, 420, code_, || {
        details::copy(
            ByteCount as u64,
            hStream as u64,
            dstArray as u64,
            srcHost as u64,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoAAsync_v2_ptsz(
    dstArray: CUarray,
    dstOffset: usize,
    srcHost: *const c_void,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUarray, usize, *const c_void, usize, CUstream) -> CUresult =
        unsafe { transmute(target::target(421)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 2));
    let call_ = begin(421);
    let code_ = unsafe { target_(dstArray, dstOffset, srcHost, ByteCount, hStream) };
    end_work(work_, call_, 421, code_, || {
        details::copy(
            ByteCount as u64,
            hStream as u64,
            dstArray as u64,
            srcHost as u64,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoA_v2(
    dstArray: CUarray,
    dstOffset: usize,
    srcHost: *const c_void,
    ByteCount: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUarray, usize, *const c_void, usize) -> CUresult =
        unsafe { transmute(target::target(422)) };

    let call_ = begin(422);
    let code_ = unsafe { target_(dstArray, dstOffset, srcHost, ByteCount) };
    end(call_, 422, code_, || {
        details::copy(
            ByteCount as u64,
            details::none(),
            dstArray as u64,
            srcHost as u64,
        )
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoA_v2_ptds(
    dstArray: CUarray,
    dstOffset: usize,
    srcHost: *const c_void,
    ByteCount: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUarray, usize, *const c_void, usize) -> CUresult =
        unsafe { transmute(target::target(423)) };

    let call_ = begin(423);
    let code_ = unsafe { target_(dstArray, dstOffset, srcHost, ByteCount) };
    end(call_, 423, code_, || {
        details::copy(
            ByteCount as u64,
            details::none(),
            dstArray as u64,
            srcHost as u64,
        )
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoDAsync_v2(
    dstDevice: CUdeviceptr,
    srcHost: *const c_void,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, *const c_void, usize, CUstream) -> CUresult =
        unsafe { transmute(target::target(424)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 1));
    let call_ = begin(424);
    let code_ = unsafe { target_(dstDevice, srcHost, ByteCount, hStream) };
    end_work(work_, call_, 424, code_, || {
        details::copy(
            ByteCount as u64,
            hStream as u64,
            dstDevice as u64,
            srcHost as u64,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoDAsync_v2_ptsz(
    dstDevice: CUdeviceptr,
    srcHost: *const c_void,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, *const c_void, usize, CUstream) -> CUresult =
        unsafe { transmute(target::target(425)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 2));
    let call_ = begin(425);
    let code_ = unsafe { target_(dstDevice, srcHost, ByteCount, hStream) };
    end_work(work_, call_, 425, code_, || {
        details::copy(
            ByteCount as u64,
            hStream as u64,
            dstDevice as u64,
            srcHost as u64,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoD_v2(
    dstDevice: CUdeviceptr,
    srcHost: *const c_void,
    ByteCount: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, *const c_void, usize) -> CUresult =
        unsafe { transmute(target::target(426)) };

    let call_ = begin(426);
    let code_ = unsafe { target_(dstDevice, srcHost, ByteCount) };
    end(call_, 426, code_, || {
        details::copy(
            ByteCount as u64,
            details::none(),
            dstDevice as u64,
            srcHost as u64,
        )
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoD_v2_ptds(
    dstDevice: CUdeviceptr,
    srcHost: *const c_void,
    ByteCount: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, *const c_void, usize) -> CUresult =
        unsafe { transmute(target::target(427)) };

    let call_ = begin(427);
    let code_ = unsafe { target_(dstDevice, srcHost, ByteCount) };
    end(call_, 427, code_, || {
        details::copy(
            ByteCount as u64,
            details::none(),
            dstDevice as u64,
            srcHost as u64,
        )
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyPeer(
    dstDevice: CUdeviceptr,
    dstContext: CUcontext,
    srcDevice: CUdeviceptr,
    srcContext: CUcontext,
    ByteCount: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUdeviceptr,
        CUcontext,
        CUdeviceptr,
        CUcontext,
        usize,
    ) -> CUresult = unsafe { transmute(target::target(428)) };

    let call_ = begin(428);
    let code_ = unsafe { target_(dstDevice, dstContext, srcDevice, srcContext, ByteCount) };
    end(call_, 428, code_, || {
        details::copy(
            ByteCount as u64,
            details::none(),
            dstDevice as u64,
            srcDevice as u64,
        )
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
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
    let target_: unsafe extern "C" fn(
        CUdeviceptr,
        CUcontext,
        CUdeviceptr,
        CUcontext,
        usize,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(429)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 1));
    let call_ = begin(429);
    let code_ = unsafe {
        target_(
            dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream,
        )
    };
    end_work(work_, call_, 429, code_, || {
        details::copy(
            ByteCount as u64,
            hStream as u64,
            dstDevice as u64,
            srcDevice as u64,
        )
    });
    code_
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
    let target_: unsafe extern "C" fn(
        CUdeviceptr,
        CUcontext,
        CUdeviceptr,
        CUcontext,
        usize,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(430)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 2));
    let call_ = begin(430);
    let code_ = unsafe {
        target_(
            dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream,
        )
    };
    end_work(work_, call_, 430, code_, || {
        details::copy(
            ByteCount as u64,
            hStream as u64,
            dstDevice as u64,
            srcDevice as u64,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyPeer_ptds(
    dstDevice: CUdeviceptr,
    dstContext: CUcontext,
    srcDevice: CUdeviceptr,
    srcContext: CUcontext,
    ByteCount: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUdeviceptr,
        CUcontext,
        CUdeviceptr,
        CUcontext,
        usize,
    ) -> CUresult = unsafe { transmute(target::target(431)) };

    let call_ = begin(431);
    let code_ = unsafe { target_(dstDevice, dstContext, srcDevice, srcContext, ByteCount) };
    end(call_, 431, code_, || {
        details::copy(
            ByteCount as u64,
            details::none(),
            dstDevice as u64,
            srcDevice as u64,
        )
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyWithAttributesAsync(
    dst: CUdeviceptr,
    src: CUdeviceptr,
    size: usize,
    attr: *mut CUmemcpyAttributes,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUdeviceptr,
        CUdeviceptr,
        usize,
        *mut CUmemcpyAttributes,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(432)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 1));
    let call_ = begin(432);
    let code_ = unsafe { target_(dst, src, size, attr, hStream) };
    end_work(work_, call_, 432, code_, || {
        details::copy(size as u64, hStream as u64, dst as u64, src as u64)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyWithAttributesAsync_ptsz(
    dst: CUdeviceptr,
    src: CUdeviceptr,
    size: usize,
    attr: *mut CUmemcpyAttributes,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUdeviceptr,
        CUdeviceptr,
        usize,
        *mut CUmemcpyAttributes,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(433)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 2));
    let call_ = begin(433);
    let code_ = unsafe { target_(dst, src, size, attr, hStream) };
    end_work(work_, call_, 433, code_, || {
        details::copy(size as u64, hStream as u64, dst as u64, src as u64)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpy_ptds(
    dst: CUdeviceptr,
    src: CUdeviceptr,
    ByteCount: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, CUdeviceptr, usize) -> CUresult =
        unsafe { transmute(target::target(434)) };

    let call_ = begin(434);
    let code_ = unsafe { target_(dst, src, ByteCount) };
    end(call_, 434, code_, || {
        details::copy(ByteCount as u64, details::none(), dst as u64, src as u64)
    });
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD16Async(
    dstDevice: CUdeviceptr,
    us: c_ushort,
    N: usize,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, c_ushort, usize, CUstream) -> CUresult =
        unsafe { transmute(target::target(435)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 1));
    let call_ = begin(435);
    let code_ = unsafe { target_(dstDevice, us, N, hStream) };
    end_work(work_, call_, 435, code_, || {
        details::set((N as u64).wrapping_mul(2), hStream as u64, dstDevice as u64)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD16Async_ptsz(
    dstDevice: CUdeviceptr,
    us: c_ushort,
    N: usize,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, c_ushort, usize, CUstream) -> CUresult =
        unsafe { transmute(target::target(436)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 2));
    let call_ = begin(436);
    let code_ = unsafe { target_(dstDevice, us, N, hStream) };
    end_work(work_, call_, 436, code_, || {
        details::set((N as u64).wrapping_mul(2), hStream as u64, dstDevice as u64)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD16_v2(
    dstDevice: CUdeviceptr,
    us: c_ushort,
    N: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, c_ushort, usize) -> CUresult =
        unsafe { transmute(target::target(437)) };

    let call_ = begin(437);
    let code_ = unsafe { target_(dstDevice, us, N) };
    end(call_, 437, code_, || {
        details::set(
            (N as u64).wrapping_mul(2),
            details::none(),
            dstDevice as u64,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD16_v2_ptds(
    dstDevice: CUdeviceptr,
    us: c_ushort,
    N: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, c_ushort, usize) -> CUresult =
        unsafe { transmute(target::target(438)) };

    let call_ = begin(438);
    let code_ = unsafe { target_(dstDevice, us, N) };
    end(call_, 438, code_, || {
        details::set(
            (N as u64).wrapping_mul(2),
            details::none(),
            dstDevice as u64,
        )
    });
    code_
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
    let target_: unsafe extern "C" fn(
        CUdeviceptr,
        usize,
        c_ushort,
        usize,
        usize,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(439)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 1));
    let call_ = begin(439);
    let code_ = unsafe { target_(dstDevice, dstPitch, us, Width, Height, hStream) };
    end_work(work_, call_, 439, code_, || {
        details::set(
            ((Width as u64).wrapping_mul(Height as u64)).wrapping_mul(2),
            hStream as u64,
            dstDevice as u64,
        )
    });
    code_
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
    let target_: unsafe extern "C" fn(
        CUdeviceptr,
        usize,
        c_ushort,
        usize,
        usize,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(440)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 2));
    let call_ = begin(440);
    let code_ = unsafe { target_(dstDevice, dstPitch, us, Width, Height, hStream) };
    end_work(work_, call_, 440, code_, || {
        details::set(
            ((Width as u64).wrapping_mul(Height as u64)).wrapping_mul(2),
            hStream as u64,
            dstDevice as u64,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD2D16_v2(
    dstDevice: CUdeviceptr,
    dstPitch: usize,
    us: c_ushort,
    Width: usize,
    Height: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, usize, c_ushort, usize, usize) -> CUresult =
        unsafe { transmute(target::target(441)) };

    let call_ = begin(441);
    let code_ = unsafe { target_(dstDevice, dstPitch, us, Width, Height) };
    end(call_, 441, code_, || {
        details::set(
            ((Width as u64).wrapping_mul(Height as u64)).wrapping_mul(2),
            details::none(),
            dstDevice as u64,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD2D16_v2_ptds(
    dstDevice: CUdeviceptr,
    dstPitch: usize,
    us: c_ushort,
    Width: usize,
    Height: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, usize, c_ushort, usize, usize) -> CUresult =
        unsafe { transmute(target::target(442)) };

    let call_ = begin(442);
    let code_ = unsafe { target_(dstDevice, dstPitch, us, Width, Height) };
    end(call_, 442, code_, || {
        details::set(
            ((Width as u64).wrapping_mul(Height as u64)).wrapping_mul(2),
            details::none(),
            dstDevice as u64,
        )
    });
    code_
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
    let target_: unsafe extern "C" fn(
        CUdeviceptr,
        usize,
        c_uint,
        usize,
        usize,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(443)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 1));
    let call_ = begin(443);
    let code_ = unsafe { target_(dstDevice, dstPitch, ui, Width, Height, hStream) };
    end_work(work_, call_, 443, code_, || {
        details::set(
            ((Width as u64).wrapping_mul(Height as u64)).wrapping_mul(4),
            hStream as u64,
            dstDevice as u64,
        )
    });
    code_
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
    let target_: unsafe extern "C" fn(
        CUdeviceptr,
        usize,
        c_uint,
        usize,
        usize,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(444)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 2));
    let call_ = begin(444);
    let code_ = unsafe { target_(dstDevice, dstPitch, ui, Width, Height, hStream) };
    end_work(work_, call_, 444, code_, || {
        details::set(
            ((Width as u64).wrapping_mul(Height as u64)).wrapping_mul(4),
            hStream as u64,
            dstDevice as u64,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD2D32_v2(
    dstDevice: CUdeviceptr,
    dstPitch: usize,
    ui: c_uint,
    Width: usize,
    Height: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, usize, c_uint, usize, usize) -> CUresult =
        unsafe { transmute(target::target(445)) };

    let call_ = begin(445);
    let code_ = unsafe { target_(dstDevice, dstPitch, ui, Width, Height) };
    end(call_, 445, code_, || {
        details::set(
            ((Width as u64).wrapping_mul(Height as u64)).wrapping_mul(4),
            details::none(),
            dstDevice as u64,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD2D32_v2_ptds(
    dstDevice: CUdeviceptr,
    dstPitch: usize,
    ui: c_uint,
    Width: usize,
    Height: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, usize, c_uint, usize, usize) -> CUresult =
        unsafe { transmute(target::target(446)) };

    let call_ = begin(446);
    let code_ = unsafe { target_(dstDevice, dstPitch, ui, Width, Height) };
    end(call_, 446, code_, || {
        details::set(
            ((Width as u64).wrapping_mul(Height as u64)).wrapping_mul(4),
            details::none(),
            dstDevice as u64,
        )
    });
    code_
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
    let target_: unsafe extern "C" fn(
        CUdeviceptr,
        usize,
        c_uchar,
        usize,
        usize,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(447)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 1));
    let call_ = begin(447);
    let code_ = unsafe { target_(dstDevice, dstPitch, uc, Width, Height, hStream) };
    end_work(work_, call_, 447, code_, || {
        details::set(
            (Width as u64).wrapping_mul(Height as u64),
            hStream as u64,
            dstDevice as u64,
        )
    });
    code_
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
    let target_: unsafe extern "C" fn(
        CUdeviceptr,
        usize,
        c_uchar,
        usize,
        usize,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(448)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 2));
    let call_ = begin(448);
    let code_ = unsafe { target_(dstDevice, dstPitch, uc, Width, Height, hStream) };
    end_work(work_, call_, 448, code_, || {
        details::set(
            (Width as u64).wrapping_mul(Height as u64),
            hStream as u64,
            dstDevice as u64,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD2D8_v2(
    dstDevice: CUdeviceptr,
    dstPitch: usize,
    uc: c_uchar,
    Width: usize,
    Height: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, usize, c_uchar, usize, usize) -> CUresult =
        unsafe { transmute(target::target(449)) };

    let call_ = begin(449);
    let code_ = unsafe { target_(dstDevice, dstPitch, uc, Width, Height) };
    end(call_, 449, code_, || {
        details::set(
            (Width as u64).wrapping_mul(Height as u64),
            details::none(),
            dstDevice as u64,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD2D8_v2_ptds(
    dstDevice: CUdeviceptr,
    dstPitch: usize,
    uc: c_uchar,
    Width: usize,
    Height: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, usize, c_uchar, usize, usize) -> CUresult =
        unsafe { transmute(target::target(450)) };

    let call_ = begin(450);
    let code_ = unsafe { target_(dstDevice, dstPitch, uc, Width, Height) };
    end(call_, 450, code_, || {
        details::set(
            (Width as u64).wrapping_mul(Height as u64),
            details::none(),
            dstDevice as u64,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD32Async(
    dstDevice: CUdeviceptr,
    ui: c_uint,
    N: usize,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, c_uint, usize, CUstream) -> CUresult =
        unsafe { transmute(target::target(451)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 1));
    let call_ = begin(451);
    let code_ = unsafe { target_(dstDevice, ui, N, hStream) };
    end_work(work_, call_, 451, code_, || {
        details::set((N as u64).wrapping_mul(4), hStream as u64, dstDevice as u64)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD32Async_ptsz(
    dstDevice: CUdeviceptr,
    ui: c_uint,
    N: usize,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, c_uint, usize, CUstream) -> CUresult =
        unsafe { transmute(target::target(452)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 2));
    let call_ = begin(452);
    let code_ = unsafe { target_(dstDevice, ui, N, hStream) };
    end_work(work_, call_, 452, code_, || {
        details::set((N as u64).wrapping_mul(4), hStream as u64, dstDevice as u64)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD32_v2(dstDevice: CUdeviceptr, ui: c_uint, N: usize) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, c_uint, usize) -> CUresult =
        unsafe { transmute(target::target(453)) };

    let call_ = begin(453);
    let code_ = unsafe { target_(dstDevice, ui, N) };
    end(call_, 453, code_, || {
        details::set(
            (N as u64).wrapping_mul(4),
            details::none(),
            dstDevice as u64,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD32_v2_ptds(
    dstDevice: CUdeviceptr,
    ui: c_uint,
    N: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, c_uint, usize) -> CUresult =
        unsafe { transmute(target::target(454)) };

    let call_ = begin(454);
    let code_ = unsafe { target_(dstDevice, ui, N) };
    end(call_, 454, code_, || {
        details::set(
            (N as u64).wrapping_mul(4),
            details::none(),
            dstDevice as u64,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD8Async(
    dstDevice: CUdeviceptr,
    uc: c_uchar,
    N: usize,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, c_uchar, usize, CUstream) -> CUresult =
        unsafe { transmute(target::target(455)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 1));
    let call_ = begin(455);
    let code_ = unsafe { target_(dstDevice, uc, N, hStream) };
    end_work(work_, call_, 455, code_, || {
        details::set((N as u64).wrapping_mul(1), hStream as u64, dstDevice as u64)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD8Async_ptsz(
    dstDevice: CUdeviceptr,
    uc: c_uchar,
    N: usize,
    hStream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, c_uchar, usize, CUstream) -> CUresult =
        unsafe { transmute(target::target(456)) };
    let work_ = gpu::begin(details::in_stream(hStream as u64, 2));
    let call_ = begin(456);
    let code_ = unsafe { target_(dstDevice, uc, N, hStream) };
    end_work(work_, call_, 456, code_, || {
        details::set((N as u64).wrapping_mul(1), hStream as u64, dstDevice as u64)
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD8_v2(dstDevice: CUdeviceptr, uc: c_uchar, N: usize) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, c_uchar, usize) -> CUresult =
        unsafe { transmute(target::target(457)) };

    let call_ = begin(457);
    let code_ = unsafe { target_(dstDevice, uc, N) };
    end(call_, 457, code_, || {
        details::set(
            (N as u64).wrapping_mul(1),
            details::none(),
            dstDevice as u64,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD8_v2_ptds(
    dstDevice: CUdeviceptr,
    uc: c_uchar,
    N: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUdeviceptr, c_uchar, usize) -> CUresult =
        unsafe { transmute(target::target(458)) };

    let call_ = begin(458);
    let code_ = unsafe { target_(dstDevice, uc, N) };
    end(call_, 458, code_, || {
        details::set(
            (N as u64).wrapping_mul(1),
            details::none(),
            dstDevice as u64,
        )
    });
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMipmappedArrayCreate(
    pHandle: *mut CUmipmappedArray,
    pMipmappedArrayDesc: *const CUDA_ARRAY3D_DESCRIPTOR,
    numMipmapLevels: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUmipmappedArray,
        *const CUDA_ARRAY3D_DESCRIPTOR,
        c_uint,
    ) -> CUresult = unsafe { transmute(target::target(459)) };

    let call_ = begin(459);
    let code_ = unsafe { target_(pHandle, pMipmappedArrayDesc, numMipmapLevels) };
    end(call_, 459, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMipmappedArrayDestroy(hMipmappedArray: CUmipmappedArray) -> CUresult {
    let target_: unsafe extern "C" fn(CUmipmappedArray) -> CUresult =
        unsafe { transmute(target::target(460)) };

    let call_ = begin(460);
    let code_ = unsafe { target_(hMipmappedArray) };
    end(call_, 460, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMipmappedArrayGetLevel(
    pLevelArray: *mut CUarray,
    hMipmappedArray: CUmipmappedArray,
    level: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUarray, CUmipmappedArray, c_uint) -> CUresult =
        unsafe { transmute(target::target(461)) };

    let call_ = begin(461);
    let code_ = unsafe { target_(pLevelArray, hMipmappedArray, level) };
    end(call_, 461, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMipmappedArrayGetMemoryRequirements(
    memoryRequirements: *mut CUDA_ARRAY_MEMORY_REQUIREMENTS,
    mipmap: CUmipmappedArray,
    device: CUdevice,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUDA_ARRAY_MEMORY_REQUIREMENTS,
        CUmipmappedArray,
        CUdevice,
    ) -> CUresult = unsafe { transmute(target::target(462)) };

    let call_ = begin(462);
    let code_ = unsafe { target_(memoryRequirements, mipmap, device) };
    end(call_, 462, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMipmappedArrayGetSparseProperties(
    sparseProperties: *mut CUDA_ARRAY_SPARSE_PROPERTIES,
    mipmap: CUmipmappedArray,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUDA_ARRAY_SPARSE_PROPERTIES,
        CUmipmappedArray,
    ) -> CUresult = unsafe { transmute(target::target(463)) };

    let call_ = begin(463);
    let code_ = unsafe { target_(sparseProperties, mipmap) };
    end(call_, 463, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleEnumerateFunctions(
    functions: *mut CUfunction,
    numFunctions: c_uint,
    mod_: CUmodule,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUfunction, c_uint, CUmodule) -> CUresult =
        unsafe { transmute(target::target(464)) };

    let call_ = begin(464);
    let code_ = unsafe { target_(functions, numFunctions, mod_) };
    end(call_, 464, code_, details::plain);
    unsafe { hooks::cuModuleEnumerateFunctions(functions, numFunctions, mod_, code_) };
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetFunction(
    hfunc: *mut CUfunction,
    hmod: CUmodule,
    name: *const c_char,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUfunction, CUmodule, *const c_char) -> CUresult =
        unsafe { transmute(target::target(465)) };

    let call_ = begin(465);
    let code_ = unsafe { target_(hfunc, hmod, name) };
    end(call_, 465, code_, details::plain);
    unsafe { hooks::cuModuleGetFunction(hfunc, hmod, name, code_) };
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetFunctionCount(count: *mut c_uint, mod_: CUmodule) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_uint, CUmodule) -> CUresult =
        unsafe { transmute(target::target(466)) };

    let call_ = begin(466);
    let code_ = unsafe { target_(count, mod_) };
    end(call_, 466, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetGlobal_v2(
    dptr: *mut CUdeviceptr,
    bytes: *mut usize,
    hmod: CUmodule,
    name: *const c_char,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUdeviceptr,
        *mut usize,
        CUmodule,
        *const c_char,
    ) -> CUresult = unsafe { transmute(target::target(467)) };

    let call_ = begin(467);
    let code_ = unsafe { target_(dptr, bytes, hmod, name) };
    end(call_, 467, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetLoadingMode(mode: *mut CUmoduleLoadingMode) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUmoduleLoadingMode) -> CUresult =
        unsafe { transmute(target::target(468)) };

    let call_ = begin(468);
    let code_ = unsafe { target_(mode) };
    end(call_, 468, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetSurfRef(
    pSurfRef: *mut CUsurfref,
    hmod: CUmodule,
    name: *const c_char,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUsurfref, CUmodule, *const c_char) -> CUresult =
        unsafe { transmute(target::target(469)) };

    let call_ = begin(469);
    let code_ = unsafe { target_(pSurfRef, hmod, name) };
    end(call_, 469, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetTexRef(
    pTexRef: *mut CUtexref,
    hmod: CUmodule,
    name: *const c_char,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUtexref, CUmodule, *const c_char) -> CUresult =
        unsafe { transmute(target::target(470)) };

    let call_ = begin(470);
    let code_ = unsafe { target_(pTexRef, hmod, name) };
    end(call_, 470, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoad(module: *mut CUmodule, fname: *const c_char) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUmodule, *const c_char) -> CUresult =
        unsafe { transmute(target::target(471)) };

    let call_ = begin(471);
    let code_ = unsafe { target_(module, fname) };
    end(call_, 471, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadData(module: *mut CUmodule, image: *const c_void) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUmodule, *const c_void) -> CUresult =
        unsafe { transmute(target::target(472)) };

    let call_ = begin(472);
    let code_ = unsafe { target_(module, image) };
    end(call_, 472, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadDataEx(
    module: *mut CUmodule,
    image: *const c_void,
    numOptions: c_uint,
    options: *mut CUjit_option,
    optionValues: *mut *mut c_void,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUmodule,
        *const c_void,
        c_uint,
        *mut CUjit_option,
        *mut *mut c_void,
    ) -> CUresult = unsafe { transmute(target::target(473)) };

    let call_ = begin(473);
    let code_ = unsafe { target_(module, image, numOptions, options, optionValues) };
    end(call_, 473, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadFatBinary(
    module: *mut CUmodule,
    fatCubin: *const c_void,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUmodule, *const c_void) -> CUresult =
        unsafe { transmute(target::target(474)) };

    let call_ = begin(474);
    let code_ = unsafe { target_(module, fatCubin) };
    end(call_, 474, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleUnload(hmod: CUmodule) -> CUresult {
    let target_: unsafe extern "C" fn(CUmodule) -> CUresult =
        unsafe { transmute(target::target(475)) };

    let call_ = begin(475);
    let code_ = unsafe { target_(hmod) };
    end(call_, 475, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMulticastAddDevice(
    mcHandle: CUmemGenericAllocationHandle,
    dev: CUdevice,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUmemGenericAllocationHandle, CUdevice) -> CUresult =
        unsafe { transmute(target::target(476)) };

    let call_ = begin(476);
    let code_ = unsafe { target_(mcHandle, dev) };
    end(call_, 476, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMulticastBindAddr(
    mcHandle: CUmemGenericAllocationHandle,
    mcOffset: usize,
    memptr: CUdeviceptr,
    size: usize,
    flags: c_ulonglong,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUmemGenericAllocationHandle,
        usize,
        CUdeviceptr,
        usize,
        c_ulonglong,
    ) -> CUresult = unsafe { transmute(target::target(477)) };

    let call_ = begin(477);
    let code_ = unsafe { target_(mcHandle, mcOffset, memptr, size, flags) };
    end(call_, 477, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMulticastBindAddr_v2(
    mcHandle: CUmemGenericAllocationHandle,
    dev: CUdevice,
    mcOffset: usize,
    memptr: CUdeviceptr,
    size: usize,
    flags: c_ulonglong,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUmemGenericAllocationHandle,
        CUdevice,
        usize,
        CUdeviceptr,
        usize,
        c_ulonglong,
    ) -> CUresult = unsafe { transmute(target::target(478)) };

    let call_ = begin(478);
    let code_ = unsafe { target_(mcHandle, dev, mcOffset, memptr, size, flags) };
    end(call_, 478, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMulticastBindMem(
    mcHandle: CUmemGenericAllocationHandle,
    mcOffset: usize,
    memHandle: CUmemGenericAllocationHandle,
    memOffset: usize,
    size: usize,
    flags: c_ulonglong,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUmemGenericAllocationHandle,
        usize,
        CUmemGenericAllocationHandle,
        usize,
        usize,
        c_ulonglong,
    ) -> CUresult = unsafe { transmute(target::target(479)) };

    let call_ = begin(479);
    let code_ = unsafe { target_(mcHandle, mcOffset, memHandle, memOffset, size, flags) };
    end(call_, 479, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMulticastBindMem_v2(
    mcHandle: CUmemGenericAllocationHandle,
    dev: CUdevice,
    mcOffset: usize,
    memHandle: CUmemGenericAllocationHandle,
    memOffset: usize,
    size: usize,
    flags: c_ulonglong,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUmemGenericAllocationHandle,
        CUdevice,
        usize,
        CUmemGenericAllocationHandle,
        usize,
        usize,
        c_ulonglong,
    ) -> CUresult = unsafe { transmute(target::target(480)) };

    let call_ = begin(480);
    let code_ = unsafe { target_(mcHandle, dev, mcOffset, memHandle, memOffset, size, flags) };
    end(call_, 480, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMulticastCreate(
    mcHandle: *mut CUmemGenericAllocationHandle,
    prop: *const CUmulticastObjectProp,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUmemGenericAllocationHandle,
        *const CUmulticastObjectProp,
    ) -> CUresult = unsafe { transmute(target::target(481)) };

    let call_ = begin(481);
    let code_ = unsafe { target_(mcHandle, prop) };
    end(call_, 481, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMulticastGetGranularity(
    granularity: *mut usize,
    prop: *const CUmulticastObjectProp,
    option: CUmulticastGranularity_flags,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut usize,
        *const CUmulticastObjectProp,
        CUmulticastGranularity_flags,
    ) -> CUresult = unsafe { transmute(target::target(482)) };

    let call_ = begin(482);
    let code_ = unsafe { target_(granularity, prop, option) };
    end(call_, 482, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMulticastUnbind(
    mcHandle: CUmemGenericAllocationHandle,
    dev: CUdevice,
    mcOffset: usize,
    size: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUmemGenericAllocationHandle,
        CUdevice,
        usize,
        usize,
    ) -> CUresult = unsafe { transmute(target::target(483)) };

    let call_ = begin(483);
    let code_ = unsafe { target_(mcHandle, dev, mcOffset, size) };
    end(call_, 483, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuOccupancyAvailableDynamicSMemPerBlock(
    dynamicSmemSize: *mut usize,
    func: CUfunction,
    numBlocks: c_int,
    blockSize: c_int,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut usize, CUfunction, c_int, c_int) -> CUresult =
        unsafe { transmute(target::target(484)) };

    let call_ = begin(484);
    let code_ = unsafe { target_(dynamicSmemSize, func, numBlocks, blockSize) };
    end(call_, 484, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
    numBlocks: *mut c_int,
    func: CUfunction,
    blockSize: c_int,
    dynamicSMemSize: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_int, CUfunction, c_int, usize) -> CUresult =
        unsafe { transmute(target::target(485)) };

    let call_ = begin(485);
    let code_ = unsafe { target_(numBlocks, func, blockSize, dynamicSMemSize) };
    end(call_, 485, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    numBlocks: *mut c_int,
    func: CUfunction,
    blockSize: c_int,
    dynamicSMemSize: usize,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_int, CUfunction, c_int, usize, c_uint) -> CUresult =
        unsafe { transmute(target::target(486)) };

    let call_ = begin(486);
    let code_ = unsafe { target_(numBlocks, func, blockSize, dynamicSMemSize, flags) };
    end(call_, 486, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuOccupancyMaxActiveClusters(
    numClusters: *mut c_int,
    func: CUfunction,
    config: *const CUlaunchConfig,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_int, CUfunction, *const CUlaunchConfig) -> CUresult =
        unsafe { transmute(target::target(487)) };

    let call_ = begin(487);
    let code_ = unsafe { target_(numClusters, func, config) };
    end(call_, 487, code_, details::plain);
    code_
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
    let target_: unsafe extern "C" fn(
        *mut c_int,
        *mut c_int,
        CUfunction,
        CUoccupancyB2DSize,
        usize,
        c_int,
    ) -> CUresult = unsafe { transmute(target::target(488)) };

    let call_ = begin(488);
    let code_ = unsafe {
        target_(
            minGridSize,
            blockSize,
            func,
            blockSizeToDynamicSMemSize,
            dynamicSMemSize,
            blockSizeLimit,
        )
    };
    end(call_, 488, code_, details::plain);
    code_
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
    let target_: unsafe extern "C" fn(
        *mut c_int,
        *mut c_int,
        CUfunction,
        CUoccupancyB2DSize,
        usize,
        c_int,
        c_uint,
    ) -> CUresult = unsafe { transmute(target::target(489)) };

    let call_ = begin(489);
    let code_ = unsafe {
        target_(
            minGridSize,
            blockSize,
            func,
            blockSizeToDynamicSMemSize,
            dynamicSMemSize,
            blockSizeLimit,
            flags,
        )
    };
    end(call_, 489, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuOccupancyMaxPotentialClusterSize(
    clusterSize: *mut c_int,
    func: CUfunction,
    config: *const CUlaunchConfig,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_int, CUfunction, *const CUlaunchConfig) -> CUresult =
        unsafe { transmute(target::target(490)) };

    let call_ = begin(490);
    let code_ = unsafe { target_(clusterSize, func, config) };
    end(call_, 490, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuParamSetSize(hfunc: CUfunction, numbytes: c_uint) -> CUresult {
    let target_: unsafe extern "C" fn(CUfunction, c_uint) -> CUresult =
        unsafe { transmute(target::target(491)) };

    let call_ = begin(491);
    let code_ = unsafe { target_(hfunc, numbytes) };
    end(call_, 491, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuParamSetTexRef(
    hfunc: CUfunction,
    texunit: c_int,
    hTexRef: CUtexref,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUfunction, c_int, CUtexref) -> CUresult =
        unsafe { transmute(target::target(492)) };

    let call_ = begin(492);
    let code_ = unsafe { target_(hfunc, texunit, hTexRef) };
    end(call_, 492, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuParamSetf(hfunc: CUfunction, offset: c_int, value: f32) -> CUresult {
    let target_: unsafe extern "C" fn(CUfunction, c_int, f32) -> CUresult =
        unsafe { transmute(target::target(493)) };

    let call_ = begin(493);
    let code_ = unsafe { target_(hfunc, offset, value) };
    end(call_, 493, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuParamSeti(hfunc: CUfunction, offset: c_int, value: c_uint) -> CUresult {
    let target_: unsafe extern "C" fn(CUfunction, c_int, c_uint) -> CUresult =
        unsafe { transmute(target::target(494)) };

    let call_ = begin(494);
    let code_ = unsafe { target_(hfunc, offset, value) };
    end(call_, 494, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuParamSetv(
    hfunc: CUfunction,
    offset: c_int,
    ptr: *mut c_void,
    numbytes: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUfunction, c_int, *mut c_void, c_uint) -> CUresult =
        unsafe { transmute(target::target(495)) };

    let call_ = begin(495);
    let code_ = unsafe { target_(hfunc, offset, ptr, numbytes) };
    end(call_, 495, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuPointerGetAttribute(
    data: *mut c_void,
    attribute: CUpointer_attribute,
    ptr: CUdeviceptr,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_void, CUpointer_attribute, CUdeviceptr) -> CUresult =
        unsafe { transmute(target::target(496)) };

    let call_ = begin(496);
    let code_ = unsafe { target_(data, attribute, ptr) };
    end(call_, 496, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuPointerGetAttributes(
    numAttributes: c_uint,
    attributes: *mut CUpointer_attribute,
    data: *mut *mut c_void,
    ptr: CUdeviceptr,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        c_uint,
        *mut CUpointer_attribute,
        *mut *mut c_void,
        CUdeviceptr,
    ) -> CUresult = unsafe { transmute(target::target(497)) };

    let call_ = begin(497);
    let code_ = unsafe { target_(numAttributes, attributes, data, ptr) };
    end(call_, 497, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuPointerSetAttribute(
    value: *const c_void,
    attribute: CUpointer_attribute,
    ptr: CUdeviceptr,
) -> CUresult {
    let target_: unsafe extern "C" fn(*const c_void, CUpointer_attribute, CUdeviceptr) -> CUresult =
        unsafe { transmute(target::target(498)) };

    let call_ = begin(498);
    let code_ = unsafe { target_(value, attribute, ptr) };
    end(call_, 498, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuProfilerInitialize(
    configFile: *const c_char,
    outputFile: *const c_char,
    outputMode: CUoutput_mode,
) -> CUresult {
    let target_: unsafe extern "C" fn(*const c_char, *const c_char, CUoutput_mode) -> CUresult =
        unsafe { transmute(target::target(499)) };

    let call_ = begin(499);
    let code_ = unsafe { target_(configFile, outputFile, outputMode) };
    end(call_, 499, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuProfilerStart() -> CUresult {
    let target_: unsafe extern "C" fn() -> CUresult = unsafe { transmute(target::target(500)) };

    let call_ = begin(500);
    let code_ = unsafe { target_() };
    end(call_, 500, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuProfilerStop() -> CUresult {
    let target_: unsafe extern "C" fn() -> CUresult = unsafe { transmute(target::target(501)) };

    let call_ = begin(501);
    let code_ = unsafe { target_() };
    end(call_, 501, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuSignalExternalSemaphoresAsync(
    extSemArray: *const CUexternalSemaphore,
    paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS,
    numExtSems: c_uint,
    stream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *const CUexternalSemaphore,
        *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS,
        c_uint,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(502)) };

    let call_ = begin(502);
    let code_ = unsafe { target_(extSemArray, paramsArray, numExtSems, stream) };
    end(call_, 502, code_, || details::stream(stream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuSignalExternalSemaphoresAsync_ptsz(
    extSemArray: *const CUexternalSemaphore,
    paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS,
    numExtSems: c_uint,
    stream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *const CUexternalSemaphore,
        *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS,
        c_uint,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(503)) };

    let call_ = begin(503);
    let code_ = unsafe { target_(extSemArray, paramsArray, numExtSems, stream) };
    end(call_, 503, code_, || details::stream(stream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamAddCallback(
    hStream: CUstream,
    callback: CUstreamCallback,
    userData: *mut c_void,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUstreamCallback, *mut c_void, c_uint) -> CUresult =
        unsafe { transmute(target::target(504)) };

    let call_ = begin(504);
    let code_ = unsafe { target_(hStream, callback, userData, flags) };
    end(call_, 504, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamAddCallback_ptsz(
    hStream: CUstream,
    callback: CUstreamCallback,
    userData: *mut c_void,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUstreamCallback, *mut c_void, c_uint) -> CUresult =
        unsafe { transmute(target::target(505)) };

    let call_ = begin(505);
    let code_ = unsafe { target_(hStream, callback, userData, flags) };
    end(call_, 505, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamAttachMemAsync(
    hStream: CUstream,
    dptr: CUdeviceptr,
    length: usize,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUdeviceptr, usize, c_uint) -> CUresult =
        unsafe { transmute(target::target(506)) };

    let call_ = begin(506);
    let code_ = unsafe { target_(hStream, dptr, length, flags) };
    end(call_, 506, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamAttachMemAsync_ptsz(
    hStream: CUstream,
    dptr: CUdeviceptr,
    length: usize,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUdeviceptr, usize, c_uint) -> CUresult =
        unsafe { transmute(target::target(507)) };

    let call_ = begin(507);
    let code_ = unsafe { target_(hStream, dptr, length, flags) };
    end(call_, 507, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamBatchMemOp(
    stream: CUstream,
    count: c_uint,
    paramArray: *mut CUstreamBatchMemOpParams,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUstream,
        c_uint,
        *mut CUstreamBatchMemOpParams,
        c_uint,
    ) -> CUresult = unsafe { transmute(target::target(508)) };

    let call_ = begin(508);
    let code_ = unsafe { target_(stream, count, paramArray, flags) };
    end(call_, 508, code_, || details::stream(stream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamBatchMemOp_ptsz(
    stream: CUstream,
    count: c_uint,
    paramArray: *mut CUstreamBatchMemOpParams,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUstream,
        c_uint,
        *mut CUstreamBatchMemOpParams,
        c_uint,
    ) -> CUresult = unsafe { transmute(target::target(509)) };

    let call_ = begin(509);
    let code_ = unsafe { target_(stream, count, paramArray, flags) };
    end(call_, 509, code_, || details::stream(stream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamBatchMemOp_v2(
    stream: CUstream,
    count: c_uint,
    paramArray: *mut CUstreamBatchMemOpParams,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUstream,
        c_uint,
        *mut CUstreamBatchMemOpParams,
        c_uint,
    ) -> CUresult = unsafe { transmute(target::target(510)) };

    let call_ = begin(510);
    let code_ = unsafe { target_(stream, count, paramArray, flags) };
    end(call_, 510, code_, || details::stream(stream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamBatchMemOp_v2_ptsz(
    stream: CUstream,
    count: c_uint,
    paramArray: *mut CUstreamBatchMemOpParams,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUstream,
        c_uint,
        *mut CUstreamBatchMemOpParams,
        c_uint,
    ) -> CUresult = unsafe { transmute(target::target(511)) };

    let call_ = begin(511);
    let code_ = unsafe { target_(stream, count, paramArray, flags) };
    end(call_, 511, code_, || details::stream(stream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamBeginCaptureToCig(
    hStream: CUstream,
    streamCigCaptureParams: *mut CUstreamCigCaptureParams,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, *mut CUstreamCigCaptureParams) -> CUresult =
        unsafe { transmute(target::target(512)) };

    let call_ = begin(512);
    let code_ = unsafe { target_(hStream, streamCigCaptureParams) };
    end(call_, 512, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamBeginCaptureToCig_ptsz(
    hStream: CUstream,
    streamCigCaptureParams: *mut CUstreamCigCaptureParams,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, *mut CUstreamCigCaptureParams) -> CUresult =
        unsafe { transmute(target::target(513)) };

    let call_ = begin(513);
    let code_ = unsafe { target_(hStream, streamCigCaptureParams) };
    end(call_, 513, code_, || details::stream(hStream as u64));
    code_
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
    let target_: unsafe extern "C" fn(
        CUstream,
        CUgraph,
        *const CUgraphNode,
        *const CUgraphEdgeData,
        usize,
        CUstreamCaptureMode,
    ) -> CUresult = unsafe { transmute(target::target(514)) };

    let call_ = begin(514);
    let code_ = unsafe {
        target_(
            hStream,
            hGraph,
            dependencies,
            dependencyData,
            numDependencies,
            mode,
        )
    };
    end(call_, 514, code_, || details::stream(hStream as u64));
    code_
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
    let target_: unsafe extern "C" fn(
        CUstream,
        CUgraph,
        *const CUgraphNode,
        *const CUgraphEdgeData,
        usize,
        CUstreamCaptureMode,
    ) -> CUresult = unsafe { transmute(target::target(515)) };

    let call_ = begin(515);
    let code_ = unsafe {
        target_(
            hStream,
            hGraph,
            dependencies,
            dependencyData,
            numDependencies,
            mode,
        )
    };
    end(call_, 515, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamBeginCapture_v2(
    hStream: CUstream,
    mode: CUstreamCaptureMode,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUstreamCaptureMode) -> CUresult =
        unsafe { transmute(target::target(516)) };

    let call_ = begin(516);
    let code_ = unsafe { target_(hStream, mode) };
    end(call_, 516, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamBeginCapture_v2_ptsz(
    hStream: CUstream,
    mode: CUstreamCaptureMode,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUstreamCaptureMode) -> CUresult =
        unsafe { transmute(target::target(517)) };

    let call_ = begin(517);
    let code_ = unsafe { target_(hStream, mode) };
    end(call_, 517, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamBeginRecaptureToGraph(
    hStream: CUstream,
    mode: CUstreamCaptureMode,
    hGraph: CUgraph,
    callbackFunc: CUgraphRecaptureCallback,
    userData: *mut c_void,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUstream,
        CUstreamCaptureMode,
        CUgraph,
        CUgraphRecaptureCallback,
        *mut c_void,
    ) -> CUresult = unsafe { transmute(target::target(518)) };

    let call_ = begin(518);
    let code_ = unsafe { target_(hStream, mode, hGraph, callbackFunc, userData) };
    end(call_, 518, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamBeginRecaptureToGraph_ptsz(
    hStream: CUstream,
    mode: CUstreamCaptureMode,
    hGraph: CUgraph,
    callbackFunc: CUgraphRecaptureCallback,
    userData: *mut c_void,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUstream,
        CUstreamCaptureMode,
        CUgraph,
        CUgraphRecaptureCallback,
        *mut c_void,
    ) -> CUresult = unsafe { transmute(target::target(519)) };

    let call_ = begin(519);
    let code_ = unsafe { target_(hStream, mode, hGraph, callbackFunc, userData) };
    end(call_, 519, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCopyAttributes(dst: CUstream, src: CUstream) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUstream) -> CUresult =
        unsafe { transmute(target::target(520)) };

    let call_ = begin(520);
    let code_ = unsafe { target_(dst, src) };
    end(call_, 520, code_, || details::stream(dst as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCopyAttributes_ptsz(dst: CUstream, src: CUstream) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUstream) -> CUresult =
        unsafe { transmute(target::target(521)) };

    let call_ = begin(521);
    let code_ = unsafe { target_(dst, src) };
    end(call_, 521, code_, || details::stream(dst as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreate(phStream: *mut CUstream, Flags: c_uint) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUstream, c_uint) -> CUresult =
        unsafe { transmute(target::target(522)) };

    let call_ = begin(522);
    let code_ = unsafe { target_(phStream, Flags) };
    end(call_, 522, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreateWithPriority(
    phStream: *mut CUstream,
    flags: c_uint,
    priority: c_int,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUstream, c_uint, c_int) -> CUresult =
        unsafe { transmute(target::target(523)) };

    let call_ = begin(523);
    let code_ = unsafe { target_(phStream, flags, priority) };
    end(call_, 523, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamDestroy(hStream: CUstream) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream) -> CUresult =
        unsafe { transmute(target::target(524)) };

    let call_ = begin(524);
    let code_ = unsafe { target_(hStream) };
    end(call_, 524, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamDestroy_v2(hStream: CUstream) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream) -> CUresult =
        unsafe { transmute(target::target(525)) };

    let call_ = begin(525);
    let code_ = unsafe { target_(hStream) };
    end(call_, 525, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamEndCapture(hStream: CUstream, phGraph: *mut CUgraph) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, *mut CUgraph) -> CUresult =
        unsafe { transmute(target::target(526)) };

    let call_ = begin(526);
    let code_ = unsafe { target_(hStream, phGraph) };
    end(call_, 526, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamEndCaptureToCig(hStream: CUstream) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream) -> CUresult =
        unsafe { transmute(target::target(527)) };

    let call_ = begin(527);
    let code_ = unsafe { target_(hStream) };
    end(call_, 527, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamEndCaptureToCig_ptsz(hStream: CUstream) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream) -> CUresult =
        unsafe { transmute(target::target(528)) };

    let call_ = begin(528);
    let code_ = unsafe { target_(hStream) };
    end(call_, 528, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamEndCapture_ptsz(
    hStream: CUstream,
    phGraph: *mut CUgraph,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, *mut CUgraph) -> CUresult =
        unsafe { transmute(target::target(529)) };

    let call_ = begin(529);
    let code_ = unsafe { target_(hStream, phGraph) };
    end(call_, 529, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetAttribute(
    hStream: CUstream,
    attr: CUstreamAttrID,
    value_out: *mut CUstreamAttrValue,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUstream,
        CUstreamAttrID,
        *mut CUstreamAttrValue,
    ) -> CUresult = unsafe { transmute(target::target(530)) };

    let call_ = begin(530);
    let code_ = unsafe { target_(hStream, attr, value_out) };
    end(call_, 530, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetAttribute_ptsz(
    hStream: CUstream,
    attr: CUstreamAttrID,
    value_out: *mut CUstreamAttrValue,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUstream,
        CUstreamAttrID,
        *mut CUstreamAttrValue,
    ) -> CUresult = unsafe { transmute(target::target(531)) };

    let call_ = begin(531);
    let code_ = unsafe { target_(hStream, attr, value_out) };
    end(call_, 531, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetCaptureInfo(
    hStream: CUstream,
    captureStatus_out: *mut CUstreamCaptureStatus,
    id_out: *mut cuuint64_t,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUstream,
        *mut CUstreamCaptureStatus,
        *mut cuuint64_t,
    ) -> CUresult = unsafe { transmute(target::target(532)) };

    let call_ = begin(532);
    let code_ = unsafe { target_(hStream, captureStatus_out, id_out) };
    end(call_, 532, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetCaptureInfo_ptsz(
    hStream: CUstream,
    captureStatus_out: *mut CUstreamCaptureStatus,
    id_out: *mut cuuint64_t,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUstream,
        *mut CUstreamCaptureStatus,
        *mut cuuint64_t,
    ) -> CUresult = unsafe { transmute(target::target(533)) };

    let call_ = begin(533);
    let code_ = unsafe { target_(hStream, captureStatus_out, id_out) };
    end(call_, 533, code_, || details::stream(hStream as u64));
    code_
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
    let target_: unsafe extern "C" fn(
        CUstream,
        *mut CUstreamCaptureStatus,
        *mut cuuint64_t,
        *mut CUgraph,
        *mut *const CUgraphNode,
        *mut usize,
    ) -> CUresult = unsafe { transmute(target::target(534)) };

    let call_ = begin(534);
    let code_ = unsafe {
        target_(
            hStream,
            captureStatus_out,
            id_out,
            graph_out,
            dependencies_out,
            numDependencies_out,
        )
    };
    end(call_, 534, code_, || details::stream(hStream as u64));
    code_
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
    let target_: unsafe extern "C" fn(
        CUstream,
        *mut CUstreamCaptureStatus,
        *mut cuuint64_t,
        *mut CUgraph,
        *mut *const CUgraphNode,
        *mut usize,
    ) -> CUresult = unsafe { transmute(target::target(535)) };

    let call_ = begin(535);
    let code_ = unsafe {
        target_(
            hStream,
            captureStatus_out,
            id_out,
            graph_out,
            dependencies_out,
            numDependencies_out,
        )
    };
    end(call_, 535, code_, || details::stream(hStream as u64));
    code_
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
    let target_: unsafe extern "C" fn(
        CUstream,
        *mut CUstreamCaptureStatus,
        *mut cuuint64_t,
        *mut CUgraph,
        *mut *const CUgraphNode,
        *mut *const CUgraphEdgeData,
        *mut usize,
    ) -> CUresult = unsafe { transmute(target::target(536)) };

    let call_ = begin(536);
    let code_ = unsafe {
        target_(
            hStream,
            captureStatus_out,
            id_out,
            graph_out,
            dependencies_out,
            edgeData_out,
            numDependencies_out,
        )
    };
    end(call_, 536, code_, || details::stream(hStream as u64));
    code_
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
    let target_: unsafe extern "C" fn(
        CUstream,
        *mut CUstreamCaptureStatus,
        *mut cuuint64_t,
        *mut CUgraph,
        *mut *const CUgraphNode,
        *mut *const CUgraphEdgeData,
        *mut usize,
    ) -> CUresult = unsafe { transmute(target::target(537)) };

    let call_ = begin(537);
    let code_ = unsafe {
        target_(
            hStream,
            captureStatus_out,
            id_out,
            graph_out,
            dependencies_out,
            edgeData_out,
            numDependencies_out,
        )
    };
    end(call_, 537, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetCtx(hStream: CUstream, pctx: *mut CUcontext) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, *mut CUcontext) -> CUresult =
        unsafe { transmute(target::target(538)) };

    let call_ = begin(538);
    let code_ = unsafe { target_(hStream, pctx) };
    end(call_, 538, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetCtx_ptsz(hStream: CUstream, pctx: *mut CUcontext) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, *mut CUcontext) -> CUresult =
        unsafe { transmute(target::target(539)) };

    let call_ = begin(539);
    let code_ = unsafe { target_(hStream, pctx) };
    end(call_, 539, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetCtx_v2(
    hStream: CUstream,
    pCtx: *mut CUcontext,
    pGreenCtx: *mut CUgreenCtx,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, *mut CUcontext, *mut CUgreenCtx) -> CUresult =
        unsafe { transmute(target::target(540)) };

    let call_ = begin(540);
    let code_ = unsafe { target_(hStream, pCtx, pGreenCtx) };
    end(call_, 540, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetCtx_v2_ptsz(
    hStream: CUstream,
    pCtx: *mut CUcontext,
    pGreenCtx: *mut CUgreenCtx,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, *mut CUcontext, *mut CUgreenCtx) -> CUresult =
        unsafe { transmute(target::target(541)) };

    let call_ = begin(541);
    let code_ = unsafe { target_(hStream, pCtx, pGreenCtx) };
    end(call_, 541, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetDevResource(
    hStream: CUstream,
    resource: *mut CUdevResource,
    type_: CUdevResourceType,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, *mut CUdevResource, CUdevResourceType) -> CUresult =
        unsafe { transmute(target::target(542)) };

    let call_ = begin(542);
    let code_ = unsafe { target_(hStream, resource, type_) };
    end(call_, 542, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetDevResource_ptsz(
    hStream: CUstream,
    resource: *mut CUdevResource,
    type_: CUdevResourceType,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, *mut CUdevResource, CUdevResourceType) -> CUresult =
        unsafe { transmute(target::target(543)) };

    let call_ = begin(543);
    let code_ = unsafe { target_(hStream, resource, type_) };
    end(call_, 543, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetDevice(hStream: CUstream, device: *mut CUdevice) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, *mut CUdevice) -> CUresult =
        unsafe { transmute(target::target(544)) };

    let call_ = begin(544);
    let code_ = unsafe { target_(hStream, device) };
    end(call_, 544, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetDevice_ptsz(
    hStream: CUstream,
    device: *mut CUdevice,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, *mut CUdevice) -> CUresult =
        unsafe { transmute(target::target(545)) };

    let call_ = begin(545);
    let code_ = unsafe { target_(hStream, device) };
    end(call_, 545, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetFlags(hStream: CUstream, flags: *mut c_uint) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, *mut c_uint) -> CUresult =
        unsafe { transmute(target::target(546)) };

    let call_ = begin(546);
    let code_ = unsafe { target_(hStream, flags) };
    end(call_, 546, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetFlags_ptsz(hStream: CUstream, flags: *mut c_uint) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, *mut c_uint) -> CUresult =
        unsafe { transmute(target::target(547)) };

    let call_ = begin(547);
    let code_ = unsafe { target_(hStream, flags) };
    end(call_, 547, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetGreenCtx(
    hStream: CUstream,
    phCtx: *mut CUgreenCtx,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, *mut CUgreenCtx) -> CUresult =
        unsafe { transmute(target::target(548)) };

    let call_ = begin(548);
    let code_ = unsafe { target_(hStream, phCtx) };
    end(call_, 548, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetId(hStream: CUstream, streamId: *mut c_ulonglong) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, *mut c_ulonglong) -> CUresult =
        unsafe { transmute(target::target(549)) };

    let call_ = begin(549);
    let code_ = unsafe { target_(hStream, streamId) };
    end(call_, 549, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetId_ptsz(
    hStream: CUstream,
    streamId: *mut c_ulonglong,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, *mut c_ulonglong) -> CUresult =
        unsafe { transmute(target::target(550)) };

    let call_ = begin(550);
    let code_ = unsafe { target_(hStream, streamId) };
    end(call_, 550, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetPriority(hStream: CUstream, priority: *mut c_int) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, *mut c_int) -> CUresult =
        unsafe { transmute(target::target(551)) };

    let call_ = begin(551);
    let code_ = unsafe { target_(hStream, priority) };
    end(call_, 551, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamGetPriority_ptsz(
    hStream: CUstream,
    priority: *mut c_int,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, *mut c_int) -> CUresult =
        unsafe { transmute(target::target(552)) };

    let call_ = begin(552);
    let code_ = unsafe { target_(hStream, priority) };
    end(call_, 552, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamIsCapturing(
    hStream: CUstream,
    captureStatus: *mut CUstreamCaptureStatus,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, *mut CUstreamCaptureStatus) -> CUresult =
        unsafe { transmute(target::target(553)) };

    let call_ = begin(553);
    let code_ = unsafe { target_(hStream, captureStatus) };
    end(call_, 553, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamIsCapturing_ptsz(
    hStream: CUstream,
    captureStatus: *mut CUstreamCaptureStatus,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, *mut CUstreamCaptureStatus) -> CUresult =
        unsafe { transmute(target::target(554)) };

    let call_ = begin(554);
    let code_ = unsafe { target_(hStream, captureStatus) };
    end(call_, 554, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamQuery(hStream: CUstream) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream) -> CUresult =
        unsafe { transmute(target::target(555)) };

    let call_ = begin(555);
    let code_ = unsafe { target_(hStream) };
    end(call_, 555, code_, || details::stream(hStream as u64));
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamQuery_ptsz(hStream: CUstream) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream) -> CUresult =
        unsafe { transmute(target::target(556)) };

    let call_ = begin(556);
    let code_ = unsafe { target_(hStream) };
    end(call_, 556, code_, || details::stream(hStream as u64));
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamSetAttribute(
    hStream: CUstream,
    attr: CUstreamAttrID,
    value: *const CUstreamAttrValue,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUstream,
        CUstreamAttrID,
        *const CUstreamAttrValue,
    ) -> CUresult = unsafe { transmute(target::target(557)) };

    let call_ = begin(557);
    let code_ = unsafe { target_(hStream, attr, value) };
    end(call_, 557, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamSetAttribute_ptsz(
    hStream: CUstream,
    attr: CUstreamAttrID,
    value: *const CUstreamAttrValue,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUstream,
        CUstreamAttrID,
        *const CUstreamAttrValue,
    ) -> CUresult = unsafe { transmute(target::target(558)) };

    let call_ = begin(558);
    let code_ = unsafe { target_(hStream, attr, value) };
    end(call_, 558, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamSynchronize(hStream: CUstream) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream) -> CUresult =
        unsafe { transmute(target::target(559)) };

    let call_ = begin(559);
    let code_ = unsafe { target_(hStream) };
    end(call_, 559, code_, || details::stream(hStream as u64));
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamSynchronize_ptsz(hStream: CUstream) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream) -> CUresult =
        unsafe { transmute(target::target(560)) };

    let call_ = begin(560);
    let code_ = unsafe { target_(hStream) };
    end(call_, 560, code_, || details::stream(hStream as u64));
    if code_ == 0 {
        gpu::waited();
    }
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamUpdateCaptureDependencies(
    hStream: CUstream,
    dependencies: *mut CUgraphNode,
    numDependencies: usize,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, *mut CUgraphNode, usize, c_uint) -> CUresult =
        unsafe { transmute(target::target(561)) };

    let call_ = begin(561);
    let code_ = unsafe { target_(hStream, dependencies, numDependencies, flags) };
    end(call_, 561, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamUpdateCaptureDependencies_ptsz(
    hStream: CUstream,
    dependencies: *mut CUgraphNode,
    numDependencies: usize,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, *mut CUgraphNode, usize, c_uint) -> CUresult =
        unsafe { transmute(target::target(562)) };

    let call_ = begin(562);
    let code_ = unsafe { target_(hStream, dependencies, numDependencies, flags) };
    end(call_, 562, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamUpdateCaptureDependencies_v2(
    hStream: CUstream,
    dependencies: *mut CUgraphNode,
    dependencyData: *const CUgraphEdgeData,
    numDependencies: usize,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUstream,
        *mut CUgraphNode,
        *const CUgraphEdgeData,
        usize,
        c_uint,
    ) -> CUresult = unsafe { transmute(target::target(563)) };

    let call_ = begin(563);
    let code_ = unsafe {
        target_(
            hStream,
            dependencies,
            dependencyData,
            numDependencies,
            flags,
        )
    };
    end(call_, 563, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamUpdateCaptureDependencies_v2_ptsz(
    hStream: CUstream,
    dependencies: *mut CUgraphNode,
    dependencyData: *const CUgraphEdgeData,
    numDependencies: usize,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUstream,
        *mut CUgraphNode,
        *const CUgraphEdgeData,
        usize,
        c_uint,
    ) -> CUresult = unsafe { transmute(target::target(564)) };

    let call_ = begin(564);
    let code_ = unsafe {
        target_(
            hStream,
            dependencies,
            dependencyData,
            numDependencies,
            flags,
        )
    };
    end(call_, 564, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWaitEvent(
    hStream: CUstream,
    hEvent: CUevent,
    Flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUevent, c_uint) -> CUresult =
        unsafe { transmute(target::target(565)) };

    let call_ = begin(565);
    let code_ = unsafe { target_(hStream, hEvent, Flags) };
    end(call_, 565, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWaitEvent_ptsz(
    hStream: CUstream,
    hEvent: CUevent,
    Flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUevent, c_uint) -> CUresult =
        unsafe { transmute(target::target(566)) };

    let call_ = begin(566);
    let code_ = unsafe { target_(hStream, hEvent, Flags) };
    end(call_, 566, code_, || details::stream(hStream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWaitValue32(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint32_t,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUdeviceptr, cuuint32_t, c_uint) -> CUresult =
        unsafe { transmute(target::target(567)) };

    let call_ = begin(567);
    let code_ = unsafe { target_(stream, addr, value, flags) };
    end(call_, 567, code_, || details::stream(stream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWaitValue32_ptsz(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint32_t,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUdeviceptr, cuuint32_t, c_uint) -> CUresult =
        unsafe { transmute(target::target(568)) };

    let call_ = begin(568);
    let code_ = unsafe { target_(stream, addr, value, flags) };
    end(call_, 568, code_, || details::stream(stream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWaitValue32_v2(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint32_t,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUdeviceptr, cuuint32_t, c_uint) -> CUresult =
        unsafe { transmute(target::target(569)) };

    let call_ = begin(569);
    let code_ = unsafe { target_(stream, addr, value, flags) };
    end(call_, 569, code_, || details::stream(stream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWaitValue32_v2_ptsz(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint32_t,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUdeviceptr, cuuint32_t, c_uint) -> CUresult =
        unsafe { transmute(target::target(570)) };

    let call_ = begin(570);
    let code_ = unsafe { target_(stream, addr, value, flags) };
    end(call_, 570, code_, || details::stream(stream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWaitValue64(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint64_t,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUdeviceptr, cuuint64_t, c_uint) -> CUresult =
        unsafe { transmute(target::target(571)) };

    let call_ = begin(571);
    let code_ = unsafe { target_(stream, addr, value, flags) };
    end(call_, 571, code_, || details::stream(stream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWaitValue64_ptsz(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint64_t,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUdeviceptr, cuuint64_t, c_uint) -> CUresult =
        unsafe { transmute(target::target(572)) };

    let call_ = begin(572);
    let code_ = unsafe { target_(stream, addr, value, flags) };
    end(call_, 572, code_, || details::stream(stream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWaitValue64_v2(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint64_t,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUdeviceptr, cuuint64_t, c_uint) -> CUresult =
        unsafe { transmute(target::target(573)) };

    let call_ = begin(573);
    let code_ = unsafe { target_(stream, addr, value, flags) };
    end(call_, 573, code_, || details::stream(stream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWaitValue64_v2_ptsz(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint64_t,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUdeviceptr, cuuint64_t, c_uint) -> CUresult =
        unsafe { transmute(target::target(574)) };

    let call_ = begin(574);
    let code_ = unsafe { target_(stream, addr, value, flags) };
    end(call_, 574, code_, || details::stream(stream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWriteValue32(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint32_t,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUdeviceptr, cuuint32_t, c_uint) -> CUresult =
        unsafe { transmute(target::target(575)) };

    let call_ = begin(575);
    let code_ = unsafe { target_(stream, addr, value, flags) };
    end(call_, 575, code_, || details::stream(stream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWriteValue32_ptsz(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint32_t,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUdeviceptr, cuuint32_t, c_uint) -> CUresult =
        unsafe { transmute(target::target(576)) };

    let call_ = begin(576);
    let code_ = unsafe { target_(stream, addr, value, flags) };
    end(call_, 576, code_, || details::stream(stream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWriteValue32_v2(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint32_t,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUdeviceptr, cuuint32_t, c_uint) -> CUresult =
        unsafe { transmute(target::target(577)) };

    let call_ = begin(577);
    let code_ = unsafe { target_(stream, addr, value, flags) };
    end(call_, 577, code_, || details::stream(stream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWriteValue32_v2_ptsz(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint32_t,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUdeviceptr, cuuint32_t, c_uint) -> CUresult =
        unsafe { transmute(target::target(578)) };

    let call_ = begin(578);
    let code_ = unsafe { target_(stream, addr, value, flags) };
    end(call_, 578, code_, || details::stream(stream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWriteValue64(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint64_t,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUdeviceptr, cuuint64_t, c_uint) -> CUresult =
        unsafe { transmute(target::target(579)) };

    let call_ = begin(579);
    let code_ = unsafe { target_(stream, addr, value, flags) };
    end(call_, 579, code_, || details::stream(stream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWriteValue64_ptsz(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint64_t,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUdeviceptr, cuuint64_t, c_uint) -> CUresult =
        unsafe { transmute(target::target(580)) };

    let call_ = begin(580);
    let code_ = unsafe { target_(stream, addr, value, flags) };
    end(call_, 580, code_, || details::stream(stream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWriteValue64_v2(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint64_t,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUdeviceptr, cuuint64_t, c_uint) -> CUresult =
        unsafe { transmute(target::target(581)) };

    let call_ = begin(581);
    let code_ = unsafe { target_(stream, addr, value, flags) };
    end(call_, 581, code_, || details::stream(stream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamWriteValue64_v2_ptsz(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint64_t,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUstream, CUdeviceptr, cuuint64_t, c_uint) -> CUresult =
        unsafe { transmute(target::target(582)) };

    let call_ = begin(582);
    let code_ = unsafe { target_(stream, addr, value, flags) };
    end(call_, 582, code_, || details::stream(stream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuSurfObjectCreate(
    pSurfObject: *mut CUsurfObject,
    pResDesc: *const CUDA_RESOURCE_DESC,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUsurfObject, *const CUDA_RESOURCE_DESC) -> CUresult =
        unsafe { transmute(target::target(583)) };

    let call_ = begin(583);
    let code_ = unsafe { target_(pSurfObject, pResDesc) };
    end(call_, 583, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuSurfObjectDestroy(surfObject: CUsurfObject) -> CUresult {
    let target_: unsafe extern "C" fn(CUsurfObject) -> CUresult =
        unsafe { transmute(target::target(584)) };

    let call_ = begin(584);
    let code_ = unsafe { target_(surfObject) };
    end(call_, 584, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuSurfObjectGetResourceDesc(
    pResDesc: *mut CUDA_RESOURCE_DESC,
    surfObject: CUsurfObject,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUDA_RESOURCE_DESC, CUsurfObject) -> CUresult =
        unsafe { transmute(target::target(585)) };

    let call_ = begin(585);
    let code_ = unsafe { target_(pResDesc, surfObject) };
    end(call_, 585, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuSurfRefGetArray(phArray: *mut CUarray, hSurfRef: CUsurfref) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUarray, CUsurfref) -> CUresult =
        unsafe { transmute(target::target(586)) };

    let call_ = begin(586);
    let code_ = unsafe { target_(phArray, hSurfRef) };
    end(call_, 586, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuSurfRefSetArray(
    hSurfRef: CUsurfref,
    hArray: CUarray,
    Flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUsurfref, CUarray, c_uint) -> CUresult =
        unsafe { transmute(target::target(587)) };

    let call_ = begin(587);
    let code_ = unsafe { target_(hSurfRef, hArray, Flags) };
    end(call_, 587, code_, details::plain);
    code_
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
    let target_: unsafe extern "C" fn(
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
    ) -> CUresult = unsafe { transmute(target::target(588)) };

    let call_ = begin(588);
    let code_ = unsafe {
        target_(
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
    };
    end(call_, 588, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTensorMapEncodeIm2colWide(
    tensorMap: *mut CUtensorMap,
    tensorDataType: CUtensorMapDataType,
    tensorRank: cuuint32_t,
    globalAddress: *mut c_void,
    globalDim: *const cuuint64_t,
    globalStrides: *const cuuint64_t,
    pixelBoxLowerCornerWidth: c_int,
    pixelBoxUpperCornerWidth: c_int,
    channelsPerPixel: cuuint32_t,
    pixelsPerColumn: cuuint32_t,
    elementStrides: *const cuuint32_t,
    interleave: CUtensorMapInterleave,
    mode: CUtensorMapIm2ColWideMode,
    swizzle: CUtensorMapSwizzle,
    l2Promotion: CUtensorMapL2promotion,
    oobFill: CUtensorMapFloatOOBfill,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUtensorMap,
        CUtensorMapDataType,
        cuuint32_t,
        *mut c_void,
        *const cuuint64_t,
        *const cuuint64_t,
        c_int,
        c_int,
        cuuint32_t,
        cuuint32_t,
        *const cuuint32_t,
        CUtensorMapInterleave,
        CUtensorMapIm2ColWideMode,
        CUtensorMapSwizzle,
        CUtensorMapL2promotion,
        CUtensorMapFloatOOBfill,
    ) -> CUresult = unsafe { transmute(target::target(589)) };

    let call_ = begin(589);
    let code_ = unsafe {
        target_(
            tensorMap,
            tensorDataType,
            tensorRank,
            globalAddress,
            globalDim,
            globalStrides,
            pixelBoxLowerCornerWidth,
            pixelBoxUpperCornerWidth,
            channelsPerPixel,
            pixelsPerColumn,
            elementStrides,
            interleave,
            mode,
            swizzle,
            l2Promotion,
            oobFill,
        )
    };
    end(call_, 589, code_, details::plain);
    code_
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
    let target_: unsafe extern "C" fn(
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
    ) -> CUresult = unsafe { transmute(target::target(590)) };

    let call_ = begin(590);
    let code_ = unsafe {
        target_(
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
    };
    end(call_, 590, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTensorMapReplaceAddress(
    tensorMap: *mut CUtensorMap,
    globalAddress: *mut c_void,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUtensorMap, *mut c_void) -> CUresult =
        unsafe { transmute(target::target(591)) };

    let call_ = begin(591);
    let code_ = unsafe { target_(tensorMap, globalAddress) };
    end(call_, 591, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexObjectCreate(
    pTexObject: *mut CUtexObject,
    pResDesc: *const CUDA_RESOURCE_DESC,
    pTexDesc: *const CUDA_TEXTURE_DESC,
    pResViewDesc: *const CUDA_RESOURCE_VIEW_DESC,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUtexObject,
        *const CUDA_RESOURCE_DESC,
        *const CUDA_TEXTURE_DESC,
        *const CUDA_RESOURCE_VIEW_DESC,
    ) -> CUresult = unsafe { transmute(target::target(592)) };

    let call_ = begin(592);
    let code_ = unsafe { target_(pTexObject, pResDesc, pTexDesc, pResViewDesc) };
    end(call_, 592, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexObjectDestroy(texObject: CUtexObject) -> CUresult {
    let target_: unsafe extern "C" fn(CUtexObject) -> CUresult =
        unsafe { transmute(target::target(593)) };

    let call_ = begin(593);
    let code_ = unsafe { target_(texObject) };
    end(call_, 593, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexObjectGetResourceDesc(
    pResDesc: *mut CUDA_RESOURCE_DESC,
    texObject: CUtexObject,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUDA_RESOURCE_DESC, CUtexObject) -> CUresult =
        unsafe { transmute(target::target(594)) };

    let call_ = begin(594);
    let code_ = unsafe { target_(pResDesc, texObject) };
    end(call_, 594, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexObjectGetResourceViewDesc(
    pResViewDesc: *mut CUDA_RESOURCE_VIEW_DESC,
    texObject: CUtexObject,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUDA_RESOURCE_VIEW_DESC, CUtexObject) -> CUresult =
        unsafe { transmute(target::target(595)) };

    let call_ = begin(595);
    let code_ = unsafe { target_(pResViewDesc, texObject) };
    end(call_, 595, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexObjectGetTextureDesc(
    pTexDesc: *mut CUDA_TEXTURE_DESC,
    texObject: CUtexObject,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUDA_TEXTURE_DESC, CUtexObject) -> CUresult =
        unsafe { transmute(target::target(596)) };

    let call_ = begin(596);
    let code_ = unsafe { target_(pTexDesc, texObject) };
    end(call_, 596, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefCreate(pTexRef: *mut CUtexref) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUtexref) -> CUresult =
        unsafe { transmute(target::target(597)) };

    let call_ = begin(597);
    let code_ = unsafe { target_(pTexRef) };
    end(call_, 597, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefDestroy(hTexRef: CUtexref) -> CUresult {
    let target_: unsafe extern "C" fn(CUtexref) -> CUresult =
        unsafe { transmute(target::target(598)) };

    let call_ = begin(598);
    let code_ = unsafe { target_(hTexRef) };
    end(call_, 598, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefGetAddressMode(
    pam: *mut CUaddress_mode,
    hTexRef: CUtexref,
    dim: c_int,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUaddress_mode, CUtexref, c_int) -> CUresult =
        unsafe { transmute(target::target(599)) };

    let call_ = begin(599);
    let code_ = unsafe { target_(pam, hTexRef, dim) };
    end(call_, 599, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefGetAddress_v2(
    pdptr: *mut CUdeviceptr,
    hTexRef: CUtexref,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUdeviceptr, CUtexref) -> CUresult =
        unsafe { transmute(target::target(600)) };

    let call_ = begin(600);
    let code_ = unsafe { target_(pdptr, hTexRef) };
    end(call_, 600, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefGetArray(phArray: *mut CUarray, hTexRef: CUtexref) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUarray, CUtexref) -> CUresult =
        unsafe { transmute(target::target(601)) };

    let call_ = begin(601);
    let code_ = unsafe { target_(phArray, hTexRef) };
    end(call_, 601, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefGetBorderColor(
    pBorderColor: *mut f32,
    hTexRef: CUtexref,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut f32, CUtexref) -> CUresult =
        unsafe { transmute(target::target(602)) };

    let call_ = begin(602);
    let code_ = unsafe { target_(pBorderColor, hTexRef) };
    end(call_, 602, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefGetFilterMode(
    pfm: *mut CUfilter_mode,
    hTexRef: CUtexref,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUfilter_mode, CUtexref) -> CUresult =
        unsafe { transmute(target::target(603)) };

    let call_ = begin(603);
    let code_ = unsafe { target_(pfm, hTexRef) };
    end(call_, 603, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefGetFlags(pFlags: *mut c_uint, hTexRef: CUtexref) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_uint, CUtexref) -> CUresult =
        unsafe { transmute(target::target(604)) };

    let call_ = begin(604);
    let code_ = unsafe { target_(pFlags, hTexRef) };
    end(call_, 604, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefGetFormat(
    pFormat: *mut CUarray_format,
    pNumChannels: *mut c_int,
    hTexRef: CUtexref,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUarray_format, *mut c_int, CUtexref) -> CUresult =
        unsafe { transmute(target::target(605)) };

    let call_ = begin(605);
    let code_ = unsafe { target_(pFormat, pNumChannels, hTexRef) };
    end(call_, 605, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefGetMaxAnisotropy(
    pmaxAniso: *mut c_int,
    hTexRef: CUtexref,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut c_int, CUtexref) -> CUresult =
        unsafe { transmute(target::target(606)) };

    let call_ = begin(606);
    let code_ = unsafe { target_(pmaxAniso, hTexRef) };
    end(call_, 606, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefGetMipmapFilterMode(
    pfm: *mut CUfilter_mode,
    hTexRef: CUtexref,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUfilter_mode, CUtexref) -> CUresult =
        unsafe { transmute(target::target(607)) };

    let call_ = begin(607);
    let code_ = unsafe { target_(pfm, hTexRef) };
    end(call_, 607, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefGetMipmapLevelBias(
    pbias: *mut f32,
    hTexRef: CUtexref,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut f32, CUtexref) -> CUresult =
        unsafe { transmute(target::target(608)) };

    let call_ = begin(608);
    let code_ = unsafe { target_(pbias, hTexRef) };
    end(call_, 608, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefGetMipmapLevelClamp(
    pminMipmapLevelClamp: *mut f32,
    pmaxMipmapLevelClamp: *mut f32,
    hTexRef: CUtexref,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut f32, *mut f32, CUtexref) -> CUresult =
        unsafe { transmute(target::target(609)) };

    let call_ = begin(609);
    let code_ = unsafe { target_(pminMipmapLevelClamp, pmaxMipmapLevelClamp, hTexRef) };
    end(call_, 609, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefGetMipmappedArray(
    phMipmappedArray: *mut CUmipmappedArray,
    hTexRef: CUtexref,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUmipmappedArray, CUtexref) -> CUresult =
        unsafe { transmute(target::target(610)) };

    let call_ = begin(610);
    let code_ = unsafe { target_(phMipmappedArray, hTexRef) };
    end(call_, 610, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefSetAddress2D_v3(
    hTexRef: CUtexref,
    desc: *const CUDA_ARRAY_DESCRIPTOR,
    dptr: CUdeviceptr,
    Pitch: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        CUtexref,
        *const CUDA_ARRAY_DESCRIPTOR,
        CUdeviceptr,
        usize,
    ) -> CUresult = unsafe { transmute(target::target(611)) };

    let call_ = begin(611);
    let code_ = unsafe { target_(hTexRef, desc, dptr, Pitch) };
    end(call_, 611, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefSetAddressMode(
    hTexRef: CUtexref,
    dim: c_int,
    am: CUaddress_mode,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUtexref, c_int, CUaddress_mode) -> CUresult =
        unsafe { transmute(target::target(612)) };

    let call_ = begin(612);
    let code_ = unsafe { target_(hTexRef, dim, am) };
    end(call_, 612, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefSetAddress_v2(
    ByteOffset: *mut usize,
    hTexRef: CUtexref,
    dptr: CUdeviceptr,
    bytes: usize,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut usize, CUtexref, CUdeviceptr, usize) -> CUresult =
        unsafe { transmute(target::target(613)) };

    let call_ = begin(613);
    let code_ = unsafe { target_(ByteOffset, hTexRef, dptr, bytes) };
    end(call_, 613, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefSetArray(
    hTexRef: CUtexref,
    hArray: CUarray,
    Flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUtexref, CUarray, c_uint) -> CUresult =
        unsafe { transmute(target::target(614)) };

    let call_ = begin(614);
    let code_ = unsafe { target_(hTexRef, hArray, Flags) };
    end(call_, 614, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefSetBorderColor(
    hTexRef: CUtexref,
    pBorderColor: *mut f32,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUtexref, *mut f32) -> CUresult =
        unsafe { transmute(target::target(615)) };

    let call_ = begin(615);
    let code_ = unsafe { target_(hTexRef, pBorderColor) };
    end(call_, 615, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefSetFilterMode(hTexRef: CUtexref, fm: CUfilter_mode) -> CUresult {
    let target_: unsafe extern "C" fn(CUtexref, CUfilter_mode) -> CUresult =
        unsafe { transmute(target::target(616)) };

    let call_ = begin(616);
    let code_ = unsafe { target_(hTexRef, fm) };
    end(call_, 616, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefSetFlags(hTexRef: CUtexref, Flags: c_uint) -> CUresult {
    let target_: unsafe extern "C" fn(CUtexref, c_uint) -> CUresult =
        unsafe { transmute(target::target(617)) };

    let call_ = begin(617);
    let code_ = unsafe { target_(hTexRef, Flags) };
    end(call_, 617, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefSetFormat(
    hTexRef: CUtexref,
    fmt: CUarray_format,
    NumPackedComponents: c_int,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUtexref, CUarray_format, c_int) -> CUresult =
        unsafe { transmute(target::target(618)) };

    let call_ = begin(618);
    let code_ = unsafe { target_(hTexRef, fmt, NumPackedComponents) };
    end(call_, 618, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefSetMaxAnisotropy(hTexRef: CUtexref, maxAniso: c_uint) -> CUresult {
    let target_: unsafe extern "C" fn(CUtexref, c_uint) -> CUresult =
        unsafe { transmute(target::target(619)) };

    let call_ = begin(619);
    let code_ = unsafe { target_(hTexRef, maxAniso) };
    end(call_, 619, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefSetMipmapFilterMode(
    hTexRef: CUtexref,
    fm: CUfilter_mode,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUtexref, CUfilter_mode) -> CUresult =
        unsafe { transmute(target::target(620)) };

    let call_ = begin(620);
    let code_ = unsafe { target_(hTexRef, fm) };
    end(call_, 620, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefSetMipmapLevelBias(hTexRef: CUtexref, bias: f32) -> CUresult {
    let target_: unsafe extern "C" fn(CUtexref, f32) -> CUresult =
        unsafe { transmute(target::target(621)) };

    let call_ = begin(621);
    let code_ = unsafe { target_(hTexRef, bias) };
    end(call_, 621, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefSetMipmapLevelClamp(
    hTexRef: CUtexref,
    minMipmapLevelClamp: f32,
    maxMipmapLevelClamp: f32,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUtexref, f32, f32) -> CUresult =
        unsafe { transmute(target::target(622)) };

    let call_ = begin(622);
    let code_ = unsafe { target_(hTexRef, minMipmapLevelClamp, maxMipmapLevelClamp) };
    end(call_, 622, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuTexRefSetMipmappedArray(
    hTexRef: CUtexref,
    hMipmappedArray: CUmipmappedArray,
    Flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(CUtexref, CUmipmappedArray, c_uint) -> CUresult =
        unsafe { transmute(target::target(623)) };

    let call_ = begin(623);
    let code_ = unsafe { target_(hTexRef, hMipmappedArray, Flags) };
    end(call_, 623, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuThreadExchangeStreamCaptureMode(
    mode: *mut CUstreamCaptureMode,
) -> CUresult {
    let target_: unsafe extern "C" fn(*mut CUstreamCaptureMode) -> CUresult =
        unsafe { transmute(target::target(624)) };

    let call_ = begin(624);
    let code_ = unsafe { target_(mode) };
    end(call_, 624, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuUserObjectCreate(
    object_out: *mut CUuserObject,
    ptr: *mut c_void,
    destroy: CUhostFn,
    initialRefcount: c_uint,
    flags: c_uint,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *mut CUuserObject,
        *mut c_void,
        CUhostFn,
        c_uint,
        c_uint,
    ) -> CUresult = unsafe { transmute(target::target(625)) };

    let call_ = begin(625);
    let code_ = unsafe { target_(object_out, ptr, destroy, initialRefcount, flags) };
    end(call_, 625, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuUserObjectRelease(object: CUuserObject, count: c_uint) -> CUresult {
    let target_: unsafe extern "C" fn(CUuserObject, c_uint) -> CUresult =
        unsafe { transmute(target::target(626)) };

    let call_ = begin(626);
    let code_ = unsafe { target_(object, count) };
    end(call_, 626, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuUserObjectRetain(object: CUuserObject, count: c_uint) -> CUresult {
    let target_: unsafe extern "C" fn(CUuserObject, c_uint) -> CUresult =
        unsafe { transmute(target::target(627)) };

    let call_ = begin(627);
    let code_ = unsafe { target_(object, count) };
    end(call_, 627, code_, details::plain);
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuWaitExternalSemaphoresAsync(
    extSemArray: *const CUexternalSemaphore,
    paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS,
    numExtSems: c_uint,
    stream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *const CUexternalSemaphore,
        *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS,
        c_uint,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(628)) };

    let call_ = begin(628);
    let code_ = unsafe { target_(extSemArray, paramsArray, numExtSems, stream) };
    end(call_, 628, code_, || details::stream(stream as u64));
    code_
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuWaitExternalSemaphoresAsync_ptsz(
    extSemArray: *const CUexternalSemaphore,
    paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS,
    numExtSems: c_uint,
    stream: CUstream,
) -> CUresult {
    let target_: unsafe extern "C" fn(
        *const CUexternalSemaphore,
        *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS,
        c_uint,
        CUstream,
    ) -> CUresult = unsafe { transmute(target::target(629)) };

    let call_ = begin(629);
    let code_ = unsafe { target_(extSemArray, paramsArray, numExtSems, stream) };
    end(call_, 629, code_, || details::stream(stream as u64));
    code_
}

/// Addresses of the wrappers, by number.
pub(crate) static WRAPPERS: &[crate::target::Address] = &[
    crate::target::Address(cuArray3DCreate_v2 as *const () as *const c_void),
    crate::target::Address(cuArray3DGetDescriptor_v2 as *const () as *const c_void),
    crate::target::Address(cuArrayCreate_v2 as *const () as *const c_void),
    crate::target::Address(cuArrayDestroy as *const () as *const c_void),
    crate::target::Address(cuArrayGetDescriptor_v2 as *const () as *const c_void),
    crate::target::Address(cuArrayGetMemoryRequirements as *const () as *const c_void),
    crate::target::Address(cuArrayGetPlane as *const () as *const c_void),
    crate::target::Address(cuArrayGetSparseProperties as *const () as *const c_void),
    crate::target::Address(cuCoredumpDeregisterCompleteCallback as *const () as *const c_void),
    crate::target::Address(cuCoredumpDeregisterStartCallback as *const () as *const c_void),
    crate::target::Address(cuCoredumpGetAttribute as *const () as *const c_void),
    crate::target::Address(cuCoredumpGetAttributeGlobal as *const () as *const c_void),
    crate::target::Address(cuCoredumpRegisterCompleteCallback as *const () as *const c_void),
    crate::target::Address(cuCoredumpRegisterStartCallback as *const () as *const c_void),
    crate::target::Address(cuCoredumpSetAttribute as *const () as *const c_void),
    crate::target::Address(cuCoredumpSetAttributeGlobal as *const () as *const c_void),
    crate::target::Address(cuCtxAttach as *const () as *const c_void),
    crate::target::Address(cuCtxCreate as *const () as *const c_void),
    crate::target::Address(cuCtxCreate_v2 as *const () as *const c_void),
    crate::target::Address(cuCtxCreate_v3 as *const () as *const c_void),
    crate::target::Address(cuCtxCreate_v4 as *const () as *const c_void),
    crate::target::Address(cuCtxDestroy as *const () as *const c_void),
    crate::target::Address(cuCtxDestroy_v2 as *const () as *const c_void),
    crate::target::Address(cuCtxDetach as *const () as *const c_void),
    crate::target::Address(cuCtxDisablePeerAccess as *const () as *const c_void),
    crate::target::Address(cuCtxEnablePeerAccess as *const () as *const c_void),
    crate::target::Address(cuCtxFromGreenCtx as *const () as *const c_void),
    crate::target::Address(cuCtxGetApiVersion as *const () as *const c_void),
    crate::target::Address(cuCtxGetCacheConfig as *const () as *const c_void),
    crate::target::Address(cuCtxGetCurrent as *const () as *const c_void),
    crate::target::Address(cuCtxGetDevResource as *const () as *const c_void),
    crate::target::Address(cuCtxGetDevice as *const () as *const c_void),
    crate::target::Address(cuCtxGetDevice_v2 as *const () as *const c_void),
    crate::target::Address(cuCtxGetExecAffinity as *const () as *const c_void),
    crate::target::Address(cuCtxGetFlags as *const () as *const c_void),
    crate::target::Address(cuCtxGetId as *const () as *const c_void),
    crate::target::Address(cuCtxGetLimit as *const () as *const c_void),
    crate::target::Address(cuCtxGetSharedMemConfig as *const () as *const c_void),
    crate::target::Address(cuCtxGetStreamPriorityRange as *const () as *const c_void),
    crate::target::Address(cuCtxPopCurrent as *const () as *const c_void),
    crate::target::Address(cuCtxPopCurrent_v2 as *const () as *const c_void),
    crate::target::Address(cuCtxPushCurrent as *const () as *const c_void),
    crate::target::Address(cuCtxPushCurrent_v2 as *const () as *const c_void),
    crate::target::Address(cuCtxRecordEvent as *const () as *const c_void),
    crate::target::Address(cuCtxResetPersistingL2Cache as *const () as *const c_void),
    crate::target::Address(cuCtxSetCacheConfig as *const () as *const c_void),
    crate::target::Address(cuCtxSetCurrent as *const () as *const c_void),
    crate::target::Address(cuCtxSetFlags as *const () as *const c_void),
    crate::target::Address(cuCtxSetLimit as *const () as *const c_void),
    crate::target::Address(cuCtxSetSharedMemConfig as *const () as *const c_void),
    crate::target::Address(cuCtxSynchronize as *const () as *const c_void),
    crate::target::Address(cuCtxSynchronize_v2 as *const () as *const c_void),
    crate::target::Address(cuCtxWaitEvent as *const () as *const c_void),
    crate::target::Address(cuDestroyExternalMemory as *const () as *const c_void),
    crate::target::Address(cuDestroyExternalSemaphore as *const () as *const c_void),
    crate::target::Address(cuDevResourceGenerateDesc as *const () as *const c_void),
    crate::target::Address(cuDevSmResourceSplit as *const () as *const c_void),
    crate::target::Address(cuDevSmResourceSplitByCount as *const () as *const c_void),
    crate::target::Address(cuDeviceCanAccessPeer as *const () as *const c_void),
    crate::target::Address(cuDeviceComputeCapability as *const () as *const c_void),
    crate::target::Address(cuDeviceGet as *const () as *const c_void),
    crate::target::Address(cuDeviceGetAttribute as *const () as *const c_void),
    crate::target::Address(cuDeviceGetByPCIBusId as *const () as *const c_void),
    crate::target::Address(cuDeviceGetCliqueCount as *const () as *const c_void),
    crate::target::Address(cuDeviceGetCliqueInfo as *const () as *const c_void),
    crate::target::Address(cuDeviceGetCount as *const () as *const c_void),
    crate::target::Address(cuDeviceGetDefaultMemPool as *const () as *const c_void),
    crate::target::Address(cuDeviceGetDevResource as *const () as *const c_void),
    crate::target::Address(cuDeviceGetExecAffinitySupport as *const () as *const c_void),
    crate::target::Address(cuDeviceGetFabricClusterUuid as *const () as *const c_void),
    crate::target::Address(cuDeviceGetGraphMemAttribute as *const () as *const c_void),
    crate::target::Address(cuDeviceGetHostAtomicCapabilities as *const () as *const c_void),
    crate::target::Address(cuDeviceGetLuid as *const () as *const c_void),
    crate::target::Address(cuDeviceGetMemPool as *const () as *const c_void),
    crate::target::Address(cuDeviceGetName as *const () as *const c_void),
    crate::target::Address(cuDeviceGetP2PAtomicCapabilities as *const () as *const c_void),
    crate::target::Address(cuDeviceGetP2PAttribute as *const () as *const c_void),
    crate::target::Address(cuDeviceGetPCIBusId as *const () as *const c_void),
    crate::target::Address(cuDeviceGetProperties as *const () as *const c_void),
    crate::target::Address(cuDeviceGetTexture1DLinearMaxWidth as *const () as *const c_void),
    crate::target::Address(cuDeviceGetUuid as *const () as *const c_void),
    crate::target::Address(cuDeviceGetUuid_v2 as *const () as *const c_void),
    crate::target::Address(cuDeviceGraphMemTrim as *const () as *const c_void),
    crate::target::Address(cuDevicePrimaryCtxGetState as *const () as *const c_void),
    crate::target::Address(cuDevicePrimaryCtxRelease as *const () as *const c_void),
    crate::target::Address(cuDevicePrimaryCtxRelease_v2 as *const () as *const c_void),
    crate::target::Address(cuDevicePrimaryCtxReset as *const () as *const c_void),
    crate::target::Address(cuDevicePrimaryCtxReset_v2 as *const () as *const c_void),
    crate::target::Address(cuDevicePrimaryCtxRetain as *const () as *const c_void),
    crate::target::Address(cuDevicePrimaryCtxSetFlags as *const () as *const c_void),
    crate::target::Address(cuDevicePrimaryCtxSetFlags_v2 as *const () as *const c_void),
    crate::target::Address(cuDeviceRegisterAsyncNotification as *const () as *const c_void),
    crate::target::Address(cuDeviceSetGraphMemAttribute as *const () as *const c_void),
    crate::target::Address(cuDeviceSetMemPool as *const () as *const c_void),
    crate::target::Address(cuDeviceTotalMem_v2 as *const () as *const c_void),
    crate::target::Address(cuDeviceUnregisterAsyncNotification as *const () as *const c_void),
    crate::target::Address(cuDriverGetVersion as *const () as *const c_void),
    crate::target::Address(cuEventCreate as *const () as *const c_void),
    crate::target::Address(cuEventDestroy as *const () as *const c_void),
    crate::target::Address(cuEventDestroy_v2 as *const () as *const c_void),
    crate::target::Address(cuEventElapsedTime as *const () as *const c_void),
    crate::target::Address(cuEventElapsedTime_v2 as *const () as *const c_void),
    crate::target::Address(cuEventQuery as *const () as *const c_void),
    crate::target::Address(cuEventRecord as *const () as *const c_void),
    crate::target::Address(cuEventRecordWithFlags as *const () as *const c_void),
    crate::target::Address(cuEventRecordWithFlags_ptsz as *const () as *const c_void),
    crate::target::Address(cuEventRecord_ptsz as *const () as *const c_void),
    crate::target::Address(cuEventSynchronize as *const () as *const c_void),
    crate::target::Address(cuExternalMemoryGetMappedBuffer as *const () as *const c_void),
    crate::target::Address(cuExternalMemoryGetMappedMipmappedArray as *const () as *const c_void),
    crate::target::Address(cuFlushGPUDirectRDMAWrites as *const () as *const c_void),
    crate::target::Address(cuFuncGetAttribute as *const () as *const c_void),
    crate::target::Address(cuFuncGetModule as *const () as *const c_void),
    crate::target::Address(cuFuncGetName as *const () as *const c_void),
    crate::target::Address(cuFuncGetParamCount as *const () as *const c_void),
    crate::target::Address(cuFuncGetParamInfo as *const () as *const c_void),
    crate::target::Address(cuFuncIsLoaded as *const () as *const c_void),
    crate::target::Address(cuFuncLoad as *const () as *const c_void),
    crate::target::Address(cuFuncSetAttribute as *const () as *const c_void),
    crate::target::Address(cuFuncSetBlockShape as *const () as *const c_void),
    crate::target::Address(cuFuncSetCacheConfig as *const () as *const c_void),
    crate::target::Address(cuFuncSetSharedMemConfig as *const () as *const c_void),
    crate::target::Address(cuFuncSetSharedSize as *const () as *const c_void),
    crate::target::Address(cuGetErrorName as *const () as *const c_void),
    crate::target::Address(cuGetErrorString as *const () as *const c_void),
    crate::target::Address(cuGetExportTable as *const () as *const c_void),
    crate::target::Address(cuGetProcAddress as *const () as *const c_void),
    crate::target::Address(cuGetProcAddress_v2 as *const () as *const c_void),
    crate::target::Address(cuGraphAddBatchMemOpNode as *const () as *const c_void),
    crate::target::Address(cuGraphAddChildGraphNode as *const () as *const c_void),
    crate::target::Address(cuGraphAddDependencies as *const () as *const c_void),
    crate::target::Address(cuGraphAddDependencies_v2 as *const () as *const c_void),
    crate::target::Address(cuGraphAddEmptyNode as *const () as *const c_void),
    crate::target::Address(cuGraphAddEventRecordNode as *const () as *const c_void),
    crate::target::Address(cuGraphAddEventWaitNode as *const () as *const c_void),
    crate::target::Address(cuGraphAddExternalSemaphoresSignalNode as *const () as *const c_void),
    crate::target::Address(cuGraphAddExternalSemaphoresWaitNode as *const () as *const c_void),
    crate::target::Address(cuGraphAddHostNode as *const () as *const c_void),
    crate::target::Address(cuGraphAddKernelNode as *const () as *const c_void),
    crate::target::Address(cuGraphAddKernelNode_v2 as *const () as *const c_void),
    crate::target::Address(cuGraphAddMemAllocNode as *const () as *const c_void),
    crate::target::Address(cuGraphAddMemFreeNode as *const () as *const c_void),
    crate::target::Address(cuGraphAddMemcpyNode as *const () as *const c_void),
    crate::target::Address(cuGraphAddMemsetNode as *const () as *const c_void),
    crate::target::Address(cuGraphAddNode as *const () as *const c_void),
    crate::target::Address(cuGraphAddNode_v2 as *const () as *const c_void),
    crate::target::Address(cuGraphAddNode_v3 as *const () as *const c_void),
    crate::target::Address(cuGraphBatchMemOpNodeGetParams as *const () as *const c_void),
    crate::target::Address(cuGraphBatchMemOpNodeSetParams as *const () as *const c_void),
    crate::target::Address(cuGraphChildGraphNodeGetGraph as *const () as *const c_void),
    crate::target::Address(cuGraphClone as *const () as *const c_void),
    crate::target::Address(cuGraphConditionalHandleCreate as *const () as *const c_void),
    crate::target::Address(cuGraphCreate as *const () as *const c_void),
    crate::target::Address(cuGraphDebugDotPrint as *const () as *const c_void),
    crate::target::Address(cuGraphDestroy as *const () as *const c_void),
    crate::target::Address(cuGraphDestroyNode as *const () as *const c_void),
    crate::target::Address(cuGraphEventRecordNodeGetEvent as *const () as *const c_void),
    crate::target::Address(cuGraphEventRecordNodeSetEvent as *const () as *const c_void),
    crate::target::Address(cuGraphEventWaitNodeGetEvent as *const () as *const c_void),
    crate::target::Address(cuGraphEventWaitNodeSetEvent as *const () as *const c_void),
    crate::target::Address(cuGraphExecBatchMemOpNodeSetParams as *const () as *const c_void),
    crate::target::Address(cuGraphExecChildGraphNodeSetParams as *const () as *const c_void),
    crate::target::Address(cuGraphExecDestroy as *const () as *const c_void),
    crate::target::Address(cuGraphExecEventRecordNodeSetEvent as *const () as *const c_void),
    crate::target::Address(cuGraphExecEventWaitNodeSetEvent as *const () as *const c_void),
    crate::target::Address(
        cuGraphExecExternalSemaphoresSignalNodeSetParams as *const () as *const c_void,
    ),
    crate::target::Address(
        cuGraphExecExternalSemaphoresWaitNodeSetParams as *const () as *const c_void,
    ),
    crate::target::Address(cuGraphExecGetFlags as *const () as *const c_void),
    crate::target::Address(cuGraphExecGetId as *const () as *const c_void),
    crate::target::Address(cuGraphExecHostNodeSetParams as *const () as *const c_void),
    crate::target::Address(cuGraphExecKernelNodeSetParams as *const () as *const c_void),
    crate::target::Address(cuGraphExecKernelNodeSetParams_v2 as *const () as *const c_void),
    crate::target::Address(cuGraphExecMemcpyNodeSetParams as *const () as *const c_void),
    crate::target::Address(cuGraphExecMemsetNodeSetParams as *const () as *const c_void),
    crate::target::Address(cuGraphExecNodeSetParams as *const () as *const c_void),
    crate::target::Address(cuGraphExecUpdate as *const () as *const c_void),
    crate::target::Address(cuGraphExecUpdate_v2 as *const () as *const c_void),
    crate::target::Address(
        cuGraphExternalSemaphoresSignalNodeGetParams as *const () as *const c_void,
    ),
    crate::target::Address(
        cuGraphExternalSemaphoresSignalNodeSetParams as *const () as *const c_void,
    ),
    crate::target::Address(
        cuGraphExternalSemaphoresWaitNodeGetParams as *const () as *const c_void,
    ),
    crate::target::Address(
        cuGraphExternalSemaphoresWaitNodeSetParams as *const () as *const c_void,
    ),
    crate::target::Address(cuGraphGetEdges as *const () as *const c_void),
    crate::target::Address(cuGraphGetEdges_v2 as *const () as *const c_void),
    crate::target::Address(cuGraphGetId as *const () as *const c_void),
    crate::target::Address(cuGraphGetNodes as *const () as *const c_void),
    crate::target::Address(cuGraphGetRootNodes as *const () as *const c_void),
    crate::target::Address(cuGraphHostNodeGetParams as *const () as *const c_void),
    crate::target::Address(cuGraphHostNodeSetParams as *const () as *const c_void),
    crate::target::Address(cuGraphInstantiateWithFlags as *const () as *const c_void),
    crate::target::Address(cuGraphInstantiateWithParams as *const () as *const c_void),
    crate::target::Address(cuGraphInstantiate_v2 as *const () as *const c_void),
    crate::target::Address(cuGraphKernelNodeCopyAttributes as *const () as *const c_void),
    crate::target::Address(cuGraphKernelNodeGetAttribute as *const () as *const c_void),
    crate::target::Address(cuGraphKernelNodeGetParams as *const () as *const c_void),
    crate::target::Address(cuGraphKernelNodeGetParams_v2 as *const () as *const c_void),
    crate::target::Address(cuGraphKernelNodeSetAttribute as *const () as *const c_void),
    crate::target::Address(cuGraphKernelNodeSetParams as *const () as *const c_void),
    crate::target::Address(cuGraphKernelNodeSetParams_v2 as *const () as *const c_void),
    crate::target::Address(cuGraphLaunch as *const () as *const c_void),
    crate::target::Address(cuGraphLaunch_ptsz as *const () as *const c_void),
    crate::target::Address(cuGraphMemAllocNodeGetParams as *const () as *const c_void),
    crate::target::Address(cuGraphMemFreeNodeGetParams as *const () as *const c_void),
    crate::target::Address(cuGraphMemcpyNodeGetParams as *const () as *const c_void),
    crate::target::Address(cuGraphMemcpyNodeSetParams as *const () as *const c_void),
    crate::target::Address(cuGraphMemsetNodeGetParams as *const () as *const c_void),
    crate::target::Address(cuGraphMemsetNodeSetParams as *const () as *const c_void),
    crate::target::Address(cuGraphNodeFindInClone as *const () as *const c_void),
    crate::target::Address(cuGraphNodeGetContainingGraph as *const () as *const c_void),
    crate::target::Address(cuGraphNodeGetDependencies as *const () as *const c_void),
    crate::target::Address(cuGraphNodeGetDependencies_v2 as *const () as *const c_void),
    crate::target::Address(cuGraphNodeGetDependentNodes as *const () as *const c_void),
    crate::target::Address(cuGraphNodeGetDependentNodes_v2 as *const () as *const c_void),
    crate::target::Address(cuGraphNodeGetEnabled as *const () as *const c_void),
    crate::target::Address(cuGraphNodeGetLocalId as *const () as *const c_void),
    crate::target::Address(cuGraphNodeGetParams as *const () as *const c_void),
    crate::target::Address(cuGraphNodeGetToolsId as *const () as *const c_void),
    crate::target::Address(cuGraphNodeGetType as *const () as *const c_void),
    crate::target::Address(cuGraphNodeSetEnabled as *const () as *const c_void),
    crate::target::Address(cuGraphNodeSetParams as *const () as *const c_void),
    crate::target::Address(cuGraphNodeSetParams_v2 as *const () as *const c_void),
    crate::target::Address(cuGraphReleaseUserObject as *const () as *const c_void),
    crate::target::Address(cuGraphRemoveDependencies as *const () as *const c_void),
    crate::target::Address(cuGraphRemoveDependencies_v2 as *const () as *const c_void),
    crate::target::Address(cuGraphRetainUserObject as *const () as *const c_void),
    crate::target::Address(cuGraphUpload as *const () as *const c_void),
    crate::target::Address(cuGraphUpload_ptsz as *const () as *const c_void),
    crate::target::Address(cuGraphicsMapResources as *const () as *const c_void),
    crate::target::Address(cuGraphicsMapResources_ptsz as *const () as *const c_void),
    crate::target::Address(cuGraphicsResourceGetMappedMipmappedArray as *const () as *const c_void),
    crate::target::Address(cuGraphicsResourceGetMappedPointer_v2 as *const () as *const c_void),
    crate::target::Address(cuGraphicsResourceSetMapFlags_v2 as *const () as *const c_void),
    crate::target::Address(cuGraphicsSubResourceGetMappedArray as *const () as *const c_void),
    crate::target::Address(cuGraphicsUnmapResources as *const () as *const c_void),
    crate::target::Address(cuGraphicsUnmapResources_ptsz as *const () as *const c_void),
    crate::target::Address(cuGraphicsUnregisterResource as *const () as *const c_void),
    crate::target::Address(cuGreenCtxCreate as *const () as *const c_void),
    crate::target::Address(cuGreenCtxDestroy as *const () as *const c_void),
    crate::target::Address(cuGreenCtxGetDevResource as *const () as *const c_void),
    crate::target::Address(cuGreenCtxGetId as *const () as *const c_void),
    crate::target::Address(cuGreenCtxRecordEvent as *const () as *const c_void),
    crate::target::Address(cuGreenCtxStreamCreate as *const () as *const c_void),
    crate::target::Address(cuGreenCtxWaitEvent as *const () as *const c_void),
    crate::target::Address(cuImportExternalMemory as *const () as *const c_void),
    crate::target::Address(cuImportExternalSemaphore as *const () as *const c_void),
    crate::target::Address(cuInit as *const () as *const c_void),
    crate::target::Address(cuIpcCloseMemHandle as *const () as *const c_void),
    crate::target::Address(cuIpcGetEventHandle as *const () as *const c_void),
    crate::target::Address(cuIpcGetMemHandle as *const () as *const c_void),
    crate::target::Address(cuIpcOpenEventHandle as *const () as *const c_void),
    crate::target::Address(cuIpcOpenMemHandle_v2 as *const () as *const c_void),
    crate::target::Address(cuKernelGetAttribute as *const () as *const c_void),
    crate::target::Address(cuKernelGetFunction as *const () as *const c_void),
    crate::target::Address(cuKernelGetLibrary as *const () as *const c_void),
    crate::target::Address(cuKernelGetName as *const () as *const c_void),
    crate::target::Address(cuKernelGetParamCount as *const () as *const c_void),
    crate::target::Address(cuKernelGetParamInfo as *const () as *const c_void),
    crate::target::Address(cuKernelSetAttribute as *const () as *const c_void),
    crate::target::Address(cuKernelSetCacheConfig as *const () as *const c_void),
    crate::target::Address(cuLaunch as *const () as *const c_void),
    crate::target::Address(cuLaunchCooperativeKernel as *const () as *const c_void),
    crate::target::Address(cuLaunchCooperativeKernelMultiDevice as *const () as *const c_void),
    crate::target::Address(cuLaunchCooperativeKernel_ptsz as *const () as *const c_void),
    crate::target::Address(cuLaunchGrid as *const () as *const c_void),
    crate::target::Address(cuLaunchGridAsync as *const () as *const c_void),
    crate::target::Address(cuLaunchGridAsync_ptsz as *const () as *const c_void),
    crate::target::Address(cuLaunchHostFunc as *const () as *const c_void),
    crate::target::Address(cuLaunchHostFunc_ptsz as *const () as *const c_void),
    crate::target::Address(cuLaunchHostFunc_v2 as *const () as *const c_void),
    crate::target::Address(cuLaunchHostFunc_v2_ptsz as *const () as *const c_void),
    crate::target::Address(cuLaunchKernel as *const () as *const c_void),
    crate::target::Address(cuLaunchKernelEx as *const () as *const c_void),
    crate::target::Address(cuLaunchKernelEx_ptsz as *const () as *const c_void),
    crate::target::Address(cuLaunchKernel_ptsz as *const () as *const c_void),
    crate::target::Address(cuLibraryEnumerateKernels as *const () as *const c_void),
    crate::target::Address(cuLibraryGetGlobal as *const () as *const c_void),
    crate::target::Address(cuLibraryGetKernel as *const () as *const c_void),
    crate::target::Address(cuLibraryGetKernelCount as *const () as *const c_void),
    crate::target::Address(cuLibraryGetManaged as *const () as *const c_void),
    crate::target::Address(cuLibraryGetModule as *const () as *const c_void),
    crate::target::Address(cuLibraryGetUnifiedFunction as *const () as *const c_void),
    crate::target::Address(cuLibraryLoadData as *const () as *const c_void),
    crate::target::Address(cuLibraryLoadFromFile as *const () as *const c_void),
    crate::target::Address(cuLibraryUnload as *const () as *const c_void),
    crate::target::Address(cuLinkAddData as *const () as *const c_void),
    crate::target::Address(cuLinkAddData_v2 as *const () as *const c_void),
    crate::target::Address(cuLinkAddFile as *const () as *const c_void),
    crate::target::Address(cuLinkAddFile_v2 as *const () as *const c_void),
    crate::target::Address(cuLinkComplete as *const () as *const c_void),
    crate::target::Address(cuLinkCreate as *const () as *const c_void),
    crate::target::Address(cuLinkCreate_v2 as *const () as *const c_void),
    crate::target::Address(cuLinkDestroy as *const () as *const c_void),
    crate::target::Address(cuLogicalEndpointAddDevice as *const () as *const c_void),
    crate::target::Address(cuLogicalEndpointBindAddr as *const () as *const c_void),
    crate::target::Address(cuLogicalEndpointBindMem as *const () as *const c_void),
    crate::target::Address(cuLogicalEndpointCreate as *const () as *const c_void),
    crate::target::Address(cuLogicalEndpointDestroy as *const () as *const c_void),
    crate::target::Address(cuLogicalEndpointExport as *const () as *const c_void),
    crate::target::Address(cuLogicalEndpointGetLimits as *const () as *const c_void),
    crate::target::Address(cuLogicalEndpointIdRelease as *const () as *const c_void),
    crate::target::Address(cuLogicalEndpointIdReserve as *const () as *const c_void),
    crate::target::Address(cuLogicalEndpointImport as *const () as *const c_void),
    crate::target::Address(cuLogicalEndpointQuery as *const () as *const c_void),
    crate::target::Address(cuLogicalEndpointUnbind as *const () as *const c_void),
    crate::target::Address(cuLogsCurrent as *const () as *const c_void),
    crate::target::Address(cuLogsDumpToFile as *const () as *const c_void),
    crate::target::Address(cuLogsDumpToMemory as *const () as *const c_void),
    crate::target::Address(cuLogsRegisterCallback as *const () as *const c_void),
    crate::target::Address(cuLogsUnregisterCallback as *const () as *const c_void),
    crate::target::Address(cuMemAddressFree as *const () as *const c_void),
    crate::target::Address(cuMemAddressReserve as *const () as *const c_void),
    crate::target::Address(cuMemAdvise as *const () as *const c_void),
    crate::target::Address(cuMemAdvise_v2 as *const () as *const c_void),
    crate::target::Address(cuMemAllocAsync as *const () as *const c_void),
    crate::target::Address(cuMemAllocAsync_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemAllocFromPoolAsync as *const () as *const c_void),
    crate::target::Address(cuMemAllocFromPoolAsync_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemAllocHost_v2 as *const () as *const c_void),
    crate::target::Address(cuMemAllocManaged as *const () as *const c_void),
    crate::target::Address(cuMemAllocPitch_v2 as *const () as *const c_void),
    crate::target::Address(cuMemAlloc_v2 as *const () as *const c_void),
    crate::target::Address(cuMemBatchDecompressAsync as *const () as *const c_void),
    crate::target::Address(cuMemBatchDecompressAsync_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemCreate as *const () as *const c_void),
    crate::target::Address(cuMemDiscardAndPrefetchBatchAsync as *const () as *const c_void),
    crate::target::Address(cuMemDiscardAndPrefetchBatchAsync_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemDiscardBatchAsync as *const () as *const c_void),
    crate::target::Address(cuMemDiscardBatchAsync_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemExportToShareableHandle as *const () as *const c_void),
    crate::target::Address(cuMemFreeAsync as *const () as *const c_void),
    crate::target::Address(cuMemFreeAsync_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemFreeHost as *const () as *const c_void),
    crate::target::Address(cuMemFree_v2 as *const () as *const c_void),
    crate::target::Address(cuMemGetAccess as *const () as *const c_void),
    crate::target::Address(cuMemGetAddressRange_v2 as *const () as *const c_void),
    crate::target::Address(cuMemGetAllocationGranularity as *const () as *const c_void),
    crate::target::Address(cuMemGetAllocationPropertiesFromHandle as *const () as *const c_void),
    crate::target::Address(cuMemGetDefaultMemPool as *const () as *const c_void),
    crate::target::Address(cuMemGetHandleForAddressRange as *const () as *const c_void),
    crate::target::Address(cuMemGetInfo_v2 as *const () as *const c_void),
    crate::target::Address(cuMemGetLocationInfo as *const () as *const c_void),
    crate::target::Address(cuMemGetMemPool as *const () as *const c_void),
    crate::target::Address(cuMemHostAlloc as *const () as *const c_void),
    crate::target::Address(cuMemHostGetDevicePointer_v2 as *const () as *const c_void),
    crate::target::Address(cuMemHostGetFlags as *const () as *const c_void),
    crate::target::Address(cuMemHostRegister as *const () as *const c_void),
    crate::target::Address(cuMemHostRegister_v2 as *const () as *const c_void),
    crate::target::Address(cuMemHostUnregister as *const () as *const c_void),
    crate::target::Address(cuMemImportFromShareableHandle as *const () as *const c_void),
    crate::target::Address(cuMemMap as *const () as *const c_void),
    crate::target::Address(cuMemMapArrayAsync as *const () as *const c_void),
    crate::target::Address(cuMemMapArrayAsync_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemPoolCreate as *const () as *const c_void),
    crate::target::Address(cuMemPoolDestroy as *const () as *const c_void),
    crate::target::Address(cuMemPoolExportPointer as *const () as *const c_void),
    crate::target::Address(cuMemPoolExportToShareableHandle as *const () as *const c_void),
    crate::target::Address(cuMemPoolGetAccess as *const () as *const c_void),
    crate::target::Address(cuMemPoolGetAttribute as *const () as *const c_void),
    crate::target::Address(cuMemPoolImportFromShareableHandle as *const () as *const c_void),
    crate::target::Address(cuMemPoolImportPointer as *const () as *const c_void),
    crate::target::Address(cuMemPoolSetAccess as *const () as *const c_void),
    crate::target::Address(cuMemPoolSetAttribute as *const () as *const c_void),
    crate::target::Address(cuMemPoolTrimTo as *const () as *const c_void),
    crate::target::Address(cuMemPrefetchAsync as *const () as *const c_void),
    crate::target::Address(cuMemPrefetchAsync_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemPrefetchAsync_v2 as *const () as *const c_void),
    crate::target::Address(cuMemPrefetchAsync_v2_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemPrefetchBatchAsync as *const () as *const c_void),
    crate::target::Address(cuMemPrefetchBatchAsync_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemRangeGetAttribute as *const () as *const c_void),
    crate::target::Address(cuMemRangeGetAttributes as *const () as *const c_void),
    crate::target::Address(cuMemRelease as *const () as *const c_void),
    crate::target::Address(cuMemRetainAllocationHandle as *const () as *const c_void),
    crate::target::Address(cuMemSetAccess as *const () as *const c_void),
    crate::target::Address(cuMemSetMemPool as *const () as *const c_void),
    crate::target::Address(cuMemUnmap as *const () as *const c_void),
    crate::target::Address(cuMemcpy as *const () as *const c_void),
    crate::target::Address(cuMemcpy2DAsync_v2 as *const () as *const c_void),
    crate::target::Address(cuMemcpy2DAsync_v2_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemcpy2DUnaligned_v2 as *const () as *const c_void),
    crate::target::Address(cuMemcpy2DUnaligned_v2_ptds as *const () as *const c_void),
    crate::target::Address(cuMemcpy2D_v2 as *const () as *const c_void),
    crate::target::Address(cuMemcpy2D_v2_ptds as *const () as *const c_void),
    crate::target::Address(cuMemcpy3DAsync_v2 as *const () as *const c_void),
    crate::target::Address(cuMemcpy3DAsync_v2_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemcpy3DBatchAsync as *const () as *const c_void),
    crate::target::Address(cuMemcpy3DBatchAsync_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemcpy3DBatchAsync_v2 as *const () as *const c_void),
    crate::target::Address(cuMemcpy3DBatchAsync_v2_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemcpy3DPeer as *const () as *const c_void),
    crate::target::Address(cuMemcpy3DPeerAsync as *const () as *const c_void),
    crate::target::Address(cuMemcpy3DPeerAsync_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemcpy3DPeer_ptds as *const () as *const c_void),
    crate::target::Address(cuMemcpy3DWithAttributesAsync as *const () as *const c_void),
    crate::target::Address(cuMemcpy3DWithAttributesAsync_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemcpy3D_v2 as *const () as *const c_void),
    crate::target::Address(cuMemcpy3D_v2_ptds as *const () as *const c_void),
    crate::target::Address(cuMemcpyAsync as *const () as *const c_void),
    crate::target::Address(cuMemcpyAsync_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemcpyAtoA_v2 as *const () as *const c_void),
    crate::target::Address(cuMemcpyAtoA_v2_ptds as *const () as *const c_void),
    crate::target::Address(cuMemcpyAtoD_v2 as *const () as *const c_void),
    crate::target::Address(cuMemcpyAtoD_v2_ptds as *const () as *const c_void),
    crate::target::Address(cuMemcpyAtoHAsync_v2 as *const () as *const c_void),
    crate::target::Address(cuMemcpyAtoHAsync_v2_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemcpyAtoH_v2 as *const () as *const c_void),
    crate::target::Address(cuMemcpyAtoH_v2_ptds as *const () as *const c_void),
    crate::target::Address(cuMemcpyBatchAsync as *const () as *const c_void),
    crate::target::Address(cuMemcpyBatchAsync_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemcpyBatchAsync_v2 as *const () as *const c_void),
    crate::target::Address(cuMemcpyBatchAsync_v2_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemcpyDtoA_v2 as *const () as *const c_void),
    crate::target::Address(cuMemcpyDtoA_v2_ptds as *const () as *const c_void),
    crate::target::Address(cuMemcpyDtoDAsync_v2 as *const () as *const c_void),
    crate::target::Address(cuMemcpyDtoDAsync_v2_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemcpyDtoD_v2 as *const () as *const c_void),
    crate::target::Address(cuMemcpyDtoD_v2_ptds as *const () as *const c_void),
    crate::target::Address(cuMemcpyDtoHAsync_v2 as *const () as *const c_void),
    crate::target::Address(cuMemcpyDtoHAsync_v2_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemcpyDtoH_v2 as *const () as *const c_void),
    crate::target::Address(cuMemcpyDtoH_v2_ptds as *const () as *const c_void),
    crate::target::Address(cuMemcpyHtoAAsync_v2 as *const () as *const c_void),
    crate::target::Address(cuMemcpyHtoAAsync_v2_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemcpyHtoA_v2 as *const () as *const c_void),
    crate::target::Address(cuMemcpyHtoA_v2_ptds as *const () as *const c_void),
    crate::target::Address(cuMemcpyHtoDAsync_v2 as *const () as *const c_void),
    crate::target::Address(cuMemcpyHtoDAsync_v2_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemcpyHtoD_v2 as *const () as *const c_void),
    crate::target::Address(cuMemcpyHtoD_v2_ptds as *const () as *const c_void),
    crate::target::Address(cuMemcpyPeer as *const () as *const c_void),
    crate::target::Address(cuMemcpyPeerAsync as *const () as *const c_void),
    crate::target::Address(cuMemcpyPeerAsync_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemcpyPeer_ptds as *const () as *const c_void),
    crate::target::Address(cuMemcpyWithAttributesAsync as *const () as *const c_void),
    crate::target::Address(cuMemcpyWithAttributesAsync_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemcpy_ptds as *const () as *const c_void),
    crate::target::Address(cuMemsetD16Async as *const () as *const c_void),
    crate::target::Address(cuMemsetD16Async_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemsetD16_v2 as *const () as *const c_void),
    crate::target::Address(cuMemsetD16_v2_ptds as *const () as *const c_void),
    crate::target::Address(cuMemsetD2D16Async as *const () as *const c_void),
    crate::target::Address(cuMemsetD2D16Async_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemsetD2D16_v2 as *const () as *const c_void),
    crate::target::Address(cuMemsetD2D16_v2_ptds as *const () as *const c_void),
    crate::target::Address(cuMemsetD2D32Async as *const () as *const c_void),
    crate::target::Address(cuMemsetD2D32Async_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemsetD2D32_v2 as *const () as *const c_void),
    crate::target::Address(cuMemsetD2D32_v2_ptds as *const () as *const c_void),
    crate::target::Address(cuMemsetD2D8Async as *const () as *const c_void),
    crate::target::Address(cuMemsetD2D8Async_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemsetD2D8_v2 as *const () as *const c_void),
    crate::target::Address(cuMemsetD2D8_v2_ptds as *const () as *const c_void),
    crate::target::Address(cuMemsetD32Async as *const () as *const c_void),
    crate::target::Address(cuMemsetD32Async_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemsetD32_v2 as *const () as *const c_void),
    crate::target::Address(cuMemsetD32_v2_ptds as *const () as *const c_void),
    crate::target::Address(cuMemsetD8Async as *const () as *const c_void),
    crate::target::Address(cuMemsetD8Async_ptsz as *const () as *const c_void),
    crate::target::Address(cuMemsetD8_v2 as *const () as *const c_void),
    crate::target::Address(cuMemsetD8_v2_ptds as *const () as *const c_void),
    crate::target::Address(cuMipmappedArrayCreate as *const () as *const c_void),
    crate::target::Address(cuMipmappedArrayDestroy as *const () as *const c_void),
    crate::target::Address(cuMipmappedArrayGetLevel as *const () as *const c_void),
    crate::target::Address(cuMipmappedArrayGetMemoryRequirements as *const () as *const c_void),
    crate::target::Address(cuMipmappedArrayGetSparseProperties as *const () as *const c_void),
    crate::target::Address(cuModuleEnumerateFunctions as *const () as *const c_void),
    crate::target::Address(cuModuleGetFunction as *const () as *const c_void),
    crate::target::Address(cuModuleGetFunctionCount as *const () as *const c_void),
    crate::target::Address(cuModuleGetGlobal_v2 as *const () as *const c_void),
    crate::target::Address(cuModuleGetLoadingMode as *const () as *const c_void),
    crate::target::Address(cuModuleGetSurfRef as *const () as *const c_void),
    crate::target::Address(cuModuleGetTexRef as *const () as *const c_void),
    crate::target::Address(cuModuleLoad as *const () as *const c_void),
    crate::target::Address(cuModuleLoadData as *const () as *const c_void),
    crate::target::Address(cuModuleLoadDataEx as *const () as *const c_void),
    crate::target::Address(cuModuleLoadFatBinary as *const () as *const c_void),
    crate::target::Address(cuModuleUnload as *const () as *const c_void),
    crate::target::Address(cuMulticastAddDevice as *const () as *const c_void),
    crate::target::Address(cuMulticastBindAddr as *const () as *const c_void),
    crate::target::Address(cuMulticastBindAddr_v2 as *const () as *const c_void),
    crate::target::Address(cuMulticastBindMem as *const () as *const c_void),
    crate::target::Address(cuMulticastBindMem_v2 as *const () as *const c_void),
    crate::target::Address(cuMulticastCreate as *const () as *const c_void),
    crate::target::Address(cuMulticastGetGranularity as *const () as *const c_void),
    crate::target::Address(cuMulticastUnbind as *const () as *const c_void),
    crate::target::Address(cuOccupancyAvailableDynamicSMemPerBlock as *const () as *const c_void),
    crate::target::Address(
        cuOccupancyMaxActiveBlocksPerMultiprocessor as *const () as *const c_void,
    ),
    crate::target::Address(
        cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags as *const () as *const c_void,
    ),
    crate::target::Address(cuOccupancyMaxActiveClusters as *const () as *const c_void),
    crate::target::Address(cuOccupancyMaxPotentialBlockSize as *const () as *const c_void),
    crate::target::Address(cuOccupancyMaxPotentialBlockSizeWithFlags as *const () as *const c_void),
    crate::target::Address(cuOccupancyMaxPotentialClusterSize as *const () as *const c_void),
    crate::target::Address(cuParamSetSize as *const () as *const c_void),
    crate::target::Address(cuParamSetTexRef as *const () as *const c_void),
    crate::target::Address(cuParamSetf as *const () as *const c_void),
    crate::target::Address(cuParamSeti as *const () as *const c_void),
    crate::target::Address(cuParamSetv as *const () as *const c_void),
    crate::target::Address(cuPointerGetAttribute as *const () as *const c_void),
    crate::target::Address(cuPointerGetAttributes as *const () as *const c_void),
    crate::target::Address(cuPointerSetAttribute as *const () as *const c_void),
    crate::target::Address(cuProfilerInitialize as *const () as *const c_void),
    crate::target::Address(cuProfilerStart as *const () as *const c_void),
    crate::target::Address(cuProfilerStop as *const () as *const c_void),
    crate::target::Address(cuSignalExternalSemaphoresAsync as *const () as *const c_void),
    crate::target::Address(cuSignalExternalSemaphoresAsync_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamAddCallback as *const () as *const c_void),
    crate::target::Address(cuStreamAddCallback_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamAttachMemAsync as *const () as *const c_void),
    crate::target::Address(cuStreamAttachMemAsync_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamBatchMemOp as *const () as *const c_void),
    crate::target::Address(cuStreamBatchMemOp_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamBatchMemOp_v2 as *const () as *const c_void),
    crate::target::Address(cuStreamBatchMemOp_v2_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamBeginCaptureToCig as *const () as *const c_void),
    crate::target::Address(cuStreamBeginCaptureToCig_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamBeginCaptureToGraph as *const () as *const c_void),
    crate::target::Address(cuStreamBeginCaptureToGraph_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamBeginCapture_v2 as *const () as *const c_void),
    crate::target::Address(cuStreamBeginCapture_v2_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamBeginRecaptureToGraph as *const () as *const c_void),
    crate::target::Address(cuStreamBeginRecaptureToGraph_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamCopyAttributes as *const () as *const c_void),
    crate::target::Address(cuStreamCopyAttributes_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamCreate as *const () as *const c_void),
    crate::target::Address(cuStreamCreateWithPriority as *const () as *const c_void),
    crate::target::Address(cuStreamDestroy as *const () as *const c_void),
    crate::target::Address(cuStreamDestroy_v2 as *const () as *const c_void),
    crate::target::Address(cuStreamEndCapture as *const () as *const c_void),
    crate::target::Address(cuStreamEndCaptureToCig as *const () as *const c_void),
    crate::target::Address(cuStreamEndCaptureToCig_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamEndCapture_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamGetAttribute as *const () as *const c_void),
    crate::target::Address(cuStreamGetAttribute_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamGetCaptureInfo as *const () as *const c_void),
    crate::target::Address(cuStreamGetCaptureInfo_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamGetCaptureInfo_v2 as *const () as *const c_void),
    crate::target::Address(cuStreamGetCaptureInfo_v2_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamGetCaptureInfo_v3 as *const () as *const c_void),
    crate::target::Address(cuStreamGetCaptureInfo_v3_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamGetCtx as *const () as *const c_void),
    crate::target::Address(cuStreamGetCtx_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamGetCtx_v2 as *const () as *const c_void),
    crate::target::Address(cuStreamGetCtx_v2_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamGetDevResource as *const () as *const c_void),
    crate::target::Address(cuStreamGetDevResource_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamGetDevice as *const () as *const c_void),
    crate::target::Address(cuStreamGetDevice_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamGetFlags as *const () as *const c_void),
    crate::target::Address(cuStreamGetFlags_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamGetGreenCtx as *const () as *const c_void),
    crate::target::Address(cuStreamGetId as *const () as *const c_void),
    crate::target::Address(cuStreamGetId_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamGetPriority as *const () as *const c_void),
    crate::target::Address(cuStreamGetPriority_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamIsCapturing as *const () as *const c_void),
    crate::target::Address(cuStreamIsCapturing_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamQuery as *const () as *const c_void),
    crate::target::Address(cuStreamQuery_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamSetAttribute as *const () as *const c_void),
    crate::target::Address(cuStreamSetAttribute_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamSynchronize as *const () as *const c_void),
    crate::target::Address(cuStreamSynchronize_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamUpdateCaptureDependencies as *const () as *const c_void),
    crate::target::Address(cuStreamUpdateCaptureDependencies_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamUpdateCaptureDependencies_v2 as *const () as *const c_void),
    crate::target::Address(cuStreamUpdateCaptureDependencies_v2_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamWaitEvent as *const () as *const c_void),
    crate::target::Address(cuStreamWaitEvent_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamWaitValue32 as *const () as *const c_void),
    crate::target::Address(cuStreamWaitValue32_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamWaitValue32_v2 as *const () as *const c_void),
    crate::target::Address(cuStreamWaitValue32_v2_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamWaitValue64 as *const () as *const c_void),
    crate::target::Address(cuStreamWaitValue64_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamWaitValue64_v2 as *const () as *const c_void),
    crate::target::Address(cuStreamWaitValue64_v2_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamWriteValue32 as *const () as *const c_void),
    crate::target::Address(cuStreamWriteValue32_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamWriteValue32_v2 as *const () as *const c_void),
    crate::target::Address(cuStreamWriteValue32_v2_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamWriteValue64 as *const () as *const c_void),
    crate::target::Address(cuStreamWriteValue64_ptsz as *const () as *const c_void),
    crate::target::Address(cuStreamWriteValue64_v2 as *const () as *const c_void),
    crate::target::Address(cuStreamWriteValue64_v2_ptsz as *const () as *const c_void),
    crate::target::Address(cuSurfObjectCreate as *const () as *const c_void),
    crate::target::Address(cuSurfObjectDestroy as *const () as *const c_void),
    crate::target::Address(cuSurfObjectGetResourceDesc as *const () as *const c_void),
    crate::target::Address(cuSurfRefGetArray as *const () as *const c_void),
    crate::target::Address(cuSurfRefSetArray as *const () as *const c_void),
    crate::target::Address(cuTensorMapEncodeIm2col as *const () as *const c_void),
    crate::target::Address(cuTensorMapEncodeIm2colWide as *const () as *const c_void),
    crate::target::Address(cuTensorMapEncodeTiled as *const () as *const c_void),
    crate::target::Address(cuTensorMapReplaceAddress as *const () as *const c_void),
    crate::target::Address(cuTexObjectCreate as *const () as *const c_void),
    crate::target::Address(cuTexObjectDestroy as *const () as *const c_void),
    crate::target::Address(cuTexObjectGetResourceDesc as *const () as *const c_void),
    crate::target::Address(cuTexObjectGetResourceViewDesc as *const () as *const c_void),
    crate::target::Address(cuTexObjectGetTextureDesc as *const () as *const c_void),
    crate::target::Address(cuTexRefCreate as *const () as *const c_void),
    crate::target::Address(cuTexRefDestroy as *const () as *const c_void),
    crate::target::Address(cuTexRefGetAddressMode as *const () as *const c_void),
    crate::target::Address(cuTexRefGetAddress_v2 as *const () as *const c_void),
    crate::target::Address(cuTexRefGetArray as *const () as *const c_void),
    crate::target::Address(cuTexRefGetBorderColor as *const () as *const c_void),
    crate::target::Address(cuTexRefGetFilterMode as *const () as *const c_void),
    crate::target::Address(cuTexRefGetFlags as *const () as *const c_void),
    crate::target::Address(cuTexRefGetFormat as *const () as *const c_void),
    crate::target::Address(cuTexRefGetMaxAnisotropy as *const () as *const c_void),
    crate::target::Address(cuTexRefGetMipmapFilterMode as *const () as *const c_void),
    crate::target::Address(cuTexRefGetMipmapLevelBias as *const () as *const c_void),
    crate::target::Address(cuTexRefGetMipmapLevelClamp as *const () as *const c_void),
    crate::target::Address(cuTexRefGetMipmappedArray as *const () as *const c_void),
    crate::target::Address(cuTexRefSetAddress2D_v3 as *const () as *const c_void),
    crate::target::Address(cuTexRefSetAddressMode as *const () as *const c_void),
    crate::target::Address(cuTexRefSetAddress_v2 as *const () as *const c_void),
    crate::target::Address(cuTexRefSetArray as *const () as *const c_void),
    crate::target::Address(cuTexRefSetBorderColor as *const () as *const c_void),
    crate::target::Address(cuTexRefSetFilterMode as *const () as *const c_void),
    crate::target::Address(cuTexRefSetFlags as *const () as *const c_void),
    crate::target::Address(cuTexRefSetFormat as *const () as *const c_void),
    crate::target::Address(cuTexRefSetMaxAnisotropy as *const () as *const c_void),
    crate::target::Address(cuTexRefSetMipmapFilterMode as *const () as *const c_void),
    crate::target::Address(cuTexRefSetMipmapLevelBias as *const () as *const c_void),
    crate::target::Address(cuTexRefSetMipmapLevelClamp as *const () as *const c_void),
    crate::target::Address(cuTexRefSetMipmappedArray as *const () as *const c_void),
    crate::target::Address(cuThreadExchangeStreamCaptureMode as *const () as *const c_void),
    crate::target::Address(cuUserObjectCreate as *const () as *const c_void),
    crate::target::Address(cuUserObjectRelease as *const () as *const c_void),
    crate::target::Address(cuUserObjectRetain as *const () as *const c_void),
    crate::target::Address(cuWaitExternalSemaphoresAsync as *const () as *const c_void),
    crate::target::Address(cuWaitExternalSemaphoresAsync_ptsz as *const () as *const c_void),
];
