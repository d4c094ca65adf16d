//! Readings of devices that may never end: with a deadline, by one thread, and by one for each device once that one waits.
//!
//! A read of a device's configuration space, or of its link in sysfs, waits in the kernel while the
//! device is being reset (pci_cfg_access_lock, drivers/pci/access.c), and for ever if that never ends.
//! An RDMA adapter's driver asks the adapter's firmware for each counter.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{
    Receiver, RecvTimeoutError, SendError, Sender, SyncSender, TryRecvError, channel, sync_channel,
};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a device has to answer before it is left alone.
pub(crate) const DEADLINE: Duration = Duration::from_secs(1);
/// For this part of the deadline one thread reads a device after the other. Those that it has not begun by then get a thread each.
const IN_TURN: u32 = 10;
/// A device that did not answer is left alone for so long, and twice as long each further time.
const LEFT_ALONE: Duration = Duration::from_secs(2);
/// But not for longer than this.
const LEFT_ALONE_MAX: Duration = Duration::from_secs(120);

/// What became of a reading.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reading<T> {
    /// What was read.
    Done(T),
    /// Nothing came within the deadline, or the device is left alone as it has not answered before.
    Unanswered,
}

/// The readings of every device, each of which has a key.
#[derive(Debug)]
pub(crate) struct Reads<K, T> {
    deadline: Duration,
    under_way: BTreeMap<K, Receiver<T>>,
    failing: BTreeMap<K, Failing>,
    /// To the thread that reads them in turn, which is kept as long as it gets through: to start one is more work than most readings
    /// are. It ends without this.
    in_turn: Option<Sender<Batch>>,
}

type Job = Box<dyn FnOnce() + Send>;

/// Readings for the thread that makes them in turn.
struct Batch {
    /// Those that have not begun.
    jobs: Arc<Mutex<VecDeque<Job>>>,
    done: SyncSender<()>,
}

impl Batch {
    fn run(self) {
        while let Some(job) = next(&self.jobs) {
            job();
        }
        // Who gave it may have stopped waiting.
        let _ = self.done.send(());
    }
}

fn next(jobs: &Mutex<VecDeque<Job>>) -> Option<Job> {
    // A queue is whole whenever the lock is free.
    jobs.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .pop_front()
}

fn start(run: impl FnOnce() + Send + 'static) -> bool {
    let thread = std::thread::Builder::new().name("gtrace-read".to_owned());
    thread.spawn(run).is_ok()
}

/// A device that has not answered.
#[derive(Debug)]
struct Failing {
    times: u32,
    not_before: Instant,
}

impl<K: Clone + Ord, T: Send + 'static> Reads<K, T> {
    pub(crate) fn new(deadline: Duration) -> Self {
        Self {
            deadline,
            under_way: BTreeMap::new(),
            failing: BTreeMap::new(),
            in_turn: None,
        }
    }

    /// Reads every device of `devices` by `read`; returns after the deadline at the
    /// latest. One whose earlier reading has not ended is not read again.
    pub(crate) fn all<R>(
        &mut self,
        devices: impl IntoIterator<Item = K>,
        read: impl Fn(&K) -> R,
    ) -> Vec<(K, Reading<T>)>
    where
        R: FnOnce() -> T + Send + 'static,
    {
        let began = Instant::now();
        let (mut asked, mut jobs) = (Vec::new(), VecDeque::new());
        for key in devices {
            let begun = self.may_read(&key, began);
            if begun {
                jobs.push_back(self.job(&key, read(&key)));
            }
            asked.push((key, begun));
        }
        if !jobs.is_empty() {
            self.begin(jobs);
        }
        self.failing
            .retain(|key, _| asked.iter().any(|(known, _)| known == key));
        let until = began + self.deadline;
        asked
            .into_iter()
            .map(|(key, begun)| {
                let reading = match begun {
                    true => self.end(&key, until),
                    false => Reading::Unanswered,
                };
                (key, reading)
            })
            .collect()
    }

    fn may_read(&mut self, key: &K, now: Instant) -> bool {
        if let Some(late) = self.under_way.get(key) {
            if matches!(late.try_recv(), Err(TryRecvError::Empty)) {
                return false;
            }
            // What comes so late is of another time.
            self.under_way.remove(key);
        }
        self.failing.get(key).is_none_or(|f| f.not_before <= now)
    }

    fn job(&mut self, key: &K, read: impl FnOnce() -> T + Send + 'static) -> Job {
        let (done, result) = sync_channel(1);
        self.under_way.insert(key.clone(), result);
        Box::new(move || {
            // Nobody waits for what comes too late.
            let _ = done.send(read());
        })
    }

    /// Begins all. A reading for which there is no thread ends without a result.
    fn begin(&mut self, jobs: VecDeque<Job>) {
        let jobs = Arc::new(Mutex::new(jobs));
        let (done, is_done) = sync_channel(1);
        let batch = Batch {
            jobs: Arc::clone(&jobs),
            done,
        };
        if self.give(batch) && is_done.recv_timeout(self.deadline / IN_TURN).is_ok() {
            return;
        }
        // It waits for a device, or there is none.
        self.in_turn = None;
        while let Some(job) = next(&jobs) {
            start(job);
        }
    }

    /// Gives it to the thread, which is started if there is none.
    fn give(&mut self, batch: Batch) -> bool {
        let batch = match &self.in_turn {
            Some(thread) => match thread.send(batch) {
                Ok(()) => return true,
                Err(SendError(batch)) => batch,
            },
            None => batch,
        };
        let (thread, given) = channel::<Batch>();
        let started = start(move || given.into_iter().for_each(Batch::run));
        // The thread has the other end. Were it gone, nobody would answer.
        let _ = thread.send(batch);
        self.in_turn = Some(thread);
        started
    }

    fn end(&mut self, key: &K, until: Instant) -> Reading<T> {
        let Some(result) = self.under_way.remove(key) else {
            return Reading::Unanswered;
        };
        let left = until.saturating_duration_since(Instant::now());
        match result.recv_timeout(left) {
            Ok(read) => {
                self.failing.remove(key);
                return Reading::Done(read);
            }
            Err(RecvTimeoutError::Timeout) => {
                self.under_way.insert(key.clone(), result);
            }
            // The reading panicked.
            Err(RecvTimeoutError::Disconnected) => {}
        }
        let now = Instant::now();
        let failing = self.failing.entry(key.clone()).or_insert(Failing {
            times: 0,
            not_before: now,
        });
        let doubled =
            LEFT_ALONE.saturating_mul(1_u32.checked_shl(failing.times).unwrap_or(u32::MAX));
        failing.not_before = now + doubled.min(LEFT_ALONE_MAX);
        failing.times = failing.times.saturating_add(1);
        Reading::Unanswered
    }
}

