//! Control flow, warps, barriers and faults of the PTX executor.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::precedence)] // A test ends there.

#[path = "ptx/gpu.rs"]
#[macro_use]
mod gpu;

use std::time::{Duration, Instant};

use gpu::{Gpu, shape};
use gtrace_softgpu::ptx::{Cancel, Fault, Launch};

const HEAD: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// A kernel `k(u64 out)`: `body` computes %v (b32) from %i (tid), which goes to out[i].
fn kernel(body: &str) -> String {
    format!(
        "{HEAD}.visible .entry k(.param .u64 out)\n{{\n\
         .reg .pred %p, %q;\n.reg .b32 %i, %v, %x, %y, %m, %lane;\n.reg .b64 %at, %d, %e;\n\
         mov.u32 %i, %tid.x;\nmov.u32 %lane, %laneid;\nmov.u32 %v, 0;\n{body}\n\
         ld.param.u64 %at, [out];\nmad.wide.u32 %at, %i, 4, %at;\nst.global.u32 [%at], %v;\nret;\n}}\n"
    )
}

fn results(body: &str, threads: u32) -> Result<Vec<u32>, Fault> {
    let gpu = Gpu::default();
    let text = kernel(body);
    let module = gpu
        .load(&text)
        .unwrap_or_else(|error| panic!("{error} in\n{text}"));
    let out = gpu.upload(&vec![0_u32; threads as usize]);
    gpu.run(&module, "k", shape(1, threads), args!(out))?;
    Ok(gpu.download(out, threads as usize))
}

/// `body` gives thread i the value `expect(i)`.
fn gives(body: &str, threads: u32, expect: impl Fn(u32) -> u32) {
    let expected: Vec<u32> = (0..threads).map(expect).collect();
    assert_eq!(results(body, threads).unwrap(), expected, "{body}");
}

/// Bodies, each after its number of threads and before the value that it gives thread i.
macro_rules! values {
    ($($threads:literal $body:expr => $expect:expr,)*) => {
        $(gives($body, $threads, $expect);)*
    };
}

/// Bodies, each after its number of threads and before the fault in which it ends.
macro_rules! faults {
    ($($threads:literal $body:literal => $fault:pat,)*) => {$(
        let outcome = results($body, $threads);
        assert!(matches!(outcome, Err($fault)), "{} {outcome:?}", $body);
    )*};
}

#[test]
fn shuffles() {
    values! {
        32 "shfl.sync.up.b32 %v|%p, %i, 3, 0, -1;" => |i| if i < 3 { i } else { i - 3 },
        32 "shfl.sync.down.b32 %v, %i, 5, 31, -1;" => |i| if i + 5 > 31 { i } else { i + 5 },
        32 "shfl.sync.bfly.b32 %v, %i, 9, 31, -1;" => |i| i ^ 9,
        64 "shfl.sync.idx.b32 %v, %i, 7, 31, -1;" => |i| i & !31 | 7,
        // Segments of eight lanes: mask 24 in bits 8 to 12.
        32 "shfl.sync.idx.b32 %v, %i, 2, 0x181f, -1;" => |i| i & !7 | 2,
        32 "shfl.sync.down.b32 %x|%p, %i, 1, 0x181f, -1; selp.u32 %v, %x, 99, %p;" =>
            |i| if i % 8 == 7 { 99 } else { i + 1 },
    }
}

