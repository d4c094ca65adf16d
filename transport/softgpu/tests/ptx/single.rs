//! Runs one instruction on many operands and compares it with arithmetic of Rust.

use super::gpu::{Gpu, shape};
use proptest::prelude::*;

/// Width of the result: where the instruction leaves it and how many bits count.
#[derive(Clone, Copy)]
pub(crate) enum Out {
    /// %hd
    Half,
    /// %rd
    Word,
    /// %dd
    Double,
    /// %p: stored as 0 or 1.
    Pred,
}

/// PTX and the same in Rust. Operands a, b, c are in %ra, %rb, %rc (low 32 bits), %da, %db, %dc (64
/// bits) and %ha, %hb, %hc (low 16 bits).
pub(crate) type Case = (&'static str, Out, fn(u64, u64, u64) -> u64);

/// A table of cases: the result's width, the PTX, and the same in Rust.
macro_rules! cases {
    ($($width:ident $code:literal => $same:expr,)*) => {
        &[$(($code, $width, $same)),*]
    };
}

/// Operands with the values at which arithmetic goes wrong.
pub(crate) fn operand() -> impl Strategy<Value = u64> {
    let float = |value: f32| u64::from(value.to_bits()) | value.to_bits() as u64;
    prop_oneof![
        4 => any::<u64>(),
        2 => any::<u32>().prop_map(|x| u64::from(x) << 32 | u64::from(x)),
        1 => 0_u64..70,
        1 => (0_u64..70).prop_map(|x| x.wrapping_neg()),
        1 => (0_u32..64).prop_map(|bit| 1 << bit),
        1 => (0_u32..64).prop_map(|bit| (1_u64 << bit).wrapping_sub(1)),
        2 => (-1000_i32..1000).prop_map(move |x| float(x as f32 * 0.25)),
        2 => (-1000_i64..1000).prop_map(|x| (x as f64 * 0.125).to_bits()),
        1 => prop::sample::select(vec![
            0, 0x8000_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 1, 0x0080_0000, 0x007f_ffff,
            0x7f7f_ffff, 0x3f80_0000, 0x4f00_0000, 0xcf00_0000, 0x5f00_0000,
        ]),
        1 => prop::sample::select(vec![
            f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -0.0, f64::MIN_POSITIVE, 5e-324, f64::MAX,
            1.0, 0.5, 1.5, 2.5, -2.5, 2_147_483_648.0, 9.3e18, 1e-40, 3.4028235e38, 3.4028236e38,
        ]).prop_map(f64::to_bits),
    ]
}

pub(crate) fn triples() -> impl Strategy<Value = Vec<[u64; 3]>> {
    prop::collection::vec([operand(), operand(), operand()], 40..100)
}

fn kernel(code: &str, out: Out) -> String {
    let store = match out {
        Out::Half => "cvt.u64.u16 %dd, %hd;",
        Out::Word => "cvt.u64.u32 %dd, %rd;",
        Out::Double => "",
        Out::Pred => "selp.b64 %dd, 1, 0, %p;",
    };
    format!(
        ".version 8.3\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{{\n\
         .reg .pred %p, %q, %t;\n.reg .b16 %ha, %hb, %hc, %hd;\n.reg .b32 %ra, %rb, %rc, %rd, %re, %i, %n;\n\
         .reg .b64 %da, %db, %dc, %dd, %de, %at;\n\
         mov.u32 %i, %tid.x;\nld.param.u32 %n, [n];\nsetp.ge.u32 %p, %i, %n;\n@%p ret;\n\
         ld.param.u64 %at, [in];\nmad.wide.u32 %at, %i, 24, %at;\n\
         ld.global.u64 %da, [%at];\nld.global.u64 %db, [%at+8];\nld.global.u64 %dc, [%at+16];\n\
         cvt.u32.u64 %ra, %da;\ncvt.u32.u64 %rb, %db;\ncvt.u32.u64 %rc, %dc;\n\
         cvt.u16.u64 %ha, %da;\ncvt.u16.u64 %hb, %db;\ncvt.u16.u64 %hc, %dc;\n\
         setp.lt.s32 %t, %rc, 0;\n\
         {code}\n{store}\n\
         ld.param.u64 %at, [out];\nmad.wide.u32 %at, %i, 8, %at;\nst.global.u64 [%at], %dd;\nret;\n}}\n"
    )
}

/// What the executor makes of the operands.
pub(crate) fn results(code: &str, out: Out, operands: &[[u64; 3]]) -> Vec<u64> {
    let gpu = Gpu::default();
    let module = gpu
        .load(&kernel(code, out))
        .unwrap_or_else(|error| panic!("{code}: {error}"));
    let input = gpu.upload(&operands.concat());
    let output = gpu.upload(&vec![0_u64; operands.len()]);
    let args = args!(input, output, operands.len() as u32);
    gpu.run(&module, "k", shape(1, 128), args).unwrap();
    gpu.download(output, operands.len())
}

/// Whether two results are the same; all NaN are.
fn same(out: Out, float: bool, got: u64, expected: u64) -> bool {
    let both_nan = match out {
        _ if !float => false,
        Out::Word => {
            f32::from_bits(got as u32).is_nan() && f32::from_bits(expected as u32).is_nan()
        }
        Out::Double => f64::from_bits(got).is_nan() && f64::from_bits(expected).is_nan(),
        _ => false,
    };
    got == expected || both_nan
}

/// Fails with the instruction and the operands that it gets wrong.
pub(crate) fn check(cases: &[Case], float: bool, operands: &[[u64; 3]]) {
    for (code, out, expect) in cases {
        let got = results(code, *out, operands);
        for (&[a, b, c], got) in operands.iter().zip(got) {
            let mut expected = expect(a, b, c);
            match out {
                Out::Half => expected &= 0xffff,
                Out::Word => expected &= 0xffff_ffff,
                Out::Double | Out::Pred => {}
            }
            assert!(
                same(*out, float, got, expected),
                "{code} of {a:#x}, {b:#x}, {c:#x}: {got:#x}, not {expected:#x}"
            );
        }
    }
}
