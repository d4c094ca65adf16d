//! Xid lines: every form, every field.

mod common;

use common::{assert_fields, check, json, live, live_with, rows, table, table_of, version};
use serde_json::{Value, json as j};

const GPU: &str = "0000:3b:00.0";

#[test]
fn device_forms() {
    table_of(
        |device| format!("NVRM: Xid ({device}): 43, Ch 00000008"),
        &[
            ("kind", j!("xid")),
            ("detail/xid", j!(43)),
            ("detail/channel", j!("0x8")),
        ],
        r#"
0000:03:00
= {"gpu/pci": "0000:03:00.0", "gpu/mig_gi": null, "gpu/mig_ci": null}
PCI:0000:02:00
= {"gpu/pci": "0000:02:00.0", "gpu/mig_gi": null, "gpu/mig_ci": null}
PCI:0000:00:08.0
= {"gpu/pci": "0000:00:08.0", "gpu/mig_gi": null, "gpu/mig_ci": null}
PCI:000F:01:00
= {"gpu/pci": "000f:01:00.0", "gpu/mig_gi": null, "gpu/mig_ci": null}
PCI:10000:01:00
= {"gpu/pci": "10000:01:00.0", "gpu/mig_gi": null, "gpu/mig_ci": null}
PCI:0000:01:00 GPU-I:05
= {"gpu/pci": "0000:01:00.0", "gpu/mig_gi": 5, "gpu/mig_ci": null}
PCI:0000:01:00 GPU-I:05 GPU-CI:01
= {"gpu/pci": "0000:01:00.0", "gpu/mig_gi": 5, "gpu/mig_ci": 1}
PCI:0000:01:00 GPU-I:12
= {"gpu/pci": "0000:01:00.0", "gpu/mig_gi": 12, "gpu/mig_ci": null}
"#,
    );
}

#[test]
fn code_and_process_forms() {
    table_of(
        |tail| format!("NVRM: Xid (PCI:0000:3b:00): {tail}"),
        &[("gpu/pci", j!(GPU))],
        r#"
79, GPU has fallen off the bus.
= {"detail/xid": 79, "process/pid": null, "process/comm": null}
79, pid=1122, GPU has fallen off the bus.
= {"detail/xid": 79, "process/pid": 1122, "process/comm": null}
79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
= {"detail/xid": 79, "process/pid": null, "process/comm": null}
79, pid=1122, name=python3, GPU has fallen off the bus.
= {"detail/xid": 79, "process/pid": 1122, "process/comm": "python3"}
46
= {"detail/xid": 46, "process/pid": null, "process/comm": null}
46 something without a comma
= {"detail/xid": 46, "process/pid": null, "process/comm": null}
62,
= {"detail/xid": 62, "process/pid": null, "process/comm": null}
999, a code of tomorrow
= {"detail/xid": 999, "process/pid": null, "process/comm": null}
4294967295, the largest
= {"detail/xid": 4294967295, "process/pid": null, "process/comm": null}
43, pid=7, name=nvc:[driver], Ch 00000010
= {"detail/xid": 43, "process/pid": 7, "process/comm": "nvc:[driver]"}
43, pid=7, name=ray::WorkerDict, Ch 00000010
= {"detail/xid": 43, "process/pid": 7, "process/comm": "ray::WorkerDict"}
43, pid=7, name=my, odd proc, Ch 00000010
= {"detail/xid": 43, "process/pid": 7, "process/comm": "my, odd proc"}
43, pid=7, name=KMS thread, Ch 00000010
= {"detail/xid": 43, "process/pid": 7, "process/comm": "KMS thread"}
43, pid=7, name=a (b) [c], Ch 00000010
= {"detail/xid": 43, "process/pid": 7, "process/comm": "a (b) [c]"}
999, pid=7, name=foo, words unheard of, more
= {"detail/xid": 999, "process/pid": 7, "process/comm": "foo"}
13, pid=7, name=foo
= {"detail/xid": 13, "process/pid": 7, "process/comm": "foo"}
"#,
    );
}

