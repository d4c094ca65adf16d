//! What nodes of a graph do before it is instantiated.
//!
//! Copies of page-locked memory that the device has been given since they were captured or added: the graph's kernels use that
//! memory by then, so its copies have to, and not a place that stands for it. In the body of a conditional node all have to.
//!
//! Each instance has places of its own, and functions of its own where copies go beside them: what one launch sends is not what
//! another one reads. The nodes of a graph that was instantiated before are given others; its instance keeps those. A launch
//! under way keeps its functions, and with them what goes beside them, when its instance is updated.

use std::ptr::without_provenance_mut;

use gtrace_cuda::payload::{NodeCall, NodePlace, NodeWork, SideKind};
use gtrace_cuda::types::driver as cuda;

use super::nodes::send_call;
use super::{Held, HostCopy, Kept, copies, plan, query, within};
use crate::entry::{Answer, holding_back};
use crate::session::Session;
use crate::{host_functions, log, managed, pitched};

/// Whether the device has a side of it that it did not have.
fn is_late(copy: &HostCopy) -> bool {
    pitched::with_managed(copy.given()) != *copy.given()
}

/// What is about to do what a graph does.
#[derive(Clone, Copy)]
struct Instance {
    exec: u64,
    /// Copies go beside functions that it calls, its own or another one's.
    copies: bool,
}

impl Instance {
    fn can_have(self, copy: &HostCopy) -> bool {
        !is_late(copy) && !copy.is_taken(self.exec)
    }

    fn can_call(self, function: &Kept) -> bool {
        !self.copies || !function.owner.is_other(self.exec)
    }
}

/// A graph is about to be instantiated as `exec`, or that to do what the graph does.
pub(super) fn bring(session: &'static Session, graph: u64, exec: u64) -> Answer {
    let graphs = &session.state.graphs;
    let graph = within::holder(session, graph);
    let (own, held) = (graphs.exec(exec), graphs.held(graph));
    if own.is_some() && session.state.host_functions.are_outstanding() {
        let own = held.functions.iter().filter(|it| it.owner.is(exec));
        own.for_each(|it| it.owner.leave());
    }
    let instance = Instance {
        exec,
        copies: own.is_some_and(|own| !own.copies.is_empty())
            || !held.copies.is_empty()
            || plan::has_any(graphs, &held.functions),
    };
    bring_own(session, graph, instance)
}

/// What is the graph's own, and what graphs that were moved into it need.
fn bring_own(session: &'static Session, graph: u64, instance: Instance) -> Answer {
    let graphs = &session.state.graphs;
    for body in graphs.bodies_of(graph) {
        bring_body(session, body, instance)?;
    }
    for child in graphs.moved_into(|(of, _)| of == graph) {
        bring_own(session, child, instance)?;
    }
    let mut held = graphs.own(graph);
    let stays = held.copies.iter().all(|copy| instance.can_have(copy))
        && held.functions.iter().all(|own| instance.can_call(own));
    if stays {
        return Ok(());
    }
    let brought = holding_back(session, || visit(session, graph, &mut held, instance));
    graphs.change(graph, |own| std::mem::swap(own, &mut held));
    // What it held before goes here, out of the lock: functions of the program end its objects.
    drop(held);
    brought
}

/// The body of a conditional node. Only the device knows whether and how often it runs, so that nothing can be moved for it
/// before and behind a launch: the device gets page-locked memory itself, and other memory of the host is refused.
fn bring_body(session: &'static Session, body: u64, instance: Instance) -> Answer {
    let graphs = &session.state.graphs;
    let held = graphs.held(body);
    let sides = held.copies.iter().flat_map(|copy| {
        let given = copy.given();
        [given.from, given.to]
    });
    let of_host = sides.filter(|side| side.kind == SideKind::Client);
    managed::reach(session, of_host.map(|side| side.place))?;
    bring_own(session, body, instance)?;
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

fn visit(session: &'static Session, graph: u64, held: &mut Held, instance: Instance) -> Answer {
    for node in query::nodes(without_provenance_mut(graph as usize))? {
        match query::kind_of(node)? {
            cuda::CU_GRAPH_NODE_TYPE_MEMCPY => bring_node(session, node, held, instance)?,
            cuda::CU_GRAPH_NODE_TYPE_HOST if instance.copies => {
                bring_function(session, node, held, instance)?;
            }
            cuda::CU_GRAPH_NODE_TYPE_GRAPH => {
                query::inside(node, |child| visit(session, child, held, instance))?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn bring_node(session: &'static Session, node: u64, held: &mut Held, instance: Instance) -> Answer {
    let is = query::copy_of(session, node)?;
    let mut all = held.copies.iter();
    let Some(at) = all.position(|own| own.is(&is) && !instance.can_have(own)) else {
        return Ok(());
    };
    let before = &held.copies[at];
    let given = pitched::with_managed(before.given());
    let beside = |shape: &copies::Shape| held.copies.place(shape, instance.exec);
    let copy = copies::stage(session, &beside, &given, before.node)?;
    let work = NodeWork::Memcpy {
        copy: copy.staged(),
        context: 0,
    };
    let place = NodePlace::Set { node };
    send_call(session, &NodeCall { place, work })?;
    session.state.graphs.still_copies(node, &is);
    match copy.reads() || copy.writes() {
        true => drop(held.copies.replace(at, copy)),
        false => drop(held.copies.remove(at)),
    }
    Ok(())
}

fn bring_function(
    session: &'static Session,
    node: u64,
    held: &mut Held,
    instance: Instance,
) -> Answer {
    let ticket = query::ticket_of(session, node)?;
    let mut all = held.functions.iter();
    if !all.any(|own| own.ticket() == ticket && !instance.can_call(own)) {
        return Ok(());
    }
    let Some((function, user)) = host_functions::kept(session, ticket) else {
        return Ok(());
    };
    let new = host_functions::keep(function, user)?;
    let work = NodeWork::Host {
        ticket: new.ticket(),
    };
    let place = NodePlace::Set { node };
    send_call(session, &NodeCall { place, work })?;
    session.state.graphs.still_calls(node, ticket);
    held.replace_function(ticket, new);
    Ok(())
}
