//! The NVIDIA driver's lines without Xid, SXid and peermem.

mod common;

use common::{assert_fields, json, live, saved, table};
use gtrace_event::Kind;
use serde_json::{Value, json as j};

const LOST: &str = "NVRM: The NVIDIA GPU 0000:29:00.0\n\
                    NVRM: (PCI ID: 10de:1db6) installed in this system has\n\
                    NVRM: fallen off the bus and is not responding to commands.";

#[test]
fn gpu_lost_in_one_line() {
    table(
        r#"
NVRM: GPU 0000:29:00.0: GPU has fallen off the bus.
= gpu_lost fatal {"gpu/pci": "0000:29:00.0"}
NVRM: GPU at 0000:29:00.0 has fallen off the bus.
= gpu_lost fatal {"gpu/pci": "0000:29:00.0"}
"#,
    );
    let companions = "NVRM: GPU at PCI:0000:29:00: GPU-b850f46d-d5ea-c752-ddf3-c7a3bb5c3c38\n\
                      NVRM: GPU 0000:29:00.0: GPU serial number is 1324321003123.\n\
                      NVRM: GPU 0000:29:00.0: GPU is on Board 1324321003123.\n\
                      NVRM: A GPU crash dump has been created. If possible, please run\n\
                      NVRM: nvidia-bug-report.sh as root to collect this data before\n\
                      NVRM: the NVIDIA kernel module is unloaded.";
    assert!(live(companions).is_empty());
}

fn is_lost(found: &[gtrace_event::Occurrence], lines: [u64; 2], context: &str) {
    assert_eq!(found.len(), 1, "{context}: {found:#?}");
    assert_fields(
        context,
        &json(&found[0]),
        &[
            ("kind", j!("gpu_lost")),
            ("gpu/pci", j!("0000:29:00.0")),
            ("detail/device_id", j!("10de:1db6")),
            ("message", j!(LOST)),
            ("lines", j!(lines)),
        ],
    );
}

#[test]
fn gpu_lost_in_three_lines() {
    is_lost(&live(LOST), [1, 3], "three records");
    let prefixed: String = LOST
        .lines()
        .map(|l| format!("[ 1843.308145] {l}\n"))
        .collect();
    is_lost(&saved(&prefixed), [1, 3], "three prefixed lines");
    is_lost(&saved(LOST), [1, 3], "three raw lines");
    let indented = format!(
        "[ 1843.308145] {}\n",
        LOST.replace('\n', "\n               ")
    );
    is_lost(&saved(&indented), [1, 3], "indented");
    let escaped = format!(
        "4,812,1843308145,-;{}\n SUBSYSTEM=pci\n",
        LOST.replace('\n', "\\x0a")
    );
    is_lost(&saved(&escaped), [1, 2], "/dev/kmsg");
    let octal = format!(
        "Mar  3 04:05:06 n1 kernel: {}\n",
        LOST.replace('\n', "#012")
    );
    is_lost(&saved(&octal), [1, 1], "rsyslog");
    for prefix in ["", "[ 1843.308145] ", "Mar 03 04:05:06 n1 kernel: "] {
        let cut = format!("{prefix}{}\n", LOST.replace('\n', "\\x0a"));
        is_lost(&saved(&cut), [1, 1], "/dev/kmsg without its numbers");
    }
    let mut decoder = gtrace_decoder::Decoder::new(gtrace_decoder::Options::default());
    let mut out = Vec::new();
    decoder.feed(&common::record(LOST, 812), &mut out);
    is_lost(&out, [812, 812], "one record, given at once");
    // Another CPU's lines in between.
    let mixed = LOST.replace(
        "\nNVRM: (",
        "\nusb 1-1: new device\nNVRM: nvidia-modeset: x\nNVRM: (",
    );
    let found = live(&mixed);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].message, LOST);
    assert_eq!(found[0].lines, Some([1, 5]));
}

#[test]
fn an_unknown_gpu_is_not_a_lost_one() {
    let text = "NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:1184)\n\
                NVRM: installed in this system is not supported by the\n\
                NVRM: NVIDIA 535.54.03 driver release.\n";
    assert!(live(text).is_empty());
    assert!(live("NVRM: The NVIDIA GPU 0000:01:00.0\nNVRM: x\n").is_empty());
    assert!(live("NVRM: The NVIDIA probe routine failed for 1 device(s).").is_empty());
}

#[test]
fn driver_init_failed() {
    table(
        r#"
NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x24:0x65:1438)
= driver_init_failed {"gpu/pci": "0000:3b:00.0", "detail/rm_init_code": "0x24:0x65:1438"}
NVRM: RmInitAdapter failed! (0x26:0xffff:1096)
= {"gpu": null, "detail/rm_init_code": "0x26:0xffff:1096"}
"#,
    );
    // The companion tells the same again, unless it comes alone.
    let twice = "NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x24:0x65:1438)\n\
                 NVRM: GPU 0000:3b:00.0: rm_init_adapter failed, device minor number 0\n";
    assert_eq!(live(twice).len(), 1);
    assert_eq!(live(&twice.repeat(3)).len(), 3);
    let old = "NVRM: RmInitAdapter failed! (0x26:0xffff:1096)\n\
               NVRM: rm_init_adapter failed for device bearing minor number 0";
    assert_eq!(live(old).len(), 1);
    table(
        r#"
NVRM: GPU 0000:3b:00.0: rm_init_adapter failed, device minor number 0
= driver_init_failed {"gpu/pci": "0000:3b:00.0"}
"#,
    );
    let other = "NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x24:0x65:1438)\n\
                 NVRM: GPU 0000:86:00.0: rm_init_adapter failed, device minor number 1\n";
    assert_eq!(live(other).len(), 2);
}

