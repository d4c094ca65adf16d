//! `gtrace maintenance`: windows in which people work on this host.

use std::process::ExitCode;
use std::time::Duration;

use gtrace_api::MaintenanceRequest;
use gtrace_event::{HealthReport, MaintenanceWindow, Timestamp};

use super::ack::named;
use super::duration;
use super::other_host::DaemonPlace;
use super::shared::{self, Exit, Failure};
use crate::render::{self, ColorChoice, Style};

/// Mark alerts while people work on this host: states and records go on, alerts carry the label `maintenance="true"`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum What {
    /// Begin a window, or set another end for the one that is on.
    Start {
        /// How long (30m, 2h, 1.5h), at most 30 days.
        #[arg(long = "for", value_name = "TIME", value_parser = duration::seconds)]
        length: Duration,
        #[command(flatten)]
        common: Common,
    },
    /// End the window that is on.
    Stop(Common),
    /// Show the window that is on.
    Show {
        /// Print JSON.
        #[arg(long)]
        json: bool,
        /// Which daemon.
        #[command(flatten)]
        place: DaemonPlace,
    },
}

#[derive(Clone, Debug, clap::Args)]
struct Common {
    /// Why.
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
    /// Who asks; by default the user who runs this, with sudo the one who ran sudo.
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Print the window as JSON.
    #[arg(long)]
    json: bool,
    /// Which daemon.
    #[command(flatten)]
    place: DaemonPlace,
}

/// Runs the command.
///
/// # Errors
///
/// Why it is not done; what standard output says, a closed pipe aside, and a configuration that is refused.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.what {
        What::Start { length, common } => change(common, duration::whole_seconds(length).into()),
        What::Stop(common) => change(common, 0),
        What::Show { json, place } => show(json, &place),
    }
}

fn change(common: Common, for_s: u64) -> anyhow::Result<ExitCode> {
    let by = named(common.by)?;
    let instance = common.place.resolve()?;
    let client = instance.client();
    let known = client.get::<HealthReport>("/api/v1/health");
    let is_on = |report: HealthReport| {
        report
            .maintenance
            .is_some_and(|w| w.is_on(Timestamp::now()))
    };
    if for_s == 0 && known.is_ok_and(|report| !is_on(report)) {
        shared::say("no maintenance window is on");
        if common.json {
            shared::print("null\n")?;
        }
        return Ok(Exit::Success.into());
    }
    let request = MaintenanceRequest {
        for_s,
        by,
        note: common.note,
    };
    let made = client.post("/api/v1/maintenance", &request);
    let window: MaintenanceWindow = made.map_err(Failure::from)?;
    instance.say_daemon(&client);
    shared::show(common.json, &window, || match for_s {
        0 => "the maintenance window has ended\n".to_owned(),
        _ => line(&window),
    })?;
    Ok(Exit::Success.into())
}

fn show(json: bool, place: &DaemonPlace) -> anyhow::Result<ExitCode> {
    let instance = place.resolve()?;
    let client = instance.reading_client();
    let report = client.get("/api/v1/health");
    let report: HealthReport = report.map_err(Failure::not_possible)?;
    instance.say_daemon(&client);
    let window = report.maintenance.filter(|w| w.is_on(Timestamp::now()));
    shared::show(json, &window, || match &window {
        Some(window) => line(window),
        None => "no maintenance window is on\n".to_owned(),
    })?;
    Ok(Exit::Success.into())
}

fn line(window: &MaintenanceWindow) -> String {
    render::maintenance(window, &Style::of_stdout(ColorChoice::default()))
}
