//! Nodes, added to graphs.

// Reads parameters through pointers of the program.
#![allow(unsafe_code)]

use std::ptr::{null, without_provenance_mut};
use std::sync::Arc;

use gtrace_cuda::Kind;
use gtrace_cuda::payload::{
    ACCESS, EDGE, GRAPH_NODE, MEMSET, NodeCall, NodePlace, NodeWork, POOL_PROPERTIES, Payload as _,
    Pitched,
};
use gtrace_cuda::types::driver::{
    self as cuda, CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS_v1,
    CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUcontext, CUdeviceptr,
    CUevent, CUgraph, CUgraphEdgeData, CUgraphNode, CUgraphNodeParams,
};
use gtrace_protocol::{DecodeError, Flags, Reader, Writer};

use super::{copies, kernel, number, within};
use crate::context::put;
use crate::copy::push;
use crate::entry::{Answer, check, exchange, mint, written};
use crate::host_functions::Kept;
use crate::session::{self, Session, with_lane};
use crate::state::lock;
use crate::status::fail_if;
use crate::{host_functions, managed, memory, pitched};

/// Where the program wants a node.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub(super) node: *mut CUgraphNode,
    pub(super) graph: CUgraph,
    pub(super) after: *const CUgraphNode,
    pub(super) edges: *const CUgraphEdgeData,
    pub(super) count: usize,
}

/// Most nodes that one may wait for: more do not fit a frame.
const AFTER_MAX: usize = 1 << 16;

impl Wanted {
    fn place(&self) -> Answer<(u64, NodePlace)> {
        if self.node.is_null() || self.count > AFTER_MAX || (self.after.is_null() && self.count > 0)
        {
            return Err(cuda::CUDA_ERROR_INVALID_VALUE);
        }
        let edge = |at: usize| match self.edges.is_null() {
            true => [0; EDGE],
            false => {
                // SAFETY: the program says that there are as many edges as nodes.
                let edge = unsafe { self.edges.add(at).read() };
                let mut bytes = [0; EDGE];
                bytes[..3].copy_from_slice(&[edge.from_port, edge.to_port, edge.type_]);
                bytes[3..].copy_from_slice(&edge.reserved);
                bytes
            }
        };
        let after = (0..self.count).map(|at| {
            // SAFETY: the program says that there are so many.
            (number(unsafe { self.after.add(at).read() }), edge(at))
        });
        let node = mint(Kind::GraphNode);
        let place = NodePlace::Add {
            node,
            graph: number(self.graph),
            after: after.collect(),
        };
        Ok((node, place))
    }
}

/// Sends a call about a node.
pub(super) fn send_call(session: &'static Session, call: &NodeCall<'_>) -> Answer {
    with_lane(session, |lane| {
        check(lane.take_sticky())?;
        written(
            lane,
            |w| call.write(w),
            |lane, small| push(lane, GRAPH_NODE, Flags::default(), small, &[]),
        )
    })
}

