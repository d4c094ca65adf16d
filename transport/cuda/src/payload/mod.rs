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

/// [`Payload`] of a structure whose members travel one behind the other.
macro_rules! members {
    ($name:ident<$life:lifetime>: $($member:ident),*) => {
        impl<$life> Payload<$life> for $name<$life> {
            members!(@ $life $($member),*);
        }
    };
    ($name:ident: $($member:ident),*) => {
        impl Payload<'_> for $name {
            members!(@ '_ $($member),*);
        }
    };
    (@ $life:lifetime $($member:ident),*) => {
        fn write(&self, w: &mut Writer) {
            $(self.$member.write(w);)*
        }

        fn read(r: &mut Reader<$life>) -> Result<Self, DecodeError> {
            Ok(Self { $($member: Payload::read(r)?),* })
        }
    };
}

/// [`Payload`] of an enumeration: a byte for the kind, then its members one behind the other. A byte may stand for the value
/// of a member too.
macro_rules! kinds {
    ($name:ident<$life:lifetime>, $what:literal: $($kinds:tt)*) => {
        impl<$life> Payload<$life> for $name<$life> {
            kinds!(@ $life $what: $($kinds)*);
        }
    };
    ($name:ident, $what:literal: $($kinds:tt)*) => {
        impl Payload<'_> for $name {
            kinds!(@ '_ $what: $($kinds)*);
        }
    };
    (@ $life:lifetime $what:literal: $(
        $byte:literal => $kind:ident $({ $($member:ident $(: $value:literal)?),* })? $(($only:ident))?
    ),* $(,)?) => {
        fn write(&self, w: &mut Writer) {
            match self {
                $(Self::$kind $({ $($member $(: $value)?),* })? $(($only))? => {
                    w.u8($byte);
                    $($(kinds!(@write w $member $($value)?);)*)?
                    $($only.write(w);)?
                })*
            }
        }

        fn read(r: &mut Reader<$life>) -> Result<Self, DecodeError> {
            Ok(match r.u8()? {
                $($byte => Self::$kind
                    $({ $($member: kinds!(@read r $member $($value)?)),* })?
                    $((kinds!(@read r $only)))?,)*
                value => {
                    return Err(DecodeError::BadValue { what: $what, value: value.into() });
                }
            })
        }
    };
    (@write $w:ident $member:ident) => { $member.write($w) };
    (@write $w:ident $member:ident $value:literal) => {};
    (@read $r:ident $member:ident) => { Payload::read($r)? };
    (@read $r:ident $member:ident $value:literal) => { $value };
}

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

use gtrace_protocol::{DecodeError, OpId, Reader, Writer, op_id};

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

/// A payload, to and from bytes.
pub trait Payload<'a>: Sized {
    /// Bytes that it has at least.
    const LEAST: usize = 1;

    /// Appends it.
    fn write(&self, w: &mut Writer);

    /// Reads it.
    ///
    /// # Errors
    ///
    /// [`DecodeError`]: the bytes are something else.
    fn read(r: &mut Reader<'a>) -> Result<Self, DecodeError>;
}

macro_rules! numbers {
    ($($ty:ident),*) => {$(
        impl Payload<'_> for $ty {
            const LEAST: usize = size_of::<Self>();

            fn write(&self, w: &mut Writer) {
                w.$ty(*self);
            }

            fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
                r.$ty()
            }
        }
    )*};
}

numbers!(u8, u32, u64, i32, f32, f64);

impl<'a, T: Payload<'a> + Copy + Default, const N: usize> Payload<'a> for [T; N] {
    const LEAST: usize = T::LEAST * N;

    fn write(&self, w: &mut Writer) {
        self.iter().for_each(|each| each.write(w));
    }

    fn read(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut all = [T::default(); N];
        for each in &mut all {
            *each = T::read(r)?;
        }
        Ok(all)
    }
}

impl<'a, A: Payload<'a>, B: Payload<'a>> Payload<'a> for (A, B) {
    const LEAST: usize = A::LEAST + B::LEAST;

    fn write(&self, w: &mut Writer) {
        self.0.write(w);
        self.1.write(w);
    }

    fn read(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok((A::read(r)?, B::read(r)?))
    }
}

/// As many as the bytes left can hold.
impl<'a, T: Payload<'a>> Payload<'a> for Vec<T> {
    fn write(&self, w: &mut Writer) {
        w.u64(self.len() as u64);
        self.iter().for_each(|each| each.write(w));
    }

    fn read(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let len = count(r, T::LEAST)?;
        (0..len).map(|_| T::read(r)).collect()
    }
}

fn flag(what: &'static str, value: u8) -> Result<bool, DecodeError> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        value => Err(DecodeError::BadValue {
            what,
            value: value.into(),
        }),
    }
}

fn put_text(w: &mut Writer, text: Option<&str>) {
    w.u8(text.is_some().into());
    if let Some(text) = text {
        w.str(text);
    }
}

fn get_text(r: &mut Reader<'_>, cap: usize) -> Result<Option<String>, DecodeError> {
    Ok(match flag("a text", r.u8()?)? {
        true => Some(r.str(cap)?.to_owned()),
        false => None,
    })
}

/// A count that the bytes left can hold, `each` bytes an item: memory taken for it is bounded by
/// what was sent.
fn count(r: &mut Reader<'_>, each: usize) -> Result<usize, DecodeError> {
    let cap = r.left() / each.max(1);
    r.len(cap)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What was written is read, to the last byte, and nothing shorter is.
    pub(super) fn comes_back<'a, P: Payload<'a> + PartialEq + std::fmt::Debug>(
        payload: &P,
        bytes: &'a mut Vec<u8>,
    ) {
        let mut w = Writer::default();
        payload.write(&mut w);
        *bytes = w.into_inner();
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
