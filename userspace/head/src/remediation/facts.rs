//! What the policy has rules for, and what holds of hosts that plans are about.

use std::collections::{BTreeMap, BTreeSet};

use gtrace_event::{
    HealthAction, HealthState, Incident, IncidentState, PciAddress, SubjectKind, Timestamp,
};
use gtrace_fleet::RequestState;
use gtrace_fleet::remedy::{Cause, Effect, Facts, HostFacts, Plan, Policy, Rule, Step, StepState};

use super::slurm::Node;
use super::{Managers, request_of};
use crate::db::{Database, DbError, EventQuery, HostRow, IncidentQuery, Wish};
use crate::view::is_silent;

/// Incidents that are looked at, the newest.
const INCIDENTS: u32 = 2000;
/// Events of a host that are looked at for the kinds of an incident.
const EVENTS: u32 = 1000;

/// The request to the agent that a step of a plan makes.
pub(super) fn request_key(plan: i64, step: Step) -> String {
    format!("plan:{plan}:{step}")
}

/// What the policy has rules for: open incidents and the health of hosts.
pub(super) fn wishes(
    db: &mut Database,
    policy: &Policy,
    rows: &[HostRow],
) -> Result<Vec<Wish>, DbError> {
    let hosts: BTreeMap<&str, &HostRow> = rows
        .iter()
        .filter(|row| row.revoked.is_none())
        .map(|row| (row.name.as_str(), row))
        .collect();
    let mut wishes = Vec::new();
    let of_incidents = policy.rules.iter().any(|rule| !rule.is_of_health());
    let open = match of_incidents {
        true => db.incidents(&IncidentQuery {
            unresolved: true,
            limit: INCIDENTS,
            ..IncidentQuery::default()
        })?,
        false => Vec::new(),
    };
    for found in &open {
        let Some(row) = hosts.get(found.fleet_host.as_str()) else {
            continue;
        };
        for rule in &policy.rules {
            if fits_host(rule, row)
                && rule.fits_incident(&found.incident)
                && has_kind(db, rule, &row.name, &found.incident)?
            {
                wishes.push(of_incident(rule, row, &found.incident));
                break;
            }
        }
    }
    let now = Timestamp::now();
    for row in hosts.values().filter(|row| !is_silent(row, now)) {
        let mut rules = policy.rules.iter().filter(|rule| fits_host(rule, row));
        wishes.extend(rules.find_map(|rule| of_health(rule, row)));
    }
    Ok(wishes)
}

fn fits_host(rule: &Rule, row: &HostRow) -> bool {
    let none = BTreeMap::new();
    let labels = row.state.as_ref().map_or(&none, |state| &state.labels);
    rule.fits_host(&row.name, labels)
}

/// Whether the incident has an event of a kind that the rule wants.
fn has_kind(
    db: &mut Database,
    rule: &Rule,
    host: &str,
    incident: &Incident,
) -> Result<bool, DbError> {
    if rule.kind.is_empty() {
        return Ok(true);
    }
    let minute = jiff::SignedDuration::from_mins(1);
    let events = db.events(&EventQuery {
        since: incident.opened.checked_sub(minute).ok(),
        until: incident.last_time.checked_add(minute).ok(),
        host: Some(host.to_owned()),
        limit: EVENTS,
        ..EventQuery::default()
    })?;
    let mut of_incident = events
        .iter()
        .filter(|found| incident.events.contains(&found.event.id));
    Ok(of_incident.any(|found| rule.kind.contains(&found.event.kind)))
}

fn of_incident(rule: &Rule, row: &HostRow, incident: &Incident) -> Wish {
    let gpus = &incident.affected.gpus;
    let only = match gpus.as_slice() {
        [gpu] => gpu.pci.map(|pci| pci.to_string()),
        _ => None,
    };
    Wish {
        host: row.name.clone(),
        rule: rule.name.clone(),
        cause: Cause {
            key: Cause::key_of_incident(&row.name, &incident.id.to_string()),
            text: format!("{} ({})", incident.title, incident.class.title()),
            incident: Some(incident.id),
            health: None,
            gpu: only,
        },
        steps: rule.steps.clone(),
        approval: rule.approval,
        drill: incident.drill,
    }
}

fn of_health(rule: &Rule, row: &HostRow) -> Option<Wish> {
    let report = row.state.as_ref()?.health.as_ref()?;
    let wanted = rule.health.contains(&report.action) && report.state.is_bad();
    let subject = report
        .subjects
        .iter()
        .filter(|subject| subject.action == report.action)
        .max_by_key(|subject| subject.subject.part == SubjectKind::Gpu)
        .filter(|_| wanted)?;
    let is_gpu = subject.subject.part == SubjectKind::Gpu;
    let pci = PciAddress::parse(&subject.subject.name).filter(|_| is_gpu);
    let why = subject.reasons.iter().find(|reason| reason.state.is_bad());
    Some(Wish {
        host: row.name.clone(),
        rule: rule.name.clone(),
        cause: Cause {
            key: Cause::key_of_health(&row.name, report.action, subject.since),
            text: format!(
                "{}: {}",
                subject.subject,
                why.map_or("it is not well", |why| why.text.as_str())
            ),
            incident: None,
            health: Some(report.action),
            gpu: pci.map(|pci| pci.to_string()),
        },
        steps: rule.steps.clone(),
        approval: rule.approval,
        drill: false,
    })
}

