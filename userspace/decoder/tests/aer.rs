//! PCIe AER: generations of wording, grouping over interleaved records.

mod common;

use common::{live, saved, table};
use gtrace_event::Occurrence;

#[test]
fn first_generation() {
    table(
        r#"
pcieport 0000:00:1c.0: AER: Corrected error received: id=00e0
pcieport 0000:00:1c.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, id=00e0(Receiver ID)
pcieport 0000:00:1c.0:   device [8086:9d15] error status/mask=00000001/00002000
pcieport 0000:00:1c.0:    [ 0] Receiver Error         (First)
= aer warning {"gpu": null, "detail/pci_device": "0000:00:1c.0", "detail/severity": "Corrected", "detail/layer": "Physical Layer", "detail/agent": "Receiver ID", "detail/status": "0x1", "detail/mask": "0x2000", "detail/device_id": "8086:9d15", "detail/errors": ["Receiver Error"], "detail/reporter": "0000:00:1c.0"}
"#,
    );
}

#[test]
fn second_generation() {
    table(
        r#"
pcieport 0000:00:1b.0: AER: Multiple Corrected error received: 0000:3b:00.0
nvidia 0000:3b:00.0: AER: PCIe Bus Error: severity=Corrected, type=Data Link Layer, (Transmitter ID)
nvidia 0000:3b:00.0: AER:   device [10de:2330] error status/mask=00001040/0000a000
nvidia 0000:3b:00.0: AER:    [ 6] BadTLP
nvidia 0000:3b:00.0: AER:    [12] Timeout
= aer {"gpu/pci": "0000:3b:00.0", "detail/pci_device": "0000:3b:00.0", "detail/severity": "Corrected", "detail/layer": "Data Link Layer", "detail/agent": "Transmitter ID", "detail/status": "0x1040", "detail/mask": "0xa000", "detail/device_id": "10de:2330", "detail/errors": ["BadTLP", "Timeout"], "detail/reporter": "0000:00:1b.0"}
"#,
    );
}

#[test]
fn third_generation_with_tlp_header() {
    table(
        r#"
pcieport 0000:80:01.1: AER: Uncorrectable (Non-Fatal) error message received from 0000:81:00.0
nvidia 0000:81:00.0: PCIe Bus Error: severity=Uncorrectable (Non-Fatal), type=Transaction Layer, (Requester ID)
nvidia 0000:81:00.0:   device [10de:2330] error status/mask=00100000/00000000
nvidia 0000:81:00.0:    [20] UnsupReq               (First)
nvidia 0000:81:00.0: AER:   TLP Header: 34000000 00000052 00000000 00000000
nvidia 0000:81:00.0: AER:   Error of this Agent is reported first
= aer critical {"gpu/pci": "0000:81:00.0", "detail/pci_device": "0000:81:00.0", "detail/severity": "Uncorrectable (Non-Fatal)", "detail/layer": "Transaction Layer", "detail/agent": "Requester ID", "detail/errors": ["UnsupReq"], "detail/tlp_header": ["0x34000000", "0x52", "0x0", "0x0"], "detail/reporter": "0000:80:01.1"}
"#,
    );
    // Since Linux 6.16, on a link in Flit mode (drivers/pci/pcie/tlp.c).
    table(
        r#"
nvidia 0000:81:00.0: PCIe Bus Error: severity=Uncorrectable (Non-Fatal), type=Transaction Layer, (Requester ID)
nvidia 0000:81:00.0:   device [10de:2b00] error status/mask=00100000/00000000
nvidia 0000:81:00.0:    [20] UnsupReq               (First)
nvidia 0000:81:00.0:   TLP Header (Flit): 0x34000000 0x00000052 0x00000000 0x00000000 0x00000001
= aer {"detail/errors": ["UnsupReq"], "detail/tlp_header": ["0x34000000", "0x52", "0x0", "0x0", "0x1"]}
pcieport 0000:80:01.1: AER: PCIe Bus Error: severity=Uncorrectable (Fatal), type=Inaccessible, (Unregistered Agent ID)
= aer fatal {"detail/layer": "Inaccessible", "detail/agent": "Unregistered Agent ID"}
"#,
    );
}

