//! A program in C that calls a driver's library and counts by itself what it did.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "tests only; each test file uses a part of it"
)]

#[path = "process.rs"]
mod process;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

/// Compiles the program into `dir`.
pub fn compile(dir: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../uprobes/tests/support/caller.c");
    let built = dir.join("caller");
    let status = Command::new("cc")
        .args(["-O1", "-o"])
        .args([&built, &source])
        .args(["-ldl", "-lpthread"])
        .status();
    assert!(status.unwrap().success());
    built
}

/// Puts the CPU emulator into `dir` under the driver's name: what the binary carries, as its build made it.
pub fn library(dir: &Path) -> PathBuf {
    let library = dir.join("libcuda.so.1");
    let built = Path::new(env!("GTRACE_LIBRARIES")).join("libgtrace_softgpu.so");
    std::fs::copy(built, &library).unwrap();
    library
}

pub use process::Running;

/// Lines up to and with one that contains `last`.
pub fn lines_until(
    lines: &mut impl Iterator<Item = std::io::Result<String>>,
    last: &str,
) -> Vec<String> {
    let mut found = Vec::new();
    for line in lines {
        let line = line.unwrap();
        let done = line.contains(last);
        found.push(line);
        if done {
            return found;
        }
    }
    panic!("it ended before {last:?}, after {found:?}");
}

/// The running program.
pub struct Caller {
    pub process: Running,
    input: ChildStdin,
    stdout_lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Caller {
    pub fn spawn(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = Running(command.spawn().unwrap());
        Self {
            input: process.0.stdin.take().unwrap(),
            stdout_lines: BufReader::new(process.0.stdout.take().unwrap()).lines(),
            process,
        }
    }

    pub fn pid(&self) -> u32 {
        self.process.0.id()
    }

    pub fn until(&mut self, last: &str) -> Vec<String> {
        lines_until(&mut self.stdout_lines, last)
    }

    /// Lets it go on from where it waits.
    pub fn go_on(&mut self) {
        self.input.write_all(b"\n").unwrap();
    }

    /// Has it read no more, and waits for its end.
    pub fn end(mut self) -> std::process::ExitStatus {
        drop(self.input);
        self.process.0.wait().unwrap()
    }

    /// What it did until it waits for the last time: calls, errors and bytes by function.
    pub fn deeds(&mut self) -> BTreeMap<String, [u64; 3]> {
        let lines = self.until("end");
        let mut deeds = BTreeMap::new();
        for line in lines.iter().filter(|line| line.starts_with("cu")) {
            let mut words = line.split(' ');
            let name = words.next().unwrap().to_owned();
            let numbers: Vec<u64> = words.map(|word| word.parse().unwrap()).collect();
            deeds.insert(name, <[u64; 3]>::try_from(numbers).unwrap());
        }
        assert!(deeds.len() > 4, "{lines:?}");
        deeds
    }
}
