//! Graphs: what they need of the client, whose memory copies of a graph read and write at each launch,
//! and whose functions it calls.
//!
//! Memory of the client has a place on the device for each instance of a graph that copies it: nodes copy
//! between device and that place, and the client moves the bytes between it and its own memory at each launch.

// Passes pointers of the program on.
#![allow(unsafe_code)]

mod change;
mod copies;
mod dot;
mod exec;
mod in_step;
mod kernel;
mod leaving;
mod nodes;
mod objects;
mod order;
mod pairs;
mod params;
mod places;
mod plan;
mod query;
mod within;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use gtrace_cuda::payload::Pitched;
use gtrace_cuda::types::driver::{CUgraph, CUgraphNode};

use crate::entry::{Answer, check, ending, holding_back};
use crate::generated::driver::remote;
use crate::host_functions::Kept;
use crate::memory;
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
pub(crate) use within::*;

/// What a graph, or what was instantiated from it, needs of the client.
#[derive(Clone, Default)]
pub(crate) struct Held {
    /// Copies of the client's memory.
    pub(crate) copies: places::Copies,
    /// Functions of the client, each as often as nodes call it.
    pub(crate) functions: Vec<Arc<Kept>>,
    /// Numbers of functions that nodes call where their graph was instantiated, by node, if they were changed there or in the graph.
    changed: HashMap<u64, u64>,
    /// What nodes copy where their graph was instantiated, by node, if they were changed there or, captured ones, in the graph.
    copied: HashMap<u64, Pitched>,
    objects: objects::References,
}

impl Held {
    fn is_empty(&self) -> bool {
        self.copies.is_empty() && self.functions.is_empty() && self.objects.is_empty()
    }

    /// Needs what `other` needs as well.
    pub(crate) fn extend(&mut self, other: &Self) {
        let copies = other.copies.iter();
        self.copies.extend(copies.map(HostCopy::without_node));
        self.functions.extend_from_slice(&other.functions);
        self.objects.extend(&other.objects);
    }

    /// `exec` is instantiated with these places and functions.
    fn claim(&self, exec: u64) {
        self.copies.iter().for_each(|copy| copy.claim(exec));
        let functions = self.functions.iter();
        functions.for_each(|function| function.owner.set(exec));
    }

    /// A node calls `new` where it called `old`.
    fn replace_function(&mut self, old: u64, new: Arc<Kept>) {
        match self.functions.iter_mut().find(|own| own.ticket() == old) {
            Some(own) => *own = new,
            None => self.functions.push(new),
        }
    }

    /// A node that calls a function is gone.
    fn forget_function(&mut self, ticket: u64) {
        if let Some(at) = self.functions.iter().position(|own| own.ticket() == ticket) {
            self.functions.swap_remove(at);
        }
    }

    /// A graph within a node is gone.
    fn forget_part(&mut self, part: &plan::Part) {
        for ticket in &part.functions {
            self.forget_function(*ticket);
        }
        for copy in part.copies() {
            change::take(self, copy.node, &copy.staged());
        }
    }

    /// What a graph within a node needs of it.
    fn part(&self, part: &plan::Part) -> Self {
        let function = |ticket: &u64| {
            let mut all = self.functions.iter();
            all.find(|own| own.ticket() == *ticket).cloned()
        };
        Self {
            copies: part.copies().cloned().collect(),
            functions: part.functions.iter().filter_map(function).collect(),
            ..Self::default()
        }
    }
}

