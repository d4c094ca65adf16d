//! Integer arithmetic. PTX ISA 8.x, section 9.7.1 and 9.7.2 (carries).

use super::super::types::Type;
use super::lane::{Read, Write};
use super::{Exec, Operands, Regs, WARP, for_integer, lanes, singly, vectors};

pub(crate) fn add(ty: Type, saturate: bool) -> Option<Exec> {
    if saturate {
        return (ty == Type::S32).then(|| lanes!(|a: i32, b: i32| a.saturating_add(b)));
    }
    for_integer!(ty, T => lanes!(|a: T, b: T| a.wrapping_add(b)))
}

pub(crate) fn sub(ty: Type, saturate: bool) -> Option<Exec> {
    if saturate {
        return (ty == Type::S32).then(|| lanes!(|a: i32, b: i32| a.saturating_sub(b)));
    }
    for_integer!(ty, T => lanes!(|a: T, b: T| a.wrapping_sub(b)))
}

pub(crate) fn mul_lo(ty: Type) -> Option<Exec> {
    for_integer!(ty, T => lanes!(|a: T, b: T| a.wrapping_mul(b)))
}

/// The upper half of the product of two T, as which W has room.
macro_rules! upper {
    ($T:ty, $W:ty, $a:expr, $b:expr) => {
        ((<$W>::from($a) * <$W>::from($b)) >> <$T>::BITS) as $T
    };
}

/// `$with!` of an integer type, of the type that is twice as wide, and of how lanes are taken: products of 128 bits
/// are expensive.
macro_rules! by_width {
    ($ty:expr, $with:ident) => {
        Some(match $ty {
            Type::U16 => $with!(u16, u32, lanes),
            Type::S16 => $with!(i16, i32, lanes),
            Type::U32 => $with!(u32, u64, lanes),
            Type::S32 => $with!(i32, i64, lanes),
            Type::U64 => $with!(u64, u128, singly),
            Type::S64 => $with!(i64, i128, singly),
            _ => return None,
        })
    };
}

pub(crate) fn mul_hi(ty: Type) -> Option<Exec> {
    macro_rules! with {
        ($T:ty, $W:ty, $take:ident) => {
            $take!(|a: $T, b: $T| upper!($T, $W, a, b))
        };
    }
    by_width!(ty, with)
}

pub(crate) fn mul_wide(ty: Type) -> Option<Exec> {
    Some(match ty {
        Type::U16 => lanes!(|a: u16, b: u16| u32::from(a) * u32::from(b)),
        Type::S16 => lanes!(|a: i16, b: i16| i32::from(a) * i32::from(b)),
        Type::U32 => lanes!(|a: u32, b: u32| u64::from(a) * u64::from(b)),
        Type::S32 => lanes!(|a: i32, b: i32| i64::from(a) * i64::from(b)),
        _ => return None,
    })
}

pub(crate) fn mad_lo(ty: Type) -> Option<Exec> {
    for_integer!(ty, T => lanes!(|a: T, b: T, c: T| a.wrapping_mul(b).wrapping_add(c)))
}

pub(crate) fn mad_hi(ty: Type, saturate: bool) -> Option<Exec> {
    if saturate {
        return (ty == Type::S32)
            .then(|| lanes!(|a: i32, b: i32, c: i32| upper!(i32, i64, a, b).saturating_add(c)));
    }
    macro_rules! with {
        ($T:ty, $W:ty, $take:ident) => {
            $take!(|a: $T, b: $T, c: $T| upper!($T, $W, a, b).wrapping_add(c))
        };
    }
    by_width!(ty, with)
}

pub(crate) fn mad_wide(ty: Type) -> Option<Exec> {
    Some(match ty {
        Type::U16 => lanes!(|a: u16, b: u16, c: u32| (u32::from(a) * u32::from(b)).wrapping_add(c)),
        Type::S16 => lanes!(|a: i16, b: i16, c: i32| (i32::from(a) * i32::from(b)).wrapping_add(c)),
        Type::U32 => lanes!(|a: u32, b: u32, c: u64| (u64::from(a) * u64::from(b)).wrapping_add(c)),
        Type::S32 => lanes!(|a: i32, b: i32, c: i64| (i64::from(a) * i64::from(b)).wrapping_add(c)),
        _ => return None,
    })
}

/// mul24 and mad24: products of the low 24 bits.
pub(crate) fn mul24(ty: Type, high: bool) -> Option<Exec> {
    Some(match (ty, high) {
        (Type::U32, false) => lanes!(|a: u32, b: u32| (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff)),
        (Type::U32, true) => lanes!(|a: u32, b: u32| {
            ((u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)) >> 16) as u32
        }),
        (Type::S32, false) => lanes!(|a: i32, b: i32| ((a << 8) >> 8).wrapping_mul((b << 8) >> 8)),
        (Type::S32, true) => lanes!(|a: i32, b: i32| {
            ((i64::from((a << 8) >> 8) * i64::from((b << 8) >> 8)) >> 16) as i32
        }),
        _ => return None,
    })
}

