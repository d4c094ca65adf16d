//! Memory of the device: who has which addresses.

// Reads and writes through pointers of the program.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_uint, c_ulonglong, c_void};
use std::mem;

use gtrace_cuda::types::driver::{
    self as cuda, CUdevice, CUdeviceptr, CUlibrary, CUmemAllocationProp, CUmemAllocationType,
    CUmemGenericAllocationHandle, CUmemLocation, CUmemPool_attribute, CUmemPoolProps, CUmemoryPool,
    CUmodule, CUresult, CUstream,
};

use gtrace_protocol::op_id;

use crate::allocations::{Allocation, Place};
use crate::capture;
use crate::context::{self, put_wanted};
use crate::device;
use crate::device_idle;
use crate::entry::{Answer, check, ending, holding_back};
use crate::generated::driver::remote;
use crate::managed;
use crate::pointer;
use crate::reserve::reserve;
use crate::session::{self, Session};
use crate::spare::Piece;
use crate::state::{lock, read, write};
use crate::stats::local;
use crate::status::fail_if;

/// Memory of the current context.
pub(crate) fn allocation(base: u64, size: u64, place: Place) -> Allocation {
    let current = context::top();
    Allocation {
        base,
        size,
        place,
        context: current.handle,
        device: current.device,
        id: 0,
        flags: 0,
        pool: 0,
        synchronous: false,
        owner: None,
    }
}

/// Notes memory that was allocated in the current context.
pub(crate) fn note(session: &Session, base: u64, size: u64, place: Place, pool: u64) {
    reserve(base, size);
    let made = allocation(base, size, place);
    write(&session.state.allocations).add(Allocation { pool, ..made });
}

/// Notes memory of the current context that has been put where both sides have it.
pub(crate) fn note_as(session: &Session, (base, size): (u64, u64), place: Place, flags: u32) {
    let made = allocation(base, size, place);
    write(&session.state.allocations).add(Allocation { flags, ..made });
}

/// Notes a variable of a module or library of the current context, until that is gone.
pub(crate) fn note_variable(session: &Session, (base, size): (u64, u64), place: Place, owner: u64) {
    let made = allocation(base, size, place);
    let owner = Some(owner);
    write(&session.state.allocations).add(Allocation { owner, ..made });
}

/// Notes what `dptr` points to after a call that has allocated `size` bytes.
unsafe fn allocated(
    code: CUresult,
    dptr: *const CUdeviceptr,
    size: usize,
    place: Place,
    pool: u64,
) -> Answer {
    check(code)?;
    // SAFETY: the call that succeeded has written there.
    let base = unsafe { dptr.read() };
    note(session::cuda()?, base, size as u64, place, pool);
    Ok(())
}

/// Notes memory that a node of a graph allocates, at a location.
pub(crate) fn of_graph(session: &Session, (base, size): (u64, u64), location: &CUmemLocation) {
    reserve(base, size);
    let made = allocation(base, size, Place::Graph);
    let device = device_of(location).unwrap_or(made.device);
    write(&session.state.allocations).add(Allocation { device, ..made });
}

pub(crate) unsafe fn cuMemAlloc_v2(dptr: *mut CUdeviceptr, bytesize: usize) -> Answer {
    fail_if(bytesize == 0, cuda::CUDA_ERROR_INVALID_VALUE)?;
    // SAFETY: a pointer of the program, passed on.
    let allocate = || unsafe { remote::cuMemAlloc_v2(dptr, bytesize) };
    let mut code = allocate();
    if code == cuda::CUDA_ERROR_OUT_OF_MEMORY
        && let Ok(session) = session::cuda()
        && session.state.spare.any()
    {
        free_spare(session, true);
        code = allocate();
    }
    // SAFETY: a pointer of the program.
    unsafe { allocated(code, dptr, bytesize, Place::Device, 0) }
}

