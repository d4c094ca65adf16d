//! `gtrace trace`: every call of a program, or of a process that runs; with `--driver --pid N` every driver call as it
//! happens, as strace would show it, without stopping the process.

mod host;
mod output;
mod process;
mod program;
pub(crate) mod target;

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gtrace_abi::{CallRecord, Config, Decode, DeviceFilter};
use gtrace_decoder::DriverVersion;
use gtrace_engine::bpf::{
    self, AttachState, LoadError, Probes, ProbesOptions, RingRecord, Tracefs, drain,
};
use gtrace_engine::config;
use gtrace_engine::daemon::explain_load;
use gtrace_engine::sources::driver_modules::Follower;
use gtrace_engine::sources::layouts;
use gtrace_engine::sources::watched::{self, DeviceNames};
use gtrace_event::WitnessName;

use self::output::Output;
use self::target::Target;
use super::shared::on_signals;
use super::{USAGE, not_possible};

/// Between checks whether the process still lives, and at the driver's modules.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// The probes that see driver calls.
const WANTED: [WitnessName; 2] = [WitnessName::DriverIoctl, WitnessName::SyscallIoctl];

/// Record the CUDA calls of a program or process, or print its driver calls live.
///
/// Exit status of `gtrace trace -- PROGRAM`: that of the program; 127 if there is none of that name, 126 if it
/// cannot be run, 3 if there is no CUDA driver here, 2 wrong usage.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Print calls of a running process into the kernel's NVIDIA driver, as they happen.
    #[arg(long, requires = "pid", conflicts_with = "program")]
    driver: bool,
    /// The process. Without --driver, its calls of the CUDA driver and into the kernel's are written to
    /// --output; needs root.
    #[arg(long, conflicts_with = "program")]
    pid: Option<u32>,
    /// With --pid and --output: how long (10, 90s, 5m); else until the process ends, or Ctrl-C.
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
        Some(pid) if args.traced.output.is_some() => return process::run(pid, &args),
        None if args.traced.is_asked_for() => {
            return program::run(
                &args.traced,
                args.json.as_ref().map(Option::as_deref),
                &args.devices,
            );
        }
        _ => {
            say!(
                "say what to trace: `-- PROGRAM` (its calls of the CUDA driver), --pid PID \
                 --output FILE.pftrace (calls of a running process), or --driver --pid PID (its calls into the \
                 kernel's driver, as they happen)"
            );
            return Ok(ExitCode::from(USAGE));
        }
    };
    let Some((target, devices)) = meant(pid, &args.devices) else {
        return Ok(ExitCode::from(USAGE));
    };
    let mut tracer = match Tracer::start(pid, devices) {
        Ok(tracer) => tracer,
        Err(error) => return Ok(not_possible(&error)),
    };
    let end = Arc::new(AtomicBool::new(false));
    // The summary is printed then too.
    let asked = Arc::clone(&end);
    on_signals(move || asked.store(true, Ordering::Relaxed))?;
    let way = tracer.way();
    say!("tracing process {pid} by {way}; end with Ctrl-C");
    let mut out = Output::new(&args, io::stdout());
    show(&mut tracer, &target, &end, &mut out)?;
    say!("{}", out.summary(&tracer.probes.counters()));
    out.end()?;
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

/// Takes driver calls.
trait Sink {
    /// The next one.
    fn call(&mut self, call: &CallRecord);
    /// How many there were.
    fn calls(&self) -> u64;
    /// Names of the device files, as they are from now on.
    fn set_names(&mut self, names: DeviceNames);
    /// False once nobody wants any more.
    fn flush(&mut self) -> bool;
}

/// Hands calls on until the process or its tracing ends, and what had been seen by then.
fn show(
    tracer: &mut Tracer,
    target: &Target,
    end: &AtomicBool,
    out: &mut dyn Sink,
) -> anyhow::Result<()> {
    let mut rings = tracer.probes.take_rings()?;
    out.set_names(DeviceNames::read(Path::new("/proc")));
    let stop = AtomicBool::new(false);
    let mut detached = false;
    let mut taken = 0;
    let mut looked = Instant::now();
    let mut failure = None;
    // Both closures need it, one at a time.
    let shared = RefCell::new(out);
    drain(
        &mut rings,
        &stop,
        |record| {
            if let Some(RingRecord::Call(call)) = record {
                shared.borrow_mut().call(&call);
            }
        },
        || {
            let mut out = shared.borrow_mut();
            if detached {
                // Nothing comes any more; the ring is empty once a round has taken nothing.
                let before = std::mem::replace(&mut taken, out.calls());
                stop.store(before == taken, Ordering::Relaxed);
                return true;
            }
            let mut over = !out.flush() || end.load(Ordering::Relaxed);
            if looked.elapsed() >= POLL_INTERVAL {
                looked = Instant::now();
                over |= !target.is_alive();
                match tracer.follow() {
                    Ok(false) => {}
                    Ok(true) => out.set_names(DeviceNames::read(Path::new("/proc"))),
                    Err(error) => {
                        over = true;
                        failure = Some(error);
                    }
                }
            }
            if over {
                tracer.probes.detach();
                detached = true;
                taken = out.calls();
            }
            detached
        },
    );
    shared.borrow_mut().flush();
    failure.map_or(Ok(()), |error| Err(error.into()))
}

