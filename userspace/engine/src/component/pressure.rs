//! Pressure stall information: how much time work has lost to a lack of memory, CPU or I/O.
//!
//! Source: /proc/pressure/{memory,cpu,io}, kernel 4.20 with CONFIG_PSI (Documentation/accounting/psi.rst).
//! `some`: at least one task waited; `full`: all that could run did. For the CPU, `full` of the whole
//! host is always 0 (kernel/sched/psi.c) and is left out.

use std::path::Path;
use std::time::Duration;

use gtrace_api::{ComponentHealth, HealthState, SourceState};
use gtrace_devices::{Metric, read_pseudo_file};

use super::{About, Component, Context, Snapshot, show};
use crate::hub::Hub;
use crate::supervise::Task;

/// Name of component and thread.
pub const NAME: &str = "pressure";
/// Longest time between two heartbeats: the files are read without waiting for anything.
const SILENCE: Duration = Duration::from_secs(15);
const RESOURCES: [&str; 3] = ["memory", "cpu", "io"];

/// How pressure is watched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Between readings; `None`: never.
    pub interval: Option<Duration>,
    /// Share of a minute, from 0 to 1, that all tasks may be stalled by lack of memory; beyond it the
    /// host's memory counts as degraded. `None`: any.
    pub memory_full: Option<f64>,
}

/// The component.
#[derive(Clone, Copy, Debug)]
pub struct Pressure;

impl Component for Pressure {
    fn about(&self) -> About {
        About {
            name: NAME,
            gives: "time lost to a lack of memory, CPU or I/O (PSI), and whether memory is short",
            needs: "/proc/pressure (CONFIG_PSI)",
            remedy: "a kernel with CONFIG_PSI, booted with psi=1",
            task: NAME,
        }
    }

    fn supported(&self, context: &Context) -> Result<(), String> {
        let path = context.proc_root.join("pressure/memory");
        read(&path).map(drop)
    }

    fn start(&self, context: &Context) -> std::io::Result<()> {
        let hub = &context.hub;
        let Some(interval) = context.pressure.interval else {
            show(hub, NAME, SourceState::Off, None);
            return Ok(());
        };
        if let Err(reason) = self.supported(context) {
            show(hub, NAME, SourceState::Absent, Some(reason));
            return Ok(());
        }
        let task = Task::optional(NAME, SILENCE);
        let of_task = context.clone();
        hub.tasks.start(task, move |pulse| {
            while !pulse.is_stopping() {
                sample(&of_task, interval)?;
                pulse.wait_for_next(interval);
            }
            Ok(())
        })
    }

    fn check(&self, context: &Context, _now: &Snapshot) -> ComponentHealth {
        let newest = self.newest(&context.hub);
        let full =
            newest.and_then(|batch| batch.metrics.iter().find(is_memory_full).map(|m| m.value));
        judge(full, context.pressure.memory_full)
    }
}

/// One reading of every resource, to the hub.
///
/// # Errors
///
/// Which file cannot be read, and why.
pub fn sample(context: &Context, interval: Duration) -> Result<(), String> {
    let mut metrics = Vec::new();
    for resource in RESOURCES {
        let path = context.proc_root.join("pressure").join(resource);
        let text = read(&path)?;
        for stall in text.lines().filter_map(Stall::parse) {
            if resource == "cpu" && stall.kind == "full" {
                continue;
            }
            metrics.extend(stall.metrics(resource));
        }
    }
    let hub: &Hub = &context.hub;
    hub.samples.publish_now(NAME, interval, metrics);
    show(hub, NAME, SourceState::Active, None);
    Ok(())
}

/// Whether it is the share of the last minute for which all tasks were stalled by lack of memory.
fn is_memory_full(metric: &&Metric) -> bool {
    let labels = [("resource", "memory"), ("kind", "full"), ("window", "60s")];
    let has =
        |(key, value): (&str, &str)| metric.labels.iter().any(|(k, v)| *k == key && v == value);
    metric.name == "gtrace_pressure_ratio" && labels.into_iter().all(has)
}

/// The health of the host's memory by the share of the last minute for which all tasks were stalled.
fn judge(full: Option<f64>, limit: Option<f64>) -> ComponentHealth {
    let (state, reason) = match (full, limit) {
        (None, _) => (
            HealthState::Unknown,
            Some("the kernel gives no figure for memory".to_owned()),
        ),
        (Some(full), Some(limit)) if full > limit => (
            HealthState::Degraded,
            Some(format!(
                "all tasks were stalled by lack of memory for {:.1} % of the last minute, more than {:.1} %",
                full * 100.0,
                limit * 100.0
            )),
        ),
        _ => (HealthState::Healthy, None),
    };
    ComponentHealth::now(state, reason)
}

