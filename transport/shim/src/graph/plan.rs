//! What goes before and after each function of the client that a graph calls: memory that the graph
//! has written before it, and memory that the graph reads behind it.

// Asks about nodes with places to write to.
#![allow(unsafe_code)]

use std::collections::{HashMap, HashSet};
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::Arc;

use gtrace_cuda::types::driver::{self as cuda, CUgraph, CUstream};

use super::copies::Ends;
use super::order::{self, Mark};
use super::pairs::Names;
use super::{Graphs, Held, HostCopy, Kept, copies, number, query};
use crate::context::{self, Current};
use crate::entry::{Answer, check};
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
    pub(crate) fn begin(&self, session: &'static Session) -> Answer {
        if self.before.is_empty() {
            return Ok(());
        }
        context::within(self.context, || {
            let stream = self.stream(session)?;
            copies::receive(session, self.before.iter(), stream)
        })
    }

    /// Sends what the graph is to read.
    pub(crate) fn end(&self, session: &'static Session) -> Answer {
        if self.after.is_empty() {
            return Ok(());
        }
        context::within(self.context, || {
            let stream = self.stream(session)?;
            copies::send(session, self.after.iter(), stream)?;
            // SAFETY: a handle.
            check(unsafe { remote::cuStreamSynchronize(without_provenance_mut(stream as usize)) })
        })
    }

    /// The same where `node` copies `new`, or nothing of the client's.
    fn with(&self, node: u64, new: Option<&HostCopy>) -> Self {
        let change = |copies: &[HostCopy], takes: fn(&HostCopy) -> bool| -> Vec<HostCopy> {
            let had = copies.iter().any(|copy| copy.node == node);
            let rest = copies.iter().filter(|copy| copy.node != node);
            let added = new.filter(|new| had && takes(new));
            rest.chain(added).cloned().collect()
        };
        Self {
            before: change(&self.before, HostCopy::writes),
            after: change(&self.after, HostCopy::reads),
            context: self.context,
        }
    }

    /// A stream for copies that waits for no other: that of the graph waits for the function.
    fn stream(&self, session: &Session) -> Answer<u64> {
        let streams = &session.state.graphs.streams;
        let made = lock(streams).get(&self.context.handle).copied();
        if let Some(stream) = made {
            return Ok(stream);
        }
        let mut stream: CUstream = null_mut();
        // SAFETY: a local variable.
        check(unsafe { remote::cuStreamCreate(&raw mut stream, cuda::CU_STREAM_NON_BLOCKING) })?;
        lock(streams).insert(self.context.handle, number(stream));
        Ok(number(stream))
    }
}

/// The plans of the functions of what was instantiated.
pub(super) fn of(session: &Session, exec: u64) -> Vec<Arc<Plan>> {
    let graphs = &session.state.graphs;
    let plans = lock(&graphs.plans);
    let planned = lock(&graphs.planned);
    let own = planned.get(&exec).into_iter().flatten();
    own.filter_map(|ticket| plans.get(ticket))
        .cloned()
        .collect()
}

/// Whether copies go beside one of these functions, whatever calls it.
pub(super) fn has_any(graphs: &Graphs, functions: &[Arc<Kept>]) -> bool {
    let plans = lock(&graphs.plans);
    functions
        .iter()
        .any(|own| plans.contains_key(&own.ticket()))
}

/// Copies of which not every node follows a function: one that does takes what the function left.
pub(super) fn unsent<'a>(
    plans: &[Arc<Plan>],
    held: &'a Held,
) -> impl Iterator<Item = &'a HostCopy> {
    rest_of(held, plans.iter().flat_map(|plan| plan.after.iter()))
}

/// Copies of which not every node precedes a function.
pub(super) fn not_received<'a>(
    plans: &[Arc<Plan>],
    held: &'a Held,
) -> impl Iterator<Item = &'a HostCopy> {
    rest_of(held, plans.iter().flat_map(|plan| plan.before.iter()))
}

