//! Nodes of graphs by kind: added, asked for what they do, and changed, in a graph and in what was
//! instantiated from it.

use std::ffi::c_uint;
use std::sync::Arc;

use super::graph_params::{
    CLONE, child, conditional_params, event, free, full_kernel_params, general, general_of, host,
    host_params, keep_attributes, kernel, memory, memory_params,
};
use crate::abi::{Answer, In, Out, api};
use crate::api::capture::{NO_EDGES, dependencies};
use crate::api::{copy, fill};
use crate::error::{INVALID_VALUE, NOT_SUPPORTED, fail_if};
use crate::graph::capture::Dependencies;
use crate::graph::exec::Exec;
use crate::graph::update::may_become;
use crate::graph::work::{self, Work, context_of};
use crate::graph::{Graph, Node};
use crate::launch::Kernel;
use crate::state::state;
use crate::types::{
    ChildNodeParams, DevicePtr, Handle, HostNodeParams, KernelNodeParams, KernelNodeParamsV1,
    LaunchAttribute, MemAllocNodeParams, Memcpy3D, MemsetNodeParams, NodeParams,
};

/// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`.
const COOPERATIVE: c_uint = 2;

/// What a node of one kind has.
macro_rules! of_kind {
    ($node:expr, $kind:pat => $found:expr) => {
        match Node::of($node)?.work() {
            $kind => $found,
            _ => return Err(INVALID_VALUE),
        }
    };
}

fn kernel_of(node: Handle) -> Answer<Arc<Kernel>> {
    Ok(of_kind!(node, Work::Kernel(kernel) => kernel))
}

fn add(
    out: Out<Handle>,
    graph: Handle,
    after: Answer<Dependencies>,
    make: impl FnOnce(&Graph) -> Answer<Work>,
) -> Answer {
    let graph = Graph::of(graph)?;
    fail_if(out.is_null(), INVALID_VALUE)?;
    let after = after?;
    // Before anything is made for a node that cannot be.
    graph.check(&after)?;
    let work = make(&graph)?;
    if graph.is_moved() && matches!(work, Work::MemAlloc(_) | Work::MemFree(_)) {
        return Err(NOT_SUPPORTED);
    }
    out.put(graph.add(&after, work)?.handle)
}

fn set(node: Handle, work: Answer<Work>) -> Answer {
    let node = Node::of(node)?;
    let work = work?;
    node.set_work(keep_attributes(&node.work(), work))
}

/// Changes what a node does in what was instantiated; not in its graph.
fn exec_set(exec: Handle, node: Handle, work: Answer<Work>) -> Answer {
    let exec = Exec::of(exec)?;
    Node::of(node)?;
    let work = work?;
    exec.change(node, |step| {
        may_become(&step.work, &work).map_err(|_| INVALID_VALUE)?;
        if let Work::Child(graph) = &work {
            return step.take_child(graph);
        }
        step.work = keep_attributes(&step.work, work);
        Ok(())
    })
}

fn general_add(
    node: Out<Handle>,
    graph: Handle,
    after: Answer<Dependencies>,
    params: Out<NodeParams>,
) -> Answer {
    let given = params.get()?;
    add(node, graph, after, |graph| {
        let work = general(graph, &given)?;
        // These return something.
        match &work {
            Work::MemAlloc(memory) => {
                let mut body: MemAllocNodeParams = given.body();
                body.address = memory.address;
                params.put(NodeParams::of(given.kind, body))?;
            }
            Work::Conditional(conditional) => {
                params.put(NodeParams::of(given.kind, conditional_params(conditional)))?;
            }
            _ => {}
        }
        Ok(work)
    })
}

/// Work for a node that is there: what makes new graphs and memory is not for changes.
fn general_change(node: Handle, given: &NodeParams) -> Answer<Work> {
    let node = Node::of(node)?;
    if matches!(
        given.kind,
        work::MEM_ALLOC | work::MEM_FREE | work::CONDITIONAL
    ) {
        return Err(NOT_SUPPORTED);
    }
    if given.kind == work::CHILD && given.body::<ChildNodeParams>().ownership != CLONE {
        return Err(NOT_SUPPORTED);
    }
    general(&*Graph::of(node.graph)?, given)
}

