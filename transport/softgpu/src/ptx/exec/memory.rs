//! Loads, stores and atomics of a warp in all spaces.

use std::sync::atomic::Ordering;

use super::super::alu::{Operands, Regs, WARP, lanes_of};
use super::super::program::{Access, Element, NONE, Place};
use super::super::types::{Class, window};
use super::Trouble;
use super::bytes::{get, put, range, widen};
use super::host::{self, Checked, Reach};
use super::span::{self, Base, Span, Within, Words};

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

/// The class of the registers for an element of memory.
pub(super) fn class(element: Element) -> Class {
    match element {
        Element::U64 => Class::Wide,
        _ => Class::Narrow,
    }
}

/// Whether other threads of the host may reach this memory.
fn leaves_block(place: Place) -> bool {
    matches!(place, Place::Global | Place::Generic)
}

/// The register with the addresses.
#[inline(always)]
pub(super) fn base<'r>(regs: &'r Regs, o: &Operands, class: Class) -> Base<'r> {
    match class {
        Class::Wide => Base::Wide(regs.wide(o.a)),
        _ => Base::Narrow(regs.narrow(o.a)),
    }
}

pub(super) fn addresses(regs: &Regs, o: &Operands, class: Class, offset: u64) -> [u64; WARP] {
    let base = base(regs, o, class);
    std::array::from_fn(|lane| base.address(lane, offset))
}

