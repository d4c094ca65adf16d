//! Copies between the program's memory and the device's.
//!
//! Bytes for the device are taken before the call returns, so that the program may use their memory
//! again, as CUDA promises for pageable memory. From page-locked memory an RDMA device takes those of `Async` functions
//! itself, until the stream has got there ([`host_memory`]). Bytes from the device are there when the call
//! returns, also those of the `Async` functions, as CUDA allows; but into page-locked memory they come
//! later ([`deliveries`]).

// Reads and writes the program's memory.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::Ordering;
use std::{ptr, slice};

use gtrace_cuda::payload::{Download, Payload as _, SYNCHRONOUS, Side, SideKind, Upload};
use gtrace_cuda::types::driver::{self as cuda, CUdeviceptr, CUresult, CUstream};
use gtrace_link::PinnedRegion;
use gtrace_protocol::{BULK_MAX, Flags, OpId, op_id};

use crate::entry::{Answer, Call, check, done, send_one_way_with, written};
use crate::generated::driver::remote;
use crate::graph::captured_linear;
use crate::lane::{Bulk, Lane};
use crate::session::{self, Session, with_lane};
use crate::state::read;
use crate::{capture, clock, deferred_copies, device_idle, host_memory, log, managed, status};

/// Bytes of a frame's bulk part.
pub(crate) fn chunk(lane: &Lane) -> usize {
    lane.chunk.min(BULK_MAX)
}

/// The number of a stream on the wire.
pub(crate) fn stream(stream: CUstream) -> u64 {
    stream.addr() as u64
}

/// Sends one-way frames, or, in strict mode, each with its answer.
pub(crate) fn push(lane: &mut Lane, op: OpId, flags: Flags, small: &[u8], bulk: &[u8]) -> Answer {
    push_bulk(lane, op, flags, small, Bulk::of(bulk))
}

fn push_bulk(lane: &mut Lane, op: OpId, flags: Flags, small: &[u8], bulk: Bulk<'_>) -> Answer {
    let began = clock::now();
    if !lane.session.settings.strict {
        return send_one_way_with(lane, op, flags.with(Flags::ONE_WAY), small, bulk, began)
            .map(drop);
    }
    let mut call =
        Call::new(op, flags.with(Flags::STRICT), began).send(lane, small, bulk.bytes())?;
    call.results(lane, |_| Ok(()))?;
    let outcome = call.outcome(lane);
    call.end();
    check(outcome)
}

thread_local! {
    /// Whether the program may use its memory when the call returns, of functions that are made of their `Async` twins.
    static IN_CALL: Cell<bool> = const { Cell::new(false) };
}

/// Whether nothing may be read or written later than in this call.
pub(crate) fn is_in_call() -> bool {
    IN_CALL.try_with(Cell::get).unwrap_or(true)
}

/// Does `action`, a copy by a function `Async`, so that the program's bytes are taken, and are there, when it returns.
pub(crate) fn in_call<T>(action: impl FnOnce() -> T) -> T {
    let before = IN_CALL.try_with(|flag| flag.replace(true));
    let done = action();
    if let Ok(before) = before {
        let _ = IN_CALL.try_with(|flag| flag.set(before));
    }
    done
}

/// The same of a function without `Async` that uses the stream `stream`: what was copied to the host before it, and to
/// memory that host and device share, is there too.
pub(crate) fn synchronous(stream: CUstream, action: impl FnOnce() -> CUresult) -> CUresult {
    done(|| {
        check(in_call(action))?;
        match session::cuda()?.state.deferred_copies.any() || managed::in_use() {
            // SAFETY: a handle.
            true => check(unsafe { remote::cuStreamSynchronize(stream) }),
            false => Ok(()),
        }
    })
}

/// Bytes of pageable memory that the driver takes at once, wherever the stream is.
const STAGED: usize = 64 << 10;

/// Waits for the stream if a function of the program is still to run: it may change the bytes that are to be copied
/// from page-locked memory, which is read when the stream gets there; and with others the server would wait in the
/// driver, behind what it has been sent, where nothing that follows is executed.
fn behind_host_functions(
    session: &'static Session,
    (from, len): (*const c_void, usize),
    stream: CUstream,
) -> Answer {
    if !session.state.host_functions.are_outstanding() {
        return Ok(());
    }
    let found = read(&session.state.allocations).find(from.addr() as u64);
    let locked = found.is_some_and(|found| found.place.is_host());
    match locked || len > STAGED || is_in_call() {
        // SAFETY: a handle.
        true => check(unsafe { remote::cuStreamSynchronize(stream) }),
        false => Ok(()),
    }
}

