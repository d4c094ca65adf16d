//! A credential for some hosts of the fleet sees what is theirs, and nothing else.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use gtrace_agent::Enrolled;
use gtrace_api::client::{Client, ClientError, HttpsEndpoint};
use gtrace_event::{FailureClass, GpuUsage, Record, Timestamp};
use gtrace_head::HostView;
use gtrace_head::db::{FleetEvent, FleetIncident, Place, Request, UsageReport};
use gtrace_tls::testing::Authority;
use gtrace_tls::{NewToken, Role, new_token};
use serde_json::Value;
use support::fleet::{Agent, Agents, Head, RecordingActor, enrolled};
use support::{Host, event, incident};

/// Somebody with a new token for these hosts.
fn somebody(
    head: &Head,
    authority: &Authority,
    dir: &Path,
    credentials: &Path,
    name: &str,
    hosts: &[&str],
) -> Client {
    let token = NewToken {
        hosts: hosts.iter().map(|one| (*one).to_owned()).collect(),
        ..NewToken::new(name, Role::Operate)
    };
    let secret = new_token(credentials, &token, Timestamp::now()).unwrap();
    let file = dir.join(name);
    fs::write(&file, secret.expose()).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    Client::https(HttpsEndpoint {
        url: head.https.clone().unwrap().parse().unwrap(),
        token_file: Some(file),
        ca: Some(authority.ca()),
        identity: None,
    })
}

fn status(answer: Result<Value, ClientError>) -> u16 {
    match answer {
        Ok(_) => 200,
        Err(ClientError::Refused { status, .. }) => status,
        Err(error) => panic!("{error}"),
    }
}

fn usage(job: &str) -> Vec<GpuUsage> {
    let now = Timestamp::now();
    let row = serde_json::json!({
        "day": now.strftime("%Y-%m-%d").to_string(), "since": now, "pci": "0000:3b:00.0", "holder": { "job": job, "user": "ada" },
        "first": now, "last": now, "seconds": 3600.0, "measured_s": 0.0, "busy_s": 0.0, "idle_s": 0.0,
    });
    vec![serde_json::from_value(row).unwrap()]
}

