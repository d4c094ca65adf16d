use gtrace_event::{Event, Kind, Occurrence, Provenance, WitnessName};
use gtrace_incident::{Correlator, Rules};
use gtrace_recorder::{Entry, KernelLine};
use tokio::sync::mpsc::UnboundedReceiver;

use super::*;

fn incidents(count: u32) -> Vec<Incident> {
    let options = gtrace_incident::Options::default();
    let mut correlator = Correlator::new(Rules::builtin().unwrap(), options);
    let mut all = Vec::new();
    for nth in 0..count {
        let mut occurrence = Occurrence::new(Kind::GpuLost, Severity::Fatal, "gone");
        occurrence.provenance = Provenance::Kernel;
        let pci = format!("{nth:04x}:3b:00.0");
        occurrence.gpu = Some(gtrace_event::Gpu {
            pci: pci.parse().ok(),
            ..gtrace_event::Gpu::default()
        });
        let event = Event::seen(Timestamp::now(), WitnessName::SysfsPci, 1, occurrence);
        all.extend(correlator.ingest(&event));
    }
    all
}

const AFTER: Duration = Duration::from_secs(30);

struct Bench {
    dir: tempfile::TempDir,
    hub: Arc<Hub>,
    commands: std::cell::RefCell<UnboundedReceiver<Command>>,
}

impl Bench {
    fn new() -> Self {
        let (hub, commands) = Hub::new(crate::hub::bare_status());
        hub.recorder.begin();
        let dir = tempfile::tempdir().unwrap();
        Self {
            dir,
            hub,
            commands: commands.into(),
        }
    }

    fn task(&self) -> RecorderTask<'_> {
        let options = Options {
            store: self.dir.path().join("store.db"),
            evidence_bytes: 1 << 30,
            evidence_age: None,
            after: AFTER,
            proc_root: "/proc".into(),
            sysfs_root: self.dir.path().to_owned(),
        };
        let started = clock::boottime_ns().saturating_sub(60 * 1_000_000_000);
        RecorderTask::new(&self.hub, options, started)
    }

    fn command(&self) -> Option<Command> {
        self.commands.borrow_mut().try_recv().ok()
    }

    /// A task whose recording of `incident` is at its end.
    fn recorded(&self, incident: &Incident) -> RecorderTask<'_> {
        let mut task = self.task();
        self.open(incident);
        task.round();
        task.go_on(Instant::now() + AFTER + Duration::from_secs(1));
        task
    }

    fn open(&self, incident: &Incident) {
        self.hub.set_incident(incident.clone());
        self.hub.recorder.freeze(incident);
    }

    fn log(&self, text: &str) {
        let line = KernelLine {
            level: 3,
            facility: 0,
            seq: 1,
            text: text.to_owned(),
        };
        self.hub.recorder.kernel(clock::boottime_ns(), line);
    }
}

fn answered(command: Command) -> (IncidentId, Vec<Evidence>, Vec<MissingEvidence>) {
    answered_with(command, Ok(()))
}

fn answered_with(
    command: Command,
    result: Result<(), Unchanged>,
) -> (IncidentId, Vec<Evidence>, Vec<MissingEvidence>) {
    let Command::Evidence {
        incident,
        evidence,
        missing,
        answer,
    } = command
    else {
        panic!("only evidence comes");
    };
    answer.send(result).unwrap();
    (incident, evidence, missing)
}

fn texts(kept: &evidence::Kept) -> Vec<String> {
    let text = |entry: &Entry| match &entry.what {
        What::Kernel(line) => Some(line.text.clone()),
        _ => None,
    };
    kept.lines.entries.iter().filter_map(text).collect()
}