/// The probes that see the calls of one process, and their configuration.
struct Tracer {
    probes: Probes,
    tracefs: Tracefs,
    follower: Follower,
    /// The devices that were asked for; `None` for the driver's.
    fixed: Option<Vec<DeviceFilter>>,
    /// The probes' configuration now.
    config: Config,
    /// The driver that the table for reading parameters is of.
    version: Option<DriverVersion>,
}

impl Tracer {
    /// Loads the probes and attaches those that see driver calls.
    fn start(pid: u32, fixed: Option<Vec<DeviceFilter>>) -> anyhow::Result<Self> {
        let tracefs = Tracefs::find().map_err(|e| anyhow::anyhow!("{e}: {}", e.remedy()))?;
        let options = ProbesOptions {
            off: WitnessName::ALL
                .into_iter()
                .filter(|w| !WANTED.contains(w))
                .collect(),
            ring_bytes: 4096,
            small: true,
            ..ProbesOptions::default()
        };
        let layout = bpf::read_layout(&tracefs);
        let mut probes = Probes::load(layout, options).map_err(|error| explain_load(&error))?;
        let mut follower = Follower::new(Path::new("/sys"), fixed.is_none());
        let version = follower.version();
        let config = Config {
            trace_tgid: pid,
            decode: layouts::decode(version),
            devices: filters(fixed.as_deref()),
            ..Config::default()
        };
        probes.configure(&config)?;
        if fixed.is_none() {
            follower.follow(&mut probes, &tracefs);
        }
        probes.attach(&tracefs);
        let tracer = Self {
            probes,
            tracefs,
            follower,
            fixed,
            config,
            version,
        };
        tracer.sees_calls()?;
        Ok(tracer)
    }

    fn sees_calls(&self) -> anyhow::Result<()> {
        if WANTED.iter().any(|w| self.probes.has(*w)) {
            return Ok(());
        }
        let reasons: Vec<_> = WANTED
            .iter()
            .filter_map(|w| match self.probes.states().get(w) {
                Some(AttachState::Absent(reason) | AttachState::Failed(reason)) => {
                    Some(format!("{}: {reason}", w.name()))
                }
                _ => None,
            })
            .collect();
        anyhow::bail!(
            "driver calls cannot be traced here: {}; `gtrace doctor` says more",
            reasons.join("; ")
        )
    }

    /// Attaches to modules of the driver that were loaded meanwhile, and configures the probes for
    /// devices and layouts that have changed. Returns whether anything has changed.
    fn follow(&mut self) -> Result<bool, LoadError> {
        let version = self.follower.version();
        let fresh = (version != self.version).then(|| layouts::decode(version));
        self.version = version;
        // Before the probes see the first call of another driver.
        let traced = self.configure(fresh)?;
        let followed =
            self.fixed.is_none() && self.follower.follow(&mut self.probes, &self.tracefs).any;
        Ok(traced || followed)
    }

    fn configure(&mut self, decode: Option<Decode>) -> Result<bool, LoadError> {
        let devices = filters(self.fixed.as_deref());
        if decode.is_none() && devices == self.config.devices {
            return Ok(false);
        }
        self.config.devices = devices;
        self.config.decode = decode.unwrap_or(self.config.decode);
        self.probes.configure(&self.config)?;
        Ok(true)
    }

    fn way(&self) -> &'static str {
        if self.probes.has(WitnessName::DriverIoctl) {
            "probes on the driver's functions"
        } else {
            "the tracepoints of ioctl(2)"
        }
    }
}

/// Those devices, or the driver's as the kernel lists them now.
fn filters(fixed: Option<&[DeviceFilter]>) -> [DeviceFilter; gtrace_abi::MAX_DEVICES] {
    let mut filters = Config::default().devices;
    let listed;
    let devices = match fixed {
        Some(devices) => devices,
        None => {
            listed = watched::nvidia_devices(Path::new("/proc"));
            &listed
        }
    };
    for (slot, filter) in filters.iter_mut().zip(devices) {
        *slot = *filter;
    }
    filters
}
