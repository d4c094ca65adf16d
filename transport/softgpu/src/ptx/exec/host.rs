//! Global memory: addresses of the device are checked against allocations, then used as pointers.
#![allow(unsafe_code)] // The one place that reads and writes what kernels point at.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use super::super::texture::{Image, Texture};
use super::heap::Heap;

/// A range of device memory: bytes `start..start + len` of the device lie at `host` of this process.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// First device address.
    pub start: u64,
    /// Bytes.
    pub len: u64,
    /// Where they lie.
    pub host: *mut u8,
    /// Kernels may write there.
    pub writable: bool,
}

/// The allocations that kernels may reach.
///
/// # Safety
/// A region that [`Memory::region`] returns must be readable (and writable if it says so) at `host`
/// for `len` bytes until the launch it was asked for has ended, and `host` must be as aligned as
/// `start` is, modulo 16. While a launch runs, others may touch these bytes only with atomics or not
/// at all (a program that does otherwise races on a device too).
pub unsafe trait Memory: Sync {
    /// The region that `address` lies in. Called rarely: the executor keeps the last ones.
    fn region(&self, address: u64) -> Option<Region>;

    /// The texture of a handle, as `cuTexObjectCreate` gave it.
    fn texture(&self, _handle: u64) -> Option<Arc<Texture>> {
        None
    }

    /// The surface of a handle, as `cuSurfObjectCreate` gave it.
    fn surface(&self, _handle: u64) -> Option<Arc<Image>> {
        None
    }
}

/// Checked pointers into global memory; keeps a few regions, chosen by the instruction that asks.
pub(super) struct Reach<'m> {
    memory: &'m dyn Memory,
    heap: &'m Heap,
    kept: [Region; Reach::KEPT],
    texture: Option<(u64, Arc<Texture>)>,
    surface: Option<(u64, Arc<Image>)>,
    /// The lane whose address was checked last, for the report of a fault.
    pub(super) lane: usize,
    /// The number of the instruction, so that each finds its own region again.
    pub(super) hint: u32,
}

/// Bytes of global memory that were checked: they lie in one region of a running launch.
#[derive(Clone, Copy)]
pub(super) struct Checked(*mut u8);

impl<'m> Reach<'m> {
    const KEPT: usize = 16;

    pub(super) fn new(memory: &'m dyn Memory, heap: &'m Heap) -> Self {
        let none = Region {
            start: 0,
            len: 0,
            host: std::ptr::null_mut(),
            writable: false,
        };
        Self {
            memory,
            heap,
            kept: [none; Self::KEPT],
            texture: None,
            surface: None,
            lane: 0,
            hint: 0,
        }
    }

    /// The texture of a handle.
    pub(super) fn texture(&mut self, handle: u64) -> Option<Arc<Texture>> {
        let memory = self.memory;
        kept_or(&mut self.texture, handle, || memory.texture(handle))
    }

    /// The surface of a handle.
    pub(super) fn surface(&mut self, handle: u64) -> Option<Arc<Image>> {
        let memory = self.memory;
        kept_or(&mut self.surface, handle, || memory.surface(handle))
    }

    /// The region that `address` lies in, if it admits the access.
    #[inline]
    pub(super) fn region(&mut self, address: u64, write: bool) -> Option<Region> {
        let kept = &mut self.kept[self.hint as usize % Self::KEPT];
        if address.wrapping_sub(kept.start) >= kept.len {
            *kept = self
                .memory
                .region(address)
                .or_else(|| self.heap.region(address))?;
        }
        (kept.writable || !write).then_some(*kept)
    }

    /// The bytes at `address`; None if they are not all in one region that admits the access.
    #[inline]
    pub(super) fn check(&mut self, address: u64, len: u64, write: bool) -> Option<Checked> {
        let kept = self.region(address, write)?;
        let offset = address.wrapping_sub(kept.start);
        let fits = offset < kept.len && len <= kept.len - offset;
        // The sum stays within the region.
        fits.then(|| Checked(kept.host.wrapping_add(offset as usize)))
    }
}

/// The object of a handle: the one that was asked for last, or what `find` finds, which is kept.
fn kept_or<T>(
    kept: &mut Option<(u64, Arc<T>)>,
    handle: u64,
    find: impl FnOnce() -> Option<Arc<T>>,
) -> Option<Arc<T>> {
    match kept.as_ref() {
        Some((last, object)) if *last == handle => Some(Arc::clone(object)),
        _ => {
            let found = find()?;
            *kept = Some((handle, Arc::clone(&found)));
            Some(found)
        }
    }
}

/// `with!` of the atomic type of so many bytes, and the number in it.
macro_rules! by_size {
    ($size:expr, $with:ident) => {
        match $size {
            1 => $with!(AtomicU8, u8),
            2 => $with!(AtomicU16, u16),
            4 => $with!(AtomicU32, u32),
            _ => $with!(AtomicU64, u64),
        }
    };
}

/// Reads 1, 2, 4 or 8 bytes that are `bytes` further than `at`: as one, so that no other thread sees a half.
#[inline(always)]
pub(super) fn load(at: Checked, bytes: usize, size: u32, order: Ordering) -> u64 {
    macro_rules! with {
        ($atomic:ty, $ty:ty) => {{
            // SAFETY: the callers checked region and alignment for the whole access
            // (`Reach::check`), and the region outlives the launch (`Memory`).
            let cell = unsafe { &*at.0.wrapping_add(bytes).cast::<$atomic>() };
            u64::from(cell.load(order))
        }};
    }
    by_size!(size, with)
}

/// Writes them.
#[inline(always)]
pub(super) fn store(at: Checked, bytes: usize, size: u32, value: u64, order: Ordering) {
    macro_rules! with {
        ($atomic:ty, $ty:ty) => {{
            // SAFETY: as in `load`; the region is writable.
            let cell = unsafe { &*at.0.wrapping_add(bytes).cast::<$atomic>() };
            cell.store(value as $ty, order);
        }};
    }
    by_size!(size, with);
}

/// Adds to 4 or 8 bytes atomically; the value before comes back.
pub(super) fn add(at: Checked, size: u32, value: u64) -> u64 {
    macro_rules! with {
        ($atomic:ty, $ty:ty) => {{
            // SAFETY: region and alignment were checked, the region is writable (`Memory`).
            let cell = unsafe { &*at.0.cast::<$atomic>() };
            u64::from(cell.fetch_add(value as $ty, Ordering::SeqCst))
        }};
    }
    match size {
        4 => with!(AtomicU32, u32),
        _ => with!(AtomicU64, u64),
    }
}

/// Applies `update` to 2, 4 or 8 bytes atomically; the value before comes back.
pub(super) fn update(at: Checked, size: u32, mut update: impl FnMut(u64) -> u64) -> u64 {
    macro_rules! with {
        ($atomic:ty, $ty:ty) => {{
            // SAFETY: region and alignment were checked, the region is writable (`Memory`).
            let cell = unsafe { &*at.0.cast::<$atomic>() };
            let mut before = cell.load(Ordering::SeqCst);
            loop {
                let after = update(u64::from(before)) as $ty;
                match cell.compare_exchange_weak(before, after, Ordering::SeqCst, Ordering::SeqCst)
                {
                    Ok(_) => return u64::from(before),
                    Err(found) => before = found,
                }
            }
        }};
    }
    by_size!(size, with)
}
