//! How long a wait spins before it sleeps.
//!
//! A sleeper is woken some 5 to 50 us after what it waits for; who spins sees it at once. But who
//! spins on the CPU that the other side needs delays the very thing it waits for, and long waits
//! spin for nothing. So each half of each link learns from its own waits whether spinning pays.

use std::sync::OnceLock;
use std::time::Duration;

/// Longest spin of one wait: about what a wake-up costs across CPUs of a virtual machine.
const CAP: Duration = Duration::from_micros(60);
/// A sleep that is shorter would perhaps have been spared by spinning.
const SHORT_SLEEP: Duration = Duration::from_micros(120);
/// Score from which on a wait spins.
const SPINS_FROM: i16 = 4;
const START: i16 = 8;
const MOST: i16 = 16;
const LEAST: i16 = -256;
const PENALTY_MOST: i16 = 128;

/// What one half of a link has learnt.
#[derive(Debug)]
pub(crate) struct Spin {
    cap: Duration,
    score: i16,
    penalty: i16,
}

impl Spin {
    /// Starts by spinning, unless this process has a single CPU.
    pub(crate) fn new() -> Self {
        Self::with_cpus(cpus())
    }

    /// Never spins: for a socket's room, which comes in large pieces anyway.
    pub(crate) fn never() -> Self {
        Self::with_cpus(1)
    }

    fn with_cpus(cpus: usize) -> Self {
        Self {
            cap: if cpus > 1 { CAP } else { Duration::ZERO },
            score: START,
            penalty: 2,
        }
    }

    /// How long the next wait is to spin.
    #[inline]
    pub(crate) fn budget(&self) -> Duration {
        if self.score >= SPINS_FROM {
            self.cap
        } else {
            Duration::ZERO
        }
    }

    /// The wait ended while it spun.
    #[inline]
    pub(crate) fn paid(&mut self) {
        self.score = (self.score + 1).min(MOST);
        self.penalty = (self.penalty - 1).max(2);
    }

    /// The wait slept for `slept`, after spinning if `spun`.
    pub(crate) fn slept(&mut self, spun: bool, slept: Duration) {
        let short = slept <= SHORT_SLEEP;
        let score = match (spun, short) {
            // It came as soon as this CPU was free: the spin itself may have been in the way. Each
            // time this turns out again, spinning is tried again later.
            (true, true) => {
                let score = self.score - self.penalty;
                self.penalty = (self.penalty * 2).min(PENALTY_MOST);
                score
            }
            (true, false) => self.score - 1,
            (false, true) => self.score + 1,
            // Long waits say nothing against short ones to come.
            (false, false) => self.score,
        };
        self.score = score.clamp(LEAST, MOST);
    }
}

/// CPUs that this process may use, by affinity and by control group.
fn cpus() -> usize {
    static CPUS: OnceLock<usize> = OnceLock::new();
    *CPUS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_millis(5);
    const QUICK: Duration = Duration::from_micros(30);

    #[test]
    fn one_cpu_never_spins() {
        let mut spin = Spin::with_cpus(1);
        assert_eq!(spin.budget(), Duration::ZERO);
        spin.paid();
        assert_eq!(spin.budget(), Duration::ZERO);
    }

    #[test]
    fn long_waits_end_spinning_and_short_ones_bring_it_back() {
        let mut spin = Spin::with_cpus(2);
        let mut spins = 0;
        for _ in 0..100 {
            let spun = !spin.budget().is_zero();
            spins += u32::from(spun);
            spin.slept(spun, LONG);
        }
        assert!(spins <= 16, "{spins} spins for nothing");
        for _ in 0..SPINS_FROM {
            spin.slept(false, QUICK);
        }
        assert_eq!(spin.budget(), CAP);
    }

    #[test]
    fn a_spin_that_is_in_the_way_becomes_rare() {
        let mut spin = Spin::with_cpus(2);
        let mut spins = 0;
        for _ in 0..10_000 {
            let spun = !spin.budget().is_zero();
            spins += u32::from(spun);
            spin.slept(spun, QUICK);
        }
        assert!(spins < 200, "{spins} of 10000 waits spun");
    }
}
