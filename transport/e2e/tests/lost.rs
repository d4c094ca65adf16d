//! Connections that break and servers that die: no call is lost without a word, and what one thread cannot have does the
//! others no harm.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use gtrace_e2e::server::{Server, Via};
use gtrace_e2e::{artefacts, process, programs};
use support::{Talking, artefacts};

/// What a program exits with whose calls are lost, if it was asked to be strict.
const CALLS_LOST: i32 = 74;

fn program(command: &mut Command, name: &str, arguments: &[&str]) {
    command
        .arg("--")
        .arg(programs::c_program(artefacts(), name).unwrap())
        .args(arguments)
        .env("GTRACE_KERNELS", artefacts::kernels())
        .env_remove("CUDA_VISIBLE_DEVICES");
}

#[test]
fn a_copy_to_a_server_that_has_died_is_never_lost_without_a_word() {
    for via in Via::ALL {
        for (arguments, strict) in [(&[][..], true), (&["destroy"][..], false), (&[], false)] {
            let mut server = Server::start(&artefacts().gtrace, &[], &[]).unwrap();
            let mut command = server.exec(via);
            if strict {
                command.arg("--strict-exit");
            }
            program(&mut command, "idle", arguments);
            let mut idle = Talking::start(command);
            idle.wait_for("ready");
            server.kill().unwrap();
            idle.say("go").unwrap();
            let (stdout, stderr, status) = idle.end();
            let name = via.name();
            let is_reported = stderr.contains("may not have been executed");
            assert!(is_reported, "{name}: {stdout}{stderr}");
            assert_eq!(stderr.matches("executed").count(), 1, "{name}: {stderr}");
            assert_eq!(
                status,
                Some(if strict { CALLS_LOST } else { 0 }),
                "{name}: {stderr}"
            );
            if !arguments.is_empty() {
                let destroyed = stdout
                    .lines()
                    .find_map(|line| line.strip_prefix("destroy "));
                assert_ne!(destroyed, Some("0"), "{name}: {stdout}");
            }
        }
    }
}

#[test]
fn a_program_that_loses_nothing_ends_as_it_likes() {
    let server = Server::start(&artefacts().gtrace, &[], &[]).unwrap();
    for via in Via::ALL {
        let mut command = server.exec(via);
        command.arg("--strict-exit");
        program(&mut command, "idle", &[]);
        let mut idle = Talking::start(command);
        idle.wait_for("ready");
        idle.say("go").unwrap();
        let (stdout, stderr, status) = idle.end();
        assert_eq!((stdout.as_str(), status), ("copy 0\n", Some(0)), "{stderr}");
        assert_eq!(stderr, "");
    }
}

/// A way to a server on which single connections can be made to swallow what a client sends, and be reset.
struct Line {
    address: String,
    swallows: Arc<Mutex<Vec<Arc<AtomicBool>>>>,
    streams: Arc<Mutex<Vec<TcpStream>>>,
}

impl Line {
    fn to(server: String) -> Self {
        let swallows = Arc::<Mutex<Vec<Arc<AtomicBool>>>>::default();
        let streams = Arc::<Mutex<Vec<TcpStream>>>::default();
        let (all_swallows, all_streams) = (Arc::clone(&swallows), Arc::clone(&streams));
        let address = support::way_to(server, move |_, client, there| {
            let swallow = Arc::new(AtomicBool::new(false));
            all_swallows.lock().unwrap().push(Arc::clone(&swallow));
            all_streams.lock().unwrap().push(there.try_clone().unwrap());
            let (mut answers, mut back) = (there.try_clone().unwrap(), client.try_clone().unwrap());
            thread::spawn(move || {
                let _ = std::io::copy(&mut answers, &mut back);
                let _ = back.shutdown(Shutdown::Both);
            });
            thread::spawn(move || pass(client, there, &swallow));
        });
        Self {
            address,
            swallows,
            streams,
        }
    }

    /// The newest connection: what its client sends gets nowhere from here on.
    fn swallow(&self) {
        let all = self.swallows.lock().unwrap();
        all.last().unwrap().store(true, Ordering::SeqCst);
    }

    /// And then it breaks, as the server sees it; the client's end stays as it is.
    fn sever(&self) {
        let all = self.streams.lock().unwrap();
        all.last().unwrap().shutdown(Shutdown::Write).unwrap();
    }
}

/// A way to `server` on which the second connection breaks when the server answers: its client never learns that it was
/// let in. The first one is that of `gtrace exec` itself.
fn loses_second_answer(server: String) -> String {
    support::way_to(server, |number, client, there| {
        let (mut answers, mut back) = (there.try_clone().unwrap(), client.try_clone().unwrap());
        let swallow = AtomicBool::new(false);
        thread::spawn(move || pass(client, there, &swallow));
        thread::spawn(move || {
            if number == 1 {
                let mut greeting = [0; gtrace_protocol::GREETING_LEN];
                let _ = answers.read_exact(&mut greeting);
                let _ = back.write_all(&greeting);
                // WELCOME has come this far.
                let _ = answers.read(&mut [0]);
                let _ = answers.shutdown(Shutdown::Both);
            } else {
                let _ = std::io::copy(&mut answers, &mut back);
            }
            let _ = back.shutdown(Shutdown::Both);
        });
    })
}

