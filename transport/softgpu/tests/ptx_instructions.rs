//! Single instructions on random operands, against the arithmetic of Rust.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::precedence)] // A test ends there.

#[path = "ptx/gpu.rs"]
#[macro_use]
mod gpu;
#[path = "ptx/single.rs"]
#[macro_use]
mod single;

use proptest::prelude::*;
use single::Out::{Double, Half, Pred, Word};
use single::{Case, check, triples};

fn f(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn d(bits: u64) -> f64 {
    f64::from_bits(bits)
}

fn w(value: f32) -> u64 {
    u64::from(value.to_bits())
}

/// .ftz on one value.
fn z(value: f32) -> f32 {
    if value.is_subnormal() {
        0.0_f32.copysign(value)
    } else {
        value
    }
}

fn b(value: bool) -> u64 {
    u64::from(value)
}

const INTEGERS: &[Case] = cases! {
    Word "add.s32 %rd, %ra, %rb;" => |a, b, _| a.wrapping_add(b),
    Double "add.u64 %dd, %da, %db;" => |a, b, _| a.wrapping_add(b),
    Half "add.s16 %hd, %ha, %hb;" => |a, b, _| a.wrapping_add(b),
    Word "add.sat.s32 %rd, %ra, %rb;" => |a, b, _| {
        (i64::from(a as i32) + i64::from(b as i32)).clamp(-(1 << 31), (1 << 31) - 1) as u64
    },
    Word "sub.s32 %rd, %ra, %rb;" => |a, b, _| a.wrapping_sub(b),
    Word "sub.sat.s32 %rd, %ra, %rb;" => |a, b, _| {
        (i64::from(a as i32) - i64::from(b as i32)).clamp(-(1 << 31), (1 << 31) - 1) as u64
    },
    Double "sub.s64 %dd, %da, %db;" => |a, b, _| a.wrapping_sub(b),
    Half "mul.lo.u16 %hd, %ha, %hb;" => |a, b, _| a.wrapping_mul(b),
    Word "mul.lo.s32 %rd, %ra, %rb;" => |a, b, _| a.wrapping_mul(b),
    Double "mul.lo.s64 %dd, %da, %db;" => |a, b, _| a.wrapping_mul(b),
    Half "mul.hi.u16 %hd, %ha, %hb;" => |a, b, _| (a & 0xffff) * (b & 0xffff) >> 16,
    Half "mul.hi.s16 %hd, %ha, %hb;" => |a, b, _| {
        (i64::from(a as i16) * i64::from(b as i16) >> 16) as u64
    },
    Word "mul.hi.u32 %rd, %ra, %rb;" => |a, b, _| u64::from(a as u32) * u64::from(b as u32) >> 32,
    Word "mul.hi.s32 %rd, %ra, %rb;" => |a, b, _| {
        (i64::from(a as i32) * i64::from(b as i32) >> 32) as u64
    },
    Double "mul.hi.u64 %dd, %da, %db;" => |a, b, _| (u128::from(a) * u128::from(b) >> 64) as u64,
    Double "mul.hi.s64 %dd, %da, %db;" => |a, b, _| {
        (i128::from(a as i64) * i128::from(b as i64) >> 64) as u64
    },
    Word "mul.wide.u16 %rd, %ha, %hb;" => |a, b, _| (a & 0xffff) * (b & 0xffff),
    Word "mul.wide.s16 %rd, %ha, %hb;" => |a, b, _| {
        (i64::from(a as i16) * i64::from(b as i16)) as u64
    },
    Double "mul.wide.u32 %dd, %ra, %rb;" => |a, b, _| u64::from(a as u32) * u64::from(b as u32),
    Double "mul.wide.s32 %dd, %ra, %rb;" => |a, b, _| {
        (i64::from(a as i32) * i64::from(b as i32)) as u64
    },
    Word "mad.lo.s32 %rd, %ra, %rb, %rc;" => |a, b, c| a.wrapping_mul(b).wrapping_add(c),
    Double "mad.lo.u64 %dd, %da, %db, %dc;" => |a, b, c| a.wrapping_mul(b).wrapping_add(c),
    Word "mad.hi.u32 %rd, %ra, %rb, %rc;" => |a, b, c| {
        (u64::from(a as u32) * u64::from(b as u32) >> 32).wrapping_add(c)
    },
    Word "mad.hi.sat.s32 %rd, %ra, %rb, %rc;" => |a, b, c| {
        ((i64::from(a as i32) * i64::from(b as i32) >> 32) + i64::from(c as i32))
            .clamp(-(1 << 31), (1 << 31) - 1) as u64
    },
    Double "mad.wide.s32 %dd, %ra, %rb, %dc;" => |a, b, c| {
        (i64::from(a as i32) * i64::from(b as i32)).wrapping_add(c as i64) as u64
    },
    Word "mad.wide.u16 %rd, %ha, %hb, %rc;" => |a, b, c| {
        ((a & 0xffff) * (b & 0xffff)).wrapping_add(c)
    },
    Word "mul24.lo.u32 %rd, %ra, %rb;" => |a, b, _| (a & 0xff_ffff) * (b & 0xff_ffff),
    Word "mul24.hi.s32 %rd, %ra, %rb;" => |a, b, _| {
        let s = |x: u64| i64::from((x as i32) << 8 >> 8);
        (s(a) * s(b) >> 16) as u64
    },
    Word "mad24.lo.u32 %rd, %ra, %rb, %rc;" => |a, b, c| {
        ((a & 0xff_ffff) * (b & 0xff_ffff)).wrapping_add(c)
    },
    Word "or.b32 %rb, %rb, 1; div.u32 %rd, %ra, %rb;" =>
        |a, b, _| u64::from(a as u32 / (b as u32 | 1)),
    Word "or.b32 %rb, %rb, 1; div.s32 %rd, %ra, %rb;" =>
        |a, b, _| i64::from((a as i32).wrapping_div(b as i32 | 1)) as u64,
    Double "or.b64 %db, %db, 1; div.s64 %dd, %da, %db;" =>
        |a, b, _| (a as i64).wrapping_div(b as i64 | 1) as u64,
    Word "or.b32 %rb, %rb, 1; rem.s32 %rd, %ra, %rb;" =>
        |a, b, _| i64::from((a as i32).wrapping_rem(b as i32 | 1)) as u64,
    Double "or.b64 %db, %db, 1; rem.u64 %dd, %da, %db;" => |a, b, _| a % (b | 1),
    Word "abs.s32 %rd, %ra;" => |a, _, _| u64::from((a as i32).unsigned_abs()),
    Double "abs.s64 %dd, %da;" => |a, _, _| (a as i64).unsigned_abs(),
    Half "neg.s16 %hd, %ha;" => |a, _, _| a.wrapping_neg(),
    Double "neg.s64 %dd, %da;" => |a, _, _| a.wrapping_neg(),
    Word "min.s32 %rd, %ra, %rb;" => |a, b, _| (a as i32).min(b as i32) as u64,
    Word "min.u32 %rd, %ra, %rb;" => |a, b, _| u64::from((a as u32).min(b as u32)),
    Double "max.s64 %dd, %da, %db;" => |a, b, _| (a as i64).max(b as i64) as u64,
    Half "max.u16 %hd, %ha, %hb;" => |a, b, _| u64::from((a as u16).max(b as u16)),
    Word "sad.s32 %rd, %ra, %rb, %rc;" => |a, b, c| {
        (i64::from(a as i32) - i64::from(b as i32))
            .unsigned_abs()
            .wrapping_add(c)
    },
    Double "sad.u64 %dd, %da, %db, %dc;" => |a, b, c| a.abs_diff(b).wrapping_add(c),
    Word "dp4a.u32.u32 %rd, %ra, %rb, %rc;" => |a, b, c| {
        (0..4).fold(c, |sum, i| {
            sum.wrapping_add((a >> (8 * i) & 255) * (b >> (8 * i) & 255))
        })
    },
    Word "dp4a.s32.u32 %rd, %ra, %rb, %rc;" => |a, b, c| {
        (0..4).fold(c as i64, |sum, i| {
            sum.wrapping_add(i64::from((a >> (8 * i)) as i8) * (b >> (8 * i) & 255) as i64)
        }) as u64
    },
    Word "dp2a.lo.s32.s32 %rd, %ra, %rb, %rc;" => |a, b, c| {
        let term = |i: u64| i64::from((a >> (16 * i)) as i16) * i64::from((b >> (8 * i)) as i8);
        (c as i64).wrapping_add(term(0) + term(1)) as u64
    },
    Word "dp2a.hi.u32.u32 %rd, %ra, %rb, %rc;" => |a, b, c| {
        let term = |i: u64| (a >> (16 * i) & 0xffff) * (b >> (16 + 8 * i) & 0xff);
        c.wrapping_add(term(0) + term(1))
    },
    Word "add.cc.u32 %re, %ra, %rb; addc.u32 %rd, %rc, 0;" =>
        |a, b, c| c.wrapping_add(u64::from((a as u32).checked_add(b as u32).is_none())),
    Double "sub.cc.u64 %de, %da, %db; subc.u64 %dd, %dc, 0;" =>
        |a, b, c| c.wrapping_sub(u64::from(a < b)),
    Word "mad.lo.cc.u32 %re, %ra, %rb, %rc; madc.hi.u32 %rd, %ra, %rb, 7;" => |a, b, c| {
        let product = u64::from(a as u32) * u64::from(b as u32);
        let (_, carry) = (product as u32).overflowing_add(c as u32);
        (product >> 32) + 7 + u64::from(carry)
    },
};

const BITS: &[Case] = cases! {
    Word "and.b32 %rd, %ra, %rb;" => |a, b, _| a & b,
    Double "or.b64 %dd, %da, %db;" => |a, b, _| a | b,
    Half "xor.b16 %hd, %ha, %hb;" => |a, b, _| a ^ b,
    Word "not.b32 %rd, %ra;" => |a, _, _| !a,
    Double "not.b64 %dd, %da;" => |a, _, _| !a,
    Word "cnot.b32 %rd, %ra;" => |a, _, _| b(a as u32 == 0),
    Word "lop3.b32 %rd, %ra, %rb, %rc, 0xca;" => |a, b, c| (a & b) | (!a & c),
    Word "lop3.b32 %rd, %ra, %rb, %rc, 0x96;" => |a, b, c| a ^ b ^ c,
    Word "lop3.b32 %rd, %ra, %rb, %rc, 0xe8;" => |a, b, c| (a & b) | (a & c) | (b & c),
    Word "shl.b32 %rd, %ra, %rb;" => |a, b, _| if b as u32 > 31 { 0 } else { a << (b as u32) },
    Double "shl.b64 %dd, %da, %rb;" => |a, b, _| if b as u32 > 63 { 0 } else { a << (b as u32) },
    Word "shr.u32 %rd, %ra, %rb;" => |a, b, _| {
        if b as u32 > 31 {
            0
        } else {
            u64::from(a as u32 >> (b as u32))
        }
    },
    Word "shr.s32 %rd, %ra, %rb;" => |a, b, _| ((a as i32) >> (b as u32).min(31)) as u64,
    Double "shr.s64 %dd, %da, %rb;" => |a, b, _| ((a as i64) >> (b as u32).min(63)) as u64,
    Half "shr.u16 %hd, %ha, %rb;" => |a, b, _| {
        if b as u32 > 15 {
            0
        } else {
            (a & 0xffff) >> (b as u32)
        }
    },
    Word "shf.l.wrap.b32 %rd, %ra, %rb, %rc;" => |a, b, c| {
        ((b << 32 | a & 0xffff_ffff) << (c & 31)) >> 32
    },
    Word "shf.r.clamp.b32 %rd, %ra, %rb, %rc;" => |a, b, c| {
        (b << 32 | a & 0xffff_ffff) >> (c as u32).min(32)
    },
    Word "popc.b32 %rd, %ra;" => |a, _, _| u64::from((a as u32).count_ones()),
    Word "popc.b64 %rd, %da;" => |a, _, _| u64::from(a.count_ones()),
    Word "clz.b32 %rd, %ra;" => |a, _, _| u64::from((a as u32).leading_zeros()),
    Word "clz.b64 %rd, %da;" => |a, _, _| u64::from(a.leading_zeros()),
    Word "brev.b32 %rd, %ra;" => |a, _, _| u64::from((a as u32).reverse_bits()),
    Double "brev.b64 %dd, %da;" => |a, _, _| a.reverse_bits(),
    Word "bfind.u32 %rd, %ra;" => |a, _, _| (a as u32).checked_ilog2().map_or(!0, u64::from),
    Word "bfind.s64 %rd, %da;" => |a, _, _| {
        let a = if (a as i64) < 0 { !a } else { a };
        a.checked_ilog2().map_or(!0, u64::from)
    },
    Word "bfind.shiftamt.u64 %rd, %da;" => |a, _, _| {
        if a == 0 {
            !0
        } else {
            u64::from(a.leading_zeros())
        }
    },
    Word "and.b32 %rb, %rb, 63; and.b32 %rc, %rc, 63; bfe.u32 %rd, %ra, %rb, %rc;" => |a, b, c| {
        (0..c & 63)
            .filter(|i| (b & 63) + i < 32 && a >> ((b & 63) + i) & 1 != 0)
            .fold(0, |sum, i| sum | 1 << i)
    },
    Word "and.b32 %rb, %rb, 63; and.b32 %rc, %rc, 63; bfe.s32 %rd, %ra, %rb, %rc;" => |a, b, c| {
        let (position, len) = (b & 63, c & 63);
        let sign = if len == 0 {
            0
        } else {
            a >> (position + len - 1).min(31) & 1
        };
        (0..32).fold(0, |sum, i| {
            let bit = if i < len && position + i < 32 {
                a >> (position + i) & 1
            } else {
                sign
            };
            sum | bit << i
        })
    },
    Double "and.b32 %rb, %rb, 127; and.b32 %rc, %rc, 127; bfe.u64 %dd, %da, %rb, %rc;" => |a, b, c| {
        (0..64.min(c & 127))
            .filter(|i| (b & 127) + i < 64 && a >> ((b & 127) + i) & 1 != 0)
            .fold(0, |sum, i| sum | 1 << i)
    },
    Word "and.b32 %rc, %rc, 63; and.b32 %re, %rb, 31; bfi.b32 %rd, %ra, %rb, %rc, %re;" => |a, b, c| {
        (0..b & 31).filter(|i| (c & 63) + i < 32).fold(b, |sum, i| {
            let at = (c & 63) + i;
            sum & !(1 << at) | (a >> i & 1) << at
        })
    },
    Word "bmsk.clamp.b32 %rd, 3, %rb;" => |_, b, _| {
        (0..32_u64).fold(0, |sum, i| {
            sum | u64::from(i >= 3 && i < 3 + u64::from(b as u32)) << i
        })
    },
    Word "szext.wrap.s32 %rd, %ra, %rb;" => |a, b, _| {
        let bits = b & 31;
        if bits == 0 {
            0
        } else {
            ((a << (64 - bits)) as i64 >> (64 - bits)) as u64
        }
    },
    Word "prmt.b32 %rd, %ra, %rb, %rc;" => |a, b, c| {
        let bytes = b << 32 | a & 0xffff_ffff;
        (0..4).fold(0, |sum, i| {
            let select = c >> (4 * i) & 15;
            let byte = bytes >> (8 * (select & 7)) & 255;
            let byte = if select & 8 == 0 {
                byte
            } else {
                (byte >> 7) * 255
            };
            sum | byte << (8 * i)
        })
    },
    Word "prmt.b32.f4e %rd, %ra, %rb, %rc;" => |a, b, c| {
        (b << 32 | a & 0xffff_ffff) >> (8 * (c & 3))
    },
    Double "selp.b64 %dd, %da, %db, %t;" => |a, b, c| if (c as i32) < 0 { a } else { b },
    Word "slct.u32.s32 %rd, %ra, %rb, %rc;" => |a, b, c| if c as i32 >= 0 { a } else { b },
    Double "slct.b64.f32 %dd, %da, %db, %rc;" => |a, b, c| if f(c) >= 0.0 { a } else { b },
    Double "mov.b64 {%rd, %re}, %da; mov.b64 %dd, {%re, %rd};" => |a, _, _| a.rotate_left(32),
    Double "mov.b32 {%ha, %hb}, %ra; mov.b64 %dd, {%hb, %ha, %hc, %ha};" => |a, _, c| {
        let (low, high) = (a & 0xffff, a >> 16 & 0xffff);
        high | low << 16 | (c & 0xffff) << 32 | low << 48
    },
    Word "mov.b32 %rd, %ra; @%t mov.b32 %rd, %rb;" => |a, b, c| if (c as i32) < 0 { b } else { a },
    Word "@!%t add.s32 %ra, %ra, %rb; mov.u32 %rd, %ra;" => |a, b, c| {
        if (c as i32) < 0 { a } else { a.wrapping_add(b) }
    },
    // A guard that the instruction itself overwrites.
    Pred "setp.gt.u32 %p, %ra, 9; mov.pred %q, 0; @%p setp.lt.u32 %p|%q, %rb, %rc;" =>
        |a, b, c| u64::from(a as u32 > 9 && (b as u32) < c as u32),
    Pred "setp.gt.u32 %q, %ra, 9; mov.pred %p, 0; @%q setp.lt.u32 %q|%p, %rb, %rc;" =>
        |a, b, c| u64::from(a as u32 > 9 && (b as u32) >= c as u32),
};

const COMPARISONS: &[Case] = cases! {
    Pred "setp.eq.s32 %p, %ra, %rb;" => |a, c, _| b(a as u32 == c as u32),
    Pred "setp.ne.b64 %p, %da, %db;" => |a, c, _| b(a != c),
    Pred "setp.lt.s32 %p, %ra, %rb;" => |a, c, _| b((a as i32) < c as i32),
    Pred "setp.lt.u32 %p, %ra, %rb;" => |a, c, _| b((a as u32) < c as u32),
    Pred "setp.hi.u16 %p, %ha, %hb;" => |a, c, _| b(a as u16 > c as u16),
    Pred "setp.ls.u64 %p, %da, %db;" => |a, c, _| b(a <= c),
    Pred "setp.ge.s64 %p, %da, %db;" => |a, c, _| b(a as i64 >= c as i64),
    Pred "setp.le.s16 %p, %ha, %hb;" => |a, c, _| b(a as i16 <= c as i16),
    Pred "setp.lt.and.s32 %p, %ra, %rb, %t;" => |a, c, t| {
        b((a as i32) < c as i32 && (t as i32) < 0)
    },
    Pred "setp.lt.or.s32 %p, %ra, %rb, !%t;" => |a, c, t| b((a as i32) < c as i32 || t as i32 >= 0),
    Pred "setp.lt.xor.s32 %q|%p, %ra, %rb, %t;" => |a, c, t| {
        b((a as i32 >= c as i32) ^ ((t as i32) < 0))
    },
    Pred "setp.eq.f32 %p, %ra, %rb;" => |a, c, _| b(f(a) == f(c)),
    Pred "setp.ne.f32 %p, %ra, %rb;" => |a, c, _| {
        b(f(a) != f(c) && !f(a).is_nan() && !f(c).is_nan())
    },
    Pred "setp.lt.ftz.f32 %p, %ra, %rb;" => |a, c, _| b(z(f(a)) < z(f(c))),
    Pred "setp.ltu.f32 %p, %ra, %rb;" => |a, c, _| b(f(a) < f(c) || f(a).is_nan() || f(c).is_nan()),
    Pred "setp.equ.f64 %p, %da, %db;" => |a, c, _| {
        b(d(a) == d(c) || d(a).is_nan() || d(c).is_nan())
    },
    Pred "setp.geu.f64 %p, %da, %db;" => |a, c, _| {
        b(d(a) >= d(c) || d(a).is_nan() || d(c).is_nan())
    },
    Pred "setp.neu.f64 %p, %da, %db;" => |a, c, _| b(d(a) != d(c)),
    Pred "setp.gt.f64 %p, %da, %db;" => |a, c, _| b(d(a) > d(c)),
    Pred "setp.num.f32 %p, %ra, %rb;" => |a, c, _| b(!f(a).is_nan() && !f(c).is_nan()),
    Pred "setp.nan.f64 %p, %da, %db;" => |a, c, _| b(d(a).is_nan() || d(c).is_nan()),
    Word "set.gt.u32.s32 %rd, %ra, %rb;" => |a, c, _| if a as i32 > c as i32 { !0 } else { 0 },
    Word "set.le.f32.f32 %rd, %ra, %rb;" => |a, c, _| w(if f(a) <= f(c) { 1.0 } else { 0.0 }),
    Pred "testp.finite.f32 %p, %ra;" => |a, _, _| b(f(a).is_finite()),
    Pred "testp.normal.f32 %p, %ra;" => |a, _, _| b(f(a).is_normal() || f(a) == 0.0),
    Pred "testp.subnormal.f64 %p, %da;" => |a, _, _| b(d(a).is_subnormal()),
    Pred "testp.notanumber.f32 %p, %ra;" => |a, _, _| b(f(a).is_nan()),
};

fn least(a: f32, b: f32) -> f32 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if a == b => {
            if a.is_sign_negative() {
                a
            } else {
                b
            }
        }
        _ => {
            if a < b {
                a
            } else {
                b
            }
        }
    }
}