/// As [`behind_host_functions`], of a copy for which the server waits whatever is copied.
pub(crate) fn behind_all_host_functions(session: &'static Session, stream: u64) -> Answer {
    match session.state.host_functions.are_outstanding() {
        true => wait_for(stream),
        false => Ok(()),
    }
}

/// Waits for the stream of a copy, as it travels: of one without `Async` that is the default stream.
pub(crate) fn wait_for(stream: u64) -> Answer {
    if stream == SYNCHRONOUS {
        return synchronise();
    }
    let stream = ptr::with_exposed_provenance_mut(stream as usize);
    // SAFETY: a handle.
    check(unsafe { remote::cuStreamSynchronize(stream) })
}

pub(crate) fn upload(
    session: &'static Session,
    op: OpId,
    to: CUdeviceptr,
    bytes: &[u8],
    stream: u64,
) -> Answer {
    upload_from(session, op, to, bytes, stream, None)
}

/// As [`upload`]. Bytes that lie in `memory` the link may take from there after the call has returned.
fn upload_from(
    session: &'static Session,
    op: OpId,
    to: CUdeviceptr,
    bytes: &[u8],
    stream: u64,
    memory: Option<PinnedRegion>,
) -> Answer {
    deferred_copies::settle(session, bytes.as_ptr().addr(), bytes.len())?;
    with_lane(session, |lane| {
        check(lane.take_sticky())?;
        let lent = Lent { lane, bytes };
        upload_pieces(lent.lane, op, to, bytes, stream, memory)
    })
}

/// Takes bytes back from the link, however the call ends.
struct Lent<'a> {
    lane: &'a mut Lane,
    bytes: &'a [u8],
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.lane.take_back(self.bytes);
    }
}

/// Sends the frames of an upload. Its bytes are lent to the link.
fn upload_pieces(
    lane: &mut Lane,
    op: OpId,
    to: CUdeviceptr,
    bytes: &[u8],
    stream: u64,
    memory: Option<PinnedRegion>,
) -> Answer {
    let chunk = chunk(lane);
    let mut at = 0;
    // A copy of nothing is a call all the same.
    loop {
        let piece = &bytes[at..bytes.len().min(at + chunk)];
        let more = match at + piece.len() < bytes.len() {
            true => Flags::MORE,
            false => Flags::default(),
        };
        let upload = Upload {
            to: to.wrapping_add(at as u64),
            stream,
        };
        // SAFETY: the bytes stay as they are in this call, at whose end they are taken back.
        let bulk = unsafe { Bulk::lent(piece, memory) };
        written(
            lane,
            |w| upload.write(w),
            |lane, small| push_bulk(lane, op, more, small, bulk),
        )?;
        at += piece.len();
        if at >= bytes.len() {
            return Ok(());
        }
    }
}

/// Takes the frames of an answer whose bulk parts are bytes in order: `sink` has to read as many
/// from the lane as its argument says.
///
/// # Errors
///
/// The status of the last frame, [`crate::status::LOST`], or UNKNOWN if there are more bytes than
/// `expected`.
pub(crate) fn pull(
    lane: &mut Lane,
    mut call: Call,
    expected: usize,
    mut sink: impl FnMut(&mut Lane, usize) -> Answer,
) -> Answer {
    let mut left = expected;
    loop {
        let bulk = call.header.bulk();
        let header = call.header;
        // The error of an earlier call rides on whatever comes first.
        lane.note_sticky(header.context);
        lane.arguments(&header, |_| Ok(()))?;
        if bulk > left {
            lane.drop_bulk(bulk)?;
            log::once("pull", "the server sent more bytes than it was asked for");
            return Err(cuda::CUDA_ERROR_UNKNOWN);
        }
        if bulk > 0 {
            sink(lane, bulk)?;
        }
        left -= bulk;
        call.received(bulk);
        if !header.flags.has(Flags::MORE) {
            break;
        }
        call.wait(lane)?;
    }
    let outcome = call.outcome(lane);
    call.end();
    check(outcome)?;
    match left {
        0 => Ok(()),
        _ => Err(cuda::CUDA_ERROR_UNKNOWN),
    }
}

