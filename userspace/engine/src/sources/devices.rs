//! The thread that polls PCI, /proc/driver/nvidia and NVML now and then.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gtrace_api::SourceState;
use gtrace_devices::{
    AerReport, BaselineFacts, DeviceReport, Devices, GpuInfo, Metric, NvmlClient, NvmlConfig,
    NvmlState, PciTree, ProcRoot, RdmaHealth, RdmaWatch, SysRoot,
};
use gtrace_event::{Kind, Occurrence, PciAddress, Provenance, Severity, Timestamp, WitnessName};

use super::driver_modules::DriverHold;
use super::table::show;
use crate::baseline;
use crate::clock::boottime_ns;
use crate::component::{self, rdma};
use crate::config::Config;
use crate::hub::Hub;
use crate::input::{Input, InputSender, Observation, send_all};
use crate::poll::{PollRequest, PollScheduler};
use crate::process::enrich;
use crate::samples::Batch;
use crate::supervise::{Pulse, Task, beat, names};

/// Longest time between two heartbeats.
const ROUND: Duration = Duration::from_secs(5);

/// The task's name.
pub const TASK: &str = names::DEVICES;

/// Starts the task, which polls out of turn when `poll_soon` asks for it.
///
/// # Errors
///
/// If the thread cannot be started.
pub fn start(
    config: &Config,
    context: &component::Context,
    inputs: InputSender,
    poll_soon: PollRequest,
    hold: Arc<DriverHold>,
) -> std::io::Result<()> {
    let (config, context) = (config.clone(), context.clone());
    let tasks = context.hub.tasks.clone();
    let task = Task {
        name: TASK,
        needed: true,
        // NVML is asked with a deadline, three times in one poll at most.
        silence: Some(Duration::from_secs(60) + 3 * config.nvml_deadline),
        sources: component::witnesses_of(TASK),
    };
    tasks.start(task, move |pulse| {
        let state = State::new(&config, &context, inputs.clone(), Arc::clone(&hold));
        let state = state.map_err(|error| format!("cannot be started: {error}"))?;
        let scheduler = poll_soon.renew();
        let wake = poll_soon.clone();
        pulse.wake_by(move || wake.ask());
        state.run(scheduler, pulse);
        Ok(())
    })
}

/// What is to be done every so often.
struct PollTimer {
    every: Duration,
    /// `None`: never.
    next: Option<Instant>,
}

impl PollTimer {
    /// Due from `now` on; never without a time.
    fn new(every: Option<Duration>, now: Instant) -> Self {
        Self {
            every: every.unwrap_or_default(),
            next: every.map(|_| now),
        }
    }

    /// Whether it is due; what was missed is left out, so that beats that begin together stay together.
    fn take(&mut self, now: Instant) -> bool {
        let Some(next) = self.next.filter(|next| *next <= now) else {
            return false;
        };
        let missed = now.duration_since(next).as_nanos() / self.every.as_nanos().max(1);
        let intervals = u32::try_from(missed.saturating_add(1)).unwrap_or(u32::MAX);
        let after = self.every.checked_mul(intervals);
        self.next = after.and_then(|after| next.checked_add(after));
        true
    }
}

struct State {
    hub: Arc<Hub>,
    rdma: Arc<rdma::Ports>,
    compared: Arc<component::baseline::Kept>,
    baseline: Option<baseline::Watch>,
    inputs: InputSender,
    devices: Devices,
    nvml: Option<Arc<NvmlClient>>,
    hold: Arc<DriverHold>,
    nvml_interval: Option<Duration>,
    pci_interval: Option<Duration>,
    nvml_state: NvmlState,
    gpus: Vec<GpuInfo>,
    /// Whether PCI was ever polled, and whether the core knows what was found: also that there is none.
    polled_pci: bool,
    sent_gpus: bool,
    tree: PciTree,
    off: Vec<WitnessName>,
}

