//! Which processes have the driver's devices open.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use gtrace_abi::{DeviceFilter, OpenFile};
use gtrace_api::DeviceUser;

use super::watched::{self, DeviceNames};
use crate::process;

/// How many polls apart those processes are checked that opened a device before the probes were
/// there, and whose closing they cannot see.
const CHECK_EVERY: u32 = 5;

/// The set of GPU processes, from the probes on open and close, and from /proc for what was open
/// before them.
#[derive(Debug, Default)]
pub(super) struct Users {
    names: BTreeMap<u32, String>,
    filters: Vec<DeviceFilter>,
    /// From /proc: process and device number.
    earlier: BTreeSet<(u32, u32)>,
    scheduler: u32,
}

impl Users {
    /// Sets who had a device open before the probes were there.
    pub(super) fn set_earlier(&mut self, filters: Vec<DeviceFilter>, users: Vec<(u32, u32)>) {
        self.filters = filters;
        self.earlier = users.into_iter().collect();
        self.scheduler = 0;
    }

    /// The processes as they are now, and the files in the table whose process is gone.
    pub(super) fn poll(
        &mut self,
        open: &[OpenFile],
        names: &DeviceNames,
    ) -> (Vec<DeviceUser>, Vec<u64>) {
        self.scheduler += 1;
        if self.scheduler.is_multiple_of(CHECK_EVERY) && !self.earlier.is_empty() {
            let pids: BTreeSet<u32> = self.earlier.iter().map(|(pid, _)| *pid).collect();
            let filters = &self.filters;
            let now = pids.into_iter().flat_map(|pid| {
                let devices = watched::open_devices(pid, filters);
                devices.into_iter().map(move |rdev| (pid, rdev))
            });
            let now: BTreeSet<_> = now.collect();
            self.earlier.retain(|user| now.contains(user));
        }
        let mut gone = Vec::new();
        let mut by_pid: BTreeMap<u32, BTreeMap<u32, u32>> = BTreeMap::new();
        for file in open {
            if alive(file.tgid) {
                let devices = by_pid.entry(file.tgid).or_default();
                *devices.entry(file.rdev).or_default() += 1;
            } else {
                gone.push(file.file);
            }
        }
        for (pid, rdev) in self.earlier.iter().filter(|(pid, _)| alive(*pid)) {
            by_pid.entry(*pid).or_default().entry(*rdev).or_insert(1);
        }
        self.names.retain(|pid, _| by_pid.contains_key(pid));
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

    const NOBODY: u32 = u32::MAX - 1;

    #[test]
    fn a_process_is_shown_with_its_devices_and_one_that_is_gone_is_forgotten() {
        let mut users = Users::default();
        let own = std::process::id();
        let file = |file: u64, tgid: u32, minor: u32| OpenFile {
            file,
            tgid,
            rdev: 195 << 20 | minor,
        };
        let open = [
            file(1, own, 0),
            file(2, own, 255),
            file(3, own, 255),
            file(4, NOBODY, 0),
        ];
        let (processes, gone) = users.poll(&open, &DeviceNames::default());
        assert_eq!(gone, [4]);
        let found = processes.iter().find(|p| p.pid == own).unwrap();
        assert_eq!(found.devices, ["nvidia0", "nvidiactl"]);
        assert_eq!(found.open_files, 3);
        assert!(!found.comm.is_empty());
    }

    #[test]
    fn an_earlier_user_is_shown_until_it_has_closed_the_device() {
        let mut users = Users::default();
        let own = std::process::id();
        let filters = vec![DeviceFilter { major: 1, minor: 5 }];
        let zero = std::fs::File::open("/dev/zero").unwrap();
        users.set_earlier(filters, vec![(own, 1 << 20 | 5), (NOBODY, 1 << 20 | 5)]);
        let mut shown = || {
            let (processes, _) = users.poll(&[], &DeviceNames::default());
            processes.iter().map(|p| p.pid).collect::<Vec<_>>()
        };
        for _ in 0..2 * CHECK_EVERY {
            assert_eq!(shown(), [own]);
        }
        drop(zero);
        for _ in 0..CHECK_EVERY {
            shown();
        }
        assert!(shown().is_empty());
    }
}