/// Fetches bytes for the program, or has the device copy them where it has got that memory too meanwhile.
pub(crate) fn download(
    session: &'static Session,
    op: OpId,
    into: &mut [u8],
    from: CUdeviceptr,
    stream: u64,
) -> Answer {
    let (to, len) = (into.as_ptr().addr(), into.len());
    deferred_copies::settle(session, to, len)?;
    let came = download_into(session, op, Into::program(into), from, stream)?;
    if !came {
        let of = (stream != SYNCHRONOUS).then(|| ptr::with_exposed_provenance_mut(stream as usize));
        between(session, (to as u64, from), len, of)?;
        // The host may read at once.
        wait_for(stream)?;
    }
    deferred_copies::collect(session)
}

/// As [`download`], into memory that no other copy goes to; waits for no copy of another thread, which may wait for this one.
pub(crate) fn download_alone(
    session: &'static Session,
    op: OpId,
    into: &mut [u8],
    from: CUdeviceptr,
    stream: u64,
) -> Answer {
    download_into(session, op, Into::own(into), from, stream).map(drop)
}

/// False if the bytes went nowhere, as the device has their place too.
fn download_into(
    session: &'static Session,
    op: OpId,
    mut into: Into<'_>,
    from: CUdeviceptr,
    stream: u64,
) -> Answer<bool> {
    with_lane(session, |lane| {
        let began = clock::now();
        let request = Download {
            from,
            len: into.rest.len() as u64,
            chunk: chunk(lane) as u32,
            stream,
        };
        let call = written(
            lane,
            |w| request.write(w),
            |lane, small| Call::new(op, Flags::default(), began).send(lane, small, &[]),
        )?;
        let expected = into.rest.len();
        pull(lane, call, expected, |lane, len| into.take(lane, len))?;
        Ok(!into.shared)
    })
}

/// Memory to which bytes come.
struct Into<'a> {
    rest: &'a mut [u8],
    /// Nobody maps it meanwhile.
    held: Option<managed::Held>,
    /// The device has it too, since the bytes were asked for: they go nowhere.
    shared: bool,
}

impl<'a> Into<'a> {
    /// Of the program.
    fn program(all: &'a mut [u8]) -> Self {
        Self {
            rest: all,
            held: None,
            shared: false,
        }
    }

    /// Of this library.
    fn own(all: &'a mut [u8]) -> Self {
        Self {
            held: Some(managed::Held::default()),
            ..Self::program(all)
        }
    }

    /// The next `len` bytes of an answer.
    fn take(&mut self, lane: &mut Lane, len: usize) -> Answer {
        if self.held.is_none() && !self.shared {
            let address = self.rest.as_ptr().addr() as u64;
            self.held = managed::hold(address, self.rest.len() as u64);
            self.shared = self.held.is_none();
        }
        let (now, rest) = std::mem::take(&mut self.rest).split_at_mut(len);
        self.rest = rest;
        match self.shared {
            true => lane.drop_bulk(len),
            false => lane.bulk(now),
        }
    }
}

/// Most copies that [`download_all`] asks for at once: their requests have to have room on the way.
pub(crate) const DOWNLOADS_MAX: usize = 16;

/// Fetches bytes from several addresses. All are asked for before the first answer.
///
/// # Errors
///
/// The first failure of a copy; [`crate::status::LOST`].
pub(crate) fn download_all(
    session: &'static Session,
    op: OpId,
    parts: &mut [(CUdeviceptr, Vec<u8>)],
    stream: u64,
) -> Answer {
    with_lane(session, |lane| {
        let mut calls = Vec::with_capacity(parts.len());
        for (at, (from, into)) in parts.iter().enumerate() {
            let request = Download {
                from: *from,
                len: into.len() as u64,
                chunk: chunk(lane) as u32,
                stream,
            };
            let mut call = Call::new(op, Flags::default(), clock::now()).behind(at > 0);
            written(
                lane,
                |w| request.write(w),
                |lane, small| call.post(lane, small, &[]),
            )?;
            calls.push(call);
        }
        let mut outcome = Ok(());
        for (mut call, (_, into)) in calls.into_iter().zip(parts) {
            call.wait(lane)?;
            let mut at = 0;
            let pulled = pull(lane, call, into.len(), |lane, len| {
                lane.bulk(&mut into[at..at + len])?;
                at += len;
                Ok(())
            });
            if pulled == Err(status::LOST) {
                return pulled;
            }
            outcome = outcome.and(pulled);
        }
        outcome
    })
}

