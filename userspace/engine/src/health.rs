//! The health of the host as its readers see it: what the core knows, and what it cannot know now.

use gtrace_api::SourceState;
use gtrace_event::{HealthReport, HealthState, SubjectKind, Timestamp, WitnessName};
use gtrace_health::{Fold, Rules};
use gtrace_store::{Reader, StoreError};

use crate::hub::Hub;
use crate::pipeline;

/// The health now; `None` until the core has begun.
pub fn report(hub: &Hub) -> Option<HealthReport> {
    let mut report = HealthReport::clone(&*hub.health_report()?);
    let status = hub.status();
    report.time = Timestamp::now();
    report.host = Some(status.host.clone());
    report.machine_id.clone_from(&status.machine_id);
    report.boot_id = Some(status.boot_id.clone());
    report.maintenance = report
        .maintenance
        .filter(|window| window.is_on(report.time));
    let of_log = |witness: Option<WitnessName>| {
        matches!(
            witness,
            Some(WitnessName::PrintkConsole | WitnessName::Kmsg)
        )
    };
    let log_is_read = status.sources.iter().any(|source| {
        of_log(source.witness)
            && matches!(source.state, SourceState::Active | SourceState::Degraded)
    });
    if !log_is_read {
        let text = "the kernel log is not read, so that nobody knows of new faults";
        report.not_checked.push(text.to_owned());
        // What is known to be bad stays so.
        for subject in &mut report.subjects {
            let hidden = matches!(
                subject.subject.part,
                SubjectKind::Host | SubjectKind::Gpu | SubjectKind::Nvswitch
            );
            if hidden && subject.state == HealthState::Healthy {
                subject.state = HealthState::Unknown;
            }
        }
        if report.state == HealthState::Healthy {
            report.state = HealthState::Unknown;
        }
    }
    Some(report)
}

/// The health as the records of a store have it; `None` where it has none.
///
/// # Errors
///
/// Any that reading gives.
pub fn report_of(reader: &Reader) -> Result<Option<HealthReport>, StoreError> {
    let rules = Rules::builtin().map_err(|error| {
        // The files are part of the program, and tested.
        tracing::error!("{error}");
        StoreError::Missing {
            path: "rules".into(),
        }
    })?;
    let mut fold = Fold::new(rules);
    pipeline::replay_health(&mut fold, reader)?;
    let Some(boot) = fold.boot() else {
        return Ok(None);
    };
    let boot_id = Some(boot.to_owned());
    let now = Timestamp::now();
    let mut report = fold.report(now);
    report.boot_id = boot_id;
    let text = "read from the store: as of its last record, and what components see is not of now";
    report.not_checked.push(text.to_owned());
    Ok(Some(report))
}
