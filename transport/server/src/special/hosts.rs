//! Functions of the client that streams wait for.

#![allow(non_snake_case, reason = "the driver's names")]
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::sync::Arc;

use gtrace_cuda::Kind;
use gtrace_cuda::payload::{HostFunction, Payload as _};
use gtrace_cuda::types::driver::{CUresult, CUstream};
use gtrace_protocol::{HEADER_LEN, Reader, Writer};

use super::{NOT_SUPPORTED, SUCCESS, checked};
use crate::exec::{Bad, Code, Exec};
use crate::worker::session::Session;

/// CUDA_ERROR_NOT_READY: nothing was reached.
const NOT_READY: Code = 600;

/// What the driver hands back when the stream gets there.
struct Ticket {
    session: Arc<Session>,
    number: u64,
}

/// Runs in a thread of the driver.
fn reached(data: *mut c_void, status: u32) {
    // SAFETY: made by `Box::into_raw` for this one call.
    let ticket = unsafe { Box::from_raw(data.cast::<Ticket>()) };
    ticket.session.hosts.reached(ticket.number, status);
}

unsafe extern "C" fn host_function(data: *mut c_void) {
    reached(data, 0);
}

unsafe extern "C" fn callback(_: CUstream, status: CUresult, data: *mut c_void) {
    reached(data, status);
}

/// Puts a function into a stream by `put`, which takes the ticket only if it succeeds.
fn put(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    put: impl FnOnce(CUstream, *mut c_void) -> u32,
) -> Result<Code, Bad> {
    let HostFunction { stream, ticket } = HostFunction::read(r)?;
    r.end()?;
    let stream = match exec.handles.real(Kind::Stream, stream) {
        Ok(stream) => stream.cast(),
        Err(code) => return Ok(code),
    };
    let data = Box::into_raw(Box::new(Ticket {
        session: Arc::clone(&exec.session),
        number: ticket,
    }));
    Ok(match checked(put(stream, data.cast())) {
        Ok(()) => SUCCESS,
        Err(code) => {
            // SAFETY: the driver did not take it, so nobody else has it.
            drop(unsafe { Box::from_raw(data) });
            code
        }
    })
}

/// A function in a stream, which waits for it.
pub(crate) fn cuLaunchHostFunc(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    _: &mut Writer,
) -> Result<Code, Bad> {
    let Some(call) = exec.driver.cuLaunchHostFunc else {
        return Ok(NOT_SUPPORTED);
    };
    // SAFETY: the function takes the ticket that it is given, once.
    put(exec, r, |stream, data| unsafe {
        call(stream, Some(host_function), data)
    })
}

/// The same with the stream's status.
pub(crate) fn cuStreamAddCallback(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    _: &mut Writer,
) -> Result<Code, Bad> {
    let Some(call) = exec.driver.cuStreamAddCallback else {
        return Ok(NOT_SUPPORTED);
    };
    // SAFETY: the function takes the ticket that it is given, once.
    put(exec, r, |stream, data| unsafe {
        call(stream, Some(callback), data, 0)
    })
}

/// Waits until a stream has reached a function; NOT_READY if the session ends first, or if the client sends
/// more although this is unanswered: its goodbye may be behind that, and need not even get here while nobody
/// reads.
pub(crate) fn host_next(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
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
pub(crate) fn host_done(exec: &mut Exec, r: &mut Reader<'_>) -> Result<Code, Bad> {
    let ticket = r.u64()?;
    r.end()?;
    exec.session.hosts.done(ticket);
    Ok(SUCCESS)
}
