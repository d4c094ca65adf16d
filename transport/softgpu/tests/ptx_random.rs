//! Random programs: what they compute must stay what it was, to the bit. `data/random.txt` has a hash for each,
//! of an executor that ran one lane after the other; `GTRACE_WRITE_RANDOM=FILE` writes the hashes anew.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test ends there.

#[path = "ptx/gpu.rs"]
#[macro_use]
mod gpu;

use std::fmt::Write as _;
use std::sync::LazyLock;

use gpu::{Gpu, shape};

const PROGRAMS: u64 = 200;
const STATEMENTS: usize = 60;
const THREADS: u32 = 100;
const BLOCKS: u32 = 2;
/// Words of 64 bits that each thread writes at the end.
const RESULTS: u32 = 32;

/// Registers of each kind.
const COUNT: u64 = 5;

/// SplitMix64: the programs are the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }
}

/// What stands in the templates: `R` a 32-bit register, `D` one of 64 bits, `H` of 16 bits, `F` of f32,
/// `G` of f64, `P` a predicate, `N` a small number, `K` a number of 32 bits. The random numbers count them.
static TEMPLATES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let all = "
        add.u32 R, R, R; | add.s32 R, R, K; | sub.s32 R, R, R; | add.sat.s32 R, R, R; |
        sub.sat.s32 R, R, R; | mul.lo.s32 R, R, R; | mul.hi.s32 R, R, R; | mul.hi.u32 R, R, R; |
        mul.wide.s32 D, R, R; | mul.wide.u32 D, R, K; | mul.wide.s16 R, H, H; | mul.wide.u16 R, H, H; |
        mul.lo.s64 D, D, D; | mul.hi.u64 D, D, D; | mul.hi.s64 D, D, D; | mul24.lo.u32 R, R, R; |
        mul24.hi.s32 R, R, R; | mad.lo.s32 R, R, R, R; | mad.hi.u32 R, R, R, R; |
        mad.wide.s32 D, R, R, D; | mad.wide.u32 D, R, N, D; | mad.lo.s64 D, D, D, D; | add.s64 D, D, D; |
        sub.s64 D, D, N; | add.u16 H, H, H; | sub.s16 H, H, H; | mul.lo.u16 H, H, H; | div.u32 R, R, R; |
        div.s32 R, R, R; | rem.u32 R, R, N; | rem.s32 R, R, R; | div.u64 D, D, D; | rem.s64 D, D, D; |
        div.s16 H, H, H; | abs.s32 R, R; | abs.s64 D, D; | neg.s32 R, R; | neg.s16 H, H; | neg.s64 D, D; |
        min.s32 R, R, R; | max.u32 R, R, R; | min.u64 D, D, D; | max.s64 D, D, D; | min.s16 H, H, H; |
        max.u16 H, H, H; | sad.u32 R, R, R, R; | sad.s32 R, R, R, R; | dp4a.s32.u32 R, R, R, R; |
        dp2a.lo.u32.s32 R, R, R, R; | and.b32 R, R, R; | or.b32 R, R, K; | xor.b32 R, R, R; |
        not.b32 R, R; | cnot.b32 R, R; | and.b64 D, D, D; | or.b64 D, D, D; | xor.b64 D, D, D; |
        not.b64 D, D; | and.b16 H, H, H; | xor.b16 H, H, H; | not.b16 H, H; | lop3.b32 R, R, R, R, 0x96; |
        lop3.b32 R, R, R, R, 0x1b; | shl.b32 R, R, N; | shl.b32 R, R, R; | shr.u32 R, R, N; |
        shr.s32 R, R, R; | shl.b64 D, D, N; | shr.u64 D, D, R; | shr.s64 D, D, N; | shl.b16 H, H, N; |
        shr.s16 H, H, N; | shr.u16 H, H, N; | shf.l.wrap.b32 R, R, R, N; | shf.r.clamp.b32 R, R, R, R; |
        popc.b32 R, R; | popc.b64 R, D; | clz.b32 R, R; | clz.b64 R, D; | brev.b32 R, R; |
        brev.b64 D, D; | bfind.u32 R, R; | bfind.s32 R, R; | bfind.u64 R, D; | bfe.u32 R, R, N, N; |
        bfe.s32 R, R, N, N; | bfe.s64 D, D, N, N; | bfi.b32 R, R, R, N, N; | bfi.b64 D, D, D, N, N; |
        prmt.b32 R, R, R, K; | prmt.b32.f4e R, R, R, N; | add.cc.u32 R, R, R;\n    addc.u32 R, R, R; |
        add.cc.u32 R, R, R;\n    addc.cc.u32 R, R, R;\n    addc.u32 R, R, 0; |
        sub.cc.u32 R, R, R;\n    subc.u32 R, R, R; | add.cc.u64 D, D, D;\n    addc.u64 D, D, D; |
        sub.cc.u64 D, D, D;\n    subc.u64 D, D, D; |
        mad.lo.cc.u32 R, R, R, R;\n    madc.hi.u32 R, R, R, R; | setp.lt.s32 P, R, R; |
        setp.ge.u32 P, R, K; | setp.eq.s32 P, R, R; | setp.ne.u64 P, D, D; | setp.gt.s64 P, D, D; |
        setp.le.u16 P, H, H; | setp.lt.s16 P, H, H; | setp.lt.f32 P, F, F; | setp.geu.f32 P, F, F; |
        setp.num.f32 P, F, F; | setp.gt.ftz.f32 P, F, F; | setp.neu.f64 P, G, G; | setp.le.f64 P, G, G; |
        setp.lt.and.s32 P, R, R, P; | setp.gt.or.u32 P, R, R, !P; | set.lt.u32.s32 R, R, R; |
        set.gt.f32.f32 F, F, F; | and.pred P, P, P; | or.pred P, P, P; | xor.pred P, P, P; |
        not.pred P, P; | mov.pred P, P; | selp.b32 R, R, R, P; | selp.b64 D, D, D, P; |
        selp.f32 F, F, F, P; | slct.b32.s32 R, R, R, R; | slct.f32.f32 F, F, F, F; | mov.b32 R, R; |
        mov.b32 R, F; | mov.b32 F, R; | mov.b64 D, D; | mov.b64 D, G; | mov.b64 G, D; |
        mov.b64 D, {R, R}; | mov.b32 R, {H, H}; | mov.b16 H, H; | mov.u32 R, K; | mov.u32 R, %laneid; |
        mov.u32 R, %lanemask_lt; | cvt.u64.u32 D, R; | cvt.s64.s32 D, R; | cvt.u32.u64 R, D; |
        cvt.u16.u32 H, R; | cvt.s32.s16 R, H; | cvt.u32.u16 R, H; | cvt.s32.s8 R, R; | cvt.u32.u8 R, R; |
        cvt.s64.s16 D, H; | cvt.sat.s16.s32 H, R; | cvt.sat.u32.s64 R, D; | cvt.sat.u8.s32 R, R; |
        cvt.rn.f32.s32 F, R; | cvt.rn.f32.u32 F, R; | cvt.rz.f32.u32 F, R; | cvt.rn.f32.u64 F, D; |
        cvt.rm.f32.s64 F, D; | cvt.rn.f64.s64 G, D; | cvt.rn.f64.s32 G, R; | cvt.f64.f32 G, F; |
        cvt.rn.f32.f64 F, G; | cvt.rp.f32.f64 F, G; | cvt.rzi.s32.f32 R, F; | cvt.rni.s32.f32 R, F; |
        cvt.rzi.u32.f32 R, F; | cvt.rzi.u64.f32 D, F; | cvt.rzi.s32.f64 R, G; | cvt.rzi.u32.f64 R, G; |
        cvt.rzi.s64.f64 D, G; | cvt.rmi.f32.f32 F, F; | cvt.rni.f32.f32 F, F; | cvt.rzi.f64.f64 G, G; |
        cvt.sat.f32.f32 F, F; | cvt.rn.f16.f32 H, F; | cvt.f32.f16 F, H; | cvt.rn.bf16.f32 H, F; |
        add.rn.f32 F, F, F; | sub.f32 F, F, F; | mul.rn.f32 F, F, F; | add.sat.f32 F, F, F; |
        mul.ftz.f32 F, F, F; | add.rz.f32 F, F, F; | mul.rp.f32 F, F, F; | fma.rn.f32 F, F, F, F; |
        fma.rn.ftz.f32 F, F, F, F; | fma.rn.sat.f32 F, F, F, F; | fma.rm.f32 F, F, F, F; |
        mad.rn.f32 F, F, F, F; | div.rn.f32 F, F, F; | rcp.rn.f32 F, F; | sqrt.rn.f32 F, F; |
        rsqrt.approx.f32 F, F; | neg.f32 F, F; | abs.f32 F, F; | neg.ftz.f32 F, F; | min.f32 F, F, F; |
        max.f32 F, F, F; | min.NaN.f32 F, F, F; | copysign.f32 F, F, F; | testp.finite.f32 P, F; |
        testp.subnormal.f32 P, F; | add.rn.f64 G, G, G; | sub.rn.f64 G, G, G; | mul.rn.f64 G, G, G; |
        mul.rz.f64 G, G, G; | fma.rn.f64 G, G, G, G; | div.rn.f64 G, G, G; | sqrt.rn.f64 G, G; |
        rcp.rn.f64 G, G; | min.f64 G, G, G; | max.f64 G, G, G; | add.f16 H, H, H; | mul.f16 H, H, H; |
        fma.rn.f16 H, H, H, H; | add.f16x2 R, R, R; | fma.rn.bf16x2 R, R, R, R; | setp.lt.f16 P, H, H; |
        st.shared.u32 [%mine], R;\n    ld.shared.u32 R, [%mine]; |
        st.shared.u16 [%mine+2], H;\n    ld.shared.s16 R, [%mine+2]; |
        st.shared.u8 [%mine+1], R;\n    ld.shared.s8 R, [%mine+1]; |
        st.shared.v2.u32 [%mine], {R, R};\n    ld.shared.u64 D, [%mine]; |
        st.local.u32 [stack+8], R;\n    ld.local.u64 D, [stack+8]; |
        st.local.v4.u32 [stack], {R, R, R, R};\n    ld.local.v2.u64 {D, D}, [stack]; |
        ld.global.u32 R, [%input]; | ld.global.s8 R, [%input+3]; | ld.global.u16 R, [%input+2]; |
        ld.global.v2.f32 {F, F}, [%input+8]; | ld.global.nc.v4.u32 {R, R, R, R}, [%input+16]; |
        ld.global.f64 G, [%input+24]; | ld.u32 R, [%generic]; |
        st.u32 [%generic], R;\n    ld.shared.u32 R, [%mine]; | atom.shared.add.u32 R, [%mine], R; |
        atom.shared.cas.b32 R, [%mine], R, R; | atom.shared.max.s32 R, [%mine], R; |
        red.shared.xor.b32 [%mine], R; | atom.global.add.u64 D, [%output], D; |
        atom.global.exch.b32 R, [%output], R; | atom.global.inc.u32 R, [%output+4], K;
        ";
    all.split('|').map(str::trim).collect()
});

