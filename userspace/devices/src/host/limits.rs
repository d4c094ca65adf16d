//! What the kernel gives to programs in a limited number: file handles, tasks and tracked connections.
//!
//! Source: /proc/sys/fs/file-nr (Documentation/admin-guide/sysctl/fs.rst), /proc/loadavg, kernel.threads-max and
//! kernel.pid_max, net.netfilter.nf_conntrack_max and /proc/1/net/stat/nf_conntrack, as net.netfilter.nf_conntrack_count is that
//! of the network namespace of who reads it, which may be a container's.

use std::time::{Duration, Instant};

use super::part::{HostReading, HostRoots, HostState, Part, PartInfo, Unread, needed};
use crate::sysfs;

pub(super) const INFO: PartInfo = PartInfo {
    name: "limits",
    gives: "file handles, tasks and tracked connections of the host in use, and how many there can be",
    needs: "/proc/sys/fs/file-nr and /proc/loadavg",
    remedy: "mount procfs",
    every: Duration::from_secs(30),
};

pub(super) struct Limits;

impl Part for Limits {
    fn read(&mut self, roots: &HostRoots, _now: Instant) -> Result<HostReading, Unread> {
        let path = roots.proc.join("sys/fs/file-nr");
        let text = needed(&path)?;
        let mut words = text.split_ascii_whitespace();
        let numbers = (
            words.next().and_then(|w| w.parse::<f64>().ok()),
            words.nth(1).and_then(|w| w.parse::<f64>().ok()),
        );
        let (Some(files), Some(most)) = numbers else {
            let why = format!("{}: {:?} is no count of files", path.display(), text.trim());
            return Err(Unread::Failed(why));
        };
        let mut reading = HostReading::default();
        reading.metrics.extend(crate::metric_table! {
            gauge "gtrace_file_handles" [""] "File handles of the host in use" => files;
            gauge "gtrace_file_handles_limit" [""] "File handles that there can be (fs.file-max)" => most;
        });
        let of_files = "file handles (fs.file-max)";
        judge(roots, &mut reading, files, most, of_files);
        if let Some((tasks, most)) = tasks(roots) {
            reading.metrics.extend(crate::metric_table! {
                gauge "gtrace_host_tasks" [""] "Tasks (threads) of the host" => tasks;
                gauge "gtrace_host_tasks_limit" [""] "Tasks that there can be: the lower of kernel.threads-max and kernel.pid_max" =>
                    most;
            });
            judge(
                roots,
                &mut reading,
                tasks,
                most,
                "tasks (kernel.threads-max, kernel.pid_max)",
            );
        }
        if let Some((tracked, most)) = connections(roots) {
            reading.metrics.extend(crate::metric_table! {
                gauge "gtrace_conntrack_entries" [""] "Connections that netfilter tracks" => tracked;
                gauge "gtrace_conntrack_entries_limit" [""] "Connections that netfilter can track; beyond, packets of new ones are dropped" =>
                    most;
            });
            let of_connections = "tracked connections (net.netfilter.nf_conntrack_max)";
            judge(roots, &mut reading, tracked, most, of_connections);
        }
        Ok(reading)
    }
}

fn judge(roots: &HostRoots, reading: &mut HostReading, used: f64, most: f64, what: &str) {
    if most <= 0.0 {
        return;
    }
    let share = used / most;
    let state = match share {
        s if s >= roots.thresholds.limits_full => HostState::Unhealthy,
        s if s >= roots.thresholds.limits_high => HostState::Degraded,
        _ => return,
    };
    let reason = format!("{:.0} % of the {what} are in use", share * 100.0);
    reading.find(state, reason);
}

/// `0.20 0.18 0.12 1/80 11206`: the fourth word has all tasks behind the slash.
fn tasks(roots: &HostRoots) -> Option<(f64, f64)> {
    let text = sysfs::text(&roots.proc.join("loadavg"))?;
    let tasks = text.split_ascii_whitespace().nth(3)?.split_once('/')?.1;
    let kernel = roots.proc.join("sys/kernel");
    let threads: f64 = sysfs::number(&kernel.join("threads-max"))?;
    let pids: f64 = sysfs::number(&kernel.join("pid_max"))?;
    Some((tasks.parse().ok()?, threads.min(pids)))
}

