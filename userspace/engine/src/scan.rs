//! One look at this host without a daemon: the kernel log of this boot, the devices, NVML, pressure and disks, by the
//! readers of the daemon and the rules of [`gtrace_health`].

use std::path::Path;
use std::thread;
use std::time::Duration;

use gtrace_api::{HealthState, Status};
use gtrace_catalogue::Catalogue;
use gtrace_devices::{
    BaselineFacts, DeviceReport, Devices, GpuInfo, NvmlClient, NvmlSnapshot, Observed, PciTree,
    ProcRoot, SysRoot,
};
use gtrace_event::{
    Event, HealthAction, HealthRecord, HealthReport, HealthSubject, Occasion, SubjectKind,
    Timestamp, WitnessName,
};
use gtrace_health::{Fold, Rules};

use crate::clock;
use crate::component::{self, pressure};
use crate::config::Config;
use crate::host;
use crate::hub::Hub;
use crate::sources::{devices, kmsg};
use crate::{baseline, health_rules};

/// The part of the host that judges file systems on disks.
const DISK: &str = "disk";
/// A GPU that was reset a moment ago, or that nobody had open, asks its fabric manager every 5 s to be registered: a scan looks so often, and
/// waits so long in between.
const LOOKS: u32 = 6;
const BETWEEN_LOOKS: Duration = Duration::from_secs(3);

/// Looks at everything once. `progress` gets each step. What could not be looked at and matters makes the host unknown, unless it
/// is known to be bad; if `strict`, whatever could not be looked at.
///
/// # Errors
///
/// If the rules that are part of the program cannot be read.
pub fn scan(
    config: &Config,
    catalogue: &Catalogue,
    strict: bool,
    mut progress: impl FnMut(&str),
) -> anyhow::Result<HealthReport> {
    let mut scan = Scan::new(config, catalogue)?;
    let boot = scan.boot.clone();
    scan.observe(Occasion::Boot { boot });
    progress("devices: PCI, /proc/driver/nvidia, RDMA ports, NVML");
    let standing = scan.devices(config);
    progress("kernel log of this boot");
    scan.kernel_log(Path::new(kmsg::PATH));
    for observed in standing {
        let event = scan.event(observed);
        if scan.fold.is_news(&event) {
            scan.fold.event(&event);
        }
    }
    progress("pressure and file systems");
    scan.pressure(config);
    scan.file_systems(config);
    scan.observe(Occasion::Quiet);
    Ok(scan.report(strict))
}

/// Devices and NVML as they are now, and why NVML says nothing if it does not.
pub fn look(config: &Config) -> (DeviceReport, Option<String>) {
    let snapshot = match NvmlClient::new(devices::nvml_of(config)) {
        Ok(client) => registered(|| client.sample(), || thread::sleep(BETWEEN_LOOKS))
            .map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let (snapshot, missing) = match snapshot {
        Ok(snapshot) => (Some(snapshot), None),
        Err(error) => (None, Some(error)),
    };
    let sys = SysRoot(config.sysfs_root.clone());
    let proc = ProcRoot(config.proc_root.clone());
    let mut devices = Devices::new(sys.clone(), proc).expecting(sys, config.rdma);
    (devices.poll(snapshot), missing)
}

/// The first of `LOOKS` samples in which no GPU waits for its fabric manager; else the last.
fn registered<E>(
    mut sample: impl FnMut() -> Result<NvmlSnapshot, E>,
    mut pause: impl FnMut(),
) -> Result<NvmlSnapshot, E> {
    let waits = |found: &NvmlSnapshot| {
        let mut fabrics = found
            .gpus
            .iter()
            .filter_map(|gpu| gpu.sample.fabric.as_ref());
        fabrics.any(|fabric| fabric.waiting_s.is_some())
    };
    let mut found = sample()?;
    for _ in 1..LOOKS {
        if !waits(&found) {
            break;
        }
        pause();
        found = sample()?;
    }
    Ok(found)
}

struct Scan<'a> {
    fold: Fold,
    catalogue: &'a Catalogue,
    tree: PciTree,
    gpus: Vec<GpuInfo>,
    boot: String,
    not_checked: Vec<String>,
    /// Something of it matters: without it nobody knows of faults.
    unseen: bool,
    /// Something of it may matter.
    incomplete: bool,
}

impl<'a> Scan<'a> {
    fn new(config: &Config, catalogue: &'a Catalogue) -> anyhow::Result<Self> {
        let mut not_checked = Vec::new();
        let rules = match health_rules::rules(&config.health_rules) {
            Ok(rules) => rules,
            Err(error) => {
                not_checked.push(error.to_string());
                Rules::builtin()?
            }
        };
        let incomplete = !not_checked.is_empty();
        Ok(Self {
            fold: Fold::new(rules),
            catalogue,
            tree: PciTree::read(&SysRoot(config.sysfs_root.clone())),
            gpus: Vec::new(),
            boot: host::boot_id(),
            not_checked,
            unseen: false,
            incomplete,
        })
    }

