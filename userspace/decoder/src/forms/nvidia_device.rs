//! What the kernel says of a GPU's driver, and the NVIDIA driver of a GPU that hangs, without an Xid. Source:
//! drivers/base/dd.c, drivers/pci/pci.c; NVIDIA's open kernel modules: src/nvidia/src/kernel/vgpu/rpc.c,
//! gpu/rc/kernel_rc_watchdog.c, gpu/nvlink/kernel_nvlink.c.

use gtrace_event::{Gpu, Kind, Occurrence, PciAddress, Severity};

use crate::record::Line;
use crate::scan;

/// `nvidia: probe of 0000:01:00.0 failed with error -1`, to 6.10.
pub(crate) fn probe(line: &Line<'_>) -> Option<Occurrence> {
    let rest = line.text.strip_prefix("nvidia: probe of ")?;
    let (address, rest) = rest.split_once(' ')?;
    let pci = PciAddress::parse(address)?;
    not_started(line, pci, rest.strip_prefix("failed with error ")?)
}

/// A line of `nvidia` at `pci`; `rest` is the text after the address. `: probe with driver nvidia failed with error -1`
/// since 6.11, `: Unable to change power state from D3cold to D0, device inaccessible` since 5.19.
pub(crate) fn of_device(line: &Line<'_>, pci: PciAddress, rest: &str) -> Option<Occurrence> {
    let body = rest.strip_prefix(": ")?;
    if let Some(error) = body.strip_prefix("probe with driver nvidia failed with error ") {
        return not_started(line, pci, error);
    }
    let state = body.strip_prefix("Unable to change power state from ")?;
    if !state.trim_end().ends_with(" to D0, device inaccessible") {
        return None;
    }
    let mut occurrence = line.occurrence(Kind::GpuLost, Severity::Fatal);
    occurrence.gpu = Some(Gpu::at(pci));
    Some(occurrence)
}

fn not_started(line: &Line<'_>, pci: PciAddress, error: &str) -> Option<Occurrence> {
    let (error, rest) = scan::signed(error)?;
    if !rest.trim_end().is_empty() {
        return None;
    }
    let mut occurrence = line.occurrence(Kind::DriverInitFailed, Severity::Critical);
    occurrence.gpu = Some(Gpu::at(pci));
    occurrence.detail.host.error = Some(format!("error {error}"));
    Some(occurrence)
}

/// A line of the NVIDIA driver; `rest` is the text after `NVRM: `.
pub(crate) fn of_driver(line: &Line<'_>, rest: &str) -> Option<Occurrence> {
    if let Some(rest) = rest.strip_prefix("Rate limiting GSP RPC error prints for GPU at PCI:") {
        let (address, rest) = rest.split_once(' ')?;
        let pci = PciAddress::parse(address)?;
        if !rest.contains("needs to be reset") {
            return None;
        }
        let mut occurrence = hang(line, Severity::Critical, "repeated GSP RPC errors");
        occurrence.gpu = Some(Gpu::at(pci));
        return Some(occurrence);
    }
    // Lines that begin with the function that prints them, since 535 with the GPU's number before it.
    let (index, rest) = match rest.strip_prefix("GPU").and_then(scan::number::<u32>) {
        Some((index, rest)) => (Some(index), rest.strip_prefix(' ')?),
        None => (None, rest),
    };
    let (function, body) = rest.split_once(": ")?;
    if function.contains(' ') {
        return None;
    }
    let mut occurrence = if function.starts_with("krcWatchdog") {
        let text = body.strip_prefix("RC watchdog: GPU is ")?;
        if !text.starts_with("probably locked") && !text.starts_with("possibly locked") {
            return None;
        }
        hang(line, Severity::Warning, "RC watchdog")
    } else if body.starts_with("GSP RM heartbeat timed out") {
        hang(line, Severity::Critical, "GSP heartbeat timed out")
    } else if function.starts_with("knvlink") && is_rx_detect(body) {
        let mut occurrence = line.occurrence(Kind::Nvlink, Severity::Warning);
        occurrence.detail.host.error = Some("receiver detection failed".to_owned());
        occurrence
    } else {
        return None;
    };
    occurrence.gpu = occurrence.gpu.or(line.meta.device.map(Gpu::at));
    occurrence.detail.xid.gpu_index = index;
    Some(occurrence)
}

/// `Failed to update Rx Detect Link mask!`, `Getting peer0's postRxDetLinkMask failed!`
fn is_rx_detect(body: &str) -> bool {
    body.starts_with("Failed to update Rx Detect Link mask")
        || (body.starts_with("Getting peer") && body.contains("postRxDetLinkMask failed"))
}

fn hang(line: &Line<'_>, severity: Severity, error: &str) -> Occurrence {
    let mut occurrence = line.occurrence(Kind::GpuHang, severity);
    occurrence.detail.host.error = Some(error.to_owned());
    occurrence
}
