//! The thread that looks at PCI, /proc/driver/nvidia and NVML now and then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gtrace_devices::{
    DeviceReport, Devices, GpuInfo, Metric, NvmlClient, NvmlConfig, NvmlState, PciTree, ProcRoot,
    RdmaWatch, SysRoot,
};
use gtrace_event::{Kind, Occurrence, Provenance, Severity, WitnessName};

use super::driver::DriverHold;
use super::look::Looks;
use super::probes::send_all;
use super::rdma::{rdma_expected, rdma_source};
use super::table::show;
use crate::clock::boottime_ns;
use crate::config::Config;
use crate::hub::{Hub, SourceState};
use crate::pipeline::{Input, InputSender, Told};

/// How often the thread looks at the clock and at whether it is to end.
const ROUND: Duration = Duration::from_millis(500);

/// The running thread.
#[derive(Debug)]
pub struct Watcher {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Watcher {
    /// Starts to look, and to look out of turn when `looks` asks for it.
    pub fn start(
        config: &Config,
        hub: Arc<Hub>,
        inputs: InputSender,
        looks: Looks,
        hold: Arc<DriverHold>,
    ) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let state = State::new(config, hub, inputs, Arc::clone(&stop), hold)?;
        let thread = std::thread::Builder::new()
            .name("gtrace-devices".to_owned())
            .spawn(move || state.run(looks))?;
        Ok(Self { stop, thread })
    }

    /// Ends it. A call into NVML under way is left to its deadline.
    pub fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        if self.thread.join().is_err() {
            tracing::error!("the thread that looks at the devices panicked");
        }
    }
}

/// What is to be done every so often.
struct Beat {
    every: Duration,
    /// `None`: never.
    next: Option<Instant>,
}

impl Beat {
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
        let beats = u32::try_from(missed.saturating_add(1)).unwrap_or(u32::MAX);
        let after = self.every.checked_mul(beats);
        self.next = after.and_then(|after| next.checked_add(after));
        true
    }
}

struct State {
    hub: Arc<Hub>,
    inputs: InputSender,
    stop: Arc<AtomicBool>,
    devices: Devices,
    nvml: Option<Arc<NvmlClient>>,
    hold: Arc<DriverHold>,
    nvml_interval: Option<Duration>,
    pci_interval: Option<Duration>,
    nvml_state: NvmlState,
    gpus: Vec<GpuInfo>,
    tree: PciTree,
    off: Vec<WitnessName>,
    /// Of the last look at RDMA ports.
    rdma_metrics: Vec<Metric>,
}

impl State {
    fn new(
        config: &Config,
        hub: Arc<Hub>,
        inputs: InputSender,
        stop: Arc<AtomicBool>,
        hold: Arc<DriverHold>,
    ) -> std::io::Result<Self> {
        let nvml_off = config.off.contains(&WitnessName::Nvml);
        let nvml_interval = config.nvml_interval.filter(|_| !nvml_off);
        let nvml = match nvml_interval {
            Some(_) => Some(Arc::new(NvmlClient::new(nvml_config(config))?)),
            None => None,
        };
        if let Some(nvml) = &nvml {
            hold.set_nvml(Arc::clone(nvml));
        }
        let sys = SysRoot(config.sysfs_root.clone());
        Ok(Self {
            hub,
            inputs,
            stop,
            devices: Devices::new(sys.clone(), ProcRoot(config.proc_root.clone()))
                .expecting(sys, rdma_expected(config)),
            nvml,
            hold,
            nvml_interval,
            pci_interval: config.pci_interval,
            nvml_state: NvmlState::Idle,
            gpus: Vec::new(),
            tree: PciTree::default(),
            off: config.off.clone(),
            rdma_metrics: Vec::new(),
        })
    }

    fn run(mut self, mut looks: Looks) {
        let began = Instant::now();
        let mut nvml = Beat::new(self.nvml_interval, began);
        let mut pci = Beat::new(self.pci_interval, began);
        while !self.stop.load(Ordering::Relaxed) {
            // Before a poll that is due too: NVML can take its time when a GPU is in trouble.
            if looks.is_due() {
                looks.taken();
                if self.pci_interval.is_some() {
                    let report = self.devices.look_at_pci();
                    self.tell(report);
                }
            }
            let now = Instant::now();
            let due = (nvml.take(now), pci.take(now));
            if due != (false, false) {
                self.look(due);
            }
            let now = Instant::now();
            let next = [nvml.next, pci.next].into_iter().flatten().min();
            let left = next.map_or(ROUND, |next| next.saturating_duration_since(now));
            looks.wait(left.min(ROUND));
        }
    }

