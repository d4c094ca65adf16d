//! The listener for other hosts: who is let in, who is not, and what hostile peers cost.
#![allow(missing_docs, clippy::unwrap_used, reason = "only tests use it")]

#[path = "https/client.rs"]
mod client;
mod support;

use std::fs;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::num::NonZeroU32;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gtrace_api::Status;
use gtrace_engine::hub::Hub;
use gtrace_http::{ApiConfig, Inherited, Limits};
use gtrace_store::{Options, Store};
use gtrace_tls::testing::{Authority, Dates};
use gtrace_tls::{Role, revoke_token};
use jiff::Timestamp;
use support::{DEADLINE, PAUSE, Server, bearer, serve};
use tokio::sync::watch;

#[test]
fn nothing_is_answered_without_a_credential_and_roles_hold() {
    let server = Server::start(Limits::default());
    let read = server.token("prometheus", Role::Read, None, 0);
    let operate = server.token("oncall", Role::Operate, None, 0);
    server.until(|s| s.with_token("GET /healthz", &read).0 != 401);
    let nobody = server.client();
    let document = gtrace_http::openapi_document();
    let paths = document["paths"].as_object().unwrap().keys();
    for path in paths.map(String::as_str).chain(["/nothing", "/"]) {
        let (code, answer) = server.request(&nobody, &format!("GET {path}"), "");
        assert_eq!(code, 401, "{path}: {answer}");
        assert!(answer.contains("www-authenticate: Bearer"), "{answer}");
        assert!(answer.contains("connection: close"), "{answer}");
    }
    let wrong = format!("{read}x");
    let begin = Instant::now();
    let (code, answer) = server.with_token("GET /metrics", &wrong);
    assert_eq!(code, 401, "{answer}");
    assert!(!answer.contains("prometheus"), "{answer}");
    assert!(begin.elapsed() >= Duration::from_secs(1), "not slowed");
    assert_eq!(
        server.failed_logins("unknown_token"),
        server.refused("login")
    );

    assert_eq!(server.with_token("GET /metrics", &read).0, 200);
    // As browsers send what a person has typed.
    let basic = {
        use base64::Engine as _;
        let pair = format!("anybody:{read}");
        base64::engine::general_purpose::STANDARD.encode(pair)
    };
    let header = format!("Authorization: Basic {basic}\r\n");
    assert_eq!(server.request(&nobody, "GET /", &header).0, 200);

    let post = |token: &str, more: &str| {
        let length = PAUSE.len();
        let headers =
            format!("Content-Length: {length}\r\nAuthorization: Bearer {token}\r\n{more}");
        server.request(&nobody, "POST /api/v1/pause", &headers)
    };
    let (code, answer) = post(&read, "");
    assert_eq!(code, 403, "{answer}");
    assert!(
        answer.contains("token prometheus has the role read"),
        "{answer}"
    );
    assert_eq!(post(&operate, "").0, 204);
    assert_eq!(post(&operate, "Origin: https://node7:7471\r\n").0, 204);
    assert_eq!(post(&operate, "Origin: https://evil.example\r\n").0, 403);
    assert_eq!(post(&operate, "Origin: null\r\n").0, 403);
    // A path that is no text is refused as all else.
    for path in ["events/%ff", "incidents/%ff"] {
        let (code, answer) = server.with_token(&format!("GET /api/v1/{path}"), &read);
        assert_eq!(code, 400, "{answer}");
        assert!(answer.contains("\"remedy\":"), "{answer}");
    }
}

