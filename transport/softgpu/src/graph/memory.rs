//! Memory that nodes allocate: its address is known from when the node is added, and its bytes are
//! kept as long as a graph, or what was instantiated from it, has the node.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

use crate::abi::Answer;
use crate::device::Device;
use crate::error::INVALID_VALUE;
use crate::memory::{self, Kind};
use crate::state::shared;
use crate::sync::lock;

/// One allocation of a graph.
pub(crate) struct GraphMemory {
    pub(crate) address: u64,
    pub(crate) size: usize,
    pub(crate) device: usize,
    /// Of its allocation ([`memory::Allocation`]).
    id: u64,
    /// The node has run, and what frees the memory has not.
    live: AtomicBool,
    /// A launch was asked for that allocates it, and nothing since that frees it.
    owed: AtomicBool,
}

static ALL: Mutex<BTreeMap<u64, Weak<GraphMemory>>> = Mutex::new(BTreeMap::new());

impl GraphMemory {
    /// Takes memory for a node.
    pub(crate) fn allocate(device: &Device, size: usize, context: u64) -> Answer<Arc<Self>> {
        let address = memory::allocate(device, size as u64, Kind::Graph, context)?;
        let own = Arc::new(Self {
            address,
            size,
            device: device.index,
            id: memory::find(address).map_or(0, |found| found.id),
            live: AtomicBool::new(false),
            owed: AtomicBool::new(false),
        });
        lock(&ALL).insert(address, Arc::downgrade(&own));
        Ok(own)
    }

    /// What a node allocated at `address`, if its graph is still there.
    pub(crate) fn of(address: u64) -> Option<Arc<Self>> {
        lock(&ALL).get(&address).and_then(Weak::upgrade)
    }

    /// Whether the program, or a later launch, has it to free.
    pub(crate) fn is_owed(&self) -> bool {
        self.owed.load(Ordering::SeqCst)
    }

    /// A launch, or what frees it, was asked for; whether it was owed before.
    pub(crate) fn set_owed(&self, owed: bool) -> bool {
        self.owed.swap(owed, Ordering::SeqCst)
    }

    /// A node has allocated or freed it.
    pub(crate) fn set_live(&self, live: bool) {
        self.live.store(live, Ordering::SeqCst);
    }
}

impl Drop for GraphMemory {
    fn drop(&mut self) {
        // The address may be another's by now: the memory went with its context.
        let (address, own) = (self.address, std::ptr::from_ref::<Self>(self));
        let mut all = lock(&ALL);
        let is_own = |one: &Weak<Self>| std::ptr::eq(one.as_ptr(), own);
        if all.get(&address).is_some_and(is_own) {
            all.remove(&address);
        }
        drop(all);
        // Else the program still has to free it.
        if !self.live.load(Ordering::SeqCst)
            && let Some(state) = shared()
        {
            let _ = memory::free(&state.devices, address, |found| found.id == self.id);
        }
    }
}

/// Frees what a node allocated, as `cuMemFree` and `cuMemFreeAsync` do.
///
/// # Errors
/// `CUDA_ERROR_INVALID_VALUE` if it is free.
pub(crate) fn free(address: u64) -> Answer {
    if let Some(own) = GraphMemory::of(address) {
        return match own.live.swap(false, Ordering::SeqCst) {
            true => Ok(()),
            false => Err(INVALID_VALUE),
        };
    }
    let state = shared().ok_or(INVALID_VALUE)?;
    memory::free(&state.devices, address, |found| found.kind == Kind::Graph).map(|_| ())
}
