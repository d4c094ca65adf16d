//! A thread that sends what one-way calls left lying, some 100 us later at most. It sleeps while
//! there is nothing.

// futex(2) and prctl(2).
#![allow(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use gtrace_link::without_signals;

use crate::lane::Outgoing;
use crate::{background, log};

/// Between two checks while calls come.
const PERIOD: Duration = Duration::from_micros(60);
/// Checks without work before it sleeps.
const PATIENCE: u32 = 32;

/// Between two polls of completions.
const POLL_COMPLETIONS: Duration = Duration::from_millis(250);

const ASLEEP: u32 = 0;
const AWAKE: u32 = 1;

/// What the thread flushes and polls.
pub(crate) trait Flush {
    /// Sends what lies somewhere; true if something did. `all` is scratch memory.
    fn flush(&self, all: &mut Vec<Arc<Outgoing>>) -> bool;
    /// Whether completions must be polled, since a device has what was sent.
    fn needs_polling(&self) -> bool;
    /// Polls completions of what was sent.
    fn poll_completions(&self);
    /// Nothing is flushed any more, and why.
    fn fail(&self, why: &str);
}

/// The bell of the thread.
#[derive(Debug, Default)]
pub(crate) struct Flusher {
    state: AtomicU32,
}

impl Flusher {
    /// Says that something lies unsent. Costs a load while the thread is awake.
    #[inline]
    pub(crate) fn arm(&self) {
        if self.state.load(Ordering::Relaxed) == ASLEEP {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        if self.state.swap(AWAKE, Ordering::AcqRel) == ASLEEP {
            // SAFETY: wakes at most one waiter on a word that outlives the call.
            unsafe {
                libc::syscall(
                    libc::SYS_futex,
                    self.state.as_ptr(),
                    libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                    1,
                )
            };
        }
    }

    /// Until it is woken, looking after `session` now and then.
    fn sleep(&self, session: &impl Flush) {
        let period = libc::timespec {
            tv_sec: 0,
            tv_nsec: POLL_COMPLETIONS.subsec_nanos().into(),
        };
        let timeout = match session.needs_polling() {
            true => &raw const period,
            false => std::ptr::null(),
        };
        while self.state.load(Ordering::Acquire) == ASLEEP {
            // SAFETY: waits on a word that outlives the call, as the time does; wakes by chance are
            // harmless.
            unsafe {
                libc::syscall(
                    libc::SYS_futex,
                    self.state.as_ptr(),
                    libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                    ASLEEP,
                    timeout,
                )
            };
            if session.needs_polling() {
                session.poll_completions();
            }
        }
    }

    /// Starts the thread for `session`, whose flusher this is.
    pub(crate) fn start<T: Flush + Sync>(&'static self, session: &'static T) {
        let started = without_signals(|| {
            thread::Builder::new()
                .name("gtrace-flush".into())
                // Drivers of RDMA devices work on it too.
                .stack_size(256 << 10)
                .spawn(move || {
                    let lose = |why: &str| session.fail(why);
                    background::supervised("gtrace-flush", lose, || self.run(session));
                })
        });
        if let Err(error) = started {
            log::say(&format!(
                "no thread for sending small calls ({error}): they wait until a larger one comes"
            ));
        }
    }

    fn run(&self, session: &impl Flush) {
        // Sleeps of 60 us are to last 60 us; the default slack is 50 us. Failing changes little.
        // SAFETY: an option of prctl(2) with a number.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 2_000) };
        let mut all = Vec::new();
        let mut in_vain = 0;
        let mut polled = Instant::now();
        loop {
            thread::sleep(PERIOD);
            if session.needs_polling() && polled.elapsed() >= POLL_COMPLETIONS {
                session.poll_completions();
                polled = Instant::now();
            }
            if session.flush(&mut all) {
                in_vain = 0;
                continue;
            }
            in_vain += 1;
            if in_vain < PATIENCE {
                continue;
            }
            // A caller that leaves something takes the lane's lock, as the look after this does: it
            // either sees the thread asleep and wakes it, or is seen.
            self.state.store(ASLEEP, Ordering::Release);
            if session.flush(&mut all) {
                self.state.store(AWAKE, Ordering::Release);
            } else {
                self.sleep(session);
            }
            in_vain = 0;
        }
    }
}
