//! Memory whose addresses and pages are managed apart: reserved ranges of addresses, physical memory
//! (a memfd, which another process may have made), and mappings of the one at the other.

use std::collections::BTreeMap;
use std::os::fd::{IntoRawFd as _, OwnedFd};
use std::sync::{Arc, Mutex};

use crate::abi::Answer;
use crate::device::Device;
use crate::error::{INVALID_VALUE, OUT_OF_MEMORY, fail_if};
use crate::memory::{self, Kind};
use crate::pages;
use crate::registry::{Registry, mint};
use crate::state::shared;
use crate::sync::lock;
use crate::types::MemAllocationProp;

/// Sizes and addresses are multiples of it, as on NVIDIA's GPUs.
pub(crate) const GRANULARITY: u64 = 2 << 20;
const KIND: u8 = 11;

/// Physical memory by handle. A handle may be retained, and is registered as often as it lives.
static PHYSICAL: Registry<Physical> = Registry::new();

/// Physical memory. It is freed when neither a handle nor a mapping has it.
pub(crate) struct Physical {
    pub(crate) handle: u64,
    pub(crate) size: u64,
    pub(crate) prop: MemAllocationProp,
    /// Index of the device.
    device: usize,
    fd: OwnedFd,
    /// Another process has taken it, where it is counted.
    imported: bool,
    /// How often the program has the handle.
    held: Mutex<u64>,
}

impl Physical {
    /// A file descriptor for other processes, which the program closes.
    pub(crate) fn descriptor(&self) -> Answer<i32> {
        let fd = self.fd.try_clone().map_err(|_| OUT_OF_MEMORY)?;
        Ok(fd.into_raw_fd())
    }
}

impl Drop for Physical {
    fn drop(&mut self) {
        if self.imported {
            return;
        }
        if let Some(device) = shared().and_then(|state| state.devices.get(self.device)) {
            device.refund(self.size);
        }
    }
}

/// Access of a device to a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    None = 0,
    Read = 1,
    ReadWrite = 3,
}

impl Access {
    /// `CUmemAccess_flags`.
    pub(crate) fn from_flags(flags: u32) -> Answer<Self> {
        match flags {
            0 => Ok(Self::None),
            1 => Ok(Self::Read),
            3 => Ok(Self::ReadWrite),
            _ => Err(INVALID_VALUE),
        }
    }
}

struct Mapping {
    size: u64,
    physical: Arc<Physical>,
    /// By index of the device.
    access: BTreeMap<usize, Access>,
}

#[derive(Default)]
struct State {
    /// Bytes by first address.
    reserved: BTreeMap<u64, u64>,
    /// By first address.
    mappings: BTreeMap<u64, Mapping>,
}

static STATE: Mutex<State> = Mutex::new(State {
    reserved: BTreeMap::new(),
    mappings: BTreeMap::new(),
});

fn is_whole(value: u64) -> bool {
    value.is_multiple_of(GRANULARITY)
}

/// Reserves addresses, at `wanted` if they are free.
pub(crate) fn reserve(size: u64, alignment: u64, wanted: u64) -> Answer<u64> {
    let alignment = alignment.max(GRANULARITY);
    if size == 0 || !is_whole(size) || !alignment.is_power_of_two() || !is_whole(wanted) {
        return Err(INVALID_VALUE);
    }
    // More than a process can have, and sums of it need no care.
    fail_if(size.max(alignment) > 1 << 47, OUT_OF_MEMORY)?;
    let base = pages::keep(size, alignment, wanted).map_err(|_| OUT_OF_MEMORY)?;
    lock(&STATE).reserved.insert(base, size);
    Ok(base)
}

/// First address and size of the reserved range that an address lies in.
pub(crate) fn range(address: u64) -> Option<(u64, u64)> {
    let state = lock(&STATE);
    let (&base, &size) = state.reserved.range(..=address).next_back()?;
    (address - base < size).then_some((base, size))
}

/// Gives back a whole reserved range, in which nothing is mapped.
#[allow(unsafe_code)]
pub(crate) fn release_addresses(base: u64, size: u64) -> Answer {
    let mut state = lock(&STATE);
    if state.reserved.get(&base) != Some(&size)
        || state.mappings.range(base..base + size).next().is_some()
    {
        return Err(INVALID_VALUE);
    }
    state.reserved.remove(&base);
    // SAFETY: a range of `pages::keep`, in which nothing is mapped.
    unsafe { pages::unmap_host(base, size) };
    Ok(())
}

/// Takes physical memory of a device.
pub(crate) fn create(device: &Device, size: u64, prop: MemAllocationProp) -> Answer<u64> {
    fail_if(size == 0 || !is_whole(size), INVALID_VALUE)?;
    fail_if(!device.charge(size), OUT_OF_MEMORY)?;
    let fd = pages::physical(device.index, size).map_err(|_| {
        device.refund(size);
        OUT_OF_MEMORY
    })?;
    Ok(insert(device, fd, size, prop, false))
}

/// Registers memory that another process, or this one, has exported.
pub(crate) fn import(device: &Device, fd: OwnedFd, size: u64, prop: MemAllocationProp) -> u64 {
    insert(device, fd, size, prop, true)
}

fn insert(device: &Device, fd: OwnedFd, size: u64, prop: MemAllocationProp, imported: bool) -> u64 {
    let handle = mint(KIND);
    let physical = Physical {
        handle,
        size,
        prop,
        device: device.index,
        fd,
        imported,
        held: Mutex::new(1),
    };
    PHYSICAL.insert(handle, Arc::new(physical));
    handle
}

/// The physical memory of a handle.
pub(crate) fn of(handle: u64) -> Answer<Arc<Physical>> {
    PHYSICAL.get(handle).ok_or(INVALID_VALUE)
}

