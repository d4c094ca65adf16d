//! Errors of asynchronous calls.

use std::sync::atomic::{AtomicU32, Ordering};

use gtrace_cuda::status::is_sticky;

/// The error of the session that stays.
#[derive(Debug, Default)]
pub(crate) struct StickyError(AtomicU32);

impl StickyError {
    /// The first one, 0 if there was none.
    #[inline]
    pub(crate) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Keeps `code` if it is the first that lasts.
    pub(crate) fn note(&self, code: u32) {
        if is_sticky(code) {
            let _ = self
                .0
                .compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// The context is gone, and its faults with it. Where another has one too, its next call says so.
    pub(crate) fn clear(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// The first failure of a lane's one-way calls that no frame has carried to the client yet.
#[derive(Debug, Default)]
pub(crate) struct PendingAsyncError {
    code: u32,
}

impl PendingAsyncError {
    /// A one-way call failed.
    pub(crate) fn note(&mut self, code: u32) {
        if self.code == 0 {
            self.code = code;
        }
    }

    /// The code that the next frame carries, 0 if there is none; a sticky one stays.
    #[inline]
    pub(crate) fn take(&mut self, sticky: &StickyError) -> u32 {
        match std::mem::take(&mut self.code) {
            0 => sticky.get(),
            code => code,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_error_is_reported_once_a_sticky_one_always() {
        let (sticky, mut pending) = (StickyError::default(), PendingAsyncError::default());
        assert_eq!(pending.take(&sticky), 0);
        pending.note(1);
        pending.note(400);
        assert_eq!(pending.take(&sticky), 1);
        assert_eq!(pending.take(&sticky), 0);
        // OPERATING_SYSTEM (304) is reported once.
        for ordinary in [2, 304] {
            sticky.note(ordinary);
            assert_eq!(sticky.get(), 0);
        }
        sticky.note(700);
        sticky.note(719);
        assert_eq!(pending.take(&sticky), 700);
        assert_eq!(pending.take(&sticky), 700);
        sticky.clear();
        assert_eq!(pending.take(&sticky), 0);
    }
}