/// The place that the server keeps for a client which does not know that it was let in is that client's own.
#[test]
fn a_client_that_did_not_learn_that_it_was_let_in_gets_its_place_back() {
    let options = ["--max-clients", "1", "--resume", "2s"];
    let server = Server::start(&artefacts().gtrace, &[], &options).unwrap();
    let mut command = Command::new(&artefacts().gtrace);
    let address = loses_second_answer(server.address(Via::Tcp));
    command.args(["exec", "--remote", &address, "--link", "tcp"]);
    program(&mut command, "vector_add", &[]);
    let outcome = process::run(&mut command, support::LIMIT).unwrap();
    let stderr = outcome.stderr;
    assert!(outcome.status.success(), "{stderr}{}", server.log());
    assert!(stderr.contains("it has no other place"), "{stderr}");
    let status = server.status().unwrap();
    assert!(status["counters"]["refused"]["max_clients"].as_u64() > Some(0));
}

/// The worker of a program ends a moment after the program.
#[test]
fn programs_that_follow_each_other_need_one_place() {
    let server = Server::start(&artefacts().gtrace, &[], &["--max-clients", "1"]).unwrap();
    for via in Via::ALL {
        for _ in 0..4 {
            let mut command = server.exec(via);
            program(&mut command, "vector_add", &[]);
            let outcome = process::run(&mut command, support::LIMIT).unwrap();
            let (stderr, log) = (outcome.stderr, server.log());
            assert!(outcome.status.success(), "{}: {stderr}{log}", via.name());
        }
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, swallow: &AtomicBool) {
    let mut bytes = vec![0; 64 << 10];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if !swallow.load(Ordering::SeqCst) && to.write_all(&bytes[..count]).is_err() {
            return;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

#[test]
fn nobody_reads_what_lacks_a_copy_of_another_thread() {
    let server = Server::start(&artefacts().gtrace, &[], &[]).unwrap();
    let line = Line::to(server.address(Via::Tcp));
    let mut command = Command::new(&artefacts().gtrace);
    command.args(["exec", "--remote", &line.address, "--link", "tcp"]);
    // Else nothing would be lost.
    command.args(["--resume", "0"]);
    program(&mut command, "severed", &[]);
    let mut severed = Talking::start(command);
    severed.wait_for("lane");
    line.swallow();
    severed.say("go").unwrap();
    severed.wait_for("copied");
    line.sever();
    severed.say("go").unwrap();
    let (stdout, stderr, status) = severed.end();
    assert_eq!(
        (stdout.as_str(), status),
        ("result 46\n", Some(0)),
        "{stderr}"
    );
    assert!(stderr.contains("calls of a thread are lost"), "{stderr}");
}

#[test]
fn many_threads_make_their_first_call_at_once() {
    let server = Server::start(&artefacts().gtrace, &[], &[]).unwrap();
    for via in Via::ALL {
        let mut command = server.exec(via);
        program(&mut command, "burst", &["900"]);
        let outcome = process::run(&mut command, support::LIMIT).unwrap();
        let (stdout, stderr) = (outcome.stdout.as_str(), outcome.stderr);
        assert_eq!(
            stdout,
            "none failed, main thread: 5\n",
            "{}: {stderr}",
            via.name()
        );
    }
}

/// Threads for which the program has no descriptors left fail; the others go on, and the message says what is missing.
#[test]
fn a_program_without_descriptors_loses_no_more_than_the_threads_that_want_them() {
    let server = Server::start(&artefacts().gtrace, &[], &[]).unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 64; exec \"$@\"", "sh"]);
    command.arg(&artefacts().gtrace);
    command.args([
        "exec",
        "--remote",
        &server.address(Via::Tcp),
        "--link",
        "tcp",
    ]);
    program(&mut command, "burst", &["200"]);
    let outcome = process::run(&mut command, support::LIMIT).unwrap();
    let stderr = outcome.stderr;
    assert_eq!(outcome.stdout, "some failed, main thread: 5\n", "{stderr}");
    assert!(stderr.contains("ulimit -n"), "{stderr}");
    assert!(!stderr.contains("lost"), "{stderr}");
}

/// A program that closes all its descriptors, those of its connections among them, goes on or fails; it never waits for ever.
#[test]
fn a_program_that_closes_all_descriptors_goes_on_or_fails() {
    let server = Server::start(&artefacts().gtrace, &[], &[]).unwrap();
    for via in Via::ALL {
        for arguments in [&[][..], &["reopened"][..]] {
            let mut command = server.exec(via);
            program(&mut command, "closed", arguments);
            let outcome = process::run(&mut command, support::LIMIT).unwrap();
            let (stdout, stderr) = (outcome.stdout.as_str(), outcome.stderr);
            let name = via.name();
            assert!(outcome.status.success(), "{name}: {stderr}");
            assert!(
                ["goes on: 5\n", "fails: 46\n"].contains(&stdout),
                "{name}: {stdout}{stderr}"
            );
        }
    }
}
