//! Many clients that do random things, some of which are killed; servers that are killed.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use gtrace_e2e::artefacts;
use gtrace_e2e::process;
use gtrace_e2e::server::{Server, Via};
use support::{State, artefacts, idle_state, state};

const CLIENTS: u64 = 8;
const THREADS: &str = "4";
const CLIENT: &str = env!("CARGO_BIN_EXE_gtrace-e2e-client");
/// How soon a dead client's worker and all that it held are to be gone.
const CLEAN: Duration = Duration::from_secs(5);
/// How soon a client must learn that its server is dead.
const DEADLINE: Duration = Duration::from_secs(2);

fn time() -> Duration {
    let long = std::env::var_os("GTRACE_TEST_LONG").is_some();
    Duration::from_secs(if long { 600 } else { 30 })
}

/// The client through `server`, with a pipe for what it prints.
fn client(server: &Server, via: Via, arguments: &[&str]) -> Command {
    let mut command = server.exec(via);
    command
        .arg("--")
        .arg(CLIENT)
        .args(arguments)
        .env("GTRACE_KERNELS", artefacts::kernels())
        .env_remove("CUDA_VISIBLE_DEVICES")
        .env_remove("CUDA_LAUNCH_BLOCKING")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Waits until the server is as it was at `start`.
fn assert_returns_to(server: &Server, start: &State) {
    process::wait_until(CLEAN, || state(server) == *start);
    assert_eq!(
        state(server),
        *start,
        "the server's workers, threads and descriptors"
    );
}

/// Free bytes of device memory, as a fresh client sees them.
fn free_memory(server: &Server) -> String {
    let mut command = client(server, Via::Unix, &["free"]);
    let outcome = process::run(&mut command, support::LIMIT).unwrap();
    assert!(outcome.status.success(), "{outcome}");
    outcome.stdout
}

/// What happened at one of the clients' places.
#[derive(Default)]
struct Place {
    whole: u32,
    killed: u32,
    /// Of those that ended by themselves.
    steps: u64,
}

/// What one of the clients' places does: one client after the other, each over a random link; of four, one
/// is killed at a random moment.
fn place(server: &Server, seed: u64, end: Instant) -> Place {
    let mut random = Rng::with_seed(seed);
    let mut done = Place::default();
    while Instant::now() < end {
        let via = Via::ALL[random.usize(..3)];
        let seconds = format!("{:.1}", 0.5 + random.usize(..40) as f64 / 10.0);
        let seed = (random.u64(..) % 1_000_000).to_string();
        let mut command = client(server, via, &["random", &seed, THREADS, &seconds]);
        if random.usize(..4) == 0 {
            let mut child = command
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            thread::sleep(Duration::from_millis(random.usize(..3000) as u64));
            child.kill().unwrap();
            child.wait().unwrap();
            done.killed += 1;
        } else {
            let outcome = process::run(&mut command, support::LIMIT).unwrap();
            assert!(
                outcome.status.success() && outcome.stdout.contains("bytes compared"),
                "random {seed} {THREADS} {seconds} over {}: {}\n{}{}",
                via.name(),
                outcome.status,
                outcome.stdout,
                outcome.stderr
            );
            done.whole += 1;
            let steps = outcome
                .stdout
                .split(' ')
                .next()
                .and_then(|n| n.parse::<u64>().ok());
            done.steps += steps.expect("the client says how many steps it made");
        }
    }
    done
}

#[test]
fn random_clients_get_what_they_ask_for_and_leave_nothing() {
    let server = Server::start(&artefacts().gtrace, &[], &[]).unwrap();
    // The first client warms up what stays.
    let free = free_memory(&server);
    assert!(
        process::wait_until(CLEAN, || server.workers().is_empty()),
        "the first worker stays"
    );
    let start = idle_state(&server);
    let end = Instant::now() + time();
    let seed = std::time::SystemTime::UNIX_EPOCH
        .elapsed()
        .unwrap()
        .as_secs();
    println!("seed {seed}");
    let mut all = Place::default();
    thread::scope(|scope| {
        let places: Vec<_> = (0..CLIENTS)
            .map(|index| {
                let server = &server;
                scope.spawn(move || place(server, seed * CLIENTS + index, end))
            })
            .collect();
        for place in places {
            let place = place.join().unwrap();
            all.whole += place.whole;
            all.killed += place.killed;
            all.steps += place.steps;
        }
    });
    println!(
        "{} clients ended by themselves after {} steps, {} were killed",
        all.whole, all.steps, all.killed
    );
    assert!(all.whole > 0 && all.steps > 0);
    assert_returns_to(&server, &start);
    assert_eq!(free_memory(&server), free, "free device memory");
    assert_returns_to(&server, &start);
}

/// Starts a client and waits until it says that it is ready.
fn ready(
    server: &Server,
    via: Via,
    arguments: &[&str],
) -> (Child, impl FnOnce() -> String + use<>) {
    let mut command = client(server, via, arguments);
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next().expect("it says that it is ready").unwrap();
    assert_eq!(first, "ready");
    (child, move || lines.map_while(Result::ok).collect())
}

#[test]
fn a_client_whose_server_is_killed_fails_soon() {
    for via in Via::ALL {
        for doing in ["poll", "hang"] {
            let mut server = Server::start(&artefacts().gtrace, &[], &[]).unwrap();
            let (mut child, rest) = ready(&server, via, &[doing]);
            // That of `gtrace exec`, which looked whether the server is there, may be about to end.
            process::wait_until(CLEAN, || server.workers().len() == 1);
            let workers = server.workers();
            assert_eq!(workers.len(), 1, "one client has one worker");
            thread::sleep(Duration::from_millis(300));
            server.kill().unwrap();
            let status = process::wait(&mut child, DEADLINE).unwrap();
            if status.is_none() {
                child.kill().unwrap();
            }
            let status =
                status.unwrap_or_else(|| panic!("{doing} over {} was not reported", via.name()));
            let printed = rest();
            assert!(
                status.success() && printed.starts_with("error "),
                "{doing}: {status}, {printed:?}"
            );
            let gone = || workers.iter().all(|pid| process::threads(*pid).is_none());
            assert!(
                process::wait_until(CLEAN, gone),
                "the worker outlives its supervisor"
            );
        }
    }
}

#[test]
fn a_client_that_is_killed_leaves_nothing_and_disturbs_nobody() {
    let server = Server::start(&artefacts().gtrace, &[], &[]).unwrap();
    for via in Via::ALL {
        let start = idle_state(&server);
        let (mut other, _rest) = ready(&server, via, &["poll"]);
        process::wait_until(CLEAN, || server.workers().len() == 1);
        let with_other = idle_state(&server);
        for arguments in [&["hold", "1000000000"][..], &["hang"]] {
            let (mut child, _rest) = ready(&server, via, arguments);
            process::wait_until(CLEAN, || server.workers().len() == 2);
            assert_eq!(server.workers().len(), 2, "two clients have two workers");
            child.kill().unwrap();
            child.wait().unwrap();
            assert_returns_to(&server, &with_other);
            assert!(
                other.try_wait().unwrap().is_none(),
                "the other client has ended"
            );
        }
        other.kill().unwrap();
        other.wait().unwrap();
        assert_returns_to(&server, &start);
    }
}