/// Only where all lanes of the warps are.
const TOGETHER: &[&str] = &[
    "shfl.sync.down.b32 R, R, N, 31, %all;",
    "shfl.sync.up.b32 R|P, R, N, 0, %all;",
    "shfl.sync.bfly.b32 R|P, R, N, 31, %all;",
    "shfl.sync.idx.b32 R, R, R, 7199, %all;",
    "vote.sync.ballot.b32 R, P, %all;",
    "vote.sync.any.pred P, P, %all;",
    "vote.sync.all.pred P, P, %all;",
    "match.any.sync.b32 R, R, %all;",
    "match.all.sync.b64 R|P, D, %all;",
    "redux.sync.add.s32 R, R, %all;",
    "redux.sync.min.u32 R, R, %all;",
    "bar.sync 0;",
    "bar.red.popc.u32 R, 0, P;",
];

fn fill(random: &mut Random, template: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    let mut letters = template.chars().peekable();
    while let Some(letter) = letters.next() {
        let alone = !before.is_alphanumeric()
            && before != '%'
            && !letters.peek().is_some_and(char::is_ascii_alphanumeric);
        let number = random.below(COUNT);
        match letter {
            'R' if alone => write!(out, "%r{number}").unwrap(),
            'D' if alone => write!(out, "%d{number}").unwrap(),
            'H' if alone => write!(out, "%h{number}").unwrap(),
            'F' if alone => write!(out, "%f{number}").unwrap(),
            'G' if alone => write!(out, "%g{number}").unwrap(),
            'P' if alone => write!(out, "%p{number}").unwrap(),
            'N' if alone => write!(out, "{}", random.below(40)).unwrap(),
            'K' if alone => write!(out, "{}", random.next() as u32).unwrap(),
            other => out.push(other),
        }
        before = letter;
    }
    // Which NaN an operation of f64 gives is the processor's choice.
    if template.contains("f64 G") {
        for number in 0..COUNT {
            write!(
                out,
                "\n    setp.nan.f64 %nan, %g{number}, %g{number};\n    \
                 @%nan mov.f64 %g{number}, 0d7FF8000000000000;"
            )
            .unwrap();
        }
    }
    out
}

