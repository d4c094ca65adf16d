//! Graphs: their nodes and edges, and what is instantiated from them and launched.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};
use std::sync::Arc;

use crate::abi::{Answer, In, Name, Out, api};
use crate::api::capture::dependencies;
use crate::command::UserData;
use crate::error::{
    CuError, GRAPH_EXEC_UPDATE_FAILURE, INVALID_VALUE, NOT_SUPPORTED, OPERATING_SYSTEM, fail_if,
};
use crate::graph::conditional::Value;
use crate::graph::exec::Exec;
use crate::graph::update::update;
use crate::graph::user::UserObject;
use crate::graph::{Edge, Graph, Node, dot};
use crate::state::state;
use crate::stream::resolve;
use crate::types::{Device, EdgeData, Handle, HostFn, InstantiateParams, UpdateInfo};

/// `CU_GRAPH_COND_*`, `CUDA_GRAPH_INSTANTIATE_*` results.
const INSTANTIATE_ERROR: c_uint = 1;
const INVALID_STRUCTURE: c_uint = 2;
const NODE_NOT_SUPPORTED: c_uint = 3;

/// Gives a list as CUDA gives them: with no place for it only its length; else as much as there is
/// room for, the rest of the room as 0, and how many there are. A place without room is an error.
fn list<T: Copy + Default>(items: &[T], out: Out<T>, count: Out<usize>) -> Answer {
    let room = count.get()?;
    if out.is_null() {
        return count.put(items.len());
    }
    fail_if(room == 0, INVALID_VALUE)?;
    give(items.iter().copied(), out, room)?;
    count.put(items.len().min(room))
}

/// Items, and 0 for the rest of the room.
fn give<T: Copy + Default>(mut items: impl Iterator<Item = T>, out: Out<T>, room: usize) -> Answer {
    (0..room).try_for_each(|at| out.put_at(at, items.next().unwrap_or_default()))
}

fn handles(nodes: &[Arc<Node>]) -> Vec<u64> {
    nodes.iter().map(|node| node.handle).collect()
}

fn edges_of(
    from: In<Handle>,
    to: In<Handle>,
    data: In<EdgeData>,
    count: usize,
) -> Answer<Vec<Edge>> {
    let ends = dependencies(from, data, count)?;
    let edge = |(at, (from, data)): (usize, (u64, EdgeData))| {
        let to = to.at(at)?;
        // Both nodes live, and are of this graph.
        Node::of(from)?;
        Node::of(to)?;
        Ok(Edge { from, to, data })
    };
    ends.into_iter().enumerate().map(edge).collect()
}

/// Edges of a list, or how many there are; those with data are not for functions that cannot return it.
fn give_edges(
    edges: &[Edge],
    from: Out<Handle>,
    to: Out<Handle>,
    data: Option<Out<EdgeData>>,
    count: Out<usize>,
) -> Answer {
    let only_counts = from.is_null() && to.is_null();
    let plain = |edge: &Edge| edge.data == EdgeData::default();
    if !only_counts && data.is_none_or(Out::is_null) && !edges.iter().all(plain) {
        return Err(crate::error::LOSSY_QUERY);
    }
    let room = Out::get(count)?;
    fail_if(room == 0 && !only_counts, INVALID_VALUE)?;
    if let Some(data) = data
        && !data.is_null()
    {
        for (at, edge) in edges.iter().take(room).enumerate() {
            data.put_at(at, edge.data)?;
        }
    }
    if !from.is_null() {
        give(edges.iter().map(|edge| edge.from), from, room)?;
    }
    if !to.is_null() {
        give(edges.iter().map(|edge| edge.to), to, room)?;
    }
    match only_counts {
        true => count.put(edges.len()),
        false => count.put(edges.len().min(room)),
    }
}

fn neighbours(node: Handle, before: bool) -> Answer<Vec<Edge>> {
    let node = Node::of(node)?;
    let mut edges = Graph::of(node.graph)?.edges();
    edges.retain(|edge| node.handle == if before { edge.to } else { edge.from });
    Ok(edges)
}

fn give_neighbours(
    node: Handle,
    before: bool,
    nodes: Out<Handle>,
    data: Option<Out<EdgeData>>,
    count: Out<usize>,
) -> Answer {
    let edges = neighbours(node, before)?;
    // SAFETY: null is a pointer that `Out` allows.
    let none = unsafe { Out::new(std::ptr::null_mut()) };
    match before {
        true => give_edges(&edges, nodes, none, data, count),
        false => give_edges(&edges, none, nodes, data, count),
    }
}