/// Xids with a process, the code before the text, and what each says.
fn says(cases: &str) {
    for (line, fields) in rows(cases) {
        let (code, text) = line.split_once(' ').unwrap_or((line, ""));
        let mut want = vec![
            ("kind", j!("xid")),
            ("gpu/pci", j!(GPU)),
            ("process/pid", j!(4711)),
            ("process/comm", j!("pt_main_thread")),
            ("detail/xid", j!(code.parse::<u32>().ok())),
        ];
        want.extend(fields.iter().map(|(p, v)| (p.as_str(), v.clone())));
        check(
            &format!("NVRM: Xid (PCI:0000:3b:00): {code}, pid=4711, name=pt_main_thread, {text}"),
            &want,
        );
    }
}

#[test]
fn xid_13_sm_exceptions() {
    says(
        r#"
13 Graphics SM Warp Exception on (GPC 9, TPC 1, SM 0): Out Of Range Address
= {"detail/gpc": 9, "detail/tpc": 1, "detail/sm": 0}
13 Graphics SM Global Exception on (GPC 9, TPC 1, SM 0): Multiple Warp Errors
= {"detail/gpc": 9, "detail/tpc": 1, "detail/sm": 0}
13 Graphics Exception on (GPC 3, TPC 2): WIDTH CT Violation
= {"detail/gpc": 3, "detail/tpc": 2, "detail/sm": null}
13 Graphics Exception: ESR 0x514730=0x201000e 0x514734=0x20 0x514728=0x4c1eb72 0x51472c=0x174
= {"detail/gpc": null, "detail/channel": null}
13 Graphics Exception: ChID 001f, Class 0000c7c0, Offset 00000000, Data 00000000
= {"detail/channel": "0x1f"}
"#,
    );
}

#[test]
fn xid_31_mmu_faults() {
    says(
        r#"
31 Ch 00000010, intr 00000000. MMU Fault: ENGINE GRAPHICS GPC1 GPCCLIENT_T1_3 faulted @ 0x7f_abcd1000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ
= {"detail/channel": "0x10", "detail/engine": "GRAPHICS", "detail/gpc": 1, "detail/client": "GPCCLIENT_T1_3", "detail/fault_addr": "0x7fabcd1000", "detail/fault_type": "FAULT_PDE", "detail/access_type": "ACCESS_TYPE_VIRT_READ"}
31 Ch 0000002b, intr 00000000. MMU Fault: ENGINE CE3 HUBCLIENT_CE1 faulted @ 0x0_00000000. Fault is of type FAULT_INFO_TYPE_UNSUPPORTED_KIND ACCESS_TYPE_PHYS_WRITE
= {"detail/channel": "0x2b", "detail/engine": "CE3", "detail/gpc": null, "detail/client": "HUBCLIENT_CE1", "detail/fault_addr": "0x0", "detail/fault_type": "FAULT_INFO_TYPE_UNSUPPORTED_KIND", "detail/access_type": "ACCESS_TYPE_PHYS_WRITE"}
31 channel 0x00000004. MMU Fault: ENGINE CE0 HUBCLIENT_HOST faulted @ 0x0000000000001000. FAULT_PTE ACCESS_TYPE_ATOMIC
= {"detail/channel": "0x4", "detail/fault_addr": "0x1000", "detail/fault_type": "FAULT_PTE", "detail/access_type": "ACCESS_TYPE_ATOMIC"}
31 Ch 0000000b, engmask 00000101, intr 10000000
= {"detail/channel": "0xb", "detail/fault_addr": null}
"#,
    );
}

