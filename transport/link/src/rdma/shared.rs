//! What both halves of an RDMA link have, and how it goes on without the device.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use gtrace_protocol::Segment;
use gtrace_verbs::VerbsError;
use rustix::event::{PollFd, PollFlags};

use super::back::{Back, Renew};
use super::base::{Base, RxEvent, Sending};
use super::lent::Lent;
use super::slot::Slot;
use super::wire::Wire;
use crate::changes::Changes;
use crate::link::{End, Endable, Ended, Ender, Link, LinkError};
use crate::mapping::{Mapping, Ring};
use crate::pinned::PinnedRegion;
use crate::ring::RingError;
use crate::socket::Socket;
use crate::wait::{gone, io_error, poll};

/// Set in the count of what has arrived once no more is taken from the device.
const FROZEN: u64 = 1 << 63;
/// Between two polls of the connection, where it does not wake the waiting thread.
const POLL: Duration = Duration::from_millis(10);
/// Least time between two checks whether the device is there, in milliseconds.
const POLL_DEVICE: u64 = if cfg!(test) { 10 } else { 250 };
/// Bytes for which a socket has room that says it has some: a third of what it holds is free then.
const AGAIN: u64 = 4 << 10;
/// Of bytes that the device has none.
const NONE: u64 = u64::MAX;

/// What both halves have: above all the connection on which the link was agreed upon. While the device
/// works nothing is sent on it, and its end is the end of the other side.
pub(crate) struct Shared {
    /// A second descriptor of the connection.
    pub(super) socket: Socket,
    /// The link that it carried, open as long as this one is; empty while this one is on probation.
    pub(super) base: Base,
    base_end: OnceLock<Ender>,
    /// The process that it belongs to: children of a fork leave device and connection alone.
    process: u32,
    /// Up to which byte the reading half has received.
    arrived: AtomicU64,
    /// Whether the device is given up, and the other side was notified.
    moved: AtomicBool,
    out: Mutex<Slot>,
    /// The queue pair that the other side writes on; empty when the connection brings the bytes.
    incoming: Mutex<Slot>,
    /// The ring that this side writes.
    staging: (Arc<Mapping>, Ring),
    /// What of it lies in memory of the program.
    lent: Mutex<Lent>,
    /// What the writing half has published, and what of it the other side has read: between them lies
    /// what may have to be sent again, by whichever half is called first.
    published: AtomicU64,
    read: AtomicU64,
    /// The first byte that the device was given, if it is given any.
    since: AtomicU64,
    /// Whether the reading half takes nothing from the device.
    reads_apart: AtomicBool,
    back: Mutex<Back>,
    opened: Instant,
    /// When the device was checked, in milliseconds after that.
    checked: AtomicU64,
    /// Whether the connection was found to be at its end then.
    ended: AtomicBool,
    pub(super) changes: Arc<Changes>,
}

impl Shared {
    /// Of a link that begins at byte `start` and writes the ring `sends`.
    pub(super) fn new(
        socket: Socket,
        (mapping, sends): (&Arc<Mapping>, Ring),
        renew: Option<Box<dyn Renew>>,
        start: u64,
    ) -> Self {
        Self {
            socket,
            base: Base::new(),
            base_end: OnceLock::new(),
            process: process::id(),
            arrived: AtomicU64::new(start),
            moved: AtomicBool::new(false),
            out: Mutex::default(),
            incoming: Mutex::default(),
            staging: (Arc::clone(mapping), sends),
            lent: Mutex::default(),
            published: AtomicU64::new(start),
            read: AtomicU64::new(start),
            since: AtomicU64::new(start),
            reads_apart: AtomicBool::new(false),
            back: Mutex::new(Back::new(renew)),
            opened: Instant::now(),
            checked: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            changes: Arc::default(),
        }
    }

    /// This link is used from here on instead of `base`, and ends with it. Before, its failure leaves
    /// the connection as it is.
    pub(crate) fn settle(&self, base: Link) {
        let end = base.end.clone();
        self.base.set(base);
        let _ = self.base_end.set(end);
    }

