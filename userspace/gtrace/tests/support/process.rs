//! Processes of a test.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// A process that does not outlive the test.
pub struct Running(pub Child);

impl Running {
    /// As `kill -9`.
    pub fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Runs a program to its end: its exit code, and what it printed on standard output and on standard error.
pub fn ended(command: &mut Command) -> (Option<i32>, String, String) {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

/// Starts a program and waits until it prints `marker` on standard error; what follows that, up to a comma.
pub fn start(command: &mut Command, marker: &str) -> (Running, String) {
    let mut child = command
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let child = Running(child);
    let mut printed = Vec::new();
    let found = lines.find_map(|line| {
        let line = line.unwrap();
        let found = line.split_once(marker);
        let found = found.map(|(_, rest)| rest.split(',').next().unwrap().to_owned());
        printed.push(line);
        found
    });
    // Nobody reads on: what it writes must not block it.
    std::thread::spawn(move || lines.for_each(drop));
    let found = found.unwrap_or_else(|| panic!("it does not start: {printed:#?}"));
    (child, found)
}
