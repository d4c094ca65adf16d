//! Lanes of a warp wait for each other at instructions that several take part in.

use super::super::alu::{Regs, WARP, each};
use super::super::program::{Inst, NONE, Op, WarpKind};
use super::fragment::{Fragment, State, Warp};
use super::grid::Worker;
use super::interpret::Run;
use super::warp as cooperation;

/// Lets the lanes go on that wait at instructions of the warp and have met all they wait for.
pub(super) fn meet(warp: &mut Warp, worker: &Worker<'_>) {
    let mut parked = 0;
    for fragment in warp.fragments.iter().filter(|f| f.state == State::Warp) {
        parked |= fragment.mask;
    }
    if parked == 0 {
        return;
    }
    let members = warp.members;
    let live = warp.live;
    let complete = |mask: u32| {
        let mut complete = true;
        each(mask, |lane| {
            let wanted = members[lane] & live;
            complete &= wanted & !parked == 0;
            each(wanted & parked, |other| {
                complete &= members[other] == members[lane]
            });
        });
        complete
    };
    let ready: Vec<usize> = (0..warp.fragments.len())
        .filter(|&at| warp.fragments[at].state == State::Warp && complete(warp.fragments[at].mask))
        .collect();
    let groups = members.map(|mask| mask & live);
    let staged = warp.staged;
    for at in ready {
        let Fragment {
            pc, mask, frame, ..
        } = warp.fragments[at];
        warp.fragments[at].go_on();
        if let Some(frame) = warp.frame_mut(frame)
            && let Some(inst) = worker.program.instruction(frame.function, pc)
            && let Op::Warp(kind) = inst.kind
        {
            cooperation::perform(kind, inst, &mut frame.regs, mask, &staged, &groups);
        }
    }
}

impl Run<'_, '_> {
    /// Carries out an instruction of the warp if all lanes that take part are here; else notes what
    /// these bring.
    pub(super) fn alone(
        &mut self,
        kind: WarpKind,
        inst: &Inst,
        regs: &mut Regs,
        active: u32,
    ) -> bool {
        let mut members = [active; WARP];
        if inst.o.x != NONE {
            members = *regs.narrow(inst.o.x);
        }
        let first = members[active.trailing_zeros() as usize & 31];
        let mut others = 0;
        for (lane, word) in members.iter().enumerate() {
            others |= if active >> lane & 1 != 0 {
                word ^ first
            } else {
                0
            };
        }
        if others == 0 && first & self.warp.live & !active == 0 {
            let group = first & self.warp.live & active;
            let group = if group == 0 { active } else { group };
            cooperation::together(kind, inst, regs, active, group);
            return true;
        }
        let staged = cooperation::staged(kind, inst, regs);
        each(active, |lane| {
            self.warp.members[lane] = members[lane];
            self.warp.staged[lane] = staged[lane];
        });
        false
    }
}
