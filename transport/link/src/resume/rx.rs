//! The receiving half.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use rustix::event::PollFlags;

use gtrace_protocol::TELL_EVERY;

use super::{Pulled, Shared, TELL_IDLE, locked};
use crate::buffer::InBuffer;
use crate::channel::{AHEAD, IN_BUFFER};
use crate::link::{LinkError, Rx};
use crate::spin::{Peer, Spin};

/// Below, reading ahead costs less than another system call.
const DIRECT: usize = 4 << 10;

pub(super) struct ResumeRx {
    shared: Arc<Shared>,
    buffer: InBuffer,
    spin: Spin,
}

impl ResumeRx {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let host = locked(&shared.inlet)
            .channel
            .as_ref()
            .map_or(Peer::ThisHost, |channel| channel.socket().host());
        Self {
            shared,
            buffer: InBuffer::new(IN_BUFFER),
            spin: Spin::new(host),
        }
    }

    /// Waits for bytes of the lane.
    fn take(
        shared: &Shared,
        spin: &mut Spin,
        into: &mut [u8],
        deadline: Option<Instant>,
    ) -> Result<usize, LinkError> {
        loop {
            if shared.owes(TELL_EVERY) {
                shared.tell();
            }
            let (channel, attempt) = {
                let mut inlet = locked(&shared.inlet);
                let attempt = inlet.attempt;
                match shared.pull(&mut inlet, into) {
                    Ok(Pulled::Bytes(len)) => return Ok(len),
                    Ok(Pulled::Nothing) => {
                        // Said before the lock is given up, so that no other thread takes what is waited for.
                        shared.awaited.store(true, Ordering::Release);
                        (inlet.channel.clone(), attempt)
                    }
                    Ok(Pulled::Replaced) => (None, attempt),
                    Err(error) => {
                        drop(inlet);
                        shared.broke(attempt, error)?;
                        (None, attempt)
                    }
                }
            };
            let Some(channel) = channel else {
                shared.wait_attached(attempt, deadline)?;
                continue;
            };
            if shared.owes(TELL_IDLE) {
                shared.tell();
            }
            let events = match shared.owes(TELL_EVERY) {
                true => PollFlags::IN | PollFlags::OUT,
                false => PollFlags::IN,
            };
            let waited = channel.socket().wait(events, deadline).until(spin, || {
                if shared.owes(TELL_EVERY) {
                    shared.tell();
                }
                let mut inlet = locked(&shared.inlet);
                if inlet.attempt != attempt {
                    return Ok(Some(Pulled::Replaced));
                }
                Ok(match shared.pull(&mut inlet, into)? {
                    Pulled::Nothing => None,
                    pulled => Some(pulled),
                })
            });
            shared.awaited.store(false, Ordering::Release);
            match waited {
                Ok(Pulled::Bytes(len)) => return Ok(len),
                Ok(_) => shared.wait_attached(attempt, deadline)?,
                Err(error) => {
                    shared.broke(attempt, error)?;
                    shared.wait_attached(attempt, deadline)?;
                }
            }
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
            let space = match space.split_at_mut_checked(most) {
                Some((space, _)) => space,
                None => space,
            };
            let taken = Self::take(&self.shared, &mut self.spin, space, deadline)?;
            self.buffer.filled(taken);
        }
        Ok(())
    }
}

impl Rx for ResumeRx {
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
            let mut inlet = locked(&self.shared.inlet);
            let attempt = inlet.attempt;
            let pulled = self.shared.pull(&mut inlet, &mut space[..most]);
            drop(inlet);
            match pulled {
                Ok(Pulled::Bytes(received)) => self.buffer.filled(received),
                Ok(Pulled::Nothing) => break,
                // Another connection may bring more, unless the lane has ended.
                Ok(Pulled::Replaced) => {
                    self.shared.check()?;
                    break;
                }
                Err(error) => {
                    self.shared.broke(attempt, error)?;
                    self.shared.check()?;
                    break;
                }
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
                at += Self::take(&self.shared, &mut self.spin, &mut into[at..], None)?;
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
}

impl Drop for ResumeRx {
    fn drop(&mut self) {
        // Nobody would take what another connection brings.
        self.shared.forgotten();
    }
}

impl Shared {
    /// Nobody wants it any more. Its connection stays open for what was sent.
    fn forgotten(&self) {
        self.fate().life.die(gtrace_protocol::Death::Closed);
        self.changed.notify_all();
    }
}