#[test]
fn votes_and_matches() {
    values! {
        32 "setp.lt.u32 %p, %i, 5; vote.sync.ballot.b32 %v, %p, -1;" => |_| 31,
        64 "setp.lt.u32 %p, %i, 5; vote.sync.any.pred %q, %p, -1; selp.u32 %v, 1, 0, %q;" =>
            |i| u32::from(i < 32),
        96 "setp.lt.u32 %p, %i, 40; vote.sync.all.pred %q, !%p, -1; selp.u32 %v, 1, 0, %q;" =>
            |i| u32::from(i >= 64),
        96 "setp.lt.u32 %p, %i, 40; vote.sync.uni.pred %q, %p, -1; selp.u32 %v, 1, 0, %q;" =>
            |i| u32::from(!(32..64).contains(&i)),
        32 "and.b32 %x, %i, 3; match.any.sync.b32 %v, %x, -1;" => |i| 0x1111_1111 << (i & 3),
        32 "cvt.u64.u32 %d, %lane; shr.u64 %d, %d, 5; match.all.sync.b64 %v|%p, %d, -1;" => |_| !0,
        32 "match.all.sync.b32 %v|%p, %i, -1; selp.u32 %v, 7, %v, %p;" => |_| 0,
        32 "redux.sync.add.s32 %v, %i, -1;" => |_| 496,
        32 "sub.u32 %x, %i, 9; redux.sync.min.s32 %v, %x, -1;" => |_| -9_i32 as u32,
        32 "sub.u32 %x, %i, 9; redux.sync.max.u32 %v, %x, -1;" => |_| -1_i32 as u32,
        32 "elect.sync %x|%p, 0xfffffff0; selp.u32 %v, %x, 99, %p;" => |i| if i == 4 { 4 } else { 99 },
    }
}

#[test]
fn active_mask_follows_the_branch() {
    let body = "setp.lt.u32 %p, %i, 11; @%p bra LOW; activemask.b32 %v; bra.uni END;\n\
                LOW: activemask.b32 %v; END:";
    gives(body, 32, |i| if i < 11 { 0x7ff } else { !0x7ff });
    // Behind the branch all lanes run together again.
    let body = "setp.lt.u32 %p, %i, 11; @%p bra LOW; add.u32 %x, %i, 1; bra.uni END;\n\
                LOW: add.u32 %x, %i, 2; END: activemask.b32 %v;";
    gives(body, 32, |_| !0);
    // And behind a loop that each lane leaves at another time.
    let body = "mov.u32 %x, %i; LOOP: setp.eq.u32 %p, %x, 0; @%p bra END; sub.u32 %x, %x, 1;\n\
                bra.uni LOOP; END: activemask.b32 %v;";
    gives(body, 32, |_| !0);
}

#[test]
fn lanes_of_both_branches_meet_at_a_warp_instruction() {
    // Each branch has its own shfl.sync: they take part in one exchange.
    let body = "setp.lt.u32 %p, %i, 16; @%p bra LOW;\n\
                add.u32 %x, %i, 100; shfl.sync.bfly.b32 %v, %x, 16, 31, -1; bra.uni END;\n\
                LOW: add.u32 %x, %i, 200; shfl.sync.bfly.b32 %v, %x, 16, 31, -1; END:";
    values! {
        32 body => |i| if i < 16 { i + 16 + 100 } else { i - 16 + 200 },
    }
    let body = "setp.lt.u32 %p, %i, 16; @%p bra LOW; bar.warp.sync -1; mov.u32 %v, 1; bra.uni END;\n\
                LOW: mov.u32 %v, 2; bar.warp.sync 0xffffffff; END:";
    gives(body, 32, |i| if i < 16 { 2 } else { 1 });
    // Lanes that have exited are not waited for.
    values! {
        32 "setp.gt.u32 %p, %i, 20; mov.u32 %v, 5; setp.eq.u32 %q, %v, 5; @%p exit;\n\
            vote.sync.ballot.b32 %v, %q, -1;" => |i| if i > 20 { 0 } else { 0x1f_ffff },
    }
}

