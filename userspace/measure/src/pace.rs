//! When calls are made: by a schedule that does not wait for them.
//!
//! A loop that makes a call when the one before is done hides stalls: while one call takes a second, the thousand
//! that should have come in it are not made and not measured ("coordinated omission", Gil Tene). Here call `i` is due
//! at `start + i x interval`, whatever the calls before it took, and what is reported about it is the time from when it
//! was due until it was done. Beside it stand the time of the call alone, and that time corrected as
//! HdrHistogram's `recordValueWithExpectedInterval` does.

use std::time::{Duration, Instant};

use gtrace_profile::Histogram;
use serde::{Deserialize, Serialize};

/// Waits longer than this are slept through, all but their end: a program that does nothing else is not charged for
/// spinning. The end is spun, so that a late wake-up of this thread is not counted as the call's time.
const SLEEP_FROM: Duration = Duration::from_millis(2);
/// What of a wait is spun.
const SPUN_END: Duration = Duration::from_micros(500);
/// Calls whose times have room before the first is made.
const KEPT: usize = 1 << 20;
/// Least calls of a measurement, however long they take.
const LEAST: u64 = 3;

/// How many calls, for how long, and at what rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Most calls.
    pub calls: u64,
    /// Longest time for which calls are due.
    pub time: Duration,
    /// Calls a second; without it half of what a loop that waits for each call makes.
    pub rate: Option<f64>,
    /// After so many calls something is done that is not measured, and for which the schedule stands still.
    pub pause_every: Option<u64>,
}

/// What a schedule has found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Paced {
    /// Between two calls of the schedule, ns.
    pub interval_ns: u64,
    /// Mean of the calls of the loop before the schedule, which waits for each; ns.
    pub closed_loop_ns: u64,
    /// From when a call was due until it was done.
    pub response: Histogram,
    /// From a call's begin to its end.
    pub service: Histogram,
    /// `service`, corrected by HdrHistogram's `recordValueWithExpectedInterval` with the interval.
    pub corrected: Histogram,
    /// Calls that began after they were due by more than an interval.
    pub late: u64,
}

fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Measures `call` by a schedule, after a loop that warms it up and says what rate it can bear. `pause` is called as
/// [`Limits::pause_every`] says.
///
/// # Errors
///
/// The first of either.
pub(crate) fn paced<E>(
    limits: Limits,
    mut call: impl FnMut() -> Result<(), E>,
    mut pause: impl FnMut() -> Result<(), E>,
) -> Result<Paced, E> {
    let closed_loop_ns = warm_up(limits, &mut call, &mut pause)?;
    let interval_ns = match limits.rate {
        Some(rate) => (1e9 / rate.max(1e-3)) as u64,
        None => closed_loop_ns.saturating_mul(2),
    }
    .max(1);
    let fit = ns(limits.time) / interval_ns;
    let calls = limits.calls.min(fit).max(LEAST);
    // Kept as they are until the end: a histogram costs as much as a launch.
    let mut times = Vec::with_capacity(usize::try_from(calls).unwrap_or(0).min(KEPT));
    let mut late = 0;
    let every = limits.pause_every.unwrap_or(u64::MAX).max(1);
    // For how long the schedule was stalled.
    let mut still = Duration::ZERO;
    let start = Instant::now();
    // A rate that cannot be borne is measured as what it is, and not for ever.
    let give_up = limits
        .time
        .saturating_mul(3)
        .max(Duration::from_nanos(interval_ns * LEAST));
    for at in 0..calls {
        if at > 0 && at % every == 0 {
            let began = Instant::now();
            pause()?;
            still += began.elapsed();
        }
        let due = start + still + Duration::from_nanos(interval_ns.saturating_mul(at));
        wait_until(due);
        let began = Instant::now();
        call()?;
        let done = Instant::now();
        late += u64::from(ns(began.saturating_duration_since(due)) > interval_ns);
        times.push((ns(done.saturating_duration_since(due)), ns(done - began)));
        if at >= LEAST && done - start > give_up {
            break;
        }
    }
    pause()?;
    let mut found = Paced {
        interval_ns,
        closed_loop_ns,
        late,
        ..Paced::default()
    };
    for (response, service) in times {
        found.response.record(response);
        found.service.record(service);
        record_corrected(&mut found.corrected, service, interval_ns);
    }
    Ok(found)
}

