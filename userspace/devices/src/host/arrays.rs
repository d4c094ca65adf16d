//! Arrays of disks (md). Source: /sys/block/md*/md (Documentation/admin-guide/md.rst).

use std::fs;

use super::part::{HostReading, HostRoots, HostState};
use crate::sysfs;

/// So many arrays have series of their own.
const MAX_ARRAYS: usize = 32;

/// Adds what each array says of itself.
pub(super) fn read(roots: &HostRoots, reading: &mut HostReading) {
    let entries = fs::read_dir(roots.sysfs.join("block"));
    let mut names: Vec<String> = entries
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("md"))
        .collect();
    names.sort_unstable();
    names.truncate(MAX_ARRAYS);
    for name in names {
        let md = roots.sysfs.join("block").join(&name).join("md");
        let labels = [("device", name.as_str())];
        if let Some(degraded) = sysfs::number::<u32>(&md.join("degraded")) {
            reading.gauge(
                ("gtrace_disk_array_missing", ""),
                "Disks that an array (md) lacks",
                &labels,
                f64::from(degraded),
            );
            if degraded > 0 {
                let reason = format!("the array {name} lacks {degraded} disks");
                reading.find(HostState::Degraded, reason);
            }
        }
        let state = sysfs::text(&md.join("array_state"));
        if state.as_deref() == Some("broken") {
            reading.find(HostState::Unhealthy, format!("the array {name} is broken"));
        }
    }
}
