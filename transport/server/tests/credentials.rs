//! Named tokens and certificates of clients: who is let in, with what, and until when.

#![allow(clippy::unwrap_used)]

mod support;

use std::fs::{self, Permissions};
use std::num::NonZeroU32;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use gtrace_link::{LinkError, Target, TlsClient, Token};
use gtrace_server::Options;
use gtrace_tls::{GpuShare, NewToken, Role, new_token, revoke_token};
use jiff::Timestamp;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use support::{Client, Server, target};

struct Files(tempfile::TempDir);

impl Files {
    /// An authority, and certificates that it signed: of the server, of the client `ci`, and of a stranger.
    fn new() -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        files.write("ca", &params.self_signed(&key).unwrap().pem());
        let issuer = Issuer::new(params, key);
        for name in ["server", "ci", "stranger"] {
            let key = KeyPair::generate().unwrap();
            let mut params = CertificateParams::new(["gpu-host".to_owned()]).unwrap();
            params.distinguished_name = rcgen::DistinguishedName::new();
            params.distinguished_name.push(DnType::CommonName, name);
            let certificate = params.signed_by(&key, &issuer).unwrap();
            files.write(name, &certificate.pem());
            files.write(&format!("{name}.key"), &key.serialize_pem());
        }
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
        fs::set_permissions(self.path(name), Permissions::from_mode(0o640)).unwrap();
    }

    /// A new token in the file `credentials`.
    fn token(&self, name: &str, role: Role, expires: Option<Timestamp>, gpu: GpuShare) -> Token {
        let token = NewToken {
            expires,
            gpu,
            ..NewToken::new(name, role)
        };
        let secret = new_token(&self.path("credentials"), &token, Timestamp::now()).unwrap();
        Token::new(secret.expose().as_bytes()).unwrap()
    }

    fn server(&self, change: impl FnOnce(&mut Options)) -> Server {
        Server::start(|options| {
            options.credentials = Some(self.path("credentials"));
            options.tls = Some((self.path("server"), self.path("server.key")));
            change(options);
        })
    }

    fn target(&self, server: &Server, own: Option<&str>) -> Target {
        let mut target = target(server.tcp(), "tcp");
        let mut tls = TlsClient::new(self.path("ca"), Some("gpu-host".into()));
        tls.own = own.map(|name| (self.path(name), self.path(&format!("{name}.key"))));
        target.tls = Some(tls);
        target
    }
}

fn refused(target: &Target) -> String {
    match Client::open(target, None) {
        Err(LinkError::Refused(refused)) => refused.reason,
        other => panic!("{:?}", other.map(|client| client.welcome)),
    }
}

#[test]
fn named_tokens_have_a_role_a_part_and_an_end() {
    let files = Files::new();
    let part = GpuShare {
        max_clients: NonZeroU32::new(1),
        max_memory: Some("1M".into()),
        gpus: None,
    };
    let alice = files.token("alice", Role::Operate, None, part);
    let bob = files.token("bob", Role::Operate, None, GpuShare::default());
    let dashboards = files.token("dashboards", Role::Read, None, GpuShare::default());
    let past = Timestamp::from_second(1).unwrap();
    let old = files.token("old", Role::Operate, Some(past), GpuShare::default());
    let server = files.server(|options| options.token = Some("the token of before".into()));
    let by = |token: &Token| Target {
        token: Some(token.clone()),
        ..files.target(&server, None)
    };
    for (token, wanted) in [(&dashboards, "operate"), (&old, "--token-file")] {
        let reason = refused(&by(token));
        assert!(reason.contains(wanted), "{reason}");
    }
    let mut first = Client::open(&by(&alice), None).unwrap();
    first.snapshot();
    first.retain();
    assert!(first.alloc(512 << 10).is_ok());
    assert_eq!(first.alloc(1 << 20), Err(2), "beyond its part");
    assert!(refused(&by(&alice)).contains("1 programs at a time"));
    let mut second = Client::open(&by(&bob), None).unwrap();
    second.snapshot();
    second.retain();
    assert!(second.alloc(2 << 20).is_ok());
    // The one token for all, as before.
    let known = Token::new(b"the token of before").unwrap();
    let third = Client::open(&by(&known), None).unwrap();
    let status = server.wait_for("three clients", |status| {
        status
            .sessions
            .iter()
            .filter(|s| s.client.is_some())
            .count()
            == 3
    });
    let names: Vec<_> = (status.sessions.iter())
        .map(|session| session.client.clone().unwrap().credential)
        .collect();
    assert_eq!(
        names,
        [Some("token alice".into()), Some("token bob".into()), None]
    );
    assert_eq!(status.counters.by_credential["token bob"], 1);
    assert_eq!(
        (
            status.counters.refused["role"],
            status.counters.refused["expired"]
        ),
        (1, 1)
    );

    // What is bad changes nothing.
    let good = fs::read_to_string(files.path("credentials")).unwrap();
    files.write("credentials", "[[token");
    let status = server.wait_for("the error", |status| status.credentials_error.is_some());
    assert_eq!(status.sessions.len(), 3);
    files.write("credentials", &good);
    server.wait_for("no error", |status| status.credentials_error.is_none());
    revoke_token(&files.path("credentials"), "bob", Timestamp::now()).unwrap();
    let status = server.wait_for("bob's end", |status| status.counters.sessions_revoked == 1);
    assert_eq!(status.sessions.len(), 2);
    assert!(second.one_way_fails(1), "the session goes on");
    assert!(refused(&by(&bob)).contains("--token-file"));
    assert_eq!(first.alloc(4096).map(|_| ()), Ok(()), "others go on");
    drop(third);
}

