use std::time::Duration;

use gtrace_event::{Kind, Severity, Timestamp};

use super::{Findings, Reading, rise};
use crate::{ClockEventReasons as Reasons, GpuSample, Violations};

/// A cause that is away for so long is over; before, its return is the same episode. Clocks at a
/// thermal or power limit go up and down many times a minute.
const QUIET: Duration = Duration::from_secs(60);
/// A protective cause that lasts is reported again after so long: health and incidents take it for over after half an hour without.
const AGAIN: Duration = Duration::from_secs(20 * 60);

struct Cause {
    reason: Reasons,
    severity: Severity,
    text: &'static str,
    metric: &'static str,
    /// The counter that shows what happened between two samples.
    counter: fn(&GpuSample) -> Option<u64>,
}

fn thermal_policy(sample: &GpuSample) -> Option<u64> {
    // Where there are counters of the single reasons, this one adds nothing.
    let Violations {
        sw_thermal_slowdown: None,
        hw_thermal_slowdown: None,
        thermal,
        ..
    } = sample.violations
    else {
        return None;
    };
    // And when a reason shows now, that one is reported.
    let shown = sample.clock_event_reasons.unwrap_or_default().0
        & (Reasons::SW_THERMAL_SLOWDOWN.0 | Reasons::HW_THERMAL_SLOWDOWN.0);
    (shown == 0).then_some(thermal)?
}

macro_rules! causes {
    ($($severity:ident $metric:literal $text:literal ($reason:expr) => $counter:expr;)*) => {
        [$(Cause {
            reason: $reason, severity: Severity::$severity, text: $text, metric: $metric, counter: $counter,
        }),*]
    };
}

const CAUSES: [Cause; 6] = causes! {
    Warning "gtrace_gpu_violation_seconds" "Hardware halved the clocks or more: the GPU is too hot"
        (Reasons::HW_THERMAL_SLOWDOWN) => |s| s.violations.hw_thermal_slowdown;
    Warning "gtrace_gpu_violation_seconds" "Hardware halved the clocks or more: the system's power supply asked for it"
        (Reasons::HW_POWER_BRAKE_SLOWDOWN) => |s| s.violations.hw_power_brake_slowdown;
    Warning "gtrace_gpu_violation_seconds" "The driver lowered the clocks: GPU or memory is too hot"
        (Reasons::SW_THERMAL_SLOWDOWN) => |s| s.violations.sw_thermal_slowdown;
    Warning "gtrace_gpu_violation_seconds" "Clocks were lowered for heat"
        (Reasons(0)) => thermal_policy;
    Warning "gtrace_gpu_clock_event_reason" "Hardware halved the clocks or more"
        (Reasons::HW_SLOWDOWN) => |_| None;
    Info "gtrace_gpu_violation_seconds" "The driver lowered the clocks: the power limit is reached"
        (Reasons::SW_POWER_CAP) => |s| s.violations.power;
};

/// What was seen of each cause.
#[derive(Debug, Default)]
pub(super) struct Episodes([Option<Episode>; CAUSES.len()]);

#[derive(Clone, Copy, Debug)]
struct Episode {
    seen: Timestamp,
    reported: Timestamp,
}

impl Episodes {
    pub(super) fn observe(
        &mut self,
        last: Option<&GpuSample>,
        now: &GpuSample,
        found: &mut Findings<'_>,
    ) {
        let reasons = now.clock_event_reasons.unwrap_or_default();
        let since = |time: Timestamp| now.time.duration_since(time).unsigned_abs();
        for (cause, episode) in CAUSES.iter().zip(&mut self.0) {
            let old = last.and_then(|l| (cause.counter)(l));
            let new = (cause.counter)(now);
            let rose = rise(old, new);
            if rose == 0 && !active(cause.reason, last, reasons) {
                continue;
            }
            let ongoing = episode.filter(|episode| since(episode.seen) < QUIET);
            let is_news = ongoing.is_none_or(|episode| {
                cause.severity > Severity::Info && since(episode.reported) >= AGAIN
            });
            let reported = ongoing.filter(|_| !is_news).map(|episode| episode.reported);
            *episode = Some(Episode {
                seen: now.time,
                reported: reported.unwrap_or(now.time),
            });
            if !is_news {
                continue;
            }
            let seconds = |ns: u64| ns as f64 / 1e9;
            let reading = Reading {
                metric: cause.metric,
                value: new.map(seconds),
                previous: old.map(seconds),
                limit: None,
            };
            let event = found.add((Kind::Throttle, cause.severity), cause.text, reading, 1);
            // A short one is over by now and shows in its counter only.
            event.detail.sample.reasons = Reasons(reasons.0 | cause.reason.0).names();
        }
    }
}

/// Whether `reason` shows now and counts.
fn active(reason: Reasons, last: Option<&GpuSample>, now: Reasons) -> bool {
    if reason != Reasons::HW_SLOWDOWN {
        return now.intersects(reason);
    }
    // It comes with its two causes, which are reported by name; alone it also shows for a moment
    // at any change of the performance state (nvml.h), so it must last.
    let named = Reasons(Reasons::HW_THERMAL_SLOWDOWN.0 | Reasons::HW_POWER_BRAKE_SLOWDOWN.0);
    let before = last.and_then(|l| l.clock_event_reasons).unwrap_or_default();
    now.intersects(reason) && before.intersects(reason) && !now.intersects(named)
}
