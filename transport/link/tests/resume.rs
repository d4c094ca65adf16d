//! Links that go on by another connection when theirs breaks.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    missing_debug_implementations
)]

mod common;
#[path = "../../e2e/src/faults.rs"]
#[allow(dead_code, unreachable_pub)]
mod faults;

use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use common::{Bytes, Certificates, terms};
use faults::{Faults, Plan};
use gtrace_link::{
    Ended, Link, LinkError, Opened, Preference, Rx, ServerTerms, Stream, Target, Tx, connect,
    hello, take,
};

/// A server that takes new lanes and those that come back: its address, and the new ones.
fn server(terms: ServerTerms) -> (String, Receiver<Link>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let streams = move || listener.accept().map(|(stream, _)| Stream::from(stream));
    (address, serve(streams, terms))
}

fn serve(
    mut accept: impl FnMut() -> std::io::Result<Stream> + Send + 'static,
    terms: ServerTerms,
) -> Receiver<Link> {
    let (sender, lanes) = channel();
    thread::spawn(move || {
        while let Ok(stream) = accept() {
            let (sender, terms) = (sender.clone(), terms.clone());
            thread::spawn(move || {
                if let Ok(Opened::Lane(link, ..)) = take(stream, &terms) {
                    let _ = sender.send(*link);
                }
            });
        }
    });
    lanes
}

fn resuming(mut terms: ServerTerms) -> ServerTerms {
    terms.resume = Duration::from_secs(20);
    terms.ring = 0;
    terms
}

fn target(address: &str) -> Target {
    let mut target = Target::parse(address).unwrap();
    target.resume = Duration::from_secs(20);
    target
}

/// Sends `bytes` of a stream in pieces of all sizes, with and without a flush behind each.
fn send(tx: &mut dyn Tx, seed: u64, bytes: usize) {
    let (mut stream, mut sizes) = (Bytes::new(seed), Bytes::new(seed ^ 77));
    let mut sent = 0;
    let mut body = vec![0; 1 << 20];
    while sent < bytes {
        let size = sizes.next();
        let len = match size % 8 {
            0 => size as usize >> 8 & 0xf_ffff,
            1 | 2 => size as usize >> 8 & 0x3fff,
            _ => size as usize >> 8 & 0xff,
        };
        let body = &mut body[..len.clamp(1, bytes - sent)];
        stream.fill(body);
        if body.len() > 8 << 10 {
            tx.bulk(body).unwrap();
        } else {
            tx.reserve(body.len()).unwrap().copy_from_slice(body);
            tx.commit(body.len());
            if size & 0x80 != 0 {
                tx.flush().unwrap();
            }
        }
        sent += body.len();
    }
    tx.flush().unwrap();
}

/// Receives and compares them, in every way of reading.
fn receive(rx: &mut dyn Rx, seed: u64, bytes: usize) {
    let (mut stream, mut sizes) = (Bytes::new(seed), Bytes::new(seed ^ 77));
    let (mut read, mut way) = (0, 0);
    let mut body = vec![0; 1 << 20];
    let mut into = vec![0; 1 << 20];
    while read < bytes {
        let size = sizes.next();
        let len = match size % 8 {
            0 => size as usize >> 8 & 0xf_ffff,
            1 | 2 => size as usize >> 8 & 0x3fff,
            _ => size as usize >> 8 & 0xff,
        };
        let len = len.clamp(1, bytes - read);
        stream.fill(&mut body[..len]);
        let into = &mut into[..len];
        way += 1;
        match way % 3 {
            0 if len < 64 << 10 => {
                into.copy_from_slice(&rx.peek(len, None).unwrap()[..len]);
                rx.consume(len);
            }
            1 => {
                let mut at = 0;
                while at < len {
                    let some = rx.some(len - at).unwrap();
                    let count = some.len();
                    into[at..at + count].copy_from_slice(some);
                    rx.consume(count);
                    at += count;
                }
            }
            _ => rx.read(into).unwrap(),
        }
        assert!(*into == body[..len], "bytes {read} to {}", read + len);
        read += len;
    }
}

/// Both directions at once, each with its own bytes.
fn exchange(here: &mut Link, there: &mut Link, bytes: usize) {
    thread::scope(|scope| {
        let (Link { tx, rx, .. }, theirs) = (here, there);
        scope.spawn(|| send(&mut **tx, 3, bytes));
        scope.spawn(|| receive(&mut **rx, 5, bytes));
        scope.spawn(|| send(&mut *theirs.tx, 5, bytes));
        receive(&mut *theirs.rx, 3, bytes);
    });
}

