//! Arithmetic on f16, against integers of 128 bits, in which it is exact.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::precedence)] // A test ends there.

#[path = "ptx/gpu.rs"]
#[macro_use]
mod gpu;
#[allow(dead_code)] // No result here has 64 bits.
#[path = "ptx/single.rs"]
#[macro_use]
mod single;

use proptest::prelude::*;
use single::Out::{Half, Pred, Word};
use single::{Case, check, results, triples};

const ONE: u16 = 0x3c00;
const SIGN: u16 = 0x8000;
const INFINITY: u16 = 0x7c00;
const NAN: u16 = 0x7fff;

fn is_nan(bits: u16) -> bool {
    bits & !SIGN > INFINITY
}

/// The magnitude in units of 2^-24; of infinity what would be the next number.
fn units(bits: u16) -> i128 {
    let fraction = i128::from(bits & 0x3ff);
    match bits >> 10 & 31 {
        0 => fraction,
        exponent => (1024 + fraction) << (exponent - 1),
    }
}

fn value(bits: u16) -> i128 {
    match bits & SIGN {
        0 => units(bits),
        _ => -units(bits),
    }
}

/// .ftz
fn z(bits: u16) -> u16 {
    match bits & INFINITY {
        0 => bits & SIGN,
        _ => bits,
    }
}

/// a * b + c where one of them is infinite or no number.
fn without_end([a, b, c]: [u16; 3]) -> u16 {
    let number = |bits: u16| match bits & !SIGN {
        INFINITY if bits & SIGN == 0 => f64::INFINITY,
        INFINITY => f64::NEG_INFINITY,
        _ if is_nan(bits) => f64::NAN,
        _ => value(bits) as f64,
    };
    let result = number(a) * number(b) + number(c);
    match result.is_nan() {
        true => NAN,
        false if result > 0.0 => INFINITY,
        false => INFINITY | SIGN,
    }
}

/// a * b + c, to the nearest number, of two to the even one.
fn fma(a: u16, b: u16, c: u16) -> u16 {
    let all = [a, b, c];
    if all.iter().any(|bits| bits & INFINITY == INFINITY) {
        return without_end(all);
    }
    let sum = value(a) * value(b) + (value(c) << 24);
    let sign = match sum {
        0 => (a ^ b) & c & SIGN,
        1.. => 0,
        _ => SIGN,
    };
    // Magnitudes ascend with their bits: the last one that is not larger.
    let size = sum.abs();
    let (mut low, mut high) = (0, INFINITY);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        match units(middle) << 24 <= size {
            true => low = middle,
            false => high = middle - 1,
        }
    }
    if low < INFINITY {
        let (above, below) = ((units(low + 1) << 24) - size, size - (units(low) << 24));
        low += u16::from(above < below || above == below && low & 1 == 1);
    }
    low | sign
}

fn saturated(bits: u16) -> u16 {
    match is_nan(bits) || bits & SIGN != 0 {
        true => 0,
        false => bits.min(ONE),
    }
}

/// Orders numbers, -0 before +0.
fn place(bits: u16) -> i128 {
    match bits & SIGN {
        0 => units(bits),
        _ => -1 - units(bits),
    }
}

fn least(a: u16, b: u16) -> u16 {
    match (is_nan(a), is_nan(b)) {
        (true, true) => NAN,
        (true, _) => b,
        (_, true) => a,
        _ if place(a) < place(b) => a,
        _ => b,
    }
}

fn most_or_nan(a: u16, b: u16) -> u16 {
    match is_nan(a) || is_nan(b) {
        true => NAN,
        false if place(a) > place(b) => a,
        false => b,
    }
}

/// Of two numbers, each in its half.
fn pairs(operands: [u64; 3], each: fn(u16, u16, u16) -> u16) -> u64 {
    let [low, high] = [0, 16].map(|shift| {
        let [a, b, c] = operands.map(|operand| (operand >> shift) as u16);
        u64::from(each(a, b, c))
    });
    low | high << 16
}

const HALVES: &[Case] = cases! {
    Half "add.f16 %hd, %ha, %hb;" => |a, b, _| fma(a as u16, ONE, b as u16).into(),
    Half "sub.rn.f16 %hd, %ha, %hb;" => |a, b, _| fma(a as u16, ONE, b as u16 ^ SIGN).into(),
    Half "mul.f16 %hd, %ha, %hb;" => |a, b, _| fma(a as u16, b as u16, SIGN).into(),
    Half "fma.rn.f16 %hd, %ha, %hb, %hc;" => |a, b, c| fma(a as u16, b as u16, c as u16).into(),
    Half "mul.sat.f16 %hd, %ha, %hb;" => |a, b, _| saturated(fma(a as u16, b as u16, SIGN)).into(),
    Half "add.ftz.f16 %hd, %ha, %hb;" => |a, b, _| z(fma(z(a as u16), ONE, z(b as u16))).into(),
    Half "fma.rn.ftz.f16 %hd, %ha, %hb, %hc;" => |a, b, c| {
        z(fma(z(a as u16), z(b as u16), z(c as u16))).into()
    },
    Half "min.f16 %hd, %ha, %hb;" => |a, b, _| least(a as u16, b as u16).into(),
    Half "max.NaN.f16 %hd, %ha, %hb;" => |a, b, _| most_or_nan(a as u16, b as u16).into(),
    Half "neg.ftz.f16 %hd, %ha;" => |a, _, _| (z(a as u16) ^ SIGN).into(),
    Half "abs.f16 %hd, %ha;" => |a, _, _| (a as u16 & !SIGN).into(),
    Word "add.f16x2 %rd, %ra, %rb;" => |a, b, _| pairs([a, b, 0], |a, b, _| fma(a, ONE, b)),
    Word "fma.rn.ftz.f16x2 %rd, %ra, %rb, %rc;" => |a, b, c| {
        pairs([a, b, c], |a, b, c| z(fma(z(a), z(b), z(c))))
    },
    Pred "setp.lt.f16 %p, %ha, %hb;" => |a, b, _| {
        let [a, b] = [a as u16, b as u16];
        (!is_nan(a) && !is_nan(b) && value(a) < value(b)).into()
    },
    Pred "setp.geu.ftz.f16 %p, %ha, %hb;" => |a, b, _| {
        let [a, b] = [z(a as u16), z(b as u16)];
        (is_nan(a) || is_nan(b) || value(a) >= value(b)).into()
    },
};

/// Numbers at which arithmetic goes wrong, in all threes.
#[test]
fn halves_at_their_edges() {
    const EDGES: [u64; 12] = [
        0, 0x8000, 1, 0x8005, 0x3ff, 0x400, 0x3bff, 0x3c00, 0x7bff, 0x7c00, 0xfc00, 0x7e00,
    ];
    let twice = |bits: u64| bits | bits << 16;
    let mut threes = Vec::new();
    for a in EDGES {
        for b in EDGES {
            threes.extend(EDGES.map(|c| [a, b, c].map(twice)));
        }
    }
    for part in threes.chunks(128) {
        check(HALVES, false, part);
    }
}

#[test]
fn powers_of_two_of_bf16() {
    // 2^1, 2 to a subnormal number, and 2^-127, which is one.
    let operands = [0x3f80, 1, 0xc2fe].map(|a| [a, 0, 0]);
    assert_eq!(
        results("ex2.approx.ftz.bf16 %hd, %ha;", Half, &operands),
        [0x4000, 0x3f80, 0]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn halves(operands in triples()) {
        check(HALVES, false, &operands);
    }
}