/// What holds now.
pub(super) fn facts(
    db: &mut Database,
    managers: &Managers,
    plans: &[Plan],
    rows: &[HostRow],
    now: Timestamp,
) -> Result<Facts, DbError> {
    let members: Vec<&HostRow> = rows.iter().filter(|row| row.revoked.is_none()).collect();
    let mut facts = Facts {
        now,
        hosts: members.len(),
        out: BTreeSet::new(),
        out_unknown: None,
        of: BTreeMap::new(),
    };
    if plans.is_empty() {
        return Ok(facts);
    }
    let silent = members.iter().filter(|row| is_silent(row, now));
    facts.out.extend(silent.map(|row| row.name.clone()));
    let mut take_out = |names: BTreeSet<String>| {
        let known = members.iter().filter(|row| names.contains(&row.name));
        facts.out.extend(known.map(|row| row.name.clone()));
    };
    let mut unknown = None;
    match &managers.kubernetes {
        Some(Ok(api)) => match api.cordoned() {
            Ok(names) => take_out(names),
            Err(why) => unknown = Some(why),
        },
        Some(Err(why)) => unknown = Some(why.clone()),
        None => {}
    }
    let slurm = managers.slurm.as_ref().map(|slurm| slurm.nodes());
    match &slurm {
        Some(Ok(nodes)) => {
            let out = nodes.iter().filter(|(_, node)| node.is_out());
            take_out(out.map(|(name, _)| name.clone()).collect());
        }
        Some(Err(why)) => unknown = Some(why.clone()),
        None => {}
    }
    facts.out_unknown = unknown;
    for plan in plans {
        let row = members.iter().find(|row| row.name == plan.host).copied();
        let of = of_plan(db, managers, slurm.as_ref(), plan, row, now)?;
        facts.of.insert(plan.id, of);
    }
    Ok(facts)
}

/// The nodes of Slurm, where there is one and it answers.
type SlurmNodes = Result<BTreeMap<String, Node>, String>;

fn of_plan(
    db: &mut Database,
    managers: &Managers,
    slurm: Option<&SlurmNodes>,
    plan: &Plan,
    row: Option<&HostRow>,
    now: Timestamp,
) -> Result<HostFacts, DbError> {
    let mut of = HostFacts {
        unwell: unwell(row, now).or_else(|| not_heard_since(plan, row)),
        gone: row.is_none(),
        cannot: plan
            .steps
            .iter()
            .filter(|one| one.step.is_disruptive())
            .find_map(|one| {
                let gpu = plan.cause.gpu.as_deref();
                request_of(one.step, gpu, &plan.host, row).err()
            }),
        boot: row.and_then(|row| row.state.as_ref()?.boot_id.clone()),
        ..HostFacts::default()
    };
    if row.is_none() {
        of.over = Some("the host is in the fleet no longer".to_owned());
    }
    match (plan.cause.incident, plan.cause.health) {
        (Some(id), _) => {
            let query = IncidentQuery {
                host: Some(plan.host.clone()),
                id: Some(id),
                limit: 1,
                ..IncidentQuery::default()
            };
            let found = db.incidents(&query)?.pop().map(|found| found.incident);
            match found {
                Some(incident) if incident.state == IncidentState::Resolved => {
                    of.over = Some("the incident is resolved".to_owned());
                }
                Some(incident) if incident.evidence.is_empty() && incident.missing.is_empty() => {
                    of.no_evidence =
                        Some("the host has not yet said what it kept of the incident".to_owned());
                }
                Some(_) => {}
                None => of.over = Some("the incident is not known any more".to_owned()),
            }
        }
        (None, Some(action)) => {
            let report = row.and_then(|row| row.state.as_ref()?.health.as_ref());
            let is_known = row.is_some_and(|row| !is_silent(row, now));
            if let Some(report) = report.filter(|report| is_known && report.action != action) {
                let asks = report.action.name();
                of.over = Some(format!("the host's health asks for `{asks}` now"));
            }
        }
        (None, None) => {}
    }
    jobs_and_effects(db, managers, slurm, plan, row, &mut of)?;
    Ok(of)
}

/// Whether what the host said of its health is older than what was done about it.
fn not_heard_since(plan: &Plan, row: Option<&HostRow>) -> Option<String> {
    let heard = row?.state.as_ref()?.health.as_ref()?.time;
    let done = plan.steps.iter().filter(|one| one.step.is_disruptive());
    let newest = done.filter_map(|one| Some((one.seen?, one.step))).max()?;
    (heard <= newest.0).then(|| format!("the host has not yet said how it is after {}", newest.1))
}

