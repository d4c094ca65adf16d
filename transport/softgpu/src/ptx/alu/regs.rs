//! The registers of a warp.
#![allow(unsafe_code)] // A register of 64 bits is seen through two units.

use super::super::types::Class;
use super::WARP;

/// A word of 32 bits for each lane. A register of 64 bits takes two units, which then are 32 words of 64
/// bits; of a predicate the first word of a unit has a bit a lane.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Unit(pub(crate) [u32; WARP]);

impl Unit {
    pub(crate) const ZERO: Self = Self([0; WARP]);
}

/// Registers, addressed by the number of their first unit ("slot").
#[derive(Debug, Default)]
pub(crate) struct Regs {
    /// The last one is the mask that was used last, all ones for each lane that has a bit.
    units: Box<[Unit]>,
    expanded: u32,
}

impl Regs {
    /// So many units, all zero.
    pub(crate) fn new(units: u32) -> Self {
        Self {
            units: vec![Unit::ZERO; units as usize + 1].into_boxed_slice(),
            expanded: 0,
        }
    }

    /// Sets the first units to zero.
    pub(crate) fn clear(&mut self, units: u32) {
        self.units[..units as usize].fill(Unit::ZERO);
    }

    /// Writes the lanes of a mask to a register of 32 bits.
    #[inline(always)]
    pub(crate) fn write_narrow(&mut self, slot: u32, from: &[u32; WARP], mask: u32) {
        if mask == u32::MAX {
            *self.narrow_mut(slot) = *from;
            return;
        }
        self.expand(mask);
        if let [units @ .., lanes] = &mut *self.units {
            let to = &mut units[slot as usize].0;
            for i in 0..WARP {
                to[i] = from[i] & lanes.0[i] | to[i] & !lanes.0[i];
            }
        }
    }

    /// Writes the lanes of a mask to a register of 64 bits.
    #[inline(always)]
    pub(crate) fn write_wide(&mut self, slot: u32, from: &[u64; WARP], mask: u32) {
        if mask == u32::MAX {
            *self.wide_mut(slot) = *from;
            return;
        }
        self.expand(mask);
        if let [units @ .., lanes] = &mut *self.units {
            let units = &mut units[slot as usize..slot as usize + 2];
            // SAFETY: as in `wide_mut`.
            let to: &mut [u64; WARP] = unsafe { &mut *units.as_mut_ptr().cast() };
            for i in 0..WARP {
                let lane = i64::from(lanes.0[i].cast_signed()).cast_unsigned();
                to[i] = from[i] & lane | to[i] & !lane;
            }
        }
    }

    /// Has the last unit say which lanes a mask has. Mostly it does already.
    #[inline(always)]
    fn expand(&mut self, mask: u32) {
        if self.expanded == mask {
            return;
        }
        self.expanded = mask;
        if let Some(lanes) = self.units.last_mut() {
            for (i, lane) in lanes.0.iter_mut().enumerate() {
                *lane = (mask >> i & 1).wrapping_neg();
            }
        }
    }

    /// A register of 32 bits.
    #[inline(always)]
    pub(crate) fn narrow(&self, slot: u32) -> &[u32; WARP] {
        &self.units[slot as usize].0
    }

    #[inline(always)]
    pub(crate) fn narrow_mut(&mut self, slot: u32) -> &mut [u32; WARP] {
        &mut self.units[slot as usize].0
    }

    /// A register of 64 bits.
    #[inline(always)]
    pub(crate) fn wide(&self, slot: u32) -> &[u64; WARP] {
        let units = &self.units[slot as usize..slot as usize + 2];
        // SAFETY: two units are 32 words of 64 bits, aligned to 64 bytes, and any bits are a number.
        unsafe { &*units.as_ptr().cast() }
    }

    #[inline(always)]
    pub(crate) fn wide_mut(&mut self, slot: u32) -> &mut [u64; WARP] {
        let units = &mut self.units[slot as usize..slot as usize + 2];
        // SAFETY: as above; the borrow is of both units.
        unsafe { &mut *units.as_mut_ptr().cast() }
    }

    /// A predicate, a bit a lane.
    #[inline(always)]
    pub(crate) fn mask(&self, slot: u32) -> u32 {
        self.units[slot as usize].0[0]
    }

    /// Sets a predicate for the lanes of a mask.
    #[inline(always)]
    pub(crate) fn set_mask(&mut self, slot: u32, mask: u32, value: u32) {
        let word = &mut self.units[slot as usize].0[0];
        *word = *word & !mask | value & mask;
    }

    /// What a lane has in a register; a predicate is 0 or 1.
    pub(crate) fn get(&self, slot: u32, class: Class, lane: usize) -> u64 {
        match class {
            Class::Pred => u64::from(self.mask(slot) >> lane & 1),
            Class::Narrow => u64::from(self.narrow(slot)[lane]),
            Class::Wide => self.wide(slot)[lane],
        }
    }

    /// Sets what a lane has in a register, to the low bits of `value`.
    pub(crate) fn put(&mut self, slot: u32, class: Class, lane: usize, value: u64) {
        match class {
            Class::Pred => self.set_mask(slot, 1 << lane, (value as u32 & 1) << lane),
            Class::Narrow => self.narrow_mut(slot)[lane] = value as u32,
            Class::Wide => self.wide_mut(slot)[lane] = value,
        }
    }

    /// Sets all lanes.
    pub(crate) fn fill(&mut self, slot: u32, class: Class, value: u64) {
        match class {
            Class::Pred => self.set_mask(slot, u32::MAX, if value & 1 != 0 { u32::MAX } else { 0 }),
            Class::Narrow => *self.narrow_mut(slot) = [value as u32; WARP],
            Class::Wide => *self.wide_mut(slot) = [value; WARP],
        }
    }
}
