//! Processes that use a GPU: what they did between two readings, and before.

use std::cmp::Ordering;
use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use gtrace_api::{Coverage, LayerCounts, ProcessUse};
use gtrace_profile::Histogram;

/// Readings that are kept of a process: two minutes.
pub(super) const HISTORY: usize = 120;

gtrace_event::shown_enum! {
    /// What processes are sorted by.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
    pub enum Sort {
        /// CUDA calls a second.
        #[default]
        Api = "CUDA calls",
        /// 99th percentile of CUDA calls.
        Latency = "p99 of CUDA calls",
        /// Failed calls, of CUDA and of the driver.
        Errors = "errors",
        /// 99th percentile of calls into the driver.
        Driver = "p99 of driver calls",
        /// Device memory.
        Memory = "memory",
        /// CPU time of the host.
        Cpu = "CPU",
        /// Process id.
        Pid = "pid",
    }
}

impl Sort {
    pub(super) fn next(self) -> Self {
        let at = Self::ALL.iter().position(|sort| *sort == self).unwrap_or(0);
        Self::ALL[(at + 1) % Self::ALL.len()]
    }
}

/// Calls of a layer in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rates {
    /// Calls a second.
    pub(super) per_second: f64,
    /// Median; `None` if nothing was timed.
    pub(super) p50_ns: Option<u64>,
    /// 99th percentile.
    pub(super) p99_ns: Option<u64>,
    /// Failed calls.
    pub(super) errors: u64,
    /// How much of the calls these figures stand for.
    pub(super) coverage: Coverage,
}

/// What a process did between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Point {
    /// Share of a core of the host (1.0 = one core).
    pub(super) cpu: f64,
    /// CUDA calls, where they are counted.
    pub(super) api: Option<Rates>,
    /// Calls into the driver.
    pub(super) driver: Option<Rates>,
    /// Device memory: as NVML says, else as was seen.
    pub(super) memory: Option<u64>,
}

/// A process with its past.
#[derive(Clone, Debug)]
pub(super) struct Followed {
    /// As it was last read.
    pub(super) now: ProcessUse,
    /// Oldest first; the newest is what it did before the last reading.
    pub(super) history: VecDeque<Point>,
}

impl Followed {
    /// What it did last.
    pub(super) fn last(&self) -> Point {
        self.history.back().copied().unwrap_or_default()
    }
}

/// Follows processes from reading to reading.
#[derive(Clone, Debug, Default)]
pub(super) struct Processes {
    known: HashMap<(u32, u64), Followed>,
    read: Option<Instant>,
}

impl Processes {
    /// Takes the next reading; processes that are gone are forgotten.
    pub(super) fn take(&mut self, rows: &[ProcessUse], at: Instant) {
        let passed = self.read.map(|read| at.saturating_duration_since(read));
        self.read = Some(at);
        let mut known = HashMap::new();
        for row in rows {
            let key = (row.pid, row.started);
            let followed = match (self.known.remove(&key), passed) {
                (Some(mut followed), Some(passed)) if !passed.is_zero() => {
                    if followed.history.len() == HISTORY {
                        followed.history.pop_front();
                    }
                    followed
                        .history
                        .push_back(between(&followed.now, row, passed));
                    followed.now = row.clone();
                    followed
                }
                (Some(followed), _) => followed,
                (None, _) => Followed {
                    now: row.clone(),
                    history: VecDeque::new(),
                },
            };
            known.insert(key, followed);
        }
        self.known = known;
    }

    /// Those that fit the filter, in order.
    pub(super) fn shown(&self, filter: &str, sort: Sort) -> Vec<&Followed> {
        let fitting = self.known.values().filter(|one| fits(&one.now, filter));
        let mut shown: Vec<&Followed> = fitting.collect();
        shown.sort_by(|a, b| order(a, b, sort).then(a.now.pid.cmp(&b.now.pid)));
        shown
    }
}

/// Whether name, number, container, control group or a device of a process has every word of the filter.
pub(super) fn fits(process: &ProcessUse, filter: &str) -> bool {
    let text = format!(
        "{} {} {} {} {}",
        process.pid,
        process.comm,
        process.container.as_deref().unwrap_or(""),
        process.cgroup.as_deref().unwrap_or(""),
        process.devices.join(" ")
    );
    let text = text.to_ascii_lowercase();
    let mut words = filter.split_whitespace();
    words.all(|word| text.contains(&word.to_ascii_lowercase()))
}

/// Most first.
fn order(a: &Followed, b: &Followed, sort: Sort) -> Ordering {
    let by = |value: &dyn Fn(&Followed) -> f64| value(b).total_cmp(&value(a));
    let p99 = |rates: Option<Rates>| rates.and_then(|rates| rates.p99_ns).unwrap_or(0) as f64;
    let failed = |layer: &Option<LayerCounts>| layer.as_ref().map_or(0, |layer| layer.errors);
    match sort {
        Sort::Api => by(&|one| one.last().api.map_or(0.0, |rates| rates.per_second)),
        Sort::Latency => by(&|one| p99(one.last().api)),
        Sort::Driver => by(&|one| p99(one.last().driver)),
        Sort::Errors => by(&|one| (failed(&one.now.api) + failed(&one.now.driver)) as f64),
        Sort::Memory => by(&|one| memory(&one.now).unwrap_or(0) as f64),
        Sort::Cpu => by(&|one| one.last().cpu),
        Sort::Pid => a.now.pid.cmp(&b.now.pid),
    }
}

