//! `gtrace profile --pid N` and `--all`: CUDA calls of running processes, by probes of its own.

use std::process::ExitCode;
use std::time::Instant;

use gtrace_collect::record::wait;
use gtrace_collect::{Calls, Collector as _};
use gtrace_render::cuda_calls;
use gtrace_uprobes::Settings;

use super::record;
use crate::cli::shared::{self, Exit};

/// What `profile` asks for besides the process.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ApiArgs {
    /// What the probes on CUDA calls may cost, in percent of the CPU time of the traced processes; the
    /// most expensive are detached beyond it. 0 for any cost.
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, value_parser = percent)]
    budget: f64,
    /// The beginning of the names of the driver's library files.
    #[arg(long, value_name = "NAME", default_value = gtrace_uprobes::library::LIBCUDA)]
    library: String,
    /// MiB of the device's memory, to predict when it is full for programs that do not ask the driver
    /// how much there is.
    #[arg(long, value_name = "MIB")]
    device_memory: Option<u64>,
}

impl ApiArgs {
    /// The same for the probes.
    pub(super) fn settings(&self) -> Settings {
        Settings {
            budget: (self.budget > 0.0).then_some(self.budget / 100.0),
            library: self.library.clone(),
            device_memory: self.device_memory.map(|mib| mib.saturating_mul(1 << 20)),
            ..Settings::default()
        }
    }
}

fn percent(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("not a number from 0 to 100".to_owned()),
    }
}

/// Runs the command.
pub(super) fn run(args: &super::Args) -> anyhow::Result<ExitCode> {
    // Before it prints that it counts: who reads that may end it at once, and wants to know what was counted.
    let stopped = record::until_signal()?;
    let mut calls = Calls::new(args.pid, args.probes.settings(), shared::say);
    calls.start()?;
    let start = Instant::now();
    let due = args.duration.map(|duration| start + duration);
    wait(&mut [&mut calls], &stopped, due)?;
    let report = calls.end(start.elapsed())?;
    shared::show(args.json, &report, || {
        cuda_calls::text(&report, args.sort.into(), args.limit)
    })?;
    Ok(match report.libraries.is_empty() && args.pid.is_some() {
        // Nothing could be seen, which is not the same as no calls.
        true => Exit::NotPossible.into(),
        false => ExitCode::SUCCESS,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_numbers_in_range() {
        assert_eq!(percent("2.5"), Ok(2.5));
        assert!(percent("101").is_err() && percent("-1").is_err());
    }
}