/// The quotient of numbers of 32 bits by that of f64, which vectors divide: it has too many bits for the
/// rounding to reach the next integer.
#[inline(always)]
fn quotient_unsigned(a: u32, b: u32) -> u32 {
    // 2^52: the bits of the integer are the lowest ones of the sum.
    ((f64::from(a) / f64::from(b)).floor() + 4_503_599_627_370_496.0).to_bits() as u32
}

/// As [`quotient_unsigned`]; the quotient of the least number by -1 is that number.
#[inline(always)]
fn quotient_signed(a: i32, b: i32) -> i32 {
    // 1.5 * 2^52, for negative ones.
    ((f64::from(a) / f64::from(b)).trunc() + 6_755_399_441_055_744.0).to_bits() as i32
}

/// Division by zero gives all ones, as NVIDIA's devices do; PTX leaves it open.
pub(crate) fn div(ty: Type) -> Option<Exec> {
    match ty.unsigned() {
        Type::U32 if vectors() => Some(lanes!(|a: u32, b: u32| {
            let quotient = quotient_unsigned(a, b);
            if b == 0 { !0 } else { quotient }
        })),
        Type::S32 if vectors() => Some(lanes!(|a: i32, b: i32| {
            let quotient = quotient_signed(a, b);
            if b == 0 { !0 } else { quotient }
        })),
        _ => {
            for_integer!(ty, T => singly!(|a: T, b: T| if b == 0 { !0 } else { a.wrapping_div(b) }))
        }
    }
}

/// The remainder by zero is the dividend.
pub(crate) fn rem(ty: Type) -> Option<Exec> {
    match ty.unsigned() {
        Type::U32 if vectors() => Some(lanes!(|a: u32, b: u32| {
            a.wrapping_sub(quotient_unsigned(a, b).wrapping_mul(b))
        })),
        Type::S32 if vectors() => Some(lanes!(|a: i32, b: i32| {
            a.wrapping_sub(quotient_signed(a, b).wrapping_mul(b))
        })),
        _ => {
            for_integer!(ty, T => singly!(|a: T, b: T| if b == 0 { a } else { a.wrapping_rem(b) }))
        }
    }
}

pub(crate) fn abs(ty: Type) -> Option<Exec> {
    Some(match ty {
        Type::S16 => lanes!(|a: i16| a.wrapping_abs()),
        Type::S32 => lanes!(|a: i32| a.wrapping_abs()),
        Type::S64 => lanes!(|a: i64| a.wrapping_abs()),
        _ => return None,
    })
}

pub(crate) fn neg(ty: Type) -> Option<Exec> {
    for_integer!(ty, T => lanes!(|a: T| (0 as T).wrapping_sub(a)))
}

pub(crate) fn min(ty: Type) -> Option<Exec> {
    for_integer!(ty, T => lanes!(|a: T, b: T| a.min(b)))
}

pub(crate) fn max(ty: Type) -> Option<Exec> {
    for_integer!(ty, T => lanes!(|a: T, b: T| a.max(b)))
}

/// c + |a - b|.
pub(crate) fn sad(ty: Type) -> Option<Exec> {
    Some(match ty {
        Type::U16 => lanes!(|a: u16, b: u16, c: u16| a.abs_diff(b).wrapping_add(c)),
        Type::U32 => lanes!(|a: u32, b: u32, c: u32| a.abs_diff(b).wrapping_add(c)),
        Type::U64 => lanes!(|a: u64, b: u64, c: u64| a.abs_diff(b).wrapping_add(c)),
        Type::S16 => lanes!(|a: i16, b: i16, c: i16| (a.abs_diff(b) as i16).wrapping_add(c)),
        Type::S32 => lanes!(|a: i32, b: i32, c: i32| (a.abs_diff(b) as i32).wrapping_add(c)),
        Type::S64 => lanes!(|a: i64, b: i64, c: i64| (a.abs_diff(b) as i64).wrapping_add(c)),
        _ => return None,
    })
}

fn bytes_of(value: u32, signed: bool) -> [i32; 4] {
    value.to_le_bytes().map(|byte| {
        if signed {
            i32::from(byte as i8)
        } else {
            i32::from(byte)
        }
    })
}

fn dot4(a: u32, b: u32, c: u32, signed_a: bool, signed_b: bool) -> u32 {
    let (a, b) = (bytes_of(a, signed_a), bytes_of(b, signed_b));
    a.iter()
        .zip(b)
        .fold(c, |sum, (a, b)| sum.wrapping_add((a * b) as u32))
}

