//! What a lane receives, whichever thread takes it.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};

use gtrace_protocol::{PIECE_LEN, Piece, WINDOW};

use super::{Shared, locked, raise};
use crate::buffer::InBuffer;
use crate::channel::Channel;
use crate::link::LinkError;

/// Memory for heads, and what is received with them.
const RAW: usize = 16 << 10;
/// The same where the piece before was large, and such a piece.
const FEW: usize = 4 << 10;
const LARGE: usize = 64 << 10;

/// What is received.
pub(super) struct Inlet {
    /// None while there is no connection.
    pub(super) channel: Option<Arc<dyn Channel>>,
    /// By which attempt.
    pub(super) attempt: u32,
    /// As it came, heads included.
    pub(super) raw: InBuffer,
    /// Bytes of the piece that have not come yet, or lie in `raw`.
    left: usize,
    /// The piece is a large one, and so is the next, usually.
    large: bool,
    /// Memory for what a thread that sends takes.
    taken: Vec<u8>,
    /// Taken by a thread that sends and waits for room.
    ahead: InBuffer,
    /// Bytes of the lane that were received, those in `ahead` included.
    pub(super) received: u64,
}

/// What a pull came to.
pub(super) enum Pulled {
    Bytes(usize),
    Nothing,
    /// There is another connection, or none.
    Replaced,
}

impl Inlet {
    /// By `channel`, of which `unread` is here already.
    pub(super) fn new(channel: Option<Arc<dyn Channel>>, unread: &[u8]) -> Self {
        let mut raw = InBuffer::new(RAW);
        raw.push(unread);
        Self {
            channel,
            attempt: 0,
            raw,
            left: 0,
            large: false,
            taken: Vec::new(),
            ahead: InBuffer::new(0),
            received: 0,
        }
    }

    /// The connection is gone, and with it what came of a piece and is not received: it comes again. Whoever waits for bytes of it
    /// wakes up.
    pub(super) fn cut(&mut self) {
        if let Some(channel) = self.channel.take() {
            channel.end();
        }
        self.raw = InBuffer::new(RAW);
        self.left = 0;
    }
}

impl Shared {
    /// Takes bytes of the lane, without waiting.
    pub(super) fn pull(&self, inlet: &mut Inlet, into: &mut [u8]) -> Result<Pulled, LinkError> {
        let taken = self.pull_bytes(inlet, into)?;
        if let Pulled::Bytes(len) = taken {
            raise(&self.read, self.read.load(Ordering::Relaxed) + len as u64);
        }
        Ok(taken)
    }

    fn pull_bytes(&self, inlet: &mut Inlet, into: &mut [u8]) -> Result<Pulled, LinkError> {
        if inlet.ahead.len() > 0 {
            return Ok(Pulled::Bytes(inlet.ahead.take(into)));
        }
        let Some(channel) = inlet.channel.as_ref() else {
            return Ok(Pulled::Replaced);
        };
        loop {
            // What comes behind the head of a large piece is better received where it belongs.
            let most = if inlet.large { FEW } else { RAW };
            if inlet.left == 0 {
                if let Some(head) = inlet.raw.unread().first_chunk::<PIECE_LEN>() {
                    let piece = Piece::parse(head)?;
                    inlet.raw.consume(PIECE_LEN);
                    inlet.left = piece.len as usize;
                    inlet.large = inlet.left >= LARGE;
                    raise(&self.peer_read, piece.read);
                    continue;
                }
            } else {
                let len = inlet.left.min(into.len());
                let taken = match inlet.raw.len() {
                    0 if len >= most => match channel.receive(&mut into[..len])? {
                        Some(taken) => taken,
                        None => return Ok(Pulled::Nothing),
                    },
                    0 => 0,
                    _ => inlet.raw.take(&mut into[..len]),
                };
                if taken > 0 {
                    inlet.left -= taken;
                    inlet.received += taken as u64;
                    return Ok(Pulled::Bytes(taken));
                }
            }
            let wanted = inlet.raw.len() + 1;
            let space = inlet.raw.space(wanted.max(PIECE_LEN));
            let len = space.len().min(most);
            match channel.receive(&mut space[..len])? {
                Some(received) => inlet.raw.filled(received),
                None => return Ok(Pulled::Nothing),
            }
        }
    }

    /// Learns what the other side has read, unless another thread does.
    pub(super) fn hear(&self) -> Result<(), LinkError> {
        match self.severed.load(Ordering::Acquire) || self.inlet.try_lock().is_err() {
            true => Ok(()),
            false => self.listen().map(drop),
        }
    }

    /// Takes what came into memory, as a thread that sends waits for room and nobody else reads.
    pub(super) fn listen(&self) -> Result<Option<Arc<dyn Channel>>, LinkError> {
        let inlet = locked(&self.inlet);
        match self.awaited.load(Ordering::Acquire) {
            true => Ok(None),
            false => self.take_in(inlet),
        }
    }

    /// Takes what came into memory; what brings more.
    fn take_in(
        &self,
        mut inlet: MutexGuard<'_, Inlet>,
    ) -> Result<Option<Arc<dyn Channel>>, LinkError> {
        let attempt = inlet.attempt;
        let mut taken = std::mem::take(&mut inlet.taken);
        taken.resize(RAW, 0);
        let listened = loop {
            // Nobody who keeps to the protocol sends more before it learns what was read.
            if inlet.ahead.len() as u64 > 2 * WINDOW {
                break Ok(None);
            }
            // Nothing of what lies ahead is to be read here.
            let mut ahead = std::mem::replace(&mut inlet.ahead, InBuffer::new(0));
            let pulled = self.pull_bytes(&mut inlet, &mut taken);
            if let Ok(Pulled::Bytes(len)) = pulled {
                ahead.push(&taken[..len]);
            }
            inlet.ahead = ahead;
            match pulled {
                Ok(Pulled::Bytes(_)) => {}
                Ok(_) => break Ok(inlet.channel.clone()),
                Err(error) => break Err(error),
            }
        };
        inlet.taken = taken;
        drop(inlet);
        match listened {
            Ok(channel) => Ok(channel),
            Err(error) => self.broke(attempt, error).map(|()| None),
        }
    }

    /// Stops taking bytes from the connection that broke; how many were received.
    pub(super) fn freeze(&self) -> u64 {
        // What the other side sent before it ended is not sent again if it has. Who waits for it on the connection, which
        // is at its end, wakes up.
        let _ = self.take_in(locked(&self.inlet));
        let mut inlet = locked(&self.inlet);
        inlet.channel = None;
        inlet.received
    }
}
