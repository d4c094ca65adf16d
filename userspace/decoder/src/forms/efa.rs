//! Amazon's Elastic Fabric Adapter. Source: drivers/infiniband/hw/efa/efa_com.c.

use gtrace_event::{Gpu, Kind, Occurrence, PciAddress, Severity};

use crate::record::Line;

/// `infiniband rdmap16s27: Failed to process command CREATE_QP (opcode 6) comp_status 1 err -22`
pub(crate) fn of_rdma_device(line: &Line<'_>) -> Option<Occurrence> {
    let rest = line.text.strip_prefix("infiniband ")?;
    let (device, body) = rest.split_once(": ")?;
    if device.is_empty() || device.contains(' ') {
        return None;
    }
    let mut occurrence = recognise(line, body)?;
    occurrence.detail.host.device = Some(device.to_owned());
    Some(occurrence)
}

/// A line of the driver `efa` before its device has a name; `rest` is the text after the address.
pub(crate) fn of_device(line: &Line<'_>, pci: PciAddress, rest: &str) -> Option<Occurrence> {
    let mut occurrence = recognise(line, rest.strip_prefix(": ")?)?;
    occurrence.gpu = Some(Gpu::at(pci));
    Some(occurrence)
}

/// How the lines begin, and what they say. The adapter does not answer any more: all but the first two.
const LINES: &[(&str, &str)] = &[
    ("Failed to process command ", "command failed"),
    ("Failed to submit command ", "command not submitted"),
    (
        "Wait for completion (polling) timeout",
        "no completion of a command",
    ),
    (
        "The device didn't send any completion for admin cmd ",
        "no completion of a command",
    ),
    (
        "The device sent a completion but the driver didn't receive any MSI-X interrupt for admin cmd ",
        "lost interrupt",
    ),
    ("Admin queue is closed", "admin queue closed"),
    ("Reset indication didn't turn o", "reset failed"),
    ("Device isn't ready, ", "device not ready"),
];

fn recognise(line: &Line<'_>, body: &str) -> Option<Occurrence> {
    let (beginning, error) = LINES.iter().find(|(b, _)| body.starts_with(b))?;
    let severity = match error.starts_with("command") {
        true => Severity::Warning,
        false => Severity::Critical,
    };
    let mut occurrence = line.occurrence(Kind::EfaError, severity);
    let host = &mut occurrence.detail.host;
    host.error = Some((*error).to_owned());
    // `CREATE_QP (opcode 6) …`, `CREATE_QP(6) …`
    let command = body.get(beginning.len()..).unwrap_or("");
    let end = command.find([' ', '(']).unwrap_or(command.len());
    let command = command.get(..end).filter(|c| !c.is_empty());
    host.command = command
        .filter(|c| c.bytes().all(|b| b.is_ascii_uppercase() || b == b'_'))
        .map(str::to_owned);
    Some(occurrence)
}
