//! Calls of the CUDA driver API that travel as they are described.
//!
//! Written by `cargo xtask codegen`; changes by hand are lost.
//!
//! Uses of the crate:
//! * `crate::entry::waiting(op, small_hint, |w| -> Result<(), u32>, |r| -> Result<(), DecodeError>) -> u32`:
//!   sends what the first closure writes, waits, has the second read the reply's arguments if it has
//!   any, and answers the status. `entry::nvml` is the same for NVML, whose reply has arguments also
//!   with NVML_ERROR_INSUFFICIENT_SIZE.
//! * `crate::entry::one_way(op, small_hint, |w| -> Result<(), u32>) -> u32`.
//! * `crate::entry::mint(Kind) -> u64`: a new handle's number.

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
use gtrace_cuda::{Kind, wire};
use gtrace_protocol::{Reader, Writer, op_id};

use crate::entry;

pub(crate) unsafe fn cuDeviceGetName(name: *mut c_char, len: c_int, dev: CUdevice) -> CUresult {
    if name.is_null() && wire::Scalar::as_len(len) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuDeviceGetName") },
        16,
        |w: &mut Writer| {
            wire::Scalar::put(len, w);
            wire::Scalar::put(dev, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_room(r, name, wire::Scalar::as_len(len)) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuDeviceGetUuid(uuid: *mut CUuuid, dev: CUdevice) -> CUresult {
    if uuid.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuDeviceGetUuid") },
        8,
        |w: &mut Writer| {
            wire::Scalar::put(dev, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, uuid, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuDeviceGetUuid_v2(uuid: *mut CUuuid, dev: CUdevice) -> CUresult {
    if uuid.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuDeviceGetUuid_v2") },
        8,
        |w: &mut Writer| {
            wire::Scalar::put(dev, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, uuid, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuDeviceTotalMem_v2(bytes: *mut usize, dev: CUdevice) -> CUresult {
    if bytes.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuDeviceTotalMem_v2") },
        8,
        |w: &mut Writer| {
            wire::Scalar::put(dev, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, bytes, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuDeviceGetAttribute(
    pi: *mut c_int,
    attrib: CUdevice_attribute,
    dev: CUdevice,
) -> CUresult {
    if pi.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuDeviceGetAttribute") },
        16,
        |w: &mut Writer| {
            wire::Scalar::put(attrib, w);
            wire::Scalar::put(dev, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pi, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuDeviceGetPCIBusId(
    pciBusId: *mut c_char,
    len: c_int,
    dev: CUdevice,
) -> CUresult {
    if pciBusId.is_null() && wire::Scalar::as_len(len) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuDeviceGetPCIBusId") },
        16,
        |w: &mut Writer| {
            wire::Scalar::put(len, w);
            wire::Scalar::put(dev, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_room(r, pciBusId, wire::Scalar::as_len(len)) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuDeviceGetByPCIBusId(
    dev: *mut CUdevice,
    pciBusId: *const c_char,
) -> CUresult {
    if dev.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if pciBusId.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuDeviceGetByPCIBusId") },
        64,
        |w: &mut Writer| {
            unsafe { wire::put_string(w, pciBusId) };
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, dev, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuDeviceComputeCapability(
    major: *mut c_int,
    minor: *mut c_int,
    dev: CUdevice,
) -> CUresult {
    if major.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if minor.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuDeviceComputeCapability") },
        8,
        |w: &mut Writer| {
            wire::Scalar::put(dev, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, major, 1) }?;
            unsafe { wire::take(r, minor, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuDeviceGetProperties(prop: *mut CUdevprop, dev: CUdevice) -> CUresult {
    if prop.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuDeviceGetProperties") },
        8,
        |w: &mut Writer| {
            wire::Scalar::put(dev, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, prop, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuDeviceCanAccessPeer(
    canAccessPeer: *mut c_int,
    dev: CUdevice,
    peerDev: CUdevice,
) -> CUresult {
    if canAccessPeer.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuDeviceCanAccessPeer") },
        16,
        |w: &mut Writer| {
            wire::Scalar::put(dev, w);
            wire::Scalar::put(peerDev, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, canAccessPeer, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuDeviceGetP2PAttribute(
    value: *mut c_int,
    attrib: CUdevice_P2PAttribute,
    srcDevice: CUdevice,
    dstDevice: CUdevice,
) -> CUresult {
    if value.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuDeviceGetP2PAttribute") },
        24,
        |w: &mut Writer| {
            wire::Scalar::put(attrib, w);
            wire::Scalar::put(srcDevice, w);
            wire::Scalar::put(dstDevice, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, value, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuDeviceGetTexture1DLinearMaxWidth(
    maxWidthInElements: *mut usize,
    format: CUarray_format,
    numChannels: c_uint,
    dev: CUdevice,
) -> CUresult {
    if maxWidthInElements.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuDeviceGetTexture1DLinearMaxWidth") },
        24,
        |w: &mut Writer| {
            wire::Scalar::put(format, w);
            wire::Scalar::put(numChannels, w);
            wire::Scalar::put(dev, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, maxWidthInElements, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuDeviceGetExecAffinitySupport(
    pi: *mut c_int,
    type_: CUexecAffinityType,
    dev: CUdevice,
) -> CUresult {
    if pi.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuDeviceGetExecAffinitySupport") },
        16,
        |w: &mut Writer| {
            wire::Scalar::put(type_, w);
            wire::Scalar::put(dev, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pi, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuDeviceGetHostAtomicCapabilities(
    capabilities: *mut c_uint,
    operations: *const CUatomicOperation,
    count: c_uint,
    dev: CUdevice,
) -> CUresult {
    if capabilities.is_null() && wire::Scalar::as_len(count) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if operations.is_null() && wire::Scalar::as_len(count) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(operations, wire::Scalar::as_len(count)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuDeviceGetHostAtomicCapabilities") },
        80,
        |w: &mut Writer| {
            w.u64(wire::Scalar::as_len(count) as u64);
            unsafe { wire::put(w, operations, wire::Scalar::as_len(count)) };
            wire::Scalar::put(count, w);
            wire::Scalar::put(dev, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let len_capabilities = r.len(wire::Scalar::as_len(count))?;
            unsafe { wire::take(r, capabilities, len_capabilities) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuDeviceGetP2PAtomicCapabilities(
    capabilities: *mut c_uint,
    operations: *const CUatomicOperation,
    count: c_uint,
    srcDevice: CUdevice,
    dstDevice: CUdevice,
) -> CUresult {
    if capabilities.is_null() && wire::Scalar::as_len(count) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if operations.is_null() && wire::Scalar::as_len(count) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(operations, wire::Scalar::as_len(count)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuDeviceGetP2PAtomicCapabilities") },
        88,
        |w: &mut Writer| {
            w.u64(wire::Scalar::as_len(count) as u64);
            unsafe { wire::put(w, operations, wire::Scalar::as_len(count)) };
            wire::Scalar::put(count, w);
            wire::Scalar::put(srcDevice, w);
            wire::Scalar::put(dstDevice, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let len_capabilities = r.len(wire::Scalar::as_len(count))?;
            unsafe { wire::take(r, capabilities, len_capabilities) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuDeviceGetGraphMemAttribute(
    device: CUdevice,
    attr: CUgraphMem_attribute,
    value: *mut c_void,
) -> CUresult {
    if value.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuDeviceGetGraphMemAttribute") },
        16,
        |w: &mut Writer| {
            wire::Scalar::put(device, w);
            wire::Scalar::put(attr, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, value.cast::<u8>(), 8) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuDeviceSetGraphMemAttribute(
    device: CUdevice,
    attr: CUgraphMem_attribute,
    value: *mut c_void,
) -> CUresult {
    if value.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuDeviceSetGraphMemAttribute") },
        80,
        |w: &mut Writer| {
            wire::Scalar::put(device, w);
            wire::Scalar::put(attr, w);
            unsafe { wire::put(w, value.cast::<u8>(), 8) };
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuDeviceGraphMemTrim(device: CUdevice) -> CUresult {
    entry::waiting(
        const { op_id("cuDeviceGraphMemTrim") },
        8,
        |w: &mut Writer| {
            wire::Scalar::put(device, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuProfilerStart() -> CUresult {
    entry::one_way(const { op_id("cuProfilerStart") }, 0, |_w: &mut Writer| {
        Ok(())
    })
}

pub(crate) unsafe fn cuProfilerStop() -> CUresult {
    entry::one_way(const { op_id("cuProfilerStop") }, 0, |_w: &mut Writer| {
        Ok(())
    })
}

pub(crate) unsafe fn cuFlushGPUDirectRDMAWrites(
    target: CUflushGPUDirectRDMAWritesTarget,
    scope: CUflushGPUDirectRDMAWritesScope,
) -> CUresult {
    entry::one_way(
        const { op_id("cuFlushGPUDirectRDMAWrites") },
        16,
        |w: &mut Writer| {
            wire::Scalar::put(target, w);
            wire::Scalar::put(scope, w);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuDevicePrimaryCtxRetain(pctx: *mut CUcontext, dev: CUdevice) -> CUresult {
    if pctx.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    let minted_pctx = entry::mint(Kind::Context);
    let status = entry::waiting(
        const { op_id("cuDevicePrimaryCtxRetain") },
        16,
        |w: &mut Writer| {
            w.u64(minted_pctx);
            wire::Scalar::put(dev, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    );
    if status == 0 {
        unsafe { pctx.write(core::ptr::with_exposed_provenance_mut(minted_pctx as usize)) };
    }
    status
}

pub(crate) unsafe fn cuDevicePrimaryCtxRelease_v2(dev: CUdevice) -> CUresult {
    entry::waiting(
        const { op_id("cuDevicePrimaryCtxRelease_v2") },
        8,
        |w: &mut Writer| {
            wire::Scalar::put(dev, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuDevicePrimaryCtxReset_v2(dev: CUdevice) -> CUresult {
    entry::waiting(
        const { op_id("cuDevicePrimaryCtxReset_v2") },
        8,
        |w: &mut Writer| {
            wire::Scalar::put(dev, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuDevicePrimaryCtxGetState(
    dev: CUdevice,
    flags: *mut c_uint,
    active: *mut c_int,
) -> CUresult {
    if flags.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if active.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuDevicePrimaryCtxGetState") },
        8,
        |w: &mut Writer| {
            wire::Scalar::put(dev, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, flags, 1) }?;
            unsafe { wire::take(r, active, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuDevicePrimaryCtxSetFlags_v2(dev: CUdevice, flags: c_uint) -> CUresult {
    entry::waiting(
        const { op_id("cuDevicePrimaryCtxSetFlags_v2") },
        16,
        |w: &mut Writer| {
            wire::Scalar::put(dev, w);
            wire::Scalar::put(flags, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuCtxCreate_v2(
    pctx: *mut CUcontext,
    flags: c_uint,
    dev: CUdevice,
) -> CUresult {
    if pctx.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    let minted_pctx = entry::mint(Kind::Context);
    let status = entry::waiting(
        const { op_id("cuCtxCreate_v2") },
        24,
        |w: &mut Writer| {
            w.u64(minted_pctx);
            wire::Scalar::put(flags, w);
            wire::Scalar::put(dev, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    );
    if status == 0 {
        unsafe { pctx.write(core::ptr::with_exposed_provenance_mut(minted_pctx as usize)) };
    }
    status
}

pub(crate) unsafe fn cuCtxDestroy_v2(ctx: CUcontext) -> CUresult {
    entry::waiting(
        const { op_id("cuCtxDestroy_v2") },
        8,
        |w: &mut Writer| {
            w.u64(ctx.addr() as u64);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuCtxGetApiVersion(ctx: CUcontext, version: *mut c_uint) -> CUresult {
    if version.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuCtxGetApiVersion") },
        8,
        |w: &mut Writer| {
            w.u64(ctx.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, version, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuCtxGetFlags(flags: *mut c_uint) -> CUresult {
    if flags.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuCtxGetFlags") },
        0,
        |_w: &mut Writer| Ok(()),
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, flags, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuCtxSetFlags(flags: c_uint) -> CUresult {
    entry::waiting(
        const { op_id("cuCtxSetFlags") },
        8,
        |w: &mut Writer| {
            wire::Scalar::put(flags, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuCtxGetId(ctx: CUcontext, ctxId: *mut c_ulonglong) -> CUresult {
    if ctxId.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuCtxGetId") },
        8,
        |w: &mut Writer| {
            w.u64(ctx.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, ctxId, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuCtxGetStreamPriorityRange(
    leastPriority: *mut c_int,
    greatestPriority: *mut c_int,
) -> CUresult {
    entry::waiting(
        const { op_id("cuCtxGetStreamPriorityRange") },
        2,
        |w: &mut Writer| {
            w.u8(u8::from(!leastPriority.is_null()));
            w.u8(u8::from(!greatestPriority.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            if !leastPriority.is_null() {
                unsafe { wire::take(r, leastPriority, 1) }?;
            }
            if !greatestPriority.is_null() {
                unsafe { wire::take(r, greatestPriority, 1) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuCtxSynchronize() -> CUresult {
    entry::waiting(
        const { op_id("cuCtxSynchronize") },
        0,
        |_w: &mut Writer| Ok(()),
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuCtxSynchronize_v2(ctx: CUcontext) -> CUresult {
    entry::waiting(
        const { op_id("cuCtxSynchronize_v2") },
        8,
        |w: &mut Writer| {
            w.u64(ctx.addr() as u64);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuCtxGetLimit(pvalue: *mut usize, limit: CUlimit) -> CUresult {
    if pvalue.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuCtxGetLimit") },
        8,
        |w: &mut Writer| {
            wire::Scalar::put(limit, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pvalue, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuCtxSetLimit(limit: CUlimit, value: usize) -> CUresult {
    entry::waiting(
        const { op_id("cuCtxSetLimit") },
        16,
        |w: &mut Writer| {
            wire::Scalar::put(limit, w);
            wire::Scalar::put(value, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuCtxGetCacheConfig(pconfig: *mut CUfunc_cache) -> CUresult {
    if pconfig.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuCtxGetCacheConfig") },
        0,
        |_w: &mut Writer| Ok(()),
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pconfig, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuCtxSetCacheConfig(config: CUfunc_cache) -> CUresult {
    entry::waiting(
        const { op_id("cuCtxSetCacheConfig") },
        8,
        |w: &mut Writer| {
            wire::Scalar::put(config, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuCtxGetSharedMemConfig(pConfig: *mut CUsharedconfig) -> CUresult {
    if pConfig.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuCtxGetSharedMemConfig") },
        0,
        |_w: &mut Writer| Ok(()),
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pConfig, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuCtxSetSharedMemConfig(config: CUsharedconfig) -> CUresult {
    entry::waiting(
        const { op_id("cuCtxSetSharedMemConfig") },
        8,
        |w: &mut Writer| {
            wire::Scalar::put(config, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuCtxGetExecAffinity(
    pExecAffinity: *mut CUexecAffinityParam,
    type_: CUexecAffinityType,
) -> CUresult {
    if pExecAffinity.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuCtxGetExecAffinity") },
        8,
        |w: &mut Writer| {
            wire::Scalar::put(type_, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pExecAffinity, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuCtxResetPersistingL2Cache() -> CUresult {
    entry::one_way(
        const { op_id("cuCtxResetPersistingL2Cache") },
        0,
        |_w: &mut Writer| Ok(()),
    )
}

pub(crate) unsafe fn cuCtxEnablePeerAccess(peerContext: CUcontext, Flags: c_uint) -> CUresult {
    entry::waiting(
        const { op_id("cuCtxEnablePeerAccess") },
        16,
        |w: &mut Writer| {
            w.u64(peerContext.addr() as u64);
            wire::Scalar::put(Flags, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuCtxDisablePeerAccess(peerContext: CUcontext) -> CUresult {
    entry::waiting(
        const { op_id("cuCtxDisablePeerAccess") },
        8,
        |w: &mut Writer| {
            w.u64(peerContext.addr() as u64);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuCtxRecordEvent(hCtx: CUcontext, hEvent: CUevent) -> CUresult {
    entry::one_way(const { op_id("cuCtxRecordEvent") }, 16, |w: &mut Writer| {
        w.u64(hCtx.addr() as u64);
        w.u64(hEvent.addr() as u64);
        Ok(())
    })
}

pub(crate) unsafe fn cuCtxWaitEvent(hCtx: CUcontext, hEvent: CUevent) -> CUresult {
    entry::one_way(const { op_id("cuCtxWaitEvent") }, 16, |w: &mut Writer| {
        w.u64(hCtx.addr() as u64);
        w.u64(hEvent.addr() as u64);
        Ok(())
    })
}

pub(crate) unsafe fn cuMemAlloc_v2(dptr: *mut CUdeviceptr, bytesize: usize) -> CUresult {
    if dptr.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuMemAlloc_v2") },
        8,
        |w: &mut Writer| {
            wire::Scalar::put(bytesize, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, dptr, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMemAllocPitch_v2(
    dptr: *mut CUdeviceptr,
    pPitch: *mut usize,
    WidthInBytes: usize,
    Height: usize,
    ElementSizeBytes: c_uint,
) -> CUresult {
    if dptr.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if pPitch.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuMemAllocPitch_v2") },
        24,
        |w: &mut Writer| {
            wire::Scalar::put(WidthInBytes, w);
            wire::Scalar::put(Height, w);
            wire::Scalar::put(ElementSizeBytes, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, dptr, 1) }?;
            unsafe { wire::take(r, pPitch, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMemAllocManaged(
    dptr: *mut CUdeviceptr,
    bytesize: usize,
    flags: c_uint,
) -> CUresult {
    if dptr.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuMemAllocManaged") },
        16,
        |w: &mut Writer| {
            wire::Scalar::put(bytesize, w);
            wire::Scalar::put(flags, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, dptr, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMemFree_v2(dptr: CUdeviceptr) -> CUresult {
    entry::waiting(
        const { op_id("cuMemFree_v2") },
        8,
        |w: &mut Writer| {
            w.u64(dptr);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> CUresult {
    if free.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if total.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuMemGetInfo_v2") },
        0,
        |_w: &mut Writer| Ok(()),
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, free, 1) }?;
            unsafe { wire::take(r, total, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMemGetAddressRange_v2(
    pbase: *mut CUdeviceptr,
    psize: *mut usize,
    dptr: CUdeviceptr,
) -> CUresult {
    entry::waiting(
        const { op_id("cuMemGetAddressRange_v2") },
        10,
        |w: &mut Writer| {
            w.u8(u8::from(!pbase.is_null()));
            w.u8(u8::from(!psize.is_null()));
            w.u64(dptr);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            if !pbase.is_null() {
                unsafe { wire::take(r, pbase, 1) }?;
            }
            if !psize.is_null() {
                unsafe { wire::take(r, psize, 1) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMemAllocAsync(
    dptr: *mut CUdeviceptr,
    bytesize: usize,
    hStream: CUstream,
) -> CUresult {
    if dptr.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuMemAllocAsync") },
        16,
        |w: &mut Writer| {
            wire::Scalar::put(bytesize, w);
            w.u64(hStream.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, dptr, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMemAllocFromPoolAsync(
    dptr: *mut CUdeviceptr,
    bytesize: usize,
    pool: CUmemoryPool,
    hStream: CUstream,
) -> CUresult {
    if dptr.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuMemAllocFromPoolAsync") },
        24,
        |w: &mut Writer| {
            wire::Scalar::put(bytesize, w);
            w.u64(pool.addr() as u64);
            w.u64(hStream.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, dptr, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMemFreeAsync(dptr: CUdeviceptr, hStream: CUstream) -> CUresult {
    entry::one_way(const { op_id("cuMemFreeAsync") }, 16, |w: &mut Writer| {
        w.u64(dptr);
        w.u64(hStream.addr() as u64);
        Ok(())
    })
}

pub(crate) unsafe fn cuMemcpy(dst: CUdeviceptr, src: CUdeviceptr, ByteCount: usize) -> CUresult {
    entry::one_way(const { op_id("cuMemcpy") }, 24, |w: &mut Writer| {
        w.u64(dst);
        w.u64(src);
        wire::Scalar::put(ByteCount, w);
        Ok(())
    })
}

pub(crate) unsafe fn cuMemcpyAsync(
    dst: CUdeviceptr,
    src: CUdeviceptr,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    entry::one_way(const { op_id("cuMemcpyAsync") }, 32, |w: &mut Writer| {
        w.u64(dst);
        w.u64(src);
        wire::Scalar::put(ByteCount, w);
        w.u64(hStream.addr() as u64);
        Ok(())
    })
}

pub(crate) unsafe fn cuMemcpyDtoD_v2(
    dstDevice: CUdeviceptr,
    srcDevice: CUdeviceptr,
    ByteCount: usize,
) -> CUresult {
    entry::one_way(const { op_id("cuMemcpyDtoD_v2") }, 24, |w: &mut Writer| {
        w.u64(dstDevice);
        w.u64(srcDevice);
        wire::Scalar::put(ByteCount, w);
        Ok(())
    })
}

pub(crate) unsafe fn cuMemcpyDtoDAsync_v2(
    dstDevice: CUdeviceptr,
    srcDevice: CUdeviceptr,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    entry::one_way(
        const { op_id("cuMemcpyDtoDAsync_v2") },
        32,
        |w: &mut Writer| {
            w.u64(dstDevice);
            w.u64(srcDevice);
            wire::Scalar::put(ByteCount, w);
            w.u64(hStream.addr() as u64);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMemcpyPeer(
    dstDevice: CUdeviceptr,
    dstContext: CUcontext,
    srcDevice: CUdeviceptr,
    srcContext: CUcontext,
    ByteCount: usize,
) -> CUresult {
    entry::one_way(const { op_id("cuMemcpyPeer") }, 40, |w: &mut Writer| {
        w.u64(dstDevice);
        w.u64(dstContext.addr() as u64);
        w.u64(srcDevice);
        w.u64(srcContext.addr() as u64);
        wire::Scalar::put(ByteCount, w);
        Ok(())
    })
}

pub(crate) unsafe fn cuMemcpyPeerAsync(
    dstDevice: CUdeviceptr,
    dstContext: CUcontext,
    srcDevice: CUdeviceptr,
    srcContext: CUcontext,
    ByteCount: usize,
    hStream: CUstream,
) -> CUresult {
    entry::one_way(
        const { op_id("cuMemcpyPeerAsync") },
        48,
        |w: &mut Writer| {
            w.u64(dstDevice);
            w.u64(dstContext.addr() as u64);
            w.u64(srcDevice);
            w.u64(srcContext.addr() as u64);
            wire::Scalar::put(ByteCount, w);
            w.u64(hStream.addr() as u64);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMemsetD8_v2(dstDevice: CUdeviceptr, uc: c_uchar, N: usize) -> CUresult {
    entry::one_way(const { op_id("cuMemsetD8_v2") }, 24, |w: &mut Writer| {
        w.u64(dstDevice);
        wire::Scalar::put(uc, w);
        wire::Scalar::put(N, w);
        Ok(())
    })
}

pub(crate) unsafe fn cuMemsetD16_v2(dstDevice: CUdeviceptr, us: c_ushort, N: usize) -> CUresult {
    entry::one_way(const { op_id("cuMemsetD16_v2") }, 24, |w: &mut Writer| {
        w.u64(dstDevice);
        wire::Scalar::put(us, w);
        wire::Scalar::put(N, w);
        Ok(())
    })
}

pub(crate) unsafe fn cuMemsetD32_v2(dstDevice: CUdeviceptr, ui: c_uint, N: usize) -> CUresult {
    entry::one_way(const { op_id("cuMemsetD32_v2") }, 24, |w: &mut Writer| {
        w.u64(dstDevice);
        wire::Scalar::put(ui, w);
        wire::Scalar::put(N, w);
        Ok(())
    })
}

pub(crate) unsafe fn cuMemsetD8Async(
    dstDevice: CUdeviceptr,
    uc: c_uchar,
    N: usize,
    hStream: CUstream,
) -> CUresult {
    entry::one_way(const { op_id("cuMemsetD8Async") }, 32, |w: &mut Writer| {
        w.u64(dstDevice);
        wire::Scalar::put(uc, w);
        wire::Scalar::put(N, w);
        w.u64(hStream.addr() as u64);
        Ok(())
    })
}

pub(crate) unsafe fn cuMemsetD16Async(
    dstDevice: CUdeviceptr,
    us: c_ushort,
    N: usize,
    hStream: CUstream,
) -> CUresult {
    entry::one_way(const { op_id("cuMemsetD16Async") }, 32, |w: &mut Writer| {
        w.u64(dstDevice);
        wire::Scalar::put(us, w);
        wire::Scalar::put(N, w);
        w.u64(hStream.addr() as u64);
        Ok(())
    })
}

pub(crate) unsafe fn cuMemsetD32Async(
    dstDevice: CUdeviceptr,
    ui: c_uint,
    N: usize,
    hStream: CUstream,
) -> CUresult {
    entry::one_way(const { op_id("cuMemsetD32Async") }, 32, |w: &mut Writer| {
        w.u64(dstDevice);
        wire::Scalar::put(ui, w);
        wire::Scalar::put(N, w);
        w.u64(hStream.addr() as u64);
        Ok(())
    })
}

pub(crate) unsafe fn cuMemsetD2D8_v2(
    dstDevice: CUdeviceptr,
    dstPitch: usize,
    uc: c_uchar,
    Width: usize,
    Height: usize,
) -> CUresult {
    entry::one_way(const { op_id("cuMemsetD2D8_v2") }, 40, |w: &mut Writer| {
        w.u64(dstDevice);
        wire::Scalar::put(dstPitch, w);
        wire::Scalar::put(uc, w);
        wire::Scalar::put(Width, w);
        wire::Scalar::put(Height, w);
        Ok(())
    })
}

pub(crate) unsafe fn cuMemsetD2D16_v2(
    dstDevice: CUdeviceptr,
    dstPitch: usize,
    us: c_ushort,
    Width: usize,
    Height: usize,
) -> CUresult {
    entry::one_way(const { op_id("cuMemsetD2D16_v2") }, 40, |w: &mut Writer| {
        w.u64(dstDevice);
        wire::Scalar::put(dstPitch, w);
        wire::Scalar::put(us, w);
        wire::Scalar::put(Width, w);
        wire::Scalar::put(Height, w);
        Ok(())
    })
}

pub(crate) unsafe fn cuMemsetD2D32_v2(
    dstDevice: CUdeviceptr,
    dstPitch: usize,
    ui: c_uint,
    Width: usize,
    Height: usize,
) -> CUresult {
    entry::one_way(const { op_id("cuMemsetD2D32_v2") }, 40, |w: &mut Writer| {
        w.u64(dstDevice);
        wire::Scalar::put(dstPitch, w);
        wire::Scalar::put(ui, w);
        wire::Scalar::put(Width, w);
        wire::Scalar::put(Height, w);
        Ok(())
    })
}

pub(crate) unsafe fn cuMemsetD2D8Async(
    dstDevice: CUdeviceptr,
    dstPitch: usize,
    uc: c_uchar,
    Width: usize,
    Height: usize,
    hStream: CUstream,
) -> CUresult {
    entry::one_way(
        const { op_id("cuMemsetD2D8Async") },
        48,
        |w: &mut Writer| {
            w.u64(dstDevice);
            wire::Scalar::put(dstPitch, w);
            wire::Scalar::put(uc, w);
            wire::Scalar::put(Width, w);
            wire::Scalar::put(Height, w);
            w.u64(hStream.addr() as u64);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMemsetD2D16Async(
    dstDevice: CUdeviceptr,
    dstPitch: usize,
    us: c_ushort,
    Width: usize,
    Height: usize,
    hStream: CUstream,
) -> CUresult {
    entry::one_way(
        const { op_id("cuMemsetD2D16Async") },
        48,
        |w: &mut Writer| {
            w.u64(dstDevice);
            wire::Scalar::put(dstPitch, w);
            wire::Scalar::put(us, w);
            wire::Scalar::put(Width, w);
            wire::Scalar::put(Height, w);
            w.u64(hStream.addr() as u64);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMemsetD2D32Async(
    dstDevice: CUdeviceptr,
    dstPitch: usize,
    ui: c_uint,
    Width: usize,
    Height: usize,
    hStream: CUstream,
) -> CUresult {
    entry::one_way(
        const { op_id("cuMemsetD2D32Async") },
        48,
        |w: &mut Writer| {
            w.u64(dstDevice);
            wire::Scalar::put(dstPitch, w);
            wire::Scalar::put(ui, w);
            wire::Scalar::put(Width, w);
            wire::Scalar::put(Height, w);
            w.u64(hStream.addr() as u64);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuDeviceGetDefaultMemPool(
    pool_out: *mut CUmemoryPool,
    dev: CUdevice,
) -> CUresult {
    if pool_out.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuDeviceGetDefaultMemPool") },
        8,
        |w: &mut Writer| {
            wire::Scalar::put(dev, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { pool_out.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuDeviceGetMemPool(pool: *mut CUmemoryPool, dev: CUdevice) -> CUresult {
    if pool.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuDeviceGetMemPool") },
        8,
        |w: &mut Writer| {
            wire::Scalar::put(dev, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { pool.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuDeviceSetMemPool(dev: CUdevice, pool: CUmemoryPool) -> CUresult {
    entry::waiting(
        const { op_id("cuDeviceSetMemPool") },
        16,
        |w: &mut Writer| {
            wire::Scalar::put(dev, w);
            w.u64(pool.addr() as u64);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuMemGetDefaultMemPool(
    pool_out: *mut CUmemoryPool,
    location: *mut CUmemLocation,
    type_: CUmemAllocationType,
) -> CUresult {
    if pool_out.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if location.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuMemGetDefaultMemPool") },
        72,
        |w: &mut Writer| {
            unsafe { wire::put(w, location, 1) };
            wire::Scalar::put(type_, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { pool_out.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMemGetMemPool(
    pool: *mut CUmemoryPool,
    location: *mut CUmemLocation,
    type_: CUmemAllocationType,
) -> CUresult {
    if pool.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if location.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuMemGetMemPool") },
        72,
        |w: &mut Writer| {
            unsafe { wire::put(w, location, 1) };
            wire::Scalar::put(type_, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { pool.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMemSetMemPool(
    location: *mut CUmemLocation,
    type_: CUmemAllocationType,
    pool: CUmemoryPool,
) -> CUresult {
    if location.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuMemSetMemPool") },
        80,
        |w: &mut Writer| {
            unsafe { wire::put(w, location, 1) };
            wire::Scalar::put(type_, w);
            w.u64(pool.addr() as u64);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuMemPoolCreate(
    pool: *mut CUmemoryPool,
    poolProps: *const CUmemPoolProps,
) -> CUresult {
    if pool.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    let minted_pool = entry::mint(Kind::MemPool);
    if poolProps.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    let status = entry::waiting(
        const { op_id("cuMemPoolCreate") },
        72,
        |w: &mut Writer| {
            w.u64(minted_pool);
            unsafe { wire::put(w, poolProps, 1) };
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    );
    if status == 0 {
        unsafe { pool.write(core::ptr::with_exposed_provenance_mut(minted_pool as usize)) };
    }
    status
}

pub(crate) unsafe fn cuMemPoolDestroy(pool: CUmemoryPool) -> CUresult {
    entry::one_way(const { op_id("cuMemPoolDestroy") }, 8, |w: &mut Writer| {
        w.u64(pool.addr() as u64);
        Ok(())
    })
}

pub(crate) unsafe fn cuMemPoolGetAttribute(
    pool: CUmemoryPool,
    attr: CUmemPool_attribute,
    value: *mut c_void,
) -> CUresult {
    if value.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuMemPoolGetAttribute") },
        16,
        |w: &mut Writer| {
            w.u64(pool.addr() as u64);
            wire::Scalar::put(attr, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, value.cast::<u8>(), 8) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMemPoolSetAttribute(
    pool: CUmemoryPool,
    attr: CUmemPool_attribute,
    value: *mut c_void,
) -> CUresult {
    if value.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuMemPoolSetAttribute") },
        80,
        |w: &mut Writer| {
            w.u64(pool.addr() as u64);
            wire::Scalar::put(attr, w);
            unsafe { wire::put(w, value.cast::<u8>(), 8) };
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuMemPoolGetAccess(
    flags: *mut CUmemAccess_flags,
    memPool: CUmemoryPool,
    location: *mut CUmemLocation,
) -> CUresult {
    if flags.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if location.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuMemPoolGetAccess") },
        72,
        |w: &mut Writer| {
            w.u64(memPool.addr() as u64);
            unsafe { wire::put(w, location, 1) };
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, flags, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMemPoolSetAccess(
    pool: CUmemoryPool,
    map: *const CUmemAccessDesc,
    count: usize,
) -> CUresult {
    if map.is_null() && wire::Scalar::as_len(count) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(map, wire::Scalar::as_len(count)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuMemPoolSetAccess") },
        80,
        |w: &mut Writer| {
            w.u64(pool.addr() as u64);
            w.u64(wire::Scalar::as_len(count) as u64);
            unsafe { wire::put(w, map, wire::Scalar::as_len(count)) };
            wire::Scalar::put(count, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuMemPoolTrimTo(pool: CUmemoryPool, minBytesToKeep: usize) -> CUresult {
    entry::waiting(
        const { op_id("cuMemPoolTrimTo") },
        16,
        |w: &mut Writer| {
            w.u64(pool.addr() as u64);
            wire::Scalar::put(minBytesToKeep, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuIpcGetMemHandle(
    pHandle: *mut CUipcMemHandle,
    dptr: CUdeviceptr,
) -> CUresult {
    if pHandle.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuIpcGetMemHandle") },
        8,
        |w: &mut Writer| {
            w.u64(dptr);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pHandle, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuIpcOpenMemHandle_v2(
    pdptr: *mut CUdeviceptr,
    handle: CUipcMemHandle,
    Flags: c_uint,
) -> CUresult {
    if pdptr.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuIpcOpenMemHandle_v2") },
        16,
        |w: &mut Writer| {
            unsafe { wire::put(w, &raw const handle, 1) };
            wire::Scalar::put(Flags, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pdptr, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuIpcCloseMemHandle(dptr: CUdeviceptr) -> CUresult {
    entry::waiting(
        const { op_id("cuIpcCloseMemHandle") },
        8,
        |w: &mut Writer| {
            w.u64(dptr);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuIpcGetEventHandle(
    pHandle: *mut CUipcEventHandle,
    event: CUevent,
) -> CUresult {
    if pHandle.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuIpcGetEventHandle") },
        8,
        |w: &mut Writer| {
            w.u64(event.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pHandle, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuIpcOpenEventHandle(
    phEvent: *mut CUevent,
    handle: CUipcEventHandle,
) -> CUresult {
    if phEvent.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    let minted_phEvent = entry::mint(Kind::Event);
    let status = entry::waiting(
        const { op_id("cuIpcOpenEventHandle") },
        16,
        |w: &mut Writer| {
            w.u64(minted_phEvent);
            unsafe { wire::put(w, &raw const handle, 1) };
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    );
    if status == 0 {
        unsafe {
            phEvent.write(core::ptr::with_exposed_provenance_mut(
                minted_phEvent as usize,
            ))
        };
    }
    status
}

pub(crate) unsafe fn cuMemAddressReserve(
    ptr: *mut CUdeviceptr,
    size: usize,
    alignment: usize,
    addr: CUdeviceptr,
    flags: c_ulonglong,
) -> CUresult {
    if ptr.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuMemAddressReserve") },
        32,
        |w: &mut Writer| {
            wire::Scalar::put(size, w);
            wire::Scalar::put(alignment, w);
            w.u64(addr);
            wire::Scalar::put(flags, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, ptr, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMemAddressFree(ptr: CUdeviceptr, size: usize) -> CUresult {
    entry::waiting(
        const { op_id("cuMemAddressFree") },
        16,
        |w: &mut Writer| {
            w.u64(ptr);
            wire::Scalar::put(size, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuMemCreate(
    handle: *mut CUmemGenericAllocationHandle,
    size: usize,
    prop: *const CUmemAllocationProp,
    flags: c_ulonglong,
) -> CUresult {
    if handle.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if prop.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuMemCreate") },
        80,
        |w: &mut Writer| {
            wire::Scalar::put(size, w);
            unsafe { wire::put(w, prop, 1) };
            wire::Scalar::put(flags, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, handle, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMemRelease(handle: CUmemGenericAllocationHandle) -> CUresult {
    entry::waiting(
        const { op_id("cuMemRelease") },
        8,
        |w: &mut Writer| {
            wire::Scalar::put(handle, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuMemMap(
    ptr: CUdeviceptr,
    size: usize,
    offset: usize,
    handle: CUmemGenericAllocationHandle,
    flags: c_ulonglong,
) -> CUresult {
    entry::waiting(
        const { op_id("cuMemMap") },
        40,
        |w: &mut Writer| {
            w.u64(ptr);
            wire::Scalar::put(size, w);
            wire::Scalar::put(offset, w);
            wire::Scalar::put(handle, w);
            wire::Scalar::put(flags, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuMemUnmap(ptr: CUdeviceptr, size: usize) -> CUresult {
    entry::waiting(
        const { op_id("cuMemUnmap") },
        16,
        |w: &mut Writer| {
            w.u64(ptr);
            wire::Scalar::put(size, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuMemSetAccess(
    ptr: CUdeviceptr,
    size: usize,
    desc: *const CUmemAccessDesc,
    count: usize,
) -> CUresult {
    if desc.is_null() && wire::Scalar::as_len(count) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(desc, wire::Scalar::as_len(count)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuMemSetAccess") },
        88,
        |w: &mut Writer| {
            w.u64(ptr);
            wire::Scalar::put(size, w);
            w.u64(wire::Scalar::as_len(count) as u64);
            unsafe { wire::put(w, desc, wire::Scalar::as_len(count)) };
            wire::Scalar::put(count, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuMemGetAccess(
    flags: *mut c_ulonglong,
    location: *const CUmemLocation,
    ptr: CUdeviceptr,
) -> CUresult {
    if flags.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if location.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuMemGetAccess") },
        72,
        |w: &mut Writer| {
            unsafe { wire::put(w, location, 1) };
            w.u64(ptr);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, flags, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMemGetAllocationGranularity(
    granularity: *mut usize,
    prop: *const CUmemAllocationProp,
    option: CUmemAllocationGranularity_flags,
) -> CUresult {
    if granularity.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if prop.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuMemGetAllocationGranularity") },
        72,
        |w: &mut Writer| {
            unsafe { wire::put(w, prop, 1) };
            wire::Scalar::put(option, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, granularity, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMemGetAllocationPropertiesFromHandle(
    prop: *mut CUmemAllocationProp,
    handle: CUmemGenericAllocationHandle,
) -> CUresult {
    if prop.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuMemGetAllocationPropertiesFromHandle") },
        8,
        |w: &mut Writer| {
            wire::Scalar::put(handle, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, prop, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMemRetainAllocationHandle(
    handle: *mut CUmemGenericAllocationHandle,
    addr: *mut c_void,
) -> CUresult {
    if handle.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuMemRetainAllocationHandle") },
        8,
        |w: &mut Writer| {
            w.u64(addr.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, handle, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMemAdvise(
    devPtr: CUdeviceptr,
    count: usize,
    advice: CUmem_advise,
    device: CUdevice,
) -> CUresult {
    entry::one_way(const { op_id("cuMemAdvise") }, 32, |w: &mut Writer| {
        w.u64(devPtr);
        wire::Scalar::put(count, w);
        wire::Scalar::put(advice, w);
        wire::Scalar::put(device, w);
        Ok(())
    })
}

pub(crate) unsafe fn cuMemAdvise_v2(
    devPtr: CUdeviceptr,
    count: usize,
    advice: CUmem_advise,
    location: CUmemLocation,
) -> CUresult {
    entry::one_way(const { op_id("cuMemAdvise_v2") }, 32, |w: &mut Writer| {
        w.u64(devPtr);
        wire::Scalar::put(count, w);
        wire::Scalar::put(advice, w);
        unsafe { wire::put(w, &raw const location, 1) };
        Ok(())
    })
}

pub(crate) unsafe fn cuMemPrefetchAsync(
    devPtr: CUdeviceptr,
    count: usize,
    dstDevice: CUdevice,
    hStream: CUstream,
) -> CUresult {
    entry::one_way(
        const { op_id("cuMemPrefetchAsync") },
        32,
        |w: &mut Writer| {
            w.u64(devPtr);
            wire::Scalar::put(count, w);
            wire::Scalar::put(dstDevice, w);
            w.u64(hStream.addr() as u64);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMemPrefetchAsync_v2(
    devPtr: CUdeviceptr,
    count: usize,
    location: CUmemLocation,
    flags: c_uint,
    hStream: CUstream,
) -> CUresult {
    entry::one_way(
        const { op_id("cuMemPrefetchAsync_v2") },
        40,
        |w: &mut Writer| {
            w.u64(devPtr);
            wire::Scalar::put(count, w);
            unsafe { wire::put(w, &raw const location, 1) };
            wire::Scalar::put(flags, w);
            w.u64(hStream.addr() as u64);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMemPrefetchBatchAsync(
    dptrs: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    prefetchLocs: *mut CUmemLocation,
    prefetchLocIdxs: *mut usize,
    numPrefetchLocs: usize,
    flags: c_ulonglong,
    hStream: CUstream,
) -> CUresult {
    if dptrs.is_null() && wire::Scalar::as_len(count) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(dptrs, wire::Scalar::as_len(count)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if sizes.is_null() && wire::Scalar::as_len(count) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(sizes, wire::Scalar::as_len(count)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if prefetchLocs.is_null() && wire::Scalar::as_len(numPrefetchLocs) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(prefetchLocs, wire::Scalar::as_len(numPrefetchLocs)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if prefetchLocIdxs.is_null() && wire::Scalar::as_len(numPrefetchLocs) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(prefetchLocIdxs, wire::Scalar::as_len(numPrefetchLocs)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::one_way(
        const { op_id("cuMemPrefetchBatchAsync") },
        288,
        |w: &mut Writer| {
            w.u64(wire::Scalar::as_len(count) as u64);
            unsafe { wire::put(w, dptrs, wire::Scalar::as_len(count)) };
            w.u64(wire::Scalar::as_len(count) as u64);
            unsafe { wire::put(w, sizes, wire::Scalar::as_len(count)) };
            wire::Scalar::put(count, w);
            w.u64(wire::Scalar::as_len(numPrefetchLocs) as u64);
            unsafe { wire::put(w, prefetchLocs, wire::Scalar::as_len(numPrefetchLocs)) };
            w.u64(wire::Scalar::as_len(numPrefetchLocs) as u64);
            unsafe { wire::put(w, prefetchLocIdxs, wire::Scalar::as_len(numPrefetchLocs)) };
            wire::Scalar::put(numPrefetchLocs, w);
            wire::Scalar::put(flags, w);
            w.u64(hStream.addr() as u64);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMemDiscardBatchAsync(
    dptrs: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    flags: c_ulonglong,
    hStream: CUstream,
) -> CUresult {
    if dptrs.is_null() && wire::Scalar::as_len(count) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(dptrs, wire::Scalar::as_len(count)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if sizes.is_null() && wire::Scalar::as_len(count) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(sizes, wire::Scalar::as_len(count)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::one_way(
        const { op_id("cuMemDiscardBatchAsync") },
        152,
        |w: &mut Writer| {
            w.u64(wire::Scalar::as_len(count) as u64);
            unsafe { wire::put(w, dptrs, wire::Scalar::as_len(count)) };
            w.u64(wire::Scalar::as_len(count) as u64);
            unsafe { wire::put(w, sizes, wire::Scalar::as_len(count)) };
            wire::Scalar::put(count, w);
            wire::Scalar::put(flags, w);
            w.u64(hStream.addr() as u64);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMemDiscardAndPrefetchBatchAsync(
    dptrs: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    prefetchLocs: *mut CUmemLocation,
    prefetchLocIdxs: *mut usize,
    numPrefetchLocs: usize,
    flags: c_ulonglong,
    hStream: CUstream,
) -> CUresult {
    if dptrs.is_null() && wire::Scalar::as_len(count) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(dptrs, wire::Scalar::as_len(count)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if sizes.is_null() && wire::Scalar::as_len(count) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(sizes, wire::Scalar::as_len(count)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if prefetchLocs.is_null() && wire::Scalar::as_len(numPrefetchLocs) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(prefetchLocs, wire::Scalar::as_len(numPrefetchLocs)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if prefetchLocIdxs.is_null() && wire::Scalar::as_len(numPrefetchLocs) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(prefetchLocIdxs, wire::Scalar::as_len(numPrefetchLocs)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::one_way(
        const { op_id("cuMemDiscardAndPrefetchBatchAsync") },
        288,
        |w: &mut Writer| {
            w.u64(wire::Scalar::as_len(count) as u64);
            unsafe { wire::put(w, dptrs, wire::Scalar::as_len(count)) };
            w.u64(wire::Scalar::as_len(count) as u64);
            unsafe { wire::put(w, sizes, wire::Scalar::as_len(count)) };
            wire::Scalar::put(count, w);
            w.u64(wire::Scalar::as_len(numPrefetchLocs) as u64);
            unsafe { wire::put(w, prefetchLocs, wire::Scalar::as_len(numPrefetchLocs)) };
            w.u64(wire::Scalar::as_len(numPrefetchLocs) as u64);
            unsafe { wire::put(w, prefetchLocIdxs, wire::Scalar::as_len(numPrefetchLocs)) };
            wire::Scalar::put(numPrefetchLocs, w);
            wire::Scalar::put(flags, w);
            w.u64(hStream.addr() as u64);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMemRangeGetAttribute(
    data: *mut c_void,
    dataSize: usize,
    attribute: CUmem_range_attribute,
    devPtr: CUdeviceptr,
    count: usize,
) -> CUresult {
    if data.is_null() && wire::Scalar::as_len(dataSize) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuMemRangeGetAttribute") },
        32,
        |w: &mut Writer| {
            wire::Scalar::put(dataSize, w);
            wire::Scalar::put(attribute, w);
            w.u64(devPtr);
            wire::Scalar::put(count, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let len_data = r.len(wire::Scalar::as_len(dataSize))?;
            unsafe { wire::take(r, data.cast::<u8>(), len_data) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuStreamCreate(phStream: *mut CUstream, Flags: c_uint) -> CUresult {
    if phStream.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    let minted_phStream = entry::mint(Kind::Stream);
    let status = entry::one_way(const { op_id("cuStreamCreate") }, 16, |w: &mut Writer| {
        w.u64(minted_phStream);
        wire::Scalar::put(Flags, w);
        Ok(())
    });
    if status == 0 {
        unsafe {
            phStream.write(core::ptr::with_exposed_provenance_mut(
                minted_phStream as usize,
            ))
        };
    }
    status
}

pub(crate) unsafe fn cuStreamCreateWithPriority(
    phStream: *mut CUstream,
    flags: c_uint,
    priority: c_int,
) -> CUresult {
    if phStream.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    let minted_phStream = entry::mint(Kind::Stream);
    let status = entry::one_way(
        const { op_id("cuStreamCreateWithPriority") },
        24,
        |w: &mut Writer| {
            w.u64(minted_phStream);
            wire::Scalar::put(flags, w);
            wire::Scalar::put(priority, w);
            Ok(())
        },
    );
    if status == 0 {
        unsafe {
            phStream.write(core::ptr::with_exposed_provenance_mut(
                minted_phStream as usize,
            ))
        };
    }
    status
}

pub(crate) unsafe fn cuStreamDestroy_v2(hStream: CUstream) -> CUresult {
    entry::one_way(
        const { op_id("cuStreamDestroy_v2") },
        8,
        |w: &mut Writer| {
            w.u64(hStream.addr() as u64);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuStreamSynchronize(hStream: CUstream) -> CUresult {
    entry::waiting(
        const { op_id("cuStreamSynchronize") },
        8,
        |w: &mut Writer| {
            w.u64(hStream.addr() as u64);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuStreamQuery(hStream: CUstream) -> CUresult {
    entry::waiting(
        const { op_id("cuStreamQuery") },
        8,
        |w: &mut Writer| {
            w.u64(hStream.addr() as u64);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuStreamWaitEvent(
    hStream: CUstream,
    hEvent: CUevent,
    Flags: c_uint,
) -> CUresult {
    entry::one_way(
        const { op_id("cuStreamWaitEvent") },
        24,
        |w: &mut Writer| {
            w.u64(hStream.addr() as u64);
            w.u64(hEvent.addr() as u64);
            wire::Scalar::put(Flags, w);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuStreamGetFlags(hStream: CUstream, flags: *mut c_uint) -> CUresult {
    if flags.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuStreamGetFlags") },
        8,
        |w: &mut Writer| {
            w.u64(hStream.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, flags, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuStreamGetPriority(hStream: CUstream, priority: *mut c_int) -> CUresult {
    if priority.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuStreamGetPriority") },
        8,
        |w: &mut Writer| {
            w.u64(hStream.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, priority, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuStreamGetId(hStream: CUstream, streamId: *mut c_ulonglong) -> CUresult {
    if streamId.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuStreamGetId") },
        8,
        |w: &mut Writer| {
            w.u64(hStream.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, streamId, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuStreamGetDevice(hStream: CUstream, device: *mut CUdevice) -> CUresult {
    if device.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuStreamGetDevice") },
        8,
        |w: &mut Writer| {
            w.u64(hStream.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, device, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuStreamGetCtx(hStream: CUstream, pctx: *mut CUcontext) -> CUresult {
    if pctx.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuStreamGetCtx") },
        8,
        |w: &mut Writer| {
            w.u64(hStream.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { pctx.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuStreamAttachMemAsync(
    hStream: CUstream,
    dptr: CUdeviceptr,
    length: usize,
    flags: c_uint,
) -> CUresult {
    entry::one_way(
        const { op_id("cuStreamAttachMemAsync") },
        32,
        |w: &mut Writer| {
            w.u64(hStream.addr() as u64);
            w.u64(dptr);
            wire::Scalar::put(length, w);
            wire::Scalar::put(flags, w);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuStreamCopyAttributes(dst: CUstream, src: CUstream) -> CUresult {
    entry::one_way(
        const { op_id("cuStreamCopyAttributes") },
        16,
        |w: &mut Writer| {
            w.u64(dst.addr() as u64);
            w.u64(src.addr() as u64);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuStreamGetAttribute(
    hStream: CUstream,
    attr: CUstreamAttrID,
    value_out: *mut CUstreamAttrValue,
) -> CUresult {
    if value_out.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuStreamGetAttribute") },
        16,
        |w: &mut Writer| {
            w.u64(hStream.addr() as u64);
            wire::Scalar::put(attr, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, value_out, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuStreamSetAttribute(
    hStream: CUstream,
    attr: CUstreamAttrID,
    value: *const CUstreamAttrValue,
) -> CUresult {
    if value.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuStreamSetAttribute") },
        80,
        |w: &mut Writer| {
            w.u64(hStream.addr() as u64);
            wire::Scalar::put(attr, w);
            unsafe { wire::put(w, value, 1) };
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuStreamWaitValue32(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint32_t,
    flags: c_uint,
) -> CUresult {
    entry::one_way(
        const { op_id("cuStreamWaitValue32") },
        32,
        |w: &mut Writer| {
            w.u64(stream.addr() as u64);
            w.u64(addr);
            wire::Scalar::put(value, w);
            wire::Scalar::put(flags, w);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuStreamWaitValue32_v2(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint32_t,
    flags: c_uint,
) -> CUresult {
    entry::one_way(
        const { op_id("cuStreamWaitValue32_v2") },
        32,
        |w: &mut Writer| {
            w.u64(stream.addr() as u64);
            w.u64(addr);
            wire::Scalar::put(value, w);
            wire::Scalar::put(flags, w);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuStreamWaitValue64(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint64_t,
    flags: c_uint,
) -> CUresult {
    entry::one_way(
        const { op_id("cuStreamWaitValue64") },
        32,
        |w: &mut Writer| {
            w.u64(stream.addr() as u64);
            w.u64(addr);
            wire::Scalar::put(value, w);
            wire::Scalar::put(flags, w);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuStreamWaitValue64_v2(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint64_t,
    flags: c_uint,
) -> CUresult {
    entry::one_way(
        const { op_id("cuStreamWaitValue64_v2") },
        32,
        |w: &mut Writer| {
            w.u64(stream.addr() as u64);
            w.u64(addr);
            wire::Scalar::put(value, w);
            wire::Scalar::put(flags, w);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuStreamWriteValue32(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint32_t,
    flags: c_uint,
) -> CUresult {
    entry::one_way(
        const { op_id("cuStreamWriteValue32") },
        32,
        |w: &mut Writer| {
            w.u64(stream.addr() as u64);
            w.u64(addr);
            wire::Scalar::put(value, w);
            wire::Scalar::put(flags, w);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuStreamWriteValue32_v2(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint32_t,
    flags: c_uint,
) -> CUresult {
    entry::one_way(
        const { op_id("cuStreamWriteValue32_v2") },
        32,
        |w: &mut Writer| {
            w.u64(stream.addr() as u64);
            w.u64(addr);
            wire::Scalar::put(value, w);
            wire::Scalar::put(flags, w);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuStreamWriteValue64(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint64_t,
    flags: c_uint,
) -> CUresult {
    entry::one_way(
        const { op_id("cuStreamWriteValue64") },
        32,
        |w: &mut Writer| {
            w.u64(stream.addr() as u64);
            w.u64(addr);
            wire::Scalar::put(value, w);
            wire::Scalar::put(flags, w);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuStreamWriteValue64_v2(
    stream: CUstream,
    addr: CUdeviceptr,
    value: cuuint64_t,
    flags: c_uint,
) -> CUresult {
    entry::one_way(
        const { op_id("cuStreamWriteValue64_v2") },
        32,
        |w: &mut Writer| {
            w.u64(stream.addr() as u64);
            w.u64(addr);
            wire::Scalar::put(value, w);
            wire::Scalar::put(flags, w);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuStreamBatchMemOp(
    stream: CUstream,
    count: c_uint,
    paramArray: *mut CUstreamBatchMemOpParams,
    flags: c_uint,
) -> CUresult {
    if paramArray.is_null() && wire::Scalar::as_len(count) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(paramArray, wire::Scalar::as_len(count)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::one_way(
        const { op_id("cuStreamBatchMemOp") },
        88,
        |w: &mut Writer| {
            w.u64(stream.addr() as u64);
            wire::Scalar::put(count, w);
            w.u64(wire::Scalar::as_len(count) as u64);
            unsafe { wire::put(w, paramArray, wire::Scalar::as_len(count)) };
            wire::Scalar::put(flags, w);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuStreamBatchMemOp_v2(
    stream: CUstream,
    count: c_uint,
    paramArray: *mut CUstreamBatchMemOpParams,
    flags: c_uint,
) -> CUresult {
    if paramArray.is_null() && wire::Scalar::as_len(count) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(paramArray, wire::Scalar::as_len(count)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::one_way(
        const { op_id("cuStreamBatchMemOp_v2") },
        88,
        |w: &mut Writer| {
            w.u64(stream.addr() as u64);
            wire::Scalar::put(count, w);
            w.u64(wire::Scalar::as_len(count) as u64);
            unsafe { wire::put(w, paramArray, wire::Scalar::as_len(count)) };
            wire::Scalar::put(flags, w);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuStreamBeginCapture_v2(
    hStream: CUstream,
    mode: CUstreamCaptureMode,
) -> CUresult {
    entry::waiting(
        const { op_id("cuStreamBeginCapture_v2") },
        16,
        |w: &mut Writer| {
            w.u64(hStream.addr() as u64);
            wire::Scalar::put(mode, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuStreamBeginCaptureToGraph(
    hStream: CUstream,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    dependencyData: *const CUgraphEdgeData,
    numDependencies: usize,
    mode: CUstreamCaptureMode,
) -> CUresult {
    if dependencies.is_null() && wire::Scalar::as_len(numDependencies) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(dependencyData, wire::Scalar::as_len(numDependencies)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuStreamBeginCaptureToGraph") },
        160,
        |w: &mut Writer| {
            w.u64(hStream.addr() as u64);
            w.u64(hGraph.addr() as u64);
            w.u64(wire::Scalar::as_len(numDependencies) as u64);
            for at in 0..wire::Scalar::as_len(numDependencies) {
                w.u64(unsafe { dependencies.add(at).read() }.addr() as u64);
            }
            w.u8(u8::from(!dependencyData.is_null()));
            if !dependencyData.is_null() {
                w.u64(wire::Scalar::as_len(numDependencies) as u64);
                unsafe { wire::put(w, dependencyData, wire::Scalar::as_len(numDependencies)) };
            }
            wire::Scalar::put(numDependencies, w);
            wire::Scalar::put(mode, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuStreamEndCapture(hStream: CUstream, phGraph: *mut CUgraph) -> CUresult {
    if phGraph.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuStreamEndCapture") },
        8,
        |w: &mut Writer| {
            w.u64(hStream.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { phGraph.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuStreamUpdateCaptureDependencies(
    hStream: CUstream,
    dependencies: *mut CUgraphNode,
    numDependencies: usize,
    flags: c_uint,
) -> CUresult {
    if dependencies.is_null() && wire::Scalar::as_len(numDependencies) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuStreamUpdateCaptureDependencies") },
        88,
        |w: &mut Writer| {
            w.u64(hStream.addr() as u64);
            w.u64(wire::Scalar::as_len(numDependencies) as u64);
            for at in 0..wire::Scalar::as_len(numDependencies) {
                w.u64(unsafe { dependencies.add(at).read() }.addr() as u64);
            }
            wire::Scalar::put(numDependencies, w);
            wire::Scalar::put(flags, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuStreamUpdateCaptureDependencies_v2(
    hStream: CUstream,
    dependencies: *mut CUgraphNode,
    dependencyData: *const CUgraphEdgeData,
    numDependencies: usize,
    flags: c_uint,
) -> CUresult {
    if dependencies.is_null() && wire::Scalar::as_len(numDependencies) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(dependencyData, wire::Scalar::as_len(numDependencies)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuStreamUpdateCaptureDependencies_v2") },
        152,
        |w: &mut Writer| {
            w.u64(hStream.addr() as u64);
            w.u64(wire::Scalar::as_len(numDependencies) as u64);
            for at in 0..wire::Scalar::as_len(numDependencies) {
                w.u64(unsafe { dependencies.add(at).read() }.addr() as u64);
            }
            w.u8(u8::from(!dependencyData.is_null()));
            if !dependencyData.is_null() {
                w.u64(wire::Scalar::as_len(numDependencies) as u64);
                unsafe { wire::put(w, dependencyData, wire::Scalar::as_len(numDependencies)) };
            }
            wire::Scalar::put(numDependencies, w);
            wire::Scalar::put(flags, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuThreadExchangeStreamCaptureMode(mode: *mut CUstreamCaptureMode) -> CUresult {
    if mode.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuThreadExchangeStreamCaptureMode") },
        64,
        |w: &mut Writer| {
            unsafe { wire::put(w, mode, 1) };
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, mode, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuEventCreate(phEvent: *mut CUevent, Flags: c_uint) -> CUresult {
    if phEvent.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    let minted_phEvent = entry::mint(Kind::Event);
    let status = entry::one_way(const { op_id("cuEventCreate") }, 16, |w: &mut Writer| {
        w.u64(minted_phEvent);
        wire::Scalar::put(Flags, w);
        Ok(())
    });
    if status == 0 {
        unsafe {
            phEvent.write(core::ptr::with_exposed_provenance_mut(
                minted_phEvent as usize,
            ))
        };
    }
    status
}

pub(crate) unsafe fn cuEventDestroy_v2(hEvent: CUevent) -> CUresult {
    entry::one_way(const { op_id("cuEventDestroy_v2") }, 8, |w: &mut Writer| {
        w.u64(hEvent.addr() as u64);
        Ok(())
    })
}

pub(crate) unsafe fn cuEventRecord(hEvent: CUevent, hStream: CUstream) -> CUresult {
    entry::one_way(const { op_id("cuEventRecord") }, 16, |w: &mut Writer| {
        w.u64(hEvent.addr() as u64);
        w.u64(hStream.addr() as u64);
        Ok(())
    })
}

pub(crate) unsafe fn cuEventRecordWithFlags(
    hEvent: CUevent,
    hStream: CUstream,
    flags: c_uint,
) -> CUresult {
    entry::one_way(
        const { op_id("cuEventRecordWithFlags") },
        24,
        |w: &mut Writer| {
            w.u64(hEvent.addr() as u64);
            w.u64(hStream.addr() as u64);
            wire::Scalar::put(flags, w);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuEventQuery(hEvent: CUevent) -> CUresult {
    entry::waiting(
        const { op_id("cuEventQuery") },
        8,
        |w: &mut Writer| {
            w.u64(hEvent.addr() as u64);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuEventSynchronize(hEvent: CUevent) -> CUresult {
    entry::waiting(
        const { op_id("cuEventSynchronize") },
        8,
        |w: &mut Writer| {
            w.u64(hEvent.addr() as u64);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuEventElapsedTime(
    pMilliseconds: *mut f32,
    hStart: CUevent,
    hEnd: CUevent,
) -> CUresult {
    if pMilliseconds.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuEventElapsedTime") },
        16,
        |w: &mut Writer| {
            w.u64(hStart.addr() as u64);
            w.u64(hEnd.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pMilliseconds, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuEventElapsedTime_v2(
    pMilliseconds: *mut f32,
    hStart: CUevent,
    hEnd: CUevent,
) -> CUresult {
    if pMilliseconds.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuEventElapsedTime_v2") },
        16,
        |w: &mut Writer| {
            w.u64(hStart.addr() as u64);
            w.u64(hEnd.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pMilliseconds, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuModuleUnload(hmod: CUmodule) -> CUresult {
    entry::one_way(const { op_id("cuModuleUnload") }, 8, |w: &mut Writer| {
        w.u64(hmod.addr() as u64);
        Ok(())
    })
}

pub(crate) unsafe fn cuModuleGetLoadingMode(mode: *mut CUmoduleLoadingMode) -> CUresult {
    if mode.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuModuleGetLoadingMode") },
        0,
        |_w: &mut Writer| Ok(()),
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, mode, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuModuleGetFunctionCount(count: *mut c_uint, mod_: CUmodule) -> CUresult {
    if count.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuModuleGetFunctionCount") },
        8,
        |w: &mut Writer| {
            w.u64(mod_.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, count, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuModuleEnumerateFunctions(
    functions: *mut CUfunction,
    numFunctions: c_uint,
    mod_: CUmodule,
) -> CUresult {
    if functions.is_null() && wire::Scalar::as_len(numFunctions) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuModuleEnumerateFunctions") },
        16,
        |w: &mut Writer| {
            wire::Scalar::put(numFunctions, w);
            w.u64(mod_.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let len_functions = r.len(wire::Scalar::as_len(numFunctions))?;
            for at in 0..len_functions {
                let known = r.u64()? as usize;
                unsafe {
                    functions
                        .add(at)
                        .write(core::ptr::with_exposed_provenance_mut(known))
                };
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuModuleGetGlobal_v2(
    dptr: *mut CUdeviceptr,
    bytes: *mut usize,
    hmod: CUmodule,
    name: *const c_char,
) -> CUresult {
    if name.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuModuleGetGlobal_v2") },
        74,
        |w: &mut Writer| {
            w.u8(u8::from(!dptr.is_null()));
            w.u8(u8::from(!bytes.is_null()));
            w.u64(hmod.addr() as u64);
            unsafe { wire::put_string(w, name) };
            Ok(())
        },
        |r: &mut Reader<'_>| {
            if !dptr.is_null() {
                unsafe { wire::take(r, dptr, 1) }?;
            }
            if !bytes.is_null() {
                unsafe { wire::take(r, bytes, 1) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuFuncGetAttribute(
    pi: *mut c_int,
    attrib: CUfunction_attribute,
    hfunc: CUfunction,
) -> CUresult {
    if pi.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuFuncGetAttribute") },
        16,
        |w: &mut Writer| {
            wire::Scalar::put(attrib, w);
            w.u64(hfunc.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pi, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuFuncSetAttribute(
    hfunc: CUfunction,
    attrib: CUfunction_attribute,
    value: c_int,
) -> CUresult {
    entry::waiting(
        const { op_id("cuFuncSetAttribute") },
        24,
        |w: &mut Writer| {
            w.u64(hfunc.addr() as u64);
            wire::Scalar::put(attrib, w);
            wire::Scalar::put(value, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuFuncSetCacheConfig(hfunc: CUfunction, config: CUfunc_cache) -> CUresult {
    entry::one_way(
        const { op_id("cuFuncSetCacheConfig") },
        16,
        |w: &mut Writer| {
            w.u64(hfunc.addr() as u64);
            wire::Scalar::put(config, w);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuFuncSetSharedMemConfig(
    hfunc: CUfunction,
    config: CUsharedconfig,
) -> CUresult {
    entry::one_way(
        const { op_id("cuFuncSetSharedMemConfig") },
        16,
        |w: &mut Writer| {
            w.u64(hfunc.addr() as u64);
            wire::Scalar::put(config, w);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuFuncGetModule(hmod: *mut CUmodule, hfunc: CUfunction) -> CUresult {
    if hmod.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuFuncGetModule") },
        8,
        |w: &mut Writer| {
            w.u64(hfunc.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { hmod.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuFuncGetParamCount(func: CUfunction, paramCount: *mut usize) -> CUresult {
    if paramCount.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuFuncGetParamCount") },
        8,
        |w: &mut Writer| {
            w.u64(func.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, paramCount, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuFuncGetParamInfo(
    func: CUfunction,
    paramIndex: usize,
    paramOffset: *mut usize,
    paramSize: *mut usize,
) -> CUresult {
    if paramOffset.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuFuncGetParamInfo") },
        17,
        |w: &mut Writer| {
            w.u64(func.addr() as u64);
            wire::Scalar::put(paramIndex, w);
            w.u8(u8::from(!paramSize.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, paramOffset, 1) }?;
            if !paramSize.is_null() {
                unsafe { wire::take(r, paramSize, 1) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuFuncIsLoaded(
    state: *mut CUfunctionLoadingState,
    function: CUfunction,
) -> CUresult {
    if state.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuFuncIsLoaded") },
        8,
        |w: &mut Writer| {
            w.u64(function.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, state, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuFuncLoad(function: CUfunction) -> CUresult {
    entry::waiting(
        const { op_id("cuFuncLoad") },
        8,
        |w: &mut Writer| {
            w.u64(function.addr() as u64);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuLibraryUnload(library: CUlibrary) -> CUresult {
    entry::one_way(const { op_id("cuLibraryUnload") }, 8, |w: &mut Writer| {
        w.u64(library.addr() as u64);
        Ok(())
    })
}

pub(crate) unsafe fn cuLibraryGetModule(pMod: *mut CUmodule, library: CUlibrary) -> CUresult {
    if pMod.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuLibraryGetModule") },
        8,
        |w: &mut Writer| {
            w.u64(library.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { pMod.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuLibraryGetGlobal(
    dptr: *mut CUdeviceptr,
    bytes: *mut usize,
    library: CUlibrary,
    name: *const c_char,
) -> CUresult {
    if name.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuLibraryGetGlobal") },
        74,
        |w: &mut Writer| {
            w.u8(u8::from(!dptr.is_null()));
            w.u8(u8::from(!bytes.is_null()));
            w.u64(library.addr() as u64);
            unsafe { wire::put_string(w, name) };
            Ok(())
        },
        |r: &mut Reader<'_>| {
            if !dptr.is_null() {
                unsafe { wire::take(r, dptr, 1) }?;
            }
            if !bytes.is_null() {
                unsafe { wire::take(r, bytes, 1) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuLibraryGetManaged(
    dptr: *mut CUdeviceptr,
    bytes: *mut usize,
    library: CUlibrary,
    name: *const c_char,
) -> CUresult {
    if name.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuLibraryGetManaged") },
        74,
        |w: &mut Writer| {
            w.u8(u8::from(!dptr.is_null()));
            w.u8(u8::from(!bytes.is_null()));
            w.u64(library.addr() as u64);
            unsafe { wire::put_string(w, name) };
            Ok(())
        },
        |r: &mut Reader<'_>| {
            if !dptr.is_null() {
                unsafe { wire::take(r, dptr, 1) }?;
            }
            if !bytes.is_null() {
                unsafe { wire::take(r, bytes, 1) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuLibraryGetKernelCount(count: *mut c_uint, lib: CUlibrary) -> CUresult {
    if count.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuLibraryGetKernelCount") },
        8,
        |w: &mut Writer| {
            w.u64(lib.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, count, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuLibraryEnumerateKernels(
    kernels: *mut CUkernel,
    numKernels: c_uint,
    lib: CUlibrary,
) -> CUresult {
    if kernels.is_null() && wire::Scalar::as_len(numKernels) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuLibraryEnumerateKernels") },
        16,
        |w: &mut Writer| {
            wire::Scalar::put(numKernels, w);
            w.u64(lib.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let len_kernels = r.len(wire::Scalar::as_len(numKernels))?;
            for at in 0..len_kernels {
                let known = r.u64()? as usize;
                unsafe {
                    kernels
                        .add(at)
                        .write(core::ptr::with_exposed_provenance_mut(known))
                };
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuKernelGetFunction(pFunc: *mut CUfunction, kernel: CUkernel) -> CUresult {
    if pFunc.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    let minted_pFunc = entry::mint(Kind::Function);
    let status = entry::waiting(
        const { op_id("cuKernelGetFunction") },
        16,
        |w: &mut Writer| {
            w.u64(minted_pFunc);
            w.u64(kernel.addr() as u64);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    );
    if status == 0 {
        unsafe {
            pFunc.write(core::ptr::with_exposed_provenance_mut(
                minted_pFunc as usize,
            ))
        };
    }
    status
}

pub(crate) unsafe fn cuKernelGetLibrary(pLib: *mut CUlibrary, kernel: CUkernel) -> CUresult {
    if pLib.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuKernelGetLibrary") },
        8,
        |w: &mut Writer| {
            w.u64(kernel.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { pLib.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuKernelGetAttribute(
    pi: *mut c_int,
    attrib: CUfunction_attribute,
    kernel: CUkernel,
    dev: CUdevice,
) -> CUresult {
    if pi.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuKernelGetAttribute") },
        24,
        |w: &mut Writer| {
            wire::Scalar::put(attrib, w);
            w.u64(kernel.addr() as u64);
            wire::Scalar::put(dev, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pi, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuKernelSetAttribute(
    attrib: CUfunction_attribute,
    val: c_int,
    kernel: CUkernel,
    dev: CUdevice,
) -> CUresult {
    entry::waiting(
        const { op_id("cuKernelSetAttribute") },
        32,
        |w: &mut Writer| {
            wire::Scalar::put(attrib, w);
            wire::Scalar::put(val, w);
            w.u64(kernel.addr() as u64);
            wire::Scalar::put(dev, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuKernelSetCacheConfig(
    kernel: CUkernel,
    config: CUfunc_cache,
    dev: CUdevice,
) -> CUresult {
    entry::one_way(
        const { op_id("cuKernelSetCacheConfig") },
        24,
        |w: &mut Writer| {
            w.u64(kernel.addr() as u64);
            wire::Scalar::put(config, w);
            wire::Scalar::put(dev, w);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuKernelGetParamCount(kernel: CUkernel, paramCount: *mut usize) -> CUresult {
    if paramCount.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuKernelGetParamCount") },
        8,
        |w: &mut Writer| {
            w.u64(kernel.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, paramCount, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuKernelGetParamInfo(
    kernel: CUkernel,
    paramIndex: usize,
    paramOffset: *mut usize,
    paramSize: *mut usize,
) -> CUresult {
    if paramOffset.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuKernelGetParamInfo") },
        17,
        |w: &mut Writer| {
            w.u64(kernel.addr() as u64);
            wire::Scalar::put(paramIndex, w);
            w.u8(u8::from(!paramSize.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, paramOffset, 1) }?;
            if !paramSize.is_null() {
                unsafe { wire::take(r, paramSize, 1) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
    numBlocks: *mut c_int,
    func: CUfunction,
    blockSize: c_int,
    dynamicSMemSize: usize,
) -> CUresult {
    if numBlocks.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuOccupancyMaxActiveBlocksPerMultiprocessor") },
        24,
        |w: &mut Writer| {
            w.u64(func.addr() as u64);
            wire::Scalar::put(blockSize, w);
            wire::Scalar::put(dynamicSMemSize, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, numBlocks, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    numBlocks: *mut c_int,
    func: CUfunction,
    blockSize: c_int,
    dynamicSMemSize: usize,
    flags: c_uint,
) -> CUresult {
    if numBlocks.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags") },
        32,
        |w: &mut Writer| {
            w.u64(func.addr() as u64);
            wire::Scalar::put(blockSize, w);
            wire::Scalar::put(dynamicSMemSize, w);
            wire::Scalar::put(flags, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, numBlocks, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuOccupancyAvailableDynamicSMemPerBlock(
    dynamicSmemSize: *mut usize,
    func: CUfunction,
    numBlocks: c_int,
    blockSize: c_int,
) -> CUresult {
    if dynamicSmemSize.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuOccupancyAvailableDynamicSMemPerBlock") },
        24,
        |w: &mut Writer| {
            w.u64(func.addr() as u64);
            wire::Scalar::put(numBlocks, w);
            wire::Scalar::put(blockSize, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, dynamicSmemSize, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphCreate(phGraph: *mut CUgraph, flags: c_uint) -> CUresult {
    if phGraph.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    let minted_phGraph = entry::mint(Kind::Graph);
    let status = entry::one_way(const { op_id("cuGraphCreate") }, 16, |w: &mut Writer| {
        w.u64(minted_phGraph);
        wire::Scalar::put(flags, w);
        Ok(())
    });
    if status == 0 {
        unsafe {
            phGraph.write(core::ptr::with_exposed_provenance_mut(
                minted_phGraph as usize,
            ))
        };
    }
    status
}

pub(crate) unsafe fn cuGraphClone(phGraphClone: *mut CUgraph, originalGraph: CUgraph) -> CUresult {
    if phGraphClone.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    let minted_phGraphClone = entry::mint(Kind::Graph);
    let status = entry::waiting(
        const { op_id("cuGraphClone") },
        16,
        |w: &mut Writer| {
            w.u64(minted_phGraphClone);
            w.u64(originalGraph.addr() as u64);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    );
    if status == 0 {
        unsafe {
            phGraphClone.write(core::ptr::with_exposed_provenance_mut(
                minted_phGraphClone as usize,
            ))
        };
    }
    status
}

pub(crate) unsafe fn cuGraphDestroy(hGraph: CUgraph) -> CUresult {
    entry::one_way(const { op_id("cuGraphDestroy") }, 8, |w: &mut Writer| {
        w.u64(hGraph.addr() as u64);
        Ok(())
    })
}

pub(crate) unsafe fn cuGraphGetId(hGraph: CUgraph, graphId: *mut c_uint) -> CUresult {
    if graphId.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuGraphGetId") },
        8,
        |w: &mut Writer| {
            w.u64(hGraph.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, graphId, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphExecGetId(hGraphExec: CUgraphExec, graphId: *mut c_uint) -> CUresult {
    if graphId.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuGraphExecGetId") },
        8,
        |w: &mut Writer| {
            w.u64(hGraphExec.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, graphId, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphAddEmptyNode(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    numDependencies: usize,
) -> CUresult {
    if phGraphNode.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    let minted_phGraphNode = entry::mint(Kind::GraphNode);
    if dependencies.is_null() && wire::Scalar::as_len(numDependencies) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    let status = entry::one_way(
        const { op_id("cuGraphAddEmptyNode") },
        88,
        |w: &mut Writer| {
            w.u64(minted_phGraphNode);
            w.u64(hGraph.addr() as u64);
            w.u64(wire::Scalar::as_len(numDependencies) as u64);
            for at in 0..wire::Scalar::as_len(numDependencies) {
                w.u64(unsafe { dependencies.add(at).read() }.addr() as u64);
            }
            wire::Scalar::put(numDependencies, w);
            Ok(())
        },
    );
    if status == 0 {
        unsafe {
            phGraphNode.write(core::ptr::with_exposed_provenance_mut(
                minted_phGraphNode as usize,
            ))
        };
    }
    status
}

pub(crate) unsafe fn cuGraphGetNodes(
    hGraph: CUgraph,
    nodes: *mut CUgraphNode,
    numNodes: *mut usize,
) -> CUresult {
    let capacity_nodes = if nodes.is_null() {
        0
    } else {
        match unsafe { numNodes.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return CUDA_ERROR_INVALID_VALUE,
        }
    };
    if numNodes.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuGraphGetNodes") },
        73,
        |w: &mut Writer| {
            w.u64(hGraph.addr() as u64);
            w.u8(u8::from(!nodes.is_null()));
            unsafe { wire::put(w, numNodes, 1) };
            Ok(())
        },
        |r: &mut Reader<'_>| {
            if !nodes.is_null() {
                let len_nodes = r.len(capacity_nodes)?;
                for at in 0..len_nodes {
                    let known = r.u64()? as usize;
                    unsafe {
                        nodes
                            .add(at)
                            .write(core::ptr::with_exposed_provenance_mut(known))
                    };
                }
            }
            unsafe { wire::take(r, numNodes, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphGetRootNodes(
    hGraph: CUgraph,
    rootNodes: *mut CUgraphNode,
    numRootNodes: *mut usize,
) -> CUresult {
    let capacity_rootNodes = if rootNodes.is_null() {
        0
    } else {
        match unsafe { numRootNodes.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return CUDA_ERROR_INVALID_VALUE,
        }
    };
    if numRootNodes.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuGraphGetRootNodes") },
        73,
        |w: &mut Writer| {
            w.u64(hGraph.addr() as u64);
            w.u8(u8::from(!rootNodes.is_null()));
            unsafe { wire::put(w, numRootNodes, 1) };
            Ok(())
        },
        |r: &mut Reader<'_>| {
            if !rootNodes.is_null() {
                let len_rootNodes = r.len(capacity_rootNodes)?;
                for at in 0..len_rootNodes {
                    let known = r.u64()? as usize;
                    unsafe {
                        rootNodes
                            .add(at)
                            .write(core::ptr::with_exposed_provenance_mut(known))
                    };
                }
            }
            unsafe { wire::take(r, numRootNodes, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphGetEdges(
    hGraph: CUgraph,
    from: *mut CUgraphNode,
    to: *mut CUgraphNode,
    numEdges: *mut usize,
) -> CUresult {
    let capacity_from = if from.is_null() {
        0
    } else {
        match unsafe { numEdges.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return CUDA_ERROR_INVALID_VALUE,
        }
    };
    let capacity_to = if to.is_null() {
        0
    } else {
        match unsafe { numEdges.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return CUDA_ERROR_INVALID_VALUE,
        }
    };
    if numEdges.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuGraphGetEdges") },
        74,
        |w: &mut Writer| {
            w.u64(hGraph.addr() as u64);
            w.u8(u8::from(!from.is_null()));
            w.u8(u8::from(!to.is_null()));
            unsafe { wire::put(w, numEdges, 1) };
            Ok(())
        },
        |r: &mut Reader<'_>| {
            if !from.is_null() {
                let len_from = r.len(capacity_from)?;
                for at in 0..len_from {
                    let known = r.u64()? as usize;
                    unsafe {
                        from.add(at)
                            .write(core::ptr::with_exposed_provenance_mut(known))
                    };
                }
            }
            if !to.is_null() {
                let len_to = r.len(capacity_to)?;
                for at in 0..len_to {
                    let known = r.u64()? as usize;
                    unsafe {
                        to.add(at)
                            .write(core::ptr::with_exposed_provenance_mut(known))
                    };
                }
            }
            unsafe { wire::take(r, numEdges, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphGetEdges_v2(
    hGraph: CUgraph,
    from: *mut CUgraphNode,
    to: *mut CUgraphNode,
    edgeData: *mut CUgraphEdgeData,
    numEdges: *mut usize,
) -> CUresult {
    let capacity_from = if from.is_null() {
        0
    } else {
        match unsafe { numEdges.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return CUDA_ERROR_INVALID_VALUE,
        }
    };
    let capacity_to = if to.is_null() {
        0
    } else {
        match unsafe { numEdges.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return CUDA_ERROR_INVALID_VALUE,
        }
    };
    let capacity_edgeData = if edgeData.is_null() {
        0
    } else {
        match unsafe { numEdges.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return CUDA_ERROR_INVALID_VALUE,
        }
    };
    if numEdges.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuGraphGetEdges_v2") },
        75,
        |w: &mut Writer| {
            w.u64(hGraph.addr() as u64);
            w.u8(u8::from(!from.is_null()));
            w.u8(u8::from(!to.is_null()));
            w.u8(u8::from(!edgeData.is_null()));
            unsafe { wire::put(w, numEdges, 1) };
            Ok(())
        },
        |r: &mut Reader<'_>| {
            if !from.is_null() {
                let len_from = r.len(capacity_from)?;
                for at in 0..len_from {
                    let known = r.u64()? as usize;
                    unsafe {
                        from.add(at)
                            .write(core::ptr::with_exposed_provenance_mut(known))
                    };
                }
            }
            if !to.is_null() {
                let len_to = r.len(capacity_to)?;
                for at in 0..len_to {
                    let known = r.u64()? as usize;
                    unsafe {
                        to.add(at)
                            .write(core::ptr::with_exposed_provenance_mut(known))
                    };
                }
            }
            if !edgeData.is_null() {
                let len_edgeData = r.len(capacity_edgeData)?;
                unsafe { wire::take(r, edgeData, len_edgeData) }?;
            }
            unsafe { wire::take(r, numEdges, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphAddDependencies(
    hGraph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    numDependencies: usize,
) -> CUresult {
    if from.is_null() && wire::Scalar::as_len(numDependencies) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if to.is_null() && wire::Scalar::as_len(numDependencies) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::one_way(
        const { op_id("cuGraphAddDependencies") },
        144,
        |w: &mut Writer| {
            w.u64(hGraph.addr() as u64);
            w.u64(wire::Scalar::as_len(numDependencies) as u64);
            for at in 0..wire::Scalar::as_len(numDependencies) {
                w.u64(unsafe { from.add(at).read() }.addr() as u64);
            }
            w.u64(wire::Scalar::as_len(numDependencies) as u64);
            for at in 0..wire::Scalar::as_len(numDependencies) {
                w.u64(unsafe { to.add(at).read() }.addr() as u64);
            }
            wire::Scalar::put(numDependencies, w);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphAddDependencies_v2(
    hGraph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    edgeData: *const CUgraphEdgeData,
    numDependencies: usize,
) -> CUresult {
    if from.is_null() && wire::Scalar::as_len(numDependencies) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if to.is_null() && wire::Scalar::as_len(numDependencies) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(edgeData, wire::Scalar::as_len(numDependencies)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::one_way(
        const { op_id("cuGraphAddDependencies_v2") },
        208,
        |w: &mut Writer| {
            w.u64(hGraph.addr() as u64);
            w.u64(wire::Scalar::as_len(numDependencies) as u64);
            for at in 0..wire::Scalar::as_len(numDependencies) {
                w.u64(unsafe { from.add(at).read() }.addr() as u64);
            }
            w.u64(wire::Scalar::as_len(numDependencies) as u64);
            for at in 0..wire::Scalar::as_len(numDependencies) {
                w.u64(unsafe { to.add(at).read() }.addr() as u64);
            }
            w.u8(u8::from(!edgeData.is_null()));
            if !edgeData.is_null() {
                w.u64(wire::Scalar::as_len(numDependencies) as u64);
                unsafe { wire::put(w, edgeData, wire::Scalar::as_len(numDependencies)) };
            }
            wire::Scalar::put(numDependencies, w);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphRemoveDependencies(
    hGraph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    numDependencies: usize,
) -> CUresult {
    if from.is_null() && wire::Scalar::as_len(numDependencies) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if to.is_null() && wire::Scalar::as_len(numDependencies) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::one_way(
        const { op_id("cuGraphRemoveDependencies") },
        144,
        |w: &mut Writer| {
            w.u64(hGraph.addr() as u64);
            w.u64(wire::Scalar::as_len(numDependencies) as u64);
            for at in 0..wire::Scalar::as_len(numDependencies) {
                w.u64(unsafe { from.add(at).read() }.addr() as u64);
            }
            w.u64(wire::Scalar::as_len(numDependencies) as u64);
            for at in 0..wire::Scalar::as_len(numDependencies) {
                w.u64(unsafe { to.add(at).read() }.addr() as u64);
            }
            wire::Scalar::put(numDependencies, w);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphRemoveDependencies_v2(
    hGraph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    edgeData: *const CUgraphEdgeData,
    numDependencies: usize,
) -> CUresult {
    if from.is_null() && wire::Scalar::as_len(numDependencies) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if to.is_null() && wire::Scalar::as_len(numDependencies) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(edgeData, wire::Scalar::as_len(numDependencies)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::one_way(
        const { op_id("cuGraphRemoveDependencies_v2") },
        208,
        |w: &mut Writer| {
            w.u64(hGraph.addr() as u64);
            w.u64(wire::Scalar::as_len(numDependencies) as u64);
            for at in 0..wire::Scalar::as_len(numDependencies) {
                w.u64(unsafe { from.add(at).read() }.addr() as u64);
            }
            w.u64(wire::Scalar::as_len(numDependencies) as u64);
            for at in 0..wire::Scalar::as_len(numDependencies) {
                w.u64(unsafe { to.add(at).read() }.addr() as u64);
            }
            w.u8(u8::from(!edgeData.is_null()));
            if !edgeData.is_null() {
                w.u64(wire::Scalar::as_len(numDependencies) as u64);
                unsafe { wire::put(w, edgeData, wire::Scalar::as_len(numDependencies)) };
            }
            wire::Scalar::put(numDependencies, w);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphNodeGetDependencies(
    hNode: CUgraphNode,
    dependencies: *mut CUgraphNode,
    numDependencies: *mut usize,
) -> CUresult {
    let capacity_dependencies = if dependencies.is_null() {
        0
    } else {
        match unsafe { numDependencies.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return CUDA_ERROR_INVALID_VALUE,
        }
    };
    if numDependencies.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuGraphNodeGetDependencies") },
        73,
        |w: &mut Writer| {
            w.u64(hNode.addr() as u64);
            w.u8(u8::from(!dependencies.is_null()));
            unsafe { wire::put(w, numDependencies, 1) };
            Ok(())
        },
        |r: &mut Reader<'_>| {
            if !dependencies.is_null() {
                let len_dependencies = r.len(capacity_dependencies)?;
                for at in 0..len_dependencies {
                    let known = r.u64()? as usize;
                    unsafe {
                        dependencies
                            .add(at)
                            .write(core::ptr::with_exposed_provenance_mut(known))
                    };
                }
            }
            unsafe { wire::take(r, numDependencies, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphNodeGetDependencies_v2(
    hNode: CUgraphNode,
    dependencies: *mut CUgraphNode,
    edgeData: *mut CUgraphEdgeData,
    numDependencies: *mut usize,
) -> CUresult {
    let capacity_dependencies = if dependencies.is_null() {
        0
    } else {
        match unsafe { numDependencies.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return CUDA_ERROR_INVALID_VALUE,
        }
    };
    let capacity_edgeData = if edgeData.is_null() {
        0
    } else {
        match unsafe { numDependencies.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return CUDA_ERROR_INVALID_VALUE,
        }
    };
    if numDependencies.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuGraphNodeGetDependencies_v2") },
        74,
        |w: &mut Writer| {
            w.u64(hNode.addr() as u64);
            w.u8(u8::from(!dependencies.is_null()));
            w.u8(u8::from(!edgeData.is_null()));
            unsafe { wire::put(w, numDependencies, 1) };
            Ok(())
        },
        |r: &mut Reader<'_>| {
            if !dependencies.is_null() {
                let len_dependencies = r.len(capacity_dependencies)?;
                for at in 0..len_dependencies {
                    let known = r.u64()? as usize;
                    unsafe {
                        dependencies
                            .add(at)
                            .write(core::ptr::with_exposed_provenance_mut(known))
                    };
                }
            }
            if !edgeData.is_null() {
                let len_edgeData = r.len(capacity_edgeData)?;
                unsafe { wire::take(r, edgeData, len_edgeData) }?;
            }
            unsafe { wire::take(r, numDependencies, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphNodeGetDependentNodes(
    hNode: CUgraphNode,
    dependentNodes: *mut CUgraphNode,
    numDependentNodes: *mut usize,
) -> CUresult {
    let capacity_dependentNodes = if dependentNodes.is_null() {
        0
    } else {
        match unsafe { numDependentNodes.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return CUDA_ERROR_INVALID_VALUE,
        }
    };
    if numDependentNodes.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuGraphNodeGetDependentNodes") },
        73,
        |w: &mut Writer| {
            w.u64(hNode.addr() as u64);
            w.u8(u8::from(!dependentNodes.is_null()));
            unsafe { wire::put(w, numDependentNodes, 1) };
            Ok(())
        },
        |r: &mut Reader<'_>| {
            if !dependentNodes.is_null() {
                let len_dependentNodes = r.len(capacity_dependentNodes)?;
                for at in 0..len_dependentNodes {
                    let known = r.u64()? as usize;
                    unsafe {
                        dependentNodes
                            .add(at)
                            .write(core::ptr::with_exposed_provenance_mut(known))
                    };
                }
            }
            unsafe { wire::take(r, numDependentNodes, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphNodeGetDependentNodes_v2(
    hNode: CUgraphNode,
    dependentNodes: *mut CUgraphNode,
    edgeData: *mut CUgraphEdgeData,
    numDependentNodes: *mut usize,
) -> CUresult {
    let capacity_dependentNodes = if dependentNodes.is_null() {
        0
    } else {
        match unsafe { numDependentNodes.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return CUDA_ERROR_INVALID_VALUE,
        }
    };
    let capacity_edgeData = if edgeData.is_null() {
        0
    } else {
        match unsafe { numDependentNodes.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return CUDA_ERROR_INVALID_VALUE,
        }
    };
    if numDependentNodes.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuGraphNodeGetDependentNodes_v2") },
        74,
        |w: &mut Writer| {
            w.u64(hNode.addr() as u64);
            w.u8(u8::from(!dependentNodes.is_null()));
            w.u8(u8::from(!edgeData.is_null()));
            unsafe { wire::put(w, numDependentNodes, 1) };
            Ok(())
        },
        |r: &mut Reader<'_>| {
            if !dependentNodes.is_null() {
                let len_dependentNodes = r.len(capacity_dependentNodes)?;
                for at in 0..len_dependentNodes {
                    let known = r.u64()? as usize;
                    unsafe {
                        dependentNodes
                            .add(at)
                            .write(core::ptr::with_exposed_provenance_mut(known))
                    };
                }
            }
            if !edgeData.is_null() {
                let len_edgeData = r.len(capacity_edgeData)?;
                unsafe { wire::take(r, edgeData, len_edgeData) }?;
            }
            unsafe { wire::take(r, numDependentNodes, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphNodeFindInClone(
    phNode: *mut CUgraphNode,
    hOriginalNode: CUgraphNode,
    hClonedGraph: CUgraph,
) -> CUresult {
    if phNode.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuGraphNodeFindInClone") },
        16,
        |w: &mut Writer| {
            w.u64(hOriginalNode.addr() as u64);
            w.u64(hClonedGraph.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { phNode.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphNodeGetContainingGraph(
    hNode: CUgraphNode,
    phGraph: *mut CUgraph,
) -> CUresult {
    if phGraph.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuGraphNodeGetContainingGraph") },
        8,
        |w: &mut Writer| {
            w.u64(hNode.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { phGraph.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphNodeGetLocalId(hNode: CUgraphNode, nodeId: *mut c_uint) -> CUresult {
    if nodeId.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuGraphNodeGetLocalId") },
        8,
        |w: &mut Writer| {
            w.u64(hNode.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, nodeId, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphNodeGetToolsId(
    hNode: CUgraphNode,
    toolsNodeId: *mut c_ulonglong,
) -> CUresult {
    if toolsNodeId.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuGraphNodeGetToolsId") },
        8,
        |w: &mut Writer| {
            w.u64(hNode.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, toolsNodeId, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphNodeGetType(
    hNode: CUgraphNode,
    type_: *mut CUgraphNodeType,
) -> CUresult {
    if type_.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuGraphNodeGetType") },
        8,
        |w: &mut Writer| {
            w.u64(hNode.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, type_, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphDestroyNode(hNode: CUgraphNode) -> CUresult {
    entry::one_way(
        const { op_id("cuGraphDestroyNode") },
        8,
        |w: &mut Writer| {
            w.u64(hNode.addr() as u64);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphChildGraphNodeGetGraph(
    hNode: CUgraphNode,
    phGraph: *mut CUgraph,
) -> CUresult {
    if phGraph.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuGraphChildGraphNodeGetGraph") },
        8,
        |w: &mut Writer| {
            w.u64(hNode.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { phGraph.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphEventRecordNodeGetEvent(
    hNode: CUgraphNode,
    event_out: *mut CUevent,
) -> CUresult {
    if event_out.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuGraphEventRecordNodeGetEvent") },
        8,
        |w: &mut Writer| {
            w.u64(hNode.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { event_out.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphEventWaitNodeGetEvent(
    hNode: CUgraphNode,
    event_out: *mut CUevent,
) -> CUresult {
    if event_out.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuGraphEventWaitNodeGetEvent") },
        8,
        |w: &mut Writer| {
            w.u64(hNode.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { event_out.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphMemFreeNodeGetParams(
    hNode: CUgraphNode,
    dptr_out: *mut CUdeviceptr,
) -> CUresult {
    if dptr_out.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuGraphMemFreeNodeGetParams") },
        8,
        |w: &mut Writer| {
            w.u64(hNode.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, dptr_out, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphMemsetNodeGetParams(
    hNode: CUgraphNode,
    nodeParams: *mut CUDA_MEMSET_NODE_PARAMS,
) -> CUresult {
    if nodeParams.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuGraphMemsetNodeGetParams") },
        8,
        |w: &mut Writer| {
            w.u64(hNode.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, nodeParams, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphConditionalHandleCreate(
    pHandle_out: *mut CUgraphConditionalHandle,
    hGraph: CUgraph,
    ctx: CUcontext,
    defaultLaunchValue: c_uint,
    flags: c_uint,
) -> CUresult {
    if pHandle_out.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuGraphConditionalHandleCreate") },
        32,
        |w: &mut Writer| {
            w.u64(hGraph.addr() as u64);
            w.u64(ctx.addr() as u64);
            wire::Scalar::put(defaultLaunchValue, w);
            wire::Scalar::put(flags, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pHandle_out, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphKernelNodeGetAttribute(
    hNode: CUgraphNode,
    attr: CUkernelNodeAttrID,
    value_out: *mut CUkernelNodeAttrValue,
) -> CUresult {
    if value_out.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuGraphKernelNodeGetAttribute") },
        16,
        |w: &mut Writer| {
            w.u64(hNode.addr() as u64);
            wire::Scalar::put(attr, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, value_out, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphKernelNodeSetAttribute(
    hNode: CUgraphNode,
    attr: CUkernelNodeAttrID,
    value: *const CUkernelNodeAttrValue,
) -> CUresult {
    if value.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::one_way(
        const { op_id("cuGraphKernelNodeSetAttribute") },
        80,
        |w: &mut Writer| {
            w.u64(hNode.addr() as u64);
            wire::Scalar::put(attr, w);
            unsafe { wire::put(w, value, 1) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphKernelNodeCopyAttributes(
    dst: CUgraphNode,
    src: CUgraphNode,
) -> CUresult {
    entry::one_way(
        const { op_id("cuGraphKernelNodeCopyAttributes") },
        16,
        |w: &mut Writer| {
            w.u64(dst.addr() as u64);
            w.u64(src.addr() as u64);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphExecGetFlags(
    hGraphExec: CUgraphExec,
    flags: *mut cuuint64_t,
) -> CUresult {
    if flags.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuGraphExecGetFlags") },
        8,
        |w: &mut Writer| {
            w.u64(hGraphExec.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, flags, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphNodeGetEnabled(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    isEnabled: *mut c_uint,
) -> CUresult {
    if isEnabled.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuGraphNodeGetEnabled") },
        16,
        |w: &mut Writer| {
            w.u64(hGraphExec.addr() as u64);
            w.u64(hNode.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, isEnabled, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphNodeSetEnabled(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    isEnabled: c_uint,
) -> CUresult {
    entry::one_way(
        const { op_id("cuGraphNodeSetEnabled") },
        24,
        |w: &mut Writer| {
            w.u64(hGraphExec.addr() as u64);
            w.u64(hNode.addr() as u64);
            wire::Scalar::put(isEnabled, w);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuGraphUpload(hGraphExec: CUgraphExec, hStream: CUstream) -> CUresult {
    entry::one_way(const { op_id("cuGraphUpload") }, 16, |w: &mut Writer| {
        w.u64(hGraphExec.addr() as u64);
        w.u64(hStream.addr() as u64);
        Ok(())
    })
}

pub(crate) unsafe fn cuGraphLaunch(hGraphExec: CUgraphExec, hStream: CUstream) -> CUresult {
    entry::one_way(const { op_id("cuGraphLaunch") }, 16, |w: &mut Writer| {
        w.u64(hGraphExec.addr() as u64);
        w.u64(hStream.addr() as u64);
        Ok(())
    })
}

pub(crate) unsafe fn cuGraphExecDestroy(hGraphExec: CUgraphExec) -> CUresult {
    entry::one_way(
        const { op_id("cuGraphExecDestroy") },
        8,
        |w: &mut Writer| {
            w.u64(hGraphExec.addr() as u64);
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuTensorMapEncodeTiled(
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
    if tensorMap.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if globalDim.is_null() && wire::Scalar::as_len(tensorRank) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(globalDim, wire::Scalar::as_len(tensorRank)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if globalStrides.is_null() && wire::Scalar::as_len(tensorRank).saturating_sub(1) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(
        globalStrides,
        wire::Scalar::as_len(tensorRank).saturating_sub(1),
    ) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if boxDim.is_null() && wire::Scalar::as_len(tensorRank) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(boxDim, wire::Scalar::as_len(tensorRank)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if elementStrides.is_null() && wire::Scalar::as_len(tensorRank) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(elementStrides, wire::Scalar::as_len(tensorRank)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuTensorMapEncodeTiled") },
        312,
        |w: &mut Writer| {
            wire::Scalar::put(tensorDataType, w);
            wire::Scalar::put(tensorRank, w);
            w.u64(globalAddress.addr() as u64);
            w.u64(wire::Scalar::as_len(tensorRank) as u64);
            unsafe { wire::put(w, globalDim, wire::Scalar::as_len(tensorRank)) };
            w.u64(wire::Scalar::as_len(tensorRank).saturating_sub(1) as u64);
            unsafe {
                wire::put(
                    w,
                    globalStrides,
                    wire::Scalar::as_len(tensorRank).saturating_sub(1),
                )
            };
            w.u64(wire::Scalar::as_len(tensorRank) as u64);
            unsafe { wire::put(w, boxDim, wire::Scalar::as_len(tensorRank)) };
            w.u64(wire::Scalar::as_len(tensorRank) as u64);
            unsafe { wire::put(w, elementStrides, wire::Scalar::as_len(tensorRank)) };
            wire::Scalar::put(interleave, w);
            wire::Scalar::put(swizzle, w);
            wire::Scalar::put(l2Promotion, w);
            wire::Scalar::put(oobFill, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, tensorMap, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuTensorMapEncodeIm2col(
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
    if tensorMap.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if globalDim.is_null() && wire::Scalar::as_len(tensorRank) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(globalDim, wire::Scalar::as_len(tensorRank)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if globalStrides.is_null() && wire::Scalar::as_len(tensorRank).saturating_sub(1) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(
        globalStrides,
        wire::Scalar::as_len(tensorRank).saturating_sub(1),
    ) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if pixelBoxLowerCorner.is_null() && wire::Scalar::as_len(tensorRank).saturating_sub(2) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(
        pixelBoxLowerCorner,
        wire::Scalar::as_len(tensorRank).saturating_sub(2),
    ) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if pixelBoxUpperCorner.is_null() && wire::Scalar::as_len(tensorRank).saturating_sub(2) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(
        pixelBoxUpperCorner,
        wire::Scalar::as_len(tensorRank).saturating_sub(2),
    ) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if elementStrides.is_null() && wire::Scalar::as_len(tensorRank) != 0 {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if !wire::fits(elementStrides, wire::Scalar::as_len(tensorRank)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuTensorMapEncodeIm2col") },
        392,
        |w: &mut Writer| {
            wire::Scalar::put(tensorDataType, w);
            wire::Scalar::put(tensorRank, w);
            w.u64(globalAddress.addr() as u64);
            w.u64(wire::Scalar::as_len(tensorRank) as u64);
            unsafe { wire::put(w, globalDim, wire::Scalar::as_len(tensorRank)) };
            w.u64(wire::Scalar::as_len(tensorRank).saturating_sub(1) as u64);
            unsafe {
                wire::put(
                    w,
                    globalStrides,
                    wire::Scalar::as_len(tensorRank).saturating_sub(1),
                )
            };
            w.u64(wire::Scalar::as_len(tensorRank).saturating_sub(2) as u64);
            unsafe {
                wire::put(
                    w,
                    pixelBoxLowerCorner,
                    wire::Scalar::as_len(tensorRank).saturating_sub(2),
                )
            };
            w.u64(wire::Scalar::as_len(tensorRank).saturating_sub(2) as u64);
            unsafe {
                wire::put(
                    w,
                    pixelBoxUpperCorner,
                    wire::Scalar::as_len(tensorRank).saturating_sub(2),
                )
            };
            wire::Scalar::put(channelsPerPixel, w);
            wire::Scalar::put(pixelsPerColumn, w);
            w.u64(wire::Scalar::as_len(tensorRank) as u64);
            unsafe { wire::put(w, elementStrides, wire::Scalar::as_len(tensorRank)) };
            wire::Scalar::put(interleave, w);
            wire::Scalar::put(swizzle, w);
            wire::Scalar::put(l2Promotion, w);
            wire::Scalar::put(oobFill, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, tensorMap, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuTensorMapReplaceAddress(
    tensorMap: *mut CUtensorMap,
    globalAddress: *mut c_void,
) -> CUresult {
    if tensorMap.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuTensorMapReplaceAddress") },
        72,
        |w: &mut Writer| {
            unsafe { wire::put(w, tensorMap, 1) };
            w.u64(globalAddress.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, tensorMap, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuArrayCreate_v2(
    pHandle: *mut CUarray,
    pAllocateArray: *const CUDA_ARRAY_DESCRIPTOR,
) -> CUresult {
    if pHandle.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    let minted_pHandle = entry::mint(Kind::Array);
    if pAllocateArray.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    let status = entry::waiting(
        const { op_id("cuArrayCreate_v2") },
        72,
        |w: &mut Writer| {
            w.u64(minted_pHandle);
            unsafe { wire::put(w, pAllocateArray, 1) };
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    );
    if status == 0 {
        unsafe {
            pHandle.write(core::ptr::with_exposed_provenance_mut(
                minted_pHandle as usize,
            ))
        };
    }
    status
}

pub(crate) unsafe fn cuArrayGetDescriptor_v2(
    pArrayDescriptor: *mut CUDA_ARRAY_DESCRIPTOR,
    hArray: CUarray,
) -> CUresult {
    if pArrayDescriptor.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuArrayGetDescriptor_v2") },
        8,
        |w: &mut Writer| {
            w.u64(hArray.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pArrayDescriptor, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuArray3DCreate_v2(
    pHandle: *mut CUarray,
    pAllocateArray: *const CUDA_ARRAY3D_DESCRIPTOR,
) -> CUresult {
    if pHandle.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    let minted_pHandle = entry::mint(Kind::Array);
    if pAllocateArray.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    let status = entry::waiting(
        const { op_id("cuArray3DCreate_v2") },
        72,
        |w: &mut Writer| {
            w.u64(minted_pHandle);
            unsafe { wire::put(w, pAllocateArray, 1) };
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    );
    if status == 0 {
        unsafe {
            pHandle.write(core::ptr::with_exposed_provenance_mut(
                minted_pHandle as usize,
            ))
        };
    }
    status
}

pub(crate) unsafe fn cuArray3DGetDescriptor_v2(
    pArrayDescriptor: *mut CUDA_ARRAY3D_DESCRIPTOR,
    hArray: CUarray,
) -> CUresult {
    if pArrayDescriptor.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuArray3DGetDescriptor_v2") },
        8,
        |w: &mut Writer| {
            w.u64(hArray.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pArrayDescriptor, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuArrayDestroy(hArray: CUarray) -> CUresult {
    entry::waiting(
        const { op_id("cuArrayDestroy") },
        8,
        |w: &mut Writer| {
            w.u64(hArray.addr() as u64);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuArrayGetMemoryRequirements(
    memoryRequirements: *mut CUDA_ARRAY_MEMORY_REQUIREMENTS,
    array: CUarray,
    device: CUdevice,
) -> CUresult {
    if memoryRequirements.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuArrayGetMemoryRequirements") },
        16,
        |w: &mut Writer| {
            w.u64(array.addr() as u64);
            wire::Scalar::put(device, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, memoryRequirements, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuArrayGetPlane(
    pPlaneArray: *mut CUarray,
    hArray: CUarray,
    planeIdx: c_uint,
) -> CUresult {
    if pPlaneArray.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuArrayGetPlane") },
        16,
        |w: &mut Writer| {
            w.u64(hArray.addr() as u64);
            wire::Scalar::put(planeIdx, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { pPlaneArray.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMipmappedArrayCreate(
    pHandle: *mut CUmipmappedArray,
    pMipmappedArrayDesc: *const CUDA_ARRAY3D_DESCRIPTOR,
    numMipmapLevels: c_uint,
) -> CUresult {
    if pHandle.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    let minted_pHandle = entry::mint(Kind::MipmappedArray);
    if pMipmappedArrayDesc.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    let status = entry::waiting(
        const { op_id("cuMipmappedArrayCreate") },
        80,
        |w: &mut Writer| {
            w.u64(minted_pHandle);
            unsafe { wire::put(w, pMipmappedArrayDesc, 1) };
            wire::Scalar::put(numMipmapLevels, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    );
    if status == 0 {
        unsafe {
            pHandle.write(core::ptr::with_exposed_provenance_mut(
                minted_pHandle as usize,
            ))
        };
    }
    status
}

pub(crate) unsafe fn cuMipmappedArrayGetLevel(
    pLevelArray: *mut CUarray,
    hMipmappedArray: CUmipmappedArray,
    level: c_uint,
) -> CUresult {
    if pLevelArray.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuMipmappedArrayGetLevel") },
        16,
        |w: &mut Writer| {
            w.u64(hMipmappedArray.addr() as u64);
            wire::Scalar::put(level, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { pLevelArray.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuArrayGetSparseProperties(
    sparseProperties: *mut CUDA_ARRAY_SPARSE_PROPERTIES,
    array: CUarray,
) -> CUresult {
    if sparseProperties.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuArrayGetSparseProperties") },
        8,
        |w: &mut Writer| {
            w.u64(array.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, sparseProperties, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMipmappedArrayGetSparseProperties(
    sparseProperties: *mut CUDA_ARRAY_SPARSE_PROPERTIES,
    mipmap: CUmipmappedArray,
) -> CUresult {
    if sparseProperties.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuMipmappedArrayGetSparseProperties") },
        8,
        |w: &mut Writer| {
            w.u64(mipmap.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, sparseProperties, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMipmappedArrayGetMemoryRequirements(
    memoryRequirements: *mut CUDA_ARRAY_MEMORY_REQUIREMENTS,
    mipmap: CUmipmappedArray,
    device: CUdevice,
) -> CUresult {
    if memoryRequirements.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuMipmappedArrayGetMemoryRequirements") },
        16,
        |w: &mut Writer| {
            w.u64(mipmap.addr() as u64);
            wire::Scalar::put(device, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, memoryRequirements, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuMipmappedArrayDestroy(hMipmappedArray: CUmipmappedArray) -> CUresult {
    entry::waiting(
        const { op_id("cuMipmappedArrayDestroy") },
        8,
        |w: &mut Writer| {
            w.u64(hMipmappedArray.addr() as u64);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuModuleGetTexRef(
    pTexRef: *mut CUtexref,
    hmod: CUmodule,
    name: *const c_char,
) -> CUresult {
    if pTexRef.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if name.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuModuleGetTexRef") },
        72,
        |w: &mut Writer| {
            w.u64(hmod.addr() as u64);
            unsafe { wire::put_string(w, name) };
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { pTexRef.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuModuleGetSurfRef(
    pSurfRef: *mut CUsurfref,
    hmod: CUmodule,
    name: *const c_char,
) -> CUresult {
    if pSurfRef.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if name.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuModuleGetSurfRef") },
        72,
        |w: &mut Writer| {
            w.u64(hmod.addr() as u64);
            unsafe { wire::put_string(w, name) };
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { pSurfRef.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuTexRefCreate(pTexRef: *mut CUtexref) -> CUresult {
    if pTexRef.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    let minted_pTexRef = entry::mint(Kind::TexRef);
    let status = entry::waiting(
        const { op_id("cuTexRefCreate") },
        8,
        |w: &mut Writer| {
            w.u64(minted_pTexRef);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    );
    if status == 0 {
        unsafe {
            pTexRef.write(core::ptr::with_exposed_provenance_mut(
                minted_pTexRef as usize,
            ))
        };
    }
    status
}

pub(crate) unsafe fn cuTexRefDestroy(hTexRef: CUtexref) -> CUresult {
    entry::one_way(const { op_id("cuTexRefDestroy") }, 8, |w: &mut Writer| {
        w.u64(hTexRef.addr() as u64);
        Ok(())
    })
}

pub(crate) unsafe fn cuTexRefSetArray(
    hTexRef: CUtexref,
    hArray: CUarray,
    Flags: c_uint,
) -> CUresult {
    entry::waiting(
        const { op_id("cuTexRefSetArray") },
        24,
        |w: &mut Writer| {
            w.u64(hTexRef.addr() as u64);
            w.u64(hArray.addr() as u64);
            wire::Scalar::put(Flags, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuTexRefSetMipmappedArray(
    hTexRef: CUtexref,
    hMipmappedArray: CUmipmappedArray,
    Flags: c_uint,
) -> CUresult {
    entry::waiting(
        const { op_id("cuTexRefSetMipmappedArray") },
        24,
        |w: &mut Writer| {
            w.u64(hTexRef.addr() as u64);
            w.u64(hMipmappedArray.addr() as u64);
            wire::Scalar::put(Flags, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuTexRefSetAddress_v2(
    ByteOffset: *mut usize,
    hTexRef: CUtexref,
    dptr: CUdeviceptr,
    bytes: usize,
) -> CUresult {
    entry::waiting(
        const { op_id("cuTexRefSetAddress_v2") },
        25,
        |w: &mut Writer| {
            w.u8(u8::from(!ByteOffset.is_null()));
            w.u64(hTexRef.addr() as u64);
            w.u64(dptr);
            wire::Scalar::put(bytes, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            if !ByteOffset.is_null() {
                unsafe { wire::take(r, ByteOffset, 1) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuTexRefSetAddress2D_v3(
    hTexRef: CUtexref,
    desc: *const CUDA_ARRAY_DESCRIPTOR,
    dptr: CUdeviceptr,
    Pitch: usize,
) -> CUresult {
    if desc.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuTexRefSetAddress2D_v3") },
        88,
        |w: &mut Writer| {
            w.u64(hTexRef.addr() as u64);
            unsafe { wire::put(w, desc, 1) };
            w.u64(dptr);
            wire::Scalar::put(Pitch, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuTexRefSetFormat(
    hTexRef: CUtexref,
    fmt: CUarray_format,
    NumPackedComponents: c_int,
) -> CUresult {
    entry::waiting(
        const { op_id("cuTexRefSetFormat") },
        24,
        |w: &mut Writer| {
            w.u64(hTexRef.addr() as u64);
            wire::Scalar::put(fmt, w);
            wire::Scalar::put(NumPackedComponents, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuTexRefSetAddressMode(
    hTexRef: CUtexref,
    dim: c_int,
    am: CUaddress_mode,
) -> CUresult {
    entry::waiting(
        const { op_id("cuTexRefSetAddressMode") },
        24,
        |w: &mut Writer| {
            w.u64(hTexRef.addr() as u64);
            wire::Scalar::put(dim, w);
            wire::Scalar::put(am, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuTexRefSetFilterMode(hTexRef: CUtexref, fm: CUfilter_mode) -> CUresult {
    entry::waiting(
        const { op_id("cuTexRefSetFilterMode") },
        16,
        |w: &mut Writer| {
            w.u64(hTexRef.addr() as u64);
            wire::Scalar::put(fm, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuTexRefSetMipmapFilterMode(hTexRef: CUtexref, fm: CUfilter_mode) -> CUresult {
    entry::waiting(
        const { op_id("cuTexRefSetMipmapFilterMode") },
        16,
        |w: &mut Writer| {
            w.u64(hTexRef.addr() as u64);
            wire::Scalar::put(fm, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuTexRefSetMipmapLevelBias(hTexRef: CUtexref, bias: f32) -> CUresult {
    entry::waiting(
        const { op_id("cuTexRefSetMipmapLevelBias") },
        16,
        |w: &mut Writer| {
            w.u64(hTexRef.addr() as u64);
            wire::Scalar::put(bias, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuTexRefSetMipmapLevelClamp(
    hTexRef: CUtexref,
    minMipmapLevelClamp: f32,
    maxMipmapLevelClamp: f32,
) -> CUresult {
    entry::waiting(
        const { op_id("cuTexRefSetMipmapLevelClamp") },
        24,
        |w: &mut Writer| {
            w.u64(hTexRef.addr() as u64);
            wire::Scalar::put(minMipmapLevelClamp, w);
            wire::Scalar::put(maxMipmapLevelClamp, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuTexRefSetMaxAnisotropy(hTexRef: CUtexref, maxAniso: c_uint) -> CUresult {
    entry::waiting(
        const { op_id("cuTexRefSetMaxAnisotropy") },
        16,
        |w: &mut Writer| {
            w.u64(hTexRef.addr() as u64);
            wire::Scalar::put(maxAniso, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuTexRefSetBorderColor(hTexRef: CUtexref, pBorderColor: *mut f32) -> CUresult {
    if pBorderColor.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuTexRefSetBorderColor") },
        72,
        |w: &mut Writer| {
            w.u64(hTexRef.addr() as u64);
            unsafe { wire::put(w, pBorderColor, 4) };
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuTexRefSetFlags(hTexRef: CUtexref, Flags: c_uint) -> CUresult {
    entry::waiting(
        const { op_id("cuTexRefSetFlags") },
        16,
        |w: &mut Writer| {
            w.u64(hTexRef.addr() as u64);
            wire::Scalar::put(Flags, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuTexRefGetAddress_v2(pdptr: *mut CUdeviceptr, hTexRef: CUtexref) -> CUresult {
    if pdptr.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuTexRefGetAddress_v2") },
        8,
        |w: &mut Writer| {
            w.u64(hTexRef.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pdptr, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuTexRefGetArray(phArray: *mut CUarray, hTexRef: CUtexref) -> CUresult {
    if phArray.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuTexRefGetArray") },
        8,
        |w: &mut Writer| {
            w.u64(hTexRef.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { phArray.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuTexRefGetMipmappedArray(
    phMipmappedArray: *mut CUmipmappedArray,
    hTexRef: CUtexref,
) -> CUresult {
    if phMipmappedArray.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuTexRefGetMipmappedArray") },
        8,
        |w: &mut Writer| {
            w.u64(hTexRef.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { phMipmappedArray.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuTexRefGetAddressMode(
    pam: *mut CUaddress_mode,
    hTexRef: CUtexref,
    dim: c_int,
) -> CUresult {
    if pam.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuTexRefGetAddressMode") },
        16,
        |w: &mut Writer| {
            w.u64(hTexRef.addr() as u64);
            wire::Scalar::put(dim, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pam, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuTexRefGetFilterMode(pfm: *mut CUfilter_mode, hTexRef: CUtexref) -> CUresult {
    if pfm.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuTexRefGetFilterMode") },
        8,
        |w: &mut Writer| {
            w.u64(hTexRef.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pfm, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuTexRefGetFormat(
    pFormat: *mut CUarray_format,
    pNumChannels: *mut c_int,
    hTexRef: CUtexref,
) -> CUresult {
    if pFormat.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if pNumChannels.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuTexRefGetFormat") },
        8,
        |w: &mut Writer| {
            w.u64(hTexRef.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pFormat, 1) }?;
            unsafe { wire::take(r, pNumChannels, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuTexRefGetMipmapFilterMode(
    pfm: *mut CUfilter_mode,
    hTexRef: CUtexref,
) -> CUresult {
    if pfm.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuTexRefGetMipmapFilterMode") },
        8,
        |w: &mut Writer| {
            w.u64(hTexRef.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pfm, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuTexRefGetMipmapLevelBias(pbias: *mut f32, hTexRef: CUtexref) -> CUresult {
    if pbias.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuTexRefGetMipmapLevelBias") },
        8,
        |w: &mut Writer| {
            w.u64(hTexRef.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pbias, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuTexRefGetMipmapLevelClamp(
    pminMipmapLevelClamp: *mut f32,
    pmaxMipmapLevelClamp: *mut f32,
    hTexRef: CUtexref,
) -> CUresult {
    if pminMipmapLevelClamp.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if pmaxMipmapLevelClamp.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuTexRefGetMipmapLevelClamp") },
        8,
        |w: &mut Writer| {
            w.u64(hTexRef.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pminMipmapLevelClamp, 1) }?;
            unsafe { wire::take(r, pmaxMipmapLevelClamp, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuTexRefGetMaxAnisotropy(
    pmaxAniso: *mut c_int,
    hTexRef: CUtexref,
) -> CUresult {
    if pmaxAniso.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuTexRefGetMaxAnisotropy") },
        8,
        |w: &mut Writer| {
            w.u64(hTexRef.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pmaxAniso, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuTexRefGetBorderColor(pBorderColor: *mut f32, hTexRef: CUtexref) -> CUresult {
    if pBorderColor.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuTexRefGetBorderColor") },
        8,
        |w: &mut Writer| {
            w.u64(hTexRef.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pBorderColor, 4) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuTexRefGetFlags(pFlags: *mut c_uint, hTexRef: CUtexref) -> CUresult {
    if pFlags.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuTexRefGetFlags") },
        8,
        |w: &mut Writer| {
            w.u64(hTexRef.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pFlags, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn cuSurfRefSetArray(
    hSurfRef: CUsurfref,
    hArray: CUarray,
    Flags: c_uint,
) -> CUresult {
    entry::waiting(
        const { op_id("cuSurfRefSetArray") },
        24,
        |w: &mut Writer| {
            w.u64(hSurfRef.addr() as u64);
            w.u64(hArray.addr() as u64);
            wire::Scalar::put(Flags, w);
            Ok(())
        },
        |_r: &mut Reader<'_>| Ok(()),
    )
}

pub(crate) unsafe fn cuSurfRefGetArray(phArray: *mut CUarray, hSurfRef: CUsurfref) -> CUresult {
    if phArray.is_null() {
        return CUDA_ERROR_INVALID_VALUE;
    }
    entry::waiting(
        const { op_id("cuSurfRefGetArray") },
        8,
        |w: &mut Writer| {
            w.u64(hSurfRef.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { phArray.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}
