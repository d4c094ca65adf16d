//! The thread that polls PCI, /proc/driver/nvidia and NVML now and then.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gtrace_api::SourceState;
use gtrace_devices::{
    AerReport, BaselineFacts, DeviceReport, Devices, GpuInfo, Metric, NvmlClient, NvmlConfig,
    NvmlState, Observed, PciTree, ProcRoot, RdmaHealth, RdmaWatch, SysRoot,
};
use gtrace_event::{Kind, Occurrence, PciAddress, Provenance, Severity, WitnessName};

use super::driver_modules::DriverHold;
use super::table::show;
use crate::baseline;
use crate::clock::boottime_ns;
use crate::component::{self, rdma};
use crate::config::Config;
use crate::contention::{self, Contention};
use crate::hub::Hub;
use crate::input::{Input, InputSender, Observation, send_all};
use crate::poll::{PollRequest, PollScheduler};
use crate::process::enrich;
use crate::supervise::{Pulse, Task, beat, first_pulse, names};

/// With nothing to poll, how long one wait lasts.
const ROUND: Duration = Duration::from_secs(60);

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
    // NVML is asked with a deadline, three times in one poll at most.
    let silence = Duration::from_secs(60) + 3 * config.nvml_deadline;
    let task = Task::needed(TASK, silence, component::witnesses_of(TASK));
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
    /// Due from `first` on; never without a time.
    fn new(every: Option<Duration>, first: Instant) -> Self {
        Self {
            every: every.unwrap_or_default(),
            next: every.map(|_| first),
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
    compared: Arc<component::Reasons>,
    baseline: Option<baseline::Watch>,
    contention: Option<(contention::Reader, Contention)>,
    inputs: InputSender,
    devices: Devices,
    nvml: Option<Arc<NvmlClient>>,
    hold: Arc<DriverHold>,
    nvml_interval: Option<Duration>,
    pci_interval: Option<Duration>,
    nvml_state: NvmlState,
    gpus: Vec<GpuInfo>,
    nvswitches: Vec<PciAddress>,
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
            contention: config.contention.map(|window| {
                let reader = contention::Reader {
                    proc_root: config.proc_root.clone(),
                    sysfs_root: config.sysfs_root.clone(),
                };
                (reader, Contention::new(window))
            }),
            inputs,
            devices,
            nvml,
            hold,
            nvml_interval,
            pci_interval: config.pci_interval,
            nvml_state: NvmlState::Idle,
            gpus: Vec::new(),
            nvswitches: Vec::new(),
            polled_pci: false,
            sent_gpus: false,
            tree: PciTree::default(),
            off: config.disabled_sources.clone(),
        })
    }

    fn run(mut self, mut scheduler: PollScheduler, pulse: &Pulse) {
        let began = first_pulse();
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
            pulse.rest(left, |time| scheduler.wait(time));
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
        let mut report = match (nvml_due || left_alone, pci_due) {
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
        if sampled {
            report.events.extend(self.contended(&report.gpus));
        }
        self.emit(report);
    }

    /// Who shares GPUs that are busy, and who waits for the host beside idle ones.
    fn contended(&mut self, gpus: &[GpuInfo]) -> Vec<Observed> {
        let Some((reader, contention)) = &mut self.contention else {
            return Vec::new();
        };
        let found = contention.observe(&reader.read(gpus)).into_iter();
        found
            .map(|occurrence| Observed::new(WitnessName::Nvml, occurrence, 1))
            .collect()
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
            hub.samples.publish_now(name, interval, found.metrics);
        }
        if !found.judgements.is_empty() {
            // The core ends after this thread.
            let _ = self.inputs.send(Input::Baseline(found.judgements));
        }
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
        let observations = self.observations(report.events);
        for observation in &observations {
            self.hub
                .metrics
                .count_records(observation.witness, observation.count);
        }
        send_all(&self.inputs, observations);
        // After what happened, and before the GPUs that end reasons by what they show.
        for standing in self.observations(report.standing) {
            // The core ends after this thread.
            let _ = self.inputs.send(Input::Standing(Box::new(standing)));
        }
        // A GPU that did not initialise or did not answer may be gone or replaced.
        if let Some(nvml) = &self.nvml
            && (is_broken(nvml.status().state) || nvml.status().reason.is_some())
            && !self.gpus.is_empty()
            && pci_addresses(&report.gpus).ne(pci_addresses(&self.gpus))
        {
            nvml.resume();
        }
        // NVML may know those alone that were there when it was opened.
        if let Some(nvml) = &self.nvml
            && nvml.status().state == NvmlState::Ok
            && !self.gpus.is_empty()
            && has_newcomer(&self.gpus, &report.gpus)
        {
            nvml.close();
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
        if let Some(nvswitches) = report.nvswitches
            && nvswitches != self.nvswitches
        {
            self.nvswitches.clone_from(&nvswitches);
            // The core ends after this thread.
            let _ = self.inputs.send(Input::Nvswitches(nvswitches));
        }
    }

    /// What the core gets of these.
    fn observations(&self, observed: Vec<Observed>) -> Vec<Observation> {
        let on = observed
            .into_iter()
            .filter(|observed| !self.is_off(observed.witness));
        on.map(|mut observed| {
            if let Some(process) = &mut observed.occurrence.process {
                enrich(process);
            }
            observed
        })
        .collect()
    }

    fn is_off(&self, source: WitnessName) -> bool {
        self.off.contains(&source)
    }

    fn publish(&self, component: WitnessName, interval: Option<Duration>, metrics: Vec<Metric>) {
        let Some(interval) = interval.filter(|_| !self.is_off(component)) else {
            return;
        };
        self.hub
            .samples
            .publish_now(component.name(), interval, metrics);
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
                .send(Input::once(WitnessName::Gtrace, observation));
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

/// Whether the driver was bound to a GPU since, and NVML does not show that GPU.
fn has_newcomer(before: &[GpuInfo], now: &[GpuInfo]) -> bool {
    let is_bound = |gpu: &GpuInfo| gpu.driver_bound.as_deref() == Some("nvidia");
    let was_bound = |pci: PciAddress| before.iter().any(|gpu| gpu.pci == pci && is_bound(gpu));
    now.iter()
        .any(|gpu| is_bound(gpu) && !gpu.present_in.nvml && !was_bound(gpu.pci))
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
    nvml.driver_loaded = Some(config.proc_root.join("driver/nvidia/version"));
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
mod tests;