const FLOATS: &[Case] = cases! {
    Word "add.f32 %rd, %ra, %rb;" => |a, b, _| w(f(a) + f(b)),
    Word "add.rn.ftz.f32 %rd, %ra, %rb;" => |a, b, _| w(z(z(f(a)) + z(f(b)))),
    Word "add.sat.f32 %rd, %ra, %rb;" => |a, b, _| {
        let sum = f(a) + f(b);
        w(if sum > 0.0 { sum.min(1.0) } else { 0.0 })
    },
    Double "sub.f64 %dd, %da, %db;" => |a, b, _| (d(a) - d(b)).to_bits(),
    Word "mul.f32 %rd, %ra, %rb;" => |a, b, _| w(f(a) * f(b)),
    Word "mul.ftz.f32 %rd, %ra, %rb;" => |a, b, _| w(z(z(f(a)) * z(f(b)))),
    Double "mul.rn.f64 %dd, %da, %db;" => |a, b, _| (d(a) * d(b)).to_bits(),
    Word "fma.rn.f32 %rd, %ra, %rb, %rc;" => |a, b, c| w(f(a).mul_add(f(b), f(c))),
    Double "fma.rn.f64 %dd, %da, %db, %dc;" => |a, b, c| d(a).mul_add(d(b), d(c)).to_bits(),
    Word "mad.rn.f32 %rd, %ra, %rb, %rc;" => |a, b, c| w(f(a).mul_add(f(b), f(c))),
    Word "div.rn.f32 %rd, %ra, %rb;" => |a, b, _| w(f(a) / f(b)),
    Double "div.rn.f64 %dd, %da, %db;" => |a, b, _| (d(a) / d(b)).to_bits(),
    Double "rcp.rn.f64 %dd, %da;" => |a, _, _| (1.0 / d(a)).to_bits(),
    Word "sqrt.rn.f32 %rd, %ra;" => |a, _, _| w(f(a).sqrt()),
    Double "sqrt.rn.f64 %dd, %da;" => |a, _, _| d(a).sqrt().to_bits(),
    Word "abs.f32 %rd, %ra;" => |a, _, _| w(f(a).abs()),
    Double "neg.f64 %dd, %da;" => |a, _, _| (-d(a)).to_bits(),
    Word "min.f32 %rd, %ra, %rb;" => |a, b, _| w(least(f(a), f(b))),
    Word "max.f32 %rd, %ra, %rb;" => |a, b, _| w(-least(-f(a), -f(b))),
    Word "min.NaN.f32 %rd, %ra, %rb;" => |a, b, _| {
        w(if f(a).is_nan() || f(b).is_nan() {
            f32::NAN
        } else {
            least(f(a), f(b))
        })
    },
    Word "copysign.f32 %rd, %ra, %rb;" => |a, b, _| w(f(b).copysign(f(a))),
    Word "ex2.approx.f32 %rd, %ra;" => |a, _, _| w(f(a).exp2()),
};

