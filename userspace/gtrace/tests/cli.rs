//! The reading commands, run as a user runs them.
#![allow(clippy::unwrap_used, reason = "only tests use it")]

#[path = "support/process.rs"]
mod process;
mod support;

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Output, Stdio};

use gtrace_api::{CallStats, SourceState, SourceStatus};
use gtrace_event::{Event, Severity, Timestamp, WitnessName};
use gtrace_tls::testing::Authority;
use gtrace_tls::{GpuShare, NewToken, Role, new_token};
use serde_json::Value;
use support::{Daemon, repeat, xid};

/// What a schema asks for, and what a document has.
#[test]
fn a_schema_fits_what_is_written() {
    let daemon = Daemon::start();
    daemon.publish_event(&xid("0000:3b:00.0", 79, Severity::Fatal, HOUR));
    let dir = &daemon.dir;
    let (code, schema, _) = output(dir.path(), &["schema", "event"]);
    assert_eq!(code, Some(0));
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let (_, events, _) = output(dir.path(), &["events", "--json"]);
    let event: Value = serde_json::from_str(events.lines().next().unwrap()).unwrap();
    for key in event.as_object().unwrap().keys() {
        assert!(
            schema["properties"][key].is_object(),
            "{key} is not in the schema"
        );
    }
    for document in ["incident", "profile", "bench-remote"] {
        let (code, schema, _) = output(dir.path(), &["schema", document]);
        assert_eq!(code, Some(0));
        let schema: Value = serde_json::from_str(&schema).unwrap();
        assert!(
            !schema["properties"].as_object().unwrap().is_empty(),
            "{document}"
        );
    }
}

const HOUR: &str = "2026-03-03T04:00:00Z";

fn gtrace(dir: &std::path::Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gtrace"));
    command.args(args).env("GTRACE_STORE", dir.join("store.db"));
    command
        .env("GTRACE_SOCKET", dir.join("socket"))
        .env("GTRACE_LISTEN", "127.0.0.1:1");
    command
        .env("SUDO_USER", "alice")
        .env("TZ", "UTC")
        .stdin(Stdio::null());
    command
}

