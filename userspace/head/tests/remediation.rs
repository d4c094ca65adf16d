//! Remediation, end to end: a head with a policy, real agents, a stand-in of Kubernetes' API server, a stand-in of scontrol, a webhook.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod support;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::extract::{Path as UrlPath, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use axum::{Json, Router};
use gtrace_agent::Actor;
use gtrace_event::{
    FailureClass, HealthReport, Incident, IncidentId, PciAddress, Record, Timestamp,
};
use gtrace_fleet::remedy::{Plan, PlanState, StepState};
use gtrace_fleet::{HostState, RequestState};
use gtrace_head::db::{Place, Request};
use gtrace_head::{AuditLine, By, RemediationView};
use serde_json::{Value, json};
use support::fleet::{Agent, Agents, Head, enrolled};
use support::{Host, Postgres, incident};

/// A stand-in of Kubernetes' API server with one namespace: nodes, pods and evictions as its API reference has them, optimistic locking
/// included; and the site's webhook.
#[derive(Default)]
struct Site {
    nodes: BTreeMap<String, Value>,
    pods: BTreeMap<String, Value>,
    /// Evictions that a disruption budget has yet to refuse.
    refusals: u32,
    evicted: Vec<String>,
    /// Bodies of tickets with their keys.
    tickets: Vec<(String, Value)>,
    patches: u32,
}

type Shared = Arc<Mutex<Site>>;

fn error(status: StatusCode, message: &str) -> (StatusCode, Json<Value>) {
    let body = json!({ "kind": "Status", "status": "Failure", "code": status.as_u16(), "message": message });
    (status, Json(body))
}

/// RFC 7386.
fn merge(target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    let target = target.as_object_mut().unwrap();
    for (key, value) in patch {
        match value {
            Value::Null => drop(target.remove(&key)),
            value => merge(target.entry(key).or_insert(Value::Null), value),
        }
    }
}

type Answer = Result<Json<Value>, (StatusCode, Json<Value>)>;

fn may(headers: &HeaderMap) -> Result<(), (StatusCode, Json<Value>)> {
    match headers.get("authorization").map(|v| v.to_str().unwrap()) {
        Some("Bearer of-the-head") => Ok(()),
        _ => Err(error(StatusCode::UNAUTHORIZED, "Unauthorized")),
    }
}

async fn nodes(State(site): State<Shared>, headers: HeaderMap) -> Answer {
    may(&headers)?;
    let site = site.lock().unwrap();
    let cordoned = site
        .nodes
        .values()
        .filter(|n| n["spec"]["unschedulable"] == true);
    let items: Vec<&Value> = cordoned.collect();
    Ok(Json(
        json!({ "kind": "NodeList", "metadata": {}, "items": items }),
    ))
}

async fn node(
    State(site): State<Shared>,
    headers: HeaderMap,
    UrlPath(name): UrlPath<String>,
) -> Answer {
    may(&headers)?;
    let found = site.lock().unwrap().nodes.get(&name).cloned();
    found
        .map(Json)
        .ok_or_else(|| error(StatusCode::NOT_FOUND, "nodes not found"))
}

