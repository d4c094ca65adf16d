//! A block: its warps take turns on one thread of the host.

use super::super::error::{Fault, Site};
use super::Trouble;
use super::barrier::{self, Barrier, COUNT};
use super::call::{registers, renewed, thread_of};
use super::fragment::{Fragment, Frame, State, Warp};
use super::grid::Worker;
use super::interpret;

/// A block that runs.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// %ctaid.
    pub(super) position: [u32; 3],
    pub(super) warps: Vec<Warp>,
    pub(super) shared: Vec<u8>,
    pub(super) barriers: [Barrier; COUNT],
    /// Threads that have not exited.
    pub(super) live: u32,
}

/// What became of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// All threads have exited.
    Done,
    /// There is more to do.
    More,
}

impl Block {
    /// Takes up the work of the block at `position`.
    pub(super) fn start(&mut self, worker: &mut Worker<'_>, position: [u32; 3]) {
        let [x, y, z] = worker.launch.block;
        let threads = x * y * z;
        self.position = position;
        self.live = threads;
        self.barriers = [Barrier::default(); COUNT];
        self.shared.clear();
        self.shared.resize(
            (worker.program.shared + worker.launch.shared_bytes + worker.program.reserved) as usize,
            0,
        );
        self.warps
            .resize_with(threads.div_ceil(32) as usize, Warp::default);
        for number in 0..self.warps.len() as u32 {
            let kept = self.warps.get_mut(number as usize);
            let kept = kept.and_then(|warp| warp.kept.take());
            let regs = match kept {
                Some(regs) => renewed(worker, self, regs),
                None => registers(worker, self, number, 0, 0),
            };
            let threads = (threads - number * 32).min(32);
            let mask = if threads == 32 {
                u32::MAX
            } else {
                (1 << threads) - 1
            };
            let Some(warp) = self.warps.get_mut(number as usize) else {
                continue;
            };
            warp.number = number;
            warp.live = mask;
            warp.arrived = 0;
            warp.rotate = false;
            warp.stride = worker.stride;
            warp.local.resize(32 * worker.stride as usize, 0);
            warp.fragments.clear();
            warp.fragments.push(Fragment {
                pc: 0,
                mask,
                frame: 0,
                state: State::Ready,
                stamp: 0,
            });
            let frame = Frame {
                function: 0,
                regs,
                local: 0,
                caller: None,
                depth: 0,
                users: 1,
            };
            warp.frames.clear();
            warp.frames.push(Some(frame));
        }
    }

    /// Gives every warp a turn.
    pub(super) fn turn(&mut self, worker: &mut Worker<'_>) -> Result<Turn, Fault> {
        let mut progress = false;
        // Taken out so that each can be borrowed beside the block.
        let mut warps = std::mem::take(&mut self.warps);
        for warp in warps.iter_mut().filter(|warp| warp.live != 0) {
            match interpret::run(warp, self, worker) {
                Ok(ran) => progress |= ran,
                Err((trouble, at)) => return Err(self.fault(trouble, at, worker)),
            }
        }
        self.warps = warps;
        if self.live == 0 {
            return Ok(Turn::Done);
        }
        progress |= barrier::release(self, worker.program);
        if progress {
            Ok(Turn::More)
        } else {
            Err(self.deadlock(worker))
        }
    }

    fn fault(&self, trouble: Trouble, at: interpret::At, worker: &Worker<'_>) -> Fault {
        trouble.at(self.site(worker, at))
    }

    fn site(&self, worker: &Worker<'_>, at: interpret::At) -> Site {
        let code = worker.program.functions.get(at.function as usize);
        Site {
            function: code.map_or_else(String::new, |code| code.name.clone()),
            line: worker
                .program
                .instruction(at.function, at.pc)
                .map_or(0, |inst| inst.line),
            block: self.position,
            thread: thread_of(at.warp * 32 + at.lane, worker.launch.block),
        }
    }

    fn deadlock(&self, worker: &Worker<'_>) -> Fault {
        let mut waiting = 0;
        let mut first = None;
        for warp in &self.warps {
            for fragment in &warp.fragments {
                waiting += fragment.mask.count_ones();
                first.get_or_insert(interpret::At {
                    function: warp.frame(fragment.frame).map_or(0, |frame| frame.function),
                    pc: fragment.pc,
                    warp: warp.number,
                    lane: fragment.mask.trailing_zeros(),
                });
            }
        }
        let site = first.map(|at| self.site(worker, at)).unwrap_or_default();
        Fault::Deadlock { waiting, site }
    }
}
