//! Bytes that are kept until the other side has read them.

// Bytes of a caller that are used until it takes them back.
#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::slice;

/// Memory that is kept for later once nothing is in it. Of it only what was used takes any.
const SPARE: usize = 8 << 20;
/// Own bytes that are sent together with what is lent behind them.
pub(super) const TOGETHER: usize = 4 << 10;

/// Where bytes of a lane lie.
#[derive(Debug)]
enum Segment {
    /// So many of the next ones in `Kept::bytes`.
    Own(usize),
    /// In memory of a caller; if it is `stable`, it stays as it is until the other side has read it.
    Lent { bytes: &'static [u8], stable: bool },
    /// In a copy that was made when the caller took its memory back, from this one on.
    Copied(Vec<u8>, usize),
}

impl Segment {
    fn len(&self) -> usize {
        match self {
            Self::Own(len) => *len,
            Self::Lent { bytes, .. } => bytes.len(),
            Self::Copied(bytes, from) => bytes.len() - from,
        }
    }

    /// Whether it is lent, and part of `memory`.
    fn is_lent_of(&self, memory: &[u8]) -> bool {
        let Self::Lent { bytes, .. } = self else {
            return false;
        };
        let (here, there) = (bytes.as_ptr_range(), memory.as_ptr_range());
        here.start < there.end && there.start < here.end
    }
}

/// Bytes of a lane from one position on, in order.
#[derive(Debug, Default)]
pub(super) struct Kept {
    segments: VecDeque<Segment>,
    /// Own ones, from `start` to `end`.
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Positions of the first byte in the lane, and behind the last one.
    position: u64,
    behind: u64,
    /// Segments that are lent.
    lent: usize,
    /// Memory of copies that are not needed any more, and its bytes.
    spare: Vec<Vec<u8>>,
    spare_bytes: usize,
}

impl Kept {
    /// The position behind the last one.
    pub(super) fn end(&self) -> u64 {
        self.behind
    }

    /// Puts a copy of `more` behind them.
    pub(super) fn push(&mut self, more: &[u8]) {
        if more.is_empty() {
            return;
        }
        let used = self.end - self.start;
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
        self.behind += more.len() as u64;
        match self.segments.back_mut() {
            Some(Segment::Own(len)) => *len += more.len(),
            _ => self.segments.push_back(Segment::Own(more.len())),
        }
    }

    /// Puts `more` behind them, from where it is.
    ///
    /// # Safety
    ///
    /// It stays as it is until the other side has read it, [`Self::take_back_last`] finds nothing of it, or this is
    /// dropped. If it is `stable`, it is not written to even then before the other side has read it.
    pub(super) unsafe fn lend(&mut self, more: &[u8], stable: bool) {
        // SAFETY: the caller's promise.
        let bytes = unsafe { slice::from_raw_parts(more.as_ptr(), more.len()) };
        self.segments.push_back(Segment::Lent { bytes, stable });
        self.behind += more.len() as u64;
        self.lent += 1;
    }

    /// Whether bytes of `memory` are lent.
    pub(super) fn is_lent(&self, memory: &[u8]) -> bool {
        self.lent > 0 && (self.segments.iter()).any(|segment| segment.is_lent_of(memory))
    }

    /// Whether all of `bytes`, which are kept, stay as they are until the other side has read them.
    pub(super) fn is_stable(&self, bytes: &[u8]) -> bool {
        let of_them = self.segments.iter().rev().find(|it| it.is_lent_of(bytes));
        matches!(of_them, Some(Segment::Lent { stable: true, .. }))
    }

    /// Makes a copy of the last segment of `memory` that is lent; without `memory`, of any. Those that are stable count
    /// only with `with_stable`. Whether there was one.
    pub(super) fn take_back_last(&mut self, memory: Option<&[u8]>, with_stable: bool) -> bool {
        if self.lent == 0 {
            return false;
        }
        let is_wanted = |segment: &&mut Segment| match segment {
            Segment::Lent { stable: true, .. } if !with_stable => false,
            Segment::Lent { .. } => memory.is_none_or(|memory| segment.is_lent_of(memory)),
            _ => false,
        };
        let Some(segment) = self.segments.iter_mut().rev().find(is_wanted) else {
            return false;
        };
        if let Segment::Lent { bytes, .. } = *segment {
            let mut copy = self.spare.pop().unwrap_or_default();
            self.spare_bytes -= copy.capacity();
            copy.clear();
            copy.extend_from_slice(bytes);
            *segment = Segment::Copied(copy, 0);
            self.lent -= 1;
        }
        true
    }

    /// Forgets those before `position`.
    pub(super) fn forget(&mut self, position: u64) {
        while self.position < position
            && let Some(first) = self.segments.front_mut()
        {
            let gone = usize::try_from(position - self.position).unwrap_or(usize::MAX);
            let gone = gone.min(first.len());
            self.position += gone as u64;
            let all = gone == first.len();
            match first {
                Segment::Own(len) => {
                    *len -= gone;
                    self.start += gone;
                }
                Segment::Lent { bytes, .. } => {
                    *bytes = &bytes[gone..];
                    self.lent -= usize::from(all);
                }
                Segment::Copied(_, from) => *from += gone,
            }
            if all && let Some(Segment::Copied(copy, _)) = self.segments.pop_front() {
                let bytes = self.spare_bytes + copy.capacity();
                if bytes <= SPARE {
                    self.spare_bytes = bytes;
                    self.spare.push(copy);
                }
            }
        }
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.bytes.len() > SPARE {
                self.bytes = Vec::new();
            }
        }
    }

