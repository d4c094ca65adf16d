//! Floating-point arithmetic. PTX ISA 8.x, section 9.7.3 and 9.7.4 (half precision).

use super::half::Half;
use super::round::{self, Mode};
use super::{Exec, Operands, Regs, each, lanes, singly};

/// With .ftz a subnormal counts as zero of its sign.
#[inline(always)]
pub(crate) fn flush<const FTZ: bool>(value: f32) -> f32 {
    // Zero keeps its sign either way.
    if FTZ && value.abs() < f32::MIN_POSITIVE {
        value * 0.0
    } else {
        value
    }
}

/// The result of an f32 operation: flushed, clamped to [0, 1], NaN as PTX writes it.
#[inline(always)]
pub(crate) fn finish<const FTZ: bool, const SAT: bool>(value: f32) -> f32 {
    let value = flush::<FTZ>(value);
    if SAT {
        // NaN becomes +0, so does -0.
        return if value > 0.0 { value.min(1.0) } else { 0.0 };
    }
    // As a number: to the optimiser one NaN is as good as another, and it leaves a choice between two out.
    let bits = value.to_bits();
    f32::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 {
        0x7fff_ffff
    } else {
        bits
    })
}

/// The function with `F` and `S` as constants for .ftz and .sat.
macro_rules! variants {
    ($ftz:expr, $sat:expr, $body:expr) => {
        match ($ftz, $sat) {
            (false, false) => {
                const F: bool = false;
                const S: bool = false;
                $body
            }
            (false, true) => {
                const F: bool = false;
                const S: bool = true;
                $body
            }
            (true, false) => {
                const F: bool = true;
                const S: bool = false;
                $body
            }
            (true, true) => {
                const F: bool = true;
                const S: bool = true;
                $body
            }
        }
    };
}

/// Operations of f32 that round to nearest or are approximations.
pub(crate) fn f32_op(op: &str, ftz: bool, sat: bool) -> Option<Exec> {
    macro_rules! unary {
        (|$a:ident| $body:expr) => {
            variants!(
                ftz,
                sat,
                lanes!(|a: f32| {
                    let $a = flush::<F>(a);
                    finish::<F, S>($body)
                })
            )
        };
    }
    // A call of the C library for each lane.
    macro_rules! function {
        (|$a:ident| $body:expr) => {
            variants!(
                ftz,
                sat,
                singly!(|a: f32| {
                    let $a = flush::<F>(a);
                    finish::<F, S>($body)
                })
            )
        };
    }
    macro_rules! binary {
        (|$a:ident, $b:ident| $body:expr) => {
            variants!(
                ftz,
                sat,
                lanes!(|a: f32, b: f32| {
                    let ($a, $b) = (flush::<F>(a), flush::<F>(b));
                    finish::<F, S>($body)
                })
            )
        };
    }
    Some(match op {
        "add" => binary!(|x, y| x + y),
        "sub" => binary!(|x, y| x - y),
        "mul" => binary!(|x, y| x * y),
        "div" => binary!(|x, y| x / y),
        "fma" => variants!(
            ftz,
            sat,
            lanes!(|a: f32, b: f32, c: f32| {
                finish::<F, S>(flush::<F>(a).mul_add(flush::<F>(b), flush::<F>(c)))
            })
        ),
        "rcp" => unary!(|x| 1.0 / x),
        "sqrt" => unary!(|x| x.sqrt()),
        // Two roundings in f64 are nearer than the device's approximation.
        "rsqrt" => unary!(|x| (1.0 / f64::from(x).sqrt()) as f32),
        "ex2" => function!(|x| x.exp2()),
        "lg2" => function!(|x| x.log2()),
        "sin" => function!(|x| x.sin()),
        "cos" => function!(|x| x.cos()),
        "tanh" => function!(|x| x.tanh()),
        "neg" => unary!(|x| -x),
        "abs" => unary!(|x| x.abs()),
        "min" => binary!(|x, y| minimum(x, y)),
        "max" => binary!(|x, y| maximum(x, y)),
        "min.NaN" => binary!(|x, y| or_nan(x, y, minimum(x, y))),
        "max.NaN" => binary!(|x, y| or_nan(x, y, maximum(x, y))),
        _ => return None,
    })
}

