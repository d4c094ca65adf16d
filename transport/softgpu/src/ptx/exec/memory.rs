//! Loads, stores and atomics of a warp in all spaces.

use std::sync::atomic::Ordering;

use super::super::alu::{Lanes, Operands, each};
use super::super::program::{Access, Element, NONE, Place};
use super::super::types::window;
use super::Trouble;
use super::bytes::{Plain, get, put, range, widen};
use super::host::{Cell, Checked, Reach};

/// Memory as the lanes of a warp see it.
pub(super) struct View<'v, 'm> {
    pub(super) reach: &'v mut Reach<'m>,
    pub(super) shared: &'v mut [u8],
    /// Stacks of the 32 lanes, one behind the other.
    pub(super) local: &'v mut [u8],
    /// Bytes of one lane's stack.
    pub(super) stride: u32,
    pub(super) params: &'v [u8],
}

/// Where an address leads.
pub(super) enum Spot {
    Global(Checked),
    Shared(usize),
    Local(usize),
    Param(usize),
}

fn order(access: &Access, write: bool) -> Ordering {
    match (access.ordered, write) {
        (false, _) => Ordering::Relaxed,
        (true, false) => Ordering::Acquire,
        (true, true) => Ordering::Release,
    }
}

impl View<'_, '_> {
    pub(super) fn spot(
        &mut self,
        place: Place,
        lane: usize,
        address: u64,
        len: u32,
        write: bool,
        hint: u32,
    ) -> Result<Spot, Trouble> {
        self.reach.lane = lane;
        let (place, offset) = match place {
            Place::Generic => match address & window::MASK {
                0 => (Place::Global, address),
                window::SHARED => (Place::Shared, address & !window::MASK),
                window::LOCAL => (Place::Local, address & !window::MASK),
                window::PARAM => (Place::Param, address & !window::MASK),
                _ => {
                    return Err(Trouble::IllegalAddress {
                        address,
                        len,
                        write,
                    });
                }
            },
            // ld.param with an address in a register: the address may be generic.
            Place::Param | Place::Local if address & window::MASK != 0 => {
                let place = match address & window::MASK {
                    window::PARAM => Place::Param,
                    window::LOCAL => Place::Local,
                    _ => {
                        return Err(Trouble::IllegalAddress {
                            address,
                            len,
                            write,
                        });
                    }
                };
                (place, address & !window::MASK)
            }
            // Addresses of shared memory may be computed in 32 bits.
            Place::Shared => (Place::Shared, address & !window::SHARED),
            other => (other, address),
        };
        if !address.is_multiple_of(u64::from(len)) {
            return Err(Trouble::Misaligned { address, len });
        }
        let spot = match place {
            Place::Shared => range(offset, len, self.shared.len()).map(Spot::Shared),
            Place::Local => range(offset, len, self.stride as usize)
                .map(|at| Spot::Local(at + lane * self.stride as usize)),
            Place::Param if !write => range(offset, len, self.params.len()).map(Spot::Param),
            Place::Global => self
                .reach
                .check(offset, u64::from(len), write, hint)
                .map(Spot::Global),
            _ => None,
        };
        spot.ok_or(Trouble::IllegalAddress {
            address,
            len,
            write,
        })
    }

    /// Whether all of `mask` is active and its addresses lie in one region of global memory: then a
    /// single check is enough. Gives the lowest address and the bytes there.
    fn together(
        &mut self,
        addresses: &Lanes,
        len: u32,
        write: bool,
        hint: u32,
    ) -> Option<(u64, Checked)> {
        let (mut low, mut high, mut bits) = (u64::MAX, 0, 0);
        for address in &addresses.0 {
            low = low.min(*address);
            high = high.max(*address);
            bits |= *address;
        }
        if high & window::MASK != 0 || bits & u64::from(len - 1) != 0 {
            return None;
        }
        let span = (high - low).checked_add(u64::from(len))?;
        Some((low, self.reach.check(low, span, write, hint)?))
    }

    /// The bytes of shared or local memory, if all addresses of `mask` are aligned and within.
    #[inline]
    fn own(&self, place: Place, addresses: &Lanes, len: u32, mask: u32) -> Option<&[u8]> {
        let (bytes, size): (&[u8], usize) = match place {
            Place::Shared => (self.shared, self.shared.len()),
            Place::Local => (self.local, self.stride as usize),
            _ => return None,
        };
        let (mut high, mut bits) = (0, 0);
        if mask == u32::MAX {
            for address in &addresses.0 {
                high = high.max(*address);
                bits |= *address;
            }
        } else {
            each(mask, |lane| {
                high = high.max(addresses.0[lane]);
                bits |= addresses.0[lane];
            });
        }
        let end = high.checked_add(u64::from(len))?;
        (end <= size as u64 && bits & u64::from(len - 1) == 0).then_some(bytes)
    }

