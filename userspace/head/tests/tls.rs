//! A head for other hosts: agents and people over TLS.
#![allow(missing_docs, clippy::unwrap_used)]

mod support;

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gtrace_agent::{EnrollError, LinkError, enroll};
use gtrace_api::client::Client;
use gtrace_event::Timestamp;
use gtrace_fleet::EnrollRequest;
use gtrace_head::db::{Database, Place};
use gtrace_head::http::{Bound, Listen, bind, serve};
use gtrace_head::{TokenAnswer, TokenRequest};
use gtrace_tls::testing::{Authority, Dates};
use gtrace_tls::{ClientFiles, NewToken, Role, client_config, new_token, revoke_token};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use self::support::{Postgres, Secured};

fn bound(dir: &Path, authority: &Authority, credentials: &str) -> (Bound, PathBuf) {
    let files = authority.server(credentials);
    let credentials = files.credentials.clone();
    let bound = bind(Listen {
        tcp: None,
        https: Some(("127.0.0.1:0".parse().unwrap(), files)),
        socket: Some(dir.join("head.sock")),
        database: Place::File(dir.join("fleet.db")),
        retention_days: None,
        gswarm: None,
        remediation: None,
        nats: None,
        remote_write: None,
    });
    (bound.unwrap(), credentials)
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

type OverTls = tokio_rustls::client::TlsStream<TcpStream>;

/// A connection; `None` where it is refused.
async fn connect(port: u16, files: &ClientFiles) -> Option<OverTls> {
    let config = client_config(files, &[b"http/1.1"]).unwrap();
    let tcp = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let connected = TlsConnector::from(config).connect(name, tcp).await;
    connected.ok()
}

/// The status of the answer about hosts, of which there are none, over a connection that goes on; `None` where it has ended.
async fn ask_again(connection: &mut OverTls) -> Option<u16> {
    let request = "GET /fleet/v1/hosts HTTP/1.1\r\nHost: head\r\n\r\n";
    connection.write_all(request.as_bytes()).await.ok()?;
    let mut answer = Vec::new();
    // A list, or why there is none.
    while !answer.ends_with(b"[]") && !answer.ends_with(b"}") {
        if connection.read_buf(&mut answer).await.ok()? == 0 {
            return None;
        }
    }
    let answer = String::from_utf8_lossy(&answer);
    answer.split(' ').nth(1)?.parse().ok()
}

/// An answer of which the head was read.
async fn stream(port: u16, files: &ClientFiles, path: &str, token: &str) -> OverTls {
    let mut stream = connect(port, files).await.unwrap();
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: head\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    stream
}

/// The status of an answer over TLS; `None` where the connection is refused.
async fn status(port: u16, files: &ClientFiles, request: &str, token: Option<&str>) -> Option<u16> {
    let mut stream = connect(port, files).await?;
    let bearer = token.map_or(String::new(), |t| format!("Authorization: Bearer {t}\r\n"));
    let request = match request.contains("HTTP/1.1") {
        true => request.to_owned(),
        false => format!("{request} HTTP/1.1"),
    };
    let text = format!(
        "{request}\r\nHost: head\r\n{bearer}Connection: close\r\nContent-Length: 0\r\n\r\n"
    );
    stream.write_all(text.as_bytes()).await.ok()?;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer);
    answer.split(' ').nth(1)?.parse().ok()
}

