//! The calls of one process into the kernel's driver, as they happen.

use std::cell::RefCell;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gtrace_abi::{CallRecord, Config, Counter, Decode, DeviceFilter};
use gtrace_decoder::DriverVersion;
use gtrace_engine::bpf::{
    self, AttachState, LoadError, Probes, ProbesOptions, RingRecord, Tracefs, drain,
};
use gtrace_engine::daemon::explain_load;
use gtrace_engine::sources::driver_modules::Follower;
use gtrace_engine::sources::layouts;
use gtrace_engine::sources::watched::{self, DeviceNames};
use gtrace_event::WitnessName;
use gtrace_uprobes::TraceError;
use gtrace_uprobes::procfs::has_the_kernels_numbers;

use super::target::Target;

/// Between checks whether the process still lives, and at the driver's modules.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Between rounds once the probes are detached.
const AGAIN: Duration = Duration::from_millis(1);
/// The probes that see driver calls.
const WANTED: [WitnessName; 2] = [WitnessName::DriverIoctl, WitnessName::SyscallIoctl];

/// Takes driver calls.
pub trait Sink {
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
///
/// # Errors
///
/// That the probes cannot be configured for what has changed.
pub fn show(
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
        None,
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
                return AGAIN;
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
                return AGAIN;
            }
            POLL_INTERVAL
        },
    );
    shared.borrow_mut().flush();
    failure.map_or(Ok(()), |error| Err(error.into()))
}

/// The probes that see the calls of one process, and their configuration.
pub struct Tracer {
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
    /// Loads the probes and attaches those that see driver calls: on devices `fixed`, or the driver's.
    ///
    /// # Errors
    ///
    /// That no probe sees such calls here.
    pub fn start(pid: u32, fixed: Option<Vec<DeviceFilter>>) -> anyhow::Result<Self> {
        if !has_the_kernels_numbers() {
            return Err(TraceError::OtherNumbers(pid).into());
        }
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
            self.fixed.is_none() && self.follower.follow(&mut self.probes, &self.tracefs);
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

    /// What was lost, by place.
    pub fn counters(&self) -> Vec<(Counter, u64)> {
        self.probes.counters()
    }

    /// By what it sees calls.
    pub fn way(&self) -> &'static str {
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
