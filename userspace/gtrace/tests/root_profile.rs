//! `gtrace profile --pid`, saved: needs root and a kernel with uprobes. The program calls the CPU emulator's library.
#![allow(clippy::unwrap_used, reason = "only tests use it")]

#[path = "support/caller.rs"]
mod caller;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use caller::{Caller, Running, lines_until};
use gtrace_profile::{Layer, hlog, json};

#[test]
fn root_a_saved_profile_of_cuda_calls_is_what_the_program_did() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: needs root");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let library = caller::library(dir.path());
    let mut command = Command::new(caller::compile(dir.path()));
    let mut program = Caller::spawn(command.arg(&library).args(["many", "300"]));
    program.until("open");

    let profile = Command::new(env!("CARGO_BIN_EXE_gtrace"))
        .args(["profile", "--budget", "0", "--out", "calls.json", "--pid"])
        .arg(program.pid().to_string())
        .current_dir(dir.path())
        .stderr(Stdio::piped())
        .spawn();
    let mut profile = Running(profile.unwrap());
    let mut lines = BufReader::new(profile.0.stderr.take().unwrap()).lines();
    lines_until(&mut lines, "functions of");
    program.go_on();
    let done = program.deeds();
    let pid = program.pid();
    drop(program);
    // It ends with the process.
    assert!(
        profile.0.wait().unwrap().success(),
        "{:?}",
        lines.collect::<Vec<_>>()
    );

    let file = std::fs::File::open(dir.path().join("calls.json")).unwrap();
    let saved = json::read(file).unwrap();
    let mut seen = BTreeMap::new();
    for (key, counts) in &saved.rows {
        assert_eq!((key.layer, key.process.pid), (Layer::Api, pid));
        assert_eq!(key.process.comm, "caller");
        assert_eq!(counts.histogram.count(), counts.calls, "{}", key.function);
        let numbers = [Some(counts.calls), counts.errors, counts.bytes].map(Option::unwrap);
        seen.insert(key.function.clone(), numbers);
    }
    assert_eq!(done, seen, "calls, errors and bytes by function");

    let show = Command::new(env!("CARGO_BIN_EXE_gtrace"))
        .args(["profile", "show", "calls.json", "--out", "calls.hlog"])
        .current_dir(dir.path())
        .status();
    assert!(show.unwrap().success());
    let file = std::fs::File::open(dir.path().join("calls.hlog")).unwrap();
    let log = hlog::read(BufReader::new(file)).unwrap();
    assert_eq!(log.rows.len(), saved.rows.len());
}

/// The probes would see no call of a process by that number, as in a container.
#[test]
fn root_in_a_pid_namespace_of_its_own_a_process_is_refused_with_the_remedy() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: needs root");
        return;
    }
    for arguments in [
        &["profile", "--pid", "1"][..],
        &["trace", "--driver", "--pid", "1"],
    ] {
        let output = Command::new("unshare")
            .args(["--pid", "--fork", "--mount-proc", "--kill-child"])
            .arg(env!("CARGO_BIN_EXE_gtrace"))
            .args(arguments)
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{message}");
        assert!(message.contains("--pid=host"), "{message}");
    }
}
