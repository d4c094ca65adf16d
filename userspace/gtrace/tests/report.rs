//! `gtrace report` on a copied store, without a daemon and with one.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gtrace_event::{Amendment, Event, MissingEvidence, Record, Severity, Timestamp};
use support::{Daemon, xid};

const TIME: &str = "2026-03-03T04:05:06Z";

fn fault() -> Event {
    let mut event = xid("0000:3b:00.0", 79, Severity::Fatal, TIME);
    event.host = Some("gpu-node-17".to_owned());
    event
}

/// `gtrace report` with these arguments.
fn gtrace_report(args: &str, directory: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gtrace"));
    command.arg("report").args(args.split_whitespace());
    command.current_dir(directory).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The file that a report printed, which has to be the first line.
fn written(output: &Output, directory: &Path) -> PathBuf {
    assert!(output.status.success(), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    directory.join(printed.lines().next().unwrap())
}

#[test]
fn a_report_of_a_copied_store_verifies_opens_and_shows_a_change() {
    let daemon = Daemon::start();
    let event = fault();
    let incident = daemon.publish_opened(&event);
    let stopped = daemon.stop();
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    fs::copy(stopped.path().join("store.db"), here.join("copy.db")).unwrap();

    let report = written(&gtrace_report("--store copy.db", here), here);
    let class = incident.class.name();
    let name = format!("gtrace-incident-20260303T040506Z-gpu-node-17-{class}.html");
    assert_eq!(report.file_name().unwrap().to_str(), Some(name.as_str()));
    let page = fs::read_to_string(&report).unwrap();
    assert!(
        page.contains(&incident.id.to_string()) && page.contains("saved log with --kernel-log")
    );

    let again = gtrace_report("--store copy.db", here);
    assert_eq!(again.status.code(), Some(3), "a report is not overwritten");
    let verified = gtrace_report(&format!("verify {name}"), here);
    assert!(verified.status.success());
    let message = text(&verified.stdout);
    assert!(
        message.contains("the hash chain is whole") && message.contains(": intact\n"),
        "{message}"
    );
    let opened = gtrace_report(&format!("open {name} --to parts"), here);
    assert!(opened.status.success(), "{}", text(&opened.stderr));
    let events = fs::read_to_string(here.join("parts/events.jsonl")).unwrap();
    assert_eq!(serde_json::from_str::<Event>(events.trim()).unwrap(), event);

    fs::write(
        here.join("changed.html"),
        page.replacen("What to do now", "What to do then", 1),
    )
    .unwrap();
    let changed = gtrace_report("verify changed.html", here);
    assert_eq!(changed.status.code(), Some(1));
    assert!(text(&changed.stdout).starts_with("changed.html: MODIFIED\n"));
    let piped = gtrace_report("--store copy.db --out -", here);
    assert!(piped.stdout.starts_with(b"<!DOCTYPE html>") && piped.stdout.len() > 10_000);
    let device = gtrace_report("--store copy.db --out /dev/null", here);
    assert!(device.status.success(), "{}", text(&device.stderr));
    let absent = gtrace_report("verify absent.html", here);
    assert!(!absent.status.success());
}

#[test]
fn a_time_a_bundle_a_saved_log_and_redaction_are_asked_for_together() {
    let daemon = Daemon::start();
    daemon.publish_event(&fault());
    let stopped = daemon.stop();
    let store = stopped.path().join("store.db");
    let store = store.display();
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let log = "2026-03-03T04:05:05,900000+00:00 usb 1-1: new device\nno time here\n2026-03-04T00:00:00+00:00 later\n";
    fs::write(here.join("dmesg.txt"), log).unwrap();
    let asked =
        format!("--store {store} --around {TIME} --format bundle --kernel-log dmesg.txt --redact");
    let report = written(&gtrace_report(&asked, here), here);
    assert!(
        report.to_str().unwrap().ends_with("host-1-xid.tar.zst"),
        "{}",
        report.display()
    );
    let parts = gtrace_report(&format!("open {} --to parts", report.display()), here);
    assert!(parts.status.success(), "{}", text(&parts.stderr));
    let saved = fs::read_to_string(here.join("parts/kernel.log")).unwrap();
    assert_eq!(saved, "2026-03-03T04:05:05.9Z - usb 1-1: new device\n");
    let events = fs::read_to_string(here.join("parts/events.jsonl")).unwrap();
    assert!(
        events.contains("process-1")
            && !events.contains("python3")
            && !events.contains("gpu-node-17")
    );

    let none = gtrace_report(&format!("--store {store}"), here);
    assert_eq!(none.status.code(), Some(1));
    assert!(
        text(&none.stderr).contains("--around"),
        "{}",
        text(&none.stderr)
    );
    let before = "2026-03-01T12:00:00Z";
    let asked = format!("--store {store} --around {before}");
    let empty = gtrace_report(&format!("{asked} --out empty.html"), here);
    let message = text(&empty.stderr);
    assert_eq!(empty.status.code(), Some(1), "{message}");
    for part in [
        "nothing is recorded from 2026-03-01 11:55:00 UTC to 2026-03-01 12:05:00 UTC",
        "no report is written. The newest event is of 2026-03-03 04:05:06 UTC",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert!(!here.join("empty.html").exists());
    // The log alone is worth one, which says what it lacks.
    let log = "2026-03-01T12:00:01,000000+00:00 usb 1-1: new device\n";
    fs::write(here.join("early.txt"), log).unwrap();
    let of_log = gtrace_report(&format!("{asked} --kernel-log early.txt"), here);
    assert!(written(&of_log, here).exists());
    assert!(text(&of_log.stderr).contains("no event is recorded from"));
    let wrong = gtrace_report(&format!("--store {store} --until {TIME}"), here);
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn a_report_of_a_time_has_what_began_before_and_happened_again_in_it() {
    let daemon = Daemon::start();
    let first = fault();
    daemon.publish_event(&first);
    let again: Timestamp = "2026-03-03T05:05:06Z".parse().unwrap();
    let mut later = first.clone();
    later.revision += 1;
    later.repeats += 1;
    later.last_time = Some(again);
    let amendment = Amendment::between(&first, &later, again).unwrap();
    let amendment = Record::Amendment(Box::new(amendment));
    daemon.core().publish(&[(amendment, later.clone())]);
    let stopped = daemon.stop();
    let store = stopped.path().join("store.db");
    let store = store.display();
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let output = gtrace_report(&format!("--store {store} --around {again}"), here);
    let report = written(&output, here);
    let message = text(&output.stderr);
    assert!(!message.contains("no event is recorded"), "{message}");
    let parts = gtrace_report(&format!("open {} --to parts", report.display()), here);
    assert!(parts.status.success(), "{}", text(&parts.stderr));
    let events = fs::read_to_string(here.join("parts/events.jsonl")).unwrap();
    assert_eq!(serde_json::from_str::<Event>(events.trim()).unwrap(), later);
    let between = format!("--store {store} --around 2026-03-03T04:30:00Z");
    let none = gtrace_report(&between, here);
    assert_eq!(none.status.code(), Some(1), "{}", text(&none.stderr));
}

#[test]
fn what_was_not_kept_of_an_incident_is_named_once() {
    let daemon = Daemon::start();
    let mut incident = daemon.publish_opened(&fault());
    incident.revision += 1;
    let gap = MissingEvidence::new("end of the recording", "it was interrupted");
    incident.missing.push(gap);
    daemon.core().publish_incident(&incident);
    let stopped = daemon.stop();
    let store = stopped.path().join("store.db");
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let report = written(
        &gtrace_report(&format!("--store {}", store.display()), here),
        here,
    );
    let page = fs::read_to_string(&report).unwrap();
    assert_eq!(page.matches("it was interrupted").count(), 1);
    let parts = gtrace_report(&format!("open {} --to parts", report.display()), here);
    assert!(parts.status.success(), "{}", text(&parts.stderr));
    let manifest = fs::read_to_string(here.join("parts/manifest.json")).unwrap();
    assert_eq!(manifest.matches("it was interrupted").count(), 1);
}

#[test]
fn a_signed_report_names_its_key_and_refuses_another() {
    let daemon = Daemon::start();
    daemon.publish_event(&fault());
    let stopped = daemon.stop();
    let store = stopped.path().join("store.db");
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    for key in ["ann", "bob"] {
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-f", key])
            .current_dir(here)
            .status();
        if made.is_err() {
            eprintln!("skipped: ssh-keygen is not installed");
            return;
        }
    }
    let store = store.display();
    let asked = format!("--store {store} --around {TIME} --sign ann --out r.html");
    written(&gtrace_report(&asked, here), here);
    let verify = |key: &str| gtrace_report(&format!("verify r.html --key {key}"), here);
    assert!(verify("ann.pub").status.success());
    assert_eq!(verify("bob.pub").status.code(), Some(1));
    fs::remove_file(here.join("r.html.sig")).unwrap();
    assert_eq!(
        verify("ann.pub").status.code(),
        Some(1),
        "a signature that was asked for is missing"
    );
}

#[test]
fn a_window_around_a_time_that_has_a_beginning_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let refused = gtrace_report("--since 1h --window 5m", directory.path());
    let message = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{message}");
    assert!(message.contains("--window"), "{message}");
}
