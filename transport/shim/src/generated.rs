//! What `cargo xtask codegen` writes from the description in gtrace-cuda.

// What is exported to C is `pub` to nobody in Rust.
#[allow(unreachable_pub)]
pub(crate) mod absent;
#[allow(unreachable_pub)]
pub(crate) mod driver;
#[allow(unreachable_pub)]
pub(crate) mod nvml;
