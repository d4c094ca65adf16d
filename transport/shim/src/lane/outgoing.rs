//! The sending half of a lane.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use gtrace_link::{Ender, LinkError, LinkInfo, PinnedRegion, Tx};
use gtrace_protocol::{After, Flags, HEADER_LEN, Header, OpId, control};

use crate::session::Session;
use crate::{clock, stats};

/// The sending half.
pub(crate) struct Outgoing {
    pub(super) session: &'static Session,
    pub(super) number: u16,
    /// Up to which of its frames the records of events are complete, as the server reported last.
    pub(super) watermark: AtomicU64,
    /// Another thread's call waits for what lies here.
    pub(super) hurry: AtomicBool,
    pub(super) end: Ender,
    /// What its link is, and what became of it.
    pub(super) info: LinkInfo,
    pub(super) sending: Mutex<Sending>,
    /// Memories of the program that the link was given bytes of, and may know.
    pub(super) memories: Mutex<HashSet<PinnedRegion>>,
}

pub(super) struct Sending {
    pub(super) tx: Box<dyn Tx>,
    pub(super) seq: u64,
    pub(super) frames: u32,
    pub(super) flushed_ns: u64,
    pub(super) open: bool,
    pub(super) left: stats::Left,
}

impl Sending {
    /// Sends a word of which nobody waits for an answer. If the link is at its end already, the other side knows.
    pub(super) fn say(&mut self, op: OpId) {
        self.seq += 1;
        let header = Header {
            length: HEADER_LEN as u32,
            op,
            seq: self.seq,
            sent_ns: clock::now(),
            flags: Flags::ONE_WAY,
            ..Header::default()
        };
        if let Ok(room) = self.tx.reserve(HEADER_LEN) {
            room[..HEADER_LEN].copy_from_slice(&header.to_bytes());
            self.tx.commit(HEADER_LEN);
            let _ = self.flush();
        }
    }

    /// As [`Sending::flush`], without waiting for the server; what is left is sent with what comes next, or by another call.
    pub(super) fn flush_some(&mut self) -> Result<(), LinkError> {
        self.left.publish();
        if self.tx.flush_some()? {
            self.frames = 0;
            self.flushed_ns = clock::now();
        }
        Ok(())
    }

    pub(super) fn flush(&mut self) -> Result<(), LinkError> {
        self.frames = 0;
        self.flushed_ns = clock::now();
        self.left.publish();
        self.tx.flush()
    }
}

impl Outgoing {
    pub(super) fn new(
        session: &'static Session,
        number: u16,
        tx: Box<dyn Tx>,
        end: Ender,
        info: LinkInfo,
    ) -> Self {
        Self {
            session,
            number,
            watermark: AtomicU64::new(0),
            hurry: AtomicBool::new(false),
            end,
            info,
            sending: Mutex::new(Sending {
                tx,
                seq: 0,
                frames: 0,
                flushed_ns: 0,
                open: true,
                left: stats::Left::default(),
            }),
            memories: Mutex::default(),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Sending> {
        self.sending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends what lies here, unless the owner is about to. It does not wait for a server that reads nothing: other lanes would
    /// wait too.
    ///
    /// True if something lay here or may come at once.
    pub(crate) fn flush_from_outside(&self) -> bool {
        let mut sending = match self.sending.try_lock() {
            Ok(sending) => sending,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                // The owner may wait for room in there, so waiting for it could take for ever.
                self.hurry.store(true, Ordering::Relaxed);
                return true;
            }
        };
        if sending.frames == 0 || !sending.open || sending.tx.failover_pending() {
            sending.left.publish();
            return false;
        }
        let flushed = sending.flush_some();
        drop(sending);
        self.lost_if(flushed);
        true
    }

    /// Has the flusher look after what is left.
    pub(super) fn arm_flusher(&self) {
        self.session.flusher.arm();
    }

    /// A lane on which nothing can be sent has lost calls that other threads may rely on, and its own thread may never
    /// call again.
    pub(super) fn lost_if(&self, sent: Result<(), LinkError>) {
        if let Err(error) = sent {
            self.session.lose(&error);
        }
    }

    /// Tells the server that the process ends, so that it waits for no connection that closes from here on. Not in the
    /// middle of a frame.
    pub(super) fn say_ending(&self) {
        if let Ok(mut sending) = self.sending.try_lock()
            && sending.open
            && !sending.tx.failover_pending()
        {
            sending.say(control::ENDING);
        }
    }

    /// Whether it has no connection at the moment.
    pub(super) fn is_severed(&self) -> bool {
        let changes = &self.info.changes;
        changes.severances() > changes.resumptions()
    }

    /// Polls completions of what was sent, unless the owner is about to.
    pub(super) fn poll_completions(&self) {
        if let Ok(mut sending) = self.sending.try_lock()
            && sending.open
        {
            let polled = sending.tx.poll_completions();
            drop(sending);
            self.lost_if(polled);
        }
    }

    pub(super) fn memories(&self) -> MutexGuard<'_, HashSet<PinnedRegion>> {
        self.memories.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes nothing from `memory` any more. A lane that never did is left alone: its owner may be sending, and wait for
    /// what comes after this.
    pub(super) fn release(&self, memory: &PinnedRegion) {
        if self.memories().remove(memory) {
            // Of a lane that is at its end nothing is taken either.
            let released = self.lock().tx.release(Some(memory));
            self.lost_if(released);
        }
    }

    /// What its link is, and what became of it.
    pub(crate) const fn info(&self) -> &LinkInfo {
        &self.info
    }

    /// Its number in the session.
    pub(crate) const fn number(&self) -> u16 {
        self.number
    }

    /// Up to which of its frames the records of events are complete.
    #[inline]
    pub(crate) fn watermark(&self) -> u64 {
        self.watermark.load(Ordering::Acquire)
    }

    /// A frame of the server has come.
    #[inline]
    pub(super) fn received(&self, header: &Header) {
        // A server of an earlier version says nothing. The lane's thread alone writes it.
        let complete = After(header.after).seq();
        if complete > self.watermark.load(Ordering::Relaxed) {
            self.watermark.store(complete, Ordering::Release);
        }
    }
}