/// A loop that waits for each call: a tenth of the calls and of the time. The mean of a call, ns: what a median would
/// leave out, such as the launch that sends those before it, is what a rate must leave room for.
fn warm_up<E>(
    limits: Limits,
    call: &mut impl FnMut() -> Result<(), E>,
    pause: &mut impl FnMut() -> Result<(), E>,
) -> Result<u64, E> {
    let every = limits.pause_every.unwrap_or(u64::MAX).max(1);
    let began = Instant::now();
    let mut times = Histogram::default();
    for at in 0..(limits.calls / 10).max(LEAST) {
        if at > 0 && at % every == 0 {
            pause()?;
        }
        let start = Instant::now();
        call()?;
        // The first loads code and connects.
        if at > 0 {
            times.record(ns(start.elapsed()));
        }
        if at >= LEAST && began.elapsed() > limits.time / 10 {
            break;
        }
    }
    pause()?;
    Ok((times.mean() as u64).max(1))
}

fn wait_until(due: Instant) {
    let left = due.saturating_duration_since(Instant::now());
    if left > SLEEP_FROM {
        std::thread::sleep(left - SPUN_END);
    }
    while Instant::now() < due {
        std::hint::spin_loop();
    }
}

/// As HdrHistogram's `recordValueWithExpectedInterval`: a value longer than the interval stands for the calls that
/// were not made meanwhile, which would have taken an interval less each.
fn record_corrected(histogram: &mut Histogram, value: u64, interval: u64) {
    histogram.record(value);
    let mut missing = value.saturating_sub(interval);
    while missing >= interval {
        histogram.record(missing);
        missing -= interval;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        calls: 50,
        time: Duration::from_secs(5),
        rate: Some(1_000.0),
        pause_every: None,
    };

    #[test]
    fn a_stall_counts_for_every_call_that_was_due_meanwhile() {
        let mut at = 0;
        let found = paced(
            LIMITS,
            || {
                at += 1;
                // After the loop that warms up, which makes five calls.
                if at == 16 {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Ok::<(), ()>(())
            },
            || Ok(()),
        )
        .unwrap();
        assert_eq!((found.interval_ns, found.response.count()), (1_000_000, 50));
        let above = |histogram: &Histogram, ns: u64| -> u64 {
            let all = histogram.buckets();
            all.filter(|(bucket, _)| gtrace_profile_midpoint(*bucket) > ns)
                .map(|(_, count)| count)
                .sum()
        };
        // The call alone was long once at least; those behind it were due every millisecond meanwhile.
        assert!(above(&found.service, 15_000_000) >= 1);
        assert!(above(&found.response, 2_000_000) >= 15);
        assert!(above(&found.corrected, 2_000_000) >= 15);
        assert!(found.late >= 15);
        assert!(found.response.max_ns() >= 20_000_000);
    }

    fn gtrace_profile_midpoint(bucket: u16) -> u64 {
        let one = Histogram::from_buckets(&[(bucket, 1)], 0, u64::MAX).unwrap();
        one.quantile(0.5)
    }

    #[test]
    fn pauses_are_made_and_the_number_of_calls_is_kept() {
        let (mut calls, mut pauses) = (0u64, 0);
        let limits = Limits {
            pause_every: Some(10),
            rate: None,
            ..LIMITS
        };
        let found = paced(
            limits,
            || {
                calls += 1;
                Ok::<(), ()>(())
            },
            || {
                pauses += 1;
                Ok(())
            },
        )
        .unwrap();
        assert_eq!(found.service.count(), 50);
        // Five to warm up, and after the loops one each, and four between.
        assert_eq!((calls, pauses), (55, 6));
        assert!(found.closed_loop_ns > 0);
        assert!(paced(limits, || Err(7), || Ok(())).is_err());
    }

    #[test]
    fn the_correction_is_that_of_hdrhistogram() {
        let mut corrected = Histogram::default();
        record_corrected(&mut corrected, 1_000_000, 100_000);
        record_corrected(&mut corrected, 50_000, 100_000);
        // 1,000,000, 900,000 and so on to 100,000; and the one that was in time.
        assert_eq!(corrected.count(), 11);
        assert_eq!(corrected.sum_ns(), 5_500_000 + 50_000);
    }
}
