//! The processes of clients on this host. A worker sees no other process, so the supervisor looks for its client's.

use std::fs;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::control::Client;

/// What is known of a client's process.
#[derive(Debug)]
pub(super) enum Found {
    /// It runs here.
    Process(OwnedFd),
    /// It ran here, and has ended.
    Ended,
    /// It is on another host, in a container, or cannot be seen.
    Unknown,
}

/// The process of `client`, who says that it is on the host with `boot_id` in the PID namespace `theirs`, if these are this
/// host's and this process's.
pub(super) fn find(client: &Client, boot_id: &str, theirs: u64) -> Found {
    let line = |path: &str| Some(fs::read_to_string(path).ok()?.trim_end().to_owned());
    let own = line("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    // In a container it has another number here, and the one that it names is another process, perhaps of the same program.
    let namespace = gtrace_link::pid_namespace();
    if own.is_empty() || own != boot_id || namespace == 0 || namespace != theirs {
        return Found::Unknown;
    }
    let pid = i32::try_from(client.pid).ok().and_then(Pid::from_raw);
    let process = match pid.map(|pid| pidfd_open(pid, PidfdFlags::empty())) {
        Some(Ok(process)) => process,
        Some(Err(Errno::SRCH)) => return Found::Ended,
        _ => return Found::Unknown,
    };
    // That /proc shows this namespace: one of its own processes has one number there (proc_pid_status(5)).
    let is_it = || {
        let program = line(&format!("/proc/{}/comm", client.pid))?;
        let status = line(&format!("/proc/{}/status", client.pid))?;
        let numbers = status
            .lines()
            .find_map(|line| line.strip_prefix("NSpid:"))?;
        Some(program == client.program && numbers.split_whitespace().count() == 1)
    };
    match is_it() {
        Some(true) => Found::Process(process),
        _ => Found::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::client::ClientProcess;
    use std::process::{Command, Stdio};

    fn client(pid: u32, program: &str) -> Client {
        Client {
            pid,
            program: program.into(),
            ..Client::default()
        }
    }

    #[test]
    fn a_process_of_this_host_is_seen_to_end_and_no_other_is_believed() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        // Between fork and exec it has another name.
        while fs::read_to_string(format!("/proc/{}/comm", child.id())).unwrap() != "cat\n" {
            std::thread::yield_now();
        }
        let boot_id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        let boot_id = boot_id.trim_end();
        let namespace = gtrace_link::pid_namespace();
        let here = ClientProcess::default();
        let find = |program: &str, boot_id: &str, namespace: u64| {
            super::find(&client(child.id(), program), boot_id, namespace)
        };
        match find("cat", boot_id, namespace) {
            Found::Process(process) => here.know(process),
            other => panic!("{other:?}"),
        }
        assert!(matches!(
            find("python3", boot_id, namespace),
            Found::Unknown
        ));
        assert!(matches!(find("cat", "another", namespace), Found::Unknown));
        // Of the same name and number, in a container of this host.
        assert!(matches!(
            find("cat", boot_id, namespace + 1),
            Found::Unknown
        ));
        assert!(!here.is_gone());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(here.is_gone());
        // Killed before anybody looked.
        let ended = super::find(&client(child.id(), "cat"), boot_id, namespace);
        assert!(matches!(ended, Found::Ended));
        let other = ClientProcess::default();
        assert!(!other.is_gone());
        other.ends();
        assert!(other.is_gone());
    }
}
