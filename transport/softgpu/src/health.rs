//! The condition of a context: the first error of its device work, which stays until the context
//! is destroyed, as CUDA has it.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::abi::Answer;
use crate::error::CuError;
use crate::ptx::Cancel;

/// See the module.
#[derive(Default)]
pub(crate) struct Health {
    sticky: AtomicU32,
    /// Ends kernels that run, when the device is lost.
    pub(crate) cancel: Cancel,
}

impl Health {
    /// Keeps `error` if it is the first.
    pub(crate) fn fail(&self, error: CuError) {
        let _ = self
            .sticky
            .compare_exchange(0, error.code(), Ordering::SeqCst, Ordering::SeqCst);
    }

    /// The kept error, if there is one.
    pub(crate) fn check(&self) -> Answer {
        CuError::from_code(self.sticky.load(Ordering::SeqCst)).map_or(Ok(()), Err)
    }

    /// Whether the context still works.
    pub(crate) fn is_good(&self) -> bool {
        self.check().is_ok()
    }
}
