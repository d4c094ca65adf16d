//! The primary context of each device.

// Writes results through pointers of the program.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_uint};

use gtrace_cuda::Kind;
use gtrace_cuda::types::driver::{self as cuda, CUcontext, CUdevice};
use gtrace_protocol::{Flags, op_id};

use super::{forget, pointer, put};
use crate::contexts::Known;
use crate::device::device;
use crate::entry::{Answer, check, ending, exchange, mint};
use crate::generated::driver::remote;
use crate::session;
use crate::state::lock;
use crate::stats::local;
use crate::status::fail_if;

pub(crate) unsafe fn cuDevicePrimaryCtxRetain(pctx: *mut CUcontext, dev: CUdevice) -> Answer {
    let session = session::cuda()?;
    device(session, dev)?;
    fail_if(pctx.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
    let mut contexts = lock(&session.state.contexts);
    let primary = contexts.primary(dev);
    if primary.handle == 0 {
        primary.handle = mint(Kind::Context);
    }
    let handle = primary.handle;
    if primary.retains == 0 {
        const OP: u32 = op_id("cuDevicePrimaryCtxRetain");
        let flags = primary.flags.unwrap_or_default();
        exchange(
            session,
            OP,
            Flags::default(),
            |w| {
                w.u64(handle);
                w.i32(dev);
            },
            |_| Ok(()),
        )?;
        let known = Known {
            device: dev,
            flags,
            primary: true,
            attached: 0,
        };
        contexts.add(handle, known);
    } else {
        local!("cuDevicePrimaryCtxRetain");
    }
    contexts.primary(dev).retains += 1;
    // SAFETY: a pointer of the program.
    unsafe { put(pctx, pointer(handle)) }
}

pub(crate) unsafe fn cuDevicePrimaryCtxRelease_v2(dev: CUdevice) -> Answer {
    let session = session::cuda()?;
    device(session, dev)?;
    let mut contexts = lock(&session.state.contexts);
    let primary = contexts.primary(dev);
    match primary.retains {
        0 => return Err(cuda::CUDA_ERROR_INVALID_CONTEXT),
        1 => {}
        _ => {
            primary.retains -= 1;
            local!("cuDevicePrimaryCtxRelease_v2");
            return Ok(());
        }
    }
    primary.retains = 0;
    let handle = primary.handle;
    drop(contexts);
    crate::managed::leave_context(session, handle);
    lock(&session.state.contexts).remove(handle);
    // SAFETY: no pointers.
    let released = check(unsafe { remote::cuDevicePrimaryCtxRelease_v2(dev) });
    forget(session, handle);
    released
}

pub(crate) unsafe fn cuDevicePrimaryCtxReset_v2(dev: CUdevice) -> Answer {
    let session = session::cuda()?;
    device(session, dev)?;
    let handle = lock(&session.state.contexts).primary(dev).handle;
    crate::managed::leave_context(session, handle);
    // SAFETY: no pointers.
    let earlier = ending(session, || unsafe {
        remote::cuDevicePrimaryCtxReset_v2(dev)
    })?;
    let mut contexts = lock(&session.state.contexts);
    let primary = contexts.primary(dev);
    primary.retains = 0;
    let handle = primary.handle;
    contexts.remove(handle);
    drop(contexts);
    forget(session, handle);
    session.set_broken(0);
    earlier
}

pub(crate) unsafe fn cuDevicePrimaryCtxGetState(
    dev: CUdevice,
    flags: *mut c_uint,
    active: *mut c_int,
) -> Answer {
    let session = session::cuda()?;
    let first = device(session, dev)?.primary_flags;
    let primary = *lock(&session.state.contexts).primary(dev);
    local!("cuDevicePrimaryCtxGetState");
    // SAFETY: pointers of the program.
    unsafe {
        put(flags, primary.flags.unwrap_or(first))?;
        put(active, i32::from(primary.retains > 0))
    }
}

pub(crate) unsafe fn cuDevicePrimaryCtxSetFlags_v2(dev: CUdevice, flags: c_uint) -> Answer {
    let session = session::cuda()?;
    // SAFETY: no pointers.
    check(unsafe { remote::cuDevicePrimaryCtxSetFlags_v2(dev, flags) })?;
    let mut contexts = lock(&session.state.contexts);
    let primary = contexts.primary(dev);
    primary.flags = Some(flags);
    let handle = primary.handle;
    contexts.set_flags(handle, flags);
    Ok(())
}
