//! Contexts, and each thread's stack of current ones.

// Writes results through pointers of the program.
#![allow(unsafe_code)]

mod primary;

use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_uint, c_ulonglong};
use std::ptr::without_provenance_mut;

use gtrace_cuda::context_of_frame;
use gtrace_cuda::types::driver::{self as cuda, CUcontext, CUdevice, CUresult};
use gtrace_protocol::op_id;

use crate::contexts::Known;
use crate::device::device;
use crate::device_idle;
use crate::entry::{Answer, check};
use crate::generated::driver::remote;
use crate::session::{self, Session};
use crate::set_launch;
use crate::state::{lock, write};
use crate::stats::{local, local_functions};
use crate::status::fail_if;
use crate::tables;

pub(crate) use primary::*;

/// A context that is, or was, current.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Current {
    /// Its handle; 0 for none.
    pub(crate) handle: u64,
    /// Its device.
    pub(crate) device: i32,
}

const NONE: Current = Current {
    handle: 0,
    device: 0,
};

thread_local! {
    static TOP: Cell<Current> = const { Cell::new(NONE) };
    static BELOW: RefCell<Vec<Current>> = const { RefCell::new(Vec::new()) };
}

/// The current context, in the form of a frame's header.
#[inline]
pub(crate) fn of_frame() -> u32 {
    context_of_frame(TOP.get().handle)
}

/// The current context.
///
/// # Errors
///
/// INVALID_CONTEXT if there is none.
#[inline]
pub(crate) fn current() -> Answer<Current> {
    match TOP.get() {
        Current { handle: 0, .. } => Err(cuda::CUDA_ERROR_INVALID_CONTEXT),
        current => Ok(current),
    }
}

/// The current context, and what is known of it.
///
/// # Errors
///
/// INVALID_CONTEXT if there is none, CONTEXT_IS_DESTROYED if it was destroyed where it was not popped.
fn alive(session: &Session) -> Answer<(Current, Known)> {
    let current = current()?;
    let known = lock(&session.state.contexts).get(current.handle);
    Ok((current, known.ok_or(cuda::CUDA_ERROR_CONTEXT_IS_DESTROYED)?))
}

/// The context at the top, which may be none.
pub(crate) fn top() -> Current {
    TOP.get()
}

/// Does `action` with another context at the top.
pub(crate) fn within<T>(current: Current, action: impl FnOnce() -> T) -> T {
    struct Before(Current);
    impl Drop for Before {
        fn drop(&mut self) {
            TOP.set(self.0);
        }
    }
    let _before = Before(TOP.replace(current));
    action()
}

fn push(current: Current) {
    let before = TOP.replace(current);
    // With the thread at its end there is no stack any more.
    let _ = BELOW.try_with(|below| below.borrow_mut().push(before));
}

fn pop() {
    let below = BELOW.try_with(|below| below.borrow_mut().pop());
    TOP.set(below.ok().flatten().unwrap_or(NONE));
}

fn live(session: &Session, handle: u64) -> Answer<Current> {
    match lock(&session.state.contexts).get(handle) {
        Some(known) => Ok(Current {
            handle,
            device: known.device,
        }),
        None => Err(cuda::CUDA_ERROR_INVALID_CONTEXT),
    }
}

fn number(context: CUcontext) -> u64 {
    context.addr() as u64
}

fn pointer(handle: u64) -> CUcontext {
    without_provenance_mut(handle as usize)
}

/// Writes a result of the program's call.
///
/// # Errors
///
/// INVALID_VALUE for null.
///
/// # Safety
///
/// `to` is null or writable.
#[inline]
pub(crate) unsafe fn put<T>(to: *mut T, value: T) -> Answer {
    fail_if(to.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
    // SAFETY: not null, so writable by the caller's promise.
    unsafe { to.write(value) };
    Ok(())
}

/// As [`put`], where null means that the value is not wanted.
///
/// # Safety
///
/// `to` is null or writable.
#[inline]
pub(crate) unsafe fn put_wanted<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: as in `put`.
        unsafe { to.write(value) };
    }
}