async fn patch_node(
    State(site): State<Shared>,
    headers: HeaderMap,
    UrlPath(name): UrlPath<String>,
    body: String,
) -> Answer {
    may(&headers)?;
    assert_eq!(headers["content-type"], "application/merge-patch+json");
    let mut patch: Value = serde_json::from_str(&body).unwrap();
    let mut site = site.lock().unwrap();
    site.patches += 1;
    // The kubelet writes its status all the time: the first attempt meets such a change.
    let meets = site.patches == 1;
    let node = site.nodes.get_mut(&name).unwrap();
    let version: u64 = node["metadata"]["resourceVersion"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    let wanted = patch["metadata"]["resourceVersion"].take();
    let is_newest = wanted == json!(version.to_string());
    node["metadata"]["resourceVersion"] = json!((version + 1).to_string());
    if meets || !is_newest {
        return Err(error(StatusCode::CONFLICT, "the object has been modified"));
    }
    patch["metadata"]
        .as_object_mut()
        .unwrap()
        .remove("resourceVersion");
    merge(node, patch);
    Ok(Json(node.clone()))
}

async fn pods(
    State(site): State<Shared>,
    headers: HeaderMap,
    Query(asked): Query<BTreeMap<String, String>>,
) -> Answer {
    may(&headers)?;
    let node = asked["fieldSelector"]
        .strip_prefix("spec.nodeName=")
        .unwrap();
    let site = site.lock().unwrap();
    let items: Vec<&Value> = site
        .pods
        .values()
        .filter(|p| p["spec"]["nodeName"] == node)
        .collect();
    Ok(Json(
        json!({ "kind": "PodList", "metadata": {}, "items": items }),
    ))
}

async fn evict(
    State(site): State<Shared>,
    headers: HeaderMap,
    UrlPath((namespace, name)): UrlPath<(String, String)>,
    Json(body): Json<Value>,
) -> Answer {
    may(&headers)?;
    assert_eq!(
        (&body["apiVersion"], &body["kind"]),
        (&json!("policy/v1"), &json!("Eviction"))
    );
    assert_eq!(
        (&body["metadata"]["name"], namespace.as_str()),
        (&json!(name), "jobs")
    );
    let mut site = site.lock().unwrap();
    if site.refusals > 0 {
        site.refusals -= 1;
        let budget = "Cannot evict pod as it would violate the pod's disruption budget.";
        return Err(error(StatusCode::TOO_MANY_REQUESTS, budget));
    }
    site.pods.remove(&name);
    site.evicted.push(name);
    Ok(Json(json!({ "kind": "Status", "status": "Success" })))
}

async fn ticket(State(site): State<Shared>, headers: HeaderMap, Json(body): Json<Value>) -> String {
    let key = headers["idempotency-key"].to_str().unwrap().to_owned();
    site.lock().unwrap().tickets.push((key, body));
    "GPU-1234".to_owned()
}

fn serve(site: &Shared) -> String {
    let router = Router::new()
        .route("/api/v1/nodes", get(nodes))
        .route("/api/v1/nodes/{name}", get(node).patch(patch_node))
        .route("/api/v1/pods", get(pods))
        .route(
            "/api/v1/namespaces/{namespace}/pods/{name}/eviction",
            post(evict),
        )
        .route("/tickets", post(ticket))
        .with_state(Arc::clone(site));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        support::fleet::block(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let router = router.clone();
                tokio::spawn(async move {
                    let io = hyper_util::rt::TokioIo::new(stream);
                    let service = hyper_util::service::TowerToHyperService::new(router);
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(io, service)
                        .await;
                });
            }
        });
    });
    url
}

/// A stand-in of scontrol whose nodes are files: `STATE REASON`.
fn scontrol(dir: &Path) -> PathBuf {
    let nodes = dir.join("slurm");
    std::fs::create_dir(&nodes).unwrap();
    let script = format!(
        r#"#!/bin/sh
cd {nodes} || exit 1
show() {{ read -r state reason < "$1"; echo "NodeName=$1 Arch=x86_64 State=$state Weight=1 ${{reason:+Reason=$reason [root@2026-01-01T00:00:00]}}"; }}
case "$1 $2" in
"--oneliner show") if [ "$3" = nodes ]; then for n in *; do show "$n"; done; else show "$4"; fi ;;
"update NodeName="*) name=${{2#NodeName=}}; read -r state reason < "$name"; base=${{state%%+*}}
    case "$3" in State=DRAIN) echo "$base+DRAIN ${{4#Reason=}}" > "$name.new" ;; State=RESUME) echo "$base" > "$name.new" ;; *) exit 1 ;; esac
    mv "$name.new" "$name" ;;
*) echo "invalid keyword: $*" >&2; exit 1 ;;
esac
"#,
        nodes = nodes.display()
    );
    let path = dir.join("scontrol");
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// A host that does what it is asked for; a reboot gives it another boot.
struct Doer {
    state: Arc<Mutex<HostState>>,
    done: Mutex<Vec<String>>,
    /// Who has a GPU open.
    user: Mutex<Option<String>>,
    permits: Vec<String>,
}

