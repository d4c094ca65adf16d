//! Power, margin of temperature and engines beside the multiprocessors, as they are to be reported.

use std::ffi::{c_int, c_uint};

use super::{DeviceHandle, NOT_SUPPORTED, Reply, VERSION_MISMATCH, device, nvml};
use crate::abi::Out;
use crate::error::fail_if;
use crate::reported::PowerLimits;

/// `nvmlMarginTemperature_v1_t`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of NVML")]
pub struct Margin {
    pub version: c_uint,
    pub degrees: c_int,
}

/// Each engine is looked at over so many microseconds.
const PERIOD_US: c_uint = 1_000_000;

fn limits(handle: DeviceHandle) -> Reply<PowerLimits> {
    let reported = device(handle)?.faults.injected().reported;
    reported.power_limits.ok_or(NOT_SUPPORTED)
}

nvml! {
    /// The limit of power in force, milliwatts.
    fn nvmlDeviceGetEnforcedPowerLimit, nvmlDeviceGetPowerManagementLimit(
        handle: DeviceHandle, milliwatts: Out<c_uint>,
    ) {
        Ok(milliwatts.put(limits(handle)?.current * 1000)?)
    }

    /// The limit of power at the start, milliwatts.
    fn nvmlDeviceGetPowerManagementDefaultLimit(handle: DeviceHandle, milliwatts: Out<c_uint>) {
        Ok(milliwatts.put(limits(handle)?.default * 1000)?)
    }

    /// The lowest and the highest limit of power, milliwatts.
    fn nvmlDeviceGetPowerManagementLimitConstraints(
        handle: DeviceHandle, min: Out<c_uint>, max: Out<c_uint>,
    ) {
        let limits = limits(handle)?;
        min.put(limits.min * 1000)?;
        Ok(max.put(limits.max * 1000)?)
    }

    /// Degrees Celsius up to the slowdown.
    fn nvmlDeviceGetMarginTemperature(handle: DeviceHandle, out: Out<Margin>) {
        let margin = device(handle)?.faults.injected().reported.margin;
        let version = out.get()?.version;
        fail_if(version != 1 << 24 | size_of::<Margin>() as c_uint, VERSION_MISMATCH)?;
        Ok(out.put(Margin { version, degrees: margin.ok_or(NOT_SUPPORTED)? })?)
    }

    /// Share of time in which JPEG was decoded.
    fn nvmlDeviceGetJpgUtilization(
        handle: DeviceHandle, percent: Out<c_uint>, period_us: Out<c_uint>,
    ) {
        let jpeg = device(handle)?.faults.injected().reported.jpeg;
        percent.put(jpeg.ok_or(NOT_SUPPORTED)?)?;
        Ok(period_us.put(PERIOD_US)?)
    }

    /// Share of time in which the optical flow accelerator worked.
    fn nvmlDeviceGetOfaUtilization(
        handle: DeviceHandle, percent: Out<c_uint>, period_us: Out<c_uint>,
    ) {
        let ofa = device(handle)?.faults.injected().reported.ofa;
        percent.put(ofa.ok_or(NOT_SUPPORTED)?)?;
        Ok(period_us.put(PERIOD_US)?)
    }
}
