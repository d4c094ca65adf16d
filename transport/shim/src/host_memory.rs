//! Page-locked memory. It is memory of the client, and only what is allocated for it
//! (CU_MEMHOSTALLOC_DEVICEMAP) has a device pointer: that is managed memory by another name.

// mmap(2), and results written through pointers of the program.
#![allow(unsafe_code)]

use std::ffi::{c_uint, c_void};
use std::ptr::{self, NonNull};

use gtrace_cuda::types::driver::{self as cuda, CUdeviceptr, CUresult};
use gtrace_link::{LinkKind, PinnedRegion};

use crate::allocations::{Allocation, Place};
use crate::context::{self, put};
use crate::entry::{check, done};
use crate::generated::driver::remote;
use crate::session::{self, Session};
use crate::state::{read, write};
use crate::stats::local;
use crate::{copy, deferred_copies, log, managed};

const PAGE: usize = 4096;

fn note(session: &Session, base: *mut c_void, size: usize, place: Place, flags: c_uint) {
    let current = context::top();
    let stale = write(&session.state.allocations).add(Allocation {
        base: base.addr() as u64,
        size: size as u64,
        place,
        context: current.handle,
        device: current.device,
        id: 0,
        flags,
        pool: 0,
    });
    // Unmapped without having been given back: a device knows other pages by these addresses.
    for found in stale {
        release(session, &found);
    }
}

/// Fewest bytes that a link gets as pinned memory.
const PINNED_MIN: usize = 32 << 10;

/// The allocation as links know it.
fn as_pinned(found: &Allocation) -> Option<PinnedRegion> {
    let start = ptr::with_exposed_provenance_mut::<u8>(found.base as usize);
    // SAFETY: page-locked memory stays where it is until it is freed, and links release it before; and the
    // program leaves it as it is until the copies from it are done, as CUDA asks of it.
    NonNull::new(start).map(|start| unsafe { PinnedRegion::new(start, found.size as usize) })
}

/// The page-locked memory that all of `bytes` lie in, if a device of the link may take them from there.
pub(crate) fn pinned(session: &Session, bytes: &[u8]) -> Option<PinnedRegion> {
    if session.info.kind != LinkKind::Rdma || bytes.len() < PINNED_MIN || copy::is_in_call() {
        return None;
    }
    let found = read(&session.state.allocations).find(bytes.as_ptr().addr() as u64)?;
    let place = matches!(found.place, Place::HostAllocated | Place::HostRegistered);
    as_pinned(&found).filter(|_| place)
}

/// No link takes anything from there any more.
fn release(session: &Session, found: &Allocation) {
    if session.info.kind == LinkKind::Rdma
        && found.place.is_host()
        && let Some(memory) = as_pinned(found)
    {
        session.lanes.release(&memory);
    }
}

/// The allocation of page-locked memory that begins at `p`.
fn begins(session: &Session, p: *mut c_void, place: Place) -> Result<Allocation, CUresult> {
    let found = read(&session.state.allocations).at(p.addr() as u64);
    found
        .filter(|a| a.place == place)
        .ok_or(cuda::CUDA_ERROR_INVALID_VALUE)
}

pub(crate) unsafe fn cuMemHostAlloc(
    pp: *mut *mut c_void,
    bytesize: usize,
    flags: c_uint,
) -> CUresult {
    done(|| {
        let session = session::cuda()?;
        context::current()?;
        local!("cuMemHostAlloc");
        let known = cuda::CU_MEMHOSTALLOC_PORTABLE
            | cuda::CU_MEMHOSTALLOC_DEVICEMAP
            | cuda::CU_MEMHOSTALLOC_WRITECOMBINED;
        if pp.is_null() || flags & !known != 0 {
            return Err(cuda::CUDA_ERROR_INVALID_VALUE);
        }
        if bytesize == 0 {
            // As driver 590.48 does.
            // SAFETY: a pointer of the program.
            return unsafe { put(pp, ptr::null_mut()) };
        }
        if flags & cuda::CU_MEMHOSTALLOC_DEVICEMAP != 0 && managed::is_possible() {
            let attach = cuda::CU_MEM_ATTACH_GLOBAL;
            let base =
                managed::allocate_shared(session, bytesize, attach, (Place::HostMapped, flags))?;
            // SAFETY: a pointer of the program.
            return unsafe { put(pp, ptr::with_exposed_provenance_mut(base as usize)) };
        }
        let size = bytesize
            .checked_next_multiple_of(PAGE)
            .ok_or(cuda::CUDA_ERROR_OUT_OF_MEMORY)?;
        // SAFETY: new memory, where the kernel likes.
        let memory = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return Err(cuda::CUDA_ERROR_OUT_OF_MEMORY);
        }
        note(session, memory, bytesize, Place::HostAllocated, flags);
        // SAFETY: a pointer of the program.
        unsafe { put(pp, memory) }
    })
}

pub(crate) unsafe fn cuMemAllocHost_v2(pp: *mut *mut c_void, bytesize: usize) -> CUresult {
    // SAFETY: a pointer of the program, passed on.
    unsafe { cuMemHostAlloc(pp, bytesize, 0) }
}