/// `$with!` of whether each of two operands is signed.
macro_rules! by_signs {
    ($a:expr, $b:expr, $with:ident) => {
        Some(match ($a, $b) {
            (Type::U32, Type::U32) => $with!(false, false),
            (Type::S32, Type::S32) => $with!(true, true),
            (Type::U32, Type::S32) => $with!(false, true),
            (Type::S32, Type::U32) => $with!(true, false),
            _ => return None,
        })
    };
}

/// Dot product of four bytes, added to c.
pub(crate) fn dp4a(a: Type, b: Type) -> Option<Exec> {
    macro_rules! with {
        ($signed_a:expr, $signed_b:expr) => {
            lanes!(|a: u32, b: u32, c: u32| dot4(a, b, c, $signed_a, $signed_b))
        };
    }
    by_signs!(a, b, with)
}

fn dot2(a: u32, b: u32, c: u32, signed_a: bool, signed_b: bool, high: bool) -> u32 {
    let half = |at: u32| {
        let half = (a >> (16 * at)) as u16;
        if signed_a {
            i64::from(half as i16)
        } else {
            i64::from(half)
        }
    };
    let bytes = bytes_of(b, signed_b);
    let from = if high { 2 } else { 0 };
    let sum = half(0) * i64::from(bytes[from]) + half(1) * i64::from(bytes[from + 1]);
    c.wrapping_add(sum as u32)
}

/// Dot product of two halves of a with two bytes of b, added to c.
pub(crate) fn dp2a(a: Type, b: Type, high: bool) -> Option<Exec> {
    macro_rules! with {
        ($signed_a:expr, $signed_b:expr) => {
            match high {
                false => {
                    lanes!(|a: u32, b: u32, c: u32| dot2(a, b, c, $signed_a, $signed_b, false))
                }
                true => lanes!(|a: u32, b: u32, c: u32| dot2(a, b, c, $signed_a, $signed_b, true)),
            }
        };
    }
    by_signs!(a, b, with)
}

/// A word that sums carry out of.
trait Carry: Read + Write {
    /// The sum, or difference, of two words and a carry, and whether it carries.
    fn sum(self, other: Self, carried: bool, subtract: bool) -> (Self, bool);
}

macro_rules! carry {
    ($($ty:ty),*) => {$(
        impl Carry for $ty {
            #[inline(always)]
            fn sum(self, other: Self, carried: bool, subtract: bool) -> (Self, bool) {
                let carried = Self::from(carried);
                let (part, first) = match subtract {
                    true => self.overflowing_sub(other),
                    false => self.overflowing_add(other),
                };
                let (sum, second) = match subtract {
                    true => part.overflowing_sub(carried),
                    false => part.overflowing_add(carried),
                };
                (sum, first | second)
            }
        }
    )*};
}
carry!(u32, u64);

/// Adds with the carry (predicate x) as input or output.
fn carry<T: Carry, const IN: bool, const OUT: bool, const SUB: bool>(
    regs: &mut Regs,
    o: &Operands,
    mask: u32,
) {
    let (mut out, mut carries) = (T::ZERO, 0);
    let (a, b, carried) = (T::lanes(regs, o.a), T::lanes(regs, o.b), regs.mask(o.x));
    for i in 0..WARP {
        let carried = IN && carried >> i & 1 != 0;
        let (sum, carry) = T::lane(a, i).sum(T::lane(b, i), carried, SUB);
        sum.put(&mut out, i);
        carries |= u32::from(carry) << i;
    }
    T::write(&out, regs, o.d, mask, super::pack);
    if OUT {
        regs.set_mask(o.x, mask, carries);
    }
}

fn carrying<T: Carry>(subtract: bool, input: bool, output: bool) -> Exec {
    match (input, output, subtract) {
        (false, _, false) => carry::<T, false, true, false>,
        (false, _, true) => carry::<T, false, true, true>,
        (true, false, false) => carry::<T, true, false, false>,
        (true, false, true) => carry::<T, true, false, true>,
        (true, true, false) => carry::<T, true, true, false>,
        (true, true, true) => carry::<T, true, true, true>,
    }
}

/// add.cc, addc, addc.cc and the same of sub; `input` and `output` say which way the carry goes.
pub(crate) fn with_carry(ty: Type, subtract: bool, input: bool, output: bool) -> Option<Exec> {
    match ty.unsigned() {
        Type::U32 | Type::S32 => Some(carrying::<u32>(subtract, input, output)),
        Type::U64 | Type::S64 => Some(carrying::<u64>(subtract, input, output)),
        _ => None,
    }
}
