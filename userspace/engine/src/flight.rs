//! The memory of the flight recorder: sources put in what they see, whether or not it becomes an event. Nothing here waits
//! for a disk.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use gtrace_event::{Incident, IncidentId, Kind, Occurrence, Timestamp, WitnessName};
use gtrace_recorder::{Entry, KernelLine, Limits, Ring, What, kernel_line, line};

use crate::clock;
use crate::lock::lock;
use crate::supervise::{Registry, names};

/// What probes saw of one kind that is recorded in one second, such as failed calls; the others are counted.
const A_SECOND: u64 = 200;
/// Incidents that wait for the recorder.
const TRIGGERS: usize = 1024;
/// Files that wait to be added to a recording.
const ATTACHMENTS: usize = 4;

/// A file for the recording of an incident, by another process.
#[derive(Debug)]
pub struct Attachment {
    /// Of which incident.
    pub incident: IncidentId,
    /// Name of the file.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
    /// Gets whether it was added, or why not.
    pub answer: tokio::sync::oneshot::Sender<Result<(), String>>,
}

/// What sources give to the recorder. Nothing here waits for a disk.
#[derive(Debug, Default)]
pub struct Recorder {
    on: AtomicBool,
    inner: Mutex<Option<Inner>>,
    triggers: Mutex<VecDeque<Incident>>,
    attachments: Mutex<VecDeque<Attachment>>,
    /// Incidents that found no room among the triggers.
    refused: AtomicU64,
    /// The tasks, of which the recorder's is woken.
    tasks: OnceLock<Registry>,
    /// Whether that one sleeps until something comes.
    sleeps: AtomicBool,
}

#[derive(Debug)]
struct Inner {
    ring: Ring,
    limits: BTreeMap<Kind, PerSecond>,
}

/// A bound of so many in a second.
#[derive(Debug, Default)]
struct PerSecond {
    second: i64,
    taken: u64,
    left_out: u64,
}

impl PerSecond {
    /// Whether one more of `time` is taken; with how many of an earlier second were not.
    fn take(&mut self, time: Timestamp) -> (bool, u64) {
        let mut left_out = 0;
        if time.as_second() != self.second {
            left_out = std::mem::take(&mut self.left_out);
            (self.second, self.taken) = (time.as_second(), 0);
        }
        let takes = self.taken < A_SECOND;
        match takes {
            true => self.taken += 1,
            false => self.left_out += 1,
        }
        (takes, left_out)
    }
}

impl Recorder {
    /// Records from now on.
    pub(crate) fn begin(&self) {
        let ring = Ring::new(Limits::default());
        let limits = BTreeMap::new();
        *lock(&self.inner) = Some(Inner { ring, limits });
        self.on.store(true, Ordering::Relaxed);
    }

    /// Has the recorder's task among `tasks` woken for what comes while it sleeps.
    pub(crate) fn wake_by(&self, tasks: &Registry) {
        // Those that it has are the same.
        let _ = self.tasks.set(tasks.clone());
    }

    /// Whether there is nothing beyond `read` of the memory, no incident and no file. If so, the task is woken for the next that
    /// comes.
    pub(crate) fn sleep_beyond(&self, read: u64) -> bool {
        // First: what comes after one of these was found empty finds it set.
        self.sleeps.store(true, Ordering::Relaxed);
        let is_read = self.read(|ring| ring.read(read).next == read);
        let sleeps = is_read.unwrap_or(true)
            && lock(&self.triggers).is_empty()
            && lock(&self.attachments).is_empty();
        if !sleeps {
            self.sleeps.store(false, Ordering::Relaxed);
        }
        sleeps
    }

    /// Wakes the task if it sleeps. Called after what it is to find is there.
    fn wake(&self) {
        if self.sleeps.load(Ordering::Relaxed)
            && self.sleeps.swap(false, Ordering::Relaxed)
            && let Some(tasks) = self.tasks.get()
        {
            tasks.wake(names::RECORDER);
        }
    }

    fn push(&self, boottime_ns: u64, what: What) {
        if !self.on.load(Ordering::Relaxed) {
            return;
        }
        let time = clock::wall_time(boottime_ns);
        self.keep(boottime_ns, &line(&Entry { time, what }));
    }

    fn keep(&self, boottime_ns: u64, line: &[u8]) {
        if let Some(inner) = &mut *lock(&self.inner) {
            inner.ring.push(nanoseconds(boottime_ns), line);
        }
        self.wake();
    }

