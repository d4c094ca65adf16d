//! Pages by userfaultfd(2): who touches a page that is missing, or writes one that is protected, is
//! halted by the kernel until the page is there, also in the middle of a system call.
//!
//! A process without privileges may get a descriptor for its own accesses only
//! (`UFFD_USER_MODE_ONLY`, vm.unprivileged_userfaultfd): then system calls that read or write pages
//! which are not there fail with EFAULT.

// ioctl(2), mmap(2), and the pages themselves.
#![allow(unsafe_code)]

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::raw::c_ulong;
use std::sync::atomic::{AtomicU8, Ordering};
use std::{ptr, slice};

use super::eager::present;
use super::pager::{Fault, MREMAP_DONTUNMAP, Pager};
use crate::page::page_size;

// linux/userfaultfd.h.
const API: u64 = 0xaa;
const USER_MODE_ONLY: i32 = 1;
const FEATURE_PAGEFAULT_FLAG_WP: u64 = 1;
const NEW: c_ulong = 0xaa00;
const UFFDIO_API: c_ulong = 0xc018_aa3f;
const UFFDIO_REGISTER: c_ulong = 0xc020_aa00;
const UFFDIO_UNREGISTER: c_ulong = 0x8010_aa01;
const UFFDIO_WAKE: c_ulong = 0x8010_aa02;
const UFFDIO_COPY: c_ulong = 0xc028_aa03;
const UFFDIO_WRITEPROTECT: c_ulong = 0xc018_aa06;
const REGISTER_MISSING: u64 = 1;
const REGISTER_WP: u64 = 2;
const COPY_WP: u64 = 2;
const WRITEPROTECT_WP: u64 = 1;
const EVENT_PAGEFAULT: u8 = 0x12;
const PAGEFAULT_WRITE: u64 = 1;
const PAGEFAULT_WP: u64 = 2;

#[repr(C)]
#[derive(Default)]
struct Api {
    api: u64,
    features: u64,
    ioctls: u64,
}

#[repr(C)]
#[derive(Default)]
struct Register {
    start: u64,
    len: u64,
    mode: u64,
    ioctls: u64,
}

#[repr(C)]
#[derive(Default)]
struct Range {
    start: u64,
    len: u64,
}

#[repr(C)]
#[derive(Default)]
struct Copy {
    to: u64,
    from: u64,
    len: u64,
    mode: u64,
    copied: i64,
}

#[repr(C)]
#[derive(Default)]
struct WriteProtect {
    start: u64,
    len: u64,
    mode: u64,
}

/// `struct uffd_msg` of a fault.
#[repr(C)]
#[derive(Default)]
struct Message {
    event: u8,
    reserved: [u8; 7],
    flags: u64,
    address: u64,
    thread: u64,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Userfault(OwnedFd);

/// A descriptor, with the most that this process may have.
fn open() -> io::Result<OwnedFd> {
    let create = |flags: i32| {
        // SAFETY: a system call with one number; the descriptor that it returns is nobody else's.
        unsafe {
            match libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC | flags) {
                -1 => Err(io::Error::last_os_error()),
                fd => Ok(OwnedFd::from_raw_fd(fd as i32)),
            }
        }
    };
    if let Ok(fd) = create(0) {
        return Ok(fd);
    }
    // Whoever may open this may have faults of system calls too (Linux 6.1).
    if let Ok(device) = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/userfaultfd")
    {
        // SAFETY: takes a number, and returns a descriptor that is nobody else's.
        unsafe {
            let fd = libc::ioctl(device.as_raw_fd(), NEW, libc::O_CLOEXEC);
            if fd >= 0 {
                return Ok(OwnedFd::from_raw_fd(fd));
            }
        }
    }
    create(USER_MODE_ONLY)
}

impl Userfault {
    /// # Errors
    ///
    /// The kernel has none, or not what is needed, or does not permit it.
    pub(crate) fn new() -> io::Result<Self> {
        let made = Self(open()?);
        let mut api = Api {
            api: API,
            features: FEATURE_PAGEFAULT_FLAG_WP,
            ..Api::default()
        };
        made.control(UFFDIO_API, &mut api)?;
        Ok(made)
    }

