use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::{Duration, Instant};

use gtrace_event::{Gpu, Kind, Occurrence, PciAddress, Provenance, Severity, WitnessName};

use super::aer::{self, AerCounters, AerSeverity};
use super::device::{self, Function, PciClass, PciDevice};
use super::tree::PciTree;
use crate::metric::Metric;
use crate::reads::{DEADLINE, Reading, Reads};
use crate::sysfs::SysRoot;
use crate::{GpuInfo, Observed, PcieLink};

/// What one poll found.
#[derive(Clone, Debug, Default)]
pub struct PciReport {
    /// What happened since the poll before.
    pub events: Vec<Observed>,
    /// Every GPU that PCI shows now.
    pub gpus: Vec<GpuInfo>,
    /// Every NVSwitch that PCI shows now.
    pub nvswitches: Vec<PciAddress>,
    /// GPUs and switches that were there once and are gone or dead.
    pub lost: Vec<PciAddress>,
    /// The AER counters of this poll.
    pub aer: AerReport,
}

/// AER counters of the watched devices and of the ports above them, which belong to no single GPU.
#[derive(Clone, Debug, Default)]
pub struct AerReport {
    /// What was read.
    pub metrics: Vec<Metric>,
    /// Devices and ports whose reading did not end within its deadline.
    pub unanswered: Vec<PciAddress>,
}

/// Watches the NVIDIA devices in sysfs and the ports above them.
///
/// A state is reported once, and again only after it was over. The first poll takes the AER
/// counters as they are; a narrow link is reported by it too, as it is trouble now. A device that
/// does not answer is reported when a poll at least a second later finds the same.
#[derive(Debug)]
pub struct PciWatch {
    root: SysRoot,
    /// What every PCI function of the host is, so that each is classified once.
    functions: BTreeMap<PciAddress, Function>,
    devices: BTreeMap<PciAddress, PciDevice>,
    tree: PciTree,
    aer: BTreeMap<PciAddress, AerCounters>,
    /// Whether the AER counters are left alone.
    aer_off: bool,
    lost: BTreeSet<PciAddress>,
    /// Devices whose configuration space reads all ones, since when.
    silent: BTreeMap<PciAddress, Instant>,
    narrow: BTreeMap<PciAddress, u32>,
    /// Devices with a link slower than its maximum.
    slow: BTreeMap<PciAddress, SlowLink>,
    reads: Reads<PciAddress, Option<PciDevice>>,
    aer_reads: Reads<PciAddress, Option<AerCounters>>,
}

/// The driver raises the speed within milliseconds of work arriving, but the sample that shows
/// busy and the reading of the speed are not of one moment: two polls in a row must agree.
const SLOW_POLLS: u32 = 2;
/// A link that stays slow is reported again at the first poll of a busy GPU after so many polls, an hour or two at the usual interval: health
/// takes it for over after a day without.
const SLOW_AGAIN: u32 = 500;

/// Polls of a device with a link slower than its maximum.
#[derive(Debug, Default)]
struct SlowLink {
    /// Those of a busy GPU; until it is reported, in a row.
    busy: u32,
    since_reported: u32,
}

/// For how long a device must not answer before it counts as lost. Downstream Port Containment
/// takes the link down at an error, and until the kernel has brought it up again, which the device
/// survives, its configuration space reads all ones.
const SILENT_FOR: Duration = Duration::from_secs(1);

impl PciWatch {
    /// A watch of the sysfs at `root` that has seen nothing yet.
    pub fn new(root: SysRoot) -> Self {
        Self {
            root,
            functions: BTreeMap::new(),
            devices: BTreeMap::new(),
            tree: PciTree::default(),
            aer: BTreeMap::new(),
            aer_off: false,
            lost: BTreeSet::new(),
            silent: BTreeMap::new(),
            narrow: BTreeMap::new(),
            slow: BTreeMap::new(),
            reads: Reads::new(DEADLINE),
            aer_reads: Reads::new(DEADLINE),
        }
    }

    /// Leaves the AER counters alone.
    #[must_use]
    pub fn without_aer(self) -> Self {
        Self {
            aer_off: true,
            ..self
        }
    }

