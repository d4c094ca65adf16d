//! module:module_load and module:module_free: the driver comes and goes.

use aya_ebpf::macros::tracepoint;
use aya_ebpf::programs::TracePointContext;
use gtrace_abi::{Counter, ModuleChange, ModuleRecord, RecordType};

use crate::maps::{OFFSETS, count};
use crate::ring::{header, read_text, send_event};

#[tracepoint]
pub fn module_load(ctx: TracePointContext) -> u32 {
    report(&ctx, OFFSETS.load().module_load_name, ModuleChange::Loaded)
}

#[tracepoint]
pub fn module_free(ctx: TracePointContext) -> u32 {
    report(&ctx, OFFSETS.load().module_free_name, ModuleChange::Freed)
}

#[inline(always)]
fn report(ctx: &TracePointContext, name_offset: u32, change: ModuleChange) -> u32 {
    let mut record = ModuleRecord {
        header: header(RecordType::Module),
        change: change as u32,
        reserved: 0,
        name: [0; 64],
    };
    // SAFETY: reads the tracepoint's record at an offset from its format file.
    if unsafe { read_text(ctx, name_offset, &mut record.name) }.is_err() {
        count(Counter::FieldReadFailed);
        return 0;
    }
    send_event(&record);
    0
}
