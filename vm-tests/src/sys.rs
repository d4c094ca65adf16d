//! System calls that have no safe wrapper.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

/// A C structure of integers without padding and without pointers that are followed here: any
/// bytes are a value of it.
///
/// # Safety
///
/// The type must be `repr(C)`, have no padding and no invalid bit patterns.
pub(crate) unsafe trait Plain: Copy {}

/// Implements [`Plain`] for structures whose fields leave no padding, which is checked.
#[macro_export]
macro_rules! plain {
    ($($type:ident: $size:literal),* $(,)?) => {$(
        const _: () = assert!(size_of::<$type>() == $size);
        // SAFETY: repr(C) with integer fields only; the size, which is that of the kernel's
        // structure, is the sum of its fields' sizes as each one's doc comment gives the offset.
        #[allow(unsafe_code)]
        unsafe impl $crate::sys::Plain for $type {}
    )*};
}

/// ioctl(2) with a structure that the kernel reads and writes.
///
/// # Errors
///
/// What the kernel returned, the errno kept.
pub(crate) fn ioctl<T: Plain>(fd: BorrowedFd<'_>, request: u64, value: &mut T) -> io::Result<i32> {
    // SAFETY: `value` is exclusively borrowed and any bytes are a valid T. Requests of the
    // driver's type `F` carry T's size, and its other requests are bare numbers whose
    // structures callers pass whole.
    let returned = unsafe { libc::ioctl(fd.as_raw_fd(), request as _, std::ptr::from_mut(value)) };
    if returned < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(returned)
}

/// SIGKILL to every process but PID 1, which must be the caller.
pub(crate) fn kill_all() {
    // SAFETY: kill takes no memory of ours; that nobody is there (ESRCH) is no failure.
    unsafe {
        libc::kill(-1, libc::SIGKILL);
    }
}
