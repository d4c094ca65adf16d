//! What all lanes of a warp access at once: one check for all of them, then loads and stores without any.
#![allow(unsafe_code)] // Reads and writes what was checked.

use super::super::alu::{WARP, each};
use super::super::program::Element;
use super::vectors;

/// A range of memory: addresses `start..start + len` lie at `host`, for each lane `stride` bytes further.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub(super) start: u64,
    pub(super) len: u64,
    pub(super) host: *mut u8,
    pub(super) stride: u64,
}

/// Where the lanes' accesses lie in a span, of which all that count are within it and aligned.
pub(super) enum Within<'o> {
    /// All lanes count, and are side by side from here on.
    Row(*mut u8),
    /// Each at its own offset from the host address.
    Each(*mut u8, &'o [u64; WARP]),
}

/// The addresses of the lanes without the offset that is the same for all.
#[derive(Clone, Copy)]
pub(super) enum Base<'r> {
    Narrow(&'r [u32; WARP]),
    Wide(&'r [u64; WARP]),
}

impl Base<'_> {
    /// The address of a lane. Those of 32 bits wrap around.
    #[inline(always)]
    pub(super) fn address(self, lane: usize, offset: u64) -> u64 {
        match self {
            Self::Narrow(words) => u64::from(words[lane].wrapping_add(offset as u32)),
            Self::Wide(words) => words[lane].wrapping_add(offset),
        }
    }
}

/// Whether each lane's word is `len` behind that of the lane before, and that of the first does not wrap
/// around on the way.
#[inline(always)]
pub(super) fn is_row_narrow(words: &[u32; WARP], len: u32) -> bool {
    let mut other = 0;
    for (lane, word) in words.iter().enumerate() {
        other |= word ^ words[0].wrapping_add(lane as u32 * len);
    }
    other == 0 && words[0] < 1 << 31
}

/// The same of words of 64 bits.
#[inline(always)]
pub(super) fn is_row_wide(words: &[u64; WARP], len: u64) -> bool {
    let mut other = 0;
    for (lane, word) in words.iter().enumerate() {
        other |= word ^ words[0].wrapping_add(lane as u64 * len);
    }
    other == 0
}

/// A check of all lanes: `limit` is the last offset from `start` at which an access may begin.
#[derive(Clone, Copy)]
pub(super) struct Check {
    offset: u64,
    start: u64,
    limit: u64,
}

/// Puts the offsets of all addresses from the start. What comes back has the highest bit set if one is
/// beyond the limit, and the low bits of all addresses.
#[inline(always)]
pub(super) fn check_wide(words: &[u64; WARP], check: Check, offsets: &mut [u64; WARP]) -> u64 {
    let Check {
        offset,
        start,
        limit,
    } = check;
    let (mut beyond, mut bits) = (0, 0);
    for (place, word) in offsets.iter_mut().zip(words) {
        let address = word.wrapping_add(offset);
        let inside = address.wrapping_sub(start);
        beyond |= inside | limit.wrapping_sub(inside);
        bits |= address;
        *place = inside;
    }
    beyond & 1 << 63 | bits & 0xff
}

/// The same of addresses of 32 bits, which begin at 0.
#[inline(always)]
pub(super) fn check_narrow(words: &[u32; WARP], check: Check, offsets: &mut [u64; WARP]) -> u64 {
    let (offset, limit) = (check.offset as u32, check.limit as u32);
    let (mut beyond, mut bits) = (0, 0);
    for (place, word) in offsets.iter_mut().zip(words) {
        let inside = word.wrapping_add(offset);
        beyond |= inside | limit.wrapping_sub(inside);
        bits |= inside;
        *place = u64::from(inside);
    }
    u64::from(beyond >> 31) << 63 | u64::from(bits & 0xff)
}

impl Span {
    /// Where the accesses of `len` bytes of the lanes of a mask lie, their offsets put aside; None if one is
    /// misaligned or beyond the span.
    pub(super) fn within<'o>(
        &self,
        base: Base<'_>,
        offset: u64,
        len: u32,
        mask: u32,
        offsets: &'o mut [u64; WARP],
    ) -> Option<Within<'o>> {
        let limit = self.len.checked_sub(u64::from(len))?;
        let low_bits = u64::from(len - 1);
        if mask != u32::MAX {
            let mut fits = true;
            each(mask, |lane| {
                let address = base.address(lane, offset);
                let inside = address.wrapping_sub(self.start);
                fits &= inside <= limit && address & low_bits == 0;
                offsets[lane] = inside.wrapping_add(lane as u64 * self.stride);
            });
            return fits.then_some(Within::Each(self.host, offsets));
        }
        // Most that are no row are found out by their ends.
        let ends = base.address(WARP - 1, 0).wrapping_sub(base.address(0, 0));
        let rest = u64::from(len) * (WARP as u64 - 1);
        if self.stride == 0 && ends == rest && vectors::is_row(base, len) {
            let address = base.address(0, offset);
            let inside = address.wrapping_sub(self.start);
            let fits = inside <= limit && rest <= limit - inside && address & low_bits == 0;
            return fits.then(|| Within::Row(self.host.wrapping_add(inside as usize)));
        }
        // Addresses of 32 bits are those of memory that begins at 0 and is smaller than half of what they reach.
        if let Base::Narrow(_) = base
            && (self.start != 0 || limit >> 31 != 0)
        {
            return None;
        }
        let check = Check {
            offset,
            start: self.start,
            limit,
        };
        let found = vectors::check(base, check, offsets);
        if found >> 63 != 0 || found & low_bits != 0 {
            return None;
        }
        if self.stride != 0 {
            for (lane, offset) in offsets.iter_mut().enumerate() {
                *offset += lane as u64 * self.stride;
            }
        }
        Some(Within::Each(self.host, offsets))
    }
}