#[test]
fn agents_and_people_of_other_hosts_have_credentials() {
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::new(dir.path());
    let (bound, credentials) = bound(dir.path(), &authority, "");
    let port = bound.https_addr().unwrap().port();
    let new = |name: &str, role| {
        let token = NewToken::new(name, role);
        new_token(&credentials, &token, Timestamp::now()).unwrap()
    };
    let (reader, operator) = (new("reader", Role::Read), new("operator", Role::Operate));
    let (reader, operator) = (reader.expose().to_owned(), operator.expose().to_owned());
    let (stop, stopped) = watch::channel(false);
    let runtime = runtime();
    let serving = runtime.spawn(serve(bound, stopped, || ()));
    let client = Client::unix(dir.path().join("head.sock"));
    let asked = TokenRequest {
        host: None,
        for_s: 60,
        uses: 2,
        by: "test".to_owned(),
    };
    let join: TokenAnswer = client.post("/fleet/v1/tokens", &asked).unwrap();
    let request = EnrollRequest {
        token: join.token,
        host: "gpu-1".to_owned(),
        machine_id: Some("m1".to_owned()),
        simulated: true,
    };
    let url = format!("https://localhost:{port}").parse().unwrap();
    runtime.block_on(async {
        let enrolled = enroll(&url, Some(&authority.ca()), &request).await.unwrap();
        assert_eq!(enrolled.ca, Some(authority.ca()));
        // Another authority's certificate is no proof of the head.
        let of_stranger = tempfile::tempdir().unwrap();
        let stranger = Authority::new(of_stranger.path());
        let wrong = enroll(&url, Some(&stranger.ca()), &request).await;
        assert!(
            matches!(&wrong, Err(EnrollError::Head(LinkError::Unreachable { cause, .. })) if cause.contains("is of no authority in")),
            "{:?}",
            wrong.err()
        );

        let anonymous = authority.client(None);
        let hosts = "GET /fleet/v1/hosts";
        let stop_session = "POST /fleet/v1/sessions/none/stop";
        let ask = |request, token| status(port, &anonymous, request, token);
        // The credentials are read again within a second.
        let mut known = None;
        for _ in 0..50 {
            known = ask(hosts, Some(&reader)).await;
            if known == Some(200) {
                break;
            }
        }
        assert_eq!(known, Some(200));
        assert_eq!(ask(hosts, None).await, Some(401));
        assert_eq!(ask(hosts, Some("guessed")).await, Some(401));
        // A browser shows the token as a password, and only reads with it.
        let with = |token: &str| STANDARD.encode(format!("any:{token}"));
        let page = |token: &str| format!("GET / HTTP/1.1\r\nAuthorization: Basic {}", with(token));
        let post = format!("{stop_session} HTTP/1.1\r\nAuthorization: Basic {}", with(&operator));
        let (known, guessed) = (page(&reader), page("guessed"));
        assert_eq!(ask(&known, None).await, Some(200));
        assert_eq!(ask(&guessed, None).await, Some(401));
        assert_eq!(ask(&post, None).await, Some(401));
        // What a host shows is for agents alone.
        assert_eq!(ask(hosts, Some(&enrolled.credential)).await, Some(401));
        assert_eq!(ask(stop_session, Some(&reader)).await, Some(403));
        assert_ne!(ask(stop_session, Some(&operator)).await, Some(403));
        // A stream that is open ends with its credential.
        let mut live = stream(port, &anonymous, "/fleet/v1/incidents/stream", &operator).await;
        revoke_token(&credentials, "operator", Timestamp::now()).unwrap();
        let mut rest = Vec::new();
        let ended = live.read_to_end(&mut rest);
        let ended = tokio::time::timeout(Duration::from_secs(30), ended).await;
        assert!(ended.is_ok(), "the stream of a revoked credential goes on");
        let mut revoked = None;
        for _ in 0..50 {
            revoked = ask(hosts, Some(&operator)).await;
            if revoked == Some(401) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(revoked, Some(401));
        // No certificate of a stranger ends well, with whatever token.
        let (certificate, key) = stranger.issue("stranger", 7, Dates::Good);
        let shown = ClientFiles {
            ca: authority.ca(),
            identity: Some((certificate, key)),
        };
        assert_ne!(status(port, &shown, hosts, None).await, Some(200));
    });
    stop.send(true).unwrap();
    runtime.block_on(serving).unwrap().unwrap();
}

#[test]
fn a_certificate_that_its_authority_revokes_lets_nobody_in_over_an_open_connection() {
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::new(dir.path());
    let listed = "[[certificate]]\nname = \"ops\"\nrole = \"operate\"\nsubject = \"CN=ops\"\n";
    let (bound, _) = bound(dir.path(), &authority, listed);
    let port = bound.https_addr().unwrap().port();
    let (stop, stopped) = watch::channel(false);
    let runtime = runtime();
    let serving = runtime.spawn(serve(bound, stopped, || ()));
    let ops = authority.client(Some(authority.issue("ops", 2, Dates::Good)));
    runtime.block_on(async {
        let mut open = connect(port, &ops).await.unwrap();
        for _ in 0..2 {
            assert_eq!(ask_again(&mut open).await, Some(200));
        }
        authority.revoke(&[2]);
        let until = Instant::now() + Duration::from_secs(30);
        let mut answer = Some(200);
        while answer == Some(200) && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(200)).await;
            answer = ask_again(&mut open).await;
        }
        assert!(matches!(answer, None | Some(401)), "{answer:?}");
        let hosts = "GET /fleet/v1/hosts";
        assert_ne!(status(port, &ops, hosts, None).await, Some(200));
        // One that is good is shown anew.
        let other = authority.client(Some(authority.issue("ops", 3, Dates::Good)));
        assert_eq!(status(port, &other, hosts, None).await, Some(200));
    });
    stop.send(true).unwrap();
    runtime.block_on(serving).unwrap().unwrap();
}

