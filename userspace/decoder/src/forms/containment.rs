//! What the kernel does about a PCIe error: Downstream Port Containment and recovery. Source:
//! drivers/pci/pcie/dpc.c and err.c, Linux 4.19 to 6.18.

use gtrace_event::{Gpu, Kind, Occurrence, PciAddress, Severity};

use crate::record::Line;
use crate::scan;

/// `pcieport 0000:3a:00.0: AER: device recovery failed`, `… successful`; before 5.8 with a capital
/// D. `rest` is the text after the address.
pub(crate) fn recovery(line: &Line<'_>, port: PciAddress, rest: &str) -> Option<Occurrence> {
    let text = rest.strip_prefix(": AER: ")?;
    let end = text
        .strip_prefix("device recovery ")
        .or_else(|| text.strip_prefix("Device recovery "))?;
    let severity = match end.trim_end() {
        "failed" => Severity::Critical,
        "successful" => Severity::Info,
        _ => return None,
    };
    let mut occurrence = line.occurrence(Kind::Aer, severity);
    occurrence.detail.pcie.pci_device = Some(port);
    occurrence.detail.aer.recovery = Some(end.trim_end().to_owned());
    // Some devices have no port above them: a GPU passed through to a virtual machine.
    occurrence.gpu = line.text.starts_with("nvidia ").then(|| Gpu::at(port));
    Some(occurrence)
}

/// `pcieport 0000:3a:00.0: DPC: containment event, status:0x1f05 source:0x3b00`; since 6.10 the
/// reason stands in the same line: `…, status:0x1f05, ERR_FATAL received from 0000:3b:00.0` or
/// `…, status:0x1f01: unmasked uncorrectable error detected`.
pub(crate) fn dpc(line: &Line<'_>, port: PciAddress, rest: &str) -> Option<Occurrence> {
    let text = rest.strip_prefix(": DPC: containment event, status:")?;
    let (status, rest) = scan::hex(text)?;
    let reason = u32::from_str_radix(status.get(2..)?, 16).ok().map(reason)?;
    let source = source(rest, port, reason)?;

    let mut occurrence = line.occurrence(Kind::Aer, Severity::Critical);
    occurrence.detail.pcie.pci_device = Some(source.unwrap_or(port));
    let detail = &mut occurrence.detail.aer;
    detail.reporter = Some(port.to_string());
    detail.dpc_status = Some(status);
    detail.dpc_reason = Some(reason.to_owned());
    Some(occurrence)
}

const FATAL: &str = "ERR_FATAL";
const NONFATAL: &str = "ERR_NONFATAL";

/// Bits 1 and 2 of the status register say why, bits 5 and 6 say more (`PCI_EXP_DPC_STATUS_*` of
/// include/uapi/linux/pci_regs.h).
fn reason(status: u32) -> &'static str {
    match (status & 0x06, status & 0x60) {
        (0x00, _) => "unmasked uncorrectable error",
        (0x02, _) => NONFATAL,
        (0x04, _) => FATAL,
        (_, 0x00) => "RP PIO error",
        (_, 0x20) => "software trigger",
        _ => "reserved error",
    }
}

/// The device whose error message the port received, where the reason is one; `None` where the text
/// goes on as no kernel's does.
fn source(rest: &str, port: PciAddress, reason: &str) -> Option<Option<PciAddress>> {
    let message = matches!(reason, FATAL | NONFATAL);
    if let Some(id) = rest.strip_prefix(" source:0x") {
        let id = id.trim_end();
        let id = (id.len() <= 4).then(|| u16::from_str_radix(id, 16).ok())??;
        return Some(message.then(|| scan::requester(id, port.domain)));
    }
    if let Some(text) = rest.strip_prefix(", ") {
        let address = text.strip_prefix(reason)?.strip_prefix(" received from ")?;
        return PciAddress::parse(address.trim_end()).map(Some);
    }
    let text = rest.strip_prefix(": ")?.strip_prefix(reason)?;
    (text.trim_end() == " detected").then_some(None)
}
