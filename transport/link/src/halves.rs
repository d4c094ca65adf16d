//! The halves of a link over rings, whoever brings the bytes from one ring to the other.

use std::time::Instant;

use crate::buffer::{InBuffer, OutBuffer};
use crate::link::{LinkError, Rx, Tx};
use crate::pinned::PinnedRegion;

/// Usual piece after which the other side is shown what was copied, so that both copy at the same time; at
/// most a quarter of the smallest ring.
pub(crate) const PIECE: usize = 64 << 10;
/// Memory for what is peeked at; grows for large arguments.
const SCRATCH: usize = 16 << 10;

/// The end of a ring that bytes are put into.
pub(crate) trait Put: Send {
    /// Bytes of the ring.
    fn capacity(&self) -> usize;
    /// Piece of a large copy after which the other side is shown what was copied; at most a quarter of the ring.
    fn piece(&self) -> usize {
        PIECE
    }
    /// Free bytes, reading the reader's counter only if fewer than `wanted` are known.
    fn room(&mut self, wanted: usize) -> Result<usize, LinkError>;
    /// Shows the reader what was committed, as it can make room only of what it sees, and waits for
    /// `len` free bytes.
    fn wait_for_room(&mut self, len: usize) -> Result<usize, LinkError>;
    /// The first `len` free bytes.
    fn space(&mut self, len: usize) -> &mut [u8];
    /// The first `len` bytes of the space were written.
    fn commit(&mut self, len: usize);
    /// Bytes committed and not published.
    fn pending(&self) -> usize;
    /// Shows the reader what was committed.
    fn publish(&mut self) -> Result<(), LinkError>;
    /// Sends the first bytes of `body` from where they lie in `memory`, behind what was committed; how many.
    fn lend(&mut self, _body: &[u8], _memory: &PinnedRegion) -> Result<usize, LinkError> {
        Ok(0)
    }
    /// As [`Tx::release`].
    fn release(&mut self, _memory: Option<&PinnedRegion>) -> Result<(), LinkError> {
        Ok(())
    }
    /// As [`Tx::failover_pending`].
    fn failover_pending(&self) -> bool {
        false
    }
    /// As [`Tx::poll_completions`].
    fn poll_completions(&mut self) -> Result<(), LinkError> {
        Ok(())
    }
}

/// The end of a ring that bytes are taken from.
pub(crate) trait Take: Send {
    /// Unread bytes, reading the writer's counter only if fewer than `wanted` are known.
    fn available(&mut self, wanted: usize) -> Result<usize, LinkError>;
    /// Waits until `len` bytes are unread, at most a quarter of the ring.
    fn wait_for(&mut self, len: usize, deadline: Option<Instant>) -> Result<usize, LinkError>;
    /// The first `len` unread bytes, or as many as are known. The peer may change them at any time.
    fn unread(&self, len: usize) -> &[u8];
    /// The first `len` unread bytes are read.
    fn consume(&mut self, len: usize);
}

/// The sending half over a ring.
pub(crate) struct RingTx<P> {
    ring: P,
    /// A message that is larger than half the ring.
    large: OutBuffer,
    /// Whether the room that was given last is in there.
    in_large: bool,
}

impl<P: Put> RingTx<P> {
    pub(crate) fn new(ring: P) -> Self {
        Self {
            ring,
            large: OutBuffer::default(),
            in_large: false,
        }
    }

    /// Waits for `len` bytes of room.
    #[inline]
    fn wait(&mut self, len: usize) -> Result<usize, LinkError> {
        match self.ring.room(len)? {
            room if room >= len => Ok(room),
            _ => self.ring.wait_for_room(len),
        }
    }

    fn copy(&mut self, mut bytes: &[u8]) -> Result<(), LinkError> {
        let piece = self.ring.piece();
        while !bytes.is_empty() {
            let room = self.wait(bytes.len().min(piece))?;
            let (now, later) = bytes.split_at(bytes.len().min(piece).min(room));
            self.ring.space(now.len()).copy_from_slice(now);
            self.ring.commit(now.len());
            if !later.is_empty() {
                self.ring.publish()?;
            }
            bytes = later;
        }
        Ok(())
    }

    #[cold]
    fn send_large(&mut self) -> Result<(), LinkError> {
        let large = std::mem::take(&mut self.large);
        self.copy(large.committed())
    }
}

impl<P: Put> Tx for RingTx<P> {
    #[inline]
    fn reserve(&mut self, len: usize) -> Result<&mut [u8], LinkError> {
        if !self.large.committed().is_empty() {
            self.send_large()?;
        }
        // A reader waits for a quarter of the ring at most, so that half of it always comes free.
        self.in_large = len > self.ring.capacity() / 2;
        if self.in_large {
            return Ok(self.large.reserve(len));
        }
        self.wait(len)?;
        Ok(self.ring.space(len))
    }

