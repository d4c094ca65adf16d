//! The NVIDIA driver's own functions, by kprobe: which process has a device open, every ioctl, open(2), mmap(2) and
//! the last close(2) of a device file.
//!
//! `*_unlocked_ioctl(struct file *, unsigned int, unsigned long)` and `*_open(struct inode *, struct
//! file *)` are those of `struct file_operations`; their names differ between driver generations,
//! so user space says what to attach to.

use aya_ebpf::bindings::BPF_ANY;
use aya_ebpf::helpers::bpf_get_current_pid_tgid;
use aya_ebpf::macros::{kprobe, kretprobe};
use aya_ebpf::programs::{ProbeContext, RetProbeContext};
use gtrace_abi::{CMD_CLOSE, CMD_MMAP, CMD_OPEN, CallStart, Counter, OpenFile};

use crate::atomic;
use crate::call::{self, Device};
use crate::device::{config, read};
use crate::maps::{DRIVER_STARTS, FILES_CLOSED, GPU_TASKS, OFFSETS, OPENS, count};

#[kprobe]
pub fn driver_ioctl(ctx: ProbeContext) -> u32 {
    let Some(config) = config() else { return 0 };
    let (Some(file), Some(cmd), Some(arg)) = (ctx.arg(0), ctx.arg(1), ctx.arg(2)) else {
        count(Counter::FieldReadFailed);
        return 0;
    };
    call::begin(&DRIVER_STARTS, config, cmd, arg, |before| {
        device_of(file, before)
    });
    0
}

/// The device behind a `struct file`. A thread mostly goes on with the file of its call before: then
/// the device is known, unless a file was closed since and another may be at its address.
#[inline(always)]
fn device_of(file: u64, before: Option<&CallStart>) -> Option<Device> {
    let closed = *FILES_CLOSED.get(0)?;
    if let Some(before) = before
        && closed != 0
        && before.file == file
        && before.closed == closed
    {
        return Some(Device {
            rdev: before.rdev,
            file,
            closed,
        });
    }
    let offsets = OFFSETS.load();
    let inode: u64 = read(file, offsets.file_inode)?;
    let rdev = read(inode, offsets.inode_rdev)?;
    Some(Device { rdev, file, closed })
}

#[kretprobe]
pub fn driver_ioctl_return(ctx: RetProbeContext) -> u32 {
    call::end(&DRIVER_STARTS, || Some(ctx.ret()));
    0
}

#[kprobe]
pub fn driver_open(ctx: ProbeContext) -> u32 {
    begin_with_inode(&ctx, CMD_OPEN);
    0
}

#[kretprobe]
pub fn driver_open_return(ctx: RetProbeContext) -> u32 {
    let ret = ctx.ret::<i32>();
    let Some(start) = call::end_on_file(ret.into()) else {
        return 0;
    };
    if ret != 0 {
        return 0;
    }
    let tgid = (bpf_get_current_pid_tgid() >> 32) as u32;
    let exits_seen = config().is_some_and(|config| config.exits_seen != 0);
    if exits_seen && GPU_TASKS.insert(tgid, start.rdev, BPF_ANY as u64).is_err() {
        count(Counter::GpuTasksFull);
    }
    let open = OpenFile {
        file: start.file,
        tgid,
        rdev: start.rdev,
    };
    if OPENS.insert(open.file, open, BPF_ANY as u64).is_err() {
        count(Counter::OpenFilesFull);
    }
    0
}

#[kprobe]
pub fn driver_close(ctx: ProbeContext) -> u32 {
    if let Some(closed) = FILES_CLOSED.get_ptr_mut(0) {
        // SAFETY: an array's value stays mapped.
        if unsafe { *closed } != 0 {
            atomic::add(closed, 1);
        }
    }
    if let Some(file) = ctx.arg::<u64>(1) {
        // Opened before the probe was there, then it is not in the table.
        let _ = OPENS.remove(file);
    }
    begin_with_inode(&ctx, CMD_CLOSE);
    0
}

#[kretprobe]
pub fn driver_close_return(ctx: RetProbeContext) -> u32 {
    call::end_on_file(ctx.ret::<i32>().into());
    0
}

/// `*_mmap(struct file *, struct vm_area_struct *)`.
#[kprobe]
pub fn driver_mmap(ctx: ProbeContext) -> u32 {
    let Some(file) = ctx.arg::<u64>(0) else {
        count(Counter::FieldReadFailed);
        return 0;
    };
    match device_of(file, None) {
        Some(device) => call::begin_on_file(CMD_MMAP, device.rdev, file),
        None => count(Counter::DeviceReadFailed),
    }
    0
}

#[kretprobe]
pub fn driver_mmap_return(ctx: RetProbeContext) -> u32 {
    call::end_on_file(ctx.ret::<i32>().into());
    0
}

/// A function that takes inode and file is called.
#[inline(always)]
fn begin_with_inode(ctx: &ProbeContext, cmd: u32) {
    let (Some(inode), Some(file)) = (ctx.arg::<u64>(0), ctx.arg::<u64>(1)) else {
        count(Counter::FieldReadFailed);
        return;
    };
    match read(inode, OFFSETS.load().inode_rdev) {
        Some(rdev) => call::begin_on_file(cmd, rdev, file),
        None => count(Counter::DeviceReadFailed),
    }
}
