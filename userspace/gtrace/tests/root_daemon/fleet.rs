//! The daemon as the agent of a fleet.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

use gtrace_api::Status;
use gtrace_api::client::Client;
use gtrace_event::Event;
use gtrace_head::db::FleetEvent;
use gtrace_head::{HostView, TokenAnswer, TokenRequest};

use crate::caller::{self, Caller, Running};
use crate::harness::*;
use crate::pftrace::{ask, read};

#[test]
fn root_a_daemon_ships_its_events_and_its_state_to_its_head() {
    let Some(_turn) = Turn::take() else { return };
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let head = Command::new(GTRACE)
        .args(["head", "--listen", "127.0.0.1:0", "--socket"])
        .arg(path("head.sock"))
        .arg("--database")
        .arg(path("fleet.db"))
        .stderr(std::fs::File::create(path("head.log")).unwrap())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let _head = Running(head);
    let url = eventually("the head answers", || {
        let log = std::fs::read_to_string(path("head.log")).unwrap();
        let (_, rest) = log.split_once("head at ")?;
        Some(rest.split(',').next()?.to_owned())
    });
    let client = Client::unix(path("head.sock"));
    let asked = TokenRequest {
        host: None,
        for_s: 60,
        uses: 1,
        by: "test".to_owned(),
    };
    let token: TokenAnswer = client.post("/fleet/v1/tokens", &asked).unwrap();
    let credential = path("credential.json");
    let credential = credential.to_str().unwrap();
    let enrolled = Command::new(GTRACE)
        .args(["agent", "enroll", "--head", &url, "--host", "this-host"])
        .args(["--credential", credential])
        .env("GTRACE_JOIN_TOKEN", &token.token)
        .status();
    assert!(enrolled.unwrap().success());

    // A credential for another head is no use: the daemon says so and watches the host all the same.
    let other = [
        "--head",
        "http://127.0.0.1:1",
        "--head-credential",
        credential,
    ];
    let alone = Daemon::start_in(dir.path(), &other);
    let log = alone.log();
    assert!(log.contains("Nothing is shipped to the head"), "{log}");
    alone.stop();

    let labels = ["--head-labels", "rack=r7"];
    let args = [
        "--head",
        &url,
        "--head-credential",
        credential,
        labels[0],
        labels[1],
        "--head-page",
        "--head-traces",
    ];
    let daemon = Daemon::start_in(dir.path(), &args);
    let gpu = fresh_gpu();
    KernelLog::open().write(&format!(
        "NVRM: Xid (PCI:{gpu}): 79, GPU has fallen off the bus."
    ));
    let local = daemon.wait_events(&["--gpu", &gpu], |events| !events.is_empty());
    eventually("the head has the event", || {
        let found: Vec<FleetEvent> = client.get("/fleet/v1/events?limit=1000").unwrap();
        found
            .iter()
            .any(|one| one.event.id == local[0].id)
            .then_some(())
    });
    eventually("the head has the state and all records", || {
        let hosts: Vec<HostView> = client.get("/fleet/v1/hosts").unwrap();
        let host = &hosts[0];
        (host.host == "this-host" && host.labels["rack"] == "r7" && host.behind == 0).then_some(())
    });
    // The page of the host by way of the head: what its daemon answers.
    let page = |path: &str| format!("/fleet/v1/hosts/this-host/page{path}");
    let status: Status = client.get(&page("/api/v1/status")).unwrap();
    assert_eq!(status.host, daemon.status().host);
    let query = format!("/api/v1/events?limit=10&gpu={gpu}");
    let shown: Vec<Event> = client.get(&page(&query)).unwrap();
    assert!(shown.iter().any(|event| event.id == local[0].id));
    let refused = client.get::<Event>(&page("/api/v1/events/01KJSZ3M7B"));
    let refused = refused.unwrap_err().to_string();
    let own = daemon.client().get::<Event>("/api/v1/events/01KJSZ3M7B");
    assert_eq!(refused, own.unwrap_err().to_string());
    let refused = client.get_text(&page("/metrics")).unwrap_err().to_string();
    assert!(refused.contains("does not ask for that"), "{refused}");
    traces(dir.path(), &path("head.sock"));
}

/// A trace of a running program by way of the head ends with the calls that it may have.
fn traces(dir: &Path, head: &Path) {
    let mut command = Command::new(caller::compile(dir));
    let library = caller::library(dir);
    let mut program = Caller::spawn(command.arg(&library).args(["time", "50"]));
    program.until("open");
    let trace = |pid: u32, options: &[&str]| {
        let trace = Command::new(GTRACE)
            .args(["fleet", "trace", "this-host", "--pid", &pid.to_string()])
            .args(options)
            .arg("--head")
            .arg(head)
            .current_dir(dir)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        Running(trace.unwrap())
    };
    let message = |trace: &mut Running| {
        let mut message = String::new();
        trace
            .0
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut message)
            .unwrap();
        trace
            .0
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut message)
            .unwrap();
        message
    };
    let options = [
        "--duration",
        "1m",
        "--max-calls",
        "2000",
        "-o",
        "t.pftrace.gz",
    ];
    let mut tracing = trace(program.pid(), &options);
    let status = loop {
        program.go_on();
        program.until("timed");
        if let Some(status) = tracing.0.try_wait().unwrap() {
            break status;
        }
    };
    let line = message(&mut tracing);
    assert!(status.success() && line.contains("t.pftrace.gz"), "{line}");
    // Perfetto reads it packed.
    let of_calls = "SELECT count(*) AS n FROM slice WHERE name LIKE 'cu%'";
    if let Some(rows) = ask(&dir.join("t.pftrace.gz"), &[of_calls]) {
        let calls = rows[0][0]["n"].as_u64();
        assert!(
            calls.is_some_and(|n| (2000..=2001).contains(&n)),
            "{rows:?}"
        );
    }
    let packed = Command::new("gzip")
        .args(["-d", "t.pftrace.gz"])
        .current_dir(dir)
        .status();
    assert!(packed.unwrap().success());
    let seen = read(&dir.join("t.pftrace"));
    let calls = seen.iter().filter(|one| one.name.starts_with("cu")).count();
    // And what had not returned at the end.
    assert!((2000..=2001).contains(&calls), "{calls}");

    let mut tracing = trace(u32::MAX, &[]);
    let status = tracing.0.wait().unwrap();
    let line = message(&mut tracing);
    assert!(
        status.code() == Some(1) && line.contains("4294967295"),
        "{line}"
    );
}
