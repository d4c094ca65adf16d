//! `gtrace health` and `/api/v1/health`, against a daemon and against a store.
#![allow(missing_docs, clippy::unwrap_used)]

mod support;

use std::path::Path;
use std::process::{Command, Output};

use gtrace_event::{
    HealthNews, HealthRecord, HealthReport, HealthState, MaintenanceWindow, Occasion, Provenance,
    Record, Severity, Timestamp,
};
use gtrace_store::{Options, Store};

use support::{Daemon, xid};

fn gtrace(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gtrace"))
        .args(args)
        .env_remove("GTRACE_CONFIG")
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn the_daemon_says_how_each_part_is_and_the_exit_status_says_it_too() {
    let daemon = Daemon::start();
    let socket = daemon.dir.path().join("socket");
    let socket = socket.to_str().unwrap();
    let ask = |args: &[&str]| gtrace(&[&["health", "--socket", socket], args].concat());
    let all = ask(&[]);
    assert_eq!(all.status.code(), Some(1), "{all:?}");
    let shown = text(&all);
    for part in [
        "node7 unhealthy, to do: reboot",
        "gpu 0000:3b:00.0 (GPU-8f3a) unhealthy",
        "fell off the bus (Xid 79) [off-the-bus]",
        "healthy: gpu 0000:86:00.0",
    ] {
        assert!(shown.contains(part), "{part:?} is not in {shown}");
    }
    assert_eq!(ask(&["86:00"]).status.code(), Some(0));
    assert_eq!(ask(&["GPU-8f3a"]).status.code(), Some(1));
    assert_eq!(ask(&["0000:99:00.0"]).status.code(), Some(3));
    let unknown = ask(&["0000:99:00.0", "--npd"]);
    assert_eq!(unknown.status.code(), Some(2));
    let message = text(&unknown);
    assert!(
        message.starts_with("unknown: nothing is known of `0000:99:00.0`"),
        "{message}"
    );
    let json = ask(&["--json"]);
    let report: HealthReport = serde_json::from_str(&text(&json)).unwrap();
    assert_eq!(report.host.as_deref(), Some("node7"));
    let npd = ask(&["--npd"]);
    assert_eq!(npd.status.code(), Some(1));
    assert_eq!(
        text(&npd),
        "unhealthy: gpu 0000:3b:00.0: fell off the bus (Xid 79)\n"
    );
    let metrics = daemon.client().get_text("/metrics").unwrap();
    for line in [
        "gtrace_health_state{subject=\"gpu\",gpu=\"0000:3b:00.0\",state=\"unhealthy\"} 1",
        "gtrace_health_state{subject=\"gpu\",gpu=\"0000:86:00.0\",state=\"healthy\"} 1",
        "gtrace_health_action{subject=\"host\",action=\"reboot\"} 1",
        "gtrace_maintenance 0",
    ] {
        assert!(metrics.contains(line), "{line} is not in {metrics}");
    }
}

#[test]
fn nobody_knows_that_a_gpu_is_well_while_the_kernel_log_is_not_read() {
    let daemon = Daemon::start();
    daemon.hub.update_status(|status| {
        status.sources[0].state = gtrace_api::SourceState::Failed;
    });
    let report: HealthReport = daemon.client().get("/api/v1/health").unwrap();
    let states: Vec<_> = report.subjects.iter().map(|known| known.state).collect();
    let bad = HealthState::Unhealthy;
    assert_eq!(states, [bad, bad, HealthState::Unknown]);
    assert!(report.not_checked[0].contains("kernel log"));
}

fn store(path: &Path, records: &[Record]) {
    let mut store = Store::open(path, Options::default()).unwrap();
    store.append(records, &[]).unwrap();
    store.close();
}

fn observed(occasion: Occasion) -> Record {
    Record::Health(Box::new(HealthRecord::observed(Timestamp::now(), occasion)))
}

#[test]
fn a_copied_store_says_what_its_records_come_to() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("copy.db");
    let place = ["health", "--store", path.to_str().unwrap()];
    let missing = gtrace(&place);
    assert_eq!(missing.status.code(), Some(3), "{missing:?}");

    let boot = |boot: &str| {
        observed(Occasion::Boot {
            boot: boot.to_owned(),
        })
    };
    let mut event = xid("0000:3b:00.0", 79, Severity::Fatal, "2026-03-03T04:05:06Z");
    event.provenance = Provenance::Kernel;
    event.boot_id = Some("one".to_owned());
    store(&path, &[boot("one"), Record::Event(Box::new(event))]);
    let lost = gtrace(&place);
    assert_eq!(lost.status.code(), Some(1), "{lost:?}");
    assert!(text(&lost).contains("fell off the bus"), "{lost:?}");

    store(&path, &[boot("two")]);
    let unseen = gtrace(&place);
    assert_eq!(
        unseen.status.code(),
        Some(3),
        "nobody has seen it since: {unseen:?}"
    );
    assert!(text(&unseen).contains("not-seen"), "{unseen:?}");
    let subject = gtrace_event::HealthSubject::new(gtrace_event::SubjectKind::Gpu, "0000:3b:00.0");
    store(
        &path,
        &[observed(Occasion::Found {
            subject,
            uuid: None,
        })],
    );
    let found = gtrace(&place);
    assert_eq!(found.status.code(), Some(0), "{found:?}");
    assert!(
        text(&found).contains("not checked: read from the store"),
        "{found:?}"
    );
}

