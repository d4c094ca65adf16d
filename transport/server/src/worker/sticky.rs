//! Errors of calls that nobody waits for.

use std::sync::atomic::{AtomicU32, Ordering};

use gtrace_cuda::status::is_lasting;

/// The error of the session that stays.
#[derive(Debug, Default)]
pub(crate) struct Lasting(AtomicU32);

impl Lasting {
    /// The first one, 0 if there was none.
    #[inline]
    pub(crate) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Keeps `code` if it is the first that lasts.
    pub(crate) fn note(&self, code: u32) {
        if is_lasting(code) {
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

/// The first failure of a lane's one-way calls that no frame has told the client yet.
#[derive(Debug, Default)]
pub(crate) struct Untold {
    code: u32,
}

impl Untold {
    /// A one-way call failed.
    pub(crate) fn note(&mut self, code: u32) {
        if self.code == 0 {
            self.code = code;
        }
    }

    /// The code that the next frame carries, 0 if there is none; a lasting one stays.
    #[inline]
    pub(crate) fn take(&mut self, lasting: &Lasting) -> u32 {
        match std::mem::take(&mut self.code) {
            0 => lasting.get(),
            code => code,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_error_is_told_once_a_lasting_one_always() {
        let (lasting, mut untold) = (Lasting::default(), Untold::default());
        assert_eq!(untold.take(&lasting), 0);
        untold.note(1);
        untold.note(400);
        assert_eq!(untold.take(&lasting), 1);
        assert_eq!(untold.take(&lasting), 0);
        // OPERATING_SYSTEM (304) is told once.
        for ordinary in [2, 304] {
            lasting.note(ordinary);
            assert_eq!(lasting.get(), 0);
        }
        lasting.note(700);
        lasting.note(719);
        assert_eq!(untold.take(&lasting), 700);
        assert_eq!(untold.take(&lasting), 700);
        lasting.clear();
        assert_eq!(untold.take(&lasting), 0);
    }
}
