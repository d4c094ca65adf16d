//! Parameters of nodes for the program; nodes of any kind by one structure.

// Reads and writes structures of the program.
#![allow(unsafe_code)]

use std::mem;
use std::ptr::{null_mut, without_provenance_mut};

use gtrace_cuda::payload::{GRAPH_MEMORY, NodeWork, POOL_PROPERTIES, Pitched, Side, SideKind};
use gtrace_cuda::types::driver::{
    self as cuda, CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS_v1,
    CUDA_KERNEL_NODE_PARAMS_v3, CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS,
    CUgraphNode, CUgraphNodeParams,
};

use super::change::{self, Target};
use super::nodes::{self, Wanted};
use super::{kernel, number, pairs, query, within};
use crate::context::put;
use crate::entry::{Answer, check};
use crate::generated::driver::remote;
use crate::host_functions;
use crate::session::{self, Session};
use crate::state::lock;

/// The members of a structure of any kind, of which `type_` says which one it has.
macro_rules! member {
    ($params:expr, $name:ident) => {
        // SAFETY: the kind says that this one was given, and all are plain data.
        unsafe { &mut $params.__bindgen_anon_1.$name }
    };
}

fn older(v3: &CUDA_KERNEL_NODE_PARAMS_v3) -> CUDA_KERNEL_NODE_PARAMS {
    const { assert!(size_of::<CUDA_KERNEL_NODE_PARAMS_v3>() == size_of::<CUDA_KERNEL_NODE_PARAMS>()) };
    // SAFETY: the same members in the same order.
    unsafe { mem::transmute(*v3) }
}

fn fill(v2: &cuda::CUDA_MEMSET_NODE_PARAMS_v2) -> CUDA_MEMSET_NODE_PARAMS {
    CUDA_MEMSET_NODE_PARAMS {
        dst: v2.dst,
        pitch: v2.pitch,
        value: v2.value,
        elementSize: v2.elementSize,
        width: v2.width,
        height: v2.height,
    }
}

/// Parameters of a node of any kind, whose reserved members are zero.
///
/// # Errors
///
/// INVALID_VALUE for null, and if they are not.
///
/// # Safety
///
/// Null, or a structure of the program.
unsafe fn given<'a>(params: *mut CUgraphNodeParams) -> Answer<&'a mut CUgraphNodeParams> {
    // SAFETY: the caller's promise.
    match unsafe { params.as_mut() } {
        Some(params) if params.reserved0 == [0; 3] && params.reserved2 == 0 => Ok(params),
        _ => Err(cuda::CUDA_ERROR_INVALID_VALUE),
    }
}

/// Adds a node of any kind.
///
/// # Safety
///
/// Null, or a structure of the program.
pub(super) unsafe fn add(wanted: &Wanted, params: *mut CUgraphNodeParams) -> Answer {
    // SAFETY: the caller's promise.
    let params = unsafe { given(params) }?;
    match params.type_ {
        cuda::CU_GRAPH_NODE_TYPE_KERNEL => {
            nodes::add_kernel(wanted, &older(member!(params, kernel)))
        }
        cuda::CU_GRAPH_NODE_TYPE_MEMCPY => {
            let copy = member!(params, memcpy);
            // SAFETY: a structure of the program.
            unsafe { nodes::add_memcpy(wanted, &raw const copy.copyParams, copy.copyCtx) }
        }
        cuda::CU_GRAPH_NODE_TYPE_MEMSET => {
            let memset = member!(params, memset);
            let params = fill(memset);
            // SAFETY: a local variable.
            let work = unsafe { nodes::memset(&raw const params, memset.ctx) }?;
            nodes::add_plain(wanted, work)
        }
        cuda::CU_GRAPH_NODE_TYPE_HOST => {
            let host = member!(params, host);
            let host = CUDA_HOST_NODE_PARAMS {
                fn_: host.fn_,
                userData: host.userData,
            };
            nodes::add_host(wanted, &host)
        }
        cuda::CU_GRAPH_NODE_TYPE_GRAPH => {
            let child = member!(params, graph);
            match child.ownership {
                cuda::CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE => nodes::add_child(wanted, child.graph),
                cuda::CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE => nodes::move_child(wanted, child.graph),
                _ => Err(cuda::CUDA_ERROR_NOT_SUPPORTED),
            }
        }
        cuda::CU_GRAPH_NODE_TYPE_EMPTY => nodes::add_plain(wanted, NodeWork::Empty),
        cuda::CU_GRAPH_NODE_TYPE_WAIT_EVENT => {
            let event = number(member!(params, eventWait).event);
            nodes::add_plain(wanted, NodeWork::EventWait { event })
        }
        cuda::CU_GRAPH_NODE_TYPE_EVENT_RECORD => {
            let work = nodes::record(member!(params, eventRecord).event)?;
            nodes::add_plain(wanted, work)
        }
        cuda::CU_GRAPH_NODE_TYPE_MEM_ALLOC => {
            let alloc = member!(params, alloc);
            // SAFETY: the same members in the same order.
            let mut own: CUDA_MEM_ALLOC_NODE_PARAMS = unsafe { mem::transmute(*alloc) };
            nodes::add_memory(wanted, &mut own)?;
            alloc.dptr = own.dptr;
            Ok(())
        }
        cuda::CU_GRAPH_NODE_TYPE_MEM_FREE => {
            let address = member!(params, free).dptr;
            nodes::add_plain(wanted, NodeWork::MemFree { address })
        }
        cuda::CU_GRAPH_NODE_TYPE_CONDITIONAL => {
            nodes::add_conditional(wanted, member!(params, conditional))
        }
        _ => Err(cuda::CUDA_ERROR_NOT_SUPPORTED),
    }
}

