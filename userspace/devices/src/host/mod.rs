//! The host itself: memory, disks, files, tasks, CPUs, clock, kernel, services. Each part is a file here; [`HostWatch`]
//! reads them in turn, each with a deadline.

mod arrays;
mod clock;
mod cpu;
mod disk;
mod kernel;
mod limits;
mod memory;
mod mounts;
mod network;
mod part;
mod services;
mod tasks;
mod watch;

pub use clock::ClockReading;
pub use network::{answer, probe_program};
pub use part::{HostReading, HostRoots, HostState, PartInfo, Unread};
pub use watch::{HostOutcome, HostWatch};

use part::Part;

/// Every part, in the order of `gtrace doctor`.
pub const PARTS: [PartInfo; 9] = [
    disk::INFO,
    limits::INFO,
    memory::INFO,
    clock::INFO,
    tasks::INFO,
    cpu::INFO,
    network::INFO,
    kernel::INFO,
    services::INFO,
];

/// What reads the part of this name; the clock is asked by `clock`, as that takes a system call.
fn part(name: &str, clock: fn() -> std::io::Result<ClockReading>) -> Option<Box<dyn Part>> {
    Some(match name {
        "disk" => Box::new(disk::Disk::default()),
        "limits" => Box::new(limits::Limits),
        "memory" => Box::new(memory::Memory::default()),
        "clock" => Box::new(clock::Clock(clock)),
        "tasks" => Box::new(tasks::Tasks::default()),
        "cpu" => Box::new(cpu::Cpu::default()),
        "network_file_systems" => Box::new(network::NetworkFs::default()),
        "kernel" => Box::new(kernel::Kernel),
        "services" => Box::new(services::Services::default()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
