//! The health of the host as its readers see it: what the core knows, and what it cannot know now.

use gtrace_api::SourceState;
use gtrace_event::{
    Confidence, HealthAction, HealthReason, HealthReport, HealthState, SubjectHealth, SubjectKind,
    Timestamp, WitnessName,
};
use gtrace_health::{Fold, Rules};
use gtrace_store::{Reader, StoreError};
use jiff::SignedDuration;

use crate::hub::Hub;
use crate::{component, pipeline};

/// The rule of a reason: the store takes no records.
const STORE: &str = "store";
/// A store whose newest record is older than this says nothing of now: nobody writes it.
const TOO_OLD: SignedDuration = SignedDuration::from_mins(5);
/// Of so many of the last records the newest counts: one that is written late may be of an earlier time.
const LAST_RECORDS: usize = 16;

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
    for part in &mut report.subjects {
        show_words_of_now(part, hub);
    }
    let is_read = |log: WitnessName| {
        status.sources.iter().any(|source| {
            source.witness == Some(log)
                && matches!(source.state, SourceState::Active | SourceState::Degraded)
        })
    };
    let (console, kmsg) = (
        is_read(WitnessName::PrintkConsole),
        is_read(WitnessName::Kmsg),
    );
    let log_is_read = console || kmsg;
    if console && !kmsg {
        let text = "/dev/kmsg is not read, so that nobody says who wrote a line of the kernel log: what it says besides Xids changes nothing here";
        report.not_checked.push(text.to_owned());
    }
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
    if let Some(problem) = &status.store_problem {
        store_takes_nothing(&mut report, problem, status.store_waiting);
    }
    Some(report)
}

/// What a component says now, in which figures change while it says the same, and which a record has once a minute at most.
fn show_words_of_now(part: &mut SubjectHealth, hub: &Hub) {
    let is_component = part.subject.part == SubjectKind::Component;
    let Some(health) = hub.health(&part.subject.name).filter(|_| is_component) else {
        return;
    };
    let mut reasons = part.reasons.iter_mut();
    let reason = reasons.find(|reason| reason.rule == component::RULE);
    if let Some(reason) = reason.filter(|reason| reason.state == health.state) {
        reason.text = health.reasons.join("; ");
    }
}

/// A host whose store is full or broken works, and loses what happens once no more records may wait.
fn store_takes_nothing(report: &mut HealthReport, problem: &str, waiting: u64) {
    let time = report.time;
    let text = format!("the store of gtrace takes no records, {waiting} wait in memory: {problem}");
    let reason = HealthReason::own(
        STORE,
        HealthState::Degraded,
        HealthAction::Watch,
        &text,
        time,
    );
    let degraded = |state: HealthState| match state {
        HealthState::Unhealthy => state,
        _ => HealthState::Degraded,
    };
    report.state = degraded(report.state);
    report.action = report.action.max(HealthAction::Watch);
    let mut subjects = report.subjects.iter_mut();
    if let Some(host) = subjects.find(|known| known.subject.part == SubjectKind::Host) {
        if host.state != degraded(host.state) {
            (host.state, host.since) = (HealthState::Degraded, time);
            host.confidence = Some(Confidence::High);
        }
        host.action = host.action.max(HealthAction::Watch);
        host.reasons.push(reason);
    }
}

/// What was so long ago says nothing of now.
fn grow_old(report: &mut HealthReport, last: Timestamp) {
    let now = report.time;
    let age = now.duration_since(last);
    if age < TOO_OLD {
        return;
    }
    let ago = match age.as_mins() {
        minutes @ ..120 => format!("{minutes} min"),
        minutes if minutes < 48 * 60 => format!("{} h", minutes / 60),
        minutes => format!("{} days", minutes / (24 * 60)),
    };
    let at = last.strftime("%Y-%m-%d %H:%M UTC");
    let text = format!("as of {at}, {ago} ago: no daemon has written since");
    report.not_checked.insert(0, text);
    if report.state == HealthState::Healthy {
        report.state = HealthState::Unknown;
    }
    // What is known to be bad stays so.
    for subject in &mut report.subjects {
        if subject.state == HealthState::Healthy {
            subject.state = HealthState::Unknown;
        }
    }
}