    /// Those from `position` on: at most `most` that lie side by side, and behind a few of these as many again.
    pub(super) fn from(&self, position: u64, most: usize) -> (&[u8], &[u8]) {
        let (mut at, mut own) = (self.behind, self.end);
        // Mostly it is the last one.
        for (index, segment) in self.segments.iter().enumerate().rev() {
            at -= segment.len() as u64;
            if let Segment::Own(len) = segment {
                own -= len;
            }
            if at <= position {
                let skip = usize::try_from(position - at).unwrap_or(usize::MAX);
                let bytes = self.bytes_of(segment, own);
                let rest = &bytes[skip.min(bytes.len())..];
                let first = &rest[..rest.len().min(most)];
                let next = match self.segments.get(index + 1) {
                    Some(next) if rest.len() <= TOGETHER.min(most) => {
                        let own = match segment {
                            Segment::Own(len) => own + len,
                            _ => own,
                        };
                        self.bytes_of(next, own)
                    }
                    _ => &[],
                };
                return (first, &next[..next.len().min(most)]);
            }
        }
        (&[], &[])
    }

    /// Those of `segment`; own ones begin at `own`.
    fn bytes_of<'a>(&'a self, segment: &'a Segment, own: usize) -> &'a [u8] {
        match segment {
            Segment::Own(len) => &self.bytes[own..own + len],
            Segment::Lent { bytes, .. } => bytes,
            Segment::Copied(bytes, from) => &bytes[*from..],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that are kept from `position` on.
    fn rest(kept: &Kept, mut position: u64, most: usize) -> Vec<u8> {
        let mut all = Vec::new();
        while position < kept.end() {
            let (first, second) = kept.from(position, most);
            assert!(!first.is_empty(), "at {position} of {}", kept.end());
            assert!(first.len().max(second.len()) <= most);
            assert!(first.len() <= TOGETHER || second.is_empty());
            all.extend_from_slice(first);
            all.extend_from_slice(second);
            position += (first.len() + second.len()) as u64;
        }
        all
    }

    fn numbers(count: usize) -> Vec<u8> {
        (0..count).map(|at| (at * 7 + at / 256) as u8).collect()
    }

    #[test]
    fn bytes_stay_until_they_are_forgotten() {
        let mut kept = Kept::default();
        let mut all = Vec::new();
        let mut forgotten = 0;
        for step in 0..2000_usize {
            let more: Vec<u8> = (0..step % 700).map(|at| (at * 7 + step) as u8).collect();
            kept.push(&more);
            all.extend_from_slice(&more);
            assert_eq!(kept.end(), all.len() as u64);
            if step % 3 == 0 {
                forgotten += (all.len() - forgotten) * (step % 5) / 4;
                kept.forget(forgotten as u64);
            }
            assert_eq!(rest(&kept, forgotten as u64, usize::MAX), &all[forgotten..]);
            let middle = forgotten + (all.len() - forgotten) / 2;
            let (some, none) = kept.from(middle as u64, 10);
            assert_eq!(some, &all[middle..(middle + 10).min(all.len())]);
            assert!(none.is_empty());
        }
        kept.forget(u64::MAX);
        assert_eq!(kept.end(), all.len() as u64);
    }

    /// Heads of frames and what is lent behind them, taken back and forgotten at any place.
    #[test]
    fn what_is_lent_is_the_same_before_and_after_it_is_taken_back() {
        let all = numbers(400_000);
        for seed in 0..200_usize {
            let mut kept = Kept::default();
            let (mut at, mut forgotten) = (0, 0);
            for step in 0.. {
                let chosen = seed * 31 + step * 17;
                let len = match chosen % 3 {
                    0 => chosen % 90 + 1,
                    _ => chosen % 40_000 + 1,
                };
                if at + len > all.len() {
                    break;
                }
                match chosen % 3 {
                    0 => kept.push(&all[at..at + len]),
                    // SAFETY: it outlives what it is lent to.
                    _ => unsafe { kept.lend(&all[at..at + len], chosen % 4 == 1) },
                }
                at += len;
                if chosen % 5 == 0 {
                    let from = chosen * 1000 % at;
                    let memory = &all[from..at];
                    while kept.take_back_last(Some(memory), false) {}
                    assert!(!kept.is_lent(memory) || kept.is_stable(memory));
                }
                if chosen % 7 == 0 {
                    forgotten += (at - forgotten) * (chosen % 4) / 4;
                    kept.forget(forgotten as u64);
                }
                assert_eq!(kept.end(), at as u64);
                assert_eq!(rest(&kept, forgotten as u64, 10_000), &all[forgotten..at]);
            }
            while kept.take_back_last(None, false) {}
            assert!(!kept.is_lent(&all) || kept.is_stable(&all));
            while kept.take_back_last(None, true) {}
            assert!(!kept.is_lent(&all));
            assert_eq!(rest(&kept, forgotten as u64, 10_000), &all[forgotten..at]);
            kept.forget(at as u64);
            assert!(kept.spare_bytes <= SPARE && kept.segments.is_empty());
        }
    }

    #[test]
    fn a_head_is_sent_with_what_is_lent_behind_it() {
        let all = numbers(10_000);
        let mut kept = Kept::default();
        kept.push(&all[..60]);
        // SAFETY: it outlives what it is lent to.
        unsafe { kept.lend(&all[60..], false) };
        assert_eq!(kept.from(0, 5000), (&all[..60], &all[60..5060]));
        assert_eq!(kept.from(20, 50), (&all[20..60], &all[60..110]));
        assert_eq!(kept.from(20, 30), (&all[20..50], &[][..]));
        assert_eq!(kept.from(5000, 9000), (&all[5000..], &[][..]));
    }
}
