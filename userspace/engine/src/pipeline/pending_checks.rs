//! Reports of an error of the hardware that say less than another source may say of it wait a moment for that one, whichever comes
//! first: a corrected or deferred machine check of memory for the EDAC driver's report, which names the module; an error of firmware whose
//! severity a tracepoint does not say for the kernel's report of it; the line `Machine check events logged` for both; and the end of a
//! report of a PCIe error whose first lines one log has lost for those in the other. What nobody else reports is reported as it is.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use gtrace_event::{Kind, Occurrence, Provenance, WitnessName};

use crate::input::Observation;

/// How long an error waits. The kernel calls the EDAC drivers within microseconds after mce:mce_record; a report in the log ends up to
/// a second after its first line.
const CHECK_WAIT: Duration = Duration::from_millis(1500);
/// And a line of a log, for a machine check that has waited in vain too.
const NOTICE_WAIT: Duration = Duration::from_secs(2);
/// How many of each wait at most; further ones are reported at once.
const MAX_WAITING: usize = 1024;

/// Whether the occurrence is the line `Machine check events logged`, by the kernel as far as is known.
pub(super) fn is_notice(occurrence: &Occurrence) -> bool {
    let host = &occurrence.detail.host;
    occurrence.kind == Kind::MachineCheck
        && host.mce_bank.is_none()
        && host.error.as_deref() == Some("logged")
        && matches!(
            occurrence.provenance,
            Provenance::Kernel | Provenance::Unknown
        )
}

/// Whether the occurrence is what drivers/edac/mce_amd.c logs of a corrected or deferred error of memory, which amd64_edac reports
/// with its module.
pub(super) fn is_memory_line(occurrence: &Occurrence) -> bool {
    const ECC: &str = "Unified Memory Controller Ext. Error Code: 0";
    let by_kernel = matches!(
        occurrence.provenance,
        Provenance::Kernel | Provenance::Unknown
    );
    let host = &occurrence.detail.host;
    let ends = |rest: &str| !rest.starts_with(|next: char| next.is_ascii_digit());
    occurrence.kind == Kind::MachineCheck
        && (host.corrected == Some(true) || host.error.as_deref() == Some("deferred error"))
        && by_kernel
        && occurrence
            .message
            .split_once(ECC)
            .is_some_and(|(_, rest)| ends(rest))
}

/// Whether the occurrence is the end of a report of a PCIe error whose first lines, with the severity, were lost.
pub(super) fn is_rest(occurrence: &Occurrence) -> bool {
    let aer = &occurrence.detail.aer;
    occurrence.kind == Kind::Aer
        && aer.severity.is_none()
        && aer.recovery.is_none()
        && aer.dpc_reason.is_none()
}

/// What has waited long enough.
#[derive(Debug)]
pub(super) enum Due {
    /// An error, without what another source would say.
    Check(Observation),
    /// A line of a log.
    Notice(Observation),
}

/// What waits, the oldest first.
#[derive(Debug, Default)]
pub(super) struct PendingChecks {
    checks: VecDeque<(Instant, Observation)>,
    notices: VecDeque<(Instant, Observation)>,
}

impl PendingChecks {
    /// Keeps an error, or gives it back if too many wait.
    pub(super) fn wait_check(&mut self, check: Observation) -> Result<(), Box<Observation>> {
        wait(&mut self.checks, CHECK_WAIT, check)
    }

    /// Keeps a line that [`is_notice`], [`is_memory_line`] or [`is_rest`], or gives back any other.
    pub(super) fn wait_notice(&mut self, line: Observation) -> Result<(), Box<Observation>> {
        let of_log = matches!(line.witness, WitnessName::Kmsg | WitnessName::PrintkConsole);
        let occurrence = &line.occurrence;
        let says_less = is_notice(occurrence) || is_memory_line(occurrence) || is_rest(occurrence);
        if !of_log || !says_less {
            return Err(Box::new(line));
        }
        wait(&mut self.notices, NOTICE_WAIT, line)
    }

    /// Those that have waited long enough: machine checks first, as a line may speak of one.
    pub(super) fn overdue(&mut self, now: Instant) -> Vec<Due> {
        let mut due: Vec<Due> = take_due(&mut self.checks, now).map(Due::Check).collect();
        due.extend(take_due(&mut self.notices, now).map(Due::Notice));
        due
    }

    /// When the first has waited long enough.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let first = [self.checks.front(), self.notices.front()];
        first.into_iter().flatten().map(|(until, _)| *until).min()
    }
}

fn wait(
    waiting: &mut VecDeque<(Instant, Observation)>,
    wait: Duration,
    observation: Observation,
) -> Result<(), Box<Observation>> {
    if waiting.len() >= MAX_WAITING {
        return Err(Box::new(observation));
    }
    waiting.push_back((Instant::now() + wait, observation));
    Ok(())
}

fn take_due(
    waiting: &mut VecDeque<(Instant, Observation)>,
    now: Instant,
) -> impl Iterator<Item = Observation> + '_ {
    let due = waiting.iter().take_while(|(until, _)| *until <= now);
    let due = due.count();
    waiting.drain(..due).map(|(_, observation)| observation)
}