impl State {
    fn new(
        config: &Config,
        context: &component::Context,
        inputs: InputSender,
        hold: Arc<DriverHold>,
    ) -> std::io::Result<Self> {
        let nvml_off = config.disabled_sources.contains(&WitnessName::Nvml);
        let nvml_interval = config.nvml_interval.filter(|_| !nvml_off);
        let nvml = match nvml_interval {
            Some(_) => Some(Arc::new(NvmlClient::new(nvml_config(
                config,
                &context.hub,
            ))?)),
            None => None,
        };
        if let Some(nvml) = &nvml {
            hold.set_nvml(Arc::clone(nvml));
        }
        let sys = SysRoot(config.sysfs_root.clone());
        let mut devices = Devices::new(sys.clone(), ProcRoot(config.proc_root.clone()))
            .expecting(sys.clone(), config.rdma)
            .reporting_growth(config.memory_growth);
        if config.disabled_sources.contains(&WitnessName::SysfsAer) {
            devices = devices.without_aer(sys);
        }
        Ok(Self {
            hub: Arc::clone(&context.hub),
            rdma: Arc::clone(&context.rdma),
            compared: Arc::clone(&context.compared),
            baseline: (!config.disabled.contains(&component::baseline::NAME))
                .then(|| baseline::Watch::new(config.baseline.clone())),
            inputs,
            devices,
            nvml,
            hold,
            nvml_interval,
            pci_interval: config.pci_interval,
            nvml_state: NvmlState::Idle,
            gpus: Vec::new(),
            polled_pci: false,
            sent_gpus: false,
            tree: PciTree::default(),
            off: config.disabled_sources.clone(),
        })
    }

    fn run(mut self, mut scheduler: PollScheduler, pulse: &Pulse) {
        let began = Instant::now();
        let mut nvml = PollTimer::new(self.nvml_interval, began);
        let mut pci = PollTimer::new(self.pci_interval, began);
        while !pulse.is_stopping() {
            beat();
            // Before a poll that is due too: NVML can take its time when a GPU is in trouble.
            if scheduler.is_due() {
                scheduler.taken();
                if self.pci_interval.is_some() {
                    let report = self.devices.poll_pci();
                    self.polled_pci = true;
                    self.emit(report);
                }
            }
            let now = Instant::now();
            let due = (nvml.take(now), pci.take(now));
            if due != (false, false) {
                self.poll(due);
            }
            let now = Instant::now();
            let next = [nvml.next, pci.next].into_iter().flatten().min();
            let left = next.map_or(ROUND, |next| next.saturating_duration_since(now));
            scheduler.wait(left.min(ROUND));
        }
    }

    /// Asks NVML, polls PCI and RDMA ports, or both in one.
    fn poll(&mut self, (nvml_due, pci_due): (bool, bool)) {
        // Paused means that the driver is to be left alone: a reset or an upgrade. The hold
        // means the same, for as long as somebody may be unloading it.
        let left_alone = self.hub.is_paused() || self.hold.active();
        let snapshot = match &self.nvml {
            Some(nvml) if left_alone => {
                nvml.close();
                None
            }
            Some(nvml) if nvml_due => {
                if nvml.status().state == NvmlState::Closed {
                    nvml.resume();
                }
                nvml.sample().ok()
            }
            _ => None,
        };
        let sampled = snapshot.is_some();
        let report = match (nvml_due || left_alone, pci_due) {
            (true, true) => self.devices.poll(snapshot),
            (true, false) => self.devices.sample(snapshot),
            (false, _) => self.devices.poll_now(),
        };
        self.polled_pci |= pci_due;
        self.show_nvml();
        if nvml_due || left_alone {
            self.publish_nvml(&report.gpus, sampled);
        }
        if report.rdma.is_some() {
            self.compare(&BaselineFacts::of(&report));
        }
        self.emit(report);
    }

    /// Compares what a poll of everything has found with the baseline.
    fn compare(&mut self, facts: &BaselineFacts) {
        let Some(watch) = &mut self.baseline else {
            return;
        };
        let found = watch.compare(facts);
        let (name, hub) = (component::baseline::NAME, &self.hub);
        let (state, reason) = match (&found.refused, found.present) {
            (Some(refused), true) => (SourceState::Degraded, Some(refused.clone())),
            (Some(refused), false) => (SourceState::Failed, Some(refused.clone())),
            (None, true) => (SourceState::Active, None),
            (None, false) => (SourceState::Absent, Some("there is no baseline".to_owned())),
        };
        self.compared.set(found.refused);
        component::show(hub, name, state, reason);
        if let Some(interval) = self.pci_interval {
            hub.samples.publish(&Batch {
                component: name,
                time: Timestamp::now(),
                interval,
                metrics: found.metrics,
            });
        }
        // The core ends after this thread.
        let _ = self.inputs.send(Input::Baseline(found.judgements));
    }

