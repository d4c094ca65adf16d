//! CUDA calls summed for `/metrics`: counters that only rise, of a bounded number of label values.
//!
//! Processes are distinguished by name, not by number: numbers come and go, and a name's sums go on when a
//! process ends and another begins. At most `MOST_SERIES` pairs of name and function are kept; what comes
//! after is counted under `other`.

use std::collections::{BTreeMap, HashMap};

use gtrace_abi::{BUCKETS, bucket_range};
use gtrace_api::CudaReport;

/// Pairs of process name and function.
const MOST_SERIES: usize = 256;
/// The name of what has no room.
const OTHER: &str = "other";
/// The name of calls whose process had ended before it was known by name.
const ENDED: &str = "(ended)";

/// Upper bounds of the histograms' buckets, nanoseconds: powers of four.
pub const BOUNDS_NS: [u64; 14] = bounds();

const fn bounds() -> [u64; 14] {
    let mut bounds = [0; 14];
    let mut at = 0;
    while at < bounds.len() {
        bounds[at] = 256 << (2 * at);
        at += 1;
    }
    bounds
}

/// Calls of a function by processes of a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Series {
    /// Calls, timed or not.
    pub calls: u64,
    /// Timed calls that failed.
    pub errors: u64,
    /// Bytes of timed calls.
    pub bytes: u64,
    /// Nanoseconds of timed calls.
    pub total_ns: u64,
    /// Timed calls by [`BOUNDS_NS`]; the last is for longer ones.
    pub buckets: [u64; BOUNDS_NS.len() + 1],
}

impl Series {
    fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.errors += other.errors;
        self.bytes += other.bytes;
        self.total_ns += other.total_ns;
        for (sum, more) in self.buckets.iter_mut().zip(other.buckets) {
            *sum += more;
        }
    }

    /// What `self` has more than `before`; nothing where that was more.
    fn since(&self, before: &Self) -> Self {
        let mut buckets = self.buckets;
        for (now, before) in buckets.iter_mut().zip(before.buckets) {
            *now = now.saturating_sub(before);
        }
        Self {
            calls: self.calls.saturating_sub(before.calls),
            errors: self.errors.saturating_sub(before.errors),
            bytes: self.bytes.saturating_sub(before.bytes),
            total_ns: self.total_ns.saturating_sub(before.total_ns),
            buckets,
        }
    }

    /// Timed calls.
    pub fn timed(&self) -> u64 {
        self.buckets.iter().sum()
    }
}

/// The sums.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// By process name and function.
    sums: BTreeMap<(String, String), Series>,
    /// Rows of live processes as they were last seen.
    seen: HashMap<(u32, String), Series>,
    /// All rows of a function together, as they were last seen.
    all: HashMap<String, Series>,
}

impl Tally {
    /// Adds what a report has more than the last one. Its rows need their buckets.
    pub fn take(&mut self, report: &CudaReport) {
        let mut seen: HashMap<(u32, String), Series> = HashMap::new();
        let mut names: HashMap<u32, &str> = HashMap::new();
        let mut all: HashMap<String, Series> = HashMap::new();
        for row in &report.calls {
            let mut series = Series {
                calls: row.calls,
                errors: row.errors,
                bytes: row.bytes,
                total_ns: row.total_ns,
                ..Series::default()
            };
            for (bucket, n) in &row.buckets {
                series.buckets[place(usize::from(*bucket))] += n;
            }
            all.entry(row.function.clone()).or_default().add(&series);
            if let Some(pid) = row.pid {
                names.insert(pid, &row.comm);
                seen.entry((pid, row.function.clone()))
                    .or_default()
                    .add(&series);
            }
        }
        // What is more of a function than before, and what of it is of known processes.
        let mut more: HashMap<&str, Series> = HashMap::new();
        for (function, now) in &all {
            let nothing = Series::default();
            let before = self.all.get(function).unwrap_or(&nothing);
            more.insert(function, now.since(before));
        }
        let mut risen = Vec::new();
        for (key, now) in &seen {
            let nothing = Series::default();
            let since = now.since(self.seen.get(key).unwrap_or(&nothing));
            if let Some(rest) = more.get_mut(key.1.as_str()) {
                *rest = rest.since(&since);
            }
            risen.push((names.get(&key.0).copied().unwrap_or(ENDED), &key.1, since));
        }
        for (comm, function, since) in risen {
            add(&mut self.sums, comm, function, &since);
        }
        for (function, rest) in more {
            add(&mut self.sums, ENDED, function, &rest);
        }
        self.seen = seen;
        self.all = all;
    }

