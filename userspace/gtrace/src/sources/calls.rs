//! Driver-call statistics: the probes' histograms, with names and percentiles.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use gtrace_abi::{BUCKETS, CallHist, CallKey, MAX_NS, midpoint};
use hdrhistogram::Histogram;

use super::{ioctl_names, process};
use crate::hub::CallStats;

/// Ended processes add up under this name.
const ENDED: &str = "(ended)";

/// Reads histograms into statistics, and keeps the sums of processes that have ended.
#[derive(Debug, Default)]
pub struct Calls {
    names: HashMap<u32, String>,
    ended: BTreeMap<u32, Box<CallHist>>,
}

impl Calls {
    /// Statistics of `histograms`, and the keys of processes that have ended: their calls are
    /// kept here, so the probes may forget them.
    pub fn read(
        &mut self,
        histograms: Vec<(CallKey, Box<CallHist>)>,
    ) -> (Vec<CallStats>, Vec<CallKey>) {
        let mut forget = Vec::new();
        let mut live: BTreeMap<(u32, u32), Box<CallHist>> = BTreeMap::new();
        for (key, hist) in histograms {
            let dir = PathBuf::from(format!("/proc/{}", key.tgid));
            if key != CallKey::OVERFLOW && !dir.exists() {
                merge(self.ended.entry(key.cmd).or_insert_with(empty), &hist);
                self.names.remove(&key.tgid);
                forget.push(key);
                continue;
            }
            self.remember_name(key.tgid, &dir);
            merge(live.entry((key.tgid, key.cmd)).or_insert_with(empty), &hist);
        }
        let mut stats: Vec<_> = live
            .iter()
            .map(|(&(pid, cmd), hist)| {
                let name = self.names.get(&pid).map_or("?", String::as_str);
                stats_of(pid, name, cmd, hist)
            })
            .collect();
        stats.extend(
            self.ended
                .iter()
                .map(|(&cmd, hist)| stats_of(0, ENDED, cmd, hist)),
        );
        stats.sort_by_key(|s| std::cmp::Reverse(s.total_ns));
        (stats, forget)
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

fn empty() -> Box<CallHist> {
    Box::new(CallHist {
        count: 0,
        errors: 0,
        sum_ns: 0,
        max_ns: 0,
        buckets: [0; BUCKETS],
    })
}

fn merge(into: &mut CallHist, from: &CallHist) {
    into.count += from.count;
    into.errors += from.errors;
    into.sum_ns += from.sum_ns;
    into.max_ns = into.max_ns.max(from.max_ns);
    for (into, from) in into.buckets.iter_mut().zip(&from.buckets) {
        *into += from;
    }
}

/// The histogram as an `hdrhistogram`, for percentiles and export.
pub fn to_hdr(hist: &CallHist) -> Option<Histogram<u64>> {
    let mut hdr = Histogram::new_with_bounds(1, MAX_NS, 2).ok()?;
    for (bucket, &count) in hist
        .buckets
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0)
    {
        hdr.saturating_record_n(midpoint(bucket), count);
    }
    Some(hdr)
}

fn stats_of(pid: u32, comm: &str, cmd: u32, hist: &CallHist) -> CallStats {
    let hdr = to_hdr(hist);
    let quantile = |q| {
        hdr.as_ref()
            .map_or(0, |hdr| hdr.value_at_quantile(q))
            .min(hist.max_ns)
    };
    CallStats {
        pid,
        comm: comm.to_owned(),
        ioctl: format!("{cmd:#x}"),
        op: ioctl_names::name(cmd).map(str::to_owned),
        count: hist.count,
        errors: hist.errors,
        total_ns: hist.sum_ns,
        p50_ns: quantile(0.5),
        p90_ns: quantile(0.9),
        p99_ns: quantile(0.99),
        p999_ns: quantile(0.999),
        max_ns: hist.max_ns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtrace_abi::bucket_of;

    fn hist(values: &[u64]) -> Box<CallHist> {
        let mut hist = empty();
        for &ns in values {
            hist.count += 1;
            hist.sum_ns += ns;
            hist.max_ns = hist.max_ns.max(ns);
            hist.buckets[bucket_of(ns)] += 1;
        }
        hist
    }

    #[test]
    fn percentiles_are_within_the_error_of_the_buckets() {
        let values: Vec<u64> = (1..=1000).map(|i| i * 1000).collect();
        let stats = stats_of(1, "x", 0xc020_462a, &hist(&values));
        for (got, want) in [
            (stats.p50_ns, 500_000),
            (stats.p90_ns, 900_000),
            (stats.p99_ns, 990_000),
            (stats.p999_ns, 999_000),
        ] {
            // 1/64 of the buckets and 1/100 of hdrhistogram at two digits.
            assert!(got.abs_diff(want) * 35 < want, "{got} for {want}");
        }
        assert_eq!((stats.count, stats.max_ns), (1000, 1_000_000));
    }

    #[test]
    fn calls_of_ended_processes_are_kept_and_their_keys_given_back() {
        let mut calls = Calls::default();
        let gone = CallKey {
            tgid: u32::MAX - 1,
            cmd: 7,
            rdev: 1,
        };
        let here = CallKey {
            tgid: std::process::id(),
            cmd: 7,
            rdev: 1,
        };
        let (stats, forget) = calls.read(vec![(gone, hist(&[100, 200])), (here, hist(&[300]))]);
        assert_eq!(forget, [gone]);
        assert_eq!(stats.iter().map(|s| s.count).sum::<u64>(), 3);
        let (stats, forget) = calls.read(vec![(here, hist(&[300]))]);
        assert!(forget.is_empty());
        assert_eq!(stats.iter().find(|s| s.comm == ENDED).unwrap().count, 2);
    }
}
