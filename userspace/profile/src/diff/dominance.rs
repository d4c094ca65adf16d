//! Cliff's delta: how much more often a call of the second sample takes longer than one of the first
//! than it takes less long.

use gtrace_abi::{BUCKETS, bucket_range};
use statrs::distribution::{ContinuousCDF as _, StudentsT};

use crate::Histogram;

use super::quantile::student;
use super::sample::Sample;

/// Cliff's delta with its standard error.
pub(super) struct Delta {
    pub(super) estimate: f64,
    error: f64,
    freedom: f64,
}

/// Calls up to each bucket, so that those of a range are a difference.
struct Sums(Vec<u64>);

impl Sums {
    fn of(histogram: &Histogram) -> Self {
        let mut sums = vec![0; BUCKETS + 1];
        for (bucket, count) in histogram.buckets() {
            sums[usize::from(bucket) + 1] = count;
        }
        for at in 1..sums.len() {
            sums[at] = sums[at - 1].saturating_add(sums[at]);
        }
        Self(sums)
    }

    /// For each bucket of another sample, how much more of these calls are surely longer than its
    /// values by more than `least`, relative, than are surely shorter; as a share.
    fn placements(&self, least: f64) -> Vec<f64> {
        let all = self.0[BUCKETS].max(1) as f64;
        let factor = 1.0 + least;
        let (mut longer, mut shorter) = (0, 0);
        let place = |bucket: usize| {
            let (low, end) = bucket_range(bucket);
            while longer < BUCKETS && bucket_range(longer).0 as f64 <= (end - 1) as f64 * factor {
                longer += 1;
            }
            while shorter < BUCKETS && ((bucket_range(shorter).1 - 1) as f64 * factor) < low as f64
            {
                shorter += 1;
            }
            let above = self.0[BUCKETS] - self.0[longer];
            let below = self.0[shorter];
            (above as f64 - below as f64) / all
        };
        (0..BUCKETS).map(place).collect()
    }
}

/// Sum of what each call of a histogram is worth by its bucket.
fn worth(histogram: &Histogram, values: &[f64]) -> f64 {
    let worths = histogram
        .buckets()
        .map(|(bucket, count)| values[usize::from(bucket)] * count as f64);
    worths.sum()
}

/// Variance of the mean worth of a sample, and one over what it was taken from.
fn variance(sample: &Sample, values: &[f64]) -> (f64, f64) {
    let all = sample.all();
    let calls = sample.calls() as f64;
    let mean = worth(all, values) / calls;
    let squares: Vec<f64> = values.iter().map(|value| (value - mean).powi(2)).collect();
    let independent = worth(all, &squares) / (calls - 1.0).max(1.0) / calls;
    let variance = sample.variance(mean, independent, |block| worth(block, values));
    (variance, sample.freedom() + 1.0)
}

impl Delta {
    /// Pairs that differ by no more than `least`, relative, or may do so within their buckets, count as
    /// equal.
    pub(super) fn new(first: &Sample, second: &Sample, least: f64) -> Self {
        let of_first = Sums::of(second.all()).placements(least);
        let of_second = Sums::of(first.all()).placements(least);
        let estimate = worth(first.all(), &of_first) / first.calls().max(1) as f64;
        let ((a, units_a), (b, units_b)) =
            (variance(first, &of_first), variance(second, &of_second));
        let variance = a + b;
        // Welch and Satterthwaite.
        let freedom = match variance > 0.0 {
            true => {
                variance.powi(2)
                    / (a.powi(2) / (units_a - 1.0).max(1.0) + b.powi(2) / (units_b - 1.0).max(1.0))
            }
            false => (units_a.min(units_b) - 1.0).max(1.0),
        };
        // Samples of which each call of one is longer than each of the other show no variance; one more
        // block could.
        let floor = 1.0 / units_a.min(units_b);
        Self {
            estimate,
            error: variance
                .sqrt()
                .max(if estimate.abs() < 1.0 { 0.0 } else { floor }),
            freedom,
        }
    }

    /// The interval that misses it with probability `alpha`.
    pub(super) fn interval(&self, alpha: f64) -> [f64; 2] {
        let reach = student(alpha, self.freedom) * self.error;
        [
            (self.estimate - reach).max(-1.0),
            (self.estimate + reach).min(1.0),
        ]
    }

    /// The probability of one as far from 0 where it is 0.
    pub(super) fn p(&self) -> f64 {
        if self.estimate == 0.0 {
            return 1.0;
        }
        match StudentsT::new(0.0, 1.0, self.freedom) {
            Ok(student) if self.error > 0.0 => 2.0 * student.sf(self.estimate.abs() / self.error),
            _ => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[u64]) -> Sample {
        let mut histogram = Histogram::default();
        values.iter().for_each(|ns| histogram.record(*ns));
        Sample::new(histogram, &[])
    }

    #[test]
    fn known_deltas() {
        // 1000 and 2000 against 1000 and 4000: of four pairs one is equal, two are longer, one shorter.
        let delta = Delta::new(&sample(&[1000, 2000]), &sample(&[1000, 4000]), 0.05);
        assert_eq!(delta.estimate, 0.25);
        let same = Delta::new(&sample(&[1000, 2000]), &sample(&[1000, 2000]), 0.05);
        assert_eq!((same.estimate, same.p()), (0.0, 1.0));
        let all = Delta::new(&sample(&[1000; 50]), &sample(&[2000; 50]), 0.05);
        assert_eq!(all.estimate, 1.0);
        assert!(all.p() < 1e-9 && all.interval(0.05)[0] > 0.9, "{}", all.p());
    }

    #[test]
    fn neighbouring_buckets_are_no_difference() {
        // 1023 and 1025 are in different buckets.
        let delta = Delta::new(&sample(&[1023; 99]), &sample(&[1025; 99]), 0.0);
        assert_eq!(
            delta.estimate, 1.0,
            "without a least effect order is all that counts"
        );
        let delta = Delta::new(&sample(&[1023; 99]), &sample(&[1025; 99]), 0.05);
        assert_eq!(delta.estimate, 0.0);
    }

    #[test]
    fn against_a_count_of_all_pairs() {
        let (a, b): (Vec<u64>, Vec<u64>) = (
            (0..60).map(|n| 500 + n * n * 37 % 5000).collect(),
            (0..70).map(|n| 600 + n * n * 53 % 6000).collect(),
        );
        let least = 0.1;
        let mut sum = 0.0;
        for x in &a {
            for y in &b {
                let bucket = |ns: u64| bucket_range(gtrace_abi::bucket_of(ns));
                let ((x_low, x_end), (y_low, y_end)) = (bucket(*x), bucket(*y));
                if y_low as f64 > (x_end - 1) as f64 * (1.0 + least) {
                    sum += 1.0;
                }
                if ((y_end - 1) as f64) * (1.0 + least) < x_low as f64 {
                    sum -= 1.0;
                }
            }
        }
        let wanted = sum / (a.len() * b.len()) as f64;
        let delta = Delta::new(&sample(&a), &sample(&b), least);
        assert!((delta.estimate - wanted).abs() < 1e-12);
        let back = Delta::new(&sample(&b), &sample(&a), least);
        assert!((back.estimate + wanted).abs() < 1e-12);
    }
}
