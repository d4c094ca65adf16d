//! Memory that two processes share: a page of counters and two rings.
//!
//! ```text
//! page    counters, each on its own pair of cache lines
//! ring    bytes from client to server, mapped twice in a row
//! ring    bytes from server to client, mapped twice in a row
//! ```
//! Mapped twice in a row, `ring` bytes from any place of a ring are contiguous.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::OwnedFd;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, AtomicU64};

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};

/// Smallest ring, bytes.
const RING_MIN: usize = 256 << 10;
/// Largest ring, bytes.
const RING_MAX: usize = 64 << 20;
/// Page of the counters: a multiple of every page size of Linux on the CPUs that are served.
const PAGE: usize = 64 << 10;
const SEALS: SealFlags = SealFlags::SHRINK
    .union(SealFlags::GROW)
    .union(SealFlags::SEAL);

/// Alone in two cache lines, as CPUs fetch lines in pairs.
#[repr(C, align(128))]
struct Line<T>(T);

/// Counters of one ring. Bytes are counted from the start and never wrap.
#[repr(C)]
pub(crate) struct Counters {
    tail: Line<AtomicU64>,
    head: Line<AtomicU64>,
    reader_sleeps: Line<AtomicU32>,
    writer_sleeps: Line<AtomicU32>,
}

impl Counters {
    /// Bytes that were written; set by the writer.
    pub(crate) fn tail(&self) -> &AtomicU64 {
        &self.tail.0
    }

    /// Bytes that were read; set by the reader.
    pub(crate) fn head(&self) -> &AtomicU64 {
        &self.head.0
    }

    /// 1 while the reader sleeps on it.
    pub(crate) fn reader_sleeps(&self) -> &AtomicU32 {
        &self.reader_sleeps.0
    }

    /// 1 while the writer sleeps on it.
    pub(crate) fn writer_sleeps(&self) -> &AtomicU32 {
        &self.writer_sleeps.0
    }
}

/// Which ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ring {
    ToServer,
    ToClient,
}

impl Ring {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::ToServer => Self::ToClient,
            Self::ToClient => Self::ToServer,
        }
    }
}

/// The mapping of one process.
#[derive(Debug)]
pub(crate) struct Mapping {
    /// One reservation: the page, then both rings, each twice.
    base: NonNull<u8>,
    ring: usize,
}

