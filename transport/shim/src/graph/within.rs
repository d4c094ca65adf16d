//! Graphs within nodes: copies that nodes have of other graphs, whose nodes the program may change. What these need of the client
//! is kept with the graph that is instantiated, in which they are.

// Asks the server with places to write to.
#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ptr::{null_mut, without_provenance_mut};

use gtrace_cuda::types::driver::{self as cuda, CUgraph, CUgraphNode};

use super::{Held, number, plan, query};
use crate::entry::{Answer, check, holding_back};
use crate::generated::driver::remote;
use crate::session::{self, Session};
use crate::state::lock;

/// The graph that has what the nodes of `graph` need of the client: itself, unless it is the copy that a node has.
pub(super) fn holder(session: &'static Session, graph: u64) -> u64 {
    let graphs = &session.state.graphs;
    let mut holder = graph;
    for _ in 0..query::DEPTH_MAX {
        let node = lock(&graphs.within).get(&holder).copied();
        let Some(node) = node else {
            break;
        };
        match owner(session, node) {
            0 => break,
            outer => {
                // It goes with that one.
                lock(&graphs.owners).insert(node, outer);
                holder = outer;
            }
        }
    }
    holder
}

/// The graph that has what a node needs of the client; 0 if it is not known.
pub(super) fn holder_of(session: &'static Session, node: u64) -> u64 {
    holder(session, owner(session, node))
}

fn owner(session: &'static Session, node: u64) -> u64 {
    let known = lock(&session.state.graphs.owners).get(&node).copied();
    known.unwrap_or_else(|| containing(session, node))
}

/// The graph of a node; 0 if it is not known.
fn containing(session: &'static Session, node: u64) -> u64 {
    let mut graph: CUgraph = null_mut();
    let handle: CUgraphNode = without_provenance_mut(node as usize);
    // SAFETY: a handle, and a local variable.
    let code = holding_back(session, || unsafe {
        remote::cuGraphNodeGetContainingGraph(handle, &raw mut graph)
    });
    if code == cuda::CUDA_SUCCESS {
        return number(graph);
    }
    // Drivers before CUDA 13.1 do not report it. It may be one that needs something of the client, or one
    // within a node.
    let graphs = &session.state.graphs;
    let mut known: Vec<u64> = lock(&graphs.graphs).keys().copied().collect();
    known.extend(lock(&graphs.within).keys());
    let has = |graph: &u64| {
        let nodes = query::nodes(without_provenance_mut(*graph as usize));
        nodes.is_ok_and(|nodes| nodes.contains(&node))
    };
    holding_back(session, || known.into_iter().find(has)).unwrap_or(0)
}

/// What a graph needs of the client.
pub(super) fn need(session: &'static Session, graph: u64) -> Answer<Held> {
    let graphs = &session.state.graphs;
    let holder = holder(session, graph);
    let held = graphs.held(holder);
    if holder == graph || held.is_empty() {
        return Ok(held);
    }
    // Of a copy within a node it is a part.
    let part = holding_back(session, || {
        plan::visit(session, graph, &held.copies.by_ends(), &mut HashMap::new())
    })?;
    Ok(held.part(&part))
}

pub(crate) unsafe fn cuGraphChildGraphNodeGetGraph(
    hNode: CUgraphNode,
    phGraph: *mut CUgraph,
) -> Answer {
    // SAFETY: a pointer of the program, passed on.
    check(unsafe { remote::cuGraphChildGraphNodeGetGraph(hNode, phGraph) })?;
    // SAFETY: written by the call.
    let graph = number(unsafe { phGraph.read() });
    let graphs = &session::cuda()?.state.graphs;
    // One that was moved there has what it needs by itself.
    if !lock(&graphs.moved).contains_key(&graph) {
        lock(&graphs.within).insert(graph, number(hNode));
    }
    Ok(())
}
