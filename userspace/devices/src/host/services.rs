//! Services that GPUs and jobs need: which are installed, enabled and running.
//!
//! Source: unit files and their links as systemd.unit(5) places them, and the control group that systemd gives to a service
//! while one of its processes lives. Neither asks systemd, so nothing can hang there.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::part::{HostReading, HostRoots, HostState, Part, PartInfo, Unread};
use crate::sysfs;

pub(super) const INFO: PartInfo = PartInfo {
    name: "services",
    gives: "services that GPUs and jobs need (fabric manager, persistence, DCGM, containers, schedulers): installed, enabled, running",
    needs: "systemd: its units in /etc and /usr/lib, and /sys/fs/cgroup/system.slice",
    remedy: "none on a host without systemd; in a container, mount the host's root and control groups",
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

#[derive(Debug, Default)]
pub(super) struct Services {
    /// Since when an enabled service does not run.
    down: BTreeMap<&'static str, Instant>,
}

impl Part for Services {
    fn read(&mut self, roots: &HostRoots, now: Instant) -> Result<HostReading, Unread> {
        let Some(slice) = slice(&roots.sysfs) else {
            let why = "no control groups of systemd (system.slice)".to_owned();
            return Err(Unread::Absent(why));
        };
        let mut reading = HostReading::default();
        let mut installed = 0_u32;
        for unit in UNITS {
            if !is_installed(&roots.root, unit) {
                self.down.remove(unit);
                continue;
            }
            installed += 1;
            let (enabled, running) = (is_enabled(&roots.root, unit), is_running(&slice, unit));
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
            if running || !enabled {
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
                reading.find(HostState::Degraded, reason);
            }
        }
        if installed == 0 {
            reading.missing = Some("none of the services that are known is installed".to_owned());
        }
        Ok(reading)
    }
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
mod tests {
    use std::os::unix::fs::symlink;

    use super::super::part::value;
    use super::*;

    struct Host(tempfile::TempDir);

    impl Host {
        fn new() -> Self {
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

        fn root(&self) -> std::path::PathBuf {
            self.0.path().join("proc/1/root")
        }

        fn enable(&self, unit: &str) {
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

        fn run(&self, unit: &str, populated: u8) {
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

        fn read(&self, services: &mut Services, now: Instant) -> Result<HostReading, Unread> {
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
