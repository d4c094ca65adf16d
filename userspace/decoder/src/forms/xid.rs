//! `NVRM: Xid (PCI:dddd:bb:ss[ GPU-I:nn[ GPU-CI:nn]]): N, …`

use gtrace_event::{Gpu, Kind, Occurrence, PciAddress, Process, Severity, XidDetail};

use super::{nvlink5, xid_process};
use crate::DriverVersion;
use crate::record::Line;
use crate::scan;

/// Reads a line that begins with `NVRM: `.
pub(crate) fn parse(line: &Line<'_>, version: Option<DriverVersion>) -> Option<Occurrence> {
    let rest = line.text.strip_prefix("NVRM: Xid")?.trim_start_matches(' ');
    let (device, rest) = scan::bracketed(rest)?;
    let gpu = device_of(device)?;
    let rest = rest.strip_prefix(':')?.trim_start_matches(' ');
    let (code, rest) = scan::number::<u32>(rest)?;
    let rest = match rest.as_bytes().first() {
        None => "",
        Some(b',') => rest.get(1..)?.trim_start(),
        Some(b' ' | b'\t') => rest.trim_start(),
        Some(_) => return None,
    };
    let part = xid_process::split(rest);

    let mut occurrence = line.occurrence(Kind::Xid, Severity::Warning);
    occurrence.gpu = gpu;
    if part.pid.is_some() || part.comm.is_some() {
        occurrence.process = Some(Process {
            pid: part.pid,
            comm: part.comm.map(str::to_owned),
            ..Process::default()
        });
    }
    let xid = &mut occurrence.detail.xid;
    xid.xid = Some(code);
    read_common(part.message, xid);
    match code {
        13 => read_sm(part.message, xid),
        31 => read_mmu_fault(part.message, xid),
        74 | 136 | 137 | 155 | 166 | 170 => occurrence.detail.fabric.link = link(part.message),
        94 | 95 => read_containment(part.message, xid),
        119 | 120 => read_gsp(part.message, xid),
        144..=150 => nvlink5::read(part.message, version, &mut occurrence.detail),
        154 => read_recovery(part.message, xid),
        _ => {}
    }
    occurrence.severity = severity(code, &occurrence.detail.xid);
    Some(occurrence)
}

/// The GPU. `Some(None)` for numbers that no PCI device can have: what else the line says is true.
fn device_of(text: &str) -> Option<Option<Gpu>> {
    let mut words = text.split(' ').filter(|w| !w.is_empty());
    let address = words.next()?;
    let address = address.strip_prefix("PCI:").unwrap_or(address);
    let Some(address) = PciAddress::parse(address) else {
        return has_form_of_address(address).then_some(None);
    };
    let mut gpu = Gpu::at(address);
    for word in words {
        if let Some(n) = word.strip_prefix("GPU-I:") {
            gpu.mig_gi = n.parse().ok();
        } else if let Some(n) = word.strip_prefix("GPU-CI:") {
            gpu.mig_ci = n.parse().ok();
        }
    }
    Some(Some(gpu))
}

/// `dddd:bb:ss` or `dddd:bb:ss.f`, whatever the numbers.
fn has_form_of_address(text: &str) -> bool {
    let is_hex = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_hexdigit());
    text.split(':').count() == 3 && text.split([':', '.']).all(is_hex)
}

/// What may stand in the message of any Xid.
fn read_common(message: &str, xid: &mut XidDetail) {
    xid.channel = channel(message);
    xid.caused_by_xid = scan::number_after(message, "caused by previous Xid ");
}

fn channel(message: &str) -> Option<String> {
    let front = ["Ch ", "Channel ID ", "Channel ", "channel "]
        .iter()
        .find_map(|p| message.strip_prefix(p));
    let inner = || {
        ["ChID ", "ChId ", "Channel ("]
            .iter()
            .find_map(|p| scan::after(message, p))
    };
    let (value, rest) = scan::hex(front.or_else(inner)?)?;
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric());
    ends.then_some(value)
}

/// `Graphics SM Warp Exception on (GPC 9, TPC 1, SM 1): …`, and with fewer parts.
fn read_sm(message: &str, xid: &mut XidDetail) {
    xid.gpc = scan::number_after(message, "GPC ");
    xid.tpc = scan::number_after(message, "TPC ");
    xid.sm = scan::number_after(message, ", SM ").or_else(|| scan::number_after(message, "(SM "));
}

