use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::Duration;

use gtrace_event::{Kind, Occurrence, PciAddress, Provenance, Severity, Timestamp, WitnessName};

use crate::nvml::{NvmlGpu, NvmlSnapshot, UnreadableGpu};
use crate::pci::{AerReport, PciReport, PciTree, PciWatch};
use crate::procfs::{DriverVersion, ProcGpu, ProcGpus};
use crate::sysfs::{ProcRoot, SysRoot};
use crate::watch::SampleWatch;
use crate::{GpuInfo, Observed, RdmaExpected, RdmaHealth, RdmaWatch};

/// A sample older than this does not show the load now.
const FRESH: Duration = Duration::from_secs(30);
/// How many snapshots in a row must lack a GPU before it counts as lost: NVML may have counted
/// before the driver was bound to it.
const MISSING_SNAPSHOTS: u32 = 2;

/// Puts PCI, /proc/driver/nvidia and NVML together.
#[derive(Debug)]
pub struct Devices {
    proc: ProcRoot,
    proc_gpus: ProcGpus,
    /// The driver's module in sysfs, and its inode: another one is another load of the driver.
    module: PathBuf,
    load: Option<u64>,
    pci: PciWatch,
    samples: SampleWatch,
    rdma: RdmaWatch,
    /// The newest snapshot's GPUs.
    nvml: BTreeMap<PciAddress, NvmlGpu>,
    /// Those that did not answer it.
    silent: Vec<UnreadableGpu>,
    /// GPUs that the driver has and NVML does not show, and for how many snapshots in a row.
    missing: BTreeMap<PciAddress, u32>,
    /// GPUs that NVML has lost, each reported once.
    lost: BTreeSet<PciAddress>,
    /// What PCI showed last.
    seen: PciSeen,
    /// NVML has given samples since speeds were judged last: one busy sample must not count twice.
    fresh_samples: bool,
}

#[derive(Debug, Default)]
struct PciSeen {
    gpus: Vec<GpuInfo>,
    nvswitches: Option<Vec<PciAddress>>,
    lost: Vec<PciAddress>,
    error: Option<String>,
}

/// What one poll found.
#[derive(Clone, Debug, Default)]
pub struct DeviceReport {
    /// Every GPU that any source shows, ordered by address. For [`crate::metrics`] and the hub.
    pub gpus: Vec<GpuInfo>,
    /// Every NVSwitch that PCI showed last; `None` if it could not be listed.
    pub nvswitches: Option<Vec<PciAddress>>,
    /// What happened since the poll before.
    pub events: Vec<Observed>,
    /// How GPUs and ports stand, see [`SampleWatch::standing`] and [`crate::RdmaReport::standing`].
    pub standing: Vec<Observed>,
    /// The loaded driver.
    pub driver: Option<DriverVersion>,
    /// GPUs about which the driver does not answer: what it said of them before stands.
    pub proc_unanswered: Vec<PciAddress>,
    /// Why PCI could not be listed, if it could not.
    pub pci_error: Option<String>,
    /// AER counters; `None` where PCI was not polled, or could not be.
    pub aer: Option<AerReport>,
    /// State of the RDMA ports; `None` where they were not read.
    pub rdma: Option<RdmaHealth>,
}

impl Devices {
    /// Devices below these roots, of which nothing is known yet.
    pub fn new(sys: SysRoot, proc: ProcRoot) -> Self {
        Self {
            proc_gpus: ProcGpus::new(proc.clone()),
            proc,
            module: sys.0.join("module/nvidia"),
            load: None,
            rdma: RdmaWatch::new(sys.clone(), RdmaExpected::default()),
            pci: PciWatch::new(sys),
            samples: SampleWatch::new(),
            nvml: BTreeMap::new(),
            silent: Vec::new(),
            missing: BTreeMap::new(),
            lost: BTreeSet::new(),
            seen: PciSeen::default(),
            fresh_samples: false,
        }
    }

    /// With what the configuration expects of RDMA ports.
    #[must_use]
    pub fn expecting(mut self, sys: SysRoot, expected: RdmaExpected) -> Self {
        self.rdma = RdmaWatch::new(sys, expected);
        self
    }

    /// Reports processes whose GPU memory has only risen for so long.
    #[must_use]
    pub fn reporting_growth(mut self, window: Option<Duration>) -> Self {
        self.samples.report_growth(window);
        self
    }

    /// Leaves the AER counters alone.
    #[must_use]
    pub fn without_aer(mut self, sys: SysRoot) -> Self {
        self.pci = PciWatch::new(sys).without_aer();
        self
    }