api! { TABLE:
    /// Adds a node that does nothing.
    fn cuGraphAddEmptyNode(node: Out<Handle>, graph: Handle, after: In<Handle>, count: usize) {
        add(node, graph, dependencies(after, NO_EDGES, count), |_| Ok(Work::Empty))
    }

    /// Adds a launch.
    fn cuGraphAddKernelNode(
        node: Out<Handle>, graph: Handle, after: In<Handle>, count: usize,
        params: In<KernelNodeParamsV1>,
    ) {
        let given = params.get()?;
        add(node, graph, dependencies(after, NO_EDGES, count), |_| kernel(&given, 0, 0))
    }

    /// Adds a launch, of a kernel or in another context as well.
    fn cuGraphAddKernelNode_v2(
        node: Out<Handle>, graph: Handle, after: In<Handle>, count: usize,
        params: In<KernelNodeParams>,
    ) {
        let given = params.get()?;
        add(node, graph, dependencies(after, NO_EDGES, count), |_| {
            kernel(&given.first, given.kernel, given.context)
        })
    }

    /// Adds a copy.
    fn cuGraphAddMemcpyNode(
        node: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, params: In<Memcpy3D>,
        context: Handle,
    ) {
        let given = params.get()?;
        add(node, graph, dependencies(after, NO_EDGES, count), |_| {
            copy::work(&given, &*context_of(context)?)
        })
    }

    /// Adds a fill.
    fn cuGraphAddMemsetNode(
        node: Out<Handle>, graph: Handle, after: In<Handle>, count: usize,
        params: In<MemsetNodeParams>, context: Handle,
    ) {
        let given = params.get()?;
        add(node, graph, dependencies(after, NO_EDGES, count), |_| {
            fill::work(&given, &*context_of(context)?)
        })
    }

    /// Adds a call of a function of the program.
    fn cuGraphAddHostNode(
        node: Out<Handle>, graph: Handle, after: In<Handle>, count: usize,
        params: In<HostNodeParams>,
    ) {
        let given = params.get()?;
        add(node, graph, dependencies(after, NO_EDGES, count), |_| host(&given))
    }

    /// Adds a copy of another graph.
    fn cuGraphAddChildGraphNode(
        node: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, child_graph: Handle,
    ) {
        add(node, graph, dependencies(after, NO_EDGES, count), |graph| {
            child(graph, &ChildNodeParams { graph: child_graph, ownership: CLONE })
        })
    }

    /// Adds a record of an event.
    fn cuGraphAddEventRecordNode(
        node: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, recorded: Handle,
    ) {
        add(node, graph, dependencies(after, NO_EDGES, count), |_| event(recorded, true))
    }

    /// Adds a wait for an event.
    fn cuGraphAddEventWaitNode(
        node: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, awaited: Handle,
    ) {
        add(node, graph, dependencies(after, NO_EDGES, count), |_| event(awaited, false))
    }

    /// Adds an allocation, and reports its address.
    fn cuGraphAddMemAllocNode(
        node: Out<Handle>, graph: Handle, after: In<Handle>, count: usize,
        params: Out<MemAllocNodeParams>,
    ) {
        let mut given = params.get()?;
        add(node, graph, dependencies(after, NO_EDGES, count), |_| {
            let memory = memory(&given)?;
            given.address = memory.address;
            params.put(given)?;
            Ok(Work::MemAlloc(memory))
        })
    }

    /// Adds what frees an allocation.
    fn cuGraphAddMemFreeNode(
        node: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, address: DevicePtr,
    ) {
        add(node, graph, dependencies(after, NO_EDGES, count), |_| free(address))
    }

    /// Adds a node of any kind.
    fn cuGraphAddNode(
        node: Out<Handle>, graph: Handle, after: In<Handle>, count: usize,
        params: Out<NodeParams>,
    ) {
        general_add(node, graph, dependencies(after, NO_EDGES, count), params)
    }

    /// Adds a node of any kind, with edges that may say something.
    fn cuGraphAddNode_v2(
        node: Out<Handle>, graph: Handle, after: In<Handle>, edges: In<crate::types::EdgeData>,
        count: usize, params: Out<NodeParams>,
    ) {
        general_add(node, graph, dependencies(after, edges, count), params)
    }

    /// What a node of any kind does.
    fn cuGraphNodeGetParams(node: Handle, params: Out<NodeParams>) {
        params.put(general_of(&Node::of(node)?.work())?)
    }

    /// Changes what a node does.
    fn cuGraphNodeSetParams(node: Handle, params: Out<NodeParams>) {
        state()?;
        let given = params.get()?;
        set(node, general_change(node, &given))
    }

    /// Changes what a node does where it was instantiated.
    fn cuGraphExecNodeSetParams(exec: Handle, node: Handle, params: Out<NodeParams>) {
        state()?;
        let given = params.get()?;
        let work = general_change(node, &given);
        // Of a child it takes what that does.
        let children = work.as_ref().map(Work::inner).unwrap_or_default();
        let changed = exec_set(exec, node, work);
        children.iter().for_each(|graph| graph.destroy());
        changed
    }

    /// What a node launches.
    fn cuGraphKernelNodeGetParams(node: Handle, params: Out<KernelNodeParamsV1>) {
        params.put(full_kernel_params(&kernel_of(node)?).first)
    }

    /// What a node launches.
    fn cuGraphKernelNodeGetParams_v2(node: Handle, params: Out<KernelNodeParams>) {
        params.put(full_kernel_params(&kernel_of(node)?))
    }

    /// Changes what a node launches.
    fn cuGraphKernelNodeSetParams(node: Handle, params: In<KernelNodeParamsV1>) {
        set(node, kernel(&params.get()?, 0, 0))
    }

    /// Changes what a node launches.
    fn cuGraphKernelNodeSetParams_v2(node: Handle, params: In<KernelNodeParams>) {
        let given = params.get()?;
        set(node, kernel(&given.first, given.kernel, given.context))
    }

    /// Changes what a node launches where it was instantiated.
    fn cuGraphExecKernelNodeSetParams(exec: Handle, node: Handle, params: In<KernelNodeParamsV1>) {
        exec_set(exec, node, kernel(&params.get()?, 0, 0))
    }

    /// Changes what a node launches where it was instantiated.
    fn cuGraphExecKernelNodeSetParams_v2(exec: Handle, node: Handle, params: In<KernelNodeParams>) {
        let given = params.get()?;
        exec_set(exec, node, kernel(&given.first, given.kernel, given.context))
    }

    /// An attribute of a launch.
    fn cuGraphKernelNodeGetAttribute(node: Handle, attribute: c_uint, value: Out<[u64; 8]>) {
        let kernel = kernel_of(node)?;
        let found = kernel.attributes.iter().find(|own| own.id == attribute);
        let cooperative = [u64::from(kernel.cooperative), 0, 0, 0, 0, 0, 0, 0];
        value.put(match attribute {
            COOPERATIVE => cooperative,
            0 | 19.. => return Err(INVALID_VALUE),
            _ => found.map_or([0; 8], |own| own.value),
        })
    }

    /// Sets an attribute of a launch.
    fn cuGraphKernelNodeSetAttribute(node: Handle, attribute: c_uint, value: In<[u64; 8]>) {
        state()?;
        let value = value.get()?;
        let mut kernel = Kernel::clone(&*kernel_of(node)?);
        fail_if(attribute == 0 || attribute > 18, INVALID_VALUE)?;
        if attribute == COOPERATIVE {
            kernel.cooperative = value[0] as u32 != 0;
        }
        kernel.attributes.retain(|own| own.id != attribute);
        kernel.attributes.push(LaunchAttribute { id: attribute, pad: [0; 4], value });
        Node::of(node)?.set_work(Work::Kernel(Arc::new(kernel)))
    }

    /// Gives a launch the attributes of another.
    fn cuGraphKernelNodeCopyAttributes(to: Handle, from: Handle) {
        let mut kernel = Kernel::clone(&*kernel_of(to)?);
        let from = kernel_of(from)?;
        kernel.cooperative = from.cooperative;
        kernel.attributes.clone_from(&from.attributes);
        Node::of(to)?.set_work(Work::Kernel(Arc::new(kernel)))
    }

    /// What a node copies.
    fn cuGraphMemcpyNodeGetParams(node: Handle, params: Out<Memcpy3D>) {
        params.put(of_kind!(node, Work::Memcpy(copy) => copy.given))
    }

    /// Changes what a node copies.
    fn cuGraphMemcpyNodeSetParams(node: Handle, params: In<Memcpy3D>) {
        let old = of_kind!(node, Work::Memcpy(old) => old);
        set(node, copy::work(&params.get()?, &*context_of(old.context)?))
    }

    /// Changes what a node copies where it was instantiated.
    fn cuGraphExecMemcpyNodeSetParams(
        exec: Handle, node: Handle, params: In<Memcpy3D>, context: Handle,
    ) {
        state()?;
        exec_set(exec, node, copy::work(&params.get()?, &*context_of(context)?))
    }

    /// What a node fills.
    fn cuGraphMemsetNodeGetParams(node: Handle, params: Out<MemsetNodeParams>) {
        params.put(of_kind!(node, Work::Memset(memset) => memset.given))
    }

    /// Changes what a node fills.
    fn cuGraphMemsetNodeSetParams(node: Handle, params: In<MemsetNodeParams>) {
        let old = of_kind!(node, Work::Memset(old) => old);
        set(node, fill::work(&params.get()?, &*context_of(old.context)?))
    }

    /// Changes what a node fills where it was instantiated.
    fn cuGraphExecMemsetNodeSetParams(
        exec: Handle, node: Handle, params: In<MemsetNodeParams>, context: Handle,
    ) {
        state()?;
        exec_set(exec, node, fill::work(&params.get()?, &*context_of(context)?))
    }

    /// What a node calls.
    fn cuGraphHostNodeGetParams(node: Handle, params: Out<HostNodeParams>) {
        params.put(of_kind!(node, Work::Host(host) => host_params(&host)))
    }

    /// Changes what a node calls.
    fn cuGraphHostNodeSetParams(node: Handle, params: In<HostNodeParams>) {
        set(node, host(&params.get()?))
    }

    /// Changes what a node calls where it was instantiated.
    fn cuGraphExecHostNodeSetParams(exec: Handle, node: Handle, params: In<HostNodeParams>) {
        exec_set(exec, node, host(&params.get()?))
    }

    /// The graph within a node.
    fn cuGraphChildGraphNodeGetGraph(node: Handle, graph: Out<Handle>) {
        graph.put(of_kind!(node, Work::Child(own) => own.handle))
    }

    /// Changes the graph within a node where it was instantiated.
    fn cuGraphExecChildGraphNodeSetParams(exec: Handle, node: Handle, graph: Handle) {
        exec_set(exec, node, Graph::of(graph).map(Work::Child))
    }

    /// The event that a node records.
    fn cuGraphEventRecordNodeGetEvent(node: Handle, recorded: Out<Handle>) {
        recorded.put(of_kind!(node, Work::RecordEvent(handle, _) => handle))
    }

    /// Changes the event that a node records.
    fn cuGraphEventRecordNodeSetEvent(node: Handle, recorded: Handle) {
        set(node, event(recorded, true))
    }

    /// Changes the event that a node records where it was instantiated.
    fn cuGraphExecEventRecordNodeSetEvent(exec: Handle, node: Handle, recorded: Handle) {
        exec_set(exec, node, event(recorded, true))
    }

    /// The event that a node waits for.
    fn cuGraphEventWaitNodeGetEvent(node: Handle, awaited: Out<Handle>) {
        awaited.put(of_kind!(node, Work::WaitEvent(handle, _) => handle))
    }

    /// Changes the event that a node waits for.
    fn cuGraphEventWaitNodeSetEvent(node: Handle, awaited: Handle) {
        set(node, event(awaited, false))
    }

    /// Changes the event that a node waits for where it was instantiated.
    fn cuGraphExecEventWaitNodeSetEvent(exec: Handle, node: Handle, awaited: Handle) {
        exec_set(exec, node, event(awaited, false))
    }

    /// What a node allocates.
    fn cuGraphMemAllocNodeGetParams(node: Handle, params: Out<MemAllocNodeParams>) {
        params.put(of_kind!(node, Work::MemAlloc(memory) => memory_params(&memory)?))
    }

    /// What a node frees.
    fn cuGraphMemFreeNodeGetParams(node: Handle, address: Out<DevicePtr>) {
        address.put(of_kind!(node, Work::MemFree(own) => own))
    }
}
