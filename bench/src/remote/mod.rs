//! GPU-over-IP: the client program that is measured, and the limits beside it.

pub(crate) mod client;
pub(crate) mod raw;

pub(crate) use gtrace_e2e::measure::{BULK, LAUNCHES};
