//! Physical memory that other clients can open.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::sync::Arc;

use gtrace_cuda::types::driver as cuda;
use gtrace_protocol::{Payload as _, Reader, Writer};
use tracing::warn;

use super::{INVALID_VALUE, NOT_SUPPORTED, SUCCESS, checked, code_of};
use crate::exec::{Called, Code, Exec};
use crate::worker::handles::{HANDLES_MAX, OUT_OF_MEMORY};
use crate::worker::shared_memory::Shared;

/// CUDA_ERROR_OPERATING_SYSTEM
const OPERATING_SYSTEM: Code = 304;

/// A ticket for memory, by which every client of the same credential can open it.
pub(crate) fn export_memory(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    let handle = u64::whole(r)?;
    let session = Arc::clone(&exec.session);
    // It must not end meanwhile.
    let mut physical = session.physical.lock();
    let bytes = physical.bytes(handle).ok_or(INVALID_VALUE)?;
    let export = exec
        .driver
        .cuMemExportToShareableHandle
        .ok_or(NOT_SUPPORTED)?;
    let mut fd = -1;
    let kind = cuda::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    // SAFETY: a handle that the driver has given, and room for a descriptor.
    checked(unsafe { export((&raw mut fd).cast::<c_void>(), handle, kind, 0) })?;
    // SAFETY: the driver has made it for the caller.
    let memory = unsafe { OwnedFd::from_raw_fd(fd) };
    let shared = Shared { memory, bytes };
    Ok(match session.shared_memory.keep(&shared) {
        Ok(ticket) => {
            physical.export(handle);
            w.raw(&ticket);
            SUCCESS
        }
        Err(error) => {
            warn!("memory is not shared: {error}");
            OPERATING_SYSTEM
        }
    })
}

/// A handle for the memory of a ticket.
pub(crate) fn import_memory(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    let ticket = r.array::<32>()?;
    r.end()?;
    let import = exec
        .driver
        .cuMemImportFromShareableHandle
        .ok_or(NOT_SUPPORTED)?;
    let session = Arc::clone(&exec.session);
    let Shared { memory, bytes } = session.shared_memory.fetch(ticket).ok_or(INVALID_VALUE)?;
    let mut physical = session.physical.lock();
    // Who has made it may give it back while this client has it.
    if physical.len() >= HANDLES_MAX || !session.memory.reserve(bytes) {
        return Ok(OUT_OF_MEMORY);
    }
    let mut handle = 0;
    let kind = cuda::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    // The number itself stands for the pointer.
    let fd = std::ptr::without_provenance_mut(memory.as_raw_fd().cast_unsigned() as usize);
    // SAFETY: a descriptor that a driver has made, and room for a handle.
    let code = checked(unsafe { import(&raw mut handle, fd, kind) });
    let not_taken = match code {
        Ok(()) => {
            w.u64(handle);
            physical.add(handle, bytes)
        }
        Err(_) => bytes,
    };
    session.memory.give_back(not_taken);
    Ok(code_of(code))
}
