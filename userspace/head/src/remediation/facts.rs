//! What the policy has rules for, and what holds of hosts that plans are about.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use gtrace_event::{
    HealthAction, HealthState, Incident, IncidentState, PciAddress, SubjectKind, Timestamp,
};
use gtrace_fleet::RequestState;
use gtrace_fleet::remedy::{
    Cause, Effect, Facts, HostFacts, Mode, Plan, PlanStep, Policy, Rule, Step,
};

use super::polls::{Known, Manager, Polls};
use super::request_of;
use crate::db::{Database, DbError, HostRow, IncidentQuery, Wish, request_key};
use crate::view::{is_silent, labels};

/// So many of a host's incidents are searched for events of a kind, the newest.
const SEARCHED_OF_HOST: u32 = 50;

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
    let of_incidents = policy.rules.iter().any(|rule| !rule.is_of_health());
    let mut open = match of_incidents {
        true => db.unplanned_incidents(policy.mode == Mode::Dry)?,
        false => Vec::new(),
    };
    // The newest are searched first, and that of the longest standing gets its plan first.
    open.sort_by_key(|found| (Reverse(found.incident.last_time), found.incident.id));
    let mut found_wishes = Vec::new();
    let mut searched: BTreeMap<&str, u32> = BTreeMap::new();
    for found in &open {
        let Some(row) = hosts.get(found.fleet_host.as_str()) else {
            continue;
        };
        let mut is_searched = false;
        for rule in &policy.rules {
            if !fits_host(rule, row) || !rule.fits_incident(&found.incident) {
                continue;
            }
            if !rule.kind.is_empty() && !is_searched {
                is_searched = true;
                let searched = searched.entry(&row.name).or_default();
                *searched += 1;
                // Without the search it is not known which rule is the first.
                if *searched > SEARCHED_OF_HOST {
                    break;
                }
            }
            if has_kind(db, rule, &row.name, &found.incident)? {
                let order = (found.incident.opened, found.incident.id);
                found_wishes.push((order, of_incident(rule, row, &found.incident)));
                break;
            }
        }
    }
    found_wishes.sort_by_key(|(order, _)| *order);
    let mut wishes: Vec<Wish> = found_wishes.into_iter().map(|(_, wish)| wish).collect();
    let now = Timestamp::now();
    for row in hosts.values().filter(|row| !is_silent(row, now)) {
        let mut rules = policy.rules.iter().filter(|rule| fits_host(rule, row));
        wishes.extend(rules.find_map(|rule| of_health(rule, row)));
    }
    Ok(wishes)
}

fn fits_host(rule: &Rule, row: &HostRow) -> bool {
    rule.fits_host(&row.name, labels(row))
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
    let since = incident.opened.checked_sub(minute).ok();
    let until = incident.last_time.checked_add(minute).ok();
    db.has_kind(host, &rule.kind, &incident.events, (since, until))
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
            text: Cause::text_of(&format!("{} ({})", incident.title, incident.class.title())),
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
            text: Cause::text_of(&format!(
                "{}: {}",
                subject.subject,
                why.map_or("it is not well", |why| why.text.as_str())
            )),
            incident: None,
            health: Some(report.action),
            gpu: pci.map(|pci| pci.to_string()),
        },
        steps: rule.steps.clone(),
        approval: rule.approval,
        drill: false,
    })
}

/// What holds now. Plans that have to wait for an answer of a manager are left out.
pub(super) fn facts(
    db: &mut Database,
    polls: &Polls,
    policy: &Policy,
    plans: &[Plan],
    rows: &[HostRow],
) -> Result<Facts, DbError> {
    let now = Timestamp::now();
    let members: Vec<&HostRow> = rows.iter().filter(|row| row.revoked.is_none()).collect();
    let silent = members.iter().filter(|row| is_silent(row, now));
    let mut facts = Facts {
        now,
        hosts: members.len(),
        out: silent.map(|row| row.name.clone()).collect(),
        out_unknown: None,
        of: BTreeMap::new(),
    };
    let by_name: BTreeMap<&str, &HostRow> = members
        .iter()
        .map(|row| (row.name.as_str(), *row))
        .collect();
    let mut before: Option<Known<'_>> = None;
    for plan in plans {
        let Some(known) = polls.of(plan, policy) else {
            continue;
        };
        // Most plans know the same, of as many hosts as there are.
        if !before.as_ref().is_some_and(|before| before.is_same(&known)) {
            match out(&known) {
                Ok(names) => {
                    let out = names.iter().filter(|name| by_name.contains_key(*name));
                    facts.out.extend(out.map(|name| (*name).to_owned()));
                }
                Err(why) => facts.out_unknown = Some(why),
            }
        }
        let row = by_name.get(plan.host.as_str()).copied();
        let of = of_plan(db, &known, plan, row, now)?;
        facts.of.insert(plan.id, of);
        before = Some(known);
    }
    Ok(facts)
}