/// A context is gone, and what it had with it.
fn forget(session: &Session, handle: u64) {
    write(&session.state.allocations).forget_context(handle);
    crate::managed::forget_context(handle);
    let gone = lock(&session.state.functions).forget_context(handle);
    set_launch::forget_set_launches(&gone);
    session.state.graphs.forget_context(handle);
    session.state.events.forget();
    tables::context_ended(handle);
}

pub(crate) unsafe fn cuCtxCreate_v2(pctx: *mut CUcontext, flags: c_uint, dev: CUdevice) -> Answer {
    let session = session::cuda()?;
    device(session, dev)?;
    // SAFETY: a pointer of the program, which the call checks.
    check(unsafe { remote::cuCtxCreate_v2(pctx, flags, dev) })?;
    // SAFETY: written by the call.
    let handle = number(unsafe { pctx.read() });
    let known = Known {
        device: dev,
        flags,
        primary: false,
        attached: 0,
    };
    lock(&session.state.contexts).add(handle, known);
    push(Current {
        handle,
        device: dev,
    });
    Ok(())
}

pub(crate) unsafe fn cuCtxCreate_v3(
    pctx: *mut CUcontext,
    paramsArray: *mut cuda::CUexecAffinityParam,
    numParams: c_int,
    flags: c_uint,
    dev: CUdevice,
) -> Answer {
    fail_if(
        !paramsArray.is_null() && numParams != 0,
        cuda::CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
    )?;
    // SAFETY: pointers of the program, passed on.
    unsafe { cuCtxCreate_v2(pctx, flags, dev) }
}

pub(crate) unsafe fn cuCtxCreate_v4(
    pctx: *mut CUcontext,
    ctxCreateParams: *mut cuda::CUctxCreateParams,
    flags: c_uint,
    dev: CUdevice,
) -> Answer {
    // SAFETY: null or a structure of the program.
    if let Some(params) = unsafe { ctxCreateParams.as_ref() }
        && (!params.execAffinityParams.is_null() || !params.cigParams.is_null())
    {
        return Err(cuda::CUDA_ERROR_NOT_SUPPORTED);
    }
    // SAFETY: pointers of the program, passed on.
    unsafe { cuCtxCreate_v2(pctx, flags, dev) }
}

pub(crate) unsafe fn cuCtxDestroy_v2(ctx: CUcontext) -> Answer {
    let session = session::cuda()?;
    let handle = number(ctx);
    let known = lock(&session.state.contexts).get(handle);
    match known {
        Some(known) if !known.primary => {}
        _ => return Err(cuda::CUDA_ERROR_INVALID_CONTEXT),
    }
    crate::managed::leave_context(session, handle);
    let destroyed = match device_idle::send_if_idle(session, op_id("cuCtxDestroy_v2"), handle) {
        // SAFETY: a handle.
        Ok(false) => check(unsafe { remote::cuCtxDestroy_v2(ctx) }),
        left => left.map(drop),
    };
    lock(&session.state.contexts).remove(handle);
    forget(session, handle);
    if TOP.get().handle == handle {
        pop();
    }
    // Its faults go with it.
    session.set_broken(0);
    destroyed
}

