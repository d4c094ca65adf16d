//! Reads a port in sysfs.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gtrace_event::PciAddress;
use rustix::io::Errno;

use super::counters::PORT_COUNTERS;
use crate::SysRoot;
use crate::sysfs;

/// What the configuration expects of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RdmaExpected {
    /// Ports that are to be active, others are surplus; `None`: those that were found active.
    pub ports: Option<u32>,
    /// Their least rate, 10^9 bits a second, a surplus port's is its own; `None`: the highest that each was found with.
    pub rate_gbps: Option<f64>,
}

/// `IB_PORT_ACTIVE` and `IB_PORT_ACTIVE_DEFER` of rdma/ib_verbs.h: traffic flows.
const ACTIVE: [u32; 2] = [4, 5];
/// Most devices, and most ports of one, that are read: a broken tree may claim any number.
const MOST: usize = 256;

/// A port of an RDMA device, as sysfs shows it now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RdmaPort {
    /// Name of the device: `mlx5_0`.
    pub device: String,
    /// Number of the port, from 1.
    pub port: u32,
    /// Logical state, in the kernel's words: `ACTIVE`.
    pub state: String,
    /// Whether traffic can flow.
    pub active: bool,
    /// Physical state: `LinkUp`, `Polling`, `Disabled`.
    pub physical_state: Option<String>,
    /// `InfiniBand` or `Ethernet`.
    pub link_layer: Option<String>,
    /// Network interface.
    pub network_interface: Option<String>,
    /// The device's PCI address, where it is one of PCI.
    pub pci: Option<PciAddress>,
    /// Speed of the link, 10^9 bits a second.
    pub rate_gbps: Option<f64>,
    /// Lanes in use.
    pub lanes: Option<u32>,
    /// Counters, by the names of their files. Those that the device does not have are absent.
    pub counters: BTreeMap<String, u64>,
}

impl RdmaPort {
    /// For messages: `mlx5_0 port 1`.
    pub fn name(&self) -> String {
        format!("{} port {}", self.device, self.port)
    }
}

/// Reads `4: ACTIVE`: number and word.
pub fn parse_state(text: &str) -> Option<(u32, &str)> {
    let (number, word) = text.trim().split_once(':')?;
    let word = word.trim();
    (!word.is_empty()).then_some((number.trim().parse().ok()?, word))
}

/// Reads `100 Gb/sec (4X EDR)`: 10^9 bits a second, and lanes where they are given.
pub fn parse_rate(text: &str) -> Option<(f64, Option<u32>)> {
    let (rate, rest) = text.trim().split_once(' ')?;
    let rate: f64 = rate.parse().ok()?;
    if !rest.starts_with("Gb/sec") || !rate.is_finite() || rate <= 0.0 {
        return None;
    }
    let lanes = rest
        .split_once('(')
        .and_then(|(_, width)| width.split_once('X'))
        .and_then(|(lanes, _)| lanes.parse().ok());
    Some((rate, lanes))
}

fn class(root: &SysRoot) -> PathBuf {
    root.0.join("class/infiniband")
}

/// Every RDMA device below `root`, in order. None where the kernel has no such class of devices.
pub(super) fn devices(root: &SysRoot) -> Vec<String> {
    names(&class(root))
}

/// A port, or the number of one that is there and cannot be read, and why.
pub(super) type PortReading = Result<RdmaPort, (u32, io::Error)>;

/// Every port of `device`, in order.
pub(super) fn ports(root: &SysRoot, device: &str) -> Vec<PortReading> {
    let dir = class(root).join(device);
    let mut numbers: Vec<u32> = names(&dir.join("ports"))
        .iter()
        .filter_map(|name| name.parse().ok())
        .collect();
    numbers.sort_unstable();
    let read = |port| read(&dir, device, port).map_err(|error| (port, error));
    let ports = numbers.into_iter();
    ports.filter_map(|port| read(port).transpose()).collect()
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .take(MOST)
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

/// A port whose state is no longer there is being taken away and is not there. Another error is the adapter's, which is ill.
fn read(dir: &Path, device: &str, port: u32) -> io::Result<Option<RdmaPort>> {
    let at = dir.join("ports").join(port.to_string());
    let state = match sysfs::read(&at.join("state")) {
        Ok(state) => state,
        Err(error) if is_gone(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    let Some((number, word)) = parse_state(&state) else {
        return Ok(None);
    };
    let rate = sysfs::text(&at.join("rate"));
    let rate = rate.as_deref().and_then(parse_rate);
    let physical = sysfs::text(&at.join("phys_state"));
    let physical = physical.as_deref().and_then(parse_state);
    let counters = PORT_COUNTERS.iter().filter_map(|counter| {
        let dirs = [at.join("counters"), at.join("hw_counters")];
        let value = dirs
            .iter()
            .find_map(|dir| sysfs::number(&dir.join(counter.file)))?;
        Some((counter.file.to_owned(), value))
    });
    Ok(Some(RdmaPort {
        device: device.to_owned(),
        port,
        state: word.to_owned(),
        active: ACTIVE.contains(&number),
        physical_state: physical.map(|(_, word)| word.to_owned()),
        link_layer: sysfs::text(&at.join("link_layer")).filter(|text| !text.is_empty()),
        network_interface: interface(dir, &at),
        pci: sysfs::link_name(&dir.join("device")).and_then(|name| name.parse().ok()),
        rate_gbps: rate.map(|(rate, _)| rate),
        lanes: rate.and_then(|(_, lanes)| lanes),
        counters: counters.collect(),
    }))
}

/// Whether a file is not there, or is of a device that is being taken away.
fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || Errno::from_io_error(error) == Some(Errno::NODEV)
}

/// RoCE names the interface with its first address; SoftRoCE by `parent`.
fn interface(device: &Path, port: &Path) -> Option<String> {
    let of_address = || sysfs::text(&port.join("gid_attrs/ndevs/0"));
    of_address()
        .or_else(|| sysfs::text(&device.join("parent")))
        .filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_and_rates_are_those_of_the_kernel() {
        assert_eq!(parse_state("4: ACTIVE\n"), Some((4, "ACTIVE")));
        assert_eq!(parse_state("5: LinkUp"), Some((5, "LinkUp")));
        assert_eq!(parse_state("ACTIVE"), None);
        assert_eq!(parse_state("4:"), None);
        assert_eq!(parse_rate("100 Gb/sec (4X EDR)"), Some((100.0, Some(4))));
        assert_eq!(parse_rate("2.5 Gb/sec (1X SDR)\n"), Some((2.5, Some(1))));
        assert_eq!(parse_rate("400 Gb/sec"), Some((400.0, None)));
        for wrong in [
            "",
            "fast",
            "-1 Gb/sec",
            "inf Gb/sec (4X)",
            "10 MB/s",
            "nan Gb/sec",
        ] {
            assert_eq!(parse_rate(wrong), None, "{wrong}");
        }
    }
}
