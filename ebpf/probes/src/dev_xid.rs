//! nvidia:nvidia_dev_xid, which the driver has had since 575.51.02. Only on request: while a
//! program is attached to a module's own tracepoint, the kernel refuses to unload the module.

use aya_ebpf::EbpfContext as _;
use aya_ebpf::helpers::bpf_get_current_comm;
use aya_ebpf::helpers::generated::bpf_probe_read_kernel_str;
use aya_ebpf::macros::tracepoint;
use aya_ebpf::programs::TracePointContext;
use gtrace_abi::{Counter, RecordType};

use crate::device::config;
use crate::maps::{EVENTS, XID_SCRATCH, count};
use crate::ring::{header, send_record};

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
    let read = text(&ctx, config.dev_xid_dev, &mut record.device)
        && text(&ctx, config.dev_xid_msg, &mut record.text);
    if !read {
        count(Counter::FieldReadFailed);
        return 0;
    }
    if !send_record(&EVENTS, record) {
        count(Counter::EventRingFull);
    }
    0
}

/// Copies the `__data_loc` string at `offset`.
#[inline(always)]
fn text<const N: usize>(ctx: &TracePointContext, offset: u32, into: &mut [u8; N]) -> bool {
    // SAFETY: reads the tracepoint's record at an offset from its format file.
    unsafe {
        let Ok(data_loc) = ctx.read_at::<u32>(offset as usize) else {
            return false;
        };
        let from = ctx.as_ptr().add((data_loc & 0xffff) as usize);
        bpf_probe_read_kernel_str(into.as_mut_ptr().cast(), N as u32, from) >= 0
    }
}