/// The program has the handle once less.
pub(crate) fn release(handle: u64) -> Answer {
    let physical = of(handle)?;
    let mut held = lock(&physical.held);
    *held -= 1;
    if *held == 0 {
        PHYSICAL.remove(handle);
    }
    Ok(())
}

/// What is mapped at an address.
fn mapped_at(state: &State, address: u64) -> Option<&Mapping> {
    let (base, mapping) = state.mappings.range(..=address).next_back()?;
    (address - base < mapping.size).then_some(mapping)
}

/// Whether something is mapped at an address, which nobody may be able to use yet.
pub(crate) fn is_mapped(address: u64) -> bool {
    mapped_at(&lock(&STATE), address).is_some()
}

/// The handle of what is mapped at an address, which the program has once more.
pub(crate) fn retain(address: u64) -> Answer<u64> {
    let state = lock(&STATE);
    let physical = &mapped_at(&state, address).ok_or(INVALID_VALUE)?.physical;
    let mut held = lock(&physical.held);
    if *held == 0 {
        PHYSICAL.insert(physical.handle, Arc::clone(physical));
    }
    *held += 1;
    Ok(physical.handle)
}

/// Maps physical memory from its begin on at reserved addresses. Nobody may use it yet.
pub(crate) fn map(base: u64, size: u64, handle: u64) -> Answer {
    let physical = of(handle)?;
    let end = base.checked_add(size).ok_or(INVALID_VALUE)?;
    if size == 0 || !is_whole(size) || !is_whole(base) || size > physical.size {
        return Err(INVALID_VALUE);
    }
    let mut state = lock(&STATE);
    let within = state.reserved.range(..=base).next_back();
    let before = state.mappings.range(..end).next_back();
    let free = before.is_none_or(|(other, mapping)| other + mapping.size <= base);
    let beyond = within.is_none_or(|(first, len)| end > first + len);
    fail_if(beyond || !free, INVALID_VALUE)?;
    let mapping = Mapping {
        size,
        physical,
        access: BTreeMap::new(),
    };
    state.mappings.insert(base, mapping);
    Ok(())
}

/// The mappings that make up a range, without gaps and whole.
fn parts(state: &State, base: u64, size: u64) -> Answer<Vec<u64>> {
    let end = base.checked_add(size).ok_or(INVALID_VALUE)?;
    let mut parts = Vec::new();
    let mut at = base;
    while at < end {
        let mapping = state.mappings.get(&at).ok_or(INVALID_VALUE)?;
        parts.push(at);
        at += mapping.size;
    }
    match at == end && size > 0 {
        true => Ok(parts),
        false => Err(INVALID_VALUE),
    }
}

/// The mappings in a range, each whole; what lies between them is mapped nowhere.
fn whole(state: &State, base: u64, size: u64) -> Answer<Vec<u64>> {
    let end = base.checked_add(size).ok_or(INVALID_VALUE)?;
    let before = state.mappings.range(..base).next_back();
    let cut = before.is_some_and(|(other, mapping)| other + mapping.size > base);
    let mut parts = Vec::new();
    for (at, mapping) in state.mappings.range(base..end) {
        fail_if(at + mapping.size > end, INVALID_VALUE)?;
        parts.push(*at);
    }
    match cut || parts.is_empty() {
        true => Err(INVALID_VALUE),
        false => Ok(parts),
    }
}

/// Takes mappings away; the addresses stay reserved. A driver does not mind gaps between them.
pub(crate) fn unmap(base: u64, size: u64) -> Answer {
    let mut state = lock(&STATE);
    for part in whole(&state, base, size)? {
        if let Some(mapping) = state.mappings.remove(&part) {
            memory::forget(part);
            pages::empty(part, mapping.size).map_err(|_| OUT_OF_MEMORY)?;
        }
    }
    Ok(())
}

/// Says which accesses a device has to a range of whole mappings.
pub(crate) fn set_access(
    base: u64,
    size: u64,
    devices: &[(usize, Access)],
    context: u64,
) -> Answer {
    let mut state = lock(&STATE);
    for part in parts(&state, base, size)? {
        let Some(mapping) = state.mappings.get_mut(&part) else {
            continue;
        };
        for (device, access) in devices {
            mapping.access.insert(*device, *access);
        }
        apply(part, mapping, context)?;
    }
    Ok(())
}

/// One process has one view of its memory: what any device may do, all may.
fn apply(base: u64, mapping: &Mapping, context: u64) -> Answer {
    let has = |wanted| mapping.access.values().any(|access| *access == wanted);
    let access = match (has(Access::ReadWrite), has(Access::Read)) {
        (true, _) => Access::ReadWrite,
        (_, true) => Access::Read,
        _ => Access::None,
    };
    memory::forget(base);
    let (fd, size) = (&mapping.physical.fd, mapping.size);
    match access {
        Access::None => return pages::empty(base, size).map_err(|_| OUT_OF_MEMORY),
        // The host of the CPU emulator writes, so that copies of a program which has no access fail by
        // what is noted, and not by a signal.
        Access::Read | Access::ReadWrite => {
            pages::place(fd, base, size).map_err(|_| OUT_OF_MEMORY)?;
        }
    }
    let kind = Kind::Mapped {
        writable: access == Access::ReadWrite,
    };
    memory::note(base, size, kind, mapping.physical.device, context);
    Ok(())
}

/// Which access a device has to the mapping at an address.
pub(crate) fn access(address: u64, device: usize) -> Answer<Access> {
    let state = lock(&STATE);
    let mapping = mapped_at(&state, address).ok_or(INVALID_VALUE)?;
    Ok(mapping.access.get(&device).copied().unwrap_or(Access::None))
}
