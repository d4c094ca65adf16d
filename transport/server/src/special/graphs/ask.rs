//! Questions about nodes and captures.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::slice;

use gtrace_cuda::Kind;
use gtrace_cuda::payload::{
    Attributes, EDGE, KernelNode, Launch, PARAMETERS_MAX, POOL_PROPERTIES, Payload as _, Pitched,
    SideKind,
};
use gtrace_cuda::types::driver::{
    CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_HOST, CUDA_KERNEL_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS_v1,
    CUDA_MEMCPY3D, CUgraph, CUgraphEdgeData, CUgraphNode, CUresult, CUstream,
    CUstreamCaptureStatus, cuuint64_t,
};
use gtrace_cuda::wire;
use gtrace_protocol::{Reader, Writer};

use super::super::{INVALID_VALUE, NOT_SUPPORTED, SUCCESS, checked, functions, launch};
use super::known_node;
use crate::exec::{CallError, Called, Code, Exec};

/// The node that is asked about, in the driver's name.
fn node_of(exec: &Exec, r: &mut Reader<'_>) -> Result<CUgraphNode, CallError> {
    let handle = u64::whole(r)?;
    Ok(exec.handles.real(Kind::GraphNode, handle)?.cast())
}

/// What the driver says of a node by `call`.
fn asked<P: Copy>(
    call: Option<unsafe extern "C" fn(CUgraphNode, *mut P) -> CUresult>,
    node: CUgraphNode,
) -> Result<P, Code> {
    let call = call.ok_or(NOT_SUPPORTED)?;
    // SAFETY: a structure of the driver.
    let mut params = unsafe { wire::zeroed() };
    // SAFETY: a node of the driver and a structure to write to.
    checked(unsafe { call(node, &raw mut params) })?;
    Ok(params)
}

/// What a node launches.
pub(crate) fn graph_kernel(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    let node = node_of(exec, r)?;
    let newer = exec.driver.cuGraphKernelNodeGetParams_v2;
    // The older structure is the beginning of the newer one.
    const { assert!(size_of::<CUDA_KERNEL_NODE_PARAMS_v1>() < size_of::<CUDA_KERNEL_NODE_PARAMS>()) };
    let params = asked(newer.or(exec.driver.cuGraphKernelNodeGetParams), node)?;
    let (what, real): (Kind, *mut c_void) = match params.func.is_null() {
        false => (Kind::Function, params.func.cast()),
        true => (Kind::Kernel, params.kern.cast()),
    };
    let function = exec.handles.known(what, real);
    let parameters = packed(exec, what, real, &params)?;
    let launch = Launch {
        function,
        grid: [params.gridDimX, params.gridDimY, params.gridDimZ],
        block: [params.blockDimX, params.blockDimY, params.blockDimZ],
        shared_bytes: params.sharedMemBytes,
        stream: 0,
        parameters: &parameters,
        attributes: Attributes::NONE,
    };
    let context = match params.ctx.is_null() {
        true => 0,
        false => exec.handles.known(Kind::Context, params.ctx.cast()),
    };
    KernelNode { launch, context }.write(w);
    Ok(SUCCESS)
}

/// The parameters of a node, each at its offset.
fn packed(
    exec: &Exec,
    what: Kind,
    real: *mut c_void,
    params: &CUDA_KERNEL_NODE_PARAMS,
) -> Result<Vec<u8>, Code> {
    if params.kernelParams.is_null() && !params.extra.is_null() {
        // SAFETY: the driver's own copy of what it was given.
        return unsafe { launch::buffer(params.extra) };
    }
    let layout = functions::parameters_of(exec.driver, what, real).ok_or(NOT_SUPPORTED)?;
    let end = layout
        .iter()
        .map(|it| it.offset as usize + it.size as usize)
        .max()
        .unwrap_or(0);
    if end > PARAMETERS_MAX {
        return Err(INVALID_VALUE);
    }
    let mut bytes = vec![0; end];
    for (index, parameter) in layout.iter().enumerate() {
        let (offset, size) = (parameter.offset as usize, parameter.size as usize);
        if params.kernelParams.is_null() {
            return Err(NOT_SUPPORTED);
        }
        // SAFETY: the driver's own copy of the parameters: a pointer to each.
        let value = unsafe { params.kernelParams.add(index).read() };
        // SAFETY: as many bytes as the parameter has.
        let value = unsafe { slice::from_raw_parts(value.cast::<u8>(), size) };
        bytes[offset..offset + size].copy_from_slice(value);
    }
    Ok(bytes)
}

