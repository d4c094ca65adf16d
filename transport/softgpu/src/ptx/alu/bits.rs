//! Logic, shifts, bit fields, and moves between registers. PTX ISA 8.x, sections 9.7.1, 9.7.7, 9.7.8.

use super::super::types::{Class, Type};
use super::{Exec, Operands, Regs, lanes, masks};

pub(crate) fn and(ty: Type) -> Exec {
    match ty.class() {
        Class::Pred => masks!(|a, b| a & b),
        Class::Narrow => lanes!(|a: u32, b: u32| a & b),
        Class::Wide => lanes!(|a: u64, b: u64| a & b),
    }
}

pub(crate) fn or(ty: Type) -> Exec {
    match ty.class() {
        Class::Pred => masks!(|a, b| a | b),
        Class::Narrow => lanes!(|a: u32, b: u32| a | b),
        Class::Wide => lanes!(|a: u64, b: u64| a | b),
    }
}

pub(crate) fn xor(ty: Type) -> Exec {
    match ty.class() {
        Class::Pred => masks!(|a, b| a ^ b),
        Class::Narrow => lanes!(|a: u32, b: u32| a ^ b),
        Class::Wide => lanes!(|a: u64, b: u64| a ^ b),
    }
}

pub(crate) fn not(ty: Type) -> Option<Exec> {
    Some(match ty {
        Type::Pred => masks!(|a| !a),
        Type::B16 => lanes!(|a: u16| !a),
        Type::B32 => lanes!(|a: u32| !a),
        Type::B64 => lanes!(|a: u64| !a),
        _ => return None,
    })
}

/// cnot: 1 if zero, else 0.
pub(crate) fn cnot(ty: Type) -> Option<Exec> {
    Some(match ty {
        Type::B16 => lanes!(|a: u16| u16::from(a == 0)),
        Type::B32 => lanes!(|a: u32| u32::from(a == 0)),
        Type::B64 => lanes!(|a: u64| u64::from(a == 0)),
        _ => return None,
    })
}

/// Any function of three bits, given by its table of eight, which is the same for all lanes.
pub(crate) fn lop3() -> Exec {
    fn run(regs: &mut Regs, o: &Operands, mask: u32) {
        let table = regs.narrow(o.x)[0];
        let mut out = [0; super::WARP];
        for row in 0..8 {
            if table >> row & 1 == 0 {
                continue;
            }
            // What is to be inverted.
            let [a, b, c] = [4, 2, 1].map(|bit| if row & bit != 0 { 0 } else { u32::MAX });
            let sources = regs
                .narrow(o.a)
                .iter()
                .zip(regs.narrow(o.b))
                .zip(regs.narrow(o.c));
            for (out, ((p, q), r)) in out.iter_mut().zip(sources) {
                *out |= (p ^ a) & (q ^ b) & (r ^ c);
            }
        }
        regs.write_narrow(o.d, &out, mask);
    }
    run
}

/// Shift amounts beyond the width count as the width.
pub(crate) fn shl(ty: Type) -> Option<Exec> {
    Some(match ty {
        Type::B16 => lanes!(|a: u16, b: u32| a.checked_shl(b).unwrap_or(0)),
        Type::B32 => lanes!(|a: u32, b: u32| a.checked_shl(b).unwrap_or(0)),
        Type::B64 => lanes!(|a: u64, b: u32| a.checked_shl(b).unwrap_or(0)),
        _ => return None,
    })
}

pub(crate) fn shr(ty: Type) -> Option<Exec> {
    Some(match ty.unsigned() {
        Type::U16 => lanes!(|a: u16, b: u32| a.checked_shr(b).unwrap_or(0)),
        Type::U32 => lanes!(|a: u32, b: u32| a.checked_shr(b).unwrap_or(0)),
        Type::U64 => lanes!(|a: u64, b: u32| a.checked_shr(b).unwrap_or(0)),
        Type::S16 => lanes!(|a: i16, b: u32| a >> b.min(15)),
        Type::S32 => lanes!(|a: i32, b: u32| a >> b.min(31)),
        Type::S64 => lanes!(|a: i64, b: u32| a >> b.min(63)),
        _ => return None,
    })
}

