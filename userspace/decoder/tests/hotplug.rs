//! PCIe hotplug, link status, containment and recovery, in the words of Linux 4.18 to 6.18.

mod common;

use common::{live, table, table_of};
use gtrace_event::SlotChange;
use serde_json::{Value, json as j};

const PORT: &str = "0000:3a:00.0";

#[test]
fn every_message_of_linux_6_1_and_6_12() {
    // Powering on without a colon: so in 5.2 to 6.3.
    table_of(
        |text| format!("pcieport {PORT}: pciehp: {text}"),
        &[("gpu", Value::Null), ("detail/pci_device", j!(PORT))],
        r#"
Slot(0): Link Down
= pcie_hotplug warning {"detail/slot": "0", "detail/hotplug": "link_down"}
Slot(0): Card not present
= pcie_hotplug warning {"detail/slot": "0", "detail/hotplug": "card_not_present"}
Slot(0): Card present
= pcie_hotplug info {"detail/slot": "0", "detail/hotplug": "card_present"}
Slot(0): Link Up
= pcie_hotplug info {"detail/slot": "0", "detail/hotplug": "link_up"}
Slot(0): Attention button pressed
= pcie_hotplug info {"detail/slot": "0", "detail/hotplug": "button_pressed"}
Slot(0): Powering off due to button press
= pcie_hotplug info {"detail/slot": "0", "detail/hotplug": "powering_off"}
Slot(0) Powering on due to button press
= pcie_hotplug info {"detail/slot": "0", "detail/hotplug": "powering_on"}
Slot(0): Button cancel
= pcie_hotplug info {"detail/slot": "0", "detail/hotplug": "request_canceled"}
Slot(0): Action canceled due to button press
= pcie_hotplug info {"detail/slot": "0", "detail/hotplug": "request_canceled"}
Slot(0): Button press: will power off in 5 sec
= pcie_hotplug info {"detail/slot": "0", "detail/hotplug": "powering_off"}
Slot(0): Button press: will power on in 5 sec
= pcie_hotplug info {"detail/slot": "0", "detail/hotplug": "powering_on"}
Slot(0): Button press: canceling request to power off
= pcie_hotplug info {"detail/slot": "0", "detail/hotplug": "request_canceled"}
Slot(0): Button press: canceling request to power on
= pcie_hotplug info {"detail/slot": "0", "detail/hotplug": "request_canceled"}
Slot(0): Link Down/Up ignored (recovered by DPC)
= pcie_hotplug info {"detail/slot": "0", "detail/hotplug": "link_change_ignored"}
Slot(0): Link Down/Up ignored
= pcie_hotplug info {"detail/slot": "0", "detail/hotplug": "link_change_ignored"}
Slot(0): Latch open
= pcie_hotplug info {"detail/slot": "0", "detail/hotplug": "latch_open"}
Slot(0): Power fault
= pcie_hotplug warning {"detail/slot": "0", "detail/hotplug": "power_fault"}
Slot(0): No link
= pcie_hotplug warning {"detail/slot": "0", "detail/hotplug": "no_link"}
Slot(0): Cannot train link: status 0x0001
= pcie_hotplug warning {"detail/slot": "0", "detail/hotplug": "training_failed"}
Slot(0): No device found
= pcie_hotplug warning {"detail/slot": "0", "detail/hotplug": "no_device"}
Slot(0-1): Link Down
= pcie_hotplug warning {"detail/slot": "0-1", "detail/hotplug": "link_down"}
Slot(4096-12): Card present
= pcie_hotplug info {"detail/slot": "4096-12", "detail/hotplug": "card_present"}
Failed to check link status
= pcie_hotplug warning {"detail/slot": null, "detail/hotplug": "no_link"}
Cannot add device at 0000:3b:00
= pcie_hotplug warning {"detail/slot": null, "detail/hotplug": "add_failed"}
"#,
    );
}

#[test]
fn every_change_has_a_message() {
    let told: Vec<_> = [
        "Link Down",
        "Card not present",
        "Card present",
        "Link Up",
        "Attention button pressed",
        "Powering off due to button press",
        "Button press: will power on in 5 sec",
        "Button cancel",
        "Link Down/Up ignored",
        "Latch open",
        "Power fault",
        "No link",
        "Cannot train link: status 0xf081",
        "No device found",
    ]
    .iter()
    .map(|text| format!("pcieport {PORT}: pciehp: Slot(1): {text}"))
    .chain([format!(
        "pcieport {PORT}: pciehp: Cannot add device at 0000:3b:00"
    )])
    .collect();
    let found = live(&told.join("\n"));
    let changes: Vec<_> = found.iter().map(|o| o.detail.pcie.hotplug).collect();
    assert_eq!(changes, SlotChange::ALL.map(Some));
}

#[test]
fn before_5_2_the_service_had_its_own_name() {
    table(
        r#"
pciehp 0000:3a:00.0:pcie004: Slot(7): Link Down
= pcie_hotplug {"detail/pci_device": "0000:3a:00.0", "detail/slot": "7", "detail/hotplug": "link_down"}
"#,
    );
}

