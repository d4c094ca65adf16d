//! The clock of the records: CLOCK_REALTIME, or what the program has registered. The client's library reports CLOCK_MONOTONIC;
//! times between two readings of both are interpolated.

// clock_gettime(2), and a function of the program.
#![allow(unsafe_code)]

use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

/// `CUpti_TimestampCallbackFunc`
pub(crate) type Callback = unsafe extern "C" fn() -> u64;

/// Readings of which the quickest counts.
const READINGS: usize = 8;
/// Between two readings that times are interpolated between there is to be so much.
const APART: Duration = Duration::from_millis(2);

static CALLBACK: AtomicPtr<()> = AtomicPtr::new(null_mut());

/// From now on `callback` is the clock.
pub(crate) fn set(callback: Option<Callback>) {
    let address = callback.map_or(null_mut(), |callback| callback as *mut ());
    CALLBACK.store(address, Ordering::Release);
}

fn system(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is writable, and the clock exists.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// Now.
pub(crate) fn now() -> u64 {
    let callback = CALLBACK.load(Ordering::Acquire);
    match callback.is_null() {
        true => system(libc::CLOCK_REALTIME),
        // SAFETY: what `set` was given.
        false => unsafe { transmute::<*mut (), Callback>(callback)() },
    }
}

/// One moment by both clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moment {
    ns: u64,
    clock: u64,
}

impl Moment {
    pub(crate) fn now() -> Self {
        let mut best = (u64::MAX, Self::default());
        for _ in 0..READINGS {
            let before = system(libc::CLOCK_MONOTONIC);
            let clock = now();
            let took = system(libc::CLOCK_MONOTONIC).saturating_sub(before);
            if took < best.0 {
                let ns = before + took / 2;
                best = (took, Self { ns, clock });
            }
        }
        best.1
    }
}

/// From CLOCK_MONOTONIC to the records' clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    from: Moment,
    to: Moment,
}

impl Scale {
    /// By what was read at `from`, and now.
    pub(crate) fn since(from: Moment) -> Self {
        let mut to = Moment::now();
        let apart = Duration::from_nanos(to.ns.saturating_sub(from.ns));
        if apart < APART {
            std::thread::sleep(APART - apart);
            to = Moment::now();
        }
        Self { from, to }
    }

    /// The time of the records' clock at `ns`.
    pub(crate) fn at(&self, ns: u64) -> u64 {
        let wide = |a: u64, b: u64| i128::from(a) - i128::from(b);
        let apart = wide(self.to.ns, self.from.ns).max(1);
        let clock = wide(self.to.clock, self.from.clock);
        let since = wide(ns, self.from.ns);
        let time = i128::from(self.from.clock) + since * clock / apart;
        u64::try_from(time.max(0)).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_interpolated_also_beyond_both_readings() {
        let scale = Scale {
            from: Moment {
                ns: 1_000,
                clock: 50_000,
            },
            to: Moment {
                ns: 2_000,
                clock: 53_000,
            },
        };
        assert_eq!(scale.at(1_000), 50_000);
        assert_eq!(scale.at(1_500), 51_500);
        assert_eq!(scale.at(2_100), 53_300);
        assert_eq!(scale.at(900), 49_700);
        assert_eq!(scale.at(0), 47_000);
    }

    #[test]
    fn a_moment_is_now() {
        let before = now();
        let moment = Moment::now();
        assert!(before <= moment.clock && moment.clock <= now());
    }
}
