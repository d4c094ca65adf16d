//! Protection domains and memory regions.
#![allow(unsafe_code)]

use std::fmt;
use std::io;
use std::ptr::NonNull;
use std::sync::Arc;

use rustix::process::{Resource, getrlimit};

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
            limit: lockable(),
        })?;
        Ok(Self {
            raw,
            domain: Arc::clone(domain),
            start: start.as_ptr().addr() as u64,
            len,
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

/// The limit of locked memory, in words.
fn lockable() -> String {
    match getrlimit(Resource::Memlock).current {
        Some(bytes) => format!("{} KiB", bytes >> 10),
        None => "as much as it likes".to_owned(),
    }
}
