//! Graphs, as far as they come from stream capture and are launched. Nodes with parameters are left
//! out: their structures lead to memory of the client.

use crate::signatures::DRIVER as SIGNATURES;

crate::describe! {
    /// Graphs.
    pub const GRAPH: SIGNATURES;
    waiting cuGraphCreate(phGraph: mint(Graph), flags: value);
    waiting cuGraphClone(phGraphClone: mint(Graph), originalGraph: handle(Graph));
    one_way cuGraphDestroy(hGraph: destroy(Graph));
    waiting cuGraphAddEmptyNode(
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
    waiting cuGraphNodeGetType(hNode: handle(GraphNode), type_: out);
    waiting cuGraphInstantiateWithFlags(
        phGraphExec: mint(GraphExec), hGraph: handle(Graph), flags: value,
    );
    waiting cuGraphExecGetFlags(hGraphExec: handle(GraphExec), flags: out);
    waiting cuGraphUpload(hGraphExec: handle(GraphExec), hStream: handle(Stream));
    one_way cuGraphLaunch(hGraphExec: handle(GraphExec), hStream: handle(Stream));
    one_way cuGraphExecDestroy(hGraphExec: destroy(GraphExec));
}
