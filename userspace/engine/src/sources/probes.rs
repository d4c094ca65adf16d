//! The probes at work: attaches them, drains their rings, detaches them when asked to.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aya::maps::{MapData, RingBuf};
use gtrace_event::{Occurrence, Provenance, Timestamp, WitnessName};
use rustix::event::{EventfdFlags, eventfd};

use super::console::Console;
use super::driver_modules::{DriverHold, Follower, loaded_version};
use super::housekeeping::{Devices, ProbeHousekeeping};
use super::shared::{HELD, Rings, Shared};
use super::watched::DeviceNames;
use super::{hardware, records, watched};
use crate::bpf::{LoadError, Probes, RingRecord, Tracefs, drain, map_bytes};
use crate::clock::boottime_ns;
use crate::component::{self, Part, driver_modules};
use crate::config::Config;
use crate::host;
use crate::hub::Hub;
use crate::input::{Input, InputSender, Observation};
use crate::lock::lock;
use crate::metrics::Metrics;
use crate::supervise::{self, Pulse, Task, names};

/// The running probes.
#[derive(Debug)]
pub struct Manager {
    shared: Arc<Shared>,
}

/// The task that takes records out of the rings.
pub const DRAIN: &str = names::DRAIN;
/// The task that keeps the probes up to date and reads their histograms.
pub const HOUSEKEEPING: &str = names::HOUSEKEEPING;
/// While the first has a record that waits for more to come, it asks for records this often.
const PENDING_POLL: Duration = Duration::from_millis(1);
/// Asleep, it still asks this often.
const COLD_POLL: Duration = Duration::from_secs(30);
/// Longest time between two of its heartbeats.
const DRAIN_SILENCE: Duration = Duration::from_secs(15);
/// And of the second, which reads every process of the host now and then.
const HOUSEKEEPING_SILENCE: Duration = Duration::from_secs(60);
/// The module that reports errors of firmware by a scale of severity of its own (drivers/acpi/acpi_extlog.c).
const EXTLOG: &str = "/sys/module/acpi_extlog";
/// How long the tasks have to end.
const STOP_PATIENCE: Duration = Duration::from_secs(10);

/// What the manager needs besides the probes.
#[derive(Debug)]
pub struct ManagerOptions {
    /// The shared state.
    pub hub: Arc<Hub>,
    /// Where occurrences go.
    pub inputs: InputSender,
    /// The configuration.
    pub config: Config,
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
            hold,
        } = options;
        let mut devices = Devices::new(&config);
        let mut follower = Follower::new(&config.sysfs_root, config.devices.is_none());
        let rings = Rings::new(probes.take_rings()?).map_err(cannot_start)?;
        if !config.kill_switch.exists() {
            // The driver first: if its functions can be probed, the syscall's need not be.
            follower.follow(&mut probes, &tracefs);
            follower.take_changes();
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
        let mut proc_gpus = devices.proc_gpus();
        let names = DeviceNames::read_with(&config.proc_root, &mut proc_gpus);
        let shared = Arc::new(Shared {
            probes: Mutex::new(probes),
            tracefs,
            hub,
            stop: AtomicBool::new(false),
            pause_asked: AtomicBool::new(false),
            kill_switch: config.kill_switch.clone(),
            follower: Mutex::new(follower),
            follows: !config.disabled.contains(&driver_modules::NAME),
            unload: AtomicBool::new(false),
            rescan: AtomicBool::new(true),
            driver_probed: AtomicBool::new(false),
            device_names: Mutex::new(Arc::new(names)),
            proc_gpus: Mutex::new(proc_gpus),
            hold,
            ended: Mutex::default(),
            housekeeping: Mutex::new(None),
            rings,
            reported: Mutex::default(),
        });
        shared.show_states();
        // The maps have their full size from the start.
        let map_bytes = map_bytes();
        shared
            .hub
            .update_status(|status| status.footprint.map_bytes = map_bytes);
        let slow_call_ns = devices.slow_call_ns;
        start_drain(&shared, &inputs, slow_call_ns, &config).map_err(cannot_start)?;
        start_housekeeping(&shared, &inputs, config, devices, log).map_err(cannot_start)?;
        Ok(Self { shared })
    }
}

