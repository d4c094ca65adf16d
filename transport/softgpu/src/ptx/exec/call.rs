//! Calls, returns, exits: frames come and go.

use std::sync::Arc;

use super::super::alu::{Regs, WARP, each};
use super::super::program::{CallSite, Code, Passed, Special, Target};
use super::super::types::{Class, window};
use super::Trouble;
use super::block::Block;
use super::bytes::{get, put, widen};
use super::fragment::{Caller, Fragment, Frame, State, Warp};
use super::grid::Worker;

/// A local-memory copy of `size` bytes within each lane's stack.
fn copy_local(warp: &mut Warp, mask: u32, from: u32, to: u32, size: u32) {
    let stride = warp.stride as usize;
    each(mask, |lane| {
        let from = lane * stride + from as usize;
        let to = lane * stride + to as usize;
        if from + size as usize <= warp.local.len() && to + size as usize <= warp.local.len() {
            warp.local.copy_within(from..from + size as usize, to);
        }
    });
}

/// Passes values from one frame to another.
fn pass(
    warp: &mut Warp,
    mask: u32,
    (from, from_regs): (u32, &Regs),
    (to, to_regs): (u32, &mut Regs),
    pairs: impl Iterator<Item = (Passed, Passed)>,
) {
    for (source, target) in pairs {
        match (source, target) {
            (Passed::Memory { offset: a, size: n }, Passed::Memory { offset: b, size: m }) => {
                copy_local(warp, mask, from + a, to + b, n.min(m));
            }
            (Passed::Slot(a, of), Passed::Slot(b, to)) => each(mask, |lane| {
                to_regs.put(b, to, lane, from_regs.get(a, of, lane));
            }),
            (Passed::Slot(a, of), Passed::Memory { offset, size }) => {
                let stride = warp.stride as usize;
                each(mask, |lane| {
                    let at = lane * stride + (to + offset) as usize;
                    put(&mut warp.local, at, size.min(8), from_regs.get(a, of, lane));
                });
            }
            (Passed::Memory { offset, size }, Passed::Slot(b, of)) => {
                let stride = warp.stride as usize;
                each(mask, |lane| {
                    let at = lane * stride + (from + offset) as usize;
                    to_regs.put(b, of, lane, get(&warp.local, at, size.min(8)));
                });
            }
        }
    }
}

/// Registers for a function, its constants and special registers set.
pub(super) fn registers(
    worker: &mut Worker<'_>,
    block: &Block,
    warp: u32,
    function: u32,
    local: u32,
) -> Regs {
    let program = worker.program;
    let Some(code) = program.functions.get(function as usize) else {
        return Regs::default();
    };
    let mut regs = match worker.spare.get_mut(function as usize).and_then(Vec::pop) {
        Some(mut regs) => {
            regs.clear(code.registers);
            regs
        }
        None => {
            let mut regs = Regs::new(code.slots);
            for (slot, class, value) in &code.constants {
                regs.fill(*slot, *class, *value);
            }
            regs
        }
    };
    for (slot, class, special) in &code.specials {
        set_special(
            (*slot, *class),
            *special,
            &mut regs,
            (worker, block),
            (warp, local),
        );
    }
    regs
}

/// Registers of the kernel itself, for the warp of the same number of another block.
pub(super) fn renewed(worker: &Worker<'_>, block: &Block, mut regs: Regs) -> Regs {
    let Some(code) = worker.program.functions.first() else {
        return regs;
    };
    regs.clear(code.registers);
    for (slot, class, special) in &code.specials {
        if let Special::Ctaid(axis) = special {
            regs.fill(*slot, *class, block.position[usize::from(*axis)].into());
        }
    }
    regs
}

