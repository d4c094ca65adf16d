//! Rounding modes. Rust rounds to nearest; the other modes follow from the sign of the error, which
//! error-free transformations give (Dekker, Knuth; Boldo and Muller for fma).

/// A rounding mode of PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// .rn: to nearest, ties to even.
    Nearest,
    /// .rz
    Zero,
    /// .rm: towards minus infinity.
    Down,
    /// .rp: towards plus infinity.
    Up,
}

impl Mode {
    pub(crate) fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "rn" | "rni" => Self::Nearest,
            "rz" | "rzi" => Self::Zero,
            "rm" | "rmi" => Self::Down,
            "rp" | "rpi" => Self::Up,
            _ => return None,
        })
    }

    /// For the numbers in which lanes carry options.
    pub(crate) fn of(code: u64) -> Self {
        match code & 3 {
            0 => Self::Nearest,
            1 => Self::Zero,
            2 => Self::Down,
            _ => Self::Up,
        }
    }

    /// To an integral value.
    pub(crate) fn integral(self, value: f64) -> f64 {
        match self {
            Self::Nearest => value.round_ties_even(),
            Self::Zero => value.trunc(),
            Self::Down => value.floor(),
            Self::Up => value.ceil(),
        }
    }

    /// Whether a result rounded to nearest must move, and which way: `error` has the sign of the
    /// exact value minus the result, `result` is used for its sign.
    fn step(self, result_negative: bool, error: f64) -> i32 {
        match self {
            Self::Nearest => 0,
            Self::Down if error < 0.0 => -1,
            Self::Up if error > 0.0 => 1,
            Self::Zero if error < 0.0 && !result_negative => -1,
            Self::Zero if error > 0.0 && result_negative => 1,
            _ => 0,
        }
    }
}

/// a + b as the rounded sum and its error.
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

/// hi + error, rounded to odd: a later rounding to fewer bits (51 or less) is then right.
pub(crate) fn to_odd(hi: f64, error: f64) -> f64 {
    if error == 0.0 || !hi.is_finite() || error.is_nan() {
        return hi;
    }
    let truncated = if (error < 0.0) == (hi < 0.0) {
        hi
    } else {
        f64::from_bits(hi.to_bits() - 1)
    };
    f64::from_bits(truncated.to_bits() | 1)
}

/// hi + error as an f32.
pub(crate) fn narrow(hi: f64, error: f64, mode: Mode) -> f32 {
    let result = to_odd(hi, error) as f32;
    let difference = hi - f64::from(result);
    let error = if difference == 0.0 { error } else { difference };
    if result.is_infinite() && hi.is_infinite() {
        return result;
    }
    match mode.step(result.is_sign_negative(), error) {
        1 => result.next_up(),
        -1 => result.next_down(),
        _ => result,
    }
}

fn adjust(result: f64, error: f64, mode: Mode, exact_is_infinite: bool) -> f64 {
    if result.is_nan() || exact_is_infinite {
        return result;
    }
    let error = if result.is_infinite() { -result } else { error };
    match mode.step(result.is_sign_negative(), error) {
        1 => result.next_up(),
        -1 => result.next_down(),
        _ => result,
    }
}

/// An exact sum of zero is +0, but -0 when rounding down.
fn zero_sum(a_negative: bool, b_negative: bool, mode: Mode) -> bool {
    a_negative != b_negative && mode == Mode::Down
}

pub(crate) fn add32(a: f32, b: f32, mode: Mode) -> f32 {
    let (hi, error) = two_sum(f64::from(a), f64::from(b));
    if hi == 0.0 && zero_sum(a.is_sign_negative(), b.is_sign_negative(), mode) {
        return -0.0;
    }
    narrow(hi, error, mode)
}

pub(crate) fn mul32(a: f32, b: f32, mode: Mode) -> f32 {
    // 24 bits times 24 bits are exact in 53.
    narrow(f64::from(a) * f64::from(b), 0.0, mode)
}

pub(crate) fn fma32(a: f32, b: f32, c: f32, mode: Mode) -> f32 {
    let product = f64::from(a) * f64::from(b);
    let (hi, error) = two_sum(product, f64::from(c));
    if hi == 0.0 && zero_sum(product.is_sign_negative(), c.is_sign_negative(), mode) {
        return -0.0;
    }
    narrow(hi, error, mode)
}

