//! What clients of the HTTP API can cost, and what other clients notice of it.
#![allow(clippy::unwrap_used, reason = "only tests use it")]

mod support;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use gtrace_api::Published;
use gtrace_event::{Kind, Record, Severity};
use gtrace_http::Limits;
use support::{Daemon, event, xid};

const HOUR: &str = "2026-03-03T04:00:00Z";
/// For what would else wait for ever.
const DEADLINE: Duration = Duration::from_secs(60);

fn start(limits: Limits) -> Daemon {
    Daemon::start_with(tempfile::tempdir().unwrap(), limits)
}

fn refused(reason: &str) -> String {
    format!(r#"gtrace_http_refused_total{{listener="tcp",reason="{reason}"}}"#)
}

#[test]
fn connections_that_send_no_whole_request_are_closed() {
    let daemon = start(Limits {
        idle: Duration::from_millis(100),
        ..Limits::default()
    });
    let request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for sent in ["", "GET /healthz HTTP/1.1\r\nHo", request] {
        let mut stream = TcpStream::connect(daemon.tcp).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream.write_all(sent.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert_eq!(
            answer.starts_with("HTTP/1.1 200"),
            sent == request,
            "{answer}"
        );
    }
    assert_eq!(daemon.metric(&refused("idle")), Some(3.0));
}

#[test]
fn a_body_that_does_not_come_is_not_waited_for() {
    let daemon = start(Limits {
        body: Duration::from_millis(100),
        ..Limits::default()
    });
    let mut stream = UnixStream::connect(daemon.dir.path().join("socket")).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    let request =
        "POST /api/v1/pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 15\r\n\r\n{\"pau";
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(daemon.core().pauses.lock().unwrap().is_empty());
}

#[test]
fn one_user_gets_half_the_places_and_refusals_are_counted() {
    let daemon = start(Limits {
        connections: 8,
        ..Limits::default()
    });
    let held: Vec<_> = (0..4)
        .map(|_| {
            let mut stream = TcpStream::connect(daemon.tcp).unwrap();
            // With an answer, the connection is known to have a place.
            let request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
            stream.write_all(request.as_bytes()).unwrap();
            let mut begin = [0; 12];
            stream.read_exact(&mut begin).unwrap();
            assert_eq!(&begin, b"HTTP/1.1 200");
            stream
        })
        .collect();
    let mut answer = String::new();
    let mut stream = TcpStream::connect(daemon.tcp).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(answer.contains("your user has its share"), "{answer}");
    assert_eq!(daemon.metric(&refused("connections")), Some(1.0));
    drop(held);
    // The daemon sees in its own time that they are closed.
    while daemon.tcp_client().get_text("/healthz").is_err() {}
}

#[test]
fn a_reader_that_takes_nothing_is_cut_off_and_counted() {
    let daemon = start(Limits {
        stall: Duration::from_millis(200),
        ..Limits::default()
    });
    let events: Vec<_> = (0..2000)
        .map(|_| {
            let event = event(Kind::Xid, Severity::Warning, HOUR, &"NVRM: Xid ".repeat(50));
            (Record::Event(Box::new(event.clone())), event)
        })
        .collect();
    daemon.core().publish(&events);
    let _readers = [
        "/api/v1/events?limit=10000",
        "/api/v1/events/stream?after=0",
    ]
    .map(|target| {
        let mut stream = TcpStream::connect(daemon.tcp).unwrap();
        let request = format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        stream
    });
    while daemon.metric(&refused("slow_reader")) != Some(2.0) {}
    assert_eq!(daemon.metric("gtrace_stream_readers"), Some(0.0));
}

#[test]
fn a_stream_reader_that_takes_nothing_leaves_the_live_stream_and_gets_every_record_later() {
    let daemon = Daemon::start();
    let client = daemon.client();
    let mut stream = client.stream("/api/v1/events/stream", None).unwrap();
    assert_eq!(stream.next_message().unwrap().unwrap().event, "");
    let mut published = 0;
    while daemon.hub.live_readers() > 0 {
        let event = xid("0000:3b:00.0", 13, Severity::Warning, HOUR);
        let record = (Record::Event(Box::new(event.clone())), event);
        daemon.core().publish(&vec![record; 100]);
        published += 100;
    }
    for seq in 1..=published {
        let message = stream.next_message().unwrap().unwrap();
        let published: Published = serde_json::from_str(&message.data).unwrap();
        assert_eq!(published.seq, Some(seq));
    }
    // And it is live again.
    while daemon.hub.live_readers() == 0 {
        std::thread::yield_now();
    }
    daemon.publish_event(&xid("0000:3b:00.0", 79, Severity::Fatal, HOUR));
    let message = stream.next_message().unwrap().unwrap();
    let last: Published = serde_json::from_str(&message.data).unwrap();
    assert_eq!(last.seq, Some(published + 1));
}
