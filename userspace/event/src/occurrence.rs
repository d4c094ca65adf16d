use std::borrow::Cow;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AerDetail, Detail, Gpu, Kind, Process, Provenance, Severity};

/// What one source says happened once. The pipeline makes it an event or folds it into one.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Occurrence {
    /// What happened.
    pub kind: Kind,
    /// How bad; the catalogue has the last word.
    pub severity: Severity,
    /// When, where the source knows the wall-clock time (a saved log with full dates).
    pub time: Option<Timestamp>,
    /// When, in nanoseconds since boot, where the source knows that.
    pub boottime_ns: Option<u64>,
    /// The device it is about.
    pub gpu: Option<Gpu>,
    /// The process it is about.
    pub process: Option<Process>,
    /// The text as it was given, without log prefix; inner newlines kept.
    pub message: String,
    /// What the text says, by kind.
    #[serde(skip_serializing_if = "Detail::is_empty", default)]
    pub detail: Box<Detail>,
    /// Who wrote it.
    pub provenance: Provenance,
    /// First and last line (counted from 1) of the saved log, or first and last sequence number
    /// of the kernel log.
    pub lines: Option<[u64; 2]>,
    /// What a saved log says of its first line besides.
    pub log: Option<Box<LogLine>>,
    /// It is the rest of an occurrence that this source reported before, when nothing more of it came for a while, and
    /// not one more.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub continues: bool,
}

/// What the prefix of a line of a saved log says besides time and provenance.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogLine {
    /// The host that wrote the line.
    pub host: Option<String>,
    /// The time as it is written, where it lacks year or zone, so that it is no known time.
    pub time: Option<String>,
    /// How often the line came, where a syslog daemon wrote `message repeated N times`.
    pub repeated: Option<u64>,
}

/// What two occurrences have in common when they are the same thing seen twice, by two sources
/// or happening again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FoldKey(String);

/// Graphics Engine Exception.
const GRAPHICS_EXCEPTION: u32 = 13;
/// Bytes of a memory module's label, and of what is wrong with it, that the record of ras:mc_event has room for.
const LABEL_BYTES: usize = 127;
const ERROR_BYTES: usize = 63;
/// Errors of memory and of NVLink.
const TOLD_APART_BY_TEXT: [u32; 18] = [
    48, 63, 64, 74, 92, 94, 95, 140, 144, 145, 146, 147, 148, 149, 150, 154, 171, 172,
];

impl Occurrence {
    /// An occurrence of `kind` with `message`, nothing else known.
    pub fn new(kind: Kind, severity: Severity, message: impl Into<String>) -> Self {
        Self {
            kind,
            severity,
            time: None,
            boottime_ns: None,
            gpu: None,
            process: None,
            message: message.into(),
            detail: Box::default(),
            provenance: Provenance::Unknown,
            lines: None,
            log: None,
            continues: false,
        }
    }

    /// The key under which repeats and other witnesses of this occurrence are found.
    ///
    /// It has what identifies the fault. Sources that carry no text agree on the key of those that
    /// do: AER by device and severity, OOM kills and exits by process. Xids and SXids go by
    /// [`Self::site`]. Everything else has its text in the key, so that two different messages are
    /// never one event.
    pub fn fold_key(&self) -> FoldKey {
        use std::fmt::Write as _;
        let mut key = String::with_capacity(self.message.len() + 48);
        let pid = self.process.as_ref().and_then(|p| p.pid);
        // Writing to a String cannot fail.
        let _ = write!(key, "{}|", self.kind);
        if let Some(device) = self.detail.pcie.pci_device {
            // Which GPU is below it may be known to one source and not yet to another.
            let _ = write!(key, "{device}");
        } else if let Some(gpu) = &self.gpu {
            if let Some(pci) = gpu.pci {
                let _ = write!(key, "{pci}");
            }
            if self.kind != Kind::Aer {
                let _ = write!(key, "/{:?}/{:?}", gpu.mig_gi, gpu.mig_ci);
            }
        }
        key.push('|');
        match (self.kind, pid) {
            (Kind::Aer, _) => key.push_str(&aer_class(&self.detail.aer)),
            (Kind::OomKill | Kind::GpuProcessExit, Some(pid)) => {
                let _ = write!(key, "pid {pid}");
            }
            // Without the number: losses of one source for one reason add up.
            (Kind::SourceLost, _) if self.detail.source.lost.is_some() => {
                let source = self.detail.source.source.as_deref().unwrap_or("");
                key.push_str(source);
                key.push('|');
                key.push_str(self.detail.source.reason.as_deref().unwrap_or(""));
            }
            _ => match self.site() {
                Some(site) => key.push_str(&site),
                None => key.push_str(&self.message),
            },
        }
        FoldKey(key)
    }

