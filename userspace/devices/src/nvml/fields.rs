//! Field values of a GPU, in one call.
//!
//! Source: nvml.h, NVML_FI_* and NVML_POWER_SCOPE_*. The wrapper's call takes no scopes.

#![allow(unsafe_code, reason = "calls of NVML that the wrapper does not have")]

use std::collections::BTreeMap;
use std::mem;

use nvml_wrapper::enums::device::SampleValue;
use nvml_wrapper::error::{NvmlError, nvml_sym, nvml_try};
use nvml_wrapper::struct_wrappers::device::FieldValueSample;
use nvml_wrapper::sys_exports::field_id as field;
use nvml_wrapper::{Device, FieldIdScheme};
use nvml_wrapper_sys::bindings::{
    NVML_POWER_SCOPE_MEMORY, NVML_POWER_SCOPE_MODULE, nvmlFieldValue_t,
};

use super::reader::Reader;
use crate::{C2cLinkSample, NvLinkSample};

/// Field and scope.
type Id = (u32, u32);

/// Power of the device memory and of the module, mean of a second where there is one, milliwatts.
const MEMORY_POWER: [Id; 2] = [
    (field::NVML_FI_DEV_POWER_AVERAGE, NVML_POWER_SCOPE_MEMORY),
    (field::NVML_FI_DEV_POWER_INSTANT, NVML_POWER_SCOPE_MEMORY),
];
const MODULE_POWER: [Id; 2] = [
    (field::NVML_FI_DEV_POWER_AVERAGE, NVML_POWER_SCOPE_MODULE),
    (field::NVML_FI_DEV_POWER_INSTANT, NVML_POWER_SCOPE_MODULE),
];

/// In place of a link: all of them together.
const ALL_LINKS: u32 = u32::MAX;
/// KiB sent and received over all links so far, and how many links there are.
const TRAFFIC: [Id; 3] = [
    (field::NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, ALL_LINKS),
    (field::NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, ALL_LINKS),
    (field::NVML_FI_DEV_NVLINK_LINK_COUNT, 0),
];
/// More NVLinks than any GPU has; a guard against a nonsense count.
const MAX_LINKS: u32 = 72;

const WANTED: [Id; 17] = [
    TRAFFIC[0],
    TRAFFIC[1],
    TRAFFIC[2],
    (field::NVML_FI_DEV_MEMORY_TEMP, 0),
    (field::NVML_FI_DEV_REMAPPED_COR, 0),
    (field::NVML_FI_DEV_REMAPPED_UNC, 0),
    (field::NVML_FI_DEV_REMAPPED_PENDING, 0),
    (field::NVML_FI_DEV_REMAPPED_FAILURE, 0),
    (field::NVML_FI_DEV_GET_GPU_RECOVERY_ACTION, 0),
    (field::NVML_FI_DEV_C2C_LINK_COUNT, 0),
    (field::NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN, 0),
    (field::NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN, 0),
    (
        field::NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN,
        0,
    ),
    MEMORY_POWER[0],
    MEMORY_POWER[1],
    MODULE_POWER[0],
    MODULE_POWER[1],
];

/// Values of fields; those that are not supported are absent.
#[derive(Default)]
pub(super) struct Fields(BTreeMap<Id, u64>);

impl Fields {
    /// All of a sample.
    pub(super) fn read(reader: &mut Reader<'_, '_>) -> Self {
        Self::of(reader, &WANTED)
    }

    /// Those that traffic over NVLink needs.
    pub(super) fn of_traffic(reader: &mut Reader<'_, '_>) -> Self {
        Self::of(reader, &TRAFFIC)
    }

    /// Those of the list.
    pub(super) fn of(reader: &mut Reader<'_, '_>, wanted: &[Id]) -> Self {
        let values = reader.get("field values", |device| ask(device, wanted));
        let mut found = BTreeMap::new();
        // The answers come in the order of the questions.
        for (id, value) in wanted.iter().copied().zip(values.unwrap_or_default()) {
            let Some(value) = reader.get("field value", |_| value?.value) else {
                continue;
            };
            found.extend(unsigned(&value).map(|v| (id, v)));
        }
        Self(found)
    }

    /// Of the whole GPU.
    pub(super) fn get(&self, field: u32) -> Option<u64> {
        self.0.get(&(field, 0)).copied()
    }

    /// Of a link.
    pub(super) fn of_link(&self, field: u32, link: u32) -> Option<u64> {
        self.0.get(&(field, link)).copied()
    }

    /// NVLinks of the GPU, up or not.
    pub(super) fn links(&self) -> u32 {
        let links = self.get(field::NVML_FI_DEV_NVLINK_LINK_COUNT).unwrap_or(0);
        u32::try_from(links).unwrap_or(0).min(MAX_LINKS)
    }

    /// Bytes that were sent and received over all NVLinks so far.
    pub(super) fn nvlink_bytes(&self, reader: &mut Reader<'_, '_>) -> (Option<u64>, Option<u64>) {
        let [tx, rx, _] = TRAFFIC.map(|id| self.0.get(&id).copied());
        let links = self.links();
        if links == 0 || tx.is_some() || rx.is_some() {
            let bytes = |kib: u64| kib.saturating_mul(1024);
            return (tx.map(bytes), rx.map(bytes));
        }
        // NVLink 5 counts bytes, by link.
        let ids = [
            field::NVML_FI_DEV_NVLINK_COUNT_XMIT_BYTES,
            field::NVML_FI_DEV_NVLINK_COUNT_RCV_BYTES,
        ];
        let of_links = |id| (0..links).map(move |link| (id, link));
        let wanted: Vec<Id> = ids.into_iter().flat_map(of_links).collect();
        let found = Self::of(reader, &wanted);
        let [tx, rx] = ids.map(|id| {
            let known = of_links(id).filter_map(|id| found.0.get(&id).copied());
            known.reduce(u64::saturating_add)
        });
        (tx, rx)
    }

