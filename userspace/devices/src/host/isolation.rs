//! How GPUs are isolated: their IOMMU groups, and Access Control Services (ACS) of the ports above them, which can send the traffic between
//! two GPUs of one switch up to the root and back.
//!
//! Source: /sys/kernel/iommu_groups (Documentation/ABI/testing/sysfs-kernel-iommu_groups); PCI Express base specification, extended
//! capability 000Dh. Beyond 64 bytes the kernel gives configuration space only to who has CAP_SYS_ADMIN.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gtrace_event::PciAddress;

use super::part::{HostReading, HostRoots, HostState, Part, PartInfo, Unread};
use crate::sysfs;

pub(super) const INFO: PartInfo = PartInfo {
    name: "isolation",
    gives: "IOMMU groups of GPUs, and whether ports above them send traffic between GPUs to the root (ACS)",
    needs: "GPUs; CAP_SYS_ADMIN to read ACS from the ports",
    remedy: "run `gtrace scan` as root: the daemon gives CAP_SYS_ADMIN up unless kernel.perf_event_paranoid is above 2",
    every: Duration::from_secs(300),
};

const NVIDIA: u32 = 0x10de;
/// Base class of GPUs: display controller.
const DISPLAY: u32 = 0x03;
/// So many GPUs have series of their own.
const MAX_GPUS: usize = 64;
/// Bytes of configuration space.
const CONFIG: usize = 4096;
/// Where extended capabilities begin.
const EXTENDED: usize = 0x100;
/// Access Control Services, and its control register.
const ACS: u32 = 0x000d;
const CONTROL: usize = 6;
/// Requests and completions between devices below a switch go to the root.
const REDIRECT: u16 = 0x0c;
/// More extended capabilities than any device has: a list that goes on is damaged.
const CAPABILITIES: usize = 64;

pub(super) struct Isolation;

struct Gpu {
    pci: PciAddress,
    folder: PathBuf,
    /// Root port first.
    ports: Vec<PciAddress>,
}

impl Part for Isolation {
    fn read(&mut self, roots: &HostRoots, _now: Instant) -> Result<HostReading, Unread> {
        let folder = roots.sysfs.join("bus/pci/devices");
        let mut gpus = gpus(&folder);
        gpus.truncate(MAX_GPUS);
        if gpus.is_empty() {
            return Err(Unread::Absent("there is no NVIDIA GPU".to_owned()));
        }
        let mut reading = HostReading::default();
        let mut translated = false;
        for gpu in &gpus {
            let (group, kind) = group(roots, &gpu.folder);
            translated |= kind.starts_with("DMA");
            let pci = gpu.pci.to_string();
            reading.gauge(
                ("gtrace_gpu_iommu_info", ""),
                "Always 1 (group: that of the IOMMU, empty without one; type: identity, DMA, DMA-FQ, unmanaged)",
                &[("gpu", &pci), ("group", &group), ("type", &kind)],
                1.0,
            );
        }
        // The root port has no choice: only ports of switches can send traffic across.
        let mut below: BTreeMap<PciAddress, Vec<&Gpu>> = BTreeMap::new();
        for gpu in &gpus {
            for port in gpu.ports.iter().skip(1) {
                below.entry(*port).or_default().push(gpu);
            }
        }
        for (port, below) in &below {
            let at = folder.join(port.to_string());
            // Its configuration space would wake it.
            if sysfs::text(&at.join("power/runtime_status")).as_deref() == Some("suspended") {
                continue;
            }
            match redirects(&at.join("config")) {
                Ok(None) => {}
                Ok(Some(on)) => {
                    let name = port.to_string();
                    reading.gauge(
                        ("gtrace_pci_acs_redirect", ""),
                        "Whether a port of a switch above a GPU sends traffic between devices to the root (ACS)",
                        &[("device", &name)],
                        f64::from(u8::from(on)),
                    );
                    if on && !translated && gpus.len() > 1 {
                        let gpus: Vec<_> = below.iter().map(|gpu| gpu.pci.to_string()).collect();
                        let reason = format!(
                            "the port {port} sends traffic between GPUs to the root (ACS), above {}: switch ACS off in the firmware, as no \
                             IOMMU translates for them",
                            gpus.join(", ")
                        );
                        reading.find(HostState::Degraded, reason);
                    }
                }
                Err(why) => reading.missing = Some(format!("ACS of {port}: {why}")),
            }
        }
        Ok(reading)
    }
}

