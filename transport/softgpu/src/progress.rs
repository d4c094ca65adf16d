//! A counter that only rises, and threads that wait until it reaches a number: the completion of
//! the commands of a stream, of the records of an event.

use crate::abi::Answer;
use crate::pages::page_size;
use crate::sync::lock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How long a thread looks before it lets others have its CPU between two looks.
const YIELD_AFTER: Duration = Duration::from_micros(2);

/// How long a thread looks before it sleeps. A sleep and its wake-up cost several microseconds,
/// so that short kernels and copies are worth looking for; on a single CPU looking only takes the
/// time from the thread that works.
pub(crate) fn spin_time() -> Duration {
    static TIME: OnceLock<Duration> = OnceLock::new();
    *TIME.get_or_init(|| {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        Duration::from_micros(if cpus > 1 { 20 } else { 0 })
    })
}

/// Polls `ready` for at most [`spin_time`]; returns whether it came.
pub(crate) fn spin(mut ready: impl FnMut() -> bool) -> bool {
    if ready() {
        return true;
    }
    let limit = spin_time();
    if limit.is_zero() {
        return false;
    }
    let begun = Instant::now();
    loop {
        for _ in 0..16 {
            std::hint::spin_loop();
            if ready() {
                return true;
            }
        }
        let looked = begun.elapsed();
        if looked > limit {
            return false;
        }
        // On a busy machine the thread that is waited for may want this very CPU.
        if looked > YIELD_AFTER {
            std::thread::yield_now();
        }
    }
}

/// Between two polls of a number that another process raises.
const POLL_INTERVAL: Duration = Duration::from_micros(50);

/// A mapped page, by its address.
struct Page(u64);

impl Drop for Page {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: the mapping of `Words::map`, which nobody has any more.
        unsafe { crate::pages::unmap_host(self.0, page_size()) };
    }
}

/// Two numbers in a page that other processes have too.
#[derive(Clone)]
pub(crate) struct Words(Arc<Page>);

impl Words {
    /// Of the first page of a file.
    pub(crate) fn map(file: &std::fs::File) -> Answer<Self> {
        Ok(Self(Arc::new(Page(crate::ipc::map(file, 0, page_size())?))))
    }

    #[allow(unsafe_code)]
    fn both(&self) -> &[AtomicU64; 2] {
        // SAFETY: a page that is mapped as long as this, and that all processes use by atomics alone.
        unsafe { &*(self.0.0 as *const [AtomicU64; 2]) }
    }

    /// Records that were asked for.
    pub(crate) fn first(&self) -> &AtomicU64 {
        &self.both()[0]
    }

    fn second(&self) -> &AtomicU64 {
        &self.both()[1]
    }
}

/// See the module.
#[derive(Default)]
pub(crate) struct Progress {
    own: AtomicU64,
    /// In its place, if other processes have it too.
    shared: Option<Words>,
    sleepers: AtomicU32,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Progress {
    /// One that other processes raise and wait for too.
    pub(crate) fn shared(words: Words) -> Self {
        Self {
            shared: Some(words),
            ..Self::default()
        }
    }

    fn word(&self) -> &AtomicU64 {
        match &self.shared {
            None => &self.own,
            Some(words) => words.second(),
        }
    }

    /// The number reached so far.
    pub(crate) fn reached(&self) -> u64 {
        self.word().load(Ordering::SeqCst)
    }

    /// Raises the counter to `number` (never lowers it) and wakes who waits.
    pub(crate) fn advance(&self, number: u64) {
        self.word().fetch_max(number, Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            let _held = lock(&self.lock);
            self.changed.notify_all();
        }
    }

    /// Waits until the counter reaches `number`.
    pub(crate) fn wait(&self, number: u64) {
        if spin(|| self.reached() >= number) {
            return;
        }
        while self.shared.is_some() {
            if self.reached() >= number {
                return;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        let mut held = lock(&self.lock);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        while self.reached() < number {
            held = self
                .changed
                .wait(held)
                .unwrap_or_else(PoisonError::into_inner);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleeper_is_woken_by_the_number_it_waits_for() {
        let progress = Arc::new(Progress::default());
        let other = Arc::clone(&progress);
        let raiser = std::thread::spawn(move || {
            for number in 1..=100 {
                std::thread::sleep(Duration::from_micros(100));
                other.advance(number);
            }
        });
        progress.wait(100);
        assert_eq!(progress.reached(), 100);
        raiser.join().expect("raiser");
        progress.advance(7);
        assert_eq!(progress.reached(), 100, "never lowered");
    }
}
