//! Pages by mprotect(2) and SIGSEGV, where the kernel permits no userfaultfd(2): who touches a page that
//! may not be touched is halted in the signal's handler until the page is there.
//!
//! System calls that read or write such pages fail with EFAULT, and a program that installs a handler of
//! its own for SIGSEGV after this one gets the signals instead.

// Signal handlers, mprotect(2), and the pages themselves.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::{ptr, slice};

use super::eager;
use super::pager::{Fault, MREMAP_DONTUNMAP, Pager};
use crate::log;
use crate::page::page_size;
use crate::state::lock;

/// Most regions at a time. The handler searches them in order, as it may take no lock.
const REGIONS: usize = 4096;

/// First address and bytes of a region; no bytes: none.
struct Slot {
    base: AtomicU64,
    len: AtomicU64,
    /// Bytes of the last region there, which may be gone.
    was: AtomicU64,
    /// While the process forks, what its child gets for the region; 0: nothing.
    copy: AtomicU64,
}

static SLOTS: [Slot; REGIONS] = [const {
    Slot {
        base: AtomicU64::new(0),
        len: AtomicU64::new(0),
        was: AtomicU64::new(0),
        copy: AtomicU64::new(0),
    }
}; REGIONS];
/// Slots that were ever used.
static USED: AtomicUsize = AtomicUsize::new(0);
/// Faults in memory that is a region no more, whose threads may try again: they may have begun while it was one.
static RETRIES: AtomicU32 = AtomicU32::new(0);
/// Most of them after a region is gone.
const RETRIES_MAX: u32 = 1000;
/// Where the handler writes what is to be resolved.
static QUESTIONS: AtomicI32 = AtomicI32::new(-1);
/// The process that has the thread which resolves it, and not a child of its fork.
static PROCESS: AtomicI32 = AtomicI32::new(0);
/// What handled the signal before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();
/// That handler was to be called once, and was.
static RESET: AtomicBool = AtomicBool::new(false);

/// A halted thread, as it goes through the pipe.
#[repr(C)]
#[derive(Clone, Copy)]
struct Question {
    address: u64,
    write: u64,
    /// Its word, which becomes 1.
    ticket: u64,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Protected {
    questions: OwnedFd,
    /// Bytes and where they can always be reached, by the first address of the region.
    regions: Mutex<BTreeMap<u64, (u64, u64)>>,
}

fn place(address: u64) -> *mut libc::c_void {
    ptr::with_exposed_provenance_mut(address as usize)
}

fn is_ours(address: u64) -> bool {
    let used = USED.load(Ordering::Acquire).min(REGIONS);
    SLOTS[..used].iter().any(|slot| {
        let len = slot.len.load(Ordering::Acquire);
        address.wrapping_sub(slot.base.load(Ordering::Acquire)) < len
    })
}

/// Whether a fault may have begun while there was a region, which is gone.
fn may_try_again(address: u64) -> bool {
    let used = USED.load(Ordering::Acquire).min(REGIONS);
    let was = SLOTS[..used].iter().any(|slot| {
        let was = slot.was.load(Ordering::Acquire);
        address.wrapping_sub(slot.base.load(Ordering::Acquire)) < was
    });
    let left = |left: u32| left.checked_sub(1);
    was && RETRIES
        .fetch_update(Ordering::AcqRel, Ordering::Acquire, left)
        .is_ok()
}

/// Whether the access that failed was one to write. Where the processor's word for it is not known here,
/// it is taken for one, which only costs.
///
/// # Safety
///
/// The context of a signal handler.
unsafe fn is_write(context: *const libc::c_void) -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        /// Bit of the error code of a page fault (Intel SDM, 4.7).
        const WRITE: i64 = 2;
        let context = context.cast::<libc::ucontext_t>();
        // SAFETY: the caller's promise.
        let registers = unsafe { &(*context).uc_mcontext.gregs };
        registers[libc::REG_ERR as usize] & WRITE != 0
    }
    #[cfg(target_arch = "aarch64")]
    {
        /// Where in its registers the kernel puts records of other things, and how many bytes it has for them
        /// (`struct sigcontext`, arch/arm64/include/uapi/asm/sigcontext.h).
        const RECORDS: (usize, usize) = (288, 4096);
        let context = context.cast::<libc::ucontext_t>();
        // SAFETY: the caller's promise.
        let records = unsafe {
            let registers = (&raw const (*context).uc_mcontext).cast::<u8>();
            slice::from_raw_parts(registers.add(RECORDS.0), RECORDS.1)
        };
        is_write_on_arm64(records)
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        let _ = context;
        true
    }
}