impl Part for Manager {
    /// Detaches (true) or attaches (false) every probe.
    fn pause(&self, pause: bool) {
        self.shared.pause_asked.store(pause, Ordering::Relaxed);
        self.shared.obey_switches();
    }

    /// Detaches everything and ends the threads.
    fn stop(&self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        let follower = supervise::lock_within(&self.shared.follower, STOP_PATIENCE);
        let probes = follower.and_then(|follower| {
            let probes = supervise::lock_within(&self.shared.probes, STOP_PATIENCE);
            probes.map(|probes| (follower, probes))
        });
        match probes {
            Some((_follower, mut probes)) => probes.detach(),
            // The kernel detaches them when the process ends.
            None => tracing::error!("the probes are not detached: {HELD}"),
        }
        self.shared.wake_housekeeping();
        let tasks = &self.shared.hub.tasks;
        for name in tasks.stop(&[DRAIN, HOUSEKEEPING], STOP_PATIENCE) {
            tracing::error!("{name} does not end and is left behind");
        }
    }
}

fn cannot_start(error: std::io::Error) -> LoadError {
    LoadError::Object(format!("a thread cannot be started: {error}"))
}

fn start_drain(
    shared: &Arc<Shared>,
    inputs: &InputSender,
    slow_call_ns: u64,
    config: &Config,
) -> std::io::Result<()> {
    let task = Task::needed(DRAIN, DRAIN_SILENCE, component::witnesses_of(DRAIN));
    let (of_task, inputs) = (Arc::clone(shared), inputs.clone());
    let (successful_exits, proc_root) = (config.successful_exits, config.proc_root.clone());
    shared.hub.tasks.start(task, move |pulse| {
        let shared = &of_task;
        let mut held = shared.rings.take().map_err(|error| error.to_string())?;
        let Some(rings) = &mut held.rings else {
            return Err("has no rings".to_owned());
        };
        let mut drainer = Drainer::new(shared, inputs.clone(), slow_call_ns, successful_exits);
        // Of the driver that is loaded when the thread starts, also as another's successor.
        let driver = loaded_version(&proc_root);
        drainer.console.set_driver_version(driver);
        let drained = drainer.run(rings, pulse);
        drained.map_err(|error| format!("cannot wait for records: {error}"))
    })
}

fn start_housekeeping(
    shared: &Arc<Shared>,
    inputs: &InputSender,
    config: Config,
    devices: Devices,
    log: Option<aya_log::EbpfLogger<&'static dyn log::Log>>,
) -> std::io::Result<()> {
    let sources = vec![WitnessName::DriverIoctl, WitnessName::SyscallIoctl];
    let task = Task::needed(HOUSEKEEPING, HOUSEKEEPING_SILENCE, sources);
    let (of_task, inputs) = (Arc::clone(shared), inputs.clone());
    // What the first thread begins with; another finds it out anew.
    let first = Mutex::new(Some((devices, log)));
    shared.hub.tasks.start(task, move |_| {
        let shared = &of_task;
        shared.set_housekeeping(std::thread::current());
        let begun = lock(&first).take();
        let (devices, log) = begun.unwrap_or_else(|| (Devices::new(&config), None));
        let mut housekeeping = ProbeHousekeeping::new(
            shared,
            inputs.clone(),
            devices,
            config.probe_cost_interval,
            config.hung_call,
        );
        housekeeping.log = log;
        housekeeping.run();
        Ok(())
    })
}

/// Takes records out of the rings.
struct Drainer<'a> {
    shared: &'a Shared,
    metrics: Metrics,
    inputs: InputSender,
    console: Console,
    slow_call_ns: u64,
    /// Whether an end with status 0 is an event too.
    successful_exits: bool,
    out: Vec<Occurrence>,
    /// Whether printk:console has shown something that waits for it since the reader of /dev/kmsg was last woken.
    shown: bool,
    log_records: u64,
    /// When the rings were read last, or earlier: what was logged before has been taken.
    looked_ns: u64,
}