    fn is_settled(&self) -> bool {
        self.base_end.get().is_some()
    }

    /// Whether this is the process that opened the link.
    pub(super) fn is_ours(&self) -> bool {
        self.process == process::id()
    }

    /// The queue pair that this side writes on.
    pub(super) fn out(&self) -> MutexGuard<'_, Slot> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives it.
    pub(super) fn set_out(&self, wire: Box<dyn Wire>) -> io::Result<()> {
        *self.out() = Slot::new(wire)?;
        Ok(())
    }

    /// The queue pair that the other side writes on.
    #[inline]
    pub(super) fn incoming(&self) -> MutexGuard<'_, Slot> {
        self.incoming.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives it.
    pub(super) fn set_incoming(&self, wire: Box<dyn Wire>) -> io::Result<()> {
        *self.incoming() = Slot::new(wire)?;
        Ok(())
    }

    /// Gives the device up if it is being removed; calls check that now and then. Returns whether the
    /// connection has ended, which a thread that never waits learns only here.
    pub(super) fn look(&self, now: Instant) -> Result<bool, LinkError> {
        let since = now.saturating_duration_since(self.opened).as_millis();
        let since = u64::try_from(since).unwrap_or(u64::MAX);
        let checked = self.checked.load(Ordering::Relaxed);
        if since < checked.saturating_add(POLL_DEVICE) {
            return Ok(self.ended.load(Ordering::Relaxed));
        }
        self.checked.store(since, Ordering::Relaxed);
        if self.has_moved() {
            return Ok(false);
        }
        if self.is_settled() && (!self.is_alive() || gone(self.socket.fd.as_fd())) {
            self.ended.store(true, Ordering::Relaxed);
            return Ok(true);
        }
        let out = self.out().check();
        let incoming = out.and_then(|()| self.incoming().check());
        let checked = incoming.and_then(|()| self.back().check());
        checked.or_else(|error| self.failed(&error))?;
        Ok(false)
    }

    /// Whether the device is given up.
    #[inline]
    pub(super) fn has_moved(&self) -> bool {
        self.moved.load(Ordering::SeqCst)
    }

    /// The device, or the other side's, could not go on: the connection takes its place.
    pub(super) fn failed(&self, error: &VerbsError) -> Result<(), LinkError> {
        self.give_up(&error.to_string())
    }

    /// Gives the device up: nothing more is taken from it, and the other side learns up to which byte
    /// it was.
    pub(super) fn give_up(&self, why: &str) -> Result<(), LinkError> {
        if !self.is_alive() {
            return Err(self.socket.closed());
        }
        if !self.is_settled() {
            let peer = self.socket.peer.clone();
            return Err(LinkError::Io(peer, io::Error::other(why.to_owned())));
        }
        let mut sending = self.base.sending();
        if self.moved.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        let received = self.freeze();
        // Here, as a half may not be called for long: a driver may wait until all have closed its device.
        self.out().close();
        self.incoming().close();
        self.changes.fall(&format!("rdma: {why}"));
        self.back().failed(Instant::now());
        sending.say(Segment::Move {
            generation: self.base.generation(),
            received,
        })
    }

    /// How far the way back to the device is. Taken after the sending half of the connection, if both
    /// are.
    pub(super) fn back(&self) -> MutexGuard<'_, Back> {
        self.back.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the device is given up by both sides and both halves, and all is sent again.
    pub(super) fn is_apart(&self) -> bool {
        self.has_moved()
            && self.reads_apart.load(Ordering::Acquire)
            && self.since.load(Ordering::Acquire) == NONE
            && self.base.theirs().is_some()
            && (self.base.try_sending()).is_some_and(|sending| sending.sent.is_some())
    }

    /// New queue pairs are agreed upon, which neither half uses yet.
    pub(super) fn begin(&self) {
        let mut sending = self.base.sending();
        (sending.sent, sending.again) = (None, None);
        self.arrived.fetch_and(!FROZEN, Ordering::AcqRel);
        self.moved.store(false, Ordering::SeqCst);
    }

