//! Percentiles of a histogram, and only those that it has enough values for.

use gtrace_profile::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Percentiles of durations, ns, each within 1/64 of the true value from 64 ns on.
///
/// A percentile is absent where fewer than one value would lie above it: p99.9 needs 1,000 values.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Distribution {
    /// Values.
    pub count: u64,
    /// Their mean; exact.
    pub mean_ns: f64,
    /// Half take no longer.
    pub p50_ns: Option<u64>,
    /// 90 of 100 take no longer.
    pub p90_ns: Option<u64>,
    /// 99 of 100.
    pub p99_ns: Option<u64>,
    /// 999 of 1,000.
    pub p99_9_ns: Option<u64>,
    /// 9,999 of 10,000.
    pub p99_99_ns: Option<u64>,
    /// The longest; exact.
    pub max_ns: u64,
}

impl Distribution {
    /// Of a histogram.
    pub fn of(histogram: &Histogram) -> Self {
        let count = histogram.count();
        let at = |q: f64, needs: u64| (count >= needs).then(|| histogram.quantile(q));
        Self {
            count,
            mean_ns: histogram.mean(),
            p50_ns: at(0.5, 1),
            p90_ns: at(0.9, 10),
            p99_ns: at(0.99, 100),
            p99_9_ns: at(0.999, 1_000),
            p99_99_ns: at(0.9999, 10_000),
            max_ns: histogram.max_ns(),
        }
    }

    /// The percentiles in their order.
    pub fn percentiles(&self) -> [Option<u64>; 5] {
        [
            self.p50_ns,
            self.p90_ns,
            self.p99_ns,
            self.p99_9_ns,
            self.p99_99_ns,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_needs_a_value_above_it() {
        let mut histogram = Histogram::default();
        (1..=100u64).for_each(|n| histogram.record(n * 1_000));
        let of = Distribution::of(&histogram);
        assert!(of.p50_ns.unwrap().abs_diff(50_000) < 1_000);
        assert!(of.p99_ns.unwrap().abs_diff(99_000) < 2_000);
        assert_eq!(
            (of.p99_9_ns, of.p99_99_ns, of.max_ns),
            (None, None, 100_000)
        );
        assert_eq!(Distribution::of(&Histogram::default()).p50_ns, None);
    }
}
