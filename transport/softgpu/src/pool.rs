//! Memory pools: a count of what was allocated from them. Memory comes straight from the device
//! and goes straight back, so that nothing is reserved beyond what is used.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::abi::Answer;
use crate::device::Device;
use crate::error::{INVALID_VALUE, OUT_OF_MEMORY};
use crate::memory::{self, Kind};
use crate::registry::{Registry, mint};
use crate::sync::lock;

const KIND: u8 = 10;
/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`.
const READ_WRITE: u32 = 3;

pub(crate) static POOLS: Registry<Pool> = Registry::new();

/// One pool.
pub(crate) struct Pool {
    pub(crate) handle: u64,
    pub(crate) device: usize,
    pub(crate) is_default: bool,
    /// Largest size in bytes; 0: the device's.
    limit: u64,
    /// Values of the attributes 1 to 4, kept for the program.
    pub(crate) settings: [AtomicU64; 4],
    used: AtomicU64,
    high: AtomicU64,
    /// What other devices may do (`CUmemAccess_flags`), by their index.
    access: Mutex<BTreeMap<usize, u32>>,
}

impl Pool {
    /// Makes a pool on a device.
    pub(crate) fn create(device: &Device, limit: u64, is_default: bool) -> Arc<Self> {
        let pool = Arc::new(Self {
            handle: mint(KIND),
            device: device.index,
            is_default,
            limit,
            settings: [1, 1, 1, 0].map(AtomicU64::new),
            used: AtomicU64::new(0),
            high: AtomicU64::new(0),
            access: Mutex::default(),
        });
        POOLS.insert(pool.handle, Arc::clone(&pool));
        pool
    }

    /// What a device may do with the pool's memory: its own everything, another what it was given.
    pub(crate) fn access(&self, device: usize) -> u32 {
        if device == self.device {
            return READ_WRITE;
        }
        let access = lock(&self.access);
        access.get(&device).copied().unwrap_or(0)
    }

    /// Says what another device may do.
    pub(crate) fn set_access(&self, device: usize, flags: u32) {
        let mut access = lock(&self.access);
        access.insert(device, flags);
    }

    /// The live pool of a handle.
    pub(crate) fn of(handle: u64) -> Answer<Arc<Self>> {
        crate::state::state()?;
        POOLS.get(handle).ok_or(INVALID_VALUE)
    }

    /// Allocates from the pool.
    pub(crate) fn allocate(&self, device: &Device, size: u64, context: u64) -> Answer<u64> {
        if self.limit != 0 && self.used.load(Ordering::Relaxed).saturating_add(size) > self.limit {
            return Err(OUT_OF_MEMORY);
        }
        let base = memory::allocate(device, size, Kind::Pool(self.handle), context)?;
        let used = self.used.fetch_add(size, Ordering::Relaxed) + size;
        self.high.fetch_max(used, Ordering::Relaxed);
        Ok(base)
    }

    /// `size` bytes went back.
    pub(crate) fn freed(handle: u64, size: u64) {
        if let Some(pool) = POOLS.get(handle) {
            pool.used.fetch_sub(size, Ordering::Relaxed);
        }
    }

    /// Bytes in use.
    pub(crate) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Most bytes that were in use since [`reset_high`](Self::reset_high).
    pub(crate) fn high(&self) -> u64 {
        self.high.load(Ordering::Relaxed)
    }

    /// Resets the highest use.
    pub(crate) fn reset_high(&self) {
        self.high.store(self.used(), Ordering::Relaxed);
    }
}

/// The pools that a device has without being asked.
#[derive(Clone)]
struct Own {
    default: Arc<Pool>,
    current: Arc<Pool>,
}

/// By device.
static OWN: Mutex<Vec<Option<Own>>> = Mutex::new(Vec::new());

fn with_pools<T>(device: &Device, act: impl FnOnce(&mut Own) -> T) -> T {
    let mut pools = lock(&OWN);
    if pools.len() <= device.index {
        pools.resize(device.index + 1, None);
    }
    act(pools[device.index].get_or_insert_with(|| {
        let pool = Pool::create(device, 0, true);
        Own {
            default: Arc::clone(&pool),
            current: pool,
        }
    }))
}

/// The pool that a device has from the start.
pub(crate) fn default_of(device: &Device) -> Arc<Pool> {
    with_pools(device, |own| Arc::clone(&own.default))
}

/// The pool from which `cuMemAllocAsync` allocates.
pub(crate) fn current_of(device: &Device) -> Arc<Pool> {
    with_pools(device, |own| Arc::clone(&own.current))
}

/// Sets the pool from which `cuMemAllocAsync` allocates.
pub(crate) fn set_current(device: &Device, pool: Arc<Pool>) {
    with_pools(device, |own| own.current = pool);
}
