//! Modules: what they say about themselves, linking, errors, and texts that are no PTX.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::precedence)] // A test ends there.

#[path = "ptx/gpu.rs"]
#[macro_use]
mod gpu;

use gpu::{Gpu, shape};
use gtrace_softgpu::ptx::{Cancel, Fault, Loaded, Module, Param, PtxError, link};
use proptest::prelude::*;

const HEAD: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

fn parse(body: &str) -> Module {
    Module::parse(&format!("{HEAD}{body}")).unwrap()
}

fn load(body: &str) -> Result<Loaded, PtxError> {
    let module = Module::parse(&format!("{HEAD}{body}"))?;
    let addresses: Vec<u64> = (0..module.globals().len() as u64)
        .map(|i| 0x10000 + i * 256)
        .collect();
    Loaded::new(&module, &addresses)
}

#[test]
fn kernels_describe_themselves() {
    let module = parse(
        ".shared .align 8 .b8 used[24]; .shared .b8 unused[4096]; .extern .shared .align 16 .b8 more[];\n\
         .func f() { .reg .b32 %r; ld.shared.u32 %r, [used]; ret; }\n\
         .visible .entry k(.param .u8 a, .param .align 16 .b8 b[24], .param .u16 c, .param .f64 d)\n\
         .maxntid 128, 2, 1 .minnctapersm 2\n\
         { .shared .b32 own[3]; .local .align 8 .b8 stack[40]; .reg .b64 %d<9>; mov.u64 %d1, more; st.shared.u32 [own], 0;\n\
         call f; ret; }",
    );
    let [entry] = module.entries().try_into().unwrap();
    let param = |offset, size, align| Param {
        offset,
        size,
        align,
    };
    assert_eq!(
        entry.params,
        [
            param(0, 1, 1),
            param(16, 24, 16),
            param(40, 2, 2),
            param(48, 8, 8)
        ]
    );
    assert_eq!(
        (entry.param_size, entry.max_threads, entry.local_size),
        (56, 256, 40)
    );
    // 12 bytes of its own, 24 of the function it calls, up to the dynamic array's alignment.
    assert!(
        (36..=48).contains(&entry.shared_size),
        "{}",
        entry.shared_size
    );
    assert!((16..=64).contains(&entry.registers));
    assert_eq!((module.version(), module.target()), ((8, 0), "sm_90"));
}

#[test]
fn variables_have_initial_values() {
    let module = parse(
        ".visible .global .align 4 .u32 a[4] = {1, -2, 0x30};\n.const .f64 b = 0d3FF8000000000000;\n\
         .global .u64 c[3] = {a+4, generic(b), k};\n.global .b8 d[9] = {1, 0xFF(a), 0xFF00(a)};\n\
         .global .f32 e[] = {1.5, 0fC0000000};\n.global .align 8 .b16 f[2][3] = {{1, 2, 3}, {4, 5, 6}};\n\
         .visible .entry k() { ret; }",
    );
    let globals = module.globals();
    let sizes: Vec<usize> = globals.iter().map(|global| global.size).collect();
    assert_eq!(sizes, [16, 8, 24, 9, 8, 12]);
    assert!(globals[0].visible && !globals[0].constant && globals[1].constant);
    let loaded = Loaded::new(
        &module,
        &[0x1234_5600, 0x2000, 0x3000, 0x4000, 0x5000, 0x6000],
    )
    .unwrap();
    let images = loaded.images();
    assert_eq!(
        images[0],
        [1, 0, 0, 0, 254, 255, 255, 255, 48, 0, 0, 0, 0, 0, 0, 0]
    );
    assert_eq!(images[1], 1.5_f64.to_le_bytes());
    assert_eq!(
        images[2][..16],
        [0x1234_5604_u64.to_le_bytes(), 0x2000_u64.to_le_bytes()].concat()
    );
    assert_ne!(images[2][16..], [0; 8]);
    assert_eq!(images[3], [1, 0x00, 0x56, 0, 0, 0, 0, 0, 0]);
    assert_eq!(
        images[4],
        [1.5_f32.to_le_bytes(), (-2_f32).to_le_bytes()].concat()
    );
    assert_eq!(images[5], [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0]);
}