    /// The device is given bytes from `position` on.
    pub(super) fn begin_at(&self, position: u64) {
        self.publish(position);
        self.note_read(position);
        self.since.store(position, Ordering::Release);
    }

    /// The writing half gives the device nothing more.
    pub(super) fn end_out(&self) {
        self.out().close();
        self.since.store(NONE, Ordering::Release);
    }

    /// Whether the reading half takes from the device.
    pub(super) fn set_reads(&self, by_device: bool) {
        self.reads_apart.store(!by_device, Ordering::Release);
    }

    /// Sends again what the other side has not received, once that is known, unless it is done.
    pub(super) fn send_again(&self) -> Result<(), LinkError> {
        let (true, Some(theirs)) = (self.has_moved(), self.base.theirs()) else {
            return Ok(());
        };
        self.send_again_by(self.base.sending(), theirs, true)
    }

    /// The same for the reading half, as far as the connection takes it at once: the other side may have just
    /// as much to send again, and nobody who reads. Nor does it wait for who sends on the connection, which
    /// sends again by itself.
    pub(super) fn try_send_again(&self) -> Result<(), LinkError> {
        let (true, Some(theirs)) = (self.has_moved(), self.base.theirs()) else {
            return Ok(());
        };
        match self.base.try_sending() {
            Some(sending) => self.send_again_by(sending, theirs, false),
            None => Ok(()),
        }
    }

    /// Whether the other side has reported what it lacks, and not all of that is sent.
    pub(super) fn has_to_send_again(&self) -> bool {
        self.has_moved()
            && self.base.theirs().is_some()
            && (self.base.try_sending()).is_some_and(|sending| sending.sent.is_none())
    }

    fn send_again_by(
        &self,
        mut sending: MutexGuard<'_, Sending>,
        theirs: u64,
        all: bool,
    ) -> Result<(), LinkError> {
        if sending.sent.is_some() {
            return Ok(());
        }
        let published = self.published.load(Ordering::SeqCst);
        let read = self.read.load(Ordering::Acquire);
        let since = self.since.load(Ordering::Acquire);
        if since == NONE {
            sending.sent = Some(published);
            return Ok(());
        }
        // What came before the device was given the first byte came by the connection.
        let theirs = theirs.max(match self.base.generation() {
            1 => 0,
            _ => since,
        });
        if !(read..=published).contains(&theirs) {
            return Err(self.wrong(RingError {
                counter: "received bytes",
                found: theirs,
                least: read,
                most: published,
            }));
        }
        self.fetch(None);
        let (mapping, ring) = &self.staging;
        let mut from = sending.again.unwrap_or(theirs);
        while from < published {
            let left = published - from;
            let len = match all {
                true => left,
                false if self.takes_more()? => left.min(AGAIN),
                false => return Ok(()),
            };
            sending.send(mapping.bytes(*ring, from, len as usize))?;
            from += len;
            sending.again = Some(from);
        }
        sending.sent = Some(published);
        Ok(())
    }

    /// Whether the connection takes [`AGAIN`] bytes without waiting for the other side.
    fn takes_more(&self) -> Result<bool, LinkError> {
        let mut fds = [PollFd::new(&self.socket.fd, PollFlags::OUT)];
        poll(&mut fds, Some(Instant::now())).map_err(|error| io_error(&self.socket.peer, error))
    }

    /// The writing half gives bytes up to this one to the device.
    pub(super) fn publish(&self, published: u64) {
        self.published.store(published, Ordering::SeqCst);
    }

    /// The other side has read up to this byte.
    pub(super) fn note_read(&self, read: u64) {
        self.read.store(read, Ordering::Release);
        self.lent().read(read);
    }

    /// What lies in memory of the program. Taken after all others.
    pub(super) fn lent(&self) -> MutexGuard<'_, Lent> {
        self.lent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has what lies in `memory` of the program, or in any, lie in the ring from here on.
    pub(super) fn fetch(&self, memory: Option<&PinnedRegion>) {
        let mut lent = self.lent();
        let (mapping, ring) = &self.staging;
        for piece in lent.take(memory) {
            let place = mapping.bytes_mut(*ring, piece.from, piece.len);
            piece.copy(place);
        }
    }

