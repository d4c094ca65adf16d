//! TLS, and the messages of a server that cannot start.

#![allow(clippy::unwrap_used)]

mod support;

use std::fs::Permissions;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;

use gtrace_link::{LinkError, LinkKind, TlsClient, Token};
use gtrace_protocol::{GREETING_LEN, PREAMBLE_LEN, Preamble};
use gtrace_server::{Listen, Options, StartError, Supervisor};
use support::{Client, Server, target};

const TOKEN: &str = "the token of this server";

fn start(change: impl FnOnce(&mut Options)) -> Result<Supervisor, StartError> {
    let mut options = Options {
        listen: vec![Listen::Tcp(([127, 0, 0, 1], 0).into())],
        libcuda: Some(support::softgpu()),
        ..Options::default()
    };
    change(&mut options);
    support::supervisor(options)
}

#[test]
fn tls_and_token_let_a_client_in_and_clear_text_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = (folder.path().join("cert"), folder.path().join("key"));
    let made = rcgen::generate_simple_self_signed(["gpu-host".to_owned()]).unwrap();
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    std::fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
    let server = Server::start(|options| {
        options.token = Some(TOKEN.into());
        options.tls = Some((certificate.clone(), key));
    });
    let mut secure = target(server.tcp(), "tcp");
    secure.token = Some(Token::new(TOKEN.as_bytes()).unwrap());
    let clear = secure.clone();
    secure.tls = Some(TlsClient::new(certificate, Some("gpu-host".into())));
    let mut client = Client::open(&secure, None).unwrap();
    assert_eq!(client.link.info.kind, LinkKind::Tls);
    client.snapshot();
    client.retain();
    let at = client.alloc(3 << 20).unwrap();
    let data = support::random(3 << 20, 3);
    client.upload(at, &data[..2 << 20]);
    client.upload(at + (2 << 20), &data[2 << 20..]);
    assert_eq!(client.download(at, 3 << 20, 1 << 20).unwrap(), data);
    let mut lane = Client::open(&secure, Some(&client.session)).unwrap();
    lane.context = 1;
    assert_eq!(lane.free(at), 0);

    let Err(LinkError::Refused(gtrace_protocol::Refused { reason, .. })) =
        Client::open(&clear, None)
    else {
        panic!("clear text was let in");
    };
    assert!(reason.contains("TLS"), "{reason}");
    // What the supervisor refuses by itself is understood before TLS begins.
    let mut ended = client.session.clone();
    ended.secret[0] ^= 1;
    let refused = Client::open(&secure, Some(&ended));
    assert!(
        matches!(&refused, Err(LinkError::Refused(reason)) if reason.reason.contains("ended")),
        "{:?}",
        refused.map(|client| client.welcome)
    );
}

/// What a client has sent before it proved anything, to a server that greets as `greeting` says.
fn beginning_of(target: &gtrace_link::Target, greeting: [u8; GREETING_LEN]) -> [u8; PREAMBLE_LEN] {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut target = target.clone();
    target.address = listener.local_addr().unwrap().to_string().parse_address();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(&greeting).unwrap();
        let mut preamble = [0; PREAMBLE_LEN];
        stream.read_exact(&mut preamble).unwrap();
        preamble
    });
    assert!(Client::open(&target, None).is_err());
    server.join().unwrap()
}

trait ParseAddress {
    fn parse_address(&self) -> gtrace_link::Address;
}

impl ParseAddress for String {
    fn parse_address(&self) -> gtrace_link::Address {
        gtrace_link::Target::parse(self).unwrap().address
    }
}

/// Connects and says this as a preamble; what the server answers behind its greeting.
fn answered(server: &Server, preamble: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.tcp()).unwrap();
    stream.write_all(preamble).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer[GREETING_LEN..]).into_owned()
}

/// Nobody makes the server start anything who does not know the token, also not by repeating what somebody has said who
/// does.
#[test]
fn nothing_is_started_for_who_has_not_proved_that_he_knows_the_token() {
    let server = Server::start(|options| options.token = Some(TOKEN.into()));
    let mut known = target(server.tcp(), "tcp");
    known.token = Some(Token::new(TOKEN.as_bytes()).unwrap());
    let greeting = gtrace_link::new_greeting(false, true).unwrap().to_bytes();
    let replayed = beginning_of(&known, greeting);
    let mut wrong = known.clone();
    wrong.token = Some(Token::new(b"the token of another one").unwrap());
    let guessed = beginning_of(&wrong, greeting);
    let nothing = Preamble::new(false, false).to_bytes();
    for preamble in [replayed, guessed, nothing] {
        for _ in 0..5 {
            let answer = answered(&server, &preamble);
            assert!(answer.contains("token"), "{answer}");
            assert!(server.status().sessions.is_empty(), "a worker was started");
        }
    }
    assert_eq!(server.status().counters.refused["token"], 15);
    // And no worker is named by who is not of its session.
    let client = Client::open(&known, None).unwrap();
    let mut further = Preamble::new(false, true);
    for tag in [[0; 32], [7; 32]] {
        further.tag = tag;
        let answer = answered(&server, &further.to_bytes());
        assert!(answer.contains("session has ended"), "{answer}");
    }
    let mut named = [0; 32];
    named[..16].copy_from_slice(&client.session.id.0);
    further.tag = named;
    assert!(answered(&server, &further.to_bytes()).contains("session has ended"));
    assert_eq!(server.status().sessions[0].stats.lanes_broken, 0);
    assert!(Client::open(&known, Some(&client.session)).is_ok());
}

#[test]
fn what_keeps_a_server_from_starting_is_reported_with_the_remedy() {
    for (change, wanted) in [
        (
            (|options: &mut Options| options.libcuda = Some("/no/such/libcuda.so.1".into()))
                as fn(&mut Options),
            "--libcuda",
        ),
        (
            |options| options.libcuda = Some("/proc/self/exe".into()),
            "--libcuda",
        ),
        (
            |options| options.listen = vec!["0.0.0.0:0".parse().unwrap()],
            "--insecure",
        ),
        (
            |options| options.token = Some("short".into()),
            "16 characters",
        ),
        (
            |options| options.tls = Some(("/no/cert".into(), "/no/key".into())),
            "/no/cert",
        ),
        (
            |options| options.listen = vec!["unix:/no/such/folder/socket".parse().unwrap()],
            "folder does not exist",
        ),
    ] {
        let error = start(change).unwrap_err().to_string();
        assert!(error.contains(wanted), "{wanted}: {error}");
    }
    let one = start(|_| {}).unwrap();
    let taken = one.addresses()[0].clone();
    let error = start(|options| options.listen = vec![taken.parse().unwrap()]).unwrap_err();
    assert!(error.to_string().contains("--listen"), "{error}");
}