    /// Reads everything and compares it with the poll before.
    ///
    /// `busy` returns whether a GPU is known to work at full speed right now. Only then is a link
    /// speed below the maximum a fault: at idle the driver lowers it to save power. Without NVML
    /// nobody knows, so pass `|_| false`. The width is judged always.
    ///
    /// # Errors
    /// If the PCI devices of the host cannot be listed at all; then nothing is judged.
    pub fn poll(&mut self, busy: impl Fn(PciAddress) -> bool) -> io::Result<PciReport> {
        let (now, mut report) = self.compare()?;
        for device in now.values().filter(|d| d.is_awake()) {
            self.judge_speed(device, busy(device.pci), &mut report.events);
        }
        self.devices = now;
        Ok(report)
    }

    /// Like [`Self::poll`], out of turn and without judging speeds: for when another source reports
    /// that a device may be in trouble.
    ///
    /// # Errors
    /// As [`Self::poll`].
    pub fn poll_now(&mut self) -> io::Result<PciReport> {
        let (now, report) = self.compare()?;
        self.devices = now;
        Ok(report)
    }

    /// The driver that is bound to a device now, read anew.
    pub(crate) fn driver_of(&self, pci: PciAddress) -> Option<String> {
        device::driver(&device::devices_dir(&self.root).join(pci.to_string()))
    }

    /// The GPUs and the ports above them, those included that vanished and were not replaced.
    pub fn tree(&self) -> &PciTree {
        &self.tree
    }

    fn compare(&mut self) -> io::Result<(BTreeMap<PciAddress, PciDevice>, PciReport)> {
        let mut report = PciReport::default();
        let began = Instant::now();
        let now = self.read()?;
        self.tree.update(&now, &self.functions);
        let dead = self.silent_for_long(&now, began);
        self.judge_presence(&now, &dead, &mut report.events);
        // What comes back is another device, or was plugged in anew.
        self.narrow.retain(|pci, _| now.contains_key(pci));
        self.slow.retain(|pci, _| now.contains_key(pci));
        for device in now.values().filter(|d| d.is_awake()) {
            self.judge_width(device, &mut report.events);
        }
        report.aer = self.judge_aer(&now, &mut report.events);
        report.gpus = now
            .values()
            .filter(|d| d.class == PciClass::Gpu)
            .map(PciDevice::gpu_info)
            .collect();
        let switches = now.values().filter(|d| d.class == PciClass::NvSwitch);
        report.nvswitches = switches.map(|d| d.pci).collect();
        report.lost = self.lost.iter().copied().collect();
        Ok((now, report))
    }

    fn read(&mut self) -> io::Result<BTreeMap<PciAddress, PciDevice>> {
        let addresses = device::addresses(&self.root)?;
        let present: BTreeSet<_> = addresses.iter().copied().collect();
        self.functions.retain(|pci, _| present.contains(pci));
        let mut watched = BTreeMap::new();
        for pci in addresses {
            if !self.functions.contains_key(&pci) {
                let Some(function) = device::classify(&self.root, pci) else {
                    continue;
                };
                self.functions.insert(pci, function);
            }
            if let Some(Function::Watched(class)) = self.functions.get(&pci) {
                watched.insert(pci, *class);
            }
        }
        let root = &self.root;
        let readings = self.reads.all(watched.keys().copied(), |&pci| {
            let (root, class) = (root.clone(), watched[&pci]);
            move || device::read(&root, pci, class)
        });
        let mut now = BTreeMap::new();
        for (pci, reading) in readings {
            let device = match reading {
                Reading::Done(device) => device,
                Reading::Unanswered => {
                    let last = self.devices.get(&pci).cloned();
                    let known = last.unwrap_or_else(|| device::unread(root, pci, watched[&pci]));
                    Some(PciDevice {
                        unanswered: true,
                        ..known
                    })
                }
            };
            now.extend(device.map(|device| (pci, device)));
        }
        Ok(now)
    }