/// What a node copies.
pub(crate) fn graph_copy(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    let node = node_of(exec, r)?;
    let params = asked(exec.driver.cuGraphMemcpyNodeGetParams, node)?;
    pitched(exec, &params).write(w);
    Ok(SUCCESS)
}

fn pitched(exec: &Exec, copy: &CUDA_MEMCPY3D) -> Pitched {
    let side = |kind: u32, device: u64, array| match kind {
        // No node has memory of this process.
        CU_MEMORYTYPE_HOST => (SideKind::Client, 0),
        CU_MEMORYTYPE_ARRAY => (SideKind::Array, exec.handles.known(Kind::Array, array)),
        _ => (SideKind::Device, device),
    };
    let from = side(copy.srcMemoryType, copy.srcDevice, copy.srcArray.cast());
    let to = side(copy.dstMemoryType, copy.dstDevice, copy.dstArray.cast());
    Pitched {
        stream: 0,
        ..Pitched::described(copy, from, to)
    }
}

/// Which function of the client a node calls.
pub(crate) fn graph_host(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    let node = node_of(exec, r)?;
    let params = asked(exec.driver.cuGraphHostNodeGetParams, node)?;
    w.u64(params.userData.addr() as u64);
    Ok(SUCCESS)
}

/// What a node allocates.
pub(crate) fn graph_memory(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    let node = node_of(exec, r)?;
    let mut params = asked(exec.driver.cuGraphMemAllocNodeGetParams, node)?;
    params.poolProps.win32SecurityAttributes = null_mut();
    let pool = (&raw const params.poolProps).cast::<u8>();
    // SAFETY: the bytes of the structure.
    w.raw(unsafe { slice::from_raw_parts(pool, POOL_PROPERTIES) });
    w.u64(params.bytesize as u64);
    w.u64(params.dptr);
    Ok(SUCCESS)
}

/// What the driver says of a capture.
struct Info {
    status: CUstreamCaptureStatus,
    id: cuuint64_t,
    graph: CUgraph,
    nodes: *const CUgraphNode,
    edges: *const CUgraphEdgeData,
    count: usize,
}

fn info(exec: &Exec, stream: CUstream) -> Result<Info, Code> {
    let mut info = Info {
        status: 0,
        id: 0,
        graph: null_mut(),
        nodes: null(),
        edges: null(),
        count: 0,
    };
    if let Some(call) = exec.driver.cuStreamGetCaptureInfo_v3 {
        // SAFETY: a stream of the driver, and places to write to.
        checked(unsafe {
            call(
                stream,
                &raw mut info.status,
                &raw mut info.id,
                &raw mut info.graph,
                &raw mut info.nodes,
                &raw mut info.edges,
                &raw mut info.count,
            )
        })?;
    } else {
        let call = exec.driver.cuStreamGetCaptureInfo_v2.ok_or(NOT_SUPPORTED)?;
        // SAFETY: a stream of the driver, and places to write to.
        checked(unsafe {
            call(
                stream,
                &raw mut info.status,
                &raw mut info.id,
                &raw mut info.graph,
                &raw mut info.nodes,
                &raw mut info.count,
            )
        })?;
    }
    Ok(info)
}

/// What a stream captures.
pub(crate) fn capture_info(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    let stream = u64::whole(r)?;
    let stream = exec.handles.real(Kind::Stream, stream)?;
    let info = info(exec, stream.cast())?;
    let graph = exec.handles.known(Kind::Graph, info.graph.cast());
    let count = if info.nodes.is_null() { 0 } else { info.count };
    w.u32(info.status);
    w.u64(info.id);
    w.u64(graph);
    w.u64(count as u64);
    for at in 0..count {
        // SAFETY: the driver reported so many nodes, which are there until the next call for the stream.
        let node = unsafe { info.nodes.add(at).read() };
        w.u64(known_node(exec, node, graph));
        let mut edge = [0; EDGE];
        if !info.edges.is_null() {
            // SAFETY: as many edges as nodes.
            let data = unsafe { info.edges.add(at).read() };
            edge[..3].copy_from_slice(&[data.from_port, data.to_port, data.type_]);
            edge[3..].copy_from_slice(&data.reserved);
        }
        w.raw(&edge);
    }
    Ok(SUCCESS)
}
