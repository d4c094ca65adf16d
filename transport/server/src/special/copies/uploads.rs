//! Bytes of asynchronous uploads that the driver may still read.
//!
//! What `cuMemcpyHtoDAsync` takes from pageable memory it may have copied when it returns, and need not: where the GPU
//! reaches pageable memory itself (HMM, ATS) it reads the bytes when the stream comes to them. So no call is given bytes of a
//! link's ring, or of a buffer that is used again, unless the stream is waited for. Short pieces are copied to memory of
//! their own, which is used again once an event behind the copy is complete; long ones are waited for.

#![allow(unsafe_code)]

use std::collections::VecDeque;

use gtrace_cuda::types::driver::{
    CU_EVENT_DISABLE_TIMING, CUDA_ERROR_NOT_READY, CUevent, CUstream,
};

use super::{Lender, NOT_SUPPORTED, checked};
use crate::exec::Code;
use crate::generated::driver::Driver;

/// Longest piece that is copied rather than waited for, bytes.
pub(crate) const SHORT: usize = 64 << 10;
/// Most bytes that a lane has on their way so; beyond, it waits.
const MOST: usize = 4 << 20;
/// Most pieces on their way, each of which has an event.
const PIECES_MOST: usize = 1024;
/// Buffers that are kept for later.
const SPARE: usize = 64;

/// A piece that the driver may still read.
struct Flying {
    bytes: Vec<u8>,
    /// Recorded behind it.
    event: Event,
}

/// An event of a context, as frames name it.
#[derive(Clone, Copy)]
struct Event {
    of: u32,
    event: CUevent,
}

/// The pieces of one lane.
#[derive(Default)]
pub(crate) struct Uploads {
    /// In the order in which they were given to the driver.
    flying: VecDeque<Flying>,
    /// Bytes of these.
    in_flight: usize,
    spare: Vec<Vec<u8>>,
    events: Vec<Event>,
    /// How many contexts had ended when the first of these was made.
    ended: u64,
    /// Pieces of which it cannot be known any more whether they were read.
    lost: usize,
}

// SAFETY: events may be used by any thread (CUDA driver API, "Event Management"), and these are this value's alone.
unsafe impl Send for Uploads {}

impl Uploads {
    /// Copies `from` to the device in `stream` of `context`; the bytes may be changed on return.
    pub(super) fn send(
        &mut self,
        lender: Lender<'_>,
        context: u32,
        to: u64,
        from: &[u8],
        stream: CUstream,
    ) -> Result<(), Code> {
        let copy = lender.driver.cuMemcpyHtoDAsync_v2.ok_or(NOT_SUPPORTED)?;
        self.reap(lender);
        let is_room =
            self.lost + self.in_flight + from.len() <= MOST && self.flying.len() < PIECES_MOST;
        if from.len() > SHORT || !is_room {
            let lent = lender.lend(stream)?;
            // SAFETY: `from` stays as it is until the stream has been waited for.
            checked(unsafe { copy(to, from.as_ptr().cast(), from.len(), stream) })?;
            drop(lent);
            return lender.synchronise(stream);
        }
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.clear();
        bytes.extend_from_slice(from);
        let event = self.event(lender.driver, context);
        let lent = lender.lend(stream);
        let copied = lent.and_then(|lent| {
            // SAFETY: `bytes` stays where it is, unchanged, until the event behind the copy is complete, or the stream has
            // been waited for.
            checked(unsafe { copy(to, bytes.as_ptr().cast(), bytes.len(), stream) })?;
            Ok(lent)
        });
        let lent = match copied {
            Ok(lent) => lent,
            Err(error) => {
                self.events.extend(event);
                self.keep(bytes);
                return Err(error);
            }
        };
        // SAFETY: an event of this lane and a stream of the client, both of the current context.
        let record = |call: unsafe extern "C" fn(CUevent, CUstream) -> u32, event| unsafe {
            call(event, stream)
        };
        let recorded = match (lender.driver.cuEventRecord, event) {
            (Some(call), Some(Event { event, .. })) => record(call, event) == 0,
            _ => false,
        };
        drop(lent);
        match event {
            Some(event) if recorded => {
                self.in_flight += bytes.len();
                self.flying.push_back(Flying { bytes, event });
                Ok(())
            }
            _ => {
                let waited = lender.synchronise(stream);
                if waited.is_err() {
                    // The driver may still have it.
                    self.lost += bytes.capacity();
                    std::mem::forget(bytes);
                } else {
                    self.keep(bytes);
                }
                waited
            }
        }
    }

    fn keep(&mut self, bytes: Vec<u8>) {
        if self.spare.len() < SPARE {
            self.spare.push(bytes);
        }
    }

    fn event(&mut self, driver: &Driver, of: u32) -> Option<Event> {
        if let Some(at) = self.events.iter().position(|event| event.of == of) {
            return Some(self.events.swap_remove(at));
        }
        let mut event: CUevent = std::ptr::null_mut();
        // SAFETY: a pointer to write to.
        let made = unsafe { driver.cuEventCreate?(&raw mut event, CU_EVENT_DISABLE_TIMING) };
        (made == 0).then_some(Event { of, event })
    }

    /// Takes back what the driver is done with.
    fn reap(&mut self, lender: Lender<'_>) {
        let lifetime = lender.event_lifetime;
        let _all_are_alive = lifetime.reading();
        let ended = lifetime.contexts_ended();
        if self.ended != ended {
            // Which events went with a context that has ended is not known, and asking about one that did is not safe.
            for flying in self.flying.drain(..) {
                self.lost += flying.bytes.capacity();
                std::mem::forget(flying.bytes);
            }
            self.in_flight = 0;
            self.events.clear();
            self.ended = ended;
        }
        // While a stream is captured an event's query could end the capture.
        if lifetime.is_capturing() {
            return;
        }
        let Some(query) = lender.driver.cuEventQuery else {
            return;
        };
        while let Some(oldest) = self.flying.front() {
            // SAFETY: an event of this lane whose context has not ended.
            if unsafe { query(oldest.event.event) } == CUDA_ERROR_NOT_READY {
                break;
            }
            if let Some(Flying { bytes, event }) = self.flying.pop_front() {
                self.in_flight -= bytes.len();
                self.events.push(event);
                self.keep(bytes);
            }
        }
    }
}

impl Drop for Uploads {
    fn drop(&mut self) {
        // What the device may still read is left to the end of the process.
        for flying in self.flying.drain(..) {
            std::mem::forget(flying.bytes);
        }
    }
}