#[test]
fn a_lane_may_wait_for_another_lane_of_its_warp() {
    // A lock in shared memory: one lane after the other. The waiting loop stands before the critical
    // section, so lowest-instruction-first alone would never end.
    let body = ".shared .u32 lock, count;\n\
                setp.ne.u32 %p, %i, 0; @%p bra TRY; st.shared.u32 [lock], 0; st.shared.u32 [count], 0;\n\
                TRY: bar.sync 0;\n\
                AGAIN: atom.shared.cas.b32 %x, [lock], 0, 1; setp.ne.u32 %p, %x, 0; @%p bra AGAIN;\n\
                ld.volatile.shared.u32 %v, [count]; add.u32 %x, %v, 1; st.volatile.shared.u32 [count], %x;\n\
                membar.cta; atom.shared.exch.b32 %x, [lock], 0;";
    let mut values = results(body, 64).unwrap();
    values.sort_unstable();
    assert_eq!(values, (0..64).collect::<Vec<u32>>());
}

#[test]
fn barriers() {
    // Every thread reads what another warp wrote.
    let body = ".shared .u32 cells[256];\n\
                shl.b32 %x, %i, 2; mov.u32 %y, cells; add.u32 %x, %x, %y; st.shared.u32 [%x], %i;\n\
                bar.sync 0; xor.b32 %y, %i, 96; shl.b32 %x, %y, 2; mov.u32 %y, cells;\n\
                add.u32 %x, %x, %y; ld.shared.u32 %v, [%x];";
    values! {
        256 body => |i| i ^ 96,
        128 "setp.lt.u32 %p, %i, 77; bar.red.popc.u32 %v, 0, %p;" => |_| 77,
        128 "setp.lt.u32 %p, %i, 77; bar.red.and.pred %q, 1, %p; selp.u32 %v, 1, 2, %q;" => |_| 2,
        128 "setp.eq.u32 %p, %i, 77; barrier.red.or.pred %q, 1, %p; selp.u32 %v, 1, 2, %q;" => |_| 1,
    }
    // One warp arrives and goes on, the other waits for both: 64 threads.
    let body = ".shared .u32 cell; setp.ge.u32 %p, %i, 32; @%p bra WAIT;\n\
                mov.u32 %v, 4; st.shared.u32 [cell], 9; bar.arrive 2, 64; bra.uni END;\n\
                WAIT: bar.sync 2, 64; ld.shared.u32 %v, [cell]; END:";
    values! {
        64 body => |i| if i < 32 { 4 } else { 9 },
        // Threads that have exited do not hold up the others.
        96 "setp.gt.u32 %p, %i, 50; @%p exit; bar.sync 0; mov.u32 %v, 3;" => |i| if i > 50 { 0 } else { 3 },
        // A number of threads counts whole warps, whether all of their lanes are there or not.
        40 "bar.sync 1, 64; mov.u32 %v, 5;" => |_| 5,
        64 "setp.gt.u32 %p, %i, 50; @%p exit; bar.sync 1, 64; mov.u32 %v, 3;" =>
            |i| if i > 50 { 0 } else { 3 },
    }
}

#[test]
fn a_barrier_is_for_as_many_warps_as_its_threads_make_up() {
    // Each warp completes it alone.
    values! {
        128 "setp.lt.u32 %p, %i, 77; bar.red.popc.u32 %v, 0, 32, %p;" => |i| [32, 32, 13, 0][i as usize / 32],
        // Two warps at a time, of which one comes long after the third.
        128 "setp.lt.u32 %p, %i, 96; @%p bra MEET; mov.u32 %x, 0;\n\
         LATE: add.u32 %x, %x, 1; setp.lt.u32 %p, %x, 5000; @%p bra LATE;\n\
         MEET: bar.sync 1, 64; mov.u32 %v, 7;" => |_| 7,
        // A warp is there without the lanes that exit while the others wait.
        32 "setp.ge.u32 %p, %i, 16; @%p bra OUT; bar.sync 1, 32; mov.u32 %v, 3; bra.uni END; OUT: exit; END:" =>
            |i| if i < 16 { 3 } else { 0 },
    }
    faults! {
        64 "bar.sync 0, 48;" => Fault::IllegalInstruction { .. },
        64 "bar.arrive 0, 0;" => Fault::IllegalInstruction { .. },
    }
}

