//! syscalls:sys_enter_ioctl and sys_exit_ioctl: driver calls, where the driver itself cannot be
//! probed. Only calls on watched devices are timed.

use aya_ebpf::EbpfContext as _;
use aya_ebpf::bindings::{BPF_ANY, BPF_NOEXIST};
use aya_ebpf::helpers::generated::bpf_ktime_get_boot_ns;
use aya_ebpf::helpers::{bpf_get_current_comm, bpf_get_current_pid_tgid};
use aya_ebpf::macros::tracepoint;
use aya_ebpf::programs::TracePointContext;
use gtrace_abi::{BUCKETS, CallHist, CallKey, CallRecord, Counter, RecordType, bucket_of};

use crate::atomic;
use crate::device::{config, fd_table, read, watched_rdev};
use crate::maps::{CALLS, EMPTY_HIST, GPU_TASKS, HISTS, OFFSETS, STARTS, Start, count};
use crate::ring::{header, send_record};

/// Where the arguments stand in the records of all syscall tracepoints, on every 64-bit kernel so
/// far: as constants they are loaded directly, which the verifier allows for no other offset.
const FIRST_ARGUMENT: u32 = 16;
const SECOND_ARGUMENT: u32 = 24;

/// A field of the tracepoint's record, `AT` being where it usually is.
#[inline(always)]
fn field<T: Copy, const AT: u32>(ctx: &TracePointContext, offset: u32) -> Option<T> {
    if offset == AT {
        // SAFETY: the record is at least as long as the format file said, which `offset` is from.
        return Some(unsafe {
            ctx.as_ptr()
                .cast::<u8>()
                .add(AT as usize)
                .cast::<T>()
                .read_volatile()
        });
    }
    // SAFETY: the helper checks the address and fails on a bad one.
    unsafe { ctx.read_at(offset as usize) }.ok()
}

#[tracepoint]
pub fn ioctl_enter(ctx: TracePointContext) -> u32 {
    let offsets = OFFSETS.load();
    let Some(config) = config() else { return 0 };
    if config.devices[0].major == 0 {
        return 0;
    }
    let Some(fd) = field::<u32, FIRST_ARGUMENT>(&ctx, offsets.ioctl_fd) else {
        count(Counter::FieldReadFailed);
        return 0;
    };
    let Some(table) = fd_table() else { return 0 };
    if fd >= table.max_fds {
        return 0;
    }
    let file: u64 = match read(table.files + 8 * fd as u64, 0) {
        Some(0) => return 0,
        Some(file) => file,
        None => {
            count(Counter::DeviceReadFailed);
            return 0;
        }
    };
    let Some(rdev) = watched_rdev(config, file) else {
        count(Counter::DeviceReadFailed);
        return 0;
    };
    if rdev == 0 {
        return 0;
    }
    let Some(cmd) = field::<u32, SECOND_ARGUMENT>(&ctx, offsets.ioctl_cmd) else {
        count(Counter::FieldReadFailed);
        return 0;
    };
    let pid_tgid = bpf_get_current_pid_tgid();
    // SAFETY: takes no argument, cannot fail.
    let start = Start {
        boottime_ns: unsafe { bpf_ktime_get_boot_ns() },
        cmd,
        rdev,
    };
    if let Some(place) = STARTS.get_ptr_mut(pid_tgid) {
        // SAFETY: only this thread and its own end use its key; the map is preallocated.
        unsafe { *place = start };
        return 0;
    }
    // The first call of the thread.
    let tgid = (pid_tgid >> 32) as u32;
    if GPU_TASKS.insert(tgid, rdev, BPF_ANY as u64).is_err() {
        count(Counter::GpuTasksFull);
    }
    if STARTS.insert(pid_tgid, start, BPF_ANY as u64).is_err() {
        count(Counter::CallsInFlightFull);
    }
    0
}

#[tracepoint]
pub fn ioctl_exit(ctx: TracePointContext) -> u32 {
    let pid_tgid = bpf_get_current_pid_tgid();
    let Some(place) = STARTS.get_ptr_mut(pid_tgid) else {
        return 0;
    };
    // SAFETY: only this thread and its own end use its key; the map is preallocated.
    let start = unsafe { *place };
    if start.boottime_ns == 0 {
        return 0;
    }
    // SAFETY: takes no argument, cannot fail.
    let now = unsafe { bpf_ktime_get_boot_ns() };
    let Some(config) = config() else { return 0 };
    if config.exits_seen != 0 {
        // SAFETY: as above.
        unsafe { (*place).boottime_ns = 0 };
    } else {
        let _ = STARTS.remove(pid_tgid);
    }
    let Some(ret) = field::<i64, FIRST_ARGUMENT>(&ctx, OFFSETS.load().ioctl_ret) else {
        count(Counter::FieldReadFailed);
        return 0;
    };
    let latency_ns = now.saturating_sub(start.boottime_ns);
    let tgid = (pid_tgid >> 32) as u32;
    let key = CallKey {
        tgid,
        cmd: start.cmd,
        rdev: start.rdev,
    };
    if let Some(hist) = hist_of(key) {
        add(hist, latency_ns, ret < 0);
    }
    if config.slow_call_ns != 0 && latency_ns >= config.slow_call_ns {
        let record = CallRecord {
            header: header(RecordType::Call),
            latency_ns,
            ret,
            cmd: start.cmd,
            rdev: start.rdev,
            comm: bpf_get_current_comm().unwrap_or_default(),
        };
        if !send_record(&CALLS, &record) {
            count(Counter::CallRingFull);
        }
    }
    0
}

#[inline(always)]
fn hist_of(key: CallKey) -> Option<*mut CallHist> {
    if let Some(hist) = HISTS.get_ptr_mut(key) {
        return Some(hist);
    }
    let empty = EMPTY_HIST.get(0)?;
    // Two threads may race to insert; either way the key is there afterwards, or the map is full.
    let _ = HISTS.insert(key, empty, BPF_NOEXIST as u64);
    if let Some(hist) = HISTS.get_ptr_mut(key) {
        return Some(hist);
    }
    count(Counter::HistKeysFull);
    HISTS.get_ptr_mut(CallKey::OVERFLOW)
}

#[inline(always)]
fn add(hist: *mut CallHist, latency_ns: u64, failed: bool) {
    // SAFETY: `hist` is a preallocated map value, which stays mapped; fields are only pointed at.
    unsafe {
        atomic::add(&raw mut (*hist).count, 1);
        atomic::add(&raw mut (*hist).sum_ns, latency_ns);
        if failed {
            atomic::add(&raw mut (*hist).errors, 1);
        }
        let bucket = bucket_of(latency_ns);
        if bucket < BUCKETS {
            atomic::add((&raw mut (*hist).buckets).cast::<u64>().add(bucket), 1);
        }
        atomic::max(&raw mut (*hist).max_ns, latency_ns);
    }
}
