//! Processes that end with the benchmark, however that ends.

use std::io;
use std::process::{Child, ChildStderr, ChildStdout, Command};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::cleanup::{self, Deferred};
use crate::machine::{field, kib};
use crate::sys;

/// A process is given so long to end when it is asked to.
const END_WITHIN: Duration = Duration::from_secs(10);

/// Asks a child to end that nobody will wait for, and gives it time to: what it writes to is
/// removed next.
fn end_by_signal(pid: u32) {
    sys::terminate(pid);
    let until = Instant::now() + END_WITHIN;
    while Instant::now() < until {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        if stat
            .rsplit_once(") ")
            .is_none_or(|(_, state)| state.starts_with('Z'))
        {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    kill: Option<Deferred>,
}

impl Process {
    pub(crate) fn start(command: &mut Command) -> anyhow::Result<Self> {
        let child = command.spawn().with_context(|| {
            format!(
                "{} cannot be started",
                command.get_program().to_string_lossy()
            )
        })?;
        let pid = child.id();
        let kill = cleanup::defer(move || end_by_signal(pid));
        Ok(Self {
            child,
            kill: Some(kill),
        })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn stderr(&mut self) -> anyhow::Result<ChildStderr> {
        self.child
            .stderr
            .take()
            .context("its standard error is no pipe")
    }

    pub(crate) fn stdout(&mut self) -> anyhow::Result<ChildStdout> {
        self.child
            .stdout
            .take()
            .context("no pipe from standard output")
    }

    /// Whether it has ended by itself.
    pub(crate) fn has_ended(&mut self) -> io::Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Memory and CPU time now.
    pub(crate) fn usage(&self) -> anyhow::Result<Usage> {
        usage_of(self.pid())
    }

    /// Its child processes.
    pub(crate) fn children(&self) -> anyhow::Result<Vec<u32>> {
        let mut children = Vec::new();
        for task in std::fs::read_dir(format!("/proc/{}/task", self.pid()))? {
            // A thread may have ended meanwhile.
            let text = std::fs::read_to_string(task?.path().join("children")).unwrap_or_default();
            children.extend(
                text.split_whitespace()
                    .filter_map(|pid| pid.parse::<u32>().ok()),
            );
        }
        Ok(children)
    }

    /// How often its threads have been woken, those that have ended left out.
    pub(crate) fn wakeups(&self) -> anyhow::Result<u64> {
        let mut wakeups = 0;
        for task in std::fs::read_dir(format!("/proc/{}/task", self.pid()))? {
            // A thread may have ended meanwhile.
            let text = std::fs::read_to_string(task?.path().join("status")).unwrap_or_default();
            wakeups += waits_of(&text);
        }
        Ok(wakeups)
    }

    /// Kernel memory of the BPF maps that the process has open, in bytes, each map once.
    pub(crate) fn map_bytes(&self) -> anyhow::Result<u64> {
        let mut maps = Vec::new();
        for entry in std::fs::read_dir(format!("/proc/{}/fdinfo", self.pid()))? {
            // A descriptor may be closed meanwhile.
            let text = std::fs::read_to_string(entry?.path()).unwrap_or_default();
            maps.extend(map_of(&text));
        }
        maps.sort_unstable();
        maps.dedup_by_key(|(id, _)| *id);
        Ok(maps.iter().map(|(_, bytes)| bytes).sum())
    }
}

/// How often the thread with this status file has waited: as often it was woken.
fn waits_of(status: &str) -> u64 {
    let waits = field(status, "voluntary_ctxt_switches");
    waits.and_then(|waits| waits.parse().ok()).unwrap_or(0)
}

/// Id and memory of the BPF map that an fdinfo file is about.
fn map_of(fdinfo: &str) -> Option<(u64, u64)> {
    let value = |key: &str| {
        let line = fdinfo.lines().find_map(|line| line.strip_prefix(key));
        line?.trim().parse::<u64>().ok()
    };
    // Programs have a memlock line too.
    Some((value("map_id:")?, value("memlock:")?))
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(kill) = self.kill.take() {
            kill.cancel();
        }
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        sys::terminate(self.pid());
        let until = Instant::now() + END_WITHIN;
        while Instant::now() < until {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        eprintln!(
            "gtrace-bench: process {} does not end; it is killed",
            self.pid()
        );
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Memory and CPU time of a process now, by its number.
pub(crate) fn usage_of(pid: u32) -> anyhow::Result<Usage> {
    let read = |file: &str| {
        let path = format!("/proc/{pid}/{file}");
        std::fs::read_to_string(&path).with_context(|| format!("{path} cannot be read"))
    };
    Ok(Usage {
        rss_anon_kib: kib(&read("status")?, "RssAnon"),
        pss_kib: kib(&read("smaps_rollup")?, "Pss"),
        cpu_ns: sys::cpu_ns(pid).context("CPU clock of a process")?,
        at: Instant::now(),
    })
}

/// Memory and CPU time of a process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    pub(crate) rss_anon_kib: u64,
    pub(crate) pss_kib: u64,
    cpu_ns: u64,
    at: Instant,
}

impl Usage {
    pub(crate) fn rss_anon_mib(&self) -> f64 {
        self.rss_anon_kib as f64 / 1024.0
    }

    pub(crate) fn pss_mib(&self) -> f64 {
        self.pss_kib as f64 / 1024.0
    }

    /// Share of one core since `before`, in percent.
    pub(crate) fn core_percent(&self, before: &Self) -> f64 {
        let used = self.cpu_ns.saturating_sub(before.cpu_ns) as f64 / 1e9;
        used / self.at.duration_since(before.at).as_secs_f64() * 100.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_distinguished_from_programs() {
        let map = "pos:\t0\nmap_type:\t27\nmap_id:\t12\nmemlock:\t8454144\n";
        assert_eq!(map_of(map), Some((12, 8_454_144)));
        assert_eq!(map_of("prog_type:\t5\nmemlock:\t4096\nprog_id:\t3\n"), None);
    }

    #[test]
    fn waits_are_those_that_a_thread_chose() {
        let status =
            "Threads:\t1\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t545\n";
        assert_eq!(waits_of(status), 150);
        assert_eq!(waits_of("Threads:\t1\n"), 0);
    }

    #[test]
    fn usage_of_a_process_is_read_and_it_ends_with_its_handle() {
        let process = Process::start(Command::new("sleep").arg("60")).unwrap();
        let path = format!("/proc/{}", process.pid());
        let usage = process.usage().unwrap();
        assert!(usage.pss_kib > 0);
        assert!(process.usage().unwrap().core_percent(&usage) >= 0.0);
        drop(process);
        assert!(!std::path::Path::new(&path).exists());
    }
}
