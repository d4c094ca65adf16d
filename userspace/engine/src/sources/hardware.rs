//! Hardware errors of the host, from the records of the ras and mce tracepoints.

use gtrace_abi::{FirmwareErrorRecord, MachineCheckRecord, MemoryRecord};
use gtrace_decoder::cper;
use gtrace_event::{Kind, Occurrence, Severity};

use super::records::{occurrence, text_of};
use crate::input::SYNTHETIC;

/// HW_EVENT_ERR_CORRECTED and HW_EVENT_ERR_INFO (include/linux/edac.h); the others are uncorrected, deferred and fatal.
const CORRECTED: [u32; 2] = [0, 4];
/// GHES_SEV_NO and GHES_SEV_CORRECTED (drivers/acpi/apei/ghes.c); 2 is recoverable, 3 a panic.
const FIRMWARE_CORRECTED: u32 = 1;
const FIRMWARE_FATAL: u32 = 3;
/// Bits of a bank's status (Intel SDM 3B, chapter 16): address valid, uncorrected, processor context corrupt.
const STATUS_ADDRV: u64 = 1 << 58;
const STATUS_UC: u64 = 1 << 61;
const STATUS_PCC: u64 = 1 << 57;
/// A deferred error, of AMD's and Hygon's banks: nothing has used yet what could not be corrected.
const STATUS_DEFERRED: u64 = 1 << 44;
/// X86_VENDOR_INTEL, X86_VENDOR_AMD and X86_VENDOR_HYGON (arch/x86/include/asm/processor.h).
const INTEL: u32 = 0;
const AMD: [u32; 2] = [2, 9];
/// Kind of hardware of a unified memory controller in IPID (AMD PPR, MCA_IPID: HardwareID, McaType 0).
const AMD_UMC: u64 = 0x96;

fn hex(value: u64) -> Option<String> {
    (value != 0).then(|| format!("{value:#x}"))
}

fn at(address: Option<&String>) -> String {
    address.map(|at| format!(" at {at}")).unwrap_or_default()
}

fn severity(corrected: bool, fatal: bool) -> Severity {
    match (corrected, fatal) {
        (true, _) => Severity::Info,
        (false, true) => Severity::Fatal,
        (false, false) => Severity::Critical,
    }
}

/// ras:mc_event: the same words as in the line `EDAC MC0: 1 CE memory read error on …`.
pub(super) fn memory(record: &MemoryRecord) -> Occurrence {
    let corrected = CORRECTED.contains(&record.error_type);
    let (error, dimm) = (text_of(&record.error), text_of(&record.label));
    let error = match error.trim() {
        "" => "memory error".to_owned(),
        error => error.to_owned(),
    };
    let address = hex(record.address);
    let class = if corrected {
        "corrected"
    } else {
        "uncorrected"
    };
    let message = format!(
        "{SYNTHETIC}memory controller {}: {} {class}: {error} on {dimm}{}",
        record.controller,
        record.error_count,
        at(address.as_ref())
    );
    let mut occurrence = occurrence(Kind::DimmError, message, record.header.boottime_ns);
    occurrence.severity = severity(corrected, false);
    let host = &mut occurrence.detail.host;
    host.corrected = Some(corrected);
    host.error_count = Some(u64::from(record.error_count));
    host.error = Some(error);
    host.dimm = Some(dimm.trim().to_owned()).filter(|dimm| !dimm.is_empty());
    host.fault_at = address;
    occurrence
}

/// Whether a machine check is a corrected or deferred error of memory: an EDAC driver, where there is one, reports it with the
/// module that has it. Intel: a memory controller, `0000 0000 1MMM CCCC`, or memory as a cache, `0000 0010 1MMM CCCC` (SDM 3B,
/// 17.9.2). AMD: a DRAM ECC error of a unified memory controller.
pub(super) fn is_of_memory(record: &MachineCheckRecord) -> bool {
    let (status, ipid) = (record.status, record.ipid);
    let of_memory = match record.vendor {
        INTEL => matches!(status & 0xef80, 0x80 | 0x280),
        vendor if AMD.contains(&vendor) => {
            (ipid >> 32) & 0xfff == AMD_UMC && ipid >> 48 == 0 && (status >> 16) & 0x3f == 0
        }
        _ => false,
    };
    of_memory && status & STATUS_UC == 0
}

