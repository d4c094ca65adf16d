//! What a lane sends, whichever thread sends it.

// Pages of memory that stays as it is until the other side has read it.
#![allow(unsafe_code)]

use std::sync::atomic::Ordering;
use std::sync::{Arc, TryLockError};
use std::time::Instant;

use gtrace_protocol::{Death, PIECE_MAX, Piece, SentBytes};
use rustix::event::PollFlags;

use super::kept::{Kept, TOGETHER};
use super::{CHECK, Shared, raise};
use crate::channel::Channel;
use crate::link::LinkError;
use crate::pages::PAGES_MIN;

/// Bytes of a piece: large enough that its head costs little, small enough that both sides work at the same time.
pub(super) const PIECE: usize = 512 << 10;
/// The same where nobody waits for the socket.
const SOME: usize = 64 << 10;

const _: () = assert!(PIECE + TOGETHER <= PIECE_MAX as usize);

/// What is sent.
pub(super) struct Outlet {
    pub(super) channel: Option<Arc<dyn Channel>>,
    pub(super) attempt: u32,
    pub(super) sent: SentBytes,
    pub(super) kept: Kept,
    /// Up to which byte the connection was given them.
    pub(super) given: u64,
    /// The rest of a piece that has begun, which the connection did not take.
    pub(super) rest: Vec<u8>,
    /// Memory for a head and what is sent with it.
    head: Vec<u8>,
}

impl Outlet {
    /// By `channel`.
    pub(super) fn new(channel: Option<Arc<dyn Channel>>) -> Self {
        Self {
            channel,
            attempt: 0,
            sent: SentBytes::default(),
            kept: Kept::default(),
            given: 0,
            rest: Vec::new(),
            head: Vec::new(),
        }
    }

    /// The next piece that the connection was not given, of `most` bytes of the lane or a few more, which says what
    /// has been `read` here: how many they are, and the body. `head` gets what comes before the body.
    fn piece(&self, head: &mut Vec<u8>, most: usize, read: u64) -> (u64, &[u8]) {
        let (first, second) = self.kept.from(self.given, most);
        let len = first.len() + second.len();
        let piece = Piece {
            len: len as u32,
            read,
        };
        head.clear();
        head.extend_from_slice(&piece.to_bytes());
        // Few bytes go with the head, so that they are one record of TLS, and one part of a system call.
        let body = match first.len() <= TOGETHER {
            true => {
                head.extend_from_slice(first);
                second
            }
            false => first,
        };
        (len as u64, body)
    }
}

impl Shared {
    /// Whether the other side is to learn what was read here, if that are so many bytes.
    pub(super) fn owes(&self, least: u64) -> bool {
        let read = self.read.load(Ordering::Relaxed);
        read.saturating_sub(self.acknowledged.load(Ordering::Relaxed)) >= least
    }

