//! Whether hosts with one version of something (driver, firmware, VBIOS, kernel) fail more often than hosts with another: the ratio of
//! their rates with an interval, and a verdict where the data carry one.
//!
//! Failures of a host are taken for Poisson-distributed at a rate that differs from host to host: their variance is larger than their mean by
//! `h` times its square, where `h` is how much rates differ (variance over squared mean), estimated by moments from the hosts of both cohorts. Each
//! cohort then counts as so many independent failures as have the same relative error; of these the interval is Clopper's and Pearson's of
//! the share that one cohort has, given the sum (Przyborowski and Wilenski, Biometrika 31, 1940).

use serde::{Deserialize, Serialize};
use statrs::function::beta::beta_reg;

use crate::lemon::Exposed;

/// In so many of 100 comparisons the interval holds the truth, or in more.
pub const LEVEL: f64 = 0.95;
/// A new version may fail so many times as often as the old one before that counts against it.
pub const MARGIN: f64 = 1.5;
/// Fewer hosts say something of themselves, not of their version.
pub const HOSTS_MIN: usize = 3;
/// More exposure than so many times that of now is not worth waiting for.
const WAIT_MAX: f64 = 1000.0;

/// What the data say of the second cohort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It fails less than margin times as often: the whole interval is below the margin.
    NotWorse,
    /// It fails more often: the whole interval is above 1, and not all of it below the margin.
    Worse,
    /// The data do not carry either.
    Undecided,
}

/// Hosts of one version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cohort {
    /// The version.
    pub version: String,
    /// Hosts that had it.
    pub hosts: usize,
    /// Their failures.
    pub failures: u64,
    /// Their exposure, GPU-hours.
    pub hours: f64,
    /// Failures in 1000 h.
    pub rate: f64,
}

impl Cohort {
    /// Of its hosts; those without exposure are left out.
    pub fn new(version: &str, hosts: &[Exposed]) -> Self {
        let failures = exposed(hosts).map(|host| host.failures).sum();
        // The sum of nothing is -0.
        let hours: f64 = exposed(hosts).map(|host| host.hours).sum::<f64>() + 0.0;
        Self {
            version: version.to_owned(),
            hosts: exposed(hosts).count(),
            failures,
            hours,
            rate: match hours > 0.0 {
                true => failures as f64 / hours * 1000.0,
                false => 0.0,
            },
        }
    }
}

/// Two versions beside each other.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// What runs.
    pub old: Cohort,
    /// What is to replace it.
    pub new: Cohort,
    /// Rate of the new version over that of the old one; absent where the old one has no failures.
    pub ratio: Option<f64>,
    /// Lower end of the interval of the ratio.
    pub low: f64,
    /// Its upper end; absent where there is none.
    pub high: Option<f64>,
    /// Variance of the rates of hosts over their squared mean; 0 where the data do not show that they differ.
    pub spread: f64,
    /// What the new version may fail more often.
    pub margin: f64,
    /// What the data say.
    pub verdict: Verdict,
    /// Why they say nothing.
    pub why: Option<String>,
    /// With about so many GPU-hours of the new version they would say that it is not worse, if it fails as often as the old one.
    pub needs_hours: Option<f64>,
}

fn exposed(hosts: &[Exposed]) -> impl Iterator<Item = &Exposed> {
    let seen = |host: &&Exposed| host.hours.is_finite() && host.hours > 0.0;
    hosts.iter().filter(seen)
}

/// Failures of a cohort as of that many that are independent, and its exposure.
#[derive(Clone, Copy)]
struct Effective {
    failures: f64,
    hours: f64,
}

