//! GPU performance monitoring (GPM): how busy the parts of a GPU were between two samples. Hopper and later.
//!
//! Source: nvml.h, nvmlGpmMetricId_t: shares are percent, traffic is MiB/s.

use std::collections::BTreeMap;

use nvml_wrapper::enums::gpm::GpmMetricId;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::gpm::{GpmSample, gpm_metrics_get};
use nvml_wrapper::{Device, Nvml};
use nvml_wrapper_sys::bindings::nvmlGpmSample_t;

use crate::{Activity, MigInstance};

const WANTED: [GpmMetricId; 11] = [
    GpmMetricId::GraphicsUtil,
    GpmMetricId::SmUtil,
    GpmMetricId::SmOccupancy,
    GpmMetricId::AnyTensorUtil,
    GpmMetricId::DramBwUtil,
    GpmMetricId::Fp64Util,
    GpmMetricId::Fp32Util,
    GpmMetricId::Fp16Util,
    GpmMetricId::IntegerUtil,
    GpmMetricId::NvlinkTotalTxPerSec,
    GpmMetricId::NvlinkTotalRxPerSec,
];
const MIB: f64 = 1_048_576.0;

/// The newest sample of each GPU, by NVML's index, and of each of its GPU instances in MIG mode.
#[derive(Default)]
pub(super) struct Gpm(BTreeMap<(u32, Option<u32>), Kept>);

struct Kept {
    handle: nvmlGpmSample_t,
    of: Identity,
}

/// Profile and UUID of a GPU instance: another of the same number is another instance.
type Identity = (Option<String>, Option<String>);

fn identity(instance: &MigInstance) -> Identity {
    let profile = instance.gpu_profile().map(str::to_owned);
    (profile, instance.uuid.clone())
}

impl Gpm {
    /// What a GPU did since it was asked before; nothing the first time, and of one without GPM.
    pub(super) fn read(
        &mut self,
        nvml: &Nvml,
        device: &Device<'_>,
        index: u32,
    ) -> Result<Activity, NvmlError> {
        let whole = Identity::default();
        self.between(nvml, device, (index, None), whole, || device.gpm_sample())
    }

    /// The same of the GPU instance of it that `instance` is the first in.
    pub(super) fn read_instance(
        &mut self,
        nvml: &Nvml,
        device: &Device<'_>,
        index: u32,
        instance: &MigInstance,
    ) -> Result<Activity, NvmlError> {
        let (gi, of) = (instance.gi, identity(instance));
        self.between(nvml, device, (index, Some(gi)), of, || {
            device.gpm_mig_sample(gi)
        })
    }

    /// Gives up the samples of instances that are there no more; `there` is sorted by number.
    pub(super) fn keep_instances(&mut self, nvml: &Nvml, index: u32, there: &[MigInstance]) {
        let is_gone = |gi: u32, of: &Identity| {
            let now = there.iter().find(|instance| instance.gi == gi);
            now.is_none_or(|now| identity(now) != *of)
        };
        let gone = self
            .0
            .extract_if((index, Some(0))..=(index, Some(u32::MAX)), |key, kept| {
                key.1.is_some_and(|gi| is_gone(gi, &kept.of))
            });
        for (_, kept) in gone {
            drop(adopt(nvml, kept.handle));
        }
    }

    fn between<'nvml>(
        &mut self,
        nvml: &'nvml Nvml,
        device: &Device<'nvml>,
        key: (u32, Option<u32>),
        of: Identity,
        take: impl FnOnce() -> Result<GpmSample<'nvml>, NvmlError>,
    ) -> Result<Activity, NvmlError> {
        let before = self.0.remove(&key).map(|kept| adopt(nvml, kept.handle));
        if before.is_none() && !device.gpm_support()? {
            return Err(NvmlError::NotSupported);
        }
        let now = take()?;
        let found = match &before {
            Some(before) => gpm_metrics_get(nvml, before, &now, &WANTED),
            None => Ok(Vec::new()),
        };
        let handle = now.into_handle();
        self.0.insert(key, Kept { handle, of });
        let value = |id| {
            let mut of_ids = found.as_ref().ok()?.iter().flatten();
            let value = of_ids.find(|found| found.metric_id == id)?.value;
            value.is_finite().then_some(value)
        };
        let share = |id| value(id).map(|percent: f64| (percent / 100.0).clamp(0.0, 1.0));
        // A float that is no number of bytes becomes the nearest one.
        let bytes = |id| value(id).map(|mib: f64| (mib * MIB) as u64);
        let activity = Activity {
            graphics: share(GpmMetricId::GraphicsUtil),
            sm: share(GpmMetricId::SmUtil),
            sm_occupancy: share(GpmMetricId::SmOccupancy),
            tensor: share(GpmMetricId::AnyTensorUtil),
            dram: share(GpmMetricId::DramBwUtil),
            fp64: share(GpmMetricId::Fp64Util),
            fp32: share(GpmMetricId::Fp32Util),
            fp16: share(GpmMetricId::Fp16Util),
            integer: share(GpmMetricId::IntegerUtil),
            nvlink_tx: bytes(GpmMetricId::NvlinkTotalTxPerSec),
            nvlink_rx: bytes(GpmMetricId::NvlinkTotalRxPerSec),
        };
        found.map(|_| activity)
    }
}

#[allow(unsafe_code, reason = "a sample outlives the call that took it")]
fn adopt(nvml: &Nvml, handle: nvmlGpmSample_t) -> GpmSample<'_> {
    // SAFETY: the handle is from `GpmSample::into_handle` of the same library, which the child opens once and never closes before it
    // ends; it was taken out of the map, so nobody else owns it.
    unsafe { GpmSample::from_handle(nvml, handle) }
}
