//! Which shift between two profiles is real.
//!
//! Rows of the same layer, part, function and GPU are compared, over all processes. Four things are
//! tested of each: the ratio of the medians, of the 90th and of the 99th percentiles, and how often a
//! call of the second profile takes longer than one of the first (Cliff's delta).
//!
//! * Intervals of quantiles are Woodruff's: an interval of the share of calls below the quantile, read
//!   off the distribution [Woodruff 1952, J. Am. Stat. Assoc. 47:635]. The variance of that share comes
//!   from blocks of time, where the profile has intervals, as calls that follow each other are alike;
//!   else calls are taken as independent, which is said.
//! * Two of them are combined to that of a ratio by MOVER [Donner and Zou 2012, Stat. Methods Med. Res.
//!   21:347], which asks for no symmetry.
//! * The buckets' width is added on top: what lies within it cannot be reported.
//! * Cliff's delta counts only pairs that differ by more than the least effect [Cliff 1993, Psychol.
//!   Bull. 114:494]; its variance is that of placements, over the same blocks.
//! * As many tests are made, their p-values are corrected by Holm's method [Holm 1979, Scand. J. Stat.
//!   6:65]: with the confidence asked for, none of the shifts called real is chance.
//! * With enough calls everything differs, so a shift is real only if it is also at least the least
//!   effect.

mod dominance;
mod holm;
mod quantile;
mod sample;
mod text;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{Key, Layer, Part, Profile};
use sample::Sample;
pub use text::text;

/// How to compare.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Options {
    /// Confidence of intervals and of what is called real, 0.5 to 0.9999.
    pub confidence: f64,
    /// Least change that matters, relative: 0.05 is 5 %.
    pub least_effect: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            confidence: 0.95,
            least_effect: 0.05,
        }
    }
}

/// Quantiles that are compared, and their names.
const QUANTILES: [(f64, &str); 3] = [(0.5, "p50"), (0.9, "p90"), (0.99, "p99")];

/// Cliff's delta from which a shift is not negligible [Romano et al. 2006, Annual Meeting of the
/// Florida Association of Institutional Research].
const LEAST_DELTA: f64 = 0.147;

/// What is compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Subject {
    /// Where the calls were timed.
    pub layer: Layer,
    /// The function.
    pub function: String,
    /// What part of them was timed.
    pub part: Part,
    /// The GPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<String>,
}

impl Subject {
    fn of(key: &Key) -> Self {
        Self {
            layer: key.layer,
            function: key.function.clone(),
            part: key.part,
            gpu: key.gpu.clone(),
        }
    }
}

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The second profile's calls take longer.
    Slower,
    /// They take less long.
    Faster,
}

/// One thing that was tested.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Test {
    /// `p50`, `p90`, `p99` of what `estimate` is the ratio, second to first; `delta` for Cliff's delta.
    pub of: &'static str,
    /// Ratio, or Cliff's delta (-1 to 1, above 0 where the second takes longer).
    pub estimate: f64,
    /// Its interval at the confidence asked for, not corrected for the number of tests.
    pub interval: [f64; 2],
    /// How probable a shift as large is where there is none.
    pub p: f64,
    /// The same, corrected for the number of tests.
    pub p_corrected: f64,
    /// Whether the shift is real: not chance, and not below the least effect.
    pub real: bool,
    /// How much a quantile has changed in this direction, as logarithm of the ratio.
    #[serde(skip)]
    change: f64,
}

impl Test {
    fn is_ratio(&self) -> bool {
        self.of != "delta"
    }

    /// Which way the estimate points.
    pub fn direction(&self) -> Option<Direction> {
        let even = if self.is_ratio() { 1.0 } else { 0.0 };
        match self.estimate.partial_cmp(&even) {
            Some(std::cmp::Ordering::Greater) => Some(Direction::Slower),
            Some(std::cmp::Ordering::Less) => Some(Direction::Faster),
            _ => None,
        }
    }
}