    /// The devices of which an earlier reading and that begun at `began` agree that they do not
    /// answer.
    fn silent_for_long(
        &mut self,
        now: &BTreeMap<PciAddress, PciDevice>,
        began: Instant,
    ) -> BTreeSet<PciAddress> {
        self.silent
            .retain(|pci, _| now.get(pci).is_some_and(|d| d.dead));
        let read = Instant::now();
        let mut long = BTreeSet::new();
        for device in now.values().filter(|d| d.dead) {
            let since = *self.silent.entry(device.pci).or_insert(read);
            if began.saturating_duration_since(since) >= SILENT_FOR {
                long.insert(device.pci);
            }
        }
        long
    }

    fn judge_presence(
        &mut self,
        now: &BTreeMap<PciAddress, PciDevice>,
        dead: &BTreeSet<PciAddress>,
        events: &mut Vec<Observed>,
    ) {
        let gone = self
            .devices
            .values()
            .filter(|d| !now.contains_key(&d.pci))
            .map(|d| (d.pci, d.class, "is no longer among the PCI devices"));
        let dead = now.values().filter(|d| dead.contains(&d.pci)).map(|d| {
            (
                d.pci,
                d.class,
                "does not answer: its PCI configuration space reads all ones",
            )
        });
        for (pci, class, what) in gone.chain(dead).collect::<Vec<_>>() {
            if self.lost.insert(pci) {
                let name = if class == PciClass::Gpu {
                    "GPU"
                } else {
                    "NVSwitch"
                };
                let mut lost = occurrence(
                    Kind::GpuLost,
                    Severity::Fatal,
                    pci,
                    format!("{name} {what}"),
                );
                lost.detail.source.reason = Some(format!("{name} {what}"));
                events.push(Observed::new(WitnessName::SysfsPci, lost, 1));
            }
        }
        self.lost.retain(|pci| now.get(pci).is_none_or(|d| d.dead));
    }

    fn judge_width(&mut self, device: &PciDevice, events: &mut Vec<Observed>) {
        let Some(link) = device.link else { return };
        let (Some(width), Some(max)) = (link.width, link.max_width) else {
            return;
        };
        if width >= max {
            self.narrow.remove(&device.pci);
        } else if self.narrow.insert(device.pci, width) != Some(width) {
            let text = format!("PCIe link runs with {width} of {max} lanes");
            let mut found = link_fault(device.pci, &link, text);
            found.detail.sample.metric = Some("gtrace_gpu_pcie_link_width".into());
            found.detail.sample.value = Some(f64::from(width));
            found.detail.sample.limit = Some(f64::from(max));
            events.push(Observed::new(WitnessName::SysfsPci, found, 1));
        }
    }

    fn judge_speed(&mut self, device: &PciDevice, busy: bool, events: &mut Vec<Observed>) {
        let Some(link) = device.link else { return };
        let (Some(speed), Some(max)) = (link.speed, link.max_speed) else {
            return;
        };
        if speed >= max {
            self.slow.remove(&device.pci);
            return;
        }
        let slow = self.slow.entry(device.pci).or_default();
        slow.since_reported = slow.since_reported.saturating_add(1);
        if !busy {
            if slow.busy < SLOW_POLLS {
                slow.busy = 0;
            }
            return;
        }
        slow.busy = slow.busy.saturating_add(1);
        let again = slow.busy > SLOW_POLLS && slow.since_reported >= SLOW_AGAIN;
        if slow.busy != SLOW_POLLS && !again {
            return;
        }
        slow.since_reported = 0;
        let text = format!("PCIe link runs at {speed} of {max} GT/s while the GPU is busy");
        let mut found = link_fault(device.pci, &link, text);
        found.detail.sample.metric = Some("gtrace_gpu_pcie_link_speed_transfers_per_second".into());
        found.detail.sample.value = Some(speed * 1e9);
        found.detail.sample.limit = Some(max * 1e9);
        events.push(Observed::new(WitnessName::SysfsPci, found, 1));
    }

