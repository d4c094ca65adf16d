//! `gtrace scan`: one look at this host, without a daemon.

use std::path::PathBuf;
use std::process::ExitCode;

use gtrace_engine::config::{Config, Keys};
use gtrace_engine::{daemon, scan};
use gtrace_event::Timestamp;

use super::health::exit;
use super::shared;
use crate::render::{self, ColorChoice, Style};

/// Check everything once, without a daemon: kernel log of this boot, devices, NVML, pressure, file systems. For the prolog
/// of a scheduler, node admission, and image builds.
///
/// Exit status: 0 healthy, 1 degraded or unhealthy, 2 wrong usage, 3 unknown or not possible: also where the kernel log or the
/// PCI devices cannot be read.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Take a host for unknown also where something less was not looked at, such as the beginning of the kernel log, if that is
    /// overwritten. By default only what says whether the host has faults counts: the kernel log and the PCI devices.
    #[arg(long)]
    strict: bool,
    /// Say nothing about progress.
    #[arg(long, short)]
    quiet: bool,
    /// When to use colours.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: ColorChoice,
    /// Configuration file.
    #[arg(long, env = "GTRACE_CONFIG")]
    config: Option<PathBuf>,
    #[command(flatten)]
    keys: Keys,
}

/// Runs the command.
///
/// # Errors
///
/// What standard output says, a closed pipe aside, and a configuration or site policy that is refused.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let config = Config::load(args.config.as_deref(), args.keys)?;
    let catalogue = daemon::catalogue(&config)?;
    let quiet = args.quiet;
    let report = scan::scan(&config, &catalogue, args.strict, |step| {
        if !quiet {
            shared::say(&format!("looking at {step}"));
        }
    })?;
    shared::show(args.json, &report, || {
        render::health(&report, &Style::of_stdout(args.color), Timestamp::now())
    })?;
    Ok(exit(report.state).into())
}