fn instantiate(exec: Out<Handle>, graph: Handle, flags: c_ulonglong) -> Result<(), (u64, CuError)> {
    let plain = |error| (0, error);
    state().map_err(plain)?;
    let graph = Graph::of(graph).map_err(plain)?;
    if exec.is_null() {
        return Err((0, INVALID_VALUE));
    }
    let made = Exec::create(&graph, flags)?;
    exec.put(made.handle).map_err(plain)
}

fn update_of(exec: Handle, graph: Handle) -> Answer<Result<(), UpdateInfo>> {
    let graph = Graph::of(graph)?;
    fail_if(graph.is_moved(), INVALID_VALUE)?;
    Ok(update(&*Exec::of(exec)?, &graph))
}

/// `CU_GRAPH_MEM_ATTR_*`: bytes of graphs, which come from the device at once and go back at once.
fn memory_attribute(device: Device, attribute: c_uint) -> Answer<u64> {
    let index = state()?.device(device)?.index;
    match attribute {
        0..=3 => Ok(crate::memory::of_graphs(index)),
        _ => Err(INVALID_VALUE),
    }
}

api! { TABLE:
    /// Makes an empty graph.
    fn cuGraphCreate(graph: Out<Handle>, flags: c_uint) {
        state()?;
        fail_if(graph.is_null() || flags != 0, INVALID_VALUE)?;
        graph.put(Graph::create(false).handle)
    }

    /// Makes a copy of a graph.
    fn cuGraphClone(copy: Out<Handle>, graph: Handle) {
        let graph = Graph::of(graph)?;
        fail_if(copy.is_null(), INVALID_VALUE)?;
        copy.put(graph.duplicate(false)?.handle)
    }

    /// Destroys a graph; not one that belongs to a node.
    fn cuGraphDestroy(graph: Handle) {
        let graph = Graph::of(graph)?;
        fail_if(graph.is_inner(), INVALID_VALUE)?;
        graph.destroy();
        Ok(())
    }

    /// Number of a graph.
    fn cuGraphGetId(graph: Handle, id: Out<c_uint>) {
        id.put(Graph::of(graph)?.id)
    }

    /// Number of what was instantiated.
    fn cuGraphExecGetId(exec: Handle, id: Out<c_uint>) {
        id.put(Exec::of(exec)?.id)
    }

    /// All nodes.
    fn cuGraphGetNodes(graph: Handle, nodes: Out<Handle>, count: Out<usize>) {
        list(&handles(&Graph::of(graph)?.nodes()), nodes, count)
    }

    /// Nodes that wait for no other.
    fn cuGraphGetRootNodes(graph: Handle, nodes: Out<Handle>, count: Out<usize>) {
        list(&handles(&Graph::of(graph)?.roots()), nodes, count)
    }

    /// All edges.
    fn cuGraphGetEdges(graph: Handle, from: Out<Handle>, to: Out<Handle>, count: Out<usize>) {
        give_edges(&Graph::of(graph)?.edges(), from, to, None, count)
    }

    /// All edges, with what they say.
    fn cuGraphGetEdges_v2(
        graph: Handle, from: Out<Handle>, to: Out<Handle>, data: Out<EdgeData>, count: Out<usize>,
    ) {
        give_edges(&Graph::of(graph)?.edges(), from, to, Some(data), count)
    }

    /// Adds edges.
    fn cuGraphAddDependencies(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) {
        Graph::of(graph)?.add_edges(&edges_of(from, to, In::NULL, count)?)
    }

    /// Adds edges that may say something.
    fn cuGraphAddDependencies_v2(
        graph: Handle, from: In<Handle>, to: In<Handle>, data: In<EdgeData>, count: usize,
    ) {
        Graph::of(graph)?.add_edges(&edges_of(from, to, data, count)?)
    }

    /// Removes edges.
    fn cuGraphRemoveDependencies(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) {
        Graph::of(graph)?.remove_edges(&edges_of(from, to, In::NULL, count)?)
    }

    /// Removes edges that may say something.
    fn cuGraphRemoveDependencies_v2(
        graph: Handle, from: In<Handle>, to: In<Handle>, data: In<EdgeData>, count: usize,
    ) {
        Graph::of(graph)?.remove_edges(&edges_of(from, to, data, count)?)
    }

    /// Nodes that a node waits for.
    fn cuGraphNodeGetDependencies(node: Handle, nodes: Out<Handle>, count: Out<usize>) {
        give_neighbours(node, true, nodes, None, count)
    }

    /// Nodes that a node waits for, with the edges.
    fn cuGraphNodeGetDependencies_v2(
        node: Handle, nodes: Out<Handle>, data: Out<EdgeData>, count: Out<usize>,
    ) {
        give_neighbours(node, true, nodes, Some(data), count)
    }

    /// Nodes that wait for a node.
    fn cuGraphNodeGetDependentNodes(node: Handle, nodes: Out<Handle>, count: Out<usize>) {
        give_neighbours(node, false, nodes, None, count)
    }

    /// Nodes that wait for a node, with the edges.
    fn cuGraphNodeGetDependentNodes_v2(
        node: Handle, nodes: Out<Handle>, data: Out<EdgeData>, count: Out<usize>,
    ) {
        give_neighbours(node, false, nodes, Some(data), count)
    }

    /// In a clone: the node that was made from one of the original.
    fn cuGraphNodeFindInClone(found: Out<Handle>, original: Handle, copy: Handle) {
        found.put(Graph::of(copy)?.clone_of(original)?)
    }

    /// The graph of a node.
    fn cuGraphNodeGetContainingGraph(node: Handle, graph: Out<Handle>) {
        graph.put(Node::of(node)?.graph)
    }

    /// Number of a node in its graph.
    fn cuGraphNodeGetLocalId(node: Handle, id: Out<c_uint>) {
        let node = Node::of(node)?;
        let nodes = Graph::of(node.graph)?.nodes();
        let at = nodes.iter().position(|other| other.handle == node.handle);
        id.put(at.ok_or(INVALID_VALUE)? as c_uint)
    }

    /// A number that no other node has.
    fn cuGraphNodeGetToolsId(node: Handle, id: Out<c_ulonglong>) {
        id.put(Node::of(node)?.handle >> 4 & 0xffff_ffff)
    }

    /// Kind of a node.
    fn cuGraphNodeGetType(node: Handle, kind: Out<c_uint>) {
        kind.put(Node::of(node)?.work().kind())
    }

    /// Takes a node out of its graph.
    fn cuGraphDestroyNode(node: Handle) {
        Node::of(node)?.destroy()
    }

    /// Instantiates a graph.
    fn cuGraphInstantiateWithFlags(exec: Out<Handle>, graph: Handle, flags: c_ulonglong) {
        instantiate(exec, graph, flags).map_err(|(_, error)| error)
    }

    /// Instantiates a graph; reports the node that is wrong. cublasLt of CUDA 13 looks for the symbol of CUDA 10.0 and does not
    /// start without it.
    fn cuGraphInstantiate = cuGraphInstantiate_v2(
        exec: Out<Handle>, graph: Handle, error_node: Out<Handle>, log: Out<c_char>, room: usize,
    ) {
        let made = instantiate(exec, graph, 0);
        if !log.is_null() && room > 0 {
            let text = if made.is_ok() {
                ""
            } else {
                "the graph cannot be instantiated"
            };
            log.put_text(room, text)?;
        }
        error_node.offer(made.err().map_or(0, |(node, _)| node));
        made.map_err(|(_, error)| error)
    }

    /// Instantiates a graph as a structure says, which says what is wrong.
    fn cuGraphInstantiateWithParams(
        exec: Out<Handle>, graph: Handle, params: Out<InstantiateParams>,
    ) {
        let mut given = params.get()?;
        let made = instantiate(exec, graph, given.flags);
        (given.error_node, given.result) = match made {
            Ok(()) => (0, 0),
            Err((node, NOT_SUPPORTED)) if node != 0 => (node, NODE_NOT_SUPPORTED),
            Err((node, INVALID_VALUE)) => (node, INVALID_STRUCTURE),
            Err((node, _)) => (node, INSTANTIATE_ERROR),
        };
        params.put(given)?;
        made.map_err(|(_, error)| error)
    }

    /// Flags with which a graph was instantiated.
    fn cuGraphExecGetFlags(exec: Handle, flags: Out<c_ulonglong>) {
        flags.put(Exec::of(exec)?.flags)
    }

    /// Ends what was instantiated.
    fn cuGraphExecDestroy(exec: Handle) {
        state()?;
        Exec::destroy(exec)
    }

    /// Makes ready for a launch: there is nothing to be done.
    fn cuGraphUpload, cuGraphUpload_ptsz [stream] (exec: Handle, stream: Handle) {
        Exec::of(exec)?;
        let (_, stream) = resolve(stream)?;
        crate::graph::capture::refuse(&stream)
    }

    /// Launches in a stream.
    fn cuGraphLaunch, cuGraphLaunch_ptsz [stream] (exec: Handle, stream: Handle) {
        Exec::of(exec)?.launch(stream)
    }

    /// Has what was instantiated do what another graph of the same structure does.
    fn cuGraphExecUpdate_v2(exec: Handle, graph: Handle, info: Out<UpdateInfo>) {
        let updated = update_of(exec, graph)?;
        let good = UpdateInfo { result: 0, error_node: 0, error_from: 0 };
        info.put(updated.err().unwrap_or(good))?;
        updated.map_err(|_| GRAPH_EXEC_UPDATE_FAILURE)
    }

    /// As [`cuGraphExecUpdate_v2`], with less of an answer.
    fn cuGraphExecUpdate(exec: Handle, graph: Handle, node: Out<Handle>, result: Out<c_uint>) {
        let updated = update_of(exec, graph)?;
        node.offer(updated.err().map_or(0, |info| info.error_node));
        result.put(updated.err().map_or(0, |info| info.result))?;
        updated.map_err(|_| GRAPH_EXEC_UPDATE_FAILURE)
    }

    /// Whether a node runs.
    fn cuGraphNodeGetEnabled(exec: Handle, node: Handle, enabled: Out<c_uint>) {
        state()?;
        let mut found = 0;
        Exec::of(exec)?.change(node, |step| {
            found = c_uint::from(step.enabled);
            Ok(())
        })?;
        enabled.put(found)
    }

    /// Has a node run or not: kernels, fills and copies.
    fn cuGraphNodeSetEnabled(exec: Handle, node: Handle, enabled: c_uint) {
        Exec::of(exec)?.change(node, |step| {
            fail_if(step.work.kind() > 2, INVALID_VALUE)?;
            step.enabled = enabled != 0;
            Ok(())
        })
    }

    /// Writes a graph to a file.
    fn cuGraphDebugDotPrint(graph: Handle, path: Name, flags: c_uint) {
        let text = dot::text(&*Graph::of(graph)?, flags);
        std::fs::write(path.text()?, text).map_err(|_| OPERATING_SYSTEM)
    }

    /// A value for conditional nodes of a graph.
    fn cuGraphConditionalHandleCreate(
        handle: Out<c_ulonglong>, graph: Handle, context: Handle, default: c_uint, flags: c_uint,
    ) {
        crate::graph::work::context_of(context)?;
        let graph = Graph::of(graph)?;
        fail_if(handle.is_null(), INVALID_VALUE)?;
        handle.put(Value::create(&graph, default, flags)?)
    }

    /// An object of the program that graphs may hold.
    fn cuUserObjectCreate(
        object: Out<Handle>, data: *mut c_void, destroy: HostFn, count: c_uint, flags: c_uint,
    ) {
        state()?;
        let destroy = destroy.ok_or(INVALID_VALUE)?;
        // The program has to say that its function is not called in time.
        if object.is_null() || flags != 1 || count == 0 || count > c_int::MAX as c_uint {
            return Err(INVALID_VALUE);
        }
        object.put(UserObject::create(destroy, UserData(data), count))
    }

    /// Adds references to an object.
    fn cuUserObjectRetain(object: Handle, count: c_uint) {
        state()?;
        fail_if(count == 0 || count > c_int::MAX as c_uint, INVALID_VALUE)?;
        UserObject::of(object)?.retain(count);
        Ok(())
    }

    /// Takes references to an object away.
    fn cuUserObjectRelease(object: Handle, count: c_uint) {
        state()?;
        fail_if(count == 0 || count > c_int::MAX as c_uint, INVALID_VALUE)?;
        UserObject::of(object)?.release(count)
    }

    /// Has a graph hold an object: by references of the caller (1), or by new ones (0).
    fn cuGraphRetainUserObject(graph: Handle, object: Handle, count: c_uint, flags: c_uint) {
        let (graph, object) = (Graph::of(graph)?, UserObject::of(object)?);
        fail_if(flags > 1 || count == 0 || count > c_int::MAX as c_uint, INVALID_VALUE)?;
        if flags == 0 {
            object.retain(count);
        }
        graph.held.add(&object, count);
        Ok(())
    }

    /// Has a graph hold an object no more.
    fn cuGraphReleaseUserObject(graph: Handle, object: Handle, count: c_uint) {
        let (graph, object) = (Graph::of(graph)?, UserObject::of(object)?);
        graph.held.release(&object, count)
    }

    /// Gives memory of graphs that is not used back: none is kept.
    fn cuDeviceGraphMemTrim(device: Device) {
        state()?.device(device).map(|_| ())
    }

    /// Memory of graphs.
    fn cuDeviceGetGraphMemAttribute(device: Device, attribute: c_uint, value: Out<c_ulonglong>) {
        value.put(memory_attribute(device, attribute)?)
    }

    /// Resets the highest use, which is what is in use.
    fn cuDeviceSetGraphMemAttribute(device: Device, attribute: c_uint, value: In<c_ulonglong>) {
        memory_attribute(device, attribute)?;
        match (attribute, value.get()?) {
            (1 | 3, 0) => Ok(()),
            _ => Err(INVALID_VALUE),
        }
    }
}