#[test]
fn a_ports_message_alone_is_an_event_of_the_device_named() {
    table(
        r#"
pcieport 0000:00:1c.0: AER: Corrected error received: id=3b00
= aer {"gpu": null, "detail/pci_device": "0000:3b:00.0", "detail/severity": "Corrected"}
pcieport 0001:00:1c.0: AER: Corrected error received: id=0010
= aer {"gpu": null, "detail/pci_device": "0001:00:02.0", "detail/severity": "Corrected"}
pcieport 0000:00:1c.0: AER: Multiple Uncorrected (Fatal) error received: 0000:3b:00.1
= aer {"gpu": null, "detail/pci_device": "0000:3b:00.1", "detail/severity": "Uncorrected (Fatal)"}
pcieport 0000:00:1c.5: AER: Correctable error message received from 0000:00:1c.5
= aer {"gpu": null, "detail/pci_device": "0000:00:1c.5", "detail/severity": "Correctable"}
pcieport 10000:e0:06.0: AER: Correctable error message received from 10000:e1:00.0 (no details found)
= aer {"gpu": null, "detail/pci_device": "10000:e1:00.0", "detail/severity": "Correctable"}
pcieport 0000:00:1c.5: AER: Correctable error message received from 0000:00:1c.5
pcieport 0000:00:1c.5: AER: found no error details for 0000:00:1c.5
= aer {"gpu": null, "detail/pci_device": "0000:00:1c.5"}
pcieport 0000:00:1c.5: AER: Corrected error received: id=00e5
pcieport 0000:00:1c.5: AER: can't find device of ID00e5
= aer {"gpu": null, "detail/pci_device": "0000:00:1c.5"}
"#,
    );
}

#[test]
fn a_message_without_source_takes_the_device_that_follows() {
    table(
        r#"
pcieport 0000:00:01.0: AER: Corrected error received: 0000:00:00.0
nvidia 0000:01:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)
nvidia 0000:01:00.0:   device [10de:2204] error status/mask=00000001/0000a000
nvidia 0000:01:00.0:    [ 0] RxErr
= aer {"gpu/pci": "0000:01:00.0", "detail/pci_device": "0000:01:00.0", "detail/reporter": "0000:00:01.0"}
"#,
    );
}

#[test]
fn several_devices_under_one_message_are_several_events() {
    let found = live(
        "pcieport 0000:40:01.1: AER: Multiple Corrected error received: 0000:41:00.0\n\
         pcieport 0000:41:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)\n\
         pcieport 0000:41:00.0:   device [1000:c030] error status/mask=00000001/00000000\n\
         pcieport 0000:41:00.0:    [ 0] RxErr                  (First)\n\
         nvidia 0000:43:00.0: PCIe Bus Error: severity=Corrected, type=Data Link Layer, (Receiver ID)\n\
         nvidia 0000:43:00.0:   device [10de:20b0] error status/mask=00000080/00000000\n\
         nvidia 0000:43:00.0:    [ 7] BadDLLP",
    );
    assert_eq!(found.len(), 2, "{found:#?}");
    let device = |o: &Occurrence| o.detail.pcie.pci_device.unwrap().to_string();
    assert_eq!(device(&found[0]), "0000:41:00.0");
    let gpus: Vec<_> = found.iter().map(|o| o.gpu.is_some()).collect();
    assert_eq!(
        gpus,
        [false, true],
        "only NVIDIA's driver says that it is a GPU"
    );
    assert_eq!(found[0].message.lines().count(), 4);
    assert_eq!(device(&found[1]), "0000:43:00.0");
    assert_eq!(found[1].message.lines().count(), 3);
    assert_eq!(found[1].detail.aer.errors, ["BadDLLP"]);
}

