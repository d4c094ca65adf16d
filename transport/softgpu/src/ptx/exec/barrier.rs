//! Barriers of a block. PTX ISA 8.x, section 9.7.13 (bar, barrier).

use super::super::alu::{Regs, WARP};
use super::super::program::{BarrierKind, Inst, Op};
use super::block::Block;
use super::fragment::State;
use super::grid::Worker;

/// Barriers that a block has.
pub(super) const COUNT: usize = 16;

/// A barrier between two of its releases.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Barrier {
    /// Threads that wait or have arrived.
    pub(super) arrived: u32,
    /// Lanes of their warps without a thread: a number of threads counts whole warps.
    pub(super) empty: u32,
    /// Threads it is for; 0: all of the block that have not exited.
    pub(super) expected: u32,
    /// Threads whose predicate held.
    pub(super) held: u32,
}

impl Barrier {
    fn complete(&self, live: u32) -> bool {
        let is_here = match self.expected {
            0 => self.arrived >= live,
            expected => self.arrived + self.empty >= expected,
        };
        self.arrived > 0 && is_here
    }
}

/// Lets the threads go on whose barrier is complete; whether there were any.
pub(super) fn release(block: &mut Block, worker: &Worker<'_>) -> bool {
    let mut released = false;
    for number in 0..COUNT {
        if !block.barriers[number].complete(block.live) {
            continue;
        }
        let barrier = std::mem::take(&mut block.barriers[number]);
        released = true;
        for warp in &mut block.warps {
            for at in 0..warp.fragments.len() {
                let fragment = &mut warp.fragments[at];
                if fragment.state != State::Barrier(number as u32) {
                    continue;
                }
                let (pc, mask, frame) = (fragment.pc, fragment.mask, fragment.frame);
                fragment.state = State::Ready;
                fragment.pc += 1;
                let Some(frame) = warp.frame_mut(frame) else {
                    continue;
                };
                let code = worker.program.functions.get(frame.function as usize);
                if let Some(inst) = code.and_then(|code| code.instructions.get(pc as usize)) {
                    report(inst, &barrier, mask, &mut frame.regs);
                }
            }
        }
    }
    released
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
        BarrierKind::And => barrier.held == barrier.arrived,
        BarrierKind::Or => barrier.held != 0,
    };
    regs.set_mask(inst.o.d, mask, if holds { u32::MAX } else { 0 });
}
