//! How quick the PTX executor is on one thread of the host. Ignored, as it only says something when
//! built with optimisation: `cargo test --release -p gtrace-softgpu --test ptx_speed -- --ignored
//! --nocapture`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::precedence)] // A test ends there.

#[path = "ptx/gpu.rs"]
#[macro_use]
mod gpu;

use std::time::Instant;

use gpu::{Gpu, shape};
use gtrace_softgpu::ptx::{Launch, Stats};

fn rate(name: &str, run: impl Fn() -> Stats) -> f64 {
    run();
    let start = Instant::now();
    let stats = run();
    let rate = stats.lane_instructions as f64 / start.elapsed().as_secs_f64() / 1e6;
    println!(
        "{name}: {rate:.0} M lane instructions/s ({} instructions)",
        stats.lane_instructions
    );
    rate
}

#[test]
#[ignore = "measures; needs a release build"]
fn lane_instructions_a_second() {
    let gpu = Gpu::default();
    let one = |blocks, threads| Launch {
        workers: 1,
        ..shape(blocks, threads)
    };

    let module = gpu.load(include_str!("../kernels/delay.ptx")).unwrap();
    let output = gpu.upload(&vec![0_u32; 4096]);
    let integer = rate("integer arithmetic", || {
        gpu.run(&module, "work", one(16, 256), args!(output, 2000_u32))
            .unwrap()
    });

    let module = gpu.load(include_str!("../kernels/vector_add.ptx")).unwrap();
    let n = 1 << 20;
    let [a, b, c] = [(); 3].map(|()| gpu.upload(&vec![1_f32; n]));
    rate("vector_add", || {
        gpu.run(
            &module,
            "vector_add",
            one(n as u32 / 256, 256),
            args!(a, b, c, n as u32),
        )
        .unwrap()
    });

    let module = gpu.load(include_str!("../kernels/matmul.ptx")).unwrap();
    let n = 256_usize;
    let [a, b, c] = [(); 3].map(|()| gpu.upload(&vec![1_f32; n * n]));
    let launch = Launch {
        grid: [16, 16, 1],
        block: [16, 16, 1],
        workers: 1,
        ..Launch::default()
    };
    rate("matmul", || {
        gpu.run(&module, "matmul", launch, args!(a, b, c, n as u32))
            .unwrap()
    });

    let module = gpu.load(include_str!("../kernels/divergence.ptx")).unwrap();
    let output = gpu.upload(&vec![0_u32; 4096]);
    rate("divergent loops", || {
        gpu.run(&module, "collatz", one(32, 128), args!(output, 4096_u32))
            .unwrap()
    });
    assert!(
        integer >= 200.0,
        "{integer:.0} M lane instructions/s; 200 are expected"
    );
}