    /// Asks NVML, looks at PCI and RDMA ports, or both in one.
    fn look(&mut self, (nvml_due, pci_due): (bool, bool)) {
        // Paused means that the driver is to be left alone: a reset or an upgrade. The hold
        // means the same, for as long as somebody may be unloading it.
        let left_alone = self.hub.status().paused || self.hold.active();
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
        let report = match (nvml_due || left_alone, pci_due) {
            (true, true) => self.devices.poll(snapshot),
            (true, false) => self.devices.sample(snapshot),
            (false, _) => self.devices.look(),
        };
        self.show_nvml();
        self.tell(report);
    }

    fn tell(&mut self, report: DeviceReport) {
        self.show_others(&report);
        if *self.devices.tree() != self.tree {
            self.tree.clone_from(self.devices.tree());
            // The core ends after this thread.
            let _ = self.inputs.send(Input::PciTree(self.tree.clone()));
        }
        let told: Vec<_> = report
            .events
            .into_iter()
            .filter(|observed| !self.off.contains(&observed.witness))
            .map(|observed| Told {
                witness: observed.witness,
                occurrence: observed.occurrence,
                count: observed.count,
            })
            .collect();
        for told in &told {
            self.hub.metrics.count_records(told.witness, told.count);
        }
        send_all(&self.inputs, told);
        if report.gpus != self.gpus {
            self.gpus.clone_from(&report.gpus);
            // The core ends after this thread.
            let _ = self.inputs.send(Input::Gpus(report.gpus));
        }
    }

    fn show_nvml(&mut self) {
        let Some(nvml) = &self.nvml else { return };
        let status = nvml.status();
        let state = match status.state {
            NvmlState::Ok | NvmlState::Idle => SourceState::Active,
            NvmlState::Absent => SourceState::Absent,
            NvmlState::Failed | NvmlState::Hung => SourceState::Failed,
            NvmlState::Closed => SourceState::Off,
        };
        show(&self.hub, WitnessName::Nvml, state, status.reason.clone());
        let worked = self.nvml_state == NvmlState::Ok;
        let broken = matches!(status.state, NvmlState::Failed | NvmlState::Hung);
        if worked && broken {
            let reason = status
                .reason
                .unwrap_or_else(|| "no reason given".to_owned());
            let told = source_lost("nvml", &reason);
            let _ = self.inputs.send(Told::once(WitnessName::Gtrace, told));
        }
        self.nvml_state = status.state;
    }

    fn show_others(&mut self, report: &DeviceReport) {
        let pci = match &report.pci_error {
            _ if self.pci_interval.is_none() => (SourceState::Off, None),
            None => (SourceState::Active, None),
            Some(error) => (SourceState::Failed, Some(error.clone())),
        };
        show(&self.hub, WitnessName::SysfsPci, pci.0, pci.1);
        let mut counters = self.devices.port_metrics();
        let aer = if self.pci_interval.is_none() {
            (SourceState::Off, None)
        } else if counters.is_empty() {
            let reason = "no GPU or port above one has AER counters in sysfs".to_owned();
            (SourceState::Absent, Some(reason))
        } else {
            (SourceState::Active, None)
        };
        let watched = !self.off.contains(&WitnessName::SysfsRdma);
        if let Some(health) = report.rdma.as_ref().filter(|_| watched) {
            self.rdma_metrics = RdmaWatch::metrics(health);
            let (state, reason) = rdma_source(health);
            show(&self.hub, WitnessName::SysfsRdma, state, reason);
            self.hub
                .update_status(|status| status.rdma = Some(health.clone()));
        }
        counters.extend(self.rdma_metrics.iter().cloned());
        self.hub.set_pci_metrics(counters);
        show(&self.hub, WitnessName::SysfsAer, aer.0, aer.1);
        let driver = match &report.driver {
            Some(_) => (SourceState::Active, None),
            None => (
                SourceState::Absent,
                Some("the NVIDIA driver is not loaded".to_owned()),
            ),
        };
        show(&self.hub, WitnessName::ProcDriver, driver.0, driver.1);
    }
}

