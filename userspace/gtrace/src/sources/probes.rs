//! The probes at work: attaches them, drains their rings, detaches them when asked to.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{JoinHandle, Thread};

use gtrace_abi::{ModuleChange, ModuleRecord};
use gtrace_decoder::DriverVersion;
use gtrace_event::{Kind, Occurrence, Provenance, Severity, WitnessName};

use super::console::Console;
use super::driver::{DriverHold, Follower};
use super::keeper::{Devices, Keeper};
use super::watched::DeviceNames;
use super::{records, watched};
use crate::bpf::{AttachState, LoadError, Probes, RingRecord, Tracefs, drain, map_bytes};
use crate::clock::boottime_ns;
use crate::config::Config;
use crate::hub::Hub;
use crate::metrics::Metrics;
use crate::pipeline::{Input, InputSender, Told};

/// The running probes.
#[derive(Debug)]
pub struct Manager {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// What the threads of the probes share.
#[derive(Debug)]
pub(super) struct Shared {
    probes: Mutex<Probes>,
    pub(super) tracefs: Tracefs,
    pub(super) hub: Arc<Hub>,
    pub(super) stop: AtomicBool,
    /// Asked for by `gtrace pause`.
    pause_asked: AtomicBool,
    kill_switch: PathBuf,
    follower: Mutex<Follower>,
    /// Somebody is about to unload a module.
    unload: AtomicBool,
    /// Who uses the devices is to be found out anew.
    pub(super) rescan: AtomicBool,
    /// Whether the driver's own functions are probed.
    driver_probed: AtomicBool,
    device_names: Mutex<Arc<DeviceNames>>,
    hold: Arc<DriverHold>,
    /// The thread that keeps house, to be woken.
    keeper: OnceLock<Thread>,
}

/// What the manager needs besides the probes.
#[derive(Debug)]
pub struct ManagerOptions {
    /// The shared state.
    pub hub: Arc<Hub>,
    /// Where occurrences go.
    pub inputs: InputSender,
    /// The configuration.
    pub config: Config,
    /// The driver that is loaded now, whose texts the kernel log carries.
    pub driver: Option<DriverVersion>,
    /// Keeps gtrace off the driver while somebody unloads it.
    pub hold: Arc<DriverHold>,
}

impl Manager {
    /// Configures and attaches `probes` and starts to drain them.
    pub fn start(
        mut probes: Probes,
        tracefs: Tracefs,
        options: ManagerOptions,
    ) -> Result<Self, LoadError> {
        let ManagerOptions {
            hub,
            inputs,
            config,
            driver,
            hold,
        } = options;
        let mut devices = Devices::new(&config);
        let mut follower = Follower::new(&config.sysfs_root, config.devices.is_none());
        let rings = probes.take_rings()?;
        if !config.kill_switch.exists() {
            // The driver first: if its functions can be probed, the syscall's need not be.
            follower.follow(&mut probes, &tracefs);
            probes.attach(&tracefs);
        }
        // After attaching: what is configured depends on which probes are there.
        if let Some(change) = devices.refresh(&probes, &tracefs, follower.version()) {
            probes.configure(&change.config)?;
            for (pid, rdev) in watched::users(&change.devices) {
                probes.remember_gpu_task(pid, rdev);
            }
        }
        let log = probes.start_log();
        let shared = Arc::new(Shared {
            probes: Mutex::new(probes),
            tracefs,
            hub,
            stop: AtomicBool::new(false),
            pause_asked: AtomicBool::new(false),
            kill_switch: config.kill_switch.clone(),
            follower: Mutex::new(follower),
            unload: AtomicBool::new(false),
            rescan: AtomicBool::new(true),
            driver_probed: AtomicBool::new(false),
            device_names: Mutex::new(Arc::new(DeviceNames::read(&config.proc_root))),
            hold,
            keeper: OnceLock::new(),
        });
        shared.show_states();
        // The maps have their full size from the start.
        let map_bytes = map_bytes();
        shared
            .hub
            .update_status(|status| status.footprint.map_bytes = map_bytes);
        let slow_call_ns = devices.slow_call_ns;
        let drainer = {
            let (shared, inputs) = (Arc::clone(&shared), inputs.clone());
            std::thread::Builder::new()
                .name("gtrace-drain".to_owned())
                .spawn(move || {
                    let mut drainer = Drainer::new(&shared, inputs, slow_call_ns);
                    drainer.console.set_driver_version(driver);
                    drainer.run(rings);
                })
        };
        let keeper = {
            let shared = Arc::clone(&shared);
            let cost_interval = config.probe_cost_interval;
            let hung_call = config.hung_call;
            std::thread::Builder::new()
                .name("gtrace-keep".to_owned())
                .spawn(move || {
                    let mut keeper =
                        Keeper::new(&shared, inputs, devices, cost_interval, hung_call);
                    keeper.log = log;
                    keeper.run();
                })
        };
        let spawned = |t: std::io::Result<JoinHandle<()>>| {
            t.map_err(|e| LoadError::Object(format!("a thread cannot be started: {e}")))
        };
        let (drainer, keeper) = (spawned(drainer)?, spawned(keeper)?);
        // Set here and nowhere else.
        let _ = shared.keeper.set(keeper.thread().clone());
        Ok(Self {
            shared,
            threads: vec![drainer, keeper],
        })
    }

