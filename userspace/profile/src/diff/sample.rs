//! The calls of one subject, whole and in blocks of time.

use std::collections::BTreeMap;

use crate::Histogram;
use crate::Profile;

use super::Subject;

/// Fewest blocks that a variance is taken from: with fewer, Student's t is so wide that little could be
/// reported, and the blocks' sums are too far from normal.
pub(super) const LEAST_BLOCKS: usize = 8;
/// Most: more say nothing further.
const MOST_BLOCKS: usize = 64;

/// The calls of a subject.
#[derive(Clone, Debug, Default)]
pub(super) struct Sample {
    all: Histogram,
    blocks: Vec<Histogram>,
}

impl Sample {
    /// From all calls and, where there are enough, their intervals in the order of time.
    ///
    /// Neighbouring intervals are joined to about n^(1/2) blocks, each n^(1/2) long. Blocks of n^(1/3)
    /// have the least error of the variance [Künsch 1989, Ann. Stat. 17:1217], but what is left of the
    /// likeness between them makes it too small; longer ones with Student's t of fewer degrees err
    /// neither way [Kiefer and Vogelsang 2005, Econom. Theory 21:1130].
    pub(super) fn new(all: Histogram, intervals: &[Histogram]) -> Self {
        let filled = || intervals.iter().filter(|interval| !interval.is_empty());
        let covered = filled().fold(0u64, |sum, h| sum.saturating_add(h.count()));
        let count = filled().count();
        if count < LEAST_BLOCKS || covered != all.count() {
            return Self {
                all,
                blocks: Vec::new(),
            };
        }
        let wanted = (count as f64).sqrt().round() as usize;
        let wanted = wanted.clamp(LEAST_BLOCKS, MOST_BLOCKS);
        let mut blocks = vec![Histogram::default(); wanted];
        for (at, interval) in filled().enumerate() {
            blocks[at * wanted / count].merge(interval);
        }
        Self { all, blocks }
    }

    pub(super) fn all(&self) -> &Histogram {
        &self.all
    }

    /// Empty where calls have to be taken as independent.
    pub(super) fn blocks(&self) -> &[Histogram] {
        &self.blocks
    }

    pub(super) fn calls(&self) -> u64 {
        self.all.count()
    }

    /// Variance of a mean over all calls, of a value that has sum `sum` in a block of `calls` calls;
    /// `independent` is the variance if calls were independent. Never below that, as blocks that are
    /// alike by chance prove nothing.
    ///
    /// `mean` is the mean over all calls.
    pub(super) fn variance(
        &self,
        mean: f64,
        independent: f64,
        sum: impl Fn(&Histogram) -> f64,
    ) -> f64 {
        let blocks = self.blocks.len() as f64;
        if self.blocks.is_empty() {
            return independent;
        }
        let squares: f64 = self
            .blocks
            .iter()
            .map(|block| (sum(block) - mean * block.count() as f64).powi(2))
            .sum();
        let calls = self.calls() as f64;
        (blocks / (blocks - 1.0) * squares / (calls * calls)).max(independent)
    }

    /// Degrees of freedom of [`Sample::variance`].
    pub(super) fn freedom(&self) -> f64 {
        match self.blocks.len() {
            0 => (self.calls() as f64 - 1.0).max(1.0),
            blocks => blocks as f64 - 1.0,
        }
    }
}

/// Each subject of a profile.
pub(super) fn samples(profile: &Profile) -> BTreeMap<Subject, Sample> {
    let mut all: BTreeMap<Subject, Histogram> = BTreeMap::new();
    for (key, counts) in &profile.rows {
        all.entry(Subject::of(key))
            .or_default()
            .merge(&counts.histogram);
    }
    let mut intervals: BTreeMap<Subject, Vec<Histogram>> = BTreeMap::new();
    for rows in profile.intervals.values() {
        let mut now: BTreeMap<Subject, Histogram> = BTreeMap::new();
        for (key, histogram) in rows {
            now.entry(Subject::of(key)).or_default().merge(histogram);
        }
        for (subject, histogram) in now {
            intervals.entry(subject).or_default().push(histogram);
        }
    }
    let mut sample = |(subject, all): (Subject, Histogram)| {
        let intervals = intervals.remove(&subject).unwrap_or_default();
        (subject, Sample::new(all, &intervals))
    };
    let called = all.into_iter().filter(|(_, all)| !all.is_empty());
    called.map(&mut sample).collect()
}
