//! The reading commands, run as a user runs them.
#![allow(clippy::unwrap_used, reason = "only tests use it")]

mod configuration;
mod daemons;
mod events;
#[path = "../support/process.rs"]
mod process;
#[path = "../support/mod.rs"]
mod support;
mod traces;
mod views;

use std::process::{Command, Stdio};

const HOUR: &str = "2026-03-03T04:00:00Z";

fn gtrace(dir: &std::path::Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gtrace"));
    command.args(args).env("GTRACE_STORE", dir.join("store.db"));
    command
        .env("GTRACE_SOCKET", dir.join("socket"))
        .env("GTRACE_LISTEN", "127.0.0.1:1");
    command
        .env("SUDO_USER", "alice")
        .env("TZ", "UTC")
        .stdin(Stdio::null());
    command
}

fn output(dir: &std::path::Path, args: &[&str]) -> (Option<i32>, String, String) {
    process::ended(&mut gtrace(dir, args))
}

/// A command with this environment only.
fn bare(args: &[&str], environment: &[(&str, &std::path::Path)]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gtrace"));
    command.args(args).env_clear().env("USER", "alice");
    command.envs(environment.iter().copied());
    process::ended(command.stdin(Stdio::null()))
}
