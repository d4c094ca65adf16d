//! Ten thousand lines at once.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::time::Duration;

use gtrace_event::{Kind, WitnessName};
use rustix::process::{Pid, Signal, kill_process};

use crate::harness::*;

const LINES: usize = 10_000;
const XIDS: usize = 1_000;

/// Mixed forms; every third is the same text again, so that it must be counted as a repeat.
fn xid_line(gpu: &str, n: usize) -> String {
    match n % 6 {
        0 | 3 => format!("NVRM: Xid (PCI:{gpu}): 13, pid=77, name=same, Graphics Exception"),
        1 => format!(
            "NVRM: Xid (PCI:{gpu} GPU-I:05): 31, pid={n}, name=a, b, Ch 00000010, intr 00000000. \
             MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_3 faulted @ 0x7f_abcd1000. Fault is of type \
             FAULT_PDE ACCESS_TYPE_VIRT_READ"
        ),
        2 => format!("NVRM: Xid (PCI:{gpu}): 45, pid='<unknown>', name=<unknown>, Ch {n:08x}"),
        4 => format!("NVRM: Xid (PCI:{gpu}): 999, an unknown code, number {n}"),
        _ => format!("NVRM: Xid (PCI:{gpu} GPU-I:05 GPU-CI:01): 94, pid={n}, name=x, Contained"),
    }
}

/// The sequence number of the newest record of the kernel log.
fn newest_seq() -> u64 {
    let mut file = File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open("/dev/kmsg")
        .unwrap();
    let mut buffer = [0; 16_384];
    let mut newest = 0;
    loop {
        match file.read(&mut buffer) {
            Ok(len) => {
                let text = String::from_utf8_lossy(&buffer[..len]);
                newest = text.split(',').nth(1).unwrap().parse().unwrap();
            }
            Err(e) if e.raw_os_error() == Some(libc::EPIPE) => {}
            Err(_) => return newest,
        }
    }
}

#[test]
fn root_every_xid_of_a_burst_is_stored_once_and_what_kmsg_lost_is_reported_exactly() {
    let Some(_turn) = Turn::take() else { return };
    let daemon = Daemon::start(&["--nvml-interval-s", "0"]);
    let gpu = fresh_gpu();
    let mut log = KernelLog::open();
    log.write(&format!("NVRM: Xid (PCI:{gpu}): 8, first"));
    daemon.wait_events(&["--gpu", &gpu], |e| {
        e.len() == 1 && e[0].witnesses.len() == 2
    });
    let (before, read_before) = settled(&daemon);
    // A daemon that does not run cannot keep up: the log is sure to be overwritten under it, and
    // only the ring of printk:console holds everything.
    let pid = Pid::from_child(&daemon.child);
    kill_process(pid, Signal::STOP).unwrap();
    for n in 0..LINES {
        let xid = n % (LINES / XIDS) == 3;
        if xid {
            log.write(&xid_line(&gpu, n / (LINES / XIDS)));
        } else {
            log.write(&format!(
                "burst: ordinary line {n} of a long and dull conversation"
            ));
        }
    }
    let after = newest_seq();
    kill_process(pid, Signal::CONT).unwrap();
    let events = daemon.wait_events(&["--gpu", &gpu, "--kind", "xid"], |events| {
        occurrences(events) > XIDS as u64
    });
    assert_eq!(
        occurrences(&events),
        XIDS as u64 + 1,
        "every Xid exactly once"
    );
    let by_console: u64 = events
        .iter()
        .map(|e| seen_by(e, WitnessName::PrintkConsole))
        .sum();
    assert_eq!(by_console, XIDS as u64 + 1, "all by way of printk:console");
    // n % 6 of 0 and 3, of 1000: one text, 334 times.
    let same = events
        .iter()
        .find(|e| e.message.contains("name=same"))
        .unwrap();
    assert_eq!(same.repeats, 333);
    eventually("everything of the kernel log is accounted for", || {
        let read =
            metric(&daemon, "gtrace_source_records_total{source=\"/dev/kmsg\"}") - read_before;
        let lost: u64 = daemon
            .events(&["--kind", "source_lost"])
            .iter()
            .filter(|e| e.kind == Kind::SourceLost)
            .filter_map(|e| e.detail.source.lost)
            .sum();
        let counted = metric(
            &daemon,
            "gtrace_lost_total{source=\"/dev/kmsg\",what=\"overwritten\"}",
        );
        // What others log meanwhile comes on top.
        (lost == counted && read + lost >= after - before && lost > 1000).then_some(())
    });
    let (newest, read) = settled(&daemon);
    let lost = metric(
        &daemon,
        "gtrace_lost_total{source=\"/dev/kmsg\",what=\"overwritten\"}",
    );
    assert_eq!(
        read - read_before + lost,
        newest - before,
        "read + lost is what was logged"
    );
    daemon.stop();
}

/// The newest record of the kernel log, and how many the daemon has read, once both are the same twice: it counts once a
/// second, and others log, too.
fn settled(daemon: &Daemon) -> (u64, u64) {
    let now = || {
        let read = metric(daemon, "gtrace_source_records_total{source=\"/dev/kmsg\"}");
        (newest_seq(), read)
    };
    let mut last = now();
    loop {
        std::thread::sleep(Duration::from_millis(1500));
        let now = now();
        if now == last {
            return now;
        }
        last = now;
    }
}
