//! Reads the parts in turn, with a deadline: a file of procfs or a disk can wait for ever. The thread that waits for it is left
//! to it, and another one reads the other parts.

use std::fmt;
use std::io;
use std::sync::mpsc::{
    Receiver, RecvTimeoutError, SendError, Sender, SyncSender, TryRecvError, channel, sync_channel,
};
use std::time::{Duration, Instant};

use super::part::{HostNews, HostReading, HostRoots, Part, PartInfo, Unread};
use super::{ClockReading, PARTS, part};

/// What became of a part that was due.
#[derive(Debug)]
pub enum HostOutcome {
    /// It was read.
    Read(HostReading),
    /// It was not.
    Unread(Unread),
    /// A reading that began so long ago has not ended. No other begins before it has.
    Unanswered(Duration),
}

type Read = (Box<dyn Part>, Result<HostReading, Unread>);

enum Slot {
    Idle(Box<dyn Part>),
    Busy(Receiver<Read>, Instant),
    /// The reading panicked.
    Broken,
}

/// The parts that are watched.
pub struct HostWatch {
    reader: Reader,
    clock: fn() -> io::Result<ClockReading>,
    slots: Vec<(PartInfo, Slot, Instant)>,
}

impl fmt::Debug for HostWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.slots.iter().map(|(info, _, _)| info.name))
            .finish()
    }
}

impl HostWatch {
    /// Watches every part but those named in `off`.
    pub fn new(
        roots: HostRoots,
        off: &[&str],
        clock: fn() -> io::Result<ClockReading>,
        deadline: Duration,
    ) -> Self {
        let now = Instant::now();
        let slots = PARTS
            .into_iter()
            .filter(|info| !off.contains(&info.name))
            .filter_map(|info| Some((info, Slot::Idle(part(info.name, clock)?), now)))
            .collect();
        Self {
            reader: Reader {
                roots,
                deadline,
                jobs: None,
            },
            clock,
            slots,
        }
    }

    /// Has parts with one interval read together, at multiples of it after `first`, when all are due.
    #[must_use]
    pub fn aligned_to(mut self, first: Instant) -> Self {
        for (_, _, due) in &mut self.slots {
            *due = first;
        }
        self
    }

    /// How long nothing is due.
    pub fn idle_for(&self, now: Instant) -> Duration {
        let next = self.slots.iter().map(|(_, _, due)| *due).min();
        next.map_or(Duration::from_secs(60), |next| {
            next.saturating_duration_since(now)
        })
    }

    /// Reads the next part that is due, for the deadline at most; `None` if none is.
    pub fn read_next(&mut self, now: Instant) -> Option<(&'static str, HostOutcome)> {
        let (info, slot, due) = self
            .slots
            .iter_mut()
            .filter(|(_, _, due)| *due <= now)
            .min_by_key(|(_, _, due)| *due)?;
        *due = next_due(*due, now, info.every);
        let (next, outcome) = match std::mem::replace(slot, Slot::Broken) {
            Slot::Idle(part) => self.reader.begin(part, Vec::new()),
            Slot::Busy(result, since) => match result.try_recv() {
                // The readings are of another time by now, but no later one has these events.
                Ok((part, late)) => {
                    let news = late.map(|reading| reading.news).unwrap_or_default();
                    self.reader.begin(part, news)
                }
                Err(TryRecvError::Empty) => {
                    let since = (Slot::Busy(result, since), since);
                    (
                        since.0,
                        HostOutcome::Unanswered(now.saturating_duration_since(since.1)),
                    )
                }
                Err(TryRecvError::Disconnected) => (Slot::Broken, panicked()),
            },
            Slot::Broken => match part(info.name, self.clock) {
                Some(part) => self.reader.begin(part, Vec::new()),
                None => (Slot::Broken, panicked()),
            },
        };
        *slot = next;
        Some((info.name, outcome))
    }
}

/// The first time after `now` that is a multiple of `every` after `due`, which has come.
fn next_due(due: Instant, now: Instant, every: Duration) -> Instant {
    let late = now.saturating_duration_since(due).as_nanos() % every.as_nanos().max(1);
    let late = Duration::from_nanos(u64::try_from(late).unwrap_or_default());
    now - late + every
}

fn panicked() -> HostOutcome {
    HostOutcome::Unread(Unread::Failed("its reading panicked".to_owned()))
}

/// A reading that is to be made.
struct Job {
    part: Box<dyn Part>,
    /// What a late reading before it has seen happen.
    news: Vec<HostNews>,
    roots: HostRoots,
    began: Instant,
    done: SyncSender<Read>,
}

impl Job {
    fn run(self) {
        let Self {
            mut part,
            mut news,
            roots,
            began,
            done,
        } = self;
        let read = part.read(&roots, began).map(|mut reading| {
            news.append(&mut reading.news);
            reading.news = news;
            reading
        });
        // Nobody waits for what comes too late.
        let _ = done.send((part, read));
    }
}

