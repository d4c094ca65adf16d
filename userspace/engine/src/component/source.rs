//! Components whose events carry the name of a witness. Most share a thread: the probes' records are
//! taken by `drain`, sysfs and NVML are read by `devices`.

use std::time::Duration;

use gtrace_api::{ComponentHealth, HealthState, SourceState, SourceStatus};
use gtrace_devices::GpuInfo;
use gtrace_event::{Timestamp, WitnessName};

use super::gpus::judge_gpus;
use super::{About, Component, Context, Snapshot};
use crate::hub::Hub;
use crate::supervise::names;

/// So long after its last loss the kernel log counts as not read whole.
const LOSS_RECENT: Duration = Duration::from_secs(300);

/// A source, on any host.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The name that its events carry.
    pub witness: WitnessName,
    /// The thread by which it works.
    pub task: &'static str,
    /// What it gives.
    pub gives: &'static str,
    /// What it needs.
    pub needs: &'static str,
    /// How to get it where it is missing.
    pub remedy: &'static str,
}

macro_rules! sources {
    ($($witness:ident by $task:ident gives $gives:literal needs $needs:literal remedy $remedy:literal;)*) => {
        [$(Source {
            witness: WitnessName::$witness, task: names::$task, gives: $gives, needs: $needs, remedy: $remedy,
        }),*]
    };
}

/// Every source, in the order of `gtrace doctor`.
pub const SOURCES: [Source; 17] = sources! {
    PrintkConsole by DRAIN
        gives "every kernel log record as it is logged, whatever the console level"
        needs "tracefs, CAP_BPF and CAP_PERFMON (or root)"
        remedy "run as root; mount tracefs: mount -t tracefs tracefs /sys/kernel/tracing";
    Kmsg by KMSG
        gives "kernel log history, who wrote a record, exact count of lost records"
        needs "/dev/kmsg, and CAP_SYSLOG where kernel.dmesg_restrict=1"
        remedy "run as root or with CAP_SYSLOG";
    RasAer by DRAIN
        gives "PCIe errors with device, status and TLP header"
        needs "tracepoint ras:aer_event (CONFIG_RAS, CONFIG_PCIEAER)"
        remedy "a kernel with PCIe AER; until then the sysfs counters and the kernel log serve";
    RasMemory by DRAIN
        gives "errors of the host's memory modules with module and address, also those that the kernel does not log"
        needs "tracepoint ras:mc_event (CONFIG_RAS); an EDAC driver of the memory controller fires it"
        remedy "a kernel with CONFIG_RAS and an EDAC driver (lsmod | grep edac); until then the kernel log serves";
    MceRecord by DRAIN
        gives "machine checks with CPU, bank, status and address, also those that the kernel does not log"
        needs "tracepoint mce:mce_record (x86, CONFIG_X86_MCE)"
        remedy "none on other CPUs than x86; until then the kernel log serves";
    RasFirmware by DRAIN
        gives "hardware errors that the firmware reports (APEI): of Arm's CPUs, and of vendors' own kinds"
        needs "tracepoint ras:non_standard_event (CONFIG_RAS); ras:arm_event where the kernel has it"
        remedy "a kernel with CONFIG_RAS; until then the kernel log serves";
    SysfsAer by DEVICES
        gives "PCIe error counters of GPUs and the ports above them, polled"
        needs "aer_dev_* files of the PCI devices in sysfs"
        remedy "a kernel with CONFIG_PCIEAER, and AER left to the OS by the firmware (pcie_ports=native)";
    OomVictim by DRAIN
        gives "processes killed by the kernel for lack of memory, at once"
        needs "tracepoint oom:mark_victim"
        remedy "run as root with tracefs mounted; until then the kernel log serves";
    ProcessExit by DRAIN
        gives "exit status or signal of processes that had a GPU device open"
        needs "tracepoint sched:sched_process_exit and BTF (/sys/kernel/btf/vmlinux)"
        remedy "a kernel with CONFIG_DEBUG_INFO_BTF; run as root with tracefs mounted";
    Module by DRAIN
        gives "loads and unloads of the driver's modules, at once"
        needs "tracepoints module:module_load and module:module_free (CONFIG_MODULES)"
        remedy "none needed: devices are looked for every 2 s anyway";
    SyscallIoctl by DRAIN
        gives "latency histograms of driver calls, slow calls"
        needs "tracepoints syscalls:sys_enter_ioctl and sys_exit_ioctl (CONFIG_FTRACE_SYSCALLS), BTF"
        remedy "a kernel with CONFIG_FTRACE_SYSCALLS and CONFIG_DEBUG_INFO_BTF; run as root";
    DriverIoctl by DRAIN
        gives "every driver call with its control command or class and NV_STATUS, who has a GPU open"
        needs "a loaded NVIDIA driver and kprobes (CONFIG_KPROBES), BTF"
        remedy "the NVIDIA driver (modprobe nvidia) on a kernel with CONFIG_KPROBES and CONFIG_KPROBE_EVENTS; until then syscalls:ioctl serves";
    ReportError by DRAIN
        gives "every Xid with its GPU, at once, logged or not"
        needs "a loaded NVIDIA driver, kprobes (CONFIG_KPROBES) and BTF"
        remedy "the NVIDIA driver (modprobe nvidia) on a kernel with CONFIG_KPROBES and CONFIG_KPROBE_EVENTS; until then the kernel log serves";
    DevXid by DRAIN
        gives "every Xid with its text, logged or not"
        needs "NVIDIA driver 575.51.02 or later, and dev_xid_tracepoint = true"
        remedy "a newer driver; nv_report_error and the kernel log serve as well";
    Nvml by DEVICES
        gives "utilisation, memory, temperature, power, clocks, ECC, NVLink, processes"
        needs "libnvidia-ml.so.1 and a loaded NVIDIA driver"
        remedy "install the NVIDIA driver, which gtrace finds when it appears; where NVML fails or hangs, `gtrace events` \
                 says what is wrong with the GPU, and `gtrace pause` and `gtrace resume` ask again at once";
    SysfsPci by DEVICES
        gives "which GPUs PCI has, their link speed and width, GPUs that vanish"
        needs "sysfs"
        remedy "mount sysfs at /sys";
    ProcDriver by DEVICES
        gives "driver version, GPUs as the driver sees them"
        needs "/proc/driver/nvidia (a loaded NVIDIA driver)"
        remedy "load the NVIDIA driver: modprobe nvidia";
};

