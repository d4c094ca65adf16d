//! Health for NVSentinel: what has changed goes to its platform connector, until it has taken it.
//!
//! Each reason of a GPU, NVSwitch, port or the host is a check of NVSentinel; when it ends, the same check is healthy. What was
//! taken is kept in a file beside the store, so that an end is reported also after a restart.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gtrace_event::{
    HealthAction, HealthReason, HealthReport, HealthState, ReasonStatus, SubjectHealth,
    SubjectKind, Timestamp,
};
use gtrace_grpc::CallError;
use gtrace_grpc::nvsentinel::{self, Entity, HealthEvent, RecommendedAction};
use serde::{Deserialize, Serialize};

use crate::hub::Hub;
use crate::supervise::{Task, beat, names};
use crate::whole_file;

/// Between looks at the health.
const EVERY: Duration = Duration::from_secs(2);
/// How long the platform connector has to answer.
const DEADLINE: Duration = Duration::from_secs(5);
/// The longest wait after a failure.
const LONGEST: Duration = Duration::from_secs(60);
/// Longest time between two heartbeats.
const SILENCE: Duration = Duration::from_secs(120);
/// Events in one message at most.
const BATCH: usize = 64;
/// Name of the file of what was taken, beside the store.
const FILE: &str = "nvsentinel.json";

/// How it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The platform connector's socket.
    pub socket: PathBuf,
    /// Only to be stored there: no quarantine and no drain follows.
    pub store_only: bool,
    /// Directory of the store.
    pub state_dir: PathBuf,
}

/// A check as it was reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Reported {
    part: SubjectKind,
    name: String,
    uuid: Option<String>,
    rule: String,
    code: Option<u32>,
    state: HealthState,
    action: HealthAction,
    text: String,
}

/// By part, rule and code.
type Checks = BTreeMap<String, Reported>;

/// What is bad now. Notices and what nobody can judge are no business of NVSentinel's; nor are gtrace's own components, which
/// GPUs, ports and the host speak for.
fn bad(report: &HealthReport) -> Checks {
    let parts = report.subjects.iter();
    let parts = parts.filter(|part| part.subject.part != SubjectKind::Component);
    let mut checks = Checks::new();
    for part in parts {
        let holds = part
            .reasons
            .iter()
            .filter(|reason| reason.status == ReasonStatus::Active && reason.state.is_bad());
        for reason in holds {
            let reported = reported(part, reason);
            let key = format!("{}|{}|{:?}", part.subject, reported.rule, reported.code);
            checks.insert(key, reported);
        }
    }
    checks
}

fn reported(part: &SubjectHealth, reason: &HealthReason) -> Reported {
    Reported {
        part: part.subject.part,
        name: part.subject.name.clone(),
        uuid: part.uuid.clone(),
        rule: reason.rule.clone(),
        code: reason.code,
        state: reason.state,
        action: reason.action,
        text: reason.text.clone(),
    }
}

/// Whether gtrace knows the part and can judge it: of one that nobody has seen since a reboot it does not know that anything is
/// over.
fn can_judge(report: &HealthReport, reported: &Reported) -> bool {
    let mut parts = report.subjects.iter();
    let part =
        parts.find(|part| part.subject.part == reported.part && part.subject.name == reported.name);
    part.is_some_and(|part| {
        let mut holds = part
            .reasons
            .iter()
            .filter(|reason| reason.status == ReasonStatus::Active);
        holds.all(|reason| reason.state != HealthState::Unknown)
    })
}

/// What is to be reported: checks that are new or another, and those that have ended, with whether they are well. One that is not
/// bad now has ended if `is_over` says so.
fn changes(
    before: &Checks,
    now: &Checks,
    is_over: impl Fn(&str, &Reported) -> bool,
) -> Vec<(String, Reported, bool)> {
    let other = now
        .iter()
        .filter(|(key, reported)| before.get(*key) != Some(*reported));
    let ended = before
        .iter()
        .filter(|(key, reported)| !now.contains_key(*key) && is_over(key, reported));
    let other = other.map(|(key, reported)| (key.clone(), reported.clone(), false));
    other
        .chain(ended.map(|(key, reported)| (key.clone(), reported.clone(), true)))
        .collect()
}