/// Funnel shift of the 64 bits b:a; the upper or the lower half of the result.
pub(crate) fn shf(left: bool, wrap: bool) -> Exec {
    match (left, wrap) {
        (true, true) => lanes!(|a: u32, b: u32, n: u32| {
            ((((u64::from(b) << 32) | u64::from(a)) << (n & 31)) >> 32) as u32
        }),
        (true, false) => lanes!(|a: u32, b: u32, n: u32| {
            ((((u64::from(b) << 32) | u64::from(a)) << n.min(32)) >> 32) as u32
        }),
        (false, true) => lanes!(|a: u32, b: u32, n: u32| {
            (((u64::from(b) << 32) | u64::from(a)) >> (n & 31)) as u32
        }),
        (false, false) => lanes!(|a: u32, b: u32, n: u32| {
            (((u64::from(b) << 32) | u64::from(a)) >> n.min(32)) as u32
        }),
    }
}

pub(crate) fn popc(ty: Type) -> Option<Exec> {
    Some(match ty {
        Type::B32 => lanes!(|a: u32| a.count_ones()),
        Type::B64 => lanes!(|a: u64| a.count_ones()),
        _ => return None,
    })
}

pub(crate) fn clz(ty: Type) -> Option<Exec> {
    Some(match ty {
        Type::B32 => lanes!(|a: u32| a.leading_zeros()),
        Type::B64 => lanes!(|a: u64| a.leading_zeros()),
        _ => return None,
    })
}

pub(crate) fn brev(ty: Type) -> Option<Exec> {
    Some(match ty {
        Type::B32 => lanes!(|a: u32| a.reverse_bits()),
        Type::B64 => lanes!(|a: u64| a.reverse_bits()),
        _ => return None,
    })
}

fn find(value: u64, width: u32, shift_amount: bool) -> u32 {
    if value == 0 {
        return u32::MAX;
    }
    let at = 63 - value.leading_zeros();
    if shift_amount { width - 1 - at } else { at }
}

/// The most significant bit that differs from the sign; with `amount` the shift that brings it up.
pub(crate) fn bfind(ty: Type, amount: bool) -> Option<Exec> {
    Some(match (ty, amount) {
        (Type::U32, false) => lanes!(|a: u32| find(u64::from(a), 32, false)),
        (Type::U32, true) => lanes!(|a: u32| find(u64::from(a), 32, true)),
        (Type::U64, false) => lanes!(|a: u64| find(a, 64, false)),
        (Type::U64, true) => lanes!(|a: u64| find(a, 64, true)),
        (Type::S32, false) => lanes!(|a: i32| find(u64::from((a ^ (a >> 31)) as u32), 32, false)),
        (Type::S32, true) => lanes!(|a: i32| find(u64::from((a ^ (a >> 31)) as u32), 32, true)),
        (Type::S64, false) => lanes!(|a: i64| find((a ^ (a >> 63)) as u64, 64, false)),
        (Type::S64, true) => lanes!(|a: i64| find((a ^ (a >> 63)) as u64, 64, true)),
        _ => return None,
    })
}

/// Bits `position..position + len` of a value of `width` bits, sign-extended if wanted.
fn extract(a: u64, position: u32, len: u32, width: u32, signed: bool) -> u64 {
    let (position, len) = (position & 0xff, len & 0xff);
    if len == 0 {
        return 0;
    }
    let bit = |at: u32| a >> at.min(width - 1) & 1;
    let sign = signed && bit(position + len - 1) != 0;
    let field = a.checked_shr(position).unwrap_or(0);
    let present = len.min(width.saturating_sub(position));
    let mask = if present >= 64 {
        u64::MAX
    } else {
        (1 << present) - 1
    };
    (field & mask) | if sign { !mask } else { 0 }
}

