//! What is kept of a lane's frames until their times are known and taken, and how the server's clock compares with the client's.

use std::collections::VecDeque;

use gtrace_protocol::{Header, Times, WorkTimes, Works};

use crate::clock;

/// Calls whose times are not reported yet, and such whose times nobody has taken yet; what is more is not reported.
const MOST: usize = 1 << 16;
/// For how long a comparison of the two clocks counts, ns: they differ by some tens of microseconds a second.
const COMPARED_NS: u64 = 1_000_000_000;
/// After that they may have drifted apart by one part of so many: 100 ppm.
const DRIFT: u64 = 10_000;

/// A call as the server executed it; times are nanoseconds ago, by the client's clock.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneWay {
    /// When it was sent, in the tracing library's ticks: within the program's call.
    called: u64,
    begun_ago: u64,
    ended_ago: u64,
    /// For how long it had waited in the server.
    queue_ns: u64,
    /// By how much the two clocks may be misjudged.
    off_ns: u64,
}

/// What the GPU did for a call; times are nanoseconds ago, by the client's clock.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    /// What the tracing library knows the call by.
    pub(super) token: u64,
    begun_ago: u64,
    ended_ago: u64,
    /// By how much that may be wrong.
    off_ns: u64,
}

/// A call, by the server's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported {
    called: u64,
    begun_ns: u64,
    queue_ns: u32,
    exec_ns: u32,
}

/// The server's clock less the client's, by an exchange whose way there took as long as the way back, or else is off by
/// half of what both took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compared {
    pub(super) ahead: u64,
    wire_ns: u64,
    at_ns: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// Frames that were sent: their numbers, and when.
    pub(super) sent: VecDeque<(u64, u64)>,
    pub(super) reported: VecDeque<Reported>,
    compared: Option<Compared>,
    /// Frames whose work is timed: their numbers, and of which calls they are.
    pub(super) timed: VecDeque<(u64, u64)>,
    pub(super) works: VecDeque<(u64, WorkTimes)>,
}

impl Kept {
    pub(super) fn sent(&mut self, seq: u64, now: u64) {
        // Another connection begins anew.
        if self.sent.back().is_some_and(|(last, _)| *last >= seq) {
            self.sent.clear();
        }
        if self.sent.len() < MOST {
            self.sent.push_back((seq, now));
        }
    }

    pub(super) fn reported(&mut self, times: &Times) {
        for call in &times.0 {
            while self.sent.front().is_some_and(|(seq, _)| *seq < call.seq) {
                self.sent.pop_front();
            }
            let Some((_, called)) = self.sent.pop_front_if(|(seq, _)| *seq == call.seq) else {
                continue;
            };
            if self.reported.len() < MOST {
                self.reported.push_back(Reported {
                    called,
                    begun_ns: call.begun_ns,
                    queue_ns: call.queue_ns,
                    exec_ns: call.exec_ns,
                });
            }
        }
    }

    pub(super) fn timed(&mut self, seq: u64, token: u64) {
        // Another connection begins anew.
        if self.timed.back().is_some_and(|(last, _)| *last >= seq) {
            self.timed.clear();
        }
        // Failed calls never get a time.
        if self.timed.len() == MOST {
            self.timed.pop_front();
        }
        self.timed.push_back((seq, token));
    }

    /// Streams are through with their work in any order.
    pub(super) fn reported_work(&mut self, works: &Works) {
        for work in &works.0 {
            let found = self.timed.binary_search_by_key(&work.seq, |(seq, _)| *seq);
            let Some((_, token)) = found.ok().and_then(|at| self.timed.remove(at)) else {
                continue;
            };
            if self.works.len() < MOST {
                self.works.push_back((token, *work));
            }
        }
    }

    /// How the clocks compare, unless that is too long ago: answers of several frames do not show it.
    pub(super) fn fresh(&self, now: u64) -> Option<Compared> {
        let fresh = |known: &Compared| now.saturating_sub(known.at_ns) <= COMPARED_NS;
        self.compared.filter(fresh)
    }

    /// What is not known yet, or cannot be taken.
    pub(super) fn missing(&self) -> usize {
        self.sent.len() + self.missing_work()
    }

    /// The same of the GPU's work.
    pub(super) fn missing_work(&self) -> usize {
        let waiting = match self.fresh(clock::now()) {
            Some(_) => 0,
            None => self.works.len(),
        };
        self.timed.len() + waiting
    }

    /// Whether there is nothing that could be taken.
    pub(super) fn is_empty(&self) -> bool {
        self.reported.is_empty() && self.works.is_empty()
    }

    pub(super) fn take_work(&mut self, now: u64) -> Option<Work> {
        let compared = self.fresh(now)?;
        let (token, work) = self.works.pop_front()?;
        let ago = |time: u64| now.saturating_sub(time.wrapping_sub(compared.ahead));
        Some(Work {
            token,
            begun_ago: ago(work.begun_ns),
            ended_ago: ago(work.ended_ns),
            off_ns: u64::from(work.off_ns) + compared.wire_ns / 2,
        })
    }

    pub(super) fn exchanged(&mut self, sent: u64, seen: u64, answer: &Header) {
        let there = u64::from(answer.queue_ns) + u64::from(answer.exec_ns);
        let wire_ns = seen.saturating_sub(sent).saturating_sub(there);
        let better = self.compared.is_none_or(|known| {
            wire_ns <= known.wire_ns || seen.saturating_sub(known.at_ns) > COMPARED_NS
        });
        if better {
            // The answer left the server half of the way before it was here.
            let ahead = answer.sent_ns.wrapping_sub(seen - (wire_ns / 2).min(seen));
            self.compared = Some(Compared {
                ahead,
                wire_ns,
                at_ns: seen,
            });
        }
    }