const CONVERSIONS: &[Case] = cases! {
    Double "cvt.u64.u32 %dd, %ra;" => |a, _, _| u64::from(a as u32),
    Double "cvt.s64.s32 %dd, %ra;" => |a, _, _| a as i32 as i64 as u64,
    Word "cvt.s32.s8 %rd, %ra;" => |a, _, _| a as i8 as u64,
    Word "cvt.u32.u8 %rd, %ra;" => |a, _, _| a & 255,
    Double "cvt.s64.s16 %dd, %ha;" => |a, _, _| a as i16 as u64,
    Word "cvt.sat.s8.s32 %rd, %ra;" => |a, _, _| (a as i32).clamp(-128, 127) as u64,
    Word "cvt.sat.u8.s32 %rd, %ra;" => |a, _, _| (a as i32).clamp(0, 255) as u64,
    Word "cvt.sat.u32.s64 %rd, %da;" => |a, _, _| (a as i64).clamp(0, u32::MAX.into()) as u64,
    Word "cvt.rn.f32.s32 %rd, %ra;" => |a, _, _| w(a as i32 as f32),
    Word "cvt.rn.f32.u64 %rd, %da;" => |a, _, _| w(a as f32),
    Double "cvt.rn.f64.s64 %dd, %da;" => |a, _, _| (a as i64 as f64).to_bits(),
    Double "cvt.rn.sat.f64.s32 %dd, %ra;" => |a, _, _| f64::from((a as i32).clamp(0, 1)).to_bits(),
    Double "cvt.f64.f32 %dd, %ra;" => |a, _, _| f64::from(f(a)).to_bits(),
    Word "cvt.rn.f32.f64 %rd, %da;" => |a, _, _| w(d(a) as f32),
    Word "cvt.rzi.s32.f32 %rd, %ra;" => |a, _, _| f(a) as i32 as u64,
    Word "cvt.rzi.u8.f32 %rd, %ra;" => |a, _, _| f(a) as u8 as u64,
    Word "cvt.rni.s32.f32 %rd, %ra;" => |a, _, _| f(a).round_ties_even() as i32 as u64,
    Double "cvt.rmi.s64.f32 %dd, %ra;" => |a, _, _| {
        if f(a).is_nan() {
            1 << 63
        } else {
            f(a).floor() as i64 as u64
        }
    },
    Word "cvt.rpi.u32.f64 %rd, %da;" => |a, _, _| {
        if d(a).is_nan() {
            1 << 31
        } else {
            u64::from(d(a).ceil() as u32)
        }
    },
    Double "cvt.rzi.u64.f64 %dd, %da;" => |a, _, _| {
        if d(a).is_nan() { 1 << 63 } else { d(a) as u64 }
    },
    Word "cvt.rni.f32.f32 %rd, %ra;" => |a, _, _| w(f(a).round_ties_even()),
    Double "cvt.rpi.f64.f64 %dd, %da;" => |a, _, _| d(a).ceil().to_bits(),
    Word "cvt.sat.f32.f32 %rd, %ra;" => |a, _, _| w(if f(a) > 0.0 { f(a).min(1.0) } else { 0.0 }),
    Double "cvt.ftz.f64.f32 %dd, %ra;" => |a, _, _| f64::from(z(f(a))).to_bits(),
    Word "cvt.rn.ftz.f32.f64 %rd, %da;" => |a, _, _| w(z(d(a) as f32)),
    Word "cvt.rn.bf16.f32 %hd, %ra; mov.b32 %rd, {0, %hd}; and.b32 %rd, %rd, 0xffff0000;" => |a, _, _| {
        let a = a as u32;
        if f32::from_bits(a).is_nan() {
            return 0x7fff_0000;
        }
        // To nearest, ties to even, on the bits.
        u64::from((a + 0x7fff + (a >> 16 & 1)) & 0xffff_0000)
    },
    // Every f16 survives the way to f32 and back.
    Half "cvt.f32.f16 %re, %ha; cvt.rn.f16.f32 %hd, %re;" => |a, _, _| {
        if a & 0x7fff > 0x7c00 { 0x7fff } else { a }
    },
};

