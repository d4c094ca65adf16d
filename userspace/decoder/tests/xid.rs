//! Xid lines: every form, every field.

mod common;

use common::{assert_fields, check, json, live, live_with, version};
use serde_json::{Value, json as j};

const GPU: &str = "0000:3b:00.0";

#[test]
fn device_forms() {
    for (device, pci, gi, ci) in [
        ("0000:03:00", "0000:03:00.0", Value::Null, Value::Null),
        ("PCI:0000:02:00", "0000:02:00.0", Value::Null, Value::Null),
        ("PCI:0000:00:08.0", "0000:00:08.0", Value::Null, Value::Null),
        ("PCI:000F:01:00", "000f:01:00.0", Value::Null, Value::Null),
        ("PCI:10000:01:00", "10000:01:00.0", Value::Null, Value::Null),
        (
            "PCI:0000:01:00 GPU-I:05",
            "0000:01:00.0",
            j!(5),
            Value::Null,
        ),
        (
            "PCI:0000:01:00 GPU-I:05 GPU-CI:01",
            "0000:01:00.0",
            j!(5),
            j!(1),
        ),
        (
            "PCI:0000:01:00 GPU-I:12",
            "0000:01:00.0",
            j!(12),
            Value::Null,
        ),
    ] {
        check(
            &format!("NVRM: Xid ({device}): 43, Ch 00000008"),
            &[
                ("kind", j!("xid")),
                ("gpu/pci", j!(pci)),
                ("gpu/mig_gi", gi),
                ("gpu/mig_ci", ci),
                ("detail/xid", j!(43)),
                ("detail/channel", j!("0x8")),
            ],
        );
    }
}

#[test]
fn code_and_process_forms() {
    for (tail, xid, pid, comm) in [
        (
            "79, GPU has fallen off the bus.",
            79,
            Value::Null,
            Value::Null,
        ),
        (
            "79, pid=1122, GPU has fallen off the bus.",
            79,
            j!(1122),
            Value::Null,
        ),
        (
            "79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
            79,
            Value::Null,
            Value::Null,
        ),
        (
            "79, pid=1122, name=python3, GPU has fallen off the bus.",
            79,
            j!(1122),
            j!("python3"),
        ),
        ("46", 46, Value::Null, Value::Null),
        ("46 something without a comma", 46, Value::Null, Value::Null),
        ("62,", 62, Value::Null, Value::Null),
        ("999, a code of tomorrow", 999, Value::Null, Value::Null),
        (
            "4294967295, the largest",
            4_294_967_295u32,
            Value::Null,
            Value::Null,
        ),
        (
            "43, pid=7, name=nvc:[driver], Ch 00000010",
            43,
            j!(7),
            j!("nvc:[driver]"),
        ),
        (
            "43, pid=7, name=ray::WorkerDict, Ch 00000010",
            43,
            j!(7),
            j!("ray::WorkerDict"),
        ),
        (
            "43, pid=7, name=my, odd proc, Ch 00000010",
            43,
            j!(7),
            j!("my, odd proc"),
        ),
        (
            "43, pid=7, name=KMS thread, Ch 00000010",
            43,
            j!(7),
            j!("KMS thread"),
        ),
        (
            "43, pid=7, name=a (b) [c], Ch 00000010",
            43,
            j!(7),
            j!("a (b) [c]"),
        ),
        (
            "999, pid=7, name=foo, words unheard of, more",
            999,
            j!(7),
            j!("foo"),
        ),
        ("13, pid=7, name=foo", 13, j!(7), j!("foo")),
    ] {
        check(
            &format!("NVRM: Xid (PCI:0000:3b:00): {tail}"),
            &[
                ("gpu/pci", j!(GPU)),
                ("detail/xid", j!(xid)),
                ("process/pid", pid),
                ("process/comm", comm),
            ],
        );
    }
}

/// One Xid with process, and what its text says.
fn says(code: u32, text: &str, want: &[(&str, Value)]) {
    let mut fields = vec![
        ("kind", j!("xid")),
        ("gpu/pci", j!(GPU)),
        ("process/pid", j!(4711)),
        ("process/comm", j!("pt_main_thread")),
        ("detail/xid", j!(code)),
    ];
    fields.extend_from_slice(want);
    let line = format!("NVRM: Xid (PCI:0000:3b:00): {code}, pid=4711, name=pt_main_thread, {text}");
    check(&line, &fields);
}

