//! A histogram of durations in the buckets of the probes.

use std::collections::BTreeMap;

use gtrace_abi::{BUCKETS, bucket_at_rank, bucket_of, bucket_range, midpoint, rank_of};
use integer_encoding::VarInt as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Durations by bucket of [`gtrace_abi`], with their exact sum and maximum; ns.
///
/// Only buckets that hold something are kept. Merging adds, so it is exact, associative and
/// commutative; sums that no longer fit saturate, which keeps it so.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Written", into = "Written")]
pub struct Histogram {
    buckets: BTreeMap<u16, u64>,
    sum_ns: u64,
    max_ns: u64,
}

/// How long calls took.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Histogram")]
struct Written {
    /// Exact sum, ns.
    sum_ns: u64,
    /// Longest, ns.
    max_ns: u64,
    /// Index and count of each bucket that is not empty, ascending.
    buckets: Vec<(u16, u64)>,
}

/// A bucket that there is not, that comes twice, or that holds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bucket {0} is not below {BUCKETS}, is empty, or does not come after the one before it")]
pub struct NotABucket(pub u16);

impl TryFrom<Written> for Histogram {
    type Error = NotABucket;

    fn try_from(written: Written) -> Result<Self, NotABucket> {
        Self::from_buckets(&written.buckets, written.sum_ns, written.max_ns)
    }
}

impl From<Histogram> for Written {
    fn from(histogram: Histogram) -> Self {
        Self {
            sum_ns: histogram.sum_ns,
            max_ns: histogram.max_ns,
            buckets: histogram.buckets.into_iter().collect(),
        }
    }
}

impl Histogram {
    /// From buckets in ascending order, with the exact sum and maximum of what they hold, ns.
    ///
    /// # Errors
    ///
    /// An index past the last bucket, out of order, or with a count of 0.
    pub fn from_buckets(
        buckets: &[(u16, u64)],
        sum_ns: u64,
        max_ns: u64,
    ) -> Result<Self, NotABucket> {
        let mut before = None;
        for &(bucket, count) in buckets {
            let known = usize::from(bucket) < BUCKETS;
            if !known || count == 0 || before.is_some_and(|before| before >= bucket) {
                return Err(NotABucket(bucket));
            }
            before = Some(bucket);
        }
        Ok(Self {
            buckets: buckets.iter().copied().collect(),
            sum_ns,
            max_ns,
        })
    }

    /// Adds one duration.
    pub fn record(&mut self, ns: u64) {
        self.record_n(ns, 1);
    }

    /// Adds `count` durations of `ns`.
    pub fn record_n(&mut self, ns: u64, count: u64) {
        if count == 0 {
            return;
        }
        self.add_bucket(bucket_of(ns), count);
        self.sum_ns = self.sum_ns.saturating_add(ns.saturating_mul(count));
        self.max_ns = self.max_ns.max(ns);
    }

    fn add_bucket(&mut self, bucket: usize, count: u64) {
        // There are 896.
        let place = self.buckets.entry(bucket as u16).or_default();
        *place = place.saturating_add(count);
    }