fn statement(random: &mut Random, out: &mut String, labels: &mut u32, depth: u32) {
    let kind = random.below(20);
    let number = random.below(COUNT);
    let label = *labels;
    match kind {
        0 if depth < 3 => {
            // A branch: one side, or both.
            *labels += 1;
            writeln!(out, "    @%p{number} bra else{label};").unwrap();
            for _ in 0..=random.below(3) {
                statement(random, out, labels, depth + 1);
            }
            writeln!(out, "    bra end{label};\nelse{label}:").unwrap();
            for _ in 0..random.below(3) {
                statement(random, out, labels, depth + 1);
            }
            writeln!(out, "end{label}:").unwrap();
        }
        1 if depth < 2 => {
            // A loop whose lanes end it in rounds of their own.
            *labels += 1;
            writeln!(
                out,
                "    and.b32 %loop{depth}, %r{number}, 3;\nagain{label}:"
            )
            .unwrap();
            for _ in 0..=random.below(3) {
                statement(random, out, labels, depth + 1);
            }
            writeln!(
                out,
                "    sub.s32 %loop{depth}, %loop{depth}, 1;\n    \
                 setp.ge.s32 %q{depth}, %loop{depth}, 0;\n    @%q{depth} bra again{label};"
            )
            .unwrap();
        }
        2..5 if depth == 0 => {
            let template = random.pick(TOGETHER);
            writeln!(out, "    {}", fill(random, template)).unwrap();
        }
        5..8 => {
            let template = random.pick(&TEMPLATES);
            let text = fill(random, template);
            if text.contains('\n') {
                writeln!(out, "    {text}").unwrap();
            } else {
                let not = if random.below(2) == 0 { "!" } else { "" };
                writeln!(out, "    @{not}%p{number} {text}").unwrap();
            }
        }
        _ => {
            let template = random.pick(&TEMPLATES);
            writeln!(out, "    {}", fill(random, template)).unwrap();
        }
    }
}

