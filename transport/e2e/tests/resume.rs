//! Connections that break under a program that knows what each of its calls must have done.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use gtrace_e2e::faults::{Faults, Plan};
use gtrace_e2e::server::{Server, Via};
use gtrace_e2e::{artefacts, process};
use serde_json::Value;
use support::artefacts;

const CLIENT: &str = env!("CARGO_BIN_EXE_gtrace-e2e-client");
const THREADS: &str = "4";

/// How many breaks, and how long they may take.
fn extent() -> (u64, Duration) {
    match std::env::var_os("GTRACE_TEST_LONG") {
        Some(_) => (10_000, Duration::from_secs(1800)),
        None => (200, support::LIMIT),
    }
}

fn client(address: &str, options: &[&str], arguments: &[&str]) -> Child {
    Command::new(&artefacts().gtrace)
        .args(["exec", "--remote", address, "--link", "tcp"])
        .args(options)
        .arg("--")
        .arg(CLIENT)
        .args(arguments)
        .env("GTRACE_KERNELS", artefacts::kernels())
        .env_remove("CUDA_VISIBLE_DEVICES")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Calls of each operation, as the server has counted them.
fn executed(server: &Server) -> Value {
    let status = server.status().unwrap();
    status["counters"]["ops"].clone()
}

#[test]
fn each_call_is_executed_once_however_often_connections_break() {
    let (breaks, limit) = extent();
    let server = Server::start(&artefacts().gtrace, &[], &[]).unwrap();
    let seed = std::time::SystemTime::UNIX_EPOCH
        .elapsed()
        .unwrap()
        .as_secs();
    let plan = Plan {
        seed,
        breaks,
        most_bytes: 400_000,
        stall: Duration::from_millis(20),
    };
    println!("seed {seed}");
    let faults = Faults::to(&server.address(Via::Tcp), plan).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let stats = folder.path().join("stats");
    let options = ["--stats-file", stats.to_str().unwrap()];
    let mut child = client(faults.address(), &options, &["count", THREADS]);
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    faults.arm();
    let all = process::wait_until(limit, || {
        faults.count() >= breaks || child.try_wait().unwrap().is_some()
    });
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"end\n")
        .unwrap_or_default();
    let status = process::wait(&mut child, support::LIMIT).unwrap();
    if status.is_none() {
        child.kill().unwrap();
    }
    let (mut said, mut stderr) = (String::new(), String::new());
    stdout.read_to_string(&mut said).unwrap();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    println!("{said}{:?}", faults.by_kind());
    let log = server.log();
    assert!(
        all && status.is_some_and(|s| s.success()),
        "{:?}: {said}{stderr}{log}",
        faults.by_kind()
    );
    let launches: u64 = said.split(' ').next().unwrap().parse().unwrap();
    assert!(launches > 0 && said.contains("bytes compared"), "{said}");
    assert_eq!(faults.count(), breaks, "{:?}", faults.by_kind());

    // What the client has sent and what the server has executed, operation by operation.
    let gone = || server.workers().is_empty();
    assert!(
        process::wait_until(Duration::from_secs(10), gone),
        "the worker stays: {log}"
    );
    let stats: Value = serde_json::from_slice(&std::fs::read(&stats).unwrap()).unwrap();
    let resumed = stats["resumed"].as_u64().unwrap();
    assert!(resumed > 0 && stats["lost"].is_null(), "{stats}");
    println!(
        "{} connections broke, {resumed} took their place",
        stats["severed"]
    );
    let executed = executed(&server);
    let count = |op: &Value, part: &str| op[part].as_u64().unwrap();
    let mut sums = (0, 0);
    for op in stats["operations"].as_array().unwrap() {
        let name = op["name"].as_str().unwrap();
        if !matches!(name, "cuLaunchKernel" | "cuStreamSynchronize") {
            continue;
        }
        let sent = count(op, "one_way") + count(op, "waiting");
        let done = &executed[name];
        let done = done["driver"]["count"].as_u64().or(done["calls"].as_u64());
        assert_eq!(done, Some(sent), "{name}: {}", executed[name]);
        sums = (sums.0 + sent, sums.1 + 1);
    }
    assert!(sums.0 >= launches && sums.1 > 0, "{stats}");
}

/// A server that is killed, or started again, is another one: what it had is lost, and the program learns so at once.
#[test]
fn a_server_that_was_killed_or_started_again_is_lost_at_once() {
    let mut server = Server::start(&artefacts().gtrace, &[], &[]).unwrap();
    let plan = Plan {
        seed: 1,
        breaks: 0,
        most_bytes: 1,
        stall: Duration::ZERO,
    };
    let faults = Faults::to(&server.address(Via::Tcp), plan).unwrap();
    let mut child = client(faults.address(), &["--resume", "60s"], &["poll"]);
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    server.start_again().unwrap();
    let status = process::wait(&mut child, Duration::from_secs(20)).unwrap();
    let mut stderr = String::new();
    child.kill().unwrap_or_default();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert!(
        status.is_some(),
        "it waits for a server that is gone: {stderr}"
    );
    assert!(stderr.contains("the server was started again"), "{stderr}");
}