#[test]
fn a_store_that_nobody_has_written_for_hours_is_unknown() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("copy.db");
    let time = Timestamp::now() - jiff::SignedDuration::from_hours(3);
    let record = |occasion| {
        let record = HealthRecord::observed(time, occasion);
        Record::Health(Box::new(record))
    };
    let subject = gtrace_event::HealthSubject::new(gtrace_event::SubjectKind::Gpu, "0000:3b:00.0");
    let boot = Occasion::Boot {
        boot: "one".to_owned(),
    };
    let found = Occasion::Found {
        subject,
        uuid: None,
    };
    store(&path, &[record(boot), record(found)]);
    let place = ["health", "--store", path.to_str().unwrap()];
    let old = gtrace(&place);
    assert_eq!(old.status.code(), Some(3), "{old:?}");
    assert!(text(&old).contains("3 h ago"), "{old:?}");
    let npd = gtrace(&[&place[..], &["--npd"]].concat());
    assert_eq!(npd.status.code(), Some(2), "{npd:?}");
    assert!(text(&npd).starts_with("unknown: as of "), "{npd:?}");
}

#[test]
fn a_maintenance_window_is_begun_and_refused_as_it_should() {
    let daemon = Daemon::start();
    let socket = daemon.dir.path().join("socket");
    let socket = socket.to_str().unwrap();
    let ask = |args: &[&str]| gtrace(&[&["maintenance"], args, &["--socket", socket]].concat());
    let begun = ask(&[
        "start", "--for", "2h", "--note", "fans", "--by", "alice", "--json",
    ]);
    assert_eq!(begun.status.code(), Some(0), "{begun:?}");
    let window: MaintenanceWindow = serde_json::from_str(&text(&begun)).unwrap();
    let length = window.until.duration_since(window.from).as_secs();
    assert_eq!(
        (length, window.note.as_str(), window.by.as_str()),
        (7200, "fans", "alice")
    );
    assert!(window.is_on(Timestamp::now()));
    let again = text(&ask(&["start", "--for", "1h", "--by", "alice"]));
    // As `gtrace health` has it: no nanoseconds.
    let until = again.strip_prefix("maintenance until ").unwrap();
    let until = until.strip_suffix(" by alice\n").unwrap();
    assert_eq!(until.len(), "12-31 23:59:59".len(), "{until}");
    assert_eq!(ask(&["start", "--for", "99x"]).status.code(), Some(2));
    let show = ask(&["show"]);
    assert_eq!(text(&show), "no maintenance window is on\n");
    let stopped = ask(&["stop", "--json"]);
    assert_eq!(
        (stopped.status.code(), &*text(&stopped)),
        (Some(0), "null\n")
    );
    let news = HealthNews::Maintenance { window };
    assert!(
        serde_json::to_string(&news)
            .unwrap()
            .contains("maintenance")
    );
}

#[test]
fn a_scan_looks_without_a_daemon_and_says_what_it_could_not_see() {
    let dir = tempfile::tempdir().unwrap();
    let sysfs = dir.path().join("sys");
    std::fs::create_dir_all(sysfs.join("bus/pci/devices")).unwrap();
    let scan = gtrace(&["scan", "--json", "--sysfs-root", sysfs.to_str().unwrap()]);
    let report: HealthReport = serde_json::from_str(&text(&scan)).unwrap();
    assert!(
        report
            .subjects
            .iter()
            .all(|known| known.subject.part != gtrace_event::SubjectKind::Gpu)
    );
    let code = match report.state {
        HealthState::Healthy => 0,
        HealthState::Degraded | HealthState::Unhealthy => 1,
        HealthState::Unknown => 3,
    };
    assert_eq!(scan.status.code(), Some(code), "{report:?}");
    let progress = String::from_utf8(scan.stderr).unwrap();
    assert!(progress.contains("looking at kernel log"), "{progress}");
    assert!(
        report
            .not_checked
            .iter()
            .any(|what| what.starts_with("NVML")),
        "{report:?}"
    );
}

