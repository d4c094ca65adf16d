//! The flight recorder at work: takes what sources see, keeps it in memory and on disk, and keeps what belongs to an
//! incident when one opens.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gtrace_devices::Metric;
use gtrace_event::{Evidence, Incident, IncidentId, MissingEvidence, Severity, Timestamp};
use gtrace_history::{Query, Sample, Samples, SeriesKey, Writer};
use gtrace_recorder::{Disk, FileError, Plan, Recording, Ring, What, evidence};
use gtrace_store::SteadyClock;
use jiff::SignedDuration;
use tokio::sync::oneshot::error::TryRecvError;

use crate::clock_steps::ClockSteps;
use crate::flight::{Attachment, nanoseconds, since_boot};
use crate::hub::{Command, Hub, Unchanged};
use crate::snapshot::{Subject, Taking};
use crate::supervise::{self, Task, names};
use crate::{clock, history, host};

pub use gtrace_recorder::evidence::ATTACHED_MAX;

/// Name of the directory with the last minutes, beside the store.
const DIRECTORY: &str = "recorder";
/// Most bytes of it.
const DISK_BYTES: u64 = 16 << 20;
/// Between two rounds while something comes: what a killed process loses at most. What comes after a rest begins one.
const EVERY: Duration = Duration::from_secs(1);
/// Between two syncs: what a power cut takes at most, where the disk keeps its word.
const SYNC_EVERY: Duration = Duration::from_secs(5);
/// Between two publications of the recorder's own samples, and two checks of what is too much while something is added.
const PUBLISH_EVERY: Duration = Duration::from_secs(10);
/// Between two such checks while nothing is: its age alone can make it too much, and a check reads a directory of each incident.
const RETAIN_EVERY: Duration = Duration::from_secs(600);
/// Longest time between two heartbeats: a disk can take its time.
const SILENCE: Duration = Duration::from_secs(90);
/// How long before an incident a recording begins.
const BEFORE: SignedDuration = SignedDuration::from_mins(5);
/// Recordings of the past: a log may have a hundred faults.
const PAST_RECORDINGS: usize = 16;
/// Recordings under way at once.
const RECORDINGS: usize = 16;
/// Drills have so many of them: a game day leaves room for faults.
const DRILLS: usize = 8;
/// So many more that somebody asked for: those of a storm do not refuse them.
const ASKED: usize = 4;
/// Most bytes of the entries of one incident, before they are compressed.
const RECORDING_BYTES: u64 = 12 << 20;
/// Most bytes of its samples.
const SAMPLE_BYTES: u64 = 16 << 20;
/// Points of them.
const SAMPLE_POINTS: usize = 200_000;
/// How long it is waited for who uses a GPU. It takes some milliseconds, unless the probes' thread hangs.
const USERS_PATIENCE: Duration = Duration::from_millis(300);
/// So often an answer of the core is waited for.
const SETTLE_ROUNDS: u32 = 120;

/// Where the last minutes of the daemon lie whose store is `store`.
pub fn directory(store: &Path) -> PathBuf {
    store.with_file_name(DIRECTORY)
}

/// Where what was kept of incidents lies.
pub fn evidence_directory(store: &Path) -> PathBuf {
    store.with_file_name(evidence::DIRECTORY)
}

/// Where and how much.
#[derive(Clone, Debug)]
pub struct Options {
    /// The store's file, beside which everything lies.
    pub store: PathBuf,
    /// Most bytes that are kept of all incidents.
    pub evidence_bytes: u64,
    /// For how long they are kept.
    pub evidence_age: Option<Duration>,
    /// How long a recording goes on after its incident has opened.
    pub after: Duration,
    /// Root of procfs.
    pub proc_root: PathBuf,
    /// Root of sysfs.
    pub sysfs_root: PathBuf,
}

