//! The system calls that the standard library does not offer.
#![allow(unsafe_code)] // libc

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::sync::atomic::{AtomicI32, Ordering};

/// Whether this process may do what root may.
pub(crate) fn is_root() -> bool {
    // SAFETY: takes no argument, cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// One ioctl with 32 bytes of parameters, as RM_CONTROL has. The result is of no interest: the devices
/// used here refuse it.
#[inline]
pub(crate) fn ioctl(fd: BorrowedFd<'_>, request: u32) {
    let mut parameters = [0u64; 4];
    let pointer = std::hint::black_box(&mut parameters).as_mut_ptr();
    // SAFETY: `parameters` outlives the call and is as long as the request says; the device does not
    // know the request and does not read it.
    unsafe { libc::ioctl(fd.as_raw_fd(), libc::c_ulong::from(request), pointer) };
}

/// Waits until the writers of `pipe` have gone (true), or for `time`.
pub(crate) fn is_over(pipe: BorrowedFd<'_>, time: std::time::Duration) -> io::Result<bool> {
    let mut poll = libc::pollfd {
        fd: pipe.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let ms = libc::c_int::try_from(time.as_millis()).unwrap_or(libc::c_int::MAX);
    // SAFETY: `poll` is one element, as the call says, and outlives it.
    match unsafe { libc::poll(&raw mut poll, 1, ms) } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(false),
        _ => Ok(true),
    }
}

/// One of the cheapest system calls, past any cache of the C library.
#[inline]
pub(crate) fn getppid() {
    // SAFETY: takes no argument, cannot fail.
    unsafe { libc::syscall(libc::SYS_getppid) };
}

/// CPU time that process `pid` has used, threads that have ended included, in nanoseconds.
pub(crate) fn cpu_ns(pid: u32) -> io::Result<u64> {
    let pid = libc::pid_t::try_from(pid).map_err(io::Error::other)?;
    let mut clock: libc::clockid_t = 0;
    // SAFETY: writes the clock's number to `clock`.
    let error = unsafe { libc::clock_getcpuclockid(pid, &raw mut clock) };
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes the time to `time`.
    if unsafe { libc::clock_gettime(clock, &raw mut time) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Ok(seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0))
}

/// Sends `signal` to a process that this one has started and not yet waited for.
pub(crate) fn kill(pid: u32, signal: libc::c_int) {
    if let Ok(pid) = libc::pid_t::try_from(pid) {
        // SAFETY: takes numbers; a process that has ended is no harm.
        unsafe { libc::kill(pid, signal) };
    }
}

static SIGNAL_PIPE: AtomicI32 = AtomicI32::new(-1);

extern "C" fn tell_pipe(_: libc::c_int) {
    let fd = SIGNAL_PIPE.load(Ordering::Relaxed);
    // SAFETY: write(2) may be called in a signal handler; the byte lives for ever.
    unsafe { libc::write(fd, b"!".as_ptr().cast(), 1) };
}

/// From now on SIGINT, SIGTERM and SIGHUP write a byte to `pipe`, which is never closed.
pub(crate) fn signals_to(pipe: io::PipeWriter) -> io::Result<()> {
    SIGNAL_PIPE.store(std::os::fd::IntoRawFd::into_raw_fd(pipe), Ordering::Relaxed);
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: an all-zero sigaction is a valid one: no flags, nothing masked.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = tell_pipe as extern "C" fn(libc::c_int) as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        // SAFETY: the handler calls only what may be called in one.
        if unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// How the kernel schedules this process and, if they do not choose otherwise, its children.
pub(crate) fn scheduling() -> &'static str {
    // SAFETY: takes a number; 0 is this process.
    match unsafe { libc::sched_getscheduler(0) } {
        libc::SCHED_OTHER => "SCHED_OTHER",
        libc::SCHED_BATCH => "SCHED_BATCH",
        libc::SCHED_IDLE => "SCHED_IDLE",
        libc::SCHED_FIFO => "SCHED_FIFO (real time)",
        libc::SCHED_RR => "SCHED_RR (real time)",
        _ => "another policy",
    }
}
