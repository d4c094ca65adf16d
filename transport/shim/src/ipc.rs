//! Memory and events of other clients of the same server.

// Results are written through pointers of the program.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_uint, c_void};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _, IntoRawFd as _, OwnedFd};
use std::sync::atomic::Ordering;

use gtrace_cuda::payload::{EXPORT_MEMORY, IMPORT_MEMORY, TICKET};
use gtrace_cuda::types::driver::{
    self as cuda, CUdeviceptr, CUevent, CUipcEventHandle, CUipcMemHandle,
    CUmemAllocationHandleType, CUmemGenericAllocationHandle,
};

use crate::allocations::Place;
use crate::context::put;
use crate::entry::{Answer, answer_to, check, ending, holding_back};
use crate::events;
use crate::generated::driver::remote;
use crate::log;
use crate::memory::note;
use crate::session::{self, Session};
use crate::state::{read, write};
use crate::status::fail_if;

/// Other processes have memory of this one from now on, or it has memory of theirs.
fn share_memory(session: &Session) {
    session.state.shares_memory.store(true, Ordering::Relaxed);
}

pub(crate) unsafe fn cuIpcGetMemHandle(pHandle: *mut CUipcMemHandle, dptr: CUdeviceptr) -> Answer {
    // SAFETY: a pointer of the program, passed on.
    check(unsafe { remote::cuIpcGetMemHandle(pHandle, dptr) })?;
    share_memory(session::cuda()?);
    Ok(())
}

pub(crate) unsafe fn cuIpcOpenMemHandle_v2(
    pdptr: *mut CUdeviceptr,
    handle: CUipcMemHandle,
    Flags: c_uint,
) -> Answer {
    let session = session::cuda()?;
    let (mut base, mut start, mut size) = (0, 0, 0);
    // SAFETY: the pointer is writable.
    check(unsafe { remote::cuIpcOpenMemHandle_v2(&raw mut base, handle, Flags) })?;
    // How much there is only the driver knows.
    check(holding_back(session, || {
        // SAFETY: the pointers are writable.
        unsafe { remote::cuMemGetAddressRange_v2(&raw mut start, &raw mut size, base) }
    }))?;
    note(session, start, size as u64, Place::Opened, 0);
    share_memory(session);
    // SAFETY: a pointer of the program.
    unsafe { put(pdptr, base) }
}

pub(crate) unsafe fn cuIpcCloseMemHandle(dptr: CUdeviceptr) -> Answer {
    let session = session::cuda()?;
    let known = read(&session.state.allocations).id(dptr);
    // SAFETY: no pointer of the client.
    let earlier = ending(session, || unsafe { remote::cuIpcCloseMemHandle(dptr) })?;
    let mut start = 0;
    // It may have been opened more than once.
    // SAFETY: the pointer is writable, and the other result is not wanted.
    let still =
        unsafe { remote::cuMemGetAddressRange_v2(&raw mut start, std::ptr::null_mut(), dptr) };
    if check(still).is_err() {
        write(&session.state.allocations).remove_known(dptr, known);
    }
    earlier
}

pub(crate) unsafe fn cuIpcOpenEventHandle(
    phEvent: *mut CUevent,
    handle: CUipcEventHandle,
) -> Answer {
    // SAFETY: a pointer of the program, passed on.
    check(unsafe { remote::cuIpcOpenEventHandle(phEvent, handle) })?;
    // SAFETY: the call that succeeded has written there.
    events::share(session::cuda()?, unsafe { phEvent.read() });
    Ok(())
}

/// What the descriptors of this library hold, before a ticket of the server.
const MAGIC: [u8; 16] = *b"gtrace memory 1\n";

