use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::named_enum! {
    /// A source that can see an event.
    #[derive(
        Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        JsonSchema,
    )]
    pub enum WitnessName {
        /// Tracepoint `printk:console`.
        PrintkConsole = "printk:console",
        /// The kernel log device.
        Kmsg = "/dev/kmsg",
        /// Tracepoint `ras:aer_event`.
        RasAer = "ras:aer_event",
        /// Tracepoint `ras:mc_event`.
        RasMemory = "ras:mc_event",
        /// Tracepoint `mce:mce_record`.
        MceRecord = "mce:mce_record",
        /// Tracepoints `ras:arm_event` and `ras:non_standard_event`.
        RasFirmware = "ras:firmware",
        /// sysfs `aer_dev_*` counters.
        SysfsAer = "sysfs:aer",
        /// Tracepoint `oom:mark_victim`.
        OomVictim = "oom:mark_victim",
        /// Tracepoint `sched:sched_process_exit`.
        ProcessExit = "sched:sched_process_exit",
        /// Tracepoints `module:module_load` and `module:module_free`.
        Module = "module",
        /// Tracepoints `syscalls:sys_enter_ioctl` and `sys_exit_ioctl`.
        SyscallIoctl = "syscalls:ioctl",
        /// Probes on the NVIDIA driver's ioctl, open and close functions.
        DriverIoctl = "driver:ioctl",
        /// Probe on the NVIDIA driver's `nv_report_error`.
        ReportError = "nv_report_error",
        /// Tracepoint `nvidia:nvidia_dev_xid`.
        DevXid = "nvidia:nvidia_dev_xid",
        /// NVML samples.
        Nvml = "nvml",
        /// sysfs of PCI devices (link speed and width, presence).
        SysfsPci = "sysfs:pci",
        /// sysfs of RDMA devices (port states, rates, counters).
        SysfsRdma = "sysfs:rdma",
        /// /proc/driver/nvidia.
        ProcDriver = "/proc/driver/nvidia",
        /// A saved kernel log.
        File = "file",
        /// gtrace about itself.
        Gtrace = "gtrace",
    }
}

/// What one source saw of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Witness {
    /// The source.
    pub source: WitnessName,
    /// How many occurrences of the event this source saw (1 + the repeats it saw).
    pub count: u64,
    /// When it saw the first.
    pub first_time: Timestamp,
}
