//! Driver-call statistics: the probes' histograms, with names and percentiles.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gtrace_abi::{CallHist, CallKey, FailureKey};
use gtrace_api::{CallFailures, CallSeries, CallStats};
use gtrace_profile::Histogram;

use super::operation::Operation;
use super::watched::DeviceNames;
use crate::process;

/// The label of what has no public name.
const OTHER: &str = "other";
/// Ended processes add up under this name.
const ENDED: &str = "(ended)";
/// Calls that were counted without their process.
pub(super) const OTHERS: &str = "(others)";
/// How many rows of processes that have just ended are kept apart for a while, each of 7 KiB.
const MAX_RETIRED: usize = 512;
/// How long they are kept so at least: somebody who asks every few seconds sees each.
const KEPT_RETIRED: Duration = Duration::from_secs(10);
/// How many rows of ended processes are kept, beside those of operations that live processes call too. Each
/// takes 7 KiB.
const MAX_ENDED: usize = 512;
/// Stands for all ioctls, and for all codes, that have no public name: a program can make up any number.
const UNNAMED: u32 = u32::MAX;

/// Reads histograms into statistics, and keeps the sums of processes that have ended.
#[derive(Debug, Default)]
pub struct Calls {
    names: HashMap<u32, String>,
    ended: BTreeMap<CallKey, Sums>,
    readings: u64,
    /// The calls of processes that have ended a moment ago: readings still show them as theirs.
    retired: BTreeMap<CallKey, Retired>,
    /// Processes that were found to have ended at the reading before. Only now is it certain that
    /// the tables have their last call.
    dead: HashSet<u32>,
    /// The rows of the reading before, by key and whether they are of ended processes: most have not changed.
    rows: HashMap<(CallKey, bool), CallStats>,
}

/// What is known of one row.
#[derive(Debug)]
struct Sums {
    hist: Box<CallHist>,
    statuses: BTreeMap<u32, u64>,
    /// Number of the reading in which it rose last.
    risen: u64,
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
    /// Calls of ended processes whose sums were given up for want of room.
    pub given_up: u64,
}

/// The calls of a process that has just ended.
#[derive(Debug)]
struct Retired {
    sums: Sums,
    since: Instant,
}

impl Calls {
    /// Takes over the last counts of processes that have ended, by process with the name, whose keys are given back.
    pub fn retire(
        &mut self,
        histograms: Vec<(CallKey, Box<CallHist>)>,
        failures: Vec<(FailureKey, u64)>,
        ended: &BTreeMap<u32, String>,
    ) {
        for (key, hist) in histograms {
            if let Some(name) = ended.get(&key.tgid) {
                self.names.entry(key.tgid).or_insert_with(|| name.clone());
            }
            merge(&mut self.retired_row(key).hist, &hist);
        }
        for (key, count) in failures {
            let statuses = &mut self.retired_row(key.call).statuses;
            *statuses.entry(key.status).or_default() += count;
        }
    }

    /// Whether there are calls of processes that have just ended.
    pub fn has_retired(&self) -> bool {
        !self.retired.is_empty()
    }

    fn retired_row(&mut self, key: CallKey) -> &mut Sums {
        if self.retired.len() >= MAX_RETIRED && !self.retired.contains_key(&key) {
            return self.ended_row(key);
        }
        let row = self.retired.entry(key).or_insert_with(|| Retired {
            sums: Sums::none(),
            since: Instant::now(),
        });
        &mut row.sums
    }