/// A NaN loses against a number; -0 is less than +0.
#[inline(always)]
fn minimum(a: f32, b: f32) -> f32 {
    if a.is_nan() {
        b
    } else if b.is_nan() || a < b || (a == b && a.is_sign_negative()) {
        a
    } else {
        b
    }
}

#[inline(always)]
fn maximum(a: f32, b: f32) -> f32 {
    if a.is_nan() {
        b
    } else if b.is_nan() || a > b || (a == b && b.is_sign_negative()) {
        a
    } else {
        b
    }
}

/// NaN if one of two operands is, else the result.
#[inline(always)]
fn or_nan(a: f32, b: f32, result: f32) -> f32 {
    if a.is_nan() || b.is_nan() {
        f32::NAN
    } else {
        result
    }
}

/// Operations of f64 that round to nearest.
pub(crate) fn f64_op(op: &str) -> Option<Exec> {
    Some(match op {
        "add" => lanes!(|a: f64, b: f64| a + b),
        "sub" => lanes!(|a: f64, b: f64| a - b),
        "mul" => lanes!(|a: f64, b: f64| a * b),
        "div" => lanes!(|a: f64, b: f64| a / b),
        "fma" => lanes!(|a: f64, b: f64, c: f64| a.mul_add(b, c)),
        "rcp" => lanes!(|a: f64| 1.0 / a),
        "sqrt" => lanes!(|a: f64| a.sqrt()),
        "rsqrt" => lanes!(|a: f64| 1.0 / a.sqrt()),
        "neg" => lanes!(|a: f64| -a),
        "abs" => lanes!(|a: f64| a.abs()),
        "min" => lanes!(|a: f64, b: f64| {
            if a.is_nan() || b < a || (a == b && b.is_sign_negative()) {
                b
            } else {
                a
            }
        }),
        "max" => lanes!(|a: f64, b: f64| {
            if a.is_nan() || b > a || (a == b && a.is_sign_negative()) {
                b
            } else {
                a
            }
        }),
        _ => return None,
    })
}

/// What an operation of [`rounded`] needs to know besides its operands: carried by a constant in
/// slot x.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounded {
    pub(crate) op: u8,
    pub(crate) wide: bool,
    pub(crate) mode: Mode,
    pub(crate) ftz: bool,
    pub(crate) sat: bool,
}

