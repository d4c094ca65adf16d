//! Histograms of the crate `hdrhistogram`, for those who read its formats.

use gtrace_abi::{MAX_NS, midpoint};
use hdrhistogram::CreationError;

use crate::Histogram;

/// Significant digits of what is made here.
const DIGITS: u8 = 3;

/// How far a value of [`to_hdr`] may be from the duration that was measured, relative, for durations
/// from 64 ns to 17.2 s: 1/64 for the bucket, whose middle is recorded, and 1/1000 for the three
/// digits that HdrHistogram keeps.
pub const HDR_ERROR: f64 = 1.0 / 64.0 + 1.0 / 1000.0;

/// As an `hdrhistogram` of three digits: the middle of each bucket, as often as the bucket counts.
///
/// Its ranges are powers of two that lie within the buckets, so each value finds its bucket again.
///
/// # Errors
///
/// None in fact: the bounds are constants that `hdrhistogram` takes.
pub fn to_hdr(histogram: &Histogram) -> Result<hdrhistogram::Histogram<u64>, CreationError> {
    let mut hdr = hdrhistogram::Histogram::new_with_bounds(1, MAX_NS, DIGITS)?;
    for (bucket, count) in histogram.buckets() {
        // What is written has signed counts.
        let count = count.min(i64::MAX as u64);
        hdr.saturating_record_n(midpoint(usize::from(bucket)), count);
    }
    Ok(hdr)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtrace_abi::{BUCKETS, bucket_of};
    use proptest::prelude::*;

    #[test]
    fn every_bucket_finds_itself_again() {
        for bucket in 0..BUCKETS {
            let one = Histogram::from_buckets(&[(bucket as u16, 1)], 0, u64::MAX).unwrap();
            let hdr = to_hdr(&one).unwrap();
            assert_eq!(bucket_of(hdr.min()), bucket);
            assert_eq!(bucket_of(hdr.max()), bucket);
        }
    }

    proptest! {
        #[test]
        fn quantiles_are_within_the_stated_error(
            mut values in prop::collection::vec(64u64..1 << 34, 1..200), q in 0.0f64..=1.0
        ) {
            let mut histogram = Histogram::default();
            values.iter().for_each(|ns| histogram.record(*ns));
            let got = to_hdr(&histogram).unwrap().value_at_quantile(q);
            values.sort_unstable();
            let rank = ((q * values.len() as f64 - 1e-9).ceil() as usize).clamp(1, values.len());
            let exact = values[rank - 1] as f64;
            prop_assert!((got as f64 - exact).abs() <= exact * HDR_ERROR, "{} for {}", got, exact);
        }
    }
}