#[test]
fn what_a_row_of_initial_values_leaves_out_is_zero() {
    let rows = |text: &str| -> Result<Vec<u8>, PtxError> {
        let module = Module::parse(&format!("{HEAD}.global {text}; .entry k() {{ ret; }}"))?;
        Ok(Loaded::new(&module, &[0x1000])?.images()[0].clone())
    };
    assert_eq!(
        rows(".u8 a[3][2] = {{1}, {2, 3}}"),
        Ok(vec![1, 0, 2, 3, 0, 0])
    );
    assert_eq!(rows(".u8 a[][2] = {{1, 2}, {3}}"), Ok(vec![1, 2, 3, 0]));
    assert_eq!(
        rows(".u8 a[2][2][2] = {{{1}}, {{2}, {3}}}"),
        Ok(vec![1, 0, 0, 0, 2, 0, 3, 0])
    );
    assert_eq!(
        rows(".v4 .u8 a[2] = {{1}, {2, 3}}"),
        Ok(vec![1, 0, 0, 0, 2, 3, 0, 0])
    );
    assert_eq!(rows(".u8 a[2][2] = {1, 2, 3}"), Ok(vec![1, 2, 3, 0]));
    let many = rows(".u8 a[2][2] = {{1, 2, 3}, {4}}");
    assert!(matches!(many, Err(PtxError::Syntax { .. })), "{many:?}");
}

#[test]
fn modules_are_linked() {
    let first = parse(
        ".extern .func (.param .b32 r) other (.param .b32 a); .extern .global .u32 shift;\n\
         .global .u32 own = 1; .weak .global .u32 both = 4;\n\
         .visible .entry k(.param .u64 out) { .reg .b32 %r<4>; .reg .b64 %d;\n\
         { .param .b32 a; .param .b32 r; mov.u32 %r1, %tid.x; st.param.b32 [a], %r1; call (r), other, (a);\n\
         ld.param.b32 %r2, [r]; } ld.global.u32 %r3, [shift]; add.u32 %r2, %r2, %r3; ld.global.u32 %r3, [own];\n\
         add.u32 %r2, %r2, %r3; ld.global.u32 %r3, [both]; add.u32 %r2, %r2, %r3;\n\
         ld.param.u64 %d, [out]; mad.wide.u32 %d, %r1, 4, %d; st.global.u32 [%d], %r2; }",
    );
    let second = parse(
        ".visible .global .u32 shift = 100; .global .u32 own = 30; .visible .global .u32 both = 5000;\n\
         .visible .func (.param .b32 r) other (.param .b32 a) { .reg .b32 %r<4>; ld.param.u32 %r1, [a];\n\
         ld.global.u32 %r2, [own]; mul.lo.u32 %r1, %r1, %r2; st.param.b32 [r], %r1; ret; }",
    );
    assert_eq!(
        link(std::slice::from_ref(&first)).unwrap_err(),
        PtxError::Unresolved {
            symbol: "shift".into()
        }
    );
    for order in [
        [first.clone(), second.clone()],
        [second.clone(), first.clone()],
    ] {
        let linked = link(&order).unwrap();
        let gpu = Gpu::default();
        let loaded = gpu.load_module(&linked).unwrap();
        let out = gpu.upload(&[0_u32; 8]);
        gpu.run(&loaded, "k", shape(1, 8), args!(out)).unwrap();
        let expected: Vec<u32> = (0..8).map(|i| 30 * i + 100 + 1 + 5000).collect();
        assert_eq!(gpu.download::<u32>(out, 8), expected);
    }
    let twice = link(&[second.clone(), second]);
    assert!(
        matches!(twice, Err(PtxError::Duplicate { .. })),
        "{twice:?}"
    );
    // A module alone keeps its names.
    let alone = link(&[parse(".global .u32 mine;")]).unwrap();
    assert_eq!(alone.globals()[0].name, "mine");
}

#[test]
fn a_parameter_hides_a_variable_that_linking_renames() {
    let first = parse(
        ".global .u32 own = 7;\n\
         .visible .entry k(.param .u64 out, .param .u32 own) { .reg .b32 %r; .reg .b64 %d;\n\
         ld.param.u64 %d, [out]; ld.param.u32 %r, [own]; st.global.u32 [%d], %r; ret; }",
    );
    let linked = link(&[first, parse(".global .u32 own = 8;")]).unwrap();
    let gpu = Gpu::default();
    let loaded = gpu.load_module(&linked).unwrap();
    let out = gpu.upload(&[0_u32]);
    gpu.run(&loaded, "k", shape(1, 1), args!(out, 5_u32))
        .unwrap();
    assert_eq!(gpu.download::<u32>(out, 1), [5]);
}

