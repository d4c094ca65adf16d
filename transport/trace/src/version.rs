//! The mark by which this object is distinguished from the driver.

// An exported symbol.
#![allow(unsafe_code)]

use std::ffi::c_char;

/// The version of gtrace that this object belongs to.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn gtrace_trace_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
