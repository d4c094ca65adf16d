//! `gtrace events`, `ack` and `inject`.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};

use gtrace_event::{Event, Severity};
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Daemon, repeat, xid};
use crate::{HOUR, gtrace, output};

struct Follower {
    child: Child,
    out: BufReader<ChildStdout>,
    err: BufReader<ChildStderr>,
}

impl Follower {
    fn start(dir: &Path, args: &[&str]) -> Self {
        Self::of(gtrace(dir, args))
    }

    fn of(mut command: Command) -> Self {
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

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Sends SIGINT as Ctrl-C does, and returns the exit code.
    fn interrupt(self) -> Option<i32> {
        self.end_by(Signal::INT)
    }

    fn end_by(mut self, signal: Signal) -> Option<i32> {
        self.signal(signal);
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
    let later = ["events", "--since", "2026-03-03T05:00:00Z"];
    let (_, text, err) = output(daemon.dir.path(), &later);
    assert!(
        text.is_empty() && err.contains("when an event first happened"),
        "{text}{err}"
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
    for command in ["events", "incidents", "samples"] {
        let args = [command, "--since", "1h", "--until", "2h"];
        let (code, _, err) = output(dir.path(), &args);
        assert_eq!(code, Some(2), "{args:?}: {err}");
        assert!(err.contains("--until is not later"), "{args:?}: {err}");
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
    let (sender, first) = std::sync::mpsc::channel();
    let Follower {
        child,
        out,
        mut err,
    } = follower;
    let reader = std::thread::spawn(move || {
        let mut out = out;
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        sender.send(line).unwrap();
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
fn follow_ends_in_order_when_its_terminal_is_closed_and_goes_on_under_nohup() {
    let daemon = Daemon::start();
    daemon.publish_event(&xid("0000:3b:00.0", 79, Severity::Fatal, HOUR));
    let args = ["events", "--follow", "--json", "--since", HOUR];
    let start = |under: &[&str]| {
        let plain = gtrace(daemon.dir.path(), &args);
        let mut command = Command::new(under[0]);
        command
            .args(&under[1..])
            .arg(plain.get_program())
            .args(plain.get_args());
        let set = plain.get_envs();
        command
            .envs(set.filter_map(|(name, value)| Some((name, value?))))
            .stdin(Stdio::null());
        let mut follower = Follower::of(command);
        assert!(!follower.line().is_empty());
        follower
    };
    // The tests themselves may run under nohup.
    let follower = start(&["env", "--default-signal=HUP"]);
    assert_eq!(follower.end_by(Signal::HUP), Some(0));

    let mut follower = start(&["nohup"]);
    follower.signal(Signal::HUP);
    let next = xid("0000:3b:00.0", 13, Severity::Warning, HOUR);
    daemon.publish_event(&next);
    let event: Event = serde_json::from_str(&follower.line()).unwrap();
    assert_eq!(event.id, next.id);
    assert_eq!(follower.interrupt(), Some(0));
}

#[test]
fn follow_ends_once_nobody_reads_it_also_where_nothing_happens() {
    let daemon = Daemon::start();
    let mut follower = Follower::start(daemon.dir.path(), &["events", "--follow"]);
    assert!(follower.error_line().contains("answers"));
    drop(follower.out);
    assert_eq!(follower.child.wait().unwrap().code(), Some(0));
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
fn the_id_of_an_event_is_no_incidents_and_the_other_way_round() {
    let daemon = Daemon::start();
    let event = xid("0000:3b:00.0", 79, Severity::Fatal, HOUR);
    let incident = daemon.publish_opened(&event).id.to_string();
    let event = event.id.to_string();
    let is_incident = format!("is an incident, no event: `gtrace incidents show {incident}`");
    let is_event = format!("is an event, no incident: `gtrace events show {event}`");
    let cases: [(&[&str], &str); 6] = [
        (&["ack", &incident], &is_incident),
        (&["events", "show", &incident], &is_incident),
        (&["incidents", "show", &event], &is_event),
        (&["incidents", "ack", &event], &is_event),
        (&["runbook", &event], &is_event),
        (&["report", "--incident", &event], &is_event),
    ];
    let check = |dir: &Path| {
        for (args, says) in cases {
            let (code, _, err) = output(dir, args);
            assert!(code == Some(1) && err.contains(says), "{args:?}: {err}");
        }
    };
    check(daemon.dir.path());
    check(daemon.stop().path());
}

#[test]
fn what_is_refused_has_the_same_status_with_and_without_a_daemon() {
    let daemon = Daemon::start();
    let event = xid("0000:3b:00.0", 79, Severity::Fatal, HOUR);
    let id = daemon.publish_opened(&event).id.to_string();
    let resolve = ["incidents", "resolve", &id];
    assert_eq!(output(daemon.dir.path(), &resolve).0, Some(0));
    // Resolved is no state in which anybody is on it.
    let ack = ["incidents", "ack", &id];
    assert_eq!(output(daemon.dir.path(), &ack).0, Some(1));
    let long = "x".repeat(4097);
    let commands: [&[&str]; 2] = [
        &["capture", "--note", &long],
        &["maintenance", "start", "--for", "1h", "--note", &long],
    ];
    for args in commands {
        let (code, _, err) = output(daemon.dir.path(), args);
        assert!(code == Some(2) && err.contains("at most 4096"), "{err}");
    }
    assert_eq!(output(daemon.stop().path(), &ack).0, Some(1));
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