    /// Bytes from the memory of one lane to that of the next.
    fn starts(&self, place: Place) -> usize {
        if place == Place::Local {
            self.stride as usize
        } else {
            0
        }
    }

    /// A parameter of the kernel is the same for all lanes: one read. False: not so.
    fn splat(&self, regs: &mut [Lanes], addresses: &Lanes, access: &Access) -> bool {
        let size = access.element.size();
        let address = addresses.0[0];
        let aligned = address.is_multiple_of(u64::from(size * access.count));
        let at = range(address, size * access.count, self.params.len());
        let (true, Some(at)) = (aligned && addresses.0.iter().all(|a| *a == address), at) else {
            return false;
        };
        for (part, slot) in access.slots.iter().take(access.count as usize).enumerate() {
            if *slot != NONE {
                let value = get(self.params, at + part * size as usize, size);
                regs[*slot as usize] = Lanes([widen(access.element, value); 32]);
            }
        }
        true
    }

    fn addresses(regs: &[Lanes], o: &Operands, offset: u64) -> Lanes {
        let mut out = Lanes::ZERO;
        for (out, base) in out.0.iter_mut().zip(&regs[o.a as usize].0) {
            *out = base.wrapping_add(offset);
        }
        out
    }

    pub(super) fn load(
        &mut self,
        regs: &mut [Lanes],
        o: &Operands,
        access: &Access,
        mask: u32,
        hint: u32,
    ) -> Result<(), Trouble> {
        let size = access.element.size();
        let len = size * access.count;
        let addresses = Self::addresses(regs, o, access.offset);
        if mask == u32::MAX
            && matches!(access.place, Place::Global | Place::Generic)
            && let Some((low, checked)) = self.together(&addresses, len, false, hint)
        {
            let order = order(access, false);
            for (part, slot) in access.slots.iter().take(access.count as usize).enumerate() {
                if *slot == NONE {
                    continue;
                }
                let at = part * size as usize;
                let out = &mut regs[*slot as usize];
                macro_rules! all {
                    ($ty:ty) => {
                        for (out, address) in out.0.iter_mut().zip(&addresses.0) {
                            *out = <$ty>::load(checked, (address - low) as usize + at, order);
                        }
                    };
                }
                match access.element {
                    Element::U8 => all!(u8),
                    Element::S8 => all!(i8),
                    Element::U16 => all!(u16),
                    Element::S16 => all!(i16),
                    Element::U32 => all!(u32),
                    Element::S32 => all!(i32),
                    Element::U64 => all!(u64),
                }
            }
            return Ok(());
        }
        if access.place == Place::Param && mask == u32::MAX && self.splat(regs, &addresses, access)
        {
            return Ok(());
        }
        if let Some(bytes) = self.own(access.place, &addresses, len, mask) {
            let starts = self.starts(access.place);
            for (part, slot) in access.slots.iter().take(access.count as usize).enumerate() {
                if *slot == NONE {
                    continue;
                }
                let at = part * size as usize;
                let out = &mut regs[*slot as usize].0;
                macro_rules! all {
                    ($ty:ty) => {
                        each(mask, |i| {
                            let at = starts * i + addresses.0[i] as usize + at;
                            out[i] = <$ty>::take(bytes, at);
                        })
                    };
                }
                match access.element {
                    Element::U8 => all!(u8),
                    Element::S8 => all!(i8),
                    Element::U16 => all!(u16),
                    Element::S16 => all!(i16),
                    Element::U32 => all!(u32),
                    Element::S32 => all!(i32),
                    Element::U64 => all!(u64),
                }
            }
            return Ok(());
        }
        let mut trouble = None;
        each(mask, |lane| {
            if trouble.is_some() {
                return;
            }
            let address = addresses.0[lane];
            match self.spot(access.place, lane, address, len, false, hint) {
                Ok(spot) => {
                    for part in 0..access.count {
                        let slot = access.slots[part as usize];
                        if slot != NONE {
                            let value = self.get(&spot, (part * size) as usize, size, access);
                            regs[slot as usize].0[lane] = widen(access.element, value);
                        }
                    }
                }
                Err(found) => trouble = Some(found),
            }
        });
        trouble.map_or(Ok(()), Err)
    }

