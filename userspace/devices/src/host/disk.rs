//! File systems on disks of the host: how full they are, whether they became read-only, and arrays of disks.
//!
//! Source: /proc/1/mounts and statvfs(3); /sys/block/md*/md.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::arrays;
use super::mounts::{Mount, mounts};
use super::part::{HostReading, HostRoots, HostState, Part, PartInfo, Unread};

pub(super) const INFO: PartInfo = PartInfo {
    name: "disk",
    gives: "file systems on disks: space and inodes left, those that became read-only; arrays of disks (md)",
    needs: "/proc/1/mounts (CAP_SYS_PTRACE), else /proc/mounts",
    remedy: "run as root or with CAP_SYS_PTRACE: else file systems that the daemon cannot see are left out",
    every: Duration::from_secs(30),
};

/// File systems whose data is on disks of this host.
const ON_DISK: &[&str] = &[
    "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "bcachefs", "reiserfs", "jfs", "ntfs3",
];
/// So many file systems have series of their own.
const MAX_MOUNTS: usize = 32;

/// What statvfs(3) says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Usage {
    size: f64,
    available: f64,
    inodes: f64,
    inodes_free: f64,
}

type Ask = fn(&Path) -> io::Result<Usage>;

pub(super) struct Disk {
    ask: Ask,
    /// What was writable when it was seen.
    writable: BTreeSet<(String, String)>,
}

impl Default for Disk {
    fn default() -> Self {
        Self {
            ask,
            writable: BTreeSet::new(),
        }
    }
}

fn ask(path: &Path) -> io::Result<Usage> {
    let space = rustix::fs::statvfs(path)?;
    let block = space.f_frsize as f64;
    Ok(Usage {
        size: space.f_blocks as f64 * block,
        available: space.f_bavail as f64 * block,
        inodes: space.f_files as f64,
        inodes_free: space.f_favail as f64,
    })
}

impl Part for Disk {
    fn read(&mut self, roots: &HostRoots, _now: Instant) -> Result<HostReading, Unread> {
        let mut of_disks = Vec::new();
        let mut seen = BTreeSet::new();
        for mount in mounts(roots)? {
            // The same device again is a bind mount, or a container's.
            if ON_DISK.contains(&mount.kind.as_str()) && seen.insert(mount.device.clone()) {
                of_disks.push(mount);
            }
        }
        let left_out = of_disks.len().saturating_sub(MAX_MOUNTS);
        of_disks.truncate(MAX_MOUNTS);
        let mut reading = HostReading::default();
        reading.gauge(
            ("gtrace_disk_left_out", ""),
            "File systems beyond the first 32, which have no values of their own",
            &[],
            left_out as f64,
        );
        for mount in &of_disks {
            self.of_mount(roots, mount, &mut reading);
        }
        let is_mounted = |(device, at): &(String, String)| {
            of_disks.iter().any(|m| m.device == *device && m.at == *at)
        };
        self.writable.retain(is_mounted);
        arrays::read(roots, &mut reading);
        Ok(reading)
    }
}

