//! CPUs of the host: what they do, what a hypervisor takes from them, and how often heat slows them down.
//!
//! Source: /proc/stat (fs/proc/stat.c, in ticks of 10 ms on every architecture that gtrace runs on);
//! /sys/devices/system/cpu/cpu*/thermal_throttle (Documentation/ABI/testing/sysfs-devices-system-cpu).

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::part::{HostReading, HostRoots, HostState, Part, PartInfo, Unread, needed};
use crate::sysfs;

pub(super) const INFO: PartInfo = PartInfo {
    name: "cpu",
    gives: "time of the CPUs by use, load, time taken by a hypervisor, slowdowns for heat, microcode",
    needs: "/proc/stat; /sys/devices/system/cpu/cpu*/thermal_throttle for heat",
    remedy: "mount procfs; only Intel's CPUs count slowdowns, and virtual machines do not see them",
    every: Duration::from_secs(10),
};

const TICKS_A_SECOND: f64 = 100.0;
/// Versions of microcode that have series of their own.
const MICROCODES: usize = 8;
/// Between readings of the microcode: it changes where somebody loads another, and a host has hundreds of CPUs.
const MICROCODE_EVERY: Duration = Duration::from_secs(600);
/// A slowdown for heat counts for so long.
const RECENT: Duration = Duration::from_secs(300);
const MODES: [&str; 8] = [
    "user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal",
];

#[derive(Debug, Default)]
pub(super) struct Cpu {
    before: Option<[f64; MODES.len()]>,
    /// CPUs that count slowdowns, and how many there were.
    throttles: Option<(u32, f64)>,
    hot: Option<Instant>,
    /// The package of each CPU that counts slowdowns, which stays the same.
    packages: BTreeMap<u32, u32>,
    /// When the microcode was read, and how many CPUs had which version.
    microcode: Option<(Instant, BTreeMap<String, u32>)>,
}

impl Part for Cpu {
    fn read(&mut self, roots: &HostRoots, now: Instant) -> Result<HostReading, Unread> {
        let path = roots.proc.join("stat");
        let text = needed(&path)?;
        let Some(times) = text.lines().next().and_then(times) else {
            return Err(Unread::Failed(format!(
                "{}: no line of all CPUs",
                path.display()
            )));
        };
        let mut reading = HostReading::default();
        for (mode, seconds) in MODES.iter().zip(times) {
            reading.counter(
                ("gtrace_cpu_seconds", "seconds"),
                "Time of all CPUs by use",
                &[("mode", mode)],
                seconds,
            );
        }
        self.usage(times, roots.thresholds.cpu_stolen, &mut reading);
        load(roots, &mut reading);
        let cpus = roots.sysfs.join("devices/system/cpu");
        self.microcode(&cpus, now, &mut reading);
        self.heat(&cpus, now, &mut reading);
        Ok(reading)
    }
}

impl Cpu {
    /// Shares since the reading before.
    fn usage(&mut self, times: [f64; MODES.len()], most: f64, reading: &mut HostReading) {
        let Some(before) = self.before.replace(times) else {
            return;
        };
        let mut spent = [0.0; MODES.len()];
        for ((spent, now), before) in spent.iter_mut().zip(times).zip(before) {
            *spent = (now - before).max(0.0);
        }
        let all: f64 = spent.iter().sum();
        if all <= 0.0 {
            return;
        }
        let [.., idle, iowait, _, _, steal] = spent;
        reading.gauge(
            ("gtrace_cpu_usage_ratio", "ratio"),
            "Share of the time of all CPUs that was used since the reading before",
            &[],
            1.0 - (idle + iowait) / all,
        );
        let stolen = steal / all;
        if stolen > most {
            let reason = format!(
                "the hypervisor took {:.0} % of the time of the CPUs: its host is overcommitted",
                stolen * 100.0
            );
            reading.find(HostState::Degraded, reason);
        }
    }

