//! Incidents for people: a line in a list, a block for one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gtrace_api::text::clean;
use gtrace_event::{Event, EventId, Incident, IncidentState, StateChange, Timestamp};
use gtrace_profile::text::bytes;

use crate::events::{Block, Style, ago, gpu, line, process};

/// An incident in one line, for lists.
pub fn incident_line(incident: &Incident, style: &Style) -> String {
    let severity = style.severity(incident.severity);
    let pad = " ".repeat(8_usize.saturating_sub(incident.severity.name().len()));
    let drill = if incident.drill { "DRILL " } else { "" };
    let events = match incident.event_count {
        1 => "1 event".to_owned(),
        count => format!("{count} events"),
    };
    format!(
        "{} {severity}{pad} {:<12} {drill}{}: {} ({events})  {}\n",
        style.clock(incident.opened),
        incident.state,
        incident.class,
        clean(&incident.title),
        incident.id,
    )
}

/// An incident as a block of lines that ends with an empty one. `events`: those of its events that are known.
pub fn incident(incident: &Incident, events: &[Event], style: &Style, now: Timestamp) -> String {
    let mut block = Block::new(style);
    headline(&mut block, incident, style, now);
    block.part("what", Some(clean(&incident.title)));
    block.part(
        "class",
        Some(format!("{} ({})", incident.class, incident.class.title())),
    );
    block.part("state", Some(state(incident, style)));
    if incident.history.len() > 1 {
        let history = incident.history.iter();
        block.list("history", history.map(|change| changed(change, style)));
    }
    affected(&mut block, incident);
    let known: BTreeMap<EventId, &Event> = events.iter().map(|event| (event.id, event)).collect();
    let shown = incident.events.iter().map(|id| match known.get(id) {
        Some(event) => line(event, style),
        None => format!("{id} (no longer in the store)"),
    });
    let listed = incident.events.len() as u64;
    let more = incident.event_count.saturating_sub(listed);
    let more = (more > 0).then(|| format!("and {more} more"));
    block.list("events", shown.chain(more));
    chain(&mut block, incident, &known);
    if let Some(advice) = &incident.advice {
        block.part("meaning", advice.meaning.as_deref().map(clean));
        block.steps("to do", &advice.vendor);
        block.part("action", advice.action.map(|action| action.to_string()));
        block.steps("site", &advice.site);
    }
    let runbook = format!("gtrace runbook {}", incident.class);
    block.part("runbook", Some(runbook));
    let kept = incident.evidence.iter();
    let kept: Vec<String> = kept
        .map(|file| format!("{} ({})", clean(&file.name), bytes(file.bytes)))
        .collect();
    if !kept.is_empty() {
        block.part("evidence", Some(kept.join(", ")));
        let report = format!("gtrace report --incident {}", incident.id);
        block.part("", Some(report));
    }
    let missing = incident.missing.iter();
    let missing = missing.map(|of| format!("{}: {}", clean(&of.what), clean(&of.why)));
    block.list("missing", missing);
    block.part("id", Some(incident.id.to_string()));
    block.end()
}

fn headline(block: &mut Block<'_>, incident: &Incident, style: &Style, now: Timestamp) {
    let mut text = style.paint(&style.time(incident.opened), "1");
    let ago = ago(incident.opened, now);
    if !ago.is_empty() {
        let _ = write!(text, " ({ago})");
    }
    let _ = write!(text, "  {}  ", style.severity(incident.severity));
    text.push_str(&style.paint(&format!("incident, {}", incident.state), "1"));
    if incident.drill {
        let _ = write!(
            text,
            "  {}",
            style.paint("DRILL: no fault happened", "1;30;43")
        );
    }
    block.head(&text);
}

fn state(incident: &Incident, style: &Style) -> String {
    let Some(change) = incident.history.last() else {
        return match incident.state {
            IncidentState::Open => format!(
                "open, the last occurrence {}",
                style.clock(incident.last_time)
            ),
            state => state.to_string(),
        };
    };
    changed(change, style)
}

/// Who changed the state, when and why.
fn changed(change: &StateChange, style: &Style) -> String {
    let note = match change.note.as_str() {
        "" => String::new(),
        note => format!(": {}", clean(note)),
    };
    format!(
        "{} by {} {}{note}",
        change.state,
        clean(&change.by),
        style.clock(change.time)
    )
}

fn affected(block: &mut Block<'_>, incident: &Incident) {
    let affected = &incident.affected;
    block.list("gpus", affected.gpus.iter().map(gpu));
    block.list("process", affected.processes.iter().map(process));
    block.list("jobs", affected.jobs.iter().map(|job| clean(job)));
    let clients = affected.remote_clients.iter();
    block.list("clients", clients.map(|client| clean(client)));
}

