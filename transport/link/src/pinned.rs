//! Memory of the program from which a device may take bytes later than they are sent.
#![allow(unsafe_code)]

use std::fmt;
use std::ptr::NonNull;

use gtrace_verbs::Pinned;

use crate::sys;

/// Memory that stays mapped and page-locked until links release it, as pinned memory of CUDA.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PinnedRegion {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: it is read only, within what the promise of its maker covers.
unsafe impl Send for PinnedRegion {}
// SAFETY: as above.
unsafe impl Sync for PinnedRegion {}

// SAFETY: as the maker promises; what is registered is deregistered by `Tx::release`, and at a link's
// end. A copy that is sent again is of bytes that the promise covers.
unsafe impl Pinned for PinnedRegion {
    fn bytes(&self) -> (NonNull<u8>, usize) {
        (self.start, self.len)
    }
}

impl PinnedRegion {
    /// `len` bytes from `start` on.
    ///
    /// # Safety
    ///
    /// They stay mapped, readable and writable, until [`Tx::release`](crate::Tx::release) with this value has
    /// returned for each link that was given it, or the link is gone. Bytes that
    /// [`Tx::bulk_from`](crate::Tx::bulk_from) was given are not written to until the other side has read them.
    pub unsafe fn new(start: NonNull<u8>, len: usize) -> Self {
        Self { start, len }
    }

    /// Bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Where `bytes` begin in it, if all of them are its.
    pub(crate) fn offset_of(&self, bytes: &[u8]) -> Option<usize> {
        let at = (bytes.as_ptr().addr()).checked_sub(self.start.as_ptr().addr())?;
        (at.checked_add(bytes.len())? <= self.len).then_some(at)
    }

    /// Copies the bytes from `at` on, as far as they are there still: not every program gives page-locked memory
    /// back before it unmaps it, and what the other side has is of no use to anyone.
    pub(crate) fn copy(&self, at: usize, into: &mut [u8]) {
        let len = into.len().min(self.len.saturating_sub(at));
        let from = self.start.as_ptr().wrapping_add(at);
        if sys::copy_if_there(from, &mut into[..len]).is_err() {
            // The system forbids to ask.
            into[..len].copy_from_slice(self.bytes(at, len));
        }
    }

    /// `len` bytes from `at` on, as far as it has them.
    pub(crate) fn bytes(&self, at: usize, len: usize) -> &[u8] {
        let at = at.min(self.len);
        let len = len.min(self.len - at);
        // SAFETY: within the memory, which is mapped and, where it matters, not written to, by the maker's promise.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().add(at), len) }
    }
}

impl fmt::Debug for PinnedRegion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes at {:?}", self.len, self.start)
    }
}
