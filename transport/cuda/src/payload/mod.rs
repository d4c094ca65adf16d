//! Payloads that are written by hand on both sides: calls whose arguments carry no sizes, whose
//! bytes travel as a bulk part, or that exist only between client and server.
//!
//! | operation | class | request | reply |
//! |---|---|---|---|
//! | [`SNAPSHOT`] | waiting | [`SnapshotRequest`] | [`Snapshot`]; status is that of `cuInit` |
//! | `nvmlInit_v2`, `nvmlShutdown` | waiting, NVML | nothing | nothing |
//! | `nvmlEventSetWait_v2` | waiting, NVML | u64 event set, u32 ms | `nvmlEventData_t` |
//! | `nvmlSystemEventSetCreate` | waiting, NVML | u64 new event set | nothing |
//! | `nvmlSystemEventSetFree` | waiting, NVML | u64 event set | nothing |
//! | `nvmlSystemRegisterEvents` | waiting, NVML | u64 event set, u64 event types | nothing |
//! | `nvmlSystemEventSetWait` | waiting, NVML | u64 event set, u32 ms, u32 room | u32 events, u64 count, as many `nvmlSystemEventData_v1_t` |
//! | `nvmlDeviceGetGpuInstancePossiblePlacements_v2`, `nvmlGpuInstanceGetComputeInstancePossiblePlacements` | waiting, NVML | u64 device or GPU instance, u32 profile, u8 whether a list is wanted, u32 room | u64 count, as many placements, if wanted; u32 count |
//! | `nvmlDeviceGetGpuInstances`, `nvmlGpuInstanceGetComputeInstances` | waiting, NVML | u64 device or GPU instance, u32 profile | u64 count, as many u64 instances |
//! | `nvmlGpmMetricsGet` | waiting, NVML | [`MetricsRequest`] | [`Metrics`] |
//! | `nvmlDeviceGetProcessesUtilizationInfo` and others of a structure that points to a list | waiting, NVML | u64 device or GPU instance, a [`Listed`] | the [`Listed`], u64 count, as many elements |
//! | `cuModuleLoadData` (all that load modules), `cuLibraryLoadData` | waiting | [`Load`], bulk: the image or nothing | [`Loaded`], whatever the status |
//! | [`IMAGE`] | one-way | [`ImagePiece`], bulk: the piece | |
//! | `cuModuleGetFunction`, `cuLibraryGetKernel` | one-way if the load named it, else waiting | [`GetFunction`] | [`FunctionInfo`] |
//! | `cuLaunchKernel`, `cuLaunchCooperativeKernel`, `cuLaunchKernelEx` | one-way | [`Launch`] | |
//! | `cuMemcpyHtoD_v2`, `cuMemcpyHtoDAsync_v2` | one-way | [`Upload`], bulk: the bytes | |
//! | `cuMemcpyDtoH_v2`, `cuMemcpyDtoHAsync_v2` | waiting | [`Download`] | frames whose bulk parts are the bytes in order |
//! | [`DEFER_COPY`] | one-way | [`DeferredCopy`] | |
//! | [`COLLECT`] | waiting | u64 ticket to wait for, or 0 | frames whose arguments are a [`Piece`] and whose bulk parts are its bytes; the last one's are [`Taken`] |
//! | `cuMemcpy2D_v2`, `cuMemcpy2DUnaligned_v2`, `cuMemcpy2DAsync_v2`, `cuMemcpy3D_v2`, `cuMemcpy3DAsync_v2` | waiting from the device to the client, else one-way | [`Pitched`] | as for the linear ones |
//! | `cuTexObjectCreate` | waiting | [`TextureCreate`] | u64 number |
//! | `cuSurfObjectCreate` | waiting | [`Resource`] | u64 number |
//! | `cuTexObjectDestroy`, `cuSurfObjectDestroy` | one-way | u64 number | |
//! | `cuOccupancyMaxActiveClusters`, `cuOccupancyMaxPotentialClusterSize` | waiting | [`Launch`] | i32 |
//! | `cuLaunchHostFunc` (`_v2` too), `cuStreamAddCallback` | one-way | [`HostFunction`] | |
//! | [`HOST_NEXT`] | waiting | nothing | [`HostReached`] |
//! | [`HOST_DONE`] | one-way | u64 call | |
//! | [`GRAPH_NODE`] | waiting for nodes that return something (allocations, conditional ones), else one-way | [`NodeCall`] | u64 address; u64 handles of the bodies |
//! | [`GRAPH_KERNEL`] | waiting | u64 node | [`KernelNode`] |
//! | [`GRAPH_COPY`] | waiting | u64 node | [`Pitched`] |
//! | [`GRAPH_HOST`] | waiting | u64 node | u64 ticket |
//! | [`GRAPH_MEMORY`] | waiting | u64 node | `CUmemPoolProps`, u64 size, u64 address |
//! | [`GRAPH_INSTANTIATE`] | waiting | u64 new handle, u64 graph, u64 flags, u64 stream | u64 node that is wrong, u32 `CUgraphInstantiateResult`, whatever the status |
//! | [`GRAPH_UPDATE`] | waiting | u64 what was instantiated, u64 graph | u32 `CUgraphExecUpdateResult`, u64 node, u64 node before it, whatever the status |
//! | [`CAPTURE_INFO`] | waiting | u64 stream | u32 status, u64 number, u64 graph, u64 count, as many pairs of u64 node and `CUgraphEdgeData` |
//! | `cuLinkCreate_v2` | waiting | [`LinkCreate`] | nothing |
//! | `cuLinkAddData_v2` | waiting | [`LinkAdd`], bulk: the data | [`Logs`], whatever the status |
//! | `cuLinkDestroy` | waiting | u64 link state | nothing |
//! | `cuLinkComplete` | waiting | u64 link state | frames whose bulk parts are the image in order; the last one's arguments are [`Logs`], whatever the status |
//!
//! A bulk copy larger than the link's chunk is cut into frames that stand for themselves: each has
//! its own address. All but the last have [`gtrace_protocol::Flags::MORE`].

