//! Functions of the client that streams wait for.

#![allow(non_snake_case, reason = "the driver's names")]
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::sync::{Arc, OnceLock, Weak};

use gtrace_cuda::Kind;
use gtrace_cuda::payload::{HostFunction, Payload as _};
use gtrace_cuda::types::driver::{CUresult, CUstream};
use gtrace_protocol::{HEADER_LEN, Reader, Writer};

use super::{NOT_SUPPORTED, SUCCESS, checked, code_of};
use crate::exec::{Called, Code, Exec};
use crate::worker::session::Session;

/// CUDA_ERROR_NOT_READY: nothing was reached.
const NOT_READY: Code = 600;

/// The one session of this process: what the driver hands back when a stream gets to a function is
/// the number of the function alone, as nodes of graphs are reached again and again, and nobody says
/// when for the last time.
static SESSION: OnceLock<Weak<Session>> = OnceLock::new();

/// Runs in a thread of the driver.
fn reached(data: *mut c_void, status: u32) {
    if let Some(session) = SESSION.get().and_then(Weak::upgrade) {
        session.hosts.reached(data.addr() as u64, status);
    }
}

/// What the driver calls when a stream gets to function `data`.
pub(super) unsafe extern "C" fn host_function(data: *mut c_void) {
    reached(data, 0);
}

unsafe extern "C" fn callback(_: CUstream, status: CUresult, data: *mut c_void) {
    reached(data, status);
}

/// Whether the client has put functions into streams or graphs. One that has not does not ask what became of them.
pub(super) fn are_used() -> bool {
    SESSION.get().is_some()
}

/// What goes with [`host_function`] for the client's function `ticket`.
pub(super) fn data_of(exec: &Exec, ticket: u64) -> *mut c_void {
    SESSION.get_or_init(|| Arc::downgrade(&exec.session));
    std::ptr::without_provenance_mut(ticket as usize)
}

/// Puts a function into a stream by `put`.
fn put(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    put: impl FnOnce(CUstream, *mut c_void) -> u32,
) -> Called {
    let HostFunction { stream, ticket } = HostFunction::whole(r)?;
    let stream = exec.handles.real(Kind::Stream, stream)?.cast();
    Ok(code_of(checked(put(stream, data_of(exec, ticket)))))
}

/// A function in a stream, which waits for it.
pub(crate) fn cuLaunchHostFunc(exec: &mut Exec, r: &mut Reader<'_>, _: &mut Writer) -> Called {
    let call = exec.driver.cuLaunchHostFunc.ok_or(NOT_SUPPORTED)?;
    // SAFETY: the function takes a number.
    put(exec, r, |stream, data| unsafe {
        call(stream, Some(host_function), data)
    })
}

/// The same with the stream's status.
pub(crate) fn cuStreamAddCallback(exec: &mut Exec, r: &mut Reader<'_>, _: &mut Writer) -> Called {
    let call = exec.driver.cuStreamAddCallback.ok_or(NOT_SUPPORTED)?;
    // SAFETY: the function takes a number.
    put(exec, r, |stream, data| unsafe {
        call(stream, Some(callback), data, 0)
    })
}

/// Waits until a stream has reached a function; NOT_READY if the session ends first, or if the client sends
/// more although this is unanswered: its goodbye may be behind that, and need not even get here while nobody
/// reads.
pub(crate) fn host_next(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    r.end()?;
    let session = Arc::clone(&exec.session);
    // A client that has gone is noticed by the link.
    let next = session
        .hosts
        .next(|| !matches!(exec.link.rx.ready(HEADER_LEN), Ok(false)));
    Ok(match next {
        Some(reached) => {
            reached.write(w);
            SUCCESS
        }
        None => NOT_READY,
    })
}

/// The client's function has returned.
pub(crate) fn host_done(exec: &mut Exec, r: &mut Reader<'_>) -> Called {
    let call = u64::whole(r)?;
    exec.session.hosts.done(call);
    Ok(SUCCESS)
}
