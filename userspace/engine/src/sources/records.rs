//! Turns the probes' records into occurrences.

use std::path::PathBuf;

use gtrace_abi::{AerRecord, CallRecord, CallStart, ExitRecord, NO_STATUS, OomRecord, XidRecord};
use gtrace_event::{
    ApiDetail, Gpu, Kind, Occurrence, PciAddress, Process, Provenance, Severity, WitnessName,
};

use super::cgroup;
use super::operation::{Operation, status_text};
use super::watched::DeviceNames;
use crate::input::SYNTHETIC;
use crate::process;

/// The text before the first NUL.
pub fn text_of(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// `major:minor` of a kernel device number.
pub fn chardev(rdev: u32) -> String {
    format!("{}:{}", rdev >> 20, rdev & 0xf_ffff)
}

/// What the kernel itself says.
pub(super) fn occurrence(kind: Kind, message: String, boottime_ns: u64) -> Occurrence {
    let mut occurrence = Occurrence::new(kind, Severity::Warning, message);
    occurrence.boottime_ns = Some(boottime_ns);
    occurrence.provenance = Provenance::Kernel;
    occurrence
}

/// ras:aer_event.
pub fn aer(record: &AerRecord) -> Occurrence {
    let device = text_of(&record.dev_name);
    // Values of include/linux/aer.h; words of drivers/pci/pcie/aer.c since 6.16.
    let (severity, names) = match record.severity {
        0 => ("Uncorrectable (Non-Fatal)", UNCORRECTABLE),
        1 => ("Uncorrectable (Fatal)", UNCORRECTABLE),
        _ => ("Correctable", CORRECTABLE),
    };
    let message = format!(
        "{SYNTHETIC}{device}: PCIe {severity} error, status {:#x}",
        record.status
    );
    let mut occurrence = occurrence(Kind::Aer, message, record.header.boottime_ns);
    occurrence.detail.pcie.pci_device = PciAddress::parse(&device);
    let detail = &mut occurrence.detail.aer;
    detail.severity = Some(severity.to_owned());
    detail.status = Some(format!("{:#x}", record.status));
    detail.errors = names
        .iter()
        .filter(|(bit, _)| record.status & (1 << bit) != 0)
        .map(|(_, name)| (*name).to_owned())
        .collect();
    if record.tlp_header_valid != 0 {
        detail.tlp_header = record
            .tlp_header
            .iter()
            .map(|word| format!("{word:#010x}"))
            .collect();
    }
    occurrence
}

/// Bits of the correctable error status register, in the words of drivers/pci/pcie/aer.c.
const CORRECTABLE: &[(u32, &str)] = &[
    (0, "RxErr"),
    (6, "BadTLP"),
    (7, "BadDLLP"),
    (8, "Rollover"),
    (12, "Timeout"),
    (13, "NonFatalErr"),
    (14, "CorrIntErr"),
    (15, "HeaderOF"),
];

/// Bits of the uncorrectable error status register.
const UNCORRECTABLE: &[(u32, &str)] = &[
    (0, "Undefined"),
    (4, "DLP"),
    (5, "SDES"),
    (12, "TLP"),
    (13, "FCP"),
    (14, "CmpltTO"),
    (15, "CmpltAbrt"),
    (16, "UnxCmplt"),
    (17, "RxOF"),
    (18, "MalfTLP"),
    (19, "ECRC"),
    (20, "UnsupReq"),
    (21, "ACSViol"),
    (22, "UncorrIntErr"),
    (23, "BlockedTLP"),
    (24, "AtomicOpBlocked"),
    (25, "TLPBlockedErr"),
    (26, "PoisonTLPBlocked"),
    (27, "DMWrReqBlocked"),
    (28, "IDECheck"),
    (29, "MisIDETLP"),
    (30, "PCRC_CHECK"),
    (31, "TLPXlatBlocked"),
];

/// oom:mark_victim.
pub fn oom(record: &OomRecord) -> Occurrence {
    let pid = record.victim;
    let victim = process::of(pid);
    let name = victim.comm.as_deref().unwrap_or("?");
    let message = format!("{SYNTHETIC}the kernel kills process {pid} ({name}) for lack of memory");
    let mut occurrence = occurrence(Kind::OomKill, message, record.header.boottime_ns);
    occurrence.detail.host.cgroup.clone_from(&victim.cgroup);
    occurrence.process = Some(victim);
    occurrence
}

/// Success, failure or signal, of what wait(2) gives.
pub fn outcome(exit_code: u32) -> &'static str {
    match (exit_code & 0x7f, (exit_code >> 8) & 0xff) {
        (0, 0) => SUCCESS,
        (0, _) => "failure",
        _ => "signal",
    }
}

