//! Order across lanes: a frame may name a frame of another lane that must be executed before it.
//!
//! Nothing is ever executed out of order: where the named frame cannot be had any more, the session has lost a call,
//! and ends.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use gtrace_protocol::After;

/// Polls of the other lane before the thread sleeps: most are a few microseconds behind. Few enough
/// not to keep that lane from the only CPU.
const SPINS: u32 = 200;
/// How long a sleeping thread waits before it checks again by itself.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long a lane may be idle and still be waited for. Its client flushes what it has sent before
/// it lets another thread refer to it, so this is a connection on which nothing comes through any more, or a client
/// that does not keep to the protocol. A host that is gone is noticed in some 11 s.
const IDLE_MAX: Duration = Duration::from_secs(30);

/// How far a lane is.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Number of the last frame that was executed.
    executed: AtomicU64,
    /// Whether the lane is in a call: then it is waited for however long that takes.
    busy: AtomicBool,
    /// Whether the lane has ended.
    ended: AtomicBool,
    /// Threads that sleep until `executed` moves.
    sleepers: AtomicU32,
    lock: Mutex<()>,
    moved: Condvar,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    /// The frame was executed.
    Executed,
    /// The lane has ended without it.
    Lost,
    /// It did not come in time.
    TimedOut,
}

impl Progress {
    /// The lane begins a call.
    #[inline]
    pub(crate) fn begin(&self) {
        self.busy.store(true, Ordering::Relaxed);
    }

    /// The frame before the one that is executed now; `None` between two frames.
    pub(crate) fn call(&self) -> Option<u64> {
        let busy = self.busy.load(Ordering::Relaxed);
        busy.then(|| self.executed.load(Ordering::Relaxed))
    }

    /// Frame `seq` was executed.
    #[inline]
    pub(crate) fn executed(&self, seq: u64) {
        self.busy.store(false, Ordering::Relaxed);
        // SeqCst on both sides: either this thread sees the sleeper, or the sleeper, which counts
        // itself before it checks, sees the new number.
        self.executed.store(seq, Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            self.wake();
        }
    }

    /// The lane has ended.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
        self.wake();
    }

    fn wake(&self) {
        let _held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.moved.notify_all();
    }

    fn state(&self, seq: u64) -> Option<Waited> {
        if self.executed.load(Ordering::SeqCst) >= seq {
            Some(Waited::Executed)
        } else if self.ended.load(Ordering::SeqCst) {
            Some(Waited::Lost)
        } else {
            None
        }
    }

    fn wait(&self, seq: u64, idle_max: Duration) -> Waited {
        for _ in 0..SPINS {
            if let Some(waited) = self.state(seq) {
                return waited;
            }
            std::hint::spin_loop();
        }
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        let waited = self.sleep(seq, idle_max);
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        waited
    }

    fn sleep(&self, seq: u64, idle_max: Duration) -> Waited {
        let mut at = self.executed.load(Ordering::SeqCst);
        let mut idle_since = Instant::now();
        let mut held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(waited) = self.state(seq) {
                return waited;
            }
            let now_at = self.executed.load(Ordering::SeqCst);
            if now_at != at || self.busy.load(Ordering::Relaxed) {
                at = now_at;
                idle_since = Instant::now();
            } else if idle_since.elapsed() > idle_max {
                return Waited::TimedOut;
            }
            held = match self.moved.wait_timeout(held, POLL_INTERVAL) {
                Ok((held, _)) => held,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }
}

/// The lanes of a session.
#[derive(Debug, Default)]
pub(crate) struct Order {
    lanes: RwLock<Lanes>,
    /// How long a lane may be without a connection besides.
    resume: Duration,
}

#[derive(Debug, Default)]
struct Lanes {
    open: HashMap<u16, Arc<Progress>>,
    /// The last frame that was executed of lanes that have ended. Their numbers are not given again.
    ended: HashMap<u16, u64>,
}

impl Order {
    /// Of lanes that wait so long for another connection when their own breaks.
    pub(crate) fn of(resume: Duration) -> Self {
        Self {
            resume,
            ..Self::default()
        }
    }

    /// A lane opens.
    pub(crate) fn open(&self, lane: u16) -> Arc<Progress> {
        let progress = Arc::new(Progress::default());
        let mut lanes = self.lanes.write().unwrap_or_else(PoisonError::into_inner);
        lanes.open.insert(lane, Arc::clone(&progress));
        progress
    }

    /// A lane has ended.
    pub(crate) fn close(&self, lane: u16) {
        let mut lanes = self.lanes.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(progress) = lanes.open.remove(&lane) {
            progress.end();
            let executed = progress.executed.load(Ordering::SeqCst);
            lanes.ended.insert(lane, executed);
        }
    }

    /// Waits until the frame was executed.
    pub(crate) fn wait(&self, after: After) -> Waited {
        self.wait_at_most(after, IDLE_MAX + self.resume)
    }

    fn wait_at_most(&self, after: After, idle_max: Duration) -> Waited {
        let progress = {
            let lanes = self.lanes.read().unwrap_or_else(PoisonError::into_inner);
            match lanes.open.get(&after.lane()) {
                Some(progress) => Arc::clone(progress),
                None => {
                    let executed = lanes.ended.get(&after.lane()).copied().unwrap_or(0);
                    return match executed >= after.seq() {
                        true => Waited::Executed,
                        false => Waited::Lost,
                    };
                }
            }
        };
        progress.wait(after.seq(), idle_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_waits_for_the_one_it_names() {
        let order = Arc::new(Order::default());
        let progress = order.open(2);
        let waiter = {
            let order = Arc::clone(&order);
            std::thread::spawn(move || {
                let waited = order.wait(After::new(2, 3));
                (waited, Instant::now())
            })
        };
        progress.executed(2);
        std::thread::sleep(Duration::from_millis(30));
        let before = Instant::now();
        progress.executed(3);
        let (waited, at) = waiter.join().unwrap();
        assert_eq!(waited, Waited::Executed);
        assert!(at >= before, "waited for the frame");
    }

    #[test]
    fn a_lane_that_ends_without_the_frame_has_lost_it() {
        let order = Arc::new(Order::default());
        let progress = order.open(2);
        progress.executed(4);
        let waiter = {
            let order = Arc::clone(&order);
            std::thread::spawn(move || order.wait(After::new(2, 5)))
        };
        std::thread::sleep(Duration::from_millis(10));
        order.close(2);
        assert_eq!(waiter.join().unwrap(), Waited::Lost);
        // What it had executed before is executed.
        assert_eq!(order.wait(After::new(2, 4)), Waited::Executed);
        assert_eq!(order.wait(After::new(2, 5)), Waited::Lost);
        assert_eq!(order.wait(After::new(9, 1)), Waited::Lost);
    }

    #[test]
    fn a_frame_that_never_comes_is_not_waited_for_without_end_and_a_long_call_is() {
        let order = Order::default();
        let progress = order.open(1);
        let max = Duration::from_millis(60);
        assert_eq!(order.wait_at_most(After::new(1, 1), max), Waited::TimedOut);
        progress.begin();
        let ender = std::thread::spawn({
            let progress = Arc::clone(&progress);
            move || {
                std::thread::sleep(Duration::from_millis(200));
                progress.executed(1);
            }
        });
        assert_eq!(order.wait_at_most(After::new(1, 1), max), Waited::Executed);
        ender.join().unwrap();
    }
}
