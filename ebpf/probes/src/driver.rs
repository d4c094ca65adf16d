//! The NVIDIA driver's own functions, by kprobe: which process has a device open, and every ioctl.
//!
//! `*_unlocked_ioctl(struct file *, unsigned int, unsigned long)` and `*_open(struct inode *, struct
//! file *)` are those of `struct file_operations`; their names differ between driver generations,
//! so user space says what to attach to.

use aya_ebpf::bindings::BPF_ANY;
use aya_ebpf::helpers::bpf_get_current_pid_tgid;
use aya_ebpf::macros::{kprobe, kretprobe};
use aya_ebpf::programs::{ProbeContext, RetProbeContext};
use gtrace_abi::{Counter, OpenFile};

use crate::call;
use crate::device::{config, read};
use crate::maps::{DRIVER_STARTS, GPU_TASKS, OFFSETS, OPENING, OPENS, count};

#[kprobe]
pub fn driver_ioctl(ctx: ProbeContext) -> u32 {
    let Some(config) = config() else { return 0 };
    let (Some(file), Some(cmd), Some(arg)) = (ctx.arg(0), ctx.arg(1), ctx.arg(2)) else {
        count(Counter::FieldReadFailed);
        return 0;
    };
    let Some(rdev) = rdev_of_file(file) else {
        count(Counter::DeviceReadFailed);
        return 0;
    };
    call::begin(&DRIVER_STARTS, config, rdev, cmd, arg);
    0
}

#[kretprobe]
pub fn driver_ioctl_return(ctx: RetProbeContext) -> u32 {
    call::end(&DRIVER_STARTS, || Some(ctx.ret()));
    0
}

#[inline(always)]
fn rdev_of_file(file: u64) -> Option<u32> {
    let offsets = OFFSETS.load();
    let inode: u64 = read(file, offsets.file_inode)?;
    read(inode, offsets.inode_rdev)
}

#[kprobe]
pub fn driver_open(ctx: ProbeContext) -> u32 {
    let (Some(inode), Some(file)) = (ctx.arg::<u64>(0), ctx.arg::<u64>(1)) else {
        count(Counter::FieldReadFailed);
        return 0;
    };
    let Some(rdev) = read(inode, OFFSETS.load().inode_rdev) else {
        count(Counter::DeviceReadFailed);
        return 0;
    };
    let pid_tgid = bpf_get_current_pid_tgid();
    let open = OpenFile {
        file,
        tgid: (pid_tgid >> 32) as u32,
        rdev,
    };
    if OPENING.insert(pid_tgid, open, BPF_ANY as u64).is_err() {
        count(Counter::OpenFilesFull);
    }
    0
}

#[kretprobe]
pub fn driver_open_return(ctx: RetProbeContext) -> u32 {
    let pid_tgid = bpf_get_current_pid_tgid();
    let Some(open) = OPENING.get_ptr(pid_tgid) else {
        return 0;
    };
    // SAFETY: only this thread uses its key; the map is preallocated.
    let open = unsafe { *open };
    let _ = OPENING.remove(pid_tgid);
    if ctx.ret::<i32>() != 0 {
        return 0;
    }
    let exits_seen = config().is_some_and(|config| config.exits_seen != 0);
    if exits_seen
        && GPU_TASKS
            .insert(open.tgid, open.rdev, BPF_ANY as u64)
            .is_err()
    {
        count(Counter::GpuTasksFull);
    }
    if OPENS.insert(open.file, open, BPF_ANY as u64).is_err() {
        count(Counter::OpenFilesFull);
    }
    0
}

#[kprobe]
pub fn driver_close(ctx: ProbeContext) -> u32 {
    if let Some(file) = ctx.arg::<u64>(1) {
        // Opened before the probe was there, then it is not in the table.
        let _ = OPENS.remove(file);
    }
    0
}
