//! How often a program waits for the server: counted by the client's statistics, and seen on a slow link.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gtrace_e2e::artefacts;
use gtrace_e2e::process;
use gtrace_e2e::programs;
use gtrace_e2e::server::{Server, Via};
use gtrace_protocol::GREETING_LEN;
use serde_json::Value;
use support::{Case, LIMIT, artefacts};

/// The statistics of a program that adds vectors `rounds` times.
fn statistics(server: &Server, via: Via, rounds: u32) -> Value {
    statistics_of("vector_add", server, via, rounds)
}

/// The statistics of a C program that does something `rounds` times.
fn statistics_of(program: &str, server: &Server, via: Via, rounds: u32) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stats.json");
    let case = Case::c(program).arguments(&[&rounds.to_string()]);
    case.remote(server, via, &["--stats-file", file.to_str().unwrap()]);
    let text = fs::read_to_string(&file).expect("gtrace exec --stats-file writes the statistics");
    serde_json::from_str(&text).unwrap()
}

fn total(statistics: &Value, of: &str) -> u64 {
    statistics["totals"][of].as_u64().expect("a count")
}

#[test]
fn a_vector_addition_waits_seven_times_and_a_further_round_once() {
    const ROUNDS: u64 = 20;
    let server = Server::start(&artefacts().gtrace, &[], &[]).unwrap();
    for via in Via::ALL {
        let one = statistics(&server, via, 1);
        assert_eq!(one["link"], via.name());
        let waited = total(&one, "waiting");
        assert!(waited <= 7, "{waited} round trips in all: {one:#}");
        // No part of an operation takes longer than all of the program, also if its frame waited at the
        // server before the lane's thread was there.
        let elapsed = one["elapsed_ns"].as_u64().expect("a time");
        for operation in one["operations"].as_array().expect("operations") {
            let parts = operation["parts"].as_object().expect("parts");
            for (part, times) in parts {
                let Some(longest) = times["max_ns"].as_u64() else {
                    continue;
                };
                assert!(longest <= elapsed, "{part} of {operation:#}");
            }
        }
        let many = statistics(&server, via, 1 + ROUNDS as u32);
        let each = (total(&many, "waiting") - total(&one, "waiting")) as f64 / ROUNDS as f64;
        assert!(each <= 1.0, "{each} round trips a round: {many:#}");
        // Two copies in and a launch.
        assert_eq!(total(&many, "one_way") - total(&one, "one_way"), 3 * ROUNDS);
    }
}

/// A proxy on which connections are as they are, and which counts how often each turns from what its client says to what
/// its server answers. The greeting is no answer: neither side waits for the other's.
fn turns(server: &str) -> (String, Arc<Mutex<Vec<u32>>>) {
    let all = Arc::new(Mutex::new(Vec::new()));
    let counted = Arc::clone(&all);
    let address = support::way_to(server.to_owned(), move |at, client, server| {
        counted.lock().unwrap().push(0);
        // Whether the client has said something that nothing has come behind.
        let asked = Arc::new(AtomicBool::new(false));
        let own = (client.try_clone().unwrap(), server.try_clone().unwrap());
        for (mut from, mut to, is_client) in [(own.0, own.1, true), (server, client, false)] {
            let (counted, asked) = (Arc::clone(&counted), Arc::clone(&asked));
            std::thread::spawn(move || {
                let (mut bytes, mut all) = (vec![0; 64 << 10], 0);
                while let Ok(read @ 1..) = from.read(&mut bytes) {
                    all += read;
                    if is_client {
                        asked.store(true, Ordering::SeqCst);
                    } else if all > GREETING_LEN && asked.swap(false, Ordering::SeqCst) {
                        counted.lock().unwrap()[at] += 1;
                    }
                    if to.write_all(&bytes[..read]).is_err() {
                        break;
                    }
                }
                let _ = to.shutdown(std::net::Shutdown::Write);
            });
        }
    });
    (address, all)
}

/// From `cuInit` to a context a program waits for the network twice besides TCP's own connect: for WELCOME, behind which the
/// answer to `cuInit` follows, and for the context.
#[test]
fn a_start_takes_two_round_trips() {
    let server = Server::start(&artefacts().gtrace, &[], &[]).unwrap();
    let (address, turns) = turns(&server.address(Via::Tcp));
    let mut child = Command::new(&artefacts().gtrace)
        .args(["exec", "--remote", &address, "--link", "tcp", "--"])
        .args([env!("CARGO_BIN_EXE_gtrace-e2e-client"), "start"])
        .env_remove("CUDA_VISIBLE_DEVICES")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let counted = turns.lock().unwrap().clone();
    child.stdin.take().unwrap().write_all(b"end\n").unwrap();
    assert!(process::wait(&mut child, LIMIT).unwrap().is_some());
    assert_eq!(line, "ready\n");
    // The first connection is that of `gtrace exec`, which looks whether the server is there.
    assert_eq!(counted.len(), 2, "{counted:?}");
    assert!(counted[1] <= 2, "{counted:?}");
}

/// A graph is launched by one one-way frame, and whether a stream is captured the client
/// knows.
#[test]
fn a_launch_of_a_graph_waits_for_nothing() {
    const ROUNDS: u64 = 100;
    let server = Server::start(&artefacts().gtrace, &[], &[]).unwrap();
    for via in Via::ALL {
        let [one, many] =
            [1, 1 + ROUNDS as u32].map(|rounds| statistics_of("replay", &server, via, rounds));
        assert_eq!(total(&many, "waiting"), total(&one, "waiting"), "{many:#}");
        assert_eq!(total(&many, "one_way") - total(&one, "one_way"), ROUNDS);
        // Start, module, streams, memory; begin and end of the capture, the capture's number, the
        // instantiation.
        let waited = total(&one, "waiting");
        assert!(waited <= 16, "{waited} round trips in all: {one:#}");
    }
}

