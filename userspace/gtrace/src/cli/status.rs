//! `gtrace status`: the daemon, its sources, what they lost and what they cost.

mod remote;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use gtrace_devices::RdmaState;
use gtrace_event::{Event, Timestamp};
use serde_json::json;

use super::shared::{self, Exit, Place};
use crate::api::{Archive, EventQuery, Health};
use crate::client::{Client, ClientError};
use crate::hub::{SourceState, SourceStatus, Status};
use crate::render::{self, ColorChoice, Style, bytes, clean};
use crate::sources::rdma::rdma_summary;

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
    pub place: Place,
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
    let (text, exit) = match ask(&args.place.reading_client()) {
        Ok((status, events)) => {
            let health = Health::of(&status);
            let exit = if health.ok { Exit::Fine } else { Exit::Problem };
            let text = if args.json {
                shared::json_line(&json!({
                    "running": true, "health": health, "status": status, "last_events": events,
                }))?
            } else {
                running(&status, &health, &events, &style, Timestamp::now())
            };
            (text, exit)
        }
        Err(error) => (down(&args, &error, &style)?, Exit::NotPossible),
    };
    shared::print(&text)?;
    Ok(exit.into())
}

fn ask(client: &Client) -> Result<(Status, Vec<Event>), ClientError> {
    let status = client.get("/api/v1/status")?;
    // A store that cannot be read is told by the status.
    let events = client
        .get(&format!("/api/v1/events?limit={LAST_EVENTS}"))
        .unwrap_or_default();
    Ok((status, events))
}

fn down(args: &Args, error: &ClientError, style: &Style) -> anyhow::Result<String> {
    let query = EventQuery {
        limit: Some(LAST_EVENTS),
        ..EventQuery::default()
    };
    let path = args.place.store();
    let stored =
        Archive::open(&path).and_then(|archive| Ok((archive.last_seq()?, archive.query(&query)?)));
    if args.json {
        let store = match &stored {
            Ok((last_seq, _)) => json!({ "path": path, "last_seq": last_seq }),
            Err(e) => json!({ "path": path, "error": e.to_string() }),
        };
        let events = stored.map(|(_, events)| events).unwrap_or_default();
        return shared::json_line(&json!({
            "running": false, "error": error.to_string(), "store": store, "last_events": events,
        }));
    }
    let mut text = format!("daemon    {error}\n");
    match stored {
        Ok((last_seq, events)) => {
            let path = path.display();
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
pub(super) fn running(
    status: &Status,
    health: &Health,
    events: &[Event],
    style: &Style,
    now: Timestamp,
) -> String {
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
    if let Some(rdma) = status
        .rdma
        .as_ref()
        .filter(|r| r.state != RdmaState::Absent)
    {
        let _ = writeln!(text, "RDMA      {}", clean(&rdma_summary(rdma)));
    }
    let own = &status.footprint;
    let _ = writeln!(
        text,
        "footprint {} anonymous, {} in BPF maps, {:.1} s of CPU",
        bytes(own.rss_anon_bytes),
        bytes(own.map_bytes),
        own.cpu_seconds
    );
    for reason in &health.reasons {
        let _ = writeln!(text, "problem   {}", clean(reason));
    }
    sources(&mut text, &status.sources);
    if !status.probes.is_empty() {
        let _ = writeln!(
            text,
            "\n{:<34} {:>10} {:>10} {:>8} {:>8}",
            "PROBE", "MEAN ns", "RUNS/s", "CORE", "MISSED"
        );
        for p in &status.probes {
            let core = format!("{:.3} %", p.core_share * 100.0);
            let _ = writeln!(
                text,
                "{:<34} {:>10.0} {:>10.0} {core:>8} {:>8}",
                clean(&p.probe),
                p.mean_ns,
                p.runs_per_second,
                p.missed
            );
        }
    }
    last_events(&mut text, events, style);
    text
}

fn sources(text: &mut String, sources: &[SourceStatus]) {
    let width = sources
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
    for source in sources {
        let (name, state) = (clean(&source.name), state_name(source.state));
        let _ = writeln!(
            text,
            "{name:<width$} {state:<9} {:>10} {:>8}",
            source.records, source.lost
        );
        if source.state == SourceState::Active {
            continue;
        }
        if let Some(reason) = &source.reason {
            let _ = writeln!(text, "    {}", clean(reason));
        }
        if let Some(remedy) = &source.remedy {
            let _ = writeln!(text, "    remedy: {}", clean(remedy));
        }
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

/// The name of a source's state.
pub(super) fn state_name(state: SourceState) -> &'static str {
    match state {
        SourceState::Active => "active",
        SourceState::Degraded => "degraded",
        SourceState::Absent => "absent",
        SourceState::Failed => "FAILED",
        SourceState::Off => "off",
    }
}
