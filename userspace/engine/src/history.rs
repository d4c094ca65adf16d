//! The task that keeps samples on disk: a subscriber of [`crate::samples`] with a bounded queue.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use gtrace_devices::{Metric, MetricKind};
use gtrace_event::Timestamp;
use gtrace_history::{Kind, Options, Sample, Samples, SeriesKey, Value, Writer, WriterLock};

use crate::hub::Hub;
use crate::lock::lock;
use crate::samples::{Batch, Latency, Subscriber};
use crate::supervise::{self, Pulse, Registry, Task, names};

/// Name of the directory, beside the store.
pub const DIRECTORY: &str = "samples";
/// Batches that wait for the disk: more than all components take in a minute.
const QUEUE: usize = 256;
/// How long samples wait for others: what a killed process loses at most.
const EVERY: Duration = Duration::from_secs(2);
/// Between two publications of the history's own samples.
const PUBLISH_EVERY: Duration = Duration::from_secs(10);
/// Longest time between two heartbeats: a disk can take its time.
const SILENCE: Duration = Duration::from_secs(90);

/// Where the history of a store lies.
pub fn directory(store: &Path) -> PathBuf {
    store.with_file_name(DIRECTORY)
}

/// Batches on their way to the history's task. Samples that find it full are dropped and counted.
#[derive(Debug, Default)]
struct Queue {
    inner: Mutex<Inner>,
    dropped: AtomicU64,
    /// The tasks, of which the history's is woken.
    tasks: Registry,
}

#[derive(Debug, Default)]
struct Inner {
    waiting: VecDeque<Waiting>,
    /// Until when the task sleeps, unless samples come that cannot wait for so long.
    asleep: Option<Instant>,
}

/// What waits for the disk.
#[derive(Debug)]
enum Waiting {
    Samples(Arc<Batch>),
    Latency(Timestamp, Vec<Latency>),
}

impl Queue {
    fn next(&self) -> Option<Waiting> {
        lock(&self.inner).waiting.pop_front()
    }

    fn add(&self, waiting: Waiting, count: usize) {
        let mut inner = lock(&self.inner);
        if inner.waiting.len() < QUEUE {
            inner.waiting.push_back(waiting);
        } else {
            self.dropped.fetch_add(count as u64, Ordering::Relaxed);
        }
        let in_time = Instant::now() + EVERY;
        let woken = inner.asleep.take_if(|until| *until > in_time);
        drop(inner);
        if woken.is_some() {
            self.tasks.wake(names::HISTORY);
        }
    }

    /// Has the task woken for samples that come before `until` and cannot wait for that; false where some wait already.
    fn sleep(&self, until: Instant) -> bool {
        let mut inner = lock(&self.inner);
        let is_empty = inner.waiting.is_empty();
        inner.asleep = is_empty.then_some(until);
        is_empty
    }

    /// Whether samples have woken the task since then.
    fn is_woken(&self) -> bool {
        lock(&self.inner).asleep.take().is_none()
    }
}

impl Subscriber for Queue {
    fn take(&self, batch: &Arc<Batch>) {
        self.add(Waiting::Samples(Arc::clone(batch)), batch.metrics.len());
    }

    fn take_latency(&self, time: Timestamp, latency: &[Latency]) {
        self.add(Waiting::Latency(time, latency.to_vec()), latency.len());
    }
}

/// Starts the task that writes samples of `hub` to `dir`.
///
/// # Errors
///
/// If its thread cannot be started.
pub fn start(hub: &Arc<Hub>, dir: PathBuf, options: Options) -> std::io::Result<()> {
    let queue = Arc::new(Queue {
        tasks: hub.tasks.clone(),
        ..Queue::default()
    });
    hub.samples
        .subscribe(Arc::clone(&queue) as Arc<dyn Subscriber>);
    let task = Task::optional(names::HISTORY, SILENCE);
    let of_task = Arc::clone(hub);
    // A thread that hangs keeps its writer, and must not keep the next thread from writing.
    let right: OnceLock<WriterLock> = OnceLock::new();
    hub.tasks.start(task, move |pulse| {
        let lock = match right.get() {
            Some(lock) => Ok(lock.clone()),
            None => WriterLock::take(&dir).map(|lock| right.get_or_init(|| lock).clone()),
        };
        let writer = lock.and_then(|lock| Writer::open_locked(lock, options.clone()));
        let mut recorder = Recorder {
            writer: writer.map_err(|error| format!("cannot keep samples: {error}"))?,
            queue: Arc::clone(&queue),
            failing: false,
            refused: 0,
            published: None,
            busy: false,
        };
        while !pulse.is_stopping() {
            recorder.round(&of_task);
            recorder.rest(pulse);
        }
        recorder.write_waiting();
        Ok(())
    })
}

