//! `postmortem.md`: filled in as far as evidence goes, empty where a person has to write.

use std::fmt::Write as _;

use crate::files::Phase;
use crate::material::Material;
use crate::{shift, words};

/// Lines of the timeline, at most.
const TIMELINE_MAX: usize = 60;
/// What stands where a person has to write.
const TO_WRITE: &str = "_To be written._";

/// Text from outside as code, in which Markdown means nothing.
fn code(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ").replace('`', "'");
    let text = words::printable(&text, &[]);
    format!("`{}`", words::shortened(text.trim(), 300))
}

/// The document.
pub(crate) fn write(material: &Material) -> String {
    let mut out = String::new();
    head(&mut out, material);
    impact(&mut out, material);
    timeline(&mut out, material);
    detection(&mut out, material);
    cause(&mut out, material);
    contributing(&mut out, material);
    actions(&mut out, material);
    out
}

/// Adds a line; writing to a String cannot fail.
macro_rules! line {
    ($out:expr) => { $out.push('\n') };
    ($out:expr, $($text:tt)*) => { let _ = writeln!($out, $($text)*); };
}

fn head(out: &mut String, material: &Material) {
    line!(out, "# Postmortem: {}\n", code(&words::title(material)));
    if material.is_drill() {
        line!(
            out,
            "**Drill.** Everything here was injected; no device was at fault."
        );
        line!(out);
    }
    line!(out, "| | |");
    line!(out, "|---|---|");
    line!(out, "| Host | {} |", code(&material.host));
    if let Some(incident) = &material.incident {
        line!(out, "| Incident | {} |", incident.id);
        line!(out, "| Class | {} |", incident.class.title());
        line!(out, "| State | {} |", incident.state);
    }
    if let Some(severity) = material.severity() {
        line!(out, "| Severity | {severity} |");
    }
    if let Some(span) = material.span() {
        line!(out, "| First event | {} UTC |", words::utc(span.from));
        line!(out, "| Last event | {} UTC |", words::utc(span.to));
    }
    line!(
        out,
        "| Status of this document | draft by {} |",
        material.generator
    );
    line!(out, "| Authors | {TO_WRITE} |\n");
}

fn impact(out: &mut String, material: &Material) {
    line!(out, "## Impact\n");
    if let Some(span) = material.span() {
        line!(out, "Events were seen over {}.\n", words::length(span));
    }
    for (kind, which) in words::affected(material) {
        line!(out, "* {kind}:");
        for one in which {
            line!(out, "  * {}", code(&one));
        }
    }
    line!(out, "* Work that was lost, users who noticed: {TO_WRITE}\n");
}

fn timeline(out: &mut String, material: &Material) {
    line!(out, "## Timeline (UTC)\n");
    let shown = material.most_relevant(TIMELINE_MAX);
    for event in &shown {
        let notes = words::origin(event).map(str::to_owned).into_iter();
        let notes: Vec<String> = notes.chain(words::repeats(event)).collect();
        let notes = match notes.is_empty() {
            true => String::new(),
            false => format!(" ({})", notes.join("; ")),
        };
        line!(
            out,
            "* {} {} **{}**{notes} {}",
            words::utc(event.time),
            event.severity,
            event.kind,
            code(&event.message)
        );
    }
    let more = material.events.len() - shown.len();
    if more > 0 {
        line!(
            out,
            "* {} more: `events.jsonl`",
            words::count(more as u64, "event")
        );
    }
    for change in material
        .incident
        .iter()
        .flat_map(|incident| &incident.history)
    {
        let note = match change.note.trim() {
            "" => String::new(),
            note => format!(": {}", code(note)),
        };
        line!(
            out,
            "* {} {} by {}{note}",
            words::utc(change.time),
            change.state,
            code(&change.by)
        );
    }
    line!(out);
}

fn detection(out: &mut String, material: &Material) {
    line!(out, "## Detection\n");
    let first = material.subject().min_by_key(|event| event.time);
    if let Some(event) = first {
        let witnesses: Vec<&str> = event.witnesses.iter().map(|w| w.source.name()).collect();
        line!(
            out,
            "gtrace saw the first event at {} UTC by {}; provenance: {}.",
            words::utc(event.time),
            code(&witnesses.join(", ")),
            event.provenance
        );
    } else {
        line!(out, "No event is recorded.");
    }
    line!(out);
    line!(out, "Who noticed, and how long it took: {TO_WRITE}\n");
}

fn cause(out: &mut String, material: &Material) {
    line!(out, "## Root cause\n");
    let chain = material
        .incident
        .iter()
        .flat_map(|incident| &incident.chain);
    let mut any = false;
    for link in chain {
        any = true;
        let name = |id| {
            let event = material.events.iter().find(|event| event.id == id);
            event.map_or_else(
                || id.to_string(),
                |event| {
                    let time = words::beside(material.window.from, event.time);
                    format!("{} at {time}", event.kind)
                },
            )
        };
        line!(
            out,
            "* {} {} {}: {} (confidence {}, rule {})",
            name(link.from),
            words::led_to(material, link),
            name(link.to),
            code(&link.why),
            link.confidence,
            code(&link.rule)
        );
    }
    if !any {
        line!(out, "The evidence names no chain of causes.");
    }
    if let Some(meaning) = words::advice(material).and_then(|advice| advice.meaning.as_deref()) {
        line!(out);
        line!(out, "What the most severe event means: {}", code(meaning));
    }
    line!(out);
    line!(out, "Confirmed by a person: {TO_WRITE}\n");
}

fn contributing(out: &mut String, material: &Material) {
    line!(out, "## Contributing factors\n");
    let shifts = shift::since_before(&material.latency, Phase::During);
    for shift in shifts.iter().filter(|shift| shift.slower) {
        line!(
            out,
            "* {} was slower than before: {}",
            code(&shift.function),
            shift.text
        );
    }
    for loss in &material.losses {
        let count = loss
            .count
            .map_or_else(|| "an unknown number".to_owned(), |n| n.to_string());
        line!(
            out,
            "* Lost: {} of {}: {}",
            count,
            code(&loss.what),
            code(&loss.why)
        );
    }
    line!(out, "* {TO_WRITE}\n");
    line!(out, "## What went well");
    line!(out);
    line!(out, "* {TO_WRITE}\n");
}

fn actions(out: &mut String, material: &Material) {
    line!(out, "## Action items\n");
    line!(out, "| What | Source | Owner | Due |");
    line!(out, "|---|---|---|---|");
    if let Some(advice) = words::advice(material) {
        for (source, steps) in [("vendor", &advice.vendor), ("site policy", &advice.site)] {
            for step in steps {
                line!(out, "| {} | {source} | | |", code(step).replace('|', "\\|"));
            }
        }
    }
    line!(out, "| {TO_WRITE} | | | |");
}