/// The outcome of a process that ended with status 0.
pub const SUCCESS: &str = "success";

/// The name of a process that has ended: the leader's while /proc still has it; that of the last thread may be another.
pub fn name_of(record: &ExitRecord) -> String {
    let leader = process::comm(&PathBuf::from(format!("/proc/{}", record.header.tgid)));
    leader.unwrap_or_else(|| text_of(&record.comm))
}

/// A process that had a watched device open ended.
pub fn exit(record: &ExitRecord, names: &DeviceNames) -> Occurrence {
    let pid = record.header.tgid;
    let mut who = Process {
        pid: Some(pid),
        ..Process::default()
    };
    who.comm = Some(name_of(record));
    process::enrich(&mut who);
    process::set_cgroup(&mut who, cgroup::path_of(record.cgroup_id));
    let signal = record.exit_code & 0x7f;
    let status = (record.exit_code >> 8) & 0xff;
    let how = match (signal, status) {
        (0, 0) => "ended".to_owned(),
        (0, status) => format!("ended with exit status {status}"),
        (signal, _) => format!("was ended by signal {signal}"),
    };
    let name = who.comm.as_deref().unwrap_or("?");
    let device = names.name(record.rdev);
    let message = format!("process {pid} ({name}), which had {device} open, {how}");
    let mut occurrence = occurrence(Kind::GpuProcessExit, message, record.header.boottime_ns);
    let detail = &mut occurrence.detail.process_exit;
    if signal == 0 {
        detail.exit_code = Some(status);
    } else {
        detail.signal = Some(signal);
        detail.core_dumped = Some(record.exit_code & 0x80 != 0);
    }
    occurrence.detail.api.chardev = Some(chardev(record.rdev));
    occurrence.process = Some(who);
    occurrence
}

/// A slow or failed call.
pub fn call(record: &CallRecord, threshold_ns: u64, devices: &DeviceNames) -> Occurrence {
    let operation = Operation::new(record.cmd, record.code);
    let text = operation.text();
    let device = devices.name(record.rdev);
    let failed = record.status != NO_STATUS && gtrace_nvrm::is_failure(record.status);
    // A threshold of 0: no call is slow.
    let is_slow = threshold_ns > 0 && record.latency_ns >= threshold_ns;
    let refused =
        (record.ret < 0 && !is_slow).then(|| errno_name(i32::try_from(-record.ret).unwrap_or(0)));
    // Without the latency, so that the same call again is a repeat.
    let how = status_text(record.status).filter(|_| failed).or(refused);
    let (kind, message) = match how {
        Some(status) => (
            Kind::ApiError,
            format!("{text} on {device} failed with {status}"),
        ),
        None => (
            Kind::SlowCall,
            format!(
                "{text} on {device} took longer than {} ms",
                threshold_ns / 1_000_000
            ),
        ),
    };
    let mut occurrence = occurrence(kind, message, record.header.boottime_ns);
    occurrence.gpu = devices.gpu(record.rdev).map(Gpu::at);
    let mut who = process::of(record.header.tgid);
    who.comm = who.comm.or_else(|| Some(text_of(&record.comm)));
    occurrence.process = Some(who);
    occurrence.detail.api = of_call(operation, device, record.rdev);
    let detail = &mut occurrence.detail.api;
    detail.latency_ns = Some(record.latency_ns);
    if kind == Kind::SlowCall {
        detail.threshold_ns = Some(threshold_ns);
    } else if failed {
        detail.status = Some(format!("{:#x}", record.status));
        detail.status_name = gtrace_nvrm::status_name(record.status).map(str::to_owned);
    }
    detail.errno = i32::try_from(-record.ret).ok().filter(|&errno| errno > 0);
    occurrence
}

/// Which call it was, of which device.
fn of_call(operation: Operation, device: String, rdev: u32) -> ApiDetail {
    ApiDetail {
        op: operation.op,
        ioctl: Some(operation.ioctl),
        code: operation.code,
        code_name: operation.code_name,
        device: Some(device),
        chardev: Some(chardev(rdev)),
        ..ApiDetail::default()
    }
}

/// The names of error numbers by which the driver reports a GPU that is gone.
fn errno_name(errno: i32) -> String {
    match errno {
        libc::EIO => "EIO".to_owned(),
        libc::ENXIO => "ENXIO".to_owned(),
        libc::ENODEV => "ENODEV".to_owned(),
        libc::ETIMEDOUT => "ETIMEDOUT".to_owned(),
        libc::ENOMEM => "ENOMEM".to_owned(),
        other => format!("error {other}"),
    }
}