/// The host's own arithmetic in another rounding mode.
#[cfg(target_arch = "x86_64")]
mod directed {
    #![allow(unsafe_code)] // The rounding mode is a register of the processor.

    use std::arch::asm;

    /// MXCSR with all exceptions masked, and the mode.
    fn control(mode: &str) -> u32 {
        0x1f80
            | match mode {
                "rm" => 1 << 13,
                "rp" => 2 << 13,
                "rz" => 3 << 13,
                _ => 0,
            }
    }

    macro_rules! arithmetic {
        ($name:ident, $ty:ty, $add:literal, $sub:literal, $mul:literal, $div:literal,
         $sqrt:literal, $fma:literal) => {
            pub(super) fn $name(op: &str, mode: &str, a: $ty, b: $ty, c: $ty) -> $ty {
                let (mode, usual) = (control(mode), control("rn"));
                let mut x = a;
                macro_rules! run {
                    ($text:literal) => {
                        // SAFETY: the mode is set back; nothing else happens in between. The caller
                        // asked whether the processor has fma.
                        unsafe {
                            asm!(
                                "ldmxcsr [{mode}]", $text, "ldmxcsr [{usual}]",
                                mode = in(reg) &raw const mode, usual = in(reg) &raw const usual,
                                x = inout(xmm_reg) x, b = in(xmm_reg) b, c = in(xmm_reg) c,
                            )
                        }
                    };
                }
                match op {
                    "add" => run!($add),
                    "sub" => run!($sub),
                    "mul" => run!($mul),
                    "div" => run!($div),
                    "sqrt" => run!($sqrt),
                    _ => run!($fma),
                }
                x
            }
        };
    }
    arithmetic!(
        f32,
        f32,
        "addss {x}, {b} /* {c} */",
        "subss {x}, {b} /* {c} */",
        "mulss {x}, {b} /* {c} */",
        "divss {x}, {b} /* {c} */",
        "sqrtss {x}, {x} /* {b} {c} */",
        "vfmadd213ss {x}, {b}, {c}"
    );
    arithmetic!(
        f64,
        f64,
        "addsd {x}, {b} /* {c} */",
        "subsd {x}, {b} /* {c} */",
        "mulsd {x}, {b} /* {c} */",
        "divsd {x}, {b} /* {c} */",
        "sqrtsd {x}, {x} /* {b} {c} */",
        "vfmadd213sd {x}, {b}, {c}"
    );
}

