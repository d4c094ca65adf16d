//! Memory of the host: how much is left, and errors of its modules.
//!
//! Source: /proc/meminfo (fs/proc/meminfo.c); /sys/devices/system/edac/mc (Documentation/admin-guide/RAS/main.rst).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::part::{HostReading, HostRoots, HostState, Part, PartInfo, Unread, needed};
use crate::sysfs;

pub(super) const INFO: PartInfo = PartInfo {
    name: "memory",
    gives: "memory of the host that is left, and errors of its modules (EDAC)",
    needs: "/proc/meminfo; /sys/devices/system/edac/mc for errors of modules",
    remedy: "load the EDAC driver of the memory controller (amd64_edac, i10nm_edac, skx_edac, igen6_edac); virtual machines have none",
    every: Duration::from_secs(30),
};

const HOUR: Duration = Duration::from_secs(3600);
/// So many controllers and modules have series of their own.
const MAX_CONTROLLERS: usize = 32;
const MAX_MODULES: usize = 128;

/// Counts of a controller: corrected and not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    corrected: u64,
    uncorrected: u64,
}

#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Readings of the last hour, of each controller, and its first.
    past: BTreeMap<String, (Counts, VecDeque<(Instant, Counts)>)>,
}

impl Part for Memory {
    fn read(&mut self, roots: &HostRoots, now: Instant) -> Result<HostReading, Unread> {
        let path = roots.proc.join("meminfo");
        let text = needed(&path)?;
        let bytes = |name: &str| {
            let line = text
                .lines()
                .find_map(|l| l.strip_prefix(name)?.strip_prefix(':'))?;
            let kib: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
            Some(kib.saturating_mul(1024))
        };
        let Some((size, available)) = bytes("MemTotal").zip(bytes("MemAvailable")) else {
            let why = format!("{}: no MemTotal or MemAvailable", path.display());
            return Err(Unread::Failed(why));
        };
        let mut reading = HostReading::default();
        reading.metrics.extend(crate::metric_table! {
            gauge "gtrace_memory_size_bytes" ["bytes"] "Memory of the host" => size as f64;
            gauge "gtrace_memory_available_bytes" ["bytes"] "Memory that programs can get without swapping (MemAvailable)" =>
                available as f64;
        });
        let share = available as f64 / size.max(1) as f64;
        if share < roots.thresholds.memory_low {
            let reason = format!("{:.1} % of the memory is available", share * 100.0);
            reading.find(HostState::Degraded, reason);
        }
        if let Some(corrupted) = bytes("HardwareCorrupted") {
            reading.gauge(
                ("gtrace_memory_corrupted_bytes", "bytes"),
                "Memory that the kernel gave up because of errors",
                &[],
                corrupted as f64,
            );
            if corrupted > 0 {
                let kib = corrupted / 1024;
                let reason =
                    format!("the kernel has given up {kib} KiB of memory because of errors");
                reading.find(HostState::Degraded, reason);
            }
        }
        self.edac(roots, now, &mut reading);
        Ok(reading)
    }
}

impl Memory {
    fn edac(&mut self, roots: &HostRoots, now: Instant, reading: &mut HostReading) {
        let dir = roots.sysfs.join("devices/system/edac/mc");
        let most = roots.thresholds.memory_errors_hourly;
        let controllers = names(&dir, "mc", MAX_CONTROLLERS);
        if controllers.is_empty() {
            reading.missing = Some("errors of memory modules: no EDAC driver is loaded".to_owned());
        }
        self.past.retain(|name, _| controllers.contains(name));
        let mut modules = 0;
        for controller in controllers {
            let at = dir.join(&controller);
            let number = |name: &str| sysfs::number::<u64>(&at.join(name));
            let Some((corrected, uncorrected)) = number("ce_count").zip(number("ue_count")) else {
                continue;
            };
            let counts = Counts {
                corrected,
                uncorrected,
            };
            errors(reading, &controller, "", "corrected", corrected);
            errors(reading, &controller, "", "uncorrected", uncorrected);
            let mut labels = BTreeSet::new();
            for module in names(&at, "dimm", MAX_MODULES - modules) {
                modules += 1;
                let at = at.join(&module);
                let label = sysfs::text(&at.join("dimm_label")).filter(|l| !l.is_empty());
                // Firmware may call two modules alike.
                let label = label.filter(|label| labels.insert(label.clone()));
                let label = label.unwrap_or(module);
                for (kind, file) in [
                    ("corrected", "dimm_ce_count"),
                    ("uncorrected", "dimm_ue_count"),
                ] {
                    if let Some(count) = sysfs::number(&at.join(file)) {
                        errors(reading, &controller, &label, kind, count);
                    }
                }
            }
            let (name, rise) = self.judge(controller, counts, now, reading);
            if rise > most {
                let reason = format!("{rise} corrected errors of {name} within an hour");
                reading.find(HostState::Degraded, reason);
            }
        }
    }

