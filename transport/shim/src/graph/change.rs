//! Nodes that are changed, in their graph or where that was instantiated.

// Reads parameters through pointers of the program.
#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ptr::without_provenance_mut;

use gtrace_cuda::payload::{
    GRAPH_COPY, GRAPH_HOST, NodeCall, NodePlace, NodeWork, Payload as _, Pitched,
};
use gtrace_cuda::types::driver::{
    self as cuda, CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS, CUcontext, CUevent, CUgraph, CUgraphExec, CUgraphNode,
    CUgraphNodeParams, CUresult,
};
use gtrace_protocol::Flags;

use super::nodes::{self, given, newer, send_call};
use super::{Held, copies, kernel, number, params, plan};
use crate::entry::{done, exchange};
use crate::session::{self, Session};
use crate::state::lock;

/// Where a node is changed.
#[derive(Clone, Copy)]
pub(super) struct Target {
    /// Null: in its graph.
    pub(super) exec: CUgraphExec,
    pub(super) node: CUgraphNode,
}

impl Target {
    fn place(self) -> NodePlace {
        let node = number(self.node);
        match self.exec.is_null() {
            true => NodePlace::Set { node },
            false => NodePlace::SetExec {
                exec: number(self.exec),
                node,
            },
        }
    }
}

fn in_graph(node: CUgraphNode) -> Target {
    Target {
        exec: std::ptr::null_mut(),
        node,
    }
}

pub(super) fn set(target: Target, work: NodeWork<'_>) -> Result<(), CUresult> {
    let place = target.place();
    send_call(session::cuda()?, &NodeCall { place, work })
}

/// What a node copies, as the server has it.
pub(super) fn copy_of(session: &'static Session, node: u64) -> Result<Pitched, CUresult> {
    let mut found = None;
    exchange(
        session,
        GRAPH_COPY,
        Flags::default(),
        |w| {
            w.u64(node);
            Ok(())
        },
        |r| {
            found = Some(Pitched::read(r)?);
            Ok(())
        },
    )?;
    found.ok_or(cuda::CUDA_ERROR_UNKNOWN)
}

/// Which function of the program a node calls.
pub(super) fn ticket_of(session: &'static Session, node: u64) -> Result<u64, CUresult> {
    let mut ticket = 0;
    exchange(
        session,
        GRAPH_HOST,
        Flags::default(),
        |w| {
            w.u64(node);
            Ok(())
        },
        |r| {
            ticket = r.u64()?;
            Ok(())
        },
    )?;
    Ok(ticket)
}

/// A node is changed or taken out of its graph: if it copies memory of the client, that is not
/// moved for it any more.
pub(super) fn forget_copy(session: &'static Session, node: u64) -> Result<(), CUresult> {
    let graphs = &session.state.graphs;
    let any = lock(&graphs.graphs)
        .values()
        .any(|own| !own.copies.is_empty());
    if !any {
        return Ok(());
    }
    // Of captured nodes only the server knows what they copy. Others copy nothing.
    let Ok(copy) = copy_of(session, node) else {
        return Ok(());
    };
    let owner = lock(&graphs.owners).get(&node).copied();
    let graph = match owner {
        Some(graph) => graph,
        None => containing(without_provenance_mut(node as usize))?,
    };
    let gone = take_of(&mut lock(&graphs.graphs), graph, node, &copy);
    // Out of the lock: its memory is freed by calls.
    drop(gone);
    Ok(())
}

/// The copy of `node` out of what its graph holds: clones of the graph have copies of the same places. If the graph is not
/// known, or is one that others have taken in, out of all.
fn take_of(
    all: &mut HashMap<u64, Held>,
    graph: u64,
    node: u64,
    copy: &Pitched,
) -> Vec<copies::HostCopy> {
    let own = all.get_mut(&graph);
    match own.and_then(|held| take(held, node, copy)) {
        Some(own) => vec![own],
        None => {
            let all = all.values_mut();
            all.filter_map(|held| take(held, node, copy)).collect()
        }
    }
}

/// The copy of `node` out of what is held.
fn take(held: &mut Held, node: u64, copy: &Pitched) -> Option<copies::HostCopy> {
    let own = held.copies.iter();
    let at = own.clone().position(|own| own.node == node).or_else(|| {
        held.copies
            .iter()
            .position(|own| own.node == 0 && own.is(copy))
    })?;
    Some(held.copies.remove(at))
}

