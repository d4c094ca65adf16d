//! Memory pools and allocation in the order of a stream.

use std::ffi::{c_int, c_uint};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::graph_params;
use crate::abi::{Answer, In, Out, api};
use crate::command::Command;
use crate::error::{INVALID_VALUE, NOT_SUPPORTED, OUT_OF_MEMORY, fail_if};
use crate::graph::capture;
use crate::graph::memory::GraphMemory;
use crate::graph::work::{Work, captured};
use crate::memory;
use crate::pool::{self, POOLS, Pool};
use crate::state::state;
use crate::stream::resolve;
use crate::types::{Device, DevicePtr, Handle, MemAccess, MemLocation, MemPoolProps, Untyped};

/// Pinned memory on a device: the only kind of pool there is.
const PINNED: u32 = 1;
const ON_DEVICE: u32 = 1;

/// Memory is taken at once, as nothing distinguishes the program's use of it from the stream's; if there
/// is none, the stream's outstanding frees may bring some.
fn allocate(out: Out<DevicePtr>, size: usize, pool: &Pool, stream: Handle) -> Answer {
    let (context, stream) = resolve(stream)?;
    fail_if(out.is_null() || size == 0, INVALID_VALUE)?;
    let device = state()?.devices.get(pool.device).ok_or(INVALID_VALUE)?;
    let mut of_graph = 0;
    let node = captured(&stream, || {
        let memory = GraphMemory::allocate(device, size, context.handle)?;
        of_graph = memory.address;
        Ok(Work::MemAlloc(memory))
    })?;
    if node {
        return out.put(of_graph);
    }
    capture::refuse_implicit(&stream)?;
    let taken = match pool.allocate(device, size as u64, context.handle) {
        Err(OUT_OF_MEMORY) => {
            stream.quiesce(&context);
            pool.allocate(device, size as u64, context.handle)
        }
        other => other,
    };
    out.put(taken?)
}

/// The device that a place is, if it is one: there are no other pools.
fn device_of(location: In<MemLocation>, kind: c_uint) -> Answer<&'static crate::device::Device> {
    let location = location.get()?;
    match (kind, location.kind) {
        (PINNED, ON_DEVICE) => state()?.device(location.id),
        (PINNED, _) => Err(NOT_SUPPORTED),
        _ => Err(INVALID_VALUE),
    }
}

/// Has allocations in streams of `device` come from a pool, which must be on it.
fn set_current(device: &crate::device::Device, pool: Handle) -> Answer {
    let pool = Pool::of(pool)?;
    fail_if(pool.device != device.index, INVALID_VALUE)?;
    pool::set_current(device, pool);
    Ok(())
}

