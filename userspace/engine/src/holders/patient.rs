//! Questions that may never be answered: each in a thread of its own, with a deadline, and none is asked again before the one
//! before has ended.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::lock::lock;

/// See the module. Each question has a key.
#[derive(Debug)]
pub(super) struct Patient<K, T> {
    deadline: Duration,
    /// Threads that wait for an answer at most.
    most: usize,
    running: Arc<AtomicUsize>,
    late: Mutex<BTreeMap<K, Receiver<T>>>,
}

impl<K: Ord, T: Send + 'static> Patient<K, T> {
    pub(super) fn new(deadline: Duration, most: usize) -> Self {
        Self {
            deadline,
            most,
            running: Arc::default(),
            late: Mutex::default(),
        }
    }

    /// The answer, if it comes within the deadline; also that of an earlier question of this key, which came later. `None` while
    /// an earlier one waits, or too many do.
    pub(super) fn ask(&self, key: K, question: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let mut late = lock(&self.late);
        match late.get(&key).map(Receiver::try_recv) {
            None => {}
            Some(Ok(answer)) => {
                late.remove(&key);
                return Some(answer);
            }
            Some(Err(TryRecvError::Empty)) => return None,
            Some(Err(TryRecvError::Disconnected)) => drop(late.remove(&key)),
        }
        drop(late);
        if self.running.load(Ordering::Relaxed) >= self.most {
            return None;
        }
        let (done, answered) = sync_channel(1);
        let running = Running::begin(&self.running);
        let thread = std::thread::Builder::new().name("gtrace-ask".to_owned());
        let spawned = thread.spawn(move || {
            let answer = question();
            drop(running);
            // Nobody waits for what comes too late.
            let _ = done.send(answer);
        });
        spawned.ok()?;
        match answered.recv_timeout(self.deadline) {
            Ok(answer) => Some(answer),
            Err(RecvTimeoutError::Timeout) => {
                lock(&self.late).insert(key, answered);
                None
            }
            // The question panicked.
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Forgets the questions whose answers nobody wants any more.
    pub(super) fn retain(&self, wanted: impl Fn(&K) -> bool) {
        lock(&self.late).retain(|key, _| wanted(key));
    }
}

/// A thread that runs.
struct Running(Arc<AtomicUsize>);

impl Running {
    fn begin(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn who_does_not_answer_has_one_thread_and_keeps_nobody_else_waiting() {
        let patient = Patient::new(Duration::from_millis(30), 2);
        let (go_on, gate) = channel::<()>();
        let hangs = move || {
            let _ = gate.recv();
            1
        };
        assert_eq!(patient.ask("hangs", hangs), None);
        for _ in 0..100 {
            assert_eq!(patient.ask("hangs", || 2), None);
        }
        assert_eq!(patient.running.load(Ordering::Relaxed), 1);
        assert_eq!(patient.ask("another", || 3), Some(3));
        // Beyond the bound nobody is asked.
        let (_other, gate) = channel::<()>();
        let hangs_too = move || {
            let _ = gate.recv();
            4
        };
        assert_eq!(patient.ask("hangs too", hangs_too), None);
        assert_eq!(patient.ask("a third", || 5), None);
        // What came late is taken once.
        drop(go_on);
        let late = loop {
            if let Some(late) = patient.ask("hangs", || 2) {
                break late;
            }
            std::thread::yield_now();
        };
        assert_eq!(late, 1);
        assert_eq!(patient.ask("hangs", || 2), Some(2));
    }
}
