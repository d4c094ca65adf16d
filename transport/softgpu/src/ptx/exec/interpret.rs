//! The loop that runs a warp.
#![allow(unsafe_code)] // Calls functions that were compiled for the processor.

use super::super::alu::{Regs, WARP, each};
use super::super::program::{ClockKind, Code, Inst, NONE, Op, Target};
use super::Trouble;
use super::block::Block;
use super::fragment::{Fragment, State, Warp};
use super::grid::Worker;
use super::meet::meet;
use super::memory::View;
use super::{barrier, call, printf, texture};

/// Instructions that a warp runs before the next one has its turn.
const SLICE: u64 = 4096;

/// Where trouble was met.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    pub(super) function: u32,
    pub(super) pc: u32,
    pub(super) warp: u32,
    pub(super) lane: u32,
}

/// Why a fragment stopped running.
enum Stop {
    /// It is at this instruction; another one may be first now.
    Yield(u32),
    /// It waits, at this instruction.
    Wait(u32, State),
    /// Some of its lanes have exited; the others are at this instruction.
    Fewer(u32),
    /// Its frame changed.
    Moved,
    /// One of another frame is first.
    Other,
    /// All of its lanes have exited.
    Gone,
    /// It lets other warps run, from this instruction on.
    Pause(u32),
}

/// Runs a warp until it waits, ends or has had its turn; whether it did anything.
pub(super) fn run(
    warp: &mut Warp,
    block: &mut Block,
    worker: &mut Worker<'_>,
) -> Result<bool, (Trouble, At)> {
    let mut ran = false;
    let end = worker.stats.warp_instructions + SLICE;
    loop {
        let Some(at) = warp.choose() else {
            warp.rotate = false;
            return Ok(ran);
        };
        ran = true;
        warp.take_turn(at);
        let frame = warp.fragments[at].frame;
        let mut run = Run {
            warp,
            block,
            worker,
            at,
            end,
        };
        let stop = run.fragment();
        let at = run.at;
        let mut pause = false;
        match stop {
            Ok(Stop::Yield(pc)) => warp.fragments[at].pc = pc,
            Ok(Stop::Pause(pc)) => {
                warp.fragments[at].pc = pc;
                pause = true;
            }
            Ok(Stop::Wait(pc, state)) => {
                warp.fragments[at].pc = pc;
                warp.fragments[at].state = state;
                if state == State::Warp {
                    meet(warp, worker);
                }
            }
            // Others may have waited for the lanes that are gone.
            Ok(Stop::Fewer(pc)) => {
                warp.fragments[at].pc = pc;
                meet(warp, worker);
            }
            Ok(Stop::Moved | Stop::Other) => {}
            Ok(Stop::Gone) => {
                warp.fragments.swap_remove(at);
                call::release(warp, worker, frame);
                meet(warp, worker);
            }
            Err((trouble, pc, lane)) => {
                let function = warp.frame(frame).map_or(0, |frame| frame.function);
                return Err((
                    trouble,
                    At {
                        function,
                        pc,
                        warp: warp.number,
                        lane,
                    },
                ));
            }
        }
        if pause || worker.stats.warp_instructions >= end {
            // Whoever waits for another fragment of its warp must not keep that from running.
            warp.rotate = !warp.rotate && warp.fragments.len() > 1;
            return Ok(true);
        }
        warp.rotate = false;
    }
}

/// A fragment while it runs.
pub(super) struct Run<'r, 'l> {
    pub(super) warp: &'r mut Warp,
    block: &'r mut Block,
    worker: &'r mut Worker<'l>,
    at: usize,
    end: u64,
}

type Outcome = Result<Stop, (Trouble, u32, u32)>;

/// Instructions of a fragment, and of its lanes together.
#[derive(Default)]
struct Count {
    warps: u64,
    lanes: u64,
}

impl Run<'_, '_> {
    fn fragment(&mut self) -> Outcome {
        let number = self.warp.fragments[self.at].frame;
        let pc = self.warp.fragments[self.at].pc;
        let program = self.worker.program;
        let Some(frame) = self.warp.frame_mut(number) else {
            return Err((Trouble::BadCounter, pc, 0));
        };
        let Some(code) = program.functions.get(frame.function as usize) else {
            return Err((Trouble::BadCounter, pc, 0));
        };
        // Taken out of the frame so that the loop can borrow them beside the warp.
        let mut regs = std::mem::take(&mut frame.regs);
        let outcome = self.steps(code, &mut regs);
        if let Some(frame) = self.warp.frame_mut(number) {
            frame.regs = regs;
        }
        match outcome? {
            Stop::Moved if self.warp.fragments[self.at].frame == number => self.leave(),
            stop => Ok(stop),
        }
    }

