//! The HTTP API over real sockets, with a real hub and a real store.
#![allow(clippy::unwrap_used, reason = "only tests use it")]

mod metrics;
mod sockets;
mod state;
mod streams;
#[path = "../support/mod.rs"]
mod support;

use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc;
use std::time::Duration;

use gtrace_api::client::{Client, ClientError, EventStream};
use gtrace_api::{
    CallFailures, CallStats, CaptureState, ComponentHealth, ComponentStatus, Gap, Health,
    HealthState, Published, Ready, SourceState, SourceStatus, Status, Version,
};
use gtrace_devices::Metric;
use gtrace_engine::hub::Pause;
use gtrace_engine::metrics::Counted;
use gtrace_engine::samples::Batch;
use gtrace_event::{Event, EventChange, EventId, Kind, Provenance, Record, Severity, WitnessName};
use gtrace_http::{ApiConfig, Limits, MAX_STREAMS};
use serde_json::{Value, json};
use support::{Daemon, event, repeat, xid};

const HOUR: &str = "2026-03-03T04:00:00Z";

fn refused(error: ClientError) -> (u16, String) {
    match error {
        ClientError::Refused { status, body } => (status, format!("{body:?}")),
        other => panic!("{other}"),
    }
}

/// The next message that carries data.
fn next(stream: &mut EventStream) -> (String, String) {
    loop {
        let message = stream.next_message().unwrap().unwrap();
        if !message.event.is_empty() {
            return (message.event, message.data);
        }
    }
}

fn next_published(stream: &mut EventStream) -> Published {
    let (name, data) = next(stream);
    assert_ne!(name, "gap", "{data}");
    serde_json::from_str(&data).unwrap()
}

/// Reads until the stream has said where it stands, so that what follows is live.
fn wait_until_live(stream: &mut EventStream) {
    let message = stream.next_message().unwrap().unwrap();
    assert_eq!(message.event, "");
    assert!(stream.last_id().is_some());
}

#[test]
fn every_reading_route_answers_on_both_sockets() {
    let daemon = Daemon::start();
    let event = xid("0000:3b:00.0", 79, Severity::Fatal, HOUR);
    daemon.publish_event(&event);
    for client in [daemon.client(), daemon.tcp_client()] {
        assert!(client.get::<Health>("/healthz").unwrap().ok);
        assert!(client.get_text("/metrics").unwrap().ends_with("# EOF\n"));
        assert_eq!(
            client.get::<Vec<Event>>("/api/v1/events").unwrap(),
            std::slice::from_ref(&event)
        );
        let one = client
            .get::<Event>(&format!("/api/v1/events/{}", event.id))
            .unwrap();
        assert_eq!(one, event);
        assert_eq!(
            client.get::<Status>("/api/v1/status").unwrap().host,
            "node7"
        );
        let sources = client.get::<Vec<SourceStatus>>("/api/v1/sources").unwrap();
        assert_eq!(sources[0].records, 7);
        assert_eq!(client.get::<Value>("/api/v1/gpus").unwrap(), json!([]));
        assert!(
            client
                .get::<Vec<CallStats>>("/api/v1/histograms")
                .unwrap()
                .is_empty()
        );
        let schema = client.get::<Value>("/api/v1/schema/event").unwrap();
        assert_eq!(schema["title"], "Event");
        let document = client.get::<Value>("/api/openapi.json").unwrap();
        assert_eq!(document["openapi"], "3.1.0");
    }
}

#[test]
fn buckets_of_histograms_are_given_to_who_asks() {
    let daemon = Daemon::start();
    daemon.hub.set_calls(vec![CallStats {
        count: 3,
        buckets: vec![(126, 2), (130, 1)],
        ..CallStats::default()
    }]);
    let client = daemon.client();
    let buckets = |path: &str| {
        let calls: Vec<CallStats> = client.get(path).unwrap();
        calls[0].buckets.clone()
    };
    assert!(buckets("/api/v1/histograms").is_empty());
    assert_eq!(
        buckets("/api/v1/histograms?buckets=true"),
        [(126, 2), (130, 1)]
    );
    assert!(client.get::<Value>("/api/v1/histograms?bucket=1").is_err());
}

#[test]
fn events_are_filtered_by_every_parameter() {
    let daemon = Daemon::start();
    let old = xid(
        "0000:3b:00.0",
        13,
        Severity::Warning,
        "2026-03-03T01:00:00Z",
    );
    let mut new = xid("0000:5e:00.0", 79, Severity::Fatal, "2026-03-03T03:00:00Z");
    new.gpu.as_mut().unwrap().index = Some(5);
    let oom = event(
        Kind::OomKill,
        Severity::Critical,
        "2026-03-03T02:00:00Z",
        "Out of memory",
    );
    for event in [&old, &oom, &new] {
        daemon.publish_event(event);
    }
    let client = daemon.client();
    let found = |query: &str| -> Vec<EventId> {
        let events: Vec<Event> = client.get(&format!("/api/v1/events?{query}")).unwrap();
        events.iter().map(|e| e.id).collect()
    };
    assert_eq!(found(""), [old.id, oom.id, new.id]);
    assert_eq!(found("since=2026-03-03T02:00:00Z"), [oom.id, new.id]);
    assert_eq!(found("until=2026-03-03T02:00:00Z"), [old.id]);
    assert!(found("since=1h").is_empty());
    assert_eq!(found("kind=xid"), [old.id, new.id]);
    assert_eq!(found("kind=oom_kill,aer"), [oom.id]);
    assert_eq!(found("kind=oom_kill&kind=xid"), [old.id, oom.id, new.id]);
    assert_eq!(found("gpu=0000:3b:00.0"), [old.id]);
    assert_eq!(found("gpu=5E:00"), [new.id]);
    assert_eq!(found("gpu=5"), [new.id]);
    assert_eq!(found("gpu=5&limit=1"), [new.id]);
    assert_eq!(found("severity=critical"), [oom.id, new.id]);
    assert_eq!(found("provenance=kernel"), [old.id, new.id]);
    assert_eq!(found("limit=2"), [oom.id, new.id]);
    let ack = json!({ "by": "alice", "note": "seen" });
    client
        .post::<Event>(&format!("/api/v1/events/{}/ack", oom.id), &ack)
        .unwrap();
    assert_eq!(found("unacked=true"), [old.id, new.id]);
}

