//! Page-locked memory of the client that kernels use.

// Calls of the driver with memory that was mapped for them.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::sync::Arc;

use gtrace_cuda::types::driver as cuda;
use gtrace_protocol::{Payload as _, Reader, Writer};

use super::{INVALID_VALUE, NOT_SUPPORTED, SUCCESS};
use crate::exec::{Called, Code, Exec};
use crate::generated::driver::Driver;
use crate::worker::handles::OUT_OF_MEMORY;
use crate::worker::host_memory::Refused;
use crate::worker::watermark::relaxed;

/// CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED: as after the end of the context in which it was.
const NOT_REGISTERED: u32 = 713;

fn register(driver: &Driver, at: *mut c_void, len: usize) -> Code {
    let Some(register) = driver.cuMemHostRegister_v2 else {
        return NOT_SUPPORTED;
    };
    let flags = cuda::CU_MEMHOSTREGISTER_PORTABLE | cuda::CU_MEMHOSTREGISTER_DEVICEMAP;
    // SAFETY: memory that was mapped for this and stays until it is unregistered.
    let code = unsafe { register(at, len, flags) };
    if code != 0 {
        return code.cast_signed();
    }
    let mut device = 0;
    // SAFETY: as above, and a local variable.
    let same = driver
        .cuMemHostGetDevicePointer_v2
        .is_some_and(|ask| unsafe {
            ask(&raw mut device, at, 0) == 0 && device == at.addr() as u64
        });
    // Devices without CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM have it at another address.
    if !same {
        unregister(driver, at);
        return NOT_SUPPORTED;
    }
    SUCCESS
}

/// False if the driver may still use the memory.
fn unregister(driver: &Driver, at: *mut c_void) -> bool {
    driver
        .cuMemHostUnregister
        // SAFETY: memory that was registered.
        .is_some_and(|unregister| matches!(unsafe { unregister(at) }, 0 | NOT_REGISTERED))
}

/// Maps and registers memory at addresses of the client. Of what it counts towards the client's limit each page does so once,
/// however many ranges have it.
pub(crate) fn map_host(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    let (bytes, address) = <(u64, u64)>::whole(r)?;
    let (session, driver) = (Arc::clone(&exec.session), exec.driver);
    let span = session
        .host_memory
        .span((address, bytes))
        .ok_or(INVALID_VALUE)?;
    if !session.memory.reserve(span) {
        return Ok(OUT_OF_MEMORY);
    }
    let added = relaxed(driver, || {
        let range = (address, bytes);
        session
            .host_memory
            .add(range, |at, len| register(driver, at, len))
    });
    let new = added.unwrap_or(0);
    session.memory.give_back(span - new);
    Ok(match added {
        Ok(_) => {
            w.u64(address);
            w.u8((new == span).into());
            SUCCESS
        }
        Err(Refused::Range) => INVALID_VALUE,
        Err(Refused::Taken) => OUT_OF_MEMORY,
        Err(Refused::Driver(code)) => code,
    })
}

/// Takes it away, once the work of the context is done.
pub(crate) fn unmap_host(exec: &mut Exec, r: &mut Reader<'_>) -> Called {
    let (address, bytes) = <(u64, u64)>::whole(r)?;
    let (session, driver) = (Arc::clone(&exec.session), exec.driver);
    let removed = relaxed(driver, || {
        // While a stream is captured nobody may wait for its context; to unregister memory the driver waits itself.
        let wait = driver.cuCtxSynchronize;
        if let Some(synchronize) = wait.filter(|_| !session.event_lifetime.is_capturing()) {
            // SAFETY: a call without arguments. What it says of earlier calls they have said themselves.
            unsafe { synchronize() };
        }
        session
            .host_memory
            .remove((address, bytes), |at| unregister(driver, at))
    });
    Ok(match removed {
        Some(bytes) => {
            session.memory.give_back(bytes);
            SUCCESS
        }
        None => INVALID_VALUE,
    })
}
