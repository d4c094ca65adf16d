//! oom:mark_victim: the process that the kernel chose to kill for lack of memory.

use aya_ebpf::macros::tracepoint;
use aya_ebpf::programs::TracePointContext;
use gtrace_abi::{Counter, OomRecord, RecordType};

use crate::maps::{OFFSETS, count};
use crate::ring::{header, send_event};

#[tracepoint]
pub fn oom_victim(ctx: TracePointContext) -> u32 {
    // SAFETY: reads the tracepoint's record at an offset from its format file.
    let Ok(victim) = (unsafe { ctx.read_at::<u32>(OFFSETS.load().oom_pid as usize) }) else {
        count(Counter::FieldReadFailed);
        return 0;
    };
    let record = OomRecord {
        header: header(RecordType::Oom),
        victim,
        reserved: 0,
    };
    send_event(&record);
    0
}