/// When the newest of the last records was made.
fn last_time(reader: &Reader) -> Result<Option<Timestamp>, StoreError> {
    let after = reader.last_seq()?.saturating_sub(LAST_RECORDS as u64);
    let records = reader.records_after(after, LAST_RECORDS)?;
    Ok(records.iter().map(|(_, record)| record.time()).max())
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
    if let Some(last) = last_time(reader)? {
        grow_old(&mut report, last);
    }
    Ok(Some(report))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gtrace_api::ComponentHealth;
    use gtrace_event::{HealthRecord, HealthSubject, Occasion, Record};
    use gtrace_store::{Options, Store};

    use super::*;

    fn records(time: Timestamp) -> Vec<Record> {
        let observed = |occasion| {
            let record = HealthRecord::observed(time, occasion);
            Record::Health(Box::new(record))
        };
        let subject = HealthSubject::new(SubjectKind::Gpu, "0000:3b:00.0");
        vec![
            observed(Occasion::Boot {
                boot: "b".to_owned(),
            }),
            observed(Occasion::Found {
                subject,
                uuid: None,
            }),
        ]
    }

    #[test]
    fn a_store_that_nobody_writes_says_nothing_of_now() {
        let of_age = |age: SignedDuration| {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("store.db");
            let mut store = Store::open(&path, Options::default()).unwrap();
            store.append(&records(Timestamp::now() - age), &[]).unwrap();
            store.close();
            report_of(&Reader::open(&path).unwrap()).unwrap().unwrap()
        };
        assert_eq!(of_age(SignedDuration::ZERO).state, HealthState::Healthy);
        let old = of_age(SignedDuration::from_hours(3));
        assert!(old.subjects.iter().all(|s| s.state == HealthState::Unknown));
        assert_eq!(old.state, HealthState::Unknown);
        let says = &old.not_checked[0];
        assert!(
            says.starts_with("as of ") && says.contains("UTC, 3 h ago"),
            "{says}"
        );
    }

    #[test]
    fn a_component_has_the_words_of_now_and_not_of_the_last_run() {
        let (hub, _commands) = Hub::new(crate::hub::bare_status());
        let mut fold = Fold::new(Rules::builtin().unwrap());
        let occasion = Occasion::Judged {
            subject: HealthSubject::new(SubjectKind::Component, "pressure"),
            rule: component::RULE.to_owned(),
            state: HealthState::Degraded,
            action: HealthAction::Watch,
            text: "12 % of the time".to_owned(),
        };
        fold.record(&HealthRecord::observed(Timestamp::now(), occasion));
        hub.set_health_report(fold.report(Timestamp::now()), 0);
        let judge = |state: HealthState, text: &str| {
            let health = ComponentHealth::now(state, [text.to_owned()]);
            hub.set_health("pressure", health, Duration::from_secs(3600));
        };
        let text = || {
            let report = report(&hub).unwrap();
            let mut parts = report.subjects.into_iter();
            let part = parts.find(|part| part.subject.name == "pressure").unwrap();
            assert_eq!(part.state, HealthState::Degraded);
            part.reasons[0].text.clone()
        };
        assert_eq!(text(), "12 % of the time");
        judge(HealthState::Degraded, "31 % of the time");
        assert_eq!(text(), "31 % of the time");
        // Another state is none of this reason until it is a record.
        judge(HealthState::Healthy, "");
        assert_eq!(text(), "12 % of the time");
    }

    #[test]
    fn a_store_that_takes_nothing_makes_the_host_degraded_until_it_does_again() {
        let (hub, _commands) = Hub::new(crate::hub::bare_status());
        let mut fold = Fold::new(Rules::builtin().unwrap());
        for record in records(Timestamp::now()) {
            if let Record::Health(record) = record {
                fold.record(&record);
            }
        }
        hub.set_health_report(fold.report(Timestamp::now()), 0);
        hub.update_status(|status| {
            status.sources = crate::component::initial();
            for source in &mut status.sources {
                source.state = SourceState::Active;
            }
        });
        assert_eq!(report(&hub).unwrap().state, HealthState::Healthy);
        hub.update_status(|status| {
            status.store_problem = Some("no space left on device".to_owned());
            status.store_waiting = 7;
        });
        let full = report(&hub).unwrap();
        assert_eq!(
            (full.state, full.action),
            (HealthState::Degraded, HealthAction::Watch)
        );
        let host = &full.subjects[0];
        assert_eq!(host.state, HealthState::Degraded);
        assert_eq!(
            host.reasons[0].text,
            "the store of gtrace takes no records, 7 wait in memory: no space left on device"
        );
        assert!(
            full.subjects[1..]
                .iter()
                .all(|s| s.state == HealthState::Healthy)
        );
        hub.update_status(|status| status.store_problem = None);
        let whole = report(&hub).unwrap();
        assert_eq!(whole.state, HealthState::Healthy);
        assert_eq!(whole.not_checked, Vec::<String>::new());
        hub.update_status(|status| {
            let mut sources = status.sources.iter_mut();
            let kmsg = sources.find(|source| source.witness == Some(WitnessName::Kmsg));
            kmsg.unwrap().state = SourceState::Failed;
        });
        let unconfirmed = report(&hub).unwrap();
        assert_eq!(unconfirmed.state, HealthState::Healthy);
        let says = &unconfirmed.not_checked[0];
        assert!(says.starts_with("/dev/kmsg is not read"), "{says}");
    }
}
