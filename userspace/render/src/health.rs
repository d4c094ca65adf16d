//! The health of a host for people.

use std::fmt::Write as _;

use gtrace_event::{
    HealthReason, HealthReport, HealthState, MaintenanceWindow, RuleOrigin, SubjectHealth,
    SubjectKind, Timestamp,
};

use crate::clean;
use crate::events::{Style, ago};

/// The host in one line, each part that is not healthy with its reasons, and a line of those that are.
pub fn health(report: &HealthReport, style: &Style, now: Timestamp) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let host = report.host.as_deref().unwrap_or("this host");
    let _ = writeln!(
        text,
        "{} {}{}",
        clean(host),
        colored(report.state, style),
        action(report.action),
    );
    if let Some(window) = &report.maintenance {
        text.push_str(&maintenance(window, style));
    }
    let (well, ill): (Vec<_>, Vec<_>) = report
        .subjects
        .iter()
        .partition(|known| known.state == HealthState::Healthy && known.reasons.is_empty());
    for known in ill {
        // What the host has of its own; its parts follow.
        if known.subject.part != SubjectKind::Host || !known.reasons.is_empty() {
            part(&mut text, known, style, now);
        }
    }
    let names: Vec<String> = well
        .iter()
        .filter(|known| known.subject.part != SubjectKind::Host)
        .map(|known| clean(&known.subject.to_string()))
        .collect();
    if !names.is_empty() {
        let _ = writeln!(text, "healthy: {}", names.join(", "));
    }
    for what in &report.not_checked {
        let _ = writeln!(text, "not checked: {}", clean(what));
    }
    text
}

/// A maintenance window in one line.
pub fn maintenance(window: &MaintenanceWindow, style: &Style) -> String {
    let note = match window.note.is_empty() {
        true => String::new(),
        false => format!(": {}", clean(&window.note)),
    };
    let (until, by) = (style.clock(window.until), clean(&window.by));
    format!("maintenance until {until} by {by}{note}\n")
}

/// One part with all its reasons.
pub fn subject_health(known: &SubjectHealth, style: &Style, now: Timestamp) -> String {
    let mut text = String::new();
    part(&mut text, known, style, now);
    text
}

fn part(text: &mut String, known: &SubjectHealth, style: &Style, now: Timestamp) {
    let uuid = match &known.uuid {
        Some(uuid) => format!(" ({})", clean(uuid)),
        None => String::new(),
    };
    let sure = match known.confidence {
        Some(confidence) => format!(", confidence {confidence}"),
        None => String::new(),
    };
    let _ = writeln!(
        text,
        "{}{uuid} {} since {} ({}){sure}{}",
        clean(&known.subject.to_string()),
        colored(known.state, style),
        style.clock(known.since),
        ago(known.since, now),
        action(known.action),
    );
    for reason in &known.reasons {
        why(text, reason);
    }
}

fn why(text: &mut String, reason: &HealthReason) {
    let count = match reason.occurrences {
        0 | 1 => String::new(),
        n => format!(", {n} times"),
    };
    let acknowledged = match reason.acknowledged {
        Some(_) => ", acknowledged",
        None => "",
    };
    let _ = writeln!(
        text,
        "  {} [{}{}]{count}{acknowledged}",
        clean(&reason.text),
        clean(&reason.rule),
        match reason.origin {
            RuleOrigin::Builtin => "",
            RuleOrigin::Site => ", a rule of the site",
        }
    );
    let events: Vec<String> = reason
        .events
        .iter()
        .rev()
        .take(3)
        .map(|e| e.id.to_string())
        .collect();
    if !events.is_empty() {
        let _ = writeln!(text, "    events {}", events.join(", "));
    }
    let Some(advice) = &reason.advice else { return };
    for (who, steps) in [("site", &advice.site), ("vendor", &advice.vendor)] {
        for step in steps {
            let _ = writeln!(text, "    {who}: {}", clean(step));
        }
    }
}

fn action(action: gtrace_event::HealthAction) -> String {
    match action {
        gtrace_event::HealthAction::None => String::new(),
        action => format!(", to do: {}", action.name().replace('_', " ")),
    }
}

fn colored(state: HealthState, style: &Style) -> String {
    let code = match state {
        HealthState::Healthy => "32",
        HealthState::Unknown => "36",
        HealthState::Degraded => "33",
        HealthState::Unhealthy => "1;37;41",
    };
    style.paint(state.name(), code)
}

/// One line for a node condition: state, then what is wrong.
pub fn health_line(report: &HealthReport) -> String {
    let reasons = report.subjects.iter().flat_map(|known| {
        let own = known.reasons.iter().filter(|reason| reason.state.is_bad());
        own.map(|reason| format!("{}: {}", known.subject, clean(&reason.text)))
    });
    let reasons: Vec<String> = reasons.take(4).collect();
    let unchecked = report.not_checked.first();
    match (reasons.is_empty(), unchecked) {
        (true, Some(why)) if report.state == HealthState::Unknown => {
            format!("{}: {}", report.state.name(), clean(why))
        }
        (true, _) => report.state.name().to_owned(),
        (false, _) => format!("{}: {}", report.state.name(), reasons.join("; ")),
    }
}
