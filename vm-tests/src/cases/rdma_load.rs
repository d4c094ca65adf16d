//! What faults of the fabric happen under: two programs that count their launches, from two threads each,
//! until they are ordered to end.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use gtrace_vm_tests::layout::{GTRACE, RDMA};
use serde_json::{Value, json};

use super::rdma::{TRUSTING, direct, with_kernels};
use crate::guest::process::Killed;
use crate::guest::{Guest, PATIENCE, within};

/// Longer than a client waits between two tries to use the device again.
const AGAIN: Duration = Duration::from_secs(100);
/// Longer than a lane takes to learn that its queue pair has failed, with calls under way.
const NOTICED: Duration = Duration::from_secs(30);
/// Which lanes a fault has give RDMA up, and so are to take it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lanes {
    /// Those that are used: each of them comes back.
    All,
    /// Those that are idle too, which come back with their next call.
    Busy,
}

/// Counts its launches, and checks the bytes that it copies.
const PROGRAM: &str = "steadfast";
const NAMES: [&str; 2] = ["first", "second"];

/// How often a fault happens.
pub(super) fn times(guest: &Guest) -> u32 {
    if guest.long() { 50 } else { 3 }
}

/// One of the programs.
struct Running {
    child: Killed,
    until: PathBuf,
    progress: PathBuf,
    stats: PathBuf,
    output: [PathBuf; 2],
}

impl Running {
    fn start(guest: &Guest, remote: &str, name: &str) -> Result<Self> {
        let file = |kind: &str| guest.scratch().join(format!("{name}.{kind}"));
        let (until, progress, stats) = (file("until"), file("progress"), file("json"));
        for old in [&until, &progress, &stats] {
            let _ = fs::remove_file(old);
        }
        let output = [file("out"), file("err")];
        let mut command = Command::new(GTRACE);
        command
            .args(["exec", "--remote", remote, "--link", "rdma"])
            .args(TRUSTING)
            .arg("--stats-file")
            .arg(&stats)
            .args(["--", &format!("{RDMA}/{PROGRAM}")])
            .env("GTRACE_TEST_UNTIL", &until)
            .env("GTRACE_TEST_PROGRESS", &progress)
            .stdin(Stdio::null())
            .stdout(fs::File::create(&output[0])?)
            .stderr(fs::File::create(&output[1])?);
        let child = with_kernels(&mut command).spawn()?;
        Ok(Self {
            child: Killed(child),
            until,
            progress,
            stats,
            output,
        })
    }

    fn rounds(&self) -> u64 {
        let text = fs::read_to_string(&self.progress).unwrap_or_default();
        text.trim().parse().unwrap_or(0)
    }

    fn log(&self) -> String {
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        self.output.each_ref().map(text).join("")
    }

    fn goes_on(&mut self, from: u64) -> Result<Option<()>> {
        if let Some(status) = self.child.try_wait()? {
            anyhow::bail!("{PROGRAM} has ended: {status}: {}", self.log());
        }
        Ok((self.rounds() >= from + 4).then_some(()))
    }

    fn ended(&mut self) -> Result<ExitStatus> {
        within(PATIENCE, "the program's end", || {
            Ok(self.child.try_wait()?)
        })
    }

    /// What its statistics say, once it has ended as it ends without faults.
    fn finish(mut self) -> Result<Value> {
        let status = self.ended()?;
        ensure!(status.success(), "{status}: {}", self.log());
        let printed = fs::read_to_string(&self.output[0])?;
        ensure!(printed == direct(PROGRAM)?, "it printed {printed}");
        Ok(serde_json::from_slice(&fs::read(&self.stats)?)?)
    }
}

/// The programs, each of which finds out by itself whether a launch was lost or executed twice, and whether a
/// byte is wrong.
pub(super) struct Load(Vec<Running>);

impl Load {
    pub(super) fn start(guest: &Guest, remote: &str) -> Result<Self> {
        let start = |name: &&str| Running::start(guest, remote, name);
        Ok(Self(NAMES.iter().map(start).collect::<Result<_>>()?))
    }

    pub(super) fn rounds(&self) -> Vec<u64> {
        self.0.iter().map(Running::rounds).collect()
    }