/// Without clusters a block is a cluster of one.
#[test]
fn threads_that_have_arrived_at_the_barrier_of_the_cluster_hold_nobody_up() {
    // The first warp waits for the second, which is past its wait by then.
    let body = ".shared .u32 cell; st.shared.u32 [cell], 0; bar.sync 0;\n\
                barrier.cluster.arrive.release.aligned; setp.ge.u32 %p, %i, 32; @%p bra SECOND; mov.u32 %y, 0;\n\
                SPIN: add.u32 %y, %y, 1; ld.volatile.shared.u32 %v, [cell]; setp.eq.u32 %q, %v, 0;\n\
                setp.lt.and.u32 %q, %y, 100000, %q; @%q bra SPIN;\n\
                barrier.cluster.wait.acquire.aligned; bra.uni END;\n\
                SECOND: barrier.cluster.wait; mov.u32 %v, 8; st.shared.u32 [cell], 9; END:";
    gives(body, 64, |i| if i < 32 { 9 } else { 8 });
    // Nobody passes before all have arrived, each time anew.
    let body = ".shared .u32 cell; mov.u32 %m, 0;\n\
                AGAIN: setp.ge.u32 %p, %i, 32; @%p bra ARRIVE; mov.u32 %y, 0;\n\
                LATE: add.u32 %y, %y, 1; setp.lt.u32 %p, %y, 5000; @%p bra LATE; st.shared.u32 [cell], %m;\n\
                ARRIVE: barrier.cluster.arrive; barrier.cluster.wait;\n\
                ld.shared.u32 %x, [cell]; setp.eq.u32 %p, %x, %m; selp.u32 %x, 1, 0, %p; add.u32 %v, %v, %x;\n\
                barrier.cluster.arrive; barrier.cluster.wait;\n\
                add.u32 %m, %m, 1; setp.lt.u32 %p, %m, 3; @%p bra AGAIN;";
    gives(body, 64, |_| 3);
}

#[test]
fn a_barrier_that_nobody_completes_is_a_deadlock() {
    let body =
        "setp.lt.u32 %p, %i, 32; @%p bra LOW; bar.sync 0; bra.uni END; LOW: bar.sync 1; END:";
    match results(body, 64) {
        Err(Fault::Deadlock { waiting: 64, site }) => assert_eq!(site.function, "k"),
        other => panic!("{other:?}"),
    }
    faults! {
        64 "bar.sync 0, 96;" => Fault::Deadlock { .. },
        32 "setp.lt.u32 %p, %i, 9; @%p bra END; bar.warp.sync -1; END: bar.sync 0;" =>
            Fault::Deadlock { waiting: 32, .. },
    }
}

#[test]
fn scopes_hide_names() {
    let body = "mov.u32 %v, 1;\n\
                { .reg .b32 %v; .reg .b32 t<3>; mov.u32 %v, 50; mov.u32 t2, %v; bra.uni L; L: add.u32 %x, t2, 1; }\n\
                { .reg .b32 %r; bra.uni L; mov.u32 %x, 0; L: add.u32 %v, %v, %x; }";
    gives(body, 32, |_| 52);
}

#[test]
fn tables_of_targets() {
    let body = "and.b32 %x, %i, 3; T: .branchtargets A, B, C, A; brx.idx %x, T;\n\
                A: mov.u32 %v, 10; bra END; B: mov.u32 %v, 20; bra END; C: mov.u32 %v, 30; END:";
    gives(body, 64, |i| [10, 20, 30, 10][i as usize & 3]);
    faults! {
        3 "T: .branchtargets A, A; brx.idx %i, T; A:" => Fault::InvalidProgramCounter { .. },
    }
}