    #[inline]
    fn commit(&mut self, len: usize) {
        if self.in_large {
            self.large.commit(len);
        } else {
            self.ring.commit(len);
        }
    }

    fn bulk(&mut self, body: &[u8]) -> Result<(), LinkError> {
        if !self.large.committed().is_empty() {
            self.send_large()?;
        }
        self.copy(body)?;
        self.ring.publish()
    }

    fn bulk_from(&mut self, body: &[u8], memory: &PinnedRegion) -> Result<(), LinkError> {
        if !self.large.committed().is_empty() {
            self.send_large()?;
        }
        let lent = self.ring.lend(body, memory)?;
        self.bulk(&body[lent..])
    }

    fn release(&mut self, memory: Option<&PinnedRegion>) -> Result<(), LinkError> {
        self.ring.release(memory)
    }

    #[inline]
    fn flush(&mut self) -> Result<(), LinkError> {
        if !self.large.committed().is_empty() {
            self.send_large()?;
        }
        self.ring.publish()
    }

    #[inline]
    fn pending(&self) -> usize {
        self.ring.pending() + self.large.committed().len()
    }

    fn failover_pending(&self) -> bool {
        self.ring.failover_pending()
    }

    fn poll_completions(&mut self) -> Result<(), LinkError> {
        self.ring.poll_completions()
    }
}

/// The receiving half over a ring.
pub(crate) struct RingRx<T> {
    ring: T,
    /// A copy of the peeked bytes: the peer could change them in the ring after they were checked.
    scratch: InBuffer,
}

impl<T: Take> RingRx<T> {
    pub(crate) fn new(ring: T) -> Self {
        Self {
            ring,
            scratch: InBuffer::new(SCRATCH),
        }
    }

    /// Waits for `len` bytes in the ring, at most a piece.
    #[inline]
    fn wait(&mut self, len: usize, deadline: Option<Instant>) -> Result<usize, LinkError> {
        match self.ring.available(len)? {
            available if available >= len => Ok(available),
            _ => self.ring.wait_for(len, deadline),
        }
    }

    /// Copies until `total` bytes are in the scratch memory.
    fn fill(&mut self, total: usize, deadline: Option<Instant>) -> Result<(), LinkError> {
        while self.scratch.len() < total {
            let missing = (total - self.scratch.len()).min(PIECE);
            self.wait(missing, deadline)?;
            let bytes = self.ring.unread(missing);
            self.scratch.space(total)[..bytes.len()].copy_from_slice(bytes);
            let copied = bytes.len();
            self.scratch.filled(copied);
            self.ring.consume(copied);
        }
        Ok(())
    }
}

impl<T: Take> Rx for RingRx<T> {
    #[inline]
    fn peek(&mut self, len: usize, deadline: Option<Instant>) -> Result<&[u8], LinkError> {
        if self.scratch.len() < len {
            self.fill(len, deadline)?;
        }
        Ok(&self.scratch.unread()[..len])
    }

    #[inline]
    fn ready(&mut self, len: usize) -> Result<bool, LinkError> {
        let Some(missing) = len.checked_sub(self.scratch.len()) else {
            return Ok(true);
        };
        match self.ring.available(missing)? {
            available if available >= missing => Ok(true),
            0 => Ok(false),
            _ if missing <= PIECE => Ok(false),
            // More may be asked for than the ring has.
            available => {
                self.fill(self.scratch.len() + available, None)?;
                Ok(self.scratch.len() >= len)
            }
        }
    }

    #[inline]
    fn consume(&mut self, len: usize) {
        let copied = len.min(self.scratch.len());
        self.scratch.consume(copied);
        if len > copied {
            self.ring.consume(len - copied);
        }
    }

    fn read(&mut self, into: &mut [u8]) -> Result<(), LinkError> {
        let mut at = self.scratch.take(into);
        while at < into.len() {
            let available = self.wait(1, None)?;
            let len = (into.len() - at).min(available).min(PIECE);
            into[at..at + len].copy_from_slice(self.ring.unread(len));
            self.ring.consume(len);
            at += len;
        }
        Ok(())
    }

    fn some(&mut self, max: usize) -> Result<&[u8], LinkError> {
        if self.scratch.len() > 0 {
            let unread = self.scratch.unread();
            return Ok(&unread[..max.min(unread.len())]);
        }
        self.wait(1, None)?;
        Ok(self.ring.unread(max))
    }
}
