//! What housekeeping has reported of what the kernel goes on to add up: a thread that is started again reports what is more.

use std::collections::{BTreeMap, BTreeSet};

use gtrace_abi::{CMD_OPEN, CallStart, Counter};

use crate::samples::Rises;

/// A call that takes so many times what it may hangs, whatever it may wait for: as many GPUs have been initialised by then.
const LIMITS_MAX: u64 = 16;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Reported {
    counters: Vec<(Counter, u64)>,
    pub(super) latency: Rises,
    hung: BTreeSet<Call>,
    /// The calls of open(2) that were under way at the last poll.
    opens: BTreeSet<Call>,
    /// Since when a call that may have waited for some of them has waited for none that has ended.
    moved: BTreeMap<Call, u64>,
}

/// A call: thread and start.
pub(super) type Call = (u64, u64);

pub(super) fn call_of((id, start): &(u64, CallStart)) -> Call {
    (*id, start.boottime_ns)
}

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

    /// Those of the calls under way that take too long and were not reported as hung. One that was stays so although its thread runs now
    /// and then in it.
    ///
    /// RM initialises GPUs one after the other, under a lock for which other calls wait (`rm_init_adapter` in osapi.c). So a call may take `limit_ns`
    /// from the last end of an open(2) on. Only what began within its first `limit_ns` counts, and that for [`LIMITS_MAX`] of them: others,
    /// however many, do not hide that it hangs.
    pub(super) fn not_yet_hung(
        &mut self,
        under_way: &[(u64, CallStart)],
        now_ns: u64,
        limit_ns: u64,
    ) -> BTreeSet<Call> {
        let opens = under_way.iter().filter(|one| one.1.cmd == CMD_OPEN);
        let opens: BTreeSet<Call> = opens.map(call_of).collect();
        let ended = self.opens.difference(&opens).map(|(_, start)| *start);
        let first_ended = ended.min().unwrap_or(u64::MAX);
        self.opens = opens;
        let mut calls: BTreeSet<Call> = under_way.iter().map(call_of).collect();
        self.hung.retain(|call| calls.contains(call));
        self.moved.retain(|call, _| calls.contains(call));
        let waited = |(_, start): &&Call| first_ended < start.saturating_add(limit_ns);
        let moved = calls.iter().filter(waited).map(|call| (*call, now_ns));
        self.moved.extend(moved);
        calls.retain(|call| {
            let since = self.moved.get(call).unwrap_or(&call.1);
            let is_late = now_ns.saturating_sub(*since) >= limit_ns
                || now_ns.saturating_sub(call.1) >= limit_ns.saturating_mul(LIMITS_MAX);
            is_late && !self.hung.contains(call)
        });
        calls
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

    const IOCTL: u32 = 0xc020_462a;

    fn call(thread: u64, cmd: u32, boottime_ns: u64) -> (u64, CallStart) {
        let start = CallStart {
            cmd,
            boottime_ns,
            ..CallStart::default()
        };
        (thread, start)
    }

    #[test]
    fn a_call_that_hangs_is_reported_once_though_its_thread_runs_now_and_then() {
        let mut reported = Reported::default();
        let calls = [call(7, IOCTL, 100), call(8, IOCTL, 100)];
        let mut hung = |in_call: &[u64]| {
            let mut new = reported.not_yet_hung(&calls, 110, 10);
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
        let next = reported.not_yet_hung(&[call(7, IOCTL, 200)], 210, 10);
        assert_eq!(next, BTreeSet::from([(7, 200)]));
    }

    #[test]
    fn a_call_does_not_hang_while_gpus_that_it_may_wait_for_are_initialised() {
        let mut reported = Reported::default();
        let control = call(9, IOCTL, 101);
        // Eight at once, each of which takes 4.
        for after in (5..=30).step_by(5) {
            let opens = (after / 4..8).map(|thread| call(thread, CMD_OPEN, 100));
            let calls: Vec<_> = opens.chain([control]).collect();
            let hung = reported.not_yet_hung(&calls, 100 + after, 10);
            assert!(hung.is_empty(), "after {after}: {hung:?}");
        }
        // The last goes on and on.
        let calls = [call(7, CMD_OPEN, 100), control];
        let hung = |now_ns| reported.not_yet_hung(&calls, now_ns, 10).len();
        assert_eq!([135, 140].map(hung), [0, 2]);
    }

    #[test]
    fn a_call_hangs_however_many_gpus_are_opened_after_it() {
        let mut reported = Reported::default();
        // There is another whenever it is looked.
        let hung = |now_ns: u64| {
            let calls = [call(1, IOCTL, 100), call(now_ns, CMD_OPEN, now_ns - 1)];
            reported
                .not_yet_hung(&calls, now_ns, 10)
                .contains(&(1, 100))
        };
        let times = [105, 110, 115, 120, 125];
        assert_eq!(times.map(hung), [false, false, false, false, true]);
    }

    #[test]
    fn a_call_hangs_however_many_opens_that_began_with_it_end() {
        let mut reported = Reported::default();
        // Of a thousand threads, one each time.
        let mut hung = |after: u64| {
            let opens = (after / 5..1000).map(|thread| call(thread, CMD_OPEN, 100));
            let calls: Vec<_> = opens.chain([call(1000, IOCTL, 100)]).collect();
            let hung = reported.not_yet_hung(&calls, 100 + after, 10);
            hung.contains(&(1000, 100))
        };
        let first = (5..1000).step_by(5).find(|after| hung(*after));
        assert_eq!(first, Some(160));
    }

    #[test]
    fn a_call_that_hangs_is_reported_once_though_others_end() {
        let mut reported = Reported::default();
        let control = call(1, IOCTL, 100);
        let both = reported.not_yet_hung(&[control, call(2, CMD_OPEN, 100)], 110, 10);
        assert_eq!(both.len(), 2);
        reported.add_hung(&both);
        for now_ns in [115, 120, 125, 130] {
            assert!(reported.not_yet_hung(&[control], now_ns, 10).is_empty());
        }
    }
}
