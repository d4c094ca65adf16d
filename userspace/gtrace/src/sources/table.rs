//! The one table of sources: what each gives, what it needs, how it stands here.

use gtrace_event::WitnessName;

use super::probes::reason_of;
use crate::bpf::AttachState;
use crate::hub::{Hub, SourceState, SourceStatus};

/// A source, on any host.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The name that its events carry.
    pub witness: WitnessName,
    /// What it gives.
    pub gives: &'static str,
    /// What it needs.
    pub needs: &'static str,
    /// How to get it where it is missing.
    pub remedy: &'static str,
}

/// Every source, in the order of `gtrace doctor`.
pub const SOURCES: [Source; 15] = [
    Source {
        witness: WitnessName::PrintkConsole,
        gives: "every kernel log record as it is logged, whatever the console level",
        needs: "tracefs, CAP_BPF and CAP_PERFMON (or root)",
        remedy: "run as root; mount tracefs: mount -t tracefs tracefs /sys/kernel/tracing",
    },
    Source {
        witness: WitnessName::Kmsg,
        gives: "kernel log history, who wrote a record, exact count of lost records",
        needs: "/dev/kmsg, and CAP_SYSLOG where kernel.dmesg_restrict=1",
        remedy: "run as root or with CAP_SYSLOG",
    },
    Source {
        witness: WitnessName::RasAer,
        gives: "PCIe errors with device, status and TLP header",
        needs: "tracepoint ras:aer_event (CONFIG_RAS, CONFIG_PCIEAER)",
        remedy: "a kernel with PCIe AER; until then the sysfs counters and the kernel log serve",
    },
    Source {
        witness: WitnessName::SysfsAer,
        gives: "PCIe error counters of GPUs and the ports above them, polled",
        needs: "aer_dev_* files of the PCI devices in sysfs",
        remedy: "a kernel with CONFIG_PCIEAER, and AER left to the OS by the firmware (pcie_ports=native)",
    },
    Source {
        witness: WitnessName::OomVictim,
        gives: "processes killed by the kernel for lack of memory, at once",
        needs: "tracepoint oom:mark_victim",
        remedy: "run as root with tracefs mounted; until then the kernel log serves",
    },
    Source {
        witness: WitnessName::ProcessExit,
        gives: "exit status or signal of processes that had a GPU device open",
        needs: "tracepoint sched:sched_process_exit and BTF (/sys/kernel/btf/vmlinux)",
        remedy: "a kernel with CONFIG_DEBUG_INFO_BTF; run as root with tracefs mounted",
    },
    Source {
        witness: WitnessName::Module,
        gives: "loads and unloads of the driver's modules, at once",
        needs: "tracepoints module:module_load and module:module_free (CONFIG_MODULES)",
        remedy: "none needed: devices are looked for every 2 s anyway",
    },
    Source {
        witness: WitnessName::SyscallIoctl,
        gives: "latency histograms of driver calls, slow calls",
        needs: "tracepoints syscalls:sys_enter_ioctl and sys_exit_ioctl (CONFIG_FTRACE_SYSCALLS), BTF",
        remedy: "a kernel with CONFIG_FTRACE_SYSCALLS and CONFIG_DEBUG_INFO_BTF; run as root",
    },
    Source {
        witness: WitnessName::DriverIoctl,
        gives: "every driver call with its control command or class and NV_STATUS, who has a GPU open",
        needs: "a loaded NVIDIA driver and kprobes (CONFIG_KPROBES), BTF",
        remedy: "a kernel with CONFIG_KPROBES; until then syscalls:ioctl serves",
    },
    Source {
        witness: WitnessName::ReportError,
        gives: "every Xid with its GPU, at once, logged or not",
        needs: "a loaded NVIDIA driver, kprobes (CONFIG_KPROBES) and BTF",
        remedy: "a kernel with CONFIG_KPROBES; until then the kernel log serves",
    },
    Source {
        witness: WitnessName::DevXid,
        gives: "every Xid with its text, logged or not",
        needs: "NVIDIA driver 575.51.02 or later, and dev_xid_tracepoint = true",
        remedy: "a newer driver; nv_report_error and the kernel log serve as well",
    },
    Source {
        witness: WitnessName::Nvml,
        gives: "utilisation, memory, temperature, power, clocks, ECC, NVLink, processes",
        needs: "libnvidia-ml.so.1 and a loaded NVIDIA driver",
        remedy: "install the NVIDIA driver; gtrace finds it when it appears",
    },
    Source {
        witness: WitnessName::SysfsPci,
        gives: "which GPUs PCI has, their link speed and width, GPUs that vanish",
        needs: "sysfs",
        remedy: "mount sysfs at /sys",
    },
    Source {
        witness: WitnessName::SysfsRdma,
        gives: "InfiniBand and RoCE ports: state, rate, link errors, retransmissions, devices that vanish",
        needs: "RDMA devices in /sys/class/infiniband, and pci_interval_s above 0",
        remedy: "load the adapter's RDMA driver (mlx5_ib), or switch this source off",
    },
    Source {
        witness: WitnessName::ProcDriver,
        gives: "driver version, GPUs as the driver sees them",
        needs: "/proc/driver/nvidia (a loaded NVIDIA driver)",
        remedy: "load the NVIDIA driver: modprobe nvidia",
    },
];

