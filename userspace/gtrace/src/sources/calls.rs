//! Driver-call statistics: the probes' histograms, with names and percentiles.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use gtrace_abi::{CallHist, CallKey, FailureKey};
use gtrace_profile::Histogram;

use super::operation::Operation;
use super::process;
use super::watched::DeviceNames;
use crate::hub::{CallFailures, CallStats};

/// Ended processes add up under this name.
const ENDED: &str = "(ended)";
/// How many operations of ended processes are kept apart; further ones add up in one row, as a
/// program can make up any number of them.
const MAX_ENDED: usize = 512;

/// Where those further ones add up.
const ENDED_REST: CallKey = CallKey {
    code: 1,
    ..CallKey::OVERFLOW
};

/// Reads histograms into statistics, and keeps the sums of processes that have ended.
#[derive(Debug, Default)]
pub struct Calls {
    names: HashMap<u32, String>,
    ended: BTreeMap<CallKey, Sums>,
    /// Processes that were found to have ended at the reading before. Only now is it certain that
    /// the tables have their last call.
    dead: HashSet<u32>,
    /// The rows of the reading before: most have not changed.
    rows: HashMap<CallKey, CallStats>,
}

/// What is known of one row.
#[derive(Debug)]
struct Sums {
    hist: Box<CallHist>,
    statuses: BTreeMap<u32, u64>,
}

/// What one reading gave.
#[derive(Debug, Default)]
pub struct Read {
    /// The statistics, those first that took the most time.
    pub stats: Vec<CallStats>,
    /// Histograms of processes that have ended: they are kept here, so the probes may forget them.
    pub ended: Vec<CallKey>,
    /// The same of failure counts.
    pub ended_failures: Vec<FailureKey>,
}

impl Calls {
    /// Statistics of `histograms` and `failures`, which were just taken.
    pub fn read(
        &mut self,
        histograms: Vec<(CallKey, Box<CallHist>)>,
        failures: &[(FailureKey, u64)],
        devices: &DeviceNames,
    ) -> Read {
        let mut read = Read::default();
        let mut live: BTreeMap<CallKey, Sums> = BTreeMap::new();
        let before = std::mem::take(&mut self.dead);
        for (key, hist) in histograms {
            if before.contains(&key.tgid) {
                self.names.remove(&key.tgid);
                read.ended.push(key);
                merge(&mut self.ended_row(key).hist, &hist);
                continue;
            }
            let dir = PathBuf::from(format!("/proc/{}", key.tgid));
            if key != CallKey::OVERFLOW && !dir.exists() {
                self.dead.insert(key.tgid);
            }
            self.remember_name(key.tgid, &dir);
            merge(&mut live.entry(key).or_insert_with(Sums::none).hist, &hist);
        }
        for (key, count) in failures {
            let sums = if before.contains(&key.call.tgid) {
                read.ended_failures.push(*key);
                Some(self.ended_row(key.call))
            } else {
                live.get_mut(&key.call)
            };
            if let Some(sums) = sums {
                *sums.statuses.entry(key.status).or_default() += count;
            }
        }
        read.stats = self.stats(&live, devices);
        read
    }

    /// Where the calls of an ended process under `key` add up.
    fn ended_row(&mut self, key: CallKey) -> &mut Sums {
        let key = CallKey { tgid: 0, ..key };
        let room = self.ended.len() < MAX_ENDED || self.ended.contains_key(&key);
        let key = if room { key } else { ENDED_REST };
        self.ended.entry(key).or_insert_with(Sums::none)
    }

    fn stats(&mut self, live: &BTreeMap<CallKey, Sums>, devices: &DeviceNames) -> Vec<CallStats> {
        let before = std::mem::take(&mut self.rows);
        let mut rows = Vec::with_capacity(live.len() + self.ended.len());
        for (key, sums) in live.iter().chain(&self.ended) {
            let ended = key.tgid == 0 && self.ended.contains_key(key);
            let failed: u64 = sums.statuses.values().sum();
            let known = before.get(key).filter(|row| {
                row.count == sums.hist.count()
                    && row.statuses.iter().map(|s| s.count).sum::<u64>() == failed
                    && row.device == devices.name(key.rdev)
            });
            let row = known.cloned().unwrap_or_else(|| {
                let name = match self.names.get(&key.tgid) {
                    _ if ended => ENDED,
                    Some(name) => name,
                    None => "?",
                };
                stats_of(*key, name, sums, devices)
            });
            self.rows.insert(*key, row.clone());
            rows.push(row);
        }
        rows.sort_by_key(|s| std::cmp::Reverse(s.total_ns));
        rows
    }

    fn remember_name(&mut self, pid: u32, dir: &Path) {
        self.names.entry(pid).or_insert_with(|| {
            let name = if pid == 0 {
                Some("(no room)".to_owned())
            } else {
                process::comm(dir)
            };
            name.unwrap_or_else(|| "?".to_owned())
        });
    }
}

impl Sums {
    fn none() -> Self {
        Self {
            hist: empty(),
            statuses: BTreeMap::new(),
        }
    }
}

fn empty() -> Box<CallHist> {
    Box::new(CallHist::EMPTY)
}

fn merge(into: &mut CallHist, from: &CallHist) {
    into.errors += from.errors;
    into.failures += from.failures;
    into.sum_ns += from.sum_ns;
    into.max_ns = into.max_ns.max(from.max_ns);
    for (into, from) in into.buckets.iter_mut().zip(&from.buckets) {
        *into += from;
    }
}

