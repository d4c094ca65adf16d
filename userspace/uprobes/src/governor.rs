//! Keeps what the probes cost within a share of the traced processes' CPU time.
//!
//! A probe's cost is what was measured on gtrace's own functions ([`crate::TrapCost`]) times the calls.
//! Above the budget the most expensive functions are first timed only now and then, where that is cheaper
//! and enough, and otherwise given up.

use crate::instruction::Class;

/// Of the calls of a function, one in so many is timed when all would be too expensive.
pub(crate) const SAMPLE_EVERY: u32 = 64;

/// What one function's probes did in a period.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Load {
    /// Number of the function.
    pub(crate) function: u32,
    /// Calls.
    pub(crate) calls: u64,
    /// Its first instruction.
    pub(crate) class: Class,
    /// Nanoseconds that a timed call pays, and one that is only counted.
    pub(crate) timed_ns: f64,
    /// See above.
    pub(crate) counted_ns: f64,
    /// One call in so many is timed.
    pub(crate) time_every: u32,
    /// Whether it may be timed only now and then: its results are not needed one by one.
    pub(crate) can_sample: bool,
}

impl Load {
    /// Nanoseconds that the probes took.
    pub(crate) fn cost_ns(&self) -> f64 {
        self.cost_at(self.time_every)
    }

    /// The same, if one call in `every` were timed.
    pub(crate) fn cost_at(&self, every: u32) -> f64 {
        let every = f64::from(every.max(1));
        let mean = self.timed_ns / every + self.counted_ns * (1.0 - 1.0 / every);
        self.calls as f64 * mean
    }
}

/// What to do with a function.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    /// Time one call in [`SAMPLE_EVERY`], count the others.
    Sample {
        /// Number of the function.
        function: u32,
        /// Share of the processes' CPU time that its probes took.
        share: f64,
    },
    /// Take its probes away.
    Shed {
        /// Number of the function.
        function: u32,
        /// Share of the processes' CPU time that its probes took.
        share: f64,
    },
}

/// What keeps the cost of `loads` within `budget`, a share of `cpu_ns`, the CPU time of the traced
/// processes in the same period. Nothing if it is within, or if nobody has worked.
pub(crate) fn decide(loads: &[Load], cpu_ns: f64, budget: f64) -> Vec<Action> {
    let mut actions = Vec::new();
    if cpu_ns <= 0.0 {
        return actions;
    }
    let mut left: Vec<&Load> = loads.iter().collect();
    left.sort_by(|a, b| b.cost_ns().total_cmp(&a.cost_ns()));
    let mut cost: f64 = left.iter().map(|load| load.cost_ns()).sum();
    for load in left {
        // What the probes take is part of what the processes take.
        if cost <= budget * cpu_ns {
            break;
        }
        let share = load.cost_ns() / cpu_ns;
        let function = load.function;
        let sampled = load.cost_at(SAMPLE_EVERY);
        let rest = cost - load.cost_ns();
        if load.can_sample && load.time_every < SAMPLE_EVERY && rest + sampled <= budget * cpu_ns {
            actions.push(Action::Sample { function, share });
            cost = rest + sampled;
        } else {
            actions.push(Action::Shed { function, share });
            cost = rest;
        }
    }
    actions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(function: u32, calls: u64) -> Load {
        Load {
            function,
            calls,
            class: Class::Emulated,
            timed_ns: 1000.0,
            counted_ns: 400.0,
            time_every: 1,
            can_sample: true,
        }
    }

    #[test]
    fn within_the_budget_nothing_is_done() {
        // 1 % of a second is 10 ms: 10,000 calls of 1 us.
        assert!(decide(&[load(1, 9_999)], 1e9, 0.01).is_empty());
        assert!(decide(&[load(1, 1_000_000)], 0.0, 0.01).is_empty());
        assert!(decide(&[], 1e9, 0.01).is_empty());
    }

    #[test]
    fn the_dearest_is_sampled_if_that_is_enough() {
        let actions = decide(&[load(1, 1_000), load(2, 15_000)], 1e9, 0.01);
        let share = 0.015;
        assert_eq!(actions, [Action::Sample { function: 2, share }]);
    }

    #[test]
    fn what_is_too_dear_even_when_sampled_is_given_up_and_the_rest_stays() {
        let loads = [load(1, 1_000), load(2, 900_000), load(3, 12_000)];
        let actions = decide(&loads, 1e9, 0.01);
        assert_eq!(
            actions,
            [
                Action::Shed {
                    function: 2,
                    share: 0.9
                },
                Action::Sample {
                    function: 3,
                    share: 0.012
                },
            ]
        );
    }

    #[test]
    fn what_is_sampled_already_or_must_not_be_is_given_up() {
        let mut sampled = load(1, 1_000_000);
        sampled.time_every = SAMPLE_EVERY;
        let mut tracking = load(2, 15_000);
        tracking.can_sample = false;
        for one in [sampled, tracking] {
            let actions = decide(&[one], 1e9, 0.01);
            assert!(matches!(actions[..], [Action::Shed { .. }]), "{actions:?}");
        }
    }
}
