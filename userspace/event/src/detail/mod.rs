//! The sections of an event's `detail`: one file each, optional parts of one flat JSON object.

#[macro_use]
mod fill;

mod aer;
mod api;
mod baseline;
mod contention;
mod fabric;
mod holders;
mod host;
mod mig;
mod pcie;
mod plugin;
mod process_exit;
mod rdma;
mod removal;
mod sample;
mod source;
mod xid;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use aer::AerDetail;
pub use api::ApiDetail;
pub use baseline::{BaselineDetail, Drift};
pub use contention::ContentionDetail;
pub use fabric::FabricDetail;
pub use holders::{Holder, HolderDetail};
pub use host::HostDetail;
pub use mig::MigDetail;
pub use pcie::{PcieDetail, SlotChange};
pub use plugin::PluginDetail;
pub use process_exit::ProcessExitDetail;
pub use rdma::{PortChange, RdmaDetail};
pub use removal::{RemovalCause, RemovalDetail, RemovedRange};
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
    /// What work on a GPU waited for, or shared.
    #[serde(flatten)]
    pub contention: ContentionDetail,
    /// Instances of MIG, licences of vGPUs.
    #[serde(flatten)]
    pub mig: MigDetail,
    /// Comparison with the baseline.
    #[serde(flatten)]
    pub baseline: BaselineDetail,
    /// Checks of plugins.
    #[serde(flatten)]
    pub plugin: PluginDetail,
    /// Who had the GPU.
    #[serde(flatten)]
    pub holders: HolderDetail,
    /// Losses.
    #[serde(flatten)]
    pub source: SourceDetail,
    /// Records that left the store.
    #[serde(flatten)]
    pub removal: RemovalDetail,
}

fill_fields!(Detail {
    xid,
    fabric,
    pcie,
    aer,
    host,
    process_exit,
    api,
    rdma,
    sample,
    contention,
    mig,
    baseline,
    plugin,
    holders,
    source,
    removal
});

impl Detail {
    /// Takes over what only `observed` says; what both say stays as it is.
    pub fn fill_from(&mut self, observed: &Self) {
        fill::Fill::fill(self, observed);
    }

    /// Whether no section says anything.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_one_says_is_taken_over_as_it_is_and_nothing_is_overwritten() {
        let mut known = Detail::default();
        known.xid.xid = Some(31);
        known.pcie.bandwidth_gbps = Some(f64::INFINITY);
        let mut observed = Detail::default();
        observed.xid.xid = Some(13);
        observed.xid.words = vec!["0x1".to_owned()];
        observed.rdma.rate_gbps = Some(f64::NEG_INFINITY);
        known.fill_from(&observed);
        assert_eq!(
            (known.xid.xid, &known.xid.words[..]),
            (Some(31), &["0x1".to_owned()][..])
        );
        // JSON has no infinite numbers.
        assert_eq!(known.pcie.bandwidth_gbps, Some(f64::INFINITY));
        assert_eq!(known.rdma.rate_gbps, Some(f64::NEG_INFINITY));
    }
}
