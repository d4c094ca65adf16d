use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::PciAddress;

/// Which PCI device an event of `aer`, `pcie_link` or `pcie_hotplug` names, and how it relates to
/// the GPUs.
///
/// The kernel names ports, network adapters and disks too, so the device has a field of its own
/// and [`crate::Event::gpu`] is the GPU at or below it, where it can be no other device's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PcieDetail {
    /// The device that the kernel names.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pci_device: Option<PciAddress>,
    /// The GPUs below that device, where it is a port above more than one device.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub gpus_below: Vec<PciAddress>,
    /// Hotplug: name of the slot (`0`, `0-1`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slot: Option<String>,
    /// Hotplug: what happened to the slot.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hotplug: Option<SlotChange>,
    /// Link status: the port whose link is the narrowest or slowest on the way to the device.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limited_by: Option<PciAddress>,
    /// Link status: bandwidth that the device can get, 10^9 bits a second.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bandwidth_gbps: Option<f64>,
    /// Link status: bandwidth that the device itself is capable of, 10^9 bits a second.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_bandwidth_gbps: Option<f64>,
}

fill_fields!(PcieDetail {
    pci_device,
    gpus_below,
    slot,
    hotplug,
    limited_by,
    bandwidth_gbps,
    max_bandwidth_gbps
});

/// What native PCIe hotplug says of a slot. Source: drivers/pci/hotplug/pciehp_{ctrl,hpc}.c,
/// Linux 4.14 to 6.18.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SlotChange {
    /// The link of a slot that was on went down; nobody had asked for it.
    LinkDown,
    /// The card of a slot that was on is gone; nobody had asked for it.
    CardNotPresent,
    /// A card is in the slot.
    CardPresent,
    /// The link came up.
    LinkUp,
    /// Somebody pressed the slot's attention button.
    ButtonPressed,
    /// The slot will be switched off, as asked for by the button.
    PoweringOff,
    /// The slot will be switched on, as asked for by the button.
    PoweringOn,
    /// The request was taken back by a second press.
    RequestCanceled,
    /// The link went down and up again while Downstream Port Containment recovered it, or for a
    /// reset: the card stays.
    LinkChangeIgnored,
    /// The slot's latch is open, so it is not switched on.
    LatchOpen,
    /// The slot's power controller found a fault.
    PowerFault,
    /// The link did not come up after the slot was switched on.
    NoLink,
    /// The link came up without a lane, or stays in training.
    TrainingFailed,
    /// The link is up and no device answers behind it.
    NoDevice,
    /// The kernel could not take the device in.
    AddFailed,
}

impl SlotChange {
    /// Every change.
    pub const ALL: [Self; 15] = [
        Self::LinkDown,
        Self::CardNotPresent,
        Self::CardPresent,
        Self::LinkUp,
        Self::ButtonPressed,
        Self::PoweringOff,
        Self::PoweringOn,
        Self::RequestCanceled,
        Self::LinkChangeIgnored,
        Self::LatchOpen,
        Self::PowerFault,
        Self::NoLink,
        Self::TrainingFailed,
        Self::NoDevice,
        Self::AddFailed,
    ];

    /// The name used in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LinkDown => "link_down",
            Self::CardNotPresent => "card_not_present",
            Self::CardPresent => "card_present",
            Self::LinkUp => "link_up",
            Self::ButtonPressed => "button_pressed",
            Self::PoweringOff => "powering_off",
            Self::PoweringOn => "powering_on",
            Self::RequestCanceled => "request_canceled",
            Self::LinkChangeIgnored => "link_change_ignored",
            Self::LatchOpen => "latch_open",
            Self::PowerFault => "power_fault",
            Self::NoLink => "no_link",
            Self::TrainingFailed => "training_failed",
            Self::NoDevice => "no_device",
            Self::AddFailed => "add_failed",
        }
    }

    /// Whether a card that was in use is gone without anybody having asked for it.
    pub const fn is_surprise(self) -> bool {
        matches!(self, Self::LinkDown | Self::CardNotPresent)
    }

    /// Whether a card could not be brought into use.
    pub const fn is_failure(self) -> bool {
        matches!(
            self,
            Self::PowerFault
                | Self::NoLink
                | Self::TrainingFailed
                | Self::NoDevice
                | Self::AddFailed
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_json() {
        for change in SlotChange::ALL {
            assert_eq!(serde_json::to_value(change).unwrap(), change.name());
        }
    }
}
