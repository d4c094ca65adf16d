use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use gtrace_event::PciAddress;

use crate::sysfs::{self, SysRoot};
use crate::{GpuInfo, PciId, PcieLink, PresentIn};

const NVIDIA: u32 = 0x10de;
/// Base class: display controller (0x0300 VGA, 0x0302 3D controller, 0x0380 other).
const CLASS_DISPLAY: u32 = 0x03;
/// Base class: bridge.
const CLASS_BRIDGE: u32 = 0x06;
/// Class and sub-class: bridge, other. NVSwitch has it.
const CLASS_BRIDGE_OTHER: u32 = 0x0680;

/// What a watched device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PciClass {
    /// A GPU.
    Gpu,
    /// An NVSwitch.
    NvSwitch,
}

/// What a PCI function of the host is to the GPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    /// A GPU or NVSwitch.
    Watched(PciClass),
    /// A part of the device at that address: its virtual function, or a further function of an
    /// NVIDIA card (sound, USB).
    Part(PciAddress),
    /// The first function of any other device, below these ports, root port first.
    Endpoint(Vec<PciAddress>),
    /// A bridge, a device below no port, a further function of a device that is not NVIDIA's.
    Other,
}

/// An NVIDIA device as sysfs shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct PciDevice {
    /// Where it sits.
    pub pci: PciAddress,
    /// What it is.
    pub class: PciClass,
    /// Vendor and device id, as the kernel read them when it found the device.
    pub id: Option<PciId>,
    /// Driver that it is bound to.
    pub driver: Option<String>,
    /// NUMA node.
    pub numa_node: Option<u32>,
    /// Ports above it, root port first.
    pub upstream: Vec<PciAddress>,
    /// Its link.
    pub link: Option<PcieLink>,
    /// Whether runtime power management has put it to sleep.
    pub suspended: bool,
    /// Whether its configuration space reads all ones: it no longer answers.
    pub dead: bool,
    /// Whether the newest reading did not end within its deadline: the rest is of an earlier one.
    pub unanswered: bool,
}

impl PciDevice {
    /// Whether its link is what the newest reading found.
    pub(crate) fn is_awake(&self) -> bool {
        !self.dead && !self.suspended && !self.unanswered
    }

    /// What PCI knows of a GPU.
    pub fn gpu_info(&self) -> GpuInfo {
        GpuInfo {
            id: self.id,
            driver_bound: self.driver.clone(),
            numa_node: self.numa_node,
            // What is not of now is not shown as such.
            link: self.link.filter(|_| !self.unanswered),
            upstream: self.upstream.clone(),
            suspended: self.suspended,
            unanswered: self.unanswered,
            present_in: PresentIn {
                pci: true,
                ..PresentIn::default()
            },
            ..GpuInfo::at(self.pci)
        }
    }
}

pub(crate) fn devices_dir(root: &SysRoot) -> PathBuf {
    root.0.join("bus/pci/devices")
}

/// Every NVIDIA GPU and NVSwitch, ordered by address.
///
/// # Errors
/// If `bus/pci/devices` cannot be listed. A single device that vanishes or cannot be read is left
/// out. Waits for a device that is being reset; [`crate::PciWatch`] does not.
pub fn inventory(root: &SysRoot) -> io::Result<Vec<PciDevice>> {
    Ok(addresses(root)?
        .into_iter()
        .filter_map(|pci| match classify(root, pci)? {
            Function::Watched(class) => read(root, pci, class),
            _ => None,
        })
        .collect())
}

/// Every PCI function of the host, ordered.
pub(crate) fn addresses(root: &SysRoot) -> io::Result<Vec<PciAddress>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(devices_dir(root))? {
        // An entry that cannot be read is a device that went away while the folder was listed.
        let Ok(entry) = entry else { continue };
        found.extend(entry.file_name().to_str().and_then(full_address));
    }
    found.sort_unstable();
    Ok(found)
}

