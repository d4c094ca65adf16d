//! Which segments go.

use crate::directory::SegmentName;
use crate::tier::Options;

/// After a jump of the clock this many blocks are written before segments go for their age: about an hour, in
/// which a clock that was set wrong can be corrected before it costs the history.
const BLOCKS_AFTER_JUMP: u32 = 12;
/// A longer time between two blocks is a jump of the clock, or a daemon that did not run; ms.
const JUMP_MS: i64 = 3_600_000;

/// What the writer knows of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) name: SegmentName,
    pub(crate) bytes: u64,
    /// Of its points, ms; `None` where it has none.
    pub(crate) span_ms: Option<(i64, i64)>,
}

/// Watches the clock between blocks.
#[derive(Debug, Default)]
pub(crate) struct ClockGuard {
    last_ms: Option<i64>,
    wait: u32,
}

impl ClockGuard {
    pub(crate) fn new(last_ms: Option<i64>) -> Self {
        // Until the first block shows whether the clock has jumped.
        Self { last_ms, wait: 1 }
    }

    /// Notes the time of a block.
    pub(crate) fn note(&mut self, now_ms: i64) {
        let jumped = self
            .last_ms
            .is_some_and(|last| now_ms.saturating_sub(last) > JUMP_MS);
        self.wait = if jumped {
            BLOCKS_AFTER_JUMP
        } else {
            self.wait.saturating_sub(1)
        };
        self.last_ms = Some(now_ms);
    }

    fn trusts_age(&self) -> bool {
        self.wait == 0
    }
}

/// When a segment was written by the clock that came after it: one from before the clock was set back counts as old as
/// its successor.
fn written_ms(segments: &[Segment], of: &Segment) -> i64 {
    let later = segments.iter().filter(|s| {
        s.name.resolution_ms == of.name.resolution_ms && s.name.number >= of.name.number
    });
    let last = later.filter_map(|s| s.span_ms.map(|(_, last)| last)).min();
    last.unwrap_or(i64::MIN)
}

/// The segments that have to go, oldest first. Those of `current` are being written and stay.
pub(crate) fn expired(
    segments: &[Segment],
    current: &[SegmentName],
    options: &Options,
    clock: &ClockGuard,
    now_ms: i64,
) -> Vec<SegmentName> {
    let mut candidates: Vec<(i64, &Segment)> = segments
        .iter()
        .filter(|segment| !current.contains(&segment.name))
        .map(|segment| (written_ms(segments, segment), segment))
        .collect();
    candidates.sort_by_key(|(written, segment)| (*written, segment.name));
    let mut bytes: u64 = segments.iter().map(|segment| segment.bytes).sum();
    let keep_ms = |resolution_ms| {
        let tier = options
            .tiers
            .iter()
            .find(|t| t.resolution_ms == resolution_ms);
        tier.map_or(0, |tier| tier.keep_ms)
    };
    let mut gone = Vec::new();
    for (written, segment) in candidates {
        let age = now_ms.saturating_sub(written);
        let old = clock.trusts_age() && age > keep_ms(segment.name.resolution_ms);
        if old || bytes > options.segment_bytes() {
            bytes = bytes.saturating_sub(segment.bytes);
            gone.push(segment.name);
        }
    }
    gone
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    fn segment(resolution_ms: u32, number: u64, bytes: u64, last_ms: i64) -> Segment {
        Segment {
            name: SegmentName {
                resolution_ms,
                number,
            },
            bytes,
            span_ms: Some((last_ms - 1000, last_ms)),
        }
    }

    fn numbers(segments: &[Segment], clock: &ClockGuard, now_ms: i64) -> Vec<u64> {
        let options = Options::default();
        let gone = expired(segments, &[], &options, clock, now_ms);
        gone.into_iter().map(|name| name.number).collect()
    }

    #[test]
    fn a_segment_goes_when_its_newest_sample_is_too_old_for_its_resolution() {
        let all = [
            segment(1000, 1, 1, 0),
            segment(1000, 2, 1, HOUR),
            segment(60_000, 3, 1, 0),
        ];
        let clock = ClockGuard::default();
        assert_eq!(numbers(&all, &clock, HOUR + 1), [1]);
        assert_eq!(numbers(&all, &clock, 3 * HOUR), [1, 2]);
    }

    #[test]
    fn the_oldest_of_all_resolutions_goes_for_want_of_room() {
        let most = Options::default().segment_bytes();
        let all = [
            segment(1000, 9, most / 2, 500),
            segment(60_000, 1, most / 2, 100),
            segment(60_000, 2, most / 2, 400),
        ];
        assert_eq!(numbers(&all, &ClockGuard::default(), 1000), [1]);
    }

    #[test]
    fn after_a_jump_of_the_clock_nothing_goes_for_its_age_for_twelve_blocks() {
        let all = [segment(1000, 1, 1, 0)];
        let mut clock = ClockGuard::new(Some(0));
        let far = 9000 * HOUR;
        for block in 0..12 {
            clock.note(far + block * 300_000);
            assert_eq!(numbers(&all, &clock, far), [0u64; 0], "{block}");
        }
        clock.note(far + 12 * 300_000);
        assert_eq!(numbers(&all, &clock, far), [1]);
    }

    #[test]
    fn a_segment_from_a_clock_that_was_ahead_is_as_old_as_its_successor() {
        let all = [segment(1000, 1, 1, 9000 * HOUR), segment(1000, 2, 1, HOUR)];
        assert_eq!(numbers(&all, &ClockGuard::default(), 3 * HOUR), [1, 2]);
    }
}