/// The same by arm64's records: a number and a length in bytes of each, of 4 bytes, and its content; the last has number 0.
#[cfg(any(test, target_arch = "aarch64"))]
fn is_write_on_arm64(records: &[u8]) -> bool {
    const ESR_MAGIC: u32 = 0x4553_5201;
    /// Bit WnR of a data abort's syndrome (Arm ARM, ESR_EL1).
    const WRITE: u32 = 1 << 6;
    let word = |at: usize| Some(u32::from_ne_bytes(*records.get(at..)?.first_chunk()?));
    let mut at = 0;
    while let (Some(magic @ 1..), Some(size @ 8..)) = (word(at), word(at + 4)) {
        if magic == ESR_MAGIC {
            return word(at + 8).is_none_or(|syndrome| syndrome & WRITE != 0);
        }
        at += size as usize;
    }
    true
}

/// Does nothing that a signal handler may not do.
unsafe extern "C" fn on_fault(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel's arguments; errno is the thread's own.
    unsafe {
        let address = (*info).si_addr().addr() as u64;
        if (*info).si_code > 0 && !is_ours(address) && may_try_again(address) {
            return;
        }
        if !is_ours(address) || PROCESS.load(Ordering::Relaxed) != libc::getpid() {
            return pass_on(signal, info, context);
        }
        let errno = *libc::__errno_location();
        let ticket = AtomicU32::new(0);
        let question = Question {
            address,
            write: is_write(context).into(),
            ticket: (&raw const ticket).expose_provenance() as u64,
        };
        let size = size_of::<Question>();
        let to = QUESTIONS.load(Ordering::Relaxed);
        while libc::write(to, (&raw const question).cast(), size) != size as isize {
            if *libc::__errno_location() != libc::EINTR {
                return pass_on(signal, info, context);
            }
        }
        while ticket.load(Ordering::Acquire) == 0 {
            libc::syscall(
                libc::SYS_futex,
                ticket.as_ptr(),
                libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                0,
                ptr::null::<libc::timespec>(),
            );
        }
        *libc::__errno_location() = errno;
    }
}

/// What happens to a signal that has nothing to do with managed memory.
///
/// # Safety
///
/// The arguments of a signal handler.
unsafe fn pass_on(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    type Long = unsafe extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);
    type Short = unsafe extern "C" fn(i32);
    // SAFETY: the handler that was there before is called as it was to be; without one the access that
    // failed is made again and ends the process.
    unsafe {
        match BEFORE.get() {
            // Sent by somebody, it is ignored as it would be; a fault cannot be (signal(7)).
            Some(before) if before.sa_sigaction == libc::SIG_IGN && (*info).si_code <= 0 => {}
            Some(before)
                if before.sa_sigaction != libc::SIG_DFL
                    && before.sa_sigaction != libc::SIG_IGN
                    && !(before.sa_flags & libc::SA_RESETHAND != 0
                        && RESET.swap(true, Ordering::AcqRel)) =>
            {
                let handler = place(before.sa_sigaction as u64);
                // Signals that the handler wants held back, and its own unless it says otherwise (sigaction(2)). What was
                // blocked before comes back when the handler of this library returns.
                let mut mask = before.sa_mask;
                if before.sa_flags & libc::SA_NODEFER == 0 {
                    libc::sigaddset(&raw mut mask, signal);
                }
                let mut own: libc::sigset_t = std::mem::zeroed();
                libc::pthread_sigmask(libc::SIG_BLOCK, &raw const mask, &raw mut own);
                if before.sa_flags & libc::SA_NODEFER != 0 {
                    let mut this: libc::sigset_t = std::mem::zeroed();
                    libc::sigemptyset(&raw mut this);
                    libc::sigaddset(&raw mut this, signal);
                    libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const this, ptr::null_mut());
                }
                if before.sa_flags & libc::SA_SIGINFO != 0 {
                    std::mem::transmute::<*mut libc::c_void, Long>(handler)(signal, info, context);
                } else {
                    std::mem::transmute::<*mut libc::c_void, Short>(handler)(signal);
                }
                libc::pthread_sigmask(libc::SIG_SETMASK, &raw const own, ptr::null_mut());
            }
            _ => {
                let mut default: libc::sigaction = std::mem::zeroed();
                default.sa_sigaction = libc::SIG_DFL;
                libc::sigaction(signal, &raw const default, ptr::null_mut());
                if (*info).si_code <= 0 {
                    // No access is made again where somebody has sent it.
                    libc::raise(signal);
                }
            }
        }
    }
}

