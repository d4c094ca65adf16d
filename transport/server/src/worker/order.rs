//! Order across lanes: a frame may name a frame of another lane that must be executed before it.

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
/// it lets another thread refer to it, so more than this is a client that does not keep to it.
const IDLE_MAX: Duration = Duration::from_secs(10);

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
    /// The lane ended before, so nothing can be waited for.
    Ended,
    /// The frame did not come in time.
    GaveUp,
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
            Some(Waited::Ended)
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
                return Waited::GaveUp;
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
    lanes: RwLock<HashMap<u16, Arc<Progress>>>,
}

impl Order {
    /// A lane opens.
    pub(crate) fn open(&self, lane: u16) -> Arc<Progress> {
        let progress = Arc::new(Progress::default());
        let mut lanes = self.lanes.write().unwrap_or_else(PoisonError::into_inner);
        lanes.insert(lane, Arc::clone(&progress));
        progress
    }

    /// A lane has ended.
    pub(crate) fn close(&self, lane: u16) {
        let mut lanes = self.lanes.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(progress) = lanes.remove(&lane) {
            progress.end();
        }
    }

    /// Waits until the frame was executed. A lane that is not there has ended: the client names
    /// only lanes that were welcomed.
    pub(crate) fn wait(&self, after: After) -> Waited {
        self.wait_at_most(after, IDLE_MAX)
    }

    fn wait_at_most(&self, after: After, idle_max: Duration) -> Waited {
        let progress = {
            let lanes = self.lanes.read().unwrap_or_else(PoisonError::into_inner);
            lanes.get(&after.lane()).map(Arc::clone)
        };
        match progress {
            Some(progress) => progress.wait(after.seq(), idle_max),
            None => Waited::Ended,
        }
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
    fn the_end_of_a_lane_ends_the_wait() {
        let order = Arc::new(Order::default());
        let _progress = order.open(2);
        let waiter = {
            let order = Arc::clone(&order);
            std::thread::spawn(move || order.wait(After::new(2, 1)))
        };
        std::thread::sleep(Duration::from_millis(10));
        order.close(2);
        assert_eq!(waiter.join().unwrap(), Waited::Ended);
        assert_eq!(order.wait(After::new(9, 1)), Waited::Ended);
    }

    #[test]
    fn a_frame_that_never_comes_is_given_up_and_a_long_call_is_not() {
        let order = Order::default();
        let progress = order.open(1);
        let max = Duration::from_millis(60);
        assert_eq!(order.wait_at_most(After::new(1, 1), max), Waited::GaveUp);
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
