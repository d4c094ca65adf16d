//! CUDA API calls seen by uprobes: what the programs in `ebpf/core/cuda_api.bpf.c` keep, and what
//! they are reported. `ebpf/core/cuda_api.h` says the same in C.

use crate::hist::BUCKETS;
use crate::record::Header;

/// How many functions can be probed; the last is [`CALIBRATION`].
pub const API_FUNCTIONS: u32 = 1024;
/// The function that gtrace calls itself to learn what a probe costs.
pub const CALIBRATION: u32 = API_FUNCTIONS - 1;

/// How many libraries can be probed at once.
pub const API_LIBRARIES: usize = 32;

/// Key of the histograms: one function called by one process.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ApiKey {
    /// Process id (thread group), in the initial pid namespace.
    pub tgid: u32,
    /// Index in the function table.
    pub function: u32,
}

impl ApiKey {
    /// Where calls are counted that have no room, of functions without a place for that.
    pub const OVERFLOW: Self = Self::overflow(u32::MAX);

    /// Where calls of a function are counted once the table has no room for another key.
    pub const fn overflow(function: u32) -> Self {
        Self { tgid: 0, function }
    }
}

/// Calls of one function by one process.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ApiHist {
    /// Calls that were counted at their start and whose end nobody looked at.
    pub untimed: u64,
    /// Timed calls that returned an error. CUDA_ERROR_NOT_READY is an answer, not an error.
    pub errors: u64,
    /// Bytes of timed calls that succeeded: copied, set or allocated.
    pub bytes: u64,
    /// Sum of all latencies, nanoseconds.
    pub sum_ns: u64,
    /// Longest call, nanoseconds.
    pub max_ns: u64,
    /// Timed calls by [`crate::bucket_of`] their latency.
    pub buckets: [u64; BUCKETS],
}

impl ApiHist {
    /// No calls.
    pub const EMPTY: Self = Self {
        untimed: 0,
        errors: 0,
        bytes: 0,
        sum_ns: 0,
        max_ns: 0,
        buckets: [0; BUCKETS],
    };

    /// Calls whose latency was taken.
    pub fn timed(&self) -> u64 {
        self.buckets.iter().sum()
    }
}

/// Key of the failure counts.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ApiFailureKey {
    /// Who called what.
    pub call: ApiKey,
    /// CUresult, neither 0 nor CUDA_ERROR_NOT_READY.
    pub result: u32,
}

/// What a function does, as far as the probes care.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ApiKind {
    /// Nothing but its calls is of interest.
    #[default]
    Plain = 0,
    /// Moves or sets bytes, or makes host memory; [`ApiFunction`] says where their number is.
    Bytes = 1,
    /// `(address *, size, …)`: device memory.
    Alloc = 2,
    /// `(address *, pitch *, width, height, …)`: device memory, of pitch x height bytes.
    AllocPitch = 3,
    /// `(address, …)`: device memory is given back.
    Free = 4,
    /// `(handle *, size, …)`: physical memory.
    Create = 5,
    /// `(handle)`.
    Release = 6,
    /// `(handle *, address)`: another reference to what is mapped there.
    Retain = 7,
    /// `(address, size, offset, handle, …)`.
    Map = 8,
    /// `(address, size)`.
    Unmap = 9,
    /// `(free *, total *)`.
    Info = 10,
    /// `(CUDA_MEMCPY2D *, …)`.
    Copy2d = 11,
    /// `(CUDA_MEMCPY3D *, …)`, also that between contexts.
    Copy3d = 12,
}

/// One probed function, as user space describes it; can be changed at any time.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApiFunction {
    /// [`ApiKind`].
    pub kind: u32,
    /// Which argument counts bytes or elements, from 1 on; 0 for none.
    pub size_arg: u32,
    /// Which argument it is multiplied by, from 1 on; 0 for none.
    pub times_arg: u32,
    /// log2 of the bytes of an element.
    pub shift: u32,
    /// One call in so many is timed, the others are only counted; 0 and 1 for all.
    pub time_every: u32,
    /// One call in so many is reported in the ring; 0 for none.
    pub event_every: u32,
    /// Which argument points to what is reported in [`ApiCall::given`], from 1 on; 0 for none.
    pub given_arg: u32,
    /// How many bytes of it, at most 40.
    pub given_bytes: u32,
    /// Which argument is a text that is reported in [`ApiCall::text`], from 1 on; 0 for none.
    pub text_arg: u32,
}

