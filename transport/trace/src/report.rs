//! Telling `gtrace trace`: datagrams to its socket, with or without a descriptor.

// sendmsg(2) with a descriptor.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Once;
use std::time::Duration;

use gtrace_recording::message::Message;

use crate::session;

/// How long the other side may take before it is given up.
const PATIENCE: Duration = Duration::from_secs(2);

/// Sends a message; false if nobody received it.
pub(crate) fn report(message: &Message<'_>) -> bool {
    report_with(message, None)
}

/// Sends a message with a descriptor.
pub(crate) fn report_with(message: &Message<'_>, file: Option<BorrowedFd<'_>>) -> bool {
    if !session::is_recorded() {
        return false;
    }
    match send(&message.to_bytes(), file) {
        Ok(()) => true,
        Err(error) => {
            session::not_listening();
            static WARNED: Once = Once::new();
            WARNED.call_once(|| {
                let socket = session::variables().socket.as_deref();
                let socket = socket.map(|path| path.display().to_string());
                say(&format!(
                    "nobody collects at {} ({error}): calls are not recorded (any longer)",
                    socket.unwrap_or_default()
                ));
            });
            false
        }
    }
}

fn send(bytes: &[u8], file: Option<BorrowedFd<'_>>) -> io::Result<()> {
    let path = session::variables().socket.as_deref();
    let path = path.map_or(&b""[..], |path| path.as_os_str().as_bytes());
    // SAFETY: an address is integers.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    if path.is_empty() || path.len() >= address.sun_path.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    for (to, from) in address.sun_path.iter_mut().zip(path) {
        *to = *from as libc::c_char;
    }
    // SAFETY: plain arguments; the descriptor is owned at once.
    let socket = unsafe {
        let socket = libc::socket(libc::AF_UNIX, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        OwnedFd::from_raw_fd(socket)
    };
    let patience = libc::timeval {
        tv_sec: PATIENCE.as_secs() as libc::time_t,
        tv_usec: 0,
    };
    let mut part = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    // Aligned as a control message is.
    let mut control = [0u64; 4];
    // SAFETY: a header is integers and pointers, which are set below.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_name = (&raw mut address).cast();
    header.msg_namelen = size_of::<libc::sockaddr_un>() as libc::socklen_t;
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    // SAFETY: everything that the header points to outlives the call; the control message fits its room
    // (24 bytes of 32).
    unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_SNDTIMEO,
            (&raw const patience).cast(),
            size_of::<libc::timeval>() as libc::socklen_t,
        );
        if let Some(file) = file {
            header.msg_control = control.as_mut_ptr().cast();
            header.msg_controllen = libc::CMSG_SPACE(size_of::<libc::c_int>() as u32) as _;
            let message = libc::CMSG_FIRSTHDR(&raw const header);
            (*message).cmsg_level = libc::SOL_SOCKET;
            (*message).cmsg_type = libc::SCM_RIGHTS;
            (*message).cmsg_len = libc::CMSG_LEN(size_of::<libc::c_int>() as u32) as _;
            libc::CMSG_DATA(message)
                .cast::<libc::c_int>()
                .write_unaligned(file.as_raw_fd());
        }
        loop {
            if libc::sendmsg(socket.as_raw_fd(), &raw const header, libc::MSG_NOSIGNAL) >= 0 {
                return Ok(());
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }
}

/// A line on standard error.
pub(crate) fn say(what: &str) {
    use std::io::Write as _;
    // Not eprintln!, which panics where standard error is closed.
    let _ = writeln!(io::stderr(), "gtrace: {what}");
}
