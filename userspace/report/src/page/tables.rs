//! Bounded tables: events, kernel log, calls, snapshot, versions, gaps. What is not shown is counted.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use gtrace_event::{Event, Timestamp};
use gtrace_profile::text::duration;
use maud::{Markup, html};

use crate::material::{Call, Material};
use crate::{missing, words};

const EVENTS_MAX: usize = 200;
const CALLS_MAX: usize = 100;
const LOG_MAX: usize = 300;
const SNAPSHOT_MAX: usize = 64;
/// Of a text of a snapshot, characters.
const TEXT_MAX: usize = 12_000;

/// That rows are not shown, and where they are.
fn not_shown(all: usize, shown: usize, one: &str, file: &str) -> Markup {
    html! {
        @if all > shown {
            p.muted {
                "Shown: " (words::count(shown as u64, one)) " of " (words::count(all as u64, one))
                "; all are in " (file) "."
            }
        }
    }
}

fn filter(table: &str) -> Markup {
    html! {
        div.controls data-controls hidden {
            label { "Filter: " input type="search" data-filter=(table) placeholder="words that a row has to have"; }
            " " span.muted id={ (table) "-shown" } aria-live="polite" {}
        }
    }
}

/// Every event with witnesses and provenance.
pub(super) fn events(material: &Material) -> Markup {
    if material.events.is_empty() {
        return super::section("events", &super::not_recorded(material, missing::EVENTS));
    }
    let shown = material.most_relevant(EVENTS_MAX);
    let content = html! {
        (not_shown(material.events.len(), shown.len(), "event", "events.jsonl, and here are those of the incident and the most severe"))
        (filter("table-events"))
        div.wide {
            table id="table-events" {
                thead {
                    tr {
                        th { "Time (UTC)" } th { "Severity" } th { "What" } th { "Device, process" }
                        th { "Seen by" } th { "Provenance" }
                    }
                }
                tbody { @for event in shown { (event_row(material, event)) } }
            }
        }
    };
    super::section("events", &content)
}

fn event_row(material: &Material, event: &Event) -> Markup {
    html! {
        tr {
            td.time { (words::beside(material.window.from, event.time)) }
            td { span.sev.(event.severity.name()) { (event.severity) } }
            td {
                b { (event.kind) }
                @if let Some(repeats) = words::repeats(event) { span.muted { " · " (repeats) } }
                div.message.mono { (words::shortened(&event.message, 800)) }
                @for ack in &event.acks { div.small { "Acknowledged by " (ack.by) ": " (ack.note) } }
                div.muted.small { (event.id) }
            }
            td {
                @if let Some(gpu) = &event.gpu { div { (words::gpu_short(gpu)) } }
                @if let Some(device) = event.detail.pcie.pci_device { div { "PCI device " (device) } }
                @if let Some(process) = &event.process {
                    div {
                        (process.comm.as_deref().unwrap_or("process")) @if let Some(pid) = process.pid { " " span.muted { (pid) } }
                        @if let Some(container) = &process.container { div.muted.small.message { "container " (words::shortened(container, 12)) } }
                    }
                }
            }
            td { @for witness in &event.witnesses { div { (witness.source) @if witness.count > 1 { span.muted { " ×" (witness.count) } } } } }
            td { (event.provenance) }
        }
    }
}

/// Calls of one function by one process that ended alike.
struct Alike<'a> {
    /// The longest of them, as far as that is known.
    longest: &'a Call,
    first: Timestamp,
    count: u64,
}

fn alike(calls: &[Call]) -> Vec<Alike<'_>> {
    let mut groups: BTreeMap<_, Alike<'_>> = BTreeMap::new();
    for call in calls {
        let key = (
            call.returned,
            call.layer,
            &call.name,
            call.pid,
            &call.comm,
            &call.status,
        );
        let group = groups.entry(key).or_insert(Alike {
            longest: call,
            first: call.start,
            count: 0,
        });
        group.count += 1;
        group.first = group.first.min(call.start);
        if call.duration_ns > group.longest.duration_ns {
            group.longest = call;
        }
    }
    let mut groups: Vec<_> = groups.into_values().collect();
    let rank = |call: &Call| {
        (
            call.returned,
            call.status.is_none(),
            Reverse(call.duration_ns),
        )
    };
    groups.sort_by_key(|group| rank(group.longest));
    groups
}

/// Calls that did not return or failed, and the slowest.
pub(super) fn calls(material: &Material) -> Markup {
    if material.calls.is_empty() {
        return super::section("calls", &super::not_recorded(material, missing::CALLS));
    }
    let groups = alike(&material.calls);
    let shown = &groups[..groups.len().min(CALLS_MAX)];
    let content = html! {
        p.muted {
            (words::count(material.calls.len() as u64, "call")) "; those of one function and process that ended alike are one row. \
             First those that had not returned, then those that failed, then slow ones; the longest first."
        }
        (not_shown(groups.len(), shown.len(), "row", "trace.pftrace, call by call"))
        div.wide {
            table {
                thead {
                    tr { th { "First (UTC)" } th { "Call" } th { "Process" } th.num { "Calls" } th.num { "Longest" } th { "Result" } }
                }
                tbody { @for group in shown { (call_row(material, group)) } }
            }
        }
    };
    super::section("calls", &content)
}

