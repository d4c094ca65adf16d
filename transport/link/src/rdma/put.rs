//! The end of a ring that this side writes: into memory of its own, from which the device copies it to
//! the same place of the other side's ring, or the connection takes it.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use gtrace_verbs::{Outcome, VerbsError};

use super::counts::Writer;
use super::lent::Piece;
use super::number::{self, MESSAGE_MAX};
use super::shared::Shared;
use super::slot::Slot;
use super::wait::{Half, POLL_EACH, sleep, until};
use super::wire::{Source, Wire};
use crate::halves::Put;
use crate::link::LinkError;
use crate::mapping::{Mapping, Ring};
use crate::pinned::PinnedRegion;
use crate::ring::RingError;
use crate::spin::Spin;

/// Longest wait of a writer that is dropped for its last bytes to be acknowledged.
const LAST: Duration = Duration::from_secs(1);
/// Between checks whether the connection takes them.
const LAST_PAUSE: Duration = Duration::from_millis(1);
/// Longest sleep of a writer whose events another may take.
const TAKEN_AWAY: Duration = Duration::from_millis(5);

/// Pieces of a large copy that a ring holds.
const PIECES: usize = 8;
/// Fewest bytes that are sent without a copy: copying fewer is faster than polling for completion.
const LEND: usize = 32 << 10;
/// Memories of the program that a device knows at the same time, and those that it would not that are remembered.
const REGISTERED: usize = 64;

/// The writing end.
pub(super) struct RdmaPut {
    pub(super) counts: Writer,
    pub(super) mapping: Arc<Mapping>,
    pub(super) ring: Ring,
    pub(super) shared: Arc<Shared>,
    pub(super) spin: Spin,
    /// Whether the device brings the bytes.
    pub(super) by_device: bool,
    /// How often it was given some.
    pub(super) posted: u32,
    /// Memories of the program that the device does not take.
    pub(super) refused: Vec<PinnedRegion>,
}

/// What was wrong with a completion.
pub(super) enum Wrong {
    Number(RingError),
    Unexpected,
}

impl Wrong {
    pub(super) fn into_error(self, shared: &Shared) -> LinkError {
        match self {
            Self::Number(error) => shared.wrong(error),
            Self::Unexpected => shared.wrong(RingError {
                counter: "kind of what was sent",
                found: 1,
                least: 0,
                most: 0,
            }),
        }
    }
}

impl Half for RdmaPut {
    const DRAINS: bool = false;

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn spin(&mut self) -> &mut Spin {
        &mut self.spin
    }

    fn advance(&mut self) -> Result<(), LinkError> {
        if !self.by_device {
            return Ok(());
        }
        if self.shared.has_moved() {
            return self.fail_over(None).map(|_| ());
        }
        let (mut bad, mut used) = (None, 0);
        let counts = &mut self.counts;
        let mut out = self.shared.out();
        let mut polled = out.poll(&mut |outcome| match outcome {
            Outcome::Sent => counts.completed(),
            Outcome::SendImm(number) => {
                used += 1;
                if let Err(error) = counts.acknowledged(number) {
                    bad = Some(Wrong::Number(error));
                }
            }
            Outcome::Written(_) | Outcome::NoImm => bad = Some(Wrong::Unexpected),
        });
        if let (Ok(()), Some(wire), 1..) = (&polled, out.wire(), used) {
            polled = wire.receive(used);
        }
        drop(out);
        if used > 0 {
            self.shared.note_read(self.counts.head());
        }
        match bad {
            Some(wrong) => Err(wrong.into_error(&self.shared)),
            None => polled.or_else(|error| self.shared.failed(&error)),
        }
    }

    fn arm(&mut self) -> Result<(), LinkError> {
        let mut out = self.shared.out();
        let armed = out.wire().map_or(Ok(()), |wire| {
            wire.clear();
            wire.arm()
        });
        drop(out);
        armed.or_else(|error| self.shared.failed(&error))
    }

    fn sleep(&mut self, deadline: Option<Instant>) -> Result<bool, LinkError> {
        let events = self.shared.out().events();
        let events = events
            .as_ref()
            .map(|events| std::os::fd::AsFd::as_fd(&**events));
        sleep(&self.shared, [events, None], deadline)
    }
}

impl RdmaPut {
    /// Posts what is pending, if the other side can take it.
    fn post(&mut self) -> Result<(), VerbsError> {
        let mut out = self.shared.out();
        let Some(wire) = out.wire() else {
            return Ok(());
        };
        let Some(plan) = self.counts.post() else {
            return Ok(());
        };
        self.shared.publish(self.counts.published());
        let (from, len) = plan.message;
        let [first, second] = plan.pieces;
        let lent = self.shared.lent().find(from, len);
        let number = match &lent {
            Some(piece) => number::of(piece.bytes()),
            None => number::of(self.mapping.bytes(self.ring, from, len)),
        };
        let source = |at| match lent {
            Some(Piece {
                memory, at: place, ..
            }) => Source::Memory(memory, place + at),
            None => Source::Ring,
        };
        if second.1 == 0 {
            return wire.write(first, source(0), Some(number), plan.signal);
        }
        wire.write(first, source(0), None, false)?;
        wire.write(second, source(first.1), Some(number), plan.signal)
    }

