//! What a case has at hand: the machine, daemons, the stub of the driver, the monitor.

pub(crate) mod channel;
pub(crate) mod control;
pub(crate) mod daemon;
pub(crate) mod kmsg;
pub(crate) mod modules;
pub(crate) mod nvrm;
pub(crate) mod outcome;
pub(crate) mod process;
pub(crate) mod real;
pub(crate) mod stub;

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use gtrace_vm_tests::layout::{GTRACE, LONG_ARG, PEER_ARG, SCENARIO_ARG};
use gtrace_vm_tests::protocol::{FromGuest, ToGuest};
use gtrace_vm_tests::scenario::Scenario;
use serde_json::Value;

use self::control::Control;
use self::daemon::Daemon;

/// The case's own directory, empty when it begins.
pub(crate) const SCRATCH: &str = "/run/case";

/// Nothing takes longer in an emulated machine on a busy host, unless it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(45);

/// The machine that a case runs on. There is one a case.
pub(crate) struct Guest {
    control: Option<Control>,
    problems: Problems,
    daemons: u32,
}

/// What went wrong where no error could be returned, in destructors.
pub(crate) type Problems = Rc<RefCell<Vec<String>>>;

impl Guest {
    /// Called by the process of a case.
    pub(crate) fn new() -> Result<Self> {
        Ok(Self {
            control: None,
            problems: Problems::default(),
            daemons: 0,
        })
    }

    /// The case's result, and what went wrong behind its back.
    pub(crate) fn finish(self, done: Result<()>) -> Result<()> {
        let problems = self.problems.borrow().join("\n");
        match done {
            done if problems.is_empty() => done,
            Ok(()) => bail!("{problems}"),
            Err(error) => bail!("{error:#}\n{problems}"),
        }
    }

    /// Whether `--long` was given: repeat a hundred times what is else repeated a few times.
    pub(crate) fn long(&self) -> bool {
        cmdline().is_ok_and(|text| text.split_whitespace().any(|word| word == LONG_ARG))
    }

    /// Major and minor number of the kernel's version.
    pub(crate) fn kernel(&self) -> (u32, u32) {
        let release = rustix::system::uname();
        let release = release.release().to_string_lossy();
        let mut numbers = release.split(['.', '-']).map_while(|n| n.parse().ok());
        (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
    }

    /// A directory for files of the case, empty when it begins.
    pub(crate) fn scratch(&self) -> PathBuf {
        SCRATCH.into()
    }

    /// `gtrace run` with `args`, in a directory of its own; returns when it answers.
    pub(crate) fn daemon(&mut self, args: &[&str]) -> Result<Daemon> {
        self.daemons += 1;
        let dir = self.scratch().join(format!("daemon{}", self.daemons));
        self.daemon_in(&dir, args)
    }

    /// The same with variables in its environment.
    pub(crate) fn daemon_with(&mut self, args: &[&str], env: &[(&str, &str)]) -> Result<Daemon> {
        self.daemons += 1;
        let dir = self.scratch().join(format!("daemon{}", self.daemons));
        Daemon::start(&dir, args, env, Rc::clone(&self.problems))
    }

    /// `gtrace run` with `args` and the state that is in `dir`, if there is any.
    pub(crate) fn daemon_in(&mut self, dir: &Path, args: &[&str]) -> Result<Daemon> {
        Daemon::start(dir, args, &[], Rc::clone(&self.problems))
    }

    /// Runs a command of QEMU's human monitor on the host; what it printed.
    pub(crate) fn monitor(&mut self, command: &str) -> Result<String> {
        let request = FromGuest::Monitor {
            command: command.to_owned(),
        };
        match self.control()?.ask(&request)? {
            ToGuest::Ok { text } => Ok(text),
            ToGuest::Error { text } => bail!("monitor command `{command}`: {}", text.trim()),
            other => bail!("the host said {other} where the monitor's answer was awaited"),
        }
    }

    /// Sends the host a figure or a sign of life; it is shown and, in benchmarks,
    /// read. A case that says nothing for as long as its patience lasts is taken to hang.
    pub(crate) fn note(&mut self, text: impl Into<String>) -> Result<()> {
        let text = text.into();
        self.control()?.say(&FromGuest::Note { text })
    }

    /// Has the machine lose its power, after which the case is run again from its beginning. Never returns.
    pub(crate) fn power_cycle(&mut self) -> Result<()> {
        self.control()?.say(&FromGuest::PowerCycle)?;
        loop {
            std::thread::park();
        }
    }

    fn control(&mut self) -> Result<&mut Control> {
        if self.control.is_none() {
            self.control = Some(Control::open()?);
        }
        self.control.as_mut().context("no way to the host")
    }

    /// insmod(8) of a file, without its dependencies.
    pub(crate) fn insmod(&self, path: impl AsRef<Path>, parameters: &str) -> Result<()> {
        modules::insert(path.as_ref(), parameters)
    }

    /// rmmod(8), the kernel's errno kept: EAGAIN (`WouldBlock`) or EBUSY (`ResourceBusy`) for a
    /// module in use.
    pub(crate) fn rmmod(&self, name: &str) -> std::io::Result<()> {
        modules::remove(name)
    }

    /// Loads a module of the distribution's kernel with what it depends on.
    pub(crate) fn modprobe(&self, name: &str) -> Result<()> {
        modules::load(name)
    }

    /// The kernel's log so far, a record an entry.
    pub(crate) fn dmesg(&self) -> Result<Vec<String>> {
        kmsg::read()
    }

    /// `MemAvailable` of /proc/meminfo, in bytes.
    pub(crate) fn mem_available(&self) -> Result<u64> {
        let text = fs::read_to_string("/proc/meminfo").context("cannot read /proc/meminfo")?;
        text.lines()
            .find_map(|line| line.strip_prefix("MemAvailable:"))
            .and_then(|rest| rest.trim().strip_suffix(" kB")?.parse::<u64>().ok())
            .map(|kib| kib * 1024)
            .context("/proc/meminfo has no MemAvailable")
    }

    /// Bytes of free pages that the kernel keeps in lists of each CPU, which no figure of /proc/meminfo counts: 40 MiB
    /// on two idle CPUs after modules came and went.
    pub(crate) fn free_per_cpu(&self) -> Result<u64> {
        let text = fs::read_to_string("/proc/zoneinfo").context("cannot read /proc/zoneinfo")?;
        let pages: Option<u64> = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("count:"))
            .map(|count| count.trim().parse::<u64>().ok())
            .sum();
        let pages = pages.context("a count of /proc/zoneinfo is no number")?;
        Ok(pages * rustix::param::page_size() as u64)
    }
}

