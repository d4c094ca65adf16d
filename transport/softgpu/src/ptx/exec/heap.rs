//! The heap from which kernels take memory (malloc and free of the device).
#![allow(unsafe_code)] // Writes to it, and gives it back.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use super::host::Region;
use crate::pages;
use crate::sync::lock;

/// Bytes, as CU_LIMIT_MALLOC_HEAP_SIZE has it by default.
const SIZE: u64 = 8 << 20;

/// The heap of a module. Memory that was freed is used again but not given back before the module
/// goes, so that an address stays valid while a launch may have it.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    /// Address and size of the memory; 0, 0 if there was none.
    room: OnceLock<(u64, u64)>,
    /// Bytes that it is to have; 0: [`SIZE`].
    wanted: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    used: u64,
    /// Sizes of what is given out, by offset.
    given: HashMap<u64, u64>,
    /// Offsets of what was freed, by size.
    free: HashMap<u64, Vec<u64>>,
}

impl Heap {
    /// Says how many bytes there are to be, until a kernel has taken the first.
    pub(crate) fn want(&self, bytes: u64) {
        self.wanted.store(bytes, Ordering::Relaxed);
    }

    fn room(&self) -> (u64, u64) {
        *self.room.get_or_init(|| {
            let size = match self.wanted.load(Ordering::Relaxed) {
                0 => SIZE,
                wanted => wanted,
            };
            pages::map_host(size).map_or((0, 0), |start| (start, size))
        })
    }

    /// Memory aligned to 16 bytes; 0 if there is none left, as CUDA has it.
    pub(super) fn allocate(&self, size: u64) -> u64 {
        // Powers of two: what one thread frees another can use.
        let size = size.max(16).checked_next_power_of_two().unwrap_or(u64::MAX);
        let (start, room) = self.room();
        let mut state = lock(&self.state);
        let offset = match state.free.get_mut(&size).and_then(Vec::pop) {
            Some(offset) => offset,
            None if size <= room - state.used => {
                state.used += size;
                state.used - size
            }
            None => return 0,
        };
        state.given.insert(offset, size);
        start + offset
    }

    /// Sets the eight bytes at the start of what [`Heap::allocate`] gave; false if it gave nothing.
    pub(super) fn set(&self, address: u64, value: u64) -> bool {
        if self.region(address).is_none() || !address.is_multiple_of(16) {
            return false;
        }
        // SAFETY: bytes of the heap, which is given out in portions of 16 and more, and which lives as long as this.
        let word = unsafe { AtomicU64::from_ptr(address as *mut u64) };
        word.store(value, Ordering::SeqCst);
        true
    }

    /// Takes memory back; false if `address` was not given out.
    pub(super) fn release(&self, address: u64) -> bool {
        if address == 0 {
            return true;
        }
        let offset = address.wrapping_sub(self.room().0);
        let mut state = lock(&self.state);
        let Some(size) = state.given.remove(&offset) else {
            return false;
        };
        state.free.entry(size).or_default().push(offset);
        true
    }

    /// The part of the heap that was ever given out, if `address` is in it.
    pub(super) fn region(&self, address: u64) -> Option<Region> {
        let start = self.room.get()?.0;
        let used = lock(&self.state).used;
        (address.wrapping_sub(start) < used).then_some(Region {
            start,
            len: used,
            host: start as *mut u8,
            writable: true,
        })
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        if let Some((start, size)) = self.room.take()
            && size > 0
        {
            // SAFETY: the mapping of `room`; launches that use it have ended, as they hold the heap.
            unsafe { pages::unmap_host(start, size) };
        }
    }
}
