//! Page-locked memory. It is memory of the client; the server has some at the same addresses once the device can reach it
//! ([`managed`]).

// mmap(2), and results written through pointers of the program.
#![allow(unsafe_code)]

use std::ffi::{c_uint, c_void};
use std::ptr::{self, NonNull};
use std::sync::Mutex;

use gtrace_cuda::types::driver::{self as cuda, CUdeviceptr};
use gtrace_link::{LinkKind, PinnedRegion};

use crate::allocations::{Allocation, Place};
use crate::context::{self, put};
use crate::entry::Answer;
use crate::page::page_size;
use crate::session::{self, Session};
use crate::state::{lock, read, write};
use crate::stats::{local, local_functions};
use crate::status::fail_if;
use crate::{copy, deferred_copies, managed, memory};

fn note(session: &'static Session, base: *mut c_void, size: usize, place: Place, flags: c_uint) {
    let made = memory::allocation(base.addr() as u64, size as u64, place);
    let stale = write(&session.state.allocations).add(Allocation { flags, ..made });
    // Unmapped without having been given back: a device knows other pages by these addresses.
    for found in stale {
        release(session, &found);
        if found.place.is_host() {
            managed::leave(session, found.base, true);
        }
    }
}

/// No link takes anything from the page-locked memory that begins at `base` any more.
pub(crate) fn release_at(session: &Session, base: u64) {
    let found = read(&session.state.allocations).at(base);
    if let Some(found) = found {
        release(session, &found);
    }
}

/// Addresses of which neither this process nor a server's has any by itself, so that memory there can be the device's too.
const ARENA: u64 = 0x2000_0000_0000;
/// Bytes from there on that are used, and the unit in which the place of an allocation is chosen.
const ARENA_LEN: u64 = 1 << 45;
const ARENA_UNIT: u64 = 2 << 20;
/// Places that are tried.
const TRIES: usize = 8;

/// Somewhere in the arena for so many bytes: behind the allocation before, which begins where nobody can guess it.
fn somewhere(size: u64) -> u64 {
    static NEXT: Mutex<u64> = Mutex::new(0);
    let mut next = lock(&NEXT);
    if *next < ARENA || *next + size > ARENA + ARENA_LEN {
        let mut random = [0; 8];
        // SAFETY: writes as many bytes at most; where there are none the place is the first.
        unsafe {
            libc::getrandom(
                random.as_mut_ptr().cast(),
                random.len(),
                libc::GRND_NONBLOCK,
            )
        };
        // The lower half, so that there is room behind it.
        *next = ARENA + u64::from_le_bytes(random) % (ARENA_LEN / 2 / ARENA_UNIT) * ARENA_UNIT;
    }
    let found = match size >= ARENA_UNIT {
        // Whole huge pages.
        true => next.next_multiple_of(ARENA_UNIT),
        false => *next,
    };
    // A page between allocations, so that who writes beyond one is noticed.
    *next = found + size + page_size();
    found
}