    /// Recoveries of the NVLinks that are up, where they have no error counters of their own: NVLink 5.
    pub(super) fn nvlink_recoveries(reader: &mut Reader<'_, '_>, links: &mut [NvLinkSample]) {
        const COUNT: u32 = field::NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS;
        let uncounted = |l: &&NvLinkSample| l.active == Some(true) && l.recovery.is_none();
        let asked = links.iter().filter(uncounted).map(|l| (COUNT, l.link));
        let wanted: Vec<Id> = asked.collect();
        if wanted.is_empty() {
            return;
        }
        let found = Self::of(reader, &wanted);
        for link in links {
            if let Some(count) = found.0.get(&(COUNT, link.link)) {
                link.recovery = Some(*count);
            }
        }
    }

    /// Links to the CPU. A GPU without any is not asked. Errors since driver 575.
    pub(super) fn c2c_links(&self, reader: &mut Reader<'_, '_>) -> Vec<C2cLinkSample> {
        const OF_LINK: [u32; 5] = [
            field::NVML_FI_DEV_C2C_LINK_GET_STATUS,
            field::NVML_FI_DEV_C2C_LINK_GET_MAX_BW,
            field::NVML_FI_DEV_C2C_LINK_ERROR_INTR,
            field::NVML_FI_DEV_C2C_LINK_ERROR_REPLAY,
            field::NVML_FI_DEV_C2C_LINK_ERROR_REPLAY_B2B,
        ];
        let links = self.get(field::NVML_FI_DEV_C2C_LINK_COUNT).unwrap_or(0);
        let links = 0..u32::try_from(links).unwrap_or(0).min(MAX_LINKS);
        if links.is_empty() {
            return Vec::new();
        }
        let ids = links.clone();
        let wanted = ids.flat_map(|link| OF_LINK.map(|field| (field, link)));
        let found = Self::of(reader, &wanted.collect::<Vec<Id>>());
        let of_link = |link| {
            let of = OF_LINK.map(|field| found.of_link(field, link));
            let [status, megabytes, crc_errors, replays, repeated_replays] = of;
            C2cLinkSample {
                link,
                active: status.map(|status| status == 1),
                max_bandwidth: megabytes.map(|mb| mb.saturating_mul(1_000_000)),
                crc_errors,
                replays,
                repeated_replays,
            }
        };
        links.map(of_link).collect()
    }

    /// Drawn by the device memory, milliwatts.
    pub(super) fn memory_power(&self) -> Option<u32> {
        self.power(MEMORY_POWER)
    }

    /// Drawn by the module that the GPU is on, milliwatts.
    pub(super) fn module_power(&self) -> Option<u32> {
        self.power(MODULE_POWER)
    }

    fn power(&self, ids: [Id; 2]) -> Option<u32> {
        let [mean, now] = ids;
        let value = self.0.get(&mean).or_else(|| self.0.get(&now)).copied()?;
        u32::try_from(value).ok()
    }
}

/// Ids as the driver numbers them: from 580.82 on some are others.
fn ask(
    device: &Device<'_>,
    wanted: &[Id],
) -> Result<Vec<Result<FieldValueSample, NvmlError>>, NvmlError> {
    let call = nvml_sym(device.nvml().lib().nvmlDeviceGetFieldValues.as_ref())?;
    let scheme = device.nvml().field_id_scheme();
    let asked = wanted.iter().map(|(id, scope)| {
        // SAFETY: integers and a union of numbers, for which zero is a value.
        let mut value: nvmlFieldValue_t = unsafe { mem::zeroed() };
        (value.fieldId, value.scopeId) = (numbered(scheme, *id), *scope);
        value
    });
    let mut values: Vec<nvmlFieldValue_t> = asked.collect();
    // SAFETY: the handle is NVML's own for a device that is open, and there are as many values as is said.
    nvml_try(unsafe { call(device.handle(), values.len() as i32, values.as_mut_ptr()) })?;
    Ok(values.into_iter().map(FieldValueSample::try_from).collect())
}

fn numbered(scheme: FieldIdScheme, id: u32) -> u32 {
    match (scheme, id) {
        (FieldIdScheme::V13Update1, 251..=255) => id + 18,
        _ => id,
    }
}

fn unsigned(value: &SampleValue) -> Option<u64> {
    match *value {
        SampleValue::U32(v) => Some(u64::from(v)),
        SampleValue::U64(v) => Some(v),
        SampleValue::I64(v) => u64::try_from(v).ok(),
        SampleValue::F64(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_the_driver() {
        let slowdown = field::NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN;
        assert_eq!(numbered(FieldIdScheme::V12, slowdown), 251);
        assert_eq!(numbered(FieldIdScheme::V13Update1, slowdown), 269);
        assert_eq!(numbered(FieldIdScheme::V13Update1, 230), 230);
    }
}
