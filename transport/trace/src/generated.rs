//! What `cargo xtask codegen` writes.

pub(crate) mod driver;
#[cfg(target_arch = "x86_64")]
pub(crate) mod untouched;
