//! The stream of samples: what components measure, with its time. Whoever wants samples subscribes; the
//! newest values, which `/metrics` shows, are one subscriber.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gtrace_devices::Metric;
use gtrace_event::Timestamp;
use gtrace_profile::Histogram;

use crate::lock::lock;
use crate::supervise;

/// The metric of driver calls' durations.
pub const DRIVER_CALLS: &str = "gtrace_driver_call_seconds";
/// The metric of CUDA calls' durations.
pub const CUDA_CALLS: &str = "gtrace_cuda_call_seconds";
/// What is older than so many intervals of its component is not of now.
const STALE_AFTER: u32 = 3;

/// Samples that a component took together.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The component's name.
    pub component: &'static str,
    /// When they were taken.
    pub time: Timestamp,
    /// When the next ones are expected.
    pub interval: Duration,
    /// Names, labels and values, in base units.
    pub metrics: Vec<Metric>,
}

/// Takes samples as they come. Called in the thread of the component, so it must not wait.
pub trait Subscriber: Send + Sync {
    /// A component has sampled.
    fn take(&self, batch: &Arc<Batch>);

    /// Calls have returned since the last reading. Whoever wants the newest values alone has them elsewhere.
    fn take_latency(&self, time: Timestamp, latency: &[Latency]) {
        let _ = (time, latency);
    }
}

/// Durations of calls that have returned since the reading before, or ever.
#[derive(Clone, Debug, PartialEq)]
pub struct Latency {
    /// Name of the metric.
    pub name: &'static str,
    /// What calls, and whose.
    pub labels: Labels,
    /// The durations.
    pub histogram: Histogram,
}