#[test]
fn a_barrier_without_its_operands_is_refused() {
    for short in ["bar.red.popc.u32", "bar.arrive 1"] {
        let short = load(&format!(".entry k() {{ {short}; }}"));
        assert!(matches!(short, Err(PtxError::Syntax { .. })), "{short:?}");
    }
}

#[test]
fn what_is_not_supported_is_named_with_its_line() {
    let refused = |instruction: &str, word: &str| {
        let body = format!(
            ".entry k() {{\n.reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %d<9>;\n{instruction};\nret; }}"
        );
        match load(&body) {
            Err(PtxError::Unsupported {
                line,
                instruction,
                reason,
            }) => {
                assert_eq!(line, 6);
                assert!(
                    format!("{instruction} {reason}").contains(word),
                    "{instruction}: {reason}"
                );
            }
            other => panic!("{instruction}: {other:?}"),
        }
    };
    refused(
        "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1}",
        "mma",
    );
    refused(
        "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%d1, {%r1}]"
            .replace("[%d1, {%r1}]", "[%d1]")
            .as_str(),
        "tex",
    );
    refused("add.rz.s32 %r1, %r2, %r3", "rz");
    refused("add.f8 %r1, %r2, %r3", "add");
    refused("atom.global.add.u16 %r1, [%d1], %r2", "add");
    refused("cvt.rna.tf32.f32 %r1, %f1", "cvt");
    refused("mbarrier.init.shared.b64 [%d1], 1", "mbarrier");
}

#[test]
fn names_must_be_declared() {
    let undeclared = |body: &str, name: &str| match load(body) {
        Err(PtxError::Undeclared { symbol, .. }) => assert_eq!(symbol, name),
        other => panic!("{body}: {other:?}"),
    };
    undeclared(".entry k() { add.u32 %r1, %r1, %r1; }", "%r1");
    undeclared(".entry k() { .reg .b32 %r<3>; mov.u32 %r3, 0; }", "%r3");
    undeclared(
        ".entry k() { .reg .b32 %r<3>; mov.u32 %r1, nothing; }",
        "nothing",
    );
    undeclared(".entry k() { bra NOWHERE; }", "NOWHERE");
    undeclared(".entry k() { { L: bra L; } bra L; }", "L");
    undeclared(".entry k() { call nobody; }", "nobody");
    let unresolved = load(".extern .func f(); .entry k() { call f; }");
    assert_eq!(
        unresolved.unwrap_err(),
        PtxError::Unresolved { symbol: "f".into() }
    );
    assert!(matches!(
        load(".global .u32 a; .global .u32 a;"),
        Err(PtxError::Duplicate { .. })
    ));
}

#[test]
fn kernels_take_memory_from_the_heap() {
    let body = ".extern .func (.param .b64 r) malloc (.param .b64 size);\n.extern .func free (.param .b64 p);\n\
                .entry k(.param .u64 out) { .reg .b64 %d<4>; .reg .b32 %r<4>; mov.u32 %r1, %tid.x;\n\
                { .param .b64 size; .param .b64 r; st.param.b64 [size], 40; call (r), malloc, (size); ld.param.b64 %d1, [r]; }\n\
                st.u32 [%d1+36], %r1; bar.sync 0; ld.u32 %r2, [%d1+36]; add.u32 %r2, %r2, 1;\n\
                ld.param.u64 %d2, [out]; mad.wide.u32 %d2, %r1, 4, %d2; st.global.u32 [%d2], %r2;\n\
                { .param .b64 p; st.param.b64 [p], %d1; call free, (p); } }\n\
                .entry twice() { .reg .b64 %d1; mov.u64 %d1, 24; { .param .b64 p; st.param.b64 [p], %d1; call free, (p); } }";
    let gpu = Gpu::default();
    let loaded = gpu.load_module(&parse(body)).unwrap();
    let out = gpu.upload(&[0_u32; 128]);
    // 64 bytes a thread: without free the second half of these would find the heap empty.
    for _ in 0..2100 {
        gpu.run(&loaded, "k", shape(1, 128), args!(out)).unwrap();
    }
    assert_eq!(
        gpu.download::<u32>(out, 128),
        (1..129).collect::<Vec<u32>>()
    );
    let run = gpu.run(&loaded, "twice", shape(1, 1), args!());
    assert!(matches!(run, Err(Fault::IllegalAddress { .. })), "{run:?}");
}