#[cfg(test)]
mod tests {
    use gtrace_event::PciAddress;

    use super::*;

    fn pci(text: &str) -> PciAddress {
        PciAddress::parse(text).unwrap()
    }

    /// Readings of two devices; the first waits until it is let go.
    fn two(
        reads: &mut Reads<PciAddress, u32>,
        gate: &Arc<Mutex<std::sync::mpsc::Receiver<()>>>,
    ) -> Vec<Reading<u32>> {
        let stuck = pci("0000:3d:00.0");
        let both = [stuck, pci("0000:3e:00.0")];
        let read = |at: &PciAddress| {
            let (gate, waits) = (Arc::clone(gate), *at == stuck);
            move || {
                if waits {
                    let _ = gate.lock().unwrap().recv();
                }
                7
            }
        };
        reads.all(both, read).into_iter().map(|(_, r)| r).collect()
    }

    #[test]
    fn one_thread_reads_all_devices_until_one_does_not_answer() {
        let (go_on, gate) = channel::<()>();
        let gate = Arc::new(Mutex::new(gate));
        let mut reads = Reads::new(Duration::from_secs(3600));
        let read = |reads: &mut Reads<u32, std::thread::ThreadId>, devices: &[u32]| {
            let read = |device: &u32| {
                let (gate, waits) = (Arc::clone(&gate), *device == 0);
                move || {
                    if waits {
                        let _ = gate.lock().unwrap().recv();
                    }
                    std::thread::current().id()
                }
            };
            let all = reads.all(devices.iter().copied(), read).into_iter();
            all.map(|(_, reading)| reading).collect::<Vec<_>>()
        };
        let first = read(&mut reads, &[1, 2, 3]);
        assert_ne!(first[0], Reading::Unanswered);
        assert!(first.iter().all(|by| *by == first[0]), "{first:?}");
        assert_eq!(read(&mut reads, &[1]), first[..1]);
        reads.deadline = Duration::from_secs(1);
        let second = read(&mut reads, &[0, 1]);
        assert_eq!(second[0], Reading::Unanswered);
        assert!(second[1] != Reading::Unanswered && second[1] != first[0]);
        drop(go_on);
    }

    #[test]
    fn a_device_that_does_not_answer_costs_one_deadline_and_no_second_thread() {
        let (go_on, gate): (Sender<()>, _) = channel();
        let gate = Arc::new(Mutex::new(gate));
        let mut reads = Reads::new(Duration::from_millis(50));
        assert_eq!(
            two(&mut reads, &gate),
            [Reading::Unanswered, Reading::Done(7)]
        );
        let began = Instant::now();
        // From now on nobody waits for it, however long a deadline is.
        reads.deadline = Duration::from_secs(3600);
        assert_eq!(
            two(&mut reads, &gate),
            [Reading::Unanswered, Reading::Done(7)]
        );
        assert!(began.elapsed() < Duration::from_secs(3000));

        // It ends at last: still left alone for a while, then read as any other.
        drop(go_on);
        let stuck = pci("0000:3d:00.0");
        let late = &reads.under_way[&stuck];
        assert_eq!(late.recv(), Ok(7));
        // Its thread is done only then.
        assert!(late.recv().is_err());
        assert_eq!(
            two(&mut reads, &gate),
            [Reading::Unanswered, Reading::Done(7)]
        );
        reads.failing.get_mut(&stuck).unwrap().not_before = Instant::now();
        assert_eq!(two(&mut reads, &gate), [Reading::Done(7), Reading::Done(7)]);
        assert!(reads.failing.is_empty() && reads.under_way.is_empty());
    }
}
