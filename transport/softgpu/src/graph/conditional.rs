//! Conditional nodes: graphs that run if, while, or as a value says that kernels set.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::Graph;
use crate::abi::Answer;
use crate::error::{INVALID_VALUE, fail_if};
use crate::sync::lock;

/// `CU_GRAPH_COND_TYPE_*`.
pub(crate) const IF: u32 = 0;
pub(crate) const WHILE: u32 = 1;
pub(crate) const SWITCH: u32 = 2;

/// `CU_GRAPH_COND_ASSIGN_DEFAULT`.
const ASSIGN_DEFAULT: u32 = 1;

/// The value that a conditional node reads.
pub(crate) struct Value {
    /// The graph that it was made for.
    pub(crate) graph: u64,
    value: AtomicU32,
    default: Option<u32>,
    /// A node has it.
    used: AtomicU32,
}

/// A conditional node.
pub(crate) struct Conditional {
    pub(crate) handle: u64,
    pub(crate) value: Arc<Value>,
    pub(crate) kind: u32,
    pub(crate) bodies: Vec<Arc<Graph>>,
    /// Their handles, at the place that the program was given.
    pub(crate) handles: Box<[u64]>,
}

static VALUES: Mutex<BTreeMap<u64, Arc<Value>>> = Mutex::new(BTreeMap::new());

impl Value {
    /// A new value for nodes of `graph`; its handle.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for flags that do not exist.
    pub(crate) fn create(graph: &Graph, default: u32, flags: u32) -> Answer<u64> {
        static HANDLES: AtomicU64 = AtomicU64::new(1);
        fail_if(flags & !ASSIGN_DEFAULT != 0, INVALID_VALUE)?;
        let value = Self {
            graph: graph.handle,
            value: AtomicU32::new(0),
            default: (flags & ASSIGN_DEFAULT != 0).then_some(default),
            used: AtomicU32::new(0),
        };
        let handle = HANDLES.fetch_add(1, Ordering::Relaxed);
        lock(&VALUES).insert(handle, Arc::new(value));
        Ok(handle)
    }

    /// The graph is launched.
    pub(crate) fn begin(&self) {
        if let Some(default) = self.default {
            self.value.store(default, Ordering::SeqCst);
        }
    }

    /// What kernels have said.
    pub(crate) fn get(&self) -> u32 {
        self.value.load(Ordering::SeqCst)
    }
}

/// `cudaGraphSetConditional` of a kernel; a handle that does not exist changes nothing.
pub(crate) fn set(handle: u64, value: u32) {
    if let Some(own) = lock(&VALUES).get(&handle).cloned() {
        own.value.store(value, Ordering::SeqCst);
    }
}

impl Conditional {
    /// A conditional node with `count` empty bodies.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a handle of another graph or one that another node has, and for
    /// a number of bodies that the kind does not take (if: 1 or 2, while: 1, switch: any).
    pub(crate) fn create(graph: &Graph, handle: u64, kind: u32, count: u32) -> Answer<Self> {
        let value = lock(&VALUES).get(&handle).cloned().ok_or(INVALID_VALUE)?;
        let fits = match kind {
            IF => matches!(count, 1 | 2),
            WHILE => count == 1,
            SWITCH => (1..=1024).contains(&count),
            _ => false,
        };
        if !fits || value.graph != graph.handle || value.used.swap(1, Ordering::SeqCst) != 0 {
            return Err(INVALID_VALUE);
        }
        let bodies: Vec<_> = (0..count).map(|_| Graph::create(true)).collect();
        let handles = bodies.iter().map(|body| body.handle).collect();
        Ok(Self {
            handle,
            value,
            kind,
            bodies,
            handles,
        })
    }

    /// Which body runs now.
    pub(crate) fn choice(&self) -> Option<usize> {
        let value = self.value.get();
        let at = match self.kind {
            SWITCH => value as usize,
            IF if value == 0 => 1,
            _ if value != 0 => 0,
            _ => return None,
        };
        (at < self.bodies.len()).then_some(at)
    }
}
