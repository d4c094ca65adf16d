//! Single instructions on random operands, against the arithmetic of Rust.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::precedence)] // A test ends there.

#[path = "ptx/gpu.rs"]
#[macro_use]
mod gpu;
#[path = "ptx/single.rs"]
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

const INTEGERS: &[Case] = &[
    ("add.s32 %rd, %ra, %rb;", Word, |a, b, _| a.wrapping_add(b)),
    ("add.u64 %dd, %da, %db;", Double, |a, b, _| {
        a.wrapping_add(b)
    }),
    ("add.s16 %hd, %ha, %hb;", Half, |a, b, _| a.wrapping_add(b)),
    ("add.sat.s32 %rd, %ra, %rb;", Word, |a, b, _| {
        (i64::from(a as i32) + i64::from(b as i32)).clamp(-(1 << 31), (1 << 31) - 1) as u64
    }),
    ("sub.s32 %rd, %ra, %rb;", Word, |a, b, _| a.wrapping_sub(b)),
    ("sub.sat.s32 %rd, %ra, %rb;", Word, |a, b, _| {
        (i64::from(a as i32) - i64::from(b as i32)).clamp(-(1 << 31), (1 << 31) - 1) as u64
    }),
    ("sub.s64 %dd, %da, %db;", Double, |a, b, _| {
        a.wrapping_sub(b)
    }),
    ("mul.lo.u16 %hd, %ha, %hb;", Half, |a, b, _| {
        a.wrapping_mul(b)
    }),
    ("mul.lo.s32 %rd, %ra, %rb;", Word, |a, b, _| {
        a.wrapping_mul(b)
    }),
    ("mul.lo.s64 %dd, %da, %db;", Double, |a, b, _| {
        a.wrapping_mul(b)
    }),
    ("mul.hi.u16 %hd, %ha, %hb;", Half, |a, b, _| {
        (a & 0xffff) * (b & 0xffff) >> 16
    }),
    ("mul.hi.s16 %hd, %ha, %hb;", Half, |a, b, _| {
        (i64::from(a as i16) * i64::from(b as i16) >> 16) as u64
    }),
    ("mul.hi.u32 %rd, %ra, %rb;", Word, |a, b, _| {
        u64::from(a as u32) * u64::from(b as u32) >> 32
    }),
    ("mul.hi.s32 %rd, %ra, %rb;", Word, |a, b, _| {
        (i64::from(a as i32) * i64::from(b as i32) >> 32) as u64
    }),
    ("mul.hi.u64 %dd, %da, %db;", Double, |a, b, _| {
        (u128::from(a) * u128::from(b) >> 64) as u64
    }),
    ("mul.hi.s64 %dd, %da, %db;", Double, |a, b, _| {
        (i128::from(a as i64) * i128::from(b as i64) >> 64) as u64
    }),
    ("mul.wide.u16 %rd, %ha, %hb;", Word, |a, b, _| {
        (a & 0xffff) * (b & 0xffff)
    }),
    ("mul.wide.s16 %rd, %ha, %hb;", Word, |a, b, _| {
        (i64::from(a as i16) * i64::from(b as i16)) as u64
    }),
    ("mul.wide.u32 %dd, %ra, %rb;", Double, |a, b, _| {
        u64::from(a as u32) * u64::from(b as u32)
    }),
    ("mul.wide.s32 %dd, %ra, %rb;", Double, |a, b, _| {
        (i64::from(a as i32) * i64::from(b as i32)) as u64
    }),
    ("mad.lo.s32 %rd, %ra, %rb, %rc;", Word, |a, b, c| {
        a.wrapping_mul(b).wrapping_add(c)
    }),
    ("mad.lo.u64 %dd, %da, %db, %dc;", Double, |a, b, c| {
        a.wrapping_mul(b).wrapping_add(c)
    }),
    ("mad.hi.u32 %rd, %ra, %rb, %rc;", Word, |a, b, c| {
        (u64::from(a as u32) * u64::from(b as u32) >> 32).wrapping_add(c)
    }),
    ("mad.hi.sat.s32 %rd, %ra, %rb, %rc;", Word, |a, b, c| {
        ((i64::from(a as i32) * i64::from(b as i32) >> 32) + i64::from(c as i32))
            .clamp(-(1 << 31), (1 << 31) - 1) as u64
    }),
    ("mad.wide.s32 %dd, %ra, %rb, %dc;", Double, |a, b, c| {
        (i64::from(a as i32) * i64::from(b as i32)).wrapping_add(c as i64) as u64
    }),
    ("mad.wide.u16 %rd, %ha, %hb, %rc;", Word, |a, b, c| {
        ((a & 0xffff) * (b & 0xffff)).wrapping_add(c)
    }),
    ("mul24.lo.u32 %rd, %ra, %rb;", Word, |a, b, _| {
        (a & 0xff_ffff) * (b & 0xff_ffff)
    }),
    ("mul24.hi.s32 %rd, %ra, %rb;", Word, |a, b, _| {
        let s = |x: u64| i64::from((x as i32) << 8 >> 8);
        (s(a) * s(b) >> 16) as u64
    }),
    ("mad24.lo.u32 %rd, %ra, %rb, %rc;", Word, |a, b, c| {
        ((a & 0xff_ffff) * (b & 0xff_ffff)).wrapping_add(c)
    }),
    (
        "or.b32 %rb, %rb, 1; div.u32 %rd, %ra, %rb;",
        Word,
        |a, b, _| u64::from(a as u32 / (b as u32 | 1)),
    ),
    (
        "or.b32 %rb, %rb, 1; div.s32 %rd, %ra, %rb;",
        Word,
        |a, b, _| i64::from((a as i32).wrapping_div(b as i32 | 1)) as u64,
    ),
    (
        "or.b64 %db, %db, 1; div.s64 %dd, %da, %db;",
        Double,
        |a, b, _| (a as i64).wrapping_div(b as i64 | 1) as u64,
    ),
    (
        "or.b32 %rb, %rb, 1; rem.s32 %rd, %ra, %rb;",
        Word,
        |a, b, _| i64::from((a as i32).wrapping_rem(b as i32 | 1)) as u64,
    ),
    (
        "or.b64 %db, %db, 1; rem.u64 %dd, %da, %db;",
        Double,
        |a, b, _| a % (b | 1),
    ),
    ("abs.s32 %rd, %ra;", Word, |a, _, _| {
        u64::from((a as i32).unsigned_abs())
    }),
    ("abs.s64 %dd, %da;", Double, |a, _, _| {
        (a as i64).unsigned_abs()
    }),
    ("neg.s16 %hd, %ha;", Half, |a, _, _| a.wrapping_neg()),
    ("neg.s64 %dd, %da;", Double, |a, _, _| a.wrapping_neg()),
    ("min.s32 %rd, %ra, %rb;", Word, |a, b, _| {
        (a as i32).min(b as i32) as u64
    }),
    ("min.u32 %rd, %ra, %rb;", Word, |a, b, _| {
        u64::from((a as u32).min(b as u32))
    }),
    ("max.s64 %dd, %da, %db;", Double, |a, b, _| {
        (a as i64).max(b as i64) as u64
    }),
    ("max.u16 %hd, %ha, %hb;", Half, |a, b, _| {
        u64::from((a as u16).max(b as u16))
    }),
    ("sad.s32 %rd, %ra, %rb, %rc;", Word, |a, b, c| {
        (i64::from(a as i32) - i64::from(b as i32))
            .unsigned_abs()
            .wrapping_add(c)
    }),
    ("sad.u64 %dd, %da, %db, %dc;", Double, |a, b, c| {
        a.abs_diff(b).wrapping_add(c)
    }),
    ("dp4a.u32.u32 %rd, %ra, %rb, %rc;", Word, |a, b, c| {
        (0..4).fold(c, |sum, i| {
            sum.wrapping_add((a >> (8 * i) & 255) * (b >> (8 * i) & 255))
        })
    }),
    ("dp4a.s32.u32 %rd, %ra, %rb, %rc;", Word, |a, b, c| {
        (0..4).fold(c as i64, |sum, i| {
            sum.wrapping_add(i64::from((a >> (8 * i)) as i8) * (b >> (8 * i) & 255) as i64)
        }) as u64
    }),
    ("dp2a.lo.s32.s32 %rd, %ra, %rb, %rc;", Word, |a, b, c| {
        let term = |i: u64| i64::from((a >> (16 * i)) as i16) * i64::from((b >> (8 * i)) as i8);
        (c as i64).wrapping_add(term(0) + term(1)) as u64
    }),
    ("dp2a.hi.u32.u32 %rd, %ra, %rb, %rc;", Word, |a, b, c| {
        let term = |i: u64| (a >> (16 * i) & 0xffff) * (b >> (16 + 8 * i) & 0xff);
        c.wrapping_add(term(0) + term(1))
    }),
    (
        "add.cc.u32 %re, %ra, %rb; addc.u32 %rd, %rc, 0;",
        Word,
        |a, b, c| c.wrapping_add(u64::from((a as u32).checked_add(b as u32).is_none())),
    ),
    (
        "sub.cc.u64 %de, %da, %db; subc.u64 %dd, %dc, 0;",
        Double,
        |a, b, c| c.wrapping_sub(u64::from(a < b)),
    ),
    (
        "mad.lo.cc.u32 %re, %ra, %rb, %rc; madc.hi.u32 %rd, %ra, %rb, 7;",
        Word,
        |a, b, c| {
            let product = u64::from(a as u32) * u64::from(b as u32);
            let (_, carry) = (product as u32).overflowing_add(c as u32);
            (product >> 32) + 7 + u64::from(carry)
        },
    ),
];

