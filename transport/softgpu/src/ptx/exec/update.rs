//! Atomics and copies of a warp.

use super::super::alu::{Operands, Regs, WARP, each, lanes_of};
use super::super::program::{AtomicAccess, NONE, Place};
use super::Trouble;
use super::bytes::{get, put, widen};
use super::host::{self, Checked};
use super::memory::{Spot, View, addresses, base, class};

impl View<'_, '_> {
    pub(super) fn atomic(
        &mut self,
        regs: &mut Regs,
        o: &Operands,
        access: &AtomicAccess,
        mask: u32,
    ) -> Result<(), Trouble> {
        if access.place == Place::Shared && self.atomic_shared(regs, o, access, mask) {
            return Ok(());
        }
        let size = access.element.size();
        let class = class(access.element);
        let addresses = addresses(regs, o, access.base, access.offset);
        for lane in lanes_of(mask) {
            let address = addresses[lane];
            let (b, c) = (regs.get(o.b, class, lane), regs.get(o.c, class, lane));
            let before = match self.spot(access.place, lane, address, size, true)? {
                Spot::Global(checked) => global(access, checked, b, c),
                Spot::Shared(at) => {
                    let old = get(self.shared, at, size);
                    put(self.shared, at, size, (access.update)(old, b, c));
                    old
                }
                Spot::Local(_) | Spot::Param(_) => {
                    return Err(Trouble::illegal(address, size, true));
                }
            };
            if o.d != NONE {
                regs.put(o.d, class, lane, widen(access.element, before));
            }
        }
        Ok(())
    }

    /// Atomics on shared memory, which no other thread of the host has; false: not all are within it.
    fn atomic_shared(
        &mut self,
        regs: &mut Regs,
        o: &Operands,
        access: &AtomicAccess,
        mask: u32,
    ) -> bool {
        let size = access.element.size();
        let at = (access.place, base(regs, o, access.base), access.offset);
        let mut offsets = [0; WARP];
        let Some(within) = self.all(at, (size, true), mask, &mut offsets) else {
            return false;
        };
        // The most frequent one.
        if access.adds && size == 4 {
            let (b, mut before) = (*regs.narrow(o.b), [0; WARP]);
            each(mask, |lane| {
                let add = |old: u64| old.wrapping_add(u64::from(b[lane]));
                before[lane] = within.update(lane, 4, add) as u32;
            });
            if o.d != NONE {
                regs.write_narrow(o.d, &before, mask);
            }
            return true;
        }
        let class = class(access.element);
        each(mask, |lane| {
            let (b, c) = (regs.get(o.b, class, lane), regs.get(o.c, class, lane));
            let before = within.update(lane, size, |old| (access.update)(old, b, c));
            if o.d != NONE {
                regs.put(o.d, class, lane, widen(access.element, before));
            }
        });
        true
    }

    /// cp.async: `copied` bytes from global to shared memory, zeros up to `size`.
    pub(super) fn copy(&mut self, regs: &Regs, o: &Operands, mask: u32) -> Result<(), Trouble> {
        for lane in lanes_of(mask) {
            let size = regs.narrow(o.b)[lane];
            let copied = regs.narrow(o.c)[lane].min(size);
            let (to, from) = (regs.wide(o.d)[lane], regs.wide(o.a)[lane]);
            self.copy_lane(lane, to, from, size, copied)?;
        }
        Ok(())
    }

    fn copy_lane(
        &mut self,
        lane: usize,
        to: u64,
        from: u64,
        size: u32,
        copied: u32,
    ) -> Result<(), Trouble> {
        let Spot::Shared(at) = self.spot(Place::Shared, lane, to, size, true)? else {
            return Err(Trouble::illegal(to, size, true));
        };
        // Words where that can be, as sizes and addresses are multiples of 4.
        let step = if copied.is_multiple_of(4) && from.is_multiple_of(4) {
            4
        } else {
            1
        };
        for offset in (0..size).step_by(step as usize) {
            let value = if offset < copied {
                self.read(lane, from.wrapping_add(u64::from(offset)), step)?
            } else {
                0
            };
            put(self.shared, at + offset as usize, step, value);
        }
        Ok(())
    }
}

/// An atomic on global memory; the value before comes back.
fn global(access: &AtomicAccess, checked: Checked, b: u64, c: u64) -> u64 {
    let size = access.element.size();
    if access.adds && size >= 4 {
        return host::add(checked, size, b);
    }
    host::update(checked, size, |old| (access.update_global)(old, b, c))
}