/// The device is about to write `len` bytes at `to` that the program gives it, `bytes`: they may lead to page-locked
/// memory, or be for some.
fn reach(session: &'static Session, to: CUdeviceptr, bytes: &[u8]) -> Answer {
    if !managed::may_map() || bytes.len() > managed::SEEN_MAX {
        return Ok(());
    }
    // Addresses lie at multiples of their size on the device.
    let first = (to.next_multiple_of(8) - to) as usize;
    managed::reach_bytes(session, bytes.get(first..).unwrap_or_default())
}

/// A synchronous copy to the device was left to the server: CUDA waits first for what is under way, so what that
/// copies to page-locked memory, or writes there, is here on return. Another process, whose connection is another one, may
/// read what was copied to memory that both have.
pub(crate) fn after_synchronous(session: &'static Session) -> Answer {
    let state = &session.state;
    let any = state.deferred_copies.any() || state.shares_memory.load(Ordering::Relaxed);
    match any || managed::may_change() || managed::goes_past(session) {
        true => synchronise(),
        false => Ok(()),
    }
}

/// Copies memory of a graph's copy to its place on the device, in the order of `stream`.
pub(crate) fn to_device(
    session: &'static Session,
    to: CUdeviceptr,
    from: Side,
    len: usize,
    stream: u64,
) -> Answer {
    const OP: OpId = op_id("cuMemcpyHtoDAsync_v2");
    let from = ptr::with_exposed_provenance((from.place + from.x) as usize);
    // SAFETY: the program's memory, by its promise to the node.
    let bytes = unsafe { source(from, len) }?;
    match managed::hold(bytes.as_ptr().addr() as u64, len as u64) {
        Some(_held) => upload(session, OP, to, bytes, stream),
        // The device has them too, since the graph was made.
        None => {
            let aside = bytes.to_vec();
            upload(session, OP, to, &aside, stream)
        }
    }
}

/// The other way.
pub(crate) fn to_host(
    session: &'static Session,
    to: Side,
    from: CUdeviceptr,
    len: usize,
    stream: u64,
) -> Answer {
    const OP: OpId = op_id("cuMemcpyDtoHAsync_v2");
    let to = ptr::with_exposed_provenance_mut((to.place + to.x) as usize);
    // SAFETY: the program's memory, by its promise to the node.
    let into = unsafe { destination(to, len) }?;
    download(session, OP, into, from, stream)
}

/// A copy on the device. Managed memory is the device's to copy, whatever the program calls it: it may
/// not be here, and it needs no way.
fn between(
    session: &'static Session,
    (to, from): (CUdeviceptr, CUdeviceptr),
    len: usize,
    stream: Option<CUstream>,
) -> Answer {
    managed::reach(session, [to, from].into_iter())?;
    let mut giving = managed::Giving::default();
    // What is captured runs with its graph.
    let captured = || stream.is_some_and(|on| capture::is_captured(session, on.addr() as u64));
    if managed::in_use() && !captured() {
        if stream.is_none() {
            behind_all_host_functions(session, SYNCHRONOUS)?;
        }
        managed::before_read(session, from, len as u64)?;
        giving = managed::before_write(session, to, len as u64)?;
    }
    // SAFETY: no pointers of the client.
    check(unsafe {
        match stream {
            None => remote::cuMemcpy(to, from, len),
            Some(stream) => remote::cuMemcpyAsync(to, from, len, stream),
        }
    })?;
    drop(giving);
    match stream.is_none() && managed::goes_past(session) {
        true => synchronise(),
        false => Ok(()),
    }
}

/// The program's memory for a copy.
///
/// # Safety
///
/// The program's promise: `len` bytes at `from` can be read until the call returns.
unsafe fn source<'a>(from: *const c_void, len: usize) -> Answer<&'a [u8]> {
    match (from.is_null(), len) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(cuda::CUDA_ERROR_INVALID_VALUE),
        // SAFETY: the caller's promise.
        _ => Ok(unsafe { slice::from_raw_parts(from.cast(), len) }),
    }
}

/// # Safety
///
/// The program's promise: `len` bytes at `to` can be written until the call returns.
unsafe fn destination<'a>(to: *mut c_void, len: usize) -> Answer<&'a mut [u8]> {
    match (to.is_null(), len) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(cuda::CUDA_ERROR_INVALID_VALUE),
        // SAFETY: the caller's promise.
        _ => Ok(unsafe { slice::from_raw_parts_mut(to.cast(), len) }),
    }
}