fn breaks(tls: bool, seed: u64) {
    let certificates = tls.then(Certificates::new);
    let terms = resuming(
        certificates
            .as_ref()
            .map_or_else(terms, Certificates::terms),
    );
    let (address, lanes) = server(terms);
    let plan = Plan {
        seed,
        breaks: 40,
        most_bytes: 600_000,
        stall: Duration::from_millis(5),
    };
    let faults = Faults::to(&address, plan).unwrap();
    let mut target = target(faults.address());
    target.link = Preference::Tcp;
    target.tls = certificates
        .as_ref()
        .and_then(|c| c.client("ca", Some("localhost")));
    let (mut here, _, _) = connect(&target, &hello(false), None).unwrap();
    let mut there = lanes.recv_timeout(Duration::from_secs(10)).unwrap();
    faults.arm();
    exchange(&mut here, &mut there, 12 << 20);
    let resumed = here.info.changes.resumptions();
    assert!(resumed > 10, "{resumed} of {:?}", faults.by_kind());
}

#[test]
fn tcp_goes_on_whatever_breaks() {
    breaks(false, 11);
}

#[test]
fn tls_goes_on_whatever_breaks() {
    breaks(true, 12);
}

/// Ends the connections that a process has to `peer`, as whoever has them would not.
fn cut(link: &Link) {
    link.break_connection();
}

#[test]
fn a_unix_socket_is_connected_to_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let lanes = serve(
        move || listener.accept().map(|(stream, _)| Stream::from(stream)),
        resuming(terms()),
    );
    let mut target = target(&format!("unix:{}", path.display()));
    target.link = Preference::Unix;
    let (mut here, _, _) = connect(&target, &hello(false), None).unwrap();
    let mut there = lanes.recv_timeout(Duration::from_secs(10)).unwrap();
    for round in 1..20 {
        cut(if round % 2 == 0 { &here } else { &there });
        exchange(&mut here, &mut there, 100_000);
        assert_eq!(here.info.changes.resumptions(), round);
    }
}

#[test]
fn a_server_that_is_not_there_in_time_is_lost_with_the_reason() {
    let (address, lanes) = server(resuming(terms()));
    let plan = Plan {
        seed: 1,
        breaks: 1,
        most_bytes: 1,
        stall: Duration::ZERO,
    };
    let faults = Faults::to(&address, plan).unwrap();
    let mut target = target(faults.address());
    target.link = Preference::Tcp;
    target.resume = Duration::from_millis(300);
    let (mut here, _, _) = connect(&target, &hello(false), None).unwrap();
    let mut there = lanes.recv_timeout(Duration::from_secs(10)).unwrap();
    // The system reports that to another process; here the lane that it had is gone.
    there.end.end();
    let began = Instant::now();
    let error = here.rx.peek(1, None).unwrap_err();
    let said = error.to_string();
    assert!(matches!(error, LinkError::Closed(Ended { .. })), "{said}");
    assert!(
        said.contains("could not be resumed: ") && said.contains("has ended"),
        "{said}"
    );
    assert!(began.elapsed() < Duration::from_secs(10));
    assert!(there.rx.peek(1, None).is_err());
    // It stays so.
    assert!(here.rx.peek(1, None).is_err() && here.tx.bulk(&[1]).is_err());
}

/// The session's secret is what a lane is resumed by: who knows its name, its lanes and all that was ever sent is turned
/// away, and the lane goes on undisturbed.
#[test]
fn nobody_else_takes_a_lane_over() {
    use std::io::{Read as _, Write as _};
    let (address, lanes) = server(resuming(terms()));
    let mut target = target(&address);
    target.link = Preference::Tcp;
    let (mut here, _, session) = connect(&target, &hello(false), None).unwrap();
    let mut there = lanes.recv_timeout(Duration::from_secs(10)).unwrap();
    let mut forged = session;
    forged.secret[31] ^= 1;
    let error = connect(&target, &hello(false), Some(&forged)).unwrap_err();
    assert!(error.to_string().contains("session has ended"), "{error}");
    // A new session's connection that asks for a lane of another.
    let mut other = std::net::TcpStream::connect(&address).unwrap();
    let mut greeting = [0; gtrace_protocol::GREETING_LEN];
    other.read_exact(&mut greeting).unwrap();
    let mut bytes = gtrace_protocol::Preamble::new(false, false)
        .to_bytes()
        .to_vec();
    let asked = gtrace_protocol::ResumeLane {
        lane: 1,
        attempt: 9,
        received: 0,
    };
    for (op, payload) in [
        (gtrace_protocol::control::RESUME, payload(&asked)),
        (gtrace_protocol::control::PROOF, vec![0; 32]),
    ] {
        let mut header = gtrace_protocol::Header {
            op,
            ..Default::default()
        };
        header.set_payload(payload.len(), 0);
        bytes.extend(header.to_bytes());
        bytes.extend(payload);
    }
    other.write_all(&bytes).unwrap();
    let mut answer = [0; gtrace_protocol::HEADER_LEN];
    other.read_exact(&mut answer).unwrap();
    let answer = gtrace_protocol::Header::parse(&answer).unwrap();
    assert_eq!(answer.op, gtrace_protocol::control::REFUSED);
    exchange(&mut here, &mut there, 100_000);
    assert_eq!(here.info.changes.severances(), 0);
}

fn payload(message: &impl gtrace_protocol::Message) -> Vec<u8> {
    let mut writer = gtrace_protocol::Writer::default();
    message.write(&mut writer);
    writer.into_inner()
}
