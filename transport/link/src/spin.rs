//! How long a wait spins before it sleeps.
//!
//! A sleeper is woken some 5 to 50 us after what it waits for; who spins sees it at once. But who
//! spins on the CPU that the other side needs delays the very thing it waits for, and long waits
//! spin for nothing. So each half of each link learns from its own waits whether spinning pays. It begins by spinning, unless
//! the other side runs on this host and this process has one CPU, which may be the other side's too.

use std::sync::OnceLock;
use std::time::Duration;

/// Longest spin of one wait: about what a wake-up costs across CPUs of a virtual machine.
const CAP: Duration = Duration::from_micros(60);
/// A sleep that is shorter would perhaps have been spared by spinning.
const SHORT_SLEEP: Duration = Duration::from_micros(120);
/// Score from which on a wait spins.
const SPINS_FROM: i16 = 4;
const START: i16 = 8;
/// The same where both sides may have one CPU only: some short sleeps come before a spin.
const START_TOGETHER: i16 = -4;
/// What the first spin costs there that was in the way.
const PENALTY_TOGETHER: i16 = 16;
const MOST: i16 = 16;
const LEAST: i16 = -256;
const PENALTY_MOST: i16 = 128;

/// Where the other side runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// On this host, perhaps on the same CPU.
    ThisHost,
    /// On another one, whose CPUs it uses.
    AnotherHost,
}

/// What one half of a link has learnt.
#[derive(Debug)]
pub(crate) struct Spin {
    cap: Duration,
    score: i16,
    penalty: i16,
}

impl Spin {
    /// Of a half whose other side is where `peer` says.
    pub(crate) fn new(peer: Peer) -> Self {
        Self::with_cpus(cpus(), peer)
    }

    /// Never spins: for a socket's room, which comes in large pieces anyway.
    pub(crate) fn never() -> Self {
        Self {
            cap: Duration::ZERO,
            score: LEAST,
            penalty: 2,
        }
    }

    fn with_cpus(cpus: usize, peer: Peer) -> Self {
        let (score, penalty) = match (cpus, peer) {
            (0 | 1, Peer::ThisHost) => (START_TOGETHER, PENALTY_TOGETHER),
            _ => (START, 2),
        };
        Self {
            cap: CAP,
            score,
            penalty,
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
    fn what_never_spins_does_not_learn_to() {
        let mut spin = Spin::never();
        for _ in 0..10_000 {
            spin.slept(false, QUICK);
        }
        assert_eq!(spin.budget(), Duration::ZERO);
    }

    #[test]
    fn one_cpu_is_no_reason_not_to_spin_for_another_host() {
        assert_eq!(Spin::with_cpus(1, Peer::AnotherHost).budget(), CAP);
    }

    /// A peer on this host that has a CPU of its own answers while this side spins; one on the same CPU does not.
    #[test]
    fn with_one_cpu_it_is_measured_whether_the_peer_has_another() {
        let mut apart = Spin::with_cpus(1, Peer::ThisHost);
        assert_eq!(apart.budget(), Duration::ZERO, "not before it is known");
        let mut spins = 0;
        for _ in 0..100 {
            match apart.budget().is_zero() {
                true => apart.slept(false, QUICK),
                false => {
                    apart.paid();
                    spins += 1;
                }
            }
        }
        assert!(spins > 85, "{spins} of 100 waits spun");
        let mut together = Spin::with_cpus(1, Peer::ThisHost);
        let mut spins = 0;
        for _ in 0..10_000 {
            let spun = !together.budget().is_zero();
            spins += u32::from(spun);
            together.slept(spun, QUICK);
        }
        assert!(spins < 100, "{spins} of 10000 waits spun in the way");
    }

    #[test]
    fn long_waits_end_spinning_and_short_ones_bring_it_back() {
        let mut spin = Spin::with_cpus(2, Peer::ThisHost);
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
        let mut spin = Spin::with_cpus(2, Peer::ThisHost);
        let mut spins = 0;
        for _ in 0..10_000 {
            let spun = !spin.budget().is_zero();
            spins += u32::from(spun);
            spin.slept(spun, QUICK);
        }
        assert!(spins < 200, "{spins} of 10000 waits spun");
    }
}