    /// Detaches (true) or attaches (false) every probe.
    pub fn pause(&self, pause: bool) {
        self.shared.pause_asked.store(pause, Ordering::Relaxed);
        self.shared.obey_switches();
    }

    /// A handle that can pause the probes from another thread.
    pub fn pauser(&self) -> impl Fn(bool) + Send + Sync + 'static {
        let shared = Arc::clone(&self.shared);
        move |pause| {
            shared.pause_asked.store(pause, Ordering::Relaxed);
            shared.obey_switches();
        }
    }

    /// Detaches everything and ends the threads.
    pub fn stop(self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        {
            let _follower = self.shared.follower();
            self.shared.lock().detach();
        }
        self.shared.wake_keeper();
        for thread in self.threads {
            if thread.join().is_err() {
                tracing::error!("a thread of the probes panicked");
            }
        }
    }
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, Probes> {
        self.probes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Detaches or attaches as the kill switch and `gtrace pause` want it.
    pub(super) fn obey_switches(&self) {
        // One at a time: the thread that follows the driver must not attach what is being detached.
        let mut follower = self.follower();
        let want_paused = self.pause_asked.load(Ordering::Relaxed) || self.kill_switch.exists();
        if want_paused == self.hub.is_paused() {
            return;
        }
        let mut probes = self.lock();
        if want_paused {
            probes.detach();
            follower.forget();
            tracing::warn!("paused: every probe is detached");
        } else {
            follower.follow(&mut probes, &self.tracefs);
            probes.attach(&self.tracefs);
            tracing::info!("resumed: probes are attached again");
        }
        drop(probes);
        self.hub.update_status(|status| status.paused = want_paused);
        self.rescan.store(true, Ordering::Relaxed);
        drop(follower);
        self.show_states();
    }

    fn follower(&self) -> MutexGuard<'_, Follower> {
        self.follower.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Attaches to the driver when it has come, lets go of it when it is gone or about to go. True if
    /// anything has changed that is to be shown.
    pub(super) fn follow_driver(&self) -> bool {
        if self.unload.swap(false, Ordering::Relaxed) {
            self.lock().detach_dev_xid();
            self.hold.begin();
            self.show_states();
        }
        let mut follower = self.follower();
        if self.hub.is_paused() || self.stop.load(Ordering::Relaxed) {
            return false;
        }
        let mut probes = self.lock();
        let changes = follower.follow(&mut probes, &self.tracefs);
        let held = probes
            .states()
            .get(&WitnessName::DevXid)
            .is_some_and(is_held);
        if held && follower.driver_is_loaded() && !self.hold.active() {
            probes.attach_dev_xid_if_wanted(&self.tracefs);
        } else if !changes.any {
            return false;
        }
        drop(probes);
        drop(follower);
        if changes.loaded {
            self.hold.end();
        }
        if changes.any {
            self.rescan.store(true, Ordering::Relaxed);
        }
        true
    }

    /// The loaded driver's version.
    pub(super) fn driver_version(&self) -> Option<DriverVersion> {
        self.follower().version()
    }

    /// Has the thread that keeps house look at once.
    fn wake_keeper(&self) {
        if let Some(keeper) = self.keeper.get() {
            keeper.unpark();
        }
    }

    fn module_changed(&self, record: &ModuleRecord) {
        let name = records::text_of(&record.name);
        let is = |change: ModuleChange| record.change == change as u32;
        if is(ModuleChange::Tool) {
            if !unloads_the_driver(&name, record.header.tgid) {
                return;
            }
            self.unload.store(true, Ordering::Relaxed);
        } else if !name.starts_with("nvidia") {
            return;
        } else if is(ModuleChange::Delete) {
            self.unload.store(true, Ordering::Relaxed);
        }
        self.wake_keeper();
    }

    pub(super) fn device_names(&self) -> Arc<DeviceNames> {
        let names = self
            .device_names
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&names)
    }

