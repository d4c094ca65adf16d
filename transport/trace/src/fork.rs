//! fork(2): a child has the parent's memory mapped, in which it must not write.

// pthread_atfork(3).
#![allow(unsafe_code)]

use std::sync::Once;

static REGISTERED: Once = Once::new();

/// Has forks seen from now on.
pub(crate) fn watch() {
    REGISTERED.call_once(|| {
        // SAFETY: the handler writes to atomic variables and to the thread's own, which is allowed in the
        // child of a process with threads.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
}

extern "C" fn in_child() {
    crate::session::in_child();
    crate::threads::in_child();
    crate::hooks::in_child();
    crate::gpu::in_child();
}