    fn heat(&mut self, dir: &Path, now: Instant, reading: &mut HostReading) {
        let Some((cpus, cores, packages)) = throttles(dir, &mut self.packages) else {
            reading.missing = Some("slowdowns for heat: these CPUs do not count them".to_owned());
            return;
        };
        for (part, count) in [("core", cores), ("package", packages)] {
            reading.counter(
                ("gtrace_cpu_throttles", ""),
                "How often heat slowed down cores and packages, since boot",
                &[("part", part)],
                count,
            );
        }
        // A CPU that is switched off takes its count with it, and brings it back.
        let before = self.throttles.replace((cpus, cores + packages));
        if before.is_some_and(|(of, before)| of == cpus && cores + packages > before) {
            self.hot = Some(now);
        }
        let hot = self.hot.map(|at| now.saturating_duration_since(at));
        if let Some(age) = hot.filter(|age| *age < RECENT) {
            let reason = format!("heat slowed down CPUs {} s ago", age.as_secs());
            reading.find(HostState::Degraded, reason);
        }
    }

    /// The version of the microcode, which all CPUs of a host should have in common: one that was not updated behaves otherwise.
    fn microcode(&mut self, dir: &Path, now: Instant, reading: &mut HostReading) {
        let is_recent = |at: Instant| now.saturating_duration_since(at) < MICROCODE_EVERY;
        let known = self.microcode.take().filter(|(at, _)| is_recent(*at));
        let (_, versions) = self
            .microcode
            .insert(known.unwrap_or_else(|| (now, microcode(dir))));
        for (version, cpus) in versions.iter().take(MICROCODES) {
            reading.gauge(
                ("gtrace_cpu_microcode_cpus", ""),
                "CPUs by the version of their microcode",
                &[("version", version)],
                f64::from(*cpus),
            );
        }
        if versions.len() > 1 {
            let all: Vec<&str> = versions
                .keys()
                .map(String::as_str)
                .take(MICROCODES)
                .collect();
            let reason = format!("CPUs have different microcode: {}", all.join(", "));
            reading.find(HostState::Degraded, reason);
        }
    }
}

/// How many CPUs have which version of microcode.
fn microcode(dir: &Path) -> BTreeMap<String, u32> {
    let mut versions = BTreeMap::new();
    let entries = fs::read_dir(dir).into_iter().flatten();
    for entry in entries.filter_map(Result::ok) {
        let version = number_of(&entry.file_name())
            .and_then(|_| sysfs::text(&entry.path().join("microcode/version")));
        if let Some(version) = version {
            *versions.entry(version).or_insert(0) += 1;
        }
    }
    versions
}

/// The number of the CPU whose directory has this name.
fn number_of(name: &OsStr) -> Option<u32> {
    name.to_str()?.strip_prefix("cpu")?.parse().ok()
}

/// `cpu  9 0 7 400 1 0 2 0 0 0`: seconds.
fn times(line: &str) -> Option<[f64; MODES.len()]> {
    let mut words = line.strip_prefix("cpu ")?.split_ascii_whitespace();
    let mut times = [0.0; MODES.len()];
    for time in &mut times {
        *time = words.next()?.parse::<f64>().ok()? / TICKS_A_SECOND;
    }
    Some(times)
}

fn load(roots: &HostRoots, reading: &mut HostReading) {
    let text = sysfs::text(&roots.proc.join("loadavg")).unwrap_or_default();
    for (window, load) in ["60s", "300s", "900s"]
        .into_iter()
        .zip(text.split_ascii_whitespace())
    {
        if let Ok(load) = load.parse() {
            reading.gauge(
                ("gtrace_load_average", ""),
                "Tasks that run or wait in uninterruptible sleep, averaged",
                &[("window", window)],
                load,
            );
        }
    }
}

