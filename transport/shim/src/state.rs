//! What the client keeps of the driver's objects.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::AtomicBool;
use std::sync::{
    Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
};

use crate::allocations::Allocations;
use crate::capture::Captures;
use crate::contexts::Contexts;
use crate::deferred_copies::DeferredCopies;
use crate::device::LaunchLimits;
use crate::events::Events;
use crate::functions::Functions;
use crate::graph::Graphs;
use crate::host_functions::HostFunctions;
use crate::linker::Linker;
use crate::spare::Spare;
use crate::textures::Objects;

/// State of a session.
#[derive(Default)]
pub(crate) struct State {
    /// By ordinal, once CUDA is initialised.
    pub(crate) launch_limits: OnceLock<Box<[LaunchLimits]>>,
    pub(crate) contexts: Mutex<Contexts>,
    pub(crate) allocations: RwLock<Allocations>,
    pub(crate) spare: Spare,
    /// Other processes have memory of this one, or it has memory of theirs.
    pub(crate) shares_memory: AtomicBool,
    pub(crate) functions: Mutex<Functions>,
    pub(crate) captures: Captures,
    pub(crate) graphs: Graphs,
    /// Events that were recorded.
    pub(crate) events: Events,
    pub(crate) host_functions: HostFunctions,
    /// Copies to page-locked memory that were not waited for.
    pub(crate) deferred_copies: DeferredCopies,
    /// Texture and surface objects.
    pub(crate) objects: Mutex<Objects>,
    /// The pool from which `cuMemAllocAsync` allocates, by device, where the program has set one.
    pub(crate) pools: Mutex<BTreeMap<i32, u64>>,
    /// The device of each pool that the program has been given.
    pub(crate) pool_devices: Mutex<BTreeMap<u64, i32>>,
    /// Linkers by their handle.
    pub(crate) linkers: Mutex<HashMap<u64, Linker>>,
}

/// The lock, whoever has panicked under it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The lock for reading, whoever has panicked under it.
pub(crate) fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

/// The lock for writing, whoever has panicked under it.
pub(crate) fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