    /// Polls everything. `snapshot` is NVML's answer of this moment, `None` if it gave none;
    /// then samples are absent and nothing is concluded from that. Never calls NVML, so it never
    /// hangs on a dead GPU.
    pub fn poll(&mut self, snapshot: Option<NvmlSnapshot>) -> DeviceReport {
        let mut report = self.report();
        self.take_samples(snapshot.as_ref(), &mut report);
        self.poll_all(&mut report);
        self.conclude(&mut report, snapshot.as_ref());
        report
    }

    /// Takes NVML's answer alone, as in [`Self::poll`]. What PCI showed last stands.
    pub fn sample(&mut self, snapshot: Option<NvmlSnapshot>) -> DeviceReport {
        let mut report = self.report();
        self.take_samples(snapshot.as_ref(), &mut report);
        for gpu in &mut self.seen.gpus {
            // A GPU that was taken from its driver since then is not NVML's to show.
            gpu.driver_bound = self.pci.driver_of(gpu.pci);
        }
        self.conclude(&mut report, snapshot.as_ref());
        report
    }

    /// Polls PCI and RDMA ports. NVML's last answer is kept, and is not judged again.
    pub fn poll_now(&mut self) -> DeviceReport {
        let mut report = self.report();
        self.poll_all(&mut report);
        self.conclude(&mut report, None);
        report
    }

    /// Polls PCI alone, out of turn, as another source reports that a device may be in trouble.
    /// NVML's last answer is kept, and is not judged again.
    pub fn poll_pci(&mut self) -> DeviceReport {
        let mut report = self.report();
        let pci = self.pci.poll_now();
        self.take_pci(pci, &mut report);
        self.conclude(&mut report, None);
        report
    }

    /// The GPUs and the ports above them, as last seen.
    pub fn tree(&self) -> &PciTree {
        self.pci.tree()
    }

    fn report(&self) -> DeviceReport {
        DeviceReport {
            driver: DriverVersion::read(&self.proc),
            ..DeviceReport::default()
        }
    }

    fn poll_all(&mut self, report: &mut DeviceReport) {
        let now = Timestamp::now();
        let rdma = self.rdma.poll_now(now);
        report.events.extend(rdma.events);
        report.standing.extend(rdma.standing);
        report.rdma = Some(rdma.health);
        let samples = &self.samples;
        let pci = match std::mem::take(&mut self.fresh_samples) {
            true => self.pci.poll(|pci| samples.busy(pci, now, FRESH)),
            false => self.pci.poll_now(),
        };
        self.take_pci(pci, report);
    }

    /// Merges what each source showed last, and judges NVML's answer of now.
    fn conclude(&mut self, report: &mut DeviceReport, snapshot: Option<&NvmlSnapshot>) {
        report.gpus.clone_from(&self.seen.gpus);
        report.nvswitches.clone_from(&self.seen.nvswitches);
        report.pci_error.clone_from(&self.seen.error);
        let load = fs::metadata(&self.module).ok().map(|module| module.ino());
        if load != self.load {
            // A driver that was loaded anew between two polls may number its GPUs otherwise.
            self.load = load;
            self.proc_gpus = ProcGpus::new(self.proc.clone());
        }
        let proc = self.proc_gpus.read();
        report.proc_unanswered = self.proc_gpus.unanswered().to_vec();
        self.merge(report, &proc);
        if let Some(snapshot) = snapshot {
            self.judge_nvml(snapshot, &report.gpus, &proc, &mut report.events);
        }
    }

    /// Takes over what PCI shows. That a GPU does not answer needs no second event where NVML has lost it.
    fn take_pci(&mut self, pci: io::Result<PciReport>, report: &mut DeviceReport) {
        self.seen = match pci {
            Ok(mut pci) => {
                let listed = |at: &PciAddress| pci.gpus.iter().any(|gpu| gpu.pci == *at);
                pci.events.retain(|event| {
                    let gpu = event.occurrence.gpu.as_ref().and_then(|gpu| gpu.pci);
                    event.occurrence.kind != Kind::GpuLost
                        || !gpu.is_some_and(|at| self.lost.contains(&at) && listed(&at))
                });
                report.events.extend(pci.events);
                report.aer = Some(pci.aer);
                PciSeen {
                    gpus: pci.gpus,
                    nvswitches: Some(pci.nvswitches),
                    lost: pci.lost,
                    error: None,
                }
            }
            Err(error) => PciSeen {
                error: Some(error.to_string()),
                ..PciSeen::default()
            },
        };
    }

    fn take_samples(&mut self, snapshot: Option<&NvmlSnapshot>, report: &mut DeviceReport) {
        self.nvml.clear();
        for gpu in snapshot.iter().flat_map(|s| &s.gpus) {
            if !gpu.lost {
                let named = info_of(gpu).event_gpu();
                let seen = self.samples.observe(&named, &gpu.sample);
                report.events.extend(seen);
                self.fresh_samples = true;
            }
            self.nvml.insert(gpu.pci, gpu.clone());
        }
        report.standing = self.samples.standing();
        let unreadable = snapshot.iter().flat_map(|s| &s.unreadable);
        self.silent = unreadable.filter(|gpu| gpu.silent).cloned().collect();
    }