/// The signal ends programs that do not ask for it.
#[test]
fn a_hangup_has_the_files_read_again_and_ends_nothing() {
    let files = Files::new();
    let alice = files.token("alice", Role::Operate, None, GpuShare::default());
    let server = Server::start_then(
        |options| options.credentials = Some(files.path("credentials")),
        |supervisor| supervisor.obey_signals().unwrap(),
    );
    let mut target = target(server.tcp(), "tcp");
    target.token = Some(alice);
    let hang_up = || {
        let (own, hangup) = (rustix::process::getpid(), rustix::process::Signal::HUP);
        rustix::process::kill_process(own, hangup).unwrap();
    };
    let mut client = Client::open(&target, None).unwrap();
    client.snapshot();
    hang_up();
    client.retain();
    assert!(client.alloc(4096).is_ok());
    revoke_token(&files.path("credentials"), "alice", Timestamp::now()).unwrap();
    hang_up();
    let status = server.wait_for("her end", |status| status.counters.sessions_revoked == 1);
    assert_eq!(status.credentials_error, None);
    assert!(refused(&target).contains("--token-file"));
}

#[test]
fn a_certificate_is_as_good_as_a_token_if_it_is_listed() {
    let files = Files::new();
    files.write(
        "credentials",
        "[[certificate]]\nname = \"ci\"\nrole = \"operate\"\nsubject = \"CN=ci\"\n",
    );
    let server = files.server(|options| options.tls_client_ca = Some(files.path("ca")));
    let mut client = Client::open(&files.target(&server, Some("ci")), None).unwrap();
    client.snapshot();
    client.retain();
    let at = client.alloc(1 << 20).unwrap();
    // A further lane proves itself by the session's secret.
    let further = files.target(&server, Some("ci"));
    let mut lane = Client::open(&further, Some(&client.session)).unwrap();
    lane.context = 1;
    assert_eq!(lane.free(at), 0);
    let status = server.wait_for("a client", |status| status.sessions[0].client.is_some());
    let known = status.sessions[0].client.clone().unwrap();
    assert_eq!(known.credential.as_deref(), Some("certificate ci"));

    let reason = refused(&files.target(&server, Some("stranger")));
    assert!(reason.contains("certificate"), "{reason}");
    let reason = refused(&files.target(&server, None));
    assert!(
        reason.contains("--token-file") && reason.contains("--tls-cert"),
        "{reason}"
    );
    assert_eq!(server.status().counters.refused["certificate"], 1);
    assert_eq!(
        server.status().sessions.len(),
        1,
        "a worker was started for a stranger"
    );
    files.write("credentials", "");
    server.wait_for("its end", |status| status.counters.sessions_revoked == 1);
    server.wait_for("no session", |status| status.sessions.is_empty());
}

#[test]
fn files_that_others_may_read_or_that_say_nothing_are_refused() {
    let files = Files::new();
    files.token("alice", Role::Operate, None, GpuShare::default());
    let start = |mode: u32| {
        fs::set_permissions(files.path("credentials"), Permissions::from_mode(mode)).unwrap();
        let options = Options {
            listen: vec!["127.0.0.1:0".parse().unwrap()],
            libcuda: Some(support::softgpu()),
            credentials: Some(files.path("credentials")),
            ..Options::default()
        };
        support::supervisor(options).map(|_| ())
    };
    assert!(start(0o640).is_ok());
    let error = start(0o644).unwrap_err().to_string();
    assert!(error.contains("chmod o-r"), "{error}");
    files.write("credentials", "[[token]]\nname = \"a\"");
    let error = start(0o640).unwrap_err().to_string();
    assert!(error.contains("credentials"), "{error}");
}
