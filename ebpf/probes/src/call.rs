//! What the two ways of seeing a driver call share: decoding its parameters, timing it, counting
//! it.
//!
//! The parameters are read from the caller's memory, before the driver copies them in and after it
//! has copied them out: that takes one pair of probes a call, where reading them in `rm_ioctl`
//! would take a second pair, and dearer ones, as that function has no ftrace entry.

use aya_ebpf::bindings::{BPF_ANY, BPF_NOEXIST};
use aya_ebpf::btf_maps::HashMap;
use aya_ebpf::helpers::generated::bpf_ktime_get_boot_ns;
use aya_ebpf::helpers::{bpf_get_current_comm, bpf_get_current_pid_tgid, bpf_probe_read_user};
use gtrace_abi::{
    BUCKETS, CODE_UNREADABLE, CallHist, CallKey, CallRecord, CallStart, Config, Counter,
    FailureKey, NO_STATUS, Place, RecordType, STATUS_BITS, UNKNOWN, bucket_of, makes_object,
    object_word, uvm_slot,
};

use crate::atomic;
use crate::maps::{
    CALLS, EMPTY_HIST, FAILURES, FILE_STARTS, GPU_TASKS, HISTS, HISTS_OTHERS, IN_FLIGHT, TASK_KEYS,
    count,
};
use crate::ring::{header, send_record};

/// `_IOC_TYPE` of the driver's own ioctls (nv-ioctl-numbers.h).
const MAGIC: u32 = b'F' as u32;
/// NV_ESC_IOCTL_XFER_CMD (nv-ioctl-numbers.h): a call whose parameters are too long for `_IOC_SIZE`,
/// wrapped as `{u32 nr, u32 size, u64 parameters}`.
const NR_XFER: u32 = 211;
/// Largest `_IOC_SIZE`.
const MAX_SIZE: u32 = 0x3fff;

/// NV_ERR_GENERIC (nvstatuscodes.h), the highest failure: above it are warnings.
const LAST_FAILURE: u32 = 0xffff;

/// A call as its parameters describe it.
struct Decoded {
    cmd: u32,
    code: u32,
    handles: [u32; 2],
    /// Address of NV_STATUS in the caller's memory, or 0.
    status_at: u64,
    /// As in [`CallStart`].
    handle_before: u32,
}

#[inline(always)]
fn read_user<T>(address: u64) -> Option<T> {
    // SAFETY: the helper checks the address and fails on a bad one.
    let read = unsafe { bpf_probe_read_user(address as *const T) };
    if read.is_err() {
        count(Counter::ParametersUnreadable);
    }
    read.ok()
}

#[inline(always)]
fn decode(config: &Config, cmd: u32, arg: u64) -> Decoded {
    let mut decoded = Decoded {
        cmd,
        code: 0,
        handles: [0; 2],
        status_at: 0,
        handle_before: 0,
    };
    if cmd >> 30 == 0 || (cmd >> 8) & 0xff != MAGIC {
        // UVM's calls are bare numbers.
        if let Some(slot) = uvm_slot(cmd) {
            let at = config.decode.uvm_status[slot & (gtrace_abi::UVM_CALLS - 1)];
            if at != UNKNOWN {
                decoded.status_at = arg + at as u64;
            }
        }
        return decoded;
    }
    let mut nr = cmd & 0xff;
    let mut size = (cmd >> 16) & MAX_SIZE;
    let mut parameters = arg;
    if nr == NR_XFER {
        let Some([head, address]) = read_user::<[u64; 2]>(arg) else {
            return decoded;
        };
        nr = head as u32 & 0xff;
        size = (head >> 32) as u32;
        parameters = address;
        if size <= MAX_SIZE {
            decoded.cmd = cmd & !(MAX_SIZE << 16 | 0xff) | size << 16 | nr;
        }
    }
    if size < 16 {
        decoded.code = CODE_UNREADABLE;
        return decoded;
    }
    let Some(words) = read_user::<[u32; 4]>(parameters) else {
        decoded.code = CODE_UNREADABLE;
        return decoded;
    };
    let object = match object_word(nr) {
        2 => words[2],
        _ => words[1],
    };
    decoded.handles = [words[0], object];
    decoded.code = match config.decode.code[nr as usize & 0xff] {
        0 => words[0],
        4 => words[1],
        8 => words[2],
        12 => words[3],
        _ => 0,
    };
    for place in &config.decode.status[nr as usize & 0xff] {
        let fits = place.size as u32 == size || place.size == Place::ANY_SIZE;
        if fits && place.at as u32 + 4 <= size {
            decoded.status_at = parameters + place.at as u64;
            let object_at = 4 * object_word(nr);
            if object == 0 && makes_object(nr) && place.at as u32 > object_at {
                decoded.handle_before = place.at as u32 - object_at;
            }
        }
    }
    decoded
}