pub(crate) fn bfe(ty: Type) -> Option<Exec> {
    Some(match ty {
        Type::U32 => lanes!(|a: u32, p: u32, n: u32| extract(u64::from(a), p, n, 32, false) as u32),
        Type::S32 => lanes!(|a: u32, p: u32, n: u32| extract(u64::from(a), p, n, 32, true) as i32),
        Type::U64 => lanes!(|a: u64, p: u32, n: u32| extract(a, p, n, 64, false)),
        Type::S64 => lanes!(|a: u64, p: u32, n: u32| extract(a, p, n, 64, true)),
        _ => return None,
    })
}

fn insert(a: u64, b: u64, position: u32, len: u32, width: u32) -> u64 {
    let (position, len) = (position & 0xff, len & 0xff);
    if position >= width {
        return b;
    }
    let len = len.min(width - position);
    let mask = if len >= 64 { u64::MAX } else { (1 << len) - 1 };
    (b & !(mask << position)) | (a & mask) << position
}

/// bfi: the low bits of a put into b.
pub(crate) fn bfi(ty: Type) -> Option<Exec> {
    Some(match ty {
        Type::B32 => lanes!(|a: u32, b: u32, p: u32, n: u32| {
            insert(u64::from(a), u64::from(b), p, n, 32) as u32
        }),
        Type::B64 => lanes!(|a: u64, b: u64, p: u32, n: u32| insert(a, b, p, n, 64)),
        _ => return None,
    })
}

/// A mask of `len` bits at `position`.
pub(crate) fn bmsk(wrap: bool) -> Exec {
    fn mask(position: u32, len: u32) -> u32 {
        let ones = if len >= 32 { u32::MAX } else { (1 << len) - 1 };
        ones.checked_shl(position).unwrap_or(0)
    }
    if wrap {
        lanes!(|a: u32, b: u32| mask(a & 31, b & 31))
    } else {
        lanes!(|a: u32, b: u32| mask(a, b))
    }
}

fn extend(a: u32, width: u32, signed: bool) -> u32 {
    if width >= 32 {
        return a;
    }
    if width == 0 {
        return 0;
    }
    let shift = 32 - width;
    if signed {
        (((a << shift) as i32) >> shift) as u32
    } else {
        (a << shift) >> shift
    }
}

/// Sign- or zero-extends the low b bits of a.
pub(crate) fn szext(ty: Type, wrap: bool) -> Option<Exec> {
    Some(match (ty, wrap) {
        (Type::U32, false) => lanes!(|a: u32, b: u32| extend(a, b, false)),
        (Type::U32, true) => lanes!(|a: u32, b: u32| extend(a, b & 31, false)),
        (Type::S32, false) => lanes!(|a: u32, b: u32| extend(a, b, true)),
        (Type::S32, true) => lanes!(|a: u32, b: u32| extend(a, b & 31, true)),
        _ => return None,
    })
}

fn permute(a: u32, b: u32, select: [u8; 4]) -> u32 {
    let bytes = ((u64::from(b) << 32) | u64::from(a)).to_le_bytes();
    u32::from_le_bytes(select.map(|choice| {
        let byte = bytes[usize::from(choice & 7)];
        if choice & 8 != 0 {
            if byte & 0x80 != 0 { 0xff } else { 0 }
        } else {
            byte
        }
    }))
}