    /// What NVML has read just now; nothing of an earlier reading stays where it has read nothing.
    fn publish_nvml(&self, gpus: &[GpuInfo], sampled: bool) {
        if sampled {
            self.hub.metrics.saw(WitnessName::Nvml);
        }
        let mut metrics = gtrace_devices::metrics(gpus);
        let of_others = metrics_without_nvml(gpus);
        metrics.retain(|metric| of_others.iter().all(|other| other.name != metric.name));
        self.publish(WitnessName::Nvml, self.nvml_interval, metrics);
    }

    fn emit(&mut self, report: DeviceReport) {
        self.show_others(&report);
        let interval = self.pci_interval.or(self.nvml_interval);
        // What PCI shows of GPUs is still needed by other sources.
        let presence = metrics_without_nvml(&report.gpus);
        self.publish(WitnessName::SysfsPci, interval, presence);
        if *self.devices.tree() != self.tree {
            self.tree.clone_from(self.devices.tree());
            // The core ends after this thread.
            let _ = self.inputs.send(Input::PciTree(self.tree.clone()));
        }
        let observations: Vec<_> = report
            .events
            .into_iter()
            .filter(|observed| !self.is_off(observed.witness))
            .map(|mut observed| {
                if let Some(process) = &mut observed.occurrence.process {
                    enrich(process);
                }
                Observation {
                    witness: observed.witness,
                    occurrence: observed.occurrence,
                    count: observed.count,
                }
            })
            .collect();
        for observation in &observations {
            self.hub
                .metrics
                .count_records(observation.witness, observation.count);
        }
        send_all(&self.inputs, observations);
        // A GPU that did not initialise or did not answer may be gone or replaced.
        if let Some(nvml) = &self.nvml
            && (is_broken(nvml.status().state) || nvml.status().reason.is_some())
            && !self.gpus.is_empty()
            && pci_addresses(&report.gpus).ne(pci_addresses(&self.gpus))
        {
            nvml.resume();
        }
        // That the first look found none is news too: a GPU may be gone since the host was started.
        let found_none = self.polled_pci && !self.sent_gpus && report.pci_error.is_none();
        if found_none || report.gpus != self.gpus {
            self.sent_gpus = true;
            self.gpus.clone_from(&report.gpus);
            // The core ends after this thread.
            let _ = self.inputs.send(Input::Gpus(report.gpus));
        }
    }

    fn is_off(&self, source: WitnessName) -> bool {
        self.off.contains(&source)
    }

    fn publish(&self, component: WitnessName, interval: Option<Duration>, metrics: Vec<Metric>) {
        let Some(interval) = interval.filter(|_| !self.is_off(component)) else {
            return;
        };
        self.hub.samples.publish(&Batch {
            component: component.name(),
            time: Timestamp::now(),
            interval,
            metrics,
        });
    }

    fn show_rdma(&self, health: &RdmaHealth) {
        self.rdma.set(health.clone());
        let (state, reason) = rdma::source(health);
        show(&self.hub, WitnessName::SysfsRdma, state, reason);
        let metrics = RdmaWatch::metrics(health);
        self.publish(WitnessName::SysfsRdma, self.pci_interval, metrics);
    }

    fn show_nvml(&mut self) {
        let Some(nvml) = &self.nvml else { return };
        let status = nvml.status();
        let state = match status.state {
            NvmlState::Ok if status.reason.is_some() => SourceState::Degraded,
            NvmlState::Ok | NvmlState::Idle => SourceState::Active,
            NvmlState::Absent => SourceState::Absent,
            NvmlState::Failed | NvmlState::Hung => SourceState::Failed,
            NvmlState::Closed => SourceState::Off,
        };
        show(&self.hub, WitnessName::Nvml, state, status.reason.clone());
        if is_broken(status.state) && !is_broken(self.nvml_state) {
            let reason = status
                .reason
                .unwrap_or_else(|| "no reason given".to_owned());
            let observation = source_lost("nvml", &reason);
            let _ = self
                .inputs
                .send(Observation::once(WitnessName::Gtrace, observation));
        }
        self.nvml_state = status.state;
    }

