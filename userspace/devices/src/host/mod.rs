//! The host itself: memory, disks, files, tasks, CPUs, clock, kernel, services. Each part is a file here; [`HostWatch`]
//! reads them in turn, each with a deadline.

mod arrays;
mod clock;
mod cpu;
mod disk;
mod fabric_manager;
mod isolation;
mod kernel;
mod limits;
mod memory;
mod mounts;
mod network;
mod nvme;
mod part;
mod services;
mod systemd;
mod tasks;
mod watch;

pub use clock::ClockReading;
pub use network::{answer, probe_program};
pub use part::{HostNews, HostReading, HostRoots, HostState, HostThresholds, PartInfo, Unread};
pub use services::{RUNS_AGAIN, service_runs};
pub use watch::{HostOutcome, HostWatch};

use part::Part;

/// Every part, in the order of `gtrace doctor`.
pub const PARTS: [PartInfo; 12] = [
    disk::INFO,
    nvme::INFO,
    limits::INFO,
    memory::INFO,
    clock::INFO,
    tasks::INFO,
    cpu::INFO,
    network::INFO,
    kernel::INFO,
    services::INFO,
    fabric_manager::INFO,
    isolation::INFO,
];

/// What reads the part of this name; the clock is asked by `clock`, as that takes a system call.
fn part(name: &str, clock: fn() -> std::io::Result<ClockReading>) -> Option<Box<dyn Part>> {
    Some(match name {
        "disk" => Box::new(disk::Disk::default()),
        "nvme" => Box::new(nvme::Nvme::default()),
        "isolation" => Box::new(isolation::Isolation),
        "limits" => Box::new(limits::Limits),
        "memory" => Box::new(memory::Memory::default()),
        "clock" => Box::new(clock::Clock(clock)),
        "tasks" => Box::new(tasks::Tasks::default()),
        "cpu" => Box::new(cpu::Cpu::default()),
        "network_file_systems" => Box::new(network::NetworkFs::default()),
        "kernel" => Box::new(kernel::Kernel),
        "services" => Box::new(services::Services::default()),
        "fabric_manager" => Box::new(fabric_manager::FabricManager::default()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_site_says_from_where_on_something_is_wrong() {
        let dir = tempfile::tempdir().unwrap();
        let proc = dir.path().join("proc");
        std::fs::create_dir_all(proc.join("sys/fs")).unwrap();
        std::fs::write(proc.join("sys/fs/file-nr"), "500 0 1000\n").unwrap();
        let text = "MemTotal: 1000 kB\nMemAvailable: 30 kB\n";
        std::fs::write(proc.join("meminfo"), text).unwrap();
        let clock = || {
            Ok(ClockReading {
                synchronised: true,
                max_error: Duration::from_millis(20),
                offset_ns: -60_000_000,
            })
        };
        let usual = HostRoots::new(proc, dir.path().join("sys"));
        let strict = HostThresholds {
            limits_high: 0.4,
            memory_low: 0.05,
            clock_offset: Duration::from_millis(50),
            ..HostThresholds::default()
        };
        let strict = HostRoots {
            thresholds: strict,
            ..usual.clone()
        };
        for (name, reason) in [
            ("limits", "50 % of the file handles"),
            ("memory", "3.0 % of the memory"),
            ("clock", "off by -0.060 s"),
        ] {
            let read = |roots| {
                part(name, clock)
                    .unwrap()
                    .read(roots, Instant::now())
                    .unwrap()
            };
            assert_eq!(read(&usual).state, HostState::Healthy, "{name}");
            let found = read(&strict);
            assert_eq!(found.state, HostState::Degraded, "{name}");
            assert!(found.reasons[0].contains(reason), "{found:?}");
        }
    }

    #[test]
    fn every_part_has_a_name_of_its_own_and_a_reader() {
        let clock = || Err(std::io::Error::other("none"));
        for (number, info) in PARTS.iter().enumerate() {
            assert!(part(info.name, clock).is_some(), "{}", info.name);
            assert_eq!(
                PARTS.iter().position(|other| other.name == info.name),
                Some(number)
            );
            assert!(info.every.as_secs() >= 10, "{}", info.name);
        }
        assert!(part("nothing", clock).is_none());
    }
}