/// mce:mce_record: the same words as in the line `mce: [Hardware Error]: CPU 2: Machine Check: 0 Bank 8: …`.
pub(super) fn machine_check(record: &MachineCheckRecord) -> Occurrence {
    let (status, cpu, bank) = (record.status, record.cpu, record.bank);
    let fatal = status & STATUS_PCC != 0;
    let uncorrected = status & STATUS_UC != 0 || fatal;
    let deferred = !uncorrected && status & STATUS_DEFERRED != 0 && AMD.contains(&record.vendor);
    let corrected = !uncorrected && !deferred;
    let address = hex(record.address).filter(|_| status & STATUS_ADDRV != 0);
    let (class, error) = match (corrected, deferred) {
        (true, _) => ("corrected", "machine check"),
        (false, true) => ("deferred", "deferred error"),
        (false, false) => ("uncorrected", "machine check"),
    };
    let message = format!(
        "{SYNTHETIC}CPU {cpu}: {class} machine check of bank {bank}, status {status:#x}{}",
        at(address.as_ref())
    );
    let mut occurrence = occurrence(Kind::MachineCheck, message, record.header.boottime_ns);
    occurrence.severity = severity(corrected, fatal);
    let host = &mut occurrence.detail.host;
    host.corrected = Some(corrected);
    host.error = Some(error.to_owned());
    (host.cpu, host.mce_bank) = (Some(cpu), Some(bank));
    host.mce_status = Some(format!("{status:#x}"));
    host.fault_at = address;
    occurrence
}

/// ras:arm_event and ras:non_standard_event: the same words as in the kernel's report of the section. With acpi_extlog the severity
/// of a section may be CPER's (0 recoverable, 1 fatal, 2 corrected) or GHES's: which is not known.
pub(super) fn firmware_error(record: &FirmwareErrorRecord, extlog: bool) -> Occurrence {
    let known = record.severity != FirmwareErrorRecord::UNKNOWN && (record.is_arm != 0 || !extlog);
    let corrected = known && record.severity <= FIRMWARE_CORRECTED;
    let fatal = known && record.severity >= FIRMWARE_FATAL;
    let error = match record.is_arm {
        0 => section(record.section),
        _ => "ARM processor error".to_owned(),
    };
    let part = text_of(&record.part);
    let place = match (part.trim(), record.cpu) {
        ("", FirmwareErrorRecord::UNKNOWN) => String::new(),
        ("", cpu) => format!(" of CPU {cpu}"),
        (part, _) => format!(" of {part}"),
    };
    let class = match (known, corrected) {
        (false, _) => "of unknown severity",
        (true, true) => "corrected",
        (true, false) => "uncorrected",
    };
    let message = format!("{SYNTHETIC}the firmware reports an error, {class}: {error}{place}");
    let mut occurrence = occurrence(Kind::MachineCheck, message, record.header.boottime_ns);
    if known {
        occurrence.severity = severity(corrected, fatal);
    }
    let host = &mut occurrence.detail.host;
    host.corrected = known.then_some(corrected);
    host.error = Some(error);
    host.cpu = Some(record.cpu).filter(|cpu| *cpu != FirmwareErrorRecord::UNKNOWN);
    occurrence
}

/// As the decoder of the kernel's report names a section.
fn section(bytes: [u8; 16]) -> String {
    let guid = guid(bytes);
    match cper::section_name(&guid) {
        Some(name) => name.to_owned(),
        None => format!("unknown, {guid}"),
    }
}

/// A GUID as `%pUl` prints it: the first three numbers are little-endian.
fn guid(bytes: [u8; 16]) -> String {
    let [a, b, c, d, e, f, g, h, rest @ ..] = bytes;
    let (first, second, third) = (
        u32::from_le_bytes([a, b, c, d]),
        u16::from_le_bytes([e, f]),
        u16::from_le_bytes([g, h]),
    );
    let digits: Vec<String> = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    let (clock, node) = digits.split_at(2);
    let (clock, node) = (clock.concat(), node.concat());
    format!("{first:08x}-{second:04x}-{third:04x}-{clock}-{node}")
}

#[cfg(test)]
mod tests {
    use gtrace_decoder::{Decoder, LogRecord, Options};

    use super::*;

    fn of_line(text: &str) -> Occurrence {
        let (mut decoder, mut out) = (Decoder::new(Options::default()), Vec::new());
        for text in text.lines() {
            let record = LogRecord {
                text,
                facility: Some(0),
                ..LogRecord::default()
            };
            decoder.feed(&record, &mut out);
        }
        decoder.flush(&mut out);
        assert_eq!(out.len(), 1, "{text}");
        out.remove(0)
    }

