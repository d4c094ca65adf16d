//! When the GPU did what a lane's calls gave it to do, for clients that ask for it
//! ([`gtrace_protocol::Flags::WANTS_WORK`]).
//!
//! Events of this module's lie around the work. Nobody waits for them: ended work is collected when a call is
//! answered, and after many that are not. As other queries that no client asks for, these must not disturb (see
//! [`super::watermark`]): none, and no events, while a stream is captured.

// Calls of the driver.
#![allow(unsafe_code)]

use std::ptr::null_mut;

use gtrace_cuda::Kind;
use gtrace_cuda::types::driver::{
    CU_STREAM_NON_BLOCKING, CUDA_ERROR_NOT_READY, CUDA_SUCCESS, CUevent, CUstream,
};
use gtrace_cuda::work::{self, Clock, Context, Driver as _, Handle, Pending};
use gtrace_protocol::{Flags, WorkTimes, Works};

use super::handles::Code;
use super::time;
use crate::exec::Exec;
use crate::generated::driver::Driver;

/// So many calls are timed before it is seen to which have ended, though none was answered: there are not so many events.
const UNSEEN: usize = 1024;

impl work::Driver for Driver {
    fn create_event(&self) -> Option<Handle> {
        let mut event: CUevent = null_mut();
        // SAFETY: a place for the handle.
        let code = unsafe { self.cuEventCreate?(&raw mut event, 0) };
        (code == CUDA_SUCCESS).then_some(event as Handle)
    }

    fn destroy_event(&self, event: Handle) {
        if let Some(destroy) = self.cuEventDestroy_v2 {
            // SAFETY: one of `create_event`, that nobody uses any more.
            unsafe { destroy(event as CUevent) };
        }
    }

    fn create_stream(&self) -> Option<Handle> {
        let mut stream: CUstream = null_mut();
        // SAFETY: a place for the handle.
        let code = unsafe { self.cuStreamCreate?(&raw mut stream, CU_STREAM_NON_BLOCKING) };
        (code == CUDA_SUCCESS).then_some(stream as Handle)
    }

    fn destroy_stream(&self, stream: Handle) {
        if let Some(destroy) = self.cuStreamDestroy_v2 {
            // SAFETY: one of `create_stream`, that nobody uses any more.
            unsafe { destroy(stream as CUstream) };
        }
    }

    fn record(&self, event: Handle, stream: Handle) -> bool {
        let Some(record) = self.cuEventRecord else {
            return false;
        };
        // SAFETY: an event of this module and a stream of the driver; of another context is an error.
        unsafe { record(event as CUevent, stream as CUstream) == CUDA_SUCCESS }
    }

    fn is_done(&self, event: Handle) -> Option<bool> {
        // SAFETY: an event of this module.
        match unsafe { self.cuEventQuery?(event as CUevent) } {
            CUDA_SUCCESS => Some(true),
            CUDA_ERROR_NOT_READY => Some(false),
            _ => None,
        }
    }

    fn nanos(&self, from: Handle, to: Handle) -> Option<f64> {
        let mut milliseconds = 0f32;
        let elapsed = self.cuEventElapsedTime?;
        // SAFETY: a place for the number, and events of this module.
        let code = unsafe { elapsed(&raw mut milliseconds, from as CUevent, to as CUevent) };
        let is_known = code == CUDA_SUCCESS && milliseconds.is_finite();
        is_known.then_some(f64::from(milliseconds) * 1e6)
    }
}

/// CLOCK_MONOTONIC.
#[derive(Clone, Copy)]
struct Monotonic;

impl Clock for Monotonic {
    fn now(self) -> u64 {
        time::now_ns()
    }

    fn nanos(self, counts: u64) -> u64 {
        counts
    }

    fn counts(self, nanos: u64) -> u64 {
        nanos
    }
}

/// An event lies before the work of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Begun {
    context: Handle,
    stream: Handle,
    event: Handle,
    /// When it was recorded, ns.
    given_ns: u64,
}

/// The call that gave work.
#[derive(Clone, Copy, Debug)]
struct Asked {
    seq: u64,
    /// The event behind the work was recorded after this, when it was already done.
    done_ns: u64,
}

/// Work of a lane.
#[derive(Debug, Default)]
pub(crate) struct Work {
    contexts: Vec<Context<Asked>>,
    /// Before the call that is executed, or the copy of which further pieces follow.
    begun: Option<Begun>,
    /// Contexts that had ended when there were none here.
    contexts_ended: u64,
    finished: Vec<WorkTimes>,
    /// Calls since it was seen to which have ended.
    unseen: usize,
}

