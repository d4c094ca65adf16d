//! Remediation, end to end: a head with a policy, real agents, a stand-in of Kubernetes' API server, a stand-in of scontrol, a webhook.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

#[path = "support/site.rs"]
mod site;
mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use gtrace_event::{FailureClass, HealthReport, Incident, IncidentId, Kind, Record, Timestamp};
use gtrace_fleet::remedy::{
    Cause, Effect, Facts, HostFacts, Outcome, Plan, PlanState, Policy, Step, StepState,
};
use gtrace_fleet::{HostState, RequestState, TraceOrder, machine_id};
use gtrace_head::db::{Change, Database, Place, Request, Wish};
use gtrace_head::{AuditLine, By, RemediationView, TraceRequest};
use serde_json::{Value, json};
use site::{MACHINE, Shared, scontrol, serve};
use support::fleet::{Agent, Agents, Head, RecordingActor, enrolled_as};
use support::{Host, Postgres, incident, wait_for, wait_within};

fn health(state: &str, action: &str) -> Option<HealthReport> {
    let report =
        json!({ "time": Timestamp::now(), "state": state, "action": action, "subjects": [] });
    Some(serde_json::from_value(report).unwrap())
}

fn host(
    dir: &Path,
    name: &str,
    head: &Head,
    permits: &[&str],
) -> (Host, Agent, Arc<RecordingActor>) {
    let host = Host::new(dir, name);
    let machine = match name {
        "a1" => machine_id(MACHINE).unwrap(),
        _ => name.to_owned(),
    };
    let enrolled = enrolled_as(head, name, &head.token(None, 1), &machine);
    let mut agent = Agent::new(&host, enrolled, "r7");
    *agent.state.lock().unwrap() = HostState {
        boot_id: Some("first".to_owned()),
        health: health("unhealthy", "reboot"),
        ..HostState::default()
    };
    let actor = RecordingActor::of(&mut agent, permits);
    (host, agent, actor)
}

fn failure(host: &str, class: FailureClass) -> Incident {
    Incident {
        drill: false,
        ..incident(host, class, Timestamp::now())
    }
}

fn plans(head: &Head, all: bool) -> Vec<Plan> {
    let path = format!("/fleet/v1/remediation?all={all}");
    let view: RemediationView = head.client.get(&path).unwrap();
    assert_eq!(view.problem, None);
    view.plans
}

/// Waits until a plan is as it should be.
#[track_caller]
fn until_one(head: &Head, agents: &Agents, what: impl Fn(&Plan) -> bool) -> Plan {
    let there = || format!("it, beside {:#?},", plans(head, true));
    wait_within(60, &there, || {
        agents.wake();
        plans(head, true).into_iter().find(|plan| what(plan))
    })
}

/// Waits until the plan of a host is as it should be.
#[track_caller]
fn until(head: &Head, agents: &Agents, host: &str, what: impl Fn(&Plan) -> bool) -> Plan {
    let of_host = || plans(head, true).into_iter().find(|plan| plan.host == host);
    let there = || format!("it, beside {:#?},", of_host());
    wait_within(60, &there, || {
        agents.wake();
        of_host().filter(|plan| what(plan))
    })
}

fn waits_for(plan: &Plan, why: &str) -> bool {
    plan.waits.as_ref().is_some_and(|waits| waits.contains(why))
}

fn change(head: &Head, plan: &Plan, what: &str) -> Result<Plan, String> {
    let path = format!("/fleet/v1/remediation/{}/{what}", plan.id);
    let by = By {
        by: "alice".to_owned(),
    };
    head.client.post(&path, &by).map_err(|e| e.to_string())
}

