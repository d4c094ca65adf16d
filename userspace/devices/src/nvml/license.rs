//! The licence of a vGPU, as the driver of its guest has it.
//!
//! Source: nvml.h, nvmlGridLicensableFeatures_t (driver 450 and later: version 4). The wrapper lacks it.

#![allow(unsafe_code, reason = "calls of NVML that the wrapper does not have")]

use std::ffi::CStr;
use std::mem;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use nvml_wrapper::error::{NvmlError, nvml_try};
use nvml_wrapper::{Device, Nvml};
use nvml_wrapper_sys::bindings::{
    nvmlGridLicensableFeature_t, nvmlGridLicensableFeatures_t, nvmlGridLicenseExpiry_t,
};

use super::reader::is_unsupported;
use crate::{LicenseTerm, VgpuLicense};

/// NVML_GRID_LICENSE_EXPIRY_*; 0 is not available, 3 not applicable.
const INVALID: u8 = 1;
const VALID: u8 = 2;
const PERMANENT: u8 = 4;

/// The licence of what is enabled on `gpu`; `None` where none is needed, as of a whole GPU.
///
/// # Errors
///
/// If the call fails on a driver that has it.
pub(super) fn read(nvml: &Nvml, gpu: &Device<'_>) -> Result<Option<VgpuLicense>, NvmlError> {
    let Ok(call) = nvml.lib().nvmlDeviceGetGridLicensableFeatures_v4.as_ref() else {
        return Ok(None);
    };
    // SAFETY: integers and arrays of them, for which zero is a value.
    let mut found: nvmlGridLicensableFeatures_t = unsafe { mem::zeroed() };
    // SAFETY: the handle is NVML's own for a device that is open, and `found` takes what the call writes.
    match nvml_try(unsafe { call(gpu.handle(), &raw mut found) }) {
        Ok(()) => {}
        Err(error) if is_unsupported(&error) => return Ok(None),
        Err(error) => return Err(error),
    }
    if found.isGridLicenseSupported == 0 {
        return Ok(None);
    }
    let count = usize::try_from(found.licensableFeaturesCount).unwrap_or(0);
    let features = found.gridLicensableFeatures.iter().take(count);
    let enabled = features.filter(|feature| feature.featureEnabled != 0);
    // What lacks its licence is what counts.
    let first = enabled.min_by_key(|feature| feature.featureState != 0);
    Ok(first.map(license))
}

fn license(feature: &nvmlGridLicensableFeature_t) -> VgpuLicense {
    let licensed = feature.featureState != 0;
    // C's char is signed on x86-64 and not on arm64.
    let product = feature.productName.map(|char| char.to_ne_bytes()[0]);
    let product = CStr::from_bytes_until_nul(&product).ok();
    let product = product.map(|text| text.to_string_lossy().trim().to_owned());
    let (term, expiry) = match feature.licenseExpiry.status {
        _ if !licensed => (None, None),
        INVALID => (Some(LicenseTerm::Invalid), None),
        PERMANENT => (Some(LicenseTerm::Permanent), None),
        VALID => (Some(LicenseTerm::Limited), time(&feature.licenseExpiry)),
        _ => (None, None),
    };
    VgpuLicense {
        licensed,
        product: product.filter(|product| !product.is_empty()),
        term,
        expiry,
    }
}

/// NVML gives it in UTC.
fn time(expiry: &nvmlGridLicenseExpiry_t) -> Option<Timestamp> {
    let small = |value: u16| i8::try_from(value).ok();
    let civil = DateTime::new(
        i16::try_from(expiry.year).ok()?,
        small(expiry.month)?,
        small(expiry.day)?,
        small(expiry.hour)?,
        small(expiry.min)?,
        small(expiry.sec)?,
        0,
    );
    TimeZone::UTC.to_timestamp(civil.ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_that_is_none_is_left_out() {
        let mut expiry = nvmlGridLicenseExpiry_t {
            year: 2027,
            month: 3,
            day: 31,
            hour: 23,
            min: 59,
            sec: 59,
            status: VALID,
        };
        let found = time(&expiry).map(|time| time.to_string());
        assert_eq!(found.as_deref(), Some("2027-03-31T23:59:59Z"));
        expiry.month = 13;
        assert_eq!(time(&expiry), None);
        (expiry.month, expiry.year) = (1, u32::MAX);
        assert_eq!(time(&expiry), None);
    }
}
