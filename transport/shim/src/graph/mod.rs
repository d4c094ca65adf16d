//! Graphs: what they need of the client, whose memory copies of a graph read and write at each launch,
//! and whose functions it calls.
//!
//! Memory of the client has a place on the device for each graph that copies it: nodes copy between
//! device and that place, and the client moves the bytes between it and its own memory at each launch.

// Passes pointers of the program on.
#![allow(unsafe_code)]

mod change;
mod copies;
mod dot;
mod exec;
mod in_step;
mod kernel;
mod nodes;
mod objects;
mod params;
mod plan;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use gtrace_cuda::types::driver::{CUgraph, CUgraphNode, CUresult};

use crate::entry::{check, done};
use crate::generated::driver::remote;
use crate::session::{self, Session};
use crate::state::lock;

pub(crate) use change::*;
pub(crate) use copies::{HostCopy, captured_copy, captured_linear};
pub(crate) use dot::*;
pub(crate) use exec::*;
pub(crate) use nodes::*;
pub(crate) use objects::*;
pub(crate) use params::*;
pub(crate) use plan::Plan;

/// What a graph, or what was instantiated from it, needs of the client.
#[derive(Clone, Default)]
pub(crate) struct Held {
    /// Copies of the client's memory.
    pub(crate) copies: Vec<HostCopy>,
    /// Numbers of the client's functions.
    pub(crate) functions: Vec<u64>,
    objects: objects::References,
}

impl Held {
    fn is_empty(&self) -> bool {
        self.copies.is_empty() && self.functions.is_empty() && self.objects.is_empty()
    }

    /// Needs what `other` needs as well.
    pub(crate) fn extend(&mut self, other: &Self) {
        for copy in &other.copies {
            self.copies.push(copy.without_node());
        }
        self.functions.extend_from_slice(&other.functions);
        self.objects.extend(&other.objects);
    }
}

/// What is kept of the graphs of a session.
#[derive(Default)]
pub(crate) struct Graphs {
    /// Any graph needs anything of the client.
    used: AtomicBool,
    graphs: Mutex<HashMap<u64, Held>>,
    execs: Mutex<HashMap<u64, Arc<Held>>>,
    /// In which stream those of them were launched last that have objects of the program.
    launched: Mutex<HashMap<u64, u64>>,
    /// Parameters of nodes that were given to the program, for as long as it may read them.
    kernels: Mutex<HashMap<u64, kernel::Kept>>,
    /// Handles of the bodies of conditional nodes, which the program may read as long as they live.
    bodies: Mutex<HashMap<u64, Box<[usize]>>>,
    /// Graphs of the nodes above.
    owners: Mutex<HashMap<u64, u64>>,
    /// Graphs that were moved: the graph and the node that they belong to.
    moved: Mutex<HashMap<u64, (u64, u64)>>,
    /// What goes before and after each function of the client.
    pub(crate) plans: Mutex<HashMap<u64, Arc<Plan>>>,
    /// Functions of those, by what was instantiated, or by their node where that was changed in its graph.
    planned: Mutex<HashMap<u64, Vec<u64>>>,
    /// Plans that others have replaced. A function that runs may have one, and would wait for itself as the last that does: its
    /// memory is freed by calls that wait for the device.
    retired: Mutex<Vec<Arc<Plan>>>,
}

impl Graphs {
    /// Graph `graph` needs more.
    fn change(&self, graph: u64, change: impl FnOnce(&mut Held)) {
        self.used.store(true, Ordering::Release);
        change(lock(&self.graphs).entry(graph).or_default());
    }

    /// A plan is replaced.
    fn retire(&self, plan: Option<Arc<Plan>>) {
        lock(&self.retired).extend(plan);
    }

    /// What graph `graph` needs itself, without graphs that were moved into it.
    fn own(&self, graph: u64) -> Held {
        lock(&self.graphs).get(&graph).cloned().unwrap_or_default()
    }