impl Protected {
    /// Nothing is installed before there is managed memory: a program that only asks what the device has
    /// keeps its signals.
    pub(crate) fn new() -> io::Result<Self> {
        let mut ends = [-1; 2];
        // SAFETY: two descriptors that are nobody else's, and structures that are initialised.
        unsafe {
            if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
                return Err(io::Error::last_os_error());
            }
            QUESTIONS.store(ends[1], Ordering::Relaxed);
            PROCESS.store(libc::getpid(), Ordering::Relaxed);
            Ok(Self {
                questions: OwnedFd::from_raw_fd(ends[0]),
                regions: Mutex::default(),
            })
        }
    }

    /// Installs the handler, once.
    fn install() -> bool {
        static INSTALLED: OnceLock<bool> = OnceLock::new();
        // SAFETY: structures that are initialised, and a handler of their kind.
        *INSTALLED.get_or_init(|| unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            libc::sigaction(libc::SIGSEGV, ptr::null(), &raw mut before);
            let _ = BEFORE.set(before);
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_fault as *const () as usize;
            // Whoever waits in there may be interrupted by other signals, and may have a stack for them.
            // A handler that interrupts the wait may touch such memory too.
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            libc::sigaction(libc::SIGSEGV, &raw const action, ptr::null_mut()) == 0
        })
    }

    /// A file for the bytes of a region, and where they can always be reached.
    fn shadow_of(&self, len: u64) -> Option<(OwnedFd, u64)> {
        // SAFETY: a name, and a descriptor that is nobody else's.
        let file = unsafe {
            let fd = libc::memfd_create(c"gtrace-managed".as_ptr(), libc::MFD_CLOEXEC);
            if fd < 0 {
                return None;
            }
            let file = OwnedFd::from_raw_fd(fd);
            if libc::ftruncate(fd, len as i64) != 0 {
                return None;
            }
            file
        };
        let shadow = map_file(&file, 0, len, libc::PROT_READ | libc::PROT_WRITE)?;
        Some((file, shadow))
    }

    /// From now on faults there are this pager's. False if it has no room for the region.
    fn note(&self, base: u64, len: u64, shadow: u64) -> bool {
        let free = SLOTS
            .iter()
            .position(|slot| slot.len.load(Ordering::Relaxed) == 0);
        let Some(at) = free.filter(|_| Self::install()) else {
            return false;
        };
        lock(&self.regions).insert(base, (len, shadow));
        SLOTS[at].was.store(0, Ordering::Release);
        SLOTS[at].base.store(base, Ordering::Release);
        SLOTS[at].len.store(len, Ordering::Release);
        SLOTS[at].was.store(len, Ordering::Release);
        USED.fetch_max(at + 1, Ordering::AcqRel);
        true
    }

    /// Faults there are nobody's to resolve any more.
    fn forget(&self, base: u64) {
        RETRIES.store(RETRIES_MAX, Ordering::Release);
        for slot in &SLOTS {
            if slot.base.load(Ordering::Relaxed) == base {
                slot.len.store(0, Ordering::Release);
            }
        }
        if let Some((len, shadow)) = lock(&self.regions).remove(&base) {
            clear_shadow(shadow, len);
        }
    }

    /// Where the bytes at an address can always be reached.
    fn shadow(&self, address: u64) -> u64 {
        let regions = lock(&self.regions);
        let found = regions.range(..=address).next_back();
        found.map_or(0, |(base, (_, shadow))| shadow + (address - base))
    }

    /// The bytes of a region, as memory that nobody else has.
    fn private_copy(&self, base: u64, len: u64) -> Option<u64> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping, as large as the bytes that are copied there, which nobody changes now.
        unsafe {
            let made = libc::mmap(ptr::null_mut(), len as usize, protection, flags, -1, 0);
            if made == libc::MAP_FAILED {
                return None;
            }
            let from = self.bytes(base, len);
            ptr::copy_nonoverlapping(from.as_ptr(), made.cast::<u8>(), from.len());
            Some(made.expose_provenance() as u64)
        }
    }

    fn protect(&self, address: u64, len: u64, protection: i32) {
        // SAFETY: pages of a region; who may not touch them waits.
        let done = unsafe { libc::mprotect(place(address), len as usize, protection) };
        if done != 0 {
            // Nobody may go on with pages that are not as they should be.
            log::once(
                "managed mprotect",
                &format!(
                    "managed memory: mprotect: {}; vm.max_map_count may be too small",
                    io::Error::last_os_error()
                ),
            );
            self.fail(address, len);
        }
    }
}

