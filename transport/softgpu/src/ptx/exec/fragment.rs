//! The lanes of a warp that run together, and which of them run next.

use std::sync::Arc;

use super::super::alu::Regs;
use super::super::program::CallSite;

/// Whether a fragment can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    /// At a barrier of the block, of this number.
    Barrier(u32),
    /// At the same, where its warp has been counted.
    Counted(u32),
    /// At the barrier of the cluster, where it has arrived.
    Cluster,
    /// At an instruction that waits for other lanes of the warp.
    Warp,
}

/// Lanes at one instruction of one frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fragment {
    pub(super) pc: u32,
    pub(super) mask: u32,
    pub(super) frame: u32,
    pub(super) state: State,
    /// When it ran last.
    pub(super) stamp: u64,
}

impl Fragment {
    /// It has waited at its instruction long enough.
    pub(super) fn go_on(&mut self) {
        self.state = State::Ready;
        self.pc += 1;
    }
}

/// An activation of a function by some lanes.
#[derive(Debug)]
pub(super) struct Frame {
    /// Number within the program.
    pub(super) function: u32,
    pub(super) regs: Regs,
    /// Start of its local memory in each lane's stack.
    pub(super) local: u32,
    /// The caller's frame, the call, and where to go on; None in the kernel itself.
    pub(super) caller: Option<Caller>,
    pub(super) depth: u32,
    /// Fragments in it plus frames called from it.
    pub(super) users: u32,
}

/// Where a frame returns to.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    pub(super) frame: u32,
    pub(super) site: Arc<CallSite>,
    pub(super) pc: u32,
}

/// A warp: its fragments and frames.
#[derive(Debug, Default)]
pub(super) struct Warp {
    pub(super) number: u32,
    /// Lanes that have not exited.
    pub(super) live: u32,
    /// Lanes that have arrived at the barrier of the cluster since it was complete last.
    pub(super) arrived: u32,
    pub(super) fragments: Vec<Fragment>,
    pub(super) frames: Vec<Option<Frame>>,
    /// Registers of the kernel itself that a block before has used.
    pub(super) kept: Option<Regs>,
    /// Stacks of the lanes.
    pub(super) local: Vec<u8>,
    pub(super) stride: u32,
    /// Counts the times a fragment was chosen.
    pub(super) clock: u64,
    /// The next to run is the one that waited longest, not the one at the lowest instruction.
    pub(super) rotate: bool,
    /// Masks and values of the lanes that wait at instructions of the warp.
    pub(super) members: [u32; 32],
    pub(super) staged: [u64; 32],
}

impl Warp {
    pub(super) fn frame(&self, number: u32) -> Option<&Frame> {
        self.frames.get(number as usize).and_then(Option::as_ref)
    }

    pub(super) fn frame_mut(&mut self, number: u32) -> Option<&mut Frame> {
        self.frames
            .get_mut(number as usize)
            .and_then(Option::as_mut)
    }

    /// The fragment to run next; those at the same place are joined to it.
    pub(super) fn choose(&mut self) -> Option<usize> {
        if let [only] = self.fragments.as_slice() {
            return (only.state == State::Ready).then_some(0);
        }
        let mut chosen: Option<usize> = None;
        for (at, fragment) in self.fragments.iter().enumerate() {
            if fragment.state != State::Ready {
                continue;
            }
            let better = chosen.is_none_or(|chosen| {
                let best = &self.fragments[chosen];
                if self.rotate {
                    fragment.stamp < best.stamp
                } else if fragment.frame == best.frame {
                    fragment.pc < best.pc
                } else {
                    let depth = |f: &Fragment| self.frame(f.frame).map_or(0, |frame| frame.depth);
                    (depth(best), fragment.pc) < (depth(fragment), best.pc)
                }
            });
            if better {
                chosen = Some(at);
            }
        }
        Some(self.join(chosen?))
    }

    /// Joins those at the same place to fragment `at`; its number afterwards.
    fn join(&mut self, mut at: usize) -> usize {
        let Fragment { pc, frame, .. } = self.fragments[at];
        let mut other = self.fragments.len();
        while other > 0 {
            other -= 1;
            let fragment = self.fragments[other];
            let same = fragment.state == State::Ready && fragment.pc == pc;
            if other == at || !same || fragment.frame != frame {
                continue;
            }
            let joined = &mut self.fragments[at];
            joined.mask |= fragment.mask;
            joined.stamp = joined.stamp.min(fragment.stamp);
            self.fragments.swap_remove(other);
            // The last one has taken the place.
            if at == self.fragments.len() {
                at = other;
            }
            if let Some(frame) = self.frame_mut(frame) {
                frame.users -= 1;
            }
        }
        at
    }

    /// The lowest instruction at which another fragment of the same frame waits to run, from the
    /// current one's on: there it stops to be joined or overtaken.
    pub(super) fn limit(&self, at: usize) -> u32 {
        if self.rotate || self.fragments.len() == 1 {
            return u32::MAX;
        }
        let frame = self.fragments[at].frame;
        self.fragments
            .iter()
            .enumerate()
            .filter(|(other, f)| *other != at && f.state == State::Ready && f.frame == frame)
            .map(|(_, f)| f.pc)
            .min()
            .unwrap_or(u32::MAX)
    }

    /// Notes that fragment `at` runs now.
    pub(super) fn take_turn(&mut self, at: usize) {
        self.clock += 1;
        self.fragments[at].stamp = self.clock;
    }

    /// Makes lanes of fragment `at` a fragment of their own.
    pub(super) fn split(&mut self, at: usize, mask: u32, pc: u32) {
        let Some(fragment) = self.fragments.get_mut(at) else {
            return;
        };
        fragment.mask &= !mask;
        let new = Fragment {
            pc,
            mask,
            ..*fragment
        };
        if let Some(frame) = self.frame_mut(new.frame) {
            frame.users += 1;
        }
        self.fragments.push(new);
    }
}
