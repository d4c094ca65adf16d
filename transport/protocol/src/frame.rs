//! The header that every frame begins with, in both directions.

use thiserror::Error;

use crate::codec::Writer;
use crate::id::{FIRST_OPERATION, OpId};

/// Bytes of a header.
pub const HEADER_LEN: usize = 64;
/// Most bytes of arguments before the bulk part.
pub const SMALL_MAX: usize = 4 << 20;
/// Most bytes of a bulk part.
pub const BULK_MAX: usize = 16 << 20;
/// Most bytes of a bulk part that the answer to a [`control::ECHO`] has.
pub const ECHO_BULK_MAX: usize = 1 << 20;
/// Most bytes of a frame, header included.
pub const FRAME_MAX: usize = HEADER_LEN + SMALL_MAX + BULK_MAX;

/// Ids of control frames.
pub mod control {
    /// Client to server, first frame of a lane.
    pub const HELLO: u32 = 1;
    /// Server to client: the lane is open.
    pub const WELCOME: u32 = 2;
    /// Client to server: the proof.
    pub const PROOF: u32 = 4;
    /// Server to client: the lane is refused, and why.
    pub const REFUSED: u32 = 5;
    /// Either: send the arguments back as they are. From a client on an open lane: a bulk part is read to nowhere, and
    /// [`Header::status`](crate::Header::status) is how many bytes of bulk part, at most [`crate::ECHO_BULK_MAX`], the
    /// answer is to have; servers of earlier versions send none.
    pub const ECHO: u32 = 6;
    /// Server to client: credits given back when no reply carries them.
    pub const CREDIT: u32 = 7;
    /// Client to server: what follows comes on the other link.
    pub const SWITCH: u32 = 8;
    /// Either: no more frames follow; an empty payload or the reason. From a client also in place of SWITCH, as it takes none
    /// of the links.
    pub const GOODBYE: u32 = 9;
    /// Server to client: what kernels printed, a [`crate::Output`]. It comes before the answer to the call
    /// that had it printed. Clients of earlier versions drop it.
    pub const OUTPUT: u32 = 10;
    /// Client to server, between WELCOME and SWITCH: its queue pairs, a [`crate::QueuePairs`]; back: the
    /// server's, or why there are none, a [`crate::QueuePairsAnswer`].
    pub const RDMA: u32 = 11;
    /// Server to client: how long one-way calls took whose frames had [`crate::Flags::WANTS_TIMES`], a
    /// [`crate::Times`]. It comes before the answer to a later call or before credits. Clients of earlier versions
    /// do not ask for it.
    pub const TIMES: u32 = 12;
    /// Server to client: when the GPU did what frames with [`crate::Flags::WANTS_WORK`] gave it to do, a [`crate::Works`]. It
    /// comes before the answer to a later call, or behind one with bytes: at most so many there that the socket takes them.
    pub const WORK: u32 = 13;
    /// Client to server, in place of HELLO: a [`crate::ResumeLane`].
    pub const RESUME: u32 = 14;
    /// Server to client, in place of WELCOME: a [`crate::LaneResumed`]. Pieces of the lane follow.
    pub const RESUMED: u32 = 15;
    /// Client to server: its process is at its end, so that a connection which closes from here on is not waited for.
    pub const ENDING: u32 = 16;
}

/// Bits of [`Header::flags`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u16);

impl Flags {
    /// Nobody waits for the answer.
    pub const ONE_WAY: Self = Self(1);
    /// The reply is to carry [`Header::queue_ns`] and [`Header::exec_ns`]; with [`Self::ONE_WAY`], a frame
    /// [`control::TIMES`] is to report them. Servers of earlier versions report none.
    pub const WANTS_TIMES: Self = Self(2);
    /// A call of NVML: its status is an `nvmlReturn_t`.
    pub const NVML: Self = Self(4);
    /// A piece of a bulk copy; others follow.
    pub const MORE: Self = Self(8);
    /// From server to client.
    pub const REPLY: Self = Self(16);
    /// Answered although it could be one-way.
    pub const STRICT: Self = Self(32);
    /// What the call gives [`Header::work_stream`] to do is to be timed on the GPU, and reported by [`control::WORK`]. Of a copy in
    /// pieces the first frame and the last speak for all. Only for servers with [`crate::Features::WORK`].
    pub const WANTS_WORK: Self = Self(64);
    const KNOWN: u16 = 127;

    /// Whether all bits of `other` are set.
    #[inline]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets of bits.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A frame of another lane that must have been executed before: `lane << 48 | seq`, 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct After(pub u64);

impl After {
    const SEQ_BITS: u32 = 48;

    /// The frame `seq` of `lane`.
    #[inline]
    pub const fn new(lane: u16, seq: u64) -> Self {
        Self((lane as u64) << Self::SEQ_BITS | seq & ((1 << Self::SEQ_BITS) - 1))
    }