/// Maps a file, at `base` in the place of what is there, or anywhere.
fn map_file(fd: &OwnedFd, base: u64, len: u64, protection: i32) -> Option<u64> {
    let flags = libc::MAP_SHARED | if base == 0 { 0 } else { libc::MAP_FIXED };
    // SAFETY: addresses that the caller keeps free, or that nobody has.
    let got = unsafe {
        libc::mmap(
            place(base),
            len as usize,
            protection,
            flags,
            fd.as_raw_fd(),
            0,
        )
    };
    (got != libc::MAP_FAILED).then(|| got.expose_provenance() as u64)
}

/// Whether a page is of a shared mapping, as those of regions are: mremap(2) makes a second mapping of such only.
fn is_shared(page: u64) -> bool {
    let len = page_size() as usize;
    // SAFETY: the page stays as it is; the mapping that is made is nobody else's, and goes at once.
    unsafe {
        let flags = libc::MREMAP_MAYMOVE;
        let again = libc::mremap(place(page), 0, len, flags, ptr::null_mut::<libc::c_void>());
        again != libc::MAP_FAILED && libc::munmap(again, len) == 0
    }
}

/// In the child of a fork, from a handler that may do next to nothing: what the parent's regions were of the program is
/// the child's alone.
pub(super) fn in_child() {
    let used = USED.load(Ordering::Acquire).min(REGIONS);
    for slot in &SLOTS[..used] {
        match slot.copy.swap(0, Ordering::AcqRel) {
            0 => {}
            copy => {
                let (base, len) = (&slot.base, &slot.len);
                move_to(
                    copy,
                    base.load(Ordering::Acquire),
                    len.load(Ordering::Acquire),
                );
            }
        }
    }
}

/// Unmaps what [`Protected::shadow_of`] or [`Protected::private_copy`] has mapped.
fn clear_shadow(shadow: u64, len: u64) {
    // SAFETY: a mapping of this file, or a copy, which nobody has any more.
    unsafe { libc::munmap(place(shadow), len as usize) };
}

/// Moves the pages of a mapping to where they can be read; nobody can touch its addresses any more.
fn move_away(base: u64, len: u64) -> Option<u64> {
    let len = len as usize;
    let flags = libc::MREMAP_MAYMOVE | MREMAP_DONTUNMAP;
    // SAFETY: the program's pages, which the caller has: who touches them waits.
    unsafe {
        libc::mprotect(place(base), len, libc::PROT_NONE);
        let moved = libc::mremap(
            place(base),
            len,
            len,
            flags,
            ptr::null_mut::<libc::c_void>(),
        );
        if moved == libc::MAP_FAILED {
            return None;
        }
        libc::mprotect(moved, len, libc::PROT_READ | libc::PROT_WRITE);
        Some(moved.expose_provenance() as u64)
    }
}