#[test]
fn xid_13_sm_exceptions() {
    for text in [
        "Graphics SM Warp Exception on (GPC 9, TPC 1, SM 0): Out Of Range Address",
        "Graphics SM Global Exception on (GPC 9, TPC 1, SM 0): Multiple Warp Errors",
    ] {
        says(
            13,
            text,
            &[
                ("detail/gpc", j!(9)),
                ("detail/tpc", j!(1)),
                ("detail/sm", j!(0)),
            ],
        );
    }
    says(
        13,
        "Graphics Exception on (GPC 3, TPC 2): WIDTH CT Violation",
        &[
            ("detail/gpc", j!(3)),
            ("detail/tpc", j!(2)),
            ("detail/sm", Value::Null),
        ],
    );
    says(
        13,
        "Graphics Exception: ESR 0x514730=0x201000e 0x514734=0x20 0x514728=0x4c1eb72 0x51472c=0x174",
        &[("detail/gpc", Value::Null), ("detail/channel", Value::Null)],
    );
    says(
        13,
        "Graphics Exception: ChID 001f, Class 0000c7c0, Offset 00000000, Data 00000000",
        &[("detail/channel", j!("0x1f"))],
    );
}

#[test]
fn xid_31_mmu_faults() {
    says(
        31,
        "Ch 00000010, intr 00000000. MMU Fault: ENGINE GRAPHICS GPC1 GPCCLIENT_T1_3 faulted @ \
         0x7f_abcd1000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ",
        &[
            ("detail/channel", j!("0x10")),
            ("detail/engine", j!("GRAPHICS")),
            ("detail/gpc", j!(1)),
            ("detail/client", j!("GPCCLIENT_T1_3")),
            ("detail/fault_addr", j!("0x7fabcd1000")),
            ("detail/fault_type", j!("FAULT_PDE")),
            ("detail/access_type", j!("ACCESS_TYPE_VIRT_READ")),
        ],
    );
    says(
        31,
        "Ch 0000002b, intr 00000000. MMU Fault: ENGINE CE3 HUBCLIENT_CE1 faulted @ 0x0_00000000. \
         Fault is of type FAULT_INFO_TYPE_UNSUPPORTED_KIND ACCESS_TYPE_PHYS_WRITE",
        &[
            ("detail/channel", j!("0x2b")),
            ("detail/engine", j!("CE3")),
            ("detail/gpc", Value::Null),
            ("detail/client", j!("HUBCLIENT_CE1")),
            ("detail/fault_addr", j!("0x0")),
            ("detail/fault_type", j!("FAULT_INFO_TYPE_UNSUPPORTED_KIND")),
            ("detail/access_type", j!("ACCESS_TYPE_PHYS_WRITE")),
        ],
    );
    says(
        31,
        "channel 0x00000004. MMU Fault: ENGINE CE0 HUBCLIENT_HOST faulted @ 0x0000000000001000. \
         FAULT_PTE ACCESS_TYPE_ATOMIC",
        &[
            ("detail/channel", j!("0x4")),
            ("detail/fault_addr", j!("0x1000")),
            ("detail/fault_type", j!("FAULT_PTE")),
            ("detail/access_type", j!("ACCESS_TYPE_ATOMIC")),
        ],
    );
    says(
        31,
        "Ch 0000000b, engmask 00000101, intr 10000000",
        &[
            ("detail/channel", j!("0xb")),
            ("detail/fault_addr", Value::Null),
        ],
    );
}

#[test]
fn channels_and_causes() {
    says(
        45,
        "Ch 0000000c caused by previous Xid 145",
        &[
            ("detail/channel", j!("0xc")),
            ("detail/caused_by_xid", j!(145)),
        ],
    );
    says(45, "Ch 00000001", &[("detail/caused_by_xid", Value::Null)]);
    says(
        32,
        "Channel ID 0000000d intr0 00040000",
        &[("detail/channel", j!("0xd"))],
    );
    says(8, "Channel 0000002a", &[("detail/channel", j!("0x2a"))]);
    says(
        109,
        "Ch 00000008, errorString CTX SWITCH TIMEOUT, Info 0x58005",
        &[("detail/channel", j!("0x8"))],
    );
    says(
        69,
        "Class Error: ChId 0012, Class 0000c9c0, Offset 00000260, Data 0000000b, ErrorCode 0000000c",
        &[("detail/channel", j!("0x12"))],
    );
    says(
        160,
        "Marking Channel 3 in FBPA 2 for repair",
        &[("detail/channel", Value::Null)],
    );
}

