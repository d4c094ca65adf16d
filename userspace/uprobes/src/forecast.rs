//! When device memory will be full, if a process goes on as it does.

use std::collections::VecDeque;
use std::time::Duration;

/// Uses that many samples at most.
const SAMPLES: usize = 120;
/// With fewer, nothing is foretold.
const FEWEST: usize = 5;

/// Live bytes of a process over time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Growth {
    /// Seconds since some start, bytes.
    samples: VecDeque<(f64, f64)>,
}

impl Growth {
    /// Adds what is live at a time.
    pub(crate) fn add(&mut self, at: Duration, live: u64) {
        if self.samples.len() == SAMPLES {
            self.samples.pop_front();
        }
        self.samples.push_back((at.as_secs_f64(), live as f64));
    }

    /// Bytes a second by least squares; `None` with too few samples.
    pub(crate) fn rate(&self) -> Option<f64> {
        if self.samples.len() < FEWEST {
            return None;
        }
        let count = self.samples.len() as f64;
        let mean =
            |part: fn(&(f64, f64)) -> f64| self.samples.iter().map(part).sum::<f64>() / count;
        let (time, live) = (mean(|s| s.0), mean(|s| s.1));
        let over = |part: &dyn Fn(&(f64, f64)) -> f64| self.samples.iter().map(part).sum::<f64>();
        let spread = over(&|s| (s.0 - time).powi(2));
        (spread > 0.0).then(|| over(&|s| (s.0 - time) * (s.1 - live)) / spread)
    }

    /// How long until `free` more bytes are taken, if it goes on like this; `None` if it does not grow:
    /// less than in a day, or back and forth (the second half of the samples does not lie above
    /// the first).
    pub(crate) fn full_in(&self, free: u64) -> Option<Duration> {
        const DAY: f64 = 86_400.0;
        let rate = self.rate().filter(|rate| *rate > 0.0)?;
        let half = self.samples.len() / 2;
        let most = |from: usize, to: usize| {
            let part = self.samples.range(from..to).map(|s| s.1);
            part.fold(0.0, f64::max)
        };
        if most(half, self.samples.len()) <= most(0, half) {
            return None;
        }
        let seconds = free as f64 / rate;
        (seconds < DAY).then(|| Duration::from_secs_f64(seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growth(live: impl Fn(u64) -> u64) -> Growth {
        let mut growth = Growth::default();
        for second in 0..60 {
            growth.add(Duration::from_secs(second), live(second));
        }
        growth
    }

    #[test]
    fn steady_growth_is_forecast() {
        let leak = growth(|second| 1 << 30 | (second * 10) << 20);
        let rate = leak.rate().unwrap() / f64::from(1 << 20);
        assert!((rate - 10.0).abs() < 0.01, "{rate}");
        let full = leak.full_in(6000 << 20).unwrap().as_secs();
        assert!((590..=610).contains(&full), "{full}");
    }

    #[test]
    fn what_comes_and_goes_is_no_growth() {
        let waves = growth(|second| if second % 2 == 0 { 1 << 20 } else { 1 << 30 });
        assert_eq!(waves.full_in(1 << 30), None);
        assert_eq!(growth(|_| 1 << 30).full_in(1 << 30), None);
        assert_eq!(growth(|second| 1000 - second).full_in(1 << 30), None);
        let mut short = Growth::default();
        short.add(Duration::ZERO, 1);
        assert_eq!(short.rate(), None);
    }
}
