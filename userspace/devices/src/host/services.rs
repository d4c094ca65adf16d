//! Services that GPUs and jobs need: which are installed, enabled and running.
//!
//! Source: unit files and their links as systemd.unit(5) places them, and what systemd says over D-Bus ([`systemd`]). Where it says
//! nothing, the control group that it gives to a service while one of its processes lives.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gtrace_event::{Kind, Occurrence, Provenance, Severity};

use super::part::{HostNews, HostReading, HostRoots, HostState, Part, PartInfo, Unread};
use super::systemd::{self, Active, Unit};
use crate::sysfs;

pub(super) const INFO: PartInfo = PartInfo {
    name: "services",
    gives: "services that GPUs and jobs need (fabric manager, persistence, DCGM, containers, schedulers): installed, enabled, running, failed, restarted",
    needs: "systemd: its units in /etc and /usr/lib, /sys/fs/cgroup/system.slice, and its answers over D-Bus",
    remedy: "none on a host without systemd; in a container, mount the host's root, control groups and /run/dbus",
    every: Duration::from_secs(30),
};

const UNITS: [&str; 16] = [
    "nvidia-fabricmanager",
    "nvidia-imex",
    "nvidia-persistenced",
    "nvidia-dcgm",
    "nvidia-vgpud",
    "containerd",
    "docker",
    "crio",
    "podman",
    "kubelet",
    "slurmd",
    "chronyd",
    "chrony",
    "systemd-timesyncd",
    "ntpd",
    "rasdaemon",
];
const FOLDERS: [&str; 4] = [
    "etc/systemd/system",
    "run/systemd/system",
    "usr/lib/systemd/system",
    "lib/systemd/system",
];

/// Restarts by systemd itself are counted over so long ...
const RESTARTS_WITHIN: Duration = Duration::from_secs(600);
/// ... and so many of them are no chance.
const RESTARTS: u64 = 3;
/// What systemd said stands so long while it does not answer, whatever the control groups say.
const STANDS: Duration = Duration::from_secs(300);
/// What the event calls a service that works after it had failed or was restarted.
pub const RUNS_AGAIN: &str = "runs again";
/// Without it, the NVSwitches of a host carry nothing.
const FABRIC_MANAGER: &str = "nvidia-fabricmanager";
/// Its program, nv-fabricmanager, as the kernel cuts the name.
const FABRIC_MANAGER_COMM: &str = "nv-fabricmanage";

#[derive(Debug)]
pub(super) struct Services {
    /// How long systemd may take for all answers of a reading.
    pub(super) deadline: Duration,
    /// When it last answered.
    answered: Option<Instant>,
    /// Which ran at some time since the start.
    seen_on: BTreeSet<&'static str>,
    /// Since when an enabled service does not run.
    down: BTreeMap<&'static str, Instant>,
    /// Systemd's counts of restarts, the oldest first.
    restarts: BTreeMap<&'static str, VecDeque<(Instant, u32)>>,
    /// What is wrong and was reported.
    reported: BTreeSet<(&'static str, &'static str)>,
    /// What systemd last said that is wrong.
    judged: BTreeMap<&'static str, (HostState, String)>,
}

impl Default for Services {
    fn default() -> Self {
        Self {
            deadline: systemd::DEADLINE,
            answered: None,
            seen_on: BTreeSet::new(),
            down: BTreeMap::new(),
            restarts: BTreeMap::new(),
            reported: BTreeSet::new(),
            judged: BTreeMap::new(),
        }
    }
}