fn remediation(database: &Place) {
    claims(database);
    let dir = tempfile::tempdir().unwrap();
    let site = Shared::default();
    let url = serve(&site);
    let scontrol = scontrol(dir.path());
    let slurm = |name: &str| dir.path().join("slurm").join(name);
    std::fs::write(dir.path().join("token"), "of-the-head\n").unwrap();
    let policy = dir.path().join("remediation.toml");
    let text = |mode: &str| {
        format!(
            r#"
mode = "{mode}"
turn_ms = 50
answer_s = 20
again_after_h = 0
plans_per_hour = 20
max_out = 1
max_out_percent = 50
[kubernetes]
url = "{url}"
token_file = "{token}"
[slurm]
scontrol = "{scontrol}"
[webhook]
url = "{url}/tickets"
[[rule]]
name = "pcie"
class = ["pcie"]
steps = ["ticket", "cordon", "drain", "reboot", "return"]
[[rule]]
name = "heat"
class = ["thermal"]
approval = false
steps = ["slurm_drain"]
[[rule]]
name = "memory"
class = ["gpu_memory"]
hosts = ["rack=r7"]
approval = false
steps = ["slurm_drain", "reset_gpu", "return"]
"#,
            token = dir.path().join("token").display(),
            scontrol = scontrol.display(),
        )
    };
    std::fs::write(&policy, text("dry")).unwrap();
    let start = |address: &str| Head::with_policy(dir.path(), database, address, policy.clone());
    let mut head = start("127.0.0.1:0");
    let (mut a1, agent1, actor1) = host(dir.path(), "a1", &head, &["reboot", "report", "trace"]);
    let (mut a2, agent2, actor2) = host(dir.path(), "a2", &head, &["reset_gpu"]);
    let (mut a3, agent3, actor3) = host(dir.path(), "a3", &head, &[]);
    {
        let mut site = site.lock().unwrap();
        let node = json!({
            "metadata": { "name": "a1", "resourceVersion": "7" }, "spec": {},
            "status": { "nodeInfo": { "machineID": MACHINE } },
        });
        site.nodes.insert("a1".to_owned(), node);
        let owner = |kind: &str| json!([{ "kind": kind, "controller": true }]);
        let mut pod = |name: &str, owners: Value| {
            let metadata = json!({ "name": name, "namespace": "jobs", "uid": format!("of-{name}"), "ownerReferences": owners });
            let pod = json!({ "metadata": metadata, "spec": { "nodeName": "a1" }, "status": { "phase": "Running" } });
            site.pods.insert(name.to_owned(), pod);
        };
        pod("train-0", owner("Job"));
        pod("exporter", owner("DaemonSet"));
        site.refusals = 2;
    }
    std::fs::write(slurm("a2"), "MIXED\n").unwrap();
    let other = "00000000000000000000000000000001";
    site.lock().unwrap().nodes.get_mut("a1").unwrap()["status"]["nodeInfo"]["machineID"] =
        json!(other);
    let agents = Agents::start(vec![agent1, agent2, agent3]);

    // Dry: a plan is shown, and nothing is done.
    let mut pcie = failure("a1", FailureClass::Pcie);
    a1.append(&[Record::Incident(Box::new(pcie.clone()))]);
    let drill = incident("a3", FailureClass::Pcie, Timestamp::now());
    a3.append(&[Record::Incident(Box::new(drill))]);
    agents.wake();
    until(&head, &agents, "a1", |plan| plan.state == PlanState::Dry);
    until(&head, &agents, "a3", |plan| plan.state == PlanState::Dry);
    assert!(plans(&head, false).is_empty());

    // The policy acts, once the file says so. A person approves; the drill stays dry.
    std::fs::write(&policy, text("act")).unwrap();
    let plan = until(&head, &agents, "a1", |plan| {
        plan.state == PlanState::Approval
    });
    let gone = a2.name.clone();
    let mut memory = failure(&gone, FailureClass::GpuMemory);
    memory.affected.gpus = vec![serde_json::from_value(json!({ "pci": "0000:3b:00.0" })).unwrap()];
    assert!(site.lock().unwrap().tickets.is_empty());
    change(&head, &plan, "approve").unwrap();
    assert!(
        change(&head, &plan, "approve")
            .unwrap_err()
            .contains("nothing to approve")
    );

    // The node of that name is another machine: nothing is done with it. A list of nodes without end says nothing.
    until(&head, &agents, "a1", |plan| {
        waits_for(
            plan,
            "node a1 of Kubernetes is another machine than host a1",
        )
    });
    {
        let mut site = site.lock().unwrap();
        assert_eq!(site.patches, 0);
        site.nodes.get_mut("a1").unwrap()["status"]["nodeInfo"]["machineID"] = json!(MACHINE);
        site.endless = true;
    }
    until(&head, &agents, "a1", |plan| {
        waits_for(plan, "Kubernetes lists too much: /api/v1/nodes has more")
    });
    site.lock().unwrap().endless = false;

    // It reboots only once the host has reported what it kept of the incident; meanwhile the host is out, and nobody else goes.
    let plan = until(&head, &agents, "a1", |plan| {
        waits_for(plan, "reboot: the host has not yet reported")
    });
    assert!(plan.out);
    {
        let site = site.lock().unwrap();
        assert_eq!(site.evicted, ["train-0"]);
        assert_eq!(site.nodes["a1"]["spec"]["unschedulable"], true);
        assert_eq!(site.tickets.len(), 1);
        assert_eq!(site.tickets[0].1["host"], "a1");
    }
    a2.append(&[Record::Incident(Box::new(memory))]);
    agents.wake();
    until(&head, &agents, "a2", |plan| {
        waits_for(plan, "2 hosts would be out, and max_out is 1")
    });

    // The head ends and another one goes on, with what was written down.
    let address = head.url.strip_prefix("http://").unwrap().to_owned();
    drop(head);
    head = start(&address);
    assert_eq!(plans(&head, false).len(), 2);
    pcie.add_evidence(
        Timestamp::now(),
        Vec::new(),
        vec![serde_json::from_value(json!({ "what": "recording", "why": "a test" })).unwrap()],
    );
    a1.append(&[Record::Incident(Box::new(pcie.clone()))]);
    agents.wake();
    // It was rebooted; it is not returned before it is well.
    until(&head, &agents, "a1", |plan| {
        waits_for(plan, "return: the host is unhealthy")
    });
    assert_eq!(*actor1.done.lock().unwrap(), ["reboot"]);
    actor1.set_health(health("healthy", "none"));
    let plan = until(&head, &agents, "a1", |plan| plan.state == PlanState::Done);
    assert!(!plan.out && plan.steps.iter().all(|step| step.state == StepState::Done));
    {
        let site = site.lock().unwrap();
        let node = &site.nodes["a1"];
        assert_eq!(
            (&node["spec"], &node["metadata"]["annotations"]),
            (&json!({}), &json!({}))
        );
        assert_eq!((site.tickets.len(), site.pods.len()), (1, 1));
    }

    // The other host's turn: its job ends first; then somebody has the GPU open after all.
    until(&head, &agents, "a2", |plan| {
        waits_for(plan, "reset_gpu: Slurm has jobs on it (MIXED)")
            || waits_for(plan, "reset_gpu: the host has not yet reported")
    });
    *actor2.user.lock().unwrap() = Some("python (process 7)".to_owned());
    let drained = std::fs::read_to_string(slurm("a2")).unwrap();
    assert!(drained.starts_with("MIXED+DRAIN gtrace plan "), "{drained}");
    std::fs::write(slurm("a2"), drained.replace("MIXED", "IDLE")).unwrap();
    let mut known = a2_incident(&head);
    known.add_evidence(
        Timestamp::now(),
        Vec::new(),
        vec![serde_json::from_value(json!({ "what": "recording", "why": "a test" })).unwrap()],
    );
    a2.append(&[Record::Incident(Box::new(known))]);
    agents.wake();
    let plan = until(&head, &agents, "a2", |plan| plan.state == PlanState::Failed);
    assert!(plan.out);
    let reported = &plan.steps[1].reported;
    assert!(
        reported.as_ref().unwrap().contains("python (process 7)"),
        "{reported:?}"
    );
    assert_eq!(*actor2.done.lock().unwrap(), ["reset 0000:3b:00.0"]);
    // It stays out until somebody has looked, and takes it back.
    change(&head, &plan, "undo").unwrap();
    let plan = until(&head, &agents, "a2", |plan| plan.state == PlanState::Undone);
    assert!(!plan.out);
    let node = std::fs::read_to_string(slurm("a2")).unwrap();
    assert_eq!(node, "IDLE\nState=DRAIN\nState=RESUME\n");
    assert!(actor3.done.lock().unwrap().is_empty());

    a_silent_manager(&head, &agents, &site, &mut a2);
    reports(&head, &pcie, &actor1);
    kinds(database, &head, &agents, &mut a3);
    // A policy that cannot be read is not taken over, which shows until it is mended.
    let problem = |wanted: bool| {
        wait_for("what the head says of its policy", 60, || {
            let view: RemediationView = head.client.get("/fleet/v1/remediation").unwrap();
            (view.problem.is_some() == wanted).then(|| view.problem.unwrap_or_default())
        })
    };
    std::fs::write(&policy, "mode = \"dri\"").unwrap();
    let unread = problem(true);
    assert!(
        unread.contains("the policy read before still applies"),
        "{unread}"
    );
    std::fs::write(&policy, text("act")).unwrap();
    problem(false);
    let audit: Vec<AuditLine> = head.client.get("/fleet/v1/audit").unwrap();
    let did = |who: &str, what: &str| {
        audit
            .iter()
            .any(|line| line.who == who && line.what.contains(what))
    };
    let me = rustix::process::geteuid().as_raw();
    let alice = format!("alice (user {me})");
    assert!(did(&alice, "for a1: approved") && did(&alice, "for a2: to be undone"));
    assert!(did(&format!("test (user {me})"), "made a join token"));
    let planned = audit
        .iter()
        .filter(|line| line.what.contains("for a1: planned; somebody"));
    assert_eq!(planned.count(), 1);
    assert!(did("rule pcie", "for a1: reboot begins"));
    assert!(did("a1", "began request") && did("a2", "answered: failed request"));
    assert!(did(&alice, "asked a1 for report of incident"));
    let metrics = head.client.get_text("/metrics").unwrap();
    assert!(
        metrics.contains("gtrace_fleet_remediation_plans{state=\"undone\"} 4"),
        "{metrics}"
    );
}