pub(crate) fn div32(a: f32, b: f32, mode: Mode) -> f32 {
    let (a, b) = (f64::from(a), f64::from(b));
    let quotient = a / b;
    if !quotient.is_finite() || b.is_infinite() {
        return quotient as f32;
    }
    let rest = (-quotient).mul_add(b, a);
    narrow(quotient, rest * b.signum(), mode)
}

pub(crate) fn sqrt32(a: f32, mode: Mode) -> f32 {
    let a = f64::from(a);
    let root = a.sqrt();
    if !root.is_finite() {
        return root as f32;
    }
    narrow(root, (-root).mul_add(root, a), mode)
}

/// 2^600: brings what is nearly subnormal to where errors are exact.
const BIG: f64 = f64::from_bits((600 + 1023) << 52);
const ROOT_BIG: f64 = f64::from_bits((300 + 1023) << 52);
const SMALL: f64 = 1e-200;

pub(crate) fn add64(a: f64, b: f64, mode: Mode) -> f64 {
    let (sum, error) = two_sum(a, b);
    if sum == 0.0 && zero_sum(a.is_sign_negative(), b.is_sign_negative(), mode) {
        return -0.0;
    }
    adjust(sum, error, mode, a.is_infinite() || b.is_infinite())
}

pub(crate) fn mul64(a: f64, b: f64, mode: Mode) -> f64 {
    let product = a * b;
    let (large, small) = if a.abs() > b.abs() { (a, b) } else { (b, a) };
    let error = if product == 0.0 && a != 0.0 && b != 0.0 {
        // Only the sign counts.
        1.0_f64.copysign(product)
    } else if product.abs() < SMALL {
        large.mul_add(small * BIG, -(product * BIG))
    } else {
        a.mul_add(b, -product)
    };
    adjust(product, error, mode, a.is_infinite() || b.is_infinite())
}

pub(crate) fn fma64(a: f64, b: f64, c: f64, mode: Mode) -> f64 {
    let product = a * b;
    if c == 0.0 && a != 0.0 && b != 0.0 {
        return mul64(a, b, mode);
    }
    let result = a.mul_add(b, c);
    let infinite = a.is_infinite() || b.is_infinite() || c.is_infinite();
    let error = if product.abs() < SMALL && c.abs() < SMALL {
        let (large, small) = if a.abs() > b.abs() { (a, b) } else { (b, a) };
        fma_error(large, small * BIG, c * BIG, result * BIG)
    } else {
        fma_error(a, b, c, result)
    };
    // Zero as it is, and not for being smaller than the smallest number.
    if result == 0.0 && error == 0.0 {
        let minus = zero_sum(product.is_sign_negative(), c.is_sign_negative(), mode);
        return if minus { -0.0 } else { result };
    }
    adjust(result, error, mode, infinite)
}

/// Something with the sign of a * b + c - result.
fn fma_error(a: f64, b: f64, c: f64, result: f64) -> f64 {
    let product = a * b;
    let (product, low) = if product.abs() < 1e-270 && a != 0.0 && b != 0.0 && c.abs() > SMALL {
        // Far below the last bit of c: any number of this sign does, and this one cannot vanish.
        (1e-270_f64.copysign(product), 0.0)
    } else {
        (product, a.mul_add(b, -product))
    };
    let (upper, rest) = two_sum(c, low);
    let (sum, sum_rest) = two_sum(product, upper);
    ((sum - result) + sum_rest) + rest
}

pub(crate) fn div64(a: f64, b: f64, mode: Mode) -> f64 {
    let quotient = a / b;
    if b == 0.0 || b.is_infinite() || a.is_infinite() {
        return quotient;
    }
    let rest = if quotient.is_infinite() {
        a
    } else if a.abs() >= SMALL {
        (-quotient).mul_add(b, a)
    } else if quotient.abs() < 1e100 {
        (-(quotient * BIG)).mul_add(b, a * BIG)
    } else {
        (-quotient).mul_add(b * BIG, a * BIG)
    };
    adjust(quotient, rest * b.signum(), mode, false)
}

pub(crate) fn sqrt64(a: f64, mode: Mode) -> f64 {
    let root = a.sqrt();
    if a.is_infinite() {
        return root;
    }
    let rest = if a < SMALL {
        let scaled = root * ROOT_BIG;
        (-scaled).mul_add(scaled, a * BIG)
    } else {
        (-root).mul_add(root, a)
    };
    adjust(root, rest, mode, false)
}

/// An integer as an f64, rounded to odd.
pub(crate) fn integer_to_odd(value: i128) -> f64 {
    let nearest = value as f64;
    to_odd(nearest, (value - nearest as i128) as f64)
}