    fn get(&self, spot: &Spot, at: usize, size: u32, access: &Access) -> u64 {
        let order = order(access, false);
        match spot {
            Spot::Global(checked) => match size {
                1 => u8::load(*checked, at, order),
                2 => u16::load(*checked, at, order),
                4 => u32::load(*checked, at, order),
                _ => u64::load(*checked, at, order),
            },
            Spot::Shared(offset) => get(self.shared, offset + at, size),
            Spot::Local(offset) => get(self.local, offset + at, size),
            Spot::Param(offset) => get(self.params, offset + at, size),
        }
    }

    pub(super) fn store(
        &mut self,
        regs: &mut [Lanes],
        o: &Operands,
        access: &Access,
        mask: u32,
        hint: u32,
    ) -> Result<(), Trouble> {
        let size = access.element.size();
        let len = size * access.count;
        let addresses = Self::addresses(regs, o, access.offset);
        let order = order(access, true);
        if mask == u32::MAX
            && matches!(access.place, Place::Global | Place::Generic)
            && let Some((low, checked)) = self.together(&addresses, len, true, hint)
        {
            for (part, slot) in access.slots.iter().take(access.count as usize).enumerate() {
                let at = part * size as usize;
                let values = &regs[*slot as usize];
                macro_rules! all {
                    ($ty:ty) => {
                        for (value, address) in values.0.iter().zip(&addresses.0) {
                            <$ty>::store(checked, (address - low) as usize + at, *value, order);
                        }
                    };
                }
                match size {
                    1 => all!(u8),
                    2 => all!(u16),
                    4 => all!(u32),
                    _ => all!(u64),
                }
            }
            return Ok(());
        }
        if self.own(access.place, &addresses, len, mask).is_some() {
            let starts = self.starts(access.place);
            let bytes: &mut [u8] = if access.place == Place::Shared {
                self.shared
            } else {
                self.local
            };
            for (part, slot) in access.slots.iter().take(access.count as usize).enumerate() {
                let at = part * size as usize;
                let values = &regs[*slot as usize].0;
                macro_rules! all {
                    ($ty:ty) => {
                        each(mask, |i| {
                            let at = starts * i + addresses.0[i] as usize + at;
                            <$ty>::give(bytes, at, values[i]);
                        })
                    };
                }
                match size {
                    1 => all!(u8),
                    2 => all!(u16),
                    4 => all!(u32),
                    _ => all!(u64),
                }
            }
            return Ok(());
        }
        let mut trouble = None;
        each(mask, |lane| {
            if trouble.is_some() {
                return;
            }
            match self.spot(access.place, lane, addresses.0[lane], len, true, hint) {
                Ok(spot) => {
                    for part in 0..access.count {
                        let value = regs[access.slots[part as usize] as usize].0[lane];
                        let at = (part * size) as usize;
                        match &spot {
                            Spot::Global(checked) => match size {
                                1 => u8::store(*checked, at, value, order),
                                2 => u16::store(*checked, at, value, order),
                                4 => u32::store(*checked, at, value, order),
                                _ => u64::store(*checked, at, value, order),
                            },
                            Spot::Shared(offset) => put(self.shared, offset + at, size, value),
                            Spot::Local(offset) => put(self.local, offset + at, size, value),
                            Spot::Param(_) => {}
                        }
                    }
                }
                Err(found) => trouble = Some(found),
            }
        });
        trouble.map_or(Ok(()), Err)
    }

    /// One byte at a generic address.
    pub(super) fn byte(&mut self, lane: usize, address: u64, hint: u32) -> Result<u8, Trouble> {
        Ok(self.read(lane, address, 1, hint)? as u8)
    }

    /// A number of 1 to 8 bytes at a generic address.
    pub(super) fn read(
        &mut self,
        lane: usize,
        address: u64,
        len: u32,
        hint: u32,
    ) -> Result<u64, Trouble> {
        let access = Access {
            place: Place::Generic,
            element: Element::U8,
            count: 1,
            slots: [NONE; 8],
            offset: 0,
            ordered: false,
        };
        let spot = self.spot(Place::Generic, lane, address, len, false, hint)?;
        Ok(self.get(&spot, 0, len, &access))
    }
}