#[test]
fn certificates_are_let_in_by_role_until_they_are_revoked() {
    let server = Server::start(Limits::default());
    let ops = server
        .ca
        .client(Some(server.ca.issue("ops", 2, Dates::Good)));
    assert_eq!(server.request(&ops, "GET /api/v1/status", "").0, 200);
    let length = format!("Content-Length: {}\r\n", PAUSE.len());
    assert_eq!(server.request(&ops, "POST /api/v1/pause", &length).0, 204);
    let other = server
        .ca
        .client(Some(server.ca.issue("other", 3, Dates::Good)));
    assert_eq!(server.request(&other, "GET /healthz", "").0, 401);
    assert_eq!(server.failed_logins("unknown_certificate"), 1);
    // TLS itself refuses these: the client may learn of it when it reads first.
    let folder = tempfile::tempdir().unwrap();
    let forger = Authority::new(folder.path());
    let refused = [
        server.ca.issue("old", 4, Dates::Expired),
        forger.issue("ops", 2, Dates::Good),
    ];
    for identity in refused {
        let files = server.ca.client(Some(identity));
        let answered = server.try_connect(&files).is_ok_and(|mut stream| {
            let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
            stream.read(&mut [0]).is_ok_and(|read| read > 0)
        });
        assert!(!answered);
    }
    server.until(|s| s.refused("handshake") == 2);
    // A stream of who is revoked ends too.
    let mut stream = server.try_connect(&ops).unwrap();
    stream
        .write_all(b"GET /api/v1/events/stream HTTP/1.1\r\nHost: a\r\n\r\n")
        .unwrap();
    let mut line = String::new();
    let mut reader = BufReader::new(stream);
    reader.read_line(&mut line).unwrap();
    assert!(line.contains("200"), "{line}");
    server.ca.revoke(&[2]);
    let _ = reader.read_to_end(&mut Vec::new());
    let again = server.try_connect(&ops).and_then(|mut stream| {
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")?;
        stream.read(&mut [0])
    });
    assert!(!again.is_ok_and(|read| read > 0));
}

#[test]
fn tokens_end_and_files_change_under_load_without_a_lost_request() {
    let server = Server::start(Limits::default());
    let steady = server.token("steady", Role::Read, None, 60_000);
    let gone = server.token("gone", Role::Read, None, 0);
    let old = server.token("old", Role::Read, Some(Timestamp::UNIX_EPOCH), 0);
    let few = server.token("few", Role::Read, None, 6);
    server.until(|s| s.with_token("GET /healthz", &steady).0 != 401);
    assert_eq!(server.with_token("GET /healthz", &old).0, 401);
    assert_eq!(server.failed_logins("expired"), 1);
    assert_eq!(server.with_token("GET /api/v1/sources", &few).0, 200);
    let (code, answer) = server.with_token("GET /api/v1/sources", &few);
    assert_eq!(code, 429, "{answer}");
    assert!(answer.contains("retry-after: "), "{answer}");
    assert_eq!(server.refused("rate"), 1);

    let mut stream = server.try_connect(&server.client()).unwrap();
    let head = format!(
        "GET /api/v1/events/stream HTTP/1.1\r\nHost: a\r\n{}\r\n",
        bearer(&gone)
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut stream = BufReader::new(stream);
    stream.read_line(&mut String::new()).unwrap();

    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let load = scope.spawn(|| {
            let mut answered = 0_u32;
            while !stop.load(Ordering::Relaxed) {
                let (code, answer) = server.with_token("GET /api/v1/sources", &steady);
                assert_eq!(code, 200, "{answer}");
                answered += 1;
            }
            answered
        });
        revoke_token(&server.files.credentials, "gone", Timestamp::now()).unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
        assert_eq!(server.with_token("GET /healthz", &gone).0, 401);
        assert_eq!(server.failed_logins("revoked"), 1);
        // A new certificate with its key, and a file that somebody broke: the first is used, the second changes nothing.
        server.ca.issue("server", 9, Dates::Good);
        let good = fs::read(&server.files.credentials).unwrap();
        fs::write(&server.files.credentials, "[[token").unwrap();
        let is_good = |s: &Server| {
            let gauge = &s.hub.metrics.listener_files_good;
            gauge.get_or_create(&[("listener", "https")]).get() == 1
        };
        server.until(|s| !is_good(s));
        assert_eq!(server.with_token("GET /healthz", &gone).0, 401);
        fs::write(&server.files.credentials, good).unwrap();
        server.until(is_good);
        stop.store(true, Ordering::Relaxed);
        assert!(load.join().unwrap() > 0);
    });
}

