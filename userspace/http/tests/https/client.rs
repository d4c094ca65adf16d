//! The client that commands use, against the listener for other hosts.

use std::os::unix::fs::PermissionsExt as _;

use gtrace_api::client::{Client, ClientError, HttpsEndpoint};
use serde_json::Value;

use super::*;

/// A client that trusts the server's authority.
fn endpoint(server: &Server) -> HttpsEndpoint {
    HttpsEndpoint {
        url: format!("https://{}", server.https).parse().unwrap(),
        token_file: None,
        ca: Some(server.ca.ca()),
        identity: None,
    }
}

fn with_token(server: &Server, name: &str, token: &str) -> Client {
    let file = server.dir.path().join(format!("{name}.token"));
    fs::write(&file, format!("{token}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    Client::https(HttpsEndpoint {
        token_file: Some(file),
        ..endpoint(server)
    })
}

fn with_certificate(server: &Server, identity: (PathBuf, PathBuf)) -> Client {
    Client::https(HttpsEndpoint {
        identity: Some(identity),
        ..endpoint(server)
    })
}

fn read(client: &Client) -> Result<Value, ClientError> {
    client.get("/version")
}

fn pause(client: &Client) -> Result<Value, ClientError> {
    let body: Value = serde_json::from_str(PAUSE).unwrap();
    client.post("/api/v1/pause", &body)
}

/// The status code of a refusal.
fn refused(answer: Result<Value, ClientError>) -> u16 {
    match answer {
        Err(ClientError::Refused { status, .. }) => status,
        answer => panic!("{answer:?}"),
    }
}

/// Why there is no TLS.
fn no_tls(answer: Result<Value, ClientError>) -> String {
    match answer {
        Err(error @ ClientError::Tls(_)) => error.to_string(),
        answer => panic!("{answer:?}"),
    }
}

#[test]
fn a_token_says_what_a_client_may_until_it_ends() {
    let server = Server::start(Limits::default());
    let reader = server.token("reader", Role::Read, None, 0);
    let operator = server.token("operator", Role::Operate, None, 0);
    let old = server.token("old", Role::Read, Some(Timestamp::UNIX_EPOCH), 0);
    let reader = with_token(&server, "reader", &reader);
    server.until(|_| read(&reader).is_ok());
    assert_eq!(refused(pause(&reader)), 403);
    pause(&with_token(&server, "operator", &operator)).unwrap();
    for wrong in [&old[..], "wrong"] {
        let client = with_token(&server, "wrong", wrong);
        assert_eq!(refused(read(&client)), 401);
    }

    // A stream is ended from this side, and from the other once its token is revoked.
    let mut stream = reader.stream("/api/v1/events/stream", None).unwrap();
    stream.stopper().unwrap().stop();
    while let Ok(Some(_)) = stream.next_message() {}
    let mut stream = reader.stream("/api/v1/events/stream", None).unwrap();
    revoke_token(&server.files.credentials, "reader", Timestamp::now()).unwrap();
    while let Ok(Some(_)) = stream.next_message() {}
    assert_eq!(refused(read(&reader)), 401);

    // A token that others can read is not shown to anybody.
    let file = server.dir.path().join("open.token");
    fs::write(&file, operator).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let open = Client::https(HttpsEndpoint {
        token_file: Some(file),
        ..endpoint(&server)
    });
    let why = no_tls(read(&open));
    assert!(why.contains("chmod"), "{why}");
}

#[test]
fn no_maintenance_window_is_over_before_the_health_is_read_back() {
    let server = Server::start(Limits::default());
    let token = server.token("operator", Role::Operate, None, 0);
    let operator = with_token(&server, "operator", &token);
    server.until(|_| read(&operator).is_ok());
    let end = serde_json::json!({ "for_s": 0, "by": "ann", "note": "" });
    assert_eq!(refused(operator.post("/api/v1/maintenance", &end)), 503);
}

#[test]
fn certificates_of_both_sides_are_checked() {
    let server = Server::start(Limits::default());
    let folder = tempfile::tempdir().unwrap();
    let forger = Authority::new(folder.path());
    // An authority that has not signed the server's certificate.
    let deceived = Client::https(HttpsEndpoint {
        ca: Some(forger.ca()),
        ..endpoint(&server)
    });
    let why = no_tls(read(&deceived));
    assert!(why.contains("--ca"), "{why}");

    let ops = with_certificate(&server, server.ca.issue("ops", 2, Dates::Good));
    read(&ops).unwrap();
    pause(&ops).unwrap();
    let nobody = with_certificate(&server, server.ca.issue("nobody", 3, Dates::Good));
    assert_eq!(refused(read(&nobody)), 401);
    for identity in [
        server.ca.issue("old", 4, Dates::Expired),
        forger.issue("ops", 2, Dates::Good),
    ] {
        let why = no_tls(read(&with_certificate(&server, identity)));
        assert!(why.contains("refuses this client's certificate"), "{why}");
    }
    server.ca.revoke(&[2]);
    server.until(|_| matches!(read(&ops), Err(ClientError::Tls(_))));

    // The server's own has ended.
    server.ca.issue("server", 9, Dates::Expired);
    let nobody = Client::https(endpoint(&server));
    server.until(|_| matches!(read(&nobody), Err(ClientError::Tls(_))));
    let why = no_tls(read(&nobody));
    assert!(why.contains("renew"), "{why}");
}

#[test]
fn who_speaks_no_tls_or_nothing_is_named_so() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let of = HttpsEndpoint {
        url: format!("https://{}", listener.local_addr().unwrap())
            .parse()
            .unwrap(),
        token_file: None,
        ca: Some(Authority::new(folder.path()).ca()),
        identity: None,
    };
    // The kernel takes the connection; nobody answers.
    let silent = Client::https(of.clone()).with_deadline(Duration::from_millis(10));
    let error = read(&silent).unwrap_err().to_string();
    assert!(error.contains("no answer in time"), "{error}");
    drop(listener.accept().unwrap());
    let plain = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 512]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let client = Client::https(of.clone());
    let why = no_tls(read(&client));
    assert!(why.contains("without TLS"), "{why}");
    plain.join().unwrap();
    // The listener has gone with its thread.
    let error = read(&client).unwrap_err();
    assert!(matches!(error, ClientError::NoDaemon { .. }), "{error}");
    assert!(error.to_string().contains("firewall"), "{error}");
}
