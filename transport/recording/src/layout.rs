//! What lies in a thread's memory: a head, the statistics of all functions, the ring of events.

use std::sync::atomic::{AtomicU32, AtomicU64};

use gtrace_abi::BUCKETS;

use crate::FUNCTIONS;

/// The first word.
pub const MAGIC: u64 = u64::from_le_bytes(*b"gtracerc");
/// Raised when anything here changes.
pub const VERSION: u32 = 3;
/// Where the statistics begin.
pub const STATS_AT: usize = 4096;
/// Most events that a ring may have.
pub const MAX_EVENTS: u32 = 1 << 22;

/// The head of a thread's memory.
#[repr(C, align(4096))]
#[derive(Debug)]
pub struct Head {
    /// [`MAGIC`].
    pub magic: u64,
    /// [`VERSION`].
    pub version: u32,
    /// [`FUNCTIONS`].
    pub functions: u32,
    /// Of the names of the functions.
    pub names: u64,
    /// Events that the ring has room for: a power of two, or 0.
    pub capacity: u32,
    /// The process, as it sees itself.
    pub pid: u32,
    /// A number that the process has given itself, to distinguish programs that follow each other in one
    /// process.
    pub process: u64,
    /// The thread that writes here now, as it sees itself; 0: none.
    pub thread: AtomicU32,
    unused: u32,
    /// Calls with GPU work whose time is to be reported.
    pub submitted: AtomicU64,
    unused_too: u64,
    /// The function that is being called, plus 1; 0 between calls. On a line of its own, as what follows.
    pub function: AtomicU64,
    /// When it was called, in ticks.
    pub since: AtomicU64,
    apart: [u64; 6],
    /// Events written since the beginning.
    pub written: AtomicU64,
    /// Events for which the ring had no room.
    pub lost: AtomicU64,
    apart_too: [u64; 6],
    /// Events read since the beginning; written by the reader.
    pub read: AtomicU64,
    apart_from_reader: [u64; 7],
    /// A bit for each function that was called. Who reads the statistics of another has the system make memory for them.
    pub called: [AtomicU64; FUNCTIONS.div_ceil(64)],
}

impl Head {
    /// The word of [`Self::called`] that has the bit of a function, and the bit.
    #[inline(always)]
    pub(crate) fn called(&self, function: usize) -> Option<(&AtomicU64, u64)> {
        let word = self.called.get(function / 64)?;
        Some((word, 1 << (function % 64)))
    }
}

/// What is counted for a function.
#[repr(C)]
#[derive(Debug)]
pub struct Stat {
    /// Calls that did not succeed.
    pub errors: AtomicU64,
    /// Sum of all times, nanoseconds.
    pub sum_ns: AtomicU64,
    /// Longest call, nanoseconds.
    pub max_ns: AtomicU64,
    /// Sum of the bytes that calls copied, set or allocated.
    pub bytes: AtomicU64,
    /// Calls by `bucket_of` their time.
    pub buckets: [AtomicU64; BUCKETS],
}

/// A call.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Ticks when it began.
    pub start: u64,
    /// Ticks when it ended.
    pub end: u64,
    /// The thread, as it sees itself.
    pub thread: u32,
    /// `CUresult`.
    pub code: u32,
    /// Index of the function's name.
    pub function: u16,
    /// What the words are: [`crate::kind`].
    pub kind: u8,
    /// Zero.
    pub unused: u8,
    /// See [`crate::kind`].
    pub extra: u32,
    /// See [`crate::kind`].
    pub words: [u64; 4],
}

impl Event {
    /// Its bytes, little-endian, for a file.
    pub fn to_bytes(&self) -> [u8; 64] {
        let mut bytes = [0; 64];
        let first = u64::from(self.thread) | u64::from(self.code) << 32;
        let second =
            u64::from(self.function) | u64::from(self.kind) << 16 | u64::from(self.extra) << 32;
        let [a, b, c, d] = self.words;
        let words = [self.start, self.end, first, second, a, b, c, d];
        for (to, word) in bytes.chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// From [`Self::to_bytes`].
    pub fn from_bytes(bytes: &[u8; 64]) -> Self {
        let mut words = [0; 8];
        for (word, from) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = from.try_into().map_or(0, u64::from_le_bytes);
        }
        let [start, end, first, second, a, b, c, d] = words;
        Self {
            start,
            end,
            thread: first as u32,
            code: (first >> 32) as u32,
            function: second as u16,
            kind: (second >> 16) as u8,
            unused: 0,
            extra: (second >> 32) as u32,
            words: [a, b, c, d],
        }
    }
}

/// Where the ring begins.
pub const RING_AT: usize = (STATS_AT + FUNCTIONS * size_of::<Stat>()).next_multiple_of(4096);

/// Length of a thread's memory whose ring has room for `capacity` events.
pub const fn length(capacity: u32) -> usize {
    RING_AT + (capacity as usize * size_of::<Event>()).next_multiple_of(4096)
}

const _: () = assert!(size_of::<Head>() == STATS_AT);
const _: () = assert!(std::mem::offset_of!(Head, function) == 64);
const _: () = assert!(std::mem::offset_of!(Head, written) == 128);
const _: () = assert!(std::mem::offset_of!(Head, read) == 192);
const _: () = assert!(std::mem::offset_of!(Head, called) == 256);
const _: () = assert!(size_of::<Stat>() == 32 + 8 * BUCKETS);
const _: () = assert!(size_of::<Event>() == 64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_back_from_their_bytes() {
        let event = Event {
            start: u64::MAX,
            end: 2,
            thread: u32::MAX,
            code: 700,
            function: u16::MAX,
            kind: 5,
            unused: 0,
            extra: u32::MAX - 1,
            words: [1, u64::MAX, 3, 4],
        };
        assert_eq!(Event::from_bytes(&event.to_bytes()), event);
    }
}