impl Rounded {
    /// Names of the operations, by number.
    pub(crate) const OPS: [&'static str; 7] = ["add", "sub", "mul", "fma", "div", "rcp", "sqrt"];

    pub(crate) fn code(self) -> u64 {
        u64::from(self.op)
            | u64::from(self.wide) << 8
            | (self.mode as u64) << 9
            | u64::from(self.ftz) << 11
            | u64::from(self.sat) << 12
    }
}

/// Arithmetic that rounds another way than to nearest.
pub(crate) fn rounded(regs: &mut Regs, o: &Operands, mask: u32) {
    let code = u64::from(regs.narrow(o.x)[0]);
    let (op, mode) = (code & 0xff, Mode::of(code >> 9));
    let (wide, ftz, sat) = (code >> 8 & 1 != 0, code >> 11 & 1 != 0, code >> 12 & 1 != 0);
    if wide {
        each(mask, |lane| {
            let [a, b, c] = [o.a, o.b, o.c].map(|slot| f64::from_bits(regs.wide(slot)[lane]));
            let value = match op {
                0 => round::add64(a, b, mode),
                1 => round::add64(a, -b, mode),
                2 => round::mul64(a, b, mode),
                3 => round::fma64(a, b, c, mode),
                4 => round::div64(a, b, mode),
                5 => round::div64(1.0, a, mode),
                _ => round::sqrt64(a, mode),
            };
            regs.wide_mut(o.d)[lane] = value.to_bits();
        });
        return;
    }
    each(mask, |lane| {
        let flushed = |slot: u32| {
            let value = f32::from_bits(regs.narrow(slot)[lane]);
            if ftz { flush::<true>(value) } else { value }
        };
        let [a, b, c] = [o.a, o.b, o.c].map(flushed);
        let value = match op {
            0 => round::add32(a, b, mode),
            1 => round::add32(a, -b, mode),
            2 => round::mul32(a, b, mode),
            3 => round::fma32(a, b, c, mode),
            4 => round::div32(a, b, mode),
            5 => round::div32(1.0, a, mode),
            _ => round::sqrt32(a, mode),
        };
        let value = variants!(ftz, sat, finish::<F, S>(value));
        regs.narrow_mut(o.d)[lane] = value.to_bits();
    });
}

/// Names of the operations on 16-bit formats, by number.
pub(crate) const HALF_OPS: [&str; 13] = [
    "add", "sub", "mul", "fma", "neg", "abs", "min", "max", "ex2", "tanh", "min.NaN", "max.NaN",
    "fma.relu",
];

/// The code of a half operation, .ftz or .sat or neither, for slot x.
pub(crate) fn half_code(op: u8, format: Half, pair: bool, (ftz, sat): (bool, bool)) -> u64 {
    u64::from(op)
        | u64::from(format == Half::Bf16) << 8
        | u64::from(pair) << 9
        | u64::from(sat) << 10
        | u64::from(ftz) << 11
}

/// Arithmetic on f16, bf16 and pairs of them.
pub(crate) fn halves(regs: &mut Regs, o: &Operands, mask: u32) {
    let code = regs.narrow(o.x)[0];
    let format = if code >> 8 & 1 != 0 {
        Half::Bf16
    } else {
        Half::F16
    };
    let (op, sat, ftz) = (code as u8, code >> 10 & 1 != 0, code >> 11 & 1 != 0);
    each(mask, |lane| {
        let [a, b, c] = [o.a, o.b, o.c].map(|slot| regs.narrow(slot)[lane]);
        let part = |shift: u32| {
            let [a, b, c] = [a, b, c].map(|value| format.flushed((value >> shift) as u16, ftz));
            let result = half(op, format, sat, a, b, c);
            u32::from(format.flushed(result, ftz)) << shift
        };
        let value = part(0) | if code >> 9 & 1 != 0 { part(16) } else { 0 };
        regs.narrow_mut(o.d)[lane] = value;
    });
}

fn half(op: u8, format: Half, sat: bool, a: u16, b: u16, c: u16) -> u16 {
    let one = if format == Half::F16 { 0x3c00 } else { 0x3f80 };
    let negative = |bits: u16| bits ^ 0x8000;
    let result = match op {
        0 => format.add(a, b),
        1 => format.add(a, negative(b)),
        // Adding -0 changes no product, not even one of -0.
        2 => format.fma(a, b, 0x8000),
        3 | 12 => format.fma(a, b, c),
        4 => negative(a),
        5 => a & 0x7fff,
        _ => {
            let (x, y) = (format.read(a), format.read(b));
            let value = match op {
                6 => minimum(x, y),
                7 => maximum(x, y),
                8 => x.exp2(),
                9 => x.tanh(),
                10 => or_nan(x, y, minimum(x, y)),
                _ => or_nan(x, y, maximum(x, y)),
            };
            format.write(f64::from(value), Mode::Nearest, false)
        }
    };
    let value = format.read(result);
    if sat {
        return if value > 0.0 {
            if value > 1.0 { one } else { result }
        } else {
            0
        };
    }
    if op == 12 && value < 0.0 { 0 } else { result }
}

/// copysign: the sign of a, the rest of b.
pub(crate) fn copysign(wide: bool) -> Exec {
    if wide {
        lanes!(|a: f64, b: f64| b.copysign(a))
    } else {
        lanes!(|a: f32, b: f32| b.copysign(a))
    }
}

/// testp of f32 or f64.
pub(crate) fn testp(test: &str, wide: bool) -> Option<Exec> {
    macro_rules! both {
        (|$a:ident| $body:expr) => {
            if wide {
                lanes!(|$a: f64| $body)
            } else {
                lanes!(|$a: f32| $body)
            }
        };
    }
    Some(match test {
        "finite" => both!(|a| a.is_finite()),
        "infinite" => both!(|a| a.is_infinite()),
        "number" => both!(|a| !a.is_nan()),
        "notanumber" => both!(|a| a.is_nan()),
        // Zeros are normal numbers here.
        "normal" => both!(|a| a.is_normal() || a == 0.0),
        "subnormal" => both!(|a| a.is_subnormal()),
        _ => return None,
    })
}
