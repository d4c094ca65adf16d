use gtrace_event::{Occurrence, RemovalCause, Severity};

use super::Verdict;
use crate::steps::HOST_EVIDENCE;

pub(super) fn oom_kill(occ: &Occurrence, v: Verdict) -> Verdict {
    match occ.detail.host.constraint.as_deref() {
        Some("CONSTRAINT_MEMCG") => v
            .refined("memcg", Severity::Warning)
            .meaning(&format!(
                "The kernel killed a process because {} reached its memory limit. The host has memory left.",
                match occ.detail.host.limit_cgroup.as_deref() {
                    Some(limit) => format!("the control group {limit}"),
                    None => "its control group".to_owned(),
                }
            ))
            .steps(&[
                "Raise the memory limit of the job or container, or lower its use.",
                "Count page cache and shared memory (/dev/shm) in: both belong to the limit.",
            ]),
        Some("CONSTRAINT_CPUSET" | "CONSTRAINT_MEMORY_POLICY") => v
            .refined("numa", Severity::Warning)
            .meaning("The kernel killed a process because the memory nodes that it was confined to were full. Other nodes may have memory left.")
            .first("Check the job's NUMA binding: numactl --show, cpuset of its control group."),
        Some("CONSTRAINT_NONE") => v
            .refined("host", Severity::Critical)
            .meaning("The kernel killed a process because memory of the host ran out.")
            .steps(&[
                "Find what filled the memory: the kernel log lists all processes at that moment.",
                "Lower the job's host memory use (loader workers, pinned buffers), or move it to a larger host.",
            ]),
        _ => v,
    }
}

/// Ten minutes: five times the kernel's default warning after 120 s.
const HUNG_FOR_GOOD_S: u64 = 600;

pub(super) fn hung_task(occ: &Occurrence, v: Verdict) -> Verdict {
    match occ.detail.host.seconds {
        Some(s) if s >= HUNG_FOR_GOOD_S => v
            .refined("long", Severity::Critical)
            .and(&format!("It has waited {s} s and will hardly come back.")),
        Some(s) => v.and(&format!("It has waited {s} s.")),
        None => v,
    }
}

/// Three times the watchdog's default of 20 s: no burst of work any more.
const STUCK_FOR_GOOD_S: u64 = 60;

pub(super) fn soft_lockup(occ: &Occurrence, v: Verdict) -> Verdict {
    let v = match occ.detail.host.cpu {
        Some(cpu) => v.and(&format!("It is CPU {cpu}.")),
        None => v,
    };
    match occ.detail.host.seconds {
        Some(s) if s >= STUCK_FOR_GOOD_S => v.refined("long", Severity::Critical),
        _ => v,
    }
}

/// Words of drivers/nvme/host/pci.c for a controller that is given up.
pub(super) fn nvme_timeout(occ: &Occurrence, v: Verdict) -> Verdict {
    let text = occ.message.to_ascii_lowercase();
    if [
        "disabl",
        "removing",
        "device not ready",
        "controller is down",
    ]
    .iter()
    .any(|word| text.contains(word))
    {
        return v.refined("controller", Severity::Critical).and(
            "The driver resets the controller or gives it up: what it stores may be out of reach.",
        );
    }
    v
}

pub(super) fn process_exit(occ: &Occurrence, v: Verdict) -> Verdict {
    let exit = &occ.detail.process_exit;
    // A shell reports the signal n that ended its command as exit status 128 + n.
    let by_shell = exit.exit_code.filter(|c| (129..=192).contains(c));
    let signal = exit.signal.or(by_shell.map(|c| c - 128)).filter(|s| *s > 0);
    let v = match (signal, exit.core_dumped) {
        (Some(_), Some(true)) => v.and("The kernel says that it dumped a core."),
        _ => v,
    };
    match (signal, exit.exit_code) {
        (Some(9), _) => v
            .refined("killed", Severity::Warning)
            .and("It was killed with SIGKILL: by the OOM killer, the scheduler or a person.")
            .first("Look for an oom_kill event of the same pid; if there is none, ask the scheduler's log who killed it."),
        (Some(n @ (1 | 2 | 3 | 13 | 15)), _) => v
            .refined("stopped", Severity::Info)
            .and(&format!("It was asked to end, by {}.", signal_name(n))),
        (Some(n), _) => v
            .refined("crashed", Severity::Warning)
            .and(&format!("It crashed, by {}.", signal_name(n))),
        (None, Some(0)) => v.refined("ok", Severity::Info).and("It ended well."),
        (None, Some(code)) => v
            .refined("failed", Severity::Warning)
            .and(&format!("It reported failure: exit status {code}.")),
        (None, None) => v.refined("unknown", Severity::Info),
    }
}

