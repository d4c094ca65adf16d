//! The state of the daemon as text: its sources, what they lost and what they cost.

use std::fmt::Write as _;

use gtrace_api::{HostHealth, ProbeCost, SourceState, SourceStatus, Status};
use gtrace_event::{Event, Timestamp};

use crate::{Style, ago, bytes, clean, line, source_state};

/// The status for people.
pub fn running(status: &Status, events: &[Event], style: &Style, now: Timestamp) -> String {
    let mut text = String::new();
    let Status {
        version,
        pid,
        host,
        last_seq,
        ..
    } = status;
    let since = ago(status.started, now);
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "daemon    gtrace {} (pid {pid}) on {}, started {since}",
        clean(version),
        clean(host)
    );
    if status.paused {
        let _ = writeln!(
            text,
            "          PAUSED: every probe is detached; `gtrace resume` attaches them"
        );
    }
    let problem = status.store_problem.as_deref();
    let problem = problem.map(|p| format!(", PROBLEM: {}", clean(p)));
    let file = status.store.as_deref();
    let file = file.map(|file| format!("{}, ", clean(&file.to_string_lossy())));
    let (file, problem) = (file.unwrap_or_default(), problem.unwrap_or_default());
    let _ = writeln!(text, "store     {file}{last_seq} records{problem}");
    let open = status.events.iter().filter(|(_, n)| **n > 0);
    let open: Vec<String> = open.map(|(s, n)| format!("{n} {}", clean(s))).collect();
    let open = match open.is_empty() {
        true => "none".to_owned(),
        false => open.join(", "),
    };
    let _ = writeln!(text, "open      {open} since start");
    let apart = status.open_apart();
    if !apart.is_empty() {
        let _ = writeln!(text, "          besides: {}", clean(&apart.join(", ")));
    }
    if !status.gpu_processes.is_empty() {
        let users = status.gpu_processes.iter().map(|p| {
            let (comm, devices) = (clean(&p.comm), clean(&p.devices.join(" ")));
            format!("{} {comm} ({devices})", p.pid)
        });
        let _ = writeln!(text, "users     {}", users.collect::<Vec<_>>().join(", "));
    }
    let _ = writeln!(text, "host      {}", health_of_host(status));
    let own = &status.footprint;
    let _ = writeln!(
        text,
        "footprint {} anonymous, {} in BPF maps, {:.1} s of CPU",
        bytes(own.rss_anon_bytes),
        bytes(own.map_bytes),
        own.cpu_seconds
    );
    problems(&mut text, status);
    sources(&mut text, &status.sources);
    let measured = |probe: &ProbeCost| probe.runs_per_second.is_some() || probe.missed > 0;
    if status.probes.iter().any(measured) {
        let _ = writeln!(
            text,
            "\n{:<34} {:>10} {:>10} {:>8} {:>8}",
            "PROBE", "MEAN ns", "RUNS/s", "CORE", "MISSED"
        );
        for p in &status.probes {
            let number =
                |value: Option<f64>| value.map_or_else(|| "-".into(), |v| format!("{v:.0}"));
            let core = p.core_share.map(|share| format!("{:.3} %", share * 100.0));
            let _ = writeln!(
                text,
                "{:<34} {:>10} {:>10} {:>8} {:>8}",
                clean(&p.probe),
                number(p.mean_ns),
                number(p.runs_per_second),
                core.as_deref().unwrap_or("-"),
                p.missed
            );
        }
    }
    if let Some(why) = &status.probe_cost_unmeasured {
        let _ = writeln!(text, "\nprobe cost is not measured: {}", clean(why));
    }
    last_events(&mut text, events, style);
    text
}

/// The health of the host. A reason that is a failed source's is said by [`problems`].
fn health_of_host(status: &Status) -> String {
    let of_source = |message: &str| {
        failed(status).find(|source| {
            let reason = source.reason.as_deref().unwrap_or_default();
            message == format!("{}: {reason}", source.name)
        })
    };
    let HostHealth { state, reasons } = &status.host_health;
    let reasons: Vec<&str> = reasons
        .iter()
        .map(|message| of_source(message).map_or(message.as_str(), |source| &source.name))
        .collect();
    match reasons.is_empty() {
        true => state.name().to_owned(),
        false => format!("{}: {}", state.name(), clean(&reasons.join("; "))),
    }
}

fn failed(status: &Status) -> impl Iterator<Item = &SourceStatus> {
    let sources = status.sources.iter();
    sources.filter(|source| source.state == SourceState::Failed)
}

/// What does not work, and why; the trouble with the store is in its own line.
fn problems(text: &mut String, status: &Status) {
    reasons(text, "problem   ", failed(status));
    for task in status.tasks.iter().filter(|task| !task.is_well()) {
        let reason = task.reason.as_deref().unwrap_or("no reason given");
        // The sources that give nothing without it say so already.
        let message = format!("the thread {} {reason}", task.name);
        if !failed(status).any(|source| source.reason.as_ref() == Some(&message)) {
            let (name, reason) = (clean(&task.name), clean(reason));
            let _ = writeln!(text, "problem   thread {name}: {reason}");
        }
    }
}

