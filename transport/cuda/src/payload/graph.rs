//! Nodes of graphs: added to a graph, or changed in it or where it was instantiated.

use gtrace_protocol::{DecodeError, Reader, Writer};

use super::{Launch, Payload, Pitched, count};

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

impl Payload<'_> for NodePlace {
    fn write(&self, w: &mut Writer) {
        match self {
            Self::Add { node, graph, after } => {
                w.u8(0);
                w.u64(*node);
                w.u64(*graph);
                w.u64(after.len() as u64);
                for (node, edge) in after {
                    w.u64(*node);
                    w.raw(edge);
                }
            }
            Self::Set { node } => {
                w.u8(1);
                w.u64(*node);
            }
            Self::SetExec { exec, node } => {
                w.u8(2);
                w.u64(*exec);
                w.u64(*node);
            }
        }
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(match r.u8()? {
            0 => {
                let (node, graph) = (r.u64()?, r.u64()?);
                let len = count(r, 8 + EDGE)?;
                let after = (0..len).map(|_| Ok((r.u64()?, r.array()?)));
                Self::Add {
                    node,
                    graph,
                    after: after.collect::<Result<_, DecodeError>>()?,
                }
            }
            1 => Self::Set { node: r.u64()? },
            2 => Self::SetExec {
                exec: r.u64()?,
                node: r.u64()?,
            },
            value => {
                return Err(DecodeError::BadValue {
                    what: "the place of a node",
                    value: value.into(),
                });
            }
        })
    }
}

impl<'a> Payload<'a> for NodeCall<'a> {
    fn write(&self, w: &mut Writer) {
        self.place.write(w);
        match &self.work {
            NodeWork::Kernel { launch, context } => {
                w.u8(0);
                w.u64(*context);
                launch.write(w);
            }
            NodeWork::Memcpy { copy, context } => {
                w.u8(1);
                w.u64(*context);
                copy.write(w);
            }
            NodeWork::Memset { params, context } => {
                w.u8(2);
                w.u64(*context);
                w.raw(params);
            }
            NodeWork::Host { ticket } => {
                w.u8(3);
                w.u64(*ticket);
            }
            NodeWork::Child { graph, moved } => {
                w.u8(if *moved { 14 } else { 4 });
                w.u64(*graph);
            }
            NodeWork::Empty => w.u8(5),
            NodeWork::EventWait { event } => {
                w.u8(6);
                w.u64(*event);
            }
            NodeWork::EventRecord { event } => {
                w.u8(7);
                w.u64(*event);
            }
            NodeWork::MemAlloc {
                pool,
                accesses,
                size,
            } => {
                w.u8(10);
                w.raw(pool);
                w.u64(*size);
                w.u64(accesses.len() as u64);
                for access in accesses {
                    w.raw(access);
                }
            }
            NodeWork::MemFree { address } => {
                w.u8(11);
                w.u64(*address);
            }
            NodeWork::Conditional {
                handle,
                kind,
                bodies,
                context,
            } => {
                w.u8(13);
                w.u64(*handle);
                w.u32(*kind);
                w.u32(*bodies);
                w.u64(*context);
            }
        }
    }

    fn read(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let place = NodePlace::read(r)?;
        let work = match r.u8()? {
            0 => NodeWork::Kernel {
                context: r.u64()?,
                launch: Launch::read(r)?,
            },
            1 => NodeWork::Memcpy {
                context: r.u64()?,
                copy: Pitched::read(r)?,
            },
            2 => NodeWork::Memset {
                context: r.u64()?,
                params: r.array()?,
            },
            3 => NodeWork::Host { ticket: r.u64()? },
            tag @ (4 | 14) => NodeWork::Child {
                graph: r.u64()?,
                moved: tag == 14,
            },
            5 => NodeWork::Empty,
            6 => NodeWork::EventWait { event: r.u64()? },
            7 => NodeWork::EventRecord { event: r.u64()? },
            10 => {
                let (pool, size) = (r.array()?, r.u64()?);
                let len = count(r, ACCESS)?;
                let accesses = (0..len).map(|_| r.array());
                NodeWork::MemAlloc {
                    pool,
                    accesses: accesses.collect::<Result<_, _>>()?,
                    size,
                }
            }
            11 => NodeWork::MemFree { address: r.u64()? },
            13 => {
                let (handle, kind, bodies) = (r.u64()?, r.u32()?, r.u32()?);
                if bodies > BODIES_MAX {
                    return Err(DecodeError::TooLong {
                        len: bodies.into(),
                        cap: BODIES_MAX as usize,
                    });
                }
                NodeWork::Conditional {
                    handle,
                    kind,
                    bodies,
                    context: r.u64()?,
                }
            }
            value => {
                return Err(DecodeError::BadValue {
                    what: "the kind of a node",
                    value: value.into(),
                });
            }
        };
        Ok(Self { place, work })
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

impl<'a> Payload<'a> for KernelNode<'a> {
    fn write(&self, w: &mut Writer) {
        w.u64(self.context);
        self.launch.write(w);
    }

    fn read(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            context: r.u64()?,
            launch: Launch::read(r)?,
        })
    }
}

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
