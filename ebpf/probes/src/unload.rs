//! syscalls:sys_enter_delete_module and sched:sched_process_exec: somebody is about to unload a
//! module. Whatever of gtrace holds the driver then lets go of it.
//!
//! rmmod reads how often a module is in use before it asks the kernel to unload it, so its start is
//! looked for too: at the system call it would be too late for the first attempt. Both are looked for before the kernel says whether
//! it is permitted, so that who is not root is left out: any user could keep gtrace off the driver.

use aya_ebpf::helpers::generated::bpf_probe_read_user_str;
use aya_ebpf::helpers::{bpf_get_current_comm, bpf_get_current_uid_gid};
use aya_ebpf::macros::tracepoint;
use aya_ebpf::programs::TracePointContext;
use gtrace_abi::{Counter, ModuleChange, ModuleRecord, RecordType};

use crate::maps::{OFFSETS, count};
use crate::ring::{header, send_event};

/// Programs that load and unload modules, by the first eight bytes of their names.
const TOOLS: [u64; 5] = [
    u64::from_le_bytes(*b"rmmod\0\0\0"),
    u64::from_le_bytes(*b"modprobe"),
    u64::from_le_bytes(*b"kmod\0\0\0\0"),
    // nvidia-installer, nvidia-uninstall.
    u64::from_le_bytes(*b"nvidia-i"),
    u64::from_le_bytes(*b"nvidia-u"),
];

#[tracepoint]
pub fn module_tool(_ctx: TracePointContext) -> u32 {
    let Ok(comm) = bpf_get_current_comm() else {
        return 0;
    };
    let [a, b, c, d, e, f, g, h, ..] = comm;
    let name = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
    if !TOOLS.contains(&name) || !is_root() {
        return 0;
    }
    let mut record = record(ModuleChange::Tool);
    record.name[..16].copy_from_slice(&comm);
    send_event(&record);
    0
}

#[tracepoint]
pub fn module_delete(ctx: TracePointContext) -> u32 {
    if !is_root() {
        return 0;
    }
    let mut record = record(ModuleChange::Delete);
    // SAFETY: reads the system call's first argument, at its offset from the format file, and the
    // caller's string there into `name`.
    let ret = unsafe {
        match ctx.read_at::<u64>(OFFSETS.load().delete_module_name as usize) {
            Ok(name) => bpf_probe_read_user_str(
                record.name.as_mut_ptr().cast(),
                record.name.len() as u32,
                name as *const _,
            ),
            Err(_) => -1,
        }
    };
    if ret < 0 {
        count(Counter::FieldReadFailed);
        return 0;
    }
    send_event(&record);
    0
}

/// Whether the process is of user 0, as the host numbers users: root of a user namespace is another one.
#[inline(always)]
fn is_root() -> bool {
    bpf_get_current_uid_gid() as u32 == 0
}

#[inline(always)]
fn record(change: ModuleChange) -> ModuleRecord {
    ModuleRecord {
        header: header(RecordType::Module),
        change: change as u32,
        reserved: 0,
        name: [0; 64],
    }
}
