//! Time for headers and statistics.

use rustix::time::{ClockId, clock_gettime};

/// CLOCK_MONOTONIC, ns.
#[inline]
pub(crate) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec
        .cast_unsigned()
        .wrapping_mul(1_000_000_000)
        .wrapping_add(now.tv_nsec.cast_unsigned())
}

/// A duration as headers have it: at most 4.29 s.
#[inline]
pub(crate) fn short(ns: u64) -> u32 {
    u32::try_from(ns).unwrap_or(u32::MAX)
}