fn output(dir: &std::path::Path, args: &[&str]) -> (Option<i32>, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = gtrace(dir, args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

struct Follower {
    child: Child,
    out: BufReader<ChildStdout>,
    err: BufReader<ChildStderr>,
}

impl Follower {
    fn start(dir: &std::path::Path, args: &[&str]) -> Self {
        let mut command = gtrace(dir, args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let err = BufReader::new(child.stderr.take().unwrap());
        Self { child, out, err }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        line
    }

    fn error_line(&mut self) -> String {
        let mut line = String::new();
        self.err.read_line(&mut line).unwrap();
        line
    }

    /// Sends SIGINT as Ctrl-C does, and returns the exit code.
    fn interrupt(mut self) -> Option<i32> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        self.child.wait().unwrap().code()
    }
}

#[test]
fn events_come_from_the_store_with_and_without_a_daemon() {
    let daemon = Daemon::start();
    let event = xid("0000:3b:00.0", 79, Severity::Fatal, HOUR);
    daemon.publish_event(&event);
    daemon.publish_event(&xid("0000:5e:00.0", 13, Severity::Warning, HOUR));
    let args = [
        "events",
        "--json",
        "--severity",
        "critical",
        "--gpu",
        "3b:00",
    ];
    let (code, out, _) = output(daemon.dir.path(), &args);
    assert_eq!(code, Some(0));
    assert_eq!(serde_json::from_str::<Event>(&out).unwrap(), event);
    let (_, text, _) = output(daemon.dir.path(), &["events"]);
    assert!(
        text.contains("FATAL  Xid 79") && !text.contains('\x1b'),
        "{text}"
    );
    let dir = daemon.stop();
    assert_eq!(output(dir.path(), &args).1, out);
    let (code, text, _) = output(dir.path(), &["events", "--verify"]);
    assert_eq!(code, Some(0));
    assert!(text.contains("the chain is whole: 2 records"), "{text}");
}

#[test]
fn without_store_and_daemon_the_exit_code_is_3_and_bad_usage_is_2() {
    let dir = tempfile::tempdir().unwrap();
    for args in [
        &["events"][..],
        &["events", "--verify"],
        &["status"],
        &["top", "--once"],
    ] {
        let (code, out, err) = output(dir.path(), args);
        assert_eq!(code, Some(3), "{args:?}: {out}{err}");
    }
    let (_, _, err) = output(dir.path(), &["events"]);
    assert!(
        err.contains("no store there") && err.contains("gtrace run"),
        "{err}"
    );
    for args in [
        &["events", "--kind", "xyd"][..],
        &["events", "--since", "noon"],
        &["top"],
    ] {
        assert_eq!(output(dir.path(), args).0, Some(2), "{args:?}");
    }
}

#[test]
fn follow_prints_history_then_each_change_and_ends_with_0_on_sigint() {
    let daemon = Daemon::start();
    let event = xid("0000:3b:00.0", 79, Severity::Fatal, HOUR);
    daemon.publish_event(&event);
    let args = [
        "events",
        "--follow",
        "--json",
        "--since",
        "2026-03-03T00:00:00Z",
    ];
    let mut follower = Follower::start(daemon.dir.path(), &args);
    let first: Event = serde_json::from_str(&follower.line()).unwrap();
    assert_eq!(first, event);
    let (record, new) = repeat(&event);
    daemon.core().publish(&[(record, new)]);
    let second: Event = serde_json::from_str(&follower.line()).unwrap();
    assert_eq!(
        (second.id, second.revision, second.repeats),
        (event.id, 1, 1)
    );
    assert_eq!(follower.interrupt(), Some(0));
}

#[test]
fn follow_waits_for_a_daemon_and_goes_on_where_it_was_when_one_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let mut follower = Follower::start(dir.path(), &["events", "--follow", "--json"]);
    let line = follower.error_line();
    assert!(
        line.contains("gtrace run") && line.contains("waiting"),
        "{line}"
    );

    let daemon = Daemon::start_in(dir);
    assert!(follower.error_line().contains("connected"));
    // What is published before the stream stands is history to this reader, so publish until one
    // event has come through.
    let (heard, first) = std::sync::mpsc::channel();
    let Follower {
        child,
        out,
        mut err,
    } = follower;
    let reader = std::thread::spawn(move || {
        let mut out = out;
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        heard.send(line).unwrap();
        out
    });
    while first.try_recv().is_err() {
        daemon.publish_event(&xid("0000:3b:00.0", 79, Severity::Fatal, HOUR));
        std::thread::yield_now();
    }
    let out = reader.join().unwrap();

    let dir = daemon.stop();
    let mut line = String::new();
    err.read_line(&mut line).unwrap();
    assert!(line.contains("went away"), "{line}");
    let daemon = Daemon::start_in(dir);
    let last = xid("0000:3b:00.0", 13, Severity::Warning, HOUR);
    daemon.publish_event(&last);
    let mut follower = Follower { child, out, err };
    loop {
        let event: Event = serde_json::from_str(&follower.line()).unwrap();
        if event.id == last.id {
            break;
        }
    }
    assert_eq!(follower.interrupt(), Some(0));
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let daemon = Daemon::start();
    for _ in 0..200 {
        daemon.publish_event(&xid("0000:3b:00.0", 79, Severity::Fatal, HOUR));
    }
    let mut command = gtrace(daemon.dir.path(), &["events"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut err = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut err)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(
        err.lines().count(),
        1,
        "which store it is, and no more: {err}"
    );
}

#[test]
fn an_event_is_acknowledged_through_the_daemon_or_without_one() {
    let daemon = Daemon::start();
    let event = xid("0000:3b:00.0", 79, Severity::Fatal, HOUR);
    daemon.publish_event(&event);
    let id = event.id.to_string();
    let (code, out, _) = output(daemon.dir.path(), &["ack", &id[18..], "--note", "drained"]);
    assert_eq!(code, Some(0));
    assert!(
        out.contains("acked by alice") && out.contains("drained"),
        "{out}"
    );

    let dir = daemon.stop();
    let args = ["ack", &id.to_lowercase(), "--by", "bob", "--json"];
    let (code, out, err) = output(dir.path(), &args);
    assert_eq!(code, Some(0), "{err}");
    let acked: Event = serde_json::from_str(&out).unwrap();
    let names: Vec<&str> = acked.acks.iter().map(|ack| ack.by.as_str()).collect();
    assert_eq!(names, ["alice", "bob"]);
    assert_eq!(output(dir.path(), &["events", "--unacked", "--json"]).1, "");
    assert_eq!(output(dir.path(), &["ack", "ZZZZZZZZ"]).0, Some(1));
    assert_eq!(output(dir.path(), &["ack", "x"]).0, Some(2));
}

#[test]
fn status_and_a_snapshot_of_top_say_how_things_stand() {
    let daemon = Daemon::start();
    daemon.publish_event(&xid("0000:3b:00.0", 79, Severity::Fatal, HOUR));
    let (code, text, _) = output(daemon.dir.path(), &["status"]);
    assert_eq!(code, Some(0), "{text}");
    for part in [
        "gtrace 0.1.0 (pid 1) on node7",
        "printk:console active",
        "Xid 79",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let (_, json, _) = output(daemon.dir.path(), &["status", "--json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&json["running"], &json["health"]["ok"]),
        (&true.into(), &true.into())
    );
    let (code, json, _) = output(daemon.dir.path(), &["top", "--once", "--json"]);
    assert_eq!(code, Some(0));
    let json: Value = serde_json::from_str(&json).unwrap();
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["calls", "counters", "events", "gpus", "processes", "status"]
    );
    daemon
        .hub
        .update_status(|s| s.store_problem = Some("disk full".into()));
    let (code, text, _) = output(daemon.dir.path(), &["status"]);
    assert_eq!(code, Some(1));
    assert!(text.contains("disk full"), "{text}");

    let dir = daemon.stop();
    let (code, text, _) = output(dir.path(), &["status"]);
    assert_eq!(code, Some(3));
    assert!(
        text.contains("1 records") && text.contains("Xid 79"),
        "{text}"
    );
}

/// A command with this environment only.
fn bare(args: &[&str], environment: &[(&str, &std::path::Path)]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gtrace"));
    command.args(args).env_clear().env("USER", "alice");
    command.envs(environment.iter().copied());
    let Output {
        status,
        stdout,
        stderr,
    } = command.stdin(Stdio::null()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

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
            let said = err.lines().filter(|l| l.contains(dir.to_str().unwrap()));
            assert_eq!(said.count(), 1, "{args:?} says who answered: {err}");
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
    let token = NewToken {
        name: name.into(),
        role,
        expires: None,
        requests_per_minute: None,
        gpu: GpuShare::default(),
    };
    let secret = new_token(credentials, &token, Timestamp::now()).unwrap();
    let file = folder.join(format!("{name}.token"));
    std::fs::write(&file, secret.expose()).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    file
}

#[test]
fn files_for_nats_servers_are_refused_where_there_are_none() {
    let database = ["--database", "/nonexistent/fleet.db"];
    let head = [&["head", "--nats-ca", "ca.pem"][..], &database].concat();
    let agent = ["agent", "run", "--nats-credentials", "host.creds"];
    for (args, needed) in [
        (&head[..], "--nats nats://HOST"),
        (&agent, "--head nats://HOST"),
    ] {
        let (code, _, err) = bare(args, &[]);
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains(needed), "{err}");
    }
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
    let ca = ca.to_str().unwrap();
    for (args, part) in [
        (&["--head", "http://head:7480"][..], "without TLS"),
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
            ("GTRACE_URL", std::path::Path::new(&url)),
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
        ("GTRACE_URL", std::path::Path::new("https://node8:7471")),
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
        ("GTRACE_HEAD", std::path::Path::new("https://head:7480")),
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
fn config_check_refuses_what_run_refuses() {
    let dir = tempfile::tempdir().unwrap();
    let policy = dir.path().join("policy.toml");
    std::fs::write(&policy, "[[rule]]\nkind = \"xid\"\nactoin = \"page\"\n").unwrap();
    for path in [
        policy.as_path(),
        std::path::Path::new("/nonexistent/policy.toml"),
    ] {
        let path = path.to_str().unwrap();
        for what in ["check", "show"] {
            let (code, out, err) = bare(&["config", what, "--site-policy", path], &[]);
            assert_eq!((code, out.as_str()), (Some(1), ""), "{err}");
            assert!(err.contains(path), "{err}");
        }
    }
    let example = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../packaging/site-policy.example.toml"
    );
    let (code, _, err) = bare(&["config", "check", "--site-policy", example], &[]);
    assert_eq!(code, Some(0), "{err}");
    let rules = dir.path().join("health-rules.toml");
    let check = || {
        let path = rules.to_str().unwrap();
        bare(&["config", "check", "--health-rules", path], &[])
    };
    let (code, _, err) = check();
    assert_eq!(code, Some(0), "there need be none: {err}");
    std::fs::write(
        &rules,
        "[[rule]]\nname = \"off-the-bus\"\naction = \"drain\"\nclears = []\n",
    )
    .unwrap();
    let (code, _, err) = check();
    assert_eq!(code, Some(1), "{err}");
    for part in [
        "health-rules.toml: line 2: rule `off-the-bus`",
        "`clears` is empty",
        "remedy: ",
    ] {
        assert!(err.contains(part), "{err}");
    }
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

#[test]
fn absent_sources_are_one_line_and_a_reason_is_given_once() {
    let daemon = Daemon::start();
    let source = |name: &str, state, reason: &str| SourceStatus {
        name: name.into(),
        witness: None,
        state,
        gives: String::new(),
        needs: String::new(),
        reason: Some(reason.into()),
        remedy: Some("plug it in".into()),
        records: 0,
        lost: 0,
    };
    daemon.hub.update_status(|status| {
        status.sources.extend([
            source("nvml", SourceState::Absent, "no driver"),
            source("/proc/driver/nvidia", SourceState::Absent, "no driver"),
            source("sysfs:rdma", SourceState::Absent, "no device"),
            source("driver:ioctl", SourceState::Failed, "no kprobes"),
            source("syscalls:ioctl", SourceState::Failed, "no kprobes"),
        ]);
        status.store_problem = Some("disk full".into());
    });
    for args in [&["status"][..], &["top", "--once"]] {
        let (_, text, _) = output(daemon.dir.path(), args);
        let failed = "driver:ioctl, syscalls:ioctl: no kprobes\n    remedy: plug it in\n";
        assert!(text.contains(failed), "{text}");
        for once in ["plug it in", "no kprobes", "disk full"] {
            assert_eq!(text.matches(once).count(), 1, "{once} in {text}");
        }
        let absent = "absent    nvml, /proc/driver/nvidia, sysfs:rdma: `gtrace doctor` says why";
        assert!(text.contains(absent), "{text}");
    }
}

#[test]
fn a_profile_without_rows_says_why() {
    let daemon = Daemon::start();
    let stand = |state, reason: &str| {
        let sources = [WitnessName::DriverIoctl, WitnessName::SyscallIoctl].map(|w| SourceStatus {
            name: w.name().to_owned(),
            witness: Some(w),
            state,
            gives: String::new(),
            needs: String::new(),
            reason: Some(reason.to_owned()),
            remedy: None,
            records: 0,
            lost: 0,
        });
        daemon
            .hub
            .update_status(|status| status.sources = sources.to_vec());
    };
    let profile = |more: &[&str]| {
        output(
            daemon.dir.path(),
            &[&["profile", "--driver"], more].concat(),
        )
    };

    stand(SourceState::Absent, "this kernel has no kprobes");
    let (code, out, err) = profile(&[]);
    assert_eq!((code, out.as_str()), (Some(3), ""));
    for part in [
        "no driver calls seen",
        "driver:ioctl is absent (this kernel has no kprobes)",
    ] {
        assert!(err.contains(part), "{part} is not in {err}");
    }
    let (code, out, err) = profile(&["--json"]);
    assert_eq!((code, out.as_str()), (Some(3), "[]\n"));
    assert!(err.contains("syscalls:ioctl is absent"), "{err}");
    stand(SourceState::Off, "paused");
    assert!(profile(&[]).2.contains("driver:ioctl is off (paused)"));

    stand(SourceState::Active, "");
    let (code, _, err) = profile(&[]);
    assert_eq!(
        (code, err.lines().last()),
        (Some(0), Some("gtrace: no driver calls seen"))
    );
    let call = CallStats {
        pid: 7,
        comm: "python3".into(),
        count: 1,
        ..CallStats::default()
    };
    daemon.hub.set_calls(vec![call]);
    let (code, out, err) = profile(&["--pid", "8"]);
    assert_eq!((code, out.as_str()), (Some(0), ""));
    assert!(
        err.contains("process 8") && err.contains("\"(ended)\""),
        "{err}"
    );
    let (code, out, err) = profile(&["--pid", "7"]);
    assert_eq!((code, err.lines().count()), (Some(0), 1), "{err}");
    assert!(out.contains("python3"), "{out}");
    stand(SourceState::Failed, "refused");
    let (code, out, err) = profile(&[]);
    assert_eq!(code, Some(0), "what was counted before is shown");
    assert!(
        out.contains("python3") && err.contains("refused"),
        "{out}{err}"
    );
}

#[test]
fn a_trace_of_a_thread_or_of_a_process_that_has_ended_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let trace = |pid: &str| output(dir.path(), &["trace", "--driver", "--pid", pid]);
    let refused = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let link = std::fs::read_link("/proc/thread-self").unwrap();
            trace(link.file_name().unwrap().to_str().unwrap())
        });
        thread.join().unwrap()
    });
    assert_eq!(refused.0, Some(2));
    let process = format!("is a thread of process {} (", std::process::id());
    assert!(refused.2.contains(&process), "{}", refused.2);

    let mut child = Command::new("true").spawn().unwrap();
    let pid = child.id();
    let state = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    while !state().contains(") Z ") {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let (code, _, err) = trace(&pid.to_string());
    assert_eq!(code, Some(2));
    assert!(err.contains("has ended"), "{err}");
    child.wait().unwrap();
}

#[test]
fn a_trace_that_cannot_be_written_does_not_end_as_a_success() {
    let dir = tempfile::tempdir().unwrap();
    let trace = |option: &str, file: &str, program: &str| {
        let file = dir.path().join(file);
        let args = ["trace", "--softgpu", option, file.to_str().unwrap(), "--"];
        output(dir.path(), &[&args, &[program][..]].concat())
    };
    std::os::unix::fs::symlink("/dev/full", dir.path().join("full.pftrace")).unwrap();
    for (option, file) in [
        ("--output", "full.pftrace"),
        ("--json", "no/such/folder.json"),
    ] {
        let (code, _, err) = trace(option, file, "true");
        assert_eq!(code, Some(3), "{option}: {err}");
        let said = err.lines().filter(|line| line.contains(file));
        let said: Vec<_> = said.collect();
        assert_eq!(said.len(), 1, "{err}");
        for part in [
            "cannot be written",
            "(os error ",
            &format!("name another file with {option}"),
        ] {
            assert!(said[0].contains(part), "{part} is not in {}", said[0]);
        }
        let (code, _, err) = trace(option, file, "false");
        assert_eq!(
            code,
            Some(1),
            "the program's own failure comes first: {err}"
        );
    }
}

#[test]
fn lines_that_the_kernel_could_not_log_are_not_injected() {
    let dir = tempfile::tempdir().unwrap();
    let long = "x".repeat(100_000);
    for (text, reason) in [
        ("", "is empty"),
        ("one\ntwo", "U+000A"),
        ("a \u{1b}[31mred", "U+001B"),
        ("c1 \u{85}", "U+0085"),
        (&long, "100015 bytes long"),
    ] {
        let (code, out, err) = output(dir.path(), &["inject", "line", text]);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
        assert!(err.contains(reason) && err.len() < 500, "{err}");
    }
    let xid = [
        "inject",
        "xid",
        "79",
        "--gpu",
        "0000:3b:00.0",
        "--message",
        "a\nb",
    ];
    let (code, _, err) = output(dir.path(), &xid);
    assert_eq!(code, Some(2), "{err}");
}

#[test]
fn a_plain_user_is_told_of_the_permission_that_a_profile_needs() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = gtrace(dir.path(), &["profile", "--all", "--duration", "1"]);
    if rustix::process::geteuid().is_root() {
        use std::os::unix::fs::PermissionsExt as _;
        use std::os::unix::process::CommandExt as _;
        // The folders of the binary itself may be closed to others.
        let copy = dir.path().join("gtrace");
        std::fs::copy(env!("CARGO_BIN_EXE_gtrace"), &copy).unwrap();
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(dir.path(), open).unwrap();
        command = Command::new(copy);
        command.args(["profile", "--all", "--duration", "1"]);
        command.uid(65534).gid(65534);
    }
    let Output { status, stderr, .. } = command.output().unwrap();
    let err = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(3), "{err}");
    assert!(err.contains("run as root"), "{err}");
    assert!(!err.contains("no uprobe"), "{err}");
}