#[test]
fn a_link_below_what_the_device_can_do() {
    table(
        r#"
pci 0000:01:00.0: 2.000 Gb/s available PCIe bandwidth, limited by 2.5 GT/s PCIe x1 link at 0000:00:1c.0 (capable of 31.504 Gb/s with 8.0 GT/s PCIe x4 link)
= pcie_link info {"gpu": null, "detail/pci_device": "0000:01:00.0", "detail/limited_by": "0000:00:1c.0", "detail/bandwidth_gbps": 2.0, "detail/max_bandwidth_gbps": 31.504, "detail/speed": "2.5 GT/s PCIe", "detail/width": 1, "detail/max_speed": "8.0 GT/s PCIe", "detail/max_width": 4}
mlx5_core 0000:5d:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8 GT/s x8 link at 0000:5c:00.0 (capable of 126.016 Gb/s with 8 GT/s x16 link)
= pcie_link {"detail/limited_by": "0000:5c:00.0", "detail/speed": "8 GT/s", "detail/width": 8}
pci 0000:3b:00.0: 252.048 Gb/s available PCIe bandwidth, limited by 16.0 GT/s PCIe x16 link at <unknown> (capable of 504.112 Gb/s with 32.0 GT/s PCIe x16 link), in Flit mode
= pcie_link {"detail/limited_by": null, "detail/speed": "16.0 GT/s PCIe", "detail/width": 16}
pci 10000:e1:00.0: 0.000 Gb/s available PCIe bandwidth, limited by Unknown x0 link at 10000:e0:06.0 (capable of 31.504 Gb/s with 8.0 GT/s PCIe x4 link)
= pcie_link {"detail/limited_by": "10000:e0:06.0", "detail/speed": null, "detail/width": 0}
"#,
    );
}

#[test]
fn containment_in_both_wordings() {
    table_of(
        |text| format!("pcieport {PORT}: DPC: containment event, {text}"),
        &[
            ("gpu", Value::Null),
            ("detail/reporter", j!(PORT)),
            ("detail/severity", Value::Null),
        ],
        r#"
status:0x1f01 source:0x0000
= aer critical {"detail/pci_device": "0000:3a:00.0", "detail/dpc_reason": "unmasked uncorrectable error", "detail/dpc_status": "0x1f01"}
status:0x1f03 source:0x3b00
= aer critical {"detail/pci_device": "0000:3b:00.0", "detail/dpc_reason": "ERR_NONFATAL", "detail/dpc_status": "0x1f03"}
status:0x1f05 source:0x3b01
= aer critical {"detail/pci_device": "0000:3b:00.1", "detail/dpc_reason": "ERR_FATAL", "detail/dpc_status": "0x1f05"}
status:0x1f07 source:0x3b00
= aer critical {"detail/pci_device": "0000:3a:00.0", "detail/dpc_reason": "RP PIO error", "detail/dpc_status": "0x1f07"}
status:0x1f27 source:0x0000
= aer critical {"detail/pci_device": "0000:3a:00.0", "detail/dpc_reason": "software trigger", "detail/dpc_status": "0x1f27"}
status:0x1f47 source:0x0000
= aer critical {"detail/pci_device": "0000:3a:00.0", "detail/dpc_reason": "reserved error", "detail/dpc_status": "0x1f47"}
status:0x1f01: unmasked uncorrectable error detected
= aer critical {"detail/pci_device": "0000:3a:00.0", "detail/dpc_reason": "unmasked uncorrectable error", "detail/dpc_status": "0x1f01"}
status:0x1f03, ERR_NONFATAL received from 0000:3b:00.0
= aer critical {"detail/pci_device": "0000:3b:00.0", "detail/dpc_reason": "ERR_NONFATAL", "detail/dpc_status": "0x1f03"}
status:0x1f05, ERR_FATAL received from 0000:3b:00.0
= aer critical {"detail/pci_device": "0000:3b:00.0", "detail/dpc_reason": "ERR_FATAL", "detail/dpc_status": "0x1f05"}
status:0x1f07: RP PIO error detected
= aer critical {"detail/pci_device": "0000:3a:00.0", "detail/dpc_reason": "RP PIO error", "detail/dpc_status": "0x1f07"}
"#,
    );
}

#[test]
fn the_end_of_a_recovery() {
    table_of(
        |text| format!("pcieport {PORT}: AER: {text}"),
        &[("gpu", Value::Null), ("detail/pci_device", j!(PORT))],
        r#"
device recovery failed
= aer critical {"detail/recovery": "failed"}
device recovery successful
= aer info {"detail/recovery": "successful"}
Device recovery failed
= aer critical {"detail/recovery": "failed"}
"#,
    );
}

/// What 6.1 logs when a GPU behind a port with containment goes away, other drivers' lines between.
#[test]
fn a_surprise_removal_in_full() {
    let found = live(
        "pcieport 0000:3a:00.0: pciehp: Slot(4): Link Down\n\
         pcieport 0000:3a:00.0: pciehp: Slot(4): Card not present\n\
         pcieport 0000:3a:00.0: DPC: containment event, status:0x1f01 source:0x0000\n\
         pcieport 0000:3a:00.0: DPC: unmasked uncorrectable error detected\n\
         pcieport 0000:3a:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Receiver ID)\n\
         pcieport 0000:3a:00.0:   device [8086:347a] error status/mask=00000020/00100000\n\
         pcieport 0000:3a:00.0:    [ 5] SDES                   (First)\n\
         nvidia 0000:3b:00.0: AER: can't recover (no error_detected callback)\n\
         pcieport 0000:3a:00.0: AER: device recovery failed",
    );
    let kinds: Vec<_> = found.iter().map(|o| o.kind.name()).collect();
    let mut sorted = kinds.clone();
    sorted.sort_unstable();
    assert_eq!(
        sorted,
        ["aer", "aer", "aer", "pcie_hotplug", "pcie_hotplug"]
    );
    assert!(found.iter().all(|o| o.detail.pcie.pci_device.is_some()));
    let error = found
        .iter()
        .find(|o| o.detail.aer.status.is_some())
        .unwrap();
    assert_eq!(error.detail.aer.errors, ["SDES"]);
    let keys: std::collections::BTreeSet<_> = found.iter().map(|o| o.fold_key()).collect();
    assert_eq!(keys.len(), 5, "none is taken for a repeat of another");
}
