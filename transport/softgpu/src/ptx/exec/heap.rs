//! The heap from which kernels take memory (malloc and free of the device).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::host::Region;

/// Bytes, as CU_LIMIT_MALLOC_HEAP_SIZE has it by default.
const SIZE: u64 = 8 << 20;

/// 16 bytes that several threads may touch.
#[derive(Debug, Default)]
#[repr(align(16))]
struct Line {
    words: [AtomicU64; 2],
}

/// The heap of a module. Memory that was freed is used again but not given back before the module
/// goes, so that an address stays valid while a launch may have it.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    lines: OnceLock<Box<[Line]>>,
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
    fn start(&self) -> u64 {
        let lines = self
            .lines
            .get_or_init(|| (0..SIZE / 16).map(|_| Line::default()).collect());
        lines.as_ptr() as u64
    }

    /// Memory aligned to 16 bytes; 0 if there is none left, as CUDA has it.
    pub(super) fn allocate(&self, size: u64) -> u64 {
        // Powers of two: what one thread frees another can use.
        let size = size.max(16).checked_next_power_of_two().unwrap_or(u64::MAX);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let offset = match state.free.get_mut(&size).and_then(Vec::pop) {
            Some(offset) => offset,
            None if size <= SIZE - state.used => {
                state.used += size;
                state.used - size
            }
            None => return 0,
        };
        state.given.insert(offset, size);
        self.start() + offset
    }

    /// Sets the eight bytes at the start of what [`Heap::allocate`] gave; false if it gave nothing.
    pub(super) fn set(&self, address: u64, value: u64) -> bool {
        let line = address.wrapping_sub(self.start()) / 16;
        let lines = self.lines.get().map(|lines| &lines[..]).unwrap_or_default();
        let Some(line) = lines.get(line as usize).filter(|_| address != 0) else {
            return false;
        };
        line.words[0].store(value, Ordering::SeqCst);
        true
    }

    /// Takes memory back; false if `address` was not given out.
    pub(super) fn release(&self, address: u64) -> bool {
        if address == 0 {
            return true;
        }
        let offset = address.wrapping_sub(self.start());
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(size) = state.given.remove(&offset) else {
            return false;
        };
        state.free.entry(size).or_default().push(offset);
        true
    }

    /// The part of the heap that was ever given out, if `address` is in it.
    pub(super) fn region(&self, address: u64) -> Option<Region> {
        let start = self.lines.get()?.as_ptr() as u64;
        let used = self
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .used;
        (address.wrapping_sub(start) < used).then_some(Region {
            start,
            len: used,
            host: start as *mut u8,
            writable: true,
        })
    }
}
