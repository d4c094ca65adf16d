//! Accesses to memory that an IOMMU blocked. Source: drivers/iommu/intel/dmar.c, drivers/iommu/amd/iommu.c.

use gtrace_event::{Kind, Occurrence, PciAddress, Severity};

use crate::record::Line;
use crate::scan;

/// `DMAR: [DMA Read NO_PASID] Request device [3b:00.0] fault addr 0xfffff000 [fault reason 0x06] PTE Read access is
/// not set`, before 5.16 without `NO_PASID`.
pub(crate) fn intel(line: &Line<'_>) -> Option<Occurrence> {
    let rest = line.text.strip_prefix("DMAR:")?.trim_start();
    let (access, rest) = rest.strip_prefix('[')?.split_once("] Request device [")?;
    if !access.starts_with("DMA ") {
        return None;
    }
    let (device, rest) = rest.split_once("] ")?;
    let rest = match rest.strip_prefix("PASID ") {
        Some(rest) => rest.split_once(' ')?.1,
        None => rest,
    };
    let rest = rest.strip_prefix("fault addr ")?;
    let (address, rest) = scan::hex(rest)?;
    let (_, reason) = rest.split_once("[fault reason ")?;
    let (_, reason) = reason.split_once("] ")?;
    fault(line, device_at(device)?, address, reason)
}

/// `AMD-Vi: Event logged [IO_PAGE_FAULT device=3b:00.0 domain=0x0012 address=0xd0000000 flags=0x0020]`
pub(crate) fn amd(line: &Line<'_>) -> Option<Occurrence> {
    let fields = line
        .text
        .strip_prefix("AMD-Vi: Event logged [IO_PAGE_FAULT ")?;
    let device = fields.strip_prefix("device=")?;
    let (device, fields) = device.split_once(' ')?;
    page_fault(line, device_at(device)?, fields)
}

/// The same with the driver of the device before it, since 4.18; `rest` is the text after the address.
pub(crate) fn amd_of_device(line: &Line<'_>, pci: PciAddress, rest: &str) -> Option<Occurrence> {
    let fields = rest.strip_prefix(": AMD-Vi: Event logged [IO_PAGE_FAULT ")?;
    page_fault(line, pci, fields)
}

fn page_fault(line: &Line<'_>, pci: PciAddress, fields: &str) -> Option<Occurrence> {
    let fields = fields.trim_end().strip_suffix(']')?;
    let (address, _) = scan::hex(scan::after(fields, "address=")?)?;
    fault(line, pci, address, "IO_PAGE_FAULT")
}

/// `3b:00.0`, or with the domain.
fn device_at(text: &str) -> Option<PciAddress> {
    match text.bytes().filter(|b| *b == b':').count() {
        1 => PciAddress::parse(&format!("0000:{text}")),
        _ => PciAddress::parse(text),
    }
}

fn fault(line: &Line<'_>, pci: PciAddress, address: String, reason: &str) -> Option<Occurrence> {
    let reason = reason.trim();
    if reason.is_empty() {
        return None;
    }
    let mut occurrence = line.occurrence(Kind::IommuFault, Severity::Warning);
    // Whether it is a GPU, the pipeline knows.
    occurrence.detail.pcie.pci_device = Some(pci);
    occurrence.detail.host.fault_at = Some(address);
    occurrence.detail.host.error = Some(reason.to_owned());
    Some(occurrence)
}
