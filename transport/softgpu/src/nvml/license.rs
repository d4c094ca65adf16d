//! The licence of a vGPU, where `GTRACE_SOFTGPU_FAULT` or the control file gives one.

use std::ffi::{c_int, c_uint, c_ushort};

use super::device::fixed;
use super::{DeviceHandle, NOT_SUPPORTED, device, nvml};
use crate::abi::{Out, layouts};
use crate::mig::License;

layouts! {
    /// `nvmlGridLicenseExpiry_t`.
    #[derive(Default)]
    Expiry {
        year: c_uint,
        month: c_ushort,
        day: c_ushort,
        hour: c_ushort,
        minute: c_ushort,
        second: c_ushort,
        status: u8,
    }

    /// `nvmlGridLicensableFeature_t`.
    Feature {
        code: c_uint,
        state: c_uint,
        info: [u8; 128],
        product: [u8; 128],
        enabled: c_uint,
        expiry: Expiry,
    }

    /// `nvmlGridLicensableFeatures_t`.
    Features {
        supported: c_int,
        count: c_uint,
        features: [Feature; 3],
    }
}

/// `NVML_GRID_LICENSE_EXPIRY_*`, and `NVML_GRID_LICENSE_FEATURE_CODE_COMPUTE`.
const VALID: u8 = 2;
const PERMANENT: u8 = 4;
const COMPUTE: c_uint = 4;
const PRODUCT: &str = "NVIDIA Virtual Compute Server";

impl Feature {
    const NONE: Self = Self {
        code: 0,
        state: 0,
        info: [0; 128],
        product: [0; 128],
        enabled: 0,
        expiry: Expiry {
            year: 0,
            month: 0,
            day: 0,
            hour: 0,
            minute: 0,
            second: 0,
            status: 0,
        },
    };

    fn of(license: License) -> Self {
        let mut expiry = Expiry::default();
        match license {
            License::Missing => {}
            License::Permanent => expiry.status = PERMANENT,
            License::Until(year, month, day) => {
                (expiry.year, expiry.month, expiry.day) = (year, month, day);
                expiry.status = VALID;
            }
        }
        Self {
            code: COMPUTE,
            state: c_uint::from(license != License::Missing),
            info: fixed(PRODUCT),
            product: fixed(PRODUCT),
            enabled: 1,
            expiry,
        }
    }
}

nvml! {
    /// What the device needs a licence for, where it was said that it is a vGPU.
    fn nvmlDeviceGetGridLicensableFeatures_v4(handle: DeviceHandle, out: Out<Features>) {
        let license = device(handle)?.faults.injected().license;
        let feature = Feature::of(license.ok_or(NOT_SUPPORTED)?);
        Ok(out.put(Features {
            supported: 1,
            count: 1,
            features: [feature, Feature::NONE, Feature::NONE],
        })?)
    }
}

// As nvml.h lays them out.
const _: () = {
    assert!(size_of::<Expiry>() == 16);
    assert!(size_of::<Feature>() == 284);
    assert!(size_of::<Features>() == 860);
};