/// Has `gtrace doctor` log, also what the verifier says of a program that it refuses. Without it there is no log.
pub(crate) const LOGGED: [(&str, &str); 1] = [("GTRACE_LOG", "debug")];

/// What `gtrace doctor` reports without a daemon, with variables in its environment, and how it ended.
pub(crate) fn doctor(env: &[(&str, &str)]) -> Result<(Value, Output)> {
    let output = Command::new(GTRACE)
        .args(["doctor", "--json"])
        .envs(env.iter().copied())
        .output()?;
    let report = serde_json::from_slice(&output.stdout).with_context(|| {
        let stderr = String::from_utf8_lossy(&output.stderr);
        format!("no JSON, {}: {stderr}", output.status)
    })?;
    Ok((report, output))
}

/// The kernel's command line.
fn cmdline() -> Result<String> {
    fs::read_to_string("/proc/cmdline").context("cannot read /proc/cmdline")
}

/// Whether this is the second machine of its scenario.
pub(crate) fn is_peer() -> bool {
    cmdline().is_ok_and(|text| text.split_whitespace().any(|word| word == PEER_ARG))
}

/// The scenario that this machine was booted for.
pub(crate) fn scenario() -> Result<Scenario> {
    let cmdline = cmdline()?;
    let name = cmdline
        .split_whitespace()
        .find_map(|word| word.strip_prefix(SCENARIO_ARG))
        .with_context(|| format!("the kernel's command line has no {SCENARIO_ARG}NAME"))?;
    name.parse().map_err(|error: String| anyhow::anyhow!(error))
}

/// Asks until there is an answer, for at most `limit`; `what` completes "in vain: ".
///
/// # Errors
///
/// Those of `attempt`, at once; and that the time is up.
pub(crate) fn within<T>(
    limit: Duration,
    what: &str,
    mut attempt: impl FnMut() -> Result<Option<T>>,
) -> Result<T> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(value) = attempt()? {
            return Ok(value);
        }
        if Instant::now() > deadline {
            bail!("in vain for {} s: {what}", limit.as_secs());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Asks until the answer is the same twice, `apart` from each other, for at most [`PATIENCE`];
/// `what` completes "in vain: ".
///
/// # Errors
///
/// Those of `read`, at once; and that the time is up.
pub(crate) fn stable<T: PartialEq>(
    what: &str,
    apart: Duration,
    mut read: impl FnMut() -> Result<T>,
) -> Result<T> {
    let mut last = read()?;
    within(PATIENCE, what, || {
        std::thread::sleep(apart);
        let before = std::mem::replace(&mut last, read()?);
        Ok((before == last).then_some(()))
    })?;
    Ok(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_that_fails_also_says_what_went_wrong_behind_its_back() {
        let ended = |done: Result<()>| {
            let guest = Guest::new().unwrap();
            let problem = "the daemon ended with signal 11".to_owned();
            guest.problems.borrow_mut().push(problem);
            guest.finish(done).unwrap_err().to_string()
        };
        assert_eq!(ended(Ok(())), "the daemon ended with signal 11");
        let both = ended(Err(anyhow::anyhow!("the disk stays in use")));
        assert_eq!(
            both,
            "the disk stays in use\nthe daemon ended with signal 11"
        );
    }
}