impl Component for Source {
    fn about(&self) -> About {
        About {
            name: self.witness.name(),
            gives: self.gives,
            needs: self.needs,
            remedy: self.remedy,
            task: self.task,
        }
    }

    fn witness(&self) -> Option<WitnessName> {
        Some(self.witness)
    }

    fn judges_absence(&self) -> bool {
        self.witness == WitnessName::Nvml
    }

    /// There is a rule for the kernel log, NVML and PCI. The others report events, and do not
    /// judge by them.
    fn check(&self, context: &Context, now: &Snapshot) -> ComponentHealth {
        let Some(source) = now.source(self.name()) else {
            return unknown("it is not shown");
        };
        let reason = source.reason.as_deref().unwrap_or("no reason given");
        match (self.witness, source.state) {
            (WitnessName::Nvml, SourceState::Absent) => without_driver(&context.hub.gpus(), reason),
            (WitnessName::Nvml, SourceState::Failed) => {
                ComponentHealth::now(HealthState::Unhealthy, [reason.to_owned()])
            }
            (_, SourceState::Failed) => unknown(reason),
            (WitnessName::PrintkConsole | WitnessName::Kmsg, _) => log_health(source, &context.hub),
            (WitnessName::SysfsPci | WitnessName::SysfsAer, SourceState::Degraded) => {
                ComponentHealth::now(HealthState::Degraded, [reason.to_owned()])
            }
            (WitnessName::Nvml, _) => {
                let (state, reasons) = judge_gpus(&context.hub.gpus());
                ComponentHealth::now(state, reasons)
            }
            (WitnessName::SysfsPci, _) => ComponentHealth::now(HealthState::Healthy, None),
            _ => unknown("it reports events and does not judge by them"),
        }
    }
}

/// A host with GPUs that no program can use, as the driver is not loaded. Those that were given to virtual machines are used
/// there, and a GPU that the driver's /proc shows has a driver, though gtrace does not find its library.
fn without_driver(gpus: &[GpuInfo], reason: &str) -> ComponentHealth {
    let unusable = gpus
        .iter()
        .filter(|gpu| gpu.present_in.pci && !gpu.present_in.proc && !gpu.is_passed_through());
    match unusable.count() {
        0 => unknown(reason),
        count => {
            let gpus = if count == 1 { "GPU" } else { "GPUs" };
            let text = format!("no program can use {count} {gpus} of this host: {reason}");
            ComponentHealth::now(HealthState::Unhealthy, [text])
        }
    }
}

fn unknown(reason: &str) -> ComponentHealth {
    ComponentHealth::now(HealthState::Unknown, [reason.to_owned()])
}

/// Degraded while records of the kernel log were lost a short time ago: what they said is not known.
fn log_health(source: &SourceStatus, hub: &Hub) -> ComponentHealth {
    match hub.metrics.last_loss(&source.name) {
        Some(age) if age < LOSS_RECENT => {
            let at = Timestamp::now().saturating_sub(age).unwrap_or_default();
            // The reason is kept: later an age would be wrong.
            let reason = format!(
                "records were lost, the last at {}, {} since the start",
                at.strftime("%H:%M:%S UTC"),
                source.lost
            );
            ComponentHealth::now(HealthState::Degraded, [reason])
        }
        _ => ComponentHealth::now(HealthState::Healthy, None),
    }
}
