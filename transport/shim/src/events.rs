//! Events. Every frame of the server says up to which frame of its lane the records of events are
//! complete, so that most questions after an event are answered here, and all those that are asked
//! after it was seen complete.

#![allow(unsafe_code)]

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use gtrace_cuda::types::driver::{self as cuda, CUcontext, CUevent, CUresult, CUstream};
use gtrace_protocol::{Flags, OpId, Writer, op_id};

use crate::copy::stream;
use crate::entry::{Answer, check, exchange};
use crate::generated::driver::remote;
use crate::lane::Outgoing;
use crate::session::{self, Session, with_lane};
use crate::state::lock;
use crate::stats::local;
use crate::{deferred_copies, managed};

/// Where an event was recorded last.
#[derive(Clone)]
pub(crate) struct Mark {
    lane: Arc<Outgoing>,
    /// Number of the frame in it.
    seq: u64,
    /// The last copy to page-locked memory that was asked for before.
    deferred_copies: u64,
    /// A question was answered with yes.
    complete: bool,
}

impl Mark {
    pub(crate) const fn new(lane: Arc<Outgoing>, seq: u64, deferred_copies: u64) -> Self {
        Self {
            lane,
            seq,
            deferred_copies,
            complete: false,
        }
    }

    fn is_complete(&self) -> bool {
        self.complete || self.lane.watermark() >= self.seq
    }

    fn is(&self, other: &Self) -> bool {
        self.seq == other.seq && Arc::ptr_eq(&self.lane, &other.lane)
    }
}

/// Who else records an event, so that the frame of the last record does not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recorder {
    Graph,
    /// Another process, which may also wait for it.
    Process,
}

/// Events that were recorded.
#[derive(Default)]
pub(crate) struct Events {
    /// By their handle.
    marks: Mutex<HashMap<u64, Mark>>,
    /// Those that are recorded otherwise too.
    on_another_stream: Mutex<HashMap<u64, Recorder>>,
}

impl Events {
    fn get(&self, event: u64) -> Option<Mark> {
        lock(&self.marks).get(&event).cloned()
    }

    fn set(&self, event: u64, mark: Mark) {
        lock(&self.marks).insert(event, mark);
    }

    /// A graph records this event too from now on: only the server knows of it.
    pub(crate) fn recorded_on_another_stream(&self, event: u64) {
        let mut all = lock(&self.on_another_stream);
        all.entry(event).or_insert(Recorder::Graph);
        drop(all);
        self.remove(event);
    }

    /// It is recorded in a way that does not say when: only the server knows.
    pub(crate) fn remove(&self, event: u64) {
        lock(&self.marks).remove(&event);
    }

    fn other_recorder(&self, event: u64) -> Option<Recorder> {
        lock(&self.on_another_stream).get(&event).copied()
    }

    /// The answer to a question was that the record at `mark` is complete.
    fn complete(&self, event: u64, mark: &Mark) {
        if let Some(now) = lock(&self.marks).get_mut(&event)
            && now.is(mark)
        {
            now.complete = true;
        }
    }

    /// A context is gone, and its events with it: the server knows which.
    pub(crate) fn forget(&self) {
        lock(&self.marks).clear();
    }
}

fn number(event: CUevent) -> u64 {
    event.addr() as u64
}

/// Other processes record this event too.
pub(crate) fn share(session: &Session, event: CUevent) {
    let events = &session.state.events;
    lock(&events.on_another_stream).insert(number(event), Recorder::Process);
    events.remove(number(event));
}

pub(crate) unsafe fn cuEventCreate(phEvent: *mut CUevent, flags: std::ffi::c_uint) -> Answer {
    // SAFETY: a pointer of the program, passed on.
    check(unsafe { remote::cuEventCreate(phEvent, flags) })?;
    if flags & cuda::CU_EVENT_INTERPROCESS != 0 {
        // SAFETY: the call that succeeded has written there.
        share(session::cuda()?, unsafe { phEvent.read() });
    }
    Ok(())
}

