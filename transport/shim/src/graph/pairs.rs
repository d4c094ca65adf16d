//! What was instantiated does what another graph of the same structure does.

use std::collections::HashMap;
use std::ptr::without_provenance_mut;
use std::sync::Arc;

use gtrace_cuda::payload::{NodeCall, NodeWork};
use gtrace_cuda::types::driver::{self as cuda, CUgraph};

use super::change::{Target, change_function, held_by, set, take};
use super::nodes::send_awaited;
use super::query::{self, child_of, copy_of, kind_of, ticket_of};
use super::{Held, HostCopy, in_step, number, plan, within};
use crate::entry::{Answer, holding_back};
use crate::session::{self, Session};
use crate::state::lock;

/// A node that copies, or calls a function, and the one that does so in another graph.
struct Pair {
    own: u64,
    new: u64,
    is_function: bool,
}

/// Pairs of nodes of two graphs, in their order; none if the graphs are not alike, as one was changed meanwhile.
fn pairs(own: u64, new: u64) -> Answer<Option<Vec<Pair>>> {
    let mut all = Vec::new();
    Ok(collect(own, new, &mut all)?.then_some(all))
}

fn collect(own: u64, new: u64, all: &mut Vec<Pair>) -> Answer<bool> {
    let nodes = |graph: u64| query::nodes(without_provenance_mut(graph as usize));
    let (own, new) = (nodes(own)?, nodes(new)?);
    if own.len() != new.len() {
        return Ok(false);
    }
    for (own, new) in own.into_iter().zip(new) {
        let kind = kind_of(own)?;
        if kind != kind_of(new)? {
            return Ok(false);
        }
        match kind {
            cuda::CU_GRAPH_NODE_TYPE_GRAPH
                if !query::inside(own, |own| collect(own, child_of(new)?, all))? =>
            {
                return Ok(false);
            }
            cuda::CU_GRAPH_NODE_TYPE_HOST | cuda::CU_GRAPH_NODE_TYPE_MEMCPY => all.push(Pair {
                own,
                new,
                is_function: kind == cuda::CU_GRAPH_NODE_TYPE_HOST,
            }),
            _ => {}
        }
    }
    Ok(true)
}

/// Nodes of a graph, and the names that they have in another one.
pub(super) type Names = HashMap<u64, u64>;

/// What was instantiated as `exec` does what `graph` does, which needs `held`. The program changes it by the nodes of the graph
/// that it was instantiated from, if that is still there: these are the names from here on.
pub(super) fn rename(
    session: &'static Session,
    exec: u64,
    graph: u64,
    held: &mut Held,
) -> Answer<Names> {
    let mut names = Names::new();
    let origin = lock(&session.state.graphs.origins).get(&exec).copied();
    let Some(origin) = origin.filter(|origin| *origin != graph && !held.is_empty()) else {
        return Ok(names);
    };
    for pair in pairs(origin, graph)?.unwrap_or_default() {
        if pair.is_function {
            let ticket = ticket_of(session, pair.new)?;
            held.changed.insert(pair.own, ticket);
        } else {
            let copy = copy_of(session, pair.new)?;
            held.copied.insert(pair.own, copy);
        }
        names.insert(pair.new, pair.own);
    }
    held.copies.rename(&names);
    Ok(names)
}

pub(super) fn set_child(target: Target, graph: CUgraph) -> Answer {
    let session = session::cuda()?;
    let graphs = &session.state.graphs;
    let (exec, graph) = (number(target.exec), number(graph));
    in_step::bring(session, graph, exec)?;
    let child = within::need(session, graph)?;
    let mut held = held_by(session, exec);
    let work = NodeWork::Child {
        graph,
        moved: false,
    };
    if held.is_empty() && child.is_empty() {
        return set(target, work);
    }
    let call = NodeCall {
        place: target.place(),
        work,
    };
    // Awaited: the driver refuses graphs of another structure.
    send_awaited(session, &call, |_| Ok(()))?;
    let gone = holding_back(session, || {
        let within = child_of(number(target.node))?;
        take_child(session, exec, &mut held, within, (graph, &child))
    })?;
    held.objects.extend(&child.objects);
    graphs.set_exec(exec, held);
    drop(gone);
    plan::forget_unused(session);
    Ok(())
}

/// The nodes of graph `within`, which was instantiated within another, do what those of `graph` do, which has the same structure
/// and needs `child`. What is copied no more.
fn take_child(
    session: &'static Session,
    exec: u64,
    held: &mut Held,
    within: u64,
    (graph, child): (u64, &Held),
) -> Answer<Vec<HostCopy>> {
    let mut all_gone = Vec::new();
    let mut pairs = pairs(within, graph)?.unwrap_or_default();
    // Functions first, so that what goes beside those of a launch under way stays.
    pairs.sort_by_key(|pair| !pair.is_function);
    for pair in pairs {
        let node = pair.own;
        if pair.is_function {
            let before = ticket_of(session, node)?;
            let ticket = ticket_of(session, pair.new)?;
            let mut functions = child.functions.iter();
            if let Some(new) = functions.find(|own| own.ticket() == ticket) {
                change_function(session, exec, held, node, (before, Arc::clone(new)));
            }
            continue;
        }
        let in_graph = copy_of(session, node)?;
        let now = copy_of(session, pair.new)?;
        let before = held.copied.insert(node, now).unwrap_or(in_graph);
        let mut copies = child.copies.iter();
        let new = copies.find(|own| own.is(&now)).map(|own| own.of_node(node));
        if let Some(gone) = take(held, node, &before) {
            plan::replace(session, exec, node, new.as_ref());
            all_gone.push(gone);
        }
        held.copies.extend(new);
    }
    Ok(all_gone)
}