/// Allocates memory of this library's own.
///
/// # Errors
///
/// Those of the allocation.
pub(crate) fn allocate_own(session: &'static Session, bytes: usize) -> Answer<Piece> {
    free_spare(session, false);
    let mut address = 0;
    capture::relaxed(session, || {
        // SAFETY: a local variable.
        unsafe { cuMemAlloc_v2(&raw mut address, bytes) }
    })?;
    let found = read(&session.state.allocations).at(address);
    Ok(Piece {
        address,
        bytes: bytes as u64,
        context: context::top(),
        id: found.map_or(0, |found| found.id),
    })
}

/// Frees memory that this library needs no more, if the device has nothing to do, if there is too much, or `everything`.
pub(crate) fn free_spare(session: &'static Session, everything: bool) {
    for piece in session
        .state
        .spare
        .take(everything || device_idle::is(session))
    {
        // With its context it is gone, and other memory may have its address.
        let found = read(&session.state.allocations).at(piece.address);
        if found.is_none_or(|found| found.id != piece.id) {
            continue;
        }
        let _ = holding_back(session, || {
            capture::relaxed(session, || {
                // SAFETY: no pointer of the client.
                let free = || unsafe { cuMemFree_v2(piece.address) };
                context::within(piece.context, free)
            })
        });
    }
}

pub(crate) unsafe fn cuMemAllocPitch_v2(
    dptr: *mut CUdeviceptr,
    pPitch: *mut usize,
    WidthInBytes: usize,
    Height: usize,
    ElementSizeBytes: c_uint,
) -> Answer {
    // SAFETY: pointers of the program, passed on; the pitch is written by a call that succeeds.
    unsafe {
        let code = remote::cuMemAllocPitch_v2(dptr, pPitch, WidthInBytes, Height, ElementSizeBytes);
        let size = match code {
            cuda::CUDA_SUCCESS => pPitch.read().saturating_mul(Height),
            _ => 0,
        };
        allocated(code, dptr, size, Place::Device, 0)
    }
}

pub(crate) unsafe fn cuMemFree_v2(dptr: CUdeviceptr) -> Answer {
    let session = session::cuda()?;
    if dptr == 0 {
        local!("cuMemFree_v2");
        return Ok(());
    }
    let reserved = |found: Allocation| matches!(found.place, Place::Reserved | Place::Opened);
    if read(&session.state.allocations)
        .at(dptr)
        .is_some_and(reserved)
    {
        local!("cuMemFree_v2");
        return Err(cuda::CUDA_ERROR_INVALID_VALUE);
    }
    if session.state.captures.any() {
        return free_in_capture(session, dptr);
    }
    // Before the call: another thread may be given the address as soon as it is free.
    let known = write(&session.state.allocations).remove(dptr);
    managed::forget(dptr);
    if known.is_some() && device_idle::send_if_idle(session, op_id("cuMemFree_v2"), dptr)? {
        return Ok(());
    }
    // SAFETY: no pointer of the client.
    let freed = ending(session, || unsafe { remote::cuMemFree_v2(dptr) });
    if let (Err(_), Some(known)) = (freed, known) {
        write(&session.state.allocations).add(known);
    }
    freed?
}

/// While a stream is captured the driver may refuse: what is not freed stays what it is.
fn free_in_capture(session: &'static Session, dptr: CUdeviceptr) -> Answer {
    let known = read(&session.state.allocations).id(dptr);
    // SAFETY: no pointer of the client.
    let earlier = ending(session, || unsafe { remote::cuMemFree_v2(dptr) })?;
    let is_it = write(&session.state.allocations).remove_known(dptr, known);
    if is_it {
        managed::forget(dptr);
    }
    earlier
}

/// The pool that the program has set for the current device, or 0.
fn current_pool() -> u64 {
    let set = session::cuda().map(|session| {
        let pools = lock(&session.state.pools);
        pools.get(&context::top().device).copied()
    });
    set.ok().flatten().unwrap_or(0)
}

pub(crate) unsafe fn cuMemAllocAsync(
    dptr: *mut CUdeviceptr,
    bytesize: usize,
    hStream: CUstream,
) -> Answer {
    // SAFETY: a pointer of the program, passed on.
    unsafe {
        let code = remote::cuMemAllocAsync(dptr, bytesize, hStream);
        allocated(code, dptr, bytesize, Place::Pool, current_pool())
    }
}