impl<'a> Drainer<'a> {
    fn new(
        shared: &'a Shared,
        inputs: InputSender,
        slow_call_ns: u64,
        successful_exits: bool,
    ) -> Self {
        Self {
            shared,
            metrics: shared.hub.metrics.clone(),
            inputs,
            console: Console::of_kernel(&host::kernel_release()),
            slow_call_ns,
            successful_exits,
            out: Vec::new(),
            shown: false,
            log_records: 0,
            looked_ns: 0,
        }
    }

    fn run(&mut self, rings: &mut [RingBuf<MapData>; 2], pulse: &Pulse) -> std::io::Result<()> {
        let woken = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let wake = Arc::clone(&woken);
        pulse.wake_by(move || {
            // Full: it is woken already.
            let _ = rustix::io::write(&wake, &1_u64.to_ne_bytes());
        });
        // Both closures need the drainer, one at a time.
        let this = std::cell::RefCell::new(self);
        drain(
            rings,
            &pulse.stop,
            Some(&woken),
            |record| this.borrow_mut().take(record),
            || match this.borrow_mut().idle() {
                true => PENDING_POLL,
                false => COLD_POLL,
            },
        );
        Ok(())
    }

    fn take(&mut self, record: Option<RingRecord<'_>>) {
        let Some(record) = record else {
            self.metrics.count_lost("probes", "record_unreadable", 1);
            return;
        };
        if let RingRecord::Exit(record) = &record {
            let name = records::name_of(record);
            self.shared.process_ended(record.header.tgid, name);
        }
        // Whether another source may say more of it.
        let mut says_less = false;
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
            RingRecord::Memory(record) => (WitnessName::RasMemory, hardware::memory(&record)),
            RingRecord::MachineCheck(record) => {
                says_less = hardware::is_of_memory(&record);
                (WitnessName::MceRecord, hardware::machine_check(&record))
            }
            RingRecord::FirmwareError(record) => {
                let extlog = Path::new(EXTLOG).exists();
                let error = hardware::firmware_error(&record, extlog);
                says_less = error.detail.host.corrected.is_none();
                (WitnessName::RasFirmware, error)
            }
            RingRecord::Oom(record) => (WitnessName::OomVictim, records::oom(&record)),
            // The daemon ends its own children when they hang, and says so by itself.
            RingRecord::Exit(record) if self.shared.hub.ended_own(record.header.tgid) => return,
            RingRecord::Exit(record) => {
                let outcome = records::outcome(record.exit_code);
                self.metrics.count_process_exit(outcome);
                let exit = records::exit(&record, &self.shared.device_names());
                let hub = &self.shared.hub;
                let table = hub.holders.get();
                if let Some(holder) = exit.process.as_ref().and_then(|p| table.of_ended(p)) {
                    let failed = outcome != records::SUCCESS;
                    hub.usage.ended(&holder, failed, Timestamp::now());
                }
                if outcome == records::SUCCESS && !self.successful_exits {
                    self.metrics.count_records(WitnessName::ProcessExit, 1);
                    return hub.recorder.observed(WitnessName::ProcessExit, &exit);
                }
                (WitnessName::ProcessExit, exit)
            }
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
        self.shared.hub.recorder.observed(witness, &occurrence);
        // The core ends after the drainer.
        let _ = self.inputs.send(match says_less {
            true => Input::Check(Box::new(Observation::new(witness, occurrence, 1))),
            false => Input::once(witness, occurrence),
        });
    }

    fn pass_on_console(&mut self) {
        let is_unconfirmed = |seen: &Occurrence| seen.provenance == Provenance::Unknown;
        self.shown |= self.out.iter().any(is_unconfirmed);
        for occurrence in self.out.drain(..) {
            let _ = self
                .inputs
                .send(Input::once(WitnessName::PrintkConsole, occurrence));
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
        if std::mem::take(&mut self.shown) {
            // /dev/kmsg says who wrote it, which the core waits for. The kernel itself wakes that log's readers at its next timer
            // tick only, up to 4 ms later at 250 Hz (`wake_up_klogd_work`, lazy, kernel/printk/printk.c).
            self.shared.hub.tasks.wake(names::KMSG);
        }
        self.looked_ns = boottime_ns();
        pending
    }
}
