//! Further processes of a case: this program in the role of a helper.

use std::io::{BufRead as _, BufReader};
use std::ops::{Deref, DerefMut};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::cases;

/// A process that is killed, and waited for, when this is dropped.
pub(crate) struct Killed(pub(crate) Child);

impl Deref for Killed {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for Killed {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A running helper, killed when dropped.
pub(crate) struct Helper {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Helper {
    /// Starts the function among the cases' helpers that has this name, with `args`, in a process
    /// of its own. What it prints to standard output comes by [`Self::line`].
    pub(crate) fn start(name: &str, args: &[&str]) -> Result<Self> {
        if cases::helper(name).is_none() {
            bail!("there is no helper {name:?}: enter it in HELPERS");
        }
        let mut child = Command::new("/proc/self/exe")
            .args(["helper", name])
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start helper {name}"))?;
        let output = child.stdout.take().context("a pipe was asked for")?;
        Ok(Self {
            child,
            lines: BufReader::new(output),
        })
    }

    /// Starts one and waits for its first line.
    pub(crate) fn ready(name: &str, args: &[&str]) -> Result<Self> {
        let mut helper = Self::start(name, args)?;
        helper.line()?;
        Ok(helper)
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next line that it prints.
    pub(crate) fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.lines.read_line(&mut line)? == 0 {
            bail!("the helper ended with {}", self.child.wait()?);
        }
        Ok(line.trim_end().to_owned())
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) -> Result<()> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).context("the helper takes no signal")
    }

    /// Whether it has ended, and how.
    pub(crate) fn ended(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// Waits for its end.
    pub(crate) fn wait(mut self) -> Result<ExitStatus> {
        Ok(self.child.wait()?)
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        // It is not waited for: a helper that hangs in the stub does not end. PID 1 sees to it.
        let _ = self.child.kill();
        let _ = self.child.try_wait();
    }
}
