//! printk:console: every kernel log record, or piece of one, as it is logged.

use aya_ebpf::EbpfContext as _;
use aya_ebpf::helpers::generated::bpf_probe_read_kernel;
use aya_ebpf::macros::tracepoint;
use aya_ebpf::programs::TracePointContext;
use gtrace_abi::{Counter, LOG_TEXT_MAX, RecordType};

use crate::maps::{EVENTS, OFFSETS, SCRATCH, count};
use crate::ring::{header, send};

#[tracepoint]
pub fn printk_console(ctx: TracePointContext) -> u32 {
    let offsets = OFFSETS.load();
    // SAFETY: reads the tracepoint's record at an offset from its format file.
    let Ok(data_loc) = (unsafe { ctx.read_at::<u32>(offsets.printk_msg as usize) }) else {
        count(Counter::LogReadFailed);
        return 0;
    };
    let Some(record) = SCRATCH.get_ptr_mut(0) else {
        return 0;
    };
    // SAFETY: a per-CPU slot; tracepoint programs do not nest on a CPU.
    let record = unsafe { &mut *record };
    // The length counts the final NUL.
    let full = (data_loc >> 16).saturating_sub(1);
    let mut len = full;
    if len > LOG_TEXT_MAX as u32 {
        len = LOG_TEXT_MAX as u32;
        count(Counter::LogCut);
    }
    record.header = header(RecordType::Log);
    record.len = len;
    record.cut = (full > len) as u32;
    // SAFETY: `len` is at most the size of `text`; the source is inside the tracepoint's record.
    let ret = unsafe {
        bpf_probe_read_kernel(
            record.text.as_mut_ptr().cast(),
            len,
            ctx.as_ptr().add((data_loc & 0xffff) as usize),
        )
    };
    if ret != 0 {
        count(Counter::LogReadFailed);
        return 0;
    }
    crate::probe_debug!(&ctx, "printk: {} bytes", len);
    let size = (size_of_val(record) - LOG_TEXT_MAX) as u64 + len as u64;
    if !send(&EVENTS, core::ptr::from_ref(record).cast(), size) {
        count(Counter::LogRingFull);
    }
    0
}