/// prmt: picks four of eight bytes; the modes are fixed patterns.
pub(crate) fn prmt(mode: &str) -> Option<Exec> {
    Some(match mode {
        "" => lanes!(|a: u32, b: u32, c: u32| {
            permute(
                a,
                b,
                [c, c >> 4, c >> 8, c >> 12].map(|nibble| nibble as u8 & 15),
            )
        }),
        "f4e" => lanes!(|a: u32, b: u32, c: u32| {
            permute(a, b, [0, 1, 2, 3].map(|i| (i + (c & 3) as u8) & 7))
        }),
        "b4e" => lanes!(|a: u32, b: u32, c: u32| {
            permute(a, b, [0_u8, 7, 6, 5].map(|i| (i + (c & 3) as u8) & 7))
        }),
        "rc8" => lanes!(|a: u32, b: u32, c: u32| permute(a, b, [(c & 3) as u8; 4])),
        "ecl" => lanes!(|a: u32, b: u32, c: u32| {
            permute(a, b, [0, 1, 2, 3].map(|i| i.max((c & 3) as u8)))
        }),
        "ecr" => lanes!(|a: u32, b: u32, c: u32| {
            permute(a, b, [0, 1, 2, 3].map(|i| i.min((c & 3) as u8)))
        }),
        "rc16" => lanes!(|a: u32, b: u32, c: u32| {
            let low = (c & 1) as u8 * 2;
            permute(a, b, [low, low + 1, low, low + 1])
        }),
        _ => return None,
    })
}

/// selp: a where the predicate c holds, else b.
pub(crate) fn selp(ty: Type) -> Exec {
    match ty.class() {
        Class::Wide => lanes!(|a: u64, b: u64, c: bool| if c { a } else { b }),
        _ => lanes!(|a: u32, b: u32, c: bool| if c { a } else { b }),
    }
}

/// slct: a where c >= 0, else b. NaN picks b.
pub(crate) fn slct(ty: Type, float: bool, flush: bool) -> Exec {
    macro_rules! by {
        ($T:ty) => {
            match (float, flush) {
                (false, _) => lanes!(|a: $T, b: $T, c: i32| if c >= 0 { a } else { b }),
                // A negative subnormal counts as zero when flushed.
                (true, true) => lanes!(|a: $T, b: $T, c: f32| {
                    if c >= 0.0 || c.is_subnormal() { a } else { b }
                }),
                (true, false) => lanes!(|a: $T, b: $T, c: f32| if c >= 0.0 { a } else { b }),
            }
        };
    }
    match ty.class() {
        Class::Wide => by!(u64),
        _ => by!(u32),
    }
}

pub(crate) fn copy(class: Class) -> Exec {
    match class {
        Class::Pred => masks!(|a| a),
        Class::Narrow => lanes!(|a: u32| a),
        Class::Wide => lanes!(|a: u64| a),
    }
}

/// The low bits of a wide register in a narrow one.
pub(crate) fn narrow() -> Exec {
    lanes!(|a: u64| a as u32)
}

/// A narrow register in a wide one.
pub(crate) fn widen(signed: bool) -> Exec {
    match signed {
        true => lanes!(|a: i32| i64::from(a)),
        false => lanes!(|a: u32| u64::from(a)),
    }
}

/// a + b of 64 bits, for addresses.
pub(crate) fn offset() -> Exec {
    lanes!(|a: u64, b: u64| a.wrapping_add(b))
}

/// Puts a, of `width` bits, below b; the result is of this class.
pub(crate) fn pack(width: u32, class: Class) -> Option<Exec> {
    Some(match (width, class) {
        (8, Class::Narrow) => lanes!(|a: u8, b: u32| u32::from(a) | b << 8),
        (16, Class::Narrow) => lanes!(|a: u16, b: u32| u32::from(a) | b << 16),
        (16, Class::Wide) => lanes!(|a: u16, b: u64| u64::from(a) | b << 16),
        (32, Class::Wide) => lanes!(|a: u32, b: u64| u64::from(a) | b << 32),
        _ => return None,
    })
}

/// Part `b` (a constant slot with the shift) of `width` bits of a, which is of this class.
pub(crate) fn unpack(width: u32, class: Class) -> Option<Exec> {
    Some(match (width, class) {
        (8, Class::Narrow) => lanes!(|a: u32, b: u32| (a >> (b & 31)) as u8),
        (16, Class::Narrow) => lanes!(|a: u32, b: u32| (a >> (b & 31)) as u16),
        (16, Class::Wide) => lanes!(|a: u64, b: u32| (a >> (b & 63)) as u16),
        (32, Class::Wide) => lanes!(|a: u64, b: u32| (a >> (b & 63)) as u32),
        _ => return None,
    })
}
