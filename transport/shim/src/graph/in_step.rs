//! Copies of page-locked memory that the device has been given since they were captured or added: the graph's kernels use that
//! memory by then, so its copies have to, and not a place that stands for it.

// Asks about nodes with places to write to.
#![allow(unsafe_code)]

use std::ptr::{null_mut, without_provenance_mut};

use gtrace_cuda::payload::{NodeCall, NodePlace, NodeWork};
use gtrace_cuda::types::driver::{self as cuda, CUgraph, CUgraphNode, CUresult};

use super::nodes::send_call;
use super::{Held, HostCopy, change, copies, number, plan};
use crate::entry::check;
use crate::generated::driver::remote;
use crate::session::Session;
use crate::{managed, pitched};

/// Whether the device has a side of it that it did not have.
fn is_late(copy: &HostCopy) -> bool {
    pitched::with_managed(copy.given()) != *copy.given()
}

/// A graph is about to be instantiated.
pub(super) fn bring(session: &'static Session, graph: u64) -> Result<(), CUresult> {
    if !managed::in_use() {
        return Ok(());
    }
    let graphs = &session.state.graphs;
    for child in graphs.moved_into(|(of, _)| of == graph) {
        bring(session, child)?;
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
