use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::named_enum! {
    /// What happened. The list is closed per version; each kind has a page in `docs/events/`.
    #[derive(
        Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        JsonSchema,
    )]
    pub enum Kind {
        /// The NVIDIA driver reported an Xid.
        Xid = "xid",
        /// The NVSwitch driver reported an SXid.
        Sxid = "sxid",
        /// PCIe Advanced Error Reporting named a device, or the recovery after such an error ended.
        Aer = "aer",
        /// A GPU no longer answers on the bus, said without an Xid.
        GpuLost = "gpu_lost",
        /// The driver reports, without an Xid, that a GPU hangs.
        GpuHang = "gpu_hang",
        /// The IOMMU blocked an access of a device to memory.
        IommuFault = "iommu_fault",
        /// The driver could not initialise a GPU (`RmInitAdapter failed`).
        DriverInitFailed = "driver_init_failed",
        /// User-space library and kernel module are of different versions.
        DriverMismatch = "driver_mismatch",
        /// The kernel killed a process for lack of memory.
        OomKill = "oom_kill",
        /// A task stayed in uninterruptible sleep for too long.
        HungTask = "hung_task",
        /// A CPU did not schedule for too long.
        SoftLockup = "soft_lockup",
        /// A CPU is stuck where the soft lockup watchdog cannot see it: hard lockup, RCU stall, work queue that stands still.
        CpuStall = "cpu_stall",
        /// A CPU lowered its clock for heat.
        CpuThrottle = "cpu_throttle",
        /// The CPU or the firmware reported a hardware error of the host (machine check, APEI).
        MachineCheck = "machine_check",
        /// Memory modules of the host had errors (EDAC), or the kernel gave up a page with one.
        DimmError = "dimm_error",
        /// The kernel ended the host's run.
        KernelPanic = "kernel_panic",
        /// The boot before this one did not end in order.
        HostRestart = "host_restart",
        /// Kernel code failed and the kernel went on without the task.
        KernelOops = "kernel_oops",
        /// The host has no file handle left to give.
        FileLimit = "file_limit",
        /// A process died inside the NCCL library.
        NcclSegfault = "nccl_segfault",
        /// nvidia-peermem (GPUDirect RDMA) failed.
        PeermemError = "peermem_error",
        /// A Mellanox/NVIDIA network adapter gets less slot power than it wants.
        Mlx5SlotPower = "mlx5_slot_power",
        /// A Mellanox/NVIDIA network adapter is too hot.
        Mlx5Overheat = "mlx5_overheat",
        /// A register access of the mlx5 driver failed.
        Mlx5AccessReg = "mlx5_access_reg",
        /// The mlx5 driver's health poll found the adapter ill.
        Mlx5Health = "mlx5_health",
        /// A command to the mlx5 firmware timed out.
        Mlx5CmdTimeout = "mlx5_cmd_timeout",
        /// The module or cable in a Mellanox/NVIDIA adapter's port is missing or faulty.
        Mlx5PortModule = "mlx5_port_module",
        /// A queue of a network interface stands still.
        NetTimeout = "net_timeout",
        /// An Elastic Fabric Adapter refused a command or does not answer.
        EfaError = "efa_error",
        /// The server of a network file system does not answer.
        NetfsStall = "netfs_stall",
        /// A file system was remounted read-only after an error.
        FsReadonly = "fs_readonly",
        /// An NVMe command timed out.
        NvmeTimeout = "nvme_timeout",
        /// The kernel gave up a disk, or has no path to it.
        DiskLost = "disk_lost",
        /// An array of disks (md) lost one of them.
        RaidDegraded = "raid_degraded",
        /// A disk failed a read or a write.
        IoError = "io_error",
        /// A file system met an error in its own data, or could not write it.
        FsError = "fs_error",
        /// A process that had a GPU device open ended.
        GpuProcessExit = "gpu_process_exit",
        /// A driver or API call took longer than its threshold.
        SlowCall = "slow_call",
        /// The driver failed a call.
        ApiError = "api_error",
        /// The GPU lowered its clocks for heat, power or another protective reason.
        Throttle = "throttle",
        /// GPU memory of a process rose and rose, and none was given back.
        MemoryGrowth = "memory_growth",
        /// Work on a GPU shares it, or the host's CPUs, with the work of others: suspected.
        GpuContended = "gpu_contended",
        /// A GPU that a process holds is hardly used, as the process waits for the host: suspected.
        GpuStarved = "gpu_starved",
        /// MIG mode of a GPU was switched, or its instances are others.
        MigLayout = "mig_layout",
        /// A vGPU lacks its licence, or has it again.
        VgpuLicense = "vgpu_license",
        /// The driver asks for a reset, a reboot or another recovery action, or for none any more, as NVML reads it.
        RecoveryAction = "recovery_action",
        /// ECC error counters rose.
        Ecc = "ecc",
        /// Rows of GPU memory were remapped, wait for a reset to be, or could not be.
        RowRemap = "row_remap",
        /// NVLink error counters rose, or a link went down.
        Nvlink = "nvlink",
        /// A PCIe link runs below its maximum, or its replay counter rose.
        PcieLink = "pcie_link",
        /// A card came into a PCIe slot or left it, or its link went up or down.
        PcieHotplug = "pcie_hotplug",
        /// A port of an RDMA device (InfiniBand, RoCE) went down or up, flaps, or is slower than it was.
        RdmaPort = "rdma_port",
        /// Error counters of an RDMA port rose faster than they should.
        RdmaErrors = "rdma_errors",
        /// An RDMA device that was there is gone.
        RdmaLost = "rdma_lost",
        /// A GPU or the host is not as its baseline says.
        BaselineDrift = "baseline_drift",
        /// A service of the host failed, or is restarted again and again.
        ServiceFailed = "service_failed",
        /// gtrace itself lost a source, or records of one.
        SourceLost = "source_lost",
        /// Records left the store: by retention, or with a damaged file.
        RecordsRemoved = "records_removed",
        /// A trigger of the site fired.
        SiteTrigger = "site_trigger",
        /// A check of a plugin of the site changed.
        PluginCheck = "plugin_check",
        /// Somebody asked for the state of the host to be kept.
        Capture = "capture",
    }
}

/// A word that names no [`Kind`].
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no event kind; known kinds: {known}", known = Kind::ALL.iter().map(|k| k.name()).collect::<Vec<_>>().join(", "))]
pub struct UnknownKind(pub String);

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|k| k.name().eq_ignore_ascii_case(s))
            .ok_or_else(|| UnknownKind(s.to_owned()))
    }
}
