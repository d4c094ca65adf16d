//! Which unit (GPU, slot, host, rack) fails more than its peers: rates with exposure time, shrunk towards those of the fleet.
//!
//! Each unit has a rate of its own, drawn from a gamma distribution that all share, and failures by a Poisson process at that rate. The
//! distribution is fitted to all units (maximum likelihood by expectation maximisation: Karlis, "EM algorithm for mixed Poisson and other
//! discrete distributions", ASTIN Bulletin 35, 2005); what it says of a unit given that unit's failures is again a gamma distribution. A
//! unit of little exposure stays near the fleet, whatever its raw rate is.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF as _, Gamma};
use statrs::function::gamma::digamma;

/// A unit is worse than its peers where its rate is more than so many times that of the fleet.
pub const WORSE: f64 = 2.0;
/// How much of the probability the interval has.
pub const LEVEL: f64 = 0.9;
const STEPS: usize = 100;
/// Beyond this shape rates do not differ within what the data can show.
const SHAPE_MAX: f64 = 1e4;
const SHAPE_MIN: f64 = 1e-2;

/// A unit as it was observed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Exposed {
    /// What it is called.
    pub name: String,
    /// Failures.
    pub failures: u64,
    /// Time in which it was observed, hours.
    pub hours: f64,
    /// Of its failures, those that came though its GPU was reset since the one before.
    #[serde(default)]
    pub after_reset: u64,
    /// Of its failures, those that came though its host was rebooted since the one before.
    #[serde(default)]
    pub after_reboot: u64,
    /// Of its failures, those that came though it was exchanged since the one before: another GPU is in the slot, or the GPU in another
    /// slot.
    #[serde(default)]
    pub after_exchange: u64,
}

/// A unit with its rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    /// The unit.
    #[serde(flatten)]
    pub unit: Exposed,
    /// Failures in 1000 h, shrunk: the mean of what its rate may be.
    pub rate: f64,
    /// In which the rate lies with a probability of [`LEVEL`].
    pub interval: (f64, f64),
    /// The rate as a multiple of that of the fleet.
    pub times: f64,
    /// How probable it is that it fails more than [`WORSE`] times as often as the fleet.
    pub worse: f64,
}

/// A fleet with its units, the one first of which it is most probable that it is worse than its peers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// Failures in 1000 h of the whole fleet.
    pub rate: f64,
    /// Failures of all units.
    pub failures: u64,
    /// Their exposure, hours.
    pub hours: f64,
    /// Shape of the distribution of rates: the smaller, the more they differ; absent where the data do not show that they differ.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub shape: Option<f64>,
    /// The units.
    pub units: Vec<Ranked>,
}

/// Ranks units; those without exposure are left out.
pub fn rank(units: &[Exposed]) -> Ranking {
    let seen = |unit: &&Exposed| unit.hours.is_finite() && unit.hours > 0.0;
    let units: Vec<&Exposed> = units.iter().filter(seen).collect();
    let failures: u64 = units.iter().map(|unit| unit.failures).sum();
    // The sum of nothing is -0.
    let hours: f64 = units.iter().map(|unit| unit.hours).sum::<f64>() + 0.0;
    if failures == 0 || hours <= 0.0 {
        return Ranking {
            failures,
            hours,
            ..Ranking::default()
        };
    }
    let fleet = failures as f64 / hours;
    let (shape, rate) = fit(&units, fleet);
    let mut ranked: Vec<Ranked> = units
        .iter()
        .filter_map(|unit| ranked(unit, shape, rate, fleet))
        .collect();
    ranked.sort_by(|a, b| {
        let by = b.worse.total_cmp(&a.worse).then(b.rate.total_cmp(&a.rate));
        by.then_with(|| a.unit.name.cmp(&b.unit.name))
    });
    Ranking {
        rate: fleet * 1000.0,
        failures,
        hours,
        shape: (shape < SHAPE_MAX).then_some(shape),
        units: ranked,
    }
}

fn ranked(unit: &Exposed, shape: f64, rate: f64, fleet: f64) -> Option<Ranked> {
    // Given its failures: shape and rate add up.
    let of = Gamma::new(shape + unit.failures as f64, rate + unit.hours).ok()?;
    let mean = (shape + unit.failures as f64) / (rate + unit.hours);
    let tail = (1.0 - LEVEL) / 2.0;
    Some(Ranked {
        unit: unit.clone(),
        rate: mean * 1000.0,
        interval: (
            of.inverse_cdf(tail) * 1000.0,
            of.inverse_cdf(1.0 - tail) * 1000.0,
        ),
        times: mean / fleet,
        worse: of.sf(WORSE * fleet),
    })
}

/// Shape and rate (hours) of the gamma distribution of rates, by moments: how much more failures vary than those of one rate would.
pub(crate) fn moments(units: &[&Exposed], fleet: f64) -> (f64, f64) {
    let (mut surplus, mut squares) = (0.0, 0.0);
    for unit in units {
        let expected = fleet * unit.hours;
        surplus += (unit.failures as f64 - expected).powi(2) - expected;
        squares += unit.hours.powi(2);
    }
    let shape = match surplus > 0.0 {
        true => (fleet * fleet * squares / surplus).clamp(SHAPE_MIN, SHAPE_MAX),
        false => SHAPE_MAX,
    };
    (shape, shape / fleet)
}