fn recommended(action: HealthAction) -> RecommendedAction {
    match action {
        HealthAction::None | HealthAction::Watch => RecommendedAction::None,
        HealthAction::RestartApplication => RecommendedAction::RestartApp,
        HealthAction::ResetGpu => RecommendedAction::ComponentReset,
        HealthAction::Reboot | HealthAction::PowerCycle => RecommendedAction::RestartBm,
        HealthAction::Drain => RecommendedAction::RunFieldDiag,
        HealthAction::Replace => RecommendedAction::ContactSupport,
    }
}

fn event(
    reported: &Reported,
    is_well: bool,
    node: &str,
    store_only: bool,
    now: Timestamp,
) -> HealthEvent {
    let (class, kind) = match reported.part {
        SubjectKind::Gpu => ("GPU", "PCI"),
        SubjectKind::Nvswitch => ("NVSwitch", "PCI"),
        SubjectKind::Port => ("NIC", "NIC"),
        SubjectKind::Host | SubjectKind::Component => ("Host", "Host"),
    };
    let name = match reported.name.is_empty() {
        true => node.to_owned(),
        false => reported.name.clone(),
    };
    let mut entities = vec![Entity {
        entity_type: kind.to_owned(),
        entity_value: name,
    }];
    entities.extend(reported.uuid.clone().map(|uuid| Entity {
        entity_type: "GPU_UUID".to_owned(),
        entity_value: uuid,
    }));
    let action = match is_well {
        true => HealthAction::None,
        false => reported.action,
    };
    HealthEvent {
        version: 1,
        agent: "gtrace".to_owned(),
        component_class: class.to_owned(),
        check_name: reported.rule.clone(),
        is_fatal: !is_well && reported.state == HealthState::Unhealthy,
        is_healthy: is_well,
        message: match is_well {
            true => format!("it is over: {}", reported.text),
            false => reported.text.clone(),
        },
        recommended_action: recommended(action).into(),
        error_code: reported
            .code
            .map(|code| code.to_string())
            .into_iter()
            .collect(),
        entities_impacted: entities,
        metadata: [("gtrace_action".to_owned(), action.name().to_owned())].into(),
        generated_timestamp: Some(nvsentinel::Timestamp {
            seconds: now.as_second(),
            nanos: now.subsec_nanosecond(),
        }),
        node_name: node.to_owned(),
        processing_strategy: if store_only { 2 } else { 0 },
    }
}

/// Reports changes of health to NVSentinel.
struct Reporter {
    options: Options,
    node: String,
    reported: Checks,
    /// Whether the file could not be written since `reported` changed.
    is_unkept: bool,
    /// What was bad at some time since the start.
    seen: BTreeSet<String>,
}

impl Reporter {
    fn new(options: Options, node: String) -> Self {
        let text = std::fs::read(options.state_dir.join(FILE)).unwrap_or_default();
        Self {
            reported: serde_json::from_slice(&text).unwrap_or_default(),
            options,
            node,
            is_unkept: false,
            seen: BTreeSet::new(),
        }
    }

    /// Reports what has changed, and returns how many events that were. Unless the health of earlier runs was read back
    /// (`is_restored`), nobody knows whether what they have reported is over.
    fn report_changes(
        &mut self,
        report: &HealthReport,
        is_restored: bool,
    ) -> Result<usize, CallError> {
        if self.is_unkept {
            self.keep();
        }
        let now = bad(report);
        self.seen.extend(now.keys().cloned());
        let is_over = |key: &str, reported: &Reported| {
            (is_restored || self.seen.contains(key)) && can_judge(report, reported)
        };
        let changes = changes(&self.reported, &now, is_over);
        for some in changes.chunks(BATCH) {
            let now = Timestamp::now();
            let store_only = self.options.store_only;
            let events = some.iter();
            let events = events
                .map(|(_, reported, well)| event(reported, *well, &self.node, store_only, now));
            nvsentinel::send(&self.options.socket, events.collect(), DEADLINE)?;
            for (key, reported, well) in some {
                match well {
                    true => {
                        self.reported.remove(key);
                        self.seen.remove(key);
                    }
                    false => drop(self.reported.insert(key.clone(), reported.clone())),
                }
            }
            self.keep();
        }
        Ok(changes.len())
    }