    /// Keeps the names of the device files for the thread that takes the records.
    pub(super) fn set_device_names(&self, names: DeviceNames) -> Arc<DeviceNames> {
        let names = Arc::new(names);
        let mut kept = self
            .device_names
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *kept = Arc::clone(&names);
        names
    }

    /// Which of the two ways of seeing calls is in use.
    pub(super) fn call_witness(&self) -> WitnessName {
        if self.driver_probed.load(Ordering::Relaxed) {
            WitnessName::DriverIoctl
        } else {
            WitnessName::SyscallIoctl
        }
    }

    pub(super) fn show_states(&self) {
        let probes = self.lock();
        let probed = probes.has(WitnessName::DriverIoctl);
        self.driver_probed.store(probed, Ordering::Relaxed);
        let states = probes.states().clone();
        drop(probes);
        for (witness, state) in &states {
            super::table::show_probe(&self.hub, *witness, state);
        }
    }
}

/// Takes records out of the rings.
struct Drainer<'a> {
    shared: &'a Shared,
    metrics: Metrics,
    inputs: InputSender,
    console: Console,
    slow_call_ns: u64,
    out: Vec<Occurrence>,
    log_records: u64,
    /// When the rings were looked at last, or earlier: what was logged before has been taken.
    looked_ns: u64,
}

impl<'a> Drainer<'a> {
    fn new(shared: &'a Shared, inputs: InputSender, slow_call_ns: u64) -> Self {
        Self {
            shared,
            metrics: shared.hub.metrics.clone(),
            inputs,
            console: Console::new(),
            slow_call_ns,
            out: Vec::new(),
            log_records: 0,
            looked_ns: 0,
        }
    }

    fn run(&mut self, rings: [aya::maps::RingBuf<aya::maps::MapData>; 2]) {
        let stop = &self.shared.stop;
        // Both closures need the drainer, one at a time.
        let this = std::cell::RefCell::new(self);
        drain(
            rings,
            stop,
            |record| this.borrow_mut().take(record),
            || this.borrow_mut().idle(),
        );
    }

    fn take(&mut self, record: Option<RingRecord<'_>>) {
        let Some(record) = record else {
            self.metrics.count_lost("probes", "record_unreadable", 1);
            return;
        };
        let (witness, occurrence) = match record {
            RingRecord::Log { header, text, cut } => {
                self.log_records += 1;
                if cut {
                    self.metrics.count_lost("printk:console", "text_cut", 1);
                }
                self.console
                    .feed(header.tid, header.boottime_ns, text, &mut self.out);
                return self.pass_on_console();
            }
            RingRecord::Aer(record) => (WitnessName::RasAer, records::aer(&record)),
            RingRecord::Oom(record) => (WitnessName::OomVictim, records::oom(&record)),
            RingRecord::Exit(record) => (WitnessName::ProcessExit, records::exit(&record)),
            RingRecord::Call(record) => {
                let witness = self.shared.call_witness();
                (
                    witness,
                    records::call(&record, self.slow_call_ns, &self.shared.device_names()),
                )
            }
            RingRecord::Module(record) => {
                self.metrics.count_records(WitnessName::Module, 1);
                return self.shared.module_changed(&record);
            }
            RingRecord::Xid(record) => records::xid(&record),
        };
        self.metrics.count_records(witness, 1);
        // The core ends after the drainer.
        let _ = self.inputs.send(Told::once(witness, occurrence));
    }

