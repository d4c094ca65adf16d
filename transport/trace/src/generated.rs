//! What the build script has written.

/// The symbols of the CUDA driver API whose calls are recorded.
// The symbols' names, and pointers of C programs, which are passed on.
#[allow(
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    clippy::undocumented_unsafe_blocks,
    clippy::unnecessary_cast,
    missing_docs,
    non_snake_case,
    unreachable_pub,
    unsafe_code
)]
pub(crate) mod driver {
    include!(concat!(env!("OUT_DIR"), "/driver.rs"));
}

/// Symbols of the driver without a signature.
#[cfg(target_arch = "x86_64")]
#[allow(missing_docs, non_snake_case, unreachable_pub)]
pub(crate) mod untouched {
    include!(concat!(env!("OUT_DIR"), "/untouched.rs"));
}