    /// Judges errors that were not corrected; how many were within the last hour.
    fn judge(
        &mut self,
        name: String,
        counts: Counts,
        now: Instant,
        reading: &mut HostReading,
    ) -> (String, u64) {
        let (first, past) = self
            .past
            .entry(name.clone())
            .or_insert_with(|| (counts, VecDeque::new()));
        // A counter that fell was reset: all that it counts is new.
        let newest = past.back().map_or(*first, |(_, newest)| *newest);
        if counts.corrected < newest.corrected || counts.uncorrected < newest.uncorrected {
            *first = Counts::default();
            past.clear();
            past.push_back((now, Counts::default()));
        }
        past.push_back((now, counts));
        while past
            .front()
            .is_some_and(|(at, _)| now.saturating_duration_since(*at) > HOUR)
        {
            past.pop_front();
        }
        let lost = counts.uncorrected - first.uncorrected;
        if lost > 0 {
            let reason =
                format!("{lost} errors of {name} could not be corrected since gtrace watches");
            reading.find(HostState::Unhealthy, reason);
        }
        let before = past.front().map_or(counts.corrected, |(_, c)| c.corrected);
        (name, counts.corrected.saturating_sub(before))
    }
}

fn errors(reading: &mut HostReading, controller: &str, module: &str, kind: &str, count: u64) {
    reading.counter(
        ("gtrace_memory_errors", ""),
        "Errors of the host's memory by controller, and by module where the driver knows it",
        &[("controller", controller), ("dimm", module), ("type", kind)],
        count as f64,
    );
}