    fn judge_aer(
        &mut self,
        now: &BTreeMap<PciAddress, PciDevice>,
        events: &mut Vec<Observed>,
    ) -> AerReport {
        // A port stays watched after the GPU below it is gone: it is the one that saw why.
        let watched: BTreeSet<PciAddress> = now
            .values()
            .flat_map(|d| d.upstream.iter().copied().chain([d.pci]))
            .chain(self.aer.keys().copied())
            .collect();
        let watched = if self.aer_off {
            BTreeSet::new()
        } else {
            watched
        };
        let dir = device::devices_dir(&self.root);
        let readings = self.aer_reads.all(watched, |pci| {
            let dir = dir.join(pci.to_string());
            move || aer::read(&dir)
        });
        let mut unanswered = Vec::new();
        let mut read = BTreeMap::new();
        for (pci, reading) in readings {
            match reading {
                Reading::Done(counters) => read.extend(counters.map(|new| (pci, new))),
                Reading::Unanswered => unanswered.push(pci),
            }
        }
        let metrics = metrics(&read);
        for (pci, new) in read {
            // What a device counted before it was first seen is old; one that went away and came
            // back counts from zero, which is a reset.
            if let Some(old) = self.aer.get(&pci) {
                for rise in aer::rises(old, &new) {
                    let mut found = aer_event(pci, rise);
                    self.tree.place(&mut found.occurrence);
                    events.push(found);
                }
            }
            self.aer.insert(pci, new);
        }
        AerReport {
            metrics,
            unanswered,
        }
    }
}

/// AER counters as metrics, one family after the other.
fn metrics(counted: &BTreeMap<PciAddress, AerCounters>) -> Vec<Metric> {
    let metric =
        |name, help, pci: &PciAddress, severity: AerSeverity, error: Option<&String>, n| {
            let mut labels = vec![
                ("device", pci.to_string()),
                ("severity", severity.label().to_owned()),
            ];
            labels.extend(error.map(|e| ("error", e.clone())));
            Metric::counter((name, ""), help, n as f64).with(labels)
        };
    let mut metrics = Vec::new();
    for (pci, counters) in counted {
        metrics.extend(counters.errors.iter().map(|((severity, error), &n)| {
            let help = "PCIe errors by the name the kernel gives them, since enumeration";
            metric(
                "gtrace_pci_aer_errors",
                help,
                pci,
                *severity,
                Some(error),
                n,
            )
        }));
    }
    for (pci, counters) in counted {
        metrics.extend(counters.root_port.iter().map(|(severity, &n)| {
            let help = "PCIe error messages a root port received from any device below it";
            metric(
                "gtrace_pci_aer_root_port_messages",
                help,
                pci,
                *severity,
                None,
                n,
            )
        }));
    }
    metrics
}

fn aer_event(pci: PciAddress, rise: aer::Rise) -> Observed {
    let severity = match rise.severity {
        AerSeverity::Correctable => Severity::Info,
        AerSeverity::NonFatal => Severity::Warning,
        AerSeverity::Fatal => Severity::Critical,
    };
    let name = rise.severity.kernel_name();
    let mut text = format!("PCIe error counters rose: severity={name}");
    if !rise.errors.is_empty() {
        text.push_str(", ");
        text.push_str(&rise.errors.join(", "));
    }
    let mut found = Occurrence::new(Kind::Aer, severity, text);
    found.provenance = Provenance::Kernel;
    found.detail.pcie.pci_device = Some(pci);
    found.detail.aer.severity = Some(name.to_owned());
    found.detail.aer.errors = rise.errors;
    Observed::new(WitnessName::SysfsAer, found, rise.count)
}

fn link_fault(pci: PciAddress, link: &PcieLink, text: String) -> Occurrence {
    let mut found = occurrence(Kind::PcieLink, Severity::Warning, pci, text);
    let speed = |s: f64| format!("{s:?} GT/s PCIe");
    found.detail.sample.speed = link.speed.map(speed);
    found.detail.sample.max_speed = link.max_speed.map(speed);
    found.detail.sample.width = link.width;
    found.detail.sample.max_width = link.max_width;
    found
}

fn occurrence(kind: Kind, severity: Severity, pci: PciAddress, text: String) -> Occurrence {
    let mut found = Occurrence::new(kind, severity, text);
    found.gpu = Some(Gpu::at(pci));
    found.provenance = Provenance::Kernel;
    found
}
