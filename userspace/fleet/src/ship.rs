//! What an agent sends next.
//!
//! One request is under way at a time, so that order is that of the store. The state of the host goes first, and again
//! whenever it has changed: after days without a head, what matters now does not wait behind the history.

use std::time::Duration;

use crate::Position;

/// Before the first attempt after a failure.
const FIRST: Duration = Duration::from_millis(200);
/// Between attempts at most.
const LONGEST: Duration = Duration::from_secs(60);

/// What an agent may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes a second on the wire, on average; `None` for no limit.
    pub rate: Option<u64>,
    /// Between two states at least.
    pub state_gap: Duration,
    /// Between two states at most: the head takes a host that says nothing for silent.
    pub heartbeat: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rate: None,
            state_gap: Duration::from_secs(1),
            heartbeat: Duration::from_secs(10),
        }
    }
}

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send the state of the host.
    SendState,
    /// Send records that follow the cursor, or say by [`Shipper::caught_up`] that there are none.
    SendBatch {
        /// The newest record that the head has.
        cursor: Option<Position>,
    },
    /// Do nothing until this time, or until something changes.
    WaitUntil(Duration),
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The head answered with its cursor.
    Answered {
        /// The newest record that the head has.
        cursor: Option<Position>,
        /// Bytes that were sent.
        sent: usize,
    },
    /// No answer, or one that says to try again.
    Failed,
}

/// The shipping side of an agent, without clock and I/O: times are counted from any beginning.
#[derive(Clone, Debug)]
pub struct Shipper {
    limits: Limits,
    /// What the head has, once it has reported that.
    cursor: Option<Option<Position>>,
    /// Whether there may be records after it.
    behind: bool,
    state_changed: bool,
    /// When a state was answered last.
    state_at: Option<Duration>,
    sending_state: bool,
    failures: u32,
    not_before: Duration,
    /// The same of batches alone: a stream that is full takes states.
    batch_failures: u32,
    batch_not_before: Duration,
    /// When what was sent is paid for by the rate.
    paid_at: Duration,
}

impl Shipper {
    /// An agent that has just started and knows nothing.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            cursor: None,
            behind: true,
            state_changed: true,
            state_at: None,
            sending_state: false,
            failures: 0,
            not_before: Duration::ZERO,
            batch_failures: 0,
            batch_not_before: Duration::ZERO,
            paid_at: Duration::ZERO,
        }
    }

    /// The state of the host has changed.
    pub fn state_changed(&mut self) {
        self.state_changed = true;
    }

    /// The store has new records, or may have.
    pub fn grew(&mut self) {
        self.behind = true;
    }

    /// The store has nothing after the cursor.
    pub fn caught_up(&mut self) {
        self.behind = false;
    }

    /// What the head has, as it reported last.
    pub fn cursor(&self) -> Option<Position> {
        self.cursor.flatten()
    }

    /// Whether something else than states and batches may be sent at `now`: nothing failed lately.
    pub fn may_send(&self, now: Duration) -> bool {
        now >= self.not_before
    }

    /// Whether what was sent before is paid for at `now`: batches wait for that, and so do frames of sessions.
    pub fn is_paid(&self, now: Duration) -> bool {
        now >= self.paid_at
    }

    /// Bytes that were sent beside batches and states.
    pub fn spent(&mut self, now: Duration, sent: usize) {
        if let Some(rate) = self.limits.rate {
            let cost = Duration::from_secs_f64(sent as f64 / rate.max(1) as f64);
            self.paid_at = self.paid_at.max(now) + cost;
        }
    }

    /// Whether all that is known to be there has been taken.
    pub fn is_caught_up(&self) -> bool {
        self.cursor.is_some() && !self.behind && !self.state_changed
    }

    /// What to do at `now`. What it says to send has to be reported by [`Self::ended`] before the next call.
    pub fn next(&mut self, now: Duration) -> Action {
        if now < self.not_before {
            return Action::WaitUntil(self.not_before);
        }
        let state_due = match (self.cursor, self.state_at) {
            (None, _) | (_, None) => now,
            (_, Some(at)) if self.state_changed => at + self.limits.state_gap,
            (_, Some(at)) => at + self.limits.heartbeat,
        };
        if now >= state_due {
            self.sending_state = true;
            // Changes from now on are for the next one.
            self.state_changed = false;
            return Action::SendState;
        }
        let batch_due = self.paid_at.max(self.batch_not_before);
        match self.cursor {
            Some(cursor) if self.behind && now >= batch_due => Action::SendBatch { cursor },
            Some(_) if self.behind => Action::WaitUntil(batch_due.min(state_due)),
            _ => Action::WaitUntil(state_due),
        }
    }

    /// A request has ended. `chance`, from 0 to 1, chooses within the jitter: agents that lost a head together do not
    /// come back together.
    pub fn ended(&mut self, now: Duration, outcome: Outcome, chance: f64) {
        let was_state = std::mem::take(&mut self.sending_state);
        match outcome {
            Outcome::Answered { cursor, sent } => {
                self.failures = 0;
                let before = self.cursor.replace(cursor);
                if was_state {
                    // The head was put back, or lost what was on its way to it.
                    self.behind |= before.is_some_and(|before| before != cursor);
                    self.state_at = Some(now);
                } else {
                    self.batch_failures = 0;
                }
                self.spent(now, sent);
            }
            Outcome::Failed => {
                self.state_changed |= was_state;
                // The head that comes back may be another one, with a database that was put back.
                self.cursor = None;
                self.not_before = now + backoff(&mut self.failures, chance);
                if !was_state {
                    self.batch_not_before = now + backoff(&mut self.batch_failures, chance);
                }
            }
        }
    }
}