api! { TABLE:
    /// Allocates from the current pool of the stream's device.
    fn cuMemAllocAsync, cuMemAllocAsync_ptsz [stream] (
        address: Out<DevicePtr>, size: usize, stream: Handle,
    ) {
        let (context, _) = resolve(stream)?;
        allocate(address, size, &pool::current_of(context.device), stream)
    }

    /// Allocates from a pool.
    fn cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync_ptsz [stream] (
        address: Out<DevicePtr>, size: usize, pool: Handle, stream: Handle,
    ) {
        allocate(address, size, Pool::of(pool)?.as_ref(), stream)
    }

    /// Frees memory when the stream gets there.
    fn cuMemFreeAsync, cuMemFreeAsync_ptsz [stream] (address: DevicePtr, stream: Handle) {
        let (context, stream) = resolve(stream)?;
        let found = memory::find(address).filter(|found| found.base == address);
        let found = found.filter(|found| found.kind.is_allocated()).ok_or(INVALID_VALUE)?;
        if captured(&stream, || graph_params::free(address))? {
            return Ok(());
        }
        capture::refuse_implicit(&stream)?;
        match GraphMemory::of(address).filter(|_| found.kind == memory::Kind::Graph) {
            // The next launch may be asked for before the stream gets here.
            Some(own) if own.set_owed(false) => {}
            Some(_) => return Err(INVALID_VALUE),
            None => memory::begin_to_free(address)?,
        }
        stream.submit(&context, Command::Free(address))
    }

    /// The pool that a device has from the start.
    fn cuDeviceGetDefaultMemPool(pool: Out<Handle>, device: Device) {
        pool.put(pool::default_of(state()?.device(device)?).handle)
    }

    /// The pool from which allocations in streams come.
    fn cuDeviceGetMemPool(pool: Out<Handle>, device: Device) {
        pool.put(pool::current_of(state()?.device(device)?).handle)
    }

    /// Sets the pool from which allocations in streams come.
    fn cuDeviceSetMemPool(device: Device, pool: Handle) {
        set_current(state()?.device(device)?, pool)
    }

    /// Creates a pool on a device.
    fn cuMemPoolCreate(pool: Out<Handle>, properties: In<MemPoolProps>) {
        let (state, properties) = (state()?, properties.get()?);
        fail_if(pool.is_null() || properties.alloc_type != PINNED, INVALID_VALUE)?;
        if properties.handle_types != 0 || properties.location.kind != ON_DEVICE {
            return Err(NOT_SUPPORTED);
        }
        let device = state.device(properties.location.id)?;
        pool.put(Pool::create(device, properties.max_size as u64, false).handle)
    }

    /// Destroys a pool; what was allocated from it stays until it is freed.
    fn cuMemPoolDestroy(pool: Handle) {
        let state = state()?;
        let found = Pool::of(pool)?;
        fail_if(found.is_default, INVALID_VALUE)?;
        // A device whose current pool this was goes back to its default.
        if let Some(device) = state.devices.get(found.device)
            && Arc::ptr_eq(&pool::current_of(device), &found)
        {
            pool::set_current(device, pool::default_of(device));
        }
        POOLS.remove(pool);
        Ok(())
    }

    /// Gives reserved memory back: none is reserved.
    fn cuMemPoolTrimTo(pool: Handle, keep: usize) {
        let _ = keep;
        Pool::of(pool).map(|_| ())
    }

    /// An attribute of a pool.
    fn cuMemPoolGetAttribute(pool: Handle, attribute: u32, value: Untyped) {
        let pool = Pool::of(pool)?;
        match attribute {
            1..=3 => {
                let setting = pool.settings[attribute as usize - 1].load(Ordering::Relaxed);
                value.cast::<c_int>().put(setting as c_int)
            }
            4 => value.cast::<u64>().put(pool.settings[3].load(Ordering::Relaxed)),
            5 | 7 => value.cast::<u64>().put(pool.used()),
            6 | 8 => value.cast::<u64>().put(pool.high()),
            _ => Err(INVALID_VALUE),
        }
    }

    /// Sets an attribute of a pool.
    fn cuMemPoolSetAttribute(pool: Handle, attribute: u32, value: Untyped) {
        let pool = Pool::of(pool)?;
        match attribute {
            1..=3 => {
                let setting = value.cast::<c_int>().get()?;
                pool.settings[attribute as usize - 1].store(setting as u64, Ordering::Relaxed);
            }
            4 => pool.settings[3].store(value.cast::<u64>().get()?, Ordering::Relaxed),
            6 | 8 if value.cast::<u64>().get()? == 0 => pool.reset_high(),
            _ => return Err(INVALID_VALUE),
        }
        Ok(())
    }

    /// Which devices may use a pool; taking it from its own is refused.
    fn cuMemPoolSetAccess(pool: Handle, accesses: In<MemAccess>, count: usize) {
        let state = state()?;
        let pool = Pool::of(pool)?;
        let mut wanted = Vec::new();
        for index in 0..count {
            let access = accesses.at(index)?;
            if access.location.kind != ON_DEVICE || !matches!(access.flags, 0 | 1 | 3) {
                return Err(INVALID_VALUE);
            }
            let device = state.device(access.location.id)?;
            fail_if(device.index == pool.device && access.flags != 3, INVALID_VALUE)?;
            wanted.push((device.index, access.flags));
        }
        for (device, flags) in wanted {
            pool.set_access(device, flags);
        }
        Ok(())
    }

    /// What a device may do with a pool's memory.
    fn cuMemPoolGetAccess(flags: Out<c_uint>, pool: Handle, location: In<MemLocation>) {
        let (state, location) = (state()?, location.get()?);
        let pool = Pool::of(pool)?;
        fail_if(location.kind != ON_DEVICE, INVALID_VALUE)?;
        flags.put(pool.access(state.device(location.id)?.index))
    }

    /// The pool that a place has from the start.
    fn cuMemGetDefaultMemPool(pool: Out<Handle>, location: In<MemLocation>, kind: c_uint) {
        pool.put(pool::default_of(device_of(location, kind)?).handle)
    }

    /// The pool from which allocations in streams come.
    fn cuMemGetMemPool(pool: Out<Handle>, location: In<MemLocation>, kind: c_uint) {
        pool.put(pool::current_of(device_of(location, kind)?).handle)
    }

    /// Sets the pool from which allocations in streams come.
    fn cuMemSetMemPool(location: In<MemLocation>, kind: c_uint, pool: Handle) {
        set_current(device_of(location, kind)?, pool)
    }
}
