//! Whole handshakes, without sockets.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use jiff::Timestamp;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConnection, ServerConnection};

use super::testing::{Authority, Dates};
use super::*;

/// Connects a client to a server: the certificate that the server saw.
fn connect(
    guard: &Guard,
    client: &ClientFiles,
) -> Result<Option<CertificateDer<'static>>, rustls::Error> {
    let config = client_config(client, &[b"test"]).unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let mut client = ClientConnection::new(config, name)?;
    let mut server = ServerConnection::new(Arc::clone(&guard.access().tls))?;
    for _ in 0..8 {
        let mut sent = Vec::new();
        while client.wants_write() {
            client.write_tls(&mut sent).unwrap();
        }
        server.read_tls(&mut &sent[..]).unwrap();
        server.process_new_packets()?;
        let mut sent = Vec::new();
        while server.wants_write() {
            server.write_tls(&mut sent).unwrap();
        }
        client.read_tls(&mut &sent[..]).unwrap();
        client.process_new_packets()?;
    }
    assert!(!server.is_handshaking() && !client.is_handshaking());
    assert_eq!(server.alpn_protocol(), Some(&b"test"[..]));
    let shown = server.peer_certificates().and_then(|chain| chain.first());
    Ok(shown.map(|certificate| certificate.clone().into_owned()))
}

const OPS: &str = "[[certificate]]\nname = \"ops\"\nrole = \"operate\"\nsubject = \"CN=ops\"\n";

#[test]
fn only_certificates_that_are_signed_good_unrevoked_and_listed_are_somebody() {
    let folder = tempfile::tempdir().unwrap();
    let ca = Authority::new(folder.path());
    let guard = Guard::new(ca.server(OPS), &[b"test"]).unwrap();
    let ops = ca.client(Some(ca.issue("ops", 2, Dates::Good)));
    let shown = connect(&guard, &ops).unwrap();
    let now = Timestamp::now();
    let who = |shown: Option<&CertificateDer<'_>>| {
        let access = guard.access();
        access.credentials.authenticate(None, shown, now)
    };
    let known = who(shown.as_ref()).unwrap();
    assert_eq!(known.to_string(), "certificate ops");
    assert_eq!(known.role, Role::Operate);
    // None at all: TLS works, so that a token may follow.
    let none = connect(&guard, &ca.client(None)).unwrap();
    assert_eq!(who(none.as_ref()), Err(Denied::Nothing));
    // Good, and not listed.
    let other = ca.client(Some(ca.issue("other", 3, Dates::Good)));
    let shown = connect(&guard, &other).unwrap();
    let denied = who(shown.as_ref()).unwrap_err().to_string();
    assert!(denied.contains("subject CN=other"), "{denied}");

    let expired = ca.client(Some(ca.issue("old", 4, Dates::Expired)));
    let error = connect(&guard, &expired).unwrap_err().to_string();
    assert!(error.contains("expired"), "{error}");
    let elsewhere = tempfile::tempdir().unwrap();
    let forger = Authority::new(elsewhere.path());
    let forged = ClientFiles {
        ca: ca.ca(),
        identity: Some(forger.issue("ops", 2, Dates::Good)),
    };
    assert!(connect(&guard, &forged).is_err());
    // A client does not take a server of another authority either.
    let error = connect(&guard, &forger.client(None)).unwrap_err();
    assert!(
        error.to_string().contains("invalid peer certificate"),
        "{error}"
    );

    ca.revoke(&[2]);
    assert!(matches!(guard.check(), Reload::Reloaded));
    let error = connect(&guard, &ops).unwrap_err().to_string();
    assert!(error.contains("Revoked"), "{error}");
}

#[test]
fn changed_files_are_taken_over_and_bad_ones_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let ca = Authority::new(folder.path());
    let files = ca.server(OPS);
    let guard = Guard::new(files.clone(), &[b"test"]).unwrap();
    let client = ca.client(None);
    assert!(matches!(guard.check(), Reload::Unchanged));
    let first = Arc::clone(&guard.access().tls);
    // The certificate alone is not enough: its key is another one.
    let key = fs::read(&files.key).unwrap();
    ca.issue("server", 9, Dates::Good);
    let new_key = fs::read(&files.key).unwrap();
    fs::write(&files.key, key).unwrap();
    let Reload::Failed(error) = guard.check() else {
        panic!("a certificate is used with the key of another one");
    };
    assert!(
        error
            .to_string()
            .contains("server.pem: cannot be used with the key"),
        "{error}"
    );
    assert_eq!(guard.error(), Some(error.to_string()));
    assert!(matches!(guard.check(), Reload::Unchanged), "reported twice");
    assert!(Arc::ptr_eq(&first, &guard.access().tls));
    assert!(connect(&guard, &client).is_ok());
    fs::write(&files.key, new_key).unwrap();
    assert!(matches!(guard.check(), Reload::Reloaded));
    assert_eq!(guard.error(), None);
    assert!(connect(&guard, &client).is_ok());

    fs::write(&files.credentials, "[[token]]").unwrap();
    assert!(matches!(guard.check(), Reload::Failed(_)));
    assert!(!guard.access().credentials.is_empty());
    fs::remove_file(&files.credentials).unwrap();
    assert!(matches!(
        guard.check(),
        Reload::Failed(FileError::Read { .. })
    ));
    fs::write(&files.credentials, "").unwrap();
    assert!(matches!(guard.check(), Reload::Reloaded));
    assert!(guard.access().credentials.is_empty());

    // A head goes on without the file, and takes it over once somebody makes it.
    fs::remove_file(&files.credentials).unwrap();
    let of_head = AccessFiles {
        credentials_optional: true,
        ..files.clone()
    };
    let head = Guard::new(of_head, &[]).unwrap();
    assert!(head.access().credentials.is_empty());
    fs::write(&files.credentials, OPS).unwrap();
    assert!(matches!(head.check(), Reload::Reloaded));
    assert!(!head.access().credentials.is_empty());
    fs::write(&files.credentials, "").unwrap();

    for (path, mode, wanted) in [
        (&files.key, 0o644, "every user may read it"),
        (&files.credentials, 0o666, "every user may write it"),
    ] {
        let before = fs::metadata(path).unwrap().permissions();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let Reload::Failed(error) = guard.check() else {
            panic!("{} is used with mode {mode:o}", path.display());
        };
        assert!(error.to_string().contains(wanted), "{error}");
        fs::set_permissions(path, before).unwrap();
    }
    assert!(matches!(guard.check(), Reload::Reloaded));
}

#[test]
fn only_names_of_this_host_are_loopback_hosts() {
    for host in [
        "localhost",
        "LOCALHOST:7470",
        "127.0.0.1:7470",
        "127.1.2.3",
        "[::1]:7470",
    ] {
        assert!(is_loopback_host(host), "{host}");
    }
    for host in [
        "",
        "evil.example",
        "localhost.evil.example:7470",
        "10.0.0.1",
        "[fe80::1]",
    ] {
        assert!(!is_loopback_host(host), "{host}");
    }
}
