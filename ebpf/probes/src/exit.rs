//! sched:sched_process_exit: how processes that had a GPU device open ended.

use aya_ebpf::helpers::bpf_get_current_comm;
use aya_ebpf::helpers::bpf_get_current_pid_tgid;
use aya_ebpf::helpers::generated::bpf_get_current_cgroup_id;
use aya_ebpf::macros::tracepoint;
use aya_ebpf::programs::TracePointContext;
use gtrace_abi::{Counter, ExitRecord, RecordType};

use crate::device::{config, current_task, fd_table, read, watched_rdev};
use crate::maps::{DRIVER_STARTS, FILE_STARTS, GPU_TASKS, OFFSETS, STARTS, TASK_KEYS, count};
use crate::ring::{header, send_event};

/// How many words of the bitmap of open descriptors are looked at, for devices that were opened
/// and never called: descriptors 0 to 255.
const WORDS: u32 = 4;

#[tracepoint]
pub fn process_exit(_ctx: TracePointContext) -> u32 {
    let pid_tgid = bpf_get_current_pid_tgid();
    for starts in [&STARTS, &DRIVER_STARTS] {
        let Some(start) = starts.get_ptr(pid_tgid) else {
            continue;
        };
        // A call returns before its thread ends, so its return was not shown.
        // SAFETY: only this thread uses its key.
        if unsafe { (*start).boottime_ns } != 0 {
            count(Counter::ReturnMissed);
        }
        let _ = starts.remove(pid_tgid);
    }
    let _ = FILE_STARTS.remove(pid_tgid);
    let offsets = OFFSETS.load();
    if offsets.have_files == 0 {
        return 0;
    }
    let task = current_task();
    let Some(signal) = read::<u64>(task, offsets.task_signal) else {
        count(Counter::FieldReadFailed);
        return 0;
    };
    // do_exit() has counted the thread out before the tracepoint: 0 means it was the last one.
    match read::<i32>(signal, offsets.signal_live) {
        Some(0) => {}
        Some(_) => return 0,
        None => {
            count(Counter::FieldReadFailed);
            return 0;
        }
    }
    let tgid = (pid_tgid >> 32) as u32;
    let _ = TASK_KEYS.remove(tgid);
    let rdev = match GPU_TASKS.get_ptr(tgid) {
        Some(rdev) => {
            // SAFETY: a plain word, whichever of two writers came last.
            let rdev = unsafe { *rdev };
            let _ = GPU_TASKS.remove(tgid);
            rdev
        }
        None => match open_device() {
            Some(rdev) => rdev,
            None => return 0,
        },
    };
    let group_code: u32 = read(signal, offsets.signal_group_exit_code).unwrap_or(0);
    let own_code: u32 = read(task, offsets.task_exit_code).unwrap_or(0);
    let record = ExitRecord {
        header: header(RecordType::Exit),
        exit_code: if group_code != 0 {
            group_code
        } else {
            own_code
        },
        rdev,
        // SAFETY: takes no argument, cannot fail.
        cgroup_id: unsafe { bpf_get_current_cgroup_id() },
        comm: bpf_get_current_comm().unwrap_or_default(),
    };
    send_event(&record);
    0
}

/// A watched device among the open descriptors of the running task.
#[inline(always)]
fn open_device() -> Option<u32> {
    if config()?.devices[0].major == 0 {
        return None;
    }
    let table = fd_table()?;
    let open_fds: u64 = read(table.fdt, OFFSETS.load().fdt_open_fds)?;
    for word in 0..WORDS {
        if 64 * word >= table.max_fds {
            return None;
        }
        let bits: u64 = read(open_fds, 8 * word)?;
        if bits == 0 {
            continue;
        }
        let rdev = device_among(table.files + 8 * 64 * word as u64, bits);
        if rdev != 0 {
            return Some(rdev);
        }
    }
    if table.max_fds > 64 * WORDS {
        count(Counter::ExitFdsUnseen);
    }
    None
}

/// The device number behind one of 64 `struct file *`, from address `files` on, of which `bits` says which are there, if
/// one is watched; else 0.
///
/// This function and the next are global: the verifier takes each by itself, once, and knows nothing of what it returns, so
/// that its work does not grow with the ways through them.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn device_among(files: u64, bits: u64) -> u32 {
    // The loop counts by constants, not from one open descriptor to the next: so all ways through a step meet again in
    // one state.
    for bit in 0..64 {
        if bits & (1 << bit) == 0 {
            continue;
        }
        let rdev = device_at(files + 8 * bit);
        if rdev != 0 {
            return rdev;
        }
    }
    0
}

/// The device number behind the `struct file *` at address `slot`, if it is watched; else 0.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn device_at(slot: u64) -> u32 {
    let (Some(config), Some(file)) = (config(), read::<u64>(slot, 0)) else {
        return 0;
    };
    if file == 0 {
        return 0;
    }
    watched_rdev(config, file).unwrap_or(0)
}
