//! The stream of samples: what components measure, with its time. Whoever wants samples subscribes; the
//! newest values, which `/metrics` shows, are one subscriber.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gtrace_devices::Metric;
use gtrace_event::Timestamp;

use crate::supervise;

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
    fn take(&self, batch: &Batch);
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
        if supervise::is_revoked() {
            return;
        }
        self.newest.take(batch);
        let others = lock(&self.others).clone();
        for subscriber in others {
            subscriber.take(batch);
        }
    }

    /// The newest values of every component, without those that are not of now.
    pub fn newest(&self) -> Vec<Metric> {
        self.newest.values(Instant::now())
    }

    /// What `component` sampled last.
    pub fn last(&self, component: &str) -> Option<Batch> {
        let all = lock(&self.newest.0);
        all.get(component).map(|kept| kept.batch.clone())
    }
}

#[derive(Debug, Default)]
struct Newest(Mutex<BTreeMap<&'static str, Kept>>);

#[derive(Debug)]
struct Kept {
    batch: Batch,
    /// By a clock that is not set.
    at: Instant,
}

impl Subscriber for Newest {
    fn take(&self, batch: &Batch) {
        let kept = Kept {
            batch: batch.clone(),
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while the lock was held leaves plain data behind that is still the newest known.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use gtrace_devices::MetricKind;

    use super::*;

    fn batch(component: &'static str, value: f64) -> Batch {
        Batch {
            component,
            time: Timestamp::now(),
            interval: Duration::from_secs(10),
            metrics: vec![Metric {
                name: "gtrace_test",
                help: "",
                unit: "",
                kind: MetricKind::Gauge,
                labels: Vec::new(),
                value,
            }],
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
            fn take(&self, batch: &Batch) {
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
