//! The ratio of a quantile, with its interval.

use gtrace_abi::{BUCKETS, bucket_range};
use statrs::distribution::{ContinuousCDF as _, StudentsT};

use crate::Histogram;

use super::sample::Sample;

/// Fewest calls above (below) the quantile.
const LEAST_BEYOND: f64 = 10.0;
/// The same once calls that are alike count as one.
const LEAST_EFFECTIVE: f64 = 5.0;

/// Student's t that is exceeded, either way, with probability `alpha`.
pub(super) fn student(alpha: f64, freedom: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, freedom) {
        Ok(student) => student.inverse_cdf(1.0 - alpha / 2.0),
        Err(_) => f64::INFINITY,
    }
}

/// The quantile of one sample, as logarithm of ns.
struct Side<'a> {
    all: &'a Histogram,
    q: f64,
    freedom: f64,
    /// Standard error of the logit of the share of calls below the quantile.
    error: f64,
    /// Where the quantile is if calls lie evenly within its bucket.
    even: f64,
    /// Its bucket: least, middle, and greatest value.
    bucket: [f64; 3],
}

impl<'a> Side<'a> {
    fn new(sample: &'a Sample, q: f64) -> Option<Self> {
        let all = sample.all();
        let calls = all.count() as f64;
        let least = q.min(1.0 - q);
        if calls * least < LEAST_BEYOND {
            return None;
        }
        let at = all.bucket_at(q)?;
        let spread = q * (1.0 - q);
        let within = share_within(all, at, q);
        let variance = sample.variance(q, spread / calls, |block| {
            below(block, at) as f64 + within * of(block, at) as f64
        });
        if spread / variance * least < LEAST_EFFECTIVE {
            return None;
        }
        let [low, high] = edges(all, at);
        Some(Self {
            all,
            q,
            freedom: sample.freedom(),
            error: variance.sqrt() / spread,
            even: value_at(all, q),
            bucket: [low.ln(), ((low + high) / 2.0).ln(), high.ln()],
        })
    }

    /// How far the quantile may lie below and above, by chance.
    fn reach(&self, alpha: f64) -> [f64; 2] {
        let reach = student(alpha, self.freedom) * self.error;
        let logit = (self.q / (1.0 - self.q)).ln();
        let at = |logit: f64| value_at(self.all, 1.0 / (1.0 + (-logit).exp()));
        [self.even - at(logit - reach), at(logit + reach) - self.even]
    }
}

/// Calls in buckets below `bucket`.
fn below(histogram: &Histogram, bucket: usize) -> u64 {
    let buckets = histogram.buckets();
    let below = buckets.take_while(|(at, _)| usize::from(*at) < bucket);
    below.fold(0, |sum, (_, count)| sum.saturating_add(count))
}

/// Calls in `bucket`.
fn of(histogram: &Histogram, bucket: usize) -> u64 {
    let found = histogram
        .buckets()
        .find(|(at, _)| usize::from(*at) == bucket);
    found.map_or(0, |(_, count)| count)
}

/// How much of `bucket`, that of quantile `q`, is below the quantile.
fn share_within(histogram: &Histogram, bucket: usize, q: f64) -> f64 {
    let target = q * histogram.count() as f64 - below(histogram, bucket) as f64;
    (target / of(histogram, bucket).max(1) as f64).clamp(0.0, 1.0)
}

/// Least and greatest value of a bucket; what is longer than the last one's range is in it too.
fn edges(histogram: &Histogram, bucket: usize) -> [f64; 2] {
    let (low, end) = bucket_range(bucket);
    let max = histogram.max_ns().max(low);
    let high = match bucket {
        last if last == BUCKETS - 1 => max,
        _ => max.min(end - 1),
    };
    [low as f64, high as f64]
}

/// The quantile `q` if calls lie evenly within their bucket, as logarithm of ns.
fn value_at(histogram: &Histogram, q: f64) -> f64 {
    let Some(bucket) = histogram.bucket_at(q) else {
        return 0.0;
    };
    let [low, high] = edges(histogram, bucket);
    (low + (high - low) * share_within(histogram, bucket, q)).ln()
}

/// The logarithm of the ratio of a quantile, second to first.
pub(super) struct Ratio<'a> {
    first: Side<'a>,
    second: Side<'a>,
}

impl<'a> Ratio<'a> {
    /// `None` with too few calls beyond the quantile.
    pub(super) fn new(first: &'a Sample, second: &'a Sample, q: f64) -> Option<Self> {
        Some(Self {
            first: Side::new(first, q)?,
            second: Side::new(second, q)?,
        })
    }

    /// Of the middles of the buckets.
    pub(super) fn estimate(&self) -> f64 {
        self.second.bucket[1] - self.first.bucket[1]
    }

    /// How far it may lie below and above by chance (MOVER).
    fn chance(&self, alpha: f64) -> [f64; 2] {
        let [first_below, first_above] = self.first.reach(alpha);
        let [second_below, second_above] = self.second.reach(alpha);
        [
            second_below.hypot(first_above),
            second_above.hypot(first_below),
        ]
    }

    /// How far it may lie below and above, which the buckets do not show.
    fn unknown(&self) -> [f64; 2] {
        let [first_low, first, first_high] = self.first.bucket;
        let [second_low, second, second_high] = self.second.bucket;
        [
            (second - second_low) + (first_high - first),
            (second_high - second) + (first - first_low),
        ]
    }

    /// The interval that misses it with probability `alpha` at most.
    pub(super) fn interval(&self, alpha: f64) -> [f64; 2] {
        let ([below, above], [low, high]) = (self.chance(alpha), self.unknown());
        let estimate = self.estimate();
        [estimate - below - low, estimate + above + high]
    }

    /// The interval by chance alone, if calls lie evenly within their buckets.
    #[cfg(test)]
    pub(super) fn even_interval(&self, alpha: f64) -> [f64; 2] {
        let even = self.second.even - self.first.even;
        let [below, above] = self.chance(alpha);
        [even - below, even + above]
    }

    /// The least probability at which the interval leaves out that nothing has changed.
    pub(super) fn p(&self) -> f64 {
        let leaves_out = |alpha: f64| {
            let [low, high] = self.interval(alpha);
            low > 0.0 || high < 0.0
        };
        least(leaves_out)
    }
}

/// The least probability at which `leaves_out` holds, which holds from some on, to 1 %; 1 if at none.
fn least(leaves_out: impl Fn(f64) -> bool) -> f64 {
    const LEAST: f64 = 1e-15;
    if !leaves_out(0.999_999) {
        return 1.0;
    }
    if leaves_out(LEAST) {
        return LEAST;
    }
    let (mut holds_not, mut holds) = (LEAST.ln(), 0.999_999f64.ln());
    while holds - holds_not > 0.01 {
        let middle = (holds + holds_not) / 2.0;
        match leaves_out(middle.exp()) {
            true => holds = middle,
            false => holds_not = middle,
        }
    }
    holds.exp()
}

/// The largest change of a quantile from the 5th to the 95th percentile in the direction of `sign`, as
/// logarithm of the ratio; 0 if there is none.
pub(super) fn largest_change(first: &Sample, second: &Sample, sign: f64) -> f64 {
    let changes = (1..20).filter_map(|step| {
        let q = f64::from(step) / 20.0;
        let middle = |sample: &Sample| {
            let [low, high] = edges(sample.all(), sample.all().bucket_at(q)?);
            Some(((low + high) / 2.0).ln())
        };
        Some((middle(second)? - middle(first)?) * sign.signum())
    });
    changes.fold(0.0, f64::max)
}