/// Every source, not looked at yet.
pub fn initial() -> Vec<SourceStatus> {
    SOURCES.iter().map(status).collect()
}

fn status(source: &Source) -> SourceStatus {
    SourceStatus {
        name: source.witness.name().to_owned(),
        witness: Some(source.witness),
        state: SourceState::Off,
        gives: source.gives.to_owned(),
        needs: source.needs.to_owned(),
        reason: None,
        remedy: None,
        records: 0,
        lost: 0,
    }
}

/// Sets how a source stands; the remedy is added where it is not well.
pub fn set_state(
    statuses: &mut [SourceStatus],
    witness: WitnessName,
    state: SourceState,
    reason: Option<String>,
) {
    let Some(source) = SOURCES.iter().find(|s| s.witness == witness) else {
        return;
    };
    let Some(status) = statuses.iter_mut().find(|s| s.witness == Some(witness)) else {
        return;
    };
    status.state = state;
    status.reason = reason;
    status.remedy = match state {
        SourceState::Active | SourceState::Off => None,
        SourceState::Degraded | SourceState::Absent | SourceState::Failed => {
            Some(source.remedy.to_owned())
        }
    };
}

/// Shows in the hub how a source stands.
pub fn show(hub: &Hub, witness: WitnessName, state: SourceState, reason: Option<String>) {
    hub.update_status(|status| set_state(&mut status.sources, witness, state, reason));
}

/// How a probe's state shows.
pub fn state_of(state: &AttachState) -> (SourceState, Option<String>) {
    let shown = match state {
        AttachState::Attached => SourceState::Active,
        AttachState::Degraded(_) => SourceState::Degraded,
        AttachState::Off
        | AttachState::Paused
        | AttachState::Held(_)
        | AttachState::Replaced(_) => SourceState::Off,
        AttachState::Absent(_) => SourceState::Absent,
        AttachState::Failed(_) => SourceState::Failed,
    };
    let reason = match state {
        AttachState::Paused => Some("paused".to_owned()),
        AttachState::Held(reason) => Some((*reason).to_owned()),
        AttachState::Replaced(by) => Some(format!("not needed: {} sees the calls", by.name())),
        _ => reason_of(state).map(str::to_owned),
    };
    (shown, reason)
}

pub(super) fn show_probe(hub: &Hub, witness: WitnessName, state: &AttachState) {
    let (shown, reason) = state_of(state);
    show(hub, witness, shown, reason);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_witness_that_is_a_source_is_in_the_table_once() {
        for witness in WitnessName::ALL {
            let rows = SOURCES.iter().filter(|s| s.witness == witness).count();
            let want = usize::from(!matches!(witness, WitnessName::File | WitnessName::Gtrace));
            assert_eq!(rows, want, "{witness}");
        }
    }

    #[test]
    fn only_what_is_not_well_has_a_remedy() {
        let mut statuses = initial();
        let absent = Some("no driver".to_owned());
        set_state(
            &mut statuses,
            WitnessName::Nvml,
            SourceState::Absent,
            absent,
        );
        set_state(&mut statuses, WitnessName::Kmsg, SourceState::Active, None);
        let get = |w| statuses.iter().find(|s| s.witness == Some(w)).unwrap();
        assert!(
            get(WitnessName::Nvml)
                .remedy
                .as_ref()
                .unwrap()
                .contains("driver")
        );
        assert!(get(WitnessName::Kmsg).remedy.is_none());
    }
}