#[test]
fn functions_with_register_parameters() {
    let text = format!(
        "{HEAD}.func (.reg .b32 r) twice (.reg .b32 a, .reg .b32 b) {{ add.u32 r, a, a; add.u32 r, r, b; ret; }}\n\
         .visible .entry k(.param .u64 out) {{ .reg .b32 %i, %v; .reg .b64 %at; .reg .pred %p;\n\
         mov.u32 %i, %tid.x; mov.u32 %v, 7; setp.gt.u32 %p, %i, 4; @%p call (%v), twice, (%i, 1);\n\
         ld.param.u64 %at, [out]; mad.wide.u32 %at, %i, 4, %at; st.global.u32 [%at], %v; }}"
    );
    let gpu = Gpu::default();
    let module = gpu.load(&text).unwrap();
    let out = gpu.upload(&[0_u32; 32]);
    gpu.run(&module, "k", shape(1, 32), args!(out)).unwrap();
    let expected: Vec<u32> = (0..32).map(|i| if i > 4 { 2 * i + 1 } else { 7 }).collect();
    assert_eq!(gpu.download::<u32>(out, 32), expected);
}

#[test]
fn special_registers() {
    values! {
        64 "mov.u32 %v, %lanemask_lt;" => |i| (1 << (i % 32)) - 1,
        32 "mov.u32 %v, %lanemask_ge;" => |i| !((1 << i) - 1),
        96 "mov.u32 %v, %warpid;" => |i| i / 32,
        70 "mov.u32 %v, %nwarpid; mov.u32 %x, WARP_SZ; add.u32 %v, %v, %x;" => |_| 35,
    }
    let gpu = Gpu::default();
    let text = format!(
        "{HEAD}.entry k(.param .u64 out) {{ .reg .b32 %r<20>; .reg .b64 %at;\n\
         mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; mov.u32 %r4, %ntid.x;\n\
         mov.u32 %r5, %ntid.y; mad.lo.u32 %r6, %r3, %r5, %r2; mad.lo.u32 %r6, %r6, %r4, %r1;\n\
         mov.u32 %r7, %ctaid.x; mov.u32 %r8, %ctaid.y; mov.u32 %r9, %ctaid.z;\n\
         mov.u32 %r10, %nctaid.x; mov.u32 %r11, %nctaid.y; mad.lo.u32 %r12, %r9, %r11, %r8;\n\
         mad.lo.u32 %r12, %r12, %r10, %r7; mov.u32 %r13, %ntid.z; mul.lo.u32 %r14, %r4, %r5;\n\
         mul.lo.u32 %r14, %r14, %r13; mad.lo.u32 %r15, %r12, %r14, %r6; ld.param.u64 %at, [out];\n\
         mad.wide.u32 %at, %r15, 4, %at; st.global.u32 [%at], %r15; }}"
    );
    let module = gpu.load(&text).unwrap();
    let out = gpu.upload(&vec![0_u32; 24 * 105]);
    let launch = Launch {
        grid: [2, 3, 4],
        block: [7, 5, 3],
        workers: 2,
        ..Launch::default()
    };
    gpu.run(&module, "k", launch, args!(out)).unwrap();
    assert_eq!(
        gpu.download::<u32>(out, 24 * 105),
        (0..24 * 105).collect::<Vec<u32>>()
    );
}

