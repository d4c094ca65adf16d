//! Protection domains and memory regions.
#![allow(unsafe_code)]

use std::fmt;
use std::io;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::{Resource, getrlimit};
use rustix::thread::{CapabilitySet, capabilities};

use crate::context::Context;
use crate::error::VerbsError;
use crate::ffi::{IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_WRITE, ibv_mr, ibv_pd, ibv_sge};

/// A protection domain: queue pairs reach the memory regions of their own domain only.
pub struct Domain {
    pub(crate) raw: NonNull<ibv_pd>,
    pub(crate) context: Arc<Context>,
}

// SAFETY: libibverbs may be called from any thread, and locks what its objects share.
unsafe impl Send for Domain {}
// SAFETY: as above.
unsafe impl Sync for Domain {}

impl Domain {
    /// A new domain.
    ///
    /// # Errors
    ///
    /// [`VerbsError::Call`].
    pub fn new(context: &Arc<Context>) -> Result<Arc<Self>, VerbsError> {
        // SAFETY: the context is open.
        let raw = unsafe { (context.functions.ibv_alloc_pd)(context.raw.as_ptr()) };
        let raw = NonNull::new(raw).ok_or_else(|| VerbsError::last("ibv_alloc_pd"))?;
        Ok(Arc::new(Self {
            raw,
            context: Arc::clone(context),
        }))
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        if !self.context.is_ours() {
            return;
        }
        // SAFETY: regions and queue pairs hold it, and so are gone.
        let _ = unsafe { (self.context.functions.ibv_dealloc_pd)(self.raw.as_ptr()) };
    }
}

impl fmt::Debug for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Domain").field(&self.context).finish()
    }
}

/// Memory that a device may read and write behind the processor's back.
///
/// # Safety
///
/// The bytes stay mapped and writable at the same place for as long as the value lives, and nobody
/// relies on them not to change: whoever reads them copies first and checks the copy.
pub unsafe trait Pinned: Send + Sync + 'static {
    /// Where it begins, and how many bytes it has.
    fn bytes(&self) -> (NonNull<u8>, usize);
}

/// Who may do what with a memory region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// This side sends from it.
    Local,
    /// The peer writes to it.
    RemoteWrite,
}

/// Registered memory: pinned, and known to the device.
pub struct Region {
    raw: NonNull<ibv_mr>,
    domain: Arc<Domain>,
    start: u64,
    len: usize,
    /// Of the program's share of what this process may lock.
    _share: Option<Share>,
    /// Given back after it is deregistered.
    _memory: Arc<dyn Pinned>,
}