    /// Waits until the device has done all that it was given, or is given up.
    fn drained(&mut self, deadline: Option<Instant>) -> Result<(), LinkError> {
        loop {
            // The reading half, in another thread, may take the event that would end the sleep.
            let soon = Instant::now() + TAKEN_AWAY;
            let end = deadline.map_or(soon, |deadline| deadline.min(soon));
            let drained = until(self, Some(end), |put| {
                if put.counts.post_last() {
                    let mut out = put.shared.out();
                    let posted = (out.wire())
                        .map_or(Ok(()), |wire| wire.write((0, 0), Source::Ring, None, true));
                    drop(out);
                    // What comes of a failure shows at the next look.
                    let _ = posted.or_else(|error| put.shared.failed(&error));
                }
                (put.shared.has_moved() || put.counts.under_way() == 0).then_some(())
            });
            match drained {
                Err(LinkError::TimedOut(_)) if deadline.is_none_or(|end| Instant::now() < end) => {
                    self.shared.check_host()?;
                    self.shared.hear()?;
                }
                drained => return drained,
            }
        }
    }

    /// Whether the device has `memory` registered; registers it if possible.
    fn registered(&mut self, memory: &PinnedRegion) -> Result<bool, LinkError> {
        if self.refused.contains(memory) {
            return Ok(false);
        }
        let shared = Arc::clone(&self.shared);
        let register = |full| match shared.out().wire() {
            Some(wire) if wire.registered().contains(memory) => Some(Ok(())),
            Some(wire) if wire.registered().len() < full => Some(wire.register(memory)),
            _ => None,
        };
        let mut registered = register(REGISTERED);
        let others = |wire: &mut Slot| {
            wire.wire()
                .is_some_and(|wire| !wire.registered().is_empty())
        };
        if !matches!(registered, Some(Ok(()))) && others(&mut shared.out()) {
            self.drained(None)?;
            if let Some(wire) = shared.out().wire() {
                wire.forget(None);
            }
            registered = register(REGISTERED);
        }
        match registered {
            Some(Ok(())) => Ok(true),
            Some(Err(error)) => {
                self.shared.changes.note(&format!(
                    "rdma: page-locked memory is copied to the link's own before it is sent: {error}"
                ));
                if self.refused.len() >= REGISTERED {
                    self.refused.clear();
                }
                self.refused.push(*memory);
                Ok(false)
            }
            None => Ok(false),
        }
    }

    /// The device is given up: all goes by the connection from here on. With a deadline, false if the other side
    /// has not reported by then what it has received, or the connection does not take that at once.
    fn fail_over(&mut self, deadline: Option<Instant>) -> Result<bool, LinkError> {
        if self.shared.theirs(deadline)?.is_none() {
            return Ok(false);
        }
        // What was not published too.
        self.shared.fetch(None);
        if deadline.is_none() {
            self.shared.send_again()?;
        } else {
            self.shared.try_send_again()?;
            let sending = self.shared.base.try_sending();
            if sending.is_none_or(|sending| sending.sent.is_none()) {
                return Ok(false);
            }
        }
        self.by_device = false;
        self.shared.end_out();
        let mut sending = self.shared.base.sending();
        // The reading half may have sent before what was published last.
        if let Some(sent) = sending.sent {
            let (from, len) = self.counts.fail_over(sent);
            sending.send(self.mapping.bytes(self.ring, from, len))?;
        }
        self.counts.left();
        Ok(true)
    }

    /// Gives what is committed next to the device again, if both sides have agreed upon that. What lies
    /// here already has no room there that is known of.
    fn fail_back(&mut self) -> Result<(), LinkError> {
        if self.counts.pending() > 0 {
            return Ok(());
        }
        if let Some(receives) = self.shared.switch_out(self.counts.published())? {
            self.counts.restart(receives);
            self.by_device = true;
        }
        Ok(())
    }

    fn send_pending(&mut self) -> Result<(), LinkError> {
        let (from, len) = self.counts.unpublished();
        let bytes = self.mapping.bytes(self.ring, from, len);
        self.shared.base.sending().send(bytes)?;
        self.counts.sent();
        Ok(())
    }
}

impl Put for RdmaPut {
    #[inline]
    fn capacity(&self) -> usize {
        self.mapping.ring()
    }