fn read(path: &Path) -> Result<String, String> {
    read_pseudo_file(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// A line of the file: `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stall {
    kind: &'static str,
    /// Shares of the last 10, 60 and 300 seconds, from 0 to 1.
    averages: [f64; 3],
    /// Since boot.
    total: Duration,
}

impl Stall {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        let kind = match words.next()? {
            "some" => "some",
            "full" => "full",
            _ => return None,
        };
        let mut value = |name: &str| words.next()?.strip_prefix(name)?.strip_prefix('=');
        let mut share = |name| Some(value(name)?.parse::<f64>().ok()? / 100.0);
        let averages = [share("avg10")?, share("avg60")?, share("avg300")?];
        let total = Duration::from_micros(value("total")?.parse().ok()?);
        Some(Self {
            kind,
            averages,
            total,
        })
    }

    fn metrics(&self, resource: &'static str) -> impl Iterator<Item = Metric> + use<> {
        let labels = vec![
            ("resource", resource.to_owned()),
            ("kind", self.kind.to_owned()),
        ];
        let total = Metric::counter(
            ("gtrace_pressure_stalled_seconds", "seconds"),
            "Time that some or all tasks were stalled by lack of a resource, since boot",
            self.total.as_secs_f64(),
        )
        .with(labels.clone());
        let windows = ["10s", "60s", "300s"].into_iter().zip(self.averages);
        let shares = windows.map(move |(window, value)| {
            let name = ("gtrace_pressure_ratio", "ratio");
            let help = "Share of the last seconds for which some or all tasks were stalled by lack of a resource";
            let mut labels = labels.clone();
            labels.push(("window", window.to_owned()));
            Metric::gauge(name, help, value).with(labels)
        });
        shares.chain([total])
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const CALM: &str = "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n\
                        full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";

    fn context(dir: &Path, interval: Option<Duration>) -> Context {
        Context {
            proc_root: dir.to_owned(),
            pressure: Options {
                interval,
                memory_full: Some(0.1),
            },
            ..Context::shown()
        }
    }

    fn write(dir: &Path, memory: &str) {
        fs::create_dir_all(dir.join("pressure")).unwrap();
        for resource in RESOURCES {
            let text = if resource == "memory" { memory } else { CALM };
            fs::write(dir.join("pressure").join(resource), text).unwrap();
        }
    }

    #[test]
    fn a_host_short_of_memory_is_degraded_and_the_figures_are_in_base_units() {
        let dir = tempfile::tempdir().unwrap();
        let context = context(dir.path(), None);
        let minute = Duration::from_secs(60);
        write(dir.path(), CALM);
        sample(&context, minute).unwrap();
        assert_eq!(context.checked(NAME).state, HealthState::Healthy);
        assert_eq!(context.source(NAME).state, SourceState::Active);

        let short = "some avg10=50.00 avg60=30.50 avg300=1.00 total=2500000\n\
                     full avg10=40.00 avg60=12.34 avg300=0.50 total=1000000\n";
        write(dir.path(), short);
        sample(&context, minute).unwrap();
        let judged = context.checked(NAME);
        assert_eq!(judged.state, HealthState::Degraded);
        assert!(judged.reasons[0].contains("12.3 %"), "{judged:?}");
        let values = context.hub.samples.newest();
        let value = |name: &str, labels: &[(&'static str, &str)]| {
            let has = |m: &&Metric| {
                let same = |(key, value): &(&str, &str)| {
                    m.labels.iter().any(|(k, v)| k == key && v == value)
                };
                m.name == name && labels.iter().all(same)
            };
            values.iter().find(has).map(|m| m.value)
        };
        let some = [("resource", "memory"), ("kind", "some")];
        assert_eq!(value("gtrace_pressure_stalled_seconds", &some), Some(2.5));
        let of_window = [("resource", "memory"), ("kind", "full"), ("window", "60s")];
        assert_eq!(value("gtrace_pressure_ratio", &of_window), Some(0.1234));
        assert_eq!(
            value(
                "gtrace_pressure_ratio",
                &[("resource", "cpu"), ("kind", "full")]
            ),
            None
        );
    }

    #[test]
    fn a_kernel_without_it_is_no_fault_and_files_that_vanish_are_one() {
        let dir = tempfile::tempdir().unwrap();
        let context = context(dir.path(), Some(Duration::from_secs(60)));
        Pressure.start(&context).unwrap();
        assert_eq!(context.source(NAME).state, SourceState::Absent);
        assert_eq!(context.hub.tasks.statuses().len(), 0);
        let error = sample(&context, Duration::from_secs(60)).unwrap_err();
        assert!(error.contains("pressure/memory"), "{error}");
    }

    #[test]
    fn lines_of_another_form_are_left_out() {
        for line in [
            "",
            "some",
            "some avg10=x avg60=0 avg300=0 total=0",
            "none avg10=0.00 avg60=0.00 avg300=0.00 total=0",
        ] {
            assert_eq!(Stall::parse(line), None, "{line}");
        }
    }
}