/// Numbers of x86-64 and aarch64 Linux.
fn signal_name(signal: u32) -> String {
    match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        31 => "SIGSYS",
        n => return format!("signal {n}"),
    }
    .to_owned()
}

/// A call this many times slower than its threshold is worth a look by itself.
const FAR_TOO_SLOW: u64 = 10;

pub(super) fn slow_call(occ: &Occurrence, v: Verdict) -> Verdict {
    let api = &occ.detail.api;
    if api.returned == Some(false) {
        return v
            .refined("hung", Severity::Warning)
            .and("It had not returned when this was seen.")
            .first("Look for an Xid of the same GPU, and read /proc/<pid>/stack: where it waits.");
    }
    match (api.latency_ns, api.threshold_ns) {
        (Some(took), Some(limit)) if took / FAR_TOO_SLOW >= limit.max(1) => {
            v.refined("far", Severity::Warning).and(&format!(
                "It took {} times as long as its threshold.",
                took / limit.max(1)
            ))
        }
        _ => v,
    }
}

pub(super) fn driver_mismatch(occ: &Occurrence, v: Verdict) -> Verdict {
    let detail = &occ.detail.xid;
    match (&detail.library_version, &detail.module_version) {
        (Some(library), Some(module)) => {
            v.and(&format!("The library is {library}, the module {module}."))
        }
        _ => v,
    }
}

pub(super) fn source_lost(occ: &Occurrence, v: Verdict) -> Verdict {
    let detail = &occ.detail.source;
    let v = match (&detail.source, detail.lost) {
        (Some(source), Some(lost)) => v.and(&format!("Lost: {lost} records of {source}.")),
        (Some(source), None) => v.and(&format!("The source is {source}.")),
        _ => v,
    };
    match detail.remedy.as_deref().filter(|r| !r.is_empty()) {
        Some(remedy) => v.first(remedy),
        None => v,
    }
}

pub(super) fn service_failed(occ: &Occurrence, v: Verdict) -> Verdict {
    let host = &occ.detail.host;
    let v = match &host.unit {
        Some(unit) => v.and(&format!("The service is {unit}.")),
        None => v,
    };
    match host.error.as_deref().unwrap_or("") {
        "runs again" => v.refined("ok", Severity::Info).and("It runs again."),
        "restarts" => v
            .refined("restarts", Severity::Warning)
            .and("It ends soon after each start."),
        "topology" => v
            .refined("topology", Severity::Critical)
            .meaning("The fabric manager has given up: the NVSwitches that it finds are those of no system that it knows, as where one is missing or failed. Without it they carry nothing, and CUDA starts on no GPU.")
            .steps(&[
                "Compare the NVSwitches with those that the host should have: lspci -d 10de: | grep -i bridge, ls /dev/nvidia-nvswitch*.",
                "Look for SXids and PCIe errors of the one that is missing since the boot.",
                HOST_EVIDENCE,
                "Restart the host; if one is still missing, cut its power. If that does not help, have the board inspected.",
            ]),
        "multicast" => v
            .refined("multicast", Severity::Warning)
            .meaning("A program asked for multicast over NVLink (NVLink SHARP), with a GPU that the fabric manager does not know. Its collective operations fail, or run without multicast.")
            .steps(&[
                "See which GPU is not registered with the fabric: nvidia-smi -q, Fabric; gtrace status.",
                "Look for an Xid, an SXid or a reset of a GPU before it.",
                "Once no job runs: systemctl restart nvidia-fabricmanager, and reset the GPUs together.",
            ]),
        _ if occ.severity >= Severity::Critical => v.refined("fabric", Severity::Critical).and(
            "Without it the NVSwitches of this host carry nothing, and CUDA starts on no GPU.",
        ),
        _ => v,
    }
}

pub(super) fn records_removed(occ: &Occurrence, v: Verdict) -> Verdict {
    match occ.detail.removal.removal {
        Some(RemovalCause::Damage) => v
            .refined("damage", Severity::Warning)
            .and("The file that held them is damaged and was moved aside, or somebody removed it.")
            .steps(&[
                "Look for disk errors and an unclean end of the host in the kernel log; check the disk: smartctl -a.",
                "Read what is left of the file, as the remedy says: sqlite3 FILE .dump.",
                "Delete the file when it is no longer needed: gtrace never does.",
            ]),
        Some(RemovalCause::Age) => v
            .refined("age", Severity::Info)
            .and("They were older than retention_days."),
        Some(RemovalCause::Size) => v
            .refined("size", Severity::Info)
            .and("The store was larger than retention_mb; the least severe events go first."),
        Some(RemovalCause::Unrecorded) => v
            .refined("unrecorded", Severity::Info)
            .and("A gtrace that recorded no removals had removed them."),
        None => v,
    }
}
