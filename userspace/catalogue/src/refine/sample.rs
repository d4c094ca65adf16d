use gtrace_event::{Occurrence, Severity};

use super::Verdict;
use crate::steps::EVIDENCE;

/// NVML's reasons come as constants, CamelCase or words; letters decide.
fn letters(text: &str) -> String {
    text.chars()
        .filter(char::is_ascii_alphanumeric)
        .collect::<String>()
        .to_ascii_lowercase()
}

/// Metric name and message, for sources that say the rest in either.
fn words(occ: &Occurrence) -> String {
    let metric = occ.detail.sample.metric.as_deref().unwrap_or("");
    letters(&format!("{metric} {}", occ.message))
}

/// The worst of the reasons decides. Source: NVML's clock event reasons.
pub(super) fn throttle(occ: &Occurrence, v: Verdict) -> Verdict {
    let sample = &occ.detail.sample;
    let mut reasons = letters(&sample.reasons.join(" "));
    if sample.reasons.is_empty() {
        reasons = words(occ);
    }
    let has = |word: &str| reasons.contains(word);
    if has("hwthermal") {
        v.refined("hw_thermal", Severity::Critical)
            .and("The hardware halves the clocks or worse because the GPU is too hot; if it gets hotter, it shuts down.")
            .first("Check cooling at once: fans, airflow, inlet temperature, blocked or unseated heat sink.")
    } else if has("hwpowerbrake") || has("powerbrake") {
        v.refined("hw_power_brake", Severity::Critical)
            .and("The power supply or the host asked the GPU to brake; all GPUs of the host may be slow.")
            .first("Check the host's power supplies and their redundancy, and the power limit of the rack.")
    } else if has("hwslowdown") {
        v.refined("hw_slowdown", Severity::Warning).and(
            "The hardware slows the GPU down, for heat, power brake or a too fast draw of power.",
        )
    } else if has("swthermal") {
        v.refined("sw_thermal", Severity::Warning).and(
            "The driver lowers the clocks to keep GPU or memory below their temperature limit.",
        )
    } else if has("swpowercap") || has("powercap") {
        v.refined("sw_power_cap", Severity::Info)
            .and("The driver keeps the GPU within its power limit, as it does under full load.")
    } else if ["idle", "clockssetting", "syncboost", "displayclock"]
        .iter()
        .any(|w| has(w))
    {
        v.refined("by_choice", Severity::Info).and(
            "The clocks are low by choice: idle, a clock setting, or kept equal with other GPUs.",
        )
    } else {
        v
    }
}

pub(super) fn ecc(occ: &Occurrence, v: Verdict) -> Verdict {
    let text = words(occ);
    let uncorrected = ["uncorrect", "doublebit", "dbe"]
        .iter()
        .any(|w| text.contains(w));
    let corrected = ["correct", "singlebit", "sbe"]
        .iter()
        .any(|w| text.contains(w));
    let sample = &occ.detail.sample;
    if text.contains("sramthreshold") {
        v.refined("sram_threshold", Severity::Critical)
            .meaning("On-chip memory (SRAM) had more uncorrected errors than NVIDIA allows a GPU to have. Such memory has no spare rows: the GPU has to be replaced.")
            .steps(&[
                "Drain the GPU.",
                "Run the field diagnostic and ask the vendor for a replacement.",
            ])
    } else if uncorrected {
        v.refined("uncorrected", Severity::Critical)
            .and("Data was wrong and could not be corrected: programs that used it are ended.")
            .first("Look for Xid 48, 94 or 95 of the same GPU and follow it.")
    } else if corrected && sample.limit.zip(sample.value).is_some_and(|(l, x)| x > l) {
        v.refined("corrected_rate", Severity::Warning)
            .and("All of it was corrected, but the rate is above its limit.")
    } else if corrected {
        v.refined("corrected", Severity::Info)
            .and("All of it was corrected; nothing is lost.")
    } else {
        v
    }
}

pub(super) fn row_remap(occ: &Occurrence, v: Verdict) -> Verdict {
    let text = words(occ);
    if occ.detail.sample.value == Some(0.0) {
        v.refined("cleared", Severity::Info)
            .and("The reading is back at zero.")
    } else if text.contains("fail") {
        v.refined("failure", Severity::Critical)
            .and("A row could not be remapped: the spare rows are used up. The GPU has to be replaced.")
            .steps(&[
                "Drain the GPU and reset it.",
                "Run the field diagnostic and ask the vendor for a replacement.",
            ])
    } else if text.contains("canberetired") {
        v.refined("retired_full", Severity::Critical)
            .meaning("The GPU has retired nearly as many pages of its memory as it can: the next faulty ones stay in use. The GPU has to be replaced.")
            .steps(&[
                "Drain the GPU.",
                "Read them: nvidia-smi -q -d PAGE_RETIREMENT.",
                "Run the field diagnostic and ask the vendor for a replacement.",
            ])
    } else if text.contains("repairpending") {
        v.refined("repair", Severity::Warning)
            .meaning("A part of the GPU, a channel of its memory or a group of multiprocessors (TPC), waits to be repaired, which only a reset of the GPU does.")
            .steps(&[
                EVIDENCE,
                "Drain the GPU and reset it at the next convenient time.",
            ])
    } else if text.contains("pending") {
        v.refined("pending", Severity::Warning)
            .and("A row waits to be remapped, which only a reset of the GPU does.")
            .first("Drain the GPU and reset it at the next convenient time.")
    } else if text.contains("uncorrect") {
        v.refined("uncorrected", Severity::Warning)
            .and("A row with an uncorrectable error was remapped.")
    } else if text.contains("correct") {
        v.refined("corrected", Severity::Info)
            .and("A row with many corrected errors was remapped.")
    } else {
        v
    }
}