/// As [`send_call`], awaited: `read` takes what the answer says.
pub(super) fn send_awaited(
    session: &'static Session,
    call: &NodeCall<'_>,
    read: impl FnMut(&mut Reader<'_>) -> Result<(), DecodeError>,
) -> Answer {
    let write = |w: &mut Writer| call.write(w);
    exchange(session, GRAPH_NODE, Flags::default(), write, read)
}

/// What reads the answer to a call.
type Read<'a> = &'a mut dyn FnMut(&mut Reader<'_>) -> Result<(), DecodeError>;

/// Adds a node: by a call that is awaited if `read` is given.
fn add(wanted: &Wanted, work: NodeWork<'_>, read: Option<Read<'_>>) -> Answer<u64> {
    let session = session::cuda()?;
    let (node, place) = wanted.place()?;
    let call = NodeCall { place, work };
    match read {
        None => send_call(session, &call)?,
        Some(read) => send_awaited(session, &call, read)?,
    }
    // SAFETY: a pointer of the program.
    unsafe { put(wanted.node, without_provenance_mut(node as usize)) }?;
    Ok(node)
}

pub(super) fn add_kernel(wanted: &Wanted, params: &CUDA_KERNEL_NODE_PARAMS) -> Answer {
    let session = session::cuda()?;
    // SAFETY: parameters of the program.
    let (launch, bytes) = unsafe { kernel::packed(session, params) }?;
    let launch = gtrace_cuda::payload::Launch {
        parameters: &bytes,
        ..launch
    };
    let context = number(params.ctx);
    add(wanted, NodeWork::Kernel { launch, context }, None).map(drop)
}

/// A copy of the program, as it travels.
///
/// # Safety
///
/// Null, or a structure of the program.
pub(super) unsafe fn given_copy(
    session: &Session,
    params: *const CUDA_MEMCPY3D,
) -> Answer<Pitched> {
    // SAFETY: the caller's promise.
    let params = unsafe { params.as_ref() }.ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
    pitched::deep(session, params).map(|copy| pitched::with_managed(&copy))
}

pub(super) unsafe fn add_memcpy(
    wanted: &Wanted,
    params: *const CUDA_MEMCPY3D,
    ctx: CUcontext,
) -> Answer {
    let session = session::cuda()?;
    let graphs = &session.state.graphs;
    // SAFETY: parameters of the program.
    let given = unsafe { given_copy(session, params) }?;
    let graph = within::holder(session, number(wanted.graph));
    let beside = |shape: &copies::Shape| graphs.place(graph, shape);
    let copy = copies::stage(session, &beside, &given, 0)?;
    let context = number(ctx);
    let copy_of_device = copy.staged();
    let work = NodeWork::Memcpy {
        copy: copy_of_device,
        context,
    };
    let node = add(wanted, work, None)?;
    if copy.reads() || copy.writes() {
        graphs.change(graph, |own| own.copies.push(copy.of_node(node)));
        lock(&graphs.owners).insert(node, graph);
    }
    Ok(())
}

/// The bytes of a fill.
///
/// # Safety
///
/// Null, or a structure of the program.
pub(super) unsafe fn memset(
    params: *const CUDA_MEMSET_NODE_PARAMS,
    ctx: CUcontext,
) -> Answer<NodeWork<'static>> {
    fail_if(params.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
    // SAFETY: as many bytes as the structure has, and no padding.
    let params = unsafe { params.cast::<[u8; MEMSET]>().read() };
    managed::reach_bytes(session::cuda()?, &params)?;
    Ok(NodeWork::Memset {
        params,
        context: number(ctx),
    })
}

/// A function of the program, kept for all launches.
pub(super) fn host(params: &CUDA_HOST_NODE_PARAMS) -> Answer<Arc<Kept>> {
    let function = params.fn_.ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
    host_functions::keep(function, params.userData)
}

pub(super) fn add_host(wanted: &Wanted, params: &CUDA_HOST_NODE_PARAMS) -> Answer {
    let function = host(params)?;
    let ticket = function.ticket();
    let node = add(wanted, NodeWork::Host { ticket }, None)?;
    let session = session::cuda()?;
    let graphs = &session.state.graphs;
    let graph = within::holder(session, number(wanted.graph));
    graphs.change(graph, |own| own.functions.push(function));
    lock(&graphs.owners).insert(node, graph);
    Ok(())
}

pub(super) fn add_child(wanted: &Wanted, child: CUgraph) -> Answer {
    let session = session::cuda()?;
    let graphs = &session.state.graphs;
    let graph = number(child);
    let held = within::need(session, graph)?;
    let node = add(
        wanted,
        NodeWork::Child {
            graph,
            moved: false,
        },
        None,
    )?;
    lock(&graphs.owners).insert(node, number(wanted.graph));
    if !held.is_empty() {
        let holder = within::holder(session, number(wanted.graph));
        graphs.change(holder, |own| own.extend(&held));
    }
    Ok(())
}

/// Adds a graph itself, which keeps its handle and what it needs of the client.
pub(super) fn move_child(wanted: &Wanted, child: CUgraph) -> Answer {
    let session = session::cuda()?;
    fail_if(
        session.driver_version < 12_090,
        cuda::CUDA_ERROR_NOT_SUPPORTED,
    )?;
    let graph = number(child);
    // Awaited: the driver refuses some graphs, which stay the program's.
    let work = NodeWork::Child { graph, moved: true };
    let node = add(wanted, work, Some(&mut |_| Ok(())))?;
    let holder = within::holder(session, number(wanted.graph));
    lock(&session.state.graphs.moved).insert(graph, (holder, node));
    Ok(())
}

pub(super) fn add_plain(wanted: &Wanted, work: NodeWork<'_>) -> Answer {
    add(wanted, work, None).map(drop)
}

pub(super) fn add_memory(wanted: &Wanted, params: &mut CUDA_MEM_ALLOC_NODE_PARAMS) -> Answer {
    const { assert!(size_of::<cuda::CUmemPoolProps>() == POOL_PROPERTIES) };
    const { assert!(size_of::<cuda::CUmemAccessDesc>() == ACCESS) };
    let mut pool = params.poolProps;
    pool.win32SecurityAttributes = std::ptr::null_mut();
    let count = params.accessDescCount;
    if count > 64 || (count > 0 && params.accessDescs.is_null()) {
        return Err(cuda::CUDA_ERROR_INVALID_VALUE);
    }
    let accesses = (0..count).map(|at| {
        // SAFETY: the program says that there are so many, of so many bytes.
        unsafe { params.accessDescs.add(at).cast::<[u8; ACCESS]>().read() }
    });
    let work = NodeWork::MemAlloc {
        // SAFETY: as many bytes as the structure has, and no padding.
        pool: unsafe { (&raw const pool).cast::<[u8; POOL_PROPERTIES]>().read() },
        accesses: accesses.collect(),
        size: params.bytesize as u64,
    };
    let mut address = 0;
    add(
        wanted,
        work,
        Some(&mut |r| {
            address = r.u64()?;
            Ok(())
        }),
    )?;
    params.dptr = address;
    let memory = (address, params.bytesize as u64);
    memory::of_graph(session::cuda()?, memory, &params.poolProps.location);
    Ok(())
}

/// Adds a conditional node, and says where the handles of its bodies are.
pub(super) fn add_conditional(
    wanted: &Wanted,
    params: &mut cuda::CUDA_CONDITIONAL_NODE_PARAMS,
) -> Answer {
    let bodies = params.size;
    let work = NodeWork::Conditional {
        handle: params.handle,
        kind: params.type_,
        bodies,
        context: number(params.ctx),
    };
    let mut handles = Vec::new();
    let node = add(
        wanted,
        work,
        Some(&mut |r| {
            for _ in 0..bodies {
                handles.push(r.u64()? as usize);
            }
            Ok(())
        }),
    )?;
    let graphs = &session::cuda()?.state.graphs;
    let handles: Box<[usize]> = handles.into();
    params.phGraph_out = handles.as_ptr().cast_mut().cast();
    lock(&graphs.bodies).insert(node, handles);
    lock(&graphs.owners).insert(node, number(wanted.graph));
    Ok(())
}

/// The newer structure of parameters.
///
/// # Safety
///
/// Null, or a structure of the older form.
pub(super) unsafe fn newer(
    params: *const CUDA_KERNEL_NODE_PARAMS,
) -> Answer<CUDA_KERNEL_NODE_PARAMS> {
    let older = params.cast::<CUDA_KERNEL_NODE_PARAMS_v1>();
    // SAFETY: the caller's promise.
    let older = unsafe { older.as_ref() }.ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
    Ok(CUDA_KERNEL_NODE_PARAMS {
        func: older.func,
        gridDimX: older.gridDimX,
        gridDimY: older.gridDimY,
        gridDimZ: older.gridDimZ,
        blockDimX: older.blockDimX,
        blockDimY: older.blockDimY,
        blockDimZ: older.blockDimZ,
        sharedMemBytes: older.sharedMemBytes,
        kernelParams: older.kernelParams,
        extra: older.extra,
        kern: std::ptr::null_mut(),
        ctx: std::ptr::null_mut(),
    })
}

/// A structure of the program.
///
/// # Safety
///
/// Null, or one of the program.
pub(super) unsafe fn given<'a, T>(params: *const T) -> Answer<&'a T> {
    // SAFETY: the caller's promise.
    unsafe { params.as_ref() }.ok_or(cuda::CUDA_ERROR_INVALID_VALUE)
}

/// A record of an event. From now on the client cannot know by its own calls when the event happens.
pub(super) fn record(event: CUevent) -> Answer<NodeWork<'static>> {
    session::cuda()?
        .state
        .events
        .recorded_on_another_stream(number(event));
    Ok(NodeWork::EventRecord {
        event: number(event),
    })
}

/// Functions that add a node, without edges.
macro_rules! adds {
    ($($name:ident($wanted:ident $(, $argument:ident: $type:ty)*) => $add:expr;)*) => {$(
        #[allow(unused_unsafe, reason = "some are without pointers")]
        pub(crate) unsafe fn $name(
            phGraphNode: *mut CUgraphNode,
            hGraph: CUgraph,
            dependencies: *const CUgraphNode,
            numDependencies: usize,
            $($argument: $type),*
        ) -> Answer {
            let $wanted = &Wanted {
                node: phGraphNode,
                graph: hGraph,
                after: dependencies,
                edges: null(),
                count: numDependencies,
            };
            // SAFETY: parameters of the program.
            unsafe { $add }
        }
    )*};
}

adds! {
    cuGraphAddKernelNode(wanted, params: *const CUDA_KERNEL_NODE_PARAMS) =>
        add_kernel(wanted, &newer(params)?);
    cuGraphAddKernelNode_v2(wanted, params: *const CUDA_KERNEL_NODE_PARAMS) =>
        add_kernel(wanted, given(params)?);
    cuGraphAddMemcpyNode(wanted, params: *const CUDA_MEMCPY3D, ctx: CUcontext) =>
        add_memcpy(wanted, params, ctx);
    cuGraphAddMemsetNode(wanted, params: *const CUDA_MEMSET_NODE_PARAMS, ctx: CUcontext) =>
        add_plain(wanted, memset(params, ctx)?);
    cuGraphAddHostNode(wanted, params: *const CUDA_HOST_NODE_PARAMS) =>
        add_host(wanted, given(params)?);
    cuGraphAddChildGraphNode(wanted, graph: CUgraph) => add_child(wanted, graph);
    cuGraphAddEventRecordNode(wanted, event: CUevent) => add_plain(wanted, record(event)?);
    cuGraphAddEventWaitNode(wanted, event: CUevent) =>
        add_plain(wanted, NodeWork::EventWait { event: number(event) });
    cuGraphAddMemAllocNode(wanted, params: *mut CUDA_MEM_ALLOC_NODE_PARAMS) =>
        add_memory(wanted, params.as_mut().ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?);
    cuGraphAddMemFreeNode(wanted, address: CUdeviceptr) =>
        add_plain(wanted, NodeWork::MemFree { address });
    cuGraphAddNode(wanted, params: *mut CUgraphNodeParams) => super::params::add(wanted, params);
}

pub(crate) unsafe fn cuGraphAddNode_v2(
    phGraphNode: *mut CUgraphNode,
    hGraph: CUgraph,
    dependencies: *const CUgraphNode,
    dependencyData: *const CUgraphEdgeData,
    numDependencies: usize,
    nodeParams: *mut CUgraphNodeParams,
) -> Answer {
    let wanted = Wanted {
        node: phGraphNode,
        graph: hGraph,
        after: dependencies,
        edges: dependencyData,
        count: numDependencies,
    };
    // SAFETY: parameters of the program.
    unsafe { super::params::add(&wanted, nodeParams) }
}