#[test]
fn memory_errors() {
    says(
        48,
        "DBE (double bit error) ECC Error",
        &[("severity", j!("critical"))],
    );
    says(
        63,
        "Row Remapper: New row (0x0000000c20b15c80) marked for remapping, reset gpu to activate.",
        &[],
    );
    says(
        64,
        "Row Remapper: Error: no spare row",
        &[("severity", j!("critical"))],
    );
    says(
        94,
        "Contained: SM (0x1). RST: No, D-RST: Yes",
        &[
            ("detail/reset_required", j!(false)),
            ("detail/drain_reset_required", j!(true)),
        ],
    );
    says(
        94,
        "Contained: CE User Channel (0x9). RST: No, D-RST: No",
        &[
            ("detail/channel", j!("0x9")),
            ("detail/reset_required", j!(false)),
            ("detail/drain_reset_required", j!(false)),
        ],
    );
    says(
        95,
        "Uncontained: LTC TAG (0x2,0x0). physAddr: 0x03fbc1c0 RST: Yes, D-RST: No",
        &[
            ("severity", j!("fatal")),
            ("detail/reset_required", j!(true)),
            ("detail/drain_reset_required", j!(false)),
        ],
    );
    says(
        140,
        "An uncorrectable ECC error detected (possible firmware handling failure) DRAM:0, LTC:1, \
         MMU:0, PCIE:0",
        &[("severity", j!("fatal"))],
    );
}

#[test]
fn gsp() {
    says(
        119,
        "Timeout after 6s of waiting for RPC response from GPU2 GSP! Expected function 76 \
         (GSP_RM_CONTROL) (0x20802a02 0x8).",
        &[
            ("detail/gsp_timeout_s", j!(6)),
            ("detail/gpu_index", j!(2)),
            ("detail/gsp_function", j!(76)),
            ("detail/gsp_function_name", j!("GSP_RM_CONTROL")),
        ],
    );
    says(
        119,
        "Timeout after 45s of waiting for RPC response from GPU10 GSP! Expected function 10 (FREE) \
         sequence 1234 (0x5c00014d 0x0).",
        &[
            ("detail/gsp_timeout_s", j!(45)),
            ("detail/gpu_index", j!(10)),
            ("detail/gsp_function", j!(10)),
            ("detail/gsp_function_name", j!("FREE")),
        ],
    );
    says(
        120,
        "GSP task exception: load access fault",
        &[("detail/gsp_function", Value::Null)],
    );
    says(
        143,
        "GPU initialization failed",
        &[("severity", j!("fatal"))],
    );
}

#[test]
fn nvlink() {
    says(
        74,
        "NVLink: fatal error detected on link 2(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)",
        &[("detail/link", j!(2)), ("severity", j!("critical"))],
    );
    says(
        136,
        "NVLink: Link training failed for link 17",
        &[("detail/link", j!(17))],
    );
}

#[test]
fn nvlink_5() {
    let line = "NVRM: Xid (PCI:0018:01:00): 145, RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x0409a0c2 \
                0x00000008 0x00000001 0x00000000 0x00100000 0x00000004)";
    check(
        line,
        &[
            ("gpu/pci", j!("0018:01:00.0")),
            ("severity", j!("warning")),
            ("detail/xid", j!(145)),
            ("detail/sub_unit", j!("RLW_RXPIPE")),
            ("detail/sub_severity", j!("Nonfatal")),
            ("detail/link", j!(13)),
            ("detail/sub_code", j!(0)),
            ("detail/sub_name", Value::Null),
            (
                "detail/words",
                j!(["0x409a0c2", "0x8", "0x1", "0x0", "0x100000", "0x4"]),
            ),
        ],
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
        149,
        "NETIR_LINK_EVT/NETIR_LINK_DOWN Fatal XC 1 i 2 Link 01 [0x0000000a]",
        &[
            ("detail/sub_unit", j!("NETIR_LINK_EVT/NETIR_LINK_DOWN")),
            ("detail/link", j!(1)),
            ("detail/words", j!(["0xa"])),
        ],
    );
}

#[test]
fn xid_154_recovery_action() {
    for (text, from, to, severity) in [
        (
            "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",
            "None",
            "GPU Reset Required",
            "critical",
        ),
        (
            "GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)",
            "GPU Reset Required",
            "None",
            "info",
        ),
        (
            "GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)",
            "None",
            "Drain and Reset",
            "critical",
        ),
    ] {
        says(
            154,
            text,
            &[
                ("detail/recovery_from", j!(from)),
                ("detail/recovery_to", j!(to)),
                ("severity", j!(severity)),
            ],
        );
    }
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
    let line = "NVRM: Xid (PCI:0001:ab:cd): 69, pid=1310987, name=train.3, Class Error: ChId 0008";
    check(
        line,
        &[
            ("kind", j!("xid")),
            ("gpu", Value::Null),
            ("process/pid", j!(1_310_987)),
            ("process/comm", j!("train.3")),
            ("detail/xid", j!(69)),
        ],
    );
    for not_one in ["PCI:no:where", "PCI:", "PCI:0001", "PCI::ab:cd", "x"] {
        assert!(live(&format!("NVRM: Xid ({not_one}): 69, x")).is_empty());
    }
}
