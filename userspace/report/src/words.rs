//! Sentences that page and postmortem have in common.

use gtrace_event::{Action, Advice, CausalLink, Event, Gpu, Provenance, Timestamp};

use crate::material::{Material, Window};

/// A time in UTC, to the millisecond: `2026-03-03 04:05:06.123`.
pub(crate) fn utc(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M:%S%.3f").to_string()
}

/// The time of day in UTC, to the millisecond.
pub(crate) fn clock(time: Timestamp) -> String {
    time.strftime("%H:%M:%S%.3f").to_string()
}

/// A time beside `other`: the time of day, with the date where that is another one.
pub(crate) fn beside(other: Timestamp, time: Timestamp) -> String {
    let day = |time: Timestamp| time.as_second().div_euclid(86_400);
    match day(time) == day(other) {
        true => clock(time),
        false => utc(time),
    }
}

/// The time of day in UTC, to the second.
pub(crate) fn seconds(time: Timestamp) -> String {
    time.strftime("%H:%M:%S").to_string()
}

/// A length of time as people say it: `340 ms`, `12 s`, `4 min 2 s`, `3 h 5 min`.
pub(crate) fn length(window: Window) -> String {
    let nanos = window.to.as_nanosecond() - window.from.as_nanosecond();
    let ms = u64::try_from(nanos / 1_000_000).unwrap_or(0);
    let s = ms / 1000;
    match s {
        0 => format!("{ms} ms"),
        1..10 => format!("{s}.{} s", ms % 1000 / 100),
        10..60 => format!("{s} s"),
        60..3600 => format!("{} min {} s", s / 60, s % 60),
        _ => format!("{} h {} min", s / 3600, s % 3600 / 60),
    }
}

/// A number and what it counts, in the singular or the plural: `1 event`, `2 events`.
pub(crate) fn count(number: u64, one: &str) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    let plural = match one.strip_suffix("ss") {
        _ if number == 1 => one.to_owned(),
        Some(_) => format!("{one}es"),
        None => format!("{one}s"),
    };
    format!("{text} {plural}")
}

/// How often an event happened that happened more than once: `12 times, last 04:05:06.123`.
pub(crate) fn repeats(event: &Event) -> Option<String> {
    if event.repeats == 0 {
        return None;
    }
    let last = event
        .last_time
        .map(|last| format!(", last {}", beside(event.time, last)));
    let times = count(event.repeats + 1, "time");
    Some(times + &last.unwrap_or_default())
}

/// Where an event comes from that is not of the kernel: nothing of the host is known to have failed by it.
pub(crate) const fn origin(event: &Event) -> Option<&'static str> {
    match event.provenance {
        Provenance::Kernel => None,
        Provenance::Injected => Some("drill"),
        Provenance::Userspace => Some("a process wrote it"),
        Provenance::Unknown => Some("unconfirmed"),
    }
}

/// How cause and effect of `link` stand to each other, as sure as the link is.
pub(crate) fn led_to(material: &Material, link: &CausalLink) -> &'static str {
    let time = |id| {
        let mut events = material.events.iter();
        events.find(|event| event.id == id).map(|event| event.time)
    };
    let reversed = matches!((time(link.from), time(link.to)), (Some(from), Some(to)) if from > to);
    link.relation(reversed)
}

/// What happened, in one line.
pub(crate) fn title(material: &Material) -> String {
    match (&material.incident, material.worst()) {
        (Some(incident), _) => incident.title.clone(),
        (None, Some(event)) => {
            let first = event.message.lines().next().unwrap_or("");
            format!("{}: {}", event.kind, shortened(first, 160))
        }
        (None, None) => "No event in this time".to_owned(),
    }
}

/// At most `most` characters, with an ellipsis where there were more.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}

/// `text` with control characters as the kernel writes them (`\x1b`): to a terminal they are commands. Those of `kept` stay.
pub(crate) fn printable(text: &str, kept: &[char]) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_control() && !kept.contains(&c) {
            true => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            false => out.push(c),
        }
    }
    out
}