    /// Every sum, by process name and function.
    pub fn series(&self) -> impl Iterator<Item = (&str, &str, &Series)> {
        let sums = self.sums.iter();
        sums.map(|((comm, function), series)| (comm.as_str(), function.as_str(), series))
    }
}

fn add(sums: &mut BTreeMap<(String, String), Series>, comm: &str, function: &str, series: &Series) {
    if *series == Series::default() {
        return;
    }
    let mut key = (comm.to_owned(), function.to_owned());
    if sums.len() >= MOST_SERIES && !sums.contains_key(&key) {
        key = (OTHER.to_owned(), OTHER.to_owned());
    }
    sums.entry(key).or_default().add(series);
}

/// Which of [`BOUNDS_NS`] a bucket of the probes lies below.
pub(crate) fn place(bucket: usize) -> usize {
    let (_, end) = bucket_range(bucket.min(BUCKETS - 1));
    let longer = bucket >= BUCKETS - 1;
    match longer {
        true => BOUNDS_NS.len(),
        false => BOUNDS_NS.partition_point(|bound| *bound < end),
    }
}

#[cfg(test)]
mod tests {
    use gtrace_abi::bucket_of;
    use gtrace_api::CudaCalls;

    use super::*;

    fn row(pid: Option<u32>, comm: &str, function: &str, calls: u64) -> CudaCalls {
        CudaCalls {
            pid,
            comm: comm.into(),
            function: function.into(),
            calls,
            timed: calls,
            bytes: calls * 4,
            total_ns: calls * 1000,
            buckets: vec![(bucket_of(1000) as u16, calls)],
            ..CudaCalls::default()
        }
    }

    fn report(calls: Vec<CudaCalls>) -> CudaReport {
        CudaReport {
            calls,
            ..CudaReport::default()
        }
    }

    fn calls(tally: &Tally, comm: &str) -> u64 {
        let series = tally.series().filter(|(name, ..)| *name == comm);
        series.map(|(_, _, series)| series.calls).sum()
    }

    #[test]
    fn bounds_hold_every_bucket_that_ends_there() {
        assert_eq!((BOUNDS_NS[0], BOUNDS_NS[13]), (256, 17_179_869_184));
        for (ns, bound) in [
            (1, 0),
            (255, 0),
            (256, 1),
            (1000, 1),
            (1024, 2),
            (u64::MAX, 14),
        ] {
            assert_eq!(place(bucket_of(ns)), bound, "{ns}");
        }
    }

    #[test]
    fn sums_of_a_name_go_on_when_its_process_ends_and_the_next_begins() {
        let mut tally = Tally::default();
        tally.take(&report(vec![row(Some(1), "train", "f", 10)]));
        tally.take(&report(vec![row(Some(1), "train", "f", 15)]));
        // Summed up with those that ended; another has begun.
        let next = vec![row(None, "(ended)", "f", 15), row(Some(2), "train", "f", 3)];
        tally.take(&report(next.clone()));
        tally.take(&report(next));
        assert_eq!((calls(&tally, "train"), calls(&tally, ENDED)), (18, 0));
        let series = tally.series().next().unwrap().2;
        assert_eq!((series.timed(), series.buckets[1]), (18, 18));
        assert_eq!((series.bytes, series.total_ns), (72, 18_000));
    }

    #[test]
    fn what_came_and_ended_between_two_polls_is_not_missing() {
        let mut tally = Tally::default();
        tally.take(&report(vec![row(Some(1), "train", "f", 10)]));
        let later = vec![
            row(None, "(ended)", "f", 100),
            row(Some(1), "train", "f", 12),
        ];
        tally.take(&report(later));
        assert_eq!((calls(&tally, "train"), calls(&tally, ENDED)), (12, 100));
    }

    #[test]
    fn names_that_never_end_are_counted_under_one() {
        let mut tally = Tally::default();
        let many = (0..1000).map(|n| row(Some(n + 1), &format!("p{n}"), "f", 1));
        tally.take(&report(many.collect()));
        assert_eq!(tally.series().count(), MOST_SERIES + 1);
        assert_eq!(calls(&tally, OTHER), 1000 - MOST_SERIES as u64);
    }
}