/// The same order for single readings, which have no rates: by what was counted since the start.
pub(super) fn sort_once(rows: &mut [ProcessUse], sort: Sort) {
    let of = |layer: &Option<LayerCounts>, value: fn(&LayerCounts) -> u64| {
        layer.as_ref().map_or(0, value) as f64
    };
    let value = |row: &ProcessUse| match sort {
        Sort::Api => of(&row.api, |layer| layer.calls),
        Sort::Latency => of(&row.api, |layer| layer.p99_ns),
        Sort::Errors => of(&row.api, |l| l.errors) + of(&row.driver, |l| l.errors),
        Sort::Driver => of(&row.driver, |layer| layer.p99_ns),
        Sort::Memory => memory(row).unwrap_or(0) as f64,
        Sort::Cpu => row.cpu_seconds,
        Sort::Pid => -f64::from(row.pid),
    };
    rows.sort_by(|a, b| value(b).total_cmp(&value(a)).then(a.pid.cmp(&b.pid)));
}

/// Device memory: as NVML says, else as was seen.
pub(super) fn memory(process: &ProcessUse) -> Option<u64> {
    process.memory_bytes.or(process.ledger_bytes)
}

fn between(before: &ProcessUse, now: &ProcessUse, passed: Duration) -> Point {
    let seconds = passed.as_secs_f64();
    let rates = |before: &Option<LayerCounts>, now: &Option<LayerCounts>| {
        let now = now.as_ref()?;
        let nothing = LayerCounts::default();
        let before = before.as_ref().unwrap_or(&nothing);
        let timed = histogram(now).since(&histogram(before));
        let timed = timed.filter(|timed| !timed.is_empty());
        let quantile = |q| timed.as_ref().map(|timed: &Histogram| timed.quantile(q));
        Some(Rates {
            per_second: now.calls.saturating_sub(before.calls) as f64 / seconds,
            p50_ns: quantile(0.5),
            p99_ns: quantile(0.99),
            errors: now.errors.saturating_sub(before.errors),
            coverage: now.coverage_now.max(before.coverage_now),
        })
    };
    Point {
        cpu: (now.cpu_seconds - before.cpu_seconds).max(0.0) / seconds,
        api: rates(&before.api, &now.api),
        driver: rates(&before.driver, &now.driver),
        memory: memory(now),
    }
}

/// The histogram of a layer's calls; empty without buckets.
fn histogram(counts: &LayerCounts) -> Histogram {
    Histogram::from_buckets(&counts.buckets, counts.total_ns, counts.max_ns).unwrap_or_default()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn layer(calls: u64, ns: u64) -> LayerCounts {
        LayerCounts {
            calls,
            total_ns: calls * ns,
            p99_ns: ns,
            max_ns: ns,
            buckets: vec![(gtrace_abi::bucket_of(ns) as u16, calls)],
            ..LayerCounts::default()
        }
    }

    pub(in super::super) fn process(pid: u32, comm: &str, calls: u64) -> ProcessUse {
        ProcessUse {
            pid,
            started: 7,
            comm: comm.into(),
            container: Some("ab".repeat(32)),
            cpu_seconds: calls as f64 / 1000.0,
            api: (calls > 0).then(|| layer(calls, 1_000)),
            ledger_bytes: Some(u64::from(pid) << 20),
            ..ProcessUse::default()
        }
    }

    #[test]
    fn rates_and_latencies_are_those_between_two_readings() {
        let mut processes = Processes::default();
        let start = Instant::now();
        let mut first = process(1, "train", 500);
        processes.take(&[first.clone()], start);
        assert_eq!(processes.shown("", Sort::Api)[0].last(), Point::default());
        first.api = Some(LayerCounts {
            calls: 700,
            total_ns: 500_000 + 200 * 64_000,
            max_ns: 64_000,
            errors: 3,
            buckets: vec![
                (gtrace_abi::bucket_of(1_000) as u16, 500),
                (gtrace_abi::bucket_of(64_000) as u16, 200),
            ],
            ..LayerCounts::default()
        });
        first.cpu_seconds += 1.0;
        processes.take(&[first.clone()], start + Duration::from_secs(2));
        let shown = processes.shown("", Sort::Api);
        let last = shown[0].last();
        let api = last.api.unwrap();
        assert_eq!((last.cpu, api.per_second, api.errors), (0.5, 100.0, 3));
        assert!(api.p50_ns.unwrap() > 60_000, "{api:?}");
        // Another process of the same number has no past.
        first.started = 8;
        processes.take(&[first], start + Duration::from_secs(3));
        assert!(processes.shown("", Sort::Api)[0].history.is_empty());
    }

    #[test]
    fn processes_are_sorted_and_filtered() {
        let mut processes = Processes::default();
        let start = Instant::now();
        let rows = |more: u64| {
            [
                process(1, "idle", 0),
                process(2, "train", 10 + 50 * more),
                process(3, "infer", 10 + 5 * more),
            ]
        };
        processes.take(&rows(0), start);
        processes.take(&rows(1), start + Duration::from_secs(1));
        let pids = |filter: &str, sort| -> Vec<u32> {
            let shown = processes.shown(filter, sort);
            shown.iter().map(|one| one.now.pid).collect()
        };
        assert_eq!(pids("", Sort::Api), [2, 3, 1]);
        assert_eq!(pids("", Sort::Memory), [3, 2, 1]);
        assert_eq!(pids("", Sort::Pid), [1, 2, 3]);
        assert_eq!(pids("ABAB train", Sort::Api), [2]);
        assert_eq!(pids("nothing", Sort::Api), [0_u32; 0]);
        let mut rows = rows(1);
        sort_once(&mut rows, Sort::Api);
        assert_eq!(rows[0].pid, 2);
    }
}
