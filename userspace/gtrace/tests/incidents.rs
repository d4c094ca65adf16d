//! Incidents in the API and in `gtrace incidents`, with and without a daemon.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::slice::from_ref;

use gtrace_api::client::ClientError;
use gtrace_api::{IncidentRequest, PublishedIncident};
use gtrace_event::{Event, Incident, IncidentState, Record, Severity, StateChange};
use gtrace_store::{Options, Store};
use support::{Daemon, incident_of, xid};

fn fault(pci: &str, time: &str) -> Event {
    xid(pci, 79, Severity::Fatal, time)
}

fn ask(daemon: &Daemon, query: &str) -> Result<Vec<Incident>, ClientError> {
    let target = format!("/api/v1/incidents{query}");
    daemon.tcp_client().get(&target)
}

fn incidents(daemon: &Daemon, query: &str) -> Vec<Incident> {
    ask(daemon, query).unwrap()
}

/// `gtrace` with these arguments on a store.
fn command(args: &str, store: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gtrace"));
    command.args(args.split(' ')).args(["--store", store]);
    command.env("USER", "me").env_remove("SUDO_USER");
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn incidents_are_listed_from_hub_and_store_and_their_state_is_changed_over_the_unix_socket_only() {
    let daemon = Daemon::start();
    let first = daemon.publish_opened(&fault("0000:3b:00.0", "2026-03-03T04:05:06Z"));
    let event = fault("0000:5e:00.0", "2026-03-03T05:05:06Z");
    daemon.publish_event(&event);
    let second = incident_of(&event);
    // Not in the store yet.
    daemon.hub.set_incident(second.clone());
    assert_eq!(incidents(&daemon, ""), [first.clone(), second.clone()]);
    assert_eq!(incidents(&daemon, "?limit=1"), from_ref(&second));
    let until = "?until=2026-03-03T04:30:00Z";
    assert_eq!(incidents(&daemon, until), from_ref(&first));
    let one: Incident = daemon
        .tcp_client()
        .get(&format!("/api/v1/incidents/{}", first.id))
        .unwrap();
    assert_eq!(one, first);

    let target = format!("/api/v1/incidents/{}/state", first.id);
    let request = IncidentRequest {
        state: IncidentState::Resolved,
        by: "alice".to_owned(),
        note: "reseated".to_owned(),
    };
    let refused = daemon.tcp_client().post::<Incident>(&target, &request);
    assert!(matches!(
        refused,
        Err(ClientError::Refused { status: 403, .. })
    ));
    let changed: Incident = daemon.client().post(&target, &request).unwrap();
    assert_eq!(changed.state, IncidentState::Resolved);
    assert_eq!(changed.history[0].note, "reseated");
    for (state, says) in [
        (IncidentState::Resolved, "resolved already, by alice"),
        (IncidentState::Acknowledged, "incidents reopen"),
    ] {
        let request = IncidentRequest {
            state,
            by: "bob".to_owned(),
            note: String::new(),
        };
        let refused = daemon.client().post::<Incident>(&target, &request);
        let Err(ClientError::Refused { status: 409, .. }) = refused else {
            panic!("{refused:?}");
        };
        assert!(refused.unwrap_err().to_string().contains(says));
    }
    assert_eq!(incidents(&daemon, "?open=true"), from_ref(&second));
    for (query, part) in [
        ("limit=0", "1 to 1000"),
        ("opne=true", "known: since"),
        ("open=maybe", "neither"),
    ] {
        let error = ask(&daemon, &format!("?{query}")).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    let none = daemon
        .client()
        .get::<Incident>("/api/v1/incidents/01KJSZ3M7B0000000000ABCDEF");
    assert!(matches!(
        none,
        Err(ClientError::Refused { status: 404, .. })
    ));

    // The store is gone: a part is no answer, what goes on now is one.
    let store = daemon.dir.path().join("store.db");
    std::fs::rename(&store, daemon.dir.path().join("elsewhere.db")).unwrap();
    daemon.hub.set_incidents_taken_up();
    let since = "?since=2026-03-01T00:00:00Z";
    let refused = ask(&daemon, since);
    let Err(ClientError::Refused { status: 503, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert!(refused.unwrap_err().to_string().contains("--open"));
    assert_eq!(incidents(&daemon, "?open=true"), from_ref(&second));
    // Nor is it read for that: whoever reads it meets damage.
    for of_it in ["store.db-wal", "store.db-shm"] {
        std::fs::remove_file(daemon.dir.path().join(of_it)).unwrap();
    }
    std::fs::write(&store, "no database").unwrap();
    assert_eq!(incidents(&daemon, "?open=true"), [second]);
    assert!(!daemon.hub.take_store_suspicion());
    assert!(ask(&daemon, since).is_err());
    assert!(daemon.hub.take_store_suspicion());
}

#[test]
fn a_daemon_that_started_under_a_clock_far_behind_hides_no_incident_of_before() {
    let dir = tempfile::tempdir().unwrap();
    let before = incident_of(&fault("0000:3b:00.0", "2026-03-03T04:05:06Z"));
    let mut store = Store::open(&dir.path().join("store.db"), Options::default()).unwrap();
    let record = Record::Incident(Box::new(before.clone()));
    store.append(&[record], &[]).unwrap();
    store.close();
    // By its clock it started at midnight.
    let daemon = Daemon::start_in(dir);
    let since = incidents(&daemon, "?since=2026-03-03T01:00:00Z");
    assert_eq!(since, [before]);
}

#[test]
fn the_stream_of_incidents_resumes_and_the_one_of_events_has_none_of_them() {
    let daemon = Daemon::start();
    let mut live = daemon
        .client()
        .stream("/api/v1/incidents/stream", None)
        .unwrap();
    // The first message only has an id, to resume from.
    assert!(live.next_message().unwrap().unwrap().data.is_empty());
    let mut events = daemon
        .client()
        .stream("/api/v1/events/stream", None)
        .unwrap();
    assert!(events.next_message().unwrap().unwrap().data.is_empty());
    let event = fault("0000:3b:00.0", "2026-03-03T04:05:06Z");
    let mut incident = daemon.publish_opened(&event);
    let message = live.next_message().unwrap().unwrap();
    assert_eq!(message.event, "incident");
    let published: PublishedIncident = serde_json::from_str(&message.data).unwrap();
    assert_eq!((&published.incident, published.seq), (&incident, Some(2)));
    incident.revision += 1;
    daemon.core().publish_incident(&incident);
    daemon.publish_event(&fault("0000:5e:00.0", "2026-03-03T05:05:06Z"));
    for seq in [1, 4] {
        let message = events.next_message().unwrap().unwrap();
        assert_eq!(message.event, "event");
        let value: serde_json::Value = serde_json::from_str(&message.data).unwrap();
        assert_eq!(value["seq"], seq, "no gap is reported where an incident is");
    }

    let mut resumed = daemon
        .client()
        .stream("/api/v1/incidents/stream?after=2", None)
        .unwrap();
    let message = resumed.next_message().unwrap().unwrap();
    let published: PublishedIncident = serde_json::from_str(&message.data).unwrap();
    assert_eq!((published.seq, published.incident.revision), (Some(3), 1));
    let mut resumed = daemon
        .client()
        .stream("/api/v1/events/stream?after=1", None)
        .unwrap();
    let message = resumed.next_message().unwrap().unwrap();
    let value: serde_json::Value = serde_json::from_str(&message.data).unwrap();
    assert_eq!(
        (message.event.as_str(), &value["seq"]),
        ("event", &4.into())
    );
}

#[test]
fn the_command_works_on_the_store_alone_and_on_a_copy_of_it() {
    let daemon = Daemon::start();
    let incident = daemon.publish_opened(&fault("0000:3b:00.0", "2026-03-03T04:05:06Z"));
    let dir = daemon.stop();
    let store = dir.path().join("store.db");
    let store = store.to_str().unwrap();
    let id = incident.id.to_string();
    let gtrace = |args: &str| command(args, store).output().unwrap();
    let listed = gtrace("incidents");
    assert!(listed.status.success(), "{}", text(&listed.stderr));
    let line = text(&listed.stdout);
    for part in [id.as_str(), "pcie", "fell off the bus"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    let shown = gtrace(&format!("incidents show {}", &id[id.len() - 8..]));
    let block = text(&shown.stdout);
    for part in ["0000:3b:00.0", "Xid 79"] {
        assert!(block.contains(part), "{part}: {block}");
    }
    let resolved = gtrace(&format!("incidents resolve {id} --note replaced --json"));
    assert!(resolved.status.success(), "{}", text(&resolved.stderr));
    let changed: Incident = serde_json::from_slice(&resolved.stdout).unwrap();
    assert_eq!(changed.state, IncidentState::Resolved);
    assert_eq!(changed.history[0].by, "me");
    let acked = gtrace(&format!("incidents ack {id}"));
    assert_eq!(acked.status.code(), Some(1));
    let why = text(&acked.stderr);
    assert!(why.contains(&format!("incidents reopen {id}")), "{why}");
    let open = gtrace("incidents --open");
    assert!(open.status.success() && open.stdout.is_empty(), "{open:?}");
    assert!(text(&open.stderr).contains("no incidents match"));
    let unknown = gtrace("incidents show 01KJSZ3M7B0000000000ABCDEF");
    assert_eq!(unknown.status.code(), Some(1));
    let verified = gtrace("events --verify");
    assert!(verified.status.success(), "{}", text(&verified.stderr));
}

#[test]
fn two_who_change_an_incident_without_a_daemon_lose_nothing_of_each_other() {
    let daemon = Daemon::start();
    let event = fault("0000:3b:00.0", "2026-03-03T04:05:06Z");
    let mut incident = daemon.publish_opened(&event);
    let dir = daemon.stop();
    let path = dir.path().join("store.db");
    let (id, store) = (incident.id.to_string(), path.to_str().unwrap());
    let mut alice = Store::open(&path, Options::default()).unwrap();
    let mut resolve = command(&format!("incidents resolve {id} --json"), store)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut messages = BufReader::new(resolve.stderr.take().unwrap()).lines();
    assert!(messages.any(|line| line.unwrap().contains("waiting for that")));
    incident.change_state(StateChange::new(
        event.time,
        IncidentState::Acknowledged,
        "alice",
        "on it",
    ));
    let record = Record::Incident(Box::new(incident));
    alice.append(&[record], &[]).unwrap();
    drop(alice);
    let resolved = resolve.wait_with_output().unwrap();
    assert!(resolved.status.success());
    let changed: Incident = serde_json::from_slice(&resolved.stdout).unwrap();
    let by: Vec<&str> = changed.history.iter().map(|one| one.by.as_str()).collect();
    assert_eq!(by, ["alice", "me"]);
}
