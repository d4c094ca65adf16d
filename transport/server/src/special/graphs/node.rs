//! Nodes, added and changed.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::mem;
use std::ptr::null_mut;

use gtrace_cuda::Kind;
use gtrace_cuda::payload::{Launch, NodeCall, NodePlace, NodeWork, Payload as _, SideKind};
use gtrace_cuda::types::driver::{
    CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE,
    CU_GRAPH_NODE_TYPE_CONDITIONAL, CU_GRAPH_NODE_TYPE_EMPTY, CU_GRAPH_NODE_TYPE_EVENT_RECORD,
    CU_GRAPH_NODE_TYPE_GRAPH, CU_GRAPH_NODE_TYPE_HOST, CU_GRAPH_NODE_TYPE_KERNEL,
    CU_GRAPH_NODE_TYPE_MEM_ALLOC, CU_GRAPH_NODE_TYPE_MEM_FREE, CU_GRAPH_NODE_TYPE_MEMCPY,
    CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_WAIT_EVENT,
    CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
    CUDA_CHILD_GRAPH_NODE_PARAMS, CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS,
    CUDA_KERNEL_NODE_PARAMS_v3, CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS_v2,
    CUDA_MEM_FREE_NODE_PARAMS, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUgraph, CUgraphEdgeData,
    CUgraphExec, CUgraphNode, CUgraphNodeParams, CUmemAccessDesc,
};
use gtrace_protocol::{Reader, Writer};

use super::super::{INVALID_VALUE, NOT_SUPPORTED, SUCCESS, checked, hosts, launch, pitched};
use crate::exec::{Called, Code, Exec};
use crate::worker::objects::Object;

/// Where a node is, with the driver's names.
enum Place {
    Add {
        graph: CUgraph,
        after: Vec<CUgraphNode>,
        edges: Vec<CUgraphEdgeData>,
    },
    Set(CUgraphNode),
    SetExec(CUgraphExec, CUgraphNode),
}

fn place(exec: &Exec, place: &NodePlace) -> Result<Place, Code> {
    let node = |handle| Ok::<_, Code>(exec.handles.real(Kind::GraphNode, handle)?.cast());
    Ok(match place {
        NodePlace::Add {
            node: new,
            graph,
            after,
        } => {
            exec.handles.check_minted(Kind::GraphNode, *new)?;
            let edges = after.iter().map(|(_, edge)| CUgraphEdgeData {
                from_port: edge[0],
                to_port: edge[1],
                type_: edge[2],
                reserved: [edge[3], edge[4], edge[5], edge[6], edge[7]],
            });
            Place::Add {
                graph: exec.handles.real(Kind::Graph, *graph)?.cast(),
                edges: edges.collect(),
                after: after
                    .iter()
                    .map(|(other, _)| node(*other))
                    .collect::<Result<_, _>>()?,
            }
        }
        NodePlace::Set { node: own } => Place::Set(node(*own)?),
        NodePlace::SetExec {
            exec: of,
            node: own,
        } => Place::SetExec(exec.handles.real(Kind::GraphExec, *of)?.cast(), node(*own)?),
    })
}

fn context(exec: &Exec, handle: u64) -> Result<*mut c_void, Code> {
    match handle {
        0 => Ok(null_mut()),
        handle => exec.handles.real(Kind::Context, handle),
    }
}

/// The current context where the client named none: copies and fills have to have one.
fn own_context(exec: &Exec, handle: u64) -> Result<*mut c_void, Code> {
    let given = context(exec, handle)?;
    if !given.is_null() {
        return Ok(given);
    }
    let mut current = null_mut();
    let call = exec.driver.cuCtxGetCurrent.ok_or(NOT_SUPPORTED)?;
    // SAFETY: a handle to write to.
    checked(unsafe { call(&raw mut current) })?;
    Ok(current.cast())
}

/// A call of the driver that adds a node, or changes one, by a function or its older form.
macro_rules! by {
    ($exec:expr, $function:ident $(or $older:ident)?, $($argument:expr),*) => {{
        let call = $exec.driver.$function$(.or($exec.driver.$older))?.ok_or(NOT_SUPPORTED)?;
        // SAFETY: objects of the driver; parameters that live until the call returns, of which the
        // driver keeps a copy.
        checked(unsafe { call($($argument),*) })
    }};
}