/// Starts the recorder of `hub`.
///
/// # Errors
///
/// If its thread cannot be started.
pub fn start(hub: &Arc<Hub>, options: Options) -> std::io::Result<()> {
    hub.recorder.begin();
    hub.recorder.wake_by(&hub.tasks);
    hub.recorder.note(What::Started {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        boot_id: host::boot_id(),
    });
    let task = Task::optional(names::RECORDER, SILENCE);
    let (of_task, started) = (Arc::clone(hub), clock::boottime_ns());
    hub.tasks.start(task, move |pulse| {
        let mut recorder_task = RecorderTask::new(&of_task, options.clone(), started);
        recorder_task.take_up_interrupted();
        while !pulse.is_stopping() {
            recorder_task.round();
            pulse.wait(recorder_task.rest());
        }
        recorder_task.end();
        Ok(())
    })
}

/// What comes of a recording once it has ended, until the core has it.
type Answer = tokio::sync::oneshot::Receiver<Result<(), Unchanged>>;

/// What goes into an incident's record.
struct Submitted {
    incident: IncidentId,
    evidence: Vec<Evidence>,
    missing: Vec<MissingEvidence>,
    /// Rounds since it was first handed in.
    rounds: u32,
}

/// One run of the task.
struct RecorderTask<'a> {
    hub: &'a Hub,
    /// When this process began to record, ns since boot.
    started: u64,
    options: Options,
    root: PathBuf,
    disk: Option<Disk>,
    /// Up to where the ring is on disk.
    on_disk: u64,
    synced: Instant,
    published: Option<Instant>,
    /// When it was last checked what is kept; `None` once something may have been added since.
    retained: Option<Instant>,
    /// Whether the last attempt to write failed.
    failing: bool,
    recordings: Vec<UnderWay>,
    /// How many of the past were recorded.
    past: usize,
    /// Ended ones whose evidence went to the core.
    submitted: Vec<(Submitted, Answer)>,
    usage: evidence::Usage,
    counts: Counts,
    clock: SteadyClock,
    steps: ClockSteps,
}

/// What there was, since this thread began.
#[derive(Debug, Default)]
struct Counts {
    recordings: u64,
    interrupted: u64,
    refused: u64,
    failed: u64,
    unwritable_bytes: u64,
    removed_bytes: u64,
}

/// A recording under way.
struct UnderWay {
    recording: Recording,
    began: Instant,
    /// From when on, ns since boot; `None` where that is known by the wall clock alone.
    from_ns: Option<i64>,
    /// Up to where the ring is in it.
    copied: u64,
    taking: Option<Taking>,
}

impl<'a> RecorderTask<'a> {
    fn new(hub: &'a Hub, options: Options, started: u64) -> Self {
        Self {
            hub,
            started,
            root: evidence_directory(&options.store),
            options,
            disk: None,
            on_disk: 0,
            synced: Instant::now(),
            published: None,
            retained: None,
            failing: false,
            recordings: Vec::new(),
            past: 0,
            submitted: Vec::new(),
            usage: evidence::Usage::default(),
            counts: Counts::default(),
            clock: SteadyClock::default(),
            steps: ClockSteps::default(),
        }
    }

    fn round(&mut self) {
        self.steps.observe(Timestamp::now(), clock::boottime_ns());
        // First, as a process that an incident is about may be gone soon.
        self.take_triggers();
        self.write_ring();
        if supervise::is_revoked() {
            return;
        }
        if !(self.recordings.is_empty() && self.submitted.is_empty()) {
            self.retained = None;
        }
        while let Some(attachment) = self.hub.recorder.next_attachment() {
            self.attach(attachment);
        }
        self.go_on(Instant::now());
        self.settle();
        if self
            .published
            .is_none_or(|at| at.elapsed() >= PUBLISH_EVERY)
        {
            self.published = Some(supervise::period_start(Instant::now(), PUBLISH_EVERY));
            if self.retained.is_none_or(|at| at.elapsed() >= RETAIN_EVERY) {
                self.retained = Some(Instant::now());
                self.retain();
            }
            self.hub
                .samples
                .publish_now(names::RECORDER, PUBLISH_EVERY, self.metrics());
        }
    }

