//! The sending half.

// Bytes of a caller that are lent until it takes them back.
#![allow(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};

use super::kept::TOGETHER;
use super::outlet::PIECE;
use super::{Shared, locked};
use crate::buffer::OutBuffer;
use crate::channel::OUT_MOST;
use crate::link::{LinkError, Tx};
use crate::wait::poll;

/// Between two checks for room while another thread reads what says that there is some.
const POLL: Duration = Duration::from_millis(2);

/// Fewer bytes are copied sooner than it is found out which of them were read.
const LENT_MIN: usize = 64 << 10;

/// How bytes are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// In a copy.
    Copied,
    /// Where they are, as long as the caller promises.
    Lent,
    /// Where they are, until the other side has read them.
    Stable,
}

pub(super) struct ResumeTx {
    shared: Arc<Shared>,
    out: OutBuffer,
    /// The connection was not given all that is kept, as its socket was full.
    left: bool,
}

impl ResumeTx {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            out: OutBuffer::default(),
            left: false,
        }
    }

    /// Keeps `bytes` and sends them, unless they are few and `more` follow, with which they go. Waits only if nothing more
    /// can be kept.
    fn put(shared: &Shared, mut bytes: &[u8], keep: Keep, more: bool) -> Result<(), LinkError> {
        let more = more && bytes.len() <= TOGETHER;
        while !bytes.is_empty() {
            let mut outlet = locked(&shared.outlet);
            shared.forget(&mut outlet)?;
            let room = usize::try_from(outlet.sent.room()).unwrap_or(usize::MAX);
            let (now, later) = bytes.split_at(bytes.len().min(PIECE).min(room));
            if now.is_empty() {
                let attempt = outlet.attempt;
                drop(outlet);
                Self::wait_for_room(shared, attempt)?;
                continue;
            }
            match keep {
                Keep::Copied => outlet.kept.push(now),
                // SAFETY: the promise of whoever asks for it; `Drop` and `take_back` see to its end.
                Keep::Lent | Keep::Stable => unsafe {
                    outlet.kept.lend(now, keep == Keep::Stable);
                },
            }
            outlet.sent.add(now.len() as u64);
            bytes = later;
            if shared.severed.load(Ordering::Acquire) {
                drop(outlet);
                shared.check()?;
                continue;
            }
            if more && bytes.is_empty() {
                return Ok(());
            }
            let (given, attempt) = (shared.give(&mut outlet), outlet.attempt);
            drop(outlet);
            if let Err(error) = given {
                shared.broke(attempt, error)?;
                shared.check()?;
            }
        }
        Ok(())
    }

    /// Sends what was committed, and `body` behind it.
    fn put_behind(&mut self, body: &[u8], keep: Keep) -> Result<(), LinkError> {
        let put = Self::put(
            &self.shared,
            self.out.committed(),
            Keep::Copied,
            !body.is_empty(),
        );
        self.out.clear();
        put?;
        let keep = match body.len() < LENT_MIN {
            true => Keep::Copied,
            false => keep,
        };
        Self::put(&self.shared, body, keep, false)
    }

    /// Waits a moment for the other side to read.
    fn wait_for_room(shared: &Shared, attempt: u32) -> Result<(), LinkError> {
        if shared.severed.load(Ordering::Acquire) {
            return shared.wait_attached(attempt, None);
        }
        // Each waits for the other where both have read much and not said so.
        if shared.owes(shared.acknowledge_every) {
            shared.acknowledge();
        }
        let deadline = std::time::Instant::now() + POLL;
        match shared.listen()? {
            Some(channel) if shared.peer_read_grew() => drop(channel),
            Some(channel) => {
                let socket = channel.socket();
                let mut fds = [PollFd::new(&socket.fd, PollFlags::IN)];
                let _ = poll(&mut fds, Some(deadline));
                drop(channel);
                shared.look();
            }
            // Another thread reads.
            None => std::thread::sleep(POLL),
        }
        Ok(())
    }
}

impl Shared {
    /// Gives the connection what it was not given for want of room.
    fn give_rest(&self) -> Result<(), LinkError> {
        if self.severed.load(Ordering::Acquire) {
            return self.check();
        }
        let mut outlet = locked(&self.outlet);
        let (given, attempt) = (self.give(&mut outlet), outlet.attempt);
        drop(outlet);
        match given {
            Ok(()) => Ok(()),
            Err(error) => {
                self.broke(attempt, error)?;
                self.check()
            }
        }
    }