    /// Fills in what /proc and NVML know, and adds GPUs that only they show.
    fn merge(&self, report: &mut DeviceReport, proc: &[ProcGpu]) {
        let mut gpus: BTreeMap<PciAddress, GpuInfo> =
            report.gpus.drain(..).map(|g| (g.pci, g)).collect();
        for known in proc {
            let gpu = gpus
                .entry(known.pci)
                .or_insert_with(|| GpuInfo::at(known.pci));
            gpu.present_in.proc = true;
            gpu.name.clone_from(&known.model);
            gpu.uuid.clone_from(&known.uuid);
            gpu.minor = known.minor;
        }
        for known in self.nvml.values() {
            let gpu = gpus
                .entry(known.pci)
                .or_insert_with(|| GpuInfo::at(known.pci));
            let GpuInfo {
                name,
                uuid,
                index,
                nvml_error,
                board,
                sample,
                ..
            } = info_of(known);
            gpu.present_in.nvml = true;
            gpu.name = name.or(gpu.name.take());
            gpu.uuid = uuid.or(gpu.uuid.take());
            gpu.index = index;
            gpu.nvml_error = nvml_error;
            gpu.board = board;
            gpu.sample = sample;
        }
        for silent in &self.silent {
            if let Some(gpu) = silent.pci.and_then(|pci| gpus.get_mut(&pci)) {
                gpu.index = Some(silent.index);
                gpu.nvml_error = Some(silent.error.clone());
            }
        }
        for gpu in gpus.values_mut() {
            if gpu.present_in.proc || gpu.driver_bound.as_deref() == Some("nvidia") {
                gpu.driver_version = report.driver.as_ref().map(|d| d.version.clone());
            }
        }
        report.gpus = gpus.into_values().collect();
    }

    /// GPUs that NVML calls lost or does not show although the driver has them. One that is left out as it does not answer
    /// is not lost.
    fn judge_nvml(
        &mut self,
        snapshot: &NvmlSnapshot,
        gpus: &[GpuInfo],
        proc: &[ProcGpu],
        events: &mut Vec<Observed>,
    ) {
        for gpu in gpus {
            let pci = gpu.pci;
            // Of one that was not asked nothing is known.
            if snapshot.cut_short && !self.nvml.contains_key(&pci) {
                continue;
            }
            let excluded = proc.iter().any(|p| p.pci == pci && p.excluded);
            let ours = gpu.driver_bound.as_deref() == Some("nvidia") && !excluded;
            let reason = match self.nvml.get(&pci) {
                Some(seen) if seen.lost => seen.errors.last().cloned(),
                Some(_) => None,
                None if snapshot.may_be_silent(pci) => None,
                None if ours => {
                    let times = self.missing.entry(pci).or_default();
                    *times = times.saturating_add(1);
                    (*times >= MISSING_SNAPSHOTS).then(|| missing_reason(snapshot))
                }
                None => None,
            };
            if self.nvml.contains_key(&pci) || !ours {
                self.missing.remove(&pci);
            }
            let Some(reason) = reason else {
                if !self.missing.contains_key(&pci) {
                    self.lost.remove(&pci);
                }
                continue;
            };
            // What PCI has reported needs no second event.
            if self.lost.insert(pci) && !self.seen.lost.contains(&pci) {
                events.push(lost_event(gpu, reason));
            }
        }
    }
}

/// NVML does not report which GPU it cannot open, so its errors are given with every one it misses.
fn missing_reason(snapshot: &NvmlSnapshot) -> String {
    let mut reason = "the driver is bound to the GPU and NVML does not show it".to_owned();
    for gpu in &snapshot.unreadable {
        reason.push_str(&format!("; NVML of GPU index {}: {}", gpu.index, gpu.error));
    }
    reason
}

fn lost_event(gpu: &GpuInfo, reason: String) -> Observed {
    let text = "NVML has lost the GPU";
    let mut found = Occurrence::new(Kind::GpuLost, Severity::Fatal, text);
    found.gpu = Some(gpu.event_gpu());
    found.provenance = Provenance::Kernel;
    found.detail.source.reason = Some(reason);
    Observed::new(WitnessName::Nvml, found, 1)
}

/// What NVML knows of a GPU.
fn info_of(gpu: &NvmlGpu) -> GpuInfo {
    GpuInfo {
        name: gpu.name.clone(),
        uuid: gpu.uuid.clone(),
        index: Some(gpu.index),
        nvml_error: (!gpu.errors.is_empty()).then(|| gpu.errors.join("; ")),
        board: gpu.board.clone(),
        sample: Some(gpu.sample.clone()),
        ..GpuInfo::at(gpu.pci)
    }
}