/// The calls under way that one way of seeing them knows.
pub type Starts = HashMap<u64, CallStart, { IN_FLIGHT }>;

/// The device that a call is for.
#[derive(Clone, Copy)]
pub struct Device {
    /// Device number.
    pub rdev: u32,
    /// As in [`CallStart`].
    pub file: u64,
    /// As in [`CallStart`].
    pub closed: u64,
}

/// A call begins. `device` says on which device, given the thread's call before this one.
#[inline(always)]
pub fn begin(
    starts: &Starts,
    config: &Config,
    cmd: u32,
    arg: u64,
    device: impl FnOnce(Option<&CallStart>) -> Option<Device>,
) {
    let pid_tgid = bpf_get_current_pid_tgid();
    // Who traces one process wants no other.
    if config.trace_tgid != 0 && config.trace_tgid != (pid_tgid >> 32) as u32 {
        return;
    }
    let place = starts.get_ptr_mut(pid_tgid);
    // SAFETY: only this thread and its own end use its key; the map is preallocated.
    let before = place.map(|place| unsafe { &*place });
    let Some(Device { rdev, file, closed }) = device(before) else {
        count(Counter::DeviceReadFailed);
        return;
    };
    let decoded = decode(config, cmd, arg);
    // SAFETY: takes no argument, cannot fail.
    let boottime_ns = unsafe { bpf_ktime_get_boot_ns() };
    let start = CallStart {
        boottime_ns,
        status_at: decoded.status_at,
        cmd: decoded.cmd,
        rdev,
        code: decoded.code,
        handles: decoded.handles,
        handle_before: decoded.handle_before,
        file,
        closed,
    };
    if let Some(place) = place {
        // SAFETY: as above.
        unsafe {
            if (*place).boottime_ns != 0 {
                count(Counter::ReturnMissed);
            }
            *place = start;
        }
        return;
    }
    // The first call of the thread.
    let tgid = (pid_tgid >> 32) as u32;
    // Whoever nobody sees end would stay in the table.
    if config.exits_seen != 0 && GPU_TASKS.insert(tgid, rdev, BPF_ANY as u64).is_err() {
        count(Counter::GpuTasksFull);
    }
    if starts.insert(pid_tgid, start, BPF_ANY as u64).is_err() {
        count(Counter::CallsInFlightFull);
    }
}

/// The call under way has ended. `ret` is asked for what ioctl(2) returns.
#[inline(always)]
pub fn end(starts: &Starts, ret: impl FnOnce() -> Option<i64>) {
    let pid_tgid = bpf_get_current_pid_tgid();
    let Some(place) = starts.get_ptr_mut(pid_tgid) else {
        return;
    };
    // SAFETY: only this thread and its own end use its key; the map is preallocated.
    let start = unsafe { *place };
    if start.boottime_ns == 0 {
        return;
    }
    // SAFETY: takes no argument, cannot fail.
    let now = unsafe { bpf_ktime_get_boot_ns() };
    let Some(config) = crate::device::config() else {
        return;
    };
    if config.exits_seen != 0 {
        // SAFETY: as above.
        unsafe { (*place).boottime_ns = 0 };
    } else {
        let _ = starts.remove(pid_tgid);
    }
    let Some(ret) = ret() else {
        count(Counter::FieldReadFailed);
        return;
    };
    finish(config, &start, now, ret);
}

