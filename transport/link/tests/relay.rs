//! Somebody between client and server, whom the client's authority has given a certificate: he can read what a client says
//! to him, and cannot pass for it.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use common::{Certificates, by_tcp, tcp_server};
use gtrace_link::{LinkError, Target, Token, connect, hello, server_tls};
use gtrace_protocol::{GREETING_LEN, HEADER_LEN, Header, PREAMBLE_LEN, RefusalKind};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConnection, Stream};

fn token() -> Option<Token> {
    Some(Token::new(b"correct horse battery").unwrap())
}

fn frame(from: &mut impl Read) -> Option<Vec<u8>> {
    let mut bytes = vec![0; HEADER_LEN];
    from.read_exact(&mut bytes).ok()?;
    let header = Header::parse(&bytes).unwrap();
    bytes.resize(HEADER_LEN + header.payload(), 0);
    from.read_exact(&mut bytes[HEADER_LEN..]).ok()?;
    Some(bytes)
}

/// Passes everything on between a client and `server`, decrypted and encrypted again.
fn relay(files: &Certificates, server: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let as_server = server_tls(&files.path("cert"), &files.path("key")).unwrap();
    let mut roots = RootCertStore::empty();
    let ca = std::fs::read(files.path("ca")).unwrap();
    roots
        .add(CertificateDer::from_pem_slice(&ca).unwrap())
        .unwrap();
    let mut as_client = ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth();
    as_client.alpn_protocols = as_server.alpn_protocols.clone();
    thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut server = TcpStream::connect(server).unwrap();
        let mut greeting = [0; GREETING_LEN];
        server.read_exact(&mut greeting).unwrap();
        client.write_all(&greeting).unwrap();
        let mut preamble = [0; PREAMBLE_LEN];
        client.read_exact(&mut preamble).unwrap();
        server.write_all(&preamble).unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let mut near = ServerConnection::new(as_server).unwrap();
        let mut far = ClientConnection::new(Arc::new(as_client), name).unwrap();
        let mut near = Stream::new(&mut near, &mut client);
        let mut far = Stream::new(&mut far, &mut server);
        // HELLO and PROOF, and what the server says to that.
        for _ in 0..2 {
            far.write_all(&frame(&mut near).unwrap()).unwrap();
        }
        far.flush().unwrap();
        if let Some(answer) = frame(&mut far) {
            near.write_all(&answer).unwrap();
            near.flush().unwrap();
        }
        let _ = near.read(&mut [0; 1]);
    });
    address
}

#[test]
fn a_proof_is_good_for_one_tls_connection() {
    let files = Certificates::new();
    let mut terms = files.terms();
    terms.token = token();
    let (server, accepted) = tcp_server(terms);
    let mut target = by_tcp(&server);
    target.token = token();
    target.tls = files.client("ca", Some("localhost"));
    assert!(connect(&target, &hello(false), None).is_ok());
    assert!(accepted.recv().unwrap().is_ok());
    target.address = Target::parse(&relay(&files, server)).unwrap().address;
    let error = connect(&target, &hello(false), None).unwrap_err();
    let LinkError::Refused(refused) = &error else {
        panic!("{error}");
    };
    assert_eq!(refused.kind, RefusalKind::Token);
    assert!(refused.reason.contains("not of this connection"), "{error}");
    let error = accepted.recv().unwrap().unwrap_err();
    assert!(matches!(error, LinkError::Refused(_)), "{error}");
}

/// Changes the greeting or the preamble on their way.
fn changing(server: String, at: usize, in_greeting: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut server = TcpStream::connect(server).unwrap();
        let mut greeting = [0; GREETING_LEN];
        server.read_exact(&mut greeting).unwrap();
        greeting[at] ^= u8::from(in_greeting);
        client.write_all(&greeting).unwrap();
        let mut preamble = [0; PREAMBLE_LEN];
        client.read_exact(&mut preamble).unwrap();
        preamble[at] ^= u8::from(!in_greeting);
        server.write_all(&preamble).unwrap();
        let (mut back, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        thread::spawn(move || std::io::copy(&mut back, &mut to));
        let _ = std::io::copy(&mut client, &mut server);
    });
    address
}

#[test]
fn a_handshake_that_is_changed_on_its_way_fails() {
    let mut terms = common::terms();
    terms.token = token();
    let (server, _accepted) = tcp_server(terms);
    let mut target = by_tcp(&server);
    target.token = token();
    assert!(connect(&target, &hello(false), None).is_ok());
    // The newest version, whether there is TLS, the random numbers; the newest version, whether TLS follows, the tag.
    for (at, in_greeting) in [
        (10, true),
        (12, true),
        (40, true),
        (10, false),
        (12, false),
        (40, false),
    ] {
        let address = changing(server.clone(), at, in_greeting);
        target.address = Target::parse(&address).unwrap().address;
        let error = connect(&target, &hello(false), None).unwrap_err();
        assert!(
            matches!(&error, LinkError::Refused(refused) if refused.kind == RefusalKind::Token),
            "byte {at}: {error}"
        );
    }
}
