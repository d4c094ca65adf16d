//! The reading commands, run as a user runs them.
#![allow(clippy::unwrap_used, reason = "only tests use it")]

mod support;

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, ChildStdout, Command, Output, Stdio};

use gtrace::hub::{CallStats, SourceState, SourceStatus};
use gtrace_event::{Event, Severity, WitnessName};
use serde_json::Value;
use support::{Daemon, repeat, xid};

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
    let told = follower.error_line();
    assert!(
        told.contains("gtrace run") && told.contains("waiting"),
        "{told}"
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
    assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""));
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
        (code, err.as_str()),
        (Some(0), "gtrace: no driver calls seen\n")
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
    assert_eq!((code, err.as_str()), (Some(0), ""));
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