/// What is kept of the graphs of a session.
#[derive(Default)]
pub(crate) struct Graphs {
    /// Any graph needs anything of the client.
    used: AtomicBool,
    graphs: Mutex<HashMap<u64, Held>>,
    execs: Mutex<HashMap<u64, Arc<Held>>>,
    /// The graphs that those were instantiated from, and all others, as long as these graphs live.
    origins: Mutex<HashMap<u64, u64>>,
    /// The last launches of those of them that read the client's memory or have objects of the program.
    launched: Mutex<HashMap<u64, exec::Launched>>,
    /// Parameters of nodes that were given to the program, for as long as it may read them.
    kernels: Mutex<HashMap<u64, kernel::Kept>>,
    /// Handles of the bodies of conditional nodes, which the program may read as long as they live.
    bodies: Mutex<HashMap<u64, Box<[usize]>>>,
    /// Graphs of the nodes above and of those with a graph within; of nodes that need something of the client, the graph that has it.
    owners: Mutex<HashMap<u64, u64>>,
    /// Graphs that were moved: the graph and the node that they belong to.
    moved: Mutex<HashMap<u64, (u64, u64)>>,
    /// Graphs that nodes have copies of, as far as the program has asked for these copies: the node of each.
    within: Mutex<HashMap<u64, u64>>,
    /// What goes before and after each function of the client.
    pub(crate) plans: Mutex<HashMap<u64, Arc<Plan>>>,
    /// Functions of those, by what was instantiated.
    planned: Mutex<HashMap<u64, Vec<u64>>>,
    /// Streams of copies beside functions, by context.
    streams: Mutex<HashMap<u64, u64>>,
    /// Objects of what was instantiated that wait for its last launch.
    leavers: leaving::Leavers,
}

impl Graphs {
    /// Graph `graph` needs more.
    fn change(&self, graph: u64, change: impl FnOnce(&mut Held)) {
        self.used.store(true, Ordering::Release);
        change(lock(&self.graphs).entry(graph).or_default());
    }

    /// A context is gone, and the stream and the events in it with it. The next primary context has the same handle.
    pub(crate) fn forget_context(&self, context: u64) {
        lock(&self.streams).remove(&context);
        lock(&self.launched).retain(|_, last| last.context != context);
        self.leavers.forget_context(context);
    }

    /// What graph `graph` needs itself, without graphs that were moved into it.
    fn own(&self, graph: u64) -> Held {
        lock(&self.graphs).get(&graph).cloned().unwrap_or_default()
    }

