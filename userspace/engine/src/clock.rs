//! Clocks: time since boot, the wall clock, and the kernel log's own.
#![allow(unsafe_code)] // adjtimex(2) has no safe wrapper

use gtrace_event::{Event, Timestamp};
use rustix::time::{ClockId, clock_gettime};

/// CLOCK_BOOTTIME now, nanoseconds.
pub fn boottime_ns() -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000) + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// The wall-clock time of `boottime_ns`, by the clocks as they stand now.
pub fn wall_time(boottime_ns: u64) -> Timestamp {
    let now = Timestamp::now();
    let ago = i128::from(self::boottime_ns()) - i128::from(boottime_ns);
    Timestamp::from_nanosecond(now.as_nanosecond() - ago).unwrap_or(now)
}

/// When the newest occurrence of `event` was, since boot: so much later than the first as the wall clock showed then, however that was
/// set since. `None` where it is not known, as of a clock that went back between the two.
pub fn last_boottime_ns(event: &Event) -> Option<u64> {
    let last = event.last_time.unwrap_or(event.time);
    let later = u64::try_from(last.duration_since(event.time).as_nanos()).ok()?;
    Some(event.boottime_ns?.saturating_add(later))
}

/// How the kernel's clock is disciplined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Synchronisation {
    /// Whether something keeps it right.
    pub synchronised: bool,
    /// What is being corrected, us.
    pub offset_us: i64,
    /// How far off it may be, us.
    pub max_error_us: i64,
}

/// Asks the kernel how its clock is disciplined.
pub fn synchronisation() -> std::io::Result<Synchronisation> {
    // SAFETY: all bytes 0 are a value of this structure of integers; with `modes` 0 nothing is changed.
    let mut state: libc::timex = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is valid for the call, which fills the structure.
    let result = unsafe { libc::adjtimex(&raw mut state) };
    if result < 0 {
        return Err(std::io::Error::last_os_error());
    }
    let unit = match state.status & libc::STA_NANO {
        0 => 1,
        _ => 1000,
    };
    Ok(Synchronisation {
        synchronised: state.status & libc::STA_UNSYNC == 0,
        offset_us: state.offset / unit,
        max_error_us: state.maxerror,
    })
}

/// How long the host was suspended since boot, nanoseconds: CLOCK_MONOTONIC does not count that.
fn suspended_ns() -> i128 {
    let monotonic = clock_gettime(ClockId::Monotonic);
    let monotonic_ns = i128::from(monotonic.tv_sec) * 1_000_000_000 + i128::from(monotonic.tv_nsec);
    i128::from(boottime_ns()) - monotonic_ns
}

/// Turns the kernel log's time stamps into time since boot.
///
/// The kernel stamps records with the scheduler's clock, which starts a little after boot, stops
/// in suspend and is not disciplined by NTP; the distance to CLOCK_BOOTTIME is therefore learnt
/// from records read right after they were logged: the smallest distance seen lately is the best.
#[derive(Clone, Debug)]
pub struct LogClock {
    offset_ns: i128,
    learnt: bool,
    /// How long the host had been suspended when that was learnt.
    suspended_ns: i128,
    /// When they were read, and the distances.
    recent: [(u64, i128); Self::WINDOW],
    next: usize,
}

impl LogClock {
    /// How many fresh records the distance is learnt from.
    const WINDOW: usize = 32;
    /// How long one counts, unless it is the newest: the clocks drift apart.
    const LASTS_NS: u64 = 600_000_000_000;
    /// A suspend is longer than what lies between two readings of clocks.
    const SUSPEND_NS: i128 = 100_000_000;

    /// A clock that knows nothing yet but how long the host was suspended.
    pub fn new() -> Self {
        let suspended_ns = suspended_ns();
        Self {
            offset_ns: suspended_ns,
            learnt: false,
            suspended_ns,
            recent: [(0, i128::MAX); Self::WINDOW],
            next: 0,
        }
    }

    /// Learns from a record stamped `stamp_us` that was read at `now_ns`, just after it was
    /// logged.
    pub fn learn(&mut self, stamp_us: u64, now_ns: u64) {
        self.learn_suspended(stamp_us, now_ns, suspended_ns());
    }

    /// The same where the host was suspended for so long in all.
    fn learn_suspended(&mut self, stamp_us: u64, now_ns: u64, suspended_ns: i128) {
        if suspended_ns - self.suspended_ns > Self::SUSPEND_NS {
            // The clock of the log was stopped: distances of before are too short.
            self.recent = [(0, i128::MAX); Self::WINDOW];
            self.suspended_ns = suspended_ns;
        }
        let distance = i128::from(now_ns) - i128::from(stamp_us) * 1000;
        self.recent[self.next] = (now_ns, distance);
        self.next = (self.next + 1) % Self::WINDOW;
        let is_valid = |read_ns: u64| now_ns.saturating_sub(read_ns) <= Self::LASTS_NS;
        let valid = self.recent.iter().filter(|(read_ns, _)| is_valid(*read_ns));
        self.offset_ns = valid
            .map(|(_, distance)| *distance)
            .fold(distance, i128::min);
        self.learnt = true;
    }

    /// Whether the distance was measured.
    pub fn learnt(&self) -> bool {
        self.learnt
    }

    /// Time since boot of a record stamped `stamp_us`, nanoseconds.
    pub fn boottime_ns(&self, stamp_us: u64) -> u64 {
        u64::try_from(i128::from(stamp_us) * 1000 + self.offset_ns).unwrap_or(0)
    }
}

impl Default for LogClock {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_clock_takes_the_quickest_record_and_forgets_old_ones() {
        let mut clock = LogClock::new();
        clock.learn(1_000, 1_000_000 + 900_000);
        clock.learn(2_000, 2_000_000 + 500_000);
        clock.learn(3_000, 3_000_000 + 700_000);
        assert_eq!(clock.boottime_ns(10_000), 10_000_000 + 500_000);
        for i in 0..LogClock::WINDOW as u64 {
            clock.learn(i, i * 1000 + 800_000);
        }
        assert_eq!(clock.boottime_ns(0), 800_000);
    }

    #[test]
    fn a_quiet_log_whose_clock_is_slow_does_not_keep_to_what_was_learnt_long_ago() {
        let mut clock = LogClock::new();
        let day = 86_400_000_000_u64;
        // 20 us a second.
        let at = |us: u64| us * 1000 + us / 50;
        clock.learn(day, at(day));
        clock.learn(11 * day, at(11 * day));
        let stamp = 11 * day + 1_000_000;
        assert!(clock.boottime_ns(stamp).abs_diff(at(stamp)) < 100_000);
    }

    #[test]
    fn what_is_logged_after_a_short_suspend_happened_then() {
        let mut clock = LogClock::new();
        let (before, minutes) = (clock.suspended_ns, 300_000_000_000_u64);
        for us in 1..40 {
            clock.learn_suspended(us, us * 1000 + 500, before);
        }
        assert_eq!(clock.boottime_ns(40), 40_500);
        let resumed_ns = 40_500 + minutes;
        clock.learn_suspended(40, resumed_ns, before + i128::from(minutes));
        assert_eq!(clock.boottime_ns(40), resumed_ns);
    }

    #[test]
    fn wall_time_of_now_is_now() {
        let distance = Timestamp::now().duration_since(wall_time(boottime_ns()));
        assert!(distance.abs().as_secs() < 1);
    }
}