/// Counts the call that began with `start`, and reports it if it is to be.
#[inline(always)]
fn finish(config: &Config, start: &CallStart, now: u64, ret: i64) {
    let pid_tgid = bpf_get_current_pid_tgid();
    let latency_ns = now.saturating_sub(start.boottime_ns);
    // A call that ioctl(2) itself refused has written no status.
    let status = if ret < 0 || start.status_at == 0 {
        NO_STATUS
    } else {
        read_user(start.status_at).unwrap_or(NO_STATUS)
    };
    let failed = status != 0 && status <= LAST_FAILURE;
    let tgid = (pid_tgid >> 32) as u32;
    let mut key = CallKey {
        tgid,
        cmd: start.cmd,
        rdev: start.rdev,
        code: start.code,
    };
    if let Some(hist) = hist_of(&mut key) {
        add(hist, latency_ns, ret < 0, failed);
    }
    if failed {
        count_failure(FailureKey { call: key, status });
    }
    let slow = config.slow_call_ns != 0 && latency_ns >= config.slow_call_ns;
    let refused = ret < 0 && refusal_reported(config, -ret as u64);
    let reported = refused || failed && reported(config, status);
    if !(slow || reported || config.trace_tgid == tgid) {
        return;
    }
    let mut handles = start.handles;
    if start.handle_before != 0 && status == 0 {
        handles[1] = read_user(start.status_at - start.handle_before as u64).unwrap_or(0);
    }
    let record = CallRecord {
        header: header(RecordType::Call),
        latency_ns,
        ret,
        cmd: start.cmd,
        rdev: start.rdev,
        code: start.code,
        status,
        handles,
        comm: bpf_get_current_comm().unwrap_or_default(),
    };
    if !send_record(&CALLS, &record) {
        count(Counter::CallRingFull);
    }
}

/// A system call on a device file begins that is no ioctl: [`CMD_OPEN`](gtrace_abi::CMD_OPEN) and its like.
#[inline(always)]
pub fn begin_on_file(cmd: u32, rdev: u32, file: u64) {
    let pid_tgid = bpf_get_current_pid_tgid();
    let Some(config) = crate::device::config() else {
        return;
    };
    if config.trace_tgid != 0 && config.trace_tgid != (pid_tgid >> 32) as u32 {
        return;
    }
    let start = CallStart {
        // SAFETY: takes no argument, cannot fail.
        boottime_ns: unsafe { bpf_ktime_get_boot_ns() },
        status_at: 0,
        cmd,
        rdev,
        code: 0,
        handles: [0; 2],
        handle_before: 0,
        file,
        closed: 0,
    };
    if FILE_STARTS.insert(pid_tgid, start, BPF_ANY as u64).is_err() {
        count(Counter::CallsInFlightFull);
    }
}

/// It has ended, with `ret`; how it began. Its place is not kept: closing is often the last thing that a thread does,
/// after the kernel has said that it ends.
#[inline(always)]
pub fn end_on_file(ret: i64) -> Option<CallStart> {
    let pid_tgid = bpf_get_current_pid_tgid();
    // SAFETY: only this thread uses its key; the map is preallocated.
    let start = unsafe { *FILE_STARTS.get_ptr(pid_tgid)? };
    let _ = FILE_STARTS.remove(pid_tgid);
    // SAFETY: takes no argument, cannot fail.
    let now = unsafe { bpf_ktime_get_boot_ns() };
    finish(crate::device::config()?, &start, now, ret);
    Some(start)
}

