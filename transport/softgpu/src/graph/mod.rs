//! Graphs: nodes with what each does, and the edges that order them.

pub(crate) mod capture;
pub(crate) mod conditional;
pub(crate) mod dot;
pub(crate) mod exec;
pub(crate) mod memory;
pub(crate) mod update;
pub(crate) mod user;
pub(crate) mod work;

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use crate::abi::Answer;
use crate::error::{INVALID_VALUE, NOT_SUPPORTED, fail_if};
use crate::registry::{Registry, mint};
use crate::sync::lock;
use crate::types::EdgeData;
use user::Held;
use work::Work;

const GRAPH: u8 = 11;
const NODE: u8 = 13;

static GRAPHS: Registry<Graph> = Registry::new();
static NODES: Registry<Node> = Registry::new();

/// One node of a graph.
pub(crate) struct Node {
    pub(crate) handle: u64,
    /// Handle of the graph that it belongs to.
    pub(crate) graph: u64,
    /// In a clone: the node that it was made from.
    original: Option<u64>,
    work: Mutex<Work>,
}

/// One node runs after another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) data: EdgeData,
}

#[derive(Default)]
struct Parts {
    /// In the order in which they were added.
    nodes: Vec<Arc<Node>>,
    edges: Vec<Edge>,
}

/// One graph.
pub(crate) struct Graph {
    pub(crate) handle: u64,
    pub(crate) id: u32,
    /// Belongs to a node and ends with it: a child graph, or the body of a conditional node.
    inner: bool,
    /// Was a graph of the program's, and was moved into a node: belongs to it as well.
    moved: AtomicBool,
    parts: Mutex<Parts>,
    pub(crate) held: Held,
}

fn next_id() -> u32 {
    static IDS: AtomicU32 = AtomicU32::new(1);
    IDS.fetch_add(1, Ordering::Relaxed)
}

/// Whether an edge is one that orders nodes as the others do. Edges for programmatic launches start
/// the second node earlier on real devices, which need not be.
fn is_known(data: EdgeData) -> bool {
    data.kind <= 1 && data.from_port <= 2 && data.to_port == 0 && data.reserved == [0; 5]
}

impl Node {
    /// The live node of a handle.
    pub(crate) fn of(handle: u64) -> Answer<Arc<Self>> {
        NODES.find(handle)
    }

    /// What it does.
    pub(crate) fn work(&self) -> Work {
        lock(&self.work).clone()
    }

    /// Has it do something else of the same kind.
    pub(crate) fn set_work(&self, work: Work) -> Answer {
        let mut own = lock(&self.work);
        let fits = own.kind() == work.kind();
        let gone = if fits {
            std::mem::replace(&mut *own, work)
        } else {
            work
        };
        drop(own);
        // A graph within a node ends with what the node does.
        gone.inner().iter().for_each(|graph| graph.destroy());
        fail_if(!fits, INVALID_VALUE)
    }

    /// Takes it out of its graph, with its edges.
    pub(crate) fn destroy(&self) -> Answer {
        let graph = Graph::of(self.graph)?;
        // Memory of a graph is laid out by these nodes.
        fail_if(
            matches!(*lock(&self.work), Work::MemAlloc(_) | Work::MemFree(_)),
            NOT_SUPPORTED,
        )?;
        let mut parts = lock(&graph.parts);
        parts.nodes.retain(|node| node.handle != self.handle);
        let touches = |edge: &Edge| edge.from == self.handle || edge.to == self.handle;
        parts.edges.retain(|edge| !touches(edge));
        drop(parts);
        self.end();
        Ok(())
    }

    fn end(&self) {
        NODES.remove(self.handle);
        for graph in self.work().inner() {
            graph.destroy();
        }
    }
}

impl Graph {
    /// Makes an empty graph.
    pub(crate) fn create(inner: bool) -> Arc<Self> {
        let graph = Arc::new(Self {
            handle: mint(GRAPH),
            id: next_id(),
            inner,
            moved: AtomicBool::new(false),
            parts: Mutex::default(),
            held: Held::default(),
        });
        GRAPHS.insert(graph.handle, Arc::clone(&graph));
        graph
    }

    /// The live graph of a handle.
    pub(crate) fn of(handle: u64) -> Answer<Arc<Self>> {
        GRAPHS.find(handle)
    }