/// Moves a mapping to where another one is.
fn move_to(from: u64, to: u64, len: u64) {
    let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
    // SAFETY: both are mappings of this size that the caller has.
    unsafe { libc::mremap(place(from), len as usize, len as usize, flags, place(to)) };
}

/// Keeps addresses free again.
fn clear(base: u64, len: u64) {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
    // SAFETY: addresses of a region that is gone.
    unsafe { libc::mmap(place(base), len as usize, libc::PROT_NONE, flags, -1, 0) };
}

impl Pager for Protected {
    fn map(&self, base: u64, len: u64) -> bool {
        let Some((file, shadow)) = self.shadow_of(len) else {
            return false;
        };
        if !self.note(base, len, shadow) {
            clear_shadow(shadow, len);
            return false;
        }
        if map_file(&file, base, len, libc::PROT_NONE).is_none() {
            self.forget(base);
            return false;
        }
        // SAFETY: advice about the mapping just made.
        unsafe { libc::madvise(place(base), len as usize, libc::MADV_DONTFORK) };
        true
    }

    fn adopt(&self, base: u64, len: u64) -> Option<u64> {
        let (file, shadow) = self.shadow_of(len)?;
        if !self.note(base, len, shadow) {
            clear_shadow(shadow, len);
            return None;
        }
        // Whoever touches the memory from here on waits in the handler until its pages are brought back.
        let moved = move_away(base, len);
        if moved.is_some() && map_file(&file, base, len, libc::PROT_NONE).is_some() {
            return moved;
        }
        if let Some(moved) = moved {
            move_to(moved, base, len);
        }
        // SAFETY: the program's memory, as it was.
        unsafe {
            libc::mprotect(
                place(base),
                len as usize,
                libc::PROT_READ | libc::PROT_WRITE,
            )
        };
        self.forget(base);
        None
    }

    fn restore(&self, base: u64, len: u64) {
        self.forbid(base, len);
        match self.private_copy(base, len) {
            // Memory that a child of fork(2) has in common with its parent is better than none.
            None => self.allow(base, len),
            Some(private) => move_to(private, base, len),
        }
        self.forget(base);
    }

    fn abandon(&self, base: u64, _: u64) {
        self.forget(base);
    }

    fn is_there(&self, address: u64, len: u64) -> bool {
        /// Whether a kernel makes second mappings of shared pages.
        static TELLS: OnceLock<bool> = OnceLock::new();
        let mut ends = [address, address + len - page_size()].into_iter();
        eager::is_mapped(address, len)
            && (!*TELLS.get_or_init(|| is_shared(self.shadow(address))) || ends.all(is_shared))
    }

    fn before_fork(&self, base: u64, len: u64) {
        // What other threads write from here on comes after the fork.
        self.forbid(base, len);
        let Some(copy) = self.private_copy(base, len) else {
            return;
        };
        let here = |slot: &&Slot| {
            slot.base.load(Ordering::Relaxed) == base && slot.len.load(Ordering::Relaxed) == len
        };
        match SLOTS.iter().find(here) {
            Some(slot) => match slot.copy.swap(copy, Ordering::AcqRel) {
                0 => {}
                before => clear_shadow(before, len),
            },
            None => clear_shadow(copy, len),
        }
    }

    fn after_fork(&self, base: u64, len: u64, writable: &[(u64, u64)]) {
        for slot in &SLOTS {
            if slot.base.load(Ordering::Relaxed) == base {
                match slot.copy.swap(0, Ordering::AcqRel) {
                    0 => {}
                    copy => clear_shadow(copy, len),
                }
            }
        }
        for &(address, len) in writable {
            self.allow(address, len);
        }
    }

    fn unmap(&self, base: u64, len: u64) {
        RETRIES.store(RETRIES_MAX, Ordering::Release);
        for slot in &SLOTS {
            if slot.base.load(Ordering::Relaxed) == base {
                slot.len.store(0, Ordering::Release);
            }
        }
        clear(base, len);
        self.forget(base);
    }

