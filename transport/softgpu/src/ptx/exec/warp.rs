//! Instructions of which several lanes take part: shuffles, votes, matches, reductions.

use super::super::alu::{Lanes, each};
use super::super::program::{Inst, NONE, Reduce, Shuffle, WarpKind};

/// Carries out `inst` for the lanes of `mask`. `staged` holds the source of all that take part, and
/// `groups` who takes part together with each lane.
pub(super) fn perform(
    kind: WarpKind,
    inst: &Inst,
    regs: &mut [Lanes],
    mask: u32,
    staged: &[u64; 32],
    groups: &[u32; 32],
) {
    let o = &inst.o;
    let mut set = |slot: u32, lane: usize, value: u64| {
        if slot != NONE {
            regs[slot as usize].0[lane] = value;
        }
    };
    match kind {
        WarpKind::Sync => {}
        WarpKind::Shuffle { mode, predicate } => {
            let (b, c) = (regs[o.b as usize], regs[o.c as usize]);
            each(mask, |lane| {
                let (from, inside) = source(mode, lane as u32, b.0[lane] as u32, c.0[lane] as u32);
                regs[o.d as usize].0[lane] = staged[from as usize & 31];
                if predicate != NONE {
                    regs[predicate as usize].0[lane] = u64::from(inside);
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
                let value = match kind {
                    WarpKind::All => u32::from(ballot == group),
                    WarpKind::Any => u32::from(ballot != 0),
                    WarpKind::Uniform => u32::from(ballot == group || ballot == 0),
                    _ => ballot,
                };
                set(o.d, lane, u64::from(value));
            });
        }
        WarpKind::MatchAny { wide } | WarpKind::MatchAll { wide, .. } => each(mask, |lane| {
            let value = |other: usize| {
                if wide {
                    staged[other]
                } else {
                    staged[other] & 0xffff_ffff
                }
            };
            let group = groups[lane];
            let mut same = 0_u32;
            each(group, |other| {
                same |= u32::from(value(other) == value(lane)) << other
            });
            if let WarpKind::MatchAll { predicate, .. } = kind {
                let all = same == group;
                set(o.d, lane, u64::from(if all { group } else { 0 }));
                set(predicate, lane, u64::from(all));
            } else {
                set(o.d, lane, u64::from(same));
            }
        }),
        WarpKind::Reduce(op) => each(mask, |lane| {
            let mut values = Vec::with_capacity(32);
            each(groups[lane], |other| values.push(staged[other] as u32));
            set(o.d, lane, u64::from(reduce(op, &values)));
        }),
        WarpKind::Elect { predicate } => each(mask, |lane| {
            let leader = groups[lane].trailing_zeros();
            set(o.d, lane, u64::from(leader));
            set(predicate, lane, u64::from(leader as usize == lane));
        }),
    }
}

/// The lane that a shuffle reads, and whether it is within the segment (PTX ISA, shfl.sync).
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

fn reduce(op: Reduce, values: &[u32]) -> u32 {
    let all = values.iter().copied();
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
