//! What atomics make of the value in memory. PTX ISA 8.x, section 9.7.13 (atom, red).

use super::super::alu::float::flush;
use super::super::alu::half::Half;
use super::super::types::Type;

/// The new value from the old one and the operands b and c.
pub(crate) type Update = fn(u64, u64, u64) -> u64;

/// As [`update`], for global memory: there additions of f32 take and give no subnormal numbers.
pub(crate) fn update_global(op: &str, ty: Type) -> Option<Update> {
    let add: Update = |old, b, _| {
        let [old, b] = [old, b].map(|bits| flush::<true>(f32::from_bits(bits as u32)));
        u64::from(flush::<true>(old + b).to_bits())
    };
    match (op, ty) {
        ("add", Type::F32) => Some(add),
        _ => update(op, ty),
    }
}

/// The function of an operation; None: PTX has no such atomic.
pub(crate) fn update(op: &str, ty: Type) -> Option<Update> {
    Some(match (op, ty.unsigned()) {
        ("exch", _) => |_, b, _| b,
        ("cas", Type::U16) => |old, b, c| if old as u16 == b as u16 { c } else { old },
        ("cas", Type::U32) => |old, b, c| if old as u32 == b as u32 { c } else { old },
        ("cas", Type::U64) => |old, b, c| if old == b { c } else { old },
        ("and", _) => |old, b, _| old & b,
        ("or", _) => |old, b, _| old | b,
        ("xor", _) => |old, b, _| old ^ b,
        ("add", Type::U32 | Type::S32 | Type::U64 | Type::S64) => |old, b, _| old.wrapping_add(b),
        ("add", Type::F32) => {
            |old, b, _| u64::from((f32::from_bits(old as u32) + f32::from_bits(b as u32)).to_bits())
        }
        ("add", Type::F64) => |old, b, _| (f64::from_bits(old) + f64::from_bits(b)).to_bits(),
        ("add", Type::F16) => |old, b, _| u64::from(Half::F16.add(old as u16, b as u16)),
        ("add", Type::BF16) => |old, b, _| u64::from(Half::Bf16.add(old as u16, b as u16)),
        ("add", Type::F16x2) => |old, b, _| halves(Half::F16, old, b),
        ("add", Type::BF16x2) => |old, b, _| halves(Half::Bf16, old, b),
        ("inc", Type::U32) => |old, b, _| {
            let (old, b) = (old as u32, b as u32);
            u64::from(if old >= b { 0 } else { old + 1 })
        },
        ("dec", Type::U32) => |old, b, _| {
            let (old, b) = (old as u32, b as u32);
            u64::from(if old == 0 || old > b { b } else { old - 1 })
        },
        ("min", Type::U32) => |old, b, _| u64::from((old as u32).min(b as u32)),
        ("max", Type::U32) => |old, b, _| u64::from((old as u32).max(b as u32)),
        ("min", Type::S32) => |old, b, _| u64::from((old as i32).min(b as i32) as u32),
        ("max", Type::S32) => |old, b, _| u64::from((old as i32).max(b as i32) as u32),
        ("min", Type::U64) => |old, b, _| old.min(b),
        ("max", Type::U64) => |old, b, _| old.max(b),
        ("min", Type::S64) => |old, b, _| (old as i64).min(b as i64) as u64,
        ("max", Type::S64) => |old, b, _| (old as i64).max(b as i64) as u64,
        _ => return None,
    })
}

fn halves(format: Half, a: u64, b: u64) -> u64 {
    let low = format.add(a as u16, b as u16);
    let high = format.add((a >> 16) as u16, (b >> 16) as u16);
    u64::from(low) | u64::from(high) << 16
}