    /// Until each has done some more rounds.
    pub(super) fn goes_on(&mut self, what: &str) -> Result<()> {
        let before = self.rounds();
        let done = within(PATIENCE, "further rounds of both programs", || {
            let mut all = true;
            for (program, from) in self.0.iter_mut().zip(&before) {
                all &= program.goes_on(*from)?.is_some();
            }
            Ok(all.then_some(()))
        });
        done.with_context(|| format!("{what}: at rounds {:?} of {before:?} and on", self.rounds()))
    }

    /// Has them end; what their statistics say.
    pub(super) fn finish(self) -> Result<Vec<Value>> {
        for program in &self.0 {
            fs::write(&program.until, "")?;
        }
        self.0.into_iter().map(Running::finish).collect()
    }

    /// Waits until both have ended by the error that is due when the server is gone.
    pub(super) fn fails(mut self) -> Result<()> {
        for program in &mut self.0 {
            let status = program.ended()?;
            let log = program.log();
            ensure!(
                status.code() == Some(1) && log.contains("CUDA_ERROR_DEVICE_UNAVAILABLE"),
                "{status}: {log}"
            );
        }
        Ok(())
    }
}

/// The lanes of both programs, as `gtrace status --remote` shows them.
fn sessions(status: &Value) -> Vec<&Value> {
    let sessions = status["sessions"].as_array();
    sessions.map_or_else(Vec::new, |all| {
        all.iter().map(|one| &one["stats"]).collect()
    })
}

/// Waits until the server shows TCP for both programs, and why it is not RDMA.
pub(super) fn shows_tcp(status: impl FnMut() -> Result<Value>) -> Result<()> {
    shows(NOTICED, "the server reports TCP", status, |stats| {
        let links = stats["links"].to_string();
        links.contains("\"tcp\"") && stats["fallbacks"].to_string().contains("rdma: ")
    })
}

/// Waits until the server shows RDMA alone.
pub(super) fn shows_rdma(status: impl FnMut() -> Result<Value>) -> Result<()> {
    shows(AGAIN, "RDMA alone", status, |stats| {
        stats["links"] == json!(["rdma"])
    })
}

/// Waits until the server shows RDMA again. The lane of each program's first thread, which waits for the others,
/// is idle.
pub(super) fn shows_rdma_again(which: Lanes, status: impl FnMut() -> Result<Value>) -> Result<()> {
    match which {
        Lanes::All => shows_rdma(status),
        Lanes::Busy => shows(AGAIN, "RDMA again", status, |stats| {
            stats["links"].to_string().contains("\"rdma\"")
        }),
    }
}

fn shows(
    limit: Duration,
    what: &str,
    mut status: impl FnMut() -> Result<Value>,
    fits: impl Fn(&Value) -> bool,
) -> Result<()> {
    let mut last = Ok(Value::Null);
    let done = within(limit, what, || {
        last = status();
        // A server that is busy may answer later than `gtrace status` waits.
        let Ok(status) = &last else {
            return Ok(None);
        };
        let sessions = sessions(status);
        let fit = sessions.iter().filter(|stats| fits(stats)).count();
        Ok((fit == NAMES.len()).then_some(()))
    });
    done.with_context(|| match &last {
        Err(error) => format!("the server's status: {error:#}"),
        Ok(status) => {
            let of = |stats: &&Value| format!("{} {}", stats["links"], stats["fallbacks"]);
            let all: Vec<String> = sessions(status).iter().map(of).collect();
            format!("the server shows {}", all.join(", "))
        }
    })
}

/// That lanes gave RDMA up and took it again; in words.
pub(super) fn failed_back(stats: &[Value], which: Lanes) -> Result<String> {
    let mut counts = Vec::new();
    for stats in stats {
        let count = |name: &str| stats[name].as_u64().unwrap_or(0);
        let (failovers, failbacks) = (count("failovers"), count("failbacks"));
        ensure!(
            failovers > 0
                && match which {
                    Lanes::All => failbacks == failovers && stats["link"] == "rdma",
                    Lanes::Busy => failbacks > 0 && failbacks <= failovers,
                },
            "{failovers} times to TCP and {failbacks} times back: {stats}"
        );
        ensure!(
            count("from_page_locked") > 0,
            "nothing was taken from page-locked memory: {stats}"
        );
        let why = &stats["fallbacks"];
        counts.push(format!(
            "{failovers} times to TCP, {failbacks} times back: {why}"
        ));
    }
    Ok(counts.join("; "))
}