#[test]
fn atomics_in_shared_memory() {
    let atomics = |op: &str, start: u32, operand: &str, expect: u32| {
        let body = format!(
            ".shared .u32 cell; setp.ne.u32 %p, %i, 0; @%p bra GO; st.shared.u32 [cell], {start};\n\
             GO: bar.sync 0; atom.shared.{op} %x, [cell], {operand}; bar.sync 0; ld.shared.u32 %v, [cell];"
        );
        gives(&body, 96, |_| expect);
    };
    atomics("add.u32", 3, "%i", 3 + 95 * 96 / 2);
    atomics("inc.u32", 0, "9", 96 % 10);
    atomics("dec.u32", 4, "6", (4 + 7 * 100 - 96) % 7);
    atomics("min.s32", 50, "-4", -4_i32 as u32);
    atomics("max.u32", 50, "%i", 95);
    atomics("or.b32", 0, "%i", 127);
    atomics("and.b32", 0xff, "0x3c", 0x3c);
    atomics("xor.b32", 5, "%i", (0..96).fold(5, |a, b| a ^ b));
    atomics("exch.b32", 5, "8", 8);
    atomics(
        "add.f32",
        1.5_f32.to_bits(),
        "0f3E800000",
        25.5_f32.to_bits(),
    );
    atomics("add.noftz.f16x2", 0x3c00_4000, "0x3c003c00", 0x5610_5620);
}

/// PTX ISA, atom: of f32 in global memory subnormal operands and results become zeros of their sign, in shared
/// memory they stay.
#[test]
fn additions_in_global_memory_flush_subnormal_numbers() {
    let global = "ld.param.u64 %at, [out]; st.global.u32 [%at], 0x80000001;\n\
                  atom.global.add.f32 %x, [%at], 0f80000001; ld.global.u32 %v, [%at];";
    gives(global, 1, |_| 0x8000_0000);
    let shared = ".shared .u32 cell; st.shared.u32 [cell], 0x80000001;\n\
                  atom.shared.add.f32 %x, [cell], 0f80000001; ld.shared.u32 %v, [cell];";
    gives(shared, 1, |_| 0x8000_0002);
}

#[test]
fn generic_addresses() {
    let body = ".shared .u32 s; .local .u32 l[2];\n\
                st.shared.u32 [s], 5; st.local.u32 [l+4], %i; cvta.shared.u64 %d, s;\n\
                mov.u64 %e, l; cvta.local.u64 %e, %e; bar.sync 0;\n\
                ld.u32 %x, [%d]; ld.u32 %y, [%e+4]; add.u32 %v, %x, %y;\n\
                isspacep.shared %p, %d; isspacep.global %q, %d; @!%p add.u32 %v, %v, 1000;\n\
                @%q add.u32 %v, %v, 2000; cvta.to.shared.u64 %d, %d; ld.shared.u32 %x, [%d];\n\
                add.u32 %v, %v, %x;";
    gives(body, 64, |i| i + 10);
}

#[test]
fn asynchronous_copies() {
    let sums = |copy: &str| {
        let gpu = Gpu::default();
        let text = kernel(&format!(
            ".shared .align 16 .b8 tile[512]; ld.param.u64 %at, [out]; mul.wide.u32 %d, %i, 16;\n\
             add.u64 %at, %at, %d; cvt.u32.u64 %x, %d; mov.u32 %y, tile; add.u32 %x, %x, %y;\n\
             mov.u64 %e, 0x1000000000000000; {copy} cp.async.commit_group; cp.async.wait_group 0;\n\
             bar.sync 0; ld.shared.u32 %v, [%x+4]; ld.shared.u32 %y, [%x+8]; add.u32 %v, %v, %y; bar.sync 0;",
        ));
        let module = gpu.load(&text).unwrap();
        let out = gpu.upload(&(0..128).collect::<Vec<u32>>());
        gpu.run(&module, "k", shape(1, 32), args!(out)).unwrap();
        gpu.download::<u32>(out, 32)
    };
    // The bytes beyond the source's size are zero.
    let part: Vec<u32> = (0..32).map(|i| 4 * i + 1).collect();
    let whole: Vec<u32> = (0..32).map(|i| 4 * i + 1 + 4 * i + 2).collect();
    assert_eq!(sums("cp.async.ca.shared.global [%x], [%at], 16, 8;"), part);
    assert_eq!(sums("cp.async.cg.shared.global [%x], [%at], 16;"), whole);
    // A policy of the cache is no size.
    assert_eq!(
        sums("cp.async.cg.shared.global.L2::cache_hint [%x], [%at], 16, 8, %e;"),
        part
    );
    assert_eq!(
        sums("cp.async.cg.shared.global.L2::cache_hint [%x], [%at], 16, %e;"),
        whole
    );
    let policy = "createpolicy.fractional.L2::evict_last.b64 %e, 0.5;\n\
                  cp.async.cg.shared.global.L2::cache_hint [%x], [%at], 16, %e;";
    assert_eq!(sums(policy), whole);
}

