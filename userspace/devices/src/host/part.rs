//! What a part of the host is, and what a reading of it gives.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::metric::{Metric, MetricKind};

/// Where the host's files are.
#[derive(Clone, Debug)]
pub struct HostRoots {
    /// procfs.
    pub proc: PathBuf,
    /// sysfs.
    pub sysfs: PathBuf,
    /// The root of the file system, for units of systemd.
    pub root: PathBuf,
}

impl HostRoots {
    /// procfs and sysfs as given. `root` is what process 1 sees: the daemon's own view can lack /home, and be read-only.
    pub fn new(proc: PathBuf, sysfs: PathBuf) -> Self {
        let root = proc.join("1/root");
        Self { proc, sysfs, root }
    }
}

/// What a component of this part says about itself.
#[derive(Clone, Copy, Debug)]
pub struct PartInfo {
    /// Name of the component.
    pub name: &'static str,
    /// What it gives.
    pub gives: &'static str,
    /// What it needs.
    pub needs: &'static str,
    /// How to get that where it is missing.
    pub remedy: &'static str,
    /// Between two readings.
    pub every: Duration,
}

/// How a part of the host is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum HostState {
    /// Nothing is wrong with it.
    #[default]
    Healthy,
    /// It works, but not as it should.
    Degraded,
    /// It does not do its work.
    Unhealthy,
}

/// A reading of a part.
#[derive(Clone, Debug, Default)]
pub struct HostReading {
    /// Values.
    pub metrics: Vec<Metric>,
    /// The worst of what it found.
    pub state: HostState,
    /// Why it is not healthy.
    pub reasons: Vec<String>,
    /// What could not be read, although the rest was: nothing that is wrong with the host.
    pub missing: Option<String>,
}

impl HostReading {
    pub(super) fn find(&mut self, state: HostState, reason: String) {
        self.state = self.state.max(state);
        self.reasons.push(reason);
    }

    pub(super) fn gauge(
        &mut self,
        (name, unit): (&'static str, &'static str),
        help: &'static str,
        labels: &[(&'static str, &str)],
        value: f64,
    ) {
        self.metric(MetricKind::Gauge, (name, unit), help, labels, value);
    }

    pub(super) fn counter(
        &mut self,
        (name, unit): (&'static str, &'static str),
        help: &'static str,
        labels: &[(&'static str, &str)],
        value: f64,
    ) {
        self.metric(MetricKind::Counter, (name, unit), help, labels, value);
    }

    fn metric(
        &mut self,
        kind: MetricKind,
        (name, unit): (&'static str, &'static str),
        help: &'static str,
        labels: &[(&'static str, &str)],
        value: f64,
    ) {
        let labels = labels.iter().map(|(k, v)| (*k, (*v).to_owned())).collect();
        self.metrics.push(Metric {
            name,
            help,
            unit,
            kind,
            labels,
            value,
        });
    }
}

/// Why a part was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// This host does not have it.
    Absent(String),
    /// It is there and cannot be read.
    Failed(String),
}

/// Something that is read every so often. It keeps what it needs of earlier readings.
pub(super) trait Part: Send {
    /// Reads it. `now` is when the reading began.
    fn read(&mut self, roots: &HostRoots, now: Instant) -> Result<HostReading, Unread>;
}

/// The text of a file that every host has that has this part.
pub(super) fn needed(path: &std::path::Path) -> Result<String, Unread> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) => {
            let why = format!("{}: {error}", path.display());
            Err(match error.kind() {
                std::io::ErrorKind::NotFound => Unread::Absent(why),
                _ => Unread::Failed(why),
            })
        }
    }
}

/// A value of the newest reading, for tests.
#[cfg(test)]
pub(super) fn value(reading: &HostReading, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
    let has = |metric: &&Metric| {
        let same =
            |(key, value): &(&str, &str)| metric.labels.iter().any(|(k, v)| k == key && v == value);
        metric.name == name && labels.iter().all(same)
    };
    reading.metrics.iter().find(has).map(|metric| metric.value)
}
