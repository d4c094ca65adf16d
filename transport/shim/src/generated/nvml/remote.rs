//! Calls of NVML that travel as they are described.
//!
//! Written by `cargo xtask codegen`; changes by hand are lost.
//!
//! Uses of the crate:
//! * `crate::entry::waiting(op, small_hint, |w| -> Result<(), u32>, |r| -> Result<(), DecodeError>) -> u32`:
//!   sends what the first closure writes, waits, has the second read the reply's arguments if it has
//!   any, and answers the status. `entry::nvml` is the same for NVML, whose reply has arguments also
//!   with NVML_ERROR_INSUFFICIENT_SIZE.
//! * `crate::entry::one_way(op, small_hint, |w| -> Result<(), u32>) -> u32`.
//! * `crate::entry::mint(Kind) -> u64`: a new handle's number.

// The symbols' names, and pointers of C programs: each function trusts those that the API's
// documentation lets it trust, and that is the SAFETY of every block here.
#![allow(
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    clippy::undocumented_unsafe_blocks,
    dead_code,
    missing_docs,
    non_snake_case,
    unsafe_code,
    unused_imports,
    unused_variables
)]

use core::ffi::*;

use gtrace_cuda::types::nvml::*;
use gtrace_cuda::{Kind, wire};
use gtrace_protocol::{Reader, Writer, op_id};

use crate::entry;

