//! Memory of the device that this library needs no more. A driver waits for all work of the context to free memory, and calls of
//! other threads wait meanwhile: so it is kept until the device has nothing to do, or somebody wants memory. No I/O.

use std::sync::Mutex;

use crate::context::Current;
use crate::state::lock;

/// Bytes and pieces beyond which it is freed all the same.
const BYTES_MAX: u64 = 16 << 20;
const PIECES_MAX: usize = 64;

/// Memory that this library has allocated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    /// The context in which that was.
    pub(crate) context: Current,
    /// Number of the allocation.
    pub(crate) id: u64,
}

/// What is kept.
#[derive(Debug, Default)]
pub(crate) struct Spare(Mutex<Vec<Piece>>);

impl Spare {
    /// Keeps a piece.
    pub(crate) fn add(&self, piece: Piece) {
        lock(&self.0).push(piece);
    }

    /// Whether there is any.
    pub(crate) fn any(&self) -> bool {
        !lock(&self.0).is_empty()
    }

    /// What is to be freed now: everything, or nothing unless it is too much.
    pub(crate) fn take(&self, everything: bool) -> Vec<Piece> {
        let mut own = lock(&self.0);
        let bytes = own.iter().map(|piece| piece.bytes).sum::<u64>();
        match everything || bytes > BYTES_MAX || own.len() > PIECES_MAX {
            true => std::mem::take(&mut *own),
            false => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context;

    #[test]
    fn memory_is_kept_up_to_a_limit() {
        let piece = |bytes| Piece {
            address: 0x7000,
            bytes,
            context: context::top(),
            id: 1,
        };
        let spare = Spare::default();
        spare.add(piece(BYTES_MAX));
        assert!(spare.take(false).is_empty() && spare.any());
        spare.add(piece(1));
        assert_eq!(spare.take(false).len(), 2);
        assert!(!spare.any());
        for _ in 0..PIECES_MAX {
            spare.add(piece(1));
        }
        assert!(spare.take(false).is_empty());
        spare.add(piece(1));
        assert_eq!(spare.take(false).len(), PIECES_MAX + 1);
        spare.add(piece(1));
        assert_eq!(spare.take(true).len(), 1);
    }
}