/// Why the host is not well.
fn unwell(row: Option<&HostRow>, now: Timestamp) -> Option<String> {
    let Some(row) = row else {
        return Some("the host is in the fleet no longer".to_owned());
    };
    if is_silent(row, now) {
        return Some("the host is silent".to_owned());
    }
    let report = row.state.as_ref().and_then(|state| state.health.as_ref());
    let Some(report) = report else {
        return Some("nothing is known of the host's health".to_owned());
    };
    let is_well = match report.state {
        HealthState::Healthy => true,
        HealthState::Degraded => report.action < HealthAction::ResetGpu,
        _ => false,
    };
    (!is_well).then(|| {
        let (state, action) = (report.state, report.action.name());
        format!("the host is {state}, and asks for `{action}`")
    })
}

fn jobs_and_effects(
    db: &mut Database,
    managers: &Managers,
    slurm: Option<&SlurmNodes>,
    plan: &Plan,
    row: Option<&HostRow>,
    of: &mut HostFacts,
) -> Result<(), DbError> {
    let host = plan.host.as_str();
    let (mut is_known, mut is_managed) = (false, false);
    let uses = |step: Step| plan.steps.iter().any(|one| one.step == step);
    let needs_jobs = plan.steps.iter().any(|one| {
        (one.step.is_disruptive() || one.step == Step::Drain) && one.state != StepState::Done
    });
    match &managers.kubernetes {
        Some(Ok(api)) => {
            is_managed = true;
            let node = api.node(host);
            let cordon = match &node {
                Ok(Some(node)) => node.effect(plan.id),
                // What is not there is not cordoned.
                Ok(None) => Effect::Absent,
                Err(why) => Effect::Unknown(why.clone()),
            };
            of.effects.insert(Step::Cordon, cordon);
            is_known |= matches!(node, Ok(Some(_)));
            if needs_jobs && matches!(node, Ok(Some(_))) {
                let drained = match api.busy(host) {
                    Ok(None) => Effect::Ours,
                    Ok(Some(pods)) => {
                        of.busy = Some(pods);
                        Effect::Absent
                    }
                    Err(why) => {
                        of.busy = Some(why.clone());
                        Effect::Unknown(why)
                    }
                };
                of.effects.insert(Step::Drain, drained);
            }
            if let Err(why) = node {
                of.busy = Some(why);
            }
        }
        Some(Err(why)) => {
            is_managed = true;
            of.busy = Some(why.clone());
            of.effects
                .insert(Step::Cordon, Effect::Unknown(why.clone()));
        }
        None => {}
    }
    if let Some(nodes) = slurm {
        is_managed = true;
        let drain = match nodes {
            Ok(nodes) => match nodes.get(host) {
                Some(node) => {
                    is_known = true;
                    of.busy = of.busy.take().or_else(|| node.busy());
                    node.effect(plan.id)
                }
                None => Effect::Absent,
            },
            Err(why) => {
                of.busy = Some(why.clone());
                Effect::Unknown(why.clone())
            }
        };
        of.effects.insert(Step::SlurmDrain, drain);
    }
    if is_managed && !is_known && of.busy.is_none() {
        let why = "neither Kubernetes nor Slurm has a node of the host's name: whether it has jobs is not known";
        of.busy = Some(why.to_owned());
    }
    for step in [Step::ResetGpu, Step::Reboot] {
        if uses(step) {
            let effect = effect_of_request(db, plan, step, row)?;
            of.effects.insert(step, effect);
        }
    }
    Ok(())
}

/// What came of what the host was asked to do.
fn effect_of_request(
    db: &mut Database,
    plan: &Plan,
    step: Step,
    row: Option<&HostRow>,
) -> Result<Effect, DbError> {
    let Some(request) = db.request_by_key(&request_key(plan.id, step))? else {
        return Ok(Effect::Absent);
    };
    let said = request.said.clone().unwrap_or_default();
    let before = plan
        .steps
        .iter()
        .find(|one| one.step == step)
        .and_then(|one| one.boot.clone());
    let now = row.and_then(|row| row.state.as_ref()?.boot_id.clone());
    let is_rebooted = before.is_some() && now.is_some() && before != now;
    Ok(match (step, request.state) {
        (Step::Reboot, RequestState::Begun | RequestState::Done | RequestState::Expired)
            if is_rebooted =>
        {
            Effect::Ours
        }
        (Step::Reboot, RequestState::Done) if before.is_none() => {
            Effect::Unknown("the host does not say its boot".to_owned())
        }
        (_, RequestState::Failed | RequestState::Expired) => Effect::Failed(said),
        (Step::ResetGpu, RequestState::Done) => Effect::Ours,
        _ => Effect::Going,
    })
}
