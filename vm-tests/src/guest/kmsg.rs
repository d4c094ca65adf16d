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
///
/// # Errors
///
/// /dev/kmsg cannot be opened or read.
pub(crate) fn read() -> Result<Vec<String>> {
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
                let record = String::from_utf8_lossy(&buffer[..n]);
                let text = record.split_once(';').map_or("", |(_, text)| text);
                records.push(text.lines().next().unwrap_or_default().to_owned());
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

/// Pushes every record that is there out of the kernel's ring, so that who reads the log from its
/// beginning sees nothing of what came before. The kernel has no call that empties it:
/// SYSLOG_ACTION_CLEAR hides records from syslog(2) alone.
///
/// # Errors
///
/// The kernel took no line.
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
///
/// # Errors
///
/// The kernel took no line.
pub(crate) fn write(line: &str) -> Result<()> {
    let mut device = open_to_write()?;
    // One write is one record; without the newline no reader sees it before the next one.
    device
        .write_all(format!("{line}\n").as_bytes())
        .with_context(|| format!("cannot write to {DEVICE}"))
}
