//! Agents and a head, end to end, over both databases.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod support;

use std::time::Duration;

use gtrace_agent::{Enrolled, enroll};
use gtrace_event::{FailureClass, HealthState, Record, Severity, Timestamp};
use gtrace_fleet::EnrollRequest;
use gtrace_head::db::{ChainReport, FleetEvent, FleetIncident, Place};
use support::fleet::{Agent, Agents, Head, block, enrolled, request};
use support::{Host, Postgres, amendment, event, incident};

/// What is asked of either database.
fn fleet(database: &Place) {
    let dir = tempfile::tempdir().unwrap();
    let mut head = Head::start(dir.path(), database, "127.0.0.1:0");
    let token = head.token(None, 3);
    let mut hosts: Vec<Host> = ["a1", "a2", "a3"]
        .iter()
        .map(|name| Host::new(dir.path(), name))
        .collect();
    let keys: Vec<Enrolled> = hosts
        .iter()
        .map(|h| enrolled(&head, &h.name, &token))
        .collect();

    // Three hosts of a rack fail alike; one event becomes worse later, on another day of the store.
    let now = Timestamp::now();
    let first = event("a1", 79, now);
    for host in &mut hosts {
        host.events(200);
        let found = incident(&host.name, FailureClass::Pcie, now);
        host.append(&[Record::Incident(Box::new(found))]);
    }
    hosts[0].append(&[Record::Event(Box::new(first.clone()))]);
    let worse = amendment(&first, Severity::Fatal);
    hosts[0].append(&[Record::Amendment(Box::new(worse))]);
    let with = |hosts: &'_ [Host]| -> Vec<(usize, Enrolled)> {
        (0..hosts.len()).map(|n| (n, keys[n].clone())).collect()
    };
    let start = |hosts: &[Host]| {
        let of: Vec<_> = with(hosts)
            .into_iter()
            .map(|(n, key)| Agent::new(&hosts[n], key, "r7"))
            .collect();
        Agents::start(of)
    };
    let agents = start(&hosts);
    agents.caught_up(&hosts.iter().collect::<Vec<_>>());

    let views = head.hosts();
    assert_eq!(
        views.iter().map(|v| v.records).collect::<Vec<_>>(),
        [203, 201, 201]
    );
    assert!(
        views
            .iter()
            .all(|v| v.simulated && v.behind == 0 && v.labels["rack"] == "r7")
    );
    assert!(
        views
            .iter()
            .all(|v| v.state == HealthState::Unknown && v.clock.is_some())
    );
    let events: Vec<FleetEvent> = head.client.get("/fleet/v1/events?severity=fatal").unwrap();
    let [found] = events.as_slice() else {
        panic!("{events:?}");
    };
    assert_eq!(
        (found.event.id, found.event.severity),
        (first.id, Severity::Fatal)
    );
    let of_one: Vec<FleetEvent> = head
        .client
        .get("/fleet/v1/events?host=a2&limit=1000")
        .unwrap();
    assert_eq!(of_one.len(), 200);
    let outbreaks: Vec<gtrace_fleet::outbreak::Outbreak> =
        head.client.get("/fleet/v1/outbreaks?open=true").unwrap();
    assert_eq!(
        (
            outbreaks.len(),
            outbreaks[0].hosts.len(),
            outbreaks[0].drill
        ),
        (1, 3, true)
    );

    // The head goes away and comes back while records come; a change of an incident is seen live.
    let address = head.url.strip_prefix("http://").unwrap().to_owned();
    drop(head);
    for host in &mut hosts {
        host.events(50);
    }
    agents.wake();
    head = Head::start(dir.path(), database, &address);
    let mut live = head
        .client
        .stream("/fleet/v1/incidents/stream", None)
        .unwrap();
    let path = "/fleet/v1/events/stream?host=a3&kind=xid&severity=critical";
    let mut events = head.client.stream(path, None).unwrap();
    let opened = incident("a3", FailureClass::Thermal, Timestamp::now());
    hosts[2].append(&[Record::Incident(Box::new(opened.clone()))]);
    agents.wake();
    let message = live.next_message().unwrap().unwrap();
    let seen: FleetIncident = serde_json::from_str(&message.data).unwrap();
    assert_eq!(
        (seen.fleet_host.as_str(), seen.incident.id),
        ("a3", opened.id)
    );
    agents.caught_up(&hosts.iter().collect::<Vec<_>>());
    drop(live);
    // Those of others, and less severe ones, are not among what was asked for. What the host had not sent when the reader came is.
    let (time, mut warning) = (Timestamp::now(), event("a3", 13, Timestamp::now()));
    warning.severity = Severity::Warning;
    let last = event("a3", 79, time);
    for (host, event) in [(0, event("a1", 48, time)), (2, warning), (2, last.clone())] {
        hosts[host].append(&[Record::Event(Box::new(event))]);
        agents.wake();
        agents.caught_up(&hosts.iter().collect::<Vec<_>>());
    }
    loop {
        let message = events.next_message().unwrap().unwrap();
        assert_eq!(message.event, "event");
        let seen: FleetEvent = serde_json::from_str(&message.data).unwrap();
        assert_eq!(
            (seen.fleet_host.as_str(), seen.event.severity),
            ("a3", Severity::Critical)
        );
        if seen.event.id == last.id {
            break;
        }
    }
    drop(events);
    assert!(
        head.client
            .stream("/fleet/v1/events/stream?kind=nonsense", None)
            .is_err()
    );

    // Damage: the store begins anew, and what was in it stays at the head.
    let replaced = &mut hosts[1];
    replaced.store.replace("a test says so").unwrap();
    replaced.events(10);
    agents.caught_up(&hosts.iter().collect::<Vec<_>>());
    let view = head.hosts().remove(1);
    // 201, 50, the record of the replacement, 10.
    assert_eq!(
        (view.records, view.forks, view.unexplained_gaps),
        (262, 1, 0)
    );
    let reports: Vec<ChainReport> = head.client.get("/fleet/v1/verify").unwrap();
    assert!(reports.iter().all(ChainReport::is_whole), "{reports:?}");
    assert_eq!(
        reports.iter().map(|r| r.records).sum::<u64>(),
        254 + 262 + 254
    );
    drop(agents);
    nobody_in(&head, &keys[0]);
}

