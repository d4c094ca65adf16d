//! Whether the wall clock can be trusted with what is too old to keep.

use gtrace_event::Timestamp;

/// For so long it must have gone with the clock of the boot. A host that starts with a wrong time
/// gets the right one from the network within minutes.
const STEADY_FOR_NS: u64 = 3600 * 1_000_000_000;
/// So much apart they still go together.
const TOLERANCE_NS: i128 = 60 * 1_000_000_000;

/// Compares the wall clock with the time since boot, which nobody sets.
#[derive(Debug, Default)]
pub struct SteadyClock {
    /// How far the wall clock is ahead of the time since boot, and since when.
    seen: Option<(i128, u64)>,
}

impl SteadyClock {
    /// Whether the wall clock, which says `now` at `boot_ns`, was not set for an hour. `boot_ns` may count from any beginning.
    pub fn is_steady(&mut self, now: Timestamp, boot_ns: u64) -> bool {
        let ahead = now.as_nanosecond() - i128::from(boot_ns);
        let since = match self.seen {
            Some((before, since)) if (ahead - before).abs() <= TOLERANCE_NS => since,
            _ => boot_ns,
        };
        // The newest distance, as clocks drift.
        self.seen = Some((ahead, since));
        boot_ns.saturating_sub(since) >= STEADY_FOR_NS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_set_is_trusted_only_after_an_hour() {
        let mut clock = SteadyClock::default();
        let mut look = |year: &str, minutes: u64| {
            let midnight: Timestamp = format!("{year}-11-23T00:00:00Z").parse().unwrap();
            let ns = minutes * 60 * 1_000_000_000;
            let now = midnight.as_nanosecond() + i128::from(ns);
            clock.is_steady(Timestamp::from_nanosecond(now).unwrap(), ns)
        };
        // A host that starts 25 years ahead, and gets the time after 20 minutes.
        assert!(!look("2051", 0));
        assert!(!look("2051", 19));
        assert!(!look("2026", 20));
        assert!(!look("2026", 79));
        assert!(look("2026", 80));
        // Somebody sets it for a moment.
        assert!(!look("2051", 90));
        assert!(!look("2026", 91));
        assert!(!look("2026", 150));
        assert!(look("2026", 151));
    }
}
