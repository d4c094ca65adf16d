//! When what the budget took away may come back.
//!
//! Of a function that is sampled every call is still counted, so that what all of them timed would cost is
//! known. Of one whose probes are gone nothing is known: it is put back on trial, so rarely that
//! trials alone stay far below the budget, and less often each time that one fails.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::governor::Load;

/// What comes back must leave the probes at this share of the budget: else it would go and come.
const ROOM: f64 = 0.5;
/// A sampled function is timed again after so many periods in a row with room for it.
const CALM_PERIODS: u32 = 5;
/// Trials may take this share of the budget.
const TRIALS: f64 = 0.25;

/// A function without probes.
#[derive(Clone, Copy, Debug)]
struct Away {
    /// Nobody tries before.
    until: Instant,
    wait: Duration,
}

/// What has been taken away, and when it was given back.
#[derive(Debug)]
pub(crate) struct Recovery {
    /// Waits are at least this long, and at most.
    bounds: (Duration, Duration),
    away: BTreeMap<u32, Away>,
    /// On trial: when it began, and the wait before it.
    tried: BTreeMap<u32, (Instant, Duration)>,
    calm: BTreeMap<u32, u32>,
}

/// A function stays without probes for so long at most.
const MOST: Duration = Duration::from_secs(600);

impl From<Duration> for Recovery {
    /// Waits are so long at least.
    fn from(least: Duration) -> Self {
        Self::within(least, MOST)
    }
}

impl Recovery {
    /// Waits are `least` at least and `most` at most.
    pub(crate) fn within(least: Duration, most: Duration) -> Self {
        Self {
            bounds: (least, most.max(least)),
            away: BTreeMap::new(),
            tried: BTreeMap::new(),
            calm: BTreeMap::new(),
        }
    }

    /// The probes of a function were taken away, as they took `share` of the CPU time in a period of
    /// `period`; how long it will be without them.
    pub(crate) fn took_away(
        &mut self,
        function: u32,
        share: f64,
        budget: f64,
        period: Duration,
        now: Instant,
    ) -> Duration {
        let (least, most) = self.bounds;
        let fair = period.as_secs_f64() * share / (budget * TRIALS).max(f64::MIN_POSITIVE);
        let fair = Duration::try_from_secs_f64(fair).unwrap_or(most);
        let again = match self.tried.remove(&function) {
            // It did well for as long as it had been away: another time, not the same one.
            Some((since, wait)) if now.duration_since(since) < wait => wait * 2,
            _ => Duration::ZERO,
        };
        let wait = fair.max(again).clamp(least, most);
        self.calm.remove(&function);
        let until = now + wait;
        self.away.insert(function, Away { until, wait });
        wait
    }

    /// Functions whose probes are to be put back now, given what the others cost in a period.
    pub(crate) fn due(
        &mut self,
        loads: &[Load],
        cpu_ns: f64,
        budget: f64,
        now: Instant,
    ) -> Vec<u32> {
        let cost: f64 = loads.iter().map(Load::cost_ns).sum();
        if cost > ROOM * budget * cpu_ns {
            return Vec::new();
        }
        let due = |(function, away): (&u32, &Away)| (away.until <= now).then_some(*function);
        let due: Vec<u32> = self.away.iter().filter_map(due).collect();
        for function in &due {
            if let Some(away) = self.away.remove(function) {
                self.tried.insert(*function, (now, away.wait));
            }
        }
        due
    }

    /// Sampled functions every call of which can be timed again.
    pub(crate) fn calm(&mut self, loads: &[Load], cpu_ns: f64, budget: f64) -> Vec<u32> {
        let mut cost: f64 = loads.iter().map(Load::cost_ns).sum();
        let mut back = Vec::new();
        for load in loads.iter().filter(|load| load.time_every > 1) {
            let more = load.cost_at(1) - load.cost_ns();
            if cost + more > ROOM * budget * cpu_ns {
                self.calm.remove(&load.function);
                continue;
            }
            let periods = self.calm.entry(load.function).or_default();
            *periods += 1;
            if *periods >= CALM_PERIODS {
                self.calm.remove(&load.function);
                cost += more;
                back.push(load.function);
            }
        }
        back
    }
}

