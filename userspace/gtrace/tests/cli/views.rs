//! Status, profiles and schemas.

use std::path::Path;
use std::process::Command;

use gtrace_api::{CallStats, SourceState, SourceStatus};
use gtrace_event::{IncidentState, Severity, WitnessName};
use serde_json::Value;

use crate::support::{Daemon, xid};
use crate::{HOUR, bare, output};

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

#[test]
fn what_is_read_from_a_store_that_takes_no_records_is_said_to_lack_some() {
    let daemon = Daemon::start();
    daemon.publish_opened(&xid("0000:3b:00.0", 79, Severity::Fatal, HOUR));
    daemon.hub.update_status(|status| {
        status.store_problem = Some("disk full".into());
        status.store_waiting = 7;
    });
    let commands: [&[&str]; 2] = [&["events"], &["report", "--out", "-"]];
    for args in commands {
        let (code, _, err) = output(daemon.dir.path(), args);
        assert_eq!(code, Some(0), "{args:?}: {err}");
        assert!(
            err.contains("7 records are not stored yet"),
            "{args:?}: {err}"
        );
    }
}

#[test]
fn a_runbook_is_found_however_its_name_is_written() {
    let none = Path::new("/nonexistent");
    for (name, heading) in [
        ("PCIE", "# pcie: "),
        ("driver-crash", "# driver_crash: "),
        ("Gpu_Lost", "# gpu_lost: "),
    ] {
        let (code, text, err) = output(none, &["runbook", name]);
        assert!(code == Some(0) && text.starts_with(heading), "{text}{err}");
    }
    // Neither is a part of an incident's id.
    for name in ["F4", "no-such-class"] {
        let (code, _, err) = output(none, &["runbook", name]);
        assert!(code == Some(2) && err.contains("classes: gpu_oom"), "{err}");
    }
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

/// The counts of the status are since the start of the daemon.
#[test]
fn status_shows_incidents_that_nobody_has_resolved() {
    let daemon = Daemon::start();
    // The oldest is the gravest.
    let opened = ["3b", "5e", "86", "af", "c1", "d8"].map(|bus| {
        let (severity, time) = match bus {
            "3b" => (Severity::Fatal, "2026-03-03T03:00:00Z"),
            _ => (Severity::Critical, HOUR),
        };
        let fault = xid(&format!("0000:{bus}:00.0"), 79, severity, time);
        daemon.publish_opened(&fault)
    });
    let shown = |text: &str| {
        let ids = opened.iter().map(|incident| incident.id.to_string());
        ids.filter(|id| text.contains(id)).count()
    };
    let (_, text, _) = output(daemon.dir.path(), &["status"]);
    let more = "OPEN INCIDENTS\n1 more: `gtrace incidents --open` lists them\n";
    assert!(text.contains(more) && shown(&text) == 5, "{text}");
    assert!(text.contains(&opened[0].id.to_string()), "{text}");
    let mut resolved = opened[5].clone();
    resolved.revision += 1;
    resolved.state = IncidentState::Resolved;
    daemon.core().publish_incident(&resolved);
    let (_, text, _) = output(daemon.dir.path(), &["status"]);
    assert!(!text.contains("1 more") && shown(&text) == 5, "{text}");
    assert!(!text.contains(&resolved.id.to_string()), "{text}");
    let dir = daemon.stop();
    let (code, down, _) = output(dir.path(), &["status"]);
    assert!(code == Some(3) && shown(&down) == 5, "{down}");
}

#[test]
fn absent_sources_are_one_line_and_a_reason_is_given_once() {
    let daemon = Daemon::start();
    let source = |name: &str, state, reason: &str| SourceStatus {
        name: name.into(),
        state,
        reason: Some(reason.into()),
        remedy: Some("plug it in".into()),
        ..SourceStatus::default()
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
            reason: Some(reason.to_owned()),
            ..SourceStatus::default()
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
fn tables_of_functions_that_a_program_is_given_are_counted_and_said_to_be_unseen() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("tables");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/tables.c");
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
    let expected =
        format!("tables of cuGetExportTable, calls through which are not seen: {id} (3 lookups)");
    assert!(err.contains(&expected), "{err}");
    let counted: Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    let process = &counted["processes"][0];
    assert_eq!(process["tables"], serde_json::json!({ id: 3 }));
    assert_eq!(process["untouched"], serde_json::json!([]));
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
