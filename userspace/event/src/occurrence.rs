use std::borrow::Cow;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AerDetail, Detail, Gpu, Kind, Process, Provenance, Severity};

/// What one source says happened once. The bus makes it an event or folds it into one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Occurrence {
    /// What happened.
    pub kind: Kind,
    /// How bad; the catalogue has the last word.
    pub severity: Severity,
    /// When, where the source knows the wall-clock time (a saved log with full dates).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub time: Option<Timestamp>,
    /// When, in nanoseconds since boot, where the source knows that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub boottime_ns: Option<u64>,
    /// The device it is about.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gpu: Option<Gpu>,
    /// The process it is about.
    #[serde(skip_serializing_if = "Option::is_none", default)]
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
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lines: Option<[u64; 2]>,
    /// It is the rest of an occurrence that this source told before, when nothing more of it came for a while, and
    /// not one more.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub continues: bool,
}

/// What two occurrences have in common when they are the same thing seen twice, by two sources
/// or happening again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FoldKey(String);

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
            continues: false,
        }
    }

    /// The key under which repeats and other witnesses of this occurrence are found.
    ///
    /// Sources that carry no text agree on the key of those that do: AER by device and severity,
    /// OOM kills and exits by process. Everything else has its text in the key, so that two
    /// different messages are never one event.
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
            _ => key.push_str(&self.message),
        }
        FoldKey(key)
    }
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

    #[test]
    fn different_texts_of_one_xid_are_different_events() {
        let xid = |message: &str| Occurrence::new(Kind::Xid, Severity::Warning, message).fold_key();
        assert_ne!(
            xid("NVRM: Xid (PCI:0000:01:00): 13, a"),
            xid("NVRM: Xid (PCI:0000:01:00): 13, b")
        );
    }
}
