//! Initialisation, versions, error texts, units.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::{
    INSUFFICIENT_SIZE, INVALID_ARGUMENT, NOT_FOUND, NOT_SUPPORTED, Reply, enter, leave, nvml, state,
};
use crate::abi::{In, Out};
use crate::attributes::driver_version;
use crate::error::fail_if;

/// Version of the driver and of NVML as they are reported: no driver of NVIDIA has it.
pub(crate) const DRIVER: &str = "580.0-softgpu";

/// Interface between `nvidia-smi` and its library: c4fe3e6c-c98f-6c4e-a327-ee696e12f7c4. Without one it reports a mismatch
/// of versions, and of a function that is not supported it shows `N/A`.
const SMI_TABLE: [u8; 16] = [
    0xc4, 0xfe, 0x3e, 0x6c, 0xc9, 0x8f, 0x6c, 0x4e, 0xa3, 0x27, 0xee, 0x69, 0x6e, 0x12, 0xf7, 0xc4,
];
static SMI_FUNCTIONS: [extern "C" fn() -> u32; 512] = [not_supported; 512];

extern "C" fn not_supported() -> u32 {
    // NVML_ERROR_NOT_SUPPORTED
    3
}

/// Gives a text into a buffer of `length` bytes.
pub(crate) fn put_text(out: Out<c_char>, length: c_uint, text: &str) -> Reply {
    fail_if(out.is_null(), INVALID_ARGUMENT)?;
    fail_if(text.len() >= length as usize, INSUFFICIENT_SIZE)?;
    Ok(out.put_text(length as usize, text)?)
}

nvml! {
    /// Initialises NVML; each call wants one of `nvmlShutdown`.
    fn nvmlInit, nvmlInit_v2() {
        enter()
    }

    /// Initialises NVML.
    fn nvmlInitWithFlags(flags: c_uint) {
        let _ = flags;
        enter()
    }

    /// Ends the use of NVML.
    fn nvmlShutdown() {
        leave()
    }

    /// Version of the driver.
    fn nvmlSystemGetDriverVersion(version: Out<c_char>, length: c_uint) {
        state()?;
        put_text(version, length, DRIVER)
    }

    /// Version of NVML.
    fn nvmlSystemGetNVMLVersion(version: Out<c_char>, length: c_uint) {
        put_text(version, length, &format!("13.{DRIVER}"))
    }

    /// Version of CUDA.
    fn nvmlSystemGetCudaDriverVersion, nvmlSystemGetCudaDriverVersion_v2(version: Out<c_int>) {
        Ok(version.put(driver_version())?)
    }

    /// Name of a process, cut to the buffer.
    fn nvmlSystemGetProcessName(pid: c_uint, name: Out<c_char>, length: c_uint) {
        state()?;
        fail_if(name.is_null() || length == 0, INVALID_ARGUMENT)?;
        let link = std::fs::read_link(format!("/proc/{pid}/exe"));
        let text = match link {
            Ok(path) => path.to_string_lossy().into_owned(),
            Err(_) => {
                let comm = std::fs::read_to_string(format!("/proc/{pid}/comm"));
                comm.map_err(|_| NOT_FOUND)?.trim_end().to_owned()
            }
        };
        Ok(name.put_text(length as usize, &text)?)
    }

    /// Host interface cards of rack units: none.
    fn nvmlSystemGetHicVersion(count: Out<c_uint>, entries: Out<c_void>) {
        let _ = entries;
        state()?;
        Ok(count.put(0)?)
    }

    /// Rack units: none.
    fn nvmlUnitGetCount(count: Out<c_uint>) {
        state()?;
        Ok(count.put(0)?)
    }

    /// Devices that the driver was asked to leave out: none.
    fn nvmlGetExcludedDeviceCount, nvmlGetBlacklistDeviceCount(count: Out<c_uint>) {
        state()?;
        Ok(count.put(0)?)
    }

    /// Confidential computing: not there.
    fn nvmlSystemGetConfComputeState(out: Out<c_void>) {
        let _ = out;
        state()?;
        Err(NOT_SUPPORTED)
    }

    /// Interfaces of NVIDIA's own programs: one for `nvidia-smi` of functions that are not supported, no others.
    fn nvmlInternalGetExportTable(table: Out<*const c_void>, id: In<[u8; 16]>) {
        fail_if(id.get()? != SMI_TABLE, NOT_FOUND)?;
        Ok(table.put(SMI_FUNCTIONS.as_ptr().cast())?)
    }
}

/// Text of an `nvmlReturn_t`.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlErrorString(result: u32) -> *const c_char {
    gtrace_tables::results::nvml(result).as_ptr()
}
