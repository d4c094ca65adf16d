//! Hardware errors of the host: machine checks, APEI's generic hardware errors, memory. Source:
//! arch/x86/kernel/cpu/mce/core.c, drivers/edac/{edac_mc,mce_amd}.c, drivers/acpi/apei/ghes.c,
//! drivers/firmware/efi/cper.c, mm/memory-failure.c.

use gtrace_event::{AerDetail, Gpu, Kind, Occurrence, PciAddress, Process, Severity};

use crate::cper;
use crate::group::Group;
use crate::record::{Line, Meta};
use crate::scan;

/// Longest mark before the text of a line: `{4294967295}[Hardware Error]:`.
const MAX_MARK: usize = 32;
const HW_ERR: &str = "[Hardware Error]:";
/// Bits of a bank's status (Intel SDM 3B, chapter 16): uncorrected error, and processor context corrupt.
const STATUS_UC: u64 = 1 << 61;
const STATUS_PCC: u64 = 1 << 57;
/// A deferred error, of AMD's and Hygon's banks; with Intel it is part of a count.
const STATUS_DEFERRED: u64 = 1 << 44;
/// What the hardware could not correct, and nothing has used yet.
const DEFERRED: &str = "deferred error";

/// The report that is being read: its first line says how bad it is, the others what it is.
#[derive(Debug, Default)]
pub(crate) struct State {
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    group: Group,
    /// What all of its lines begin with.
    mark: String,
    report: Report,
}

/// What the first line says.
#[derive(Clone, Debug, Default)]
struct Report {
    severity: Outcome,
    error: Option<&'static str>,
    cpu: Option<u32>,
    bank: Option<u32>,
    status: Option<String>,
    /// Whether it is a deferred error where the CPU is AMD's or Hygon's.
    may_be_deferred: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Outcome {
    #[default]
    Corrected,
    Uncorrected,
    Fatal,
}

impl State {
    pub(crate) fn oldest(&self) -> Option<u64> {
        self.open.as_ref().map(|open| open.group.first())
    }

    pub(crate) fn expire(&mut self, now: &Meta, out: &mut Vec<Occurrence>) {
        if self.open.as_ref().is_some_and(|o| o.group.expired(now)) {
            self.flush(out);
        }
    }

    pub(crate) fn flush(&mut self, out: &mut Vec<Occurrence>) {
        out.extend(self.open.take().map(Open::finish));
    }