/// A descriptor of memory that nobody changes, with a ticket in it. It closes when the program executes another one, as the
/// driver's does.
fn descriptor(ticket: &[u8; TICKET]) -> io::Result<OwnedFd> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: a name, and a descriptor that is nobody else's.
    let mut file = unsafe {
        match libc::memfd_create(c"gtrace-shared-memory".as_ptr(), flags) {
            -1 => return Err(io::Error::last_os_error()),
            fd => File::from_raw_fd(fd),
        }
    };
    file.write_all(&MAGIC)?;
    file.write_all(ticket)?;
    let seals = libc::F_SEAL_WRITE | libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    // SAFETY: the descriptor of this function.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(file.into()),
    }
}

/// The ticket in a descriptor, if there is one.
fn ticket_of(fd: c_int) -> Option<[u8; TICKET]> {
    let mut bytes = [0; MAGIC.len() + TICKET];
    // SAFETY: reads from a descriptor of the program, whatever it is, into as many bytes; its position stays.
    let read = unsafe { libc::pread(fd, bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    let ticket = bytes.strip_prefix(&MAGIC)?;
    ticket
        .first_chunk()
        .copied()
        .filter(|_| read == bytes.len() as isize)
}

/// The one kind of handle that other processes can be given.
fn is_descriptor(kind: CUmemAllocationHandleType) -> bool {
    kind == cuda::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
}

pub(crate) unsafe fn cuMemExportToShareableHandle(
    shareableHandle: *mut c_void,
    handle: CUmemGenericAllocationHandle,
    handleType: CUmemAllocationHandleType,
    flags: u64,
) -> Answer {
    let session = session::cuda()?;
    // No memory was taken for any other kind of handle.
    if shareableHandle.is_null() || flags != 0 || !is_descriptor(handleType) {
        return Err(cuda::CUDA_ERROR_INVALID_VALUE);
    }
    let ticket: [u8; TICKET] = answer_to(session, EXPORT_MEMORY, |w| w.u64(handle), |r| r.array())?;
    share_memory(session);
    let fd = descriptor(&ticket).map_err(|error| {
        let text = format!("no descriptor for memory: {error}");
        log::once("shared memory", &text);
        cuda::CUDA_ERROR_OPERATING_SYSTEM
    })?;
    // SAFETY: a pointer of the program, to an int for this kind of handle.
    unsafe { put(shareableHandle.cast::<c_int>(), fd.into_raw_fd()) }
}

pub(crate) unsafe fn cuMemImportFromShareableHandle(
    handle: *mut CUmemGenericAllocationHandle,
    osHandle: *mut c_void,
    shHandleType: CUmemAllocationHandleType,
) -> Answer {
    let session = session::cuda()?;
    fail_if(handle.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
    if !is_descriptor(shHandleType) {
        return Err(match shHandleType {
            cuda::CU_MEM_HANDLE_TYPE_NONE => cuda::CUDA_ERROR_INVALID_VALUE,
            _ => cuda::CUDA_ERROR_NOT_SUPPORTED,
        });
    }
    // The number itself stands for the pointer. A driver answers so to a descriptor that is not of its memory.
    let ticket = ticket_of(osHandle.addr() as c_int).ok_or(cuda::CUDA_ERROR_UNKNOWN)?;
    let found = answer_to(session, IMPORT_MEMORY, |w| w.raw(&ticket), |r| r.u64())?;
    share_memory(session);
    // SAFETY: a pointer of the program.
    unsafe { put(handle, found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_found_in_its_descriptor_alone() {
        let ticket = [7; TICKET];
        let fd = descriptor(&ticket).unwrap();
        assert_eq!(ticket_of(fd.as_raw_fd()), Some(ticket));
        assert_eq!(
            ticket_of(fd.as_raw_fd()),
            Some(ticket),
            "the position stays"
        );
        let mut file = File::from(fd);
        assert!(file.write_all(b"x").is_err(), "it is sealed");
        let other = File::open("/dev/zero").unwrap();
        assert_eq!(ticket_of(other.as_raw_fd()), None);
        assert_eq!(ticket_of(-1), None);
    }
}