impl Part for Services {
    fn read(&mut self, roots: &HostRoots, now: Instant) -> Result<HostReading, Unread> {
        let Some(slice) = slice(&roots.sysfs) else {
            let why = "no control groups of systemd (system.slice)".to_owned();
            return Err(Unread::Absent(why));
        };
        let mut reading = HostReading::default();
        let installed = UNITS
            .into_iter()
            .filter(|unit| is_installed(&roots.root, unit));
        let installed: Vec<&'static str> = installed.collect();
        if installed.is_empty() {
            *self = Self::default();
            reading.missing = Some("none of the services that are known is installed".to_owned());
            return Ok(reading);
        }
        let status = match systemd::ask(&roots.root, &installed, self.deadline) {
            Ok(status) => {
                self.answered = Some(now);
                status
            }
            Err(why) => {
                let text = format!("{why}: services are judged by their control groups alone");
                reading.missing = Some(text);
                BTreeMap::new()
            }
        };
        for unit in UNITS {
            if !installed.contains(&unit) {
                self.forget(unit);
                continue;
            }
            let status = status.get(unit);
            let masked = status.is_some_and(|status| status.masked);
            let enabled = !masked && is_enabled(&roots.root, unit);
            let running = match status {
                Some(status) => status.active == Active::On,
                None => is_running(&slice, unit),
            };
            for (name, help, value) in [
                (
                    "gtrace_service_enabled",
                    "Whether a service is started with the host",
                    enabled,
                ),
                ("gtrace_service_running", "Whether a service runs", running),
            ] {
                let labels = [("unit", unit)];
                reading.gauge((name, ""), help, &labels, f64::from(u8::from(value)));
            }
            let is_bad = match status {
                Some(status) => self.judge((roots, now), (unit, enabled), status, &mut reading),
                None => self.stands(unit, running, now, &mut reading),
            };
            if running || !enabled || is_bad {
                self.down.remove(unit);
                continue;
            }
            let since = *self.down.entry(unit).or_insert(now);
            let down = now.saturating_duration_since(since);
            if down >= roots.thresholds.service_down {
                let reason = format!(
                    "{unit}.service is enabled and has not run for {} s",
                    down.as_secs()
                );
                let state = match status.map(|status| status.active) {
                    // It can take minutes; systemd ends what takes too long.
                    Some(Active::Between) => HostState::Degraded,
                    _ => without(unit, roots),
                };
                reading.find(state, reason);
            }
        }
        Ok(reading)
    }
}

impl Services {
    fn forget(&mut self, unit: &'static str) {
        self.down.remove(unit);
        self.restarts.remove(unit);
        self.judged.remove(unit);
        self.seen_on.remove(unit);
        self.reported.retain(|(of, _)| *of != unit);
    }

    /// What systemd said before it answered no more: for a while, and then unless the service runs.
    fn stands(
        &mut self,
        unit: &'static str,
        running: bool,
        now: Instant,
        reading: &mut HostReading,
    ) -> bool {
        let is_fresh = |at: Instant| now.saturating_duration_since(at) <= STANDS;
        if running && !self.answered.is_some_and(is_fresh) {
            self.judged.remove(unit);
        }
        let Some((state, text)) = self.judged.get(unit) else {
            return false;
        };
        reading.find(*state, text.clone());
        true
    }

    /// Restarts by systemd itself within the time that counts.
    fn restarted(&mut self, unit: &'static str, count: Option<u32>, now: Instant) -> u64 {
        let Some(count) = count else { return 0 };
        let known = self.restarts.entry(unit).or_default();
        // Somebody has started it anew.
        if known.back().is_some_and(|(_, last)| count < *last) {
            known.clear();
            known.push_back((now, 0));
        }
        if known.back().is_none_or(|(_, last)| count != *last) {
            known.push_back((now, count));
        }
        // The newest of those that are too old is what was before.
        let is_old = |at: Instant| now.saturating_duration_since(at) > RESTARTS_WITHIN;
        while known.get(1).is_some_and(|(at, _)| is_old(*at)) {
            known.pop_front();
        }
        let before = known.front().map_or(count, |(_, first)| *first);
        u64::from(count.saturating_sub(before))
    }

