//! Lines of the kernel log about the host: the decoder's word for the error decides.

use gtrace_event::{Occurrence, Severity};

use super::Verdict;

fn error(occ: &Occurrence) -> &str {
    occ.detail.host.error.as_deref().unwrap_or("")
}

pub(super) fn gpu_hang(occ: &Occurrence, v: Verdict) -> Verdict {
    if error(occ) == "RC watchdog" {
        return v
            .refined("watchdog", Severity::Warning)
            .and("Its own watchdog got no answer within its time, as after a kernel that runs for seconds on a GPU with a display.");
    }
    if error(occ).contains("GSP") {
        return v
            .refined("gsp", Severity::Critical)
            .and("Its firmware (GSP) does not answer.")
            .after_evidence("Drain the host and reset the GPU.");
    }
    v
}

pub(super) fn iommu_fault(occ: &Occurrence, v: Verdict) -> Verdict {
    match occ.gpu.is_some() {
        true => v
            .refined("gpu", Severity::Critical)
            .and("The device is a GPU: its program fails, or reads and writes nothing."),
        false => v,
    }
}

pub(super) fn cpu_stall(occ: &Occurrence, v: Verdict) -> Verdict {
    match (error(occ), occ.detail.host.cpu) {
        ("hard lockup", cpu) => {
            let v = v.refined("hard_lockup", Severity::Critical);
            match cpu {
                Some(cpu) => v.and(&format!("CPU {cpu} takes no interrupts.")),
                None => v,
            }
        }
        ("work queue stuck", _) => v.refined("work_queue", Severity::Warning),
        (rcu, _) if rcu.starts_with("RCU") => v.refined("rcu", Severity::Warning),
        _ => v,
    }
}

pub(super) fn machine_check(occ: &Occurrence, v: Verdict) -> Verdict {
    match (occ.severity, occ.detail.host.corrected) {
        (_, Some(true)) => v
            .refined("corrected", Severity::Info)
            .and("The hardware corrected it. Single ones are normal; a rising rate comes before a failure."),
        (Severity::Fatal, Some(false)) => v
            .refined("fatal", Severity::Fatal)
            .and("The kernel stops the host."),
        (_, Some(false)) if error(occ) == "deferred error" => v
            .refined("deferred", Severity::Critical)
            .and("It could not be corrected, and nothing had used the data yet: a program that does is ended.")
            .first("Take the host out of service."),
        (_, Some(false)) => v
            .refined("uncorrected", Severity::Critical)
            .and("It could not be corrected: programs were hit.")
            .first("Take the host out of service."),
        (_, None) => v,
    }
}

pub(super) fn dimm_error(occ: &Occurrence, v: Verdict) -> Verdict {
    let v = match &occ.detail.host.dimm {
        Some(dimm) => v.and(&format!("It is {dimm}.")),
        None => v,
    };
    match occ.detail.host.corrected {
        Some(true) => v.refined("corrected", Severity::Info).and(
            "ECC corrected them. Single ones are normal; a rising rate comes before a failure.",
        ),
        Some(false) => v.refined("uncorrected", Severity::Critical).and(
            "ECC could not correct them: data is lost, and the kernel ends programs that had it.",
        ),
        None => v,
    }
}

pub(super) fn efa_error(occ: &Occurrence, v: Verdict) -> Verdict {
    match error(occ).starts_with("command") {
        true => v
            .refined("command", Severity::Warning)
            .and("It refused one command, as for a program that asks for too much.")
            .first("Read the program's log: libfabric reports the same error."),
        false => v,
    }
}

pub(super) fn netfs_stall(occ: &Occurrence, v: Verdict) -> Verdict {
    let v = match &occ.detail.host.server {
        Some(server) => v.and(&format!("The server is {server}.")),
        None => v,
    };
    match error(occ) {
        "answers again" => v.refined("ok", Severity::Info).and("It answers again."),
        "timed out" => v
            .refined("timed_out", Severity::Warning)
            .and("The mount is soft: programs got an error, and files may be cut short."),
        _ => v,
    }
}

pub(super) fn disk_lost(occ: &Occurrence, v: Verdict) -> Verdict {
    match error(occ) {
        "no usable path" => v
            .refined("path", Severity::Warning)
            .and("Its requests wait for a path."),
        _ => v,
    }
}

pub(super) fn raid_degraded(occ: &Occurrence, v: Verdict) -> Verdict {
    match error(occ) {
        "array failed" => v
            .refined("failed", Severity::Critical)
            .and("The array has no redundancy left: it fails, and its data is out of reach.")
            .steps(&[
                "Move the jobs off.",
                "Replace the disk, make the array anew and restore from a backup.",
            ]),
        "disk failed" => v.and("The array goes on without redundancy."),
        _ => v,
    }
}

pub(super) fn io_error(occ: &Occurrence, v: Verdict) -> Verdict {
    match error(occ).starts_with("lost ") {
        true => v
            .refined("lost_write", Severity::Critical)
            .and("Data that programs had written is lost."),
        false => v,
    }
}

pub(super) fn host_restart(occ: &Occurrence, v: Verdict) -> Verdict {
    match error(occ) {
        "" | "no shutdown" => v,
        reason => v
            .refined("panic", Severity::Critical)
            .and(&format!("The kernel stopped the host: {reason}.")),
    }
}

pub(super) fn fs_error(occ: &Occurrence, v: Verdict) -> Verdict {
    match error(occ) {
        "superblock not written" | "journal aborted" | "log not written" => v
            .refined("journal", Severity::Critical)
            .and("What it needs to stay consistent cannot be written: it becomes read-only next."),
        _ => v,
    }
}