#[test]
fn who_has_a_credential_for_some_hosts_sees_theirs_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::new(dir.path());
    let files = authority.server("");
    let credentials = files.credentials.clone();
    let place = Place::File(dir.path().join("fleet.db"));
    let head = Head::over_tls(dir.path(), &place, files);
    let join = head.token(None, 2);
    let mut hosts = ["a1", "b1"].map(|name| Host::new(dir.path(), name));
    let keys = ["a1", "b1"].map(|name| enrolled(&head, name, &join));
    let now = Timestamp::now();
    for host in &mut hosts {
        let found = incident(&host.name, FailureClass::Pcie, now);
        host.append(&[
            Record::Event(Box::new(event(&host.name, 79, now))),
            Record::Incident(Box::new(found)),
        ]);
    }
    let agent = |host: &Host, key: &Enrolled, rack: &str| {
        let mut agent = Agent::new(host, key.clone(), rack);
        RecordingActor::of(&mut agent, &["page", "report"]);
        agent.state.lock().unwrap().usage = usage(&format!("slurm:{}", host.name));
        agent
    };
    let start = |hosts: &[Host; 2], racks: [&str; 2]| {
        let all = (0..2)
            .map(|n| agent(&hosts[n], &keys[n], racks[n]))
            .collect();
        let agents = Agents::start(all);
        agents.caught_up(&hosts.iter().collect::<Vec<_>>());
        agents
    };
    let agents = start(&hosts, ["r1", "r2"]);
    let of = |name: &str, hosts: &[&str]| {
        somebody(&head, &authority, dir.path(), &credentials, name, hosts)
    };
    let (one, both) = (of("one", &["rack=r1"]), of("both", &["a*", "rack=r2"]));
    // The file is read again within a second.
    for client in [&one, &both] {
        while status(client.get("/fleet/v1/hosts")) != 200 {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    let names = |client: &Client| -> Vec<String> {
        let views: Vec<HostView> = client.get("/fleet/v1/hosts").unwrap();
        views.into_iter().map(|view| view.host).collect()
    };
    assert_eq!(names(&one), ["a1"]);
    assert_eq!(names(&both), ["a1", "b1"]);
    let events = |query: &str| -> Vec<String> {
        let path = format!("/fleet/v1/events?{query}");
        let found: Vec<FleetEvent> = one.get(&path).unwrap();
        found.into_iter().map(|found| found.fleet_host).collect()
    };
    assert_eq!(events(""), ["a1"]);
    assert_eq!(events("host=a1"), ["a1"]);
    let incidents: Vec<FleetIncident> = one.get("/fleet/v1/incidents").unwrap();
    let of_hosts: Vec<&str> = incidents
        .iter()
        .map(|found| found.fleet_host.as_str())
        .collect();
    assert_eq!(of_hosts, ["a1"]);
    let id = incidents[0].incident.id;
    let jobs: UsageReport = one.get("/fleet/v1/usage?by=job").unwrap();
    let jobs: Vec<&str> = jobs.lines.iter().map(|line| line.name.as_str()).collect();
    assert_eq!(jobs, ["slurm:a1"]);
    for (path, expected) in [
        ("/fleet/v1/hosts/a1".to_owned(), 200),
        ("/fleet/v1/hosts/b1".to_owned(), 404),
        (format!("/fleet/v1/hosts/a1/incidents/{id}"), 200),
        (format!("/fleet/v1/hosts/b1/incidents/{id}"), 404),
        ("/fleet/v1/hosts/a1/page/api/v1/status".to_owned(), 200),
        ("/fleet/v1/hosts/b1/page/api/v1/status".to_owned(), 404),
        ("/fleet/v1/events?host=b1".to_owned(), 404),
        ("/fleet/v1/incidents?host=b1".to_owned(), 404),
        ("/fleet/v1/usage?host=b1".to_owned(), 404),
        ("/fleet/v1/latency?host=b1".to_owned(), 404),
        ("/fleet/v1/latency".to_owned(), 200),
        ("/fleet/v1/lemons".to_owned(), 403),
        ("/fleet/v1/cohorts?by=driver".to_owned(), 403),
        ("/fleet/v1/compare?by=driver&old=1&new=2".to_owned(), 403),
        ("/fleet/v1/outbreaks".to_owned(), 403),
        ("/fleet/v1/verify".to_owned(), 403),
        ("/fleet/v1/audit".to_owned(), 403),
        ("/fleet/v1/sessions".to_owned(), 403),
        ("/fleet/v1/sessions/1/frames".to_owned(), 403),
        ("/fleet/v1/requests/1".to_owned(), 404),
        ("/fleet/v1/remediation".to_owned(), 403),
        ("/metrics".to_owned(), 403),
        ("/healthz".to_owned(), 403),
    ] {
        assert_eq!(status(one.get(&path)), expected, "{path}");
    }
    // With the role operate it has its hosts asked for reports, and reads these alone.
    let by = serde_json::json!({ "by": "me" });
    let report = |client: &Client, host: &str| -> Result<Request, ClientError> {
        client.post(
            &format!("/fleet/v1/hosts/{host}/incidents/{id}/report"),
            &by,
        )
    };
    assert!(report(&one, "b1").is_err());
    let requests = [report(&both, "b1").unwrap(), report(&one, "a1").unwrap()];
    let paths = requests.map(|request| {
        let path = format!("/fleet/v1/requests/{}", request.id);
        while !both.get::<Request>(&path).unwrap().state.is_over() {
            std::thread::sleep(Duration::from_millis(20));
        }
        path
    });
    let file = |client: &Client, path: &str| match client.get_bytes(&format!("{path}/file")) {
        Ok(_) => 200,
        Err(ClientError::Refused { status, .. }) => status,
        Err(error) => panic!("{error}"),
    };
    for (client, path, expected) in [
        (&both, &paths[0], 200),
        (&one, &paths[0], 404),
        (&both, &paths[1], 200),
        (&one, &paths[1], 200),
    ] {
        assert_eq!(status(client.get(path)), expected, "{path}");
        assert_eq!(file(client, path), expected, "{path}");
    }
    // Whatever its role, it changes nothing.
    for path in [
        "/fleet/v1/hosts/a1/revoke",
        "/fleet/v1/sessions/1/stop",
        "/fleet/v1/tokens",
    ] {
        assert_eq!(status(one.post(path, &by)), 403, "{path}");
    }
    for of in ["events", "incidents"] {
        let path = format!("/fleet/v1/{of}/stream?host=b1");
        assert!(one.stream(&path, None).is_err(), "{of}");
    }
    // A stream has what is theirs: those of the other came before, of which one is too large for streams.
    let mut stream = one.stream("/fleet/v1/events/stream", None).unwrap();
    for (n, more) in [(1, 0), (1, 100_000), (0, 0)] {
        let mut record = event(&hosts[n].name, 31, Timestamp::now());
        record.message.push_str(&"m".repeat(more));
        hosts[n].append(&[Record::Event(Box::new(record))]);
        agents.caught_up(&hosts.iter().collect::<Vec<_>>());
    }
    let message = stream.next_message().unwrap().unwrap();
    assert!(
        message.data.contains("\"fleet_host\":\"a1\""),
        "{}",
        message.data
    );
    drop(agents);
    // A host whose label changes is another's.
    for host in &mut hosts {
        host.events(1);
    }
    let _agents = start(&hosts, ["r2", "r1"]);
    assert_eq!(names(&one), ["b1"]);
    assert_eq!(status(one.get("/fleet/v1/hosts/a1")), 404);
    assert_eq!(names(&both), ["a1"]);
}