fn program(seed: u64) -> String {
    let mut random = Random(seed);
    let mut body = String::new();
    let mut labels = 0;
    for _ in 0..STATEMENTS {
        statement(&mut random, &mut body, &mut labels, 0);
    }
    let mut start = String::new();
    let mut end = String::new();
    for at in 0..COUNT {
        let from = at * 8;
        writeln!(
            start,
            "    ld.global.u64 %d{at}, [%input+{from}];\n    ld.global.u32 %r{at}, [%input+{}];\n    \
             ld.global.f32 %f{at}, [%input+{}];\n    ld.global.u16 %h{at}, [%input+{}];\n    \
             cvt.rn.f64.s64 %g{at}, %d{at};\n    setp.lt.s32 %p{at}, %r{at}, {};",
            from + 4,
            from ^ 12,
            from + 6,
            (1_i64 << (4 * at + 8)) - 70_000
        )
        .unwrap();
        for (place, value) in [
            (at, format!("mov.b64 %x, %d{at};")),
            (COUNT + at, format!("cvt.u64.u32 %x, %r{at};")),
            (
                2 * COUNT + at,
                format!("mov.b32 %n, %f{at};\n    cvt.u64.u32 %x, %n;"),
            ),
            (3 * COUNT + at, format!("mov.b64 %x, %g{at};")),
            (4 * COUNT + at, format!("cvt.u64.u16 %x, %h{at};")),
            (5 * COUNT + at, format!("selp.b64 %x, 1, 0, %p{at};")),
        ] {
            writeln!(
                end,
                "    {value}\n    st.global.u64 [%output+{}], %x;",
                8 * place
            )
            .unwrap();
        }
    }
    format!(
        ".version 8.3\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 in, .param .u64 out)\n{{\n\
         .reg .pred %p<5>, %q<3>, %nan;\n.reg .b16 %h<5>;\n.reg .b32 %r<5>, %loop<3>, %n, %mine, %all, %i, %t;\n\
         .reg .f32 %f<5>;\n.reg .f64 %g<5>;\n.reg .b64 %d<5>, %input, %output, %generic, %x;\n\
         .shared .align 16 .b8 cells[{}];\n.local .align 16 .b8 stack[32];\n    \
         mov.u32 %t, %tid.x;\n    mov.u32 %i, %ctaid.x;\n    mad.lo.u32 %i, %i, {THREADS}, %t;\n    \
         ld.param.u64 %input, [in];\n    mad.wide.u32 %input, %i, 64, %input;\n    \
         ld.param.u64 %output, [out];\n    mad.wide.u32 %output, %i, {}, %output;\n    \
         mov.u32 %mine, cells;\n    mad.lo.u32 %mine, %t, 16, %mine;\n    \
         cvt.u64.u32 %x, %mine;\n    cvta.shared.u64 %generic, %x;\n    \
         activemask.b32 %all;\n    mov.u64 %x, 0;\n    st.local.v2.u64 [stack], {{%x, %x}};\n    \
         st.local.v2.u64 [stack+16], {{%x, %x}};\n{start}{body}{end}    ret;\n}}\n",
        16 * THREADS,
        8 * RESULTS
    )
}

