//! What the nodes of graphs do, out of the structures of the interface and back.

use std::ffi::c_int;
use std::mem::size_of;
use std::sync::Arc;

use crate::abi::{Answer, In};
use crate::api::{copy, fill};
use crate::command::UserData;
use crate::error::{INVALID_VALUE, NOT_SUPPORTED, fail_if};
use crate::event::Event;
use crate::graph::Graph;
use crate::graph::conditional::Conditional;
use crate::graph::memory::GraphMemory;
use crate::graph::work::{self, Host, Work, context_of};
use crate::launch::{Kernel, Request, Shape};
use crate::state::state;
use crate::types::{
    ChildNodeParams, ConditionalNodeParams, DevicePtr, Handle, HostNodeParams, KernelNodeParams,
    KernelNodeParamsV1, MemAllocNodeParams, MemLocation, MemPoolProps, MemcpyNodeParams,
    MemsetNodeParamsV2, NodeParams, PointerArray,
};

impl NodeParams {
    /// The parameters as those of one kind, which all are smaller.
    pub(super) fn body<T: Copy>(&self) -> T {
        const { assert!(size_of::<T>() <= 29 * 8) };
        // SAFETY: numbers and pointers, which may have any bits; aligned to eight bytes, and not
        // larger than the body.
        unsafe { self.body.as_ptr().cast::<T>().read() }
    }

    pub(super) fn of<T: Copy>(kind: u32, body: T) -> Self {
        const { assert!(size_of::<T>() <= 29 * 8) };
        let mut params = Self {
            kind,
            reserved: [0; 3],
            body: [0; 29],
            more: 0,
        };
        // SAFETY: as above.
        unsafe { params.body.as_mut_ptr().cast::<T>().write(body) };
        params
    }
}

pub(super) fn kernel(given: &KernelNodeParamsV1, kernel: Handle, context: Handle) -> Answer<Work> {
    let context = context_of(context)?;
    let function = if given.function == 0 {
        kernel
    } else {
        given.function
    };
    let request = Request {
        function,
        shape: Shape {
            grid: given.grid,
            block: given.block,
            shared: given.shared_bytes,
        },
        stream: 0,
        values: given.values,
        extra: given.extra,
        cooperative: false,
        attributes: Vec::new(),
    };
    Ok(Work::Kernel(Arc::new(Kernel::new(&context, &request)?)))
}

/// The same launch with the attributes that a node had.
pub(super) fn keep_attributes(old: &Work, new: Work) -> Work {
    match (old, new) {
        (Work::Kernel(old), Work::Kernel(new)) => {
            let mut kernel = Kernel::clone(&new);
            kernel.cooperative = old.cooperative;
            kernel.attributes.clone_from(&old.attributes);
            Work::Kernel(Arc::new(kernel))
        }
        (_, new) => new,
    }
}

/// `CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE`
pub(super) const CLONE: c_int = 0;
/// `CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE`
const MOVE: c_int = 1;

pub(super) fn host(given: &HostNodeParams) -> Answer<Work> {
    Ok(Work::Host(Host {
        function: given.function.ok_or(INVALID_VALUE)?,
        data: UserData(given.data),
    }))
}

/// A child of `parent`: a copy, or the graph itself, which may have memory of its own.
pub(super) fn child(parent: &Graph, given: &ChildNodeParams) -> Answer<Work> {
    let graph = Graph::of(given.graph)?;
    match given.ownership {
        _ if graph.is_moved() => Err(INVALID_VALUE),
        CLONE => Ok(Work::Child(graph.duplicate(true)?)),
        MOVE => {
            graph.move_into(parent)?;
            Ok(Work::Child(graph))
        }
        _ => Err(INVALID_VALUE),
    }
}

pub(super) fn memory(given: &MemAllocNodeParams) -> Answer<Arc<GraphMemory>> {
    let context = crate::context::current()?;
    if given.pool.handle_types != 0 || given.pool.location.kind != 1 || given.size == 0 {
        return Err(INVALID_VALUE);
    }
    let device = state()?.device(given.pool.location.id)?;
    GraphMemory::allocate(device, given.size, context.handle)
}

pub(super) fn memory_params(memory: &GraphMemory) -> Answer<MemAllocNodeParams> {
    let devices = &state()?.devices;
    let device = devices.get(memory.device).ok_or(INVALID_VALUE)?;
    Ok(MemAllocNodeParams {
        pool: MemPoolProps {
            alloc_type: 1,
            handle_types: 0,
            location: MemLocation {
                kind: 1,
                id: state()?.ordinal(device),
            },
            win32_security_attributes: std::ptr::null_mut(),
            max_size: 0,
            usage: 0,
            gpu_direct_rdma_capable: 0,
            reserved: [0; 53],
        },
        accesses: std::ptr::null(),
        access_count: 0,
        size: memory.size,
        address: memory.address,
    })
}