    fn put<const N: usize>(into: &mut [u8; N], text: &str) {
        into[..text.len()].copy_from_slice(text.as_bytes());
    }

    /// What the tracepoint says and what the kernel logs of one error are one event.
    fn same(record: &Occurrence, line: &str) {
        let line = of_line(line);
        assert_eq!(record.fold_key(), line.fold_key());
        assert_eq!(record.severity, line.severity);
        let (ours, theirs) = (&record.detail.host, &line.detail.host);
        assert_eq!(
            (ours.corrected, &ours.error),
            (theirs.corrected, &theirs.error)
        );
        assert_eq!(
            (&ours.dimm, ours.error_count),
            (&theirs.dimm, theirs.error_count)
        );
        assert_eq!(
            (ours.mce_bank, &ours.mce_status),
            (theirs.mce_bank, &theirs.mce_status)
        );
    }

    #[test]
    fn errors_of_memory_are_those_that_the_edac_driver_logs() {
        let mut record = MemoryRecord {
            error_count: 1,
            controller: 1,
            address: 0x4a1_0080,
            ..MemoryRecord::default()
        };
        put(&mut record.error, "memory read error");
        put(&mut record.label, "CPU_SrcID#1_MC#0_Chan#2_DIMM#1");
        let corrected = memory(&record);
        let line = |class| {
            format!(
                "EDAC MC1: 1 {class} memory read error on CPU_SrcID#1_MC#0_Chan#2_DIMM#1 (channel:2 slot:1 page:0x4a1 \
                 offset:0x80 grain:32 syndrome:0x0)"
            )
        };
        same(&corrected, &line("CE"));
        assert_eq!(corrected.detail.host.fault_at.as_deref(), Some("0x4a10080"));
        for (error_type, is_corrected) in [(1, false), (2, false), (3, false), (4, true)] {
            record.error_type = error_type;
            assert_eq!(memory(&record).detail.host.corrected, Some(is_corrected));
        }
        record.error_type = 1;
        same(&memory(&record), &line("UE"));
        // Bytes that are no text do no harm.
        record.error = [0xff; 64];
        record.label = [b'x'; 128];
        assert!(memory(&record).message.len() < 600);
    }

    #[test]
    fn machine_checks_are_those_that_the_kernel_logs() {
        for (status, line) in [
            (
                0xcc00_0100_0001_0090,
                "mce: [Hardware Error]: CPU 2: Machine Check: 0 Bank 8: cc00010000010090",
            ),
            (
                0xbd80_0000_000c_0151,
                "mce: [Hardware Error]: CPU 2: Machine Check Exception: 5 Bank 8: bd800000000c0151",
            ),
            (
                0xbe00_0000_0080_0400,
                "mce: [Hardware Error]: CPU 2: Machine Check Exception: 5 Bank 8: be00000000800400",
            ),
        ] {
            let record = MachineCheckRecord {
                status,
                address: 0x1f2a_3000,
                cpu: 2,
                bank: 8,
                ..MachineCheckRecord::default()
            };
            same(&machine_check(&record), line);
            assert_eq!(is_of_memory(&record), status == 0xcc00_0100_0001_0090);
        }
        // AMD: drivers/edac/mce_amd.c.
        let record = MachineCheckRecord {
            status: 0xdc20_4000_0000_011b,
            ipid: 0x0096_0015_0f00,
            cpu: 2,
            bank: 17,
            vendor: 2,
            ..MachineCheckRecord::default()
        };
        let line = "[Hardware Error]: Corrected error, no action required.\n\
                    [Hardware Error]: CPU:2 (19:1:0) MC17_STATUS[Over|CE|MiscV|AddrV|-|-|SyndV|CECC|-|-|-]: 0xdc2040000000011b";
        same(&machine_check(&record), line);
        let record = MachineCheckRecord {
            status: 0x9c20_3000_0000_011b,
            ..record
        };
        let line = "[Hardware Error]: Deferred error, no action required.\n\
                    [Hardware Error]: CPU:2 (19:1:0) MC17_STATUS[-|-|MiscV|AddrV|-|-|SyndV|UECC|Deferred|-|-]: 0x9c2030000000011b";
        same(&machine_check(&record), line);
        assert_eq!(machine_check(&record).detail.host.corrected, Some(false));
        let of_intel = MachineCheckRecord {
            vendor: 0,
            ..record
        };
        assert_eq!(machine_check(&of_intel).detail.host.corrected, Some(true));
    }