/// Changes a node of any kind.
///
/// # Safety
///
/// Null, or a structure of the program.
pub(super) unsafe fn set(target: Target, params: *mut CUgraphNodeParams) -> Answer {
    // SAFETY: the caller's promise.
    let params = unsafe { given(params) }?;
    match params.type_ {
        cuda::CU_GRAPH_NODE_TYPE_KERNEL => {
            change::set_kernel(target, &older(member!(params, kernel)))
        }
        cuda::CU_GRAPH_NODE_TYPE_MEMCPY => {
            let copy = member!(params, memcpy);
            // SAFETY: a structure of the program.
            unsafe { change::set_memcpy(target, &raw const copy.copyParams, copy.copyCtx) }
        }
        cuda::CU_GRAPH_NODE_TYPE_MEMSET => {
            let memset = member!(params, memset);
            let params = fill(memset);
            // SAFETY: a local variable.
            let work = unsafe { nodes::memset(&raw const params, memset.ctx) }?;
            change::set(target, work)
        }
        cuda::CU_GRAPH_NODE_TYPE_HOST => {
            let host = member!(params, host);
            let host = CUDA_HOST_NODE_PARAMS {
                fn_: host.fn_,
                userData: host.userData,
            };
            change::set_host(target, &host)
        }
        cuda::CU_GRAPH_NODE_TYPE_GRAPH if !target.exec.is_null() => {
            pairs::set_child(target, member!(params, graph).graph)
        }
        cuda::CU_GRAPH_NODE_TYPE_WAIT_EVENT => {
            let event = number(member!(params, eventWait).event);
            change::set(target, NodeWork::EventWait { event })
        }
        cuda::CU_GRAPH_NODE_TYPE_EVENT_RECORD => {
            change::set(target, nodes::record(member!(params, eventRecord).event)?)
        }
        _ => Err(cuda::CUDA_ERROR_NOT_SUPPORTED),
    }
}

/// What a node copies, with the program's own memory.
fn copy_params(session: &'static Session, node: u64) -> Answer<CUDA_MEMCPY3D> {
    let reported = query::copy_of(session, node)?;
    let graphs = &session.state.graphs;
    let own = lock(&graphs.graphs).values().find_map(|held| {
        let mut copies = held.copies.iter();
        copies
            .find(|copy| copy.is(&reported))
            .map(|copy| *copy.given())
    });
    Ok(structure(&own.unwrap_or(reported)))
}