pub(crate) unsafe fn cuMemcpyHtoD_v2(
    dstDevice: CUdeviceptr,
    srcHost: *const c_void,
    ByteCount: usize,
) -> Answer {
    const OP: OpId = op_id("cuMemcpyHtoD_v2");
    let session = session::cuda()?;
    managed::reach(session, std::iter::once(dstDevice))?;
    let mut giving = managed::Giving::default();
    if managed::in_use() {
        let from = srcHost.addr() as u64;
        if managed::contains(from) {
            between(session, (dstDevice, from), ByteCount, None)?;
            // The host may write and read page-locked memory at once.
            return match managed::is_mapped(from) || managed::is_mapped(dstDevice) {
                true => synchronise(),
                false => Ok(()),
            };
        }
        giving = managed::before_write(session, dstDevice, ByteCount as u64)?;
    }
    // SAFETY: memory of the program.
    let bytes = unsafe { source(srcHost, ByteCount) }?;
    reach(session, dstDevice, bytes)?;
    behind_all_host_functions(session, SYNCHRONOUS)?;
    let from = srcHost.addr() as u64;
    let Some(held) = managed::hold(from, ByteCount as u64) else {
        // Since a moment ago.
        drop(giving);
        between(session, (dstDevice, from), ByteCount, None)?;
        return synchronise();
    };
    upload(session, OP, dstDevice, bytes, SYNCHRONOUS)?;
    drop((held, giving));
    after_synchronous(session)
}

pub(crate) unsafe fn cuMemcpyHtoDAsync_v2(
    dstDevice: CUdeviceptr,
    srcHost: *const c_void,
    ByteCount: usize,
    hStream: CUstream,
) -> Answer {
    const OP: OpId = op_id("cuMemcpyHtoDAsync_v2");
    let session = session::cuda()?;
    let (from, to) = (
        (SideKind::Client, srcHost.addr() as u64),
        (SideKind::Device, dstDevice),
    );
    managed::reach(session, std::iter::once(dstDevice))?;
    if managed::in_use() && managed::contains(from.1) {
        return between(session, (dstDevice, from.1), ByteCount, Some(hStream));
    }
    if captured_linear(session, from, to, ByteCount, hStream)? {
        return Ok(());
    }
    let giving = match managed::in_use() {
        true => managed::before_write(session, dstDevice, ByteCount as u64)?,
        false => managed::Giving::default(),
    };
    behind_host_functions(session, (srcHost, ByteCount), hStream)?;
    // SAFETY: memory of the program.
    let bytes = unsafe { source(srcHost, ByteCount) }?;
    reach(session, dstDevice, bytes)?;
    let from = srcHost.addr() as u64;
    let Some(held) = managed::hold(from, ByteCount as u64) else {
        drop(giving);
        return between(session, (dstDevice, from), ByteCount, Some(hStream));
    };
    let memory = host_memory::pinned(session, bytes);
    upload_from(session, OP, dstDevice, bytes, stream(hStream), memory)?;
    drop((held, giving));
    Ok(())
}

pub(crate) unsafe fn cuMemcpyDtoH_v2(
    dstHost: *mut c_void,
    srcDevice: CUdeviceptr,
    ByteCount: usize,
) -> Answer {
    const OP: OpId = op_id("cuMemcpyDtoH_v2");
    let session = session::cuda()?;
    managed::reach(session, std::iter::once(srcDevice))?;
    if managed::in_use() {
        let to = dstHost.addr() as u64;
        if managed::contains(to) {
            between(session, (to, srcDevice), ByteCount, None)?;
            // The host may read at once.
            return synchronise();
        }
        managed::before_read(session, srcDevice, ByteCount as u64)?;
    }
    // SAFETY: memory of the program.
    let into = unsafe { destination(dstHost, ByteCount) }?;
    let until = device_idle::until(session);
    download(session, OP, into, srcDevice, SYNCHRONOUS)?;
    device_idle::copied(session, until);
    managed::after_wait(0, false);
    Ok(())
}

