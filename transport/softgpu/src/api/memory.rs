//! Allocation of device and host memory.

use std::ffi::{c_uint, c_void};

use crate::abi::{Answer, Out, api};
use crate::attributes::PITCH_STEP;
use crate::calls::wait_with_lock;
use crate::context::{Context, bound, current};
use crate::error::{
    HOST_MEMORY_ALREADY_REGISTERED, HOST_MEMORY_NOT_REGISTERED, INVALID_VALUE, OUT_OF_MEMORY,
    fail_if,
};
use crate::graph::{self, capture};
use crate::memory::{self, Kind};
use crate::state::state;
use crate::types::DevicePtr;

/// Flags of `cuMemHostAlloc` and `cuMemHostRegister` that exist.
const HOST_FLAGS: c_uint = 7;
const REGISTER_FLAGS: c_uint = 15;

fn allocate(out: Out<DevicePtr>, size: usize, kind: Kind) -> Answer {
    let context = current()?;
    capture::refuse_unsafe()?;
    fail_if(out.is_null(), INVALID_VALUE)?;
    out.put(memory::allocate(
        context.device,
        size as u64,
        kind,
        context.handle,
    )?)
}

fn allocate_host(out: Out<*mut c_void>, size: usize, flags: c_uint) -> Answer {
    let context = current()?;
    capture::refuse_unsafe()?;
    fail_if(out.is_null() || flags & !HOST_FLAGS != 0, INVALID_VALUE)?;
    if size == 0 {
        // As driver 590.48 does.
        return out.put(std::ptr::null_mut());
    }
    let index = context.device.index;
    let base = memory::allocate_host(index, size as u64, flags, context.handle)?;
    out.put(base as *mut c_void)
}

/// `CU_MEMHOSTALLOC_DEVICEMAP`.
const MAPPED: c_uint = 2;

/// Flags with which host memory was made.
fn host_flags(address: u64) -> Answer<c_uint> {
    match memory::find(address).map(|found| found.kind) {
        // With unified addressing all of it is mapped, and driver 590.48 says so.
        Some(Kind::Host(flags)) => Ok(flags | MAPPED),
        Some(Kind::Registered(flags)) => Ok(flags),
        Some(Kind::Managed) => Ok(0),
        _ => Err(INVALID_VALUE),
    }
}

