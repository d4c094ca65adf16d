//! The HTTP API over real sockets, with a real hub and a real store.
#![allow(clippy::unwrap_used, reason = "only tests use it")]

mod support;

use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc;
use std::time::Duration;

use gtrace_api::client::{Client, ClientError, EventStream};
use gtrace_api::{
    CallFailures, CallStats, CaptureState, ComponentHealth, ComponentStatus, Gap, Health,
    HealthState, Published, SourceState, SourceStatus, Status,
};
use gtrace_devices::{Metric, MetricKind};
use gtrace_engine::metrics::Counted;
use gtrace_engine::samples::Batch;
use gtrace_event::{Event, EventId, Kind, Provenance, Record, Severity};
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
fn bad_requests_are_told_what_is_wrong_and_allowed() {
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
fn pause_and_flush_reach_the_core() {
    let daemon = Daemon::start();
    let client = daemon.client();
    let paused: Value = client
        .post("/api/v1/pause", &json!({ "paused": true }))
        .unwrap();
    assert_eq!(paused, Value::Null);
    client.flush().unwrap();
    assert_eq!(*daemon.core().pauses.lock().unwrap(), [true]);
}

#[test]
fn history_then_live_has_every_record_once_while_others_publish() {
    let daemon = Daemon::start();
    let core = daemon.core();
    let publisher = std::thread::spawn(move || {
        let mut known: Vec<Event> = Vec::new();
        for round in 0..400 {
            let mut records = Vec::new();
            if let Some(event) = known.get_mut(round / 3) {
                let (record, new) = repeat(event);
                *event = new.clone();
                records.push((record, new));
            }
            let event = xid("0000:3b:00.0", 13, Severity::Warning, HOUR);
            records.push((Record::Event(Box::new(event.clone())), event.clone()));
            known.push(event);
            core.publish(&records);
        }
        let last = event(Kind::SourceLost, Severity::Info, HOUR, "the end");
        core.publish(&[(Record::Event(Box::new(last.clone())), last)]);
        known
    });
    let readers: Vec<_> = (0..6)
        .map(|_| {
            let client = daemon.client();
            std::thread::spawn(move || {
                // Connections of a few live records first: each one's history ends at another
                // moment of the publishing.
                while !read_on(&client, 3).1 {}
                read_on(&client, usize::MAX).0
            })
        })
        .collect();
    let known = publisher.join().unwrap();
    for reader in readers {
        let revisions = reader.join().unwrap();
        assert_eq!(revisions.len(), known.len());
        for event in &known {
            assert_eq!(revisions[&event.id], event.revision);
        }
    }
}

/// Reads history and so many live records, or up to the event that says the end (true), and
/// checks that each event comes once and its revisions without a gap.
fn read_on(client: &Client, mut live: usize) -> (HashMap<EventId, u32>, bool) {
    let target = "/api/v1/events/stream?since=2026-03-03T00:00:00Z";
    let mut stream = client.stream(target, None).unwrap();
    let mut revisions: HashMap<EventId, u32> = HashMap::new();
    let mut is_live = false;
    while live > 0 {
        let message = stream.next_message().unwrap().unwrap();
        if message.event.is_empty() {
            is_live = true;
            continue;
        }
        let published: Published = serde_json::from_str(&message.data).unwrap();
        live -= usize::from(is_live);
        let event = published.event;
        if event.kind == Kind::SourceLost {
            return (revisions, true);
        }
        match published.record {
            Record::Event(_) => {
                let before = revisions.insert(event.id, event.revision);
                assert_eq!(before, None, "the same event twice");
            }
            Record::Amendment(amendment) => {
                let revision = revisions.get_mut(&event.id).unwrap();
                assert_eq!(amendment.revision, *revision + 1, "a gap or a repeat");
                *revision = amendment.revision;
            }
            Record::Ack(_) | Record::Incident(_) | Record::Health(_) => unreachable!(),
        }
    }
    (revisions, false)
}

#[test]
fn a_reader_that_lags_is_caught_up_from_the_store() {
    // It may take its time to publish all that.
    let limits = Limits {
        stall: Duration::from_secs(3600),
        ..Limits::default()
    };
    let daemon = Daemon::start_with(tempfile::tempdir().unwrap(), limits);
    let mut stream = daemon
        .client()
        .stream("/api/v1/events/stream", None)
        .unwrap();
    wait_until_live(&mut stream);
    // More than the live channel and the socket's buffers hold together.
    let count = 20_000;
    for _ in 0..count / 500 {
        let event = event(Kind::Xid, Severity::Warning, HOUR, "NVRM: Xid");
        let record = (Record::Event(Box::new(event.clone())), event);
        daemon.core().publish(&vec![record; 500]);
    }
    for seq in 1..=count {
        assert_eq!(next_published(&mut stream).seq, Some(seq));
    }
}

#[test]
fn a_stream_resumes_after_the_last_id_and_reports_what_is_gone() {
    let daemon = Daemon::start();
    let mut event = xid("0000:3b:00.0", 13, Severity::Warning, HOUR);
    daemon.publish_event(&event);
    for _ in 0..4 {
        let (record, new) = repeat(&event);
        daemon.core().publish(&[(record, new.clone())]);
        event = new;
    }
    let client = daemon.client();
    let mut stream = client
        .stream("/api/v1/events/stream?since=1h", Some("2"))
        .unwrap();
    for seq in 3..=5 {
        let published = next_published(&mut stream);
        assert_eq!(published.seq, Some(seq));
        let id = published.id.unwrap().to_string();
        assert_eq!(stream.last_id(), Some(id.as_str()));
    }
    // The store was replaced by a younger one.
    let mut stream = client.stream("/api/v1/events/stream", Some("900")).unwrap();
    let (name, data) = next(&mut stream);
    assert_eq!(name, "gap");
    let gap: Gap = serde_json::from_str(&data).unwrap();
    assert!(gap.reason.contains("after record 5"), "{}", gap.reason);
    wait_until_live(&mut stream);
    daemon.publish_event(&xid("0000:3b:00.0", 79, Severity::Fatal, HOUR));
    assert_eq!(next_published(&mut stream).seq, Some(6));
}

#[test]
fn who_saw_records_that_a_power_cut_took_gets_those_that_have_their_numbers_now() {
    let publish = |daemon: &Daemon, count| {
        for _ in 0..count {
            daemon.publish_event(&xid("0000:3b:00.0", 13, Severity::Warning, HOUR));
        }
    };
    let backup = tempfile::tempdir().unwrap();
    let copy = |from: &std::path::Path, to: &std::path::Path| {
        for file in ["store.db", "store.db-wal"] {
            let _ = std::fs::remove_file(to.join(file));
            if from.join(file).exists() {
                std::fs::copy(from.join(file), to.join(file)).unwrap();
            }
        }
    };
    let daemon = Daemon::start();
    let target = "/api/v1/events/stream";
    let mut stream = daemon.client().stream(target, Some("0")).unwrap();
    publish(&daemon, 3);
    copy(daemon.dir.path(), backup.path());
    publish(&daemon, 2);
    let seen: Vec<_> = (0..5).map(|_| next_published(&mut stream).id).collect();
    let last_id = stream.last_id().unwrap().to_owned();
    let dir = daemon.stop();
    copy(backup.path(), dir.path());

    let daemon = Daemon::start_in(dir);
    publish(&daemon, 4);
    let after = format!("{target}?after={last_id}");
    let mut stream = daemon.client().stream(&after, None).unwrap();
    let (name, data) = next(&mut stream);
    assert_eq!(name, "gap");
    assert!(data.contains("newest 2 records"), "{data}");
    for seq in 4..=7 {
        let published = next_published(&mut stream);
        assert_eq!(published.seq, Some(seq));
        assert!(!seen.contains(&published.id), "{published:?}");
    }
    let last_id = stream.last_id().unwrap().to_owned();

    // A store of its own begins: nothing of it was seen yet.
    let dir = daemon.stop();
    std::fs::remove_file(dir.path().join("store.db")).unwrap();
    let daemon = Daemon::start_in(dir);
    publish(&daemon, 2);
    let mut stream = daemon.client().stream(target, Some(&last_id)).unwrap();
    let (name, data) = next(&mut stream);
    assert_eq!(name, "gap");
    assert!(data.contains("none of this store"), "{data}");
    for seq in 1..=2 {
        assert_eq!(next_published(&mut stream).seq, Some(seq));
    }
}

#[test]
fn nobody_resumes_from_a_record_that_the_store_has_not_taken() {
    let daemon = Daemon::start();
    daemon.publish_event(&xid("0000:3b:00.0", 13, Severity::Warning, HOUR));
    let target = "/api/v1/events/stream";
    let mut early = daemon.client().stream(target, Some("0")).unwrap();
    let id = next_published(&mut early).id.unwrap().to_string();
    let waiting = xid("0000:3b:00.0", 79, Severity::Fatal, HOUR);
    let record = Record::Event(Box::new(waiting.clone()));
    let provisional = Published::provisional(record, waiting.clone());
    daemon.hub.publish_provisional(provisional.into(), true);
    let mut late = daemon.client().stream(target, None).unwrap();
    for stream in [&mut early, &mut late] {
        let (name, data) = next(stream);
        assert_eq!(name, "provisional");
        let published: Published = serde_json::from_str(&data).unwrap();
        assert!(published.provisional && published.seq.is_none());
        assert_eq!(published.event, waiting);
        assert_eq!(stream.last_id(), Some(id.as_str()));
    }
    daemon.publish_event(&waiting);
    for stream in [&mut early, &mut late] {
        let published = next_published(stream);
        assert!(!published.provisional);
        assert_eq!((published.seq, published.event), (Some(2), waiting.clone()));
    }
    let mut after = daemon.client().stream(target, Some("0")).unwrap();
    for seq in 1..=2 {
        assert_eq!(next_published(&mut after).seq, Some(seq));
    }
}

#[test]
fn a_stream_carries_only_what_matches_and_an_event_once_it_does() {
    let daemon = Daemon::start();
    let target = "/api/v1/events/stream?severity=critical&gpu=3b:00.0";
    let mut stream = daemon.client().stream(target, None).unwrap();
    wait_until_live(&mut stream);
    let mut event = xid("0000:3b:00.0", 13, Severity::Warning, HOUR);
    daemon.publish_event(&event);
    daemon.publish_event(&xid("0000:5e:00.0", 79, Severity::Fatal, HOUR));
    event.severity = Severity::Critical;
    let (record, event) = repeat(&event);
    daemon.core().publish(&[(record, event.clone())]);
    let published = next_published(&mut stream);
    assert_eq!((published.seq, published.event.id), (Some(3), event.id));
}

#[test]
fn stream_readers_are_limited_and_a_place_is_free_again_once_one_leaves() {
    let daemon = Daemon::start();
    let client = daemon.client();
    let open = || client.stream("/api/v1/events/stream", None);
    // One user gets half of them.
    let mut streams: Vec<_> = (0..MAX_STREAMS / 2).map(|_| open().unwrap()).collect();
    let (status, body) = refused(open().unwrap_err());
    assert_eq!(status, 429);
    assert!(body.contains("64 readers"), "{body}");
    let refused_streams = r#"gtrace_http_refused_total{listener="unix",reason="streams"}"#;
    assert_eq!(daemon.metric(refused_streams), Some(1.0));
    streams.pop();
    // The server sees the closed connection in its own time.
    while let Err(error) = open() {
        assert_eq!(refused(error).0, 429);
    }
}

#[test]
fn the_end_of_the_daemon_ends_its_streams_and_takes_the_socket_away() {
    let daemon = Daemon::start();
    let mut stream = daemon
        .client()
        .stream("/api/v1/events/stream", None)
        .unwrap();
    wait_until_live(&mut stream);
    let (ended, wait) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        ended.send(stream.next_message().unwrap()).unwrap();
    });
    let client = daemon.client();
    let dir = daemon.stop();
    assert_eq!(wait.recv().unwrap(), None);
    reader.join().unwrap();
    assert!(!dir.path().join("socket").exists());
    assert!(matches!(
        client.get::<Value>("/healthz"),
        Err(ClientError::NoDaemon { .. })
    ));
}