    fn show_others(&mut self, report: &DeviceReport) {
        if report.pci_error.is_none() && !self.is_off(WitnessName::SysfsPci) {
            self.hub.metrics.saw(WitnessName::SysfsPci);
        }
        if report.driver.is_some() && !self.is_off(WitnessName::ProcDriver) {
            self.hub.metrics.saw(WitnessName::ProcDriver);
        }
        let pci = match &report.pci_error {
            _ if self.pci_interval.is_none() || self.is_off(WitnessName::SysfsPci) => {
                (SourceState::Off, None)
            }
            None => match unanswered(&report.gpus) {
                None => (SourceState::Active, None),
                reason => (SourceState::Degraded, reason),
            },
            Some(error) => (SourceState::Failed, Some(error.clone())),
        };
        show(&self.hub, WitnessName::SysfsPci, pci.0, pci.1);
        let watched = self.pci_interval.is_some() && !self.is_off(WitnessName::SysfsAer);
        if let Some(aer) = report.aer.as_ref().filter(|_| watched) {
            let (state, reason) = aer_source(aer);
            show(&self.hub, WitnessName::SysfsAer, state, reason);
            self.publish(
                WitnessName::SysfsAer,
                self.pci_interval,
                aer.metrics.clone(),
            );
        }
        let watched = !self.is_off(WitnessName::SysfsRdma);
        if let Some(health) = report.rdma.as_ref().filter(|_| watched) {
            self.show_rdma(health);
        }
        let driver = match &report.driver {
            _ if self.is_off(WitnessName::ProcDriver) => (SourceState::Off, None),
            Some(_) => {
                let names: Vec<_> = report
                    .proc_unanswered
                    .iter()
                    .map(ToString::to_string)
                    .collect();
                match left_alone(&names, "a reading of /proc/driver/nvidia/gpus") {
                    None => (SourceState::Active, None),
                    reason => (SourceState::Degraded, reason),
                }
            }
            None => (
                SourceState::Absent,
                Some("the NVIDIA driver is not loaded".to_owned()),
            ),
        };
        show(&self.hub, WitnessName::ProcDriver, driver.0, driver.1);
    }
}

/// What is known of GPUs without NVML's samples: where they are shown, and their links.
fn metrics_without_nvml(gpus: &[GpuInfo]) -> Vec<Metric> {
    let mut gpus = gpus.to_vec();
    gpus.iter_mut().for_each(|gpu| gpu.sample = None);
    gtrace_devices::metrics(&gpus)
}

/// Which GPUs do not answer, if any does not.
fn unanswered(gpus: &[GpuInfo]) -> Option<String> {
    let silent = gpus.iter().filter(|gpu| gpu.unanswered);
    let names: Vec<_> = silent.map(|gpu| gpu.pci.to_string()).collect();
    left_alone(&names, "a reading of its link")
}

/// How the source of AER counters stands.
pub fn aer_source(aer: &AerReport) -> (SourceState, Option<String>) {
    let names: Vec<_> = aer.unanswered.iter().map(ToString::to_string).collect();
    let unanswered = left_alone(&names, "a reading of its AER counters");
    if unanswered.is_some() {
        (SourceState::Degraded, unanswered)
    } else if aer.metrics.is_empty() {
        let reason = "no GPU or port above one has AER counters in sysfs".to_owned();
        (SourceState::Absent, Some(reason))
    } else {
        (SourceState::Active, None)
    }
}

fn left_alone(names: &[String], what: &str) -> Option<String> {
    let names = (!names.is_empty()).then(|| names.join(", "))?;
    Some(format!(
        "{names} does not answer {what} and is left alone, with back-off"
    ))
}

/// GPUs that PCI has.
fn pci_addresses(gpus: &[GpuInfo]) -> impl Iterator<Item = PciAddress> {
    let there = gpus.iter().filter(|gpu| gpu.present_in.pci);
    there.map(|gpu| gpu.pci)
}

fn is_broken(state: NvmlState) -> bool {
    matches!(state, NvmlState::Failed | NvmlState::Hung)
}

/// How NVML is asked: by the library of the configuration, with its deadline.
pub fn nvml_of(config: &Config) -> NvmlConfig {
    let mut nvml = match &config.nvml_library {
        None => NvmlConfig::this_program(),
        Some(library) => {
            let library = library.clone();
            NvmlConfig::with_command(move || {
                let mut command = std::process::Command::new("/proc/self/exe");
                command.arg("nvml-child").arg("--library").arg(&library);
                command
            })
        }
    };
    nvml.deadline = config.nvml_deadline;
    nvml
}