    fn report(self, strict: bool) -> HealthReport {
        let mut report = self.fold.report(Timestamp::now());
        report.host = Some(host::name());
        report.machine_id = host::machine_id();
        report.boot_id = Some(self.boot);
        report.not_checked = self.not_checked;
        let is_unsure = self.unseen || strict && self.incomplete;
        if is_unsure && report.state == HealthState::Healthy {
            report.state = HealthState::Unknown;
            let mut subjects = report.subjects.iter_mut();
            if let Some(host) = subjects.find(|known| known.subject.part == SubjectKind::Host) {
                host.state = HealthState::Unknown;
            }
        }
        report
    }

    fn observe(&mut self, occasion: Occasion) {
        let record = HealthRecord::observed(Timestamp::now(), occasion);
        self.fold.record(&record);
    }

    fn miss(&mut self, what: String) {
        self.not_checked.push(what);
        self.incomplete = true;
    }

    fn judge(&mut self, name: &str, state: HealthState, reasons: Vec<String>) {
        let action = match state {
            HealthState::Healthy | HealthState::Unknown => HealthAction::None,
            HealthState::Degraded | HealthState::Unhealthy => HealthAction::Watch,
        };
        self.observe(Occasion::Judged {
            subject: HealthSubject::new(SubjectKind::Component, name),
            rule: "component".to_owned(),
            state,
            action,
            text: reasons.join("; "),
        });
    }

    fn take(&mut self, observed: Observed) {
        let event = self.event(observed);
        self.fold.event(&event);
    }

    /// As an event, named and judged as the daemon does it.
    fn event(&self, observed: Observed) -> Event {
        let Observed {
            witness,
            mut occurrence,
            count,
        } = observed;
        self.tree.place(&mut occurrence);
        if let Some(gpu) = &mut occurrence.gpu
            && let Some(known) = self.gpus.iter().find(|known| Some(known.pci) == gpu.pci)
        {
            gpu.uuid = gpu.uuid.take().or_else(|| known.uuid.clone());
            gpu.index = gpu.index.or(known.index);
        }
        let now_ns = clock::boottime_ns();
        let at_ns = occurrence.boottime_ns.unwrap_or(now_ns).min(now_ns);
        let time = clock::wall_time(at_ns);
        let advice = self.catalogue.assess(&mut occurrence);
        let mut event = Event::seen(time, witness, count, occurrence);
        event.advice = Some(advice);
        event.boot_id = Some(self.boot.clone());
        if count > 1 {
            (event.repeats, event.last_time) = (count - 1, Some(time));
        }
        event
    }

    /// Gives how GPUs stand, which counts once it is known what the kernel log has.
    fn devices(&mut self, config: &Config) -> Vec<Observed> {
        let (mut report, missing) = look(config);
        if let Some(error) = &report.pci_error {
            self.miss(format!("PCI devices: {error}"));
            self.unseen = true;
        } else {
            self.judge(
                WitnessName::SysfsPci.name(),
                HealthState::Healthy,
                Vec::new(),
            );
        }
        if let Some(error) = missing {
            match report.gpus.iter().all(GpuInfo::is_passed_through) {
                true => self.not_checked.push(format!("NVML: {error}")),
                // GPUs that nobody can use.
                false => self.judge(
                    WitnessName::Nvml.name(),
                    HealthState::Unhealthy,
                    vec![format!(
                        "NVML does not answer for the GPUs of this host: {error}"
                    )],
                ),
            }
        }
        self.nvml(&mut report.gpus, clock::boottime_ns() / 1_000_000_000);
        self.gpus.clone_from(&report.gpus);
        self.baseline(config, &BaselineFacts::of(&report));
        for gpu in report.gpus {
            self.observe(Occasion::Found {
                subject: HealthSubject::new(SubjectKind::Gpu, gpu.pci.to_string()),
                uuid: gpu.uuid,
            });
        }
        for pci in report.nvswitches.into_iter().flatten() {
            self.observe(Occasion::Found {
                subject: HealthSubject::new(SubjectKind::Nvswitch, pci.to_string()),
                uuid: None,
            });
        }
        for observed in report.events {
            self.take(observed);
        }
        report.standing
    }

    /// GPUs, as the component `nvml` of the daemon judges them. NVML was opened just now: since when a GPU waits for its fabric manager
    /// only the time since the boot says.
    fn nvml(&mut self, gpus: &mut [GpuInfo], up_s: u64) {
        let samples = gpus.iter_mut().filter_map(|gpu| gpu.sample.as_mut());
        for fabric in samples.filter_map(|sample| sample.fabric.as_mut()) {
            fabric.waiting_s = fabric.waiting_s.map(|_| up_s);
        }
        let (state, reasons) = component::gpus::judge_gpus(gpus);
        if state != HealthState::Healthy {
            self.judge(WitnessName::Nvml.name(), state, reasons);
        }
    }

