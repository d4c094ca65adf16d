//! What a session did and where its time went.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use gtrace_abi::{BUCKETS, MAX_NS, bucket_of, bucket_range, quantile};
use gtrace_protocol::OpId;
use serde::{Deserialize, Serialize};

/// Upper bounds of the coarse histogram that leaves the process: powers of 4 from 1 us to 17.2 s.
pub const COARSE_BOUNDS_NS: [u64; 13] = coarse_bounds();

const fn coarse_bounds() -> [u64; 13] {
    let mut bounds = [0; 13];
    let mut at = 0;
    while at < bounds.len() {
        bounds[at] = 1 << (10 + 2 * at);
        at += 1;
    }
    bounds
}
const _: () = assert!(COARSE_BOUNDS_NS[12] == MAX_NS);

/// A log-linear histogram of durations, in ns, that many threads may add to.
pub struct Histogram {
    buckets: Box<[AtomicU64]>,
    sum: AtomicU64,
    max: AtomicU64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            buckets: (0..BUCKETS).map(|_| AtomicU64::new(0)).collect(),
            sum: AtomicU64::new(0),
            max: AtomicU64::new(0),
        }
    }
}

impl Histogram {
    /// Adds a duration.
    #[inline]
    pub fn add(&self, ns: u64) {
        self.place(ns);
        self.sum.fetch_add(ns, Ordering::Relaxed);
    }

    /// As [`Histogram::add`], for a caller that adds to the sum itself.
    #[inline]
    fn place(&self, ns: u64) {
        if ns > self.max.load(Ordering::Relaxed) {
            self.max.fetch_max(ns, Ordering::Relaxed);
        }
        if let Some(bucket) = self.buckets.get(bucket_of(ns)) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What it holds, summed up.
    pub fn times(&self) -> Times {
        let filled = self.buckets.iter().enumerate().filter_map(|(at, bucket)| {
            let count = bucket.load(Ordering::Relaxed);
            // There are 896.
            (count > 0).then_some((at as u16, count))
        });
        let mut times = Times {
            sum_ns: self.sum.load(Ordering::Relaxed),
            max_ns: self.max.load(Ordering::Relaxed),
            buckets: filled.collect(),
            ..Times::default()
        };
        times.count = times.buckets.iter().map(|(_, count)| count).sum();
        for (bucket, count) in &times.buckets {
            let (low, _) = bucket_range((*bucket).into());
            let coarse = COARSE_BOUNDS_NS
                .iter()
                .position(|bound| low < *bound)
                .unwrap_or(COARSE_BOUNDS_NS.len() - 1);
            times.coarse[coarse] += count;
        }
        times.find_quantiles();
        times
    }
}

/// Durations, summed up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// How many.
    pub count: u64,
    /// Their sum, ns.
    pub sum_ns: u64,
    /// Half are shorter, ns.
    pub p50_ns: u64,
    /// 99 of 100 are shorter, ns.
    pub p99_ns: u64,
    /// The longest, ns.
    #[serde(default)]
    pub max_ns: u64,
    /// How many below each of [`COARSE_BOUNDS_NS`] and not below the one before; longer ones are in
    /// the last.
    pub coarse: [u64; 13],
    /// Index (of gtrace-abi) and count of each bucket that is not empty, ascending. Absent where there
    /// was no room for them (`SessionStats::fit`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buckets: Vec<(u16, u64)>,
}

impl Times {
    /// Adds another's. The quantiles are found anew, if both know their buckets.
    pub fn add(&mut self, other: &Self) {
        let whole = |times: &Self| times.count == times.buckets.iter().map(|(_, n)| n).sum::<u64>();
        let whole = whole(self) && whole(other);
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
        for (mine, other) in self.coarse.iter_mut().zip(other.coarse) {
            *mine += other;
        }
        if !whole {
            self.buckets.clear();
            return;
        }
        let mut sums: BTreeMap<u16, u64> = self.buckets.iter().copied().collect();
        for (bucket, count) in &other.buckets {
            *sums.entry(*bucket).or_default() += count;
        }
        self.buckets = sums.into_iter().collect();
        self.find_quantiles();
    }

    fn find_quantiles(&mut self) {
        (self.p50_ns, self.p99_ns) = (self.quantile(0.5), self.quantile(0.99));
    }

    fn quantile(&self, share: f64) -> u64 {
        let buckets = self
            .buckets
            .iter()
            .map(|(bucket, n)| ((*bucket).into(), *n));
        quantile(buckets, self.count, share, self.max_ns)
    }
}

/// One operation of a session.
#[derive(Default)]
pub struct OpCounts {
    queue: Histogram,
    driver: Histogram,
    errors: AtomicU64,
    bytes: AtomicU64,
}

