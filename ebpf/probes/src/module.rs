//! module:module_load and module:module_free: the driver comes and goes.

use aya_ebpf::EbpfContext as _;
use aya_ebpf::helpers::generated::bpf_probe_read_kernel_str;
use aya_ebpf::macros::tracepoint;
use aya_ebpf::programs::TracePointContext;
use gtrace_abi::{Counter, ModuleChange, ModuleRecord, RecordType};

use crate::maps::{EVENTS, OFFSETS, count};
use crate::ring::{header, send_record};

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
    // SAFETY: reads the tracepoint's record at offsets from its format file, into `name`.
    let ret = unsafe {
        let Ok(data_loc) = ctx.read_at::<u32>(name_offset as usize) else {
            count(Counter::FieldReadFailed);
            return 0;
        };
        bpf_probe_read_kernel_str(
            record.name.as_mut_ptr().cast(),
            record.name.len() as u32,
            ctx.as_ptr().add((data_loc & 0xffff) as usize),
        )
    };
    if ret < 0 {
        count(Counter::FieldReadFailed);
        return 0;
    }
    if !send_record(&EVENTS, &record) {
        count(Counter::EventRingFull);
    }
    0
}
