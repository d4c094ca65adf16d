//! Copies through page-locked memory: the device works on one part while the link works on another.
//!
//! At most one part is in the device's hands. Before another is handed over, and at the end of each
//! copy, the stream is waited for, so that nothing of a copy is under way when the next call begins:
//! the client may destroy the stream then. Only between the frames of one copy a part stays under way.

#![allow(unsafe_code)]

use std::sync::Arc;

use gtrace_link::LinkError;
use gtrace_protocol::Flags;

use super::{Lender, NOT_SUPPORTED, When, checked};
use crate::exec::{Code, Exec};
use crate::special::INVALID_VALUE;
use crate::staging::{Direction, InFlight, PART, Way};
use crate::worker::time;

impl When {
    /// The stream that the copy is ordered in.
    fn stream(self) -> gtrace_cuda::types::driver::CUstream {
        match self {
            // The legacy default stream, as the calls without Async.
            Self::Now | Self::Here => std::ptr::null_mut(),
            Self::In(stream) => stream,
        }
    }
}

/// Puts the copy of `from`, which is page-locked, into the stream.
fn start_to_device(lender: Lender<'_>, to: u64, from: &[u8], when: When) -> Result<(), Code> {
    let call = lender.driver.cuMemcpyHtoDAsync_v2.ok_or(NOT_SUPPORTED)?;
    let _lent = lender.lend(when.stream())?;
    // SAFETY: memory of the lane, which is not written to before the stream was synchronised; it
    // stays until the lane's end, and in the driver's hands longer if it is still locked then.
    checked(unsafe { call(to, from.as_ptr().cast(), from.len(), when.stream()) })
}

/// Puts the copy to `to`, which is page-locked, into the stream.
fn start_from_device(lender: Lender<'_>, to: &mut [u8], from: u64, when: When) -> Result<(), Code> {
    let call = lender.driver.cuMemcpyDtoHAsync_v2.ok_or(NOT_SUPPORTED)?;
    let _lent = lender.lend(when.stream())?;
    // SAFETY: as above: nothing of it is read before the stream was synchronised.
    checked(unsafe { call(to.as_mut_ptr().cast(), from, to.len(), when.stream()) })
}

/// Waits for what is under way of the copy that the frames before began.
fn settle(exec: &mut Exec, when: When, stream: u64) -> Result<(), Code> {
    match exec.staging.in_flight.take() {
        Some(before) if before.stream == stream && before.context == exec.request.context => {
            let session = Arc::clone(&exec.session);
            Lender::of(exec, &session).synchronise(when.stream())
        }
        // A client that breaks a copy off has spoilt its own bytes.
        _ => Ok(()),
    }
}

/// The next part is in the device's hands.
fn under_way(exec: &mut Exec, stream: u64) {
    exec.staging.in_flight = Some(InFlight {
        stream,
        context: exec.request.context,
    });
}

/// Copies the frame's bulk part to the device.
pub(super) fn to_device(
    exec: &mut Exec,
    to: u64,
    when: When,
    stream: u64,
) -> Result<Result<(), Code>, LinkError> {
    let mut at = to;
    let mut outcome = Ok(());
    while exec.bulk_left > 0 && outcome.is_ok() {
        let len = exec.receive_piece()?;
        outcome = piece_to_device(exec, at, len, when, stream);
        at = at.wrapping_add(len as u64);
        exec.bulk_left -= len;
        exec.moved += len;
    }
    if outcome.is_err() || !exec.request.flags.has(Flags::MORE) {
        let settled = settle(exec, when, stream);
        outcome = outcome.and(settled);
    }
    exec.skip_bulk()?;
    Ok(outcome)
}

/// Copies the first `len` bytes of the next part.
fn piece_to_device(
    exec: &mut Exec,
    to: u64,
    len: usize,
    when: When,
    stream: u64,
) -> Result<(), Code> {
    let way = exec.staging.way(Direction::ToDevice);
    settle(exec, when, stream)?;
    let session = Arc::clone(&exec.session);
    let lender = Lender::of(exec, &session);
    let context = exec.request.context;
    let bytes = &exec.staging.part()[..len];
    let began = time::now_ns();
    match way {
        Way::Pageable | Way::TimePageable => {
            super::to_device(lender, (&mut exec.uploads, context), to, bytes, when)?;
        }
        Way::Locked => {
            start_to_device(lender, to, bytes, when)?;
            under_way(exec, stream);
            exec.staging.swap();
        }
        Way::TimeLocked => {
            start_to_device(lender, to, bytes, when)?;
            lender.synchronise(when.stream())?;
        }
    }
    if len == PART {
        let took = time::now_ns().saturating_sub(began);
        exec.staging.timed(Direction::ToDevice, way, took);
    }
    Ok(())
}

/// Answers with the `len` bytes at `from`, of a copy that `when` orders.
pub(super) fn to_host(
    exec: &mut Exec,
    (from, len): (u64, u64),
    chunk: usize,
    when: When,
    stream: u64,
) -> Result<Code, LinkError> {
    let chunk = exec.piece_of(chunk);
    let size = |at: u64| usize::try_from(len - at).map_or(chunk, |left| left.min(chunk));
    let mut at = 0;
    // What came of the start of the copy of the piece at `at` to the next part.
    let mut begun = begin_to_host(exec, from, size(0), when, stream);
    loop {
        let piece = size(at);
        let next = at + piece as u64;
        let outcome = begun.and_then(|()| settle(exec, when, stream));
        let sent = if outcome.is_ok() { piece } else { 0 };
        let mut header = exec.reply_header();
        let ends = exec.fill_header(&mut header, outcome, next == len, (0, sent));
        if !ends {
            exec.staging.swap();
            let from = from.wrapping_add(next);
            begun = begin_to_host(exec, from, size(next), when, stream);
            exec.staging.swap();
        }
        if ends {
            exec.send_output()?;
        }
        exec.sending(!ends, |exec| {
            exec.put_bytes(&header, &[])?;
            exec.put_staged(sent)
        })?;
        exec.moved += sent;
        if ends {
            exec.replied = true;
            return Ok(outcome.err().unwrap_or_default());
        }
        exec.staging.swap();
        at = next;
    }
}

/// Begins the copy of `len` bytes to the next part. It may be under way on return.
fn begin_to_host(
    exec: &mut Exec,
    from: u64,
    len: usize,
    when: When,
    stream: u64,
) -> Result<(), Code> {
    let way = exec.staging.way(Direction::ToHost);
    let session = Arc::clone(&exec.session);
    let lender = Lender::of(exec, &session);
    let to = exec.staging.part().get_mut(..len).ok_or(INVALID_VALUE)?;
    let began = time::now_ns();
    match way {
        Way::Pageable | Way::TimePageable => super::from_device(lender, to, from, when)?,
        Way::Locked => {
            start_from_device(lender, to, from, when)?;
            under_way(exec, stream);
        }
        Way::TimeLocked => {
            start_from_device(lender, to, from, when)?;
            lender.synchronise(when.stream())?;
        }
    }
    if len == PART {
        let took = time::now_ns().saturating_sub(began);
        exec.staging.timed(Direction::ToHost, way, took);
    }
    Ok(())
}
