//! The same where the GPU is in another machine: its server times the work, as each question of this library would cost
//! a round trip. What it has found comes with the answers to the program's own calls.

// Functions of the driver's library, by address.
#![allow(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::mem::transmute;
use std::sync::OnceLock;

use gtrace_cuda::work::Span;
use gtrace_recording::Recorder;

use super::Submitted;
use crate::report::say;
use crate::server::FinalReport;
use crate::{session, target};

/// `gtrace_shim_time_work` of the client's library (transport/shim/src/times.rs).
type TimeWork = extern "C" fn(u64, u64) -> bool;
/// `gtrace_shim_work` of the same.
type TakeWork = unsafe extern "C" fn(*mut Reported, u64) -> u64;

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

thread_local! {
    /// The calls' numbers, which ascend, and what is known of them.
    static SUBMITTED: RefCell<VecDeque<(u64, Submitted)>> = const { RefCell::new(VecDeque::new()) };
    static LAST: Cell<u64> = const { Cell::new(0) };
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
            // SAFETY: the functions of these names are of these types.
            unsafe {
                Some(Client {
                    time: transmute::<*mut std::ffi::c_void, TimeWork>(time),
                    take: transmute::<*mut std::ffi::c_void, TakeWork>(take),
                })
            }
        });
        client.as_ref()
    }

    /// What the thread's call gives `stream` to do is to be timed. The call's number; none if the server does not time
    /// work, which is said once.
    pub(super) fn begin(&self, stream: u64) -> Option<u64> {
        let token = LAST.get() + 1;
        LAST.set(token);
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
        let _ = SUBMITTED.try_with(|all| {
            let mut all = all.borrow_mut();
            if all.len() == MOST {
                all.pop_front();
            }
            all.push_back((token, *submitted));
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
            let at = |ago| now.saturating_sub(scale.ticks_of(ago));
            for reported in works.iter().take(count) {
                let found = SUBMITTED.try_with(|all| {
                    let mut all = all.borrow_mut();
                    let at = all.binary_search_by_key(&reported.token, |(token, _)| *token);
                    at.ok().and_then(|at| all.remove(at))
                });
                if let Ok(Some((_, submitted))) = found {
                    recorder.work(&submitted.work(Span {
                        start: at(reported.begun_ago),
                        end: at(reported.ended_ago),
                        off_ns: reported.off_ns,
                    }));
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
    let _ = SUBMITTED.try_with(|all| {
        if let Ok(mut all) = all.try_borrow_mut() {
            std::mem::forget(std::mem::take(&mut *all));
        }
    });
}
