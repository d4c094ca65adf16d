//! When the occurrences of one event were, and which of them a witness has not reported yet.

use std::collections::VecDeque;

/// Occurrences that are closer together share an entry: witnesses agree to seconds.
const MERGED_NS: u64 = 10_000_000;
/// How many entries are kept; at the densest they span 80 s, longer than any witness may be late.
const MAX_RUNS: usize = 8192;
/// Entries of an event whose times are known only as first and last.
const SPREAD: u64 = 1024;

/// Occurrences at about one time.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Of the first of them, since boot.
    at_ns: u64,
    /// Number of the occurrence after the last of them.
    end: u64,
}

/// Occurrences by number, oldest first. Numbers begin at 0 and stay when old entries are dropped.
#[derive(Debug)]
pub(super) struct Times {
    runs: VecDeque<Run>,
    /// Occurrences dropped from the front.
    base: u64,
}

impl Times {
    /// `count` occurrences at `at_ns`.
    pub(super) fn new(at_ns: u64, count: u64) -> Self {
        let run = Run { at_ns, end: count };
        Self {
            runs: VecDeque::from([run]),
            base: 0,
        }
    }

    /// `count` occurrences from `first_ns` to `last_ns`, in even steps.
    pub(super) fn spread(first_ns: u64, last_ns: u64, count: u64) -> Self {
        let runs = count.clamp(1, SPREAD);
        let step = last_ns.saturating_sub(first_ns) / runs.max(2).saturating_sub(1);
        let end = |run: u64| u128::from(count) * u128::from(run + 1) / u128::from(runs);
        let runs = (0..runs).map(|run| Run {
            at_ns: first_ns + run * step,
            // At most `count`.
            end: end(run) as u64,
        });
        Self {
            runs: runs.collect(),
            base: 0,
        }
    }

    /// Number of the occurrence that would come next.
    pub(super) fn end(&self) -> u64 {
        self.runs.back().map_or(self.base, |run| run.end)
    }

    /// `count` more at `at_ns`, or at the newest if that is later: the list stays sorted.
    pub(super) fn push(&mut self, at_ns: u64, count: u64) {
        let end = self.end() + count;
        match self.runs.back_mut() {
            Some(run) if at_ns.saturating_sub(run.at_ns) < MERGED_NS => run.end = end,
            _ => self.runs.push_back(Run { at_ns, end }),
        }
        if self.runs.len() > MAX_RUNS
            && let Some(oldest) = self.runs.pop_front()
        {
            self.base = oldest.end;
        }
    }

    /// Takes the newest occurrence away.
    pub(super) fn pop(&mut self) {
        let Some(mut newest) = self.runs.pop_back() else {
            return;
        };
        newest.end -= 1;
        if newest.end > self.end() {
            self.runs.push_back(newest);
        }
    }

    /// The first from `next` on that is not before `earliest_ns`, and how many from there on are not
    /// after `latest_ns`.
    pub(super) fn within(&self, next: u64, earliest_ns: u64, latest_ns: u64) -> (u64, u64) {
        let before = |at_ns: u64, or_at: bool| {
            let lies_before = |run: &Run| run.at_ns < at_ns || (or_at && run.at_ns == at_ns);
            match self.runs.partition_point(lies_before).checked_sub(1) {
                Some(last) => self.runs[last].end,
                None => self.base,
            }
        };
        let first = next.max(before(earliest_ns, false));
        (first, before(latest_ns, true).saturating_sub(first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn a_witness_finds_what_it_has_not_reported_by_time() {
        let mut times = Times::new(S, 1);
        times.push(5 * S, 1_000_000);
        times.push(9 * S, 1);
        assert_eq!(times.end(), 1_000_002);
        assert_eq!(times.within(0, 0, 20 * S), (0, 1_000_002));
        assert_eq!(times.within(0, 2 * S, 6 * S), (1, 1_000_000));
        assert_eq!(times.within(700, 2 * S, 6 * S), (700, 999_301));
        assert_eq!(times.within(0, 10 * S, 20 * S), (1_000_002, 0));
        times.pop();
        assert_eq!(times.within(0, 6 * S, 20 * S), (1_000_001, 0));
        times.pop();
        assert_eq!(times.end(), 1_000_000);
    }

    #[test]
    fn old_times_are_dropped_and_numbers_stay() {
        let mut times = Times::new(0, 1);
        let more = 2 * MAX_RUNS as u64;
        for n in 1..=more {
            times.push(n * S, 1);
        }
        assert_eq!((times.end(), times.runs.len()), (more + 1, MAX_RUNS));
        assert_eq!(
            times.within(0, 0, more * S),
            (more + 1 - MAX_RUNS as u64, MAX_RUNS as u64)
        );
    }

    #[test]
    fn known_by_first_and_last_only_the_rest_lie_between() {
        for count in [1, 5, 3000] {
            let times = Times::spread(S, 3 * S, count);
            assert_eq!(times.within(0, 0, 3 * S), (0, count));
            assert_eq!(times.within(0, 4 * S, 5 * S).1, 0);
        }
        assert_eq!(Times::spread(S, 3 * S, 5).within(0, 0, 2 * S), (0, 3));
    }
}
