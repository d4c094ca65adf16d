//! Nodes of graphs: added to a graph, or changed in it or where it was instantiated.

use gtrace_protocol::{DecodeError, Reader, Writer, kinds, members};

use super::{Launch, Payload, Pitched};

/// Bytes of `CUgraphEdgeData`.
pub const EDGE: usize = 8;
/// Bytes of `CUDA_MEMSET_NODE_PARAMS`.
pub const MEMSET: usize = 40;
/// Bytes of `CUmemPoolProps`.
pub const POOL_PROPERTIES: usize = 88;
/// Bytes of `CUmemAccessDesc`.
pub const ACCESS: usize = 12;
/// Most bodies of a conditional node.
pub const BODIES_MAX: u32 = 1024;

/// Where a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodePlace {
    /// To be added to a graph, behind other nodes.
    Add {
        /// The new node, of the client's choice.
        node: u64,
        /// The graph.
        graph: u64,
        /// Nodes that it waits for, with the edge from each.
        after: Vec<(u64, [u8; EDGE])>,
    },
    /// In a graph.
    Set {
        /// The node.
        node: u64,
    },
    /// In what was instantiated from its graph.
    SetExec {
        /// What was instantiated.
        exec: u64,
        /// The node.
        node: u64,
    },
}

/// What a node does. Handles are the client's, addresses the device's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeWork<'a> {
    /// A launch; its stream means nothing. In `context`, or the current one for 0.
    Kernel {
        /// The launch.
        launch: Launch<'a>,
        /// The context.
        context: u64,
    },
    /// A copy within the device: memory of the client has a place there.
    Memcpy {
        /// The copy; its stream means nothing.
        copy: Pitched,
        /// The context.
        context: u64,
    },
    /// A fill.
    Memset {
        /// `CUDA_MEMSET_NODE_PARAMS`.
        params: [u8; MEMSET],
        /// The context.
        context: u64,
    },
    /// A function of the client, as [`super::HostFunction`].
    Host {
        /// Number of the function.
        ticket: u64,
    },
    /// A graph within the node.
    Child {
        /// The graph, of which the node has a clone.
        graph: u64,
        /// The node has the graph itself.
        moved: bool,
    },
    /// Nothing.
    Empty,
    /// A wait for an event.
    EventWait {
        /// The event.
        event: u64,
    },
    /// A record of an event.
    EventRecord {
        /// The event.
        event: u64,
    },
    /// An allocation; answered with its address.
    MemAlloc {
        /// `CUmemPoolProps`.
        pool: [u8; POOL_PROPERTIES],
        /// `CUmemAccessDesc` each.
        accesses: Vec<[u8; ACCESS]>,
        /// Bytes.
        size: u64,
    },
    /// What frees an allocation of a node.
    MemFree {
        /// Its address.
        address: u64,
    },
    /// Graphs that run as a value says; answered with `bodies` handles of graphs.
    Conditional {
        /// `CUgraphConditionalHandle`.
        handle: u64,
        /// `CUgraphConditionalNodeType`.
        kind: u32,
        /// Number of graphs.
        bodies: u32,
        /// The context.
        context: u64,
    },
}

/// A node is added or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeCall<'a> {
    /// Where.
    pub place: NodePlace,
    /// What it does.
    pub work: NodeWork<'a>,
}

kinds!(NodePlace, "the place of a node":
    0 => Add { node, graph, after },
    1 => Set { node },
    2 => SetExec { exec, node },
);

kinds!(NodeWork<'a>, "the kind of a node":
    0 => Kernel { context, launch },
    1 => Memcpy { context, copy },
    2 => Memset { context, params },
    3 => Host { ticket },
    4 => Child { graph, moved: false },
    5 => Empty,
    6 => EventWait { event },
    7 => EventRecord { event },
    10 => MemAlloc { pool, size, accesses },
    11 => MemFree { address },
    13 => Conditional { handle, kind, bodies, context },
    14 => Child { graph, moved: true },
);

impl<'a> Payload<'a> for NodeCall<'a> {
    fn write(&self, w: &mut Writer) {
        self.place.write(w);
        self.work.write(w);
    }

    fn read(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let (place, work) = (NodePlace::read(r)?, NodeWork::read(r)?);
        match work {
            NodeWork::Conditional { bodies, .. } if bodies > BODIES_MAX => {
                Err(DecodeError::TooLong {
                    len: bodies.into(),
                    cap: BODIES_MAX as usize,
                })
            }
            work => Ok(Self { place, work }),
        }
    }
}

/// What a kernel node launches: the answer to [`super::GRAPH_KERNEL`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelNode<'a> {
    /// The launch; its stream is 0.
    pub launch: Launch<'a>,
    /// The context, or 0.
    pub context: u64,
}

members!(KernelNode<'a>: context, launch);

#[cfg(test)]
mod tests {
    use super::super::tests::comes_back;
    use super::super::{Attributes, Extent, Side, SideKind};
    use super::*;

    const LAUNCH: Launch<'_> = Launch {
        function: 5,
        grid: [1, 2, 3],
        block: [4, 5, 6],
        shared_bytes: 7,
        stream: 0,
        parameters: &[1, 2, 3],
        attributes: Attributes::NONE,
    };

    #[test]
    fn nodes_of_every_kind_come_back() {
        let copy = Pitched {
            from: Side::at(SideKind::Device, 1),
            to: Side::at(SideKind::Device, 2),
            extent: Extent::row(4),
            chunk: 0,
            stream: 0,
        };
        let works = [
            NodeWork::Kernel {
                launch: LAUNCH,
                context: 1,
            },
            NodeWork::Memcpy { copy, context: 2 },
            NodeWork::Memset {
                params: [3; MEMSET],
                context: 4,
            },
            NodeWork::Host { ticket: 5 },
            NodeWork::Child {
                graph: 6,
                moved: false,
            },
            NodeWork::Child {
                graph: 6,
                moved: true,
            },
            NodeWork::Empty,
            NodeWork::EventWait { event: 7 },
            NodeWork::EventRecord { event: 8 },
            NodeWork::MemAlloc {
                pool: [9; POOL_PROPERTIES],
                accesses: vec![[1; ACCESS], [2; ACCESS]],
                size: 10,
            },
            NodeWork::MemFree { address: 11 },
            NodeWork::Conditional {
                handle: 12,
                kind: 1,
                bodies: 1,
                context: 0,
            },
        ];
        let places = [
            NodePlace::Add {
                node: 1,
                graph: 2,
                after: vec![(3, [4; EDGE])],
            },
            NodePlace::Set { node: 5 },
            NodePlace::SetExec { exec: 6, node: 7 },
        ];
        for work in works {
            for place in places.clone() {
                let call = NodeCall {
                    place,
                    work: work.clone(),
                };
                comes_back(&call, &mut Vec::new());
            }
        }
    }

    #[test]
    fn what_a_node_launches_comes_back() {
        let node = KernelNode {
            launch: LAUNCH,
            context: 3,
        };
        comes_back(&node, &mut Vec::new());
    }
}