/// How many CPUs count, and the counts of all cores and of all packages; each CPU of a package has the same count of it. `known`
/// are the packages of CPUs, as far as they were read.
fn throttles(dir: &Path, known: &mut BTreeMap<u32, u32>) -> Option<(u32, f64, f64)> {
    let mut cpus = 0;
    let mut cores = None;
    let mut packages: BTreeMap<u32, f64> = BTreeMap::new();
    for entry in fs::read_dir(dir).ok()?.filter_map(Result::ok) {
        let Some(number) = number_of(&entry.file_name()) else {
            continue;
        };
        let at = entry.path();
        let counts = at.join("thermal_throttle");
        let Some(count) = sysfs::number::<f64>(&counts.join("core_throttle_count")) else {
            continue;
        };
        cpus += 1;
        *cores.get_or_insert(0.0) += count;
        let package = known.get(&number).copied().or_else(|| {
            let read = sysfs::number(&at.join("topology/physical_package_id"))?;
            known.insert(number, read);
            Some(read)
        });
        let of_package = sysfs::number::<f64>(&counts.join("package_throttle_count"));
        if let Some((package, count)) = package.zip(of_package) {
            let most = packages.entry(package).or_default();
            *most = most.max(count);
        }
    }
    Some((cpus, cores?, packages.values().sum()))
}

#[cfg(test)]
mod tests {
    use super::super::part::value;
    use super::*;

    fn write(dir: &Path, stat: &str) -> HostRoots {
        fs::create_dir_all(dir.join("proc")).unwrap();
        fs::write(dir.join("proc/stat"), stat).unwrap();
        fs::write(dir.join("proc/loadavg"), "1.50 0.75 0.25 1/80 9\n").unwrap();
        HostRoots::new(dir.join("proc"), dir.join("sys"))
    }

    fn throttle(dir: &Path, cpu: u32, core: u32, package: u32) {
        let at = dir.join(format!("sys/devices/system/cpu/cpu{cpu}"));
        fs::create_dir_all(at.join("thermal_throttle")).unwrap();
        fs::create_dir_all(at.join("topology")).unwrap();
        fs::write(
            at.join("thermal_throttle/core_throttle_count"),
            core.to_string(),
        )
        .unwrap();
        fs::write(
            at.join("thermal_throttle/package_throttle_count"),
            package.to_string(),
        )
        .unwrap();
        fs::write(
            at.join("topology/physical_package_id"),
            (cpu / 2).to_string(),
        )
        .unwrap();
    }

    #[test]
    fn shares_are_of_the_time_between_readings_and_stolen_time_is_a_fault_while_it_lasts() {
        let dir = tempfile::tempdir().unwrap();
        let (mut cpu, now) = (Cpu::default(), Instant::now());
        let mut read = |stat: &str| cpu.read(&write(dir.path(), stat), now).unwrap();
        let first = read("cpu  1000 0 0 9000 0 0 0 0 0 0\ncpu0 1 2 3\n");
        assert_eq!(value(&first, "gtrace_cpu_usage_ratio", &[]), None);
        assert_eq!(
            value(&first, "gtrace_cpu_seconds", &[("mode", "idle")]),
            Some(90.0)
        );
        assert_eq!(
            value(&first, "gtrace_load_average", &[("window", "300s")]),
            Some(0.75)
        );
        let second = read("cpu  1100 0 0 9200 100 0 0 0 0 0\n");
        assert_eq!(value(&second, "gtrace_cpu_usage_ratio", &[]), Some(0.25));
        assert_eq!(second.state, HostState::Healthy);
        let stolen = read("cpu  1200 0 0 9200 100 0 0 100 0 0\n");
        assert_eq!(stolen.state, HostState::Degraded);
        assert!(stolen.reasons[0].contains("50 %"), "{stolen:?}");
        assert_eq!(
            read("cpu  1400 0 0 9300 100 0 0 100 0 0\n").state,
            HostState::Healthy
        );
    }

    #[test]
    fn heat_counts_each_package_once_and_passes_after_a_while() {
        let dir = tempfile::tempdir().unwrap();
        let roots = write(dir.path(), "cpu  1 0 0 9 0 0 0 0 0 0\n");
        let (mut cpu, now) = (Cpu::default(), Instant::now());
        let absent = cpu.read(&roots, now).unwrap();
        assert!(absent.missing.is_some());
        for number in 0..4 {
            throttle(dir.path(), number, 1, 5);
        }
        let first = cpu.read(&roots, now).unwrap();
        assert_eq!(first.state, HostState::Healthy);
        assert_eq!(
            value(&first, "gtrace_cpu_throttles", &[("part", "core")]),
            Some(4.0)
        );
        assert_eq!(
            value(&first, "gtrace_cpu_throttles", &[("part", "package")]),
            Some(10.0)
        );
        throttle(dir.path(), 3, 2, 5);
        assert_eq!(cpu.read(&roots, now).unwrap().state, HostState::Degraded);
        let later = now + Duration::from_secs(301);
        assert_eq!(cpu.read(&roots, later).unwrap().state, HostState::Healthy);
    }

