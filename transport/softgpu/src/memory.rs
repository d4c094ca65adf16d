//! The map of all memory that the device may touch: device allocations, managed memory, and
//! page-locked host memory. What is not in it is a wild address.

use std::collections::BTreeMap;
use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::abi::Answer;
use crate::advice;
use crate::device::Device;
use crate::error::{INVALID_VALUE, OUT_OF_MEMORY, fail_if};
use crate::pages;
use crate::pool::Pool;
use crate::sync::{read, write};

/// What an allocation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `cuMemAlloc` and a module's variables.
    Device,
    /// `cuArrayCreate`, whose address no program has.
    Array,
    /// `cuMemAllocAsync`, with the handle of its pool.
    Pool(u64),
    /// `cuMemAllocManaged`.
    Managed,
    /// `cuIpcOpenMemHandle`: memory of another process.
    Opened,
    /// `cuMemMap`, as far as `cuMemSetAccess` lets kernels use it.
    Mapped { writable: bool },
    /// `cuMemHostAlloc`, with its flags.
    Host(u32),
    /// `cuMemHostRegister`, with its flags.
    Registered(u32),
    /// Memory that a node of a graph allocates.
    Graph,
}

impl Kind {
    /// Whether the memory is counted as the device's.
    pub(crate) fn on_device(self) -> bool {
        self.is_allocated() || matches!(self, Self::Array | Self::Mapped { .. } | Self::Opened)
    }

    /// Whether `cuMemFree` frees it.
    pub(crate) fn is_allocated(self) -> bool {
        matches!(
            self,
            Self::Device | Self::Pool(_) | Self::Managed | Self::Graph
        )
    }
}

/// One allocation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allocation {
    pub(crate) base: u64,
    pub(crate) size: u64,
    pub(crate) kind: Kind,
    /// Index of the device.
    pub(crate) device: usize,
    /// Handle of the context in which it was made.
    pub(crate) context: u64,
    /// Unique in the process (`CU_POINTER_ATTRIBUTE_BUFFER_ID`).
    pub(crate) id: u64,
    /// Other processes may have it open.
    pub(crate) exported: bool,
    /// Copies of it wait (`CU_POINTER_ATTRIBUTE_SYNC_MEMOPS`), which they do anyway.
    pub(crate) waits: bool,
    /// `cuMemFreeAsync` was called, and the stream has not got there: no longer in use of its pool.
    leaving: bool,
}

impl Allocation {
    fn new(base: u64, size: u64, kind: Kind, device: usize, context: u64) -> Self {
        Self {
            base,
            size,
            kind,
            device,
            context,
            id: IDS.fetch_add(1, Ordering::Relaxed),
            exported: false,
            waits: false,
            leaving: false,
        }
    }
}

static MAP: RwLock<BTreeMap<u64, Allocation>> = RwLock::new(BTreeMap::new());
static IDS: AtomicU64 = AtomicU64::new(1);

/// Notes an allocation.
pub(crate) fn note(base: u64, size: u64, kind: Kind, device: usize, context: u64) {
    let allocation = Allocation::new(base, size, kind, device, context);
    let mut map = write(&MAP);
    map.insert(base, allocation);
}

/// Notes that other processes may open the allocation at `base`; false if that is known.
pub(crate) fn set_exported(base: u64) -> bool {
    let mut map = write(&MAP);
    match map.get_mut(&base) {
        Some(found) => !std::mem::replace(&mut found.exported, true),
        None => false,
    }
}

/// Notes whether the program wants copies of the allocation at `base` to wait.
pub(crate) fn set_waits(base: u64, waits: bool) {
    let mut map = write(&MAP);
    if let Some(found) = map.get_mut(&base) {
        found.waits = waits;
    }
}

/// A stream will free the allocation that begins at `base`: its pool counts it as free from now on.
pub(crate) fn begin_to_free(base: u64) -> Answer {
    let mut map = write(&MAP);
    let found = map.get_mut(&base).filter(|found| found.kind.is_allocated());
    let found = found.filter(|found| !found.leaving).ok_or(INVALID_VALUE)?;
    found.leaving = true;
    if let Kind::Pool(pool) = found.kind {
        Pool::freed(pool, found.size);
    }
    Ok(())
}

/// Forgets memory that [`note`] has noted, if it has.
pub(crate) fn forget(base: u64) {
    write(&MAP).remove(&base);
}

/// The allocation that contains `address`.
pub(crate) fn find(address: u64) -> Option<Allocation> {
    let map = read(&MAP);
    let (_, found) = map.range(..=address).next_back()?;
    (address - found.base < found.size).then_some(*found)
}

