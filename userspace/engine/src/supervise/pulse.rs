//! The heartbeat of one run of a task, and the token that shows whether it is still current.

use std::cell::RefCell;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError};
use std::task::{Context, Poll, Wake};
use std::thread::Thread;
use std::time::{Duration, Instant};

use super::fault;
use crate::lock::lock;

/// Between attempts to take a lock that another thread holds.
const LOCK_POLL: Duration = Duration::from_millis(2);

const WORKING: u8 = 0;
/// Waits until the core takes what it sends: whoever hangs then is the core.
const SENDING: u8 = 1;
/// Another thread has its place.
const REVOKED: u8 = 2;

/// What a thread shares with its supervisor while it runs.
#[derive(Debug)]
pub struct Pulse {
    task: &'static str,
    /// Set when the thread is to end in order.
    pub stop: AtomicBool,
    /// Milliseconds since the process's first pulse.
    beat_ms: AtomicU64,
    /// Until when it rests, by the same clock; 0 while it does not.
    rest_ms: AtomicU64,
    state: AtomicU8,
    /// Its thread below /proc: `PID/task/TID`.
    thread: OnceLock<PathBuf>,
    /// Woken since it began to wait.
    woken: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

/// Wakes a thread for a future.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Ends what its thread waits for.
struct Waker(Box<dyn Fn() + Send>);

impl fmt::Debug for Waker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waker")
    }
}

/// What a revoked thread unwinds with; nobody reports it.
pub(super) struct Revoked;

thread_local! {
    static CURRENT: RefCell<Option<Arc<Pulse>>> = const { RefCell::new(None) };
}

/// When the process had its first pulse: periods of all tasks are counted from then.
pub fn first_pulse() -> Instant {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    *FIRST.get_or_init(Instant::now)
}

/// When the period began that `now` is in, of those that are `every` long. Tasks with one interval so wake together: they wake the CPU
/// once, and what they sample is written together.
pub fn period_start(now: Instant, every: Duration) -> Instant {
    let since = now.saturating_duration_since(first_pulse()).as_nanos();
    let ago = u64::try_from(since % every.as_nanos().max(1)).unwrap_or(u64::MAX);
    now.checked_sub(Duration::from_nanos(ago)).unwrap_or(now)
}

/// Milliseconds of a clock that does not go back.
pub(super) fn now_ms() -> u64 {
    u64::try_from(first_pulse().elapsed().as_millis()).unwrap_or(u64::MAX)
}

impl Pulse {
    pub(super) fn new(task: &'static str) -> Arc<Self> {
        Arc::new(Self {
            task,
            stop: AtomicBool::new(false),
            beat_ms: AtomicU64::new(now_ms()),
            rest_ms: AtomicU64::new(0),
            state: AtomicU8::new(WORKING),
            thread: OnceLock::new(),
            woken: AtomicBool::new(false),
            waker: Mutex::default(),
        })
    }

    /// Makes this the pulse of the calling thread.
    pub(super) fn enter(self: &Arc<Self>) {
        if let Ok(thread) = std::fs::read_link("/proc/thread-self") {
            // A pulse is of one thread.
            let _ = self.thread.set(Path::new("/proc").join(thread));
        }
        let thread = std::thread::current();
        self.wake_by(move || thread.unpark());
        CURRENT.with(|current| *current.borrow_mut() = Some(Arc::clone(self)));
    }

    /// CPU time of the thread: the first field of its schedstat, in nanoseconds
    /// (Documentation/scheduler/sched-stats.rst). `None` once it has ended, and where the kernel counts
    /// none (CONFIG_SCHED_INFO).
    pub(super) fn cpu_time(&self) -> Option<Duration> {
        let text = std::fs::read_to_string(self.thread.get()?.join("schedstat")).ok()?;
        let ns = text.split_ascii_whitespace().next()?.parse().ok()?;
        Some(Duration::from_nanos(ns))
    }

    /// Whether the thread is to end in order.
    pub fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Has `wake` end what the thread waits for, if that is not [`Self::wait`].
    pub fn wake_by(&self, wake: impl Fn() + Send + 'static) {
        *lock(&self.waker) = Some(Waker(Box::new(wake)));
    }

    /// Ends what the thread waits for, or will wait for next.
    pub(super) fn wake(&self) {
        self.woken.store(true, Ordering::Release);
        if let Some(waker) = &*lock(&self.waker) {
            waker.0();
        }
    }

