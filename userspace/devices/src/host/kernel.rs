//! Whether the kernel can still be trusted, which modules that matter to GPUs are loaded, and whether an IOMMU is on.
//!
//! Source: /proc/sys/kernel/tainted (Documentation/admin-guide/tainted-kernels.rst), /sys/module, /sys/class/iommu.

use std::fs;
use std::time::{Duration, Instant};

use super::part::{HostReading, HostRoots, HostState, Part, PartInfo, Unread, needed};

pub(super) const INFO: PartInfo = PartInfo {
    name: "kernel",
    gives: "what tainted the kernel, modules that matter to GPUs, whether an IOMMU is on",
    needs: "/proc/sys/kernel/tainted, /sys/module, /sys/class/iommu",
    remedy: "mount procfs and sysfs",
    every: Duration::from_secs(60),
};

/// Bit, letter, and what it means where it is a fault. The others are usual on a host with NVIDIA's driver.
const TAINTS: [(u32, &str, Option<&str>); 10] = [
    (0, "P", None),
    (4, "M", Some("a machine check has been reported since boot")),
    (5, "B", Some("a bad page was found since boot")),
    (7, "D", Some("the kernel has failed since boot (oops)")),
    (9, "W", None),
    (12, "O", None),
    (13, "E", None),
    (
        14,
        "L",
        Some("a CPU has been stuck since boot (soft lockup)"),
    ),
    (15, "K", None),
    (16, "X", None),
];
const MODULES: [&str; 14] = [
    "nvidia",
    "nvidia_uvm",
    "nvidia_modeset",
    "nvidia_drm",
    "nvidia_peermem",
    "nv_peer_mem",
    "nvidia_fs",
    "gdrdrv",
    "nouveau",
    "ib_core",
    "mlx5_core",
    "mlx5_ib",
    "efa",
    "vfio_pci",
];

pub(super) struct Kernel;

impl Part for Kernel {
    fn read(&mut self, roots: &HostRoots, _now: Instant) -> Result<HostReading, Unread> {
        let path = roots.proc.join("sys/kernel/tainted");
        let text = needed(&path)?;
        let Ok(taint) = text.trim().parse::<u64>() else {
            let why = format!("{}: {:?} is no number", path.display(), text.trim());
            return Err(Unread::Failed(why));
        };
        let mut reading = HostReading::default();
        for (bit, letter, fault) in TAINTS {
            let set = taint & (1 << bit) != 0;
            reading.gauge(
                ("gtrace_kernel_tainted", ""),
                "Whether the kernel is tainted, by the letter that it prints (P, M, B, D, W, O, E, L, K, X)",
                &[("flag", letter)],
                f64::from(u8::from(set)),
            );
            if let Some(fault) = fault.filter(|_| set) {
                reading.find(HostState::Degraded, format!("{fault}: restart the host"));
            }
        }
        for module in MODULES {
            let loaded = roots
                .sysfs
                .join("module")
                .join(module)
                .join("initstate")
                .exists();
            reading.gauge(
                ("gtrace_kernel_module_loaded", ""),
                "Whether a module that matters to GPUs is loaded",
                &[("module", module)],
                f64::from(u8::from(loaded)),
            );
        }
        let iommus = fs::read_dir(roots.sysfs.join("class/iommu"));
        let on = iommus.is_ok_and(|mut entries| entries.next().is_some());
        reading.gauge(
            ("gtrace_iommu_enabled", ""),
            "Whether an IOMMU of the host is on",
            &[],
            f64::from(u8::from(on)),
        );
        Ok(reading)
    }
}

#[cfg(test)]
mod tests {
    use super::super::part::value;
    use super::*;

    fn read(dir: &std::path::Path, tainted: &str) -> Result<HostReading, Unread> {
        fs::create_dir_all(dir.join("proc/sys/kernel")).unwrap();
        fs::write(dir.join("proc/sys/kernel/tainted"), tainted).unwrap();
        Kernel.read(
            &HostRoots::new(dir.join("proc"), dir.join("sys")),
            Instant::now(),
        )
    }

    #[test]
    fn a_foreign_module_is_usual_and_an_oops_is_a_fault() {
        let dir = tempfile::tempdir().unwrap();
        // P, O, E, W: what NVIDIA's driver and a warning leave.
        let usual = read(dir.path(), "12801\n").unwrap();
        assert_eq!(usual.state, HostState::Healthy);
        assert_eq!(
            value(&usual, "gtrace_kernel_tainted", &[("flag", "O")]),
            Some(1.0)
        );
        assert_eq!(
            value(&usual, "gtrace_kernel_tainted", &[("flag", "D")]),
            Some(0.0)
        );
        let oops = read(dir.path(), "12929").unwrap();
        assert_eq!(oops.state, HostState::Degraded);
        assert!(oops.reasons[0].contains("oops"), "{oops:?}");
        let all = read(dir.path(), &u64::MAX.to_string()).unwrap();
        assert_eq!(all.reasons.len(), 4);
        assert!(matches!(read(dir.path(), "x"), Err(Unread::Failed(_))));
    }

    #[test]
    fn modules_and_iommus_are_those_of_sysfs() {
        let dir = tempfile::tempdir().unwrap();
        let before = read(dir.path(), "0").unwrap();
        assert_eq!(value(&before, "gtrace_iommu_enabled", &[]), Some(0.0));
        // Parameters alone are of a module that is built in or was never loaded.
        fs::create_dir_all(dir.path().join("sys/module/nouveau/parameters")).unwrap();
        fs::create_dir_all(dir.path().join("sys/module/nvidia")).unwrap();
        fs::write(dir.path().join("sys/module/nvidia/initstate"), "live\n").unwrap();
        fs::create_dir_all(dir.path().join("sys/class/iommu/dmar0")).unwrap();
        let after = read(dir.path(), "0").unwrap();
        let loaded = |module| value(&after, "gtrace_kernel_module_loaded", &[("module", module)]);
        assert_eq!(
            (loaded("nvidia"), loaded("nouveau")),
            (Some(1.0), Some(0.0))
        );
        assert_eq!(value(&after, "gtrace_iommu_enabled", &[]), Some(1.0));
    }
}
