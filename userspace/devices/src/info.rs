use std::fmt;

use gtrace_event::{Gpu, PciAddress};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{GpuBoard, GpuProcess, GpuSample};

/// One GPU of this host, with what PCI, /proc/driver/nvidia and NVML say of it.
///
/// A part that its source does not have, or that could not be read this time, is `None`.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GpuInfo {
    /// Where it sits.
    pub pci: PciAddress,
    /// PCI vendor and device id.
    pub id: Option<PciId>,
    /// Product name; NVML's, else the `Model` of /proc/driver/nvidia.
    pub name: Option<String>,
    /// `GPU-…`; NVML's, else that of /proc/driver/nvidia.
    pub uuid: Option<String>,
    /// NVML's index. It follows PCI order and changes when a GPU is lost.
    pub index: Option<u32>,
    /// N of /dev/nvidiaN, by /proc/driver/nvidia. It need not be NVML's index.
    pub minor: Option<u32>,
    /// Kernel driver that the device is bound to: `nvidia`, `vfio-pci`, `nouveau`.
    pub driver_bound: Option<String>,
    /// Version of the loaded NVIDIA kernel module.
    pub driver_version: Option<String>,
    /// NUMA node, where the platform names one.
    pub numa_node: Option<u32>,
    /// PCIe link of the device to the port above it.
    pub link: Option<PcieLink>,
    /// The ports above the device, root port first; the device itself is not among them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub upstream: Vec<PciAddress>,
    /// Which sources show the GPU.
    pub present_in: PresentIn,
    /// Whether the kernel has put the device to sleep (runtime power management). Its link and
    /// configuration space are then not read, as that would wake it.
    #[serde(default)]
    pub suspended: bool,
    /// Whether the device did not answer a reading of its link and configuration space in time, as
    /// happens while it is being reset. It is then left alone, with back-off, and has no link here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unanswered: bool,
    /// Whether the sample is older than three sampling intervals. `/metrics` leaves it out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
    /// Why NVML gives no or only part of a sample, in its words.
    pub nvml_error: Option<String>,
    /// What NVML says of the board.
    #[serde(skip_serializing_if = "GpuBoard::is_empty", default)]
    pub board: GpuBoard,
    /// NVML's newest sample.
    pub sample: Option<GpuSample>,
}

impl GpuInfo {
    /// A GPU at `pci`, nothing else known.
    pub fn at(pci: PciAddress) -> Self {
        Self {
            pci,
            ..Self::default()
        }
    }

    /// The processes of the newest sample.
    pub fn processes(&self) -> &[GpuProcess] {
        self.sample.as_ref().map_or(&[], |s| &s.processes)
    }

    /// Whether it was given to a virtual machine, so that this host's driver has no business with it.
    pub fn is_passed_through(&self) -> bool {
        let driver = self.driver_bound.as_deref();
        driver.is_some_and(|driver| {
            driver.ends_with("vfio-pci") || matches!(driver, "pci-stub" | "xen-pciback" | "pciback")
        })
    }

    /// How events name this GPU.
    pub fn event_gpu(&self) -> Gpu {
        Gpu {
            uuid: self.uuid.clone(),
            index: self.index,
            ..Gpu::at(self.pci)
        }
    }
}

/// Which sources show a GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PresentIn {
    /// A PCI device in sysfs.
    pub pci: bool,
    /// NVML.
    pub nvml: bool,
    /// /proc/driver/nvidia/gpus.
    pub proc: bool,
}

/// A PCIe link. Speeds are GT/s per lane.
///
/// Source: `current_link_speed` and its like in sysfs (drivers/pci/pci-sysfs.c, kernel 4.13 on).
/// At idle the driver lowers the speed to save power; that is no fault. It never lowers the width.
#[serde_with::skip_serializing_none]
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PcieLink {
    /// Speed now, GT/s.
    pub speed: Option<f64>,
    /// Highest speed of the link: the lower of what device and port can do, GT/s.
    pub max_speed: Option<f64>,
    /// Lanes in use.
    pub width: Option<u32>,
    /// Lanes that both device and port have.
    pub max_width: Option<u32>,
}

/// PCI vendor and device id, written `10de:2335`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PciId {
    /// Vendor; 0x10de is NVIDIA.
    pub vendor: u16,
    /// Device.
    pub device: u16,
}

impl fmt::Display for PciId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:04x}", self.vendor, self.device)
    }
}

impl Serialize for PciId {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PciId {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        let part = |t: &str| {
            (t.len() == 4)
                .then(|| u16::from_str_radix(t, 16).ok())
                .flatten()
        };
        text.split_once(':')
            .and_then(|(v, d)| {
                Some(Self {
                    vendor: part(v)?,
                    device: part(d)?,
                })
            })
            .ok_or_else(|| {
                D::Error::custom(format!("`{text}` is no PCI id: write it as 10de:2335"))
            })
    }
}

impl JsonSchema for PciId {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PciId".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "PCI vendor and device id in hex",
            "pattern": "^[0-9a-f]{4}:[0-9a-f]{4}$"
        })
    }
}