/// A session's counts; threads of all lanes add to it.
#[derive(Default)]
pub struct SessionCounts {
    ops: RwLock<HashMap<OpId, Arc<OpCounts>>>,
    /// Frames executed.
    pub frames: AtomicU64,
    /// Bytes of requests, headers included.
    pub bytes_in: AtomicU64,
    /// Bytes of replies, headers included.
    pub bytes_out: AtomicU64,
    /// Frames that named another lane's frame.
    pub waits: AtomicU64,
    /// Frames whose predecessor in another lane is lost, with which a session ends.
    pub waits_failed: AtomicU64,
    /// Frames of operations that are not known here.
    pub unknown: AtomicU64,
    /// Frames whose arguments could not be read.
    pub malformed: AtomicU64,
    /// Lanes that were closed because their client did not keep to the protocol.
    pub lanes_broken: AtomicU64,
}

impl SessionCounts {
    /// The counts of an operation.
    pub fn op(&self, op: OpId) -> Arc<OpCounts> {
        {
            let ops = self.ops.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(counts) = ops.get(&op) {
                return Arc::clone(counts);
            }
        }
        let mut ops = self.ops.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(ops.entry(op).or_default())
    }

    /// What is counted, with names by `name_of`.
    pub fn snapshot(&self, name_of: impl Fn(OpId) -> String) -> SessionStats {
        let ops = self.ops.read().unwrap_or_else(PoisonError::into_inner);
        let mut stats = SessionStats {
            frames: self.frames.load(Ordering::Relaxed),
            bytes_in: self.bytes_in.load(Ordering::Relaxed),
            bytes_out: self.bytes_out.load(Ordering::Relaxed),
            waits: self.waits.load(Ordering::Relaxed),
            waits_failed: self.waits_failed.load(Ordering::Relaxed),
            unknown: self.unknown.load(Ordering::Relaxed),
            malformed: self.malformed.load(Ordering::Relaxed),
            lanes_broken: self.lanes_broken.load(Ordering::Relaxed),
            ..SessionStats::default()
        };
        let (queue, driver) = (Histogram::default(), Histogram::default());
        for (op, counts) in ops.iter() {
            queue.merge(&counts.queue);
            driver.merge(&counts.driver);
            stats.ops.push(OpStats {
                name: name_of(*op),
                errors: counts.errors.load(Ordering::Relaxed),
                bytes: counts.bytes.load(Ordering::Relaxed),
                queue: counts.queue.times(),
                driver: counts.driver.times(),
            });
        }
        stats
            .ops
            .sort_by(|a, b| (b.driver.sum_ns, &a.name).cmp(&(a.driver.sum_ns, &b.name)));
        (stats.queue, stats.driver) = (queue.times(), driver.times());
        stats
    }
}

