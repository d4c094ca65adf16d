//! What goes before and after each function of the client that a graph calls: memory that the graph
//! has written before it, and memory that the graph reads behind it.

// Asks about nodes with places to write to.
#![allow(unsafe_code)]

use std::collections::{HashMap, HashSet};
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::{Arc, OnceLock};

use gtrace_cuda::types::driver::{self as cuda, CUgraph, CUgraphNode, CUresult, CUstream};

use super::{Graphs, Held, HostCopy, change, copies, number};
use crate::context::{self, Current};
use crate::entry::check;
use crate::generated::driver::remote;
use crate::session::Session;
use crate::state::lock;

/// See the module.
pub(crate) struct Plan {
    before: Vec<HostCopy>,
    after: Vec<HostCopy>,
    context: Current,
}

impl Plan {
    /// Takes in what the graph has written.
    pub(crate) fn begin(&self, session: &'static Session) -> Result<(), CUresult> {
        if self.before.is_empty() {
            return Ok(());
        }
        context::within(self.context, || {
            let stream = self.stream()?;
            copies::receive(session, self.before.iter(), stream)
        })
    }

    /// Sends what the graph is to read.
    pub(crate) fn end(&self, session: &'static Session) -> Result<(), CUresult> {
        if self.after.is_empty() {
            return Ok(());
        }
        context::within(self.context, || {
            let stream = self.stream()?;
            copies::send(session, self.after.iter(), stream)?;
            // SAFETY: a handle.
            check(unsafe { remote::cuStreamSynchronize(without_provenance_mut(stream as usize)) })
        })
    }

    /// Whether the function is followed by this copy, which then takes what the function left.
    pub(super) fn sends(&self, copy: &HostCopy) -> bool {
        self.after.iter().any(|own| own.is_same(copy))
    }

    /// Whether the function is preceded by this copy.
    pub(super) fn receives(&self, copy: &HostCopy) -> bool {
        self.before.iter().any(|own| own.is_same(copy))
    }

    /// A stream of this thread that waits for no other: that of the graph waits for the function.
    fn stream(&self) -> Result<u64, CUresult> {
        thread_local! {
            static STREAMS: std::cell::RefCell<HashMap<u64, u64>> = std::cell::RefCell::default();
        }
        if let Some(stream) = STREAMS.with_borrow(|all| all.get(&self.context.handle).copied()) {
            return Ok(stream);
        }
        let mut stream: CUstream = null_mut();
        // SAFETY: a local variable.
        check(unsafe { remote::cuStreamCreate(&raw mut stream, cuda::CU_STREAM_NON_BLOCKING) })?;
        STREAMS.with_borrow_mut(|all| all.insert(self.context.handle, number(stream)));
        Ok(number(stream))
    }
}

/// The plans of functions.
pub(super) fn of(session: &Session, functions: &[u64]) -> Vec<Arc<Plan>> {
    let plans = lock(&session.state.graphs.plans);
    let own = functions.iter().filter_map(|ticket| plans.get(ticket));
    own.cloned().collect()
}

/// A node copies something else where its graph was instantiated, and so do the plans of the functions
/// beside it: also those of what else was instantiated from the graph.
pub(super) fn replace(session: &Session, functions: &[u64], old: &HostCopy, new: &HostCopy) {
    let mut gone = Vec::new();
    {
        let mut plans = lock(&session.state.graphs.plans);
        for ticket in functions {
            let Some(own) = plans.get_mut(ticket) else {
                continue;
            };
            let change = |copies: &[HostCopy], takes: fn(&HostCopy) -> bool| -> Vec<HostCopy> {
                let had = copies.iter().any(|copy| copy.is_same(old));
                let rest = copies.iter().filter(|copy| !copy.is_same(old));
                let added = Some(new).filter(|new| had && takes(new));
                rest.chain(added).cloned().collect()
            };
            let plan = Plan {
                before: change(&own.before, HostCopy::writes),
                after: change(&own.after, HostCopy::reads),
                context: own.context,
            };
            gone.push(std::mem::replace(own, Arc::new(plan)));
        }
    }
    for plan in gone {
        session.state.graphs.retire(Some(plan));
    }
    forget_unused(session);
}

/// A node as far as it matters here.
#[derive(Default)]
struct Part {
    functions: Vec<u64>,
    reads: Vec<HostCopy>,
    writes: Vec<HostCopy>,
}

