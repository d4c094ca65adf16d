//! The daemon as the agent of a fleet.

use std::process::{Command, Stdio};

use gtrace_api::Status;
use gtrace_api::client::Client;
use gtrace_event::Event;
use gtrace_head::db::FleetEvent;
use gtrace_head::{HostView, TokenAnswer, TokenRequest};

use crate::caller::Running;
use crate::harness::*;
use crate::needs_root;

#[test]
fn root_a_daemon_ships_its_events_and_its_state_to_its_head() {
    needs_root!();
    let _turn = Turn::take();
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
}
