//! The sending half.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};

use super::{PIECE, Shared, locked};
use crate::buffer::OutBuffer;
use crate::channel::OUT_MOST;
use crate::link::{LinkError, Tx};
use crate::wait::poll;

/// Between two checks for room while another thread reads what says that there is some.
const POLL: Duration = Duration::from_millis(2);

pub(super) struct ResumeTx {
    shared: Arc<Shared>,
    out: OutBuffer,
}

impl ResumeTx {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            out: OutBuffer::default(),
        }
    }

    /// Keeps `bytes` and sends them; waits only if nothing more can be kept.
    fn put(shared: &Shared, mut bytes: &[u8]) -> Result<(), LinkError> {
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
            outlet.kept.push(now);
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
        Self::put(&self.shared, rest)
    }

    fn flush(&mut self) -> Result<(), LinkError> {
        let put = Self::put(&self.shared, self.out.committed());
        self.out.clear();
        put
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
            false if self.pending() > 0 => self.flush(),
            false => Ok(()),
        }
    }
}