const BITS: &[Case] = &[
    ("and.b32 %rd, %ra, %rb;", Word, |a, b, _| a & b),
    ("or.b64 %dd, %da, %db;", Double, |a, b, _| a | b),
    ("xor.b16 %hd, %ha, %hb;", Half, |a, b, _| a ^ b),
    ("not.b32 %rd, %ra;", Word, |a, _, _| !a),
    ("not.b64 %dd, %da;", Double, |a, _, _| !a),
    ("cnot.b32 %rd, %ra;", Word, |a, _, _| b(a as u32 == 0)),
    ("lop3.b32 %rd, %ra, %rb, %rc, 0xca;", Word, |a, b, c| {
        (a & b) | (!a & c)
    }),
    ("lop3.b32 %rd, %ra, %rb, %rc, 0x96;", Word, |a, b, c| {
        a ^ b ^ c
    }),
    ("lop3.b32 %rd, %ra, %rb, %rc, 0xe8;", Word, |a, b, c| {
        (a & b) | (a & c) | (b & c)
    }),
    ("shl.b32 %rd, %ra, %rb;", Word, |a, b, _| {
        if b as u32 > 31 { 0 } else { a << (b as u32) }
    }),
    ("shl.b64 %dd, %da, %rb;", Double, |a, b, _| {
        if b as u32 > 63 { 0 } else { a << (b as u32) }
    }),
    ("shr.u32 %rd, %ra, %rb;", Word, |a, b, _| {
        if b as u32 > 31 {
            0
        } else {
            u64::from(a as u32 >> (b as u32))
        }
    }),
    ("shr.s32 %rd, %ra, %rb;", Word, |a, b, _| {
        ((a as i32) >> (b as u32).min(31)) as u64
    }),
    ("shr.s64 %dd, %da, %rb;", Double, |a, b, _| {
        ((a as i64) >> (b as u32).min(63)) as u64
    }),
    ("shr.u16 %hd, %ha, %rb;", Half, |a, b, _| {
        if b as u32 > 15 {
            0
        } else {
            (a & 0xffff) >> (b as u32)
        }
    }),
    ("shf.l.wrap.b32 %rd, %ra, %rb, %rc;", Word, |a, b, c| {
        ((b << 32 | a & 0xffff_ffff) << (c & 31)) >> 32
    }),
    ("shf.r.clamp.b32 %rd, %ra, %rb, %rc;", Word, |a, b, c| {
        (b << 32 | a & 0xffff_ffff) >> (c as u32).min(32)
    }),
    ("popc.b32 %rd, %ra;", Word, |a, _, _| {
        u64::from((a as u32).count_ones())
    }),
    ("popc.b64 %rd, %da;", Word, |a, _, _| {
        u64::from(a.count_ones())
    }),
    ("clz.b32 %rd, %ra;", Word, |a, _, _| {
        u64::from((a as u32).leading_zeros())
    }),
    ("clz.b64 %rd, %da;", Word, |a, _, _| {
        u64::from(a.leading_zeros())
    }),
    ("brev.b32 %rd, %ra;", Word, |a, _, _| {
        u64::from((a as u32).reverse_bits())
    }),
    ("brev.b64 %dd, %da;", Double, |a, _, _| a.reverse_bits()),
    ("bfind.u32 %rd, %ra;", Word, |a, _, _| {
        (a as u32).checked_ilog2().map_or(!0, u64::from)
    }),
    ("bfind.s64 %rd, %da;", Word, |a, _, _| {
        let a = if (a as i64) < 0 { !a } else { a };
        a.checked_ilog2().map_or(!0, u64::from)
    }),
    ("bfind.shiftamt.u64 %rd, %da;", Word, |a, _, _| {
        if a == 0 {
            !0
        } else {
            u64::from(a.leading_zeros())
        }
    }),
    (
        "and.b32 %rb, %rb, 63; and.b32 %rc, %rc, 63; bfe.u32 %rd, %ra, %rb, %rc;",
        Word,
        |a, b, c| {
            (0..c & 63)
                .filter(|i| (b & 63) + i < 32 && a >> ((b & 63) + i) & 1 != 0)
                .fold(0, |sum, i| sum | 1 << i)
        },
    ),
    (
        "and.b32 %rb, %rb, 63; and.b32 %rc, %rc, 63; bfe.s32 %rd, %ra, %rb, %rc;",
        Word,
        |a, b, c| {
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
    ),
    (
        "and.b32 %rb, %rb, 127; and.b32 %rc, %rc, 127; bfe.u64 %dd, %da, %rb, %rc;",
        Double,
        |a, b, c| {
            (0..64.min(c & 127))
                .filter(|i| (b & 127) + i < 64 && a >> ((b & 127) + i) & 1 != 0)
                .fold(0, |sum, i| sum | 1 << i)
        },
    ),
    (
        "and.b32 %rc, %rc, 63; and.b32 %re, %rb, 31; bfi.b32 %rd, %ra, %rb, %rc, %re;",
        Word,
        |a, b, c| {
            (0..b & 31).filter(|i| (c & 63) + i < 32).fold(b, |sum, i| {
                let at = (c & 63) + i;
                sum & !(1 << at) | (a >> i & 1) << at
            })
        },
    ),
    ("bmsk.clamp.b32 %rd, 3, %rb;", Word, |_, b, _| {
        (0..32_u64).fold(0, |sum, i| {
            sum | u64::from(i >= 3 && i < 3 + u64::from(b as u32)) << i
        })
    }),
    ("szext.wrap.s32 %rd, %ra, %rb;", Word, |a, b, _| {
        let bits = b & 31;
        if bits == 0 {
            0
        } else {
            ((a << (64 - bits)) as i64 >> (64 - bits)) as u64
        }
    }),
    ("prmt.b32 %rd, %ra, %rb, %rc;", Word, |a, b, c| {
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
    }),
    ("prmt.b32.f4e %rd, %ra, %rb, %rc;", Word, |a, b, c| {
        (b << 32 | a & 0xffff_ffff) >> (8 * (c & 3))
    }),
    ("selp.b64 %dd, %da, %db, %t;", Double, |a, b, c| {
        if (c as i32) < 0 { a } else { b }
    }),
    ("slct.u32.s32 %rd, %ra, %rb, %rc;", Word, |a, b, c| {
        if c as i32 >= 0 { a } else { b }
    }),
    ("slct.b64.f32 %dd, %da, %db, %rc;", Double, |a, b, c| {
        if f(c) >= 0.0 { a } else { b }
    }),
    (
        "mov.b64 {%rd, %re}, %da; mov.b64 %dd, {%re, %rd};",
        Double,
        |a, _, _| a.rotate_left(32),
    ),
    (
        "mov.b32 {%ha, %hb}, %ra; mov.b64 %dd, {%hb, %ha, %hc, %ha};",
        Double,
        |a, _, c| {
            let (low, high) = (a & 0xffff, a >> 16 & 0xffff);
            high | low << 16 | (c & 0xffff) << 32 | low << 48
        },
    ),
    (
        "mov.b32 %rd, %ra; @%t mov.b32 %rd, %rb;",
        Word,
        |a, b, c| if (c as i32) < 0 { b } else { a },
    ),
    (
        "@!%t add.s32 %ra, %ra, %rb; mov.u32 %rd, %ra;",
        Word,
        |a, b, c| {
            if (c as i32) < 0 { a } else { a.wrapping_add(b) }
        },
    ),
    // A guard that the instruction itself overwrites.
    (
        "setp.gt.u32 %p, %ra, 9; mov.pred %q, 0; @%p setp.lt.u32 %p|%q, %rb, %rc;",
        Pred,
        |a, b, c| u64::from(a as u32 > 9 && (b as u32) < c as u32),
    ),
    (
        "setp.gt.u32 %q, %ra, 9; mov.pred %p, 0; @%q setp.lt.u32 %q|%p, %rb, %rc;",
        Pred,
        |a, b, c| u64::from(a as u32 > 9 && (b as u32) >= c as u32),
    ),
];

const COMPARISONS: &[Case] = &[
    ("setp.eq.s32 %p, %ra, %rb;", Pred, |a, c, _| {
        b(a as u32 == c as u32)
    }),
    ("setp.ne.b64 %p, %da, %db;", Pred, |a, c, _| b(a != c)),
    ("setp.lt.s32 %p, %ra, %rb;", Pred, |a, c, _| {
        b((a as i32) < c as i32)
    }),
    ("setp.lt.u32 %p, %ra, %rb;", Pred, |a, c, _| {
        b((a as u32) < c as u32)
    }),
    ("setp.hi.u16 %p, %ha, %hb;", Pred, |a, c, _| {
        b(a as u16 > c as u16)
    }),
    ("setp.ls.u64 %p, %da, %db;", Pred, |a, c, _| b(a <= c)),
    ("setp.ge.s64 %p, %da, %db;", Pred, |a, c, _| {
        b(a as i64 >= c as i64)
    }),
    ("setp.le.s16 %p, %ha, %hb;", Pred, |a, c, _| {
        b(a as i16 <= c as i16)
    }),
    ("setp.lt.and.s32 %p, %ra, %rb, %t;", Pred, |a, c, t| {
        b((a as i32) < c as i32 && (t as i32) < 0)
    }),
    ("setp.lt.or.s32 %p, %ra, %rb, !%t;", Pred, |a, c, t| {
        b((a as i32) < c as i32 || t as i32 >= 0)
    }),
    ("setp.lt.xor.s32 %q|%p, %ra, %rb, %t;", Pred, |a, c, t| {
        b((a as i32 >= c as i32) ^ ((t as i32) < 0))
    }),
    ("setp.eq.f32 %p, %ra, %rb;", Pred, |a, c, _| b(f(a) == f(c))),
    ("setp.ne.f32 %p, %ra, %rb;", Pred, |a, c, _| {
        b(f(a) != f(c) && !f(a).is_nan() && !f(c).is_nan())
    }),
    ("setp.lt.ftz.f32 %p, %ra, %rb;", Pred, |a, c, _| {
        b(z(f(a)) < z(f(c)))
    }),
    ("setp.ltu.f32 %p, %ra, %rb;", Pred, |a, c, _| {
        b(f(a) < f(c) || f(a).is_nan() || f(c).is_nan())
    }),
    ("setp.equ.f64 %p, %da, %db;", Pred, |a, c, _| {
        b(d(a) == d(c) || d(a).is_nan() || d(c).is_nan())
    }),
    ("setp.geu.f64 %p, %da, %db;", Pred, |a, c, _| {
        b(d(a) >= d(c) || d(a).is_nan() || d(c).is_nan())
    }),
    (
        "setp.neu.f64 %p, %da, %db;",
        Pred,
        |a, c, _| b(d(a) != d(c)),
    ),
    ("setp.gt.f64 %p, %da, %db;", Pred, |a, c, _| b(d(a) > d(c))),
    ("setp.num.f32 %p, %ra, %rb;", Pred, |a, c, _| {
        b(!f(a).is_nan() && !f(c).is_nan())
    }),
    ("setp.nan.f64 %p, %da, %db;", Pred, |a, c, _| {
        b(d(a).is_nan() || d(c).is_nan())
    }),
    ("set.gt.u32.s32 %rd, %ra, %rb;", Word, |a, c, _| {
        if a as i32 > c as i32 { !0 } else { 0 }
    }),
    ("set.le.f32.f32 %rd, %ra, %rb;", Word, |a, c, _| {
        w(if f(a) <= f(c) { 1.0 } else { 0.0 })
    }),
    ("testp.finite.f32 %p, %ra;", Pred, |a, _, _| {
        b(f(a).is_finite())
    }),
    ("testp.normal.f32 %p, %ra;", Pred, |a, _, _| {
        b(f(a).is_normal() || f(a) == 0.0)
    }),
    ("testp.subnormal.f64 %p, %da;", Pred, |a, _, _| {
        b(d(a).is_subnormal())
    }),
    ("testp.notanumber.f32 %p, %ra;", Pred, |a, _, _| {
        b(f(a).is_nan())
    }),
];

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

const FLOATS: &[Case] = &[
    ("add.f32 %rd, %ra, %rb;", Word, |a, b, _| w(f(a) + f(b))),
    ("add.rn.ftz.f32 %rd, %ra, %rb;", Word, |a, b, _| {
        w(z(z(f(a)) + z(f(b))))
    }),
    ("add.sat.f32 %rd, %ra, %rb;", Word, |a, b, _| {
        let sum = f(a) + f(b);
        w(if sum > 0.0 { sum.min(1.0) } else { 0.0 })
    }),
    ("sub.f64 %dd, %da, %db;", Double, |a, b, _| {
        (d(a) - d(b)).to_bits()
    }),
    ("mul.f32 %rd, %ra, %rb;", Word, |a, b, _| w(f(a) * f(b))),
    ("mul.ftz.f32 %rd, %ra, %rb;", Word, |a, b, _| {
        w(z(z(f(a)) * z(f(b))))
    }),
    ("mul.rn.f64 %dd, %da, %db;", Double, |a, b, _| {
        (d(a) * d(b)).to_bits()
    }),
    ("fma.rn.f32 %rd, %ra, %rb, %rc;", Word, |a, b, c| {
        w(f(a).mul_add(f(b), f(c)))
    }),
    ("fma.rn.f64 %dd, %da, %db, %dc;", Double, |a, b, c| {
        d(a).mul_add(d(b), d(c)).to_bits()
    }),
    ("mad.rn.f32 %rd, %ra, %rb, %rc;", Word, |a, b, c| {
        w(f(a).mul_add(f(b), f(c)))
    }),
    ("div.rn.f32 %rd, %ra, %rb;", Word, |a, b, _| w(f(a) / f(b))),
    ("div.rn.f64 %dd, %da, %db;", Double, |a, b, _| {
        (d(a) / d(b)).to_bits()
    }),
    ("rcp.rn.f64 %dd, %da;", Double, |a, _, _| {
        (1.0 / d(a)).to_bits()
    }),
    ("sqrt.rn.f32 %rd, %ra;", Word, |a, _, _| w(f(a).sqrt())),
    ("sqrt.rn.f64 %dd, %da;", Double, |a, _, _| {
        d(a).sqrt().to_bits()
    }),
    ("abs.f32 %rd, %ra;", Word, |a, _, _| w(f(a).abs())),
    ("neg.f64 %dd, %da;", Double, |a, _, _| (-d(a)).to_bits()),
    ("min.f32 %rd, %ra, %rb;", Word, |a, b, _| {
        w(least(f(a), f(b)))
    }),
    ("max.f32 %rd, %ra, %rb;", Word, |a, b, _| {
        w(-least(-f(a), -f(b)))
    }),
    ("min.NaN.f32 %rd, %ra, %rb;", Word, |a, b, _| {
        w(if f(a).is_nan() || f(b).is_nan() {
            f32::NAN
        } else {
            least(f(a), f(b))
        })
    }),
    ("copysign.f32 %rd, %ra, %rb;", Word, |a, b, _| {
        w(f(b).copysign(f(a)))
    }),
    ("ex2.approx.f32 %rd, %ra;", Word, |a, _, _| w(f(a).exp2())),
];

const CONVERSIONS: &[Case] = &[
    ("cvt.u64.u32 %dd, %ra;", Double, |a, _, _| {
        u64::from(a as u32)
    }),
    ("cvt.s64.s32 %dd, %ra;", Double, |a, _, _| {
        a as i32 as i64 as u64
    }),
    ("cvt.s32.s8 %rd, %ra;", Word, |a, _, _| a as i8 as u64),
    ("cvt.u32.u8 %rd, %ra;", Word, |a, _, _| a & 255),
    ("cvt.s64.s16 %dd, %ha;", Double, |a, _, _| a as i16 as u64),
    ("cvt.sat.s8.s32 %rd, %ra;", Word, |a, _, _| {
        (a as i32).clamp(-128, 127) as u64
    }),
    ("cvt.sat.u8.s32 %rd, %ra;", Word, |a, _, _| {
        (a as i32).clamp(0, 255) as u64
    }),
    ("cvt.sat.u32.s64 %rd, %da;", Word, |a, _, _| {
        (a as i64).clamp(0, u32::MAX.into()) as u64
    }),
    ("cvt.rn.f32.s32 %rd, %ra;", Word, |a, _, _| {
        w(a as i32 as f32)
    }),
    ("cvt.rn.f32.u64 %rd, %da;", Word, |a, _, _| w(a as f32)),
    ("cvt.rn.f64.s64 %dd, %da;", Double, |a, _, _| {
        (a as i64 as f64).to_bits()
    }),
    ("cvt.rn.sat.f64.s32 %dd, %ra;", Double, |a, _, _| {
        f64::from((a as i32).clamp(0, 1)).to_bits()
    }),
    ("cvt.f64.f32 %dd, %ra;", Double, |a, _, _| {
        f64::from(f(a)).to_bits()
    }),
    ("cvt.rn.f32.f64 %rd, %da;", Word, |a, _, _| w(d(a) as f32)),
    ("cvt.rzi.s32.f32 %rd, %ra;", Word, |a, _, _| {
        f(a) as i32 as u64
    }),
    ("cvt.rzi.u8.f32 %rd, %ra;", Word, |a, _, _| {
        f(a) as u8 as u64
    }),
    ("cvt.rni.s32.f32 %rd, %ra;", Word, |a, _, _| {
        f(a).round_ties_even() as i32 as u64
    }),
    ("cvt.rmi.s64.f32 %dd, %ra;", Double, |a, _, _| {
        if f(a).is_nan() {
            1 << 63
        } else {
            f(a).floor() as i64 as u64
        }
    }),
    ("cvt.rpi.u32.f64 %rd, %da;", Word, |a, _, _| {
        if d(a).is_nan() {
            1 << 31
        } else {
            u64::from(d(a).ceil() as u32)
        }
    }),
    ("cvt.rzi.u64.f64 %dd, %da;", Double, |a, _, _| {
        if d(a).is_nan() { 1 << 63 } else { d(a) as u64 }
    }),
    ("cvt.rni.f32.f32 %rd, %ra;", Word, |a, _, _| {
        w(f(a).round_ties_even())
    }),
    ("cvt.rpi.f64.f64 %dd, %da;", Double, |a, _, _| {
        d(a).ceil().to_bits()
    }),
    ("cvt.sat.f32.f32 %rd, %ra;", Word, |a, _, _| {
        w(if f(a) > 0.0 { f(a).min(1.0) } else { 0.0 })
    }),
    ("cvt.ftz.f64.f32 %dd, %ra;", Double, |a, _, _| {
        f64::from(z(f(a))).to_bits()
    }),
    ("cvt.rn.ftz.f32.f64 %rd, %da;", Word, |a, _, _| {
        w(z(d(a) as f32))
    }),
    (
        "cvt.rn.bf16.f32 %hd, %ra; mov.b32 %rd, {0, %hd}; and.b32 %rd, %rd, 0xffff0000;",
        Word,
        |a, _, _| {
            let a = a as u32;
            if f32::from_bits(a).is_nan() {
                return 0x7fff_0000;
            }
            // To nearest, ties to even, on the bits.
            u64::from((a + 0x7fff + (a >> 16 & 1)) & 0xffff_0000)
        },
    ),
    // Every f16 survives the way to f32 and back.
    (
        "cvt.f32.f16 %re, %ha; cvt.rn.f16.f32 %hd, %re;",
        Half,
        |a, _, _| {
            if a & 0x7fff > 0x7c00 { 0x7fff } else { a }
        },
    ),
];

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