/// Function `new` stands where `old` stood, between the same copies: in `of`, which was instantiated, or is its node.
pub(super) fn take_over(session: &Session, of: u64, old: u64, new: u64) {
    let graphs = &session.state.graphs;
    let mut plans = lock(&graphs.plans);
    if let Some(plan) = plans.get(&old).cloned() {
        plans.insert(new, plan);
        lock(&graphs.planned).entry(of).or_default().push(new);
    }
}

/// Forgets the plans of functions of what can no longer be launched, unless some function is still to run: it may be one of
/// a launch under way.
pub(super) fn forget_unused(session: &Session) {
    if !session.state.host_functions.are_outstanding() {
        // Out of the lock: their memory is freed by calls.
        drop(take_unused(&session.state.graphs));
    }
}

fn take_unused(graphs: &Graphs) -> Vec<Arc<Plan>> {
    let mut gone = std::mem::take(&mut *lock(&graphs.retired));
    let mut plans = lock(&graphs.plans);
    if plans.is_empty() {
        return gone;
    }
    let used: HashSet<u64> = lock(&graphs.planned).values().flatten().copied().collect();
    let unused = plans.extract_if(|ticket, _| !used.contains(ticket));
    gone.extend(unused.map(|(_, plan)| plan));
    gone
}

/// Makes the plans of the functions of a graph, from which `exec` was instantiated.
pub(super) fn make(
    session: &'static Session,
    graph: u64,
    held: &Held,
    exec: u64,
) -> Result<(), CUresult> {
    let mut plans: HashMap<u64, Plan> = HashMap::new();
    visit(session, graph, held, &mut plans)?;
    let graphs = &session.state.graphs;
    let mut own = lock(&graphs.plans);
    lock(&graphs.planned).insert(exec, plans.keys().copied().collect());
    for (ticket, plan) in plans {
        graphs.retire(own.insert(ticket, Arc::new(plan)));
    }
    Ok(())
}

fn visit(
    session: &'static Session,
    graph: u64,
    held: &Held,
    plans: &mut HashMap<u64, Plan>,
) -> Result<Part, CUresult> {
    let handle: CUgraph = without_provenance_mut(graph as usize);
    let nodes = nodes(handle)?;
    let mut parts: HashMap<u64, Part> = HashMap::new();
    for node in &nodes {
        parts.insert(*node, part(session, *node, held, plans)?);
    }
    let edges = edges(handle)?;
    for node in &nodes {
        let functions = parts[node].functions.clone();
        if functions.is_empty() {
            continue;
        }
        let before = reach(*node, |at| {
            edges
                .iter()
                .filter(move |e| e.1 == at)
                .map(|e| e.0)
                .collect()
        });
        let after = reach(*node, |at| {
            edges
                .iter()
                .filter(move |e| e.0 == at)
                .map(|e| e.1)
                .collect()
        });
        for ticket in functions {
            let plan = plans.entry(ticket).or_insert_with(|| Plan {
                before: Vec::new(),
                after: Vec::new(),
                context: context::top(),
            });
            for other in &before {
                plan.before.extend(parts[other].writes.iter().cloned());
            }
            for other in &after {
                plan.after.extend(parts[other].reads.iter().cloned());
            }
        }
    }
    let mut whole = Part::default();
    for part in parts.into_values() {
        whole.functions.extend(part.functions);
        whole.reads.extend(part.reads);
        whole.writes.extend(part.writes);
    }
    Ok(whole)
}

fn part(
    session: &'static Session,
    node: u64,
    held: &Held,
    plans: &mut HashMap<u64, Plan>,
) -> Result<Part, CUresult> {
    let handle: CUgraphNode = without_provenance_mut(node as usize);
    let mut kind = 0;
    // SAFETY: a local variable.
    check(unsafe { remote::cuGraphNodeGetType(handle, &raw mut kind) })?;
    let mut part = Part::default();
    match kind {
        cuda::CU_GRAPH_NODE_TYPE_HOST => part.functions.push(change::ticket_of(session, node)?),
        cuda::CU_GRAPH_NODE_TYPE_MEMCPY => {
            let copy = change::copy_of(session, node)?;
            let own = held.copies.iter().find(|own| own.is(&copy));
            part.reads.extend(own.filter(|own| own.reads()).cloned());
            part.writes.extend(own.filter(|own| own.writes()).cloned());
        }
        cuda::CU_GRAPH_NODE_TYPE_GRAPH => {
            let mut graph: CUgraph = null_mut();
            // SAFETY: a local variable.
            check(unsafe { remote::cuGraphChildGraphNodeGetGraph(handle, &raw mut graph) })?;
            part = visit(session, number(graph), held, plans)?;
        }
        _ => {}
    }
    Ok(part)
}