#[test]
fn the_health_of_the_host_is_shown_beside_that_of_gtrace_and_does_not_decide_it() {
    let daemon = Daemon::start();
    let reason = ["no answer within 5 s".to_owned()];
    let health = ComponentHealth::now(HealthState::Unhealthy, reason);
    let long = Duration::from_secs(3600);
    daemon.hub.set_health("nvml", health, long);
    daemon.hub.samples.publish(&Batch {
        component: "nvml",
        time: event(Kind::Xid, Severity::Info, HOUR, "").time,
        interval: long,
        metrics: vec![Metric {
            name: "gtrace_gpu_power_watts",
            help: "Power drawn",
            unit: "watts",
            kind: MetricKind::Gauge,
            labels: vec![("gpu", "0000:3b:00.0".to_owned())],
            value: 250.5,
        }],
    });
    let client = daemon.client();
    let own = client.get::<Health>("/healthz").unwrap();
    assert!(own.ok, "{:?}", own.reasons);
    let of = |name: &str, components: &[ComponentStatus]| {
        let found = components.iter().find(|component| component.name == name);
        found.cloned().unwrap()
    };
    let nvml = of("nvml", &own.components).health.unwrap();
    assert_eq!(nvml.state, HealthState::Unhealthy);
    assert_eq!(of("driver_modules", &own.components).health, None);

    let status = client.get::<Status>("/api/v1/status").unwrap();
    assert_eq!(status.host_health.state, HealthState::Unhealthy);
    assert_eq!(status.host_health.reasons, ["nvml: no answer within 5 s"]);
    assert!(
        status
            .sources
            .iter()
            .all(|s| s.state == SourceState::Active)
    );
    let console = of("printk:console", &status.components);
    assert!(console.last_seen_age_s.unwrap() < 60.0, "{console:?}");
    let nvml = of("nvml", &status.components);
    assert_eq!(nvml.last_sample, nvml.last_seen);
    assert!(nvml.last_seen_age_s.unwrap() > 3600.0, "{nvml:?}");

    let metrics = client.get_text("/metrics").unwrap();
    for line in [
        "gtrace_host_health{state=\"unhealthy\"} 1",
        "gtrace_component_health{component=\"nvml\",state=\"unhealthy\"} 1",
        "gtrace_component_last_seen_seconds{component=\"nvml\"} 1772510400",
        "gtrace_gpu_power_watts{gpu=\"0000:3b:00.0\"} 250.5",
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
    assert!(!metrics.contains("gtrace_component_last_seen_seconds{component=\"cuda\"}"));

    let socket = daemon.dir.path().join("socket");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gtrace"));
    let output = command.arg("status").arg("--socket").arg(socket).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    let line = "host      unhealthy: nvml: no answer within 5 s\n";
    assert!(text.contains(line), "{text}");
}

#[test]
fn health_names_a_failed_source_and_trouble_with_the_store() {
    let daemon = Daemon::start();
    daemon.hub.update_status(|status| {
        status.sources[0].state = SourceState::Failed;
        status.sources[0].reason = Some("no tracefs".into());
        status.store_problem = Some("disk full".into());
    });
    let (status, answer) = daemon.raw_unix("GET /healthz HTTP/1.0\r\n\r\n");
    assert_eq!(status, 503);
    assert!(
        answer.contains("source printk:console failed: no tracefs"),
        "{answer}"
    );
    assert!(answer.contains("store: disk full"), "{answer}");
}

#[test]
fn health_says_that_gtrace_is_paused() {
    let daemon = Daemon::start();
    let health = || daemon.client().get::<Health>("/healthz").unwrap();
    assert_eq!((health().ok, health().state), (true, CaptureState::Ok));
    daemon.hub.update_status(|status| status.paused = true);
    assert_eq!((health().ok, health().state), (true, CaptureState::Paused));
    let (status, answer) = daemon.raw_tcp("GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n");
    assert_eq!(status, 200);
    assert!(answer.contains(r#""state":"paused""#), "{answer}");
    daemon.hub.update_status(|status| {
        status.store_problem = Some("disk full".into());
    });
    let (status, answer) = daemon.raw_unix("GET /healthz HTTP/1.0\r\n\r\n");
    assert_eq!(status, 503);
    assert!(answer.contains(r#""state":"failed""#), "{answer}");
}

#[test]
fn over_tcp_only_names_of_this_host_are_answered_and_without_cors() {
    let daemon = Daemon::start();
    let get = |host: &str| {
        daemon.raw_tcp(&format!(
            "GET /healthz HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nConnection: close\r\n\r\n"
        ))
    };
    for host in ["localhost:7470", "127.0.0.1", "[::1]:7470"] {
        let (status, answer) = get(host);
        assert_eq!(status, 200, "{host}");
        assert!(
            !answer.to_lowercase().contains("access-control"),
            "{answer}"
        );
    }
    let (status, answer) = get("evil.example:7470");
    assert_eq!(status, 403);
    assert!(answer.contains("evil.example"), "{answer}");
}

#[test]
fn metrics_are_well_formed_in_both_formats() {
    let daemon = Daemon::start();
    let event = xid("0000:3b:00.0", 79, Severity::Fatal, HOUR);
    let counted = Counted::from(&event);
    for (provenance, n) in [(Provenance::Kernel, 3), (Provenance::Injected, 2)] {
        let metrics = &daemon.hub.metrics;
        metrics.count_event(&counted, provenance, true, n);
    }
    daemon.hub.update_status(|status| {
        let open = |n| [("fatal".to_owned(), n)].into();
        status.events = open(1);
        status.events_apart = [("injected".to_owned(), open(4))].into();
    });
    let call = |pid, device: &str, gpu: Option<&str>, p50_ns| CallStats {
        pid,
        comm: "python3".into(),
        device: device.to_owned(),
        gpu: gpu.map(|gpu| gpu.parse().unwrap()),
        ioctl: "0xc020462a".into(),
        op: Some("RM_CONTROL".into()),
        code: Some("0x20800102".into()),
        code_name: Some("NV2080_CTRL_CMD_GPU_GET_INFO_V2".into()),
        count: 10,
        errors: 1,
        failures: 2,
        statuses: vec![CallFailures {
            status: "0x51".into(),
            name: Some("NV_ERR_NO_MEMORY".into()),
            count: 2,
        }],
        total_ns: 1_000_000,
        p50_ns,
        p90_ns: 2000,
        p99_ns: 3000,
        p999_ns: 4000,
        max_ns: 5000,
        buckets: Vec::new(),
    };
    let own = Some("0000:3b:00.0");
    daemon.hub.set_calls(vec![
        call(1, "nvidia0", own, 1000),
        call(2, "nvidia0", own, 1500),
        call(2, "nvidiactl", None, 700),
        call(3, "240:7", None, 700),
        call(3, "240:8", None, 700),
    ]);
    let get = |accept: &str| {
        daemon.raw_tcp(&format!(
            "GET /metrics HTTP/1.0\r\nHost: localhost\r\nAccept: {accept}\r\n\r\n"
        ))
    };
    let (_, open_metrics) = get("application/openmetrics-text;version=1.0.0");
    assert!(open_metrics.contains("application/openmetrics-text; version=1.0.0; charset=utf-8"));
    assert!(open_metrics.ends_with("# EOF\n"));
    for line in [
        "gtrace_xid_total{gpu=\"0000:3b:00.0\",xid=\"79\",provenance=\"kernel\"} 3",
        "gtrace_xid_total{gpu=\"0000:3b:00.0\",xid=\"79\",provenance=\"injected\"} 2",
        "gtrace_events_total{kind=\"xid\",severity=\"fatal\",gpu=\"0000:3b:00.0\",provenance=\"injected\"} 2",
        "gtrace_open_events{severity=\"fatal\",provenance=\"kernel\"} 1.0",
        "gtrace_open_events{severity=\"fatal\",provenance=\"injected\"} 4.0",
        "gtrace_source_state{source=\"printk:console\",state=\"active\"} 1",
        "gtrace_source_lost_total{source=\"printk:console\"} 1",
        "gtrace_driver_calls_total{op=\"RM_CONTROL\",code=\"NV2080_CTRL_CMD_GPU_GET_INFO_V2\",\
         device=\"nvidia0\",gpu=\"0000:3b:00.0\"} 20",
        "gtrace_driver_calls_total{op=\"RM_CONTROL\",code=\"NV2080_CTRL_CMD_GPU_GET_INFO_V2\",\
         device=\"nvidiactl\"} 10",
        "gtrace_driver_calls_total{op=\"RM_CONTROL\",code=\"NV2080_CTRL_CMD_GPU_GET_INFO_V2\",\
         device=\"other\"} 20",
        "gtrace_driver_call_errors_total{op=\"RM_CONTROL\",\
         code=\"NV2080_CTRL_CMD_GPU_GET_INFO_V2\",device=\"nvidia0\",gpu=\"0000:3b:00.0\"} 2",
        "gtrace_driver_call_time_seconds_total{op=\"RM_CONTROL\",\
         code=\"NV2080_CTRL_CMD_GPU_GET_INFO_V2\",device=\"nvidiactl\"} 0.001",
        "gtrace_driver_call_latency_seconds{op=\"RM_CONTROL\",\
         code=\"NV2080_CTRL_CMD_GPU_GET_INFO_V2\",device=\"nvidia0\",gpu=\"0000:3b:00.0\",\
         percentile=\"50\"} 0.0000015",
        "gtrace_driver_call_failures_total{op=\"RM_CONTROL\",\
         code=\"NV2080_CTRL_CMD_GPU_GET_INFO_V2\",device=\"nvidia0\",gpu=\"0000:3b:00.0\",\
         status=\"NV_ERR_NO_MEMORY\"} 4",
        "gtrace_paused 0.0",
        "gtrace_build_info{version=\"0.1.0\"} 1",
    ] {
        assert!(
            open_metrics.contains(line),
            "{line} is not in\n{open_metrics}"
        );
    }
    let (_, prometheus) = get("text/plain;version=0.0.4");
    assert!(prometheus.contains("# TYPE gtrace_xid_total counter"));
    assert!(!prometheus.contains("# EOF") && !prometheus.contains("# UNIT"));
    for text in [&open_metrics, &prometheus] {
        let mut families: Vec<&str> = text.lines().filter(|l| l.starts_with("# TYPE ")).collect();
        let all = families.len();
        families.sort_unstable();
        families.dedup();
        assert_eq!(families.len(), all);
        let samples: Vec<&str> = text.lines().filter(|l| l.starts_with("gtrace_")).collect();
        assert!(
            samples.iter().all(|s| s.split(' ').count() == 2),
            "{samples:?}"
        );
    }
}

fn config(dir: &std::path::Path) -> ApiConfig {
    ApiConfig {
        socket: Some(dir.join("run/socket")),
        listen: None,
        listen_https: Vec::new(),
        access: None,
        store: dir.join("store.db"),
        limits: Limits::default(),
        compat_gpud: false,
    }
}

#[test]
fn the_socket_of_a_dead_daemon_is_replaced_and_that_of_a_living_one_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(dir.path());
    let path = config.socket.clone().unwrap();
    std::fs::create_dir(dir.path().join("run")).unwrap();
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());

    let bound = gtrace_http::bind(&config).unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o660);
    let error = gtrace_http::bind(&config).unwrap_err().to_string();
    let pid = format!("(pid {})", std::process::id());
    for part in [path.to_str().unwrap(), pid.as_str(), "--socket"] {
        assert!(error.contains(part), "{error}");
    }
    drop(bound);
    assert!(!path.exists());

    std::fs::write(&path, "not a socket").unwrap();
    let error = gtrace_http::bind(&config).unwrap_err().to_string();
    assert!(error.contains("no socket is in the way"), "{error}");
    assert!(path.exists());
}

#[test]
fn a_taken_port_names_its_holder() {
    let dir = tempfile::tempdir().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let taken = ApiConfig {
        listen: Some(address.try_into().unwrap()),
        ..config(dir.path())
    };
    let error = gtrace_http::bind(&taken).unwrap_err().to_string();
    let pid = format!("(pid {})", std::process::id());
    for part in [address.to_string().as_str(), pid.as_str(), "--listen"] {
        assert!(error.contains(part), "{error}");
    }
    assert!(
        !dir.path().join("run/socket").exists(),
        "a failed bind leaves nothing behind"
    );
}

#[test]
fn the_documented_alerts_are_about_what_the_kernel_wrote() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/api.md");
    let docs = std::fs::read_to_string(path).unwrap();
    let rules = docs
        .split("```")
        .find(|block| block.starts_with("yaml\ngroups:"));
    let rules = rules.unwrap();
    let mut found = 0;
    for family in [
        "gtrace_events_total",
        "gtrace_xid_total",
        "gtrace_open_events",
    ] {
        for (at, _) in rules.match_indices(family) {
            let labels = rules[at + family.len()..].split('}').next().unwrap();
            assert!(labels.starts_with('{'), "{family}{labels}");
            assert!(labels.contains("provenance=\"kernel\""), "{family}{labels}");
            found += 1;
        }
    }
    assert!(found > 2, "{rules}");
}