/// Nodes that get no work, by whomever.
fn out<'a>(known: &Known<'a>) -> Result<BTreeSet<&'a str>, String> {
    let mut names = BTreeSet::new();
    if let Some(nodes) = &known.kubernetes
        && let Some(cordoned) = &nodes.clone()?.cordoned
    {
        let cordoned = cordoned.as_ref().map_err(Clone::clone)?;
        names.extend(cordoned.iter().map(String::as_str));
    }
    if let Some(nodes) = &known.slurm {
        let out = nodes.clone()?.iter().filter(|(_, node)| node.is_out());
        names.extend(out.map(|(name, _)| name.as_str()));
    }
    Ok(names)
}

fn of_plan(
    db: &mut Database,
    known: &Known<'_>,
    plan: &Plan,
    row: Option<&HostRow>,
    now: Timestamp,
) -> Result<HostFacts, DbError> {
    let mut of = HostFacts {
        version: plan.version,
        unwell: unwell(row, now).or_else(|| has_not_reported_since(plan, row)),
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
        health_time: health_time(row),
        ..HostFacts::default()
    };
    if row.is_none() {
        of.over = Some("the host is in the fleet no longer".to_owned());
    }
    match (plan.cause.incident, plan.cause.health) {
        (Some(id), _) => {
            let query = IncidentQuery {
                hosts: Some(BTreeSet::from([plan.host.clone()])),
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
                    of.no_evidence = Some(
                        "the host has not yet reported what it kept of the incident".to_owned(),
                    );
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
    jobs_and_effects(known, plan, &mut of);
    for step in [Step::ResetGpu, Step::Reboot] {
        if plan.steps.iter().any(|one| one.step == step) {
            let effect = effect_of_request(db, plan, step, row)?;
            of.effects.insert(step, effect);
        }
    }
    Ok(of)
}

/// When the host found out what it reported last of its health, by its own clock.
fn health_time(row: Option<&HostRow>) -> Option<Timestamp> {
    Some(row?.state.as_ref()?.health.as_ref()?.time)
}

/// Whether what the host reported of its health is older than what was done about it. Each clock is compared with itself: the host has to have
/// reported since, and to have looked since it was known what was done.
fn has_not_reported_since(plan: &Plan, row: Option<&HostRow>) -> Option<String> {
    let done = plan.steps.iter().filter(|one| one.step.is_disruptive());
    let seen = |one: &&PlanStep| one.seen;
    let newest = done.filter(|one| one.seen.is_some()).max_by_key(seen)?;
    let is_newer =
        health_time(row) > newest.health_time && row.and_then(|row| row.seen) > newest.seen;
    (!is_newer).then(|| {
        format!(
            "the host has not yet reported how it is after {}",
            newest.step
        )
    })
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

fn jobs_and_effects(known: &Known<'_>, plan: &Plan, of: &mut HostFacts) {
    let host = plan.host.as_str();
    let (mut is_known, mut is_managed) = (false, false);
    if let Some(nodes) = &known.kubernetes {
        is_managed = true;
        let nodes = nodes.clone();
        let none = || Err("Kubernetes was not asked for the host".to_owned());
        let of_host = match &nodes {
            Ok(nodes) => nodes.hosts.get(host).map_or_else(none, Ok),
            Err(why) => Err(why.clone()),
        };
        let node = of_host
            .clone()
            .and_then(|k| k.node.as_ref().map_err(Clone::clone));
        let cordon = match &node {
            Ok(Some(node)) => node.effect(plan.id),
            // What is not there is not cordoned.
            Ok(None) => Effect::Absent,
            Err(why) => Effect::Unknown(why.clone()),
        };
        of.effects.insert(Step::Cordon, cordon);
        let other = of_host.clone().ok().and_then(|k| k.other.clone());
        if Manager::Kubernetes.is_needed_by(plan) {
            of.cannot = of.cannot.take().or(other);
        }
        is_known |= matches!(node, Ok(Some(_)));
        if let Some(busy) = of_host.ok().and_then(|k| k.busy.as_ref()) {
            let drained = match busy {
                Ok(None) => Effect::Ours,
                Ok(Some(pods)) => {
                    of.busy = Some(pods.clone());
                    Effect::Absent
                }
                Err(why) => {
                    of.busy = Some(why.clone());
                    Effect::Unknown(why.clone())
                }
            };
            of.effects.insert(Step::Drain, drained);
        }
        if let Err(why) = node {
            of.busy = Some(why);
        }
    }
    if let Some(nodes) = &known.slurm {
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
    let why = request.reported.clone().unwrap_or_default();
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
        (_, RequestState::Failed | RequestState::Expired) => Effect::Failed(why),
        (Step::ResetGpu, RequestState::Done) => Effect::Ours,
        _ => Effect::Going,
    })
}