    /// How long until the next round. With nothing under way it sleeps until something comes, or its samples are due.
    fn rest(&self) -> Duration {
        let is_under_way = !(self.recordings.is_empty() && self.submitted.is_empty());
        let is_unsynced = self.disk.as_ref().is_some_and(Disk::is_dirty);
        // What fails is not tried anew for each line.
        if is_under_way || is_unsynced || self.failing {
            return EVERY;
        }
        if !self.hub.recorder.sleep_beyond(self.on_disk) {
            return EVERY;
        }
        let age = self.published.map_or(PUBLISH_EVERY, |at| at.elapsed());
        PUBLISH_EVERY.saturating_sub(age)
    }

    fn take_triggers(&mut self) {
        let mut users_are_new = false;
        while let Some(opened) = self.hub.recorder.next_trigger() {
            if !std::mem::replace(&mut users_are_new, true) {
                self.read_users();
            }
            // Of one that the hub has no room for, what it was at its opening is known.
            let incident = self.hub.incident(opened.id).unwrap_or(opened);
            self.begin(&incident);
        }
    }

    /// Has it read anew who uses a GPU: one that began a second ago may be what the incident is about, and end soon.
    fn read_users(&self) {
        let mut read = self.hub.read_calls();
        let until = Instant::now() + USERS_PATIENCE;
        while Instant::now() < until && read.try_recv() == Err(TryRecvError::Empty) {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Puts what is new in memory on disk.
    fn write_ring(&mut self) {
        let from = self.on_disk;
        let Some(read) = self.hub.recorder.read(|ring| ring.read(from)) else {
            return;
        };
        self.on_disk = read.next;
        self.counts.unwritable_bytes += read.missed;
        let due = self.synced.elapsed() >= SYNC_EVERY;
        let written = self.append(&read.bytes, due);
        if due {
            self.synced = Instant::now();
        }
        if written.is_err() {
            self.counts.unwritable_bytes += read.bytes.len() as u64;
            // What failed may be mended: the directory is made anew.
            self.disk = None;
        }
        self.log(written, "the last minutes cannot be kept on disk");
    }

    fn append(&mut self, lines: &[u8], sync: bool) -> Result<(), FileError> {
        if self.disk.is_none() && lines.is_empty() {
            return Ok(());
        }
        let disk = match &mut self.disk {
            Some(disk) => disk,
            none => none.insert(Disk::open(&directory(&self.options.store), DISK_BYTES)?),
        };
        disk.append(lines)?;
        match sync {
            true => disk.sync(),
            false => Ok(()),
        }
    }

    /// Logs when writing begins to fail, and when it works again.
    fn log(&mut self, result: Result<(), FileError>, what: &str) {
        match result {
            Err(error) if !self.failing => {
                tracing::warn!("{what}: {error}");
                self.failing = true;
            }
            Ok(()) if self.failing => {
                tracing::info!("the flight recorder writes again");
                self.failing = false;
            }
            _ => {}
        }
    }

    fn begin(&mut self, incident: &Incident) {
        let now = Timestamp::now();
        let opened = incident.opened.min(now);
        // Found in the log of the time before: the host is no longer as it was.
        let is_past = opened < clock::wall_time(self.started);
        let until = match is_past {
            true => now,
            false => now.checked_add(self.options.after).unwrap_or(now),
        };
        let plan = Plan {
            incident: incident.id,
            from: opened.checked_sub(BEFORE).unwrap_or(opened),
            opened,
            until,
        };
        let most = match incident.severity {
            Severity::Info => RECORDINGS + ASKED,
            _ if incident.drill => DRILLS,
            _ => RECORDINGS,
        };
        let full = match is_past {
            true => self.past >= PAST_RECORDINGS,
            false => self.recordings.len() >= most,
        };
        if full {
            self.counts.refused += 1;
            let why = match is_past {
                true => format!(
                    "it happened before gtrace was there, as {PAST_RECORDINGS} others whose log was kept"
                ),
                false => format!("{most} recordings of other incidents were under way"),
            };
            return self.submit_missing(incident.id, &why);
        }
        let from = since_boot(plan.from);
        let Some(before) = self.hub.recorder.read(|ring| ring.since(from)) else {
            return;
        };
        // Before anything is written: a disk takes its time.
        let taking = match is_past {
            true => Err("it happened before gtrace was there to ask".to_owned()),
            false => Ok(Taking::begin(Subject::of(
                incident,
                self.hub,
                &self.options.proc_root,
                &self.options.sysfs_root,
            ))),
        };
        match Recording::begin(&self.root, plan, &before.bytes, RECORDING_BYTES) {
            Ok(mut recording) => {
                self.counts.recordings += 1;
                if let Err(why) = &taking {
                    recording.miss("state of the host", why.clone());
                }
                let under_way = UnderWay {
                    recording,
                    began: Instant::now(),
                    from_ns: Some(from),
                    copied: before.next,
                    taking: taking.ok(),
                };
                if is_past {
                    self.past += 1;
                    self.finish(under_way);
                } else {
                    self.recordings.push(under_way);
                }
            }
            Err(error) => {
                self.counts.failed += 1;
                self.submit_missing(incident.id, &format!("it cannot be written: {error}"));
                self.log(Err(error), "an incident cannot be recorded");
            }
        }
    }

    /// Adds a file to the recording of its incident, if that is under way.
    fn attach(&mut self, attachment: Attachment) {
        let id = attachment.incident;
        let mut recordings = self.recordings.iter_mut().map(|one| &mut one.recording);
        let added = match recordings.find(|one| one.plan().incident == id) {
            Some(recording) => recording.attach(&attachment.name, &attachment.bytes),
            None => Err(format!("incident {id} is not being recorded (any more)")),
        };
        // Whoever sent it may have gone.
        let _ = attachment.answer.send(added);
    }

    /// Copies what has come to every recording, and ends those whose time is over.
    fn go_on(&mut self, now: Instant) {
        for mut under_way in std::mem::take(&mut self.recordings) {
            let copied = under_way.copied;
            if let Some(read) = self.hub.recorder.read(|ring| ring.read(copied)) {
                under_way.copied = read.next;
                let appended = under_way.recording.append(&read.bytes, read.missed);
                if let Err(error) = appended {
                    under_way
                        .recording
                        .miss("part of the recording", error.to_string());
                    self.log(Err(error), "an incident cannot be recorded further");
                }
            }
            under_way.keep_snapshot(false);
            let took = now.saturating_duration_since(under_way.began);
            match took >= self.options.after {
                true => self.finish(under_way),
                false => self.recordings.push(under_way),
            }
        }
    }

    fn finish(&mut self, mut under_way: UnderWay) {
        under_way.keep_snapshot(true);
        let mut recording = under_way.recording;
        let plan = recording.plan();
        let spans = match under_way.from_ns {
            // The clock may have been set meanwhile.
            Some(from_ns) => self.steps.shown(from_ns, nanoseconds(clock::boottime_ns())),
            None => vec![(plan.from.as_millisecond(), plan.until.as_millisecond())],
        };
        if let Err(why) = self.keep_samples(&recording, &spans) {
            recording.miss("samples", why);
        }
        self.submit_finished(recording);
    }

    fn submit_finished(&mut self, recording: Recording) {
        let id = recording.plan().incident;
        match recording.finish() {
            Ok((evidence, missing)) => self.submit(id, evidence, missing),
            Err(error) => {
                self.counts.failed += 1;
                self.submit_missing(id, &format!("it cannot be written: {error}"));
                self.log(Err(error), "a recording cannot be finished");
            }
        }
    }

    /// Copies the samples of these spans of time into the recording, as the history makes them coarser after an hour.
    fn keep_samples(&self, recording: &Recording, spans: &[(i64, i64)]) -> Result<(), String> {
        let from = history::directory(&self.options.store);
        let reader = gtrace_history::Reader::open(&from).map_err(|e| e.to_string())?;
        let mut found = Vec::new();
        for (first_ms, last_ms) in spans {
            let query = Query {
                since_ms: *first_ms,
                until_ms: last_ms.saturating_add(1),
                max_points: SAMPLE_POINTS,
                ..Query::default()
            };
            found.extend(reader.query(&query).map_err(|e| e.to_string())?.series);
        }
        let mut by_time: BTreeMap<i64, Vec<Sample>> = BTreeMap::new();
        for series in found {
            let key = SeriesKey::new(&series.metric, &series.unit, series.kind, series.labels);
            let Ok(key) = key else { continue };
            for point in series.points {
                by_time.entry(point.time_ms).or_default().push(Sample {
                    series: key.clone(),
                    value: point.value,
                });
            }
        }
        let options = gtrace_history::Options {
            max_bytes: SAMPLE_BYTES,
            ..gtrace_history::Options::only_finest()
        };
        let write = || -> Result<(), gtrace_history::HistoryError> {
            let mut writer = Writer::open(&recording.samples(), options)?;
            for (time_ms, samples) in by_time {
                writer.push(&Samples { time_ms, samples })?;
            }
            writer.flush(recording.plan().until.as_millisecond())?;
            drop(writer);
            // All is in the segment.
            let _ = std::fs::remove_file(recording.samples().join("journal"));
            Ok(())
        };
        write().map_err(|error| error.to_string())
    }

    fn submit(&mut self, id: IncidentId, evidence: Vec<Evidence>, missing: Vec<MissingEvidence>) {
        let submitted = Submitted {
            incident: id,
            evidence,
            missing,
            rounds: 0,
        };
        self.send(submitted);
    }

    /// Hands it to the core. A daemon that ends takes nothing more; the next start finds the plan.
    fn send(&mut self, submitted: Submitted) {
        let (answer, answered) = tokio::sync::oneshot::channel();
        let sent = self.hub.command(Command::Evidence {
            incident: submitted.incident,
            evidence: submitted.evidence.clone(),
            missing: submitted.missing.clone(),
            answer,
        });
        if sent {
            self.submitted.push((submitted, answered));
        }
    }

    fn submit_missing(&mut self, id: IncidentId, why: &str) {
        let missing = MissingEvidence::new("recording", why);
        self.submit(id, Vec::new(), vec![missing]);
    }

    /// Forgets the plans of those that the store knows of, and hands in again what the core had no room for.
    fn settle(&mut self) {
        for (mut submitted, mut answer) in std::mem::take(&mut self.submitted) {
            let id = submitted.incident;
            submitted.rounds += 1;
            match answer.try_recv() {
                Ok(Ok(())) => self.forget_plan(id),
                // The power went before the store had the incident: its record will never come.
                Ok(Err(Unchanged::NoIncident(_))) => {
                    tracing::warn!(
                        "what was kept in {} is of an incident that the store does not have; it goes with its age",
                        self.root.join(id.to_string()).display()
                    );
                    self.forget_plan(id);
                }
                // A store that fails for a moment; what it has already is not added twice.
                Ok(Err(Unchanged::Failed(_))) if submitted.rounds < SETTLE_ROUNDS => {
                    self.send(submitted);
                }
                // The next start finds it again.
                Ok(Err(why)) => {
                    tracing::warn!("what was kept of incident {id} is not in its record: {why}");
                }
                Err(_) if submitted.rounds >= SETTLE_ROUNDS => {
                    tracing::warn!(
                        "what was kept of incident {id} is not in its record: the core is too busy"
                    );
                }
                Err(TryRecvError::Empty) => self.submitted.push((submitted, answer)),
                Err(TryRecvError::Closed) => self.send(submitted),
            }
        }
    }

    fn forget_plan(&self, id: IncidentId) {
        if let Err(error) = evidence::settle(&self.root, id) {
            tracing::warn!("a plan stays: {error}");
        }
    }

    /// Finishes what an earlier process, or an earlier thread, was recording.
    fn take_up_interrupted(&mut self) {
        let found = match evidence::interrupted(&self.root) {
            Ok(found) => found,
            Err(error) => return self.log(Err(error), "earlier recordings cannot be read"),
        };
        for mut recording in found {
            if recording.is_finished() {
                // Whole; only its record was not confirmed.
                self.submit_finished(recording);
                continue;
            }
            self.counts.interrupted += 1;
            let plan = recording.plan();
            if plan.until > Timestamp::now() {
                recording.miss(
                    "end of the recording",
                    "it was interrupted: gtrace or the host ended while it was written",
                );
            } else {
                recording.miss(
                    "part of the recording",
                    "it was interrupted: gtrace or the host ended before its time was over, or before it was finished",
                );
            }
            self.finish(UnderWay {
                recording,
                began: Instant::now(),
                from_ns: None,
                copied: u64::MAX,
                taking: None,
            });
        }
    }

    /// Ends everything in order. What is under way is finished by the next start.
    fn end(&mut self) {
        self.write_ring();
        self.go_on(Instant::now());
        let synced = self.append(&[], true);
        self.log(synced, "the last minutes cannot be kept on disk");
    }

    fn retain(&mut self) {
        let Options {
            evidence_bytes,
            evidence_age,
            ..
        } = self.options;
        let (now, boot_ns) = (Timestamp::now(), clock::boottime_ns());
        let by_age = self.clock.is_steady(now, boot_ns);
        let age = evidence_age.filter(|_| by_age);
        match evidence::retain(&self.root, evidence_bytes, age) {
            Ok(usage) => {
                if usage.removed > 0 {
                    tracing::info!(
                        "what was kept of {} incidents ({} bytes) was removed for its age or for want of room",
                        usage.removed,
                        usage.removed_bytes
                    );
                }
                self.counts.removed_bytes += usage.removed_bytes;
                self.usage = usage;
            }
            Err(error) => self.log(Err(error), "kept evidence cannot be bounded"),
        }
    }

    fn metrics(&self) -> Vec<Metric> {
        let held = |ring: &Ring| (ring.bytes(), ring.dropped(), ring.oldest_ns());
        let (ring_bytes, ring_dropped, oldest) = self.hub.recorder.read(held).unwrap_or_default();
        let span = oldest.map_or(0.0, |oldest| {
            (nanoseconds(clock::boottime_ns()).saturating_sub(oldest)) as f64 / 1e9
        });
        let refused = self.counts.refused + self.hub.recorder.refused();
        Vec::from(gtrace_devices::metric_table! {
            gauge "gtrace_recorder_memory_bytes" ["bytes"] "What the flight recorder holds in memory" =>
                ring_bytes as f64;
            gauge "gtrace_recorder_span_seconds" ["seconds"] "Age of the oldest entry that the flight recorder holds in memory" =>
                span;
            counter "gtrace_recorder_dropped_entries" [""] "Entries of the flight recorder that went for want of room before their age" =>
                ring_dropped as f64;
            counter "gtrace_recorder_unwritable_bytes" ["bytes"] "Bytes of the flight recorder that could not be put on disk" =>
                self.counts.unwritable_bytes as f64;
            counter "gtrace_recorder_recordings" [""] "Recordings of incidents that were begun" =>
                self.counts.recordings as f64;
            counter "gtrace_recorder_refused_recordings" [""] "Incidents that were not recorded, as too many were under way" =>
                refused as f64;
            counter "gtrace_recorder_failed_recordings" [""] "Incidents whose recording could not be written" =>
                self.counts.failed as f64;
            counter "gtrace_recorder_interrupted_recordings" [""] "Recordings that an earlier process had left unfinished" =>
                self.counts.interrupted as f64;
            gauge "gtrace_recorder_evidence_bytes" ["bytes"] "What is kept on disk of incidents" =>
                self.usage.bytes as f64;
            counter "gtrace_recorder_removed_bytes" ["bytes"] "Bytes of evidence that were removed for their age or for want of room" =>
                self.counts.removed_bytes as f64;
        })
    }
}

impl UnderWay {
    /// Keeps the state of the host once it is there, or what there is of it.
    fn keep_snapshot(&mut self, last: bool) {
        let Some(taking) = self.taking.take_if(|taking| last || taking.is_over()) else {
            return;
        };
        if let Err(error) = self.recording.keep(&taking.end()) {
            self.recording.miss("state of the host", error.to_string());
        }
    }
}

#[cfg(test)]
#[path = "recorder_tests.rs"]
mod tests;