#[test]
fn debugging_information_is_skipped() {
    let body = ".file 1 \"a.cu\"\n.entry k() {\n.loc 1 5 0\nret;\n.loc 1 6 0, function_name $L__info, inlined_at 1 2 3\n}\n\
                .section .debug_abbrev { .b8 1, 2\n $L__info: .b32 .debug_info\n }\n.section .debug_info { .b32 4 }\n";
    assert_eq!(parse(body).entries().len(), 1);
}

const TEXTS: [&str; 6] = [
    include_str!("../kernels/calls.ptx"),
    include_str!("../kernels/reduction.ptx"),
    include_str!("../kernels/memory.ptx"),
    include_str!("../kernels/divergence.ptx"),
    include_str!("../kernels/math.ptx"),
    include_str!("../kernels/printf.ptx"),
];

/// Parses and, if that went well, loads and links: nothing of it may panic.
fn swallow(text: &str) {
    let Ok(module) = Module::parse(text) else {
        return;
    };
    let _ = module.entries();
    // Absurd sizes are for whoever allocates the memory to refuse.
    if module
        .globals()
        .iter()
        .map(|global| global.size)
        .sum::<usize>()
        > 1 << 24
    {
        return;
    }
    let addresses: Vec<u64> = module.globals().iter().map(|_| 4096).collect();
    let _ = Loaded::new(&module, &addresses);
    let _ = link(&[module.clone(), module]);
}

/// Loads and runs every kernel with whatever its arguments then mean.
fn execute(text: &str) {
    let gpu = Gpu::default();
    let Ok(module) = Module::parse(text) else {
        return;
    };
    let Ok(loaded) = gpu.load_module(&module) else {
        return;
    };
    let buffer = gpu.upload(&[3_u32; 64]);
    for entry in module.entries() {
        let argument = |param: &Param| match param.size {
            8 => buffer.to_le_bytes().to_vec(),
            size => vec![1; size],
        };
        let args: Vec<Vec<u8>> = entry.params.iter().map(argument).collect();
        let cancel = Cancel::new();
        let (done, waiting) = std::sync::mpsc::channel::<()>();
        std::thread::scope(|scope| {
            let cancel = &cancel;
            scope.spawn(move || {
                let _ = waiting.recv_timeout(std::time::Duration::from_millis(20));
                cancel.cancel();
            });
            let _ = gpu.run_until(&loaded, &entry.name, shape(2, 48), &args, cancel);
            drop(done);
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_does_not_panic(text in "\\PC{0,200}") {
        swallow(&text);
        swallow(&format!("{HEAD}{text}"));
    }

    #[test]
    fn damaged_modules_do_not_panic(
        which in 0..TEXTS.len(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..5_u8), 1..6),
    ) {
        let mut tokens: Vec<String> = Vec::new();
        for part in TEXTS[which].split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
            tokens.push(part.to_owned());
        }
        for (at, other, kind) in edits {
            let (at, other) = (at.index(tokens.len()), other.index(tokens.len()));
            match kind {
                0 => { tokens.remove(at); }
                1 => tokens.swap(at, other),
                2 => { let copy = tokens[other].clone(); tokens.insert(at, copy); }
                3 => tokens[at] = tokens[other].clone(),
                _ => tokens[at] = "4294967297".to_owned(),
            }
            if tokens.is_empty() { return Ok(()); }
        }
        swallow(&tokens.concat());
    }

    /// What a damaged module still contains runs, faults or is cancelled.
    #[test]
    fn damaged_kernels_do_not_panic(
        which in 0..TEXTS.len(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4),
    ) {
        let mut lines: Vec<&str> = TEXTS[which].lines().collect();
        for (at, other) in edits {
            // Lines of code for lines of code: much of it still decodes.
            lines[at.index(TEXTS[which].lines().count())] = lines[other.index(lines.len())];
        }
        execute(&lines.join("\n"));
    }

    #[test]
    fn truncated_modules_do_not_panic(which in 0..TEXTS.len(), at in any::<prop::sample::Index>()) {
        let text = TEXTS[which];
        swallow(&text[..at.index(text.len())]);
    }
}
