//! The process of the client, as far as it can be seen from here.
//!
//! A connection that closes may be one that broke, and is waited for. A client that has said that it ends, and one on this
//! host whose process is gone, will not come back: its worker ends at once.

use std::fs;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use gtrace_protocol::ClientHello;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// What is known of it.
#[derive(Debug, Default)]
pub(crate) struct ClientProcess {
    /// It has said that it ends.
    ending: AtomicBool,
    /// Its process, if it runs on this host and can be seen; `None`: it cannot.
    process: OnceLock<Option<OwnedFd>>,
}

impl ClientProcess {
    /// Looks for it, at its first lane.
    pub(crate) fn know(&self, hello: &ClientHello) {
        self.process.get_or_init(|| find(hello));
    }

    /// It has said that it ends.
    pub(crate) fn ends(&self) {
        self.ending.store(true, Ordering::Release);
    }

    /// Whether it is known that it does not come back.
    pub(crate) fn is_gone(&self) -> bool {
        if self.ending.load(Ordering::Acquire) {
            return true;
        }
        let Some(Some(process)) = self.process.get() else {
            return false;
        };
        // Readable once the process has ended (pidfd_open(2)).
        let mut fds = [PollFd::new(process, PollFlags::IN)];
        poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }
}

fn find(hello: &ClientHello) -> Option<OwnedFd> {
    let line = |path: &str| Some(fs::read_to_string(path).ok()?.trim_end().to_owned());
    let boot_id = line("/proc/sys/kernel/random/boot_id")?;
    if boot_id.is_empty() || boot_id != hello.boot_id {
        return None;
    }
    let pid = Pid::from_raw(i32::try_from(hello.pid).ok()?)?;
    let process = pidfd_open(pid, PidfdFlags::empty()).ok()?;
    // In a container it has another number here, and this one is another process: one that has the same number in its own
    // namespace has but one (proc_pid_status(5)).
    let program = line(&format!("/proc/{}/comm", hello.pid))?;
    let status = line(&format!("/proc/{}/status", hello.pid))?;
    let numbers = status
        .lines()
        .find_map(|line| line.strip_prefix("NSpid:"))?;
    let is_here = numbers.split_whitespace().count() == 1;
    (program == hello.program && is_here).then_some(process)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    fn hello(pid: u32, program: &str) -> ClientHello {
        let boot_id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        ClientHello {
            pid,
            program: program.into(),
            boot_id: boot_id.trim_end().into(),
            ..ClientHello::default()
        }
    }

    #[test]
    fn a_process_of_this_host_is_seen_to_end_and_no_other_is_believed() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        // Between fork and exec it has another name.
        while fs::read_to_string(format!("/proc/{}/comm", child.id())).unwrap() != "cat\n" {
            std::thread::yield_now();
        }
        let here = ClientProcess::default();
        here.know(&hello(child.id(), "cat"));
        let other_program = ClientProcess::default();
        other_program.know(&hello(child.id(), "python3"));
        let other_host = ClientProcess::default();
        other_host.know(&ClientHello {
            boot_id: "another".into(),
            ..hello(child.id(), "cat")
        });
        assert!(!here.is_gone());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(here.is_gone());
        assert!(!other_program.is_gone() && !other_host.is_gone());
        other_host.ends();
        assert!(other_host.is_gone());
    }
}
