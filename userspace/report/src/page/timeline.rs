//! The picture of the time: a lane for each part of the host, marks for events, bars for calls.
//!
//! Positions across are percentages, so that the picture fits any width, and a script that widens it need not draw anew.

use std::collections::BTreeMap;

use gtrace_event::{EventId, Severity, Timestamp};
use maud::{Markup, html};

use crate::lane::Lane;
use crate::material::{Call, Material, Window};
use crate::words;

/// Height of a lane, px. The style sheet has the same for the lanes' names.
const LANE: usize = 36;
/// Places across in which marks of a lane are drawn as one.
const PLACES: usize = 200;
/// Bars of calls in a lane, at most: the longest.
const CALLS_MAX: usize = 300;
/// A label is drawn where this share of the width is free.
const LABEL: f64 = 0.13;
/// A picture of the incident alone is drawn where it takes less than this share of the time.
const SMALL: f64 = 0.2;

/// Marks that fall onto one place of a lane.
struct Mark {
    share: f64,
    severity: Severity,
    count: usize,
    title: String,
    label: String,
    number: Option<usize>,
}

/// The section: the whole time, and the incident alone where it is a small part of that.
pub(super) fn section(material: &Material) -> Markup {
    if material.events.is_empty() && material.calls.is_empty() && material.kernel_log.is_empty() {
        return super::section(
            "timeline",
            &super::not_recorded(material, crate::missing::EVENTS),
        );
    }
    let close = material.span().and_then(|span| close_up(material, span));
    let content = html! {
        @if let Some(close) = close {
            h3 { "The incident: " (words::clock(close.from)) " to " (words::beside(close.from, close.to)) " UTC" }
            (picture(material, close, "close"))
            h3 { "All of the time" }
        }
        (picture(material, material.window, "whole"))
        (legend())
    };
    super::section("timeline", &content)
}

/// The incident with some time around it.
fn close_up(material: &Material, span: Window) -> Option<Window> {
    let length = span.to.as_nanosecond() - span.from.as_nanosecond();
    let whole = material.window.to.as_nanosecond() - material.window.from.as_nanosecond();
    if length as f64 > whole as f64 * SMALL {
        return None;
    }
    // At least 50 ms, so that the axis has times that differ.
    let margin = jiff::SignedDuration::from_nanos(i64::try_from(length / 8).ok()?.max(25_000_000));
    Some(Window {
        from: span.from.checked_sub(margin).ok()?,
        to: span.to.checked_add(margin).ok()?,
    })
}

fn picture(material: &Material, window: Window, id: &str) -> Markup {
    let marks = marks(material, window);
    let lanes: Vec<Lane> = Lane::ALL
        .into_iter()
        .filter(|lane| lane.is_usual() || marks.contains_key(lane))
        .collect();
    let height = lanes.len() * LANE + 24;
    let picture = format!("picture-{id}");
    let busy = |lane: &Lane| marks.contains_key(lane) || has_more(material, *lane, window);
    html! {
        div.controls data-controls hidden {
            button type="button" data-zoom="2" data-of=(picture) { "Zoom in" } " "
            button type="button" data-zoom="0.5" data-of=(picture) { "Zoom out" } " "
            button type="button" data-zoom="0" data-of=(picture) { "Whole width" }
        }
        div.timeline {
            div.names {
                @for lane in &lanes {
                    @if busy(lane) { div { (lane.name()) } } @else { div.empty { (lane.name()) ": none" } }
                }
            }
            div.scroll tabindex="0" role="group" aria-label="Timeline" {
                svg id=(picture) width="100%" height=(height) role="img" aria-label=(spoken(material, window)) {
                    (ground(material, window, lanes.len()))
                    (log_lines(material, window, &lanes))
                    @for (row, lane) in lanes.iter().enumerate() { (bars(material, window, *lane, row)) }
                    (causes(material, window, &lanes))
                    @for (row, lane) in lanes.iter().enumerate() {
                        @if let Some(marks) = marks.get(lane) { (row_of_marks(marks, row)) }
                    }
                }
            }
        }
    }
}

/// What a screen reader says instead of the picture.
fn spoken(material: &Material, window: Window) -> String {
    let events = material
        .events
        .iter()
        .filter(|event| window.holds(event.time))
        .count() as u64;
    format!(
        "Timeline from {} to {} UTC with {}; the table of events has them all",
        words::utc(window.from),
        words::beside(window.from, window.to),
        words::count(events, "event")
    )
}

fn percent(share: f64) -> String {
    format!("{:.3}%", share * 100.0)
}

