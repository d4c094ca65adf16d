//! syscalls:sys_enter_ioctl and sys_exit_ioctl: driver calls, where the driver itself cannot be
//! probed. Only calls on watched devices are timed.

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

#[tracepoint]
pub fn ioctl_enter(ctx: TracePointContext) -> u32 {
    let offsets = OFFSETS.load();
    let Some(config) = config() else { return 0 };
    if config.devices[0].major == 0 {
        return 0;
    }
    // SAFETY: reads the tracepoint's record at offsets from its format file.
    let (fd, cmd) = unsafe {
        let fd = ctx.read_at::<u32>(offsets.ioctl_fd as usize);
        let cmd = ctx.read_at::<u32>(offsets.ioctl_cmd as usize);
        let (Ok(fd), Ok(cmd)) = (fd, cmd) else {
            count(Counter::FieldReadFailed);
            return 0;
        };
        (fd, cmd)
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
    let pid_tgid = bpf_get_current_pid_tgid();
    let tgid = (pid_tgid >> 32) as u32;
    if GPU_TASKS.get_ptr(tgid).is_none() && GPU_TASKS.insert(tgid, rdev, BPF_ANY as u64).is_err() {
        count(Counter::GpuTasksFull);
    }
    // SAFETY: takes no argument, cannot fail.
    let start = Start {
        boottime_ns: unsafe { bpf_ktime_get_boot_ns() },
        cmd,
        rdev,
    };
    if STARTS.insert(pid_tgid, start, BPF_ANY as u64).is_err() {
        count(Counter::CallsInFlightFull);
    }
    0
}

#[tracepoint]
pub fn ioctl_exit(ctx: TracePointContext) -> u32 {
    let pid_tgid = bpf_get_current_pid_tgid();
    let Some(start) = STARTS.get_ptr(pid_tgid) else {
        return 0;
    };
    // SAFETY: only this thread inserts and removes its key.
    let start = unsafe { *start };
    // SAFETY: takes no argument, cannot fail.
    let now = unsafe { bpf_ktime_get_boot_ns() };
    let _ = STARTS.remove(pid_tgid);
    // SAFETY: reads the tracepoint's record at an offset from its format file.
    let ret = match unsafe { ctx.read_at::<i64>(OFFSETS.load().ioctl_ret as usize) } {
        Ok(ret) => ret,
        Err(_) => {
            count(Counter::FieldReadFailed);
            0
        }
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
    let Some(config) = config() else { return 0 };
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
