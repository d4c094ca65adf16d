//! What housekeeping has reported of what the kernel goes on to add up: a thread that is started again reports what is more.

use std::collections::BTreeSet;

use gtrace_abi::Counter;

use crate::samples::Rises;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Reported {
    counters: Vec<(Counter, u64)>,
    pub(super) latency: Rises,
    hung: BTreeSet<Call>,
}

/// A call: thread and start.
pub(super) type Call = (u64, u64);

impl Reported {
    /// By how much each of the probes' counters is more than was ever reported.
    pub(super) fn losses(&mut self, now: Vec<(Counter, u64)>) -> Vec<(Counter, u64)> {
        let mut risen = Vec::new();
        for (i, (counter, value)) in now.into_iter().enumerate() {
            if i == self.counters.len() {
                self.counters.push((counter, 0));
            }
            let before = &mut self.counters[i].1;
            if value > *before {
                risen.push((counter, value - *before));
                *before = value;
            }
        }
        risen
    }

    /// Those of the calls that have been under way for too long that were not reported as hung. One that was stays so although its
    /// thread runs now and then in it.
    pub(super) fn not_yet_hung(&mut self, under_way: &BTreeSet<Call>) -> BTreeSet<Call> {
        self.hung.retain(|call| under_way.contains(call));
        under_way - &self.hung
    }

    /// These hang, and are reported.
    pub(super) fn add_hung(&mut self, calls: &BTreeSet<Call>) {
        self.hung.extend(calls);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_reported_once_also_by_a_thread_that_has_replaced_another() {
        let mut reported = Reported::default();
        let counters = |full| vec![(Counter::LogRingFull, full), (Counter::LogCut, 1)];
        assert_eq!(reported.losses(counters(5)), counters(5));
        // The next thread begins with what the kernel has.
        assert!(reported.losses(counters(5)).is_empty());
        assert_eq!(reported.losses(counters(7)), [(Counter::LogRingFull, 2)]);
    }

    #[test]
    fn a_call_that_hangs_is_reported_once_though_its_thread_runs_now_and_then() {
        let mut reported = Reported::default();
        let calls = BTreeSet::from([(7, 100), (8, 100)]);
        let mut hung = |in_call: &[u64]| {
            let mut new = reported.not_yet_hung(&calls);
            new.retain(|(thread, _)| in_call.contains(thread));
            reported.add_hung(&new);
            new.into_iter()
                .map(|(thread, _)| thread)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            [hung(&[7]), hung(&[]), hung(&[7])],
            [vec![7], vec![], vec![]]
        );
        assert_eq!(hung(&[7, 8]), [8]);
        // The next call of the thread.
        let next = BTreeSet::from([(7, 200)]);
        assert_eq!(reported.not_yet_hung(&next), next);
    }
}