pub(super) fn kernel_params(kernel: &Arc<Kernel>, pointers: *const u64) -> KernelNodeParamsV1 {
    // SAFETY: null, or pointers that the node keeps as long as it lives and is not changed.
    let values = unsafe { In::new(pointers) };
    KernelNodeParamsV1 {
        function: kernel.handle,
        grid: kernel.shape.grid,
        block: kernel.shape.block,
        shared_bytes: kernel.shape.shared,
        values,
        extra: PointerArray::NULL,
    }
}

pub(super) fn full_kernel_params(kernel: &Arc<Kernel>) -> KernelNodeParams {
    KernelNodeParams {
        first: kernel_params(kernel, kernel.pointers()),
        kernel: 0,
        context: kernel.context.handle,
    }
}

pub(super) fn event(handle: Handle, record: bool) -> Answer<Work> {
    let event = Event::of(handle)?;
    Ok(match record {
        true => Work::RecordEvent(handle, event),
        false => Work::WaitEvent(handle, event),
    })
}

/// Work of the kind that a structure says.
pub(super) fn general(graph: &Graph, given: &NodeParams) -> Answer<Work> {
    fail_if(given.reserved != [0; 3] || given.more != 0, INVALID_VALUE)?;
    match given.kind {
        work::KERNEL => {
            let body: KernelNodeParams = given.body();
            kernel(&body.first, body.kernel, body.context)
        }
        work::MEMCPY => {
            let body: MemcpyNodeParams = given.body();
            copy::work(&body.copy, &*context_of(body.context)?)
        }
        work::MEMSET => {
            let body: MemsetNodeParamsV2 = given.body();
            fill::work(&body.first, &*context_of(body.context)?)
        }
        work::HOST => host(&given.body()),
        work::CHILD => child(graph, &given.body()),
        work::EMPTY => Ok(Work::Empty),
        work::WAIT_EVENT => event(given.body(), false),
        work::RECORD_EVENT => event(given.body(), true),
        work::MEM_ALLOC => Ok(Work::MemAlloc(memory(&given.body())?)),
        work::MEM_FREE => free(given.body()),
        work::CONDITIONAL => {
            let body: ConditionalNodeParams = given.body();
            let made = Conditional::create(graph, body.handle, body.kind, body.size)?;
            Ok(Work::Conditional(Arc::new(made)))
        }
        _ => Err(NOT_SUPPORTED),
    }
}

/// Frees memory of a graph; no other is for nodes.
pub(super) fn free(address: DevicePtr) -> Answer<Work> {
    GraphMemory::of(address).ok_or(INVALID_VALUE)?;
    Ok(Work::MemFree(address))
}

/// What a node does, as the structure says it.
pub(super) fn general_of(work: &Work) -> Answer<NodeParams> {
    let kind = work.kind();
    Ok(match work {
        Work::Kernel(kernel) => NodeParams::of(kind, full_kernel_params(kernel)),
        Work::Memcpy(copy) => NodeParams::of(
            kind,
            MemcpyNodeParams {
                flags: 0,
                reserved: 0,
                context: copy.context,
                copy: copy.given,
            },
        ),
        Work::Memset(memset) => NodeParams::of(
            kind,
            MemsetNodeParamsV2 {
                first: memset.given,
                context: memset.context,
            },
        ),
        Work::Host(host) => NodeParams::of(kind, host_params(host)),
        Work::Child(graph) => NodeParams::of(
            kind,
            ChildNodeParams {
                graph: graph.handle,
                ownership: CLONE,
            },
        ),
        Work::Empty => NodeParams::of(kind, 0u64),
        Work::WaitEvent(handle, _) | Work::RecordEvent(handle, _) => NodeParams::of(kind, *handle),
        Work::MemAlloc(memory) => NodeParams::of(kind, memory_params(memory)?),
        Work::MemFree(address) => NodeParams::of(kind, *address),
        Work::MemOp(_) => return Err(NOT_SUPPORTED),
        Work::Conditional(conditional) => NodeParams::of(kind, conditional_params(conditional)),
    })
}

pub(super) fn conditional_params(conditional: &Conditional) -> ConditionalNodeParams {
    ConditionalNodeParams {
        handle: conditional.handle,
        kind: conditional.kind,
        size: conditional.bodies.len() as u32,
        graphs: conditional.handles.as_ptr(),
        context: 0,
    }
}

pub(super) fn host_params(host: &Host) -> HostNodeParams {
    HostNodeParams {
        function: Some(host.function),
        data: host.data.0,
    }
}