#[test]
fn what_was_before_and_after_an_opening_is_kept_and_goes_to_the_core() {
    let bench = Bench::new();
    let incident = incidents(1).remove(0);
    let mut task = bench.task();
    bench.log("before");
    task.round();
    bench.open(&incident);
    task.round();
    bench.log("after");
    task.go_on(Instant::now() + AFTER + Duration::from_secs(1));
    let root = task.root.clone();
    let command = bench.command().unwrap();
    let (id, evidence, missing) = answered(command);
    task.settle();
    assert_eq!(id, incident.id);
    // There is no history of samples here.
    assert_eq!(missing.len(), 1, "{missing:?}");
    assert_eq!(missing[0].what, "samples");
    let kept = evidence::read(&root, id, &evidence);
    assert_eq!(texts(&kept), ["before", "after"]);
    assert!(kept.snapshot.unwrap().parts.len() > 4);
    assert!(evidence::interrupted(&root).unwrap().is_empty());
    // What was recorded is on disk, for whoever asks for a time.
    let minute = SignedDuration::from_secs(60);
    let (from, to) = (Timestamp::now() - minute, Timestamp::now());
    let lines = Disk::read(&directory(&task.options.store), from, to).unwrap();
    assert!(
        lines
            .entries
            .iter()
            .any(|e| matches!(&e.what, What::Kernel(l) if l.text == "before"))
    );
}

#[test]
fn a_capture_is_recorded_also_where_as_many_worse_incidents_are_open_as_the_hub_keeps() {
    let bench = Bench::new();
    let mut capture = incidents(1).remove(0);
    for nth in 0..crate::hub::INCIDENTS_MAX as u64 {
        let mut other = capture.clone();
        other.id = IncidentId::new(nth);
        bench.hub.set_incident(other);
    }
    capture.severity = Severity::Info;
    let task = bench.recorded(&capture);
    assert!(bench.hub.incident(capture.id).is_none());
    let (id, evidence, _) = answered(bench.command().unwrap());
    assert_eq!(id, capture.id);
    let kept = evidence::read(&task.root, id, &evidence);
    assert!(kept.snapshot.is_some());
}

#[test]
fn samples_from_before_the_clock_was_set_back_are_kept() {
    let bench = Bench::new();
    let mut task = bench.task();
    // A minute ago the clock was an hour ahead.
    let minute_ago = clock::boottime_ns().saturating_sub(60_000_000_000);
    let before = clock::wall_time(minute_ago) + SignedDuration::from_hours(1);
    task.steps.observe(before, minute_ago);
    task.round();
    let now = Timestamp::now();
    let dir = history::directory(&task.options.store);
    let mut writer = Writer::open(&dir, gtrace_history::Options::default()).unwrap();
    for time in [before, now] {
        let key = SeriesKey::new("power", "", gtrace_history::Kind::Gauge, Vec::new());
        let sample = Sample {
            series: key.unwrap(),
            value: gtrace_history::Value::gauge(700.0),
        };
        let batch = Samples {
            time_ms: time.as_millisecond(),
            samples: vec![sample],
        };
        writer.push(&batch).unwrap();
    }
    drop(writer);
    bench.open(&incidents(1)[0]);
    task.round();
    task.go_on(Instant::now() + AFTER + Duration::from_secs(1));
    let (id, evidence, missing) = answered(bench.command().unwrap());
    assert!(missing.is_empty(), "{missing:?}");
    let kept = evidence::read(&task.root, id, &evidence).samples.unwrap();
    let all = Query {
        until_ms: i64::MAX,
        max_points: 100,
        ..Query::default()
    };
    let reader = gtrace_history::Reader::open(&kept).unwrap();
    let found = reader.query(&all).unwrap().series.remove(0);
    let times: Vec<_> = found.points.iter().map(|p| p.time_ms / 1000).collect();
    assert_eq!(times, [now.as_second(), before.as_second()]);
}

#[test]
fn what_was_found_in_an_old_log_leaves_room_for_what_happens_now() {
    let bench = Bench::new();
    let all = incidents(41);
    let (now, old) = all.split_last().unwrap();
    let mut task = bench.task();
    for incident in old {
        let mut incident = incident.clone();
        incident.opened -= SignedDuration::from_hours(1);
        bench.open(&incident);
    }
    bench.open(now);
    task.round();
    assert_eq!(task.recordings.len(), 1);
    let mut recorded = 0;
    while let Some(command) = bench.command() {
        let (_, evidence, missing) = answered(command);
        recorded += usize::from(!evidence.is_empty());
        assert!(
            missing
                .iter()
                .any(|m| m.why.contains("before gtrace was there"))
        );
    }
    assert_eq!(recorded, PAST_RECORDINGS);
}