/// What holds for all functions; can be changed at any time.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApiConfig {
    /// Calls of at least so many nanoseconds are reported in the ring; 0 for none.
    pub slow_ns: u64,
    /// Only this process (thread group); 0 for all.
    pub tgid: u32,
    /// Whether allocations and frees are reported in the ring.
    pub memory_events: u32,
    /// Whether failed calls are reported in the ring.
    pub error_events: u32,
    /// Whether every call is reported in the ring, by [`ApiCall`] and nothing else.
    pub calls: u32,
    /// By library: the generation of its link whose probes count. A link of another generation is
    /// being replaced, so that each call is counted by exactly one.
    pub generations: [u32; API_LIBRARIES],
    /// How much longer a call seems than it is, for what the kernel does between the two clocks of its
    /// probes: where the probed instruction is emulated, and where it is single-stepped. It is taken
    /// off every latency.
    pub trap_ns: [u32; 2],
}

impl ApiConfig {
    /// The cookie of a probe on `function` of `library` in a link of `generation`, at an instruction that
    /// is `stepped` or not.
    pub const fn cookie(function: u32, library: usize, generation: u32, stepped: bool) -> u64 {
        let library = (library % API_LIBRARIES) as u64;
        (function & 0xffff) as u64
            | library << 16
            | (stepped as u64) << 31
            | (generation as u64) << 32
    }
}

/// A call under way.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApiStart {
    /// CLOCK_MONOTONIC at its start, nanoseconds; 0 for a call that is not timed.
    pub start_ns: u64,
    /// Bytes.
    pub size: u64,
    /// Address, or where the function will write it.
    pub address: u64,
    /// A second address or handle.
    pub other: u64,
    /// Whether the memory given back was known.
    pub known: u64,
}

/// Key of the calls under way.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ApiStartKey {
    /// Thread group << 32 | thread.
    pub pid_tgid: u64,
    /// Index in the function table | number of the library << 16: a library may pass a call on to the same function of
    /// another.
    pub called: u64,
}

impl ApiStartKey {
    /// Index in the function table.
    pub const fn function(&self) -> u32 {
        self.called as u32 & 0xffff
    }
}

/// What the key of a piece of memory means.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Address of an allocation.
    Allocation = 0,
    /// Handle of physical memory.
    Handle = 1,
    /// Address at which physical memory is mapped.
    Mapping = 2,
}

/// Key of the memory that a process has.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MemoryKey {
    /// Address or handle.
    pub address: u64,
    /// Process id (thread group).
    pub tgid: u32,
    /// [`Space`].
    pub space: u32,
}

/// A piece of memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Bytes.
    pub size: u64,
    /// Of a mapping: the handle.
    pub handle: u64,
    /// Of a handle: references to it.
    pub refs: u32,
    /// Of a handle: places where it is mapped.
    pub maps: u32,
}

/// Device memory that a process was seen to allocate and free.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Bytes of allocations that succeeded.
    pub allocated: u64,
    /// Bytes of frees that succeeded, of memory whose allocation was seen.
    pub freed: u64,
    /// Bytes allocated and not freed.
    pub live: u64,
    /// Most bytes that were live at once.
    pub peak: u64,
    /// Allocations that succeeded.
    pub allocations: u64,
    /// Frees that succeeded, of memory whose allocation was seen.
    pub frees: u64,
    /// Allocations that failed.
    pub failed_allocations: u64,
    /// Frees that failed.
    pub failed_frees: u64,
    /// Frees that succeeded, of memory whose allocation was not seen.
    pub unknown_frees: u64,
    /// Allocations at an address that was still taken: its free was not seen, as when a context was
    /// destroyed. Their bytes are in `freed`.
    pub replaced: u64,
    /// Allocations that are not remembered, because the table was full: their free will be unknown.
    pub forgotten: u64,
    /// Bytes of memory that the device has, as cuMemGetInfo reported; 0 until it did.
    pub device_total: u64,
    /// Bytes of it that were free then.
    pub device_free: u64,
    /// `live` then.
    pub live_then: u64,
}

