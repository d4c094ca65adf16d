//! The PCI devices of a snapshot, and the ports above them.

use std::fs;
use std::path::{Path, PathBuf};

use gtrace_event::PciAddress;

/// GPUs and ports above them that are read.
pub(super) const DEVICES: usize = 24;

/// Directories in sysfs of the devices and of every port above them, the ports first. Where there is no room for all, the devices
/// themselves are there, and then the names of what is not.
pub(super) fn with_ports(sysfs_root: &Path, devices: &[PciAddress]) -> (Vec<PathBuf>, Vec<String>) {
    let mut all: Vec<PathBuf> = Vec::new();
    for device in devices {
        let link = sysfs_root.join("bus/pci/devices").join(device.to_string());
        // The link is there as long as the device is; its target names the ports.
        let Ok(path) = fs::canonicalize(&link) else {
            all.push(link);
            continue;
        };
        let is_device = |path: &&Path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| PciAddress::parse(name).is_some())
        };
        let mut chain: Vec<PathBuf> = path
            .ancestors()
            .take_while(is_device)
            .map(Path::to_owned)
            .collect();
        chain.reverse();
        for path in chain {
            if !all.contains(&path) {
                all.push(path);
            }
        }
    }
    let is_asked = |path: &Path| devices.iter().any(|at| path.ends_with(at.to_string()));
    let asked = all.iter().filter(|path| is_asked(path)).count();
    let mut ports = DEVICES.saturating_sub(asked);
    let (mut kept, mut left): (Vec<PathBuf>, Vec<PathBuf>) = all.into_iter().partition(|path| {
        let is_port = !is_asked(path);
        let has_room = !is_port || ports > 0;
        ports = ports.saturating_sub(usize::from(is_port));
        has_room
    });
    left.extend(kept.split_off(kept.len().min(DEVICES)));
    (kept, left.iter().map(|path| last_name(path)).collect())
}

/// The last part of a path.
pub(super) fn last_name(path: &Path) -> String {
    path.file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_come_before_ports_where_there_is_no_room_for_all() {
        let sysfs = tempfile::tempdir().unwrap();
        let links = sysfs.path().join("bus/pci/devices");
        fs::create_dir_all(&links).unwrap();
        let gpus: Vec<PciAddress> = (1..=16)
            .map(|n| {
                let name = format!("0000:{n:02x}:00.0");
                let port = format!("devices/pci0000:00/0000:00:{n:02x}.0");
                let gpu = sysfs.path().join(port).join(&name);
                fs::create_dir_all(&gpu).unwrap();
                std::os::unix::fs::symlink(&gpu, links.join(&name)).unwrap();
                name.parse().unwrap()
            })
            .collect();
        let (paths, left_out) = with_ports(sysfs.path(), &gpus);
        let is_there = |gpu: &PciAddress| paths.iter().any(|path| path.ends_with(gpu.to_string()));
        assert!(gpus.iter().all(is_there));
        assert_eq!((paths.len(), left_out.len()), (DEVICES, 8));
        assert_eq!(left_out[0], "0000:00:09.0");
    }
}