pub(crate) unsafe fn cuMemAllocFromPoolAsync(
    dptr: *mut CUdeviceptr,
    bytesize: usize,
    pool: CUmemoryPool,
    hStream: CUstream,
) -> Answer {
    // SAFETY: a pointer of the program, passed on.
    check(unsafe { remote::cuMemAllocFromPoolAsync(dptr, bytesize, pool, hStream) })?;
    let session = session::cuda()?;
    // SAFETY: the call that succeeded has written there.
    let (base, size) = (unsafe { dptr.read() }, bytesize as u64);
    let pool = pool.addr() as u64;
    let made = allocation(base, size, Place::Pool);
    let known = lock(&session.state.pool_devices).get(&pool).copied();
    let device = known.unwrap_or(made.device);
    reserve(base, size);
    write(&session.state.allocations).add(Allocation {
        pool,
        device,
        ..made
    });
    Ok(())
}

pub(crate) unsafe fn cuMemFreeAsync(dptr: CUdeviceptr, hStream: CUstream) -> Answer {
    let session = session::cuda()?;
    fail_if(dptr == 0, cuda::CUDA_ERROR_INVALID_VALUE)?;
    let captured = session.state.captures.any()
        && holding_back(session, || capture::of(session, hStream))?.is_some();
    // A capture frees nothing yet.
    if !captured {
        write(&session.state.allocations).remove(dptr);
        managed::forget(dptr);
    }
    // SAFETY: no pointer of the client.
    check(unsafe { remote::cuMemFreeAsync(dptr, hStream) })
}

pub(crate) unsafe fn cuMemGetAddressRange_v2(
    pbase: *mut CUdeviceptr,
    psize: *mut usize,
    dptr: CUdeviceptr,
) -> Answer {
    let session = session::cuda()?;
    let found = read(&session.state.allocations).find(dptr);
    match found {
        // Page-locked memory is the device's too, by the host's address.
        Some(found) if found.place.is_of_device() || pointer::can_map(&found) => {
            local!("cuMemGetAddressRange_v2");
            // SAFETY: pointers of the program.
            unsafe {
                put_wanted(pbase, found.base);
                put_wanted(psize, found.size as usize);
            }
            Ok(())
        }
        Some(found) if found.place.is_host() => Err(cuda::CUDA_ERROR_NOT_FOUND),
        // A variable of a module, for example.
        // SAFETY: pointers of the program, passed on.
        _ => check(unsafe { remote::cuMemGetAddressRange_v2(pbase, psize, dptr) }),
    }
}

/// Whether the driver says that memory is managed: of other memory it has no such attribute.
fn is_managed(base: u64, size: usize) -> bool {
    let mut mostly_read = 0u32;
    let attribute = cuda::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
    let to = (&raw mut mostly_read).cast();
    // SAFETY: a value of four bytes is written.
    let code =
        unsafe { remote::cuMemRangeGetAttribute(to, size_of::<u32>(), attribute, base, size) };
    code == cuda::CUDA_SUCCESS
}

/// Notes a variable of a module or library, which is memory of the device that no call allocates.
/// Answers about its address and size are written where they are wanted.
unsafe fn variable(
    dptr: *mut CUdeviceptr,
    bytes: *mut usize,
    owner: u64,
    ask: impl FnOnce(*mut CUdeviceptr, *mut usize) -> CUresult,
) -> Answer {
    let (mut base, mut size) = (0, 0);
    check(ask(&raw mut base, &raw mut size))?;
    let session = session::cuda()?;
    if size > 0 && read(&session.state.allocations).find(base).is_none() {
        match managed::is_possible() && is_managed(base, size) {
            true => managed::take_up_variable(session, (base, size), owner)?,
            false => {
                reserve(base, size as u64);
                note_variable(session, (base, size as u64), Place::Device, owner);
            }
        }
    }
    // SAFETY: pointers of the program.
    unsafe {
        put_wanted(dptr, base);
        put_wanted(bytes, size);
    }
    Ok(())
}

