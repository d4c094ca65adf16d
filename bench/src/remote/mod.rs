//! GPU-over-IP: the client program that is measured, and the limits beside it.

pub(crate) mod client;
pub(crate) mod raw;

/// Bytes of one bulk copy.
pub(crate) const BULK: usize = 16 << 20;
/// Launches between two synchronisations.
pub(crate) const LAUNCHES: usize = 10_000;
/// Bytes of a frame's header; `cuMemGetInfo` sends no more.
pub(crate) const REQUEST: usize = 64;
/// A header and two numbers of 8 bytes: the answer to `cuMemGetInfo`.
pub(crate) const REPLY: usize = 64 + 16;
