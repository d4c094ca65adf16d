//! fork(2): a child has memory of its own, but sockets and rings in common with its parent.
//!
//! In the child everything that belongs to the parent's connection is left alone, neither used nor
//! freed, and the process starts anew, except that CUDA answers NOT_INITIALIZED for ever if the
//! parent had initialised it, as the driver does. Memory that the parent has registered is there.

// pthread_atfork(3).
#![allow(unsafe_code)]

use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

static GENERATION: AtomicU32 = AtomicU32::new(0);
static REGISTERED: Once = Once::new();

/// How many forks lie between the first process and this one.
#[inline]
pub(crate) fn generation() -> u32 {
    GENERATION.load(Ordering::Relaxed)
}

/// Has forks seen from now on.
pub(crate) fn watch() {
    REGISTERED.call_once(|| {
        // SAFETY: the child's handler only writes to atomic variables and moves memory, which is allowed in the child of a
        // process with threads; the others run in the parent.
        unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    });
}

/// Memory of the program that the device has parts of comes to the host, as nobody would bring it to the child.
extern "C" fn before() {
    crate::entry::guard(&mut || {
        crate::managed::before_fork();
        0
    });
}

extern "C" fn in_parent() {
    crate::entry::guard(&mut || {
        crate::managed::after_fork();
        0
    });
}

extern "C" fn in_child() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
    crate::managed::in_child();
    crate::session::in_child();
}