#[test]
fn driver_mismatch() {
    let old = "NVRM: API mismatch: the client has the version 535.54.03, but\n\
               NVRM: this kernel module has the version 525.105.17.  Please\n\
               NVRM: make sure that this kernel module and all NVIDIA driver\n\
               NVRM: components have the same version.";
    let new = "NVRM: API mismatch: the client 'nvidia-smi' (pid 849)\n\
               NVRM: has the version 570.133.07, but this kernel module has\n\
               NVRM: the version 575.51.02.  Please make sure that this\n\
               NVRM: kernel module and all NVIDIA driver components\n\
               NVRM: have the same version.";
    for (text, library, module, pid, comm) in [
        (old, "535.54.03", "525.105.17", Value::Null, Value::Null),
        (new, "570.133.07", "575.51.02", j!(849), j!("nvidia-smi")),
    ] {
        let want = |lines: [u64; 2]| {
            vec![
                ("kind", j!("driver_mismatch")),
                ("message", j!(text)),
                ("process/pid", pid.clone()),
                ("process/comm", comm.clone()),
                ("detail/library_version", j!(library)),
                ("detail/module_version", j!(module)),
                ("lines", j!(lines)),
            ]
        };
        let count = text.lines().count() as u64;
        for (log, lines) in [
            (text.to_owned(), [1, count]),
            (
                text.lines().map(|l| format!("[    9.1] {l}\n")).collect(),
                [1, count],
            ),
            (
                format!("[    9.1] {}", text.replace('\n', "\n            ")),
                [1, count],
            ),
            (
                format!(
                    "Mar 03 04:05:06 h kernel: {}\r\n",
                    text.replace('\n', "\r\n    ")
                ),
                [1, count],
            ),
            (
                format!("4,8,1843308145,-;{}\n", text.replace('\n', "\\x0a")),
                [1, 1],
            ),
            (
                format!("Mar  3 04:05:06 h kernel: {}\n", text.replace('\n', "#012")),
                [1, 1],
            ),
        ] {
            let found = saved(&log);
            assert_eq!(found.len(), 1, "{log}\n{found:#?}");
            assert_fields(&log, &json(&found[0]), &want(lines));
        }
        let once = live(&format!("{text}\n{text}"));
        assert_eq!(once.len(), 2, "each mismatch is one");
    }
    // Cut short: what is known is given.
    let found = live("NVRM: API mismatch: the client has the version 535.54.03, but\nusb 1-1: x");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].kind, Kind::DriverMismatch);
    assert_eq!(
        found[0].detail.xid.library_version.as_deref(),
        Some("535.54.03")
    );
}

const SXID: &str = "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)";
const SXID_SEVERITY: &str = "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Severity 1 Engine instance 32 Sub-engine instance 00";
const SXID_DATA: &str =
    "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Data {0x00000001, 0x00bd5c8a, 0x00000000}";

#[test]
fn sxid_alone() {
    table(
        r#"
nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)
= sxid warning {"gpu/pci": "0000:c1:00.0", "detail/sxid": 12028, "detail/nvswitch": 0, "detail/link": 32, "detail/scope": "Non-fatal"}
nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 30 LTSSM Fault Up
= {"severity": "critical", "detail/sxid": 20034, "detail/nvswitch": 3, "detail/link": 30, "detail/scope": "Fatal"}
nvidia-nvswitch1: SXid (PCI:0000:84:00.0): 99999, Non-fatal, Something of tomorrow
= {"detail/sxid": 99999, "detail/link": null}
"#,
    );
}

#[test]
fn sxid_with_its_further_lines() {
    let found = live(&format!("{SXID}\n{SXID_SEVERITY}\nusb 1-1: x\n{SXID_DATA}"));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_fields(
        "group",
        &json(&found[0]),
        &[
            (
                "message",
                j!(format!("{SXID}\n{SXID_SEVERITY}\n{SXID_DATA}")),
            ),
            ("lines", j!([1, 4])),
            ("detail/data", j!(["0x1", "0xbd5c8a", "0x0"])),
            ("detail/link", j!(32)),
        ],
    );
    // Two switches at once.
    let other = |l: &str| {
        l.replace("nvswitch0", "nvswitch1")
            .replace("c1:00", "c2:00")
    };
    let mixed = [
        SXID.to_owned(),
        other(SXID),
        SXID_SEVERITY.to_owned(),
        other(SXID_SEVERITY),
        other(SXID_DATA),
        SXID_DATA.to_owned(),
    ]
    .join("\n");
    let found = live(&mixed);
    assert_eq!(found.len(), 2);
    assert_eq!(
        found
            .iter()
            .filter(|o| o.message.lines().count() == 3)
            .count(),
        2
    );
    // The same again begins a new one.
    assert_eq!(live(&format!("{SXID}\n{SXID}\n{SXID}")).len(), 3);
    let again = format!("{SXID}\n{SXID_SEVERITY}\n{SXID_DATA}\n").repeat(4);
    assert_eq!(live(&again).len(), 4);
    // Log begins in the middle.
    let found = live(SXID_DATA);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].detail.fabric.sxid, Some(12028));
}

#[test]
fn peermem() {
    table(
        r#"
nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing
= peermem_error warning
nvidia-peermem nv_mem_client_init:578 ERROR failed to register peer memory client
= peermem_error warning
nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -22)
= peermem_error warning
nvidia_peermem: disagrees about version of symbol ib_register_peer_memory_client
= peermem_error warning
"#,
    );
}
