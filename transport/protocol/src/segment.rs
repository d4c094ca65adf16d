//! How the bytes of an RDMA lane travel on the connection that it was agreed upon, once the device is
//! given up: in segments, between which the two sides agree on where each goes on.
//!
//! Bytes are counted from the start of the lane. Who can use the device no longer says up to which
//! byte it has received, and takes nothing more from there; the other sends the rest in segments. So
//! each byte is taken once, and a frame that was cut is whole again.

use crate::codec::DecodeError;

/// Bytes of the head of a segment.
pub const SEGMENT_LEN: usize = 16;
/// Most bytes of a message that follows a head.
pub const SEGMENT_MESSAGE_MAX: u32 = 8 << 10;

const DATA: u32 = 1;
const MOVE: u32 = 2;
const ASK: u32 = 3;
const ANSWER: u32 = 4;
const SWITCH: u32 = 5;

/// The head of a segment, in little-endian: kind, generation of queue pairs, value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// So many bytes of the lane follow.
    Data(u64),
    /// The device is given up: from here on bytes come in segments.
    Move {
        /// The queue pairs that are given up, from 1.
        generation: u32,
        /// Received up to this byte, and nothing more is taken from the device.
        received: u64,
    },
    /// From the client: a [`crate::QueuePairs`] of so many bytes follows, by which the device is to be
    /// used again.
    Ask(u32),
    /// From the server: a [`crate::QueuePairsAnswer`] of so many bytes follows.
    Answer(u32),
    /// Bytes from `position` on come by the device.
    Switch {
        /// The queue pairs that they come by.
        generation: u32,
        /// Of the lane.
        position: u64,
    },
}

impl Segment {
    /// As it travels.
    pub fn to_bytes(self) -> [u8; SEGMENT_LEN] {
        let (kind, generation, value) = match self {
            Self::Data(len) => (DATA, 0, len),
            Self::Move {
                generation,
                received,
            } => (MOVE, generation, received),
            Self::Ask(len) => (ASK, 0, len.into()),
            Self::Answer(len) => (ANSWER, 0, len.into()),
            Self::Switch {
                generation,
                position,
            } => (SWITCH, generation, position),
        };
        let mut bytes = [0; SEGMENT_LEN];
        bytes[..4].copy_from_slice(&kind.to_le_bytes());
        bytes[4..8].copy_from_slice(&generation.to_le_bytes());
        bytes[8..].copy_from_slice(&value.to_le_bytes());
        bytes
    }

    /// Reads a head.
    ///
    /// # Errors
    ///
    /// [`DecodeError::BadValue`] for an unknown kind, [`DecodeError::TooLong`] for a message of more
    /// than [`SEGMENT_MESSAGE_MAX`] bytes.
    pub fn parse(bytes: &[u8; SEGMENT_LEN]) -> Result<Self, DecodeError> {
        let [k0, k1, k2, k3, g0, g1, g2, g3, value @ ..] = *bytes;
        let generation = u32::from_le_bytes([g0, g1, g2, g3]);
        let value = u64::from_le_bytes(value);
        let message = || match u32::try_from(value) {
            Ok(len) if len <= SEGMENT_MESSAGE_MAX => Ok(len),
            _ => Err(DecodeError::TooLong {
                len: value,
                cap: SEGMENT_MESSAGE_MAX as usize,
            }),
        };
        match u32::from_le_bytes([k0, k1, k2, k3]) {
            DATA => Ok(Self::Data(value)),
            MOVE => Ok(Self::Move {
                generation,
                received: value,
            }),
            ASK => message().map(Self::Ask),
            ANSWER => message().map(Self::Answer),
            SWITCH => Ok(Self::Switch {
                generation,
                position: value,
            }),
            kind => Err(DecodeError::BadValue {
                what: "the kind of a segment",
                value: kind.into(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_kind_comes_back() {
        for segment in [
            Segment::Data(u64::MAX),
            Segment::Move {
                generation: 3,
                received: 1 << 40,
            },
            Segment::Ask(SEGMENT_MESSAGE_MAX),
            Segment::Answer(0),
            Segment::Switch {
                generation: u32::MAX,
                position: 7,
            },
        ] {
            assert_eq!(Segment::parse(&segment.to_bytes()), Ok(segment));
        }
    }

    #[test]
    fn long_messages_are_refused() {
        let long = Segment::Ask(SEGMENT_MESSAGE_MAX + 1).to_bytes();
        Segment::parse(&long).unwrap_err();
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_was_there(bytes in any::<[u8; SEGMENT_LEN]>()) {
            if let Ok(segment) = Segment::parse(&bytes) {
                prop_assert_eq!(Segment::parse(&segment.to_bytes()), Ok(segment));
            }
        }
    }
}
