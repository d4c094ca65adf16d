//! `gtrace trace`: every call of a program, or of a process that runs; with `--driver --pid N` every driver call as it
//! happens, as strace would show it, without stopping the process.

mod process;
mod program;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gtrace_abi::DeviceFilter;
use gtrace_engine::config;
use gtrace_timeline::live::{Output, Shown, Target, Tracer, show};

use super::shared::{self, Exit, Failure, on_signals};

/// Record the CUDA calls of a program or process, or print its driver calls live.
///
/// Exit status of `gtrace trace -- PROGRAM`: that of the program; 127 if there is none of that name, 126 if it
/// cannot be run, 3 if there is no CUDA driver here, 2 wrong usage. If the program ends with 0 and the trace or the
/// figures cannot be written, 3.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Print calls of a running process into the kernel's NVIDIA driver, as they happen.
    #[arg(long, requires = "pid", conflicts_with = "program")]
    driver: bool,
    /// The process. Without --driver, its calls of the CUDA driver and into the kernel's are written to
    /// --output, or kept by --ring; needs root.
    #[arg(long, conflicts_with = "program")]
    pid: Option<u32>,
    /// With --pid and --output or --ring: how long (10, 90s, 5m); else until the process ends, or Ctrl-C.
    #[arg(long, value_name = "TIME", requires = "pid", conflicts_with = "driver", value_parser = super::duration::seconds)]
    duration: Option<Duration>,
    /// Only calls that failed.
    #[arg(long)]
    failed: bool,
    /// Only calls that took at least so many microseconds.
    #[arg(long, value_name = "US", default_value_t = 0)]
    slower_than: u64,
    /// With --driver: one JSON object a call. With a program: write what was counted to FILE.
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    json: Option<Option<PathBuf>>,
    /// Device nodes instead of the driver's own: `MAJOR[:MINOR]`, with commas.
    #[arg(long, default_value = "auto")]
    devices: String,
    #[command(flatten)]
    traced: program::Args,
}

/// Runs the command.
///
/// # Errors
///
/// What standard output says, a closed pipe aside.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let pid = match args.pid {
        Some(pid) if args.driver => pid,
        Some(pid) if args.traced.keeps_calls() => return process::run(pid, &args),
        None if args.traced.is_asked_for() => {
            return program::run(
                &args.traced,
                args.json.as_ref().map(Option::as_deref),
                &args.devices,
            );
        }
        _ => {
            let why = "say what to trace: `-- PROGRAM` (its calls of the CUDA driver), --pid PID \
                 --output FILE.pftrace or --ring TIME (calls of a running process), or --driver --pid PID (its calls into the \
                 kernel's driver, as they happen)";
            return Err(Failure::usage(why).into());
        }
    };
    let Some((target, devices)) = meant(pid, &args.devices) else {
        return Ok(Exit::Usage.into());
    };
    let mut tracer = Tracer::start(pid, devices)?;
    let end = Arc::new(AtomicBool::new(false));
    // The summary is printed then too.
    let asked = Arc::clone(&end);
    on_signals(move || asked.store(true, Ordering::Relaxed))?;
    let way = tracer.way();
    say!("tracing process {pid} by {way}; end with Ctrl-C");
    let shown = Shown {
        failed: args.failed,
        slower_than_ns: args.slower_than.saturating_mul(1000),
        json: args.json.is_some(),
    };
    let mut out = Output::new(shown, io::stdout());
    show(&mut tracer, &target, &end, &mut out)?;
    say!("{}", out.summary(&tracer.counters()));
    shared::written(out.end())?;
    Ok(ExitCode::SUCCESS)
}

/// The process and the kinds of devices that are meant. What is wrong with how they are named is said.
fn meant(pid: u32, devices: &str) -> Option<(Target, Option<Vec<DeviceFilter>>)> {
    let target = Target::find(Path::new("/proc"), pid);
    let devices = config::parse_devices(devices);
    target
        .map_err(|error| say!("{error}"))
        .ok()
        .zip(devices.map_err(|error| say!("{error}")).ok())
}

/// What is said where the file of `option` cannot be written.
fn unwritten(option: &str, path: &Path, error: &anyhow::Error) -> anyhow::Error {
    let path = path.display();
    anyhow::anyhow!(
        "{path} cannot be written: {error:#}; free space or name another file with {option}"
    )
}
