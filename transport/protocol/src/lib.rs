//! The protocol of GPU-over-IP: frames, the encoding of what they carry, and the messages of the
//! handshake. Bytes in, values out: no I/O.
//!
//! Both sides treat what they read as hostile: lengths are capped, arithmetic is checked, and an
//! operation that is not known is answered, never a reason to close.

#![forbid(unsafe_code)]

mod codec;
mod frame;
mod handshake;
mod id;
mod output;
mod payload;
mod preamble;
mod rdma;
mod resume;
mod segment;
mod times;

pub use codec::{DecodeError, Reader, Writer};
pub use frame::{
    After, BULK_MAX, ECHO_BULK_MAX, FRAME_MAX, Flags, FrameError, HEADER_LEN, Header, SMALL_MAX,
    checksum, control,
};
pub use handshake::{
    Begin, ClientHello, FIRST_CALL_MAX, Features, FirstCall, Message, Offer, Proof, Prover,
    RefusalKind, Refused, SessionId, Welcome, proof_input,
};
pub use id::{FIRST_OPERATION, OpId, op_id};
pub use output::{OUTPUT_MAX, Output, Stream};
pub use payload::{Bounded, Payload};
pub use preamble::{
    GREETING_LEN, GREETING_MAGIC, Greeting, MAGIC, PREAMBLE_LEN, Preamble, PreambleError,
    VERSION_MAX, VERSION_MIN, key_input, tag_input,
};
pub use rdma::{QueuePairEnd, QueuePairs, QueuePairsAnswer};
pub use resume::{
    ACKNOWLEDGE_EVERY, Attachment, Death, ImpossiblePosition, LaneResumed, Lifecycle, PIECE_LEN,
    PIECE_MAX, Piece, ResumeLane, SentBytes, WINDOW,
};
pub use segment::{SEGMENT_LEN, SEGMENT_MESSAGE_MAX, Segment};
pub use times::{CallTimes, Times, WorkTimes, Works};
