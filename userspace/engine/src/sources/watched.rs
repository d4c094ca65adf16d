//! Which device nodes are the GPU driver's, and who has them open already.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use gtrace_abi::{DeviceFilter, MAX_DEVICES};
use gtrace_devices::{ProcGpus, ProcRoot, read_pseudo_file};
use gtrace_event::PciAddress;

/// The major number that the NVIDIA driver has had since ever (Documentation/admin-guide/
/// devices.txt); /proc/devices has the others.
const NVIDIA_MAJOR: u32 = 195;

/// NVIDIA's character devices, as the kernel lists them now.
pub fn nvidia_devices(proc_root: &Path) -> Vec<DeviceFilter> {
    let text = read_pseudo_file(&proc_root.join("devices")).unwrap_or_default();
    parse_devices(&text)
}

fn parse_devices(text: &str) -> Vec<DeviceFilter> {
    let mut majors = vec![NVIDIA_MAJOR];
    for (major, _) in listed(text) {
        if major != 0 && !majors.contains(&major) {
            majors.push(major);
        }
    }
    majors.truncate(MAX_DEVICES);
    majors
        .into_iter()
        .map(|major| DeviceFilter {
            major,
            minor: DeviceFilter::ANY_MINOR,
        })
        .collect()
}

/// Processes that have a watched device open now, with one such device number.
pub fn users(filters: &[DeviceFilter]) -> Vec<(u32, u32)> {
    let mut users = all_users(filters);
    users.dedup_by_key(|(pid, _)| *pid);
    users
}

/// Processes that have watched devices open now, with every such device number, sorted.
pub fn all_users(filters: &[DeviceFilter]) -> Vec<(u32, u32)> {
    let Ok(processes) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let mut users: Vec<_> = processes
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .flat_map(|pid| {
            open_devices(pid, filters)
                .into_iter()
                .map(move |rdev| (pid, rdev))
        })
        .collect();
    users.sort_unstable();
    users.dedup();
    users
}

/// Every watched device that process `pid` has open.
pub fn open_devices(pid: u32, filters: &[DeviceFilter]) -> Vec<u32> {
    let Ok(fds) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return Vec::new();
    };
    fds.filter_map(Result::ok)
        .filter_map(|fd| {
            // The link first: stat(2) of a file on a dead network file system would not return.
            let target = fs::read_link(fd.path()).ok()?;
            if !target.starts_with("/dev") {
                return None;
            }
            let metadata = fs::metadata(fd.path()).ok()?;
            if !metadata.file_type().is_char_device() {
                return None;
            }
            let rdev = kernel_rdev(metadata.rdev());
            filters
                .iter()
                .any(|filter| filter.matches(rdev))
                .then_some(rdev)
        })
        .collect()
}

/// Names of device files by number.
#[derive(Debug, Default)]
pub struct DeviceNames {
    /// By major number, as /proc/devices has it; NVIDIA's own aside.
    majors: BTreeMap<u32, String>,
    /// GPUs by minor number, as /proc/driver/nvidia/gpus has them.
    gpus: BTreeMap<u32, PciAddress>,
}

impl DeviceNames {
    /// Reads /proc/devices and the driver's GPU information.
    pub fn read(proc_root: &Path) -> Self {
        Self::read_with(
            proc_root,
            &mut ProcGpus::new(ProcRoot(proc_root.to_owned())),
        )
    }

    /// The same, but of GPUs only what `gpus` does not know yet.
    pub(super) fn read_with(proc_root: &Path, gpus: &mut ProcGpus) -> Self {
        let text = read_pseudo_file(&proc_root.join("devices")).unwrap_or_default();
        Self {
            majors: listed(&text).collect(),
            gpus: gpus
                .read()
                .into_iter()
                .filter_map(|gpu| Some((gpu.minor?, gpu.pci)))
                .collect(),
        }
    }

    /// The GPU whose own file it is; nvidiactl and nvidia-uvm are no GPU's own.
    pub fn gpu(&self, rdev: u32) -> Option<PciAddress> {
        let own = rdev >> 20 == NVIDIA_MAJOR;
        own.then(|| self.gpus.get(&(rdev & 0xf_ffff)).copied())?
    }

    /// `nvidia0`, `nvidiactl`, `nvidia-uvm`; `MAJOR:MINOR` for what is not the driver's.
    pub fn name(&self, rdev: u32) -> String {
        let (major, minor) = (rdev >> 20, rdev & 0xf_ffff);
        match (major, minor) {
            // nv-chardev-numbers.h.
            (NVIDIA_MAJOR, 255) => "nvidiactl".to_owned(),
            (NVIDIA_MAJOR, 254) => "nvidia-modeset".to_owned(),
            (NVIDIA_MAJOR, minor) => format!("nvidia{minor}"),
            _ => match self.majors.get(&major) {
                Some(name) if minor == 0 => name.clone(),
                Some(name) if name == "nvidia-uvm" => "nvidia-uvm-tools".to_owned(),
                Some(name) => format!("{name}:{minor}"),
                None => format!("{major}:{minor}"),
            },
        }
    }
}

