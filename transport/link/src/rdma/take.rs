//! The end of a ring that this side reads, and the other side's device writes, or the connection fills.

use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gtrace_verbs::{Outcome, VerbsError};

use super::counts::Reader;
use super::number;
use super::put::Wrong;
use super::shared::Shared;
use super::wait::{Half, POLL, POLL_EACH, sleep, until};
use crate::halves::Take;
use crate::link::LinkError;
use crate::mapping::{Mapping, Ring};
use crate::spin::Spin;

/// Between checks whether the connection takes more of what has to be sent again.
const SEND_AGAIN: Duration = Duration::from_millis(2);

const TORN: &str =
    "bytes that the device says it wrote are not those that were sent: their checksum is another";

/// The reading end.
pub(super) struct RdmaTake {
    pub(super) counts: Reader,
    /// Whether the device brings the bytes.
    pub(super) by_device: bool,
    /// How often it has brought some.
    pub(super) taken: u32,
    /// Up to which byte it is to bring some after the end of the connection: what was on its way.
    pub(super) last: Option<u64>,
    pub(super) mapping: Arc<Mapping>,
    pub(super) ring: Ring,
    pub(super) shared: Arc<Shared>,
    pub(super) spin: Spin,
}

impl Half for RdmaTake {
    const DRAINS: bool = true;

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn spin(&mut self) -> &mut Spin {
        &mut self.spin
    }

    fn advance(&mut self) -> Result<(), LinkError> {
        if self.by_device {
            if !self.shared.has_moved() {
                self.take()?;
            }
            if !self.shared.has_moved() {
                return Ok(());
            }
            self.fail_over();
        }
        self.listen()
    }

    fn arm(&mut self) -> Result<(), LinkError> {
        if !self.by_device {
            return Ok(());
        }
        let mut incoming = self.shared.incoming();
        let armed = incoming.wire().map_or(Ok(()), |wire| {
            wire.clear();
            wire.arm()
        });
        drop(incoming);
        armed.or_else(|error| self.shared.failed(&error))
    }

    fn sleep(&mut self, deadline: Option<Instant>) -> Result<bool, LinkError> {
        if !self.by_device {
            return self.sleep_on_connection(deadline);
        }
        let out = self.shared.watch_out()?;
        let incoming = self.shared.incoming().events();
        if self.shared.has_moved() {
            return Ok(false);
        }
        let events = [&incoming, &out].map(|events| events.as_ref().map(|events| events.as_fd()));
        sleep(&self.shared, events, deadline)
    }
}

impl RdmaTake {
    /// Takes what the device has brought.
    fn take(&mut self) -> Result<(), LinkError> {
        let mut incoming = self.shared.incoming();
        let Some(wire) = incoming.wire() else {
            return Ok(());
        };
        let (mut bad, mut torn, mut used) = (None, false, 0);
        let (counts, mapping, ring) = (&mut self.counts, &self.mapping, self.ring);
        let before = counts.tail();
        let mut polled = wire.poll(&mut |outcome| match outcome {
            Outcome::Sent => counts.completed(),
            // Behind bytes that did not come whole, nothing counts.
            Outcome::Written(_) if torn => {}
            Outcome::Written(number) => {
                used += 1;
                let (from, len) = (counts.tail(), number::len(number));
                match counts.arrived(len) {
                    Err(error) => bad = Some(Wrong::Number(error)),
                    Ok(()) if number::of(mapping.bytes(ring, from, len as usize)) == number => {}
                    Ok(()) => {
                        torn = true;
                        counts.roll_back(from);
                    }
                }
            }
            Outcome::SendImm(_) | Outcome::NoImm => bad = Some(Wrong::Unexpected),
        });
        let after = counts.tail();
        if after != before && !self.shared.arrive(before, after) {
            // The other side sends it again.
            counts.roll_back(before);
        }
        if polled.is_ok() && used > 0 {
            polled = wire.receive(used);
        }
        drop(incoming);
        if let Some(wrong) = bad {
            return Err(wrong.into_error(&self.shared));
        }
        if torn {
            return self.shared.give_up(TORN);
        }
        let acknowledged = polled.and_then(|()| self.send_imm());
        acknowledged.or_else(|error| self.shared.failed(&error))?;
        if after != before {
            self.taken = self.taken.wrapping_add(1);
            if self.last.is_some_and(|last| after > last) {
                return Err(self.shared.socket.closed());
            }
            // A reader that never waits checks here.
            if self.taken.is_multiple_of(POLL_EACH) && self.shared.look(Instant::now())? {
                let on_its_way = self.mapping.ring() as u64;
                self.last = self.last.or(Some(after + on_its_way));
            }
        }
        Ok(())
    }

