//! File systems that stop writing after an error. Source: fs/ext4/super.c, fs/xfs/xfs_fsops.c,
//! fs/btrfs/messages.c, fs/fat/misc.c.

use gtrace_event::{Kind, Occurrence, Severity};

use crate::record::Line;

/// How far into a line the name of the file system's log prefix may end.
const MAX_PREFIX: usize = 16;

/// `EXT4-fs (nvme0n1p1): Remounting filesystem read-only`, `XFS (dm-0): … Shutting down
/// filesystem.`, `BTRFS info (device sda1 state EA): forced readonly`.
pub(crate) fn parse(line: &Line<'_>) -> Option<Occurrence> {
    let (name, rest) = line.text.split_once(" (")?;
    if name.len() > MAX_PREFIX || !(name.ends_with("-fs") || is_bare_prefix(name)) {
        return None;
    }
    let (device, message) = rest.split_once("): ")?;
    let stops = if name == "XFS" {
        message.contains("Shutting down filesystem")
            || message.contains("Filesystem has been shut down")
    } else if name.starts_with("BTRFS") {
        message.contains("forced readonly")
    } else {
        let message = message.strip_prefix("error: ").unwrap_or(message);
        message.starts_with("Remounting filesystem read-only")
            || message.starts_with("remounting filesystem read-only")
            || message.starts_with("Filesystem has been set read-only")
    };
    if !stops {
        return None;
    }
    let device = device.strip_prefix("device ").unwrap_or(device);
    let device = device.split([' ', ',']).next()?;
    let mut occurrence = line.occurrence(Kind::FsReadonly, Severity::Critical);
    occurrence.detail.host.device = Some(device.to_owned());
    Some(occurrence)
}

fn is_bare_prefix(name: &str) -> bool {
    name == "XFS" || name == "BTRFS" || name.starts_with("BTRFS ")
}
