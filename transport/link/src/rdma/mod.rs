//! Links over RDMA.
//!
//! Each side has two rings of the same size: one that it reads, into which the other side's device
//! writes, and one that it writes, from which its own device copies. A lane has two queue pairs, one
//! for each direction, so that a half has its own and shares nothing with the other but the
//! connection on which all this was agreed upon:
//!
//! ```text
//! client                                              server
//! staging ring ── RDMA WRITE, number of bytes ──────▶ ring that it reads
//!              ◀── SEND, what is read and posted ──── (same queue pair)
//! ring that it reads ◀── RDMA WRITE ───────────────── staging ring
//!                    ─── SEND ──────────────────────▶
//! ```
//! What the other side may write is its ring alone: the key is of that ring, of a protection domain of
//! this lane, and the queue pair that it writes on is the only one with remote access. The ring is
//! treated as memory that the other process shares: what is read there is copied before it is
//! believed.
//!
//! The number that comes with a write says how many bytes it wrote and a part of their checksum (`number`). A write
//! whose bytes are not those is a failure of the device.
//!
//! # When the device fails
//!
//! The connection takes its place, with the same bytes: whoever finds that a queue pair has failed
//! takes nothing more from the device, and says on the connection up to which byte it has received. The
//! other side does the same. Both have what the other has not in the ring that they write, as a byte
//! stays there until the other side has read it, and send it on the connection ([`Segment`]), and all
//! that follows. When the device works again, the client asks for new queue pairs there, and each
//! direction changes over behind its last byte (`back`).
//!
//! [`Segment`]: gtrace_protocol::Segment

mod agree;
mod back;
mod base;
mod claims;
mod counts;
mod devices;
#[cfg(test)]
pub(crate) mod double;
#[cfg(any(test, feature = "fuzzing"))]
mod hostile;
mod lent;
mod number;
mod put;
mod setup;
mod shared;
mod slot;
mod take;
#[cfg(test)]
mod tests;
mod wait;
mod wire;

#[cfg(feature = "fuzzing")]
pub use hostile::hostile;

pub use devices::{RdmaDevice, has_no_rdma, rdma_devices};

pub(crate) use agree::{answer, ask};
pub(crate) use shared::Shared;
