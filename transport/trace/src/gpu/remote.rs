//! The same where the GPU is in another machine: its server times the work, as each question of this library would cost
//! a round trip. What it has found comes with the answers to the program's own calls.

// Functions of the driver's library, by address.
#![allow(unsafe_code)]

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::mem::transmute;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use gtrace_cuda::work::Span;
use gtrace_recording::Recorder;

use super::Submitted;
use crate::lock::Lock;
use crate::report::say;
use crate::server::FinalReport;
use crate::{session, target, threads};

/// `gtrace_shim_time_work` of the client's library (transport/shim/src/times.rs).
type TimeWork = extern "C" fn(u64, u64) -> bool;
/// `gtrace_shim_work` of the same.
type TakeWork = unsafe extern "C" fn(*mut Reported, u64) -> u64;
/// `gtrace_shim_work_at_exit` of the same.
type WorkAtExit = extern "C" fn(unsafe extern "C" fn(*const Reported, u64, u64));

/// What the GPU did for a call, as the client's library reports it.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Reported {
    token: u64,
    begun_ago: u64,
    ended_ago: u64,
    off_ns: u64,
}

/// How many are taken at once.
const AT_ONCE: usize = 32;
/// Calls of a thread whose work is not reported yet; of older ones it is not known any more which they were.
const MOST: usize = 1 << 14;

/// The number of the process's last call whose work is timed.
static LAST: AtomicU64 = AtomicU64::new(0);

/// A thread's calls: their numbers, which ascend, and what is known of them.
type Calls = Lock<VecDeque<(u64, Submitted)>>;

/// Those of all threads.
static ALL: Lock<Vec<Arc<Calls>>> = Lock::new(Vec::new());

thread_local! {
    static SUBMITTED: OnceCell<Own> = const { OnceCell::new() };
}

/// A thread's own; others find them while it lives.
struct Own(Arc<Calls>);

impl Own {
    fn new() -> Self {
        let calls = Arc::new(Lock::new(VecDeque::new()));
        ALL.with(|all| all.push(Arc::clone(&calls)));
        Self(calls)
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // Freed once the lock is given back.
        drop(ALL.with(|all| {
            let at = all.iter().position(|calls| Arc::ptr_eq(calls, &self.0));
            at.map(|at| all.swap_remove(at))
        }));
    }
}

/// Takes the call of this number out of `calls`, if it is there.
fn take(calls: &Calls, token: u64) -> Option<Submitted> {
    calls.with(|calls| {
        let at = calls.binary_search_by_key(&token, |(token, _)| *token);
        let (_, submitted) = at.ok().and_then(|at| calls.remove(at))?;
        Some(submitted)
    })
}

/// At the process's end: records the work of threads that are still there. `now` is when it was reported, in ticks.
///
/// # Safety
///
/// `works` are so many.
unsafe extern "C" fn take_at_exit(works: *const Reported, count: u64, now: u64) {
    let _ = catch_unwind(|| {
        // SAFETY: the caller's promise.
        let works = unsafe { std::slice::from_raw_parts(works, count as usize) };
        let Some((recorder, way)) = threads::recorder() else {
            return;
        };
        let all = ALL.with(|all| all.clone());
        for reported in works {
            if let Some(submitted) = all.iter().find_map(|calls| take(calls, reported.token)) {
                reported.record(recorder, submitted, now);
            }
        }
        if way == threads::Way::Borrowed {
            threads::give_back(recorder);
        }
    });
}

impl Reported {
    /// Records that this was what the GPU did for a call; reported at `now`, in ticks.
    fn record(&self, recorder: &Recorder, submitted: Submitted, now: u64) {
        let scale = session::variables().scale;
        let at = |ago| now.saturating_sub(scale.ticks_of(ago));
        recorder.work(&submitted.work(Span {
            start: at(self.begun_ago),
            end: at(self.ended_ago),
            off_ns: self.off_ns,
        }));
    }
}

/// The client's library.
pub(super) struct Client {
    time: TimeWork,
    take: TakeWork,
}

