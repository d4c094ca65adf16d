//! Whom TLS accepts, and what the others are answered.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use common::{Certificates, by_tcp, tcp_server, terms};
use gtrace_link::{LinkError, LinkKind, connect, hello, new_greeting, server_tls};

#[test]
fn an_authority_or_the_certificate_itself_is_trusted() {
    let files = Certificates::new();
    for (ca, name) in [
        ("ca", Some("localhost")),
        // Pinned: the certificate is known, so its names do not matter.
        ("cert", None),
        ("cert", Some("elsewhere")),
    ] {
        let (address, accepted) = tcp_server(files.terms());
        let mut target = by_tcp(&address);
        target.tls = files.client(ca, name);
        let (client, server) = common::pair(&target, &accepted);
        assert_eq!(client.info.kind, LinkKind::Tls);
        assert_eq!(server.info.kind, LinkKind::Tls);
    }
}

#[test]
fn others_are_not_trusted_and_the_remedy_is_named() {
    let files = Certificates::new();
    for (ca, name, wanted) in [
        ("other", Some("localhost"), "neither in"),
        ("ca", Some("elsewhere"), "is not for `elsewhere`"),
        ("ca", None, "is not for `127.0.0.1`"),
        ("ca", Some("no name"), "--tls-name"),
        ("none", Some("localhost"), "no certificate in it"),
        ("missing", Some("localhost"), "missing: cannot read"),
    ] {
        let (address, accepted) = tcp_server(files.terms());
        let mut target = by_tcp(&address);
        target.tls = files.client(ca, name);
        let error = connect(&target, &hello(false), None).unwrap_err();
        assert!(error.to_string().contains(wanted), "{error}");
        if matches!(error, LinkError::Tls(..)) {
            let error = accepted.recv().unwrap().unwrap_err();
            assert!(matches!(error, LinkError::Tls(..)), "{error}");
        }
    }
}

#[test]
fn one_side_without_tls_gets_an_error_that_says_so() {
    let files = Certificates::new();
    let (address, _accepted) = tcp_server(files.terms());
    let error = connect(&by_tcp(&address), &hello(false), None).unwrap_err();
    assert!(error.to_string().contains("--tls-ca"), "{error}");
    let (address, _accepted) = tcp_server(terms());
    let mut with = by_tcp(&address);
    with.tls = files.client("ca", Some("localhost"));
    let error = connect(&with, &hello(false), None).unwrap_err();
    assert!(matches!(error, LinkError::Refused(_)), "{error}");
    assert!(error.to_string().contains("--tls-cert"), "{error}");
}

#[test]
fn something_else_at_the_address_is_no_server() {
    let files = Certificates::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut target = by_tcp(&listener.local_addr().unwrap().to_string());
    target.tls = files.client("ca", Some("localhost"));
    target.timeout = Duration::from_secs(1);
    let greeting = new_greeting(true, false).unwrap().to_bytes();
    let web = thread::spawn(move || {
        // One that waits for a request, one that speaks first, and one that begins as a server of gtrace.
        for first in [&b""[..], &[b'-'; 100], &greeting] {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(first).unwrap();
            let mut request = [0; 64];
            if stream.read_exact(&mut request).is_ok() {
                stream
                    .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                    .unwrap();
                let _ = stream.read(&mut request);
            }
        }
    });
    for wanted in [
        "does not greet",
        "no server of gtrace",
        "does not speak TLS",
    ] {
        let error = connect(&target, &hello(false), None).unwrap_err();
        assert!(error.to_string().contains(wanted), "{error}");
    }
    web.join().unwrap();
}

#[test]
fn garbage_instead_of_tls_is_turned_away() {
    let files = Certificates::new();
    let (address, accepted) = tcp_server(files.terms());
    let mut client = TcpStream::connect(&address).unwrap();
    let preamble = gtrace_protocol::Preamble::new(true, false);
    client.write_all(&preamble.to_bytes()).unwrap();
    client.write_all(&[0x5a; 300]).unwrap();
    let error = accepted.recv().unwrap().unwrap_err();
    assert!(matches!(error, LinkError::Tls(..)), "{error}");
}

#[test]
fn a_key_that_does_not_fit_is_named() {
    let files = Certificates::new();
    for (certificate, key, wanted) in [
        ("ca", "key", "cannot be used with the key"),
        ("cert", "cert", "cannot read a private key"),
        ("none", "key", "no certificate in it"),
    ] {
        let error = server_tls(&files.path(certificate), &files.path(key)).unwrap_err();
        assert!(error.to_string().contains(wanted), "{error}");
    }
}
