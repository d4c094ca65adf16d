//! Clients and lanes beyond what is allowed, and clients that die.

use std::time::Duration;

use gtrace_cuda::Kind;
use gtrace_cuda::payload;
use gtrace_link::LinkError;
use gtrace_protocol::{Flags, Refused, op_id};

use crate::counted;
use crate::support::{Client, Server, bytes, target, within};

#[test]
fn no_more_clients_than_allowed() {
    let (server, one) = Server::with_client(|options| options.max_clients = 2);
    let _two = Client::ready(server.tcp(), "tcp");
    let refused = Client::connect(server.unix(), "unix");
    let Err(LinkError::Refused(Refused { reason, .. })) = refused else {
        panic!("{:?}", refused.map(|client| client.welcome));
    };
    assert!(
        reason.contains("2 clients") && reason.contains("--max-clients"),
        "{reason}"
    );
    counted(&server, "max_clients", 1);
    // Further lanes of a session are no further clients.
    let lane = Client::open(&target(server.unix(), "unix"), Some(&one.session));
    assert!(lane.is_ok());
    drop((one, lane));
    server.wait_for("room", |status| status.sessions.len() == 1);
    drop(Client::ready(server.unix(), "unix"));
}

#[test]
fn lanes_are_limited() {
    let (server, one) = Server::with_client(|options| options.limits.max_lanes = 2);
    let target = target(server.unix(), "unix");
    let two = Client::open(&target, Some(&one.session)).unwrap();
    assert!(Client::open(&target, Some(&one.session)).is_err());
    drop(two);
    let what = "a lane that has ended makes room";
    within(Duration::from_secs(5), what, || {
        Client::open(&target, Some(&one.session)).is_ok()
    });
}

/// Waits until a worker is gone.
fn ends(worker: u32, seconds: u64, whose: &str) {
    let process = format!("/proc/{worker}");
    let what = format!("{whose}: worker {worker} lives on");
    within(Duration::from_secs(seconds), &what, || {
        !std::path::Path::new(&process).exists()
    });
}

#[test]
fn a_client_that_is_gone_takes_its_worker_with_it() {
    let (server, mut other) = Server::with_client(|_| {});
    let at = other.alloc(4096).unwrap();
    for link in ["tcp", "unix", "shm"] {
        let address = server.address(link);
        let mut client = Client::ready(address, link);
        client.alloc(256 << 20).unwrap();
        let lane = Client::open(&target(address, link), Some(&client.session)).unwrap();
        let status = server.wait_for("two", |status| {
            status
                .sessions
                .iter()
                .filter(|s| s.client.is_some())
                .count()
                == 2
        });
        let worker = status
            .sessions
            .iter()
            .max_by_key(|s| s.worker)
            .unwrap()
            .worker;
        drop((client, lane));
        ends(worker, 1, link);
    }
    assert_eq!(other.free(at), 0, "other clients are untouched");
    assert_eq!(server.status().counters.workers_failed, 0);
}

#[test]
fn a_client_that_dies_in_an_endless_call_takes_its_worker_with_it() {
    let server = Server::start(|_| {});
    for link in ["tcp", "unix", "shm"] {
        let address = server.address(link);
        let mut client = Client::ready(address, link);
        let worker = server.wait_for("one", |s| s.sessions.len() == 1).sessions[0].worker;
        // A stream that waits for a function that nobody ever ends.
        let host = payload::HostFunction {
            stream: 0,
            ticket: 1,
        };
        client.one_way("cuLaunchHostFunc", &bytes(&host), &[]);
        let header = client.header(op_id("cuCtxSynchronize"), Flags::default());
        client.send(header, &[], &[]).unwrap();
        std::thread::sleep(Duration::from_millis(100));
        drop(client);
        ends(worker, 2, link);
        server.wait_for("none", |s| s.sessions.is_empty());
    }
}

#[test]
fn workers_end_with_the_supervisor() {
    let (server, mut client) = Server::with_client(|_| {});
    let worker = server.status().sessions[0].worker;
    drop(server);
    ends(worker, 2, "unix");
    assert!(client.receive().is_err());
    // Handles mean nothing any more, which the client learns at once.
    assert!(client.one_way_fails(Kind::Stream.handle(1)));
}

/// Not a test of its own: the client that the next one kills.
#[test]
#[ignore = "a process of another test"]
fn client_process() {
    let address = std::env::var("GTRACE_TEST_ADDRESS").unwrap();
    let link = std::env::var("GTRACE_TEST_LINK").unwrap();
    let mut client = Client::ready(&address, &link);
    client.alloc(1 << 30).unwrap();
    loop {
        client.call("cuMemGetInfo_v2", &[]);
    }
}

#[test]
fn a_killed_client_leaves_nothing_behind() {
    let server = Server::start(|_| {});
    for link in ["tcp", "unix", "shm"] {
        let address = server.address(link);
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "ends::client_process", "--ignored"])
            .env("GTRACE_TEST_ADDRESS", address)
            .env("GTRACE_TEST_LINK", link)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let status = server.wait_for("a busy client", |status| {
            status
                .sessions
                .first()
                .is_some_and(|s| s.stats.memory == 1 << 30)
        });
        let session = &status.sessions[0];
        assert_eq!(session.client.as_ref().unwrap().pid, child.id());
        assert_eq!(session.stats.links, [link]);
        child.kill().unwrap();
        child.wait().unwrap();
        ends(session.worker, 1, link);
        server.wait_for("none", |status| status.sessions.is_empty());
    }
    assert_eq!(server.status().counters.workers_failed, 0);
}
