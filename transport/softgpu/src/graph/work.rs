//! What a node does.

use std::sync::Arc;

use super::conditional::Conditional;
use super::memory::GraphMemory;
use super::{Graph, capture};
use crate::abi::Answer;
use crate::command::{Command, Copy, Fill, MemOp, UserData};
use crate::context::Context;
use crate::error::NOT_SUPPORTED;
use crate::event::Event;
use crate::health::Health;
use crate::launch::{Kernel, Launch};
use crate::state::state;
use crate::types::{Memcpy3D, MemsetNodeParams};

/// `CU_GRAPH_NODE_TYPE_*`.
pub(crate) const KERNEL: u32 = 0;
pub(crate) const MEMCPY: u32 = 1;
pub(crate) const MEMSET: u32 = 2;
pub(crate) const HOST: u32 = 3;
pub(crate) const CHILD: u32 = 4;
pub(crate) const EMPTY: u32 = 5;
pub(crate) const WAIT_EVENT: u32 = 6;
pub(crate) const RECORD_EVENT: u32 = 7;
pub(crate) const MEM_ALLOC: u32 = 10;
pub(crate) const MEM_FREE: u32 = 11;
pub(crate) const MEM_OP: u32 = 12;
pub(crate) const CONDITIONAL: u32 = 13;

/// A copy with the pieces that it comes to.
#[derive(Clone)]
pub(crate) struct Memcpy {
    pub(crate) given: Memcpy3D,
    pub(crate) pieces: Vec<Copy>,
    pub(crate) context: u64,
}

/// A fill as the program gave it.
#[derive(Clone)]
pub(crate) struct Memset {
    pub(crate) given: MemsetNodeParams,
    pub(crate) fill: Fill,
    pub(crate) context: u64,
}

/// A function of the program.
#[derive(Clone, Copy)]
pub(crate) struct Host {
    pub(crate) function: unsafe extern "C" fn(*mut std::ffi::c_void),
    pub(crate) data: UserData,
}

/// See the module.
#[derive(Clone)]
pub(crate) enum Work {
    Kernel(Arc<Kernel>),
    Memcpy(Memcpy),
    Memset(Memset),
    Host(Host),
    Child(Arc<Graph>),
    Empty,
    /// With the event's handle.
    WaitEvent(u64, Arc<Event>),
    /// With the event's handle.
    RecordEvent(u64, Arc<Event>),
    MemAlloc(Arc<GraphMemory>),
    MemFree(u64),
    MemOp(MemOp),
    Conditional(Arc<Conditional>),
}

impl Work {
    /// `CU_GRAPH_NODE_TYPE_*`.
    pub(crate) fn kind(&self) -> u32 {
        match self {
            Self::Kernel(_) => KERNEL,
            Self::Memcpy(_) => MEMCPY,
            Self::Memset(_) => MEMSET,
            Self::Host(_) => HOST,
            Self::Child(_) => CHILD,
            Self::Empty => EMPTY,
            Self::WaitEvent(..) => WAIT_EVENT,
            Self::RecordEvent(..) => RECORD_EVENT,
            Self::MemAlloc(_) => MEM_ALLOC,
            Self::MemFree(_) => MEM_FREE,
            Self::MemOp(_) => MEM_OP,
            Self::Conditional(_) => CONDITIONAL,
        }
    }

    /// Graphs that end with the node.
    pub(crate) fn inner(&self) -> Vec<Arc<Graph>> {
        match self {
            Self::Child(graph) => vec![Arc::clone(graph)],
            Self::Conditional(conditional) => conditional.bodies.clone(),
            _ => Vec::new(),
        }
    }

    /// The same for a node of a clone.
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_SUPPORTED` for nodes of memory and conditional ones.
    pub(crate) fn duplicate(&self) -> Answer<Self> {
        match self {
            Self::Child(graph) => Ok(Self::Child(graph.duplicate(true)?)),
            Self::MemAlloc(_) | Self::MemFree(_) | Self::Conditional(_) => Err(NOT_SUPPORTED),
            other => Ok(other.clone()),
        }
    }

    /// Carries it out in the calling thread, if it needs nothing of the launch: neither records of
    /// events nor inner graphs.
    pub(crate) fn run(&self, health: &Health) -> Answer {
        match self {
            Self::Kernel(kernel) => {
                let fate = kernel.context.device.faults.on_launch();
                let launch = Launch {
                    state: state()?,
                    kernel: Arc::clone(kernel),
                    fate,
                };
                launch.run(health)
            }
            Self::Memcpy(copy) => {
                copy.pieces.iter().for_each(Copy::run);
                Ok(())
            }
            Self::Memset(memset) => {
                memset.fill.run();
                Ok(())
            }
            Self::Host(host) => Command::HostFn(host.function, host.data).run(health),
            Self::MemAlloc(memory) => {
                memory.set_live(true);
                Ok(())
            }
            Self::MemFree(address) => {
                if let Some(memory) = GraphMemory::of(*address) {
                    memory.set_live(false);
                }
                Ok(())
            }
            Self::MemOp(op) => Command::MemOp(*op).run(health),
            Self::Child(_)
            | Self::Empty
            | Self::WaitEvent(..)
            | Self::RecordEvent(..)
            | Self::Conditional(_) => Ok(()),
        }
    }
}

/// The context of a node: the one that was given, or the current one.
pub(crate) fn context_of(handle: u64) -> Answer<Arc<Context>> {
    match handle {
        0 => crate::context::current(),
        handle => Context::of(handle),
    }
}

/// Has `stream` capture `work`, if it captures.
pub(crate) fn captured(
    stream: &crate::stream::Stream,
    work: impl FnOnce() -> Answer<Work>,
) -> Answer<bool> {
    let Some(capture) = capture::of(stream) else {
        return Ok(false);
    };
    capture.check()?;
    capture::record(stream, &capture, work()?)?;
    Ok(true)
}