/// Lines between lanes, times below, and the incident's time shaded.
fn ground(material: &Material, window: Window, lanes: usize) -> Markup {
    let bottom = lanes * LANE;
    let at = |step: i32| -> Timestamp {
        let length = window.to.as_nanosecond() - window.from.as_nanosecond();
        let nanos = window.from.as_nanosecond() + length * i128::from(step) / 6;
        Timestamp::from_nanosecond(nanos).unwrap_or(window.from)
    };
    html! {
        @if let Some(span) = material.span() {
            @let (from, to) = (window.share(span.from), window.share(span.to));
            rect.span x=(percent(from)) width=(percent((to - from).max(0.001))) y="0" height=(bottom) {}
        }
        @for lane in 1..=lanes { line.grid x1="0" x2="100%" y1=(lane * LANE) y2=(lane * LANE) {} }
        @for step in 0..6 {
            @let x = percent(f64::from(step) / 6.0);
            line.grid x1=(x) x2=(x) y1="0" y2=(bottom) {}
            svg x=(x) overflow="visible" { text.axis x="4" y=(bottom + 16) { (axis(at(step), window)) } }
        }
    }
}

/// A time below the picture: with milliseconds where the picture is short.
fn axis(time: Timestamp, window: Window) -> String {
    let length = window.to.as_nanosecond() - window.from.as_nanosecond();
    match length < 30_000_000_000 {
        true => words::clock(time),
        false => words::seconds(time),
    }
}

/// How many lines the kernel log has where.
fn log_lines(material: &Material, window: Window, lanes: &[Lane]) -> Markup {
    let Some(row) = lanes.iter().position(|lane| *lane == Lane::KernelLog) else {
        return html! {};
    };
    let mut places = vec![0_u32; PLACES];
    for record in material
        .kernel_log
        .iter()
        .filter(|record| window.holds(record.time))
    {
        places[place(window.share(record.time))] += 1;
    }
    let most = places.iter().copied().max().unwrap_or(0).max(1);
    html! {
        @for (at, count) in places.iter().enumerate().filter(|(_, count)| **count > 0) {
            @let x = percent((at as f64 + 0.5) / PLACES as f64);
            @let height = 4.0 + 16.0 * f64::from(*count) / f64::from(most);
            line.log x1=(x) x2=(x) y1=((row + 1) * LANE) y2=(format!("{:.1}", ((row + 1) * LANE) as f64 - height)) {
                title { (words::count(u64::from(*count), "line")) " of the kernel log" }
            }
        }
    }
}

fn place(share: f64) -> usize {
    ((share * PLACES as f64) as usize).min(PLACES - 1)
}

/// Bars of calls.
fn bars(material: &Material, window: Window, lane: Lane, row: usize) -> Markup {
    let mut calls: Vec<&Call> = calls_of(material, lane, window).collect();
    calls.sort_by_key(|call| std::cmp::Reverse(call.duration_ns));
    calls.truncate(CALLS_MAX);
    html! {
        @for call in calls {
            @let (from, to) = (window.share(call.start), window.share(call.end(material.window)));
            @let failed = call.status.is_some() || !call.returned;
            rect.call.failed[failed] x=(percent(from)) width=(percent((to - from).max(0.0005))) y=(row * LANE + 22)
                height="7" rx="1" { title { (bar_title(call)) } }
        }
    }
}

fn bar_title(call: &Call) -> String {
    let time = call
        .duration_ns
        .map_or("time not known".to_owned(), gtrace_profile::text::duration);
    let status = match (&call.status, call.returned) {
        (Some(status), _) => format!(", {status}"),
        (None, false) => ", had not returned".to_owned(),
        (None, true) => String::new(),
    };
    let comm = call.comm.as_deref().unwrap_or("process not known");
    format!(
        "{} of {comm}: {time}{status}, {}",
        call.name,
        words::clock(call.start)
    )
}

fn calls_of(material: &Material, lane: Lane, window: Window) -> impl Iterator<Item = &Call> {
    material.calls.iter().filter(move |call| {
        Lane::of_calls(call.layer) == lane
            && call.start <= window.to
            && call.end(material.window) >= window.from
    })
}

/// Whether a lane without events has something else.
fn has_more(material: &Material, lane: Lane, window: Window) -> bool {
    calls_of(material, lane, window).next().is_some()
        || (lane == Lane::KernelLog
            && material
                .kernel_log
                .iter()
                .any(|record| window.holds(record.time)))
}