local_functions! {
    fn cuCtxAttach(session, pctx: *mut CUcontext, flags: c_uint) {
        let handle = alive(session)?.0.handle;
        fail_if(flags != 0 || pctx.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
        lock(&session.state.contexts).attach(handle);
        put(pctx, pointer(handle))
    }

    fn cuCtxDetach(session, ctx: CUcontext) {
        let handle = number(ctx);
        live(session, handle)?;
        fail_if(current()?.handle != handle, cuda::CUDA_ERROR_INVALID_CONTEXT)?;
        let last = lock(&session.state.contexts).detach(handle);
        match last {
            true => cuCtxDestroy_v2(ctx),
            false => Ok(()),
        }
    }

    fn cuCtxGetCurrent(_session, pctx: *mut CUcontext) {
        put(pctx, pointer(TOP.get().handle))
    }

    fn cuCtxSetCurrent(session, ctx: CUcontext) {
        match number(ctx) {
            0 if TOP.get().handle == 0 => {}
            0 => pop(),
            handle => TOP.set(live(session, handle)?),
        }
        Ok(())
    }

    fn cuCtxPushCurrent_v2(session, ctx: CUcontext) {
        push(live(session, number(ctx))?);
        Ok(())
    }

    fn cuCtxPopCurrent_v2(_session, pctx: *mut CUcontext) {
        let current = current()?;
        pop();
        put_wanted(pctx, pointer(current.handle));
        Ok(())
    }

    fn cuCtxGetDevice(session, device: *mut CUdevice) {
        put(device, alive(session)?.0.device)
    }

    fn cuCtxGetDevice_v2(session, device: *mut CUdevice, ctx: CUcontext) {
        put(device, meant(session, ctx)?.device)
    }

    fn cuCtxGetApiVersion(session, ctx: CUcontext, version: *mut c_uint) {
        if number(ctx) != 0 {
            live(session, number(ctx))?;
        }
        // What every driver since CUDA 3.2 answers for contexts made by cuCtxCreate_v2 and later.
        put(version, 3020)
    }

    fn cuCtxGetFlags(session, flags: *mut c_uint) {
        put(flags, alive(session)?.1.flags)
    }

    fn cuCtxGetId(session, ctx: CUcontext, ctxId: *mut c_ulonglong) {
        // Unique in the process, as CUDA promises; no call takes it.
        put(ctxId, meant(session, ctx)?.handle >> 4)
    }

    fn cuStreamGetGreenCtx(_session, _hStream: cuda::CUstream, phCtx: *mut cuda::CUgreenCtx) {
        put(phCtx, std::ptr::null_mut())
    }
}

/// The context that a call means, for which null is the current one.
fn meant(session: &Session, ctx: CUcontext) -> Answer<Current> {
    match number(ctx) {
        0 => Ok(alive(session)?.0),
        handle => live(session, handle),
    }
}

pub(crate) unsafe fn cuCtxSetFlags(flags: c_uint) -> Answer {
    let session = session::cuda()?;
    let current = current()?;
    // SAFETY: no pointers.
    check(unsafe { remote::cuCtxSetFlags(flags) })?;
    lock(&session.state.contexts).set_flags(current.handle, flags);
    Ok(())
}

pub(crate) unsafe fn cuCtxGetStreamPriorityRange(
    leastPriority: *mut c_int,
    greatestPriority: *mut c_int,
) -> Answer {
    let session = session::cuda()?;
    let handle = current()?.handle;
    let known = lock(&session.state.functions)
        .priorities
        .get(&handle)
        .copied();
    let (least, greatest) = match known {
        Some(range) => {
            local!("cuCtxGetStreamPriorityRange");
            range
        }
        None => {
            let (mut least, mut greatest) = (0, 0);
            // SAFETY: both are writable.
            check(unsafe {
                remote::cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest)
            })?;
            let mut functions = lock(&session.state.functions);
            functions.priorities.insert(handle, (least, greatest));
            (least, greatest)
        }
    };
    // SAFETY: pointers of the program.
    unsafe {
        put_wanted(leastPriority, least);
        put_wanted(greatestPriority, greatest);
    }
    Ok(())
}

/// There are no green contexts, and a stream is of the context that it was made in.
pub(crate) unsafe fn cuStreamGetCtx_v2(
    hStream: cuda::CUstream,
    pCtx: *mut CUcontext,
    pGreenCtx: *mut cuda::CUgreenCtx,
) -> CUresult {
    // SAFETY: pointers of the program, passed on.
    let code = unsafe { remote::cuStreamGetCtx(hStream, pCtx) };
    if code == cuda::CUDA_SUCCESS {
        // SAFETY: as above.
        unsafe { put_wanted(pGreenCtx, std::ptr::null_mut()) };
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(handle: u64) -> Current {
        Current { handle, device: 3 }
    }

    #[test]
    fn each_thread_has_a_stack_of_its_own() {
        push(at(16));
        push(at(32));
        assert_eq!(current().map(|c| c.handle), Ok(32));
        std::thread::spawn(|| assert!(current().is_err()))
            .join()
            .unwrap();
        pop();
        assert_eq!(current().map(|c| (c.handle, c.device)), Ok((16, 3)));
        pop();
        assert_eq!(
            current().map(|c| c.handle),
            Err(cuda::CUDA_ERROR_INVALID_CONTEXT)
        );
        pop();
        assert_eq!(of_frame(), 0);
    }
}
