//! What a head has hosts and managers do, with heads and agents as processes: killed at any time, each step of a plan is done once and
//! none is forgotten; a report comes whole.
#![allow(clippy::unwrap_used, clippy::panic, reason = "only tests use it")]

#[path = "support/process.rs"]
mod process;
#[path = "support/relay.rs"]
mod relay;
#[path = "../../head/tests/support/site.rs"]
mod site;
#[path = "../../head/tests/support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gtrace_agent::enroll;
use gtrace_api::client::Client;
use gtrace_event::{FailureClass, HealthReport, Incident, Record, Timestamp};
use gtrace_fleet::remedy::{Plan, PlanState, Step, StepState};
use gtrace_fleet::{HostState, machine_id};
use gtrace_head::RemediationView;
use gtrace_head::db::FleetIncident;
use process::Running;
use relay::Relay;
use serde_json::{Value, json};
use site::Done;
use support::fleet::{Agent, Agents, RecordingActor, block, request, token};
use support::{Host, incident};

fn gtrace(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gtrace"));
    command
        .env_clear()
        .env("HOME", dir)
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}

/// Starts a head over SQLite and waits until it answers; its address.
fn head(dir: &Path, policy: Option<&Path>) -> (Running, String) {
    let mut command = gtrace(dir);
    command
        .args(["head", "--listen", "127.0.0.1:0", "--socket"])
        .arg(dir.join("head.sock"))
        .arg("--database")
        .arg(dir.join("fleet.db"))
        .env("GTRACE_LOG", "info");
    if let Some(policy) = policy {
        command.arg("--remediation").arg(policy);
    }
    process::start(&mut command, "head at http://")
}

fn client(dir: &Path) -> Client {
    Client::unix(dir.join("head.sock"))
}

fn well() -> Option<HealthReport> {
    let report =
        json!({ "time": Timestamp::now(), "state": "healthy", "action": "none", "subjects": [] });
    Some(serde_json::from_value(report).unwrap())
}

fn failure(host: &str, class: FailureClass) -> Incident {
    let mut incident = incident(host, class, Timestamp::now());
    incident.drill = false;
    incident.affected.gpus =
        vec![serde_json::from_value(json!({ "pci": "0000:3b:00.0" })).unwrap()];
    let missing = serde_json::from_value(json!({ "what": "recording", "why": "a test" })).unwrap();
    incident.add_evidence(Timestamp::now(), Vec::new(), vec![missing]);
    incident
}

/// How often a head is killed at a random moment, with `cargo xtask test --long`.
const KILLS: usize = 200;

fn is_long() -> bool {
    std::env::var_os("GTRACE_TEST_LONG").is_some()
}

/// Hosts of each kind: their plans are the steps at which a head may be killed.
fn hosts_of_kind() -> usize {
    if is_long() { KILLS / 10 } else { 1 }
}

const CLUSTER: [Step; 5] = [
    Step::Ticket,
    Step::Cordon,
    Step::Drain,
    Step::Reboot,
    Step::Return,
];
const BATCH: [Step; 3] = [Step::SlurmDrain, Step::ResetGpu, Step::Return];