#[test]
fn channels_and_causes() {
    says(
        r#"
45 Ch 0000000c caused by previous Xid 145
= {"detail/channel": "0xc", "detail/caused_by_xid": 145}
45 Ch 00000001
= {"detail/caused_by_xid": null}
32 Channel ID 0000000d intr0 00040000
= {"detail/channel": "0xd"}
8 Channel 0000002a
= {"detail/channel": "0x2a"}
109 Ch 00000008, errorString CTX SWITCH TIMEOUT, Info 0x58005
= {"detail/channel": "0x8"}
69 Class Error: ChId 0012, Class 0000c9c0, Offset 00000260, Data 0000000b, ErrorCode 0000000c
= {"detail/channel": "0x12"}
160 Marking Channel 3 in FBPA 2 for repair
= {"detail/channel": null}
"#,
    );
}

#[test]
fn memory_errors() {
    says(
        r#"
48 DBE (double bit error) ECC Error
= {"severity": "critical"}
63 Row Remapper: New row (0x0000000c20b15c80) marked for remapping, reset gpu to activate.
= {}
64 Row Remapper: Error: no spare row
= {"severity": "critical"}
94 Contained: SM (0x1). RST: No, D-RST: Yes
= {"detail/reset_required": false, "detail/drain_reset_required": true}
94 Contained: CE User Channel (0x9). RST: No, D-RST: No
= {"detail/channel": "0x9", "detail/reset_required": false, "detail/drain_reset_required": false}
95 Uncontained: LTC TAG (0x2,0x0). physAddr: 0x03fbc1c0 RST: Yes, D-RST: No
= {"severity": "fatal", "detail/reset_required": true, "detail/drain_reset_required": false}
140 An uncorrectable ECC error detected (possible firmware handling failure) DRAM:0, LTC:1, MMU:0, PCIE:0
= {"severity": "fatal"}
"#,
    );
}

#[test]
fn gsp() {
    says(
        r#"
119 Timeout after 6s of waiting for RPC response from GPU2 GSP! Expected function 76 (GSP_RM_CONTROL) (0x20802a02 0x8).
= {"detail/gsp_timeout_s": 6, "detail/gpu_index": 2, "detail/gsp_function": 76, "detail/gsp_function_name": "GSP_RM_CONTROL"}
119 Timeout after 45s of waiting for RPC response from GPU10 GSP! Expected function 10 (FREE) sequence 1234 (0x5c00014d 0x0).
= {"detail/gsp_timeout_s": 45, "detail/gpu_index": 10, "detail/gsp_function": 10, "detail/gsp_function_name": "FREE"}
120 GSP task exception: load access fault
= {"detail/gsp_function": null}
143 GPU initialization failed
= {"severity": "fatal"}
"#,
    );
}

#[test]
fn nvlink() {
    says(
        r#"
74 NVLink: fatal error detected on link 2(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)
= {"detail/link": 2, "severity": "critical"}
136 NVLink: Link training failed for link 17
= {"detail/link": 17}
"#,
    );
}

