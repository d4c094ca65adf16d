//! What a part of the host is, and what a reading of it gives.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use gtrace_event::Occurrence;

use crate::metric::Metric;

/// Where the host's files are.
#[derive(Clone, Debug)]
pub struct HostRoots {
    /// procfs.
    pub proc: PathBuf,
    /// sysfs.
    pub sysfs: PathBuf,
    /// The root of the file system, for units of systemd.
    pub root: PathBuf,
    /// From where on something counts as wrong.
    pub thresholds: HostThresholds,
}

/// From where on parts of the host count as degraded or unhealthy. A value that nothing can reach means never.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostThresholds {
    /// Share of a file system's space or inodes that is left, below which it is degraded.
    pub disk_low: f64,
    /// Below which it is unhealthy.
    pub disk_empty: f64,
    /// Share of file handles or tasks in use from which on the host is degraded.
    pub limits_high: f64,
    /// From which on it is unhealthy.
    pub limits_full: f64,
    /// Share of memory that is available, below which the host is degraded.
    pub memory_low: f64,
    /// Corrected errors of a memory controller within an hour, above which it is degraded.
    pub memory_errors_hourly: u64,
    /// How wrong the clock may be.
    pub clock_error: Duration,
    /// How far it may be off, as its daemon estimates.
    pub clock_offset: Duration,
    /// Share of the CPUs' time that a hypervisor may take.
    pub cpu_stolen: f64,
    /// How long a process with a GPU open may be in uninterruptible sleep. Ten times as long is unhealthy.
    pub stuck_process: Duration,
    /// Zombies that there may be.
    pub zombies: u32,
    /// How long an enabled service may not run.
    pub service_down: Duration,
}

impl Default for HostThresholds {
    fn default() -> Self {
        Self {
            disk_low: 0.05,
            disk_empty: 0.01,
            limits_high: 0.80,
            limits_full: 0.95,
            // Caches take what is free: little of it is usual where work is large.
            memory_low: 0.0,
            // More come before a failure.
            memory_errors_hourly: 100,
            // Above this the clocks of two hosts do not show which of two events came first.
            clock_error: Duration::from_secs(1),
            clock_offset: Duration::from_millis(100),
            cpu_stolen: 0.10,
            stuck_process: Duration::from_secs(60),
            // So many are a program that does not wait for its children.
            zombies: 100,
            service_down: Duration::from_secs(60),
        }
    }
}

impl HostRoots {
    /// procfs and sysfs as given. `root` is what process 1 sees: the daemon's own view can lack /home, and be read-only.
    pub fn new(proc: PathBuf, sysfs: PathBuf) -> Self {
        let root = proc.join("1/root");
        Self {
            proc,
            sysfs,
            root,
            thresholds: HostThresholds::default(),
        }
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
    /// What has happened to it.
    pub news: Vec<HostNews>,
}

/// Something that happened to a part of the host, as an event: a service failed, or runs again.
#[derive(Clone, Debug, PartialEq)]
pub struct HostNews {
    /// The event; its detail has unit and error.
    pub occurrence: Occurrence,
    /// It was seen to happen. Else it is how things are, which is reported anew after a restart: whoever takes it knows the events before,
    /// and whether this one is news.
    pub happened: bool,
}

impl HostNews {
    /// How things are.
    pub fn stands(occurrence: Occurrence) -> Self {
        Self {
            occurrence,
            happened: false,
        }
    }
}

impl HostReading {
    pub(super) fn find(&mut self, state: HostState, reason: String) {
        self.state = self.state.max(state);
        self.reasons.push(reason);
    }

    pub(super) fn gauge(
        &mut self,
        named: (&'static str, &'static str),
        help: &'static str,
        labels: &[(&'static str, &str)],
        value: f64,
    ) {
        self.add(Metric::gauge(named, help, value), labels);
    }

    pub(super) fn counter(
        &mut self,
        named: (&'static str, &'static str),
        help: &'static str,
        labels: &[(&'static str, &str)],
        value: f64,
    ) {
        self.add(Metric::counter(named, help, value), labels);
    }

    pub(super) fn add(&mut self, metric: Metric, labels: &[(&'static str, &str)]) {
        let labels = labels.iter().map(|(k, v)| (*k, (*v).to_owned())).collect();
        self.metrics.push(metric.with(labels));
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

/// The text of a file that every host has that has this part. What is no UTF-8 becomes U+FFFD: users name mount points.
pub(super) fn needed(path: &std::path::Path) -> Result<String, Unread> {
    // It has no size: `fs::read` would ask for that, and then read 32 bytes, 32 more, 64, and so on.
    let mut bytes = Vec::with_capacity(4096);
    match File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)) {
        Ok(_) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
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