impl Disk {
    fn of_mount(&mut self, roots: &HostRoots, mount: &Mount, reading: &mut HostReading) {
        let labels = [
            ("mount", mount.at.as_str()),
            ("device", mount.device.as_str()),
            ("type", mount.kind.as_str()),
        ];
        reading.gauge(
            ("gtrace_disk_read_only", ""),
            "Whether a file system is mounted read-only",
            &labels,
            f64::from(u8::from(mount.read_only)),
        );
        let key = (mount.device.clone(), mount.at.clone());
        if !mount.read_only {
            self.writable.insert(key);
        } else if self.writable.contains(&key) {
            let reason = format!("{} became read-only", mount.at);
            reading.find(HostState::Unhealthy, reason);
        }
        let below = mount.at.trim_start_matches('/');
        let seen_by_init = roots.root.join(below);
        let usage = (self.ask)(&seen_by_init).or_else(|_| (self.ask)(Path::new(&mount.at)));
        let usage = match usage {
            Ok(usage) => usage,
            Err(error) => {
                reading.missing = Some(format!("space of {}: {error}", mount.at));
                return;
            }
        };
        let values: [(_, _, f64); 4] = [
            (
                ("gtrace_disk_size_bytes", "bytes"),
                "Size of a file system",
                usage.size,
            ),
            (
                ("gtrace_disk_available_bytes", "bytes"),
                "Space of a file system that programs can use",
                usage.available,
            ),
            (
                ("gtrace_disk_inodes", ""),
                "Inodes of a file system; 0 where it has no fixed number",
                usage.inodes,
            ),
            (
                ("gtrace_disk_inodes_free", ""),
                "Inodes of a file system that are free",
                usage.inodes_free,
            ),
        ];
        for (name, help, value) in values {
            reading.gauge(name, help, &labels, value);
        }
        if mount.read_only {
            return;
        }
        for (what, left, all) in [
            ("space", usage.available, usage.size),
            ("inodes", usage.inodes_free, usage.inodes),
        ] {
            if all <= 0.0 {
                continue;
            }
            let share = left / all;
            let state = match share {
                s if s < roots.thresholds.disk_empty => HostState::Unhealthy,
                s if s < roots.thresholds.disk_low => HostState::Degraded,
                _ => continue,
            };
            let reason = format!("{} has {:.1} % of its {what} left", mount.at, share * 100.0);
            reading.find(state, reason);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::part::value;
    use super::*;

    const MOUNTS: &str = "/dev/nvme0n1p2 / ext4 rw,relatime 0 0\n\
        proc /proc proc rw 0 0\n\
        /dev/nvme1n1 /full xfs rw 0 0\n\
        /dev/nvme1n1 /bound xfs rw 0 0\n\
        filer:/x /home nfs4 rw 0 0\n\
        /dev/sr0 /cd iso9660 ro 0 0\n";

    fn fake(path: &Path) -> io::Result<Usage> {
        let all = Usage {
            size: 1000.0,
            available: 500.0,
            inodes: 100.0,
            inodes_free: 99.0,
        };
        Ok(match path.file_name().and_then(|n| n.to_str()) {
            Some("full") => Usage {
                available: 20.0,
                inodes_free: 0.5,
                ..all
            },
            Some("gone") => return Err(io::Error::from(io::ErrorKind::NotFound)),
            Some("dynamic") => Usage {
                inodes: 0.0,
                inodes_free: 0.0,
                ..all
            },
            _ => all,
        })
    }

    fn disk() -> Disk {
        Disk {
            ask: fake,
            ..Disk::default()
        }
    }

    fn read(disk: &mut Disk, dir: &Path, mounts: &str) -> HostReading {
        fs::create_dir_all(dir.join("proc/1")).unwrap();
        fs::write(dir.join("proc/1/mounts"), mounts).unwrap();
        let roots = HostRoots::new(dir.join("proc"), dir.join("sys"));
        disk.read(&roots, Instant::now()).unwrap()
    }

    #[test]
    fn disks_are_judged_and_nothing_that_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let reading = read(&mut disk(), dir.path(), MOUNTS);
        assert_eq!(reading.state, HostState::Unhealthy);
        assert_eq!(
            reading.reasons,
            [
                "/full has 2.0 % of its space left",
                "/full has 0.5 % of its inodes left"
            ]
        );
        let root = [("mount", "/"), ("type", "ext4")];
        assert_eq!(
            value(&reading, "gtrace_disk_available_bytes", &root),
            Some(500.0)
        );
        let labels = reading.metrics.iter().flat_map(|m| &m.labels);
        let mounts: BTreeSet<_> = labels
            .filter(|(k, _)| *k == "mount")
            .map(|(_, v)| v.as_str())
            .collect();
        assert_eq!(mounts, BTreeSet::from(["/", "/full"]));
    }

    #[test]
    fn a_file_system_that_becomes_read_only_is_a_fault_until_it_is_writable_again() {
        let dir = tempfile::tempdir().unwrap();
        let mut disk = disk();
        let (rw, ro) = (
            "/dev/sda1 /data ext4 rw 0 0\n",
            "/dev/sda1 /data ext4 ro 0 0\n",
        );
        // Read-only from the start: on purpose.
        assert_eq!(read(&mut disk, dir.path(), ro).state, HostState::Healthy);
        assert_eq!(read(&mut disk, dir.path(), rw).state, HostState::Healthy);
        let now_ro = read(&mut disk, dir.path(), ro);
        assert_eq!(now_ro.state, HostState::Unhealthy);
        assert_eq!(now_ro.reasons, ["/data became read-only"]);
        assert_eq!(read(&mut disk, dir.path(), rw).state, HostState::Healthy);
        // Unmounted and mounted read-only: on purpose.
        read(&mut disk, dir.path(), "");
        assert_eq!(read(&mut disk, dir.path(), ro).state, HostState::Healthy);
    }

    #[test]
    fn what_cannot_be_asked_is_said_and_the_rest_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let text = "/dev/sda1 /gone ext4 rw 0 0\n/dev/sda2 /dynamic btrfs rw 0 0\n";
        let reading = read(&mut disk(), dir.path(), text);
        assert_eq!(reading.state, HostState::Healthy);
        assert!(reading.missing.unwrap().contains("/gone"));
        let labels = [("mount", "/dynamic")];
        let reading = read(&mut disk(), dir.path(), text);
        assert_eq!(
            value(&reading, "gtrace_disk_size_bytes", &labels),
            Some(1000.0)
        );
    }

    #[test]
    fn many_file_systems_are_bounded_and_the_rest_counted() {
        let dir = tempfile::tempdir().unwrap();
        let text: String = (0..40)
            .map(|n| format!("/dev/sd{n} /m{n} xfs rw 0 0\n"))
            .collect();
        let reading = read(&mut disk(), dir.path(), &text);
        assert_eq!(value(&reading, "gtrace_disk_left_out", &[]), Some(8.0));
        assert_eq!(reading.metrics.len(), 1 + 32 * 5);
    }

    #[test]
    fn arrays_that_lack_a_disk_are_degraded_and_broken_ones_unhealthy() {
        let dir = tempfile::tempdir().unwrap();
        let md = dir.path().join("sys/block/md5/md");
        fs::create_dir_all(&md).unwrap();
        fs::write(md.join("degraded"), "0\n").unwrap();
        fs::write(md.join("array_state"), "clean\n").unwrap();
        assert_eq!(read(&mut disk(), dir.path(), "").state, HostState::Healthy);
        fs::write(md.join("degraded"), "1\n").unwrap();
        let reading = read(&mut disk(), dir.path(), "");
        assert_eq!(reading.state, HostState::Degraded);
        assert_eq!(reading.reasons, ["the array md5 lacks 1 disks"]);
        fs::write(md.join("array_state"), "broken\n").unwrap();
        assert_eq!(
            read(&mut disk(), dir.path(), "").state,
            HostState::Unhealthy
        );
    }
}