/// One run of the task.
struct Recorder {
    writer: Writer,
    queue: Arc<Queue>,
    /// Whether the last attempt to write failed.
    failing: bool,
    /// Samples with a name or label that is too long.
    refused: u64,
    published: Option<Instant>,
    /// Whether samples come at other times than when a period begins.
    busy: bool,
}

impl Recorder {
    fn round(&mut self, hub: &Hub) {
        let wrote = self.write_waiting();
        self.busy &= wrote;
        if supervise::is_revoked() {
            return;
        }
        let ticked = self.writer.tick(Timestamp::now().as_millisecond());
        self.note(ticked);
        if self
            .published
            .is_none_or(|at| at.elapsed() >= PUBLISH_EVERY)
        {
            self.published = Some(supervise::period_start(Instant::now(), PUBLISH_EVERY));
            hub.samples
                .publish_now(names::HISTORY, PUBLISH_EVERY, self.metrics());
            self.write_waiting();
        }
    }

    /// Waits until samples have waited for long enough. Most come when a period begins, as all tasks take them then: it sleeps until
    /// those are there. While others come it writes as often as it may.
    fn rest(&mut self, pulse: &Pulse) {
        let now = Instant::now();
        let until = self.published.map_or(now, |at| at + PUBLISH_EVERY + EVERY);
        if self.busy || !self.queue.sleep(until) {
            return pulse.wait(EVERY);
        }
        pulse.wait(until.saturating_duration_since(now));
        if self.queue.is_woken() {
            self.busy = true;
            pulse.wait(EVERY);
        }
    }

    /// Whether there was any.
    fn write_waiting(&mut self) -> bool {
        let mut any = false;
        // The thread that has taken the place of this one writes from now on.
        while !supervise::is_revoked()
            && let Some(waiting) = self.queue.next()
        {
            any = true;
            let (time, all): (_, Vec<_>) = match waiting {
                Waiting::Samples(batch) => (batch.time, batch.metrics.iter().map(sample).collect()),
                Waiting::Latency(time, latency) => {
                    (time, latency.into_iter().map(sample_of_latency).collect())
                }
            };
            self.refused += all.iter().filter(|sample| sample.is_none()).count() as u64;
            let pushed = self.writer.push(&Samples {
                time_ms: time.as_millisecond(),
                samples: all.into_iter().flatten().collect(),
            });
            self.note(pushed);
        }
        any
    }

    /// Logs when writing begins to fail, and when it works again.
    fn note(&mut self, result: Result<(), gtrace_history::HistoryError>) {
        match result {
            Err(error) if !self.failing => {
                tracing::warn!("samples cannot be kept: {error}");
                self.failing = true;
            }
            Ok(()) if self.failing => {
                tracing::info!("samples are kept again");
                self.failing = false;
            }
            _ => {}
        }
    }

    fn metrics(&self) -> Vec<Metric> {
        let (usage, dropped) = (self.writer.usage(), self.writer.dropped());
        let mut metrics = Vec::from(gtrace_devices::metric_table! {
            gauge "gtrace_history_size_bytes" ["bytes"] "What the history of samples takes on disk" =>
                usage.bytes as f64;
            gauge "gtrace_history_series" [""] "Series of samples in the newest minutes of the history" =>
                usage.series as f64;
            counter "gtrace_history_torn_files" [""] "Files of the history that a crash had torn, and whose end was cut off" =>
                dropped.torn as f64;
            counter "gtrace_history_removed_bytes" ["bytes"] "Bytes of the history that went for want of room before their age" =>
                dropped.bytes as f64;
        });
        let reasons = [
            ("queue", self.queue.dropped.load(Ordering::Relaxed)),
            ("series", dropped.series),
            ("label", self.refused),
            ("value", dropped.values),
            ("disk", dropped.unwritable),
        ];
        metrics.extend(reasons.map(|(reason, count)| {
            let name = ("gtrace_history_dropped_samples", "");
            let help =
                "Samples that are not in the history (reason: queue, series, label, value, disk)";
            Metric::counter(name, help, count as f64).with(vec![("reason", reason.to_owned())])
        }));
        metrics
    }
}

/// A metric as the history has it; `None` if a name or label is too long.
fn sample(metric: &Metric) -> Option<Sample> {
    let (kind, value) = match metric.kind {
        MetricKind::Counter => (Kind::Counter, Value::Counter(metric.value)),
        MetricKind::Gauge => (Kind::Gauge, Value::gauge(metric.value)),
    };
    let series = series(metric.name, metric.unit, kind, &metric.labels)?;
    Some(Sample { series, value })
}

/// As [`sample`], of calls.
fn sample_of_latency(latency: Latency) -> Option<Sample> {
    let series = series(latency.name, "seconds", Kind::Histogram, &latency.labels)?;
    let value = Value::Histogram(latency.histogram);
    Some(Sample { series, value })
}

