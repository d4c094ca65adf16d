//! Memory that nodes allocate: its address is known from when the node is added, and its bytes are
//! kept as long as a graph, or what was instantiated from it, has the node.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::abi::Answer;
use crate::device::Device;
use crate::error::INVALID_VALUE;
use crate::memory::{self, Kind};
use crate::state::shared;

/// One allocation of a graph.
pub(crate) struct GraphMemory {
    pub(crate) address: u64,
    pub(crate) size: usize,
    pub(crate) device: usize,
    live: AtomicBool,
}

static ALL: Mutex<Option<HashMap<u64, Weak<GraphMemory>>>> = Mutex::new(None);

fn with_all<T>(act: impl FnOnce(&mut HashMap<u64, Weak<GraphMemory>>) -> T) -> T {
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    act(all.get_or_insert_default())
}

impl GraphMemory {
    /// Takes memory for a node.
    pub(crate) fn allocate(device: &Device, size: usize, context: u64) -> Answer<Arc<Self>> {
        let address = memory::allocate(device, size as u64, Kind::Graph, context)?;
        let own = Arc::new(Self {
            address,
            size,
            device: device.index,
            live: AtomicBool::new(false),
        });
        with_all(|all| all.insert(address, Arc::downgrade(&own)));
        Ok(own)
    }

    /// What a node allocated at `address`, if its graph is still there.
    pub(crate) fn of(address: u64) -> Option<Arc<Self>> {
        with_all(|all| all.get(&address).and_then(Weak::upgrade))
    }

    /// Whether the program, or a later launch, has it to free.
    pub(crate) fn is_live(&self) -> bool {
        self.live.load(Ordering::SeqCst)
    }

    /// The node has run.
    pub(crate) fn set_live(&self, live: bool) {
        self.live.store(live, Ordering::SeqCst);
    }
}

impl Drop for GraphMemory {
    fn drop(&mut self) {
        with_all(|all| all.remove(&self.address));
        // The program still has to free it.
        if !self.is_live()
            && let Some(state) = shared()
        {
            let _ = memory::free(&state.devices, self.address, |_| true);
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
