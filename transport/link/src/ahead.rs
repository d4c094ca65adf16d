//! The receiving half of links that have no memory in common with the peer: it takes more than is asked for.

use std::time::Instant;

use crate::buffer::InBuffer;
use crate::link::{LinkError, Rx};

/// Memory for what was received.
pub(crate) const IN_BUFFER: usize = 256 << 10;
/// What a wait for a header takes along at most. More would be the body of a bulk copy, which `read`
/// puts to its destination without this detour.
const AHEAD: usize = 16 << 10;
/// Below, reading ahead costs less than another system call.
const DIRECT: usize = 4 << 10;

/// Where the bytes come from.
pub(crate) trait Incoming: Send {
    /// Waits for bytes; how many.
    fn receive(&mut self, into: &mut [u8], deadline: Option<Instant>) -> Result<usize, LinkError>;

    /// Receives what is there: bytes, or none if there is nothing yet.
    fn receive_now(&mut self, into: &mut [u8]) -> Result<Option<usize>, LinkError>;
}

/// Bytes that were received before they were asked for, and where more come from.
pub(crate) struct AheadRx<I> {
    incoming: I,
    buffer: InBuffer,
}

impl<I: Incoming> AheadRx<I> {
    pub(crate) fn new(incoming: I) -> Self {
        Self {
            incoming,
            buffer: InBuffer::new(IN_BUFFER),
        }
    }

    /// Waits until `total` bytes are unread; takes at most `most` along.
    fn fill(
        &mut self,
        total: usize,
        most: usize,
        deadline: Option<Instant>,
    ) -> Result<(), LinkError> {
        while self.buffer.len() < total {
            let most = most.max(total) - self.buffer.len();
            let space = self.buffer.space(total);
            let most = most.min(space.len());
            let received = self.incoming.receive(&mut space[..most], deadline)?;
            self.buffer.filled(received);
        }
        Ok(())
    }
}

impl<I: Incoming> Rx for AheadRx<I> {
    #[inline]
    fn peek(&mut self, len: usize, deadline: Option<Instant>) -> Result<&[u8], LinkError> {
        if self.buffer.len() < len {
            self.fill(len, AHEAD, deadline)?;
        }
        Ok(&self.buffer.unread()[..len])
    }

    fn ready(&mut self, len: usize) -> Result<bool, LinkError> {
        while self.buffer.len() < len {
            let most = AHEAD.max(len) - self.buffer.len();
            let space = self.buffer.space(len);
            let most = most.min(space.len());
            match self.incoming.receive_now(&mut space[..most])? {
                Some(received) => self.buffer.filled(received),
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    #[inline]
    fn consume(&mut self, len: usize) {
        self.buffer.consume(len);
    }

    fn read(&mut self, into: &mut [u8]) -> Result<(), LinkError> {
        let mut at = self.buffer.take(into);
        while at < into.len() {
            if into.len() - at < DIRECT {
                self.fill(into.len() - at, AHEAD, None)?;
                at += self.buffer.take(&mut into[at..]);
            } else {
                at += self.incoming.receive(&mut into[at..], None)?;
            }
        }
        Ok(())
    }

    fn some(&mut self, max: usize) -> Result<&[u8], LinkError> {
        if self.buffer.len() == 0 {
            self.fill(1, max.min(IN_BUFFER), None)?;
        }
        let unread = self.buffer.unread();
        Ok(&unread[..max.min(unread.len())])
    }

    fn into_unread(self: Box<Self>) -> Vec<u8> {
        self.buffer.unread().to_vec()
    }
}