    /// Where on the device an Xid or SXid happened, and to whom: code, process, channel, engine, link.
    /// Addresses and registers, which differ from one report of a fault to the next, are left out;
    /// what the severity depends on is not.
    ///
    /// `None` where the text decides, as it names no such place. So it is with NVLink errors of GPUs
    /// and with errors of memory: their status words, rows and units are what distinguishes them.
    pub fn site(&self) -> Option<String> {
        let (xid, fabric) = (&self.detail.xid, &self.detail.fabric);
        match self.kind {
            Kind::Xid => {
                let code = xid.xid?;
                // Xid 13 is an exception of the graphics engine: a bad kernel raises it on many SMs, and
                // each of them is reported by up to three lines.
                let placed = code == GRAPHICS_EXCEPTION
                    || xid.channel.is_some()
                    || xid.engine.is_some()
                    || xid.gsp_function.is_some();
                // The beginning of a record may lack the process.
                let breaks_off = self.message.trim_end().ends_with(',');
                if !placed || breaks_off || TOLD_APART_BY_TEXT.contains(&code) {
                    return None;
                }
                let process = self.process.as_ref();
                Some(format!(
                    "xid {code}|{:?}|{:?}|{:?}|{:?}|{:?}",
                    process.and_then(|process| process.pid),
                    xid.channel,
                    xid.engine,
                    xid.gsp_function,
                    xid.caused_by_xid
                ))
            }
            Kind::Sxid => {
                let (code, link) = (fabric.sxid?, fabric.link.filter(|link| *link >= 0)?);
                let scope = fabric.scope.as_deref().unwrap_or("");
                Some(format!("sxid {code}|{:?}|{link}|{scope}", fabric.nvswitch))
            }
            Kind::MemoryGrowth => Some(format!("{:?}", self.process.as_ref()?.pid)),
            Kind::GpuContended | Kind::GpuStarved => {
                let pid = self.process.as_ref().and_then(|process| process.pid);
                Some(format!("{:?}|{pid:?}", self.detail.contention.resource))
            }
            _ => self.host_site(),
        }
    }

    /// The part of the host that a fault is of. A disk that fails reports each sector, and a server that does not
    /// answer each request: one event with repeats.
    fn host_site(&self) -> Option<String> {
        let host = &self.detail.host;
        let error = host.error.as_deref().unwrap_or("");
        match self.kind {
            Kind::IoError | Kind::FsError | Kind::DiskLost | Kind::EfaError | Kind::NetTimeout => {
                Some(format!("{:?}|{error}", host.device))
            }
            Kind::IommuFault | Kind::GpuHang | Kind::CpuStall => Some(error.to_owned()),
            Kind::DimmError => {
                let dimm = host.dimm.as_deref().map(|dimm| cut(dimm, LABEL_BYTES));
                let error = cut(error, ERROR_BYTES);
                Some(format!("{dimm:?}|{:?}|{error}", host.corrected))
            }
            Kind::MachineCheck => Some(format!("{:?}|{:?}|{error}", host.mce_bank, host.corrected)),
            Kind::ServiceFailed => Some(format!("{:?}|{error}", host.unit)),
            Kind::NetfsStall => Some(format!("{:?}|{error}", host.server)),
            // An oops is reported by two lines, and heat by each CPU of a socket.
            Kind::KernelOops | Kind::CpuThrottle | Kind::FileLimit => Some(String::new()),
            _ => None,
        }
    }
}