#[test]
fn faults_name_the_place() {
    let gpu = Gpu::default();
    let module = gpu.load(include_str!("../kernels/faults.ptx")).unwrap();
    match gpu.run(&module, "write_at", shape(1, 32), args!(0_u64, 1_u32)) {
        Err(Fault::IllegalAddress {
            address: 0,
            len: 4,
            write: true,
            site,
        }) => {
            assert_eq!((site.function.as_str(), site.thread), ("write_at", [0; 3]));
            assert!(site.line > 0);
        }
        other => panic!("{other:?}"),
    }
    let array = gpu.upload(&[0_u32; 50]);
    match gpu.run(&module, "write_past", shape(4, 32), args!(array, 50_u32)) {
        Err(Fault::IllegalAddress { address, site, .. }) => {
            assert_eq!(address, array + 200);
            assert_eq!((site.block, site.thread), ([1, 0, 0], [18, 0, 0]));
        }
        other => panic!("{other:?}"),
    }
    let run = gpu.run(&module, "write_at", shape(1, 1), args!(array + 2, 1_u32));
    assert!(
        matches!(run, Err(Fault::Misaligned { len: 4, .. })),
        "{run:?}"
    );
    let constant = gpu.place(&[0; 16], false);
    let run = gpu.run(&module, "write_at", shape(1, 1), args!(constant, 1_u32));
    assert!(
        matches!(run, Err(Fault::IllegalAddress { write: true, .. })),
        "{run:?}"
    );
    let run = gpu.run(&module, "trap", shape(1, 1), args!());
    assert!(matches!(run, Err(Fault::Trap { .. })), "{run:?}");
}

#[test]
fn faults_of_other_spaces() {
    faults! {
        32 ".shared .u32 s[4]; ld.shared.u32 %v, [s+16];" =>
            Fault::IllegalAddress { len: 4, write: false, .. },
        32 ".shared .u32 s[4]; st.shared.u32 [s+2], 1;" => Fault::Misaligned { .. },
        32 ".local .u32 l[4]; st.local.u32 [l+64], 1;" => Fault::IllegalAddress { write: true, .. },
        32 "mov.u64 %d, -8; ld.u32 %v, [%d];" => Fault::IllegalAddress { .. },
        32 "bar.sync %i, 64;" => Fault::Deadlock { .. } | Fault::IllegalInstruction { .. },
        32 "mov.u32 %x, 16; bar.sync %x;" => Fault::IllegalInstruction { .. },
        32 "mov.u64 %d, 77; call %d, ();" => Fault::InvalidProgramCounter { .. },
    }
}

#[test]
fn recursion_without_end_overflows_the_stack() {
    let text = format!(
        "{HEAD}.func f (.param .b32 a) {{ .local .b8 big[256]; .param .b32 b; .reg .b32 %r;\n\
         ld.param.u32 %r, [a]; st.param.b32 [b], %r; call.uni f, (b); ret; }}\n\
         .entry k() {{ .param .b32 b; st.param.b32 [b], 1; call.uni f, (b); ret; }}"
    );
    let gpu = Gpu::default();
    let module = gpu.load(&text).unwrap();
    let run = gpu.run(&module, "k", shape(1, 32), args!());
    assert!(matches!(run, Err(Fault::StackOverflow { .. })), "{run:?}");
}

