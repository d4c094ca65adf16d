//! Readings whose calls the wrapper does not have, or answers otherwise than they are used here. Source: nvml.h.

#![allow(unsafe_code, reason = "calls of NVML that the wrapper does not have")]

use std::ffi::{c_int, c_uint};
use std::mem;

use nvml_wrapper::Device;
use nvml_wrapper::error::{NvmlError, nvml_sym, nvml_try};
use nvml_wrapper_sys::bindings::{
    nvmlDevice_t, nvmlEccSramErrorStatus_t, nvmlMarginTemperature_t, nvmlRepairStatus_t,
    nvmlReturn_t, nvmlRowRemapperHistogramValues_t,
};

use crate::{Repair, SpareRows, SramEcc, SramErrors, SramSources};

/// NVML_STRUCT_VERSION of the first version of a structure.
fn first<T>() -> c_uint {
    size_of::<T>() as c_uint | 1 << 24
}

/// Degrees Celsius up to the nearest temperature at which the GPU slows down; negative beyond it.
pub(super) fn margin(device: &Device<'_>) -> Result<c_int, NvmlError> {
    let lib = device.nvml().lib();
    let call = nvml_sym(lib.nvmlDeviceGetMarginTemperature.as_ref())?;
    let mut out = nvmlMarginTemperature_t {
        version: first::<nvmlMarginTemperature_t>(),
        marginTemperature: 0,
    };
    // SAFETY: the handle is NVML's own for a device that is open, and `out` is what its version says.
    nvml_try(unsafe { call(device.handle(), &raw mut out) })?;
    Ok(out.marginTemperature)
}

/// What a reset of the GPU will repair.
pub(super) fn repair(device: &Device<'_>) -> Result<Repair, NvmlError> {
    let lib = device.nvml().lib();
    let call = nvml_sym(lib.nvmlDeviceGetRepairStatus.as_ref())?;
    let mut out = nvmlRepairStatus_t {
        version: first::<nvmlRepairStatus_t>(),
        bChannelRepairPending: 0,
        bTpcRepairPending: 0,
    };
    // SAFETY: as above.
    nvml_try(unsafe { call(device.handle(), &raw mut out) })?;
    Ok(Repair {
        channel_pending: Some(out.bChannelRepairPending != 0),
        tpc_pending: Some(out.bTpcRepairPending != 0),
    })
}

/// Errors of on-chip memory.
pub(super) fn sram(device: &Device<'_>) -> Result<SramEcc, NvmlError> {
    let lib = device.nvml().lib();
    let call = nvml_sym(lib.nvmlDeviceGetSramEccErrorStatus.as_ref())?;
    // SAFETY: integers, for which zero is a value.
    let mut out: nvmlEccSramErrorStatus_t = unsafe { mem::zeroed() };
    out.version = first::<nvmlEccSramErrorStatus_t>();
    // SAFETY: as above.
    nvml_try(unsafe { call(device.handle(), &raw mut out) })?;
    Ok(SramEcc {
        volatile: Some(SramErrors {
            corrected: Some(out.volatileCor),
            parity: Some(out.volatileUncParity),
            sec_ded: Some(out.volatileUncSecDed),
        }),
        aggregate: Some(SramErrors {
            corrected: Some(out.aggregateCor),
            parity: Some(out.aggregateUncParity),
            sec_ded: Some(out.aggregateUncSecDed),
        }),
        sources: Some(SramSources {
            l2: Some(out.aggregateUncBucketL2),
            sm: Some(out.aggregateUncBucketSm),
            microcontroller: Some(out.aggregateUncBucketMcu),
            pcie: Some(out.aggregateUncBucketPcie),
            other: Some(out.aggregateUncBucketOther),
        }),
        threshold_exceeded: Some(out.bThresholdExceeded != 0),
    })
}

/// How many spare rows banks of device memory have left.
pub(super) fn spare_rows(device: &Device<'_>) -> Result<SpareRows, NvmlError> {
    let lib = device.nvml().lib();
    let call = nvml_sym(lib.nvmlDeviceGetRowRemapperHistogram.as_ref())?;
    // SAFETY: integers, for which zero is a value.
    let mut out: nvmlRowRemapperHistogramValues_t = unsafe { mem::zeroed() };
    // SAFETY: as above.
    nvml_try(unsafe { call(device.handle(), &raw mut out) })?;
    Ok(SpareRows {
        max: Some(out.max),
        high: Some(out.high),
        partial: Some(out.partial),
        low: Some(out.low),
        none: Some(out.none),
    })
}

/// Whether the checksum of the InfoROM is right. It is read from the flash.
pub(super) fn inforom(device: &Device<'_>) -> Result<bool, NvmlError> {
    match device.validate_info_rom() {
        Ok(()) => Ok(true),
        Err(NvmlError::CorruptedInfoROM) => Ok(false),
        Err(error) => Err(error),
    }
}

/// How busy the decoder of JPEG was, percent.
pub(super) fn jpeg(device: &Device<'_>) -> Result<u32, NvmlError> {
    let call = nvml_sym(device.nvml().lib().nvmlDeviceGetJpgUtilization.as_ref())?;
    busy(device, *call)
}

/// How busy the optical flow accelerator was, percent.
pub(super) fn ofa(device: &Device<'_>) -> Result<u32, NvmlError> {
    let call = nvml_sym(device.nvml().lib().nvmlDeviceGetOfaUtilization.as_ref())?;
    busy(device, *call)
}

type Busy = unsafe extern "C" fn(nvmlDevice_t, *mut c_uint, *mut c_uint) -> nvmlReturn_t;

fn busy(device: &Device<'_>, call: Busy) -> Result<u32, NvmlError> {
    let (mut percent, mut period_us) = (0, 0);
    // SAFETY: the handle is NVML's own for a device that is open, and both take what the call writes.
    nvml_try(unsafe { call(device.handle(), &raw mut percent, &raw mut period_us) })?;
    Ok(percent)
}