    /// Whether there is room by now.
    fn peer_read_grew(&self) -> bool {
        let outlet = locked(&self.outlet);
        self.peer_read.load(Ordering::Acquire) > outlet.sent.read()
    }

    /// The error of a lane that does not go on.
    pub(super) fn check(&self) -> Result<(), LinkError> {
        let mut fate = self.fate();
        fate.life.pass(self.now());
        match fate.life.state() {
            gtrace_protocol::Attachment::Dead(death) => Err(self.epitaph(&fate, death)),
            _ => Ok(()),
        }
    }
}

impl Tx for ResumeTx {
    #[inline]
    fn reserve(&mut self, len: usize) -> Result<&mut [u8], LinkError> {
        if self.pending() > 0 && self.pending() + len > OUT_MOST {
            self.flush()?;
        }
        Ok(self.out.reserve(len))
    }

    #[inline]
    fn commit(&mut self, len: usize) {
        self.out.commit(len);
    }

    fn bulk(&mut self, body: &[u8]) -> Result<(), LinkError> {
        // SAFETY: the bytes stay as they are until this returns.
        let put = unsafe { self.bulk_lent(body) };
        self.take_back(Some(body));
        put
    }

    unsafe fn bulk_lent(&mut self, body: &[u8]) -> Result<(), LinkError> {
        self.put_behind(body, Keep::Lent)
    }

    unsafe fn bulk_stable(&mut self, body: &[u8]) -> Result<(), LinkError> {
        self.put_behind(body, Keep::Stable)
    }

    fn lends(&self) -> bool {
        true
    }

    fn is_lent(&mut self, memory: &[u8]) -> bool {
        let is_lent = || {
            let mut outlet = locked(&self.shared.outlet);
            // An error is found by the next call too.
            let _ = self.shared.forget(&mut outlet);
            outlet.kept.is_lent(memory)
        };
        is_lent() && {
            let _ = self.shared.hear();
            is_lent()
        }
    }

    fn take_back(&mut self, memory: Option<&[u8]>) {
        // Those that were sent last are copied first, while the other side reads the first ones.
        loop {
            let _ = self.shared.hear();
            let mut outlet = locked(&self.shared.outlet);
            let _ = self.shared.forget(&mut outlet);
            if !outlet.kept.take_back_last(memory, false) {
                return;
            }
        }
    }

    fn flush(&mut self) -> Result<(), LinkError> {
        let had = self.pending() > 0;
        let put = self.put_behind(&[], Keep::Copied);
        if std::mem::take(&mut self.left) && !had {
            put?;
            return self.shared.give_rest();
        }
        put
    }

    fn flush_some(&mut self) -> Result<bool, LinkError> {
        let shared = &self.shared;
        let mut outlet = locked(&shared.outlet);
        shared.forget(&mut outlet)?;
        let room = usize::try_from(outlet.sent.room()).unwrap_or(usize::MAX);
        let len = self.pending().min(room);
        outlet.kept.push(&self.out.committed()[..len]);
        outlet.sent.add(len as u64);
        self.out.sent(len);
        if shared.severed.load(Ordering::Acquire) {
            drop(outlet);
            shared.check()?;
            // Given to the connection that comes.
            return Ok(self.pending() == 0);
        }
        let (given, attempt) = (shared.give_some(&mut outlet), outlet.attempt);
        drop(outlet);
        match given {
            Ok(all) => {
                self.left = !all;
                Ok(all && self.pending() == 0)
            }
            Err(error) => {
                shared.broke(attempt, error)?;
                shared.check()?;
                Ok(self.pending() == 0)
            }
        }
    }

    #[inline]
    fn pending(&self) -> usize {
        self.out.committed().len()
    }

    fn failover_pending(&self) -> bool {
        self.shared.severed.load(Ordering::Acquire)
    }

    fn poll_completions(&mut self) -> Result<(), LinkError> {
        self.shared.look();
        match self.shared.severed.load(Ordering::Acquire) {
            true => {
                self.shared.retry_attaching();
                self.shared.check()
            }
            // Nobody else flushes what `failover_pending` had them leave.
            false if self.pending() > 0 => self.flush_some().map(drop),
            false => Ok(()),
        }
    }
}

impl Drop for ResumeTx {
    fn drop(&mut self) {
        let mut outlet = locked(&self.shared.outlet);
        while outlet.kept.take_back_last(None, true) {}
    }
}