    /// Acknowledges to the writer what it can use again, when that is due.
    fn send_imm(&mut self) -> Result<(), VerbsError> {
        while self.by_device {
            let Some((number, signal)) = self.counts.next_ack() else {
                break;
            };
            if let Some(wire) = self.shared.incoming().wire() {
                wire.send_imm(number, signal)?;
            }
        }
        Ok(())
    }

    /// The device is given up. Once the queue pair is gone the ring is nobody else's, and takes what
    /// comes by the connection.
    fn fail_over(&mut self) {
        self.by_device = false;
        self.shared.incoming().close();
        let received = self.shared.freeze();
        self.counts.roll_back(received);
        self.shared.set_reads(false);
    }

    /// Takes what came by the connection.
    fn listen(&mut self) -> Result<(), LinkError> {
        let (counts, mapping, ring) = (&mut self.counts, &self.mapping, self.ring);
        let mut sink = |bytes: &[u8]| {
            let len = bytes.len().min(counts.free());
            let space = mapping.bytes_mut(ring, counts.tail(), len);
            space.copy_from_slice(&bytes[..len]);
            counts.came(len);
            len
        };
        self.shared.base.listen(Some(&mut sink))?;
        let tail = self.counts.tail();
        self.shared.note_taken(tail);
        // The writing half may not be called before the other side has what it lost.
        self.shared.hear_moved()?;
        self.shared.try_send_again()?;
        if self.ring == Ring::ToServer {
            self.shared.answer()?;
        }
        if let Some(wire) = self.shared.switch_in(tail) {
            let set = self.shared.set_incoming(wire);
            set.map_err(|error| LinkError::Io(self.shared.socket.peer.clone(), error))?;
            self.by_device = true;
            self.counts.restart();
            self.shared.set_reads(true);
            return self.take();
        }
        Ok(())
    }

    fn sleep_on_connection(&mut self, deadline: Option<Instant>) -> Result<bool, LinkError> {
        // What has to be sent again waits for room, which wakes nobody here.
        let soon = match self.shared.has_to_send_again() {
            true => SEND_AGAIN,
            false => POLL,
        };
        let look = Instant::now() + soon;
        let until = deadline.map_or(look, |deadline| deadline.min(look));
        match self.shared.base.wait(until) {
            Err(LinkError::TimedOut(_)) if deadline.is_none_or(|end| Instant::now() < end) => {
                Ok(false)
            }
            waited => waited.map(|()| false),
        }
    }
}

impl Take for RdmaTake {
    #[inline]
    fn available(&mut self, wanted: usize) -> Result<usize, LinkError> {
        if self.counts.available() < wanted {
            // What came before a failure is still read.
            match self.advance() {
                Err(_) if self.counts.available() >= wanted => {}
                advanced => advanced?,
            }
        }
        Ok(self.counts.available())
    }

    fn wait_for(&mut self, len: usize, deadline: Option<Instant>) -> Result<usize, LinkError> {
        let waited = until(self, deadline, |take| {
            let available = take.counts.available();
            (available >= len).then_some(available)
        });
        if let Err(LinkError::Closed(_)) = &waited {
            // What a writer gives the device that has not seen the end yet does not count.
            self.shared.freeze();
        }
        waited
    }

    #[inline]
    fn unread(&self, len: usize) -> &[u8] {
        let len = len.min(self.counts.available());
        self.mapping.bytes(self.ring, self.counts.head(), len)
    }

    #[inline]
    fn consume(&mut self, len: usize) {
        self.counts.consume(len);
        // A failure shows at the next wait, as the queue pair is broken then.
        let _ = self.send_imm();
    }
}

impl Drop for RdmaTake {
    fn drop(&mut self) {
        if self.shared.is_ours() {
            self.shared.incoming().close();
        }
    }
}