fn nvml_config(config: &Config, hub: &Arc<Hub>) -> NvmlConfig {
    let mut nvml = nvml_of(config);
    let hub = Arc::clone(hub);
    nvml.started = Box::new(move |pid| hub.started_own(pid));
    nvml
}

/// A source gives nothing any more, for `reason`.
pub fn source_lost(source: &str, reason: &str) -> Occurrence {
    let message = format!("{source} gives nothing any more: {reason}");
    let mut occurrence = Occurrence::new(Kind::SourceLost, Severity::Warning, message);
    occurrence.provenance = Provenance::Kernel;
    occurrence.boottime_ns = Some(boottime_ns());
    occurrence.detail.source.source = Some(source.to_owned());
    occurrence.detail.source.reason = Some(reason.to_owned());
    occurrence
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

    use super::*;
    use crate::config::Keys;
    use crate::fake_sysfs::{FakeSysfs, GPU, PORT};
    use crate::poll;
    use gtrace_api::HealthState;
    use gtrace_devices::Relation;

    fn next_tree(inputs: &Receiver<Input>) -> PciTree {
        loop {
            if let Input::PciTree(tree) = inputs.recv_timeout(Duration::from_secs(20)).unwrap() {
                return tree;
            }
        }
    }

    fn next_observation(inputs: &Receiver<Input>) -> Observation {
        loop {
            if let Input::Observation(observation) =
                inputs.recv_timeout(Duration::from_secs(20)).unwrap()
            {
                return *observation;
            }
        }
    }

    fn observed_soon(inputs: &Receiver<Input>, kind: Kind) -> Observation {
        loop {
            let observation = next_observation(inputs);
            if observation.occurrence.kind == kind {
                return observation;
            }
        }
    }

    #[test]
    fn nvml_and_pci_have_a_beat_each_and_meet_where_both_are_due() {
        let began = Instant::now();
        let second = Duration::from_secs(1);
        let mut nvml = PollTimer::new(Some(10 * second), began);
        let mut pci = PollTimer::new(Some(4 * second), began);
        let mut none = PollTimer::new(None, began);
        let (mut asked, mut polled) = (Vec::new(), Vec::new());
        for at in 0..24 {
            // The rounds come a little late, each by another time.
            let now = began + at * second + Duration::from_millis(u64::from(at) * 7);
            asked.extend(nvml.take(now).then_some(at));
            polled.extend(pci.take(now).then_some(at));
            assert!(!none.take(now));
        }
        assert_eq!(asked, [0, 10, 20]);
        assert_eq!(polled, [0, 4, 8, 12, 16, 20]);
        // Long after: once for all that was missed, and on the old beat.
        let now = began + 101 * second;
        assert!(pci.take(now) && !pci.take(now));
        assert_eq!(pci.next, Some(began + 104 * second));
        let mut once = PollTimer::new(Some(Duration::MAX), began);
        assert!(once.take(began) && !once.take(now));
    }

    /// The task, ended when dropped.
    struct Watcher(Arc<Hub>);

    impl Watcher {
        fn start(
            config: &Config,
            context: &component::Context,
            inputs: SyncSender<Input>,
            poll_soon: &PollRequest,
        ) -> Self {
            let hold = Arc::new(DriverHold::default());
            start(config, context, inputs.into(), poll_soon.clone(), hold).unwrap();
            Self(Arc::clone(&context.hub))
        }
    }

    impl Drop for Watcher {
        fn drop(&mut self) {
            let left = self.0.tasks.stop(&[TASK], Duration::from_secs(60));
            assert!(left.is_empty());
        }
    }

    fn watcher(
        sys: &FakeSysfs,
        pci_interval_s: u64,
        nvml_interval_s: u64,
    ) -> (Watcher, Arc<Hub>, Receiver<Input>, poll::PollRequest) {
        let keys = Keys {
            sysfs_root: Some(sys.root().0),
            proc_root: Some("/nonexistent".into()),
            nvml_library: Some("/nonexistent".into()),
            pci_interval_s: Some(pci_interval_s),
            nvml_interval_s: Some(nvml_interval_s),
            ..Keys::default()
        };
        let config = Config::load(Some("/dev/null".as_ref()), keys).unwrap();
        let (hub, _commands) = Hub::new(gtrace_api::Status::default());
        let (sender, inputs) = sync_channel(64);
        let (poll_soon, _) = poll::channel();
        let watcher = Watcher::start(&config, &config.components(&hub), sender, &poll_soon);
        (watcher, hub, inputs, poll_soon)
    }

    #[test]
    fn without_any_interval_nobody_looks_and_nothing_breaks() {
        let sys = FakeSysfs::with_gpu();
        let (watcher, hub, inputs, poll_soon) = watcher(&sys, 0, 0);
        poll_soon.ask();
        std::thread::sleep(Duration::from_millis(1500));
        assert!(hub.tasks.is_running(TASK));
        assert!(inputs.try_recv().is_err());
        drop(watcher);
    }

    #[test]
    fn that_a_host_has_no_gpu_is_told_once() {
        let sys = FakeSysfs::with_gpu();
        sys.remove_gpu();
        let keys = Keys {
            sysfs_root: Some(sys.root().0),
            proc_root: Some("/nonexistent".into()),
            nvml_library: Some("/nonexistent".into()),
            ..Keys::default()
        };
        let config = Config::load(Some("/dev/null".as_ref()), keys).unwrap();
        let (hub, _commands) = Hub::new(gtrace_api::Status::default());
        let (sender, inputs) = sync_channel(64);
        let hold = Arc::new(DriverHold::default());
        let mut state = State::new(&config, &config.components(&hub), sender.into(), hold).unwrap();
        let told = || {
            let inputs = inputs.try_iter();
            inputs
                .filter(|i| matches!(i, Input::Gpus(gpus) if gpus.is_empty()))
                .count()
        };
        state.poll((true, false));
        assert_eq!(told(), 0, "nobody has looked at PCI");
        state.poll((false, true));
        state.poll((false, true));
        assert_eq!(told(), 1);
    }

    #[test]
    fn pci_is_looked_at_in_its_own_time_however_often_nvml_is_asked() {
        let sys = FakeSysfs::with_gpu();
        let (seldom, _hub, inputs, _poll_soon) = watcher(&sys, 3600, 1);
        next_tree(&inputs);
        sys.remove_gpu();
        std::thread::sleep(Duration::from_millis(2500));
        let observation = inputs
            .try_iter()
            .filter(|i| matches!(i, Input::Observation(_)));
        assert_eq!(observation.count(), 0, "an hour has not passed");
        drop(seldom);

        let sys = FakeSysfs::with_gpu();
        let (never, _hub, inputs, _poll_soon) = watcher(&sys, 0, 1);
        std::thread::sleep(Duration::from_millis(1500));
        let trees = inputs.try_iter().filter(|i| matches!(i, Input::PciTree(_)));
        assert_eq!(trees.count(), 0);
        drop(never);

        let sys = FakeSysfs::with_gpu();
        let (often, _hub, inputs, _poll_soon) = watcher(&sys, 1, 3600);
        next_tree(&inputs);
        sys.remove_gpu();
        assert_eq!(next_observation(&inputs).occurrence.kind, Kind::GpuLost);
        drop(often);
    }

    #[test]
    fn nvml_that_never_worked_is_one_event_and_asked_again_when_a_card_comes_or_goes() {
        let sys = FakeSysfs::with_gpu();
        let keys = Keys {
            sysfs_root: Some(sys.root().0),
            proc_root: Some("/nonexistent".into()),
            ..Keys::default()
        };
        let config = Config::load(Some("/dev/null".as_ref()), keys).unwrap();
        let (hub, _commands) = Hub::new(gtrace_api::Status::default());
        let (sender, inputs) = sync_channel(64);
        let hold = Arc::new(DriverHold::default());
        let mut state = State::new(&config, &config.components(&hub), sender.into(), hold).unwrap();
        let of_hub = Arc::clone(&hub);
        let nvml = Arc::new(
            NvmlClient::new(NvmlConfig {
                deadline: Duration::from_millis(50),
                driver_loaded: None,
                started: Box::new(move |pid| of_hub.started_own(pid)),
                ..NvmlConfig::with_command(|| {
                    let mut hanging = std::process::Command::new("sleep");
                    hanging.arg("60");
                    hanging
                })
            })
            .unwrap(),
        );
        state.nvml = Some(Arc::clone(&nvml));
        for _ in 0..3 {
            state.poll((true, true));
        }
        let lost = |inputs: &Receiver<Input>| {
            let inputs = inputs.try_iter();
            let of_kind = |input: &Input| matches!(input, Input::Observation(o) if o.occurrence.kind == Kind::SourceLost);
            inputs.filter(of_kind).count()
        };
        assert_eq!((nvml.status().starts, lost(&inputs)), (1, 1));
        sys.remove_gpu();
        state.poll((false, true));
        state.poll((true, false));
        assert_eq!((nvml.status().starts, lost(&inputs)), (2, 0));
    }

    #[test]
    fn what_nvml_read_is_a_sample_of_nvml_and_gone_once_it_reads_nothing() {
        let sys = FakeSysfs::with_gpu();
        let keys = Keys {
            sysfs_root: Some(sys.root().0),
            proc_root: Some("/nonexistent".into()),
            nvml_library: Some("/nonexistent".into()),
            ..Keys::default()
        };
        let config = Config::load(Some("/dev/null".as_ref()), keys).unwrap();
        let (hub, _commands) = Hub::new(gtrace_api::Status::default());
        let (sender, _inputs) = sync_channel(64);
        let hold = Arc::new(DriverHold::default());
        let state = State::new(&config, &config.components(&hub), sender.into(), hold).unwrap();
        let mut gpu = GpuInfo::at(GPU.parse().unwrap());
        let mut sample = gtrace_devices::GpuSample::at(Timestamp::now());
        sample.memory.total = Some(80 << 30);
        gpu.present_in.nvml = true;
        gpu.sample = Some(sample);
        state.publish_nvml(std::slice::from_ref(&gpu), true);
        let names = || {
            let metrics = hub.samples.newest().into_iter();
            metrics.map(|metric| metric.name).collect::<Vec<_>>()
        };
        let read = names();
        assert!(read.contains(&"gtrace_gpu_memory_size_bytes"), "{read:?}");
        assert!(!read.contains(&"gtrace_gpu_present"), "PCI shows that");
        let seen = hub.metrics.last_seen(WitnessName::Nvml);
        assert!(seen.is_some());

        gpu.sample = None;
        state.publish_nvml(&[gpu], false);
        assert_eq!(names(), [""; 0]);
        assert_eq!(hub.metrics.last_seen(WitnessName::Nvml), seen);
    }

    #[test]
    fn a_source_that_is_off_has_no_samples() {
        let sys = FakeSysfs::with_gpu();
        sys.corrected(GPU, 1);
        let sampled = |disabled: &str| {
            let keys = Keys {
                sysfs_root: Some(sys.root().0),
                proc_root: Some("/nonexistent".into()),
                nvml_interval_s: Some(0),
                disabled_sources: Some(disabled.to_owned()),
                ..Keys::default()
            };
            let config = Config::load(Some("/dev/null".as_ref()), keys).unwrap();
            let (hub, _commands) = Hub::new(gtrace_api::Status::default());
            hub.update_status(|status| status.sources = component::initial());
            let (sender, _inputs) = sync_channel(64);
            let hold = Arc::new(DriverHold::default());
            let context = config.components(&hub);
            let mut state = State::new(&config, &context, sender.into(), hold).unwrap();
            state.poll((false, true));
            [WitnessName::SysfsPci, WitnessName::SysfsAer].map(|source| {
                let batch = hub.samples.last(source.name());
                let sources = hub.status().sources;
                let shown = sources.iter().find(|s| s.witness == Some(source));
                (
                    batch.is_some_and(|batch| !batch.metrics.is_empty()),
                    shown.unwrap().state == SourceState::Active,
                    hub.metrics.last_seen(source).is_some(),
                )
            })
        };
        let [pci, aer] = sampled("");
        assert_eq!((pci, aer), ((true, true, true), (true, true, false)));
        let off = (false, false, false);
        assert_eq!(sampled("sysfs:aer"), [pci, off]);
        assert_eq!(sampled("sysfs:pci"), [off, aer]);
        assert_eq!(sampled("sysfs:pci,sysfs:aer"), [off, off]);
    }

    #[test]
    fn a_port_that_goes_down_is_an_event_a_metric_and_in_the_status() {
        let sys = FakeSysfs::with_gpu();
        let port = sys.root().0.join("class/infiniband/mlx5_0/ports/1");
        std::fs::create_dir_all(&port).unwrap();
        let set = |state: &str, physical: &str| {
            std::fs::write(port.join("phys_state"), physical).unwrap();
            std::fs::write(port.join("state"), state).unwrap();
        };
        set("4: ACTIVE\n", "5: LinkUp\n");
        std::fs::write(port.join("rate"), "400 Gb/sec (4X NDR)\n").unwrap();
        let keys = Keys {
            sysfs_root: Some(sys.root().0),
            proc_root: Some("/nonexistent".into()),
            pci_interval_s: Some(1),
            nvml_interval_s: Some(0),
            ..Keys::default()
        };
        let config = Config::load(Some("/dev/null".as_ref()), keys).unwrap();
        let (hub, _commands) = Hub::new(gtrace_api::Status::default());
        hub.update_status(|status| status.sources = component::initial());
        let (sender, inputs) = sync_channel(64);
        let (poll_soon, _) = poll::channel();
        let context = config.components(&hub);
        let watcher = Watcher::start(&config, &context, sender, &poll_soon);
        let value = |name: &str| {
            let metrics = hub.samples.newest();
            let found = metrics.iter().find(|m| m.name == name);
            found.map(|metric| metric.value)
        };
        let deadline = Instant::now() + Duration::from_secs(60);
        while value("gtrace_rdma_active_ports") != Some(1.0) {
            assert!(Instant::now() < deadline, "the port is not seen");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(value("gtrace_rdma_healthy"), Some(1.0));

        set("1: DOWN\n", "2: Polling\n");
        let observation = observed_soon(&inputs, Kind::RdmaPort);
        assert_eq!(observation.witness, WitnessName::SysfsRdma);
        assert_eq!(observation.occurrence.message, "mlx5_0 port 1 went down");
        // The state is shown before the event is sent.
        let sources = hub.status().sources;
        let source = sources.iter().find(|s| s.name == "sysfs:rdma").unwrap();
        assert_eq!(
            source.reason.as_deref(),
            Some("UNHEALTHY, 0 ports active of 1 expected: mlx5_0 port 1 is DOWN (Polling)")
        );
        assert_eq!(value("gtrace_rdma_healthy"), Some(0.0));
        assert_eq!(value("gtrace_rdma_active_ports"), Some(0.0));
        assert_eq!(value("gtrace_rdma_expected_ports"), Some(1.0));
        component::check_all(&context);
        let judged = hub.health("sysfs:rdma").unwrap();
        assert_eq!(judged.state, HealthState::Unhealthy);
        assert_eq!(judged.reasons, ["mlx5_0 port 1 is DOWN (Polling)"]);

        set("4: ACTIVE\n", "5: LinkUp\n");
        let observation = observed_soon(&inputs, Kind::RdmaPort);
        assert_eq!(observation.occurrence.severity, Severity::Info);
        std::fs::remove_dir_all(sys.root().0.join("class/infiniband/mlx5_0")).unwrap();
        observed_soon(&inputs, Kind::RdmaLost);
        drop(watcher);
    }

    #[test]
    fn a_vanished_gpu_is_seen_at_once_when_somebody_asks_and_long_before_the_next_poll() {
        let sys = FakeSysfs::with_gpu();
        let keys = Keys {
            sysfs_root: Some(sys.root().0),
            proc_root: Some("/nonexistent".into()),
            pci_interval_s: Some(3600),
            nvml_interval_s: Some(0),
            ..Keys::default()
        };
        let config = Config::load(Some("/dev/null".as_ref()), keys).unwrap();
        let (hub, _commands) = Hub::new(gtrace_api::Status::default());
        let (sender, inputs) = sync_channel(64);
        let (poll_soon, _) = poll::channel();
        let watcher = Watcher::start(&config, &config.components(&hub), sender, &poll_soon);
        let port = PORT.parse().unwrap();
        let gpu = GPU.parse().unwrap();
        assert_eq!(next_tree(&inputs).relation(port), Relation::Above(gpu));

        // Asked before there is anything to see: the poll that follows a second later sees it.
        poll_soon.ask();
        std::thread::sleep(Duration::from_millis(200));
        sys.remove_gpu();
        let began = Instant::now();
        let observation = next_observation(&inputs);
        assert_eq!(observation.occurrence.kind, Kind::GpuLost);
        assert_eq!(observation.occurrence.gpu.unwrap().pci, Some(gpu));
        let took = began.elapsed();
        assert!(took < Duration::from_secs(5), "{took:?}, not an hour");
        drop(watcher);
        let rest: Vec<_> = inputs.try_iter().collect();
        let lost = |input: &Input| matches!(input, Input::Observation(_));
        assert!(!rest.iter().any(lost), "once");
    }
}
