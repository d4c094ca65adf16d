//! Using the device again, once it works again: new queue pairs, agreed upon by the connection.
//!
//! The client asks, now and then, when it has nothing to send. Once both sides have connected their new
//! queue pairs, each direction changes over by itself: behind its last byte on the connection the
//! writer says that the next one comes by the device ([`Segment::Switch`]). If that fails again, the
//! link goes on by the connection again: bytes from the first one that was the device's are sent once
//! more, as far as the other side has not received them.

use std::time::{Duration, Instant};

use gtrace_protocol::{QueuePairs, QueuePairsAnswer, Segment};
use gtrace_verbs::VerbsError;

use super::setup::Wires;
use super::shared::Shared;
use super::wire::Wire;
use crate::link::LinkError;

/// From a failure to the first try, and doubled with each further one.
const FIRST_DELAY: Duration = Duration::from_millis(if cfg!(test) { 10 } else { 1000 });
const LONGEST_DELAY: Duration = Duration::from_secs(60);
/// The same while this host has no such device, or its port is down: a try asks nobody else.
const LONGEST_DELAY_HERE: Duration = Duration::from_secs(5);

/// Makes new queue pairs for a link.
pub(super) trait Renew: Send {
    /// Queue pairs that are not connected yet; or why there are none.
    fn prepare(&self) -> Result<Box<dyn Fresh>, String>;
}

/// Queue pairs that are not connected yet.
pub(super) trait Fresh: Send {
    /// What the other side has to know.
    fn peer_state(&self) -> QueuePairs;
    /// Connects them to those of the other side.
    fn connect(self: Box<Self>, theirs: &QueuePairs) -> Result<Wires, String>;
}

/// How far the way back is.
pub(super) struct Back {
    renew: Option<Box<dyn Renew>>,
    /// When the client tries next, and how long it waits after that.
    next: Option<Instant>,
    delay: Duration,
    /// When it was connected last.
    connected: Option<Instant>,
    /// What the client has asked with.
    asked: Option<Box<dyn Fresh>>,
    /// Connected, for the writing half to take; and whether it may.
    out: Option<(Box<dyn Wire>, u32)>,
    out_may: bool,
    /// Connected, for the reading half to take.
    incoming: Option<Box<dyn Wire>>,
}

impl Back {
    pub(super) fn new(renew: Option<Box<dyn Renew>>) -> Self {
        Self {
            renew,
            next: None,
            delay: FIRST_DELAY,
            connected: None,
            asked: None,
            out: None,
            out_may: false,
            incoming: None,
        }
    }

    /// The device has failed: nothing that was connected is of use, and a try has to wait.
    pub(super) fn failed(&mut self, now: Instant) {
        self.wait(now, LONGEST_DELAY);
    }

    /// Nothing can be prepared here.
    fn absent(&mut self, now: Instant) {
        self.wait(now, LONGEST_DELAY_HERE);
    }

    fn wait(&mut self, now: Instant, longest: Duration) {
        (self.asked, self.out, self.incoming) = (None, None, None);
        self.out_may = false;
        let long = |since: Instant| now.duration_since(since) >= LONGEST_DELAY;
        if self.connected.take().is_some_and(long) {
            self.delay = FIRST_DELAY;
        }
        self.next = Some(now + self.delay.min(longest));
        if self.delay < longest {
            self.delay = (self.delay * 2).min(longest);
        }
    }

    /// That the device of what is connected, and not used yet, is there still.
    pub(super) fn check(&self) -> Result<(), VerbsError> {
        let out = self.out.as_ref().map(|(wire, _)| wire);
        let both = [out, self.incoming.as_ref()];
        both.into_iter().flatten().try_for_each(|wire| wire.check())
    }

    fn is_due(&self, now: Instant) -> bool {
        self.asked.is_none() && self.out.is_none() && self.next.is_some_and(|next| now >= next)
    }

    fn set(&mut self, wires: Wires, out_may: bool) {
        self.connected = Some(Instant::now());
        self.next = None;
        self.out = Some((wires.out, wires.receives));
        self.out_may = out_may;
        self.incoming = Some(wires.incoming);
    }
}

impl Shared {
    /// Asks for the device, on the client's side, if it is time; and takes the answer.
    pub(super) fn fail_back(&self) -> Result<(), LinkError> {
        self.base.try_listen()?;
        let answer = self.base.peer_state().answer.take();
        if let Some(answer) = answer {
            return self.answered(answer);
        }
        if !self.is_apart() {
            return Ok(());
        }
        let mut back = self.back();
        if !back.is_due(Instant::now()) {
            return Ok(());
        }
        let prepared = back.renew.as_ref().map(|renew| renew.prepare());
        match prepared {
            None => Ok(()),
            Some(Err(reason)) => {
                back.absent(Instant::now());
                self.changes.refuse();
                self.changes
                    .note(&format!("rdma: not used again: {reason}"));
                Ok(())
            }
            Some(Ok(fresh)) => {
                let peer_state = fresh.peer_state();
                back.asked = Some(fresh);
                drop(back);
                self.base.peer_state().asked = true;
                self.base.sending().ask(&peer_state)
            }
        }
    }

