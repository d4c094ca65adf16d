use std::collections::BTreeMap;
use std::path::Path;

use crate::sysfs;

/// Severity of an AER error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AerSeverity {
    /// Corrected by hardware.
    Correctable,
    /// The transaction is lost, the link still works.
    NonFatal,
    /// The link is no longer reliable.
    Fatal,
}

impl AerSeverity {
    /// All severities, in rising order.
    pub const ALL: [Self; 3] = [Self::Correctable, Self::NonFatal, Self::Fatal];

    /// In the words of current kernels (`aer_error_severity_string` of drivers/pci/pcie/aer.c);
    /// older ones say `Corrected` and `Uncorrected (…)`.
    pub const fn kernel_name(self) -> &'static str {
        match self {
            Self::Correctable => "Correctable",
            Self::NonFatal => "Uncorrectable (Non-Fatal)",
            Self::Fatal => "Uncorrectable (Fatal)",
        }
    }

    /// The label in metrics.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Correctable => "correctable",
            Self::NonFatal => "nonfatal",
            Self::Fatal => "fatal",
        }
    }

    const fn device_file(self) -> &'static str {
        match self {
            Self::Correctable => "aer_dev_correctable",
            Self::NonFatal => "aer_dev_nonfatal",
            Self::Fatal => "aer_dev_fatal",
        }
    }

    const fn root_port_file(self) -> &'static str {
        match self {
            Self::Correctable => "aer_rootport_total_err_cor",
            Self::NonFatal => "aer_rootport_total_err_nonfatal",
            Self::Fatal => "aer_rootport_total_err_fatal",
        }
    }
}

/// The AER counters of one device since it was enumerated.
///
/// Source: Documentation/ABI/testing/sysfs-bus-pci-devices-aer, kernel 4.19 on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AerCounters {
    /// By severity and name of the error, as the kernel names it.
    pub errors: BTreeMap<(AerSeverity, String), u64>,
    /// The kernel's own total of a severity. It counts messages, each of which can name several
    /// errors, and is all there is where the kernel has no name for a bit.
    pub totals: BTreeMap<AerSeverity, u64>,
    /// Root ports only: messages received from any device below, by severity.
    pub root_port: BTreeMap<AerSeverity, u64>,
}

/// Reads the counters of the device at `dir`; `None` if it has no AER or is gone.
pub(crate) fn read(dir: &Path) -> Option<AerCounters> {
    let mut counters = AerCounters::default();
    for severity in AerSeverity::ALL {
        if let Some(text) = sysfs::text(&dir.join(severity.device_file())) {
            let (errors, total) = parse(&text);
            counters
                .errors
                .extend(errors.into_iter().map(|(n, v)| ((severity, n), v)));
            counters.totals.extend(total.map(|t| (severity, t)));
        }
        if let Some(n) = sysfs::number(&dir.join(severity.root_port_file())) {
            counters.root_port.insert(severity, n);
        }
    }
    (counters != AerCounters::default()).then_some(counters)
}

/// Reads lines of `NAME COUNT` and the line `TOTAL_ERR_… COUNT`; other lines are passed over.
pub fn parse(text: &str) -> (BTreeMap<String, u64>, Option<u64>) {
    let mut errors = BTreeMap::new();
    let mut total = None;
    for line in text.lines() {
        let Some((name, count)) = line.trim().rsplit_once(char::is_whitespace) else {
            continue;
        };
        let (name, Ok(count)) = (name.trim(), count.parse::<u64>()) else {
            continue;
        };
        if name.starts_with("TOTAL_ERR_") {
            total = Some(count);
        } else if !name.is_empty() {
            errors.insert(name.to_owned(), count);
        }
    }
    (errors, total)
}

/// How much a severity's counters rose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rise {
    pub(crate) severity: AerSeverity,
    /// Names whose counts rose.
    pub(crate) errors: Vec<String>,
    /// Messages: the rise of the total, else the largest rise of a name.
    pub(crate) count: u64,
}

/// What rose between two readings. A count that fell was reset (the device was enumerated anew),
/// so all of it is new.
pub(crate) fn rises(old: &AerCounters, new: &AerCounters) -> Vec<Rise> {
    let rise = |old: Option<&u64>, new: u64| match old {
        Some(&old) if old <= new => new - old,
        _ => new,
    };
    let mut found = Vec::new();
    for severity in AerSeverity::ALL {
        let mut errors = Vec::new();
        let mut largest = 0;
        for ((s, name), &count) in &new.errors {
            let by = rise(old.errors.get(&(*s, name.clone())), count);
            if *s == severity && by > 0 {
                errors.push(name.clone());
                largest = largest.max(by);
            }
        }
        let total = new
            .totals
            .get(&severity)
            .map(|&n| rise(old.totals.get(&severity), n));
        let count = total.unwrap_or(0).max(largest);
        if count > 0 {
            found.push(Rise {
                severity,
                errors,
                count,
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(correctable: &str) -> AerCounters {
        let (errors, total) = parse(correctable);
        let mut c = AerCounters::default();
        c.errors.extend(
            errors
                .into_iter()
                .map(|(n, v)| ((AerSeverity::Correctable, n), v)),
        );
        c.totals
            .extend(total.map(|t| (AerSeverity::Correctable, t)));
        c
    }

    #[test]
    fn reads_names_and_total_and_passes_over_the_rest() {
        let (errors, total) = parse("RxErr 3\nBadTLP 0\nnonsense\n  5\nTOTAL_ERR_COR 4\n\nX -1\n");
        assert_eq!(
            errors,
            BTreeMap::from([("RxErr".into(), 3), ("BadTLP".into(), 0)])
        );
        assert_eq!(total, Some(4));
    }

    #[test]
    fn a_message_that_names_two_errors_counts_once() {
        let old = counters("RxErr 1\nBadTLP 0\nTOTAL_ERR_COR 1");
        let new = counters("RxErr 3\nBadTLP 2\nTOTAL_ERR_COR 3");
        let found = rises(&old, &new);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].count, found[0].errors.len()), (2, 2));
    }

    #[test]
    fn a_reset_counter_counts_what_came_since() {
        let found = rises(
            &counters("RxErr 100\nTOTAL_ERR_COR 100"),
            &counters("RxErr 2\nTOTAL_ERR_COR 2"),
        );
        assert_eq!(found[0].count, 2);
        let found = rises(
            &counters("RxErr 100\nTOTAL_ERR_COR 100"),
            &counters("RxErr 0\nTOTAL_ERR_COR 0"),
        );
        assert!(found.is_empty());
    }
}