    /// Adds what `other` holds.
    pub fn merge(&mut self, other: &Self) {
        for (bucket, count) in &other.buckets {
            self.add_bucket(usize::from(*bucket), *count);
        }
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// What came since `earlier`, a former state of this histogram; `None` if it was none.
    ///
    /// Buckets and sum are exact. The maximum is, if it has risen since; else it is the end of the
    /// highest bucket that something fell into, at most the maximum of both and the sum.
    pub fn since(&self, earlier: &Self) -> Option<Self> {
        let sum_ns = self.sum_ns.checked_sub(earlier.sum_ns)?;
        if earlier.max_ns > self.max_ns {
            return None;
        }
        let mut buckets = self.buckets.clone();
        for (bucket, count) in &earlier.buckets {
            let left = buckets.get(bucket)?.checked_sub(*count)?;
            match left {
                0 => buckets.remove(bucket),
                left => buckets.insert(*bucket, left),
            };
        }
        let highest = buckets.last_key_value().map(|(bucket, _)| *bucket);
        let max_ns = match highest {
            None => 0,
            Some(_) if self.max_ns > earlier.max_ns => self.max_ns,
            Some(highest) if usize::from(highest) == BUCKETS - 1 => self.max_ns,
            Some(highest) => {
                let (_, end) = bucket_range(usize::from(highest));
                self.max_ns.min(end - 1)
            }
        };
        Some(Self {
            buckets,
            sum_ns,
            max_ns: max_ns.min(sum_ns),
        })
    }

    /// Appends it in few bytes: the count of buckets, of each its index less that of the one before and its count, then sum and
    /// maximum; all varints (LEB128).
    pub fn pack(&self, out: &mut Vec<u8>) {
        let mut put = |value: u64| {
            let mut buffer = [0; 10];
            let length = value.encode_var(&mut buffer);
            out.extend(buffer.iter().take(length));
        };
        put(self.buckets.len() as u64);
        let mut before = 0;
        for (bucket, count) in self.buckets() {
            put(u64::from(bucket - before));
            put(count);
            before = bucket;
        }
        put(self.sum_ns);
        put(self.max_ns);
    }

    /// Takes what [`pack`](Self::pack) wrote from the front of `from`; `None` if that is none.
    pub fn unpack(from: &mut &[u8]) -> Option<Self> {
        let mut take = || {
            let (value, length) = u64::decode_var(from)?;
            *from = from.get(length..)?;
            Some(value)
        };
        let count = usize::try_from(take()?).ok()?;
        if count > BUCKETS {
            return None;
        }
        let mut buckets = Vec::with_capacity(count);
        let mut before = 0_u16;
        for _ in 0..count {
            before = before.checked_add(u16::try_from(take()?).ok()?)?;
            buckets.push((before, take()?));
        }
        let (sum_ns, max_ns) = (take()?, take()?);
        Self::from_buckets(&buckets, sum_ns, max_ns).ok()
    }

    /// How many.
    pub fn count(&self) -> u64 {
        let counts = self.buckets.values();
        counts.fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// Their sum, ns.
    pub fn sum_ns(&self) -> u64 {
        self.sum_ns
    }

    /// The longest, ns.
    pub fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// The buckets that hold something, ascending: index and count.
    pub fn buckets(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.buckets.iter().map(|(bucket, count)| (*bucket, *count))
    }

    /// The bucket that the value of rank ceil(`q` x count) is in; `None` if there is no value.
    pub fn bucket_at(&self, q: f64) -> Option<usize> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        bucket_at_rank(
            self.buckets().map(|(bucket, n)| (bucket.into(), n)),
            rank_of(q, count),
        )
    }

    /// The quantile `q` (0 to 1), ns, within 1/64 of the value of rank ceil(`q` x count), for
    /// values from 64 ns to 17.2 s; 0 if there is none. Never above the maximum.
    pub fn quantile(&self, q: f64) -> u64 {
        self.bucket_at(q)
            .map_or(0, |bucket| midpoint(bucket).min(self.max_ns))
    }

    /// The mean, ns; exact; 0 if there is none.
    pub fn mean(&self) -> f64 {
        match self.count() {
            0 => 0.0,
            count => self.sum_ns as f64 / count as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        values.iter().for_each(|ns| histogram.record(*ns));
        histogram
    }

    /// Spread over all octaves, not only the last ones.
    fn duration() -> impl Strategy<Value = u64> {
        (0u32..64, any::<u64>()).prop_map(|(shift, ns)| ns >> shift)
    }

    fn histogram() -> impl Strategy<Value = Histogram> {
        prop::collection::vec(duration(), 0..60).prop_map(|values| of(&values))
    }

    fn merged(a: &Histogram, b: &Histogram) -> Histogram {
        let mut sum = a.clone();
        sum.merge(b);
        sum
    }

    #[test]
    fn quantiles_are_those_of_the_ranks() {
        let values: Vec<u64> = (1..=1000).map(|n| n * 1000).collect();
        let histogram = of(&values);
        for (q, exact) in [
            (0.5, 500_000),
            (0.9, 900_000),
            (0.99, 990_000),
            (0.999, 999_000),
        ] {
            let got = histogram.quantile(q);
            assert!(got.abs_diff(exact) * 64 <= exact, "{q}: {got}");
        }
        assert_eq!(histogram.quantile(1.0), 1_000_000);
        assert_eq!(histogram.mean(), 500_500.0);
        // The ninth of ten, whatever 0.9 is in binary.
        let ten = of(&[
            1 << 10,
            1 << 11,
            1 << 12,
            1 << 13,
            1 << 14,
            1 << 15,
            1 << 16,
            1 << 17,
            1 << 18,
            1 << 30,
        ]);
        assert_eq!(ten.bucket_at(0.9), Some(bucket_of(1 << 18)));
        assert_eq!(Histogram::default().quantile(0.5), 0);
    }

    #[test]
    fn buckets_that_cannot_be_are_refused() {
        for (buckets, wrong) in [
            (vec![(896, 1)], 896),
            (vec![(5, 1), (5, 1)], 5),
            (vec![(6, 1), (5, 1)], 5),
            (vec![(5, 0)], 5),
        ] {
            assert_eq!(
                Histogram::from_buckets(&buckets, 0, 0),
                Err(NotABucket(wrong))
            );
        }
    }

    #[test]
    fn the_maximum_of_a_difference_is_exact_where_it_has_risen() {
        let earlier = of(&[1_000, 9_000]);
        assert_eq!(
            of(&[1_000, 9_000, 12_345])
                .since(&earlier)
                .unwrap()
                .max_ns(),
            12_345
        );
        // 5,000 is in 4,992..5,120.
        assert_eq!(
            of(&[1_000, 9_000, 5_000, 5_000])
                .since(&earlier)
                .unwrap()
                .max_ns(),
            5_119
        );
        // Of one call the sum is its time.
        assert_eq!(
            of(&[1_000, 9_000, 5_000]).since(&earlier).unwrap().max_ns(),
            5_000
        );
        assert_eq!(earlier.since(&earlier), Some(Histogram::default()));
        assert_eq!(earlier.since(&of(&[1_000, 1_000])), None);
    }

    proptest! {
        #[test]
        fn what_was_packed_is_unpacked_and_what_was_cut_is_refused(one in histogram(), two in histogram()) {
            let mut bytes = Vec::new();
            one.pack(&mut bytes);
            for length in 0..bytes.len() {
                prop_assert_eq!(Histogram::unpack(&mut &bytes[..length]), None);
            }
            two.pack(&mut bytes);
            let mut from = bytes.as_slice();
            prop_assert_eq!(Histogram::unpack(&mut from), Some(one));
            prop_assert_eq!(Histogram::unpack(&mut from), Some(two));
            prop_assert!(from.is_empty());
        }

        #[test]
        fn any_bytes_are_unpacked_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = Histogram::unpack(&mut bytes.as_slice());
        }

        #[test]
        fn merging_is_exact_associative_and_commutative(
            a in histogram(), b in histogram(), c in histogram()
        ) {
            prop_assert_eq!(merged(&merged(&a, &b), &c), merged(&a, &merged(&b, &c)));
            prop_assert_eq!(merged(&a, &b), merged(&b, &a));
            prop_assert_eq!(merged(&a, &Histogram::default()), a);
        }

        #[test]
        fn merging_parts_is_recording_the_whole(
            values in prop::collection::vec(duration(), 0..100), cut in 0usize..100
        ) {
            let cut = cut.min(values.len());
            let parts = merged(&of(&values[..cut]), &of(&values[cut..]));
            prop_assert_eq!(parts, of(&values));
        }

        #[test]
        fn a_difference_gives_back_what_was_added(a in histogram(), b in histogram()) {
            // A sum that has saturated knows no difference.
            prop_assume!(a.sum_ns().checked_add(b.sum_ns()).is_some());
            let added = merged(&a, &b).since(&a).unwrap();
            prop_assert!(added.buckets().eq(b.buckets()));
            prop_assert_eq!(added.sum_ns(), b.sum_ns());
            prop_assert!(added.max_ns() >= b.max_ns());
        }

        #[test]
        fn a_quantile_is_within_one_64th(mut values in prop::collection::vec(64u64..1 << 34, 1..200), q in 0.0f64..=1.0) {
            let got = of(&values).quantile(q);
            values.sort_unstable();
            let rank = ((q * values.len() as f64 - 1e-9).ceil() as usize).clamp(1, values.len());
            let exact = values[rank - 1];
            prop_assert!(got.abs_diff(exact) * 64 <= exact, "{} for {}", got, exact);
        }

        #[test]
        fn json_gives_back_the_same(a in histogram()) {
            let text = serde_json::to_string(&a).unwrap();
            prop_assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), a);
        }
    }
}
