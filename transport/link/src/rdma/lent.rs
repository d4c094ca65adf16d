//! Bytes of the lane that do not lie in the ring that this side writes, but in memory of the program, from
//! where the device takes them.
//!
//! Their places in the ring are kept free for them: when the device fails, or when the program wants its
//! memory back, they are copied there, and are like all others. Until the other side has read them the program
//! leaves them as they are ([`PinnedRegion`]); from then on newer bytes have their places.

use std::collections::VecDeque;

use crate::pinned::PinnedRegion;

/// Bytes from `from` on, which lie at `at` of `memory`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) from: u64,
    pub(super) len: usize,
    pub(super) memory: PinnedRegion,
    pub(super) at: usize,
}

impl Piece {
    pub(super) fn bytes(&self) -> &[u8] {
        self.memory.bytes(self.at, self.len)
    }

    /// Copies what is there of them.
    pub(super) fn copy(&self, into: &mut [u8]) {
        self.memory.copy(self.at, into);
    }
}

/// Pieces, in the order of the lane.
#[derive(Debug, Default)]
pub(super) struct Lent(VecDeque<Piece>);

impl Lent {
    pub(super) fn lend(&mut self, piece: Piece) {
        self.0.push_back(piece);
    }

    /// What begins at byte `from` and has `len`.
    pub(super) fn find(&self, from: u64, len: usize) -> Option<Piece> {
        let last = self.0.back()?;
        (last.from == from && last.len == len).then_some(*last)
    }

    /// The other side has read up to this byte: newer ones may come into the places of all before it.
    pub(super) fn read(&mut self, read: u64) {
        while let Some(piece) = self.0.front_mut() {
            let gone = read.saturating_sub(piece.from).min(piece.len as u64);
            piece.from += gone;
            piece.at += gone as usize;
            piece.len -= gone as usize;
            if piece.len > 0 {
                return;
            }
            self.0.pop_front();
        }
    }

    /// Takes those out that lie in `memory`, or all.
    pub(super) fn take(&mut self, memory: Option<&PinnedRegion>) -> VecDeque<Piece> {
        let (taken, kept) = (self.0.drain(..))
            .partition(|piece| memory.is_none_or(|memory| piece.memory == *memory));
        self.0 = kept;
        taken
    }
}