fn marks(material: &Material, window: Window) -> BTreeMap<Lane, Vec<Mark>> {
    let numbers = numbers(material);
    let mut places: BTreeMap<(Lane, usize), Mark> = BTreeMap::new();
    for event in material
        .events
        .iter()
        .filter(|event| window.holds(event.time))
    {
        let share = window.share(event.time);
        let number = numbers.get(&event.id).copied();
        let mark = Mark {
            share,
            severity: event.severity,
            count: 1,
            title: format!(
                "{} {} {}: {}",
                words::clock(event.time),
                event.severity,
                event.kind,
                words::shortened(&event.message, 160)
            ),
            label: event
                .detail
                .xid
                .xid
                .map_or_else(|| event.kind.to_string(), |xid| format!("Xid {xid}")),
            number,
        };
        match places.entry((Lane::of(event), place(share))) {
            std::collections::btree_map::Entry::Vacant(free) => drop(free.insert(mark)),
            std::collections::btree_map::Entry::Occupied(mut taken) => {
                let kept = taken.get_mut();
                let better =
                    (mark.number.is_some(), mark.severity) > (kept.number.is_some(), kept.severity);
                let count = kept.count + 1;
                if better {
                    *kept = mark;
                }
                kept.count = count;
            }
        }
    }
    let mut lanes: BTreeMap<Lane, Vec<Mark>> = BTreeMap::new();
    for ((lane, _), mark) in places {
        lanes.entry(lane).or_default().push(mark);
    }
    lanes
}

/// Numbers of the events of the cause chain.
fn numbers(material: &Material) -> BTreeMap<EventId, usize> {
    material.chain_events().into_iter().zip(1..).collect()
}

fn row_of_marks(marks: &[Mark], row: usize) -> Markup {
    let mut free_from = 0.0;
    let labelled: Vec<(&Mark, bool)> = marks
        .iter()
        .map(|mark| {
            let from = if mark.share > 1.0 - LABEL {
                mark.share - LABEL
            } else {
                mark.share
            };
            let fits = from >= free_from || mark.number.is_some();
            if fits {
                free_from = from.max(free_from) + LABEL;
            }
            (mark, fits)
        })
        .collect();
    let middle = row * LANE + 14;
    html! {
        @for (mark, labelled) in labelled {
            svg x=(percent(mark.share)) y=(middle) overflow="visible" {
                g {
                    title { (mark.title) @if mark.count > 1 { " (and " (mark.count - 1) " more here)" } }
                    (shape(mark.severity))
                    @if labelled {
                        @let right = mark.share > 1.0 - LABEL;
                        text.halo x=(if right { "-10" } else { "10" }) y="4" text-anchor=(if right { "end" } else { "start" }) {
                            @if let Some(number) = mark.number { (circled(number)) " " }
                            (mark.label)
                            @if mark.count > 1 { " ×" (mark.count) }
                        }
                    }
                }
            }
        }
    }
}

/// A number in a circle, as far as Unicode has them.
fn circled(number: usize) -> String {
    let circled = u32::try_from(number)
        .ok()
        .filter(|n| (1..=20).contains(n))
        .and_then(|n| char::from_u32(0x245f + n));
    circled.map_or_else(|| format!("({number})"), |c| c.to_string())
}

/// A severity's shape: which one it is can be seen without colour.
fn shape(severity: Severity) -> Markup {
    let path = match severity {
        Severity::Info => "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0",
        Severity::Warning => "M0,-6L6,5L-6,5Z",
        Severity::Critical => "M0,-7L7,0L0,7L-7,0Z",
        Severity::Fatal => "M-6,-6H6V6H-6Z",
    };
    html! { path.mark.(severity.name()) d=(path) {} }
}

/// Arrows of the cause chain.
fn causes(material: &Material, window: Window, lanes: &[Lane]) -> Markup {
    let place = |id: EventId| {
        let event = material
            .events
            .iter()
            .find(|event| event.id == id && window.holds(event.time))?;
        let row = lanes.iter().position(|lane| *lane == Lane::of(event))?;
        Some((percent(window.share(event.time)), row * LANE + 14))
    };
    let links = material
        .incident
        .iter()
        .flat_map(|incident| &incident.chain);
    html! {
        @for link in links {
            @if let (Some((x1, y1)), Some((x2, y2))) = (place(link.from), place(link.to)) {
                line.cause x1=(x1) y1=(y1) x2=(x2) y2=(y2) {}
            }
        }
    }
}

fn legend() -> Markup {
    let key = |severity: Severity| {
        html! { svg width="16" height="16" viewBox="-8 -8 16 16" aria-hidden="true" { (shape(severity)) } }
    };
    html! {
        ul.legend {
            @for severity in Severity::ALL { li { (key(severity)) " " (severity) } }
            li { svg width="22" height="10" aria-hidden="true" { rect.call x="0" y="2" width="22" height="7" {} } " call, slow" }
            li { svg width="22" height="10" aria-hidden="true" { rect.call.failed x="0" y="2" width="22" height="7" {} } " call, failed or not returned" }
            li { svg width="22" height="10" aria-hidden="true" { line.cause x1="0" x2="22" y1="5" y2="5" {} } " from a cause, or what may be one, to its effect" }
            li { "shaded: from the first event to the last" }
        }
    }
}