    /// Each is a message, which wakes a reader that sleeps: so not more than it takes to keep the device busy while
    /// the next one is copied.
    fn piece(&self) -> usize {
        self.mapping.ring() / PIECES
    }

    #[inline]
    fn room(&mut self, wanted: usize) -> Result<usize, LinkError> {
        if self.counts.room() < wanted {
            self.advance()?;
        }
        Ok(self.counts.room())
    }

    #[cold]
    fn wait_for_room(&mut self, len: usize) -> Result<usize, LinkError> {
        self.publish()?;
        until(self, None, |put| {
            let room = put.counts.room();
            (room >= len).then_some(room)
        })
    }

    #[inline]
    fn space(&mut self, len: usize) -> &mut [u8] {
        let len = len.min(self.counts.room());
        self.mapping.bytes_mut(self.ring, self.counts.tail(), len)
    }

    #[inline]
    fn commit(&mut self, len: usize) {
        self.counts.commit(len);
    }

    #[inline]
    fn pending(&self) -> usize {
        self.counts.pending()
    }

    fn publish(&mut self) -> Result<(), LinkError> {
        while self.counts.pending() > 0 {
            if self.by_device && !self.shared.has_moved() && !self.counts.may_post() {
                until(self, None, |put| {
                    (put.counts.may_post() || !put.by_device).then_some(())
                })?;
            }
            if self.by_device && !self.shared.has_moved() {
                if let Err(error) = self.post() {
                    self.shared.failed(&error)?;
                }
                self.posted = self.posted.wrapping_add(1);
                // A writer that never waits checks here.
                if self.posted.is_multiple_of(POLL_EACH) && self.shared.look(Instant::now())? {
                    return Err(self.shared.socket.closed());
                }
                // Else who gives the device up sees what was published.
                if !self.shared.has_moved() {
                    continue;
                }
            }
            if self.by_device {
                self.fail_over(None)?;
            }
            self.send_pending()?;
            return self.fail_back();
        }
        Ok(())
    }

    fn lend(&mut self, body: &[u8], memory: &PinnedRegion) -> Result<usize, LinkError> {
        let Some(begin) = memory.offset_of(body).filter(|_| body.len() >= LEND) else {
            return Ok(0);
        };
        self.publish()?;
        if !self.by_device || self.shared.has_moved() || !self.registered(memory)? {
            return Ok(0);
        }
        let mut at = 0;
        while at < body.len() {
            let len = (body.len() - at).min(self.piece()).min(MESSAGE_MAX);
            if self.room(len)? < len {
                self.wait_for_room(len)?;
            }
            if !self.by_device {
                break;
            }
            self.shared.lent().lend(Piece {
                from: self.counts.tail(),
                len,
                memory: *memory,
                at: begin + at,
            });
            self.counts.commit(len);
            self.publish()?;
            at += len;
            self.shared.changes.lend(len);
        }
        Ok(at)
    }

    fn release(&mut self, memory: Option<&PinnedRegion>) -> Result<(), LinkError> {
        let meant = |known: &PinnedRegion| memory.is_none_or(|memory| known == memory);
        self.refused.retain(|refused| !meant(refused));
        let known = |wire: &mut (dyn Wire + 'static)| wire.registered().iter().any(meant);
        let known = self.shared.out().wire().is_some_and(known);
        let drained = match known {
            true => self.drained(None),
            false => Ok(()),
        };
        self.shared.fetch(memory);
        if let Some(wire) = self.shared.out().wire() {
            wire.forget(memory);
        }
        drained
    }

    fn failover_pending(&self) -> bool {
        self.by_device && self.shared.has_moved()
    }

    fn poll_completions(&mut self) -> Result<(), LinkError> {
        self.shared.look(Instant::now())?;
        if !self.by_device {
            if self.ring == Ring::ToServer {
                self.shared.fail_back()?;
            }
            return self.fail_back();
        }
        if !self.shared.has_moved() {
            self.advance()?;
            self.shared.hear()?;
        }
        match self.shared.has_moved() && self.fail_over(Some(Instant::now()))? {
            true => self.send_pending(),
            false => Ok(()),
        }
    }
}

impl Drop for RdmaPut {
    fn drop(&mut self) {
        // The bytes lie here until the device has copied them: the queue pair is to live so long.
        if !self.shared.is_ours() {
            return;
        }
        let deadline = Instant::now() + LAST;
        if self.by_device && !self.shared.has_moved() {
            let _ = self.drained(Some(deadline));
        }
        while self.by_device && self.shared.has_moved() {
            match self.fail_over(Some(deadline)) {
                Ok(false) if Instant::now() < deadline => thread::sleep(LAST_PAUSE),
                _ => break,
            }
        }
        self.shared.out().close();
    }
}
