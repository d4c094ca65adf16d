//! When a task that failed is started again.

use std::time::Duration;

/// Before the first restart.
const FIRST: Duration = Duration::from_millis(100);
/// Between restarts at most.
const LONGEST: Duration = Duration::from_secs(30);
/// A share of each wait that is left to chance, so that tasks that failed together do not return
/// together.
const JITTER: f64 = 0.25;

/// Exponential back-off with jitter, from 100 ms to 30 s.
#[derive(Clone, Debug, Default)]
pub struct Backoff {
    failures: u32,
}

impl Backoff {
    /// How long to wait after one more failure. `chance`, from 0 to 1, chooses within the jitter.
    pub fn next(&mut self, chance: f64) -> Duration {
        let doubled = FIRST.saturating_mul(1_u32.checked_shl(self.failures).unwrap_or(u32::MAX));
        self.failures = self.failures.saturating_add(1);
        let base = doubled.min(LONGEST);
        base.mul_f64(1.0 - JITTER * chance.clamp(0.0, 1.0))
    }

    /// The task has been well for long enough: the next failure is a first one.
    pub fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_half_a_minute_and_begin_anew_after_health() {
        let mut backoff = Backoff::default();
        let waits: Vec<_> = (0..4).map(|_| backoff.next(0.0).as_millis()).collect();
        assert_eq!(waits, [100, 200, 400, 800]);
        for _ in 0..100 {
            backoff.next(0.0);
        }
        assert_eq!(backoff.next(0.0), LONGEST);
        backoff.reset();
        assert_eq!(backoff.next(0.0), FIRST);
    }

    #[test]
    fn jitter_only_shortens_a_wait_and_by_a_quarter_at_most() {
        for chance in [0.0, 0.3, 1.0, 7.0] {
            let wait = Backoff::default().next(chance);
            assert!(wait <= FIRST && wait >= FIRST.mul_f64(0.75), "{wait:?}");
        }
    }
}
