//! Percentiles, medians and their presentation.

/// Values measured, sorted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples(Vec<f64>);

impl Samples {
    pub(crate) fn new(mut values: Vec<f64>) -> Self {
        values.retain(|v| v.is_finite());
        values.sort_by(f64::total_cmp);
        Self(values)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The smallest value that at least `share` (0 to 1) of all values do not exceed
    /// (nearest rank); NaN without values.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let rank = (share * self.0.len() as f64).ceil() as usize;
        let at = rank.clamp(1, self.0.len().max(1)) - 1;
        self.0.get(at).copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn max(&self) -> f64 {
        self.0.last().copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn min(&self) -> f64 {
        self.0.first().copied().unwrap_or(f64::NAN)
    }

    /// The middle value, or the mean of the two in the middle.
    pub(crate) fn median(&self) -> f64 {
        let n = self.0.len();
        match (self.0.get(n / 2), n % 2) {
            (None, _) => f64::NAN,
            (Some(v), 1) => *v,
            (Some(v), _) => f64::midpoint(self.0[n / 2 - 1], *v),
        }
    }
}

impl FromIterator<f64> for Samples {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        Self::new(values.into_iter().collect())
    }
}

/// Median over the rounds of what was added to the bare call of the same round.
pub(crate) fn added(with: &[f64], bare: &[f64]) -> f64 {
    let pairs = with.iter().zip(bare);
    let added: Samples = pairs.map(|(with, bare)| with - bare).collect();
    added.median()
}

/// A number with three significant digits and no exponent.
pub(crate) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "none".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor();
    let decimals = (2.0 - magnitude).clamp(0.0, 9.0) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let samples: Samples = (1..=400).rev().map(f64::from).collect();
        assert_eq!(samples.quantile(0.5), 200.0);
        assert_eq!(samples.quantile(0.99), 396.0);
        assert_eq!(samples.quantile(0.0), 1.0);
        assert_eq!(samples.quantile(1.0), samples.max());
        assert_eq!(
            (samples.min(), samples.max(), samples.len()),
            (1.0, 400.0, 400)
        );
    }

    #[test]
    fn medians_of_odd_and_even_counts() {
        assert_eq!(Samples::new(vec![9.0, 1.0, 5.0]).median(), 5.0);
        assert_eq!(Samples::new(vec![9.0, 1.0, 5.0, 7.0]).median(), 6.0);
    }

    #[test]
    fn nothing_measured_is_no_number_and_no_panic() {
        let none = Samples::new(vec![f64::NAN, f64::INFINITY]);
        assert!(none.median().is_nan() && none.quantile(0.99).is_nan() && none.max().is_nan());
        assert_eq!(number(none.median()), "none");
    }

    #[test]
    fn numbers_are_short() {
        for (value, want) in [
            (0.0, "0"),
            (0.012_345, "0.0123"),
            (1.0, "1.00"),
            (12.345, "12.3"),
            (123.45, "123"),
            (123_456.7, "123457"),
            (-3.456, "-3.46"),
        ] {
            assert_eq!(number(value), want);
        }
    }
}
