//! Native PCIe hotplug. Source: drivers/pci/hotplug/pciehp_{ctrl,hpc}.c, Linux 4.14 to 6.18; the
//! words of 6.1 and 6.12 were compared with the strings of Debian's kernels.

use gtrace_event::{Kind, Occurrence, PciAddress, Severity, SlotChange};

use crate::record::Line;

/// No kernel names a slot longer than this (`SLOT_NAME_SIZE` of drivers/pci/hotplug/pciehp.h is 10).
const MAX_SLOT: usize = 16;

/// `pcieport 0000:00:1c.0: pciehp: Slot(0): Link Down`; before 5.2
/// `pciehp 0000:00:1c.0:pcie004: Slot(0): Link Down`. `rest` is the text after the address.
pub(crate) fn parse(
    line: &Line<'_>,
    driver: &str,
    port: PciAddress,
    rest: &str,
) -> Option<Occurrence> {
    let body = match driver {
        "pcieport" => rest.strip_prefix(": pciehp: ")?,
        "pciehp" => {
            let (service, body) = rest.strip_prefix(":pcie")?.split_once(": ")?;
            service
                .bytes()
                .all(|b| b.is_ascii_hexdigit())
                .then_some(body)?
        }
        _ => return None,
    };
    let (slot, change) = match body.strip_prefix("Slot(") {
        Some(rest) => {
            let (slot, text) = rest.split_once(')')?;
            // 6.1 has one message without the colon.
            let text = text.strip_prefix(':').unwrap_or(text).strip_prefix(' ')?;
            let named = !slot.is_empty() && slot.len() <= MAX_SLOT;
            (Some(slot).filter(|_| named)?.into(), change(text)?)
        }
        None => (None, change_of_port(body)?),
    };
    let severity = match change {
        c if c.is_surprise() || c.is_failure() => Severity::Warning,
        _ => Severity::Info,
    };
    let mut occurrence = line.occurrence(Kind::PcieHotplug, severity);
    let detail = &mut occurrence.detail.pcie;
    detail.pci_device = Some(port);
    detail.slot = slot.map(str::to_owned);
    detail.hotplug = Some(change);
    Some(occurrence)
}

fn change(text: &str) -> Option<SlotChange> {
    use SlotChange::*;
    Some(match text.trim_end() {
        "Link Down" => LinkDown,
        "Card not present" => CardNotPresent,
        "Card present" => CardPresent,
        "Link Up" => LinkUp,
        "Attention button pressed" => ButtonPressed,
        "Powering off due to button press" | "Button press: will power off in 5 sec" => PoweringOff,
        "Powering on due to button press" | "Button press: will power on in 5 sec" => PoweringOn,
        "Button cancel"
        | "Action canceled due to button press"
        | "Button press: canceling request to power off"
        | "Button press: canceling request to power on" => RequestCanceled,
        // 5.10 has the first for containment, 6.16 the second for resets too.
        "Link Down/Up ignored (recovered by DPC)" | "Link Down/Up ignored" => LinkChangeIgnored,
        "Latch open" => LatchOpen,
        "Power fault" => PowerFault,
        "No link" => NoLink,
        "No device found" => NoDevice,
        text if text.starts_with("Cannot train link: status 0x") => TrainingFailed,
        _ => return None,
    })
}

/// Messages that name no slot: a port has one.
fn change_of_port(text: &str) -> Option<SlotChange> {
    match text.trim_end() {
        "Failed to check link status" => Some(SlotChange::NoLink),
        text => {
            let bus = text.strip_prefix("Cannot add device at ")?;
            PciAddress::parse(bus).map(|_| SlotChange::AddFailed)
        }
    }
}
