//! Which processes have the driver's devices open.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use gtrace_abi::OpenFile;

use super::{process, watched};
use crate::hub::DeviceUser;

/// How many looks apart those processes are checked that opened a device before the probes were
/// there, and whose closing they cannot see.
const CHECK_EVERY: u32 = 5;

/// The set of GPU processes, from the probes on open and close, and from /proc for what was open
/// before them.
#[derive(Debug, Default)]
pub(super) struct Users {
    names: BTreeMap<u32, String>,
    /// From /proc: process and device number.
    earlier: BTreeSet<(u32, u32)>,
    looks: u32,
}

impl Users {
    /// The processes as they are now, and the files in the table whose process is gone.
    pub(super) fn look(
        &mut self,
        open: &[OpenFile],
        proc_root: &Path,
    ) -> (Vec<DeviceUser>, Vec<u64>) {
        if self.looks.is_multiple_of(CHECK_EVERY) {
            let filters = watched::nvidia_devices(proc_root);
            self.earlier = watched::all_users(&filters).into_iter().collect();
        }
        self.looks = self.looks.wrapping_add(1);
        let mut gone = Vec::new();
        let mut by_pid: BTreeMap<u32, BTreeMap<u32, u32>> = BTreeMap::new();
        for file in open {
            if alive(file.tgid) {
                *by_pid
                    .entry(file.tgid)
                    .or_default()
                    .entry(file.rdev)
                    .or_default() += 1;
            } else {
                gone.push(file.file);
            }
        }
        for (pid, rdev) in self.earlier.iter().filter(|(pid, _)| alive(*pid)) {
            by_pid.entry(*pid).or_default().entry(*rdev).or_insert(1);
        }
        self.names.retain(|pid, _| by_pid.contains_key(pid));
        let names = watched::DeviceNames::read(proc_root);
        let processes = by_pid
            .into_iter()
            .map(|(pid, devices)| DeviceUser {
                pid,
                comm: self.name(pid),
                devices: devices.keys().map(|rdev| names.name(*rdev)).collect(),
                open_files: devices.values().sum(),
            })
            .collect();
        (processes, gone)
    }

    fn name(&mut self, pid: u32) -> String {
        let read = || process::comm(&directory(pid)).unwrap_or_else(|| "?".to_owned());
        self.names.entry(pid).or_insert_with(read).clone()
    }
}

fn directory(pid: u32) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}"))
}

fn alive(pid: u32) -> bool {
    directory(pid).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_shown_with_its_devices_and_one_that_is_gone_is_forgotten() {
        let proc_root = tempfile::tempdir().unwrap();
        let mut users = Users::default();
        let (own, nobody) = (std::process::id(), u32::MAX - 1);
        let file = |file: u64, tgid: u32, minor: u32| OpenFile {
            file,
            tgid,
            rdev: 195 << 20 | minor,
        };
        let open = [
            file(1, own, 0),
            file(2, own, 255),
            file(3, own, 255),
            file(4, nobody, 0),
        ];
        let (processes, gone) = users.look(&open, proc_root.path());
        assert_eq!(gone, [4]);
        let found = processes.iter().find(|p| p.pid == own).unwrap();
        assert_eq!(found.devices, ["nvidia0", "nvidiactl"]);
        assert_eq!(found.open_files, 3);
        assert!(!found.comm.is_empty());
    }
}