/// Compares two versions, each a name and its hosts.
pub fn compare(old: (&str, &[Exposed]), new: (&str, &[Exposed]), margin: f64) -> Comparison {
    let (a, b) = (Cohort::new(old.0, old.1), Cohort::new(new.0, new.1));
    let spread = spread(&[old.1, new.1]);
    let of = |hosts: &[Exposed], rate: f64| {
        let (mut sum, mut squares) = (0.0, 0.0);
        for host in exposed(hosts) {
            sum += rate * host.hours;
            squares += (rate * host.hours).powi(2);
        }
        // Variance over mean.
        match sum > 0.0 {
            true => 1.0 + spread * squares / sum,
            false => 1.0,
        }
    };
    let effective = |cohort: &Cohort, hosts: &[Exposed]| {
        // Without failures the rate is unknown: that of both together.
        let both = (a.failures + b.failures) as f64 / (a.hours + b.hours);
        let own = cohort.failures as f64 / cohort.hours;
        let rate = if cohort.failures > 0 { own } else { both };
        let factor = of(hosts, rate);
        Effective {
            failures: cohort.failures as f64 / factor,
            hours: cohort.hours / factor,
        }
    };
    let mut comparison = Comparison {
        ratio: (a.failures > 0 && b.hours > 0.0).then(|| b.rate / a.rate),
        low: 0.0,
        high: None,
        spread,
        margin,
        verdict: Verdict::Undecided,
        why: None,
        needs_hours: None,
        old: a.clone(),
        new: b.clone(),
    };
    let few = [&a, &b].into_iter().find(|c| c.hosts < HOSTS_MIN);
    if let Some(few) = few {
        let (version, hosts) = (&few.version, few.hosts);
        comparison.why = Some(format!(
            "{version} was on {hosts} hosts: fewer than {HOSTS_MIN} say something of themselves, not of their version"
        ));
    }
    if a.hours <= 0.0 || b.hours <= 0.0 {
        return comparison;
    }
    let (ea, eb) = (effective(&a, old.1), effective(&b, new.1));
    let (low, high) = (lower(ea, eb), upper(ea, eb));
    comparison.low = low;
    comparison.high = high;
    if few.is_some() {
        return comparison;
    }
    comparison.verdict = match high {
        Some(high) if high <= margin => Verdict::NotWorse,
        _ if low > 1.0 => Verdict::Worse,
        _ => Verdict::Undecided,
    };
    if comparison.verdict == Verdict::Undecided {
        comparison.needs_hours = needed(ea, b.hours / eb.hours, margin);
        comparison.why = Some(match comparison.needs_hours {
            Some(_) => "the interval reaches from below 1 to above the margin".to_owned(),
            None => {
                "the old version has too few failures for any verdict: wait, or use a larger --margin"
                    .to_owned()
            }
        });
    }
    comparison
}

/// How much rates of hosts differ within their cohorts: variance over squared mean.
fn spread(cohorts: &[&[Exposed]]) -> f64 {
    let (mut surplus, mut squares) = (0.0, 0.0);
    for hosts in cohorts {
        let hours: f64 = exposed(hosts).map(|host| host.hours).sum();
        let failures: u64 = exposed(hosts).map(|host| host.failures).sum();
        let n = exposed(hosts).count() as f64;
        if n < 2.0 {
            continue;
        }
        for host in exposed(hosts) {
            let expected = failures as f64 / hours * host.hours;
            // The rate is of the same data: without the factor residuals were too small.
            surplus += (host.failures as f64 - expected).powi(2) * n / (n - 1.0) - expected;
            squares += expected.powi(2);
        }
    }
    match squares > 0.0 {
        true => (surplus / squares).max(0.0),
        false => 0.0,
    }
}

/// So much lies beyond each end of an interval.
const TAIL: f64 = (1.0 - LEVEL) / 2.0;

/// Lower end of the interval of the ratio of rates of `b` to `a`.
fn lower(a: Effective, b: Effective) -> f64 {
    match b.failures > 0.0 {
        true => ratio(a, b, quantile(b.failures, a.failures + 1.0, TAIL)),
        false => 0.0,
    }
}

/// Its upper end; `None` where there is none.
fn upper(a: Effective, b: Effective) -> Option<f64> {
    let share = || quantile(b.failures + 1.0, a.failures, 1.0 - TAIL);
    let high = (a.failures > 0.0).then(|| ratio(a, b, share()));
    high.filter(|high| high.is_finite())
}

