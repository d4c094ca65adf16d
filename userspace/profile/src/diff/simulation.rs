//! How often the comparison is wrong, and how often it sees what is there, over many fake pairs.
//!
//! Calls as they are: log-normal, one of fifty far out, and alike within a while (an autoregressive
//! level). The seeds are fixed, so a test gives the same each time.

use fastrand::Rng;

use super::sample::Sample;
use super::*;
use crate::model::made;
use crate::{Counts, Histogram, Row};

/// Of one seed.
struct Random(Rng);

impl Random {
    /// In 0..1, never 0.
    fn even(&mut self) -> f64 {
        1.0 - self.0.f64()
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.even().ln()).sqrt() * (std::f64::consts::TAU * self.even()).cos()
    }
}

#[derive(Clone, Copy)]
struct Made {
    intervals: usize,
    calls: usize,
    /// Of the level from one interval to the next.
    correlation: f64,
    /// Standard deviation of the level, of the logarithm.
    level: f64,
    /// All calls take this much longer.
    slower: f64,
    /// Calls in the tail take this much longer still.
    tail: f64,
}

const MADE: Made = Made {
    intervals: 60,
    calls: 30,
    correlation: 0.0,
    level: 0.0,
    slower: 1.0,
    tail: 1.0,
};

impl Made {
    fn intervals(self, random: &mut Random) -> Vec<Histogram> {
        let mut level = random.normal();
        let mut intervals = Vec::new();
        for _ in 0..self.intervals {
            let mut histogram = Histogram::default();
            for _ in 0..self.calls {
                let mut ns =
                    20_000.0 * self.slower * (level * self.level + 0.3 * random.normal()).exp();
                if random.0.u8(..50) == 0 {
                    ns *= 4.0 * self.tail * random.even().powf(-0.5);
                }
                histogram.record(ns as u64);
            }
            intervals.push(histogram);
            let rest = (1.0 - self.correlation * self.correlation).sqrt();
            level = self.correlation * level + rest * random.normal();
        }
        intervals
    }

    fn sample(self, random: &mut Random, blocks: bool) -> Sample {
        let intervals = self.intervals(random);
        let mut all = Histogram::default();
        intervals.iter().for_each(|interval| all.merge(interval));
        Sample::new(all, if blocks { &intervals } else { &[] })
    }

    fn profile(self, random: &mut Random, functions: usize) -> Profile {
        let mut profile = Profile::default();
        for function in 0..functions {
            for (at, histogram) in self.intervals(random).into_iter().enumerate() {
                let row = Row {
                    key: made::key(Layer::Api, 7, &format!("f{function}")),
                    counts: Counts::timed(histogram),
                };
                profile.add_interval(made::span(at as i64), &[row]);
            }
        }
        profile
    }
}

const ROUNDS: u64 = 150;

/// Share of rounds in which `holds`.
fn share(seed: u64, holds: impl Fn(&mut Random) -> bool) -> f64 {
    let held = (0..ROUNDS).filter(|round| holds(&mut Random(Rng::with_seed(seed << 32 | round))));
    held.count() as f64 / ROUNDS as f64
}

#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    let alike = Made {
        correlation: 0.5,
        level: 0.2,
        ..MADE
    };
    for (seed, made, blocks) in [(1, MADE, false), (2, MADE, true), (3, alike, true)] {
        for (q, name) in QUANTILES {
            let held = share(seed, |random| {
                let (a, b) = (made.sample(random, blocks), made.sample(random, blocks));
                match quantile::Ratio::new(&a, &b, q) {
                    Some(ratio) => {
                        let [low, high] = ratio.even_interval(0.05);
                        low <= 0.0 && 0.0 <= high
                    }
                    None => true,
                }
            });
            // 95 %, of 150 rounds: 1.8 % by chance, and Student's t is a little wide where blocks vary
            // less than calls.
            assert!((0.90..=1.0).contains(&held), "{name} {blocks}: {held}");
        }
    }
}

#[test]
fn equal_profiles_are_seldom_called_different() {
    let options = Options {
        least_effect: 0.0,
        ..Options::default()
    };
    for (seed, correlation, level) in [(11, 0.0, 0.0), (12, 0.5, 0.2), (13, 0.7, 0.3)] {
        let made = Made {
            correlation,
            level,
            ..MADE
        };
        let wrong = share(seed, |random| {
            let (a, b) = (made.profile(random, 2), made.profile(random, 2));
            let report = compare(&a, &b, options);
            report.comparisons.iter().any(|c| c.real().count() > 0)
        });
        assert!(wrong <= 0.085, "{correlation}: {wrong}");
    }
}

#[test]
fn without_intervals_calls_that_are_alike_look_certain() {
    // Why profiles are taken by interval, and why the report says so where they are not.
    let made = Made {
        correlation: 0.7,
        level: 0.3,
        ..MADE
    };
    let wrong = share(14, |random| {
        let (mut a, mut b) = (made.profile(random, 1), made.profile(random, 1));
        a.intervals.clear();
        b.intervals.clear();
        let report = compare(&a, &b, Options::default());
        assert!(report.notes[0].contains("independent"));
        report.comparisons[0].real().count() > 0
    });
    assert!(wrong > 0.3, "{wrong}");
}

#[test]
fn true_shifts_are_seen() {
    let alike = Made {
        correlation: 0.3,
        level: 0.05,
        calls: 160,
        ..MADE
    };
    for (seed, slower, tail, of) in [(21, 1.25, 1.0, "p50"), (22, 1.0, 4.0, "p99")] {
        let slow = Made {
            slower,
            tail,
            ..alike
        };
        let seen = share(seed, |random| {
            let (a, b) = (alike.profile(random, 2), slow.profile(random, 2));
            let report = compare(&a, &b, Options::default());
            let back = compare(&b, &a, Options::default());
            assert!(!back.regressed() || report.regressed());
            report
                .comparisons
                .iter()
                .all(|c| c.real().any(|t| t.of == of))
        });
        assert!(seen > 0.9, "{of}: {seen}");
    }
}