    /// A record of the kernel log, of `boottime_ns` since boot.
    pub fn kernel(&self, boottime_ns: u64, line: KernelLine) {
        if !self.on.load(Ordering::Relaxed) {
            return;
        }
        let time = clock::wall_time(boottime_ns);
        self.keep(boottime_ns, &kernel_line(time, &line));
    }

    /// What a probe saw, whether or not it becomes an event.
    pub fn observed(&self, witness: WitnessName, occurrence: &Occurrence) {
        if !self.on.load(Ordering::Relaxed) {
            return;
        }
        let at = occurrence.boottime_ns.unwrap_or_else(clock::boottime_ns);
        let time = clock::wall_time(at);
        let (takes, left_out) = match &mut *lock(&self.inner) {
            Some(inner) => inner.limits.entry(occurrence.kind).or_default().take(time),
            None => return,
        };
        if left_out > 0 {
            let what = What::LeftOut {
                of: occurrence.kind.name().to_owned(),
                count: left_out,
                why: format!("more than {A_SECOND} in a second"),
            };
            self.push(at, what);
        }
        if !takes {
            return;
        }
        let occurrence = Box::new(occurrence.clone());
        self.push(
            at,
            What::Observed {
                witness,
                occurrence,
            },
        );
    }

    /// Anything else, of now.
    pub fn note(&self, what: What) {
        self.push(clock::boottime_ns(), what);
    }

    /// An incident has opened: what was before it is to be kept, and what comes after it.
    pub(crate) fn freeze(&self, incident: &Incident) {
        if !self.on.load(Ordering::Relaxed) {
            return;
        }
        let mut triggers = lock(&self.triggers);
        if triggers.len() < TRIGGERS {
            triggers.push_back(incident.clone());
        } else {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
        drop(triggers);
        self.wake();
    }

    /// Hands in a file for a recording that is under way. It answers within some seconds.
    ///
    /// # Errors
    ///
    /// Why it is not taken.
    pub fn attach(&self, attachment: Attachment) -> Result<(), &'static str> {
        if !self.on.load(Ordering::Relaxed) {
            return Err("the flight recorder is off");
        }
        let mut attachments = lock(&self.attachments);
        if attachments.len() >= ATTACHMENTS {
            return Err("too many files are handed in at once");
        }
        attachments.push_back(attachment);
        drop(attachments);
        self.wake();
        Ok(())
    }

    pub(crate) fn next_attachment(&self) -> Option<Attachment> {
        lock(&self.attachments).pop_front()
    }

    pub(crate) fn next_trigger(&self) -> Option<Incident> {
        lock(&self.triggers).pop_front()
    }

    /// Incidents that were not recorded, as too many came at once.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Reads the memory; `None` where nothing is recorded.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Ring) -> T) -> Option<T> {
        lock(&self.inner).as_ref().map(|inner| read(&inner.ring))
    }
}

/// A time since boot as the ring has it: by that clock lines grow old however the wall clock is set.
pub(crate) fn nanoseconds(boottime_ns: u64) -> i64 {
    i64::try_from(boottime_ns).unwrap_or(i64::MAX)
}

/// The same of a time by the wall clock, by the clocks as they stand now.
pub(crate) fn since_boot(time: Timestamp) -> i64 {
    let ago = Timestamp::now().as_nanosecond() - time.as_nanosecond();
    i64::try_from(i128::from(clock::boottime_ns()) - ago).unwrap_or(i64::MIN)
}

#[cfg(test)]
mod tests {
    use gtrace_event::Severity;

    use super::*;

    #[test]
    fn calls_beyond_the_bound_of_a_second_are_counted_in_the_recording() {
        let recorder = Recorder::default();
        let call = |second: u64| {
            let mut call = Occurrence::new(Kind::ApiError, Severity::Warning, "failed");
            call.boottime_ns = Some(second * 1_000_000_000);
            call
        };
        recorder.observed(WitnessName::DriverIoctl, &call(1));
        recorder.begin();
        for _ in 0..A_SECOND + 7 {
            recorder.observed(WitnessName::DriverIoctl, &call(1));
        }
        // The wall clock's second may begin anywhere in a second since boot.
        recorder.observed(WitnessName::DriverIoctl, &call(3));
        let read = recorder.read(|ring| ring.read(0)).unwrap();
        let entries = read.bytes.split(|byte| *byte == b'\n');
        let entries: Vec<Entry> = entries
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect();
        let is_left_out = |entry: &&Entry| matches!(entry.what, What::LeftOut { count: 7, .. });
        assert_eq!(entries.iter().filter(is_left_out).count(), 1);
        assert_eq!(entries.len() as u64, A_SECOND + 2);
    }
}
