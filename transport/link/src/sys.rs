//! The few system calls that rustix has not, or not safely.
#![allow(unsafe_code)]

use std::io;
use std::mem::{self, ManuallyDrop};
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::time::Duration;

use rustix::io::DupFlags;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

/// What TCP knows of whether the other host still answers (`struct tcp_info`, linux/tcp.h).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Liveness {
    /// Times in a row that the oldest outstanding bytes were sent again.
    pub(crate) retransmits: u8,
    /// Probes of a closed window or of an idle connection that nobody answered.
    pub(crate) probes: u8,
    /// Since the last acknowledgement came.
    pub(crate) last_ack: Duration,
}

/// Asks TCP about the other host.
pub(crate) fn liveness(socket: BorrowedFd<'_>) -> io::Result<Liveness> {
    let mut info = mem::MaybeUninit::<libc::tcp_info>::zeroed();
    let mut len = mem::size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `len` bytes to `info`, which is that large.
    let status = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut len,
        )
    };
    if status != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: all fields are integers, for which zeros are values too where an older kernel wrote less.
    let info = unsafe { info.assume_init() };
    Ok(Liveness {
        retransmits: info.tcpi_retransmits,
        probes: info.tcpi_probes,
        last_ack: Duration::from_millis(info.tcpi_last_ack_recv.into()),
    })
}

/// Number of the network namespace that a socket was made in (Linux 5.14 and later).
pub(crate) fn network(socket: BorrowedFd<'_>) -> io::Result<u64> {
    const SO_NETNS_COOKIE: libc::c_int = 71;
    let mut cookie = 0_u64;
    let mut len = mem::size_of_val(&cookie) as libc::socklen_t;
    // SAFETY: the kernel writes at most `len` bytes to `cookie`, which is that large.
    let status = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            SO_NETNS_COOKIE,
            (&raw mut cookie).cast(),
            &raw mut len,
        )
    };
    match status {
        0 => Ok(cookie),
        _ => Err(io::Error::last_os_error()),
    }
}

/// What a descriptor names: device and inode, which no other file has as long as it is open.
pub(crate) fn identity(fd: BorrowedFd<'_>) -> Option<(u64, u64)> {
    stat(fd.as_raw_fd())
}

/// The inode of what a number names, if it is a descriptor. Safe to call between fork and exec.
pub(crate) fn inode(descriptor: RawFd) -> Option<u64> {
    stat(descriptor).map(|(_, inode)| inode)
}

fn stat(descriptor: RawFd) -> Option<(u64, u64)> {
    let mut stat = mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the kernel writes a `stat` there, whatever the number names.
    let status = unsafe { libc::fstat(descriptor, stat.as_mut_ptr()) };
    // SAFETY: all fields are integers, for which zeros are values.
    let stat = unsafe { stat.assume_init() };
    (status == 0).then_some((stat.st_dev, stat.st_ino))
}

/// TCP_RTO_MAX_MS (linux/tcp.h, since Linux 6.15).
const TCP_RTO_MAX_MS: libc::c_int = 44;

/// Longest time between two tries to reach the other host: bytes that are sent again, and probes of a
/// closed window. Kernels before 6.15 know no limit but 120 s.
pub(crate) fn set_longest_retry(socket: BorrowedFd<'_>, longest: Duration) -> io::Result<()> {
    let millis = libc::c_int::try_from(longest.as_millis()).unwrap_or(libc::c_int::MAX);
    // SAFETY: the kernel reads `millis`, whose size is given.
    let status = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            TCP_RTO_MAX_MS,
            (&raw const millis).cast(),
            mem::size_of_val(&millis) as libc::socklen_t,
        )
    };
    match status {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Puts an unconnected socket in the place of `descriptor`. Safe to call between fork and exec.
pub(crate) fn disconnect(descriptor: RawFd) -> io::Result<()> {
    let spare = rustix::net::socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )?;
    // SAFETY: the caller's link owns the descriptor and keeps it open during the call; it is not
    // closed here. Its number stays in use, so that the link's own drop closes what is there then.
    let mut place = ManuallyDrop::new(unsafe { OwnedFd::from_raw_fd(descriptor) });
    rustix::io::dup3(&spare, &mut place, DupFlags::CLOEXEC)?;
    Ok(())
}

/// Copies `into.len()` bytes from `from` on, of this process, as far as they are mapped; how many.
///
/// # Errors
///
/// The system's, where it forbids to ask; not for memory that is not there.
pub(crate) fn copy_if_there(from: *const u8, into: &mut [u8]) -> io::Result<usize> {
    let ours = libc::iovec {
        iov_base: into.as_mut_ptr().cast(),
        iov_len: into.len(),
    };
    let theirs = libc::iovec {
        iov_base: from.cast_mut().cast(),
        iov_len: into.len(),
    };
    // SAFETY: the kernel writes to `into` only, and checks by itself whether what it reads is there.
    let copied = unsafe {
        libc::process_vm_readv(libc::getpid(), &raw const ours, 1, &raw const theirs, 1, 0)
    };
    match usize::try_from(copied) {
        Ok(copied) => Ok(copied),
        Err(_) => match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::EFAULT) => Ok(0),
            error => Err(error),
        },
    }
}

/// Does `action` with all asynchronous signals blocked, so that a thread started by it never runs a handler of
/// the program.
pub fn without_signals<T>(action: impl FnOnce() -> T) -> T {
    let mut all = mem::MaybeUninit::<libc::sigset_t>::zeroed();
    let mut before = mem::MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: both sets are local; the first is initialised by sigfillset(3), the second by pthread_sigmask(3).
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        // What a thread does itself cannot wait: one that is blocked would be the end of the process.
        for own in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL] {
            libc::sigdelset(all.as_mut_ptr(), own);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    let result = action();
    // SAFETY: the set was written above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    result
}
