//! Which daemon a command asks, on this host and on others.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gtrace_event::{Event, Severity, Timestamp, WitnessName};
use gtrace_tls::testing::Authority;
use gtrace_tls::{NewToken, Role, new_token};

use crate::support::{Daemon, xid};
use crate::{HOUR, bare, gtrace, process};

#[test]
fn every_command_finds_the_daemon_of_the_configuration_and_says_which_it_is() {
    let daemon = Daemon::start();
    let event = xid("0000:3b:00.0", 79, Severity::Fatal, HOUR);
    daemon.publish_event(&event);
    let id = event.id.to_string();
    daemon.hub.update_status(|status| {
        let mut calls = status.sources[0].clone();
        calls.name = WitnessName::DriverIoctl.name().into();
        calls.witness = Some(WitnessName::DriverIoctl);
        status.sources.push(calls);
    });
    let dir = daemon.dir.path();
    let (config, socket) = (dir.join("gtrace.toml"), dir.join("socket"));
    let keys = format!("state_dir = {dir:?}\nsocket = {socket:?}\nlisten = \"off\"\n");
    std::fs::write(&config, keys).unwrap();
    for command in [
        &["status"][..],
        &["events"],
        &["events", "--verify"],
        &["top", "--once"],
        &["profile", "--driver"],
        &["profile", "--driver", "--format", "table"],
        &["ack", &id],
        &["pause"],
        &["resume"],
    ] {
        let named = [command, &["--config", config.to_str().unwrap()]].concat();
        for (args, environment) in [
            (named.as_slice(), &[][..]),
            (command, &[("GTRACE_CONFIG", config.as_path())]),
        ] {
            let (code, out, err) = bare(args, environment);
            assert_eq!(code, Some(0), "{args:?}: {out}{err}");
            let notes = err.lines().filter(|l| l.contains(dir.to_str().unwrap()));
            assert_eq!(notes.count(), 1, "{args:?} says who answered: {err}");
        }
    }
    let pauses = daemon.core().pauses.lock().unwrap().clone();
    let pauses = pauses.iter().map(|pause| pause.paused);
    assert!(pauses.eq([true, true, false, false]));

    for command in ["status", "pause", "events"] {
        let (code, _, err) = bare(&[command, "--config", "/nonexistent.toml"], &[]);
        assert_eq!(code, Some(2), "{command}: {err}");
        assert!(err.contains("/nonexistent.toml"), "{err}");
    }
}

/// The file of a new token.
fn token(credentials: &Path, folder: &Path, name: &str, role: Role) -> PathBuf {
    let token = NewToken::new(name, role);
    let secret = new_token(credentials, &token, Timestamp::now()).unwrap();
    let file = folder.join(format!("{name}.token"));
    std::fs::write(&file, secret.expose()).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    file
}

#[test]
fn a_head_on_another_host_is_asked_over_tls() {
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::new(dir.path());
    let access = authority.server("");
    let token = |name, role| token(&access.credentials, dir.path(), name, role);
    let reader = token("reader", Role::Read);
    let operator = token("operator", Role::Operate);
    let mut command = Command::new(env!("CARGO_BIN_EXE_gtrace"));
    command
        .args(["head", "--listen", "127.0.0.1:0"])
        .args(["--listen-https", "127.0.0.1:0", "--tls-cert"])
        .arg(&access.certificate)
        .arg("--tls-key")
        .arg(&access.key)
        .arg("--credentials")
        .arg(&access.credentials)
        .arg("--socket")
        .arg(dir.path().join("head.sock"))
        .env_clear()
        .env("GTRACE_HEAD_DATABASE", dir.path().join("fleet.db"))
        .env("GTRACE_LOG", "info");
    let (_head, url) = process::start(&mut command, "for other hosts at ");
    let ca = authority.ca();
    let environment = |token| [("GTRACE_HEAD_TOKEN_FILE", token), ("GTRACE_HEAD_CA", &*ca)];
    let on = |token, args: &[&str]| {
        let args = [args, &["--head", &url]].concat();
        bare(&args, &environment(token))
    };
    let (code, out, err) = on(&*reader, &["fleet", "hosts"]);
    assert_eq!((code, out.as_str()), (Some(0), ""), "{err}");
    assert!(err.contains("no hosts are in the fleet"), "{err}");
    let (code, _, err) = on(&reader, &["session", "list"]);
    assert_eq!(code, Some(0), "{err}");
    let (code, _, err) = on(&reader, &["fleet", "revoke", "h1"]);
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("token reader may read"), "{err}");
    // Allowed; there is no such host.
    let (code, _, err) = on(&operator, &["fleet", "revoke", "h1"]);
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("h1"), "{err}");
    let (code, _, err) = bare(&["fleet", "hosts", "--head", &url], &[]);
    assert_eq!(code, Some(3), "{err}");
    assert!(err.contains("--ca"), "{err}");
    let socket = format!("unix:{}", dir.path().join("head.sock").display());
    let (code, _, err) = bare(&["fleet", "hosts", "--head", &socket], &[]);
    assert_eq!(code, Some(0), "{err}");
    let ca = ca.to_str().unwrap();
    for (args, part) in [
        (&["--head", "http://head:7480"][..], "without TLS"),
        (&["--head", "localhost:7480"], "127.0.0.1:7480"),
        (&["--head", "/nonexistent.sock", "--ca", ca], "--ca"),
    ] {
        let (code, _, err) = bare(&[&["fleet", "hosts"], args].concat(), &[]);
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains(part), "{err}");
    }
}

