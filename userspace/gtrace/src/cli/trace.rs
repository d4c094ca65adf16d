//! `gtrace trace`: every call of a program, or of a process that runs; with `--driver --pid N` every driver call as it
//! happens, as strace would show it, without stopping the process.

mod process;
mod program;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use gtrace_abi::DeviceFilter;
use gtrace_engine::config;
use gtrace_timeline::live::{Output, Shown, Target, Tracer, show};

use super::other_host::Typed;
use super::shared::{self, Failure};
use super::signals::asked_to_end;

/// What has calls kept or counted, and not printed one by one.
const KEPT: [&str; 5] = ["program", "output", "ring", "print_env", "listen"];

/// Record the CUDA calls of a program or process, or print its driver calls live.
///
/// Exit status of `gtrace trace -- PROGRAM`: that of the program; 127 if there is none of that name, 126 if it
/// cannot be run, 3 if there is no CUDA driver here, 2 wrong usage. If the program ends with 0 and the trace or the
/// figures cannot be written, 3.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    typed: Typed,
    /// Print calls of a running process into the kernel's NVIDIA driver, as they happen.
    #[arg(long, requires = "pid", conflicts_with_all = KEPT, conflicts_with_all = ["buffer", "max_events"])]
    driver: bool,
    /// The process. Without --driver, its calls of the CUDA driver and into the kernel's are written to
    /// --output, or kept by --ring; needs root.
    #[arg(long, conflicts_with_all = ["program", "libcuda", "softgpu", "gpu_time", "print_env", "listen"])]
    pid: Option<u32>,
    /// With --pid and --output or --ring: how long (10, 90s, 5m); else until the process ends, or Ctrl-C.
    #[arg(long, value_name = "TIME", requires = "pid", conflicts_with = "driver", value_parser = super::duration::seconds)]
    duration: Option<Duration>,
    /// With --driver: only calls that failed.
    #[arg(long, requires = "driver", conflicts_with_all = KEPT)]
    failed: bool,
    /// With --driver: only calls that took at least so many microseconds.
    #[arg(long, value_name = "US", default_value_t = 0, requires = "driver", conflicts_with_all = KEPT)]
    slower_than: u64,
    /// With --driver: print one JSON object a call. With a program: write what was counted to FILE.
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
    let of_kept = args.typed.first(args.traced.only_kept());
    if let Some(option) = of_kept.filter(|_| args.traced.is_asked_for()) {
        let why =
            format!("{option} is for calls that are kept, by --output FILE.pftrace or --ring TIME");
        return Err(Failure::usage(why).into());
    }
    let pid = match args.pid {
        Some(_) if args.driver && matches!(args.json, Some(Some(_))) => {
            let why = "--json takes no file with --driver, which prints: --json > FILE";
            return Err(Failure::usage(why).into());
        }
        Some(pid) if args.driver => pid,
        Some(_) if args.json.is_some() => {
            let why = "--json is for a program (`-- PROGRAM`) and for --driver: of the calls of a running process \
                 `gtrace profile --pid PID --json` has the figures";
            return Err(Failure::usage(why).into());
        }
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
    let (target, devices) = meant(pid, &args.devices)?;
    let mut tracer = Tracer::start(pid, devices)?;
    // The summary is printed then too.
    let end = asked_to_end()?;
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

/// The process and the kinds of devices that are meant.
fn meant(pid: u32, devices: &str) -> Result<(Target, Option<Vec<DeviceFilter>>), Failure> {
    let target = Target::find(Path::new("/proc"), pid).map_err(Failure::usage)?;
    let devices = config::parse_devices(devices).map_err(Failure::usage)?;
    Ok((target, devices))
}

/// What is said where the file of `option` cannot be written.
fn unwritten(option: &str, path: &Path, error: &anyhow::Error) -> anyhow::Error {
    let path = path.display();
    anyhow::anyhow!(
        "{path} cannot be written: {error:#}; free space or name another file with {option}"
    )
}
