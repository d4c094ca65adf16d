//! Links over what takes and gives bytes without waiting: a socket, or TLS on one.

use std::sync::Arc;
use std::time::Instant;

use rustix::event::PollFlags;

use crate::ahead::{AheadRx, Incoming};
use crate::buffer::OutBuffer;
use crate::link::{Endable, Ender, Link, LinkError, LinkInfo, Tx};
use crate::socket::Socket;
use crate::spin::Spin;

/// Committed bytes beyond which they are sent without a flush.
pub(crate) const OUT_MOST: usize = 256 << 10;

/// Takes and gives bytes without waiting. Both halves of a link share it.
pub(crate) trait Channel: Endable + 'static {
    /// What is waited for.
    fn socket(&self) -> &Socket;

    /// Receives what is there: bytes, or none if there is nothing yet.
    fn receive(&self, into: &mut [u8]) -> Result<Option<usize>, LinkError>;

    /// Takes what it can of `head` and `body` behind it: bytes, or none if it is full.
    fn send(&self, head: &[u8], body: &[u8]) -> Result<Option<usize>, LinkError>;

    /// As [`Channel::send`], of a body of which the channel may take the memory itself instead of a copy.
    ///
    /// # Safety
    ///
    /// The body is not written to before the other side has acknowledged that it has read it; never, if it does not. It
    /// may be unmapped at any time.
    #[allow(unsafe_code)]
    unsafe fn send_stable(&self, head: &[u8], body: &[u8]) -> Result<Option<usize>, LinkError> {
        self.send(head, body)
    }

    /// Sends what it took and still has: none if the socket is full.
    fn drain(&self) -> Result<Option<()>, LinkError>;
}

impl<C: Channel> Endable for C {
    fn end(&self) {
        self.socket().end();
    }

    fn is_alive(&self) -> bool {
        self.socket().is_alive()
    }
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
        rx: Box::new(AheadRx::new(ChannelBytes {
            channel,
            spin: Spin::new(host),
        })),
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

/// What a channel receives.
struct ChannelBytes<C> {
    channel: Arc<C>,
    spin: Spin,
}

impl<C: Channel> Incoming for ChannelBytes<C> {
    fn receive(&mut self, into: &mut [u8], deadline: Option<Instant>) -> Result<usize, LinkError> {
        self.channel
            .socket()
            .wait(PollFlags::IN, deadline)
            .until(&mut self.spin, || self.channel.receive(into))
    }

    fn receive_now(&mut self, into: &mut [u8]) -> Result<Option<usize>, LinkError> {
        self.channel.receive(into)
    }
}