impl Histogram {
    fn merge(&self, other: &Self) {
        for (mine, other) in self.buckets.iter().zip(other.buckets.iter()) {
            mine.fetch_add(other.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        self.sum
            .fetch_add(other.sum.load(Ordering::Relaxed), Ordering::Relaxed);
        self.max
            .fetch_max(other.max.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

impl OpCounts {
    /// Adds a call to the histograms: ns from its arrival to its start, and in the driver. The sums
    /// follow by [`OpCounts::spent`].
    #[inline]
    pub(crate) fn place(&self, queue_ns: u64, driver_ns: u64) {
        self.queue.place(queue_ns);
        self.driver.place(driver_ns);
    }

    /// Adds to the sums of the histograms.
    pub(crate) fn spent(&self, queue_ns: u64, driver_ns: u64) {
        self.queue.sum.fetch_add(queue_ns, Ordering::Relaxed);
        self.driver.sum.fetch_add(driver_ns, Ordering::Relaxed);
    }

    /// Adds bytes of a call's bulk part, and whether it failed.
    pub(crate) fn moved(&self, bytes: usize, failed: bool) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.errors.fetch_add(u64::from(failed), Ordering::Relaxed);
    }
}

/// One operation, summed up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpStats {
    /// Name of the symbol.
    pub name: String,
    /// Calls that failed.
    pub errors: u64,
    /// Bytes of bulk copies.
    pub bytes: u64,
    /// From a frame's arrival to the start of its call.
    pub queue: Times,
    /// In the driver.
    pub driver: Times,
}

/// A session, summed up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStats {
    /// Frames executed.
    pub frames: u64,
    /// Bytes of requests, headers included.
    pub bytes_in: u64,
    /// Bytes of replies, headers included.
    pub bytes_out: u64,
    /// Frames that named another lane's frame.
    pub waits: u64,
    /// Those whose predecessor is lost.
    pub waits_failed: u64,
    /// Frames of operations that are not known here.
    pub unknown: u64,
    /// Frames whose arguments could not be read.
    pub malformed: u64,
    /// Lanes closed because their client did not keep to the protocol.
    pub lanes_broken: u64,
    /// Bytes that kernels printed and that there was no room for.
    #[serde(default)]
    pub output_dropped: u64,
    /// Open lanes.
    pub lanes: u32,
    /// Kinds of their links.
    pub links: Vec<String>,
    /// Why lanes have not the links that their client asked for, each reason once.
    #[serde(default)]
    pub fallbacks: Vec<String>,
    /// Times that RDMA was asked for and not agreed upon.
    #[serde(default)]
    pub rdma_refused: u64,
    /// Times that a lane gave RDMA up for its connection.
    #[serde(default)]
    pub failovers: u64,
    /// Times that a lane took RDMA again.
    #[serde(default)]
    pub failbacks: u64,
    /// Times that a lane's connection broke.
    #[serde(default)]
    pub severed: u64,
    /// Times that another connection took its place.
    #[serde(default)]
    pub resumed: u64,
    /// Device memory that the client allocated and has not freed, bytes.
    pub memory: u64,
    /// Handles in use.
    pub handles: u64,
    /// The error that CUDA keeps until the process ends, 0 for none.
    pub lasting_error: u32,
    /// From a frame's arrival to the start of its call, all operations.
    pub queue: Times,
    /// In the driver, all operations.
    pub driver: Times,
    /// Each operation, those with the most time in the driver first.
    pub ops: Vec<OpStats>,
}

impl SessionStats {
    /// Leaves out buckets of the operations that took the least time until it has at most `most` bytes
    /// as JSON, or no buckets; counts, sums and quantiles stay.
    pub(crate) fn fit(&mut self, most: usize) -> serde_json::Result<()> {
        let mut kept = self.ops.len();
        while serde_json::to_vec(self)?.len() > most && kept > 0 {
            kept /= 2;
            for op in self.ops.iter_mut().skip(kept) {
                op.queue.buckets.clear();
                op.driver.buckets.clear();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_where_the_values_are() {
        let histogram = Histogram::default();
        for ns in 1..=1000u64 {
            histogram.add(ns * 1000);
        }
        let times = histogram.times();
        assert_eq!(times.count, 1000);
        assert_eq!(times.sum_ns, 500_500_000);
        assert!(times.p50_ns.abs_diff(500_000) < 10_000, "{}", times.p50_ns);
        assert!(times.p99_ns.abs_diff(990_000) < 20_000, "{}", times.p99_ns);
        assert_eq!(times.coarse.iter().sum::<u64>(), 1000);
        assert_eq!(times.max_ns, 1_000_000);
        let counts: u64 = times.buckets.iter().map(|(_, count)| count).sum();
        assert_eq!(counts, 1000);
        // Below 1.024 us is 1 us alone.
        assert_eq!(times.coarse[0], 1);
    }

    #[test]
    fn a_session_sums_its_operations_up() {
        let counts = SessionCounts::default();
        for (op, driver_ns, bytes, failed) in [
            (300, 2_000, 64, false),
            (300, 2_000, 0, true),
            (301, 50_000, 0, false),
        ] {
            let counts = counts.op(op);
            counts.place(1_000, driver_ns);
            counts.spent(1_000, driver_ns);
            counts.moved(bytes, failed);
        }
        let stats = counts.snapshot(|op| op.to_string());
        let names: Vec<&str> = stats.ops.iter().map(|op| op.name.as_str()).collect();
        assert_eq!(names, ["301", "300"]);
        assert_eq!((stats.ops[1].errors, stats.ops[1].bytes), (1, 64));
        assert_eq!((stats.driver.count, stats.driver.sum_ns), (3, 54_000));
    }

    #[test]
    fn times_add_up_bucket_by_bucket() {
        let of = |values: &[u64]| {
            let histogram = Histogram::default();
            values.iter().for_each(|ns| histogram.add(*ns));
            histogram.times()
        };
        let mut sum = of(&[1_000, 2_000, 3_000]);
        sum.add(&of(&[2_000, 90_000]));
        assert_eq!(sum, of(&[1_000, 2_000, 2_000, 3_000, 90_000]));
        let mut bare = of(&[5_000]);
        bare.buckets.clear();
        sum.add(&bare);
        assert_eq!((sum.count, sum.buckets.len()), (6, 0));
    }

    #[test]
    fn buckets_of_the_least_go_first_where_there_is_no_room() {
        let counts = SessionCounts::default();
        for op in 0..64u32 {
            let counts = counts.op(op);
            for ns in 0..100 {
                counts.place(1_000, 1_000 + ns * 500);
                counts.spent(1_000, u64::from(op) * 1_000);
            }
        }
        let mut stats = counts.snapshot(|op| op.to_string());
        let whole = stats.clone();
        stats.fit(1 << 20).unwrap();
        assert_eq!(stats, whole);
        stats.fit(60_000).unwrap();
        assert!(serde_json::to_vec(&stats).unwrap().len() <= 60_000);
        assert!(!stats.ops[0].driver.buckets.is_empty() && stats.ops[63].driver.buckets.is_empty());
        assert_eq!(stats.ops[63].driver.p50_ns, whole.ops[63].driver.p50_ns);
    }
}