#[test]
fn firmware_reports() {
    table(
        r#"
pcieport 0000:00:1c.0: AER: aer_status: 0x00000001, aer_mask: 0x00002000
pcieport 0000:00:1c.0:    [ 0] RxErr                  (First)
pcieport 0000:00:1c.0: AER: aer_layer=Physical Layer, aer_agent=Receiver ID
= aer warning {"gpu": null, "detail/pci_device": "0000:00:1c.0", "detail/severity": "Correctable", "detail/status": "0x1", "detail/mask": "0x2000", "detail/layer": "Physical Layer", "detail/agent": "Receiver ID", "detail/errors": ["RxErr"]}
nvidia 0000:3b:00.0: aer_status: 0x00100000, aer_mask: 0x00000000
nvidia 0000:3b:00.0:    [20] UnsupReq               (First)
nvidia 0000:3b:00.0: aer_layer=Transaction Layer, aer_agent=Requester ID
nvidia 0000:3b:00.0: aer_uncor_severity: 0x00462030
nvidia 0000:3b:00.0:   TLP Header: 04000001 0000000f 01020000 00000000
= aer {"detail/severity": "Uncorrectable (Non-Fatal)", "detail/tlp_header": ["0x4000001", "0xf", "0x1020000", "0x0"]}
nvidia 0000:3b:00.0: aer_status: 0x00100000, aer_mask: 0x00000000
nvidia 0000:3b:00.0:    [20] UnsupReq               (First)
nvidia 0000:3b:00.0: aer_layer=Transaction Layer, aer_agent=Requester ID
nvidia 0000:3b:00.0: aer_uncor_severity: 0x00562030
nvidia 0000:3b:00.0:   TLP Header: 04000001 0000000f 01020000 00000000
= aer {"detail/severity": "Uncorrectable (Fatal)", "detail/tlp_header": ["0x4000001", "0xf", "0x1020000", "0x0"]}
"#,
    );
}

fn burst(device: &str, status: u32) -> Vec<String> {
    vec![
        format!("pcieport 0000:00:1c.0: AER: Corrected error received: {device}"),
        format!(
            "nvidia {device}: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)"
        ),
        format!("nvidia {device}:   device [10de:2330] error status/mask={status:08x}/00002000"),
        format!("nvidia {device}:    [ 0] RxErr"),
    ]
}

#[test]
fn interleaved_devices_are_kept_apart() {
    let a = burst("0000:3b:00.0", 1);
    let b = burst("0000:5e:00.0", 0x41);
    let mixed: Vec<String> = a
        .iter()
        .zip(&b)
        .flat_map(|(a, b)| [a.clone(), "x: y".into(), b.clone()])
        .collect();
    let found = live(&mixed.join("\n"));
    assert_eq!(found.len(), 2, "{found:#?}");
    assert_eq!(found[0].message, a.join("\n"));
    assert_eq!(found[1].message, b.join("\n"));
    assert_eq!(found[1].detail.aer.status.as_deref(), Some("0x41"));
}

#[test]
fn a_storm_is_as_many_events_as_messages() {
    let text = burst("0000:3b:00.0", 1).join("\n") + "\n";
    assert_eq!(live(&text.repeat(100)).len(), 100);
}

#[test]
fn a_group_closes_by_records_by_time_and_at_flush() {
    let lines = burst("0000:3b:00.0", 1);
    let mut decoder = gtrace_decoder::Decoder::new(gtrace_decoder::Options::default());
    let mut out = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        decoder.feed(&common::record(line, at as u64), &mut out);
    }
    assert!(out.is_empty() && decoder.has_pending());
    let mut later = common::record("usb 1-1: x", 5);
    later.timestamp_us = Some(2_100_000);
    decoder.feed(&later, &mut out);
    assert_eq!((out.len(), decoder.has_pending()), (1, false), "by time");

    for (at, line) in lines.iter().enumerate() {
        decoder.feed(&common::record(line, at as u64), &mut out);
    }
    for _ in 0..40 {
        let mut other = common::record("usb 1-1: x", 5);
        other.timestamp_us = None;
        decoder.feed(&other, &mut out);
    }
    assert_eq!((out.len(), decoder.has_pending()), (2, false), "by records");

    decoder.feed(&common::record(&lines[1], 50), &mut out);
    decoder.flush(&mut out);
    assert_eq!((out.len(), decoder.has_pending()), (3, false), "by flush");
}