    /// Whether it belongs to a node.
    pub(crate) fn is_inner(&self) -> bool {
        self.inner || self.is_moved()
    }

    /// Whether it was moved into a node.
    pub(crate) fn is_moved(&self) -> bool {
        self.moved.load(Ordering::Relaxed)
    }

    /// Whether `handle` is this graph's or one's within it.
    fn contains(&self, handle: u64) -> bool {
        let within = |node: &Arc<Node>| node.work().inner().iter().any(|one| one.contains(handle));
        self.handle == handle || self.nodes().iter().any(within)
    }

    /// Becomes a part of `parent`: from now on it ends with a node of that.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if it belongs to a node, or `parent` is within it;
    /// `CUDA_ERROR_NOT_SUPPORTED` if there are conditional nodes.
    pub(crate) fn move_into(&self, parent: &Self) -> Answer {
        fail_if(self.inner || self.contains(parent.handle), INVALID_VALUE)?;
        let conditional = |node: &Arc<Node>| matches!(node.work(), Work::Conditional(_));
        fail_if(self.nodes().iter().any(conditional), NOT_SUPPORTED)?;
        fail_if(self.moved.swap(true, Ordering::Relaxed), INVALID_VALUE)?;
        self.held.share(&parent.held);
        Ok(())
    }

    /// Ends the graph and its nodes. What was instantiated from it stays.
    pub(crate) fn destroy(&self) {
        GRAPHS.remove(self.handle);
        let parts = std::mem::take(&mut *lock(&self.parts));
        for node in &parts.nodes {
            node.end();
        }
        self.held.release_all();
    }

    /// Whether a node may run after these.
    ///
    /// # Errors
    /// As [`Graph::add`].
    pub(crate) fn check(&self, after: &[(u64, EdgeData)]) -> Answer {
        lock(&self.parts).check(after)
    }

    /// Adds a node that runs after others.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if one of them is not of this graph, or named twice.
    pub(crate) fn add(&self, after: &[(u64, EdgeData)], work: Work) -> Answer<Arc<Node>> {
        let mut parts = lock(&self.parts);
        parts.check(after)?;
        let node = self.make(&mut parts, None, work);
        parts.edges.extend(after.iter().map(|(from, data)| Edge {
            from: *from,
            to: node.handle,
            data: *data,
        }));
        Ok(node)
    }

    fn make(&self, parts: &mut Parts, original: Option<u64>, work: Work) -> Arc<Node> {
        let node = Arc::new(Node {
            handle: mint(NODE),
            graph: self.handle,
            original,
            work: Mutex::new(work),
        });
        NODES.insert(node.handle, Arc::clone(&node));
        parts.nodes.push(Arc::clone(&node));
        node
    }

    /// Adds edges. A cycle is found when the graph is instantiated.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for nodes of other graphs, a node after itself, and an edge that
    /// is there.
    pub(crate) fn add_edges(&self, edges: &[Edge]) -> Answer {
        let mut parts = lock(&self.parts);
        for (at, edge) in edges.iter().enumerate() {
            let ends = [edge.from, edge.to];
            let known = ends.iter().all(|end| parts.has(*end)) && edge.from != edge.to;
            let same = |other: &Edge| (other.from, other.to) == (edge.from, edge.to);
            let twice = parts.edges.iter().chain(&edges[..at]).any(same);
            fail_if(!known || twice || !is_known(edge.data), INVALID_VALUE)?;
        }
        parts.edges.extend_from_slice(edges);
        Ok(())
    }

    /// Takes edges away.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if one is not there.
    pub(crate) fn remove_edges(&self, edges: &[Edge]) -> Answer {
        let mut parts = lock(&self.parts);
        let same = |one: &Edge, other: &Edge| {
            (one.from, one.to, one.data) == (other.from, other.to, other.data)
        };
        let there = |edge: &Edge| parts.edges.iter().any(|other| same(edge, other));
        fail_if(!edges.iter().all(there), INVALID_VALUE)?;
        parts
            .edges
            .retain(|edge| !edges.iter().any(|gone| same(edge, gone)));
        Ok(())
    }

    /// All edges.
    pub(crate) fn edges(&self) -> Vec<Edge> {
        lock(&self.parts).edges.clone()
    }

    /// All nodes, in the order in which they were added.
    pub(crate) fn nodes(&self) -> Vec<Arc<Node>> {
        lock(&self.parts).nodes.clone()
    }

