//! ras:mc_event: errors of the host's memory modules, as an EDAC driver reports them.

use aya_ebpf::macros::tracepoint;
use aya_ebpf::programs::TracePointContext;
use gtrace_abi::{Counter, MemoryRecord, RecordType};

use crate::maps::{RAS_OFFSETS, count};
use crate::ring::{header, read_text, send_event};

#[tracepoint]
pub fn mc_event(ctx: TracePointContext) -> u32 {
    if report(&ctx).is_err() {
        count(Counter::FieldReadFailed);
    }
    0
}

#[inline(always)]
fn report(ctx: &TracePointContext) -> Result<(), i32> {
    let offsets = RAS_OFFSETS.load();
    let mut record = MemoryRecord {
        header: header(RecordType::Memory),
        error_type: 0,
        error_count: 0,
        controller: 0,
        reserved: 0,
        address: 0,
        syndrome: 0,
        error: [0; 64],
        label: [0; 128],
    };
    // SAFETY: reads the tracepoint's record at offsets from its format file.
    unsafe {
        record.error_type = ctx.read_at::<u32>(offsets.mc_error_type as usize)?;
        record.error_count = ctx.read_at::<u16>(offsets.mc_error_count as usize)? as u32;
        record.controller = ctx.read_at::<u8>(offsets.mc_index as usize)? as u32;
        record.address = ctx.read_at::<u64>(offsets.mc_address as usize)?;
        record.syndrome = ctx.read_at::<u64>(offsets.mc_syndrome as usize)?;
        read_text(ctx, offsets.mc_msg, &mut record.error)?;
        read_text(ctx, offsets.mc_label, &mut record.label)?;
    }
    send_event(&record);
    Ok(())
}