impl Client {
    /// If the GPU is remote. An earlier version of the library does not know how.
    pub(super) fn get() -> Option<&'static Self> {
        static CLIENT: OnceLock<Option<Client>> = OnceLock::new();
        let client = CLIENT.get_or_init(|| {
            let time = target::symbol(c"gtrace_shim_time_work")?;
            let take = target::symbol(c"gtrace_shim_work")?;
            if let Some(at_exit) = target::symbol(c"gtrace_shim_work_at_exit") {
                // SAFETY: the function of this name is of this type.
                let at_exit = unsafe { transmute::<*mut c_void, WorkAtExit>(at_exit) };
                at_exit(take_at_exit);
            }
            // SAFETY: the functions of these names are of these types.
            unsafe {
                Some(Client {
                    time: transmute::<*mut c_void, TimeWork>(time),
                    take: transmute::<*mut c_void, TakeWork>(take),
                })
            }
        });
        client.as_ref()
    }

    /// What the thread's call gives `stream` to do is to be timed. The call's number; none if the server does not time
    /// work, which is said once.
    pub(super) fn begin(&self, stream: u64) -> Option<u64> {
        let token = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        if (self.time)(stream, token) {
            return Some(token);
        }
        static WARNED: OnceLock<()> = OnceLock::new();
        WARNED.get_or_init(|| {
            say(
                "--gpu-time: the server does not time work on its GPU: it is of an earlier version",
            );
        });
        None
    }

    /// The call was made: with success if there is something to report it.
    pub(super) fn end(&self, token: u64, submitted: Option<&Submitted>) {
        (self.time)(0, 0);
        FinalReport::prepare();
        let Some(submitted) = submitted else { return };
        let _ = SUBMITTED.try_with(|own| {
            own.get_or_init(Own::new).0.with(|calls| {
                if calls.len() == MOST {
                    calls.pop_front();
                }
                calls.push_back((token, *submitted));
            });
        });
    }

    /// Reports what has become known of this thread's work.
    pub(super) fn report(&self, recorder: &Recorder) {
        let scale = session::variables().scale;
        let mut works = [Reported::default(); AT_ONCE];
        loop {
            // Before the client's clock is read, so that nothing comes to lie behind now.
            let now = scale.ticks();
            // SAFETY: a place for so many.
            let count = unsafe { (self.take)(works.as_mut_ptr(), AT_ONCE as u64) } as usize;
            for reported in works.iter().take(count) {
                let found = SUBMITTED.try_with(|own| take(&own.get()?.0, reported.token));
                if let Ok(Some(submitted)) = found {
                    reported.record(recorder, submitted, now);
                }
            }
            if count < AT_ONCE {
                return;
            }
        }
    }
}

/// What is kept for the calling thread is there from now on.
pub(super) fn use_thread() {
    let _ = SUBMITTED.try_with(|_| ());
}

/// The child of fork(2) has none of its parent's calls. Not dropped: the parent's allocator may have been in use by a
/// thread that is not here.
pub(super) fn in_child() {
    ALL.open_in_child();
    ALL.with(|all| std::mem::forget(std::mem::take(all)));
    let _ = SUBMITTED.try_with(|own| {
        if let Some(Own(calls)) = own.get() {
            calls.open_in_child();
            calls.with(|calls| std::mem::forget(std::mem::take(calls)));
        }
    });
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use gtrace_recording::Details;

    use super::*;

    #[test]
    fn a_call_of_another_thread_is_found_once_and_while_that_thread_lives() {
        let call = Submitted {
            function: 3,
            start: 5,
            thread: 7,
            details: Details::default(),
        };
        let found = |token| {
            let all = ALL.with(|all| all.clone());
            let found = all.iter().find_map(|calls| take(calls, token));
            found.map(|call| call.thread)
        };
        let (begun, is_begun) = mpsc::channel();
        let (end, is_ended) = mpsc::channel::<()>();
        let other = thread::spawn(move || {
            SUBMITTED.with(|own| {
                let Own(calls) = own.get_or_init(Own::new);
                calls.with(|calls| calls.extend([(u64::MAX - 1, call), (u64::MAX, call)]));
            });
            begun.send(()).unwrap();
            let _ = is_ended.recv();
        });
        is_begun.recv().unwrap();
        assert_eq!(found(u64::MAX - 1), Some(7));
        assert_eq!(found(u64::MAX - 1), None);
        drop(end);
        other.join().unwrap();
        assert_eq!(found(u64::MAX), None);
    }
}
