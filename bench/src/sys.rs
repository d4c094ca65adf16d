//! The system calls that the standard library does not offer.
#![allow(unsafe_code)] // libc

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};

/// Whether this process may do what root may.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
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
pub(crate) fn is_over(pipe: BorrowedFd<'_>, time: Duration) -> io::Result<bool> {
    let time = Timespec::try_from(time).map_err(io::Error::other)?;
    let mut pipe = [PollFd::from_borrowed_fd(pipe, PollFlags::IN)];
    Ok(poll(&mut pipe, Some(&time))? > 0)
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

/// Asks a process to end that this one has started and not yet waited for.
pub(crate) fn terminate(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // One that has ended is no harm.
        let _ = kill_process(pid, Signal::TERM);
    }
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
