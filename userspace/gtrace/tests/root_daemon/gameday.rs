//! `gtrace gameday` against a daemon on the real kernel log.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::{Command, Stdio};

use gtrace_event::{Event, Incident, IncidentState};
use serde_json::Value;

use crate::harness::*;

fn gameday(daemon: &Daemon, args: &[&str]) -> Command {
    let mut command = Command::new(GTRACE);
    command.args(["gameday", "--json", "--socket"]);
    command.arg(daemon.socket()).args(args);
    command
}

/// How many drills the kernel log has.
fn injected() -> usize {
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap();
    let opened = File::options()
        .read(true)
        .custom_flags(flags)
        .open("/dev/kmsg");
    let (mut log, mut record, mut count) = (opened.unwrap(), [0; 8192], 0);
    loop {
        match log.read(&mut record) {
            Ok(read) => {
                let text = String::from_utf8_lossy(&record[..read]);
                count += usize::from(text.contains("gtrace-inject: "));
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => return count,
            // Overwritten while it was read.
            Err(_) => {}
        }
    }
}

#[test]
fn root_every_drill_of_a_game_day_comes_through_and_is_closed_again() {
    let Some(_turn) = Turn::take() else { return };
    let daemon = Daemon::start(&[]);
    // A second game day within the window of deduplication is no repeat of the first.
    for _ in 0..2 {
        let output = gameday(&daemon, &["--yes"]).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        let report = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{report}\n{errors}");
        assert!(errors.contains("Game day on"), "it is announced: {errors}");
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["ok"], true);
        for drill in report["drills"].as_array().unwrap() {
            assert!(drill["detected_ms"].as_f64().unwrap() > 0.0, "{drill}");
            let id = drill["event"].as_str().unwrap();
            let event: Event = daemon
                .client()
                .get(&format!("/api/v1/events/{id}"))
                .unwrap();
            assert_eq!(event.acks.len(), 1, "{event:#?}");
            let Some(id) = drill["incident"].as_str() else {
                continue;
            };
            let path = format!("/api/v1/incidents/{id}");
            let incident: Incident = daemon.client().get(&path).unwrap();
            assert!(incident.drill, "{incident:#?}");
            assert_eq!(incident.state, IncidentState::Resolved, "{incident:#?}");
            assert_eq!(incident.history[0].note, "drill of gtrace gameday");
        }
    }
}

#[test]
fn root_a_game_day_that_is_aborted_in_its_countdown_injects_nothing() {
    let Some(_turn) = Turn::take() else { return };
    let daemon = Daemon::start(&[]);
    let before = injected();
    let mut child = gameday(&daemon, &[])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut errors = child.stderr.take().unwrap();
    let mut printed = String::new();
    while !printed.contains("begins in") {
        let mut byte = [0];
        errors.read_exact(&mut byte).unwrap();
        printed.push(char::from(byte[0]));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let mut report = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut report)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(
        (&report["aborted"], &report["drills"]),
        (&true.into(), &serde_json::json!([]))
    );
    assert_eq!(injected(), before);
}

#[test]
fn root_a_drill_that_is_not_detected_is_missed() {
    let Some(_turn) = Turn::take() else { return };
    // It reads nothing of the kernel log that the drills are in.
    let daemon = Daemon::start(&["--disabled-sources", "printk:console,/dev/kmsg"]);
    let output = gameday(&daemon, &["--yes", "--only", "xid-79"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        report["drills"][0]["problems"],
        serde_json::json!(["not detected"])
    );
}
