//! nvidia:nvidia_dev_xid, which the driver has had since 575.51.02. Only on request: while a
//! program is attached to a module's own tracepoint, the kernel refuses to unload the module.

use aya_ebpf::helpers::bpf_get_current_comm;
use aya_ebpf::macros::tracepoint;
use aya_ebpf::programs::TracePointContext;
use gtrace_abi::{Counter, RecordType};

use crate::device::config;
use crate::maps::{XID_SCRATCH, count};
use crate::ring::{header, read_text, send_event};

#[tracepoint]
pub fn dev_xid(ctx: TracePointContext) -> u32 {
    let Some(config) = config() else { return 0 };
    if config.dev_xid_code == 0 {
        return 0;
    }
    let Some(record) = XID_SCRATCH.get_ptr_mut(0) else {
        return 0;
    };
    // SAFETY: a per-CPU slot; the program is not preempted while it runs.
    let record = unsafe { &mut *record };
    record.header = header(RecordType::Xid);
    record.tracepoint = 1;
    record.comm = bpf_get_current_comm().unwrap_or_default();
    // SAFETY: the helper checks the address and fails on a bad one.
    let Ok(code) = (unsafe { ctx.read_at::<u32>(config.dev_xid_code as usize) }) else {
        count(Counter::FieldReadFailed);
        return 0;
    };
    record.code = code;
    // SAFETY: reads the tracepoint's record at offsets from its format file.
    let read = unsafe {
        read_text(&ctx, config.dev_xid_dev, &mut record.device).is_ok()
            && read_text(&ctx, config.dev_xid_msg, &mut record.text).is_ok()
    };
    if !read {
        count(Counter::FieldReadFailed);
        return 0;
    }
    send_event(record);
    0
}
