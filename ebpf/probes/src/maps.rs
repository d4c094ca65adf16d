//! The maps, and the counters on them.

use aya_ebpf::Global;
use aya_ebpf::btf_maps::{Array, HashMap, LruHashMap, PerCpuArray, RingBuf};
use aya_ebpf::macros::btf_map;
use gtrace_abi::{
    CallHist, CallKey, CallStart, Config, Counter, FailureKey, LogRecord, Offsets, OpenFile,
    RasOffsets, XidRecord,
};

/// Layout of the running kernel; set before load.
#[unsafe(no_mangle)]
pub static OFFSETS: Global<Offsets> = Global::new(unsafe { core::mem::zeroed() });

/// The same of the ras and mce tracepoints: apart, as each program has a copy of what it reads on its stack.
#[unsafe(no_mangle)]
pub static RAS_OFFSETS: Global<RasOffsets> = Global::new(unsafe { core::mem::zeroed() });

/// Log, AER, hardware error, OOM, exit and module records. 8 MiB holds a burst of 30,000 lines of 250 bytes.
#[btf_map]
pub static EVENTS: RingBuf<[u8; 0], { 8 << 20 }> = RingBuf::new();

/// Slow calls: a ring of its own, so that a storm of them cannot push out an Xid.
#[btf_map]
pub static CALLS: RingBuf<[u8; 0], { 1 << 20 }> = RingBuf::new();

/// Filters and thresholds.
#[btf_map]
pub static CONFIG: Array<Config, 1> = Array::new();

/// [`Counter`]s.
#[btf_map]
pub static COUNTERS: PerCpuArray<u64, { Counter::COUNT }> = PerCpuArray::new();

/// Where a log record is put together; too large for the stack.
#[btf_map]
pub static SCRATCH: PerCpuArray<LogRecord, 1> = PerCpuArray::new();

/// How many threads can have made a driver call.
pub const IN_FLIGHT: usize = 8192;

/// Start of the ioctl under way, by thread, as the syscall's tracepoints see it; `boottime_ns` is 0
/// between two calls.
#[btf_map]
pub static STARTS: HashMap<u64, CallStart, IN_FLIGHT> = HashMap::new();

/// The same, as the probes on the driver see it: while one way takes over from the other, a call
/// can be under way for both.
#[btf_map]
pub static DRIVER_STARTS: HashMap<u64, CallStart, IN_FLIGHT> = HashMap::new();

/// Latency histograms, shared by all CPUs and updated atomically: 7 KiB a key. A CUDA program of
/// driver 580 has some 130 on one GPU: a key a control command or class and a device node.
#[btf_map]
pub static HISTS: HashMap<CallKey, CallHist, 1600> = HashMap::new();

/// The same of calls for which [`HISTS`] had no room, of all processes together, so that the key is without one. The driver's
/// whole public interface that programs use is some 200 of them.
#[btf_map]
pub static HISTS_OTHERS: HashMap<CallKey, CallHist, 320> = HashMap::new();

/// How many keys of [`HISTS`] a process has taken.
#[btf_map]
pub static TASK_KEYS: LruHashMap<u32, u32, 4096> = LruHashMap::new();

/// Calls that the driver failed, by NV_STATUS.
#[btf_map]
pub static FAILURES: HashMap<FailureKey, u64, 2048> = HashMap::new();

/// Device files being opened, mapped or closed, by thread.
#[btf_map]
pub static FILE_STARTS: HashMap<u64, CallStart, 1024> = HashMap::new();

/// Open device files, by the address of their `struct file`.
#[btf_map]
pub static OPENS: HashMap<u64, OpenFile, 8192> = HashMap::new();

/// How many device files have been closed; 0 while that is not watched.
#[btf_map]
pub static FILES_CLOSED: Array<u64, 1> = Array::new();

/// Where an Xid is put together; too large for the stack.
#[btf_map]
pub static XID_SCRATCH: PerCpuArray<XidRecord, 1> = PerCpuArray::new();

/// An empty histogram to begin a key with.
#[btf_map]
pub static EMPTY_HIST: Array<CallHist, 1> = Array::new();

/// Processes seen with a watched device open, with one such device number.
#[btf_map]
pub static GPU_TASKS: HashMap<u32, u32, 16_384> = HashMap::new();

/// Raises a counter.
#[inline(always)]
pub fn count(counter: Counter) {
    if let Some(value) = COUNTERS.get_ptr_mut(counter as u32) {
        // SAFETY: a per-CPU slot; the program is not preempted while it runs.
        unsafe { *value += 1 };
    }
}