/// As a probe that has no more room for it.
fn cut(text: &str, most: usize) -> &str {
    text[..text.floor_char_boundary(most)].trim_end()
}

/// The three severities of AER, however a kernel words them; containment, and how the recovery
/// ended, are none of them.
fn aer_class(aer: &AerDetail) -> Cow<'static, str> {
    if let Some(end) = &aer.recovery {
        return format!("recovery {end}").into();
    }
    if aer.dpc_reason.is_some() {
        return "containment".into();
    }
    let text = aer.severity.as_deref().unwrap_or("").to_ascii_lowercase();
    let class = if aer.is_corrected() {
        "corrected"
    } else if text.contains("non-fatal") || text.contains("nonfatal") {
        "nonfatal"
    } else if text.contains("fatal") {
        "fatal"
    } else {
        "unknown"
    };
    class.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aer_of_one_device_folds_over_all_wordings_but_not_over_severities() {
        let aer = |severity: &str, message: &str| {
            let mut o = Occurrence::new(Kind::Aer, Severity::Warning, message);
            o.detail.pcie.pci_device = Some("0000:00:1c.0".parse().unwrap());
            o.detail.aer.severity = Some(severity.to_owned());
            o.fold_key()
        };
        assert_eq!(aer("Corrected", "a"), aer("Correctable", "b"));
        assert_eq!(
            aer("Uncorrected (Non-Fatal)", "a"),
            aer("Uncorrectable (Non-Fatal)", "b")
        );
        assert_ne!(
            aer("Uncorrected (Fatal)", "a"),
            aer("Uncorrected (Non-Fatal)", "a")
        );
        assert_ne!(aer("Corrected", "a"), aer("Uncorrected (Non-Fatal)", "a"));
    }

    #[test]
    fn the_device_that_the_kernel_names_decides_and_not_the_gpu_below_it() {
        let aer = |device: &str, gpu: Option<&str>| {
            let mut o = Occurrence::new(Kind::Aer, Severity::Warning, "");
            o.detail.aer.severity = Some("Correctable".to_owned());
            o.detail.pcie.pci_device = Some(device.parse().unwrap());
            o.gpu = gpu.map(|g| Gpu::at(g.parse().unwrap()));
            o.fold_key()
        };
        let (port, gpu) = ("0000:3a:00.0", "0000:3b:00.0");
        assert_eq!(aer(port, None), aer(port, Some(gpu)));
        assert_ne!(aer(port, Some(gpu)), aer(gpu, Some(gpu)));
    }

    #[test]
    fn containment_and_recovery_are_events_beside_the_error() {
        let keys = [
            (None, None),
            (Some("ERR_FATAL"), None),
            (None, Some("failed")),
        ];
        let keys = keys.map(|(dpc, recovery)| {
            let mut o = Occurrence::new(Kind::Aer, Severity::Warning, "");
            o.detail.pcie.pci_device = Some("0000:3a:00.0".parse().unwrap());
            o.detail.aer.dpc_reason = dpc.map(str::to_owned);
            o.detail.aer.recovery = recovery.map(str::to_owned);
            o.fold_key()
        });
        assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2]);
    }

    fn xid(code: u32, message: &str) -> Occurrence {
        let mut occurrence = Occurrence::new(Kind::Xid, Severity::Warning, message);
        occurrence.gpu = Some(Gpu::at("0000:3b:00.0".parse().unwrap()));
        occurrence.detail.xid.xid = Some(code);
        occurrence
    }

    #[test]
    fn an_mmu_fault_is_identified_by_gpu_process_channel_and_engine_and_not_by_its_address() {
        let fault = |change: &dyn Fn(&mut Occurrence)| {
            let mut occurrence = xid(31, "faulted @ 0x7f_abcd1000");
            occurrence.process = Some(crate::Process {
                pid: Some(7),
                ..crate::Process::default()
            });
            occurrence.detail.xid.channel = Some("0x10".to_owned());
            occurrence.detail.xid.engine = Some("GRAPHICS".to_owned());
            change(&mut occurrence);
            occurrence.fold_key()
        };
        let one = fault(&|_| {});
        let same = fault(&|o| {
            o.message = "faulted @ 0x7f_abcd2000".to_owned();
            o.detail.xid.fault_addr = Some("0x7fabcd2000".to_owned());
            o.detail.xid.gpc = Some(3);
        });
        assert_eq!(one, same);
        let others: [&dyn Fn(&mut Occurrence); 6] = [
            &|o| o.gpu = Some(Gpu::at("0000:5e:00.0".parse().unwrap())),
            &|o| o.gpu.as_mut().unwrap().mig_gi = Some(5),
            &|o| o.detail.xid.xid = Some(43),
            &|o| o.process.as_mut().unwrap().pid = Some(8),
            &|o| o.detail.xid.channel = Some("0x11".to_owned()),
            &|o| o.detail.xid.engine = Some("CE3".to_owned()),
        ];
        for (at, change) in others.into_iter().enumerate() {
            assert_ne!(one, fault(change), "{at}");
        }
    }

    #[test]
    fn the_beginning_of_a_record_is_not_yet_identified() {
        let whole = xid(13, "NVRM: Xid (PCI:0000:3b:00): 13, Graphics Exception");
        let beginning = xid(13, "NVRM: Xid (PCI:0000:3b:00): 13, ");
        assert_ne!(whole.fold_key(), beginning.fold_key());
    }

    #[test]
    fn a_label_that_a_probe_has_no_room_for_is_that_of_the_log() {
        let error = |label: &str| {
            let mut o = Occurrence::new(Kind::DimmError, Severity::Info, label);
            o.detail.host.dimm = Some(label.to_owned());
            o.fold_key()
        };
        let label = format!("{} or B1", "A".repeat(125));
        assert_eq!(error(&label), error(label[..127].trim_end()));
        assert_ne!(error(&label), error(&label[..124]));
    }

    #[test]
    fn an_sxid_is_identified_by_switch_link_and_scope() {
        let sxid = |link: i64, scope: &str, data: &str| {
            let text = format!("Link {link} ... Data {data}");
            let mut o = Occurrence::new(Kind::Sxid, Severity::Warning, text);
            o.detail.fabric.sxid = Some(12_028);
            o.detail.fabric.link = Some(link);
            o.detail.fabric.scope = Some(scope.to_owned());
            o.fold_key()
        };
        assert_eq!(sxid(32, "Non-fatal", "a"), sxid(32, "Non-fatal", "b"));
        assert_ne!(sxid(32, "Non-fatal", "a"), sxid(33, "Non-fatal", "a"));
        assert_ne!(sxid(32, "Non-fatal", "a"), sxid(32, "Fatal", "a"));
        assert_ne!(sxid(-1, "Fatal", "a"), sxid(-1, "Fatal", "b"));
    }

    #[test]
    fn where_no_place_is_named_the_text_distinguishes_faults() {
        for code in [63, 74, 95, 999] {
            let (a, b) = (xid(code, "row 1"), xid(code, "row 2"));
            assert_ne!(a.fold_key(), b.fold_key(), "{code}");
        }
        let mut contained = [xid(94, "Contained: SM"), xid(94, "Contained: LTC")];
        for occurrence in &mut contained {
            occurrence.detail.xid.channel = Some("0x9".to_owned());
        }
        assert_ne!(contained[0].fold_key(), contained[1].fold_key());
    }
}
