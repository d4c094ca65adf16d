//! TLS, and the messages of a server that cannot start.

#![allow(clippy::unwrap_used)]

mod support;

use gtrace_link::{LinkError, LinkKind, TlsClient, Token};
use gtrace_server::{Listen, Options, StartError, Supervisor, WorkerCommand};
use support::{Client, Server, target};

const TOKEN: &str = "the token of this server";

fn start(change: impl FnOnce(&mut Options)) -> Result<Supervisor, StartError> {
    let mut options = Options {
        listen: vec![Listen::Tcp(([127, 0, 0, 1], 0).into())],
        libcuda: Some(support::softgpu()),
        ..Options::default()
    };
    change(&mut options);
    let command = WorkerCommand {
        program: env!("CARGO_BIN_EXE_gtrace-test-worker").into(),
        arguments: Vec::new(),
    };
    Supervisor::start(options, command)
}

#[test]
fn tls_and_token_let_a_client_in_and_clear_text_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = (folder.path().join("cert"), folder.path().join("key"));
    let made = rcgen::generate_simple_self_signed(["gpu-host".to_owned()]).unwrap();
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let server = Server::start(|options| {
        options.token = Some(TOKEN.into());
        options.tls = Some((certificate.clone(), key));
    });
    let mut secure = target(server.tcp(), "tcp");
    secure.token = Some(Token::new(TOKEN.as_bytes()).unwrap());
    let clear = secure.clone();
    secure.tls = Some(TlsClient {
        ca: certificate,
        name: Some("gpu-host".into()),
    });
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

    let Err(LinkError::Refused(reason)) = Client::open(&clear, None) else {
        panic!("clear text was let in");
    };
    assert!(reason.contains("TLS"), "{reason}");
    // What the supervisor refuses by itself is understood before TLS begins.
    let mut ended = client.session.clone();
    ended.id.0[0] ^= 1;
    let refused = Client::open(&secure, Some(&ended));
    assert!(
        matches!(&refused, Err(LinkError::Refused(reason)) if reason.contains("ended")),
        "{:?}",
        refused.map(|client| client.welcome)
    );
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