/// Kubernetes takes questions and does not answer: what only Slurm has a part in goes on.
fn a_silent_manager(head: &Head, agents: &Agents, site: &Shared, host: &mut Host) {
    let heat = failure(&host.name, FailureClass::Thermal);
    host.append(&[Record::Incident(Box::new(heat.clone()))]);
    agents.wake();
    let is_of = |plan: &Plan| plan.cause.incident == Some(heat.id);
    let plan = until_one(head, agents, |plan| {
        is_of(plan) && plan.state == PlanState::Done && plan.out
    });
    site.lock().unwrap().held = Some(0);
    wait_for("a question to Kubernetes", 60, || {
        (site.lock().unwrap().held != Some(0)).then_some(())
    });
    change(head, &plan, "undo").unwrap();
    until_one(head, agents, |plan| {
        is_of(plan) && plan.state == PlanState::Undone && !plan.out
    });
    // The first question is still open.
    assert_eq!(site.lock().unwrap().held.take(), Some(1));
}

/// The kind of an incident's event is found, however many others came in its time.
fn kinds(database: &Place, head: &Head, agents: &Agents, host: &mut Host) {
    let mut lost = support::event(&host.name, 79, Timestamp::now());
    lost.kind = Kind::GpuLost;
    host.append(&[Record::Event(Box::new(lost.clone()))]);
    host.events(1200);
    let last = host.store.last_seq();
    wait_for("the last record", 60, || {
        agents.wake();
        head.hosts().into_iter().find(|view| view.records == last)
    });
    let mut db = Database::open(database).unwrap();
    let mut has = |kinds: &[Kind], id| db.has_kind(&host.name, kinds, &[id], (None, None)).unwrap();
    assert!(has(&[Kind::OomKill, Kind::GpuLost], lost.id));
    assert!(!has(&[Kind::OomKill], lost.id));
    let other = support::event("x", 1, Timestamp::now()).id;
    assert!(!has(&[Kind::GpuLost], other));
}

