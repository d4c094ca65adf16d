//! Random variates of simulated fleets, for tests of statistics.

/// A gamma variate of scale 1 by Marsaglia and Tsang (2000); below shape 1 by their boost.
pub(crate) fn gamma(rng: &mut fastrand::Rng, shape: f64) -> f64 {
    if shape < 1.0 {
        let boost = (1.0 - rng.f64()).powf(1.0 / shape);
        return gamma(rng, shape + 1.0) * boost;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        // Box and Muller.
        let (u, v) = (1.0 - rng.f64(), rng.f64());
        let x = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
        let cube = (1.0 + c * x).powi(3);
        let u = 1.0 - rng.f64();
        if cube > 0.0 && u.ln() < 0.5 * x * x + d - d * cube + d * cube.ln() {
            return d * cube;
        }
    }
}

pub(crate) fn poisson(rng: &mut fastrand::Rng, mean: f64) -> u64 {
    // As many as fit: times between failures are exponential.
    let (mut at, mut count) = (0.0, 0);
    loop {
        at -= (1.0 - rng.f64()).ln();
        if at > mean {
            return count;
        }
        count += 1;
    }
}