macro_rules! variables {
    ($($function:ident of $owner:ty;)*) => {$(
        pub(crate) unsafe fn $function(
            dptr: *mut CUdeviceptr,
            bytes: *mut usize,
            owner: $owner,
            name: *const c_char,
        ) -> Answer {
            // SAFETY: the program's pointers; the call's own are writable.
            unsafe {
                variable(dptr, bytes, owner.addr() as u64, |to, size| {
                    remote::$function(to, size, owner, name)
                })
            }
        }
    )*};
}

variables! {
    cuModuleGetGlobal_v2 of CUmodule;
    cuLibraryGetGlobal of CUlibrary;
    cuLibraryGetManaged of CUlibrary;
}

pub(crate) unsafe fn cuMemAddressReserve(
    ptr: *mut CUdeviceptr,
    size: usize,
    alignment: usize,
    addr: CUdeviceptr,
    flags: c_ulonglong,
) -> Answer {
    // SAFETY: a pointer of the program, passed on.
    unsafe {
        let code = remote::cuMemAddressReserve(ptr, size, alignment, addr, flags);
        allocated(code, ptr, size, Place::Reserved, 0)
    }
}

pub(crate) unsafe fn cuMemAddressFree(ptr: CUdeviceptr, size: usize) -> Answer {
    let session = session::cuda()?;
    let known = read(&session.state.allocations).id(ptr);
    // SAFETY: no pointer of the client.
    let earlier = ending(session, || unsafe { remote::cuMemAddressFree(ptr, size) })?;
    write(&session.state.allocations).remove_known(ptr, known);
    earlier
}

/// The device of physical memory; none if the driver does not know that.
fn of_physical(handle: CUmemGenericAllocationHandle) -> Option<CUdevice> {
    // SAFETY: zeros are a value.
    let mut props: CUmemAllocationProp = unsafe { mem::zeroed() };
    // SAFETY: a local variable.
    let code = unsafe { remote::cuMemGetAllocationPropertiesFromHandle(&raw mut props, handle) };
    let location = (code == cuda::CUDA_SUCCESS).then_some(props.location);
    location.as_ref().and_then(device_of)
}

pub(crate) unsafe fn cuMemMap(
    ptr: CUdeviceptr,
    size: usize,
    offset: usize,
    handle: CUmemGenericAllocationHandle,
    flags: c_ulonglong,
) -> Answer {
    // SAFETY: no pointer of the client.
    check(unsafe { remote::cuMemMap(ptr, size, offset, handle, flags) })?;
    let session = session::cuda()?;
    let made = allocation(ptr, size as u64, Place::Mapped);
    let known = match device::how_many(session) > 1 {
        true => holding_back(session, || of_physical(handle)),
        false => None,
    };
    let device = known.unwrap_or(made.device);
    write(&session.state.allocations).map(Allocation { device, ..made });
    Ok(())
}

pub(crate) unsafe fn cuMemUnmap(ptr: CUdeviceptr, size: usize) -> Answer {
    let session = session::cuda()?;
    // SAFETY: no pointer of the client.
    let earlier = ending(session, || unsafe { remote::cuMemUnmap(ptr, size) })?;
    write(&session.state.allocations).unmap(ptr, size as u64);
    earlier
}

/// The device that a location is, if it is one.
fn device_of(location: &CUmemLocation) -> Option<CUdevice> {
    // SAFETY: all that the union may hold is a plain number.
    let device = unsafe { location.__bindgen_anon_1.id };
    (location.type_ == cuda::CU_MEM_LOCATION_TYPE_DEVICE).then_some(device)
}

/// Notes whose pool a call has given.
///
/// # Safety
///
/// `pool` is where a call has written that succeeded if `code` says so.
unsafe fn of_device(code: CUresult, pool: *const CUmemoryPool, device: Option<CUdevice>) -> Answer {
    check(code)?;
    if let Some(device) = device {
        // SAFETY: the caller's promise.
        let pool = unsafe { pool.read() }.addr() as u64;
        let session = session::cuda()?;
        lock(&session.state.pool_devices).insert(pool, device);
    }
    Ok(())
}

