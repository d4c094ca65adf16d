//! ras:aer_event: PCIe Advanced Error Reporting.

use aya_ebpf::macros::tracepoint;
use aya_ebpf::programs::TracePointContext;
use gtrace_abi::{AerRecord, Counter, RecordType};

use crate::maps::{OFFSETS, count};
use crate::ring::{header, read_text, send_event};

#[tracepoint]
pub fn aer_event(ctx: TracePointContext) -> u32 {
    if report(&ctx).is_err() {
        count(Counter::FieldReadFailed);
    }
    0
}

#[inline(always)]
fn report(ctx: &TracePointContext) -> Result<(), i32> {
    let offsets = OFFSETS.load();
    let mut record = AerRecord {
        header: header(RecordType::Aer),
        status: 0,
        severity: 0,
        tlp_header_valid: 0,
        reserved: 0,
        tlp_header: [0; 4],
        dev_name: [0; 32],
    };
    // SAFETY: reads the tracepoint's record at offsets from its format file.
    unsafe {
        record.status = ctx.read_at::<u32>(offsets.aer_status as usize)?;
        record.severity = ctx.read_at::<u8>(offsets.aer_severity as usize)? as u32;
        record.tlp_header_valid = ctx.read_at::<u8>(offsets.aer_tlp_header_valid as usize)? as u32;
        if record.tlp_header_valid != 0 {
            record.tlp_header = ctx.read_at::<[u32; 4]>(offsets.aer_tlp_header as usize)?;
        }
        read_text(ctx, offsets.aer_dev_name, &mut record.dev_name)?;
    }
    send_event(&record);
    Ok(())
}