    /// Takes nothing more from the device; what was received until now.
    pub(super) fn freeze(&self) -> u64 {
        self.arrived.fetch_or(FROZEN, Ordering::AcqRel) & !FROZEN
    }

    /// The reading half has received from byte `from` up to `to`. False if that no longer counts.
    pub(super) fn arrive(&self, from: u64, to: u64) -> bool {
        let counted =
            (self.arrived).compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire);
        counted.is_ok()
    }

    /// The reading half has so many bytes, of which some came by the connection.
    pub(super) fn note_taken(&self, tail: u64) {
        let now = self.arrived.load(Ordering::Acquire);
        if now & FROZEN == 0 && now != tail {
            self.arrive(now, tail);
        }
    }

    /// Takes what the other side sent on the connection.
    pub(super) fn hear(&self) -> Result<(), LinkError> {
        self.base.try_listen()?;
        self.hear_moved()
    }

    /// Gives the device up if the other side has.
    pub(super) fn hear_moved(&self) -> Result<(), LinkError> {
        if self.base.theirs().is_some() && !self.has_moved() {
            self.give_up("the other side cannot use the device any more")?;
        }
        Ok(())
    }

    /// Up to where the other side has received, once the device is given up; none if it has not reported that
    /// before `deadline`.
    pub(super) fn theirs(&self, deadline: Option<Instant>) -> Result<Option<u64>, LinkError> {
        loop {
            if let Some(theirs) = self.base.theirs() {
                return Ok(Some(theirs));
            }
            if self.base.try_listen()? == RxEvent::Something {
                continue;
            }
            let now = Instant::now();
            if deadline.is_some_and(|deadline| now >= deadline) {
                return Ok(None);
            }
            let until = deadline.map_or(now + POLL, |deadline| deadline.min(now + POLL));
            let mut fds = [PollFd::new(&self.socket.fd, PollFlags::IN)];
            let ready = poll(&mut fds, Some(until));
            if ready.map_err(|error| io_error(&self.socket.peer, error))? {
                // Another thread may be at it, or has no room for what is there.
                thread::sleep(Duration::from_millis(1));
            } else {
                self.check_host()?;
            }
        }
    }

    /// Checks whether a write of this side has failed, and makes a later failure wake the thread that
    /// waits for the descriptor, if there is one.
    pub(super) fn watch_out(&self) -> Result<Option<Arc<OwnedFd>>, LinkError> {
        // The thread that has it locked polls it.
        let Ok(mut out) = self.out.try_lock() else {
            return Ok(None);
        };
        let looked = out.look();
        let events = out.events();
        drop(out);
        if let Err(error) = looked {
            self.failed(&error)?;
        }
        Ok(events)
    }

    /// Something happened on the connection. True if it has ended, and what came before counts.
    pub(super) fn stirred(&self) -> Result<bool, LinkError> {
        if !self.is_settled() {
            return Ok(true);
        }
        match self.hear() {
            Ok(()) => Ok(!self.has_moved() && !self.is_alive()),
            Err(LinkError::Closed(_)) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// That the other host still answers.
    pub(super) fn check_host(&self) -> Result<(), LinkError> {
        if gone(self.socket.fd.as_fd()) {
            self.end();
            return Err(Ended::new(&self.socket.peer, End::Silent).into());
        }
        Ok(())
    }

    /// Nobody can go on with a peer that sends wrong numbers.
    pub(super) fn wrong(&self, error: RingError) -> LinkError {
        self.end();
        error.into()
    }
}

impl Endable for Shared {
    fn end(&self) {
        if self.is_settled() {
            self.socket.end();
        }
    }

    fn is_alive(&self) -> bool {
        self.socket.is_alive()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.is_settled() && self.is_ours() {
            self.socket.end();
        }
    }
}