#[test]
fn what_the_core_had_no_room_for_is_handed_in_again() {
    let bench = Bench::new();
    let incident = incidents(1).remove(0);
    let mut task = bench.recorded(&incident);
    // Nobody answers, as of a request that found the core's queue full.
    drop(bench.command().unwrap());
    task.settle();
    let (id, evidence, _) = answered(bench.command().unwrap());
    assert!(id == incident.id && !evidence.is_empty());
    task.settle();
    assert!(bench.command().is_none());
    assert!(evidence::interrupted(&task.root).unwrap().is_empty());
}

#[test]
fn a_hundred_at_once_are_bounded_and_each_says_what_became_of_it() {
    let bench = Bench::new();
    let all = incidents(100);
    assert_eq!(all.len(), 100);
    let mut task = bench.task();
    for incident in &all {
        bench.open(incident);
    }
    task.round();
    assert_eq!(task.recordings.len(), RECORDINGS);
    let mut asked = incidents(1).remove(0);
    asked.severity = Severity::Info;
    bench.open(&asked);
    task.round();
    assert_eq!(task.recordings.len(), RECORDINGS + 1);
    task.go_on(Instant::now() + AFTER + Duration::from_secs(1));
    let mut ids = std::collections::BTreeSet::new();
    let mut recorded = 0;
    while let Some(command) = bench.command() {
        let (id, evidence, missing) = answered(command);
        recorded += usize::from(!evidence.is_empty());
        assert!(!evidence.is_empty() || !missing.is_empty());
        ids.insert(id);
    }
    assert_eq!((ids.len(), recorded), (101, RECORDINGS + 1));
}

#[test]
fn a_folder_that_cannot_be_written_is_said_in_the_incident_and_stops_nothing() {
    let bench = Bench::new();
    std::fs::write(bench.dir.path().join(evidence::DIRECTORY), "in the way").unwrap();
    let incident = incidents(1).remove(0);
    let mut task = bench.task();
    bench.log("a line");
    bench.open(&incident);
    task.round();
    task.round();
    let (_, evidence, missing) = answered(bench.command().unwrap());
    assert!(evidence.is_empty());
    assert!(missing[0].why.contains("cannot be written"), "{missing:?}");
    let metric = |name: &str| {
        let metrics = task.metrics();
        metrics.iter().find(|m| m.name == name).unwrap().value
    };
    assert_eq!(metric("gtrace_recorder_failed_recordings"), 1.0);
    assert!(metric("gtrace_recorder_memory_bytes") > 0.0);
}

#[test]
fn a_recording_that_a_killed_process_left_is_finished_by_the_next() {
    let bench = Bench::new();
    let incident = incidents(1).remove(0);
    let mut task = bench.task();
    bench.log("before");
    bench.open(&incident);
    task.round();
    drop(task);
    let mut next = bench.task();
    next.take_up_interrupted();
    let (id, evidence, missing) = answered(bench.command().unwrap());
    next.settle();
    assert_eq!(id, incident.id);
    assert!(
        missing.iter().any(|m| m.why.contains("interrupted")),
        "{missing:?}"
    );
    let kept = evidence::read(&next.root, id, &evidence);
    assert_eq!(texts(&kept), ["before"]);
    assert!(evidence::interrupted(&next.root).unwrap().is_empty());
}

#[test]
fn a_store_that_fails_for_a_moment_costs_no_recording_nor_the_next_start_its_end() {
    let bench = Bench::new();
    let incident = incidents(1).remove(0);
    let mut task = bench.recorded(&incident);
    let failed = Unchanged::Failed("no space left".to_owned());
    answered_with(bench.command().unwrap(), Err(failed));
    task.settle();
    let (_, first, _) = answered(bench.command().expect("it is handed in again"));
    // It was taken; the daemon ends before it learns that.
    drop(task);
    let mut next = bench.task();
    next.take_up_interrupted();
    let (id, again, missing) = answered(bench.command().unwrap());
    assert_eq!((id, again), (incident.id, first));
    assert!(
        missing.iter().all(|m| !m.why.contains("interrupted")),
        "{missing:?}"
    );
    next.settle();
    assert!(evidence::interrupted(&next.root).unwrap().is_empty());
}