    /// What graph `graph` needs, with graphs that were moved into it.
    fn held(&self, graph: u64) -> Held {
        let mut held = self.own(graph);
        for child in self.moved_into(|(of, _)| of == graph) {
            // Copies with their nodes, as those are the program's still.
            let within = self.held(child);
            held.copies.extend(within.copies.iter().cloned());
            held.functions.extend_from_slice(&within.functions);
            held.objects.extend(&within.objects);
        }
        held
    }

    /// Graphs that were moved into one graph, or one node.
    fn moved_into(&self, is_it: impl Fn((u64, u64)) -> bool) -> Vec<u64> {
        let moved = lock(&self.moved);
        let found = moved.iter().filter(|(_, of)| is_it(**of));
        found.map(|(child, _)| *child).collect()
    }

    fn exec(&self, exec: u64) -> Option<Arc<Held>> {
        match self.used.load(Ordering::Acquire) {
            true => lock(&self.execs).get(&exec).cloned(),
            false => None,
        }
    }

    fn set_exec(&self, exec: u64, held: Held) {
        self.used.store(true, Ordering::Release);
        let before = lock(&self.execs).insert(exec, Arc::new(held));
        drop(before);
    }

    fn forget_node(&self, node: u64) {
        lock(&self.kernels).remove(&node);
        lock(&self.bodies).remove(&node);
        lock(&self.owners).remove(&node);
        for child in self.moved_into(|(_, of)| of == node) {
            self.forget_graph(child);
        }
    }

    fn forget_graph(&self, graph: u64) {
        let nodes: Vec<u64> = {
            let owners = lock(&self.owners);
            let own = owners.iter().filter(|(_, of)| **of == graph);
            own.map(|(node, _)| *node).collect()
        };
        for node in nodes {
            self.forget_node(node);
        }
        for child in self.moved_into(|(of, _)| of == graph) {
            self.forget_graph(child);
        }
        lock(&self.moved).remove(&graph);
        // Out of the lock: its memory is freed by calls.
        let gone = lock(&self.graphs).remove(&graph);
        drop(gone);
    }
}

fn number<T>(handle: *mut T) -> u64 {
    handle.addr() as u64
}

/// A capture has become a graph.
pub(crate) fn captured(session: &Session, graph: u64, held: Held) {
    if !held.is_empty() {
        session.state.graphs.change(graph, |own| own.extend(&held));
    }
}

pub(crate) unsafe fn cuGraphClone(phGraphClone: *mut CUgraph, originalGraph: CUgraph) -> CUresult {
    done(|| {
        let graphs = &session::cuda()?.state.graphs;
        // SAFETY: a pointer of the program, passed on.
        check(unsafe { remote::cuGraphClone(phGraphClone, originalGraph) })?;
        let held = graphs.held(number(originalGraph));
        if !held.is_empty() {
            // SAFETY: written by the call.
            let clone = number(unsafe { phGraphClone.read() });
            graphs.change(clone, |own| own.extend(&held));
        }
        Ok(())
    })
}

pub(crate) unsafe fn cuGraphDestroy(hGraph: CUgraph) -> CUresult {
    done(|| {
        let session = session::cuda()?;
        // SAFETY: a handle.
        check(unsafe { remote::cuGraphDestroy(hGraph) })?;
        session.state.graphs.forget_graph(number(hGraph));
        Ok(())
    })
}

pub(crate) unsafe fn cuGraphDestroyNode(hNode: CUgraphNode) -> CUresult {
    done(|| {
        let session = session::cuda()?;
        change::forget_copy(session, number(hNode))?;
        // SAFETY: a handle.
        check(unsafe { remote::cuGraphDestroyNode(hNode) })?;
        session.state.graphs.forget_node(number(hNode));
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_moved_graph_needs_is_not_kept_twice() {
        let graphs = Graphs::default();
        graphs.change(2, |own| own.functions.push(7));
        lock(&graphs.moved).insert(2, (1, 5));
        assert_eq!(graphs.held(1).functions, [7]);
        let mut own = graphs.own(1);
        graphs.change(1, |held| std::mem::swap(held, &mut own));
        assert_eq!(graphs.held(1).functions, [7]);
    }
}