    fn control<T>(&self, request: c_ulong, argument: &mut T) -> io::Result<()> {
        // SAFETY: each request is given the structure that it is for, and they name pages of
        // regions, which the program has no Rust references to.
        match unsafe { libc::ioctl(self.0.as_raw_fd(), request, ptr::from_mut(argument)) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }

    /// Whether all of it was to be had: not where the program has unmapped some.
    fn protect(&self, address: u64, len: u64, mode: u64) -> bool {
        let mut range = WriteProtect {
            start: address,
            len,
            mode,
        };
        loop {
            match self.control(UFFDIO_WRITEPROTECT, &mut range) {
                Ok(()) => return true,
                // EAGAIN: the process is about to fork; the kernel has done nothing.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return false,
            }
        }
    }
}

/// First addresses of pages.
fn pages(address: u64, len: u64) -> impl Iterator<Item = u64> {
    (0..len / page_size()).map(move |page| address + page * page_size())
}

fn place(address: u64) -> *mut libc::c_void {
    ptr::with_exposed_provenance_mut(address as usize)
}

/// Puts a new mapping where one is.
fn remap(base: u64, len: u64, protection: i32) -> bool {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
    // SAFETY: the addresses are the caller's, kept free of the program's memory.
    unsafe { libc::mmap(place(base), len as usize, protection, flags, -1, 0) != libc::MAP_FAILED }
}

impl Pager for Userfault {
    fn map(&self, base: u64, len: u64) -> bool {
        if !remap(base, len, libc::PROT_READ | libc::PROT_WRITE) {
            return false;
        }
        // A huge page would be there as a whole once a byte of it is; and a child of fork(2) has nobody
        // who would resolve its faults. Advice that is not taken costs no more than that.
        // SAFETY: advice about the mapping just made.
        unsafe {
            libc::madvise(place(base), len as usize, libc::MADV_NOHUGEPAGE);
            libc::madvise(place(base), len as usize, libc::MADV_DONTFORK);
        }
        // After mlockall(2) its pages are there already, and nobody would be asked for them.
        self.drop(base, len);
        let mut register = Register {
            start: base,
            len,
            mode: REGISTER_MISSING | REGISTER_WP,
            ioctls: 0,
        };
        if self.control(UFFDIO_REGISTER, &mut register).is_err() {
            remap(base, len, libc::PROT_NONE);
            return false;
        }
        true
    }

    fn unmap(&self, base: u64, len: u64) {
        let mut range = Range { start: base, len };
        let _ = self.control(UFFDIO_UNREGISTER, &mut range);
        remap(base, len, libc::PROT_NONE);
    }

    fn adopt(&self, base: u64, len: u64) -> Option<u64> {
        // SAFETY: advice about memory that the program has page-locked, which costs speed at most.
        unsafe { libc::madvise(place(base), len as usize, libc::MADV_NOHUGEPAGE) };
        // Where nobody has touched a mapping, Linux joins what is moved to the addresses beside with what it leaves behind, and
        // forgets that faults there are wanted. So one byte is written as it is.
        // SAFETY: the program's memory; a change of it by another thread stays. Of an exchange the processor always writes.
        unsafe {
            let first = &*place(base).cast::<AtomicU8>();
            let value = first.load(Ordering::Relaxed);
            let _ = first.compare_exchange(value, value, Ordering::Relaxed, Ordering::Relaxed);
        }
        let mut register = Register {
            start: base,
            len,
            mode: REGISTER_MISSING | REGISTER_WP,
            ioctls: 0,
        };
        self.control(UFFDIO_REGISTER, &mut register).ok()?;
        // Whoever touches the memory from here on waits until its pages are brought back.
        // SAFETY: the program's pages go to addresses that nobody has, all at once.
        let moved = unsafe {
            libc::mremap(
                place(base),
                len as usize,
                len as usize,
                libc::MREMAP_MAYMOVE | MREMAP_DONTUNMAP,
                ptr::null_mut::<libc::c_void>(),
            )
        };
        if moved == libc::MAP_FAILED {
            self.restore(base, len);
            return None;
        }
        Some(moved.expose_provenance() as u64)
    }

    fn restore(&self, base: u64, len: u64) {
        let mut range = Range { start: base, len };
        let _ = self.control(UFFDIO_UNREGISTER, &mut range);
    }

    fn abandon(&self, base: u64, len: u64) {
        self.restore(base, len);
    }

    fn is_there(&self, address: u64, len: u64) -> bool {
        let protects = |address, len| self.protect(address, len, WRITEPROTECT_WP);
        // Kernels before 6.4 do so within one mapping only, and the program may have divided its own (mprotect(2)).
        present(address, len).is_some()
            && (protects(address, len)
                || pages(address, len).all(|page| protects(page, page_size())))
    }

    fn complete(&self, address: u64, len: u64) {
        let Some(present) = present(address, len) else {
            return;
        };
        let zeros = vec![0_u8; page_size() as usize];
        for (page, _) in pages(address, len).zip(present).filter(|(_, is)| !is) {
            // One that is swapped out is there, and stays as it is.
            self.put(page, &zeros, false);
        }
    }

