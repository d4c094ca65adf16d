//! Objects of the program that what was instantiated has held. They end behind its last launch, for which a thread waits, and
//! nobody who destroys or changes it.

// Asks about events.
#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use gtrace_cuda::types::driver::{self as cuda, CUresult};

use super::Held;
use super::exec::Launched;
use crate::context::{self, Current};
use crate::entry::{Answer, check, holding_back};
use crate::generated::driver::remote;
use crate::session::Session;
use crate::state::lock;
use crate::{background, capture};

/// What waits for a launch.
struct Leaving {
    last: Launched,
    held: Option<Arc<Held>>,
    /// What was launched is gone, and its event ends too.
    ends: bool,
}

#[derive(Default)]
struct State {
    /// In the order in which they came: one that ends an event comes behind all that wait for it.
    queue: VecDeque<Leaving>,
    /// What the thread waits for, which is not in the queue any more, unless its context has ended.
    current: Option<Launched>,
}

/// See the module.
#[derive(Default)]
pub(super) struct Leavers {
    state: Mutex<State>,
    changed: Condvar,
    started: AtomicBool,
}

impl Leavers {
    /// Whether anything waits for a launch.
    fn awaits(&self, launch: Launched) -> bool {
        let state = lock(&self.state);
        let mut queued = state.queue.iter().map(|leaving| leaving.last);
        let is_it = |own: Launched| own.event() == launch.event();
        state.current.is_some_and(is_it) || queued.any(is_it)
    }

    fn add(&self, leaving: Leaving) {
        lock(&self.state).queue.push_back(leaving);
        self.changed.notify_one();
    }

    /// Waits for the next one.
    fn next(&self) -> Leaving {
        let mut state = lock(&self.state);
        loop {
            if let Some(next) = state.queue.pop_front() {
                state.current = Some(next.last);
                return next;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The launches of a context are over, and their events are gone with it.
    pub(super) fn forget_context(&self, context: u64) {
        let mut state = lock(&self.state);
        state.current = state.current.filter(|last| last.context != context);
        let (gone, rest): (Vec<_>, Vec<_>) = state
            .queue
            .drain(..)
            .partition(|leaving| leaving.last.context == context);
        state.queue.extend(rest);
        drop(state);
        // Out of the lock: functions of the program end its objects.
        drop(gone);
    }
}

/// What is in `held` is not needed any more once the launch `last` is through. If `ends`, its event is not either.
pub(super) fn leave(
    session: &'static Session,
    last: Option<Launched>,
    held: Option<Arc<Held>>,
    ends: bool,
) {
    let Some(last) = last else {
        return;
    };
    let held = held.filter(|held| !held.objects.is_empty());
    if held.is_none() && !ends {
        return;
    }
    let leavers = &session.state.graphs.leavers;
    if leavers.awaits(last) || (held.is_some() && !is_through(session, last)) {
        leavers.add(Leaving { last, held, ends });
        start(session);
    } else if ends {
        last.end(session);
    }
}

/// Whether a launch is. If its context has ended it is.
fn is_through(session: &'static Session, last: Launched) -> bool {
    // SAFETY: a handle.
    let asked = ask(session, last, || unsafe {
        remote::cuEventQuery(last.event())
    });
    asked != Err(cuda::CUDA_ERROR_NOT_READY)
}

/// Asks about the event of a launch by `call`, in its context.
fn ask(session: &'static Session, last: Launched, call: impl FnOnce() -> CUresult) -> Answer {
    let known = lock(&session.state.contexts).get(last.context);
    let context = Current {
        handle: last.context,
        device: known.ok_or(cuda::CUDA_ERROR_INVALID_CONTEXT)?.device,
    };
    holding_back(session, || {
        capture::relaxed(session, || context::within(context, || check(call())))
    })
}

/// Starts the thread, if it was not. Without one they leave with a later one, or never.
fn start(session: &'static Session) {
    let started = &session.state.graphs.leavers.started;
    if started.swap(true, Ordering::AcqRel) {
        return;
    }
    let what = "objects that graphs have held, so that these stay";
    if !background::start(session, "gtrace-objects", what, move || run(session)) {
        started.store(false, Ordering::Release);
    }
}

fn run(session: &'static Session) {
    let leavers = &session.state.graphs.leavers;
    // Where it fails so does what follows.
    let _ = capture::set_relaxed();
    loop {
        let Leaving { last, held, ends } = leavers.next();
        // SAFETY: a handle.
        let _ = ask(session, last, || unsafe {
            remote::cuEventSynchronize(last.event())
        });
        let mut state = lock(&leavers.state);
        if state.current.take().is_some() && ends {
            last.end(session);
        }
        drop(state);
        drop(held);
    }
}

#[cfg(test)]
mod tests {
    use super::super::exec::launched_in;
    use super::*;

    #[test]
    fn what_waits_for_a_context_that_ends_waits_no_more() {
        let leavers = Leavers::default();
        let add = |context| {
            leavers.add(Leaving {
                last: launched_in(context),
                held: None,
                ends: true,
            });
        };
        let awaited = |context| leavers.awaits(launched_in(context));
        add(16);
        add(32);
        assert!(awaited(16) && awaited(32));
        assert!(!awaited(48), "a launch waits for no other");
        assert_eq!(leavers.next().last.context, 16);
        assert!(awaited(16));
        leavers.forget_context(16);
        assert!(!awaited(16));
        assert_eq!(leavers.next().last.context, 32);
        add(48);
        assert!(awaited(48));
        leavers.forget_context(48);
        assert!(awaited(32) && !awaited(48));
    }
}