/// How often the names are read after the driver was loaded, or a GPU has come or gone: GPUs come up one by one.
const NAMES_POLLS: u32 = 5;

/// When the names of device files are to be read: a GPU that has come may have the number of one that is gone.
#[derive(Debug)]
pub(super) struct NamesPoll {
    left: u32,
    /// The driver's GPUs, by the names of their folders.
    gpus: BTreeSet<OsString>,
}

impl Default for NamesPoll {
    fn default() -> Self {
        Self {
            left: NAMES_POLLS,
            gpus: BTreeSet::new(),
        }
    }
}

impl NamesPoll {
    /// Whether they are to be read now. No GPU is asked for that.
    pub(super) fn is_due(&mut self, proc_root: &Path) -> bool {
        let folders = fs::read_dir(proc_root.join("driver/nvidia/gpus"));
        let folders = folders.into_iter().flatten();
        let gpus: BTreeSet<_> = folders
            .filter_map(|gpu| Some(gpu.ok()?.file_name()))
            .collect();
        if gpus != self.gpus {
            (self.left, self.gpus) = (NAMES_POLLS, gpus);
        }
        let due = self.left > 0;
        self.left = self.left.saturating_sub(1);
        due
    }
}

/// NVIDIA's majors in /proc/devices, with their names.
fn listed(text: &str) -> impl Iterator<Item = (u32, String)> {
    text.lines()
        .take_while(|line| *line != "Block devices:")
        .filter_map(|line| line.trim_start().split_once(' '))
        .filter(|(_, name)| name.starts_with("nvidia"))
        .filter_map(|(major, name)| Some((major.parse().ok()?, name.to_owned())))
}

/// The kernel's own form (major << 20 | minor) of what stat(2) gives.
pub fn kernel_rdev(rdev: u64) -> u32 {
    (libc::major(rdev) << 20) | (libc::minor(rdev) & 0xf_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nvidias_majors_are_taken_from_the_kernels_list_and_195_always() {
        let majors = |text| {
            parse_devices(text)
                .iter()
                .map(|f| f.major)
                .collect::<Vec<_>>()
        };
        assert_eq!(majors(""), [195]);
        let text = "Character devices:\n  1 mem\n195 nvidia-frontend\n234 nvidia-nvswitch\n\
                    510 nvidia-uvm\n511 nvidia-caps\n\nBlock devices:\n  8 nvidia-not\n";
        assert_eq!(majors(text), [195, 234, 510, 511]);
    }

    #[test]
    fn devices_have_the_names_of_their_files() {
        let dir = tempfile::tempdir().unwrap();
        let text =
            "Character devices:\n195 nvidia\n510 nvidia-uvm\n511 nvidia-caps\n\nBlock devices:\n";
        fs::write(dir.path().join("devices"), text).unwrap();
        let names = DeviceNames::read(dir.path());
        let name = |major: u32, minor: u32| names.name(major << 20 | minor);
        assert_eq!([name(195, 3), name(195, 255)], ["nvidia3", "nvidiactl"]);
        assert_eq!(
            [name(510, 0), name(510, 1)],
            ["nvidia-uvm", "nvidia-uvm-tools"]
        );
        assert_eq!([name(511, 2), name(1, 9)], ["nvidia-caps:2", "1:9"]);
    }

    #[test]
    fn names_are_read_again_when_a_gpu_has_come_or_gone() {
        let root = tempfile::tempdir().unwrap();
        let gpus = root.path().join("driver/nvidia/gpus");
        let mut poll = NamesPoll::default();
        let mut due = || (0..100).filter(|_| poll.is_due(root.path())).count();
        assert_eq!(due(), NAMES_POLLS as usize);
        fs::create_dir_all(gpus.join("0000:3b:00.0")).unwrap();
        assert_eq!((due(), due()), (NAMES_POLLS as usize, 0));
        fs::remove_dir(gpus.join("0000:3b:00.0")).unwrap();
        fs::create_dir(gpus.join("0000:5e:00.0")).unwrap();
        assert_eq!((due(), due()), (NAMES_POLLS as usize, 0));
    }

    #[test]
    fn this_process_is_found_by_a_device_that_it_has_open() {
        let _file = fs::File::open("/dev/zero").unwrap();
        let filters = [DeviceFilter { major: 1, minor: 5 }];
        let own = users(&filters)
            .into_iter()
            .find(|(pid, _)| *pid == std::process::id());
        assert_eq!(own, Some((std::process::id(), (1 << 20) | 5)));
    }
}
