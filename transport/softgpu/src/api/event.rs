//! Events.

use std::ffi::c_uint;
use std::sync::Arc;

use crate::abi::{Answer, Out, api};
use crate::command::Command;
use crate::context::{Context, current};
use crate::error::{INVALID_HANDLE, INVALID_VALUE, NOT_READY, fail_if};
use crate::event::{EVENTS, Event};
use crate::graph::capture;
use crate::graph::work::{Work, captured};
use crate::stream::resolve;
use crate::types::Handle;

pub(super) const KIND: u8 = 3;
/// Blocking wait, no timing, between processes.
const FLAGS: c_uint = 7;
/// Between processes, which has no timing.
const DISABLE_TIMING: c_uint = 2;
const INTERPROCESS: c_uint = 4;

/// Records an event; `external`: as a node, if the stream captures.
pub(crate) fn record(event: Handle, stream: Handle, external: bool) -> Answer {
    let handle = event;
    let (context, stream) = resolve(stream)?;
    let event = Event::of(event)?;
    fail_if(event.context != context.handle, INVALID_HANDLE)?;
    if external
        && captured(&stream, || {
            Ok(Work::RecordEvent(handle, Arc::clone(&event)))
        })?
    {
        return Ok(());
    }
    capture::refuse_implicit(&stream)?;
    if capture::record_event(&stream, &event)? {
        return Ok(());
    }
    let issued = event.issue();
    stream.submit(&context, Command::Record(event, issued))
}

/// Questions about events are for other streams than capturing ones.
fn refuse(event: &Event) -> Answer {
    capture::refuse_captured(event)?;
    capture::refuse_unsafe()
}

/// The error of the event's context, which queries and waits report.
fn health(event: &Event) -> Answer {
    Context::of(event.context)?.health.check()
}

api! { TABLE:
    /// Creates an event.
    fn cuEventCreate(event: Out<Handle>, flags: c_uint) {
        let context = current()?;
        fail_if(event.is_null() || flags & !FLAGS != 0, INVALID_VALUE)?;
        fail_if(flags & (INTERPROCESS | DISABLE_TIMING) == INTERPROCESS, INVALID_VALUE)?;
        let made = match flags & INTERPROCESS {
            0 => Event::new(context.handle, flags),
            _ => Event::shared(context.handle, flags)?,
        };
        event.put(EVENTS.add(KIND, made))
    }

    /// Destroys an event; records that are under way complete unseen.
    fn cuEventDestroy_v2(event: Handle) {
        crate::state::state()?;
        EVENTS.remove(event).map(|_| ()).ok_or(INVALID_HANDLE)
    }

    /// Records an event in a stream.
    fn cuEventRecord, cuEventRecord_ptsz [stream] (event: Handle, stream: Handle) {
        record(event, stream, false)
    }

    /// Records an event in a stream; with the flag for it (1), a capture has a node for it.
    fn cuEventRecordWithFlags, cuEventRecordWithFlags_ptsz [stream] (
        event: Handle, stream: Handle, flags: c_uint,
    ) {
        fail_if(flags > 1, INVALID_VALUE)?;
        record(event, stream, flags == 1)
    }

    /// Whether the latest record is complete: success or `CUDA_ERROR_NOT_READY`.
    fn cuEventQuery(event: Handle) {
        let event = Event::of(event)?;
        refuse(&event)?;
        health(&event)?;
        fail_if(!event.is_complete(), NOT_READY)
    }

    /// Waits for the latest record.
    fn cuEventSynchronize(event: Handle) {
        let event = Event::of(event)?;
        refuse(&event)?;
        event.latest().wait();
        if let Ok(context) = Context::of(event.context) {
            context.printed.flush();
        }
        health(&event)
    }

    /// Milliseconds between the latest records of two events.
    fn cuEventElapsedTime = cuEventElapsedTime_v2(milliseconds: Out<f32>, start: Handle, end: Handle) {
        let (start, end) = (Event::of(start)?, Event::of(end)?);
        fail_if(milliseconds.is_null(), INVALID_VALUE)?;
        health(&end)?;
        milliseconds.put(start.milliseconds_to(&end)?)
    }
}
