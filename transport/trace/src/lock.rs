//! A lock that a child of fork(2) can take although a thread held it that the child does not have.

// Gives access to what it guards.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

/// Guards what is used seldom and shortly.
pub(crate) struct Lock<T> {
    held: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: one thread at a time reaches the value.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self {
            held: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// Runs `body`, which takes no lock, with the value.
    pub(crate) fn with<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
        while self.held.swap(true, Ordering::Acquire) {
            std::thread::yield_now();
        }
        let _release = Release(&self.held);
        // SAFETY: held by this thread.
        body(unsafe { &mut *self.value.get() })
    }

    /// In a child of fork(2), which has one thread: whoever held it is not there.
    pub(crate) fn open_in_child(&self) {
        self.held.store(false, Ordering::Release);
    }
}

struct Release<'a>(&'a AtomicBool);

impl Drop for Release<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}