    fn answered(&self, QueuePairsAnswer(answer): QueuePairsAnswer) -> Result<(), LinkError> {
        // The answer to what is given up meanwhile.
        let Some(fresh) = self.back().asked.take() else {
            return Ok(());
        };
        let theirs = match answer {
            Ok(theirs) => theirs,
            Err(reason) => {
                self.back().failed(Instant::now());
                self.changes.refuse();
                let printable = reason.chars().map(|c| if c.is_control() { '?' } else { c });
                let reason: String = printable.collect();
                self.changes
                    .note(&format!("rdma: not used again: the server: {reason}"));
                return Ok(());
            }
        };
        // The server has them connected, so every failure from here on must be sent to it.
        self.begin();
        match fresh.connect(&theirs) {
            Ok(wires) => {
                // Who gives the device up again meanwhile holds this until that is over.
                let _sending = self.base.sending();
                if !self.has_moved() {
                    self.back().set(wires, true);
                }
                Ok(())
            }
            Err(reason) => {
                self.changes.refuse();
                self.give_up(&reason)
            }
        }
    }

    /// Answers, on the server's side, what the client has asked.
    pub(super) fn answer(&self) -> Result<(), LinkError> {
        // Bytes that the device was given are on their way still: the next look answers.
        if !self.is_apart() {
            return Ok(());
        }
        let ask = self.base.peer_state().ask.take();
        let Some(theirs) = ask else {
            return Ok(());
        };
        let mut back = self.back();
        let made = match &back.renew {
            None => Err("RDMA was not agreed upon".to_owned()),
            Some(renew) => renew.prepare().and_then(|fresh| {
                let peer_state = fresh.peer_state();
                Ok((peer_state, fresh.connect(&theirs)?))
            }),
        };
        let answer = made.map(|(peer_state, wires)| {
            back.set(wires, false);
            peer_state
        });
        drop(back);
        if let Err(reason) = &answer {
            self.changes.refuse();
            self.changes
                .note(&format!("rdma: not used again: {reason}"));
        } else {
            self.base.begin();
            self.begin();
        }
        self.base.sending().answer(answer)
    }

    /// The queue pair on which the writing half is to go on from byte `position` on, if there is one;
    /// the other side knows then. Also the receives that the other side has posted.
    pub(super) fn switch_out(&self, position: u64) -> Result<Option<u32>, LinkError> {
        let mut sending = self.base.sending();
        let mut back = self.back();
        if self.has_moved() || !back.out_may {
            return Ok(None);
        }
        let Some((wire, receives)) = back.out.take() else {
            return Ok(None);
        };
        drop(back);
        self.set_out(wire)
            .map_err(|error| LinkError::Io(self.socket.peer.clone(), error))?;
        self.begin_at(position);
        sending.say(Segment::Switch {
            generation: self.base.generation(),
            position,
        })?;
        self.changes.back();
        Ok(Some(receives))
    }

    /// The queue pair on which the reading half is to go on, which has `tail` bytes, if the other side
    /// has announced it.
    pub(super) fn switch_in(&self, tail: u64) -> Option<Box<dyn Wire>> {
        // In one look, as another thread may learn of a later one.
        let mut peer_state = self.base.peer_state();
        let (generation, position) = peer_state.switch?;
        if generation != self.base.generation() || self.has_moved() {
            // Given up meanwhile: the bytes come by the connection.
            peer_state.switch = None;
            return None;
        }
        // Bytes before it are still to be taken; or it is no longer to be, as nothing more counts.
        if position != tail || !self.arrive(tail, tail) {
            return None;
        }
        peer_state.switch = None;
        drop(peer_state);
        let mut back = self.back();
        back.out_may = true;
        back.incoming.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_is_away_here_is_awaited_with_short_delays() {
        let now = Instant::now();
        let mut back = Back::new(None);
        let waits = |back: &Back| back.next.map(|next| next - now);
        for _ in 0..20 {
            back.absent(now);
            assert!(waits(&back) <= Some(LONGEST_DELAY_HERE));
        }
        assert_eq!(waits(&back), Some(LONGEST_DELAY_HERE));
        // The other side is asked with longer ones.
        for _ in 0..20 {
            back.failed(now);
        }
        assert_eq!(waits(&back), Some(LONGEST_DELAY));
        back.absent(now);
        assert_eq!(waits(&back), Some(LONGEST_DELAY_HERE));
        back.failed(now);
        assert_eq!(waits(&back), Some(LONGEST_DELAY));
    }
}