#[test]
fn a_head_that_is_killed_at_any_time_has_each_step_done_once_and_forgets_none() {
    let seed = fastrand::u64(..);
    fastrand::seed(seed);
    println!("seed {seed}");
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let site = site::Shared::default();
    let url = site::serve(&site);
    let scontrol = site::scontrol(dir);
    std::fs::write(dir.join("token"), "of-the-head\n").unwrap();
    let policy = dir.join("remediation.toml");
    let names = |kind: &str| -> Vec<String> {
        (0..hosts_of_kind()).map(|n| format!("{kind}{n}")).collect()
    };
    let (cluster, batch) = (names("k"), names("s"));
    {
        let mut site = site.lock().unwrap();
        match is_long() {
            true => site.delay_ms = 30,
            // The plans are held amid their steps: by an answer that does not come, then by a pod that is not evicted and a job of Slurm.
            false => {
                site.unanswered = Some(Done::Ticket);
                site.refusals = u32::MAX;
            }
        }
        for name in &cluster {
            let node = json!({
                "metadata": { "name": name, "resourceVersion": "7" }, "spec": {},
                "status": { "nodeInfo": { "machineID": site::MACHINE } },
            });
            site.nodes.insert(name.clone(), node);
            let pod = format!("train-{name}");
            let metadata = json!({
                "name": pod, "namespace": "jobs", "uid": format!("of-{pod}"),
                "ownerReferences": [{ "kind": "Job", "controller": true }],
            });
            let body = json!({ "metadata": metadata, "spec": { "nodeName": name }, "status": { "phase": "Running" } });
            site.pods.insert(pod, body);
        }
        for name in &batch {
            let state = if is_long() { "IDLE\n" } else { "MIXED\n" };
            std::fs::write(dir.join("slurm").join(name), state).unwrap();
        }
    }
    let steps = |steps: &[Step]| {
        let names: Vec<String> = steps.iter().map(|step| format!("\"{step}\"")).collect();
        names.join(", ")
    };
    let text = format!(
        r#"
mode = "act"
turn_ms = 20
answer_s = {answer_s}
max_out = 99
max_out_percent = 100
plans_per_hour = 99
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
approval = false
steps = [{cluster}]
[[rule]]
name = "memory"
class = ["gpu_memory"]
approval = false
steps = [{batch}]
"#,
        // A step without an effect is sent again after five times this: where the kills are random, and only there.
        answer_s = if is_long() { 1 } else { 20 },
        token = dir.join("token").display(),
        scontrol = scontrol.display(),
        cluster = steps(&CLUSTER),
        batch = steps(&BATCH),
    );
    std::fs::write(&policy, text).unwrap();
    let relay = Relay::start();
    let start = || {
        let (process, address) = head(dir, Some(&policy));
        relay.set(&address);
        process
    };
    let mut process = start();
    let token = token(&client(dir), None, 1000);
    let url = format!("http://{}", relay.address);
    let machine = machine_id(site::MACHINE).unwrap();
    let mut stores: Vec<Host> = Vec::new();
    let mut actors: Vec<Arc<RecordingActor>> = Vec::new();
    let mut agents: Vec<Agent> = Vec::new();
    for name in cluster.iter().chain(&batch) {
        let mut host = Host::new(dir, name);
        let asked = request(name, &token, &machine);
        let enrolled = block(enroll(&url.parse().unwrap(), None, &asked)).unwrap();
        let mut agent = Agent::new(&host, enrolled, "r7");
        *agent.state.lock().unwrap() = HostState {
            boot_id: Some("first".to_owned()),
            health: well(),
            ..HostState::default()
        };
        actors.push(RecordingActor::of(&mut agent, &["reboot", "reset_gpu"]));
        let class = match cluster.contains(name) {
            true => FailureClass::Pcie,
            false => FailureClass::GpuMemory,
        };
        host.append(&[Record::Incident(Box::new(failure(name, class)))]);
        stores.push(host);
        agents.push(agent);
    }
    let agents = Agents::start(agents);
    let refresh = || {
        for actor in &actors {
            actor.set_health(well());
        }
        agents.wake();
    };
    let plans = || -> Option<Vec<Plan>> {
        let view: RemediationView = client(dir).get("/fleet/v1/remediation?all=true").ok()?;
        assert!(view.unreadable.is_empty());
        Some(view.plans)
    };
    // One life is long enough for the plans to be made; then heads do not live long.
    let until = Instant::now() + Duration::from_secs(120);
    while plans().is_none_or(|plans| plans.len() < stores.len()) {
        assert!(Instant::now() < until, "{:?}", plans());
        refresh();
        std::thread::sleep(Duration::from_millis(5));
    }
    if is_long() {
        let mut amid = 0;
        for _ in 0..KILLS {
            std::thread::sleep(Duration::from_millis(fastrand::u64(0..60)));
            refresh();
            drop(process);
            process = start();
            let found = plans().unwrap_or_default();
            amid += usize::from(found.iter().any(|plan| plan.state == PlanState::Acting));
        }
        println!("{amid} of {KILLS} heads were killed amid a plan");
    } else {
        let has_jobs = |plan: &Plan| {
            let waits = plan.waits.as_ref();
            waits.is_some_and(|waits| waits.contains("Slurm has jobs"))
        };
        let wait = |is_there: &dyn Fn() -> bool| {
            let until = Instant::now() + Duration::from_secs(120);
            while !is_there() {
                assert!(Instant::now() < until, "{:#?}", plans());
                refresh();
                std::thread::sleep(Duration::from_millis(5));
            }
        };
        // What was done, and whose answer did not arrive. The plan of Slurm waits by then: nothing of it is under way.
        for (left, next) in [(1, Some(Done::Cordon)), (2, None)] {
            wait(&|| site.lock().unwrap().left == left);
            wait(&|| plans().is_some_and(|plans| plans.iter().any(has_jobs)));
            drop(process);
            site.lock().unwrap().unanswered = next;
            process = start();
        }
        let is_held = |plan: &Plan| match plan.steps.iter().find(|one| one.step == Step::Drain) {
            Some(drain) => drain
                .reported
                .as_ref()
                .is_some_and(|text| text.contains("disruption budget")),
            None => has_jobs(plan),
        };
        wait(&|| plans().is_some_and(|plans| plans.iter().all(is_held)));
        drop(process);
        process = start();
        site.lock().unwrap().refusals = 0;
        for name in &batch {
            let at = dir.join("slurm").join(name);
            let held = std::fs::read_to_string(&at).unwrap();
            assert!(held.starts_with("MIXED+DRAIN"), "{held}");
            std::fs::write(dir.join("idle"), held.replace("MIXED", "IDLE")).unwrap();
            std::fs::rename(dir.join("idle"), at).unwrap();
        }
    }
    let until = Instant::now() + Duration::from_secs(240);
    let all = loop {
        let found = plans().unwrap_or_default();
        let is_over = |plan: &Plan| !plan.state.is_live();
        if found.len() == stores.len() && found.iter().all(is_over) {
            break found;
        }
        assert!(Instant::now() < until, "{found:#?}");
        refresh();
        std::thread::sleep(Duration::from_millis(20));
    };
    drop(process);

    let site = site.lock().unwrap();
    for (host, actor) in stores.iter().zip(&actors) {
        let name = host.name.as_str();
        let plan = all.iter().find(|plan| plan.host == name).unwrap();
        assert!(plan.state == PlanState::Done && !plan.out, "{plan:#?}");
        for step in &plan.steps {
            // Whether a ticket was made shows nowhere but in the answer to it.
            let unknown = step.step == Step::Ticket && step.state == StepState::Failed;
            assert!(unknown || step.state == StepState::Done, "{plan:#?}");
        }
        let reboots: &[&str] = match cluster.iter().any(|one| one == name) {
            true => &["reboot"],
            false => &["reset 0000:3b:00.0"],
        };
        assert_eq!(*actor.done.lock().unwrap(), reboots, "{plan:#?}");
        let made = site.changes.iter().filter(|(node, _)| node == name);
        let made: Vec<bool> = made.map(|(_, is)| *is).collect();
        let node = std::fs::read_to_string(dir.join("slurm").join(name)).unwrap_or_default();
        let asked: Vec<&str> = node.lines().skip(1).collect();
        if reboots == ["reboot"] {
            assert_eq!((made, asked), (vec![true, false], vec![]), "{plan:#?}");
            let pod = format!("train-{name}");
            assert_eq!(site.evicted.iter().filter(|one| **one == pod).count(), 1);
            let tickets = site.tickets.iter().filter(|(_, body)| body["host"] == name);
            let tickets: Vec<&Value> = tickets.map(|(_, body)| body).collect();
            let is_known = plan.steps[0].state == StepState::Done;
            assert!(
                tickets.len() == 1 || (tickets.is_empty() && !is_known),
                "{plan:#?}"
            );
        } else {
            assert_eq!(
                (made, asked),
                (vec![], vec!["State=DRAIN", "State=RESUME"]),
                "{plan:#?}"
            );
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_report_that_a_head_has_asked_an_agent_for_comes_whole_and_verifies() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (_head, address) = head(dir, None);
    let mut host = Host::new(dir, "gpu-01");
    let credential = dir.join("head.json");
    let enrolled = gtrace(dir)
        .args(["agent", "enroll", "--host", "gpu-01", "--head"])
        .arg(format!("http://{address}"))
        .arg("--credential")
        .arg(&credential)
        .env("GTRACE_JOIN_TOKEN", token(&client(dir), None, 1))
        .status();
    assert!(enrolled.unwrap().success());
    let agent = gtrace(dir)
        .args(["agent", "run", "--allow", "report", "--credential"])
        .arg(&credential)
        .arg("--store")
        .arg(&host.path)
        .stderr(Stdio::null())
        .spawn();
    let _agent = Running(agent.unwrap());
    // Events enough that it takes more than one frame of HTTP/2.
    let events: Vec<_> = (0..300)
        .map(|n| support::event("gpu-01", 79 + n % 3, Timestamp::now()))
        .collect();
    let mut of = failure("gpu-01", FailureClass::Pcie);
    of.events = events.iter().map(|event| event.id).collect();
    of.event_count = of.events.len() as u64;
    let mut records: Vec<Record> = events
        .into_iter()
        .map(|event| Record::Event(Box::new(event)))
        .collect();
    records.push(Record::Incident(Box::new(of.clone())));
    host.append(&records);
    let fleet = |args: &[&str]| -> Output {
        let mut command = gtrace(dir);
        command
            .args(args)
            .current_dir(dir)
            .stdout(Stdio::piped())
            .output()
            .unwrap()
    };
    let until = Instant::now() + Duration::from_secs(60);
    let id = of.id.to_string();
    let file: PathBuf = dir.join("postmortem.html");
    let mut said = String::new();
    while !file.exists() {
        assert!(Instant::now() < until, "{said}");
        let found: Vec<FleetIncident> = client(dir).get("/fleet/v1/incidents").unwrap_or_default();
        if found.is_empty() {
            std::thread::sleep(Duration::from_millis(20));
            continue;
        }
        let asked = [
            "fleet",
            "report",
            "gpu-01",
            &id,
            "--output",
            "postmortem.html",
            "--head",
            "head.sock",
        ];
        said = text(&fleet(&asked).stderr);
    }
    let page = std::fs::read_to_string(&file).unwrap();
    assert!(page.len() > 100_000 && page.contains(&id), "{}", page.len());
    let verified = fleet(&["report", "verify", "postmortem.html"]);
    let verdict = text(&verified.stdout);
    assert!(
        verified.status.success(),
        "{verdict}{}",
        text(&verified.stderr)
    );
    assert!(
        verdict.contains("intact") && verdict.contains("the hash chain is whole"),
        "{verdict}"
    );
    // The host's own report of the same incident has the same records.
    let own = fleet(&[
        "report",
        "--incident",
        &id,
        "--store",
        "gpu-01.db",
        "--out",
        "own.html",
    ]);
    assert!(own.status.success(), "{}", text(&own.stderr));
    for part in ["postmortem.html", "own.html"] {
        let to = format!("{part}.parts");
        let opened = fleet(&["report", "open", part, "--to", &to]);
        assert!(opened.status.success(), "{}", text(&opened.stderr));
    }
    let events = |part: &str| std::fs::read(dir.join(part).join("events.jsonl")).unwrap();
    assert_eq!(events("postmortem.html.parts"), events("own.html.parts"));
}
