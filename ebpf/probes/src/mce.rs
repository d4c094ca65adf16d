//! mce:mce_record: machine checks of x86, those that the kernel does not print too.

use aya_ebpf::macros::tracepoint;
use aya_ebpf::programs::TracePointContext;
use gtrace_abi::{Counter, MachineCheckRecord, RecordType};

use crate::maps::{RAS_OFFSETS, count};
use crate::ring::{header, send_event};

#[tracepoint]
pub fn mce_record(ctx: TracePointContext) -> u32 {
    if report(&ctx).is_err() {
        count(Counter::FieldReadFailed);
    }
    0
}

#[inline(always)]
fn report(ctx: &TracePointContext) -> Result<(), i32> {
    let offsets = RAS_OFFSETS.load();
    let mut record = MachineCheckRecord {
        header: header(RecordType::MachineCheck),
        status: 0,
        address: 0,
        ipid: 0,
        cpu: 0,
        bank: 0,
        vendor: 0,
        reserved: 0,
    };
    // SAFETY: reads the tracepoint's record at offsets from its format file.
    unsafe {
        record.status = ctx.read_at::<u64>(offsets.mce_status as usize)?;
        record.address = ctx.read_at::<u64>(offsets.mce_addr as usize)?;
        // The CPU that it happened on; this program may run on another.
        record.cpu = ctx.read_at::<u32>(offsets.mce_cpu as usize)?;
        record.bank = ctx.read_at::<u8>(offsets.mce_bank as usize)? as u32;
        record.vendor = ctx.read_at::<u8>(offsets.mce_vendor as usize)? as u32;
        if offsets.mce_ipid != 0 {
            record.ipid = ctx.read_at::<u64>(offsets.mce_ipid as usize)?;
        }
    }
    send_event(&record);
    Ok(())
}
