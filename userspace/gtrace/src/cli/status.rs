//! `gtrace status`: the daemon, its sources, what they lost and what they cost.

mod remote;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gtrace_api::client::{Client, ClientError};
use gtrace_api::{Health, HostHealth, SourceState, SourceStatus, Status};
use gtrace_event::{Event, Timestamp};
use gtrace_http::{Archive, ArchiveError, EventQuery};
use serde_json::json;

use super::shared::{self, Exit, Instance, StorePlace};
use crate::render::{self, ColorChoice, Style, bytes, clean};

/// How many of the newest events are shown.
const LAST_EVENTS: usize = 5;

/// Show the daemon's state.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// One JSON object.
    #[arg(long)]
    pub json: bool,
    /// Where daemon and store are.
    #[command(flatten)]
    pub place: StorePlace,
    /// When to use colours.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColorChoice,
    /// Show the clients of `gtrace serve` on this host; PATH is its status socket.
    #[arg(long, value_name = "PATH", num_args = 0..=1)]
    pub remote: Option<Option<PathBuf>>,
}

/// Runs the command.
///
/// # Errors
///
/// What standard output says, a closed pipe aside.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if let Some(path) = &args.remote {
        return remote::run(path.as_deref(), args.json);
    }
    let style = Style::of_stdout(args.color);
    let instance = args.place.resolve()?;
    let client = instance.reading_client();
    let (text, exit) = match ask(&client) {
        Ok((status, events)) => {
            instance.say_daemon(&client);
            let health = Health::of(&status);
            let exit = if health.ok {
                Exit::Success
            } else {
                Exit::Problem
            };
            let text = if args.json {
                shared::json_line(&json!({
                    "running": true, "health": health, "status": status, "last_events": events,
                }))?
            } else {
                running(&status, &events, &style, Timestamp::now())
            };
            (text, exit)
        }
        Err(error) => (down(&args, &instance, &error, &style)?, Exit::NotPossible),
    };
    shared::print(&text)?;
    Ok(exit.into())
}

fn ask(client: &Client) -> Result<(Status, Vec<Event>), ClientError> {
    let status = client.get("/api/v1/status")?;
    // A store that cannot be read is reported by the status.
    let events = client
        .get(&format!("/api/v1/events?limit={LAST_EVENTS}"))
        .unwrap_or_default();
    Ok((status, events))
}

fn down(
    args: &Args,
    instance: &Instance,
    error: &ClientError,
    style: &Style,
) -> anyhow::Result<String> {
    let query = EventQuery {
        limit: Some(LAST_EVENTS),
        ..EventQuery::default()
    };
    let read = |path: &Path| {
        let archive = Archive::open(path)?;
        Ok((archive.last_seq()?, archive.query(&query)?))
    };
    let path = instance.store();
    let stored = path
        .clone()
        .and_then(|path| read(path).map_err(|error: ArchiveError| error.to_string()));
    let path = path.ok();
    if args.json {
        let store = match &stored {
            Ok((last_seq, _)) => json!({ "path": path, "last_seq": last_seq }),
            Err(e) => json!({ "path": path, "error": e }),
        };
        let events = stored.map(|(_, events)| events).unwrap_or_default();
        return shared::json_line(&json!({
            "running": false, "error": error.to_string(), "store": store, "last_events": events,
        }));
    }
    let mut text = format!("daemon    {error}\n");
    match stored {
        Ok((last_seq, events)) => {
            let path = path.unwrap_or(Path::new("")).display();
            let _ = writeln!(text, "store     {path}: {last_seq} records");
            last_events(&mut text, &events, style);
        }
        Err(error) => {
            let _ = writeln!(text, "store     {error}");
        }
    }
    Ok(text)
}

/// The status for people.
pub(super) fn running(status: &Status, events: &[Event], style: &Style, now: Timestamp) -> String {
    let mut text = String::new();
    let Status {
        version,
        pid,
        host,
        last_seq,
        ..
    } = status;
    let since = render::ago(status.started, now);
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
    let store = status
        .store_problem
        .as_deref()
        .map(|p| format!("PROBLEM: {}", clean(p)));
    let _ = writeln!(
        text,
        "store     {last_seq} records{}",
        store.map(|s| format!(", {s}")).unwrap_or_default()
    );
    let open: Vec<String> = status
        .events
        .iter()
        .filter(|(_, n)| **n > 0)
        .map(|(s, n)| format!("{n} {}", clean(s)))
        .collect();
    let open = if open.is_empty() {
        "none".to_owned()
    } else {
        open.join(", ")
    };
    let _ = writeln!(text, "open      {open} since start");
    let apart = status.open_apart();
    if !apart.is_empty() {
        let _ = writeln!(text, "          besides: {}", clean(&apart.join(", ")));
    }
    if !status.gpu_processes.is_empty() {
        let users: Vec<String> = status
            .gpu_processes
            .iter()
            .map(|p| {
                format!(
                    "{} {} ({})",
                    p.pid,
                    clean(&p.comm),
                    clean(&p.devices.join(" "))
                )
            })
            .collect();
        let _ = writeln!(text, "users     {}", users.join(", "));
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
    if !status.probes.is_empty() {
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
    let of_source = |said: &str| {
        failed(status).find(|source| {
            let reason = source.reason.as_deref().unwrap_or_default();
            said == format!("{}: {reason}", source.name)
        })
    };
    let HostHealth { state, reasons } = &status.host_health;
    let reasons: Vec<&str> = reasons
        .iter()
        .map(|said| of_source(said).map_or(said.as_str(), |source| &source.name))
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
        let said = format!("the thread {} {reason}", task.name);
        if !failed(status).any(|source| source.reason.as_ref() == Some(&said)) {
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
        let (name, state) = (clean(&source.name), render::source_state(source.state));
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

fn last_events(text: &mut String, events: &[Event], style: &Style) {
    if !events.is_empty() {
        let _ = writeln!(text, "\nLAST EVENTS");
    }
    for event in events {
        let _ = writeln!(text, "{}", render::line(event, style));
    }
}

#[cfg(test)]
mod tests {
    use gtrace_api::{HealthState, TaskState, TaskStatus};

    use super::*;

    fn source(name: &str, reason: &str) -> SourceStatus {
        SourceStatus {
            name: name.to_owned(),
            witness: None,
            state: SourceState::Failed,
            gives: String::new(),
            needs: String::new(),
            reason: Some(reason.to_owned()),
            remedy: None,
            records: 0,
            lost: 0,
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