/// What was decided for a plan is claimed once, and not after somebody has changed the plan.
fn claims(database: &Place) {
    let mut db = Database::open(database).unwrap();
    let policy: Policy = serde_json::from_value(json!({
        "mode": "act", "max_out": 9, "max_out_percent": 100, "plans_per_hour": 99,
    }))
    .unwrap();
    let now = Timestamp::now();
    let turn = |db: &mut Database, wishes: &[Wish], of: BTreeMap<i64, HostFacts>| {
        let facts = Facts {
            now,
            hosts: 9,
            out: Default::default(),
            out_unknown: None,
            of,
        };
        let none = Default::default();
        db.remediate("o", &policy, wishes, facts, &none, false)
            .unwrap()
            .unwrap()
            .orders
    };
    let wish = |host: &str| Wish {
        host: host.to_owned(),
        rule: "r".to_owned(),
        cause: Cause {
            key: format!("claims:{host}"),
            ..Cause::default()
        },
        steps: vec![Step::Cordon],
        approval: false,
        drill: false,
    };
    assert_eq!(
        turn(&mut db, &[wish("c1"), wish("c2")], BTreeMap::new()),
        []
    );
    let known = |version| HostFacts {
        version,
        effects: BTreeMap::from([(Step::Cordon, Effect::Absent)]),
        ..HostFacts::default()
    };
    // Facts of another version do nothing.
    let of = |version| BTreeMap::from([(1, known(version)), (2, known(version))]);
    assert_eq!(turn(&mut db, &[], of(0)), []);
    let orders = turn(&mut db, &[], of(1));
    let versions: Vec<(i64, i64)> = orders.iter().map(|o| (o.plan, o.version)).collect();
    assert_eq!(versions, [(1, 2), (2, 2)]);
    assert_eq!(turn(&mut db, &[], of(1)), []);
    assert_eq!(db.claim(&orders[0], now).unwrap(), Some(3));
    assert_eq!(db.claim(&orders[0], now).unwrap(), None);
    assert!(db.is_version(1, 3).unwrap());
    let undone = db.change_plan(2, Change::Undo, "alice", now).unwrap();
    undone.unwrap().unwrap();
    assert_eq!(db.claim(&orders[1], now).unwrap(), None);
    db.order_ended(&orders[1], &Outcome::Withdrawn, now)
        .unwrap();
    let plan = db.plan(2).unwrap().unwrap().unwrap();
    assert_eq!(
        (plan.state, plan.steps[0].state),
        (PlanState::Undoing, StepState::Pending)
    );
    // They are in nobody's way.
    for id in [1, 2] {
        let _ = db.change_plan(id, Change::Undo, "alice", now).unwrap();
    }
    // What was sent for the first may take effect yet: it is undone once that shows.
    let orders = turn(&mut db, &[], BTreeMap::from([(1, known(4)), (2, known(3))]));
    assert_eq!(orders, []);
    let ours = HostFacts {
        effects: BTreeMap::from([(Step::Cordon, Effect::Ours)]),
        ..known(4)
    };
    let orders = turn(&mut db, &[], BTreeMap::from([(1, ours)]));
    assert!(matches!(orders.as_slice(), [one] if one.plan == 1 && one.undo));
    let held = HostFacts {
        gone: true,
        ..known(5)
    };
    turn(&mut db, &[], BTreeMap::from([(1, held)]));
    let left = db.plans(false, 9).unwrap();
    assert!(left.plans.is_empty(), "{left:#?}");
    db.end_remediation("o").unwrap();
}

