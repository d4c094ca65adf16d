//! Every style of prefix over lines of one and of several records; provenance, times, line
//! numbers, odd bytes.

mod common;

use common::{assert_fields, json, saved, saved_bytes};
use gtrace_decoder::saved::{MAX_LINE, SavedLog};
use gtrace_decoder::{Decoder, LogRecord, Options, kmsg};
use gtrace_event::{Kind, Provenance};
use serde_json::{Value, json as j};

const XID: &str =
    "NVRM: Xid (PCI:0000:3b:00): 79, pid=1122, name=python3, GPU has fallen off the bus.";
/// Lines beside that one, each after its kind.
const SAMPLES: &str = "\
gpu_lost|NVRM: GPU 0000:29:00.0: GPU has fallen off the bus.
sxid|nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 egress error
aer|pcieport 0000:00:1c.0: AER: Corrected error received: id=00e0
oom_kill|Memory cgroup out of memory: Killed process 9 (my, odd (proc)) total-vm:10kB, anon-rss:5kB
hung_task|INFO: task python3:1234 blocked for more than 122 seconds.
soft_lockup|watchdog: BUG: soft lockup - CPU#3 stuck for 23s! [python:1234]
nccl_segfault|my app[7]: segfault at 0 ip 00007f7c sp 00007f7c error 4 in libnccl.so.2[7f+d3]
peermem_error|nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context
mlx5_slot_power|mlx5_core 0000:5d:00.0: mlx5_pcie_event:299:(pid 2): Detected insufficient power on the PCIe slot (27W).
fs_readonly|EXT4-fs (nvme0n1p1): Remounting filesystem read-only
nvme_timeout|nvme nvme0: I/O 123 QID 4 timeout, aborting
";

fn samples() -> Vec<(&'static str, &'static str)> {
    let rows = SAMPLES
        .lines()
        .map(|row| row.split_once('|').unwrap_or_else(|| panic!("{row}")));
    let all = std::iter::once(("xid", XID)).chain(rows);
    all.map(|(kind, line)| (line, kind)).collect()
}

