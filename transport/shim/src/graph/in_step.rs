//! Copies of page-locked memory that the device has been given since they were captured or added: the graph's kernels use that
//! memory by then, so its copies have to, and not a place that stands for it. In the body of a conditional node all have to.

// Asks about nodes with places to write to.
#![allow(unsafe_code)]

use std::ptr::{null_mut, without_provenance_mut};

use gtrace_cuda::payload::{NodeCall, NodePlace, NodeWork, SideKind};
use gtrace_cuda::types::driver::{self as cuda, CUgraph, CUgraphNode, CUresult};

use super::nodes::send_call;
use super::{Held, HostCopy, change, copies, number, plan};
use crate::entry::check;
use crate::generated::driver::remote;
use crate::session::Session;
use crate::{log, managed, pitched};

/// Whether the device has a side of it that it did not have.
fn is_late(copy: &HostCopy) -> bool {
    pitched::with_managed(copy.given()) != *copy.given()
}

/// A graph is about to be instantiated.
pub(super) fn bring(session: &'static Session, graph: u64) -> Result<(), CUresult> {
    let graphs = &session.state.graphs;
    for body in graphs.bodies_of(graph) {
        bring_body(session, body)?;
    }
    for child in graphs.moved_into(|(of, _)| of == graph) {
        bring(session, child)?;
    }
    if !managed::in_use() {
        return Ok(());
    }
    let mut held = graphs.own(graph);
    if !held.copies.iter().any(is_late) {
        return Ok(());
    }
    visit(session, graph, &mut held)?;
    graphs.change(graph, |own| std::mem::swap(own, &mut held));
    // What it held before goes here, out of the lock: its memory is freed by calls.
    drop(held);
    Ok(())
}

/// The body of a conditional node. Only the device knows whether and how often it runs, so that nothing can be moved for it
/// before and behind a launch: the device gets page-locked memory itself, and other memory of the host is refused.
fn bring_body(session: &'static Session, body: u64) -> Result<(), CUresult> {
    let graphs = &session.state.graphs;
    let held = graphs.held(body);
    let sides = held.copies.iter().flat_map(|copy| {
        let given = copy.given();
        [given.from, given.to]
    });
    let of_host = sides.filter(|side| side.kind == SideKind::Client);
    managed::reach(session, of_host.map(|side| side.place))?;
    bring(session, body)?;
    if graphs.held(body).copies.is_empty() {
        return Ok(());
    }
    log::once(
        "body of a conditional node",
        "a graph copies pageable memory of the host in the body of a conditional node, which is not supported: \
         page-locked memory is",
    );
    Err(cuda::CUDA_ERROR_NOT_SUPPORTED)
}

fn visit(session: &'static Session, graph: u64, held: &mut Held) -> Result<(), CUresult> {
    for node in plan::nodes(without_provenance_mut(graph as usize))? {
        let handle: CUgraphNode = without_provenance_mut(node as usize);
        let mut kind = 0;
        // SAFETY: a local variable.
        check(unsafe { remote::cuGraphNodeGetType(handle, &raw mut kind) })?;
        match kind {
            cuda::CU_GRAPH_NODE_TYPE_MEMCPY => bring_node(session, node, held)?,
            cuda::CU_GRAPH_NODE_TYPE_GRAPH => {
                let mut child: CUgraph = null_mut();
                // SAFETY: a local variable.
                check(unsafe { remote::cuGraphChildGraphNodeGetGraph(handle, &raw mut child) })?;
                visit(session, number(child), held)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn bring_node(session: &'static Session, node: u64, held: &mut Held) -> Result<(), CUresult> {
    let is = change::copy_of(session, node)?;
    let mut all = held.copies.iter();
    let Some(at) = all.position(|own| own.is(&is) && is_late(own)) else {
        return Ok(());
    };
    let given = pitched::with_managed(held.copies[at].given());
    let copy = copies::stage(session, held, &given, node)?;
    let work = NodeWork::Memcpy {
        copy: copy.staged(),
        context: 0,
    };
    let place = NodePlace::Set { node };
    send_call(session, &NodeCall { place, work })?;
    match copy.reads() || copy.writes() {
        true => held.copies[at] = copy,
        false => drop(held.copies.remove(at)),
    }
    Ok(())
}
