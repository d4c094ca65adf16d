use std::fmt;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A source that can see an event.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum WitnessName {
    /// Tracepoint `printk:console`.
    #[serde(rename = "printk:console")]
    PrintkConsole,
    /// The kernel log device.
    #[serde(rename = "/dev/kmsg")]
    Kmsg,
    /// Tracepoint `ras:aer_event`.
    #[serde(rename = "ras:aer_event")]
    RasAer,
    /// Tracepoint `ras:mc_event`.
    #[serde(rename = "ras:mc_event")]
    RasMemory,
    /// Tracepoint `mce:mce_record`.
    #[serde(rename = "mce:mce_record")]
    MceRecord,
    /// Tracepoints `ras:arm_event` and `ras:non_standard_event`.
    #[serde(rename = "ras:firmware")]
    RasFirmware,
    /// sysfs `aer_dev_*` counters.
    #[serde(rename = "sysfs:aer")]
    SysfsAer,
    /// Tracepoint `oom:mark_victim`.
    #[serde(rename = "oom:mark_victim")]
    OomVictim,
    /// Tracepoint `sched:sched_process_exit`.
    #[serde(rename = "sched:sched_process_exit")]
    ProcessExit,
    /// Tracepoints `module:module_load` and `module:module_free`.
    #[serde(rename = "module")]
    Module,
    /// Tracepoints `syscalls:sys_enter_ioctl` and `sys_exit_ioctl`.
    #[serde(rename = "syscalls:ioctl")]
    SyscallIoctl,
    /// Probes on the NVIDIA driver's ioctl, open and close functions.
    #[serde(rename = "driver:ioctl")]
    DriverIoctl,
    /// Probe on the NVIDIA driver's `nv_report_error`.
    #[serde(rename = "nv_report_error")]
    ReportError,
    /// Tracepoint `nvidia:nvidia_dev_xid`.
    #[serde(rename = "nvidia:nvidia_dev_xid")]
    DevXid,
    /// NVML samples.
    #[serde(rename = "nvml")]
    Nvml,
    /// sysfs of PCI devices (link speed and width, presence).
    #[serde(rename = "sysfs:pci")]
    SysfsPci,
    /// sysfs of RDMA devices (port states, rates, counters).
    #[serde(rename = "sysfs:rdma")]
    SysfsRdma,
    /// /proc/driver/nvidia.
    #[serde(rename = "/proc/driver/nvidia")]
    ProcDriver,
    /// A saved kernel log.
    #[serde(rename = "file")]
    File,
    /// gtrace about itself.
    #[serde(rename = "gtrace")]
    Gtrace,
}

impl WitnessName {
    /// Every witness.
    pub const ALL: [Self; 20] = [
        Self::PrintkConsole,
        Self::Kmsg,
        Self::RasAer,
        Self::RasMemory,
        Self::MceRecord,
        Self::RasFirmware,
        Self::SysfsAer,
        Self::OomVictim,
        Self::ProcessExit,
        Self::Module,
        Self::SyscallIoctl,
        Self::DriverIoctl,
        Self::ReportError,
        Self::DevXid,
        Self::Nvml,
        Self::SysfsPci,
        Self::SysfsRdma,
        Self::ProcDriver,
        Self::File,
        Self::Gtrace,
    ];

    /// The name used in JSON and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PrintkConsole => "printk:console",
            Self::Kmsg => "/dev/kmsg",
            Self::RasAer => "ras:aer_event",
            Self::RasMemory => "ras:mc_event",
            Self::MceRecord => "mce:mce_record",
            Self::RasFirmware => "ras:firmware",
            Self::SysfsAer => "sysfs:aer",
            Self::OomVictim => "oom:mark_victim",
            Self::ProcessExit => "sched:sched_process_exit",
            Self::Module => "module",
            Self::SyscallIoctl => "syscalls:ioctl",
            Self::DriverIoctl => "driver:ioctl",
            Self::ReportError => "nv_report_error",
            Self::DevXid => "nvidia:nvidia_dev_xid",
            Self::Nvml => "nvml",
            Self::SysfsPci => "sysfs:pci",
            Self::SysfsRdma => "sysfs:rdma",
            Self::ProcDriver => "/proc/driver/nvidia",
            Self::File => "file",
            Self::Gtrace => "gtrace",
        }
    }
}

impl fmt::Display for WitnessName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
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
