//! Live handles: every handle that a program holds is a number minted here, and only a number that
//! is still registered leads to an object, so a wrong or destroyed handle is reported, never followed.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

use crate::abi::Answer;
use crate::error::INVALID_HANDLE;
use crate::state::state;
use crate::sync::{read, write};

/// Handles look like addresses, as programs may print them, in a range that the kernel gives to
/// nobody (not canonical on x86-64): one that is followed by mistake faults at once.
const BASE: u64 = 0x5f00_0000_0000_0000;

static NEXT: AtomicU64 = AtomicU64::new(1);

/// A new handle of `kind`, unique in the process.
pub(crate) fn mint(kind: u8) -> u64 {
    BASE | u64::from(kind) << 48 | NEXT.fetch_add(1, Ordering::Relaxed) << 4
}

/// Hashes a minted number by spreading its counter; the keys are not the caller's to choose.
#[derive(Default)]
pub(crate) struct HandleHasher(u64);

impl Hasher for HandleHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// The live handles of one kind.
pub(crate) struct Registry<T> {
    live: RwLock<Option<Map<T>>>,
}

type Map<T> = HashMap<u64, Arc<T>, BuildHasherDefault<HandleHasher>>;

impl<T> Registry<T> {
    pub(crate) const fn new() -> Self {
        Self {
            live: RwLock::new(None),
        }
    }

    /// Registers a new object of `kind`; its handle.
    pub(crate) fn add(&self, kind: u8, object: T) -> u64 {
        let handle = mint(kind);
        self.insert(handle, Arc::new(object));
        handle
    }

    /// Registers `object` under `handle`.
    pub(crate) fn insert(&self, handle: u64, object: Arc<T>) {
        let mut live = write(&self.live);
        live.get_or_insert_with(Map::default).insert(handle, object);
    }

    /// The object of `handle`, if it lives.
    pub(crate) fn get(&self, handle: u64) -> Option<Arc<T>> {
        let live = read(&self.live);
        live.as_ref()?.get(&handle).cloned()
    }

    /// The object of a handle that the program gives.
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_INITIALIZED` without `cuInit`; `CUDA_ERROR_INVALID_HANDLE`.
    pub(crate) fn find(&self, handle: u64) -> Answer<Arc<T>> {
        state()?;
        self.get(handle).ok_or(INVALID_HANDLE)
    }

    /// Ends `handle`.
    pub(crate) fn remove(&self, handle: u64) -> Option<Arc<T>> {
        let mut live = write(&self.live);
        live.as_mut()?.remove(&handle)
    }

    /// Ends every handle that `which` names.
    pub(crate) fn remove_where(&self, which: impl Fn(&T) -> bool) -> Vec<Arc<T>> {
        let mut live = write(&self.live);
        let Some(live) = live.as_mut() else {
            return Vec::new();
        };
        live.extract_if(|_, object| which(object))
            .map(|(_, object)| object)
            .collect()
    }

    /// All live objects.
    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        let live = read(&self.live);
        live.as_ref()
            .map(|live| live.values().cloned().collect())
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_handle_is_no_longer_followed() {
        static NUMBERS: Registry<u32> = Registry::new();
        let handle = mint(9);
        assert!(NUMBERS.get(handle).is_none());
        NUMBERS.insert(handle, Arc::new(5));
        assert_eq!(NUMBERS.get(handle).as_deref(), Some(&5));
        assert!(NUMBERS.get(handle + 16).is_none());
        assert!(NUMBERS.remove(handle).is_some());
        assert!(NUMBERS.get(handle).is_none());
    }
}
