//! `gtrace trace --pid N --output FILE`: every call of a running process, of the CUDA driver by uprobes and into the
//! kernel's driver, as a trace. The process is neither stopped nor prepared.

use std::process::ExitCode;

use gtrace_recording::clock::{Pair, Scale};
use gtrace_timeline::live::{Daemon, DriverCalls, Freezer, Running};
use gtrace_timeline::{self as timeline, Clock, Recorded};

use super::{Args, unwritten};
use crate::cli::shared::{Exit, say};
use crate::cli::signals::asked_to_end;

/// Runs the command.
///
/// # Errors
///
/// What keeps the trace from being written.
pub(super) fn run(pid: u32, args: &Args) -> anyhow::Result<ExitCode> {
    let (target, devices) = super::meant(pid, &args.devices)?;
    let instance = args.traced.place.resolve()?;
    let mut spool = args.traced.spool()?;
    let mut trace = Running::start(pid, args.traced.buffer, say)?;
    let end = asked_to_end()?;
    let host = Daemon::watch(instance.reading_client(), None);
    let freezer = match args.traced.ring {
        Some(_) => Some(Freezer::watch(instance.client(), pid, say)?),
        None => None,
    };
    let newest = freezer.is_some();
    let driver = DriverCalls::start(pid, devices, args.traced.max_events, newest);
    if let Err(error) = &driver {
        say(&format!(
            "the trace has no calls into the driver: {error:#}"
        ));
    }
    trace.greet();
    trace.follow(&mut spool, freezer, args.duration, &end)?;
    drop(target);
    if spool.is_full() {
        say!("the trace has as many calls as --max-events allows, and ends");
    }
    let seen = trace.finish()?;
    let (driver, driver_lost) = match driver {
        Ok(driver) => driver.end()?,
        Err(_) => Default::default(),
    };
    let host = host.end(say);
    say!(
        "{}; {} calls into the driver{driver_lost}",
        seen.text(spool.dropped()),
        driver.calls.len() as u64 + driver.dropped
    );
    let traced_nothing = trace.libraries == 0 && driver.calls.is_empty();
    let recorded = Recorded {
        processes: vec![&trace.process],
        under_way: vec![seen.under_way],
        lost: vec![seen.lost + spool.dropped()],
        driver: driver.calls.into_iter().map(|call| (0, call)).collect(),
        devices: driver.names,
    };
    let clock = Clock::new(Scale::BOOTTIME, trace.begun, Pair::now());
    if let Some(output) = &args.traced.output {
        timeline::write(output, &recorded, &mut spool, &clock, &host)
            .map_err(|error| unwritten("--output", output, &error))?;
        say!("{} opens in ui.perfetto.dev", output.display());
    }
    Ok(match traced_nothing {
        // Nothing could be seen, which is not the same as no calls.
        true => Exit::NotPossible.into(),
        false => ExitCode::SUCCESS,
    })
}
