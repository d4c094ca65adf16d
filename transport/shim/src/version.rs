//! The mark by which this object is distinguished from the driver.

// An exported symbol.
#![allow(unsafe_code)]

use std::ffi::c_char;

/// The version of gtrace that this object belongs to. A server that opens a driver with this symbol
/// has found a client's library instead.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn gtrace_shim_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