/// A number as memory holds it.
trait Number: Copy {
    type Word: Copy;
    const SIZE: usize = size_of::<Self>();

    fn widen(self) -> Self::Word;
    fn narrow(word: Self::Word) -> Self;
}

macro_rules! number {
    ($($ty:ty: $word:ty, $through:ty);*) => {$(
        impl Number for $ty {
            type Word = $word;
            #[inline(always)]
            fn widen(self) -> $word { self as $through as $word }
            #[inline(always)]
            fn narrow(word: $word) -> Self { word as Self }
        }
    )*};
}
number!(
    u8: u32, u32; i8: u32, i32; u16: u32, u32; i16: u32, i32; u32: u32, u32; i32: u32, i32; u64: u64, u64
);

impl Within<'_> {
    /// Address of a lane's access.
    #[inline(always)]
    fn place(&self, lane: usize, len: usize) -> *mut u8 {
        match self {
            Self::Row(row) => row.wrapping_add(lane * len),
            Self::Each(host, offsets) => host.wrapping_add(offsets[lane] as usize),
        }
    }

    /// Loads `T` from `at` bytes behind the start of each access of `len` bytes.
    fn load<T: Number>(&self, to: &mut [T::Word; WARP], at: usize, len: usize, mask: u32) {
        match self {
            Self::Row(row) if len == T::SIZE => {
                // SAFETY: all of the row was checked (`Span::within`). Other threads of the host that write
                // there while this reads race on a device too (`Memory`).
                let values: [T; WARP] = unsafe { row.cast::<[T; WARP]>().read_unaligned() };
                for (to, value) in to.iter_mut().zip(values) {
                    *to = value.widen();
                }
            }
            Self::Each(host, offsets) if mask == u32::MAX => {
                for (to, offset) in to.iter_mut().zip(*offsets) {
                    let place = host.wrapping_add(*offset as usize + at).cast::<T>();
                    // SAFETY: the access was checked. It is written as volatile because vectors, which the
                    // compiler would collect the words in, take longer.
                    unsafe { std::ptr::write_volatile(to, place.read().widen()) };
                }
            }
            _ => each(mask, |lane| {
                let place = self.place(lane, len).wrapping_add(at).cast::<T>();
                // SAFETY: the lane counts, so that its access was checked.
                to[lane] = unsafe { place.read() }.widen();
            }),
        }
    }

    /// Stores a register as `T`; who comes later wins.
    fn store<T: Number>(&self, from: &[T::Word; WARP], at: usize, len: usize, mask: u32) {
        match self {
            Self::Row(row) if len == T::SIZE => {
                let values = from.map(T::narrow);
                // SAFETY: as in `load`; the span is writable, which was asked for.
                unsafe { row.cast::<[T; WARP]>().write_unaligned(values) };
            }
            _ => each(mask, |lane| {
                let place = self.place(lane, len).wrapping_add(at).cast::<T>();
                // SAFETY: the lane counts, so that its access was checked, and the span is writable.
                unsafe { place.write(T::narrow(from[lane])) };
            }),
        }
    }

    /// Replaces the number of `size` bytes at a lane's place; the value before comes back. Only for memory
    /// that no other thread of the host has.
    #[inline(always)]
    pub(super) fn update(&self, lane: usize, size: u32, update: impl FnOnce(u64) -> u64) -> u64 {
        let place = self.place(lane, size as usize);
        macro_rules! with {
            ($ty:ty) => {{
                let place = place.cast::<$ty>();
                // SAFETY: the lane counts, so that its access was checked, and the span is writable.
                unsafe {
                    let before = place.read();
                    place.write(update(u64::from(before)) as $ty);
                    u64::from(before)
                }
            }};
        }
        match size {
            2 => with!(u16),
            4 => with!(u32),
            _ => with!(u64),
        }
    }
}

/// Where a register is: narrow or wide.
pub(super) enum Words<'r> {
    Narrow(&'r mut [u32; WARP]),
    Wide(&'r mut [u64; WARP]),
}

/// Loads a register.
pub(super) fn load(
    within: &Within<'_>,
    element: Element,
    to: Words<'_>,
    (at, len): (usize, usize),
    mask: u32,
) {
    match (to, element) {
        (Words::Wide(to), _) => within.load::<u64>(to, at, len, mask),
        (Words::Narrow(to), Element::U8) => within.load::<u8>(to, at, len, mask),
        (Words::Narrow(to), Element::S8) => within.load::<i8>(to, at, len, mask),
        (Words::Narrow(to), Element::U16) => within.load::<u16>(to, at, len, mask),
        (Words::Narrow(to), Element::S16) => within.load::<i16>(to, at, len, mask),
        (Words::Narrow(to), _) => within.load::<u32>(to, at, len, mask),
    }
}

/// Stores a register of 32 bits as `size` bytes.
pub(super) fn store_narrow(
    within: &Within<'_>,
    size: u32,
    from: &[u32; WARP],
    (at, len): (usize, usize),
    mask: u32,
) {
    match size {
        1 => within.store::<u8>(from, at, len, mask),
        2 => within.store::<u16>(from, at, len, mask),
        _ => within.store::<u32>(from, at, len, mask),
    }
}

/// Stores a register of 64 bits.
pub(super) fn store_wide(
    within: &Within<'_>,
    from: &[u64; WARP],
    (at, len): (usize, usize),
    mask: u32,
) {
    within.store::<u64>(from, at, len, mask);
}
