//! One way of an emulated network: pieces that are held back until they would have come.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Emulation;

/// One way.
pub(super) struct Line {
    pub(super) state: Mutex<State>,
    pub(super) changed: Condvar,
}

pub(super) struct State {
    pub(super) pieces: VecDeque<Piece>,
    /// Bytes of the pieces.
    pub(super) held: usize,
    /// When the line has taken the last piece.
    pub(super) free_at: Instant,
    pub(super) last_due: Instant,
    pub(super) random: u64,
    /// Nothing more comes.
    pub(super) end: bool,
    /// Nobody takes what comes.
    pub(super) dropped: bool,
}

pub(super) struct Piece {
    pub(super) due: Instant,
    pub(super) bytes: Vec<u8>,
    pub(super) taken: usize,
}

impl Line {
    /// An empty one, whose jitter follows from `seed`.
    pub(super) fn new(seed: u64, now: Instant) -> Self {
        Self {
            state: Mutex::new(State {
                pieces: VecDeque::new(),
                held: 0,
                free_at: now,
                last_due: now,
                random: seed | 1,
                end: false,
                dropped: false,
            }),
            changed: Condvar::new(),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn wait<'a>(
        &self,
        state: MutexGuard<'a, State>,
        until: Option<Instant>,
    ) -> MutexGuard<'a, State> {
        match until {
            None => self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner),
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                let waited = self.changed.wait_timeout(state, left);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        }
    }

    pub(super) fn finish(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }
}

impl State {
    /// When `len` bytes that are put on the line now come off it.
    pub(super) fn schedule(&mut self, emulation: &Emulation, len: usize) -> Instant {
        let busy = emulation.bandwidth.map_or(0.0, |rate| len as f64 / rate);
        self.free_at = self.free_at.max(Instant::now()) + Duration::from_secs_f64(busy);
        // xorshift64 (Marsaglia 2003): evenly spread is all that is needed.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let jitter = emulation
            .jitter
            .mul_f64(2.0 * (self.random as f64 / u64::MAX as f64));
        let due = (self.free_at + emulation.rtt / 2 + jitter)
            .checked_sub(emulation.jitter)
            .unwrap_or(self.free_at);
        // A stream keeps its order.
        self.last_due = self.last_due.max(due);
        self.last_due
    }
}
