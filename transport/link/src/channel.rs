//! Links over what takes and gives bytes without waiting: a socket, or TLS on one.

use std::sync::Arc;
use std::time::Instant;

use rustix::event::PollFlags;

use crate::buffer::{InBuffer, OutBuffer};
use crate::link::{Endable, Ender, Link, LinkError, LinkInfo, Rx, Tx};
use crate::socket::Socket;
use crate::spin::Spin;

/// Memory for what was received.
pub(crate) const IN_BUFFER: usize = 256 << 10;
/// What a wait for a header takes along at most. More would be the body of a bulk copy, which `read`
/// puts to its destination without this detour.
pub(crate) const AHEAD: usize = 16 << 10;
/// Committed bytes beyond which they are sent without a flush.
pub(crate) const OUT_MOST: usize = 256 << 10;
/// Below, reading ahead costs less than another system call.
const DIRECT: usize = 4 << 10;

/// Takes and gives bytes without waiting. Both halves of a link share it.
pub(crate) trait Channel: Endable + 'static {
    /// What is waited for.
    fn socket(&self) -> &Socket;

    /// Receives what is there: bytes, or none if there is nothing yet.
    fn receive(&self, into: &mut [u8]) -> Result<Option<usize>, LinkError>;

    /// Takes what it can of `head` and `body` behind it: bytes, or none if it is full.
    fn send(&self, head: &[u8], body: &[u8]) -> Result<Option<usize>, LinkError>;

    /// Sends what it took and still has: none if the socket is full.
    fn drain(&self) -> Result<Option<()>, LinkError>;
}

/// A link over `channel`.
pub(crate) fn link<C: Channel>(channel: Arc<C>, info: LinkInfo) -> Link {
    let host = channel.socket().host();
    Link {
        tx: Box::new(ChannelTx {
            channel: Arc::clone(&channel),
            out: OutBuffer::default(),
            undrained: false,
            spin: Spin::never(),
        }),
        end: Ender::new(&channel),
        channel: Some(Arc::clone(&channel) as Arc<dyn Channel>),
        rx: Box::new(ChannelRx {
            channel,
            buffer: InBuffer::new(IN_BUFFER),
            spin: Spin::new(host),
        }),
        info,
    }
}

struct ChannelTx<C> {
    channel: Arc<C>,
    out: OutBuffer,
    /// The channel has bytes that the socket did not take.
    undrained: bool,
    spin: Spin,
}

impl<C: Channel> ChannelTx<C> {
    /// Sends what was committed and `body` behind it.
    fn send(&mut self, body: &[u8]) -> Result<(), LinkError> {
        let head = self.out.committed();
        let total = head.len() + body.len();
        let mut sent = 0;
        while sent < total {
            let (head, body) = match sent.checked_sub(head.len()) {
                None => (&head[sent..], body),
                Some(at) => (&[][..], &body[at..]),
            };
            sent += self
                .channel
                .socket()
                .wait(PollFlags::OUT, None)
                .until(&mut self.spin, || self.channel.send(head, body))?;
        }
        if total > 0 {
            self.channel
                .socket()
                .wait(PollFlags::OUT, None)
                .until(&mut self.spin, || self.channel.drain())?;
        }
        self.out.clear();
        Ok(())
    }
}

impl<C: Channel> Tx for ChannelTx<C> {
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
        self.send(body)
    }

    fn flush(&mut self) -> Result<(), LinkError> {
        // What the channel took and could not send yet is drained, too.
        match std::mem::take(&mut self.undrained) && self.pending() == 0 {
            true => self
                .channel
                .socket()
                .wait(PollFlags::OUT, None)
                .until(&mut self.spin, || self.channel.drain()),
            false => self.send(&[]),
        }
    }

    fn flush_some(&mut self) -> Result<bool, LinkError> {
        while self.pending() > 0 {
            match self.channel.send(self.out.committed(), &[])? {
                Some(sent) => self.out.sent(sent),
                None => return Ok(false),
            }
        }
        self.undrained = self.channel.drain()?.is_none();
        Ok(!self.undrained)
    }

    #[inline]
    fn pending(&self) -> usize {
        self.out.committed().len()
    }
}

struct ChannelRx<C> {
    channel: Arc<C>,
    buffer: InBuffer,
    spin: Spin,
}

impl<C: Channel> ChannelRx<C> {
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
            let space = match space.split_at_mut_checked(most) {
                Some((space, _)) => space,
                None => space,
            };
            let received = self
                .channel
                .socket()
                .wait(PollFlags::IN, deadline)
                .until(&mut self.spin, || self.channel.receive(space))?;
            self.buffer.filled(received);
        }
        Ok(())
    }
}

impl<C: Channel> Rx for ChannelRx<C> {
    #[inline]
    fn peek(&mut self, len: usize, deadline: Option<Instant>) -> Result<&[u8], LinkError> {
        if self.buffer.len() < len {
            self.fill(len, AHEAD, deadline)?;
        }
        Ok(&self.buffer.unread()[..len])
    }

    fn ready(&mut self, len: usize) -> Result<bool, LinkError> {
        if self.buffer.len() < len {
            let most = AHEAD.max(len) - self.buffer.len();
            let space = self.buffer.space(len);
            let most = most.min(space.len());
            if let Some(received) = self.channel.receive(&mut space[..most])? {
                self.buffer.filled(received);
            }
        }
        Ok(self.buffer.len() >= len)
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
                let space = &mut into[at..];
                at += self
                    .channel
                    .socket()
                    .wait(PollFlags::IN, None)
                    .until(&mut self.spin, || self.channel.receive(space))?;
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
