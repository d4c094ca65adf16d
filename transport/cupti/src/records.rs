//! The records of activities: as CUPTI 13.2 has them, whose structs begin as those of its earlier versions do. What is not known is 0.

/// `CUpti_ActivityKind`
pub(crate) mod kind {
    pub(crate) const MEMCPY: u32 = 1;
    pub(crate) const MEMSET: u32 = 2;
    pub(crate) const KERNEL: u32 = 3;
    pub(crate) const DRIVER: u32 = 4;
    pub(crate) const RUNTIME: u32 = 5;
    pub(crate) const CONCURRENT_KERNEL: u32 = 10;
    pub(crate) const MARKER: u32 = 12;
    pub(crate) const MARKER_DATA: u32 = 13;
    pub(crate) const OVERHEAD: u32 = 17;
    pub(crate) const MEMCPY2: u32 = 22;
    pub(crate) const CUDA_EVENT: u32 = 36;
    pub(crate) const SYNCHRONIZATION: u32 = 38;
    pub(crate) const EXTERNAL_CORRELATION: u32 = 39;
    pub(crate) const GRAPH_TRACE: u32 = 51;
}

/// Kinds that a program may enable. Of runtime calls, overhead, copies between devices, events and NVTX's ranges there is never a
/// record, but profilers that enable them give up altogether if that fails.
pub(crate) const SERVED: u64 = 1 << kind::MEMCPY
    | 1 << kind::MEMSET
    | 1 << kind::KERNEL
    | 1 << kind::DRIVER
    | 1 << kind::RUNTIME
    | 1 << kind::CONCURRENT_KERNEL
    | 1 << kind::MARKER
    | 1 << kind::MARKER_DATA
    | 1 << kind::OVERHEAD
    | 1 << kind::MEMCPY2
    | 1 << kind::CUDA_EVENT
    | 1 << kind::SYNCHRONIZATION
    | 1 << kind::EXTERNAL_CORRELATION
    | 1 << kind::GRAPH_TRACE;

/// The number of a context, by its handle.
pub(crate) const fn number(handle: u64) -> u32 {
    gtrace_recording::observe::number(handle)
}

/// The number of a graph or of an instance, by its handle: the kind of which, in the highest byte, distinguishes them.
pub(crate) const fn graph(handle: u64) -> u32 {
    handle as u32 | ((handle >> 56) as u32 & 0b111)
}

/// Stands for a stream or an event where there is none (`CUPTI_SYNCHRONIZATION_INVALID_VALUE`).
pub(crate) const NONE: u32 = u32::MAX;

/// `CUpti_ActivityKernel11`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kernel {
    pub(crate) kind: u32,
    pub(crate) cache_config: u8,
    pub(crate) shared_memory_config: u8,
    pub(crate) registers: u16,
    pub(crate) partitioned: [u32; 2],
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) completed: u64,
    pub(crate) device: u32,
    pub(crate) context: u32,
    pub(crate) stream: u32,
    pub(crate) grid: [i32; 3],
    pub(crate) block: [i32; 3],
    pub(crate) static_shared: i32,
    pub(crate) dynamic_shared: i32,
    pub(crate) local_per_thread: u32,
    pub(crate) local_total: u32,
    pub(crate) correlation: u32,
    pub(crate) grid_id: i64,
    /// The address of a string that stays; pointers are numbers in these structs, and 0 is null.
    pub(crate) name: usize,
    pub(crate) reserved: usize,
    pub(crate) queued: u64,
    pub(crate) submitted: u64,
    pub(crate) launch: [u8; 4],
    pub(crate) shared_executed: u32,
    pub(crate) graph_node: u64,
    pub(crate) shmem_limit: u32,
    pub(crate) graph: u32,
    pub(crate) policy: usize,
    pub(crate) channel: u32,
    pub(crate) channel_kind: u32,
    pub(crate) cluster: [u32; 3],
    pub(crate) cluster_policy: u32,
    pub(crate) local_total_long: u64,
    pub(crate) clusters: [u32; 2],
    pub(crate) device_launched: u64,
    pub(crate) priority: u64,
}

/// `CUpti_ActivityMemcpy6`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Copy {
    pub(crate) kind: u32,
    pub(crate) copy: u8,
    pub(crate) from: u8,
    pub(crate) to: u8,
    pub(crate) flags: u8,
    pub(crate) bytes: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) device: u32,
    pub(crate) context: u32,
    pub(crate) stream: u32,
    pub(crate) correlation: u32,
    pub(crate) runtime_correlation: u64,
    pub(crate) reserved: usize,
    pub(crate) graph_node: u64,
    pub(crate) graph: u32,
    pub(crate) channel: u32,
    pub(crate) channel_kind: u32,
    pub(crate) device_launched: u32,
    pub(crate) count: u64,
}

/// `CUpti_ActivityMemset4`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Set {
    pub(crate) kind: u32,
    pub(crate) value: u32,
    pub(crate) bytes: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) device: u32,
    pub(crate) context: u32,
    pub(crate) stream: u32,
    pub(crate) correlation: u32,
    pub(crate) flags: u16,
    pub(crate) memory: u16,
    pub(crate) pad: u32,
    pub(crate) reserved: usize,
    pub(crate) graph_node: u64,
    pub(crate) graph: u32,
    pub(crate) channel: u32,
    pub(crate) channel_kind: u32,
    pub(crate) device_launched: u32,
}

/// `CUpti_ActivityAPI`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) kind: u32,
    pub(crate) cbid: u32,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) process: u32,
    pub(crate) thread: u32,
    pub(crate) correlation: u32,
    pub(crate) result: u32,
}

