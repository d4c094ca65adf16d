//! What an address is.

use std::ffi::{c_int, c_uint, c_void};

use crate::abi::{Answer, In, api};
use crate::context::bound;
use crate::error::{INVALID_VALUE, fail_if};
use crate::memory::{self, Allocation, Kind};
use crate::state::state;
use crate::types::{DevicePtr, Untyped};
use crate::virtual_memory;

/// `CU_MEMORYTYPE_HOST` and `CU_MEMORYTYPE_DEVICE`.
const HOST: c_uint = 1;
const DEVICE: c_uint = 2;
/// `CU_POINTER_ATTRIBUTE_RANGE_START_ADDR`, `_RANGE_SIZE` and `_MAPPED`.
const RANGE_START: u32 = 11;
const RANGE_SIZE: u32 = 12;
const MAPPED: u32 = 13;

/// `CU_POINTER_ATTRIBUTE_*` of an address in an allocation.
fn attribute(data: Untyped, id: u32, address: DevicePtr, found: &Allocation) -> Answer {
    let state = state()?;
    let on_device = found.kind.on_device();
    let managed = found.kind == Kind::Managed;
    match id {
        1 => data.cast::<u64>().put(found.context),
        2 => data
            .cast::<c_uint>()
            .put(if on_device { DEVICE } else { HOST }),
        3 => data.cast::<u64>().put(address),
        4 if on_device && !managed => Err(INVALID_VALUE),
        4 => data.cast::<u64>().put(address),
        // Programs read an int.
        6 => data.cast::<c_uint>().put(found.waits.into()),
        7 => data.cast::<u64>().put(found.id),
        // The runtime reads an int.
        8 => data.cast::<c_int>().put(c_int::from(managed)),
        9 => {
            let device = state.devices.get(found.device).ok_or(INVALID_VALUE)?;
            data.cast::<c_int>().put(state.ordinal(device))
        }
        10 => data.cast::<u8>().put(u8::from(found.kind == Kind::Device)),
        15 | 21 => data.cast::<u8>().put(0),
        RANGE_START | RANGE_SIZE => {
            let own = (found.base, found.size);
            range(data, id, virtual_memory::range(address).unwrap_or(own))
        }
        // Of what is mapped, and not of the range that it is mapped into.
        18 => data.cast::<usize>().put(found.size as usize),
        19 => data.cast::<u64>().put(found.base),
        MAPPED => data.cast::<u8>().put(1),
        // Programs read an int.
        14 => data.cast::<c_uint>().put(0),
        16 => data.cast::<c_uint>().put(3),
        17 => match found.kind {
            Kind::Pool(pool) => data.cast::<u64>().put(pool),
            _ => data.cast::<u64>().put(0),
        },
        20 => data.cast::<u64>().put(found.id),
        _ => Err(INVALID_VALUE),
    }
}

/// First address or size of a range.
fn range(data: Untyped, id: u32, (base, size): (u64, u64)) -> Answer {
    match id {
        RANGE_START => data.cast::<u64>().put(base),
        _ => data.cast::<usize>().put(size as usize),
    }
}

/// An attribute of an address without memory that can be used: of the range that is reserved, and whether something is mapped.
fn reserved(data: Untyped, id: u32, address: DevicePtr) -> Answer {
    let whole = virtual_memory::range(address).ok_or(INVALID_VALUE)?;
    match id {
        RANGE_START | RANGE_SIZE => range(data, id, whole),
        MAPPED => data
            .cast::<u8>()
            .put(virtual_memory::is_mapped(address).into()),
        _ => Err(INVALID_VALUE),
    }
}

/// An attribute of an address that CUDA does not know: zero of the attribute's size.
fn nothing(data: Untyped, id: u32) -> Answer {
    match id {
        10 | MAPPED | 15 | 21 => data.cast::<u8>().put(0),
        9 => data.cast::<c_int>().put(-2),
        2 | 6 | 8 | 14 | 16 => data.cast::<c_uint>().put(0),
        1..=20 => data.cast::<u64>().put(0),
        _ => Err(INVALID_VALUE),
    }
}

api! { TABLE:
    /// One attribute of an address in memory that CUDA knows.
    fn cuPointerGetAttribute(data: Untyped, id: u32, address: DevicePtr) {
        state()?;
        fail_if(data.is_null(), INVALID_VALUE)?;
        match memory::find(address) {
            Some(found) => attribute(data, id, address, &found),
            None => reserved(data, id, address),
        }
    }

    /// Several attributes; of an address that CUDA does not know they are zero. The runtime asks from threads without a
    /// context.
    fn cuPointerGetAttributes(
        count: c_uint, ids: In<u32>, data: In<u64>, address: DevicePtr,
    ) {
        state()?;
        let found = memory::find(address);
        for index in 0..count as usize {
            let (id, place) = (ids.at(index)?, data.at(index)?);
            // SAFETY: by the contract of this function each pointer is that of a value of its
            // attribute's type.
            let place = unsafe { Untyped::new(place as *mut c_void) };
            let answered = match &found {
                Some(found) => attribute(place, id, address, found),
                None => reserved(place, id, address),
            };
            if answered.is_err() {
                nothing(place, id)?;
            }
        }
        Ok(())
    }

    /// Sets an attribute: only "copies wait" exists, and they do.
    fn cuPointerSetAttribute(value: In<c_uint>, id: u32, address: DevicePtr) {
        bound()?;
        let found = memory::find(address).ok_or(INVALID_VALUE)?;
        fail_if(id != 6, INVALID_VALUE)?;
        memory::set_waits(found.base, value.get()? != 0);
        Ok(())
    }
}
