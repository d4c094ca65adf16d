//! Connections that break under a program that knows what each of its calls must have done.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::Duration;

use gtrace_e2e::faults::{Faults, Plan};
use gtrace_e2e::server::{Server, Via};
use gtrace_e2e::{artefacts, process, programs};
use serde_json::Value;
use support::{Talking, artefacts};

const CLIENT: &str = env!("CARGO_BIN_EXE_gtrace-e2e-client");

/// How many breaks, by default `few`, and how long they may take.
fn extent(few: u64) -> (u64, Duration) {
    match std::env::var_os("GTRACE_TEST_LONG") {
        Some(_) => (10_000, Duration::from_secs(3600)),
        None => (few, support::LIMIT),
    }
}

/// `gtrace exec` against that address.
fn exec(address: &str, options: &[&str]) -> Command {
    let mut command = Command::new(&artefacts().gtrace);
    command
        .args(["exec", "--remote", address, "--link", "tcp"])
        .args(options)
        .arg("--")
        .env("GTRACE_KERNELS", artefacts::kernels())
        .env_remove("CUDA_VISIBLE_DEVICES");
    command
}

/// A client that is ready.
fn client(address: &str, options: &[&str], arguments: &[&str]) -> Talking {
    let mut command = exec(address, options);
    command.arg(CLIENT).args(arguments);
    let mut client = Talking::start(command);
    client.wait_for("ready");
    client
}

/// Calls of each operation, as the server has counted them.
fn executed(server: &Server) -> Value {
    let status = server.status().unwrap();
    status["counters"]["ops"].clone()
}

/// A server behind a proxy that breaks connections.
struct Ground {
    breaks: u64,
    server: Server,
    faults: Faults,
    /// What a client needs besides the address.
    options: Vec<String>,
    folder: tempfile::TempDir,
}

impl Ground {
    fn new(tls: bool, breaks: u64, most_bytes: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let (mut serving, mut options) = (Vec::new(), Vec::new());
        if tls {
            let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
            std::fs::write(path("cert"), made.cert.pem()).unwrap();
            std::fs::write(path("key"), made.signing_key.serialize_pem()).unwrap();
            let secret = std::fs::Permissions::from_mode(0o600);
            std::fs::set_permissions(path("key"), secret).unwrap();
            serving = vec![
                "--tls-cert".into(),
                path("cert"),
                "--tls-key".into(),
                path("key"),
            ];
            options = vec!["--tls-ca".into(), path("cert")];
            options.extend(["--tls-name".into(), "localhost".into()]);
        }
        let serving: Vec<&str> = serving.iter().map(String::as_str).collect();
        let server = Server::start(&artefacts().gtrace, &[], &serving).unwrap();
        let seed = std::time::SystemTime::UNIX_EPOCH
            .elapsed()
            .unwrap()
            .as_secs();
        println!("seed {seed}");
        let plan = Plan {
            seed,
            breaks,
            most_bytes,
            stall: Duration::from_millis(20),
            whole: 0,
        };
        let faults = Faults::to(&server.address(Via::Tcp), plan).unwrap();
        Self {
            breaks,
            server,
            faults,
            options,
            folder,
        }
    }

    fn options(&self) -> Vec<&str> {
        self.options.iter().map(String::as_str).collect()
    }

    /// Runs a program again and again until all breaks have come; what it printed each time.
    fn until_broken(
        &self,
        limit: Duration,
        mut command: impl FnMut(Command) -> Command,
    ) -> Vec<String> {
        self.faults.arm();
        let began = std::time::Instant::now();
        let mut printed = Vec::new();
        while printed.is_empty() || self.faults.count() < self.breaks {
            let mut command = command(exec(self.faults.address(), &self.options()));
            let outcome = process::run(&mut command, limit).unwrap();
            let log = self.server.log();
            let breaks = self.faults.count();
            assert!(
                outcome.status.success(),
                "after {breaks} breaks: {outcome}{log}"
            );
            printed.push(outcome.stdout);
            println!(
                "{} breaks in {:?}, {} runs",
                self.faults.count(),
                began.elapsed(),
                printed.len()
            );
            assert!(began.elapsed() < 2 * limit, "{:?}", self.faults.by_kind());
        }
        println!(
            "{} runs in {:?}: {:?}",
            printed.len(),
            began.elapsed(),
            self.faults.by_kind()
        );
        printed
    }
}