/// Of rates, where `b` has this share of all failures.
fn ratio(a: Effective, b: Effective, share: f64) -> f64 {
    share / (1.0 - share) * a.hours / b.hours
}

/// A quantile of the beta distribution, by bisection.
fn quantile(a: f64, b: f64, share: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..48 {
        let middle = (low + high) / 2.0;
        match beta_reg(a, b, middle) < share {
            true => low = middle,
            false => high = middle,
        }
    }
    (low + high) / 2.0
}

/// GPU-hours of the new version with which it would be found not worse, if it fails as often as the old one. `factor`: its variance over its
/// mean.
fn needed(a: Effective, factor: f64, margin: f64) -> Option<f64> {
    let enough = |hours: f64| {
        let b = Effective {
            failures: a.failures / a.hours * hours,
            hours,
        };
        upper(a, b).is_some_and(|high| high <= margin)
    };
    let (mut few, mut many) = (a.hours / WAIT_MAX, a.hours * WAIT_MAX);
    if !enough(many) {
        return None;
    }
    while many > few * 1.05 {
        let middle = (few * many).sqrt();
        match enough(middle) {
            true => many = middle,
            false => few = middle,
        }
    }
    Some(many * factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{gamma, poisson};

    /// A cohort of hosts whose rates have a gamma distribution of this shape around `rate` (failures in 1000 h).
    fn hosts(
        rng: &mut fastrand::Rng,
        n: usize,
        hours: f64,
        rate: f64,
        shape: Option<f64>,
    ) -> Vec<Exposed> {
        let host = |_| {
            let times = shape.map_or(1.0, |shape| gamma(rng, shape) / shape);
            let hours = hours * (0.5 + rng.f64());
            Exposed {
                name: String::new(),
                failures: poisson(rng, rate * times * hours / 1000.0),
                hours,
                ..Exposed::default()
            }
        };
        (0..n).map(host).collect()
    }

    /// Of so many simulated rollouts: in how many the interval holds the truth, in how many each verdict came out.
    fn rollouts(truth: f64, old: (usize, f64), new: (usize, f64), shape: Option<f64>) -> [f64; 4] {
        let mut rng = fastrand::Rng::with_seed(3);
        let rounds = 300;
        let (mut held, mut worse, mut not_worse, mut undecided) = (0, 0, 0, 0);
        for _ in 0..rounds {
            let a = hosts(&mut rng, old.0, old.1, 1.0, shape);
            let b = hosts(&mut rng, new.0, new.1, truth, shape);
            let found = compare(("a", &a), ("b", &b), MARGIN);
            held += usize::from(found.low <= truth && found.high.is_none_or(|h| truth <= h));
            match found.verdict {
                Verdict::Worse => worse += 1,
                Verdict::NotWorse => not_worse += 1,
                Verdict::Undecided => undecided += 1,
            }
        }
        [held, worse, not_worse, undecided].map(|n| n as f64 / rounds as f64)
    }

    #[test]
    fn intervals_hold_the_truth_as_often_as_they_claim() {
        let cases = [
            // Rates that are equal, few failures.
            (1.0, (100, 500.0), (10, 200.0), None),
            (2.0, (100, 500.0), (10, 200.0), None),
            // Rates that differ: as a gamma distribution of shape 1 and 2, with many and with few failures.
            (1.0, (200, 2000.0), (40, 1000.0), Some(1.0)),
            (1.5, (200, 4000.0), (100, 4000.0), Some(2.0)),
            (1.0, (100, 1000.0), (10, 700.0), Some(2.0)),
            (1.0, (400, 8000.0), (400, 8000.0), Some(1.0)),
        ];
        for (truth, old, new, shape) in cases {
            let [held, ..] = rollouts(truth, old, new, shape);
            println!("{truth} {old:?} {new:?} {shape:?}: {held}");
            // The error of 1000 rounds is 0.7 %.
            assert!(
                held >= LEVEL - 0.02,
                "{truth} {old:?} {new:?} {shape:?}: {held}"
            );
        }
    }

    #[test]
    fn a_gate_stops_what_is_worse_lets_through_what_is_not_and_waits_where_it_cannot_know() {
        let many = ((400, 4000.0), (200, 4000.0));
        let [_, worse, not_worse, _] = rollouts(1.0, many.0, many.1, Some(2.0));
        assert!(worse <= 0.035 && not_worse >= 0.9, "{worse} {not_worse}");
        let [_, worse, not_worse, _] = rollouts(2.0, many.0, many.1, Some(2.0));
        assert!(worse >= 0.95 && not_worse <= 0.005, "{worse} {not_worse}");
        // At the margin itself it is let through no more often than the interval errs on that side.
        let [_, _, not_worse, _] = rollouts(MARGIN, many.0, many.1, Some(2.0));
        assert!(not_worse <= 0.035, "{not_worse}");
        // A canary of a day says nothing.
        let [.., undecided] = rollouts(1.0, (400, 4000.0), (5, 24.0), Some(2.0));
        assert!(undecided >= 0.98, "{undecided}");
    }

    fn one(failures: u64, hours: f64) -> Exposed {
        Exposed {
            name: String::new(),
            failures,
            hours,
            ..Exposed::default()
        }
    }

    #[test]
    fn the_interval_is_that_of_the_exact_test_and_says_what_is_missing() {
        // R's poisson.test(c(11, 21), c(800, 3011)); failures that are spread evenly differ by chance only.
        let even = |n: u64, hours: f64| -> Vec<Exposed> {
            (0..n).map(|_| one(1, hours / n as f64)).collect()
        };
        let (a, b) = (even(21, 3011.0), even(11, 800.0));
        let found = compare(("535", &a), ("550", &b), MARGIN);
        assert_eq!(found.spread, 0.0);
        let values = [found.ratio.unwrap(), found.low, found.high.unwrap()];
        for (value, expected) in values.iter().zip([1.971_488, 0.858_426_4, 4.277_265_9]) {
            assert!((value - expected).abs() < 1e-5, "{values:?}");
        }
        assert_eq!(found.verdict, Verdict::Undecided);
        assert_eq!(found.needs_hours, None);
        let enough = compare(("535", &even(400, 4e5)), ("550", &even(20, 2e4)), MARGIN);
        let hours = enough.needs_hours.unwrap();
        assert!(hours > 2e4 && hours < 4e5, "{hours}");
        // With these hours it is so.
        let n = (hours / 1000.0).ceil();
        let more = compare(
            ("535", &even(400, 4e5)),
            ("550", &even(n as u64, n * 1e3)),
            MARGIN,
        );
        assert_eq!(more.verdict, Verdict::NotWorse);
    }

    #[test]
    fn what_was_on_two_hosts_or_never_failed_carries_no_verdict() {
        let many: Vec<Exposed> = (0..50).map(|_| one(2, 1000.0)).collect();
        let two = compare(("a", &many), ("b", &[one(90, 10.0), one(80, 10.0)]), MARGIN);
        assert_eq!(two.verdict, Verdict::Undecided);
        assert!(two.why.unwrap().contains("b was on 2 hosts"));
        let quiet = vec![one(0, 100.0); 10];
        let none = compare(("a", &quiet), ("b", &quiet), MARGIN);
        assert_eq!(
            (none.verdict, none.ratio, none.high),
            (Verdict::Undecided, None, None)
        );
        let absent = compare(("a", &many), ("b", &[]), MARGIN);
        assert_eq!((absent.verdict, absent.high), (Verdict::Undecided, None));
        // No failure in a long time is not worse.
        let sound = compare(("a", &many), ("b", &vec![one(0, 500.0); 20]), MARGIN);
        assert_eq!((sound.verdict, sound.low), (Verdict::NotWorse, 0.0));
    }
}