/// The histogram with only the buckets that hold something.
fn profiled(hist: &CallHist) -> Histogram {
    let buckets = hist.buckets.iter().enumerate();
    let filled: Vec<(u16, u64)> = buckets
        .filter(|(_, count)| **count > 0)
        // There are 896.
        .map(|(bucket, count)| (bucket as u16, *count))
        .collect();
    // Buckets of an array are in order, and these are not empty.
    Histogram::from_buckets(&filled, hist.sum_ns, hist.max_ns).unwrap_or_default()
}

fn stats_of(key: CallKey, comm: &str, sums: &Sums, devices: &DeviceNames) -> CallStats {
    let hist = &sums.hist;
    let profiled = profiled(hist);
    let quantile = |q| profiled.quantile(q);
    let Operation {
        ioctl,
        op,
        code,
        code_name,
    } = Operation::new(key.cmd, key.code);
    let statuses = sums.statuses.iter().map(|(status, count)| CallFailures {
        status: format!("{status:#x}"),
        name: gtrace_nvrm::status_name(*status).map(str::to_owned),
        count: *count,
    });
    CallStats {
        pid: key.tgid,
        comm: comm.to_owned(),
        device: devices.name(key.rdev),
        gpu: devices.gpu(key.rdev),
        ioctl,
        op,
        code,
        code_name,
        count: hist.count(),
        errors: hist.errors,
        failures: hist.failures,
        statuses: statuses.collect(),
        total_ns: hist.sum_ns,
        p50_ns: quantile(0.5),
        p90_ns: quantile(0.9),
        p99_ns: quantile(0.99),
        p999_ns: quantile(0.999),
        max_ns: hist.max_ns,
        buckets: profiled.buckets().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtrace_abi::bucket_of;

    fn hist(values: &[u64]) -> Box<CallHist> {
        let mut hist = empty();
        for &ns in values {
            hist.sum_ns += ns;
            hist.max_ns = hist.max_ns.max(ns);
            hist.buckets[bucket_of(ns)] += 1;
        }
        hist
    }

    fn key(tgid: u32) -> CallKey {
        CallKey {
            tgid,
            cmd: 0xc020_462a,
            rdev: 195 << 20,
            code: 0x2080_0102,
        }
    }

    #[test]
    fn percentiles_are_within_the_error_of_the_buckets() {
        let values: Vec<u64> = (1..=1000).map(|i| i * 1000).collect();
        let sums = Sums {
            hist: hist(&values),
            statuses: BTreeMap::from([(0x51, 3)]),
        };
        let stats = stats_of(key(1), "x", &sums, &DeviceNames::default());
        for (got, want) in [
            (stats.p50_ns, 500_000),
            (stats.p90_ns, 900_000),
            (stats.p99_ns, 990_000),
            (stats.p999_ns, 999_000),
        ] {
            assert!(got.abs_diff(want) * 64 <= want, "{got} for {want}");
        }
        assert_eq!((stats.count, stats.max_ns), (1000, 1_000_000));
        assert_eq!(stats.device, "nvidia0");
        assert_eq!(stats.statuses[0].name.as_deref(), Some("NV_ERR_NO_MEMORY"));
    }

    #[test]
    fn calls_of_ended_processes_are_kept_and_their_keys_given_back() {
        let mut calls = Calls::default();
        let (gone, here) = (key(u32::MAX - 1), key(std::process::id()));
        let failure = FailureKey {
            call: gone,
            status: 0x51,
        };
        let names = DeviceNames::default();
        // Found to have ended; its last call may have come after the tables were taken.
        let histograms = || vec![(gone, hist(&[100, 200])), (here, hist(&[300]))];
        let read = calls.read(histograms(), &[(failure, 1)], &names);
        assert!(read.ended.is_empty() && read.ended_failures.is_empty());
        assert_eq!(read.stats.iter().map(|s| s.count).sum::<u64>(), 3);
        let histograms = vec![(gone, hist(&[100, 200, 300])), (here, hist(&[300]))];
        let read = calls.read(histograms, &[(failure, 2)], &names);
        assert_eq!(
            (&read.ended[..], &read.ended_failures[..]),
            (&[gone][..], &[failure][..])
        );
        assert_eq!(read.stats.iter().map(|s| s.count).sum::<u64>(), 4);
        let read = calls.read(vec![(here, hist(&[300]))], &[], &names);
        assert!(read.ended.is_empty());
        let ended = read.stats.iter().find(|s| s.comm == ENDED).unwrap();
        assert_eq!((ended.count, ended.statuses[0].count), (3, 2));
    }

    #[test]
    fn what_ended_processes_made_up_does_not_add_up_for_ever() {
        let mut calls = Calls::default();
        let names = DeviceNames::default();
        for round in 0..4u32 {
            let made_up = || {
                let codes = (0..400).map(|n| CallKey {
                    code: 1000 * round + n,
                    ..key(u32::MAX - 1 - round)
                });
                codes.map(|key| (key, hist(&[100]))).collect::<Vec<_>>()
            };
            calls.read(made_up(), &[], &names);
            calls.read(made_up(), &[], &names);
        }
        let read = calls.read(Vec::new(), &[], &names);
        assert_eq!(read.stats.len(), MAX_ENDED + 1);
        assert_eq!(read.stats.iter().map(|s| s.count).sum::<u64>(), 1600);
    }
}
