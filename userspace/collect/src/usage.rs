//! How often a host says who had its GPUs for how long.

use std::time::{Duration, Instant};

use gtrace_event::Timestamp;

/// When usage goes with a state.
#[derive(Debug, Default)]
pub struct UsageTurn {
    sent: Option<Instant>,
    sent_all: Option<Instant>,
}

impl UsageTurn {
    /// Rows that were seen since then go with a state of `now`: once a minute those of the last quarter of an hour, as a state may be lost
    /// on its way; once an hour all.
    pub fn next(&mut self, now: Instant) -> Option<Timestamp> {
        let is_due = |sent: Option<Instant>, seconds| {
            sent.is_none_or(|sent| now.duration_since(sent) >= Duration::from_secs(seconds))
        };
        if !is_due(self.sent, 60) {
            return None;
        }
        self.sent = Some(now);
        if is_due(self.sent_all, 3600) {
            self.sent_all = Some(now);
            return Some(Timestamp::MIN);
        }
        Some(
            Timestamp::now()
                .saturating_sub(jiff::SignedDuration::from_mins(15))
                .unwrap_or(Timestamp::MIN),
        )
    }
}
