//! `gtrace profile diff`: which shift between two profiles is significant.

use std::path::PathBuf;
use std::process::ExitCode;

use gtrace_collect::profile_file;
use gtrace_profile::diff::{Options, compare, text};

use crate::cli::shared::{self, Exit};

/// Compare two profiles: which shift is significant, and how large. Ends with 1 if something is significantly slower.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// The profile from before.
    before: PathBuf,
    /// The profile from after.
    after: PathBuf,
    /// Confidence of intervals and of what is called real, percent.
    #[arg(long, value_name = "PERCENT", default_value_t = 95.0, value_parser = confidence)]
    confidence: f64,
    /// Least change that counts, percent.
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0, value_parser = effect)]
    min_effect: f64,
    /// How many functions without a real shift are shown; 0 for all.
    #[arg(long, default_value_t = 20)]
    limit: usize,
    /// One JSON object.
    #[arg(long)]
    json: bool,
}

fn percent(text: &str, low: f64, high: f64) -> Result<f64, String> {
    let number: Result<f64, _> = text.trim_end_matches('%').trim().parse();
    let number = number.map_err(|_| format!("`{text}` is no number"))?;
    match (low..=high).contains(&number) {
        true => Ok(number),
        false => Err(format!("between {low} and {high}")),
    }
}

fn confidence(text: &str) -> Result<f64, String> {
    percent(text, 50.0, 99.99)
}

fn effect(text: &str) -> Result<f64, String> {
    percent(text, 0.0, 10_000.0)
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let before = profile_file::read(&args.before)?;
    let after = profile_file::read(&args.after)?;
    let options = Options {
        confidence: args.confidence / 100.0,
        least_effect: args.min_effect / 100.0,
    };
    let report = compare(&before, &after, options);
    shared::show(args.json, &report, || text(&report, args.limit))?;
    Ok(match report.regressed() {
        true => Exit::Problem.into(),
        false => Exit::Success.into(),
    })
}