/// What to do: that of the incident, else of its most severe event.
pub(crate) fn advice(material: &Material) -> Option<&Advice> {
    let of_incident = material
        .incident
        .as_ref()
        .and_then(|incident| incident.advice.as_ref());
    of_incident.or_else(|| material.worst()?.advice.as_ref())
}

/// What the site's policy wants, as a sentence.
pub(crate) const fn action(action: Action) -> &'static str {
    match action {
        Action::Log => "Keep the record; nobody has to act.",
        Action::Ticket => "Open a ticket; check it in working hours.",
        Action::Page => "Page: check it now.",
        Action::Drill => "Drill: follow the steps as an exercise, touch no device, alert nobody.",
    }
}

/// A device in few words: its address, and its index.
pub(crate) fn gpu_short(device: &Gpu) -> String {
    match device.pci {
        None => gpu(device),
        Some(_) => gpu(&Gpu {
            uuid: None,
            ..device.clone()
        }),
    }
}

/// A device as people find it.
pub(crate) fn gpu(gpu: &Gpu) -> String {
    let mut text = gpu.pci.map(|pci| pci.to_string()).unwrap_or_default();
    if let Some(index) = gpu.index {
        text.push_str(&format!(" (index {index})"));
    }
    if let Some(instance) = gpu.mig_gi {
        text.push_str(&format!(" MIG instance {instance}"));
        if let Some(profile) = &gpu.mig_profile {
            text.push_str(&format!(" ({profile})"));
        }
    }
    if let Some(uuid) = &gpu.uuid {
        text.push_str(&format!(" {uuid}"));
    }
    match text.trim() {
        "" => "not known which".to_owned(),
        text => text.to_owned(),
    }
}

/// What is affected, a kind at a time: `GPUs`, and which.
pub(crate) fn affected(material: &Material) -> Vec<(&'static str, Vec<String>)> {
    let process = |process: &gtrace_event::Process| {
        let comm = process.comm.as_deref().unwrap_or("name not known");
        match process.pid {
            Some(pid) => format!("{comm} (pid {pid})"),
            None => comm.to_owned(),
        }
    };
    let (gpus, processes, [containers, jobs, clients]) = match &material.incident {
        Some(incident) => {
            let affected = &incident.affected;
            let others = [
                &affected.containers,
                &affected.jobs,
                &affected.remote_clients,
            ]
            .map(Clone::clone);
            let gpus: Vec<String> = affected.gpus.iter().map(gpu).collect();
            (
                gpus,
                affected.processes.iter().map(process).collect(),
                others,
            )
        }
        None => of_events(&material.events, process),
    };
    [
        ("GPUs", gpus),
        ("Processes", processes),
        ("Containers", containers),
        ("Jobs", jobs),
        ("Remote clients", clients),
    ]
    .into_iter()
    .filter(|(_, all)| !all.is_empty())
    .collect()
}

type AffectedLists = (Vec<String>, Vec<String>, [Vec<String>; 3]);

fn of_events(
    events: &[Event],
    process: impl Fn(&gtrace_event::Process) -> String,
) -> AffectedLists {
    let unique = |texts: &mut dyn Iterator<Item = String>| {
        let all: std::collections::BTreeSet<String> = texts.collect();
        all.into_iter().collect::<Vec<_>>()
    };
    let processes = || events.iter().filter_map(|event| event.process.as_ref());
    (
        unique(
            &mut events
                .iter()
                .filter_map(|event| event.gpu.as_ref())
                .map(gpu),
        ),
        unique(&mut processes().map(process)),
        [
            unique(&mut processes().filter_map(|process| process.container.clone())),
            Vec::new(),
            Vec::new(),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_counts_read_as_people_say_them() {
        let at = |ms: i64| Timestamp::from_millisecond(ms).unwrap();
        let of = |ms| {
            length(Window {
                from: at(0),
                to: at(ms),
            })
        };
        assert_eq!(
            [340, 2_500, 12_000, 242_000, 11_100_000].map(of),
            ["340 ms", "2.5 s", "12 s", "4 min 2 s", "3 h 5 min"]
        );
        assert_eq!(count(1, "event"), "1 event");
        assert_eq!(count(12_345, "process"), "12,345 processes");
    }
}
