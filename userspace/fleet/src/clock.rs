//! The offset of an agent's clock to that of the head, by exchanges as NTP makes them (RFC 5905, section 8).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Exchanges that are kept; the one with the least delay counts.
const KEPT: usize = 16;
/// How fast two clocks may drift apart, in parts per million: RFC 5905 takes 15 for the frequency tolerance.
const DRIFT_PPM: i64 = 15;

/// Times of one exchange, in nanoseconds since the Unix epoch, each by the clock of who measured it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The agent asked.
    pub asked: i64,
    /// The head took the question.
    pub taken: i64,
    /// The head answered.
    pub answered: i64,
    /// The agent had the answer.
    pub got: i64,
}

/// The head's clock less the agent's, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offset {
    /// The estimate.
    pub offset_ns: i64,
    /// The truth is not farther away from it than this.
    pub error_ns: i64,
}

/// Keeps exchanges and answers with the best.
#[derive(Clone, Debug, Default)]
pub struct ClockFilter {
    exchanges: VecDeque<Exchange>,
}

impl ClockFilter {
    /// Takes an exchange; one whose times cannot be (the head answered before it took the question) is dropped.
    pub fn add(&mut self, exchange: Exchange) {
        let Exchange {
            asked,
            taken,
            answered,
            got,
        } = exchange;
        if got < asked || answered < taken || got - asked < answered - taken {
            return;
        }
        // A step of this clock makes what was measured before worthless.
        if self.exchanges.back().is_some_and(|last| last.got > asked) {
            self.exchanges.clear();
        }
        self.exchanges.push_back(exchange);
        if self.exchanges.len() > KEPT {
            self.exchanges.pop_front();
        }
    }

    /// The offset at `now` of this clock: that of the exchange with the least error, which grows by the drift that
    /// clocks may have since. `None` before the first exchange.
    pub fn at(&self, now: i64) -> Option<Offset> {
        let offsets = self.exchanges.iter().map(|e| {
            let delay = (e.got - e.asked) - (e.answered - e.taken);
            let age = (now - e.got).abs();
            Offset {
                offset_ns: ((e.taken - e.asked) + (e.answered - e.got)) / 2,
                error_ns: delay / 2 + age / 1_000_000 * DRIFT_PPM + 1,
            }
        });
        offsets.min_by_key(|offset| offset.error_ns)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A simulated pair of clocks, with drift within what is allowed and delays of any asymmetry.
        #[test]
        fn the_truth_is_within_the_bound(
            offset in -1_000_000_000_000..1_000_000_000_000_i64,
            drift_ppm in -15..=15_i64,
            exchanges in prop::collection::vec((0..50_000_000_i64, 0..50_000_000_i64, 0..1_000_000_i64), 1..40),
            later in 0..60_000_000_000_i64,
        ) {
            // The head's clock is the reference; the agent's is behind by `offset` and drifts.
            let agent = |t: i64| t - offset + t / 1_000_000 * drift_ppm;
            let mut filter = ClockFilter::default();
            let mut now = 1_000_000_000_000;
            for (out, back, inside) in exchanges {
                let (taken, answered) = (now + out, now + out + inside);
                filter.add(Exchange { asked: agent(now), taken, answered, got: agent(answered + back) });
                now = answered + back + 1_000_000_000;
            }
            now += later;
            let found = filter.at(agent(now)).unwrap();
            let truth = now - agent(now);
            // Rounding of the simulated drift itself.
            prop_assert!((found.offset_ns - truth).abs() <= found.error_ns + 20, "{found:?} {truth}");
        }
    }

    #[test]
    fn times_that_cannot_be_are_dropped() {
        let mut filter = ClockFilter::default();
        filter.add(Exchange {
            asked: 10,
            taken: 50,
            answered: 40,
            got: 20,
        });
        assert_eq!(filter.at(0), None);
    }
}
