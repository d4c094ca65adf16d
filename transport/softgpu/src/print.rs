//! Device `printf`: to the standard output of the C library, so that it keeps its place among
//! what the program prints there.
#![allow(unsafe_code)]

use crate::ptx::Sink;

unsafe extern "C" {
    static stdout: *mut libc::FILE;
}

/// See the module.
pub(crate) struct Stdout;

impl Sink for Stdout {
    fn print(&self, text: &[u8]) {
        // SAFETY: the stream of the C library, which locks it; the bytes are valid for reads.
        unsafe {
            libc::fwrite(text.as_ptr().cast(), 1, text.len(), stdout);
            libc::fflush(stdout);
        }
    }
}
