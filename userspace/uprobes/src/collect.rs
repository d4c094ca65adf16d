//! What the probes have counted.

use std::collections::{BTreeMap, BTreeSet};

use gtrace_abi::{ApiCounter, ApiFailureKey, ApiHist, ApiKey, BUCKETS, Ledger, quantile};
use libbpf_rs::{MapCore as _, MapFlags};

use crate::load::{TraceError, bpf, map_of};
use crate::pod::{Pod, bytes_of, read};
use crate::tracer::Tracer;

/// Calls of one function by one process.
#[derive(Clone, Debug)]
pub struct Row {
    /// Process id; 0 for those of processes that had no room in the table.
    pub pid: u32,
    /// Number of the function.
    pub function: u32,
    /// Calls.
    pub calls: u64,
    /// Calls whose latency and result were read: all of them unless the function is sampled.
    pub timed: u64,
    /// Errors among the timed calls.
    pub errors: u64,
    /// Bytes of the timed calls.
    pub bytes: u64,
    /// Sum of the timed calls' latencies, nanoseconds.
    pub total_ns: u64,
    /// Longest timed call, nanoseconds.
    pub max_ns: u64,
    /// Timed calls by [`gtrace_abi::bucket_of`] their latency.
    pub buckets: Box<[u64; BUCKETS]>,
    /// Errors by CUresult.
    pub failures: BTreeMap<u32, u64>,
}

impl Row {
    fn new(key: ApiKey, hist: &ApiHist) -> Self {
        let timed = hist.timed();
        Self {
            pid: key.tgid,
            function: key.function,
            calls: timed + hist.untimed,
            timed,
            errors: hist.errors,
            bytes: hist.bytes,
            total_ns: hist.sum_ns,
            max_ns: hist.max_ns,
            buckets: Box::new(hist.buckets),
            failures: BTreeMap::new(),
        }
    }

    /// The latency that a share of the timed calls does not exceed, nanoseconds, within 1/64: the
    /// middle of its bucket, though never more than the longest call.
    pub fn quantile(&self, share: f64) -> u64 {
        let buckets = self.buckets.iter().copied().enumerate();
        quantile(buckets, self.timed, share, self.max_ns)
    }

    /// Adds another's calls.
    pub fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.timed += other.timed;
        self.errors += other.errors;
        self.bytes += other.bytes;
        self.total_ns += other.total_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
        for (sum, more) in self.buckets.iter_mut().zip(other.buckets.iter()) {
            *sum += more;
        }
        for (result, count) in &other.failures {
            *self.failures.entry(*result).or_default() += count;
        }
    }
}

/// All that was counted.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// By process and function.
    pub rows: Vec<Row>,
    /// Device memory by process.
    pub ledgers: BTreeMap<u32, Ledger>,
    /// What was dropped, by [`ApiCounter`].
    pub counters: Vec<(ApiCounter, u64)>,
}

impl Counted {
    /// The value of a counter.
    pub fn counter(&self, counter: ApiCounter) -> u64 {
        let found = self.counters.iter().find(|(name, _)| *name == counter);
        found.map_or(0, |(_, value)| *value)
    }
}

