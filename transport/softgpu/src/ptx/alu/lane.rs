//! Types of values, and how the lanes of a register hold them.

use super::{Regs, WARP};

/// A type that registers are read as.
pub(crate) trait Read: Copy {
    /// All lanes of a register.
    type Lanes<'r>: Copy;

    fn lanes(regs: &Regs, slot: u32) -> Self::Lanes<'_>;
    fn lane(lanes: Self::Lanes<'_>, at: usize) -> Self;
}

/// A type of results.
pub(crate) trait Write: Copy {
    type Lanes;
    const ZERO: Self::Lanes;

    fn put(self, lanes: &mut Self::Lanes, at: usize);

    /// Writes the lanes of a mask to a register. `pack` makes a mask of the highest bits of words.
    fn write(
        lanes: &Self::Lanes,
        regs: &mut Regs,
        slot: u32,
        mask: u32,
        pack: impl Fn(&[u32; WARP]) -> u32,
    );

    /// Writes one lane to a register.
    fn set(self, regs: &mut Regs, slot: u32, lane: usize);
}

macro_rules! lane {
    ($ty:ty, $word:ty, $read:ident, $set:ident, $write:ident, |$bits:ident| $of:expr, |$value:ident| $to:expr) => {
        impl Read for $ty {
            type Lanes<'r> = &'r [$word; WARP];

            #[inline(always)]
            fn lanes(regs: &Regs, slot: u32) -> Self::Lanes<'_> {
                regs.$read(slot)
            }

            #[inline(always)]
            fn lane(lanes: Self::Lanes<'_>, at: usize) -> Self {
                let $bits = lanes[at];
                $of
            }
        }

        impl Write for $ty {
            type Lanes = [$word; WARP];
            const ZERO: Self::Lanes = [0; WARP];

            #[inline(always)]
            fn put(self, lanes: &mut Self::Lanes, at: usize) {
                let $value = self;
                lanes[at] = $to;
            }

            #[inline(always)]
            fn write(
                lanes: &Self::Lanes,
                regs: &mut Regs,
                slot: u32,
                mask: u32,
                _: impl Fn(&[u32; WARP]) -> u32,
            ) {
                regs.$write(slot, lanes, mask);
            }

            #[inline(always)]
            fn set(self, regs: &mut Regs, slot: u32, lane: usize) {
                let $value = self;
                regs.$set(slot)[lane] = $to;
            }
        }
    };
}

macro_rules! integers {
    ($($ty:ty),*; $word:ty, $signed:ty, $read:ident, $set:ident, $write:ident) => {$(
        // Signed types are extended by their sign.
        lane!($ty, $word, $read, $set, $write, |bits| bits as Self, |value| value as $signed as $word);
    )*};
}
integers!(u8, u16, u32, i8, i16, i32; u32, i32, narrow, narrow_mut, write_narrow);
integers!(u64, i64; u64, i64, wide, wide_mut, write_wide);
lane!(
    f32,
    u32,
    narrow,
    narrow_mut,
    write_narrow,
    |bits| Self::from_bits(bits),
    |value| value.to_bits()
);
lane!(
    f64,
    u64,
    wide,
    wide_mut,
    write_wide,
    |bits| Self::from_bits(bits),
    |value| value.to_bits()
);

impl Read for bool {
    type Lanes<'r> = u32;

    #[inline(always)]
    fn lanes(regs: &Regs, slot: u32) -> u32 {
        regs.mask(slot)
    }

    #[inline(always)]
    fn lane(lanes: u32, at: usize) -> Self {
        lanes >> at & 1 != 0
    }
}

impl Write for bool {
    type Lanes = [u32; WARP];
    const ZERO: Self::Lanes = [0; WARP];

    #[inline(always)]
    fn put(self, lanes: &mut Self::Lanes, at: usize) {
        lanes[at] = if self { u32::MAX } else { 0 };
    }

    #[inline(always)]
    fn write(
        lanes: &Self::Lanes,
        regs: &mut Regs,
        slot: u32,
        mask: u32,
        pack: impl Fn(&[u32; WARP]) -> u32,
    ) {
        regs.set_mask(slot, mask, pack(lanes));
    }

    #[inline(always)]
    fn set(self, regs: &mut Regs, slot: u32, lane: usize) {
        regs.set_mask(slot, 1 << lane, u32::from(self) << lane);
    }
}
