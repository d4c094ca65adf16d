//! Services that systemd starts for whoever connects to their socket (docker.socket, podman.socket). To ask one that is
//! stopped would start what an operator has stopped, so each is asked only while it runs.

use std::fs;
use std::path::{Path, PathBuf};

/// Where it is seen whether they run.
#[derive(Clone, Debug)]
pub struct Woken {
    /// Root of procfs.
    pub proc_root: PathBuf,
    /// Root of sysfs, below which control groups are mounted.
    pub sysfs_root: PathBuf,
    /// Where Docker's daemon writes its process id.
    pub docker_pid: PathBuf,
}

impl Woken {
    /// Of a host with these roots.
    pub fn of_host(proc_root: &Path, sysfs_root: &Path) -> Self {
        Self {
            proc_root: proc_root.to_owned(),
            sysfs_root: sysfs_root.to_owned(),
            docker_pid: "/run/docker.pid".into(),
        }
    }

    /// Whether `service`, such as `docker`, runs: by the control group of its unit; Docker's daemon, which need not be a
    /// unit, by its process id too.
    pub fn runs(&self, service: &str) -> bool {
        gtrace_devices::service_runs(&self.sysfs_root, service)
            || service == "docker" && self.has_dockerd()
    }

    fn has_dockerd(&self) -> bool {
        let pid = fs::read_to_string(&self.docker_pid).ok();
        let pid: Option<u32> = pid.and_then(|pid| pid.trim().parse().ok());
        // The file outlives a daemon that is killed, and its id may then be another's.
        pid.is_some_and(|pid| {
            let comm = fs::read_to_string(self.proc_root.join(format!("{pid}/comm")));
            comm.is_ok_and(|comm| comm.trim_end() == "dockerd")
        })
    }
}