impl Work {
    /// The call of `exec`'s frame is about to be made.
    pub(crate) fn before(&mut self, exec: &mut Exec) {
        let stream = exec.request.work_stream();
        let context = Handle::from(exec.request.context);
        let real = exec.handles.real(Kind::Stream, stream);
        let (Ok(stream), Ok(())) = (real, exec.enter()) else {
            return;
        };
        let stream = stream as Handle;
        let goes_on = |begun: &Begun| (begun.context, begun.stream) == (context, stream);
        if self.begun.as_ref().is_some_and(goes_on) {
            return;
        }
        self.abandon();
        if exec.session.event_lifetime.is_capturing() {
            return;
        }
        self.unseen += 1;
        if self.unseen > UNSEEN {
            self.collect(exec);
        }
        self.forget_ended(exec);
        let Some(event) = self.event(exec.driver, context) else {
            return;
        };
        let begun = Begun {
            context,
            stream,
            event,
            given_ns: time::now_ns(),
        };
        self.begun = Some(begun);
        if !exec.driver.record(event, stream) {
            self.abandon();
        }
    }

    /// The call was made.
    pub(crate) fn behind(&mut self, exec: &Exec, code: Code) {
        if code == 0 && exec.request.flags.has(Flags::MORE) {
            return;
        }
        let Some(begun) = self.begun else { return };
        if code != 0 || exec.session.event_lifetime.is_capturing() {
            return self.abandon();
        }
        let Some(ended) = self.event(exec.driver, begun.context) else {
            return self.abandon();
        };
        if !exec.driver.record(ended, begun.stream) {
            self.give_back(begun.context, &[ended]);
            return self.abandon();
        }
        self.begun = None;
        let pending = Pending {
            begun: begun.event,
            ended,
            given: begun.given_ns,
            of: Asked {
                seq: exec.request.seq,
                done_ns: match exec.replied {
                    true => exec.done_ns,
                    false => u64::MAX,
                },
            },
        };
        if let Some(context) = self.context(begun.context) {
            context.push(begun.stream, pending);
        }
    }

    /// What has ended since this was asked last, at most so much of it.
    pub(crate) fn ended(&mut self, exec: &Exec, most: usize) -> Option<Works> {
        self.collect(exec);
        let most = self.finished.len().min(most);
        (most > 0).then(|| Works(self.finished.drain(..most).collect()))
    }

    /// Collects the part of the work that has ended, unless more waits to be sent than a client remembers.
    pub(crate) fn collect(&mut self, exec: &Exec) {
        self.unseen = 0;
        if self.contexts.is_empty() || self.finished.len() >= Works::MOST {
            return;
        }
        let _reading = exec.session.event_lifetime.reading();
        self.forget_ended(exec);
        if exec.session.event_lifetime.is_capturing() {
            return;
        }
        let Self {
            contexts, finished, ..
        } = self;
        for context in contexts {
            let mut queues = context.take();
            let between = (&mut context.anchor, &mut queues[..]);
            let free = work::ended(exec.driver, Monotonic, between, |asked: Asked, span| {
                finished.push(WorkTimes {
                    seq: asked.seq,
                    begun_ns: span.start,
                    ended_ns: span.end.min(asked.done_ns).max(span.start),
                    off_ns: time::short(span.off_ns),
                });
            });
            context.put_back(queues);
            context.give_back(&free);
        }
    }

    /// The lane has ended.
    pub(crate) fn end(&mut self, exec: &Exec) {
        let _reading = exec.session.event_lifetime.reading();
        self.abandon();
        self.forget_ended(exec);
        self.contexts
            .drain(..)
            .for_each(|context| context.end(exec.driver));
    }

    /// Events end with their context. Where it is not known which has ended, they all may have.
    fn forget_ended(&mut self, exec: &Exec) {
        let lifetime = &exec.session.event_lifetime;
        let ended = lifetime.contexts_ended();
        if self.contexts_ended == ended {
            return;
        }
        let which = lifetime.ended_since(self.contexts_ended);
        self.contexts_ended = ended;
        let lives = |context: Handle| {
            let which = which.as_deref();
            which.is_some_and(|ended| ended.iter().all(|one| Handle::from(*one) != context))
        };
        self.contexts.retain(|context| lives(context.handle));
        self.begun = self.begun.filter(|begun| lives(begun.context));
    }

    fn context(&mut self, handle: Handle) -> Option<&mut Context<Asked>> {
        self.contexts
            .iter_mut()
            .find(|context| context.handle == handle)
    }

    fn give_back(&mut self, context: Handle, events: &[Handle]) {
        if let Some(context) = self.context(context) {
            context.give_back(events);
        }
    }

    /// What was begun is not timed.
    fn abandon(&mut self) {
        if let Some(begun) = self.begun.take() {
            self.give_back(begun.context, &[begun.event]);
        }
    }

    /// An event of the current context, `handle`.
    fn event(&mut self, driver: &Driver, handle: Handle) -> Option<Handle> {
        if self.context(handle).is_none() {
            // Events of contexts are distinguished by these; which device it is does not matter.
            self.contexts.push(Context::new(driver, handle, 0)?);
        }
        let context = self.context(handle)?;
        match context.event() {
            Ok(event) => Some(event),
            // Too much has not ended.
            Err(false) => None,
            Err(true) => {
                let made = driver.create_event();
                if made.is_none() {
                    context.not_made();
                }
                made
            }
        }
    }
}