#[test]
fn clients_of_gpud_are_answered_only_where_that_is_asked_for() {
    let daemon = Daemon::start_as_gpud();
    daemon.publish_event(&xid(
        "0000:3b:00.0",
        79,
        Severity::Fatal,
        "2026-03-03T04:00:00Z",
    ));
    let client = daemon.client();
    assert_eq!(
        client.get_text("/healthz").unwrap(),
        "{\"status\":\"ok\",\"version\":\"v1\"}"
    );
    let of = |route: &str, component: &str| {
        let all: Vec<serde_json::Value> = client.get(route).unwrap();
        let found = all.into_iter().find(|one| one["component"] == component);
        found.unwrap_or_else(|| panic!("{component} is not in {route}"))
    };
    let xids = "accelerator-nvidia-error-xid";
    let states = of("/v1/states", xids);
    let first = &states["states"][0];
    assert_eq!(first["health"], "Unhealthy");
    assert_eq!(
        first["suggested_actions"]["repair_actions"][0],
        "REBOOT_SYSTEM"
    );
    let day = "startTime=1772496000&endTime=1772582400";
    let events = of(&format!("/v1/events?components={xids}&{day}"), xids);
    assert_eq!(events["events"][0]["name"], "xid", "{events}");
    assert_eq!(events["events"][0]["type"], "Fatal");
    let info = of(&format!("/v1/info?{day}"), xids);
    assert_eq!(info["info"]["events"].as_array().unwrap().len(), 1);
    let nothing: Vec<serde_json::Value> = client.get("/v1/metrics?components=none").unwrap();
    assert!(nothing.is_empty());
    let wrong = client
        .get_text("/v1/events?startTime=yesterday")
        .unwrap_err();
    assert!(wrong.to_string().contains("1772510706"), "{wrong}");

    let other = Daemon::start();
    assert!(other.client().get_text("/v1/states").is_err());
    assert!(
        !other
            .client()
            .get_text("/healthz")
            .unwrap()
            .contains("version")
    );
}

/// What a sysfs shows of a GPU that no test machine has.
fn sysfs_of_one_gpu(root: &Path) {
    let device = root.join("devices/pci0000:3a/0000:3b:00.0");
    std::fs::create_dir_all(&device).unwrap();
    std::fs::create_dir_all(root.join("bus/pci/devices")).unwrap();
    std::os::unix::fs::symlink(&device, root.join("bus/pci/devices/0000:3b:00.0")).unwrap();
    std::fs::write(device.join("vendor"), "0x10de\n").unwrap();
    std::fs::write(device.join("class"), "0x030200\n").unwrap();
}

#[test]
fn a_baseline_is_saved_and_what_differs_from_it_is_said_by_check_and_scan() {
    let dir = tempfile::tempdir().unwrap();
    sysfs_of_one_gpu(dir.path());
    let (root, file) = (
        dir.path().to_str().unwrap(),
        dir.path().join("etc/baseline.toml"),
    );
    let file = file.to_str().unwrap();
    let here = [
        "--sysfs-root",
        root,
        "--proc-root",
        root,
        "--baseline",
        file,
    ];
    let baseline = |args: &[&str]| gtrace(&[&["baseline"], args, &here[..]].concat());
    assert_eq!(baseline(&["check"]).status.code(), Some(3), "there is none");
    let unread = baseline(&["save"]);
    assert_eq!(
        unread.status.code(),
        Some(3),
        "NVML does not answer: {unread:?}"
    );
    let saved = baseline(&["save", "--force"]);
    assert_eq!(saved.status.code(), Some(0), "{saved:?}");
    assert!(text(&baseline(&["show"])).contains("gpus = 1"));
    let same = baseline(&["check"]);
    assert_eq!(same.status.code(), Some(0), "{same:?}");
    assert!(text(&same).contains("host: as expected"), "{same:?}");
    std::fs::write(file, "[host]\ngpus = 8\n[gpu]\necc = true\n").unwrap();
    let other = baseline(&["check"]);
    assert_eq!(other.status.code(), Some(1));
    assert_eq!(
        text(&other),
        "host: gpus 1, expected 8\ngpu 0000:3b:00.0: not read: ecc\n"
    );
    let json: serde_json::Value =
        serde_json::from_str(&text(&baseline(&["check", "--json"]))).unwrap();
    assert_eq!(json[0]["differences"][0]["setting"], "gpus");
    let scan = gtrace(&[&["scan", "--quiet", "--json"], &here[..]].concat());
    let report: HealthReport = serde_json::from_str(&text(&scan)).unwrap();
    let host = &report.subjects[0];
    let reason = host.reasons.iter().find(|reason| reason.rule == "baseline");
    assert_eq!(reason.unwrap().text, "gpus 1, expected 8");
    std::fs::write(file, "[host]\ngpus = eight\n").unwrap();
    let refused = baseline(&["check"]);
    assert_eq!(refused.status.code(), Some(3));
    let config = gtrace(&[&["config", "check"], &here[..]].concat());
    assert_eq!(config.status.code(), Some(1));
    assert!(String::from_utf8(config.stderr).unwrap().contains("line 2"));
}