    /// Waits for `time`, until it is woken, or until it is to end.
    pub fn wait(&self, time: Duration) {
        let until = Instant::now().checked_add(time);
        loop {
            self.beat();
            let left = until.map_or(Duration::MAX, |at| {
                at.saturating_duration_since(Instant::now())
            });
            let woken = self.woken.swap(false, Ordering::Acquire);
            if woken || left.is_zero() || self.is_stopping() {
                return;
            }
            self.rest(left, std::thread::park_timeout);
        }
    }

    /// As [`Self::wait`], until the next of the periods that are `every` long.
    pub fn wait_for_next(&self, every: Duration) {
        let now = Instant::now();
        let next = period_start(now, every).checked_add(every);
        self.wait(next.map_or(every, |next| next.saturating_duration_since(now)));
    }

    /// Waits until `future` is ready; `None` if the thread is to end before. No runtime drives it, so it waits for other threads only.
    pub fn wait_for<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let waker = Arc::new(Unpark(std::thread::current())).into();
        let mut future = std::pin::pin!(future);
        loop {
            self.beat();
            if self.is_stopping() {
                return None;
            }
            if let Poll::Ready(ready) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return Some(ready);
            }
            self.rest(Duration::MAX, std::thread::park_timeout);
        }
    }

    /// Runs `wait`, which returns once the time that it gets is over at the latest: until then the thread needs no heartbeat.
    pub fn rest<T>(&self, time: Duration, wait: impl FnOnce(Duration) -> T) -> T {
        let time = fault::longest(time);
        let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.rest_ms
            .store(now_ms().saturating_add(ms), Ordering::Relaxed);
        let result = wait(time);
        self.beat_ms.store(now_ms(), Ordering::Relaxed);
        // After the heartbeat: who finds no rest any more finds that.
        self.rest_ms.store(0, Ordering::Release);
        result
    }

    /// When it was last seen to live, by [`now_ms`]: at its last heartbeat, or up to when it rested.
    pub(super) fn last_ms(&self) -> u64 {
        let rested = self.rest_ms.load(Ordering::Acquire).min(now_ms());
        self.beat_ms.load(Ordering::Relaxed).max(rested)
    }

    /// Whether it waits for its time to be over, or to be woken.
    pub(super) fn is_resting(&self) -> bool {
        self.rest_ms.load(Ordering::Acquire) > now_ms()
    }

    pub(super) fn is_sending(&self) -> bool {
        self.state.load(Ordering::Acquire) == SENDING
    }

    /// Takes the thread its right to publish; false if it is sending right now.
    pub(super) fn revoke(&self) -> bool {
        let revoked =
            self.state
                .compare_exchange(WORKING, REVOKED, Ordering::AcqRel, Ordering::Acquire);
        revoked.is_ok()
    }

    fn is_revoked(&self) -> bool {
        self.state.load(Ordering::Acquire) == REVOKED
    }

    fn beat(&self) {
        fault::strike(self.task);
        if self.is_revoked() {
            end_revoked();
        }
        self.beat_ms.store(now_ms(), Ordering::Relaxed);
    }
}

fn end_revoked() -> ! {
    // Not a panic: nothing is printed, and what the thread holds is dropped.
    std::panic::resume_unwind(Box::new(Revoked))
}

/// What a thread unwinds with that cannot go on; reported as its reason.
pub(super) struct Failed(pub(super) String);

/// The lock of `mutex`, waiting at most for `limit`.
pub fn lock_within<T>(mutex: &Mutex<T>, limit: Duration) -> Option<MutexGuard<'_, T>> {
    let until = Instant::now() + limit;
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            // What a panic left behind is still the newest known.
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if Instant::now() >= until => return None,
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_POLL),
        }
    }
}

/// The same for the thread of a task, which does not return if another thread holds the lock for longer:
/// the task fails with `reason` and is started again with back-off, so that threads that wait do not add up.
pub fn lock_or_fail<'a, T>(
    mutex: &'a Mutex<T>,
    limit: Duration,
    reason: &str,
) -> MutexGuard<'a, T> {
    let Some(guard) = lock_within(mutex, limit) else {
        std::panic::resume_unwind(Box::new(Failed(reason.to_owned())));
    };
    guard
}

fn current() -> Option<Arc<Pulse>> {
    CURRENT.with(|current| current.borrow().clone())
}

/// Reports that the calling thread, if it is a task's, is alive. Every task calls it once in each round
/// of its loop. Does not return if another thread has taken its place.
pub fn beat() {
    if let Some(pulse) = current() {
        pulse.beat();
    }
}

/// [`Pulse::rest`] of the calling thread, if it is a task's.
pub fn rest<T>(time: Duration, wait: impl FnOnce(Duration) -> T) -> T {
    match current() {
        Some(pulse) => pulse.rest(time, wait),
        None => wait(time),
    }
}