// SAFETY: the memory belongs to the mapping until it is dropped; counters are atomic, and which half
// touches which bytes of a ring is up to the one producer and the one consumer of that ring.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// New memory with rings of at least `ring` bytes, and its descriptor for the other process.
    pub(crate) fn create(ring: usize) -> io::Result<(Self, OwnedFd)> {
        let ring = ring.clamp(RING_MIN, RING_MAX).next_power_of_two();
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        // Since Linux 6.3 a system can insist on the flag, which older kernels do not know.
        let memory = rustix::fs::memfd_create("gtrace-link", flags | MemfdFlags::NOEXEC_SEAL)
            .or_else(|_| rustix::fs::memfd_create("gtrace-link", flags))?;
        rustix::fs::ftruncate(&memory, file_len(ring) as u64)?;
        // Who could shrink it could kill the other process by SIGBUS.
        rustix::fs::fcntl_add_seals(&memory, SEALS)?;
        Ok((Self::map(&memory, ring)?, memory))
    }

    /// Maps the memory of another process, whose rings are said to have `ring` bytes.
    pub(crate) fn open(memory: &OwnedFd, ring: u64) -> io::Result<Self> {
        let bad = |what: &str| Err(io::Error::other(format!("the offered memory {what}")));
        let ring = match usize::try_from(ring) {
            Ok(ring) if ring.is_power_of_two() && (RING_MIN..=RING_MAX).contains(&ring) => ring,
            _ => return bad(&format!("has rings of {ring} bytes")),
        };
        if !rustix::fs::fcntl_get_seals(memory)?.contains(SEALS) {
            return bad("can change its size");
        }
        if u64::try_from(rustix::fs::fstat(memory)?.st_size) != Ok(file_len(ring) as u64) {
            return bad("has another size than is said");
        }
        Self::map(memory, ring)
    }

    fn map(memory: &OwnedFd, ring: usize) -> io::Result<Self> {
        let len = mapped_len(ring);
        // SAFETY: a new reservation anywhere; nothing is there yet.
        let base = unsafe {
            rustix::mm::mmap_anonymous(
                ptr::null_mut(),
                len,
                ProtFlags::empty(),
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )?
        };
        let Some(base) = NonNull::new(base.cast::<u8>()) else {
            return Err(io::Error::other("a mapping at address 0"));
        };
        // From here on a drop gives the reservation back.
        let mapping = Self { base, ring };
        let parts = [
            (0, 0, PAGE),
            (PAGE, PAGE, ring),
            (PAGE + ring, PAGE, ring),
            (PAGE + 2 * ring, PAGE + ring, ring),
            (PAGE + 3 * ring, PAGE + ring, ring),
        ];
        for (at, offset, len) in parts {
            // SAFETY: the place lies within the reservation, which nothing else uses, and the file is
            // as long as its offsets say and sealed against shrinking.
            unsafe {
                rustix::mm::mmap(
                    base.as_ptr().add(at).cast(),
                    len,
                    ProtFlags::READ | ProtFlags::WRITE,
                    MapFlags::SHARED | MapFlags::FIXED,
                    memory,
                    offset as u64,
                )?;
            }
        }
        Ok(mapping)
    }

    /// Bytes of a ring: a power of two.
    #[inline]
    pub(crate) fn ring(&self) -> usize {
        self.ring
    }

    /// The counters of a ring.
    #[inline]
    pub(crate) fn counters(&self, ring: Ring) -> &Counters {
        let index = match ring {
            Ring::ToServer => 0,
            Ring::ToClient => 1,
        };
        // SAFETY: the page is mapped, large enough for two of them, aligned, and all bytes are
        // values of an atomic integer.
        unsafe { self.base.cast::<Counters>().add(index).as_ref() }
    }

    /// Where byte `count` of a ring lies; `ring` bytes from there on are mapped.
    #[inline]
    fn place(&self, ring: Ring, count: u64) -> *mut u8 {
        let start = match ring {
            Ring::ToServer => PAGE,
            Ring::ToClient => PAGE + 2 * self.ring,
        };
        let at = start + (count as usize & (self.ring - 1));
        // SAFETY: `at` is below the end of the ring's first mapping.
        unsafe { self.base.as_ptr().add(at) }
    }

    /// `len` bytes of a ring from byte `count` on, at most a whole ring. A peer that breaks the
    /// protocol may change them meanwhile: they are to be copied, not believed.
    #[inline]
    pub(crate) fn bytes(&self, ring: Ring, count: u64, len: usize) -> &[u8] {
        let len = len.min(self.ring);
        // SAFETY: mapped, as the ring is mapped twice in a row, for as long as the mapping lives.
        unsafe { std::slice::from_raw_parts(self.place(ring, count), len) }
    }

    /// `len` bytes of a ring from byte `count` on, to be written, at most a whole ring.
    ///
    /// The caller is the one producer of the ring: it holds no other reference to these bytes.
    #[inline]
    #[allow(clippy::mut_from_ref)]
    pub(crate) fn bytes_mut(&self, ring: Ring, count: u64, len: usize) -> &mut [u8] {
        let len = len.min(self.ring);
        // SAFETY: mapped as above; `Producer` lends them to one borrower at a time, by `&mut self`.
        unsafe { std::slice::from_raw_parts_mut(self.place(ring, count), len) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the whole reservation is this mapping's, and nobody has references any more.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), mapped_len(self.ring)) };
    }
}

fn file_len(ring: usize) -> usize {
    PAGE + 2 * ring
}

fn mapped_len(ring: usize) -> usize {
    PAGE + 4 * ring
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn both_processes_see_the_same_bytes_across_the_wrap() {
        let (ours, memory) = Mapping::create(RING_MIN).unwrap();
        let theirs = Mapping::open(&memory, RING_MIN as u64).unwrap();
        let at = RING_MIN as u64 * 3 - 5;
        ours.bytes_mut(Ring::ToServer, at, 10)
            .copy_from_slice(b"0123456789");
        assert_eq!(theirs.bytes(Ring::ToServer, at, 10), b"0123456789");
        assert_eq!(&theirs.bytes(Ring::ToServer, 0, 5), b"56789");
        assert_eq!(theirs.bytes(Ring::ToClient, at, 10), [0; 10]);
        ours.counters(Ring::ToClient)
            .tail()
            .store(7, Ordering::SeqCst);
        let tail = |ring| theirs.counters(ring).tail().load(Ordering::SeqCst);
        assert_eq!((tail(Ring::ToServer), tail(Ring::ToClient)), (0, 7));
    }

    #[test]
    fn memory_that_could_shrink_or_lies_about_its_size_is_refused() {
        let (_ours, memory) = Mapping::create(RING_MIN).unwrap();
        for ring in [0, 1, 3 << 17, RING_MIN as u64 * 2, u64::MAX] {
            assert!(Mapping::open(&memory, ring).is_err(), "{ring}");
        }
        assert!(rustix::fs::ftruncate(&memory, 0).is_err());
        let unsealed = rustix::fs::memfd_create("test", MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&unsealed, file_len(RING_MIN) as u64).unwrap();
        let error = Mapping::open(&unsealed, RING_MIN as u64).unwrap_err();
        assert!(error.to_string().contains("can change its size"), "{error}");
    }
}
