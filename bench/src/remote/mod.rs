//! GPU-over-IP: the client program that is measured, and the limits beside it.

pub(crate) mod client;
pub(crate) mod raw;

pub(crate) use gtrace_e2e::measure::{BULK, LAUNCHES};

/// Bytes of a frame's header; `cuMemGetInfo` sends no more.
pub(crate) const REQUEST: usize = 64;
/// A header and two numbers of 8 bytes: the answer to `cuMemGetInfo`.
pub(crate) const REPLY: usize = 64 + 16;
