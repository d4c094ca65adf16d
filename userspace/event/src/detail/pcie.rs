use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::PciAddress;

section! {
    /// Which PCI device an event of `aer`, `pcie_link` or `pcie_hotplug` names, and how it relates to
    /// the GPUs.
    ///
    /// The kernel names ports, network adapters and disks too, so the device has a field of its own
    /// and [`crate::Event::gpu`] is the GPU at or below it, where it can be no other device's.
    PcieDetail {
        /// The device that the kernel names.
        pci_device: Option<PciAddress>,
        /// The GPUs below that device, where it is a port above more than one device.
        gpus_below: Vec<PciAddress>,
        /// Hotplug: name of the slot (`0`, `0-1`).
        slot: Option<String>,
        /// Hotplug: what happened to the slot.
        hotplug: Option<SlotChange>,
        /// Link status: the port whose link is the narrowest or slowest on the way to the device.
        limited_by: Option<PciAddress>,
        /// Link status: bandwidth that the device can get, 10^9 bits a second.
        bandwidth_gbps: Option<f64>,
        /// Link status: bandwidth that the device itself is capable of, 10^9 bits a second.
        max_bandwidth_gbps: Option<f64>,
    }
}

crate::named_enum! {
    /// What native PCIe hotplug says of a slot. Source: drivers/pci/hotplug/pciehp_{ctrl,hpc}.c,
    /// Linux 4.14 to 6.18.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    pub enum SlotChange {
        /// The link of a slot that was on went down; nobody had asked for it.
        LinkDown = "link_down",
        /// The card of a slot that was on is gone; nobody had asked for it.
        CardNotPresent = "card_not_present",
        /// A card is in the slot.
        CardPresent = "card_present",
        /// The link came up.
        LinkUp = "link_up",
        /// Somebody pressed the slot's attention button.
        ButtonPressed = "button_pressed",
        /// The slot will be switched off, as asked for by the button.
        PoweringOff = "powering_off",
        /// The slot will be switched on, as asked for by the button.
        PoweringOn = "powering_on",
        /// The request was taken back by a second press.
        RequestCanceled = "request_canceled",
        /// The link went down and up again while Downstream Port Containment recovered it, or for a
        /// reset: the card stays.
        LinkChangeIgnored = "link_change_ignored",
        /// The slot's latch is open, so it is not switched on.
        LatchOpen = "latch_open",
        /// The slot's power controller found a fault.
        PowerFault = "power_fault",
        /// The link did not come up after the slot was switched on.
        NoLink = "no_link",
        /// The link came up without a lane, or stays in training.
        TrainingFailed = "training_failed",
        /// The link is up and no device answers behind it.
        NoDevice = "no_device",
        /// The kernel could not take the device in.
        AddFailed = "add_failed",
    }
}

impl SlotChange {
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