/// Names and values of labels.
pub type Labels = Vec<(&'static str, String)>;

/// Labels of what others identify: a process may change its name, and it may become known later which GPU a device file is of,
/// while the total goes on.
const DESCRIPTIONS: [&str; 2] = ["process", "gpu"];

/// What totals have risen by since they were seen before.
#[derive(Debug, Default)]
pub struct Rises(HashMap<(&'static str, Labels), Latency>);

impl Rises {
    /// The rise of each of `totals`; those that have not risen are left out, and what is not among them is forgotten.
    pub fn rises(&mut self, totals: impl Iterator<Item = Latency>) -> Vec<Latency> {
        let mut now: HashMap<_, Latency> = HashMap::new();
        for total in totals {
            let mut identity = total.labels.clone();
            identity.retain(|(label, _)| !DESCRIPTIONS.contains(label));
            match now.entry((total.name, identity)) {
                Entry::Occupied(mut sum) => sum.get_mut().histogram.merge(&total.histogram),
                Entry::Vacant(place) => {
                    place.insert(total);
                }
            }
        }
        let risen = |(key, total): (&(&'static str, Labels), &Latency)| {
            let since = |before: &Latency| total.histogram.since(&before.histogram);
            // A total that fell began anew.
            let rise = self.0.get(key).and_then(since);
            let histogram = rise.unwrap_or_else(|| total.histogram.clone());
            (!histogram.is_empty()).then(|| Latency {
                name: total.name,
                labels: total.labels.clone(),
                histogram,
            })
        };
        let rises = now.iter().filter_map(risen).collect();
        self.0 = now;
        rises
    }
}

/// The stream.
#[derive(Default)]
pub struct Samples {
    newest: Arc<Newest>,
    others: Mutex<Vec<Arc<dyn Subscriber>>>,
}

impl fmt::Debug for Samples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Samples").field(&self.newest).finish()
    }
}

impl Samples {
    /// Has `subscriber` take every sample from now on.
    pub fn subscribe(&self, subscriber: Arc<dyn Subscriber>) {
        lock(&self.others).push(subscriber);
    }

    /// Gives samples to every subscriber, unless another thread has taken the place of the calling one.
    pub fn publish(&self, batch: &Batch) {
        self.share(&Arc::new(batch.clone()));
    }

    fn share(&self, batch: &Arc<Batch>) {
        if supervise::is_revoked() {
            return;
        }
        self.newest.take(batch);
        let others = lock(&self.others).clone();
        for subscriber in others {
            subscriber.take(batch);
        }
    }

    /// As [`publish`](Self::publish), of what `component` has measured just now.
    pub fn publish_now(&self, component: &'static str, interval: Duration, metrics: Vec<Metric>) {
        self.share(&Arc::new(Batch {
            component,
            time: Timestamp::now(),
            interval,
            metrics,
        }));
    }

    /// Gives every subscriber the calls that have returned.
    pub fn publish_latency(&self, time: Timestamp, latency: &[Latency]) {
        if latency.is_empty() || supervise::is_revoked() {
            return;
        }
        let others = lock(&self.others).clone();
        for subscriber in others {
            subscriber.take_latency(time, latency);
        }
    }

    /// The newest values of every component, without those that are not of now.
    pub fn newest(&self) -> Vec<Metric> {
        self.newest.values(Instant::now())
    }

    /// What `component` sampled last.
    pub fn last(&self, component: &str) -> Option<Batch> {
        let all = lock(&self.newest.0);
        all.get(component).map(|kept| Batch::clone(&kept.batch))
    }

    /// Of what `component` sampled last: its time, its interval, and its age by a clock that is not set.
    pub(crate) fn age(&self, component: &str) -> Option<(Timestamp, Duration, Duration)> {
        let all = lock(&self.newest.0);
        let kept = all.get(component)?;
        Some((kept.batch.time, kept.batch.interval, kept.at.elapsed()))
    }
}

#[derive(Debug, Default)]
struct Newest(Mutex<BTreeMap<&'static str, Kept>>);

#[derive(Debug)]
struct Kept {
    batch: Arc<Batch>,
    /// By a clock that is not set.
    at: Instant,
}

impl Subscriber for Newest {
    fn take(&self, batch: &Arc<Batch>) {
        let kept = Kept {
            batch: Arc::clone(batch),
            at: Instant::now(),
        };
        lock(&self.0).insert(batch.component, kept);
    }
}

impl Newest {
    fn values(&self, now: Instant) -> Vec<Metric> {
        let all = lock(&self.0);
        let fresh = all.values().filter(|kept| {
            now.saturating_duration_since(kept.at) <= STALE_AFTER * kept.batch.interval
        });
        fresh
            .flat_map(|kept| kept.batch.metrics.iter().cloned())
            .collect()
    }
}

/// Whether something that is taken anew every `interval` and is `age` old is not of now.
pub fn is_stale(interval: Duration, age: Duration) -> bool {
    age > STALE_AFTER * interval
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(labels: &[(&'static str, &str)], times: u64) -> Latency {
        let mut histogram = Histogram::default();
        histogram.record_n(1000, times);
        let labels = labels
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()));
        Latency {
            name: "calls",
            labels: labels.collect(),
            histogram,
        }
    }

    #[test]
    fn totals_that_rise_give_the_rise_and_one_that_fell_gives_all_of_it() {
        let of = |call: &str, times: u64| total(&[("call", call)], times);
        let mut rises = Rises::default();
        let mut counts = |totals: Vec<Latency>| {
            let mut all: Vec<_> = rises
                .rises(totals.into_iter())
                .into_iter()
                .map(|rise| (rise.labels[0].1.clone(), rise.histogram.count()))
                .collect();
            all.sort();
            all
        };
        let want = |call: &str, count| (call.to_owned(), count);
        assert_eq!(
            counts(vec![of("a", 5), of("b", 1)]),
            [want("a", 5), want("b", 1)]
        );
        assert_eq!(counts(vec![of("a", 7), of("b", 1)]), [want("a", 2)]);
        // Two rows of one call are one.
        assert_eq!(
            counts(vec![of("a", 4), of("a", 6), of("b", 1)]),
            [want("a", 3)]
        );
        assert_eq!(counts(vec![of("a", 2)]), [want("a", 2)]);
        assert_eq!(counts(vec![of("a", 2), of("b", 1)]), [want("b", 1)]);
    }

    #[test]
    fn a_process_that_changes_its_name_has_called_nothing_again() {
        let mut rises = Rises::default();
        let mut rise = |process: &str, gpu: Option<&str>, times: u64| {
            let mut labels = vec![
                ("call", "cuLaunchKernel"),
                ("pid", "7"),
                ("process", process),
            ];
            labels.extend(gpu.map(|gpu| ("gpu", gpu)));
            let rises = rises.rises([total(&labels, times)].into_iter());
            let rises = rises.into_iter();
            rises
                .map(|rise| (rise.labels[2].1.clone(), rise.histogram.count()))
                .collect::<Vec<_>>()
        };
        assert_eq!(rise("ray::IDLE", None, 5), [("ray::IDLE".to_owned(), 5)]);
        assert_eq!(rise("ray::train", None, 7), [("ray::train".to_owned(), 2)]);
        assert!(rise("ray::IDLE", None, 7).is_empty());
        let gpu = Some("0000:3b:00.0");
        assert_eq!(rise("ray::IDLE", gpu, 8), [("ray::IDLE".to_owned(), 1)]);
    }

    fn batch(component: &'static str, value: f64) -> Batch {
        Batch {
            component,
            time: Timestamp::now(),
            interval: Duration::from_secs(10),
            metrics: vec![Metric::gauge(("gtrace_test", ""), "", value)],
        }
    }

    fn shown(samples: &Samples, now: Instant) -> Vec<f64> {
        samples.newest.values(now).iter().map(|m| m.value).collect()
    }

    #[test]
    fn the_newest_of_each_component_is_shown_for_three_intervals() {
        let samples = Samples::default();
        samples.publish(&batch("a", 1.0));
        samples.publish(&batch("b", 2.0));
        samples.publish(&batch("a", 3.0));
        let now = Instant::now();
        assert_eq!(shown(&samples, now), [3.0, 2.0]);
        assert_eq!(shown(&samples, now + Duration::from_secs(29)), [3.0, 2.0]);
        assert_eq!(shown(&samples, now + Duration::from_secs(31)), [0.0; 0]);
        assert!(samples.last("a").is_some() && samples.last("c").is_none());
    }

    #[test]
    fn every_subscriber_gets_every_batch() {
        #[derive(Default)]
        struct Count(Mutex<Vec<f64>>);
        impl Subscriber for Count {
            fn take(&self, batch: &Arc<Batch>) {
                lock(&self.0).extend(batch.metrics.iter().map(|m| m.value));
            }
        }
        let (samples, count) = (Samples::default(), Arc::new(Count::default()));
        samples.publish(&batch("a", 1.0));
        samples.subscribe(Arc::clone(&count) as Arc<dyn Subscriber>);
        samples.publish(&batch("a", 2.0));
        samples.publish(&batch("b", 3.0));
        assert_eq!(*lock(&count.0), [2.0, 3.0]);
    }
}
