//! Who is accepted, who is not, and what each is answered.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use common::{by_tcp, tcp_server, terms, unix_server};
use gtrace_link::{LinkError, LinkKind, Preference, Target, Token, connect, hello};
use gtrace_protocol::{Header, Message, Preamble, Proof, control};

fn token(text: &str) -> Option<Token> {
    Some(Token::new(text.as_bytes()).unwrap())
}

#[test]
fn a_session_and_its_further_lanes() {
    let (address, accepted) = tcp_server(terms());
    let target = by_tcp(&address);
    let (first, welcome, session) = connect(&target, &hello(true), None).unwrap();
    let (_served, client, admitted) = accepted.recv().unwrap().unwrap();
    assert_eq!((first.info.kind, welcome.lane), (LinkKind::Tcp, 1));
    assert_eq!(welcome.driver_version, 12_040);
    assert_eq!(welcome.host, "test-server");
    assert!(first.info.probe_ns > 0);
    assert_eq!((client.pid, client.strict), (std::process::id(), true));
    assert_eq!(admitted.session, session.id);
    let (_second, welcome, again) = connect(&target, &hello(true), Some(&session)).unwrap();
    assert_eq!((welcome.lane, again.id), (2, session.id));
    assert!(accepted.recv().unwrap().is_ok());
    // One that knows the session's name and not its secret.
    let mut forged = session.clone();
    forged.secret[0] ^= 1;
    let error = connect(&target, &hello(true), Some(&forged)).unwrap_err();
    assert!(error.to_string().contains("session has ended"), "{error}");
}

#[test]
fn loopback_does_not_use_bbr() {
    let (address, accepted) = tcp_server(terms());
    let (client, server) = common::pair(&by_tcp(&address), &accepted);
    for link in [client, server] {
        let used = link.info.congestion_control.expect("TCP says what it uses");
        assert_ne!(used, "bbr");
    }
}

#[test]
fn tokens_are_proved_both_ways() {
    let mut terms = terms();
    terms.token = token("correct horse battery");
    let (address, accepted) = tcp_server(terms);
    let mut target = Target::parse(&address).unwrap();
    let error = connect(&target, &hello(false), None).unwrap_err();
    assert!(error.to_string().contains("--token-file"), "{error}");
    // It went away with what it needed to know, and said nothing.
    assert!(accepted.recv().unwrap().is_err());
    target.token = token("wrong horse battery!");
    let error = connect(&target, &hello(false), None).unwrap_err();
    assert!(matches!(error, LinkError::Refused(_)), "{error}");
    assert!(
        error.to_string().contains("token is not the server's"),
        "{error}"
    );
    assert!(matches!(
        accepted.recv().unwrap(),
        Err(LinkError::Refused(_))
    ));
    target.token = token("correct horse battery");
    assert!(connect(&target, &hello(false), None).is_ok());
}

#[test]
fn a_server_that_asks_for_no_token_is_not_trusted_by_one_who_has_it() {
    let (address, _accepted) = tcp_server(terms());
    let mut target = Target::parse(&address).unwrap();
    target.token = token("correct horse battery");
    let error = connect(&target, &hello(false), None).unwrap_err();
    assert!(matches!(error, LinkError::Usage(_)), "{error}");
}

#[test]
fn a_unix_socket_serves_too() {
    let dir = tempfile::tempdir().unwrap();
    let (address, accepted) = unix_server(&dir.path().join("serve.sock"), terms());
    let mut target = Target::parse(&address).unwrap();
    target.link = Preference::Unix;
    let (client, _server) = common::pair(&target, &accepted);
    assert_eq!(client.info.peer, address);
    assert_eq!(client.info.kind, LinkKind::Unix);
}

#[test]
fn nobody_there_names_the_server_and_the_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let address = format!("unix:{}", dir.path().join("none.sock").display());
    for address in [address.as_str(), "127.0.0.1:9"] {
        let target = Target::parse(address).unwrap();
        let error = connect(&target, &hello(false), None)
            .unwrap_err()
            .to_string();
        assert!(error.contains(address), "{error}");
        assert!(error.contains("is `gtrace serve` running"), "{error}");
    }
}