pub(super) unsafe fn set_memcpy(
    target: Target,
    params: *const CUDA_MEMCPY3D,
    ctx: CUcontext,
) -> Result<(), CUresult> {
    let session = session::cuda()?;
    let graphs = &session.state.graphs;
    let (node, exec) = (number(target.node), number(target.exec));
    // SAFETY: parameters of the program.
    let given = unsafe { nodes::given_copy(session, params) }?;
    let owner = lock(&graphs.owners).get(&node).copied();
    let graph = match owner {
        Some(graph) => graph,
        None => containing(target.node)?,
    };
    let old = copy_of(session, node)?;
    let all = (exec == 0).then(|| graphs.held(graph));
    let mut held = match exec {
        0 => graphs.own(graph),
        exec => graphs
            .exec(exec)
            .map(|own| Held::clone(&own))
            .unwrap_or_default(),
    };
    let gone = take(&mut held, node, &old);
    // Graphs that were moved into this one may copy the same memory.
    let beside = all.as_ref().unwrap_or(&held);
    let copy = copies::stage(session, beside, &given, node)?;
    let work = NodeWork::Memcpy {
        copy: copy.staged(),
        context: number(ctx),
    };
    set(target, work)?;
    if let Some(gone) = &gone {
        plan::replace(session, &beside.functions, gone, &copy);
    }
    if copy.reads() || copy.writes() {
        held.copies.push(copy);
        lock(&graphs.owners).insert(node, graph);
    }
    if exec == 0 {
        graphs.change(graph, |own| std::mem::swap(own, &mut held));
    } else {
        graphs.set_exec(exec, held);
    }
    drop(gone);
    Ok(())
}

/// The graph of a node.
fn containing(node: CUgraphNode) -> Result<u64, CUresult> {
    let mut graph: CUgraph = std::ptr::null_mut();
    // SAFETY: a handle, and a local variable.
    let code = unsafe {
        crate::generated::driver::remote::cuGraphNodeGetContainingGraph(node, &raw mut graph)
    };
    // Drivers before CUDA 13 do not report it. The copy is then held by a name of its own.
    match code {
        cuda::CUDA_SUCCESS => Ok(number(graph)),
        _ => Ok(0),
    }
}

pub(super) fn set_kernel(target: Target, params: &CUDA_KERNEL_NODE_PARAMS) -> Result<(), CUresult> {
    let session = session::cuda()?;
    // SAFETY: parameters of the program.
    let (launch, bytes) = unsafe { kernel::packed(session, params) }?;
    let launch = gtrace_cuda::payload::Launch {
        parameters: &bytes,
        ..launch
    };
    let context = number(params.ctx);
    set(target, NodeWork::Kernel { launch, context })?;
    if target.exec.is_null() {
        kernel::changed(session, number(target.node), params, &bytes);
    }
    Ok(())
}

pub(super) fn set_host(target: Target, params: &CUDA_HOST_NODE_PARAMS) -> Result<(), CUresult> {
    let ticket = nodes::host(params)?;
    let session = session::cuda()?;
    let before = ticket_of(session, number(target.node))?;
    let of = match target.exec.is_null() {
        true => number(target.node),
        false => number(target.exec),
    };
    plan::take_over(session, of, before, ticket);
    set(target, NodeWork::Host { ticket })
}

pub(super) fn set_child(target: Target, graph: CUgraph) -> Result<(), CUresult> {
    let graphs = &session::cuda()?.state.graphs;
    let graph = number(graph);
    let child = graphs.held(graph);
    set(
        target,
        NodeWork::Child {
            graph,
            moved: false,
        },
    )?;
    if !child.is_empty() {
        let exec = number(target.exec);
        let mut held = graphs
            .exec(exec)
            .map(|own| Held::clone(&own))
            .unwrap_or_default();
        held.extend(&child);
        graphs.set_exec(exec, held);
    }
    Ok(())
}

pub(crate) unsafe fn cuGraphNodeSetParams(
    hNode: CUgraphNode,
    nodeParams: *mut CUgraphNodeParams,
) -> CUresult {
    // SAFETY: parameters of the program.
    done(|| unsafe { params::set(in_graph(hNode), nodeParams) })
}

pub(crate) unsafe fn cuGraphExecNodeSetParams(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    nodeParams: *mut CUgraphNodeParams,
) -> CUresult {
    let target = Target {
        exec: hGraphExec,
        node: hNode,
    };
    // SAFETY: parameters of the program.
    done(|| unsafe { params::set(target, nodeParams) })
}

pub(crate) unsafe fn cuGraphKernelNodeSetParams(
    hNode: CUgraphNode,
    nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
) -> CUresult {
    // SAFETY: parameters of the program, in their older form.
    done(|| set_kernel(in_graph(hNode), &unsafe { newer(nodeParams) }?))
}

pub(crate) unsafe fn cuGraphKernelNodeSetParams_v2(
    hNode: CUgraphNode,
    nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
) -> CUresult {
    // SAFETY: parameters of the program.
    done(|| set_kernel(in_graph(hNode), unsafe { given(nodeParams) }?))
}