pub(crate) unsafe fn cuMemFreeHost(p: *mut c_void) -> CUresult {
    done(|| {
        let session = session::cuda()?;
        let base = p.addr() as u64;
        let found = read(&session.state.allocations).at(base);
        if found.is_some_and(|found| found.place == Place::HostMapped) {
            write(&session.state.allocations).remove(base);
            managed::forget(base);
            // SAFETY: no pointer of the client.
            return check(unsafe { remote::cuMemFree_v2(base) });
        }
        local!("cuMemFreeHost");
        let found = begins(session, p, Place::HostAllocated)?;
        // Copies from here have taken their bytes, or do now; those to here are waited for, as by CUDA.
        deferred_copies::settle(session, p.addr(), found.size as usize)?;
        write(&session.state.allocations).remove(found.base);
        release(session, &found);
        let size = (found.size as usize).next_multiple_of(PAGE);
        // SAFETY: mapped by `cuMemHostAlloc` with this size, and nobody else unmaps it.
        unsafe { libc::munmap(p, size) };
        Ok(())
    })
}

pub(crate) unsafe fn cuMemHostRegister_v2(
    p: *mut c_void,
    bytesize: usize,
    flags: c_uint,
) -> CUresult {
    done(|| {
        let session = session::cuda()?;
        context::current()?;
        local!("cuMemHostRegister_v2");
        let known = cuda::CU_MEMHOSTREGISTER_PORTABLE
            | cuda::CU_MEMHOSTREGISTER_DEVICEMAP
            | cuda::CU_MEMHOSTREGISTER_IOMEMORY
            | cuda::CU_MEMHOSTREGISTER_READ_ONLY;
        if p.is_null() || bytesize == 0 || flags & !known != 0 {
            return Err(cuda::CUDA_ERROR_INVALID_VALUE);
        }
        if flags & cuda::CU_MEMHOSTREGISTER_IOMEMORY != 0 {
            return Err(cuda::CUDA_ERROR_NOT_SUPPORTED);
        }
        let begin = p.addr() as u64;
        let last = begin + (bytesize as u64 - 1);
        let allocations = read(&session.state.allocations);
        if allocations.find(begin).is_some() || allocations.find(last).is_some() {
            return Err(cuda::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
        }
        drop(allocations);
        note(session, p, bytesize, Place::HostRegistered, flags);
        Ok(())
    })
}

pub(crate) unsafe fn cuMemHostUnregister(p: *mut c_void) -> CUresult {
    done(|| {
        let session = session::cuda()?;
        local!("cuMemHostUnregister");
        // Driver 590.48 distinguishes memory that it knows otherwise from what it does not know.
        let known = read(&session.state.allocations).find(p.addr() as u64);
        let found = begins(session, p, Place::HostRegistered).map_err(|code| match known {
            Some(known) if known.place.is_host() => code,
            _ => cuda::CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
        })?;
        deferred_copies::settle(session, p.addr(), found.size as usize)?;
        write(&session.state.allocations).remove(found.base);
        release(session, &found);
        Ok(())
    })
}

pub(crate) unsafe fn cuMemHostGetDevicePointer_v2(
    pdptr: *mut CUdeviceptr,
    p: *mut c_void,
    flags: c_uint,
) -> CUresult {
    done(|| {
        let session = session::cuda()?;
        local!("cuMemHostGetDevicePointer_v2");
        let found = read(&session.state.allocations).find(p.addr() as u64);
        if flags != 0 || !found.is_some_and(|a| a.place.is_host()) {
            return Err(cuda::CUDA_ERROR_INVALID_VALUE);
        }
        if found.is_some_and(|found| found.place == Place::HostMapped) {
            // SAFETY: a pointer of the program.
            return unsafe { put(pdptr, p.addr() as u64) };
        }
        log::once(
            "cuMemHostGetDevicePointer",
            "page-locked memory of this machine has a device pointer only if it was allocated for it \
             (CU_MEMHOSTALLOC_DEVICEMAP): the GPU is another machine's",
        );
        Err(cuda::CUDA_ERROR_NOT_SUPPORTED)
    })
}

/// With unified addressing, which is the only one that there is, a driver says of all that it has allocated that it is
/// mapped (driver 590.48).
fn reported_flags(found: &Allocation) -> c_uint {
    match found.place {
        Place::HostRegistered => found.flags,
        _ => found.flags | cuda::CU_MEMHOSTALLOC_DEVICEMAP,
    }
}

pub(crate) unsafe fn cuMemHostGetFlags(pFlags: *mut c_uint, p: *mut c_void) -> CUresult {
    done(|| {
        let session = session::cuda()?;
        local!("cuMemHostGetFlags");
        let found = read(&session.state.allocations).find(p.addr() as u64);
        let found = found.filter(|a| a.place.is_host());
        let found = found.ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
        // SAFETY: a pointer of the program.
        unsafe { put(pFlags, reported_flags(&found)) }
    })
}
