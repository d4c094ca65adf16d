//! All lanes of a session, as far as threads other than theirs need them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gtrace_link::{LinkKind, PinnedRegion};

use super::Outgoing;
use crate::flusher;
use crate::session::Session;

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
    /// What takes the place of a device now.
    pub(crate) now: Option<LinkKind>,
    pub(crate) reasons: Vec<String>,
}

/// The sending halves of a session's lanes.
#[derive(Default)]
pub(crate) struct Lanes {
    all: Mutex<Vec<Arc<Outgoing>>>,
    /// Whether a device had the bytes of one, now or before.
    by_device: AtomicBool,
}

impl Lanes {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Outgoing>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, lane: Arc<Outgoing>) {
        if lane.info().kind == LinkKind::Rdma {
            self.by_device.store(true, Ordering::Relaxed);
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
        if let Some(lane) = lane {
            lane.flush_from_outside();
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
        self.lanes.by_device.load(Ordering::Relaxed)
    }

    fn poll_completions(&self) {
        self.lanes.poll_completions();
    }
}