fn structure(copy: &Pitched) -> CUDA_MEMCPY3D {
    // SAFETY: zeros are a value.
    let mut out: CUDA_MEMCPY3D = unsafe { mem::zeroed() };
    let kind = |side: &Side| match side.kind {
        SideKind::Client => cuda::CU_MEMORYTYPE_HOST,
        SideKind::Device => cuda::CU_MEMORYTYPE_DEVICE,
        SideKind::Array => cuda::CU_MEMORYTYPE_ARRAY,
    };
    let (from, to) = (&copy.from, &copy.to);
    (out.srcMemoryType, out.dstMemoryType) = (kind(from), kind(to));
    match from.kind {
        SideKind::Client => out.srcHost = without_provenance_mut(from.place as usize),
        SideKind::Device => out.srcDevice = from.place,
        SideKind::Array => out.srcArray = without_provenance_mut(from.place as usize),
    }
    match to.kind {
        SideKind::Client => out.dstHost = without_provenance_mut(to.place as usize),
        SideKind::Device => out.dstDevice = to.place,
        SideKind::Array => out.dstArray = without_provenance_mut(to.place as usize),
    }
    (out.srcXInBytes, out.srcY, out.srcZ) = (from.x as usize, from.y as usize, from.z as usize);
    (out.dstXInBytes, out.dstY, out.dstZ) = (to.x as usize, to.y as usize, to.z as usize);
    (out.srcLOD, out.dstLOD) = (from.lod as usize, to.lod as usize);
    (out.srcPitch, out.srcHeight) = (from.pitch as usize, from.height as usize);
    (out.dstPitch, out.dstHeight) = (to.pitch as usize, to.height as usize);
    out.WidthInBytes = copy.extent.width as usize;
    out.Height = copy.extent.height as usize;
    out.Depth = copy.extent.depth as usize;
    out
}

fn host_params(session: &'static Session, node: u64) -> Answer<CUDA_HOST_NODE_PARAMS> {
    let ticket = query::ticket_of(session, node)?;
    let (function, user) =
        host_functions::kept(session, ticket).ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
    Ok(CUDA_HOST_NODE_PARAMS {
        fn_: Some(function),
        userData: user,
    })
}

fn memory_params(session: &'static Session, node: u64) -> Answer<CUDA_MEM_ALLOC_NODE_PARAMS> {
    let mut params = query::of_node(session, GRAPH_MEMORY, node, |r| {
        // SAFETY: zeros are a value.
        let mut params: CUDA_MEM_ALLOC_NODE_PARAMS = unsafe { mem::zeroed() };
        let pool: [u8; POOL_PROPERTIES] = r.array()?;
        // SAFETY: as many bytes as the structure has, all of it plain data.
        params.poolProps = unsafe {
            pool.as_ptr()
                .cast::<cuda::CUmemPoolProps>()
                .read_unaligned()
        };
        params.bytesize = r.len(usize::MAX)?;
        params.dptr = r.u64()?;
        Ok(params)
    })?;
    params.poolProps.win32SecurityAttributes = null_mut();
    Ok(params)
}

pub(crate) unsafe fn cuGraphKernelNodeGetParams_v2(
    hNode: CUgraphNode,
    nodeParams: *mut CUDA_KERNEL_NODE_PARAMS,
) -> Answer {
    // SAFETY: a pointer of the program.
    unsafe { put(nodeParams, kernel::params(session::cuda()?, number(hNode))?) }
}

pub(crate) unsafe fn cuGraphKernelNodeGetParams(
    hNode: CUgraphNode,
    nodeParams: *mut CUDA_KERNEL_NODE_PARAMS,
) -> Answer {
    let own = kernel::params(session::cuda()?, number(hNode))?;
    let first = CUDA_KERNEL_NODE_PARAMS_v1 {
        func: if own.func.is_null() {
            own.kern.cast()
        } else {
            own.func
        },
        gridDimX: own.gridDimX,
        gridDimY: own.gridDimY,
        gridDimZ: own.gridDimZ,
        blockDimX: own.blockDimX,
        blockDimY: own.blockDimY,
        blockDimZ: own.blockDimZ,
        sharedMemBytes: own.sharedMemBytes,
        kernelParams: own.kernelParams,
        extra: own.extra,
    };
    // SAFETY: a pointer of the program to the structure's older form.
    unsafe { put(nodeParams.cast::<CUDA_KERNEL_NODE_PARAMS_v1>(), first) }
}

pub(crate) unsafe fn cuGraphMemcpyNodeGetParams(
    hNode: CUgraphNode,
    nodeParams: *mut CUDA_MEMCPY3D,
) -> Answer {
    // SAFETY: a pointer of the program.
    unsafe { put(nodeParams, copy_params(session::cuda()?, number(hNode))?) }
}

