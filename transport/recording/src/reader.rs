//! The reading side: what threads have recorded.

// Maps the memory of other processes.
#![allow(unsafe_code)]

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use gtrace_abi::{self as hist, BUCKETS};

use crate::layout::{Event, Head, MAGIC, MAX_EVENTS, RING_AT, STATS_AT, Stat, VERSION, length};
use crate::{FUNCTIONS, functions};

/// Why memory is not read.
#[derive(Debug, thiserror::Error)]
pub enum MapError {
    /// The system refuses.
    #[error("a thread's memory cannot be mapped: {0}")]
    System(#[from] std::io::Error),
    /// Its owner could cut it, which would end the reader.
    #[error("a thread's memory is not sealed against shrinking")]
    NotSealed,
    /// It is something else.
    #[error(
        "a thread's memory is not of this version of gtrace: use the library that this gtrace carries"
    )]
    Foreign,
}

/// A thread's memory.
#[derive(Debug)]
pub struct Mapped {
    base: NonNull<u8>,
    length: usize,
    capacity: u64,
    read: u64,
}

// SAFETY: memory that everybody reaches by atomic words, apart from what one side owns at a time.
unsafe impl Send for Mapped {}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.length) };
    }
}

impl Mapped {
    /// Maps what a process has sent.
    pub fn new(file: &OwnedFd) -> Result<Self, MapError> {
        // SAFETY: a descriptor of ours.
        let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
        if seals < 0 || seals & libc::F_SEAL_SHRINK == 0 {
            return Err(MapError::NotSealed);
        }
        // SAFETY: a structure of integers.
        let mut stat: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: a place for the answer.
        if unsafe { libc::fstat(file.as_raw_fd(), &raw mut stat) } != 0 {
            return Err(std::io::Error::last_os_error().into());
        }
        let size = usize::try_from(stat.st_size).unwrap_or(0);
        if size < length(0) || size > length(MAX_EVENTS) {
            return Err(MapError::Foreign);
        }
        // SAFETY: a new mapping, of all of the file, which cannot shrink.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        let base = match NonNull::new(base.cast::<u8>()) {
            Some(base) if base.as_ptr().cast() != libc::MAP_FAILED => base,
            _ => return Err(std::io::Error::last_os_error().into()),
        };
        let mut mapped = Self {
            base,
            length: size,
            capacity: 0,
            read: 0,
        };
        let head = mapped.head();
        let same = (head.magic, head.version, head.functions, head.names)
            == (MAGIC, VERSION, FUNCTIONS as u32, functions::hash());
        // Its owner can write there at any time: what is checked and kept is read once.
        // SAFETY: a place in the mapping, of integers.
        let capacity = unsafe { (&raw const head.capacity).read_volatile() };
        let sound = capacity == 0 || capacity.is_power_of_two() && capacity <= MAX_EVENTS;
        if !same || !sound || length(capacity) != size {
            return Err(MapError::Foreign);
        }
        mapped.capacity = u64::from(capacity);
        Ok(mapped)
    }

    fn head(&self) -> &Head {
        // SAFETY: the mapping is longer than a head, whose changing words are atomic.
        unsafe { self.base.cast::<Head>().as_ref() }
    }

    /// The number of the process, see [`Head::process`].
    pub fn process(&self) -> u64 {
        self.head().process
    }

    /// Its id, as it sees itself.
    pub fn pid(&self) -> u32 {
        self.head().pid
    }

    /// Takes the events that are there, oldest first; whether the ring was at least a quarter full.
    pub fn drain(&mut self, mut take: impl FnMut(&Event)) -> bool {
        // Acquire: the events are there before the word says so.
        let written = self.head().written.load(Ordering::Acquire);
        let there = written.wrapping_sub(self.read);
        if there > self.capacity {
            // The program has written over its own counter.
            return false;
        }
        for at in self.read..written {
            let offset = RING_AT + (at & (self.capacity - 1)) as usize * size_of::<Event>();
            // SAFETY: within the ring; the writer leaves the place alone until `read` passes it.
            let event = unsafe { self.base.add(offset).cast::<Event>().read() };
            take(&event);
        }
        self.read = written;
        self.head().read.store(written, Ordering::Release);
        there * 4 >= self.capacity && self.capacity != 0
    }

    /// Events for which the ring had no room.
    pub fn lost(&self) -> u64 {
        self.head().lost.load(Ordering::Relaxed)
    }

    /// Calls with GPU work whose time is to be reported.
    pub fn submitted(&self) -> u64 {
        self.head().submitted.load(Ordering::Relaxed)
    }

    /// The call that is under way.
    pub fn under_way(&self) -> Option<UnderWay> {
        let head = self.head();
        let function = head.function.load(Ordering::Relaxed).checked_sub(1)?;
        Some(UnderWay {
            thread: head.thread.load(Ordering::Relaxed),
            function: u16::try_from(function).ok()?,
            since: head.since.load(Ordering::Relaxed),
        })
    }

    /// Adds what was counted for `function`, below [`FUNCTIONS`].
    pub fn add_to(&self, function: usize, stats: &mut Stats) {
        let called = self.head().called(function);
        let called = called.is_some_and(|(word, bit)| word.load(Ordering::Relaxed) & bit != 0);
        if function >= FUNCTIONS || !called {
            return;
        }
        let at = STATS_AT + function * size_of::<Stat>();
        // SAFETY: within the memory, as the function is one; words are atomic.
        let stat = unsafe { self.base.add(at).cast::<Stat>().as_ref() };
        let get = |word: &std::sync::atomic::AtomicU64| word.load(Ordering::Relaxed);
        stats.errors = stats.errors.wrapping_add(get(&stat.errors));
        stats.sum_ns = stats.sum_ns.wrapping_add(get(&stat.sum_ns));
        stats.max_ns = stats.max_ns.max(get(&stat.max_ns));
        stats.bytes = stats.bytes.wrapping_add(get(&stat.bytes));
        for (sum, word) in stats.buckets.iter_mut().zip(&stat.buckets) {
            *sum = sum.wrapping_add(get(word));
        }
    }
}

/// A call that has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnderWay {
    /// The thread, as it sees itself.
    pub thread: u32,
    /// The function.
    pub function: u16,
    /// Ticks when it began.
    pub since: u64,
}

/// What was counted for a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Calls that did not succeed.
    pub errors: u64,
    /// Sum of all times, nanoseconds.
    pub sum_ns: u64,
    /// Longest call, nanoseconds.
    pub max_ns: u64,
    /// Bytes that calls copied, set or allocated.
    pub bytes: u64,
    /// Calls by `bucket_of` their time.
    pub buckets: Vec<u64>,
}

impl Default for Stats {
    fn default() -> Self {
        Self {
            errors: 0,
            sum_ns: 0,
            max_ns: 0,
            bytes: 0,
            buckets: vec![0; BUCKETS],
        }
    }
}

impl Stats {
    /// Calls.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// The time in nanoseconds that a share `quantile` (0 to 1) of the calls did not exceed, within 1/64;
    /// 0 without calls.
    pub fn quantile(&self, quantile: f64) -> u64 {
        let buckets = self.buckets.iter().copied().enumerate();
        hist::quantile(buckets, self.count(), quantile, self.max_ns)
    }

    /// Adds the counts of another reader.
    pub fn merge(&mut self, other: &Self) {
        self.errors += other.errors;
        self.sum_ns += other.sum_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
        self.bytes += other.bytes;
        for (sum, calls) in self.buckets.iter_mut().zip(&other.buckets) {
            *sum += calls;
        }
    }
}
