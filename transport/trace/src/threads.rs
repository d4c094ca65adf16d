//! Which memory a thread's calls are recorded in.

// Maps memory, and hands out references to recorders, which are never freed.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::c_int;
use std::os::fd::{AsFd as _, AsRawFd as _, FromRawFd as _, OwnedFd};
use std::panic::catch_unwind;
use std::ptr::{NonNull, null, without_provenance};

use gtrace_recording::message::Message;
use gtrace_recording::{Recorder, layout};

use crate::lock::Lock;
use crate::report::{report, report_with, say};
use crate::{fork, session};

/// The thread records nothing.
const NOTHING: *const Recorder = without_provenance(1);
/// The thread is at its end: a recorder is borrowed for each call that comes still.
const ENDING: *const Recorder = without_provenance(2);

thread_local! {
    /// Its recorder, one of the above, or null before its first call. It has no destructor, so that it
    /// can be read until the very end.
    static MINE: Cell<*const Recorder> = const { Cell::new(null()) };
    static END: End = const { End };
}

/// Gives the thread's recorder back when the thread ends.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        let mine = MINE.replace(ENDING);
        if is_recorder(mine) {
            // SAFETY: one of `take`.
            give_back(unsafe { &*mine });
        }
    }
}

/// How a recorder was come by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// It is the thread's.
    Owned,
    /// For one call.
    Borrowed,
}

fn is_recorder(pointer: *const Recorder) -> bool {
    !pointer.is_null() && pointer != NOTHING && pointer != ENDING
}

/// The recorder for the calling thread.
#[inline(always)]
pub(crate) fn recorder() -> Option<(&'static Recorder, Way)> {
    let mine = MINE.get();
    if mine.addr() > 2 {
        // SAFETY: one of `take`, and this thread's.
        return Some((unsafe { &*mine }, Way::Owned));
    }
    first(mine)
}

#[cold]
#[inline(never)]
fn first(mine: *const Recorder) -> Option<(&'static Recorder, Way)> {
    if mine == NOTHING {
        return None;
    }
    // Calls that come while a recorder is made, from an allocator for example, are not recorded.
    MINE.set(NOTHING);
    let taken = catch_unwind(take).unwrap_or(None);
    let ending = mine == ENDING || END.try_with(|_| ()).is_err();
    match (taken, ending) {
        (taken, true) => {
            MINE.set(ENDING);
            Some((taken?, Way::Borrowed))
        }
        (Some(recorder), false) => {
            MINE.set(recorder);
            Some((recorder, Way::Owned))
        }
        (None, false) => None,
    }
}

/// A recorder that no thread has.
struct Unused(&'static Recorder);

// SAFETY: whoever takes it out of the list is the only thread that has it.
unsafe impl Send for Unused {}

/// Recorders that no thread has.
static FREE: Lock<Vec<Unused>> = Lock::new(Vec::new());

/// A recorder for the calling thread: one that was given back, or a new one.
fn take() -> Option<&'static Recorder> {
    if !session::is_recorded() {
        return None;
    }
    fork::watch();
    let process = session::process();
    let recorder = match FREE.with(Vec::pop) {
        Some(unused) => unused.0,
        None => make(process)?,
    };
    // SAFETY: plain call.
    let thread = unsafe { libc::syscall(libc::SYS_gettid) } as u32;
    recorder.set_thread(thread);
    let mut name = [0u8; 16];
    // SAFETY: room for a thread's name (PR_GET_NAME(2const)).
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    let length = name.iter().position(|byte| *byte == 0).unwrap_or(16);
    report(&Message::Thread {
        process,
        thread: u64::from(thread),
        name: &name[..length],
    });
    Some(recorder)
}

/// Another thread may have it.
pub(crate) fn give_back(recorder: &'static Recorder) {
    recorder.set_thread(0);
    FREE.with(|free| free.push(Unused(recorder)));
}

/// New memory, of which `gtrace trace` is reported.
fn make(process: u64) -> Option<&'static Recorder> {
    let variables = session::variables();
    let length = layout::length(variables.events);
    // SAFETY: a name; the descriptor is owned at once.
    let file = unsafe {
        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        let file = libc::memfd_create(c"gtrace-calls".as_ptr(), flags);
        if file < 0 {
            return not_made("memfd_create");
        }
        OwnedFd::from_raw_fd(file)
    };
    let descriptor: c_int = file.as_raw_fd();
    // SAFETY: a new file, mapped whole; the mapping is never undone.
    let base = unsafe {
        if libc::ftruncate(descriptor, length as libc::off_t) != 0 {
            return not_made("ftruncate");
        }
        let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
        libc::fcntl(descriptor, libc::F_ADD_SEALS, seals);
        libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            descriptor,
            0,
        )
    };
    let base = NonNull::new(base.cast::<u8>());
    let Some(base) = base.filter(|base| base.as_ptr().cast() != libc::MAP_FAILED) else {
        return not_made("mmap");
    };
    // SAFETY: fresh memory of this length at a page's beginning, whose recorder one thread has at a time.
    let recorder = unsafe {
        let pid = libc::getpid() as u32;
        Recorder::new(base, variables.events, variables.scale, (pid, process))
    };
    if !report_with(&Message::Memory { process }, Some(file.as_fd())) {
        // SAFETY: the mapping made above, which nobody else knows.
        unsafe { libc::munmap(base.as_ptr().cast(), length) };
        return None;
    }
    Some(Box::leak(Box::new(recorder)))
}

fn not_made(what: &str) -> Option<&'static Recorder> {
    let error = std::io::Error::last_os_error();
    say(&format!(
        "{what}: {error}: calls of a thread are not recorded; is there memory left?"
    ));
    None
}

/// The child of fork(2) has the parent's memory mapped, and records in memory of its own.
pub(crate) fn in_child() {
    MINE.set(null());
    FREE.open_in_child();
    // Not dropped: the parent's allocator may have been in use by a thread that is not here.
    FREE.with(|free| std::mem::forget(std::mem::take(free)));
}