    fn baseline(&mut self, config: &Config, facts: &BaselineFacts) {
        let expected = match baseline::load(&config.baseline) {
            Ok(Some(expected)) => expected,
            Ok(None) => return,
            Err(error) => return self.miss(error.to_string()),
        };
        for (judgement, found) in baseline::judge(&expected, facts) {
            let subject = judgement.subject.clone();
            if !found.unread.is_empty() {
                let names: Vec<_> = found.unread.iter().map(|setting| setting.name()).collect();
                let text = format!("baseline of {subject}: {}", names.join(", "));
                self.miss(text);
            }
            let (state, action) = judgement.health();
            self.observe(Occasion::Judged {
                subject,
                rule: baseline::RULE.to_owned(),
                state,
                action,
                text: judgement.text(),
            });
        }
    }

    fn kernel_log(&mut self, path: &Path) {
        let (mut found, mut first) = (Vec::new(), None);
        let read = kmsg::Reader::open(path, None).and_then(|mut reader| {
            reader.read_once(|item| match item {
                kmsg::KmsgItem::Occurrence(occurrence) => found.push(*occurrence),
                kmsg::KmsgItem::Record { line, .. } => {
                    first.get_or_insert(line.seq);
                }
                kmsg::KmsgItem::Lost { .. }
                | kmsg::KmsgItem::Progress { .. }
                | kmsg::KmsgItem::Garbled => {}
            })
        });
        match read {
            Ok(()) => {
                if let Some(first @ 1..) = first {
                    self.miss(format!(
                        "the first {first} records of this boot's kernel log, which are overwritten"
                    ));
                }
            }
            Err(error) => {
                // Without it nobody knows of faults.
                let text = format!("the kernel log cannot be read: {}: {error}", path.display());
                self.judge(
                    WitnessName::Kmsg.name(),
                    HealthState::Unknown,
                    vec![text.clone()],
                );
                self.miss(text);
                self.unseen = true;
                for subject in self.gpu_subjects() {
                    self.observe(Occasion::Judged {
                        subject,
                        rule: "kernel-log".to_owned(),
                        state: HealthState::Unknown,
                        action: HealthAction::None,
                        text: "its faults are unknown without the kernel log".to_owned(),
                    });
                }
            }
        }
        for occurrence in found {
            self.take(Observed::new(WitnessName::Kmsg, occurrence, 1));
        }
    }

    fn gpu_subjects(&self) -> Vec<HealthSubject> {
        let gpus = self.fold.subjects().map(|known| known.subject.clone());
        gpus.filter(|subject| subject.part == SubjectKind::Gpu)
            .collect()
    }

    fn pressure(&mut self, config: &Config) {
        let (hub, _commands) = Hub::new(Status::default());
        let context = config.components(&hub);
        let interval = Duration::from_secs(60);
        if let Err(error) = pressure::sample(&context, interval) {
            self.miss(format!("pressure: {error}"));
            return;
        }
        let Some(component) = component::find(pressure::NAME) else {
            return;
        };
        component::check_all(&context);
        if let Some(health) = hub.health(component.name()) {
            self.judge(component.name(), health.state, health.reasons);
        }
    }

