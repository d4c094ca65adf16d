//! `gtrace demo`, as any user of any host runs it.
#![allow(missing_docs, clippy::unwrap_used)]

use std::process::{Command, Stdio};

#[test]
fn a_demonstration_ends_with_a_report_that_says_what_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let gtrace = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gtrace"));
        command
            .args(args)
            .env_clear()
            .env("TMPDIR", dir.path())
            .current_dir(dir.path())
            .stdin(Stdio::null());
        command.output().unwrap()
    };
    let output = gtrace(&["demo", "--once", "--out", "report.html"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
    for part in [
        "Every event is a drill",
        "gtrace-inject: NVRM: Xid (PCI:5350:01:00): 79, pid=4194383, name=train-demo, ",
        "INJECTED (drill): no fault happened",
        "They are one incident",
        "report    report.html",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let left: Vec<_> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["report.html"], "the folder is removed");

    let verified = gtrace(&["report", "verify", "report.html"]);
    assert!(verified.status.success(), "{verified:?}");
    let opened = gtrace(&["report", "open", "report.html"]);
    assert!(opened.status.success(), "{opened:?}");
    let read = |name: &str| std::fs::read_to_string(dir.path().join("report").join(name)).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&read("manifest.json")).unwrap();
    assert_eq!(manifest["host"], "demonstration");
    assert_eq!(manifest["drill"], true);
    let events = read("events.jsonl");
    assert!(events.lines().count() >= 2, "{events}");
    for event in events.lines() {
        let event: serde_json::Value = serde_json::from_str(event).unwrap();
        assert_eq!(event["provenance"], "injected");
        assert_eq!(event["machine_id"], serde_json::Value::Null);
    }
}