/// Commands on one host, the daemon on another: read and operate, over TLS with a token.
#[test]
fn commands_ask_the_daemon_of_another_host() {
    let dir = tempfile::tempdir().unwrap();
    let files = tempfile::tempdir().unwrap();
    let authority = Authority::new(files.path());
    let access = authority.server("");
    let (credentials, ca) = (access.credentials.clone(), authority.ca());
    let token = |name, role| token(&credentials, files.path(), name, role);
    let reader = token("reader", Role::Read);
    let operator = token("operator", Role::Operate);
    let daemon = Daemon::start_with_https(dir, access);
    let event = xid("0000:3b:00.0", 79, Severity::Fatal, HOUR);
    daemon.publish_event(&event);
    let id = event.id.to_string();
    let url = format!("https://{}", daemon.https.unwrap());
    let environment = |token| {
        [
            ("GTRACE_URL", Path::new(&url)),
            ("GTRACE_URL_TOKEN_FILE", token),
            ("GTRACE_URL_CA", &ca),
        ]
    };
    // A daemon on this host, which is not asked.
    let here = Daemon::start();
    let here = [
        ("GTRACE_SOCKET", here.dir.path().join("socket")),
        ("GTRACE_STORE", here.dir.path().join("store.db")),
    ];
    let here = here.each_ref().map(|(name, path)| (*name, path.as_path()));
    let on = |token, args: &[&str]| {
        let all = [&environment(token)[..], &here].concat();
        bare(args, &all)
    };
    for (args, part) in [
        (&["events", "--json"][..], id.as_str()),
        (&["events", "show", &id], "Xid 79"),
        (&["events", "show", &id[18..]], "Xid 79"),
        (&["status"], "node7"),
        (&["top", "--once"], "node7"),
        (&["incidents", "--json"], ""),
        (&["maintenance", "show"], "no maintenance window"),
    ] {
        let (code, out, err) = on(&reader, args);
        assert_eq!(code, Some(0), "{args:?}: {out}{err}");
        assert!(out.contains(part), "{args:?}: {out}");
        assert!(
            err.contains(&format!("the daemon on {url} answers")),
            "{err}"
        );
    }
    let (code, out, _) = on(&reader, &["health", "--json"]);
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("off-the-bus"), "{out}");

    let ack = ["ack", &id, "--json"];
    let (code, _, err) = on(&reader, &ack);
    assert_eq!(code, Some(3), "{err}");
    assert!(err.contains("token reader has the role read"), "{err}");
    let (code, out, err) = on(&operator, &ack);
    assert_eq!(code, Some(0), "{err}");
    let acknowledged: Event = serde_json::from_str(&out).unwrap();
    assert_eq!(acknowledged.acks[0].by, "alice");
    let (code, out, _) = on(&operator, &["pause", "--for", "1.5m"]);
    assert_eq!(code, Some(0));
    assert_eq!(out, "paused: every probe is detached, for at least 90 s\n");
    assert_eq!(on(&operator, &["pause", "--for", "25h"]).0, Some(3));
    assert_eq!(on(&operator, &["resume"]).0, Some(0));
    let pauses = daemon.core().pauses.lock().unwrap().clone();
    let pauses = pauses.iter().map(|pause| (pause.paused, pause.lease));
    let asked = [
        (true, Some(std::time::Duration::from_secs(90))),
        (false, None),
    ];
    assert!(pauses.eq(asked));

    // What is on its host, and what nobody can have meant.
    let (code, _, err) = on(&reader, &["events", "--verify"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("run this there"), "{err}");
    let typed = ["events", "--url", url.as_str()];
    for (more, part) in [
        (&["--store", "x.db"][..], "--store"),
        (&["--socket", "x"], "--socket"),
        (&["--url", "http://node7:7471"], "without TLS"),
    ] {
        let args = match part {
            "without TLS" => [&["events"], more].concat(),
            _ => [&typed[..], more].concat(),
        };
        let (code, _, err) = bare(&args, &[]);
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains(part), "{err}");
    }
    let (code, _, err) = bare(&["status", "--token-file", "x"], &[]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("--url"), "{err}");
    let (code, _, err) = bare(&["gameday", "--list", "--url", &url], &[]);
    assert_eq!(code, Some(2), "{err}");
    // What is typed goes before the environment.
    let socket = here[0].1.to_str().unwrap();
    let (code, out, err) = bare(&["events", "--socket", socket], &environment(&reader));
    assert_eq!((code, out.as_str()), (Some(0), ""), "{err}");
    // It is typed where the environment says the same, too.
    let all = [&environment(&reader)[..], &here].concat();
    let (code, out, err) = bare(&["events", "--socket", socket], &all);
    assert_eq!((code, out.as_str()), (Some(0), ""), "{err}");
    // The token of the environment's daemon is for that one alone.
    let another = [
        ("GTRACE_URL", Path::new("https://node8:7471")),
        environment(&reader)[1],
        environment(&reader)[2],
    ];
    let (code, _, err) = bare(&["status", "--url", &url], &another);
    assert_eq!(code, Some(3), "{err}");
    assert!(
        err.contains("GTRACE_URL_TOKEN_FILE is for https://node8:7471, and is not shown"),
        "{err}"
    );
    let own = [
        "status",
        "--url",
        &url,
        "--token-file",
        reader.to_str().unwrap(),
    ];
    let (code, _, err) = bare(&own, &another);
    assert_eq!(code, Some(0), "{err}");
    assert!(!err.contains("not shown"), "{err}");
    // The same URL in the environment: its token is meant.
    let (code, _, err) = bare(&["status", "--url", &url], &environment(&reader));
    assert_eq!(code, Some(0), "{err}");
    let head = [
        ("GTRACE_HEAD", Path::new("https://head:7480")),
        ("GTRACE_HEAD_TOKEN_FILE", &reader),
        ("GTRACE_HEAD_CA", &ca),
    ];
    let (_, _, err) = bare(&["fleet", "hosts", "--head", &url], &head);
    assert!(
        err.contains("GTRACE_HEAD_TOKEN_FILE is for https://head:7480"),
        "{err}"
    );

    let dead = daemon.stop();
    drop(dead);
    for args in [&["status"][..], &["events"], &["health"], &["ack", &id]] {
        let (code, _, err) = on(&operator, args);
        assert_eq!(code, Some(3), "{args:?}: {err}");
    }
}

