//! `gtrace pause` and `gtrace resume`: detach every probe of the running daemon, or attach them.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use gtrace_api::PauseRequest;

use super::other_host::DaemonPlace;
use super::{duration, shared};

/// Detach the probes.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Attach them again after this time (30s, 10m, 2h; at most 24h), unless the pause that is on ends later.
    #[arg(long = "for", value_name = "TIME", value_parser = duration::seconds)]
    length: Option<Duration>,
    /// Which daemon.
    #[command(flatten)]
    place: DaemonPlace,
}

/// Attach the probes.
#[derive(clap::Args, Debug)]
pub struct ResumeArgs {
    /// Which daemon.
    #[command(flatten)]
    place: DaemonPlace,
}

/// Runs `gtrace pause`.
pub fn pause(args: Args) -> anyhow::Result<ExitCode> {
    let request = PauseRequest {
        paused: true,
        for_s: args.length.map(duration::whole_seconds),
    };
    change(&args.place, &request)
}

/// Runs `gtrace resume`.
pub fn resume(args: ResumeArgs) -> anyhow::Result<ExitCode> {
    let request = PauseRequest {
        paused: false,
        for_s: None,
    };
    change(&args.place, &request)
}

fn change(place: &DaemonPlace, request: &PauseRequest) -> anyhow::Result<ExitCode> {
    let instance = place.resolve()?;
    let client = instance.client();
    let _: serde_json::Value = client
        .post("/api/v1/pause", request)
        .context("the daemon did not change its probes")?;
    instance.say_daemon(&client);
    shared::print(&match (request.paused, request.for_s) {
        (true, None) => "paused: every probe is detached\n".to_owned(),
        (true, Some(s)) => format!("paused: every probe is detached, for at least {s} s\n"),
        (false, _) => "resumed\n".to_owned(),
    })?;
    Ok(ExitCode::SUCCESS)
}
