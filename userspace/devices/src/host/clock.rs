//! Whether the host's clock is synchronised: without that, times of different hosts cannot be compared, and TLS and
//! Kerberos refuse to work.
//!
//! Source: adjtimex(2), which asks only. The kernel clears STA_UNSYNC when an NTP daemon sets the clock, and sets it again
//! when it has had no answer for so long that the error may be above 16 s (kernel/time/ntp.c).

use std::io;
use std::time::{Duration, Instant};

use super::part::{HostReading, HostRoots, HostState, Part, PartInfo, Unread};

pub(super) const INFO: PartInfo = PartInfo {
    name: "clock",
    gives: "whether the clock is synchronised, and how wrong it may be",
    needs: "adjtimex(2), which containers may be refused",
    remedy: "run an NTP daemon (chrony, systemd-timesyncd, ntpd); a filter of system calls must allow adjtimex",
    every: Duration::from_secs(60),
};

/// What the kernel says of its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// Whether something sets it by a better clock.
    pub synchronised: bool,
    /// How wrong it may be.
    pub max_error: Duration,
    /// How far it is off, as the daemon estimates.
    pub offset_ns: i64,
}

pub(super) struct Clock(pub(super) fn() -> io::Result<ClockReading>);

impl Part for Clock {
    fn read(&mut self, roots: &HostRoots, _now: Instant) -> Result<HostReading, Unread> {
        let clock = (self.0)().map_err(|error| {
            let why = format!("adjtimex(2): {error}");
            match error.kind() {
                io::ErrorKind::PermissionDenied => Unread::Absent(why),
                _ => Unread::Failed(why),
            }
        })?;
        let mut reading = HostReading::default();
        reading.metrics.extend(crate::metric_table! {
            gauge "gtrace_clock_synchronised" [""] "Whether the clock of the host is synchronised (1) or not (0)" =>
                f64::from(u8::from(clock.synchronised));
            gauge "gtrace_clock_max_error_seconds" ["seconds"] "How wrong the clock of the host may be" =>
                clock.max_error.as_secs_f64();
            gauge "gtrace_clock_offset_seconds" ["seconds"] "How far the clock of the host is off, as its daemon estimates" =>
                clock.offset_ns as f64 / 1e9;
        });
        if !clock.synchronised {
            let reason = "the clock is not synchronised: times cannot be compared with other hosts";
            reading.find(HostState::Degraded, reason.to_owned());
        } else if clock.max_error > roots.thresholds.clock_error {
            let reason = format!(
                "the clock may be wrong by {:.1} s: its daemon has had no answer for a while",
                clock.max_error.as_secs_f64()
            );
            reading.find(HostState::Degraded, reason);
        }
        let off = Duration::from_nanos(clock.offset_ns.unsigned_abs());
        if clock.synchronised && off > roots.thresholds.clock_offset {
            let reason = format!("the clock is off by {:.3} s", clock.offset_ns as f64 / 1e9);
            reading.find(HostState::Degraded, reason);
        }
        Ok(reading)
    }
}

#[cfg(test)]
mod tests {
    use super::super::part::value;
    use super::*;

    fn read(clock: fn() -> io::Result<ClockReading>) -> Result<HostReading, Unread> {
        let roots = HostRoots::new("/nonexistent".into(), "/nonexistent".into());
        Clock(clock).read(&roots, Instant::now())
    }

    const GOOD: ClockReading = ClockReading {
        synchronised: true,
        max_error: Duration::from_millis(20),
        offset_ns: -1_500_000,
    };

    #[test]
    fn only_a_synchronised_clock_with_a_small_error_is_healthy() {
        let good = read(|| Ok(GOOD)).unwrap();
        assert_eq!(good.state, HostState::Healthy);
        assert_eq!(
            value(&good, "gtrace_clock_offset_seconds", &[]),
            Some(-0.0015)
        );
        let lost = read(|| {
            Ok(ClockReading {
                max_error: Duration::from_secs(3),
                ..GOOD
            })
        });
        assert_eq!(lost.unwrap().state, HostState::Degraded);
        let never = read(|| {
            Ok(ClockReading {
                synchronised: false,
                ..GOOD
            })
        });
        let never = never.unwrap();
        assert_eq!(never.state, HostState::Degraded);
        assert_eq!(value(&never, "gtrace_clock_synchronised", &[]), Some(0.0));
    }

    #[test]
    fn a_refusal_is_no_fault_of_the_host() {
        let refused = read(|| Err(io::Error::from(io::ErrorKind::PermissionDenied)));
        assert!(matches!(refused, Err(Unread::Absent(_))));
        let failed = read(|| Err(io::Error::other("x")));
        assert!(matches!(failed, Err(Unread::Failed(_))));
    }
}
