//! Conversions between types. PTX ISA 8.x, section 9.7.9 (cvt).

use super::super::types::{Class, Type};
use super::float::{finish, flush};
use super::half::Half;
use super::lane::{Read, Write};
use super::round::{self, Mode, integer_to_odd};
use super::{Exec, Operands, Regs, each, for_integer, lanes};

/// As [`for_integer`], with the types of 8 bits too.
macro_rules! by_integer {
    ($ty:expr, $T:ident => $body:expr) => {
        for_integer!(
            @ $ty, $T => $body;
            U8 is u8, S8 is i8, U16 is u16, S16 is i16, U32 is u32, S32 is i32, U64 is u64, S64 is i64
        )
    };
}

/// Integer to integer without saturation: widened, then cut.
fn integers(from: Type, to: Type) -> Option<Exec> {
    by_integer!(from, S => by_integer!(to, D => lanes!(|a: S| a as D))).flatten()
}

/// Integer to f32 or f64, to nearest.
fn from_integer(from: Type, to: Type) -> Option<Exec> {
    match to {
        Type::F32 => by_integer!(from, S => lanes!(|a: S| a as f32)),
        Type::F64 => by_integer!(from, S => lanes!(|a: S| a as f64)),
        _ => None,
    }
}

/// f32 or f64 to an integer towards zero, the form that every compiler uses.
fn truncated(from: Type, to: Type) -> Option<Exec> {
    match (from, to.size()) {
        // Where NaN becomes 0, as Rust has it.
        (Type::F32, 1 | 2 | 4) => by_integer!(to, D => lanes!(|a: f32| a as D)),
        // Else it becomes the number whose highest bit alone is set.
        (Type::F32, _) => by_integer!(to, D => lanes!(|a: f32| {
            if a.is_nan() { 1 << (D::BITS - 1) } else { a as D }
        })),
        (Type::F64, _) => by_integer!(to, D => lanes!(|a: f64| {
            if a.is_nan() { 1 << (D::BITS - 1) } else { a as D }
        })),
        _ => None,
    }
}

/// What a conversion needs to know; carried by a constant in slot c.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conversion {
    pub(crate) from: Type,
    pub(crate) to: Type,
    pub(crate) mode: Mode,
    /// To an integral value (.rni and so on).
    pub(crate) integral: bool,
    pub(crate) ftz: bool,
    pub(crate) sat: bool,
    pub(crate) relu: bool,
}

const TYPES: [Type; 12] = [
    Type::U8,
    Type::U16,
    Type::U32,
    Type::U64,
    Type::S8,
    Type::S16,
    Type::S32,
    Type::S64,
    Type::F16,
    Type::BF16,
    Type::F32,
    Type::F64,
];

impl Conversion {
    fn code(self) -> Option<u64> {
        let number = |ty: Type| TYPES.iter().position(|found| *found == ty.unsigned());
        Some(
            number(self.from)? as u64
                | (number(self.to)? as u64) << 4
                | (self.mode as u64) << 8
                | u64::from(self.integral) << 10
                | u64::from(self.ftz) << 11
                | u64::from(self.sat) << 12
                | u64::from(self.relu) << 13,
        )
    }

    fn of(code: u64) -> Self {
        let ty = |number: u64| {
            TYPES
                .get(number as usize & 15)
                .copied()
                .unwrap_or(Type::U32)
        };
        Self {
            from: ty(code),
            to: ty(code >> 4),
            mode: Mode::of(code >> 8),
            integral: code >> 10 & 1 != 0,
            ftz: code >> 11 & 1 != 0,
            sat: code >> 12 & 1 != 0,
            relu: code >> 13 & 1 != 0,
        }
    }

    /// The function, and the constant for slot c if it needs one.
    pub(crate) fn exec(self) -> Option<(Exec, Option<u64>)> {
        let integers_only = !self.from.is_float() && !self.to.is_float();
        let plain = if self.sat {
            None
        } else if integers_only {
            integers(self.from, self.to)
        } else if !self.from.is_float() && self.mode == Mode::Nearest {
            from_integer(self.from, self.to)
        } else if !self.to.is_float() && self.mode == Mode::Zero && !self.ftz {
            truncated(self.from, self.to)
        } else {
            match (self.from, self.to) {
                (Type::F32, Type::F64) if !self.ftz => Some(lanes!(|a: f32| f64::from(a))),
                (Type::F64, Type::F32) if !self.ftz && self.mode == Mode::Nearest => {
                    Some(lanes!(|a: f64| finish::<false, false>(a as f32)))
                }
                _ => None,
            }
        };
        if let Some(exec) = plain.or_else(|| self.to_integral()) {
            return Some((exec, None));
        }
        let exec = match (self.from.class(), self.to.class()) {
            (Class::Wide, Class::Wide) => any::<u64, u64>,
            (Class::Wide, _) => any::<u64, u32>,
            (_, Class::Wide) => any::<u32, u64>,
            _ => any::<u32, u32>,
        };
        Some((exec, Some(self.code()?)))
    }

