//! What NVIDIA's driver does with the system when it starts, and for each context, and without which it fails: seen of
//! driver 580.159.
//! Whoever confines a process that loads the driver has to allow it.

#![allow(unsafe_code)]

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};

use crate::abi::Answer;
use crate::error::{OPERATING_SYSTEM, fail_if};

/// It names its threads by files of /proc, which it opens as if it made them anew, and has sockets of a kind.
///
/// # Errors
///
/// `CUDA_ERROR_OPERATING_SYSTEM`.
pub(crate) fn check() -> Answer {
    // SAFETY: a call without arguments.
    let thread = unsafe { libc::gettid() };
    let path = format!("/proc/self/task/{thread}/comm");
    let named = match std::fs::read(&path) {
        // Without /proc a driver does not work at all; the emulator needs nothing of it.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        name => name.and_then(|name| {
            let mut file = OpenOptions::new();
            file.write(true).create(true).truncate(true);
            // The file ends its text with a newline, which a write takes for a part of the name.
            let name = name.strip_suffix(b"\n").unwrap_or(&name);
            file.open(&path)?.write_all(name)
        }),
    };
    // SAFETY: makes a socket, which is closed below.
    let socket =
        unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0) };
    fail_if(named.is_err() || socket < 0, OPERATING_SYSTEM)?;
    // SAFETY: the socket of this function alone.
    unsafe { libc::close(socket) };
    Ok(())
}