#[test]
fn a_named_daemon_is_never_answered_for_by_the_store_of_another() {
    let (one, other) = (Daemon::start(), Daemon::start());
    let [old, new] = [13, 79].map(|code| xid("0000:3b:00.0", code, Severity::Fatal, HOUR));
    one.publish_event(&old);
    other.publish_event(&new);
    // What the configuration names is the one; the other is asked for.
    let configured = one.dir.path().join("gtrace.toml");
    let (dir, socket) = (one.dir.path(), one.dir.path().join("socket"));
    let tcp = one.tcp;
    let keys = format!("state_dir = {dir:?}\nsocket = {socket:?}\nlisten = \"{tcp}\"\n");
    std::fs::write(&configured, keys).unwrap();
    let environment = [("GTRACE_CONFIG", configured.as_path())];
    let socket = other.dir.path().join("socket");
    let socket = socket.to_str().unwrap();
    let (code, out, err) = bare(&["events", "--json", "--socket", socket], &environment);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(serde_json::from_str::<Event>(&out).unwrap(), new);
    assert!(err.contains(socket), "{err}");
    let (code, _, err) = bare(&["events", "--verify", "--socket", socket], &environment);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("--store"), "{err}");

    let dir = other.stop();
    let socket = dir.path().join("socket");
    let socket = socket.to_str().unwrap();
    let id = old.id.to_string();
    for command in [
        &["events", "--socket", socket][..],
        &["status", "--socket", socket],
        &["ack", &id, "--socket", socket],
    ] {
        let (code, out, err) = bare(command, &environment);
        assert_eq!(code, Some(3), "{command:?}: {out}{err}");
        assert!(!out.contains("Xid 13"), "{out}");
    }
    // A store alone is read without a word to the daemon of another.
    let store = dir.path().join("store.db");
    let store = store.to_str().unwrap();
    let (code, out, err) = bare(&["events", "--json", "--store", store], &environment);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(serde_json::from_str::<Event>(&out).unwrap(), new);
    assert!(err.contains(store), "{err}");
    let id = new.id.to_string();
    let (code, _, err) = bare(&["ack", &id, "--store", store], &environment);
    assert_eq!(code, Some(0), "{err}");
    let (code, _, err) = bare(
        &["events", "--store", "/nonexistent/store.db"],
        &environment,
    );
    assert_eq!(code, Some(3), "{err}");
}

#[test]
fn a_person_is_known_by_the_password_database_where_the_environment_says_nothing() {
    let daemon = Daemon::start();
    let event = xid("0000:3b:00.0", 79, Severity::Fatal, HOUR);
    daemon.publish_event(&event);
    let dir = daemon.dir.path();
    let mut command = gtrace(dir, &["ack", &event.id.to_string(), "--json"]);
    for name in ["SUDO_USER", "USER", "LOGNAME"] {
        command.env_remove(name);
    }
    let Output { status, stdout, .. } = command.output().unwrap();
    assert_eq!(status.code(), Some(0));
    let acked: Event = serde_json::from_slice(&stdout).unwrap();
    let name = Command::new("id").arg("-un").output().unwrap().stdout;
    let name = String::from_utf8(name).unwrap();
    assert_eq!(acked.acks[0].by, name.trim());
}