fn a2_incident(head: &Head) -> Incident {
    let path = "/fleet/v1/incidents?host=a2";
    let mut found: Vec<gtrace_head::db::FleetIncident> = head.client.get(path).unwrap();
    found.pop().unwrap().incident
}

/// Reports come through the agent's own connection, from hosts that permit it.
fn reports(head: &Head, incident: &Incident, actor: &RecordingActor) {
    let ask = |host: &str, id: IncidentId| -> Result<Request, String> {
        let path = format!("/fleet/v1/hosts/{host}/incidents/{id}/report");
        let by = By {
            by: "alice".to_owned(),
        };
        head.client.post(&path, &by).map_err(|e| e.to_string())
    };
    let asked = ask("a1", incident.id).unwrap();
    let answer = |asked: &Request| {
        let path = format!("/fleet/v1/requests/{}", asked.id);
        let done = wait_for("an answer", 60, || {
            let now: Request = head.client.get(&path).unwrap();
            now.state.is_over().then_some(now)
        });
        assert_eq!(done.state, RequestState::Done, "{done:?}");
        let file = head.client.get_text(&format!("{path}/file")).unwrap();
        assert_eq!(file.len() as u64, done.bytes);
        file
    };
    let page = answer(&asked);
    assert!(page.contains(&incident.id.to_string()));
    // A trace, as it was asked for; not beyond the limits, and not of a host that permits none.
    let trace = |host: &str, seconds: u32| -> Result<Request, String> {
        let order = TraceOrder {
            pid: Some(7),
            seconds,
            calls: 1000,
        };
        let path = format!("/fleet/v1/hosts/{host}/trace");
        let by = "alice".to_owned();
        let asked = head.client.post(&path, &TraceRequest { by, order });
        asked.map_err(|e| e.to_string())
    };
    assert_eq!(answer(&trace("a1", 20).unwrap()), "a trace");
    assert_eq!(
        *actor.done.lock().unwrap(),
        [
            "reboot",
            "report",
            "trace of process 7, for at most 20 s and 1000 calls"
        ]
    );
    let refused = trace("a1", 61).unwrap_err();
    assert!(refused.contains("1 to 60 seconds"), "{refused}");
    let refused = trace("a2", 20).unwrap_err();
    assert!(refused.contains("head_traces = true"), "{refused}");
    let refused = ask("a2", incident.id).unwrap_err();
    assert!(refused.contains("does not permit"), "{refused}");
    assert!(ask("nobody", incident.id).is_err());
}

#[test]
fn plans_over_the_embedded_database() {
    let dir = tempfile::tempdir().unwrap();
    remediation(&Place::File(dir.path().join("fleet.db")));
    // Who could open the head's lock could hold it, and no plan would be carried out.
    let lock = std::fs::metadata(dir.path().join("fleet.db-remediation")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(&lock.permissions());
    assert_eq!(mode & 0o077, 0);
}

#[test]
fn plans_over_postgresql() {
    if let Some(server) = Postgres::start() {
        remediation(&server.place());
    }
}