#[test]
fn bad_requests_get_what_is_wrong_and_allowed() {
    let daemon = Daemon::start();
    let client = daemon.client();
    for (target, status, part) in [
        (
            "/api/v1/events?since=yesterday",
            400,
            "since: `yesterday` is not a time",
        ),
        ("/api/v1/events?kind=xyd", 400, "known kinds: xid"),
        (
            "/api/v1/events?severity=bad",
            400,
            "info, warning, critical or fatal",
        ),
        ("/api/v1/events?limit=10001", 400, "1 to 10000"),
        ("/api/v1/events?gqu=1", 400, "known: since"),
        (
            "/api/v1/events/stream?until=1h",
            400,
            "until: has no meaning here",
        ),
        ("/api/v1/events/xyz", 400, "26 letters"),
        ("/api/v1/events/01KJSZ3M7B0000000000000000", 404, "no event"),
        ("/api/v1/nothing", 404, "no route /api/v1/nothing"),
        ("/api/v1/pause", 405, "does not take GET"),
    ] {
        let (got, body) = refused(client.get::<Value>(target).unwrap_err());
        assert_eq!(got, status, "{target}");
        assert!(body.contains(part), "{target}: {body}");
    }
    let (status, _) = refused(
        client
            .stream("/api/v1/events/stream", Some("x"))
            .unwrap_err(),
    );
    assert_eq!(status, 400);
}

#[test]
fn an_acknowledgement_is_stored_and_streamed_over_the_unix_socket_only() {
    let daemon = Daemon::start();
    let event = xid("0000:3b:00.0", 79, Severity::Fatal, HOUR);
    daemon.publish_event(&event);
    let target = format!("/api/v1/events/{}/ack", event.id);
    let body = json!({ "by": "alice", "note": "drained" });
    let mut stream = daemon
        .tcp_client()
        .stream("/api/v1/events/stream", None)
        .unwrap();
    wait_until_live(&mut stream);

    let acked: Event = daemon.client().post(&target, &body).unwrap();
    assert_eq!(
        (acked.acks[0].by.as_str(), acked.acks[0].note.as_str()),
        ("alice", "drained")
    );
    let (name, data) = next(&mut stream);
    assert_eq!(name, "ack");
    let published: Published = serde_json::from_str(&data).unwrap();
    assert_eq!(published.event.acks.len(), 1);

    for target in [target.as_str(), "/api/v1/pause", "/api/v1/flush"] {
        let (status, body) = refused(
            daemon
                .tcp_client()
                .post::<Value>(target, &body)
                .unwrap_err(),
        );
        assert_eq!(status, 403);
        assert!(body.contains("TCP has no authentication"), "{body}");
        let socket = daemon.dir.path().join("socket");
        let remedy = format!("--unix-socket {} ", socket.display());
        assert!(body.contains(&remedy), "{body}");
    }
    let client = daemon.client();
    for bad in [
        json!({}),
        json!({ "by": " " }),
        json!({ "by": "a", "nte": "" }),
        json!([]),
    ] {
        assert_eq!(
            refused(client.post::<Value>(&target, &bad).unwrap_err()).0,
            400,
            "{bad}"
        );
    }
    let large = json!({ "by": "a", "note": "x".repeat(70_000) });
    assert_eq!(
        refused(client.post::<Value>(&target, &large).unwrap_err()).0,
        413
    );
    let unknown = "/api/v1/events/01KJSZ3M7B0000000000000000/ack";
    assert_eq!(
        refused(client.post::<Value>(unknown, &body).unwrap_err()).0,
        404
    );
}

#[test]
fn a_maintenance_window_that_is_not_on_cannot_be_ended() {
    let daemon = Daemon::start();
    let client = daemon.client();
    let maintain = |for_s: u64| {
        let body = json!({ "for_s": for_s, "by": "ann", "note": "" });
        client.post::<Value>("/api/v1/maintenance", &body)
    };
    assert_eq!(refused(maintain(0).unwrap_err()).0, 409);
    maintain(60).unwrap();
}

#[test]
fn pause_and_flush_reach_the_core() {
    let daemon = Daemon::start();
    let client = daemon.client();
    let paused: Value = client
        .post("/api/v1/pause", &json!({ "paused": true }))
        .unwrap();
    assert_eq!(paused, Value::Null);
    let pause = |body: Value| client.post::<Value>("/api/v1/pause", &body);
    pause(json!({ "paused": true, "for_s": 180 })).unwrap();
    for wrong in [
        json!({ "paused": true, "for_s": 0 }),
        json!({ "paused": true, "for_s": 86_401 }),
        json!({ "paused": false, "for_s": 1 }),
    ] {
        assert_eq!(refused(pause(wrong).unwrap_err()).0, 400);
    }
    client.flush().unwrap();
    let of = |lease| Pause {
        paused: true,
        lease,
    };
    let asked = [of(None), of(Some(Duration::from_secs(180)))];
    assert_eq!(*daemon.core().pauses.lock().unwrap(), asked);
}
