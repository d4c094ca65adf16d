//! From a line in the kernel log to an event that stands there explained.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use gtrace_event::{Event, Provenance, WitnessName};

use crate::harness::*;
use crate::needs_root;

#[test]
fn root_a_drill_comes_through_marked_explained_and_with_both_witnesses() {
    needs_root!();
    let _turn = Turn::take();
    let daemon = Daemon::start(&[]);
    let gpu = format!("{}.0", fresh_gpu());
    let args = [
        "inject",
        "xid",
        "79",
        "--gpu",
        &gpu,
        "--pid",
        "4000000",
        "--comm",
        "my, odd (proc)",
    ];
    assert!(gtrace(&args).status.success());
    let events = daemon.wait_events(&["--gpu", &gpu, "--kind", "xid"], |events| {
        events.len() == 1 && events[0].witnesses.len() == 2
    });
    let event = &events[0];
    assert_eq!(event.provenance, Provenance::Injected);
    assert_eq!(event.detail.xid.xid, Some(79));
    assert_eq!(
        event.process.as_ref().unwrap().comm.as_deref(),
        Some("my, odd (proc)")
    );
    assert!(event.advice.as_ref().unwrap().meaning.is_some());
    assert_eq!(seen_by(event, WitnessName::PrintkConsole), 1);
    assert_eq!(seen_by(event, WitnessName::Kmsg), 1);
    let id = event.id.to_string();
    let socket = daemon.socket();
    let acked = gtrace(&[
        "ack",
        &id,
        "--by",
        "a",
        "--note",
        "b",
        "--socket",
        socket.to_str().unwrap(),
    ]);
    assert!(
        acked.status.success(),
        "{}",
        String::from_utf8_lossy(&acked.stderr)
    );
    let dir = daemon.dir.clone();
    let store = daemon.store();
    let keep = tempfile::tempdir().unwrap();
    let copy = keep.path().join("store.db");
    assert_eq!(events_in(&dir, &["--gpu", &gpu])[0].acks[0].by, "a");
    daemon_stops_and_store_survives(daemon, &store, &copy);
    let events = events_in(keep.path(), &["--gpu", &gpu]);
    assert_eq!((events.len(), events[0].acks.len()), (1, 1));
    verify(keep.path());
}

fn daemon_stops_and_store_survives(
    mut daemon: Daemon,
    store: &std::path::Path,
    copy: &std::path::Path,
) {
    let pid = rustix::process::Pid::from_child(&daemon.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(daemon.child.wait().unwrap().success(), "{}", daemon.log());
    std::fs::copy(store, copy).unwrap();
}

#[test]
fn root_who_wrote_a_line_is_told_and_a_forged_one_is_no_kernel_event() {
    needs_root!();
    let _turn = Turn::take();
    let daemon = Daemon::start(&[]);
    let gpu = fresh_gpu();
    KernelLog::open().write(&format!("<3>NVRM: Xid (PCI:{gpu}): 48, DBE"));
    let events = daemon.wait_events(&["--gpu", &gpu], |events| {
        events.len() == 1 && events[0].provenance != Provenance::Unknown
    });
    assert_eq!(events[0].provenance, Provenance::Userspace);
}

#[test]
fn root_a_record_with_an_inner_newline_is_one_event() {
    needs_root!();
    let _turn = Turn::take();
    let daemon = Daemon::start(&[]);
    let gpu = fresh_gpu();
    let text = format!(
        "NVRM: The NVIDIA GPU {gpu}.0\nNVRM: (PCI ID: 10de:1db6) installed in this system has\n\
         NVRM: fallen off the bus and is not responding to commands."
    );
    KernelLog::open().write(&text);
    let events = daemon.wait_events(&["--gpu", &gpu], |events| {
        events.first().is_some_and(|e| e.witnesses.len() == 2)
    });
    assert_eq!(events.len(), 1, "{events:#?}");
    assert_eq!(events[0].message, text);
}

#[test]
fn root_follow_prints_history_then_what_comes_and_ends_with_the_reader() {
    needs_root!();
    let _turn = Turn::take();
    let daemon = Daemon::start(&[]);
    let gpu = fresh_gpu();
    let mut log = KernelLog::open();
    log.write(&format!("NVRM: Xid (PCI:{gpu}): 13, before"));
    daemon.wait_events(&["--gpu", &gpu], |events| events.len() == 1);
    let mut follower = Command::new(GTRACE)
        .args([
            "events", "--follow", "--json", "--since", "1m", "--gpu", &gpu, "--socket",
        ])
        .arg(daemon.socket())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    let mut next = |text: &str| {
        lines
            .by_ref()
            .map(|line| serde_json::from_str::<Event>(&line.unwrap()).unwrap())
            .find(|event| event.message.ends_with(text))
            .unwrap()
    };
    next("before");
    log.write(&format!("NVRM: Xid (PCI:{gpu}): 13, after"));
    assert_eq!(next("after").detail.xid.xid, Some(13));
    follower.kill().unwrap();
    follower.wait().unwrap();
    daemon.stop();
}

#[test]
fn root_history_from_before_the_start_is_taken_up_once() {
    needs_root!();
    let _turn = Turn::take();
    let gpu = fresh_gpu();
    KernelLog::open().write(&format!("NVRM: Xid (PCI:{gpu}): 62, before the start"));
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let daemon = Daemon::start_in(dir.path(), &[]);
        let events = daemon.wait_events(&["--gpu", &gpu], |events| !events.is_empty());
        assert_eq!(occurrences(&events), 1);
        daemon.stop();
    }
    assert_eq!(occurrences(&events_in(dir.path(), &["--gpu", &gpu])), 1);
}