/// Every GPU, without a read of the device itself: the kernel keeps what these files have.
fn gpus(folder: &Path) -> Vec<Gpu> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut found: Vec<Gpu> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let pci = PciAddress::parse(entry.file_name().to_str()?)?;
            let hex = |name: &str| {
                let text = sysfs::text(&entry.path().join(name))?;
                u32::from_str_radix(text.trim_start_matches("0x"), 16).ok()
            };
            let is_gpu = hex("vendor")? == NVIDIA && hex("class")? >> 16 == DISPLAY;
            let real = fs::canonicalize(entry.path()).ok()?;
            let parts = real
                .components()
                .filter_map(|part| part.as_os_str().to_str());
            let above = parts
                .filter_map(PciAddress::parse)
                .filter(|above| *above != pci);
            let ports = above.collect();
            is_gpu.then(|| Gpu {
                pci,
                folder: entry.path(),
                ports,
            })
        })
        .collect();
    found.sort_by_key(|gpu| gpu.pci);
    found
}

/// The group of a device, and the type of its domain; empty without an IOMMU.
fn group(roots: &HostRoots, device: &Path) -> (String, String) {
    let link = fs::read_link(device.join("iommu_group")).ok();
    let name = link
        .as_deref()
        .and_then(Path::file_name)
        .and_then(|name| name.to_str());
    let Some(name) = name else {
        return (String::new(), String::new());
    };
    let kind = roots
        .sysfs
        .join("kernel/iommu_groups")
        .join(name)
        .join("type");
    (name.to_owned(), sysfs::text(&kind).unwrap_or_default())
}

