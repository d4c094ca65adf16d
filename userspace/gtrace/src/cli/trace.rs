//! `gtrace trace --driver --pid N`: every driver call of a process as it happens, as strace would
//! show it, without stopping the process.

mod output;
mod target;

use std::cell::RefCell;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gtrace_abi::{Config, Decode, DeviceFilter};
use gtrace_decoder::DriverVersion;
use gtrace_event::WitnessName;

use self::output::Output;
use self::target::Target;
use super::shared::on_signals;
use super::{USAGE, not_possible};
use crate::bpf::{self, AttachState, LoadError, Probes, ProbesOptions, RingRecord, Tracefs, drain};
use crate::cli::run::explain_load;
use crate::config;
use crate::sources::driver::Follower;
use crate::sources::layouts;
use crate::sources::watched::{self, DeviceNames};

/// Between looks at whether the process still lives, and at the driver's modules.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// The probes that see driver calls.
const WANTED: [WitnessName; 2] = [WitnessName::DriverIoctl, WitnessName::SyscallIoctl];

/// Show the driver calls of a running process, live.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Calls into the NVIDIA driver (the only trace so far).
    #[arg(long)]
    driver: bool,
    /// The process.
    #[arg(long)]
    pid: u32,
    /// Only calls that failed.
    #[arg(long)]
    failed: bool,
    /// Only calls that took at least so many microseconds.
    #[arg(long, value_name = "US", default_value_t = 0)]
    slower_than: u64,
    /// One JSON object a call.
    #[arg(long)]
    json: bool,
    /// Device nodes instead of the driver's own: `MAJOR[:MINOR]`, with commas.
    #[arg(long, default_value = "auto")]
    devices: String,
}

/// Runs the command.
///
/// # Errors
///
/// What standard output says, a closed pipe aside.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if !args.driver {
        eprintln!("gtrace: say what to trace: --driver (calls into the NVIDIA driver)");
        return Ok(ExitCode::from(USAGE));
    }
    let target = match Target::find(Path::new("/proc"), args.pid) {
        Ok(target) => target,
        Err(error) => {
            eprintln!("gtrace: {error}");
            return Ok(ExitCode::from(USAGE));
        }
    };
    let devices = match config::parse_devices(&args.devices) {
        Ok(devices) => devices,
        Err(error) => {
            eprintln!("gtrace: {error}");
            return Ok(ExitCode::from(USAGE));
        }
    };
    let mut tracer = match Tracer::start(args.pid, devices) {
        Ok(tracer) => tracer,
        Err(error) => return Ok(not_possible(&error)),
    };
    let end = Arc::new(AtomicBool::new(false));
    // The summary is printed then too.
    let asked = Arc::clone(&end);
    on_signals(move || asked.store(true, Ordering::Relaxed))?;
    let way = tracer.way();
    eprintln!(
        "gtrace: tracing process {} by {way}; end with Ctrl-C",
        args.pid
    );
    let mut out = Output::new(&args, io::stdout());
    show(&mut tracer, &target, &end, &mut out)?;
    eprintln!("gtrace: {}", out.summary(&tracer.probes.counters()));
    Ok(ExitCode::SUCCESS)
}

/// Prints calls until the process or its tracing ends, and what had been seen by then.
fn show(
    tracer: &mut Tracer,
    target: &Target,
    end: &AtomicBool,
    out: &mut Output<'_, io::Stdout>,
) -> anyhow::Result<()> {
    let rings = tracer.probes.take_rings()?;
    out.names = DeviceNames::read(Path::new("/proc"));
    let stop = AtomicBool::new(false);
    let mut detached = false;
    let mut taken = 0;
    let mut looked = Instant::now();
    let mut failure = None;
    // Both closures need it, one at a time.
    let shared = RefCell::new(out);
    drain(
        rings,
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
            if looked.elapsed() >= LOOK_EVERY {
                looked = Instant::now();
                over |= !target.is_alive();
                match tracer.follow() {
                    Ok(false) => {}
                    Ok(true) => out.names = DeviceNames::read(Path::new("/proc")),
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

/// The probes that see the calls of one process, and what they are told.
struct Tracer {
    probes: Probes,
    tracefs: Tracefs,
    follower: Follower,
    /// The devices that were asked for; `None` for the driver's.
    fixed: Option<Vec<DeviceFilter>>,
    /// What the probes were told last.
    config: Config,
    /// The driver that the table for reading parameters is of.
    version: Option<DriverVersion>,
}

impl Tracer {
    /// Loads the probes and attaches those that see driver calls.
    fn start(pid: u32, fixed: Option<Vec<DeviceFilter>>) -> anyhow::Result<Self> {
        let tracefs = Tracefs::find()?;
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

    /// Attaches to modules of the driver that were loaded meanwhile, and tells the probes of devices
    /// and layouts that are other ones now; says whether anything has changed.
    fn follow(&mut self) -> Result<bool, LoadError> {
        let version = self.follower.version();
        let fresh = (version != self.version).then(|| layouts::decode(version));
        self.version = version;
        // Before the probes see the first call of another driver.
        let told = self.tell(fresh)?;
        let followed =
            self.fixed.is_none() && self.follower.follow(&mut self.probes, &self.tracefs).any;
        Ok(told || followed)
    }

    fn tell(&mut self, decode: Option<Decode>) -> Result<bool, LoadError> {
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
