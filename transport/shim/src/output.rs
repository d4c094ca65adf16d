//! What kernels print, as the server sends it: `printf` to standard output, a failed `assert` to standard error.

// Writes to the C library's stream.
#![allow(unsafe_code)]

use std::io::Write as _;
use std::sync::atomic::Ordering;

use gtrace_protocol::{Output, Stream};

use crate::log;
use crate::session::Session;

unsafe extern "C" {
    static stdout: *mut libc::FILE;
}

/// Does what a frame OUTPUT asks for.
pub(crate) fn show(session: &Session, payload: &[u8]) {
    let output = match Output::read(payload) {
        Ok(output) => output,
        Err(error) => {
            log::once(
                "output",
                &format!("what kernels printed cannot be read: {error}"),
            );
            return;
        }
    };
    session.prints.store(true, Ordering::Relaxed);
    if output.dropped > 0 {
        log::say(&format!(
            "{} bytes that kernels printed were dropped: the server keeps a bounded number until a call \
             synchronises",
            output.dropped
        ));
    }
    match output.stream {
        _ if output.text.is_empty() => {}
        Stream::Output => {
            // As the driver does it: through the C library's stream, so that it keeps its place among what the
            // program prints there.
            // SAFETY: the stream of the C library, which locks it; the bytes are valid for reads.
            unsafe {
                libc::fwrite(output.text.as_ptr().cast(), 1, output.text.len(), stdout);
                libc::fflush(stdout);
            }
        }
        // With no reader nobody can be notified.
        Stream::Error => drop(std::io::stderr().write_all(output.text)),
    }
}
