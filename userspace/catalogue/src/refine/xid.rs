use gtrace_event::{Occurrence, Severity, XidDetail};

use super::Verdict;
use crate::nvlink5::{Nvlink5Severity, nvlink5_decode};
use crate::steps::{DRAIN, IGNORE, REBOOT, RESET_GPU};
use crate::table;

pub(super) fn verdict(occ: &Occurrence, base: Verdict) -> Verdict {
    let detail = &occ.detail.xid;
    let Some(code) = detail.xid else {
        return base;
    };
    let Some(entry) = table::xid(code) else {
        return Verdict {
            rule: "xid:unknown".to_owned(),
            ..base
        }
        .and(&format!("The code is {code}."));
    };
    let rule = format!("xid:{code}");
    let v = Verdict::new(entry.severity, entry.meaning, entry.vendor, rule);
    match code {
        31 => mmu_fault(detail, v),
        45 => preempted(detail, v),
        74 => nvlink4(occ, v),
        94 | 95 => memory_error(detail, v),
        119 => gsp_timeout(detail, v),
        144..=150 => nvlink5(occ, code, v),
        154 => recovery(detail, v),
        _ => v,
    }
}

fn mmu_fault(detail: &XidDetail, v: Verdict) -> Verdict {
    match detail.fault_type.as_deref() {
        Some("FAULT_PDE" | "FAULT_PTE") => {
            v.and("Nothing is mapped at the address: it was never allocated, or freed too early.")
        }
        Some("FAULT_RO_VIOLATION" | "FAULT_WO_VIOLATION" | "FAULT_ATOMIC_VIOLATION") => {
            v.and("The address is mapped, but not for this kind of access.")
        }
        _ => v,
    }
}

fn preempted(detail: &XidDetail, v: Verdict) -> Verdict {
    match detail.caused_by_xid {
        Some(cause) => v
            .refined("caused", Severity::Info)
            .and(&format!("This one follows from the Xid {cause} before it."))
            .steps(&[&format!(
                "Follow the Xid {cause} before it on the same GPU."
            )]),
        None => v,
    }
}

fn memory_error(detail: &XidDetail, v: Verdict) -> Verdict {
    match (detail.reset_required, detail.drain_reset_required) {
        (Some(true), _) => v
            .refined("reset", Severity::Fatal)
            .and("The driver asks for a reset of the GPU.")
            .after_evidence(RESET_GPU),
        (_, Some(true)) => v
            .refined("drain_reset", Severity::Critical)
            .and("The driver asks to drain the GPU and then to reset it.")
            .after_evidence(RESET_GPU)
            .first(DRAIN),
        (Some(false), Some(false)) => {
            let severity = v.severity.min(Severity::Critical);
            v.refined("no_reset", severity)
                .and("The driver asks for no reset.")
        }
        _ => v,
    }
}

fn gsp_timeout(detail: &XidDetail, v: Verdict) -> Verdict {
    match (detail.gsp_timeout_s, detail.gsp_function_name.as_deref()) {
        (Some(s), Some(name)) => v.and(&format!("It waited {s} s for {name}.")),
        (Some(s), None) => v.and(&format!("It waited {s} s.")),
        _ => v,
    }
}

/// The strings are the driver's; another one is taken at its word. Those after `drain and reset` are of NVML's list, whose
/// lines nobody has published.
pub(super) fn recovery(detail: &XidDetail, v: Verdict) -> Verdict {
    let Some(to) = detail.recovery_to.as_deref() else {
        return v;
    };
    match to.trim().to_ascii_lowercase().as_str() {
        "none" => v
            .refined("none", Severity::Info)
            .and("The GPU has recovered: nothing is asked for any more.")
            .steps(&[IGNORE]),
        "gpu reset required" => v
            .refined("gpu_reset", Severity::Fatal)
            .and("The GPU takes no new work until it is reset.")
            .after_evidence(RESET_GPU),
        "node reboot required" => v
            .refined("node_reboot", Severity::Fatal)
            .and("The GPU takes no new work until the host restarts.")
            .after_evidence(REBOOT),
        "drain p2p" => v
            .refined("drain_p2p", Severity::Critical)
            .and("Peer-to-peer traffic of the GPU has to end before it can recover.")
            .first("End the jobs that use peer-to-peer traffic with this GPU, then watch for the next Xid 154."),
        "drain and reset" => v
            .refined("drain_and_reset", Severity::Critical)
            .and("Running work may finish, but the GPU needs a reset after it.")
            .after_evidence(RESET_GPU)
            .first(DRAIN),
        "recover imex domain" => v
            .refined("recover_imex_domain", Severity::Critical)
            .and("It is about the IMEX domain, by which hosts share memory over NVLink.")
            .first("See the state of the domain and of each of its hosts: nvidia-imex-ctl -N; restart the service nvidia-imex where it failed."),
        "bus reset" => v
            .refined("bus_reset", Severity::Fatal)
            .and("The driver asks for a reset of the GPU's PCIe bus.")
            .after_evidence(RESET_GPU),
        "system reboot" => v
            .refined("system_reboot", Severity::Fatal)
            .and("The driver asks for a restart of the system.")
            .after_evidence(REBOOT),
        other => {
            let sentence = format!("The recovery action `{other}` is not in this version's catalogue.");
            v.refined("unknown", Severity::Critical).and(&sentence)
        }
    }
}

