//! The receiving half.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use rustix::event::PollFlags;

use super::inlet::Pulled;
use super::{ACKNOWLEDGE_IDLE, Shared, locked};
use crate::ahead::Incoming;
use crate::link::LinkError;
use crate::spin::{Peer, Spin};

/// What a lane receives, whichever connection brings it.
pub(super) struct ResumeBytes {
    shared: Arc<Shared>,
    spin: Spin,
}

impl ResumeBytes {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let host = locked(&shared.inlet)
            .channel
            .as_ref()
            .map_or(Peer::ThisHost, |channel| channel.socket().host());
        Self {
            shared,
            spin: Spin::new(host),
        }
    }
}

impl Incoming for ResumeBytes {
    fn receive(&mut self, into: &mut [u8], deadline: Option<Instant>) -> Result<usize, LinkError> {
        let (shared, spin) = (&*self.shared, &mut self.spin);
        loop {
            if shared.owes(shared.acknowledge_every) {
                shared.acknowledge();
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
            if shared.owes(ACKNOWLEDGE_IDLE) {
                shared.acknowledge();
            }
            let owed = shared.owes(shared.acknowledge_every);
            let events = match owed {
                true => PollFlags::IN | PollFlags::OUT,
                false => PollFlags::IN,
            };
            let waited = channel
                .socket()
                .wait(events, deadline)
                .until_later(spin, || {
                    if shared.owes(shared.acknowledge_every) {
                        shared.acknowledge();
                    }
                    let mut inlet = locked(&shared.inlet);
                    if inlet.attempt != attempt {
                        return Ok(Some(Pulled::Replaced));
                    }
                    Ok(match shared.pull(&mut inlet, into)? {
                        // Room is waited for no more: a socket has it nearly always, so that no wait would sleep.
                        Pulled::Nothing if owed && !shared.owes(shared.acknowledge_every) => {
                            Some(Pulled::Nothing)
                        }
                        Pulled::Nothing => None,
                        pulled => Some(pulled),
                    })
                });
            shared.awaited.store(false, Ordering::Release);
            match waited {
                Ok(Pulled::Bytes(len)) => return Ok(len),
                Ok(Pulled::Nothing) => {}
                Ok(Pulled::Replaced) => shared.wait_attached(attempt, deadline)?,
                Err(error) => {
                    shared.broke(attempt, error)?;
                    shared.wait_attached(attempt, deadline)?;
                }
            }
        }
    }

    fn receive_now(&mut self, into: &mut [u8]) -> Result<Option<usize>, LinkError> {
        let mut inlet = locked(&self.shared.inlet);
        let attempt = inlet.attempt;
        let pulled = self.shared.pull(&mut inlet, into);
        drop(inlet);
        match pulled {
            Ok(Pulled::Bytes(received)) => return Ok(Some(received)),
            Ok(Pulled::Nothing) => {}
            // Another connection may bring more, unless the lane has ended.
            Ok(Pulled::Replaced) => self.shared.check()?,
            Err(error) => {
                self.shared.broke(attempt, error)?;
                self.shared.check()?;
            }
        }
        Ok(None)
    }
}

impl Drop for ResumeBytes {
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