#[test]
fn each_call_is_executed_once_however_often_connections_break() {
    counted(false, "4", 400_000, 200);
}

/// Threads open their lanes while connections break already.
#[test]
fn each_call_of_64_threads_is_executed_once_over_tls_however_often_connections_break() {
    counted(true, "64", 100_000, 80);
}

/// Managed memory holds what the model says.
#[test]
fn managed_memory_is_coherent_however_often_connections_break() {
    let (breaks, limit) = extent(50);
    let ground = Ground::new(false, breaks, 60_000);
    let case = support::Case::c("coherence").arguments(&["3000", "4"]);
    let direct = case.direct().stdout;
    let program = gtrace_e2e::programs::c_program(artefacts(), "coherence").unwrap();
    let run = |mut command: Command| {
        command.arg(&program).args(["3000", "4"]);
        command
    };
    for printed in ground.until_broken(limit, run) {
        assert_eq!(printed, direct);
    }
}

/// 64 threads do random things and compare every byte.
#[test]
fn a_stress_of_64_threads_goes_on_however_often_connections_break() {
    let (breaks, limit) = extent(50);
    let ground = Ground::new(true, breaks, 40_000);
    let mut seed = 0;
    let run = |mut command: Command| {
        seed += 1;
        command
            .arg(CLIENT)
            .args(["random", &seed.to_string(), "64", "0.3"]);
        command
    };
    for printed in ground.until_broken(limit, run) {
        assert!(printed.contains("bytes compared"), "{printed}");
    }
}

fn counted(tls: bool, threads: &str, most_bytes: u64, few: u64) {
    let (breaks, limit) = extent(few);
    let ground = Ground::new(tls, breaks, most_bytes);
    let (server, faults) = (&ground.server, &ground.faults);
    let stats = ground.folder.path().join("stats");
    let mut options = ground.options();
    options.extend(["--stats-file", stats.to_str().unwrap()]);
    let mut client = client(faults.address(), &options, &["count", threads]);
    faults.arm();
    let began = std::time::Instant::now();
    let mut noted_at = Duration::ZERO;
    let all = process::wait_until(limit, || {
        if began.elapsed() >= noted_at + Duration::from_secs(60) {
            noted_at = began.elapsed();
            println!("{} breaks in {noted_at:?}", faults.count());
        }
        faults.count() >= breaks || client.child.try_wait().unwrap().is_some()
    });
    client.say("end").unwrap_or_default();
    let (printed, stderr, status) = client.end_within(support::LIMIT);
    println!("{printed}{:?}", faults.by_kind());
    let log = server.log();
    assert!(
        all && status.is_some_and(|s| s.success()),
        "{:?}: {printed}{stderr}{log}",
        faults.by_kind()
    );
    let launches: u64 = printed.split(' ').next().unwrap().parse().unwrap();
    assert!(
        launches > 0 && printed.contains("bytes compared"),
        "{printed}"
    );
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
    let executed = executed(server);
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

/// Nobody has to look for what broke, and nothing is kept for a client that comes back.
#[test]
fn a_program_that_ends_breaks_no_connection() {
    let server = Server::start(&artefacts().gtrace, &[], &[]).unwrap();
    let mut command = exec(&server.address(Via::Tcp), &[]);
    command.arg(programs::c_program(artefacts(), "threads").unwrap());
    let outcome = process::run(&mut command, support::LIMIT).unwrap();
    assert!(outcome.status.success(), "{outcome}");
    let gone = || server.workers().is_empty();
    assert!(process::wait_until(Duration::from_secs(10), gone));
    let (status, log) = (server.status().unwrap(), server.log());
    assert_eq!(status["counters"]["severed"], 0, "{log}");
    assert!(!log.contains("waits for its client"), "{log}");
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
        whole: 0,
    };
    let faults = Faults::to(&server.address(Via::Tcp), plan).unwrap();
    let client = client(faults.address(), &["--resume", "60s"], &["poll"]);
    server.start_again().unwrap();
    let (_, stderr, status) = client.end_within(Duration::from_secs(20));
    assert!(
        status.is_some(),
        "it waits for a server that is gone: {stderr}"
    );
    assert!(stderr.contains("the server was started again"), "{stderr}");
}