pub(super) fn nodes(graph: CUgraph) -> Result<Vec<u64>, CUresult> {
    let mut count = 0;
    // SAFETY: null, and a local variable.
    check(unsafe { remote::cuGraphGetNodes(graph, null_mut(), &raw mut count) })?;
    let mut nodes: Vec<CUgraphNode> = vec![null_mut(); count];
    // SAFETY: room for as many, and a local variable.
    check(unsafe { remote::cuGraphGetNodes(graph, nodes.as_mut_ptr(), &raw mut count) })?;
    Ok(nodes.into_iter().take(count).map(number).collect())
}

pub(super) fn edges(graph: CUgraph) -> Result<Vec<(u64, u64)>, CUresult> {
    // Drivers before CUDA 12.3 have only the older function, and the newer ones want to be asked for
    // what edges say if they say something.
    static NEWER: OnceLock<bool> = OnceLock::new();
    let ask = |from: *mut CUgraphNode, to: *mut CUgraphNode, edges: *mut _, count: *mut usize| {
        // SAFETY: null or room for as many as `count` says.
        let newer = || unsafe { remote::cuGraphGetEdges_v2(graph, from, to, edges, count) };
        if *NEWER.get_or_init(|| newer() != cuda::CUDA_ERROR_NOT_SUPPORTED) {
            return check(newer());
        }
        // SAFETY: as above.
        check(unsafe { remote::cuGraphGetEdges(graph, from, to, count) })
    };
    let mut count = 0;
    ask(null_mut(), null_mut(), null_mut(), &raw mut count)?;
    if count == 0 {
        return Ok(Vec::new());
    }
    let (mut from, mut to) = (vec![null_mut(); count], vec![null_mut(); count]);
    let plain = cuda::CUgraphEdgeData {
        from_port: 0,
        to_port: 0,
        type_: 0,
        reserved: [0; 5],
    };
    let mut data = vec![plain; count];
    ask(
        from.as_mut_ptr(),
        to.as_mut_ptr(),
        data.as_mut_ptr(),
        &raw mut count,
    )?;
    Ok(from
        .into_iter()
        .zip(to)
        .take(count)
        .map(|(from, to)| (number(from), number(to)))
        .collect())
}

/// All that is reached by `next` from `start`, without it.
fn reach(start: u64, next: impl Fn(u64) -> Vec<u64>) -> HashSet<u64> {
    let mut seen = HashSet::new();
    let mut open = vec![start];
    while let Some(at) = open.pop() {
        for other in next(at) {
            if other != start && seen.insert(other) {
                open.push(other);
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Arc<Plan> {
        Arc::new(Plan {
            before: Vec::new(),
            after: Vec::new(),
            context: context::top(),
        })
    }

    #[test]
    fn a_plan_that_was_replaced_stays_until_unused_ones_are_taken() {
        let graphs = Graphs::default();
        let old = plan();
        lock(&graphs.planned).insert(10, vec![1]);
        lock(&graphs.plans).insert(1, Arc::clone(&old));
        graphs.retire(lock(&graphs.plans).insert(1, plan()));
        // The function that has it is not the last that does.
        assert_eq!(Arc::strong_count(&old), 2);
        assert_eq!(take_unused(&graphs).len(), 1);
        assert_eq!(Arc::strong_count(&old), 1);
        assert_eq!(lock(&graphs.plans).len(), 1);
    }

    #[test]
    fn plans_go_with_the_last_that_can_be_launched() {
        let graphs = Graphs::default();
        for ticket in 1..=3 {
            lock(&graphs.plans).insert(ticket, plan());
        }
        lock(&graphs.planned).insert(10, vec![1, 2]);
        lock(&graphs.planned).insert(11, vec![2]);
        assert_eq!(take_unused(&graphs).len(), 1);
        lock(&graphs.planned).remove(&10);
        assert_eq!(take_unused(&graphs).len(), 1);
        assert!(lock(&graphs.plans).contains_key(&2));
        lock(&graphs.planned).remove(&11);
        assert_eq!(take_unused(&graphs).len(), 1);
        assert!(lock(&graphs.plans).is_empty());
    }
}
