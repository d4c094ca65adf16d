//! How often a host sends totals with its state.

use std::time::{Duration, Instant};

use gtrace_event::Timestamp;

/// What changed so long ago goes again, as a state may be lost on its way.
const AGAIN: jiff::SignedDuration = jiff::SignedDuration::from_mins(15);
/// Between two times that all goes.
const ALL_EVERY: Duration = Duration::from_secs(3600);

/// When totals go with a state.
#[derive(Debug)]
pub struct Turn {
    every: Duration,
    sent: Option<Instant>,
    sent_all: Option<Instant>,
}

impl Turn {
    /// Who had GPUs.
    pub fn of_usage() -> Self {
        Self::every(Duration::from_secs(60))
    }

    /// How long calls took: some 100 KiB.
    pub fn of_latency() -> Self {
        Self::every(Duration::from_secs(300))
    }

    fn every(every: Duration) -> Self {
        Self {
            every,
            sent: None,
            sent_all: None,
        }
    }

    /// What has changed since then goes with a state of `now`: every so often that of the last quarter of an hour, once an hour all.
    pub fn next(&mut self, now: Instant) -> Option<Timestamp> {
        let since = self.due(now)?;
        self.done(now, since);
        Some(since)
    }

    /// The same for who may fail to get it, and says by [`Self::done`] that it did not.
    pub fn due(&self, now: Instant) -> Option<Timestamp> {
        let is_due = |sent: Option<Instant>, after| {
            sent.is_none_or(|sent| now.duration_since(sent) >= after)
        };
        if !is_due(self.sent, self.every) {
            return None;
        }
        if is_due(self.sent_all, ALL_EVERY) {
            return Some(Timestamp::MIN);
        }
        Some(
            Timestamp::now()
                .saturating_sub(AGAIN)
                .unwrap_or(Timestamp::MIN),
        )
    }

    /// What has changed since `since` goes with a state of `now`.
    pub fn done(&mut self, now: Instant, since: Timestamp) {
        self.sent = Some(now);
        if since == Timestamp::MIN {
            self.sent_all = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_goes_every_so_often_and_all_once_an_hour() {
        let mut turn = Turn::of_latency();
        let begin = Instant::now();
        let mut at = |seconds| turn.next(begin + Duration::from_secs(seconds));
        assert_eq!(at(0), Some(Timestamp::MIN));
        assert_eq!(at(299), None);
        assert!(at(300).is_some_and(|since| since > Timestamp::MIN));
        assert_eq!(at(599), None);
        assert_eq!(at(3600), Some(Timestamp::MIN));
    }

    #[test]
    fn what_could_not_be_had_is_due_until_it_is() {
        let mut turn = Turn::of_usage();
        let now = Instant::now();
        assert_eq!(turn.due(now), Some(Timestamp::MIN));
        assert_eq!(turn.due(now), Some(Timestamp::MIN));
        turn.done(now, Timestamp::MIN);
        assert_eq!(turn.due(now), None);
    }
}