/// `CUpti_ActivitySynchronization2`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    pub(crate) kind: u32,
    pub(crate) what: u32,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) correlation: u32,
    pub(crate) context: u32,
    pub(crate) stream: u32,
    pub(crate) event: u32,
    pub(crate) event_sync: u64,
    pub(crate) result: u32,
    pub(crate) pad: u32,
}

/// `CUpti_ActivityExternalCorrelation`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct External {
    pub(crate) kind: u32,
    pub(crate) whose: u32,
    pub(crate) id: u64,
    pub(crate) correlation: u32,
    pub(crate) reserved: u32,
}

/// `CUpti_ActivityGraphTrace2`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Graph {
    pub(crate) kind: u32,
    pub(crate) correlation: u32,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) device: u32,
    pub(crate) graph: u32,
    pub(crate) context: u32,
    pub(crate) stream: u32,
    pub(crate) reserved: usize,
    pub(crate) end_device: u32,
    pub(crate) end_context: u32,
}

/// A record.
#[derive(Clone, Debug)]
pub(crate) enum Record {
    Kernel(Box<Kernel>),
    Copy(Copy),
    Set(Set),
    Call(Call),
    Wait(Wait),
    External(External),
    Graph(Graph),
}

/// The bytes of a record.
#[allow(unsafe_code)]
fn bytes<T>(record: &T) -> &[u8] {
    // SAFETY: these structs have no padding, as their sizes say.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(record).cast(), size_of::<T>()) }
}

impl Record {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Kernel(record) => bytes::<Kernel>(record),
            Self::Copy(record) => bytes(record),
            Self::Set(record) => bytes(record),
            Self::Call(record) => bytes(record),
            Self::Wait(record) => bytes(record),
            Self::External(record) => bytes(record),
            Self::Graph(record) => bytes(record),
        }
    }

    /// When the GPU did it.
    pub(crate) fn set_times(&mut self, begun: u64, ended: u64) {
        let (start, end) = match self {
            Self::Kernel(record) => {
                record.completed = ended;
                (&mut record.start, &mut record.end)
            }
            Self::Copy(record) => (&mut record.start, &mut record.end),
            Self::Set(record) => (&mut record.start, &mut record.end),
            Self::Graph(record) => (&mut record.start, &mut record.end),
            Self::Call(_) | Self::Wait(_) | Self::External(_) => return,
        };
        (*start, *end) = (begun, ended);
    }
}

impl Record {
    /// The context and the stream, begin and end of what the GPU did.
    pub(crate) fn work(&self) -> Option<((u32, u32), u64, u64)> {
        Some(match self {
            Self::Kernel(it) => ((it.context, it.stream), it.start, it.end),
            Self::Copy(it) => ((it.context, it.stream), it.start, it.end),
            Self::Set(it) => ((it.context, it.stream), it.start, it.end),
            Self::Graph(it) => ((it.context, it.stream), it.start, it.end),
            Self::Call(_) | Self::Wait(_) | Self::External(_) => return None,
        })
    }

    /// The number of the call that it is of.
    pub(crate) fn correlation(&self) -> u32 {
        match self {
            Self::Kernel(it) => it.correlation,
            Self::Copy(it) => it.correlation,
            Self::Set(it) => it.correlation,
            Self::Graph(it) => it.correlation,
            Self::Call(it) => it.correlation,
            Self::Wait(it) => it.correlation,
            Self::External(it) => it.correlation,
        }
    }
}

/// How long a record of this kind is.
pub(crate) const fn length(kind: u32) -> Option<usize> {
    Some(match kind {
        kind::KERNEL | kind::CONCURRENT_KERNEL => size_of::<Kernel>(),
        kind::MEMCPY => size_of::<Copy>(),
        kind::MEMSET => size_of::<Set>(),
        kind::DRIVER => size_of::<Call>(),
        kind::SYNCHRONIZATION => size_of::<Wait>(),
        kind::EXTERNAL_CORRELATION => size_of::<External>(),
        kind::GRAPH_TRACE => size_of::<Graph>(),
        _ => return None,
    })
}

// As cupti_activity.h of CUPTI 13.2 lays them out.
const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<Kernel>() == 224);
    assert!(offset_of!(Kernel, start) == 16 && offset_of!(Kernel, device) == 40);
    assert!(offset_of!(Kernel, correlation) == 92 && offset_of!(Kernel, grid_id) == 96);
    assert!(offset_of!(Kernel, name) == 104 && offset_of!(Kernel, launch) == 136);
    assert!(offset_of!(Kernel, graph_node) == 144 && offset_of!(Kernel, graph) == 156);
    assert!(offset_of!(Kernel, policy) == 160 && offset_of!(Kernel, channel) == 168);
    assert!(offset_of!(Kernel, cluster) == 176 && offset_of!(Kernel, local_total_long) == 192);
    assert!(offset_of!(Kernel, device_launched) == 208 && offset_of!(Kernel, priority) == 216);
    assert!(size_of::<Copy>() == 96 && offset_of!(Copy, reserved) == 56);
    assert!(offset_of!(Copy, graph) == 72 && offset_of!(Copy, count) == 88);
    assert!(size_of::<Set>() == 88 && offset_of!(Set, flags) == 48);
    assert!(offset_of!(Set, reserved) == 56 && offset_of!(Set, channel_kind) == 80);
    assert!(size_of::<Call>() == 40 && size_of::<External>() == 24);
    assert!(size_of::<Wait>() == 56 && offset_of!(Wait, event_sync) == 40);
    assert!(size_of::<Graph>() == 56 && offset_of!(Graph, start) == 8);
};