// SAFETY: libibverbs may be called from any thread; the memory is `Send` and `Sync` itself.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Region {
    /// Registers `memory`.
    ///
    /// # Errors
    ///
    /// [`VerbsError::Register`] with the limit of locked memory, which is the usual cause.
    pub fn new(
        domain: &Arc<Domain>,
        memory: Arc<dyn Pinned>,
        access: Access,
    ) -> Result<Self, VerbsError> {
        Self::register(domain, memory, access, None)
    }

    /// Registers `memory` that is not a link's own, for this side to send from. Where this process may not lock as much
    /// as it likes, all of these take half of it at the most, so that links can still be opened.
    ///
    /// # Errors
    ///
    /// As [`Region::new`].
    pub fn of_program(domain: &Arc<Domain>, memory: Arc<dyn Pinned>) -> Result<Self, VerbsError> {
        let (_, bytes) = memory.bytes();
        let Some(share) = Share::take(&PROGRAM, bytes, most_locked()) else {
            return Err(VerbsError::Register {
                bytes,
                source: io::Error::other("half of what may be locked is kept for links"),
                limit: limit_of(getrlimit(Resource::Memlock).current),
            });
        };
        Self::register(domain, memory, Access::Local, Some(share))
    }

    fn register(
        domain: &Arc<Domain>,
        memory: Arc<dyn Pinned>,
        access: Access,
        share: Option<Share>,
    ) -> Result<Self, VerbsError> {
        let (start, len) = memory.bytes();
        let flags = match access {
            Access::Local => 0,
            Access::RemoteWrite => IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
        };
        // SAFETY: the memory is mapped and stays so until it is deregistered, as `Pinned` promises.
        let raw = unsafe {
            (domain.context.functions.ibv_reg_mr)(
                domain.raw.as_ptr(),
                start.as_ptr().cast(),
                len,
                flags.cast_signed(),
            )
        };
        let raw = NonNull::new(raw).ok_or_else(|| VerbsError::Register {
            bytes: len,
            source: io::Error::last_os_error(),
            limit: limit_of(getrlimit(Resource::Memlock).current),
        })?;
        Ok(Self {
            raw,
            domain: Arc::clone(domain),
            start: start.as_ptr().addr() as u64,
            len,
            _share: share,
            _memory: memory,
        })
    }

    /// Where the peer may write to: address and key. Only of use with [`Access::RemoteWrite`].
    pub fn remote(&self) -> (u64, u32) {
        // SAFETY: the region is registered.
        (self.start, unsafe { self.raw.as_ref() }.rkey)
    }

    /// Bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// `len` bytes from `at` on, as a work request names them.
    pub(crate) fn piece(&self, at: usize, len: usize) -> Result<ibv_sge, VerbsError> {
        let outside = VerbsError::Outside {
            at,
            len,
            region: self.len,
        };
        if at.checked_add(len).is_none_or(|end| end > self.len) {
            return Err(outside);
        }
        let Ok(length) = u32::try_from(len) else {
            return Err(outside);
        };
        Ok(ibv_sge {
            addr: self.start + at as u64,
            length,
            // SAFETY: the region is registered.
            lkey: unsafe { self.raw.as_ref() }.lkey,
        })
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        if !self.domain.context.is_ours() {
            return;
        }
        // SAFETY: deregistered once. Work requests that still name it fail.
        let _ = unsafe { (self.domain.context.functions.ibv_dereg_mr)(self.raw.as_ptr()) };
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Region")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

/// Bytes of the program that are registered.
static PROGRAM: AtomicUsize = AtomicUsize::new(0);

/// Bytes that are counted for as long as this lives.
struct Share(&'static AtomicUsize, usize);

impl Share {
    /// None if all together would be more than half of `limit`.
    fn take(count: &'static AtomicUsize, bytes: usize, limit: Option<u64>) -> Option<Self> {
        let most = limit.map_or(usize::MAX, |limit| {
            usize::try_from(limit / 2).unwrap_or(usize::MAX)
        });
        let more = |now: usize| now.checked_add(bytes).filter(|sum| *sum <= most);
        let taken = count.fetch_update(Ordering::AcqRel, Ordering::Acquire, more);
        taken.is_ok().then(|| Self(count, bytes))
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.0.fetch_sub(self.1, Ordering::AcqRel);
    }
}

/// Bytes that this process may lock, unless it may lock as many as it likes.
fn most_locked() -> Option<u64> {
    let limit = getrlimit(Resource::Memlock).current?;
    let may = capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::IPC_LOCK));
    (!may).then_some(limit)
}

/// The limit of locked memory and what raises it, for the end of a message; nothing where it cannot be the cause.
fn limit_of(most: Option<u64>) -> String {
    most.map_or_else(String::new, |bytes| {
        format!(
            "; this process may lock {} KiB: raise it (`ulimit -l`, LimitMEMLOCK= of a systemd unit)",
            bytes >> 10
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_named_where_there_is_one() {
        let error = |limit| VerbsError::Register {
            bytes: 4096,
            source: io::ErrorKind::OutOfMemory.into(),
            limit: limit_of(limit),
        };
        let text = error(Some(64 << 10)).to_string();
        assert!(text.contains("may lock 64 KiB: raise it"), "{text}");
        let text = error(None).to_string();
        assert!(!text.contains("lock") && !text.contains("raise"), "{text}");
    }

    #[test]
    fn a_program_takes_half_of_what_may_be_locked() {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let take = |bytes, limit| Share::take(&COUNT, bytes, limit);
        let first = take(600, Some(2000)).unwrap();
        assert!(take(401, Some(2000)).is_none());
        let second = take(400, Some(2000)).unwrap();
        assert!(take(1, Some(2000)).is_none());
        assert!(take(1, None).is_some());
        drop(first);
        assert!(take(600, Some(2000)).is_some());
        drop(second);
        assert_eq!(COUNT.load(Ordering::Acquire), 0);
        assert!(take(usize::MAX, None).is_some_and(|_| take(1, None).is_none()));
    }
}