#[test]
fn a_postgresql_server_of_another_host_is_reached_over_tls_alone() {
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::new(dir.path());
    let (certificate, key) = authority.issue("server", 1, Dates::Good);
    let foreign_dir = tempfile::tempdir().unwrap();
    let foreign = Authority::new(foreign_dir.path());
    let server = Postgres::start_as(Some(Secured {
        certificate,
        key,
        ca: authority.ca(),
        access: "hostssl template1 gtrace 127.0.0.1/32 trust\nhostssl postgres gtrace 127.0.0.1/32 cert\n",
    }));
    let Some(server) = server else {
        return;
    };
    let ca = format!("sslrootcert={}", authority.ca().display());
    let opened = |database: &str, parameters: &str| {
        let place = server.over_tcp("localhost", database, parameters);
        Database::open(&place)
            .map(drop)
            .map_err(|error| error.to_string())
    };
    opened("template1", &ca).unwrap();
    let refused = |database: &str, parameters: &str, wanted: &str| {
        let why = opened(database, parameters).unwrap_err();
        assert!(
            why.contains(wanted),
            "{database} {parameters}: {why}; and not: {wanted}"
        );
    };
    // That it was TLS: the server lets nobody else in.
    refused("template1", "sslmode=disable", "no encryption");
    let other = format!("sslrootcert={}", foreign.ca().display());
    refused("template1", &other, "is of no authority in");
    refused("template1", &other, "sslrootcert in the URL");
    refused(
        "template1",
        "sslrootcert=/none.pem",
        "/none.pem: cannot be read",
    );
    let misnamed = server.over_tcp(
        "db.example.com",
        "template1",
        &format!("hostaddr=127.0.0.1&{ca}"),
    );
    let why = Database::open(&misnamed).map(drop).unwrap_err().to_string();
    assert!(why.contains("not for the names in db.example.com"), "{why}");

    // With a certificate in place of a password.
    let shown = |files: &(PathBuf, PathBuf)| {
        let (certificate, key) = (files.0.display(), files.1.display());
        format!("{ca}&sslcert={certificate}&sslkey={key}")
    };
    opened(
        "postgres",
        &shown(&authority.issue("gtrace", 2, Dates::Good)),
    )
    .unwrap();
    refused("postgres", &ca, "valid client certificate");
    let not_theirs = shown(&foreign.issue("gtrace", 3, Dates::Good));
    refused("postgres", &not_theirs, "the PostgreSQL servers");
    refused("postgres", &not_theirs, "sslcert and sslkey in the URL");
    let expired = shown(&authority.issue("gtrace", 4, Dates::Expired));
    refused(
        "postgres",
        &expired,
        "which expired at 2001-01-01T00:00:00Z",
    );
}

#[test]
fn a_postgresql_server_without_tls_is_not_used_for_another_host() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 8];
        stream.read_exact(&mut request).unwrap();
        // SSLRequest, and the answer of a server without it.
        assert_eq!(request[4..], 80_877_103_u32.to_be_bytes());
        stream.write_all(b"N").unwrap();
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
        rest
    });
    let dir = tempfile::tempdir().unwrap();
    let ca = Authority::new(dir.path()).ca();
    let place = Place::Postgres(format!(
        "postgresql://gtrace:secret@db.example.com:{port}/gtrace?hostaddr=127.0.0.1&sslmode=prefer&sslrootcert={}",
        ca.display()
    ));
    let why = Database::open(&place).map(drop).unwrap_err().to_string();
    assert!(
        why.contains("the PostgreSQL servers do not speak TLS"),
        "{why}"
    );
    assert!(why.contains("ssl = on"), "{why}");
    assert!(!why.contains("secret"), "{why}");
    // Neither a name nor a password went there.
    assert_eq!(server.join().unwrap(), Vec::<u8>::new());
}