/// An event is recorded by `send`, which leaves one frame, or by a call of `op` with these arguments that is awaited: another
/// process may wait for the event as soon as this one says that it is recorded, and has a connection of its own.
fn record(
    event: CUevent,
    op: OpId,
    write: impl FnMut(&mut Writer),
    send: impl FnOnce() -> CUresult,
) -> Answer {
    let session = session::cuda()?;
    let other = session.state.events.other_recorder(number(event));
    let recorded = match other {
        Some(Recorder::Process) => exchange(session, op, Flags::STRICT, write, |_| Ok(())),
        _ => check(send()),
    };
    // What is recorded in a capture becomes a part of its graph.
    let known = recorded.is_ok()
        && !session.settings.strict
        && !session::thread_is_ending()
        && !session.state.captures.any()
        && other.is_none();
    match known {
        true => {
            let mark = with_lane(session, |lane| Ok(lane.mark()))?;
            session.state.events.set(number(event), mark);
        }
        false => session.state.events.remove(number(event)),
    }
    recorded
}

pub(crate) unsafe fn cuEventRecord(hEvent: CUevent, hStream: CUstream) -> Answer {
    const OP: OpId = op_id("cuEventRecord");
    let write = |w: &mut Writer| {
        w.u64(number(hEvent));
        w.u64(stream(hStream));
    };
    // SAFETY: handles.
    let send = || unsafe { remote::cuEventRecord(hEvent, hStream) };
    record(hEvent, OP, write, send)
}

pub(crate) unsafe fn cuEventRecordWithFlags(
    hEvent: CUevent,
    hStream: CUstream,
    flags: std::ffi::c_uint,
) -> Answer {
    const OP: OpId = op_id("cuEventRecordWithFlags");
    let write = |w: &mut Writer| {
        w.u64(number(hEvent));
        w.u64(stream(hStream));
        w.u32(flags);
    };
    // SAFETY: handles.
    let send = || unsafe { remote::cuEventRecordWithFlags(hEvent, hStream, flags) };
    let recorded = record(hEvent, OP, write, send);
    if flags == cuda::CU_EVENT_RECORD_EXTERNAL
        && let Some(session) = session::current()
        && session.state.captures.any()
    {
        session
            .state
            .events
            .recorded_on_another_stream(number(hEvent));
    }
    recorded
}

pub(crate) unsafe fn cuCtxRecordEvent(hCtx: CUcontext, hEvent: CUevent) -> CUresult {
    if let Some(session) = session::current() {
        session.state.events.remove(number(hEvent));
    }
    // SAFETY: handles.
    unsafe { remote::cuCtxRecordEvent(hCtx, hEvent) }
}

/// Whether the event is known to have happened, and there is no error to report to the program.
///
/// # Errors
///
/// That of an earlier call.
fn has_happened(session: &'static Session, mark: Option<&Mark>) -> Answer<bool> {
    // A question about an event while a stream is captured may end the capture, which is for the
    // driver to say.
    let capturing = session.state.captures.any();
    if capturing || !mark.is_some_and(Mark::is_complete) {
        return Ok(false);
    }
    with_lane(session, |lane| check(lane.take_sticky()))?;
    Ok(true)
}

/// Asks about an event by `ask`, if it is not known.
fn query(event: CUevent, ask: impl FnOnce() -> CUresult, count: impl FnOnce()) -> Answer {
    let session = session::cuda()?;
    let mark = session.state.events.get(number(event));
    if has_happened(session, mark.as_ref())? {
        // What was copied before the event has to be here.
        let copies = &session.state.deferred_copies;
        if mark.is_some_and(|mark| copies.any_until(mark.deferred_copies)) {
            deferred_copies::collect(session)?;
        }
        count();
        managed::after_wait(0, false);
        return Ok(());
    }
    check(ask())?;
    if let Some(mark) = mark {
        session.state.events.complete(number(event), &mark);
    }
    Ok(())
}

pub(crate) unsafe fn cuEventQuery(hEvent: CUevent) -> Answer {
    // SAFETY: a handle.
    let ask = || unsafe { remote::cuEventQuery(hEvent) };
    query(hEvent, ask, || local!("cuEventQuery"))
}

pub(crate) unsafe fn cuEventSynchronize(hEvent: CUevent) -> Answer {
    // SAFETY: a handle.
    let ask = || unsafe { remote::cuEventSynchronize(hEvent) };
    // What kernels printed is due here.
    if session::current().is_some_and(|session| session.prints.load(Ordering::Relaxed)) {
        return check(ask());
    }
    query(hEvent, ask, || local!("cuEventSynchronize"))
}

pub(crate) unsafe fn cuEventDestroy_v2(hEvent: CUevent) -> Answer {
    let events = &session::cuda()?.state.events;
    events.remove(number(hEvent));
    lock(&events.on_another_stream).remove(&number(hEvent));
    // SAFETY: a handle.
    check(unsafe { remote::cuEventDestroy_v2(hEvent) })
}
