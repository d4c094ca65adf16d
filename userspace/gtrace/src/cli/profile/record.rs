//! Taking a profile.

use std::process::ExitCode;
use std::sync::mpsc;

use gtrace_collect::Collector;
use gtrace_collect::profile_file::{Format, View};
use gtrace_collect::record::{Length, record};

use super::Args;
use crate::cli::shared;
use crate::cli::signals::on_signals;

/// Takes a profile and writes it.
pub(super) fn run(
    args: &Args,
    mut collectors: Vec<Box<dyn Collector>>,
) -> anyhow::Result<ExitCode> {
    let mut output = args.output.clone();
    if args.json {
        output.format = Some(Format::Json);
    }
    output.check()?;
    let live = collectors.iter().any(|c| c.counts_from_its_start());
    let lasts = args.duration.is_some() || live;
    // Before one prints that it counts: who reads that may end it at once.
    let stopped = lasts.then(until_signal).transpose()?;
    let length = Length {
        duration: args.duration,
        interval: args.interval,
    };
    let profile = record(
        &mut collectors,
        length,
        args.pid,
        stopped.as_ref(),
        shared::say,
    )?;
    if profile.rows.is_empty() {
        shared::say("no calls were counted");
    }
    let view = View {
        order: args.sort.into(),
        limit: args.limit,
    };
    output.put(&profile, view)?;
    Ok(ExitCode::SUCCESS)
}

/// A message comes there with SIGINT, SIGTERM or SIGHUP.
pub(super) fn until_signal() -> anyhow::Result<mpsc::Receiver<()>> {
    let (stop, stopped) = mpsc::channel();
    on_signals(move || {
        // Without a receiver it is over already.
        let _ = stop.send(());
    })?;
    Ok(stopped)
}
