//! Slow and failed calls, as events report them.

use gtrace_event::{Event, Kind, Occurrence, Timestamp};
use gtrace_report::{Call, CallLayer};

/// The call of an event; `None` where it is about something else. Repeats are in the event's count.
pub(super) fn of_event(event: &Event) -> Option<Call> {
    of_occurrence(event.time, &Occurrence::from(event))
}

/// As [`of_event`], of one call.
pub(super) fn of_occurrence(time: Timestamp, event: &Occurrence) -> Option<Call> {
    if !matches!(event.kind, Kind::SlowCall | Kind::ApiError) {
        return None;
    }
    let detail = &event.detail.api;
    let operation = detail.op.as_ref().or(detail.ioctl.as_ref());
    let known = detail
        .code_name
        .as_ref()
        .filter(|name| *name != "unreadable");
    let code = known.or(detail.code.as_ref());
    let name = match (operation, code) {
        (Some(operation), Some(code)) => format!("{operation} {code}"),
        (Some(one), None) | (None, Some(one)) => one.clone(),
        (None, None) => "driver call".to_owned(),
    };
    // The event is made when the call returns, or when it has not for long enough.
    let latency =
        jiff::SignedDuration::from_nanos(i64::try_from(detail.latency_ns.unwrap_or(0)).ok()?);
    let status = detail.status_name.clone().or_else(|| detail.status.clone());
    let errno = detail
        .errno
        .map(|errno| std::io::Error::from_raw_os_error(errno).to_string());
    let process = event.process.as_ref();
    Some(Call {
        start: time.checked_sub(latency).ok()?,
        duration_ns: detail.latency_ns,
        returned: detail.returned != Some(false),
        layer: CallLayer::Driver,
        name,
        status: status.or(errno).filter(|_| event.kind == Kind::ApiError),
        pid: process.and_then(|process| process.pid),
        comm: process.and_then(|process| process.comm.clone()),
        gpu: event
            .gpu
            .as_ref()
            .and_then(|gpu| gpu.pci)
            .map(|pci| pci.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use gtrace_event::{Occurrence, Severity, WitnessName};

    use super::*;

    #[test]
    fn a_slow_call_began_before_its_event_and_is_no_failure() {
        let time: gtrace_event::Timestamp = "2026-03-03T04:05:06Z".parse().unwrap();
        let mut occurrence = Occurrence::new(Kind::SlowCall, Severity::Warning, "slow");
        occurrence.detail.api.op = Some("RM_CONTROL".to_owned());
        occurrence.detail.api.code = Some("0x20800102".to_owned());
        occurrence.detail.api.latency_ns = Some(1_500_000_000);
        occurrence.detail.api.errno = Some(5);
        let mut event = Event::seen(time, WitnessName::DriverIoctl, 1, occurrence);
        let call = of_event(&event).unwrap();
        assert_eq!(call.start.to_string(), "2026-03-03T04:05:04.5Z");
        assert_eq!(
            (call.name.as_str(), call.status),
            ("RM_CONTROL 0x20800102", None)
        );
        event.kind = Kind::ApiError;
        assert!(
            of_event(&event)
                .unwrap()
                .status
                .unwrap()
                .contains("Input/output error")
        );
        event.kind = Kind::Xid;
        assert_eq!(of_event(&event), None);
    }
}