    fn keep(&mut self) {
        let file = self.options.state_dir.join(FILE);
        let kept = serde_json::to_string(&self.reported)
            .map_err(io::Error::from)
            .and_then(|text| whole_file::save(&file, &text));
        if let Err(error) = &kept
            && !self.is_unkept
        {
            tracing::warn!(
                "{}: {error}: ends of health may not be reported after a restart",
                file.display()
            );
        }
        self.is_unkept = kept.is_err();
    }
}

/// The node's name, which a manifest may leave empty.
fn node_name(given: Option<String>) -> String {
    let given = given.filter(|name| !name.is_empty());
    given.unwrap_or_else(crate::host::name)
}

/// Starts the task.
///
/// # Errors
///
/// If the thread cannot be started.
pub fn start(hub: &Arc<Hub>, options: Options) -> io::Result<()> {
    let task = Task::optional(names::NVSENTINEL, SILENCE);
    let of_task = Arc::clone(hub);
    hub.tasks.start(task, move |pulse| {
        let node = node_name(std::env::var("NODE_NAME").ok());
        let mut reporter = Reporter::new(options.clone(), node);
        let (mut wait, mut failing) = (EVERY, false);
        let (mut taken, mut failures) = (0_u64, 0_u64);
        while !pulse.is_stopping() {
            beat();
            if let Some(report) = of_task.health_report() {
                match reporter.report_changes(&report, of_task.is_health_restored()) {
                    Ok(events) => {
                        if failing {
                            tracing::info!("NVSentinel takes health events again");
                        }
                        taken = taken.saturating_add(events as u64);
                        (wait, failing) = (EVERY, false);
                    }
                    Err(error) => {
                        if !failing {
                            tracing::warn!("NVSentinel: {error}; it is tried again");
                        }
                        failures = failures.saturating_add(1);
                        (wait, failing) = ((wait * 2).min(LONGEST), true);
                    }
                }
            }
            of_task.samples.publish_now(
                names::NVSENTINEL,
                LONGEST,
                Vec::from(gtrace_devices::metric_table! {
                    counter "gtrace_nvsentinel_events" [""] "Health events that NVSentinel took" => taken as f64;
                    counter "gtrace_nvsentinel_failures" [""] "Reports to NVSentinel that failed" =>
                        failures as f64;
                }),
            );
            pulse.wait(wait);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::Receiver;

    use bytes::Bytes;
    use gtrace_event::HealthSubject;
    use gtrace_grpc::nvsentinel::HealthEvents;
    use gtrace_grpc::parse;
    use gtrace_grpc::testing::{Reply, serve};
    use tempfile::TempDir;

    use super::*;

    fn report(reasons: Vec<(HealthState, &str)>) -> HealthReport {
        let (reboot, time) = (HealthAction::Reboot, Timestamp::UNIX_EPOCH);
        let reason = |(state, text): (HealthState, &str)| HealthReason {
            code: Some(79),
            ..HealthReason::own(text, state, reboot, text, time)
        };
        let gpu = HealthSubject::new(SubjectKind::Gpu, "0000:3b:00.0");
        HealthReport {
            state: HealthState::Unhealthy,
            action: reboot,
            subjects: vec![SubjectHealth {
                uuid: Some("GPU-a".to_owned()),
                state: HealthState::Unhealthy,
                action: reboot,
                reasons: reasons.into_iter().map(reason).collect(),
                ..SubjectHealth::healthy(gpu, time)
            }],
            ..HealthReport::default()
        }
    }

    /// A fake of the platform connector, which speaks its protocol, in a folder of its own; and the calls that it gets.
    fn connector() -> (TempDir, Options, Receiver<(String, Vec<u8>)>) {
        let dir = tempfile::tempdir().unwrap();
        let (socket, calls) = serve(dir.path(), Reply::Message(Bytes::from_static(&[0; 5])));
        let options = Options {
            socket,
            store_only: false,
            state_dir: dir.path().to_owned(),
        };
        (dir, options, calls)
    }

    #[test]
    fn a_node_without_a_name_is_called_as_its_host() {
        assert_eq!(node_name(Some("gpu-7".to_owned())), "gpu-7");
        assert_eq!(node_name(Some(String::new())), crate::host::name());
    }

    #[test]
    fn a_reason_is_reported_once_and_its_end_also_after_a_restart_and_a_failure() {
        let (dir, options, calls) = connector();
        let reported = || {
            parse::<HealthEvents>(&calls.recv().unwrap().1)
                .unwrap()
                .events
        };
        let bad = report(vec![
            (HealthState::Unhealthy, "off-the-bus"),
            (HealthState::Healthy, "a-notice"),
        ]);
        let mut reporter = Reporter::new(options.clone(), "node-1".to_owned());
        assert_eq!(reporter.report_changes(&bad, true).unwrap(), 1);
        assert_eq!(
            reporter.report_changes(&bad, true).unwrap(),
            0,
            "it was reported before"
        );
        let events = reported();
        assert_eq!(events.len(), 1);
        let event = &events[0];
        assert!(event.is_fatal && !event.is_healthy);
        assert_eq!(
            (&event.check_name[..], &event.node_name[..]),
            ("off-the-bus", "node-1")
        );
        assert_eq!(event.error_code, ["79"]);
        assert_eq!(event.recommended_action(), RecommendedAction::RestartBm);
        let entities = event.entities_impacted.iter();
        let entities: Vec<_> = entities
            .map(|e| (&e.entity_type[..], &e.entity_value[..]))
            .collect();
        assert_eq!(entities, [("PCI", "0000:3b:00.0"), ("GPU_UUID", "GPU-a")]);

        // Another daemon, at first without a connector.
        let nowhere = Options {
            socket: dir.path().join("none.sock"),
            ..options.clone()
        };
        let well = report(Vec::new());
        Reporter::new(nowhere, "node-1".to_owned())
            .report_changes(&well, true)
            .unwrap_err();
        let mut reporter = Reporter::new(options, "node-1".to_owned());
        assert_eq!(reporter.report_changes(&well, true).unwrap(), 1);
        let end = reported().remove(0);
        assert!(end.is_healthy && !end.is_fatal);
        assert_eq!(end.check_name, "off-the-bus");
        assert_eq!(end.entities_impacted.len(), 2);
        assert_eq!(reporter.report_changes(&well, true).unwrap(), 0);
    }

    #[test]
    fn what_the_disk_had_no_room_for_is_kept_once_there_is_room() {
        let (dir, mut options, _calls) = connector();
        options.state_dir = dir.path().join("state");
        std::fs::write(&options.state_dir, "in the way").unwrap();
        let bad = report(vec![(HealthState::Unhealthy, "off-the-bus")]);
        let mut reporter = Reporter::new(options.clone(), "node-1".to_owned());
        assert_eq!(reporter.report_changes(&bad, true).unwrap(), 1);
        assert!(reporter.is_unkept);
        std::fs::remove_file(&options.state_dir).unwrap();
        assert_eq!(reporter.report_changes(&bad, true).unwrap(), 0);
        let mut next = Reporter::new(options, "node-1".to_owned());
        assert_eq!(next.report_changes(&report(Vec::new()), true).unwrap(), 1);
    }

    #[test]
    fn what_nobody_knows_to_be_over_is_not_reported_as_over() {
        let (_dir, options, calls) = connector();
        let reporter = || Reporter::new(options.clone(), "node-1".to_owned());
        let bad = report(vec![(HealthState::Unhealthy, "off-the-bus")]);
        assert_eq!(reporter().report_changes(&bad, true).unwrap(), 1);
        drop(calls.recv().unwrap());

        // After a reboot nobody has seen the GPU yet.
        let unseen = report(vec![(HealthState::Unknown, "not-seen")]);
        assert_eq!(reporter().report_changes(&unseen, true).unwrap(), 0);
        // The store could not be read: the GPU is there and nothing is known of it; or not even that it was there.
        let well = report(Vec::new());
        assert_eq!(reporter().report_changes(&well, false).unwrap(), 0);
        let mut empty = well.clone();
        empty.subjects.clear();
        assert_eq!(reporter().report_changes(&empty, true).unwrap(), 0);
        // What was bad since the start can end, whatever was read.
        let mut reporter = reporter();
        assert_eq!(reporter.report_changes(&bad, false).unwrap(), 0);
        assert_eq!(reporter.report_changes(&well, false).unwrap(), 1);
        let end = parse::<HealthEvents>(&calls.recv().unwrap().1).unwrap();
        assert!(end.events[0].is_healthy);
    }
}
