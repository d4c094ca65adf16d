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
        }
    }

    /// The texture of a handle.
    pub(super) fn texture(&mut self, handle: u64) -> Option<Arc<Texture>> {
        match &self.texture {
            Some((kept, texture)) if *kept == handle => Some(Arc::clone(texture)),
            _ => {
                let found = self.memory.texture(handle)?;
                self.texture = Some((handle, Arc::clone(&found)));
                Some(found)
            }
        }
    }

    /// The surface of a handle.
    pub(super) fn surface(&mut self, handle: u64) -> Option<Arc<Image>> {
        match &self.surface {
            Some((kept, surface)) if *kept == handle => Some(Arc::clone(surface)),
            _ => {
                let found = self.memory.surface(handle)?;
                self.surface = Some((handle, Arc::clone(&found)));
                Some(found)
            }
        }
    }

    /// The region that `address` lies in, if it admits the access.
    #[inline]
    pub(super) fn region(&mut self, address: u64, write: bool, hint: u32) -> Option<Region> {
        let kept = &mut self.kept[hint as usize % Self::KEPT];
        if address.wrapping_sub(kept.start) >= kept.len {
            *kept = self
                .memory
                .region(address)
                .or_else(|| self.heap.region(address))?;
        }
        (kept.writable || !write).then_some(*kept)
    }

    /// The bytes at `address`; None if they are not all in one region that admits the access.
    /// `hint`: a number of the instruction, so that each finds its own region again.
    #[inline]
    pub(super) fn check(
        &mut self,
        address: u64,
        len: u64,
        write: bool,
        hint: u32,
    ) -> Option<Checked> {
        let kept = self.region(address, write, hint)?;
        let offset = address.wrapping_sub(kept.start);
        let fits = offset < kept.len && len <= kept.len - offset;
        // The sum stays within the region.
        fits.then(|| Checked(kept.host.wrapping_add(offset as usize)))
    }
}

/// Sizes of memory accesses: all are made as one, so that no other thread sees a half.
pub(super) trait Cell: Copy {
    /// Reads `bytes` further than `at`.
    fn load(at: Checked, bytes: usize, order: Ordering) -> u64;
    fn store(at: Checked, bytes: usize, value: u64, order: Ordering);
}

macro_rules! cell {
    ($($ty:ty, $atomic:ty, $through:ty);*) => {$(
        impl Cell for $ty {
            #[inline(always)]
            fn load(at: Checked, bytes: usize, order: Ordering) -> u64 {
                // SAFETY: the callers checked region and alignment for the whole access
                // (`Reach::check`), and the region outlives the launch (`Memory`).
                let cell = unsafe { &*at.0.wrapping_add(bytes).cast::<$atomic>() };
                cell.load(order) as $ty as $through as u64
            }
            #[inline(always)]
            fn store(at: Checked, bytes: usize, value: u64, order: Ordering) {
                // SAFETY: as above; the region is writable.
                let cell = unsafe { &*at.0.wrapping_add(bytes).cast::<$atomic>() };
                cell.store(value as _, order);
            }
        }
    )*};
}
cell!(
    u8, AtomicU8, u64; i8, AtomicU8, i64; u16, AtomicU16, u64; i16, AtomicU16, i64;
    u32, AtomicU32, u64; i32, AtomicU32, i64; u64, AtomicU64, u64
);

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
        ($atomic:ty) => {{
            // SAFETY: region and alignment were checked, the region is writable (`Memory`).
            let cell = unsafe { &*at.0.cast::<$atomic>() };
            let mut before = cell.load(Ordering::SeqCst);
            loop {
                let after = update(u64::from(before)) as _;
                match cell.compare_exchange_weak(before, after, Ordering::SeqCst, Ordering::SeqCst)
                {
                    Ok(_) => return u64::from(before),
                    Err(found) => before = found,
                }
            }
        }};
    }
    match size {
        2 => with!(AtomicU16),
        4 => with!(AtomicU32),
        _ => with!(AtomicU64),
    }
}