/// Why a call is reported: bits of [`ApiRecord::why`].
pub mod why {
    /// It failed.
    pub const ERROR: u32 = 1;
    /// It was slow.
    pub const SLOW: u32 = 2;
    /// It allocated or freed device memory.
    pub const MEMORY: u32 = 4;
    /// It was picked, one in [`super::ApiFunction::event_every`].
    pub const SAMPLED: u32 = 8;
}

/// A call that is reported by itself.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApiRecord {
    /// Time is that of its end.
    pub header: Header,
    /// Nanoseconds that it took.
    pub latency_ns: u64,
    /// Bytes copied, set, allocated or freed.
    pub bytes: u64,
    /// Address or handle of memory that was allocated or freed.
    pub address: u64,
    /// Index in the function table.
    pub function: u32,
    /// CUresult.
    pub result: u32,
    /// Bits of [`why`].
    pub why: u32,
    /// Unused, zero.
    pub reserved: u32,
    /// The thread's name, ended by NUL.
    pub comm: [u8; 16],
}

/// Arguments of a call that are reported.
pub const API_WORDS: usize = 9;
/// Bytes of a text, with the NUL that ends it.
pub const API_TEXT: usize = 128;

/// The first arguments of a call under way.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApiWords {
    /// As they lie in registers and on the stack: of narrow ones the upper bits are anything.
    pub words: [u64; API_WORDS],
}

/// A call with its arguments. One of a function without a text ends before [`Self::text`].
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApiCall {
    /// Time is that of its end.
    pub header: Header,
    /// When it began, CLOCK_MONOTONIC in nanoseconds.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// Bytes copied, set, allocated or freed.
    pub bytes: u64,
    /// Address or handle of memory that was allocated or freed.
    pub address: u64,
    /// Index in the function table.
    pub function: u32,
    /// CUresult.
    pub result: u32,
    /// Its first arguments.
    pub words: [u64; API_WORDS],
    /// What [`ApiFunction::given_arg`] pointed to at its end; zero if it could not be read.
    pub given: [u64; 5],
    /// The thread's name, ended by NUL.
    pub comm: [u8; 16],
    /// What [`ApiFunction::text_arg`] pointed to, ended by NUL.
    pub text: [u8; API_TEXT],
}

impl ApiCall {
    /// Bytes of a record without a text.
    pub const SHORT: usize = core::mem::offset_of!(Self, text);
}

const _: () = assert!(size_of::<ApiKey>() == 8);
const _: () = assert!(size_of::<ApiHist>() == 40 + 8 * 896);
const _: () = assert!(size_of::<ApiFailureKey>() == 12);
const _: () = assert!(size_of::<ApiFunction>() == 36);
const _: () = assert!(size_of::<ApiConfig>() == 24 + 4 * 32 + 8);
const _: () = assert!(size_of::<ApiStart>() == 40);
const _: () = assert!(size_of::<ApiStartKey>() == 16);
const _: () = assert!(size_of::<MemoryKey>() == 16);
const _: () = assert!(size_of::<Memory>() == 24);
const _: () = assert!(size_of::<Ledger>() == 14 * 8);
const _: () = assert!(size_of::<ApiRecord>() == 24 + 24 + 16 + 16);
const _: () = assert!(size_of::<ApiWords>() == 72);
const _: () = assert!(ApiCall::SHORT == 24 + 32 + 8 + 72 + 40 + 16);
const _: () = assert!(size_of::<ApiCall>() == ApiCall::SHORT + API_TEXT);