fn nvml_config(config: &Config) -> NvmlConfig {
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

fn source_lost(source: &str, reason: &str) -> Occurrence {
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
    use std::sync::mpsc::{Receiver, sync_channel};

    use super::*;
    use crate::config::Keys;
    use crate::pipeline::made_up_sys::{GPU, MadeUpSys, PORT};
    use crate::sources::look;
    use crate::sources::rdma::rdma_summary;
    use gtrace_devices::Relation;

    fn next_tree(inputs: &Receiver<Input>) -> PciTree {
        loop {
            if let Input::PciTree(tree) = inputs.recv_timeout(Duration::from_secs(20)).unwrap() {
                return tree;
            }
        }
    }

    fn next_told(inputs: &Receiver<Input>) -> Told {
        loop {
            if let Input::Told(told) = inputs.recv_timeout(Duration::from_secs(20)).unwrap() {
                return *told;
            }
        }
    }

    fn told_soon(inputs: &Receiver<Input>, kind: Kind) -> Told {
        loop {
            let told = next_told(inputs);
            if told.occurrence.kind == kind {
                return told;
            }
        }
    }

    #[test]
    fn nvml_and_pci_have_a_beat_each_and_meet_where_both_are_due() {
        let began = Instant::now();
        let second = Duration::from_secs(1);
        let mut nvml = Beat::new(Some(10 * second), began);
        let mut pci = Beat::new(Some(4 * second), began);
        let mut none = Beat::new(None, began);
        let (mut asked, mut looked) = (Vec::new(), Vec::new());
        for at in 0..24 {
            // The rounds come a little late, each by another time.
            let now = began + at * second + Duration::from_millis(u64::from(at) * 7);
            asked.extend(nvml.take(now).then_some(at));
            looked.extend(pci.take(now).then_some(at));
            assert!(!none.take(now));
        }
        assert_eq!(asked, [0, 10, 20]);
        assert_eq!(looked, [0, 4, 8, 12, 16, 20]);
        // Long after: once for all that was missed, and on the old beat.
        let now = began + 101 * second;
        assert!(pci.take(now) && !pci.take(now));
        assert_eq!(pci.next, Some(began + 104 * second));
        let mut once = Beat::new(Some(Duration::MAX), began);
        assert!(once.take(began) && !once.take(now));
    }

    fn watcher(
        sys: &MadeUpSys,
        pci_interval_s: u64,
        nvml_interval_s: u64,
    ) -> (Watcher, Arc<Hub>, Receiver<Input>, look::LookSoon) {
        let keys = Keys {
            sysfs_root: Some(sys.root().0),
            proc_root: Some("/nonexistent".into()),
            nvml_library: Some("/nonexistent".into()),
            pci_interval_s: Some(pci_interval_s),
            nvml_interval_s: Some(nvml_interval_s),
            ..Keys::default()
        };
        let config = Config::load(Some("/dev/null".as_ref()), keys).unwrap();
        let (hub, _commands) = Hub::new(crate::hub::bare_status());
        let (sender, inputs) = sync_channel(64);
        let (look_soon, looks) = look::channel();
        let hold = Arc::new(DriverHold::default());
        let watcher = Watcher::start(&config, Arc::clone(&hub), sender, looks, hold).unwrap();
        (watcher, hub, inputs, look_soon)
    }

    #[test]
    fn without_any_interval_nobody_looks_and_nothing_breaks() {
        let sys = MadeUpSys::with_gpu();
        let (watcher, _hub, inputs, look_soon) = watcher(&sys, 0, 0);
        look_soon.ask();
        std::thread::sleep(3 * ROUND);
        assert!(!watcher.thread.is_finished());
        assert!(inputs.try_recv().is_err());
        watcher.stop();
    }

    #[test]
    fn pci_is_looked_at_in_its_own_time_however_often_nvml_is_asked() {
        let sys = MadeUpSys::with_gpu();
        let (seldom, _hub, inputs, _look_soon) = watcher(&sys, 3600, 1);
        next_tree(&inputs);
        sys.remove_gpu();
        std::thread::sleep(Duration::from_millis(2500));
        let told = inputs.try_iter().filter(|i| matches!(i, Input::Told(_)));
        assert_eq!(told.count(), 0, "an hour has not passed");
        seldom.stop();

        let sys = MadeUpSys::with_gpu();
        let (never, _hub, inputs, _look_soon) = watcher(&sys, 0, 1);
        std::thread::sleep(Duration::from_millis(1500));
        let trees = inputs.try_iter().filter(|i| matches!(i, Input::PciTree(_)));
        assert_eq!(trees.count(), 0);
        never.stop();

        let sys = MadeUpSys::with_gpu();
        let (often, _hub, inputs, _look_soon) = watcher(&sys, 1, 3600);
        next_tree(&inputs);
        sys.remove_gpu();
        assert_eq!(next_told(&inputs).occurrence.kind, Kind::GpuLost);
        often.stop();
    }

    #[test]
    fn a_port_that_goes_down_is_an_event_a_metric_and_in_the_status() {
        let sys = MadeUpSys::with_gpu();
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
        let (hub, _commands) = Hub::new(crate::hub::bare_status());
        let (sender, inputs) = sync_channel(64);
        let (_look_soon, looks) = look::channel();
        let hold = Arc::new(DriverHold::default());
        let watcher = Watcher::start(&config, Arc::clone(&hub), sender, looks, hold).unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        while hub.status().rdma.is_none_or(|rdma| rdma.active_ports != 1) {
            assert!(Instant::now() < deadline, "the port is not seen");
            std::thread::sleep(Duration::from_millis(20));
        }
        let healthy = || {
            let metrics = hub.pci_metrics();
            let found = metrics.iter().find(|m| m.name == "gtrace_rdma_healthy");
            found.map(|metric| metric.value)
        };
        assert_eq!(healthy(), Some(1.0));

        set("1: DOWN\n", "2: Polling\n");
        let told = told_soon(&inputs, Kind::RdmaPort);
        assert_eq!(told.witness, WitnessName::SysfsRdma);
        assert_eq!(told.occurrence.message, "mlx5_0 port 1 went down");
        // The status is shown before the event is sent.
        let health = hub.status().rdma.unwrap();
        assert_eq!(
            rdma_summary(&health),
            "UNHEALTHY, 0 ports active of 1 expected: mlx5_0 port 1 is DOWN (Polling)"
        );
        assert_eq!(healthy(), Some(0.0));

        set("4: ACTIVE\n", "5: LinkUp\n");
        let told = told_soon(&inputs, Kind::RdmaPort);
        assert_eq!(told.occurrence.severity, Severity::Info);
        std::fs::remove_dir_all(sys.root().0.join("class/infiniband/mlx5_0")).unwrap();
        told_soon(&inputs, Kind::RdmaLost);
        watcher.stop();
    }

    #[test]
    fn a_vanished_gpu_is_seen_at_once_when_somebody_asks_and_long_before_the_next_poll() {
        let sys = MadeUpSys::with_gpu();
        let keys = Keys {
            sysfs_root: Some(sys.root().0),
            proc_root: Some("/nonexistent".into()),
            pci_interval_s: Some(3600),
            nvml_interval_s: Some(0),
            ..Keys::default()
        };
        let config = Config::load(Some("/dev/null".as_ref()), keys).unwrap();
        let (hub, _commands) = Hub::new(crate::hub::bare_status());
        let (sender, inputs) = sync_channel(64);
        let (look_soon, looks) = look::channel();
        let hold = Arc::new(DriverHold::default());
        let watcher = Watcher::start(&config, hub, sender, looks, hold).unwrap();
        let port = PORT.parse().unwrap();
        let gpu = GPU.parse().unwrap();
        assert_eq!(next_tree(&inputs).relation(port), Relation::Above(gpu));

        // Asked before there is anything to see: the look that follows a second later sees it.
        look_soon.ask();
        std::thread::sleep(Duration::from_millis(200));
        sys.remove_gpu();
        let began = Instant::now();
        let told = next_told(&inputs);
        assert_eq!(told.occurrence.kind, Kind::GpuLost);
        assert_eq!(told.occurrence.gpu.unwrap().pci, Some(gpu));
        let took = began.elapsed();
        assert!(took < Duration::from_secs(5), "{took:?}, not an hour");
        watcher.stop();
        let rest: Vec<_> = inputs.try_iter().collect();
        let lost = |input: &Input| matches!(input, Input::Told(_));
        assert!(!rest.iter().any(lost), "once");
    }
}
