//! Atomics and copies of a warp.

use super::super::alu::{Lanes, Operands, each};
use super::super::program::{AtomicAccess, NONE, Place};
use super::Trouble;
use super::bytes::{get, put, widen};
use super::host::update;
use super::memory::{Spot, View};

impl View<'_, '_> {
    pub(super) fn atomic(
        &mut self,
        regs: &mut [Lanes],
        o: &Operands,
        access: &AtomicAccess,
        mask: u32,
        hint: u32,
    ) -> Result<(), Trouble> {
        let size = access.element.size();
        let mut trouble = None;
        each(mask, |lane| {
            if trouble.is_some() {
                return;
            }
            let address = regs[o.a as usize].0[lane].wrapping_add(access.offset);
            let (b, c) = (regs[o.b as usize].0[lane], regs[o.c as usize].0[lane]);
            let before = match self.spot(access.place, lane, address, size, true, hint) {
                Ok(Spot::Global(checked)) => {
                    update(checked, size, |old| (access.update)(old, b, c))
                }
                Ok(Spot::Shared(at)) => {
                    let old = get(self.shared, at, size);
                    put(self.shared, at, size, (access.update)(old, b, c));
                    old
                }
                Ok(Spot::Local(_) | Spot::Param(_)) => {
                    trouble = Some(Trouble::IllegalAddress {
                        address,
                        len: size,
                        write: true,
                    });
                    return;
                }
                Err(found) => {
                    trouble = Some(found);
                    return;
                }
            };
            if o.d != NONE {
                regs[o.d as usize].0[lane] = widen(access.element, before);
            }
        });
        trouble.map_or(Ok(()), Err)
    }

    /// cp.async: `copied` bytes from global to shared memory, zeros up to `size`.
    pub(super) fn copy(
        &mut self,
        regs: &[Lanes],
        o: &Operands,
        mask: u32,
        hint: u32,
    ) -> Result<(), Trouble> {
        let mut trouble = None;
        each(mask, |lane| {
            if trouble.is_some() {
                return;
            }
            let value = |slot: u32| regs[slot as usize].0[lane];
            let size = value(o.b) as u32;
            let copied = (value(o.c) as u32).min(size);
            let (to, from) = (value(o.d), value(o.a));
            let result = self.copy_lane(lane, to, from, size, copied, hint);
            trouble = result.err();
        });
        trouble.map_or(Ok(()), Err)
    }

    fn copy_lane(
        &mut self,
        lane: usize,
        to: u64,
        from: u64,
        size: u32,
        copied: u32,
        hint: u32,
    ) -> Result<(), Trouble> {
        let Spot::Shared(at) = self.spot(Place::Shared, lane, to, size, true, hint)? else {
            return Err(Trouble::IllegalAddress {
                address: to,
                len: size,
                write: true,
            });
        };
        for offset in 0..size {
            let value = if offset < copied {
                self.byte(lane, from.wrapping_add(u64::from(offset)), hint)?
            } else {
                0
            };
            put(self.shared, at + offset as usize, 1, u64::from(value));
        }
        Ok(())
    }
}