    /// Nodes that wait for no other.
    pub(crate) fn roots(&self) -> Vec<Arc<Node>> {
        let parts = lock(&self.parts);
        let follows = |node: &Node| parts.edges.iter().any(|edge| edge.to == node.handle);
        let roots = parts.nodes.iter().filter(|node| !follows(node));
        roots.cloned().collect()
    }

    /// Handles of nodes that no other waits for.
    pub(crate) fn leaves(&self) -> Vec<u64> {
        let parts = lock(&self.parts);
        let is_waited_for = |node: &Node| parts.edges.iter().any(|edge| edge.from == node.handle);
        let leaves = parts.nodes.iter().filter(|node| !is_waited_for(node));
        leaves.map(|node| node.handle).collect()
    }

    /// Nodes in an order in which they may run, each with the places in this order of those that it
    /// waits for; among nodes that may run, the one that was added first.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if nodes wait for each other.
    pub(crate) fn order(&self) -> Answer<Vec<(Arc<Node>, Vec<usize>)>> {
        let parts = lock(&self.parts);
        let place: HashMap<u64, usize> = parts
            .nodes
            .iter()
            .enumerate()
            .map(|(at, node)| (node.handle, at))
            .collect();
        let mut waits = vec![0usize; parts.nodes.len()];
        let mut after = vec![Vec::new(); parts.nodes.len()];
        let mut before = vec![Vec::new(); parts.nodes.len()];
        for edge in &parts.edges {
            let (Some(from), Some(to)) = (place.get(&edge.from), place.get(&edge.to)) else {
                continue;
            };
            waits[*to] += 1;
            after[*from].push(*to);
            before[*to].push(*from);
        }
        let mut ready: VecDeque<usize> = (0..waits.len()).filter(|at| waits[*at] == 0).collect();
        let mut turn = vec![0; waits.len()];
        let mut order = Vec::with_capacity(waits.len());
        while let Some(at) = ready.pop_front() {
            turn[at] = order.len();
            let mut needs: Vec<usize> = before[at].iter().map(|at| turn[*at]).collect();
            needs.sort_unstable();
            order.push((Arc::clone(&parts.nodes[at]), needs));
            for next in &after[at] {
                waits[*next] -= 1;
                if waits[*next] == 0 {
                    ready.push_back(*next);
                }
            }
        }
        if order.len() == waits.len() {
            Ok(order)
        } else {
            Err(INVALID_VALUE)
        }
    }

    /// A copy with nodes of its own.
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_SUPPORTED` if there are nodes of memory or conditional ones, as documented
    /// of cuGraphClone.
    pub(crate) fn duplicate(&self, inner: bool) -> Answer<Arc<Self>> {
        let parts = lock(&self.parts);
        let copy = Self::create(inner);
        let mut own = lock(&copy.parts);
        let mut new = HashMap::new();
        for node in &parts.nodes {
            let work = match node.work().duplicate() {
                Ok(work) => work,
                Err(error) => {
                    drop(own);
                    copy.destroy();
                    return Err(error);
                }
            };
            let made = copy.make(&mut own, Some(node.handle), work);
            new.insert(node.handle, made.handle);
        }
        own.edges = parts
            .edges
            .iter()
            .filter_map(|edge| {
                Some(Edge {
                    from: *new.get(&edge.from)?,
                    to: *new.get(&edge.to)?,
                    data: edge.data,
                })
            })
            .collect();
        drop(own);
        self.held.share(&copy.held);
        Ok(copy)
    }

    /// In a clone: what was made from `original`.
    pub(crate) fn clone_of(&self, original: u64) -> Answer<u64> {
        let parts = lock(&self.parts);
        let found = parts
            .nodes
            .iter()
            .find(|node| node.original == Some(original));
        found.map(|node| node.handle).ok_or(INVALID_VALUE)
    }
}

impl Parts {
    fn has(&self, node: u64) -> bool {
        self.nodes.iter().any(|own| own.handle == node)
    }

    fn check(&self, after: &[(u64, EdgeData)]) -> Answer {
        for (at, (node, data)) in after.iter().enumerate() {
            let twice = after[..at].iter().any(|(other, _)| other == node);
            fail_if(!self.has(*node) || twice || !is_known(*data), INVALID_VALUE)?;
        }
        Ok(())
    }
}