    #[test]
    fn errors_of_memory_are_distinguished_from_other_machine_checks() {
        for (vendor, status, ipid, of_memory) in [
            (0, 0x9400_0000_0000_0090, 0, true),
            (0, 0x9400_0000_0000_0280, 0, true),
            (0, 0xbd80_0000_0000_0090, 0, false),
            (0, 0x9400_0000_0000_017a, 0, false),
            // DRAM ECC, and an error of the same controller's bus.
            (2, 0x9c20_4000_0000_011b, (0x96 << 32) | 0x15_0f00, true),
            (9, 0x9c20_4000_0000_011b, 0x96 << 32, true),
            (2, 0x9c20_4000_0003_0e0b, 0x96 << 32, false),
            (2, 0xbc20_4000_0000_011b, 0x96 << 32, false),
            // Another unit: type 1 of that hardware, and the L3.
            (2, 0x9c20_4000_0000_011b, (1 << 48) | (0x96 << 32), false),
            (2, 0x9c20_4000_0000_0090, (7 << 48) | (0xb0 << 32), false),
        ] {
            let record = MachineCheckRecord {
                status,
                ipid,
                vendor,
                ..MachineCheckRecord::default()
            };
            assert_eq!(is_of_memory(&record), of_memory, "{vendor} {status:#x}");
        }
    }

    #[test]
    fn errors_of_firmware_are_those_that_the_kernel_logs() {
        let mut record = FirmwareErrorRecord {
            severity: 1,
            cpu: FirmwareErrorRecord::UNKNOWN,
            section: [
                0x0b, 0x0a, 0x0d, 0x0c, 0x02, 0x01, 0x04, 0x03, 5, 6, 7, 8, 9, 10, 11, 12,
            ],
            ..FirmwareErrorRecord::default()
        };
        put(&mut record.part, "DIMM A1");
        let section = "unknown, 0c0d0a0b-0102-0304-0506-0708090a0b0c";
        let report = |severity: &str, section: &str| {
            format!(
                "{{1}}[Hardware Error]: event severity: {severity}\n{{1}}[Hardware Error]:  Error 0, type: {severity}\n\
                 {{1}}[Hardware Error]:  section type: {section}"
            )
        };
        same(
            &firmware_error(&record, false),
            &report("corrected", section),
        );
        let bare = firmware_error(&record, true).detail.host;
        assert_eq!(bare.corrected, None, "another scale");
        record.severity = 2;
        same(
            &firmware_error(&record, false),
            &report("recoverable", section),
        );
        record.severity = 3;
        same(&firmware_error(&record, false), &report("fatal", section));
        // One that the kernel has a name for.
        let unknown = record.section;
        record.section = [
            0xb0, 0xa0, 0x3e, 0xdc, 0x44, 0xa1, 0x97, 0x47, 0xb9, 0x5b, 0x53, 0xfa, 0x24, 0x2b,
            0x6e, 0x1d,
        ];
        let named =
            report("fatal", "IA32/X64 processor error").replace("section type", "section_type");
        same(&firmware_error(&record, false), &named);
        // One that the kernel has no name for, and we have: NVIDIA's own, in the bytes of ghes-nvidia.c.
        record.section = [
            0xf2, 0x44, 0x52, 0x6d, 0x12, 0x27, 0xec, 0x11, 0xbe, 0xa7, 0xcb, 0x3f, 0xdb, 0x95,
            0xc7, 0x86,
        ];
        let of_nvidia = firmware_error(&record, false);
        same(
            &of_nvidia,
            &report("fatal", "unknown, 6d5244f2-2712-11ec-bea7-cb3fdb95c786"),
        );
        let error = of_nvidia.detail.host.error;
        assert_eq!(error.as_deref(), Some("error of an NVIDIA processor"));
        record.section = unknown;
        (record.is_arm, record.cpu) = (1, 7);
        let arm = firmware_error(&record, true);
        same(&arm, &report("fatal", "ARM processor error"));
        assert_eq!(arm.detail.host.cpu, Some(7));
        record.severity = FirmwareErrorRecord::UNKNOWN;
        assert_eq!(firmware_error(&record, false).detail.host.corrected, None);
    }
}