fn chain(block: &mut Block<'_>, incident: &Incident, known: &BTreeMap<EventId, &Event>) {
    let name = |id: &EventId| match known.get(id) {
        Some(event) => gtrace_api::title(event),
        None => id.to_string(),
    };
    let links = incident.chain.iter().map(|link| {
        let time = |id| known.get(id).map(|event: &&Event| event.time);
        let reversed = time(&link.from) > time(&link.to) && known.contains_key(&link.to);
        format!(
            "{} {} {}: {} ({} confidence)",
            name(&link.from),
            link.relation(reversed),
            name(&link.to),
            clean(&link.why),
            link.confidence
        )
    });
    block.list("cause", links);
}

#[cfg(test)]
mod tests {
    use gtrace_event::{
        Affected, CausalLink, Confidence, Evidence, FailureClass, IncidentId, Kind, Occurrence,
        Process, Severity, StateChange, WitnessName,
    };

    use super::*;

    fn event(kind: Kind, message: &str) -> Event {
        let time = "2026-03-03T04:05:06Z".parse().unwrap();
        Event::seen(
            time,
            WitnessName::Kmsg,
            1,
            Occurrence::new(kind, Severity::Fatal, message),
        )
    }

    fn example(events: &[Event]) -> Incident {
        let time: Timestamp = "2026-03-03T04:05:06Z".parse().unwrap();
        Incident {
            id: IncidentId::new(1),
            title: "GPU 0000:3b:00.0 fell off\u{1b}[2J the bus".to_owned(),
            drill: true,
            events: events.iter().map(|event| event.id).collect(),
            event_count: 5,
            occurrences: 9,
            chain: vec![CausalLink {
                from: events[0].id,
                to: events[1].id,
                why: "the port above it".to_owned(),
                confidence: Confidence::High,
                rule: "aer-before-79".to_owned(),
            }],
            affected: Affected {
                processes: vec![Process {
                    pid: Some(4711),
                    comm: Some("train".to_owned()),
                    ..Process::default()
                }],
                ..Affected::default()
            },
            ..Incident::new(time, FailureClass::Pcie, Severity::Fatal)
        }
    }

    #[test]
    fn a_block_has_what_happened_to_whom_and_why_and_no_control_characters() {
        let events = [event(Kind::Aer, "AER"), event(Kind::GpuLost, "gone")];
        let mut shown = example(&events);
        let text = incident(&shown, &events, &Style::plain(), shown.time);
        assert!(!text.contains("evidence"), "{text}");
        shown.evidence.push(Evidence {
            name: "host.json".to_owned(),
            sha256: String::new(),
            bytes: 4096,
            from: None,
            to: None,
        });
        let text = incident(&shown, &events, &Style::plain(), shown.time);
        for part in [
            "evidence  host.json (4.0 KiB)",
            &format!("gtrace report --incident {}", shown.id),
            "DRILL",
            "pcie",
            "4711",
            "train",
            "high confidence",
            "and 3 more",
            &shown.id.to_string(),
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains('\u{1b}'), "{text:?}");
        let rendered = |shown: &Incident, events: &[Event]| {
            let text = incident(shown, events, &Style::plain(), shown.time);
            let cause = text.lines().find(|line| line.contains("  cause ")).unwrap();
            cause.to_owned()
        };
        assert!(
            rendered(&shown, &events).contains(" led to gpu_lost"),
            "{text}"
        );
        shown.chain[0].confidence = Confidence::Medium;
        assert!(rendered(&shown, &events).contains(" probably led to gpu_lost"));
        shown.chain[0].confidence = Confidence::Low;
        let low = rendered(&shown, &events);
        assert!(low.contains("shortly before, and may have led to"), "{low}");
        // Seen after its effect.
        let mut later = events.clone();
        later[0].time = shown.time + jiff::SignedDuration::from_millis(300);
        let reversed = rendered(&shown, &later);
        assert!(
            reversed.contains("at the same time as, and may"),
            "{reversed}"
        );
        shown.change_state(StateChange::new(
            shown.time,
            IncidentState::Resolved,
            "me",
            "replaced",
        ));
        let line = incident_line(&shown, &Style::plain());
        assert!(
            line.contains("resolved") && line.contains("5 events"),
            "{line}"
        );
        let text = incident(&shown, &[], &Style::plain(), shown.time);
        assert!(
            text.contains("by me") && text.contains("replaced"),
            "{text}"
        );
        assert!(text.contains("no longer in the store"), "{text}");
    }
}
