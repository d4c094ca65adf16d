//! Events of the server's devices, and of the server itself: GPUs that are bound to the driver or unbound from it.

// Writes results through pointers of the program.
#![allow(unsafe_code)]

use std::ffi::c_uint;
use std::mem::offset_of;
use std::ptr::without_provenance_mut;
use std::time::{Duration, Instant};

use gtrace_cuda::payload::first_version;
use gtrace_cuda::types::nvml::{
    self, nvmlEventData_t, nvmlEventSet_t, nvmlReturn_t, nvmlSystemEventSetCreateRequest_t,
    nvmlSystemEventSetFreeRequest_t, nvmlSystemEventSetWaitRequest_t,
    nvmlSystemRegisterEventRequest_t,
};
use gtrace_cuda::{Kind, wire};
use gtrace_protocol::{OpId, Writer, op_id};

use super::older::beginning;
use crate::entry;
use crate::status::fail_if;

/// The server is asked to wait for no longer at a time, so that the end of the connection is noticed.
const PART: Duration = Duration::from_secs(1);

/// A time that never ends, ms.
const FOR_EVER: c_uint = c_uint::MAX;

/// `nvmlEventData_t` of the first version.
const DATA_1: usize = offset_of!(nvmlEventData_t, gpuInstanceId);

/// Waits in parts, for so many milliseconds each, until `wait` has something or the time is over.
fn in_parts(timeoutms: c_uint, mut wait: impl FnMut(c_uint) -> nvmlReturn_t) -> nvmlReturn_t {
    let time = Duration::from_millis(timeoutms.into());
    let end = (timeoutms != FOR_EVER).then(|| Instant::now() + time);
    loop {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        let part = left.unwrap_or(PART).min(PART);
        // Not less than what is left, which would be asked for again and again.
        let code = wait(part.as_nanos().div_ceil(1_000_000) as c_uint);
        if code != nvml::NVML_ERROR_TIMEOUT || left.is_some_and(|left| left <= PART) {
            return code;
        }
    }
}

/// Waits for one part.
///
/// # Safety
///
/// `data` is writable.
unsafe fn wait(set: nvmlEventSet_t, data: *mut nvmlEventData_t, ms: c_uint) -> nvmlReturn_t {
    const OP: OpId = op_id("nvmlEventSetWait_v2");
    entry::nvml(
        OP,
        &mut |w| {
            w.u64(set.addr() as u64);
            w.u32(ms);
            Ok(())
        },
        // SAFETY: integers, and a handle that is one; the caller's promise.
        &mut |r| unsafe { wire::take(r, data, 1) },
    )
}

pub(crate) unsafe fn nvmlEventSetWait_v2(
    set: nvmlEventSet_t,
    data: *mut nvmlEventData_t,
    timeoutms: c_uint,
) -> nvmlReturn_t {
    let invalid = fail_if(data.is_null(), nvml::NVML_ERROR_INVALID_ARGUMENT);
    if let Err(code) = super::ready().and(invalid) {
        return code;
    }
    // SAFETY: a pointer of the program.
    in_parts(timeoutms, |ms| unsafe { wait(set, data, ms) })
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

/// Does `call` with a request of the program about events of the system, if it is of the version that is known.
///
/// # Safety
///
/// `request` is null or points to a structure that says its version.
unsafe fn asked<R: Copy>(request: *mut R, call: impl FnOnce(R) -> nvmlReturn_t) -> nvmlReturn_t {
    let null = fail_if(request.is_null(), nvml::NVML_ERROR_INVALID_ARGUMENT);
    if let Err(code) = super::ready().and(null) {
        return code;
    }
    // SAFETY: each begins with its version, by which a structure of another size is recognised.
    if unsafe { request.cast::<u32>().read() } != first_version::<R>() {
        return nvml::NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    }
    // SAFETY: the caller's promise.
    call(unsafe { request.read() })
}

/// Calls a function that has only what `write` writes, and answers nothing more.
fn without_answer(op: OpId, mut write: impl FnMut(&mut Writer)) -> nvmlReturn_t {
    let mut written = |w: &mut Writer| {
        write(w);
        Ok(())
    };
    entry::nvml(op, &mut written, &mut |_| Ok(()))
}

pub(crate) unsafe fn nvmlSystemEventSetCreate(
    request: *mut nvmlSystemEventSetCreateRequest_t,
) -> nvmlReturn_t {
    const OP: OpId = op_id("nvmlSystemEventSetCreate");
    let create = |_| {
        let set = entry::mint(Kind::NvmlSystemEventSet);
        let code = without_answer(OP, |w| w.u64(set));
        if code == nvml::NVML_SUCCESS {
            // SAFETY: the program's structure.
            unsafe { (*request).set = without_provenance_mut(set as usize) };
        }
        code
    };
    // SAFETY: a structure of the program.
    unsafe { asked(request, create) }
}

pub(crate) unsafe fn nvmlSystemEventSetFree(
    request: *mut nvmlSystemEventSetFreeRequest_t,
) -> nvmlReturn_t {
    const OP: OpId = op_id("nvmlSystemEventSetFree");
    // SAFETY: a structure of the program.
    unsafe {
        asked(request, |asked| {
            without_answer(OP, |w| w.u64(asked.set.addr() as u64))
        })
    }
}

pub(crate) unsafe fn nvmlSystemRegisterEvents(
    request: *mut nvmlSystemRegisterEventRequest_t,
) -> nvmlReturn_t {
    const OP: OpId = op_id("nvmlSystemRegisterEvents");
    let register = |asked: nvmlSystemRegisterEventRequest_t| {
        without_answer(OP, |w| {
            w.u64(asked.set.addr() as u64);
            w.u64(asked.eventTypes);
        })
    };
    // SAFETY: a structure of the program.
    unsafe { asked(request, register) }
}

pub(crate) unsafe fn nvmlSystemEventSetWait(
    request: *mut nvmlSystemEventSetWaitRequest_t,
) -> nvmlReturn_t {
    let wait = |asked| {
        let (code, events) = wait_for_system(&asked);
        // SAFETY: the program's structure.
        unsafe { (*request).numEvent = events };
        code
    };
    // SAFETY: a structure of the program.
    unsafe { asked(request, wait) }
}

/// The code, and how many events there are.
fn wait_for_system(asked: &nvmlSystemEventSetWaitRequest_t) -> (nvmlReturn_t, c_uint) {
    const OP: OpId = op_id("nvmlSystemEventSetWait");
    let room = match asked.data.is_null() {
        true => 0,
        false => asked.dataSize,
    };
    let mut events = 0;
    let code = in_parts(asked.timeoutms, |ms| {
        entry::nvml(
            OP,
            &mut |w| {
                w.u64(asked.set.addr() as u64);
                w.u32(ms);
                w.u32(room);
                Ok(())
            },
            &mut |r| {
                events = r.u32()?;
                let count = r.len(room as usize)?;
                // SAFETY: integers, and the list has room for as many as the program says.
                unsafe { wire::take(r, asked.data, count) }
            },
        )
    });
    // Where there is too little room it is as much as is needed. Whatever else the server says, the program reads no more than it
    // has room for.
    if code != nvml::NVML_ERROR_INSUFFICIENT_SIZE {
        events = events.min(room);
    }
    (code, events)
}
