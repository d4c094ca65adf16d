//! What a manager reads: what happened, when, how long, what is affected, what to do; and what led to what.

use gtrace_event::{Event, EventId, Severity};
use maud::{Markup, html};

use crate::{Material, words};

/// Names of one kind that are shown, at most.
const NAMES_MAX: usize = 12;

/// The top of the page.
pub(super) fn header(material: &Material, redacted: bool) -> Markup {
    let incident = material.incident.as_ref();
    html! {
        header {
            p.kicker {
                "Incident report · host " b { (host(material)) }
                @if let Some(incident) = incident { " · " span.mono { (incident.id) } }
            }
            h1 { (words::title(material)) }
            ul.badges {
                @if let Some(severity) = material.severity() {
                    li.badge.sev.(severity.name()) { "Severity: " (severity) }
                }
                @if let Some(incident) = incident {
                    li.badge { "State: " (incident.state) }
                    li.badge { "Class: " (incident.class.title()) }
                }
                @if material.is_drill() { li.badge.sev.warning { "Drill" } }
                @if redacted { li.badge { "Redacted" } }
            }
            (banners(material, redacted))
            p.lead { (sentence(material)) }
            (facts(material))
        }
    }
}

fn host(material: &Material) -> &str {
    match material.host.as_str() {
        "" => "not known",
        host => host,
    }
}

fn banners(material: &Material, redacted: bool) -> Markup {
    html! {
        @if material.is_drill() {
            div.banner role="note" {
                b { "Drill. " } "All of it was injected: no device was at fault, and nobody has to be paged."
            }
        }
        @for note in &material.notes { div.banner role="note" { (note) } }
        @if redacted {
            div.banner role="note" {
                b { "Redacted. " }
                "Names of hosts, users, processes, containers and jobs, paths and network addresses are replaced by \
                 pseudonyms. One name has the same pseudonym throughout this report."
            }
        }
    }
}

/// One paragraph that stands for itself.
fn sentence(material: &Material) -> String {
    let Some(span) = material.span() else {
        return format!(
            "No event is recorded from {} to {} UTC.",
            words::utc(material.window.from),
            words::beside(material.window.from, material.window.to)
        );
    };
    let (events, occurrences) = counts(material);
    let mut text = format!(
        "It began on {} UTC and lasted {}, in {}",
        words::utc(span.from),
        words::length(span),
        words::count(events, "event")
    );
    if occurrences > events {
        text.push_str(&format!(
            " that stand for {}",
            words::count(occurrences, "occurrence")
        ));
    }
    text.push('.');
    let affected: Vec<String> = words::affected(material)
        .iter()
        .map(|(kind, all)| {
            let one = match *kind {
                "GPUs" => "GPU".to_owned(),
                "Processes" => "process".to_owned(),
                kind => kind.trim_end_matches('s').to_lowercase(),
            };
            words::count(all.len() as u64, &one)
        })
        .collect();
    match affected.split_last() {
        None => text.push_str(" Nothing is known to be affected."),
        Some((last, [])) => text.push_str(&format!(" It affected {last}.")),
        Some((last, rest)) => {
            text.push_str(&format!(" It affected {} and {last}.", rest.join(", ")))
        }
    }
    text
}

/// Events, and the occurrences that they stand for.
fn counts(material: &Material) -> (u64, u64) {
    match &material.incident {
        Some(incident) => (incident.event_count, incident.occurrences),
        None => {
            let repeats: u64 = material.events.iter().map(|event| event.repeats).sum();
            let events = material.events.len() as u64;
            (events, events + repeats)
        }
    }
}

fn facts(material: &Material) -> Markup {
    let closed = material
        .incident
        .as_ref()
        .and_then(|incident| incident.closed);
    html! {
        dl.facts {
            @if let Some(span) = material.span() {
                div { dt { "First event" } dd { (words::utc(span.from)) " UTC" } }
                div { dt { "Last event" } dd { (words::utc(span.to)) " UTC" } }
            }
            @if let Some(closed) = closed { div { dt { "Closed" } dd { (words::utc(closed)) " UTC" } } }
            div {
                dt { "This report covers" }
                dd { (words::utc(material.window.from)) " to " (words::beside(material.window.from, material.window.to)) }
            }
            @for (kind, all) in words::affected(material) {
                div {
                    dt { (kind) }
                    dd { ul {
                        @for one in all.iter().take(NAMES_MAX) { li { (short(one)) } }
                        @if all.len() > NAMES_MAX { li.muted { "and " (all.len() - NAMES_MAX) " more" } }
                    } }
                }
            }
        }
    }
}