/// Runs `send`, which may wait for another task, as the calling task. Does not return if another
/// thread has taken its place; nobody takes it while `send` runs.
pub fn sending<T>(send: impl FnOnce() -> T) -> T {
    let Some(pulse) = current() else {
        return send();
    };
    let began = pulse
        .state
        .compare_exchange(WORKING, SENDING, Ordering::AcqRel, Ordering::Acquire);
    if began == Err(REVOKED) {
        end_revoked();
    }
    let result = send();
    pulse.beat_ms.store(now_ms(), Ordering::Relaxed);
    pulse.state.store(WORKING, Ordering::Release);
    result
}

/// Whether the calling thread is one whose place another has taken: what it knows is not news.
pub fn is_revoked() -> bool {
    CURRENT.with(|current| current.borrow().as_ref().is_some_and(|p| p.is_revoked()))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_revoked_thread_ends_at_its_next_message_and_sends_nothing() {
        let pulse = Pulse::new("test");
        let (sender, received) = mpsc::channel();
        assert!(pulse.revoke());
        let of_thread = Arc::clone(&pulse);
        let ended = std::thread::spawn(move || {
            of_thread.enter();
            sending(|| sender.send(1)).unwrap();
        });
        assert!(ended.join().unwrap_err().is::<Revoked>());
        assert!(received.recv().is_err());
    }

    #[test]
    fn a_thread_that_is_sending_is_not_revoked() {
        let pulse = Pulse::new("test");
        pulse.enter();
        assert!(!sending(|| pulse.revoke()));
        assert!(!is_revoked());
        assert!(pulse.revoke());
        assert!(is_revoked());
    }

    #[test]
    fn whoever_wakes_a_thread_before_it_waits_has_woken_it() {
        let pulse = Pulse::new("test");
        pulse.enter();
        pulse.wake();
        pulse.wait(Duration::MAX);
        let (woken, has_woken) = mpsc::channel();
        pulse.wake_by(move || woken.send(()).unwrap());
        pulse.wake();
        has_woken.recv().unwrap();
        pulse.stop.store(true, Ordering::Relaxed);
        pulse.wait(Duration::MAX);
        pulse.wait(Duration::MAX);
    }

    #[test]
    fn who_rests_is_seen_to_live_until_the_time_is_over_or_it_goes_on() {
        let pulse = Pulse::new("test");
        let hour = Duration::from_secs(3600);
        pulse.rest(hour, |time| {
            assert_eq!(time, hour);
            let before = now_ms();
            assert!(pulse.is_resting() && pulse.last_ms() >= before);
        });
        assert!(!pulse.is_resting());
        pulse.rest(Duration::ZERO, |_| {
            let began = now_ms();
            while now_ms() < began + 5 {
                std::thread::yield_now();
            }
            assert!(
                !pulse.is_resting() && pulse.last_ms() <= began,
                "it is late"
            );
        });
    }

    #[test]
    fn periods_of_one_length_begin_together_and_with_those_of_its_multiples() {
        let (first, second) = (first_pulse(), Duration::from_secs(1));
        for at in [0, 1, 9, 10, 11, 59, 60, 3600] {
            let start = |every: u32| period_start(first + at * second + second / 3, every * second);
            assert_eq!(start(1), first + at * second);
            assert_eq!(start(10), first + at / 10 * 10 * second);
            assert_eq!(start(30), first + at / 30 * 30 * second);
        }
        assert_eq!(period_start(first + 7 * second, Duration::MAX), first);
        assert_eq!(period_start(first, Duration::ZERO), first);
    }

    #[test]
    fn a_thread_waits_for_a_future_until_it_is_ready_or_the_thread_is_to_end() {
        let pulse = Pulse::new("test");
        pulse.enter();
        let (sender, mut received) = tokio::sync::mpsc::unbounded_channel();
        let sends = std::thread::spawn(move || {
            sender.send(7).unwrap();
            sender
        });
        assert_eq!(pulse.wait_for(received.recv()), Some(Some(7)));
        let _open = sends.join().unwrap();
        let stops = Arc::clone(&pulse);
        let stopping = std::thread::spawn(move || {
            stops.stop.store(true, Ordering::Relaxed);
            stops.wake();
        });
        assert_eq!(pulse.wait_for(received.recv()), None);
        stopping.join().unwrap();
    }

    #[test]
    fn outside_of_a_task_nothing_is_watched() {
        beat();
        assert_eq!(sending(|| 7), 7);
        assert_eq!(rest(Duration::from_secs(9), |time| time.as_secs()), 9);
    }
}
