//! The offset of an agent's clock to that of the head, by exchanges as NTP makes them (RFC 5905, section 8).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Exchanges that are kept; the one with the least delay counts.
const KEPT: usize = 16;
/// How fast two clocks may drift apart, in parts per million: two of quartz, of which each is within 50. A clock that is set, or
/// slewed faster than that, shows in the next exchange.
const DRIFT_PPM: i64 = 100;

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
        let (whole, inside) = (got.checked_sub(asked), answered.checked_sub(taken));
        if whole
            .zip(inside)
            .is_none_or(|(whole, inside)| inside < 0 || whole < inside)
        {
            return;
        }
        // A step of either clock makes what was measured before worthless.
        let (new, before) = (offset_of(&exchange, got), self.at(got));
        let apart = before.is_some_and(|before| {
            let bounds = new.error_ns.saturating_add(before.error_ns);
            new.offset_ns.abs_diff(before.offset_ns) > bounds.unsigned_abs()
        });
        if apart || self.exchanges.back().is_some_and(|last| last.got > asked) {
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
        let offsets = self.exchanges.iter().map(|e| offset_of(e, now));
        offsets.min_by_key(|offset| offset.error_ns)
    }

    /// When the newest exchange ended, by this clock.
    pub fn newest(&self) -> Option<i64> {
        self.exchanges.back().map(|exchange| exchange.got)
    }
}

/// What an exchange says of the offset at `now`. Times from the network may be anything.
fn offset_of(e: &Exchange, now: i64) -> Offset {
    let delay = (e.got - e.asked).saturating_sub(e.answered - e.taken);
    let age = now.saturating_sub(e.got).saturating_abs();
    let (out, back) = (
        i128::from(e.taken) - i128::from(e.asked),
        i128::from(e.answered) - i128::from(e.got),
    );
    Offset {
        // Both are differences of times that fit.
        offset_ns: i64::try_from((out + back) / 2).unwrap_or(i64::MAX),
        error_ns: (delay / 2)
            .saturating_add(age / 1_000_000 * DRIFT_PPM)
            .saturating_add(1),
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
            drift_ppm in -100..=100_i64,
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
    fn a_clock_that_is_set_shows_in_the_next_exchange() {
        let mut filter = ClockFilter::default();
        // Both ways take 1 ms; the head's clock is set forward by 10 s between two exchanges.
        let exchange = |at: i64, offset: i64| Exchange {
            asked: at,
            taken: at + offset + 1_000_000,
            answered: at + offset + 1_000_000,
            got: at + 2_000_000,
        };
        for second in 0..5 {
            filter.add(exchange(second * 1_000_000_000, 0));
        }
        assert!(filter.at(5_000_000_000).unwrap().offset_ns.abs() <= 1_000_000);
        filter.add(exchange(5_000_000_000, 10_000_000_000));
        let found = filter.at(5_002_000_000).unwrap();
        assert!(
            (found.offset_ns - 10_000_000_000).abs() <= found.error_ns,
            "{found:?}"
        );
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
