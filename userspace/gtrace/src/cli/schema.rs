//! `gtrace schema`: what the JSON that gtrace writes looks like.

use std::process::ExitCode;

use clap::ValueEnum;
use schemars::schema_for;

use super::shared;

/// Print the JSON Schema (2020-12) of what gtrace writes as JSON.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Which document.
    document: Document,
}

/// Documents that other programs read.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Document {
    /// An event: a line of `gtrace events --json`, an element of `/api/v1/events`.
    Event,
    /// An incident: a line of `gtrace incidents --json`, an element of `/api/v1/incidents`.
    Incident,
    /// The health of a host: `gtrace health --json`, `/api/v1/health`.
    Health,
    /// `gtrace profile --format json`, and what `gtrace profile show` reads.
    Profile,
    /// `gtrace bench remote --json`.
    BenchRemote,
}

/// Runs the command.
///
/// # Errors
///
/// What standard output says, a closed pipe aside.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let schema = match args.document {
        Document::Event => schema_for!(gtrace_event::Event),
        Document::Incident => schema_for!(gtrace_event::Incident),
        Document::Health => schema_for!(gtrace_event::HealthReport),
        Document::Profile => gtrace_profile::json::schema(),
        Document::BenchRemote => schema_for!(gtrace_measure::remote::Report),
    };
    let mut text = serde_json::to_vec_pretty(&schema)?;
    text.push(b'\n');
    shared::print_bytes(&text)?;
    Ok(ExitCode::SUCCESS)
}
