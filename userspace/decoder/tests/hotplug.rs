//! PCIe hotplug, link status, containment and recovery, in the words of Linux 4.18 to 6.18.

mod common;

use common::{check, live};
use gtrace_event::SlotChange;
use serde_json::{Value, json as j};

const PORT: &str = "0000:3a:00.0";

fn slot(text: &str, slot: &str, change: &str, severity: &str) {
    check(
        &format!("pcieport {PORT}: pciehp: {text}"),
        &[
            ("kind", j!("pcie_hotplug")),
            ("severity", j!(severity)),
            ("gpu", Value::Null),
            ("detail/pci_device", j!(PORT)),
            (
                "detail/slot",
                if slot.is_empty() {
                    Value::Null
                } else {
                    j!(slot)
                },
            ),
            ("detail/hotplug", j!(change)),
        ],
    );
}

#[test]
fn every_message_of_linux_6_1_and_6_12() {
    for (text, change, severity) in [
        ("Slot(0): Link Down", "link_down", "warning"),
        ("Slot(0): Card not present", "card_not_present", "warning"),
        ("Slot(0): Card present", "card_present", "info"),
        ("Slot(0): Link Up", "link_up", "info"),
        (
            "Slot(0): Attention button pressed",
            "button_pressed",
            "info",
        ),
        (
            "Slot(0): Powering off due to button press",
            "powering_off",
            "info",
        ),
        // So, without a colon, in 5.2 to 6.3.
        (
            "Slot(0) Powering on due to button press",
            "powering_on",
            "info",
        ),
        ("Slot(0): Button cancel", "request_canceled", "info"),
        (
            "Slot(0): Action canceled due to button press",
            "request_canceled",
            "info",
        ),
        (
            "Slot(0): Button press: will power off in 5 sec",
            "powering_off",
            "info",
        ),
        (
            "Slot(0): Button press: will power on in 5 sec",
            "powering_on",
            "info",
        ),
        (
            "Slot(0): Button press: canceling request to power off",
            "request_canceled",
            "info",
        ),
        (
            "Slot(0): Button press: canceling request to power on",
            "request_canceled",
            "info",
        ),
        (
            "Slot(0): Link Down/Up ignored (recovered by DPC)",
            "link_change_ignored",
            "info",
        ),
        (
            "Slot(0): Link Down/Up ignored",
            "link_change_ignored",
            "info",
        ),
        ("Slot(0): Latch open", "latch_open", "info"),
        ("Slot(0): Power fault", "power_fault", "warning"),
        ("Slot(0): No link", "no_link", "warning"),
        (
            "Slot(0): Cannot train link: status 0x0001",
            "training_failed",
            "warning",
        ),
        ("Slot(0): No device found", "no_device", "warning"),
    ] {
        slot(text, "0", change, severity);
    }
    slot("Slot(0-1): Link Down", "0-1", "link_down", "warning");
    slot(
        "Slot(4096-12): Card present",
        "4096-12",
        "card_present",
        "info",
    );
    slot("Failed to check link status", "", "no_link", "warning");
    slot(
        "Cannot add device at 0000:3b:00",
        "",
        "add_failed",
        "warning",
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
    check(
        "pciehp 0000:3a:00.0:pcie004: Slot(7): Link Down",
        &[
            ("kind", j!("pcie_hotplug")),
            ("detail/pci_device", j!(PORT)),
            ("detail/slot", j!("7")),
            ("detail/hotplug", j!("link_down")),
        ],
    );
}

#[test]
fn a_link_below_what_the_device_can_do() {
    check(
        "pci 0000:01:00.0: 2.000 Gb/s available PCIe bandwidth, limited by 2.5 GT/s PCIe x1 link at 0000:00:1c.0 (capable of 31.504 Gb/s with 8.0 GT/s PCIe x4 link)",
        &[
            ("kind", j!("pcie_link")),
            ("severity", j!("info")),
            ("gpu", Value::Null),
            ("detail/pci_device", j!("0000:01:00.0")),
            ("detail/limited_by", j!("0000:00:1c.0")),
            ("detail/bandwidth_gbps", j!(2.0)),
            ("detail/max_bandwidth_gbps", j!(31.504)),
            ("detail/speed", j!("2.5 GT/s PCIe")),
            ("detail/width", j!(1)),
            ("detail/max_speed", j!("8.0 GT/s PCIe")),
            ("detail/max_width", j!(4)),
        ],
    );
    for (line, limited_by, speed, width) in [
        (
            "mlx5_core 0000:5d:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8 GT/s x8 link at 0000:5c:00.0 (capable of 126.016 Gb/s with 8 GT/s x16 link)",
            j!("0000:5c:00.0"),
            j!("8 GT/s"),
            j!(8),
        ),
        (
            "pci 0000:3b:00.0: 252.048 Gb/s available PCIe bandwidth, limited by 16.0 GT/s PCIe x16 link at <unknown> (capable of 504.112 Gb/s with 32.0 GT/s PCIe x16 link), in Flit mode",
            Value::Null,
            j!("16.0 GT/s PCIe"),
            j!(16),
        ),
        (
            "pci 10000:e1:00.0: 0.000 Gb/s available PCIe bandwidth, limited by Unknown x0 link at 10000:e0:06.0 (capable of 31.504 Gb/s with 8.0 GT/s PCIe x4 link)",
            j!("10000:e0:06.0"),
            Value::Null,
            j!(0),
        ),
    ] {
        check(
            line,
            &[
                ("kind", j!("pcie_link")),
                ("detail/limited_by", limited_by),
                ("detail/speed", speed),
                ("detail/width", width),
            ],
        );
    }
}

#[test]
fn containment_in_both_wordings() {
    for (text, device, reason) in [
        (
            "status:0x1f01 source:0x0000",
            PORT,
            "unmasked uncorrectable error",
        ),
        (
            "status:0x1f03 source:0x3b00",
            "0000:3b:00.0",
            "ERR_NONFATAL",
        ),
        ("status:0x1f05 source:0x3b01", "0000:3b:00.1", "ERR_FATAL"),
        ("status:0x1f07 source:0x3b00", PORT, "RP PIO error"),
        ("status:0x1f27 source:0x0000", PORT, "software trigger"),
        ("status:0x1f47 source:0x0000", PORT, "reserved error"),
        (
            "status:0x1f01: unmasked uncorrectable error detected",
            PORT,
            "unmasked uncorrectable error",
        ),
        (
            "status:0x1f03, ERR_NONFATAL received from 0000:3b:00.0",
            "0000:3b:00.0",
            "ERR_NONFATAL",
        ),
        (
            "status:0x1f05, ERR_FATAL received from 0000:3b:00.0",
            "0000:3b:00.0",
            "ERR_FATAL",
        ),
        ("status:0x1f07: RP PIO error detected", PORT, "RP PIO error"),
    ] {
        check(
            &format!("pcieport {PORT}: DPC: containment event, {text}"),
            &[
                ("kind", j!("aer")),
                ("severity", j!("critical")),
                ("gpu", Value::Null),
                ("detail/pci_device", j!(device)),
                ("detail/reporter", j!(PORT)),
                ("detail/dpc_reason", j!(reason)),
                ("detail/dpc_status", j!(text[7..13])),
                ("detail/severity", Value::Null),
            ],
        );
    }
}

#[test]
fn the_end_of_a_recovery() {
    for (text, end, severity) in [
        ("device recovery failed", "failed", "critical"),
        ("device recovery successful", "successful", "info"),
        ("Device recovery failed", "failed", "critical"),
    ] {
        check(
            &format!("pcieport {PORT}: AER: {text}"),
            &[
                ("kind", j!("aer")),
                ("severity", j!(severity)),
                ("gpu", Value::Null),
                ("detail/pci_device", j!(PORT)),
                ("detail/recovery", j!(end)),
            ],
        );
    }
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