/// `… MMU Fault: ENGINE GRAPHICS GPC1 GPCCLIENT_T1_3 faulted @ 0x7f_abcd1000. Fault is of type
/// FAULT_PDE ACCESS_TYPE_VIRT_READ`
fn read_mmu_fault(message: &str, xid: &mut XidDetail) {
    let Some(fault) = scan::after(message, "MMU Fault: ") else {
        return;
    };
    let fault = fault.strip_prefix("ENGINE ").unwrap_or(fault);
    let (place, rest) = match fault.split_once(" faulted") {
        Some(parts) => parts,
        None => ("", fault),
    };
    let mut words = place.split(' ').filter(|w| !w.is_empty());
    xid.engine = words.next().map(str::to_owned);
    for word in words {
        match word.strip_prefix("GPC").and_then(|n| n.parse().ok()) {
            Some(gpc) => xid.gpc = Some(gpc),
            None => xid.client = Some(word.to_owned()),
        }
    }
    xid.fault_addr = scan::after(rest, "@ ").and_then(scan::hex).map(|(a, _)| a);
    for word in rest.split(' ') {
        let word = word.trim_end_matches(['.', ',']);
        if word.starts_with("FAULT_") {
            xid.fault_type = Some(word.to_owned());
        } else if word.starts_with("ACCESS_TYPE_") {
            xid.access_type = Some(word.to_owned());
        }
    }
}

/// `NVLink: fatal error detected on link 2(0x10000, …)`, `Link training failed for link 3`.
pub(crate) fn link(message: &str) -> Option<i64> {
    let lower = message.to_ascii_lowercase();
    let mut rest = lower.as_str();
    while let Some(next) = scan::after(rest, "link ") {
        if let Some((n, _)) = scan::signed(next) {
            return Some(n);
        }
        rest = next;
    }
    None
}

/// `… RST: No, D-RST: No`
fn read_containment(message: &str, xid: &mut XidDetail) {
    let answer = |text: &str| match scan::word(text).trim_end_matches([',', '.']) {
        "Yes" => Some(true),
        "No" => Some(false),
        _ => None,
    };
    xid.drain_reset_required = scan::after(message, "D-RST: ").and_then(answer);
    let plain = message.match_indices("RST: ").find(|(at, _)| {
        at.checked_sub(1)
            .is_none_or(|before| message.as_bytes().get(before) != Some(&b'-'))
    });
    xid.reset_required = plain
        .and_then(|(at, m)| message.get(at + m.len()..))
        .and_then(answer);
}

/// `Timeout after 6s of waiting for RPC response from GPU2 GSP! Expected function 76
/// (GSP_RM_CONTROL) (0x.. 0x..).`
fn read_gsp(message: &str, xid: &mut XidDetail) {
    xid.gsp_timeout_s = scan::number_after(message, "Timeout after ");
    xid.gpu_index = scan::after(message, " from GPU")
        .and_then(scan::number)
        .filter(|(_, rest)| rest.starts_with(" GSP"))
        .map(|(n, _)| n);
    if let Some((n, rest)) = scan::after(message, "Expected function ").and_then(scan::number) {
        xid.gsp_function = Some(n);
        xid.gsp_function_name = scan::bracketed(rest.trim_start()).map(|(n, _)| n.to_owned());
    }
}

/// `GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)`
fn read_recovery(message: &str, xid: &mut XidDetail) {
    let Some((from, to)) =
        scan::after(message, "recovery action changed from ").and_then(|t| t.split_once(" to 0x"))
    else {
        return;
    };
    let action = |text: &str| {
        let (_, rest) = text.split_once('(')?;
        let (action, _) = rest.rsplit_once(')')?;
        Some(action.to_owned())
    };
    xid.recovery_from = action(from);
    xid.recovery_to = action(to);
}

/// A first idea, for those who use the decoder without a catalogue.
fn severity(code: u32, xid: &XidDetail) -> Severity {
    match code {
        14 => Severity::Info,
        46 | 62 | 79 | 95 | 109 | 110 | 119 | 120 | 136 | 140 | 143 | 158 | 167 => Severity::Fatal,
        48 | 61 | 64 | 74 | 94 | 171 | 172 => Severity::Critical,
        144..=150 => match xid.sub_severity.as_deref() {
            Some("Fatal") => Severity::Critical,
            _ => Severity::Warning,
        },
        154 => match xid.recovery_to.as_deref() {
            Some("None") => Severity::Info,
            _ => Severity::Critical,
        },
        _ => Severity::Warning,
    }
}