/// What came out for one subject.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Verdict {
    /// Really slower in at least one test: a regression.
    Slower,
    /// Really faster in at least one, and in none slower.
    Faster,
    /// No real shift.
    NoShift {
        /// A quantile may have changed by this much all the same, relative: 0.03 is 3 %. The largest of
        /// those that were tested.
        may_hide: f64,
    },
    /// Too few calls to say anything.
    TooFew,
    /// Only in the first profile.
    OnlyFirst,
    /// Only in the second.
    OnlySecond,
}

/// A subject, compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// What.
    #[serde(flatten)]
    pub subject: Subject,
    /// Timed calls in the first and in the second profile.
    pub calls: [u64; 2],
    /// Blocks of time that the variance comes from; 0 where calls were taken as independent.
    pub blocks: [usize; 2],
    /// What came out.
    pub verdict: Verdict,
    /// What was tested.
    pub tests: Vec<Test>,
}

impl Comparison {
    /// Tests that showed a real shift, in their order.
    pub fn real(&self) -> impl Iterator<Item = &Test> {
        self.tests.iter().filter(|test| test.real)
    }
}

/// Two profiles, compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// How they were compared.
    pub options: Options,
    /// How many tests were made; what is called real is corrected for that.
    pub tests: usize,
    /// Each subject: regressions first, then what got faster, then the rest.
    pub comparisons: Vec<Comparison>,
    /// What to know of the profiles before believing this.
    pub notes: Vec<String>,
}

impl Report {
    /// Whether something is really slower.
    pub fn regressed(&self) -> bool {
        let mut verdicts = self.comparisons.iter().map(|c| c.verdict);
        verdicts.any(|verdict| verdict == Verdict::Slower)
    }
}

/// Compares two profiles, `first` being the one from before.
pub fn compare(first: &Profile, second: &Profile, options: Options) -> Report {
    let mut sides: BTreeMap<Subject, [Option<Sample>; 2]> = BTreeMap::new();
    for (at, profile) in [first, second].into_iter().enumerate() {
        for (subject, sample) in sample::samples(profile) {
            sides.entry(subject).or_default()[at] = Some(sample);
        }
    }
    let mut comparisons: Vec<Comparison> = sides
        .into_iter()
        .map(|(subject, samples)| one(subject, samples, options))
        .collect();
    let all = || comparisons.iter().flat_map(|c| &c.tests);
    let corrected = holm::corrected(&all().map(|test| test.p).collect::<Vec<_>>());
    let tests = corrected.len();
    let places = comparisons.iter_mut().flat_map(|c| &mut c.tests);
    for (test, p) in places.zip(corrected) {
        test.p_corrected = p;
        test.real = p < 1.0 - options.confidence && large(test, options.least_effect);
    }
    for comparison in &mut comparisons {
        comparison.verdict = verdict(comparison);
    }
    comparisons.sort_by(|a, b| rank(a).cmp(&rank(b)));
    Report {
        options,
        tests,
        notes: notes(first, second, &comparisons),
        comparisons,
    }
}

fn one(subject: Subject, samples: [Option<Sample>; 2], options: Options) -> Comparison {
    let [first, second] = &samples;
    let calls = |sample: &Option<Sample>| sample.as_ref().map_or(0, Sample::calls);
    let blocks = |sample: &Option<Sample>| sample.as_ref().map_or(0, |s| s.blocks().len());
    let (verdict, tests) = match (first, second) {
        (Some(first), Some(second)) => (Verdict::TooFew, tests(first, second, options)),
        (_, None) => (Verdict::OnlyFirst, Vec::new()),
        (None, _) => (Verdict::OnlySecond, Vec::new()),
    };
    Comparison {
        subject,
        calls: [calls(first), calls(second)],
        blocks: [blocks(first), blocks(second)],
        verdict,
        tests,
    }
}