    fn put(&self, address: u64, bytes: &[u8], writable: bool) {
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            let mut copy = Copy {
                to: address + at as u64,
                from: rest.as_ptr().expose_provenance() as u64,
                len: rest.len() as u64,
                mode: if writable { 0 } else { COPY_WP },
                copied: 0,
            };
            let outcome = self.control(UFFDIO_COPY, &mut copy);
            // A partial copy is reported even where the whole failed (EAGAIN).
            at += usize::try_from(copy.copied).unwrap_or(0);
            if let Err(error) = outcome {
                match error.kind() {
                    io::ErrorKind::WouldBlock => {}
                    // Gone meanwhile, or there already, and then nobody waits.
                    _ => return self.wake(address),
                }
            }
        }
    }

    fn allow(&self, address: u64, len: u64) {
        self.protect(address, len, 0);
    }

    fn forbid(&self, address: u64, len: u64) {
        self.protect(address, len, WRITEPROTECT_WP);
    }

    fn bytes(&self, address: u64, len: u64) -> &[u8] {
        // SAFETY: the pages are there and protected, so nobody changes them, and the region stays
        // while its lock is held.
        unsafe { slice::from_raw_parts(place(address).cast(), len as usize) }
    }

    fn drop(&self, address: u64, len: u64) {
        let len = len as usize;
        // SAFETY: pages of a region, whose bytes nobody needs any more. Locked ones (mlock(2)) do not go.
        unsafe {
            if libc::madvise(place(address), len, libc::MADV_DONTNEED) != 0 {
                libc::munlock(place(address), len);
                libc::madvise(place(address), len, libc::MADV_DONTNEED);
            }
        }
    }

    fn wake(&self, address: u64) {
        let mut range = Range {
            start: address & !(page_size() - 1),
            len: page_size(),
        };
        let _ = self.control(UFFDIO_WAKE, &mut range);
    }

    fn fail(&self, address: u64, len: u64) {
        // SAFETY: pages of a region; an access is the program's end by intent.
        unsafe { libc::mprotect(place(address), len as usize, libc::PROT_NONE) };
        self.wake(address);
    }

    fn next(&self) -> Option<Fault> {
        loop {
            let mut message = Message::default();
            let size = size_of::<Message>();
            // SAFETY: reads into a structure of the size and the kind that the kernel writes.
            let read = unsafe { libc::read(self.0.as_raw_fd(), (&raw mut message).cast(), size) };
            if read == size as isize {
                if message.event == EVENT_PAGEFAULT {
                    return Some(Fault {
                        address: message.address,
                        write: message.flags & (PAGEFAULT_WRITE | PAGEFAULT_WP) != 0,
                        missing: message.flags & PAGEFAULT_WP == 0,
                        ticket: 0,
                    });
                }
                continue;
            }
            match io::Error::last_os_error().kind() {
                io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock => {}
                _ => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory of the program, at `base` in the place of what is there, or anywhere.
    fn memory(base: u64, len: u64) -> u64 {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let flags = flags | if base == 0 { 0 } else { libc::MAP_FIXED };
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: new memory, or addresses of this test.
        let got = unsafe { libc::mmap(place(base), len as usize, protection, flags, -1, 0) };
        assert_ne!(got, libc::MAP_FAILED);
        got.expose_provenance() as u64
    }

    #[test]
    fn memory_that_the_program_has_unmapped_is_not_there() {
        let whole = 8 * page_size();
        // Where the kernel permits none there is nothing to test.
        let Ok(pager) = Userfault::new() else { return };
        let base = memory(0, whole);
        let moved = pager.adopt(base, whole).unwrap();
        pager.put(base, &vec![7_u8; whole as usize], false);
        assert!(pager.is_there(base, whole));
        // SAFETY: a page of the test, whose bytes nobody needs.
        unsafe {
            libc::madvise(
                place(base + page_size()),
                page_size() as usize,
                libc::MADV_DONTNEED,
            )
        };
        pager.complete(base, whole);
        // Who reads a page that is missing waits for ever.
        assert_eq!(present(base, whole), Some(vec![true; 8]));
        let bytes = pager.bytes(base, whole);
        assert_eq!((bytes[0], bytes[page_size() as usize]), (7, 0));
        memory(base + 4 * page_size(), page_size());
        assert!(pager.is_there(base, 4 * page_size()));
        assert!(!pager.is_there(base, whole));
        assert!(!pager.is_there(base + 4 * page_size(), page_size()));
        // SAFETY: mappings of the test.
        unsafe {
            libc::munmap(place(base), whole as usize);
            libc::munmap(place(moved), whole as usize);
        }
        assert!(!pager.is_there(base, page_size()));
    }
}