    fn pass_on_console(&mut self) {
        for occurrence in self.out.drain(..) {
            let _ = self
                .inputs
                .send(Told::once(WitnessName::PrintkConsole, occurrence));
        }
    }

    fn idle(&mut self) -> bool {
        if self.log_records > 0 {
            self.metrics
                .count_records(WitnessName::PrintkConsole, self.log_records);
            self.log_records = 0;
        }
        let pending = self.console.idle(self.looked_ns, &mut self.out);
        self.pass_on_console();
        self.looked_ns = boottime_ns();
        pending
    }
}

fn is_held(state: &AttachState) -> bool {
    matches!(state, AttachState::Held(_))
}

/// Whether process `pid`, a program `name` that loads and unloads modules, is about to unload one of
/// the driver's. What cannot be read any more has ended.
fn unloads_the_driver(name: &str, pid: u32) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    asks_to_unload(name, &String::from_utf8_lossy(&line))
}

/// The same, by the program's arguments, separated by NUL.
fn asks_to_unload(name: &str, line: &str) -> bool {
    let mut arguments = line.split('\0').skip(1).filter(|a| !a.is_empty());
    // The installers unload the driver in the course of their work.
    if name.starts_with("nvidia-i") || name.starts_with("nvidia-u") {
        return true;
    }
    let names_driver = arguments.clone().any(|a| a.contains("nvidia"));
    let removes = name == "rmmod"
        || arguments.any(|a| {
            let short = a.starts_with('-') && !a.starts_with("--") && a.contains('r');
            short || a == "--remove" || a == "rmmod" || a == "remove"
        });
    names_driver && removes
}

/// gtrace lost something of a source.
pub fn loss(source: &str, lost: u64, reason: &str) -> Occurrence {
    let message = format!("{lost} records of {source} are lost: {reason}");
    let mut occurrence = Occurrence::new(Kind::SourceLost, Severity::Warning, message);
    occurrence.provenance = Provenance::Kernel;
    occurrence.boottime_ns = Some(boottime_ns());
    let detail = &mut occurrence.detail.source;
    detail.source = Some(source.to_owned());
    detail.lost = Some(lost);
    detail.reason = Some(reason.to_owned());
    occurrence
}

/// The state that a probe's source shows.
pub(super) fn reason_of(state: &AttachState) -> Option<&str> {
    match state {
        AttachState::Absent(reason)
        | AttachState::Failed(reason)
        | AttachState::Degraded(reason) => Some(reason),
        AttachState::Attached
        | AttachState::Off
        | AttachState::Paused
        | AttachState::Held(_)
        | AttachState::Replaced(_) => None,
    }
}

/// Sends occurrences of other sources.
pub fn send_all(inputs: &InputSender, told: impl IntoIterator<Item = Told>) {
    for told in told {
        let _ = inputs.send(Input::Told(Box::new(told)));
    }
}

#[cfg(test)]
mod tests {
    use super::asks_to_unload;

    #[test]
    fn who_unloads_the_driver_is_told_from_who_does_something_else() {
        for (name, line) in [
            ("rmmod", "rmmod\0nvidia\0"),
            ("rmmod", "rmmod\0-f\0nvidia_uvm\0"),
            ("modprobe", "modprobe\0-r\0nvidia_uvm\0nvidia\0"),
            ("modprobe", "modprobe\0-qr\0nvidia-drm\0"),
            ("modprobe", "modprobe\0--remove\0nvidia\0"),
            ("kmod", "kmod\0rmmod\0nvidia\0"),
            ("nvidia-installe", "nvidia-installer\0--uninstall\0"),
            ("nvidia-uninstal", ""),
        ] {
            assert!(asks_to_unload(name, line), "{line:?}");
        }
        for (name, line) in [
            ("rmmod", "rmmod\0e1000e\0"),
            ("modprobe", "modprobe\0nvidia\0"),
            ("modprobe", "modprobe\0-q\0--\0net-pf-10\0"),
            ("modprobe", "modprobe\0-r\0e1000e\0"),
            ("kmod", "kmod\0list\0"),
            ("modprobe", ""),
        ] {
            assert!(!asks_to_unload(name, line), "{line:?}");
        }
    }
}