mod copy;
mod deferred_copy;
mod graph;
mod host;
mod image;
mod launch;
mod link;
mod nvml;
mod snapshot;
mod texture;
mod visible;

pub use copy::{Download, Extent, HERE, LOCKED_MIN, Pitched, SYNCHRONOUS, Side, SideKind, Upload};
pub use deferred_copy::{BLOCK, BLOCKS, DeferredCopy, Piece, Taken};
pub use graph::{
    ACCESS, BODIES_MAX, EDGE, KernelNode, MEMSET, NodeCall, NodePlace, NodeWork, POOL_PROPERTIES,
};
pub use host::{HostFunction, HostReached};
pub use image::{
    FUNCTIONS_BYTES_MAX, FUNCTIONS_MAX, FunctionInfo, GetFunction, IMAGE_MAX, ImagePiece,
    JitOptions, Load, LoadKind, Loaded, Logs, Parameter,
};
pub use launch::{
    ATTRIBUTE_VALUE, Attribute, Attributes, LAUNCH_ATTRIBUTES_MAX, Launch, PARAMETERS_MAX,
};
pub use link::{LinkAdd, LinkCreate};
pub use nvml::{
    Listed, METRIC_TEXT_MAX, METRICS_MAX, Metric, Metrics, MetricsRequest, first_version,
};
pub use snapshot::{ATTRIBUTES, DEVICES_MAX, DeviceSnapshot, Snapshot, SnapshotRequest};
pub use texture::{
    Resource, TEXTURE_WORDS, TextureCreate, View, texture_description, texture_words,
};
pub use visible::{Permitted, visible};

pub use gtrace_protocol::Payload;
use gtrace_protocol::{OpId, op_id};

