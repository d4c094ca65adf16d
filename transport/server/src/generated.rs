//! Written by `cargo xtask codegen` from the descriptions of gtrace-cuda.

pub(crate) mod driver;
pub(crate) mod nvml;