/// The same for one that adds a node to a graph after others.
macro_rules! add {
    ($target:expr, $function:ident $(or $older:ident)?, ($graph:expr, $after:expr) $(, $argument:expr)*) => {
        by!(
            $target.exec, $function $(or $older)?, &raw mut $target.made,
            *$graph, $after.as_ptr(), $after.len() $(, $argument)*
        )
    };
}

/// Adds a node by the first function, or changes it by the second in its graph, by the third where it was instantiated. Only the
/// second has no context.
macro_rules! add_or_set {
    (
        $target:expr, $params:expr $(, $context:expr)?;
        $add:ident $(or $older_add:ident)?,
        $set:ident $(or $older_set:ident)?,
        $set_exec:ident $(or $older_set_exec:ident)? $(,)?
    ) => {
        match $target.place {
            Place::Add { graph, after, .. } => {
                add!($target, $add $(or $older_add)?, (graph, after), $params $(, $context)?)
            }
            Place::Set(node) => by!($target.exec, $set $(or $older_set)?, *node, $params),
            Place::SetExec(of, node) => by!(
                $target.exec, $set_exec $(or $older_set_exec)?, *of, *node, $params $(, $context)?
            ),
        }
    };
}

/// What a node is to be, and where its handle goes.
struct Target<'a> {
    exec: &'a Exec,
    place: &'a Place,
    made: CUgraphNode,
}

/// Whether an edge says nothing in particular.
fn is_plain(edge: &CUgraphEdgeData) -> bool {
    (edge.from_port, edge.to_port, edge.type_, edge.reserved) == (0, 0, 0, [0; 5])
}

/// Adds a node by the function that takes edges and all kinds of nodes.
fn add_general(target: &mut Target<'_>, params: &mut CUgraphNodeParams) -> Result<(), Code> {
    let Place::Add {
        graph,
        after,
        edges,
    } = target.place
    else {
        return Err(NOT_SUPPORTED);
    };
    let edges = match edges.iter().all(is_plain) {
        true => std::ptr::null(),
        false => edges.as_ptr(),
    };
    by!(
        target.exec,
        cuGraphAddNode_v2,
        &raw mut target.made,
        *graph,
        after.as_ptr(),
        edges,
        after.len(),
        params
    )
}

fn empty_params(kind: u32) -> CUgraphNodeParams {
    // SAFETY: zeros are a value.
    let mut params: CUgraphNodeParams = unsafe { mem::zeroed() };
    params.type_ = kind;
    params
}

/// Whether the node is added with edges that only the general function takes.
fn needs_general(place: &Place) -> bool {
    matches!(place, Place::Add { edges, .. } if !edges.iter().all(is_plain))
}

fn kernel(target: &mut Target<'_>, launch: &Launch<'_>, of: u64) -> Result<(), Code> {
    let exec = target.exec;
    let mut size = launch.parameters.len();
    let mut extra = launch::extra(launch.parameters.as_ptr().cast_mut().cast(), &mut size);
    // SAFETY: zeros are a value.
    let mut params: CUDA_KERNEL_NODE_PARAMS = unsafe { mem::zeroed() };
    let real = exec.handles.real(Kind::Function, launch.function)?;
    match Kind::Kernel.matches(launch.function) {
        true => params.kern = real.cast(),
        false => params.func = real.cast(),
    }
    [params.gridDimX, params.gridDimY, params.gridDimZ] = launch.grid;
    [params.blockDimX, params.blockDimY, params.blockDimZ] = launch.block;
    params.sharedMemBytes = launch.shared_bytes;
    params.ctx = context(exec, of)?.cast();
    if !launch.parameters.is_empty() {
        params.extra = extra.as_mut_ptr();
    }
    if needs_general(target.place) {
        let mut general = empty_params(CU_GRAPH_NODE_TYPE_KERNEL);
        // SAFETY: both have the same members.
        general.__bindgen_anon_1.kernel = unsafe {
            mem::transmute::<CUDA_KERNEL_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS_v3>(params)
        };
        add_general(target, &mut general)?;
    } else {
        // Drivers before CUDA 12 have only the older form, for functions of the current context: the older structure is the
        // beginning of the newer one.
        add_or_set!(
            target, &raw const params;
            cuGraphAddKernelNode_v2 or cuGraphAddKernelNode,
            cuGraphKernelNodeSetParams_v2 or cuGraphKernelNodeSetParams,
            cuGraphExecKernelNodeSetParams_v2 or cuGraphExecKernelNodeSetParams,
        )?;
    }
    let node = match target.place {
        Place::Add { .. } => target.made,
        Place::Set(node) => *node,
        Place::SetExec(..) => return Ok(()),
    };
    for given in launch.attributes.iter() {
        // Events of attributes are for streams.
        if matches!(
            given.id,
            CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT | CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT
        ) {
            return Err(INVALID_VALUE);
        }
        let own = launch::attribute(given.id, given.value);
        by!(
            exec,
            cuGraphKernelNodeSetAttribute,
            node,
            given.id,
            &raw const own.value
        )?;
    }
    Ok(())
}

