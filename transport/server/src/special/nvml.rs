//! NVML's start and end, of which the client counts its own calls, and what a client may see of it.

#![allow(non_snake_case, reason = "NVML's names")]
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_uint};
use std::ptr;

use gtrace_cuda::Kind;
use gtrace_cuda::types::nvml::nvmlDevice_t;
use gtrace_protocol::{OpId, Reader, Writer, op_id};

use crate::exec::{CallError, Code, Exec};
use crate::generated::nvml::{self, Nvml};

/// NVML_ERROR_LIBRARY_NOT_FOUND
const LIBRARY_NOT_FOUND: Code = 12;

/// Starts NVML.
pub(crate) fn nvmlInit_v2(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    _: &mut Writer,
) -> Result<Code, CallError> {
    r.end()?;
    let code = match exec.nvml.nvmlInit_v2 {
        // SAFETY: a call without arguments.
        Some(call) => unsafe { call() }.cast_signed(),
        None => LIBRARY_NOT_FOUND,
    };
    let start = &exec.session.start;
    if code == 0 && start.limits.gpus.is_some() {
        let permitted = |uuid: &str| {
            let mut devices = start.permitted.iter();
            devices.any(|device| device.uuid.eq_ignore_ascii_case(uuid))
        };
        let visible = devices(exec.nvml, permitted);
        exec.handles.show_only(visible);
    }
    Ok(code)
}

/// Devices whose UUID is `permitted`, in NVML's order.
fn devices(nvml: &Nvml, permitted: impl Fn(&str) -> bool) -> Vec<usize> {
    let (Some(count_of), Some(device_of), Some(uuid_of)) = (
        nvml.nvmlDeviceGetCount_v2,
        nvml.nvmlDeviceGetHandleByIndex_v2,
        nvml.nvmlDeviceGetUUID,
    ) else {
        return Vec::new();
    };
    let mut count: c_uint = 0;
    // SAFETY: an int to write to.
    if unsafe { count_of(&raw mut count) } != 0 {
        return Vec::new();
    }
    let mut found = Vec::new();
    for index in 0..count {
        let mut device: nvmlDevice_t = ptr::null_mut();
        let mut room: [c_char; 96] = [0; 96];
        // SAFETY: a handle to write to.
        let got = unsafe { device_of(index, &raw mut device) } == 0
            // SAFETY: room of the size that is reported, and a zero behind it.
            && unsafe { uuid_of(device, room.as_mut_ptr(), 95) } == 0;
        // SAFETY: as above.
        let uuid = unsafe { CStr::from_ptr(room.as_ptr()) };
        if got && uuid.to_str().is_ok_and(&permitted) {
            found.push(device.addr());
        }
    }
    found
}

/// NVML_ERROR_INVALID_ARGUMENT
const INVALID_ARGUMENT: Code = 2;
/// NVML_ERROR_NOT_FOUND
const NOT_FOUND: Code = 6;

const COUNT: OpId = op_id("nvmlDeviceGetCount_v2");
const COUNT_V1: OpId = op_id("nvmlDeviceGetCount");
const BY_INDEX: OpId = op_id("nvmlDeviceGetHandleByIndex_v2");
const BY_INDEX_V1: OpId = op_id("nvmlDeviceGetHandleByIndex");
const BY_PCI: OpId = op_id("nvmlDeviceGetHandleByPciBusId_v2");
const BY_PCI_V1: OpId = op_id("nvmlDeviceGetHandleByPciBusId");
const BY_SERIAL: OpId = op_id("nvmlDeviceGetHandleBySerial");
const BY_UUID: OpId = op_id("nvmlDeviceGetHandleByUUID");
const BY_UUID_V: OpId = op_id("nvmlDeviceGetHandleByUUIDV");
const INDEX: OpId = op_id("nvmlDeviceGetIndex");

/// A call of NVML. A client that may not see all devices counts and finds those that it may see:
/// unlike CUDA, NVML knows no CUDA_VISIBLE_DEVICES.
pub(crate) fn nvml_call(
    exec: &mut Exec,
    op: OpId,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, CallError> {
    let Some(visible) = exec.handles.visible() else {
        return nvml::dispatch(op, exec, r, w);
    };
    match op {
        COUNT | COUNT_V1 => {
            w.u32(u32::try_from(visible.len()).unwrap_or(u32::MAX));
            Ok(0)
        }
        BY_INDEX | BY_INDEX_V1 => {
            let index = r.u32()? as usize;
            let Some(device) = visible.get(index) else {
                return Ok(INVALID_ARGUMENT);
            };
            let device = ptr::without_provenance_mut(*device);
            w.u64(exec.handles.known(Kind::NvmlDevice, device));
            Ok(0)
        }
        INDEX => {
            let real = exec.handles.real(Kind::NvmlDevice, r.u64()?);
            let found = real.map(|real| visible.iter().position(|device| *device == real.addr()));
            match found {
                Ok(Some(index)) => {
                    w.u32(u32::try_from(index).unwrap_or(u32::MAX));
                    Ok(0)
                }
                _ => Ok(INVALID_ARGUMENT),
            }
        }
        BY_PCI | BY_PCI_V1 | BY_SERIAL | BY_UUID | BY_UUID_V => {
            let code = nvml::dispatch(op, exec, r, w)?;
            // A hidden device has the number 0.
            if code == 0 && w.as_slice().iter().all(|byte| *byte == 0) {
                w.truncate(0);
                return Ok(NOT_FOUND);
            }
            Ok(code)
        }
        op => nvml::dispatch(op, exec, r, w),
    }
}

/// Ends NVML.
pub(crate) fn nvmlShutdown(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    _: &mut Writer,
) -> Result<Code, CallError> {
    r.end()?;
    Ok(match exec.nvml.nvmlShutdown {
        // SAFETY: a call without arguments.
        Some(call) => unsafe { call() }.cast_signed(),
        None => LIBRARY_NOT_FOUND,
    })
}