/// The same by maximum likelihood.
fn fit(units: &[&Exposed], fleet: f64) -> (f64, f64) {
    let (mut shape, mut rate) = moments(units, fleet);
    if shape >= SHAPE_MAX {
        return (shape, rate);
    }
    let n = units.len() as f64;
    for _ in 0..STEPS {
        // What the rate of each unit is expected to be, and its logarithm.
        let (mut mean, mut log) = (0.0, 0.0);
        for unit in units {
            let (a, b) = (shape + unit.failures as f64, rate + unit.hours);
            mean += a / b / n;
            log += (digamma(a) - b.ln()) / n;
        }
        let next = shape_of(mean.ln() - log).clamp(SHAPE_MIN, SHAPE_MAX);
        let settled = (next - shape).abs() <= 1e-6 * shape;
        shape = next;
        rate = shape / mean;
        if settled || shape >= SHAPE_MAX {
            break;
        }
    }
    (shape, rate)
}

/// The shape with `ln(shape) - digamma(shape) = gap`: Minka's approximation, then Newton's steps.
fn shape_of(gap: f64) -> f64 {
    if gap <= 1.0 / (2.0 * SHAPE_MAX) {
        return SHAPE_MAX;
    }
    let mut shape = (3.0 - gap + ((gap - 3.0).powi(2) + 24.0 * gap).sqrt()) / (12.0 * gap);
    for _ in 0..20 {
        let h = shape * 1e-4;
        let of = |x: f64| x.ln() - digamma(x) - gap;
        let slope = (of(shape + h) - of(shape - h)) / (2.0 * h);
        let next = shape - of(shape) / slope;
        if !next.is_finite() || next <= 0.0 {
            break;
        }
        let settled = (next - shape).abs() < 1e-9 * shape;
        shape = next;
        if settled {
            break;
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{gamma, poisson};

    fn unit(n: usize, failures: u64, hours: f64) -> Exposed {
        Exposed {
            name: format!("gpu-{n}"),
            failures,
            hours,
            ..Exposed::default()
        }
    }

    #[test]
    fn intervals_cover_as_they_claim() {
        let mut rng = fastrand::Rng::with_seed(7);
        let (mut within, mut all) = (0.0, 0.0);
        for _ in 0..20 {
            // Rates of shape 2 around one failure in 1000 h; exposures from a month to a year.
            let truth: Vec<f64> = (0..400)
                .map(|_| gamma(&mut rng, 2.0) / 2.0 / 1000.0)
                .collect();
            let units: Vec<Exposed> = truth
                .iter()
                .enumerate()
                .map(|(n, rate)| {
                    let hours = 700.0 + rng.f64() * 8000.0;
                    unit(n, poisson(&mut rng, rate * hours), hours)
                })
                .collect();
            for one in rank(&units).units {
                let n: usize = one.unit.name[4..].parse().unwrap();
                let (low, high) = one.interval;
                within += f64::from((low..=high).contains(&(truth[n] * 1000.0)));
                all += 1.0;
            }
        }
        let coverage = within / all;
        assert!((coverage - LEVEL).abs() < 0.02, "{coverage}");
    }

    #[test]
    fn a_lemon_is_among_the_first_five_and_a_sound_fleet_has_none() {
        let mut rng = fastrand::Rng::with_seed(11);
        let (mut found, mut alarms, rounds) = (0, 0, 60);
        for _ in 0..rounds {
            // 1000 GPUs for 5000 h at one failure in 1000 h, of which one fails five times as often.
            let mut units: Vec<Exposed> = (0..1000)
                .map(|n| unit(n, poisson(&mut rng, 5.0), 5000.0))
                .collect();
            alarms += rank(&units).units.iter().filter(|u| u.worse > 0.95).count();
            units[500].failures = poisson(&mut rng, 25.0);
            let ranking = rank(&units);
            found += usize::from(ranking.units[..5].iter().any(|u| u.unit.name == "gpu-500"));
        }
        assert!(found >= 58, "{found} of {rounds}");
        // Of 60,000 sound GPUs.
        assert!(alarms <= 6, "{alarms}");
    }

    #[test]
    fn little_exposure_proves_little() {
        let mut units: Vec<Exposed> = (0..200)
            .map(|n| unit(n, 5 + n as u64 % 3, 5000.0))
            .collect();
        // One failure in its first ten hours is a raw rate of 100 in 1000 h.
        units.push(unit(900, 1, 10.0));
        units.push(unit(901, 40, 5000.0));
        let ranking = rank(&units);
        assert_eq!(ranking.units[0].unit.name, "gpu-901");
        let young = ranking
            .units
            .iter()
            .find(|u| u.unit.name == "gpu-900")
            .unwrap();
        assert!(young.worse < 0.5 && young.times < 3.0, "{young:?}");
        assert_eq!(rank(&[]).units.len(), 0);
        assert_eq!(rank(&[unit(0, 0, 10.0)]).failures, 0);
    }
}
