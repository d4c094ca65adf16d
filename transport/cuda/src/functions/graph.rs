//! Graphs. Nodes with parameters travel by hand: their structures lead to memory of the client.

use crate::signatures::DRIVER as SIGNATURES;

crate::describe! {
    /// Graphs.
    pub const GRAPH: SIGNATURES;
    one_way cuGraphCreate(phGraph: mint(Graph), flags: value);
    waiting(client) cuGraphClone(phGraphClone: mint(Graph), originalGraph: handle(Graph));
    one_way(client) cuGraphDestroy(hGraph: destroy(Graph));
    waiting cuGraphGetId(hGraph: handle(Graph), graphId: out);
    waiting cuGraphExecGetId(hGraphExec: handle(GraphExec), graphId: out);
    one_way cuGraphAddEmptyNode(
        phGraphNode: mint(GraphNode), hGraph: handle(Graph),
        dependencies: handles(GraphNode)[numDependencies], numDependencies: value,
    );
    waiting cuGraphGetNodes(
        hGraph: handle(Graph), nodes: out_handles(GraphNode)[*numNodes]?, numNodes: inout,
    );
    waiting cuGraphGetRootNodes(
        hGraph: handle(Graph), rootNodes: out_handles(GraphNode)[*numRootNodes]?,
        numRootNodes: inout,
    );
    waiting cuGraphGetEdges(
        hGraph: handle(Graph), from: out_handles(GraphNode)[*numEdges]?,
        to: out_handles(GraphNode)[*numEdges]?, numEdges: inout,
    );
    waiting cuGraphGetEdges_v2(
        hGraph: handle(Graph), from: out_handles(GraphNode)[*numEdges]?,
        to: out_handles(GraphNode)[*numEdges]?, edgeData: out[*numEdges]?, numEdges: inout,
    );
    one_way cuGraphAddDependencies(
        hGraph: handle(Graph), from: handles(GraphNode)[numDependencies],
        to: handles(GraphNode)[numDependencies], numDependencies: value,
    );
    one_way cuGraphAddDependencies_v2(
        hGraph: handle(Graph), from: handles(GraphNode)[numDependencies],
        to: handles(GraphNode)[numDependencies], edgeData: in[numDependencies]?,
        numDependencies: value,
    );
    one_way cuGraphRemoveDependencies(
        hGraph: handle(Graph), from: handles(GraphNode)[numDependencies],
        to: handles(GraphNode)[numDependencies], numDependencies: value,
    );
    one_way cuGraphRemoveDependencies_v2(
        hGraph: handle(Graph), from: handles(GraphNode)[numDependencies],
        to: handles(GraphNode)[numDependencies], edgeData: in[numDependencies]?,
        numDependencies: value,
    );
    waiting cuGraphNodeGetDependencies(
        hNode: handle(GraphNode), dependencies: out_handles(GraphNode)[*numDependencies]?,
        numDependencies: inout,
    );
    waiting cuGraphNodeGetDependencies_v2(
        hNode: handle(GraphNode), dependencies: out_handles(GraphNode)[*numDependencies]?,
        edgeData: out[*numDependencies]?, numDependencies: inout,
    );
    waiting cuGraphNodeGetDependentNodes(
        hNode: handle(GraphNode), dependentNodes: out_handles(GraphNode)[*numDependentNodes]?,
        numDependentNodes: inout,
    );
    waiting cuGraphNodeGetDependentNodes_v2(
        hNode: handle(GraphNode), dependentNodes: out_handles(GraphNode)[*numDependentNodes]?,
        edgeData: out[*numDependentNodes]?, numDependentNodes: inout,
    );
    waiting cuGraphNodeFindInClone(
        phNode: known(GraphNode), hOriginalNode: handle(GraphNode), hClonedGraph: handle(Graph),
    );
    waiting cuGraphNodeGetContainingGraph(hNode: handle(GraphNode), phGraph: known(Graph));
    waiting cuGraphNodeGetLocalId(hNode: handle(GraphNode), nodeId: out);
    waiting cuGraphNodeGetToolsId(hNode: handle(GraphNode), toolsNodeId: out);
    waiting cuGraphNodeGetType(hNode: handle(GraphNode), type_: out);
    one_way(client) cuGraphDestroyNode(hNode: destroy(GraphNode));
    waiting(client) cuGraphChildGraphNodeGetGraph(hNode: handle(GraphNode), phGraph: known(Graph));
    waiting cuGraphEventRecordNodeGetEvent(hNode: handle(GraphNode), event_out: known(Event));
    waiting cuGraphEventWaitNodeGetEvent(hNode: handle(GraphNode), event_out: known(Event));
    waiting cuGraphMemFreeNodeGetParams(hNode: handle(GraphNode), dptr_out: out);
    waiting cuGraphMemsetNodeGetParams(hNode: handle(GraphNode), nodeParams: out);
    waiting(creates) cuGraphConditionalHandleCreate(
        pHandle_out: out, hGraph: handle(Graph), ctx: handle(Context)?, defaultLaunchValue: value,
        flags: value,
    );
    waiting cuGraphKernelNodeGetAttribute(hNode: handle(GraphNode), attr: value, value_out: out);
    one_way cuGraphKernelNodeSetAttribute(hNode: handle(GraphNode), attr: value, value: in);
    one_way cuGraphKernelNodeCopyAttributes(dst: handle(GraphNode), src: handle(GraphNode));

    // They travel as `gtrace.graph.node`.
    local cuGraphAddKernelNode;
    local cuGraphAddKernelNode_v2;
    local cuGraphAddMemcpyNode;
    local cuGraphAddMemsetNode;
    local cuGraphAddHostNode;
    local cuGraphAddChildGraphNode;
    local cuGraphAddEventRecordNode;
    local cuGraphAddEventWaitNode;
    local cuGraphAddMemAllocNode;
    local cuGraphAddMemFreeNode;
    local cuGraphAddNode;
    local cuGraphAddNode_v2;
    local cuGraphNodeSetParams;
    local cuGraphExecNodeSetParams;
    local cuGraphKernelNodeSetParams;
    local cuGraphKernelNodeSetParams_v2;
    local cuGraphMemcpyNodeSetParams;
    local cuGraphMemsetNodeSetParams;
    local cuGraphHostNodeSetParams;
    local cuGraphEventRecordNodeSetEvent;
    local cuGraphEventWaitNodeSetEvent;
    local cuGraphExecKernelNodeSetParams;
    local cuGraphExecKernelNodeSetParams_v2;
    local cuGraphExecMemcpyNodeSetParams;
    local cuGraphExecMemsetNodeSetParams;
    local cuGraphExecHostNodeSetParams;
    local cuGraphExecChildGraphNodeSetParams;
    local cuGraphExecEventRecordNodeSetEvent;
    local cuGraphExecEventWaitNodeSetEvent;
    // They ask by operations of their own: the answers lead to memory of the client.
    local cuGraphNodeGetParams;
    local cuGraphKernelNodeGetParams;
    local cuGraphKernelNodeGetParams_v2;
    local cuGraphMemcpyNodeGetParams;
    local cuGraphHostNodeGetParams;
    local cuGraphMemAllocNodeGetParams;
    local cuGraphInstantiate_v2;
    local cuGraphInstantiateWithFlags;
    local cuGraphInstantiateWithParams;
    local cuGraphExecUpdate;
    local cuGraphExecUpdate_v2;
    // The client writes the file.
    local cuGraphDebugDotPrint;

    waiting cuGraphExecGetFlags(hGraphExec: handle(GraphExec), flags: out);
    waiting cuGraphNodeGetEnabled(
        hGraphExec: handle(GraphExec), hNode: handle(GraphNode), isEnabled: out,
    );
    // The client has bytes come for copies to its memory.
    one_way(client) cuGraphNodeSetEnabled(
        hGraphExec: handle(GraphExec), hNode: handle(GraphNode), isEnabled: value,
    );
    one_way cuGraphUpload(hGraphExec: handle(GraphExec), hStream: handle(Stream));
    // The client sends its memory that copies of the graph read, and takes in what they write.
    one_way(client, uses_memory) cuGraphLaunch(
        hGraphExec: handle(GraphExec), hStream: handle(Stream),
    );
    one_way(client) cuGraphExecDestroy(hGraphExec: destroy(GraphExec));

    // Objects of the client end when the client's graphs do.
    local cuUserObjectCreate;
    local cuUserObjectRetain;
    local cuUserObjectRelease;
    local cuGraphRetainUserObject;
    local cuGraphReleaseUserObject;
}
