//! Advice about managed memory, and where it goes ahead of its use.

use std::ffi::{c_int, c_uint, c_void};

use crate::abi::{Answer, In, Out, api};
use crate::advice::{self, CPU, Location, NOWHERE};
use crate::context::current;
use crate::error::{INVALID_DEVICE, INVALID_VALUE, fail_if};
use crate::graph::capture;
use crate::memory::{self, Kind};
use crate::state::state;
use crate::stream::resolve;
use crate::types::{DevicePtr, MemLocation};

/// `CUmemLocationType`.
const DEVICE: u32 = 1;
const HOST: u32 = 2;
const HOST_NUMA: u32 = 3;
const HOST_NUMA_CURRENT: u32 = 4;

pub(super) fn managed(address: u64, size: usize) -> Answer {
    let found = memory::find_range(address, size as u64);
    let managed = found.is_some_and(|found| found.kind == Kind::Managed);
    fail_if(!managed || size == 0, INVALID_VALUE)
}

fn of_device(device: i32) -> Answer<Location> {
    if device == CPU {
        return Ok(Location { kind: HOST, id: 0 });
    }
    state()?.device(device)?;
    Ok(Location {
        kind: DEVICE,
        id: device,
    })
}

pub(super) fn of_location(location: MemLocation) -> Answer<Location> {
    match location.kind {
        DEVICE => of_device(location.id).map_err(|_| INVALID_DEVICE),
        HOST | HOST_NUMA_CURRENT => Ok(Location {
            kind: location.kind,
            id: 0,
        }),
        HOST_NUMA if location.id >= 0 => Ok(Location {
            kind: HOST_NUMA,
            id: location.id,
        }),
        _ => Err(INVALID_VALUE),
    }
}

fn advise(
    address: u64,
    size: usize,
    advice: u32,
    location: impl FnOnce() -> Answer<Location>,
) -> Answer {
    current()?;
    managed(address, size)?;
    let size = size as u64;
    match advice {
        1 | 2 => advice::change(address, size, |page| page.read_mostly = advice == 1),
        3 => {
            let location = location()?;
            advice::change(address, size, |page| page.preferred = location);
        }
        4 => advice::change(address, size, |page| page.preferred = Location::NONE),
        5 | 6 => {
            let bit = advice::bit(location()?.device());
            advice::change(address, size, |page| match advice {
                5 => page.accessed_by |= bit,
                _ => page.accessed_by &= !bit,
            });
        }
        _ => return Err(INVALID_VALUE),
    }
    Ok(())
}

pub(super) fn prefetch(
    address: u64,
    size: usize,
    stream: u64,
    location: impl FnOnce() -> Answer<Location>,
) -> Answer {
    let (_, stream) = resolve(stream)?;
    capture::refuse(&stream)?;
    managed(address, size)?;
    let location = location()?;
    advice::change(address, size as u64, |page| page.prefetched = location);
    Ok(())
}

fn attribute(data: Out<c_void>, size: usize, id: u32, address: u64, length: usize) -> Answer {
    managed(address, length)?;
    let (single, length) = (size == size_of::<c_int>(), length as u64);
    let location =
        |of: fn(&advice::Advice) -> Location| advice::common(address, length, of, Location::NONE);
    let value = match id {
        1 => c_int::from(advice::common(
            address,
            length,
            |page| page.read_mostly,
            false,
        )),
        2 => location(|page| page.preferred).device(),
        3 if size > 0 && size.is_multiple_of(size_of::<c_int>()) => {
            return accessed_by(data, size / size_of::<c_int>(), address, length);
        }
        4 => location(|page| page.prefetched).device(),
        5 => location(|page| page.preferred).kind.cast_signed(),
        6 => location(|page| page.preferred).id,
        7 => location(|page| page.prefetched).kind.cast_signed(),
        8 => location(|page| page.prefetched).id,
        _ => return Err(INVALID_VALUE),
    };
    match single {
        true => data.cast::<c_int>().put(value),
        false => Err(INVALID_VALUE),
    }
}

/// As many devices as there is room for; places beyond those that are advised are no device.
fn accessed_by(data: Out<c_void>, room: usize, address: u64, length: u64) -> Answer {
    let bits = advice::accessed_by(address, length);
    let devices = (0..31).filter(|ordinal| bits & advice::bit(*ordinal) != 0);
    let host = (bits & advice::bit(CPU) != 0).then_some(CPU);
    let all = devices.chain(host).chain(std::iter::repeat(NOWHERE));
    for (at, device) in all.take(room).enumerate() {
        data.cast::<c_int>().put_at(at, device)?;
    }
    Ok(())
}

api! { TABLE:
    /// Advice about managed memory: kept, and without effect.
    fn cuMemAdvise(address: DevicePtr, size: usize, advice: u32, device: i32) {
        advise(address, size, advice, || of_device(device))
    }

    /// Advice about managed memory: kept, and without effect.
    fn cuMemAdvise_v2(address: DevicePtr, size: usize, advice: u32, location: MemLocation) {
        advise(address, size, advice, || of_location(location))
    }

    /// Moves managed memory ahead of its use: nothing to be moved.
    fn cuMemPrefetchAsync, cuMemPrefetchAsync_ptsz [stream] (
        address: DevicePtr, size: usize, device: i32, stream: u64,
    ) {
        prefetch(address, size, stream, || of_device(device))
    }

    /// Moves managed memory ahead of its use: nothing to be moved.
    fn cuMemPrefetchAsync_v2, cuMemPrefetchAsync_v2_ptsz [stream] (
        address: DevicePtr, size: usize, location: MemLocation, flags: c_uint, stream: u64,
    ) {
        fail_if(flags != 0, INVALID_VALUE)?;
        prefetch(address, size, stream, || of_location(location))
    }

    /// An attribute of a range of managed memory.
    fn cuMemRangeGetAttribute(
        data: Out<c_void>, size: usize, id: u32, address: DevicePtr, length: usize,
    ) {
        attribute(data, size, id, address, length)
    }

    /// Several attributes of a range of managed memory.
    fn cuMemRangeGetAttributes(
        data: In<u64>, sizes: In<usize>, ids: In<u32>, count: usize, address: DevicePtr,
        length: usize,
    ) {
        fail_if(count == 0, INVALID_VALUE)?;
        for index in 0..count {
            // SAFETY: by the contract of this function each pointer is to as many bytes as its
            // size says.
            let place = unsafe { Out::new(data.at(index)? as *mut c_void) };
            attribute(place, sizes.at(index)?, ids.at(index)?, address, length)?;
        }
        Ok(())
    }
}
