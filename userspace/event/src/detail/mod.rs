//! The sections of an event's `detail`: one file each, optional parts of one flat JSON object.

mod aer;
mod api;
mod fabric;
mod host;
mod pcie;
mod process_exit;
mod rdma;
mod sample;
mod source;
mod xid;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use aer::AerDetail;
pub use api::ApiDetail;
pub use fabric::FabricDetail;
pub use host::HostDetail;
pub use pcie::{PcieDetail, SlotChange};
pub use process_exit::ProcessExitDetail;
pub use rdma::{PortChange, RdmaDetail};
pub use sample::SampleDetail;
pub use source::SourceDetail;
pub use xid::XidDetail;

/// Everything that an event's text or source says beyond kind, device and process.
///
/// One flat object in JSON. A field name belongs to one section only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Detail {
    /// Xid lines and the driver's lines without Xid.
    #[serde(flatten)]
    pub xid: XidDetail,
    /// NVLink and NVSwitch.
    #[serde(flatten)]
    pub fabric: FabricDetail,
    /// The device of PCIe events, hotplug and link status.
    #[serde(flatten)]
    pub pcie: PcieDetail,
    /// PCIe AER.
    #[serde(flatten)]
    pub aer: AerDetail,
    /// Host faults.
    #[serde(flatten)]
    pub host: HostDetail,
    /// Ends of GPU processes.
    #[serde(flatten)]
    pub process_exit: ProcessExitDetail,
    /// Driver calls.
    #[serde(flatten)]
    pub api: ApiDetail,
    /// Ports of RDMA devices.
    #[serde(flatten)]
    pub rdma: RdmaDetail,
    /// Readings.
    #[serde(flatten)]
    pub sample: SampleDetail,
    /// Losses.
    #[serde(flatten)]
    pub source: SourceDetail,
}

impl Detail {
    /// Whether no section says anything.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
