//! `gtrace pause` and `gtrace resume`: detach every probe of the running daemon, or attach them.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;

use crate::client::Client;

/// Detach or attach the probes.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Unix socket of the daemon.
    #[arg(long, env = "GTRACE_SOCKET", default_value = crate::api::DEFAULT_SOCKET)]
    socket: PathBuf,
}

/// Runs the command.
pub fn run(args: Args, pause: bool) -> anyhow::Result<ExitCode> {
    let client = Client::unix(&args.socket);
    let body = serde_json::json!({ "paused": pause });
    let _: serde_json::Value = client
        .post("/api/v1/pause", &body)
        .context("the daemon did not do it")?;
    println!(
        "{}",
        if pause {
            "paused: every probe is detached"
        } else {
            "resumed"
        }
    );
    Ok(ExitCode::SUCCESS)
}