    #[test]
    fn the_package_of_a_cpu_is_read_once() {
        let dir = tempfile::tempdir().unwrap();
        let roots = write(dir.path(), "cpu  1 0 0 9 0 0 0 0 0 0\n");
        let (mut cpu, now) = (Cpu::default(), Instant::now());
        for count in [5, 6] {
            throttle(dir.path(), 0, 1, count);
            if count == 6 {
                let topology = "sys/devices/system/cpu/cpu0/topology";
                fs::remove_dir_all(dir.path().join(topology)).unwrap();
            }
            let reading = cpu.read(&roots, now).unwrap();
            assert_eq!(
                value(&reading, "gtrace_cpu_throttles", &[("part", "package")]),
                Some(f64::from(count))
            );
        }
    }

    #[test]
    fn a_cpu_that_is_switched_on_again_was_not_hot() {
        let dir = tempfile::tempdir().unwrap();
        let roots = write(dir.path(), "cpu  1 0 0 9 0 0 0 0 0 0\n");
        let (mut cpu, now) = (Cpu::default(), Instant::now());
        let counts = "sys/devices/system/cpu/cpu1/thermal_throttle";
        for is_on in [true, false, true] {
            throttle(dir.path(), 0, 1, 5);
            throttle(dir.path(), 1, 7, 5);
            if !is_on {
                fs::remove_dir_all(dir.path().join(counts)).unwrap();
            }
            let reading = cpu.read(&roots, now).unwrap();
            assert_eq!(reading.state, HostState::Healthy, "{reading:?}");
        }
    }

    #[test]
    fn another_form_is_a_failure() {
        let dir = tempfile::tempdir().unwrap();
        for text in [
            "",
            "cpu0 1 2 3 4 5 6 7 8",
            "cpu  1 2 3",
            "cpu  a b c d e f g h",
        ] {
            let read = Cpu::default().read(&write(dir.path(), text), Instant::now());
            assert!(matches!(read, Err(Unread::Failed(_))), "{text}");
        }
    }

    #[test]
    fn cpus_with_different_microcode_are_degraded() {
        let dir = tempfile::tempdir().unwrap();
        let now = Instant::now();
        let read = |cpu: &mut Cpu, at: Instant| {
            let mut reading = HostReading::default();
            cpu.microcode(dir.path(), at, &mut reading);
            reading
        };
        let none = read(&mut Cpu::default(), now);
        assert!(none.metrics.is_empty(), "virtual machines show none");
        for (cpu, version) in [
            ("cpu0", "0x2b0005c0"),
            ("cpu1", "0x2b0005c0"),
            ("cpufreq", "1"),
        ] {
            let at = dir.path().join(cpu).join("microcode");
            fs::create_dir_all(&at).unwrap();
            fs::write(at.join("version"), format!("{version}\n")).unwrap();
        }
        let mut cpu = Cpu::default();
        let labels = [("version", "0x2b0005c0")];
        let is_of_both = |reading: &HostReading| {
            let count = value(reading, "gtrace_cpu_microcode_cpus", &labels);
            assert_eq!((count, reading.state), (Some(2.0), HostState::Healthy));
        };
        is_of_both(&read(&mut cpu, now));
        fs::write(dir.path().join("cpu1/microcode/version"), "0x2b000400\n").unwrap();
        // Hundreds of files are not read each time.
        is_of_both(&read(&mut cpu, now + Duration::from_secs(10)));
        let reading = read(&mut cpu, now + MICROCODE_EVERY);
        assert_eq!(reading.state, HostState::Degraded);
        assert!(reading.reasons[0].contains("0x2b000400"));
    }
}
