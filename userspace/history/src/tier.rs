//! Resolutions and limits, with their defaults.

/// A journal becomes a block when the clock passes a multiple of this, ms.
pub const BLOCK_SPAN_MS: i64 = 5 * MINUTE;

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const MIB: u64 = 1 << 20;

/// One resolution, and for how long it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tier {
    /// Length of a bucket, ms. A segment's name begins with it.
    pub resolution_ms: u32,
    /// A segment is removed when its newest sample is older, ms.
    pub keep_ms: i64,
    /// Time after which a new segment begins, ms.
    pub segment_ms: i64,
}

/// The resolutions, from fine to coarse.
pub(crate) const TIERS: [Tier; 3] = [
    Tier {
        resolution_ms: 1000,
        keep_ms: HOUR,
        segment_ms: 10 * MINUTE,
    },
    Tier {
        resolution_ms: 10_000,
        keep_ms: DAY,
        segment_ms: 2 * HOUR,
    },
    Tier {
        resolution_ms: 60_000,
        keep_ms: 14 * DAY,
        segment_ms: DAY,
    },
];

/// Bounds of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// From fine to coarse; each resolution is a multiple of the one before.
    pub tiers: Vec<Tier>,
    /// Most bytes of all files together; less than [`Options::MIN_BYTES`] counts as that. The oldest segment goes
    /// first.
    pub max_bytes: u64,
    /// Most series in one block; samples of others are dropped and counted.
    pub max_series: usize,
    /// A journal of so many bytes becomes a block at once.
    pub journal_bytes: u64,
}

impl Options {
    /// The least that `max_bytes` can be.
    pub const MIN_BYTES: u64 = 8 * MIB;

    /// Bounds of a history that is written once and stays as it is: the finest resolution alone, of any age.
    pub fn only_finest() -> Self {
        let [finest, ..] = TIERS;
        Self {
            tiers: vec![Tier {
                keep_ms: i64::MAX / 2,
                ..finest
            }],
            ..Self::default()
        }
    }

    /// Most bytes of the journal while no block can be written.
    pub(crate) fn journal_limit(&self) -> u64 {
        self.journal_bytes * 2
    }

    /// Most bytes of segments after a block was written. Beside them lie the journal, and the block of
    /// each resolution that comes next, which is smaller than its journal.
    pub(crate) fn segment_bytes(&self) -> u64 {
        let next = self.journal_limit() * (1 + self.tiers.len() as u64);
        self.max_bytes
            .max(Self::MIN_BYTES)
            .saturating_sub(next)
            .max(MIB)
    }

    /// Bytes after which a new segment begins: the smaller, the less goes at once for want of room.
    pub(crate) fn segment_limit(&self) -> u64 {
        (self.max_bytes / 64).clamp(64 << 10, 4 * MIB)
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tiers: TIERS.to_vec(),
            max_bytes: 256 * MIB,
            max_series: 4096,
            journal_bytes: MIB / 2,
        }
    }
}