    /// As the daemon judges them: those on disks. A program that fills /dev/shm makes no host unfit.
    fn file_systems(&mut self, config: &Config) {
        let (hub, _commands) = Hub::new(Status::default());
        match component::host::look(&config.components(&hub), DISK) {
            Ok((state, reasons)) => self.judge(DISK, state, reasons),
            Err(error) => self.miss(format!("file systems: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Keys;

    #[test]
    fn a_host_whose_faults_nobody_can_read_is_unknown_and_a_gap_makes_it_so_only_if_strict() {
        let config = Config::load(Some("/dev/null".as_ref()), Keys::default()).unwrap();
        let catalogue = Catalogue::builtin();
        let well = || {
            let mut scan = Scan::new(&config, &catalogue).unwrap();
            scan.judge(DISK, HealthState::Healthy, Vec::new());
            scan
        };
        assert_eq!(well().report(true).state, HealthState::Healthy);
        let mut unseen = well();
        unseen.kernel_log(Path::new("/nonexistent/kmsg"));
        let report = unseen.report(false);
        assert_eq!(report.state, HealthState::Unknown);
        assert!(report.not_checked[0].contains("/nonexistent/kmsg"));
        let gap = || {
            let mut scan = well();
            scan.miss("the first 5 records of this boot's kernel log".to_owned());
            scan
        };
        assert_eq!(gap().report(false).state, HealthState::Healthy);
        assert_eq!(gap().report(true).state, HealthState::Unknown);
        // What is known to be bad stays so.
        unseen = well();
        unseen.judge(DISK, HealthState::Degraded, vec!["/ is full".to_owned()]);
        unseen.kernel_log(Path::new("/nonexistent/kmsg"));
        assert_eq!(unseen.report(true).state, HealthState::Degraded);
    }

    #[test]
    fn a_gpu_that_its_fabric_manager_never_registered_makes_the_host_unhealthy() {
        let config = Config::load(Some("/dev/null".as_ref()), Keys::default()).unwrap();
        let catalogue = Catalogue::builtin();
        let scanned = |fabric: gtrace_devices::Fabric, up_s: u64| {
            let mut scan = Scan::new(&config, &catalogue).unwrap();
            scan.judge(DISK, HealthState::Healthy, Vec::new());
            let mut gpu = GpuInfo::at("0000:3b:00.0".parse().unwrap());
            let mut sample = gtrace_devices::GpuSample::at(Timestamp::UNIX_EPOCH);
            sample.fabric = Some(fabric);
            gpu.sample = Some(sample);
            scan.nvml(&mut [gpu], up_s);
            scan.report(false).state
        };
        let waits = gtrace_devices::Fabric {
            state: gtrace_devices::FabricState::InProgress,
            waiting_s: Some(0),
            status: None,
            clique: None,
            cluster: None,
            faults: Vec::new(),
        };
        assert_eq!(scanned(waits.clone(), 60), HealthState::Healthy);
        assert_eq!(scanned(waits.clone(), 3600), HealthState::Unhealthy);
        let failed = gtrace_devices::Fabric {
            state: gtrace_devices::FabricState::Completed,
            waiting_s: None,
            status: Some(999),
            ..waits.clone()
        };
        assert_eq!(scanned(failed, 3600), HealthState::Unhealthy);
        // The GPU of a hypervisor's vGPUs waits for a virtual machine.
        let of_hypervisor = gtrace_devices::Fabric {
            waiting_s: None,
            ..waits
        };
        assert_eq!(scanned(of_hypervisor, 3600), HealthState::Healthy);
    }

    #[test]
    fn a_gpu_that_is_being_registered_with_its_fabric_is_looked_at_again() {
        let snapshot = |waiting_s: Option<u64>| {
            let mut sample = gtrace_devices::GpuSample::at(Timestamp::UNIX_EPOCH);
            sample.fabric = Some(gtrace_devices::Fabric {
                state: gtrace_devices::FabricState::InProgress,
                waiting_s,
                status: None,
                clique: None,
                cluster: None,
                faults: Vec::new(),
            });
            let gpu = gtrace_devices::NvmlGpu {
                pci: "0000:3b:00.0".parse().unwrap(),
                sample,
                ..gtrace_devices::NvmlGpu::default()
            };
            NvmlSnapshot {
                gpus: vec![gpu],
                ..NvmlSnapshot::default()
            }
        };
        // What is taken in the end, and how often the scan waited before.
        let looked = |waits_in: u32| {
            let (mut samples, mut pauses) = (0, 0);
            let taken = registered(
                || {
                    samples += 1;
                    Ok::<_, String>(snapshot((samples <= waits_in).then_some(3)))
                },
                || pauses += 1,
            );
            (taken.unwrap(), pauses)
        };
        assert_eq!(looked(0), (snapshot(None), 0));
        assert_eq!(looked(2), (snapshot(None), 2));
        assert_eq!(looked(100), (snapshot(Some(3)), LOOKS - 1));
    }

    #[test]
    fn a_full_tmpfs_makes_no_host_unfit() {
        let proc = tempfile::tempdir().unwrap();
        let dir = proc.path().join("1");
        std::fs::create_dir(&dir).unwrap();
        // Only what is on disks is looked at; nothing here is.
        let mounts = "tmpfs /dev/shm tmpfs rw 0 0\noverlay / overlay rw 0 0\n";
        std::fs::write(dir.join("mounts"), mounts).unwrap();
        let keys = Keys {
            proc_root: Some(proc.path().to_owned()),
            ..Keys::default()
        };
        let config = Config::load(Some("/dev/null".as_ref()), keys).unwrap();
        let catalogue = Catalogue::builtin();
        let mut scan = Scan::new(&config, &catalogue).unwrap();
        scan.file_systems(&config);
        let report = scan.report(true);
        assert_eq!(report.state, HealthState::Healthy, "{report:?}");
        let name = |known: &gtrace_event::SubjectHealth| known.subject.name.clone();
        assert!(report.subjects.iter().map(name).any(|name| name == DISK));
    }
}
