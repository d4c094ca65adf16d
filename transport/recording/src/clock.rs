//! The clock of recordings: the time stamp counter where it ticks evenly, else CLOCK_BOOTTIME.

// The counter is read by an instruction.
#![allow(unsafe_code)]

use std::time::{Duration, Instant};

/// How ticks become nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Nanoseconds of a tick, times 2^32; 0: ticks are those of [`boottime`], in nanoseconds.
    mult: u64,
}

impl Scale {
    /// Ticks are nanoseconds of CLOCK_BOOTTIME.
    pub const BOOTTIME: Self = Self { mult: 0 };

    /// From [`Self::mult`].
    pub const fn new(mult: u64) -> Self {
        Self { mult }
    }

    /// Nanoseconds of a tick of the counter, times 2^32; 0 for CLOCK_BOOTTIME.
    pub const fn mult(self) -> u64 {
        self.mult
    }

    /// Now, in ticks.
    #[inline(always)]
    pub fn ticks(self) -> u64 {
        match self.mult {
            0 => boottime(),
            _ => counter(),
        }
    }

    /// Nanoseconds that so many ticks take.
    #[inline(always)]
    pub const fn nanos(self, ticks: u64) -> u64 {
        match self.mult {
            0 => ticks,
            mult => ((ticks as u128 * mult as u128) >> 32) as u64,
        }
    }

    /// Ticks of so many nanoseconds.
    pub const fn ticks_of(self, nanos: u64) -> u64 {
        match self.mult {
            0 => nanos,
            mult => (((nanos as u128) << 32) / mult as u128) as u64,
        }
    }

    /// The scale of this machine. Takes 20 ms, in which counter and clock are compared.
    pub fn measure() -> Self {
        if !counter_is_even() {
            return Self::BOOTTIME;
        }
        let first = Pair::now();
        std::thread::sleep(Duration::from_millis(20));
        let second = Pair::now();
        let (ticks, nanos) = (
            second.ticks.wrapping_sub(first.ticks),
            second.boottime_ns.saturating_sub(first.boottime_ns),
        );
        match (u128::from(nanos) << 32).checked_div(u128::from(ticks)) {
            // Between 16 GHz and 16 MHz.
            Some(mult) if (1 << 28..1 << 38).contains(&mult) => Self { mult: mult as u64 },
            _ => Self::BOOTTIME,
        }
    }
}

/// The counter and CLOCK_BOOTTIME at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The counter.
    pub ticks: u64,
    /// CLOCK_BOOTTIME, nanoseconds.
    pub boottime_ns: u64,
}

impl Pair {
    /// Both now: of several readings the one in which the least time lay between the two.
    pub fn now() -> Self {
        let begun = Instant::now();
        let mut best: Option<(u64, Self)> = None;
        for _ in 0..32 {
            let before = counter();
            let boottime_ns = boottime();
            let took = counter().wrapping_sub(before);
            if best.is_none_or(|(least, _)| took < least) {
                let ticks = before.wrapping_add(took / 2);
                best = Some((took, Self { ticks, boottime_ns }));
            }
            if begun.elapsed() > Duration::from_millis(5) {
                break;
            }
        }
        best.map_or(
            Self {
                ticks: 0,
                boottime_ns: 0,
            },
            |(_, pair)| pair,
        )
    }
}

/// CLOCK_BOOTTIME, nanoseconds.
pub fn boottime() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a place for the time. The clock exists since Linux 2.6.39.
    unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The time stamp counter.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn counter() -> u64 {
    // SAFETY: every processor of this architecture has it.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// There is none that this program knows of.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn counter() -> u64 {
    boottime()
}

/// Whether the counter ticks evenly in all states of the processor: "invariant TSC", bit 8 of EDX of
/// CPUID 0x8000_0007 (Intel SDM, volume 3, 18.17.1), and the kernel has not found it to be wrong.
#[cfg(target_arch = "x86_64")]
fn counter_is_even() -> bool {
    use std::arch::x86_64::__cpuid;
    let has = |leaf: u32| __cpuid(0x8000_0000).eax >= leaf;
    let even = has(0x8000_0007) && __cpuid(0x8000_0007).edx & (1 << 8) != 0;
    // The kernel takes "hpet" and "acpi_pm" only where it distrusts the counter; the clocks of hypervisors
    // ("kvm-clock", "hyperv_clocksource_tsc_page") are made from it.
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let source = std::fs::read_to_string(source).unwrap_or_default();
    even && !["hpet", "acpi_pm", "jiffies", "refined-jiffies"].contains(&source.trim())
}

#[cfg(not(target_arch = "x86_64"))]
fn counter_is_even() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_become_nanoseconds() {
        // 2.5 GHz.
        let scale = Scale::new((2 << 32) / 5);
        assert!(scale.nanos(2_500_000_000).abs_diff(1_000_000_000) < 2);
        assert!(scale.ticks_of(1_000_000_000).abs_diff(2_500_000_000) < 2);
        assert_eq!(
            (Scale::BOOTTIME.nanos(7), Scale::BOOTTIME.ticks_of(7)),
            (7, 7)
        );
    }

    #[test]
    fn the_clock_goes_on() {
        let scale = Scale::measure();
        let before = scale.ticks();
        let clock = boottime();
        std::thread::sleep(Duration::from_millis(30));
        let (took, reported) = (scale.nanos(scale.ticks() - before), boottime() - clock);
        // The thread may wait between the two readings, so only that they are of one magnitude.
        assert!(
            took >= 29_000_000 && took < reported * 2 + 1_000_000_000,
            "{took} {reported}"
        );
    }
}