/// Reads in a thread, which is kept as long as it answers: to start one is more work than most readings are.
struct Reader {
    roots: HostRoots,
    deadline: Duration,
    /// To the thread, which ends without it.
    jobs: Option<Sender<Job>>,
}

impl Reader {
    /// Begins a reading, to whose news those of a late one before it are added.
    fn begin(&mut self, part: Box<dyn Part>, news: Vec<HostNews>) -> (Slot, HostOutcome) {
        let (done, result) = sync_channel(1);
        let began = Instant::now();
        let job = Job {
            part,
            news,
            roots: self.roots.clone(),
            began,
            done,
        };
        if let Err(error) = self.give(job) {
            let why = format!("no thread for its reading: {error}");
            return (Slot::Broken, HostOutcome::Unread(Unread::Failed(why)));
        }
        match result.recv_timeout(self.deadline) {
            Ok((part, Ok(reading))) => (Slot::Idle(part), HostOutcome::Read(reading)),
            Ok((part, Err(unread))) => (Slot::Idle(part), HostOutcome::Unread(unread)),
            Err(RecvTimeoutError::Timeout) => {
                self.jobs = None;
                (
                    Slot::Busy(result, began),
                    HostOutcome::Unanswered(began.elapsed()),
                )
            }
            Err(RecvTimeoutError::Disconnected) => {
                self.jobs = None;
                (Slot::Broken, panicked())
            }
        }
    }

    /// Gives it to the thread, which is started if there is none.
    fn give(&mut self, job: Job) -> io::Result<()> {
        let job = match &self.jobs {
            Some(jobs) => match jobs.send(job) {
                Ok(()) => return Ok(()),
                Err(SendError(job)) => job,
            },
            None => job,
        };
        let (jobs, given) = channel::<Job>();
        std::thread::Builder::new()
            .name("gtrace-read".to_owned())
            .spawn(move || given.into_iter().for_each(Job::run))?;
        // The thread has the other end. Were it gone, nobody would answer.
        let _ = jobs.send(job);
        self.jobs = Some(jobs);
        Ok(())
    }
}

