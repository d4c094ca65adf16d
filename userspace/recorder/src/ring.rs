//! The last minutes in memory: lines in chunks, bounded by size and age.

use std::collections::VecDeque;

const SECOND: i64 = 1_000_000_000;

/// Bounds of a [`Ring`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of lines.
    pub bytes: usize,
    /// Lines that are older than this go, ns. The newest never do.
    pub age_ns: i64,
}

impl Limits {
    /// A chunk is full at this size.
    fn chunk_bytes(self) -> usize {
        (self.bytes / 64).clamp(1 << 10, 64 << 10)
    }

    /// And at this age, so that what is too old can go.
    fn chunk_age_ns(self) -> i64 {
        (self.age_ns / 10).max(SECOND)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 4 << 20,
            age_ns: 10 * 60 * SECOND,
        }
    }
}

/// Lines of one stretch of time.
#[derive(Debug)]
struct Chunk {
    /// Bytes that were ever written before it.
    start: u64,
    first_ns: i64,
    last_ns: i64,
    lines: u64,
    bytes: Vec<u8>,
}

impl Chunk {
    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

/// See the module. A place in it is the count of bytes that were ever written before.
#[derive(Debug)]
pub struct Ring {
    limits: Limits,
    chunks: VecDeque<Chunk>,
    bytes: usize,
    written: u64,
    dropped: u64,
}

/// What was read from a place on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Read {
    /// Whole lines.
    pub bytes: Vec<u8>,
    /// Where to go on.
    pub next: u64,
    /// Bytes that were dropped before they could be read.
    pub missed: u64,
}

impl Ring {
    /// An empty one.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            chunks: VecDeque::new(),
            bytes: 0,
            written: 0,
            dropped: 0,
        }
    }

    /// Appends a line with its end, of the time `time_ns` by a clock that nobody sets.
    pub fn push(&mut self, time_ns: i64, line: &[u8]) {
        let (most, age) = (self.limits.chunk_bytes(), self.limits.chunk_age_ns());
        let fits = |chunk: &&mut Chunk| {
            chunk.bytes.len() + line.len() <= most
                && time_ns.abs_diff(chunk.first_ns) < age.unsigned_abs()
        };
        match self.chunks.back_mut().filter(fits) {
            Some(chunk) => {
                chunk.bytes.extend_from_slice(line);
                chunk.lines += 1;
                chunk.last_ns = chunk.last_ns.max(time_ns);
            }
            None => {
                if let Some(full) = self.chunks.back_mut() {
                    full.bytes.shrink_to_fit();
                }
                self.chunks.push_back(Chunk {
                    start: self.written,
                    first_ns: time_ns,
                    last_ns: time_ns,
                    lines: 1,
                    bytes: line.to_vec(),
                });
            }
        }
        self.bytes += line.len();
        self.written += line.len() as u64;
        self.trim(time_ns);
    }

    /// Drops what is too old or too much; the newest chunk stays.
    fn trim(&mut self, now_ns: i64) {
        let oldest = now_ns.saturating_sub(self.limits.age_ns);
        while self.chunks.len() > 1
            && let Some(first) = self.chunks.front()
        {
            let is_old = first.last_ns < oldest;
            if self.bytes <= self.limits.bytes && !is_old {
                break;
            }
            self.bytes -= first.bytes.len();
            if !is_old {
                self.dropped += first.lines;
            }
            self.chunks.pop_front();
        }
    }

    /// The lines that are not older than `from_ns`, with some that are a little older.
    pub fn since(&self, from_ns: i64) -> Read {
        let chunks = self.chunks.iter();
        let recent = chunks.filter(|chunk| chunk.last_ns >= from_ns);
        Read {
            bytes: recent.flat_map(|chunk| &chunk.bytes).copied().collect(),
            next: self.written,
            missed: 0,
        }
    }

    /// All lines from the place `from` on.
    pub fn read(&self, from: u64) -> Read {
        let oldest = self
            .chunks
            .front()
            .map_or(self.written, |chunk| chunk.start);
        let mut read = Read {
            next: self.written,
            missed: oldest.saturating_sub(from),
            ..Read::default()
        };
        for chunk in self.chunks.iter().filter(|chunk| chunk.end() > from) {
            let skipped = usize::try_from(from.saturating_sub(chunk.start)).unwrap_or(0);
            read.bytes
                .extend_from_slice(chunk.bytes.get(skipped..).unwrap_or_default());
        }
        read
    }

    /// Bytes of lines in it.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Lines that went for want of room, before their age.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The time of its oldest line, ns by the clock of [`Self::push`].
    pub fn oldest_ns(&self) -> Option<i64> {
        self.chunks.front().map(|chunk| chunk.first_ns)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_old_goes_and_is_no_loss_and_what_is_too_much_is_counted() {
        let limits = Limits {
            bytes: 64 << 10,
            age_ns: 60 * SECOND,
        };
        let mut ring = Ring::new(limits);
        for second in 0..200 {
            ring.push(second * SECOND, b"a line\n");
        }
        assert_eq!(ring.dropped(), 0);
        let oldest = ring.oldest_ns().unwrap() / SECOND;
        assert!((120..=139).contains(&oldest), "{oldest}");
        for _ in 0..3 {
            ring.push(200 * SECOND, &[b'x'; 30 << 10]);
        }
        assert!(ring.bytes() <= limits.bytes);
        assert!(ring.dropped() > 0);
    }

    #[test]
    fn an_old_line_that_comes_late_does_not_bring_others_into_a_reading() {
        let mut ring = Ring::new(Limits::default());
        ring.push(7_200 * SECOND, b"now\n");
        for second in 0..100 {
            ring.push(second * SECOND, b"old\n");
        }
        ring.push(7_201 * SECOND, b"later\n");
        assert_eq!(ring.since(7_000 * SECOND).bytes, b"now\nlater\n");
        assert_eq!(ring.read(0).bytes.len(), 4 + 100 * 4 + 6);
    }

    proptest! {
        /// Whoever reads on gets each line once, or learns how many bytes went before it could read them.
        #[test]
        fn a_reader_misses_nothing_unsaid(
            lines in proptest::collection::vec((0i64..50, 1usize..400, any::<bool>()), 1..400),
        ) {
            let mut ring = Ring::new(Limits { bytes: 8 << 10, age_ns: 20 * SECOND });
            let (mut all, mut seen, mut at, mut time) = (Vec::new(), Vec::new(), 0, 0);
            for (n, (step, length, reads)) in lines.into_iter().enumerate() {
                time += step * SECOND / 50;
                let mut line = format!("{n}:").into_bytes();
                line.resize(length + 8, b'.');
                line.push(b'\n');
                ring.push(time, &line);
                all.extend_from_slice(&line);
                if reads {
                    let read = ring.read(at);
                    prop_assert_eq!(at + read.missed + read.bytes.len() as u64, read.next);
                    let from = (read.next - read.bytes.len() as u64) as usize;
                    prop_assert_eq!(&all[from..], &read.bytes[..]);
                    prop_assert!(from == 0 || all[from - 1] == b'\n');
                    seen.extend(read.bytes);
                    at = read.next;
                }
                prop_assert!(ring.bytes() <= (8 << 10) + 500);
                let since = ring.since(time);
                prop_assert!(since.bytes.ends_with(&line));
            }
        }
    }
}