    pub(super) fn take(&mut self, now: u64) -> Option<OneWay> {
        let compared = self.compared?;
        let call = self.reported.pop_front()?;
        let begun = call.begun_ns.wrapping_sub(compared.ahead);
        let ended = begun.wrapping_add(call.exec_ns.into());
        let age = now.saturating_sub(compared.at_ns);
        Some(OneWay {
            called: call.called,
            begun_ago: now.saturating_sub(begun),
            ended_ago: now.saturating_sub(ended),
            queue_ns: call.queue_ns.into(),
            off_ns: compared.wire_ns / 2 + age.saturating_sub(COMPARED_NS) / DRIFT,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtrace_protocol::CallTimes;

    const MS: u64 = 1_000_000;

    fn call(seq: u64, begun_ns: u64) -> CallTimes {
        CallTimes {
            seq,
            begun_ns,
            queue_ns: 5,
            exec_ns: 7,
        }
    }

    fn answer(sent_ns: u64) -> Header {
        Header {
            sent_ns,
            queue_ns: 100,
            exec_ns: 200,
            ..Header::default()
        }
    }

    /// A server whose clock is an hour behind.
    #[test]
    fn times_are_by_the_clients_clock() {
        let hour = 3_600_000 * MS;
        let now = 2 * hour;
        let mut kept = Kept::default();
        for seq in [3, 4, 9] {
            kept.sent(seq, seq * 10);
        }
        assert!(kept.take(now).is_none());
        // One that was not sent from here, and one whose times are not known.
        kept.reported(&Times(vec![
            call(2, 0),
            call(3, now - hour - 5 * MS),
            call(9, 0),
        ]));
        // 1000 ns on the way there, and as much back.
        kept.exchanged(now - 2300, now, &answer(now - 1000 - hour));
        let first = kept.take(now).unwrap();
        assert_eq!((first.called, first.begun_ago), (30, 5 * MS));
        assert_eq!((first.ended_ago, first.queue_ns), (5 * MS - 7, 5));
        assert_eq!(first.off_ns, 1000);
        let later = kept.take(now + 11 * COMPARED_NS).unwrap();
        assert_eq!((later.called, later.off_ns), (90, 1_001_000));
        assert!(kept.take(now).is_none() && kept.sent.is_empty());
    }

    #[test]
    fn the_quickest_exchange_of_the_last_second_counts() {
        let mut kept = Kept::default();
        let wire = |kept: &Kept| kept.compared.unwrap().wire_ns;
        kept.exchanged(10 * MS, 10 * MS + 1300, &answer(0));
        kept.exchanged(20 * MS, 20 * MS + 9300, &answer(0));
        assert_eq!(wire(&kept), 1000);
        kept.exchanged(30 * MS, 30 * MS + 800, &answer(0));
        assert_eq!(wire(&kept), 500);
        kept.exchanged(1100 * MS, 1100 * MS + 5300, &answer(0));
        assert_eq!(wire(&kept), 5000);
    }

    #[test]
    fn times_of_work_wait_for_a_comparison_that_is_not_too_old() {
        let mut kept = Kept::default();
        kept.exchanged(MS, MS + 1300, &answer(0));
        kept.timed(3, 30);
        kept.reported_work(&Works(vec![WorkTimes {
            seq: 3,
            ..WorkTimes::default()
        }]));
        let late = MS + 1300 + COMPARED_NS + 1;
        assert!(kept.take_work(late).is_none());
        kept.exchanged(late, late + 1300, &answer(0));
        assert_eq!(kept.take_work(late + 1300).unwrap().token, 30);
    }

    #[test]
    fn work_of_streams_comes_in_any_order() {
        let mut kept = Kept::default();
        for seq in [3, 5, 8, 9] {
            kept.timed(seq, seq * 10);
        }
        let work = |seq, begun_ns| WorkTimes {
            seq,
            begun_ns,
            ended_ns: begun_ns + 7,
            off_ns: 4,
        };
        let now = 100 * MS;
        kept.reported_work(&Works(vec![
            work(8, now - 50),
            work(4, 0),
            work(3, now - 60),
        ]));
        assert!(
            kept.take_work(now).is_none(),
            "the clocks were not compared"
        );
        kept.exchanged(now - 2300, now, &answer(now - 1000));
        let first = kept.take_work(now).unwrap();
        assert_eq!(
            (first.token, first.begun_ago, first.ended_ago),
            (80, 50, 43)
        );
        assert_eq!(first.off_ns, 1004);
        assert_eq!(kept.take_work(now).unwrap().token, 30);
        assert!(kept.take_work(now).is_none());
        assert_eq!(kept.timed, [(5, 50), (9, 90)]);
        kept.timed(1, 2);
        assert_eq!(kept.timed, [(1, 2)]);
    }

    #[test]
    fn a_new_connection_begins_anew() {
        let mut kept = Kept::default();
        kept.sent(5, 1);
        kept.sent(1, 2);
        kept.reported(&Times(vec![call(1, 0)]));
        assert_eq!(kept.reported.front().unwrap().called, 2);
    }
}
