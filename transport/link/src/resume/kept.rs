//! Bytes that are kept until the other side has read them.

// Bytes of a caller that are used for as long as its call lasts.
#![allow(unsafe_code)]

use std::slice;

/// Memory that is kept for later once nothing is in it. Of it only what was used takes any.
const SPARE: usize = 8 << 20;

/// Bytes of a lane from one position on: first its own, then a caller's.
#[derive(Debug, Default)]
pub(super) struct Kept {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Position of the first one in the lane.
    position: u64,
    /// What a caller lends, of which the first `begun` bytes are the lane's.
    lent: &'static [u8],
    begun: usize,
}

impl Kept {
    fn own(&self) -> usize {
        self.end - self.start
    }

    /// The position behind the last one.
    pub(super) fn end(&self) -> u64 {
        self.position + (self.own() + self.begun) as u64
    }

    /// Puts `more` behind them. Nothing is lent.
    pub(super) fn push(&mut self, more: &[u8]) {
        debug_assert!(self.lent.is_empty());
        let used = self.own();
        let total = used + more.len();
        if self.end + more.len() > self.bytes.len() {
            // Twice as much as is needed, so that moving them is rare.
            if total * 2 > self.bytes.len() {
                let mut larger = vec![0; (total * 2).next_power_of_two().max(16 << 10)];
                larger[..used].copy_from_slice(&self.bytes[self.start..self.end]);
                self.bytes = larger;
            } else {
                self.bytes.copy_within(self.start..self.end, 0);
            }
            (self.start, self.end) = (0, used);
        }
        self.bytes[self.end..self.end + more.len()].copy_from_slice(more);
        self.end += more.len();
    }

    /// Takes bytes from where they are, which [`Self::begin`] puts behind the others.
    ///
    /// # Safety
    ///
    /// They stay as they are until [`Self::take_back`].
    pub(super) unsafe fn lend(&mut self, bytes: &[u8]) {
        self.take_back();
        // SAFETY: the caller's promise.
        self.lent = unsafe { slice::from_raw_parts(bytes.as_ptr(), bytes.len()) };
    }

    /// Puts the next `len` bytes of what is lent behind the others.
    pub(super) fn begin(&mut self, len: usize) {
        self.begun = (self.begun + len).min(self.lent.len());
    }

    /// What is lent is the caller's alone again; of what was begun of it a copy is kept.
    pub(super) fn take_back(&mut self) {
        let lent = std::mem::take(&mut self.lent);
        let begun = std::mem::take(&mut self.begun);
        self.push(&lent[..begun]);
    }

    /// Forgets those before `position`.
    pub(super) fn forget(&mut self, position: u64) {
        let gone = usize::try_from(position.saturating_sub(self.position)).unwrap_or(usize::MAX);
        let own = gone.min(self.own());
        let lent = (gone - own).min(self.begun);
        self.start += own;
        self.lent = &self.lent[lent..];
        self.begun -= lent;
        self.position += (own + lent) as u64;
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.bytes.len() > SPARE {
                self.bytes = Vec::new();
            }
        }
    }

    /// Those from `position` on, at most `most`, and no more than lie side by side.
    pub(super) fn from(&self, position: u64, most: usize) -> &[u8] {
        let skip = usize::try_from(position.saturating_sub(self.position)).unwrap_or(usize::MAX);
        let (bytes, skip) = match skip.checked_sub(self.own()) {
            Some(skip) => (&self.lent[..self.begun], skip),
            None => (&self.bytes[self.start..self.end], skip),
        };
        let from = skip.min(bytes.len());
        &bytes[from..bytes.len().min(from.saturating_add(most))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_stay_until_they_are_forgotten() {
        let mut kept = Kept::default();
        let mut all = Vec::new();
        let mut forgotten = 0;
        for round in 0..2000_usize {
            let more: Vec<u8> = (0..round % 700).map(|at| (at * 7 + round) as u8).collect();
            kept.push(&more);
            all.extend_from_slice(&more);
            assert_eq!(kept.end(), all.len() as u64);
            if round % 3 == 0 {
                forgotten += (all.len() - forgotten) * (round % 5) / 4;
                kept.forget(forgotten as u64);
            }
            assert_eq!(
                kept.from(forgotten as u64, usize::MAX),
                &all[forgotten..],
                "round {round}"
            );
            let middle = forgotten + (all.len() - forgotten) / 2;
            let some = kept.from(middle as u64, 10);
            assert_eq!(some, &all[middle..(middle + 10).min(all.len())]);
        }
        kept.forget(u64::MAX);
        assert_eq!(kept.end(), all.len() as u64);
    }

    #[test]
    fn of_what_is_lent_only_the_rest_is_copied() {
        let all: Vec<u8> = (0..100_000_usize)
            .map(|at| (at * 7 + at / 256) as u8)
            .collect();
        for (begun, read) in [
            (0, 0),
            (600, 0),
            (600, 50),
            (600, 350),
            (99_900, 20_000),
            (99_900, 100_000),
        ] {
            let mut kept = Kept::default();
            kept.push(&all[..100]);
            // SAFETY: they outlive what they are lent to.
            unsafe { kept.lend(&all[100..]) };
            assert_eq!(kept.end(), 100);
            kept.begin(begun / 2);
            kept.begin(begun - begun / 2);
            let end = 100 + begun;
            kept.forget(read);
            assert_eq!(kept.end(), end as u64);
            let mut at = usize::try_from(read).unwrap();
            while at < end {
                let some = kept.from(at as u64, 4000);
                assert!(!some.is_empty() && some == &all[at..at + some.len()]);
                at += some.len();
            }
            kept.take_back();
            let from = usize::try_from(read).unwrap();
            assert_eq!(kept.from(read, usize::MAX), &all[from..end]);
            kept.push(&all[end..]);
            assert_eq!(kept.from(read, usize::MAX), &all[from..]);
        }
    }
}
