//! Instructions of which several lanes take part: shuffles, votes, matches, reductions.

use super::super::alu::{Operands, Regs, WARP, each};
use super::super::program::{Inst, NONE, Reduce, Shuffle, WarpKind};
use super::super::types::Class;
use super::vectors;

/// Carries out `inst` for the lanes of `mask`, which all take part with those of `group` and hold what the
/// others need.
pub(super) fn together(kind: WarpKind, inst: &Inst, regs: &mut Regs, mask: u32, group: u32) {
    let o = &inst.o;
    let narrow = |regs: &mut Regs, value: u32| regs.write_narrow(o.d, &[value; WARP], mask);
    match kind {
        WarpKind::Sync => {}
        WarpKind::Shuffle { mode, predicate } => {
            let (out, inside) = vectors::shuffle(mode, regs, o);
            regs.write_narrow(o.d, &out, mask);
            if predicate != NONE {
                regs.set_mask(predicate, mask, inside);
            }
        }
        WarpKind::Ballot => {
            let ballot = regs.mask(o.a) & group;
            narrow(regs, ballot);
        }
        WarpKind::All | WarpKind::Any | WarpKind::Uniform => {
            let holds = vote(kind, regs.mask(o.a) & group, group);
            regs.set_mask(o.d, mask, if holds { u32::MAX } else { 0 });
        }
        WarpKind::Reduce(op) => {
            let value = reduce(op, regs.narrow(o.a), group);
            narrow(regs, value);
        }
        WarpKind::MatchAny { .. } | WarpKind::MatchAll { .. } | WarpKind::Elect { .. } => {
            let staged = staged(kind, inst, regs);
            perform(kind, inst, regs, mask, &staged, &[group; WARP]);
        }
    }
}

/// What the lanes bring to an instruction.
pub(super) fn staged(kind: WarpKind, inst: &Inst, regs: &Regs) -> [u64; WARP] {
    let class = match kind {
        WarpKind::Sync | WarpKind::Elect { .. } => return [0; WARP],
        WarpKind::All | WarpKind::Any | WarpKind::Uniform | WarpKind::Ballot => Class::Pred,
        WarpKind::MatchAny { wide: true } | WarpKind::MatchAll { wide: true, .. } => Class::Wide,
        _ => Class::Narrow,
    };
    std::array::from_fn(|lane| regs.get(inst.o.a, class, lane))
}

fn vote(kind: WarpKind, ballot: u32, group: u32) -> bool {
    match kind {
        WarpKind::All => ballot == group,
        WarpKind::Any => ballot != 0,
        _ => ballot == group || ballot == 0,
    }
}

/// Carries out `inst` for the lanes of `mask`. `staged` holds the source of all that take part, and
/// `groups` who takes part together with each lane.
pub(super) fn perform(
    kind: WarpKind,
    inst: &Inst,
    regs: &mut Regs,
    mask: u32,
    staged: &[u64; WARP],
    groups: &[u32; WARP],
) {
    let o = &inst.o;
    let mut set = |slot: u32, class: Class, lane: usize, value: u64| {
        if slot != NONE {
            regs.put(slot, class, lane, value);
        }
    };
    match kind {
        WarpKind::Sync => {}
        WarpKind::Shuffle { mode, predicate } => {
            let (b, c) = (*regs.narrow(o.b), *regs.narrow(o.c));
            each(mask, |lane| {
                let (from, inside) = source(mode, lane as u32, b[lane], c[lane]);
                regs.narrow_mut(o.d)[lane] = staged[from as usize & 31] as u32;
                if predicate != NONE {
                    regs.put(predicate, Class::Pred, lane, inside.into());
                }
            });
        }
        WarpKind::All | WarpKind::Any | WarpKind::Uniform | WarpKind::Ballot => {
            each(mask, |lane| {
                let group = groups[lane];
                let mut ballot = 0_u32;
                each(group, |other| {
                    ballot |= ((staged[other] & 1) as u32) << other
                });
                match kind {
                    WarpKind::Ballot => set(o.d, Class::Narrow, lane, ballot.into()),
                    _ => set(o.d, Class::Pred, lane, vote(kind, ballot, group).into()),
                }
            });
        }
        WarpKind::MatchAny { .. } | WarpKind::MatchAll { .. } => each(mask, |lane| {
            let group = groups[lane];
            let mut same = 0_u32;
            each(group, |other| {
                same |= u32::from(staged[other] == staged[lane]) << other
            });
            if let WarpKind::MatchAll { predicate, .. } = kind {
                let all = same == group;
                set(o.d, Class::Narrow, lane, if all { group.into() } else { 0 });
                set(predicate, Class::Pred, lane, all.into());
            } else {
                set(o.d, Class::Narrow, lane, same.into());
            }
        }),
        WarpKind::Reduce(op) => each(mask, |lane| {
            let value = reduce(op, &staged.map(|value| value as u32), groups[lane]);
            set(o.d, Class::Narrow, lane, value.into());
        }),
        WarpKind::Elect { predicate } => each(mask, |lane| {
            let leader = groups[lane].trailing_zeros();
            set(o.d, Class::Narrow, lane, leader.into());
            set(
                predicate,
                Class::Pred,
                lane,
                (leader as usize == lane).into(),
            );
        }),
    }
}

