//! `gtrace pause` and `gtrace resume`: detach every probe of the running daemon, or attach them.

use std::process::ExitCode;

use anyhow::Context as _;

use super::other_host::DaemonPlace;
use super::shared;

/// Detach or attach the probes.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Which daemon.
    #[command(flatten)]
    place: DaemonPlace,
}

/// Runs the command.
pub fn run(args: Args, pause: bool) -> anyhow::Result<ExitCode> {
    let instance = args.place.resolve()?;
    let client = instance.client();
    let body = serde_json::json!({ "paused": pause });
    let _: serde_json::Value = client
        .post("/api/v1/pause", &body)
        .context("the daemon did not change its probes")?;
    instance.say_daemon(&client);
    shared::print(match pause {
        true => "paused: every probe is detached\n",
        false => "resumed\n",
    })?;
    Ok(ExitCode::SUCCESS)
}
