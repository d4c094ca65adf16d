//! sched:sched_process_exit: how processes that had a GPU device open ended.

use aya_ebpf::helpers::bpf_get_current_comm;
use aya_ebpf::helpers::bpf_get_current_pid_tgid;
use aya_ebpf::macros::tracepoint;
use aya_ebpf::programs::TracePointContext;
use gtrace_abi::{Config, Counter, ExitRecord, RecordType};

use crate::device::{config, current_task, fd_table, rdev_of, read, watched};
use crate::maps::{EVENTS, GPU_TASKS, OFFSETS, STARTS, count};
use crate::ring::{header, send_record};

/// How many descriptors are looked at, for devices that were opened and never called.
const FDS_LOOKED_AT: u32 = 64;

#[tracepoint]
pub fn process_exit(_ctx: TracePointContext) -> u32 {
    let pid_tgid = bpf_get_current_pid_tgid();
    // A thread that died inside a call left its start behind.
    if STARTS.get_ptr(pid_tgid).is_some() {
        let _ = STARTS.remove(pid_tgid);
    }
    let offsets = OFFSETS.load();
    if offsets.have_files == 0 {
        return 0;
    }
    let Some(config) = config() else { return 0 };
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
    let rdev = match GPU_TASKS.get_ptr(tgid) {
        Some(rdev) => {
            // SAFETY: written once, when the key was inserted.
            let rdev = unsafe { *rdev };
            let _ = GPU_TASKS.remove(tgid);
            rdev
        }
        None => match open_device(config) {
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
        comm: bpf_get_current_comm().unwrap_or_default(),
    };
    if !send_record(&EVENTS, &record) {
        count(Counter::EventRingFull);
    }
    0
}

/// A watched device among the first descriptors of the running task.
#[inline(always)]
fn open_device(config: &Config) -> Option<u32> {
    if config.devices[0].major == 0 {
        return None;
    }
    let (fds, max_fds) = fd_table()?;
    if max_fds > FDS_LOOKED_AT {
        count(Counter::ExitFdsUnseen);
    }
    for fd in 0..FDS_LOOKED_AT {
        if fd >= max_fds {
            break;
        }
        let file: u64 = read(fds + 8 * fd as u64, 0)?;
        if file == 0 {
            continue;
        }
        if let Some(rdev) = rdev_of(file)
            && watched(config, rdev)
        {
            return Some(rdev);
        }
    }
    None
}