pub(crate) unsafe fn cuMemcpyDtoHAsync_v2(
    dstHost: *mut c_void,
    srcDevice: CUdeviceptr,
    ByteCount: usize,
    hStream: CUstream,
) -> Answer {
    const OP: OpId = op_id("cuMemcpyDtoHAsync_v2");
    let session = session::cuda()?;
    let (from, to) = (
        (SideKind::Device, srcDevice),
        (SideKind::Client, dstHost.addr() as u64),
    );
    managed::reach(session, std::iter::once(srcDevice))?;
    if managed::in_use() && managed::contains(to.1) {
        return between(session, (to.1, srcDevice), ByteCount, Some(hStream));
    }
    if captured_linear(session, from, to, ByteCount, hStream)? {
        return Ok(());
    }
    if managed::in_use() {
        managed::before_read(session, srcDevice, ByteCount as u64)?;
    }
    let to = dstHost.expose_provenance();
    deferred_copies::settle(session, to, ByteCount)?;
    let Some(held) = managed::hold(to as u64, ByteCount as u64) else {
        return between(session, (to as u64, srcDevice), ByteCount, Some(hStream));
    };
    if deferred_copies::copy(session, to, srcDevice, ByteCount, stream(hStream))? {
        return Ok(());
    }
    drop(held);
    // SAFETY: memory of the program.
    let into = unsafe { destination(dstHost, ByteCount) }?;
    let drained = with_lane(session, |lane| Ok(lane.drained_by_next(stream(hStream))))?;
    download(session, OP, into, srcDevice, stream(hStream))?;
    managed::after_wait(0, false);
    if ByteCount > 0 {
        with_lane(session, |lane| {
            lane.note_drained(drained);
            Ok(())
        })?;
    }
    Ok(())
}

/// Waits for the default stream, as the copies without `Async` do.
pub(crate) fn synchronise() -> Answer {
    // SAFETY: the handle that null is.
    check(unsafe { remote::cuStreamSynchronize(ptr::null_mut()) })
}

/// Whether an address is the client's: what is not known as the device's memory.
pub(crate) fn is_host(session: &Session, address: u64) -> bool {
    let found = read(&session.state.allocations).find(address);
    match found {
        Some(found) => found.place.is_host(),
        None => !crate::reserve::is_reserved(address),
    }
}

/// A copy between two addresses of which each may be the client's. `stream` is null for the call
/// without `Async`.
unsafe fn unified(
    dst: CUdeviceptr,
    src: CUdeviceptr,
    len: usize,
    stream: Option<CUstream>,
) -> Answer {
    let session = session::cuda()?;
    let to = ptr::with_exposed_provenance_mut::<c_void>(dst as usize);
    let from = ptr::with_exposed_provenance::<c_void>(src as usize);
    // SAFETY: passes the program's pointers on, each as what it is.
    unsafe {
        match (is_host(session, dst), is_host(session, src), stream) {
            (false, false, stream) => between(session, (dst, src), len, stream),
            (false, true, None) => cuMemcpyHtoD_v2(dst, from, len),
            (false, true, Some(stream)) => cuMemcpyHtoDAsync_v2(dst, from, len, stream),
            (true, false, None) => cuMemcpyDtoH_v2(to, src, len),
            (true, false, Some(stream)) => cuMemcpyDtoHAsync_v2(to, src, len, stream),
            (true, true, stream) => {
                let sides = ((SideKind::Client, src), (SideKind::Client, dst));
                if let Some(stream) = stream
                    && captured_linear(session, sides.0, sides.1, len, stream)?
                {
                    return Ok(());
                }
                // What the stream still writes there comes first.
                if stream.is_some() || managed::is_at_work() {
                    check(remote::cuStreamSynchronize(
                        stream.unwrap_or(ptr::null_mut()),
                    ))?;
                }
                deferred_copies::settle(session, dst as usize, len)?;
                deferred_copies::settle(session, src as usize, len)?;
                let (into, bytes) = (destination(to, len)?, source(from, len)?);
                ptr::copy(bytes.as_ptr(), into.as_mut_ptr(), len);
                Ok(())
            }
        }
    }
}

pub(crate) unsafe fn cuMemcpy(dst: CUdeviceptr, src: CUdeviceptr, ByteCount: usize) -> Answer {
    // SAFETY: the program's pointers.
    unsafe { unified(dst, src, ByteCount, None) }
}

pub(crate) unsafe fn cuMemcpyAsync(
    dst: CUdeviceptr,
    src: CUdeviceptr,
    ByteCount: usize,
    hStream: CUstream,
) -> Answer {
    // SAFETY: the program's pointers.
    unsafe { unified(dst, src, ByteCount, Some(hStream)) }
}