    /// f32 to an integral f32.
    fn to_integral(self) -> Option<Exec> {
        let is_plain = !self.sat && !self.ftz && !self.relu && self.integral;
        if !is_plain || self.from != Type::F32 || self.to != Type::F32 {
            return None;
        }
        Some(match self.mode {
            Mode::Nearest => lanes!(|a: f32| finish::<false, false>(a.round_ties_even())),
            Mode::Zero => lanes!(|a: f32| finish::<false, false>(a.trunc())),
            Mode::Down => lanes!(|a: f32| finish::<false, false>(a.floor())),
            Mode::Up => lanes!(|a: f32| finish::<false, false>(a.ceil())),
        })
    }

    fn integer_in(self, bits: u64) -> i128 {
        match self.from {
            Type::U8 => i128::from(bits as u8),
            Type::U16 => i128::from(bits as u16),
            Type::U32 => i128::from(bits as u32),
            Type::U64 => i128::from(bits),
            Type::S8 => i128::from(bits as i8),
            Type::S16 => i128::from(bits as i16),
            Type::S32 => i128::from(bits as i32),
            _ => i128::from(bits as i64),
        }
    }

    fn bounds(self) -> (i128, i128) {
        let bits = self.to.size() * 8;
        if self.to.is_signed() {
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            (0, (1 << bits) - 1)
        }
    }

    fn integer_out(self, value: i128) -> u64 {
        match self.to {
            Type::U8 => u64::from(value as u8),
            Type::U16 => u64::from(value as u16),
            Type::U32 => u64::from(value as u32),
            Type::S8 => i64::from(value as i8) as u64,
            Type::S16 => i64::from(value as i16) as u64,
            Type::S32 => i64::from(value as i32) as u64,
            _ => value as u64,
        }
    }

    fn float_in(self, bits: u64) -> f64 {
        match self.from {
            Type::F16 => f64::from(Half::F16.read(bits as u16)),
            Type::BF16 => f64::from(Half::Bf16.read(bits as u16)),
            Type::F32 => {
                let value = f32::from_bits(bits as u32);
                f64::from(if self.ftz {
                    flush::<true>(value)
                } else {
                    value
                })
            }
            _ => f64::from_bits(bits),
        }
    }

    fn float_out(self, value: f64) -> u64 {
        let value = if self.integral {
            self.mode.integral(value)
        } else {
            value
        };
        let value = if self.sat {
            if value > 0.0 { value.min(1.0) } else { 0.0 }
        } else if self.relu && (value < 0.0 || (value == 0.0 && value.is_sign_negative())) {
            0.0
        } else {
            value
        };
        let mode = if self.integral {
            Mode::Nearest
        } else {
            self.mode
        };
        match self.to {
            Type::F16 => u64::from(Half::F16.write(value, mode, false)),
            Type::BF16 => u64::from(Half::Bf16.write(value, mode, false)),
            Type::F32 => {
                let value = round::narrow(value, 0.0, mode);
                let value = if self.ftz {
                    finish::<true, false>(value)
                } else {
                    finish::<false, false>(value)
                };
                u64::from(value.to_bits())
            }
            _ => value.to_bits(),
        }
    }

    pub(crate) fn apply(self, bits: u64) -> u64 {
        match (self.from.is_float(), self.to.is_float()) {
            (false, false) => {
                let value = self.integer_in(bits);
                let (least, most) = self.bounds();
                self.integer_out(if self.sat {
                    value.clamp(least, most)
                } else {
                    value
                })
            }
            (false, true) => {
                let value = self.integer_in(bits);
                if self.to == Type::F64 {
                    let nearest = value as f64;
                    let error = (value - nearest as i128) as f64;
                    // Adding the error in another mode rounds the exact value.
                    return self.float_out(round::add64(nearest, error, self.mode));
                }
                self.float_out(integer_to_odd(value))
            }
            (true, false) => {
                let value = self.float_in(bits);
                if value.is_nan() {
                    let zero = self.from != Type::F64 && self.to.size() < 8;
                    let top = 1_i128 << (self.to.size() * 8 - 1);
                    return self.integer_out(if zero { 0 } else { top });
                }
                let (least, most) = self.bounds();
                self.integer_out((self.mode.integral(value) as i128).clamp(least, most))
            }
            (true, true) => self.float_out(self.float_in(bits)),
        }
    }
}

/// A word of a register, as 64 bits.
trait Word: Read + Write {
    fn of(bits: u64) -> Self;
    fn bits(self) -> u64;
}

impl Word for u32 {
    fn of(bits: u64) -> Self {
        bits as Self
    }
    fn bits(self) -> u64 {
        u64::from(self)
    }
}

impl Word for u64 {
    fn of(bits: u64) -> Self {
        bits
    }
    fn bits(self) -> u64 {
        self
    }
}

/// The conversion that slot c names, from words A to words R.
fn any<A: Word, R: Word>(regs: &mut Regs, o: &Operands, mask: u32) {
    let conversion = Conversion::of(u64::from(regs.narrow(o.c)[0]));
    each(mask, |lane| {
        let from = A::lane(A::lanes(regs, o.a), lane).bits();
        R::of(conversion.apply(from)).set(regs, o.d, lane);
    });
}