pub(crate) unsafe fn cuGraphHostNodeGetParams(
    hNode: CUgraphNode,
    nodeParams: *mut CUDA_HOST_NODE_PARAMS,
) -> Answer {
    // SAFETY: a pointer of the program.
    unsafe { put(nodeParams, host_params(session::cuda()?, number(hNode))?) }
}

pub(crate) unsafe fn cuGraphMemAllocNodeGetParams(
    hNode: CUgraphNode,
    params_out: *mut CUDA_MEM_ALLOC_NODE_PARAMS,
) -> Answer {
    // SAFETY: a pointer of the program.
    unsafe { put(params_out, memory_params(session::cuda()?, number(hNode))?) }
}

pub(crate) unsafe fn cuGraphNodeGetParams(
    hNode: CUgraphNode,
    nodeParams: *mut CUgraphNodeParams,
) -> Answer {
    let (session, node) = (session::cuda()?, number(hNode));
    let mut kind = 0;
    // SAFETY: a local variable.
    check(unsafe { remote::cuGraphNodeGetType(hNode, &raw mut kind) })?;
    // SAFETY: zeros are a value.
    let mut params: CUgraphNodeParams = unsafe { mem::zeroed() };
    params.type_ = kind;
    match kind {
        cuda::CU_GRAPH_NODE_TYPE_KERNEL => {
            let own = kernel::params(session, node)?;
            // SAFETY: the same members in the same order.
            *member!(params, kernel) = unsafe {
                mem::transmute::<CUDA_KERNEL_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS_v3>(own)
            };
        }
        cuda::CU_GRAPH_NODE_TYPE_MEMCPY => {
            member!(params, memcpy).copyParams = copy_params(session, node)?;
        }
        cuda::CU_GRAPH_NODE_TYPE_MEMSET => {
            let mut own = fill(member!(params, memset));
            // SAFETY: a local variable.
            check(unsafe { remote::cuGraphMemsetNodeGetParams(hNode, &raw mut own) })?;
            let memset = member!(params, memset);
            (memset.dst, memset.pitch, memset.value) = (own.dst, own.pitch, own.value);
            (memset.elementSize, memset.width) = (own.elementSize, own.width);
            memset.height = own.height;
        }
        cuda::CU_GRAPH_NODE_TYPE_HOST => {
            let own = host_params(session, node)?;
            let host = member!(params, host);
            (host.fn_, host.userData) = (own.fn_, own.userData);
        }
        cuda::CU_GRAPH_NODE_TYPE_GRAPH => {
            let graph = &raw mut member!(params, graph).graph;
            // SAFETY: a local variable.
            unsafe { within::cuGraphChildGraphNodeGetGraph(hNode, graph) }?;
        }
        cuda::CU_GRAPH_NODE_TYPE_EMPTY => {}
        cuda::CU_GRAPH_NODE_TYPE_WAIT_EVENT => {
            let event = &raw mut member!(params, eventWait).event;
            // SAFETY: a local variable.
            check(unsafe { remote::cuGraphEventWaitNodeGetEvent(hNode, event) })?;
        }
        cuda::CU_GRAPH_NODE_TYPE_EVENT_RECORD => {
            let event = &raw mut member!(params, eventRecord).event;
            // SAFETY: a local variable.
            check(unsafe { remote::cuGraphEventRecordNodeGetEvent(hNode, event) })?;
        }
        cuda::CU_GRAPH_NODE_TYPE_MEM_ALLOC => {
            let own = memory_params(session, node)?;
            // SAFETY: the same members in the same order.
            *member!(params, alloc) = unsafe {
                mem::transmute::<CUDA_MEM_ALLOC_NODE_PARAMS, cuda::CUDA_MEM_ALLOC_NODE_PARAMS_v2>(
                    own,
                )
            };
        }
        cuda::CU_GRAPH_NODE_TYPE_MEM_FREE => {
            let address = &raw mut member!(params, free).dptr;
            // SAFETY: a local variable.
            check(unsafe { remote::cuGraphMemFreeNodeGetParams(hNode, address) })?;
        }
        _ => return Err(cuda::CUDA_ERROR_NOT_SUPPORTED),
    }
    // SAFETY: a pointer of the program.
    unsafe { put(nodeParams, params) }
}
