//! Copies to page-locked memory of the client that is not awaited: the server keeps the bytes, and the client takes
//! them when it has waited for something.

use gtrace_protocol::members;

/// Bytes of a block of the memory in which the server keeps them.
pub const BLOCK: usize = 64 << 10;
/// Blocks of a session. The client keeps count of what it has not taken.
pub const BLOCKS: usize = 256;

/// A copy that is kept. Its order is that of its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeferredCopy {
    /// Number of this copy, of the client's choice: not 0, and of no other that was not taken.
    pub ticket: u64,
    /// Device address.
    pub from: u64,
    /// Bytes, at least 1.
    pub len: u64,
    /// Handle of the stream, or 0, 1, 2.
    pub stream: u64,
}

/// Some bytes of a copy, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Of which.
    pub ticket: u64,
    /// Bytes of the copy before these.
    pub at: u64,
}

/// What became of copies besides those whose pieces came before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// They have failed, and nothing of them comes.
    pub failed: Vec<u64>,
    /// They are complete and were sent by another lane, whose thread may still be reading.
    pub in_flight_on_other_lanes: Vec<u64>,
}

members!(DeferredCopy: ticket, from, len, stream);
members!(Piece: ticket, at);
members!(Taken: failed, in_flight_on_other_lanes);

#[cfg(test)]
mod tests {
    use super::super::tests::comes_back;
    use super::*;

    #[test]
    fn deferred_copies_round_trip() {
        let deferred_copy = DeferredCopy {
            ticket: 1,
            from: 0x7000_0000_0000,
            len: 5,
            stream: 2,
        };
        comes_back(&deferred_copy, &mut Vec::new());
        comes_back(&Piece { ticket: 1, at: 2 }, &mut Vec::new());
        let taken = Taken {
            failed: vec![1, 2],
            in_flight_on_other_lanes: vec![3],
        };
        comes_back(&taken, &mut Vec::new());
    }
}