    /// Says what was read, if nobody sends anything at the moment, which would say it too. Does not wait.
    pub(super) fn acknowledge(&self) {
        let mut outlet = match self.outlet.try_lock() {
            Ok(outlet) => outlet,
            Err(TryLockError::Poisoned(held)) => held.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        let severed = self.severed.load(Ordering::Acquire);
        let Some(channel) = outlet.channel.clone().filter(|_| !severed) else {
            return;
        };
        let mut bytes = std::mem::take(&mut outlet.rest);
        let read = self.read.load(Ordering::Acquire);
        let is_new = bytes.is_empty();
        if is_new {
            bytes.extend_from_slice(&Piece { len: 0, read }.to_bytes());
        }
        match channel.send(&bytes, &[]) {
            Ok(sent) => match sent.unwrap_or(0) {
                0 if is_new => return,
                sent => outlet.rest = bytes.split_off(sent),
            },
            // What follows would be taken for the rest of the piece that has begun.
            Err(error) => {
                let attempt = outlet.attempt;
                drop(outlet);
                // Whoever uses the lane next learns of it.
                let _ = self.broke(attempt, error);
                return;
            }
        }
        // What lies in the connection's own buffer is drained at the next chance. Of a head that went in part the other
        // side has nothing yet.
        let is_whole = is_new && outlet.rest.is_empty();
        if matches!(channel.drain(), Ok(Some(()))) && is_whole {
            raise(&self.acknowledged, read);
        }
    }

    /// Gives the connection what is kept and was not given, and its socket what the channel has still; nothing if there is none.
    pub(super) fn give(&self, outlet: &mut Outlet) -> Result<(), LinkError> {
        let Some(channel) = outlet.channel.take() else {
            return Ok(());
        };
        let given = self.give_to(&*channel, outlet);
        outlet.channel = Some(channel);
        given
    }

    fn give_to(&self, channel: &dyn Channel, outlet: &mut Outlet) -> Result<(), LinkError> {
        let rest = std::mem::take(&mut outlet.rest);
        self.send_all(channel, &rest, &[], false)?;
        let mut head = std::mem::take(&mut outlet.head);
        while outlet.given < outlet.kept.end() {
            let read = self.read.load(Ordering::Acquire);
            let (len, body) = outlet.piece(&mut head, PIECE, read);
            let stable = body.len() >= PAGES_MIN && outlet.kept.is_stable(body);
            self.send_all(channel, &head, body, stable)?;
            raise(&self.acknowledged, read);
            outlet.given += len;
        }
        outlet.head = head;
        self.with_room(channel, || channel.drain())
    }

    /// As [`Self::give`], without waiting; whether all is given.
    pub(super) fn give_some(&self, outlet: &mut Outlet) -> Result<bool, LinkError> {
        let Some(channel) = outlet.channel.clone() else {
            return Ok(true);
        };
        loop {
            let rest = std::mem::take(&mut outlet.rest);
            if !rest.is_empty() {
                let sent = channel.send(&rest, &[])?.unwrap_or(0);
                if sent < rest.len() {
                    outlet.rest = rest[sent..].to_vec();
                    return Ok(false);
                }
            }
            if outlet.given == outlet.kept.end() {
                return Ok(channel.drain()?.is_some());
            }
            let read = self.read.load(Ordering::Acquire);
            let mut head = std::mem::take(&mut outlet.head);
            let (len, body) = outlet.piece(&mut head, SOME, read);
            let Some(sent @ 1..) = channel.send(&head, body)? else {
                return Ok(false);
            };
            // The piece has begun, so that the rest of it comes before anything else.
            let rest = match sent.checked_sub(head.len()) {
                Some(sent) => body[sent..].to_vec(),
                None => [&head[sent..], body].concat(),
            };
            (outlet.rest, outlet.head) = (rest, head);
            outlet.given += len;
            raise(&self.acknowledged, read);
        }
    }

    /// Forgets what the other side has read.
    pub(super) fn forget(&self, outlet: &mut Outlet) -> Result<(), LinkError> {
        let position = self.peer_read.load(Ordering::Acquire);
        match outlet.sent.read_up_to(position) {
            Ok(0) => {}
            Ok(_) => {
                outlet.kept.forget(position);
                // Whoever claims to have read what it was not given does not get it.
                outlet.given = outlet.given.max(position);
            }
            Err(impossible) => {
                let error = LinkError::Position(impossible);
                self.die(Death::Broken, &error.to_string());
                return Err(error);
            }
        }
        Ok(())
    }

    /// Sends both, waiting for room as long as it takes; the body, if it is `stable`, from where it is.
    fn send_all(
        &self,
        channel: &dyn Channel,
        head: &[u8],
        body: &[u8],
        stable: bool,
    ) -> Result<(), LinkError> {
        let total = head.len() + body.len();
        let mut sent = 0;
        while sent < total {
            let (head, body) = match sent.checked_sub(head.len()) {
                None => (&head[sent..], body),
                Some(at) => (&[][..], &body[at..]),
            };
            sent += self.with_room(channel, || match stable {
                // SAFETY: it is lent until the other side has read it, or the lane goes (`Tx::bulk_stable`).
                true => unsafe { channel.send_stable(head, body) },
                false => channel.send(head, body),
            })?;
        }
        Ok(())
    }

    /// Tries `attempt` until `channel` has room for it. What comes meanwhile is taken into memory unless another thread
    /// reads: the other side may have as much to send, and wait for room too.
    fn with_room<T>(
        &self,
        channel: &dyn Channel,
        mut attempt: impl FnMut() -> Result<Option<T>, LinkError>,
    ) -> Result<T, LinkError> {
        loop {
            if let Some(value) = attempt()? {
                return Ok(value);
            }
            let events = match self.listen()? {
                Some(_) => PollFlags::IN | PollFlags::OUT,
                // Who reads now may be about to send, and wait for this thread.
                None => PollFlags::OUT,
            };
            let soon = Instant::now() + CHECK;
            match channel.socket().wait(events, Some(soon)).sleep() {
                Ok(()) | Err(LinkError::TimedOut(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }
}
