//! The process whose calls are traced.

use std::path::{Path, PathBuf};

use gtrace_engine::process;

/// Why there is nothing to trace.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTarget {
    /// No process has the number.
    #[error("there is no process {0}")]
    Missing(u32),
    /// The number is a thread's.
    #[error("{tid} is a thread of process {pid} ({name}): trace the process, --pid {pid}")]
    Thread {
        /// The number.
        tid: u32,
        /// Its process.
        pid: u32,
        /// The name of that.
        name: String,
    },
    /// It waits to be reaped.
    #[error("process {0} has ended: only its exit status is left, for its parent to ask for")]
    Ended(u32),
}

/// A process that lives.
#[derive(Debug)]
pub struct Target {
    /// Its directory in procfs.
    dir: PathBuf,
}

impl Target {
    /// Process `pid` of the procfs at `proc_root`.
    ///
    /// # Errors
    /// If there is none, or the number is that of a thread: /proc has a directory for each, and
    /// the probes would find no call of such a process.
    pub fn find(proc_root: &Path, pid: u32) -> Result<Self, NoTarget> {
        let dir = proc_root.join(pid.to_string());
        let status = Status::read(&dir).ok_or(NoTarget::Missing(pid))?;
        if status.tgid != pid {
            let whole = proc_root.join(status.tgid.to_string());
            return Err(NoTarget::Thread {
                tid: pid,
                pid: status.tgid,
                name: process::comm(&whole).unwrap_or_else(|| "?".to_owned()),
            });
        }
        match status.has_ended() {
            true => Err(NoTarget::Ended(pid)),
            false => Ok(Self { dir }),
        }
    }

    /// Whether it can make further calls.
    pub fn is_alive(&self) -> bool {
        Status::read(&self.dir).is_some_and(|status| !status.has_ended())
    }
}

/// The content of /proc/PID/status (proc_pid_status(5)).
#[derive(Debug, PartialEq, Eq)]
struct Status {
    tgid: u32,
    state: char,
    threads: u32,
}

impl Status {
    fn read(dir: &Path) -> Option<Self> {
        // Not as text: the name in the first line can be any bytes.
        let text = std::fs::read(dir.join("status")).ok()?;
        Self::parse(&String::from_utf8_lossy(&text))
    }

    fn parse(text: &str) -> Option<Self> {
        let field = |name| text.lines().find_map(|line| line.strip_prefix(name));
        Some(Self {
            tgid: field("Tgid:")?.trim().parse().ok()?,
            state: field("State:")?.trim().chars().next()?,
            threads: field("Threads:")?.trim().parse().ok()?,
        })
    }

    /// A process whose first thread has ended is shown as a zombie too, while others run on.
    fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X') && self.threads <= 1
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use super::*;

    fn proc() -> &'static Path {
        Path::new("/proc")
    }

    #[test]
    fn a_thread_is_refused_and_its_process_named() {
        let own = std::process::id();
        assert!(Target::find(proc(), own).unwrap().is_alive());
        let tid = std::thread::spawn(move || {
            let link = std::fs::read_link("/proc/thread-self").unwrap();
            let tid: u32 = link.file_name().unwrap().to_str().unwrap().parse().unwrap();
            (tid, Target::find(proc(), tid).unwrap_err())
        });
        let (tid, refused) = tid.join().unwrap();
        let text = refused.to_string();
        for part in [
            format!("{tid} is a thread of process {own} ("),
            format!("--pid {own}"),
        ] {
            assert!(text.contains(&part), "{part} is not in {text}");
        }
        let nobody = Target::find(proc(), u32::MAX).unwrap_err();
        assert_eq!(nobody, NoTarget::Missing(u32::MAX));
    }

    #[test]
    fn a_process_that_waits_to_be_reaped_has_ended() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let target = Target::find(proc(), child.id()).unwrap();
        assert!(target.is_alive());
        child.kill().unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        while target.is_alive() {
            assert!(Instant::now() < deadline, "a zombie counts as alive");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(proc().join(child.id().to_string()).exists(), "not reaped");
        let refused = Target::find(proc(), child.id()).unwrap_err();
        assert_eq!(refused, NoTarget::Ended(child.id()));
        child.wait().unwrap();
        assert!(!target.is_alive());
    }

    #[test]
    fn a_process_without_its_first_thread_lives() {
        let text = |state, threads| {
            format!("Name:\tpython\nState:\t{state}\nTgid:\t42\nPid:\t42\nThreads:\t{threads}\n")
        };
        let ended = |state, threads| Status::parse(&text(state, threads)).unwrap().has_ended();
        assert!(!ended("Z (zombie)", 3));
        assert!(ended("Z (zombie)", 1));
        assert!(ended("X (dead)", 0));
        assert!(!ended("S (sleeping)", 1));
        assert_eq!(Status::parse("Name:\tx\nTgid:\t42\n"), None);
    }
}
