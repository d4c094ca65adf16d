//! All lanes of a session, as far as threads other than theirs need them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gtrace_link::{LinkKind, PinnedRegion};

use super::Outgoing;
use crate::session::Session;
use crate::{flusher, log};

/// What became of links since they were opened.
#[derive(Debug, Default)]
pub(crate) struct LinkChanges {
    /// Times that RDMA was asked for and not agreed upon.
    pub(crate) refused: u64,
    /// Times that a device was given up for the connection, and that it was taken again.
    pub(crate) failovers: u64,
    pub(crate) failbacks: u64,
    /// Bytes that a device took from the program's memory.
    pub(crate) lent: u64,
    /// Times that connections broke, and that others took their place.
    pub(crate) severed: u64,
    pub(crate) resumed: u64,
    /// What takes the place of a device now.
    pub(crate) now: Option<LinkKind>,
    pub(crate) reasons: Vec<String>,
}

/// The sending halves of a session's lanes.
#[derive(Default)]
pub(crate) struct Lanes {
    all: Mutex<Vec<Arc<Outgoing>>>,
    /// Whether one has to be looked after now and then: a device has its bytes, or another connection would take the
    /// place of its own.
    polled: AtomicBool,
    /// Whether standard error has reported that connections are broken.
    reported_severed: AtomicBool,
}

impl Lanes {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Outgoing>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, lane: Arc<Outgoing>) {
        if lane.info().kind == LinkKind::Rdma || lane.info().resume.is_some() {
            self.polled.store(true, Ordering::Relaxed);
        }
        self.lock().push(lane);
    }

    pub(super) fn remove(&self, number: u16) {
        self.lock().retain(|lane| lane.number() != number);
    }

    /// Sends what lies in lane `number`, as another waits for it.
    pub(super) fn hurry(&self, number: u16) {
        let lane = {
            let lanes = self.lock();
            lanes.iter().find(|lane| lane.number() == number).cloned()
        };
        if let Some(lane) = lane
            && lane.flush_from_outside()
        {
            // What the socket did not take is the flusher's.
            lane.arm_flusher();
        }
    }

    /// Ends every lane, so that no thread waits in one.
    pub(crate) fn end_all(&self) {
        for lane in self.lock().iter() {
            lane.end.end();
        }
    }

    /// Polls completions of what was sent in any lane.
    fn poll_completions(&self) {
        let all: Vec<Arc<Outgoing>> = self.lock().clone();
        for lane in all {
            lane.poll_completions();
        }
    }

    /// Tells the server that the process ends.
    pub(crate) fn say_ending(&self) {
        let all: Vec<Arc<Outgoing>> = self.lock().clone();
        for lane in all.iter().filter(|lane| lane.info().resume.is_some()) {
            lane.say_ending();
        }
    }

    /// Lanes that have no connection at the moment; also how that of one of them broke.
    pub(crate) fn severed(&self) -> (usize, String) {
        let lanes = self.lock();
        let severed: Vec<_> = lanes.iter().filter(|lane| lane.is_severed()).collect();
        let how = severed
            .first()
            .map(|lane| lane.info().changes.how_it_broke());
        (severed.len(), how.unwrap_or_default())
    }

    /// Reports to the program's user when connections are broken, and when they are back. What lasts no longer than from one
    /// check to the next is left to the statistics.
    fn report_severed(&self, session: &Session) {
        let (severed, how) = self.severed();
        if session.is_lost() || (severed > 0) == self.reported_severed.load(Ordering::Relaxed) {
            return;
        }
        self.reported_severed.store(severed > 0, Ordering::Relaxed);
        log::say(&match severed {
            0 => format!(
                "the connection to {} is back, and nothing is lost",
                session.peer()
            ),
            _ => format!("{how}; calls wait until another one takes its place"),
        });
    }

    /// What became of the links of all lanes.
    pub(crate) fn changes(&self) -> LinkChanges {
        let mut sum = LinkChanges::default();
        for lane in self.lock().iter() {
            let (info, changes) = (lane.info(), &lane.info().changes);
            sum.refused += changes.refusals();
            sum.failovers += changes.failovers();
            sum.failbacks += changes.failbacks();
            if info.kind_now() != info.kind {
                sum.now = Some(info.kind_now());
            }
            sum.lent += changes.lent();
            sum.severed += changes.severances();
            sum.resumed += changes.resumptions();
            for reason in changes.reasons() {
                if !sum.reasons.contains(&reason) {
                    sum.reasons.push(reason);
                }
            }
        }
        sum
    }

    /// Has no lane take bytes from `memory` any more.
    pub(crate) fn release(&self, memory: &PinnedRegion) {
        let all: Vec<Arc<Outgoing>> = self.lock().clone();
        for lane in all {
            lane.release(memory);
        }
    }

    /// Sends what lies in any lane. True if something lay there.
    pub(crate) fn flush(&self, all: &mut Vec<Arc<Outgoing>>) -> bool {
        all.clear();
        all.extend(self.lock().iter().cloned());
        let mut any = false;
        for lane in all.drain(..) {
            any |= lane.flush_from_outside();
        }
        any
    }
}

impl flusher::Flush for Session {
    fn flush(&self, all: &mut Vec<Arc<Outgoing>>) -> bool {
        self.lanes.flush(all)
    }

    fn needs_polling(&self) -> bool {
        self.lanes.polled.load(Ordering::Relaxed)
    }

    fn poll_completions(&self) {
        self.lanes.poll_completions();
        self.lanes.report_severed(self);
    }

    fn fail(&self, why: &str) {
        self.lose_for(why);
    }
}