fn series(
    name: &str,
    unit: &str,
    kind: Kind,
    labels: &[(&'static str, String)],
) -> Option<SeriesKey> {
    let labels = labels.iter();
    let labels = labels.map(|(name, value)| ((*name).to_owned(), value.clone()));
    SeriesKey::new(name, unit, kind, labels.collect()).ok()
}

#[cfg(test)]
mod tests {
    use gtrace_history::{Query, Reader};

    use super::*;

    fn batch(time_ms: i64, value: f64) -> Batch {
        Batch {
            component: "test",
            time: Timestamp::from_millisecond(time_ms).unwrap(),
            interval: Duration::from_secs(10),
            metrics: vec![
                Metric::gauge(("gtrace_gpu_temperature_celsius", "celsius"), "", value)
                    .with(vec![("gpu", "0000:3b:00.0".to_owned())]),
            ],
        }
    }

    fn everything() -> Query {
        Query {
            metrics: vec!["gtrace_gpu_temperature_celsius".to_owned()],
            until_ms: i64::MAX,
            max_points: 1000,
            ..Query::default()
        }
    }

    #[test]
    fn what_components_publish_is_on_disk_when_the_task_has_ended() {
        let dir = tempfile::tempdir().unwrap();
        let (hub, _commands) = Hub::new(crate::hub::bare_status());
        let samples = dir.path().join(DIRECTORY);
        start(&hub, samples.clone(), Options::default()).unwrap();
        hub.samples.publish(&batch(10_000, 70.0));
        hub.samples.publish(&batch(20_000, 71.0));
        let left = hub.tasks.stop(&[names::HISTORY], Duration::from_secs(30));
        assert!(left.is_empty(), "{left:?}");
        let found = Reader::open(&samples)
            .unwrap()
            .query(&everything())
            .unwrap();
        let points: Vec<_> = found.series[0].points.iter().map(|p| p.time_ms).collect();
        assert_eq!(points, [10_000, 20_000]);
        assert_eq!(found.series[0].labels[0].1, "0000:3b:00.0");
    }

    #[test]
    fn samples_that_find_the_queue_full_are_counted() {
        let queue = Queue::default();
        for n in 0..QUEUE as i64 + 3 {
            queue.take(&Arc::new(batch(n, 1.0)));
        }
        assert_eq!(queue.dropped.load(Ordering::Relaxed), 3);
        let Some(Waiting::Samples(first)) = queue.next() else {
            panic!("the first is of samples");
        };
        assert_eq!(first.time.as_millisecond(), 0);
    }

    #[test]
    fn the_task_is_woken_for_samples_that_would_wait_too_long_and_for_no_others() {
        let queue = Queue::default();
        let now = Instant::now();
        assert!(queue.sleep(now + Duration::from_secs(3600)));
        assert!(!queue.is_woken());
        assert!(queue.sleep(now + Duration::from_secs(3600)));
        queue.take(&Arc::new(batch(10_000, 1.0)));
        assert!(queue.is_woken());
        assert!(!queue.sleep(now + Duration::from_secs(3600)), "one waits");
        assert!(queue.next().is_some());
        // It wakes by itself before the next has waited for too long.
        assert!(queue.sleep(now + EVERY));
        queue.take(&Arc::new(batch(20_000, 2.0)));
        assert!(!queue.is_woken());
    }

    #[test]
    fn the_history_reports_its_size_and_what_it_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let (hub, _commands) = Hub::new(crate::hub::bare_status());
        let queue = Arc::new(Queue::default());
        let mut recorder = Recorder {
            writer: Writer::open(dir.path(), Options::default()).unwrap(),
            queue: Arc::clone(&queue),
            failing: false,
            refused: 0,
            published: None,
            busy: false,
        };
        let mut long = batch(10_000, 1.0);
        long.metrics[0].labels[0].1 = "x".repeat(300);
        long.metrics.push(batch(10_000, f64::NAN).metrics.remove(0));
        queue.take(&Arc::new(long));
        queue.take(&Arc::new(batch(10_000, 2.0)));
        recorder.round(&hub);
        let published = hub.samples.last(names::HISTORY).unwrap().metrics;
        let value = |name: &str, reason: Option<&str>| {
            let is = |m: &&Metric| {
                m.name == name && m.labels.first().map(|(_, value)| value.as_str()) == reason
            };
            published.iter().find(is).unwrap().value
        };
        assert!(value("gtrace_history_size_bytes", None) > 24.0);
        assert_eq!(value("gtrace_history_dropped_samples", Some("label")), 1.0);
        assert_eq!(value("gtrace_history_dropped_samples", Some("value")), 1.0);
        assert_eq!(value("gtrace_history_dropped_samples", Some("disk")), 0.0);
    }
}
