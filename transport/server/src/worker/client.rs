//! The process of the client, as far as it can be seen from here.
//!
//! A connection that closes may be one that broke, and is waited for. A client that has said that it ends, and one on this
//! host whose process is gone, will not come back: its worker ends at once.

use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// What is known of it.
#[derive(Debug, Default)]
pub(crate) struct ClientProcess {
    /// It has said that it ends.
    ending: AtomicBool,
    /// Its process, if it runs on this host and the supervisor has found it.
    process: OnceLock<OwnedFd>,
}

impl ClientProcess {
    /// It is this one, on this host.
    pub(crate) fn know(&self, process: OwnedFd) {
        let _ = self.process.set(process);
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
        let Some(process) = self.process.get() else {
            return false;
        };
        // Readable once the process has ended (pidfd_open(2)).
        let mut fds = [PollFd::new(process, PollFlags::IN)];
        poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }
}
