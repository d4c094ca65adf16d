//! Which parts of a device's address range are free. First fit at the lowest address, so that the
//! pages in use stay few.

use std::collections::BTreeMap;

/// CUDA promises 256 bytes; its allocations come in steps of 512.
pub(crate) const ALIGNMENT: u64 = 512;

/// See the module. The range is larger than the device's memory, so that a free place of the
/// wanted size is found however the allocations lie; how much is in use is limited separately,
/// as on a real GPU, whose pages need not lie side by side.
#[derive(Debug)]
pub(crate) struct Arena {
    /// Length by start, never adjacent.
    free: BTreeMap<u64, u64>,
    limit: u64,
    used: u64,
}

/// `size` as the arena counts it.
pub(crate) fn rounded(size: u64) -> Option<u64> {
    size.max(1).checked_next_multiple_of(ALIGNMENT)
}

impl Arena {
    /// An arena over `length` bytes from `base` of which at most `limit` are in use.
    pub(crate) fn new(base: u64, length: u64, limit: u64) -> Self {
        Self {
            free: BTreeMap::from([(base, length)]),
            limit,
            used: 0,
        }
    }

    /// Bytes in use, rounded up.
    pub(crate) fn used(&self) -> u64 {
        self.used
    }

    /// Takes `size` bytes; none if they exceed what is left.
    pub(crate) fn take(&mut self, size: u64) -> Option<u64> {
        self.take_aligned(size, ALIGNMENT)
    }

    /// As [`take`](Self::take), at a multiple of `alignment`, which is a power of two and at least
    /// [`ALIGNMENT`].
    pub(crate) fn take_aligned(&mut self, size: u64, alignment: u64) -> Option<u64> {
        let size = rounded(size)?;
        if self.used.checked_add(size)? > self.limit {
            return None;
        }
        let (start, length, taken) = self.free.iter().find_map(|(&start, &length)| {
            let taken = start.checked_next_multiple_of(alignment)?;
            let fits = taken.checked_add(size)? <= start + length;
            fits.then_some((start, length, taken))
        })?;
        self.free.remove(&start);
        if taken > start {
            self.free.insert(start, taken - start);
        }
        let rest = start + length - (taken + size);
        if rest > 0 {
            self.free.insert(taken + size, rest);
        }
        self.used += size;
        Some(taken)
    }

    /// Counts `size` bytes that lie elsewhere; false if they exceed what is left.
    pub(crate) fn charge(&mut self, size: u64) -> bool {
        let used = self
            .used
            .checked_add(size)
            .filter(|used| *used <= self.limit);
        self.used = used.unwrap_or(self.used);
        used.is_some()
    }

    /// Takes back what [`charge`](Self::charge) has counted.
    pub(crate) fn refund(&mut self, size: u64) {
        self.used -= size;
    }

    /// Gives back what [`take`](Self::take) gave.
    pub(crate) fn give(&mut self, start: u64, size: u64) {
        let Some(mut size) = rounded(size) else {
            return;
        };
        self.used -= size;
        let mut start = start;
        if let Some(next) = self.free.remove(&(start + size)) {
            size += next;
        }
        if let Some((&before, &length)) = self.free.range(..start).next_back()
            && before + length == start
        {
            self.free.remove(&before);
            start = before;
            size += length;
        }
        self.free.insert(start, size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_limit_holds() {
        let mut arena = Arena::new(0x1000, 1 << 20, 1 << 16);
        assert!(arena.take((1 << 16) + 1).is_none());
        let all = arena.take(1 << 16).expect("all of it");
        assert!(arena.take(1).is_none());
        arena.give(all, 1 << 16);
        assert_eq!(arena.used(), 0);
        assert!(arena.take(u64::MAX).is_none());
    }

    proptest! {
        #[test]
        fn parts_never_overlap_and_all_come_back(steps in prop::collection::vec((any::<bool>(), 1u64..5000), 1..200)) {
            let mut arena = Arena::new(1 << 30, 4 << 20, 1 << 20);
            let mut held: Vec<(u64, u64)> = Vec::new();
            for (take, number) in steps {
                if take || held.is_empty() {
                    if let Some(start) = arena.take(number) {
                        prop_assert_eq!(start % ALIGNMENT, 0);
                        for &(other, size) in &held {
                            prop_assert!(start + number <= other || other + size <= start);
                        }
                        held.push((start, number));
                    }
                } else {
                    let (start, size) = held.swap_remove(number as usize % held.len());
                    arena.give(start, size);
                }
            }
            for (start, size) in held.drain(..) {
                arena.give(start, size);
            }
            prop_assert_eq!(arena.used(), 0);
            prop_assert_eq!(&arena.free, &BTreeMap::from([(1 << 30, 4 << 20)]));
        }
    }
}
