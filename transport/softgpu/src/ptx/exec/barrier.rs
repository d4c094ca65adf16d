//! Barriers of a block. PTX ISA 8.x, section 9.7.13 (bar, barrier).

use super::super::alu::{Regs, WARP};
use super::super::program::{BarrierKind, Inst, NONE, Op, Program};
use super::Trouble;
use super::block::Block;
use super::fragment::{Fragment, State, Warp};

/// Barriers that a block has.
pub(super) const COUNT: usize = 16;

/// A barrier between two of its releases.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Barrier {
    /// Threads of the warps that have arrived. A warp arrives once all of its lanes are here that have not exited, and
    /// counts as 32.
    arrived: u32,
    /// Threads it is for; 0: all of the block that have not exited.
    expected: u32,
    /// Lanes that have arrived, and those of them whose predicate held.
    lanes: u32,
    held: u32,
}

impl Barrier {
    /// `live`: threads of the warps that have not exited.
    fn is_complete(&self, live: u32) -> bool {
        let expected = match self.expected {
            0 => live,
            expected => expected,
        };
        self.arrived > 0 && self.arrived >= expected
    }

    /// Counts a warp of which all lanes are here; whether some of them go on, as they only arrive.
    fn count(&mut self, warp: &mut Warp, program: &Program) -> bool {
        let mut goes_on = false;
        self.arrived += WARP as u32;
        for at in 0..warp.fragments.len() {
            let Fragment {
                pc, mask, frame, ..
            } = warp.fragments[at];
            let Some(frame) = warp.frame(frame) else {
                continue;
            };
            let Some(inst) = program.instruction(frame.function, pc) else {
                continue;
            };
            let Op::Barrier(kind) = inst.kind else {
                continue;
            };
            if inst.o.b != NONE {
                self.expected = frame.regs.narrow(inst.o.b)[mask.trailing_zeros() as usize & 31];
            }
            self.lanes += mask.count_ones();
            if matches!(
                kind,
                BarrierKind::Count | BarrierKind::And | BarrierKind::Or
            ) {
                self.held += (frame.regs.mask(inst.o.c) & mask).count_ones();
            }
            let fragment = &mut warp.fragments[at];
            match (kind, fragment.state) {
                (BarrierKind::Arrive, _) => {
                    fragment.go_on();
                    goes_on = true;
                }
                (_, State::Barrier(number)) => fragment.state = State::Counted(number),
                _ => {}
            }
        }
        goes_on
    }
}

/// The number of the barrier of an instruction.
pub(super) fn number(
    kind: BarrierKind,
    inst: &Inst,
    regs: &Regs,
    active: u32,
) -> Result<u32, Trouble> {
    let lane = active.trailing_zeros() as usize & 31;
    let number = regs.narrow(inst.o.a)[lane];
    if number as usize >= COUNT {
        return Err(Trouble::Illegal("a barrier beyond 15"));
    }
    if inst.o.b != NONE {
        let threads = regs.narrow(inst.o.b)[lane];
        if !threads.is_multiple_of(WARP as u32) {
            return Err(Trouble::Illegal(
                "a barrier for a number of threads that is no multiple of 32",
            ));
        }
        if threads == 0 && kind == BarrierKind::Arrive {
            return Err(Trouble::Illegal("an arrival at a barrier for 0 threads"));
        }
    }
    Ok(number)
}

/// The barrier at which all lanes of a warp are that have not exited, if they have not been counted there.
fn gathered(warp: &Warp) -> Option<u32> {
    let [first, rest @ ..] = warp.fragments.as_slice() else {
        return None;
    };
    let State::Barrier(number) = first.state else {
        return None;
    };
    let together = rest.iter().all(|other| other.state == first.state);
    together.then_some(number)
}

/// Counts the warps that have arrived at barriers and lets the threads go on whose barrier is complete; whether there
/// were any.
pub(super) fn release(block: &mut Block, program: &Program) -> bool {
    let live = block.warps.iter().filter(|warp| warp.live != 0).count() * WARP;
    let mut released = false;
    for at in 0..block.warps.len() {
        let warp = &mut block.warps[at];
        let Some(number) = gathered(warp) else {
            continue;
        };
        let barrier = &mut block.barriers[number as usize];
        released |= barrier.count(warp, program);
        // At once, so that the warps behind count for the next time.
        released |= open(block, number, live as u32, program);
    }
    // Some may have waited for threads that are gone.
    for number in 0..COUNT as u32 {
        released |= open(block, number, live as u32, program);
    }
    released | release_cluster(block)
}

/// Lets the threads go on that wait at a barrier, if it is complete.
fn open(block: &mut Block, number: u32, live: u32, program: &Program) -> bool {
    let barrier = &mut block.barriers[number as usize];
    if !barrier.is_complete(live) {
        return false;
    }
    let barrier = std::mem::take(barrier);
    for warp in &mut block.warps {
        for at in 0..warp.fragments.len() {
            let Fragment {
                pc,
                mask,
                frame,
                state,
                ..
            } = warp.fragments[at];
            if state != State::Counted(number) {
                continue;
            }
            warp.fragments[at].go_on();
            if let Some(frame) = warp.frame_mut(frame)
                && let Some(inst) = program.instruction(frame.function, pc)
            {
                report(inst, &barrier, mask, &mut frame.regs);
            }
        }
    }
    true
}

/// The same of the barrier of the cluster, which is this block: it is complete when all threads have arrived that have
/// not exited.
fn release_cluster(block: &mut Block) -> bool {
    let has_arrived = |warp: &Warp| warp.live & !warp.arrived == 0;
    if !block.warps.iter().all(has_arrived) {
        return false;
    }
    for warp in &mut block.warps {
        warp.arrived = 0;
        let waiting = warp.fragments.iter_mut();
        let waiting = waiting.filter(|fragment| fragment.state == State::Cluster);
        waiting.for_each(Fragment::go_on);
    }
    true
}

/// The result of bar.red.
fn report(inst: &Inst, barrier: &Barrier, mask: u32, regs: &mut Regs) {
    let Op::Barrier(kind) = &inst.kind else {
        return;
    };
    let holds = match kind {
        BarrierKind::Wait | BarrierKind::Arrive => return,
        BarrierKind::Count => {
            return regs.write_narrow(inst.o.d, &[barrier.held; WARP], mask);
        }
        BarrierKind::And => barrier.held == barrier.lanes,
        BarrierKind::Or => barrier.held != 0,
    };
    regs.set_mask(inst.o.d, mask, if holds { u32::MAX } else { 0 });
}
