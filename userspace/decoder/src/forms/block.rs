//! Disks that fail reads and writes or are gone, and arrays of disks. Source: block/blk-core.c, fs/buffer.c,
//! drivers/nvme/host/{core,multipath}.c, drivers/md/{raid0,raid1,raid5,raid10,md}.c.

use gtrace_event::{Kind, Occurrence, Severity};

use crate::record::Line;
use crate::scan;

/// End of the first line of a read beyond the end; the task's name stands before it.
const BEYOND: &str = ": attempt to access beyond end of device";
/// `TASK_COMM_LEN` less the closing zero. What is longer is a text that quotes.
const MAX_COMM: usize = 15;
/// Devices without medium fail reads as a matter of course: floppy and optical drives.
const REMOVABLE: &[&str] = &["fd", "sr"];

/// `blk_update_request: I/O error, dev sdb, sector 2048 op 0x0:(READ) flags 0x80700`, without the function since 5.16,
/// with `print_req_error` in 4.15 to 5.3.
pub(crate) fn request(line: &Line<'_>) -> Option<Occurrence> {
    let text = line.text;
    let text = text
        .strip_prefix("blk_update_request: ")
        .or_else(|| text.strip_prefix("print_req_error: "))
        .unwrap_or(text);
    let (error, rest) = text.split_once(", dev ")?;
    let known = matches!(
        error,
        "I/O error"
            | "critical medium error"
            | "critical target error"
            | "critical nexus error"
            | "timeout error"
            | "protection error"
    );
    let (device, rest) = rest.split_once(", sector ")?;
    scan::number::<u64>(rest)?;
    known.then(|| failed(line, device, error))?
}

/// `Buffer I/O error on dev dm-0, logical block 1308098575, lost async page write`, `on device` before 4.2.
pub(crate) fn buffer(line: &Line<'_>) -> Option<Occurrence> {
    let rest = line.text.strip_prefix("Buffer I/O error on dev")?;
    let rest = rest.strip_prefix("ice").unwrap_or(rest).strip_prefix(' ')?;
    let (device, rest) = rest.split_once(", logical block ")?;
    let (_, rest) = scan::number::<u64>(rest)?;
    let error = match rest.strip_prefix(", ").map(str::trim_end) {
        Some(what) if what.starts_with("lost ") => what,
        _ => "buffer I/O error",
    };
    failed(line, device, error)
}

/// Whether `text` ends as [`beyond`] expects, whoever it names.
pub(crate) fn is_beyond(text: &str) -> bool {
    text.ends_with(BEYOND)
}

/// `kworker/u203:1: attempt to access beyond end of device`; the device stands in the next line.
pub(crate) fn beyond(line: &Line<'_>) -> Option<Occurrence> {
    let comm = line.text.trim_end().strip_suffix(BEYOND)?;
    if comm.is_empty() || comm.len() > MAX_COMM || comm.contains(": ") {
        return None;
    }
    let mut occurrence = line.occurrence(Kind::IoError, Severity::Warning);
    occurrence.detail.host.error = Some("access beyond the end of the device".to_owned());
    Some(occurrence)
}

/// `nvme0n1: Read(0x2) @ LBA 1234, 8 blocks, Unrecovered Read Error (sct 0x2 / sc 0x81) DNR`, since 5.18.
pub(crate) fn nvme_status(line: &Line<'_>) -> Option<Occurrence> {
    let (device, rest) = line.text.split_once(": ")?;
    let namespace = device.strip_prefix("nvme").and_then(scan::number::<u32>)?;
    if !namespace.1.starts_with('n') && !namespace.1.starts_with('c') {
        return None;
    }
    let (command, rest) = rest.split_once("(0x")?;
    let rest = scan::after(rest, ") @ LBA ")?;
    let (_, rest) = scan::number::<u64>(rest)?;
    let (_, rest) = scan::number::<u64>(rest.strip_prefix(", ")?)?;
    let rest = rest.strip_prefix(" blocks, ")?;
    let (error, _) = rest.split_once(" (sct 0x")?;
    let mut occurrence = failed(line, device, error)?;
    occurrence.detail.host.command = Some(command.to_owned());
    Some(occurrence)
}

fn failed(line: &Line<'_>, device: &str, error: &str) -> Option<Occurrence> {
    let removable = REMOVABLE.iter().any(|kind| {
        let number = device.strip_prefix(kind);
        number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    });
    if removable || device.is_empty() || device.contains(' ') {
        return None;
    }
    let severity = match error.starts_with("lost ") {
        true => Severity::Critical,
        false => Severity::Warning,
    };
    let mut occurrence = line.occurrence(Kind::IoError, severity);
    occurrence.detail.host.device = Some(device.to_owned());
    occurrence.detail.host.error = Some(error.to_owned());
    Some(occurrence)
}

/// `block nvme0n1: no available path - failing I/O`, `… no usable path - requeuing I/O`.
pub(crate) fn path(line: &Line<'_>) -> Option<Occurrence> {
    let rest = line.text.strip_prefix("block nvme")?;
    let (number, body) = rest.split_once(": ")?;
    let error = match body.trim_end() {
        "no available path - failing I/O" => "no available path",
        "no usable path - requeuing I/O" => "no usable path",
        _ => return None,
    };
    let severity = match error {
        "no available path" => Severity::Critical,
        _ => Severity::Warning,
    };
    let mut occurrence = line.occurrence(Kind::DiskLost, severity);
    occurrence.detail.host.device = Some(format!("nvme{number}"));
    occurrence.detail.host.error = Some(error.to_owned());
    Some(occurrence)
}

/// `md/raid1:md0: Disk failure on nvme0n1p1, disabling device.`, `md/raid0md0: Disk failure on nvme0n1p1 detected,
/// failing array.` (so without colon), `md/raid:md0: Cannot continue operation (2/4 failed).`
pub(crate) fn raid(line: &Line<'_>) -> Option<Occurrence> {
    let rest = line.text.strip_prefix("md/")?;
    let (array, body) = rest.split_once(": ")?;
    // `raid1:md0`, `raid0md0`, `linearmd0`
    let array = match array.rsplit_once(':') {
        Some((_, array)) => array,
        None => array.get(array.find("md")?..)?,
    };
    let (error, severity) = if let Some(disk) = body.strip_prefix("Disk failure on ") {
        let (disk, rest) = disk.split_once([' ', ','])?;
        if disk.is_empty() {
            return None;
        }
        match rest.contains("failing array") {
            true => ("array failed", Severity::Critical),
            false => ("disk failed", Severity::Warning),
        }
    } else if body.starts_with("Cannot continue operation") {
        ("array failed", Severity::Critical)
    } else {
        return None;
    };
    let mut occurrence = line.occurrence(Kind::RaidDegraded, severity);
    occurrence.detail.host.device = Some(array.to_owned());
    occurrence.detail.host.error = Some(error.to_owned());
    Some(occurrence)
}