#[test]
fn garbage_and_silence_are_turned_away_in_time() {
    let (address, accepted) = tcp_server(terms());
    let mut http = TcpStream::connect(&address).unwrap();
    http.write_all(b"GET / HTTP/1.1\r\nHost: gpu-host\r\n\r\n")
        .unwrap();
    let error = accepted.recv().unwrap().unwrap_err().to_string();
    assert!(error.contains("not a client of gtrace"), "{error}");
    let mut scan = TcpStream::connect(&address).unwrap();
    scan.write_all(b"GT").unwrap();
    drop(scan);
    assert!(matches!(
        accepted.recv().unwrap(),
        Err(LinkError::Closed(_))
    ));
    let _silent = TcpStream::connect(&address).unwrap();
    let began = Instant::now();
    let outcome = accepted.recv_timeout(Duration::from_secs(8)).unwrap();
    assert!(matches!(outcome, Err(LinkError::TimedOut(_))));
    assert!(began.elapsed() >= Duration::from_secs(4));
}

#[test]
fn another_version_learns_which_to_install() {
    let (address, accepted) = tcp_server(terms());
    let mut newer = TcpStream::connect(&address).unwrap();
    let mut preamble = gtrace_protocol::Preamble::new(false, false);
    (preamble.version_min, preamble.version_max) = (7, 9);
    newer.write_all(&preamble.to_bytes()).unwrap();
    newer.write_all(&[0; 500]).unwrap();
    let mut answer = Vec::new();
    newer.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.contains("versions 7 to 9"), "{answer}");
    drop(newer);
    assert!(matches!(
        accepted.recv().unwrap(),
        Err(LinkError::Preamble(_))
    ));
}

#[test]
fn the_quickest_link_of_a_host_is_taken_by_itself() {
    let (address, accepted) = tcp_server(terms());
    let (client, server) = common::pair(&Target::parse(&address).unwrap(), &accepted);
    assert_eq!(client.info.kind, LinkKind::SharedMemory);
    assert_eq!(server.info.kind, LinkKind::SharedMemory);
    assert_eq!(client.info.fallbacks, Vec::<String>::new());
    assert!(client.info.probe_ns > 0);
}

#[test]
fn what_is_not_offered_is_a_reason_or_an_error() {
    let server = || {
        let mut none = terms();
        none.ring = 0;
        tcp_server(none)
    };
    let (address, accepted) = server();
    let target = Target::parse(&address).unwrap();
    let (client, _server) = common::pair(&target, &accepted);
    assert_eq!(client.info.kind, LinkKind::Tcp);
    assert_eq!(client.info.fallbacks.len(), 2);
    assert!(client.info.fallbacks[0].starts_with("shm: not offered"));
    let (address, _accepted) = server();
    let mut target = Target::parse(&address).unwrap();
    target.link = Preference::SharedMemory;
    let error = connect(&target, &hello(false), None)
        .unwrap_err()
        .to_string();
    assert!(error.contains("--link auto"), "{error}");
}

#[test]
fn a_client_of_another_host_is_offered_nothing() {
    let (address, accepted) = tcp_server(terms());
    let mut remote = hello(false);
    remote.boot_id = "00000000-0000-0000-0000-000000000000".into();
    let target = Target::parse(&address).unwrap();
    let (client, welcome, _) = connect(&target, &remote, None).unwrap();
    assert!(accepted.recv().unwrap().is_ok());
    assert_eq!((client.info.kind, welcome.offers), (LinkKind::Tcp, vec![]));
}

/// A frame of the handshake.
fn frame(op: u32, payload: &[u8]) -> Vec<u8> {
    let mut header = Header {
        op,
        ..Header::default()
    };
    assert!(header.set_payload(payload.len(), 0));
    [&header.to_bytes()[..], payload].concat()
}

fn message<M: Message>(message: &M) -> Vec<u8> {
    frame(M::OP, &message.to_bytes())
}

#[test]
fn a_client_that_probes_or_asks_for_ever_is_given_up() {
    for (reads, op) in [
        (true, control::ECHO),
        (false, control::ECHO),
        (true, control::RDMA),
        (false, control::RDMA),
    ] {
        let mut quick = terms();
        quick.timeout = Duration::from_secs(1);
        let (address, accepted) = tcp_server(quick);
        let mut stream = TcpStream::connect(&address).unwrap();
        let preamble = Preamble::new(false, false).to_bytes();
        stream.write_all(&preamble).unwrap();
        stream.write_all(&message(&hello(false))).unwrap();
        stream.write_all(&message(&Proof([0; 32]))).unwrap();
        if reads {
            let mut answers = stream.try_clone().unwrap();
            std::thread::spawn(move || std::io::copy(&mut answers, &mut std::io::sink()));
        }
        std::thread::spawn(move || {
            let again = frame(op, &[7; 1000]);
            while stream.write_all(&again).is_ok() {}
        });
        let outcome = accepted.recv_timeout(Duration::from_secs(5)).unwrap();
        assert!(outcome.is_err());
    }
}