impl Actor for Doer {
    fn permits(&self) -> Vec<String> {
        self.permits.clone()
    }

    fn report(&self, incident: IncidentId) -> Result<Vec<u8>, String> {
        self.done.lock().unwrap().push("report".to_owned());
        Ok(format!("<!doctype html>{incident}{}", "x".repeat(1 << 20)).into_bytes())
    }

    fn reset_gpu(&self, pci: PciAddress) -> Result<String, String> {
        self.done.lock().unwrap().push(format!("reset {pci}"));
        match self.user.lock().unwrap().clone() {
            Some(user) => Err(format!("{user} has /dev/nvidia0 open")),
            None => Ok("GPU was reset".to_owned()),
        }
    }

    fn reboot(&self) -> Result<String, String> {
        self.done.lock().unwrap().push("reboot".to_owned());
        self.state.lock().unwrap().boot_id = Some("second".to_owned());
        Ok(String::new())
    }
}

fn health(state: &str, action: &str) -> Option<HealthReport> {
    let report =
        json!({ "time": Timestamp::now(), "state": state, "action": action, "subjects": [] });
    Some(serde_json::from_value(report).unwrap())
}

fn host(dir: &Path, name: &str, head: &Head, permits: &[&str]) -> (Host, Agent, Arc<Doer>) {
    let host = Host::new(dir, name);
    let mut agent = Agent::new(&host, enrolled(head, name, &head.token(None, 1)), "r7");
    *agent.state.lock().unwrap() = HostState {
        boot_id: Some("first".to_owned()),
        health: health("unhealthy", "reboot"),
        ..HostState::default()
    };
    let doer = Arc::new(Doer {
        state: Arc::clone(&agent.state),
        done: Mutex::default(),
        user: Mutex::default(),
        permits: permits.iter().map(|p| (*p).to_owned()).collect(),
    });
    agent.options.actor = Some(Arc::clone(&doer) as Arc<dyn Actor>);
    (host, agent, doer)
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

/// Waits until the plan of a host is as it should be.
#[track_caller]
fn until(head: &Head, agents: &Agents, host: &str, what: impl Fn(&Plan) -> bool) -> Plan {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let found = plans(head, true).into_iter().find(|plan| plan.host == host);
        if let Some(plan) = found.as_ref().filter(|plan| what(plan)) {
            return plan.clone();
        }
        assert!(Instant::now() < end, "{found:#?}");
        agents.wake();
        std::thread::sleep(Duration::from_millis(20));
    }
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
    let start = |address: &str| Head::with(dir.path(), database, address, Some(policy.clone()));
    let mut head = start("127.0.0.1:0");
    let (mut a1, agent1, doer1) = host(dir.path(), "a1", &head, &["reboot", "report"]);
    let (mut a2, agent2, doer2) = host(dir.path(), "a2", &head, &["reset_gpu"]);
    let (mut a3, agent3, doer3) = host(dir.path(), "a3", &head, &[]);
    let state1 = Arc::clone(&agent1.state);
    {
        let mut site = site.lock().unwrap();
        let node = json!({ "metadata": { "name": "a1", "resourceVersion": "7" }, "spec": {} });
        site.nodes.insert("a1".to_owned(), node);
        let owner = |kind: &str| json!([{ "kind": kind, "controller": true }]);
        let mut pod = |name: &str, owners: Value| {
            let metadata = json!({ "name": name, "namespace": "jobs", "ownerReferences": owners });
            let pod = json!({ "metadata": metadata, "spec": { "nodeName": "a1" }, "status": { "phase": "Running" } });
            site.pods.insert(name.to_owned(), pod);
        };
        pod("train-0", owner("Job"));
        pod("exporter", owner("DaemonSet"));
        site.refusals = 2;
    }
    std::fs::write(slurm("a2"), "MIXED\n").unwrap();
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

    // It reboots only once the host has said what it kept of the incident; meanwhile the host is out, and nobody else goes.
    let plan = until(&head, &agents, "a1", |plan| {
        waits_for(plan, "reboot: the host has not yet said")
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
    assert_eq!(*doer1.done.lock().unwrap(), ["reboot"]);
    state1.lock().unwrap().health = health("healthy", "none");
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
            || waits_for(plan, "reset_gpu: the host has not yet said")
    });
    *doer2.user.lock().unwrap() = Some("python (process 7)".to_owned());
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
    let said = &plan.steps[1].said;
    assert!(
        said.as_ref().unwrap().contains("python (process 7)"),
        "{said:?}"
    );
    assert_eq!(*doer2.done.lock().unwrap(), ["reset 0000:3b:00.0"]);
    // It stays out until somebody has looked, and takes it back.
    change(&head, &plan, "undo").unwrap();
    let plan = until(&head, &agents, "a2", |plan| plan.state == PlanState::Undone);
    assert!(!plan.out);
    assert_eq!(std::fs::read_to_string(slurm("a2")).unwrap(), "IDLE\n");
    assert!(doer3.done.lock().unwrap().is_empty());

    reports(&head, &pcie, &doer1);
    // A policy that cannot be read is not taken over, which shows until it is mended.
    let problem = |wanted: bool| {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let view: RemediationView = head.client.get("/fleet/v1/remediation").unwrap();
            if view.problem.is_some() == wanted {
                break view.problem.unwrap_or_default();
            }
            assert!(Instant::now() < end, "{view:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    std::fs::write(&policy, "mode = \"dri\"").unwrap();
    let said = problem(true);
    assert!(said.contains("what it said before goes on"), "{said}");
    std::fs::write(&policy, text("act")).unwrap();
    problem(false);
    let audit: Vec<AuditLine> = head.client.get("/fleet/v1/audit").unwrap();
    let did = |who: &str, what: &str| {
        audit
            .iter()
            .any(|line| line.who == who && line.what.contains(what))
    };
    assert!(did("alice", "for a1: approved") && did("alice", "for a2: to be undone"));
    assert!(did("rule pcie", "for a1: reboot begins"));
    assert!(did("a1", "began request") && did("a2", "answered: failed request"));
    assert!(did("alice", "asked a1 for report of incident"));
    let metrics = head.client.get_text("/metrics").unwrap();
    assert!(
        metrics.contains("gtrace_fleet_remediation_plans{state=\"undone\"} 1"),
        "{metrics}"
    );
}

fn a2_incident(head: &Head) -> Incident {
    let path = "/fleet/v1/incidents?host=a2";
    let mut found: Vec<gtrace_head::db::FleetIncident> = head.client.get(path).unwrap();
    found.pop().unwrap().incident
}

/// Reports come through the agent's own connection, from hosts that permit it.
fn reports(head: &Head, incident: &Incident, doer: &Doer) {
    let ask = |host: &str, id: IncidentId| -> Result<Request, String> {
        let path = format!("/fleet/v1/hosts/{host}/incidents/{id}/report");
        let by = By {
            by: "alice".to_owned(),
        };
        head.client.post(&path, &by).map_err(|e| e.to_string())
    };
    let asked = ask("a1", incident.id).unwrap();
    let path = format!("/fleet/v1/requests/{}", asked.id);
    let end = Instant::now() + Duration::from_secs(60);
    let done = loop {
        let now: Request = head.client.get(&path).unwrap();
        if now.state.is_over() {
            break now;
        }
        assert!(Instant::now() < end, "{now:?}");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(done.state, RequestState::Done, "{done:?}");
    let page = head.client.get_text(&format!("{path}/file")).unwrap();
    assert_eq!(page.len() as u64, done.bytes);
    assert!(page.contains(&incident.id.to_string()));
    assert_eq!(*doer.done.lock().unwrap(), ["reboot", "report"]);
    let refused = ask("a2", incident.id).unwrap_err();
    assert!(refused.contains("does not permit"), "{refused}");
    assert!(ask("nobody", incident.id).is_err());
}

#[test]
fn plans_over_the_embedded_database() {
    let dir = tempfile::tempdir().unwrap();
    remediation(&Place::File(dir.path().join("fleet.db")));
}

#[test]
fn plans_over_postgresql() {
    if let Some(server) = Postgres::start() {
        remediation(&server.place());
    }
}
