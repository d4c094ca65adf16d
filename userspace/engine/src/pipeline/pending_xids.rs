//! Sources that see an Xid without the kernel log's text wait a moment for it: the driver reports an
//! error by a function call and logs it a moment later, and only the text distinguishes two
//! Xids of one code. An Xid that the log never has is reported without text.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use gtrace_event::{Occurrence, PciAddress, WitnessName};

/// How long the text is waited for. The driver logs within microseconds; printk:console shows it
/// within a millisecond, /dev/kmsg within a few.
const WAIT: Duration = Duration::from_millis(150);
/// How far apart report and text may be.
pub(super) const NEAR_NS: u64 = 1_000_000_000;
/// How many wait at most; further ones are reported without text at once.
const MAX_WAITING: usize = 4096;

/// Whether `witness` has no text of the kernel log.
pub(super) fn lacks_text(witness: WitnessName) -> bool {
    matches!(witness, WitnessName::ReportError | WitnessName::DevXid)
}

/// GPU and code of an Xid.
pub(super) fn code_of(occurrence: &Occurrence) -> Option<(PciAddress, u32)> {
    Some((occurrence.gpu.as_ref()?.pci?, occurrence.detail.xid.xid?))
}

/// An Xid that waits for its text.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) witness: WitnessName,
    pub(super) occurrence: Occurrence,
    until: Instant,
}

/// Xids that wait for their text, oldest first.
#[derive(Debug, Default)]
pub(super) struct PendingXids {
    waiting: VecDeque<Waiting>,
}

impl PendingXids {
    /// Keeps an Xid until its text comes; gives it back if it cannot wait.
    pub(super) fn wait(
        &mut self,
        witness: WitnessName,
        occurrence: Occurrence,
    ) -> Result<(), Box<Waiting>> {
        let waiting = Waiting {
            witness,
            until: Instant::now() + WAIT,
            occurrence,
        };
        if code_of(&waiting.occurrence).is_none() || self.waiting.len() >= MAX_WAITING {
            return Err(Box::new(waiting));
        }
        self.waiting.push_back(waiting);
        Ok(())
    }

    /// Whether none waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether the kernel has reported the Xid of `text`.
    pub(super) fn has(&self, text: &Occurrence) -> bool {
        let at_ns = text.boottime_ns.unwrap_or(0);
        code_of(text).is_some_and(|code| {
            self.waiting.iter().any(|waiting| {
                let report = &waiting.occurrence;
                code_of(report) == Some(code)
                    && report.boottime_ns.unwrap_or(0).abs_diff(at_ns) <= NEAR_NS
            })
        })
    }

    /// The text of an Xid has come: the oldest report of each source that means it, with that text
    /// and the report's own time and origin.
    pub(super) fn matching(&mut self, text: &Occurrence) -> Vec<(WitnessName, Occurrence)> {
        let Some(code) = code_of(text) else {
            return Vec::new();
        };
        let mut found: Vec<(WitnessName, Occurrence)> = Vec::new();
        let at_ns = text.boottime_ns.unwrap_or(0);
        self.waiting.retain(|waiting| {
            let report = &waiting.occurrence;
            let fits = code_of(report) == Some(code)
                && report.boottime_ns.unwrap_or(0).abs_diff(at_ns) <= NEAR_NS
                && found.iter().all(|(witness, _)| *witness != waiting.witness);
            if fits {
                found.push((waiting.witness, with_text(report, text)));
            }
            !fits
        });
        found
    }

    /// Those that have waited long enough.
    pub(super) fn overdue(&mut self, now: Instant) -> Vec<Waiting> {
        let due = self.waiting.iter().take_while(|w| w.until <= now).count();
        self.waiting.drain(..due).collect()
    }

    /// When the first has waited long enough.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.waiting.front().map(|waiting| waiting.until)
    }
}

/// `text` as the source of `report` saw it.
pub(super) fn with_text(report: &Occurrence, text: &Occurrence) -> Occurrence {
    Occurrence {
        boottime_ns: report.boottime_ns,
        provenance: report.provenance,
        ..text.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtrace_event::{Gpu, Kind, Provenance, Severity};

    fn xid(message: &str, code: u32, at_ns: u64) -> Occurrence {
        let mut occurrence = Occurrence::new(Kind::Xid, Severity::Warning, message);
        occurrence.gpu = Some(Gpu::at("0000:3b:00.0".parse().unwrap()));
        occurrence.detail.xid.xid = Some(code);
        occurrence.boottime_ns = Some(at_ns);
        occurrence
    }

    #[test]
    fn a_text_takes_one_report_of_each_source() {
        let mut pending_xids = PendingXids::default();
        let mut report = xid("(no text)", 79, 1000);
        report.provenance = Provenance::Kernel;
        for witness in [
            WitnessName::ReportError,
            WitnessName::ReportError,
            WitnessName::DevXid,
        ] {
            pending_xids.wait(witness, report.clone()).unwrap();
        }
        assert!(pending_xids.matching(&xid("other", 13, 1000)).is_empty());
        assert!(
            pending_xids
                .matching(&xid("late", 79, 3 * NEAR_NS))
                .is_empty()
        );
        let found = pending_xids.matching(&xid("NVRM: Xid …: 79, lost", 79, 2000));
        let witnesses: Vec<_> = found.iter().map(|(witness, _)| *witness).collect();
        assert_eq!(witnesses, [WitnessName::ReportError, WitnessName::DevXid]);
        let completed = &found[0].1;
        assert_eq!(completed.message, "NVRM: Xid …: 79, lost");
        assert_eq!(completed.boottime_ns, Some(1000));
        assert_eq!(completed.provenance, Provenance::Kernel);
        assert_eq!(pending_xids.matching(&xid("again", 79, 2000)).len(), 1);
    }

    #[test]
    fn what_gets_no_text_is_given_back_in_order() {
        let mut pending_xids = PendingXids::default();
        for code in [79, 13] {
            pending_xids
                .wait(WitnessName::ReportError, xid("", code, 1))
                .unwrap();
        }
        let now = Instant::now();
        assert!(pending_xids.overdue(now).is_empty());
        assert!(pending_xids.deadline().unwrap() > now);
        let codes: Vec<_> = pending_xids
            .overdue(now + 2 * WAIT)
            .iter()
            .filter_map(|w| w.occurrence.detail.xid.xid)
            .collect();
        assert_eq!(codes, [79, 13]);
        assert!(pending_xids.deadline().is_none());
    }

    #[test]
    fn a_report_without_a_device_does_not_wait() {
        let mut report = xid("", 79, 1);
        report.gpu = None;
        let refused = PendingXids::default().wait(WitnessName::ReportError, report);
        assert!(refused.is_err());
    }
}