/// `None` where no rule of netfilter needs them tracked.
fn connections(roots: &HostRoots) -> Option<(f64, f64)> {
    let netfilter = roots.proc.join("sys/net/netfilter");
    let most = sysfs::number(&netfilter.join("nf_conntrack_max"))?;
    let of_host = sysfs::text(&roots.proc.join("1/net/stat/nf_conntrack"));
    let tracked = of_host
        .and_then(|text| entries(&text))
        .or_else(|| sysfs::number(&netfilter.join("nf_conntrack_count")))?;
    Some((tracked, most))
}

/// `entries  clashres …`, and a line a CPU, whose first word is the same in all: how many there are, in hex.
fn entries(text: &str) -> Option<f64> {
    let of_cpu = text.lines().nth(1)?;
    let entries = of_cpu.split_ascii_whitespace().next()?;
    u32::from_str_radix(entries, 16).ok().map(f64::from)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::part::value;
    use super::*;

    fn read(dir: &std::path::Path, files: &str, load: &str) -> Result<HostReading, Unread> {
        let kernel = dir.join("proc/sys/kernel");
        fs::create_dir_all(&kernel).unwrap();
        fs::create_dir_all(dir.join("proc/sys/fs")).unwrap();
        fs::write(dir.join("proc/sys/fs/file-nr"), files).unwrap();
        fs::write(dir.join("proc/loadavg"), load).unwrap();
        fs::write(kernel.join("threads-max"), "1000\n").unwrap();
        fs::write(kernel.join("pid_max"), "500\n").unwrap();
        let roots = HostRoots::new(dir.join("proc"), dir.join("sys"));
        Limits.read(&roots, Instant::now())
    }

    #[test]
    fn what_is_almost_used_up_is_named_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let calm = read(dir.path(), "1200\t0\t10000\n", "0.1 0.1 0.1 1/80 9\n").unwrap();
        assert_eq!((calm.state, calm.reasons.len()), (HostState::Healthy, 0));
        assert_eq!(value(&calm, "gtrace_file_handles", &[]), Some(1200.0));
        assert_eq!(value(&calm, "gtrace_host_tasks_limit", &[]), Some(500.0));
        let high = read(dir.path(), "8500 0 10000", "0.1 0.1 0.1 1/80 9").unwrap();
        assert_eq!(high.state, HostState::Degraded);
        assert!(high.reasons[0].contains("85 % of the file handles"));
        let full = read(dir.path(), "8500 0 10000", "0.1 0.1 0.1 1/490 9").unwrap();
        assert_eq!((full.state, full.reasons.len()), (HostState::Unhealthy, 2));
        // It recovers, and the largest limit that there is is no fault.
        let calm = read(dir.path(), "12 0 9223372036854775807", "x").unwrap();
        assert_eq!(calm.state, HostState::Healthy);
        assert_eq!(value(&calm, "gtrace_host_tasks", &[]), None);
    }

    #[test]
    fn a_full_table_of_connections_drops_new_ones() {
        let dir = tempfile::tempdir().unwrap();
        let calm = || read(dir.path(), "12 0 10000", "0.1 0.1 0.1 1/80 9").unwrap();
        assert_eq!(value(&calm(), "gtrace_conntrack_entries", &[]), None);
        let netfilter = dir.path().join("proc/sys/net/netfilter");
        fs::create_dir_all(&netfilter).unwrap();
        fs::write(netfilter.join("nf_conntrack_max"), "262144\n").unwrap();
        fs::write(netfilter.join("nf_conntrack_count"), "1024\n").unwrap();
        assert_eq!(calm().state, HostState::Healthy);
        // That of process 1 goes before.
        let of_host = dir.path().join("proc/1/net/stat");
        fs::create_dir_all(&of_host).unwrap();
        let table = "entries  clashres found\n00040000  00000000 00000000\n";
        fs::write(of_host.join("nf_conntrack"), table).unwrap();
        let full = calm();
        assert_eq!(full.state, HostState::Unhealthy);
        assert!(full.reasons[0].starts_with("100 % of the tracked connections"));
        assert_eq!(
            value(&full, "gtrace_conntrack_entries_limit", &[]),
            Some(262_144.0)
        );
    }

    #[test]
    fn a_file_of_another_form_is_a_failure() {
        let dir = tempfile::tempdir().unwrap();
        for text in ["", "x", "5", "5 0", "5 0 x"] {
            let error = read(dir.path(), text, "").unwrap_err();
            assert!(
                matches!(error, Unread::Failed(why) if why.contains("file-nr")),
                "{text}"
            );
        }
    }
}