/// Every operation in every mode, against the processor.
#[cfg(target_arch = "x86_64")]
fn rounded(operands: &[[u64; 3]]) {
    if !std::is_x86_feature_detected!("fma") {
        return;
    }
    for op in ["add", "sub", "mul", "div", "sqrt", "fma"] {
        let arity = match op {
            "sqrt" => 1,
            "fma" => 3,
            _ => 2,
        };
        for mode in ["rn", "rz", "rm", "rp"] {
            for wide in [false, true] {
                let (ty, letter, out) = if wide {
                    ("f64", 'd', Double)
                } else {
                    ("f32", 'r', Word)
                };
                let sources: String = "abc"
                    .chars()
                    .take(arity)
                    .map(|name| format!(", %{letter}{name}"))
                    .collect();
                let code = format!("{op}.{mode}.{ty} %{letter}d{sources};");
                let got = single::results(&code, out, operands);
                for (&[a, b, c], got) in operands.iter().zip(got) {
                    let (expected, nan) = if wide {
                        let value = directed::f64(op, mode, d(a), d(b), d(c));
                        (value.to_bits(), value.is_nan() && d(got).is_nan())
                    } else {
                        let value = directed::f32(op, mode, f(a), f(b), f(c));
                        (w(value), value.is_nan() && f(got).is_nan())
                    };
                    assert!(
                        nan || got == expected,
                        "{code} of {a:#x}, {b:#x}, {c:#x}: {got:#x}, not {expected:#x}"
                    );
                }
            }
        }
    }
}

/// A sum that rounds to zero and is none: half of the smallest number.
#[test]
#[cfg(target_arch = "x86_64")]
fn what_is_smaller_than_the_smallest_number_is_rounded_as_asked() {
    let (nine, minus_2_5, twenty_two) = (0x9, 0xc004_0000_0000_0000, 0x16);
    let sign = 1 << 63;
    rounded(&[
        [nine, minus_2_5, twenty_two],
        [nine, minus_2_5 ^ sign, twenty_two | sign],
        [nine, minus_2_5, twenty_two + 1],
        [8, minus_2_5, 20],
        [8, minus_2_5 ^ sign, 20 | sign],
    ]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn integers(operands in triples()) {
        check(INTEGERS, false, &operands);
    }

    #[test]
    fn bits(operands in triples()) {
        check(BITS, false, &operands);
    }

    #[test]
    fn comparisons(operands in triples()) {
        check(COMPARISONS, false, &operands);
    }

    #[test]
    fn floats(operands in triples()) {
        check(FLOATS, true, &operands);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn rounding_modes(operands in triples()) {
        rounded(&operands);
    }

    #[test]
    fn conversions(operands in triples()) {
        check(CONVERSIONS, true, &operands);
    }
}
