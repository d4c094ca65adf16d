//! Log-linear histogram: 32 buckets an octave from 64 ns to 17.2 s, so that a bucket's midpoint
//! is within 1/64 of every value in it. The same arithmetic runs in BPF and in user space.

/// log2 of the smallest value that has a bucket of its own.
const MIN_SHIFT: u32 = 6;
/// log2 of the first value past the range.
const MAX_SHIFT: u32 = 34;
/// log2 of the number of buckets an octave.
const SUB_SHIFT: u32 = 5;
const SUB: u32 = 1 << SUB_SHIFT;

/// Values below fall into the first bucket.
pub const MIN_NS: u64 = 1 << MIN_SHIFT;
/// Values from here on fall into the last bucket.
pub const MAX_NS: u64 = 1 << MAX_SHIFT;
/// Number of buckets.
pub const BUCKETS: usize = ((MAX_SHIFT - MIN_SHIFT) * SUB) as usize;

/// The bucket that `ns` falls into.
#[inline(always)]
pub const fn bucket_of(ns: u64) -> usize {
    if ns < MIN_NS {
        return 0;
    }
    if ns >= MAX_NS {
        return BUCKETS - 1;
    }
    // Binary search for the highest set bit: BPF has no count-leading-zeros instruction.
    let mut exponent = 0u32;
    let mut rest = ns;
    if rest >> 32 != 0 {
        rest >>= 32;
        exponent += 32;
    }
    if rest >> 16 != 0 {
        rest >>= 16;
        exponent += 16;
    }
    if rest >> 8 != 0 {
        rest >>= 8;
        exponent += 8;
    }
    if rest >> 4 != 0 {
        rest >>= 4;
        exponent += 4;
    }
    if rest >> 2 != 0 {
        rest >>= 2;
        exponent += 2;
    }
    if rest >> 1 != 0 {
        exponent += 1;
    }
    let sub = (ns >> (exponent - SUB_SHIFT)) as u32 & (SUB - 1);
    (((exponent - MIN_SHIFT) << SUB_SHIFT) + sub) as usize
}

/// The values `[low, high)` in nanoseconds that fall into `bucket`, clamping aside.
pub const fn bucket_range(bucket: usize) -> (u64, u64) {
    let bucket = if bucket >= BUCKETS {
        BUCKETS - 1
    } else {
        bucket
    };
    let exponent = (bucket as u32 >> SUB_SHIFT) + MIN_SHIFT;
    let sub = (bucket as u32 & (SUB - 1)) as u64;
    let width = 1u64 << (exponent - SUB_SHIFT);
    let low = (1u64 << exponent) + sub * width;
    (low, low + width)
}

/// The value that stands for a bucket: its middle.
pub const fn midpoint(bucket: usize) -> u64 {
    let (low, high) = bucket_range(bucket);
    low + (high - low) / 2
}

/// The rank, from 1, of the quantile `share` (0 to 1) of `count` values: ceil(`share` x `count`).
#[cfg(not(target_arch = "bpf"))] // which has no floating point
pub fn rank_of(share: f64, count: u64) -> u64 {
    let exact = share.clamp(0.0, 1.0) * count as f64;
    // 0.9 x 10 must not become rank 10 by the error of a product.
    let exact = exact - exact * 1e-12;
    let whole = exact as u64;
    let rank = whole + u64::from((whole as f64) < exact);
    rank.clamp(1, count.max(1))
}

/// The bucket that the value of `rank`, from 1, is in. `buckets`: index and count of each, ascending; empty ones
/// may be missing. `None` if they hold fewer values.
pub fn bucket_at_rank(buckets: impl IntoIterator<Item = (usize, u64)>, rank: u64) -> Option<usize> {
    let mut seen = 0u64;
    buckets.into_iter().find_map(|(bucket, count)| {
        seen = seen.saturating_add(count);
        (count > 0 && seen >= rank).then_some(bucket)
    })
}

