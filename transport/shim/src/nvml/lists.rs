//! Structures that point to lists of the program.

// Reads and writes them, and the lists.
#![allow(unsafe_code)]

use std::ffi::c_uint;
use std::ptr::without_provenance_mut;

use gtrace_cuda::payload::Listed;
use gtrace_cuda::types::nvml::{
    self, nvmlActiveVgpuInstanceInfo_t, nvmlDevice_t, nvmlEccSramUniqueUncorrectedErrorCounts_t,
    nvmlGpuInstance_t, nvmlProcessDetailList_t, nvmlProcessesUtilizationInfo_t, nvmlReturn_t,
    nvmlVgpuCreatablePlacementInfo_t, nvmlVgpuInstancesUtilizationInfo_t,
    nvmlVgpuProcessesUtilizationInfo_t, nvmlVgpuTypeIdInfo_t,
};
use gtrace_cuda::wire;
use gtrace_protocol::{OpId, op_id};

use crate::entry;

/// A list of a device or of a GPU instance.
///
/// # Safety
///
/// `into` is null or points to a structure of the program that says its version, with a list of as many elements as it says.
unsafe fn listed<T, S: Listed>(op: OpId, of: *mut T, into: *mut S) -> nvmlReturn_t {
    if let Err(code) = super::ready() {
        return code;
    }
    if into.is_null() {
        return nvml::NVML_ERROR_INVALID_ARGUMENT;
    }
    // SAFETY: each begins with its version, by which a structure of another size is recognised.
    if unsafe { into.cast::<u32>().read() } != S::VERSION {
        return nvml::NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    }
    // SAFETY: the caller's promise.
    let mut asked = unsafe { into.read() };
    let list = *asked.list();
    let room = match list.is_null() {
        true => 0,
        false => *asked.count() as usize,
    };
    *asked.list() = without_provenance_mut(usize::from(!list.is_null()));
    let code = entry::nvml(
        op,
        &mut |w| {
            w.u64(of.addr() as u64);
            // SAFETY: plain data; the pointer is a number.
            unsafe { wire::put(w, &raw const asked, 1) };
            Ok(())
        },
        &mut |r| {
            // SAFETY: zeros are a value, and so are any bits of integers and a pointer that is replaced.
            let mut found: S = unsafe { wire::zeroed() };
            // SAFETY: as above; a list has room for as many elements as the program says.
            unsafe {
                wire::take(r, &raw mut found, 1)?;
                let count = r.len(room)?;
                wire::take(r, list, count)?;
                *found.list() = list;
                into.write(found);
            }
            Ok(())
        },
    );
    if code == nvml::NVML_SUCCESS && !list.is_null() {
        // SAFETY: the caller's promise. Whatever the server says, the program reads no more than it has room for.
        let count = unsafe { (*into).count() };
        *count = (*count).min(room as c_uint);
    }
    code
}

macro_rules! listed {
    ($($name:ident($of:ty, $into:ty);)*) => {$(
        pub(crate) unsafe fn $name(of: $of, into: *mut $into) -> nvmlReturn_t {
            const OP: OpId = op_id(stringify!($name));
            // SAFETY: a structure of the program.
            unsafe { listed(OP, of, into) }
        }
    )*};
}

listed! {
    nvmlDeviceGetProcessesUtilizationInfo(nvmlDevice_t, nvmlProcessesUtilizationInfo_t);
    nvmlDeviceGetRunningProcessDetailList(nvmlDevice_t, nvmlProcessDetailList_t);
    nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts(nvmlDevice_t, nvmlEccSramUniqueUncorrectedErrorCounts_t);
    nvmlDeviceGetVgpuInstancesUtilizationInfo(nvmlDevice_t, nvmlVgpuInstancesUtilizationInfo_t);
    nvmlDeviceGetVgpuProcessesUtilizationInfo(nvmlDevice_t, nvmlVgpuProcessesUtilizationInfo_t);
    nvmlGpuInstanceGetActiveVgpus(nvmlGpuInstance_t, nvmlActiveVgpuInstanceInfo_t);
    nvmlGpuInstanceGetCreatableVgpus(nvmlGpuInstance_t, nvmlVgpuTypeIdInfo_t);
    nvmlGpuInstanceGetVgpuTypeCreatablePlacements(nvmlGpuInstance_t, nvmlVgpuCreatablePlacementInfo_t);
}
