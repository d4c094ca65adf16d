//! `gtrace decode`: the contract of its JSON, its exit codes, and that it needs nothing.
#![allow(missing_docs, clippy::unwrap_used)]

use std::io::Write as _;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const LOG: &str = "\
[12345.678901] NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=my, odd, GPU has fallen off the bus.
[Tue Mar  3 04:05:06 2026] NVRM: Xid (PCI:0000:01:00 GPU-I:05 GPU-CI:01): 31, pid=99, name=x, \
Ch 00000010, intr 00000000. MMU Fault: ENGINE GRAPHICS GPC1 GPCCLIENT_T1_3 faulted @ \
0x7f_abcd1000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ
systemd[1]: quoting NVRM: Xid (PCI:0000:3b:00): 48, not the driver
3,1234,5678,-;NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 (None) to \
0x1 (GPU Reset Required)
12,1235,5679,-;NVRM: Xid (PCI:0000:3b:00): 999, forged
[ 1.0] pcieport 0000:00:1c.0: AER: Corrected error received: 0000:00:1c.0
[ 1.0] pcieport 0000:00:1c.0: PCIe Bus Error: severity=Corrected, type=Data Link Layer, \
(Transmitter ID)
[ 1.0] pcieport 0000:00:1c.0:   device [8086:a33c] error status/mask=00001000/00002000
";

fn start(args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gtrace"));
    command.arg("decode").args(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(Stdio::piped()).spawn().unwrap()
}

fn decode(args: &[&str], input: &str) -> Output {
    let mut child = start(args);
    // A command that refuses its arguments reads nothing.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

#[test]
fn json_carries_what_the_contract_names() {
    let output = decode(&["--json"], LOG);
    assert_eq!(
        output.status.code(),
        Some(1),
        "there are problems in the log"
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let events: Vec<Value> = text
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(events.len(), 5, "{text}");
    let [lost, mmu, recovery, unknown, aer] = events.as_slice() else {
        panic!("{text}");
    };
    assert_eq!(lost["kind"], "xid");
    assert_eq!(lost["severity"], "fatal");
    assert_eq!(lost["gpu"], json!({ "pci": "0000:3b:00.0" }));
    assert_eq!(lost["process"], json!({ "pid": 1234, "comm": "my, odd" }));
    assert_eq!(lost["provenance"], "unknown");
    assert_eq!(lost["lines"], json!([1, 1]));
    assert!(
        lost["message"]
            .as_str()
            .unwrap()
            .ends_with("GPU has fallen off the bus.")
    );
    assert_eq!(
        mmu["gpu"],
        json!({ "pci": "0000:01:00.0", "mig_gi": 5, "mig_ci": 1 })
    );
    let detail = &mmu["detail"];
    assert_eq!(
        [
            &detail["channel"],
            &detail["fault_addr"],
            &detail["fault_type"],
            &detail["access_type"]
        ],
        ["0x10", "0x7fabcd1000", "FAULT_PDE", "ACCESS_TYPE_VIRT_READ"]
    );
    assert_eq!(recovery["provenance"], "kernel");
    assert_eq!(recovery["detail"]["recovery_to"], "GPU Reset Required");
    assert_eq!(unknown["provenance"], "userspace");
    assert_eq!(unknown["detail"]["xid"], 999);
    assert_eq!(aer["lines"], json!([6, 8]));
    let detail = &aer["detail"];
    assert_eq!(
        [&detail["severity"], &detail["layer"], &detail["agent"]],
        ["Corrected", "Data Link Layer", "Transmitter ID"]
    );
}

#[test]
fn text_explains_and_sums_up() {
    let output = decode(&["-"], LOG);
    let text = String::from_utf8(output.stdout).unwrap();
    for part in ["Xid 79", "0000:3b:00.0", "meaning", "to do", "5 events"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert!(!text.contains('\x1b'), "no colours outside a terminal");
}

#[test]
fn exit_codes_distinguish_success_usage_and_unreadable() {
    let quiet = "[ 1.0] usb 1-1: new high-speed USB device number 2 using xhci_hcd\n";
    assert_eq!(decode(&[], quiet).status.code(), Some(0));
    assert_eq!(decode(&[], "").status.code(), Some(0));
    assert_eq!(decode(&["--no-such-flag"], "").status.code(), Some(2));
    let since = decode(&["--since", "-5m"], quiet);
    assert_eq!(since.status.code(), Some(0), "{since:?}");
    let output = decode(&["/does/not/exist"], "");
    assert_eq!(output.status.code(), Some(3));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("/does/not/exist"), "{message}");
    // A fault behind what is nobody's prefix is not passed over in silence.
    let malformed =
        "[123] nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, Non-fatal, Link 46 x\n";
    let output = decode(&[], malformed);
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.contains("could not be read as the kernel's"),
        "{message}"
    );
}

#[test]
fn colours_come_where_they_are_asked_for() {
    let text = |args: &[&str]| String::from_utf8(decode(args, LOG).stdout).unwrap();
    assert!(!text(&[]).contains('\x1b'));
    assert!(text(&["--color", "always"]).contains("\x1b[1;37;41mFATAL\x1b[0m"));
    assert!(!text(&["--color", "always", "--json"]).contains('\x1b'));
    assert!(!text(&["--color", "never"]).contains('\x1b'));
}

/// Whether the process has a handler for a signal.
fn catches(child: &Child, signal: Signal) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let mask = u64::from_str_radix(mask.unwrap().trim(), 16).unwrap();
    mask & (1 << (signal.as_raw() - 1)) != 0
}

#[test]
fn a_log_that_is_followed_ends_with_ctrl_c_and_the_table_is_printed() {
    for signal in [Signal::INT, Signal::TERM] {
        let mut child = start(&["--summary"]);
        let mut log = child.stdin.take().unwrap();
        log.write_all(LOG.as_bytes()).unwrap();
        let until = Instant::now() + Duration::from_secs(60);
        while !catches(&child, signal) {
            assert!(Instant::now() < until, "{signal:?} would end it at once");
            std::thread::sleep(Duration::from_millis(10));
        }
        kill_process(Pid::from_child(&child), signal).unwrap();
        // The log is open.
        let output = child.wait_with_output().unwrap();
        drop(log);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.starts_with("HOST"), "{signal:?}: {text}");
        assert!(text.contains("5 events in 8 lines"), "{signal:?}: {text}");
        assert_eq!(output.status.code(), Some(1));
    }
}