/// Whether the port sends requests or completions between devices to the root; `None` where it has no ACS.
fn redirects(config: &Path) -> Result<Option<bool>, String> {
    let mut bytes = Vec::new();
    let read =
        fs::File::open(config).and_then(|file| file.take(CONFIG as u64).read_to_end(&mut bytes));
    read.map_err(|error| error.to_string())?;
    if bytes.len() <= 64 {
        return Err("only CAP_SYS_ADMIN may read it".to_owned());
    }
    let word = |at: usize| {
        let bytes = bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    let mut at = EXTENDED;
    for _ in 0..CAPABILITIES {
        // All ones: the port does not answer; 0: there is no capability.
        let Some(header) = word(at).filter(|header| *header != 0 && *header != u32::MAX) else {
            return Ok(None);
        };
        if header & 0xffff == ACS {
            let control = bytes.get(at + CONTROL..at + CONTROL + 2);
            let control = control.and_then(|bytes| bytes.try_into().ok());
            return Ok(control.map(|bytes| u16::from_le_bytes(bytes) & REDIRECT != 0));
        }
        at = (header >> 20) as usize;
        if at < EXTENDED {
            return Ok(None);
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::super::part::value;
    use super::*;

    struct Host(tempfile::TempDir);

    impl Host {
        /// Two GPUs below one switch.
        fn new() -> Self {
            let host = Self(tempfile::tempdir().unwrap());
            let root = "pci0000:00/0000:00:01.0";
            host.device(root, "0x8086", "0x060400");
            host.device(&format!("{root}/0000:01:00.0"), "0x10b5", "0x060400");
            for (port, gpu) in [
                ("0000:02:00.0", "0000:03:00.0"),
                ("0000:02:08.0", "0000:04:00.0"),
            ] {
                let port = format!("{root}/0000:01:00.0/{port}");
                host.device(&port, "0x10b5", "0x060400");
                host.device(&format!("{port}/{gpu}"), "0x10de", "0x030200");
            }
            host
        }

        fn sys(&self) -> PathBuf {
            self.0.path().join("sys")
        }

        fn device(&self, path: &str, vendor: &str, class: &str) {
            let at = self.sys().join("devices").join(path);
            fs::create_dir_all(&at).unwrap();
            fs::write(at.join("vendor"), format!("{vendor}\n")).unwrap();
            fs::write(at.join("class"), format!("{class}\n")).unwrap();
            fs::write(at.join("config"), config(None)).unwrap();
            let links = self.sys().join("bus/pci/devices");
            fs::create_dir_all(&links).unwrap();
            symlink(&at, links.join(at.file_name().unwrap())).unwrap();
        }

        fn write(&self, device: &str, file: &str, bytes: &[u8]) {
            fs::write(
                self.sys().join("bus/pci/devices").join(device).join(file),
                bytes,
            )
            .unwrap();
        }

        fn group(&self, device: &str, group: &str, kind: &str) {
            let at = self.sys().join("kernel/iommu_groups").join(group);
            fs::create_dir_all(&at).unwrap();
            fs::write(at.join("type"), format!("{kind}\n")).unwrap();
            let device = self.sys().join("bus/pci/devices").join(device);
            let _ = fs::remove_file(device.join("iommu_group"));
            symlink(&at, device.join("iommu_group")).unwrap();
        }

        fn read(&self) -> Result<HostReading, Unread> {
            let roots = HostRoots::new(self.0.path().join("proc"), self.sys());
            Isolation.read(&roots, Instant::now())
        }
    }

    /// A configuration space with ACS as its second extended capability, or without.
    fn config(control: Option<u16>) -> Vec<u8> {
        let mut bytes = vec![0; CONFIG];
        bytes[0x100..0x104].copy_from_slice(&0x1480_0001_u32.to_le_bytes());
        if let Some(control) = control {
            bytes[0x148..0x14c].copy_from_slice(&0x0001_000d_u32.to_le_bytes());
            bytes[0x14e..0x150].copy_from_slice(&control.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn acs_that_redirects_is_a_fault_only_where_no_iommu_translates() {
        let host = Host::new();
        assert_eq!(host.read().unwrap().state, HostState::Healthy);
        host.write("0000:02:08.0", "config", &config(Some(0x1d)));
        host.write("0000:02:00.0", "config", &config(Some(0x01)));
        let found = host.read().unwrap();
        assert_eq!(found.state, HostState::Degraded);
        assert_eq!(found.reasons.len(), 1);
        assert!(
            found.reasons[0].contains("0000:02:08.0") && found.reasons[0].contains("0000:04:00.0")
        );
        let redirect = |device| value(&found, "gtrace_pci_acs_redirect", &[("device", device)]);
        assert_eq!(
            (redirect("0000:02:08.0"), redirect("0000:02:00.0")),
            (Some(1.0), Some(0.0))
        );
        for gpu in ["0000:03:00.0", "0000:04:00.0"] {
            host.group(gpu, "17", "DMA-FQ");
        }
        let found = host.read().unwrap();
        assert_eq!(found.state, HostState::Healthy);
        let labels = [("gpu", "0000:03:00.0"), ("group", "17"), ("type", "DMA-FQ")];
        assert_eq!(value(&found, "gtrace_gpu_iommu_info", &labels), Some(1.0));
        host.group("0000:03:00.0", "17", "identity");
        assert_eq!(host.read().unwrap().state, HostState::Degraded);
    }

    #[test]
    fn what_may_not_be_read_is_said_and_what_is_damaged_is_no_fault() {
        let host = Host::new();
        host.write("0000:02:08.0", "config", &[0; 64]);
        let found = host.read().unwrap();
        assert!(found.missing.unwrap().contains("CAP_SYS_ADMIN"));
        for bytes in [vec![0xff; CONFIG], vec![0x0d; 300], {
            // A list that leads into itself.
            let mut bytes = vec![0; CONFIG];
            bytes[0x100..0x104].copy_from_slice(&0x1000_0001_u32.to_le_bytes());
            bytes
        }] {
            host.write("0000:02:08.0", "config", &bytes);
            let found = host.read().unwrap();
            assert_eq!((found.state, found.missing), (HostState::Healthy, None));
        }
        let nothing = Host(tempfile::tempdir().unwrap());
        assert!(matches!(nothing.read(), Err(Unread::Absent(_))));
    }
}