    /// Takes a line that [`is_marked`].
    pub(crate) fn line(&mut self, line: &Line<'_>, out: &mut Vec<Occurrence>) {
        let Some((mark, body)) = split(line.text) else {
            return;
        };
        if let Some(report) = begin(mark, body) {
            self.flush(out);
            self.open = Some(Open {
                group: Group::open(line),
                mark: mark.to_owned(),
                report,
            });
        } else if let Some(open) = &mut self.open
            && open.mark == mark
            && open.group.accepts(line)
        {
            open.group.add(line);
        }
    }
}

/// Whether the line is one of a report: `mce: [Hardware Error]: …`, `[Hardware Error]: …`, `{1}[Hardware Error]: …`.
pub(crate) fn is_marked(text: &str) -> bool {
    split(text).is_some()
}

fn split(text: &str) -> Option<(&str, &str)> {
    let begins = match text.as_bytes().first()? {
        b'[' => text.starts_with(HW_ERR),
        b'm' => text.starts_with("mce: [Hardware Error]:"),
        b'{' => true,
        _ => false,
    };
    if !begins {
        return None;
    }
    let head = text.as_bytes().get(..MAX_MARK.min(text.len()))?;
    let at = memchr::memmem::find(head, HW_ERR.as_bytes())?;
    let (mark, body) = text.split_at_checked(at + HW_ERR.len())?;
    // Between braces there is the number of the report.
    if let Some(number) = mark.strip_prefix('{') {
        let (_, rest) = scan::number::<u64>(number)?;
        rest.strip_prefix('}').filter(|rest| *rest == HW_ERR)?;
    }
    Some((mark, body.strip_prefix(' ')?))
}

/// The first line of a report.
fn begin(mark: &str, body: &str) -> Option<Report> {
    let of = |severity, error| {
        Some(Report {
            severity,
            error: Some(error),
            ..Report::default()
        })
    };
    if mark.starts_with('{') {
        let severity = match body.strip_prefix("event severity: ")?.trim_end() {
            "corrected" | "info" => Outcome::Corrected,
            "recoverable" => Outcome::Uncorrected,
            "fatal" => Outcome::Fatal,
            _ => return None,
        };
        return of(severity, "reported by firmware");
    }
    if let Some(rest) = body.strip_prefix("CPU ") {
        return bank(rest);
    }
    match body.trim_end() {
        "Machine check events logged" => of(Outcome::Corrected, "logged"),
        "Machine check: Processor context corrupt" => {
            of(Outcome::Fatal, "processor context corrupt")
        }
        // How drivers/edac/mce_amd.c begins.
        "Corrected error, no action required." => of(Outcome::Corrected, "machine check"),
        "Deferred error, no action required." => of(Outcome::Uncorrected, DEFERRED),
        "Uncorrected, software restartable error." | "Uncorrected, software containable error." => {
            of(Outcome::Uncorrected, "machine check")
        }
        "System Fatal error." => of(Outcome::Fatal, "machine check"),
        _ => None,
    }
}

/// `2: Machine Check: 0 Bank 8: cc00010000010090`, `… Machine Check Exception: 5 Bank 4: be00000000800400`
fn bank(rest: &str) -> Option<Report> {
    let (cpu, rest) = scan::number(rest)?;
    let rest = rest.strip_prefix(": Machine Check")?;
    let rest = rest.strip_prefix(" Exception").unwrap_or(rest);
    let (_, rest) = scan::hex(rest.strip_prefix(": ")?)?;
    let (bank, rest) = scan::number(rest.strip_prefix(" Bank ")?)?;
    let (status, _) = scan::hex(rest.strip_prefix(": ")?)?;
    let bits = u64::from_str_radix(status.get(2..)?, 16).ok()?;
    let severity = match (bits & STATUS_UC != 0, bits & STATUS_PCC != 0) {
        (_, true) => Outcome::Fatal,
        (true, false) => Outcome::Uncorrected,
        (false, false) => Outcome::Corrected,
    };
    Some(Report {
        severity,
        error: Some("machine check"),
        cpu: Some(cpu),
        bank: Some(bank),
        status: Some(status),
        may_be_deferred: severity == Outcome::Corrected && bits & STATUS_DEFERRED != 0,
    })
}

/// `CPU:2 (19:1:0) MC17_STATUS[Over|CE|MiscV|AddrV|-|-|SyndV|CECC|-|-|-]: 0xdc2040000000011b`, the second line of a report by
/// drivers/edac/mce_amd.c: CPU, bank and status.
fn amd_bank(report: &str) -> Option<(u32, u32, String)> {
    let line = scan::after(report, ": CPU:")?;
    let (cpu, rest) = scan::number(line.lines().next()?)?;
    let (bank, rest) = scan::number(scan::after(rest, ") MC")?)?;
    let (_, status) = rest.strip_prefix("_STATUS[")?.split_once("]: ")?;
    let (status, _) = scan::hex(status)?;
    Some((cpu, bank, status))
}

/// Whether the CPU is AMD's or Hygon's (X86_VENDOR_AMD, X86_VENDOR_HYGON): `PROCESSOR 2:a20f12 TIME 1772510706 SOCKET 0 …`
fn is_of_amd(report: &str) -> bool {
    scan::after(report, ": PROCESSOR ")
        .is_some_and(|rest| rest.starts_with("2:") || rest.starts_with("9:"))
}

impl Open {
    fn finish(mut self) -> Occurrence {
        if let Some(device) = pcie_device(self.group.text()) {
            return self.pcie(device);
        }
        if self.report.bank.is_none()
            && let Some((cpu, bank, status)) = amd_bank(self.group.text())
        {
            let report = &mut self.report;
            (report.cpu, report.bank) = (Some(cpu), Some(bank));
            report.status = Some(status);
        }
        if self.report.may_be_deferred && is_of_amd(self.group.text()) {
            let report = &mut self.report;
            (report.severity, report.error) = (Outcome::Uncorrected, Some(DEFERRED));
        }
        let report = self.report;
        let section = scan::after(self.group.text(), "section_type: ")
            .or_else(|| scan::after(self.group.text(), "section type: "))
            .and_then(|rest| rest.lines().next())
            .map(|section| named(section.trim()));
        let memory = section.as_deref() == Some("memory error");
        let (dimm, fault_at) = match memory {
            true => (module(self.group.text()), address(self.group.text())),
            false => (None, None),
        };
        let severity = match report.severity {
            Outcome::Corrected => Severity::Info,
            Outcome::Uncorrected => Severity::Critical,
            Outcome::Fatal => Severity::Fatal,
        };
        let mut occurrence = self.group.into_occurrence(Kind::MachineCheck, severity);
        let host = &mut occurrence.detail.host;
        host.corrected = Some(report.severity == Outcome::Corrected);
        host.error = section.or_else(|| report.error.map(str::to_owned));
        host.cpu = report.cpu;
        host.mce_bank = report.bank;
        host.mce_status = report.status;
        (host.dimm, host.fault_at) = (dimm, fault_at);
        occurrence
    }
}

/// A section as the kernel writes it: `memory error`, `unknown, 6d5244f2-2712-11ec-bea7-cb3fdb95c786`.
fn named(section: &str) -> String {
    let guid = section.strip_prefix("unknown, ");
    let known = guid.and_then(cper::section_name);
    known.unwrap_or(section).to_owned()
}

/// The memory module: `DIMM location: CPU 2 DIMM 30`, by the firmware's tables, else `fru_text: D2`.
fn module(report: &str) -> Option<String> {
    let line = |needle| Some(scan::after(report, needle)?.lines().next()?.trim());
    let located = line("DIMM location: ").filter(|place| !place.starts_with("not present"));
    let named = located.or_else(|| line("fru_text: "));
    named.filter(|place| !place.is_empty()).map(str::to_owned)
}

/// `physical_address: 0x0000006a47d1f540`
fn address(report: &str) -> Option<String> {
    let (address, _) = scan::hex(scan::after(report, "physical_address: ")?)?;
    Some(address)
}

impl Open {
    /// The firmware's report of a PCIe error is one of the device.
    fn pcie(self, device: PciAddress) -> Occurrence {
        let (severity, word) = match self.report.severity {
            Outcome::Corrected => (Severity::Warning, "Corrected"),
            Outcome::Uncorrected => (Severity::Critical, "Uncorrectable (Non-Fatal)"),
            Outcome::Fatal => (Severity::Fatal, "Uncorrectable (Fatal)"),
        };
        let text = self.group.text();
        let word_after = |needle| {
            let (word, _) = scan::hex(scan::after(text, needle)?)?;
            Some(word)
        };
        let number = |needle| scan::after(text, needle)?.get(..4);
        let vendor = number("vendor_id: 0x");
        let device_id = number(", device_id: 0x");
        // Display controllers, VGA or 3D: NVIDIA's bridges and switches have another class. Kernels before 5.13 wrote its bytes the
        // other way round.
        let class = scan::after(text, "class_code: ").and_then(|class| class.get(..6));
        let is_display = |class: &str| class.starts_with("03") || class.ends_with("03");
        let is_gpu = vendor == Some("10de") && class.is_some_and(is_display);
        let detail = AerDetail {
            severity: Some(word.to_owned()),
            status: word_after("aer_uncor_status: ").or_else(|| word_after("aer_cor_status: ")),
            mask: word_after("aer_uncor_mask: ").or_else(|| word_after("aer_cor_mask: ")),
            device_id: vendor
                .zip(device_id)
                .map(|(vendor, device)| format!("{vendor}:{device}")),
            ..AerDetail::default()
        };
        let mut occurrence = self.group.into_occurrence(Kind::Aer, severity);
        occurrence.gpu = is_gpu.then(|| Gpu::at(device));
        occurrence.detail.pcie.pci_device = Some(device);
        occurrence.detail.aer = detail;
        occurrence
    }
}

/// The device of a report whose section is a PCIe error: `device_id: 0000:96:01.0`.
fn pcie_device(report: &str) -> Option<PciAddress> {
    let section = scan::after(report, "section_type: PCIe error")
        .or_else(|| scan::after(report, "section type: PCIe error"))?;
    // The identity of the device has the same name: `vendor_id: 0x10de, device_id: 0x2330`.
    let mut found = section.match_indices("device_id: ");
    found.find_map(|(at, name)| {
        let address = section.get(at + name.len()..)?.lines().next()?;
        PciAddress::parse(address.trim())
    })
}

/// `EDAC MC0: 1 CE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (channel:1 slot:0 page:0x…)`; AMD's driver has no
/// words for the error: `EDAC MC0: 1 CE on mc#0csrow#1channel#0 (csrow:1 channel:0 page:0x…)`.
pub(crate) fn edac(line: &Line<'_>) -> Option<Occurrence> {
    let rest = line.text.strip_prefix("EDAC MC")?;
    let (_, rest) = scan::number::<u32>(rest)?;
    let (count, rest) = scan::number(rest.strip_prefix(": ")?)?;
    let (class, rest) = rest.strip_prefix(' ')?.split_once(' ')?;
    let corrected = match class {
        "CE" => true,
        "UE" => false,
        _ => return None,
    };
    let (error, place) = match rest.strip_prefix("on ") {
        Some(place) => ("memory error", place),
        None => rest.split_once(" on ")?,
    };
    let dimm = place.split(" (").next()?.trim();
    let severity = match corrected {
        true => Severity::Info,
        false => Severity::Critical,
    };
    let mut occurrence = line.occurrence(Kind::DimmError, severity);
    let host = &mut occurrence.detail.host;
    host.corrected = Some(corrected);
    host.error_count = Some(count);
    host.error = Some(error.to_owned());
    host.dimm = Some(dimm.to_owned()).filter(|d| !d.is_empty());
    Some(occurrence)
}

/// `Memory failure: 0x1f2a3: recovery action for dirty LRU page: Recovered`, `Memory failure: 0x1f2a3: Sending SIGBUS to
/// python:1234 due to hardware memory corruption`
pub(crate) fn page(line: &Line<'_>) -> Option<Occurrence> {
    let rest = line.text.strip_prefix("Memory failure: ")?;
    let (frame, rest) = scan::hex(rest)?;
    let body = rest.strip_prefix(": ")?;
    let (error, process) = if let Some(rest) = body.strip_prefix("recovery action for ") {
        let (_, end) = rest.rsplit_once(": ")?;
        match end.trim_end() {
            "Recovered" => ("page given up", None),
            "Ignored" | "Failed" | "Delayed" => ("page not given up", None),
            _ => return None,
        }
    } else {
        // `Killing x:1 due to …` where the signal cannot be sent.
        let task = body
            .strip_prefix("Sending SIGBUS to ")
            .or_else(|| body.strip_prefix("Killing "))?;
        let (task, _) = task.split_once(" due to hardware memory corruption")?;
        ("process hit", Some(super::stall::name_and_pid(task)?))
    };
    let mut occurrence = line.occurrence(Kind::DimmError, Severity::Critical);
    occurrence.process = process.filter(|p: &Process| p.pid.is_some());
    let host = &mut occurrence.detail.host;
    host.corrected = Some(false);
    host.error = Some(error.to_owned());
    host.fault_at = Some(frame);
    Some(occurrence)
}