#[test]
fn tables_of_functions_that_a_program_is_given_are_counted_and_said_to_be_unseen() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("tables");
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/tables.c");
    let built = Command::new("cc")
        .arg("-o")
        .args([&program, &source])
        .arg("-ldl")
        .status();
    assert!(built.unwrap().success());
    let json = dir.path().join("calls.json");
    let (json, program) = (json.to_str().unwrap(), program.to_str().unwrap());
    let args = ["trace", "--softgpu", "--json", json, "--", program];
    let (code, _, err) = output(dir.path(), &args);
    assert_eq!(code, Some(0), "{err}");
    // What every runtime asks for.
    let id = "6bd5fb6c5bf4e74a8987d93912fd9df9";
    let said =
        format!("tables of cuGetExportTable, calls through which are not seen: {id} (3 lookups)");
    assert!(err.contains(&said), "{err}");
    let counted: Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    let process = &counted["processes"][0];
    assert_eq!(process["tables"], serde_json::json!({ id: 3 }));
    assert_eq!(process["untouched"], serde_json::json!([]));
}

#[test]
fn config_check_says_what_is_wrong_with_an_alertmanager_and_what_to_do() {
    let cases = [
        (
            &["--alertmanager-url", "127.0.0.1:9093"][..],
            "http://127.0.0.1:9093",
        ),
        (
            &[
                "--alertmanager-url",
                "https://am.example.com",
                "--alertmanager-token-file",
                "/nonexistent/token",
            ],
            "/nonexistent/token",
        ),
        (
            &[
                "--alertmanager-url",
                "https://am.example.com",
                "--alertmanager-ca-file",
                "/dev/null",
            ],
            "PEM",
        ),
    ];
    for (keys, remedy) in cases {
        let args = [&["config", "check"], keys].concat();
        let (code, _, err) = bare(&args, &[]);
        assert_eq!(code, Some(1), "{err}");
        assert!(
            err.contains("alertmanager_") && err.contains(remedy),
            "{err}"
        );
    }
    let fine = [
        "config",
        "check",
        "--alertmanager-url",
        "http://localhost:9093",
    ];
    assert_eq!(bare(&fine, &[]).0, Some(0));
}

#[test]
fn a_game_day_needs_a_daemon_and_drills_that_exist() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("socket");
    let socket = socket.to_str().unwrap();
    let (code, out, err) = bare(&["gameday", "--yes", "--socket", socket], &[]);
    assert_eq!((code, out.as_str()), (Some(3), ""), "{err}");
    assert!(err.contains(socket), "{err}");
    let (code, _, err) = bare(&["gameday", "--only", "xid-79,xid-0"], &[]);
    assert_eq!(code, Some(2));
    assert!(err.contains("xid-0") && err.contains("oom-kill"), "{err}");
    let (code, out, _) = bare(&["gameday", "--list", "--only", "oom-kill,xid-79"], &[]);
    assert_eq!(code, Some(0));
    assert_eq!(out.lines().count(), 3, "{out}");
}
