//! Waiting for events of the server's devices.

// Writes results through pointers of the program.
#![allow(unsafe_code)]

use std::ffi::c_uint;
use std::mem::{offset_of, size_of};
use std::time::{Duration, Instant};

use gtrace_cuda::types::nvml::{self, nvmlEventData_t, nvmlEventSet_t, nvmlReturn_t};
use gtrace_cuda::wire;
use gtrace_protocol::{OpId, op_id};

use super::older::beginning;
use crate::entry;

/// The server is asked to wait for no longer at a time, so that the end of the connection is noticed.
const PART: Duration = Duration::from_secs(1);

/// A time that never ends, ms.
const FOR_EVER: c_uint = c_uint::MAX;

/// `nvmlEventData_t` of the first version.
const DATA_1: usize = offset_of!(nvmlEventData_t, gpuInstanceId);

/// Waits for one part.
///
/// # Safety
///
/// `data` is writable.
unsafe fn wait(set: nvmlEventSet_t, data: *mut nvmlEventData_t, time: Duration) -> nvmlReturn_t {
    const OP: OpId = op_id("nvmlEventSetWait_v2");
    // Not less than what is left, which would be asked for again and again.
    let ms = time.as_nanos().div_ceil(1_000_000) as c_uint;
    entry::nvml(
        OP,
        size_of::<u64>() + size_of::<u32>(),
        |w| {
            w.u64(set.addr() as u64);
            w.u32(ms);
            Ok(())
        },
        // SAFETY: integers, and a handle that is one; the caller's promise.
        |r| unsafe { wire::take(r, data, 1) },
    )
}

pub(crate) unsafe fn nvmlEventSetWait_v2(
    set: nvmlEventSet_t,
    data: *mut nvmlEventData_t,
    timeoutms: c_uint,
) -> nvmlReturn_t {
    if let Err(code) = super::ready() {
        return code;
    }
    if data.is_null() {
        return nvml::NVML_ERROR_INVALID_ARGUMENT;
    }
    let time = Duration::from_millis(timeoutms.into());
    let end = (timeoutms != FOR_EVER).then(|| Instant::now() + time);
    loop {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        // SAFETY: a pointer of the program.
        let code = unsafe { wait(set, data, left.unwrap_or(PART).min(PART)) };
        if code != nvml::NVML_ERROR_TIMEOUT || left.is_some_and(|left| left <= PART) {
            return code;
        }
    }
}

pub(crate) unsafe fn nvmlEventSetWait(
    set: nvmlEventSet_t,
    data: *mut nvmlEventData_t,
    timeoutms: c_uint,
) -> nvmlReturn_t {
    // SAFETY: the program's pointer, and a structure of this function.
    unsafe {
        beginning(data, DATA_1, |whole| {
            nvmlEventSetWait_v2(set, whole, timeoutms)
        })
    }
}
