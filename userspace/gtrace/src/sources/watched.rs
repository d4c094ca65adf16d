//! Which device nodes are the GPU driver's, and who has them open already.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use gtrace_abi::{DeviceFilter, MAX_DEVICES};

/// The major number that the NVIDIA driver has had since ever (Documentation/admin-guide/
/// devices.txt); /proc/devices has the others.
const NVIDIA_MAJOR: u32 = 195;

/// NVIDIA's character devices, as the kernel lists them now.
pub fn nvidia_devices(proc_root: &Path) -> Vec<DeviceFilter> {
    let text = fs::read_to_string(proc_root.join("devices")).unwrap_or_default();
    parse_devices(&text)
}

fn parse_devices(text: &str) -> Vec<DeviceFilter> {
    let listed = text
        .lines()
        .take_while(|line| *line != "Block devices:")
        .filter_map(|line| line.trim_start().split_once(' '))
        .filter(|(_, name)| name.starts_with("nvidia"))
        .filter_map(|(major, _)| major.parse().ok());
    let mut majors = vec![NVIDIA_MAJOR];
    for major in listed {
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
    let Ok(processes) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    processes
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter_map(|pid| Some((pid, open_device(pid, filters)?)))
        .collect()
}

fn open_device(pid: u32, filters: &[DeviceFilter]) -> Option<u32> {
    let fds = fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    fds.filter_map(Result::ok).find_map(|fd| {
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
    fn this_process_is_found_by_a_device_that_it_has_open() {
        let _file = fs::File::open("/dev/zero").unwrap();
        let filters = [DeviceFilter { major: 1, minor: 5 }];
        let own = users(&filters)
            .into_iter()
            .find(|(pid, _)| *pid == std::process::id());
        assert_eq!(own, Some((std::process::id(), (1 << 20) | 5)));
    }
}
