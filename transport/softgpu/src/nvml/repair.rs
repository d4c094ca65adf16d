//! Errors of on-chip memory and what was repaired: a CPU emulator has neither, and says so, unless they are to be reported.

use std::ffi::{c_uint, c_ulonglong};

use super::{DeviceHandle, NOT_SUPPORTED, VERSION_MISMATCH, device, nvml};
use crate::abi::{Out, layouts};
use crate::error::fail_if;

layouts! {
    /// `nvmlEccSramErrorStatus_v1_t`.
    #[derive(Default, PartialEq, Eq)]
    SramErrors {
        version: c_uint,
        padding: c_uint,
        counts: [c_ulonglong; 11],
        threshold_exceeded: c_uint,
        padding_at_the_end: c_uint,
    }

    /// `nvmlRepairStatus_v1_t`.
    #[derive(Default, PartialEq, Eq)]
    RepairStatus {
        version: c_uint,
        channel: c_uint,
        tpc: c_uint,
    }
}

nvml! {
    /// Errors of on-chip memory: those that are to be reported, in multiprocessors.
    fn nvmlDeviceGetSramEccErrorStatus(handle: DeviceHandle, out: Out<SramErrors>) {
        let reported = device(handle)?.faults.injected().reported;
        let version = out.get()?.version;
        fail_if(version != 1 << 24 | size_of::<SramErrors>() as c_uint, VERSION_MISMATCH)?;
        let [corrected, parity, sec_ded] = reported.sram;
        // Ever, since the start, and ever by place: L2, multiprocessors, PCIe, microcontrollers, others.
        let sm = parity.saturating_add(sec_ded);
        let counts = [parity, sec_ded, corrected, parity, sec_ded, corrected, 0, sm, 0, 0, 0];
        Ok(out.put(SramErrors {
            version,
            counts,
            threshold_exceeded: c_uint::from(reported.sram_threshold),
            ..SramErrors::default()
        })?)
    }

    /// Rows that replace others: none of any of the six kinds.
    fn nvmlDeviceGetRemappedRows_v2(handle: DeviceHandle, out: Out<[c_uint; 6]>) {
        device(handle)?;
        Ok(out.put([0; 6])?)
    }

    /// Banks of memory by their spare rows, if they are to be reported.
    fn nvmlDeviceGetRowRemapperHistogram(handle: DeviceHandle, out: Out<[c_uint; 5]>) {
        let banks = device(handle)?.faults.injected().reported.banks;
        Ok(out.put(banks.ok_or(NOT_SUPPORTED)?)?)
    }

    /// Whether a repair waits for a reset.
    fn nvmlDeviceGetRepairStatus(handle: DeviceHandle, out: Out<RepairStatus>) {
        let reported = device(handle)?.faults.injected().reported;
        let version = out.get()?.version;
        fail_if(version != 1 << 24 | size_of::<RepairStatus>() as c_uint, VERSION_MISMATCH)?;
        Ok(out.put(RepairStatus {
            version,
            channel: c_uint::from(reported.repair_channel),
            tpc: c_uint::from(reported.repair_tpc),
        })?)
    }
}