/// How long to wait after one more failure.
fn backoff(failures: &mut u32, chance: f64) -> Duration {
    let doubled = FIRST.saturating_mul(1_u32.checked_shl(*failures).unwrap_or(u32::MAX));
    *failures = failures.saturating_add(1);
    doubled
        .min(LONGEST)
        .mul_f64(0.5 + 0.5 * chance.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn answered(sent: usize) -> Outcome {
        Outcome::Answered { cursor: None, sent }
    }

    #[test]
    fn the_state_goes_before_the_history_and_again_when_it_changes() {
        let mut shipper = Shipper::new(Limits::default());
        assert_eq!(shipper.next(s(0)), Action::SendState);
        shipper.ended(s(0), answered(10), 0.0);
        let batch = Action::SendBatch { cursor: None };
        assert_eq!(shipper.next(s(0)), batch);
        shipper.state_changed();
        shipper.ended(s(2), answered(10), 0.0);
        assert_eq!(shipper.next(s(2)), Action::SendState);
        shipper.ended(s(2), answered(10), 0.0);
        assert_eq!(shipper.next(s(2)), batch);
        shipper.caught_up();
        assert_eq!(shipper.next(s(2)), Action::WaitUntil(s(12)));
        assert!(shipper.is_caught_up());
        shipper.grew();
        assert_eq!(shipper.next(s(3)), batch);
    }

    #[test]
    fn failures_wait_longer_each_time_and_up_to_a_minute() {
        let mut shipper = Shipper::new(Limits::default());
        let mut now = Duration::ZERO;
        let mut waits = Vec::new();
        for _ in 0..40 {
            assert_eq!(shipper.next(now), Action::SendState);
            shipper.ended(now, Outcome::Failed, 1.0);
            let Action::WaitUntil(until) = shipper.next(now) else {
                unreachable!("it has just failed");
            };
            waits.push(until - now);
            now = until;
        }
        assert_eq!(waits[..3], [200, 400, 800].map(Duration::from_millis));
        assert_eq!(waits.last(), Some(&LONGEST));
        assert_eq!(shipper.next(now), Action::SendState);
        shipper.ended(now, Outcome::Failed, 0.0);
        assert_eq!(shipper.next(now), Action::WaitUntil(now + LONGEST / 2));
    }

    #[test]
    fn batches_that_fail_wait_longer_each_time_while_states_are_answered() {
        let mut shipper = Shipper::new(Limits::default());
        let (mut now, mut failed) = (Duration::ZERO, Vec::new());
        while failed.len() < 12 {
            match shipper.next(now) {
                Action::SendState => shipper.ended(now, answered(0), 1.0),
                Action::SendBatch { .. } => {
                    failed.push(now);
                    shipper.ended(now, Outcome::Failed, 1.0);
                }
                Action::WaitUntil(until) => now = until,
            }
        }
        let waits: Vec<Duration> = failed.windows(2).map(|two| two[1] - two[0]).collect();
        assert_eq!(waits[..3], [200, 400, 800].map(Duration::from_millis));
        assert_eq!(waits.last(), Some(&LONGEST));
        // One that is answered ends that; states went on meanwhile.
        let batch = Action::SendBatch { cursor: None };
        let next = |shipper: &mut Shipper, mut now: Duration| {
            loop {
                match shipper.next(now) {
                    Action::SendState => shipper.ended(now, answered(0), 1.0),
                    Action::WaitUntil(until) => now = until,
                    action => return (action, now),
                }
            }
        };
        let (action, now) = next(&mut shipper, now);
        assert_eq!(action, batch);
        shipper.ended(now, answered(0), 1.0);
        assert_eq!(next(&mut shipper, now), (batch, now));
        shipper.ended(now, Outcome::Failed, 1.0);
        let first = now + Duration::from_millis(200);
        assert_eq!(next(&mut shipper, now), (batch, first));
    }

    #[test]
    fn no_more_bytes_are_sent_than_the_rate_allows() {
        let limits = Limits {
            rate: Some(1000),
            ..Limits::default()
        };
        let mut shipper = Shipper::new(limits);
        let (mut now, mut sent) = (Duration::ZERO, 0);
        while now < s(100) {
            match shipper.next(now) {
                Action::SendState => shipper.ended(now, answered(100), 0.0),
                Action::SendBatch { .. } => {
                    sent += 4000;
                    shipper.ended(now, answered(4000), 0.0);
                }
                Action::WaitUntil(until) => now = until,
            }
        }
        assert!((90_000..=104_000).contains(&sent), "{sent}");
    }

    #[test]
    fn a_backlog_under_a_rate_keeps_neither_questions_nor_frames_from_being_sent() {
        let limits = Limits {
            rate: Some(1000),
            ..Limits::default()
        };
        let mut shipper = Shipper::new(limits);
        let (mut now, mut batches, mut frames) = (Duration::ZERO, 0, 0);
        while now < s(100) {
            // As an agent does: frames go beside the batch for which there is room.
            let is_paid = shipper.is_paid(now);
            match shipper.next(now) {
                Action::SendState => shipper.ended(now, answered(0), 0.0),
                Action::SendBatch { .. } => {
                    batches += 4000;
                    shipper.ended(now, answered(4000), 0.0);
                }
                Action::WaitUntil(until) => now = until,
            }
            assert!(shipper.may_send(now), "{now:?}");
            if is_paid {
                frames += 1000;
                shipper.spent(now, 1000);
            }
        }
        assert!(batches >= 40_000 && frames >= 10_000, "{batches} {frames}");
        assert!(batches + frames <= 110_000, "{batches} {frames}");
    }
}