/// A map, the offset of the process id in its key, whether it is about memory.
type Place = (&'static str, usize, bool);

const PLACES: [Place; 5] = [
    ("API_HISTS", 0, false),
    ("API_FAILURES", 0, false),
    ("API_LEDGERS", 0, true),
    ("API_MEMORY", 8, true),
    // The upper half of a little-endian word.
    ("API_STARTS", 4, false),
];

impl Tracer {
    /// Reads what was counted so far. The counts go on meanwhile: those of one row belong together
    /// only if its function is not being called.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub fn counted(&self) -> Result<Counted, TraceError> {
        let mut rows: BTreeMap<ApiKey, Row> = BTreeMap::new();
        for (key, hist) in self.entries::<ApiKey, ApiHist>("API_HISTS")? {
            let row = Row::new(key, &hist);
            if row.calls > 0 {
                rows.insert(key, row);
            }
        }
        for (key, count) in self.entries::<ApiFailureKey, u64>("API_FAILURES")? {
            if let Some(row) = rows.get_mut(&key.call) {
                row.failures.insert(key.result, count);
            }
        }
        let mut counters = Vec::new();
        let map = map_of(self.object(), "API_COUNTERS")?;
        for counter in ApiCounter::ALL {
            let index = *counter as u32;
            let value = map
                .lookup(bytes_of(&index), MapFlags::ANY)
                .map_err(bpf("BPF map API_COUNTERS"))?;
            counters.push((*counter, value.and_then(|v| read(&v)).unwrap_or(0)));
        }
        Ok(Counted {
            rows: rows.into_values().collect(),
            ledgers: self.entries("API_LEDGERS")?.into_iter().collect(),
            counters,
        })
    }

    /// Gives up what the kernel keeps for processes that have ended, after it was read.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub fn forget(&self, ended: &BTreeSet<u32>) -> Result<(), TraceError> {
        if ended.is_empty() {
            return Ok(());
        }
        let is_of = |tgid: u32| ended.contains(&tgid);
        for place in PLACES {
            self.forget_in(place, is_of)?;
        }
        Ok(())
    }

    /// Gives up all ledgers of memory.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub fn forget_memory(&self) -> Result<(), TraceError> {
        for place in PLACES.iter().filter(|(.., memory)| *memory) {
            self.forget_in(*place, |_| true)?;
        }
        Ok(())
    }

    fn forget_in(
        &self,
        (name, at, _): Place,
        is_of: impl Fn(u32) -> bool,
    ) -> Result<(), TraceError> {
        let map = map_of(self.object(), name)?;
        let wanted = |key: &Vec<u8>| {
            let tgid = key.get(at..).and_then(read::<u32>);
            tgid.is_some_and(&is_of)
        };
        let keys: Vec<Vec<u8>> = map.keys().filter(wanted).collect();
        for key in keys {
            let _ = map.delete(&key);
        }
        Ok(())
    }

    pub(crate) fn entries<K: Pod, V: Pod>(&self, name: &str) -> Result<Vec<(K, V)>, TraceError> {
        let map = map_of(self.object(), name)?;
        let mut entries = Vec::new();
        for bytes in map.keys() {
            let value = map
                .lookup(&bytes, MapFlags::ANY)
                .map_err(bpf(format!("BPF map {name}")))?;
            if let (Some(key), Some(value)) = (read(&bytes), value.and_then(|v| read(&v))) {
                entries.push((key, value));
            }
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_a_64th_of_the_values() {
        let mut hist = ApiHist::EMPTY;
        for ns in 1..=1000_u64 {
            hist.buckets[gtrace_abi::bucket_of(ns * 1000)] += 1;
        }
        hist.max_ns = 1_000_000;
        let row = Row::new(ApiKey::default(), &hist);
        for (share, exact) in [(0.5, 500_000), (0.9, 900_000), (0.999, 999_000)] {
            let found = row.quantile(share);
            assert!(found.abs_diff(exact) * 64 <= exact, "{share}: {found}");
        }
        assert_eq!(row.quantile(1.0), row.max_ns.min(row.quantile(1.0)));
        assert_eq!((row.calls, row.timed), (1000, 1000));
    }

    #[test]
    fn rows_add_up() {
        let mut hist = ApiHist::EMPTY;
        hist.buckets[3] = 5;
        hist.untimed = 7;
        hist.max_ns = 9;
        let mut row = Row::new(ApiKey::default(), &hist);
        row.failures.insert(2, 1);
        let other = row.clone();
        row.add(&other);
        assert_eq!((row.calls, row.timed, row.max_ns), (24, 10, 9));
        assert_eq!(row.failures[&2], 2);
    }
}