/// An image travels once, however often it is loaded, also by a later program.
#[test]
fn an_image_is_sent_once() {
    const IMAGE: u64 = 1 << 20;
    for via in Via::ALL {
        let server = Server::start(&artefacts().gtrace, &[], &[]).unwrap();
        let first = statistics_of("large_image", &server, via, 3);
        let sent = total(&first, "bytes_out");
        assert!(
            (IMAGE..2 * IMAGE).contains(&sent),
            "{sent} bytes: {first:#}"
        );
        let second = statistics_of("large_image", &server, via, 3);
        let sent = total(&second, "bytes_out");
        assert!(sent < 64 << 10, "{sent} bytes: {second:#}");
    }
}

#[test]
fn questions_after_complete_events_are_answered_by_the_client() {
    let server = Server::start(&artefacts().gtrace, &[], &[]).unwrap();
    for via in Via::ALL {
        let [none, one, many] =
            [0, 1, 100].map(|rounds| statistics_of("events", &server, via, rounds));
        let asked = |of: &Value| total(of, "waiting") - total(&none, "waiting");
        // The answer about the last event says that those before it are complete too.
        assert!(
            asked(&one) <= 30,
            "{} of 100 were asked: {one:#}",
            asked(&one)
        );
        assert!(asked(&many) <= asked(&one).max(30), "{many:#}");
        let local = many["local"]["cuEventQuery"].as_u64().unwrap_or(0);
        assert!(
            local >= 9_970,
            "{local} of 10,000 were answered here: {many:#}"
        );
    }
}

/// Against the same program on the same link when every call is answered: a busy host slows both.
#[test]
fn on_a_slow_link_only_what_waits_takes_time() {
    const ROUNDS: u32 = 30;
    const ROUND_TRIP: Duration = Duration::from_millis(100);
    let case = Case::c("vector_add").arguments(&[&ROUNDS.to_string()]);
    let server = case.serve(&[]);
    let slow = ["--emulate", "rtt=100ms"];
    let outcome = case.remote(&server, Via::Tcp, &slow);
    assert!(
        outcome.took >= ROUND_TRIP * ROUNDS,
        "the link is not slow: {:?}",
        outcome.took
    );
    assert_eq!(outcome.stdout, case.direct().stdout);
    let strict = case.remote(&server, Via::Tcp, &[slow[0], slow[1], "--strict"]);
    assert_eq!(outcome.stdout, strict.stdout);
    // Two copies and a launch a round.
    let saved = strict.took.saturating_sub(outcome.took);
    assert!(
        saved > ROUND_TRIP * ROUNDS * 3 / 2,
        "{:?}, and {:?} if every call is answered",
        outcome.took,
        strict.took
    );
}

#[test]
fn programs_run_over_a_narrow_and_unsteady_link() {
    for name in ["copies", "streams", "threads"] {
        let case = Case::c(name);
        let server = case.serve(&[]);
        let options = ["--emulate", "rtt=2ms,jitter=1ms,bandwidth=400Mbit"];
        let outcome = case.remote(&server, Via::Tcp, &options);
        assert_eq!(outcome.stdout, case.direct().stdout);
    }
}

#[test]
fn a_link_that_breaks_is_an_error_and_no_hang() {
    let server = Server::start(&artefacts().gtrace, &[], &[]).unwrap();
    let mut command = server.exec(Via::Tcp);
    command
        .args([
            "--emulate",
            "break=3s",
            "--",
            env!("CARGO_BIN_EXE_gtrace-e2e-client"),
            "poll",
        ])
        .env("GTRACE_KERNELS", artefacts::kernels());
    let outcome = process::run(&mut command, LIMIT).unwrap();
    assert!(outcome.stdout.contains("\nerror "), "{outcome}");
    assert!(
        outcome.took < Duration::from_secs(10),
        "it took {:?}",
        outcome.took
    );
}

#[test]
fn a_server_that_is_not_there_is_reported_with_the_remedy() {
    let program = programs::c_program(artefacts(), "vector_add").unwrap();
    let mut command = Command::new(&artefacts().gtrace);
    command
        .args(["exec", "--remote", "unix:/nonexistent/serve.sock", "--"])
        .arg(program)
        .stdin(Stdio::null());
    let outcome = process::run(&mut command, LIMIT).unwrap();
    assert_eq!(outcome.status.code(), Some(3), "{outcome}");
    assert!(outcome.stderr.contains("gtrace serve"), "{outcome}");
    assert_eq!(outcome.stdout, "");
}

#[test]
fn the_exit_status_is_that_of_the_program() {
    let server = Server::start(&artefacts().gtrace, &[], &[]).unwrap();
    for (arguments, status) in [(&["true"][..], 0), (&["sh", "-c", "exit 41"], 41)] {
        let mut command = server.exec(Via::Unix);
        let outcome = process::run(command.arg("--").args(arguments), LIMIT).unwrap();
        assert_eq!(outcome.status.code(), Some(status));
    }
    let mut command = server.exec(Via::Unix);
    let outcome = process::run(command.args(["--", "/nonexistent/program"]), LIMIT).unwrap();
    assert_eq!(outcome.status.code(), Some(127), "{outcome}");
}
