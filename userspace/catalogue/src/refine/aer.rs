use gtrace_event::{Occurrence, Severity};

use super::Verdict;

/// The three classes of AER, however a kernel words them; `None` for anything else.
fn class(severity: &str) -> Option<&'static str> {
    let word: String = severity
        .chars()
        .filter(char::is_ascii_alphabetic)
        .collect::<String>()
        .to_ascii_lowercase();
    if word.starts_with("correct") {
        Some("corrected")
    } else if word.contains("nonfatal") {
        Some("nonfatal")
    } else if word.contains("fatal") {
        Some("fatal")
    } else {
        None
    }
}

pub(super) fn verdict(occ: &Occurrence, base: Verdict) -> Verdict {
    let aer = &occ.detail.aer;
    match aer.recovery.as_deref() {
        Some("failed") => return base
            .refined("recovery_failed", Severity::Critical)
            .and("After an error that the hardware did not correct, the kernel could not bring the devices below the port back.")
            .first("Check which devices below the port still answer: lspci -s <address>; a GPU that does not needs a restart of the host."),
        Some(_) => return base
            .refined("recovered", Severity::Info)
            .and("After an error that the hardware did not correct, the kernel brought the devices below the port back."),
        None => {}
    }
    if aer.dpc_reason.is_some() {
        return base
            .refined("contained", Severity::Critical)
            .and("The port cut its link to contain an error: what is below it does not answer until it has recovered.")
            .first("Look for the recovery's end in the kernel log: device recovery successful or failed.");
    }
    match aer.severity.as_deref().and_then(class) {
        Some("corrected") => base
            .refined("corrected", Severity::Info)
            .and("The hardware corrected the error and no data was lost; a high rate points to a poor link."),
        Some("nonfatal") => base
            .refined("nonfatal", Severity::Warning)
            .and("One transaction failed, the link goes on; a program or driver may see an error."),
        Some(_) => base
            .refined("fatal", Severity::Critical)
            .and("The link cannot be relied on: the device is lost or about to be reset.")
            .first("Check whether the device still answers: lspci -s <address>; a GPU that does not needs a restart of the host."),
        None => base,
    }
}

#[cfg(test)]
mod tests {
    use super::class;

    #[test]
    fn every_wording_of_the_kernel_has_its_class() {
        for (want, words) in [
            (
                "corrected",
                &["Corrected", "Correctable", "corrected error"][..],
            ),
            (
                "nonfatal",
                &[
                    "Uncorrected (Non-Fatal)",
                    "Uncorrectable (Non-Fatal)",
                    "Uncorrected (Non-fatal)",
                    "nonfatal",
                    "non-fatal",
                ],
            ),
            (
                "fatal",
                &["Uncorrected (Fatal)", "Uncorrectable (Fatal)", "fatal"],
            ),
        ] {
            for word in words {
                assert_eq!(class(word), Some(want), "{word}");
            }
        }
        assert_eq!(class(""), None);
        assert_eq!(class("Inaccessible"), None);
    }
}