    /// Whether there is none.
    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Its lane.
    #[inline]
    pub const fn lane(self) -> u16 {
        (self.0 >> Self::SEQ_BITS) as u16
    }

    /// Its sequence number in that lane.
    #[inline]
    pub const fn seq(self) -> u64 {
        self.0 & ((1 << Self::SEQ_BITS) - 1)
    }
}

/// The header of a frame; little-endian on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Bytes of the whole frame, header included.
    pub length: u32,
    /// Operation, or a control frame.
    pub op: OpId,
    /// Number of the frame in its lane, from 1. A reply carries that of its request.
    pub seq: u64,
    /// Request: what must have been executed before. Reply: highest event ticket known to be complete.
    pub after: u64,
    /// CLOCK_MONOTONIC of the sender, ns.
    pub sent_ns: u64,
    /// Request: counter of the current context's handle, 0 for none. Reply: sticky CUresult, 0 for none.
    pub context: u32,
    /// Reply: CUresult, or nvmlReturn_t with [`Flags::NVML`].
    pub status: u32,
    /// Reply: ns between the frame's arrival and the start of its call. Request: see [`Header::work_stream`].
    pub queue_ns: u32,
    /// Reply: ns in the driver. Request: see [`Header::work_stream`].
    pub exec_ns: u32,
    /// What the frame is.
    pub flags: Flags,
    /// From the server: frames that the client may send in addition.
    pub credit: u16,
    /// Bytes of arguments; the rest of the payload is the bulk part.
    pub small: u32,
}

/// The checksum of a header: CRC-32C (Castagnoli, RFC 9260 appendix B) of its first 60 bytes.
#[inline]
pub fn checksum(header: &[u8; HEADER_LEN]) -> u32 {
    crc32c::crc32c(&header[..60])
}

/// A header's bytes where the checksum's words are aligned, which halves its cost.
#[repr(align(8))]
struct Aligned([u8; HEADER_LEN]);

/// `N` bytes of a header; places beyond its end, of which there are none, read as zeros.
#[inline]
fn part<const N: usize>(bytes: &[u8; HEADER_LEN], at: usize) -> [u8; N] {
    let part = bytes.get(at..).and_then(|rest| rest.first_chunk());
    part.copied().unwrap_or([0; N])
}

/// Why bytes are no header of a frame. The lane cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FrameError {
    /// Fewer bytes than a header has.
    #[error("a frame's header has {HEADER_LEN} bytes, not {0}")]
    Short(usize),
    /// The checksum is wrong: bytes were lost or changed, or the peer speaks something else.
    #[error("the checksum of a frame's header is {found:#x}, its bytes give {wanted:#x}")]
    Checksum {
        /// What the header says.
        found: u32,
        /// What its bytes give.
        wanted: u32,
    },
    /// The lengths contradict each other or are above their caps.
    #[error("a frame claims {length} bytes with {small} of arguments")]
    Length {
        /// [`Header::length`].
        length: u32,
        /// [`Header::small`].
        small: u32,
    },
    /// Bits that this version does not know.
    #[error("a frame has the unknown flags {0:#x}")]
    Flags(u16),
    /// Number 0, or one that does not follow.
    #[error("frame {found} follows where {wanted} should")]
    Sequence {
        /// What the header says.
        found: u64,
        /// What was to come.
        wanted: u64,
    },
}

impl Header {
    /// Bytes behind the header.
    #[inline]
    pub const fn payload(&self) -> usize {
        (self.length as usize).saturating_sub(HEADER_LEN)
    }

    /// Bytes of the bulk part.
    #[inline]
    pub const fn bulk(&self) -> usize {
        self.payload().saturating_sub(self.small as usize)
    }

    /// Whether it is a control frame.
    #[inline]
    pub const fn is_control(&self) -> bool {
        self.op < FIRST_OPERATION
    }

    /// Of a request with [`Flags::WANTS_WORK`]: the stream that the call gives work.
    #[inline]
    pub const fn work_stream(&self) -> u64 {
        (self.exec_ns as u64) << 32 | self.queue_ns as u64
    }

    /// Sets it, with the flag.
    #[inline]
    pub const fn set_work_stream(&mut self, stream: u64) {
        self.flags = self.flags.with(Flags::WANTS_WORK);
        self.queue_ns = stream as u32;
        self.exec_ns = (stream >> 32) as u32;
    }

    /// Sets `length` and `small` for a payload. False, and nothing is set, if it is above the caps.
    #[inline]
    pub const fn set_payload(&mut self, small: usize, bulk: usize) -> bool {
        if small > SMALL_MAX || bulk > BULK_MAX {
            return false;
        }
        self.small = small as u32;
        self.length = (HEADER_LEN + small + bulk) as u32;
        true
    }

