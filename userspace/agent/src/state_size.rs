//! How large a state of a host may be, and what of it goes first.

use std::collections::BTreeSet;

use gtrace_fleet::HostState;

/// Bytes of a state at most.
const STATE_MAX: usize = 448 * 1024;
/// Bytes of its incidents at most, so that totals have room.
const INCIDENTS_MAX: usize = 256 * 1024;

/// Makes a state small enough: what is bad stays longest. What of it was too large, and is left out.
pub(crate) fn bound(state: &mut HostState) -> BTreeSet<&'static str> {
    let mut left_out = BTreeSet::new();
    if let Some(report) = &mut state.health {
        for subject in &mut report.subjects {
            subject.past.clear();
        }
        report.subjects.retain(|subject| {
            subject.state.is_bad() || subject.subject.part == gtrace_event::SubjectKind::Host
        });
        report.subjects.truncate(64);
    }
    let surplus = state.incidents.len().saturating_sub(32);
    state.incidents.drain(..surplus);
    let (count, mut room) = (state.incidents.len(), INCIDENTS_MAX);
    // The newest stay.
    state.incidents.reverse();
    state.incidents.retain(|incident| {
        let size = serde_json::to_vec(incident).map_or(0, |text| text.len() + 1);
        let fits = size <= room;
        room -= if fits { size } else { 0 };
        fits
    });
    state.incidents.reverse();
    if state.incidents.len() < count {
        left_out.insert("older incidents");
    }
    while serde_json::to_vec(state).is_ok_and(|text| text.len() > STATE_MAX) {
        // The next state of its kind has them again.
        if !state.latency.is_empty() {
            state.latency.truncate(state.latency.len() / 2);
            left_out.insert("latencies of calls");
            continue;
        }
        if !state.usage.is_empty() || !state.ends.is_empty() {
            state.usage.clear();
            state.ends.clear();
            left_out.insert("GPU-hours");
            continue;
        }
        if state.incidents.is_empty() {
            state.health = None;
            left_out.insert("its health");
            break;
        }
        let half = state.incidents.len().div_ceil(2);
        state.incidents.drain(..half);
        left_out.insert("older incidents");
    }
    left_out
}

#[cfg(test)]
mod tests {
    use gtrace_event::Timestamp;
    use gtrace_profile::{DailyCalls, Histogram, Layer};

    use super::*;

    #[test]
    fn large_incidents_leave_room_for_totals_and_the_newest_stay() {
        let incident = |size: usize| -> gtrace_event::Incident {
            let text = serde_json::json!({
                "id": gtrace_event::IncidentId::new(0).to_string(),
                "time": Timestamp::UNIX_EPOCH,
                "opened": Timestamp::UNIX_EPOCH,
                "last_time": Timestamp::UNIX_EPOCH,
                "state": "open",
                "severity": "fatal",
                "title": "x".repeat(size),
                "class": gtrace_event::FailureClass::ALL[0].name(),
                "events": [],
                "event_count": 1,
                "occurrences": 1,
            });
            serde_json::from_value(text).unwrap()
        };
        let calls = DailyCalls {
            day: "2026-01-01".parse().unwrap(),
            since: Timestamp::UNIX_EPOCH,
            last: Timestamp::UNIX_EPOCH,
            layer: Layer::Driver,
            call: "a".repeat(1000),
            driver: None,
            histogram: Histogram::default(),
        };
        let mut state = HostState {
            latency: vec![calls; 100],
            ..HostState::default()
        };
        assert!(bound(&mut state).is_empty());
        // One that is larger than all of them may be, and one too many of those that fit.
        state.incidents = [100_000, 80_000, 90_000, INCIDENTS_MAX, 70_000]
            .map(incident)
            .into();
        assert_eq!(bound(&mut state), BTreeSet::from(["older incidents"]));
        let sizes: Vec<usize> = state.incidents.iter().map(|one| one.title.len()).collect();
        assert_eq!(sizes, [80_000, 90_000, 70_000]);
        assert_eq!(state.latency.len(), 100);
        state.latency = vec![state.latency[0].clone(); 1000];
        let left_out = bound(&mut state);
        assert!(left_out.contains("latencies of calls") && state.latency.len() >= 100);
    }
}