#[cfg(test)]
#[path = "course_tests.rs"]
mod course;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::path::Path;
    use std::process::Command;
    use std::thread::ThreadId;

    use gtrace_event::{Kind, Occurrence, Severity};

    use super::*;

    fn watch(root: &Path, off: &[&str]) -> HostWatch {
        let roots = HostRoots::new(root.join("proc"), root.join("sys"));
        let clock = || Err(io::Error::other("no clock"));
        HostWatch::new(roots, off, clock, Duration::from_millis(200))
    }

    #[test]
    fn parts_with_one_interval_are_due_together_however_late_each_was_read() {
        let dir = tempfile::tempdir().unwrap();
        let first = Instant::now();
        let mut watch = watch(dir.path(), &[]).aligned_to(first);
        let ms = Duration::from_millis(1);
        let mut now = first;
        while watch.read_next(now).is_some() {
            now += ms;
        }
        let second = Duration::from_secs(1);
        assert_eq!(watch.idle_for(first), 10 * second);
        let mut read_at = |at: u32| {
            let now = first + at * second + ms;
            let mut names = Vec::new();
            while let Some((name, _)) = watch.read_next(now) {
                names.push(name);
            }
            names.len()
        };
        for at in [20, 30, 60, 300] {
            let due = PARTS.iter().filter(|info| at % info.every.as_secs() == 0);
            assert_eq!(read_at(at as u32), due.count(), "{at} s");
        }
    }

    fn all_but(name: &str) -> Vec<&'static str> {
        let names = PARTS.iter().map(|info| info.name);
        names.filter(|other| *other != name).collect()
    }

    #[test]
    fn a_host_without_anything_has_nothing_and_no_part_keeps_another_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let mut watch = watch(dir.path(), &[]);
        let now = Instant::now();
        let mut seen = Vec::new();
        while let Some((name, outcome)) = watch.read_next(now) {
            assert!(
                matches!(outcome, HostOutcome::Unread(_)),
                "{name}: {outcome:?}"
            );
            seen.push(name);
        }
        seen.sort_unstable();
        let mut want: Vec<_> = PARTS.iter().map(|info| info.name).collect();
        want.sort_unstable();
        assert_eq!(seen, want);
        assert!(watch.idle_for(now) >= Duration::from_secs(9));
        // Each comes again after its own interval.
        assert!(watch.read_next(now + Duration::from_secs(5)).is_none());
        assert!(watch.read_next(now + Duration::from_secs(61)).is_some());
    }

    #[test]
    fn a_file_that_never_answers_is_waited_for_once_and_recovers() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("proc/sys/fs/file-nr");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let made = Command::new("mkfifo").arg(&file).status().unwrap();
        assert!(made.success());
        let mut watch = watch(dir.path(), &all_but("limits"));
        let now = Instant::now();
        let minute = Duration::from_secs(60);
        let (name, first) = watch.read_next(now).unwrap();
        assert_eq!(name, "limits");
        assert!(matches!(first, HostOutcome::Unanswered(_)), "{first:?}");
        // From now on nobody waits for it, however long a deadline is.
        watch.reader.deadline = minute;
        let began = Instant::now();
        let (_, again) = watch.read_next(now + minute).unwrap();
        assert!(
            matches!(again, HostOutcome::Unanswered(d) if d >= minute / 2),
            "{again:?}"
        );
        assert!(began.elapsed() < minute, "it waited again");
        // The writer lets the first reading end; the file is then an ordinary one.
        let mut fifo = fs::OpenOptions::new().write(true).open(&file).unwrap();
        fifo.write_all(b"1 0 9\n").unwrap();
        drop(fifo);
        fs::remove_file(&file).unwrap();
        fs::write(&file, "5 0 100\n").unwrap();
        let mut later = now + minute;
        let last = loop {
            later += minute;
            match watch.read_next(later).unwrap().1 {
                // The first one is not through yet.
                HostOutcome::Unanswered(_) => std::thread::sleep(Duration::from_millis(10)),
                last => break last,
            }
        };
        assert!(matches!(last, HostOutcome::Read(_)), "{last:?}");
    }

    /// At each reading something happens. The first one waits until the other end of `gate` is gone.
    struct Eventful {
        gate: Option<Receiver<()>>,
        readings: u32,
    }

    impl Part for Eventful {
        fn read(&mut self, _roots: &HostRoots, _now: Instant) -> Result<HostReading, Unread> {
            if let Some(gate) = self.gate.take() {
                let _ = gate.recv();
            }
            self.readings += 1;
            let text = format!("reading {}", self.readings);
            let occurrence = Occurrence::new(Kind::ServiceFailed, Severity::Warning, text);
            Ok(HostReading {
                news: vec![HostNews::stands(occurrence)],
                ..HostReading::default()
            })
        }
    }

    #[test]
    fn what_a_late_reading_has_seen_happen_comes_with_the_next_one() {
        let dir = tempfile::tempdir().unwrap();
        let mut watch = watch(dir.path(), &all_but("limits"));
        let (go_on, gate) = sync_channel::<()>(1);
        watch.slots[0].1 = Slot::Idle(Box::new(Eventful {
            gate: Some(gate),
            readings: 0,
        }));
        let mut now = Instant::now();
        let (_, first) = watch.read_next(now).unwrap();
        assert!(matches!(first, HostOutcome::Unanswered(_)), "{first:?}");
        drop(go_on);
        let reading = loop {
            now += Duration::from_secs(60);
            match watch.read_next(now).unwrap().1 {
                HostOutcome::Read(reading) => break reading,
                // A busy machine can take longer than the deadline.
                outcome => assert!(matches!(outcome, HostOutcome::Unanswered(_)), "{outcome:?}"),
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        let news = reading.news.iter();
        let texts: Vec<&str> = news.map(|news| news.occurrence.message.as_str()).collect();
        assert_eq!(texts[..2], ["reading 1", "reading 2"]);
    }

    /// Says in which thread it is read.
    struct Threaded(Sender<ThreadId>);

    impl Part for Threaded {
        fn read(&mut self, _roots: &HostRoots, _now: Instant) -> Result<HostReading, Unread> {
            self.0.send(std::thread::current().id()).unwrap();
            Ok(HostReading::default())
        }
    }

    #[test]
    fn one_thread_reads_until_it_does_not_answer() {
        let dir = tempfile::tempdir().unwrap();
        let mut watch = watch(dir.path(), &all_but("limits"));
        let (id, ids) = channel();
        let mut now = Instant::now();
        let minute = Duration::from_secs(60);
        let mut thread = |watch: &mut HostWatch| {
            watch.slots[0].1 = Slot::Idle(Box::new(Threaded(id.clone())));
            watch.reader.deadline = minute;
            now += minute;
            let (_, outcome) = watch.read_next(now).unwrap();
            assert!(matches!(outcome, HostOutcome::Read(_)), "{outcome:?}");
            ids.recv().unwrap()
        };
        let first = thread(&mut watch);
        assert_eq!(thread(&mut watch), first);
        let (go_on, gate) = sync_channel::<()>(1);
        watch.slots[0].1 = Slot::Idle(Box::new(Eventful {
            gate: Some(gate),
            readings: 0,
        }));
        watch.reader.deadline = Duration::from_millis(10);
        let (_, stuck) = watch.read_next(Instant::now() + 10 * minute).unwrap();
        assert!(matches!(stuck, HostOutcome::Unanswered(_)), "{stuck:?}");
        watch.slots[0].2 = Instant::now();
        assert_ne!(thread(&mut watch), first);
        drop(go_on);
    }
}