#[test]
fn assertions() {
    let text = format!(
        "{HEAD}.global .b8 text[6] = {{120, 32, 62, 32, 48, 0}}; .global .b8 file[4] = {{97, 46, 99}};\n\
         .extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n\
         .entry k() {{ .reg .b64 %d; {{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;\n\
         mov.u64 %d, text; st.param.b64 [a], %d; mov.u64 %d, file; st.param.b64 [b], %d;\n\
         st.param.b32 [c], 42; st.param.b64 [d], %d; st.param.b64 [e], 1;\n\
         call.uni __assertfail, (a, b, c, d, e); }} ret; }}"
    );
    let gpu = Gpu::default();
    let module = gpu.load(&text).unwrap();
    match gpu.run(&module, "k", shape(1, 1), args!()) {
        Err(Fault::Assert {
            place, expression, ..
        }) => assert_eq!(
            (place.as_str(), expression.as_str()),
            ("a.c:42: a.c", "x > 0")
        ),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_launch_can_be_cancelled() {
    let gpu = Gpu::default();
    let module = gpu.load(include_str!("../kernels/faults.ptx")).unwrap();
    let flag = gpu.upload(&[0_u32]);
    let cancel = Cancel::new();
    let start = Instant::now();
    let run = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(30));
            cancel.cancel();
        });
        gpu.run_until(&module, "spin_for_ever", shape(4, 64), args!(flag), &cancel)
    });
    assert_eq!(run, Err(Fault::Cancelled));
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_fault_stops_the_other_blocks() {
    let gpu = Gpu::default();
    // Block 1 traps, all others spin until then.
    let text = format!(
        "{HEAD}.entry k() {{ .reg .b32 %r; .reg .pred %p; mov.u32 %r, %ctaid.x; setp.eq.u32 %p, %r, 1;\n\
         @%p trap; L: bra L; }}"
    );
    let module = gpu.load(&text).unwrap();
    let run = gpu.run(
        &module,
        "k",
        Launch {
            workers: 4,
            ..shape(4, 32)
        },
        args!(),
    );
    assert!(matches!(run, Err(Fault::Trap { .. })), "{run:?}");
}

#[test]
fn blocks_of_a_cooperative_launch_wait_for_each_other() {
    // A barrier of the grid: 8 blocks on 2 threads of the host.
    let text = format!(
        "{HEAD}.entry k(.param .u64 counter) {{ .reg .b32 %r<4>; .reg .b64 %at; .reg .pred %p;\n\
         ld.param.u64 %at, [counter]; atom.global.add.u32 %r1, [%at], 1; mov.u32 %r2, %nctaid.x;\n\
         L: ld.acquire.gpu.global.u32 %r1, [%at]; setp.lt.u32 %p, %r1, %r2; @%p bra L; }}"
    );
    let gpu = Gpu::default();
    let module = gpu.load(&text).unwrap();
    let counter = gpu.upload(&[0_u32]);
    let launch = Launch {
        cooperative: true,
        ..shape(8, 1)
    };
    let stats = gpu.run(&module, "k", launch, args!(counter)).unwrap();
    assert_eq!(stats.blocks, 8);
}

#[test]
fn launches_that_do_not_fit() {
    let gpu = Gpu::default();
    let text = format!(
        "{HEAD}.entry k(.param .u64 a) .maxntid 64, 1, 1 {{ ret; }}\n\
                        .entry r() .reqntid 32 {{ ret; }}"
    );
    let module = gpu.load(&text).unwrap();
    let invalid = |name, shape, args: &[Vec<u8>]| {
        let run = gpu.run(&module, name, shape, args);
        assert!(matches!(run, Err(Fault::InvalidLaunch(_))), "{run:?}");
    };
    invalid("k", shape(1, 65), args!(0_u64));
    invalid("k", shape(0, 64), args!(0_u64));
    invalid("k", shape(1, 0), args!(0_u64));
    invalid("r", shape(1, 31), args!());
    gpu.run(&module, "r", shape(1, 32), args!()).unwrap();
}
