//! What became of a link since it was opened.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most reasons that are kept, each once.
const REASONS: usize = 8;

/// What became of a link since it was opened: RDMA is given up for the connection that it was agreed upon, and a
/// connection that broke is replaced by another one.
#[derive(Debug, Default)]
pub struct Changes {
    refused: AtomicU64,
    fell: AtomicU64,
    returned: AtomicU64,
    fallen: AtomicBool,
    lent: AtomicU64,
    severed: AtomicU64,
    resumed: AtomicU64,
    reasons: Mutex<Vec<String>>,
    broke: Mutex<String>,
}

impl Changes {
    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.reasons.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Times that RDMA was asked for and not agreed upon, by this side or by the other.
    pub fn refusals(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Times that the device was given up.
    pub fn failovers(&self) -> u64 {
        self.fell.load(Ordering::Relaxed)
    }

    /// Times that it was taken again.
    pub fn failbacks(&self) -> u64 {
        self.returned.load(Ordering::Relaxed)
    }

    /// Bytes that a device took from the program's own memory ([`PinnedRegion`](crate::PinnedRegion)).
    pub fn lent(&self) -> u64 {
        self.lent.load(Ordering::Relaxed)
    }

    /// Whether the connection is used now.
    pub fn is_fallen(&self) -> bool {
        self.fallen.load(Ordering::Relaxed)
    }

    /// Why the device was given up, and why it is not used again.
    pub fn reasons(&self) -> Vec<String> {
        self.lock().clone()
    }

    /// Times that its connection broke.
    pub fn severances(&self) -> u64 {
        self.severed.load(Ordering::Relaxed)
    }

    /// Times that another connection took the place of one that broke.
    pub fn resumptions(&self) -> u64 {
        self.resumed.load(Ordering::Relaxed)
    }

    /// How its connection broke last; empty if it never did.
    pub fn how_it_broke(&self) -> String {
        self.lock_broke().clone()
    }

    fn lock_broke(&self) -> MutexGuard<'_, String> {
        self.broke.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn sever(&self, why: &str) {
        why.clone_into(&mut self.lock_broke());
        self.severed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn resume(&self) {
        self.resumed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn fall(&self, why: &str) {
        self.fell.fetch_add(1, Ordering::Relaxed);
        self.fallen.store(true, Ordering::Relaxed);
        self.note(why);
    }

    pub(crate) fn lend(&self, bytes: usize) {
        self.lent.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn note(&self, why: &str) {
        let mut reasons = self.lock();
        if reasons.len() < REASONS && !reasons.iter().any(|reason| reason == why) {
            reasons.push(why.to_owned());
        }
    }

    pub(crate) fn back(&self) {
        self.returned.fetch_add(1, Ordering::Relaxed);
        self.fallen.store(false, Ordering::Relaxed);
    }
}