/// FNV-1a.
fn hash(words: &[u64]) -> u64 {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn result(seed: u64) -> u64 {
    let text = program(seed);
    let gpu = Gpu::default();
    let module = match gpu.load(&text) {
        Ok(module) => module,
        Err(error) => panic!("program {seed}: {error}\n{text}"),
    };
    let threads = THREADS * BLOCKS;
    let mut random = Random(!seed);
    // Some words are like floats of middling size, so that not all arithmetic ends in NaN.
    let input: Vec<u64> = (0..threads * 8)
        .map(|_| match random.below(3) {
            0 => random.next(),
            1 => random.below(100_000),
            _ => {
                let float = |bits: u64| (((bits % 2000) as f32 - 1000.0) / 8.0).to_bits();
                u64::from(float(random.next())) << 32 | u64::from(float(random.next()))
            }
        })
        .collect();
    let input = gpu.upload(&input);
    let output = gpu.upload(&vec![0_u64; (threads * RESULTS) as usize]);
    if let Err(fault) = gpu.run(&module, "k", shape(BLOCKS, THREADS), args!(input, output)) {
        panic!("program {seed}: {fault}\n{text}");
    }
    hash(&gpu.download::<u64>(output, (threads * RESULTS) as usize))
}

#[test]
fn random_programs_compute_what_they_did_lane_by_lane() {
    let got: Vec<String> = (0..PROGRAMS)
        .map(|seed| format!("{:016x}", result(seed)))
        .collect();
    if let Some(file) = std::env::var_os("GTRACE_WRITE_RANDOM") {
        std::fs::write(file, got.join("\n") + "\n").unwrap();
        return;
    }
    let expected: Vec<&str> = include_str!("data/random.txt").lines().collect();
    assert_eq!(got.len(), expected.len());
    for (seed, (got, expected)) in got.iter().zip(expected).enumerate() {
        assert_eq!(got, expected, "program {seed}:\n{}", program(seed as u64));
    }
}