/// Copies that more of what is held makes than nodes of `planned` do.
fn rest_of<'a, 'b>(
    held: &'a Held,
    planned: impl Iterator<Item = &'b HostCopy>,
) -> impl Iterator<Item = &'a HostCopy> {
    let mut nodes: HashMap<Ends, HashSet<u64>> = HashMap::new();
    for copy in planned {
        nodes.entry(copy.ends()).or_default().insert(copy.node);
    }
    let mut made: HashMap<Ends, usize> = HashMap::new();
    // Each launch asks, and of most graphs nothing is planned.
    if !nodes.is_empty() {
        for copy in held.copies.iter() {
            *made.entry(copy.ends()).or_default() += 1;
        }
    }
    let is_left = move |copy: &&HostCopy| {
        nodes.is_empty() || {
            let ends = copy.ends();
            let planned = nodes.get(&ends).map_or(0, HashSet::len);
            planned < made.get(&ends).copied().unwrap_or_default()
        }
    };
    held.copies.iter().filter(is_left)
}

/// A node copies `new` where its graph was instantiated as `exec`, or nothing of the client's, and so do the plans of the functions
/// beside it.
pub(super) fn replace(session: &Session, exec: u64, node: u64, new: Option<&HostCopy>) {
    let mut plans = lock(&session.state.graphs.plans);
    let planned = lock(&session.state.graphs.planned);
    for ticket in planned.get(&exec).into_iter().flatten() {
        if let Some(own) = plans.get_mut(ticket) {
            *own = Arc::new(own.with(node, new));
        }
    }
}

/// A node as far as it matters here.
#[derive(Default)]
pub(super) struct Part {
    /// Their numbers.
    pub(super) functions: Vec<u64>,
    /// Those of them before which none of the others runs.
    pub(super) first: Vec<u64>,
    pub(super) reads: Vec<HostCopy>,
    pub(super) writes: Vec<HostCopy>,
    /// What of that none of the functions has taken in.
    pub(super) left: Vec<HostCopy>,
}

impl Part {
    fn is_empty(&self) -> bool {
        self.functions.is_empty() && self.reads.is_empty() && self.writes.is_empty()
    }

    /// All that it copies of the client's.
    pub(super) fn copies(&self) -> impl Iterator<Item = &HostCopy> {
        let only_write = self.writes.iter().filter(|copy| !copy.reads());
        self.reads.iter().chain(only_write)
    }
}

/// Function `new` takes the place of `old` in `exec`, between the same copies. `stays`: `old` has another place in it too.
pub(super) fn take_over(graphs: &Graphs, exec: u64, (old, stays): (u64, bool), new: u64) {
    let mut plans = lock(&graphs.plans);
    if let Some(plan) = plans.get(&old).cloned() {
        plans.insert(new, plan);
        let mut planned = lock(&graphs.planned);
        let own = planned.entry(exec).or_default();
        own.retain(|ticket| stays || *ticket != old);
        own.push(new);
    }
}

/// Forgets the plans of functions of what can no longer be launched, unless some function is still to run: it may be one of
/// a launch under way.
pub(super) fn forget_unused(session: &Session) {
    if !session.state.host_functions.are_outstanding() {
        drop_unused(&session.state.graphs);
    }
}

fn drop_unused(graphs: &Graphs) {
    let mut plans = lock(&graphs.plans);
    if !plans.is_empty() {
        let used: HashSet<u64> = lock(&graphs.planned).values().flatten().copied().collect();
        plans.retain(|ticket, _| used.contains(ticket));
    }
}

/// Makes the plans of the functions of a graph, which `exec` does, with nodes of these names.
pub(super) fn make(
    session: &'static Session,
    (graph, names): (u64, &Names),
    held: &Held,
    exec: u64,
) -> Answer {
    let mut plans: HashMap<u64, Plan> = HashMap::new();
    visit(session, graph, &held.copies.by_ends(), &mut plans)?;
    for plan in plans.values_mut() {
        let copies = plan.before.iter_mut().chain(&mut plan.after);
        copies.for_each(|copy| copy.rename(names));
    }
    let graphs = &session.state.graphs;
    let mut own = lock(&graphs.plans);
    lock(&graphs.planned).insert(exec, plans.keys().copied().collect());
    for (ticket, plan) in plans {
        own.insert(ticket, Arc::new(plan));
    }
    Ok(())
}

