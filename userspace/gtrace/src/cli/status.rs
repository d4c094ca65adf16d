//! `gtrace status`: the daemon, its sources, what they lost and what they cost.

mod remote;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gtrace_api::client::{Client, ClientError};
use gtrace_api::{Health, Status};
use gtrace_devices::GpuInfo;
use gtrace_event::{Event, Incident, Timestamp};
use gtrace_http::{Archive, ArchiveError, EventQuery};
use gtrace_store::IncidentFilter;
use serde_json::json;

use super::other_host::ReadPlace;
use super::shared::{self, Exit, Instance};
use crate::render::daemon_status::{last_events, running};
use crate::render::{ColorChoice, Style, clean, incident_line};

/// How many of the newest events are shown.
const LAST_EVENTS: usize = 5;
/// How many of the unresolved incidents are shown.
const OPEN_INCIDENTS: usize = 5;
/// How many are counted.
const SOUGHT: usize = 1_000;

/// Show the state of the daemon and its sources.
///
/// Exit status: 0 all works, 1 something does not (as `/healthz` says), 2 wrong usage, 3 no daemon answers, or with --remote no
/// server.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// One JSON object.
    #[arg(long)]
    pub json: bool,
    /// Where daemon and store are.
    #[command(flatten)]
    pub place: ReadPlace,
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
                let gpus: Vec<GpuInfo> = client.get("/api/v1/gpus").unwrap_or_default();
                let text = running(&status, &events, &style, Timestamp::now()) + &divided(&gpus);
                // A store that cannot be read is reported by the status.
                let incidents = client.get(&format!("/api/v1/incidents?open=true&limit={SOUGHT}"));
                text + &unresolved(incidents.unwrap_or_default(), &style)
            };
            (text, exit)
        }
        Err(error) => (down(&args, &instance, &error, &style)?, Exit::NotPossible),
    };
    shared::print(&text)?;
    Ok(exit.into())
}

/// The incidents that nobody has resolved, also those of before the daemon's start, of which its counts say nothing. Where
/// there is no room for all, the mildest are left out, drills before them, and of equals the oldest.
fn unresolved(mut incidents: Vec<Incident>, style: &Style) -> String {
    incidents.sort_by_key(Incident::rank);
    let more = incidents.len().saturating_sub(OPEN_INCIDENTS);
    let shown = &mut incidents[more..];
    shown.sort_by_key(|incident| incident.opened);
    let mut text = String::new();
    if !shown.is_empty() {
        text.push_str("\nOPEN INCIDENTS\n");
    }
    if more > 0 {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{more} more: `gtrace incidents --open` lists them");
    }
    for incident in shown {
        text.push_str(&incident_line(incident, style));
    }
    text
}

/// GPUs in MIG mode and vGPUs without their licence, a line each: which need no other word of a status.
fn divided(gpus: &[GpuInfo]) -> String {
    let mut text = String::new();
    for gpu in gpus {
        let Some(sample) = &gpu.sample else { continue };
        let mut parts = Vec::new();
        if sample.mig.is_some_and(|mig| mig.enabled) {
            let profiles = sample.mig_instances.iter().map(|instance| {
                let profile = instance.profile.as_deref().unwrap_or("?");
                clean(profile)
            });
            let profiles: Vec<String> = profiles.collect();
            parts.push(match profiles.is_empty() {
                _ if sample.mig_instances_unread => "MIG, instances unread".to_owned(),
                true => "MIG, no instances".to_owned(),
                false => format!("MIG {}", profiles.join(" ")),
            });
        }
        let license = sample.vgpu_license.as_ref();
        parts.extend(
            license
                .and_then(|l| l.fault(sample.time))
                .map(|why| clean(&why)),
        );
        if parts.is_empty() {
            continue;
        }
        if text.is_empty() {
            text.push_str("\nDIVIDED GPUS\n");
        }
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}  {}", gpu.pci, parts.join("  "));
    }
    text
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
        let open = IncidentFilter {
            unresolved: true,
            limit: Some(SOUGHT),
            ..IncidentFilter::default()
        };
        let incidents = archive.incidents(&open)?;
        Ok((archive.last_seq()?, archive.query(&query)?, incidents))
    };
    let path = instance.store();
    let stored = path
        .clone()
        .and_then(|path| read(path).map_err(|error: ArchiveError| error.to_string()));
    let path = path.ok();
    if args.json {
        let store = match &stored {
            Ok((last_seq, ..)) => json!({ "path": path, "last_seq": last_seq }),
            Err(e) => json!({ "path": path, "error": e }),
        };
        let events = stored.map(|(_, events, _)| events).unwrap_or_default();
        return shared::json_line(&json!({
            "running": false, "error": error.to_string(), "store": store, "last_events": events,
        }));
    }
    let mut text = format!("daemon    {error}\n");
    match stored {
        Ok((last_seq, events, incidents)) => {
            let path = path.unwrap_or(Path::new("")).display();
            let _ = writeln!(text, "store     {path}: {last_seq} records");
            last_events(&mut text, &events, style);
            text.push_str(&unresolved(incidents, style));
        }
        Err(_) if instance.is_remote() => {}
        Err(error) => {
            let _ = writeln!(text, "store     {error}");
        }
    }
    Ok(text)
}