fn memcpy(target: &mut Target<'_>, params: &CUDA_MEMCPY3D, of: *mut c_void) -> Result<(), Code> {
    if needs_general(target.place) {
        let mut general = empty_params(CU_GRAPH_NODE_TYPE_MEMCPY);
        general.__bindgen_anon_1.memcpy.copyCtx = of.cast();
        general.__bindgen_anon_1.memcpy.copyParams = *params;
        return add_general(target, &mut general);
    }
    add_or_set!(
        target, params, of.cast();
        cuGraphAddMemcpyNode, cuGraphMemcpyNodeSetParams, cuGraphExecMemcpyNodeSetParams,
    )
}

fn memset(
    target: &mut Target<'_>,
    params: &CUDA_MEMSET_NODE_PARAMS,
    of: *mut c_void,
) -> Result<(), Code> {
    if needs_general(target.place) {
        let mut general = empty_params(CU_GRAPH_NODE_TYPE_MEMSET);
        general.__bindgen_anon_1.memset = gtrace_cuda::types::driver::CUDA_MEMSET_NODE_PARAMS_v2 {
            dst: params.dst,
            pitch: params.pitch,
            value: params.value,
            elementSize: params.elementSize,
            width: params.width,
            height: params.height,
            ctx: of.cast(),
        };
        return add_general(target, &mut general);
    }
    add_or_set!(
        target, params, of.cast();
        cuGraphAddMemsetNode, cuGraphMemsetNodeSetParams, cuGraphExecMemsetNodeSetParams,
    )
}

fn host(target: &mut Target<'_>, ticket: u64) -> Result<(), Code> {
    let params = CUDA_HOST_NODE_PARAMS {
        fn_: Some(hosts::host_function),
        userData: hosts::data_of(target.exec, ticket),
    };
    if needs_general(target.place) {
        let mut general = empty_params(CU_GRAPH_NODE_TYPE_HOST);
        general.__bindgen_anon_1.host.fn_ = params.fn_;
        general.__bindgen_anon_1.host.userData = params.userData;
        return add_general(target, &mut general);
    }
    add_or_set!(
        target, &raw const params;
        cuGraphAddHostNode, cuGraphHostNodeSetParams, cuGraphExecHostNodeSetParams,
    )
}

fn child(target: &mut Target<'_>, graph: CUgraph, moved: bool) -> Result<(), Code> {
    match target.place {
        Place::Add { .. } if moved || needs_general(target.place) => {
            let mut general = empty_params(CU_GRAPH_NODE_TYPE_GRAPH);
            let ownership = match moved {
                true => CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE,
                false => CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE,
            };
            general.__bindgen_anon_1.graph = CUDA_CHILD_GRAPH_NODE_PARAMS { graph, ownership };
            add_general(target, &mut general)
        }
        Place::Add {
            graph: of, after, ..
        } => add!(target, cuGraphAddChildGraphNode, (of, after), graph),
        Place::Set(_) => Err(NOT_SUPPORTED),
        Place::SetExec(..) if moved => Err(NOT_SUPPORTED),
        Place::SetExec(to, node) => {
            by!(
                target.exec,
                cuGraphExecChildGraphNodeSetParams,
                *to,
                *node,
                graph
            )
        }
    }
}

