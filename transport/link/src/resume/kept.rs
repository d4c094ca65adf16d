//! Bytes that are kept until the other side has read them.

/// Memory that is kept for later once nothing is in it.
const SPARE: usize = 4 << 20;

/// Bytes of a lane from one position on.
#[derive(Debug, Default)]
pub(super) struct Kept {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Position of the first one in the lane.
    position: u64,
}

impl Kept {
    /// The position behind the last one.
    pub(super) fn end(&self) -> u64 {
        self.position + (self.end - self.start) as u64
    }

    /// Puts `more` behind them.
    pub(super) fn push(&mut self, more: &[u8]) {
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
    }

    /// Forgets those before `position`.
    pub(super) fn forget(&mut self, position: u64) {
        let used = self.end - self.start;
        let gone = usize::try_from(position.saturating_sub(self.position)).unwrap_or(usize::MAX);
        let gone = gone.min(used);
        self.start += gone;
        self.position += gone as u64;
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.bytes.len() > SPARE {
                self.bytes = Vec::new();
            }
        }
    }

    /// Those from `position` on, at most `most`.
    pub(super) fn from(&self, position: u64, most: usize) -> &[u8] {
        let skip = usize::try_from(position.saturating_sub(self.position)).unwrap_or(usize::MAX);
        let from = self.start.saturating_add(skip).min(self.end);
        &self.bytes[from..self.end.min(from.saturating_add(most))]
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
}
