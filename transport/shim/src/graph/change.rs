//! Nodes that are changed, in their graph or where that was instantiated.

// Reads parameters through pointers of the program.
#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ffi::c_uint;
use std::ptr::null_mut;
use std::sync::Arc;

use gtrace_cuda::payload::{NodeCall, NodePlace, NodeWork, Pitched};
use gtrace_cuda::types::driver::{
    self as cuda, CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS, CUcontext, CUevent, CUgraph, CUgraphExec, CUgraphNode,
    CUgraphNodeParams,
};

use super::nodes::{self, given, newer, send_call};
use super::{Held, copies, kernel, number, pairs, params, plan, query, within};
use crate::entry::{Answer, check, holding_back};
use crate::generated::driver::remote;
use crate::host_functions::Kept;
use crate::log;
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
    pub(super) fn place(self) -> NodePlace {
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

pub(super) fn set(target: Target, work: NodeWork<'_>) -> Answer {
    let place = target.place();
    send_call(session::cuda()?, &NodeCall { place, work })
}

/// What a node, or a graph within it, needs of the client.
pub(super) enum Need {
    Copy(Pitched),
    Function(u64),
    Part(plan::Part),
}

/// The graph of a node and what it needs, if any graph needs anything.
pub(super) fn need_of(session: &'static Session, node: u64) -> Option<(u64, Need)> {
    let graphs = &session.state.graphs;
    let any = lock(&graphs.graphs)
        .values()
        .any(|own| !own.copies.is_empty() || !own.functions.is_empty());
    if !any {
        return None;
    }
    let graph = within::holder_of(session, node);
    // Of captured nodes only the server knows what they do.
    let need: Answer<_> = holding_back(session, || {
        Ok(Some(match query::kind_of(node)? {
            cuda::CU_GRAPH_NODE_TYPE_MEMCPY => Need::Copy(query::copy_of(session, node)?),
            cuda::CU_GRAPH_NODE_TYPE_HOST => Need::Function(query::ticket_of(session, node)?),
            // One that was moved has what it needs by itself.
            cuda::CU_GRAPH_NODE_TYPE_GRAPH
                if graphs.moved_into(|(_, of)| of == node).is_empty() =>
            {
                let own = graphs.own(graph);
                let copies = own.copies.by_ends();
                Need::Part(plan::part(session, node, &copies, &mut HashMap::new())?)
            }
            _ => return Ok(None),
        }))
    });
    Some((graph, need.ok()??))
}

/// A node is gone that was in this graph and needed this: what it copied is not moved for it any more, and what it called is not
/// waited for.
pub(super) fn forget_need(session: &Session, node: u64, (graph, need): (u64, Need)) {
    let mut all = lock(&session.state.graphs.graphs);
    match need {
        Need::Copy(copy) => drop(take_of(&mut all, graph, node, &copy)),
        Need::Function(ticket) => {
            if let Some(own) = all.get_mut(&graph) {
                own.forget_function(ticket);
            }
        }
        Need::Part(part) => {
            if let Some(own) = all.get_mut(&graph) {
                own.forget_part(&part);
            }
        }
    }
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
pub(super) fn take(held: &mut Held, node: u64, copy: &Pitched) -> Option<copies::HostCopy> {
    let own = held.copies.iter();
    let known = |own: &copies::HostCopy| node != 0 && own.node == node;
    let at = own.clone().position(known).or_else(|| {
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
) -> Answer {
    let session = session::cuda()?;
    let graphs = &session.state.graphs;
    let (node, exec) = (number(target.node), number(target.exec));
    // SAFETY: parameters of the program.
    let given = unsafe { nodes::given_copy(session, params) }?;
    let graph = match exec {
        0 => within::holder_of(session, node),
        _ => 0,
    };
    let in_graph = query::copy_of(session, node)?;
    let mut held = match exec {
        0 => graphs.own(graph),
        exec => held_by(session, exec),
    };
    let old = held.copied.get(&node).copied().unwrap_or(in_graph);
    let gone = take(&mut held, node, &old);
    // Graphs that were moved into this one may copy the same memory.
    let beside = |shape: &copies::Shape| match exec {
        0 => graphs.place(graph, shape),
        exec => held.copies.place(shape, exec),
    };
    let copy = copies::stage(session, &beside, &given, node)?;
    let is_held = copy.reads() || copy.writes();
    if is_held && exec == 0 && graph == 0 {
        log::once(
            "copy of a captured node",
            "the driver does not say to which graph a captured node belongs, so that it cannot be made to copy memory \
             of the host",
        );
        return Err(cuda::CUDA_ERROR_NOT_SUPPORTED);
    }
    let staged = copy.staged();
    let work = NodeWork::Memcpy {
        copy: staged,
        context: number(ctx),
    };
    set(target, work)?;
    // In its graph it is looked at when that is instantiated.
    if gone.is_some() && exec != 0 {
        plan::replace(session, exec, node, Some(&copy));
    }
    if is_held {
        held.copies.push(copy);
    }
    if exec == 0 {
        graphs.still_copies(node, &old);
        if is_held {
            lock(&graphs.owners).insert(node, graph);
        }
        if graph != 0 {
            graphs.change(graph, |own| std::mem::swap(own, &mut held));
        }
    } else {
        held.copied.insert(node, staged);
        graphs.set_exec(exec, held);
    }
    drop(gone);
    Ok(())
}

pub(super) fn set_kernel(target: Target, params: &CUDA_KERNEL_NODE_PARAMS) -> Answer {
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

pub(super) fn set_host(target: Target, params: &CUDA_HOST_NODE_PARAMS) -> Answer {
    let function = nodes::host(params)?;
    let session = session::cuda()?;
    let graphs = &session.state.graphs;
    let (node, exec) = (number(target.node), number(target.exec));
    let before = query::ticket_of(session, node)?;
    let ticket = function.ticket();
    set(target, NodeWork::Host { ticket })?;
    if exec != 0 {
        let mut held = held_by(session, exec);
        change_function(session, exec, &mut held, node, (before, function));
        graphs.set_exec(exec, held);
        plan::forget_unused(session);
        return Ok(());
    }
    graphs.still_calls(node, before);
    let graph = within::holder_of(session, node);
    let mut all = lock(&graphs.graphs);
    let own = all.get_mut(&graph).and_then(|held| {
        let mut own = held.functions.iter_mut();
        own.find(|own| own.ticket() == before)
    });
    match own {
        Some(own) => *own = function,
        // Of a graph that others have taken in, or that is not known: it is kept for ever.
        None => std::mem::forget(function),
    }
    Ok(())
}

/// What is held for what was instantiated, to be changed.
pub(super) fn held_by(session: &Session, exec: u64) -> Held {
    let own = session.state.graphs.exec(exec);
    own.map(|own| Held::clone(&own)).unwrap_or_default()
}

/// Node `node` of what was instantiated calls `new`. In its graph it calls `in_graph`.
pub(super) fn change_function(
    session: &Session,
    exec: u64,
    held: &mut Held,
    node: u64,
    (in_graph, new): (u64, Arc<Kept>),
) {
    let ticket = new.ticket();
    let before = held.changed.insert(node, ticket).unwrap_or(in_graph);
    held.replace_function(before, new);
    let stays = held.functions.iter().any(|own| own.ticket() == before);
    plan::take_over(&session.state.graphs, exec, (before, stays), ticket);
}

/// Functions that change a node in its graph, and the same where that was instantiated; there some take the context too.
macro_rules! sets {
    ($(
        $in_graph:ident, $in_exec:ident($target:ident, $given:ident: $type:ty $(, $context:ident)?) => $set:expr;
    )*) => {$(
        #[allow(unused_unsafe, reason = "some are without pointers")]
        pub(crate) unsafe fn $in_graph(hNode: CUgraphNode, $given: $type) -> Answer {
            let $target = Target { exec: null_mut(), node: hNode };
            $(let $context: CUcontext = null_mut();)?
            // SAFETY: parameters of the program.
            unsafe { $set }
        }

        #[allow(unused_unsafe, reason = "some are without pointers")]
        pub(crate) unsafe fn $in_exec(
            hGraphExec: CUgraphExec,
            hNode: CUgraphNode,
            $given: $type,
            $($context: CUcontext)?
        ) -> Answer {
            let $target = Target { exec: hGraphExec, node: hNode };
            // SAFETY: parameters of the program.
            unsafe { $set }
        }
    )*};
}

sets! {
    cuGraphNodeSetParams, cuGraphExecNodeSetParams(target, given: *mut CUgraphNodeParams) =>
        params::set(target, given);
    cuGraphKernelNodeSetParams, cuGraphExecKernelNodeSetParams(target, older: *const CUDA_KERNEL_NODE_PARAMS) =>
        set_kernel(target, &newer(older)?);
    cuGraphKernelNodeSetParams_v2, cuGraphExecKernelNodeSetParams_v2(target, params: *const CUDA_KERNEL_NODE_PARAMS) =>
        set_kernel(target, given(params)?);
    cuGraphMemcpyNodeSetParams, cuGraphExecMemcpyNodeSetParams(target, copy: *const CUDA_MEMCPY3D, context) =>
        set_memcpy(target, copy, context);
    cuGraphMemsetNodeSetParams, cuGraphExecMemsetNodeSetParams(target, fill: *const CUDA_MEMSET_NODE_PARAMS, context) =>
        set(target, nodes::memset(fill, context)?);
    cuGraphHostNodeSetParams, cuGraphExecHostNodeSetParams(target, params: *const CUDA_HOST_NODE_PARAMS) =>
        set_host(target, given(params)?);
    cuGraphEventRecordNodeSetEvent, cuGraphExecEventRecordNodeSetEvent(target, event: CUevent) =>
        set(target, nodes::record(event)?);
    cuGraphEventWaitNodeSetEvent, cuGraphExecEventWaitNodeSetEvent(target, event: CUevent) =>
        set(target, NodeWork::EventWait { event: number(event) });
}

pub(crate) unsafe fn cuGraphExecChildGraphNodeSetParams(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    childGraph: CUgraph,
) -> Answer {
    let target = Target {
        exec: hGraphExec,
        node: hNode,
    };
    pairs::set_child(target, childGraph)
}

/// Whether a node copies to memory of the client. `ask` says what it copies, for copies whose nodes are not known.
fn brings(held: &Held, node: u64, ask: impl FnOnce() -> Option<Pitched>) -> bool {
    let writing = held.copies.iter().filter(|own| own.writes());
    if writing.clone().any(|own| own.node == node) {
        return true;
    }
    let mut unknown = writing.filter(|own| own.node == 0).peekable();
    let copy = || held.copied.get(&node).copied().or_else(ask);
    unknown.peek().is_some() && copy().is_some_and(|copy| unknown.any(|own| own.is(&copy)))
}

/// A copy to the client's memory that does nothing would bring what it brought last.
pub(crate) unsafe fn cuGraphNodeSetEnabled(
    hGraphExec: CUgraphExec,
    hNode: CUgraphNode,
    isEnabled: c_uint,
) -> Answer {
    let session = session::cuda()?;
    let node = number(hNode);
    let ask = || holding_back(session, || query::copy_of(session, node)).ok();
    if isEnabled == 0
        && let Some(held) = session.state.graphs.exec(number(hGraphExec))
        && brings(&held, node, ask)
    {
        log::once(
            "disabled copy",
            "a node of a graph that copies to memory of the host cannot be disabled",
        );
        return Err(cuda::CUDA_ERROR_NOT_SUPPORTED);
    }
    // SAFETY: handles.
    check(unsafe { remote::cuGraphNodeSetEnabled(hGraphExec, hNode, isEnabled) })
}

#[cfg(test)]
mod tests {
    use gtrace_cuda::payload::SideKind;

    use super::super::places::Copies;
    use super::*;

    #[test]
    fn copies_to_the_host_are_known_by_their_nodes_or_by_what_they_copy() {
        let given = copies::linear((SideKind::Device, 0x1000), (SideKind::Client, 0x2000), 8);
        let within = copies::linear((SideKind::Device, 0x1000), (SideKind::Device, 0x2000), 8);
        let held = |node| Held {
            copies: Copies::from_iter([
                copies::HostCopy::unstaged(4, within),
                copies::HostCopy::writing(node, given),
            ]),
            ..Held::default()
        };
        let never = || -> Option<Pitched> { panic!("it is known without a question") };
        assert!(brings(&held(5), 5, never));
        assert!(!brings(&held(5), 4, never));
        let copy = held(0).copies[1].staged();
        assert!(brings(&held(0), 5, || Some(copy)));
        assert!(!brings(&held(0), 5, || Some(within)));
        assert!(!brings(&held(0), 5, || None));
    }

    #[test]
    fn a_clone_keeps_the_copy_of_a_node_that_goes() {
        let copy = copies::linear((SideKind::Device, 0x1000), (SideKind::Device, 0x2000), 8);
        let held = |node| Held {
            copies: Copies::from_iter([copies::HostCopy::unstaged(node, copy)]),
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
