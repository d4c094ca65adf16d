//! Memory that two processes share: a page of counters and two rings.
//!
//! ```text
//! guard
//! page    counters, each on its own pair of cache lines
//! guard
//! ring    bytes from client to server, mapped twice in a row
//! guard
//! ring    bytes from server to client, mapped twice in a row
//! guard
//! ```
//! Mapped twice in a row, `ring` bytes from any place of a ring are contiguous. Guards are pages that
//! nobody may touch: what goes beyond a ring ends the process by SIGSEGV and reaches no other memory.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::OwnedFd;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64};

use gtrace_verbs::Pinned;
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};

/// Smallest ring, bytes.
const RING_MIN: usize = 256 << 10;
/// Largest ring, bytes.
const RING_MAX: usize = 64 << 20;
/// Page of the counters: a multiple of every page size of Linux on the CPUs that are served.
const PAGE: usize = 64 << 10;
/// Bytes between the parts, and around them, that may not be touched.
const GUARD: usize = PAGE;
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
    /// One reservation, which begins and ends with a guard.
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

    /// Maps the memory of another process, whose rings have `ring` bytes by its own account.
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
        let (to_server, to_client) = (start(Ring::ToServer, ring), start(Ring::ToClient, ring));
        let parts = [
            (COUNTERS, 0, PAGE),
            (to_server, PAGE, ring),
            (to_server + ring, PAGE, ring),
            (to_client, PAGE + ring, ring),
            (to_client + ring, PAGE + ring, ring),
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
        unsafe {
            let counters = self.base.add(COUNTERS).cast::<Counters>();
            counters.add(index).as_ref()
        }
    }

    /// Where byte `count` of a ring lies; `ring` bytes from there on are mapped.
    #[inline]
    fn place(&self, ring: Ring, count: u64) -> *mut u8 {
        let at = start(ring, self.ring) + (count as usize & (self.ring - 1));
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

/// One ring of a mapping, as memory that a device reads or writes.
#[derive(Debug)]
pub(crate) struct RingMemory {
    pub(crate) mapping: Arc<Mapping>,
    pub(crate) ring: Ring,
}

// SAFETY: the ring stays mapped, writable, for as long as this holds its mapping. What a peer wrote
// is copied before it is believed, as with the ring of a process that shares it.
unsafe impl Pinned for RingMemory {
    fn bytes(&self) -> (NonNull<u8>, usize) {
        // Once, without its second mapping: a piece that goes over the end is two.
        let start = self.mapping.place(self.ring, 0);
        // SAFETY: no place of a mapping is at address 0.
        (unsafe { NonNull::new_unchecked(start) }, self.mapping.ring)
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

/// Where the counters lie in the reservation.
const COUNTERS: usize = GUARD;

/// Where the first mapping of a ring lies in the reservation.
#[inline]
fn start(which: Ring, ring: usize) -> usize {
    let first = COUNTERS + PAGE + GUARD;
    match which {
        Ring::ToServer => first,
        Ring::ToClient => first + 2 * ring + GUARD,
    }
}

fn mapped_len(ring: usize) -> usize {
    start(Ring::ToClient, ring) + 2 * ring + GUARD
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

    /// Places of a mapping's reservation, and whether they may be written.
    fn places() -> Vec<(usize, bool)> {
        let ring = RING_MIN;
        let (first, second) = (start(Ring::ToServer, ring), start(Ring::ToClient, ring));
        let parts = [(COUNTERS, PAGE), (first, 2 * ring), (second, 2 * ring)];
        let mut places = vec![(0, false), (mapped_len(ring) - 1, false)];
        for (at, len) in parts {
            places.extend([
                (at - GUARD, false),
                (at - 1, false),
                (at, true),
                (at + len - 1, true),
                (at + len, false),
                (at + len + GUARD - 1, false),
            ]);
        }
        places
    }

    const PLACE: &str = "GTRACE_TEST_PLACE";

    /// Not a test by itself: the process that writes one byte.
    #[test]
    fn the_process_that_writes() {
        let Ok(place) = std::env::var(PLACE) else {
            return;
        };
        let (mapping, _memory) = Mapping::create(RING_MIN).unwrap();
        let place: usize = place.parse().unwrap();
        // SAFETY: within the reservation; the process is there to be ended by it.
        unsafe { mapping.base.as_ptr().add(place).write_volatile(1) };
    }

    #[test]
    fn a_byte_beyond_counters_and_rings_ends_the_process() {
        use std::os::unix::process::ExitStatusExt as _;
        for (place, may) in places() {
            let status = std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "mapping::tests::the_process_that_writes"])
                .env(PLACE, place.to_string())
                .stdout(std::process::Stdio::null())
                .status()
                .unwrap();
            let wanted = (!may).then_some(libc::SIGSEGV);
            assert_eq!(status.signal(), wanted, "at {place:#x}: {status}");
            assert!(!may || status.success(), "at {place:#x}: {status}");
        }
    }

    #[test]
    fn what_is_lent_and_registered_lies_between_guards() {
        let (mapping, _memory) = Mapping::create(RING_MIN).unwrap();
        let mapping = Arc::new(mapping);
        let base = mapping.base.as_ptr() as usize;
        for ring in [Ring::ToServer, Ring::ToClient] {
            let first = base + start(ring, RING_MIN);
            for count in [0, 1, RING_MIN as u64 - 1, u64::MAX] {
                let lent = mapping.bytes_mut(ring, count, usize::MAX);
                let at = lent.as_ptr() as usize;
                assert!((first..first + RING_MIN).contains(&at));
                assert_eq!(lent.len(), RING_MIN);
            }
            let memory = RingMemory {
                mapping: Arc::clone(&mapping),
                ring,
            };
            let (at, len) = memory.bytes();
            assert_eq!((at.as_ptr() as usize, len), (first, RING_MIN));
        }
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
