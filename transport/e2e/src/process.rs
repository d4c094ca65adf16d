//! Running a program to its end within a time, and looking at one from outside.
#![allow(unsafe_code)] // kill(2)

use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use std::{fmt, fs};

use anyhow::{Context as _, Result, bail};

/// What a program did.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it ended.
    pub status: ExitStatus,
    /// What it printed.
    pub stdout: String,
    /// What it complained of.
    pub stderr: String,
    /// From its start to its end.
    pub took: Duration,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}{}", self.status, self.stdout, self.stderr)
    }
}

/// Runs `command` to its end; after `limit` it is killed, which is an error.
///
/// # Errors
///
/// It could not be started, or took too long; then with what it printed so far.
pub fn run(command: &mut Command, limit: Duration) -> Result<Outcome> {
    let what = format!("{command:?}");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let start = Instant::now();
    let mut child = command
        .spawn()
        .with_context(|| format!("{what} could not be started"))?;
    let stdout = reader(child.stdout.take());
    let stderr = reader(child.stderr.take());
    let status = wait(&mut child, limit)?;
    let took = start.elapsed();
    if status.is_none() {
        let _ = child.kill();
        let _ = child.wait();
    }
    let text = |reader: thread::JoinHandle<Vec<u8>>| {
        String::from_utf8_lossy(&reader.join().unwrap_or_default()).into_owned()
    };
    let (stdout, stderr) = (text(stdout), text(stderr));
    match status {
        Some(status) => Ok(Outcome {
            status,
            stdout,
            stderr,
            took,
        }),
        None => bail!("{what} did not end within {limit:?}; it printed:\n{stdout}\n{stderr}"),
    }
}

fn reader(pipe: Option<impl std::io::Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

/// Waits for `child` up to `limit`; `None` if it runs on.
pub fn wait(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let end = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= end {
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Asks every 20 ms until `done` says so, up to `limit`; whether it did.
pub fn wait_until(limit: Duration, mut done: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + limit;
    loop {
        if done() {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Open descriptors of a process, `None` once it has ended.
pub fn descriptors(pid: u32) -> Option<usize> {
    fs::read_dir(format!("/proc/{pid}/fd"))
        .ok()
        .map(Iterator::count)
}

/// Threads of a process, `None` once it has ended.
pub fn threads(pid: u32) -> Option<usize> {
    fs::read_dir(format!("/proc/{pid}/task"))
        .ok()
        .map(Iterator::count)
}

/// Whether a process runs, one that nobody has waited for yet not included.
pub fn is_running(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit_once(") ")
        .and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| !"ZX".contains(state))
}

/// Ends a process of this program's at once.
pub fn kill(pid: u32) {
    if let Ok(pid) = libc::pid_t::try_from(pid) {
        // SAFETY: takes numbers; a process that has ended is no harm.
        unsafe { libc::kill(pid, libc::SIGKILL) };
    }
}

/// Processes whose parent is `pid`, those not yet waited for included.
pub fn children(pid: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|child| parent(*child) == Some(pid))
        .collect()
}

fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything.
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}