/// NVLink 4 and older: the bits that the public catalogue explains, by status word.
fn nvlink4(occ: &Occurrence, v: Verdict) -> Verdict {
    let v = with_link(occ, v);
    let words = status_words(occ);
    if words.len() < 5 || words.iter().all(|w| *w == 0) {
        return v;
    }
    let word = |n: usize| words.get(n).copied().unwrap_or(0);
    // First, fourth and fifth of the words; the second has no public meaning.
    let only = |first: u32, fourth: u32, fifth: u32| {
        word(0) & !first == 0
            && word(1) == 0
            && word(2) == 0
            && word(3) & !fourth == 0
            && word(4) & !fifth == 0
            && words.iter().skip(5).all(|w| *w == 0)
    };
    let ignorable = bits(&[0, 23, 30]);
    let follows = ignorable | bits(&[1, 20]);
    let marginal = ignorable | bits(&[21, 22]);
    let ecc_rate = bits(&[20, 23, 26, 29]);
    if only(ignorable, 0, 0) {
        v.refined("ignorable", Severity::Info)
            .and("Its status bits may be ignored.")
            .steps(&[IGNORE])
    } else if only(ignorable, 0, ecc_rate) {
        v.refined("ecc_rate", Severity::Warning)
            .and("Its status bits say that corrected errors crossed a limit; nothing is lost.")
            .steps(&[
                IGNORE,
                "Run the field diagnostic on the link at the next convenient time.",
            ])
    } else if only(marginal, 0, 0) {
        v.refined("marginal", Severity::Warning)
            .and("Its status bits say that the link's signal is marginal.")
    } else if only(follows, bits(&[16, 17]), 0) {
        v.refined("follows", Severity::Warning)
            .and("Its status bits say that it follows from another error.")
            .first("Follow the other Xid or SXid of the same time first; report it where there is none.")
    } else {
        v
    }
}

/// `(0x10000, 0x0, 0x10000, …)` at the end of the text, where the decoder left them there.
fn status_words(occ: &Occurrence) -> Vec<u32> {
    let words = &occ.detail.xid.words;
    if !words.is_empty() {
        return words.iter().filter_map(|w| hex(w)).collect();
    }
    let inner = occ.message.rsplit_once('(').map_or("", |(_, rest)| rest);
    let inner = inner.split(')').next().unwrap_or("");
    let words = inner.split(',').map(|w| hex(w.trim()));
    words.collect::<Option<_>>().unwrap_or_default()
}

const fn bits(list: &[u32]) -> u32 {
    let mut mask = 0;
    let mut n = 0;
    while n < list.len() {
        mask |= 1 << list[n];
        n += 1;
    }
    mask
}

fn nvlink5(occ: &Occurrence, code: u32, v: Verdict) -> Verdict {
    let detail = &occ.detail.xid;
    let v = with_link(occ, v);
    let declared = detail.sub_severity.as_deref().map(str::to_ascii_lowercase);
    let fatal = declared.as_deref().map(|s| s.starts_with("fatal"));
    let status = detail.words.get(1).and_then(|w| hex(w));
    let decode = detail
        .sub_unit
        .as_deref()
        .zip(status)
        .and_then(|(unit, s)| nvlink5_decode(code, unit, detail.sub_code.unwrap_or(0), s));
    let Some(decode) = decode else {
        return match fatal {
            Some(true) => v
                .refined("fatal", Severity::Fatal)
                .after_evidence(RESET_GPU),
            Some(false) => v.refined("nonfatal", Severity::Warning),
            None => v,
        };
    };
    // The line knows what happened on this GPU; the decode only what happens as a rule.
    let fatal = fatal.unwrap_or(decode.severity >= Nvlink5Severity::LinkFatal);
    let promoted = fatal && decode.severity == Nvlink5Severity::Promotable;
    let (part, severity) = match (fatal, decode.ignore && !promoted) {
        (true, false) => ("fatal", Severity::Fatal),
        (true, true) => ("fatal", Severity::Critical),
        (false, true) if decode.investigate.is_none() => ("nonfatal", Severity::Info),
        (false, _) => ("nonfatal", Severity::Warning),
    };
    let immediate = if promoted {
        RESET_GPU
    } else {
        decode.immediate
    };
    let v = match decode.reason {
        Some(reason) => v.and(&format!("The link went down: {reason}.")),
        None => v,
    };
    let steps: Vec<&str> = [Some(immediate), decode.investigate]
        .into_iter()
        .flatten()
        .collect();
    let v = v.refined(part, severity).steps(&steps);
    match immediate == RESET_GPU {
        true => v.after_evidence(RESET_GPU),
        false => v,
    }
}

fn with_link(occ: &Occurrence, v: Verdict) -> Verdict {
    match occ.detail.fabric.link {
        Some(link) if link >= 0 => v.and(&format!("It is about link {link}.")),
        _ => v,
    }
}

fn hex(word: &str) -> Option<u32> {
    let digits = word.strip_prefix("0x").unwrap_or(word);
    u32::from_str_radix(digits, 16).ok()
}