/// The quantile `share` (0 to 1) of `count` values in `buckets`, as [`bucket_at_rank`] takes them, in
/// nanoseconds: the middle of its bucket, though never more than the longest, `max_ns`; 0 if there is none.
#[cfg(not(target_arch = "bpf"))]
pub fn quantile(
    buckets: impl IntoIterator<Item = (usize, u64)>,
    count: u64,
    share: f64,
    max_ns: u64,
) -> u64 {
    let bucket = bucket_at_rank(buckets, rank_of(share, count));
    bucket.map_or(0, |bucket| midpoint(bucket).min(max_ns))
}

/// Key of the driver-call histograms: one process, one operation, one device node.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallKey {
    /// Process id (thread group), in the initial pid namespace.
    pub tgid: u32,
    /// ioctl request number; that of the wrapped call where the driver's transfer ioctl wraps one.
    pub cmd: u32,
    /// Device number as the kernel keeps it: major << 20 | minor.
    pub rdev: u32,
    /// What the operation is about: the control command of RM_CONTROL, the class of RM_ALLOC; 0
    /// where the operation has none.
    pub code: u32,
}

impl CallKey {
    /// Where calls are counted once neither table has room for another key.
    pub const OVERFLOW: Self = Self {
        tgid: 0,
        cmd: u32::MAX,
        rdev: 0,
        code: 0,
    };

    /// [`Self::tgid`] of calls that are counted without their process.
    pub const OTHERS: u32 = u32::MAX;

    /// Where such a call is counted, with those of all other processes, while the table has no room for another key.
    pub const fn of_others(self) -> Self {
        Self {
            tgid: Self::OTHERS,
            ..self
        }
    }

    /// How many keys one process can have.
    pub const PER_TASK: u32 = 512;

    /// Where the calls of process `tgid` are counted once it has [`Self::PER_TASK`] keys: a program
    /// can make up any number of requests and codes.
    pub const fn rest_of(tgid: u32) -> Self {
        Self {
            tgid,
            ..Self::OVERFLOW
        }
    }
}

/// [`CallKey::cmd`] of an open(2) of a device file; no driver has an ioctl of this number.
pub const CMD_OPEN: u32 = 0xffff_fff0;
/// The same of the last close(2).
pub const CMD_CLOSE: u32 = 0xffff_fff1;
/// The same of an mmap(2).
pub const CMD_MMAP: u32 = 0xffff_fff2;

/// [`CallKey::code`] of a call whose parameters could not be read, or are too short for what they should be.
pub const CODE_UNREADABLE: u32 = 0xffff_fffe;

/// Key of the failure counts: a call, and the NV_STATUS that the driver answered.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FailureKey {
    /// The call.
    pub call: CallKey,
    /// NV_STATUS (nvstatuscodes.h), never 0.
    pub status: u32,
}

/// An open device file, by the address of its `struct file`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenFile {
    /// Address of the `struct file`.
    pub file: u64,
    /// The process that opened it (thread group).
    pub tgid: u32,
    /// Device number (major << 20 | minor).
    pub rdev: u32,
}

/// A call under way.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallStart {
    /// CLOCK_BOOTTIME at its start, nanoseconds; 0 between two calls of the thread.
    pub boottime_ns: u64,
    /// Address of NV_STATUS in the caller's memory, or 0.
    pub status_at: u64,
    /// As in [`CallKey`].
    pub cmd: u32,
    /// As in [`CallKey`].
    pub rdev: u32,
    /// As in [`CallKey`].
    pub code: u32,
    /// Client and object: see [`object_word`](crate::object_word).
    pub handles: [u32; 2],
    /// How many bytes before the status the driver writes the handle of a new object that it chooses itself; 0 where
    /// it chooses none.
    pub handle_before: u32,
    /// Address of the `struct file` whose device number `rdev` is, 0 where it is not known.
    pub file: u64,
    /// How many device files had been closed when `rdev` was read: an address can be of another file
    /// after that.
    pub closed: u64,
}

/// One driver-call histogram.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CallHist {
    /// Calls whose ioctl(2) returned an error.
    pub errors: u64,
    /// Calls whose ioctl(2) returned 0 and whose NV_STATUS is a failure.
    pub failures: u64,
    /// Sum of all latencies, nanoseconds.
    pub sum_ns: u64,
    /// Longest call, nanoseconds.
    pub max_ns: u64,
    /// Calls by [`bucket_of`] their latency.
    pub buckets: [u64; BUCKETS],
}