/// What the nodes of a graph need, of the copies that it holds, and the plans of its functions.
pub(super) fn visit(
    session: &'static Session,
    graph: u64,
    held: &HashMap<Ends, &HostCopy>,
    plans: &mut HashMap<u64, Plan>,
) -> Answer<Part> {
    let handle: CUgraph = without_provenance_mut(graph as usize);
    let nodes = query::nodes(handle)?;
    let (mut parts, mut marked) = (Vec::<Part>::new(), HashMap::new());
    let mut calling: Vec<usize> = Vec::new();
    for node in &nodes {
        let part = part(session, *node, held, plans)?;
        if part.is_empty() {
            continue;
        }
        let at = parts.len();
        let call = (!part.functions.is_empty()).then_some(calling.len());
        calling.extend(call.map(|_| at));
        marked.insert(*node, Mark { at, call });
        parts.push(part);
    }
    let edges = query::edges(handle)?;
    let before = order::nearest(&nodes, edges.iter().copied(), &marked);
    let back = edges.iter().map(|(from, to)| (*to, *from));
    let behind = order::nearest(&nodes, back, &marked);
    let mut whole = Part::default();
    for (part, (before, behind)) in parts.iter().zip(before.iter().zip(&behind)) {
        for ticket in &part.functions {
            plan_of(plans, *ticket);
        }
        // A later function sends what an earlier one would: memory is then as both have left it.
        for last in before {
            for ticket in &parts[calling[*last]].functions {
                let after = &mut plan_of(plans, *ticket).after;
                after.extend(part.reads.iter().cloned());
            }
        }
        // An earlier function takes in what a later one would, and may have changed it.
        for first in behind {
            for ticket in &parts[calling[*first]].first {
                let before = &mut plan_of(plans, *ticket).before;
                before.extend(part.left.iter().cloned());
            }
        }
        if before.is_empty() {
            whole.first.extend(&part.first);
        }
        if behind.is_empty() {
            whole.left.extend(part.left.iter().cloned());
        }
        whole.functions.extend(&part.functions);
        whole.reads.extend(part.reads.iter().cloned());
        whole.writes.extend(part.writes.iter().cloned());
    }
    Ok(whole)
}

fn plan_of(plans: &mut HashMap<u64, Plan>, ticket: u64) -> &mut Plan {
    plans.entry(ticket).or_insert_with(|| Plan {
        before: Vec::new(),
        after: Vec::new(),
        context: context::top(),
    })
}

