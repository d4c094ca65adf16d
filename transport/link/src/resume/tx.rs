//! The sending half.

// Bytes of a caller that are lent for as long as its call lasts.
#![allow(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};

use super::{PIECE, Shared, locked, send_all};
use crate::buffer::OutBuffer;
use crate::channel::OUT_MOST;
use crate::link::{LinkError, Tx};
use crate::wait::poll;

/// Between two checks for room while another thread reads what says that there is some.
const POLL: Duration = Duration::from_millis(2);

/// Fewer bytes are copied sooner than it is found out which of them were read.
const LENT_MIN: usize = 256 << 10;

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

    /// Keeps `bytes` and sends them; waits only if nothing more can be kept. `lent`: they were lent to it.
    fn put(shared: &Shared, mut bytes: &[u8], lent: bool) -> Result<(), LinkError> {
        while !bytes.is_empty() {
            if lent {
                shared.hear()?;
            }
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
            match lent {
                true => outlet.kept.begin(now.len()),
                false => outlet.kept.push(now),
            }
            outlet.sent.add(now.len() as u64);
            bytes = later;
            if shared.severed.load(Ordering::Acquire) {
                drop(outlet);
                shared.check()?;
                continue;
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

    /// As [`Self::put`], of many bytes: only those are copied that the other side has not read when all are sent.
    fn put_many(shared: &Shared, bytes: &[u8]) -> Result<(), LinkError> {
        /// Takes them back however the call ends.
        struct Lent<'a>(&'a Shared);
        impl Drop for Lent<'_> {
            fn drop(&mut self) {
                let mut outlet = locked(&self.0.outlet);
                // An error is found by the next call too.
                let _ = self.0.forget(&mut outlet);
                outlet.kept.take_back();
            }
        }
        if bytes.len() < LENT_MIN {
            return Self::put(shared, bytes, false);
        }
        let lent = Lent(shared);
        // SAFETY: the caller's bytes stay as they are until this returns.
        unsafe { locked(&shared.outlet).kept.lend(bytes) };
        let put = Self::put(shared, bytes, true).and_then(|()| shared.hear());
        drop(lent);
        put
    }

    /// Waits a moment for the other side to read.
    fn wait_for_room(shared: &Shared, attempt: u32) -> Result<(), LinkError> {
        if shared.severed.load(Ordering::Acquire) {
            return shared.wait_attached(attempt, None);
        }
        // Each waits for the other where both have read much and not said so.
        if shared.owes() {
            shared.tell();
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
        let given = self.give(&mut outlet);
        // With nothing to give, what the channel took and its socket did not is still to go.
        let given = given.and_then(|()| match outlet.channel.clone() {
            Some(channel) => send_all(&*channel, &[], &[]),
            None => Ok(()),
        });
        let attempt = outlet.attempt;
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
    fn check(&self) -> Result<(), LinkError> {
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
        // The header goes with the first bytes.
        let (first, rest) = body.split_at(body.len().min(OUT_MOST));
        self.out.reserve(first.len()).copy_from_slice(first);
        self.out.commit(first.len());
        self.flush()?;
        Self::put_many(&self.shared, rest)
    }

    fn flush(&mut self) -> Result<(), LinkError> {
        let put = Self::put(&self.shared, self.out.committed(), false);
        let had = self.pending() > 0;
        self.out.clear();
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
            true => self.shared.check(),
            // Nobody else flushes what `failover_pending` had them leave.
            false if self.pending() > 0 => self.flush_some().map(drop),
            false => Ok(()),
        }
    }
}