/// Who is not let in, and what is not taken.
fn nobody_in(head: &Head, good: &Enrolled) {
    let url = head.url.parse().unwrap();
    let refused = |request: EnrollRequest| {
        block(enroll(&url, None, &request))
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    let used_up = head.token(None, 1);
    enrolled(head, "b1", &used_up);
    assert!(refused(request("b2", &used_up, "b2")).contains("used up"));
    assert!(refused(request("b2", "gtj_0", "b2")).contains("join token"));
    let taken = refused(request("a1", &head.token(None, 1), "another-machine"));
    assert!(taken.contains("another machine-id"), "{taken}");
    let other = refused(request("b3", &head.token(Some("b4"), 1), "b3"));
    assert!(other.contains("for host `b4`"), "{other}");
    let bad = refused(request("b4/../x", &head.token(None, 1), "b4"));
    assert!(bad.contains("letters, digits"), "{bad}");

    let curl = |credential: &str, path: &str, body: Vec<u8>| {
        let tcp = head.url.strip_prefix("http://").unwrap();
        let length = body.len();
        let mut message = format!(
            "POST {path} HTTP/1.1\r\nHost: {tcp}\r\nConnection: close\r\nContent-Length: {length}\r\n\
             Content-Type: application/json\r\nAuthorization: Bearer {credential}\r\n\r\n"
        )
        .into_bytes();
        message.extend(body);
        let mut stream = std::net::TcpStream::connect(tcp).unwrap();
        std::io::Write::write_all(&mut stream, &message).unwrap();
        let mut answer = Vec::new();
        let _ = std::io::Read::read_to_end(&mut stream, &mut answer);
        String::from_utf8_lossy(&answer)
            .get(9..12)
            .map_or(0, |code| code.parse::<u16>().unwrap())
    };
    let batch = "/fleet/v1/batch";
    let key = good.credential.as_str();
    assert_eq!(curl(key, batch, b"not zstd".to_vec()), 400);
    assert_eq!(curl(&format!("{key}0"), batch, Vec::new()), 401);
    // The number of another host with the secret of this one.
    let other = key.replacen("gta_1_", "gta_2_", 1);
    assert_ne!(other, key);
    assert_eq!(curl(&other, batch, Vec::new()), 401);
    // TCP changes nothing without a credential.
    let token = br#"{"for_s":60,"uses":1,"by":"x"}"#.to_vec();
    assert_eq!(curl(key, "/fleet/v1/tokens", token), 403);
    let by = gtrace_head::By {
        by: "test".to_owned(),
    };
    head.client
        .post::<()>("/fleet/v1/hosts/a1/revoke", &by)
        .unwrap();
    std::thread::sleep(Duration::from_millis(2100));
    assert_eq!(curl(key, "/fleet/v1/state", b"{}".to_vec()), 401);
}

#[test]
fn a_fleet_over_the_embedded_database() {
    let dir = tempfile::tempdir().unwrap();
    fleet(&Place::File(dir.path().join("fleet.db")));
}

#[test]
fn a_fleet_over_postgresql() {
    if let Some(server) = Postgres::start() {
        fleet(&server.place());
    }
}