#[test]
fn forged_lines_do_not_join_the_kernels() {
    let lines = burst("0000:3b:00.0", 1);
    let mut decoder = gtrace_decoder::Decoder::new(gtrace_decoder::Options::default());
    let mut out = Vec::new();
    decoder.feed(&common::record(&lines[0], 1), &mut out);
    decoder.feed(&common::record(&lines[1], 2), &mut out);
    let mut forged = common::record(&lines[3], 3);
    forged.facility = Some(1);
    decoder.feed(&forged, &mut out);
    decoder.flush(&mut out);
    assert_eq!(out.len(), 1);
    assert!(out[0].detail.aer.errors.is_empty());
}

#[test]
fn events_come_in_the_order_of_their_first_lines() {
    let mut lines = burst("0000:3b:00.0", 1);
    lines.insert(
        2,
        "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.".into(),
    );
    let found = saved(&lines.join("\n"));
    let order: Vec<_> = found
        .iter()
        .map(|o| (o.kind.name(), o.lines.unwrap()))
        .collect();
    assert_eq!(order, [("aer", [1, 5]), ("xid", [3, 3])]);
}

/// `nvidia-nvswitch` is the name of a PCI driver too, so the kernel begins its own lines with it.
#[test]
fn an_error_of_an_nvswitch_is_one_with_its_drivers_name_before_it() {
    table(
        r#"
nvidia-nvswitch 0000:05:00.0: PCIe Bus Error: severity=Uncorrectable (Fatal), type=Data Link Layer, (Receiver ID)
nvidia-nvswitch 0000:05:00.0:   device [10de:22a3] error status/mask=00000010/00000000
nvidia-nvswitch 0000:05:00.0:    [ 4] DLP                    (First)
= aer {"detail/pci_device": "0000:05:00.0", "detail/severity": "Uncorrectable (Fatal)", "detail/errors": ["DLP"], "detail/device_id": "10de:22a3"}
"#,
    );
}

/// The kernel reads the registers of a device that may not answer between the port's message and the rest.
#[test]
fn details_that_come_after_the_ports_message_was_seen_go_on_with_it() {
    let lines = burst("0000:3b:00.0", 1);
    let mut decoder = gtrace_decoder::Decoder::new(gtrace_decoder::Options::default());
    let mut out = Vec::new();
    let mut feed = |line: &str, us: u64, flush: bool| {
        let mut record = common::record(line, us);
        record.timestamp_us = Some(us);
        decoder.feed(&record, &mut out);
        if flush {
            decoder.flush(&mut out);
        }
        std::mem::take(&mut out)
    };
    let events = feed(&lines[0], 1_000_000, true);
    assert_eq!(events.len(), 1, "{events:#?}");
    assert!(!events[0].continues);
    for line in &lines[1..lines.len() - 1] {
        assert!(feed(line, 2_000_000, false).is_empty());
    }
    let rest = feed(lines.last().unwrap(), 2_000_000, true);
    assert_eq!(rest.len(), 1, "{rest:#?}");
    assert!(rest[0].continues);
    assert_eq!(rest[0].detail.aer.errors, ["RxErr"]);
    assert_eq!(rest[0].fold_key(), events[0].fold_key());

    // The next report is one of its own, also after a message that nothing followed.
    assert_eq!(feed(&lines[0], 3_000_000, true).len(), 1);
    for line in &lines {
        assert!(feed(line, 4_000_000, false).is_empty());
    }
    let next = feed("usb 1-1: x", 9_000_000, false);
    assert_eq!(next.len(), 1, "{next:#?}");
    assert!(!next[0].continues);

    // A minute later nobody can say what the details belong to.
    assert_eq!(feed(&lines[0], 10_000_000, true).len(), 1);
    let alone = feed(&lines[1], 80_000_000, true);
    assert!(!alone[0].continues, "{alone:#?}");
}