impl View<'_, '_> {
    pub(super) fn spot(
        &mut self,
        place: Place,
        lane: usize,
        address: u64,
        len: u32,
        write: bool,
    ) -> Result<Spot, Trouble> {
        self.reach.lane = lane;
        let (place, offset) = match place {
            Place::Generic => match address & window::MASK {
                0 => (Place::Global, address),
                window::SHARED => (Place::Shared, address & !window::MASK),
                window::LOCAL => (Place::Local, address & !window::MASK),
                window::PARAM => (Place::Param, address & !window::MASK),
                _ => return Err(Trouble::illegal(address, len, write)),
            },
            // ld.param with an address in a register: the address may be generic.
            Place::Param | Place::Local if address & window::MASK != 0 => {
                let place = match address & window::MASK {
                    window::PARAM => Place::Param,
                    window::LOCAL => Place::Local,
                    _ => return Err(Trouble::illegal(address, len, write)),
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
                .check(offset, u64::from(len), write)
                .map(Spot::Global),
            _ => None,
        };
        spot.ok_or(Trouble::illegal(address, len, write))
    }

    /// The memory that an address of this place leads to, for the lanes that lead to the same.
    #[inline(always)]
    fn span(&mut self, place: Place, address: u64, write: bool) -> Option<Span> {
        let start = address & window::MASK;
        let own = |bytes: &mut [u8], len: usize, stride: u64| Span {
            start,
            len: len as u64,
            host: bytes.as_mut_ptr(),
            stride,
        };
        match (place, start) {
            (Place::Shared, 0 | window::SHARED) | (Place::Generic, window::SHARED) => {
                let len = self.shared.len();
                Some(own(self.shared, len, 0))
            }
            (Place::Local, 0 | window::LOCAL) | (Place::Generic, window::LOCAL) => {
                let stride = self.stride;
                Some(own(self.local, stride as usize, u64::from(stride)))
            }
            (Place::Global | Place::Generic, 0) => {
                let region = self.reach.region(address, write)?;
                Some(Span {
                    start: region.start,
                    len: region.len,
                    host: region.host,
                    stride: 0,
                })
            }
            _ => None,
        }
    }

    /// Where the accesses of all lanes lie, if they are in the same memory, within it and aligned.
    pub(super) fn all<'o>(
        &mut self,
        (place, base, offset): (Place, Base<'_>, u64),
        (len, write): (u32, bool),
        mask: u32,
        offsets: &'o mut [u64; WARP],
    ) -> Option<Within<'o>> {
        let first = mask.trailing_zeros() as usize & 31;
        let span = self.span(place, base.address(first, offset), write)?;
        span.within(base, offset, len, mask, offsets)
    }

    /// An address that is the same for all lanes, and memory that is too: one read.
    fn load_fixed(&mut self, regs: &mut Regs, access: &Access, mask: u32) -> Result<(), Trouble> {
        let size = access.element.size();
        let first = mask.trailing_zeros() as usize & 31;
        let len = size * access.count;
        let spot = self.spot(access.place, first, access.offset, len, false)?;
        for (part, slot) in access.slots.iter().take(access.count as usize).enumerate() {
            if *slot == NONE {
                continue;
            }
            let value = self.get(&spot, part * size as usize, size, order(access, false));
            let value = widen(access.element, value);
            match access.element {
                Element::U64 => regs.write_wide(*slot, &[value; WARP], mask),
                _ => regs.write_narrow(*slot, &[value as u32; WARP], mask),
            }
        }
        Ok(())
    }

    fn load_all(&mut self, regs: &mut Regs, o: &Operands, access: &Access, mask: u32) -> bool {
        let size = access.element.size();
        let len = size * access.count;
        let at = (access.place, base(regs, o, access.base), access.offset);
        let mut offsets = [0; WARP];
        let Some(within) = self.all(at, (len, false), mask, &mut offsets) else {
            return false;
        };
        for (part, slot) in access.slots.iter().take(access.count as usize).enumerate() {
            if *slot == NONE {
                continue;
            }
            let to = match access.element {
                Element::U64 => Words::Wide(regs.wide_mut(*slot)),
                _ => Words::Narrow(regs.narrow_mut(*slot)),
            };
            let place = (part * size as usize, len as usize);
            span::load(&within, access.element, to, place, mask);
        }
        true
    }

    fn store_all(&mut self, regs: &Regs, o: &Operands, access: &Access, mask: u32) -> bool {
        let size = access.element.size();
        let len = size * access.count;
        let at = (access.place, base(regs, o, access.base), access.offset);
        let mut offsets = [0; WARP];
        let Some(within) = self.all(at, (len, true), mask, &mut offsets) else {
            return false;
        };
        for (part, slot) in access.slots.iter().take(access.count as usize).enumerate() {
            let place = (part * size as usize, len as usize);
            match access.element {
                Element::U64 => span::store_wide(&within, regs.wide(*slot), place, mask),
                _ => span::store_narrow(&within, size, regs.narrow(*slot), place, mask),
            }
        }
        true
    }

    pub(super) fn load(
        &mut self,
        regs: &mut Regs,
        o: &Operands,
        access: &Access,
        mask: u32,
    ) -> Result<(), Trouble> {
        if access.fixed && access.place != Place::Local {
            return self.load_fixed(regs, access, mask);
        }
        // What is ordered is read as an atomic.
        let is_quick = !(access.ordered && leaves_block(access.place));
        if is_quick && self.load_all(regs, o, access, mask) {
            return Ok(());
        }
        self.load_singly(regs, o, access, mask)
    }

    fn load_singly(
        &mut self,
        regs: &mut Regs,
        o: &Operands,
        access: &Access,
        mask: u32,
    ) -> Result<(), Trouble> {
        let size = access.element.size();
        let len = size * access.count;
        let (class, order) = (class(access.element), order(access, false));
        // A destination may be the register of the addresses.
        let addresses = addresses(regs, o, access.base, access.offset);
        for lane in lanes_of(mask) {
            let spot = self.spot(access.place, lane, addresses[lane], len, false)?;
            for part in 0..access.count {
                let slot = access.slots[part as usize];
                if slot != NONE {
                    let value = self.get(&spot, (part * size) as usize, size, order);
                    regs.put(slot, class, lane, widen(access.element, value));
                }
            }
        }
        Ok(())
    }

    fn get(&self, spot: &Spot, at: usize, size: u32, order: Ordering) -> u64 {
        match spot {
            Spot::Global(checked) => host::load(*checked, at, size, order),
            Spot::Shared(offset) => get(self.shared, offset + at, size),
            Spot::Local(offset) => get(self.local, offset + at, size),
            Spot::Param(offset) => get(self.params, offset + at, size),
        }
    }

    pub(super) fn store(
        &mut self,
        regs: &Regs,
        o: &Operands,
        access: &Access,
        mask: u32,
    ) -> Result<(), Trouble> {
        let is_quick = !(access.ordered && leaves_block(access.place));
        if is_quick && self.store_all(regs, o, access, mask) {
            return Ok(());
        }
        let size = access.element.size();
        let len = size * access.count;
        let order = order(access, true);
        let class = class(access.element);
        let addresses = addresses(regs, o, access.base, access.offset);
        for lane in lanes_of(mask) {
            let spot = self.spot(access.place, lane, addresses[lane], len, true)?;
            for part in 0..access.count {
                let value = regs.get(access.slots[part as usize], class, lane);
                let at = (part * size) as usize;
                match &spot {
                    Spot::Global(checked) => host::store(*checked, at, size, value, order),
                    Spot::Shared(offset) => put(self.shared, offset + at, size, value),
                    Spot::Local(offset) => put(self.local, offset + at, size, value),
                    Spot::Param(_) => {}
                }
            }
        }
        Ok(())
    }

    /// One byte at a generic address.
    pub(super) fn byte(&mut self, lane: usize, address: u64) -> Result<u8, Trouble> {
        Ok(self.read(lane, address, 1)? as u8)
    }

    /// A number of 1 to 8 bytes at a generic address.
    pub(super) fn read(&mut self, lane: usize, address: u64, len: u32) -> Result<u64, Trouble> {
        let spot = self.spot(Place::Generic, lane, address, len, false)?;
        Ok(self.get(&spot, 0, len, Ordering::Relaxed))
    }
}