fn empty(target: &mut Target<'_>) -> Result<(), Code> {
    match target.place {
        Place::Add { .. } if needs_general(target.place) => {
            add_general(target, &mut empty_params(CU_GRAPH_NODE_TYPE_EMPTY))
        }
        Place::Add { graph, after, .. } => add!(target, cuGraphAddEmptyNode, (graph, after)),
        _ => Ok(()),
    }
}

fn event(target: &mut Target<'_>, handle: u64, record: bool) -> Result<(), Code> {
    let event = target.exec.handles.real(Kind::Event, handle)?.cast();
    if needs_general(target.place) {
        let mut general = empty_params(match record {
            true => CU_GRAPH_NODE_TYPE_EVENT_RECORD,
            false => CU_GRAPH_NODE_TYPE_WAIT_EVENT,
        });
        // The event is the first member of both.
        general.__bindgen_anon_1.eventRecord.event = event;
        return add_general(target, &mut general);
    }
    match record {
        true => add_or_set!(
            target, event;
            cuGraphAddEventRecordNode,
            cuGraphEventRecordNodeSetEvent,
            cuGraphExecEventRecordNodeSetEvent,
        ),
        false => add_or_set!(
            target, event;
            cuGraphAddEventWaitNode,
            cuGraphEventWaitNodeSetEvent,
            cuGraphExecEventWaitNodeSetEvent,
        ),
    }
}

fn allocate(target: &mut Target<'_>, work: &NodeWork<'_>, w: &mut Writer) -> Result<(), Code> {
    let NodeWork::MemAlloc {
        pool,
        accesses,
        size,
    } = work
    else {
        return Err(INVALID_VALUE);
    };
    // SAFETY: zeros are a value.
    let mut params: CUDA_MEM_ALLOC_NODE_PARAMS = unsafe { mem::zeroed() };
    // SAFETY: as many bytes as the structure has, all of it plain data.
    params.poolProps = unsafe {
        pool.as_ptr()
            .cast::<gtrace_cuda::types::driver::CUmemPoolProps>()
            .read_unaligned()
    };
    // A pointer for Windows.
    params.poolProps.win32SecurityAttributes = null_mut();
    let descriptions: Vec<CUmemAccessDesc> = accesses
        .iter()
        // SAFETY: as above.
        .map(|access| unsafe { access.as_ptr().cast::<CUmemAccessDesc>().read_unaligned() })
        .collect();
    params.accessDescs = descriptions.as_ptr();
    params.accessDescCount = descriptions.len();
    params.bytesize = usize::try_from(*size).map_err(|_| INVALID_VALUE)?;
    match target.place {
        Place::Add { .. } if needs_general(target.place) => {
            let mut general = empty_params(CU_GRAPH_NODE_TYPE_MEM_ALLOC);
            // SAFETY: both have the same members.
            general.__bindgen_anon_1.alloc = unsafe {
                mem::transmute::<CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS_v2>(params)
            };
            add_general(target, &mut general)?;
            // SAFETY: the same member was written.
            params.dptr = unsafe { general.__bindgen_anon_1.alloc.dptr };
        }
        Place::Add { graph, after, .. } => add!(
            target,
            cuGraphAddMemAllocNode,
            (graph, after),
            &raw mut params
        )?,
        _ => return Err(NOT_SUPPORTED),
    }
    w.u64(params.dptr);
    Ok(())
}

fn free(target: &mut Target<'_>, address: u64) -> Result<(), Code> {
    match target.place {
        Place::Add { .. } if needs_general(target.place) => {
            let mut general = empty_params(CU_GRAPH_NODE_TYPE_MEM_FREE);
            general.__bindgen_anon_1.free = CUDA_MEM_FREE_NODE_PARAMS { dptr: address };
            add_general(target, &mut general)
        }
        Place::Add { graph, after, .. } => {
            add!(target, cuGraphAddMemFreeNode, (graph, after), address)
        }
        _ => Err(NOT_SUPPORTED),
    }
}

