//! The kernel's log, read and written.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;

use anyhow::{Context as _, Result};
use gtrace_vm_tests::layout::LOG_BYTES;

const DEVICE: &str = "/dev/kmsg";

/// Bytes of text in a record of [`push_out`].
const FILLER: usize = 900;

/// Every record that the kernel still has, oldest first: the text without prefix, continuation
/// lines (device and subsystem) left out.
pub(crate) fn read() -> Result<Vec<String>> {
    Ok(records()?.into_iter().map(|record| record.text).collect())
}

/// A record of the log.
#[derive(Debug)]
struct Record {
    /// Whether the kernel wrote it: facility 0, which user space cannot choose.
    of_kernel: bool,
    text: String,
}

/// A record as /dev/kmsg gives it: `6,339,5140900,-;NET: Registered`; before the first comma, level
/// and facility as in syslog(3).
fn parse(record: &str) -> Record {
    let (prefix, text) = record.split_once(';').unwrap_or_default();
    let priority = prefix.split(',').next().and_then(|p| p.parse::<u32>().ok());
    Record {
        of_kernel: priority.is_some_and(|priority| priority >> 3 == 0),
        text: text.lines().next().unwrap_or_default().to_owned(),
    }
}

fn records() -> Result<Vec<Record>> {
    let mut device = File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(DEVICE)
        .with_context(|| format!("cannot open {DEVICE}"))?;
    let mut records = Vec::new();
    // A read gives one record, and refuses a buffer that is too small for it.
    let mut buffer = [0; 8192];
    loop {
        match device.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => {
                records.push(parse(&String::from_utf8_lossy(&buffer[..n])));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            // EPIPE: records were overwritten meanwhile; the next read goes on behind them.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error).with_context(|| format!("cannot read {DEVICE}")),
        }
    }
    Ok(records)
}

/// The last `count` records, for messages: an error is one of them.
pub(crate) fn last(count: usize) -> Vec<String> {
    let records = read().unwrap_or_else(|error| vec![format!("{error:#}")]);
    records[records.len().saturating_sub(count)..].to_vec()
}

/// What the kernel says of a fault of its own: WARN_ON and its like, BUG_ON, use after free.
const FAULTS: [&str; 4] = [
    "WARNING: CPU",
    "BUG:",
    "sleeping function called",
    "refcount_t:",
];

/// What it says of a processor that does not get on. In an emulated machine that is the host's doing,
/// or a case's.
const SLOW: &str = "soft lockup";

/// Lines after a fault that are shown: registers and backtrace.
const FAULT_LINES: usize = 40;

/// What the kernel logged of faults of its own, from the first on; empty if there is none.
pub(crate) fn faults() -> Result<Vec<String>> {
    Ok(from_fault(&records()?))
}

fn from_fault(records: &[Record]) -> Vec<String> {
    let is_fault = |record: &Record| {
        record.of_kernel
            && FAULTS.iter().any(|fault| record.text.contains(fault))
            && !record.text.contains(SLOW)
    };
    let Some(first) = records.iter().position(is_fault) else {
        return Vec::new();
    };
    let shown = records[first..].iter().take(FAULT_LINES);
    shown.map(|record| record.text.clone()).collect()
}

/// Pushes every record that is there out of the kernel's ring, so that who reads the log from its
/// beginning sees nothing of what came before. The kernel has no call that empties it:
/// SYSLOG_ACTION_CLEAR hides records from syslog(2) alone.
pub(crate) fn push_out() -> Result<()> {
    let mut device = open_to_write()?;
    // Debug level: the console is spared. The kernel takes up to 976 bytes (6.1).
    let line = format!("<15>gtrace-vm-init: filler {}\n", "-".repeat(FILLER));
    for _ in 0..LOG_BYTES.div_ceil(FILLER) + 1 {
        device
            .write_all(line.as_bytes())
            .with_context(|| format!("cannot write to {DEVICE}"))?;
    }
    Ok(())
}

fn open_to_write() -> Result<File> {
    File::options()
        .write(true)
        .open(DEVICE)
        .with_context(|| format!("cannot open {DEVICE}"))
}

/// Writes one record as user space can, which is of facility 1; `<3>` before the text chooses a
/// level, and never the kernel's facility.
pub(crate) fn write(line: &str) -> Result<()> {
    let mut device = open_to_write()?;
    // One write is one record; without the newline no reader sees it before the next one.
    device
        .write_all(format!("{line}\n").as_bytes())
        .with_context(|| format!("cannot write to {DEVICE}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(log: &[&str]) -> Vec<String> {
        from_fault(&log.iter().map(|line| parse(line)).collect::<Vec<_>>())
    }

    #[test]
    fn faults_of_the_kernel_are_found_with_what_follows() {
        let log = [
            "6,1,10,-;NET: Registered",
            "4,2,11,-;WARNING: CPU: 1 PID: 7 at lib/refcount.c:28 refcount_warn+0x1/0x2",
            "4,3,12,-;Call Trace:\n SUBSYSTEM=x",
        ];
        let found = faults(&log);
        assert_eq!(found.len(), 2);
        assert!(found[0].contains("refcount.c:28") && found[1] == "Call Trace:");
        for line in [
            "3,1,1,-;BUG: sleeping function called from invalid context at mm/slab.h:1",
            "4,1,1,-;refcount_t: underflow; use-after-free.",
            "1,1,1,-;BUG: kernel NULL pointer dereference, address: 0",
        ] {
            assert_eq!(faults(&[line]).len(), 1, "{line}");
        }
    }

    #[test]
    fn what_cases_provoke_and_user_space_writes_is_no_fault() {
        for line in [
            "3,1,1,-;INFO: task exe:211 blocked for more than 2 seconds.",
            "0,1,1,-;watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [exe:211]",
            "3,1,1,-;Memory cgroup out of memory: Killed process 211 (exe)",
            "11,1,1,-;BUG: written by user space",
            "",
        ] {
            assert!(faults(&[line]).is_empty(), "{line}");
        }
    }
}
