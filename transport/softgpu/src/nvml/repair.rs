//! Errors of on-chip memory and what was repaired: a CPU emulator has neither, and says so.

use std::ffi::{c_uint, c_ulonglong};

use super::{DeviceHandle, VERSION_MISMATCH, device, nvml};
use crate::abi::Out;

/// `nvmlEccSramErrorStatus_v1_t`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of NVML")]
pub struct SramErrors {
    pub version: c_uint,
    pub padding: c_uint,
    pub counts: [c_ulonglong; 11],
    pub threshold_exceeded: c_uint,
    pub padding_at_the_end: c_uint,
}

nvml! {
    /// Errors of on-chip memory: none.
    fn nvmlDeviceGetSramEccErrorStatus(handle: DeviceHandle, out: Out<SramErrors>) {
        device(handle)?;
        let version = out.get()?.version;
        if version != 1 << 24 | size_of::<SramErrors>() as c_uint {
            return Err(VERSION_MISMATCH);
        }
        Ok(out.put(SramErrors { version, ..SramErrors::default() })?)
    }

    /// Rows that replace others: none of any of the six kinds.
    fn nvmlDeviceGetRemappedRows_v2(handle: DeviceHandle, out: Out<[c_uint; 6]>) {
        device(handle)?;
        Ok(out.put([0; 6])?)
    }

    /// Whether there is memory that cannot be repaired: no.
    fn nvmlDeviceGetUnrepairableMemoryFlag_v1(handle: DeviceHandle, out: Out<c_uint>) {
        device(handle)?;
        Ok(out.put(0)?)
    }
}