fn set_special(
    (slot, class): (u32, Class),
    special: Special,
    regs: &mut Regs,
    (worker, block): (&Worker<'_>, &Block),
    (warp, local): (u32, u32),
) {
    if let Special::Param(offset, element) = special {
        let value = get(worker.launch.params, offset as usize, element.size());
        return regs.fill(slot, class, widen(element, value));
    }
    let values = special_value(special, worker, block, warp, local);
    match class {
        Class::Narrow => *regs.narrow_mut(slot) = values,
        Class::Wide => *regs.wide_mut(slot) = values.map(u64::from),
        Class::Pred => {}
    }
}

fn special_value(
    special: Special,
    worker: &Worker<'_>,
    block: &Block,
    warp: u32,
    local: u32,
) -> [u32; WARP] {
    let shape = worker.launch.block;
    let same = |value: u32| [value; WARP];
    let each_lane = |f: &dyn Fn(u32) -> u32| std::array::from_fn(|lane| f(lane as u32));
    match special {
        Special::Tid(axis) => {
            each_lane(&|lane| thread_of(warp * 32 + lane, shape)[usize::from(axis)])
        }
        Special::Ntid(axis) => same(shape[usize::from(axis)]),
        Special::Ctaid(axis) => same(block.position[usize::from(axis)]),
        Special::Nctaid(axis) => same(worker.launch.grid[usize::from(axis)]),
        Special::LaneId => each_lane(&|lane| lane),
        Special::WarpId => same(warp),
        Special::WarpCount => same((shape[0] * shape[1] * shape[2]).div_ceil(32)),
        Special::SmId => same(worker.number),
        Special::SmCount => same(worker.count),
        Special::GridId => same(1),
        Special::LanesEqual => each_lane(&|lane| 1 << lane),
        Special::LanesBelow => each_lane(&|lane| (1 << lane) - 1),
        Special::LanesUpTo => each_lane(&|lane| (1 << lane) | ((1 << lane) - 1)),
        Special::LanesAbove => each_lane(&|lane| !((1 << lane) | ((1 << lane) - 1))),
        Special::LanesFrom => each_lane(&|lane| !((1 << lane) - 1)),
        Special::DynamicShared => same(worker.launch.shared_bytes),
        Special::TotalShared => same(block.shared.len() as u32 - worker.program.reserved),
        Special::ReservedShared(at) => {
            same(block.shared.len() as u32 - worker.program.reserved + u32::from(at))
        }
        Special::Frame => same(local),
        // Of its own width (`set_special`).
        Special::Param(..) => same(0),
        Special::GridWorkspace(1) => same((worker.workspace >> 32) as u32),
        Special::GridWorkspace(_) => same(worker.workspace as u32),
    }
}

/// %tid of a thread of the block.
pub(super) fn thread_of(index: u32, shape: [u32; 3]) -> [u32; 3] {
    let [x, y, _] = shape.map(|size| size.max(1));
    [index % x, index / x % y, index / x / y]
}

/// The function that a lane calls.
pub(super) fn callee(
    worker: &Worker<'_>,
    site: &CallSite,
    regs: &Regs,
    lane: usize,
) -> Result<u32, Trouble> {
    match site.target {
        Target::Function(number) => Ok(number),
        Target::Address(slot) => {
            let address = regs.wide(slot)[lane];
            let number = (address & !window::MASK) >> 4;
            if address & window::MASK != window::CODE || address & 15 != 0 || number == 0 {
                return Err(Trouble::BadCounter);
            }
            match worker.program.by_address.get(number as usize - 1) {
                Some(&found) if found != super::super::program::NONE => Ok(found),
                _ => Err(Trouble::BadCounter),
            }
        }
        _ => Err(Trouble::BadCounter),
    }
}

/// Fragment `at`, whose registers are `regs`, enters a function.
pub(super) fn enter(
    warp: &mut Warp,
    block: &Block,
    worker: &mut Worker<'_>,
    at: usize,
    (site, function): (&Arc<CallSite>, u32),
    regs: &Regs,
) -> Result<(), Trouble> {
    let program = worker.program;
    let Fragment {
        pc,
        mask,
        frame: caller,
        ..
    } = warp.fragments[at];
    let (Some(parent), Some(callee)) =
        (warp.frame(caller), program.functions.get(function as usize))
    else {
        return Err(Trouble::BadCounter);
    };
    let parent_local = parent.local;
    let depth = parent.depth + 1;
    let parent_size = program
        .functions
        .get(parent.function as usize)
        .map_or(0, |code: &Code| code.frame);
    let local = parent_local + parent_size;
    if local + callee.frame > warp.stride || depth > 1 << 16 {
        return Err(Trouble::StackOverflow);
    }
    let mut new = registers(worker, block, warp.number, function, local);
    let pairs = site
        .params
        .iter()
        .copied()
        .zip(callee.params.iter().copied());
    pass(warp, mask, (parent_local, regs), (local, &mut new), pairs);
    let frame = Frame {
        function,
        regs: new,
        local,
        caller: Some(Caller {
            frame: caller,
            site: Arc::clone(site),
            pc: pc + 1,
        }),
        depth,
        users: 1,
    };
    let number = match warp.frames.iter().position(Option::is_none) {
        Some(free) => {
            warp.frames[free] = Some(frame);
            free
        }
        None => {
            warp.frames.push(Some(frame));
            warp.frames.len() - 1
        }
    };
    // The caller's frame keeps its user: the fragment before, the callee's frame now.
    let fragment = &mut warp.fragments[at];
    fragment.frame = number as u32;
    fragment.pc = 0;
    Ok(())
}

/// Fragment `at`, with the registers of its frame in place, returns. False: from the kernel itself.
pub(super) fn leave(warp: &mut Warp, worker: &mut Worker<'_>, at: usize) -> bool {
    let Fragment {
        mask,
        frame: number,
        ..
    } = warp.fragments[at];
    let Some(frame) = warp.frame_mut(number) else {
        return false;
    };
    let Some(caller) = frame.caller.clone() else {
        return false;
    };
    let regs = std::mem::take(&mut frame.regs);
    let (local, function) = (frame.local, frame.function);
    let program = worker.program;
    if let (Some(code), Some(parent)) = (
        program.functions.get(function as usize),
        warp.frame_mut(caller.frame),
    ) {
        let parent_local = parent.local;
        let mut parent_regs = std::mem::take(&mut parent.regs);
        let pairs = code
            .returns
            .iter()
            .copied()
            .zip(caller.site.returns.iter().copied());
        pass(
            warp,
            mask,
            (local, &regs),
            (parent_local, &mut parent_regs),
            pairs,
        );
        if let Some(parent) = warp.frame_mut(caller.frame) {
            parent.regs = parent_regs;
            parent.users += 1;
        }
    }
    if let Some(frame) = warp.frame_mut(number) {
        frame.regs = regs;
    }
    release(warp, worker, number);
    let fragment = &mut warp.fragments[at];
    fragment.frame = caller.frame;
    fragment.pc = caller.pc;
    fragment.state = State::Ready;
    true
}

/// A frame loses a user; without any it goes, and its caller's loses one too.
pub(super) fn release(warp: &mut Warp, worker: &mut Worker<'_>, number: u32) {
    let mut next = Some(number);
    while let Some(number) = next {
        next = None;
        let Some(frame) = warp.frame_mut(number) else {
            return;
        };
        frame.users -= 1;
        if frame.users == 0 {
            next = frame.caller.as_ref().map(|caller| caller.frame);
            if let Some(gone) = warp.frames.get_mut(number as usize).and_then(Option::take)
                && let Some(spare) = worker.spare.get_mut(gone.function as usize)
            {
                match gone.function {
                    0 if warp.kept.is_none() && gone.caller.is_none() => {
                        warp.kept = Some(gone.regs)
                    }
                    _ => spare.push(gone.regs),
                }
            }
        }
    }
}