/// Whether failures of this kind are reported one by one.
#[inline(always)]
fn reported(config: &Config, status: u32) -> bool {
    const WORDS: u64 = STATUS_BITS as u64 / 64;
    if status as usize >= STATUS_BITS {
        return false;
    }
    // The compiler must not see that the index is in range: it would leave the mask out, and the
    // verifier of 6.1 does not see it.
    let word = unseen(status as u64 / 64) & (WORDS - 1);
    config.report_status[word as usize] >> (status % 64) & 1 != 0
}

/// Whether calls that ioctl(2) itself refuses with `errno` are reported one by one.
#[inline(always)]
fn refusal_reported(config: &Config, errno: u64) -> bool {
    if errno >= 128 {
        return false;
    }
    config.report_errno[(unseen(errno / 64) & 1) as usize] >> (errno % 64) & 1 != 0
}

/// The same value, of which the compiler knows nothing.
#[inline(always)]
fn unseen(value: u64) -> u64 {
    #[cfg(target_arch = "bpf")]
    // SAFETY: copies a register onto itself.
    unsafe {
        let mut value = value;
        core::arch::asm!("{0} = {0}", inout(reg) value);
        value
    }
    #[cfg(not(target_arch = "bpf"))]
    value
}

/// The histogram of `key`, made if it is not there; `key` becomes the one that it was found under.
#[inline(always)]
fn hist_of(key: &mut CallKey) -> Option<*mut CallHist> {
    if let Some(hist) = HISTS.get_ptr_mut(*key) {
        return Some(hist);
    }
    let empty = EMPTY_HIST.get(0)?;
    let taken = TASK_KEYS.get_ptr_mut(key.tgid);
    // SAFETY: a plain word.
    if taken.is_some_and(|taken| unsafe { *taken } >= CallKey::PER_TASK) {
        *key = CallKey::rest_of(key.tgid);
    }
    // Two threads may race to insert; either way the key is there afterwards, or the map is full.
    if HISTS.insert(*key, empty, BPF_NOEXIST as u64).is_ok() {
        match taken {
            // SAFETY: as above; a lost update lets a process have a key more.
            Some(taken) => unsafe { *taken += 1 },
            None => {
                let _ = TASK_KEYS.insert(key.tgid, 1, BPF_ANY as u64);
            }
        }
    }
    if let Some(hist) = HISTS.get_ptr_mut(*key) {
        return Some(hist);
    }
    count(Counter::HistKeysShared);
    *key = key.of_others();
    let _ = HISTS_OTHERS.insert(*key, empty, BPF_NOEXIST as u64);
    if let Some(hist) = HISTS_OTHERS.get_ptr_mut(*key) {
        return Some(hist);
    }
    count(Counter::HistKeysFull);
    *key = CallKey::OVERFLOW;
    HISTS.get_ptr_mut(*key)
}

#[inline(always)]
fn add(hist: *mut CallHist, latency_ns: u64, error: bool, failed: bool) {
    // SAFETY: `hist` is a preallocated map value, which stays mapped; fields are only pointed at.
    unsafe {
        atomic::add(&raw mut (*hist).sum_ns, latency_ns);
        if error {
            atomic::add(&raw mut (*hist).errors, 1);
        }
        if failed {
            atomic::add(&raw mut (*hist).failures, 1);
        }
        let bucket = bucket_at(latency_ns) as usize;
        if bucket < BUCKETS {
            atomic::add((&raw mut (*hist).buckets).cast::<u64>().add(bucket), 1);
        }
        atomic::max(&raw mut (*hist).max_ns, latency_ns);
    }
}

/// [`bucket_of`] as a global function: the verifier takes it by itself, once, where else it would follow the sixty ways
/// through it to the end of each program.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn bucket_at(latency_ns: u64) -> u32 {
    bucket_of(latency_ns) as u32
}

#[inline(always)]
fn count_failure(key: FailureKey) {
    if FAILURES.get_ptr_mut(key).is_none() {
        let _ = FAILURES.insert(key, 0, BPF_NOEXIST as u64);
    }
    match FAILURES.get_ptr_mut(key) {
        Some(failures) => atomic::add(failures, 1),
        None => count(Counter::FailureKeysFull),
    }
}
