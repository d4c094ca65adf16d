//! The host: CPU, memory, and how much work is stalled by lack of them.
//!
//! Sources: /proc/stat, /proc/loadavg, /proc/meminfo (proc(5)), /proc/pressure
//! (Documentation/accounting/psi.rst). What a kernel lacks is `None`.

use std::fs;
use std::path::Path;

/// Read once a second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostReading {
    /// The boot that this is of, to distinguish the daemon's host from another.
    pub(super) boot_id: String,
    /// CPU time since boot, all CPUs, in ticks: not idle, and in all.
    pub(super) cpu: Option<(u64, u64)>,
    pub(super) cpus: usize,
    /// Of the last 1, 5 and 15 minutes.
    pub(super) load: Option<[f64; 3]>,
    /// Used and all of it, bytes.
    pub(super) memory: Option<(u64, u64)>,
    pub(super) swap: Option<(u64, u64)>,
    /// Share of the last 10 seconds for which some tasks waited for CPU, memory, I/O; from 0 to 1.
    pub(super) waiting: [Option<f64>; 3],
    /// The same for all work that waited for memory.
    pub(super) memory_full: Option<f64>,
}

impl HostReading {
    /// Reads what is below `proc`.
    pub fn take(proc: &Path) -> Self {
        let read = |name: &str| fs::read_to_string(proc.join(name)).unwrap_or_default();
        let (stat, memory) = (read("stat"), read("meminfo"));
        let of = |total, free| {
            let total = kilobytes(&memory, total)?;
            Some((total.saturating_sub(kilobytes(&memory, free)?), total))
        };
        let waiting = ["cpu", "memory", "io"];
        let waiting = waiting.map(|name| share(&read(&format!("pressure/{name}")), "some"));
        Self {
            boot_id: read("sys/kernel/random/boot_id").trim().to_owned(),
            cpu: ticks(&stat),
            cpus: stat.lines().filter(|line| is_cpu(line)).count(),
            load: load(&read("loadavg")),
            memory: of("MemTotal:", "MemAvailable:"),
            swap: of("SwapTotal:", "SwapFree:").filter(|(_, total)| *total > 0),
            waiting,
            memory_full: share(&read("pressure/memory"), "full"),
        }
    }
}

/// `cpu0 …`, not the sum of all.
fn is_cpu(line: &str) -> bool {
    let number = line.strip_prefix("cpu");
    number.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// `cpu  user nice system idle iowait irq softirq steal …`
fn ticks(stat: &str) -> Option<(u64, u64)> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    // Time of guests is in that of their users already.
    let words = line.split_ascii_whitespace().take(8);
    let times: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
    let total = times.iter().copied().fold(0, u64::saturating_add);
    let idle = times.get(3)?.saturating_add(*times.get(4)?);
    Some((total.saturating_sub(idle), total))
}

fn load(text: &str) -> Option<[f64; 3]> {
    let mut words = text.split_ascii_whitespace();
    let mut next = || words.next()?.parse().ok();
    Some([next()?, next()?, next()?])
}

/// `MemTotal:       24680508 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// The share of 10 seconds in `some avg10=0.00 …`.
fn share(text: &str, kind: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(kind))?;
    let percent = line.trim_start().strip_prefix("avg10=")?;
    let percent: f64 = percent.split(' ').next()?.parse().ok()?;
    Some(percent / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_proc_says_is_read_and_what_it_lacks_is_not_invented() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert_eq!(HostReading::take(dir.path()), HostReading::default());
        write(
            "stat",
            "cpu  10 1 5 80 4 0 0 0 9 9\ncpu0 5 0 2 40 2 0 0 0 0 0\ncpu1 1 1 1 1 1 1 1 1 1 1\nintr 1\n",
        );
        write("loadavg", "0.50 1.25 2.00 1/100 4242\n");
        write(
            "meminfo",
            "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 400 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n",
        );
        write(
            "pressure/memory",
            "some avg10=2.50 avg60=0.00 avg300=0.00 total=1\nfull avg10=1.00 avg60=0.00 avg300=0.00 total=1\n",
        );
        let host = HostReading::take(dir.path());
        assert_eq!((host.cpu, host.cpus), (Some((16, 100)), 2));
        assert_eq!(host.load, Some([0.5, 1.25, 2.0]));
        assert_eq!(host.memory, Some((600 << 10, 1000 << 10)));
        assert_eq!(host.swap, None);
        assert_eq!(host.waiting, [None, Some(0.025), None]);
        assert_eq!(host.memory_full, Some(0.01));
    }
}