/// The allocation that contains `length` bytes from `address`; the first of them where memory that is
/// mapped side by side does.
pub(crate) fn find_range(address: u64, length: u64) -> Option<Allocation> {
    let first = find(address)?;
    let end = address.checked_add(length)?;
    let mut last = first;
    while end > last.base + last.size {
        let next = find(last.base + last.size)?;
        let mapped = |kind| matches!(kind, Kind::Mapped { .. });
        if !mapped(last.kind) || !mapped(next.kind) {
            return None;
        }
        last = next;
    }
    Some(first)
}

/// Bytes of a device that nodes of graphs have.
pub(crate) fn of_graphs(device: usize) -> u64 {
    let map = read(&MAP);
    let theirs = map
        .values()
        .filter(|found| found.kind == Kind::Graph && found.device == device);
    theirs.map(|found| found.size).sum()
}

/// Takes memory of `device`.
pub(crate) fn allocate(device: &Device, size: u64, kind: Kind, context: u64) -> Answer<u64> {
    fail_if(size == 0, INVALID_VALUE)?;
    // Pages of managed memory go to and fro one by one, also between two hosts.
    let base = match kind {
        Kind::Managed => device.take_pages(size),
        _ => device.take(size),
    };
    let base = base.ok_or(OUT_OF_MEMORY)?;
    note(base, size, kind, device.index, context);
    Ok(base)
}

/// Frees the allocation that begins at `base`, if it is one that `which` takes.
pub(crate) fn free(
    devices: &[Device],
    base: u64,
    which: impl Fn(&Allocation) -> bool,
) -> Answer<Allocation> {
    let found = {
        let mut map = write(&MAP);
        fail_if(!map.get(&base).is_some_and(which), INVALID_VALUE)?;
        map.remove(&base).ok_or(INVALID_VALUE)?
    };
    release(devices, &found);
    Ok(found)
}

/// Frees everything that was allocated in a context that is destroyed.
pub(crate) fn free_context(devices: &[Device], context: u64) {
    let gone: Vec<Allocation> = {
        let mut map = write(&MAP);
        map.extract_if(.., |_, found| {
            found.context == context && !matches!(found.kind, Kind::Mapped { .. } | Kind::Opened)
        })
        .map(|(_, found)| found)
        .collect()
    };
    for found in &gone {
        release(devices, found);
    }
}

#[allow(unsafe_code)]
fn release(devices: &[Device], found: &Allocation) {
    if found.exported {
        crate::exported::freed(found);
    }
    match found.kind {
        Kind::Device | Kind::Array | Kind::Pool(_) | Kind::Managed | Kind::Graph => {
            if let Some(device) = devices.get(found.device) {
                match found.kind {
                    Kind::Managed => {
                        advice::forget(found.base, found.size);
                        device.give_pages(found.base, found.size);
                    }
                    _ => device.give(found.base, found.size),
                }
            }
            if let Kind::Pool(pool) = found.kind
                && !found.leaving
            {
                Pool::freed(pool, found.size);
            }
        }
        // SAFETY: the mapping of `allocate_host`, out of the map and so found by nobody; that the
        // program uses it no more is the contract of cuMemFreeHost.
        Kind::Host(_) => unsafe { pages::unmap_host(found.base, found.size) },
        Kind::Registered(_) | Kind::Mapped { .. } | Kind::Opened => {}
    }
}

/// Maps page-locked host memory.
pub(crate) fn allocate_host(device: usize, size: u64, flags: u32, context: u64) -> Answer<u64> {
    fail_if(size == 0, INVALID_VALUE)?;
    let base = pages::map_host(size).map_err(|_| OUT_OF_MEMORY)?;
    note(base, size, Kind::Host(flags), device, context);
    Ok(base)
}

/// Registers the program's own memory as page-locked. None of it may be registered already.
pub(crate) fn register(
    device: usize,
    base: u64,
    size: u64,
    flags: u32,
    context: u64,
) -> Answer<bool> {
    let end = base
        .checked_add(size)
        .filter(|_| size > 0)
        .ok_or(INVALID_VALUE)?;
    let mut map = write(&MAP);
    let before = map.range(..end).next_back();
    if before.is_some_and(|(_, other)| other.base + other.size > base) {
        return Ok(false);
    }
    let kind = Kind::Registered(flags);
    map.insert(base, Allocation::new(base, size, kind, device, context));
    Ok(true)
}