pub(crate) unsafe fn cuGraphMemcpyNodeSetParams(
    hNode: CUgraphNode,
    nodeParams: *const CUDA_MEMCPY3D,
) -> CUresult {
    // SAFETY: parameters of the program.
    done(|| unsafe { set_memcpy(in_graph(hNode), nodeParams, std::ptr::null_mut()) })
}

pub(crate) unsafe fn cuGraphMemsetNodeSetParams(
    hNode: CUgraphNode,
    nodeParams: *const CUDA_MEMSET_NODE_PARAMS,
) -> CUresult {
    done(|| {
        // SAFETY: parameters of the program.
        let work = unsafe { nodes::memset(nodeParams, std::ptr::null_mut()) }?;
        set(in_graph(hNode), work)
    })
}

pub(crate) unsafe fn cuGraphHostNodeSetParams(
    hNode: CUgraphNode,
    nodeParams: *const CUDA_HOST_NODE_PARAMS,
) -> CUresult {
    // SAFETY: parameters of the program.
    done(|| set_host(in_graph(hNode), unsafe { given(nodeParams) }?))
}

pub(crate) unsafe fn cuGraphEventRecordNodeSetEvent(
    hNode: CUgraphNode,
    event: CUevent,
) -> CUresult {
    done(|| set(in_graph(hNode), nodes::record(event)?))
}

pub(crate) unsafe fn cuGraphEventWaitNodeSetEvent(hNode: CUgraphNode, event: CUevent) -> CUresult {
    done(|| {
        let event = number(event);
        set(in_graph(hNode), NodeWork::EventWait { event })
    })
}

macro_rules! target {
    ($exec:ident, $node:ident) => {
        Target {
            exec: $exec,
            node: $node,
        }
    };
}

pub(crate) unsafe fn cuGraphExecKernelNodeSetParams(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
) -> CUresult {
    // SAFETY: parameters of the program, in their older form.
    done(|| set_kernel(target!(hGraphExec, hNode), &unsafe { newer(nodeParams) }?))
}

pub(crate) unsafe fn cuGraphExecKernelNodeSetParams_v2(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
) -> CUresult {
    // SAFETY: parameters of the program.
    done(|| set_kernel(target!(hGraphExec, hNode), unsafe { given(nodeParams) }?))
}

pub(crate) unsafe fn cuGraphExecMemcpyNodeSetParams(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    copyParams: *const CUDA_MEMCPY3D,
    ctx: CUcontext,
) -> CUresult {
    // SAFETY: parameters of the program.
    done(|| unsafe { set_memcpy(target!(hGraphExec, hNode), copyParams, ctx) })
}

pub(crate) unsafe fn cuGraphExecMemsetNodeSetParams(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    memsetParams: *const CUDA_MEMSET_NODE_PARAMS,
    ctx: CUcontext,
) -> CUresult {
    done(|| {
        // SAFETY: parameters of the program.
        let work = unsafe { nodes::memset(memsetParams, ctx) }?;
        set(target!(hGraphExec, hNode), work)
    })
}

pub(crate) unsafe fn cuGraphExecHostNodeSetParams(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    nodeParams: *const CUDA_HOST_NODE_PARAMS,
) -> CUresult {
    // SAFETY: parameters of the program.
    done(|| set_host(target!(hGraphExec, hNode), unsafe { given(nodeParams) }?))
}

pub(crate) unsafe fn cuGraphExecChildGraphNodeSetParams(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    childGraph: CUgraph,
) -> CUresult {
    done(|| set_child(target!(hGraphExec, hNode), childGraph))
}

pub(crate) unsafe fn cuGraphExecEventRecordNodeSetEvent(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    event: CUevent,
) -> CUresult {
    done(|| set(target!(hGraphExec, hNode), nodes::record(event)?))
}

pub(crate) unsafe fn cuGraphExecEventWaitNodeSetEvent(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    event: CUevent,
) -> CUresult {
    done(|| {
        let event = number(event);
        set(target!(hGraphExec, hNode), NodeWork::EventWait { event })
    })
}

#[cfg(test)]
mod tests {
    use gtrace_cuda::payload::SideKind;

    use super::*;

    #[test]
    fn a_clone_keeps_the_copy_of_a_node_that_goes() {
        let copy = copies::linear((SideKind::Device, 0x1000), (SideKind::Device, 0x2000), 8);
        let held = |node| Held {
            copies: vec![copies::HostCopy::unstaged(node, copy)],
            ..Held::default()
        };
        let mut all = HashMap::from([(1, held(5)), (2, held(0))]);
        assert_eq!(take_of(&mut all, 1, 5, &copy).len(), 1);
        assert!(all[&1].copies.is_empty());
        assert_eq!(all[&2].copies.len(), 1);
        // Graph 3 is one that graph 2 has taken in.
        assert_eq!(take_of(&mut all, 3, 6, &copy).len(), 1);
        assert!(all[&2].copies.is_empty());
    }
}