fn call_row(material: &Material, group: &Alike<'_>) -> Markup {
    let call = group.longest;
    html! {
        tr {
            td.time { (words::beside(material.window.from, group.first)) }
            td.mono.message { (call.layer.name()) " " (call.name) }
            td { (call.comm.as_deref().unwrap_or("")) @if let Some(pid) = call.pid { " " span.muted { (pid) } } }
            td.num { (group.count) }
            td.num { (call.duration_ns.map_or_else(|| "not known".to_owned(), duration)) }
            td { (result(call)) }
        }
    }
}

fn result(call: &Call) -> Markup {
    html! {
        @if !call.returned { span.sev.critical { "had not returned" } }
        @else if let Some(status) = &call.status { span.sev.critical { (status) } }
        @else { "slow" }
    }
}

/// What was read of processes, containers and stacks.
pub(super) fn snapshot(material: &Material) -> Markup {
    if material.snapshot.is_empty() {
        return super::section(
            "processes",
            &super::not_recorded(material, missing::SNAPSHOT),
        );
    }
    let shown = &material.snapshot[..material.snapshot.len().min(SNAPSHOT_MAX)];
    let content = html! {
        (not_shown(material.snapshot.len(), shown.len(), "part", "snapshot.txt"))
        @for (at, part) in shown.iter().enumerate() {
            details open[at < 2] {
                summary { b { (part.name) } @if part.error.is_some() { span.sev.warning { " not read whole" } } }
                @if let Some(error) = &part.error { p { "Not read whole: " (error) } }
                @if !part.text.is_empty() { pre { (words::shortened(&part.text, TEXT_MAX)) } }
                @if part.text.chars().nth(TEXT_MAX).is_some() { p.muted { "Cut here; snapshot.txt has all of it." } }
            }
        }
    };
    super::section("processes", &content)
}

/// Lines of the kernel log, those around the first time within the window at which the report's subject is known to have
/// happened.
pub(super) fn kernel_log(material: &Material) -> Markup {
    if material.kernel_log.is_empty() {
        return super::section("log", &super::not_recorded(material, missing::KERNEL_LOG));
    }
    let log = &material.kernel_log;
    let times = material
        .subject()
        .flat_map(|event| [Some(event.time), event.last_time]);
    let times = times.flatten().filter(|time| material.window.holds(*time));
    let began = times
        .min()
        .or_else(|| material.span().map(|span| span.from));
    let at = began.map_or(0, |began| log.partition_point(|record| record.time < began));
    let first = at
        .saturating_sub(LOG_MAX / 3)
        .min(log.len().saturating_sub(LOG_MAX));
    let shown = &log[first..log.len().min(first + LOG_MAX)];
    let content = html! {
        (not_shown(log.len(), shown.len(), "line", "kernel.log, and here are those around the first event"))
        (filter("table-log"))
        div.wide {
            table id="table-log" {
                thead { tr { th { "Time (UTC)" } th { "Level" } th { "Text" } } }
                tbody {
                    @for record in shown {
                        tr {
                            td.time { (words::beside(material.window.from, record.time)) }
                            td { (level(record.priority)) }
                            td.message.mono { (words::shortened(&record.text, 600)) }
                        }
                    }
                }
            }
        }
    };
    super::section("log", &content)
}

/// A level of syslog by name (RFC 5424, table 2).
fn level(priority: Option<u8>) -> Markup {
    const NAMES: [&str; 8] = [
        "emergency",
        "alert",
        "critical",
        "error",
        "warning",
        "notice",
        "info",
        "debug",
    ];
    let Some(priority) = priority else {
        return html! {};
    };
    let name = NAMES.get(usize::from(priority & 7)).copied().unwrap_or("");
    let class = match priority & 7 {
        0..=2 => "sev critical",
        3 => "critical",
        4 => "warning",
        _ => "muted",
    };
    html! { span class=(class) { (name) } }
}

/// Facts of the host.
pub(super) fn versions(material: &Material) -> Markup {
    let content = html! {
        dl.facts {
            div { dt { "Host" } dd { (if material.host.is_empty() { "not known" } else { &material.host }) } }
            @for fact in &material.facts { div { dt { (fact.name) } dd { (fact.value) } } }
            div { dt { "Report by" } dd { (material.generator) } }
        }
    };
    super::section("versions", &content)
}

/// What is lost, what is missing, and what the incident says of its evidence.
pub(super) fn gaps(material: &Material) -> Markup {
    let older: Vec<Timestamp> = material
        .events
        .iter()
        .map(|e| e.time)
        .filter(|t| !material.window.holds(*t))
        .collect();
    let content = html! {
        h3 { "Lost" }
        @if material.losses.is_empty() { p { "No loss is recorded for this time." } }
        @else {
            ul { @for loss in &material.losses {
                li {
                    b { (loss.what) } ": "
                    @match loss.count { Some(count) => { (words::count(count, "record")) }, None => { "an unknown number of records" } }
                    "; " (loss.why)
                }
            } }
        }
        h3 { "Not recorded" }
        @if material.gaps().next().is_none() { p { "Nothing that a report has is missing." } }
        @else { ul { @for gap in material.gaps() { li { b { (gap.what) } ": " (gap.why) } } } }
        @if let Some(chain) = material.chain.as_ref().and_then(crate::chain::summary) {
            h3 { "Proof" }
            p {
                "chain.jsonl has the store's records " (chain.first_seq) " to " (chain.last_seq) " ("
                (words::count(chain.records, "record")) "). Their hashes end in " code.message { (chain.last) }
                ", which the store shows for record " (chain.last_seq) " as long as nobody changed it."
            }
        }
        @if !older.is_empty() { p.muted { (words::count(older.len() as u64, "event")) " began outside of the time above; tables have them, pictures do not." } }
    };
    super::section("gaps", &content)
}