fn tests(first: &Sample, second: &Sample, options: Options) -> Vec<Test> {
    let alpha = 1.0 - options.confidence;
    let test = |of, estimate, interval, p, change| Test {
        of,
        estimate,
        interval,
        p,
        p_corrected: p,
        real: false,
        change,
    };
    let mut tests = Vec::new();
    for (q, name) in QUANTILES {
        if let Some(ratio) = quantile::Ratio::new(first, second, q) {
            let [low, high] = ratio.interval(alpha);
            let interval = [low.exp(), high.exp()];
            let estimate = ratio.estimate();
            tests.push(test(
                name,
                estimate.exp(),
                interval,
                ratio.p(),
                estimate.abs(),
            ));
        }
    }
    // Where the medians cannot be reported, nothing can.
    if !tests.is_empty() {
        let delta = dominance::Delta::new(first, second, options.least_effect);
        let change = quantile::largest_change(first, second, delta.estimate);
        let interval = delta.interval(alpha);
        tests.push(test("delta", delta.estimate, interval, delta.p(), change));
    }
    tests
}

/// Pairs of calls may differ by more than any quantile has changed, so that is asked of a delta too.
fn large(test: &Test, least_effect: f64) -> bool {
    let enough = test.is_ratio() || test.estimate.abs() >= LEAST_DELTA;
    enough && test.change >= least_effect.ln_1p()
}

fn verdict(comparison: &Comparison) -> Verdict {
    if matches!(comparison.verdict, Verdict::OnlyFirst | Verdict::OnlySecond) {
        return comparison.verdict;
    }
    let is = |direction| {
        let mut real = comparison.real();
        real.any(|test| test.direction() == Some(direction))
    };
    if is(Direction::Slower) {
        return Verdict::Slower;
    }
    if is(Direction::Faster) {
        return Verdict::Faster;
    }
    let ratios = comparison.tests.iter().filter(|test| test.is_ratio());
    let bounds = ratios.flat_map(|test| test.interval);
    match bounds.map(|bound| bound.ln().abs()).reduce(f64::max) {
        None => Verdict::TooFew,
        Some(bound) => Verdict::NoShift {
            may_hide: bound.exp_m1(),
        },
    }
}

/// The order of comparisons: the worst first, and of two the one of which there are more calls.
fn rank(comparison: &Comparison) -> (u8, std::cmp::Reverse<u64>, &Subject) {
    let class = match comparison.verdict {
        Verdict::Slower => 0,
        Verdict::Faster => 1,
        Verdict::OnlySecond => 2,
        Verdict::OnlyFirst => 3,
        Verdict::NoShift { .. } => 4,
        Verdict::TooFew => 5,
    };
    let calls = comparison.calls[0].saturating_add(comparison.calls[1]);
    (class, std::cmp::Reverse(calls), &comparison.subject)
}

fn notes(first: &Profile, second: &Profile, comparisons: &[Comparison]) -> Vec<String> {
    let mut notes = Vec::new();
    let compared = || comparisons.iter().filter(|c| !c.tests.is_empty());
    if compared().any(|c| c.blocks.contains(&0)) {
        notes.push(
            "calls were taken as independent of each other where a profile has fewer than 8 intervals \
             with calls: shifts look more certain than they are; take profiles with --duration"
                .to_owned(),
        );
    }
    let list = |set: &std::collections::BTreeSet<String>| {
        let items: Vec<String> = set.iter().map(|item| crate::text::clean(item)).collect();
        items.join(", ")
    };
    for (what, a, b) in [
        ("hosts", &first.taken.hosts, &second.taken.hosts),
        ("kernels", &first.taken.kernels, &second.taken.kernels),
    ] {
        if a != b && !a.is_empty() && !b.is_empty() {
            notes.push(format!(
                "they were taken on different {what}: {} and {}",
                list(a),
                list(b)
            ));
        }
    }
    notes
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