api! { TABLE:
    /// Free and total memory of the current device, bytes.
    fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) {
        let device = current()?.device;
        free.offer(device.memory.saturating_sub(device.used()) as usize);
        total.offer(device.memory as usize);
        Ok(())
    }

    /// Allocates device memory.
    fn cuMemAlloc_v2(address: Out<DevicePtr>, size: usize) {
        allocate(address, size, Kind::Device)
    }

    /// Allocates rows at distances that are a multiple of 512 bytes.
    fn cuMemAllocPitch_v2(
        address: Out<DevicePtr>, pitch: Out<usize>, width: usize, height: usize, element: c_uint,
    ) {
        fail_if(pitch.is_null() || !matches!(element, 4 | 8 | 16), INVALID_VALUE)?;
        let row = (width as u64).checked_next_multiple_of(PITCH_STEP).ok_or(OUT_OF_MEMORY)?;
        let size = row.checked_mul(height as u64).ok_or(OUT_OF_MEMORY)?;
        allocate(address, size as usize, Kind::Device)?;
        pitch.put(row as usize)
    }

    /// Allocates memory that host and device use by the same address.
    fn cuMemAllocManaged(address: Out<DevicePtr>, size: usize, flags: c_uint) {
        fail_if(!matches!(flags, 1 | 2), INVALID_VALUE)?;
        allocate(address, size, Kind::Managed)
    }

    /// Frees device memory once the work of the context is done, and reports its error.
    fn cuMemFree_v2(address: DevicePtr) {
        let (state, context) = (state()?, current()?);
        if address == 0 {
            return Ok(());
        }
        capture::refuse_unsafe()?;
        let found = memory::find(address).filter(|found| found.base == address);
        let owner = found.filter(|found| found.kind.is_allocated()).ok_or(INVALID_VALUE)?.context;
        let _waiting = wait_with_lock();
        if owner == context.handle {
            context.drain();
        } else if let Ok(owner) = Context::of(owner) {
            owner.drain();
        }
        match found.map(|found| found.kind) {
            Some(Kind::Graph) => {
                graph::memory::free(address)?;
                if let Some(own) = graph::memory::GraphMemory::of(address) {
                    own.set_owed(false);
                }
            }
            _ => drop(memory::free(&state.devices, address, |found| found.kind.is_allocated())?),
        }
        context.health.check()
    }

    /// Begin and size of the allocation that contains an address.
    fn cuMemGetAddressRange_v2(base: Out<DevicePtr>, size: Out<usize>, address: DevicePtr) {
        bound()?;
        let found = memory::find(address).ok_or(crate::error::NOT_FOUND)?;
        base.offer(found.base);
        size.offer(found.size as usize);
        Ok(())
    }

    /// Allocates page-locked host memory.
    fn cuMemAllocHost_v2(address: Out<*mut c_void>, size: usize) {
        allocate_host(address, size, 0)
    }

    /// Allocates page-locked host memory.
    fn cuMemHostAlloc(address: Out<*mut c_void>, size: usize, flags: c_uint) {
        allocate_host(address, size, flags)
    }

    /// Frees page-locked host memory once the work of the context is done.
    fn cuMemFreeHost(address: *mut c_void) {
        let (state, context) = (state()?, bound()?);
        if address.is_null() {
            return Ok(());
        }
        let is_host = |kind| matches!(kind, Kind::Host(_));
        if !memory::find(address as u64).is_some_and(|found| is_host(found.kind)) {
            return Err(INVALID_VALUE);
        }
        capture::refuse_unsafe()?;
        let _waiting = wait_with_lock();
        context.drain();
        memory::free(&state.devices, address as u64, |found| is_host(found.kind)).map(|_| ())
    }

    /// Registers memory of the program as page-locked.
    fn cuMemHostRegister_v2(address: *mut c_void, size: usize, flags: c_uint) {
        let context = current()?;
        fail_if(address.is_null() || flags & !REGISTER_FLAGS != 0, INVALID_VALUE)?;
        capture::refuse_unsafe()?;
        let index = context.device.index;
        if memory::register(index, address as u64, size as u64, flags, context.handle)? {
            Ok(())
        } else {
            Err(HOST_MEMORY_ALREADY_REGISTERED)
        }
    }

    /// Ends a registration once the work of the context is done.
    fn cuMemHostUnregister(address: *mut c_void) {
        let (state, context) = (state()?, bound()?);
        fail_if(address.is_null(), INVALID_VALUE)?;
        capture::refuse_unsafe()?;
        let _waiting = wait_with_lock();
        context.drain();
        let is_ours = |found: &memory::Allocation| matches!(found.kind, Kind::Registered(_));
        // As driver 590.48, which distinguishes what it knows otherwise from what it does not know.
        let known = memory::find(address as u64)
            .is_some_and(|found| matches!(found.kind, Kind::Host(_) | Kind::Registered(_)));
        memory::free(&state.devices, address as u64, is_ours)
            .map(|_| ())
            .map_err(|_| if known { INVALID_VALUE } else { HOST_MEMORY_NOT_REGISTERED })
    }

    /// Flags of page-locked host memory.
    fn cuMemHostGetFlags(flags: Out<c_uint>, address: *mut c_void) {
        bound()?;
        flags.put(host_flags(address as u64)?)
    }

    /// Device address of page-locked host memory: the same.
    fn cuMemHostGetDevicePointer_v2(
        device: Out<DevicePtr>, address: *mut c_void, flags: c_uint,
    ) {
        bound()?;
        fail_if(flags != 0, INVALID_VALUE)?;
        host_flags(address as u64)?;
        device.put(address as u64)
    }
}