/// A line for each reason, with the names of its sources, in the order in which they are seen first.
fn reasons<'a>(text: &mut String, label: &str, sources: impl Iterator<Item = &'a SourceStatus>) {
    let mut reasons: Vec<(Option<&str>, Option<&str>, Vec<String>)> = Vec::new();
    for source in sources {
        let (reason, remedy) = (source.reason.as_deref(), source.remedy.as_deref());
        let name = clean(&source.name);
        match reasons.iter_mut().find(|r| (r.0, r.1) == (reason, remedy)) {
            Some((.., names)) => names.push(name),
            None => reasons.push((reason, remedy, vec![name])),
        }
    }
    for (reason, remedy, names) in reasons {
        let names = names.join(", ");
        let reason = clean(reason.unwrap_or("no reason given"));
        let _ = writeln!(text, "{label}{names}: {reason}");
        if let Some(remedy) = remedy {
            let _ = writeln!(text, "    remedy: {}", clean(remedy));
        }
    }
}

/// A row each; below, once each, why some give less than they could. What this host does not have is one line.
fn sources(text: &mut String, sources: &[SourceStatus]) {
    let is_absent = |source: &&SourceStatus| source.state == SourceState::Absent;
    let (absent, rows): (Vec<_>, Vec<_>) = sources.iter().partition(is_absent);
    let width = rows
        .iter()
        .map(|s| s.name.chars().count())
        .max()
        .unwrap_or(0)
        .clamp(6, 34);
    let _ = writeln!(
        text,
        "\n{:<width$} {:<9} {:>10} {:>8}",
        "SOURCE", "STATE", "RECORDS", "LOST"
    );
    for source in &rows {
        let (name, state) = (clean(&source.name), source_state(source.state));
        let _ = writeln!(
            text,
            "{name:<width$} {state:<9} {:>10} {:>8}",
            source.records, source.lost
        );
    }
    let partial = rows.into_iter().filter(|source| {
        matches!(source.state, SourceState::Degraded | SourceState::Off)
            && (source.reason.is_some() || source.remedy.is_some())
    });
    reasons(text, "", partial);
    if !absent.is_empty() {
        let names: Vec<_> = absent.iter().map(|source| clean(&source.name)).collect();
        let names = names.join(", ");
        let _ = writeln!(text, "absent    {names}: `gtrace doctor` says why");
    }
}

/// The newest events, a line each.
pub fn last_events(text: &mut String, events: &[Event], style: &Style) {
    if !events.is_empty() {
        let _ = writeln!(text, "\nLAST EVENTS");
    }
    for event in events {
        let _ = writeln!(text, "{}", line(event, style));
    }
}

#[cfg(test)]
mod tests {
    use gtrace_api::{HealthState, TaskState, TaskStatus};

    use super::*;
    use crate::ColorChoice;

    fn source(name: &str, reason: &str) -> SourceStatus {
        SourceStatus {
            name: name.to_owned(),
            state: SourceState::Failed,
            reason: Some(reason.to_owned()),
            ..SourceStatus::default()
        }
    }

    fn task(name: &str, reason: &str) -> TaskStatus {
        TaskStatus {
            name: name.to_owned(),
            state: TaskState::Hung,
            needed: true,
            replaceable: false,
            reason: Some(reason.to_owned()),
            since: Timestamp::UNIX_EPOCH,
            restarts: 0,
            last_seen_ms: 0,
            sources: Vec::new(),
            cpu_seconds: None,
        }
    }

    #[test]
    fn what_host_thread_and_source_suffer_from_is_said_once() {
        let status = Status {
            sources: vec![
                source("nvml", "no answer within 5 s"),
                source("/dev/kmsg", "the thread kmsg panicked"),
                source("printk:console", "the thread kmsg panicked"),
            ],
            tasks: vec![task("kmsg", "panicked"), task("sync", "hangs")],
            host_health: HostHealth {
                state: HealthState::Unhealthy,
                reasons: vec![
                    "nvml: no answer within 5 s".to_owned(),
                    "sysfs:rdma: slow".to_owned(),
                ],
            },
            store_problem: Some("disk full".to_owned()),
            ..Status::default()
        };
        let style = Style::of_stdout(ColorChoice::Never);
        let text = running(&status, &[], &style, Timestamp::now());
        for line in [
            "store     0 records, PROBLEM: disk full\n",
            "host      unhealthy: nvml; sysfs:rdma: slow\n",
            "problem   nvml: no answer within 5 s\n",
            "problem   /dev/kmsg, printk:console: the thread kmsg panicked\n",
            "problem   thread sync: hangs\n",
        ] {
            assert!(text.contains(line), "{line} in\n{text}");
        }
        for once in ["within 5 s", "panicked", "disk full", "hangs"] {
            assert_eq!(text.matches(once).count(), 1, "{once} in\n{text}");
        }
    }
}
