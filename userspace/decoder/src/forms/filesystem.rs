//! File systems that meet errors, and that stop writing after one. Source: fs/ext4/super.c, fs/jbd2/{commit,journal}.c,
//! fs/xfs/{xfs_fsops,xfs_error,xfs_log}.c, fs/btrfs/{messages,volumes,disk-io,inode}.c, fs/fat/misc.c.

use gtrace_event::{Kind, Occurrence, Severity};

use crate::record::Line;

/// How far into a line the name of the file system's log prefix may end.
const MAX_PREFIX: usize = 24;

/// `EXT4-fs (nvme0n1p1): Remounting filesystem read-only`, `XFS (dm-0): … Shutting down
/// filesystem.`, `BTRFS info (device sda1 state EA): forced readonly`, `BTRFS: Remounting filesystem read-only`,
/// `EXT4-fs error (device sda1): ext4_find_entry:1455: …`, `Aborting journal on device dm-0-8.`
pub(crate) fn parse(line: &Line<'_>) -> Option<Occurrence> {
    let text = line.text;
    if let Some(rest) = text.strip_prefix("Aborting journal on device ") {
        return failed(line, Some(rest.trim_end_matches('.')), "journal aborted");
    }
    if let Some(rest) = text.strip_prefix("JBD2: Detected IO errors while flushing file data on ") {
        return failed(line, Some(rest), "data not written");
    }
    if text.strip_prefix("BTRFS: ").is_some_and(is_read_only) {
        return Some(line.occurrence(Kind::FsReadonly, Severity::Critical));
    }
    let (name, rest) = text.split_once(" (")?;
    if name.len() > MAX_PREFIX {
        return None;
    }
    let (device, message) = match rest.split_once("): ") {
        Some(parts) => parts,
        // `EXT4-fs error (device sda1) in ext4_reserve_inode_write:5872: Journal has aborted`
        None => rest.split_once(") in ")?,
    };
    let device = device.strip_prefix("device ").unwrap_or(device);
    let device = device.split([' ', ',', ':', ')']).next()?;
    let stops = if name == "XFS" {
        message.contains("Shutting down filesystem")
            || message.contains("Filesystem has been shut down")
            || is_read_only(message)
    } else if is_btrfs(name) {
        message.contains("forced readonly") || is_read_only(message)
    } else if name.ends_with("-fs") {
        let message = message.strip_prefix("error: ").unwrap_or(message);
        is_read_only(message) || message.starts_with("Filesystem has been set read-only")
    } else {
        false
    };
    if stops {
        let mut occurrence = line.occurrence(Kind::FsReadonly, Severity::Critical);
        occurrence.detail.host.device = Some(device.to_owned());
        return Some(occurrence);
    }
    let error = if name == "XFS" {
        xfs(message)
    } else if is_btrfs(name) && name != "BTRFS info" {
        // At level info it says at each mount what it counted long ago.
        btrfs(message)
    } else if name.ends_with("-fs error") {
        Some(match message.contains("Journal has aborted") {
            true => "journal aborted",
            false => "file system error",
        })
    } else if name.ends_with("-fs") {
        extended(message)
    } else {
        None
    };
    failed(line, Some(device), error?)
}

fn is_read_only(message: &str) -> bool {
    message.starts_with("Remounting filesystem read-only")
        || message.starts_with("remounting filesystem read-only")
}

/// What ext2, ext3 and ext4 say under their own name.
fn extended(message: &str) -> Option<&'static str> {
    const LINES: &[(&str, &str)] = &[
        (
            "I/O error while writing superblock",
            "superblock not written",
        ),
        (
            "previous I/O error to superblock detected",
            "superblock not written",
        ),
        ("Delayed block allocation failed", "data not written"),
        ("failed to convert unwritten extents", "data not written"),
    ];
    let found = LINES.iter().find(|(b, _)| message.starts_with(b));
    found.map(|(_, error)| *error)
}

fn xfs(message: &str) -> Option<&'static str> {
    const LINES: &[(&str, &str)] = &[
        ("metadata I/O error", "metadata I/O error"),
        ("Metadata corruption detected", "metadata corrupt"),
        ("Metadata CRC error detected", "metadata corrupt"),
        ("Corruption detected", "metadata corrupt"),
        ("Internal error ", "internal error"),
        ("log I/O error", "log not written"),
    ];
    let found = LINES.iter().find(|(b, _)| message.starts_with(b));
    found.map(|(_, error)| *error)
}

fn btrfs(message: &str) -> Option<&'static str> {
    // `bdev /dev/sda1 errs: wr 1, rd 0, flush 0, corrupt 0, gen 0`
    if message.starts_with("bdev ") && message.contains(" errs: ") {
        return Some("device errors");
    }
    const LINES: &[(&str, &str)] = &[
        ("csum failed", "checksum wrong"),
        ("checksum verify failed", "checksum wrong"),
        ("parent transid verify failed", "metadata corrupt"),
        ("corrupt leaf", "metadata corrupt"),
        ("corrupt node", "metadata corrupt"),
        ("bad tree block", "metadata corrupt"),
        ("lost page write due to IO error", "data not written"),
        ("Transaction aborted", "transaction aborted"),
    ];
    let found = LINES.iter().find(|(b, _)| message.starts_with(b));
    // `BTRFS error (device sda1) in btrfs_commit_transaction:2236: errno=-5 IO failure`
    let failed = message.contains(": errno=-") && !message.contains("unrecognized");
    found
        .map(|(_, error)| *error)
        .or(failed.then_some("file system error"))
}

fn failed(line: &Line<'_>, device: Option<&str>, error: &str) -> Option<Occurrence> {
    let severity = match error {
        "superblock not written" | "journal aborted" | "log not written" => Severity::Critical,
        _ => Severity::Warning,
    };
    let device = device.map(str::trim).filter(|d| !d.contains(' '))?;
    let mut occurrence = line.occurrence(Kind::FsError, severity);
    occurrence.detail.host.device = Some(device.to_owned());
    occurrence.detail.host.error = Some(error.to_owned());
    Some(occurrence)
}

fn is_btrfs(name: &str) -> bool {
    name == "BTRFS" || name.starts_with("BTRFS ") || name.starts_with("BTRFS: ")
}