/// A call that has not returned for longer than `threshold_ns`; `id` is `tgid << 32 | tid`.
pub fn call_under_way(
    id: u64,
    start: &CallStart,
    now_ns: u64,
    threshold_ns: u64,
    devices: &DeviceNames,
) -> Occurrence {
    let operation = Operation::new(start.cmd, start.code);
    let device = devices.name(start.rdev);
    let message = format!(
        "{} on {device} has not returned for more than {} s",
        operation.text(),
        threshold_ns / 1_000_000_000
    );
    let mut occurrence = occurrence(Kind::SlowCall, message, now_ns);
    occurrence.gpu = devices.gpu(start.rdev).map(Gpu::at);
    occurrence.process = u32::try_from(id >> 32).ok().map(process::of);
    occurrence.detail.api = of_call(operation, device, start.rdev);
    let detail = &mut occurrence.detail.api;
    detail.latency_ns = Some(now_ns.saturating_sub(start.boottime_ns));
    detail.threshold_ns = Some(threshold_ns);
    detail.returned = Some(false);
    occurrence
}

/// The driver reported an Xid. The process that ran at that moment need not be the one at fault, so
/// it is not named.
pub fn xid(record: &XidRecord) -> (WitnessName, Occurrence) {
    let device = text_of(&record.device);
    let code = record.code;
    let text = text_of(&record.text);
    let message = match (device.as_str(), text.as_str()) {
        ("", "") => format!("{SYNTHETIC}Xid {code}, device not named"),
        (device, "") => format!("{SYNTHETIC}Xid {code} of {device}"),
        (device, text) => format!("Xid {code} of {device}: {text}"),
    };
    let mut occurrence = occurrence(Kind::Xid, message, record.header.boottime_ns);
    occurrence.gpu = PciAddress::parse(&device).map(Gpu::at);
    occurrence.detail.xid.xid = Some(code);
    let witness = if record.tracepoint == 1 {
        WitnessName::DevXid
    } else {
        WitnessName::ReportError
    };
    (witness, occurrence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtrace_abi::Header;

    #[test]
    fn an_outcome_is_by_signal_then_by_status() {
        let codes = [0, 3 << 8, 9, 11 | 0x80];
        let want = [SUCCESS, "failure", "signal", "signal"];
        assert_eq!(codes.map(outcome), want);
    }

    #[test]
    fn the_example_on_the_page_of_exits_is_what_this_code_says() {
        let page = include_str!("../../../../docs/events/gpu_process_exit.md");
        let mut record = ExitRecord {
            exit_code: 9,
            rdev: 195 << 20,
            ..ExitRecord::default()
        };
        // No process of this host has that number.
        record.header.tgid = u32::MAX;
        record.comm[..7].copy_from_slice(b"python3");
        let message = exit(&record, &DeviceNames::default())
            .message
            .replace(&u32::MAX.to_string(), "41822");
        assert!(
            page.contains(&format!("\"message\": \"{message}\"")),
            "{message}"
        );
    }

    #[test]
    fn an_exit_has_status_or_signal_and_core() {
        let mut record = ExitRecord {
            rdev: 195 << 20 | 255,
            ..ExitRecord::default()
        };
        record.header = Header {
            tgid: u32::MAX,
            ..Header::default()
        };
        record.comm[..6].copy_from_slice(b"python");
        for (code, status, signal, core) in [
            (3 << 8, Some(3), None, None),
            (9, None, Some(9), Some(false)),
            (11 | 0x80, None, Some(11), Some(true)),
        ] {
            record.exit_code = code;
            let observation = exit(&record, &DeviceNames::default());
            let detail = &observation.detail.process_exit;
            assert_eq!(
                (detail.exit_code, detail.signal, detail.core_dumped),
                (status, signal, core)
            );
            assert_eq!(observation.process.unwrap().comm.as_deref(), Some("python"));
            assert_eq!(observation.detail.api.chardev.as_deref(), Some("195:255"));
        }
    }

    #[test]
    fn aer_names_device_class_and_errors() {
        let mut record = AerRecord {
            status: 0x1001,
            severity: 2,
            ..AerRecord::default()
        };
        record.dev_name[..12].copy_from_slice(b"0000:00:1c.0");
        let observation = aer(&record);
        let device = observation.detail.pcie.pci_device.unwrap();
        assert_eq!(device.to_string(), "0000:00:1c.0");
        assert_eq!(observation.detail.aer.errors, ["RxErr", "Timeout"]);
        assert_eq!(
            observation.detail.aer.severity.as_deref(),
            Some("Correctable")
        );
        // As of links that encrypt (IDE): the register has all of its bits since PCIe 6.
        (record.status, record.severity) = (1 << 28 | 1 << 31, 1);
        let errors = aer(&record).detail.aer.errors;
        assert_eq!(errors, ["IDECheck", "TLPXlatBlocked"]);
    }

    #[test]
    fn a_slow_call_again_is_a_repeat() {
        let mut record = CallRecord {
            cmd: 0xc020_462a,
            code: 0x2080_0102,
            rdev: 195 << 20,
            status: NO_STATUS,
            ..CallRecord::default()
        };
        record.header.tgid = u32::MAX;
        record.latency_ns = 5;
        let names = DeviceNames::default();
        let first = call(&record, 1_000_000, &names);
        record.latency_ns = 6;
        assert_eq!(
            first.fold_key(),
            call(&record, 1_000_000, &names).fold_key()
        );
        assert_eq!(first.kind, Kind::SlowCall);
        assert_eq!(first.detail.api.op.as_deref(), Some("RM_CONTROL"));
        assert_eq!(first.detail.api.device.as_deref(), Some("nvidia0"));
    }

    #[test]
    fn a_failed_call_names_operation_and_status() {
        let record = CallRecord {
            cmd: 0xc030_462b,
            code: 0x40,
            rdev: 195 << 20 | 255,
            status: 0x51,
            ..CallRecord::default()
        };
        let observation = call(&record, 1_000_000, &DeviceNames::default());
        assert_eq!(observation.kind, Kind::ApiError);
        assert_eq!(
            observation.message,
            "RM_ALLOC NV01_MEMORY_LOCAL_USER on nvidiactl failed with NV_ERR_NO_MEMORY"
        );
        assert_eq!(observation.detail.api.status.as_deref(), Some("0x51"));
    }

    #[test]
    fn a_call_that_is_refused_is_a_failure_also_where_none_is_slow() {
        let record = CallRecord {
            cmd: 0xc020_462a,
            code: 0x2080_0102,
            rdev: 195 << 20,
            status: NO_STATUS,
            ret: -i64::from(libc::ENODEV),
            latency_ns: 5_000,
            ..CallRecord::default()
        };
        let of = |threshold_ns| call(&record, threshold_ns, &DeviceNames::default());
        for threshold_ns in [0, 1_000_000] {
            let observation = of(threshold_ns);
            assert_eq!(observation.kind, Kind::ApiError, "{threshold_ns}");
            assert!(
                observation
                    .message
                    .ends_with(" on nvidia0 failed with ENODEV")
            );
            let detail = &observation.detail.api;
            assert_eq!(
                (detail.errno, detail.threshold_ns),
                (Some(libc::ENODEV), None)
            );
        }
        assert_eq!(of(5_000).kind, Kind::SlowCall);
    }

    #[test]
    fn a_call_under_way_is_reported_as_such() {
        let start = CallStart {
            boottime_ns: 1_000_000_000,
            cmd: 0xc020_462a,
            code: 0x2080_0102,
            rdev: 195 << 20,
            ..CallStart::default()
        };
        let names = DeviceNames::default();
        let observation = call_under_way(u64::MAX, &start, 13_000_000_000, 10_000_000_000, &names);
        assert_eq!(
            observation.message,
            "RM_CONTROL NV2080_CTRL_CMD_GPU_GET_INFO_V2 on nvidia0 has not returned for more \
             than 10 s"
        );
        assert_eq!(observation.detail.api.latency_ns, Some(12_000_000_000));
        assert_eq!(observation.detail.api.returned, Some(false));
    }

    #[test]
    fn an_xid_without_text_names_gpu_and_code() {
        let mut record = XidRecord {
            header: Header::default(),
            code: 79,
            tracepoint: 0,
            device: [0; 32],
            comm: [0; 16],
            text: [0; 256],
        };
        record.device[..12].copy_from_slice(b"0000:3b:00.0");
        let (witness, observation) = xid(&record);
        assert_eq!(witness, WitnessName::ReportError);
        assert_eq!(
            observation.gpu.unwrap().pci.unwrap().to_string(),
            "0000:3b:00.0"
        );
        assert_eq!(observation.detail.xid.xid, Some(79));
        record.tracepoint = 1;
        assert_eq!(xid(&record).0, WitnessName::DevXid);
    }
}