macro_rules! operations {
    ($($(#[$meta:meta])* $constant:ident = $name:literal;)*) => {
        $($(#[$meta])* pub const $constant: OpId = op_id($name);)*

        /// Names of the operations that no symbol stands for, for statistics.
        pub const NAMES: [(&str, OpId); [$($name),*].len()] = [$(($name, $constant)),*];
    };
}

operations! {
    /// What the client needs to know of driver and devices; the server initialises the driver for it.
    SNAPSHOT = "gtrace.snapshot";
    /// A piece of a kernel image, before the [`Load`] that uses it.
    IMAGE = "gtrace.image";
    /// Waits until a stream has reached one of the session's host functions. A client has one lane that
    /// does nothing else.
    HOST_NEXT = "gtrace.host.next";
    /// A host function has returned; its stream goes on.
    HOST_DONE = "gtrace.host.done";
    /// A copy to page-locked memory of the client, which the server keeps until it is taken.
    DEFER_COPY = "gtrace.defer_copy";
    /// Takes what is there of such copies.
    COLLECT = "gtrace.collect";
    /// Page-locked memory of the client gets memory of the server's process at the same addresses, which the device uses:
    /// bytes and first address, as the driver is to register them; ranges may share pages. Comes back: the address, and whether
    /// all of it is 0 (a byte).
    MAP_HOST = "gtrace.host_memory.map";
    /// The device uses such memory no more: first address and bytes, as it was mapped.
    UNMAP_HOST = "gtrace.host_memory.unmap";
    /// Physical memory is to be opened by other clients: its handle. Comes back: a ticket of [`TICKET`] bytes.
    EXPORT_MEMORY = "gtrace.memory.export";
    /// The memory of a ticket, also of another client: the ticket. Comes back: a handle.
    IMPORT_MEMORY = "gtrace.memory.import";
    /// A node of a graph is added or changed.
    GRAPH_NODE = "gtrace.graph.node";
    /// What a node launches.
    GRAPH_KERNEL = "gtrace.graph.kernel";
    /// What a node copies.
    GRAPH_COPY = "gtrace.graph.copy";
    /// Which function of the client a node calls.
    GRAPH_HOST = "gtrace.graph.host";
    /// What a node allocates.
    GRAPH_MEMORY = "gtrace.graph.memory";
    /// Makes what can be launched from a graph.
    GRAPH_INSTANTIATE = "gtrace.graph.instantiate";
    /// Has what can be launched do what another graph does.
    GRAPH_UPDATE = "gtrace.graph.update";
    /// What a stream captures.
    CAPTURE_INFO = "gtrace.capture.info";
}

/// Bytes of a ticket.
pub const TICKET: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use gtrace_protocol::Reader;
    use proptest::prelude::*;

    /// What was written is read, to the last byte, and nothing shorter is.
    pub(super) fn comes_back<'a, P: Payload<'a> + PartialEq + std::fmt::Debug>(
        payload: &P,
        bytes: &'a mut Vec<u8>,
    ) {
        *bytes = payload.to_bytes();
        let bytes: &'a [u8] = bytes;
        let mut r = Reader::new(bytes);
        assert_eq!(&P::read(&mut r).unwrap(), payload);
        r.end().unwrap();
        for short in 0..bytes.len() {
            let mut r = Reader::new(&bytes[..short]);
            let read = P::read(&mut r);
            assert!(
                read.is_err(),
                "{short} bytes of {} gave {read:?}",
                bytes.len()
            );
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            fn read<'a, P: Payload<'a>>(bytes: &'a [u8]) {
                let _ = P::read(&mut Reader::new(bytes));
            }
            read::<SnapshotRequest>(&bytes);
            read::<Snapshot>(&bytes);
            read::<Load>(&bytes);
            read::<Loaded>(&bytes);
            read::<ImagePiece>(&bytes);
            read::<GetFunction<'_>>(&bytes);
            read::<FunctionInfo>(&bytes);
            read::<Launch<'_>>(&bytes);
            read::<Upload>(&bytes);
            read::<Download>(&bytes);
            read::<Pitched>(&bytes);
            read::<DeferredCopy>(&bytes);
            read::<Piece>(&bytes);
            read::<Taken>(&bytes);
            read::<NodeCall<'_>>(&bytes);
            read::<KernelNode<'_>>(&bytes);
            read::<HostFunction>(&bytes);
            read::<HostReached>(&bytes);
            read::<LinkCreate>(&bytes);
            read::<Resource>(&bytes);
            read::<TextureCreate>(&bytes);
            read::<LinkAdd<'_>>(&bytes);
            read::<MetricsRequest>(&bytes);
            read::<Metrics>(&bytes);
        }
    }
}