/// `dddd:bb:ss.f` and nothing shorter: sysfs writes all of it.
fn full_address(name: &str) -> Option<PciAddress> {
    (name.contains('.') && name.matches(':').count() == 2).then(|| PciAddress::parse(name))?
}

/// What the function at `pci` is; `None` if it cannot be read (it is gone).
pub(crate) fn classify(root: &SysRoot, pci: PciAddress) -> Option<Function> {
    let dir = devices_dir(root).join(pci.to_string());
    let vendor = sysfs::hex(&dir.join("vendor"))?;
    // A virtual function shows vendor and class of its device (drivers/pci/iov.c).
    if let Some(whole) = sysfs::link_name(&dir.join("physfn")) {
        return Some(full_address(&whole).map_or(Function::Other, Function::Part));
    }
    let class = sysfs::hex(&dir.join("class"))?;
    let ours = vendor == NVIDIA;
    Some(match (class >> 16, class >> 8) {
        (CLASS_DISPLAY, _) if ours => Function::Watched(PciClass::Gpu),
        (_, CLASS_BRIDGE_OTHER) if ours => Function::Watched(PciClass::NvSwitch),
        // On another vendor's card one function does not vouch for the next: in a virtual machine the
        // functions of one address can be different devices of the host.
        _ if ours && pci.function != 0 => Function::Part(PciAddress { function: 0, ..pci }),
        (base, _) if base == CLASS_BRIDGE || pci.function != 0 => Function::Other,
        _ => match upstream(&dir, pci) {
            ports if ports.is_empty() => Function::Other,
            ports => Function::Endpoint(ports),
        },
    })
}

/// What sysfs shows of a device without asking it.
pub(crate) fn unread(root: &SysRoot, pci: PciAddress, class: PciClass) -> PciDevice {
    let dir = devices_dir(root).join(pci.to_string());
    let id = |name: &str| u16::try_from(sysfs::hex(&dir.join(name))?).ok();
    // Reading the link or the configuration space of a sleeping device wakes it, or gives all
    // ones where it is switched off.
    let suspended =
        sysfs::text(&dir.join("power/runtime_status")).is_some_and(|s| s.starts_with("suspend"));
    PciDevice {
        pci,
        class,
        id: id("vendor")
            .zip(id("device"))
            .map(|(vendor, device)| PciId { vendor, device }),
        driver: driver(&dir),
        numa_node: sysfs::number(&dir.join("numa_node")),
        upstream: upstream(&dir, pci),
        link: None,
        suspended,
        dead: false,
        unanswered: false,
    }
}

/// Reads one device; `None` if it is gone.
pub(crate) fn read(root: &SysRoot, pci: PciAddress, class: PciClass) -> Option<PciDevice> {
    let dir = devices_dir(root).join(pci.to_string());
    let mut device = unread(root, pci, class);
    if !device.suspended {
        let port = device.upstream.last();
        let port = port.map(|port| devices_dir(root).join(port.to_string()));
        device.link = super::link::read(&dir, port.as_deref());
        device.dead = all_ones(&dir.join("config"));
    }
    // Whatever was read of a device that is gone by now is not worth having.
    dir.exists().then_some(device)
}

/// Whether the vendor id in the configuration space reads 0xffff. A file that cannot be read says
/// nothing.
fn all_ones(config: &Path) -> bool {
    let mut vendor = [0; 2];
    let read = fs::File::open(config).and_then(|mut f| f.read_exact(&mut vendor));
    read.is_ok() && vendor == [0xff; 2]
}

/// The ports above a device: the addresses on the way to it in
/// `/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0`.
fn upstream(dir: &Path, pci: PciAddress) -> Vec<PciAddress> {
    let Ok(path) = dir.canonicalize() else {
        return Vec::new();
    };
    path.components()
        .filter_map(|part| full_address(part.as_os_str().to_str()?))
        .filter(|&port| port != pci)
        .collect()
}

/// The driver that is bound to the device in this folder.
pub(crate) fn driver(dir: &Path) -> Option<String> {
    sysfs::link_name(&dir.join("driver"))
}