/// Functions that give a pool, and the device whose it is.
macro_rules! pools {
    ($($name:ident($($argument:ident: $type:ty),*) => $device:expr;)*) => {$(
        pub(crate) unsafe fn $name(pool: *mut CUmemoryPool, $($argument: $type),*) -> Answer {
            // SAFETY: pointers of the program, passed on.
            unsafe { of_device(remote::$name(pool, $($argument),*), pool, $device) }
        }
    )*};
}

pools! {
    cuDeviceGetDefaultMemPool(dev: CUdevice) => Some(dev);
    cuDeviceGetMemPool(dev: CUdevice) => Some(dev);
    cuMemGetDefaultMemPool(location: *mut CUmemLocation, kind: CUmemAllocationType) =>
        location.as_ref().and_then(device_of);
    cuMemGetMemPool(location: *mut CUmemLocation, kind: CUmemAllocationType) =>
        location.as_ref().and_then(device_of);
    cuMemPoolCreate(props: *const CUmemPoolProps) =>
        props.as_ref().and_then(|props| device_of(&props.location));
}

pub(crate) unsafe fn cuDeviceSetMemPool(dev: CUdevice, pool: CUmemoryPool) -> Answer {
    // SAFETY: a handle.
    check(unsafe { remote::cuDeviceSetMemPool(dev, pool) })?;
    let session = session::cuda()?;
    lock(&session.state.pools).insert(dev, pool.addr() as u64);
    Ok(())
}

pub(crate) unsafe fn cuMemSetMemPool(
    location: *mut CUmemLocation,
    type_: CUmemAllocationType,
    pool: CUmemoryPool,
) -> Answer {
    // SAFETY: a pointer of the program, passed on.
    check(unsafe { remote::cuMemSetMemPool(location, type_, pool) })?;
    // SAFETY: the call that succeeded has read it.
    if let Some(device) = device_of(unsafe { &*location }) {
        let session = session::cuda()?;
        lock(&session.state.pools).insert(device, pool.addr() as u64);
    }
    Ok(())
}

/// A device whose pool this was goes back to its default.
pub(crate) unsafe fn cuMemPoolDestroy(pool: CUmemoryPool) -> Answer {
    let session = session::cuda()?;
    lock(&session.state.pools).retain(|_, set| *set != pool.addr() as u64);
    lock(&session.state.pool_devices).remove(&(pool.addr() as u64));
    // SAFETY: a handle.
    check(unsafe { remote::cuMemPoolDestroy(pool) })
}

/// Bytes of the value of a pool's attribute (`CUmemPool_attribute`): ints up to 3, then cuuint64_t.
fn pool_attribute_len(attribute: CUmemPool_attribute) -> usize {
    match attribute {
        cuda::CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES
        | cuda::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC
        | cuda::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES => 4,
        _ => 8,
    }
}

pub(crate) unsafe fn cuMemPoolGetAttribute(
    pool: CUmemoryPool,
    attr: CUmemPool_attribute,
    value: *mut c_void,
) -> Answer {
    fail_if(value.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
    let mut bytes = [0u8; 8];
    // SAFETY: eight bytes, as the call writes.
    check(unsafe { remote::cuMemPoolGetAttribute(pool, attr, bytes.as_mut_ptr().cast()) })?;
    // SAFETY: the program has as many bytes there as the attribute has.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), value.cast::<u8>(), pool_attribute_len(attr));
    }
    Ok(())
}

pub(crate) unsafe fn cuMemPoolSetAttribute(
    pool: CUmemoryPool,
    attr: CUmemPool_attribute,
    value: *mut c_void,
) -> Answer {
    fail_if(value.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
    let mut bytes = [0u8; 8];
    // SAFETY: the program has as many bytes there as the attribute has.
    unsafe {
        std::ptr::copy_nonoverlapping(
            value.cast::<u8>(),
            bytes.as_mut_ptr(),
            pool_attribute_len(attr),
        );
    }
    // SAFETY: eight bytes, as the call reads.
    check(unsafe { remote::cuMemPoolSetAttribute(pool, attr, bytes.as_mut_ptr().cast()) })
}