/// New memory of whole pages.
fn map(size: usize) -> Answer<*mut c_void> {
    let at = |wanted: u64, flags: i32| {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | flags;
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let wanted = ptr::with_exposed_provenance_mut(wanted as usize);
        // SAFETY: new memory, where nothing is.
        unsafe { libc::mmap(wanted, size, rights, flags, -1, 0) }
    };
    for _ in 0..TRIES {
        let wanted = somewhere(size as u64);
        let memory = at(wanted, libc::MAP_FIXED_NOREPLACE);
        // Kernels before 4.17 take it for a hint.
        if memory != libc::MAP_FAILED {
            return Ok(memory);
        }
    }
    match at(0, 0) {
        libc::MAP_FAILED => Err(cuda::CUDA_ERROR_OUT_OF_MEMORY),
        memory => Ok(memory),
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
fn begins(session: &Session, p: *mut c_void, place: Place) -> Answer<Allocation> {
    let found = read(&session.state.allocations).at(p.addr() as u64);
    found
        .filter(|a| a.place == place)
        .ok_or(cuda::CUDA_ERROR_INVALID_VALUE)
}

pub(crate) unsafe fn cuMemHostAlloc(
    pp: *mut *mut c_void,
    bytesize: usize,
    flags: c_uint,
) -> Answer {
    let session = session::cuda()?;
    context::current()?;
    local!("cuMemHostAlloc");
    let known = cuda::CU_MEMHOSTALLOC_PORTABLE
        | cuda::CU_MEMHOSTALLOC_DEVICEMAP
        | cuda::CU_MEMHOSTALLOC_WRITECOMBINED;
    fail_if(
        pp.is_null() || flags & !known != 0,
        cuda::CUDA_ERROR_INVALID_VALUE,
    )?;
    if bytesize == 0 {
        // As driver 590.48 does.
        // SAFETY: a pointer of the program.
        return unsafe { put(pp, ptr::null_mut()) };
    }
    let size = bytesize
        .checked_next_multiple_of(page_size() as usize)
        .ok_or(cuda::CUDA_ERROR_OUT_OF_MEMORY)?;
    let memory = map(size)?;
    note(session, memory, bytesize, Place::HostAllocated, flags);
    let wanted = flags & cuda::CU_MEMHOSTALLOC_DEVICEMAP != 0;
    managed::add_page_locked(
        memory.expose_provenance() as u64,
        bytesize as u64,
        wanted,
        false,
    );
    // SAFETY: a pointer of the program.
    unsafe { put(pp, memory) }
}

pub(crate) unsafe fn cuMemAllocHost_v2(pp: *mut *mut c_void, bytesize: usize) -> Answer {
    // SAFETY: a pointer of the program, passed on.
    unsafe { cuMemHostAlloc(pp, bytesize, 0) }
}

local_functions! {
    fn cuMemFreeHost(session, p: *mut c_void) {
        if p.is_null() {
            // As driver 590.48 does; NVIDIA's runtime passes on what it gave for no bytes.
            return Ok(());
        }
        let found = begins(session, p, Place::HostAllocated)?;
        // Copies from here have taken their bytes, or do now; those to here are waited for, as by CUDA.
        deferred_copies::settle(session, p.addr(), found.size as usize)?;
        write(&session.state.allocations).remove(found.base);
        release(session, &found);
        managed::leave(session, found.base, true);
        let size = (found.size as usize).next_multiple_of(page_size() as usize);
        // SAFETY: mapped by `cuMemHostAlloc` with this size, and nobody else unmaps it.
        libc::munmap(p, size);
        Ok(())
    }

    fn cuMemHostUnregister(session, p: *mut c_void) {
        // Driver 590.48 distinguishes null and memory that it knows otherwise from what it does not know.
        let known = read(&session.state.allocations).find(p.addr() as u64);
        let known = p.is_null() || known.is_some_and(|known| known.place.is_host());
        let found = begins(session, p, Place::HostRegistered).map_err(|code| match known {
            true => code,
            false => cuda::CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
        })?;
        deferred_copies::settle(session, p.addr(), found.size as usize)?;
        write(&session.state.allocations).remove(found.base);
        release(session, &found);
        managed::leave(session, found.base, false);
        Ok(())
    }

    fn cuMemHostGetDevicePointer_v2(
        session, pdptr: *mut CUdeviceptr, p: *mut c_void, flags: c_uint,
    ) {
        let found = read(&session.state.allocations).find(p.addr() as u64);
        let is_host = found.is_some_and(|found| found.place.is_host());
        fail_if(flags != 0 || !is_host || pdptr.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
        // The pointer may get to the device where it is not seen.
        managed::in_step(session, p.addr() as u64)?;
        put(pdptr, p.addr() as u64)
    }

    fn cuMemHostGetFlags(session, pFlags: *mut c_uint, p: *mut c_void) {
        let found = read(&session.state.allocations).find(p.addr() as u64);
        let found = found.filter(|a| a.place.is_host());
        let found = found.ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
        put(pFlags, reported_flags(&found))
    }
}

pub(crate) unsafe fn cuMemHostRegister_v2(
    p: *mut c_void,
    bytesize: usize,
    flags: c_uint,
) -> Answer {
    let session = session::cuda()?;
    context::current()?;
    local!("cuMemHostRegister_v2");
    let known = cuda::CU_MEMHOSTREGISTER_PORTABLE
        | cuda::CU_MEMHOSTREGISTER_DEVICEMAP
        | cuda::CU_MEMHOSTREGISTER_IOMEMORY
        | cuda::CU_MEMHOSTREGISTER_READ_ONLY;
    fail_if(
        p.is_null() || bytesize == 0 || flags & !known != 0,
        cuda::CUDA_ERROR_INVALID_VALUE,
    )?;
    fail_if(
        flags & cuda::CU_MEMHOSTREGISTER_IOMEMORY != 0,
        cuda::CUDA_ERROR_NOT_SUPPORTED,
    )?;
    let begin = p.addr() as u64;
    let end = begin.checked_add(bytesize as u64);
    let end = end.ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
    if read(&session.state.allocations).any_between(begin, end) {
        return Err(cuda::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    }
    note(session, p, bytesize, Place::HostRegistered, flags);
    managed::add_page_locked(p.expose_provenance() as u64, bytesize as u64, false, true);
    Ok(())
}

/// With unified addressing, which is the only one that there is, a driver says of all that it has allocated that it is
/// mapped (driver 590.48).
fn reported_flags(found: &Allocation) -> c_uint {
    match found.place {
        Place::HostRegistered => found.flags,
        _ => found.flags | cuda::CU_MEMHOSTALLOC_DEVICEMAP,
    }
}
