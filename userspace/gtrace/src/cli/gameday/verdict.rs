//! What became of a drill, and what is wrong with that.

use std::time::Duration;

use gtrace_event::{
    Event, EventId, FailureClass, Incident, IncidentId, Kind, Provenance, Severity, Timestamp,
    WitnessName,
};
use serde::Serialize;

use super::alerts;
use super::drills::Drill;

/// What the daemon made of a drill.
#[derive(Debug, Default)]
pub(super) struct Observed {
    /// The event, and how long after the injection it was readable.
    pub(super) event: Option<(Event, Duration)>,
    /// The incident that the event belongs to.
    pub(super) incident: Option<Incident>,
    /// The alerts that would have fired.
    pub(super) alerts: Vec<&'static str>,
    /// Why incident or event could not be closed.
    pub(super) unclosed: Option<String>,
}

/// A line of the report.
#[serde_with::skip_serializing_none]
#[derive(Debug, Serialize)]
pub(super) struct Outcome {
    pub(super) name: &'static str,
    /// The line that was injected.
    pub(super) injected: String,
    pub(super) detected: bool,
    /// From the injection until the event was readable.
    pub(super) detected_ms: Option<f64>,
    event: Option<EventId>,
    kind: Option<Kind>,
    pub(super) severity: Option<Severity>,
    pub(super) witnesses: Vec<WitnessName>,
    incident: Option<IncidentId>,
    pub(super) class: Option<FailureClass>,
    /// The documented alerts that would have fired, had it been a fault.
    pub(super) alerts: Vec<&'static str>,
    /// What is not as it should be; empty: all is well.
    pub(super) problems: Vec<String>,
}

impl Outcome {
    /// Judges what was seen of `drill` by `sources`, the witnesses that have to see it.
    pub(super) fn judge(
        drill: &Drill,
        injected: String,
        observed: &Observed,
        sources: &[WitnessName],
    ) -> Self {
        let event = observed.event.as_ref().map(|(event, _)| event);
        let after = observed.event.as_ref().map(|(_, after)| *after);
        let incident = observed.incident.as_ref();
        Self {
            name: drill.name,
            injected,
            detected: event.is_some(),
            detected_ms: after.map(|after| (after.as_secs_f64() * 1e5).round() / 100.0),
            event: event.map(|event| event.id),
            kind: event.map(|event| event.kind),
            severity: event.map(|event| event.severity),
            witnesses: event.map(witnesses).unwrap_or_default(),
            incident: incident.map(|incident| incident.id),
            class: incident.map(|incident| incident.class),
            alerts: observed.alerts.clone(),
            problems: problems(drill, observed, sources),
        }
    }
}

/// Who saw `event`.
pub(super) fn witnesses(event: &Event) -> Vec<WitnessName> {
    event.witnesses.iter().map(|w| w.source).collect()
}

fn problems(drill: &Drill, observed: &Observed, sources: &[WitnessName]) -> Vec<String> {
    let Some((event, _)) = &observed.event else {
        return vec!["not detected".to_owned()];
    };
    let mut problems = Vec::new();
    let mut expect = |what: &str, found: &str, wanted: &str| {
        if found != wanted {
            problems.push(format!("{what} is {found}, not {wanted}"));
        }
    };
    expect("kind", event.kind.name(), drill.kind.name());
    expect("severity", event.severity.name(), drill.severity.name());
    let provenance = (event.provenance.name(), Provenance::Injected.name());
    expect("provenance", provenance.0, provenance.1);
    let class_of = |class: Option<FailureClass>| class.map_or("none", FailureClass::name);
    let found = observed.incident.as_ref().map(|incident| incident.class);
    expect(
        "class of the incident",
        class_of(found),
        class_of(drill.class),
    );
    let list = |alerts: &[&'static str]| match alerts {
        [] => "none".to_owned(),
        alerts => alerts.join(", "),
    };
    let wanted = list(&alerts::expected(drill));
    expect("what would alert", &list(&observed.alerts), &wanted);
    if observed.incident.as_ref().is_some_and(|i| !i.drill) {
        problems.push("the incident is not marked as a drill".to_owned());
    }
    let seen_by = witnesses(event);
    let missed = sources.iter().filter(|source| !seen_by.contains(source));
    problems.extend(missed.map(|source| format!("{source} did not see it")));
    problems.extend(observed.unclosed.clone());
    problems
}

/// The report.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    pub(super) host: String,
    began: Timestamp,
    /// Whether every drill was run and came through.
    pub(super) ok: bool,
    pub(super) aborted: bool,
    pub(super) drills: Vec<Outcome>,
}

impl Summary {
    pub(super) fn new(host: String, began: Timestamp) -> Self {
        Self {
            host,
            began,
            ok: false,
            aborted: false,
            drills: Vec::new(),
        }
    }

    pub(super) fn conclude(&mut self, aborted: bool) {
        self.aborted = aborted;
        let is_well = |outcome: &Outcome| outcome.problems.is_empty();
        self.ok = !aborted && self.drills.iter().all(is_well);
    }
}