#[cfg(test)]
mod tests {
    use std::slice;

    use super::*;
    use crate::governor::SAMPLE_EVERY;
    use crate::instruction::Class;

    const SECOND: Duration = Duration::from_secs(1);
    const LEAST: Duration = Duration::from_secs(10);

    fn load(function: u32, calls: u64, time_every: u32) -> Load {
        Load {
            function,
            calls,
            class: Class::Emulated,
            timed_ns: 1000.0,
            counted_ns: 400.0,
            time_every,
            can_sample: true,
        }
    }

    #[test]
    fn trials_alone_stay_below_a_quarter_of_the_budget_and_those_that_fail_become_rarer() {
        let mut recovery = Recovery::from(LEAST);
        let start = Instant::now();
        // A second at 30 % in 120 s is 0.25 %.
        let wait = recovery.took_away(1, 0.3, 0.01, SECOND, start);
        assert_eq!(wait.as_secs_f64().round(), 120.0);
        assert!(recovery.due(&[], 1e9, 0.01, start + wait / 2).is_empty());
        let back = start + wait;
        assert_eq!(recovery.due(&[], 1e9, 0.01, back), [1]);
        assert!(recovery.due(&[], 1e9, 0.01, back).is_empty());
        let again = recovery.took_away(1, 0.3, 0.01, SECOND, back + SECOND);
        assert_eq!(again, wait * 2);
        // Never forgotten for good.
        let mut now = back;
        for _ in 0..10 {
            now += Duration::from_secs(601);
            assert_eq!(recovery.due(&[], 1e9, 0.01, now), [1]);
            let wait = recovery.took_away(1, 0.9, 0.01, SECOND, now + SECOND);
            assert!(wait <= Duration::from_secs(600), "{wait:?}");
        }
    }

    #[test]
    fn what_did_well_for_as_long_as_it_was_away_begins_anew() {
        let mut recovery = Recovery::from(LEAST);
        let start = Instant::now();
        let wait = recovery.took_away(1, 0.02, 0.01, SECOND, start);
        assert_eq!(wait, Duration::from_secs(10));
        assert_eq!(recovery.due(&[], 1e9, 0.01, start + wait), [1]);
        let later = start + wait * 3;
        assert_eq!(recovery.took_away(1, 0.02, 0.01, SECOND, later), wait);
    }

    #[test]
    fn nothing_comes_back_while_the_others_need_more_than_half_of_the_budget() {
        let mut recovery = Recovery::from(LEAST);
        let start = Instant::now();
        let wait = recovery.took_away(1, 0.02, 0.01, SECOND, start);
        let late = start + wait;
        // 1 % of a second is 10,000 calls of 1 us.
        assert!(
            recovery
                .due(&[load(2, 6_000, 1)], 1e9, 0.01, late)
                .is_empty()
        );
        assert_eq!(recovery.due(&[load(2, 4_000, 1)], 1e9, 0.01, late), [1]);
    }

    #[test]
    fn a_sampled_function_is_timed_again_after_a_while_with_room_for_all_its_calls() {
        let mut recovery = Recovery::from(LEAST);
        let (calm, busy) = (load(1, 4_000, SAMPLE_EVERY), load(1, 6_000, SAMPLE_EVERY));
        for _ in 1..CALM_PERIODS {
            assert!(recovery.calm(slice::from_ref(&calm), 1e9, 0.01).is_empty());
        }
        // One busy second, and it begins again.
        assert!(recovery.calm(&[busy], 1e9, 0.01).is_empty());
        for _ in 1..CALM_PERIODS {
            assert!(recovery.calm(slice::from_ref(&calm), 1e9, 0.01).is_empty());
        }
        assert_eq!(recovery.calm(&[calm], 1e9, 0.01), [1]);
    }
}