    /// What systemd says of a service: reasons, events, metrics. Whether something is wrong.
    fn judge(
        &mut self,
        (roots, now): (&HostRoots, Instant),
        (unit, enabled): (&'static str, bool),
        status: &Unit,
        reading: &mut HostReading,
    ) -> bool {
        let restarts = self.restarted(unit, status.restarts, now);
        let failed = status.active == Active::Failed;
        let labels = [("unit", unit)];
        reading.gauge(
            ("gtrace_service_failed", ""),
            "Whether a service has failed, as systemd says",
            &labels,
            f64::from(u8::from(failed)),
        );
        if let Some(count) = status.restarts {
            reading.counter(
                ("gtrace_service_restarts", ""),
                "How often systemd has restarted a service by itself since somebody started it",
                &labels,
                f64::from(count),
            );
        }
        let first_on = status.active == Active::On && self.seen_on.insert(unit);
        // One that somebody has masked, or that nobody starts, fails nobody. What udev or another unit starts has no link.
        let matters = !status.masked && (enabled || self.seen_on.contains(unit));
        let within = RESTARTS_WITHIN.as_secs() / 60;
        let wrong = match (failed && matters, restarts >= RESTARTS && !status.masked) {
            (true, _) => {
                let result = status.result.as_deref().unwrap_or("no reason given");
                let reason = format!("{unit}.service failed: {result}");
                let counts = match restarts {
                    0 => String::new(),
                    _ => format!(", after {restarts} restarts within {within} min"),
                };
                Some(("failed", reason, counts))
            }
            (false, true) => {
                let reason = format!("{unit}.service restarts again and again");
                let counts = format!(": {restarts} times within {within} min, now {}", status.sub);
                Some(("restarts", reason, counts))
            }
            (false, false) => None,
        };
        // The counts change from one reading to the next: they are for the event alone.
        let Some((error, reason, counts)) = wrong else {
            self.judged.remove(unit);
            let was_bad = self.reported.iter().any(|(of, _)| *of == unit);
            // The first time too: it may have failed before a restart of gtrace.
            if first_on || was_bad && status.active == Active::On {
                self.reported.retain(|(of, _)| *of != unit);
                let text = format!("{unit}.service {RUNS_AGAIN}");
                let occurrence = occurrence(unit, RUNS_AGAIN, Severity::Info, text);
                reading.news.push(HostNews::stands(occurrence));
            }
            return false;
        };
        let state = match failed {
            true => without(unit, roots),
            false => HostState::Degraded,
        };
        if self.reported.insert((unit, error)) {
            let severity = match state {
                HostState::Unhealthy => Severity::Critical,
                HostState::Healthy | HostState::Degraded => Severity::Warning,
            };
            let mut occurrence = occurrence(unit, error, severity, format!("{reason}{counts}"));
            occurrence.detail.host.result.clone_from(&status.result);
            occurrence.detail.host.restarts = (restarts > 0).then_some(restarts);
            reading.news.push(HostNews::stands(occurrence));
        }
        self.judged.insert(unit, (state, reason.clone()));
        reading.find(state, reason);
        true
    }
}

fn occurrence(unit: &str, error: &str, severity: Severity, text: String) -> Occurrence {
    let mut occurrence = Occurrence::new(Kind::ServiceFailed, severity, text);
    occurrence.provenance = Provenance::Kernel;
    occurrence.detail.host.unit = Some(unit.to_owned());
    occurrence.detail.host.error = Some(error.to_owned());
    occurrence
}

/// How the host is without the service. A fabric manager in a container, as the GPU Operator has it, does the work of the unit.
fn without(unit: &str, roots: &HostRoots) -> HostState {
    let is_missed = unit == FABRIC_MANAGER
        && has_nvswitch(&roots.sysfs)
        && !has_process(&roots.proc, FABRIC_MANAGER_COMM);
    match is_missed {
        true => HostState::Unhealthy,
        false => HostState::Degraded,
    }
}

/// Whether the user of process 1 has a process of this name.
fn has_process(proc: &Path, name: &str) -> bool {
    let user = |process: &Path| fs::metadata(process).ok().map(|about| about.uid());
    let root = user(&proc.join("1"));
    let processes = fs::read_dir(proc).into_iter().flatten().flatten();
    processes.map(|entry| entry.path()).any(|process| {
        sysfs::text(&process.join("comm")).is_some_and(|comm| comm == name)
            && user(&process) == root
    })
}

/// Whether the host has an NVSwitch on PCI: a bridge of NVIDIA's that is none of PCI. One that a virtual machine has needs no fabric manager here.
fn has_nvswitch(sysfs: &Path) -> bool {
    let devices = fs::read_dir(sysfs.join("bus/pci/devices"));
    devices.into_iter().flatten().flatten().any(|device| {
        let is = |file: &str, wanted: &str| {
            sysfs::text(&device.path().join(file)).is_some_and(|text| text.starts_with(wanted))
        };
        let driver = fs::read_link(device.path().join("driver"));
        let is_passed_through = driver.is_ok_and(|driver| driver.ends_with("vfio-pci"));
        is("class", "0x0680") && is("vendor", "0x10de") && !is_passed_through
    })
}

/// Where systemd has the control groups of services, of either version.
fn slice(sysfs: &Path) -> Option<PathBuf> {
    ["fs/cgroup/system.slice", "fs/cgroup/systemd/system.slice"]
        .into_iter()
        .map(|path| sysfs.join(path))
        .find(|path| path.is_dir())
}

/// Whether the service `unit` has a process, by control groups below the root of sysfs: it is not asked for that.
pub fn service_runs(sysfs: &Path, unit: &str) -> bool {
    slice(sysfs).is_some_and(|slice| is_running(&slice, unit))
}

fn is_installed(root: &Path, unit: &str) -> bool {
    let file = format!("{unit}.service");
    FOLDERS
        .iter()
        .any(|folder| root.join(folder).join(&file).exists())
}

/// Whether a target wants it. A link in the folder itself may be an alias, or mask it.
fn is_enabled(root: &Path, unit: &str) -> bool {
    let (folder, file) = (root.join("etc/systemd/system"), format!("{unit}.service"));
    let masked = fs::read_link(folder.join(&file)).is_ok_and(|to| to == Path::new("/dev/null"));
    let entries = fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    !masked
        && entries
            .map(|entry| entry.path())
            .filter(|path| {
                path.extension()
                    .is_some_and(|e| e == "wants" || e == "requires")
            })
            .any(|path| path.join(&file).symlink_metadata().is_ok())
}

/// Whether its control group has a process, of itself or of a group below.
fn is_running(slice: &Path, unit: &str) -> bool {
    let group = slice.join(format!("{unit}.service"));
    match sysfs::text(&group.join("cgroup.events")) {
        Some(events) => events.lines().any(|line| line == "populated 1"),
        // Control groups of version 1 have no such file.
        None => sysfs::text(&group.join("cgroup.procs")).is_some_and(|pids| !pids.is_empty()),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::os::unix::fs::symlink;

    use super::super::part::value;
    use super::*;

    pub(in super::super) struct Host(pub(in super::super) tempfile::TempDir);

    impl Host {
        pub(in super::super) fn new() -> Self {
            let host = Self(tempfile::tempdir().unwrap());
            let units = host.root().join("usr/lib/systemd/system");
            fs::create_dir_all(&units).unwrap();
            fs::create_dir_all(
                host.root()
                    .join("etc/systemd/system/multi-user.target.wants"),
            )
            .unwrap();
            for unit in ["docker", "nvidia-fabricmanager"] {
                fs::write(units.join(format!("{unit}.service")), "").unwrap();
            }
            host
        }

        pub(in super::super) fn root(&self) -> std::path::PathBuf {
            self.0.path().join("proc/1/root")
        }

        pub(in super::super) fn enable(&self, unit: &str) {
            let at = self
                .root()
                .join("etc/systemd/system/multi-user.target.wants");
            // To the host's own root: dangling from here.
            symlink(
                format!("/lib/systemd/system/{unit}.service"),
                at.join(format!("{unit}.service")),
            )
            .unwrap();
        }

        pub(in super::super) fn run(&self, unit: &str, populated: u8) {
            let at = self
                .0
                .path()
                .join(format!("sys/fs/cgroup/system.slice/{unit}.service"));
            fs::create_dir_all(&at).unwrap();
            fs::write(
                at.join("cgroup.events"),
                format!("populated {populated}\nfrozen 0\n"),
            )
            .unwrap();
        }

        pub(in super::super) fn read(
            &self,
            services: &mut Services,
            now: Instant,
        ) -> Result<HostReading, Unread> {
            let roots = HostRoots::new(self.0.path().join("proc"), self.0.path().join("sys"));
            services.read(&roots, now)
        }
    }

    #[test]
    fn an_enabled_service_that_stays_down_is_a_fault_and_one_that_is_not_enabled_is_none() {
        let host = Host::new();
        let (mut services, now) = (Services::default(), Instant::now());
        assert!(matches!(
            host.read(&mut services, now),
            Err(Unread::Absent(_))
        ));
        host.run("docker", 0);
        let at = |seconds| now + Duration::from_secs(seconds);
        assert_eq!(
            host.read(&mut services, at(0)).unwrap().state,
            HostState::Healthy
        );
        host.enable("nvidia-fabricmanager");
        assert_eq!(
            host.read(&mut services, at(0)).unwrap().state,
            HostState::Healthy
        );
        assert_eq!(
            host.read(&mut services, at(59)).unwrap().state,
            HostState::Healthy
        );
        let down = host.read(&mut services, at(61)).unwrap();
        assert_eq!(down.state, HostState::Degraded);
        assert_eq!(
            down.reasons,
            ["nvidia-fabricmanager.service is enabled and has not run for 61 s"]
        );
        let running = |reading: &HostReading, unit| {
            value(reading, "gtrace_service_running", &[("unit", unit)])
        };
        assert_eq!(running(&down, "docker"), Some(0.0));
        assert_eq!(running(&down, "kubelet"), None);
        host.run("nvidia-fabricmanager", 1);
        let up = host.read(&mut services, at(90)).unwrap();
        assert_eq!(up.state, HostState::Healthy);
        assert_eq!(running(&up, "nvidia-fabricmanager"), Some(1.0));
        // A restart begins anew.
        host.run("nvidia-fabricmanager", 0);
        assert_eq!(
            host.read(&mut services, at(120)).unwrap().state,
            HostState::Healthy
        );
    }

    #[test]
    fn nvswitches_need_their_fabric_manager_unless_a_virtual_machine_has_them() {
        let host = Host::new();
        host.run("nvidia-fabricmanager", 0);
        host.enable("nvidia-fabricmanager");
        let switch = host.0.path().join("sys/bus/pci/devices/0000:86:00.0");
        let state = || {
            let (mut services, now) = (Services::default(), Instant::now());
            host.read(&mut services, now).unwrap();
            let later = now + Duration::from_secs(61);
            host.read(&mut services, later).unwrap().state
        };
        assert_eq!(state(), HostState::Degraded);
        fs::create_dir_all(&switch).unwrap();
        fs::write(switch.join("class"), "0x068000\n").unwrap();
        fs::write(switch.join("vendor"), "0x10de\n").unwrap();
        symlink("../../drivers/nvidia-nvswitch", switch.join("driver")).unwrap();
        assert_eq!(state(), HostState::Unhealthy);
        // One in a container does the work.
        let process = host.0.path().join("proc/4711");
        fs::create_dir_all(&process).unwrap();
        fs::write(process.join("comm"), "nv-fabricmanage\n").unwrap();
        assert_eq!(state(), HostState::Degraded);
        fs::remove_dir_all(&process).unwrap();
        assert_eq!(state(), HostState::Unhealthy);
        fs::remove_file(switch.join("driver")).unwrap();
        symlink("../../drivers/vfio-pci", switch.join("driver")).unwrap();
        assert_eq!(state(), HostState::Degraded);
    }

    #[test]
    fn a_masked_service_is_not_enabled() {
        let host = Host::new();
        host.run("docker", 0);
        host.enable("docker");
        symlink(
            "/dev/null",
            host.root().join("etc/systemd/system/docker.service"),
        )
        .unwrap();
        let mut services = Services::default();
        let reading = host.read(&mut services, Instant::now()).unwrap();
        assert_eq!(
            value(&reading, "gtrace_service_enabled", &[("unit", "docker")]),
            Some(0.0)
        );
    }

    #[test]
    fn control_groups_of_version_1_serve_too() {
        let host = Host::new();
        let at = host
            .0
            .path()
            .join("sys/fs/cgroup/systemd/system.slice/docker.service");
        fs::create_dir_all(&at).unwrap();
        fs::write(at.join("cgroup.procs"), "812\n").unwrap();
        let reading = host.read(&mut Services::default(), Instant::now()).unwrap();
        assert_eq!(
            value(&reading, "gtrace_service_running", &[("unit", "docker")]),
            Some(1.0)
        );
    }
}