    /// The bytes on the wire.
    #[inline]
    pub fn to_bytes(&self) -> [u8; HEADER_LEN] {
        let mut aligned = Aligned([0; HEADER_LEN]);
        let bytes = &mut aligned.0;
        bytes[0..4].copy_from_slice(&self.length.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.op.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.seq.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.after.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.sent_ns.to_le_bytes());
        bytes[32..36].copy_from_slice(&self.context.to_le_bytes());
        bytes[36..40].copy_from_slice(&self.status.to_le_bytes());
        bytes[40..44].copy_from_slice(&self.queue_ns.to_le_bytes());
        bytes[44..48].copy_from_slice(&self.exec_ns.to_le_bytes());
        bytes[48..50].copy_from_slice(&self.flags.0.to_le_bytes());
        bytes[50..52].copy_from_slice(&self.credit.to_le_bytes());
        bytes[52..56].copy_from_slice(&self.small.to_le_bytes());
        let checksum = checksum(bytes);
        bytes[60..64].copy_from_slice(&checksum.to_le_bytes());
        aligned.0
    }

    /// Appends the bytes on the wire.
    pub fn write(&self, writer: &mut Writer) {
        writer.raw(&self.to_bytes());
    }

    /// Reads a header from the first bytes of `bytes`.
    ///
    /// # Errors
    ///
    /// A [`FrameError`]: the lane has to be closed, as nothing says where the next frame begins.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Result<Self, FrameError> {
        let short = FrameError::Short(bytes.len());
        let aligned = Aligned(*bytes.first_chunk().ok_or(short)?);
        let bytes = &aligned.0;
        let wanted = checksum(bytes);
        let u64_at = |at: usize| u64::from_le_bytes(part(bytes, at));
        let u32_at = |at: usize| u32::from_le_bytes(part(bytes, at));
        let u16_at = |at: usize| u16::from_le_bytes(part(bytes, at));
        let header = Self {
            length: u32_at(0),
            op: u32_at(4),
            seq: u64_at(8),
            after: u64_at(16),
            sent_ns: u64_at(24),
            context: u32_at(32),
            status: u32_at(36),
            queue_ns: u32_at(40),
            exec_ns: u32_at(44),
            flags: Flags(u16_at(48)),
            credit: u16_at(50),
            small: u32_at(52),
        };
        let found = u32_at(60);
        if found != wanted {
            return Err(FrameError::Checksum { found, wanted });
        }
        let payload = (header.length as usize).checked_sub(HEADER_LEN);
        let bulk = payload.and_then(|payload| payload.checked_sub(header.small as usize));
        match bulk {
            Some(bulk) if bulk <= BULK_MAX && header.small as usize <= SMALL_MAX => {}
            _ => {
                return Err(FrameError::Length {
                    length: header.length,
                    small: header.small,
                });
            }
        }
        if header.flags.0 & !Flags::KNOWN != 0 {
            return Err(FrameError::Flags(header.flags.0));
        }
        Ok(header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn header() -> Header {
        let mut header = Header {
            op: crate::op_id("cuMemAlloc_v2"),
            seq: 7,
            after: After::new(3, 9).0,
            sent_ns: 1,
            context: 2,
            status: 700,
            queue_ns: 3,
            exec_ns: 4,
            flags: Flags::ONE_WAY.with(Flags::WANTS_TIMES),
            credit: 64,
            ..Header::default()
        };
        assert!(header.set_payload(16, 4096));
        header
    }

    #[test]
    fn a_header_comes_back() {
        let header = header();
        assert_eq!(Header::parse(&header.to_bytes()), Ok(header));
        assert_eq!(
            (header.payload(), header.bulk(), header.is_control()),
            (4112, 4096, false)
        );
        assert_eq!(
            (After(header.after).lane(), After(header.after).seq()),
            (3, 9)
        );
    }

    #[test]
    fn payloads_above_the_caps_are_refused() {
        let mut header = header();
        assert!(!header.set_payload(SMALL_MAX + 1, 0));
        assert!(!header.set_payload(0, BULK_MAX + 1));
        header.length = FRAME_MAX as u32 + 1;
        assert!(matches!(
            Header::parse(&header.to_bytes()),
            Err(FrameError::Length { .. })
        ));
        header.length = 63;
        assert!(matches!(
            Header::parse(&header.to_bytes()),
            Err(FrameError::Length { .. })
        ));
    }

    proptest! {
        #[test]
        fn any_changed_bit_is_seen(bit in 0usize..HEADER_LEN * 8) {
            let mut bytes = header().to_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(Header::parse(&bytes).is_err());
        }

        #[test]
        fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = Header::parse(&bytes);
        }
    }
}