pub(crate) unsafe fn nvmlUnitGetCount(unitCount: *mut c_uint) -> nvmlReturn_t {
    if unitCount.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlUnitGetCount") },
        0,
        |_w: &mut Writer| Ok(()),
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, unitCount, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlGetExcludedDeviceCount(deviceCount: *mut c_uint) -> nvmlReturn_t {
    if deviceCount.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlGetExcludedDeviceCount") },
        0,
        |_w: &mut Writer| Ok(()),
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, deviceCount, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlGetExcludedDeviceInfoByIndex(
    index: c_uint,
    info: *mut nvmlExcludedDeviceInfo_t,
) -> nvmlReturn_t {
    if info.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlGetExcludedDeviceInfoByIndex") },
        8,
        |w: &mut Writer| {
            wire::Scalar::put(index, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, info, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlSystemGetConfComputeCapabilities(
    capabilities: *mut nvmlConfComputeSystemCaps_t,
) -> nvmlReturn_t {
    if capabilities.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlSystemGetConfComputeCapabilities") },
        0,
        |_w: &mut Writer| Ok(()),
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, capabilities, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlSystemGetConfComputeGpusReadyState(
    isAcceptingWork: *mut c_uint,
) -> nvmlReturn_t {
    if isAcceptingWork.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlSystemGetConfComputeGpusReadyState") },
        0,
        |_w: &mut Writer| Ok(()),
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, isAcceptingWork, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlSystemGetConfComputeSettings(
    settings: *mut nvmlSystemConfComputeSettings_t,
) -> nvmlReturn_t {
    if settings.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlSystemGetConfComputeSettings") },
        64,
        |w: &mut Writer| {
            if !unsafe { wire::put_versioned(w, settings) } {
                return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
            }
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_versioned(r, settings) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlSystemGetConfComputeState(
    state: *mut nvmlConfComputeSystemState_t,
) -> nvmlReturn_t {
    if state.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlSystemGetConfComputeState") },
        0,
        |_w: &mut Writer| Ok(()),
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, state, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlSystemGetCudaDriverVersion(cudaDriverVersion: *mut c_int) -> nvmlReturn_t {
    if cudaDriverVersion.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlSystemGetCudaDriverVersion") },
        0,
        |_w: &mut Writer| Ok(()),
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, cudaDriverVersion, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlSystemGetCudaDriverVersion_v2(
    cudaDriverVersion: *mut c_int,
) -> nvmlReturn_t {
    if cudaDriverVersion.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlSystemGetCudaDriverVersion_v2") },
        0,
        |_w: &mut Writer| Ok(()),
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, cudaDriverVersion, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlSystemGetDriverBranch(
    branchInfo: *mut nvmlSystemDriverBranchInfo_t,
    length: c_uint,
) -> nvmlReturn_t {
    if branchInfo.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlSystemGetDriverBranch") },
        72,
        |w: &mut Writer| {
            if !unsafe { wire::put_versioned(w, branchInfo) } {
                return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
            }
            wire::Scalar::put(length, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_versioned(r, branchInfo) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlSystemGetDriverVersion(
    version: *mut c_char,
    length: c_uint,
) -> nvmlReturn_t {
    if version.is_null() && wire::Scalar::as_len(length) != 0 {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlSystemGetDriverVersion") },
        8,
        |w: &mut Writer| {
            wire::Scalar::put(length, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_room(r, version, wire::Scalar::as_len(length)) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlSystemGetHicVersion(
    hwbcCount: *mut c_uint,
    hwbcEntries: *mut nvmlHwbcEntry_t,
) -> nvmlReturn_t {
    if hwbcCount.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    let capacity_hwbcEntries = if hwbcEntries.is_null() {
        0
    } else {
        match unsafe { hwbcCount.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return NVML_ERROR_INVALID_ARGUMENT,
        }
    };
    entry::nvml(
        const { op_id("nvmlSystemGetHicVersion") },
        65,
        |w: &mut Writer| {
            unsafe { wire::put(w, hwbcCount, 1) };
            w.u8(u8::from(!hwbcEntries.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, hwbcCount, 1) }?;
            if !hwbcEntries.is_null() {
                let len_hwbcEntries = r.len(capacity_hwbcEntries)?;
                unsafe { wire::take(r, hwbcEntries, len_hwbcEntries) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlSystemGetNVMLVersion(
    version: *mut c_char,
    length: c_uint,
) -> nvmlReturn_t {
    if version.is_null() && wire::Scalar::as_len(length) != 0 {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlSystemGetNVMLVersion") },
        8,
        |w: &mut Writer| {
            wire::Scalar::put(length, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_room(r, version, wire::Scalar::as_len(length)) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlSystemGetNvlinkBwMode(nvlinkBwMode: *mut c_uint) -> nvmlReturn_t {
    if nvlinkBwMode.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlSystemGetNvlinkBwMode") },
        0,
        |_w: &mut Writer| Ok(()),
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, nvlinkBwMode, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlSystemGetProcessName(
    pid: c_uint,
    name: *mut c_char,
    length: c_uint,
) -> nvmlReturn_t {
    if name.is_null() && wire::Scalar::as_len(length) != 0 {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlSystemGetProcessName") },
        16,
        |w: &mut Writer| {
            wire::Scalar::put(pid, w);
            wire::Scalar::put(length, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_room(r, name, wire::Scalar::as_len(length)) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlSystemGetTopologyGpuSet(
    cpuNumber: c_uint,
    count: *mut c_uint,
    deviceArray: *mut nvmlDevice_t,
) -> nvmlReturn_t {
    if count.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    let capacity_deviceArray = if deviceArray.is_null() {
        0
    } else {
        match unsafe { count.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return NVML_ERROR_INVALID_ARGUMENT,
        }
    };
    entry::nvml(
        const { op_id("nvmlSystemGetTopologyGpuSet") },
        73,
        |w: &mut Writer| {
            wire::Scalar::put(cpuNumber, w);
            unsafe { wire::put(w, count, 1) };
            w.u8(u8::from(!deviceArray.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, count, 1) }?;
            if !deviceArray.is_null() {
                let len_deviceArray = r.len(capacity_deviceArray)?;
                for at in 0..len_deviceArray {
                    let known = r.u64()? as usize;
                    unsafe {
                        deviceArray
                            .add(at)
                            .write(core::ptr::with_exposed_provenance_mut(known))
                    };
                }
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetCount(deviceCount: *mut c_uint) -> nvmlReturn_t {
    if deviceCount.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetCount") },
        0,
        |_w: &mut Writer| Ok(()),
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, deviceCount, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetCount_v2(deviceCount: *mut c_uint) -> nvmlReturn_t {
    if deviceCount.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetCount_v2") },
        0,
        |_w: &mut Writer| Ok(()),
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, deviceCount, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetDeviceHandleFromMigDeviceHandle(
    migDevice: nvmlDevice_t,
    device: *mut nvmlDevice_t,
) -> nvmlReturn_t {
    if device.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetDeviceHandleFromMigDeviceHandle") },
        8,
        |w: &mut Writer| {
            w.u64(migDevice.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { device.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetHandleByIndex(
    index: c_uint,
    device: *mut nvmlDevice_t,
) -> nvmlReturn_t {
    if device.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetHandleByIndex") },
        8,
        |w: &mut Writer| {
            wire::Scalar::put(index, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { device.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetHandleByIndex_v2(
    index: c_uint,
    device: *mut nvmlDevice_t,
) -> nvmlReturn_t {
    if device.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetHandleByIndex_v2") },
        8,
        |w: &mut Writer| {
            wire::Scalar::put(index, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { device.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetHandleByPciBusId(
    pciBusId: *const c_char,
    device: *mut nvmlDevice_t,
) -> nvmlReturn_t {
    if pciBusId.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if device.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetHandleByPciBusId") },
        64,
        |w: &mut Writer| {
            unsafe { wire::put_string(w, pciBusId) };
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { device.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetHandleByPciBusId_v2(
    pciBusId: *const c_char,
    device: *mut nvmlDevice_t,
) -> nvmlReturn_t {
    if pciBusId.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if device.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetHandleByPciBusId_v2") },
        64,
        |w: &mut Writer| {
            unsafe { wire::put_string(w, pciBusId) };
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { device.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetHandleBySerial(
    serial: *const c_char,
    device: *mut nvmlDevice_t,
) -> nvmlReturn_t {
    if serial.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if device.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetHandleBySerial") },
        64,
        |w: &mut Writer| {
            unsafe { wire::put_string(w, serial) };
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { device.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetHandleByUUID(
    uuid: *const c_char,
    device: *mut nvmlDevice_t,
) -> nvmlReturn_t {
    if uuid.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if device.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetHandleByUUID") },
        64,
        |w: &mut Writer| {
            unsafe { wire::put_string(w, uuid) };
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { device.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetHandleByUUIDV(
    uuid: *const nvmlUUID_t,
    device: *mut nvmlDevice_t,
) -> nvmlReturn_t {
    if uuid.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if device.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetHandleByUUIDV") },
        64,
        |w: &mut Writer| {
            unsafe { wire::put(w, uuid, 1) };
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { device.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetMigDeviceHandleByIndex(
    device: nvmlDevice_t,
    index: c_uint,
    migDevice: *mut nvmlDevice_t,
) -> nvmlReturn_t {
    if migDevice.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetMigDeviceHandleByIndex") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(index, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let known = r.u64()? as usize;
            unsafe { migDevice.write(core::ptr::with_exposed_provenance_mut(known)) };
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceIsMigDeviceHandle(
    device: nvmlDevice_t,
    isMigDevice: *mut c_uint,
) -> nvmlReturn_t {
    if isMigDevice.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceIsMigDeviceHandle") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, isMigDevice, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetAPIRestriction(
    device: nvmlDevice_t,
    apiType: nvmlRestrictedAPI_t,
    isRestricted: *mut nvmlEnableState_t,
) -> nvmlReturn_t {
    if isRestricted.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetAPIRestriction") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(apiType, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, isRestricted, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetAddressingMode(
    device: nvmlDevice_t,
    mode: *mut nvmlDeviceAddressingMode_t,
) -> nvmlReturn_t {
    if mode.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetAddressingMode") },
        72,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            if !unsafe { wire::put_versioned(w, mode) } {
                return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
            }
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_versioned(r, mode) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetArchitecture(
    device: nvmlDevice_t,
    arch: *mut nvmlDeviceArchitecture_t,
) -> nvmlReturn_t {
    if arch.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetArchitecture") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, arch, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetAttributes_v2(
    device: nvmlDevice_t,
    attributes: *mut nvmlDeviceAttributes_t,
) -> nvmlReturn_t {
    if attributes.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetAttributes_v2") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, attributes, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetBoardId(
    device: nvmlDevice_t,
    boardId: *mut c_uint,
) -> nvmlReturn_t {
    if boardId.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetBoardId") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, boardId, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetBoardPartNumber(
    device: nvmlDevice_t,
    partNumber: *mut c_char,
    length: c_uint,
) -> nvmlReturn_t {
    if partNumber.is_null() && wire::Scalar::as_len(length) != 0 {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetBoardPartNumber") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(length, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_room(r, partNumber, wire::Scalar::as_len(length)) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetBrand(
    device: nvmlDevice_t,
    type_: *mut nvmlBrandType_t,
) -> nvmlReturn_t {
    if type_.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetBrand") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, type_, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetCapabilities(
    device: nvmlDevice_t,
    caps: *mut nvmlDeviceCapabilities_t,
) -> nvmlReturn_t {
    if caps.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetCapabilities") },
        72,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            if !unsafe { wire::put_versioned(w, caps) } {
                return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
            }
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_versioned(r, caps) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetComputeInstanceId(
    device: nvmlDevice_t,
    id: *mut c_uint,
) -> nvmlReturn_t {
    if id.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetComputeInstanceId") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, id, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetComputeMode(
    device: nvmlDevice_t,
    mode: *mut nvmlComputeMode_t,
) -> nvmlReturn_t {
    if mode.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetComputeMode") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, mode, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetConfComputeGpuAttestationReport(
    device: nvmlDevice_t,
    gpuAtstReport: *mut nvmlConfComputeGpuAttestationReport_t,
) -> nvmlReturn_t {
    if gpuAtstReport.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetConfComputeGpuAttestationReport") },
        72,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            unsafe { wire::put(w, gpuAtstReport, 1) };
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, gpuAtstReport, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetConfComputeGpuCertificate(
    device: nvmlDevice_t,
    gpuCert: *mut nvmlConfComputeGpuCertificate_t,
) -> nvmlReturn_t {
    if gpuCert.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetConfComputeGpuCertificate") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, gpuCert, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetCudaComputeCapability(
    device: nvmlDevice_t,
    major: *mut c_int,
    minor: *mut c_int,
) -> nvmlReturn_t {
    if major.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if minor.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetCudaComputeCapability") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, major, 1) }?;
            unsafe { wire::take(r, minor, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetDisplayActive(
    device: nvmlDevice_t,
    isActive: *mut nvmlEnableState_t,
) -> nvmlReturn_t {
    if isActive.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetDisplayActive") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, isActive, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetDisplayMode(
    device: nvmlDevice_t,
    display: *mut nvmlEnableState_t,
) -> nvmlReturn_t {
    if display.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetDisplayMode") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, display, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetDriverModel(
    device: nvmlDevice_t,
    current: *mut nvmlDriverModel_t,
    pending: *mut nvmlDriverModel_t,
) -> nvmlReturn_t {
    entry::nvml(
        const { op_id("nvmlDeviceGetDriverModel") },
        10,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            w.u8(u8::from(!current.is_null()));
            w.u8(u8::from(!pending.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            if !current.is_null() {
                unsafe { wire::take(r, current, 1) }?;
            }
            if !pending.is_null() {
                unsafe { wire::take(r, pending, 1) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetDriverModel_v2(
    device: nvmlDevice_t,
    current: *mut nvmlDriverModel_t,
    pending: *mut nvmlDriverModel_t,
) -> nvmlReturn_t {
    entry::nvml(
        const { op_id("nvmlDeviceGetDriverModel_v2") },
        10,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            w.u8(u8::from(!current.is_null()));
            w.u8(u8::from(!pending.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            if !current.is_null() {
                unsafe { wire::take(r, current, 1) }?;
            }
            if !pending.is_null() {
                unsafe { wire::take(r, pending, 1) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetGpuInstanceId(
    device: nvmlDevice_t,
    id: *mut c_uint,
) -> nvmlReturn_t {
    if id.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetGpuInstanceId") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, id, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetGpuOperationMode(
    device: nvmlDevice_t,
    current: *mut nvmlGpuOperationMode_t,
    pending: *mut nvmlGpuOperationMode_t,
) -> nvmlReturn_t {
    if current.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if pending.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetGpuOperationMode") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, current, 1) }?;
            unsafe { wire::take(r, pending, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetGridLicensableFeatures_v4(
    device: nvmlDevice_t,
    pGridLicensableFeatures: *mut nvmlGridLicensableFeatures_t,
) -> nvmlReturn_t {
    if pGridLicensableFeatures.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetGridLicensableFeatures_v4") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pGridLicensableFeatures, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetGspFirmwareMode(
    device: nvmlDevice_t,
    isEnabled: *mut c_uint,
    defaultMode: *mut c_uint,
) -> nvmlReturn_t {
    if isEnabled.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if defaultMode.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetGspFirmwareMode") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, isEnabled, 1) }?;
            unsafe { wire::take(r, defaultMode, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetGspFirmwareVersion(
    device: nvmlDevice_t,
    version: *mut c_char,
) -> nvmlReturn_t {
    if version.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetGspFirmwareVersion") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_room(r, version, 64) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetHostVgpuMode(
    device: nvmlDevice_t,
    pHostVgpuMode: *mut nvmlHostVgpuMode_t,
) -> nvmlReturn_t {
    if pHostVgpuMode.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetHostVgpuMode") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pHostVgpuMode, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetIndex(device: nvmlDevice_t, index: *mut c_uint) -> nvmlReturn_t {
    if index.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetIndex") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, index, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetInforomConfigurationChecksum(
    device: nvmlDevice_t,
    checksum: *mut c_uint,
) -> nvmlReturn_t {
    if checksum.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetInforomConfigurationChecksum") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, checksum, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetInforomImageVersion(
    device: nvmlDevice_t,
    version: *mut c_char,
    length: c_uint,
) -> nvmlReturn_t {
    if version.is_null() && wire::Scalar::as_len(length) != 0 {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetInforomImageVersion") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(length, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_room(r, version, wire::Scalar::as_len(length)) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetInforomVersion(
    device: nvmlDevice_t,
    object: nvmlInforomObject_t,
    version: *mut c_char,
    length: c_uint,
) -> nvmlReturn_t {
    if version.is_null() && wire::Scalar::as_len(length) != 0 {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetInforomVersion") },
        24,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(object, w);
            wire::Scalar::put(length, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_room(r, version, wire::Scalar::as_len(length)) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetIrqNum(
    device: nvmlDevice_t,
    irqNum: *mut c_uint,
) -> nvmlReturn_t {
    if irqNum.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetIrqNum") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, irqNum, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetLastBBXFlushTime(
    device: nvmlDevice_t,
    timestamp: *mut c_ulonglong,
    durationUs: *mut c_ulong,
) -> nvmlReturn_t {
    if timestamp.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if durationUs.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetLastBBXFlushTime") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, timestamp, 1) }?;
            unsafe { wire::take(r, durationUs, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetMaxMigDeviceCount(
    device: nvmlDevice_t,
    count: *mut c_uint,
) -> nvmlReturn_t {
    if count.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetMaxMigDeviceCount") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, count, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetMigMode(
    device: nvmlDevice_t,
    currentMode: *mut c_uint,
    pendingMode: *mut c_uint,
) -> nvmlReturn_t {
    if currentMode.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if pendingMode.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetMigMode") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, currentMode, 1) }?;
            unsafe { wire::take(r, pendingMode, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetMinorNumber(
    device: nvmlDevice_t,
    minorNumber: *mut c_uint,
) -> nvmlReturn_t {
    if minorNumber.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetMinorNumber") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, minorNumber, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetModuleId(
    device: nvmlDevice_t,
    moduleId: *mut c_uint,
) -> nvmlReturn_t {
    if moduleId.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetModuleId") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, moduleId, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetMultiGpuBoard(
    device: nvmlDevice_t,
    multiGpuBool: *mut c_uint,
) -> nvmlReturn_t {
    if multiGpuBool.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetMultiGpuBoard") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, multiGpuBool, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetName(
    device: nvmlDevice_t,
    name: *mut c_char,
    length: c_uint,
) -> nvmlReturn_t {
    if name.is_null() && wire::Scalar::as_len(length) != 0 {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetName") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(length, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_room(r, name, wire::Scalar::as_len(length)) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetNumGpuCores(
    device: nvmlDevice_t,
    numCores: *mut c_uint,
) -> nvmlReturn_t {
    if numCores.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetNumGpuCores") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, numCores, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetPdi(device: nvmlDevice_t, pdi: *mut nvmlPdi_t) -> nvmlReturn_t {
    if pdi.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetPdi") },
        72,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            if !unsafe { wire::put_versioned(w, pdi) } {
                return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
            }
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_versioned(r, pdi) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetPersistenceMode(
    device: nvmlDevice_t,
    mode: *mut nvmlEnableState_t,
) -> nvmlReturn_t {
    if mode.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetPersistenceMode") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, mode, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetPlatformInfo(
    device: nvmlDevice_t,
    platformInfo: *mut nvmlPlatformInfo_t,
) -> nvmlReturn_t {
    if platformInfo.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetPlatformInfo") },
        72,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            if !unsafe { wire::put_versioned(w, platformInfo) } {
                return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
            }
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_versioned(r, platformInfo) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetSerial(
    device: nvmlDevice_t,
    serial: *mut c_char,
    length: c_uint,
) -> nvmlReturn_t {
    if serial.is_null() && wire::Scalar::as_len(length) != 0 {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetSerial") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(length, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_room(r, serial, wire::Scalar::as_len(length)) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetSupportedEventTypes(
    device: nvmlDevice_t,
    eventTypes: *mut c_ulonglong,
) -> nvmlReturn_t {
    if eventTypes.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetSupportedEventTypes") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, eventTypes, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetUUID(
    device: nvmlDevice_t,
    uuid: *mut c_char,
    length: c_uint,
) -> nvmlReturn_t {
    if uuid.is_null() && wire::Scalar::as_len(length) != 0 {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetUUID") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(length, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_room(r, uuid, wire::Scalar::as_len(length)) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetVbiosVersion(
    device: nvmlDevice_t,
    version: *mut c_char,
    length: c_uint,
) -> nvmlReturn_t {
    if version.is_null() && wire::Scalar::as_len(length) != 0 {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetVbiosVersion") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(length, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_room(r, version, wire::Scalar::as_len(length)) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetVgpuHeterogeneousMode(
    device: nvmlDevice_t,
    pHeterogeneousMode: *mut nvmlVgpuHeterogeneousMode_t,
) -> nvmlReturn_t {
    if pHeterogeneousMode.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetVgpuHeterogeneousMode") },
        72,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            if !unsafe { wire::put_versioned(w, pHeterogeneousMode) } {
                return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
            }
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_versioned(r, pHeterogeneousMode) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetVirtualizationMode(
    device: nvmlDevice_t,
    pVirtualMode: *mut nvmlGpuVirtualizationMode_t,
) -> nvmlReturn_t {
    if pVirtualMode.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetVirtualizationMode") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pVirtualMode, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetVgpuCapabilities(
    device: nvmlDevice_t,
    capability: nvmlDeviceVgpuCapability_t,
    capResult: *mut c_uint,
) -> nvmlReturn_t {
    if capResult.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetVgpuCapabilities") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(capability, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, capResult, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetSupportedVgpus(
    device: nvmlDevice_t,
    vgpuCount: *mut c_uint,
    vgpuTypeIds: *mut nvmlVgpuTypeId_t,
) -> nvmlReturn_t {
    if vgpuCount.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    let capacity_vgpuTypeIds = if vgpuTypeIds.is_null() {
        0
    } else {
        match unsafe { vgpuCount.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return NVML_ERROR_INVALID_ARGUMENT,
        }
    };
    entry::nvml(
        const { op_id("nvmlDeviceGetSupportedVgpus") },
        73,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            unsafe { wire::put(w, vgpuCount, 1) };
            w.u8(u8::from(!vgpuTypeIds.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, vgpuCount, 1) }?;
            if !vgpuTypeIds.is_null() {
                let len_vgpuTypeIds = r.len(capacity_vgpuTypeIds)?;
                unsafe { wire::take(r, vgpuTypeIds, len_vgpuTypeIds) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetCreatableVgpus(
    device: nvmlDevice_t,
    vgpuCount: *mut c_uint,
    vgpuTypeIds: *mut nvmlVgpuTypeId_t,
) -> nvmlReturn_t {
    if vgpuCount.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    let capacity_vgpuTypeIds = if vgpuTypeIds.is_null() {
        0
    } else {
        match unsafe { vgpuCount.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return NVML_ERROR_INVALID_ARGUMENT,
        }
    };
    entry::nvml(
        const { op_id("nvmlDeviceGetCreatableVgpus") },
        73,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            unsafe { wire::put(w, vgpuCount, 1) };
            w.u8(u8::from(!vgpuTypeIds.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, vgpuCount, 1) }?;
            if !vgpuTypeIds.is_null() {
                let len_vgpuTypeIds = r.len(capacity_vgpuTypeIds)?;
                unsafe { wire::take(r, vgpuTypeIds, len_vgpuTypeIds) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetActiveVgpus(
    device: nvmlDevice_t,
    vgpuCount: *mut c_uint,
    vgpuInstances: *mut nvmlVgpuInstance_t,
) -> nvmlReturn_t {
    if vgpuCount.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    let capacity_vgpuInstances = if vgpuInstances.is_null() {
        0
    } else {
        match unsafe { vgpuCount.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return NVML_ERROR_INVALID_ARGUMENT,
        }
    };
    entry::nvml(
        const { op_id("nvmlDeviceGetActiveVgpus") },
        73,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            unsafe { wire::put(w, vgpuCount, 1) };
            w.u8(u8::from(!vgpuInstances.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, vgpuCount, 1) }?;
            if !vgpuInstances.is_null() {
                let len_vgpuInstances = r.len(capacity_vgpuInstances)?;
                unsafe { wire::take(r, vgpuInstances, len_vgpuInstances) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlGpmQueryDeviceSupport(
    device: nvmlDevice_t,
    gpmSupport: *mut nvmlGpmSupport_t,
) -> nvmlReturn_t {
    if gpmSupport.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlGpmQueryDeviceSupport") },
        72,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            unsafe { wire::put(w, gpmSupport, 1) };
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, gpmSupport, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlGpmQueryIfStreamingEnabled(
    device: nvmlDevice_t,
    state: *mut c_uint,
) -> nvmlReturn_t {
    if state.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlGpmQueryIfStreamingEnabled") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, state, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceQueryDrainState(
    pciInfo: *mut nvmlPciInfo_t,
    currentState: *mut nvmlEnableState_t,
) -> nvmlReturn_t {
    if pciInfo.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if currentState.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceQueryDrainState") },
        64,
        |w: &mut Writer| {
            unsafe { wire::put(w, pciInfo, 1) };
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, currentState, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetBAR1MemoryInfo(
    device: nvmlDevice_t,
    bar1Memory: *mut nvmlBAR1Memory_t,
) -> nvmlReturn_t {
    if bar1Memory.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetBAR1MemoryInfo") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, bar1Memory, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetConfComputeMemSizeInfo(
    device: nvmlDevice_t,
    memInfo: *mut nvmlConfComputeMemSizeInfo_t,
) -> nvmlReturn_t {
    if memInfo.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetConfComputeMemSizeInfo") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, memInfo, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetConfComputeProtectedMemoryUsage(
    device: nvmlDevice_t,
    memory: *mut nvmlMemory_t,
) -> nvmlReturn_t {
    if memory.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetConfComputeProtectedMemoryUsage") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, memory, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetDefaultEccMode(
    device: nvmlDevice_t,
    defaultMode: *mut nvmlEnableState_t,
) -> nvmlReturn_t {
    if defaultMode.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetDefaultEccMode") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, defaultMode, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetDetailedEccErrors(
    device: nvmlDevice_t,
    errorType: nvmlMemoryErrorType_t,
    counterType: nvmlEccCounterType_t,
    eccCounts: *mut nvmlEccErrorCounts_t,
) -> nvmlReturn_t {
    if eccCounts.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetDetailedEccErrors") },
        24,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(errorType, w);
            wire::Scalar::put(counterType, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, eccCounts, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetDramEncryptionMode(
    device: nvmlDevice_t,
    current: *mut nvmlDramEncryptionInfo_t,
    pending: *mut nvmlDramEncryptionInfo_t,
) -> nvmlReturn_t {
    if current.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if pending.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetDramEncryptionMode") },
        136,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            if !unsafe { wire::put_versioned(w, current) } {
                return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
            }
            if !unsafe { wire::put_versioned(w, pending) } {
                return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
            }
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_versioned(r, current) }?;
            unsafe { wire::take_versioned(r, pending) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetEccMode(
    device: nvmlDevice_t,
    current: *mut nvmlEnableState_t,
    pending: *mut nvmlEnableState_t,
) -> nvmlReturn_t {
    if current.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if pending.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetEccMode") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, current, 1) }?;
            unsafe { wire::take(r, pending, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetMemoryBusWidth(
    device: nvmlDevice_t,
    busWidth: *mut c_uint,
) -> nvmlReturn_t {
    if busWidth.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetMemoryBusWidth") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, busWidth, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetMemoryErrorCounter(
    device: nvmlDevice_t,
    errorType: nvmlMemoryErrorType_t,
    counterType: nvmlEccCounterType_t,
    locationType: nvmlMemoryLocation_t,
    count: *mut c_ulonglong,
) -> nvmlReturn_t {
    if count.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetMemoryErrorCounter") },
        32,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(errorType, w);
            wire::Scalar::put(counterType, w);
            wire::Scalar::put(locationType, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, count, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetMemoryInfo(
    device: nvmlDevice_t,
    memory: *mut nvmlMemory_t,
) -> nvmlReturn_t {
    if memory.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetMemoryInfo") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, memory, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetMemoryInfo_v2(
    device: nvmlDevice_t,
    memory: *mut nvmlMemory_v2_t,
) -> nvmlReturn_t {
    if memory.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetMemoryInfo_v2") },
        72,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            if !unsafe { wire::put_versioned(w, memory) } {
                return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
            }
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_versioned(r, memory) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetRemappedRows(
    device: nvmlDevice_t,
    corrRows: *mut c_uint,
    uncRows: *mut c_uint,
    isPending: *mut c_uint,
    failureOccurred: *mut c_uint,
) -> nvmlReturn_t {
    if corrRows.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if uncRows.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if isPending.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if failureOccurred.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetRemappedRows") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, corrRows, 1) }?;
            unsafe { wire::take(r, uncRows, 1) }?;
            unsafe { wire::take(r, isPending, 1) }?;
            unsafe { wire::take(r, failureOccurred, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetRepairStatus(
    device: nvmlDevice_t,
    repairStatus: *mut nvmlRepairStatus_t,
) -> nvmlReturn_t {
    if repairStatus.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetRepairStatus") },
        72,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            if !unsafe { wire::put_versioned(w, repairStatus) } {
                return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
            }
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_versioned(r, repairStatus) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetRetiredPages(
    device: nvmlDevice_t,
    cause: nvmlPageRetirementCause_t,
    pageCount: *mut c_uint,
    addresses: *mut c_ulonglong,
) -> nvmlReturn_t {
    if pageCount.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    let capacity_addresses = if addresses.is_null() {
        0
    } else {
        match unsafe { pageCount.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return NVML_ERROR_INVALID_ARGUMENT,
        }
    };
    entry::nvml(
        const { op_id("nvmlDeviceGetRetiredPages") },
        81,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(cause, w);
            unsafe { wire::put(w, pageCount, 1) };
            w.u8(u8::from(!addresses.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pageCount, 1) }?;
            if !addresses.is_null() {
                let len_addresses = r.len(capacity_addresses)?;
                unsafe { wire::take(r, addresses, len_addresses) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetRetiredPagesPendingStatus(
    device: nvmlDevice_t,
    isPending: *mut nvmlEnableState_t,
) -> nvmlReturn_t {
    if isPending.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetRetiredPagesPendingStatus") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, isPending, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetRetiredPages_v2(
    device: nvmlDevice_t,
    cause: nvmlPageRetirementCause_t,
    pageCount: *mut c_uint,
    addresses: *mut c_ulonglong,
    timestamps: *mut c_ulonglong,
) -> nvmlReturn_t {
    if pageCount.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    let capacity_addresses = if addresses.is_null() {
        0
    } else {
        match unsafe { pageCount.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return NVML_ERROR_INVALID_ARGUMENT,
        }
    };
    let capacity_timestamps = if timestamps.is_null() {
        0
    } else {
        match unsafe { pageCount.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return NVML_ERROR_INVALID_ARGUMENT,
        }
    };
    entry::nvml(
        const { op_id("nvmlDeviceGetRetiredPages_v2") },
        82,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(cause, w);
            unsafe { wire::put(w, pageCount, 1) };
            w.u8(u8::from(!addresses.is_null()));
            w.u8(u8::from(!timestamps.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pageCount, 1) }?;
            if !addresses.is_null() {
                let len_addresses = r.len(capacity_addresses)?;
                unsafe { wire::take(r, addresses, len_addresses) }?;
            }
            if !timestamps.is_null() {
                let len_timestamps = r.len(capacity_timestamps)?;
                unsafe { wire::take(r, timestamps, len_timestamps) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetRowRemapperHistogram(
    device: nvmlDevice_t,
    values: *mut nvmlRowRemapperHistogramValues_t,
) -> nvmlReturn_t {
    if values.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetRowRemapperHistogram") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, values, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetSramEccErrorStatus(
    device: nvmlDevice_t,
    status: *mut nvmlEccSramErrorStatus_t,
) -> nvmlReturn_t {
    if status.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetSramEccErrorStatus") },
        72,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            if !unsafe { wire::put_versioned(w, status) } {
                return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
            }
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_versioned(r, status) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetTotalEccErrors(
    device: nvmlDevice_t,
    errorType: nvmlMemoryErrorType_t,
    counterType: nvmlEccCounterType_t,
    eccCounts: *mut c_ulonglong,
) -> nvmlReturn_t {
    if eccCounts.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetTotalEccErrors") },
        24,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(errorType, w);
            wire::Scalar::put(counterType, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, eccCounts, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetAdaptiveClockInfoStatus(
    device: nvmlDevice_t,
    adaptiveClockStatus: *mut c_uint,
) -> nvmlReturn_t {
    if adaptiveClockStatus.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetAdaptiveClockInfoStatus") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, adaptiveClockStatus, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetApplicationsClock(
    device: nvmlDevice_t,
    clockType: nvmlClockType_t,
    clockMHz: *mut c_uint,
) -> nvmlReturn_t {
    if clockMHz.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetApplicationsClock") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(clockType, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, clockMHz, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetAutoBoostedClocksEnabled(
    device: nvmlDevice_t,
    isEnabled: *mut nvmlEnableState_t,
    defaultIsEnabled: *mut nvmlEnableState_t,
) -> nvmlReturn_t {
    if isEnabled.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if defaultIsEnabled.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetAutoBoostedClocksEnabled") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, isEnabled, 1) }?;
            unsafe { wire::take(r, defaultIsEnabled, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetClkMonStatus(
    device: nvmlDevice_t,
    status: *mut nvmlClkMonStatus_t,
) -> nvmlReturn_t {
    if status.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetClkMonStatus") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, status, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetClock(
    device: nvmlDevice_t,
    clockType: nvmlClockType_t,
    clockId: nvmlClockId_t,
    clockMHz: *mut c_uint,
) -> nvmlReturn_t {
    if clockMHz.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetClock") },
        24,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(clockType, w);
            wire::Scalar::put(clockId, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, clockMHz, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetClockInfo(
    device: nvmlDevice_t,
    type_: nvmlClockType_t,
    clock: *mut c_uint,
) -> nvmlReturn_t {
    if clock.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetClockInfo") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(type_, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, clock, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetClockOffsets(
    device: nvmlDevice_t,
    info: *mut nvmlClockOffset_t,
) -> nvmlReturn_t {
    if info.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetClockOffsets") },
        72,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            if !unsafe { wire::put_versioned(w, info) } {
                return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
            }
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_versioned(r, info) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetCoolerInfo(
    device: nvmlDevice_t,
    coolerInfo: *mut nvmlCoolerInfo_t,
) -> nvmlReturn_t {
    if coolerInfo.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetCoolerInfo") },
        72,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            if !unsafe { wire::put_versioned(w, coolerInfo) } {
                return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
            }
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_versioned(r, coolerInfo) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetCurrentClockFreqs(
    device: nvmlDevice_t,
    currentClockFreqs: *mut nvmlDeviceCurrentClockFreqs_t,
) -> nvmlReturn_t {
    if currentClockFreqs.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetCurrentClockFreqs") },
        72,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            if !unsafe { wire::put_versioned(w, currentClockFreqs) } {
                return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
            }
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_versioned(r, currentClockFreqs) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetCurrentClocksEventReasons(
    device: nvmlDevice_t,
    clocksEventReasons: *mut c_ulonglong,
) -> nvmlReturn_t {
    if clocksEventReasons.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetCurrentClocksEventReasons") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, clocksEventReasons, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetCurrentClocksThrottleReasons(
    device: nvmlDevice_t,
    clocksThrottleReasons: *mut c_ulonglong,
) -> nvmlReturn_t {
    if clocksThrottleReasons.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetCurrentClocksThrottleReasons") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, clocksThrottleReasons, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetDefaultApplicationsClock(
    device: nvmlDevice_t,
    clockType: nvmlClockType_t,
    clockMHz: *mut c_uint,
) -> nvmlReturn_t {
    if clockMHz.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetDefaultApplicationsClock") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(clockType, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, clockMHz, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetDynamicPstatesInfo(
    device: nvmlDevice_t,
    pDynamicPstatesInfo: *mut nvmlGpuDynamicPstatesInfo_t,
) -> nvmlReturn_t {
    if pDynamicPstatesInfo.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetDynamicPstatesInfo") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pDynamicPstatesInfo, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetEnforcedPowerLimit(
    device: nvmlDevice_t,
    limit: *mut c_uint,
) -> nvmlReturn_t {
    if limit.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetEnforcedPowerLimit") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, limit, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetFanControlPolicy_v2(
    device: nvmlDevice_t,
    fan: c_uint,
    policy: *mut nvmlFanControlPolicy_t,
) -> nvmlReturn_t {
    if policy.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetFanControlPolicy_v2") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(fan, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, policy, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetFanSpeed(
    device: nvmlDevice_t,
    speed: *mut c_uint,
) -> nvmlReturn_t {
    if speed.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetFanSpeed") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, speed, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetFanSpeedRPM(
    device: nvmlDevice_t,
    fanSpeed: *mut nvmlFanSpeedInfo_t,
) -> nvmlReturn_t {
    if fanSpeed.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetFanSpeedRPM") },
        72,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            if !unsafe { wire::put_versioned(w, fanSpeed) } {
                return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
            }
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_versioned(r, fanSpeed) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetFanSpeed_v2(
    device: nvmlDevice_t,
    fan: c_uint,
    speed: *mut c_uint,
) -> nvmlReturn_t {
    if speed.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetFanSpeed_v2") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(fan, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, speed, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetGpcClkMinMaxVfOffset(
    device: nvmlDevice_t,
    minOffset: *mut c_int,
    maxOffset: *mut c_int,
) -> nvmlReturn_t {
    if minOffset.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if maxOffset.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetGpcClkMinMaxVfOffset") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, minOffset, 1) }?;
            unsafe { wire::take(r, maxOffset, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetGpcClkVfOffset(
    device: nvmlDevice_t,
    offset: *mut c_int,
) -> nvmlReturn_t {
    if offset.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetGpcClkVfOffset") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, offset, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetMarginTemperature(
    device: nvmlDevice_t,
    marginTempInfo: *mut nvmlMarginTemperature_t,
) -> nvmlReturn_t {
    if marginTempInfo.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetMarginTemperature") },
        72,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            if !unsafe { wire::put_versioned(w, marginTempInfo) } {
                return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
            }
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_versioned(r, marginTempInfo) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetMaxClockInfo(
    device: nvmlDevice_t,
    type_: nvmlClockType_t,
    clock: *mut c_uint,
) -> nvmlReturn_t {
    if clock.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetMaxClockInfo") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(type_, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, clock, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetMaxCustomerBoostClock(
    device: nvmlDevice_t,
    clockType: nvmlClockType_t,
    clockMHz: *mut c_uint,
) -> nvmlReturn_t {
    if clockMHz.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetMaxCustomerBoostClock") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(clockType, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, clockMHz, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetMemClkMinMaxVfOffset(
    device: nvmlDevice_t,
    minOffset: *mut c_int,
    maxOffset: *mut c_int,
) -> nvmlReturn_t {
    if minOffset.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if maxOffset.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetMemClkMinMaxVfOffset") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, minOffset, 1) }?;
            unsafe { wire::take(r, maxOffset, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetMemClkVfOffset(
    device: nvmlDevice_t,
    offset: *mut c_int,
) -> nvmlReturn_t {
    if offset.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetMemClkVfOffset") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, offset, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetMinMaxClockOfPState(
    device: nvmlDevice_t,
    type_: nvmlClockType_t,
    pstate: nvmlPstates_t,
    minClockMHz: *mut c_uint,
    maxClockMHz: *mut c_uint,
) -> nvmlReturn_t {
    if minClockMHz.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if maxClockMHz.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetMinMaxClockOfPState") },
        24,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(type_, w);
            wire::Scalar::put(pstate, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, minClockMHz, 1) }?;
            unsafe { wire::take(r, maxClockMHz, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetMinMaxFanSpeed(
    device: nvmlDevice_t,
    minSpeed: *mut c_uint,
    maxSpeed: *mut c_uint,
) -> nvmlReturn_t {
    if minSpeed.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if maxSpeed.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetMinMaxFanSpeed") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, minSpeed, 1) }?;
            unsafe { wire::take(r, maxSpeed, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetNumFans(
    device: nvmlDevice_t,
    numFans: *mut c_uint,
) -> nvmlReturn_t {
    if numFans.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetNumFans") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, numFans, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetPerformanceModes(
    device: nvmlDevice_t,
    perfModes: *mut nvmlDevicePerfModes_t,
) -> nvmlReturn_t {
    if perfModes.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetPerformanceModes") },
        72,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            if !unsafe { wire::put_versioned(w, perfModes) } {
                return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
            }
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_versioned(r, perfModes) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetPerformanceState(
    device: nvmlDevice_t,
    pState: *mut nvmlPstates_t,
) -> nvmlReturn_t {
    if pState.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetPerformanceState") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pState, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetPowerManagementDefaultLimit(
    device: nvmlDevice_t,
    defaultLimit: *mut c_uint,
) -> nvmlReturn_t {
    if defaultLimit.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetPowerManagementDefaultLimit") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, defaultLimit, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetPowerManagementLimit(
    device: nvmlDevice_t,
    limit: *mut c_uint,
) -> nvmlReturn_t {
    if limit.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetPowerManagementLimit") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, limit, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetPowerManagementLimitConstraints(
    device: nvmlDevice_t,
    minLimit: *mut c_uint,
    maxLimit: *mut c_uint,
) -> nvmlReturn_t {
    if minLimit.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if maxLimit.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetPowerManagementLimitConstraints") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, minLimit, 1) }?;
            unsafe { wire::take(r, maxLimit, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetPowerManagementMode(
    device: nvmlDevice_t,
    mode: *mut nvmlEnableState_t,
) -> nvmlReturn_t {
    if mode.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetPowerManagementMode") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, mode, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetPowerMizerMode_v1(
    device: nvmlDevice_t,
    powerMizerMode: *mut nvmlDevicePowerMizerModes_v1_t,
) -> nvmlReturn_t {
    if powerMizerMode.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetPowerMizerMode_v1") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, powerMizerMode, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetPowerSource(
    device: nvmlDevice_t,
    powerSource: *mut nvmlPowerSource_t,
) -> nvmlReturn_t {
    if powerSource.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetPowerSource") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, powerSource, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetPowerState(
    device: nvmlDevice_t,
    pState: *mut nvmlPstates_t,
) -> nvmlReturn_t {
    if pState.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetPowerState") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pState, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetPowerUsage(
    device: nvmlDevice_t,
    power: *mut c_uint,
) -> nvmlReturn_t {
    if power.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetPowerUsage") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, power, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetSupportedClocksEventReasons(
    device: nvmlDevice_t,
    supportedClocksEventReasons: *mut c_ulonglong,
) -> nvmlReturn_t {
    if supportedClocksEventReasons.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetSupportedClocksEventReasons") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, supportedClocksEventReasons, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetSupportedClocksThrottleReasons(
    device: nvmlDevice_t,
    supportedClocksThrottleReasons: *mut c_ulonglong,
) -> nvmlReturn_t {
    if supportedClocksThrottleReasons.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetSupportedClocksThrottleReasons") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, supportedClocksThrottleReasons, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetSupportedGraphicsClocks(
    device: nvmlDevice_t,
    memoryClockMHz: c_uint,
    count: *mut c_uint,
    clocksMHz: *mut c_uint,
) -> nvmlReturn_t {
    if count.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    let capacity_clocksMHz = if clocksMHz.is_null() {
        0
    } else {
        match unsafe { count.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return NVML_ERROR_INVALID_ARGUMENT,
        }
    };
    entry::nvml(
        const { op_id("nvmlDeviceGetSupportedGraphicsClocks") },
        81,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(memoryClockMHz, w);
            unsafe { wire::put(w, count, 1) };
            w.u8(u8::from(!clocksMHz.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, count, 1) }?;
            if !clocksMHz.is_null() {
                let len_clocksMHz = r.len(capacity_clocksMHz)?;
                unsafe { wire::take(r, clocksMHz, len_clocksMHz) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetSupportedMemoryClocks(
    device: nvmlDevice_t,
    count: *mut c_uint,
    clocksMHz: *mut c_uint,
) -> nvmlReturn_t {
    if count.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    let capacity_clocksMHz = if clocksMHz.is_null() {
        0
    } else {
        match unsafe { count.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return NVML_ERROR_INVALID_ARGUMENT,
        }
    };
    entry::nvml(
        const { op_id("nvmlDeviceGetSupportedMemoryClocks") },
        73,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            unsafe { wire::put(w, count, 1) };
            w.u8(u8::from(!clocksMHz.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, count, 1) }?;
            if !clocksMHz.is_null() {
                let len_clocksMHz = r.len(capacity_clocksMHz)?;
                unsafe { wire::take(r, clocksMHz, len_clocksMHz) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetSupportedPerformanceStates(
    device: nvmlDevice_t,
    pstates: *mut nvmlPstates_t,
    size: c_uint,
) -> nvmlReturn_t {
    if pstates.is_null() && wire::Scalar::as_len(size) != 0 {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetSupportedPerformanceStates") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(size, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let len_pstates = r.len(wire::Scalar::as_len(size))?;
            unsafe { wire::take(r, pstates.cast::<u8>(), len_pstates) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetTargetFanSpeed(
    device: nvmlDevice_t,
    fan: c_uint,
    targetSpeed: *mut c_uint,
) -> nvmlReturn_t {
    if targetSpeed.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetTargetFanSpeed") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(fan, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, targetSpeed, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetTemperature(
    device: nvmlDevice_t,
    sensorType: nvmlTemperatureSensors_t,
    temp: *mut c_uint,
) -> nvmlReturn_t {
    if temp.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetTemperature") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(sensorType, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, temp, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetTemperatureThreshold(
    device: nvmlDevice_t,
    thresholdType: nvmlTemperatureThresholds_t,
    temp: *mut c_uint,
) -> nvmlReturn_t {
    if temp.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetTemperatureThreshold") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(thresholdType, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, temp, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetTemperatureV(
    device: nvmlDevice_t,
    temperature: *mut nvmlTemperature_t,
) -> nvmlReturn_t {
    if temperature.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetTemperatureV") },
        72,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            if !unsafe { wire::put_versioned(w, temperature) } {
                return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
            }
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_versioned(r, temperature) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetThermalSettings(
    device: nvmlDevice_t,
    sensorIndex: c_uint,
    pThermalSettings: *mut nvmlGpuThermalSettings_t,
) -> nvmlReturn_t {
    if pThermalSettings.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetThermalSettings") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(sensorIndex, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pThermalSettings, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetTotalEnergyConsumption(
    device: nvmlDevice_t,
    energy: *mut c_ulonglong,
) -> nvmlReturn_t {
    if energy.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetTotalEnergyConsumption") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, energy, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetViolationStatus(
    device: nvmlDevice_t,
    perfPolicyType: nvmlPerfPolicyType_t,
    violTime: *mut nvmlViolationTime_t,
) -> nvmlReturn_t {
    if violTime.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetViolationStatus") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(perfPolicyType, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, violTime, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceWorkloadPowerProfileGetCurrentProfiles(
    device: nvmlDevice_t,
    currentProfiles: *mut nvmlWorkloadPowerProfileCurrentProfiles_t,
) -> nvmlReturn_t {
    if currentProfiles.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceWorkloadPowerProfileGetCurrentProfiles") },
        72,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            if !unsafe { wire::put_versioned(w, currentProfiles) } {
                return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
            }
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_versioned(r, currentProfiles) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceWorkloadPowerProfileGetProfilesInfo(
    device: nvmlDevice_t,
    profilesInfo: *mut nvmlWorkloadPowerProfileProfilesInfo_t,
) -> nvmlReturn_t {
    if profilesInfo.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceWorkloadPowerProfileGetProfilesInfo") },
        72,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            if !unsafe { wire::put_versioned(w, profilesInfo) } {
                return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
            }
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_versioned(r, profilesInfo) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetBridgeChipInfo(
    device: nvmlDevice_t,
    bridgeHierarchy: *mut nvmlBridgeChipHierarchy_t,
) -> nvmlReturn_t {
    if bridgeHierarchy.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetBridgeChipInfo") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, bridgeHierarchy, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetBusType(
    device: nvmlDevice_t,
    type_: *mut nvmlBusType_t,
) -> nvmlReturn_t {
    if type_.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetBusType") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, type_, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetC2cModeInfoV(
    device: nvmlDevice_t,
    c2cModeInfo: *mut nvmlC2cModeInfo_v1_t,
) -> nvmlReturn_t {
    if c2cModeInfo.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetC2cModeInfoV") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, c2cModeInfo, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetCpuAffinity(
    device: nvmlDevice_t,
    cpuSetSize: c_uint,
    cpuSet: *mut c_ulong,
) -> nvmlReturn_t {
    if cpuSet.is_null() && wire::Scalar::as_len(cpuSetSize) != 0 {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetCpuAffinity") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(cpuSetSize, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let len_cpuSet = r.len(wire::Scalar::as_len(cpuSetSize))?;
            unsafe { wire::take(r, cpuSet, len_cpuSet) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetCpuAffinityWithinScope(
    device: nvmlDevice_t,
    cpuSetSize: c_uint,
    cpuSet: *mut c_ulong,
    scope: nvmlAffinityScope_t,
) -> nvmlReturn_t {
    if cpuSet.is_null() && wire::Scalar::as_len(cpuSetSize) != 0 {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetCpuAffinityWithinScope") },
        24,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(cpuSetSize, w);
            wire::Scalar::put(scope, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let len_cpuSet = r.len(wire::Scalar::as_len(cpuSetSize))?;
            unsafe { wire::take(r, cpuSet, len_cpuSet) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetCurrPcieLinkGeneration(
    device: nvmlDevice_t,
    currLinkGen: *mut c_uint,
) -> nvmlReturn_t {
    if currLinkGen.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetCurrPcieLinkGeneration") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, currLinkGen, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetCurrPcieLinkWidth(
    device: nvmlDevice_t,
    currLinkWidth: *mut c_uint,
) -> nvmlReturn_t {
    if currLinkWidth.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetCurrPcieLinkWidth") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, currLinkWidth, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetGpuFabricInfo(
    device: nvmlDevice_t,
    gpuFabricInfo: *mut nvmlGpuFabricInfo_t,
) -> nvmlReturn_t {
    if gpuFabricInfo.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetGpuFabricInfo") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, gpuFabricInfo, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetGpuFabricInfoV(
    device: nvmlDevice_t,
    gpuFabricInfo: *mut nvmlGpuFabricInfoV_t,
) -> nvmlReturn_t {
    if gpuFabricInfo.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetGpuFabricInfoV") },
        72,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            if !unsafe { wire::put_versioned(w, gpuFabricInfo) } {
                return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
            }
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_versioned(r, gpuFabricInfo) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetGpuMaxPcieLinkGeneration(
    device: nvmlDevice_t,
    maxLinkGenDevice: *mut c_uint,
) -> nvmlReturn_t {
    if maxLinkGenDevice.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetGpuMaxPcieLinkGeneration") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, maxLinkGenDevice, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetMaxPcieLinkGeneration(
    device: nvmlDevice_t,
    maxLinkGen: *mut c_uint,
) -> nvmlReturn_t {
    if maxLinkGen.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetMaxPcieLinkGeneration") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, maxLinkGen, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetMaxPcieLinkWidth(
    device: nvmlDevice_t,
    maxLinkWidth: *mut c_uint,
) -> nvmlReturn_t {
    if maxLinkWidth.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetMaxPcieLinkWidth") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, maxLinkWidth, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetMemoryAffinity(
    device: nvmlDevice_t,
    nodeSetSize: c_uint,
    nodeSet: *mut c_ulong,
    scope: nvmlAffinityScope_t,
) -> nvmlReturn_t {
    if nodeSet.is_null() && wire::Scalar::as_len(nodeSetSize) != 0 {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetMemoryAffinity") },
        24,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(nodeSetSize, w);
            wire::Scalar::put(scope, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let len_nodeSet = r.len(wire::Scalar::as_len(nodeSetSize))?;
            unsafe { wire::take(r, nodeSet, len_nodeSet) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetNumaNodeId(
    device: nvmlDevice_t,
    node: *mut c_uint,
) -> nvmlReturn_t {
    if node.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetNumaNodeId") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, node, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetNvLinkCapability(
    device: nvmlDevice_t,
    link: c_uint,
    capability: nvmlNvLinkCapability_t,
    capResult: *mut c_uint,
) -> nvmlReturn_t {
    if capResult.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetNvLinkCapability") },
        24,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(link, w);
            wire::Scalar::put(capability, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, capResult, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetNvLinkErrorCounter(
    device: nvmlDevice_t,
    link: c_uint,
    counter: nvmlNvLinkErrorCounter_t,
    counterValue: *mut c_ulonglong,
) -> nvmlReturn_t {
    if counterValue.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetNvLinkErrorCounter") },
        24,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(link, w);
            wire::Scalar::put(counter, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, counterValue, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetNvLinkInfo(
    device: nvmlDevice_t,
    info: *mut nvmlNvLinkInfo_t,
) -> nvmlReturn_t {
    if info.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetNvLinkInfo") },
        72,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            if !unsafe { wire::put_versioned(w, info) } {
                return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
            }
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_versioned(r, info) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetNvLinkRemoteDeviceType(
    device: nvmlDevice_t,
    link: c_uint,
    pNvLinkDeviceType: *mut nvmlIntNvLinkDeviceType_t,
) -> nvmlReturn_t {
    if pNvLinkDeviceType.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetNvLinkRemoteDeviceType") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(link, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pNvLinkDeviceType, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetNvLinkRemotePciInfo_v2(
    device: nvmlDevice_t,
    link: c_uint,
    pci: *mut nvmlPciInfo_t,
) -> nvmlReturn_t {
    if pci.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetNvLinkRemotePciInfo_v2") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(link, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pci, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetNvLinkState(
    device: nvmlDevice_t,
    link: c_uint,
    isActive: *mut nvmlEnableState_t,
) -> nvmlReturn_t {
    if isActive.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetNvLinkState") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(link, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, isActive, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetNvLinkUtilizationControl(
    device: nvmlDevice_t,
    link: c_uint,
    counter: c_uint,
    control: *mut nvmlNvLinkUtilizationControl_t,
) -> nvmlReturn_t {
    if control.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetNvLinkUtilizationControl") },
        24,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(link, w);
            wire::Scalar::put(counter, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, control, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetNvLinkUtilizationCounter(
    device: nvmlDevice_t,
    link: c_uint,
    counter: c_uint,
    rxcounter: *mut c_ulonglong,
    txcounter: *mut c_ulonglong,
) -> nvmlReturn_t {
    if rxcounter.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if txcounter.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetNvLinkUtilizationCounter") },
        24,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(link, w);
            wire::Scalar::put(counter, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, rxcounter, 1) }?;
            unsafe { wire::take(r, txcounter, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetNvLinkVersion(
    device: nvmlDevice_t,
    link: c_uint,
    version: *mut c_uint,
) -> nvmlReturn_t {
    if version.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetNvLinkVersion") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(link, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, version, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetNvlinkBwMode(
    device: nvmlDevice_t,
    getBwMode: *mut nvmlNvlinkGetBwMode_t,
) -> nvmlReturn_t {
    if getBwMode.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetNvlinkBwMode") },
        72,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            if !unsafe { wire::put_versioned(w, getBwMode) } {
                return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
            }
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_versioned(r, getBwMode) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetNvlinkSupportedBwModes(
    device: nvmlDevice_t,
    supportedBwMode: *mut nvmlNvlinkSupportedBwModes_t,
) -> nvmlReturn_t {
    if supportedBwMode.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetNvlinkSupportedBwModes") },
        72,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            if !unsafe { wire::put_versioned(w, supportedBwMode) } {
                return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
            }
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_versioned(r, supportedBwMode) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetP2PStatus(
    device1: nvmlDevice_t,
    device2: nvmlDevice_t,
    p2pIndex: nvmlGpuP2PCapsIndex_t,
    p2pStatus: *mut nvmlGpuP2PStatus_t,
) -> nvmlReturn_t {
    if p2pStatus.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetP2PStatus") },
        24,
        |w: &mut Writer| {
            w.u64(device1.addr() as u64);
            w.u64(device2.addr() as u64);
            wire::Scalar::put(p2pIndex, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, p2pStatus, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetPciInfoExt(
    device: nvmlDevice_t,
    pci: *mut nvmlPciInfoExt_t,
) -> nvmlReturn_t {
    if pci.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetPciInfoExt") },
        72,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            if !unsafe { wire::put_versioned(w, pci) } {
                return Err(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
            }
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take_versioned(r, pci) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetPciInfo_v3(
    device: nvmlDevice_t,
    pci: *mut nvmlPciInfo_t,
) -> nvmlReturn_t {
    if pci.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetPciInfo_v3") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pci, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetPcieLinkMaxSpeed(
    device: nvmlDevice_t,
    maxSpeed: *mut c_uint,
) -> nvmlReturn_t {
    if maxSpeed.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetPcieLinkMaxSpeed") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, maxSpeed, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetPcieReplayCounter(
    device: nvmlDevice_t,
    value: *mut c_uint,
) -> nvmlReturn_t {
    if value.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetPcieReplayCounter") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, value, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetPcieSpeed(
    device: nvmlDevice_t,
    pcieSpeed: *mut c_uint,
) -> nvmlReturn_t {
    if pcieSpeed.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetPcieSpeed") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pcieSpeed, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetPcieThroughput(
    device: nvmlDevice_t,
    counter: nvmlPcieUtilCounter_t,
    value: *mut c_uint,
) -> nvmlReturn_t {
    if value.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetPcieThroughput") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(counter, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, value, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetTopologyCommonAncestor(
    device1: nvmlDevice_t,
    device2: nvmlDevice_t,
    pathInfo: *mut nvmlGpuTopologyLevel_t,
) -> nvmlReturn_t {
    if pathInfo.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetTopologyCommonAncestor") },
        16,
        |w: &mut Writer| {
            w.u64(device1.addr() as u64);
            w.u64(device2.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, pathInfo, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetTopologyNearestGpus(
    device: nvmlDevice_t,
    level: nvmlGpuTopologyLevel_t,
    count: *mut c_uint,
    deviceArray: *mut nvmlDevice_t,
) -> nvmlReturn_t {
    if count.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    let capacity_deviceArray = if deviceArray.is_null() {
        0
    } else {
        match unsafe { count.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return NVML_ERROR_INVALID_ARGUMENT,
        }
    };
    entry::nvml(
        const { op_id("nvmlDeviceGetTopologyNearestGpus") },
        81,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(level, w);
            unsafe { wire::put(w, count, 1) };
            w.u8(u8::from(!deviceArray.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, count, 1) }?;
            if !deviceArray.is_null() {
                let len_deviceArray = r.len(capacity_deviceArray)?;
                for at in 0..len_deviceArray {
                    let known = r.u64()? as usize;
                    unsafe {
                        deviceArray
                            .add(at)
                            .write(core::ptr::with_exposed_provenance_mut(known))
                    };
                }
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceOnSameBoard(
    device1: nvmlDevice_t,
    device2: nvmlDevice_t,
    onSameBoard: *mut c_int,
) -> nvmlReturn_t {
    if onSameBoard.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceOnSameBoard") },
        16,
        |w: &mut Writer| {
            w.u64(device1.addr() as u64);
            w.u64(device2.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, onSameBoard, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetAccountingBufferSize(
    device: nvmlDevice_t,
    bufferSize: *mut c_uint,
) -> nvmlReturn_t {
    if bufferSize.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetAccountingBufferSize") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, bufferSize, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetAccountingMode(
    device: nvmlDevice_t,
    mode: *mut nvmlEnableState_t,
) -> nvmlReturn_t {
    if mode.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetAccountingMode") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, mode, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetAccountingPids(
    device: nvmlDevice_t,
    count: *mut c_uint,
    pids: *mut c_uint,
) -> nvmlReturn_t {
    if count.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    let capacity_pids = if pids.is_null() {
        0
    } else {
        match unsafe { count.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return NVML_ERROR_INVALID_ARGUMENT,
        }
    };
    entry::nvml(
        const { op_id("nvmlDeviceGetAccountingPids") },
        73,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            unsafe { wire::put(w, count, 1) };
            w.u8(u8::from(!pids.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, count, 1) }?;
            if !pids.is_null() {
                let len_pids = r.len(capacity_pids)?;
                unsafe { wire::take(r, pids, len_pids) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetAccountingStats(
    device: nvmlDevice_t,
    pid: c_uint,
    stats: *mut nvmlAccountingStats_t,
) -> nvmlReturn_t {
    if stats.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetAccountingStats") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(pid, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, stats, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetComputeRunningProcesses(
    device: nvmlDevice_t,
    infoCount: *mut c_uint,
    infos: *mut nvmlProcessInfo_v1_t,
) -> nvmlReturn_t {
    if infoCount.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    let capacity_infos = if infos.is_null() {
        0
    } else {
        match unsafe { infoCount.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return NVML_ERROR_INVALID_ARGUMENT,
        }
    };
    entry::nvml(
        const { op_id("nvmlDeviceGetComputeRunningProcesses") },
        73,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            unsafe { wire::put(w, infoCount, 1) };
            w.u8(u8::from(!infos.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, infoCount, 1) }?;
            if !infos.is_null() {
                let len_infos = r.len(capacity_infos)?;
                unsafe { wire::take(r, infos, len_infos) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetComputeRunningProcesses_v2(
    device: nvmlDevice_t,
    infoCount: *mut c_uint,
    infos: *mut nvmlProcessInfo_v2_t,
) -> nvmlReturn_t {
    if infoCount.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    let capacity_infos = if infos.is_null() {
        0
    } else {
        match unsafe { infoCount.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return NVML_ERROR_INVALID_ARGUMENT,
        }
    };
    entry::nvml(
        const { op_id("nvmlDeviceGetComputeRunningProcesses_v2") },
        73,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            unsafe { wire::put(w, infoCount, 1) };
            w.u8(u8::from(!infos.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, infoCount, 1) }?;
            if !infos.is_null() {
                let len_infos = r.len(capacity_infos)?;
                unsafe { wire::take(r, infos, len_infos) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetComputeRunningProcesses_v3(
    device: nvmlDevice_t,
    infoCount: *mut c_uint,
    infos: *mut nvmlProcessInfo_t,
) -> nvmlReturn_t {
    if infoCount.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    let capacity_infos = if infos.is_null() {
        0
    } else {
        match unsafe { infoCount.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return NVML_ERROR_INVALID_ARGUMENT,
        }
    };
    entry::nvml(
        const { op_id("nvmlDeviceGetComputeRunningProcesses_v3") },
        73,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            unsafe { wire::put(w, infoCount, 1) };
            w.u8(u8::from(!infos.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, infoCount, 1) }?;
            if !infos.is_null() {
                let len_infos = r.len(capacity_infos)?;
                unsafe { wire::take(r, infos, len_infos) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetDecoderUtilization(
    device: nvmlDevice_t,
    utilization: *mut c_uint,
    samplingPeriodUs: *mut c_uint,
) -> nvmlReturn_t {
    if utilization.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if samplingPeriodUs.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetDecoderUtilization") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, utilization, 1) }?;
            unsafe { wire::take(r, samplingPeriodUs, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetEncoderCapacity(
    device: nvmlDevice_t,
    encoderQueryType: nvmlEncoderType_t,
    encoderCapacity: *mut c_uint,
) -> nvmlReturn_t {
    if encoderCapacity.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetEncoderCapacity") },
        16,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(encoderQueryType, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, encoderCapacity, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetEncoderSessions(
    device: nvmlDevice_t,
    sessionCount: *mut c_uint,
    sessionInfos: *mut nvmlEncoderSessionInfo_t,
) -> nvmlReturn_t {
    if sessionCount.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    let capacity_sessionInfos = if sessionInfos.is_null() {
        0
    } else {
        match unsafe { sessionCount.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return NVML_ERROR_INVALID_ARGUMENT,
        }
    };
    entry::nvml(
        const { op_id("nvmlDeviceGetEncoderSessions") },
        73,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            unsafe { wire::put(w, sessionCount, 1) };
            w.u8(u8::from(!sessionInfos.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, sessionCount, 1) }?;
            if !sessionInfos.is_null() {
                let len_sessionInfos = r.len(capacity_sessionInfos)?;
                unsafe { wire::take(r, sessionInfos, len_sessionInfos) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetEncoderStats(
    device: nvmlDevice_t,
    sessionCount: *mut c_uint,
    averageFps: *mut c_uint,
    averageLatency: *mut c_uint,
) -> nvmlReturn_t {
    if sessionCount.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if averageFps.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if averageLatency.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetEncoderStats") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, sessionCount, 1) }?;
            unsafe { wire::take(r, averageFps, 1) }?;
            unsafe { wire::take(r, averageLatency, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetEncoderUtilization(
    device: nvmlDevice_t,
    utilization: *mut c_uint,
    samplingPeriodUs: *mut c_uint,
) -> nvmlReturn_t {
    if utilization.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if samplingPeriodUs.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetEncoderUtilization") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, utilization, 1) }?;
            unsafe { wire::take(r, samplingPeriodUs, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetFBCSessions(
    device: nvmlDevice_t,
    sessionCount: *mut c_uint,
    sessionInfo: *mut nvmlFBCSessionInfo_t,
) -> nvmlReturn_t {
    if sessionCount.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    let capacity_sessionInfo = if sessionInfo.is_null() {
        0
    } else {
        match unsafe { sessionCount.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return NVML_ERROR_INVALID_ARGUMENT,
        }
    };
    entry::nvml(
        const { op_id("nvmlDeviceGetFBCSessions") },
        73,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            unsafe { wire::put(w, sessionCount, 1) };
            w.u8(u8::from(!sessionInfo.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, sessionCount, 1) }?;
            if !sessionInfo.is_null() {
                let len_sessionInfo = r.len(capacity_sessionInfo)?;
                unsafe { wire::take(r, sessionInfo, len_sessionInfo) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetFBCStats(
    device: nvmlDevice_t,
    fbcStats: *mut nvmlFBCStats_t,
) -> nvmlReturn_t {
    if fbcStats.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetFBCStats") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, fbcStats, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetFieldValues(
    device: nvmlDevice_t,
    valuesCount: c_int,
    values: *mut nvmlFieldValue_t,
) -> nvmlReturn_t {
    if values.is_null() && wire::Scalar::as_len(valuesCount) != 0 {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if !wire::fits(values, wire::Scalar::as_len(valuesCount)) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetFieldValues") },
        80,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(valuesCount, w);
            w.u64(wire::Scalar::as_len(valuesCount) as u64);
            unsafe { wire::put(w, values, wire::Scalar::as_len(valuesCount)) };
            Ok(())
        },
        |r: &mut Reader<'_>| {
            let len_values = r.len(wire::Scalar::as_len(valuesCount))?;
            unsafe { wire::take(r, values, len_values) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetGraphicsRunningProcesses(
    device: nvmlDevice_t,
    infoCount: *mut c_uint,
    infos: *mut nvmlProcessInfo_v1_t,
) -> nvmlReturn_t {
    if infoCount.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    let capacity_infos = if infos.is_null() {
        0
    } else {
        match unsafe { infoCount.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return NVML_ERROR_INVALID_ARGUMENT,
        }
    };
    entry::nvml(
        const { op_id("nvmlDeviceGetGraphicsRunningProcesses") },
        73,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            unsafe { wire::put(w, infoCount, 1) };
            w.u8(u8::from(!infos.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, infoCount, 1) }?;
            if !infos.is_null() {
                let len_infos = r.len(capacity_infos)?;
                unsafe { wire::take(r, infos, len_infos) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetGraphicsRunningProcesses_v2(
    device: nvmlDevice_t,
    infoCount: *mut c_uint,
    infos: *mut nvmlProcessInfo_v2_t,
) -> nvmlReturn_t {
    if infoCount.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    let capacity_infos = if infos.is_null() {
        0
    } else {
        match unsafe { infoCount.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return NVML_ERROR_INVALID_ARGUMENT,
        }
    };
    entry::nvml(
        const { op_id("nvmlDeviceGetGraphicsRunningProcesses_v2") },
        73,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            unsafe { wire::put(w, infoCount, 1) };
            w.u8(u8::from(!infos.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, infoCount, 1) }?;
            if !infos.is_null() {
                let len_infos = r.len(capacity_infos)?;
                unsafe { wire::take(r, infos, len_infos) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetGraphicsRunningProcesses_v3(
    device: nvmlDevice_t,
    infoCount: *mut c_uint,
    infos: *mut nvmlProcessInfo_t,
) -> nvmlReturn_t {
    if infoCount.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    let capacity_infos = if infos.is_null() {
        0
    } else {
        match unsafe { infoCount.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return NVML_ERROR_INVALID_ARGUMENT,
        }
    };
    entry::nvml(
        const { op_id("nvmlDeviceGetGraphicsRunningProcesses_v3") },
        73,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            unsafe { wire::put(w, infoCount, 1) };
            w.u8(u8::from(!infos.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, infoCount, 1) }?;
            if !infos.is_null() {
                let len_infos = r.len(capacity_infos)?;
                unsafe { wire::take(r, infos, len_infos) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetJpgUtilization(
    device: nvmlDevice_t,
    utilization: *mut c_uint,
    samplingPeriodUs: *mut c_uint,
) -> nvmlReturn_t {
    if utilization.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if samplingPeriodUs.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetJpgUtilization") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, utilization, 1) }?;
            unsafe { wire::take(r, samplingPeriodUs, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetMPSComputeRunningProcesses(
    device: nvmlDevice_t,
    infoCount: *mut c_uint,
    infos: *mut nvmlProcessInfo_v1_t,
) -> nvmlReturn_t {
    if infoCount.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    let capacity_infos = if infos.is_null() {
        0
    } else {
        match unsafe { infoCount.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return NVML_ERROR_INVALID_ARGUMENT,
        }
    };
    entry::nvml(
        const { op_id("nvmlDeviceGetMPSComputeRunningProcesses") },
        73,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            unsafe { wire::put(w, infoCount, 1) };
            w.u8(u8::from(!infos.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, infoCount, 1) }?;
            if !infos.is_null() {
                let len_infos = r.len(capacity_infos)?;
                unsafe { wire::take(r, infos, len_infos) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetMPSComputeRunningProcesses_v2(
    device: nvmlDevice_t,
    infoCount: *mut c_uint,
    infos: *mut nvmlProcessInfo_v2_t,
) -> nvmlReturn_t {
    if infoCount.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    let capacity_infos = if infos.is_null() {
        0
    } else {
        match unsafe { infoCount.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return NVML_ERROR_INVALID_ARGUMENT,
        }
    };
    entry::nvml(
        const { op_id("nvmlDeviceGetMPSComputeRunningProcesses_v2") },
        73,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            unsafe { wire::put(w, infoCount, 1) };
            w.u8(u8::from(!infos.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, infoCount, 1) }?;
            if !infos.is_null() {
                let len_infos = r.len(capacity_infos)?;
                unsafe { wire::take(r, infos, len_infos) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetMPSComputeRunningProcesses_v3(
    device: nvmlDevice_t,
    infoCount: *mut c_uint,
    infos: *mut nvmlProcessInfo_t,
) -> nvmlReturn_t {
    if infoCount.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    let capacity_infos = if infos.is_null() {
        0
    } else {
        match unsafe { infoCount.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return NVML_ERROR_INVALID_ARGUMENT,
        }
    };
    entry::nvml(
        const { op_id("nvmlDeviceGetMPSComputeRunningProcesses_v3") },
        73,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            unsafe { wire::put(w, infoCount, 1) };
            w.u8(u8::from(!infos.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, infoCount, 1) }?;
            if !infos.is_null() {
                let len_infos = r.len(capacity_infos)?;
                unsafe { wire::take(r, infos, len_infos) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetOfaUtilization(
    device: nvmlDevice_t,
    utilization: *mut c_uint,
    samplingPeriodUs: *mut c_uint,
) -> nvmlReturn_t {
    if utilization.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if samplingPeriodUs.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetOfaUtilization") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, utilization, 1) }?;
            unsafe { wire::take(r, samplingPeriodUs, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetProcessUtilization(
    device: nvmlDevice_t,
    utilization: *mut nvmlProcessUtilizationSample_t,
    processSamplesCount: *mut c_uint,
    lastSeenTimeStamp: c_ulonglong,
) -> nvmlReturn_t {
    let capacity_utilization = if utilization.is_null() {
        0
    } else {
        match unsafe { processSamplesCount.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return NVML_ERROR_INVALID_ARGUMENT,
        }
    };
    if processSamplesCount.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetProcessUtilization") },
        81,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            w.u8(u8::from(!utilization.is_null()));
            unsafe { wire::put(w, processSamplesCount, 1) };
            wire::Scalar::put(lastSeenTimeStamp, w);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            if !utilization.is_null() {
                let len_utilization = r.len(capacity_utilization)?;
                unsafe { wire::take(r, utilization, len_utilization) }?;
            }
            unsafe { wire::take(r, processSamplesCount, 1) }?;
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetSamples(
    device: nvmlDevice_t,
    type_: nvmlSamplingType_t,
    lastSeenTimeStamp: c_ulonglong,
    sampleValType: *mut nvmlValueType_t,
    sampleCount: *mut c_uint,
    samples: *mut nvmlSample_t,
) -> nvmlReturn_t {
    if sampleValType.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if sampleCount.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    let capacity_samples = if samples.is_null() {
        0
    } else {
        match unsafe { sampleCount.as_ref() } {
            Some(count) => wire::Scalar::as_len(*count),
            None => return NVML_ERROR_INVALID_ARGUMENT,
        }
    };
    entry::nvml(
        const { op_id("nvmlDeviceGetSamples") },
        89,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            wire::Scalar::put(type_, w);
            wire::Scalar::put(lastSeenTimeStamp, w);
            unsafe { wire::put(w, sampleCount, 1) };
            w.u8(u8::from(!samples.is_null()));
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, sampleValType, 1) }?;
            unsafe { wire::take(r, sampleCount, 1) }?;
            if !samples.is_null() {
                let len_samples = r.len(capacity_samples)?;
                unsafe { wire::take(r, samples, len_samples) }?;
            }
            Ok(())
        },
    )
}

pub(crate) unsafe fn nvmlDeviceGetUtilizationRates(
    device: nvmlDevice_t,
    utilization: *mut nvmlUtilization_t,
) -> nvmlReturn_t {
    if utilization.is_null() {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    entry::nvml(
        const { op_id("nvmlDeviceGetUtilizationRates") },
        8,
        |w: &mut Writer| {
            w.u64(device.addr() as u64);
            Ok(())
        },
        |r: &mut Reader<'_>| {
            unsafe { wire::take(r, utilization, 1) }?;
            Ok(())
        },
    )
}