/// A conditional node; the driver's handles of its bodies.
fn conditional(target: &mut Target<'_>, work: &NodeWork<'_>) -> Result<Vec<CUgraph>, Code> {
    let NodeWork::Conditional {
        handle,
        kind,
        bodies,
        context: of,
    } = work
    else {
        return Err(INVALID_VALUE);
    };
    // Nobody ends the graph of the handle meanwhile.
    let objects = target.exec.session.objects.lock();
    if !objects.has(Object::Conditional, *handle) {
        return Err(INVALID_VALUE);
    }
    let mut general = empty_params(CU_GRAPH_NODE_TYPE_CONDITIONAL);
    let ctx = own_context(target.exec, *of)?;
    general.__bindgen_anon_1.conditional =
        gtrace_cuda::types::driver::CUDA_CONDITIONAL_NODE_PARAMS {
            handle: *handle,
            type_: *kind,
            size: *bodies,
            phGraph_out: null_mut(),
            ctx: ctx.cast(),
        };
    add_general(target, &mut general)?;
    drop(objects);
    // SAFETY: the member that was written, and by the driver then: as many handles as bodies.
    let given = unsafe { general.__bindgen_anon_1.conditional.phGraph_out };
    if given.is_null() {
        return Ok(Vec::new());
    }
    // SAFETY: the driver gave as many; they live as long as the node.
    Ok(unsafe { std::slice::from_raw_parts(given, *bodies as usize) }.to_vec())
}

/// Adds or changes a node.
pub(crate) fn graph_node(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    let call = NodeCall::whole(r)?;
    let place = place(exec, &call.place)?;
    let mut target = Target {
        exec,
        place: &place,
        made: null_mut(),
    };
    let bodies = make(&mut target, &call.work, w)?;
    let made = target.made;
    if let NodePlace::Add { node, graph, .. } = call.place {
        exec.handles
            .insert_child(Kind::GraphNode, node, made.cast(), graph);
        if let NodeWork::Child { graph, moved: true } = call.work {
            exec.handles.move_to(graph, node);
        }
        for body in bodies {
            w.u64(exec.handles.known_child(Kind::Graph, body.cast(), node));
        }
    }
    Ok(SUCCESS)
}

fn make(
    target: &mut Target<'_>,
    work: &NodeWork<'_>,
    w: &mut Writer,
) -> Result<Vec<CUgraph>, Code> {
    let exec = target.exec;
    match work {
        NodeWork::Kernel { launch, context } => kernel(target, launch, *context)?,
        NodeWork::Memcpy { copy, context } => {
            // The driver would take the client's addresses for those of this process.
            if copy.from.kind == SideKind::Client || copy.to.kind == SideKind::Client {
                return Err(INVALID_VALUE);
            }
            let params = pitched::description(exec, copy)?;
            memcpy(target, &params, own_context(exec, *context)?)?;
        }
        NodeWork::Memset { params, context } => {
            // SAFETY: as many bytes as the structure has, all of it plain data.
            let params = unsafe {
                params
                    .as_ptr()
                    .cast::<CUDA_MEMSET_NODE_PARAMS>()
                    .read_unaligned()
            };
            memset(target, &params, own_context(exec, *context)?)?;
        }
        NodeWork::Host { ticket } => host(target, *ticket)?,
        NodeWork::Child { graph, moved } => {
            let graph = exec.handles.real(Kind::Graph, *graph)?;
            child(target, graph.cast(), *moved)?;
        }
        NodeWork::Empty => empty(target)?,
        NodeWork::EventWait { event: handle } => event(target, *handle, false)?,
        NodeWork::EventRecord { event: handle } => event(target, *handle, true)?,
        NodeWork::MemAlloc { .. } => allocate(target, work, w)?,
        NodeWork::MemFree { address } => free(target, *address)?,
        NodeWork::Conditional { .. } => return conditional(target, work),
    }
    Ok(Vec::new())
}