pub(super) fn nvlink(occ: &Occurrence, v: Verdict) -> Verdict {
    if occ.detail.host.error.as_deref() == Some("receiver detection failed") {
        return v
            .refined("undetected", Severity::Warning)
            .meaning("The driver could not find out which NVLinks of a GPU have a partner. They stay down: jobs over several GPUs fail or run slower.")
            .steps(&[
                "See which GPU lacks links: nvidia-smi nvlink -s.",
                "Look for an Xid of the same time, as of a system processor (GSP) that does not answer (119, 120), and follow it.",
                EVIDENCE,
                "Reset the GPU; if its links stay down, restart the host.",
            ]);
    }
    let v = match occ.detail.fabric.link {
        Some(link) if link >= 0 => v.and(&format!("It is link {link}.")),
        _ => v,
    };
    let too_many = match occ.detail.host.error.as_deref() {
        Some("bit error rate") => Some((
            "bit_errors",
            "More than one bit in 10^12 is wrong after correction, for a minute or longer",
        )),
        Some("CRC error rate") => Some((
            "crc_errors",
            "100 checksums a second or more are wrong, over all links of the GPU and for a minute",
        )),
        Some("bit error rate is within its limit") => {
            return v
                .refined("ok", Severity::Info)
                .meaning("No NVLink of the GPU has too many bit errors any more.");
        }
        _ => None,
    };
    if let Some((part, what)) = too_many {
        return v
            .refined(part, Severity::Warning)
            .and(&format!("{what}: packets are sent again, and jobs over several GPUs get slower."))
            .steps(&[
                "Read the rates: nvidia-smi nvlink -e.",
                "Compare the two ends of the link; if it stays with one link, check seating and cable.",
                EVIDENCE,
                "Drain the GPU and reset it: the link is trained anew. If it comes back, run the field diagnostic.",
            ]);
    }
    let text = words(occ);
    if text.contains("crcdata") || text.contains("crcflit") {
        return v.refined("crc", Severity::Info).and(
            "Each packet with a wrong checksum is sent again: fewer than 100 a second do no harm.",
        );
    }
    let state = text.contains("state") || text.contains("active");
    let off = state && occ.detail.sample.value == Some(0.0);
    if off || text.contains("linkdown") || text.contains("wentdown") || text.contains("inactive") {
        v.refined("down", Severity::Critical)
            .and("The link is down: jobs over several GPUs fail or run slower.")
            .first("Look for Xid 74, 144 to 150 or an SXid of the same time and follow it.")
    } else {
        v
    }
}

pub(super) fn pcie_link(occ: &Occurrence, v: Verdict) -> Verdict {
    let sample = &occ.detail.sample;
    let narrow = sample.width.zip(sample.max_width).filter(|(w, m)| w < m);
    let slow = sample.speed.as_ref().zip(sample.max_speed.as_ref());
    let slow = slow.filter(|(s, m)| s != m);
    let pcie = &occ.detail.pcie;
    if let Some((got, capable)) = pcie.bandwidth_gbps.zip(pcie.max_bandwidth_gbps) {
        let severity = match narrow.is_some() && occ.gpu.is_some() {
            true => Severity::Warning,
            false => Severity::Info,
        };
        let v = v.refined("limited", severity).and(&format!(
            "When it was found, the device could get {got} of the {capable} Gb/s that it is capable of."
        ));
        return match pcie.limited_by {
            Some(port) => v.and(&format!("The link at {port} is the limit.")),
            None => v,
        };
    }
    if let Some((width, max)) = narrow {
        v.refined("width", Severity::Warning).and(&format!(
            "It uses {width} of {max} lanes; copies to and from the host are that much slower."
        ))
    } else if let Some((speed, max)) = slow {
        let v = v.and(&format!("It runs at {speed} of {max}."));
        // gtrace's own watch says so after several readings; other sources judge one reading.
        if words(occ).contains("busy") {
            return v.refined("speed_busy", Severity::Warning);
        }
        v.refined("speed", Severity::Info)
            .and("GPUs lower the speed to save power while they idle: judge it under load.")
    } else if words(occ).contains("replay") {
        v.refined("replay", Severity::Info)
            .and("The link had to send data again. Single ones are normal; a rising rate means a bad slot, riser or cable.")
    } else {
        v
    }
}