/// What a shuffle gives all lanes, and for which of them the source is within the segment.
#[inline(always)]
pub(super) fn shuffled(mode: Shuffle, regs: &Regs, o: &Operands) -> ([u32; WARP], u32) {
    let (a, b, c) = (regs.narrow(o.a), regs.narrow(o.b), regs.narrow(o.c));
    let mut from = [0; WARP];
    let mut inside = [false; WARP];
    macro_rules! all {
        ($mode:expr) => {
            for lane in 0..WARP {
                (from[lane], inside[lane]) = source($mode, lane as u32, b[lane], c[lane]);
            }
        };
    }
    match mode {
        Shuffle::Up => all!(Shuffle::Up),
        Shuffle::Down => all!(Shuffle::Down),
        Shuffle::Butterfly => all!(Shuffle::Butterfly),
        Shuffle::Index => all!(Shuffle::Index),
    }
    let mut mask = 0;
    for (lane, inside) in inside.iter().enumerate() {
        mask |= u32::from(*inside) << lane;
    }
    (from.map(|from| a[from as usize & 31]), mask)
}

/// The lane that a shuffle reads, and whether it is within the segment (PTX ISA, shfl.sync).
#[inline(always)]
fn source(mode: Shuffle, lane: u32, b: u32, c: u32) -> (u32, bool) {
    let (b, clamp, segment) = (b & 31, c & 31, c >> 8 & 31);
    let first = lane & segment;
    let last = first | (clamp & !segment);
    let (from, inside) = match mode {
        Shuffle::Up => (lane.wrapping_sub(b), lane as i32 - b as i32 >= last as i32),
        Shuffle::Down => (lane + b, lane + b <= last),
        Shuffle::Butterfly => (lane ^ b, lane ^ b <= last),
        Shuffle::Index => {
            let from = first | (b & !segment);
            (from, from <= last)
        }
    };
    if inside { (from, true) } else { (lane, false) }
}

/// Reduces the values of the lanes of a group.
fn reduce(op: Reduce, values: &[u32; WARP], group: u32) -> u32 {
    let all = (0..WARP)
        .filter(|lane| group >> lane & 1 != 0)
        .map(|lane| values[lane]);
    match op {
        Reduce::Add => all.fold(0, u32::wrapping_add),
        Reduce::And => all.fold(u32::MAX, |a, b| a & b),
        Reduce::Or => all.fold(0, |a, b| a | b),
        Reduce::Xor => all.fold(0, |a, b| a ^ b),
        Reduce::MinU => all.min().unwrap_or(0),
        Reduce::MaxU => all.max().unwrap_or(0),
        Reduce::MinS => all.map(|v| v as i32).min().unwrap_or(0) as u32,
        Reduce::MaxS => all.map(|v| v as i32).max().unwrap_or(0) as u32,
    }
}
