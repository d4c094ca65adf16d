//! Linear copies between client and device.

#![allow(non_snake_case, reason = "the driver's names")]
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::sync::Arc;

use gtrace_cuda::Kind;
use gtrace_cuda::payload::{Download, HERE, LOCKED_MIN, Payload as _, SYNCHRONOUS, Upload};
use gtrace_cuda::types::driver::CUstream;
use gtrace_protocol::{Reader, Writer};

use super::{INVALID_VALUE, NOT_SUPPORTED, checked, code_of};
use crate::exec::{Called, Code, Exec};
use crate::generated::driver::Driver;
use crate::staging::Direction;
use crate::worker::host_memory::HostMemory;
use crate::worker::lending::Lent;
use crate::worker::session::Session;
use crate::worker::watermark::EventLifetimeLock;

/// Where a copy is ordered: in a stream, or as the call without `Async`; or it is one of memory of this process, which the
/// driver has no part in.
#[derive(Clone, Copy)]
pub(super) enum When {
    Now,
    In(CUstream),
    Here,
}

impl When {
    pub(super) fn of(exec: &Exec, stream: u64) -> Result<Self, Code> {
        match stream {
            SYNCHRONOUS => Ok(Self::Now),
            HERE => Ok(Self::Here),
            stream => Ok(Self::In(exec.handles.real(Kind::Stream, stream)?.cast())),
        }
    }
}

/// What copies of memory of this process need.
#[derive(Clone, Copy)]
pub(super) struct Lender<'a> {
    pub(super) driver: &'a Driver,
    event_lifetime: &'a EventLifetimeLock,
    host_memory: &'a HostMemory,
}

impl<'a> Lender<'a> {
    /// Of a lane of `session`.
    pub(super) fn of(exec: &Exec, session: &'a Session) -> Self {
        Self {
            driver: exec.driver,
            event_lifetime: &session.event_lifetime,
            host_memory: &session.host_memory,
        }
    }

    /// To be held while the driver is given memory of this process for work in `stream`.
    pub(super) fn lend(self, stream: CUstream) -> Result<Lent<'a>, Code> {
        self.event_lifetime.lend(self.driver, stream)
    }

    /// Waits until all that was put into `stream` is done. A capture of another stream, which forbids programs to wait, goes
    /// on.
    pub(super) fn synchronise(self, stream: CUstream) -> Result<(), Code> {
        let call = self.driver.cuStreamSynchronize.ok_or(NOT_SUPPORTED)?;
        self.event_lifetime.relaxed(self.driver, || {
            // SAFETY: the stream is one that the client has.
            checked(unsafe { call(stream) })
        })
    }
}

/// Copies `from` to the device; the bytes may be changed on return. `context`: the frame's.
fn to_device(
    lender: Lender<'_>,
    (uploads, context): (&mut Uploads, u32),
    to: u64,
    from: &[u8],
    when: When,
) -> Result<(), Code> {
    match when {
        When::Now => {
            let call = lender.driver.cuMemcpyHtoD_v2.ok_or(NOT_SUPPORTED)?;
            // SAFETY: `from` is as long as is said, and the driver is done with it on return.
            checked(unsafe { call(to, from.as_ptr().cast(), from.len()) })
        }
        When::In(stream) => uploads.send(lender, context, to, from, stream),
        When::Here => found(lender.host_memory.write(to, from)),
    }
}

/// Copies from the device to `to`; the bytes are there on return.
fn from_device(lender: Lender<'_>, to: &mut [u8], from: u64, when: When) -> Result<(), Code> {
    let driver = lender.driver;
    let target = to.as_mut_ptr().cast::<c_void>();
    match when {
        When::Now => {
            let call = driver.cuMemcpyDtoH_v2.ok_or(NOT_SUPPORTED)?;
            // SAFETY: `target` has room for `to.len()` bytes.
            checked(unsafe { call(target, from, to.len()) })
        }
        When::In(stream) => {
            let call = driver.cuMemcpyDtoHAsync_v2.ok_or(NOT_SUPPORTED)?;
            let _lent = lender.lend(stream)?;
            // SAFETY: `target` has room for `to.len()` bytes, and stays until the stream is
            // synchronised below.
            checked(unsafe { call(target, from, to.len(), stream) })?;
            lender.synchronise(stream)
        }
        When::Here => found(lender.host_memory.read(from, to)),
    }
}

fn found(all: bool) -> Result<(), Code> {
    if all { Ok(()) } else { Err(INVALID_VALUE) }
}

/// Large copies by way of the lane's staging memory.
mod staged;
mod uploads;

pub(crate) use uploads::Uploads;

fn upload(exec: &mut Exec, r: &mut Reader<'_>) -> Called {
    let Upload { to, stream } = Upload::whole(r)?;
    let when = When::of(exec, stream)?;
    let by_driver = !matches!(when, When::Here);
    if by_driver && exec.bulk_left >= LOCKED_MIN && exec.staging.may_lock(Direction::ToDevice) {
        return Ok(code_of(staged::to_device(exec, to, when, stream)?));
    }
    let session = Arc::clone(&exec.session);
    let lender = Lender::of(exec, &session);
    let context = exec.request.context;
    let mut uploads = std::mem::take(&mut exec.uploads);
    let mut at = to;
    let outcome = exec.bulk_in(|bytes| {
        to_device(lender, (&mut uploads, context), at, bytes, when)?;
        at = at.wrapping_add(bytes.len() as u64);
        Ok(())
    });
    exec.uploads = uploads;
    Ok(code_of(outcome?))
}

fn download(exec: &mut Exec, r: &mut Reader<'_>) -> Called {
    let Download {
        from,
        len,
        chunk,
        stream,
    } = Download::whole(r)?;
    let when = When::of(exec, stream)?;
    let by_driver = !matches!(when, When::Here);
    let large = len.min(chunk.into()) >= LOCKED_MIN as u64;
    if by_driver && large && exec.staging.may_lock(Direction::ToHost) {
        return Ok(staged::to_host(
            exec,
            (from, len),
            chunk as usize,
            when,
            stream,
        )?);
    }
    let session = Arc::clone(&exec.session);
    let lender = Lender::of(exec, &session);
    let code = exec.bulk_out(len, chunk as usize, &[], |offset, to| {
        from_device(lender, to, from.wrapping_add(offset), when)
    })?;
    Ok(code)
}

/// To the device, in order with the calls of this thread.
pub(crate) fn cuMemcpyHtoD_v2(exec: &mut Exec, r: &mut Reader<'_>, _: &mut Writer) -> Called {
    upload(exec, r)
}

/// To the device, in order of a stream.
pub(crate) fn cuMemcpyHtoDAsync_v2(exec: &mut Exec, r: &mut Reader<'_>, _: &mut Writer) -> Called {
    upload(exec, r)
}

/// From the device.
pub(crate) fn cuMemcpyDtoH_v2(exec: &mut Exec, r: &mut Reader<'_>, _: &mut Writer) -> Called {
    download(exec, r)
}

/// From the device, in order of a stream.
pub(crate) fn cuMemcpyDtoHAsync_v2(exec: &mut Exec, r: &mut Reader<'_>, _: &mut Writer) -> Called {
    download(exec, r)
}