#[test]
fn hostile_peers_are_cut_off_and_counted() {
    let server = Server::start(Limits {
        handshake: Duration::from_millis(200),
        handshakes_per_minute: NonZeroU32::new(60).unwrap(),
        ..Limits::default()
    });
    let speak = |bytes: &[u8]| {
        let mut stream = TcpStream::connect(server.https).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    };
    let plain = speak(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let plain = String::from_utf8(plain).unwrap();
    assert!(plain.starts_with("HTTP/1.1 400"), "{plain}");
    assert!(plain.contains("this port speaks TLS"), "{plain}");
    // Nothing; half a handshake; a record that is none.
    assert!(speak(b"").is_empty());
    speak(&[22, 3, 1, 2, 0, 1]);
    speak(&[22, 3, 1, 0, 4, 1, 2, 3, 4]);
    server.until(|s| s.refused("handshake") == 4);
    // Sixty a minute are ten at once: the rest is not even greeted.
    for _ in 0..20 {
        speak(b"GET");
    }
    assert!(server.refused("rate") >= 10, "{}", server.refused("rate"));
    assert!(server.dir.path().exists());
}

const ACTIVATED: &str = "GTRACE_TEST_ACTIVATED_DIR";

/// In a child process that has its sockets from its parent, as from systemd.
#[test]
fn child_activated() {
    let Some(dir) = std::env::var_os(ACTIVATED).map(PathBuf::from) else {
        return;
    };
    let inherited = Inherited::take().unwrap();
    let config = ApiConfig {
        socket: Some("/nonexistent/socket".into()),
        store: dir.join("store.db"),
        ..ApiConfig::default()
    };
    let bound = gtrace_http::bind_beside(&config, inherited).unwrap();
    assert_eq!(bound.socket(), Some(&*dir.join("socket")));
    let (hub, _commands) = Hub::new(Status::default());
    let (_shutdown, end) = watch::channel(false);
    serve(bound, hub, end);
}

#[test]
fn sockets_of_systemd_are_served_and_outlive_the_daemon() {
    let dir = tempfile::tempdir().unwrap();
    drop(Store::open(&dir.path().join("store.db"), Options::default()).unwrap());
    let unix = UnixListener::bind(dir.path().join("socket")).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let start = || {
        let script = "exec 3<&0 4<&1 </dev/null >&2; export LISTEN_PID=$$; exec \"$0\" \"$@\"";
        Command::new("sh")
            .args(["-c", script])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "child_activated", "--nocapture"])
            .env(ACTIVATED, dir.path())
            .env("LISTEN_FDS", "2")
            .env("LISTEN_FDNAMES", "gtrace.socket:gtrace.socket")
            .stdin(Stdio::from(OwnedFd::from(unix.try_clone().unwrap())))
            .stdout(Stdio::from(OwnedFd::from(tcp.try_clone().unwrap())))
            .spawn()
            .unwrap()
    };
    let ask = |path: &Path| {
        let request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        let mut answers = Vec::new();
        let mut stream = UnixStream::connect(path).unwrap();
        stream.write_all(request).unwrap();
        let mut other = TcpStream::connect(tcp.local_addr().unwrap()).unwrap();
        other.write_all(request).unwrap();
        for stream in [&mut stream as &mut dyn Read, &mut other] {
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answers.push(answer);
        }
        answers
    };
    let path = dir.path().join("socket");
    for _ in 0..2 {
        let mut child = start();
        for answer in ask(&path) {
            assert!(answer.starts_with("HTTP/1.1 "), "{answer}");
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(path.exists(), "the socket is systemd's");
    }
}