    fn put(&self, address: u64, bytes: &[u8], writable: bool) {
        let to = place(self.shadow(address)).cast::<u8>();
        // SAFETY: as many bytes of a region, which the program cannot touch yet.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        let write = if writable { libc::PROT_WRITE } else { 0 };
        self.protect(address, bytes.len() as u64, libc::PROT_READ | write);
    }

    fn allow(&self, address: u64, len: u64) {
        self.protect(address, len, libc::PROT_READ | libc::PROT_WRITE);
    }

    fn forbid(&self, address: u64, len: u64) {
        self.protect(address, len, libc::PROT_READ);
    }

    fn bytes(&self, address: u64, len: u64) -> &[u8] {
        let from = place(self.shadow(address)).cast::<u8>();
        // SAFETY: as many bytes of a region, which the program cannot change now.
        unsafe { slice::from_raw_parts(from, len as usize) }
    }

    fn drop(&self, address: u64, len: u64) {
        self.protect(address, len, libc::PROT_NONE);
    }

    fn wake(&self, _: u64) {}

    fn fail(&self, address: u64, _: u64) {
        // From now on a fault there is nobody's to resolve.
        for slot in &SLOTS {
            let base = slot.base.load(Ordering::Relaxed);
            if address.wrapping_sub(base) < slot.len.load(Ordering::Relaxed) {
                slot.len.store(0, Ordering::Release);
            }
        }
    }

    fn next(&self) -> Option<Fault> {
        let mut question = Question {
            address: 0,
            write: 0,
            ticket: 0,
        };
        let size = size_of::<Question>();
        loop {
            // SAFETY: reads what a handler has written as one.
            let read =
                unsafe { libc::read(self.questions.as_raw_fd(), (&raw mut question).cast(), size) };
            if read == size as isize {
                return Some(Fault {
                    address: question.address,
                    write: question.write != 0,
                    missing: false,
                    ticket: question.ticket,
                });
            }
            if read >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                return None;
            }
        }
    }

    fn done(&self, fault: Fault) {
        let ticket = ptr::with_exposed_provenance::<AtomicU32>(fault.ticket as usize);
        // SAFETY: a word of a thread that waits for it in the handler. Once it is 1 that thread may be
        // gone from there: a wake at an address is harmless, whatever is there.
        unsafe {
            (*ticket).store(1, Ordering::Release);
            libc::syscall(
                libc::SYS_futex,
                ticket,
                libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                1,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arm64_reads_are_distinguished_from_writes() {
        let record = |magic: u32, content: &[u8]| {
            let size = 8 + content.len() as u32;
            [&magic.to_ne_bytes()[..], &size.to_ne_bytes()[..], content].concat()
        };
        // Vector registers come before it. A program's data abort, as the page may not be touched.
        let of = |syndrome: u64| {
            let parts = [
                record(0x4650_8001, &[0xff; 520]),
                record(0x4553_5201, &syndrome.to_ne_bytes()),
                vec![0; 8],
            ];
            parts.concat()
        };
        assert!(is_write_on_arm64(&of(0x9200_004f)));
        assert!(!is_write_on_arm64(&of(0x9200_000f)));
        // Without such a record it may have been one.
        assert!(is_write_on_arm64(&[0; 64]) && is_write_on_arm64(&[]));
        assert!(is_write_on_arm64(&of(0)[..530]));
    }

    #[test]
    fn only_shared_pages_have_a_second_mapping() {
        // SAFETY: a name, and a descriptor that is nobody else's.
        let file = unsafe {
            let fd = libc::memfd_create(c"gtrace-test".as_ptr(), libc::MFD_CLOEXEC);
            assert!(fd >= 0 && libc::ftruncate(fd, 2 * page_size() as i64) == 0);
            OwnedFd::from_raw_fd(fd)
        };
        let shared = map_file(&file, 0, 2 * page_size(), libc::PROT_NONE).unwrap();
        assert!(is_shared(shared) && is_shared(shared + page_size()));
        clear(shared, page_size());
        assert!(!is_shared(shared) && is_shared(shared + page_size()));
        clear_shadow(shared, 2 * page_size());
    }
}
