//! Functions of the client that run when a stream gets there: the stream waits here until the
//! client says that its function has returned.

use std::collections::{HashSet, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gtrace_cuda::payload::HostReached;

/// Between checks whether the session ends.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Most of what is kept until the client asks for it: far more than any program has under way, as it waits for ever for a
/// function that is not reported to it.
const REACHED_MAX: usize = 1 << 20;

#[derive(Default)]
struct State {
    reached: VecDeque<HostReached>,
    /// Calls so far.
    calls: u64,
    waiting: HashSet<u64>,
    ended: bool,
}

/// The functions of a session.
#[derive(Default)]
pub(crate) struct Hosts {
    state: Mutex<State>,
    changed: Condvar,
}

impl Hosts {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        match self.changed.wait_timeout(state, POLL_INTERVAL) {
            Ok((state, _)) => state,
            Err(poisoned) => poisoned.into_inner().0,
        }
    }

    /// A stream has reached the function `ticket`; returns when the client's function has, or when
    /// the session ends. Called by the driver's thread.
    pub(crate) fn reached(&self, ticket: u64, status: u32) {
        let mut state = self.lock();
        if state.ended {
            return;
        }
        state.calls += 1;
        let call = state.calls;
        state.waiting.insert(call);
        state.reached.push_back(HostReached {
            ticket,
            call,
            status,
        });
        self.changed.notify_all();
        while state.waiting.contains(&call) && !state.ended {
            state = self.wait(state);
        }
    }

    /// The function `ticket` was not put into its stream, or what was instantiated by that handle was not launched: the client
    /// need not wait for what it calls.
    pub(crate) fn failed(&self, ticket: u64, status: u32) {
        let mut state = self.lock();
        if state.reached.len() < REACHED_MAX {
            state.reached.push_back(HostReached {
                ticket,
                call: HostReached::NEVER,
                status,
            });
            self.changed.notify_all();
        }
    }

    /// The next function that a stream has reached; `None` when the session ends, or when `gone`
    /// says that nobody waits any more.
    pub(crate) fn next(&self, mut gone: impl FnMut() -> bool) -> Option<HostReached> {
        let mut state = self.lock();
        loop {
            if let Some(reached) = state.reached.pop_front() {
                return Some(reached);
            }
            if state.ended || gone() {
                return None;
            }
            state = self.wait(state);
        }
    }

    /// The client's function has returned.
    pub(crate) fn done(&self, call: u64) {
        self.lock().waiting.remove(&call);
        self.changed.notify_all();
    }

    /// Nobody answers any more.
    pub(crate) fn end(&self) {
        self.lock().ended = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_stream_waits_until_the_client_is_done() {
        let hosts = Arc::new(Hosts::default());
        let stream = std::thread::spawn({
            let hosts = Arc::clone(&hosts);
            move || hosts.reached(5, 0)
        });
        let reached = hosts.next(|| false).unwrap();
        assert_eq!(reached.ticket, 5);
        assert!(!stream.is_finished());
        hosts.done(reached.call);
        stream.join().unwrap();
    }

    #[test]
    fn the_client_hears_of_a_function_that_no_stream_will_reach() {
        let hosts = Hosts::default();
        hosts.failed(7, 400);
        let never = hosts.next(|| true).unwrap();
        assert_eq!((never.ticket, never.call, never.status), (7, 0, 400));
        assert!(hosts.next(|| true).is_none());
        for ticket in 0..=REACHED_MAX as u64 {
            hosts.failed(ticket, 400);
        }
        assert_eq!(hosts.lock().reached.len(), REACHED_MAX);
    }

    #[test]
    fn the_end_lets_everybody_go() {
        let hosts = Arc::new(Hosts::default());
        let stream = std::thread::spawn({
            let hosts = Arc::clone(&hosts);
            move || hosts.reached(5, 0)
        });
        while hosts.lock().waiting.is_empty() {
            std::thread::yield_now();
        }
        hosts.end();
        stream.join().unwrap();
        assert_eq!(hosts.next(|| false).map(|r| r.ticket), Some(5));
        assert!(hosts.next(|| false).is_none());
    }
}