/// A name that fits; of a container's id the beginning, as container tools show it.
fn short(name: &str) -> String {
    let is_id = name.len() == 64 && name.bytes().all(|b| b.is_ascii_hexdigit());
    words::shortened(name, if is_id { 12 } else { 120 })
}

/// Vendor's advice and the site's policy, apart.
pub(super) fn what_to_do(material: &Material) -> Markup {
    let Some(advice) = words::advice(material) else {
        return super::section(
            "do",
            &html! { p.muted { "No advice is known for what is recorded here." } },
        );
    };
    let content = html! {
        @if let Some(meaning) = &advice.meaning { p.lead { (meaning) } }
        div.two {
            div.card {
                h3 { "Vendor's advice" }
                @if advice.vendor.is_empty() { p.muted { "The vendor's documentation advises nothing on it." } }
                @else { ol { @for step in &advice.vendor { li { (step) } } } }
            }
            div.card {
                h3 { "Site policy" }
                @if let Some(action) = advice.action { p { b { (words::action(action)) } } }
                @if advice.site.is_empty() { p.muted { "The site's policy has no steps of its own for it." } }
                @else { ol { @for step in &advice.site { li { (step) } } } }
                @if let Some(rule) = &advice.rule { p.muted.small { "Decided by rule " code { (rule) } } }
            }
        }
    };
    super::section("do", &content)
}

/// What led to what.
pub(super) fn causes(material: &Material) -> Markup {
    let Some(incident) = material
        .incident
        .as_ref()
        .filter(|incident| !incident.chain.is_empty())
    else {
        let why = match &material.incident {
            Some(_) => {
                "no rule links these events; that they are one incident follows from time and place"
            }
            None => "this report is about a stretch of time, not about an incident",
        };
        return super::section("cause", &html! { p.muted { "Not recorded: " (why) "." } });
    };
    let ids = material.chain_events();
    let number = |id: EventId| {
        ids.iter()
            .position(|known| *known == id)
            .map_or(0, |at| at + 1)
    };
    let mut shown: Vec<EventId> = Vec::new();
    let mut items = Vec::new();
    for link in &incident.chain {
        for (id, first) in [(link.from, true), (link.to, false)] {
            if !shown.contains(&id) {
                shown.push(id);
                items.push((
                    number(id),
                    material.events.iter().find(|event| event.id == id),
                    id,
                ));
            }
            if first {
                items.push((0, None, id));
            }
        }
    }
    let mut links = incident.chain.iter();
    let content = html! {
        p { "The first cause is at the top. Confidence: high where driver or kernel say so or nothing else can be; \
             medium for the usual course; low where two things only happened close together." }
        ol.chain {
            @for (number, event, id) in items {
                @if number == 0 {
                    @if let Some(link) = links.next() {
                        li.link {
                            "↓ " (words::led_to(material, link)) " " (self::number(&ids, link.to)) " — " b { "confidence " (link.confidence) } ": "
                            (link.why) " " span.small { "(rule " code { (link.rule) } ")" }
                        }
                    }
                } @else { (chain_event(number, event, id)) }
            }
        }
    };
    super::section("cause", &content)
}

fn number(ids: &[EventId], id: EventId) -> String {
    ids.iter()
        .position(|known| *known == id)
        .map_or_else(String::new, |at| format!("event {}", at + 1))
}

fn chain_event(number: usize, event: Option<&Event>, id: EventId) -> Markup {
    let severity = event.map_or(Severity::Info, |event| event.severity);
    html! {
        li.event.(severity.name()) {
            span.number { (number) } " "
            @match event {
                Some(event) => {
                    b { (event.kind) } " " span.sev.(severity.name()) { (severity) }
                    span.muted { " · " (words::utc(event.time)) " UTC" }
                    @if let Some(gpu) = &event.gpu { span.muted { " · " (words::gpu_short(gpu)) } }
                    div.message.mono { (words::shortened(&event.message, 400)) }
                }
                None => span { "event " code { (id) } ", which is not in this report's time" },
            }
        }
    }
}