/// Folders whose names are `prefix` and a number, in the order of their numbers, so many at most.
fn names(dir: &Path, prefix: &str, most: usize) -> Vec<String> {
    let entries = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let mut found: Vec<(u32, String)> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let number = name.strip_prefix(prefix)?.parse().ok()?;
            Some((number, name))
        })
        .collect();
    found.sort_unstable();
    found.truncate(most);
    found.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::super::part::value;
    use super::*;

    struct Host {
        dir: tempfile::TempDir,
        memory: Memory,
        now: Instant,
    }

    impl Host {
        fn new() -> Self {
            Self {
                dir: tempfile::tempdir().unwrap(),
                memory: Memory::default(),
                now: Instant::now(),
            }
        }

        fn meminfo(&self, corrupted: u64) {
            let text = format!(
                "MemTotal:       1000 kB\nMemFree:         10 kB\nMemAvailable:    250 kB\nHardwareCorrupted: {corrupted} kB\n"
            );
            fs::create_dir_all(self.dir.path().join("proc")).unwrap();
            fs::write(self.dir.path().join("proc/meminfo"), text).unwrap();
        }

        fn edac(&self, corrected: u64, uncorrected: u64) {
            let dir = self.dir.path().join("sys/devices/system/edac/mc/mc0");
            fs::create_dir_all(dir.join("dimm3")).unwrap();
            fs::write(dir.join("ce_count"), format!("{corrected}\n")).unwrap();
            fs::write(dir.join("ue_count"), format!("{uncorrected}\n")).unwrap();
            fs::write(dir.join("dimm3/dimm_label"), "CPU0_B1\n").unwrap();
            fs::write(dir.join("dimm3/dimm_ce_count"), format!("{corrected}\n")).unwrap();
        }

        fn read(&mut self, after: Duration) -> HostReading {
            self.now += after;
            let roots = HostRoots::new(self.dir.path().join("proc"), self.dir.path().join("sys"));
            self.memory.read(&roots, self.now).unwrap()
        }
    }

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn a_host_without_edac_says_so_and_has_its_memory() {
        let mut host = Host::new();
        let roots = HostRoots::new(host.dir.path().join("proc"), host.dir.path().join("sys"));
        assert!(matches!(
            host.memory.read(&roots, host.now),
            Err(Unread::Absent(_))
        ));
        host.meminfo(0);
        let reading = host.read(MINUTE);
        assert_eq!(reading.state, HostState::Healthy);
        assert!(reading.missing.unwrap().contains("no EDAC driver"));
        let reading = host.read(MINUTE);
        assert_eq!(
            value(&reading, "gtrace_memory_available_bytes", &[]),
            Some(256_000.0)
        );
    }

    #[test]
    fn old_errors_are_no_fault_new_ones_are_and_a_rate_passes() {
        let mut host = Host::new();
        host.meminfo(0);
        host.edac(5_000, 2);
        let reading = host.read(MINUTE);
        assert_eq!((reading.state, reading.missing), (HostState::Healthy, None));
        host.edac(5_050, 2);
        assert_eq!(host.read(MINUTE).state, HostState::Healthy);
        host.edac(5_150, 2);
        let many = host.read(MINUTE);
        assert_eq!(many.state, HostState::Degraded);
        assert!(
            many.reasons[0].contains("150 corrected errors of mc0"),
            "{many:?}"
        );
        let of_module = [
            ("controller", "mc0"),
            ("dimm", "CPU0_B1"),
            ("type", "corrected"),
        ];
        assert_eq!(
            value(&many, "gtrace_memory_errors", &of_module),
            Some(5_150.0)
        );
        assert_eq!(host.read(2 * HOUR).state, HostState::Healthy);
        host.edac(5_150, 3);
        let lost = host.read(MINUTE);
        assert_eq!(lost.state, HostState::Unhealthy);
        // It stays so: the module is no better for the time that has passed.
        assert_eq!(host.read(2 * HOUR).state, HostState::Unhealthy);
    }

    #[test]
    fn modules_of_one_name_are_two_series() {
        let mut host = Host::new();
        host.meminfo(0);
        host.edac(7, 0);
        let other = host.dir.path().join("sys/devices/system/edac/mc/mc0/dimm4");
        fs::create_dir_all(&other).unwrap();
        fs::write(other.join("dimm_label"), "CPU0_B1\n").unwrap();
        fs::write(other.join("dimm_ce_count"), "1\n").unwrap();
        let reading = host.read(MINUTE);
        let of = |dimm| value(&reading, "gtrace_memory_errors", &[("dimm", dimm)]);
        assert_eq!((of("CPU0_B1"), of("dimm4")), (Some(7.0), Some(1.0)));
    }

    #[test]
    fn counters_that_were_reset_count_from_zero() {
        let mut host = Host::new();
        host.meminfo(0);
        host.edac(900, 0);
        host.read(MINUTE);
        host.edac(0, 0);
        assert_eq!(host.read(MINUTE).state, HostState::Healthy);
        host.edac(0, 1);
        assert_eq!(host.read(MINUTE).state, HostState::Unhealthy);
    }

    #[test]
    fn what_is_counted_after_a_reset_is_new() {
        // The first reading was above and below what is counted since.
        for first in [5_000, 10] {
            let mut host = Host::new();
            host.meminfo(0);
            for corrected in [first, 5_050] {
                host.edac(corrected, 0);
                host.read(MINUTE);
            }
            assert_eq!(host.read(2 * HOUR).state, HostState::Healthy);
            host.edac(150, 0);
            let many = host.read(MINUTE);
            assert_eq!(many.state, HostState::Degraded);
            assert!(
                many.reasons[0].contains("150 corrected errors of mc0"),
                "{many:?}"
            );
        }
    }

    #[test]
    fn memory_that_the_kernel_gave_up_is_named() {
        let mut host = Host::new();
        host.meminfo(8);
        let reading = host.read(MINUTE);
        assert_eq!(reading.state, HostState::Degraded);
        assert!(reading.reasons[0].contains("8 KiB"), "{reading:?}");
    }
}
