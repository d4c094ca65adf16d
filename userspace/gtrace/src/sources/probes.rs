//! The probes at work: drains their rings, keeps their filters up to date, counts what they
//! lose, measures what they cost, and detaches them when asked to.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gtrace_abi::{Config as ProbeConfig, Counter, DeviceFilter, MAX_DEVICES};
use gtrace_decoder::DriverVersion;
use gtrace_event::{Kind, Occurrence, Provenance, Severity, WitnessName};

use super::calls::Calls;
use super::console::Console;
use super::{records, watched};
use crate::bpf::{AttachState, LoadError, Probes, RingRecord, Tracefs, drain, map_bytes};
use crate::clock::boottime_ns;
use crate::config::Config;
use crate::hub::{Hub, ProbeCost};
use crate::metrics::Metrics;
use crate::pipeline::{Input, InputSender, Told};

/// Between rounds of housekeeping.
const ROUND: Duration = Duration::from_millis(500);
/// Between readings of the driver-call histograms.
const CALLS_EVERY: Duration = Duration::from_secs(2);
/// Between looks at /proc/devices.
const DEVICES_EVERY: Duration = Duration::from_secs(2);
/// How long the cost of the probes is measured at a time.
const COST_WINDOW: Duration = Duration::from_secs(1);

/// The running probes.
#[derive(Debug)]
pub struct Manager {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    probes: Mutex<Probes>,
    tracefs: Tracefs,
    hub: Arc<Hub>,
    stop: AtomicBool,
    /// Asked for by `gtrace pause`.
    pause_asked: AtomicBool,
    kill_switch: PathBuf,
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
        } = options;
        let mut devices = Devices::new(&config);
        let rings = probes.take_rings()?;
        if !config.kill_switch.exists() {
            probes.attach(&tracefs);
        }
        // After attaching: what is configured depends on which probes are there.
        devices.refresh(&mut probes)?;
        let log = probes.start_log();
        let shared = Arc::new(Shared {
            probes: Mutex::new(probes),
            tracefs,
            hub,
            stop: AtomicBool::new(false),
            pause_asked: AtomicBool::new(false),
            kill_switch: config.kill_switch.clone(),
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
            std::thread::Builder::new()
                .name("gtrace-keep".to_owned())
                .spawn(move || {
                    let mut keeper = Keeper::new(&shared, inputs, devices, cost_interval);
                    keeper.log = log;
                    keeper.run();
                })
        };
        let spawned = |t: std::io::Result<JoinHandle<()>>| {
            t.map_err(|e| LoadError::Object(format!("a thread cannot be started: {e}")))
        };
        Ok(Self {
            shared,
            threads: vec![spawned(drainer)?, spawned(keeper)?],
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
        self.shared.lock().detach();
        self.shared.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            if thread.join().is_err() {
                tracing::error!("a thread of the probes panicked");
            }
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Probes> {
        self.probes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Detaches or attaches as the kill switch and `gtrace pause` want it.
    fn obey_switches(&self) {
        let want_paused = self.pause_asked.load(Ordering::Relaxed) || self.kill_switch.exists();
        if want_paused == self.hub.status().paused {
            return;
        }
        if want_paused {
            self.lock().detach();
            tracing::warn!("paused: every probe is detached");
        } else {
            self.lock().attach(&self.tracefs);
            tracing::info!("resumed: probes are attached again");
        }
        self.hub.update_status(|status| status.paused = want_paused);
        self.show_states();
    }

    fn show_states(&self) {
        let states = self.lock().states().clone();
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
            RingRecord::Call(record) => (
                WitnessName::SyscallIoctl,
                records::call(&record, self.slow_call_ns),
            ),
            RingRecord::Module(record) => {
                self.metrics.count_records(WitnessName::Module, 1);
                let name = records::text_of(&record.name);
                if name.starts_with("nvidia") {
                    let what = if record.loaded == 1 {
                        "loaded"
                    } else {
                        "unloaded"
                    };
                    tracing::info!("kernel module {name} is {what}");
                }
                return;
            }
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
        let pending = self.console.idle(boottime_ns(), &mut self.out);
        self.pass_on_console();
        pending
    }
}

/// Which devices are watched.
#[derive(Debug)]
struct Devices {
    fixed: Option<Vec<DeviceFilter>>,
    proc_root: PathBuf,
    slow_call_ns: u64,
    set: Option<(Vec<DeviceFilter>, bool)>,
}

impl Devices {
    fn new(config: &Config) -> Self {
        let slow_call = config.slow_call.unwrap_or_default();
        Self {
            fixed: config.devices.clone(),
            proc_root: config.proc_root.clone(),
            slow_call_ns: u64::try_from(slow_call.as_nanos()).unwrap_or(u64::MAX),
            set: None,
        }
    }

    /// Tells the probes which devices to watch, if that has changed.
    fn refresh(&mut self, probes: &mut Probes) -> Result<(), LoadError> {
        let now = self
            .fixed
            .clone()
            .unwrap_or_else(|| watched::nvidia_devices(&self.proc_root));
        let exits_seen = probes.has(WitnessName::ProcessExit);
        let now = (now, exits_seen);
        if self.set.as_ref() == Some(&now) {
            return Ok(());
        }
        let devices = &now.0;
        let mut config = ProbeConfig {
            slow_call_ns: self.slow_call_ns,
            exits_seen: u64::from(exits_seen),
            ..ProbeConfig::default()
        };
        for (slot, filter) in config
            .devices
            .iter_mut()
            .zip(devices.iter().take(MAX_DEVICES))
        {
            *slot = *filter;
        }
        probes.configure(&config)?;
        for (pid, rdev) in watched::users(devices) {
            probes.remember_gpu_task(pid, rdev);
        }
        self.set = Some(now);
        Ok(())
    }
}

/// Housekeeping.
struct Keeper<'a> {
    shared: &'a Shared,
    inputs: InputSender,
    devices: Devices,
    calls: Calls,
    counters: Vec<(Counter, u64)>,
    cost_interval: Option<Duration>,
    cost: Option<CostWindow>,
    log: Option<aya_log::EbpfLogger<&'static dyn log::Log>>,
}

struct CostWindow {
    /// Statistics are on while this is open.
    _enabled: std::os::fd::OwnedFd,
    since: Instant,
    before: Vec<(&'static str, crate::bpf::RunStats)>,
}

impl<'a> Keeper<'a> {
    fn new(
        shared: &'a Shared,
        inputs: InputSender,
        devices: Devices,
        cost_interval: Option<Duration>,
    ) -> Self {
        Self {
            shared,
            inputs,
            devices,
            calls: Calls::default(),
            counters: Vec::new(),
            cost_interval,
            cost: None,
            log: None,
        }
    }

    fn run(&mut self) {
        let start = Instant::now();
        let (mut calls_at, mut devices_at, mut cost_at) = (start, start, start);
        while !self.shared.stop.load(Ordering::Relaxed) {
            std::thread::sleep(ROUND);
            let now = Instant::now();
            self.shared.obey_switches();
            self.report_losses();
            if let Some(log) = &mut self.log {
                log.flush();
            }
            if now >= devices_at {
                devices_at = now + DEVICES_EVERY;
                if let Err(error) = self.devices.refresh(&mut self.shared.lock()) {
                    tracing::warn!("watched devices cannot be set: {error}");
                }
            }
            if now >= calls_at {
                calls_at = now + CALLS_EVERY;
                self.read_calls();
            }
            self.measure_cost(now, &mut cost_at);
        }
        self.read_calls();
    }

    /// Whatever the probes have dropped since the last round is counted and told.
    fn report_losses(&mut self) {
        let now = self.shared.lock().counters();
        for (i, (counter, value)) in now.iter().enumerate() {
            let before = self.counters.get(i).map_or(0, |(_, before)| *before);
            let lost = value.saturating_sub(before);
            if lost == 0 {
                continue;
            }
            let source = source_of(*counter);
            self.shared
                .hub
                .metrics
                .count_lost(source, counter.name(), lost);
            // A limit that is met all the time, and no record lost.
            if *counter == Counter::ExitFdsUnseen {
                continue;
            }
            let told = loss(source, lost, counter.name());
            let _ = self.inputs.send(Told::once(WitnessName::Gtrace, told));
        }
        self.counters = now;
    }

    fn read_calls(&mut self) {
        let histograms = self.shared.lock().histograms();
        if histograms.is_empty() && self.shared.hub.calls().is_empty() {
            return;
        }
        let (stats, forget) = self.calls.read(histograms);
        for key in forget {
            self.shared.lock().forget_histogram(key);
        }
        self.shared.hub.set_calls(stats);
    }

    /// Switches the kernel's run statistics on for a short window now and then: while they are
    /// on, every BPF program on the host pays for them.
    fn measure_cost(&mut self, now: Instant, next: &mut Instant) {
        let Some(interval) = self.cost_interval else {
            return;
        };
        if let Some(window) = self.cost.take_if(|w| w.since.elapsed() >= COST_WINDOW) {
            let after = self.shared.lock().run_stats();
            let costs = costs(&window.before, &after, window.since.elapsed());
            self.shared
                .hub
                .update_status(|status| status.probes = costs);
        } else if self.cost.is_none() && now >= *next {
            *next = now + interval;
            match aya::sys::enable_stats(aya::sys::Stats::RunTime) {
                Ok(enabled) => {
                    let before = self.shared.lock().run_stats();
                    self.cost = Some(CostWindow {
                        _enabled: enabled,
                        since: Instant::now(),
                        before,
                    });
                }
                Err(error) => {
                    tracing::warn!("the probes' cost cannot be measured: {error}");
                    self.cost_interval = None;
                }
            }
        }
    }
}

fn costs(
    before: &[(&'static str, crate::bpf::RunStats)],
    after: &[(&'static str, crate::bpf::RunStats)],
    window: Duration,
) -> Vec<ProbeCost> {
    let seconds = window.as_secs_f64().max(f64::EPSILON);
    after
        .iter()
        .map(|(name, after)| {
            let before = before
                .iter()
                .find(|(n, _)| n == name)
                .map_or_else(Default::default, |b| b.1);
            let runs = after.runs.saturating_sub(before.runs);
            let ns = after.ns.saturating_sub(before.ns);
            ProbeCost {
                probe: (*name).to_owned(),
                mean_ns: if after.runs == 0 {
                    0.0
                } else {
                    after.ns as f64 / after.runs as f64
                },
                runs_per_second: runs as f64 / seconds,
                core_share: ns as f64 / 1e9 / seconds,
                missed: after.missed,
            }
        })
        .collect()
}

/// The source that is the poorer for it.
fn source_of(counter: Counter) -> &'static str {
    let witness = match counter {
        Counter::LogRingFull | Counter::LogReadFailed | Counter::LogCut => {
            WitnessName::PrintkConsole
        }
        Counter::CallRingFull
        | Counter::DeviceReadFailed
        | Counter::HistKeysFull
        | Counter::CallsInFlightFull => WitnessName::SyscallIoctl,
        Counter::GpuTasksFull | Counter::ExitFdsUnseen => WitnessName::ProcessExit,
        Counter::EventRingFull | Counter::FieldReadFailed => return "probes",
    };
    witness.name()
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
        AttachState::Absent(reason) | AttachState::Failed(reason) => Some(reason),
        AttachState::Attached | AttachState::Off | AttachState::Paused => None,
    }
}

/// Sends occurrences of other sources.
pub fn send_all(inputs: &InputSender, told: impl IntoIterator<Item = Told>) {
    for told in told {
        let _ = inputs.send(Input::Told(Box::new(told)));
    }
}