#[test]
fn nvlink_5() {
    table(
        r#"
NVRM: Xid (PCI:0018:01:00): 145, RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x0409a0c2 0x00000008 0x00000001 0x00000000 0x00100000 0x00000004)
= xid warning {"gpu/pci": "0018:01:00.0", "detail/xid": 145, "detail/sub_unit": "RLW_RXPIPE", "detail/sub_severity": "Nonfatal", "detail/link": 13, "detail/sub_code": 0, "detail/sub_name": null, "detail/words": ["0x409a0c2", "0x8", "0x1", "0x0", "0x100000", "0x4"]}
"#,
    );
    // Columns padded with blanks, and no link.
    let line = "NVRM: Xid (PCI:0009:01:00): 149, NETIR_LINK_EVT  Fatal   XC0 i0 Link -1 \
                (0x021425c6 0x00000000)";
    let want = [
        ("severity", j!("critical")),
        ("detail/sub_unit", j!("NETIR_LINK_EVT")),
        ("detail/sub_severity", j!("Fatal")),
        ("detail/link", j!(-1)),
        ("detail/sub_code", j!(33)),
    ];
    check(line, &want);
    // The unit's number moved in branch 575.
    for (driver, line, name) in [
        ("570.133.20", line, j!("NETIR_LINK_EVT")),
        ("575.51.02", line, Value::Null),
        (
            "580.65.06",
            "NVRM: Xid (PCI:0009:01:00): 149, NETIR_LINK_DOWN Fatal XC0 i0 Link 03 (0x02500011 0x0)",
            j!("NETIR_LINK_DOWN"),
        ),
        (
            "570.133.20",
            "NVRM: Xid (PCI:0009:01:00): 149, NETIR_LINK_DOWN Fatal XC0 i0 Link 03 (0x02500011 0x0)",
            Value::Null,
        ),
    ] {
        let found = live_with(line, version(driver));
        assert_fields(line, &json(&found[0]), &[("detail/sub_name", name)]);
    }
    // The module's greeting serves where nobody says the version.
    let greeted = live(&format!(
        "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.195.03  Release Build\n{line}"
    ));
    assert_fields(
        line,
        &json(&greeted[0]),
        &[("detail/sub_name", j!("NETIR_LINK_EVT"))],
    );
    // Older form, several units, other brackets, with a process.
    says(
        r#"
149 NETIR_LINK_EVT/NETIR_LINK_DOWN Fatal XC 1 i 2 Link 01 [0x0000000a]
= {"detail/sub_unit": "NETIR_LINK_EVT/NETIR_LINK_DOWN", "detail/link": 1, "detail/words": ["0xa"]}
"#,
    );
}

#[test]
fn xid_154_recovery_action() {
    says(
        r#"
154 GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)
= {"detail/recovery_from": "None", "detail/recovery_to": "GPU Reset Required", "severity": "critical"}
154 GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)
= {"detail/recovery_from": "GPU Reset Required", "detail/recovery_to": "None", "severity": "info"}
154 GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)
= {"detail/recovery_from": "None", "detail/recovery_to": "Drain and Reset", "severity": "critical"}
"#,
    );
}

#[test]
fn the_uuid_is_taken_from_the_line_before_a_gpus_first_xid() {
    let found = live(
        "NVRM: GPU at PCI:0000:3b:00: GPU-b850f46d-d5ea-c752-ddf3-c7a3bb5c3c38\n\
         NVRM: GPU Board Serial Number: 1324321003123\n\
         NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n\
         NVRM: Xid (PCI:0000:5e:00): 79, GPU has fallen off the bus.",
    );
    assert_eq!(found.len(), 2);
    assert_fields(
        "uuid",
        &json(&found[0]),
        &[
            ("gpu/uuid", j!("GPU-b850f46d-d5ea-c752-ddf3-c7a3bb5c3c38")),
            ("lines", j!([3, 3])),
        ],
    );
    assert_fields("none", &json(&found[1]), &[("gpu/uuid", Value::Null)]);
}

#[test]
fn further_lines_of_an_xids_record_stay_in_its_message() {
    let mut decoder = gtrace_decoder::Decoder::new(gtrace_decoder::Options::default());
    let mut out = Vec::new();
    let text = "NVRM: Xid (PCI:0000:3b:00): 13, Graphics Exception\n  more of it\n";
    decoder.feed(&common::record(text, 9), &mut out);
    assert!(!decoder.has_pending(), "a single line is given at once");
    assert_eq!(out.len(), 1);
    assert_eq!(
        out[0].message,
        "NVRM: Xid (PCI:0000:3b:00): 13, Graphics Exception\nmore of it"
    );
    assert_eq!(out[0].lines, Some([9, 9]));
}

#[test]
fn an_impossible_device_number_leaves_what_is_sure() {
    table(
        r#"
NVRM: Xid (PCI:0001:ab:cd): 69, pid=1310987, name=train.3, Class Error: ChId 0008
= xid {"gpu": null, "process/pid": 1310987, "process/comm": "train.3", "detail/xid": 69}
"#,
    );
    for not_one in ["PCI:no:where", "PCI:", "PCI:0001", "PCI::ab:cd", "x"] {
        assert!(live(&format!("NVRM: Xid ({not_one}): 69, x")).is_empty());
    }
}