impl CallHist {
    /// No calls.
    pub const EMPTY: Self = Self {
        errors: 0,
        failures: 0,
        sum_ns: 0,
        max_ns: 0,
        buckets: [0; BUCKETS],
    };

    /// Calls. Each is in one bucket, so they need not be counted beside them.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }
}

const _: () = assert!(size_of::<CallKey>() == 16);
const _: () = assert!(size_of::<FailureKey>() == 20);
const _: () = assert!(size_of::<OpenFile>() == 16);
const _: () = assert!(size_of::<CallStart>() == 56);
const _: () = assert!(size_of::<CallHist>() == 32 + 8 * 896);

#[cfg(feature = "user")]
// SAFETY: repr(C), integers only, no padding (asserted above).
unsafe impl aya::Pod for CallKey {}
#[cfg(feature = "user")]
// SAFETY: repr(C), integers only, no padding (asserted above).
unsafe impl aya::Pod for FailureKey {}
#[cfg(feature = "user")]
// SAFETY: repr(C), integers only, no padding (asserted above).
unsafe impl aya::Pod for OpenFile {}
#[cfg(feature = "user")]
// SAFETY: repr(C), integers only, no padding (asserted above).
unsafe impl aya::Pod for CallStart {}
#[cfg(feature = "user")]
// SAFETY: repr(C), integers only, no padding (asserted above).
unsafe impl aya::Pod for CallHist {}

#[cfg(test)]
mod tests {
    use super::*;

    extern crate std;
    use proptest::prelude::*;

    fn check(ns: u64) {
        let bucket = bucket_of(ns);
        let (low, high) = bucket_range(bucket);
        if (MIN_NS..MAX_NS).contains(&ns) {
            assert!(low <= ns && ns < high, "{ns} in {low}..{high}");
            let error = ns.abs_diff(midpoint(bucket));
            assert!(error * 64 <= ns, "{ns}: midpoint is off by {error}");
        }
    }

    #[test]
    fn every_power_of_two_and_its_neighbours_keep_the_error_bound() {
        for shift in 0..64 {
            let power = 1u64 << shift;
            for ns in [power - 1, power, power.saturating_add(1)] {
                check(ns);
            }
        }
        assert_eq!(bucket_of(0), 0);
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn buckets_touch_without_gap_or_overlap() {
        for bucket in 1..BUCKETS {
            assert_eq!(bucket_range(bucket - 1).1, bucket_range(bucket).0);
        }
        assert_eq!(bucket_range(0).0, MIN_NS);
        assert_eq!(bucket_range(BUCKETS - 1).1, MAX_NS);
    }

    #[test]
    fn ranks_are_counted_from_one_and_not_moved_by_the_error_of_a_product() {
        for (share, count, rank) in [
            (0.9, 10, 9),
            (0.99, 100, 99),
            (0.5, 3, 2),
            (0.0, 7, 1),
            (1.0, 7, 7),
            (2.0, 7, 7),
            (0.5, 0, 1),
        ] {
            assert_eq!(rank_of(share, count), rank, "{share} of {count}");
        }
    }

    #[test]
    fn a_quantile_is_that_of_its_bucket_and_at_most_the_longest() {
        let buckets = [(3, 5), (4, 0), (40, 4), (50, 1)];
        assert_eq!(bucket_at_rank(buckets, 5), Some(3));
        assert_eq!(bucket_at_rank(buckets, 6), Some(40));
        assert_eq!(bucket_at_rank(buckets, 11), None);
        assert_eq!(quantile(buckets, 10, 0.9, u64::MAX), midpoint(40));
        assert_eq!(quantile(buckets, 10, 1.0, 9), 9);
        assert_eq!(quantile([], 0, 0.5, 9), 0);
    }

    proptest! {
        #[test]
        fn any_value_keeps_the_error_bound(ns: u64) {
            check(ns);
        }

        #[test]
        fn a_longer_time_never_falls_into_a_lower_bucket(a: u64, b: u64) {
            let (a, b) = (a.min(b), a.max(b));
            prop_assert!(bucket_of(a) <= bucket_of(b));
        }
    }
}
