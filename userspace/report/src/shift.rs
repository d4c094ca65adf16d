//! Which latencies shifted: by the tests of gtrace-profile, whose verdicts are put into words here.

use gtrace_profile::diff::{self, Comparison, Options, Verdict};

use crate::files::{Phase, profile};
use crate::material::LatencyRow;

/// A function whose latency was compared with the time before.
#[derive(Clone, Debug)]
pub(crate) struct Shift {
    /// The function, with its layer.
    pub(crate) function: String,
    /// `slower`, `faster`, `same`, ...
    pub(crate) verdict: &'static str,
    /// What the tests say.
    pub(crate) text: String,
    /// Whether it is a regression.
    pub(crate) slower: bool,
}

/// Compares `phase` with the time before.
pub(crate) fn since_before(rows: &[LatencyRow], phase: Phase) -> Vec<Shift> {
    let (before, then) = (profile(rows, Phase::Before), profile(rows, phase));
    if before.rows.is_empty() || then.rows.is_empty() {
        return Vec::new();
    }
    let report = diff::compare(&before, &then, Options::default());
    report.comparisons.iter().map(shift).collect()
}

fn shift(comparison: &Comparison) -> Shift {
    let [first, second] = comparison.calls;
    let (verdict, text) = match comparison.verdict {
        Verdict::Slower => ("slower", real(comparison)),
        Verdict::Faster => ("faster", real(comparison)),
        Verdict::NoShift { may_hide } => (
            "no shift shown",
            format!("a change of up to {:.0} % may hide", may_hide * 100.0),
        ),
        Verdict::TooFew => ("too few calls", format!("{first} before, {second} then")),
        Verdict::OnlyFirst => ("only before", format!("{first} calls before, none then")),
        Verdict::OnlySecond => ("only then", format!("none before, {second} calls then")),
    };
    Shift {
        function: format!(
            "{} {}",
            comparison.subject.layer.name(),
            comparison.subject.function
        ),
        verdict,
        text,
        slower: comparison.verdict == Verdict::Slower,
    }
}

/// The shifts that are real: `p50 x 1.52 (1.40 to 1.66)`.
fn real(comparison: &Comparison) -> String {
    let texts = comparison.real().map(|test| {
        let [low, high] = test.interval;
        match test.of {
            "delta" => format!("Cliff's delta {:.2} ({low:.2} to {high:.2})", test.estimate),
            of => format!("{of} × {:.2} ({low:.2} to {high:.2})", test.estimate),
        }
    });
    texts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use gtrace_profile::{Counts, Histogram, Key, Layer, Part, Process};

    use super::*;

    #[test]
    fn a_call_that_takes_twice_as_long_is_slower_and_one_that_does_not_is_not() {
        let counts = |center: u64| {
            let mut histogram = Histogram::default();
            (0..2000).for_each(|n| histogram.record(center + n * 13 % (center / 4)));
            Counts::timed(histogram)
        };
        let row = |function: &str, then: u64| LatencyRow {
            key: Key {
                process: Process::default(),
                layer: Layer::Driver,
                function: function.into(),
                part: Part::Whole,
                gpu: None,
            },
            before: counts(10_000),
            during: counts(then),
            after: Counts::default(),
        };
        let shifts = since_before(&[row("a", 20_000), row("b", 10_000)], Phase::During);
        let slower: Vec<_> = shifts
            .iter()
            .map(|s| (s.function.as_str(), s.slower))
            .collect();
        assert_eq!(slower, [("driver a", true), ("driver b", false)]);
        assert!(shifts[0].text.contains("p50 × 2.0"), "{}", shifts[0].text);
    }
}