#[test]
fn what_was_kept_of_an_incident_that_the_store_never_got_goes_with_its_age() {
    let bench = Bench::new();
    let incident = incidents(1).remove(0);
    let mut task = bench.recorded(&incident);
    let unknown = Unchanged::NoIncident(incident.id);
    answered_with(bench.command().unwrap(), Err(unknown));
    task.settle();
    assert!(bench.command().is_none());
    assert!(evidence::interrupted(&task.root).unwrap().is_empty());
    let kept = task.root.join(incident.id.to_string());
    assert!(kept.join(evidence::RECORDING).exists());
    task.options.evidence_bytes = 0;
    task.retain();
    assert!(!kept.exists());
}

#[test]
fn a_clock_that_was_just_set_makes_nothing_old() {
    let bench = Bench::new();
    let incident = incidents(1).remove(0);
    let mut task = bench.recorded(&incident);
    answered(bench.command().unwrap());
    task.settle();
    let kept = task.root.join(incident.id.to_string());
    let made = std::time::SystemTime::UNIX_EPOCH;
    let dir = std::fs::File::open(&kept).unwrap();
    dir.set_modified(made).unwrap();
    task.options.evidence_age = Some(Duration::from_secs(86_400));
    task.retain();
    assert!(kept.exists());
}

#[test]
fn what_is_kept_is_read_again_once_something_was_added_or_time_has_passed() {
    let bench = Bench::new();
    let all = incidents(2);
    let mut task = bench.recorded(&all[0]);
    answered(bench.command().unwrap());
    let publish = |task: &mut RecorderTask<'_>| {
        task.published = None;
        task.round();
        task.usage.incidents
    };
    assert_eq!(publish(&mut task), 1);
    std::fs::remove_dir_all(task.root.join(all[0].id.to_string())).unwrap();
    assert_eq!(publish(&mut task), 1, "nothing was added");
    task.retained = Instant::now().checked_sub(RETAIN_EVERY);
    assert_eq!(publish(&mut task), 0);
    bench.open(&all[1]);
    assert_eq!(publish(&mut task), 1, "a recording is under way");
    task.go_on(Instant::now() + AFTER + Duration::from_secs(1));
    answered(bench.command().unwrap());
    task.options.evidence_bytes = 0;
    assert_eq!(publish(&mut task), 0, "it has ended, and is too much");
}

#[test]
fn a_recorder_with_nothing_to_do_sleeps_until_a_line_an_incident_or_a_file_comes() {
    let bench = Bench::new();
    let (hub, incident) = (&bench.hub, incidents(1).remove(0));
    let mut task = bench.task();
    task.round();
    hub.recorder.wake_by(&hub.tasks);
    let (woken, is_woken) = std::sync::mpsc::channel();
    hub.tasks
        .start(Task::optional(names::RECORDER, SILENCE), move |pulse| {
            while !pulse.is_stopping() {
                pulse.wait(Duration::MAX);
                let _ = woken.send(());
            }
            Ok(())
        })
        .unwrap();
    // Just now, however long this test takes.
    task.published = Some(Instant::now() + Duration::from_secs(3600));
    assert_eq!(task.rest(), PUBLISH_EVERY);
    bench.log("a line");
    is_woken.recv().unwrap();
    assert_eq!(task.rest(), EVERY, "it is not on disk");
    task.synced = Instant::now();
    task.round();
    assert_eq!(task.rest(), EVERY, "it is not synced");
    task.synced = Instant::now().checked_sub(SYNC_EVERY).unwrap();
    task.round();
    assert_eq!(task.rest(), PUBLISH_EVERY);
    let published = task.published;
    task.published = Instant::now().checked_sub(PUBLISH_EVERY);
    assert_eq!(task.rest(), Duration::ZERO, "its samples are due");
    task.published = published;
    bench.open(&incident);
    is_woken.recv().unwrap();
    assert_eq!(task.rest(), EVERY, "it waits to be recorded");
    task.round();
    assert_eq!(task.rest(), EVERY, "its recording is under way");
    hub.tasks.stop(&[names::RECORDER], Duration::from_secs(60));
}