/// What a node needs, of the copies that its graph holds.
pub(super) fn part(
    session: &'static Session,
    node: u64,
    held: &HashMap<Ends, &HostCopy>,
    plans: &mut HashMap<u64, Plan>,
) -> Answer<Part> {
    let mut part = Part::default();
    match query::kind_of(node)? {
        cuda::CU_GRAPH_NODE_TYPE_HOST => {
            part.functions.push(query::ticket_of(session, node)?);
            part.first.clone_from(&part.functions);
        }
        cuda::CU_GRAPH_NODE_TYPE_MEMCPY => {
            let copy = query::copy_of(session, node)?;
            let own = held.get(&copies::ends(&copy));
            let own = own.map(|own| own.of_node(node));
            part.reads.extend(own.clone().filter(HostCopy::reads));
            part.writes.extend(own.filter(HostCopy::writes));
            part.left.clone_from(&part.writes);
        }
        cuda::CU_GRAPH_NODE_TYPE_GRAPH => {
            part = query::inside(node, |child| visit(session, child, held, plans))?;
        }
        _ => {}
    }
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::super::places::Copies;
    use super::*;

    fn plan() -> Arc<Plan> {
        Arc::new(Plan {
            before: Vec::new(),
            after: Vec::new(),
            context: context::top(),
        })
    }

    #[test]
    fn a_function_that_was_replaced_has_no_plan_unless_it_stands_elsewhere() {
        let graphs = Graphs::default();
        lock(&graphs.plans).insert(1, plan());
        lock(&graphs.planned).insert(10, vec![1]);
        take_over(&graphs, 10, (1, true), 2);
        assert_eq!(lock(&graphs.planned)[&10], [1, 2]);
        take_over(&graphs, 10, (2, false), 3);
        assert_eq!(lock(&graphs.planned)[&10], [1, 3]);
        drop_unused(&graphs);
        assert!(!lock(&graphs.plans).contains_key(&2));
        // Of what has no plan nothing is taken over.
        take_over(&graphs, 10, (4, false), 5);
        assert_eq!(lock(&graphs.planned)[&10], [1, 3]);
    }

    #[test]
    fn a_copy_is_made_beside_functions_alone_if_all_its_nodes_are() {
        use gtrace_cuda::payload::SideKind;
        let linear = copies::linear((SideKind::Device, 0x1000), (SideKind::Client, 0x2000), 8);
        let of_node = |node| HostCopy::writing(node, linear);
        let plan = |nodes: &[u64]| {
            Arc::new(Plan {
                before: nodes.iter().map(|node| of_node(*node)).collect(),
                after: Vec::new(),
                context: context::top(),
            })
        };
        // Captured nodes are not known.
        let held = Held {
            copies: Copies::from_iter([of_node(0), of_node(0)]),
            ..Held::default()
        };
        let received = |plans: &[Arc<Plan>]| not_received(plans, &held).next().is_none();
        assert!(!received(&[]));
        // Two functions behind the same node.
        assert!(!received(&[plan(&[5]), plan(&[5])]));
        assert!(received(&[plan(&[5]), plan(&[5, 6])]));
        assert_eq!(unsent(&[plan(&[5, 6])], &held).count(), 2);
    }

    #[test]
    fn a_launch_goes_over_what_is_planned_once() {
        use gtrace_cuda::payload::SideKind;
        let copy = |node| {
            let to = (SideKind::Device, 0x1000 * node);
            HostCopy::unstaged(node, copies::linear((SideKind::Device, 0x1000), to, 8))
        };
        let held = Held {
            copies: (1..=1_000).map(copy).collect(),
            ..Held::default()
        };
        let planned: Vec<HostCopy> = (501..=1_000).map(copy).collect();
        let mut seen = 0;
        let left = rest_of(&held, planned.iter().inspect(|_| seen += 1));
        let left: Vec<u64> = left.map(|copy| copy.node).collect();
        assert_eq!(left, (1..=500).collect::<Vec<u64>>());
        assert_eq!(seen, planned.len());
    }

    #[test]
    fn a_node_that_copies_something_else_leaves_the_same_copy_to_others() {
        use gtrace_cuda::payload::SideKind;
        let of_node = |node, host| {
            let sides = ((SideKind::Device, 0x1000), (SideKind::Client, host));
            HostCopy::writing(node, copies::linear(sides.0, sides.1, 8))
        };
        let plan = Plan {
            before: vec![of_node(5, 0x2000), of_node(6, 0x2000)],
            after: Vec::new(),
            context: context::top(),
        };
        let of = |plan: &Plan| -> Vec<(u64, u64)> {
            let own = plan.before.iter();
            own.map(|copy| (copy.node, copy.given().to.place)).collect()
        };
        let other = of_node(6, 0x3000);
        assert_eq!(of(&plan.with(6, Some(&other))), [(5, 0x2000), (6, 0x3000)]);
        assert_eq!(of(&plan.with(6, None)), [(5, 0x2000)]);
        assert_eq!(plan.with(7, Some(&other)).before.len(), 2);
    }

    #[test]
    fn a_function_beside_which_copies_go_is_known_whatever_calls_it() {
        let graphs = Graphs::default();
        lock(&graphs.plans).insert(1, plan());
        let functions = [2, 1].map(Kept::numbered);
        assert!(has_any(&graphs, &functions) && !has_any(&graphs, &functions[..1]));
    }

    #[test]
    fn plans_go_with_the_last_that_can_be_launched() {
        let graphs = Graphs::default();
        for ticket in 1..=3 {
            lock(&graphs.plans).insert(ticket, plan());
        }
        lock(&graphs.planned).insert(10, vec![1, 2]);
        lock(&graphs.planned).insert(11, vec![2]);
        let drop_unused = || {
            drop_unused(&graphs);
            lock(&graphs.plans).len()
        };
        assert_eq!(drop_unused(), 2);
        lock(&graphs.planned).remove(&10);
        assert_eq!(drop_unused(), 1);
        assert!(lock(&graphs.plans).contains_key(&2));
        lock(&graphs.planned).remove(&11);
        assert_eq!(drop_unused(), 0);
    }
}