    /// A return: the registers are in their frame again.
    fn leave(&mut self) -> Outcome {
        if call::leave(self.warp, self.worker, self.at) {
            return Ok(Stop::Moved);
        }
        let mask = self.warp.fragments[self.at].mask;
        self.exit(mask);
        Ok(Stop::Gone)
    }

    fn exit(&mut self, mask: u32) {
        self.warp.live &= !mask;
        self.block.live -= mask.count_ones();
    }

    /// Lanes that do not take part in the instruction at `pc` go on behind it.
    fn leave_behind(&mut self, mask: u32, active: u32, pc: u32) {
        if active != mask {
            self.warp.split(self.at, mask & !active, pc + 1);
        }
    }

    fn steps(&mut self, code: &Code, regs: &mut Regs) -> Outcome {
        let mut count = Count::default();
        let outcome = self.walk(code, regs, &mut count);
        let stats = &mut self.worker.stats;
        stats.warp_instructions += count.warps;
        stats.lane_instructions += count.lanes;
        outcome
    }

    #[inline(always)]
    fn walk(&mut self, code: &Code, regs: &mut Regs, count: &mut Count) -> Outcome {
        let left = self.end.saturating_sub(self.worker.stats.warp_instructions);
        loop {
            match self.straight(code, regs, count, left)? {
                // Most often the next fragment runs in the same frame.
                Stop::Yield(pc) if count.warps < left => {
                    self.warp.fragments[self.at].pc = pc;
                    let frame = self.warp.fragments[self.at].frame;
                    match self.warp.choose() {
                        Some(at) if self.warp.fragments[at].frame == frame => {
                            self.at = at;
                            self.warp.take_turn(at);
                        }
                        _ => return Ok(Stop::Other),
                    }
                }
                stop => return Ok(stop),
            }
        }
    }

