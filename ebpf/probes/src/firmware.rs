//! ras:arm_event and ras:non_standard_event: errors that the platform's firmware reports by APEI (GHES), and that no other
//! tracepoint is for.

use aya_ebpf::macros::tracepoint;
use aya_ebpf::programs::TracePointContext;
use gtrace_abi::{Counter, FirmwareErrorRecord, RecordType};

use crate::maps::{RAS_OFFSETS, count};
use crate::ring::{header, read_text, send_event};

fn empty() -> FirmwareErrorRecord {
    FirmwareErrorRecord {
        header: header(RecordType::FirmwareError),
        severity: FirmwareErrorRecord::UNKNOWN,
        is_arm: 0,
        cpu: FirmwareErrorRecord::UNKNOWN,
        reserved: 0,
        section: [0; 16],
        part: [0; 32],
    }
}

#[tracepoint]
pub fn arm_event(ctx: TracePointContext) -> u32 {
    let offsets = RAS_OFFSETS.load();
    let mut record = empty();
    record.is_arm = 1;
    // Linux before 6.17 has neither field.
    if offsets.arm_sev != 0 && offsets.arm_cpu != 0 {
        // SAFETY: reads the tracepoint's record at offsets from its format file.
        let read = unsafe {
            (
                ctx.read_at::<u8>(offsets.arm_sev as usize),
                ctx.read_at::<u32>(offsets.arm_cpu as usize),
            )
        };
        let (Ok(severity), Ok(cpu)) = read else {
            count(Counter::FieldReadFailed);
            return 0;
        };
        (record.severity, record.cpu) = (severity as u32, cpu);
    }
    send_event(&record);
    0
}

#[tracepoint]
pub fn non_standard_event(ctx: TracePointContext) -> u32 {
    let offsets = RAS_OFFSETS.load();
    let mut record = empty();
    // SAFETY: reads the tracepoint's record at offsets from its format file.
    let read = unsafe {
        let severity = ctx.read_at::<u8>(offsets.section_sev as usize);
        let section = ctx.read_at::<[u8; 16]>(offsets.section_type as usize);
        let part = read_text(&ctx, offsets.section_fru_text, &mut record.part);
        (severity, section, part)
    };
    let (Ok(severity), Ok(section), Ok(())) = read else {
        count(Counter::FieldReadFailed);
        return 0;
    };
    (record.severity, record.section) = (severity as u32, section);
    send_event(&record);
    0
}