/// Prefix, provenance, wall-clock time, nanoseconds since boot.
const PREFIXES: &str = "
|unknown||
[12345.678901] |unknown||12345678901000
[    5.000001] |unknown||5000001000
[12345.678901] [   T12] |unknown||12345678901000
[12345.678901][   T12] |unknown||12345678901000
[12345.678901] [    C0] |unknown||12345678901000
[12345.678901 <    0.000012>] |unknown||12345678901000
[Tue Mar  3 04:05:06 2026] |unknown||
[Tue Mar  3 04:05:06 2026 <    0.000012>] |unknown||
[Mar 3 04:05] |unknown||
[  +0.000012] |unknown||
[<    0.000012>] |unknown||
<3>|kernel||
<3>[12345.678901] |kernel||12345678901000
<11>[12345.678901] |userspace||12345678901000
3,1234,12345678901,-;|kernel||12345678901000
6,1234,12345678901,c;|kernel||12345678901000
3,1234,12345678901,-,caller=T12;|kernel||12345678901000
12,1234,12345678901,-;|userspace||12345678901000
kern  :err   : |kernel||
kern  :err   : [12345.678901] |kernel||12345678901000
user  :warn  : [12345.678901] |userspace||12345678901000
local7:notice: [12345.678901] |userspace||12345678901000
kern  :err   : [Tue Mar  3 04:05:06 2026] |kernel||
kern  :err   : 2026-03-03T04:05:06,123456+01:00 |kernel|2026-03-03T03:05:06.123456Z|
2026-03-03T04:05:06,123456+00:00 |unknown|2026-03-03T04:05:06.123456Z|
Mar 03 04:05:06 host kernel: |unknown||
Mar  3 04:05:06 host kernel: |unknown||
Mar 03 04:05:06.123456 host kernel: |unknown||
Mar 03 04:05:06 kernel: |unknown||
Mär 03 04:05:06 host kernel: |unknown||
Sept 03 04:05:06 host kernel: |unknown||
févr. 03 04:05:06 host kernel: [12345.678901] |unknown||12345678901000
мар 03 04:05:06 host kernel: |unknown||
3月 03 04:05:06 host kernel: |unknown||
Di 2026-03-03 04:05:06 CET host kernel: |unknown||
[Di Mär  3 04:05:06 2026] |unknown||
[火  3月  3 04:05:06 2026] host kernel: |unknown||
[Mär 3 04:05] |unknown||
Mar  3 04:05:06 host kernel: [12345.678901] |unknown||12345678901000
Mar  3 04:05:06 host kernel: [12345.678901] [   T12] |unknown||12345678901000
2026-03-03T04:05:06.123456+00:00 host kernel: |unknown|2026-03-03T04:05:06.123456Z|
2026-03-03T04:05:06+0100 host kernel: |unknown|2026-03-03T03:05:06Z|
2026-03-03T04:05:06.123456-0800 host kernel: |unknown|2026-03-03T12:05:06.123456Z|
2026-03-03T04:05:06Z host kernel: [12345.678901] |unknown|2026-03-03T04:05:06Z|12345678901000
2026-03-03 04:05:06 host kernel: |unknown||
Tue 2026-03-03 04:05:06 UTC host kernel: |unknown|2026-03-03T04:05:06Z|
Tue 2026-03-03 04:05:06 CET host kernel: |unknown||
1772510706.123456 host kernel: |unknown|2026-03-03T04:05:06.123456Z|
[12345.678901] host kernel: |unknown||12345678901000
<3>Mar  3 04:05:06 host kernel: |kernel||
<3>1 2026-03-03T04:05:06.5Z host kernel - - - |kernel|2026-03-03T04:05:06.5Z|
kernel: [12345.678901] |unknown||12345678901000
host kernel: |unknown||
kernel: Jan 21 11:18:36 kernel: |unknown||
Mar  3 04:05:06 host kernel: Jan 21 11:18:36 inner kernel: [12345.678901] |unknown||12345678901000
2026-03-03T04:05:06Z host kernel: 2026-03-03T04:05:05Z inner kernel: |unknown|2026-03-03T04:05:05Z|
[12345.678901] host kernel: Jan 21 11:18:36 inner kernel: |unknown||12345678901000
host kernel: kernel: |unknown||
10-0-0-1.example.com kernel: [12345.678901] |unknown||12345678901000
[Tue Mar  3 04:05:06 2026] host kernel: |unknown||
[2026-03-03T04:05:06+01:00] host kernel: |unknown|2026-03-03T03:05:06Z|
\u{1b}[32m[12345.678901] \u{1b}[0m\u{1b}[33m|unknown||12345678901000
";

fn prefixes() -> Vec<(&'static str, &'static str, Value, Value)> {
    let rows = PREFIXES.lines().filter(|row| !row.is_empty());
    rows.map(|row| {
        let [prefix, provenance, time, boot] = row.split('|').collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        let time = Some(time).filter(|time| !time.is_empty());
        (prefix, provenance, j!(time), j!(boot.parse::<u64>().ok()))
    })
    .collect()
}

#[test]
fn every_prefix_with_every_sample() {
    for (prefix, provenance, time, boot) in prefixes() {
        for ending in ["\n", "\r\n", ""] {
            for (line, kind) in samples() {
                let text = format!("{prefix}{line}{ending}");
                let found = saved(&text);
                assert_eq!(found.len(), 1, "{text:?}: {found:#?}");
                assert_fields(
                    &text,
                    &json(&found[0]),
                    &[
                        ("kind", j!(kind)),
                        ("message", j!(line)),
                        ("provenance", j!(provenance)),
                        ("time", time.clone()),
                        ("boottime_ns", boot.clone()),
                        ("lines", j!([1, 1])),
                    ],
                );
            }
        }
    }
}

#[test]
fn a_whole_log_of_each_prefix() {
    let aer = "pcieport 0000:00:1c.0: AER: Corrected error received: 0000:3b:00.0\n\
               nvidia 0000:3b:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)\n\
               usb 1-1: new high-speed USB device\n\
               nvidia 0000:3b:00.0:   device [10de:2330] error status/mask=00000001/00002000\n\
               nvidia 0000:3b:00.0:    [ 0] RxErr\n";
    let text = format!("{aer}{XID}\nusb 1-1: x\n{XID}\n");
    for (prefix, ..) in prefixes() {
        let log: String = text.lines().map(|l| format!("{prefix}{l}\n")).collect();
        let found = saved(&log);
        let lines: Vec<_> = found.iter().map(|o| (o.kind, o.lines.unwrap())).collect();
        assert_eq!(
            lines,
            [
                (Kind::Aer, [1, 5]),
                (Kind::Xid, [6, 6]),
                (Kind::Xid, [8, 8])
            ],
            "{log}"
        );
        assert_eq!(found[0].message.lines().count(), 4, "{log}");
    }
}

/// What other programs put before and behind the lines of a log, and host and time that the output has of it.
const WRAPPERS: &str = r#"
gpu01: [   12.300000] ||gpu01|
gpu01: Nov 25 10:11:12 node7 kernel: ||node7|Nov 25 10:11:12
gpu01: /var/log/syslog:Nov 25 10:11:12 kernel: ||gpu01|Nov 25 10:11:12
10.0.0.7: [   12.300000] ||10.0.0.7|
/var/log/messages:123:Nov 25 10:11:12 gpu01 kernel: ||gpu01|Nov 25 10:11:12
/var/log/syslog:Nov 25 10:11:12 gpu01 kernel: ||gpu01|Nov 25 10:11:12
123:Nov 25 10:11:12 gpu01 kernel: ||gpu01|Nov 25 10:11:12
messages-20240501:[   12.300000] |||
messages-20240501:7:[   12.300000] |||
[12345.678901@3] |||
2024 May  1 10:11:12 gpu01 kernel: ||gpu01|2024 May  1 10:11:12
May  1 10:11:12 2024 gpu01 kernel: ||gpu01|May  1 10:11:12 2024
[1714558272] |||2024-05-01T10:11:12Z
[1714558272.500000] |||2024-05-01T10:11:12.5Z
10:11:12 |||10:11:12
10:11:12.123 gpu01 kernel: ||gpu01|10:11:12.123
E1125 10:11:12.123456    1234 file.go:12] |||1125 10:11:12.123456
I1125 10:11:12.123456    1234 file.go:12] [   12.300000] |||1125 10:11:12.123456
time=2024-05-01T10:11:12Z level=error msg="|"||2024-05-01T10:11:12Z
time="2024-05-01T10:11:12Z" host=gpu01 plain msg="[   12.300000] |" n=1|gpu01|2024-05-01T10:11:12Z
{"msg":"|"}||
{"log":"|\n","stream":"stderr","time":"2024-05-01T10:11:12Z"}||2024-05-01T10:11:12Z
{"hostname":"gpu01","ts":1714558272.5,"message":"kernel: [   12.300000] |"}|gpu01|2024-05-01T10:11:12.5Z
2024-05-01T10:11:12.000000000Z stderr F |||2024-05-01T10:11:12Z
2024-05-01T10:11:12.000000000Z stdout F [   12.300000] |||2024-05-01T10:11:12Z
"#;

fn wrappers() -> Vec<[&'static str; 4]> {
    let rows = WRAPPERS.lines().filter(|row| !row.is_empty());
    rows.map(|row| match row.split('|').collect::<Vec<_>>()[..] {
        [before, after, host, time] => [before, after, host, time],
        _ => panic!("{row}"),
    })
    .collect()
}

#[test]
fn a_line_is_read_behind_whatever_another_program_put_before_it() {
    for [before, after, host, time] in wrappers() {
        let [host, time] = [host, time].map(|is| Some(is).filter(|is| !is.is_empty()));
        for (line, kind) in samples() {
            let text = format!("{before}{line}{after}\n");
            let found = saved(&text);
            assert_eq!(found.len(), 1, "{text:?}: {found:#?}");
            let found = json(&found[0]);
            assert_fields(
                &text,
                &found,
                &[
                    ("kind", j!(kind)),
                    ("message", j!(line)),
                    ("log/host", j!(host)),
                ],
            );
            let at = found.get("time").or_else(|| found.pointer("/log/time"));
            assert_eq!(at.and_then(Value::as_str), time, "{text:?}: {found:#}");
            let mut bare = json(&saved(&format!("{line}\n"))[0]);
            let mut same = found;
            for field in ["log", "time", "boottime_ns", "provenance"] {
                bare.as_object_mut().unwrap().remove(field);
                same.as_object_mut().unwrap().remove(field);
            }
            assert_eq!(same, bare, "{text:?}");
        }
    }
}

#[test]
fn lines_with_a_code_that_cannot_be_read_are_counted() {
    let unread = |text: &str| {
        let mut log = SavedLog::new(Options::default());
        let mut out = Vec::new();
        // Cut so that marks lie across the pieces too.
        for piece in text.as_bytes().chunks(7) {
            log.feed_bytes(piece, &mut out);
        }
        log.finish(&mut out);
        let mut whole = SavedLog::new(Options::default());
        whole.feed_bytes(text.as_bytes(), &mut out);
        whole.finish(&mut out);
        assert_eq!(log.unread(), whole.unread(), "{text}");
        let unread = log.unread();
        (unread.lines, unread.first.as_ref().map(|(line, _)| *line))
    };
    let sxid = "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 32 x";
    assert_eq!(
        unread(&format!("{XID}\n{sxid}\n[ 1.0] {XID}\nusb 1-1: Xid\n")),
        (0, None)
    );
    assert_eq!(
        unread(&format!("x\n%% {XID}\n{XID}\n~ {sxid}\n?? {XID}")),
        (3, Some(2))
    );
    assert_eq!(
        unread(&format!("Mar  3 04:05:06 host app[7]: {XID}\n")),
        (1, Some(1))
    );
    assert_eq!(unread("[ 1.0] NVRM: Xid of another form\n"), (1, Some(1)));
    for [before, after, ..] in wrappers() {
        assert_eq!(
            unread(&format!("{before}{XID}{after}\n")),
            (0, None),
            "{before}"
        );
    }
    let many = "a:".repeat(30_000);
    assert_eq!(unread(&format!("{many}{XID}\n")), (1, Some(1)));
}

/// Prefix, host and time of the line.
const KEPT: &str = "
||
[12345.678901] ||
host kernel: |host|
[12345.678901] host kernel: |host|
2026-03-03T04:05:06Z host kernel: |host|
[Tue Mar  3 04:05:06 2026] ||Tue Mar  3 04:05:06 2026
[Tue Mar  3 04:05:06 2026] gpu-1 kernel: |gpu-1|Tue Mar  3 04:05:06 2026
Mar  3 04:05:06 host kernel: [12345.678901] |host|Mar  3 04:05:06
2026-03-03 04:05:06 host kernel: |host|2026-03-03 04:05:06
Tue 2026-03-03 04:05:06 CET host kernel: |host|Tue 2026-03-03 04:05:06 CET
Mär 03 04:05:06 host kernel: |host|Mär 03 04:05:06
<3>1 2026-03-03T04:05:06.5Z host kernel - - - |host|
<3>1 2026-03-03T04:05:06.5Z - kernel - - - ||
kernel: Jan 21 11:18:36 kernel: ||Jan 21 11:18:36
Mar  3 04:05:06 outer kernel: Jan 21 11:18:36 inner kernel: |inner|Jan 21 11:18:36
2026-03-03T04:05:06Z outer kernel: Jan 21 11:18:36 kernel: |outer|
";

#[test]
fn host_and_time_of_a_line_are_kept_as_written() {
    for row in KEPT.lines().filter(|row| !row.is_empty()) {
        let [prefix, host, time] = row.split('|').collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        let found = saved(&format!("{prefix}{XID}\n"));
        assert_eq!(found.len(), 1, "{prefix}");
        let mut log = serde_json::Map::new();
        for (name, value) in [("host", host), ("time", time)] {
            if !value.is_empty() {
                log.insert(name.to_owned(), j!(value));
            }
        }
        let log = match log.is_empty() {
            true => Value::Null,
            false => Value::Object(log),
        };
        let kept = json(&found[0]);
        assert_eq!(kept.get("log").unwrap_or(&Value::Null), &log, "{prefix}");
    }
    let of_process = "Mar  3 04:05:06 outer kernel: Jan 21 11:18:36 inner sshd[7]: ";
    assert_eq!(saved(&format!("{of_process}{XID}\n")), []);
    // A report of several lines is from where its first line is.
    let log = "Mar  3 04:05:06 one kernel: pcieport 0000:00:1c.0: AER: Corrected error received: 0000:00:1c.0\n\
               Mar  3 04:05:07 two kernel: usb 1-1: x\n\
               Mar  3 04:05:08 two kernel: NVRM: Xid (PCI:0000:3b:00): 79, x\n";
    let found = saved(log);
    let hosts: Vec<_> = found
        .iter()
        .map(|o| (o.kind, o.log.as_ref().unwrap().host.as_deref().unwrap()))
        .collect();
    assert_eq!(hosts, [(Kind::Aer, "one"), (Kind::Xid, "two")]);
}

#[test]
fn a_line_that_a_syslog_daemon_folded_says_how_often_it_came() {
    for prefix in ["", "host kernel: ", "Mar  3 04:05:06 host kernel: "] {
        for text in [format!(" {XID}"), format!("[12345.678901] {XID}")] {
            let line = format!("{prefix}message repeated 3 times: [{text}]\n");
            let found = saved(&line);
            assert_eq!(found.len(), 1, "{line}");
            assert_eq!(found[0].message, XID, "{line}");
            let log = found[0].log.as_ref().unwrap();
            assert_eq!(log.repeated, Some(3), "{line}");
        }
    }
    for odd in [
        "message repeated 3 times: [",
        "message repeated times: [ x]",
        "message repeated 99999999999999999999 times: [ x]",
        "message repeated 3 times: []",
    ] {
        assert_eq!(saved(odd), []);
    }
}

#[test]
fn records_of_the_journal_as_json() {
    let entry = |fields: Value| saved(&format!("{fields}\n"));
    let kernel = j!({
        "MESSAGE": XID, "_TRANSPORT": "kernel", "SYSLOG_IDENTIFIER": "kernel",
        "SYSLOG_FACILITY": "0", "PRIORITY": "3", "_HOSTNAME": "gpu-1",
        "__REALTIME_TIMESTAMP": "1772510706123456", "_SOURCE_MONOTONIC_TIMESTAMP": "12345678901",
    });
    let with = |name: &str, value: Value| {
        let mut fields = kernel.clone();
        fields[name] = value;
        fields
    };
    let found = entry(kernel.clone());
    assert_eq!(found.len(), 1);
    let fields = [
        ("message", j!(XID)),
        ("provenance", j!("kernel")),
        ("time", j!("2026-03-03T04:05:06.123456Z")),
        ("boottime_ns", j!(12_345_678_901_000u64)),
        ("log/host", j!("gpu-1")),
        ("lines", j!([1, 1])),
    ];
    assert_fields("journal", &json(&found[0]), &fields);

    let only = entry(j!({ "MESSAGE": XID }));
    assert_eq!(only[0].provenance, Provenance::Unknown);
    let relayed = j!({ "MESSAGE": format!("Jan 21 11:18:36 inner kernel: [12345.678901] {XID}") });
    let relayed = entry(relayed);
    let fields = [
        ("message", j!(XID)),
        ("boottime_ns", j!(12_345_678_901_000u64)),
        ("log/host", j!("inner")),
    ];
    assert_fields("relayed", &json(&relayed[0]), &fields);
    let bytes = entry(with("MESSAGE", j!(XID.as_bytes())));
    assert_eq!(bytes[0].message, XID);
    assert!(entry(with("_TRANSPORT", j!("syslog"))).is_empty());
    // journald has taken the first word of what a process wrote for its name.
    let forged = j!({
        "MESSAGE": &XID["NVRM: ".len()..], "_TRANSPORT": "kernel", "SYSLOG_IDENTIFIER": "NVRM",
        "SYSLOG_FACILITY": "1",
    });
    let forged = entry(forged);
    assert_eq!(forged[0].message, XID);
    assert_eq!(forged[0].provenance, Provenance::Userspace);
    let drill = j!({
        "MESSAGE": XID, "_TRANSPORT": "kernel", "SYSLOG_IDENTIFIER": "gtrace-inject",
        "SYSLOG_FACILITY": "1",
    });
    assert_eq!(entry(drill)[0].provenance, Provenance::Injected);
    for odd in [
        j!({ "MESSAGE": null }),
        j!({ "MESSAGE": [] }),
        j!({ "MESSAGE": {"x": XID} }),
        j!({ "x": XID, "\"MESSAGE\"": XID }),
    ] {
        assert!(entry(odd.clone()).is_empty(), "{odd}");
    }
    assert!(saved(&format!("{{\"MESSAGE\":\"{XID}\"")).is_empty());
}

#[test]
fn odd_bytes() {
    for (bytes, count) in [
        (b"".as_slice(), 0),
        (b"\n\n\r\n\0\0\n", 0),
        (b"\xff\xfe\x00[\xffNVRM\n", 0),
        (
            b"[    1.000000] NVRM: Xid (PCI:0000:3b:00): 79, caf\xe9\n",
            1,
        ),
        (
            b"[    1.000000] NVRM: Xid (PCI:0000:3b:00): 79, x\0\0\0\n",
            1,
        ),
        (b"\xef\xbb\xbfNVRM: Xid (PCI:0000:3b:00): 79, x", 1),
    ] {
        assert_eq!(
            saved_bytes(bytes).len(),
            count,
            "{:?}",
            String::from_utf8_lossy(bytes)
        );
    }
    let long = format!("[    1.000000] {XID}{}\n{XID}\n", "x".repeat(3 * MAX_LINE));
    let found = saved(&long);
    assert_eq!(found.len(), 2);
    assert!(found[0].message.len() < MAX_LINE);
    assert_eq!(found[1].lines, Some([2, 2]));
    let endless = format!("[    1.000000] {XID}\n{}", " more\n".repeat(100_000));
    let found = saved(&endless);
    assert_eq!(found.len(), 1);
    assert!(found[0].message.len() < 4 * MAX_LINE);
}

#[test]
fn drills_are_distinguished_from_faults() {
    let feed = |text: &str, facility| {
        let mut decoder = Decoder::new(Options::default());
        let mut out = Vec::new();
        let record = LogRecord {
            text,
            facility,
            number: 1,
            ..LogRecord::default()
        };
        decoder.feed(&record, &mut out);
        decoder.flush(&mut out);
        out
    };
    for mark in ["gtrace-inject: ", "gtrace-inject[01JD]: "] {
        let text = format!("{mark}{XID}");
        for facility in [None, Some(1), Some(3)] {
            let found = feed(&text, facility);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(found[0].provenance, Provenance::Injected);
            assert_eq!(found[0].message, XID);
        }
        assert!(feed(&text, Some(0)).is_empty(), "the kernel writes no mark");
        for prefix in [
            "[    1.000000] ",
            "12,1,2,-;",
            "Mar 03 04:05:06 host ",
            "user  :warn  : ",
        ] {
            let found = saved(&format!("{prefix}{text}\n"));
            assert_eq!(found.len(), 1, "{prefix}{text}");
            assert_eq!(found[0].provenance, Provenance::Injected);
            assert_eq!(found[0].message, XID);
        }
        assert!(saved(&format!("3,1,2,-;{text}\n")).is_empty());
    }
    assert_eq!(feed(XID, Some(0))[0].provenance, Provenance::Kernel);
    assert_eq!(feed(XID, Some(1))[0].provenance, Provenance::Userspace);
    assert_eq!(feed(XID, None)[0].provenance, Provenance::Unknown);
}

#[test]
fn kmsg_records() {
    let record = kmsg::parse(
        b"12,339,5140900,c,caller=T12;a\\x0ab\\x5cc caf\\xc3\\xa9\n SUBSYSTEM=pci\n DEVICE=+pci:0000:3b:00.0\n",
    )
    .unwrap();
    assert_eq!((record.facility, record.level), (1, 4));
    assert_eq!((record.seq, record.timestamp_us), (339, 5_140_900));
    assert!(record.cont);
    assert_eq!(record.caller, Some(kmsg::Caller::Thread(12)));
    assert_eq!(record.text, "a\nb\\c café");
    assert_eq!(record.device.as_deref(), Some("+pci:0000:3b:00.0"));
    assert_eq!(record.subsystem.as_deref(), Some("pci"));
    assert_eq!(kmsg::parse(b"3,1,2,-;").unwrap().text, "");
    assert_eq!(
        kmsg::parse(b"3,1,2,-,caller=C7;x").unwrap().caller,
        Some(kmsg::Caller::Cpu(7))
    );
    assert_eq!(kmsg::parse(b"3,1,2,-;a;b\\x4").unwrap().text, "a;b\\x4");
    for bad in [
        b"".as_slice(),
        b"3,1,2,-",
        b"x,1,2,-;a",
        b"3,,2,-;a",
        b"3,1;a",
        b"99999,1,2,-;a",
        b"3,99999999999999999999,2,-;a",
        b"-3,1,2,-;a",
        b"\xff,1,2,-;a",
    ] {
        assert!(
            kmsg::parse(bad).is_err(),
            "{:?}",
            String::from_utf8_lossy(bad)
        );
    }
    let mut out = Vec::new();
    let text = format!("3,7,8,-;{XID}");
    Decoder::new(Options::default()).feed(
        &kmsg::parse(text.as_bytes()).unwrap().log_record(),
        &mut out,
    );
    assert_eq!(out[0].lines, Some([7, 7]));
    assert_eq!(out[0].provenance, Provenance::Kernel);
    assert_eq!(out[0].boottime_ns, Some(8000));
}

#[test]
fn however_a_log_is_cut_it_says_the_same() {
    let log: String = prefixes()
        .iter()
        .zip(samples().into_iter().cycle())
        .map(|((prefix, ..), (line, _))| format!("{prefix}{line}\n"))
        .collect();
    let whole = saved(&log);
    assert_eq!(whole.len(), prefixes().len());
    for size in [1, 7, 64, 4096] {
        let mut reader = SavedLog::new(Options::default());
        let mut out = Vec::new();
        for piece in log.as_bytes().chunks(size) {
            reader.feed_bytes(piece, &mut out);
        }
        reader.finish(&mut out);
        assert_eq!(out, whole, "in pieces of {size}");
    }
}