    /// Runs a fragment until another one may be first.
    #[inline(always)]
    fn straight(&mut self, code: &Code, regs: &mut Regs, count: &mut Count, left: u64) -> Outcome {
        let Fragment { mut pc, mask, .. } = self.warp.fragments[self.at];
        let limit = self.warp.limit(self.at);
        let lanes = u64::from(mask.count_ones());
        loop {
            if pc >= limit {
                return Ok(Stop::Yield(pc));
            }
            let Some(inst) = code.instructions.get(pc as usize) else {
                return Err((Trouble::BadCounter, pc, mask.trailing_zeros()));
            };
            let mut active = mask;
            count.warps += 1;
            if inst.guard == NONE {
                count.lanes += lanes;
            } else {
                active &= regs.mask(inst.guard) ^ inst.flip;
                if active == 0 {
                    pc += 1;
                    continue;
                }
                count.lanes += u64::from(active.count_ones());
            }
            match &inst.kind {
                // SAFETY: whoever chose the function has asked what the processor can do.
                Op::Alu(exec) => unsafe { exec(regs, &inst.o, active) },
                Op::Load(_)
                | Op::Store(_)
                | Op::Atomic(_)
                | Op::CopyAsync
                | Op::Sample(_)
                | Op::Surface(_)
                | Op::Query(_) => {
                    if let Err(trouble) = self.memory(inst, regs, active, pc) {
                        return Err((trouble, pc, self.worker.reach.lane as u32));
                    }
                }
                Op::Jump(target) => {
                    if active != mask {
                        self.warp.split(self.at, active, *target);
                        return Ok(Stop::Yield(pc + 1));
                    }
                    pc = *target;
                    if count.warps >= left {
                        return Ok(Stop::Yield(pc));
                    }
                    continue;
                }
                Op::Table(targets) => {
                    let choice =
                        |lane: usize| targets.get(regs.narrow(inst.o.a)[lane] as usize).copied();
                    let lane = active.trailing_zeros();
                    let Some(target) = choice(lane as usize) else {
                        return Err((Trouble::BadCounter, pc, lane));
                    };
                    let mut same = 0;
                    each(active, |lane| {
                        same |= u32::from(choice(lane) == Some(target)) << lane
                    });
                    self.leave_behind(mask, active, pc);
                    if same != active {
                        self.warp.split(self.at, active & !same, pc);
                    }
                    return Ok(Stop::Yield(target));
                }
                Op::Exit => {
                    self.exit(active);
                    self.warp.fragments[self.at].mask = mask & !active;
                    if mask == active {
                        return Ok(Stop::Gone);
                    }
                    return Ok(Stop::Fewer(pc + 1));
                }
                Op::Return => {
                    self.leave_behind(mask, active, pc);
                    return Ok(Stop::Moved);
                }
                Op::Call(site) => {
                    self.leave_behind(mask, active, pc);
                    self.warp.fragments[self.at].pc = pc;
                    if !matches!(site.target, Target::Function(_) | Target::Address(_)) {
                        let lane = active.trailing_zeros();
                        printf::builtin(self.warp, self.block, self.worker, self.at, site, regs)
                            .map_err(|trouble| (trouble, pc, lane))?;
                        return Ok(Stop::Yield(pc + 1));
                    }
                    return self.call(site, regs, active, pc);
                }
                Op::Warp(kind) => {
                    let kind = *kind;
                    if self.alone(kind, inst, regs, active) {
                        pc += 1;
                        continue;
                    }
                    self.leave_behind(mask, active, pc);
                    return Ok(Stop::Wait(pc, State::Warp));
                }
                Op::Barrier(kind) => {
                    let number = barrier::number(*kind, inst, regs, active)
                        .map_err(|trouble| (trouble, pc, active.trailing_zeros()))?;
                    self.leave_behind(mask, active, pc);
                    return Ok(Stop::Wait(pc, State::Barrier(number)));
                }
                Op::ClusterArrive => self.warp.arrived |= active,
                Op::ClusterWait => {
                    // For the others the barrier has been complete since they arrived.
                    let waiting = active & self.warp.arrived;
                    if waiting != 0 {
                        self.leave_behind(mask, waiting, pc);
                        return Ok(Stop::Wait(pc, State::Cluster));
                    }
                }
                Op::ActiveMask => {
                    regs.write_narrow(inst.o.d, &[active; WARP], active);
                }
                Op::Clock(kind) => {
                    let now = self.clock(*kind);
                    regs.write_wide(inst.o.d, &[now; WARP], active);
                }
                Op::Fence => std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst),
                Op::Pause => {
                    std::thread::yield_now();
                    return Ok(Stop::Pause(pc + 1));
                }
                Op::Trap => return Err((Trouble::Trap, pc, active.trailing_zeros())),
            }
            pc += 1;
        }
    }

    #[inline]
    fn memory(
        &mut self,
        inst: &Inst,
        regs: &mut Regs,
        active: u32,
        pc: u32,
    ) -> Result<(), Trouble> {
        let reach = &mut self.worker.reach;
        reach.hint = pc;
        match &inst.kind {
            Op::Sample(sampling) => return texture::sample(reach, regs, inst, sampling, active),
            Op::Surface(access) => return texture::surface(reach, regs, inst, access, active),
            Op::Query(query) => return texture::query(reach, regs, inst, *query, active),
            _ => {}
        }
        let mut view = View {
            reach: &mut self.worker.reach,
            shared: &mut self.block.shared,
            local: &mut self.warp.local,
            stride: self.warp.stride,
            params: self.worker.launch.params,
        };
        match &inst.kind {
            Op::Load(access) => view.load(regs, &inst.o, access, active),
            Op::Store(access) => view.store(regs, &inst.o, access, active),
            Op::Atomic(access) => view.atomic(regs, &inst.o, access, active),
            Op::CopyAsync => view.copy(regs, &inst.o, active),
            _ => Ok(()),
        }
    }

    fn call(
        &mut self,
        site: &std::sync::Arc<super::super::program::CallSite>,
        regs: &Regs,
        active: u32,
        pc: u32,
    ) -> Outcome {
        let lane = active.trailing_zeros();
        let wrong = |trouble| (trouble, pc, lane);
        let function = call::callee(self.worker, site, regs, lane as usize).map_err(wrong)?;
        if let Target::Address(_) = site.target {
            let mut same = 0;
            each(active, |lane| {
                let callee = call::callee(self.worker, site, regs, lane);
                same |= u32::from(matches!(callee, Ok(found) if found == function)) << lane;
            });
            if same != active {
                self.warp.split(self.at, active & !same, pc);
            }
        }
        call::enter(
            self.warp,
            self.block,
            self.worker,
            self.at,
            (site, function),
            regs,
        )
        .map_err(wrong)?;
        Ok(Stop::Moved)
    }

    fn clock(&self, kind: ClockKind) -> u64 {
        let since = self.worker.epoch.elapsed().as_nanos() as u64;
        let wall = || {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            now.map_or(0, |now| now.as_nanos() as u64)
        };
        match kind {
            ClockKind::Low => since & 0xffff_ffff,
            ClockKind::High => since >> 32,
            ClockKind::Wide => since,
            ClockKind::Global => wall(),
            ClockKind::GlobalLow => wall() & 0xffff_ffff,
            ClockKind::GlobalHigh => wall() >> 32,
        }
    }
}