    /// The place of memory of the client that graph `graph` has, or a graph that was moved into it.
    fn place(&self, graph: u64, shape: &copies::Shape) -> Option<Arc<copies::Staging>> {
        let own = {
            let graphs = lock(&self.graphs);
            graphs
                .get(&graph)
                .and_then(|own| own.copies.place(shape, 0))
        };
        own.or_else(|| {
            let mut within = self.moved_into(|(of, _)| of == graph).into_iter();
            within.find_map(|child| self.place(child, shape))
        })
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

    /// Bodies of the conditional nodes of a graph.
    fn bodies_of(&self, graph: u64) -> Vec<u64> {
        let owners = lock(&self.owners);
        let bodies = lock(&self.bodies);
        let own = bodies
            .iter()
            .filter(|(node, _)| owners.get(*node) == Some(&graph));
        own.flat_map(|(_, handles)| handles.iter().map(|handle| *handle as u64))
            .collect()
    }

    fn exec(&self, exec: u64) -> Option<Arc<Held>> {
        match self.used.load(Ordering::Acquire) {
            true => lock(&self.execs).get(&exec).cloned(),
            false => None,
        }
    }

    fn set_exec(&self, exec: u64, held: Held) {
        self.used.store(true, Ordering::Release);
        held.claim(exec);
        let before = lock(&self.execs).insert(exec, Arc::new(held));
        drop(before);
    }

    /// Node `node` of a graph calls another function than `ticket`, and this one still where the graph was instantiated before.
    fn still_calls(&self, node: u64, ticket: u64) {
        for own in lock(&self.execs).values_mut() {
            let calls = own.functions.iter().any(|own| own.ticket() == ticket);
            if calls && !own.changed.contains_key(&node) {
                Arc::make_mut(own).changed.insert(node, ticket);
            }
        }
    }

    /// Captured node `node` of a graph copies something else than `copy`, and this still where the graph was instantiated before.
    fn still_copies(&self, node: u64, copy: &Pitched) {
        for own in lock(&self.execs).values_mut() {
            let copies = own.copies.iter().any(|own| own.node == 0 && own.is(copy));
            if copies && !own.copied.contains_key(&node) {
                Arc::make_mut(own).copied.insert(node, *copy);
            }
        }
    }

    fn forget_node(&self, node: u64) {
        lock(&self.kernels).remove(&node);
        let bodies = lock(&self.bodies).remove(&node);
        lock(&self.owners).remove(&node);
        for body in bodies.unwrap_or_default().iter() {
            self.forget_graph(*body as u64);
        }
        for child in self.moved_into(|(_, of)| of == node) {
            self.forget_graph(child);
        }
        let copies: Vec<u64> = {
            let within = lock(&self.within);
            let own = within.iter().filter(|(_, of)| **of == node);
            own.map(|(graph, _)| *graph).collect()
        };
        for copy in copies {
            self.forget_graph(copy);
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
        lock(&self.within).remove(&graph);
        lock(&self.origins).retain(|_, of| *of != graph);
        // Out of the lock: functions of the program end its objects.
        let gone = lock(&self.graphs).remove(&graph);
        drop(gone);
    }
}

fn number<T>(handle: *mut T) -> u64 {
    handle.addr() as u64
}

/// A capture has become a graph.
pub(crate) fn captured(session: &'static Session, graph: u64, held: Held) {
    if !held.is_empty() {
        let holder = within::holder(session, graph);
        session.state.graphs.change(holder, |own| own.extend(&held));
    }
}

pub(crate) unsafe fn cuGraphClone(phGraphClone: *mut CUgraph, originalGraph: CUgraph) -> Answer {
    let session = session::cuda()?;
    let graphs = &session.state.graphs;
    // SAFETY: a pointer of the program, passed on.
    check(unsafe { remote::cuGraphClone(phGraphClone, originalGraph) })?;
    let held = within::need(session, number(originalGraph))?;
    if !held.is_empty() {
        // SAFETY: written by the call.
        let clone = number(unsafe { phGraphClone.read() });
        graphs.change(clone, |own| own.extend(&held));
    }
    Ok(())
}

pub(crate) unsafe fn cuGraphDestroy(hGraph: CUgraph) -> Answer {
    let session = session::cuda()?;
    let graphs = &session.state.graphs;
    // Only the server knows which nodes of captured graphs they are.
    let given = !lock(&graphs.kernels).is_empty() || !lock(&graphs.within).is_empty();
    let nodes = match given {
        true => holding_back(session, || query::nodes(hGraph))?,
        false => Vec::new(),
    };
    // SAFETY: a handle.
    let earlier = ending(session, || unsafe { remote::cuGraphDestroy(hGraph) })?;
    graphs.forget_graph(number(hGraph));
    nodes.iter().for_each(|node| graphs.forget_node(*node));
    memory::free_spare(session, false);
    earlier
}

pub(crate) unsafe fn cuGraphDestroyNode(hNode: CUgraphNode) -> Answer {
    let session = session::cuda()?;
    let node = number(hNode);
    let need = change::need_of(session, node);
    // SAFETY: a handle.
    let earlier = ending(session, || unsafe { remote::cuGraphDestroyNode(hNode) })?;
    if let Some(need) = need {
        change::forget_need(session, node, need);
    }
    session.state.graphs.forget_node(node);
    memory::free_spare(session, false);
    earlier
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_of_conditional_nodes_go_with_their_graph() {
        let graphs = Graphs::default();
        // Graph 1 has node 5 with bodies 2 and 3; body 3 has node 6 with body 4.
        for (graph, node, bodies) in [(1, 5, vec![2usize, 3]), (3, 6, vec![4])] {
            lock(&graphs.owners).insert(node, graph);
            lock(&graphs.bodies).insert(node, bodies.into());
        }
        for graph in 1..=4 {
            graphs.change(graph, |own| own.functions.push(Kept::numbered(graph)));
        }
        assert_eq!(graphs.bodies_of(1), [2, 3]);
        assert_eq!(graphs.bodies_of(3), [4]);
        assert!(graphs.bodies_of(2).is_empty());
        graphs.forget_graph(1);
        assert!(lock(&graphs.graphs).is_empty());
        assert!(lock(&graphs.bodies).is_empty());
        assert!(lock(&graphs.owners).is_empty());
    }

    #[test]
    fn a_copy_within_a_node_goes_with_it() {
        let graphs = Graphs::default();
        lock(&graphs.owners).insert(5, 1);
        lock(&graphs.within).extend([(2, 5), (3, 6)]);
        graphs.forget_graph(1);
        assert_eq!(*lock(&graphs.within), HashMap::from([(3, 6)]));
    }

    #[test]
    fn what_was_instantiated_has_no_graph_when_that_is_gone() {
        let graphs = Graphs::default();
        lock(&graphs.origins).extend([(10, 1), (11, 2)]);
        graphs.forget_graph(1);
        assert_eq!(*lock(&graphs.origins), HashMap::from([(11, 2)]));
    }

    #[test]
    fn streams_go_with_their_context() {
        let graphs = Graphs::default();
        lock(&graphs.streams).extend([(1, 10), (2, 20)]);
        graphs.forget_context(1);
        assert_eq!(*lock(&graphs.streams), HashMap::from([(2, 20)]));
    }

    #[test]
    fn what_a_moved_graph_needs_is_not_kept_twice() {
        let graphs = Graphs::default();
        graphs.change(2, |own| own.functions.push(Kept::numbered(7)));
        lock(&graphs.moved).insert(2, (1, 5));
        assert_eq!(tickets(&graphs.held(1)), [7]);
        let mut own = graphs.own(1);
        graphs.change(1, |held| std::mem::swap(held, &mut own));
        assert_eq!(tickets(&graphs.held(1)), [7]);
    }

    fn tickets(held: &Held) -> Vec<u64> {
        held.functions.iter().map(|own| own.ticket()).collect()
    }

    #[test]
    fn what_was_instantiated_calls_what_its_graph_called_then() {
        let graphs = Graphs::default();
        for (exec, ticket) in [(1, 7), (2, 8)] {
            let mut held = Held::default();
            held.functions.push(Kept::numbered(ticket));
            graphs.set_exec(exec, held);
        }
        let changed = |exec| graphs.exec(exec).map(|own| own.changed.clone());
        // Node 5 calls 8 instead of 7, then 9.
        graphs.still_calls(5, 7);
        assert_eq!(changed(1), Some(HashMap::from([(5, 7)])));
        assert_eq!(changed(2), Some(HashMap::new()));
        graphs.still_calls(5, 8);
        assert_eq!(changed(1), Some(HashMap::from([(5, 7)])));
        assert_eq!(changed(2), Some(HashMap::from([(5, 8)])));
    }

    #[test]
    fn what_was_instantiated_copies_what_its_captured_graph_copied_then() {
        use gtrace_cuda::payload::SideKind;
        let graphs = Graphs::default();
        let copy = |host| copies::linear((SideKind::Device, 0x1000), (SideKind::Client, host), 8);
        // Of a captured node, and of one whose node is known.
        for (exec, node) in [(1, 0), (2, 5)] {
            let mut held = Held::default();
            held.copies.push(HostCopy::unstaged(node, copy(0x2000)));
            graphs.set_exec(exec, held);
        }
        graphs.still_copies(5, &copy(0x3000));
        graphs.still_copies(5, &copy(0x2000));
        let copied = |exec| graphs.exec(exec).map(|own| own.copied.clone());
        assert_eq!(copied(1), Some(HashMap::from([(5, copy(0x2000))])));
        assert_eq!(copied(2), Some(HashMap::new()));
    }

    #[test]
    fn what_a_graph_within_a_node_needs_goes_with_the_node() {
        use gtrace_cuda::payload::SideKind;
        let copy = |host| copies::linear((SideKind::Device, 0x1000), (SideKind::Client, host), 8);
        let of_child = HostCopy::writing(0, copy(0x2000));
        let mut held = Held {
            copies: places::Copies::from_iter([
                HostCopy::writing(4, copy(0x2000)),
                of_child.clone(),
                HostCopy::unstaged(0, copy(0x3000)),
            ]),
            functions: [7, 8, 7].map(Kept::numbered).into(),
            ..Held::default()
        };
        let part = plan::Part {
            functions: vec![7, 9],
            writes: vec![of_child],
            ..plan::Part::default()
        };
        held.forget_part(&part);
        let nodes: Vec<u64> = held.copies.iter().map(|own| own.node).collect();
        assert_eq!(nodes, [4, 0]);
        let mut left = tickets(&held);
        left.sort_unstable();
        assert_eq!(left, [7, 8]);
        held.replace_function(8, Kept::numbered(10));
        held.replace_function(11, Kept::numbered(12));
        let mut left = tickets(&held);
        left.sort_unstable();
        assert_eq!(left, [7, 10, 12]);
    }
}
