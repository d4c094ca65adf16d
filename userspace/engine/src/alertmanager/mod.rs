//! The task that sends incidents to Alertmanager as alerts, by its API v2.
//!
//! There is no queue of messages: the task compares the newest state of each incident that the hub has with what each
//! Alertmanager took last, and sends the difference. So an Alertmanager that was away gets one alert for each incident, and
//! memory is bounded by the hub's bound of incidents.

mod alert;
mod options;
mod target;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use gtrace_devices::Metric;
use gtrace_event::{Incident, IncidentId, Timestamp};

use self::alert::Alert;
pub use self::options::{BaseUrl, BaseUrlError, Options, Runbooks};
use self::target::{Counts, Target};
use crate::hub::Hub;
use crate::supervise::{Task, names};

/// Between two rounds at least, however often incidents change.
const GAP: Duration = Duration::from_millis(500);
/// Between two publications of the task's own samples, and two rounds at most.
const PUBLISH_EVERY: Duration = Duration::from_secs(10);
/// Longest time between two heartbeats: it gives one before each request.
const SILENCE: Duration = target::TIMEOUT.saturating_mul(6);

/// Checks what can be checked of `options` without a network: that token and CA certificates can be read.
///
/// # Errors
///
/// Which file, why, and what to do.
pub fn check(options: &Options) -> Result<(), String> {
    options.token()?;
    options.certificates().map(drop)
}

/// Starts the task.
///
/// # Errors
///
/// If its thread cannot be started.
pub fn start(hub: &Arc<Hub>, options: Options) -> std::io::Result<()> {
    let task = Task::optional(names::ALERTMANAGER, SILENCE);
    let of_task = Arc::clone(hub);
    // Counters do not fall when the thread is replaced.
    let counts: Vec<_> = options.urls.iter().map(|_| Arc::default()).collect();
    hub.tasks.start(task, move |pulse| {
        let mut sender = Sender::new(options.clone(), &counts);
        while !pulse.is_stopping() {
            let next = sender.round(&of_task, Instant::now());
            std::thread::sleep(GAP);
            pulse.wait(next.saturating_sub(GAP));
        }
        Ok(())
    })
}

/// One run of the task.
struct Sender {
    options: Options,
    /// The newest state of each incident that is to be sent.
    alerts: BTreeMap<IncidentId, Current>,
    targets: Vec<Target>,
    published: Option<Instant>,
}

/// An incident's alert, and of which state of the incident it is.
struct Current {
    revision: u32,
    time: Timestamp,
    maintenance: bool,
    alert: Alert,
}

impl Sender {
    fn new(options: Options, counts: &[Arc<Counts>]) -> Self {
        let targets = options.urls.iter().zip(counts);
        Self {
            targets: targets
                .map(|(url, counts)| Target::new(url.clone(), Arc::clone(counts)))
                .collect(),
            options,
            alerts: BTreeMap::new(),
            published: None,
        }
    }

    /// Sends what is due, and says when the next round is.
    fn round(&mut self, hub: &Hub, now: Instant) -> Duration {
        self.take(hub.incidents(), hub.is_in_maintenance(Timestamp::now()));
        let alerts: BTreeMap<_, _> = self
            .alerts
            .iter()
            .map(|(id, current)| (*id, &current.alert))
            .collect();
        // Who does not answer takes time: those that do come first.
        self.targets.sort_by_key(Target::is_failing);
        for target in &mut self.targets {
            target.send(&alerts, &self.options, now);
        }
        if self
            .published
            .is_none_or(|at| at.elapsed() >= PUBLISH_EVERY)
        {
            self.published = Some(Instant::now());
            hub.samples
                .publish_now(names::ALERTMANAGER, PUBLISH_EVERY, self.metrics());
        }
        let next = self.targets.iter().filter_map(|t| t.next(&alerts, now));
        next.min().unwrap_or(PUBLISH_EVERY).min(PUBLISH_EVERY)
    }

    /// Takes over the incidents as they are now; what the hub has let go of cannot be sent any more.
    fn take(&mut self, incidents: Vec<Incident>, maintenance: bool) {
        let mut before = std::mem::take(&mut self.alerts);
        for incident in incidents {
            if incident.drill && !self.options.drills {
                continue;
            }
            let known = before.remove(&incident.id);
            let known = known
                .filter(|known| known.maintenance == maintenance)
                .filter(|known| (known.revision, known.time) == (incident.revision, incident.time));
            let current = known.unwrap_or_else(|| Current {
                revision: incident.revision,
                time: incident.time,
                maintenance,
                alert: Alert::new(&incident, &self.options, maintenance),
            });
            self.alerts.insert(incident.id, current);
        }
        for (id, gone) in before {
            for target in &mut self.targets {
                target.forget(id, &gone.alert);
            }
        }
    }

    fn metrics(&self) -> Vec<Metric> {
        let mut metrics = Vec::new();
        for target in &self.targets {
            let labels = vec![("url", target.url.to_string())];
            let counts = &target.counts;
            for (name, help, count) in [
                (
                    "gtrace_alertmanager_sent_alerts",
                    "Alerts that Alertmanager took, repetitions included",
                    &counts.sent,
                ),
                (
                    "gtrace_alertmanager_failed_alerts",
                    "Alerts in requests that failed; they are sent again",
                    &counts.failed,
                ),
                (
                    "gtrace_alertmanager_dropped_alerts",
                    "Incidents whose newest state Alertmanager never took, as others needed the room",
                    &counts.dropped,
                ),
            ] {
                let count = count.load(Ordering::Relaxed) as f64;
                metrics.push(Metric::counter((name, ""), help, count).with(labels.clone()));
            }
            let failing = Metric::gauge(
                ("gtrace_alertmanager_failing", ""),
                "Whether the last request to Alertmanager failed",
                f64::from(u8::from(target.is_failing())),
            );
            metrics.push(failing.with(labels));
        }
        metrics
    }
}
