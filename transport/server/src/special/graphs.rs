//! Graphs: nodes, what is instantiated from graphs, and captures.
//!
//! No node of the driver leads to memory of the client: its memory has places on the device, and its
//! functions are numbers.

#![allow(unsafe_code)]

mod ask;
mod node;

pub(crate) use ask::{capture_info, graph_copy, graph_host, graph_kernel, graph_memory};
pub(crate) use node::graph_node;

use std::mem;
use std::ptr::null_mut;

use gtrace_cuda::Kind;
use gtrace_cuda::types::driver::{
    CUDA_GRAPH_INSTANTIATE_PARAMS, CUgraph, CUgraphExec, CUgraphExecUpdateResultInfo, CUgraphNode,
};
use gtrace_protocol::{Payload as _, Reader, Writer};

use super::{NOT_SUPPORTED, checked, code_of};
use crate::exec::{Called, Code, Exec};

/// `CUDA_GRAPH_INSTANTIATE_SUCCESS` and `_ERROR`.
const INSTANTIATED: u32 = 0;
const FAILED: u32 = 1;

/// A node of a graph as the client calls it; 0 for none.
fn known_node(exec: &Exec, node: CUgraphNode, graph: u64) -> u64 {
    exec.handles
        .known_child(Kind::GraphNode, node.cast(), graph)
}

/// What came of an instantiation.
struct Instantiated {
    exec: CUgraphExec,
    wrong: CUgraphNode,
    result: u32,
}

fn instantiate(
    exec: &Exec,
    graph: CUgraph,
    flags: u64,
    stream: *mut std::ffi::c_void,
) -> (Instantiated, Result<(), Code>) {
    let mut made: CUgraphExec = null_mut();
    // SAFETY: zeros are a value.
    let mut params: CUDA_GRAPH_INSTANTIATE_PARAMS = unsafe { mem::zeroed() };
    params.flags = flags;
    params.hUploadStream = stream.cast();
    let status = match (
        exec.driver.cuGraphInstantiateWithParams,
        exec.driver.cuGraphInstantiateWithFlags,
    ) {
        // SAFETY: a graph of the driver, a handle and a structure to write to.
        (Some(call), _) => unsafe { call(&raw mut made, graph, &raw mut params) },
        // SAFETY: a graph of the driver and a handle to write to.
        (None, Some(call)) => unsafe { call(&raw mut made, graph, flags) },
        (None, None) => NOT_SUPPORTED.cast_unsigned(),
    };
    if status != 0 && params.result_out == INSTANTIATED {
        params.result_out = FAILED;
    }
    let made = Instantiated {
        exec: made,
        wrong: params.hErrNode_out,
        result: params.result_out,
    };
    (made, checked(status))
}

/// Makes what can be launched.
pub(crate) fn graph_instantiate(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    let (minted, graph, flags, stream) = (r.u64()?, r.u64()?, r.u64()?, r.u64()?);
    r.end()?;
    let found = exec
        .handles
        .check_minted(Kind::GraphExec, minted)
        .and_then(|()| {
            let real = exec.handles.real(Kind::Graph, graph)?;
            Ok((real, exec.handles.real(Kind::Stream, stream)?))
        });
    let (real, stream) = match found {
        Ok(found) => found,
        Err(code) => {
            w.u64(0);
            w.u32(FAILED);
            return Ok(code);
        }
    };
    let (made, outcome) = instantiate(exec, real.cast(), flags, stream);
    if outcome.is_ok() {
        exec.handles
            .insert(Kind::GraphExec, minted, made.exec.cast());
    }
    w.u64(known_node(exec, made.wrong, graph));
    w.u32(made.result);
    Ok(code_of(outcome))
}

fn update(
    exec: &Exec,
    target: CUgraphExec,
    graph: CUgraph,
) -> (CUgraphExecUpdateResultInfo, Result<(), Code>) {
    // SAFETY: zeros are a value.
    let mut info: CUgraphExecUpdateResultInfo = unsafe { mem::zeroed() };
    let status = match (
        exec.driver.cuGraphExecUpdate_v2,
        exec.driver.cuGraphExecUpdate,
    ) {
        // SAFETY: objects of the driver, and a structure to write to.
        (Some(call), _) => unsafe { call(target, graph, &raw mut info) },
        // SAFETY: objects of the driver, a handle and a number to write to.
        (None, Some(call)) => unsafe {
            call(target, graph, &raw mut info.errorNode, &raw mut info.result)
        },
        (None, None) => NOT_SUPPORTED.cast_unsigned(),
    };
    (info, checked(status))
}

/// Has what was instantiated do what another graph does.
pub(crate) fn graph_update(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    let (target, graph) = <(u64, u64)>::whole(r)?;
    let found = exec
        .handles
        .real(Kind::GraphExec, target)
        .and_then(|target| {
            let real = exec.handles.real(Kind::Graph, graph)?;
            Ok((target, real))
        });
    let (info, outcome) = match found {
        Ok((target, real)) => update(exec, target.cast(), real.cast()),
        // SAFETY: zeros are a value.
        Err(code) => (unsafe { mem::zeroed() }, Err(code)),
    };
    w.u32(info.result);
    w.u64(known_node(exec, info.errorNode, graph));
    w.u64(known_node(exec, info.errorFromNode, graph));
    Ok(code_of(outcome))
}