    /// Statistics of `histograms` and `failures`, which were just taken.
    pub fn read(
        &mut self,
        histograms: Vec<(CallKey, Box<CallHist>)>,
        failures: &[(FailureKey, u64)],
        devices: &DeviceNames,
    ) -> Read {
        let mut read = Read::default();
        self.readings += 1;
        let mut live: BTreeMap<CallKey, Sums> = BTreeMap::new();
        let before = std::mem::take(&mut self.dead);
        for (key, hist) in histograms {
            if before.contains(&key.tgid) {
                read.ended.push(key);
                merge(&mut self.ended_row(key).hist, &hist);
                continue;
            }
            let dir = PathBuf::from(format!("/proc/{}", key.tgid));
            let of_one = key != CallKey::OVERFLOW && key.tgid != CallKey::OTHERS;
            if of_one && !dir.exists() {
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
        let mut named: HashSet<u32> = live.keys().map(|key| key.tgid).collect();
        for (key, row) in &self.retired {
            live.entry(*key).or_insert_with(Sums::none).add(&row.sums);
        }
        if self.ended.len() > MAX_ENDED {
            self.add_up_unnamed(devices);
            read.given_up = self.end_series(&live, devices);
        }
        read.stats = self.stats(&live, devices);
        let now = Instant::now();
        let is_over = |row: &Retired| now.duration_since(row.since) >= KEPT_RETIRED;
        let all = self.retired.iter().filter(|(_, row)| is_over(row));
        let over: Vec<CallKey> = all.map(|(key, _)| *key).collect();
        for key in over {
            if let Some(row) = self.retired.remove(&key) {
                self.ended_row(key).add(&row.sums);
            }
        }
        // Another process may get the number of one that has ended.
        named.extend(self.retired.keys().map(|key| key.tgid));
        self.names.retain(|pid, _| named.contains(pid));
        read
    }

    /// Where the calls of an ended process under `key` add up.
    fn ended_row(&mut self, key: CallKey) -> &mut Sums {
        let key = CallKey { tgid: 0, ..key };
        let sums = self.ended.entry(key).or_insert_with(Sums::none);
        sums.risen = self.readings;
        sums
    }

    /// Makes one row of all those that `/metrics` adds up in one series: most have no public names.
    fn add_up_unnamed(&mut self, devices: &DeviceNames) {
        for (series, keys) in series_of(self.ended.keys(), devices) {
            let [first, _, ..] = keys[..] else { continue };
            let mut one = first;
            match series.code.as_deref() {
                None if series.op == OTHER => (one.cmd, one.code) = (UNNAMED, 0),
                Some(OTHER) => one.code = UNNAMED,
                _ => {}
            }
            let mut all = Sums::none();
            for key in keys {
                if let Some(sums) = self.ended.remove(&key) {
                    all.add(&sums);
                }
            }
            self.ended.insert(one, all);
        }
    }

    /// Ends series until there is room, first those that have not risen for longest, and says how many calls
    /// they had. One that a live process calls goes on: a counter that exists does not fall. Of these there
    /// are as many as the probes have keys.
    fn end_series(&mut self, live: &BTreeMap<CallKey, Sums>, devices: &DeviceNames) -> u64 {
        let mut excess = self.ended.len().saturating_sub(MAX_ENDED);
        if excess == 0 {
            return 0;
        }
        let called: BTreeSet<CallSeries> = series_of(live.keys(), devices).into_keys().collect();
        let risen = |key: &CallKey| self.ended.get(key).map_or(0, |sums| sums.risen);
        let mut idle: Vec<(u64, Vec<CallKey>)> = series_of(self.ended.keys(), devices)
            .into_iter()
            .filter(|(series, _)| !called.contains(series))
            .map(|(_, keys)| (keys.iter().map(risen).max().unwrap_or(0), keys))
            .collect();
        idle.sort();
        let mut given_up = 0;
        for key in idle.into_iter().flat_map(|(_, keys)| keys) {
            if excess == 0 {
                break;
            }
            given_up += self.ended.remove(&key).map_or(0, |sums| sums.hist.count());
            excess -= 1;
        }
        given_up
    }

    fn stats(&mut self, live: &BTreeMap<CallKey, Sums>, devices: &DeviceNames) -> Vec<CallStats> {
        let before = std::mem::take(&mut self.rows);
        let mut rows = Vec::with_capacity(live.len() + self.ended.len());
        let live = live.iter().map(|row| (row, false));
        let ended = self.ended.iter().map(|row| (row, true));
        for ((key, sums), ended) in live.chain(ended) {
            let failed: u64 = sums.statuses.values().sum();
            let known = before.get(&(*key, ended)).filter(|row| {
                row.count == sums.hist.count()
                    && row.statuses.iter().map(|s| s.count).sum::<u64>() == failed
                    && row.device == devices.name(key.rdev)
                    && row.gpu == devices.gpu(key.rdev)
            });
            let row = known.cloned().unwrap_or_else(|| {
                let name = match self.names.get(&key.tgid) {
                    _ if ended => ENDED,
                    Some(name) => name,
                    None => "?",
                };
                stats_of(*key, name, sums, devices)
            });
            self.rows.insert((*key, ended), row.clone());
            rows.push(row);
        }
        rows.sort_by_key(|s| std::cmp::Reverse(s.total_ns));
        rows
    }

    fn remember_name(&mut self, pid: u32, dir: &Path) {
        self.names.entry(pid).or_insert_with(|| {
            let name = match pid {
                0 => Some("(no room)".to_owned()),
                CallKey::OTHERS => Some(OTHERS.to_owned()),
                _ => process::comm(dir),
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
            risen: 0,
        }
    }

    fn add(&mut self, other: &Self) {
        merge(&mut self.hist, &other.hist);
        for (status, count) in &other.statuses {
            *self.statuses.entry(*status).or_default() += count;
        }
        self.risen = self.risen.max(other.risen);
    }
}

/// Keys by the series that `/metrics` adds them up in.
fn series_of<'a>(
    keys: impl Iterator<Item = &'a CallKey>,
    devices: &DeviceNames,
) -> BTreeMap<CallSeries, Vec<CallKey>> {
    let mut all: BTreeMap<CallSeries, Vec<CallKey>> = BTreeMap::new();
    for key in keys {
        all.entry(named(*key, devices).series())
            .or_default()
            .push(*key);
    }
    all
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
    let statuses = sums.statuses.iter().map(|(status, count)| CallFailures {
        status: format!("{status:#x}"),
        name: gtrace_nvrm::status_name(*status).map(str::to_owned),
        count: *count,
    });
    CallStats {
        pid: match key.tgid {
            CallKey::OTHERS => 0,
            pid => pid,
        },
        comm: comm.to_owned(),
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
        ..named(key, devices)
    }
}

/// Operation and device of a key, and nothing of its calls.
fn named(key: CallKey, devices: &DeviceNames) -> CallStats {
    let Operation {
        ioctl,
        op,
        code,
        code_name,
    } = Operation::new(key.cmd, key.code);
    CallStats {
        device: devices.name(key.rdev),
        gpu: devices.gpu(key.rdev),
        ioctl,
        op,
        code,
        code_name,
        ..CallStats::default()
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
            risen: 0,
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
    fn calls_are_those_of_the_gpu_that_has_the_device_file_also_where_it_came_up_after_them() {
        let proc = tempfile::tempdir().unwrap();
        let mut calls = Calls::default();
        let mut gpu = || {
            let histograms = vec![(key(std::process::id()), hist(&[300]))];
            let names = DeviceNames::read(proc.path());
            calls.read(histograms, &[], &names).stats[0].gpu
        };
        assert_eq!(gpu(), None);
        let folder = proc.path().join("driver/nvidia/gpus/0000:3b:00.0");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("information"), "Device Minor: \t 0\n").unwrap();
        assert_eq!(gpu(), gtrace_event::PciAddress::parse("0000:3b:00.0"));
    }

    #[test]
    fn a_name_is_kept_only_as_long_as_its_process_has_rows_of_its_own() {
        let mut calls = Calls::default();
        let (first, second) = (u32::MAX - 1, u32::MAX - 2);
        let program = |pid: u32| BTreeMap::from([(pid, "program".to_owned())]);
        let all = 0..MAX_RETIRED as u32;
        let all = all.map(|code| (CallKey { code, ..key(first) }, hist(&[100])));
        calls.retire(all.collect(), Vec::new(), &program(first));
        // No room is left for a row of the second.
        let one = vec![(key(second), hist(&[100]))];
        calls.retire(one, Vec::new(), &program(second));
        calls.read(Vec::new(), &[], &DeviceNames::default());
        assert_eq!(calls.names.keys().collect::<Vec<_>>(), [&first]);
    }

    #[test]
    fn calls_without_room_are_not_those_of_ended_processes() {
        let mut calls = Calls::default();
        let rest = CallKey::rest_of(u32::MAX - 1);
        let read = read_ended(&mut calls, &[rest], &[CallKey::OVERFLOW]);
        let mut names: Vec<&str> = read.stats.iter().map(|row| row.comm.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, [ENDED, "(no room)"]);
    }

    /// Calls by series.
    fn series(read: &Read) -> BTreeMap<CallSeries, u64> {
        let mut sums = BTreeMap::new();
        for row in &read.stats {
            *sums.entry(row.series()).or_default() += row.count;
        }
        sums
    }

    /// Two readings, after which processes that are not there have ended.
    fn read_ended(calls: &mut Calls, keys: &[CallKey], live: &[CallKey]) -> Read {
        let names = DeviceNames::default();
        let all = keys.iter().chain(live);
        let histograms = || all.clone().map(|key| (*key, hist(&[100]))).collect();
        calls.read(histograms(), &[], &names);
        calls.read(histograms(), &[], &names)
    }

    #[test]
    fn what_ended_processes_invented_does_not_add_up_for_ever() {
        let mut calls = Calls::default();
        for round in 0..4u32 {
            let invented: Vec<CallKey> = (0..400)
                .map(|n| CallKey {
                    code: 0xff00_0000 + 1000 * round + n,
                    ..key(u32::MAX - 1 - round)
                })
                .collect();
            assert_eq!(read_ended(&mut calls, &invented, &[]).given_up, 0);
        }
        let read = calls.read(Vec::new(), &[], &DeviceNames::default());
        assert!(read.stats.len() <= MAX_ENDED, "{}", read.stats.len());
        let sums = series(&read);
        assert_eq!(sums.into_values().collect::<Vec<_>>(), [1600]);
    }

    #[test]
    fn a_series_never_falls_and_ends_whole() {
        let mut calls = Calls::default();
        let here = key(std::process::id());
        // More series than have room: a public command on many device files. One of them is called all
        // the time, by a process that lives and by others that end; invented commands come in between.
        let mut before = BTreeMap::new();
        let mut given_up = 0;
        let mut ended = 0;
        for round in 0..8u32 {
            let pid = u32::MAX - 1 - round;
            let mut keys: Vec<CallKey> = (0..100)
                .map(|n| CallKey {
                    rdev: 195 << 20 | (1 + 100 * round + n),
                    ..key(pid)
                })
                .collect();
            keys.push(key(pid));
            keys.extend((0..50).map(|n| CallKey {
                code: 0xff00_0000 + 50 * round + n,
                ..key(pid)
            }));
            let read = read_ended(&mut calls, &keys, &[here]);
            given_up += read.given_up;
            let now = series(&read);
            for (series, count) in &before {
                match now.get(series) {
                    Some(now) => assert!(now >= count, "{series:?} fell from {count} to {now}"),
                    None => ended += 1,
                }
            }
            before = now;
        }
        let called = before
            .keys()
            .find(|series| series.device == "nvidia0" && series.code.as_deref() != Some(OTHER));
        assert_eq!(before[called.unwrap()], 8 + 1);
        let invented = before
            .keys()
            .find(|series| series.code.as_deref() == Some(OTHER));
        assert_eq!(before[invented.unwrap()], 8 * 50);
        // 800 files, the two above, and room for 512.
        assert_eq!((given_up, ended), (802 - 512, 802 - 512));
        let oldest = |n: u32| {
            before
                .keys()
                .any(|series| series.device == format!("nvidia{n}"))
        };
        assert!(!oldest(1) && oldest(800));
    }
}
