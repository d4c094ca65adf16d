//! Ends a record of the kernel log that the kernel keeps open for a continuation.
//!
//! A record without a final newline is in /dev/kmsg only once another follows
//! (kernel/printk/printk_ringbuffer.c), though printk:console shows it at once. So the core asks the reader
//! of /dev/kmsg to log a line, by which the record becomes readable with its facility.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::event::{EventfdFlags, eventfd};

/// Between who waits for a record and who reads the log. All clones are one.
#[derive(Clone, Debug)]
pub struct EndRecord(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    asked: OwnedFd,
    newest_ns: AtomicU64,
}

impl EndRecord {
    /// Nothing asked.
    ///
    /// # Errors
    ///
    /// If the process has no file descriptor left.
    pub fn new() -> io::Result<Self> {
        let asked = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self(Arc::new(Shared {
            asked,
            newest_ns: AtomicU64::new(0),
        })))
    }

    /// Asks for the end of the record that was logged at `at_ns` since boot. Never waits.
    pub fn ask(&self, at_ns: u64) {
        self.0.newest_ns.fetch_max(at_ns, Ordering::Relaxed);
        self.wake();
    }

    /// Ends the wait of who reads the log: there is something to read, or it is to end.
    pub fn wake(&self) {
        // Full: it is asked already.
        let _ = rustix::io::write(&self.0.asked, &1_u64.to_ne_bytes());
    }

    /// When the newest record was logged that waits for its end, if that was asked since the last call.
    pub fn take(&self) -> Option<u64> {
        // Nothing to read: nothing is asked.
        let _ = rustix::io::read(&self.0.asked, &mut [0; 8]);
        Some(self.0.newest_ns.swap(0, Ordering::Relaxed)).filter(|&at_ns| at_ns > 0)
    }
}

impl AsFd for EndRecord {
    /// Readable while something is asked.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.asked.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_is_taken_once_and_the_newest_counts() {
        let end = EndRecord::new().unwrap();
        assert_eq!(end.take(), None);
        let asks = end.clone();
        asks.ask(7);
        asks.ask(5);
        assert_eq!(end.take(), Some(7));
        assert_eq!(end.take(), None);
    }

    #[test]
    fn who_is_woken_is_not_asked_for_an_end() {
        let end = EndRecord::new().unwrap();
        end.ask(7);
        assert_eq!(end.take(), Some(7));
        end.wake();
        assert_eq!(end.take(), None);
    }
}
